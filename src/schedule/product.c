/* Products of matrices: folds over an axis of a function of two operands. The axes of the result that both operands have say which matrices are multiplied. Those that only
 * the left one has are its rows, and those that only the right one has are its columns.
 *
 *   c[z][i][j] = reduce(op, unit, f(a[z][i][k], b[z][k][j]))
 *     ->  map(fun p => map(fun row => map(fun column => reduce(op, unit, map(f, zip(row, column))), p.2), p.1), zip(a, transposed b))
 *
 * What is made of an element of the product alone, and of other elements beside it, is a function of both. */
#include "ir/absorb.h"
#include "ir/key.h"
#include "schedule/product_parts.h"
#include "schedule/shape.h"

enum { MOST_AXES = 8, MOST_BESIDE = 8 };

static bool is_number(Type type) { return type->kind == TY_SCALAR && type->scalar != SC_BOOL; }

static bool is_of_scalars(Type type)
{
    for (int i = 0; type->kind == TY_TUPLE && i < type->n_items; i++)
        if (!is_of_scalars(type->items[i]))
            return false;
    return type->kind == TY_SCALAR || type->kind == TY_TUPLE;
}

/* The axes of the nest that a term mentions, as bits. */
static int axes_in(const Product *p, const Core *term)
{
    int axes = 0;
    for (int i = 0; i < p->nest->n_axes; i++)
        if (term_mentions_nat(p->ctx, term, p->nest->axes[i]->nat))
            axes |= 1 << i;
    return axes;
}

static void take_read(Product *p, const Core *read)
{
    int axes = axes_in(p, read), last = 1 << (p->nest->n_axes - 1);
    *(axes & last ? &p->of_right : &p->of_left) |= axes;
}

/* An element at an index that is data is one read: that of the index is no operand. */
static void take_reads(Product *p, Core *term)
{
    int indices;
    const Core *first, *base = term_base(term, &indices, &first);
    bool gathered = term->kind == CORE_LET && term->let.var->type->kind == TY_IDX;
    if (gathered || (indices > 0 && base->kind == CORE_VAR)) {
        take_read(p, term);
        return;
    }
    for (int i = 0; i < term_children(term); i++)
        take_reads(p, term_child(term, i));
}

/* Which axes are of which group: rows, then columns, and what comes before is a batch, where one operand may be the same for all. False: they come in
 * another order. */
static bool find_groups(Product *p)
{
    int n = p->nest->n_axes, all = (1 << n) - 1;
    if ((p->of_left | p->of_right) != all)
        return false;
    p->first[BATCH] = 0;
    p->first[GROUPS] = p->first[COLUMN] = p->first[ROW] = n;
    while (p->first[COLUMN] > 0 && !(p->of_left >> (p->first[COLUMN] - 1) & 1))
        p->first[COLUMN]--;
    for (p->first[ROW] = p->first[COLUMN]; p->first[ROW] > 0 && !(p->of_right >> (p->first[ROW] - 1) & 1);)
        p->first[ROW]--;
    return p->first[COLUMN] < n && p->first[ROW] < p->first[COLUMN];
}

static bool is_of(const Product *p, int axes, int group)
{
    for (int i = p->first[group]; i < p->first[group + 1]; i++)
        if (axes >> i & 1)
            return true;
    return false;
}

/* Takes an operand: the same one wherever it stands. */
static Core *operand(Product *p, Core **known, Core *term, Core *by)
{
    p->other |= !is_number(term->type) || (*known && !core_same(p->ctx, *known, term));
    *known = term;
    return by;
}

/* The element of the fold, as a function of the operands. */
static Core *of_operands(Product *p, Core *term)
{
    int axes = axes_in(p, term);
    bool row = is_of(p, axes, ROW), column = is_of(p, axes, COLUMN);
    if (row && !column)
        return operand(p, &p->left, term, p->by_left);
    if (column && !row)
        return operand(p, &p->right, term, p->by_right);
    if (!row) {
        p->other |= axes || term_mentions_nat(p->ctx, term, p->fold->nat);
        return term;
    }
    p->other |= term->kind == CORE_LET || term->kind == CORE_LAMBDA || term_children(term) == 0;
    if (p->other)
        return term;
    Core *new = term_copy(p->ctx, term);
    for (int i = 0; i < term_children(term); i++)
        term_set_child(new, i, of_operands(p, term_child(term, i)));
    return new;
}

/* ---- factors in another order ---- */

enum { MOST_FACTORS = 16 };

typedef struct Factors {
    Core *over[MOST_FACTORS], *under[MOST_FACTORS]; /* a * b / c: a and b are over, c is under */
    int n_over, n_under;
} Factors;

/* Takes a term apart into factors, and the numbers that it is divided by; of integers factors alone. False: there are too many. */
static bool take_apart(Core *term, bool under, Factors *f)
{
    bool divides = term_is(term, P_div) && scalar_is_float(term->type->scalar);
    if (term_is(term, P_mul) || divides)
        return take_apart(term->prim.args[0], under, f) && take_apart(term->prim.args[1], under != divides, f);
    int *n = under ? &f->n_under : &f->n_over;
    if (*n == MOST_FACTORS)
        return false;
    (under ? f->under : f->over)[(*n)++] = term;
    return true;
}

static Core *joined(const Product *p, PrimId id, Core *a, Core *b) { return a ? make_binary(p->ctx, id, a, b) : b; }

/* The factors of one side: those with a column's axis, or all others. */
static Core *side_of(const Product *p, int n, Core *const *factors, bool columns)
{
    Core *all = NULL;
    for (int i = 0; i < n; i++)
        if (is_of(p, axes_in(p, factors[i]), COLUMN) == columns)
            all = joined(p, P_mul, all, factors[i]);
    return all;
}

/* x * y * w / t as (x * w / t) * y, where y alone is a column's; NULL: no two such sides are known. */
static Core *regrouped(const Product *p, Core *element)
{
    Factors f = {.n_over = 0};
    if (!take_apart(element, false, &f) || f.n_over + f.n_under < 3)
        return NULL;
    Core *side[2], *total = NULL, *by = NULL;
    for (int k = 0; k < 2; k++) {
        Core *under = side_of(p, f.n_under, f.under, k);
        side[k] = side_of(p, f.n_over, f.over, k);
        if (side[k] && under)
            side[k] = joined(p, P_div, side[k], under);
        else if (under)
            by = under;
        total = side[k] ? joined(p, P_mul, total, side[k]) : total;
    }
    return !total ? NULL : by ? joined(p, P_div, total, by) : total;
}

Core *product_opened(Ctx *ctx, Core *term, int *next_var)
{
    while (term->kind == CORE_LET && term->let.value->kind == CORE_TUPLE)
        term = term_with_var(ctx, next_var, term->let.body, term->let.var, term->let.value);
    if (term->kind == CORE_PROJ) {
        Core *tuple = product_opened(ctx, term->proj.value, next_var);
        return tuple->kind == CORE_TUPLE ? tuple->tuple.items[term->proj.index] : make_proj(ctx, tuple, term->proj.index, term->span);
    }
    if (term_children(term) == 0)
        return term;
    Core *new = term_copy(ctx, term);
    for (int i = 0; i < term_children(term); i++)
        term_set_child(new, i, product_opened(ctx, term_child(term, i), next_var));
    return new;
}

enum { MOST_NODES = 128 }; /* of an element, with what its names stand for in their places */

static int nodes_of(const Core *term)
{
    int n = 1;
    for (int i = 0; i < term_children(term); i++)
        n += nodes_of(term_child(term, i));
    return n;
}

/* Puts numbers in the place of their names, as long as the term stays short: operands may stand on either side of a name. */
static Core *named_opened(Ctx *ctx, Core *term, int *next_var)
{
    while (term->kind == CORE_LET && is_number(term->let.var->type)) {
        Core *opened = term_with_var(ctx, next_var, term->let.body, term->let.var, term->let.value);
        if (nodes_of(opened) > MOST_NODES)
            return term;
        term = opened;
    }
    if (term_children(term) == 0)
        return term;
    Core *new = term_copy(ctx, term);
    for (int i = 0; i < term_children(term); i++)
        term_set_child(new, i, named_opened(ctx, term_child(term, i), next_var));
    return new;
}

int product_axes(const Product *p, int group) { return p->first[group + 1] - p->first[group]; }

Core *product_matrices(const Product *p, Core *element, int group)
{
    Ctx *ctx = p->ctx;
    CoreVar *const *axes = p->nest->axes, *kept, *which;
    bool across = lies_across(ctx, p->entry, element, p->fold, axes[p->first[group + 1] - 1]);
    element = flattened(ctx, product_axes(p, group), axes + p->first[group], element, &kept, p->next_var);
    if (product_axes(p, BATCH) > 0)
        element = flattened(ctx, product_axes(p, BATCH), axes, element, &which, p->next_var);
    Core *matrix = across ? transposed(ctx, array_over(ctx, p->fold, array_over(ctx, kept, element)))
                          : array_over(ctx, kept, array_over(ctx, p->fold, element));
    return product_axes(p, BATCH) > 0 ? array_over(ctx, which, matrix) : matrix;
}

Core *product_zip(Ctx *ctx, Core *a, Core *b)
{
    Type types[2] = {a->type->elem, b->type->elem};
    Core *arrays[2] = {a, b};
    Nat n = a->type->size;
    return make_prim(ctx, P_zip, type_array(ctx, n, type_tuple(ctx, 2, types)), 1, &n, 2, arrays, a->span);
}

/* map(fun name => body of it, array) */
CoreVar *product_element(const Product *p, const char *name, const Core *array) { return make_var(p->ctx, p->next_var, name, array->type->elem, array->span); }
Core *product_component(const Product *p, CoreVar *pair, int i) { return make_proj(p->ctx, make_ref(p->ctx, pair, pair->span), i, pair->span); }

Core *product_row(const Product *p, Core *row, Core *columns)
{
    const Core *fold = p->nest->element;
    CoreVar *column = product_element(p, "column", columns);
    Core *products = make_map(p->ctx, p->pair, p->body, product_zip(p->ctx, row, make_ref(p->ctx, column, fold->span)));
    return make_map(p->ctx, column, fold_of(p->ctx, fold, products), columns);
}

/* ---- what is made of an element ---- */

typedef struct Finish {
    Product *p;
    const CoreVar *product; /* the nest whose element it is */
    Core *by_product;       /* what stands for it */
    Core *beside[MOST_BESIDE];
    int n;
    CoreVar *pair;          /* of an element and what is beside it */
    Type rest;              /* of that, once it is known */
    VEC(const CoreVar *) bound;
} Finish;

static bool reads_product(const Finish *f, const Core *term)
{
    if (term->kind == CORE_VAR)
        return term->var == f->product;
    for (int i = 0; i < term_children(term); i++)
        if (reads_product(f, term_child(term, i)))
            return true;
    return false;
}

static bool reads_bound(const Finish *f, const Core *term)
{
    for (int i = 0; term->kind == CORE_VAR && i < f->bound.n; i++)
        if (f->bound.at[i] == term->var)
            return true;
    for (int i = 0; i < term_children(term); i++)
        if (reads_bound(f, term_child(term, i)))
            return true;
    return false;
}

static int beside_at(Finish *f, Core *term)
{
    for (int i = 0; i < f->n; i++)
        if (core_same(f->p->ctx, f->beside[i], term))
            return i;
    if (f->n == MOST_BESIDE) {
        f->p->other = true;
        return 0;
    }
    f->beside[f->n] = term;
    return f->n++;
}

/* The term, as a function of the element of the product and of what is beside it; first, with `rest` NULL, what that is. */
static Core *finished(Finish *f, Core *term)
{
    Ctx *ctx = f->p->ctx;
    int indices;
    const Core *first, *base = term_base(term, &indices, &first);
    if (base->kind == CORE_VAR && base->var == f->product)
        return f->by_product ? f->by_product : term;
    bool apart = !reads_product(f, term) && !reads_bound(f, term);
    if (apart && term->kind != CORE_LIT && (axes_in(f->p, term) || base->kind == CORE_VAR)) {
        int at = beside_at(f, term);
        f->p->other |= term->type->kind != TY_SCALAR;
        if (!f->rest)
            return term;
        Core *rest = product_component(f->p, f->pair, 1);
        return f->n == 1 ? rest : make_proj(ctx, rest, at, term->span);
    }
    if (term_children(term) == 0)
        return term;
    f->p->other |= term->kind == CORE_LAMBDA;
    Core *new = term_copy(ctx, term);
    for (int i = 0; i < term_children(term); i++) {
        if (term->kind == CORE_LET && i == 1)
            vec_push(ctx, &f->bound, term->let.var);
        term_set_child(new, i, finished(f, term_child(term, i)));
    }
    return new;
}

/* The term with the unit in place of the product's elements where it is none. */
static Core *under_condition(const Product *p, Core *term)
{
    int indices;
    const Core *first, *base = term_base(term, &indices, &first);
    if (base->kind == CORE_VAR && base->var == p->nest->var)
        return make_if(p->ctx, p->cond, term, p->nest->element->prim.args[1], term->span);
    if (term_children(term) == 0)
        return term;
    Core *new = term_copy(p->ctx, term);
    for (int i = 0; i < term_children(term); i++)
        term_set_child(new, i, under_condition(p, term_child(term, i)));
    return new;
}

Core *product_finish(Product *p, const Nest *then, Core **beside, CoreVar **pair)
{
    Ctx *ctx = p->ctx;
    Core *term = then->element;
    for (int i = 0; i < then->n_axes; i++)
        term = term_with_nat(ctx, p->next_var, term, then->axes[i]->nat, p->nest->axes[i]->nat);
    term = product_opened(ctx, term, p->next_var);
    if (p->cond)
        term = conditions_decided(ctx, under_condition(p, term));
    Finish f = {.p = p, .product = p->nest->var};
    finished(&f, term);
    Core *rest = f.n == 0 ? make_int(ctx, 0, term->span) : f.n == 1 ? f.beside[0] : make_tuple(ctx, f.n, f.beside, term->span);
    Type types[2] = {p->nest->element->type, rest->type};
    f.rest = rest->type;
    f.pair = *pair = make_var(ctx, p->next_var, "p", type_tuple(ctx, 2, types), term->span);
    f.by_product = product_component(p, *pair, 0);
    Core *body = finished(&f, term);
    p->other |= axes_in(p, body) != 0 || !is_of_scalars(body->type);
    if (p->other)
        return NULL;
    CoreVar *flat[GROUPS];
    for (int group = GROUPS - 1; group >= 0; group--)
        if (product_axes(p, group) > 0)
            rest = array_over(ctx, flat[group], flattened(ctx, product_axes(p, group), p->nest->axes + p->first[group], rest, &flat[group], p->next_var));
    *beside = rest;
    return body;
}

/* ---- the whole ---- */

/* The same where the nest stands for one of so many first axes. */
static Core *over_rows(const Product *p, Core *all, const Nest *nest)
{
    Ctx *ctx = p->ctx;
    int depth = product_axes(p, BATCH) > 0;
    all = split_within(ctx, p->next_var, all, depth, product_axes(p, ROW),
                       nest->axes + p->first[ROW]);
    all = split_within(ctx, p->next_var, all, 0, product_axes(p, BATCH), nest->axes);
    return all_or_none(ctx, p->entry, nest, all, p->next_var);
}

Core *product_over_axes(const Product *p, Core *all)
{
    int depth = product_axes(p, BATCH) > 0;
    if (product_axes(p, BATCH) < 2 && product_axes(p, ROW) < 2 && product_axes(p, COLUMN) < 2)
        return all;
    all = split_within(p->ctx, p->next_var, all, depth + 1, product_axes(p, COLUMN),
                       p->nest->axes + p->first[COLUMN]);
    return over_rows(p, all, p->nest);
}

Core *product_over_rows(const Product *p, Core *all)
{
    Nest rows = *p->nest;
    rows.n_axes = p->first[COLUMN];
    return product_axes(p, BATCH) < 2 && product_axes(p, ROW) < 2 ? all : over_rows(p, all, &rows);
}

/* Takes the element as a function of two operands, with which tiles can be padded. */
static bool is_of_operands(Product *p, Core *element)
{
    Ctx *ctx = p->ctx;
    const Core *fold = p->nest->element;
    p->other = false;
    p->left = p->right = NULL;
    p->by_left = p->by_right = make_int(ctx, 0, fold->span);
    of_operands(p, element);
    if (p->other || !p->left || !p->right)
        return false;
    Type types[2] = {p->left->type, p->right->type};
    p->pair = make_var(ctx, p->next_var, "p", type_tuple(ctx, 2, types), fold->span);
    p->by_left = product_component(p, p->pair, 0);
    p->by_right = product_component(p, p->pair, 1);
    p->body = of_operands(p, element);
    ScalarValue pads[2];
    return core_absorbing(make_function(ctx, 1, &p->pair, p->body), fold->prim.args[1], pads);
}

bool product_find(Product *p, Ctx *ctx, const CoreEntry *entry, const Nest *nest, int *next_var)
{
    const Core *fold = nest->element;
    *p = (Product){.ctx = ctx, .entry = entry, .next_var = next_var, .nest = nest};
    if (nest->steps || nest->n_axes < 2 || nest->n_axes > MOST_AXES || !term_is(fold, P_reduce) || !is_number(fold->type))
        return false;
    Core *element = named_opened(ctx, product_opened(ctx, fold_element(ctx, fold, &p->fold, next_var), next_var), next_var);
    if (axes_in(p, fold->prim.args[0]) || axes_in(p, fold->prim.args[1]) || p->fold->type->size->kind == NAT_ERROR)
        return false;
    for (int i = 0; i < nest->n_axes; i++)
        for (int k = 0; k <= nest->n_axes; k++)
            if (nat_mentions((k < nest->n_axes ? nest->axes[k] : p->fold)->type->size, nest->axes[i]->nat))
                return false;
    if (element->kind == CORE_IF && core_same(ctx, element->cond.otherwise, fold->prim.args[1]) && !term_mentions_nat(ctx, element->cond.cond, p->fold->nat)) {
        p->cond = element->cond.cond;
        element = element->cond.then;
    }
    take_reads(p, element);
    if (!find_groups(p))
        return false;
    return is_of_operands(p, element) || ((element = regrouped(p, element)) && is_of_operands(p, element));
}

Core *product_term(Ctx *ctx, const CoreEntry *entry, const Nest *nest, const Nest *then, int *next_var)
{
    Product p;
    Core *beside = NULL, *finish = NULL;
    CoreVar *result = NULL;
    if (!product_find(&p, ctx, entry, nest, next_var))
        return NULL;
    Nest itself = {.n_axes = nest->n_axes, .axes = nest->axes, .element = make_ref(ctx, nest->var, nest->element->span)};
    for (int i = 0; i < nest->n_axes; i++)
        itself.element = make_index(ctx, itself.element, nest->axes[i]->nat, itself.element->span);
    then = !then && p.cond ? &itself : then;
    if (then && (!(finish = product_finish(&p, then, &beside, &result)) || !is_number(finish->type)))
        return NULL;
    Span span = nest->element->span;
    Core *rows = product_matrices(&p, p.left, ROW), *columns = product_matrices(&p, p.right, COLUMN);
    bool batch = product_axes(&p, BATCH) > 0;
    Core *all = batch ? product_zip(ctx, rows, columns) : NULL;
    if (batch && then)
        all = product_zip(ctx, all, beside);
    CoreVar *each = batch ? product_element(&p, then ? "both" : "p", all) : NULL;
    if (batch) {
        Core *both = then ? product_component(&p, each, 0) : make_ref(ctx, each, span);
        rows = make_proj(ctx, both, 0, span);
        columns = make_proj(ctx, both, 1, span);
        beside = then ? product_component(&p, each, 1) : NULL;
    }
    Core *from = then ? product_zip(ctx, rows, beside) : rows;
    CoreVar *row = product_element(&p, then ? "p" : "row", from);
    Core *folds = product_row(&p, then ? product_component(&p, row, 0) : make_ref(ctx, row, span), columns);
    if (then)
        folds = make_map(ctx, result, finish, product_zip(ctx, folds, product_component(&p, row, 1)));
    Core *matrix = make_map(ctx, row, folds, from);
    return product_over_axes(&p, batch ? make_map(ctx, each, matrix, all) : matrix);
}
