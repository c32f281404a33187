/* What the tests of nats share: their text read back, their values by direct evaluation, and the count of checks. */
#ifndef RISEC_TESTS_NAT_CHECK_H
#define RISEC_TESTS_NAT_CHECK_H

#include <inttypes.h>
#include <stdio.h>

#include "ir/nat.h"
#include "support/context.h"

__extension__ typedef __int128 Wide;

typedef struct Tally {
    int64_t checks, wrong, overflows, proved;
} Tally;
extern Tally tally;

/* Counts what is wrong, and prints the first forty. */
void fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#define CHECK(ok, ...)            \
    do {                          \
        tally.checks++;           \
        if (!(ok))                \
            fail(__VA_ARGS__);    \
    } while (0)

/* ---- the text of nats, read back --------------------------------------------------------------------------------------------- */

typedef struct Names {
    Nat vars[32];
    int n;
} Names;

/* Reads what nat_text and c_text print; fails where it is not that. */
Nat read_nat(Ctx *ctx, const Names *names, const char *text);
/* For nat_print_c: the variable's own name. */
const char *own_name(void *user, Nat var);
/* The nat in C, with the variables' own names; *helpers: what nat_print_c says of the functions that it calls. */
const char *c_text(Ctx *ctx, Nat a, const NatFacts *facts, int *helpers);

/* ---- direct evaluation ------------------------------------------------------------------------------------------------------- */

/* The small expressions have the first seven; log2 is of its first operand. */
typedef enum Op { OP_ADD, OP_SUB, OP_MUL, OP_DIV, OP_MOD, OP_MIN, OP_MAX, OP_POW, OP_LOG2 } Op;
enum { OP_COUNT = OP_POW };
extern const char op_names[];

typedef struct Value {
    bool defined;
    Wide v;
} Value;

/* The operator on nats, and on numbers of 128 bits. */
Nat apply(Ctx *ctx, Op op, Nat a, Nat b);
Value direct(Op op, Value a, Value b);

/* Variables of a test are numbered by the order of their making. */
enum { MAX_VARS = 8 };
typedef struct Assignment {
    Nat vars[MAX_VARS];
    int64_t values[MAX_VARS];
    int n;
} Assignment;

/* For nat_eval; `user` is an Assignment. */
bool value_of(void *user, Nat var, int64_t *value);
/* The values and ranges of its variables, for messages. */
const char *describe(Ctx *ctx, const Assignment *a);

#endif
