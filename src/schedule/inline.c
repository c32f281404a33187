/* Which arrays of a list are stored, and which are computed where they are read.
 *
 * An array whose element costs C, and is read R times, costs C + w + R * r stored (computed once,
 * written, read), and its part of a launch; R * C where it is read: it is stored where that is less.
 * A result is written anyway: R * r stored, unless its readers are of the same axes and can be one
 * kernel with it. All costs are in reads of an element from memory, by the table of the device
 * (ir/costs.h). Folds, and all that is one primitive, are stored: others can compute them together. */
#include "frontend/costs.h"
#include "ir/key.h"
#include "ir/result_place.h"
#include "schedule/inline.h"
#include "schedule/shape.h"

Bind *inline_bind_of(const Inline *in, const Core *read)
{
    for (int i = in->binds.n - 1; i >= 0; i--)
        if (core_same(in->ctx, in->binds.at[i].read, read))
            return &in->binds.at[i];
    return NULL;
}

bool inline_opens_scope(const Core *term, int child)
{
    bool lazy = term->kind == CORE_PRIM && (term->prim.id == P_and || term->prim.id == P_or);
    return term->kind == CORE_LAMBDA ||
           ((term->kind == CORE_IF || term->kind == CORE_LET || lazy) && child > 0);
}

bool inline_stays(PrimId id)
{
    PrimLevel level = prim_rows[id].level;
    return (level != LEVEL_VIEW && level != LEVEL_SCALAR) || prim_is_scatter(id);
}

static Info *info_of(const Inline *in, const Core *term, int *indices)
{
    const Core *first, *base = term_base(term, indices, &first);
    return base->kind == CORE_VAR ? table_get(&in->of_var, base->var) : NULL;
}

/* Is it of that row of this array, of which row the reader is computed? */
static bool is_own_row(const Inline *in, const Core *read, const Nest *of)
{
    return in->reader && own_indices(read, in->reader) >= of->n_axes - 1;
}

/* ---- how often elements are read ---- */

Nat inline_cells(Ctx *ctx, Type type)
{
    Nat n = nat_const(ctx, 1);
    for (; type->kind == TY_ARRAY; type = type->elem)
        n = nat_mul(ctx, n, type->size);
    return n;
}

/* So many reads of an array of so many cells. */
static double times(const Inline *in, Nat reads, Nat cells)
{
    enum { MOST = 8 };
    const NatFacts *known = in->entry->known;
    if (reads == cells)
        return 1;
    for (int k = 1; k <= MOST; k++)
        if (nat_le(in->ctx, known, reads, nat_mul_k(in->ctx, cells, k)))
            return k;
    return NEST_MANY;
}

/* How often the pattern calls its function; NULL: nobody knows. */
static Nat trips(const Core *term)
{
    if (term->kind != CORE_PRIM)
        return NULL;
    if (term->prim.id == P_reduceSeq || term->prim.id == P_scanSeq || term->prim.id == P_scanSeqExcl)
        return term->prim.args[2]->type->size;
    bool says = term->prim.id == P_generate || term->prim.id == P_repeatKernels;
    return says ? term->prim.nats[0] : NULL;
}

/* Is it the element of the same axes as the reader's? */
static bool is_own_element(const Inline *in, const Core *read, const Nest *of)
{
    return in->reader && in->reader->n_axes == of->n_axes && own_indices(read, in->reader) == of->n_axes &&
           read->type->kind != TY_ARRAY;
}

/* Notes what a term reads, which is evaluated so many times; NULL: nobody knows how many. */
static void count_reads(Inline *in, const Core *term, Nat evaluated)
{
    int indices;
    Info *info = info_of(in, term, &indices);
    if (info && inline_bind_of(in, term))
        return;
    if (info) {
        Nat reads = evaluated ? nat_mul(in->ctx, evaluated, inline_cells(in->ctx, term->type)) : NULL;
        info->places++;
        info->elsewhere |= !is_own_row(in, term, info->nest);
        info->by_one |= in->in_order && (!in->reader || in->reader->n_axes == 0);
        double n = reads ? times(in, reads, inline_cells(in->ctx, info->nest->var->type)) : NEST_MANY;
        info->reads += n;
        if (n <= 1 && is_own_element(in, term, info->nest))
            vec_push(in->ctx, &info->readers, table_get(&in->of_var, in->reader->var));
        else
            info->spread = true;
        vec_push(in->ctx, &in->binds, ((Bind){.read = term}));
        return;
    }
    const bool in_order = in->in_order;
    in->in_order |= term->kind == CORE_PRIM && prim_rows[term->prim.id].level == LEVEL_SEQ;
    for (int i = 0; i < term_children(term); i++) {
        const Core *part = term_child(term, i);
        int mark = in->binds.n;
        Nat inside = evaluated;
        if (part->kind == CORE_LAMBDA) {
            Nat n = trips(term);
            inside = n && evaluated ? nat_mul(in->ctx, evaluated, n) : NULL;
        }
        count_reads(in, part, inside);
        if (inline_opens_scope(term, i))
            in->binds.n = mark;
    }
    in->in_order = in_order;
}

/* Notes what the result reads: an array that is all of a result is no read. */
static void count_results(Inline *in, const Core *term)
{
    Info *info = term->kind == CORE_VAR ? table_get(&in->of_var, term->var) : NULL;
    Core **items;
    int n = result_parts(term, &items);
    for (int i = 0; i < n; i++)
        count_results(in, items[i]);
    if (info)
        info->whole++;
    else if (n == 0)
        count_reads(in, term, nat_const(in->ctx, 1));
}

/* ---- computing it there ---- */

static Core *with_inlined(Inline *in, Core *term);

/* The element at these indices; rows of it where some are left. */
static Core *element_at(Inline *in, const Info *info, const Core *read, int indices)
{
    const Nest *nest = info->nest;
    Nat *at = NEWN(in->ctx, Nat, nest->n_axes + 1);
    int next = indices;
    for (const Core *t = read; next > 0; t = t->prim.args[0])
        at[--next] = t->prim.nats[1];
    CoreVar **axes = NEWN(in->ctx, CoreVar *, nest->n_axes + 1);
    for (int i = indices; i < nest->n_axes; i++) {
        axes[i] = make_var(in->ctx, in->next_var, nest->axes[i]->name, nest->axes[i]->type, read->span);
        at[i] = axes[i]->nat;
    }
    Core *element = info->closed;
    for (int i = 0; i < nest->n_axes; i++)
        element = term_with_nat(in->ctx, in->next_var, element, nest->axes[i]->nat, at[i]);
    for (int i = nest->n_axes - 1; i >= indices; i--)
        element = make_generate(in->ctx, axes[i], element, read->span);
    return element;
}

typedef struct Scope { /* what is bound in it, as far as that is put together */
    const Bind *binds;
    int n;
} Scope;

static Core *value_once(void *user, const CoreVar *var)
{
    const Scope *scope = user;
    for (int i = scope->n - 1; i >= 0; i--)
        if (scope->binds[i].var == var && scope->binds[i].uses == 1)
            return scope->binds[i].value;
    return NULL;
}

/* Ends a scope: what was bound in it gets its names around the term, or stands where it is used once. Each
 * term is copied once, however many there are. */
static Core *end_scope(Inline *in, int mark, Core *term)
{
    Scope scope = {in->binds.at + mark, 0};
    TermCopy copy = {.ctx = in->ctx, .next_var = in->next_var, .by = value_once, .user = &scope};
    bool once = false;
    for (int n = in->binds.n - mark; scope.n < n; scope.n++) {
        Bind *bind = &in->binds.at[mark + scope.n];
        if (once)
            bind->value = copy_term(&copy, bind->value);
        once |= bind->uses == 1;
    }
    if (once)
        term = copy_term(&copy, term);
    while (in->binds.n > mark) {
        const Bind *bind = &in->binds.at[--in->binds.n];
        if (bind->uses != 1)
            term = make_let(in->ctx, bind->var, bind->value, term);
    }
    return term;
}

static Core *parts_inlined(Inline *in, const Core *term)
{
    Core *new = term_copy(in->ctx, term);
    for (int i = 0; i < term_children(term); i++) {
        int mark = in->binds.n;
        Core *part = with_inlined(in, term_child(term, i));
        term_set_child(new, i, inline_opens_scope(term, i) ? end_scope(in, mark, part) : part);
    }
    return new;
}

static Core *with_inlined(Inline *in, Core *term)
{
    int indices;
    const Info *info = info_of(in, term, &indices);
    if (!info || !info->inlined)
        return info ? term : parts_inlined(in, term);
    Bind *bound = inline_bind_of(in, term);
    if (!bound) {
        Core *value = element_at(in, info, term, indices);
        if (in->deep || info->local)
            value = with_inlined(in, value);
        if (value->type->kind == TY_ARRAY || value->kind == CORE_LIT || value->kind == CORE_VAR)
            return value;
        CoreVar *var = make_var(in->ctx, in->next_var, info->nest->var->name, value->type, term->span);
        vec_push(in->ctx, &in->binds, ((Bind){.read = term, .var = var, .value = value}));
        bound = &in->binds.at[in->binds.n - 1];
    }
    bound->uses++;
    return make_ref(in->ctx, bound->var, term->span);
}

/* ---- the list ---- */

static void add_list(Inline *in, const Nests *nests, const Core *cond, bool holds)
{
    for (int i = 0; i < nests->list.n; i++) {
        Info *info = NEW(in->ctx, Info);
        *info = (Info){.nest = nests->list.at[i], .cond = cond, .holds = holds};
        table_put(in->ctx, &in->of_var, info->nest->var, info);
        vec_push(in->ctx, &in->infos, info);
    }
}

static void add_infos(Inline *in, const Nests *nests, const Core *cond, bool holds)
{
    add_list(in, nests, cond, holds);
    if (!nests->result) {
        add_infos(in, nests->then, nests->cond, true);
        add_infos(in, nests->otherwise, nests->cond, false);
    }
}

/* What the elements of a list read. */
static void count_list(Inline *in, const Nests *nests)
{
    for (int i = 0; i < nests->list.n; i++) {
        const Nest *nest = nests->list.at[i];
        Nat evaluated = nat_const(in->ctx, 1);
        for (int k = 0; k < nest->n_axes; k++)
            evaluated = nat_mul(in->ctx, evaluated, nest->axes[k]->type->size);
        in->reader = nest;
        count_reads(in, nest->element, evaluated);
        in->reader = NULL;
        in->binds.n = 0;
    }
}

/* How often, and in how many places, each array is read. */
typedef struct Counts {
    double reads;
    int places;
} Counts;

static void count_all(Inline *in, const Nests *nests);

/* Of two lists one is computed: what is read counts as in the one that reads it oftener. */
static void count_sides(Inline *in, const Nests *nests)
{
    Counts *before = NEWN(in->ctx, Counts, in->infos.n + 1), *then = NEWN(in->ctx, Counts, in->infos.n + 1);
    for (int i = 0; i < in->infos.n; i++)
        before[i] = (Counts){in->infos.at[i]->reads, in->infos.at[i]->places};
    count_all(in, nests->then);
    for (int i = 0; i < in->infos.n; i++) {
        Info *info = in->infos.at[i];
        then[i] = (Counts){info->reads, info->places};
        info->reads = before[i].reads;
        info->places = before[i].places;
    }
    count_all(in, nests->otherwise);
    for (int i = 0; i < in->infos.n; i++) {
        Info *info = in->infos.at[i];
        info->reads = info->reads > then[i].reads ? info->reads : then[i].reads;
        info->places = info->places > then[i].places ? info->places : then[i].places;
    }
}

static void count_all(Inline *in, const Nests *nests)
{
    count_list(in, nests);
    if (nests->result) {
        count_results(in, nests->result);
        in->binds.n = 0;
        return;
    }
    count_sides(in, nests);
}

static Core *whole_inlined(Inline *in, Core *term)
{
    return conditions_decided(in->ctx, end_scope(in, 0, with_inlined(in, term)));
}

/* What is computed in several places has the same bits in all of them: no part of it is joined with
 * what is made of it. */
static Core *rounded(Inline *in, Core *term)
{
    if (term_children(term) == 0)
        return term;
    Core *new = term_copy(in->ctx, term);
    for (int i = 0; i < term_children(term); i++)
        term_set_child(new, i, rounded(in, term_child(term, i)));
    if (in->ends_open(term))
        new->prim.options.rounded = true;
    return new;
}

/* Arrays that are results stay what they are. */
static Core *results_inlined(Inline *in, Core *result)
{
    if (result->kind == CORE_VAR)
        return result;
    Core **items;
    int n = result_parts(result, &items);
    if (n == 0)
        return whole_inlined(in, result);
    Core *new = term_copy(in->ctx, result);
    for (int i = 0; i < n; i++)
        result_set_part(new, i, results_inlined(in, items[i]));
    return new;
}

/* Gives values to the arrays of a list; those that were to stay on chip and do not are refuted. */
static void give_values(Inline *in, Nests *stored, bool of_two)
{
    if (in->elements)
        return;
    nests_valued(in->ctx, in->entry, stored, of_two, &in->rows, in->next_var);
    for (int i = 0; i < stored->list.n; i++) {
        Info *info = table_get(&in->of_var, stored->list.at[i]->var); /* NULL: the rows of several results */
        if (!info || !info->on_chip)
            continue;
        info->refuted = true;
        in->again = true;
    }
}

static Nests *stored_list(Ctx *ctx, const CoreEntry *entry, const Nests *nests, EndsOpen ends_open, int *next_var,
                          NestChoices *said, bool elements);

/* A sequence whose steps store what they need to. */
static Core *stored_steps(Inline *in, const NestSteps *steps)
{
    Ctx *ctx = in->ctx;
    NestChoices unsaid = {0};
    const Nests *step = stored_list(ctx, in->entry, steps->nests, in->ends_open, in->next_var, in->said, false);
    const Nests *elements = stored_list(ctx, in->entry, steps->nests, in->ends_open, in->next_var, &unsaid, true);
    Core *repeated = nests_repeated(ctx, steps, step, in->next_var);
    return steps_in_block(ctx, in->entry, steps, elements, repeated, in->next_var);
}

static Nests *inlined(Inline *in, const Nests *nests, bool of_two);

/* One of two lists, of which a condition over sizes is known. */
static Nests *side_inlined(Inline *in, const Nests *nests, bool holds)
{
    const CoreEntry *entry = in->entry;
    NatFacts *known = nat_facts_new(in->ctx, (NatFacts *)(uintptr_t)entry->known);
    core_cond_facts(in->ctx, known, nests->cond, holds);
    CoreEntry here = *entry;
    here.known = known;
    in->entry = &here;
    Nests *side = inlined(in, holds ? nests->then : nests->otherwise, true);
    in->entry = entry;
    return side;
}

static Nests *inlined(Inline *in, const Nests *nests, bool of_two)
{
    Nests *stored = NEW(in->ctx, Nests);
    for (int i = 0; i < nests->list.n; i++) {
        Info *info = table_get(&in->of_var, nests->list.at[i]->var);
        Nest *nest = NEW(in->ctx, Nest);
        *nest = *info->nest;
        info->made = nest;
        if (nest->steps)
            nest->element = stored_steps(in, nest->steps);
        if (!info->inlined || !info->local) /* else it is, once, where all that reads it is */
            nest->element = whole_inlined(in, nest->element);
        info->closed = info->inlined && info->places + info->whole > 1 ? rounded(in, nest->element) : nest->element;
        if (info->whole)
            nest->element = info->closed;
        if (!info->inlined || info->whole) /* a result is an array, too, where others compute it again */
            vec_push(in->ctx, &stored->list, nest);
    }
    if (nests->result) {
        stored->result = results_inlined(in, nests->result);
        give_values(in, stored, of_two);
        return stored;
    }
    give_values(in, stored, of_two);
    stored->cond = nests->cond;
    stored->then = side_inlined(in, nests, true);
    stored->otherwise = side_inlined(in, nests, false);
    return stored;
}

static void say(const Inline *in)
{
    for (int i = 0; i < in->infos.n; i++) {
        const Info *info = in->infos.at[i];
        if (info->made->given)
            continue;
        vec_push(in->ctx, in->said, ((NestChoice){.nest = info->nest, .with = info->made->with, .inlined = info->inlined,
                                                  .whole = info->heavy, .too_long = info->too_long, .size = info->size,
                                                  .reads = info->local ? 1 : info->reads, .cost = info->cost,
                                                  .stored = info->stored, .by_one = info->by_one, .cond = info->cond, .holds = info->holds}));
    }
}

Nests *nests_stored(Ctx *ctx, const CoreEntry *entry, const Nests *nests, EndsOpen ends_open,
                    int *next_var, NestChoices *said)
{
    return stored_list(ctx, entry, nests, ends_open, next_var, said, false);
}

/* Those that were thought to stay on chip and do not are thought of again. */
static Nests *decided(Inline *in, const Nests *nests)
{
    enum { TRIES = 3 };
    const int first = in->said->n;
    add_infos(in, nests, NULL, false);
    count_all(in, nests);
    inline_find_local(in);
    for (int tries = 1;; tries++) {
        in->again = false;
        in->said->n = first;
        in->rows = (RowSizes){0};
        for (int i = 0; i < in->infos.n; i++) {
            in->infos.at[i]->refuted |= tries == TRIES;
            inline_choose(in, in->infos.at[i]);
        }
        Nests *stored = inlined(in, nests, false);
        if (!in->again)
            return stored;
    }
}

static Nests *stored_list(Ctx *ctx, const CoreEntry *entry, const Nests *nests, EndsOpen ends_open, int *next_var,
                          NestChoices *said, bool elements)
{
    const Inline start = {.ctx = ctx, .ends_open = ends_open, .entry = entry, .costs = costs_of(ctx), .next_var = next_var, .said = said, .elements = elements};
    Inline in = start;
    const int first = said->n;
    nests = scans_parted(ctx, entry, folds_joined(ctx, entry, nests, next_var), next_var);
    nests = folds_apart(ctx, entry, folds_merged(ctx, entry, nests, next_var), next_var);
    Nests *stored = decided(&in, nests);
    const Nests *both = in.rows.rows ? rows_staged(ctx, entry, nests, &in.rows, next_var) : NULL;
    if (both) {
        in = start;
        said->n = first;
        stored = decided(&in, both);
    }
    say(&in);
    return stored;
}

Core *nests_inlined(Ctx *ctx, const CoreEntry *entry, const Nests *nests, Core *term,
                    Nat evaluated, EndsOpen ends_open, int *next_var)
{
    Inline in = {.ctx = ctx, .ends_open = ends_open, .entry = entry, .costs = costs_of(ctx), .next_var = next_var, .deep = true};
    add_list(&in, nests, NULL, false);
    count_list(&in, nests);
    count_reads(&in, term, evaluated);
    in.binds.n = 0;
    for (int i = 0; i < in.infos.n; i++) {
        Info *info = in.infos.at[i];
        info->refuted = true;
        inline_choose(&in, info);
        bool scalar = !info->heavy && info->nest->n_axes == 0 && info->size <= INLINE_LARGEST;
        if (!info->inlined && !scalar && info->reads > 1)
            return NULL;
        info->inlined = true;
        info->closed = info->places > 1 ? rounded(&in, info->nest->element) : info->nest->element;
    }
    return whole_inlined(&in, term);
}
