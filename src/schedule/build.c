/* From the body of an entry to its list of nests: docs/nests.md.
 *
 * Note [Places]
 * The place of a term is a stack: axes that are open, conditions that hold, and indices that are
 * data. A nest that is made there has the axes that it mentions. The conditions stand around its
 * element, in their order, with the indices that they or the element mention; an axis that it does
 * not mention has at least one element, unless the reads are in bounds without that. */
#include "ir/key.h"
#include "schedule/nests.h"
#include "schedule/value.h"

typedef enum PlaceKind { PLACE_AXIS, PLACE_GUARD, PLACE_INDEX } PlaceKind;

typedef struct Place {
    PlaceKind kind;
    CoreVar *var;    /* axis, index */
    Core *term;      /* guard: the condition; index: its value */
    NatFacts *outer; /* what is known around it */
} Place;

typedef struct Known { /* a nest, closed: no axis is free in it */
    Core *closed;
    Nest *nest;
} Known;

typedef struct Reads { /* of a variable */
    int n;
    int functions; /* around where it gets its value */
} Reads;

typedef struct Build {
    Values v; /* v.facts: of the place */
    Ctx *ctx;
    NatFacts *known; /* of the entry */
    Nests *nests;
    VEC(Place) places;
    VEC(Value *) env;  /* by id of the variable */
    VEC(Reads) reads;  /* the same */
    Table of_nat;     /* from a variable of nats to its place, counted from 1 */
    Table by_key;     /* of nests, by core_key */
    TermCopy copy;    /* nats that have become others, and terms for variables */
    VEC(Core *) arrays; /* `let`s without a body: arrays around the primitive that is copied */
    int next_var;
    bool ragged; /* a length has no bound that is known: the map around is one nest */
} Build;

static Value *eval(Build *b, const Core *term, const char *name);

/* ---- places ----------------------------------------------------------------------------------- */

static void place_push(Build *b, PlaceKind kind, CoreVar *var, Core *term)
{
    vec_push(b->ctx, &b->places, ((Place){kind, var, term, b->v.facts}));
    b->v.facts = nat_facts_new(b->ctx, b->v.facts);
    if (var)
        table_put(b->ctx, &b->of_nat, var->nat, (void *)(uintptr_t)b->places.n);
    if (kind == PLACE_GUARD)
        core_cond_facts(b->ctx, b->v.facts, term, true);
    if (kind == PLACE_AXIS)
        nat_fact_le(b->ctx, b->v.facts, nat_const(b->ctx, 1), var->type->size);
}

/* Back to how many there were; the value keeps the indices that it mentions. */
static Value *place_pop(Build *b, int n, Value *value)
{
    while (b->places.n > n) {
        const Place *p = &b->places.at[--b->places.n];
        b->v.facts = p->outer;
        if (p->kind == PLACE_INDEX && value)
            value = value_let(&b->v, p->var, p->term, value);
    }
    return value;
}

/* The place of a variable of nats; NULL where it is a size. */
static int place_of(const Build *b, Nat var)
{
    int at = (int)(uintptr_t)table_get(&b->of_nat, var) - 1;
    bool open = at >= 0 && at < b->places.n && b->places.at[at].var;
    return open && b->places.at[at].var->nat == var ? at : -1;
}

typedef struct Marks {
    const Build *b;
    bool *used; /* beside the places */
    bool any;
} Marks;

static void mark(void *user, Nat var)
{
    Marks *m = user;
    int at = place_of(m->b, var);
    if (at >= 0)
        m->any = m->used[at] = true;
}

static Marks marks_new(Build *b) { return (Marks){.b = b, .used = NEWN(b->ctx, bool, b->places.n + 1)}; }

/* ---- axes -------------------------------------------------------------------------------------- */

static Nat at_most(Build *b, Nat length);

typedef struct Bound {
    Build *b;
    Nat length;
} Bound;

/* Replaces a variable of the place by the end of its range at which the length is largest. */
static void take_bound(void *user, Nat var)
{
    Bound *bound = user;
    Build *b = bound->b;
    if (!bound->length || place_of(b, var) < 0)
        return;
    Nat more = nat_subst(b->ctx, bound->length, var, nat_add_k(b->ctx, var, 1));
    if (nat_le(b->ctx, b->v.facts, bound->length, more))
        bound->length = nat_subst(b->ctx, bound->length, var, var->hi);
    else if (nat_le(b->ctx, b->v.facts, more, bound->length))
        bound->length = nat_subst(b->ctx, bound->length, var, var->lo);
    else
        bound->length = NULL;
}

/* A bound of the length that depends on sizes alone; NULL where none is known. */
static Nat at_most(Build *b, Nat length)
{
    Bound bound = {b, length};
    nat_each_var(b->ctx, length, take_bound, &bound);
    return bound.length;
}

/* The same length, or some other one where it has none, as after a division by 0. */
static Nat with_value(Build *b, Nat n)
{
    Ctx *ctx = b->ctx;
    Nat one = nat_const(ctx, 1);
    if (n->kind == NAT_SUM) {
        Nat sum = nat_const(ctx, 0);
        for (int i = 0; i < n->n_terms; i++) {
            Nat product = nat_const(ctx, n->terms[i].coef);
            for (int k = 0; k < n->terms[i].n_factors; k++)
                product = nat_mul(ctx, product, with_value(b, n->terms[i].factors[k]));
            sum = nat_add(ctx, sum, product);
        }
        return sum;
    }
    if (!n->a)
        return n;
    Nat x = with_value(b, n->a), y = n->b ? with_value(b, n->b) : NULL;
    if ((n->kind == NAT_DIV || n->kind == NAT_MOD) && !nat_le(ctx, b->known, one, y))
        y = nat_max(ctx, one, y);
    if (n->kind == NAT_LOG2 && !nat_le(ctx, b->known, one, x))
        x = nat_max(ctx, one, x);
    if (n->kind == NAT_POW && !nat_le(ctx, b->known, nat_const(ctx, 0), y))
        y = nat_max(ctx, nat_const(ctx, 0), y);
    switch (n->kind) {
    case NAT_DIV: return nat_div(ctx, x, y);
    case NAT_MOD: return nat_mod(ctx, x, y);
    case NAT_MIN: return nat_min(ctx, x, y);
    case NAT_MAX: return nat_max(ctx, x, y);
    case NAT_POW: return nat_pow(ctx, x, y);
    case NAT_LOG2: return nat_log2(ctx, x);
    default: return n;
    }
}

/* Opens an axis over so many elements: where that depends on the place, over at most so many, under
 * the condition that the index is below. */
static CoreVar *open_axis(Build *b, const char *name, Nat length, Span span)
{
    Ctx *ctx = b->ctx;
    Nat most = at_most(b, length), zero = nat_const(ctx, 0);
    if (!most) {
        b->ragged = true;
        most = zero;
    }
    most = with_value(b, most);
    if (!nat_le(ctx, b->known, zero, most))
        most = nat_max(ctx, zero, most);
    CoreVar *axis = make_var(ctx, &b->next_var, name, type_idx(ctx, most), span);
    place_push(b, PLACE_AXIS, axis, NULL);
    if (!nat_le(ctx, b->v.facts, most, length))
        place_push(b, PLACE_GUARD, NULL, make_compare(ctx, P_lt, axis->nat, length, span));
    return axis;
}

/* ---- nests ------------------------------------------------------------------------------------- */

/* Read from memory or known: nothing is computed. */
static bool is_read(const Core *term)
{
    switch (term->kind) {
    case CORE_VAR: case CORE_LIT: case CORE_SIZE: case CORE_UNIT_ERROR:
        return true;
    case CORE_PROJ:
        return is_read(term->proj.value);
    case CORE_PRIM:
        for (int i = 0; i < term->prim.n_args; i++)
            if (!is_read(term->prim.args[i]))
                return false;
        return prim_rows[term->prim.id].level == LEVEL_VIEW && !prim_is_scatter(term->prim.id);
    default:
        return false;
    }
}

/* Is every read of the term in bounds, and every length at least 0, whatever the place is? */
static bool reads_in_bounds(Build *b, const Core *term)
{
    for (; term->kind == CORE_LET; term = term->let.body)
        if (!reads_in_bounds(b, term->let.value))
            return false;
    switch (term->kind) {
    case CORE_PRIM:
        for (int i = 0; i < term->prim.n_args; i++)
            if (!reads_in_bounds(b, term->prim.args[i]))
                return false;
        if (term->type->kind == TY_ARRAY && !nat_le(b->ctx, b->known, nat_const(b->ctx, 0), term->type->size))
            return false;
        return term->prim.id != P_index ||
               (nat_le(b->ctx, b->known, nat_const(b->ctx, 0), term->prim.nats[1]) &&
                nat_lt(b->ctx, b->known, term->prim.nats[1], term->prim.nats[0]));
    case CORE_LAMBDA:
        return reads_in_bounds(b, term->lambda.body);
    case CORE_TUPLE:
        for (int i = 0; i < term->tuple.n; i++)
            if (!reads_in_bounds(b, term->tuple.items[i]))
                return false;
        return true;
    case CORE_PROJ:
        return reads_in_bounds(b, term->proj.value);
    case CORE_IF:
        return reads_in_bounds(b, term->cond.cond) && reads_in_bounds(b, term->cond.then) &&
               reads_in_bounds(b, term->cond.otherwise);
    case CORE_VAR: case CORE_LET: case CORE_LIT: case CORE_SIZE: case CORE_UNIT_ERROR:
        break;
    }
    return true;
}

/* Is there an axis here that the nest does not have, and that may have no elements? */
static bool leaves_axis(Build *b, const Marks *m, int i)
{
    const Place *p = &b->places.at[i];
    return p->kind == PLACE_AXIS && !m->used[i] &&
           !nat_le(b->ctx, p->outer, nat_const(b->ctx, 1), p->var->type->size);
}

/* Puts the element under the conditions of the place, and marks what it mentions. */
static Core *under_guards(Build *b, Core *element, Marks *m)
{
    Ctx *ctx = b->ctx;
    bool asked = false, safe = false;
    for (int i = b->places.n - 1; i >= 0; i--) {
        const Place *p = &b->places.at[i];
        if (p->kind == PLACE_INDEX && m->used[i]) {
            element = make_let(ctx, p->var, p->term, element);
            term_each_nat(ctx, p->term, mark, m);
            continue;
        }
        Core *cond = p->kind == PLACE_GUARD ? p->term : NULL;
        if (leaves_axis(b, m, i)) {
            safe = asked ? safe : reads_in_bounds(b, element);
            asked = true;
            if (!safe)
                cond = make_compare(ctx, P_le, nat_const(ctx, 1), p->var->type->size, p->var->span);
        }
        if (!cond)
            continue;
        element = make_if(ctx, cond, element, make_zero(ctx, &b->next_var, element->type, element->span),
                          element->span);
        term_each_nat(ctx, cond, mark, m);
    }
    return element;
}

/* The array of a nest, closed. */
static Core *close_nest(Ctx *ctx, const Nest *nest)
{
    Core *closed = nest->element;
    for (int i = nest->n_axes - 1; i >= 0; i--)
        closed = make_generate(ctx, nest->axes[i], closed, closed->span);
    return closed;
}

/* The nest itself, or one that is equal. */
static Nest *known_nest(Build *b, Nest *nest)
{
    Core *closed = close_nest(b->ctx, nest);
    void *key = (void *)(uintptr_t)(core_key(b->ctx, closed) | 1);
    const Known *known = table_get(&b->by_key, key);
    if (known && core_alike(b->ctx, known->closed, closed))
        return known->nest;
    Known *new = NEW(b->ctx, Known);
    *new = (Known){closed, nest};
    table_put(b->ctx, &b->by_key, key, new);
    nest->var->type = closed->type;
    vec_push(b->ctx, &b->nests->list, nest);
    return nest;
}

/* What the term is at this place, as a nest; gives what reads it here. */
static Core *nest_of(Build *b, Core *element, const char *name)
{
    Ctx *ctx = b->ctx;
    Marks m = marks_new(b);
    term_each_nat(ctx, element, mark, &m);
    type_each_nat(ctx, element->type, mark, &m);
    Nest *nest = NEW(ctx, Nest);
    nest->element = under_guards(b, element, &m);
    nest->axes = NEWN(ctx, CoreVar *, b->places.n + 1);
    for (int i = 0; i < b->places.n; i++)
        if (b->places.at[i].kind == PLACE_AXIS && m.used[i])
            nest->axes[nest->n_axes++] = b->places.at[i].var;
    nest->var = NEW(ctx, CoreVar);
    *nest->var = (CoreVar){.id = b->next_var++, .name = name, .named = true, .span = element->span};
    CoreVar **axes = nest->axes;
    int n = nest->n_axes;
    nest = known_nest(b, nest);
    Core *read = make_ref(ctx, nest->var, element->span);
    for (int i = 0; i < n; i++)
        read = make_index(ctx, read, axes[i]->nat, element->span);
    return read;
}

static bool holds_index(Type type)
{
    bool index = type->kind == TY_IDX || (type->elem && holds_index(type->elem));
    for (int i = 0; i < type->n_items && !index; i++)
        index = holds_index(type->items[i]);
    return index;
}

/* The same value, with scalars that are computed in nests. Indices are no values to store: what they
 * may be depends on the place. */
static Value *stored(Build *b, Value *value, const char *name)
{
    if (value->kind == VALUE_TUPLE) {
        bool reads = true, whole = !value_has_arrays(value->type) && !holds_index(value->type);
        for (int i = 0; i < value->n; i++)
            reads &= value->items[i]->kind == VALUE_TERM && is_read(value->items[i]->term);
        if (whole && !reads)
            return value_term(&b->v, nest_of(b, value_as_term(&b->v, value), name));
        Value **items = NEWN(b->ctx, Value *, value->n + 1);
        for (int i = 0; i < value->n; i++)
            items[i] = stored(b, value->items[i], name);
        return value_tuple(&b->v, value->n, items, value->span);
    }
    bool scalar = value->kind == VALUE_TERM && !value_has_arrays(value->type);
    if (!scalar || holds_index(value->type) || is_read(value->term))
        return value;
    return value_term(&b->v, nest_of(b, value->term, name));
}

/* How many terms an element of the value is made of, about. */
static int leaves(const Value *value)
{
    enum { MANY = 1 << 20 };
    int n = 1;
    for (int i = 0; i < value->n && n < MANY; i++)
        n += leaves(value->items[i]);
    for (int i = 0; i < value->n_given && n < MANY; i++)
        n += nat_nodes(value->given[i]) / 8;
    return n;
}

static Value *copied(Build *b, const Value *value, const char *name);

/* What a name stands for: an array that is found by many steps is copied. */
static Value *named(Build *b, Value *value, const char *name)
{
    enum { MOST_LEAVES = 24 };
    if (value->type->kind == TY_ARRAY && leaves(value) > MOST_LEAVES)
        return copied(b, value, name);
    return stored(b, value, name);
}

static Value *copied(Build *b, const Value *value, const char *name)
{
    if (value->type->kind != TY_ARRAY) {
        Core *term = value_as_term(&b->v, value);
        return holds_index(term->type) ? value_term(&b->v, term)
                                       : value_term(&b->v, nest_of(b, term, name));
    }
    int mark = b->places.n;
    CoreVar *axis = open_axis(b, "i", value->type->size, value->span);
    Value *element = copied(b, value_at(&b->v, value, axis->nat), name);
    element = place_pop(b, mark, element);
    return value_each(&b->v, axis, value->type->size, element);
}

/* ---- names and functions ---------------------------------------------------------------------- */

static Reads *reads_of(Build *b, const CoreVar *var)
{
    while (b->reads.n <= var->id)
        vec_push(b->ctx, &b->reads, (Reads){0});
    return &b->reads.at[var->id];
}

/* Notes how often each variable is read: twice, where that is in a function that it is not of. */
static void count_uses(Build *b, const Core *term, int functions)
{
    for (; term->kind == CORE_LET; term = term->let.body) {
        count_uses(b, term->let.value, functions);
        reads_of(b, term->let.var)->functions = functions;
    }
    switch (term->kind) {
    case CORE_VAR:
        reads_of(b, term->var)->n += reads_of(b, term->var)->functions < functions ? 2 : 1;
        break;
    case CORE_PRIM:
        for (int i = 0; i < term->prim.n_args; i++)
            count_uses(b, term->prim.args[i], functions);
        break;
    case CORE_LAMBDA:
        for (int i = 0; i < term->lambda.n; i++)
            reads_of(b, term->lambda.params[i])->functions = functions + 1;
        count_uses(b, term->lambda.body, functions + 1);
        break;
    case CORE_TUPLE:
        for (int i = 0; i < term->tuple.n; i++)
            count_uses(b, term->tuple.items[i], functions);
        break;
    case CORE_PROJ:
        count_uses(b, term->proj.value, functions);
        break;
    case CORE_IF:
        count_uses(b, term->cond.cond, functions);
        count_uses(b, term->cond.then, functions);
        count_uses(b, term->cond.otherwise, functions);
        break;
    case CORE_LET: case CORE_LIT: case CORE_SIZE: case CORE_UNIT_ERROR:
        break;
    }
}

static void set(Build *b, const CoreVar *var, Value *value)
{
    while (b->env.n <= var->id)
        vec_push(b->ctx, &b->env, NULL);
    b->env.at[var->id] = value;
}

/* Gives a variable its value. */
static void bind(Build *b, CoreVar *var, Value *value)
{
    if (var->type->kind != TY_IDX) {
        set(b, var, reads_of(b, var)->n > 1 ? named(b, value, var->name) : value);
        return;
    }
    Nat nat = index_nat(value->term);
    if (!nat) { /* data: a variable says it to sizes and indices */
        CoreVar *index = make_var(b->ctx, &b->next_var, var->name, copy_type(&b->copy, var->type), var->span);
        place_push(b, PLACE_INDEX, index, value->term);
        value = value_term(&b->v, make_ref(b->ctx, index, var->span));
        nat = index->nat;
    }
    vec_push(b->ctx, &b->copy.from, var->nat);
    vec_push(b->ctx, &b->copy.to, nat);
    set(b, var, value);
}

typedef struct Mark {
    int places, nats;
} Mark;

static Mark mark_here(const Build *b) { return (Mark){b->places.n, b->copy.from.n}; }

static Value *back_to(Build *b, Mark mark, Value *value)
{
    b->copy.from.n = b->copy.to.n = mark.nats;
    return place_pop(b, mark.places, value);
}

static Value *eval_lets(Build *b, const Core *term, const char *name)
{
    Mark mark = mark_here(b);
    for (; term->kind == CORE_LET; term = term->let.body) {
        Value *value = eval(b, term->let.value, term->let.var->name);
        bind(b, term->let.var, value);
    }
    return back_to(b, mark, eval(b, term, name));
}

/* ---- primitives that stay -------------------------------------------------------------------- */

static Value *look_up(Build *b, const CoreVar *var)
{
    return var->id < b->env.n ? b->env.at[var->id] : NULL;
}

/* What a variable stands for in a function that stays as it is. */
static Core *outer_term(void *user, const CoreVar *var)
{
    Build *b = user;
    Value *value = look_up(b, var);
    if (!value)
        return NULL;
    Core *term = value_as_term(&b->v, value);
    if (value->kind == VALUE_TERM || term->type->kind != TY_ARRAY)
        return term;
    CoreVar *array = make_var(b->ctx, &b->next_var, var->name, term->type, var->span);
    vec_push(b->ctx, &b->arrays, make_let(b->ctx, array, term, term));
    return make_ref(b->ctx, array, var->span);
}

/* A primitive as it is, of arguments that are evaluated. */
static Core *as_it_is(Build *b, const Core *term, const char *name)
{
    Core *new = NEW(b->ctx, Core);
    *new = *term;
    new->prim.args = NEWN(b->ctx, Core *, term->prim.n_args + 1);
    Nat *nats = NEWN(b->ctx, Nat, term->prim.n_nats + 1);
    for (int i = 0; i < term->prim.n_nats; i++)
        nats[i] = copy_nat(&b->copy, term->prim.nats[i]);
    new->prim.nats = nats;
    new->type = copy_type(&b->copy, term->type);
    new->prim.cast_type = copy_type(&b->copy, term->prim.cast_type);
    new->height = 1;
    for (int i = 0; i < term->prim.n_args; i++) {
        const Core *arg = term->prim.args[i];
        Core *copy = arg->kind == CORE_LAMBDA ? copy_term(&b->copy, arg)
                                              : value_as_term(&b->v, eval(b, arg, name));
        new->prim.args[i] = copy;
        if (copy->height >= new->height)
            new->height = copy->height + 1;
    }
    return new;
}

static Value *eval_node(Build *b, const Core *term, const char *name)
{
    int mark = b->arrays.n;
    Core *node = as_it_is(b, term, name);
    while (b->arrays.n > mark) {
        const Core *let = b->arrays.at[--b->arrays.n];
        node = make_let(b->ctx, let->let.var, let->let.value, node);
    }
    return value_term(&b->v, nest_of(b, node, name));
}

/* ---- arrays ------------------------------------------------------------------------------------ */

static Value *eval_generate(Build *b, const Core *term, const char *name)
{
    const Core *f = term->prim.args[0];
    Mark mark = mark_here(b);
    Nat n = copy_nat(&b->copy, term->prim.nats[0]);
    CoreVar *axis = open_axis(b, f->lambda.params[0]->name, n, term->span);
    bind(b, f->lambda.params[0], value_term(&b->v, make_ref(b->ctx, axis, term->span)));
    Value *element = stored(b, eval(b, f->lambda.body, name), name);
    return value_each(&b->v, axis, n, back_to(b, mark, element));
}

static Value *eval_map(Build *b, const Core *term, const char *name)
{
    const Core *f = term->prim.args[0];
    Value *array = eval(b, term->prim.args[1], name);
    Mark mark = mark_here(b);
    Nat n = array->type->size;
    CoreVar *axis = open_axis(b, "i", n, term->span);
    bind(b, f->lambda.params[0], value_at(&b->v, array, axis->nat));
    Value *element = stored(b, eval(b, f->lambda.body, name), name);
    return value_each(&b->v, axis, n, back_to(b, mark, element));
}

/* A map whose lengths have no bound is one nest, as it is written. */
static Value *eval_whole(Build *b, const Core *term, const char *name,
                         Value *(*fn)(Build *b, const Core *term, const char *name))
{
    bool outermost = true;
    for (int i = 0; i < b->places.n; i++)
        outermost &= b->places.at[i].kind != PLACE_AXIS;
    int nests = b->nests->list.n;
    Value *value = fn(b, term, name);
    if (!b->ragged || !outermost)
        return value;
    b->ragged = false;
    b->nests->list.n = nests;
    b->by_key = (Table){0};
    return eval_node(b, term, name);
}

static Value *view_of(Build *b, ValueKind kind, const Core *term, int first)
{
    Value *items[4];
    int n = term->prim.n_args - first;
    for (int i = 0; i < n; i++)
        items[i] = eval(b, term->prim.args[first + i], "view");
    return value_new(&b->v, kind, copy_type(&b->copy, term->type), term->span, n, items);
}

static Nat nat_of(Build *b, const Core *term, int k) { return copy_nat(&b->copy, term->prim.nats[k]); }

static Value *eval_index_map(Build *b, const Core *term)
{
    Value *view = view_of(b, VALUE_MAP, term, 0);
    Nat *nats = NEWN(b->ctx, Nat, term->prim.n_nats + 1);
    for (int i = 0; i < term->prim.n_nats; i++)
        nats[i] = nat_of(b, term, i);
    view->prim = term->prim.id;
    view->nats = nats;
    return view;
}

static Value *eval_pad(Build *b, const Core *term)
{
    bool both = term->prim.id == P_padCst; /* {n} (l) (r), or {n} (k) */
    Value *pad = stored(b, eval(b, term->prim.args[0], "pad"), "pad");
    Value *items[2] = {eval(b, term->prim.args[1], "padded"), pad};
    Value *view = value_new(&b->v, VALUE_PAD, copy_type(&b->copy, term->type), term->span, 2, items);
    view->lo = both ? nat_of(b, term, 1) : nat_const(b->ctx, 0);
    return view;
}

static Value *eval_unzip(Build *b, const Core *term)
{
    Value *pairs = eval(b, term->prim.args[0], "pairs"), *items[2];
    Type type = copy_type(&b->copy, term->type);
    for (int i = 0; i < 2; i++) {
        items[i] = value_new(&b->v, VALUE_PART, type->items[i], term->span, 1, &pairs);
        items[i]->part = i;
    }
    return value_tuple(&b->v, 2, items, term->span);
}

static Value *eval_reorder(Build *b, const Core *term)
{
    const Core *f = term->prim.args[0];
    Mark mark = mark_here(b);
    Nat n = nat_of(b, term, 0);
    CoreVar *axis = open_axis(b, "i", n, term->span);
    bind(b, f->lambda.params[0], value_term(&b->v, make_ref(b->ctx, axis, term->span)));
    Value *at = back_to(b, mark, eval(b, f->lambda.body, "at"));
    Value *items[2] = {value_each(&b->v, axis, n, at), eval(b, term->prim.args[1], "reordered")};
    return value_new(&b->v, VALUE_GATHER, copy_type(&b->copy, term->type), term->span, 2, items);
}

/* ---- scalars and branches --------------------------------------------------------------------- */

/* A value of a branch. */
static Value *eval_under(Build *b, const Core *term, Core *cond, const char *name)
{
    int mark = b->places.n;
    place_push(b, PLACE_GUARD, NULL, cond);
    return place_pop(b, mark, eval(b, term, name));
}

static Value *eval_if(Build *b, const Core *term, const char *name)
{
    Value *cond = eval(b, term->cond.cond, "condition");
    if (value_has_arrays(term->type))
        cond = stored(b, cond, "condition");
    Value *then = eval_under(b, term->cond.then, cond->term, name);
    Value *otherwise = eval_under(b, term->cond.otherwise, make_not(b->ctx, cond->term), name);
    return value_choice(&b->v, cond->term, then, otherwise);
}

static Value *eval_scalar(Build *b, const Core *term)
{
    PrimId id = term->prim.id;
    if (id != P_and && id != P_or)
        return value_term(&b->v, as_it_is(b, term, "value"));
    Core *first = eval(b, term->prim.args[0], "condition")->term;
    Core *under = id == P_and ? first : make_not(b->ctx, first);
    Core *args[2] = {first, eval_under(b, term->prim.args[1], under, "condition")->term};
    return value_term(&b->v, make_prim(b->ctx, id, term->type, 0, NULL, 2, args, term->span));
}

static Value *eval_tuple(Build *b, const Core *term, const char *name)
{
    Value **items = NEWN(b->ctx, Value *, term->tuple.n + 1);
    for (int i = 0; i < term->tuple.n; i++)
        items[i] = eval(b, term->tuple.items[i], name);
    return value_tuple(&b->v, term->tuple.n, items, term->span);
}

/* ---- terms ------------------------------------------------------------------------------------- */

static Value *eval_prim(Build *b, const Core *term, const char *name)
{
    switch ((int)term->prim.id) {
    case P_id: case P_readOnce: case P_keepCached: case P_readTogether: case P_toGlobal:
    case P_toShared: case P_toPrivate:
        return eval(b, term->prim.args[0], name);
    case P_map: case P_mapSeq: case P_mapSeqUnroll:
        return eval_whole(b, term, name, eval_map);
    case P_generate:
        return eval_whole(b, term, name, eval_generate);
    case P_zip: case P_zip3: case P_zip4:
        return view_of(b, VALUE_ZIP, term, 0);
    case P_unzip:
        return eval_unzip(b, term);
    case P_padCst: case P_padTo:
        return eval_pad(b, term);
    case P_gather:
        return view_of(b, VALUE_GATHER, term, 0);
    case P_reorder:
        return eval_reorder(b, term);
    case P_concat: {
        Value *view = view_of(b, VALUE_CONCAT, term, 0);
        view->lo = view->items[0]->type->size;
        return view;
    }
    case P_index:
        return value_at(&b->v, eval(b, term->prim.args[0], name),
                        nat_simplify(b->ctx, b->v.facts, nat_of(b, term, 1)));
    case P_single:
        return value_at(&b->v, eval(b, term->prim.args[0], name), nat_const(b->ctx, 0));
    case P_nextKernel: case P_lastBlock: case P_gridSync: {
        const Core *f = term->prim.args[0];
        Mark mark = mark_here(b);
        bind(b, f->lambda.params[0], named(b, eval(b, term->prim.args[1], name), name));
        return back_to(b, mark, eval(b, f->lambda.body, name));
    }
    }
    if (index_map_rank(term->prim.id, false))
        return eval_index_map(b, term);
    if (prim_rows[term->prim.id].level == LEVEL_SCALAR && !value_has_arrays(term->type))
        return eval_scalar(b, term);
    return eval_node(b, term, name);
}

static Value *eval(Build *b, const Core *term, const char *name)
{
    ctx_look(b->ctx);
    switch (term->kind) {
    case CORE_VAR:
        return look_up(b, term->var);
    case CORE_SIZE:
        return value_term(&b->v, make_size(b->ctx, copy_nat(&b->copy, term->size),
                                           copy_type(&b->copy, term->type), term->span));
    case CORE_PRIM:
        return eval_prim(b, term, name);
    case CORE_LET:
        return eval_lets(b, term, name);
    case CORE_TUPLE:
        return eval_tuple(b, term, name);
    case CORE_PROJ:
        return value_part(&b->v, eval(b, term->proj.value, name), term->proj.index);
    case CORE_IF:
        return eval_if(b, term, name);
    case CORE_LIT: case CORE_LAMBDA: case CORE_UNIT_ERROR:
        break;
    }
    return value_term(&b->v, (Core *)(uintptr_t)term);
}

/* ---- the whole --------------------------------------------------------------------------------- */

static bool over_sizes(const Core *cond)
{
    if (cond->kind == CORE_PRIM && prim_rows[cond->prim.id].level == LEVEL_SCALAR) {
        for (int i = 0; i < cond->prim.n_args; i++)
            if (!over_sizes(cond->prim.args[i]))
                return false;
        return true;
    }
    if (cond->kind == CORE_IF)
        return over_sizes(cond->cond.cond) && over_sizes(cond->cond.then) &&
               over_sizes(cond->cond.otherwise);
    return cond->kind == CORE_SIZE || cond->kind == CORE_LIT;
}

static Nests *build(Build *b, const Core *term);

/* One side of a condition over sizes, at the end of the program: a list of its own. */
static Nests *build_side(Build *b, const Core *term, const Core *cond, bool holds)
{
    NatFacts *facts = b->v.facts, *known = b->known;
    Nests *nests = b->nests;
    Table by_key = b->by_key;
    b->known = b->v.facts = nat_facts_new(b->ctx, facts);
    b->by_key = (Table){0};
    core_cond_facts(b->ctx, b->known, cond, holds);
    Nests *side = build(b, term);
    b->v.facts = facts;
    b->known = known;
    b->nests = nests;
    b->by_key = by_key;
    return side;
}

/* The same value of an equal type: a size may be written in two ways. */
static Value *of_type(Build *b, Value *value, Type type)
{
    if (value->type == type)
        return value;
    if (value->kind == VALUE_TUPLE) {
        Value **items = NEWN(b->ctx, Value *, value->n + 1);
        for (int i = 0; i < value->n; i++)
            items[i] = of_type(b, value->items[i], type->items[i]);
        return value_tuple(&b->v, value->n, items, value->span);
    }
    Value *same = NEW(b->ctx, Value);
    *same = *value;
    same->type = type;
    return same;
}

static Nests *build(Build *b, const Core *term)
{
    Nests *nests = NEW(b->ctx, Nests);
    b->nests = nests;
    Mark mark = mark_here(b);
    for (; term->kind == CORE_LET && term->let.var->type->kind != TY_IDX; term = term->let.body)
        bind(b, term->let.var, eval(b, term->let.value, term->let.var->name));
    if (term->kind == CORE_IF && over_sizes(term->cond.cond)) {
        nests->cond = term->cond.cond;
        nests->then = build_side(b, term->cond.then, nests->cond, true);
        nests->otherwise = build_side(b, term->cond.otherwise, nests->cond, false);
        return nests;
    }
    Value *result = stored(b, back_to(b, mark, eval(b, term, "result")), "result");
    nests->result = value_as_term(&b->v, of_type(b, result, copy_type(&b->copy, term->type)));
    return nests;
}

Nests *nests_of(Ctx *ctx, const CoreEntry *entry, int *next_var)
{
    Build b = {.ctx = ctx, .known = nat_facts_new(ctx, (NatFacts *)(uintptr_t)entry->known)};
    b.v = (Values){.ctx = ctx, .next_var = &b.next_var, .facts = b.known};
    b.copy = (TermCopy){.ctx = ctx, .next_var = &b.next_var, .by = outer_term, .user = &b};
    b.next_var = *next_var;
    for (int i = 0; i < entry->n_inputs; i++)
        set(&b, entry->inputs[i], value_term(&b.v, make_ref(ctx, entry->inputs[i], entry->span)));
    count_uses(&b, entry->body, 0);
    Nests *nests = build(&b, entry->body);
    *next_var = b.next_var;
    return nests;
}

Core *nests_body(Ctx *ctx, const Nests *nests)
{
    Core *body = nests->result;
    if (!body)
        body = make_if(ctx, nests->cond, nests_body(ctx, nests->then),
                       nests_body(ctx, nests->otherwise), nests->cond->span);
    for (int i = nests->list.n - 1; i >= 0; i--) {
        const Nest *nest = nests->list.at[i];
        body = make_let(ctx, nest->var, close_nest(ctx, nest), body);
    }
    return body;
}
