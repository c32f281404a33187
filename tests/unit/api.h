/* What the tests of librise share: a call that has to go well or wrong, and one on each device. */
#ifndef RISEC_TESTS_API_H
#define RISEC_TESTS_API_H

#include <stdlib.h>

#include "fake_gpu.h"
#include "unit.h"

static rise_error err;

/* What it was for makes no sense without it. */
#define GOOD(call)                                                      \
    do {                                                                \
        if (!CHECK((call) == RISE_OK)) {                                \
            printf("%s: %s\n", rise_status_name(err.status), err.text); \
            exit(unit_end());                                           \
        }                                                               \
    } while (0)
/* It fails so, and the text has `part` in it. */
#define BAD(call, code, part)                                                               \
    do {                                                                                    \
        memset(&err, 0xee, sizeof err);                                                     \
        int status_ = (call);                                                               \
        bool as_wanted_ = status_ == (code) && err.status == (code) && strstr(err.text, (part)); \
        if (!CHECK(as_wanted_))                                                             \
            printf("got %s: %s\n", rise_status_name(status_), status_ ? err.text : "");     \
    } while (0)

typedef struct Fixture {
    rise_context *context;
    rise_program *program;
    rise_entry *entry;
    rise_call *call;
} Fixture;

/* On the fake driver where the device is a GPU; `options` may be NULL. */
static Fixture api_start(int device, const rise_context_options *options, const char *text)
{
    Fixture f = {0};
    rise_context_options own = options ? *options : (rise_context_options){0};
    RiseSeams seams = {.loader = &fake_loader, .cache_dir = ""};
    own.size = sizeof own;
    own.device = device;
    GOOD(context_new(&own, &seams, &f.context, &err));
    GOOD(rise_program_from_text(f.context, "test.rise", text, (size_t)-1, &f.program, &err));
    GOOD(rise_entry_get(f.program, NULL, NULL, &f.entry, &err));
    GOOD(rise_call_new(f.entry, &f.call, &err));
    return f;
}

/* Nothing is left of what the driver gave. */
static inline void api_end(Fixture *f)
{
    rise_call_free(f->call);
    rise_program_free(f->program);
    rise_context_free(f->context);
    CHECK(fake_gpu.memories == 0 && fake_gpu.modules == 0 && fake_gpu.events == 0);
    CHECK(fake_gpu.streams == 0 && fake_gpu.leaked == 0 && fake_gpu.retained == 0);
    CHECK(fake_gpu.pushed == 0 && fake_gpu.misuse == 0);
}

#endif
