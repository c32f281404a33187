/* The CUDA printer, on imp built by hand. With a folder as argument, also writes the texts there, for tests/scripts/nvcc.py. */
#include <math.h>

#include "codegen/lowering.h"
#include "support/context.h"
#include "unit.h"

static const char *folder; /* where texts go, or NULL */

/* ---- a kernel under construction ---------------------------------------------------------------------------------------- */

typedef struct Kit {
    Ctx *ctx;
    ImpProgram *program;
    ImpKernel *kernel;
    CoreEntry *entry;
    Span span;
    Nat n, zero, one;
} Kit;

static Nat k(Kit *t, int64_t v) { return nat_const(t->ctx, v); }

/* One size n; 64 threads; a block for each 64 elements. */
static Kit kit(Ctx *ctx, const char *name, const char *file)
{
    Kit t = {.ctx = ctx, .zero = nat_const(ctx, 0), .one = nat_const(ctx, 1)};
    uint32_t source = source_add(ctx, file, "line one\nline two\n", 18);
    t.span = (Span){source, 9, 13};
    t.n = nat_var(ctx, "n", t.zero, NULL);
    t.entry = NEW(ctx, CoreEntry);
    t.entry->name = name;
    t.entry->span = t.span;
    t.entry->n_sizes = 1;
    t.entry->sizes = NEW(ctx, Nat);
    t.entry->sizes[0] = t.n;
    t.entry->result = type_array(ctx, t.n, type_scalar(ctx, SC_F32));
    t.program = NEW(ctx, ImpProgram);
    t.program->entry = t.entry;
    t.kernel = NEW(ctx, ImpKernel);
    vec_push(ctx, &t.program->kernels, t.kernel);
    imp_launch_always(ctx, t.program, t.kernel);
    ImpKernel *kernel = t.kernel;
    kernel->name = name;
    kernel->entry = t.entry;
    kernel->n_sizes = 1;
    kernel->sizes = t.entry->sizes;
    for (int a = 0; a < 3; a++) {
        kernel->threads[a] = 1;
        kernel->blocks[a] = kernel->grid[a] = t.one;
        kernel->block[a] = kernel->thread[a] = t.zero;
    }
    kernel->threads[0] = 64;
    kernel->blocks[0] = nat_ceil_div(ctx, t.n, k(&t, 64));
    kernel->grid[0] = nat_var(ctx, "gridDim.x", t.one, NULL);
    kernel->block[0] = nat_var(ctx, "blockIdx.x", t.zero, nat_add_k(ctx, kernel->grid[0], -1));
    kernel->thread[0] = nat_var(ctx, "thread", t.zero, k(&t, 63));
    kernel->lanes = WARP_LANES;
    kernel->warp = nat_var(ctx, "warp", t.zero, t.one);
    kernel->lane = nat_var(ctx, "lane", t.zero, k(&t, 31));
    kernel->shared_bytes = t.zero;
    return t;
}

static ImpBuf *buf(Kit *t, ImpSpace space, const char *name, Scalar elem, Nat count)
{
    ImpBuf *b = NEW(t->ctx, ImpBuf);
    int same = 0;
    for (int i = 0; i < t->kernel->bufs.n; i++)
        same += t->kernel->bufs.at[i]->space == space;
    *b = (ImpBuf){.id = t->kernel->bufs.n, .name = name, .space = space, .elem = elem, .count = count, .component = same, .group = -1};
    vec_push(t->ctx, &t->kernel->bufs, b);
    return b;
}

static ImpBuf *shared(Kit *t, const char *name, Scalar elem, Nat count, Nat offset, int group)
{
    ImpBuf *b = buf(t, SPACE_SHARED, name, elem, count);
    b->offset = offset;
    b->group = group;
    return b;
}

static ImpVar *var(Kit *t, const char *name, Scalar type)
{
    ImpVar *v = NEW(t->ctx, ImpVar);
    *v = (ImpVar){.id = t->kernel->vars.n, .name = name, .type = type, .slots = 1};
    vec_push(t->ctx, &t->kernel->vars, v);
    return v;
}

static ImpExpr *get(Kit *t, ImpVar *v) { return imp_var(t->ctx, v, t->zero, t->span); }
static ImpExpr *nat(Kit *t, Nat n) { return imp_nat(t->ctx, n, SC_I32, t->span); }
static ImpExpr *load(Kit *t, ImpBuf *b, Nat i) { return imp_load(t->ctx, b, i, t->span); }
static ImpExpr *lit(Kit *t, Scalar type, int64_t v) { return imp_lit(t->ctx, scalar_int(type, v), t->span); }
static ImpExpr *real(Kit *t, Scalar type, double v) { return imp_lit(t->ctx, scalar_float(type, v), t->span); }
static ImpExpr *op2(Kit *t, PrimId id, ImpExpr *a, ImpExpr *b)
{
    return imp_op2(t->ctx, id, id >= P_eq && id <= P_ge ? SC_BOOL : a->type, a, b, t->span);
}
static ImpExpr *op1(Kit *t, PrimId id, ImpExpr *a) { return imp_op(t->ctx, id, a->type, 1, &a, t->span); }

static void decl(Kit *t, ImpBlock *block, ImpVar *v, ImpExpr *value)
{
    ImpStmt *s = imp_stmt(t->ctx, block, IS_DECL, t->span);
    s->var.var = v;
    s->var.value = value;
}

static void set(Kit *t, ImpBlock *block, ImpVar *v, ImpExpr *value)
{
    ImpStmt *s = imp_stmt(t->ctx, block, IS_SET, t->span);
    s->var.var = v;
    s->var.slot = t->zero;
    s->var.value = value;
}

static void store(Kit *t, ImpBlock *block, ImpBuf *b, Nat index, ImpExpr *value)
{
    ImpStmt *s = imp_stmt(t->ctx, block, IS_STORE, t->span);
    s->store.buf = b;
    s->store.index = index;
    s->store.value = value;
}

static ImpBlock *loop(Kit *t, ImpBlock *block, PrimId level, Nat i, Nat lo, Nat hi, Nat step)
{
    ImpStmt *s = imp_stmt(t->ctx, block, IS_FOR, t->span);
    s->loop.var = i;
    s->loop.lo = lo;
    s->loop.hi = hi;
    s->loop.step = step;
    s->loop.level = level;
    return &s->loop.body;
}

static ImpBlock *when(Kit *t, ImpBlock *block, ImpExpr *cond)
{
    ImpStmt *s = imp_stmt(t->ctx, block, IS_IF, t->span);
    s->branch.cond = cond;
    return &s->branch.then;
}

static void sync(Kit *t, ImpBlock *block, SyncScope scope) { imp_stmt(t->ctx, block, IS_SYNC, t->span)->sync = scope; }

static const char *printed(Kit *t)
{
    StrBuf out;
    sb_init(&out, t->ctx);
    ImpProgram *const programs[] = {t->program};
    cuda_print(t->ctx, &out, 1, programs, false);
    if (folder) {
        FILE *file = fopen(ctx_printf(t->ctx, "%s/%s.cu", folder, t->entry->name), "w");
        if (CHECK(file != NULL)) {
            fputs(out.text, file);
            fclose(file);
        }
    }
    return out.text;
}

#define HAS(text, part) (CHECK(strstr((text), (part)) != NULL) ? (void)0 : (void)printf("  wanted: %s\n", (part)))
#define HAS_NOT(text, part) CHECK(strstr((text), (part)) == NULL)

/* ---- a whole kernel --------------------------------------------------------------------------------------------------------- */

static void test_kernel(Ctx *ctx)
{
    Kit t = kit(ctx, "sumBlocks", "dir/sum.rise");
    ImpKernel *kernel = t.kernel;
    ImpBuf *result = buf(&t, SPACE_OUTPUT, "result", SC_F32, kernel->blocks[0]), *xs = buf(&t, SPACE_INPUT, "xs", SC_F32, t.n);
    ImpBuf *partial = shared(&t, "partial", SC_F32, k(&t, 2), t.zero, 0);
    kernel->shared_bytes = k(&t, 8);
    kernel->min_blocks = 4;
    Nat block = nat_var(ctx, "block", t.zero, NULL);
    ImpBlock *body = loop(&t, &kernel->body, P_mapBlock, block, kernel->block[0], kernel->blocks[0], kernel->grid[0]);
    imp_stmt(ctx, body, IS_NOTE, t.span)->note = "mapWarp";
    ImpVar *acc = var(&t, "acc", SC_F32);
    Nat i = nat_add(ctx, nat_mul_k(ctx, block, 64), nat_add(ctx, nat_mul_k(ctx, kernel->warp, 32), kernel->lane));
    decl(&t, body, acc, imp_cond(ctx, op2(&t, P_lt, nat(&t, i), nat(&t, t.n)), load(&t, xs, i), real(&t, SC_F32, 0), t.span));
    for (int d = 16; d; d /= 2)
        set(&t, body, acc, op2(&t, P_add, get(&t, acc), imp_shfl(ctx, P_shflXor, k(&t, d), get(&t, acc), t.span)));
    store(&t, when(&t, body, op2(&t, P_lt, nat(&t, kernel->lane), nat(&t, t.one))), partial, kernel->warp, get(&t, acc));
    sync(&t, body, SYNC_BLOCK);
    store(&t, when(&t, body, op2(&t, P_and, op2(&t, P_lt, nat(&t, kernel->lane), nat(&t, t.one)), op2(&t, P_eq, nat(&t, kernel->warp), nat(&t, t.zero)))),
          result, block, op2(&t, P_add, load(&t, partial, t.zero), load(&t, partial, t.one)));
    sync(&t, body, SYNC_WARP);
    const char *text = printed(&t);
    CHECK_TEXT(text, "// Generated by risec 0.2.0 from sum.rise. It belongs to whoever generated it.\n"
                     "// Includes nothing; compiles with nvcc and NVRTC for sm_75 and later.\n"
                     "// To launch: sumBlocks_launch below, on a stream.\n"
                     "\n"
                     "// sumBlocks: 64 threads a block, ceilDiv(n, 64) blocks\n"
                     "extern \"C\" __global__ void __launch_bounds__(64, 4)\n"
                     "sumBlocks(float *__restrict__ result, const float *__restrict__ xs, int n)\n"
                     "{\n"
                     "    __shared__ float partial[2];\n"
                     "    const int warp = threadIdx.x / 32;\n"
                     "    const int lane = threadIdx.x % 32;\n"
                     "\n"
                     "    for (int block = blockIdx.x; block < (n + 63) / 64; block += gridDim.x) {\n"
                     "        // sum.rise:2: mapWarp\n"
                     "        float acc = block*64 + warp*32 + lane < n ? xs[block*64 + warp*32 + lane] : 0.0f;\n"
                     "        acc += __shfl_xor_sync(0xffffffff, acc, 16);\n"
                     "        acc += __shfl_xor_sync(0xffffffff, acc, 8);\n"
                     "        acc += __shfl_xor_sync(0xffffffff, acc, 4);\n"
                     "        acc += __shfl_xor_sync(0xffffffff, acc, 2);\n"
                     "        acc += __shfl_xor_sync(0xffffffff, acc, 1);\n"
                     "        if (lane == 0) partial[warp] = acc;\n"
                     "        __syncthreads();\n"
                     "        if (lane == 0 && warp == 0) result[block] = partial[0] + partial[1];\n"
                     "        __syncwarp();\n"
                     "    }\n"
                     "}\n"
                     "\n"
                     "#ifndef __CUDACC_RTC__\n"
                     "// Launches sumBlocks on a stream. Gives 0 or a cudaError_t.\n"
    "// Buffers are in device memory. Cells:\n"
                     "//   result: ceilDiv(n, 64) float\n"
                     "//   xs: n float\n"
                     "extern \"C\" int sumBlocks_launch(float *result, const float *xs, long long n, cudaStream_t stream)\n"
                     "{\n"
                     "    if (n < 0 || n > 2147483647)\n"
                     "        return (int)cudaErrorInvalidValue;\n"
                     "    if (n + 63 > 2147483647)\n"
                     "        return (int)cudaErrorInvalidValue;\n"
                     "    {\n"
                     "        long long blocks = (n + 63) / 64;\n"
                     "        if (blocks > 65535)\n"
                     "            blocks = 65535;\n"
                     "        if (blocks > 0)\n"
                     "            sumBlocks<<<(unsigned)blocks, 64, 0, stream>>>(result, xs, (int)n);\n"
                     "    }\n"
                     "    return (int)cudaGetLastError();\n"
                     "}\n"
                     "#endif\n");
    StrBuf imp;
    sb_init(&imp, ctx);
    imp_print(&imp, t.program);
    HAS(imp.text, "kernel sumBlocks(n)\n  threads 64\n  blocks (n + 63) / 64\n  output result: ((n + 63) / 64).f32\n  input xs: n.f32\n"
                  "  shared partial: 2.f32 at byte 0, group 0\n  shared bytes 8\n{\n  for block = blockIdx.x until (n + 63) / 64 step gridDim.x { -- mapBlock\n"
                  "    -- mapWarp\n");
    HAS(imp.text, "acc := acc + shflXor(16, acc)\n");
    HAS(imp.text, "    sync block\n");
}

/* ---- expressions, one a statement --------------------------------------------------------------------------------------------- */

/* What `out[thread] = e` prints as after the equals sign. */
static const char *expr_text(Kit *t, ImpBuf *out, ImpExpr *e)
{
    t->kernel->body.list.n = 0;
    store(t, &t->kernel->body, out, t->kernel->thread[0], e);
    const char *saved = folder;
    folder = NULL;
    const char *text = printed(t), *at = strstr(text, "[thread] = ");
    folder = saved;
    return at ? ctx_printf(t->ctx, "%.*s", (int)strcspn(at + 11, "\n"), at + 11) : text;
}

static void test_expressions(Ctx *ctx)
{
    Kit t = kit(ctx, "expr", "e.rise");
    ImpBuf *f = buf(&t, SPACE_OUTPUT, "f", SC_F32, t.n), *i = buf(&t, SPACE_OUTPUT, "i", SC_I32, t.n), *u = buf(&t, SPACE_OUTPUT, "u", SC_U32, t.n);
    ImpBuf *c = buf(&t, SPACE_OUTPUT, "c", SC_I8, t.n), *h = buf(&t, SPACE_OUTPUT, "h", SC_U16, t.n), *l = buf(&t, SPACE_OUTPUT, "l", SC_I64, t.n);
    ImpBuf *b = buf(&t, SPACE_OUTPUT, "b", SC_BOOL, t.n), *d = buf(&t, SPACE_OUTPUT, "d", SC_F64, t.n);
    ImpExpr *F = load(&t, f, t.zero), *I = load(&t, i, t.zero), *U = load(&t, u, t.zero), *C = load(&t, c, t.zero), *H = load(&t, h, t.zero);
    ImpExpr *L = load(&t, l, t.zero), *B = load(&t, b, t.zero), *D = load(&t, d, t.zero);

    struct { ImpBuf *to; ImpExpr *e; const char *want; } cases[] = {
        /* floats and parentheses */
        {f, op2(&t, P_mul, op2(&t, P_add, F, F), F), "(f[0] + f[0]) * f[0];"},
        {f, op2(&t, P_add, F, op2(&t, P_add, F, F)), "f[0] + (f[0] + f[0]);"},
        {f, op2(&t, P_sub, op2(&t, P_sub, F, F), F), "f[0] - f[0] - f[0];"},
        {f, op2(&t, P_min, F, real(&t, SC_F32, -1.5)), "fminf(f[0], -1.5f);"},
        {d, op2(&t, P_max, D, real(&t, SC_F64, 1e300)), "fmax(d[0], 1e+300);"},
        {f, op1(&t, P_neg, op1(&t, P_neg, F)), "-(-f[0]);"},
        {f, op2(&t, P_sub, F, real(&t, SC_F32, -2)), "f[0] - -2.0f;"},
        {f, op1(&t, P_round, F), "rintf(f[0]);"},
        {f, real(&t, SC_F32, INFINITY), "INFINITY;"},
        {d, real(&t, SC_F64, -INFINITY), "-(double)INFINITY;"},
        {f, real(&t, SC_F32, -0.0), "-0.0f;"},
        /* integers that wrap, and never trap */
        {i, op2(&t, P_add, I, op2(&t, P_mul, I, I)), "wrap_add(i[0], wrap_mul(i[0], i[0]));"},
        {u, op2(&t, P_add, U, op2(&t, P_mul, U, U)), "u[0] + u[0] * u[0];"},
        {u, op1(&t, P_neg, U), "wrap_neg(u[0]);"},
        {i, op2(&t, P_div, I, lit(&t, SC_I32, 3)), "i[0] / 3;"},
        {i, op2(&t, P_div, I, lit(&t, SC_I32, -1)), "safe_div(i[0], -1);"},
        {i, op2(&t, P_mod, I, I), "safe_mod(i[0], i[0]);"},
        {u, op2(&t, P_shl, U, lit(&t, SC_U32, 31)), "u[0] << 31u;"},
        {u, op2(&t, P_shl, U, lit(&t, SC_U32, 32)), "shift_left(u[0], 32u);"},
        {i, op2(&t, P_shr, I, lit(&t, SC_I32, 2)), "i[0] >> 2;"},
        {i, lit(&t, SC_I32, INT32_MIN), "-2147483647 - 1;"},
        {i, op2(&t, P_bitAnd, I, lit(&t, SC_I32, INT32_MIN)), "i[0] & (-2147483647 - 1);"},
        {i, op2(&t, P_bitOr, op2(&t, P_bitAnd, I, I), I), "(i[0] & i[0]) | i[0];"},
        {l, op2(&t, P_max, L, lit(&t, SC_I64, 7)), "max(l[0], 7ll);"},
        /* narrow integers */
        {c, op2(&t, P_add, C, lit(&t, SC_I8, 1)), "(signed char)(c[0] + 1);"},
        {h, op2(&t, P_mul, H, H), "(unsigned short)((unsigned)h[0] * h[0]);"},
        {c, op2(&t, P_min, C, C), "min(c[0], c[0]);"},
        {c, op1(&t, P_clz, C), "__clz((unsigned char)c[0]) - 24;"},
        {c, imp_shfl(ctx, P_shflDown, t.one, C, t.span), "(signed char)__shfl_down_sync(0xffffffff, (int)c[0], 1);"},
        {b, imp_shfl(ctx, P_shflUp, t.one, B, t.span), "__shfl_up_sync(0xffffffff, (int)b[0], 1) != 0;"},
        /* conditions */
        {b, op2(&t, P_or, op2(&t, P_and, B, B), B), "(b[0] && b[0]) || b[0];"},
        {b, op2(&t, P_and, op2(&t, P_or, B, B), B), "(b[0] || b[0]) && b[0];"},
        {b, imp_op(ctx, P_not, SC_BOOL, 1, (ImpExpr *[]){op2(&t, P_lt, I, I)}, t.span), "i[0] >= i[0];"},
        {b, imp_op(ctx, P_not, SC_BOOL, 1, (ImpExpr *[]){op2(&t, P_lt, F, F)}, t.span), "!(f[0] < f[0]);"},
        {b, op2(&t, P_and, B, imp_shfl(ctx, P_shflUp, t.one, B, t.span)), "b[0] & (__shfl_up_sync(0xffffffff, (int)b[0], 1) != 0);"},
        {b, op2(&t, P_le, nat(&t, k(&t, 3)), nat(&t, t.kernel->thread[0])), "thread >= 3;"},
        {b, op2(&t, P_lt, nat(&t, t.kernel->lane), nat(&t, t.one)), "lane == 0;"},
        {f, imp_op(ctx, P_select, SC_F32, 3, (ImpExpr *[]){B, F, imp_shfl(ctx, P_shflUp, t.one, F, t.span)}, t.span),
         "select_both<float>(b[0], f[0], __shfl_up_sync(0xffffffff, f[0], 1));"},
        /* casts and sizes as values */
        {i, imp_cast(ctx, SC_I32, F, t.span), "to_i32(f[0]);"},
        {f, imp_cast(ctx, SC_F32, op2(&t, P_add, I, I), t.span), "(float)wrap_add(i[0], i[0]);"},
        {b, imp_cast(ctx, SC_BOOL, F, t.span), "f[0] != 0.0f;"},
        {f, imp_nat(ctx, nat_add_k(ctx, t.n, 1), SC_F32, t.span), "(float)(n + 1);"},
        {l, op2(&t, P_add, L, imp_nat(ctx, t.n, SC_I64, t.span)), "wrap_add(l[0], (long long)n);"},
        {f, imp_nat(ctx, k(&t, 64), SC_F32, t.span), "64.0f;"}};
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++)
        CHECK_TEXT(expr_text(&t, cases[n].to, cases[n].e), cases[n].want);
    t.kernel->body.list.n = 0;
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++)
        store(&t, &t.kernel->body, cases[n].to, t.kernel->thread[0], cases[n].e);
    const char *text = printed(&t);
    HAS(text, "#ifndef RISE_HELPERS\nstatic __device__ __forceinline__ int wrap_add(int a, int b)");
    HAS(text, "long long wrap_add(long long a, long long b)");
    HAS_NOT(text, "floor_div");

    ImpExpr *singles = op2(&t, P_mul, F, F), *doubles = op2(&t, P_mul, D, D);
    singles->op.rounded = doubles->op.rounded = true;
    CHECK_TEXT(expr_text(&t, f, op2(&t, P_add, singles, F)), "__fmul_rn(f[0], f[0]) + f[0];");
    CHECK_TEXT(expr_text(&t, d, doubles), "__dmul_rn(d[0], d[0]);");
}

/* Every operation on every type: for nvcc, which must not warn. */
static void test_all_operations(Ctx *ctx)
{
    static const Scalar types[] = {SC_I8, SC_I16, SC_I32, SC_I64, SC_U8, SC_U16, SC_U32, SC_U64, SC_F32, SC_F64};
    static const PrimId both[] = {P_add, P_sub, P_mul, P_div, P_min, P_max, P_eq, P_ne, P_lt, P_le, P_gt, P_ge};
    static const PrimId ints[] = {P_mod, P_bitAnd, P_bitOr, P_bitXor, P_shl, P_shr};
    static const PrimId int_ones[] = {P_neg, P_abs, P_popc, P_clz};
    static const PrimId float_ones[] = {P_neg, P_abs, P_sqrt, P_rsqrt, P_exp, P_exp2, P_log, P_log2, P_sin, P_cos, P_tan, P_asin, P_acos, P_atan, P_expm1, P_log1p, P_erf, P_tanh, P_floor, P_ceil, P_round};
    Kit t = kit(ctx, "operations", "o.rise");
    ImpBlock *body = &t.kernel->body;
    Nat at = t.kernel->thread[0];
    ImpBuf *flags = buf(&t, SPACE_OUTPUT, "flags", SC_BOOL, t.n);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        Scalar s = types[i];
        ImpBuf *out = buf(&t, SPACE_OUTPUT, scalar_name(s), s, t.n);
        ImpExpr *a = load(&t, out, at), *b = load(&t, out, nat_add_k(ctx, at, 1));
        bool is_float = scalar_is_float(s);
        for (size_t o = 0; o < sizeof both / sizeof *both; o++) {
            ImpExpr *e = op2(&t, both[o], a, b);
            store(&t, body, e->type == SC_BOOL ? flags : out, at, e);
        }
        for (size_t o = 0; !is_float && o < sizeof ints / sizeof *ints; o++) {
            store(&t, body, out, at, op2(&t, ints[o], a, b));
            store(&t, body, out, at, op2(&t, ints[o], a, lit(&t, s, 3)));
        }
        for (size_t o = 0; !is_float && o < sizeof int_ones / sizeof *int_ones; o++)
            store(&t, body, out, at, op1(&t, int_ones[o], op2(&t, P_bitXor, a, b)));
        for (size_t o = 0; is_float && o < sizeof float_ones / sizeof *float_ones; o++)
            store(&t, body, out, at, op1(&t, float_ones[o], op2(&t, P_sub, a, b)));
        if (is_float) {
            store(&t, body, out, at, op2(&t, P_pow, a, b));
            store(&t, body, out, at, imp_op(ctx, P_fma, s, 3, (ImpExpr *[]){a, b, a}, t.span));
        }
        store(&t, body, out, at, imp_shfl(ctx, P_shflXor, t.one, a, t.span));
        store(&t, body, flags, at, imp_cast(ctx, SC_BOOL, a, t.span));
        for (size_t j = 0; j < sizeof types / sizeof *types; j++)
            store(&t, body, out, at, imp_cast(ctx, s, imp_cast(ctx, types[j], a, t.span), t.span));
        store(&t, body, out, at, imp_cast(ctx, s, load(&t, flags, at), t.span));
        store(&t, body, out, at, imp_nat(ctx, t.n, s, t.span));
        for (int m = 0; m < 2; m++) {
            ScalarValue v;
            if (scalar_named(s, m ? "lowest" : "highest", &v))
                store(&t, body, out, at, op2(&t, P_max, imp_lit(ctx, v, t.span), a));
        }
    }
    CHECK(strlen(printed(&t)) > 1000);
}

/* ---- statements and names -------------------------------------------------------------------------------------------------------- */

static void test_assignment(Ctx *ctx)
{
    Kit t = kit(ctx, "assign", "a.rise");
    ImpBlock *body = &t.kernel->body;
    ImpBuf *out = buf(&t, SPACE_OUTPUT, "out", SC_F32, t.n), *ints = buf(&t, SPACE_OUTPUT, "ints", SC_I32, t.n);
    ImpVar *v = var(&t, "v", SC_F32), *i = var(&t, "i", SC_I32), *dead = var(&t, "dead", SC_F32), *deader = var(&t, "deader", SC_F32);
    ImpExpr *x = load(&t, out, t.zero);
    decl(&t, body, v, NULL);
    set(&t, body, v, x);
    set(&t, body, v, op2(&t, P_add, get(&t, v), x));
    set(&t, body, v, op2(&t, P_mul, op2(&t, P_add, x, x), get(&t, v)));
    set(&t, body, v, op2(&t, P_sub, x, get(&t, v)));
    set(&t, body, v, op2(&t, P_div, get(&t, v), x));
    decl(&t, body, i, lit(&t, SC_I32, 0));
    set(&t, body, i, op2(&t, P_add, get(&t, i), load(&t, ints, t.zero)));
    set(&t, body, i, op2(&t, P_bitXor, load(&t, ints, t.zero), get(&t, i)));
    decl(&t, body, dead, x);
    decl(&t, body, deader, get(&t, dead));
    set(&t, body, dead, get(&t, deader));
    ImpStmt *s = imp_stmt(ctx, body, IS_IF, t.span);
    s->branch.cond = op2(&t, P_lt, get(&t, i), lit(&t, SC_I32, 3));
    store(&t, &s->branch.then, out, t.kernel->thread[0], get(&t, v));
    store(&t, &s->branch.otherwise, ints, t.kernel->thread[0], get(&t, i));
    pass_dead(&(Lowering){.ctx = ctx, .kernel = t.kernel});
    const char *text = printed(&t);
    HAS(text, "    float v;\n    v = out[0];\n    v += out[0];\n    v *= out[0] + out[0];\n    v = out[0] - v;\n    v /= out[0];\n    int i = 0;\n"
              "    i = wrap_add(i, ints[0]);\n    i ^= ints[0];\n    if (i < 3) {\n        out[thread] = v;\n    } else {\n        ints[thread] = i;\n    }\n}\n");
}

static void test_names(Ctx *ctx)
{
    Kit t = kit(ctx, "exp", "evil*/\\\n?.rise");
    ImpBlock *body = &t.kernel->body;
    ImpBuf *out = buf(&t, SPACE_OUTPUT, "float", SC_F32, t.n), *in = buf(&t, SPACE_INPUT, "n", SC_F32, t.n), *odd = buf(&t, SPACE_INPUT, "x'", SC_F32, t.n);
    Nat i = nat_var(ctx, "i", t.zero, NULL), j = nat_var(ctx, "i", t.zero, NULL), l = nat_var(ctx, "fminf", t.zero, NULL);
    imp_stmt(ctx, body, IS_NOTE, t.span)->note = "map*/ \\";
    ImpBlock *outer = loop(&t, body, P_mapSeq, i, t.kernel->thread[0], t.n, k(&t, 64)), *inner = loop(&t, outer, P_mapSeq, j, t.zero, t.n, t.one);
    store(&t, inner, out, nat_add(ctx, i, j), op2(&t, P_add, load(&t, in, j), load(&t, odd, i)));
    ImpBlock *second = loop(&t, body, P_mapSeq, l, t.zero, t.n, t.one);
    store(&t, loop(&t, second, P_mapSeq, j, t.zero, t.n, t.one), out, j, op2(&t, P_min, load(&t, in, l), load(&t, in, j)));
    const char *text = printed(&t);
    HAS(text, "\nrise_exp(float *__restrict__ float_1, const float *__restrict__ n, const float *__restrict__ x_,\n         int n_1)\n");
    HAS(text, "    for (int i = threadIdx.x; i < n_1; i += 64) {\n        for (int j = 0; j < n_1; j++)\n            float_1[");
    HAS(text, "for (int fminf_1 = 0; fminf_1 < n_1; fminf_1++) {\n        for (int i = 0; i < n_1; i++)\n            float_1[i] = fminf(n[fminf_1], n[i]);");
    HAS(text, "from ? ? ?.rise. ");
    HAS(text, "map* / ?\n");
    HAS_NOT(text, "const int thread");
}

static void test_shared(Ctx *ctx)
{
    Kit t = kit(ctx, "overlap", "s.rise");
    ImpBlock *body = &t.kernel->body;
    ImpBuf *out = buf(&t, SPACE_OUTPUT, "out", SC_F32, t.n);
    ImpBuf *a = shared(&t, "a", SC_F32, k(&t, 64), t.zero, 0), *b = shared(&t, "b", SC_F32, k(&t, 32), k(&t, 128), 0);
    ImpBuf *c = shared(&t, "c", SC_F64, k(&t, 4), k(&t, 272), 1), *d = shared(&t, "d", SC_I32, k(&t, 4), k(&t, 288), 1);
    t.kernel->shared_bytes = k(&t, 304);
    Nat at = t.kernel->thread[0];
    store(&t, body, a, at, load(&t, b, at));
    store(&t, body, d, at, imp_cast(ctx, SC_I32, load(&t, c, at), t.span));
    store(&t, body, out, at, load(&t, a, at));
    const char *text = printed(&t);
    HAS(text, "    __shared__ float a[64];\n    __shared__ __align__(16) unsigned char bytes[32];\n    double *c = (double *)bytes;\n"
              "    int *d = (int *)(bytes + 16);\n");
    HAS(text, "a[thread] = a[thread + 32];\n");

    t.kernel->name = t.entry->name = "dynamic";
    ImpBuf *e = shared(&t, "e", SC_F32, t.n, k(&t, 304), -1);
    t.kernel->shared_bytes = nat_add_k(ctx, nat_mul_k(ctx, t.n, 4), 304);
    store(&t, body, e, at, real(&t, SC_F32, 1));
    text = printed(&t);
    HAS(text, "    extern __shared__ __align__(16) unsigned char shared_memory[];\n    float *a = (float *)shared_memory;\n    float *b = (float *)(shared_memory + 128);\n");
    HAS(text, "    float *e = (float *)(shared_memory + 304);\n");
    HAS(text, "cudaFuncSetAttribute((const void *)dynamic,\n            cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared))\n            return (int)error;");
    HAS(text, "64, (size_t)shared, stream>>>(out, (int)n);");
    HAS(text, ", 4*n + 304 bytes of dynamic shared memory\n");
}

static void test_two_dimensions(Ctx *ctx)
{
    Kit t = kit(ctx, "plane", "p.rise");
    ImpKernel *kernel = t.kernel;
    ImpBlock *body = &kernel->body;
    kernel->threads[0] = 32;
    kernel->threads[1] = 8;
    kernel->thread[1] = nat_var(ctx, "threadY", t.zero, k(&t, 7));
    kernel->warp = nat_var(ctx, "warp", t.zero, k(&t, 7));
    kernel->blocks[1] = t.n;
    kernel->grid[1] = nat_var(ctx, "gridDim.y", t.one, NULL);
    kernel->block[1] = nat_var(ctx, "blockIdx.y", t.zero, nat_add_k(ctx, kernel->grid[1], -1));
    ImpBuf *out = buf(&t, SPACE_OUTPUT, "out", SC_F32, nat_mul(ctx, t.n, t.n));
    ImpBuf *temp = buf(&t, SPACE_TEMP, "temp", SC_F32, nat_mul_k(ctx, kernel->grid[1], 8));
    Nat i = nat_var(ctx, "i", t.zero, nat_add_k(ctx, t.n, -1));
    ImpBlock *rows = loop(&t, body, P_mapGlobal, i, nat_add(ctx, nat_mul_k(ctx, kernel->block[1], 8), kernel->thread[1]), t.n, nat_mul_k(ctx, kernel->grid[1], 8));
    ImpVar *where = var(&t, "where", SC_I64);
    where->nat = nat_var(ctx, "where", t.zero, nat_add_k(ctx, t.n, -1));
    where->constant = true;
    decl(&t, rows, where, imp_nat(ctx, i, SC_I64, t.span));
    store(&t, rows, out, nat_add(ctx, nat_mul(ctx, i, t.n), where->nat), load(&t, temp, kernel->warp));
    Nat j = nat_var(ctx, "j", t.zero, NULL);
    store(&t, loop(&t, rows, P_mapSeq, j, t.zero, where->nat, t.one), out, j, real(&t, SC_F32, 2));
    const char *text = printed(&t);
    HAS(text, "// plane: 32 x 8 threads a block, ceilDiv(n, 64) x n blocks\n");
    HAS(text, "    const int warp = (threadIdx.x + threadIdx.y*32) / 32;\n");
    HAS(text, "for (int i = blockIdx.y*8 + threadIdx.y; i < n; i += gridDim.y*8) {\n");
    HAS(text, "for (int j = 0; j < where; j++)\n");
    HAS(text, "n*8 - 1 > 2147483647"); /* implies what the loop needs, n + 65535*8 - 1 */
    HAS(text, "n*n > 2147483647");
    HAS(text, "    float *const temp = (float *)(space + 4096); // 8*min(n, 65535)\n");
    HAS(text, "    *bytes = nat_min(n, 65535)*32 + 4096;\n");
    HAS(text, "plane<<<dim3((unsigned)blocks, (unsigned)blocks_y), dim3(32, 8, 1), 0, stream>>>(out,\n                temp, (int)n);");
    StrBuf out_text;
    sb_init(&out_text, ctx);
    ImpProgram *const programs[] = {t.program};
    manifest_print(ctx, &out_text, 1, programs);
    HAS(out_text.text, "\"grid\": [\"min(ceilDiv(n, 64), 65535)\", \"min(n, 65535)\", \"1\"]");
    HAS(out_text.text, "{\"workspace\": \"temp\", \"type\": \"const float *\"}");
    sb_init(&out_text, ctx);
    cuda_print(ctx, &out_text, 1, programs, true);
    HAS(out_text.text, "#line 2 \"p.rise\"\n        out[");
}

static void all_tests(Ctx *ctx, void *user)
{
    (void)user;
    test_kernel(ctx);
    test_expressions(ctx);
    test_all_operations(ctx);
    test_assignment(ctx);
    test_names(ctx);
    test_shared(ctx);
    test_two_dimensions(ctx);
}

int main(int argc, char **argv)
{
    folder = argc > 1 ? argv[1] : NULL;
    Ctx *ctx = ctx_new(NULL, NULL);
    if (!CHECK(ctx != NULL))
        return unit_end();
    CHECK(ctx_try(ctx, all_tests, NULL));
    ctx_free(ctx);
    return unit_end();
}
