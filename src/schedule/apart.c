/* Folds of axes that do not lie beside each other in memory are folds of folds: over the first and the last axis of an array, say,
 *
 *   sums[j] = reduce(xs[k / c][j][k % c]),  k < a * c
 *     ->  part[i][j] = reduce(xs[i][j][k]),  k < c
 *         sums[j] = reduce(part[i][j]),  i < a
 *
 * Each of them is of a form that the library has a program for. The last axis goes first, or, where the operator commutes and the first
 * axis is longer, that one, so that the results of the first fold, which are stored, are few. */
#include "frontend/rule.h"
#include "ir/terms.h"
#include "schedule/axes.h"
#include "schedule/shape.h"

/* The last axis goes first where it has as many, whatever the first one has: what is stored is little then. */
enum { LONG_AXIS = 32 };

typedef struct Apart {
    Ctx *ctx;
    const CoreEntry *entry;
    int *next_var;
    bool outer_first; /* where the first axis may go first, it does */
} Apart;

static Nat size_of(const Axis *axis) { return axis->var->type->size; }

/* How many groups of folded axes lie apart. The first and the last of them are given. */
static int folded_groups(const Axes *a, const MemoryRead *all, int *first, int *last)
{
    int n = 0;
    for (int i = 0; i < all->n; i++)
        if (a->list[all->order[i]].folded && (i == 0 || !a->list[all->order[i - 1]].folded)) {
            *first = n == 0 ? all->order[i] : *first;
            *last = all->order[i];
            n++;
        }
    return n;
}

/* The parts' indices where `to` counts through those of n axes. */
static void count_through(Ctx *ctx, const Axis *parts, int n, Nat to, Nat *indices)
{
    for (int i = n - 1; i > 0; i--) {
        indices[i] = nat_mod(ctx, to, size_of(&parts[i]));
        to = nat_div(ctx, to, size_of(&parts[i]));
    }
    indices[0] = to;
}

static CoreVar *axis_over(const Apart *p, const Axis *parts, int n, Span span)
{
    Nat size = nat_const(p->ctx, 1);
    for (int i = 0; i < n; i++)
        size = nat_mul(p->ctx, size, size_of(&parts[i]));
    return make_var(p->ctx, p->next_var, "k", type_idx(p->ctx, size), span);
}

static Core *folded_over(const Apart *p, const Core *fold, CoreVar *axis, Core *element)
{
    return fold_of(p->ctx, fold, make_generate(p->ctx, axis, element, fold->span));
}

/* The folds of one group alone, an array over all other axes as they lie in memory; the nest's own becomes the fold of these. */
static Nest *fold_first(const Apart *p, const Axes *a, const MemoryRead *all, Nest *nest, int group)
{
    Ctx *ctx = p->ctx;
    const Core *fold = nest->element;
    const Axis *own = &a->list[group], *folded = a->parts + nest->n_axes;
    int n_folded = a->n_parts - nest->n_axes, n_left = n_folded - own->n, in_own = own->first - nest->n_axes;
    Axis left[MOST_AXES];
    int from[MOST_AXES]; /* the part that each of those on the left is */
    for (int i = 0, k = 0; i < n_folded; i++)
        if (i < in_own || i >= in_own + own->n) {
            from[k] = nest->n_axes + i;
            left[k++] = folded[i];
        }
    CoreVar *k_own = axis_over(p, folded + in_own, own->n, fold->span), *k_left = axis_over(p, left, n_left, fold->span);
    Nat by[MOST_AXES], read[MOST_AXES]; /* by part: its index in the element of the first fold; as the fold of them reads it */
    count_through(ctx, folded + in_own, own->n, k_own->nat, by + own->first);
    Nat digits[MOST_AXES];
    count_through(ctx, left, n_left, k_left->nat, digits);
    for (int k = 0; k < n_left; k++)
        read[from[k]] = digits[k];

    Nest *first = NEW(ctx, Nest);
    *first = (Nest){.axes = NEWN(ctx, CoreVar *, MOST_AXES)};
    Core *part = NULL;
    Nat at[MOST_AXES];
    for (int i = 0; i < all->n; i++) {
        const Axis *axis = &a->list[all->order[i]];
        for (int k = axis->first; axis != own && k < axis->first + axis->n; k++) {
            CoreVar *var = make_var(ctx, p->next_var, "i", a->parts[k].var->type, fold->span);
            by[k] = var->nat;
            at[first->n_axes] = k < nest->n_axes ? nest->axes[k]->nat : read[k];
            first->axes[first->n_axes++] = var;
        }
    }
    Core *element = a->element;
    for (int k = 0; k < nest->n_axes; k++)
        element = term_with_nat(ctx, p->next_var, element, nest->axes[k]->nat, by[k]);
    Nat whole = by[nest->n_axes];
    for (int k = nest->n_axes + 1; k < a->n_parts; k++)
        whole = nat_add(ctx, nat_mul(ctx, whole, size_of(&a->parts[k])), by[k]);
    if (n_folded > 1 || whole != a->folded->nat)
        element = term_with_nat(ctx, p->next_var, element, a->folded->nat, whole);
    first->element = folded_over(p, fold, k_own, element);
    Type type = fold->type;
    for (int i = first->n_axes - 1; i >= 0; i--)
        type = type_array(ctx, first->axes[i]->type->size, type);
    first->var = make_var(ctx, p->next_var, "part", type, fold->span);
    part = make_ref(ctx, first->var, fold->span);
    for (int i = 0; i < first->n_axes; i++)
        part = make_index(ctx, part, at[i], fold->span);
    nest->element = folded_over(p, fold, k_left, part);
    return first;
}

typedef struct Choice {
    Nat first, last; /* sizes of the groups; NULL: there is no choice */
} Choice;

/* The nest, and before it the folds that it is a fold of. */
static void add_apart(const Apart *p, const Nest *nest, Nests *to, Choice *choice)
{
    Ctx *ctx = p->ctx;
    Nest *new = NEW(ctx, Nest);
    *new = *nest;
    for (;;) {
        Axes a = {.ctx = ctx, .entry = p->entry, .next_var = p->next_var};
        const Core *fold = new->element;
        bool folds = fold->kind == CORE_PRIM && fold->prim.id == P_reduce && fold->type->kind == TY_SCALAR && new->n_axes > 0 && !new->steps;
        folds = folds && !is_short_fold(ctx, p->entry, new, p->next_var);
        const MemoryRead *all = folds && axes_of_fold(&a, new) ? axes_widest(&a) : NULL;
        int first = -1, last = -1;
        if (!all || folded_groups(&a, all, &first, &last) < 2)
            break;
        bool own_axes = true; /* an axis of the result is no product of two */
        for (int i = 0; i < new->n_axes; i++)
            own_axes &= a.parts[i].var == new->axes[i];
        if (!own_axes)
            break;
        bool either = operator_commutes(fold->prim.args[0]);
        if (either && choice && !choice->first)
            *choice = (Choice){size_of(&a.list[first]), size_of(&a.list[last])};
        vec_push(ctx, &to->list, fold_first(p, &a, all, new, either && p->outer_first ? first : last));
    }
    vec_push(ctx, &to->list, new);
}

static Nests *list_apart(const Apart *p, const Nests *nests, Choice *choice)
{
    Nests *new = NEW(p->ctx, Nests);
    *new = *nests;
    new->list.at = NULL;
    new->list.n = new->list.cap = 0;
    for (int i = 0; i < nests->list.n; i++)
        add_apart(p, nests->list.at[i], new, nests->result ? choice : NULL);
    if (!nests->result) {
        new->then = list_apart(p, nests->then, NULL);
        new->otherwise = list_apart(p, nests->otherwise, NULL);
    }
    return new;
}

const Nests *folds_apart(Ctx *ctx, const CoreEntry *entry, const Nests *nests, int *next_var)
{
    Apart p = {.ctx = ctx, .entry = entry, .next_var = next_var};
    Choice choice = {0};
    Nests *inner = list_apart(&p, nests, &choice);
    if (!choice.first || nests_have_steps(nests))
        return inner;
    Nat least = nat_min(ctx, choice.first, nat_const(ctx, LONG_AXIS)); /* of the last axis, for it to go first */
    if (nat_le(ctx, entry->known, least, choice.last))
        return inner;
    p.outer_first = true;
    if (nat_le(ctx, entry->known, nat_add_k(ctx, choice.last, 1), least))
        return list_apart(&p, nests, NULL);
    Nests *both = NEW(ctx, Nests);
    *both = (Nests){0};
    both->cond = make_compare(ctx, P_le, least, choice.last, nests->result->span);
    both->then = inner;
    both->otherwise = list_apart(&p, nests_copy(ctx, nests, next_var), NULL);
    return both;
}
