/* The SIMT simulator on kernels built by hand that have no fault: they give the right results in every order. Its arithmetic is compared
 * with scalar_apply, and memory runs out everywhere. */
#include <math.h>

#include "build_kernel.h"

/* ---- clean kernels --------------------------------------------------------------------------------------------------- */

static void test_copy(void)
{
    static const int64_t sizes[] = {0, 1, 31, 32, 33, 255, 256, 257, 1000}, grids[] = {0, 1, 2, 7};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (size_t g = 0; g < sizeof grids / sizeof *grids; g++) {
            Test *t = start(64, 1, 1, -1, sizes[s]);
            ImpBuf *to = output(t, "ys", SC_F32, t->n), *xs = input(t, "xs", SC_F32, t->n);
            Nat i = loop(t, "i", add(t, mul(t, t->kernel->block[0], 64), t->kernel->thread[0]), t->n, mul(t, t->kernel->grid[0], 64));
            store(t, to, i, load(t, xs, i));
            CHECK(always(t, grids[g], -1));
            CHECK(t->report.global_loads == (uint64_t)sizes[s] && t->report.global_stores == (uint64_t)sizes[s]);
            bool equal = true;
            for (int64_t k = 0; k < sizes[s]; k++)
                equal = equal && result(t, 0, k) == (double)k;
            CHECK(equal);
            finish(t);
        }
}

static Test *reversal(int threads, SyncScope scope, ImpStmt **dropped)
{
    Test *t = start(threads, 1, 1, 1, threads);
    ImpBuf *to = output(t, "ys", SC_F32, t->n), *xs = input(t, "xs", SC_F32, t->n), *tile = shared(t, "tile", SC_F32, threads);
    Nat me = t->kernel->thread[0];
    alloc(t, tile);
    store(t, tile, me, load(t, xs, me));
    sync(t, scope);
    store(t, to, me, load(t, tile, nat_sub(t->ctx, K(t, threads - 1), me)));
    if (dropped)
        *dropped = imp_drop_sync(t->kernel, 0);
    return t;
}

static void test_reversal(void)
{
    ImpStmt *dropped;
    for (int threads = 32; threads <= 256; threads *= 2) {
        SyncScope scope = threads == 32 ? SYNC_WARP : SYNC_BLOCK;
        Test *t = reversal(threads, scope, NULL);
        CHECK(imp_sync_count(t->kernel) == 1);
        CHECK(always(t, 1, -1) && result(t, 0, 0) == threads - 1 && result(t, 0, threads - 1) == 0);
        CHECK(t->report.shared_loads == (uint64_t)threads && t->report.shared_stores == (uint64_t)threads);
        CHECK(t->report.block_barriers == (scope == SYNC_BLOCK) && t->report.warp_barriers == (scope == SYNC_WARP));
        finish(t);
        t = reversal(threads, scope, &dropped);
        CHECK(dropped && imp_sync_count(t->kernel) == 0 && finds(t, 1, SIM_RACE));
        imp_restore_sync(dropped);
        CHECK(imp_sync_count(t->kernel) == 1 && always(t, 1, -1));
        CHECK(imp_drop_sync(t->kernel, 1) == NULL && imp_drop_sync(t->kernel, -1) == NULL);
        finish(t);
    }
    /* A barrier of the warp does not order two warps; one of the block orders the lanes of a warp too. */
    Test *t = reversal(64, SYNC_WARP, NULL);
    CHECK(finds(t, 1, SIM_RACE));
    finish(t);
    t = reversal(32, SYNC_BLOCK, NULL);
    CHECK(always(t, 1, -1));
    finish(t);
}

static double shuffle_sum(PrimId id, int lane, bool all)
{
    static const int steps[] = {16, 8, 4, 2, 1};
    Test *t = start(32, 1, 1, 1, 32);
    ImpBuf *to = output(t, "ys", SC_F32, K(t, 32)), *xs = input(t, "xs", SC_F32, t->n);
    ImpVar *acc = reg(t, "acc", SC_F32, 1);
    declare(t, acc, load(t, xs, t->kernel->lane));
    for (int k = 0; k < 5; k++)
        set(t, acc, K(t, 0), op(t, P_add, get(t, acc), imp_shfl(t->ctx, id, K(t, steps[k]), get(t, acc), next_span(t))));
    store(t, to, t->kernel->lane, get(t, acc));
    CHECK(always(t, 0, -1) && t->report.shuffles == 5);
    double sum = result(t, 0, lane);
    for (int l = 0; l < 32 && all; l++)
        CHECK(result(t, 0, l) == sum);
    finish(t);
    return sum;
}

static void test_shuffle(void)
{
    CHECK(shuffle_sum(P_shflXor, 5, true) == 496);
    CHECK(shuffle_sum(P_shflDown, 0, false) == 496);
    CHECK(shuffle_sum(P_shflUp, 31, false) == 496);
    static const PrimId ids[] = {P_shflDown, P_shflUp, P_shflXor};
    for (int k = 0; k < 3; k++)
        for (int by = 0; by < 32; by++) {
            Test *t = start(32, 1, 1, 1, 32);
            ImpBuf *to = output(t, "ys", SC_I32, K(t, 32));
            ImpExpr *mine = nat(t, mul(t, t->kernel->lane, 3));
            store(t, to, t->kernel->lane, imp_shfl(t->ctx, ids[k], K(t, by), mine, next_span(t)));
            run_on(t, 1, 0);
            for (int l = 0; l < 32; l++) {
                int from = k == 0 ? l + by : k == 1 ? l - by : l ^ by;
                CHECK(result(t, 0, l) == 3 * (from < 0 || from > 31 ? l : from));
            }
            finish(t);
        }
    /* Not all lanes get there; a block of one thread has no other lanes. */
    for (int one = 0; one < 2; one++) {
        Test *t = start(one ? 1 : 32, 1, 1, 1, 32);
        ImpBuf *to = output(t, "ys", SC_I32, K(t, 1));
        ImpExpr *sum = imp_shfl(t->ctx, P_shflDown, K(t, 1), nat(t, t->kernel->lane), next_span(t));
        when(t, less(t, t->kernel->lane, K(t, 1)));
        store(t, to, t->kernel->lane, sum);
        CHECK(always(t, 0, SIM_SHUFFLE_INACTIVE));
        finish(t);
    }
}

static void test_warp_exchange(void)
{
    /* Lanes hand values on through shared memory, twice: the second round needs two barriers. */
    for (int drop = -1; drop < 3; drop++) {
        Test *t = start(64, 1, 1, 1, 64);
        ImpBuf *to = output(t, "ys", SC_I32, K(t, 64)), *tile = shared(t, "tile", SC_I32, 64);
        Nat base = mul(t, t->kernel->warp, 32), lane = t->kernel->lane, me = add(t, base, lane);
        Nat left = add(t, base, nat_mod(t->ctx, add(t, lane, K(t, 1)), K(t, 32)));
        ImpVar *x = reg(t, "x", SC_I32, 1);
        store(t, tile, me, nat(t, me));
        sync(t, SYNC_WARP);
        declare(t, x, load(t, tile, left));
        sync(t, SYNC_WARP);
        store(t, tile, me, get(t, x));
        sync(t, SYNC_WARP);
        store(t, to, me, load(t, tile, left));
        if (drop >= 0)
            imp_drop_sync(t->kernel, drop);
        if (drop < 0)
            CHECK(always(t, 0, -1) && result(t, 0, 0) == 2 && result(t, 0, 31) == 1 && result(t, 0, 63) == 33);
        else
            CHECK(finds(t, 0, SIM_RACE));
        finish(t);
    }
}

static void test_two_dimensions(void)
{
    /* A transposition in blocks of 8 x 16 through shared memory, threads by their coordinates. */
    Test *t = start(8, 16, 1, 1, 128);
    ImpBuf *to = output(t, "ys", SC_I32, K(t, 128)), *xs = input(t, "xs", SC_I32, t->n), *tile = shared(t, "tile", SC_I32, 128);
    Nat x = t->kernel->thread[0], y = t->kernel->thread[1];
    Nat me = add(t, mul(t, y, 8), x), linear = add(t, mul(t, t->kernel->warp, 32), t->kernel->lane);
    store(t, tile, me, load(t, xs, linear));
    sync(t, SYNC_BLOCK);
    store(t, to, add(t, mul(t, x, 16), y), load(t, tile, linear));
    CHECK(always(t, 1, -1));
    for (int i = 0; i < 128; i++)
        CHECK(result(t, 0, i % 8 * 16 + i / 8) == i);
    imp_drop_sync(t->kernel, 0);
    CHECK(always(t, 1, -1)); /* each thread reads what it wrote itself */
    finish(t);
    /* Rows of 32 threads and more: a warp has one y. Blocks along y. */
    t = start(64, 2, 2, 1, 1);
    to = output(t, "ys", SC_I32, K(t, 512));
    t->kernel->blocks[1] = K(t, 2);
    Nat z = t->kernel->thread[2];
    me = add(t, add(t, mul(t, add(t, mul(t, z, 2), t->kernel->thread[1]), 64), t->kernel->thread[0]), mul(t, t->kernel->block[1], 256));
    store(t, to, me, nat(t, add(t, mul(t, t->kernel->warp, 32), t->kernel->lane)));
    CHECK(always(t, 0, -1));
    for (int i = 0; i < 512; i++)
        CHECK(result(t, 0, i) == i % 256);
    finish(t);
}

static void test_masks(void)
{
    /* for (j = lane % 7; j < lane; j += 1 + lane % 3) if (j % 2 == 0) { acc += j; if (j % 3 == 0) acc += 100 } else acc -= 1 */
    Test *t = start(64, 1, 1, 1, 64);
    ImpBuf *to = output(t, "ys", SC_I32, K(t, 64));
    Nat me = t->kernel->thread[0];
    ImpVar *acc = reg(t, "acc", SC_I32, 1);
    declare(t, acc, i32(t, 0));
    Nat j = loop(t, "j", nat_mod(t->ctx, me, K(t, 7)), me, add(t, K(t, 1), nat_mod(t->ctx, me, K(t, 3))));
    ImpStmt *even = when(t, same(t, nat_mod(t->ctx, j, K(t, 2)), K(t, 0)));
    set(t, acc, NULL, op(t, P_add, get(t, acc), nat(t, j)));
    when(t, same(t, nat_mod(t->ctx, j, K(t, 3)), K(t, 0)));
    set(t, acc, NULL, op(t, P_add, get(t, acc), i32(t, 100)));
    leave(t);
    otherwise(t, even);
    set(t, acc, NULL, op(t, P_sub, get(t, acc), i32(t, 1)));
    leave(t);
    leave(t);
    store(t, to, me, get(t, acc));
    CHECK(always(t, 0, -1));
    for (int i = 0; i < 64; i++) {
        int want = 0;
        for (int k = i % 7; k < i; k += 1 + i % 3)
            want += k % 2 ? -1 : k + (k % 3 ? 0 : 100);
        CHECK(result(t, 0, i) == want);
    }
    finish(t);
    /* Loops in loops, the inner one with a trip count of its own per lane and per trip. */
    t = start(32, 1, 1, 1, 32);
    to = output(t, "ys", SC_I32, K(t, 32));
    acc = reg(t, "acc", SC_I32, 1);
    declare(t, acc, i32(t, 0));
    Nat lane = t->kernel->lane, a = loop(t, "a", K(t, 0), lane, K(t, 1)), b = loop(t, "b", a, lane, K(t, 2));
    set(t, acc, NULL, op(t, P_add, get(t, acc), nat(t, add(t, mul(t, a, 10), b))));
    leave(t);
    leave(t);
    store(t, to, lane, get(t, acc));
    CHECK(always(t, 0, -1));
    for (int i = 0; i < 32; i++) {
        int want = 0;
        for (int x = 0; x < i; x++)
            for (int y = x; y < i; y += 2)
                want += 10 * x + y;
        CHECK(result(t, 0, i) == want);
    }
    finish(t);
}

static void test_cond(void)
{
    for (int guarded = 0; guarded < 2; guarded++) {
        Test *t = start(64, 1, 1, 1, 45);
        ImpBuf *to = output(t, "ys", SC_F32, K(t, 64)), *xs = input(t, "xs", SC_F32, t->n);
        Nat me = t->kernel->thread[0];
        ImpExpr *x = load(t, xs, me);
        if (guarded)
            x = imp_cond(t->ctx, less(t, me, t->n), x,
                         imp_cond(t->ctx, less(t, me, K(t, 50)), f32(t, -1), op(t, P_add, f32(t, 0.5), f32(t, 7)), next_span(t)), next_span(t));
        store(t, to, me, x);
        CHECK(always(t, 0, guarded ? -1 : SIM_OUT_OF_BOUNDS));
        if (guarded)
            for (int i = 0; i < 64; i++)
                CHECK(result(t, 0, i) == (i < 45 ? i : i < 50 ? -1 : 7.5));
        else
            CHECK(t->report.findings.at[0].times == 19 && t->report.findings.at[0].cell == 45 && t->report.findings.at[0].thread == 45 &&
                  strstr(t->report.findings.at[0].text, "reads xs[45], and xs has 45 cells") != NULL);
        finish(t);
    }
}

/* ---- arithmetic ---------------------------------------------------------------------------------------------------------- */

static ScalarValue random_scalar(Scalar type, uint64_t *random)
{
    static const double floats[] = {0.0, -0.0, 1.0, -1.5, 3e38, -3e38, 1e-45, 1e-40, 1.1754944e-38, 16777217.0, 1e308, -1e-320, 0.1};
    uint64_t r = next_random(random), kind = r >> 60;
    if (!scalar_is_float(type))
        return scalar_int(type, kind < 4 ? (int64_t)(r % 5) - 2 : kind < 6 ? INT64_MIN : kind < 8 ? INT32_MIN : (int64_t)next_random(random));
    if (kind < 6)
        return scalar_float(type, floats[r % (sizeof floats / sizeof *floats)]);
    if (kind == 6)
        return scalar_float(type, (double)NAN);
    if (kind == 7)
        return scalar_float(type, r & 1 ? (double)INFINITY : (double)-INFINITY);
    return scalar_float(type, ldexp((double)(int64_t)next_random(random), (int)(r % 300) - 200));
}

static void test_arithmetic(void)
{
    uint64_t random = 99;
    long wrong = 0, tried = 0;
    for (int type = 0; type < SC_COUNT; type++)
        for (int prim = P_add; prim <= P_pow; prim++) {
            bool three = prim == P_fma, is_float = scalar_is_float((Scalar)type), is_int = scalar_is_int((Scalar)type);
            bool logic = prim == P_and || prim == P_or || prim == P_not, bits = prim >= P_bitAnd && prim <= P_clz;
            bool numeric = is_float || is_int;
            if (logic ? type != SC_BOOL : prim == P_eq || prim == P_ne ? false : bits || prim == P_mod ? !is_int : prim >= P_sqrt ? !is_float : !numeric)
                continue;
            bool one = prim == P_not || prim == P_neg || prim == P_popc || prim == P_clz || prim == P_abs || (prim >= P_sqrt && prim <= P_round);
            for (int round = 0; round < 40; round++) {
                Lanes x[3], got;
                ScalarValue args[WARP][3];
                uint32_t mask = round % 3 ? FULL_MASK : (uint32_t)next_random(&random);
                memset(&got, 0, sizeof got);
                for (int l = 0; l < WARP; l++)
                    for (int k = 0; k < 3; k++) {
                        args[l][k] = k && round % 4 == 1 ? args[l][0] : random_scalar((Scalar)type, &random);
                        x[k].u[l] = args[l][k].u;
                    }
                lanes_apply((PrimId)prim, (Scalar)type, mask, &got, &x[0], one ? NULL : &x[1], three ? &x[2] : NULL);
                for (int l = 0; l < WARP; l++) {
                    if (!(mask >> l & 1))
                        continue;
                    tried++;
                    uint64_t want = scalar_apply((PrimId)prim, (Scalar)type, args[l]).u;
                    if (want != got.u[l] && wrong++ < 5)
                        printf("  %s of %s: %llx and %llx give %llx, want %llx\n", prim_name((PrimId)prim), scalar_name((Scalar)type),
                               (unsigned long long)args[l][0].u, (unsigned long long)args[l][1].u, (unsigned long long)got.u[l], (unsigned long long)want);
                }
            }
        }
    CHECK(tried > 100000);
    CHECK(wrong == 0);
    /* Index arithmetic against the plain functions, with divisors that are powers of two and others. */
    wrong = 0;
    for (int round = 0; round < 2000; round++) {
        int64_t a[WARP], b[WARP], got[WARP];
        uint32_t divisor = 0;
        int bits = round % 63;
        for (int l = 0; l < WARP; l++) {
            a[l] = (int64_t)next_random(&random) >> bits;
            b[l] = round % 2 ? (int64_t)1 << bits : (int64_t)(next_random(&random) >> (bits + 1)) + 1;
        }
        for (int stride = 0; stride < 2; stride++)
            for (int mod = 0; mod < 2; mod++) {
                lanes_nat(mod ? N_MOD : N_DIV, 0, WARP, got, a, 1, b, stride, FULL_MASK, &divisor);
                for (int l = 0; l < WARP; l++)
                    wrong += got[l] != (mod ? floor_mod(a[l], b[l * stride]) : floor_div(a[l], b[l * stride]));
            }
    }
    CHECK(wrong == 0);
    /* Every scalar type through memory, a cast and a select. */
    for (int type = 0; type < SC_COUNT; type++) {
        Test *t = start(32, 1, 1, 1, 32);
        ImpBuf *to = output(t, "ys", (Scalar)type, t->n), *xs = input(t, "xs", (Scalar)type, t->n), *tile = shared(t, "tile", (Scalar)type, 32);
        Nat lane = t->kernel->lane;
        store(t, tile, lane, load(t, xs, lane));
        ImpExpr *two = imp_cast(t->ctx, (Scalar)type, i32(t, 2), next_span(t));
        ImpExpr *args[3] = {less(t, lane, K(t, 8)), load(t, tile, lane), two};
        store(t, to, lane, imp_op(t->ctx, P_select, (Scalar)type, 3, args, next_span(t)));
        CHECK(always(t, 0, -1));
        for (int i = 0; i < 32; i++)
            CHECK(result(t, 0, i) == (type == SC_BOOL ? i != 0 : i < 8 ? i : 2));
        finish(t);
    }
}

/* ---- running out of memory ------------------------------------------------------------------------------------------------ */

typedef struct Failing {
    long calls, fail_at, live;
} Failing;

static void *failing_alloc(void *user, size_t size)
{
    Failing *f = user;
    if (++f->calls == f->fail_at)
        return NULL;
    f->live++;
    return malloc(size);
}

static void failing_free(void *user, void *block)
{
    Failing *f = user;
    f->live--;
    free(block);
}

static void whole_run(Ctx *ctx, void *user)
{
    Test *t = user;
    (void)ctx;
    begin(t, 64, 1, 1, -1);
    ImpBuf *to = output(t, "ys", SC_F32, t->n), *xs = input(t, "xs", SC_F32, t->n), *tile = shared(t, "tile", SC_F32, 64);
    Nat me = t->kernel->thread[0];
    store(t, tile, me, load(t, xs, me));
    store(t, to, me, load(t, tile, nat_sub(t->ctx, K(t, 63), me)));
    run_on(t, 1, 0);
    sim_diagnose(t->ctx, &t->report);
}

static void test_memory(void)
{
    long failures = 0;
    for (long at = 0; at < 400; at++) {
        Failing f = {.fail_at = at};
        Allocator allocator = {&f, failing_alloc, failing_free};
        Test *t = test_with(&allocator, 20000);
        if (!t)
            continue;
        if (!ctx_try(t->ctx, whole_run, t))
            failures++;
        else
            CHECK(found(t, SIM_RACE) > 0 || found(t, SIM_OUT_OF_BOUNDS) > 0);
        finish(t);
        CHECK(f.live == 0);
        if (f.calls < at)
            break;
    }
    CHECK(failures > 3);
}

int main(void)
{
    test_copy();
    test_reversal();
    test_shuffle();
    test_warp_exchange();
    test_two_dimensions();
    test_masks();
    test_cond();
    test_arithmetic();
    test_memory();
    printf("sim: %ld checks, %ld wrong\n", unit_checks, unit_failures);
    return unit_failures != 0;
}
