/* Where terms stand, and the nests that are made there: Note [Places] in build.h. */
#include "ir/key.h"
#include "schedule/build.h"

typedef struct Known { /* a nest, closed: no axis is free in it */
    Core *closed;
    Nest *nest;
} Known;

/* ---- places ---- */

void place_push(Build *b, PlaceKind kind, CoreVar *var, Core *term)
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
Value *place_pop(Build *b, int n, Value *value)
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

/* ---- axes ---- */

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
CoreVar *open_axis(Build *b, const char *name, Nat length, Span span)
{
    Ctx *ctx = b->ctx;
    Nat most = at_most(b, length), zero = nat_const(ctx, 0);
    if (!most) {
        b->ragged = true;
        most = zero;
    }
    most = with_value(b, most);
    Nat simple = nat_simplify(ctx, b->known, most);
    most = nat_is(simple, 0) ? most : simple; /* nothing is split into rows of 0 elements */
    if (!nat_le(ctx, b->known, zero, most))
        most = nat_max(ctx, zero, most);
    CoreVar *axis = make_var(ctx, &b->next_var, name, type_idx(ctx, most), span);
    place_push(b, PLACE_AXIS, axis, NULL);
    if (!nat_le(ctx, b->v.facts, most, length))
        place_push(b, PLACE_GUARD, NULL, make_compare(ctx, P_lt, axis->nat, length, span));
    return axis;
}

/* ---- nests ---- */

/* Read from memory or known: nothing is computed. */
bool is_read(const Core *term)
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
    for (int i = 0; i < term_children(term); i++)
        if (!reads_in_bounds(b, term_child(term, i)))
            return false;
    Nat zero = nat_const(b->ctx, 0);
    if (term->kind != CORE_PRIM)
        return true;
    if (term->type->kind == TY_ARRAY && !nat_le(b->ctx, b->known, zero, term->type->size))
        return false;
    return term->prim.id != P_index || (nat_le(b->ctx, b->known, zero, term->prim.nats[1]) &&
                                        nat_lt(b->ctx, b->known, term->prim.nats[1], term->prim.nats[0]));
}

/* Is there an axis here that the nest does not have, and that may have no elements? */
static bool leaves_axis(Build *b, const Marks *m, int i)
{
    const Place *p = &b->places.at[i];
    return p->kind == PLACE_AXIS && !m->used[i] &&
           !nat_le(b->ctx, p->outer, nat_const(b->ctx, 1), p->var->type->size);
}

/* Is the place one of those that nests of the list have around them? */
static bool is_around(const Sequence *of, int i)
{
    return !of || (i >= of->places && (i < of->from || i >= of->to));
}

/* Puts the element under the conditions of the places, and marks what it mentions. */
static Core *under_guards(Build *b, Core *element, Marks *m, const Sequence *of)
{
    Ctx *ctx = b->ctx;
    bool asked = false, safe = false;
    for (int i = b->places.n - 1; i >= 0; i--) {
        const Place *p = &b->places.at[i];
        if (!is_around(of, i))
            continue;
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

/* The element under the conditions of the place. Of a fold, scan or the like that has a length
 * without them, what it is of stands under them: it can then be computed as any other. */
static Core *guarded(Build *b, Core *element, Marks *m, const Sequence *of)
{
    Ctx *ctx = b->ctx;
    bool high = element->kind == CORE_PRIM && prim_rows[element->prim.id].level == LEVEL_HIGH;
    Core *array = high ? element->prim.args[element->prim.n_args - 1] : NULL;
    bool has_length = array && with_value(b, array->type->size) == array->type->size &&
                      nat_le(ctx, b->known, nat_const(ctx, 0), array->type->size);
    if (!has_length)
        return under_guards(b, element, m, of);
    Type index = type_idx(ctx, array->type->size);
    CoreVar *k = make_var(ctx, &b->next_var, "k", index, array->span);
    Core *cell = make_index(ctx, array, k->nat, array->span), *under = under_guards(b, cell, m, of);
    if (under == cell)
        return element;
    Core *new = term_copy(ctx, element);
    for (int i = 0; i < term_children(element); i++)
        term_set_child(new, i, term_child(element, i));
    term_set_child(new, element->prim.n_args - 1, make_generate(ctx, k, under, array->span));
    return new;
}

/* The array of a nest, closed. */
Core *close_nest(Ctx *ctx, const Nest *nest)
{
    Core *closed = nest->element;
    for (int i = nest->n_axes - 1; i >= 0; i--)
        closed = make_generate(ctx, nest->axes[i], closed, closed->span);
    return closed;
}

/* Of how many of the sequences around does the term depend on the state? */
static int depth_of(const Build *b, const Core *term)
{
    int depth = 0;
    if (b->sequences.n == 0)
        return 0;
    for (; term->kind == CORE_LET; term = term->let.body) {
        int value = depth_of(b, term->let.value);
        depth = value > depth ? value : depth;
    }
    if (term->kind == CORE_VAR)
        depth = (int)(uintptr_t)table_get(&b->depth_of, term->var);
    for (int i = 0; i < term_children(term); i++) {
        int part = depth_of(b, term_child(term, i));
        depth = part > depth ? part : depth;
    }
    return depth;
}

/* The nest itself, or one that is equal. */
static Nest *known_nest(Build *b, Nest *nest, int depth)
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
    Nests *nests = depth ? b->sequences.at[depth - 1].nests : b->nests;
    vec_push(b->ctx, &nests->list, nest);
    if (depth)
        table_put(b->ctx, &b->depth_of, nest->var, (void *)(uintptr_t)depth);
    return nest;
}

void nests_forget(Build *b, int n)
{
    b->nests->list.n = n;
    b->by_key = (Table){0};
}

/* Gives the nest its element, under the conditions of the places that it has around it. */
static Marks guarded_in(Build *b, Core *element, const Sequence *of, Nest *nest)
{
    Marks m = marks_new(b);
    term_each_nat(b->ctx, element, mark, &m);
    type_each_nat(b->ctx, element->type, mark, &m);
    nest->element = guarded(b, element, &m, of);
    return m;
}

Core *guarded_here(Build *b, Core *element)
{
    Marks m = marks_new(b);
    term_each_nat(b->ctx, element, mark, &m);
    for (int i = 0; i < b->places.n; i++) /* whoever has all axes has elements */
        m.used[i] |= b->places.at[i].kind == PLACE_AXIS;
    return under_guards(b, element, &m, NULL);
}

bool nat_of_all(Build *b, Nat nat)
{
    Marks m = marks_new(b);
    nat_each_var(b->ctx, nat, mark, &m);
    return !m.any;
}

static CoreVar *nest_var(Build *b, const Core *element, const char *name)
{
    CoreVar *var = NEW(b->ctx, CoreVar);
    *var = (CoreVar){.id = b->next_var++, .name = name, .named = true, .span = element->span};
    return var;
}

Core *nest_of_all(Build *b, Core *element, const char *name)
{
    Nest *nest = NEW(b->ctx, Nest);
    *nest = (Nest){.element = element, .var = nest_var(b, element, name)};
    return make_ref(b->ctx, known_nest(b, nest, 0)->var, element->span);
}

/* What the term is at this place, as a nest; gives what reads it here. Of no elements, nothing needs to be
 * lowered. */
Core *nest_of(Build *b, Core *element, const char *name)
{
    Ctx *ctx = b->ctx;
    Nest *nest = NEW(ctx, Nest);
    if (element->type->kind == TY_ARRAY && nat_is(element->type->size, 0))
        element = make_zero(ctx, &b->next_var, element->type, element->span);
    Marks m = guarded_in(b, element, NULL, nest);
    int depth = depth_of(b, nest->element);
    const Sequence *of = depth ? &b->sequences.at[depth - 1] : NULL;
    if (depth)
        m = guarded_in(b, element, of, nest);
    nest->axes = NEWN(ctx, CoreVar *, b->places.n + 1);
    for (int i = 0; i < b->places.n; i++)
        if (b->places.at[i].kind == PLACE_AXIS && m.used[i] && is_around(of, i))
            nest->axes[nest->n_axes++] = b->places.at[i].var;
    nest->var = nest_var(b, element, name);
    CoreVar **axes = nest->axes;
    int n = nest->n_axes;
    nest = known_nest(b, nest, depth);
    Core *read = make_ref(ctx, nest->var, element->span);
    for (int i = 0; i < n; i++)
        read = make_index(ctx, read, axes[i]->nat, element->span);
    return read;
}
