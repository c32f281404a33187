/* scatter, scatterUnchecked and scatterDrop: the elements are written through an array of indices, over a background.
 *
 *   scatter(is, background, xs) written to A  =  background written to A; a barrier; xs written to A[is[.]]
 *
 * Note [Scatter]. No cell may get two elements. That is proved from the indices as they are computed: the index of element i is a sum of digits of i
 * in a mixed radix, each with a weight of its own (distinct_digits); indices that are data are left to scatterUnchecked,
 * and numbers that may be none to scatterDrop. Where as many elements as
 * cells go to different cells, all are covered and the background is never computed. Else it comes first. The threads of a block meet at a barrier
 * in between, which the pass of the barriers puts there (ImpBuf.rewritten makes it look at results, too). Blocks do not meet within a kernel: at grid
 * level the elements go into a kernel of their own. */
#include "codegen/lowering.h"

enum { MAX_DIGITS = 6 };

/* ---- do different elements go to different cells? ---------------------------------------------------------------------------- */

/* (i / unit) % size, times `weight`, which is not negative; size NULL: i / unit. */
typedef struct Digit {
    Nat unit, size, weight, most; /* most: its largest value */
} Digit;

/* nat as a digit of i, without its weight. */
static bool is_digit(Ctx *ctx, Nat nat, Nat i, Digit *d)
{
    *d = (Digit){.unit = nat_const(ctx, 1)};
    if (nat->kind == NAT_MOD && !nat_mentions(nat->b, i)) {
        d->size = nat->b;
        nat = nat->a;
    }
    if (nat->kind == NAT_DIV && !nat_mentions(nat->b, i)) {
        d->unit = nat->b;
        nat = nat->a;
    }
    return nat == i;
}

/* Do the digits, lowest first, say which of the n elements it is? */
static bool complete(Lowering *lw, Digit *digits, int n_digits, Nat n)
{
    Ctx *ctx = lw->ctx;
    Nat unit = nat_const(ctx, 1);
    for (int done = 0; done < n_digits; done++) {
        int k = done;
        while (k < n_digits && !nat_equal(ctx, lw->facts, digits[k].unit, unit))
            k++;
        if (k == n_digits)
            return false;
        Digit d = digits[k];
        digits[k] = digits[done];
        digits[done] = d;
        if (!d.size)
            return done == n_digits - 1;
        unit = nat_mul(ctx, unit, d.size);
    }
    return nat_le(ctx, lw->facts, n, unit);
}

/* Each weight is larger than what all smaller ones can add up to. */
static bool apart(Lowering *lw, Digit *digits, int n)
{
    Ctx *ctx = lw->ctx;
    Nat below = nat_const(ctx, 0);
    for (int done = 0; done < n; done++) {
        int k = done;
        while (k < n && !nat_lt(ctx, lw->facts, below, digits[k].weight))
            k++;
        for (int j = k + 1; j < n; j++) /* the smallest of those that are large enough */
            if (nat_lt(ctx, lw->facts, below, digits[j].weight) && nat_lt(ctx, lw->facts, digits[j].weight, digits[k].weight))
                k = j;
        if (k >= n)
            return false;
        Digit d = digits[k];
        digits[k] = digits[done];
        digits[done] = d;
        below = nat_add(ctx, below, nat_mul(ctx, d.weight, d.most));
    }
    return true;
}

/* Is `index` different for each i below n? */
static bool distinct_digits(Lowering *lw, Nat index, Nat i, Nat n)
{
    Ctx *ctx = lw->ctx;
    Digit digits[MAX_DIGITS];
    NatTerm single = {1, 1, &index};
    const NatTerm *terms = index->kind == NAT_SUM ? index->terms : &single;
    int count = 0, n_terms = index->kind == NAT_SUM ? index->n_terms : index->kind == NAT_CONST ? 0 : 1;
    for (int t = 0; t < n_terms; t++) {
        Nat weight = nat_const(ctx, terms[t].coef < 0 ? -terms[t].coef : terms[t].coef);
        Digit digit;
        int found = 0;
        for (int f = 0; f < terms[t].n_factors; f++)
            if (!nat_mentions(terms[t].factors[f], i))
                weight = nat_mul(ctx, weight, terms[t].factors[f]);
            else if (++found > 1 || !is_digit(ctx, terms[t].factors[f], i, &digit))
                return false;
        if (!found)
            continue;
        if (count == MAX_DIGITS)
            return false;
        digit.weight = weight;
        Nat last = nat_add_k(ctx, n, -1);
        digit.most = digit.size ? nat_add_k(ctx, digit.size, -1) : nat_simplify(ctx, lw->facts, nat_div(ctx, last, digit.unit));
        digits[count++] = digit;
    }
    return complete(lw, digits, count, n) && apart(lw, digits, count);
}

typedef enum Indices { INDICES_DISTINCT, INDICES_UNKNOWN, INDICES_DATA } Indices;

/* Two elements that go to one cell, as far as small numbers show it. */
typedef struct Collision {
    int a, b; /* a < b; both 0: none was found */
    Nat cell;
} Collision;

static Collision find_collision(Lowering *lw, Nat index, Nat i)
{
    enum { LOOKED_AT = 8 };
    Nat cells[LOOKED_AT];
    for (int b = 0; b < LOOKED_AT; b++) {
        cells[b] = nat_subst(lw->ctx, index, i, nat_const(lw->ctx, b));
        for (int a = 0; a < b; a++)
            if (nat_equal(lw->ctx, lw->facts, cells[a], cells[b]))
                return (Collision){a, b, cells[a]};
    }
    return (Collision){0, 0, NULL};
}

static Indices look_at_indices(Lowering *lw, View *is, Nat n, Collision *found)
{
    Ctx *ctx = lw->ctx;
    ImpBlock scratch = {{0}}, *out = lw->out;
    NatFacts *facts = lw->facts;
    Nat i = nat_var(ctx, "i", nat_const(ctx, 0), nat_add_k(ctx, n, -1));
    lw->out = &scratch; /* only looked at */
    lw->facts = nat_facts_new(ctx, facts);
    nat_fact_le(ctx, lw->facts, nat_add_k(ctx, i, 1), n);
    View *v = view_at(lw, is, i);
    bool computed = v->kind == VIEW_SCALAR && v->expr->kind == IE_NAT;
    bool distinct = computed && distinct_digits(lw, v->expr->nat, i, n);
    *found = computed && !distinct ? find_collision(lw, v->expr->nat, i) : (Collision){0, 0, NULL};
    lw->out = out;
    lw->facts = facts;
    return distinct ? INDICES_DISTINCT : computed ? INDICES_UNKNOWN : INDICES_DATA;
}

/* ---- the background ------------------------------------------------------------------------------------------------------------ */

/* Does something compute its elements where they are to go? */
static bool has_writer(const Core *e)
{
    while (e->kind == CORE_LET || (e->kind == CORE_PRIM && (prim_rows[e->prim.id].level == LEVEL_VIEW || prim_rows[e->prim.id].level == LEVEL_MEM))) {
        if (e->kind == CORE_PRIM && prim_is_scatter(e->prim.id))
            return true;
        if (e->kind == CORE_PRIM && (!e->prim.n_args || e->prim.id == P_generate))
            return false;
        e = e->kind == CORE_LET ? e->let.body : e->prim.args[e->prim.n_args - 1];
    }
    return e->kind == CORE_PRIM;
}

static Core *core_node(Lowering *lw, CoreKind kind, Type type, Span span)
{
    Core *e = NEW(lw->ctx, Core);
    *e = (Core){.kind = kind, .type = type, .span = span, .height = 1};
    return e;
}

/* map(id, xs) at a level, and mapSeq(id) for each element that is an array itself. */
static Core *copy_of(Lowering *lw, Core *xs, PrimId level)
{
    Ctx *ctx = lw->ctx;
    CoreVar *var = NEW(ctx, CoreVar);
    *var = (CoreVar){.name = "x", .type = xs->type->elem, .span = xs->span};
    Core *element = core_node(lw, CORE_VAR, var->type, xs->span), *lambda = core_node(lw, CORE_LAMBDA, var->type, xs->span);
    element->var = var;
    lambda->lambda.n = 1;
    lambda->lambda.params = NEWN(ctx, CoreVar *, 1);
    lambda->lambda.params[0] = var;
    lambda->lambda.body = var->type->kind == TY_ARRAY ? copy_of(lw, element, P_mapSeq) : element;
    Core *map = core_node(lw, CORE_PRIM, xs->type, xs->span);
    map->prim.id = level;
    map->prim.n_args = 2;
    map->prim.args = NEWN(ctx, Core *, 2);
    map->prim.args[0] = lambda;
    map->prim.args[1] = xs;
    return map;
}

static bool any3(const bool flags[3]) { return flags[0] || flags[1] || flags[2]; }

static bool inside_a_thread(const Lowering *lw) { return any3(lw->open.thread) || lw->open.lane || any3(lw->open.global); }

static void write_background(Lowering *lw, Core *background, View *acceptor)
{
    const Levels *o = &lw->open;
    const ImpKernel *k = lw->kernel;
    PrimId level = o->warp && !o->lane ? P_mapLane : inside_a_thread(lw) ? P_mapSeq : any3(o->block) ? P_mapThreads : lw->any_block ? P_mapGlobal : P_mapThreads;
    bool single = k->threads[0] * k->threads[1] * k->threads[2] == 1;
    if (has_writer(background) || (level == P_mapThreads && (k->threads[1] > 1 || k->threads[2] > 1))) /* then it has to say which threads copy it */
        lower_write(lw, background, acceptor);
    else
        lower_write(lw, copy_of(lw, background, level == P_mapThreads && single ? P_mapSeq : level), acceptor);
}

static void mark_rewritten(View *v)
{
    if (v->kind == VIEW_BUF)
        v->buf->rewritten = true;
    for (int k = 0; k < v->n; k++)
        mark_rewritten(v->items[k]);
    if (v->source)
        mark_rewritten(v->source);
}

/* Does it combine what is written to it? Then a cell of the background that an element overwrites would be combined, too. */
static bool combines(const View *v)
{
    bool found = v->kind == VIEW_ATOMIC || (v->source && combines(v->source));
    for (int k = 0; k < v->n && !found; k++)
        found = combines(v->items[k]);
    return found;
}

/* ---- writing --------------------------------------------------------------------------------------------------------------------- */

/* What one thread stores in a few statements: a scalar, or a tuple of such. */
static bool is_stored_at_once(Type t)
{
    bool good = type_is_scalar_like(t) ? t->kind != TY_VEC : t->kind == TY_TUPLE;
    for (int k = 0; k < t->n_items && good; k++)
        good = is_stored_at_once(t->items[k]);
    return good;
}

static bool may_scatter(Lowering *lw, const Core *e, Indices indices, Collision both)
{
    Ctx *ctx = lw->ctx;
    if (e->prim.id == P_scatter && indices != INDICES_DISTINCT) {
        Diag *d = lower_error(lw, E0418, e->prim.args[0]->span, indices == INDICES_DATA ? "scatter through indices that are data: two of them may be the same"
                              : both.b > 0                  ? "these indices repeat, and only one element can stay in a cell"
                                                            : "two elements may go to one cell: nothing proves that these indices differ");
        if (both.b > 0) {
            diag_label(ctx, d, "elements %d and %d both go to cell %s", both.a, both.b, nat_text(ctx, both.cell));
            diag_help(ctx, d, "`reduceByIndex` combines what goes to one cell; where any one of the writes may stay, write `scatterUnchecked`");
            return false;
        }
        diag_help(ctx, d, "where you know that no index repeats, or any one of the writes may stay, write `scatterUnchecked`");
        if (indices == INDICES_UNKNOWN)
            diag_label(ctx, d, "what is seen to differ: a*i + b, and the digits i / k and i %% k with weights of their own");
        return false;
    }
    Type elem = e->type->elem;
    if (e->prim.id != P_scatter && !is_stored_at_once(elem)) {
        Diag *d = lower_error(lw, E0419, e->span, "%s of elements of type %s: where an index repeats, parts of several might stay", prim_name(e->prim.id), type_text(ctx, elem));
        diag_help(ctx, d, "scatter the numbers of the elements, and gather through them; or write `scatter` with indices that are seen to differ");
        return false;
    }
    return true;
}

bool lower_write_scatter(Lowering *lw, const Core *e, View *acceptor)
{
    Core **args = e->prim.args;
    Nat n = lower_nat(lw, args[2]->type->size), m = lower_nat(lw, e->type->size);
    View *is = lower_read(lw, args[0]);
    if (is->kind == VIEW_ERROR)
        return true;
    Collision both = {0, 0, NULL};
    if (!may_scatter(lw, e, e->prim.id == P_scatter ? look_at_indices(lw, is, n, &both) : INDICES_DATA, both))
        return true;
    if (e->prim.id != P_scatter || !nat_equal(lw->ctx, lw->facts, n, m)) {
        bool grid_level = lw->any_block && !any3(lw->open.block) && !any3(lw->open.global);
        if (grid_level && !lower_at_grid_level(lw, e))
            return true;
        if (combines(acceptor)) {
            Diag *d = lower_error(lw, E0424, e->span, "atomicReduce of what %s writes: elements come over a background that is combined already", prim_name(e->prim.id));
            diag_help(lw->ctx, d, "store the cells first, and reduce what then lies there: `%s(...) |> toShared |> mapThreads(id) |> atomicReduce(...)`, or by `nextKernel`", prim_name(e->prim.id));
            return true;
        }
        write_background(lw, args[1], acceptor);
        if (lw->failed)
            return true;
        if (!inside_a_thread(lw)) /* else one thread writes all of it, one thing after the other */
            mark_rewritten(acceptor);
        if (grid_level) {
            kernel_begin(lw, e, e);
            is = lower_read(lw, args[0]);
        }
    }
    View *target = view_new(lw, VIEW_GATHER, lower_type(lw, args[2]->type), e->span);
    target->source = acceptor;
    target->other = is;
    target->size = m;
    target->unordered = e->prim.id != P_scatter;
    target->drops = e->prim.id == P_scatterDrop;
    lower_write(lw, args[2], target);
    return true;
}

View *lower_read_scatter(Lowering *lw, const Core *e)
{
    refuse_unstored(lw, e, "toShared");
    return view_error(lw, e->type);
}
