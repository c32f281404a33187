/* Folds over several axes. An element of memory is found by a sum of axes, each times its stride:
 *
 *   xs[i][k / d][j][k % d]  =  memory[(b*c*d)*i + (c*d)*(k / d) + d*j + k % d],  k < b * d
 *
 * Here an axis that goes by its quotient and its remainder is two, and neighbours of which the first begins where the second one
 * ends are one: of kept axes (K) and folded ones (F), only those stay that lie apart. Most folds are rows (K F), columns (F K) or
 * the columns of matrices (K F K) then, for which the library has programs. Others are folds of folds: see apart.c. */
#include <string.h>

#include "ir/terms.h"
#include "schedule/nests.h"
#include "schedule/axes.h"
#include "schedule/shape.h"

static Nat size_of(const Axes *a, int i) { return a->list[i].var->type->size; }

static Nat simple(const Axes *a, Nat nat) { return nat_simplify(a->ctx, a->entry->known, nat); }

static bool same(const Axes *a, Nat x, Nat y) { return nat_is(simple(a, nat_sub(a->ctx, x, y)), 0); }

static CoreVar *new_axis(Axes *a, Nat size, Span span) { return make_var(a->ctx, a->next_var, "i", type_idx(a->ctx, size), span); }

/* ---- from the element to sums of axes ---- */

static void take_read(void *user, Core *read)
{
    Axes *a = user;
    int indices;
    const Core *first, *base = term_base(read, &indices, &first);
    a->odd |= base->type->kind != TY_ARRAY || read->type->kind == TY_ARRAY;
    vec_push(a->ctx, &a->reads, ((MemoryRead){.term = read, .flat = simple(a, flat_index(a->ctx, read))}));
}

/* What an axis is divided by; NULL: nothing. */
static Nat divisor_of(Nat nat, Nat axis)
{
    if ((nat->kind == NAT_DIV || nat->kind == NAT_MOD) && nat->a == axis)
        return nat->b;
    Nat found = nat->a ? divisor_of(nat->a, axis) : NULL;
    found = !found && nat->b ? divisor_of(nat->b, axis) : found;
    for (int i = 0; i < nat->n_terms && !found; i++)
        for (int k = 0; k < nat->terms[i].n_factors && !found; k++)
            found = divisor_of(nat->terms[i].factors[k], axis);
    return found;
}

static void substitute(Axes *a, Nat axis, Nat by)
{
    for (int i = 0; i < a->reads.n; i++)
        a->reads.at[i].flat = simple(a, nat_subst(a->ctx, a->reads.at[i].flat, axis, by));
}

/* The size without the factors of the other. NULL: it is no multiple of it, as a product of sizes. */
static Nat quotient(const Axes *a, Nat size, Nat by)
{
    NatTerm own = {1, 1, &size}, other = {1, 1, &by};
    const NatTerm *terms = size->kind == NAT_SUM && size->n_terms == 1 ? size->terms : &own;
    const NatTerm *less = by->kind == NAT_SUM && by->n_terms == 1 ? by->terms : &other;
    if (nat_is_const(size) || nat_is_const(by))
        return nat_div(a->ctx, size, by);
    Nat left = nat_const(a->ctx, terms->coef / less->coef);
    int k = 0;
    for (int i = 0; i < terms->n_factors; i++)
        if (k < less->n_factors && terms->factors[i] == less->factors[k])
            k++;
        else
            left = nat_mul(a->ctx, left, terms->factors[i]);
    return k == less->n_factors ? left : NULL;
}

/* Axis i as two. */
static bool split_axis(Axes *a, int i, Nat inner)
{
    Nat outer = quotient(a, size_of(a, i), inner);
    if (!outer || a->n == MOST_AXES || !same(a, nat_mul(a->ctx, outer, inner), size_of(a, i)))
        return false;
    CoreVar *old = a->list[i].var, *high = new_axis(a, outer, old->span), *low = new_axis(a, inner, old->span);
    for (int k = a->n++; k > i; k--)
        a->list[k] = a->list[k - 1];
    a->list[i].var = high;
    a->list[i + 1].var = low;
    substitute(a, old->nat, nat_add(a->ctx, nat_mul(a->ctx, high->nat, inner), low->nat));
    return true;
}

static bool split_axes(Axes *a)
{
    for (int i = 0; i < a->n; i++)
        for (int r = 0; r < a->reads.n; r++) {
            Nat inner = divisor_of(a->reads.at[r].flat, a->list[i].var->nat);
            if (!inner)
                continue;
            if (nat_mentions(inner, a->list[i].var->nat) || !split_axis(a, i, inner))
                return false;
            r = -1;
        }
    return true;
}

static bool mentions_axis(const Axes *a, Nat nat)
{
    for (int i = 0; i < a->n; i++)
        if (nat_mentions(nat, a->list[i].var->nat))
            return true;
    return false;
}

/* False: the read is no sum of axes times strides. */
static bool find_strides(const Axes *a, MemoryRead *read)
{
    Nat rest = read->flat;
    for (int i = 0; i < a->n; i++) {
        Nat axis = a->list[i].var->nat;
        Nat next = nat_subst(a->ctx, read->flat, axis, nat_add_k(a->ctx, axis, 1));
        read->strides[i] = simple(a, nat_sub(a->ctx, next, read->flat));
        if (mentions_axis(a, read->strides[i]))
            return false;
        rest = nat_sub(a->ctx, rest, nat_mul(a->ctx, axis, read->strides[i]));
    }
    return nat_is(simple(a, rest), 0);
}

/* ---- fewer axes ---- */

/* Do the axes i and i + 1 go through memory, or leave it alone, like one? */
static bool go_as_one(const Axes *a, int i)
{
    if (a->list[i].folded != a->list[i + 1].folded)
        return false;
    for (int r = 0; r < a->reads.n; r++) {
        const MemoryRead *read = &a->reads.at[r];
        if (!same(a, read->strides[i], nat_mul(a->ctx, read->strides[i + 1], size_of(a, i + 1))))
            return false;
    }
    return true;
}

static void merge_axes(Axes *a)
{
    for (int i = 0; i + 1 < a->n; i++) {
        if (!go_as_one(a, i))
            continue;
        a->list[i].var = new_axis(a, nat_mul(a->ctx, size_of(a, i), size_of(a, i + 1)), a->list[i].var->span);
        a->list[i].n += a->list[i + 1].n;
        a->n--;
        for (int k = i + 1; k < a->n; k++)
            a->list[k] = a->list[k + 1];
        for (int r = 0; r < a->reads.n; r++)
            for (int k = i; k < a->n; k++)
                a->reads.at[r].strides[k] = a->reads.at[r].strides[k + 1];
        i--;
    }
}

/* The axes of a read as they lie in memory: each stride is what the axes behind it are together. False: they leave some of it out. */
static bool find_order(const Axes *a, MemoryRead *read)
{
    bool taken[MOST_AXES] = {false};
    int at = MOST_AXES, left = 0;
    for (int i = 0; i < a->n; i++)
        left += !nat_is(read->strides[i], 0);
    read->n = left;
    Nat stride = nat_const(a->ctx, 1), whole = stride;
    for (; left > 0; left--) {
        int found = -1;
        for (int i = 0; i < a->n && found < 0; i++)
            if (!taken[i] && !nat_is(read->strides[i], 0) && same(a, read->strides[i], stride))
                found = i;
        if (found < 0)
            return false;
        taken[found] = true;
        read->order[--at] = found;
        stride = nat_mul(a->ctx, stride, size_of(a, found));
    }
    for (int k = 0; k < read->n; k++)
        read->order[k] = read->order[at + k];
    int indices;
    const Core *first;
    for (Type t = term_base(read->term, &indices, &first)->type; t->kind == TY_ARRAY; t = t->elem)
        whole = nat_mul(a->ctx, whole, t->size);
    return same(a, whole, stride);
}

/* Are the axes of the one in the other, in its order? */
static bool is_within(const MemoryRead *read, const MemoryRead *all)
{
    int k = 0;
    for (int i = 0; i < all->n && k < read->n; i++)
        k += all->order[i] == read->order[k];
    return k == read->n;
}

const MemoryRead *axes_widest(const Axes *a)
{
    const MemoryRead *all = NULL;
    for (int r = 0; r < a->reads.n && !all; r++)
        all = a->reads.at[r].n == a->n ? &a->reads.at[r] : NULL;
    for (int r = 0; r < a->reads.n && all; r++)
        if (!is_within(&a->reads.at[r], all))
            return NULL;
    for (int k = 0; all && k + 1 < all->n; k++)
        for (int i = k + 1; i < all->n; i++) /* kept and folded ones stay in their order */
            if (a->list[all->order[k]].folded == a->list[all->order[i]].folded && all->order[k] > all->order[i])
                return NULL;
    return all;
}

/* ---- the element over the axes that are left ---- */

static Core *joined(const Axes *a, Core *array)
{
    Nat n = nat_mul(a->ctx, array->type->size, array->type->elem->size);
    return matrix_layout(a->ctx, P_join, type_array(a->ctx, n, array->type->elem->elem), array);
}

/* The product with a factor that is no part of it yet. */
static Nat with_factor(const Axes *a, Nat product, Nat factor)
{
    NatTerm one = {1, 1, &factor};
    const NatTerm *term = factor->kind == NAT_SUM && factor->n_terms == 1 ? factor->terms : &one;
    for (int i = 0; i < term->n_factors; i++)
        if (!nat_mentions(product, term->factors[i]))
            product = nat_mul(a->ctx, product, term->factors[i]);
    return product;
}

/* Rows of so many elements, of which there are n. */
static Core *split_by(Axes *a, Core *array, Nat n, Nat size)
{
    Nat nats[2] = {array->type->size, size};
    if (!nat_le(a->ctx, a->entry->known, nat_const(a->ctx, 1), size))
        a->some = with_factor(a, a->some, size);
    Type type = type_array(a->ctx, n, type_array(a->ctx, size, array->type->elem));
    return make_prim(a->ctx, P_split, type, 2, nats, 1, &array, array->span);
}

/* The array, with n dimensions joined at this depth. */
static Core *joined_within(Axes *a, Core *array, int depth, int n)
{
    if (depth == 0) {
        for (int i = 1; i < n; i++)
            array = joined(a, array);
        return array;
    }
    CoreVar *row = make_var(a->ctx, a->next_var, "row", array->type->elem, array->span);
    return make_map(a->ctx, row, joined_within(a, make_ref(a->ctx, row, array->span), depth - 1, n), array);
}

/* How many dimensions, from this type on, are so many elements; 0: they do not come out even. */
static int dimensions_of(const Axes *a, Type type, Nat size)
{
    Nat product = nat_const(a->ctx, 1);
    for (int n = 1; type->kind == TY_ARRAY; n++, type = type->elem) {
        product = nat_mul(a->ctx, product, type->size);
        if (same(a, product, size))
            return n;
    }
    return 0;
}

/* The array that is read, with the axes of the read as its dimensions. */
static Core *as_axes(Axes *a, const MemoryRead *read)
{
    int rank, n[MOST_AXES], first_dimension[MOST_AXES], at = 0;
    const Core *first;
    Core *array = (Core *)(uintptr_t)term_base(read->term, &rank, &first);
    Type type = array->type;
    bool even = true;
    for (int i = 0; i < read->n && even; i++) {
        n[i] = dimensions_of(a, type, size_of(a, read->order[i]));
        first_dimension[i] = at;
        at += n[i];
        even = n[i] > 0;
        for (int k = 0; k < n[i]; k++)
            type = type->elem;
    }
    if (even && at == rank) {
        for (int i = read->n - 1; i >= 0; i--)
            if (n[i] > 1)
                array = joined_within(a, array, first_dimension[i], n[i]);
        return array;
    }
    for (int i = 1; i < rank; i++)
        array = joined(a, array);
    for (int i = read->n - 1; i > 0; i--) {
        Nat rows = nat_const(a->ctx, 1);
        for (int k = 0; k < i; k++)
            rows = nat_mul(a->ctx, rows, size_of(a, read->order[k]));
        array = split_by(a, array, rows, size_of(a, read->order[i]));
    }
    return array;
}

/* The element with each read from such an array. NULL: it is none. */
static Core *over_axes(Axes *a, Core *element)
{
    for (int r = 0; r < a->reads.n; r++) {
        MemoryRead *read = &a->reads.at[r];
        if (read->term != element)
            continue;
        Core *array = as_axes(a, read);
        if (a->named && array->kind != CORE_VAR) {
            CoreVar *var = make_var(a->ctx, a->next_var, "xs", array->type, element->span);
            vec_push(a->ctx, &a->arrays, make_let(a->ctx, var, array, array));
            array = make_ref(a->ctx, var, element->span);
        }
        for (int i = 0; i < read->n; i++)
            array = make_index(a->ctx, array, a->list[read->order[i]].var->nat, element->span);
        return array;
    }
    if (term_children(element) == 0)
        return element;
    Core *new = term_copy(a->ctx, element);
    for (int i = 0; i < term_children(element); i++) {
        Core *child = over_axes(a, term_child(element, i));
        if (!child)
            return NULL;
        term_set_child(new, i, child);
    }
    return new;
}

/* ---- the fold of each form ---- */

typedef struct Folding {
    Ctx *ctx;
    int *next_var;
    const Core *fold;
} Folding;

static Core *fold_each(const Folding *f, Core *array, Core *(*body)(const Folding *f, Core *part))
{
    CoreVar *part = make_var(f->ctx, f->next_var, "part", array->type->elem, array->span);
    return make_map(f->ctx, part, body(f, make_ref(f->ctx, part, array->span)), array);
}

static Core *all_of(const Folding *f, Core *array) { return fold_of(f->ctx, f->fold, array); }

static Core *columns_of(const Folding *f, Core *matrix) { return fold_each(f, transposed(f->ctx, matrix), all_of); }

static Core *rows_of(const Folding *f, Core *array) { return fold_each(f, array, all_of); }
static Core *columns_of_each(const Folding *f, Core *array) { return fold_each(f, array, columns_of); }

static const struct {
    const char *form;
    Core *(*fold)(const Folding *f, Core *array);
} forms[] = {
    {"KF", rows_of}, {"FK", columns_of}, {"KFK", columns_of_each},
};

static Core *folded_in_form(const Axes *a, const MemoryRead *all, const Core *fold, Core *element)
{
    char form[MOST_AXES + 1] = "";
    for (int i = 0; i < all->n; i++)
        form[i] = a->list[all->order[i]].folded ? 'F' : 'K';
    for (int i = all->n - 1; i >= 0; i--)
        element = array_over(a->ctx, a->list[all->order[i]].var, element);
    const Folding f = {a->ctx, a->next_var, fold};
    for (size_t k = 0; k < sizeof forms / sizeof forms[0]; k++)
        if (strcmp(forms[k].form, form) == 0)
            return forms[k].fold(&f, element);
    return NULL;
}

/* Are the dimensions of the array the axes that are left, and these axes of the nest that were merged? */
static bool is_over_merged(const Axes *a, const Nest *nest, Type type)
{
    int kept = 0;
    for (int i = 0; i < a->n; i++) {
        if (a->list[i].folded)
            continue;
        if (type->kind != TY_ARRAY || !same(a, type->size, size_of(a, i)))
            return false;
        for (int k = a->list[i].first; k < a->list[i].first + a->list[i].n; k++)
            if (kept == nest->n_axes || a->parts[k].var != nest->axes[kept++])
                return false;
        type = type->elem;
    }
    return kept == nest->n_axes && type->kind != TY_ARRAY;
}

/* An array over the axes that are left, or one of two by sizes, by the axes of the nest. */
static Core *split_to_axes(Axes *a, const Nest *nest, Core *array)
{
    if (array->kind == CORE_IF)
        return make_if(a->ctx, array->cond.cond, split_to_axes(a, nest, array->cond.then), split_to_axes(a, nest, array->cond.otherwise), array->span);
    if (is_over_merged(a, nest, array->type)) {
        for (int i = a->n - 1; i >= 0; i--)
            if (!a->list[i].folded)
                array = split_within(a->ctx, a->next_var, array, i, a->list[i].n, nest->axes + a->list[i].first);
        for (int i = 1; i < nest->n_axes; i++)
            if (!nat_le(a->ctx, a->entry->known, nat_const(a->ctx, 1), nest->axes[i]->type->size))
                a->some = with_factor(a, a->some, nest->axes[i]->type->size);
        return array;
    }
    while (array->type->elem->kind == TY_ARRAY)
        array = joined(a, array);
    for (int i = nest->n_axes - 1; i > 0; i--) {
        Nat n = nat_const(a->ctx, 1);
        for (int k = 0; k < i; k++)
            n = nat_mul(a->ctx, n, nest->axes[k]->type->size);
        array = split_by(a, array, n, nest->axes[i]->type->size);
    }
    return array;
}

/* An array over the axes that are left, by the axes of the nest. Where it has no elements, or nothing is folded, it is of these. */
static Core *by_nest_axes(Axes *a, const Nest *nest, Core *array, Core *of)
{
    Ctx *ctx = a->ctx;
    Core *cond = NULL;
    Nat asked = array->kind == CORE_IF ? term_size_asked(array->cond.cond) : NULL;
    if (asked) { /* it asks for elements already; other conditions choose between ways to compute them */
        cond = array->cond.cond;
        array = array->cond.then;
    }
    array = split_to_axes(a, nest, array);
    if (!nat_is(a->some, 1))
        cond = make_compare(ctx, P_le, nat_const(ctx, 1), asked ? with_factor(a, asked, a->some) : a->some, array->span);
    for (int i = nest->n_axes - 1; i >= 0; i--)
        of = make_generate(ctx, nest->axes[i], of, array->span);
    return cond ? make_if(ctx, cond, array, of, array->span) : array;
}

static bool is_axis(const Axes *a, const CoreVar *var)
{
    for (int i = 0; i < a->n; i++)
        if (a->list[i].var == var)
            return true;
    return false;
}

/* The axes of the nest, and `folded` behind them, unless that is NULL. */
static bool find_axes(Axes *a, const Nest *nest, CoreVar *folded)
{
    a->some = nat_const(a->ctx, 1);
    a->folded = folded;
    if (nest->n_axes + 1 > MOST_AXES)
        return false;
    for (int i = 0; i < nest->n_axes + (folded != NULL); i++)
        a->list[a->n++] = (Axis){.var = i < nest->n_axes ? nest->axes[i] : folded, .folded = i == nest->n_axes, .n = 1};
    for (int i = 0; i < a->n; i++)
        if (mentions_axis(a, size_of(a, i)))
            return false;
    each_read(a->element, take_read, a);
    if (a->odd || !split_axes(a))
        return false;
    for (int r = 0; r < a->reads.n; r++)
        if (!find_strides(a, &a->reads.at[r]))
            return false;
    a->n_parts = a->n;
    for (int i = 0; i < a->n; i++) {
        a->list[i].first = i;
        a->parts[i] = a->list[i];
    }
    merge_axes(a);
    for (int r = 0; r < a->reads.n; r++)
        if (!find_order(a, &a->reads.at[r]))
            return false;
    return true;
}

bool axes_of_fold(Axes *a, const Nest *nest)
{
    const Core *fold = fold_in(nest->element);
    if (fold->type->kind == TY_ARRAY || fold->prim.args[2]->type->elem->kind == TY_ARRAY)
        return false;
    for (int i = 0; i < nest->n_axes; i++)
        for (int k = 0; k < 2; k++) /* operator, unit */
            if (term_mentions_nat(a->ctx, fold->prim.args[k], nest->axes[i]->nat))
                return false;
    CoreVar *folded;
    a->element = fold_element(a->ctx, fold, &folded, a->next_var);
    return find_axes(a, nest, folded);
}

/* The element over the axes that are left; NULL: it says more of the others than what it reads. */
static Core *over_merged(Axes *a, const Nest *nest)
{
    Core *over = over_axes(a, a->element);
    for (int i = 0; i <= nest->n_axes && over; i++) {
        const CoreVar *old = i < nest->n_axes ? nest->axes[i] : a->folded;
        if (old && !is_axis(a, old) && term_mentions_nat(a->ctx, over, old->nat))
            return NULL;
    }
    return over;
}

Core *fold_by_axes(Ctx *ctx, const CoreEntry *entry, const Nest *nest, int *next_var)
{
    Axes a = {.ctx = ctx, .entry = entry, .next_var = next_var};
    if (!axes_of_fold(&a, nest) || (a.n == a.n_parts && a.n == nest->n_axes + 1))
        return NULL;
    const MemoryRead *all = axes_widest(&a);
    Core *over = all ? over_merged(&a, nest) : NULL, *folds = over ? folded_in_form(&a, all, nest->element, over) : NULL;
    if (!folds)
        return NULL;
    const Core *element = nest->element;
    Core *unit = fold_in(element)->prim.args[1];
    return by_nest_axes(&a, nest, folds, element->kind == CORE_LET ? make_let(ctx, element->let.var, unit, element->let.body) : unit);
}

static Core *array_named(void *user, const CoreVar *var)
{
    const Axes *a = user;
    for (int i = 0; i < a->arrays.n; i++)
        if (a->arrays.at[i]->let.var == var)
            return a->arrays.at[i]->let.value;
    return NULL;
}

bool axes_of_elements(Axes *a, const Nest *nest) { return find_axes(a, nest, NULL); }

Core *by_merged_axes(Axes *a, const Nest *nest, Core *(*term_of)(Ctx *ctx, const CoreEntry *entry, const Nest *nest, int *next_var))
{
    Ctx *ctx = a->ctx;
    Nest merged = *nest;
    merged.n_axes = a->n;
    merged.axes = NEWN(ctx, CoreVar *, MOST_AXES);
    for (int i = 0; i < a->n; i++)
        merged.axes[i] = a->list[i].var;
    merged.element = over_merged(a, nest);
    Core *term = merged.element ? term_of(ctx, a->entry, &merged, a->next_var) : NULL;
    TermCopy copy = {.ctx = ctx, .next_var = a->next_var, .by = array_named, .user = a};
    term = term ? copy_term(&copy, term) : NULL;
    return term ? by_nest_axes(a, nest, term, make_zero(ctx, a->next_var, nest->element->type, nest->element->span)) : NULL;
}
