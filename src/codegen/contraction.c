/* Which products and sums may be joined, and which not. Note [A value has one value].
 *
 * CUDA's compiler joins a product and a sum to one operation that rounds once, where it likes. A value that has two uses would then have two values: one
 * rounded, in a comparison, and one not, in a difference. So a product that is used more than once, or computed in more than one place, is marked
 * (PrimOptions.rounded, then ImpExpr.op.rounded) and becomes `__fmul_rn`, which nothing is joined with. The others stay: dot products keep their fma.
 * Functions of CUDA's library may end with a product that is not ours to mark, and division by 2 becomes a product by 0.5. Of such a value that is used so,
 * the sums are marked instead: `__fadd_rn`.
 *
 * Found here, on the core that is lowered, by going from what an entry gives backwards to what it is made of. A Demand says of each scalar in a value
 *
 *   uses      how often the value is used where it is read (1, 2: more than once)
 *   computed  there are several places that compute it: an array with a name is computed again by each of its readers, unless it is stored
 *   sums      those that it is an operand of, or is handed on to; of a fold's state, all of the fold's
 *
 * and of each variable, how many places read it. A product whose value is added, and is used more than once or computed in several places, is
 * marked; of a library function's value like that, its sums are. What makes a value, in turn: an operand is used once; a negation, choice or conversion hands on what it is given; below a value that is
 * computed in several places all products are marked that are added. A scalar with a name is computed once, in a register; what is stored is, too; a
 * fold is as often as it is read, in the same order each time. Captured variables are read again and again, but for `xs[i]` in the generate of i.
 * Counts more uses than there are where it is not sure: that costs an instruction, and no bits. */
#include "codegen/contraction.h"
#include "ir/shadow.h"

/* A set of sums, which may hold one several times. */
typedef struct Sums {
    const Core *sum;
    struct Sums *a, *b; /* or the sums of both, where it is no sum */
    bool done;          /* all are marked */
} Sums;

typedef struct Use {
    int uses, reads; /* 0, 1, 2: more. reads: of variables */
    bool computed;
    Sums *sums; /* NULL: it is not added */
} Use;

/* Of a type with arrays taken away: a scalar's, or a tuple's or vector's with one for each component. */
typedef struct Demand {
    Use use;
    int n;
    struct Demand *parts;
} Demand;

typedef struct Bound {
    const CoreVar *var;
    Demand demand;
    int level; /* how many functions around it are called again and again */
} Bound;

typedef struct ReadsBefore {
    Use *use;
    int reads;
} ReadsBefore;

typedef struct Contraction {
    Ctx *ctx;
    VEC(Bound *) bound, by_id;
    VEC(Nat) indices;        /* of each such function: its index, or NULL */
    VEC(int) covered;        /* levels whose index says which element is read */
    VEC(ReadsBefore) before; /* of what was read since the outermost condition */
    int conditions;
    Table *found;            /* the terms to mark */
    VEC(Sums *) left;        /* of a set that is gone through */
} Contraction;

int contraction_parts(const Core *e, Core **own, Core *const **at)
{
    *at = own;
    switch (e->kind) {
    case CORE_PRIM: *at = e->prim.args; return e->prim.n_args;
    case CORE_TUPLE: *at = e->tuple.items; return e->tuple.n;
    case CORE_LAMBDA: own[0] = e->lambda.body; return 1;
    case CORE_LET: own[0] = e->let.value; own[1] = e->let.body; return 2;
    case CORE_PROJ: own[0] = e->proj.value; return 1;
    case CORE_IF: own[0] = e->cond.cond; own[1] = e->cond.then; own[2] = e->cond.otherwise; return 3;
    case CORE_VAR: case CORE_LIT: case CORE_SIZE: case CORE_UNIT_ERROR: break;
    }
    return 0;
}

static bool is_double_or_float(Type t)
{
    t = t->kind == TY_VEC ? t->elem : t;
    return t->kind == TY_SCALAR && (t->scalar == SC_F32 || t->scalar == SC_F64);
}

bool contraction_joins(const Core *e)
{
    return e->kind == CORE_PRIM && (e->prim.id == P_mul || e->prim.id == P_add || e->prim.id == P_sub) && is_double_or_float(e->type);
}

static bool is_sum(const Core *e) { return contraction_joins(e) && e->prim.id != P_mul; }

static bool is_constant(const Core *e)
{
    while (e->kind == CORE_PRIM && (e->prim.id == P_neg || e->prim.id == P_cast))
        e = e->prim.args[0];
    return e->kind == CORE_LIT || (e->kind == CORE_SIZE && nat_is_const(e->size));
}

bool contraction_ends_open(const Core *e)
{
    if (e->kind != CORE_PRIM || !is_double_or_float(e->type))
        return false;
    return e->prim.id == P_mul || shadow_approximates(e->prim.id) || (e->prim.id == P_div && is_constant(e->prim.args[1]));
}

/* ---- sums ----------------------------------------------------------------------------------------------------------------- */

static Sums *one_sum(Contraction *c, const Core *e)
{
    Sums *s = NEW(c->ctx, Sums);
    *s = (Sums){.sum = e};
    return s;
}

static Sums *both_sums(Contraction *c, Sums *a, Sums *b)
{
    if (!a || !b || a == b)
        return a ? a : b;
    Sums *s = NEW(c->ctx, Sums);
    *s = (Sums){.a = a, .b = b};
    return s;
}

static void mark_sums(Contraction *c, Sums *all)
{
    vec_push(c->ctx, &c->left, all);
    while (c->left.n > 0) {
        Sums *s = c->left.at[--c->left.n];
        if (!s || s->done)
            continue;
        s->done = true;
        if (s->sum)
            table_put(c->ctx, c->found, s->sum, c);
        vec_push(c->ctx, &c->left, s->a);
        vec_push(c->ctx, &c->left, s->b);
    }
}

/* ---- demands ------------------------------------------------------------------------------------------------------------ */

static Type without_arrays(Type t)
{
    while (t->kind == TY_ARRAY)
        t = t->elem;
    return t;
}

/* Component k of a type without arrays. */
static Type part_type(Type t, int k) { return t->kind == TY_VEC ? t->elem : t->items[k]; }

/* The same for each scalar of the type. */
static Demand demand_of(Contraction *c, Type t, Use use)
{
    t = without_arrays(t);
    Demand d = {.use = use, .n = t->kind == TY_TUPLE ? t->n_items : type_is_vector(t) ? type_width(t) : 0};
    d.parts = NEWN(c->ctx, Demand, d.n + 1);
    for (int k = 0; k < d.n; k++)
        d.parts[k] = demand_of(c, part_type(t, k), use);
    return d;
}

static Use any_of(Contraction *c, const Demand *d)
{
    Use all = d->use;
    for (int k = 0; k < d->n; k++) {
        Use one = any_of(c, &d->parts[k]);
        if (k == 0)
            all = one;
        all.uses = one.uses > all.uses ? one.uses : all.uses;
        all.reads = one.reads > all.reads ? one.reads : all.reads;
        all.computed |= one.computed;
        all.sums = both_sums(c, all.sums, one.sums);
    }
    return all;
}

static bool is_used(const Demand *d)
{
    bool used = d->n == 0 && d->use.uses > 0;
    for (int k = 0; k < d->n && !used; k++)
        used = is_used(&d->parts[k]);
    return used;
}

/* The same demand, with at least so many uses, and computed in several places where that is said. */
static Demand more(Contraction *c, const Demand *d, int uses, bool computed)
{
    Demand m = *d;
    if (m.use.uses) {
        m.use.uses = uses > m.use.uses ? uses : m.use.uses;
        m.use.computed |= computed;
    }
    m.parts = NEWN(c->ctx, Demand, m.n + 1);
    for (int k = 0; k < d->n; k++)
        m.parts[k] = more(c, &d->parts[k], uses, computed);
    return m;
}

/* As it is computed where it is stored. */
static Demand stored(Contraction *c, const Demand *d, bool again)
{
    Demand s = *d;
    s.use.computed = again;
    s.parts = NEWN(c->ctx, Demand, s.n + 1);
    for (int k = 0; k < d->n; k++)
        s.parts[k] = stored(c, &d->parts[k], again);
    return s;
}

static Demand part_demand(Contraction *c, const Demand *d, Type t, bool again, bool array)
{
    Demand v = *d;
    array |= t->kind == TY_ARRAY;
    t = without_arrays(t);
    v.use.uses = d->use.reads > 1 ? 2 : d->use.uses;
    v.use.computed = again || (array && (d->use.computed || d->use.reads > 1));
    v.parts = NEWN(c->ctx, Demand, v.n + 1);
    for (int k = 0; k < d->n; k++)
        v.parts[k] = part_demand(c, &d->parts[k], part_type(t, k), again, array);
    return v;
}

/* What the readers of a variable ask of its value: scalars are computed once, for all of them, and elements of arrays by each. again: where it is bound is
 * computed in several places. */
static Demand value_demand(Contraction *c, const Bound *b, bool again) { return part_demand(c, &b->demand, b->var->type, again, false); }

/* ---- variables ----------------------------------------------------------------------------------------------------------- */

static Bound *bind(Contraction *c, const CoreVar *var)
{
    Bound *b = NEW(c->ctx, Bound);
    *b = (Bound){var, demand_of(c, var->type, (Use){0}), c->indices.n};
    vec_push(c->ctx, &c->bound, b);
    while (c->by_id.n <= var->id)
        vec_push(c->ctx, &c->by_id, NULL);
    c->by_id.at[var->id] = b;
    return b;
}

/* NULL: an input. */
static Bound *find_bound(const Contraction *c, const CoreVar *var)
{
    if (var->id >= c->by_id.n)
        return NULL;
    if (!c->by_id.at[var->id] || c->by_id.at[var->id]->var == var)
        return c->by_id.at[var->id];
    for (int i = c->bound.n - 1; i >= 0; i--)
        if (c->bound.at[i]->var == var)
            return c->bound.at[i];
    return NULL;
}

static bool is_captured(const Contraction *c, const Bound *b)
{
    for (int level = b->level; level < c->indices.n; level++) {
        bool covered = false;
        for (int i = 0; i < c->covered.n; i++)
            covered |= c->covered.at[i] == level;
        if (!covered)
            return true;
    }
    return false;
}

static void add_read(Contraction *c, Demand *to, const Demand *d, int reads)
{
    if (d->use.uses && to->n == 0) {
        if (c->conditions)
            vec_push(c->ctx, &c->before, ((ReadsBefore){&to->use, to->use.reads}));
        to->use.reads = to->use.reads + reads > 2 ? 2 : to->use.reads + reads;
        to->use.uses = d->use.uses > to->use.uses ? d->use.uses : to->use.uses;
        to->use.computed |= d->use.computed;
        to->use.sums = both_sums(c, to->use.sums, d->use.sums);
    }
    for (int k = 0; k < to->n; k++)
        add_read(c, &to->parts[k], &d->parts[k], reads);
}

/* ---- terms --------------------------------------------------------------------------------------------------------------- */

static void visit(Contraction *c, const Core *e, const Demand *d, bool again);

static void visit_with(Contraction *c, const Core *e, Use use, bool again)
{
    Demand d = demand_of(c, e->type, use);
    visit(c, e, &d, again);
}

/* The body of a function; params: what it asks of them. repeated: it is called again and again, with `index` as its parameter's value, or NULL. */
static void visit_function(Contraction *c, const Core *f, const Demand *d, bool again, bool repeated, Bound **params)
{
    int bound = c->bound.n;
    Nat index = f->lambda.n == 1 ? f->lambda.params[0]->nat : NULL;
    if (repeated)
        vec_push(c->ctx, &c->indices, index);
    for (int k = 0; k < f->lambda.n; k++)
        params[k] = bind(c, f->lambda.params[k]);
    visit(c, f->lambda.body, d, again);
    c->bound.n = bound;
    if (repeated)
        c->indices.n--;
}

enum { PARAMS_MAX = 8 };

/* map, in whatever way; xs: what its function is applied to. kept: the values are, and used again. */
static void visit_map(Contraction *c, const Core *f, const Core *xs, const Demand *d, bool again)
{
    Bound *x[PARAMS_MAX];
    again |= any_of(c, d).computed;
    visit_function(c, f, d, again, true, x);
    Demand of = value_demand(c, x[0], again);
    visit(c, xs, &of, again);
}

/* How often a function mentions a parameter (1, 2: more than once, also in a function of its own), and its sums. */
typedef struct Mentions {
    const CoreVar *var;
    int n;
    Sums *sums;
} Mentions;

static void count_mentions(Contraction *c, const Core *e, Mentions *m, int times)
{
    Core *own[3], *const *at;
    int n = contraction_parts(e, own, &at);
    if (e->kind == CORE_VAR && e->var == m->var)
        m->n += times;
    if (is_sum(e))
        m->sums = both_sums(c, m->sums, one_sum(c, e));
    for (int i = 0; i < n; i++)
        count_mentions(c, at[i], m, e->kind == CORE_LAMBDA ? 2 : times);
}

/* A fold: each step's value is the next step's state. both: elements are states, too; every: each state is given. */
static void visit_fold(Contraction *c, const Core *e, const Demand *d, bool again, bool both, bool every)
{
    Core *const *args = e->prim.args; /* op, init, xs */
    Bound *x[PARAMS_MAX];
    const Core *op = args[0];
    Use of = any_of(c, d);
    Mentions first = {.var = op->lambda.params[0]}, second = {.var = op->lambda.params[1]};
    count_mentions(c, op->lambda.body, &first, 1);
    count_mentions(c, op->lambda.body, &second, 1);
    bool twice = every || of.uses > 1 || first.n > 1 || (both && second.n > 1);
    again |= of.computed;
    Use state = {twice ? 2 : 1, 0, again, both_sums(c, of.sums, first.sums)};
    Demand step = demand_of(c, op->lambda.body->type, state);
    visit_function(c, op, &step, again, true, x);
    visit_with(c, args[1], state, again);
    Demand elements = value_demand(c, x[1], again);
    if (both)
        elements = more(c, &elements, state.uses, false);
    visit(c, args[e->prim.n_args - 1], &elements, again);
}

static void visit_stored(Contraction *c, const Core *f, const Core *x, const Demand *d, bool again)
{
    Bound *param[PARAMS_MAX];
    visit_function(c, f, d, again, false, param);
    Demand of = value_demand(c, param[0], again);
    of = stored(c, &of, again);
    visit(c, x, &of, again);
}

/* Each element is a state, and each state the next one's operand. */
static void visit_states(Contraction *c, const Core *e, const Demand *d, bool again)
{
    Bound *x[PARAMS_MAX];
    const Core *op = e->prim.args[0];
    Mentions own = {.n = 0};
    count_mentions(c, op->lambda.body, &own, 1);
    const Use kept = {2, 0, again, both_sums(c, own.sums, any_of(c, d).sums)};
    Demand step = demand_of(c, op->lambda.body->type, kept);
    visit_function(c, op, &step, again, true, x);
    for (int k = 1; k < e->prim.n_args; k++)
        visit_with(c, e->prim.args[k], kept, again);
}

/* op, unit, f, g, xs */
static void visit_scan_blocks(Contraction *c, const Core *e, const Demand *d, bool again)
{
    Core *const *args = e->prim.args;
    Bound *op[PARAMS_MAX], *rest[PARAMS_MAX], *x[PARAMS_MAX];
    Mentions sums = {.n = 0};
    count_mentions(c, args[0]->lambda.body, &sums, 1);
    visit_function(c, args[3], d, again, true, rest);
    Use total = {2, 0, again, both_sums(c, sums.sums, any_of(c, &rest[0]->demand).sums)};
    Demand whole = demand_of(c, args[0]->lambda.body->type, total);
    visit_function(c, args[0], &whole, again, true, op);
    visit_with(c, args[1], total, again);
    Demand made = demand_of(c, args[2]->lambda.body->type, total);
    Demand kept = value_demand(c, rest[1], again);
    made.parts[1] = stored(c, &kept, again);
    visit_function(c, args[2], &made, again, true, x);
    Demand of = value_demand(c, x[0], again);
    visit(c, args[4], &of, again);
}

/* Functions of scalars, and of vectors: what they ask of their operands. */
static void visit_scalar(Contraction *c, const Core *e, const Demand *d, bool again)
{
    Use use = any_of(c, d);
    PrimId id = e->prim.id;
    bool one_value = use.uses > 1 || use.computed || e->prim.options.rounded || table_get(c->found, e);
    if (use.sums && one_value && contraction_ends_open(e)) {
        if (id == P_mul)
            table_put(c->ctx, c->found, e, c);
        else
            mark_sums(c, use.sums);
    }
    for (int k = 0; k < e->prim.n_args; k++) {
        const Core *arg = e->prim.args[k];
        bool hands_on = id == P_neg || id == P_cast || (id == P_select && k > 0), spread = e->type->kind == TY_VEC && arg->type->kind != TY_VEC;
        Demand of = demand_of(c, arg->type, hands_on ? use : (Use){1, 0, use.computed, is_sum(e) ? one_sum(c, e) : NULL});
        if (spread)
            of = more(c, &of, 2, false);
        visit(c, arg, hands_on && of.n == d->n ? d : &of, again);
    }
}

static void visit_index(Contraction *c, const Core *e, const Demand *d, bool again)
{
    int covered = c->covered.n;
    const Core *xs = e->prim.args[0];
    Nat index = e->prim.nats[1];
    for (int level = 0; level < c->indices.n; level++)
        if (c->indices.at[level] && c->indices.at[level] == index)
            vec_push(c->ctx, &c->covered, level);
    if (xs->kind == CORE_PRIM && xs->prim.id == P_asScalar && nat_is_const(index)) { /* v[2] */
        Demand vector = demand_of(c, xs->prim.args[0]->type, (Use){0});
        if (vector.n)
            vector.parts[index->value % vector.n] = *d;
        visit(c, xs->prim.args[0], &vector, again);
    } else {
        visit(c, xs, d, again);
    }
    c->covered.n = covered;
}

static void visit_prim(Contraction *c, const Core *e, const Demand *d, bool again)
{
    Core *const *args = e->prim.args;
    Bound *x[PARAMS_MAX];
    Demand of;
    const Use none = {1, 0, false, NULL};
    switch ((int)e->prim.id) {
    case P_map: case P_mapSeq: case P_mapSeqUnroll: case P_mapGlobal: case P_mapBlock: case P_mapThreads: case P_mapWarp: case P_mapLane:
        visit_map(c, args[0], args[1], d, again);
        return;
    case P_circularBuffer: case P_rotateValues: /* computed once, and kept for several windows */
        of = more(c, d, 2, false);
        of = stored(c, &of, again);
        visit_map(c, args[0], args[1], &of, again);
        return;
    case P_generate:
        again |= any_of(c, d).computed;
        visit_function(c, args[0], d, again, !nat_is(e->type->size, 1), x);
        return;
    case P_asVector: case P_asScalar: visit_with(c, args[0], any_of(c, d), again); return;
    case P_reduceSeq: case P_reduceSeqUnroll: visit_fold(c, e, d, again, false, false); return;
    case P_scanSeq: case P_scanSeqExcl: visit_fold(c, e, d, again, false, true); return;
    case P_reduce: case P_atomicReduce: visit_fold(c, e, d, again, true, false); return;
    case P_scan: case P_scanExcl: visit_fold(c, e, d, again, true, true); return;
    case P_reduceByIndex: case P_reduceWarp: case P_iterate: case P_repeatKernels: visit_states(c, e, d, again); return;
    case P_scanBlocks: case P_scanRowBlocks: visit_scan_blocks(c, e, d, again); return;
    case P_nextKernel: case P_lastBlock: case P_gridSync: visit_stored(c, args[0], args[1], d, again); return;
    case P_toGlobal: case P_toShared: case P_toPrivate:
        of = stored(c, d, again);
        visit(c, args[0], &of, again);
        return;
    case P_zip: case P_zip3: case P_zip4:
        for (int k = 0; k < e->prim.n_args; k++)
            visit(c, args[k], &d->parts[k], again);
        return;
    case P_slide: case P_padClamp: case P_shflDown: case P_shflUp: case P_shflXor: case P_broadcast:
        of = more(c, d, 2, prim_rows[e->prim.id].level == LEVEL_VIEW);
        visit(c, args[e->prim.n_args - 1], &of, again);
        return;
    case P_gather: case P_reorder: case P_shfl:
        if (args[0]->kind != CORE_LAMBDA)
            visit_with(c, args[0], none, again);
        of = more(c, d, 2, prim_rows[e->prim.id].level == LEVEL_VIEW);
        visit(c, args[1], &of, again);
        return;
    case P_scatter: case P_scatterUnchecked: case P_scatterDrop:
        visit_with(c, args[0], none, again);
        visit(c, args[1], d, again);
        visit(c, args[2], d, again);
        return;
    case P_padCst: case P_padTo: /* one value for many elements */
        of = more(c, d, 2, false);
        visit(c, args[0], &of, again);
        visit(c, args[1], d, again);
        return;
    case P_concat:
        visit(c, args[0], d, again);
        visit(c, args[1], d, again);
        return;
    case P_index: visit_index(c, e, d, again); return;
    }
    if (prim_rows[e->prim.id].level == LEVEL_SCALAR)
        visit_scalar(c, e, d, again);
    else if (e->prim.n_args) /* views of one array */
        visit(c, args[e->prim.n_args - 1], d, again);
}

/* The two sides of a condition: only one of them reads. */
static void visit_sides(Contraction *c, const Core *e, const Demand *d, bool again)
{
    int mark = c->before.n;
    VEC(ReadsBefore) then = {0};
    c->conditions++;
    visit(c, e->cond.then, d, again);
    while (c->before.n > mark) {
        ReadsBefore b = c->before.at[--c->before.n];
        vec_push(c->ctx, &then, ((ReadsBefore){b.use, b.use->reads}));
        b.use->reads = b.reads;
    }
    visit(c, e->cond.otherwise, d, again);
    c->conditions--;
    for (int i = 0; i < then.n; i++) {
        ReadsBefore t = then.at[i];
        if (t.use->reads >= t.reads)
            continue;
        if (c->conditions)
            vec_push(c->ctx, &c->before, ((ReadsBefore){t.use, t.use->reads}));
        t.use->reads = t.reads;
    }
    if (!c->conditions)
        c->before.n = mark;
}

static void visit(Contraction *c, const Core *e, const Demand *d, bool again)
{
    if (!is_used(d))
        return;
    switch (e->kind) {
    case CORE_LIT: case CORE_SIZE: case CORE_LAMBDA: case CORE_UNIT_ERROR: return;
    case CORE_VAR: {
        Bound *b = find_bound(c, e->var);
        if (b)
            add_read(c, &b->demand, d, is_captured(c, b) ? 2 : 1);
        return;
    }
    case CORE_PRIM: visit_prim(c, e, d, again); return;
    case CORE_LET: {
        Bound *b = bind(c, e->let.var);
        visit(c, e->let.body, d, again);
        c->bound.n--;
        Demand value = value_demand(c, b, again);
        visit(c, e->let.value, &value, again);
        return;
    }
    case CORE_TUPLE:
        for (int k = 0; k < e->tuple.n; k++)
            visit(c, e->tuple.items[k], &d->parts[k], again);
        return;
    case CORE_PROJ: {
        Demand whole = demand_of(c, e->proj.value->type, (Use){0});
        whole.parts[e->proj.index] = *d;
        visit(c, e->proj.value, &whole, again);
        return;
    }
    case CORE_IF:
        visit_with(c, e->cond.cond, (Use){1, 0, any_of(c, d).computed, NULL}, again);
        visit_sides(c, e, d, again);
        return;
    }
}

void contraction_find(Ctx *ctx, const CoreEntry *entry, Table *found)
{
    Contraction c = {.ctx = ctx, .found = found};
    visit_with(&c, entry->body, (Use){1, 0, false, NULL}, false);
}
