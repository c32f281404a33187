/* Reads JSON: for files that risec wrote itself, and people may have edited. */
#ifndef RISEC_SUPPORT_JSON_H
#define RISEC_SUPPORT_JSON_H

#include "support/context.h"

typedef enum JsonKind { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_TEXT, JSON_ARRAY, JSON_OBJECT } JsonKind;

typedef struct Json {
    JsonKind kind;
    Span span;
    bool truth;
    int64_t number;          /* whole numbers only */
    const char *text;
    int n;                   /* items of an array; members of an object */
    struct Json **items;
    const char **names;      /* beside the items of an object */
} Json;

/* The value that a source holds; NULL, with `code`, where it is none. */
Json *json_parse(Ctx *ctx, uint32_t file, DiagCode code);
/* The member of an object; NULL where there is none, or where it is of another kind. */
const Json *json_member(const Json *object, const char *name, JsonKind kind);
/* Its text; NULL where there is none. */
const char *json_text(const Json *object, const char *name);

#endif
