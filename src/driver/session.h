/* What a session of `risec repl` has defined: the texts of items, as a program that grows. */
#ifndef RISEC_DRIVER_SESSION_H
#define RISEC_DRIVER_SESSION_H

#include "frontend/elab.h"

#define SESSION_FILE "input" /* its name in messages */

/* A text that was typed, and the number of its first line; with what stands around it, for the parser alone. */
typedef struct Typed {
    const char *text;
    int line;
    size_t added; /* bytes of the text in front of what was typed */
} Typed;

typedef struct SessionItem {
    const char *name; /* NULL: an import */
    Typed typed;
    bool callable; /* an entry, or a definition with parameters */
} SessionItem;

typedef struct Session {
    Ctx *ctx; /* of the texts; NULL: there are none */
    VEC(SessionItem) items;
} Session;

void session_free(Session *session);
/* Adds an item in the place of the one with its name. What was replaced is forgotten. */
void session_add(Ctx *ctx, Session *session, const SessionItem *item);
const SessionItem *session_find(const Session *session, const char *name);
/* The last one that can be called; NULL: there is none. */
const SessionItem *session_last(const Session *session);

/* The program, and in it n more texts, whose items replace those with their names. `entry`: a definition to take for an entry; or NULL. */
Program *session_program(Ctx *ctx, const Session *session, int n, const Typed *more, const char *entry);
/* A source of what was typed. */
uint32_t session_source(Ctx *ctx, const Typed *typed);
/* The items of a text, without looking at names. */
const AstFile *session_parse(Ctx *ctx, const Typed *typed);

#endif
