#include "lsp/request.h"

void request_fail(Request *r, RequestError error, const char *message)
{
    r->error = error;
    r->message = message;
}

bool json_place(const json_t *json, Place *place)
{
    const json_t *line = json_object_get(json, "line"),
                 *character = json_object_get(json, "character");
    if (!json_is_integer(line) || !json_is_integer(character))
        return false;
    json_int_t l = json_integer_value(line), c = json_integer_value(character);
    if (l < 0 || c < 0)
        return false;
    *place = (Place){l > UINT32_MAX ? UINT32_MAX : (uint32_t)l,
                     c > UINT32_MAX ? UINT32_MAX : (uint32_t)c};
    return true;
}

const char *json_text_of(const json_t *object, const char *name)
{
    return json_string_value(json_object_get(object, name));
}
