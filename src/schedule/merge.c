/* Folds over the same axes that share an array go through their arrays together, as a fold of tuples.
 *
 *   total[j] = reduce(+, 0, xs[k][j]);  most[j] = reduce(max, -inf, xs[k][j])
 *     ->  total_most[j] = reduce((a, b) (c, d) => (a + c, max(b, d)), (0, -inf), (xs[k][j], xs[k][j]))
 *         total[j] = total_most[j].1;  most[j] = total_most[j].2
 *
 * The operators' laws have to be known without being declared (ir/operator.h): only then the tuple's
 * are. Folds of rows stay apart where a kernel goes through their row again: it keeps the row on chip.
 *
 * Note [Levels]
 * The level of an array says how many folds, scans and the like lie on the longest way to it, itself
 * included. An array needs no other of its own level, but one that is worked out element by element,
 * of the folds of its level. So folds of one level never need each other, however they are put
 * together, and the list by levels, folds first, is in order again. */
#include <stdlib.h>

#include "ir/key.h"
#include "ir/operator.h"
#include "schedule/shape.h"

enum { MOST_FOLDS = 6 }; /* go together: each thread has so many values for each of its columns */

typedef struct Fold Fold;

typedef struct Member {
    Nest *nest;
    int at, level; /* in the list */
    bool fold;     /* or another primitive that goes through an array */
    bool of_row;   /* who reads it for its own row goes through a row again */
    const Fold *with;
    int component;
} Member;

struct Fold { /* of one array or more */
    Member *first;
    CoreVar *axis;       /* of the first one */
    VEC(Core *) cells;   /* elements that are folded, over the axes of the first one */
    VEC(Member *) members;
};
typedef VEC(Fold *) Folds;

typedef struct Merge {
    Ctx *ctx;
    const CoreEntry *entry;
    int *next_var;
    int n;
    Member *at;
    Table of_var; /* from an array to its Member */
    Table of_read; /* from an array that is read to its Folds */
    bool any;
} Merge;

/* ---- levels ------------------------------------------------------------------------------------- */

static const Core *base_of(const Core *term)
{
    int indices;
    const Core *first;
    return term_base(term, &indices, &first);
}

/* Of the arrays that the term reads, the highest level. */
static int level_of(const Merge *m, const Core *term)
{
    const Core *base = base_of(term);
    const Member *read = base->kind == CORE_VAR ? table_get(&m->of_var, base->var) : NULL;
    int level = read ? read->level : 0;
    for (int i = 0; !read && i < term_children(term); i++) {
        int part = level_of(m, term_child(term, i));
        level = part > level ? part : level;
    }
    return level;
}

/* Notes which arrays the reader goes through again for each of their rows. */
static void note_rows(const Merge *m, const Member *reader, const Core *term)
{
    const Core *base = base_of(term);
    Member *read = base->kind == CORE_VAR ? table_get(&m->of_var, base->var) : NULL;
    const Nest *nest = reader->nest;
    bool goes_through = reader->fold || reader->of_row;
    if (read && own_indices(term, nest) >= read->nest->n_axes)
        read->of_row |= nest->n_axes > read->nest->n_axes || goes_through;
    for (int i = 0; !read && i < term_children(term); i++)
        note_rows(m, reader, term_child(term, i));
}

static void note_members(Merge *m, const Nests *nests)
{
    for (int i = 0; i < m->n; i++) {
        Nest *nest = nests->list.at[i];
        bool fold = nest->steps || !term_is_elementwise(nest->element);
        m->at[i] = (Member){.nest = nest, .at = i, .fold = fold, .level = level_of(m, nest->element) + fold};
        table_put(m->ctx, &m->of_var, nest->var, &m->at[i]);
    }
    for (int i = m->n - 1; i >= 0; i--)
        note_rows(m, &m->at[i], m->at[i].nest->element);
}

/* ---- which go together -------------------------------------------------------------------------- */

static bool may_merge(const Merge *m, const Member *member)
{
    const Nest *nest = member->nest;
    const Core *fold = nest->element;
    if (fold->kind != CORE_PRIM || fold->prim.id != P_reduce || nest->steps || nest->kept || nest->in_parts ||
        !operator_parts(fold->prim.args[0], NULL, NULL))
        return false;
    for (int i = 0; i < nest->n_axes; i++)
        if (nat_mentions(fold->prim.args[2]->type->size, nest->axes[i]->nat))
            return false;
    return !member->of_row || nest->n_axes == 0 || reads_across(m->ctx, m->entry, nest, m->next_var);
}

typedef struct FullReads { /* that mention all axes, of what is not worked out element by element */
    const Merge *m;
    const Nest *nest;
    Nat fold;
    int left; /* elements that may be looked into */
    VEC(Core *) reads;
} FullReads;

/* The element that is read of a nest that is worked out element by element; else NULL. */
static Core *element_read(const Merge *m, Core *read)
{
    int indices;
    const Core *first;
    const Member *member = table_get(&m->of_var, term_base(read, &indices, &first)->var);
    if (!member || member->fold || indices != member->nest->n_axes)
        return NULL;
    Core *element = member->nest->element;
    for (int i = indices - 1; i >= 0; i--, read = read->prim.args[0])
        element = term_with_nat(m->ctx, m->next_var, element, member->nest->axes[i]->nat, read->prim.nats[1]);
    return element;
}

static void take_full(void *user, Core *read)
{
    FullReads *f = user;
    for (int i = 0; i < f->nest->n_axes; i++)
        if (!term_mentions_nat(f->m->ctx, read, f->nest->axes[i]->nat))
            return;
    if (!term_mentions_nat(f->m->ctx, read, f->fold))
        return;
    Core *element = f->left > 0 ? element_read(f->m, read) : NULL;
    f->left--;
    if (element)
        each_read(element, take_full, f);
    else
        vec_push(f->m->ctx, &f->reads, read);
}

static FullReads full_reads(const Merge *m, const Nest *nest, const CoreVar *axis, Core *cell)
{
    enum { MOST_READS = 16 };
    FullReads f = {.m = m, .nest = nest, .fold = axis->nat, .left = MOST_READS};
    each_read(cell, take_full, &f);
    return f;
}

/* The element that a member folds, over the axes of this fold. */
static Core *cell_over(const Merge *m, const Fold *fold, const Member *member)
{
    CoreVar *axis;
    Core *cell = fold_element(m->ctx, member->nest->element, &axis, m->next_var);
    cell = term_with_nat(m->ctx, m->next_var, cell, axis->nat, fold->axis->nat);
    for (int i = 0; i < member->nest->n_axes; i++)
        cell = term_with_nat(m->ctx, m->next_var, cell, member->nest->axes[i]->nat, fold->first->nest->axes[i]->nat);
    return cell;
}

/* Does a cell of the fold read an element that this one reads, too? */
static bool share_read(const Merge *m, const Fold *fold, Core *cell)
{
    const Nest *first = fold->first->nest;
    FullReads own = full_reads(m, first, fold->axis, cell);
    for (int c = 0; c < fold->cells.n; c++) {
        FullReads read = full_reads(m, first, fold->axis, fold->cells.at[c]);
        for (int i = 0; i < read.reads.n; i++)
            for (int k = 0; k < own.reads.n; k++)
                if (core_same(m->ctx, read.reads.at[i], own.reads.at[k]))
                    return true;
    }
    return false;
}

static bool takes(const Merge *m, const Fold *fold, const Member *member, Core **cell)
{
    const Nest *first = fold->first->nest, *nest = member->nest;
    bool same = fold->members.n < MOST_FOLDS && fold->first->level == member->level && first->n_axes == nest->n_axes &&
                fold->axis->type->size == nest->element->prim.args[2]->type->size;
    for (int i = 0; same && i < nest->n_axes; i++)
        same = first->axes[i]->type == nest->axes[i]->type;
    if (!same)
        return false;
    *cell = cell_over(m, fold, member);
    return share_read(m, fold, *cell);
}

static void add_member(Merge *m, Fold *fold, Member *member, Core *cell)
{
    member->with = fold;
    member->component = fold->members.n;
    vec_push(m->ctx, &fold->members, member);
    vec_push(m->ctx, &fold->cells, cell);
    m->any |= fold->members.n > 1;
}

/* The folds that read this array, too: those that are full, or are part of others, are left out. */
static Folds *folds_of(const Merge *m, const Core *read)
{
    Folds *folds = table_get(&m->of_read, base_of(read)->var);
    int n = 0;
    for (int i = 0; folds && i < folds->n; i++)
        if (folds->at[i]->members.n > 0 && folds->at[i]->members.n < MOST_FOLDS)
            folds->at[n++] = folds->at[i];
    if (folds)
        folds->n = n;
    return folds;
}

static void note_reads(Merge *m, Fold *fold, const FullReads *reads)
{
    for (int i = 0; i < reads->reads.n; i++) {
        const CoreVar *var = base_of(reads->reads.at[i])->var;
        Folds *folds = table_get(&m->of_read, var);
        if (!folds) {
            folds = NEW(m->ctx, Folds);
            *folds = (Folds){0};
            table_put(m->ctx, &m->of_read, var, folds);
        }
        bool noted = false;
        for (int k = 0; k < folds->n && !noted; k++)
            noted = folds->at[k] == fold;
        if (!noted)
            vec_push(m->ctx, folds, fold);
    }
}

static void join_member(Merge *m, Fold *fold, Member *member, Core *cell)
{
    FullReads reads = full_reads(m, fold->first->nest, fold->axis, cell);
    add_member(m, fold, member, cell);
    note_reads(m, fold, &reads);
}

/* The members of the other fold, too. */
static void join_fold(Merge *m, Fold *fold, Fold *other)
{
    for (int i = 0; i < other->members.n; i++)
        join_member(m, fold, other->members.at[i], cell_over(m, fold, other->members.at[i]));
    other->members.n = other->cells.n = 0;
}

/* A member joins a fold with which it shares a read. Then so do the folds that share another one of its reads:
 * sums of x and of y meet in the sum of x*y. */
static void place_member(Merge *m, Member *member)
{
    CoreVar *axis;
    Core *own = fold_element(m->ctx, member->nest->element, &axis, m->next_var), *cell;
    FullReads reads = full_reads(m, member->nest, axis, own);
    Fold *home = NULL;
    for (int i = 0; i < reads.reads.n; i++) {
        Folds *folds = folds_of(m, reads.reads.at[i]);
        for (int k = 0; folds && k < folds->n; k++) {
            Fold *fold = folds->at[k];
            if (fold == home || fold->members.n == 0 || !takes(m, fold, member, &cell))
                continue;
            if (!home)
                join_member(m, home = fold, member, cell);
            else if (home->members.n + fold->members.n <= MOST_FOLDS)
                join_fold(m, home, fold);
        }
    }
    if (home)
        return;
    home = NEW(m->ctx, Fold);
    *home = (Fold){.first = member, .axis = axis};
    add_member(m, home, member, own);
    note_reads(m, home, &reads);
}

/* ---- one fold ----------------------------------------------------------------------------------- */

typedef struct Part {
    const Core *lambda;
    Core *args[2];
} Part;

static Core *part_argument(void *user, const CoreVar *var)
{
    const Part *part = user;
    for (int i = 0; i < 2; i++)
        if (var == part->lambda->lambda.params[i])
            return part->args[i];
    return NULL;
}

/* fun a b => the operators of the members, each of its component */
static Core *operator_of(const Merge *m, const Fold *fold, Type type, Span span)
{
    CoreVar *params[2] = {make_var(m->ctx, m->next_var, "a", type, span), make_var(m->ctx, m->next_var, "b", type, span)};
    Core *items[MOST_FOLDS];
    for (int i = 0; i < fold->members.n; i++) {
        Part part = {.lambda = fold->members.at[i]->nest->element->prim.args[0]};
        for (int k = 0; k < 2; k++)
            part.args[k] = make_proj(m->ctx, make_ref(m->ctx, params[k], span), i, span);
        TermCopy copy = {.ctx = m->ctx, .next_var = m->next_var, .by = part_argument, .user = &part};
        items[i] = copy_term(&copy, part.lambda->lambda.body);
    }
    return make_function(m->ctx, 2, params, make_tuple(m->ctx, fold->members.n, items, span));
}

static Core *unit_of(const Fold *fold, const Merge *m, int i)
{
    const Nest *nest = fold->members.at[i]->nest;
    Core *unit = nest->element->prim.args[1];
    for (int k = 0; k < nest->n_axes; k++)
        unit = term_with_nat(m->ctx, m->next_var, unit, nest->axes[k]->nat, fold->first->nest->axes[k]->nat);
    return unit;
}

static Nest *merged_nest(const Merge *m, const Fold *fold)
{
    Ctx *ctx = m->ctx;
    const Nest *first = fold->first->nest;
    Span span = first->element->span;
    Core *units[MOST_FOLDS];
    const char *name = NULL;
    for (int i = 0; i < fold->members.n; i++) {
        const char *own = fold->members.at[i]->nest->var->name;
        units[i] = unit_of(fold, m, i);
        bool other = i > 0 && own != fold->members.at[i - 1]->nest->var->name;
        name = !name ? own : other ? ctx_printf(ctx, "%s_%s", name, own) : name;
    }
    Core *cell = make_tuple(ctx, fold->members.n, fold->cells.at, span);
    Core *args[3] = {operator_of(m, fold, cell->type, span), make_tuple(ctx, fold->members.n, units, span),
                     make_generate(ctx, fold->axis, cell, span)};
    Core *element = make_prim(ctx, P_reduce, cell->type, 1, &fold->axis->type->size, 3, args, span);
    Type type = cell->type;
    for (int i = first->n_axes - 1; i >= 0; i--)
        type = type_array(ctx, first->axes[i]->type->size, type);
    Nest *nest = NEW(ctx, Nest);
    *nest = (Nest){.n_axes = first->n_axes, .axes = first->axes, .element = element};
    nest->var = make_var(ctx, m->next_var, name, type, first->var->span);
    nest->var->named = first->var->named;
    return nest;
}

/* The member as what is read of the fold; it has axes of its own. */
static Nest *component_nest(const Merge *m, const Member *member, CoreVar *fold)
{
    Ctx *ctx = m->ctx;
    Nest *nest = NEW(ctx, Nest);
    *nest = *member->nest;
    nest->axes = NEWN(ctx, CoreVar *, nest->n_axes + 1);
    Core *read = make_ref(ctx, fold, member->nest->element->span);
    for (int i = 0; i < nest->n_axes; i++) {
        const CoreVar *axis = member->nest->axes[i];
        nest->axes[i] = make_var(ctx, m->next_var, axis->name, axis->type, axis->span);
        read = make_index(ctx, read, nest->axes[i]->nat, read->span);
    }
    nest->element = make_proj(ctx, read, member->component, read->span);
    return nest;
}

/* ---- the list ----------------------------------------------------------------------------------- */

static bool is_component(const Member *member) { return member->with && member->with->members.n > 1; }

/* By levels; in each, folds before what is made of them. */
static int in_order(const void *a, const void *b)
{
    const Member *x = *(Member *const *)a, *y = *(Member *const *)b;
    bool made[2] = {!x->fold || is_component(x), !y->fold || is_component(y)};
    if (x->level != y->level)
        return x->level < y->level ? -1 : 1;
    return made[0] != made[1] ? made[0] - made[1] : x->at < y->at ? -1 : 1;
}

/* The list in which each fold of several members stands before them. */
static void put_list(const Merge *m, Nests *out)
{
    out->list.at = NULL;
    out->list.n = out->list.cap = 0;
    Member **order = NEWN(m->ctx, Member *, m->n);
    for (int i = 0; i < m->n; i++)
        order[i] = &m->at[i];
    qsort(order, (size_t)m->n, sizeof *order, in_order);
    Table made = {0}; /* Fold -> its Nest */
    for (int i = 0; i < m->n; i++) {
        const Member *member = order[i];
        if (!is_component(member)) {
            vec_push(m->ctx, &out->list, member->nest);
            continue;
        }
        Nest *fold = table_get(&made, member->with);
        if (!fold) {
            fold = merged_nest(m, member->with);
            table_put(m->ctx, &made, member->with, fold);
            vec_push(m->ctx, &out->list, fold);
        }
        vec_push(m->ctx, &out->list, component_nest(m, member, fold->var));
    }
}

static Nests *merged(Ctx *ctx, const CoreEntry *entry, const Nests *nests, int *next_var)
{
    Merge m = {.ctx = ctx, .entry = entry, .next_var = next_var, .n = nests->list.n};
    m.at = NEWN(ctx, Member, m.n + 1);
    note_members(&m, nests);
    for (int i = 0; i < m.n; i++)
        if (may_merge(&m, &m.at[i]))
            place_member(&m, &m.at[i]);
    Nests *new = NEW(ctx, Nests);
    *new = *nests;
    if (m.any)
        put_list(&m, new);
    if (!nests->result) {
        new->then = merged(ctx, entry, nests->then, next_var);
        new->otherwise = merged(ctx, entry, nests->otherwise, next_var);
    }
    return new;
}

const Nests *folds_merged(Ctx *ctx, const CoreEntry *entry, const Nests *nests, int *next_var)
{
    return merged(ctx, entry, nests, next_var);
}
