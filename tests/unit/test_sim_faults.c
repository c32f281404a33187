/* The SIMT simulator on kernels built by hand with a planted fault, which is found in every order. The last part compares the race
 * detector with a brute-force one on random kernels. */
#include "build_kernel.h"

/* ---- planted faults -------------------------------------------------------------------------------------------------- */

static void test_bounds(void)
{
    for (int fault = 0; fault < 4; fault++) {
        Test *t = start(32, 1, 1, 1, 32);
        ImpBuf *to = output(t, "ys", SC_I32, t->n), *xs = input(t, "xs", SC_I32, t->n), *tile = shared(t, "tile", SC_I32, 40);
        Nat me = t->kernel->thread[0];
        store(t, tile, fault == 0 ? add(t, me, K(t, 10)) : me, load(t, xs, fault == 1 ? nat_add_k(t->ctx, me, -1) : me));
        store(t, to, fault == 2 ? mul(t, me, 2) : me, fault == 0 ? i32(t, 0) : load(t, tile, me));
        if (fault == 3)
            store(t, tile, K(t, INT64_MIN), i32(t, 1));
        CHECK(fault == 2 || fault == 3 ? finds(t, 0, SIM_OUT_OF_BOUNDS) : always(t, 0, SIM_OUT_OF_BOUNDS));
        finish(t);
    }
}

static void test_unwritten(void)
{
    /* Read of shared memory, of workspace, and of the result before anything is there. */
    for (int space = 0; space < 3; space++) {
        Test *t = start(32, 1, 1, 2, 64);
        ImpBuf *to = output(t, "ys", SC_I32, t->n);
        ImpBuf *b = space == 0 ? to : add_buf(t, space == 1 ? SPACE_TEMP : SPACE_SHARED, "cells", SC_I32, mul(t, t->kernel->grid[0], 32));
        Nat me = add(t, mul(t, t->kernel->block[0], 32), t->kernel->thread[0]);
        store(t, to, me, load(t, b, me));
        CHECK(always(t, 0, SIM_UNWRITTEN));
        finish(t);
    }
    /* What one block wrote into its shared memory, the next does not find there. */
    Test *t = start(32, 1, 1, 2, 64);
    ImpBuf *to = output(t, "ys", SC_I32, t->n), *tile = shared(t, "tile", SC_I32, 32);
    Nat lane = t->kernel->lane, block = t->kernel->block[0];
    when(t, same(t, block, K(t, 0)));
    store(t, tile, lane, i32(t, 1));
    leave(t);
    store(t, to, add(t, mul(t, block, 32), lane), load(t, tile, lane));
    CHECK(always(t, 0, SIM_UNWRITTEN));
    finish(t);
    /* A result of 100 cells of which 64 are written; a launch of no blocks. */
    t = start(32, 1, 1, 2, 100);
    to = output(t, "ys", SC_I32, t->n);
    store(t, to, add(t, mul(t, t->kernel->block[0], 32), t->kernel->thread[0]), i32(t, 1));
    CHECK(always(t, 0, SIM_OUTPUT_UNWRITTEN) && strstr(t->report.findings.at[0].text, "36 of its 100 cells (64, 65, 66, ...)") != NULL);
    t->kernel->blocks[0] = K(t, 0);
    CHECK(always(t, 0, SIM_OUTPUT_UNWRITTEN));
    finish(t);
}

static void test_blocks(void)
{
    /* 0: two blocks write a cell; 1: each reads what the other wrote; 2: one writes what another reads; 3: all read; 4: each its own. */
    for (int kind = 0; kind < 5; kind++) {
        Test *t = start(32, 1, 1, 3, 3);
        ImpBuf *to = output(t, "ys", SC_I32, t->n);
        Nat block = t->kernel->block[0], lane = t->kernel->lane;
        ImpBuf *temp = add_buf(t, SPACE_TEMP, "temp", SC_I32, mul(t, t->kernel->grid[0], 1));
        when(t, same(t, lane, K(t, 0)));
        if (kind == 0)
            store(t, temp, K(t, 0), i32(t, 1));
        else if (kind != 3)
            store(t, temp, block, nat(t, block));
        Nat next = nat_mod(t->ctx, add(t, block, K(t, 1)), K(t, 3));
        store(t, to, block, kind == 0 || kind == 3 ? i32(t, 1) : load(t, temp, kind == 4 ? block : kind == 1 ? next : K(t, 1)));
        CHECK(kind < 3 ? finds(t, 0, SIM_RACE) : always(t, 0, -1));
        CHECK(kind != 0 || (t->report.findings.n == 1 && strstr(t->report.findings.at[0].text, "nothing orders blocks") != NULL));
        finish(t);
    }
    /* A second launch comes after all of the first. */
    Test *t = start(32, 1, 1, 4, 4);
    ImpBuf *temp = add_buf(t, SPACE_TEMP, "temp", SC_I32, K(t, 4));
    when(t, same(t, t->kernel->lane, K(t, 0)));
    store(t, temp, t->kernel->block[0], nat(t, add(t, t->kernel->block[0], K(t, 10))));
    add_kernel(t, 32, 1, 1, K(t, 4));
    ImpBuf *to = output(t, "ys", SC_I32, t->n), *again = add_buf(t, SPACE_TEMP, "temp", SC_I32, K(t, 4));
    when(t, same(t, t->kernel->lane, K(t, 0)));
    store(t, to, t->kernel->block[0], load(t, again, nat_sub(t->ctx, K(t, 3), t->kernel->block[0])));
    CHECK(always(t, 0, -1) && result(t, 0, 0) == 13);
    finish(t);
}

static void test_divergent_barriers(void)
{
    for (int kind = 0; kind < 7; kind++) {
        Test *t = start(64, 1, 1, 1, 64);
        ImpBuf *to = output(t, "ys", SC_I32, t->n);
        Nat me = t->kernel->thread[0], warp = t->kernel->warp;
        if (kind == 0) { /* half of each warp */
            when(t, less(t, t->kernel->lane, K(t, 16)));
            sync(t, SYNC_BLOCK);
        } else if (kind == 1) { /* one warp of two */
            when(t, same(t, warp, K(t, 1)));
            sync(t, SYNC_BLOCK);
        } else if (kind == 2) { /* two barriers, one for each */
            ImpStmt *s = when(t, same(t, warp, K(t, 1)));
            sync(t, SYNC_BLOCK);
            otherwise(t, s);
            sync(t, SYNC_BLOCK);
        } else if (kind == 3) { /* trips that depend on the warp */
            loop(t, "i", K(t, 0), add(t, warp, K(t, 2)), K(t, 1));
            sync(t, SYNC_BLOCK);
        } else if (kind == 4) { /* as many barriers for each, in other trips */
            loop(t, "i", K(t, 0), add(t, warp, K(t, 1)), K(t, 1));
            loop(t, "j", K(t, 0), nat_sub(t->ctx, K(t, 2), warp), K(t, 1));
            sync(t, SYNC_BLOCK);
            leave(t);
        } else if (kind == 5) { /* a barrier of the warp under a mask */
            when(t, less(t, t->kernel->lane, K(t, 31)));
            sync(t, SYNC_WARP);
        } else /* trips that depend on the lane */ {
            loop(t, "i", K(t, 0), t->kernel->lane, K(t, 1));
            sync(t, SYNC_WARP);
        }
        leave(t);
        store(t, to, me, i32(t, 1));
        CHECK(always(t, 0, SIM_DIVERGENT_BARRIER));
        finish(t);
    }
    /* Under a condition that all threads of the block share, and in a loop that all run alike, barriers are good. */
    Test *t = start(64, 1, 1, 2, 64);
    ImpBuf *to = output(t, "ys", SC_I32, t->n);
    Nat block = t->kernel->block[0], me = t->kernel->thread[0];
    when(t, same(t, block, K(t, 1)));
    loop(t, "i", block, add(t, t->n, block), K(t, 16));
    sync(t, SYNC_BLOCK);
    when(t, same(t, t->kernel->warp, K(t, 1)));
    sync(t, SYNC_WARP);
    leave(t);
    leave(t);
    store(t, to, me, i32(t, 1));
    CHECK(always(t, 0, -1) && t->report.block_barriers == 4 && t->report.warp_barriers == 4);
    finish(t);
}

static void test_carried(void)
{
    /* Tiles of 64 reversed in shared memory, strided over the grid: the second barrier matters only where a block takes a second tile. */
    static const struct { int drop; int64_t grid; int kind; } cases[] = {
        {-1, 1, -1}, {-1, 2, -1}, {-1, 5, -1}, {-1, 9, -1}, {0, 5, SIM_RACE}, {0, 1, SIM_RACE}, {1, 5, -1}, {1, 9, -1}, {1, 1, SIM_RACE}, {1, 4, SIM_RACE}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        Test *t = start(64, 1, 1, 5, 320);
        ImpBuf *to = output(t, "ys", SC_F32, t->n), *xs = input(t, "xs", SC_F32, t->n), *tile = shared(t, "tile", SC_F32, 64);
        Nat me = t->kernel->thread[0], b = loop(t, "b", t->kernel->block[0], K(t, 5), t->kernel->grid[0]);
        alloc(t, tile);
        store(t, tile, me, load(t, xs, add(t, mul(t, b, 64), me)));
        sync(t, SYNC_BLOCK);
        store(t, to, add(t, mul(t, b, 64), me), load(t, tile, nat_sub(t->ctx, K(t, 63), me)));
        sync(t, SYNC_BLOCK);
        if (cases[c].drop >= 0)
            imp_drop_sync(t->kernel, cases[c].drop);
        CHECK(cases[c].kind < 0 ? always(t, cases[c].grid, -1) : finds(t, cases[c].grid, SIM_RACE));
        if (cases[c].kind < 0)
            CHECK(result(t, 0, 0) == 63 && result(t, 0, 319) == 256);
        finish(t);
    }
}

static void test_reuse(void)
{
    /* Two buffers in the same bytes: the second may be written once all have read the first. */
    for (int kind = 0; kind < 4; kind++) {
        Test *t = start(64, 1, 1, 1, 64);
        ImpBuf *to = output(t, "ys", SC_F64, t->n), *a = shared(t, "a", SC_F32, 64), *b = shared(t, "b", SC_F64, 64);
        a->offset = K(t, 64);
        b->offset = K(t, 0);
        t->kernel->shared_bytes = K(t, 512);
        Nat me = t->kernel->thread[0], mirror = nat_sub(t->ctx, K(t, 63), me);
        ImpVar *x = reg(t, "x", SC_F32, 1);
        alloc(t, a);
        store(t, a, me, imp_cast(t->ctx, SC_F32, nat(t, me), next_span(t)));
        sync(t, SYNC_BLOCK);
        declare(t, x, load(t, a, mirror));
        if (kind != 1)
            sync(t, SYNC_BLOCK);
        alloc(t, b);
        store(t, b, me, imp_cast(t->ctx, SC_F64, get(t, x), next_span(t)));
        sync(t, SYNC_BLOCK);
        ImpExpr *sum = load(t, b, mirror);
        if (kind == 2)
            sum = op(t, P_add, sum, imp_cast(t->ctx, SC_F64, load(t, a, K(t, 1)), next_span(t)));
        store(t, to, me, sum);
        if (kind == 3) { /* the second life of a: what it held in the first is gone */
            alloc(t, a);
            store(t, to, me, imp_cast(t->ctx, SC_F64, load(t, a, me), next_span(t)));
        }
        CHECK(kind == 0 ? always(t, 0, -1) : kind == 1 ? finds(t, 0, SIM_RACE) : always(t, 0, SIM_UNWRITTEN));
        if (kind == 0)
            CHECK(result(t, 0, 5) == 5);
        finish(t);
    }
    /* Neighbouring bytes are different cells. A buffer outside of the block's memory is refused. */
    Test *t = start(64, 1, 1, 1, 64);
    ImpBuf *to = output(t, "ys", SC_I8, t->n), *c = shared(t, "c", SC_I8, 64), *d = shared(t, "d", SC_F64, 3);
    Nat me = t->kernel->thread[0];
    store(t, c, me, imp_cast(t->ctx, SC_I8, nat(t, me), next_span(t)));
    store(t, to, me, load(t, c, me));
    CHECK(always(t, 0, -1) && result(t, 0, 63) == 63);
    d->offset = K(t, 16);
    t->kernel->shared_bytes = K(t, 32);
    CHECK(!run_on(t, 1, 0) && t->ctx->diags.errors > 0);
    finish(t);
    /* In a loop: each trip is a life of the buffer, unless it came into use before the loop. */
    for (int inside = 0; inside < 2; inside++) {
        t = start(32, 1, 1, 1, 32);
        to = output(t, "ys", SC_I32, t->n);
        c = shared(t, "c", SC_I32, 32);
        me = t->kernel->thread[0];
        if (!inside)
            alloc(t, c);
        Nat i = loop(t, "i", K(t, 0), K(t, 2), K(t, 1));
        if (inside)
            alloc(t, c);
        when(t, same(t, i, K(t, 0)));
        store(t, c, me, i32(t, 5));
        leave(t);
        store(t, to, me, load(t, c, me));
        CHECK(always(t, 0, inside ? SIM_UNWRITTEN : -1));
        finish(t);
    }
}

static void test_overlap(void)
{
    /* Thread 0 writes cell i of an f64 buffer, thread 1 cell j of an i32 buffer, or of bytes, in the same memory: a race where bytes meet. */
    for (int bytes = 1; bytes <= 4; bytes += 3)
        for (int offset = 0; offset <= 8; offset += 8)
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 16 / bytes; j++) {
                    Test *t = start(32, 1, 1, 1, 32);
                    output(t, "ys", SC_I32, K(t, 0));
                    ImpBuf *a = shared(t, "a", bytes == 1 ? SC_U8 : SC_I32, 16 / bytes), *b = shared(t, "b", SC_F64, 3);
                    a->offset = K(t, offset);
                    b->offset = K(t, 0);
                    t->kernel->shared_bytes = K(t, 24);
                    ImpStmt *s = when(t, same(t, t->kernel->lane, K(t, 0)));
                    store(t, b, K(t, i), imp_cast(t->ctx, SC_F64, i32(t, 1), next_span(t)));
                    otherwise(t, s);
                    when(t, same(t, t->kernel->lane, K(t, 1)));
                    store(t, a, K(t, j), imp_cast(t->ctx, a->elem, i32(t, 1), next_span(t)));
                    int at = offset + j * bytes;
                    run_on(t, 1, 0);
                    CHECK(found(t, SIM_RACE) == (at / 8 == i) && t->report.findings.n == found(t, SIM_RACE));
                    finish(t);
                }
}

/* A warp reads a cell twice, with a barrier of its own between, and writes it; another warp reads it somewhen. */
static void test_forgotten_reader(void)
{
    Test *t = start(64, 1, 1, 1, 1);
    output(t, "ys", SC_I32, K(t, 0));
    ImpBuf *cell = shared(t, "cell", SC_I32, 1);
    ImpVar *x = reg(t, "x", SC_I32, 1);
    Nat me = t->kernel->thread[0], zero = K(t, 0);
    declare(t, x, i32(t, 0));
    when(t, same(t, me, zero));
    store(t, cell, zero, i32(t, 1));
    leave(t);
    sync(t, SYNC_BLOCK);
    ImpStmt *s = when(t, same(t, t->kernel->warp, zero));
    for (int k = 0; k < 3; k++) {
        set(t, x, NULL, load(t, cell, zero));
        sync(t, SYNC_WARP);
    }
    when(t, same(t, me, zero));
    store(t, cell, zero, i32(t, 2));
    leave(t);
    otherwise(t, s);
    set(t, x, NULL, load(t, cell, zero));
    leave(t);
    CHECK(always(t, 0, SIM_RACE));
    finish(t);
}

static void test_same_instruction(void)
{
    /* 0: all lanes write one cell; 1: lanes 3 and 7 do, in two instructions; 2: with a barrier between; 3: one lane, twice. */
    for (int kind = 0; kind < 4; kind++) {
        Test *t = start(32, 1, 1, 1, 32);
        ImpBuf *to = output(t, "ys", SC_I32, K(t, 1));
        Nat lane = t->kernel->lane;
        if (kind == 0)
            store(t, to, K(t, 0), nat(t, lane));
        for (int k = 0; kind > 0 && k < 2; k++) {
            when(t, same(t, lane, K(t, k && kind < 3 ? 7 : 3)));
            store(t, to, K(t, 0), i32(t, k));
            leave(t);
            if (kind == 2)
                sync(t, SYNC_WARP);
        }
        CHECK(always(t, 0, kind < 2 ? SIM_RACE : -1));
        if (kind < 2) {
            const SimFinding *f = &t->report.findings.at[0];
            CHECK(f->other_thread == (kind ? 3 : 0) && f->thread == (kind ? 7 : 1) && f->other.lo != 0 && strcmp(f->buffer, "ys") == 0);
        }
        finish(t);
    }
}

static void test_registers(void)
{
    Test *t = start(32, 1, 1, 1, 32);
    ImpBuf *to = output(t, "ys", SC_I32, K(t, 32));
    ImpVar *v = reg(t, "v", SC_I32, 4);
    Nat lane = t->kernel->lane, slot = nat_mod(t->ctx, lane, K(t, 4));
    declare(t, v, NULL);
    Nat k = loop(t, "k", K(t, 0), K(t, 4), K(t, 1));
    set(t, v, k, nat(t, add(t, mul(t, k, 100), lane)));
    leave(t);
    store(t, to, lane, imp_var(t->ctx, v, slot, next_span(t)));
    CHECK(always(t, 0, -1) && result(t, 0, 6) == 206 && result(t, 0, 31) == 331);
    finish(t);
    /* 0: a slot too many; 1: a slot that was not set; 2: a register set in some lanes; 3: one declared anew in each trip; 4: a slot out of range, set */
    for (int kind = 0; kind < 5; kind++) {
        t = start(32, 1, 1, 1, 32);
        to = output(t, "ys", SC_I32, K(t, 32));
        v = reg(t, "v", SC_I32, kind == 2 || kind == 3 ? 1 : 4);
        lane = t->kernel->lane;
        slot = nat_mod(t->ctx, lane, K(t, 5));
        if (kind < 3 || kind == 4)
            declare(t, v, NULL);
        if (kind == 2)
            when(t, less(t, lane, K(t, 31)));
        k = loop(t, "k", K(t, 0), K(t, kind == 1 ? 3 : kind == 3 ? 2 : kind == 2 ? 1 : 4), K(t, 1));
        if (kind == 3) {
            declare(t, v, NULL);
            when(t, same(t, k, K(t, 0)));
        }
        set(t, v, kind == 4 ? nat_add_k(t->ctx, k, 1) : kind < 2 ? k : NULL, nat(t, lane));
        if (kind == 3)
            leave(t);
        if (kind == 3)
            store(t, to, lane, get(t, v));
        leave(t);
        if (kind == 2)
            leave(t);
        if (kind != 3)
            store(t, to, lane, kind == 2 ? get(t, v) : imp_var(t->ctx, v, kind == 4 ? K(t, 1) : nat_mod(t->ctx, lane, K(t, kind ? 4 : 5)), next_span(t)));
        CHECK(always(t, 0, kind == 0 || kind == 4 ? SIM_OUT_OF_BOUNDS : SIM_REGISTER_UNSET));
        finish(t);
    }
}

static void test_scopes(void)
{
    /* Declared with a value, but in a block that not all lanes went through. */
    for (int all = 0; all < 2; all++) {
        Test *t = start(32, 1, 1, 1, 32);
        ImpBuf *to = output(t, "ys", SC_I32, K(t, 32));
        ImpVar *v = reg(t, "v", SC_I32, 1);
        Nat lane = t->kernel->lane;
        when(t, less(t, lane, K(t, all ? 32 : 31)));
        declare(t, v, nat(t, lane));
        leave(t);
        store(t, to, lane, get(t, v));
        CHECK(always(t, 0, all ? -1 : SIM_REGISTER_UNSET) && (all || t->report.findings.at[0].thread == 31));
        finish(t);
    }
}

/* Vector accesses. 0: right; 1: an index that is no multiple; 2: a buffer that is not aligned; 3: beyond the end; 4: a race of two halves;
 * 5: a register that is set from its own components, all read before. */
static void test_vectors(void)
{
    for (int kind = 0; kind < 6; kind++) {
        Test *t = start(32, 1, 1, 1, 128);
        ImpBuf *to = output(t, "ys", SC_F32, K(t, 128)), *xs = input(t, "xs", SC_F32, t->n), *tile = shared(t, "tile", SC_F32, 128);
        ImpVar *v = reg(t, "v", SC_F32, 4);
        Nat lane = t->kernel->lane, at = mul(t, lane, 4);
        v->vector = true;
        to->align = xs->align = 16;
        tile->align = kind == 2 ? 8 : 16;
        tile->offset = K(t, 0);
        t->kernel->shared_bytes = K(t, 512);
        alloc(t, tile);
        ImpStmt *s = stmt(t, IS_VLOAD);
        s->vec.var = v;
        s->vec.buf = xs;
        s->vec.index = kind == 3 ? add(t, at, K(t, 4)) : at;
        s->vec.n = 4;
        s->vec.declares = true;
        if (kind == 5) {
            s = stmt(t, IS_VSET);
            s->vec.var = v;
            s->vec.n = 4;
            for (int k = 0; k < 4; k++)
                s->vec.values[k] = imp_var(t->ctx, v, K(t, 3 - k), next_span(t));
        }
        s = stmt(t, IS_VSTORE);
        s->vec.buf = tile;
        s->vec.index = kind == 1 ? nat_min(t->ctx, add(t, at, K(t, 2)), K(t, 124)) : kind == 4 ? nat_mod(t->ctx, at, K(t, 64)) : at;
        s->vec.n = 4;
        for (int k = 0; k < 4; k++)
            s->vec.values[k] = imp_var(t->ctx, v, K(t, k), next_span(t));
        for (int k = 0; k < 4; k++)
            store(t, to, add(t, at, K(t, k)), load(t, tile, add(t, kind == 4 ? nat_mod(t->ctx, at, K(t, 64)) : at, K(t, 3 - k))));
        static const int kinds[] = {-1, SIM_MISALIGNED, SIM_MISALIGNED, SIM_OUT_OF_BOUNDS, SIM_RACE, -1};
        if (kind == 1) { /* stores that overlap race as well */
            run_on(t, 0, 0);
            CHECK(!t->good && found(t, SIM_MISALIGNED) > 0);
        } else
            CHECK(always(t, 0, kinds[kind]));
        if (kind == 0)
            CHECK(t->report.global_loads == 128 && t->report.shared_stores == 128);
        finish(t);
    }
}

/* Stores that may meet each other in a cell: 0: they do; 1: the same without that mark; 2: another store meets them. */
static void test_unordered(void)
{
    for (int kind = 0; kind < 3; kind++) {
        Test *t = start(64, 1, 1, 1, 4);
        ImpBuf *to = output(t, "ys", SC_I32, K(t, 4));
        ImpStmt *s = stmt(t, IS_STORE);
        s->store.buf = to;
        s->store.index = nat_mod(t->ctx, t->kernel->thread[0], K(t, 4));
        s->store.value = i32(t, 1);
        s->store.unordered = kind != 1;
        if (kind == 2) {
            when(t, less(t, t->kernel->thread[0], K(t, 1)));
            store(t, to, K(t, 1), i32(t, 2));
        }
        CHECK(always(t, 0, kind == 0 ? -1 : SIM_RACE));
        finish(t);
    }
}

static void test_indices(void)
{
    /* 0: divisor 0; 1: log2 of 0; 2: 64 bits; 3: a loop without a step; 4: a loop beyond 32 bits; 5: the same faults where no lane is; 6: power */
    for (int kind = 0; kind < 7; kind++) {
        Test *t = start(32, 1, 1, 1, 5);
        ImpBuf *to = output(t, "ys", SC_I32, K(t, 32));
        Ctx *ctx = t->ctx;
        Nat lane = t->kernel->lane, index = lane, five = nat_sub(ctx, t->n, K(t, 5));
        Nat faults[] = {nat_div(ctx, lane, five), nat_log2(ctx, mul(t, lane, 2)), nat_mul(ctx, mul(t, lane, INT64_MAX / 8), t->n)};
        store(t, to, lane, i32(t, 0));
        if (kind == 5)
            when(t, less(t, lane, five));
        if (kind < 3 || kind == 5)
            index = add(t, lane, kind == 5 ? add(t, faults[0], faults[1]) : faults[kind]);
        else if (kind == 3)
            loop(t, "i", K(t, 0), K(t, 3), add(t, five, nat_min(ctx, lane, K(t, 1))));
        else if (kind == 4)
            loop(t, "i", lane, K(t, INT32_MAX), K(t, 1 << 30));
        else
            index = nat_mod(ctx, nat_pow(ctx, nat_add_k(ctx, lane, 2), mul(t, t->n, 13)), K(t, 32));
        store(t, to, lane, nat(t, index));
        if (kind == 6) /* no kernel takes it */
            CHECK(!run_on(t, 0, 0) && t->report.findings.n == 0 && t->ctx->diags.list.at[0]->code == E0602);
        else
            CHECK(always(t, 0, kind == 5 ? -1 : SIM_ARITHMETIC));
        finish(t);
    }
    /* A value that becomes an index, below its size or not. */
    for (int bad = 0; bad < 2; bad++) {
        Test *t = start(32, 1, 1, 1, 32);
        ImpBuf *to = output(t, "ys", SC_I32, K(t, 32)), *xs = input(t, "xs", SC_I32, t->n);
        ImpVar *i = reg(t, "i", SC_I32, 1);
        i->nat = nat_var(t->ctx, "i", K(t, 0), nat_add_k(t->ctx, t->n, -1));
        declare(t, i, op(t, P_mul, load(t, xs, t->kernel->lane), i32(t, bad ? 2 : 1)));
        Nat at = i->nat;
        store(t, to, bad ? t->kernel->lane : at, nat(t, mul(t, at, 3)));
        CHECK(always(t, 0, bad ? SIM_INDEX_VALUE : -1) && result(t, 0, 4) == (bad ? 24 : 12));
        finish(t);
    }
    /* Negative dividends round down. */
    Test *t = start(32, 1, 1, 1, 7);
    ImpBuf *to = output(t, "ys", SC_I32, K(t, 32));
    Nat lane = t->kernel->lane, x = nat_add_k(t->ctx, lane, -16);
    Nat y = add(t, mul(t, nat_div(t->ctx, x, t->n), 1000), nat_mod(t->ctx, mul(t, x, 3), K(t, 5)));
    y = add(t, y, add(t, mul(t, nat_div(t->ctx, x, K(t, 8)), 100), mul(t, nat_mod(t->ctx, x, K(t, 4)), 10)));
    store(t, to, lane, nat(t, y));
    CHECK(always(t, 0, -1));
    for (int i = 0; i < 32; i++)
        CHECK(result(t, 0, i) == (double)(floor_div(i - 16, 7) * 1000 + floor_mod(3 * (i - 16), 5) + floor_div(i - 16, 8) * 100 + i % 4 * 10));
    finish(t);
}

static void test_limits(void)
{
    Test *t = start(64, 1, 1, 1, 64);
    ImpBuf *to = output(t, "ys", SC_I32, t->n), *big = shared(t, "big", SC_F64, 29056);
    store(t, to, t->kernel->thread[0], i32(t, 1));
    CHECK(run_on(t, 1, 0)); /* 227 KiB are a block's */
    big->count = K(t, 29057);
    CHECK(!run_on(t, 1, 0) && t->report.findings.n == 0 && t->ctx->diags.list.at[0]->code == E0641);
    big->count = K(t, INT64_MAX);
    CHECK(!run_on(t, 1, 0));
    finish(t);
    t = start(2048, 1, 1, 1, 64);
    to = output(t, "ys", SC_I32, t->n);
    CHECK(!run_on(t, 1, 0) && t->ctx->diags.list.at[0]->code == E0641);
    finish(t);
    t = start(48, 1, 1, 1, 64);
    to = output(t, "ys", SC_I32, t->n);
    CHECK(!run_on(t, 1, 0) && t->ctx->diags.list.at[0]->code == E0510);
    finish(t);
    t = start(32, 1, 1, 1, (int64_t)1 << 31);
    to = output(t, "ys", SC_I32, K(t, 1));
    add_buf(t, SPACE_TEMP, "temp", SC_U8, t->n);
    CHECK(!run_on(t, 1, 0) && t->ctx->diags.list.at[0]->code == E0642);
    finish(t);
    t = start(32, 1, 1, 1, (int64_t)1 << 30);
    to = output(t, "ys", SC_I32, K(t, 1));
    add_buf(t, SPACE_TEMP, "temp", SC_U8, t->n);
    CHECK(!run_on(t, 1, 0) && t->ctx->diags.list.at[0]->code == E0644);
    finish(t);
    /* A bound on the work; findings stop a run, and each pair of places counts once. */
    t = start(32, 1, 1, 1, 32);
    to = output(t, "ys", SC_I32, K(t, 1));
    loop(t, "i", K(t, 0), K(t, INT32_MAX - 1), K(t, 1));
    store(t, to, K(t, 0), i32(t, 1));
    SimOptions few = {.seed = 1, .max_steps = 1000};
    CHECK(!sim_run(t->ctx, &t->program, &t->launch, &few, &t->report) && t->report.findings.n == 1 && t->report.warp_instructions <= 1001);
    CHECK(t->ctx->diags.list.at[0]->code == E0643 && t->report.findings.at[0].times > 31);
    few.max_findings = 1;
    CHECK(!sim_run(t->ctx, &t->program, &t->launch, &few, &t->report) && t->report.findings.n == 1 && t->report.findings.at[0].times == 31);
    int before = t->ctx->diags.errors;
    sim_diagnose(t->ctx, &t->report);
    CHECK(t->ctx->diags.errors == before + 1);
    StrBuf text;
    sb_init(&text, t->ctx);
    diag_render(t->ctx, &text, false);
    CHECK(strstr(text.text, "E0613") && strstr(text.text, "writes ys[0], which thread 0 of block 0 wrote; no barrier"));
    finish(t);
    /* A register whose nat nobody bound. */
    t = start(32, 1, 1, 1, 32);
    to = output(t, "ys", SC_I32, K(t, 1));
    store(t, to, nat_var(t->ctx, "lost", NULL, NULL), i32(t, 1));
    CHECK(!run_on(t, 1, 0) && t->ctx->diags.list.at[0]->code == E0510);
    finish(t);
    /* One thread alone: barriers and loads as everywhere. */
    t = start(1, 1, 1, 2, 2);
    to = output(t, "ys", SC_I32, t->n);
    ImpBuf *cell = shared(t, "cell", SC_I32, 1);
    store(t, cell, K(t, 0), i32(t, 4));
    sync(t, SYNC_BLOCK);
    sync(t, SYNC_WARP);
    store(t, to, t->kernel->block[0], load(t, cell, K(t, 0)));
    CHECK(always(t, 0, -1) && result(t, 0, 1) == 4);
    CHECK(always(t, 1, SIM_OUTPUT_UNWRITTEN));
    finish(t);
}

/* ---- against a brute-force detector ------------------------------------------------------------------------------------ */

typedef struct Access {
    int block, thread, cell;
    bool write;
    int era, epoch; /* barriers of the block, and of its warp or block, before it */
} Access;

static bool racy(const Access *a, const Access *b, bool global)
{
    if (a->cell != b->cell || !(a->write || b->write) || (a->block == b->block && a->thread == b->thread))
        return false;
    if (a->block != b->block)
        return global;
    if (a->thread / 32 != b->thread / 32)
        return a->era == b->era;
    return a->epoch == b->epoch;
}

/* Random accesses by few threads of few warps to few cells, with barriers strewn in. */
static void test_random_races(void)
{
    enum { ROUNDS = 4000, CELLS = 2, BLOCKS = 2 };
    uint64_t random = 12345;
    int races = 0, clean = 0, missed = 0, invented = 0;
    for (int round = 0; round < ROUNDS; round++) {
        bool global = round % 2;
        int length = 2 + (int)(next_random(&random) % (round % 8 ? 5 : 14)), n = 0, epoch[3] = {0}, era = 0;
        Access all[1024];
        Test *t = start(96, 1, 1, BLOCKS, 1);
        output(t, "ys", SC_I32, K(t, 0));
        ImpBuf *b = global ? add_buf(t, SPACE_TEMP, "cells", SC_I32, K(t, CELLS * BLOCKS)) : shared(t, "cells", SC_I32, CELLS * BLOCKS);
        ImpVar *x = reg(t, "x", SC_I32, 1);
        declare(t, x, i32(t, 0));
        for (int k = 0; k < length; k++) {
            uint64_t r = next_random(&random);
            if (r % 4 == 0) {
                sync(t, SYNC_BLOCK);
                era++;
                for (int w = 0; w < 3; w++)
                    epoch[w]++;
                continue;
            }
            if (r % 4 == 1) {
                int w = (int)((r >> 8) % 3);
                when(t, same(t, t->kernel->warp, K(t, w)));
                sync(t, SYNC_WARP);
                leave(t);
                epoch[w]++;
                continue;
            }
            /* lanes lo .. lo + wide - 1 of a warp, in one block or in both, one cell (of the block's own, mostly) */
            bool write = (r >> 8) % 3 == 0, both = (r >> 16) % 8 != 0, own = (r >> 20) % 16 != 0;
            int w = (int)((r >> 24) % 4) / 2, lo = (int)((r >> 28) % 2), wide = (r >> 32) % 3 == 0 ? 2 : 1, cell = (int)((r >> 36) % 4) / 3;
            int block = (int)((r >> 40) % BLOCKS);
            Nat lane = t->kernel->lane, at = own ? add(t, mul(t, t->kernel->block[0], CELLS), K(t, cell)) : K(t, cell);
            ImpExpr *who = op(t, P_and, same(t, t->kernel->warp, K(t, w)), op(t, P_and, op(t, P_le, nat(t, K(t, lo)), nat(t, lane)), less(t, lane, K(t, lo + wide))));
            when(t, both ? who : op(t, P_and, who, same(t, t->kernel->block[0], K(t, block))));
            if (write)
                store(t, b, at, i32(t, k));
            else
                set(t, x, NULL, load(t, b, at));
            leave(t);
            for (int g = 0; g < BLOCKS; g++)
                for (int l = lo; l < lo + wide && (both || g == block); l++)
                    all[n++] = (Access){g, w * 32 + l, own ? g * CELLS + cell : cell, write, era, epoch[w]};
        }
        bool want = false;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < i; j++)
                want = want || racy(&all[i], &all[j], global);
        for (uint64_t seed = 0; seed < 4; seed++) {
            run_on(t, seed ? next_random(&random) | 1 : 0, 0);
            bool got = found(t, SIM_RACE) > 0;
            missed += want && !got;
            invented += got && !want;
            CHECK(found(t, SIM_RACE) + found(t, SIM_UNWRITTEN) == t->report.findings.n);
        }
        races += want;
        clean += !want;
        finish(t);
    }
    CHECK(missed == 0);
    CHECK(invented == 0);
    CHECK(races > ROUNDS / 10 && clean > ROUNDS / 10);
}

int main(void)
{
    test_bounds();
    test_unwritten();
    test_blocks();
    test_divergent_barriers();
    test_carried();
    test_reuse();
    test_overlap();
    test_forgotten_reader();
    test_same_instruction();
    test_registers();
    test_scopes();
    test_indices();
    test_vectors();
    test_unordered();
    test_limits();
    test_random_races();
    printf("sim faults: %ld checks, %ld wrong\n", unit_checks, unit_failures);
    return unit_failures != 0;
}
