/* imp_verify on kernels built by hand: each sound one is taken, and with a fault planted in it, it
 * is refused in the words for that fault. */
#include "codegen/imp_verify.h"

#include "build_kernel.h"

static bool is_sound(Test *t)
{
    Span where;
    const char *fault = imp_verify(t->ctx, t->kernel, &where);
    if (fault)
        printf("  refused: %s\n", fault);
    return !fault;
}

static bool says(Test *t, const char *words)
{
    Span where;
    const char *fault = imp_verify(t->ctx, t->kernel, &where);
    bool good = fault && strstr(fault, words) && where.file;
    if (!good)
        printf("  wanted \"%s\", got \"%s\"\n", words, fault ? fault : "nothing");
    return good;
}

/* The kernel of test number `fault`: 0 is sound. */
typedef void (*Build)(Test *t, int fault);

/* wanted[fault - 1] is what is said. */
static void try_all(Build build, int n, const char *const *wanted)
{
    for (int fault = 0; fault <= n; fault++) {
        Test *t = start(32, 1, 1, 1, 32);
        build(t, fault);
        CHECK(fault ? says(t, wanted[fault - 1]) : is_sound(t));
        finish(t);
    }
}

static ImpExpr *lit(Test *t, Scalar type)
{
    return imp_lit(t->ctx, scalar_int(type, 1), next_span(t));
}

/* An expression whose type is not what its parts make it. */
static ImpExpr *of_type(ImpExpr *e, Scalar type)
{
    e->type = type;
    return e;
}

/* ---- types ----------------------------------------------------------------------------------- */

static void expressions(Test *t, int fault)
{
    Ctx *ctx = t->ctx;
    ImpBuf *xs = input(t, "xs", SC_F32, t->n), *ys = output(t, "ys", SC_F32, t->n);
    Nat me = t->kernel->thread[0];
    ImpExpr *a = load(t, xs, me), *b = f32(t, 2), *yes = lit(t, SC_BOOL);
    ImpExpr *sum = imp_op2(ctx, P_add, SC_F32, a, fault == 1 ? i32(t, 2) : b, next_span(t));
    ImpExpr *cond = imp_cond(ctx, fault == 3 ? i32(t, 1) : yes, sum,
                             fault == 4 ? lit(t, SC_F64) : b, next_span(t));
    ImpExpr *root = imp_op(ctx, P_sqrt, SC_F32, 1, (ImpExpr *[]){cond}, next_span(t));
    if (fault == 2)
        root = imp_cast(ctx, SC_F32, of_type(sum, SC_I32), next_span(t));
    if (fault == 5)
        root = imp_cast(ctx, SC_F32,
                        imp_op(ctx, P_sqrt, SC_I32, 1, (ImpExpr *[]){i32(t, 4)}, next_span(t)),
                        next_span(t));
    if (fault == 6)
        root = imp_op(ctx, P_fma, SC_F32, 2, (ImpExpr *[]){a, b}, next_span(t));
    if (fault == 7)
        root = imp_op2(ctx, P_lt, SC_F32, a, b, next_span(t));
    if (fault == 8)
        root = of_type(load(t, xs, me), SC_F64);
    if (fault == 9)
        root = imp_op(ctx, P_select, SC_F32, 3, (ImpExpr *[]){a, a, b}, next_span(t));
    if (fault == 10)
        root = imp_shfl_by(ctx, P_shflXor, b, a, next_span(t));
    if (fault == 11)
        root = imp_reduce_warp(ctx, P_add, a, next_span(t));
    if (fault == 12)
        root = imp_op2(ctx, P_split, SC_F32, a, b, next_span(t));
    store(t, ys, me, fault == 13 ? i32(t, 3) : root);
}

static void test_expressions(void)
{
    static const char *const wanted[] = {"an operand of `+` is of type i32, not f32",
                                         "the value of `+` is of type i32, not f32",
                                         "a condition is of type i32, not bool",
                                         "the other side of a choice is of type f64, not f32",
                                         "`sqrt` is applied to values of type i32",
                                         "`fma` has 2 operands",
                                         "the value of `<` is of type f32, not bool",
                                         "a cell of `xs` is of type f32, not f64",
                                         "an operand of `select` is of type f32, not bool",
                                         "the distance of a shuffle is no integer",
                                         "a warp reduces values of type f32 by `+`",
                                         "`split` is no operation",
                                         "what is kept in a cell of `ys` is of type i32, not f32"};
    try_all(expressions, 13, wanted);
}

static void statements(Test *t, int fault)
{
    ImpBuf *xs = input(t, "xs", SC_F32, t->n), *ys = output(t, "ys", SC_F32, t->n);
    ImpBuf *flag = shared(t, "flag", fault == 1 ? SC_I32 : SC_BOOL, 1);
    ImpBuf *ticket = add_buf(t, SPACE_TEMP, "ticket", fault == 2 ? SC_I32 : SC_U32, K(t, 1));
    Nat me = t->kernel->thread[0];
    ImpVar *x = reg(t, "x", SC_F32, 1), *old = reg(t, "old", fault == 3 ? SC_I32 : SC_F32, 1);
    declare(t, x, fault == 4 ? i32(t, 1) : f32(t, 1));
    set(t, x, NULL, fault == 5 ? lit(t, SC_BOOL) : f32(t, 1));
    when(t, fault == 6 ? f32(t, 1) : same(t, me, K(t, 0)));
    ImpStmt *s = stmt(t, IS_TICKET);
    s->ticket.buf = ticket;
    s->ticket.flag = flag;
    leave(t);
    s = stmt(t, IS_ATOMIC);
    s->atomic.buf = ys;
    s->atomic.index = K(t, 0);
    s->atomic.old = old;
    s->atomic.value = fault == 7 ? i32(t, 1) : load(t, xs, me);
}

static void test_statements(void)
{
    static const char *const wanted[] = {"a cell of `flag` is of type bool, not i32",
                                         "a cell of `ticket` is of type u32, not i32",
                                         "a cell of `ys` is of type i32, not f32",
                                         "what is kept in `x` is of type i32, not f32",
                                         "what is kept in `x` is of type bool, not f32",
                                         "a condition is of type f32, not bool",
                                         "a cell of `ys` is of type i32, not f32"};
    try_all(statements, 7, wanted);
}

/* ---- registers ------------------------------------------------------------------------------- */

static void registers(Test *t, int fault)
{
    ImpBuf *xs = input(t, "xs", SC_F32, t->n), *ys = output(t, "ys", SC_F32, t->n);
    Nat me = t->kernel->thread[0];
    ImpVar *acc = reg(t, "acc", SC_F32, 1), *x = reg(t, "x", SC_F32, 1),
           *two = reg(t, "two", SC_F32, 2), *late = reg(t, "late", SC_F32, 1);
    ImpVar *at = reg(t, "at", SC_I32, 1);
    at->constant = x->constant = true;
    at->nat = nat_var(t->ctx, "at", K(t, 0), NULL);
    if (fault != 1)
        declare(t, acc, f32(t, 0));
    declare(t, two, NULL);
    declare(t, late, NULL);
    if (fault == 2)
        set(t, acc, NULL, imp_var(t->ctx, two, K(t, 0), next_span(t)));
    Nat i = loop(t, "i", K(t, 0), K(t, 4), K(t, 1));
    when(t, less(t, K(t, 0), i)); /* what the trip before has set */
    set(t, acc, NULL, get(t, late));
    leave(t);
    if (fault != 3)
        set(t, late, NULL, f32(t, 1));
    declare(t, x, load(t, xs, me));
    if (fault == 4)
        declare(t, x, f32(t, 1));
    if (fault == 5)
        set(t, x, NULL, f32(t, 1));
    if (fault != 6)
        declare(t, at, nat(t, add(t, me, i)));
    set(t, two, fault == 7 ? K(t, 2) : K(t, 1), load(t, xs, at->nat));
    leave(t);
    store(t, ys, fault == 8 ? i : fault == 9 ? at->nat : me, fault == 10 ? get(t, x) : get(t, acc));
    if (fault == 11) {
        ImpBuf *other = NEW(t->ctx, ImpBuf);
        *other = *ys;
        store(t, other, me, f32(t, 0));
    }
}

static void test_registers(void)
{
    static const char *const wanted[] = {"`acc` is used before it is known",
                                         "`two` is read before it has a value",
                                         "`late` is read before it has a value",
                                         "`x` is declared again while it is known",
                                         "`x` is a constant, and set after its declaration",
                                         "`at` is used before it is known",
                                         "`two` has 2 slots, and number 2 is used",
                                         "`i` is used before it is known",
                                         "`at` is used before it is known",
                                         "`x` is used before it is known",
                                         "`ys` is no buffer of this kernel"};
    try_all(registers, 11, wanted);
}

/* ---- vectors --------------------------------------------------------------------------------- */

static void move(Test *t, ImpBuf *from, ImpBuf *to, Nat index, int n, int slots)
{
    ImpVar *v = reg(t, "v", from->elem, slots);
    v->vector = true;
    ImpStmt *s = stmt(t, IS_VLOAD);
    s->vec.var = v;
    s->vec.buf = from;
    s->vec.index = index;
    s->vec.n = n;
    s->vec.declares = true;
    s = stmt(t, IS_VSTORE);
    s->vec.buf = to;
    s->vec.index = index;
    s->vec.n = n;
    for (int k = 0; k < n && k < IMP_VECTOR_MAX; k++)
        s->vec.values[k] = imp_var(t->ctx, v, K(t, k), next_span(t));
}

/* xs[base + i + n*k ..] in a loop from 4*thread in steps of 128, where n is a multiple of 4 and
 * base a register for 64*block. */
static void vectors(Test *t, int fault)
{
    Ctx *ctx = t->ctx;
    ImpBuf *xs = input(t, "xs", SC_F32, mul(t, t->n, 8)),
           *ys = output(t, "ys", SC_F32, mul(t, t->n, 8));
    Nat me = t->kernel->thread[0];
    NatFacts *facts = nat_facts_new(ctx, NULL);
    if (fault != 1)
        nat_fact_eq(ctx, facts, nat_mod(ctx, t->n, K(t, 4)), K(t, 0));
    t->kernel->known = facts;
    xs->align = fault == 2 ? 8 : 16;
    ys->align = 16;
    if (fault == 3) {
        xs->space = SPACE_SHARED;
        xs->offset = K(t, 8);
    }
    ImpVar *base = reg(t, "base", SC_I32, 1);
    base->constant = fault != 4;
    base->nat = nat_var(ctx, "base", K(t, 0), NULL);
    declare(t, base, nat(t, mul(t, t->kernel->block[0], fault == 5 ? 66 : 64)));
    Nat i = loop(t, "i", mul(t, me, fault == 6 ? 2 : 4), K(t, 1024), K(t, fault == 7 ? 126 : 128));
    Nat k = loop(t, "k", K(t, 0), K(t, 8), K(t, 1));
    Nat index = add(t, add(t, base->nat, i), nat_mul(ctx, t->n, k));
    move(t, xs, ys, fault == 8 ? nat_add_k(ctx, index, 2) : index, 4, fault == 9 ? 2 : 4);
    leave(t);
    leave(t);
}

static void test_vectors(void)
{
    static const char *const start_of =
        "a vector of 4 cells of `xs` may not start at a multiple of 4: at";
    const char *const wanted[] = {start_of,
                                  "`xs` is not aligned to the 16 bytes",
                                  "`xs` is not aligned to the 16 bytes",
                                  start_of,
                                  start_of,
                                  start_of,
                                  start_of,
                                  start_of,
                                  "`v` is no vector of 4 components"};
    try_all(vectors, 9, wanted);
}

/* What a condition around the access says is believed, on its own side. */
static void vectors_where(Test *t, int fault)
{
    ImpBuf *xs = input(t, "xs", SC_F32, mul(t, t->n, 8)),
           *ys = output(t, "ys", SC_F32, mul(t, t->n, 8));
    xs->align = ys->align = 16;
    when(t, same(t, t->kernel->thread[0], K(t, 0)));
    ImpStmt *s = when(t, same(t, nat_mod(t->ctx, t->n, K(t, 4)), K(t, 0)));
    if (fault)
        otherwise(t, s);
    move(t, xs, ys, t->n, 4, 4);
    leave(t);
    leave(t);
}

static void test_vectors_where(void)
{
    static const char *const wanted[] = {
        "a vector of 4 cells of `xs` may not start at a multiple of 4: at n"};
    try_all(vectors_where, 1, wanted);
}

/* ---- who gets there ---------------------------------------------------------------------------
 */

/* One thread of 64 sets a cell, all wait for it, each warp's first lane stores a vector, all lanes
 * exchange. */
static void writers(Test *t, int fault)
{
    Ctx *ctx = t->ctx;
    ImpKernel *k = t->kernel;
    Nat me = k->thread[0], warp = k->warp, lane = k->lane;
    ImpBuf *ys = output(t, "ys", SC_F32, mul(t, t->n, 8)), *cell = shared(t, "cell", SC_F32, 2);
    ImpBuf *mail = add_buf(t, SPACE_TEMP, "mail", SC_U64, K(t, 1));
    ys->align = 16;
    when(t, fault == 1 ? less(t, K(t, 2), t->n) : same(t, me, K(t, 0)));
    store(t, cell, K(t, 0), f32(t, 1));
    ImpStmt *give = stmt(t, IS_GIVE);
    give->exchange.mail = mail;
    give->exchange.index = K(t, 0);
    give->exchange.value = f32(t, 1);
    leave(t);
    if (fault == 3 || fault == 4)
        when(t, less(t, me, K(t, 40)));
    sync(t, fault == 4 ? SYNC_WARP : SYNC_BLOCK);
    if (fault == 3 || fault == 4)
        leave(t);
    if (fault != 5)
        when(t, same(t, lane, K(t, 0)));
    ImpVar *v = reg(t, "v", SC_F32, 4);
    v->vector = true;
    ImpStmt *s = stmt(t, IS_VSET);
    s->vec.var = v;
    s->vec.n = 4;
    s->vec.declares = true;
    for (int i = 0; i < 4; i++)
        s->vec.values[i] = load(t, cell, K(t, 0));
    s = stmt(t, IS_VSTORE);
    s->vec.buf = ys;
    s->vec.index = mul(t, warp, 4);
    s->vec.n = 4;
    for (int i = 0; i < 4; i++)
        s->vec.values[i] = imp_var(ctx, v, K(t, i), next_span(t));
    if (fault != 5)
        leave(t);
    if (fault == 6)
        when(t, less(t, lane, K(t, 16)));
    ImpExpr *other = imp_shfl(ctx, P_shflXor, K(t, 1), load(t, cell, K(t, 0)), next_span(t));
    store(t, ys, add(t, me, K(t, 64)), other);
    if (fault == 6)
        leave(t);
    if (fault == 2)
        store(t, ys, K(t, 0), f32(t, 1));
    if (fault == 7)
        stmt(t, IS_GIVE)->exchange = give->exchange;
    if (fault == 8) {
        s = stmt(t, IS_SERVE);
        s->serve.n_parts = 1;
        s->serve.parts = NEWN(ctx, ImpServed, 1);
        s->serve.n = K(t, 1);
        s->serve.lane = lane;
        ImpServed *part = s->serve.parts;
        part->mail = mail;
        part->sum = reg(t, "a", SC_F32, 1);
        part->next = reg(t, "b", SC_F32, 1);
        part->unit = f32(t, 0);
        part->value = op(t, P_add, get(t, part->sum), get(t, part->next));
    }
    if (fault == 9) {
        when(t, less(t, me, K(t, 32)));
        stmt(t, IS_GRID_SYNC)->ticket.buf = add_buf(t, SPACE_TEMP, "counters", SC_U32, K(t, 2));
        leave(t);
    }
}

static void test_writers(void)
{
    static const char *const wanted[] = {"a cell that several threads write",
                                         "a cell that several threads write",
                                         "a barrier that not all threads get to",
                                         "a barrier that not all threads get to",
                                         "cells that several threads write",
                                         "a shuffle that not all lanes of the warp get to",
                                         "what one thread of a block does, done by several",
                                         "what one warp does, done by several",
                                         "a barrier that not all threads get to"};
    for (int fault = 0; fault <= 9; fault++) {
        Test *t = start(64, 1, 1, 1, 64);
        writers(t, fault);
        CHECK(fault ? says(t, wanted[fault - 1]) : is_sound(t));
        finish(t);
    }
}

int main(void)
{
    test_writers();
    test_expressions();
    test_statements();
    test_registers();
    test_vectors();
    test_vectors_where();
    printf("imp_faults: %ld checks, %ld wrong\n", unit_checks, unit_failures);
    return unit_failures != 0;
}
