#include "nat_check.h"

#include <stdarg.h>
#include <stdlib.h>

enum { MAX_MESSAGES = 40 };

Tally tally;

void fail(const char *fmt, ...)
{
    va_list args;
    if (++tally.wrong > MAX_MESSAGES)
        return;
    va_start(args, fmt);
    vprintf(fmt, args);
    va_end(args);
    putchar('\n');
}

/* ---- the RISE text of nats, read back -------------------------------------------------------------------------------------- */

typedef struct Reader {
    Ctx *ctx;
    const char *at;
    const Names *names;
} Reader;

static Nat read_sum(Reader *r);

static void skip(Reader *r)
{
    while (*r->at == ' ')
        r->at++;
}

static bool eat(Reader *r, const char *text)
{
    skip(r);
    if (strncmp(r->at, text, strlen(text)) != 0)
        return false;
    r->at += strlen(text);
    return true;
}

static Nat read_call(Reader *r, Nat (*fn)(Ctx *, Nat, Nat))
{
    Nat a = read_sum(r);
    if (!eat(r, ","))
        fail("no comma at %s", r->at);
    Nat b = read_sum(r);
    eat(r, ")");
    return fn(r->ctx, a, b);
}

static Nat read_atom(Reader *r)
{
    skip(r);
    if (eat(r, "(")) {
        Nat a = read_sum(r);
        eat(r, ")");
        return a;
    }
    if (*r->at >= '0' && *r->at <= '9') {
        char *end;
        int64_t k = strtoll(r->at, &end, 10);
        r->at = end;
        return nat_const(r->ctx, k);
    }
    /* As C says them. */
    if (eat(r, "nat_pow("))
        return read_call(r, nat_pow);
    if (eat(r, "floor_div("))
        return read_call(r, nat_div);
    if (eat(r, "floor_mod("))
        return read_call(r, nat_mod);
    if (*r->at == 'n' && r->at[1] == 'a' && eat(r, "nat_"))
        return read_atom(r);
    if (eat(r, "ceilDiv("))
        return read_call(r, nat_ceil_div);
    if (eat(r, "min("))
        return read_call(r, nat_min);
    if (eat(r, "max("))
        return read_call(r, nat_max);
    if (eat(r, "log2(")) {
        Nat a = read_sum(r);
        eat(r, ")");
        return nat_log2(r->ctx, a);
    }
    size_t n = strspn(r->at, "abcdefghijklmnopqrstuvwxyz0123456789_");
    for (int i = 0; i < r->names->n; i++)
        if (strlen(r->names->vars[i]->name) == n && strncmp(r->names->vars[i]->name, r->at, n) == 0) {
            r->at += n;
            return r->names->vars[i];
        }
    fail("cannot read: %s", r->at);
    r->at += strlen(r->at);
    return nat_error(r->ctx);
}

static Nat read_unary(Reader *r);

static Nat read_power(Reader *r)
{
    Nat a = read_atom(r);
    return eat(r, "^") ? nat_pow(r->ctx, a, read_unary(r)) : a;
}

static Nat read_unary(Reader *r)
{
    if (!eat(r, "-"))
        return read_power(r);
    /* The one constant without a positive counterpart. */
    if (eat(r, "9223372036854775808"))
        return nat_const(r->ctx, INT64_MIN);
    return nat_sub(r->ctx, nat_const(r->ctx, 0), read_unary(r));
}

static Nat read_product(Reader *r)
{
    Nat a = read_unary(r);
    for (;;) {
        if (eat(r, "*"))
            a = nat_mul(r->ctx, a, read_unary(r));
        else if (eat(r, "/"))
            a = nat_div(r->ctx, a, read_unary(r));
        else if (eat(r, "%"))
            a = nat_mod(r->ctx, a, read_unary(r));
        else
            return a;
    }
}

/* A shift of C, which binds less than a sum. */
static Nat read_sum(Reader *r)
{
    Nat a = read_product(r);
    for (;;) {
        if (eat(r, "+"))
            a = nat_add(r->ctx, a, read_product(r));
        else if (eat(r, "-"))
            a = nat_sub(r->ctx, a, read_product(r));
        else if (eat(r, "<<"))
            a = nat_mul(r->ctx, a, nat_pow(r->ctx, nat_const(r->ctx, 2), read_product(r)));
        else if (eat(r, ">>"))
            a = nat_div(r->ctx, a, nat_pow(r->ctx, nat_const(r->ctx, 2), read_product(r)));
        else
            return a;
    }
}

Nat read_nat(Ctx *ctx, const Names *names, const char *text)
{
    Reader r = {ctx, text, names};
    Nat a = read_sum(&r);
    skip(&r);
    if (*r.at)
        fail("left over in %s: %s", text, r.at);
    return a;
}
const char *own_name(void *user, Nat var)
{
    (void)user;
    return var->name;
}

const char *c_text(Ctx *ctx, Nat a, const NatFacts *facts, int *helpers)
{
    StrBuf sb;
    sb_init(&sb, ctx);
    *helpers = nat_print_c(ctx, &sb, a, facts, NAT_INT, own_name, NULL, 0);
    return sb.text;
}

/* ---- direct evaluation ------------------------------------------------------------------------------------------------------- */

const char op_names[] = "+-*/%mM^l";

Nat apply(Ctx *ctx, Op op, Nat a, Nat b)
{
    switch (op) {
    case OP_ADD:
        return nat_add(ctx, a, b);
    case OP_SUB:
        return nat_sub(ctx, a, b);
    case OP_MUL:
        return nat_mul(ctx, a, b);
    case OP_DIV:
        return nat_div(ctx, a, b);
    case OP_MOD:
        return nat_mod(ctx, a, b);
    case OP_MIN:
        return nat_min(ctx, a, b);
    case OP_MAX:
        return nat_max(ctx, a, b);
    case OP_POW:
        return nat_pow(ctx, a, b);
    case OP_LOG2:
        return nat_log2(ctx, a);
    }
    return nat_error(ctx);
}

#define WIDE_LIMIT ((Wide)1 << 110)

Value direct(Op op, Value a, Value b)
{
    Value r = {false, 0};
    if (!a.defined || !b.defined)
        return r;
    r.defined = true;
    switch (op) {
    case OP_ADD:
        r.v = a.v + b.v;
        break;
    case OP_SUB:
        r.v = a.v - b.v;
        break;
    case OP_MUL:
        r.defined = !__builtin_mul_overflow(a.v, b.v, &r.v);
        break;
    case OP_DIV:
    case OP_MOD:
        if (b.v < 1) {
            r.defined = false;
            break;
        }
        r.v = a.v / b.v - (a.v % b.v < 0);
        if (op == OP_MOD)
            r.v = a.v - r.v * b.v;
        break;
    case OP_MIN:
        r.v = a.v < b.v ? a.v : b.v;
        break;
    case OP_MAX:
        r.v = a.v > b.v ? a.v : b.v;
        break;
    case OP_POW:
        r.defined = b.v >= 0 && (b.v <= 128 || a.v == 0 || a.v == 1);
        r.v = 1;
        for (int i = 0; i < (int)(b.v > 128 ? 1 : b.v) && r.defined; i++)
            r.defined = !__builtin_mul_overflow(r.v, a.v, &r.v);
        break;
    case OP_LOG2:
        r.defined = a.v >= 1;
        while (r.defined && a.v >> (int)(r.v + 1))
            r.v++;
        break;
    }
    if (r.v > WIDE_LIMIT || r.v < -WIDE_LIMIT)
        r.defined = false;
    return r;
}

bool value_of(void *user, Nat var, int64_t *value)
{
    const Assignment *a = user;
    for (int i = 0; i < a->n; i++)
        if (a->vars[i] == var) {
            *value = a->values[i];
            return true;
        }
    return false;
}

const char *describe(Ctx *ctx, const Assignment *a)
{
    StrBuf sb;
    sb_init(&sb, ctx);
    for (int i = 0; i < a->n; i++) {
        sb_printf(&sb, " %s=%" PRId64, a->vars[i]->name, a->values[i]);
        if (a->vars[i]->lo)
            sb_printf(&sb, " from %s", nat_text(ctx, a->vars[i]->lo));
        if (a->vars[i]->hi)
            sb_printf(&sb, " to %s", nat_text(ctx, a->vars[i]->hi));
    }
    return sb.text;
}
