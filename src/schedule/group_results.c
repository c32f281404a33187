/* The results: which arrays they are, which of them one kernel computes, and where their values
 * stand. */
#include "ir/result_place.h"
#include "schedule/groups.h"

/* A result that is read on counts as read elsewhere. */
void results_noted(Groups *g, const Core *result)
{
    Group *group = result->kind == CORE_VAR ? table_get(&g->of_var, result->var) : NULL;
    Core **items;
    int n = result_parts(result, &items);
    for (int i = 0; i < n; i++)
        results_noted(g, items[i]);
    if (group)
        group->elsewhere |= group->results++ > 0 || group->readers.n > 0;
    else if (n == 0)
        note_reads(g, NULL, result);
}

/* ---- results of the same rows ---- */

typedef struct Joined {
    Groups *g;
    int rows;  /* axes that say which row */
    int last;  /* number of the last result */
    bool *in;  /* numbers of arrays that may be computed with it */
    bool *used;
} Joined;

/* Arrays that are results as they are, and once. */
static void note_results(const Groups *g, const Core *result)
{
    Group *group = result->kind == CORE_VAR ? table_get(&g->of_var, result->var) : NULL;
    Core **items;
    for (int i = 0, n = result_items(result, &items); i < n; i++)
        note_results(g, items[i]);
    if (group)
        group->given = group->results == 1 && !group->in_result;
}

static int index_of(const Groups *g, const Nest *nest) { return (int)((Group *)table_get(&g->of_var, nest->var) - g->at); }

/* Does the term read rows of the array, or all of it? */
static bool reads_rows(const Core *term, const Nest *of, int rows)
{
    int indices;
    const Core *first, *base = term_base(term, &indices, &first);
    bool good = base->kind != CORE_VAR || base->var != of->var || indices >= rows || indices == 0;
    for (int i = 0; i < term_children(term) && good && base->kind != CORE_VAR; i++)
        good = reads_rows(term_child(term, i), of, rows);
    return good;
}

/* Is an array before the last one read by none of these, so that it may be computed behind it? */
static bool may_wait(const Joined *j, const Group *group)
{
    for (int i = 0; i < group->readers.n; i++)
        if (index_of(j->g, group->readers.at[i].nest) <= j->last)
            return false;
    return true;
}

/* May the array read a component of tuples, as well as an array? Folds do, but programs of rows,
 * products and transpositions do not. */
static bool may_read_component(const Joined *j, const Reader *reader, const Nest *of)
{
    const int at = index_of(j->g, reader->nest);
    const Group *group = &j->g->at[at];
    bool fold = term_is(reader->nest->element, P_reduce) && (reader->nest->n_axes == 0 || group->readers.n == 0);
    bool open = !group->taken && !group->joined; /* its program is not made yet */
    return fold && open && (at > j->last || may_wait(j, group)) && reads_rows(reader->nest->element, of, j->rows);
}

/* Is all that reads the array in the set, each for its own row? Later folds may read what is a
 * result, too. */
static bool all_readers_in(const Joined *j, const Group *group)
{
    for (int i = 0; i < group->readers.n; i++) {
        const Reader *reader = &group->readers.at[i];
        const bool inside = j->in[index_of(j->g, reader->nest)] && reader->own >= j->rows;
        if (!inside && !(group->given && may_read_component(j, reader, group->nest)))
            return false;
    }
    return group->given || (group->readers.n > 0 && !group->elsewhere);
}

/* Is it values of rows, one for each? */
static bool is_value_of(const Nest *nest, int rows) { return nest->of_rows && nest->n_axes == rows; }

/* Which arrays may be computed by the rows of the last one. */
static void find_members(Joined *j, int next_var)
{
    const Groups *g = j->g;
    const Nest *last = g->at[j->last].nest;
    for (int i = j->last; i >= 0; i--) {
        const Group *group = &g->at[i];
        const Nest *nest = group->nest;
        j->in[i] = !group->taken && !group->joined && (!nest->kept || is_value_of(nest, j->rows)) && nest->n_axes <= j->rows + 1 &&
                   nest->element->type->kind != TY_ARRAY && has_rows(nest, j->rows, last) &&
                   all_readers_in(j, group) && !is_weighted(j->g, i, next_var);
    }
}

static int depth_of(Type type)
{
    int depth = 0;
    for (; type->kind == TY_ARRAY; type = type->elem)
        depth++;
    return depth;
}

typedef struct Shared {
    const Joined *joined;
    const Nest *nest;
    Table *rows; /* the arrays of whose rows the used ones are made */
    bool adds, found;
} Shared;

/* Arrays of rows that the term reads, at its own row. */
static void look_at_reads(Shared *s, Core *term)
{
    int indices;
    const Core *first, *base = term_base(term, &indices, &first);
    const Joined *j = s->joined;
    if (base->kind == CORE_VAR && indices > 0 && depth_of(base->var->type) > j->rows && own_indices(term, s->nest) >= j->rows) {
        s->found |= table_get(s->rows, base->var) != NULL;
        if (s->adds)
            table_put(j->g->ctx, s->rows, base->var, (void *)(uintptr_t)base);
    }
    for (int i = 0; i < term_children(term); i++)
        look_at_reads(s, term_child(term, i));
}

static bool reads(const Groups *g, const Nest *nest, int read)
{
    for (int i = 0; i < g->at[read].readers.n; i++)
        if (g->at[read].readers.at[i].nest == nest)
            return true;
    return false;
}

/* What the array is made of, of those in the set, is used, too. */
static void use(Joined *j, int at, Table *rows)
{
    if (j->used[at])
        return;
    j->used[at] = true;
    Shared s = {j, j->g->at[at].nest, rows, true, false};
    look_at_reads(&s, s.nest->element);
    for (int i = 0; i < at; i++)
        if (j->in[i] && reads(j->g, s.nest, i))
            use(j, i, rows);
}

/* Is the array, or what it is made of, made of the same rows as what is used? `seen`: what has been
 * looked at. */
static bool is_linked(const Joined *j, int at, Table *rows, bool *seen)
{
    Shared s = {j, j->g->at[at].nest, rows, false, j->used[at]};
    if (seen[at])
        return false;
    seen[at] = true;
    look_at_reads(&s, s.nest->element);
    for (int i = 0; i < at && !s.found; i++)
        s.found = j->in[i] && reads(j->g, s.nest, i) && is_linked(j, i, rows, seen);
    return s.found;
}

/* Uses all results of the same rows. How many there are. */
static int find_results(Joined *j)
{
    Table rows = {0};
    use(j, j->last, &rows);
    int n = 1;
    for (int before = 0; before < n;) {
        before = n;
        n = 0;
        for (int i = 0; i <= j->last; i++) {
            if (j->in[i] && !j->used[i] && j->g->at[i].given &&
                is_linked(j, i, &rows, NEWN(j->g->ctx, bool, j->g->n + 1)))
                use(j, i, &rows);
            n += j->used[i] && j->g->at[i].given;
        }
    }
    return n;
}

/* The array of which the nest is a component of all elements; else NULL. */
static Group *whole_of(const Groups *g, const Nest *nest)
{
    const Core *read = nest->element->kind == CORE_PROJ ? nest->element->proj.value : NULL;
    int indices;
    const Core *first, *base = read ? term_base(read, &indices, &first) : NULL;
    Group *whole = base && base->kind == CORE_VAR ? table_get(&g->of_var, base->var) : NULL;
    return whole && own_indices(read, nest) == indices && same_axes(whole->nest, nest) ? whole : NULL;
}

/* Are the results components of one array, whose kernel writes them in their places? */
static bool are_components(const Joined *j)
{
    const Group *whole = NULL;
    for (int i = 0; i <= j->last; i++) {
        if (!j->used[i] || !j->g->at[i].given)
            continue;
        const Group *of = whole_of(j->g, j->g->at[i].nest);
        if (!of || (whole && of != whole))
            return false;
        whole = of;
    }
    return true;
}

/* The term of a component of all elements of an array of tuples. */
static Core *component_of(Ctx *ctx, const Nest *all, int k, int *next_var)
{
    CoreVar **axes = NEWN(ctx, CoreVar *, all->n_axes + 1);
    Core *element = make_ref(ctx, all->var, all->var->span);
    for (int i = 0; i < all->n_axes; i++) {
        axes[i] = make_var(ctx, next_var, all->axes[i]->name, all->axes[i]->type, all->var->span);
        element = make_index(ctx, element, axes[i]->nat, all->var->span);
    }
    element = make_proj(ctx, element, k, all->var->span);
    for (int i = all->n_axes - 1; i >= 0; i--)
        element = make_generate(ctx, axes[i], element, all->var->span);
    return element;
}

/* A read of a component: of so many first indices, and then of the others. */
static Core *component_read(Ctx *ctx, const Core *read, const Nest *all, int k, int indices)
{
    Core *of = read->kind == CORE_VAR ? make_ref(ctx, all->var, read->span)
        : make_index(ctx, component_read(ctx, read->prim.args[0], all, k, indices - 1), read->prim.nats[1], read->span);
    return indices == all->n_axes ? make_proj(ctx, of, k, read->span) : of;
}

/* The term with components for reads of arrays that are computed together. */
static Core *reading_components(const Groups *g, Core *term, const Nest *all, const int *component, int *next_var)
{
    int indices;
    const Core *first, *base = term_base(term, &indices, &first);
    const Group *group = base->kind == CORE_VAR ? table_get(&g->of_var, base->var) : NULL;
    const bool read = group && group->nest->with == all;
    if (read && indices == 0)
        return component_of(g->ctx, all, component[group - g->at], next_var);
    if (read)
        return component_read(g->ctx, term, all, component[group - g->at], indices);
    if (term_children(term) == 0 || base->kind == CORE_VAR)
        return term;
    Core *new = term_copy(g->ctx, term);
    for (int i = 0; i < term_children(term); i++)
        term_set_child(new, i, reading_components(g, term_child(term, i), all, component, next_var));
    return new;
}

/* The result with components for arrays that are computed together. */
static Core *with_components(const Groups *g, Core *result, const Nest *all, const int *component, int *next_var)
{
    Group *group = result->kind == CORE_VAR ? table_get(&g->of_var, result->var) : NULL;
    if (group && group->nest->with == all)
        return component_of(g->ctx, all, component[group - g->at], next_var);
    Core **items;
    int n = result_items(result, &items);
    if (n == 0)
        return result;
    Core *new = term_copy(g->ctx, result);
    for (int i = 0; i < n; i++)
        term_set_child(new, i, with_components(g, items[i], all, component, next_var));
    return new;
}

/* The program of the rows of the used arrays up to this one: of the tuples of all results among
 * them, or of this array alone. NULL: there is none. */
static Core *program_of_used(Joined *j, int last, bool tuples, Nat *length, int *next_var)
{
    Groups *g = j->g;
    Nest **members = NEWN(g->ctx, Nest *, last + 1);
    bool *given = NEWN(g->ctx, bool, last + 1), folds = false;
    int n = 0;
    for (int i = 0; i <= last; i++) {
        if (!j->used[i])
            continue;
        folds |= term_is(g->at[i].nest->element, P_reduce);
        given[n] = g->at[i].given;
        members[n++] = g->at[i].nest;
    }
    return folds ? rows_program(g->ctx, g->entry, j->rows, n, members, tuples ? given : NULL, length, next_var) : NULL;
}

/* Do the threads of a block share the loads and stores of such tuples, of a row and one or two numbers? The strategy
 * `rowTuples` of lib/strategies/rows.rise has a rule for each of them. */
static bool are_staged(Type tuple)
{
    int rows = 0, numbers = 0;
    for (int i = 0; i < tuple->n_items; i++) {
        rows += is_vector(tuple->items[i]);
        numbers += tuple->items[i]->kind == TY_SCALAR;
    }
    return rows == 1 && numbers == tuple->n_items - 1 && numbers <= 2;
}

/* Would threads of a block share the loads of short rows if each result had kernels of its own? Only if no second row stands beside
 * each, and if the joined kernel would not share the loads anyway. */
static bool are_apart_if_short(const Core *program)
{
    while (!term_is(program, P_map))
        program = program->kind == CORE_IF ? program->cond.then : program->prim.args[program->prim.n_args - 1];
    const Type element = program->prim.args[1]->type->elem;
    return (element->kind != TY_TUPLE || !type_gives_arrays(element->items[1])) && !are_staged(program->type->elem);
}

/* Each result has a program of its own, which computes again what others compute, too, if all of
 * them have one. */
static void give_apart(const Joined *j, int *next_var)
{
    Groups *g = j->g;
    Core **values = NEWN(g->ctx, Core *, j->last + 1);
    Nat length;
    for (int i = 0; i <= j->last; i++) {
        Joined one = *j;
        Table rows = {0};
        if (!j->used[i] || !g->at[i].given)
            continue;
        one.used = NEWN(g->ctx, bool, g->n + 1);
        use(&one, i, &rows);
        if (!(values[i] = program_of_used(&one, i, false, &length, next_var)))
            return;
    }
    for (int i = 0; i <= j->last; i++) {
        if (j->used[i] && !g->at[i].given)
            group_take(&g->at[i], g->at[j->last].nest);
        g->at[i].joined |= values[i] != NULL;
        g->at[i].nest->value = values[i] ? values[i] : g->at[i].nest->value;
    }
}

static bool waits(const Joined *j, int at)
{
    for (int i = 0; i < at && !j->used[at]; i++)
        if (j->used[i] && reads(j->g, j->g->at[at].nest, i))
            return true;
    return false;
}

/* What reads arrays of the set, and is not in it, comes behind the last one. */
static void let_wait(Joined *j)
{
    Groups *g = j->g;
    Group *order = NEWN(g->ctx, Group, g->n + 1);
    bool *used = NEWN(g->ctx, bool, g->n + 1);
    int n = 0, waiting = 0;
    for (int i = 0; i <= j->last; i++)
        waiting += waits(j, i);
    for (int i = 0, at; i < g->n; i++) {
        at = i > j->last ? i : waits(j, i) ? j->last + 1 - waiting + (i - n) : n++;
        order[at] = g->at[i];
        used[at] = j->used[i];
    }
    for (int i = 0; i < g->n; i++) {
        g->at[i] = order[i];
        j->used[i] = used[i];
        table_put(g->ctx, &g->of_var, g->at[i].nest->var, &g->at[i]);
    }
    j->last -= waiting;
}

Core *results_of_tuples(Groups *g, int last, Nest *all, const int *component, Core *result,
                        int *next_var)
{
    for (int i = 0; i <= last; i++)
        g->at[i].nest->given |= component[i] >= 0;
    result = with_components(g, result, all, component, next_var);
    for (int i = last + 1; i < g->n; i++)
        if (!g->at[i].joined)
            g->at[i].nest->element = reading_components(g, g->at[i].nest->element, all, component,
                                                        next_var);
    g->at[last] = (Group){.nest = all, .joined = true, .elsewhere = true};
    table_put(g->ctx, &g->of_var, all->var, &g->at[last]);
    return result;
}

/* Results that are made of the same rows as this one; the result with their components. */
static Core *join_results(Groups *g, int last, int rows, Core *result, int *next_var)
{
    Ctx *ctx = g->ctx;
    Joined j = {g, rows, last, NEWN(ctx, bool, g->n + 1), NEWN(ctx, bool, g->n + 1)};
    int *component = NEWN(ctx, int, g->n + 1);
    find_members(&j, *next_var);
    if (!j.in[last] || find_results(&j) < 2 || are_components(&j))
        return result;
    Nat length = NULL;
    Core *program = program_of_used(&j, last, true, &length, next_var);
    if (!program || !length)
        return result;
    const bool short_apart = are_apart_if_short(program);
    const RowSizes all_rows = {axes_count(ctx, rows, g->at[last].nest->axes), length, short_apart};
    if (rows_are_short(ctx, g->entry->known, &all_rows))
        give_apart(&j, next_var);
    if (are_apart(g, g->at[last].nest, rows, length, short_apart))
        return result;
    let_wait(&j);
    last = j.last;
    for (int i = 0, k = 0; i <= last; i++)
        component[i] = j.used[i] && g->at[i].given ? k++ : -1;
    const Nest *nest = g->at[last].nest;
    Nest *all = NEW(ctx, Nest);
    *all = *nest;
    all->var = make_var(ctx, next_var, "rows", program->type, nest->var->span);
    all->n_axes = rows;
    all->kept = all->of_rows = false;
    all->value = all->element = program;
    for (int i = 0; i <= last; i++)
        if (j.used[i])
            group_take(&g->at[i], all);
    return results_of_tuples(g, last, all, component, result, next_var);
}

Core *results_joined(Groups *g, Core *result, int *next_var)
{
    note_results(g, result);
    for (int i = g->n - 1; i >= 0; i--)
        result = weights_joined(g, i, result, next_var);
    for (int i = g->n - 1; i >= 0; i--) {
        const Core *before = result;
        const int axes = g->at[i].nest->n_axes;
        for (int rows = axes - !g->at[i].nest->of_rows; g->at[i].given && rows <= axes; rows++)
            if (rows > 0 && !g->at[i].taken && !g->at[i].joined)
                result = join_results(g, i, rows, result, next_var);
        if (result != before) /* others may have another number now */
            i = g->n;
    }
    note_all(g);
    return result;
}

/* ---- in their places ---- */

/* The array that is this result, and that nothing reads; else NULL. */
static Group *own_result(const Groups *g, const Core *result)
{
    Group *group = result->kind == CORE_VAR ? table_get(&g->of_var, result->var) : NULL;
    return group && group->readers.n == 0 && !group->elsewhere ? group : NULL;
}

/* Counts components that are results: where all of an array are, its kernel writes them in their
 * places. */
static void note_components(const Groups *g, const Core *result)
{
    const Group *group = own_result(g, result);
    Group *whole = group ? whole_of(g, group->nest) : NULL;
    if (whole)
        whole->components++;
    for (int i = 0; result->kind == CORE_TUPLE && i < term_children(result); i++)
        note_components(g, term_child(result, i));
}

static bool is_in_place(const Groups *g, const Group *group)
{
    const Group *whole = whole_of(g, group->nest);
    return whole && whole->components == whole->nest->element->type->n_items;
}

typedef VEC(Group *) GroupList;

static void add_each(const Groups *g, const Core *result, GroupList *each)
{
    Group *group = own_result(g, result);
    if (group && group->each)
        vec_push(g->ctx, each, group);
    Core **items;
    for (int i = 0, n = result_parts(result, &items); i < n; i++)
        add_each(g, items[i], each);
}

/* Of several results, one of those that one kernel computes, as their elements are over the same
 * axes; NULL: each has kernels of its own. */
static const Nest *shared_result(const Groups *g, const Core *result)
{
    GroupList each = {0};
    add_each(g, result, &each);
    for (int i = 0; i < each.n; i++)
        for (int k = 0; k < i; k++)
            if (same_axes(each.at[i]->nest, each.at[k]->nest))
                return each.at[i]->nest;
    return NULL;
}

/* The value of a result stands in its place where the last kernel computes it: where it is the only
 * one, or is computed with `shared`. What turns leave in one of two places is copied. */
static Core *results_valued(Groups *g, Core *result, bool several, const Nest *shared)
{
    Group *group = own_result(g, result);
    bool last = group && !group->nest->steps &&
                (!several || is_in_place(g, group) || (shared && group->each && same_axes(group->nest, shared)));
    if (last) {
        group->taken = true;
        return group->nest->value;
    }
    Core **items;
    several |= result_items(result, &items) > 0;
    int n = result_parts(result, &items);
    if (n == 0)
        return result;
    Core *new = term_copy(g->ctx, result);
    for (int i = 0; i < n; i++)
        result_set_part(new, i, results_valued(g, items[i], several, shared));
    return new;
}

Core *results_in_place(Groups *g, Core *result, bool of_two)
{
    note_components(g, result);
    bool several = of_two && !result_is_joined(result);
    return results_valued(g, result, several, shared_result(g, result));
}
