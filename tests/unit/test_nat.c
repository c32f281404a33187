/* The texts and normal forms of nats, what is proved of them, scopes of facts, and memory that runs out.
 *
 * A check is one comparison. Prints `nat: N checks, W wrong` last. */
#include <stdlib.h>

#include "ir/nat_internal.h"
#include "nat_check.h"

/* ---- goldens ------------------------------------------------------------------------------------------------------------------ */

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
    {"4*(((i % 128)*m*128 + i) / 512) + (i*m + i / 128) % 4 - (i % 128)*m - i / 128", "0", "0"},
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
    {"ceilDiv(n*k, 256*k)", "ceilDiv(n, 256)", "(n + 255) / 256"},
    {"(n*k - 1) % (32*k)", "k*((n + 31) % 32) + k - 1", NULL},
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
    {"2^(n % 30)", "2^(n % 30)", "1 << (n % 30)"},
    {"2^(n % 32)", "2^(n % 32)", "nat_pow(2, n % 32)"},
    {"n / 2^(m % 8)", "n / 2^(m % 8)", "n >> (m % 8)"},
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
        nat_print_c(ctx, &sb, read_nat(ctx, &names, precs[i].given), NULL, NAT_INT, own_name, NULL, precs[i].prec);
        CHECK(strcmp(sb.text, precs[i].c) == 0, "%s at %d: %s", precs[i].given, precs[i].prec, sb.text);
    }
    static const struct { const char *given; NatNumbers numbers; const char *c; } typed[] = {
        {"2^k*n", NAT_LONG_LONG, "nat_pow(2ll, k)*n"}, {"2^(m % 8)*n", NAT_LONG_LONG, "(1ll << (m % 8))*n"}, {"2^k*n", NAT_DOUBLE, "pow(2.0, (double)k)*(double)n"}, {"n^k + 7", NAT_DOUBLE, "pow((double)n, (double)k) + 7"},
        {"(n + 3)/4*m", NAT_DOUBLE, "(((double)n + 3) / 4)*(double)m"}, {"m*(n%k)", NAT_DOUBLE, "(double)(n % k)*(double)m"}};
    for (size_t i = 0; i < sizeof typed / sizeof *typed; i++) {
        sb_init(&sb, ctx);
        nat_print_c(ctx, &sb, read_nat(ctx, &names, typed[i].given), NULL, typed[i].numbers, own_name, NULL, 0);
        CHECK(strcmp(sb.text, typed[i].c) == 0, "%s: %s", typed[i].given, sb.text);
    }
    ctx_free(ctx);
}

typedef enum Ask { ASK_LE, ASK_LT, ASK_EQ, ASK_DIVIDES, ASK_SIMPLIFY, ASK_NO_SCOPE } Ask;

/* Facts as text: a relation each, `;` between. `yes`: it must be proved; else it must not (it would be wrong). The last question has no numbers. */
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
    {"1 <= n; 1 <= m", ASK_SIMPLIFY, "(i + j / n) / m * n*m + (n*i + j) % (n*m)", "n*i + j", true},
    {"1 <= n; 1 <= m", ASK_SIMPLIFY, "((2*i + l)*(256 / n) + j / n) / m * n*m + (n*(2*i + l)*(256 / n) + j) % (n*m)",
     "n*(2*i + l)*(256 / n) + j", true},
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
    /* A sum of whole multiples of two is no 1. */
    {"1 <= 66*n + 2*(n / 3)", ASK_LE, "2", "66*n + 2*(n / 3)", true},
    {"1 <= 66*n + 2*(n / 3)", ASK_LE, "3", "66*n + 2*(n / 3)", false},
    {"n % 100 = 0; 1 <= 2*(n / 3)", ASK_LE, "1", "n / 3", true},
    {"", ASK_LE, "4*(n / 100)", "n / 25", true},
    {"", ASK_LE, "n / 25", "4*(n / 100)", false},
    {"", ASK_LE, "n / 25", "4*(n / 100) + 3", true},
    /* Products of no elements. */
    {"n*m <= 0", ASK_LE, "k*n*m", "0", true},
    {"n*m <= 0", ASK_LE, "n*m*i + n*m", "0", true},
    {"n*m <= 0", ASK_LE, "n", "0", false},
    {"n*m <= 0", ASK_LE, "n*k", "0", false},
    {"n*m <= 0; 1 <= n", ASK_LE, "m", "0", true},
    {"n*m*x <= 0; 1 <= n", ASK_LE, "m", "0", false},
    /* Facts that do not hold together, and such as do. */
    {"n <= 8; 32768 <= n*n", ASK_NO_SCOPE, "0", "0", true},
    {"32768 <= n*n; n <= 8", ASK_NO_SCOPE, "0", "0", true},
    {"n <= 8; 64 <= n*n", ASK_NO_SCOPE, "0", "0", false},
    {"n <= 8; 65 <= n*n", ASK_NO_SCOPE, "0", "0", true},
    {"n <= 181; 32768 <= n*n", ASK_NO_SCOPE, "0", "0", true},
    {"n <= 182; 32768 <= n*n", ASK_NO_SCOPE, "0", "0", false},
    {"n <= 8; m <= 64; 513 <= n*m", ASK_NO_SCOPE, "0", "0", true},
    {"n <= 8; m <= 64; 512 <= n*m", ASK_NO_SCOPE, "0", "0", false},
    {"n <= 8; 32768 <= n*m", ASK_NO_SCOPE, "0", "0", false},
    {"n <= 8; m <= n; 65 <= n*m", ASK_NO_SCOPE, "0", "0", true},
    {"x <= 8; 32768 <= x*x", ASK_NO_SCOPE, "0", "0", false}, /* x may be below 0 */
    {"100 <= n; 100 <= m; n*m <= 9999", ASK_NO_SCOPE, "0", "0", true},
    {"100 <= n; 100 <= m; n*m <= 10000", ASK_NO_SCOPE, "0", "0", false},
    {"100 <= n; n*m <= 99; m != 0", ASK_NO_SCOPE, "0", "0", true},
    {"100 <= n; n*m <= 99", ASK_NO_SCOPE, "0", "0", false},
    {"n <= 1000; 1000000000000000000 <= n*n*n*n*n*n", ASK_NO_SCOPE, "0", "0", false},
    {"n <= 999; 1000000000000000000 <= n*n*n*n*n*n", ASK_NO_SCOPE, "0", "0", true},
    {"9000000000000000000 <= n*n*n*n*n*n", ASK_NO_SCOPE, "0", "0", false},
    {"n <= m; m <= 7; 8 <= n", ASK_NO_SCOPE, "0", "0", true},
    {"n % 4 = 0; n % 8 = 6", ASK_NO_SCOPE, "0", "0", true},
    {"n = 12; m = 4; n*m <= 47", ASK_NO_SCOPE, "0", "0", true},
    {"n*m = 12; 13 <= n; 1 <= m", ASK_NO_SCOPE, "0", "0", true},
    {"n != 3; n <= 3; 3 <= n", ASK_NO_SCOPE, "0", "0", true},
    {"n != 3; n <= 3; 2 <= n", ASK_NO_SCOPE, "0", "0", false},
    {"ceilDiv(n, 128) <= 2; 256 <= n", ASK_NO_SCOPE, "0", "0", false},
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
        case ASK_NO_SCOPE:
            yes = nat_no_scope(ctx, facts);
            ask = "nothing";
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
    Nat m = nat_var(ctx, "m", nat_const(ctx, 0), NULL), k = nat_var(ctx, "k", nat_const(ctx, 0), NULL);
    Nat four = nat_const(ctx, 4), whole = nat_mul(ctx, m, nat_mul(ctx, k, n));
    NatFacts *product = nat_facts_new(ctx, NULL);
    nat_fact_eq(ctx, product, nat_mod(ctx, nat_mul(ctx, m, k), four), zero);
    CHECK(nat_divides(ctx, product, four, nat_add(ctx, whole, nat_mul_k(ctx, n, 8))), "of m*k*n, m*k is a multiple of 4");
    CHECK(!nat_divides(ctx, product, four, nat_mul(ctx, m, n)), "m*n is no multiple because m*k is");
    CHECK(!nat_divides(ctx, product, nat_const(ctx, 8), whole), "m*k is a multiple of 4 and not of 8");
    CHECK(!nat_divides(ctx, product, four, nat_add(ctx, whole, n)), "n is no multiple");
    nat_fact_le(ctx, outer, nat_const(ctx, 1), n);
    CHECK(nat_le(ctx, inner, nat_const(ctx, 32), n), "a later fact of the parent is not seen");
    CHECK(nat_simplify(ctx, NULL, n) == n, "no facts");
    NatFacts *one = nat_facts_new(ctx, NULL);
    nat_fact_eq(ctx, one, m, nat_const(ctx, 1));
    CHECK(nat_simplify(ctx, one, m) == nat_const(ctx, 1), "m == 1 does not make m 1");
    CHECK(nat_simplify(ctx, one, nat_mul(ctx, m, k)) == k, "m == 1 does not make m*k k");

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

/* What is wrong under some numbers that the facts allow is refuted, and nothing else is. */
static void test_models(void)
{
    Ctx *ctx = ctx_new(NULL, NULL);
    Nat one = nat_const(ctx, 1), n = nat_var(ctx, "n", one, NULL), m = nat_var(ctx, "m", one, NULL);
    Nat i = nat_var(ctx, "i", nat_const(ctx, 0), nat_add_k(ctx, n, -1));
    NatFact facts[] = {{FACT_LE, m, n}, {FACT_EQ, nat_mod(ctx, n, nat_const(ctx, 64)), nat_const(ctx, 0)}};
    NatEnv *env = nat_env_new(ctx, facts, 2, 1);
    CHECK(nat_refuted(ctx, env, FACT_LE, n, m), "n may be more than m");
    CHECK(!nat_refuted(ctx, env, FACT_LE, m, n), "m is at most n");
    CHECK(nat_refuted(ctx, env, FACT_LE, one, i) && nat_refuted(ctx, env, FACT_LE, i, one), "i is any index");
    CHECK(!nat_refuted(ctx, env, FACT_LE, nat_add_k(ctx, i, 1), n), "i is below n");
    CHECK(nat_refuted(ctx, env, FACT_DIVIDES, nat_const(ctx, 128), n), "n may be 64");
    CHECK(!nat_refuted(ctx, env, FACT_DIVIDES, nat_const(ctx, 32), n), "32 divides n");
    NatFact none[] = {{FACT_LE, n, m}, {FACT_LE, nat_add_k(ctx, m, 1), n}};
    CHECK(!nat_refuted(ctx, nat_env_new(ctx, none, 2, 2), FACT_LE, n, one), "no numbers fit");
    for (int k = 0; k < 60; k++) /* two lookups of the one before: 2^60, where values are not kept */
        i = nat_var(ctx, "i", nat_const(ctx, 0), nat_add(ctx, i, nat_mod(ctx, i, nat_const(ctx, 7))));
    CHECK(nat_refuted(ctx, env, FACT_LE, i, n), "i may be more than n");
    for (int k = 0; k < 2000; k++)
        i = nat_var(ctx, "i", nat_const(ctx, 0), i);
    CHECK(!nat_refuted(ctx, env, FACT_LE, i, n), "it goes too deep");
    ctx_free(ctx);
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

int main(void)
{
    test_goldens();
    test_questions();
    test_scopes();
    test_models();
    test_memory();
    printf("nat: %" PRId64 " checks, %" PRId64 " wrong\n", tally.checks, tally.wrong);
    return tally.wrong != 0;
}
