/* Vectors at the end of an array (tails.h) in CUDA C.
 *
 *   v = (i < n ? xs[i] : 0, i + 1 < n ? xs[i + 1] : 0, ..., 0)  ->  load_fewer<float4>(xs, i, n, 0)
 *   if (i + 3 < n) v = xs[i .. i + 3]; else v = (...)  ->  v = i + 3 < n ? load4(xs + i) : ...
 *
 * The helper has the same conditions, in a loop. */
#include "codegen/cuda_internal.h"
#include "codegen/tails.h"

static void put_tail(Cuda *c, const ImpStmt *s, const Tail *tail)
{
    const char *vector = cuda_vector_type(c, tail->buf->elem, s->vec.n);
    bool half = cuda_is_half(tail->buf->elem) && !cuda_is_bits(c, s->vec.var);
    if (half)
        sb_printf(c->out, "%s(", cuda_half_from(c, tail->buf->elem, s->vec.n));
    sb_printf(c->out, "%s<%s>(", cuda_helper(c, HELP_LOAD_FEWER, SC_I32), vector);
    cuda_put_start(c, tail->buf, tail->start);
    sb_puts(c->out, ", ");
    cuda_nat(c, tail->i, C_ANY);
    sb_puts(c->out, ", ");
    cuda_nat(c, tail->end, C_ANY);
    sb_puts(c->out, ", ");
    if (cuda_is_half(tail->buf->elem))
        cuda_put_literal_bits(c, s->vec.values[s->vec.n - 1]);
    else
        cuda_expr(c, s->vec.values[s->vec.n - 1], C_ANY);
    sb_puts(c->out, half ? "))" : ")");
}

bool cuda_put_tail(Cuda *c, const ImpStmt *s)
{
    Tail tail;
    if (!tail_find(c->ctx, s, &tail))
        return false;
    put_tail(c, s, &tail);
    return true;
}

const ImpVar *cuda_sets_all_or_fewer(Cuda *c, const ImpStmt *s)
{
    AllOrFewer found;
    return tail_find_both(c->ctx, s, &found) ? found.all->vec.var : NULL;
}

void cuda_put_all_or_fewer(Cuda *c, const ImpStmt *s)
{
    AllOrFewer found;
    if (!tail_find_both(c->ctx, s, &found))
        return;
    cuda_expr(c, s->branch.cond, C_OR);
    sb_puts(c->out, " ? ");
    cuda_put_loaded(c, found.all);
    sb_puts(c->out, " : ");
    put_tail(c, found.fewer, &found.tail);
}
