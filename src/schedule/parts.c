/* Prefixes of columns, and of wide tuples, and folds by operators that do not commute: those of
 * parts of 64 elements, a thread for each part.
 *
 *   totals[r][b] = fold of part b of row r
 *   starts       = scanExcl of each row of totals, or the fold of each
 *   ys           = for each part, the sequence that begins with its start
 *
 * What is before the parts is prefixes again, or a fold, and comes in parts itself where it is long.
 * Rows of less than LONG elements are one part. Scans of whole arrays and of rows have kernels of
 * their own, if blocks can pass their totals to each other. */
#include "frontend/rule.h"
#include "ir/choice.h"
#include "ir/operator.h"
#include "schedule/build.h"
#include "schedule/shape.h"

enum {
    PART = 64,
    LONG = 1024, /* elements: from so many on there are parts */
    LEVELS = 2   /* parts of parts */
};

typedef struct Parts {
    Ctx *ctx;
    const CoreEntry *entry;
    int *next_var;
    VEC(Nest *) list; /* so far */
    Table wholes;     /* arrays of which more is read than single elements */
    Table fixed;      /* arrays that steps of sequences read */
    Table others;     /* from an array to the Other that it is read as */
} Parts;

static bool is_scan(const Core *term)
{
    return term->kind == CORE_PRIM && (term->prim.id == P_scan || term->prim.id == P_scanExcl);
}

/* Prefixes that the program makes in order: a thread goes through each row. */
static bool is_sequence(const Core *term)
{
    return term->kind == CORE_PRIM && (term->prim.id == P_scanSeq || term->prim.id == P_scanSeqExcl);
}

bool fold_is_ordered(Ctx *ctx, const Core *term)
{
    if (term->kind != CORE_PRIM || term->prim.id != P_reduce)
        return false;
    const Core *op = term->prim.args[0];
    ChoiceOrder order;
    return op->kind == CORE_LAMBDA && !operator_commutes(op) && !choice_order(ctx, op, 0, &order) &&
           !choice_order(ctx, op, 1, &order);
}

/* What a scan or fold carries from element to element. */
static Type state_of(const Core *scan)
{
    return is_scan(scan) || is_sequence(scan) ? scan->type->elem : scan->type;
}

static bool has_own_length(const Nest *nest)
{
    for (int i = 0; i < nest->n_axes; i++)
        if (nat_mentions(nest->element->prim.args[2]->type->size, nest->axes[i]->nat))
            return true;
    return false;
}

static bool goes_in_order(const Nest *nest)
{
    return !nest->steps && is_sequence(nest->element) &&
           !type_gives_arrays(state_of(nest->element)) && !has_own_length(nest);
}

static bool comes_in_parts(const Parts *p, const Nest *nest)
{
    Core *scan = nest->element;
    bool fold = fold_is_ordered(p->ctx, scan);
    if ((!is_scan(scan) && !fold) || nest->steps)
        return false;
    Nat n = scan->prim.args[2]->type->size;
    Type t = state_of(scan);
    bool by_blocks = !fold && type_is_total(t);
    bool is_short = nat_is_const(n) && n->value < LONG;
    by_blocks |= fold && !type_gives_arrays(t);
    bool by_rows = by_blocks && nest->n_axes > 0 && !reads_across(p->ctx, p->entry, nest, p->next_var);
    if ((nest->n_axes == 0 && by_blocks) || by_rows || is_short || holds_index(t) || type_gives_arrays(t) ||
        has_own_length(nest))
        return false;
    return nat_le(p->ctx, p->entry->known, nat_const(p->ctx, 0), n);
}

/* ---- the scan at other indices ---- */

/* A part of the scan's term, of the row that `rows` says. */
static Core *of_row(const Parts *p, const Nest *nest, Core *term, const Nat *rows)
{
    for (int i = 0; i < nest->n_axes; i++)
        term = term_with_nat(p->ctx, p->next_var, term, nest->axes[i]->nat, rows[i]);
    return term;
}

/* The elements from `first` on, so many; those past the end are `past`, or, if it is NULL, the last
 * one. */
static Core *part_of(const Parts *p, const Nest *nest, const Nat *rows, Nat first, Nat count,
                     Core *past)
{
    Ctx *ctx = p->ctx;
    Core *array = nest->element->prim.args[2];
    Nat n = array->type->size;
    CoreVar *j = make_var(ctx, p->next_var, "j", type_idx(ctx, count), array->span);
    Nat at = nat_add(ctx, first, j->nat);
    Core *inside = past ? make_compare(ctx, P_lt, at, n, array->span) : NULL;
    if (count != n)
        at = nat_min(ctx, at, nat_add_k(ctx, n, -1));
    Core *element;
    if (array->kind == CORE_PRIM && array->prim.id == P_generate && array->prim.args[0]->kind == CORE_LAMBDA) {
        const Core *f = array->prim.args[0];
        element = term_with_nat(ctx, p->next_var, f->lambda.body, f->lambda.params[0]->nat, at);
    } else
        element = make_index(ctx, array, at, array->span);
    if (inside)
        element = make_if(ctx, inside, element, past, array->span);
    return make_generate(ctx, j, of_row(p, nest, element, rows), array->span);
}

/* A fold or scan, in order, of the scan's operator. */
static Core *in_order(const Parts *p, PrimId id, const Nest *nest, const Nat *rows, Core *start, Core *array)
{
    const Core *scan = nest->element;
    Type state = state_of(scan);
    bool fold = id == P_reduceSeq || id == P_reduce;
    Type type = fold ? state : type_array(p->ctx, array->type->size, state);
    Core *unit = start ? start : of_row(p, nest, scan->prim.args[1], rows);
    Core *args[3] = {of_row(p, nest, scan->prim.args[0], rows), unit, array};
    Core *new = make_prim(p->ctx, id, type, scan->prim.n_nats, scan->prim.nats, 3, args, scan->span);
    new->prim.nats = NEWN(p->ctx, Nat, 1);
    ((Nat *)(uintptr_t)new->prim.nats)[0] = array->type->size;
    return new;
}

/* Is it in one part? Else what its parts need is known: where sizes are divided, that is not always found
 * from the length. */
static Core *is_short(const Parts *p, Nat n, Nat parts, Span span)
{
    Ctx *ctx = p->ctx;
    NatFacts *facts = nat_facts_new(ctx, (NatFacts *)(uintptr_t)p->entry->known);
    Nat length = nat_const(ctx, LONG), one = nat_const(ctx, 1);
    const Nat least[3] = {one, one, n}, most[3] = {n, parts, nat_mul_k(ctx, parts, PART)};
    nat_fact_le(ctx, facts, length, n);
    Core *is_long = make_compare(ctx, P_le, length, n, span), *all = is_long;
    for (int i = 0; i < 3; i++)
        if (!nat_le(ctx, facts, least[i], most[i])) {
            nat_fact_le(ctx, facts, least[i], most[i]);
            all = make_both(ctx, all, make_compare(ctx, P_le, least[i], most[i], span));
        }
    return all == is_long ? make_compare(ctx, P_lt, n, length, span) : make_not(ctx, all);
}

/* ---- what is before each part ---- */

static CoreVar **axes_of(const Parts *p, const Nest *nest, int more, Nat *rows)
{
    CoreVar **axes = NEWN(p->ctx, CoreVar *, nest->n_axes + more + 1);
    for (int i = 0; i < nest->n_axes; i++) {
        axes[i] = make_var(p->ctx, p->next_var, nest->axes[i]->name, nest->axes[i]->type, nest->axes[i]->span);
        rows[i] = axes[i]->nat;
    }
    return axes;
}

static Nest *new_nest(const Parts *p, const char *name, int n_axes, CoreVar **axes, Core *element)
{
    Type type = element->type;
    for (int i = n_axes - 1; i >= 0; i--)
        type = type_array(p->ctx, axes[i]->type->size, type);
    Nest *nest = NEW(p->ctx, Nest);
    *nest = (Nest){.n_axes = n_axes, .axes = axes, .element = element};
    nest->var = make_var(p->ctx, p->next_var, name, type, element->span);
    return nest;
}

static Core *read_at(const Parts *p, CoreVar *array, int n, const Nat *at, Span span)
{
    Core *read = make_ref(p->ctx, array, span);
    for (int i = 0; i < n; i++)
        read = make_index(p->ctx, read, at[i], span);
    return read;
}

static void add_parted(Parts *p, Nest *nest, int level);

/* What is made of the totals of all parts, [axes of the scan][part]: the state before each, or the
 * fold. */
static CoreVar *add_of_totals(Parts *p, const Nest *nest, Nat parts, PrimId id, const char *name,
                              int level)
{
    Ctx *ctx = p->ctx;
    const Core *scan = nest->element;
    Nat n = scan->prim.args[2]->type->size;
    Span span = scan->span;
    Nat *rows = NEWN(ctx, Nat, nest->n_axes + 1);
    CoreVar **axes = axes_of(p, nest, 1, rows);
    CoreVar *b = make_var(ctx, p->next_var, "part", type_idx(ctx, parts), span);
    axes[nest->n_axes] = b;
    Core *past = id == P_reduce ? scan->prim.args[1] : NULL; /* nobody reads the last part's total else */
    Core *part = part_of(p, nest, rows, nat_mul_k(ctx, b->nat, PART), nat_const(ctx, PART), past);
    Core *total = in_order(p, P_reduceSeq, nest, rows, NULL, part);
    Core *zero = make_zero(ctx, p->next_var, total->type, span);
    total = make_if(ctx, is_short(p, n, parts, span), zero, total, span);
    Nest *totals = new_nest(p, "totals", nest->n_axes + 1, axes, total);
    vec_push(ctx, &p->list, totals);
    axes = axes_of(p, nest, 0, rows);
    Core *row = read_at(p, totals->var, nest->n_axes, rows, span);
    Core *made = in_order(p, id, nest, rows, NULL, row);
    Nest *of_totals = new_nest(p, name, nest->n_axes, axes, made);
    add_parted(p, of_totals, level + 1);
    return of_totals->var;
}

/* A fold is that of its parts' folds, by a thread each. */
static void add_fold(Parts *p, const Nest *nest, Nat parts, int level)
{
    Ctx *ctx = p->ctx;
    Span span = nest->element->span;
    Nat n = nest->element->prim.args[2]->type->size;
    CoreVar *fold = add_of_totals(p, nest, parts, P_reduce, "folds", level);
    Nat *rows = NEWN(ctx, Nat, nest->n_axes + 1);
    CoreVar **axes = axes_of(p, nest, 0, rows);
    Core *all = part_of(p, nest, rows, nat_const(ctx, 0), n, NULL);
    Core *alone = in_order(p, P_reduceSeq, nest, rows, NULL, all);
    Core *of_parts = read_at(p, fold, nest->n_axes, rows, span);
    Core *element = make_if(ctx, is_short(p, n, parts, span), alone, of_parts, span);
    Nest *whole = new_nest(p, nest->var->name, nest->n_axes, axes, element);
    whole->var = nest->var;
    vec_push(ctx, &p->list, whole);
}

/* ---- the sequences ---- */

static Core *layout(const Parts *p, PrimId id, Type type, int n_nats, const Nat *nats, Core *array)
{
    return make_prim(p->ctx, id, type, n_nats, nats, 1, &array, array->span);
}

/* The view of each element of an array of arrays. */
static Core *each(const Parts *p, PrimId id, Type type, int n_nats, const Nat *nats, Core *array)
{
    CoreVar *row = make_var(p->ctx, p->next_var, "row", array->type->elem, array->span);
    return make_map(p->ctx, row, layout(p, id, type, n_nats, nats, make_ref(p->ctx, row, array->span)), array);
}

static Core *split_by(const Parts *p, Core *array, Nat rows, Nat size)
{
    Nat nats[2] = {nat_mul(p->ctx, rows, size), size};
    return layout(p, P_split, type_array(p->ctx, rows, type_array(p->ctx, size, array->type->elem)), 2, nats, array);
}

static Core *each_transposed(const Parts *p, Core *array)
{
    Type rows = array->type->elem;
    Nat nats[2] = {rows->size, rows->elem->size};
    return each(p, P_transpose, type_array(p->ctx, nats[1], type_array(p->ctx, nats[0], rows->elem->elem)), 2, nats, array);
}

/* (rows*parts).part.t as rows.n.t */
static Core *rows_joined(const Parts *p, Core *array, Nat rows, Nat n_parts, Nat n)
{
    if (nat_is(n_parts, 1))
        return array;
    array = split_by(p, array, rows, n_parts);
    Type parts = array->type->elem;
    Nat nats[2] = {parts->size, parts->elem->size};
    Nat length = nat_mul(p->ctx, nats[0], nats[1]);
    Core *joined = each(p, P_join, type_array(p->ctx, length, parts->elem->elem), 2, nats, array);
    Nat counts[2] = {length, n};
    return length == n ? joined : each(p, P_take, type_array(p->ctx, n, parts->elem->elem), 2, counts, joined);
}

/* [1][n] as [n]. */
static Core *of_one(const Parts *p, Core *array)
{
    Nat nats[2] = {array->type->size, array->type->elem->size};
    Nat n = nat_mul(p->ctx, nats[0], nats[1]);
    return layout(p, P_join, type_array(p->ctx, n, array->type->elem->elem), 2, nats, array);
}

/* How threads share the work: over [outer][parts][inner] where neighbours lie across the rows, else over
 * [outer][inner][parts]. */
typedef struct Threads {
    const Nest *nest;
    bool across, exchanged; /* the last two axes of the array, too */
    Nat outer, inner;       /* rows: outer * inner */
    Nat parts, part;        /* how many, and of how many elements */
} Threads;

/* What the threads computed, each `part` elements, as the array. */
static Core *as_array(const Parts *p, const Threads *t, Core *computed)
{
    Ctx *ctx = p->ctx;
    const Nest *nest = t->nest;
    Nat n = nest->element->type->size;
    if (!t->across) {
        Core *rows = rows_joined(p, computed, nat_mul(ctx, t->outer, t->inner), t->parts, n);
        return nest->n_axes == 0 ? of_one(p, rows)
                                 : rows_split(ctx, p->entry, nest->n_axes, nest->axes, rows, p->next_var);
    }
    Core *rows = each_transposed(p, split_by(p, computed, nat_mul(ctx, t->outer, t->parts), t->inner));
    rows = rows_joined(p, rows, t->outer, t->parts, n);
    if (!t->exchanged)
        rows = each_transposed(p, rows);
    return nest->n_axes == 1 ? of_one(p, rows)
                             : rows_split(ctx, p->entry, nest->n_axes - 1, nest->axes, rows, p->next_var);
}

/* A sequence for each part, by a thread. */
static Core *sequences(const Parts *p, const Threads *t, CoreVar *starts)
{
    Ctx *ctx = p->ctx;
    const Nest *nest = t->nest;
    const Core *scan = nest->element;
    Span span = scan->span;
    Nat all = nat_mul(ctx, nat_mul(ctx, t->outer, t->inner), t->parts);
    CoreVar *number = make_var(ctx, p->next_var, "p", type_idx(ctx, all), span);
    CoreVar *param = make_var(ctx, p->next_var, "p", number->type, span);
    CoreVar *thread = make_var(ctx, p->next_var, "p", number->type, span);
    Nat i = thread->nat, last = t->across ? t->inner : t->parts;
    Nat low = nat_mod(ctx, i, last), high = nat_div(ctx, i, last);
    Nat *rows = NEWN(ctx, Nat, nest->n_axes + 2), part = low, left = high;
    if (t->across) {
        part = nat_mod(ctx, high, t->parts);
        left = nat_div(ctx, high, t->parts);
        rows[nest->n_axes - 1] = low;
    }
    for (int k = nest->n_axes - 1 - t->across; k >= 0; k--) {
        Nat size = nest->axes[k]->type->size;
        rows[k] = k ? nat_mod(ctx, left, size) : left;
        left = k ? nat_div(ctx, left, size) : left;
    }
    rows[nest->n_axes] = part;
    Core *start = starts ? read_at(p, starts, nest->n_axes + 1, rows, span) : NULL;
    Core *elements = part_of(p, nest, rows, nat_mul(ctx, part, t->part), t->part, NULL);
    PrimId id = scan->prim.id == P_scan ? P_scanSeq : scan->prim.id == P_scanExcl ? P_scanSeqExcl : scan->prim.id;
    Core *body = make_let(ctx, thread, make_ref(ctx, param, span), in_order(p, id, nest, rows, start, elements));
    Core *numbers = make_generate(ctx, number, make_ref(ctx, number, span), span);
    return as_array(p, t, make_map(ctx, param, body, numbers));
}

/* ---- readers ---- */

/* An array that others are read as: its last two axes may be exchanged. */
typedef struct Other {
    CoreVar *var;
    int exchanged; /* the index that has changed places with the next one, counted from 1; 0: none */
} Other;

static void read_as(Parts *p, const CoreVar *array, CoreVar *as, int exchanged)
{
    Other *other = NEW(p->ctx, Other);
    *other = (Other){as, exchanged};
    table_put(p->ctx, &p->others, array, other);
}

static Core *read_anew(Parts *p, const Core *term)
{
    int indices;
    const Core *first, *base = term_base(term, &indices, &first);
    const Other *other = base->kind == CORE_VAR ? table_get(&p->others, base->var) : NULL;
    if (other) {
        Nat *at = NEWN(p->ctx, Nat, indices + 1);
        int next = indices;
        for (const Core *t = term; next > 0; t = t->prim.args[0])
            at[--next] = t->prim.nats[1];
        if (other->exchanged) {
            Nat moved = at[other->exchanged - 1];
            at[other->exchanged - 1] = at[other->exchanged];
            at[other->exchanged] = moved;
        }
        return read_at(p, other->var, indices, at, term->span);
    }
    if (term_children(term) == 0)
        return (Core *)(uintptr_t)term;
    Core *new = term_copy(p->ctx, term);
    for (int i = 0; i < term_children(term); i++)
        term_set_child(new, i, read_anew(p, term_child(term, i)));
    return new;
}

/* Notes the arrays of which the term reads more than single elements. */
static void note_wholes(Parts *p, const Core *term)
{
    int indices;
    const Core *first, *base = term_base(term, &indices, &first);
    if (base->kind == CORE_VAR) {
        if (term->type->kind == TY_ARRAY)
            table_put(p->ctx, &p->wholes, base->var, (void *)(uintptr_t)base);
        return;
    }
    for (int i = 0; i < term_children(term); i++)
        note_wholes(p, term_child(term, i));
}

static void note_variables(Parts *p, const Core *term)
{
    if (term->kind == CORE_VAR)
        table_put(p->ctx, &p->fixed, term->var, (void *)(uintptr_t)term);
    for (int i = 0; i < term_children(term); i++)
        note_variables(p, term_child(term, i));
}

static void note_steps(Parts *p, const NestSteps *steps)
{
    note_variables(p, steps->start);
    for (int i = 0; i < steps->nests->list.n; i++) {
        const Nest *nest = steps->nests->list.at[i];
        if (nest->steps)
            note_steps(p, nest->steps);
        else
            note_variables(p, nest->element);
    }
    note_variables(p, steps->nests->result);
}

static void note_list(Parts *p, const Nests *nests)
{
    for (int i = 0; i < nests->list.n; i++) {
        const Nest *nest = nests->list.at[i];
        if (nest->steps)
            note_steps(p, nest->steps);
        else
            note_wholes(p, nest->element);
    }
    if (nests->result) {
        note_wholes(p, nests->result);
        return;
    }
    note_wholes(p, nests->cond);
    note_list(p, nests->then);
    note_list(p, nests->otherwise);
}

/* ---- the list ---- */

static Threads threads_of(const Parts *p, const Nest *nest)
{
    Ctx *ctx = p->ctx;
    Threads t = {.nest = nest, .outer = nat_const(ctx, 1), .inner = nat_const(ctx, 1)};
    t.across = nest->n_axes > 0 && reads_across(ctx, p->entry, nest, p->next_var);
    for (int i = 0; i < nest->n_axes; i++) {
        Nat *rows = i + 1 == nest->n_axes ? &t.inner : &t.outer;
        *rows = nat_mul(ctx, *rows, nest->axes[i]->type->size);
    }
    t.exchanged = t.across && !table_get(&p->wholes, nest->var) && !table_get(&p->fixed, nest->var);
    return t;
}

/* The array, written for its threads, in place of the nest. */
static void add_whole(Parts *p, const Nest *nest, const Threads *t, Core *term)
{
    Ctx *ctx = p->ctx;
    Span span = nest->element->span;
    if (t->across && !nat_le(ctx, p->entry->known, nat_const(ctx, 1), t->inner)) {
        Core *some = make_compare(ctx, P_le, nat_const(ctx, 1), t->inner, span);
        term = make_if(ctx, some, term, make_zero(ctx, p->next_var, term->type, span), span);
    }
    Nest *whole = new_nest(p, nest->var->name, 0, NULL, term);
    whole->in_parts = true;
    if (t->exchanged)
        read_as(p, nest->var, whole->var, nest->n_axes);
    else
        whole->var = nest->var;
    vec_push(ctx, &p->list, whole);
}

static void add_parted(Parts *p, Nest *nest, int level)
{
    Ctx *ctx = p->ctx;
    if (goes_in_order(nest)) {
        Threads t = threads_of(p, nest);
        t.parts = nat_const(ctx, 1);
        t.part = nest->element->prim.args[2]->type->size;
        add_whole(p, nest, &t, sequences(p, &t, NULL));
        return;
    }
    if (level > LEVELS || !comes_in_parts(p, nest)) {
        vec_push(ctx, &p->list, nest);
        return;
    }
    Nat n = nest->element->prim.args[2]->type->size;
    Nat parts = nat_ceil_div(ctx, n, nat_const(ctx, PART));
    Span span = nest->element->span;
    if (!is_scan(nest->element)) {
        add_fold(p, nest, parts, level);
        return;
    }
    Threads t = threads_of(p, nest);
    CoreVar *starts = add_of_totals(p, nest, parts, P_scanExcl, "starts", level);
    t.parts = parts;
    t.part = nat_const(ctx, PART);
    Core *in_parts = sequences(p, &t, starts);
    t.parts = nat_const(ctx, 1);
    t.part = n;
    add_whole(p, nest, &t, make_if(ctx, is_short(p, n, parts, span), sequences(p, &t, NULL), in_parts, span));
}

/* Is the nest the same array as another one? */
static CoreVar *same_array(const Parts *p, const Nest *nest)
{
    int indices;
    const Core *first, *base = term_base(nest->element, &indices, &first);
    bool all = base->kind == CORE_VAR && indices > 0 && indices == nest->n_axes && base->var->type == nest->var->type;
    for (int i = 0; i < p->list.n && all; i++)
        if (p->list.at[i]->var == base->var)
            return own_indices(nest->element, nest) == indices ? base->var : NULL;
    return NULL;
}

static Nests *parted(Parts *p, const Nests *nests)
{
    Nests *new = NEW(p->ctx, Nests);
    *new = *nests;
    for (int i = 0; i < nests->list.n; i++) {
        Nest *nest = NEW(p->ctx, Nest);
        *nest = *nests->list.at[i];
        nest->element = nest->steps ? nest->element : read_anew(p, nest->element);
        CoreVar *same = nest->steps ? NULL : same_array(p, nest);
        if (same && !table_get(&p->fixed, nest->var))
            read_as(p, nest->var, same, 0);
        else
            add_parted(p, nest, 1);
    }
    new->list.at = p->list.at;
    new->list.n = p->list.n;
    new->list.cap = p->list.cap;
    p->list.at = NULL;
    p->list.n = p->list.cap = 0;
    if (nests->result) {
        new->result = read_anew(p, nests->result);
        return new;
    }
    new->cond = read_anew(p, nests->cond);
    new->then = parted(p, nests->then);
    new->otherwise = parted(p, nests->otherwise);
    return new;
}

static bool has_scans(const Parts *p, const Nests *nests)
{
    for (int i = 0; i < nests->list.n; i++)
        if (comes_in_parts(p, nests->list.at[i]) || goes_in_order(nests->list.at[i]))
            return true;
    return !nests->result && (has_scans(p, nests->then) || has_scans(p, nests->otherwise));
}

const Nests *scans_parted(Ctx *ctx, const CoreEntry *entry, const Nests *nests, int *next_var)
{
    Parts p = {.ctx = ctx, .entry = entry, .next_var = next_var};
    if (!has_scans(&p, nests))
        return nests;
    note_list(&p, nests);
    return parted(&p, nests);
}
