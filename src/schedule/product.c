/* Products of matrices: folds over an axis of a function of two operands. The axes of the result that both operands have say which matrices are multiplied. Those that only
 * the left one has are its rows, and those that only the right one has are its columns.
 *
 *   c[z][i][j] = reduce(op, unit, f(a[z][i][k], b[z][k][j]))
 *     ->  map(fun p => map(fun row => map(fun column => reduce(op, unit, map(f, zip(row, column))), p.2), p.1), zip(a, transposed b))
 *
 * What is made of an element of the product alone, and of other elements beside it, is a function of both. */
#include "ir/key.h"
#include "schedule/product.h"
#include "schedule/shape.h"

enum { MOST_AXES = 8, MOST_BESIDE = 8 };
enum { BATCH, ROW, COLUMN, GROUPS };

typedef struct Product {
    Ctx *ctx;
    const CoreEntry *entry;
    int *next_var;
    const Nest *nest;
    CoreVar *fold; /* its axis */
    int first[GROUPS + 1]; /* the axes of each group, by where it begins */
    int of_left, of_right; /* axes that reads without and with the last axis mention, as bits */
    Core *left, *right;    /* operands */
    Core *by_left, *by_right; /* what stands for them in the function of pairs */
    bool other;            /* it is no product */
} Product;

static bool is_prim(const Core *term, PrimId id) { return term->kind == CORE_PRIM && term->prim.id == id; }
static bool is_number(Type type) { return type->kind == TY_SCALAR && type->scalar != SC_BOOL; }

/* The axes of the nest that a term mentions, as bits. */
static int axes_in(const Product *p, const Core *term)
{
    int axes = 0;
    for (int i = 0; i < p->nest->n_axes; i++)
        if (term_mentions_nat(p->ctx, term, p->nest->axes[i]->nat))
            axes |= 1 << i;
    return axes;
}

static void take_read(void *user, Core *read)
{
    Product *p = user;
    int axes = axes_in(p, read), last = 1 << (p->nest->n_axes - 1);
    *(axes & last ? &p->of_right : &p->of_left) |= axes;
}

/* Which axes are of which group; false: they do not come one group after the other. */
static bool find_groups(Product *p)
{
    int group = BATCH;
    p->first[BATCH] = 0;
    for (int i = 0; i < p->nest->n_axes; i++) {
        bool left = p->of_left >> i & 1, right = p->of_right >> i & 1;
        int now = left && right ? BATCH : left ? ROW : COLUMN;
        if ((!left && !right) || now < group)
            return false;
        while (group < now)
            p->first[++group] = i;
    }
    p->first[GROUPS] = p->nest->n_axes;
    return group == COLUMN && p->first[COLUMN] > p->first[ROW];
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

typedef struct Named { /* a tuple, and its name */
    const CoreVar *var;
    Core *value;
} Named;

static Core *value_of(void *user, const CoreVar *var)
{
    const Named *named = user;
    return var == named->var ? named->value : NULL;
}

/* The term without names of tuples: of (x, y).1 it has x. */
static Core *opened(const Product *p, Core *term)
{
    while (term->kind == CORE_LET && term->let.value->kind == CORE_TUPLE) {
        Named named = {term->let.var, term->let.value};
        TermCopy copy = {.ctx = p->ctx, .next_var = p->next_var, .by = value_of, .user = &named};
        term = copy_term(&copy, term->let.body);
    }
    if (term->kind == CORE_PROJ) {
        Core *tuple = opened(p, term->proj.value);
        return tuple->kind == CORE_TUPLE ? tuple->tuple.items[term->proj.index] : make_proj(p->ctx, tuple, term->proj.index, term->span);
    }
    if (term_children(term) == 0)
        return term;
    Core *new = term_copy(p->ctx, term);
    for (int i = 0; i < term_children(term); i++)
        term_set_child(new, i, opened(p, term_child(term, i)));
    return new;
}

static int size_of(const Product *p, int group) { return p->first[group + 1] - p->first[group]; }

/* The matrices that an operand has: its rows or columns, one after the other. They are transposed where neighbours in memory lie along them. */
static Core *matrices(const Product *p, Core *element, int group)
{
    Ctx *ctx = p->ctx;
    CoreVar *const *axes = p->nest->axes, *kept, *which;
    bool across = lies_across(ctx, p->entry, element, p->fold->nat, axes[p->first[group + 1] - 1]->nat);
    element = flattened(ctx, size_of(p, group), axes + p->first[group], element, &kept, p->next_var);
    if (size_of(p, BATCH) > 0)
        element = flattened(ctx, size_of(p, BATCH), axes, element, &which, p->next_var);
    Core *matrix = across ? transposed(ctx, array_over(ctx, p->fold, array_over(ctx, kept, element)))
                          : array_over(ctx, kept, array_over(ctx, p->fold, element));
    return size_of(p, BATCH) > 0 ? array_over(ctx, which, matrix) : matrix;
}

static Core *zipped(Ctx *ctx, Core *a, Core *b)
{
    Type types[2] = {a->type->elem, b->type->elem};
    Core *arrays[2] = {a, b};
    Nat n = a->type->size;
    return make_prim(ctx, P_zip, type_array(ctx, n, type_tuple(ctx, 2, types)), 1, &n, 2, arrays, a->span);
}

/* map(fun name => body of it, array) */
static CoreVar *element_var(const Product *p, const char *name, const Core *array) { return make_var(p->ctx, p->next_var, name, array->type->elem, array->span); }
static Core *component(const Product *p, CoreVar *pair, int i) { return make_proj(p->ctx, make_ref(p->ctx, pair, pair->span), i, pair->span); }

/* map(fun column => reduce(op, unit, map(f, zip(row, column))), columns) */
static Core *row_of_folds(const Product *p, const Core *fold, CoreVar *pair, Core *body, Core *row, Core *columns)
{
    CoreVar *column = element_var(p, "column", columns);
    Core *products = make_map(p->ctx, pair, body, zipped(p->ctx, row, make_ref(p->ctx, column, fold->span)));
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
        Core *rest = component(f->p, f->pair, 1);
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

/* The function of a pair, and the array beside the product, over the axes of the product. */
static Core *finish_of(Product *p, const Nest *then, Core **beside, CoreVar **pair)
{
    Ctx *ctx = p->ctx;
    Core *term = then->element;
    for (int i = 0; i < then->n_axes; i++)
        term = term_with_nat(ctx, p->next_var, term, then->axes[i]->nat, p->nest->axes[i]->nat);
    term = opened(p, term);
    Finish f = {.p = p, .product = p->nest->var};
    finished(&f, term);
    Core *rest = f.n == 0 ? make_int(ctx, 0, term->span) : f.n == 1 ? f.beside[0] : make_tuple(ctx, f.n, f.beside, term->span);
    Type types[2] = {p->nest->element->type, rest->type};
    f.rest = rest->type;
    f.pair = *pair = make_var(ctx, p->next_var, "p", type_tuple(ctx, 2, types), term->span);
    f.by_product = component(p, *pair, 0);
    Core *body = finished(&f, term);
    p->other |= axes_in(p, body) != 0 || !is_number(body->type);
    if (p->other)
        return NULL;
    CoreVar *flat[GROUPS];
    for (int group = GROUPS - 1; group >= 0; group--)
        if (size_of(p, group) > 0)
            rest = array_over(ctx, flat[group], flattened(ctx, size_of(p, group), p->nest->axes + p->first[group], rest, &flat[group], p->next_var));
    *beside = rest;
    return body;
}

/* ---- the whole ---- */

static Core *over_axes(const Product *p, Core *all)
{
    int depth = size_of(p, BATCH) > 0;
    CoreVar *const *axes = p->nest->axes;
    Ctx *ctx = p->ctx;
    if (size_of(p, BATCH) < 2 && size_of(p, ROW) < 2 && size_of(p, COLUMN) < 2)
        return all;
    all = split_within(ctx, p->next_var, all, depth + 1, size_of(p, COLUMN), axes + p->first[COLUMN]);
    all = split_within(ctx, p->next_var, all, depth, size_of(p, ROW), axes + p->first[ROW]);
    all = split_within(ctx, p->next_var, all, 0, size_of(p, BATCH), axes);
    return all_or_none(ctx, p->entry, p->nest, all, p->next_var);
}

Core *product_term(Ctx *ctx, const CoreEntry *entry, const Nest *nest, const Nest *then, int *next_var)
{
    const Core *fold = nest->element;
    Product p = {.ctx = ctx, .entry = entry, .next_var = next_var, .nest = nest};
    if (nest->n_axes < 2 || nest->n_axes > MOST_AXES || !is_prim(fold, P_reduce) || !is_number(fold->type))
        return NULL;
    Core *element = opened(&p, fold_element(ctx, fold, &p.fold, next_var));
    if (axes_in(&p, fold->prim.args[0]) || axes_in(&p, fold->prim.args[1]) || p.fold->type->size->kind == NAT_ERROR)
        return NULL;
    for (int i = 0; i < nest->n_axes; i++)
        for (int k = 0; k <= nest->n_axes; k++)
            if (nat_mentions((k < nest->n_axes ? nest->axes[k] : p.fold)->type->size, nest->axes[i]->nat))
                return NULL;
    each_read(element, take_read, &p);
    if (!find_groups(&p))
        return NULL;
    Core *unknown = make_int(ctx, 0, fold->span);
    p.by_left = p.by_right = unknown;
    of_operands(&p, element);
    if (p.other || !p.left || !p.right)
        return NULL;
    Type types[2] = {p.left->type, p.right->type};
    CoreVar *pair = make_var(ctx, next_var, "p", type_tuple(ctx, 2, types), fold->span);
    p.by_left = component(&p, pair, 0);
    p.by_right = component(&p, pair, 1);
    Core *body = of_operands(&p, element), *beside = NULL, *finish = NULL;
    CoreVar *result = NULL;
    if (then && !(finish = finish_of(&p, then, &beside, &result)))
        return NULL;
    Core *rows = matrices(&p, p.left, ROW), *columns = matrices(&p, p.right, COLUMN);
    bool batch = size_of(&p, BATCH) > 0;
    Core *all = batch ? zipped(ctx, rows, columns) : NULL;
    if (batch && then)
        all = zipped(ctx, all, beside);
    CoreVar *each = batch ? element_var(&p, then ? "both" : "p", all) : NULL;
    if (batch) {
        Core *both = then ? component(&p, each, 0) : make_ref(ctx, each, fold->span);
        rows = make_proj(ctx, both, 0, fold->span);
        columns = make_proj(ctx, both, 1, fold->span);
        beside = then ? component(&p, each, 1) : NULL;
    }
    Core *from = then ? zipped(ctx, rows, beside) : rows;
    CoreVar *row = element_var(&p, then ? "p" : "row", from);
    Core *folds = row_of_folds(&p, fold, pair, body, then ? component(&p, row, 0) : make_ref(ctx, row, fold->span), columns);
    if (then)
        folds = make_map(ctx, result, finish, zipped(ctx, folds, component(&p, row, 1)));
    Core *matrix = make_map(ctx, row, folds, from);
    return over_axes(&p, batch ? make_map(ctx, each, matrix, all) : matrix);
}
