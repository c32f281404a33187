/* Values that a fold of all goes through, where several folds of a row are read for each of them, are
 * a nest of their own. A kernel computes each with its row on chip.
 *
 *   sum = reduce(+, 0, top[i] + log(total[i])), i < n
 *     ->  value[i] = top[i] + log(total[i]);  sum = reduce(+, 0, value[i]), i < n
 *
 * So are values of one fold, if results are made of it, too: the kernel that computes these gives the
 * values beside them (group_results.c). */
#include "ir/result_place.h"
#include "schedule/nested.h"

/* The elements that a fold is of, as a nest. */
static Nest *values_of(const Nested *m, const Nest *fold)
{
    Ctx *ctx = m->ctx;
    CoreVar *axis;
    Nest *values = NEW(ctx, Nest);
    *values = (Nest){.n_axes = fold->n_axes + 1, .kept = true, .of_rows = true};
    values->element = fold_element(ctx, fold->element, &axis, m->next_var);
    values->axes = NEWN(ctx, CoreVar *, values->n_axes);
    Type type = values->element->type;
    for (int i = values->n_axes - 1; i >= 0; i--) {
        const CoreVar *old = i == fold->n_axes ? axis : fold->axes[i];
        values->axes[i] = make_var(ctx, m->next_var, old->name, old->type, old->span);
        values->element = term_with_nat(ctx, m->next_var, values->element, old->nat, values->axes[i]->nat);
        type = type_array(ctx, old->type->size, type);
    }
    values->var = make_var(ctx, m->next_var, "value", type, values->element->span);
    return values;
}

/* How often the array is a result, as it is. */
static int times_given(const Core *result, const CoreVar *array)
{
    Core **items;
    int times = result->kind == CORE_VAR && result->var == array;
    for (int i = 0, n = result_items(result, &items); i < n; i++)
        times += times_given(items[i], array);
    return times;
}

/* The term of what reads arrays of a row: that of the nest, or, of a fold, of the elements that it
 * goes through. */
static const Nest *reader_of(const Nested *m, const Nest *nest) { return nested_is_plain_fold(nest) ? values_of(m, nest) : nest; }

/* Which nests need this one, themselves or for what they are made of. */
static bool *needing(const Nested *m, int at)
{
    bool *needs = NEWN(m->ctx, bool, m->n + 1);
    for (int i = at + 1; i < m->n; i++)
        for (int k = at; k < i && m->at[i] && !needs[i]; k++)
            needs[i] = (k == at || needs[k]) && m->at[k] && nested_reads(m->at[i]->element, m->at[k]->var) > 0;
    return needs;
}

/* What the kernel of one row may compute before the fold `at`, as a bool for each nest: results of
 * the row, what a fold goes through, and what these are made of, at the same row. */
static bool *leads_of_rows(const Nested *m, int at, int rows)
{
    bool *leads = NEWN(m->ctx, bool, m->n + 1), *needs = needing(m, at);
    for (int i = m->n - 1; i >= 0; i--) {
        const Nest *nest = m->at[i];
        if (!nest || !m->result)
            continue;
        bool given = times_given(m->result, nest->var) > 0, read = false, at_rows = true;
        for (int k = i + 1; k < m->n; k++) {
            if (!m->at[k] || nested_reads(m->at[k]->element, nest->var) == 0)
                continue;
            const Nest *reader = reader_of(m, m->at[k]);
            read = true;
            at_rows &= leads[k] && reads_at_rows(reader->element, reader, nest->var, rows);
        }
        for (int k = 0; k < m->values.n; k++) {
            read |= nested_reads(m->values.at[k]->element, nest->var) > 0;
            at_rows &= reads_at_rows(m->values.at[k]->element, m->values.at[k], nest->var, rows);
        }
        leads[i] = !needs[i] && (nested_is_plain_fold(nest) || (term_is_elementwise(nest->element) && at_rows && (given || read)));
    }
    return leads;
}

/* How often an array of the row is read by what the kernel of these values may compute beside them.
 * `at`: the fold of these. */
static int reads_beside(const Nested *m, int at, const Row *row, const bool *leads, const Nest *array)
{
    int reads = m->result ? times_given(m->result, array->var) : 0;
    for (int i = 0; i < m->n; i++) {
        const Nest *nest = m->at[i];
        int n = nest && i != at && leads[i] && !nested_is_of_row(row, nest) ? nested_reads(nest->element, array->var) : 0;
        const Nest *reader = n > 0 ? reader_of(m, nest) : NULL;
        if (reader && reads_at_rows(reader->element, reader, array->var, row->rows))
            reads += n;
    }
    for (int i = 0; i < m->values.n; i++) {
        const Nest *values = m->values.at[i];
        if (reads_at_rows(values->element, values, array->var, row->rows))
            reads += nested_reads(values->element, array->var);
    }
    return reads;
}

/* The folds of one row that the values are made of, in the order of the list: how many. 0, too,
 * where something else reads one that their kernel cannot compute. `beside`: it may compute more. */
static int folds_of_row(const Nested *m, int at, const Nest *values, Nest **members, bool *beside)
{
    const Row row = nested_whole_row(m, values);
    const bool *leads = leads_of_rows(m, at, row.rows);
    int n = 0;
    bool own = true;
    for (int i = 0; i < m->n && own; i++) {
        if (!m->at[i] || !nested_is_of_row(&row, m->at[i]))
            continue;
        int others = reads_beside(m, at, &row, leads, m->at[i]);
        *beside |= others > 0;
        if (term_is_elementwise(m->at[i]->element))
            continue;
        own = nested_is_rows_own(m, &row, values, m->at[i], others);
        members[n++] = m->at[i];
    }
    *beside &= row.memory; /* else each is a product */
    return own ? n : 0;
}

/* Are the values an array as it is, which is a result? Then the fold of all reads that. */
static bool is_given(const Nested *m, const Nest *values)
{
    int indices;
    const Core *first, *base = term_base(values->element, &indices, &first);
    return indices > 0 && base->kind == CORE_VAR && m->result && times_given(m->result, base->var) > 0;
}

/* A fold of values for each of which several folds of one row are read, or one that results of the row
 * read, too, becomes a fold of an array of them: a kernel computes each with its row on chip. */
void row_values(Nested *m, int at)
{
    Nest *fold = m->at[at], **members = NEWN(m->ctx, Nest *, m->n + 1);
    if (!fold || !nested_is_plain_fold(fold))
        return;
    Nest *values = values_of(m, fold);
    bool beside = false;
    int n = term_is_elementwise(values->element) && !is_given(m, values) ? folds_of_row(m, at, values, members, &beside) : 0;
    Nat length = NULL;
    members[n] = values;
    if (n < (beside ? 1 : 2) || !rows_program(m->ctx, m->entry, values->n_axes, n + 1, members, NULL, &length, m->next_var))
        return;
    CoreVar *axis;
    Core *element = fold_element(m->ctx, fold->element, &axis, m->next_var), *read = make_ref(m->ctx, values->var, element->span);
    for (int i = 0; i < values->n_axes; i++)
        read = make_index(m->ctx, read, i < fold->n_axes ? fold->axes[i]->nat : axis->nat, element->span);
    Nest *new = NEW(m->ctx, Nest);
    *new = *fold;
    new->element = fold_of(m->ctx, fold->element, make_generate(m->ctx, axis, read, element->span));
    m->at[at] = new;
    vec_push(m->ctx, &m->values, values);
    vec_push(m->ctx, &m->through, at);
}

/* A nest of the list, and before it the folds that were put off and that it reads. */
static void add_in_order(const Nested *m, NestList *list, NestList *put_off, Nest *nest)
{
    int left = 0;
    for (int i = 0; i < put_off->n; i++) {
        if (nested_reads(nest->element, put_off->at[i]->var) > 0)
            vec_push(m->ctx, list, put_off->at[i]);
        else
            put_off->at[left++] = put_off->at[i];
    }
    put_off->n = left;
    vec_push(m->ctx, list, nest);
}

/* The list, with the values of rows before the folds that go through them, and these as late as may
 * be: one kernel computes all values of a row. */
NestList row_values_in_order(const Nested *m)
{
    NestList list = {0}, put_off = {0};
    for (int i = 0; i < m->n; i++) {
        int k = 0;
        while (k < m->values.n && m->through.at[k] != i)
            k++;
        if (k < m->values.n) {
            add_in_order(m, &list, &put_off, m->values.at[k]);
            vec_push(m->ctx, &put_off, m->at[i]);
        } else if (m->at[i]) {
            add_in_order(m, &list, &put_off, m->at[i]);
        }
    }
    for (int i = 0; i < put_off.n; i++)
        vec_push(m->ctx, &list, put_off.at[i]);
    return list;
}
