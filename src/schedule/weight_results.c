/* Weighted sums (weights.c) and results that are made of the same rows of weights, as the training
 * of attention has them:
 *
 *   o[i][j] = a weighted average,  l[i] = top[i] + log(total[i])
 *     ->  for each row: let top = ... in let total = ... in (averages, top + log(total))
 *
 * One kernel then computes an array of these tuples, and writes the components into the places of
 * the results. */
#include "schedule/groups.h"
#include "schedule/weights_parts.h"

/* ---- the values of a row ---- */

/* The element of an array at its own axes. */
static Core *own_element(const Weights *w, const Nest *nest)
{
    Span span = nest->element->span;
    Core *read = make_ref(w->ctx, nest->var, span);
    for (int i = 0; i < nest->n_axes; i++)
        read = make_index(w->ctx, read, nest->axes[i]->nat, span);
    return read;
}

/* The term with these for reads of what is largest in a row and of the total. */
static Core *of_row(const Weights *w, const Found *f, Core *term, Core *top, Core *total)
{
    int indices;
    const Nest *nest = weights_read(w, term, &indices);
    if (nest && (nest == f->top || nest == f->total))
        return nest == f->top ? top : total;
    if (term_children(term) == 0)
        return term;
    Core *new = term_copy(w->ctx, term);
    for (int i = 0; i < term_children(term); i++)
        term_set_child(new, i, of_row(w, f, term_child(term, i), top, total));
    return new;
}

/* Is the element made of what is largest in its row and of the total, and of nothing else of the
 * row? */
static bool is_of_row(const Weights *w, const Found *f, const Nest *value, Core *element)
{
    Core *zero = make_zero(w->ctx, w->next_var, f->top->element->type, element->span);
    Core *rest = of_row(w, f, element, zero, zero);
    bool fits = term_mentions(element, f->top->var) || term_mentions(element, f->total->var);
    fits &= reads_at_rows(element, value, f->top->var, value->n_axes) &&
            reads_at_rows(element, value, f->total->var, value->n_axes);
    for (int i = 0; i < value->n_axes && fits; i++)
        fits = !term_mentions_nat(w->ctx, rest, value->axes[i]->nat);
    return fits;
}

/* The element of a value; NULL: it is made of something else. */
static Core *value_element(Weights *w, const Found *f, const Nest *value)
{
    bool itself = value == f->top || value == f->total;
    Weighted before = *w->from;
    if (!itself && !term_is_elementwise(value->element))
        return NULL;
    Core *element = itself ? own_element(w, value) : weights_spelled_out(w, value->element);
    if (!w->other && is_of_row(w, f, value, element))
        return element;
    w->other = false;
    *w->from = before;
    return NULL;
}

bool weights_take_values(Weights *w, Found *f, RowValues *values)
{
    const int all = values->n;
    values->n = 0;
    if (product_axes(&f->sums, COLUMN) != 1)
        return false;
    for (int i = 0; i < all; i++) {
        const Nest *value = values->nests[i];
        const bool number = value->n_axes == w->from->rows && value->element->type->kind == TY_SCALAR;
        Core *element = number && has_rows(value, value->n_axes, f->sums.nest) ? value_element(w, f, value) : NULL;
        if (!element)
            continue;
        if (values->n == MOST_ROW_VALUES)
            return false;
        f->of_row[values->n] = element;
        values->nests[values->n++] = value;
    }
    f->values = *values;
    return values->n > 0;
}

Core *weights_tuple(const Weights *w, const Found *f, Core *averages, CoreVar *top, CoreVar *total)
{
    Core *of_top = make_ref(w->ctx, top, averages->span);
    Core *of_total = make_ref(w->ctx, total, averages->span);
    Core *items[MOST_ROW_VALUES + 1] = {averages};
    for (int i = 0; i < f->values.n; i++)
        items[i + 1] = of_row(w, f, f->of_row[i], of_top, of_total);
    return make_tuple(w->ctx, f->values.n + 1, items, averages->span);
}

/* ---- the results ---- */

typedef struct RowResults {
    Groups *g;
    int at; /* the weighted sums */
    RowValues values;
    Weighted from;
    int n; /* members: the sums, the values, and what both are made of */
    Nest *members[MOST_WEIGHTS + MOST_ROW_VALUES + 1];
} RowResults;

static Group *group_of(const RowResults *r, const Nest *nest)
{
    return table_get(&r->g->of_var, nest->var);
}

/* May a kernel of several results write the array? */
static bool is_free(const Group *group)
{
    const bool open = !group->taken && !group->joined;
    return group->given && open && !group->nest->steps && !group->nest->kept;
}

/* Results that may be values of the rows. */
static void note_candidates(RowResults *r)
{
    const Groups *g = r->g;
    r->values.nests = NEWN(g->ctx, const Nest *, g->n + 1);
    for (int i = 0; i < g->n; i++)
        if (i != r->at && is_free(&g->at[i]) && g->at[i].nest->n_axes > 0)
            r->values.nests[r->values.n++] = g->at[i].nest;
}

static void add_member(RowResults *r, const Nest *nest)
{
    for (int i = 0; i < r->n; i++)
        if (r->members[i] == nest)
            return;
    r->members[r->n++] = (Nest *)(uintptr_t)nest;
}

static bool is_value(const RowResults *r, const Nest *nest)
{
    bool found = false;
    for (int i = 0; i < r->values.n; i++)
        found |= r->values.nests[i] == nest;
    return found;
}

/* Does nothing else read what the results are made of? */
static bool is_closed(RowResults *r)
{
    add_member(r, r->g->at[r->at].nest);
    for (int i = 0; i < r->values.n; i++)
        add_member(r, r->values.nests[i]);
    for (int i = 0; i < r->from.n; i++)
        add_member(r, r->from.nests[i]);
    bool closed = true;
    for (int i = 0; i < r->n && closed; i++) {
        const Group *group = group_of(r, r->members[i]);
        bool given = i == 0 || is_value(r, group->nest);
        closed = (given || (!group->elsewhere && !group->nest->kept)) &&
                 readers_are(group, r->from.rows, r->n, r->members);
    }
    return closed;
}

Core *weights_joined(Groups *g, int at, Core *result, int *next_var)
{
    Ctx *ctx = g->ctx;
    const Nest *sums = g->at[at].nest;
    RowResults r = {.g = g, .at = at};
    if (!is_free(&g->at[at]) || g->at[at].readers.n > 0 || sums->n_axes < 2)
        return result;
    note_candidates(&r);
    if (r.values.n == 0)
        return result;
    Core *program = weighted_rows_term(ctx, g->entry, sums, &r.values, nest_of_group, g, &r.from,
                                       next_var);
    if (!program || !is_closed(&r))
        return result;
    Nest *all = NEW(ctx, Nest);
    *all = *sums;
    all->var = make_var(ctx, next_var, "rows", program->type, sums->var->span);
    all->n_axes = r.from.rows;
    all->value = all->element = program;
    int *component = NEWN(ctx, int, g->n + 1), last = at;
    for (int i = 0; i < g->n; i++)
        component[i] = i == at ? 0 : -1;
    for (int i = 0; i < r.values.n; i++) {
        const int value = (int)(group_of(&r, r.values.nests[i]) - g->at);
        component[value] = i + 1;
        last = value > last ? value : last;
    }
    for (int i = 0; i < r.n; i++)
        group_take(group_of(&r, r.members[i]), all);
    g->matrices = true;
    return results_of_tuples(g, last, all, component, result, next_var);
}
