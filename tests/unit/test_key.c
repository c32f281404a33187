/* ir/key.h and ir/choice.h: which terms count as the same, and which operators only choose.
 *
 * Random scalar functions are written twice, the second time with operands that commute in another order: they are alike and have one key. Written with the
 * operands of one other operation exchanged, they are not. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "frontend/elab.h"
#include "ir/choice.h"
#include "ir/key.h"
#include "unit.h"

/* A check that says what it was about. */
#define SAYS(x, ...)                                      \
    do {                                                  \
        bool good_ = (x);                                 \
        unit_check(good_, #x, __FILE__, __LINE__);        \
        if (!good_) {                                     \
            printf(__VA_ARGS__);                          \
            printf("\n");                                 \
        }                                                 \
    } while (0)

static uint64_t state;
static uint64_t below(uint64_t n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % n;
}

/* ---- programs -------------------------------------------------------------------------------------------------------------- */

/* The functions that the maps of the entries of a text apply. */
static int functions_of(Ctx *ctx, const char *text, int most, const Core **out)
{
    Program *program = program_from_text(ctx, "keys.rise", text, strlen(text));
    int n = program_entry_count(program);
    for (int i = 0; i < n && i < most; i++) {
        CoreEntry *entry = elab_entry(ctx, program, i, 0, NULL);
        if (!entry || entry->body->kind != CORE_PRIM || entry->body->prim.args[0]->kind != CORE_LAMBDA) {
            printf("%s\n", ctx->diags.list.n ? ctx->diags.list.at[0]->message : "no map");
            return 0;
        }
        out[i] = entry->body->prim.args[0];
    }
    return n;
}

/* ---- random functions ------------------------------------------------------------------------------------------------------- */

typedef struct Tree {
    const char *op; /* NULL: a leaf */
    const char *leaf;
    struct Tree *a, *b;
} Tree;

static const char *const commuting[] = {"+", "*", "min", "max"};
static const char *const others[] = {"-", "/", "declared"};
static const char *const truths[] = {"==", "!=", "and", "or"};
static const char *const mirrors[][2] = {{"<", ">"}, {">", "<"}, {"<=", ">="}, {">=", "<="}};
static const char *const leaves[] = {"x", "y", "0.0", "-0.0", "1.5", "z"};

static Tree *node(Ctx *ctx, const char *op, Tree *a, Tree *b)
{
    Tree *t = NEW(ctx, Tree);
    *t = (Tree){.op = op, .a = a, .b = b};
    return t;
}

static Tree *number(Ctx *ctx, int depth);

static Tree *condition(Ctx *ctx, int depth)
{
    if (depth > 0 && below(2)) {
        Tree *a = condition(ctx, depth - 1);
        return node(ctx, truths[below(4)], a, condition(ctx, depth - 1));
    }
    Tree *a = number(ctx, depth - 1);
    return node(ctx, mirrors[below(4)][0], a, number(ctx, depth - 1));
}

static Tree *number(Ctx *ctx, int depth)
{
    if (depth <= 0 || below(5) == 0) {
        Tree *t = NEW(ctx, Tree);
        *t = (Tree){.leaf = leaves[below(6)]};
        return t;
    }
    if (below(6) == 0) {
        Tree *c = condition(ctx, depth - 1), *a = number(ctx, depth - 1);
        return node(ctx, "if", c, node(ctx, "else", a, number(ctx, depth - 1)));
    }
    Tree *a = number(ctx, depth - 1);
    return node(ctx, below(2) ? commuting[below(4)] : others[below(3)], a, number(ctx, depth - 1));
}

static bool in(const char *op, int n, const char *const *list)
{
    for (int i = 0; i < n; i++)
        if (strcmp(op, list[i]) == 0)
            return true;
    return false;
}

static void put(StrBuf *out, const char *op, const Tree *a, const Tree *b, int turns);

/* turns: how many operands in a hundred change places. */
static void put_tree(StrBuf *out, const Tree *t, int turns)
{
    if (!t->op) {
        sb_puts(out, t->leaf);
    } else if (strcmp(t->op, "if") == 0) {
        sb_puts(out, "(if ");
        put_tree(out, t->a, turns);
        sb_puts(out, " then ");
        put_tree(out, t->b->a, turns);
        sb_puts(out, " else ");
        put_tree(out, t->b->b, turns);
        sb_puts(out, ")");
    } else if ((int)below(100) >= turns) {
        put(out, t->op, t->a, t->b, turns);
    } else if (in(t->op, 4, commuting) || in(t->op, 4, truths)) {
        put(out, t->op, t->b, t->a, turns);
    } else {
        for (int i = 0; i < 4; i++)
            if (strcmp(t->op, mirrors[i][0]) == 0) {
                put(out, mirrors[i][1], t->b, t->a, turns);
                return;
            }
        put(out, t->op, t->a, t->b, turns);
    }
}

static void put(StrBuf *out, const char *op, const Tree *a, const Tree *b, int turns)
{
    bool word = (op[0] >= 'a' && op[0] <= 'z') && strcmp(op, "and") != 0 && strcmp(op, "or") != 0;
    sb_printf(out, word ? "%s(" : "(", op);
    put_tree(out, a, turns);
    sb_printf(out, word ? ", " : " %s ", op);
    put_tree(out, b, turns);
    sb_puts(out, ")");
}

static const char head[] = "operator declared (a: f32) (b: f32): f32 unit 0, associative, commutative = a + b + 2 * a * b\n";

static void put_entry(StrBuf *out, const Tree *t, int turns, const char *name)
{
    sb_printf(out, "entry %s (xs: 8.(f32, f32)): 8.f32 = xs |> map(fun (x, y) => let z = x + y * 2.0 in 3.0 - ", name);
    put_tree(out, t, turns);
    sb_puts(out, ")\n");
}

/* Sub-trees whose operands do not commute. */
static int count_others(Tree *t, Tree **last, int which)
{
    if (!t->op)
        return 0;
    int n = count_others(t->a, last, which);
    n += count_others(t->b, last, which < 0 ? which : which - n);
    if (!in(t->op, 3, others))
        return n;
    if (n == which)
        *last = t;
    return n + 1;
}

static void test_random(Ctx *ctx, void *user)
{
    (void)user;
    Tree *t = number(ctx, 6);
    StrBuf text;
    sb_init(&text, ctx);
    sb_puts(&text, head);
    put_entry(&text, t, 0, "plain");
    put_entry(&text, t, 50, "turned");
    const Core *f[3];
    SAYS(functions_of(ctx, text.text, 2, f) == 2, "a program: %s", text.text);
    SAYS(core_alike(ctx, f[0], f[1]), "alike: %s", text.text);
    SAYS(core_key(ctx, f[0]) == core_key(ctx, f[1]), "one key: %s", text.text);
    Tree *other = NULL;
    int n = count_others(t, &other, -1);
    if (n == 0)
        return;
    count_others(t, &other, (int)below((uint64_t)n));
    if (!other)
        return;
    const Tree *a = other->a;
    other->a = other->b;
    other->b = (Tree *)(uintptr_t)a;
    sb_init(&text, ctx);
    sb_puts(&text, head);
    put_entry(&text, t, 0, "exchanged");
    other->b = other->a;
    other->a = (Tree *)(uintptr_t)a;
    put_entry(&text, t, 0, "plain");
    SAYS(functions_of(ctx, text.text, 2, f) == 2, "a program: %s", text.text);
    bool alike = core_alike(ctx, f[0], f[1]);
    SAYS(alike == (core_key(ctx, f[0]) == core_key(ctx, f[1])), "keys as the terms: %s", text.text);
    StrBuf left, right; /* both operands may be alike */
    sb_init(&left, ctx);
    sb_init(&right, ctx);
    sb_puts(&left, head);
    put_entry(&left, other->a, 0, "left");
    put_entry(&left, other->b, 0, "right");
    SAYS(functions_of(ctx, left.text, 2, f) == 2, "a program: %s", left.text);
    SAYS(alike == core_alike(ctx, f[0], f[1]), "not alike: %s", text.text);
}

/* ---- by hand ----------------------------------------------------------------------------------------------------------------- */

static const struct {
    const char *a, *b;
    bool same, alike;
} pairs[] = {
    {"x * y", "x * y", true, true},
    {"x * y", "y * x", false, true},
    {"x + y * z", "z * y + x", false, true},
    {"x + y + z", "z + (y + x)", false, true},
    {"(x + y) + z", "x + (y + z)", false, false}, /* another rounding */
    {"x - y", "y - x", false, false},
    {"if x < y then x else y", "if y > x then x else y", false, true},
    {"if x < y then x else y", "if y < x then x else y", false, false},
    {"if x <= y then x else y", "if x < y then x else y", false, false},
    {"x + 0.0", "x + -0.0", false, false},
    {"declared(x, y)", "declared(y, x)", false, false},
    {"let a = x * y in a + a * z", "let b = y * x in z * b + b", false, true},
    {"let a = x in let b = y in a - b", "let b = x in let a = y in a - b", false, false},
    {"x * (y - z) + z * (x - y)", "(x - y) * z + (y - z) * x", false, true}};

static void test_pairs(Ctx *ctx, void *user)
{
    (void)user;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const char *text = ctx_printf(ctx,
                                      "%sentry one (xs: 8.(f32, f32, f32)): 8.f32 = xs |> map(fun (x, y, z) => %s)\n"
                                      "entry two (xs: 8.(f32, f32, f32)): 8.f32 = xs |> map(fun (x, y, z) => %s)\n",
                                      head, pairs[i].a, pairs[i].b);
        const Core *f[2];
        SAYS(functions_of(ctx, text, 2, f) == 2, "a program: %s", text);
        SAYS(core_same(ctx, f[0], f[1]) == pairs[i].same, "%s and %s the same", pairs[i].a, pairs[i].b);
        SAYS(core_alike(ctx, f[0], f[1]) == pairs[i].alike, "%s and %s alike", pairs[i].a, pairs[i].b);
        SAYS((core_key(ctx, f[0]) == core_key(ctx, f[1])) == pairs[i].alike, "%s and %s: keys", pairs[i].a, pairs[i].b);
    }
}

/* A sum of many alike terms, turned round: no order is tried twice. */
static void test_long(Ctx *ctx, void *user)
{
    (void)user;
    StrBuf text;
    sb_init(&text, ctx);
    for (int k = 0; k < 2; k++) {
        sb_printf(&text, "entry e%d (xs: 8.(f32, f32)): 8.f32 = xs |> map(fun (x, y) => ", k);
        for (int i = 0; i < 150; i++)
            sb_puts(&text, k ? "x * y + (" : "(");
        sb_puts(&text, "x");
        for (int i = 0; i < 150; i++)
            sb_puts(&text, k ? ")" : " + y * x)");
        sb_puts(&text, ")\n");
    }
    const Core *f[2];
    SAYS(functions_of(ctx, text.text, 2, f) == 2, "a program: %s", text.text);
    SAYS(core_alike(ctx, f[0], f[1]), "a long sum");
}

static const struct {
    const char *types, *body;
    int by; /* -1: no such choice */
    PrimId before;
} choices[] = {
    {"(f32, i32)", "if b.1 < a.1 or (b.1 == a.1 and b.2 < a.2) then b else a", 0, P_lt},
    {"(f32, i32)", "if a.1 > b.1 or (a.1 == b.1 and not (a.2 <= b.2)) then b else a", 0, P_lt},
    {"(f32, i32)", "if b.1 > a.1 or (b.1 == a.1 and b.2 < a.2) then b else a", 0, P_gt},
    {"(f32, i32)", "if a.1 < b.1 or (b.1 == a.1 and a.2 < b.2) then a else b", -1, P_COUNT}, /* gives a second one that is NaN */
    {"(i32, i32)", "if a.1 < b.1 or (b.1 == a.1 and a.2 < b.2) then a else b", 0, P_lt},
    {"(i32, f32)", "if b.2 < a.2 or (b.2 == a.2 and b.1 < a.1) then b else a", 1, P_lt},
    {"(i64, f64)", "if b.2 > a.2 then b else if a.2 == b.2 and b.1 < a.1 then b else a", 1, P_gt},
    {"(f32, i32)", "if b.1 < a.1 then b else a", -1, P_COUNT},
    {"(f32, i32)", "if b.1 < a.1 or (b.1 == a.1 and b.2 > a.2) then b else a", -1, P_COUNT},
    {"(f32, i32)", "if b.1 < a.1 or (b.1 == a.1 and b.2 < a.2) then b else (a.1, b.2)", -1, P_COUNT},
    {"(f32, i32)", "if b.1 + 1 < a.1 or (b.1 == a.1 and b.2 < a.2) then b else a", -1, P_COUNT},
    {"(f32, i32)", "if b.1 < a.1 or b.2 < a.2 then b else a", -1, P_COUNT},
    {"(f32, f32)", "if b.1 < a.1 or (b.1 == a.1 and b.2 < a.2) then b else a", 0, P_lt},
    {"(f32, f32)", "if b.1 < a.2 then b else a", -1, P_COUNT},
    {"(f32, i32)", "(if b.1 < a.1 then b.1 else a.1, if b.1 < a.1 then b.2 else if b.1 == a.1 then min(a.2, b.2) else a.2)", 0, P_lt},
    {"(i32, i32)", "(min(a.1, b.1), if b.1 < a.1 then b.2 else if b.1 == a.1 then min(a.2, b.2) else a.2)", 0, P_lt},
    {"(f32, i32)", "let (x, i) = a in let (y, j) = b in let less = y < x in if not (less or (y == x and j < i)) then a else (y, j)", 0, P_lt}};

static void test_choices(Ctx *ctx, void *user)
{
    (void)user;
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
        const char *t = choices[i].types;
        const char *text = ctx_printf(ctx, "entry e (xs: 8.%s) (u: %s): %s = xs |> reduceSeq(fun (a: %s) (b: %s) => %s, u)\n", t, t, t, t, t, choices[i].body);
        const Core *f;
        SAYS(functions_of(ctx, text, 1, &f) == 1, "a program: %s", text);
        for (int by = 0; by < 2; by++) {
            ChoiceOrder order = {P_COUNT, P_COUNT};
            bool is = choice_order(ctx, f, by, &order);
            SAYS(is == (by == choices[i].by), "`%s` orders by %d", choices[i].body, by + 1);
            SAYS(!is || (order.before == choices[i].before && order.pick == (order.before == P_lt ? P_min : P_max)), "`%s`: which order", choices[i].body);
        }
    }
}

static void with_context(void (*fn)(Ctx *, void *))
{
    Ctx *ctx = ctx_new(NULL, NULL);
    SAYS(ctx_try(ctx, fn, NULL), "memory");
    ctx_free(ctx);
}

int main(int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 20261122;
    printf("key: seed %" PRIu64 "\n", seed);
    state = seed * 0x9e3779b97f4a7c15u + 1;
    with_context(test_pairs);
    with_context(test_long);
    with_context(test_choices);
    for (int i = 0; i < 400; i++)
        with_context(test_random);
    return unit_end();
}
