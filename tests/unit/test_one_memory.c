/* Results in the memory of inputs. What the compiler allows agrees with the reference on the simulator, where
 * both are in the very same memory, for several sizes, grids and orders of blocks and warps. Most of what it
 * refuses goes wrong there, so this would be seen. Arguments: programs; or
 *
 * test_one_memory --random SEED COUNT: random programs alone;
 * test_one_memory --texts FILE...: prints the text of each kernel of an entry that may run in place, as
 * librise compiles it for that, each behind a line `// KERNEL`. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "executors.h"

enum { MAX_INPUTS = 16 };

static const int64_t sizes[] = {1, 20, 33, 64, 192, 1000, 1024};
static const int64_t grids[] = {0, 2};

static long checks, wrong, allowed, refused, seen;

typedef struct Pair {
    Compiled *c;
    int result, input;
} Pair;

/* Does some run differ from the reference? */
static bool differs(const Pair *p)
{
    int over[MAX_INPUTS] = {0};
    bool enough = false;
    over[p->input] = p->result + 1;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes && !enough; s++)
        for (size_t g = 0; g < sizeof grids / sizeof *grids; g++) {
            SimReport report = {.warp_instructions = 0};
            Trial trial = {sizes[s], grids[g], 5 + s, true, true, 4000};
            Outcome o = run_trial_over(p->c, trial, NULL, 0, over, &report);
            enough |= report.warp_instructions > TRIAL_ENOUGH / 16;
            checks++;
            if (o == DIFFER || o == FINDING)
                return true;
        }
    return false;
}

static void test_entry(const char *path, Compiled *c)
{
    int n_inputs = count_inputs(c->entry), n_results = type_component_count(c->entry->result);
    for (int r = 0; r < n_results; r++)
        for (int i = 0; i < n_inputs && n_inputs <= MAX_INPUTS; i++) {
            OneMemory found = ask_one_memory(c, r, i);
            if (found == ONE_MEMORY_UNLIKE || found == ONE_MEMORY_SCALAR)
                continue;
            bool may = found == ONE_MEMORY_ALLOWED, bad = differs(&(Pair){c, r, i});
            allowed += may;
            refused += !may;
            seen += !may && bad;
            if (may && bad) {
                printf("%s: %s: result %d on input %d differs\n", path, c->entry->name, r, i);
                wrong++;
            }
        }
}

/* ---- by hand --------------------------------------------------------------------------------------------- */

static void expect(const char *text, int result, int input, OneMemory wanted)
{
    Compiled c = compile_text("test.rise", text, "");
    OneMemory found = c.imp ? ask_one_memory(&c, result, input) : ONE_MEMORY_UNKNOWN;
    checks++;
    if (found != wanted) {
        printf("found %d and not %d: %s\n", (int)found, (int)wanted, text);
        wrong++;
    } else if (wanted == ONE_MEMORY_ALLOWED && differs(&(Pair){&c, result, input})) {
        printf("differs in place: %s\n", text);
        wrong++;
    }
    compiled_free(&c);
}

#define SCAL "entry f {n: nat} (a: f32) (xs: n.f32): n.f32 = "
#define TWO "entry f {n: nat} (xs: n.f32) (ys: n.f32): n.f32 = "
#define ROWS "entry f {n m: nat} (xs: n.m.f32): n.m.f32 = "

static void test_allowed(void)
{
    expect(SCAL "xs |> map(fun x => a * x)", 0, 1, ONE_MEMORY_ALLOWED);
    expect(SCAL "xs |> mapGlobal(fun x => if x > a then x * x else x + a)", 0, 1, ONE_MEMORY_ALLOWED);
    expect(TWO "zip(xs, ys) |> map(fun (x, y) => x + 2 * y)", 0, 0, ONE_MEMORY_ALLOWED);
    expect(TWO "zip(xs, ys) |> map(fun (x, y) => x + 2 * y)", 0, 1, ONE_MEMORY_ALLOWED);
    expect(ROWS "xs |> map(map(fun x => x + 1))", 0, 0, ONE_MEMORY_ALLOWED);
    expect("entry f {n: nat} (xs: (4*n).f32): (4*n).f32 = xs |> asVector(4) |> mapGlobal(id) |> asScalar", 0, 0, ONE_MEMORY_ALLOWED);
    expect("entry f {n m: nat} (xs: n.m.f32): (n*m).f32 = xs |> map(map(fun x => x + 1)) |> join", 0, 0, ONE_MEMORY_ALLOWED);
    /* Rows in registers, and rows that are read again. */
    expect(ROWS "xs |> map(fun row => let e = row |> map(fun x => exp(x)) in let s = e |> reduce((+), 0) in e |> map(fun x => x / s))", 0, 0, ONE_MEMORY_ALLOWED);
    expect(SCAL "xs |> readOnce |> mapGlobal(fun x => a * x)", 0, 1, ONE_MEMORY_ALLOWED);
    /* Read in a loop, stored one by one. */
    expect("entry f {n: nat} (xs: (4*n).f32): (4*n).f32 = xs |> split(4) |> mapGlobal(fun r => let s = r |> reduceSeqUnroll((+), 0) in r |> mapSeq(fun x => x / s)) |> join", 0, 0, ONE_MEMORY_ALLOWED);
    /* The first kernel reads alone. */
    expect("entry f {n: nat} (xs: n.f32): n.f32 = let s = xs |> reduce((+), 0) in xs |> map(fun x => x - s)", 0, 0, ONE_MEMORY_ALLOWED);
    expect(SCAL "xs |> mapGlobal(fun x => a + x) |> nextKernel(reverse >> mapGlobal(fun y => 2 * y))", 0, 1, ONE_MEMORY_ALLOWED);
    expect(SCAL "xs |> mapGlobal(fun x => a + x) |> nextKernel(fun ys => zip(xs, ys) |> mapGlobal(fun (x, y) => x + y))", 0, 1, ONE_MEMORY_ALLOWED);
}

static void test_refused(void)
{
    expect("entry f {n: nat} (xs: (4*n).f32): (4*n).f32 = xs |> split(4) |> mapGlobal(fun r => r |> reverse |> mapSeq(fun x => x + 1)) |> join", 0, 0, ONE_MEMORY_ELSEWHERE);
    expect(SCAL "xs |> reverse |> map(fun x => a * x)", 0, 1, ONE_MEMORY_ELSEWHERE);
    expect(SCAL "generate(fun i => xs[i] + xs[0])", 0, 1, ONE_MEMORY_ELSEWHERE);
    expect("entry f {n: nat} (xs: n.f32): n.f32 where n >= 1 = xs |> padClamp(1, 1) |> slide(3, 1) |> map(reduce((+), 0))", 0, 0, ONE_MEMORY_ELSEWHERE);
    expect("entry f {n: nat} (xs: n.n.f32): n.n.f32 = xs |> transpose |> map(map(fun x => x + 1))", 0, 0, ONE_MEMORY_ELSEWHERE);
    expect(SCAL "xs |> mapGlobal(fun x => a + x) |> nextKernel(fun ys => zip(reverse(xs), ys) |> mapGlobal(fun (x, y) => x + y))", 0, 1, ONE_MEMORY_ELSEWHERE);
    expect("entry f {n: nat} (xs: n.f32) (is: n.idx[n]): n.f32 = is |> map(fun i => xs[i])", 0, 0, ONE_MEMORY_ELSEWHERE);
    expect("entry f {n: nat} (xs: n.f32) (is: n.idx[n]): n.f32 = is |> map(fun i => xs[i])", 0, 1, ONE_MEMORY_UNLIKE);
    expect("entry f {n: nat} (xs: n.i32): n.f32 = xs |> map(fun x => cast(f32)(x))", 0, 0, ONE_MEMORY_UNLIKE);
    expect("entry f {n: nat} (xs: (n + 1).f32): n.f32 = xs |> drop(1) |> map(fun x => x + 1)", 0, 0, ONE_MEMORY_UNLIKE);
    expect("entry f (x: f32): f32 = x + 1", 0, 0, ONE_MEMORY_SCALAR);
    /* The first result is written before the second one reads. */
    expect("entry f {n: nat} (xs: n.f32): (n.f32, n.f32) = (xs |> map(fun x => x + 1), xs |> reverse |> map(fun x => x * 2))", 0, 0, ONE_MEMORY_ELSEWHERE);
    expect("entry f {n: nat} (xs: n.f32): (n.f32, n.f32) = (xs |> mapGlobal(fun x => x + 1)) |> nextKernel(fun ys => (ys |> mapGlobal(id), zip(xs, ys) |> mapGlobal(fun (x, y) => x * y)))",
           0, 0, ONE_MEMORY_ELSEWHERE);
}

/* What is no good is found to be so: as if all of these were allowed. */
static void test_planted(void)
{
    static const char *const texts[] = {
        SCAL "xs |> reverse |> map(fun x => a * x)",
        SCAL "generate(fun i => xs[i] + xs[0])",
        "entry f {n: nat} (a: f32) (xs: n.n.f32): n.n.f32 = xs |> transpose |> mapGlobal(mapSeq(fun x => x + a))",
        SCAL "xs |> mapGlobal(fun x => a + x) |> nextKernel(fun ys => zip(reverse(xs), ys) |> mapGlobal(fun (x, y) => x + y))",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        Compiled c = compile_text("test.rise", texts[i], "");
        if (!c.imp || !differs(&(Pair){&c, 0, 1})) {
            printf("nothing is wrong in place: %s\n", texts[i]);
            wrong++;
        }
        compiled_free(&c);
    }
}

/* ---- random chains of rows and columns ------------------------------------------------------------------- */

static uint64_t draw(uint64_t *state, uint64_t below)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (*state >> 33) % below;
}

static char *chain(uint64_t *state, int length)
{
    static const char *const links[] = {
        "(%s |> map(map(fun x => 3 * x + 1)))",
        "(%s |> map(map(fun x => if x > 3 then x - 5 else 2 * x)))",
        "(%s |> reverse)",
        "(%s |> map(reverse))",
        "(%s |> join |> split(m))",
        "(%s |> toGlobal)",
        "(%s |> transpose |> map(map(fun x => x + 2)) |> transpose)",
        "(%s |> map(fun r => let s = r |> reduce((+), 0) in r |> map(fun x => x - s)))",
        "(%s |> map(scan((+), 0)))",
        "(%s |> map(fun r => r |> padClamp(1, 1) |> slide(3, 1) |> map(reduce((+), 0))))",
        "(zip(xs, %s) |> map(fun (a, b) => zip(a, b) |> map(fun (x, y) => x - y)))",
        "(zip(xs |> reverse, %s) |> map(fun (a, b) => zip(a, b) |> map(fun (x, y) => x - y)))",
        "(zip(%s |> map(reduce(max, -2147483648)), xs) |> map(fun (t, r) => r |> map(fun x => x + t)))",
    };
    char *text = strdup("xs");
    for (int i = 0; i < length; i++) {
        const char *link = links[draw(state, sizeof links / sizeof *links)];
        char *next = malloc(strlen(text) + strlen(link) + 1);
        const char *hole = strstr(link, "%s");
        sprintf(next, "%.*s%s%s", (int)(hole - link), link, text, hole + 2);
        free(text);
        text = next;
    }
    return text;
}

/* All of these have an input of the result's type. */
static void test_random(uint64_t state, int n)
{
    static const int64_t shapes[][2] = {{1, 1}, {5, 7}, {33, 40}, {3, 600}, {70, 9}};
    long before = allowed;
    for (int k = 0; k < n; k++) {
        char *body = chain(&state, 1 + (int)draw(&state, 4)), *text = malloc(strlen(body) + 100);
        sprintf(text, "entry f {n m: nat} (xs: n.m.i32): n.m.i32 where n >= 1, m >= 1 =\n  %s |> map(map(fun x => x + 7))\n", body);
        Compiled c = compile_text("random.rise", text, "");
        bool may = c.imp && ask_one_memory(&c, 0, 0) == ONE_MEMORY_ALLOWED, bad = !c.imp;
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes && c.imp && !bad; s++) {
            Trial trial = {.grid = (int64_t)draw(&state, 3), .seed = 1 + draw(&state, 1000), .compare = true, .quiet = true};
            SimReport report = {.warp_instructions = 0};
            Outcome o = run_trial_over(&c, trial, shapes[s], 0, (int[]){1}, &report);
            bad = o == DIFFER || o == FINDING;
            checks++;
        }
        allowed += may;
        refused += c.imp && !may;
        seen += c.imp && !may && bad;
        if (!c.imp || (may && bad)) {
            printf("%s: %s", c.imp ? "differs in place" : "is refused", text);
            wrong++;
        }
        compiled_free(&c);
        free(text);
        free(body);
    }
    printf("%d random chains: %ld may run in place\n", n, allowed - before);
    wrong += n >= 20 && 10 * (allowed - before) < n;
}

/* ---- texts ----------------------------------------------------------------------------------------------- */

static void print_texts(Ctx *ctx, void *user)
{
    const Compiled *c = user;
    StrBuf all;
    CudaPieces pieces;
    sb_init(&all, ctx);
    cuda_print_pieces(ctx, &all, c->imp, &pieces);
    for (int k = 0; k < pieces.n; k++) {
        StrBuf one;
        sb_init(&one, ctx);
        cuda_piece_text(&pieces, k, all.text, true, &one);
        printf("// KERNEL\n%s", one.text);
    }
}

static bool may_share(const Compiled *c)
{
    bool may = false;
    for (int r = 0; r < type_component_count(c->entry->result); r++)
        for (int i = 0; i < count_inputs(c->entry); i++)
            may |= ask_one_memory(c, r, i) == ONE_MEMORY_ALLOWED;
    return may;
}

static int list_texts(int n_files, char **files)
{
    for (int f = 0; f < n_files; f++)
        for (int k = 0, n = 1; k < n; k++) {
            Compiled c = compile_entry(files[f], k, &n);
            if (c.imp && may_share(&c))
                ctx_try(c.ctx, print_texts, &c);
            compiled_free(&c);
        }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--texts") == 0)
        return list_texts(argc - 2, argv + 2);
    bool random = argc == 4 && strcmp(argv[1], "--random") == 0;
    if (!random) {
        test_allowed();
        test_refused();
        test_planted();
    }
    test_random(random ? (uint64_t)atoll(argv[2]) : 1, random ? atoi(argv[3]) : 40);
    for (int f = random ? argc : 1; f < argc; f++)
        for (int k = 0, n = 1; k < n; k++) {
            Compiled c = compile_entry(argv[f], k, &n);
            if (c.imp)
                test_entry(argv[f], &c);
            compiled_free(&c);
        }
    printf("%ld pairs may share memory; of %ld that may not, %ld go wrong when they do\n", allowed, refused, seen);
    wrong += allowed < 1 || 3 * seen < refused;
    printf("one memory: %ld checks, %ld wrong\n", checks, wrong);
    return wrong != 0;
}
