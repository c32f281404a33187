/* For pass tiles: a tile that is not full is loaded whole before it is folded.
 *
 *   full_or_not(..): for (i < 8) { v = full or .. ? xs[..] : fewer; acc = op(acc, v.x, .., v.w) }
 *     ->  float own[32]
 *         full_or_not(..): for (i < 8) { v = ..; own[4*i .. 4*i + 3] = v }
 *         for (i < 8) acc = op(acc, own[4*i], .., own[4*i + 3])
 *
 * A guarded load is a branch, before which CUDA's compiler does not move the next load. So each load of such a tile waited for the one before it: eight
 * times the latency of memory, in the one block that all others wait for. Keeps every value and every access. */
#include "codegen/full_tiles.h"
#include "codegen/walk.h"

enum {
    MOST_TRIPS = 16,
    MOST_BYTES = 128, /* of registers for a tile */
    MOST_VECTORS = 4
};

typedef struct First {
    Lowering *lw;
    const ImpStmt *loop;
    int n;
    ImpVar *vectors[MOST_VECTORS], *own[MOST_VECTORS];
    bool other; /* something that is no load of these vectors, or a load where none may be */
} First;

static int number_of(const First *f, const ImpVar *var)
{
    for (int k = 0; k < f->n; k++)
        if (f->vectors[k] == var)
            return k;
    return -1;
}

static void find_register(void *user, ImpExpr **at)
{
    First *f = user;
    f->other |= (*at)->kind == IE_VAR || (*at)->kind == IE_SHFL;
}

static void find_load(void *user, ImpExpr **at)
{
    First *f = user;
    f->other |= (*at)->kind == IE_LOAD || (*at)->kind == IE_SHFL;
}

/* In a guarded load: indices, and what sets the vectors. */
static void note_loading(void *user, ImpStmt *s)
{
    First *f = user;
    const bool index = s->kind == IS_DECL && s->var.var->nat && s->var.value, loads = s->kind == IS_VLOAD || s->kind == IS_VSET;
    f->other |= !index && s->kind != IS_IF && !(loads && number_of(f, s->vec.var) >= 0);
    walk_own(s, find_register, f);
}

static void note_using(void *user, ImpStmt *s)
{
    First *f = user;
    const bool sets = s->kind == IS_DECL || s->kind == IS_SET || s->kind == IS_VSET || s->kind == IS_IF;
    f->other |= !sets || number_of(f, imp_sets(s)) >= 0;
    walk_own(s, find_load, f);
}

/* How many of the first statements load the vectors; 0: the loop is not of this form. */
static int loading(First *f)
{
    const ImpBlock *body = &f->loop->loop.body;
    int n = 0, guarded = 0;
    int64_t bytes = 0;
    for (; n < body->list.n; n++) {
        ImpStmt *s = body->list.at[n];
        if (s->kind == IS_DECL && !s->var.value && s->var.var->vector && f->n < MOST_VECTORS) {
            f->vectors[f->n++] = s->var.var;
            bytes += f->loop->loop.hi->value * s->var.var->slots * (scalar_bytes(s->var.var->type) > 4 ? scalar_bytes(s->var.var->type) : 4);
            continue;
        }
        if (s->kind != IS_IF)
            break;
        ImpBlock one = stmts_from(body, n);
        one.list.n = 1;
        walk_stmts(&one, note_loading, f);
        if (f->other)
            return 0;
        guarded++;
    }
    ImpBlock rest = stmts_from(body, n);
    walk_stmts(&rest, note_using, f);
    return guarded && rest.list.n && !f->other && bytes <= MOST_BYTES ? n : 0;
}

static Nat slot_of(const First *f, int k, Nat slot)
{
    return nat_add(f->lw->ctx, nat_mul_k(f->lw->ctx, f->loop->loop.var, f->vectors[k]->slots), slot);
}

static void read_own(void *user, ImpExpr **at)
{
    const First *f = user;
    const int k = (*at)->kind == IE_VAR ? number_of(f, (*at)->var.var) : -1;
    if (k >= 0)
        *at = imp_var(f->lw->ctx, f->own[k], slot_of(f, k, (*at)->var.slot), (*at)->span);
}

static void keep_vectors(const First *f, ImpBlock *body)
{
    Ctx *ctx = f->lw->ctx;
    for (int k = 0; k < f->n; k++)
        for (int slot = 0; slot < f->vectors[k]->slots; slot++) {
            const Nat at = nat_const(ctx, slot);
            ImpStmt *set = imp_stmt(ctx, body, IS_SET, f->loop->span);
            set->var.var = f->own[k];
            set->var.slot = slot_of(f, k, at);
            set->var.value = imp_var(ctx, f->vectors[k], at, f->loop->span);
        }
}

int tile_loads_first(Lowering *lw, ImpBlock *block, int i)
{
    Ctx *ctx = lw->ctx;
    ImpStmt *loop = i < block->list.n ? block->list.at[i] : NULL;
    if (!loop || loop->kind != IS_FOR)
        return 0;
    First f = {.lw = lw, .loop = loop};
    const bool counts = nat_is(loop->loop.lo, 0) && nat_is(loop->loop.step, 1) && nat_is_const(loop->loop.hi) && loop->loop.hi->value <= MOST_TRIPS;
    const int n = loop->loop.full && loop->loop.unroll && counts ? loading(&f) : 0;
    if (!n)
        return 0;
    ImpStmt *use = imp_copy_stmt(ctx, loop);
    use->loop.full = NULL;
    for (int k = 0; k < n; k++)
        block_remove(&use->loop.body, 0);
    loop->loop.body.list.n = n;
    for (int k = 0; k < f.n; k++) {
        f.own[k] = lower_new_var(lw, "own", f.vectors[k]->type, f.vectors[k]->span);
        f.own[k]->slots = (int)loop->loop.hi->value * f.vectors[k]->slots;
    }
    keep_vectors(&f, &loop->loop.body);
    walk_block(&use->loop.body, read_own, &f);
    block_insert(ctx, block, i + 1, use);
    for (int k = 0; k < f.n; k++) {
        ImpStmt *declare = imp_stmt(ctx, NULL, IS_DECL, f.vectors[k]->span);
        declare->var.var = f.own[k];
        block_insert(ctx, block, i, declare);
    }
    return f.n + 1;
}
