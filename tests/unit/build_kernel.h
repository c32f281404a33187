/* Kernels built by hand, for the tests of the simulator. */
#ifndef RISEC_TESTS_BUILD_KERNEL_H
#define RISEC_TESTS_BUILD_KERNEL_H

#include <stdlib.h>

#include "sim/sim_internal.h"
#include "unit.h"

enum { SEEDS = 8, MAX_BUFS = 8, MAX_DEPTH = 16 };

/* ---- building kernels ---------------------------------------------------------------------------------------------- */

typedef struct Test {
    Ctx *ctx;
    CoreEntry entry;
    ImpProgram program;
    ImpKernel *kernel;
    Launch launch;
    SimReport report;
    Nat n; /* the size of the entry */
    ImpBlock *out[MAX_DEPTH];
    int depth;
    uint32_t line, file;
    HostBuf buffers[MAX_BUFS];
    CoreVar *inputs[MAX_BUFS];
    Type results[MAX_BUFS];
    int n_results;
    bool good;
} Test;

static char lines[4096];

static inline Nat K(Test *t, int64_t k) { return nat_const(t->ctx, k); }
static inline Span next_span(Test *t)
{
    uint32_t at = t->line < sizeof lines / 2 - 1 ? t->line++ : t->line;
    return (Span){t->file, at * 2, at * 2 + 1};
}

static inline void add_kernel(Test *t, int x, int y, int z, Nat blocks)
{
    static const char *const grids[3] = {"gridX", "gridY", "gridZ"}, *const block_ids[3] = {"blockX", "blockY", "blockZ"};
    static const char *const threads[3] = {"threadX", "threadY", "threadZ"};
    Ctx *ctx = t->ctx;
    ImpKernel *k = NEW(ctx, ImpKernel);
    int dims[3] = {x, y, z}, total = x * y * z;
    k->name = "kernel";
    k->entry = &t->entry;
    for (int a = 0; a < 3; a++) {
        k->threads[a] = dims[a];
        k->blocks[a] = a == 0 ? blocks : K(t, 1);
        k->grid[a] = a == 2 ? K(t, 1) : nat_var(ctx, grids[a], K(t, 1), NULL);
        k->block[a] = a == 2 ? K(t, 0) : nat_var(ctx, block_ids[a], K(t, 0), nat_add_k(ctx, k->grid[a], -1));
        k->thread[a] = dims[a] == 1 ? K(t, 0) : nat_var(ctx, threads[a], K(t, 0), K(t, dims[a] - 1));
    }
    k->warp = total <= 32 ? K(t, 0) : nat_var(ctx, "warp", K(t, 0), K(t, total / 32 - 1));
    k->lanes = WARP_LANES;
    k->lane = total == 1 ? K(t, 0) : nat_var(ctx, "lane", K(t, 0), K(t, 31));
    vec_push(ctx, &t->program.kernels, k);
    imp_launch_always(ctx, &t->program, k);
    t->kernel = k;
    t->depth = 0;
    t->out[0] = &k->body;
}

/* A test whose one size is n, without a kernel; NULL where memory runs out. */
static inline Test *test_with(const Allocator *alloc, int64_t n)
{
    Ctx *ctx = ctx_new(alloc, NULL);
    if (!ctx)
        return NULL;
    Test *t = calloc(1, sizeof *t);
    t->ctx = ctx;
    t->launch.sizes = calloc(1, sizeof(int64_t));
    t->launch.sizes[0] = n;
    for (size_t i = 0; i + 1 < sizeof lines; i++)
        lines[i] = i % 2 ? '\n' : 'x';
    return t;
}

/* The entry, with a kernel of x*y*z threads and `blocks` blocks; -1: ceilDiv(n, x). */
static inline void begin(Test *t, int x, int y, int z, int64_t blocks)
{
    Ctx *ctx = t->ctx;
    t->file = source_add(ctx, "kernel.rise", lines, sizeof lines - 1);
    t->n = nat_var(ctx, "n", nat_const(ctx, 0), NULL);
    t->entry.name = "entry";
    t->entry.n_sizes = t->launch.n_sizes = 1;
    t->entry.sizes = NEWN(ctx, Nat, 1);
    t->entry.sizes[0] = t->n;
    t->entry.inputs = t->inputs;
    t->launch.buffers = t->buffers;
    t->program.entry = &t->entry;
    add_kernel(t, x, y, z, blocks < 0 ? nat_ceil_div(ctx, t->n, nat_const(ctx, x)) : nat_const(ctx, blocks));
}

/* Both. */
static inline Test *start(int x, int y, int z, int64_t blocks, int64_t n)
{
    Test *t = test_with(NULL, n);
    begin(t, x, y, z, blocks);
    return t;
}

static inline void finish(Test *t)
{
    ctx_free(t->ctx);
    free(t->launch.sizes);
    free(t);
}

static inline ImpBuf *add_buf(Test *t, ImpSpace space, const char *name, Scalar elem, Nat count)
{
    ImpBuf *b = NEW(t->ctx, ImpBuf);
    b->id = t->kernel->bufs.n;
    b->name = name;
    b->space = space;
    b->elem = elem;
    b->count = count;
    b->span = next_span(t);
    vec_push(t->ctx, &t->kernel->bufs, b);
    return b;
}

/* An input n.elem whose element i is i. */
static inline ImpBuf *input(Test *t, const char *name, Scalar elem, Nat count)
{
    CoreVar *var = NEW(t->ctx, CoreVar);
    var->name = name;
    var->type = type_array(t->ctx, count, type_scalar(t->ctx, elem));
    int k = t->entry.n_inputs++;
    t->inputs[k] = var;
    t->launch.n_buffers++;
    launch_buffer(t->ctx, &t->entry, &t->launch, var->type, &t->buffers[k], true);
    for (int64_t i = 0; i < t->buffers[k].count; i++)
        scalar_store(scalar_cast(elem, (ScalarValue){.type = SC_I64, .i = i}), t->buffers[k].bytes + i * scalar_bytes(elem));
    ImpBuf *b = add_buf(t, SPACE_INPUT, name, elem, count);
    b->component = k;
    return b;
}

static inline ImpBuf *output(Test *t, const char *name, Scalar elem, Nat count)
{
    ImpBuf *b = add_buf(t, SPACE_OUTPUT, name, elem, count);
    b->component = t->n_results;
    t->results[t->n_results++] = type_array(t->ctx, count, type_scalar(t->ctx, elem));
    t->entry.result = t->n_results == 1 ? t->results[0] : type_tuple(t->ctx, t->n_results, t->results);
    return b;
}

static inline ImpBuf *shared(Test *t, const char *name, Scalar elem, int64_t count) { return add_buf(t, SPACE_SHARED, name, elem, K(t, count)); }

static inline ImpVar *reg(Test *t, const char *name, Scalar type, int slots)
{
    ImpVar *v = NEW(t->ctx, ImpVar);
    v->id = t->kernel->vars.n;
    v->name = name;
    v->type = type;
    v->slots = slots;
    vec_push(t->ctx, &t->kernel->vars, v);
    return v;
}

static inline ImpStmt *stmt(Test *t, ImpStmtKind kind) { return imp_stmt(t->ctx, t->out[t->depth], kind, next_span(t)); }
static inline void sync(Test *t, SyncScope scope) { stmt(t, IS_SYNC)->sync = scope; }
static inline void alloc(Test *t, ImpBuf *buf) { stmt(t, IS_ALLOC)->alloc = buf; }

static inline void declare(Test *t, ImpVar *var, ImpExpr *value)
{
    ImpStmt *s = stmt(t, IS_DECL);
    s->var.var = var;
    s->var.value = value;
}

static inline void set(Test *t, ImpVar *var, Nat slot, ImpExpr *value)
{
    ImpStmt *s = stmt(t, IS_SET);
    s->var.var = var;
    s->var.slot = slot ? slot : K(t, 0); /* a scalar has one */
    s->var.value = value;
}

static inline void store(Test *t, ImpBuf *buf, Nat index, ImpExpr *value)
{
    ImpStmt *s = stmt(t, IS_STORE);
    s->store.buf = buf;
    s->store.index = index;
    s->store.value = value;
}

static inline void leave(Test *t) { t->depth--; }

static inline Nat loop(Test *t, const char *name, Nat lo, Nat hi, Nat step)
{
    ImpStmt *s = stmt(t, IS_FOR);
    s->loop.var = nat_var(t->ctx, name, NULL, NULL);
    s->loop.lo = lo;
    s->loop.hi = hi;
    s->loop.step = step;
    t->out[++t->depth] = &s->loop.body;
    return s->loop.var;
}

static inline ImpStmt *when(Test *t, ImpExpr *cond)
{
    ImpStmt *s = stmt(t, IS_IF);
    s->branch.cond = cond;
    t->out[++t->depth] = &s->branch.then;
    return s;
}

static inline void otherwise(Test *t, ImpStmt *s)
{
    leave(t);
    t->out[++t->depth] = &s->branch.otherwise;
}

static inline ImpExpr *load(Test *t, ImpBuf *buf, Nat index) { return imp_load(t->ctx, buf, index, next_span(t)); }
static inline ImpExpr *get(Test *t, ImpVar *var) { return imp_var(t->ctx, var, K(t, 0), next_span(t)); }
static inline ImpExpr *nat(Test *t, Nat nat_) { return imp_nat(t->ctx, nat_, SC_I32, next_span(t)); }
static inline ImpExpr *op(Test *t, PrimId id, ImpExpr *a, ImpExpr *b)
{
    return imp_op2(t->ctx, id, id >= P_eq && id <= P_ge ? SC_BOOL : a->type, a, b, next_span(t));
}
/* As a number that a comparison takes as it is. */
static inline ImpExpr *exact(Test *t, Nat nat_) { return imp_nat(t->ctx, nat_, SC_I64, next_span(t)); }
static inline ImpExpr *less(Test *t, Nat a, Nat b) { return op(t, P_lt, exact(t, a), exact(t, b)); }
static inline ImpExpr *same(Test *t, Nat a, Nat b) { return op(t, P_eq, exact(t, a), exact(t, b)); }
static inline ImpExpr *f32(Test *t, double x) { return imp_lit(t->ctx, scalar_float(SC_F32, x), next_span(t)); }
static inline ImpExpr *i32(Test *t, int64_t x) { return imp_lit(t->ctx, scalar_int(SC_I32, x), next_span(t)); }

static inline Nat add(Test *t, Nat a, Nat b) { return nat_add(t->ctx, a, b); }
static inline Nat mul(Test *t, Nat a, int64_t k) { return nat_mul_k(t->ctx, a, k); }

/* ---- running ------------------------------------------------------------------------------------------------------- */

static inline bool run_on(Test *t, uint64_t seed, int64_t grid)
{
    SimOptions options = {.seed = seed, .grid = {grid}, .max_findings = 100};
    t->good = sim_run(t->ctx, &t->program, &t->launch, &options, &t->report);
    return t->good;
}

static inline int found(const Test *t, SimFindingKind kind)
{
    int n = 0;
    for (int i = 0; i < t->report.findings.n; i++)
        n += t->report.findings.at[i].kind == kind;
    return n;
}

/* In every order, at least one finding, and all of this kind; -1: none at all. */
static inline bool always(Test *t, int64_t grid, int kind)
{
    bool good = true;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        run_on(t, seed, grid);
        int n = kind < 0 ? 0 : found(t, (SimFindingKind)kind);
        good = good && t->report.findings.n == n && (kind < 0 ? t->good : n > 0 && !t->good);
        if (!good) {
            for (int i = 0; i < t->report.findings.n; i++)
                printf("  seed %d: kind %d: %s\n", (int)seed, (int)t->report.findings.at[i].kind, t->report.findings.at[i].text);
            return false;
        }
    }
    return good;
}

static inline bool finds(Test *t, int64_t grid, SimFindingKind kind) /* perhaps with others */
{
    bool good = true;
    for (uint64_t seed = 0; seed < SEEDS; seed++)
        good = !run_on(t, seed, grid) && found(t, kind) && good;
    return good;
}

static inline double result(const Test *t, int k, int64_t i)
{
    const HostBuf *b = &t->launch.results[k];
    ScalarValue v = scalar_load(b->elem, b->bytes + i * scalar_bytes(b->elem));
    return scalar_is_float(b->elem) ? v.f : (double)v.i;
}

#endif
