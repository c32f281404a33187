/* How the term of an array is written so that the library's rules find what it has for it: folds of
 * rows and of columns, products.
 *
 *   generate(fun i => reduce(op, unit, generate(fun k => xs[k][i])))
 *     ->  map(fun row => reduce(op, unit, row), transpose(xs))
 *
 * Which is which, the strides of what is read say: neighbours along the fold are rows, neighbours
 * along a kept axis columns. */
#include "ir/key.h"
#include "schedule/nests.h"
#include "schedule/product.h"
#include "schedule/shape.h"

typedef struct Shape {
    Ctx *ctx;
    const CoreEntry *entry;
    int *next_var;
} Shape;

/* ---- what is read ---- */

void each_read(Core *term, ReadFn fn, void *user)
{
    int indices;
    const Core *first, *base = term_base(term, &indices, &first);
    if (indices > 0 && base->kind == CORE_VAR) {
        fn(user, term);
        return;
    }
    for (int i = 0; i < term_children(term); i++)
        each_read(term_child(term, i), fn, user);
}

Nat flat_within(Ctx *ctx, const Core *read, int indices)
{
    Nat at = nat_const(ctx, 0), stride = nat_const(ctx, 1);
    for (const Core *t = read; indices > 0; t = t->prim.args[0], indices--) {
        at = nat_add(ctx, at, nat_mul(ctx, t->prim.nats[1], stride));
        stride = nat_mul(ctx, stride, t->prim.nats[0]);
    }
    return at;
}

Nat flat_index(Ctx *ctx, const Core *read)
{
    int indices;
    const Core *first;
    term_base(read, &indices, &first);
    return flat_within(ctx, read, indices);
}

typedef struct Neighbours {
    const Shape *s;
    Nat fold, length, kept; /* `length`: of a fold */
    int along_fold, along_kept; /* reads whose neighbours lie along the one or the other */
    int off_fold, off_kept;     /* reads that neighbouring threads do not share, and whose neighbours lie elsewhere */
    int windows;                /* reads of which what one fold reads overlaps with what the next one reads */
} Neighbours;

static Nat step_along(Ctx *ctx, const CoreEntry *entry, Nat flat, Nat axis)
{
    Nat next = nat_subst(ctx, flat, axis, nat_add_k(ctx, axis, 1));
    return nat_simplify(ctx, entry->known, nat_sub(ctx, next, flat));
}

static bool is_one(Nat step) { return nat_is(step, 1) || nat_is(step, -1); }

bool is_next(Ctx *ctx, const CoreEntry *entry, Nat flat, Nat axis) { return is_one(step_along(ctx, entry, flat, axis)); }

/* Windows that begin so few elements apart are read by neighbouring threads as if they were neighbours: the cache has the rest. */
enum { WINDOW_STEP = 4 };

/* Of an index of both axes that is kept within bounds: what it is within them. */
static Nat within_bounds(const Neighbours *n, Nat index)
{
    Ctx *ctx = n->s->ctx;
    bool both_axes = nat_mentions(index, n->fold) && nat_mentions(index, n->kept);
    if (both_axes && (index->kind == NAT_MIN || index->kind == NAT_MAX || index->kind == NAT_MOD))
        return within_bounds(n, nat_mentions(index->a, n->kept) ? index->a : index->b);
    if (!both_axes || index->kind != NAT_SUM)
        return index;
    Nat sum = nat_const(ctx, 0);
    for (int i = 0; i < index->n_terms; i++) {
        Nat term = nat_const(ctx, index->terms[i].coef);
        for (int k = 0; k < index->terms[i].n_factors; k++)
            term = nat_mul(ctx, term, within_bounds(n, index->terms[i].factors[k]));
        sum = nat_add(ctx, sum, term);
    }
    return sum;
}

/* Does a fold begin within what the one before it reads? */
static bool overlaps(const Neighbours *n, Nat step, Nat length)
{
    bool near = nat_is_const(step) && step->value != 0 && step->value >= -WINDOW_STEP && step->value <= WINDOW_STEP;
    Nat distance = near ? nat_const(n->s->ctx, step->value < 0 ? -step->value : step->value) : NULL;
    return near && !nat_le(n->s->ctx, n->s->entry->known, length, distance);
}

static void look_at_read(void *user, Core *read)
{
    Neighbours *n = user;
    Nat flat = flat_index(n->s->ctx, read);
    if (!nat_mentions(flat, n->fold))
        return;
    flat = within_bounds(n, flat);
    Nat by_fold = step_along(n->s->ctx, n->s->entry, flat, n->fold), by_kept = step_along(n->s->ctx, n->s->entry, flat, n->kept);
    bool window = !nat_is(by_fold, 0) && overlaps(n, by_kept, n->length);
    n->along_fold += is_one(by_fold);
    n->along_kept += is_one(by_kept);
    n->off_fold += !is_one(by_fold);
    n->off_kept += nat_mentions(flat, n->kept) && !is_one(by_kept) && !window;
    n->windows += window;
}

/* How the folds read: neighbouring threads have neighbours along the fold, or neighbouring folds. Where windows overlap, both are neighbours in memory,
 * and each thread folds a window of its own: threads that share a window would have to combine what they fold. */
static Neighbours neighbours_of(const Shape *s, Core *element, const CoreVar *fold, const CoreVar *kept)
{
    Neighbours n = {.s = s, .fold = fold->nat, .length = fold->type->size, .kept = kept->nat};
    each_read(element, look_at_read, &n);
    return n;
}

static bool is_across(const Neighbours *n)
{
    return n->off_kept < n->off_fold || (n->off_kept == 0 && n->windows > 0);
}

/* ---- terms ---- */

Core *array_over(Ctx *ctx, CoreVar *axis, Core *element)
{
    if (term_is(element, P_index) && element->prim.nats[1] == axis->nat &&
        element->prim.nats[0] == axis->type->size &&
        !term_mentions_nat(ctx, element->prim.args[0], axis->nat))
        return element->prim.args[0];
    return make_generate(ctx, axis, element, element->span);
}

Core *matrix_layout(Ctx *ctx, PrimId id, Type type, Core *array)
{
    Nat nats[2] = {array->type->size, array->type->elem->size};
    return make_prim(ctx, id, type, 2, nats, 1, &array, array->span);
}

Core *transposed(Ctx *ctx, Core *array)
{
    Type row = type_array(ctx, array->type->size, array->type->elem->elem);
    return matrix_layout(ctx, P_transpose, type_array(ctx, array->type->elem->size, row), array);
}

const Core *fold_in(const Core *term) { return term->kind == CORE_LET ? term->let.value : term; }

Core *fold_of(Ctx *ctx, const Core *fold, Core *array)
{
    if (fold->kind == CORE_LET)
        return make_let(ctx, fold->let.var, fold_of(ctx, fold->let.value, array), fold->let.body);
    Core *new = term_copy(ctx, fold);
    Nat *size = NEW(ctx, Nat);
    *size = array->type->size;
    new->prim.nats = size;
    new->prim.args[2] = array;
    for (int i = 0; i < 3; i++)
        term_set_child(new, i, new->prim.args[i]);
    return new;
}

/* ---- shapes ---- */

Core *fold_element(Ctx *ctx, const Core *fold, CoreVar **axis, int *next_var)
{
    Core *array = fold_in(fold)->prim.args[2];
    if (term_is(array, P_generate) && array->prim.args[0]->kind == CORE_LAMBDA) {
        *axis = array->prim.args[0]->lambda.params[0];
        return array->prim.args[0]->lambda.body;
    }
    *axis = make_var(ctx, next_var, "k", type_idx(ctx, array->type->size), array->span);
    return make_index(ctx, array, (*axis)->nat, array->span);
}

bool lies_across(Ctx *ctx, const CoreEntry *entry, Core *element, const CoreVar *fold, const CoreVar *kept)
{
    const Shape s = {.ctx = ctx, .entry = entry};
    Neighbours n = neighbours_of(&s, element, fold, kept);
    return is_across(&n);
}

bool reads_across(Ctx *ctx, const CoreEntry *entry, const Nest *nest, int *next_var)
{
    CoreVar *axis;
    Core *element = fold_element(ctx, nest->element, &axis, next_var);
    return lies_across(ctx, entry, element, axis, nest->axes[nest->n_axes - 1]);
}

bool is_short_fold(Ctx *ctx, const CoreEntry *entry, const Nest *nest, int *next_var)
{
    if (!term_is(nest->element, P_reduce) || nest->n_axes == 0)
        return false;
    Nat n = nest->element->prim.args[2]->type->size;
    return nat_is_const(n) && n->value <= SHORT_FOLD && reads_across(ctx, entry, nest, next_var);
}

bool folds_few(const Core *term)
{
    enum { FEW = 8 }; /* besideByThread of lib/rules/rows.rise */
    const Nat n = term_is(term, P_reduce) ? term->prim.args[2]->type->size : NULL;
    return n && nat_is_const(n) && n->value <= FEW;
}

/* Folds of rows, or of columns. */
static Core *rows_folded(const Shape *s, CoreVar *kept, const Core *fold)
{
    CoreVar *axis;
    Core *element = fold_element(s->ctx, fold, &axis, s->next_var);
    Neighbours n = neighbours_of(s, element, axis, kept);
    bool across = is_across(&n);
    if (term_mentions_nat(s->ctx, fold_in(fold)->prim.args[0], kept->nat) || nat_mentions(axis->type->size, kept->nat))
        return NULL;
    if (!across) {
        Core *each = vector_over(s->ctx, s->next_var, kept, with_vectors(s->ctx, s->next_var, (Core *)(uintptr_t)fold, false), false);
        if (term_is(each, P_map))
            return each;
    }
    Core *rows = across ? transposed(s->ctx, array_over(s->ctx, axis, array_over(s->ctx, kept, element)))
                        : array_over(s->ctx, kept, array_over(s->ctx, axis, element));
    CoreVar *row = make_var(s->ctx, s->next_var, "row", rows->type->elem, fold->span);
    return make_map(s->ctx, row, fold_of(s->ctx, fold, make_ref(s->ctx, row, fold->span)), rows);
}

Nat axes_count(Ctx *ctx, int n, CoreVar *const *axes)
{
    Nat count = nat_const(ctx, 1);
    for (int i = 0; i < n; i++)
        count = nat_mul(ctx, count, axes[i]->type->size);
    return count;
}

Core *split_within(Ctx *ctx, int *next_var, Core *array, int depth, int n, CoreVar *const *axes)
{
    if (n < 2)
        return array;
    if (depth > 0) {
        CoreVar *row = make_var(ctx, next_var, "row", array->type->elem, array->span);
        return make_map(ctx, row, split_within(ctx, next_var, make_ref(ctx, row, array->span), depth - 1, n, axes), array);
    }
    for (int i = n - 1; i > 0; i--) {
        Nat rows = axes_count(ctx, i, axes), size = axes[i]->type->size;
        Nat nats[2] = {nat_mul(ctx, rows, size), size};
        Type type = type_array(ctx, rows, type_array(ctx, size, array->type->elem));
        array = make_prim(ctx, P_split, type, 2, nats, 1, &array, array->span);
    }
    return array;
}

Core *rows_split(Ctx *ctx, const CoreEntry *entry, int n_axes, CoreVar *const *axes, Core *rows, int *next_var)
{
    Core *term = rows;
    Nat sizes = nat_const(ctx, 1); /* whose product is 0 if one of them is: one test of sizes */
    Span span = rows->span;
    Type all = rows->type->elem;
    bool none = false; /* nothing is split into rows of no elements */
    for (int i = n_axes - 1; i >= 0; i--) {
        all = type_array(ctx, axes[i]->type->size, all);
        none |= i > 0 && nat_le(ctx, entry->known, axes[i]->type->size, nat_const(ctx, 0));
    }
    if (none)
        return make_zero(ctx, next_var, all, span);
    for (int i = n_axes - 1; i > 0; i--) {
        Nat size = axes[i]->type->size, n_rows = axes_count(ctx, i, axes);
        Nat nats[2] = {nat_mul(ctx, n_rows, size), size};
        Type type = type_array(ctx, n_rows, type_array(ctx, size, term->type->elem));
        term = make_prim(ctx, P_split, type, 2, nats, 1, &term, span);
        if (!nat_le(ctx, entry->known, nat_const(ctx, 1), size))
            sizes = nat_mul(ctx, sizes, size);
    }
    if (nat_is(sizes, 1))
        return term;
    Core *some = make_compare(ctx, P_le, nat_const(ctx, 1), sizes, span);
    return make_if(ctx, some, term, make_zero(ctx, next_var, term->type, span), span);
}

Core *all_or_none(Ctx *ctx, const CoreEntry *entry, const Nest *nest, Core *all, int *next_var)
{
    Nat sizes = nat_const(ctx, 1);
    for (int i = 0; i < nest->n_axes; i++)
        if (!nat_le(ctx, entry->known, nat_const(ctx, 1), nest->axes[i]->type->size))
            sizes = nat_mul(ctx, sizes, nest->axes[i]->type->size);
    if (nat_is(sizes, 1))
        return all;
    Core *some = make_compare(ctx, P_le, nat_const(ctx, 1), sizes, all->span);
    return make_if(ctx, some, all, make_zero(ctx, next_var, all->type, all->span), all->span);
}

Core *flattened(Ctx *ctx, int n, CoreVar *const *axes, Core *element, CoreVar **flat, int *next_var)
{
    if (n == 1) {
        *flat = axes[0];
        return element;
    }
    *flat = make_var(ctx, next_var, "p", type_idx(ctx, axes_count(ctx, n, axes)), element->span);
    Nat left = (*flat)->nat;
    for (int i = n - 1; i >= 0; i--) {
        element = term_with_nat(ctx, next_var, element, axes[i]->nat, i ? nat_mod(ctx, left, axes[i]->type->size) : left);
        left = i ? nat_div(ctx, left, axes[i]->type->size) : left;
    }
    return element;
}

/* Folds of the columns of each matrix of the last kept axis and the one that is folded. */
static Core *joined_columns(const Shape *s, const Nest *nest, CoreVar *axis, Core *element)
{
    Ctx *ctx = s->ctx;
    int last = nest->n_axes - 1;
    CoreVar *flat;
    element = flattened(ctx, last, nest->axes, element, &flat, s->next_var);
    Core *matrices = array_over(s->ctx, flat, array_over(s->ctx, axis, array_over(s->ctx, nest->axes[last], element)));
    CoreVar *matrix = make_var(ctx, s->next_var, "matrix", matrices->type->elem, element->span);
    Core *columns = transposed(s->ctx, make_ref(ctx, matrix, element->span));
    CoreVar *column = make_var(ctx, s->next_var, "column", columns->type->elem, element->span);
    Core *folds = make_map(s->ctx, column, fold_of(s->ctx, nest->element, make_ref(ctx, column, element->span)), columns);
    return rows_split(ctx, s->entry, last, nest->axes, make_map(s->ctx, matrix, folds, matrices), s->next_var);
}

/* Folds of rows over several kept axes: of all rows, one after the other. */
static Core *joined_rows(const Shape *s, const Nest *nest)
{
    Ctx *ctx = s->ctx;
    CoreVar *axis;
    const Core *fold = fold_in(nest->element);
    Core *element = fold_element(s->ctx, fold, &axis, s->next_var);
    Neighbours n = neighbours_of(s, element, axis, nest->axes[nest->n_axes - 1]);
    Nat rows = axes_count(ctx, nest->n_axes, nest->axes);
    for (int i = 0; i < nest->n_axes; i++)
        if (term_mentions_nat(ctx, fold->prim.args[0], nest->axes[i]->nat) ||
            nat_mentions(axis->type->size, nest->axes[i]->nat))
            return NULL;
    if (term_is(fold, P_reduce) && is_across(&n) && !type_gives_arrays(fold->type))
        return joined_columns(s, nest, axis, element);
    if (term_is(fold, P_reduce) && (n.along_fold == 0 || n.along_kept >= n.along_fold))
        return NULL;
    CoreVar *p = make_var(ctx, s->next_var, "p", type_idx(ctx, rows), fold->span);
    Nat left = p->nat;
    for (int i = nest->n_axes - 1; i >= 0; i--) {
        Nat size = nest->axes[i]->type->size, at = i ? nat_mod(ctx, left, size) : left;
        element = term_with_nat(ctx, s->next_var, element, nest->axes[i]->nat, at);
        left = i ? nat_div(ctx, left, size) : left;
    }
    Core *all = array_over(s->ctx, p, array_over(s->ctx, axis, element));
    CoreVar *row = make_var(ctx, s->next_var, "row", all->type->elem, fold->span);
    Core *folds = make_map(s->ctx, row, fold_of(s->ctx, nest->element, make_ref(ctx, row, fold->span)), all);
    return rows_split(ctx, s->entry, nest->n_axes, nest->axes, folds, s->next_var);
}

/* ---- two kept axes ---- */

/* The term with others in place of two of its reads. */
static Core *with_reads(const Shape *s, Core *term, const Core *a, Core *by_a, const Core *b, Core *by_b)
{
    if (core_same(s->ctx, term, a))
        return by_a;
    if (b && core_same(s->ctx, term, b))
        return by_b;
    if (term_children(term) == 0)
        return term;
    Core *new = term_copy(s->ctx, term);
    for (int i = 0; i < term_children(term); i++)
        term_set_child(new, i, with_reads(s, term_child(term, i), a, by_a, b, by_b));
    return new;
}

typedef struct OneRead {
    Ctx *ctx;
    Core *read;
    bool other; /* there is another one */
} OneRead;

static void take_read(void *user, Core *read)
{
    OneRead *one = user;
    one->other |= one->read && !core_same(one->ctx, one->read, read);
    one->read = read;
}

/* What reads one array across is a transposition, and something made of its elements. */
static Core *transposition(const Shape *s, CoreVar *const *kept, Core *element)
{
    Ctx *ctx = s->ctx;
    OneRead one = {.ctx = ctx};
    each_read(element, take_read, &one);
    Core *read = one.read, *column = read ? read->prim.args[0] : NULL;
    if (!read || one.other || read->prim.nats[1] != kept[0]->nat || !term_is(column, P_index) ||
        column->prim.nats[1] != kept[1]->nat)
        return NULL;
    Core *source = array_over(s->ctx, kept[1], array_over(s->ctx, kept[0], read));
    if (term_is(source, P_generate))
        return NULL;
    Core *across = transposed(s->ctx, source);
    if (read == element)
        return across;
    CoreVar *row = make_var(ctx, s->next_var, "row", across->type->elem, element->span);
    CoreVar *x = make_var(ctx, s->next_var, "x", read->type, element->span);
    Core *body = with_reads(s, element, read, make_ref(ctx, x, element->span), NULL, NULL);
    if (term_mentions_nat(ctx, body, kept[0]->nat) || term_mentions_nat(ctx, body, kept[1]->nat))
        return NULL;
    return make_map(s->ctx, row, make_map(s->ctx, x, body, make_ref(ctx, row, element->span)), across);
}

Core *plain_term(Ctx *ctx, const Nest *nest)
{
    Core *term = nest->element;
    for (int i = nest->n_axes - 1; i >= 0; i--)
        term = make_generate(ctx, nest->axes[i], term, term->span);
    return term;
}

static bool is_fold(const Core *term) { return term_is(term, P_reduce) || term_is(term, P_scan) || term_is(term, P_scanExcl); }

Core *known_term(Ctx *ctx, const CoreEntry *entry, const Nest *nest, int *next_var)
{
    const Shape s = {ctx, entry, next_var};
    if (nest->n_axes > 2 && nest->element->type->kind == TY_SCALAR && !is_fold(nest->element))
        return permutation(ctx, entry, nest, next_var);
    if (term_is(nest->element, P_reduce))
        return product_term(ctx, entry, nest, NULL, next_var);
    return nest->n_axes == 2 ? transposition(&s, nest->axes, nest->element) : NULL;
}

Core *stage_term(Ctx *ctx, const CoreEntry *entry, const Nest *nest, int *next_var)
{
    const Shape s = {ctx, entry, next_var};
    const Core *fold = fold_in(nest->element);
    Core *known = NULL;
    if (term_is(fold, P_reduce) && nest->n_axes > 0)
        known = fold_by_axes(ctx, entry, nest, next_var);
    if (!known && is_fold(fold) && nest->n_axes > 0)
        known = nest->n_axes == 1 ? rows_folded(&s, nest->axes[0], nest->element) : joined_rows(&s, nest);
    return known ? known : plain_term(ctx, nest);
}
