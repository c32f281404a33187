/* The parser on good, broken and hostile texts.
 *
 *     test_parse [--seed N] [FILE.rise...]
 *
 * What it checks of every text: spans lie inside their parents, heights are right and bounded, diagnostics lie inside the file, and
 * what is free of errors prints to a text that parses to the same print. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "frontend/ast.h"
#include "unit.h"

/* ---- a context that counts, and that fails on demand ----------------------------------------------------------------- */

typedef struct Meter {
    size_t blocks, bytes; /* blocks held now; bytes ever asked for */
    long calls, fail_at;  /* the call that fails; 0 for none */
} Meter;

static void *meter_alloc(void *user, size_t size)
{
    Meter *m = user;
    if (++m->calls == m->fail_at)
        return NULL;
    void *block = malloc(size);
    if (block) {
        m->blocks++;
        m->bytes += size;
    }
    return block;
}

static void meter_free(void *user, void *block)
{
    Meter *m = user;
    if (block)
        m->blocks--;
    free(block);
}

static Ctx *new_context(Meter *m)
{
    Allocator alloc = {m, meter_alloc, meter_free};
    return ctx_new(&alloc, NULL);
}

/* ---- invariants of a tree --------------------------------------------------------------------------------------------- */

static bool inside(Span a, Span b) { return a.file == b.file && a.lo <= a.hi && a.lo >= b.lo && a.hi <= b.hi; }

static int most_levels; /* what the context of the text that is read allows */

static int walk(const Ast *ast, Span parent);

static int max(int a, int b) { return a > b ? a : b; }

static int walk_pattern(const Pattern *p, Span parent)
{
    CHECK(inside(p->span, parent));
    CHECK(p->height >= 1 && p->height <= most_levels);
    int height = 0;
    for (int i = 0; i < p->n_items; i++)
        height = max(height, walk_pattern(&p->items[i], p->span));
    if (p->type)
        height = max(height, walk(p->type, parent));
    CHECK(p->height >= height + 1);
    return p->height;
}

static int walk_list(int n, Ast *const *items, Span parent)
{
    int height = 0;
    for (int i = 0; i < n; i++)
        height = max(height, walk(items[i], parent));
    return height;
}

/* Gives the height. Only called where it is at most the limit, so that the recursion is safe. */
static int walk(const Ast *a, Span parent)
{
    if (!CHECK(inside(a->span, parent)) || !CHECK(a->height >= 1 && a->height <= most_levels))
        return a->height;
    int below = 0;
    Span s = a->span;
    switch (a->kind) {
    case AST_ERROR: case AST_NAME: case AST_INT: case AST_FLOAT: case AST_OPFUN: break;
    case AST_CALL: case AST_NAMED: case AST_BRACKET:
        below = max(walk(a->call.fn, s), walk_list(a->call.n, a->call.items, s));
        CHECK(a->call.n >= 1);
        break;
    case AST_UNARY: below = walk(a->bin.lhs, s); break;
    case AST_DOT: case AST_BINARY: case AST_PIPE: case AST_COMPOSE: case AST_ARROW: case AST_SEQ: case AST_ORELSE:
        below = max(walk(a->bin.lhs, s), walk(a->bin.rhs, s));
        CHECK(inside(a->bin.op_span, s));
        break;
    case AST_BINDER: below = walk(a->binder.param->kind, s); break;
    case AST_TUPLE: case AST_LIST:
        below = walk_list(a->list.n, a->list.items, s);
        CHECK(a->list.n >= (a->kind == AST_TUPLE ? 2 : 1));
        break;
    case AST_LAMBDA:
        below = walk(a->lambda.body, s);
        for (int i = 0; i < a->lambda.n; i++)
            below = max(below, walk_pattern(&a->lambda.params[i], s));
        break;
    case AST_LET: below = max(walk_pattern(a->let.pattern, s), max(walk(a->let.value, s), walk(a->let.body, s))); break;
    case AST_IF: below = max(walk(a->cond.cond, s), max(walk(a->cond.then, s), walk(a->cond.otherwise, s))); break;
    case AST_AT:
        below = walk(a->at.what, s);
        CHECK(a->at.n >= 1);
        for (int i = 0; i < a->at.n; i++)
            CHECK(inside(a->at.words[i].span, s));
        break;
    case AST_LABEL: below = walk(a->label.operand, s); break;
    case AST_UNROLL: below = max(walk(a->unroll.list, s), walk(a->unroll.fn, s)); break;
    }
    CHECK(a->height == below + 1);
    return a->height;
}

static void walk_item(const Item *item)
{
    Span s = item->span;
    if (item->kind == ITEM_ERROR)
        return;
    CHECK(item->kind == ITEM_IMPORT ? item->path != NULL : item->name != NULL && inside(item->name_span, s));
    for (int i = 0; i < item->n_params; i++) {
        const Param *p = &item->params[i];
        walk_pattern(&p->pattern, s);
        CHECK(p->kind != NULL && (p->name != NULL) != (p->pattern.name == NULL));
        walk_list(1, &p->kind, s);
        walk_list(p->def != NULL, &p->def, s);
        walk_list(p->candidates != NULL, &p->candidates, s);
    }
    walk_list(item->result != NULL, &item->result, s);
    walk_list(item->n_where, item->where, s);
    walk_list(item->unit != NULL, &item->unit, s);
    walk_list(item->lowered != NULL, &item->lowered, s);
    walk_list(item->body != NULL, &item->body, s);
    for (int i = 0; i < item->n_launch; i++)
        walk(item->launch[i].value, s);
    for (int i = 0; i < item->n_laws; i++)
        walk_list(item->laws[i].within != NULL, &item->laws[i].within, s);
}

/* ---- one text ------------------------------------------------------------------------------------------------------------ */

typedef struct Trial {
    const char *text;
    size_t size;
    int errors, diags;
    bool fixpoint; /* or has errors */
} Trial;

static const char *print(Ctx *ctx, const char *text, size_t size, AstFile **file)
{
    char *copy = ctx_alloc(ctx, size + 1);
    memcpy(copy, text, size);
    *file = parse_file(ctx, source_add(ctx, "t.rise", copy, size));
    StrBuf sb;
    sb_init(&sb, ctx);
    ast_print_file(&sb, *file);
    return sb.text;
}

static void try_text(Ctx *ctx, void *user)
{
    Trial *t = user;
    AstFile *file, *again;
    most_levels = ctx->stack.levels;
    const char *first = print(ctx, t->text, t->size, &file);
    t->errors = ctx->diags.errors;
    t->diags = ctx->diags.list.n;
    for (int i = 0; i < file->items.n; i++)
        walk_item(file->items.at[i]);
    for (int i = 0; i < ctx->diags.list.n; i++) {
        const Diag *d = ctx->diags.list.at[i];
        CHECK(d->span.file == 1 && d->span.lo <= d->span.hi && d->span.hi <= t->size);
        for (int k = 0; k < d->notes.n; k++)
            CHECK(d->notes.at[k].span.hi <= t->size);
    }
    StrBuf sb;
    sb_init(&sb, ctx);
    diag_render(ctx, &sb, false);
    if (t->errors == 0) {
        const char *second = print(ctx, first, strlen(first), &again);
        t->fixpoint = CHECK_TEXT(second, first) && CHECK(ctx->diags.errors == 0);
    } else {
        t->fixpoint = true;
    }
}

static Trial check_text(const char *text, size_t size)
{
    Meter m = {0};
    Trial t = {.text = text, .size = size};
    Ctx *ctx = new_context(&m);
    CHECK(ctx_try(ctx, try_text, &t));
    ctx_free(ctx);
    CHECK(m.blocks == 0);
    return t;
}

/* ---- good texts -------------------------------------------------------------------------------------------------------------- */

static const char sample[] =
    "--| Doc.\n--| More.\nimport std.warp\nimport \"a.rise\"\n"
    "def f {n m: nat} {t: data} (op: t -> t -> t) ((a, b): (f32, 16.16.f32)) (g: (k l: nat) -> {q: nat} -> (l*k).t -> idx[n]): n.m.t =\n"
    "  let (x, _) = a in let y: f32 = f{n = 32, t = n.f32 -> f32}(x.1.2, xs[i], 1.0f64, 0xffu32, 1e-3, - -4 ^ -2, (not), (+)) in\n"
    "  toShared[pad = 1, swizzle](mapBlock[y](unroll d in halving(1024) (f))) |> f >> g |> fun (x: f32) _ (a, (b: f32)) => x + if a then b else c |> h\n"
    "operator o (a b: (f32, i64)): (f32, i64) unit (inf, 0), associative within 1e-5, commutative = if a.1 < b.1 and not b then a else b\n"
    "entry e {n: nat} (k: nat = 64 in [32, 64, 2 * 32]) (j: nat = 3 in halving(8)) (xs: n.f32): ceilDiv(n, k).f32 exact\n"
    "  launch [blocks = n % 3, threads = 32] where n >= 1, k == 2 or n != 3 =\n"
    "  xs |> unroll unit in [1, 2] (fun by => launch(by)) |> (a == 3) |> exact -- comment\n"
    "def g (x: 16.(f32, i32)) (at: (32 * k).f32) = (1).2 + (1.0).f32 + 2.3.f32 - (a - b) - (c ^ d) ^ e + (fun x => x)(3) --|> y\n";

static void check_sample(void)
{
    Trial t = check_text(sample, sizeof sample - 1);
    CHECK(t.errors == 0 && t.diags == 0);
}

static void check_meaning(const char *text, const char *want)
{
    Meter m = {0};
    Ctx *ctx = new_context(&m);
    AstFile *file;
    const char *whole = ctx_printf(ctx, "def f =\n  %s\n", text);
    CHECK_TEXT(print(ctx, whole, strlen(whole), &file), ctx_printf(ctx, "def f =\n  %s\n", want));
    CHECK(ctx->diags.errors == 0);
    ctx_free(ctx);
}

/* Precedence and the few places where numbers, dots and signs meet. */
static void check_meanings(void)
{
    check_meaning("(a * b) + c", "a * b + c");
    check_meaning("a * (b + c)", "a * (b + c)");
    check_meaning("(a ^ b) ^ (c ^ d)", "(a ^ b) ^ c ^ d");
    check_meaning("-(a ^ b)", "-a ^ b");
    check_meaning("(-a) ^ b", "(-a) ^ b");
    check_meaning("(-a) * b", "-a * b");
    check_meaning("(not a) and (b or c)", "not a and (b or c)");
    check_meaning("((a |> f) |> g) |> (h >> i)", "a |> f |> g |> h >> i");
    check_meaning("if a then b else (c |> f)", "if a then b else c |> f");
    check_meaning("(if a then b else c) |> f", "(if a then b else c) |> f");
    check_meaning("(a + b) >> (c - d)", "a + b >> c - d");
    check_meaning("(a >> b) < (c)", "a >> b < c");
    check_meaning("(a < b) == (c < d)", "a < b == c < d");
    check_meaning("a -(b - -c)", "a - (b - -c)");
    check_meaning("0x10.0xf.f32", "16.15.f32");
    check_meaning("t.1.2.3", "t.1.2.3");
    check_meaning("16.16.(a, b)", "16.16.(a, b)");
    check_meaning("1.5 + 16 . 2 . t", "1.5 + 16.2.t");
    check_meaning("f(1)(2, 3)[i]{n = 3}", "f(1)(2, 3)[i]{n = 3}");
    check_meaning("let a = let b = 1 in b in fun x => fun y => x", "let a = let b = 1 in b in\n  fun x => fun y => x");
    check_meaning("g{t = (s -> u) -> (k: nat) -> k.u}", "g{t = (s -> u) -> (k: nat) -> k.u}");
    check_meaning("xs --|> h\n |> g", "xs |> g");
}

/* ---- hostile texts -------------------------------------------------------------------------------------------------------- */

static uint64_t random_state;

static uint32_t random_below(uint32_t n)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)(random_state >> 32) % n;
}

static const char *const words[] = {
    "def ", "def f ", "def f = ", "entry e ", "operator o ", "import ", "fun ", "let ", "in ", "if ", "then ", "else ", "where ", "unroll ", "and ",
    "or ", "not ", "unit ", "launch ", "exact ", "associative ", "lowered by ", "(", "(", "(", ")", ")", ")", "[", "]", "{", "}", ",", ":", ".", "=",
    "=>", "->", "|>", ">>", "==", "<", "+", "-", "--", "*", "^", "x ", "y ", "n", "1", "2.5", "3.", ".5", "0xff", "7u8", "1e3", "_ ", "\n", "\"s\"",
    "\"", ";", "#", "\\", "&&", "!", "//", "/*", "\xc3\xa9", "\xe2\x86\x92", "\xff", "(x: nat) ", "{n: nat} ", "fun x => ", "let x = ", "rule ", "x y ",
};

static void check_random(int rounds)
{
    enum { MOST = 400 };
    char text[MOST * 10];
    int clean = 0;
    for (int round = 0; round < rounds; round++) {
        size_t size = 0;
        uint32_t n = 1 + random_below(MOST / (1 + random_below(20)));
        uint32_t form = random_below(4);
        if (form == 0) {
            for (; size < n; size++)
                text[size] = (char)random_below(256);
        } else if (form == 1) {
            for (uint32_t i = 0; i < n; i++) {
                const char *word = words[random_below(sizeof words / sizeof *words)];
                memcpy(text + size, word, strlen(word));
                size += strlen(word);
            }
        } else { /* the sample with a few places changed */
            memcpy(text, sample, size = sizeof sample - 1);
            for (uint32_t i = 0, m = 1 + random_below(4); i < m; i++) {
                const char *word = words[random_below(sizeof words / sizeof *words)];
                size_t at = random_below((uint32_t)size), cut = random_below(6), put = random_below(2) ? strlen(word) : 0;
                if (cut > size - at)
                    cut = size - at;
                memmove(text + at + put, text + at + cut, size - at - cut);
                memcpy(text + at, word, put);
                size = size - cut + put;
            }
        }
        long before = unit_failures;
        Trial t = check_text(text, size);
        if (unit_failures > before)
            printf("  in round %d\n", round);
        clean += t.errors == 0;
    }
    printf("random: %d texts, %d of them without errors\n", rounds, clean);
}

static size_t read_at_most = 4 << 20; /* --read */

/* Cut off at every byte; a long text at so many that so many bytes are read in all. */
static void check_truncated(const char *text, size_t size)
{
    size_t step = 1 + size * size / 2 / read_at_most;
    for (size_t n = 0; n < size; n += step)
        check_text(text, n);
}

/* head, then `unit` until there are `total` bytes, then `middle`, then as many of `close`. Memory grows with the text and no faster. */
static void check_deep(size_t total, const char *head, const char *unit, const char *middle, const char *close, bool good)
{
    size_t times = total / (strlen(unit) + strlen(close)), size = 0;
    char *text = malloc(total + 200);
    if (!text)
        return;
    size += (size_t)sprintf(text, "%s", head);
    for (size_t i = 0; i < times; i++)
        memcpy(text + size + i * strlen(unit), unit, strlen(unit));
    size += times * strlen(unit);
    memcpy(text + size, middle, strlen(middle));
    size += strlen(middle);
    for (size_t i = 0; i < times; i++)
        memcpy(text + size + i * strlen(close), close, strlen(close));
    size += times * strlen(close);
    Meter m = {0};
    Trial t = {.text = text, .size = size};
    Ctx *ctx = new_context(&m);
    CHECK(ctx_try(ctx, try_text, &t));
    ctx_free(ctx);
    CHECK(m.blocks == 0);
    if (!CHECK(good ? t.errors == 0 : t.errors >= 1) || !CHECK(m.bytes < size * 2000 + (size_t)64 * 1024 * 1024))
        printf("  %s%s... %s: %d errors, %zu MB\n", head, unit, middle, t.errors, m.bytes >> 20);
    free(text);
}

static void check_all_deep(void)
{
    enum { MEGABYTE = 1 << 20, SHORTER = 100 << 10 };
    check_deep(MEGABYTE, "def f = ", "(", "x", ")", true); /* parentheses add no height */
    static const char *const units[] = {
        "(", "[", "{", "-", "- ", "not ", "fun x => ", "fun (", "if ", "if a then ", "if a then b else ", "let ", "let x = ", "let x = 1 in ",
        "|> ", "x |> ", "x |> f ", "f(", "f(1, ", "f[", "f[a = ", "f{", "f{a = ", "x y ", "a + ", "a ^ ", "a == ", "a.", "1.", "(a, ", "((a, ",
        "(1 + ", "unroll d in [", "unroll d in f(", "(k: nat) -> ", "{k: nat} -> ", "a -> ", "a >> ", ")", "]", "}", "= ", "=> ", "-> ", "then ",
        "else ", "in ", ", ", ": ", "; ", "# ", "--", "/* ", "\" ", "(] ", "a = ", "a - -", "1.2", ".5", "\xc3\xa9", "\xff", "\n", "let x = 1\n",
        "if a then b\n", "f(a b, ", "(x: ", "xs |> a + ", "_ ", "where ", "exact ",
    };
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        bool empty = strcmp(units[i], "\n") == 0, comment = strcmp(units[i], "--") == 0 || strcmp(units[i], "-") == 0;
        check_deep(MEGABYTE, "def f = ", units[i], "", "", false);
        check_deep(SHORTER, "def f = ", units[i], "x", "", empty);
        check_deep(SHORTER, "def f (x: ", units[i], "", "", false);
        check_deep(SHORTER, "def f ", units[i], "", "", false);
        check_deep(SHORTER, "def f (xs: f32): f32 where ", units[i], "", "", false);
        check_deep(SHORTER, "", units[i], "", "", empty || comment);
    }
    check_deep(MEGABYTE, "", "def f = x\n", "", "", true);
    check_deep(MEGABYTE, "", "def f = (\n", "", "", false);
    check_deep(MEGABYTE, "", "--| d\n", "", "", true);
    check_deep(MEGABYTE, "def f = g(", "x, ", "x)", "", true);
    check_deep(MEGABYTE, "def f ", "(x: nat) ", "= x", "", true);
    check_deep(MEGABYTE, "entry f (x: nat): nat where ", "x == 1, ", "x == 2 = x", "", true);
    check_deep(MEGABYTE, "def f = fun ", "x ", "=> x", "", true);
    check_deep(MEGABYTE, "def f = fun ", "(", "x", ")", false);
    check_deep(MEGABYTE, "def f = let ", "(a, ", "x", ")", false);
    check_deep(MEGABYTE, "def f = ", "x.", "x", "", false);
    check_deep(MEGABYTE, "def f = 0.", "1", "", "", true);
    check_deep(MEGABYTE, "def f = ", "1", "", "", false);
    check_deep(MEGABYTE, "def f", "f", " = x", "", true);
}

static void check_sizes(void)
{
    size_t size = (size_t)LIMIT_SOURCE_BYTES + 1;
    char *text = malloc(size + 1);
    if (!text)
        return;
    memset(text, ' ', size);
    CHECK(check_text(text, size - 1).errors == 0);
    CHECK(check_text(text, size).errors == 1);
    free(text);
    CHECK(check_text("def f = \0 x", 11).errors == 1);
    static const char marked[] = "\xef\xbb\xbf" "def f = x\r\n\tdef g = 2\r";
    CHECK(check_text(marked, sizeof marked - 1).errors == 0);
}

/* Every allocation fails in turn: the parser unwinds, and nothing is left behind. */
static void check_out_of_memory(void)
{
    for (long fail = 1;; fail++) {
        Meter m = {.fail_at = fail};
        Trial t = {.text = sample, .size = sizeof sample - 1};
        Ctx *ctx = new_context(&m);
        bool done = ctx && ctx_try(ctx, try_text, &t);
        if (ctx)
            ctx_free(ctx);
        CHECK(m.blocks == 0);
        if (done && m.calls < fail)
            break;
    }
}

static void check_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    static char text[1 << 16];
    size_t size = file ? fread(text, 1, sizeof text, file) : 0;
    if (!CHECK(file != NULL)) {
        printf("  cannot read %s\n", path);
        return;
    }
    fclose(file);
    if (!check_text(text, size).fixpoint)
        printf("  in %s\n", path);
    if (size < 20000)
        check_truncated(text, size);
}

int main(int argc, char **argv)
{
    uint64_t seed = 20240607;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--seed") == 0 && i + 1 < argc)
            seed = strtoull(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--read") == 0 && i + 1 < argc)
            read_at_most = strtoull(argv[++i], NULL, 10);
        else
            check_file(argv[i]);
    }
    printf("seed %" PRIu64 "\n", seed);
    random_state = seed * 2 + 1;
    check_sample();
    check_meanings();
    check_truncated(sample, sizeof sample - 1);
    check_random(4000);
    check_sizes();
    check_out_of_memory();
    check_all_deep();
    printf("parse: %ld checks, %ld wrong\n", unit_checks, unit_failures);
    return unit_failures != 0;
}
