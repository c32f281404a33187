/* Nats against direct evaluation.
 *
 *   test_nat [random checks] [seed]
 *
 * Goldens; all expressions of up to three operators over small values; random ones with ranges, with facts, and with values near
 * 2^31, 2^32 and 2^63. A check is one comparison. Prints the seed, and `nat: N checks, W wrong` last. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "ir/nat.h"
#include "support/context.h"

__extension__ typedef __int128 Wide;

static struct {
    int64_t checks, wrong, overflows, proved;
} tally;

static void fail(const char *fmt, ...)
{
    va_list args;
    if (++tally.wrong > 40)
        return;
    va_start(args, fmt);
    vprintf(fmt, args);
    va_end(args);
    putchar('\n');
}

#define CHECK(ok, ...)            \
    do {                          \
        tally.checks++;           \
        if (!(ok))                \
            fail(__VA_ARGS__);    \
    } while (0)

/* ---- the RISE text of nats, read back -------------------------------------------------------------------------------------- */

typedef struct Names {
    Nat vars[32];
    int n;
} Names;

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

static Nat read_sum(Reader *r)
{
    Nat a = read_product(r);
    for (;;) {
        if (eat(r, "+"))
            a = nat_add(r->ctx, a, read_product(r));
        else if (eat(r, "-"))
            a = nat_sub(r->ctx, a, read_product(r));
        else
            return a;
    }
}

static Nat read_nat(Ctx *ctx, const Names *names, const char *text)
{
    Reader r = {ctx, text, names};
    Nat a = read_sum(&r);
    skip(&r);
    if (*r.at)
        fail("left over in %s: %s", text, r.at);
    return a;
}

/* ---- goldens ------------------------------------------------------------------------------------------------------------------ */

static const char *plain_name(void *user, Nat var)
{
    (void)user;
    return var->name;
}

static const char *c_text(Ctx *ctx, Nat a, const NatFacts *facts, int *helpers)
{
    StrBuf sb;
    sb_init(&sb, ctx);
    *helpers = nat_print_c(ctx, &sb, a, facts, plain_name, NULL, 0);
    return sb.text;
}

static void name(Ctx *ctx, Names *names, const char *text, const char *lo, const char *hi)
{
    Nat l = lo ? read_nat(ctx, names, lo) : NULL, h = hi ? read_nat(ctx, names, hi) : NULL;
    names->vars[names->n++] = nat_var(ctx, text, l, h);
}

static void golden_names(Ctx *ctx, Names *names)
{
    name(ctx, names, "n", "0", NULL);
    name(ctx, names, "m", "0", NULL);
    name(ctx, names, "k", "1", NULL);
    name(ctx, names, "b", "1", NULL);
    name(ctx, names, "x", NULL, NULL);
    name(ctx, names, "d", NULL, NULL);
    name(ctx, names, "block", "0", "ceilDiv(n, 1024) - 1");
    name(ctx, names, "warp", "0", "3");
    name(ctx, names, "t", "0", "7"); /* of 8 items a lane */
    name(ctx, names, "lane", "0", "31");
    name(ctx, names, "i", "0", "n - 1");
    name(ctx, names, "j", "0", "m - 1");
    name(ctx, names, "l", "0", "k - 1");
    name(ctx, names, "p", "0", "m + 1"); /* a padded column */
    name(ctx, names, "tile", "0", "n/32 - 1");
    name(ctx, names, "s", "0", "9");
    name(ctx, names, "n25", "0", "n/25 - 1");
    name(ctx, names, "n7", "0", "n/7 - 1");
    name(ctx, names, "n4", "0", "n/4 - 1");
}

static const struct {
    const char *given, *rise, *c;
} goldens[] = {
    /* Index expressions come out without a division. */
    {"(block*1024 + (warp*256 + (t*32 + lane))) / 1024", "block", "block"},
    {"(block*1024 + (warp*256 + (t*32 + lane))) % 1024", "256*warp + 32*t + lane", "warp*256 + t*32 + lane"},
    {"(block*1024 + (warp*256 + (t*32 + lane))) % 1024 / 256", "warp", "warp"},
    {"(block*1024 + (warp*256 + (t*32 + lane))) / 32 % 8", "t", "t"},
    {"block*1024 + (warp*256 + (t*32 + lane))", "1024*block + 256*warp + 32*t + lane", "block*1024 + warp*256 + t*32 + lane"},
    {"(t*32 + lane) % 32", "lane", "lane"},
    {"(t*32 + lane) / 32", "t", "t"},
    {"(t*32 + lane) / 8 * 8 + (t*32 + lane) % 8", "32*t + lane", "t*32 + lane"},
    {"(t*32 + lane) / 4 % 8", "lane / 4", "lane / 4"},
    {"((t*32 + lane) / 32) + ((t*32 + lane) % 32) * 8", "t + 8*lane", "lane*8 + t"},
    {"(i*m + j) / m", "i", "i"},
    {"(i*m + j) % m", "j", "j"},
    {"(i*m + j) / m * m + (i*m + j) % m", "m*i + j", "i*m + j"},
    {"((i*m + j) % m * n + (i*m + j) / m) / n", "j", "j"},
    {"((i*m + j) % m * n + (i*m + j) / m) % n", "i", "i"},
    {"(i*(m + 2) + p) / (m + 2)", "i", "i"},
    {"(i*(m + 2) + p) % (m + 2)", "p", "p"},
    {"((i*m + j)*k + l) / (m*k)", "i", "i"},
    {"((i*m + j)*k + l) / k / m", "i", "i"},
    {"((i*m + j)*k + l) / k % m", "j", "j"},
    {"((i*m + j)*k + l) % (m*k) / k", "j", "j"},
    {"(tile*32 + lane) / 32", "tile", "tile"},
    {"(tile*32*k + lane*k + l) / k % 32", "lane", "lane"},
    {"(i*4) / 4", "i", "i"},
    {"(i*4 + 3) / 4", "i", "i"},
    {"(i*4 + 3) % 4", "3", "3"},
    {"i / n", "0", "0"},
    {"i % n", "i", "i"},
    {"(i + n) / n", "1", "1"},
    {"(i + n) % n", "i", "i"},
    {"(lane + s) / 64", "0", "0"},
    {"lane % 64", "lane", "lane"},
    {"min(lane, 31)", "lane", "lane"},
    {"max(lane, 31)", "31", "31"},
    {"min(i, n)", "i", "i"},
    {"min(n, m)", "min(n, m)", "nat_min(n, m)"},
    /* ceilDiv */
    {"ceilDiv(n, 1024)", "ceilDiv(n, 1024)", "(n + 1023) / 1024"},
    {"(n + 1023) / 1024", "ceilDiv(n, 1024)", "(n + 1023) / 1024"},
    {"ceilDiv(ceilDiv(n, 32)*32, 32)", "ceilDiv(n, 32)", "(n + 31) / 32"},
    {"ceilDiv(ceilDiv(n, k)*k, k)", "ceilDiv(n, k)", "(n + k - 1) / k"},
    {"ceilDiv(n, k)*k / k", "ceilDiv(n, k)", "(n + k - 1) / k"},
    {"ceilDiv(n, k)*k % k", "0", "0"},
    {"ceilDiv(n, 32)*32 % 32", "0", "0"},
    {"ceilDiv(ceilDiv(n, 32), 4)", "ceilDiv(n, 128)", "(n + 127) / 128"},
    {"ceilDiv(ceilDiv(n, k), b)", "ceilDiv(n, k*b)", "(b*k + n - 1) / (b*k)"},
    {"ceilDiv(n*32, 32)", "n", "n"},
    {"n / 4 / 8", "n / 32", "n / 32"},
    {"(n + 2048) / 1024", "n / 1024 + 2", "n / 1024 + 2"},
    {"(n - 1) / 1024", "ceilDiv(n, 1024) - 1", "(n + 1023) / 1024 - 1"},
    /* div and mod joined */
    {"n / 32 * 32 + n % 32", "n", "n"},
    {"5*(n / k * k) + 5*(n % k)", "5*n", "n*5"},
    {"n - n % 32", "32*(n / 32)", "(n / 32)*32"},
    {"n - n / 32 * 32", "n % 32", "n % 32"},
    {"n / 32 % 8 * 32 + n % 32", "n % 256", "n % 256"},
    {"n % 256 / 32", "(n / 32) % 8", "(n / 32) % 8"},
    {"n % 64 % 32", "n % 32", "n % 32"},
    {"n % (32*k) % k", "n % k", "n % k"},
    {"(n*k) / (b*k)", "n / b", "n / b"},
    {"(6*n) / (4*k)", "3*n / (2*k)", "n*3 / (k*2)"},
    {"k % k", "0", "0"},
    {"k / k", "1", "1"},
    {"n % 1", "0", "0"},
    {"n / 1", "n", "n"},
    /* A divisor that may be 0 is left alone. */
    {"n % n", "n % n", "n % n"},
    {"0 / n", "0 / n", "0 / n"},
    {"x / d", "x / d", "floor_div(x, d)"},
    {"x % 8", "x % 8", "floor_mod(x, 8)"},
    /* What the original's simplifier got wrong. */
    {"(n + (1024 - n % 1024) % 1024) / 1024", "ceilDiv(n, 1024)", "(n + 1023) / 1024"},
    {"(i - 1 + 8*j) / 8", "j + ceilDiv(i, 8) - 1", "j + (i + 7) / 8 - 1"},
    {"(k - l) / k", "1 - ceilDiv(l, k)", "1 - (k + l - 1) / k"},
    {"(6 - j) / 3", "2 - ceilDiv(j, 3)", "2 - (j + 2) / 3"},
    {"(9*k - 6) / k", "(k - 6) / k + 8", "floor_div(k - 6, k) + 8"},
    {"(6 - k) % k", "6 % k", "6 % k"}, /* as floor goes; wrong for C's % only */
    {"1 % k", "1 % k", "1 % k"},
    {"(n - 6) % 3", "n % 3", "n % 3"},
    {"0 / 0", "error", "error"},
    {"5 % (0 - 2)", "error", "error"},
    /* Text. */
    {"3 + n*2", "2*n + 3", "n*2 + 3"},
    {"5 - n", "5 - n", "5 - n"},
    {"0 - n - 5", "-n - 5", "-n - 5"},
    {"0 - 3*n", "-3*n", "-3*n"},
    {"m - n", "m - n", "m - n"},
    {"n - 9223372036854775807 - 1", "n + (-9223372036854775807 - 1)", "n + (-9223372036854775807 - 1)"},
    {"0 - n / 7", "-(n / 7)", "-(n / 7)"},
    {"k - n / 7", "k - n / 7", "k - n / 7"},
    {"(n + 1)^2", "n^2 + 2*n + 1", "(n + 2)*n + 1"},
    {"2^k", "2^k", "nat_pow(2, k)"},
    {"2^(k + 3)", "8*2^k", "nat_pow(2, k)*8"},
    {"(2^k)^m", "(2^k)^m", "nat_pow(nat_pow(2, k), m)"},
    {"2^(k^m)", "2^k^m", "nat_pow(2, nat_pow(k, m))"},
    {"log2(2^k)", "k", "k"},
    {"log2(k)", "log2(k)", "nat_log2(k)"},
    {"log2(1023)", "9", "9"},
    {"(n / k)*(m % k)", "(n / k)*(m % k)", "(m % k)*(n / k)"},
    {"n / (m % 4 + 1)", "n / (m % 4 + 1)", "n / (m % 4 + 1)"},
    {"(n % 3) / (k*2) % 5", "(n % 3) / (2*k)", NULL},
    {"n^30", "n^30", "nat_pow(n, 30)"},
    {"2^64", "error", "error"},
    {"9223372036854775807*n + n", "error", "error"},
    {"9223372036854775807 + 1", "error", "error"},
    {"4611686018427387904*2*0 + n", "error", "error"},
};

static bool value_of_names(void *user, Nat var, int64_t *value)
{
    (void)user;
    (void)var;
    *value = *(const int64_t *)user;
    return true;
}

static void expect_eval(Ctx *ctx, const Names *names, const char *text, int64_t x, int64_t expected)
{
    int64_t r;
    NatEval e = nat_eval(read_nat(ctx, names, text), value_of_names, &x, &r);
    CHECK(e == NAT_EVAL_OK && r == expected, "%s at %" PRId64 ": %" PRId64 ", not %" PRId64, text, x, r, expected);
}

static void test_goldens(void)
{
    Ctx *ctx = ctx_new(NULL, NULL);
    Names names = {.n = 0};
    golden_names(ctx, &names);
    for (size_t i = 0; i < sizeof goldens / sizeof *goldens; i++) {
        int helpers;
        Nat a = read_nat(ctx, &names, goldens[i].given);
        const char *rise = nat_text(ctx, a);
        CHECK(strcmp(rise, goldens[i].rise) == 0, "%s\n  gives    %s\n  expected %s", goldens[i].given, rise, goldens[i].rise);
        if (goldens[i].c) {
            const char *c = c_text(ctx, a, NULL, &helpers);
            CHECK(strcmp(c, goldens[i].c) == 0, "%s in C\n  gives    %s\n  expected %s", goldens[i].given, c, goldens[i].c);
        }
        if (!nat_is_error(a))
            CHECK(read_nat(ctx, &names, rise) == a, "%s does not read back", rise);
    }
    StrBuf sb;
    sb_init(&sb, ctx);
    nat_print(&sb, read_nat(ctx, &names, "n*32 + ceilDiv(m, k) - 4*x"), true);
    CHECK(strcmp(sb.text, "32*n+ceilDiv(m, k)-4*x") == 0, "tight: %s", sb.text);

    expect_eval(ctx, &names, "(n + (1024 - n % 1024) % 1024) / 1024", 1000, 1);
    expect_eval(ctx, &names, "(n + (1024 - n % 1024) % 1024) / 1024", 2047, 2);
    expect_eval(ctx, &names, "(n - 6) % 3", 4, 1);
    expect_eval(ctx, &names, "(x - 6) % 3", -1, 2);
    expect_eval(ctx, &names, "(6 - k) % k", 4, 2);
    expect_eval(ctx, &names, "(9*k - 6) / k", 4, 7);

    /* Parentheses of C. */
    static const struct {
        const char *given;
        int prec;
        const char *c;
    } precs[] = {{"n + 1", 0, "n + 1"}, {"n + 1", 1, "(n + 1)"},   {"n*2", 1, "n*2"},       {"n*2", 2, "(n*2)"},
                 {"n / 2", 1, "n / 2"}, {"n / 2", 2, "(n / 2)"},   {"0 - n", 1, "(-n)"},    {"n", 2, "n"},
                 {"0 - 5", 0, "-5"},    {"0 - 5", 1, "(-5)"},      {"5", 2, "5"},           {"min(n, m)", 2, "nat_min(n, m)"}};
    for (size_t i = 0; i < sizeof precs / sizeof *precs; i++) {
        sb_init(&sb, ctx);
        nat_print_c(ctx, &sb, read_nat(ctx, &names, precs[i].given), NULL, plain_name, NULL, precs[i].prec);
        CHECK(strcmp(sb.text, precs[i].c) == 0, "%s at %d: %s", precs[i].given, precs[i].prec, sb.text);
    }
    ctx_free(ctx);
}

typedef enum Ask { ASK_LE, ASK_LT, ASK_EQ, ASK_DIVIDES, ASK_SIMPLIFY } Ask;

/* Facts as text: a relation each, `;` between. `yes`: it must be proved; else it must not (it would be wrong). */
static const struct {
    const char *facts;
    Ask ask;
    const char *a, *b;
    bool yes;
} questions[] = {
    {"", ASK_LT, "i", "n", true},
    {"", ASK_LE, "n", "i", false},
    {"", ASK_LE, "0", "n", true},
    {"", ASK_LE, "1", "n", false},
    {"", ASK_LT, "i*m + j", "n*m", true},
    {"", ASK_LT, "(i*m + j)*k + l", "n*m*k", true},
    {"", ASK_LT, "block*1024", "n", true},
    {"", ASK_LT, "block*1024 + 1", "n", false},
    {"", ASK_LE, "block*1024 + warp*256 + t*32 + lane", "n + 1022", true},
    {"", ASK_LE, "block*1024 + warp*256 + t*32 + lane", "n + 1021", false},
    {"", ASK_LT, "tile*32 + lane", "n", true},
    {"", ASK_LE, "n % k", "k - 1", true},
    {"", ASK_LE, "n % k", "n", true},
    {"", ASK_LE, "n / k", "n", true},
    {"", ASK_LE, "n / k * k", "n", true},
    {"", ASK_LE, "n", "ceilDiv(n, k) * k", true},
    {"", ASK_LE, "ceilDiv(n, k) * k", "n + k - 1", true},
    {"", ASK_LE, "ceilDiv(n, k) * k", "n + k - 2", false},
    {"", ASK_LE, "min(n, m)", "m", true},
    {"", ASK_LE, "min(n, m)", "max(n, x)", true},
    {"", ASK_LE, "max(n, m)", "n + m", true},
    {"", ASK_LE, "k + 1", "2^k", true},
    {"", ASK_LE, "n*(x % k)", "m*(x % k) + n*(k - 1)", true},
    {"", ASK_LE, "n*(x % k)", "m*(x % k) + n*(k - 2)", false},
    {"", ASK_LE, "log2(k) + 1", "k", true},
    {"", ASK_LE, "log2(k) + 2", "k", false},
    {"", ASK_LE, "n", "n*k", true},
    {"", ASK_LE, "k", "k*k", true},
    {"", ASK_LE, "x", "x*k", false},
    {"", ASK_EQ, "n % k + n / k * k", "n", true},
    {"", ASK_EQ, "n % 256", "n % 32 + 32*(n / 32 % 8)", true},
    {"", ASK_EQ, "n / 32 * 32", "n", false},
    {"", ASK_DIVIDES, "k", "3*k*n", true},
    {"", ASK_DIVIDES, "n", "n", false},
    {"n % 32 = 0", ASK_EQ, "n / 32 * 32", "n", true},
    {"n % 32 = 0", ASK_SIMPLIFY, "n % 32", "0", true},
    {"n % 32 = 0", ASK_SIMPLIFY, "ceilDiv(n, 32)", "n / 32", true},
    {"n % 32 = 0", ASK_SIMPLIFY, "n / 32 * 32 + lane", "n + lane", true},
    {"n % 32 = 0", ASK_SIMPLIFY, "ceilDiv(n, 32) * 32 - n", "0", true},
    {"n % 64 = 0", ASK_SIMPLIFY, "n % 32", "0", true},
    {"n % 64 = 0", ASK_DIVIDES, "32", "n", true},
    {"n % 64 = 0", ASK_DIVIDES, "128", "n", false},
    {"n % k = 0", ASK_EQ, "n / k * k", "n", true},
    {"n % k = 0", ASK_SIMPLIFY, "ceilDiv(n, k)", "n / k", true},
    {"n % k = 0", ASK_SIMPLIFY, "n*m % k", "0", true},
    {"n % 4 = 1", ASK_SIMPLIFY, "(n + 3) % 4", "0", true},
    {"n % 4 = 1", ASK_EQ, "n / 4 * 4 + 1", "n", true},
    {"n % 32 = 0; m % 32 = 0", ASK_DIVIDES, "32", "3*n + 5*m", true},
    {"n % 32 = 0; n != 0", ASK_LE, "32", "n", true},
    {"n = 32*k", ASK_SIMPLIFY, "n / 32", "k", true},
    {"n = m", ASK_EQ, "n*k", "m*k", true},
    {"n = m", ASK_LT, "i", "m", true},
    {"n <= m", ASK_LT, "i", "m", true},
    {"n <= m; m <= k", ASK_LE, "n", "k", true},
    {"n <= m; m <= k; k <= b", ASK_LE, "n", "b", true},
    {"n <= m", ASK_LE, "m", "n", false},
    {"n <= m", ASK_LE, "n*k", "m*k", true},
    {"n <= m", ASK_LE, "n / 32", "m / 32", true},
    {"n + x <= m; m <= 2*n + x", ASK_LE, "0", "n", true},
    {"n != 0", ASK_LE, "1", "n", true},
    {"n != 0", ASK_SIMPLIFY, "n / n", "1", true},
    {"n <= 1024; 1 <= n", ASK_EQ, "ceilDiv(n, 1024)", "1", true},
    {"n <= 1024; 1 <= n", ASK_SIMPLIFY, "ceilDiv(n, 1024)", "1", true},
    {"x <= 31; 0 <= x", ASK_SIMPLIFY, "(k*32 + x) / 32", "k", true},
    {"x <= lane", ASK_SIMPLIFY, "min(x, lane)", "x", true},
    {"n / 32 = 5", ASK_LT, "n", "192", true},
    {"n / 32 = 5", ASK_LE, "160", "n", true},
    {"2*x = 6", ASK_EQ, "x", "3", true},
    {"x + m = 7", ASK_LE, "x", "7", true},
    {"n*m = 12", ASK_EQ, "n*m*2", "24", true},
    {"min(n, m) = 4", ASK_LE, "4", "n", true},
    {"n <= min(m, k)", ASK_LE, "n", "k", true},
    /* Bounds that facts say by what is younger than the variable. */
    {"n % 100 = 0", ASK_LE, "n25", "4*(n / 100) - 1", true},
    {"n % 100 = 0", ASK_LE, "0", "4*(n / 100) - n25 - 1", true},
    {"n % 100 = 0", ASK_LT, "4*(n / 100) - n25 - 1", "n / 25", true},
    {"n % 50 = 0", ASK_LE, "0", "4*(n / 100) - n25 - 1", false},
    {"n % 100 = 0", ASK_LE, "0", "4*(n / 100) - n25 - 2", false},
    {"n % 100 = 0", ASK_LE, "0", "n / 7 - n7 - 1", true},
    {"n % 100 = 0", ASK_LE, "0", "n / 7 - n7 - 2", false},
    {"n % 100 = 0", ASK_LE, "25*n25 + 25", "n", true},
    {"n % 100 = 0", ASK_LE, "0", "2*(n / 50) - n25 - 1", true},
    {"n % 100 = 0; m % 4 = 0", ASK_LT, "m / 4*n25 + m / 4 - 1", "m*(n / 100)", true},
    {"n = 12*k", ASK_LE, "0", "3*k - n4 - 1", true},
    {"n = 12*k", ASK_LE, "0", "3*k - n4 - 2", false},
    {"", ASK_LE, "4*(n / 100)", "n / 25", true},
    {"", ASK_LE, "n / 25", "4*(n / 100)", false},
    {"", ASK_LE, "n / 25", "4*(n / 100) + 3", true},
};

static void read_facts(Ctx *ctx, const Names *names, const char *text, NatFacts *facts)
{
    while (*text) {
        const char *end = strchr(text, ';');
        size_t n = end ? (size_t)(end - text) : strlen(text);
        char buf[128];
        memcpy(buf, text, n);
        buf[n] = 0;
        char *op = strpbrk(buf, "<=!");
        void (*fact)(Ctx *, NatFacts *, Nat, Nat) = *op == '<' ? nat_fact_le : *op == '!' ? nat_fact_ne : nat_fact_eq;
        char *rhs = op + (*op == '=' ? 1 : 2);
        *op = 0;
        fact(ctx, facts, read_nat(ctx, names, buf), read_nat(ctx, names, rhs));
        text += n + (end != NULL);
    }
}

static void test_questions(void)
{
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
        Ctx *ctx = ctx_new(NULL, NULL);
        Names names = {.n = 0};
        golden_names(ctx, &names);
        NatFacts *facts = nat_facts_new(ctx, nat_facts_new(ctx, NULL));
        read_facts(ctx, &names, questions[i].facts, facts);
        Nat a = read_nat(ctx, &names, questions[i].a), b = read_nat(ctx, &names, questions[i].b);
        bool yes = false;
        const char *ask = "";
        switch (questions[i].ask) {
        case ASK_LE:
            yes = nat_le(ctx, facts, a, b);
            ask = "<=";
            break;
        case ASK_LT:
            yes = nat_lt(ctx, facts, a, b);
            ask = "<";
            break;
        case ASK_EQ:
            yes = nat_equal(ctx, facts, a, b);
            ask = "==";
            break;
        case ASK_DIVIDES:
            yes = nat_divides(ctx, facts, a, b);
            ask = "divides";
            break;
        case ASK_SIMPLIFY:
            yes = nat_simplify(ctx, facts, a) == b;
            ask = nat_text(ctx, nat_simplify(ctx, facts, a));
            break;
        }
        CHECK(yes == questions[i].yes, "given '%s': %s %s %s is %s", questions[i].facts, questions[i].a, ask, questions[i].b,
              yes ? "proved" : "not proved");
        ctx_free(ctx);
    }
}

/* Facts reach a child, and a parent's later facts too; a scope does not reach its parent. */
static void test_scopes(void)
{
    Ctx *ctx = ctx_new(NULL, NULL);
    Nat n = nat_var(ctx, "n", nat_const(ctx, 0), NULL), zero = nat_const(ctx, 0);
    NatFacts *outer = nat_facts_new(ctx, NULL), *inner = nat_facts_new(ctx, outer);
    nat_fact_eq(ctx, inner, nat_mod(ctx, n, nat_const(ctx, 32)), zero);
    CHECK(!nat_divides(ctx, outer, nat_const(ctx, 8), n), "a fact left its scope");
    CHECK(nat_divides(ctx, inner, nat_const(ctx, 8), n), "a fact is not seen");
    CHECK(!nat_le(ctx, inner, nat_const(ctx, 1), n), "n >= 1 out of nowhere");
    nat_fact_le(ctx, outer, nat_const(ctx, 1), n);
    CHECK(nat_le(ctx, inner, nat_const(ctx, 32), n), "a later fact of the parent is not seen");
    CHECK(nat_simplify(ctx, NULL, n) == n, "no facts");

    /* Answers are remembered, each its own. */
    Nat x = nat_var(ctx, "x", NULL, NULL), limit = nat_add_k(ctx, n, 5);
    nat_fact_le(ctx, inner, x, n);
    for (int i = -1500; i < 1500; i++)
        CHECK(nat_le(ctx, inner, nat_add_k(ctx, x, i), limit) == (i <= 5), "x <= n gives x + %d <= n + 5", i);

    /* Ranges: i < n <= 2^31 bounds an index by elimination where intervals would give more. */
    nat_fact_le(ctx, outer, n, nat_const(ctx, INT64_C(1) << 31));
    Nat block = nat_var(ctx, "block", zero, nat_add_k(ctx, nat_div(ctx, n, nat_const(ctx, 1024)), -1));
    Nat index = nat_add_k(ctx, nat_mul_k(ctx, block, 1024), 1023);
    NatRange r = nat_range(ctx, outer, index);
    CHECK(r.has_lo && r.lo == 1023 && r.has_hi && r.hi == (INT64_C(1) << 31) - 1, "range %" PRId64 " .. %" PRId64, r.lo, r.hi);
    ctx_free(ctx);
}

/* ---- memory that runs out --------------------------------------------------------------------------------------------------- */

typedef struct Failing {
    int calls, fail_at; /* 0: never */
} Failing;

static void *failing_alloc(void *user, size_t size)
{
    Failing *f = user;
    return ++f->calls == f->fail_at ? NULL : malloc(size);
}

static void failing_free(void *user, void *block)
{
    (void)user;
    free(block);
}

/* Enough work for dozens of arena chunks. */
static void work(Ctx *ctx, void *user)
{
    (void)user;
    Names names = {.n = 0};
    golden_names(ctx, &names);
    for (size_t i = 0; i < sizeof goldens / sizeof *goldens; i++)
        CHECK(strcmp(nat_text(ctx, read_nat(ctx, &names, goldens[i].given)), goldens[i].rise) == 0, "%s, after memory ran out", goldens[i].given);
    NatFacts *facts = nat_facts_new(ctx, NULL);
    read_facts(ctx, &names, "n % 64 = 0; m <= k", facts);
    Nat n = names.vars[0];
    for (int i = 1; i < 3000; i++)
        CHECK(nat_divides(ctx, facts, nat_const(ctx, 32), nat_mul_k(ctx, n, 1000 + i)), "after memory ran out");
}

static void test_memory(void)
{
    for (int at = 1, ran_out = true; ran_out; at += at < 20 ? 1 : 3) {
        Failing f = {0, at};
        Allocator alloc = {&f, failing_alloc, failing_free};
        Ctx *ctx = ctx_new(&alloc, NULL);
        if (!ctx)
            continue;
        ran_out = !ctx_try(ctx, work, NULL);
        f.fail_at = 0;
        CHECK(ctx_try(ctx, work, NULL), "the context is of no use after memory ran out");
        ctx_free(ctx);
    }
}

/* ---- direct evaluation ------------------------------------------------------------------------------------------------------- */

/* The small expressions have the first seven; log2 is of its first operand. */
typedef enum Op { OP_ADD, OP_SUB, OP_MUL, OP_DIV, OP_MOD, OP_MIN, OP_MAX, OP_POW, OP_LOG2 } Op;
enum { OP_COUNT = OP_POW };

static Nat apply(Ctx *ctx, Op op, Nat a, Nat b)
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

typedef struct Value {
    bool defined;
    Wide v;
} Value;

#define WIDE_LIMIT ((Wide)1 << 110)

static Value direct(Op op, Value a, Value b)
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

/* Variables of a test are numbered by the order of their making. */
enum { MAX_VARS = 8 };
typedef struct Assignment {
    Nat vars[MAX_VARS];
    int64_t values[MAX_VARS];
    int n;
} Assignment;

static bool value_of(void *user, Nat var, int64_t *value)
{
    const Assignment *a = user;
    for (int i = 0; i < a->n; i++)
        if (a->vars[i] == var) {
            *value = a->values[i];
            return true;
        }
    return false;
}

static const char *describe(Ctx *ctx, const Assignment *a)
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

/* ---- all small expressions ------------------------------------------------------------------------------------------------- */

enum { MAX_ASSIGNMENTS = 80, LEAVES = 6 };

typedef struct Small {
    Nat nat;
    uint8_t op;
    uint16_t a, b; /* into the level lists, for messages */
    int8_t defined[MAX_ASSIGNMENTS];
    int16_t values[MAX_ASSIGNMENTS];
} Small;

typedef struct Universe {
    Ctx *ctx;
    int set;
    Assignment assignments[MAX_ASSIGNMENTS];
    int n_assignments;
    Small *level[3];
    int n[3];
    int64_t turn;
} Universe;

/* Set 0: x free, y in [1, 4], z in [0, y - 1]. Set 1: n >= 0, k >= 1, i in [0, n - 1]. */
static void make_leaves(Universe *u)
{
    Ctx *ctx = u->ctx;
    Nat leaves[LEAVES];
    int n = 0;
    if (u->set == 0) {
        Nat x = nat_var(ctx, "x", NULL, NULL), y = nat_var(ctx, "y", nat_const(ctx, 1), nat_const(ctx, 4));
        Nat z = nat_var(ctx, "z", nat_const(ctx, 0), nat_add_k(ctx, y, -1));
        static const int64_t xs[] = {-4, -1, 0, 1, 3, 6, 11};
        for (int i = 0; i < 7; i++)
            for (int64_t yy = 1; yy <= 4; yy++)
                for (int64_t zz = 0; zz < yy; zz++)
                    u->assignments[n++] = (Assignment){{x, y, z}, {xs[i], yy, zz}, 3};
        Nat made[LEAVES] = {x, y, z, nat_const(ctx, 1), nat_const(ctx, 2), nat_const(ctx, 3)};
        memcpy(leaves, made, sizeof made);
    } else {
        Nat size = nat_var(ctx, "n", nat_const(ctx, 0), NULL), k = nat_var(ctx, "k", nat_const(ctx, 1), NULL);
        Nat i = nat_var(ctx, "i", nat_const(ctx, 0), nat_add_k(ctx, size, -1));
        static const int64_t ks[] = {1, 2, 4, 7};
        for (int64_t nn = 1; nn <= 5; nn++)
            for (int64_t ii = 0; ii < nn; ii++)
                for (int j = 0; j < 4; j++)
                    u->assignments[n++] = (Assignment){{size, k, i}, {nn, ks[j], ii}, 3};
        Nat made[LEAVES] = {size, k, i, nat_const(ctx, 0), nat_const(ctx, 4), nat_const(ctx, -3)};
        memcpy(leaves, made, sizeof made);
    }
    u->n_assignments = n;
    for (int l = 0; l < LEAVES; l++) {
        Small *s = &u->level[0][l];
        s->nat = leaves[l];
        for (int t = 0; t < n; t++) {
            int64_t v = 0;
            nat_eval(leaves[l], value_of, &u->assignments[t], &v);
            s->defined[t] = 1;
            s->values[t] = (int16_t)v;
        }
    }
    u->n[0] = LEAVES;
}

static const char op_names[] = "+-*/%mM^l";

static void check_small(Universe *u, Nat r, Op op, const Small *a, const Small *b, int t)
{
    if (!a->defined[t] || !b->defined[t])
        return;
    Value d = direct(op, (Value){true, a->values[t]}, (Value){true, b->values[t]});
    if (!d.defined)
        return;
    int64_t v = 0;
    NatEval e = nat_eval(r, value_of, &u->assignments[t], &v);
    tally.checks++;
    if (e != NAT_EVAL_OK || v != d.v)
        fail("(%s) %c (%s) = %s\n  at%s gives %" PRId64 " (%d), directly %" PRId64, nat_text(u->ctx, a->nat), op_names[op],
             nat_text(u->ctx, b->nat), nat_text(u->ctx, r), describe(u->ctx, &u->assignments[t]), v, (int)e, (int64_t)d.v);
}

static void combine(Universe *u, int la, int lb, int to)
{
    for (int op = 0; op < OP_COUNT; op++)
        for (int i = 0; i < u->n[la]; i++)
            for (int j = 0; j < u->n[lb]; j++) {
                const Small *a = &u->level[la][i], *b = &u->level[lb][j];
                Small *s = &u->level[to][u->n[to]++];
                s->nat = apply(u->ctx, (Op)op, a->nat, b->nat);
                for (int t = 0; t < u->n_assignments; t++) {
                    Value d = {false, 0};
                    if (a->defined[t] && b->defined[t])
                        d = direct((Op)op, (Value){true, a->values[t]}, (Value){true, b->values[t]});
                    s->defined[t] = d.defined;
                    s->values[t] = (int16_t)d.v;
                    check_small(u, s->nat, (Op)op, a, b, t);
                }
            }
}

static void make_levels(Universe *u)
{
    u->n[0] = u->n[1] = u->n[2] = 0;
    make_leaves(u);
    combine(u, 0, 0, 1);
    combine(u, 0, 1, 2);
    combine(u, 1, 0, 2);
}

static Nat same_vars(Ctx *ctx, Nat a, const Assignment *vars)
{
    /* Through other variables and back would lose the ranges; a substitution by themselves rebuilds everything. */
    return nat_subst_many(ctx, a, vars->n, vars->vars, vars->vars);
}

static void combine_last(Universe *u, int la, int lb, Op op, int per_expression)
{
    for (int i = 0; i < u->n[la]; i++)
        for (int j = 0; j < u->n[lb]; j++) {
            const Small *a = &u->level[la][i], *b = &u->level[lb][j];
            Nat r = apply(u->ctx, op, a->nat, b->nat);
            for (int t = 0; t < per_expression; t++)
                check_small(u, r, op, a, b, (int)(u->turn++ % u->n_assignments));
            if (u->turn % 7 == 0)
                CHECK(same_vars(u->ctx, r, &u->assignments[0]) == r, "%s is no normal form", nat_text(u->ctx, r));
        }
}

static void test_all_small(int per_expression)
{
    Universe u = {0};
    u.level[0] = malloc(sizeof(Small) * LEAVES);
    u.level[1] = malloc(sizeof(Small) * LEAVES * LEAVES * OP_COUNT);
    u.level[2] = malloc(sizeof(Small) * 2 * LEAVES * LEAVES * OP_COUNT * LEAVES * OP_COUNT);
    if (!u.level[0] || !u.level[1] || !u.level[2])
        abort();
    for (u.set = 0; u.set < 2; u.set++)
        for (int op = 0; op < OP_COUNT; op++) { /* a context each, so that memory stays small */
            u.ctx = ctx_new(NULL, NULL);
            make_levels(&u);
            combine_last(&u, 0, 2, (Op)op, per_expression);
            combine_last(&u, 2, 0, (Op)op, per_expression);
            combine_last(&u, 1, 1, (Op)op, per_expression);
            ctx_free(u.ctx);
        }
    for (int i = 0; i < 3; i++)
        free(u.level[i]);
}

/* ---- random ------------------------------------------------------------------------------------------------------------------- */

typedef struct Rng {
    uint64_t s;
} Rng;

static uint64_t next(Rng *r)
{
    uint64_t z = r->s += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static int below(Rng *r, int n) { return (int)(next(r) % (uint64_t)n); }

enum { POOL = 40, SAMPLES = 14, MAX_FACTS = 4 };

typedef struct Item {
    Nat nat;
    Op op;
    int a, b; /* -1: a leaf */
} Item;

typedef struct FactItem {
    int kind; /* 0: a <= b, 1: a == b, 2: a != b */
    int a, b;
} FactItem;

typedef struct Round {
    Ctx *ctx;
    Rng rng;
    bool big;
    Assignment vars;
    Item pool[POOL + 4 * MAX_FACTS + 4];
    int n;
    Assignment samples[SAMPLES];
    Value values[SAMPLES][POOL + 4 * MAX_FACTS + 4];
    bool holds[SAMPLES];
    int n_samples;
    FactItem facts[MAX_FACTS];
    int n_facts;
} Round;

static int64_t random_k(Round *r)
{
    static const int64_t near[] = {INT64_C(1) << 31, INT64_C(1) << 32, INT64_C(1) << 62, INT64_MAX, INT64_MIN, INT64_C(1) << 20};
    static const int64_t steps[] = {1, 2, 3, 4, 8, 16, 32, 64, 6, 12, 1024, 256};
    if (r->big && below(&r->rng, 3) == 0) {
        int64_t k = near[below(&r->rng, 6)], d = below(&r->rng, 5) - 2;
        return k == INT64_MAX ? k - below(&r->rng, 3) : k == INT64_MIN ? k + below(&r->rng, 3) : k + d;
    }
    switch (below(&r->rng, 4)) {
    case 0:
        return below(&r->rng, 9);
    case 1:
        return below(&r->rng, 8) - 4;
    default:
        return steps[below(&r->rng, 12)];
    }
}

static int leaf(Round *r, Nat a)
{
    r->pool[r->n] = (Item){a, OP_ADD, -1, -1};
    return r->n++;
}

static int node(Round *r, Op op, int a, int b)
{
    r->pool[r->n] = (Item){apply(r->ctx, op, r->pool[a].nat, r->pool[b].nat), op, a, b};
    return r->n++;
}

static void random_vars(Round *r)
{
    static const char *const names[] = {"n", "m", "k", "i", "j", "l"};
    Ctx *ctx = r->ctx;
    int n = 2 + below(&r->rng, 4);
    r->vars.n = 0;
    for (int i = 0; i < n; i++) {
        Nat lo = NULL, hi = NULL, older = i ? r->vars.vars[below(&r->rng, i)] : NULL;
        int64_t k = random_k(r);
        switch (below(&r->rng, 8)) {
        case 0:
            break;
        case 1:
        case 2:
            lo = nat_const(ctx, below(&r->rng, 2));
            break;
        case 3:
            lo = nat_const(ctx, 0);
            hi = nat_const(ctx, k < 0 ? -(k + 1) : k);
            break;
        case 4:
            hi = nat_const(ctx, k);
            break;
        case 5:
        case 6:
            lo = nat_const(ctx, below(&r->rng, 4) ? 0 : below(&r->rng, 5) - 2);
            hi = older ? nat_add_k(ctx, older, below(&r->rng, 4) ? -1 : below(&r->rng, 5) - 2) : nat_const(ctx, 31);
            break;
        default: {
            Nat by = nat_const(ctx, k < 1 ? 4 : k);
            lo = nat_const(ctx, 0);
            hi = older ? nat_add_k(ctx, below(&r->rng, 2) ? nat_ceil_div(ctx, older, by) : nat_div(ctx, older, by), -1) : NULL;
            break;
        }
        }
        r->vars.vars[i] = nat_var(ctx, names[i], lo, hi);
        r->vars.n++;
        leaf(r, r->vars.vars[i]);
    }
}

static int operand(Round *r)
{
    if (below(&r->rng, 4) == 0)
        return leaf(r, nat_const(r->ctx, random_k(r)));
    return below(&r->rng, 3) ? below(&r->rng, r->n) : below(&r->rng, r->vars.n);
}

/* Shapes that the rules look for, over random parts. */
static void random_items(Round *r)
{
    while (r->n < POOL - 8) {
        int a = operand(r), b = operand(r);
        if (r->n >= POOL - 8)
            break;
        switch (below(&r->rng, 11)) {
        case 3: { /* 2^x, x^2, log2 */
            int two = leaf(r, nat_const(r->ctx, 2));
            if (below(&r->rng, 2))
                node(r, OP_POW, two, node(r, OP_ADD, a, two));
            else
                node(r, OP_LOG2, node(r, OP_POW, two, a), a);
            node(r, OP_POW, b, two);
            break;
        }
        case 0: { /* b*(a/b) +- a%b, perhaps with the wrong sign or order */
            int q = node(r, OP_DIV, a, b), p = node(r, OP_MUL, q, b), m = node(r, OP_MOD, a, b);
            int s = node(r, below(&r->rng, 2) ? OP_ADD : OP_SUB, p, m);
            node(r, below(&r->rng, 2) ? OP_ADD : OP_SUB, below(&r->rng, 2) ? a : s, below(&r->rng, 2) ? p : m);
            break;
        }
        case 1: { /* (a*b + c) / b or % b */
            int c = below(&r->rng, r->n), p = node(r, OP_MUL, a, b), s = node(r, OP_ADD, p, c);
            node(r, OP_DIV, s, b);
            node(r, OP_MOD, s, b);
            break;
        }
        case 2: { /* ceilDiv, and rounding up */
            int s = node(r, OP_ADD, a, b), one = leaf(r, nat_const(r->ctx, 1)), t = node(r, OP_SUB, s, one), q = node(r, OP_DIV, t, b);
            node(r, OP_MUL, q, b);
            break;
        }
        case 4: { /* d*(a/(c*d)) and a/c, perhaps less b */
            int d = leaf(r, nat_const(r->ctx, 1 + below(&r->rng, 6))), c = leaf(r, nat_const(r->ctx, 1 + below(&r->rng, 8)));
            int q = node(r, OP_DIV, a, node(r, OP_MUL, c, d)), p = node(r, OP_MUL, q, d);
            node(r, OP_DIV, a, c);
            node(r, OP_SUB, p, b);
            break;
        }
        default:
            node(r, (Op)below(&r->rng, OP_COUNT), a, b);
            break;
        }
    }
}

/* One value for every variable, oldest first, within its range. */
static bool sample(Round *r, Assignment *s)
{
    *s = r->vars;
    for (int i = 0; i < s->n; i++) {
        Nat v = s->vars[i];
        Assignment known = *s;
        known.n = i;
        int64_t lo = INT64_MIN, hi = INT64_MAX, x;
        if (v->lo && nat_eval(v->lo, value_of, &known, &lo) != NAT_EVAL_OK)
            return false;
        if (v->hi && nat_eval(v->hi, value_of, &known, &hi) != NAT_EVAL_OK)
            return false;
        if (lo > hi)
            return false;
        int64_t base = lo != INT64_MIN ? lo : hi != INT64_MAX ? hi : 0;
        uint64_t width = (uint64_t)hi - (uint64_t)lo;
        int64_t spread = below(&r->rng, 3) ? 12 : 3000;
        switch (below(&r->rng, 6)) {
        case 0:
            x = lo != INT64_MIN ? lo : hi;
            break;
        case 1:
            x = hi != INT64_MAX ? hi : lo;
            break;
        case 2:
            if (r->big) {
                x = random_k(r);
                break;
            }
            /* fall through */
        case 3:
            x = (int64_t)((uint64_t)lo + (width == UINT64_MAX ? next(&r->rng) : next(&r->rng) % (width + 1)));
            if (r->big || (lo != INT64_MIN && hi != INT64_MAX))
                break;
            /* fall through */
        default:
            x = (int64_t)((uint64_t)base + (uint64_t)below(&r->rng, (int)spread) -
                          (uint64_t)(lo == INT64_MIN ? (hi == INT64_MAX ? spread / 2 : spread - 1) : 0));
            break;
        }
        if (x < lo || x > hi || (!r->big && (x > INT64_C(1) << 40 || x < -(INT64_C(1) << 40))))
            x = base;
        s->values[i] = x;
    }
    return true;
}

static void evaluate(Round *r, int s, int from)
{
    for (int i = from; i < r->n; i++) {
        const Item *item = &r->pool[i];
        Value *v = &r->values[s][i];
        if (item->a >= 0) {
            *v = direct(item->op, r->values[s][item->a], r->values[s][item->b]);
        } else {
            int64_t x = 0;
            v->defined = nat_eval(item->nat, value_of, &r->samples[s], &x) == NAT_EVAL_OK;
            v->v = x;
        }
    }
}

/* True of sample 0. Returns false when nothing came of it. */
static bool random_fact(Round *r)
{
    const Value *v = r->values[0];
    int a = below(&r->rng, r->n), b = below(&r->rng, 2) ? below(&r->rng, r->n) : below(&r->rng, r->vars.n);
    FactItem *f = &r->facts[r->n_facts];
    if (!v[a].defined || !v[b].defined || nat_is_error(r->pool[a].nat) || nat_is_error(r->pool[b].nat))
        return false;
    switch (below(&r->rng, 5)) {
    case 0: { /* a % k == what it is */
        int k = leaf(r, nat_const(r->ctx, 1 + below(&r->rng, 2) * 7 + below(&r->rng, 33)));
        int other = below(&r->rng, r->n);
        if (below(&r->rng, 3) == 0)
            k = below(&r->rng, r->vars.n);
        else if (below(&r->rng, 2) && nat_is_const(r->pool[other].nat)) /* one that divides something already */
            k = other;
        evaluate(r, 0, k);
        int m = node(r, OP_MOD, below(&r->rng, 2) ? b : below(&r->rng, r->vars.n), k);
        evaluate(r, 0, m);
        if (!v[m].defined || v[m].v > INT64_MAX)
            return false;
        *f = (FactItem){1, m, leaf(r, nat_const(r->ctx, (int64_t)v[m].v))};
        break;
    }
    case 1: { /* a == b + difference */
        Wide d = v[a].v - v[b].v;
        if (d > INT64_MAX || d < INT64_MIN)
            return false;
        int k = leaf(r, nat_const(r->ctx, (int64_t)d));
        *f = (FactItem){1, a, node(r, OP_ADD, b, k)};
        break;
    }
    case 2:
        if (v[a].v == v[b].v)
            return false;
        *f = (FactItem){2, a, b};
        break;
    default:
        *f = v[a].v <= v[b].v ? (FactItem){0, a, b} : (FactItem){0, b, a};
        break;
    }
    r->n_facts++;
    return true;
}

static bool fact_holds(const Round *r, int s, const FactItem *f)
{
    const Value *a = &r->values[s][f->a], *b = &r->values[s][f->b];
    if (!a->defined || !b->defined)
        return false;
    switch (f->kind) {
    case 0:
        return a->v <= b->v;
    case 1:
        return a->v == b->v;
    default:
        return a->v != b->v;
    }
}

static void report(Round *r, int s, const char *what, Nat given, Nat other)
{
    char buf[1000] = "";
    for (int f = 0; f < r->n_facts; f++) {
        static const char *const rel[] = {"<=", "==", "!="};
        size_t n = strlen(buf);
        snprintf(buf + n, sizeof buf - n, "\n  fact %s %s %s", nat_text(r->ctx, r->pool[r->facts[f].a].nat), rel[r->facts[f].kind],
                 nat_text(r->ctx, r->pool[r->facts[f].b].nat));
    }
    fail("%s: %s\n  and %s\n  at%s%s", what, nat_text(r->ctx, given), other ? nat_text(r->ctx, other) : "-",
         describe(r->ctx, &r->samples[s]), buf);
}

/* Direct and by nat_eval; overflow of the evaluation is no wrong answer. */
static void check_value(Round *r, int s, int item, Nat a, const char *what)
{
    Value d = r->values[s][item];
    int64_t x = 0;
    if (!d.defined)
        return;
    NatEval e = nat_eval(a, value_of, &r->samples[s], &x);
    tally.checks++;
    if (e == NAT_EVAL_OVERFLOW) {
        tally.overflows++;
        if (!r->big && nat_is_error(a))
            tally.overflows--, tally.checks--;
        return;
    }
    if (e != NAT_EVAL_OK || x != d.v) {
        const Item *i = &r->pool[item];
        char buf[600];
        snprintf(buf, sizeof buf, "%s %d: %" PRId64 " for %" PRId64 " of (%s) %c (%s)", what, (int)e, x, (int64_t)d.v,
                 i->a < 0 ? "" : nat_text(r->ctx, r->pool[i->a].nat), op_names[i->op], i->a < 0 ? "" : nat_text(r->ctx, r->pool[i->b].nat));
        report(r, s, buf, a, r->pool[item].nat);
    }
}

static void check_relations(Round *r, const NatFacts *facts, bool with_facts)
{
    Ctx *ctx = r->ctx;
    for (int t = 0; t < 6; t++) {
        int a = below(&r->rng, r->n), b = below(&r->rng, r->n), s0 = 0;
        Nat x = r->pool[a].nat, y = r->pool[b].nat;
        if (!r->values[s0][a].defined || !r->values[s0][b].defined || nat_is_error(x) || nat_is_error(y))
            continue;
        /* Shifted so that the relation holds tightly somewhere, else nearly nothing is provable. */
        Wide d = r->values[s0][a].v - r->values[s0][b].v;
        for (int s = 0; s < r->n_samples && t % 2; s++)
            if (r->values[s][a].defined && r->values[s][b].defined && (!with_facts || r->holds[s]) && r->values[s][a].v - r->values[s][b].v > d)
                d = r->values[s][a].v - r->values[s][b].v;
        if (d > INT64_C(1) << 61 || d < -(INT64_C(1) << 61))
            continue;
        if (t % 3 == 2)
            d -= 1;
        Nat z = nat_add_k(ctx, y, (int64_t)d);
        bool le = nat_le(ctx, facts, x, z), lt = nat_lt(ctx, facts, x, z), eq = nat_equal(ctx, facts, x, z);
        bool div = nat_divides(ctx, facts, y, x);
        for (int s = 0; s < r->n_samples; s++) {
            Value va = r->values[s][a], vb = r->values[s][b];
            if (!va.defined || !vb.defined || (with_facts && !r->holds[s]))
                continue;
            tally.checks += 4;
            tally.proved += le + lt + eq + div;
            if (le && va.v > vb.v + d)
                report(r, s, "<=", x, z);
            if (lt && va.v >= vb.v + d)
                report(r, s, "<", x, z);
            if (eq && va.v != vb.v + d)
                report(r, s, "==", x, z);
            if (div && (vb.v < 1 || va.v % vb.v != 0))
                report(r, s, "divides", y, x);
        }
    }
    for (int t = 0; t < 4; t++) {
        int a = below(&r->rng, r->n);
        NatRange range = nat_range(ctx, facts, r->pool[a].nat);
        for (int s = 0; s < r->n_samples; s++)
            if (r->values[s][a].defined && (!with_facts || r->holds[s])) {
                tally.checks++;
                if ((range.has_lo && r->values[s][a].v < range.lo) || (range.has_hi && r->values[s][a].v > range.hi))
                    report(r, s, "range", r->pool[a].nat, range.has_lo ? nat_const(ctx, range.lo) : NULL);
            }
    }
}

static void check_facts(Round *r)
{
    Ctx *ctx = r->ctx;
    int wanted = 1 + below(&r->rng, MAX_FACTS);
    for (int t = 0; t < 3 * MAX_FACTS && r->n_facts < wanted; t++)
        if (r->n < POOL + 4 * MAX_FACTS)
            random_fact(r);
    NatFacts *outer = nat_facts_new(ctx, NULL), *facts = outer;
    for (int s = 0; s < r->n_samples; s++) {
        evaluate(r, s, 0);
        r->holds[s] = true;
        for (int f = 0; f < r->n_facts; f++)
            r->holds[s] &= fact_holds(r, s, &r->facts[f]);
    }
    for (int f = 0; f < r->n_facts; f++) {
        Nat a = r->pool[r->facts[f].a].nat, b = r->pool[r->facts[f].b].nat;
        if (f == 2)
            facts = nat_facts_new(ctx, outer);
        (r->facts[f].kind == 0 ? nat_fact_le : r->facts[f].kind == 1 ? nat_fact_eq : nat_fact_ne)(ctx, facts, a, b);
    }
    for (int i = 0; i < r->n; i++) {
        Nat a = nat_simplify(ctx, facts, r->pool[i].nat);
        for (int s = 0; s < r->n_samples; s++)
            if (r->holds[s])
                check_value(r, s, i, a, "simplify");
        if (i % 8 == 0)
            CHECK(nat_simplify(ctx, facts, r->pool[i].nat) == a, "simplify twice: %s", nat_text(ctx, a));
    }
    check_relations(r, facts, true);
}

static void check_forms(Round *r, const Names *names)
{
    Ctx *ctx = r->ctx;
    for (int i = 0; i < r->n; i += 3) {
        Nat a = r->pool[i].nat;
        if (nat_is_error(a))
            continue;
        Nat again = same_vars(ctx, a, &r->vars);
        if (r->big && nat_is_error(again)) /* a sum in another order may leave 64 bits on its way */
            continue;
        CHECK(again == a, "no normal form: %s\n  becomes %s\n  with%s", nat_text(ctx, a), nat_text(ctx, again), describe(ctx, &r->samples[0]));
        const char *text = nat_text(ctx, a);
        Nat back = read_nat(ctx, names, text);
        CHECK(back == a || (r->big && nat_is_error(back)), "%s reads back as %s\n  with%s", text, nat_text(ctx, back), describe(ctx, &r->samples[0]));
        int helpers;
        text = c_text(ctx, a, NULL, &helpers);
        back = read_nat(ctx, names, text);
        CHECK(back == a || (r->big && nat_is_error(back)), "C: %s reads back as %s\n  with%s", text, nat_text(ctx, back), describe(ctx, &r->samples[0]));
    }
}

static uint64_t random_round(Ctx *ctx, uint64_t seed)
{
    static Round round;
    Round *r = &round;
    memset(r, 0, sizeof *r);
    r->ctx = ctx;
    r->rng.s = seed;
    r->big = below(&r->rng, 4) == 0;
    random_vars(r);
    random_items(r);
    for (int t = 0; t < 4 * SAMPLES && r->n_samples < SAMPLES; t++)
        if (sample(r, &r->samples[r->n_samples])) {
            evaluate(r, r->n_samples, 0);
            r->n_samples++;
        }
    uint64_t print = 1469598103934665603u;
    for (int i = 0; i < r->n; i++)
        for (const char *c = nat_text(ctx, r->pool[i].nat); *c; c++)
            print = (print ^ (unsigned char)*c) * 1099511628211u;
    if (r->n_samples == 0)
        return print;
    for (int i = 0; i < r->n; i++)
        for (int s = 0; s < r->n_samples; s++)
            check_value(r, s, i, r->pool[i].nat, "value");
    Names names = {.n = r->vars.n};
    memcpy(names.vars, r->vars.vars, sizeof(Nat) * (size_t)r->vars.n);
    check_forms(r, &names);
    check_relations(r, NULL, false);
    check_facts(r);
    return print;
}

static void test_random(int64_t checks, uint64_t seed)
{
    int64_t until = tally.checks + checks;
    for (uint64_t batch = 0; tally.checks < until; batch++) {
        /* Many rounds share a context: what was made before must not change what comes out. */
        Ctx *ctx = ctx_new(NULL, NULL);
        for (int i = 0; i < 20; i++) {
            uint64_t s = (seed << 32) + batch * 20 + (uint64_t)i;
            int64_t wrong = tally.wrong;
            uint64_t print = random_round(ctx, s);
            if (tally.wrong != wrong)
                printf("  in round %" PRIu64 "\n", s);
            if (i == 19) {
                Ctx *fresh = ctx_new(NULL, NULL);
                CHECK(random_round(fresh, s) == print, "another context, other results: round %" PRIu64, s);
                ctx_free(fresh);
            }
        }
        ctx_free(ctx);
    }
}

int main(int argc, char **argv)
{
    int64_t checks = argc > 1 ? strtoll(argv[1], NULL, 10) : 8000000;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    bool reduced = checks < 1000000; /* for slow builds */
    test_goldens();
    test_questions();
    test_scopes();
    test_memory();
    test_all_small(reduced ? 1 : 4);
    printf("nat: %" PRId64 " checks of small expressions\n", tally.checks);
    test_random(checks, seed);
    printf("nat: seed %" PRIu64 ", %" PRId64 " of these were of relations proved, %" PRId64 " evaluations left 64 bits\n", seed, tally.proved,
           tally.overflows);
    printf("nat: %" PRId64 " checks, %" PRId64 " wrong\n", tally.checks, tally.wrong);
    return tally.wrong != 0;
}
