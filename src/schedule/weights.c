/* Weighted sums whose weights are made of a product of matrices: attention, in the lets that a user writes.
 *
 *   s[i][k]  = finish(a product)            t[i] = reduce(max, -inf, s[i])
 *   w[i][k]  = exp(s[i][k] - t[i])          n[i] = reduce(+, 0, w[i])
 *   o[i][j]  = reduce(+, 0, w[i][k] * v[k][j]) / n[i], or of w[i][k] / n[i], or these times 1 / n[i]
 *     ->  for each row: let scores = ... in let top = ... in let weights = ... in let total = ... in map(fun column => ..., columns)
 *
 * Arrays between are spelled out first, so it does not matter which of them have names. Functions of one number may follow, as a cast does. */
#include "ir/key.h"
#include "schedule/weights_parts.h"

/* reduce(op, unit, array), where op is this primitive of two numbers. */
static bool folds_by(const Core *term, PrimId op)
{
    const Core *lambda = term_is(term, P_reduce) ? term->prim.args[0] : NULL, *body = lambda && lambda->kind == CORE_LAMBDA ? lambda->lambda.body : NULL;
    return body && term_is(body, op) && body->prim.args[0]->kind == CORE_VAR && body->prim.args[1]->kind == CORE_VAR && body->prim.args[0]->var != body->prim.args[1]->var;
}

/* The nest that a term reads an element of, with an index for each axis; NULL: it reads no such. */
const Nest *weights_read(const Weights *w, const Core *term, int *indices)
{
    const Core *first, *base = term_base(term, indices, &first);
    const Nest *nest = base->kind == CORE_VAR && *indices > 0 ? w->find(w->user, base->var) : NULL;
    return nest && !nest->steps && nest->n_axes == *indices ? nest : NULL;
}

void weights_take(Weights *w, const Nest *nest)
{
    for (int i = 0; i < w->from->n; i++)
        if (w->from->nests[i] == nest)
            return;
    if (w->from->n == MOST_WEIGHTS)
        w->other = true;
    else
        w->from->nests[w->from->n++] = nest;
}

/* The element of a nest at the indices of a read. */
static Core *element_at(const Weights *w, const Nest *nest, const Core *read)
{
    Core *element = nest->element;
    for (int k = nest->n_axes - 1; k >= 0; k--, read = read->prim.args[0])
        element = term_with_nat(w->ctx, w->next_var, element, nest->axes[k]->nat, read->prim.nats[1]);
    return element;
}

/* Does it read folds, maybe through so many arrays that functions of scalars make? */
static bool reads_folds(const Weights *w, const Core *term, int depth)
{
    int indices;
    const Nest *nest = weights_read(w, term, &indices);
    if (nest)
        return term_is(nest->element, P_reduce) || (depth > 0 && term_is_elementwise(nest->element) && reads_folds(w, nest->element, depth - 1));
    for (int i = 0; i < term_children(term); i++)
        if (reads_folds(w, term_child(term, i), depth))
            return true;
    return false;
}

/* The term with the elements of arrays that functions of scalars make of folds, in place of reads of them. */
Core *weights_spelled_out(Weights *w, Core *term)
{
    int indices;
    const Nest *nest = weights_read(w, term, &indices);
    if (nest && term_is_elementwise(nest->element) && reads_folds(w, nest->element, MOST_WEIGHTS / 2)) {
        weights_take(w, nest);
        return w->other ? term : weights_spelled_out(w, element_at(w, nest, term));
    }
    if (nest || term_children(term) == 0)
        return term;
    Core *new = term_copy(w->ctx, term);
    for (int i = 0; i < term_children(term); i++)
        term_set_child(new, i, weights_spelled_out(w, term_child(term, i)));
    return new;
}

/* The nest of folds that is read at the first `rows` axes of a product, which it has, too; NULL: another term. */
static const Nest *fold_of_rows(Weights *w, const Core *term, const Product *of, int rows, PrimId op)
{
    int indices;
    const Nest *nest = weights_read(w, term, &indices);
    if (!nest || nest->n_axes != rows || own_indices(term, of->nest) != rows || !folds_by(nest->element, op))
        return NULL;
    weights_take(w, nest);
    return nest;
}

/* Of a nest of folds: the element that is folded, over the axes of a product, and of its fold. */
static Core *folded(Weights *w, const Nest *nest, const Product *of, CoreVar *fold)
{
    CoreVar *axis;
    Core *element = fold_element(w->ctx, nest->element, &axis, w->next_var);
    if (axis->type->size != fold->type->size)
        return NULL;
    element = term_with_nat(w->ctx, w->next_var, element, axis->nat, fold->nat);
    for (int i = 0; i < nest->n_axes; i++)
        element = term_with_nat(w->ctx, w->next_var, element, nest->axes[i]->nat, of->nest->axes[i]->nat);
    return product_opened(w->ctx, weights_spelled_out(w, element), w->next_var);
}

static bool is_one(const Core *term) { return term->kind == CORE_LIT && term->type->kind == TY_SCALAR && term->type->scalar == SC_F32 && term->lit.f == 1; }

/* Of a / b, a * (1 / b) and (1 / b) * a: a, and b; NULL: another term. */
static Core *dividend(const Core *term, Core **by)
{
    *by = NULL;
    if (term_is(term, P_div)) {
        *by = term->prim.args[1];
        return term->prim.args[0];
    }
    for (int i = 0; i < 2 && term_is(term, P_mul); i++) {
        const Core *one = term->prim.args[i];
        if (term_is(one, P_div) && is_one(one->prim.args[0])) {
            *by = one->prim.args[1];
            return term->prim.args[1 - i];
        }
    }
    return NULL;
}

/* a / b, of which b is a fold of rows: a, and the nest of b. */
static Core *divided(Weights *w, Core *term, const Product *of, int rows, const Nest **by)
{
    Core *b, *a = dividend(term, &b);
    *by = a ? fold_of_rows(w, b, of, rows, P_add) : NULL;
    return *by ? a : term;
}

/* The array of folds whose element a term is made of, over several axes; NULL: of none. */
const Nest *weights_product(Weights *w, const Core *term)
{
    int indices;
    const Nest *nest = weights_read(w, term, &indices);
    if (nest && term_is(nest->element, P_reduce) && nest->n_axes >= 2)
        return nest;
    for (int i = 0; i < term_children(term); i++)
        if ((nest = weights_product(w, term_child(term, i))))
            return nest;
    return NULL;
}

static bool is_infinite(const Core *term) { return term->kind == CORE_LIT && term->type->kind == TY_SCALAR && term->type->scalar == SC_F32 && term->lit.f < 0 && term->lit.f == 2 * term->lit.f; }

/* Are all reads of an array, in a term over its own axes, of the element at these? */
static bool reads_own(const Core *term, const Nest *nest)
{
    int indices;
    const Core *first, *base = term_base(term, &indices, &first);
    if (base->kind == CORE_VAR && base->var == nest->var)
        return indices == nest->n_axes && own_indices(term, nest) == indices;
    for (int i = 0; i < term_children(term); i++)
        if (!reads_own(term_child(term, i), nest))
            return false;
    return true;
}

/* What a score, over these axes of rows and this axis of a fold, is made of the product. */
bool weights_finish(Weights *w, Found *f, Core *score, CoreVar *const *axes, int rows, const CoreVar *fold)
{
    const Nest *raw = f->scores.nest;
    score = term_with_nat(w->ctx, w->next_var, score, fold->nat, raw->axes[rows]->nat);
    for (int i = 0; i < rows; i++)
        score = term_with_nat(w->ctx, w->next_var, score, axes[i]->nat, raw->axes[i]->nat);
    if (!reads_own(score, raw))
        return false;
    Nest then = {.n_axes = raw->n_axes, .axes = raw->axes, .element = score};
    f->finish = product_finish(&f->scores, &then, &f->beside, &f->result);
    return f->finish != NULL;
}

/* Are the scores a product over the same rows, and over the axis of the sums? */
static bool find_scores(Weights *w, const CoreEntry *entry, Found *f, Core *score, int rows)
{
    Ctx *ctx = w->ctx;
    const Nest *raw = weights_product(w, score);
    if (!raw || raw->n_axes != rows + 1 || raw->element->type->scalar != SC_F32 || !product_find(&f->scores, ctx, entry, raw, w->next_var))
        return false;
    const Product *p = &f->scores;
    if (product_axes(p, BATCH) != product_axes(&f->sums, BATCH) || product_axes(p, COLUMN) != 1 || raw->axes[rows]->type->size != f->sums.fold->type->size)
        return false;
    for (int i = 0; i < rows; i++)
        if (raw->axes[i]->type->size != f->sums.nest->axes[i]->type->size)
            return false;
    weights_take(w, raw);
    return weights_finish(w, f, score, f->sums.nest->axes, rows, f->sums.fold) && f->finish->type->kind == TY_SCALAR && f->finish->type->scalar == SC_F32;
}

/* Of an element that divides sums, by a fold or by what functions of scalars make of one: the sums; NULL: it does not. */
static Core *quotient_of_sums(Weights *w, const Nest *nest, Core **divisor)
{
    if (!term_is(nest->element, P_div) && !term_is(nest->element, P_mul))
        return NULL;
    Core *element = term_copy(w->ctx, nest->element);
    for (int i = 0; i < 2; i++) /* a fold stays as it is */
        if (!term_is(element->prim.args[i], P_reduce))
            element->prim.args[i] = weights_spelled_out(w, element->prim.args[i]);
    return dividend(element, divisor);
}

/* The nest of the sums: one that is read at the same indices, or a fold in the element itself; NULL: neither. */
static const Nest *sums_at(Weights *w, const Nest *nest, Core *sums)
{
    int indices;
    if (term_is(sums, P_reduce)) {
        Nest *own = NEW(w->ctx, Nest);
        *own = *nest;
        own->element = sums;
        return own;
    }
    const Nest *read = weights_read(w, sums, &indices);
    return read && read->n_axes == nest->n_axes && own_indices(sums, nest) == nest->n_axes ? read : NULL;
}

/* What the nest is made of; false: it is no weighted sum. */
static bool find_parts(Weights *w, const CoreEntry *entry, const Nest *nest, Found *f)
{
    const Nest *sums = nest, *by = NULL;
    Core *divisor = NULL, *of_sums = quotient_of_sums(w, nest, &divisor);
    f->apart = of_sums != NULL;
    if (f->apart && !(sums = sums_at(w, nest, of_sums)))
        return false;
    if (!folds_by(sums->element, P_add) || sums->element->type->scalar != SC_F32 || !product_find(&f->sums, w->ctx, entry, sums, w->next_var) || f->sums.cond)
        return false;
    const Product *p = &f->sums;
    int rows = w->from->rows = p->first[COLUMN];
    if (!term_is(p->body, P_mul) || p->left->type->scalar != SC_F32)
        return false;
    int at = p->body->prim.args[0] == p->by_left ? 0 : 1; /* weight * value, or value * weight */
    if (p->body->prim.args[at] != p->by_left)
        return false;
    if (f->apart) {
        Product own = {.nest = nest};
        if (sums->var != nest->var)
            weights_take(w, sums);
        if (!(by = fold_of_rows(w, divisor, &own, rows, P_add)))
            return false;
    }
    Core *weight = product_opened(w->ctx, weights_spelled_out(w, p->left), w->next_var);
    if (!by)
        weight = divided(w, weight, p, rows, &by);
    Core *less = by && term_is(weight, P_exp) ? weight->prim.args[0] : NULL;
    f->total = by;
    f->top = less && term_is(less, P_sub) ? fold_of_rows(w, less->prim.args[1], p, rows, P_max) : NULL;
    if (!f->top || !is_infinite(f->top->element->prim.args[1]))
        return false;
    Core *score = less->prim.args[0], *of_total = folded(w, f->total, p, p->fold), *of_top = folded(w, f->top, p, p->fold);
    return of_total && of_top && core_same(w->ctx, of_total, weight) && core_same(w->ctx, of_top, score) && find_scores(w, entry, f, score, rows) && !w->other;
}

/* The functions that the program applies to an average. */
static Core *applied(const Found *f, Core *average)
{
    for (int i = f->n_after - 1; i >= 0; i--) {
        Core *term = term_copy(f->sums.ctx, f->after[i].term);
        term_set_child(term, f->after[i].at, average);
        average = term;
    }
    return average;
}

/* Goes on to what the element is a function of one number of, or to the array that it is read from; false: it is neither. */
static bool go_under(const Weights *w, Nest *nest, const Nest **of, Found *f)
{
    int indices;
    Core *element = nest->element;
    const Nest *read = weights_read(w, element, &indices);
    if (read && read->n_axes == nest->n_axes && own_indices(element, nest) == indices) {
        *of = read;
        *nest = *read;
        return !read->kept;
    }
    int at = -1;
    bool one = element->kind == CORE_PRIM && prim_rows[element->prim.id].level == LEVEL_SCALAR && f->n_after < MOST_AFTER;
    for (int i = 0; i < term_children(element) && one; i++) {
        one = at < 0 || term_child(element, i)->kind == CORE_LIT;
        at = term_child(element, i)->kind == CORE_LIT ? at : i;
    }
    if (!one || at < 0)
        return false;
    f->after[f->n_after].term = element;
    f->after[f->n_after++].at = at;
    nest->element = term_child(element, at);
    return true;
}

/* Weighted averages as the program has them: where there is no key, the sum of no weights is 0, unless it is divided by their sum. */
static Core *averages(Found *f, Core *array)
{
    Product *p = &f->sums;
    Ctx *ctx = p->ctx;
    CoreVar *x = product_element(p, "x", array);
    Core *own = make_ref(ctx, x, array->span), *some = make_compare(ctx, P_le, nat_const(ctx, 1), p->fold->type->size, array->span);
    Core *average = f->apart ? own : make_if(ctx, some, own, make_zero(ctx, p->next_var, own->type, array->span), array->span);
    return make_map(ctx, x, applied(f, average), array);
}

/* The sums of a row: of these elements of the left matrix, and of these beside the scores. */
static Core *row_of_sums(const Weights *w, Found *f, Core *row, Core *beside, Core *keys,
                         Core *columns)
{
    Product *p = &f->sums;
    Ctx *ctx = p->ctx;
    Span span = p->nest->element->span;
    Core *of_scores = make_map(ctx, f->result, f->finish, product_zip(ctx, product_row(&f->scores, row, keys), beside));
    CoreVar *scores = make_var(ctx, p->next_var, "scores", of_scores->type, span);
    Core *of_top = fold_of(ctx, f->top->element, make_ref(ctx, scores, span));
    CoreVar *top = make_var(ctx, p->next_var, f->top->var->name, of_top->type, span);
    CoreVar *x = product_element(p, "x", of_scores);
    Core *less = make_binary(ctx, P_sub, make_ref(ctx, x, span), make_ref(ctx, top, span));
    Core *of_weights = make_map(ctx, x, make_prim(ctx, P_exp, less->type, 0, NULL, 1, &less, span), make_ref(ctx, scores, span));
    CoreVar *weights = make_var(ctx, p->next_var, "weights", of_weights->type, span);
    Core *of_total = fold_of(ctx, f->total->element, make_ref(ctx, weights, span));
    CoreVar *total = make_var(ctx, p->next_var, f->total->var->name, of_total->type, span), *column = product_element(p, "column", columns);
    Core *value = p->body->prim.args[p->body->prim.args[0] == p->by_left];
    Core *products = make_map(ctx, p->pair, make_binary(ctx, P_mul, p->by_left, value), product_zip(ctx, make_ref(ctx, weights, span), make_ref(ctx, column, span)));
    Core *sum = make_binary(ctx, P_div, fold_of(ctx, p->nest->element, products), make_ref(ctx, total, span));
    Core *result = averages(f, make_map(ctx, column, sum, columns));
    if (f->values.n)
        result = weights_tuple(w, f, result, top, total);
    result = make_let(ctx, total, of_total, result);
    result = make_let(ctx, top, of_top, make_let(ctx, weights, of_weights, result));
    return make_let(ctx, scores, of_scores, result);
}

Core *weighted_rows_term(Ctx *ctx, const CoreEntry *entry, const Nest *nest, RowValues *values,
                         FindNest find, void *user, Weighted *from, int *next_var)
{
    Weights w = {ctx, next_var, find, user, from, false};
    Found f = {.n_after = 0};
    const Nest *of = nest;
    Nest *under = NEW(ctx, Nest);
    *under = *nest;
    *from = (Weighted){.n = 0};
    while (!under->steps && !find_parts(&w, entry, under, &f)) {
        w.other = false;
        from->n = 0;
        if (!go_under(&w, under, &of, &f))
            return NULL;
    }
    if (under->steps)
        return NULL;
    if (of != nest)
        weights_take(&w, of);
    if (values && !weights_take_values(&w, &f, values))
        return NULL;
    Product *p = &f.sums;
    Core *rows = product_matrices(&f.scores, f.scores.left, ROW), *keys = product_matrices(&f.scores, f.scores.right, COLUMN);
    Core *columns = product_matrices(p, p->right, COLUMN), *beside = f.beside, *all = NULL;
    CoreVar *each = NULL;
    if (product_axes(p, BATCH) > 0) {
        all = product_zip(ctx, product_zip(ctx, product_zip(ctx, rows, beside), keys), columns);
        each = product_element(p, "all", all);
        Core *first = product_component(p, each, 0), *both = make_proj(ctx, first, 0, first->span);
        columns = product_component(p, each, 1);
        keys = make_proj(ctx, first, 1, first->span);
        rows = make_proj(ctx, both, 0, first->span);
        beside = make_proj(ctx, both, 1, first->span);
    }
    Core *from_rows = product_zip(ctx, rows, beside);
    CoreVar *row = product_element(p, "p", from_rows);
    Core *sums = row_of_sums(&w, &f, product_component(p, row, 0), product_component(p, row, 1),
                             keys, columns);
    Core *matrix = make_map(ctx, row, sums, from_rows);
    matrix = all ? make_map(ctx, each, matrix, all) : matrix;
    return values ? product_over_rows(p, matrix) : product_over_axes(p, matrix);
}

Core *weighted_term(Ctx *ctx, const CoreEntry *entry, const Nest *nest, FindNest find, void *user,
                    Weighted *from, int *next_var)
{
    return weighted_rows_term(ctx, entry, nest, NULL, find, user, from, next_var);
}
