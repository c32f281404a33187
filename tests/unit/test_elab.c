/* Elaboration: the types and sizes of small programs, settings, imports, facts, limits; no crash on damaged programs. */
#include <stdlib.h>

#include "frontend/elab.h"
#include "ir/scalar.h"
#include "unit.h"

typedef struct Case {
    const char *text;
    const char *want; /* the type of the first entry's result, or a code */
} Case;

static const char *first_code(Ctx *ctx) { return ctx->diags.list.n ? diag_code_name(ctx->diags.list.at[0]->code) : "nothing"; }

static CoreEntry *elab_text(Ctx *ctx, const char *text)
{
    Program *p = program_from_text(ctx, "t.rise", text, strlen(text));
    CoreEntry *e = program_entry_count(p) ? elab_entry(ctx, p, 0, 0, NULL) : NULL;
    const char *bad = e ? core_verify(ctx, e) : NULL;
    if (!CHECK(bad == NULL))
        printf("%s\n%s\n", text, bad);
    CHECK((e == NULL) == (ctx->diags.errors > 0) || program_entry_count(p) == 0);
    return e;
}

/* ---- the body's own type, by a definition without a result type ------------------------------------------------------- */

static const Case types[] = {
    {"entry f {n: nat} (xs: n.f32): ceilDiv(n, 32).32.f32 = xs |> padTo(32, 0) |> split(32)", "ceilDiv(n, 32).32.f32"},
    {"entry f {n: nat} (xs: (32*n).f32): n.32.f32 = split(32, xs)", "n.32.f32"},
    {"entry f {n m: nat} (xs: n.m.f32): (n*m).f32 = xs |> transpose |> transpose |> join", "(n*m).f32"},
    {"def k {k: nat} (xs: (32*k).f32): k.f32 = xs |> split(32) |> map(fun x => x[0]) entry f (xs: 96.f32): 3.f32 = k(xs)", "3.f32"},
    {"def k {k: nat} (xs: (k+1).f32): k.f32 = drop(1, xs) entry f (xs: 96.f32): 95.f32 = k(xs)", "95.f32"},
    {"def k {k: nat} (xs: (k+1).f32): k.f32 = drop(1, xs) entry f {n: nat} (xs: n.f32): n.f32 = k(xs)", "E0302"},
    {"def k {k: nat} (xs: (32*k).f32): k.f32 = xs |> split(32) |> map(fun x => x[0]) entry f (xs: 97.f32): 3.f32 = k(xs)", "E0302"},
    {"entry f {n: nat} (xs: n.f32): n.f32 where n >= 2 = xs |> padClamp(1, 1) |> slide(3, 1) |> map(reduceSeq((+), 0))", "n.f32"},
    {"entry f (xs: 8.f32): 16.f32 = concat(xs, xs)", "16.f32"},
    {"entry f (xs: 8.f32): 2.vec[4, f32] = asVector(4, xs)", "2.vec[4, f32]"},
    {"entry f (xs: 16.f32): 1.f32 = iterate{n = 2}(4, fun l ys => ys |> split(2) |> map(reduceSeq((+), 0)), xs)", "1.f32"},
    {"def half {m: nat} (xs: (2*m).f32): m.f32 = xs |> split(2) |> map(reduceSeq((+), 0)) entry f (xs: 16.f32): 2.f32 = iterate{n = 2}(3, half, xs)", "2.f32"},
    {"entry f {n: nat} (xs: n.f32): f32 where n >= 1 = reduceSeq((+), 0, xs) / n", "f32"},
    {"entry f (x: f64): f64 = x * 2 + 1", "f64"},
    {"entry f (x: u8): u8 = min(x, 7)", "u8"},
    {"entry f: (i32, f32, i64) = (1, 1.0, 3i64)", "(i32, f32, i64)"},
    {"entry f: f32 = 2 * 3 + 1", "f32"},
    {"entry f (c: bool): f32 = if c then 1 else 2.5", "f32"},
    {"entry f (xs: 8.f32): 8.idx[8] = generate(fun i => 7 - i)", "8.idx[8]"},
    {"entry f (xs: 8.f32): 8.idx[8] = generate(fun i => i + 1)", "E0308"},
    {"entry f (xs: 8.f32) (is: 3.idx[8]): 3.f32 = gather(is, xs)", "3.f32"},
    {"entry f (xs: 8.f32) (is: 3.idx[9]): 3.f32 = gather(is, xs)", "E0302"},
    {"entry f (xs: 8.f32) (i: idx[7]): f32 = xs[i] + xs[i + 1]", "f32"},
    {"entry f {n: nat} (xs: n.f32): 2.f32 = if n >= 2 then take(2, xs) else generate(fun i => 0)", "2.f32"},
    {"entry f {n: nat} (xs: n.f32): 2.f32 = if n >= 1 then take(2, xs) else generate(fun i => 0)", "E0304"},
    {"entry f {n: nat} (k: nat = 4) (xs: n.f32): n.f32 = if k == 4 then xs else split(0, xs)", "n.f32"},
    {"entry f (x: f32): f32 = let (a, b) = (x + 1, 2) in a * b", "f32"},
    {"entry f (p: ((f32, i8), 4.f32)): (i8, f32) = let ((_, b), c) = p in (b, c[3])", "(i8, f32)"},
    {"def f2 {t: data} (f: t -> t) (x: t): t = f(f(x)) entry f (x: i16): i16 = f2(fun y => y + 1, x)", "i16"},
    {"def ap {n m: nat} (f: n.f32 -> m.f32) (xs: n.f32): m.f32 = f(xs) entry f (xs: 9.f32): 5.f32 = ap(drop(4), xs)", "5.f32"},
    {"def konst {s t: data} (x: s) (y: t): s = x entry f (x: f32): 3.f32 = map(konst(x), generate{n = 3}(fun i => i))", "3.f32"},
    {"def comp (k: nat): f32 -> f32 = fun x => x * k entry f (x: f32): f32 = (comp(2) >> comp(3))(x)", "f32"},
    {"entry f {n: nat} (xs: n.i32): i32 = reduce(max, lowest, xs)", "i32"},
    {"operator o (a: f32) (b: f32): f32 unit 1, associative = a * b entry f {n: nat} (xs: n.f32): f32 = reduce(o, 1, xs)", "f32"},
    {"entry f (xs: 64.f32): 1.f32 = xs |> unroll d in [2, 4, 8] (fun x => x |> split(d) |> map(reduceSeq((+), 0)))", "1.f32"},
    {"entry f (xs: 4.4.f32): f32 = xs[1, 2] + xs[3][0]", "f32"},
    {"entry f {n: nat} (xs: n.f32): n.f32 where n % 3 == 0 = xs |> split(3) |> map(fun r => r |> reverse) |> join", "n.f32"},
    {"entry f (x: i8): i8 = x + -128i8", "i8"},
    {"entry f (x: i8): i8 = x + 128", "E0319"},
    {"entry f (x: f32): f32 = -inf(f32) + x", "f32"},
    {"entry f (x: bool): bool = x and not x or true", "bool"},
    {"entry f (xs: 32.i32): 32.i32 = xs |> toMem[shared] |> shflDown(3)", "32.i32"},
    {"entry f (xs: 4.(f32, i32)): (4.f32, 4.i32) = unzip(xs)", "(4.f32, 4.i32)"},
    {"def tiles (n: nat): nat = ceilDiv(n, 4) entry f {n: nat} (xs: n.f32): (4*ceilDiv(n, 4)).f32 = padTo(4, 0, xs)", "(4*ceilDiv(n, 4)).f32"},
    {"entry f {n: nat} (xs: n.f32): n.f32 = xs |> fun ys => ys", "n.f32"},
    {"entry f (xs: 8.f32): 8.f32 = zip(xs, generate(fun i => cast(f32)(i))) |> map(fun (a, b) => a + b)", "8.f32"},
    {"entry f (x: f32): f32 = let n = 3 in x * n", "f32"},
    {"entry f (x: i32): f32 = pow(2, cast(f32)(x)) + log2(8.0)", "f32"},
    {"entry f (xs: 8.f32): 3.f32 = xs |> take(log2(8))", "3.f32"},
    /* one mistake is one message */
    {"entry f (x: f32): f32 = let y = zzz in y + y * y", "E0201"},
    {"def g (x: f32): i32 = x entry f (x: f32): f32 = g(x) + g(x)", "E0312"},
};

static void test_type(Ctx *ctx, void *user)
{
    const Case *c = user;
    CoreEntry *e = elab_text(ctx, c->text);
    if (c->want[0] == 'E' && c->want[1] == '0') {
        CHECK(ctx->diags.errors == 1);
        if (!CHECK_TEXT(first_code(ctx), c->want))
            printf("  in: %s\n", c->text);
        return;
    }
    const char *got = e ? type_text(ctx, e->result) : ctx->diags.list.n ? ctx->diags.list.at[0]->message : "nothing";
    if (!CHECK_TEXT(got, c->want))
        printf("  in: %s\n", c->text);
    /* What is printed is checked to the same. Operators stand outside of an entry. */
    if (!e || strstr(c->text, "operator"))
        return;
    StrBuf first, second;
    sb_init(&first, ctx);
    sb_init(&second, ctx);
    core_print_entry(&first, e);
    CoreEntry *again = elab_text(ctx, first.text);
    if (!CHECK(again != NULL)) {
        printf("  %s\n  %s\n", first.text, ctx->diags.list.n ? ctx->diags.list.at[0]->message : "");
        return;
    }
    core_print_entry(&second, again);
    CHECK_TEXT(second.text, first.text);
}

/* ---- entries -------------------------------------------------------------------------------------------------------------- */

static const char tunables[] =
    "entry f {n: nat} (b: nat = 64 in [32, 64]) (c: nat = b / 2) (xs: n.f32): ceilDiv(n, b).b.f32\n"
    "  where b % 32 == 0, n >= 3, n % 2 == 1 or n < 100\n"
    "  launch [blocks = numSM, threads = b, minBlocks = 2] exact =\n"
    "  xs |> padTo(b, 0) |> split(b)\n";

static void test_entry(Ctx *ctx, void *user)
{
    (void)user;
    Program *p = program_from_text(ctx, "t.rise", tunables, sizeof tunables - 1);
    CHECK(!program_failed(p) && program_entry_count(p) == 1 && program_operator_count(p) == 0);
    CHECK_TEXT(program_entry_name(p, 0), "f");
    CoreEntry *e = elab_entry(ctx, p, 0, 0, NULL);
    if (!CHECK(e != NULL))
        return;
    CHECK(e->n_sizes == 1 && e->n_inputs == 1 && e->n_tunables == 2 && e->exact);
    CHECK_TEXT(e->tunable_names[1], "c");
    CHECK(e->tunable_values[0] == 64 && e->tunable_values[1] == 32);
    CHECK(e->n_facts == 2 && nat_is(e->launch.threads, 64) && nat_is(e->launch.min_blocks, 2));
    CHECK(e->launch.blocks->kind == NAT_VAR && strcmp(e->launch.blocks->name, "numSM") == 0);
    CHECK(nat_le(ctx, e->known, nat_const(ctx, 3), e->sizes[0]) && !nat_le(ctx, e->known, nat_const(ctx, 4), e->sizes[0]));
    ElabSetting set[2] = {{"b", 96, NO_SPAN, false}, {"n", 7, NO_SPAN, false}};
    e = elab_entry(ctx, p, 0, 2, set);
    CHECK(e && e->tunable_values[0] == 96 && e->tunable_values[1] == 48 && e->n_sizes == 1);
    CHECK_TEXT(e ? type_text(ctx, e->result) : "", "ceilDiv(n, 96).96.f32");
    CHECK(ctx->diags.errors == 0);
    set[0].value = 33;
    CHECK(elab_entry(ctx, p, 0, 1, set) == NULL && ctx->diags.errors == 1);
    CHECK_TEXT(first_code(ctx), "E0325");
    CHECK(strstr(ctx->diags.list.at[0]->message, "33 % 32 == 0") != NULL);
}

static void test_operator(Ctx *ctx, void *user)
{
    (void)user;
    const char *text = "operator argmin (a: (f32, i64)) (b: (f32, i64)): (f32, i64)\n  unit (inf, highest), associative, commutative =\n"
                       "  if a.1 < b.1 then a else b\n"
                       "def total {n: nat} {t: data} (op: t -> t -> t) (e: t) (xs: n.t): t = reduce(op, e, xs)\n"
                       "entry f {n: nat} (xs: n.(f32, i64)): (f32, i64) = total(argmin, (inf, highest), xs)\n";
    Program *p = program_from_text(ctx, "t.rise", text, strlen(text));
    Core *lambda, *unit;
    CHECK(program_operator_count(p) == 1 && elab_operator(ctx, p, 0, &lambda, &unit));
    CHECK(lambda->kind == CORE_LAMBDA && lambda->lambda.n == 2 && lambda->lambda.op == program_operator_item(p, 0));
    CHECK(unit->kind == CORE_TUPLE && unit->tuple.items[1]->lit.i == INT64_MAX);
    CoreEntry *e = elab_entry(ctx, p, 0, 0, NULL);
    CHECK(e && e->body->kind == CORE_PRIM && e->body->prim.id == P_reduce && e->body->prim.args[0]->lambda.op == program_operator_item(p, 0));
}

/* Each computed argument is computed once; views and literals stand where they are used. */
static void test_lets(Ctx *ctx, void *user)
{
    (void)user;
    CoreEntry *e = elab_text(ctx, "def sq (x: f32): f32 = x * x entry f (x: f32): f32 = sq(x + 1)");
    CHECK(e && e->body->kind == CORE_LET && e->body->let.value->kind == CORE_PRIM && e->body->let.body->prim.args[0]->kind == CORE_VAR);
    e = elab_text(ctx, "def sq (x: f32): f32 = x * x entry f (x: f32): f32 = sq(2)");
    CHECK(e && e->body->kind == CORE_PRIM && e->body->prim.args[0]->kind == CORE_LIT && e->body->prim.args[0]->lit.f == 2);
    e = elab_text(ctx, "entry f (xs: 8.f32): 4.2.f32 = let ys = xs |> split(2) in ys");
    CHECK(e && e->body->kind == CORE_PRIM && e->body->prim.id == P_split);
    e = elab_text(ctx, "entry f (xs: 8.f32): 8.f32 = let ys = xs |> map(sqrt) in zip(ys, ys) |> map(fun (a, b) => a + b)");
    CHECK(e && e->body->kind == CORE_LET && e->body->let.body->prim.args[1]->prim.args[1]->var == e->body->let.var);
    e = elab_text(ctx, "entry f (xs: 8.f32) (x: f32): 8.f32 = let g = fun a b => a * b in xs |> map(g(x + 1))");
    CHECK(e && e->body->kind == CORE_LET && e->body->let.body->kind == CORE_PRIM);
    e = elab_text(ctx, "entry f (xs: 8.f32) (is: 8.idx[8]): f32 = let i = is[3] in if i < 7 then xs[i + 1] else xs[i]");
    CHECK(e && e->body->kind == CORE_LET && e->body->let.var->nat != NULL && e->body->let.body->kind == CORE_IF);
}

/* ---- files ------------------------------------------------------------------------------------------------------------------ */

typedef struct Disk {
    int deep; /* files d0.rise imports d1.rise imports ... */
} Disk;

static FileStatus disk_read(void *user, Ctx *ctx, const char *path, FileKind kind, size_t limit, char **bytes, size_t *size)
{
    Disk *disk = user;
    int k;
    const char *text = NULL;
    (void)kind, (void)limit;
    if (strcmp(path, "dir/main.rise") == 0)
        text = "import \"sub/a.rise\"\nimport \"./b.rise\"\nentry f (x: f32): f32 = a(b(x))\n";
    else if (strcmp(path, "dir/sub/a.rise") == 0)
        text = "import \"../b.rise\"\ndef a (x: f32): f32 = b(x) + 1\n";
    else if (strcmp(path, "dir/b.rise") == 0)
        text = "def b (x: f32): f32 = hidden(x)\ndef hidden (x: f32): f32 = x\n";
    else if (sscanf(path, "d%d.rise", &k) == 1)
        text = k < disk->deep ? ctx_printf(ctx, "import \"d%d.rise\"\ndef g%d (x: f32): f32 = g%d(x)\n", k + 1, k, k + 1) : ctx_printf(ctx, "def g%d (x: f32): f32 = x\n", k);
    if (!text)
        return FILE_MISSING;
    *size = strlen(text);
    *bytes = (char *)ctx_alloc(ctx, *size + 1);
    memcpy(*bytes, text, *size + 1);
    return FILE_OK;
}

static void load_main(Ctx *ctx, void *user)
{
    Program **p = user;
    *p = program_load(ctx, "./dir/main.rise");
    CHECK(!program_failed(*p) && elab_entry(ctx, *p, 0, 0, NULL) != NULL);
    CHECK(elab_all(ctx, *p)->entries.n == 1);
}

static void load_deep(Ctx *ctx, void *user)
{
    (void)user;
    program_load(ctx, "d0.rise");
}

static void load_missing(Ctx *ctx, void *user)
{
    (void)user;
    Program *p = program_load(ctx, "nowhere.rise");
    CHECK(program_failed(p) && program_ast(p) == NULL && program_entry_count(p) == 0);
    CHECK(elab_all(ctx, p)->entries.n == 0 && elab_entry(ctx, p, 0, 0, NULL) == NULL);
}

static void test_files(void)
{
    Disk disk = {LIMIT_IMPORT_DEPTH};
    FileAccess files = {.user = &disk, .read = disk_read};
    Ctx *ctx = ctx_new(NULL, &files);
    Program *p = NULL;
    CHECK(ctx_try(ctx, load_main, &p));
    ctx_free(ctx);
    for (int more = 0; more < 2; more++) {
        disk.deep = LIMIT_IMPORT_DEPTH + more;
        ctx = ctx_new(NULL, &files);
        CHECK(ctx_try(ctx, load_deep, NULL));
        CHECK((ctx->diags.errors > 0) == (more > 0));
        if (more)
            CHECK_TEXT(first_code(ctx), "E0216");
        ctx_free(ctx);
    }
    ctx = ctx_new(NULL, &files);
    CHECK(ctx_try(ctx, load_missing, NULL));
    CHECK_TEXT(first_code(ctx), "E0205");
    ctx_free(ctx);
}

/* ---- damage ------------------------------------------------------------------------------------------------------------------ */

static uint64_t rng(uint64_t *s)
{
    *s ^= *s << 13;
    *s ^= *s >> 7;
    *s ^= *s << 17;
    return *s;
}

static void elab_damaged(Ctx *ctx, void *user)
{
    const char *text = user;
    Program *p = program_from_text(ctx, "t.rise", text, strlen(text));
    CoreProgram *all = elab_all(ctx, p);
    for (int i = 0; i < all->entries.n; i++) {
        const char *bad = core_verify(ctx, all->entries.at[i]);
        if (!CHECK(bad == NULL))
            printf("%s\n%s\n", bad, text);
    }
    if (!CHECK(ctx->diags.errors > 0 || all->entries.n == program_entry_count(p)))
        printf("silent: %s\n", text);
    StrBuf sb;
    sb_init(&sb, ctx);
    diag_render(ctx, &sb, false);
}

/* Words of programs exchanged, dropped and doubled: what parses in spite of that must be checked without a crash. */
static void test_damage(int rounds, uint64_t seed)
{
    enum { MOST = 400 };
    static const char *words[MOST];
    static char pool[1 << 16];
    size_t used = 0;
    for (int i = 0; i < rounds; i++) {
        const Case *c = &types[rng(&seed) % (sizeof types / sizeof types[0])], *other = &types[rng(&seed) % (sizeof types / sizeof types[0])];
        int n = 0;
        used = 0;
        for (int part = 0; part < 2; part++) {
            const char *at = part ? other->text : c->text;
            while (*at && n < MOST) {
                size_t len = 1;
                if (strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", *at))
                    len = strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
                else if (strchr("=|>-", *at))
                    len = strspn(at, "=|>-");
                memcpy(pool + used, at, len);
                pool[used + len] = 0;
                words[n++] = pool + used;
                used += len + 1;
                at += len;
            }
        }
        /* The words of the first program, some replaced by others of both. */
        int own = 0;
        size_t total = 0;
        while (own < n && total < strlen(c->text))
            total += strlen(words[own++]);
        char text[1 << 13];
        size_t len = 0;
        int damage = 1 + (int)(rng(&seed) % 3);
        int at[3] = {(int)(rng(&seed) % (uint64_t)own), (int)(rng(&seed) % (uint64_t)own), (int)(rng(&seed) % (uint64_t)own)};
        for (int k = 0; k < own; k++) {
            const char *w = words[k];
            for (int d = 0; d < damage; d++)
                if (at[d] == k)
                    w = rng(&seed) % 4 == 0 ? "" : words[rng(&seed) % (uint64_t)n];
            size_t l = strlen(w);
            if (len + l + 1 >= sizeof text)
                break;
            memcpy(text + len, w, l);
            len += l;
        }
        text[len] = 0;
        Ctx *ctx = ctx_new(NULL, NULL);
        CHECK(ctx_try(ctx, elab_damaged, text));
        ctx_free(ctx);
    }
}

static void run(void (*fn)(Ctx *, void *), void *user)
{
    Ctx *ctx = ctx_new(NULL, NULL);
    CHECK(ctx_try(ctx, fn, user));
    ctx_free(ctx);
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 3000;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 20240917;
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        run(test_type, (void *)(uintptr_t)&types[i]);
    run(test_entry, NULL);
    run(test_operator, NULL);
    run(test_lets, NULL);
    test_files();
    test_damage(rounds, seed);
    printf("seed %llu\n", (unsigned long long)seed);
    return unit_end();
}
