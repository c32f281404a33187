/* Which arrays are computed together: those of a row, or of nothing, with the one that reads them. */
#include "ir/key.h"
#include "schedule/groups.h"
#include "schedule/product.h"
#include "schedule/weights.h"

int own_indices(const Core *read, const Nest *reader)
{
    int indices, own = 0;
    const Core *first;
    term_base(read, &indices, &first);
    for (int k = indices - 1; k >= 0; k--, read = read->prim.args[0])
        own = k < reader->n_axes && read->prim.nats[1] == reader->axes[k]->nat ? own + 1 : 0;
    return own;
}

bool reads_at_rows(const Core *term, const Nest *nest, const CoreVar *array, int rows)
{
    int indices;
    const Core *first, *base = term_base(term, &indices, &first);
    bool at_rows = base->kind != CORE_VAR || base->var != array || own_indices(term, nest) >= rows;
    for (int i = 0; base->kind != CORE_VAR && at_rows && i < term_children(term); i++)
        at_rows = reads_at_rows(term_child(term, i), nest, array, rows);
    return at_rows;
}

/* Notes what the term of a nest, or a result, reads. */
void note_reads(Groups *g, const Nest *reader, const Core *term)
{
    int indices;
    const Core *first, *base = term_base(term, &indices, &first);
    Group *read = base->kind == CORE_VAR ? table_get(&g->of_var, base->var) : NULL;
    if (read && reader)
        vec_push(g->ctx, &read->readers, ((Reader){reader, own_indices(term, reader)}));
    else if (read)
        read->elsewhere = read->in_result = true;
    for (int i = 0; !read && i < term_children(term); i++)
        note_reads(g, reader, term_child(term, i));
}

bool has_rows(const Nest *nest, int rows, const Nest *of)
{
    if (nest->steps || nest->n_axes < rows || (nest->n_axes > rows && !term_is_elementwise(nest->element)))
        return false;
    for (int i = 0; i < rows; i++)
        if (nest->axes[i]->type != of->axes[i]->type)
            return false;
    return nest->n_axes == rows || rows > 0;
}

bool readers_are(const Group *read, int rows, int n, Nest *const *members)
{
    for (int i = 0; i < read->readers.n; i++) {
        bool found = false;
        for (int k = 0; k < n && !found; k++)
            found = members[k] == read->readers.at[i].nest && read->readers.at[i].own >= rows;
        if (!found)
            return false;
    }
    return true;
}

/* Is all that reads it among these, each for its own row? */
static bool read_by(const Group *read, int rows, int n, Nest *const *members)
{
    return read->readers.n > 0 && !read->elsewhere && !read->nest->kept &&
           readers_are(read, rows, n, members);
}

bool are_apart(Groups *g, const Nest *nest, int rows, Nat length, bool short_apart)
{
    RowSizes found = {axes_count(g->ctx, rows, nest->axes), length, short_apart};
    if (rows_are_few(g->ctx, g->entry->known, &found) || rows_are_short(g->ctx, g->entry->known, &found))
        return true;
    if (!g->rows->rows)
        *g->rows = found;
    return false;
}

void group_take(Group *group, const Nest *reader)
{
    group->taken = true;
    group->nest->with = reader;
}

const Nest *nest_of_group(void *user, const CoreVar *array)
{
    Group *group = table_get(&((Groups *)user)->of_var, array);
    return group && !group->taken ? group->nest : NULL;
}

/* Sums with weights that are made of a product, or folds of the rows of one, where nothing else reads what they are made of; else NULL. */
static Core *weighted_program(Groups *g, Nest *nest, Weighted *from, int *next_var)
{
    Core *program = weighted_term(g->ctx, g->entry, nest, nest_of_group, g, from, next_var);
    if (!program)
        program = folded_term(g->ctx, g->entry, nest, nest_of_group, g, from, next_var);
    Nest *members[MOST_WEIGHTS + 1] = {nest};
    for (int i = 0; program && i < from->n; i++)
        members[i + 1] = (Nest *)(uintptr_t)from->nests[i];
    for (int i = 0; program && i < from->n; i++)
        if (!read_by(table_get(&g->of_var, from->nests[i]->var), from->rows, from->n + 1, members))
            program = NULL;
    return program;
}

bool is_weighted(Groups *g, int at, int next_var)
{
    Weighted from;
    return weighted_program(g, g->at[at].nest, &from, &next_var) != NULL;
}

/* What a nest is, with those before it that it alone reads, over so many rows; NULL: nothing that is
 * known. */
static Core *program_of(Groups *g, int last, int rows, int *next_var)
{
    Nest **members = NEWN(g->ctx, Nest *, last + 1), *nest = g->at[last].nest;
    int n = 0;
    if (!has_rows(nest, rows, nest))
        return NULL;
    bool alone = rows == 0 && !term_is_elementwise(nest->element); /* else: made of a whole fold */
    members[last] = nest;
    for (int i = last; i >= 0 && !(alone && n); i--)
        if (i == last || (!g->at[i].taken && has_rows(g->at[i].nest, rows, nest) &&
                          read_by(&g->at[i], rows, n, members + last + 1 - n) && !is_weighted(g, i, *next_var)))
            members[last - n++] = g->at[i].nest;
    members += last + 1 - n;
    Nat length = NULL;
    Core *program = rows ? rows_program(g->ctx, g->entry, rows, n, members, NULL, &length, next_var)
                         : fold_program(g->ctx, n, members, next_var);
    if (program && n > 1 && length && are_apart(g, nest, rows, length, false))
        return NULL;
    for (int i = 0; program && i < last; i++)
        for (int k = 0; k < n - 1; k++)
            if (members[k] == g->at[i].nest)
                group_take(&g->at[i], nest);
    return program;
}

/* ---- an element, and what is made of it ---- */

/* The term with a value for what it reads of an array. */
static Core *with_value(Ctx *ctx, Core *term, const CoreVar *array, CoreVar *value)
{
    int indices;
    const Core *first, *base = term_base(term, &indices, &first);
    if (base->kind == CORE_VAR && base->var == array)
        return make_ref(ctx, value, term->span);
    if (term_children(term) == 0)
        return term;
    Core *new = term_copy(ctx, term);
    for (int i = 0; i < term_children(term); i++)
        term_set_child(new, i, with_value(ctx, term_child(term, i), array, value));
    return new;
}

/* Is an element of it worked out in order, by a thread, for this reader's element alone? */
static bool is_for_element(const Group *g, const Nest *reader)
{
    const Nest *nest = g->nest;
    bool in_order = nest->element->kind == CORE_PRIM && nest->element->prim.id == P_reduceSeq;
    if (g->taken || !in_order || nest->element->type->kind == TY_ARRAY || nest->n_axes != reader->n_axes)
        return false;
    for (int i = 0; i < nest->n_axes; i++)
        if (nest->axes[i]->type != reader->axes[i]->type)
            return false;
    return read_by(g, nest->n_axes, 1, (Nest *const[]){(Nest *)(uintptr_t)reader});
}

static void take_elements(Groups *g, int last, int *next_var)
{
    Nest *nest = g->at[last].nest;
    if (!term_is_elementwise(nest->element))
        return;
    for (int i = last - 1; i >= 0; i--) {
        const Nest *other = g->at[i].nest;
        if (!is_for_element(&g->at[i], nest))
            continue;
        Core *element = other->element;
        for (int k = 0; k < other->n_axes; k++)
            element = term_with_nat(g->ctx, next_var, element, other->axes[k]->nat, nest->axes[k]->nat);
        CoreVar *value = make_var(g->ctx, next_var, other->var->name, element->type, element->span);
        nest->element = make_let(g->ctx, value, element, with_value(g->ctx, nest->element, other->var, value));
        group_take(&g->at[i], nest);
    }
}

/* Is it a scan, all of which this reader alone reads, for its own element? */
static bool is_own_scan(const Group *g, const Nest *reader)
{
    const Nest *nest = g->nest;
    PrimId id = nest->element->kind == CORE_PRIM ? nest->element->prim.id : P_map;
    if ((id != P_scan && id != P_scanExcl) || g->taken || nest->steps || nest->n_axes != reader->n_axes - 1)
        return false;
    for (int i = 0; i < nest->n_axes; i++)
        if (nest->axes[i]->type != reader->axes[i]->type)
            return false;
    return nest->element->type->size == reader->axes[nest->n_axes]->type->size &&
           read_by(g, reader->n_axes, 1, (Nest *const[]){(Nest *)(uintptr_t)reader});
}

/* The elements of a scan, or of a scan of each row, through a function that reads nothing else of their
 * places: map(f, scan); else NULL. */
static Core *mapped_scan(Groups *g, int last, int *next_var)
{
    Nest *nest = g->at[last].nest;
    int i = last - 1;
    while (i >= 0 && !is_own_scan(&g->at[i], nest))
        i--;
    if (i < 0 || nest->steps || !term_is_elementwise(nest->element))
        return NULL;
    Nest scan = *g->at[i].nest;
    CoreVar *x = make_var(g->ctx, next_var, "x", scan.element->type->elem, nest->element->span);
    Core *value = with_value(g->ctx, nest->element, scan.var, x);
    for (int k = 0; k < nest->n_axes; k++)
        if (term_mentions_nat(g->ctx, value, nest->axes[k]->nat))
            return NULL;
    Nat length;
    Core *array = scan.n_axes ? scan.element : stage_term(g->ctx, g->entry, &scan, next_var);
    Nest *mapped = &scan;
    scan.element = make_map(g->ctx, x, value, array);
    Core *program = scan.n_axes ? rows_program(g->ctx, g->entry, scan.n_axes, 1, &mapped, NULL, &length, next_var) : scan.element;
    if (program)
        group_take(&g->at[i], nest);
    return program;
}

bool same_axes(const Nest *a, const Nest *b)
{
    bool same = a->n_axes == b->n_axes;
    for (int i = 0; same && i < a->n_axes; i++)
        same = a->axes[i]->type == b->axes[i]->type;
    return same;
}

static Core *weighted_sums(Groups *g, int last, int *next_var)
{
    Nest *nest = g->at[last].nest;
    Weighted from;
    Core *program = weighted_program(g, nest, &from, next_var);
    for (int i = 0; program && i < from.n; i++)
        group_take(table_get(&g->of_var, from.nests[i]->var), nest);
    return program;
}

/* The reads of all groups, as their terms are now. */
void note_all(Groups *g)
{
    for (int i = 0; i < g->n; i++)
        g->at[i].readers.n = 0;
    for (int i = 0; i < g->n; i++)
        note_reads(g, g->at[i].nest, g->at[i].nest->element);
}

/* Where a term first reads an element of an array: what divides it, or multiplies it. NULL: neither. */
static Core *scaled_in(const Core *term, const Nest *of)
{
    int indices;
    for (int i = 0; i < term_children(term); i++) {
        const Core *first, *base = term_base(term_child(term, i), &indices, &first);
        if (base->kind == CORE_VAR && base->var == of->var)
            return term_is(term, P_div) || term_is(term, P_mul) ? (Core *)(uintptr_t)term : NULL;
        Core *found = scaled_in(term_child(term, i), of);
        if (found)
            return found;
    }
    return NULL;
}

/* The term with `by` in place of a part. */
static Core *with_part(Ctx *ctx, Core *term, const Core *part, Core *by)
{
    if (term == part || core_same(ctx, term, part))
        return by;
    if (term_children(term) == 0)
        return term;
    Core *new = term_copy(ctx, term);
    for (int i = 0; i < term_children(term); i++)
        term_set_child(new, i, with_part(ctx, term_child(term, i), part, by));
    return new;
}

/* Sums that what is made of them divides first are divided where they are computed, if they are weighted averages then. */
static bool divide_sums(Groups *g, Nest *nest, Nest *sums, int next_var)
{
    Core *scaled = scaled_in(nest->element, sums), *own = sums->element, *all = nest->element;
    if (!scaled || !term_is(own, P_reduce))
        return false;
    Core *element = term_copy(g->ctx, scaled), *read = NULL;
    for (int i = 0, indices; i < 2; i++) {
        const Core *first, *base = term_base(scaled->prim.args[i], &indices, &first);
        bool is_read = base->kind == CORE_VAR && base->var == sums->var;
        read = is_read ? scaled->prim.args[i] : read;
        element->prim.args[i] = is_read ? own : scaled->prim.args[i];
        for (int k = 0; !is_read && k < nest->n_axes; k++)
            element->prim.args[i] = term_with_nat(g->ctx, &next_var, element->prim.args[i], nest->axes[k]->nat, sums->axes[k]->nat);
    }
    Core *rest = with_part(g->ctx, all, scaled, read);
    if (term_mentions(with_part(g->ctx, all, scaled, element), sums->var)) /* undivided, too */
        return false;
    sums->element = element;
    nest->element = rest;
    note_all(g);
    Weighted from;
    if (weighted_program(g, sums, &from, &next_var))
        return true;
    sums->element = own;
    nest->element = all;
    note_all(g);
    return false;
}

/* Elements that are made of those of a product, which nothing else reads, at their own indices; else NULL. */
static Core *mapped_product(Groups *g, int last, int *next_var)
{
    Nest *nest = g->at[last].nest;
    if (nest->steps || nest->n_axes < 2 || !term_is_elementwise(nest->element))
        return NULL;
    for (int i = last - 1; i >= 0; i--) {
        const Nest *other = g->at[i].nest;
        if (g->at[i].taken || other->steps || !same_axes(other, nest) || !read_by(&g->at[i], nest->n_axes, 1, &nest) ||
            is_weighted(g, i, *next_var) || divide_sums(g, nest, g->at[i].nest, *next_var))
            continue;
        Core *program = product_term(g->ctx, g->entry, other, nest, next_var);
        if (program) {
            group_take(&g->at[i], nest);
            return program;
        }
    }
    return NULL;
}

/* Is it folds, all of which this reader alone reads, each for its own element, and which are no other thing that is known? */
static bool is_own_folds(Groups *g, int at, Nest *reader, int *next_var)
{
    const Group *group = &g->at[at];
    const Nest *nest = group->nest;
    return !group->taken && !nest->steps && term_is(nest->element, P_reduce) && !fold_is_ordered(g->ctx, nest->element) &&
           same_axes(nest, reader) && read_by(group, reader->n_axes, 1, &reader) && !is_weighted(g, at, *next_var) &&
           !known_term(g->ctx, g->entry, nest, next_var);
}

/* Does it read an array of the list at its own place? Then a block may have both on chip. */
static bool reads_own(const Groups *g, const Nest *nest)
{
    bool own = false;
    for (int i = 0; i < g->n; i++)
        for (int k = 0; k < g->at[i].readers.n; k++)
            own |= g->at[i].readers.at[k].nest == nest && g->at[i].readers.at[k].own >= nest->n_axes;
    return own;
}

/* Values of folds: of one fold each. Where they are made of something else, too, at its place, the fold is short: a thread computes both.
 * NULL: they are made of something else. `alone`: the folds read nothing of their rows that is computed, too. */
static Core *mapped_folds(Groups *g, int last, bool alone, int *next_var)
{
    Nest *nest = g->at[last].nest;
    bool elements = !nest->steps && nest->n_axes > 0 && term_is_elementwise(nest->element);
    for (int i = last - 1; i >= 0 && elements; i--) {
        if (!is_own_folds(g, i, nest, next_var) || (alone && reads_own(g, g->at[i].nest)))
            continue;
        Nest folds = *g->at[i].nest;
        CoreVar *total = make_var(g->ctx, next_var, folds.var->name, folds.element->type, nest->element->span);
        Core *value = with_value(g->ctx, nest->element, folds.var, total);
        bool placed = false;
        for (int k = 0; k < nest->n_axes; k++) {
            placed |= term_mentions_nat(g->ctx, value, nest->axes[k]->nat);
            value = term_with_nat(g->ctx, next_var, value, nest->axes[k]->nat, folds.axes[k]->nat);
        }
        if (placed && !is_short_fold(g->ctx, g->entry, &folds, next_var))
            continue;
        folds.element = make_let(g->ctx, total, folds.element, value);
        group_take(&g->at[i], nest);
        return placed ? plain_term(g->ctx, &folds) : stage_term(g->ctx, g->entry, &folds, next_var);
    }
    return NULL;
}

/* Does it read an array of the list? */
static bool reads_list(const Groups *g, const Nest *nest)
{
    for (int i = 0; i < g->n; i++)
        for (int k = 0; k < g->at[i].readers.n; k++)
            if (g->at[i].readers.at[k].nest == nest)
                return true;
    return false;
}

/* What it is, of rows that several axes are within; else NULL. */
static Core *value_of_rows(Groups *g, int last, int *next_var)
{
    Core *value = NULL;
    for (int rows = g->at[last].nest->n_axes - 2; !value && rows > 0; rows--)
        value = program_of(g, last, rows, next_var);
    return value;
}

/* Does a thread fold it alone? */
static bool is_for_thread(Groups *g, const Nest *nest, int *next_var)
{
    return term_is_elementwise(nest->element) || is_short_fold(g->ctx, g->entry, nest, next_var) || folds_few(nest->element);
}

/* Has a fold been taken, since these were, for which threads work together? */
static bool took_long_fold(Groups *g, const bool *before, int *next_var)
{
    bool found = false;
    for (int i = 0; i < g->n && !found; i++)
        found = g->at[i].taken && !before[i] && !is_for_thread(g, g->at[i].nest, next_var);
    return found;
}

static void give_value(Groups *g, int last, int *next_var)
{
    Nest *nest = g->at[last].nest;
    if ((nest->value = weighted_sums(g, last, next_var))) {
        g->matrices = true;
        return;
    }
    take_elements(g, last, next_var);
    if ((nest->value = mapped_scan(g, last, next_var)))
        return;
    if ((nest->value = mapped_product(g, last, next_var))) {
        g->matrices = true;
        return;
    }
    if (!nest->steps && nest->n_axes > 2 && reads_list(g, nest) && (nest->value = value_of_rows(g, last, next_var)))
        return;
    nest->value = nest->steps ? nest->element : known_term(g->ctx, g->entry, nest, next_var);
    g->matrices |= nest->value && !nest->steps;
    bool each = !nest->value && nest->n_axes > 0 && term_is_elementwise(nest->element);
    bool *before = NEWN(g->ctx, bool, g->n + 1);
    for (int i = 0; i < g->n; i++)
        before[i] = g->at[i].taken;
    if (!nest->value)
        nest->value = mapped_folds(g, last, true, next_var);
    for (int rows = nest->n_axes > 1 ? nest->n_axes - 1 : nest->n_axes; !nest->value && rows <= nest->n_axes; rows++)
        nest->value = program_of(g, last, rows, next_var);
    if (!nest->value)
        nest->value = mapped_folds(g, last, false, next_var);
    if (!nest->value)
        nest->value = stage_term(g->ctx, g->entry, nest, next_var);
    g->at[last].each = each && !took_long_fold(g, before, next_var);
}

void nests_valued(Ctx *ctx, const CoreEntry *entry, Nests *nests, bool of_two, RowSizes *rows, int *next_var)
{
    Groups g = {.ctx = ctx, .entry = entry, .rows = rows, .n = nests->list.n};
    g.at = NEWN(ctx, Group, g.n + 1);
    for (int i = 0; i < g.n; i++) {
        g.at[i] = (Group){.nest = nests->list.at[i], .elsewhere = !nests->result, .given = nests->list.at[i]->of_rows};
        table_put(ctx, &g.of_var, g.at[i].nest->var, &g.at[i]);
    }
    note_all(&g);
    if (nests->result) {
        results_noted(&g, nests->result);
        nests->result = results_joined(&g, nests->result, next_var);
    }
    for (int i = g.n - 1; i >= 0; i--)
        if (!g.at[i].taken && !g.at[i].joined)
            give_value(&g, i, next_var);
    if (nests->result)
        nests->result = results_in_place(&g, nests->result, of_two);
    if (g.matrices) /* their many kernels are not worth a second form of the list */
        *rows = (RowSizes){0};
    int n = 0;
    for (int i = 0; i < g.n; i++)
        if (!g.at[i].taken)
            nests->list.at[n++] = g.at[i].nest;
    nests->list.n = n;
}
