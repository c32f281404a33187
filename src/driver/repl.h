/* One turn of `risec repl`: what was typed is checked, evaluated or remembered, in a context that goes afterwards. */
#ifndef RISEC_DRIVER_REPL_H
#define RISEC_DRIVER_REPL_H

#include "driver/driver.h"
#include "driver/session.h"

typedef struct Turn {
    Driver *d; /* of the whole session */
    Session *session;
    Typed typed;
    bool ends; /* out: `:quit` */
    bool failed;
} Turn;

/* `ctx`: of this turn alone. */
void repl_turn(Ctx *ctx, Turn *turn);
/* A line that begins with a colon. */
void repl_command(Ctx *ctx, Turn *turn);
/* Does what is typed go on in the next line? */
bool repl_goes_on(Ctx *ctx, const char *text);

/* Prints on standard output. */
void repl_print(Ctx *ctx, Turn *turn, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* What is typed from `at` on, as a definition; its name is in *name. */
Typed repl_definition(Ctx *ctx, const Turn *turn, const char *at, const char **name);
/* The expression, with its type. NULL with diagnostics. */
const CoreEntry *repl_expression(Ctx *ctx, Turn *turn, const char *at);

#endif
