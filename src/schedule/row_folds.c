/* Folds of the rows of a product, as in the search for the nearest point:
 *
 *   r[i] = done(reduce(op, unit, score(a product)))
 *     ->  map(done, map(fun p => reduce(op, unit, map(score, zip(products of the row, p.2))), zip(rows, beside))) */
#include "frontend/rule.h"
#include "schedule/weights_parts.h"

enum { MOST_COMPONENTS = 4 }; /* of a fold: each thread keeps several */

/* The nest of folds that the term reads at the axes of a nest, and no other one; NULL: there is none. */
static const Nest *fold_read(Weights *w, const Core *term, const Nest *at)
{
    int indices;
    const Nest *nest = weights_read(w, term, &indices), *found = NULL;
    if (nest)
        return term_is(nest->element, P_reduce) && nest->n_axes == at->n_axes && own_indices(term, at) == indices ? nest : NULL;
    for (int i = 0; i < term_children(term); i++) {
        const Nest *one = fold_read(w, term_child(term, i), at);
        if (found && one && one != found)
            return NULL;
        found = one ? one : found;
    }
    return found;
}

static int components(Type type)
{
    int n = type->kind != TY_TUPLE;
    for (int i = 0; type->kind == TY_TUPLE && i < type->n_items; i++)
        n += components(type->items[i]);
    return n;
}

typedef struct Done {
    const Nest *folds;
    Core *by;
} Done;

/* The term with `by` for reads of the folds. */
static Core *of_fold(const Weights *w, Core *term, const Done *done)
{
    int indices;
    if (weights_read(w, term, &indices) == done->folds)
        return done->by;
    if (term_children(term) == 0)
        return term;
    Core *new = term_copy(w->ctx, term);
    for (int i = 0; i < term_children(term); i++)
        term_set_child(new, i, of_fold(w, term_child(term, i), done));
    return new;
}

Core *folded_term(Ctx *ctx, const CoreEntry *entry, const Nest *nest, FindNest find, void *user, Weighted *from, int *next_var)
{
    *from = (Weighted){.rows = 1};
    Weights w = {ctx, next_var, find, user, from, false};
    Found f = {.top = NULL};
    if (nest->steps || nest->n_axes != 1)
        return NULL;
    const Nest *folds = term_is(nest->element, P_reduce) ? nest : term_is_elementwise(nest->element) ? fold_read(&w, nest->element, nest) : NULL;
    if (!folds || !operator_commutes(folds->element->prim.args[0]) || components(folds->element->type) > MOST_COMPONENTS)
        return NULL;
    if (folds != nest)
        weights_take(&w, folds);
    CoreVar *axis;
    Core *score = product_opened(ctx, weights_spelled_out(&w, fold_element(ctx, folds->element, &axis, next_var)), next_var);
    const Nest *raw = weights_product(&w, score);
    if (!raw || raw->n_axes != 2 || !product_find(&f.scores, ctx, entry, raw, next_var) || product_axes(&f.scores, BATCH) || product_axes(&f.scores, COLUMN) != 1)
        return NULL;
    if (raw->axes[0]->type->size != folds->axes[0]->type->size || raw->axes[1]->type->size != axis->type->size)
        return NULL;
    weights_take(&w, raw);
    if (!weights_finish(&w, &f, score, folds->axes, 1, axis) || w.other)
        return NULL;
    Product *p = &f.scores;
    Core *keys = product_matrices(p, p->right, COLUMN), *from_rows = product_zip(ctx, product_matrices(p, p->left, ROW), f.beside);
    CoreVar *row = product_element(p, "p", from_rows);
    Core *scores = make_map(ctx, f.result, f.finish, product_zip(ctx, product_row(p, product_component(p, row, 0), keys), product_component(p, row, 1)));
    Core *rows = make_map(ctx, row, fold_of(ctx, folds->element, scores), from_rows);
    CoreVar *fold = product_element(p, "fold", rows);
    Done done = {folds, make_ref(ctx, fold, nest->element->span)};
    Core *result = folds == nest ? done.by : of_fold(&w, nest->element, &done);
    return term_mentions_nat(ctx, result, nest->axes[0]->nat) ? NULL : make_map(ctx, fold, result, rows);
}
