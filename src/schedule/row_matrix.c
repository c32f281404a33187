/* The rows that a program of rows keeps on chip. These are the rows of one array. If a program adds a
 * residual first, it has two arrays, and it would read the second one from memory for each of its folds.
 *
 *   total = reduce(+, 0, j => (xs[i][j] + rs[i][j]) ^ 2);  (xs[i][j] + rs[i][j]) / total
 *     ->  total = reduce(+, 0, j => row[j] ^ 2);  row[j] / total    with the rows of xs + rs
 *
 * The smallest term is taken that reads both, if the row of the matrix is read nowhere else. */
#include "ir/key.h"
#include "schedule/row_matrix.h"

enum { MOST_OPERANDS = 4 }; /* that one map has */

typedef struct Computed {
    Ctx *ctx;
    const RowOperand *matrix;
    const RowOperands *beside;
    VEC(Core *) candidates; /* the smaller ones first */
} Computed;

/* What an element is computed from. */
typedef struct ReadFrom {
    Nat at;      /* the index at which rows are read; NULL: none is */
    bool matrix; /* a row of the matrix is read */
    int rows;    /* how often rows beside it are read */
    bool others; /* anything else, or rows at other indices */
} ReadFrom;

static bool is_beside(const Computed *c, const CoreVar *var)
{
    bool beside = false;
    for (int i = 0; i < c->beside->n; i++)
        beside |= c->beside->at[i].var == var;
    return beside;
}

/* Is it an element of a row of the matrix, or of one beside it? */
static bool is_row_read(const Computed *c, const Core *term)
{
    const Core *row = term_is(term, P_index) ? term->prim.args[0] : NULL;
    return row && row->kind == CORE_VAR && (row->var == c->matrix->var || is_beside(c, row->var));
}

static void add_reads_of(const Computed *c, const Core *term, ReadFrom *s)
{
    if (is_row_read(c, term)) {
        Nat at = term->prim.nats[1];
        s->others |= s->at && s->at != at;
        s->at = at;
        s->matrix |= term->prim.args[0]->var == c->matrix->var;
        s->rows += term->prim.args[0]->var != c->matrix->var;
        return;
    }
    bool number = term->kind == CORE_VAR && term->type->kind == TY_SCALAR && is_beside(c, term->var);
    bool scalar = term->kind == CORE_PRIM && prim_rows[term->prim.id].level == LEVEL_SCALAR;
    s->others |= !number && !scalar && term->kind != CORE_LIT && term->kind != CORE_IF;
    for (int i = 0; i < term_children(term) && !s->others; i++)
        add_reads_of(c, term_child(term, i), s);
}

/* Is it a number that is computed from an element of the matrix and from one beside it, and from no
 * other element? */
static bool is_candidate(const Computed *c, const Core *term, ReadFrom *s)
{
    *s = (ReadFrom){0};
    if (!term->type || term->type->kind != TY_SCALAR || term->type->scalar == SC_BOOL)
        return false;
    add_reads_of(c, term, s);
    return s->matrix && s->rows > 0 && !s->others;
}

static void add_candidates(Computed *c, Core *term)
{
    ReadFrom s;
    for (int i = 0; i < term_children(term); i++)
        add_candidates(c, term_child(term, i));
    if (is_candidate(c, term, &s))
        vec_push(c->ctx, &c->candidates, term);
}

/* The computed element, with what `by` gives in place of each row or number. */
typedef Core *(*ByFn)(void *user, Core *source);

static Core *with_sources(const Computed *c, const Core *term, ByFn by, void *user)
{
    Core *new = term_copy(c->ctx, term);
    if (is_row_read(c, term) || term->kind == CORE_VAR)
        return by(user, new);
    for (int i = 0; i < term_children(term); i++)
        term_set_child(new, i, with_sources(c, term_child(term, i), by, user));
    return new;
}

typedef struct Elsewhere {
    const Computed *c;
    Nat at;
} Elsewhere;

static Core *read_elsewhere(void *user, Core *source)
{
    const Elsewhere *e = user;
    return is_row_read(e->c, source) ? make_index(e->c->ctx, source->prim.args[0], e->at, source->span) : source;
}

/* The index at which the term computes this element; NULL: it does not. */
static Nat computed_at(const Computed *c, const Core *element, Core *term)
{
    ReadFrom s;
    if (!is_candidate(c, term, &s))
        return NULL;
    Elsewhere at = {c, s.at};
    return core_same(c->ctx, with_sources(c, element, read_elsewhere, &at), term) ? s.at : NULL;
}

/* How often the term computes the element; -1: it also reads the row of the matrix otherwise. */
static int times_computed(const Computed *c, const Core *element, Core *term)
{
    if (computed_at(c, element, term))
        return 1;
    if (term->kind == CORE_VAR && term->var == c->matrix->var)
        return -1;
    int times = 0;
    for (int i = 0; i < term_children(term) && times >= 0; i++) {
        int inside = times_computed(c, element, term_child(term, i));
        times = inside < 0 ? -1 : times + inside;
    }
    return times;
}

/* Is it computed several times, or by a term that others read, and is that all that is read of the row
 * of the matrix? */
static bool is_all_that_is_read(const Computed *c, const Core *element, int n, Core *const *terms)
{
    int times = 0;
    for (int i = 0; i < n; i++) {
        int inside = times_computed(c, element, terms[i]);
        if (inside < 0)
            return false;
        times += inside + (i < n - 1 && computed_at(c, element, terms[i]));
    }
    return times > 1;
}

/* The term with elements of the row in place of what computes them. */
static Core *with_row(const Computed *c, const Core *element, CoreVar *row, Core *term)
{
    Nat at = computed_at(c, element, term);
    if (at)
        return make_index(c->ctx, make_ref(c->ctx, row, term->span), at, term->span);
    if (term_children(term) == 0)
        return term;
    Core *new = term_copy(c->ctx, term);
    for (int i = 0; i < term_children(term); i++)
        term_set_child(new, i, with_row(c, element, row, term_child(term, i)));
    return new;
}

typedef struct Definition {
    const Computed *c;
    const CoreVar *row, *element; /* axes */
    VEC(const CoreVar *) operands;
} Definition;

static Core *read_all(void *user, Core *source)
{
    Definition *d = user;
    const Computed *c = d->c;
    const bool row = is_row_read(c, source);
    const CoreVar *var = row ? source->prim.args[0]->var : source->var;
    Core *all = c->matrix->all;
    bool known = false;
    for (int i = 0; i < c->beside->n; i++)
        all = c->beside->at[i].var == var ? c->beside->at[i].all : all;
    for (int i = 0; i < d->operands.n; i++)
        known |= d->operands.at[i] == var;
    if (!known)
        vec_push(c->ctx, &d->operands, var);
    Core *of_row = make_index(c->ctx, all, d->row->nat, source->span);
    return row ? make_index(c->ctx, of_row, d->element->nat, source->span) : of_row;
}

/* All rows of computed elements; NULL: they are computed from too many arrays. */
static Core *all_rows(const Computed *c, const Core *element, int *next_var)
{
    Ctx *ctx = c->ctx;
    Type rows = c->matrix->all->type;
    CoreVar *i = make_var(ctx, next_var, "i", type_idx(ctx, rows->size), element->span);
    CoreVar *j = make_var(ctx, next_var, "j", type_idx(ctx, rows->elem->size), element->span);
    Definition d = {.c = c, .row = i, .element = j};
    Core *term = with_sources(c, element, read_all, &d);
    if (d.operands.n > MOST_OPERANDS)
        return NULL;
    return vector_over(ctx, next_var, i, vector_over(ctx, next_var, j, term, false), false);
}

static void drop_unread(RowOperands *beside, int n, Core *const *terms)
{
    int left = 0;
    for (int i = 0; i < beside->n; i++) {
        bool read = false;
        for (int k = 0; k < n && !read; k++)
            read = term_mentions(terms[k], beside->at[i].var);
        if (read)
            beside->at[left++] = beside->at[i];
    }
    beside->n = left;
}

void rows_computed_once(Ctx *ctx, int *next_var, RowOperand *matrix, RowOperands *beside, int n, Core **terms)
{
    Computed c = {.ctx = ctx, .matrix = matrix, .beside = beside};
    for (int i = 0; i < n; i++)
        add_candidates(&c, terms[i]);
    for (int k = 0; k < c.candidates.n; k++) {
        Core *element = c.candidates.at[k], *all = NULL;
        if (is_all_that_is_read(&c, element, n, terms))
            all = all_rows(&c, element, next_var);
        if (!all)
            continue;
        CoreVar *row = make_var(ctx, next_var, "row", all->type->elem, element->span);
        for (int i = 0; i < n; i++)
            terms[i] = with_row(&c, element, row, terms[i]);
        *matrix = (RowOperand){all, row};
        drop_unread(beside, n, terms);
        return;
    }
}
