/* How often elements are read: iterations of what is around a read, times the elements that it asks
 * for. A read of a scalar that stands in several places of one scope is one.
 *
 * Names of arrays are followed to what they stand for. Elements that are found somewhere, by a view say,
 * are read for each use of the name; so are those that the element of a map or of generate is made of. What
 * is made as a whole, by a scan say, is made once. So is what `let` binds, where threads work together: they
 * keep it. */
#include "schedule/reads.h"

#include "ir/key.h"
#include "ir/terms.h"
#include "schedule/asked.h"

typedef enum Found { FOUND_NONE, FOUND_SCALARS, FOUND_ALL } Found;

/* Which reads are counted. */
typedef struct Mode {
    bool whole;    /* of what is made as a whole */
    bool computed; /* of scalars that are computed */
    bool once;     /* of FOUND_SCALARS: scalars within arrays are computed here, too */
    Found found;   /* of elements that are found somewhere; FOUND_SCALARS: if no arrays are asked for */
} Mode;
static const Mode everything = {true, true, false, FOUND_ALL};

typedef struct Bound { /* a variable that a function or `let` binds */
    const CoreVar *var;
    const Core *of;    /* it is this, or an element of it; NULL: something else */
    bool element;
    int depth;         /* functions around it */
    bool read;         /* its scalars, in its own function */
} Bound;

typedef struct Counting {
    Ctx *ctx;
    const NatFacts *known;
    ReadsOf *out;
    VEC(Bound) bound;
    VEC(const Core *) seen; /* reads in the scopes around */
    int depth; /* functions around */
    TermWork work;
    bool at_most;
} Counting;

Nat type_cells(Ctx *ctx, Type type)
{
    Nat n = nat_const(ctx, 1);
    for (; type->kind == TY_ARRAY || type->kind == TY_VEC; type = type->elem)
        n = nat_mul(ctx, n, type->size);
    return n;
}

/* The product without these factors; NULL: it has not all of them. */
static Nat without_factors(Ctx *ctx, const NatTerm *product, const NatTerm *factors)
{
    if (product->coef % factors->coef != 0)
        return NULL;
    Nat rest = nat_const(ctx, product->coef / factors->coef);
    int next = 0;
    for (int i = 0; i < product->n_factors; i++) {
        if (next < factors->n_factors && product->factors[i] == factors->factors[next])
            next++;
        else
            rest = nat_mul(ctx, rest, product->factors[i]);
    }
    return next == factors->n_factors ? rest : NULL;
}

static NatTerm as_term(const Nat *nat)
{
    if ((*nat)->kind == NAT_SUM && (*nat)->n_terms == 1)
        return (*nat)->terms[0];
    return (NatTerm){.coef = 1, .n_factors = 1, .factors = nat};
}

Nat nat_exact_quotient(Ctx *ctx, Nat a, Nat b)
{
    if (a == b)
        return nat_const(ctx, 1);
    if (nat_is_const(b))
        return b->value == 1 ? a : nat_is_const(a) && b->value && a->value % b->value == 0 ? nat_const(ctx, a->value / b->value) : NULL;
    const NatTerm by = as_term(&b);
    if (by.coef == 0 || (b->kind == NAT_SUM && b->n_terms != 1) || nat_is_const(a))
        return NULL;
    if (a->kind != NAT_SUM) {
        const NatTerm one = as_term(&a);
        return without_factors(ctx, &one, &by);
    }
    Nat sum = nat_const(ctx, 0);
    for (int i = 0; i < a->n_terms; i++) {
        Nat part = without_factors(ctx, &a->terms[i], &by);
        if (!part)
            return NULL;
        sum = nat_add(ctx, sum, part);
    }
    return sum;
}

/* ---- counting ---------------------------------------------------------------------------------- */

static void ask(Counting *c, const Core *term, Asked asked, Nat times, Mode mode);

static void ask_all(Counting *c, const Core *term, Nat times) { ask(c, term, (Asked){0}, times, everything); }

static Bound *bound_of(const Counting *c, const CoreVar *var)
{
    for (int i = c->bound.n - 1; i >= 0; i--)
        if (c->bound.at[i].var == var)
            return &c->bound.at[i];
    return NULL;
}

/* Are scalars with this name first counted where they are used? Sizes use an index without mentioning it. */
static bool is_anew(const Counting *c, const CoreVar *var) { return c->work == WORK_TOGETHER && !var->nat; }

static void bind(Counting *c, const CoreVar *var, const Core *of, bool element) { vec_push(c->ctx, &c->bound, ((Bound){var, of, element, c->depth, !is_anew(c, var)})); }

static void find_index(void *user, Nat var)
{
    Nat *index = user;
    *index = var->hi ? var : *index;
}

/* The most that a length is that depends on indices, as far as it grows with them; else `otherwise`. */
static Nat most_of(Counting *c, Nat n, Nat otherwise)
{
    for (;;) {
        Nat index = NULL;
        nat_each_var(c->ctx, n, find_index, &index);
        if (!index)
            return n;
        Nat most = nat_subst(c->ctx, n, index, index->hi);
        c->at_most = true;
        if (!nat_le(c->ctx, c->known, n, most))
            return otherwise;
        n = most;
    }
}

static void add(Counting *c, const CoreVar *array, Nat uses)
{
    Ctx *ctx = c->ctx;
    int i = 0;
    if (nat_is(uses, 0))
        return;
    while (i < c->out->n && c->out->at[i].array != array)
        i++;
    if (i == c->out->n)
        vec_push(ctx, c->out, ((ArrayReads){.array = array, .uses = nat_const(ctx, 0)}));
    ArrayReads *reads = &c->out->at[i];
    reads->uses = nat_add(ctx, reads->uses, uses);
    reads->at_most |= c->at_most;
}

static bool was_seen(Counting *c, const Core *read)
{
    for (int i = 0; i < c->seen.n; i++)
        if (core_same(c->ctx, c->seen.at[i], read))
            return true;
    vec_push(c->ctx, &c->seen, read);
    return false;
}

static bool is_view(const Core *term)
{
    return term->kind == CORE_PRIM && prim_rows[term->prim.id].level == LEVEL_VIEW && term->prim.id != P_generate &&
           !prim_is_scatter(term->prim.id);
}

static bool is_zip(PrimId id) { return id == P_zip || id == P_zip3 || id == P_zip4; }

/* Is it an array in memory, or an element of one, whose tuples lie there as they are? */
static bool is_of_memory(const Counting *c, const Core *term)
{
    const Bound *bound = term->kind == CORE_VAR ? bound_of(c, term->var) : NULL;
    if (term->kind == CORE_VAR)
        return !bound || (bound->of && is_of_memory(c, bound->of));
    return is_view(term) && !is_zip(term->prim.id) && term->prim.id != P_concat &&
           is_of_memory(c, term->prim.args[term->prim.n_args - 1]);
}

static bool is_read(const Core *term) { return term->kind == CORE_VAR || term->kind == CORE_PROJ || is_view(term); }

/* A read of a scalar; of a tuple of them in memory, all of it. NULL: it is none. */
static const Core *scalar_read(const Counting *c, const Core *term)
{
    const Core *tuple = term;
    if (type_gives_arrays(term->type) || !is_read(term))
        return NULL;
    while (tuple->kind == CORE_PROJ)
        tuple = tuple->proj.value;
    return is_view(tuple) && !type_gives_arrays(tuple->type) && is_of_memory(c, tuple) ? tuple : term;
}

/* Of elements that a function is given, by this name. */
static Mode where_given(const Counting *c, const CoreVar *var, Mode mode)
{
    bool scalars = mode.computed && !is_anew(c, var);
    return (Mode){mode.whole, scalars, false, scalars ? FOUND_SCALARS : FOUND_NONE};
}

/* Scalars with a name that are read anew: all of them, for the first use in the function that has it. */
static void ask_anew(Counting *c, Bound *bound, Asked asked, Nat times)
{
    const bool own = bound->depth == c->depth, found = bound->of && (bound->element || is_read(bound->of));
    if (!found || (own && bound->read))
        return;
    bound->read |= own;
    asked = own ? (Asked){0} : asked;
    ask(c, bound->of, bound->element ? asked_first(c->ctx, asked, 0, 1, nat_const(c->ctx, 1), NULL) : asked, times, (Mode){false, true, false, FOUND_SCALARS});
}

/* What has a name. Its scalars were counted where it was bound, unless they are read anew. */
static void ask_bound(Counting *c, const Core *term, Bound *bound, Asked asked, Nat times, Mode mode)
{
    const Mode here = {false, mode.computed && (bound->element || c->work != WORK_TOGETHER), false, mode.found};
    if (!asked.n && !type_gives_arrays(asked_type(term->type, asked))) {
        if (c->work == WORK_TOGETHER && mode.found != FOUND_NONE)
            ask_anew(c, bound, asked, times);
    } else if (bound->of)
        ask(c, bound->of, bound->element ? asked_first(c->ctx, asked, 0, 1, nat_const(c->ctx, 1), NULL) : asked, times, here);
}

static void ask_var(Counting *c, const Core *term, Asked asked, Nat times, Mode mode)
{
    Bound *bound = bound_of(c, term->var);
    if (bound)
        ask_bound(c, term, bound, asked, times, mode);
    else if (mode.found != FOUND_NONE) {
        const bool at_most = c->at_most;
        const Nat full = asked_elements(c->ctx, term->type, (Asked){.path = asked.path, .n_path = asked.n_path}, false);
        Nat n = most_of(c, asked_elements(c->ctx, term->type, asked, mode.found == FOUND_SCALARS), full);
        add(c, term->var, nat_mul(c->ctx, times, n));
        c->at_most = at_most;
    }
}

/* Of how many rows of m elements each, if n elements of their join are asked for. */
static Asked of_join(const Counting *c, Type type, Asked asked, Nat rows, Nat m)
{
    asked = asked_dims(c->ctx, type, asked, 1);
    Nat n = asked.dims[0], full = n == type->size ? rows : nat_exact_quotient(c->ctx, n, m);
    return asked_first(c->ctx, asked, 1, 2, full ? full : nat_const(c->ctx, 1), full ? m : n);
}

static bool is_padding(PrimId id) { return id == P_padCst || id == P_padTo; }

/* What the view asks of its array. */
static Asked through_view(const Counting *c, const Core *view, const Core *array, Asked asked)
{
    Ctx *ctx = c->ctx;
    switch ((int)view->prim.id) {
    case P_index: case P_single:
        return asked_first(ctx, asked, 0, 1, nat_const(ctx, 1), NULL);
    case P_transpose:
        asked = asked_dims(ctx, view->type, asked, 2);
        return asked_first(ctx, asked, 2, 2, asked.dims[1], asked.dims[0]);
    case P_join: case P_asScalar:
        return of_join(c, view->type, asked, array->type->size, array->type->elem->size);
    case P_split: case P_splitDrop: case P_slide: case P_asVector:
        asked = asked_dims(ctx, view->type, asked, 2);
        return asked_first(ctx, asked, 2, 1, nat_mul(ctx, asked.dims[0], asked.dims[1]), NULL);
    case P_id:
        return asked;
    case P_unzip:
        return asked.n_path ? asked_dims(ctx, view->type, asked, 1) : asked;
    default:
        asked = asked_dims(ctx, view->type, asked, 1);
        if (is_padding(view->prim.id) && asked.dims[0] == view->type->size)
            return asked_first(ctx, asked, 1, 1, array->type->size, NULL);
        return asked;
    }
}

static void ask_zip(Counting *c, const Core *zip, Asked asked, Nat times, Mode mode)
{
    if (asked.n_path)
        ask(c, zip->prim.args[asked.path[0]], asked_below(asked), times, mode);
    for (int i = 0; !asked.n_path && i < zip->prim.n_args; i++)
        ask(c, zip->prim.args[i], asked, times, mode);
}

static void ask_concat(Counting *c, const Core *term, Asked asked, Nat times, Mode mode)
{
    const bool at_most = c->at_most, full = !asked.n || asked.dims[0] == term->type->size;
    c->at_most |= !full;
    for (int i = 0; i < term->prim.n_args; i++) {
        const Core *part = term->prim.args[i];
        ask(c, part, asked.n && full ? asked_first(c->ctx, asked, 1, 1, part->type->size, NULL) : asked, times, mode);
    }
    c->at_most = at_most;
}

/* The array is the last argument; before it, gather has indices, paddings what they pad with. */
static void ask_view(Counting *c, const Core *view, Asked asked, Nat times, Mode mode)
{
    const bool at_most = c->at_most;
    const Core *array = view->prim.args[view->prim.n_args - 1], *other = view->prim.n_args > 1 ? view->prim.args[0] : NULL;
    const Asked below = through_view(c, view, array, asked);
    if (other)
        ask(c, other, view->prim.id == P_gather ? (Asked){.n = 1, .dims = below.dims} : (Asked){0}, times, mode);
    c->at_most |= is_padding(view->prim.id) && below.dims[0] != array->type->size;
    ask(c, array, below, times, mode);
    c->at_most = at_most;
}

typedef struct Scope {
    int seen, bound;
} Scope;

static Scope enter(Counting *c)
{
    c->depth++;
    return (Scope){c->seen.n, c->bound.n};
}

static void leave(Counting *c, Scope scope)
{
    c->depth--;
    c->seen.n = scope.seen;
    c->bound.n = scope.bound;
}

/* Does the function's last parameter stand for elements of the array? */
static bool takes_elements(const Core *f, const Core *array)
{
    return f->kind == CORE_LAMBDA && array && array->type->kind == TY_ARRAY && f->lambda.n && f->lambda.params[f->lambda.n - 1]->type == array->type->elem;
}

/* The function whose values, for indices or for elements of an array, the elements are; else NULL. */
static const Core *function_of_elements(const Core *term)
{
    const Core *f = term->prim.n_args ? term->prim.args[0] : NULL;
    if (term->prim.id == P_generate)
        return f;
    bool maps = term->prim.n_args == 2 && f->kind == CORE_LAMBDA && f->lambda.n == 1 && takes_elements(f, term->prim.args[1]) &&
                term->type->kind == TY_ARRAY && f->lambda.body->type == term->type->elem && term->prim.args[1]->type->size == term->type->size;
    return maps ? f : NULL;
}

static void ask_elements(Counting *c, const Core *term, const Core *f, Asked asked, Nat times, Mode mode)
{
    const Core *array = term->prim.id == P_generate ? NULL : term->prim.args[term->prim.n_args - 1];
    asked = asked_dims(c->ctx, term->type, asked, 1);
    if (array)
        ask(c, array, (Asked){.n = 1, .dims = asked.dims}, times, where_given(c, f->lambda.params[0], mode));
    const Scope scope = enter(c);
    bind(c, f->lambda.params[0], array, true);
    const bool at_most = c->at_most;
    Nat n = most_of(c, asked.dims[0], asked.dims[0]);
    ask(c, f->lambda.body, asked_first(c->ctx, asked, 1, 0, NULL, NULL), nat_mul(c->ctx, times, n), mode);
    c->at_most = at_most;
    leave(c, scope);
}

static void ask_function(Counting *c, const Core *f, const Core *array, Nat times)
{
    const Scope scope = enter(c);
    const bool elements = takes_elements(f, array);
    for (int i = 0; i < f->lambda.n; i++)
        bind(c, f->lambda.params[i], elements && i + 1 == f->lambda.n ? array : NULL, true);
    const bool at_most = c->at_most;
    ask_all(c, f->lambda.body, elements ? nat_mul(c->ctx, times, most_of(c, array->type->size, array->type->size)) : times);
    c->at_most = at_most;
    leave(c, scope);
}

static void ask_made(Counting *c, const Core *term, Nat times)
{
    const int n = term->prim.n_args;
    const Core *last = n ? term->prim.args[n - 1] : NULL;
    const Core *of_elements = NULL;
    for (int i = 0; i < n; i++)
        of_elements = takes_elements(term->prim.args[i], last) ? term->prim.args[i] : of_elements;
    for (int i = 0; i < n; i++) {
        const Core *arg = term->prim.args[i];
        if (arg->kind == CORE_LAMBDA)
            ask_function(c, arg, last, times);
        else if (arg == last && of_elements)
            ask(c, arg, (Asked){.n = 1, .dims = &arg->type->size}, times, where_given(c, of_elements->lambda.params[of_elements->lambda.n - 1], everything));
        else
            ask_all(c, arg, times);
    }
}

/* ---- conditions -------------------------------------------------------------------------------- */

static Nat larger(const Counting *c, Nat a, Nat b)
{
    if (nat_le(c->ctx, c->known, a, b))
        return b;
    return nat_le(c->ctx, c->known, b, a) ? a : nat_max(c->ctx, a, b);
}

static Nat uses_of(Ctx *ctx, const ReadsOf *reads, const CoreVar *array)
{
    for (int i = 0; i < reads->n; i++)
        if (reads->at[i].array == array)
            return reads->at[i].uses;
    return nat_const(ctx, 0);
}

/* Is n 0 wherever the condition, that sizes are not 0, fails? */
static bool is_none_unless(Ctx *ctx, const Core *cond, Nat n)
{
    if (term_is(cond, P_and))
        return is_none_unless(ctx, cond->prim.args[0], n) && is_none_unless(ctx, cond->prim.args[1], n);
    Nat asked = term_size_asked(cond);
    return asked && nat_exact_quotient(ctx, n, asked);
}

static void add_uses(Counting *c, const CoreVar *array, Nat uses, bool at_most)
{
    const bool before = c->at_most;
    c->at_most |= at_most;
    add(c, array, uses);
    c->at_most = before;
}

/* What is computed under a condition: of two branches, the one that reads more. In vectors, both: what one
 * branch reads may be loaded before the condition is asked. */
static void ask_choice(Counting *c, const Core *cond, const Core *then, const Core *otherwise, Asked asked, Nat times)
{
    ReadsOf *out = c->out, parts[2] = {{0}, {0}};
    for (int k = 0; k < 2; k++) {
        const Core *branch = k ? otherwise : then;
        c->out = &parts[k];
        if (branch)
            ask(c, branch, asked, times, everything);
    }
    c->out = out;
    for (int i = 0; i < parts[0].n; i++) {
        const ArrayReads *a = &parts[0].at[i];
        Nat b = uses_of(c->ctx, &parts[1], a->array);
        bool exact = nat_is(b, 0) && !a->at_most && is_none_unless(c->ctx, cond, a->uses);
        add_uses(c, a->array, c->work == WORK_VECTORS ? nat_add(c->ctx, a->uses, b) : larger(c, a->uses, b), !exact);
    }
    for (int i = 0; i < parts[1].n; i++)
        if (nat_is(uses_of(c->ctx, &parts[0], parts[1].at[i].array), 0))
            add_uses(c, parts[1].at[i].array, parts[1].at[i].uses, true);
}

/* ---- terms ------------------------------------------------------------------------------------- */

static void ask_let(Counting *c, const Core *term, Asked asked, Nat times, Mode mode)
{
    const Core *value = term->let.value;
    const Mode here = {mode.whole, mode.computed, c->work == WORK_TOGETHER, mode.computed ? FOUND_SCALARS : FOUND_NONE};
    if (!is_anew(c, term->let.var) || !is_read(value) || type_gives_arrays(value->type))
        ask(c, value, (Asked){0}, times, here);
    bind(c, term->let.var, value, false);
    ask(c, term->let.body, asked, times, mode);
    c->bound.n--;
}

/* Of what is made as a whole, or a scalar. */
static bool is_counted(const Core *term, Mode mode) { return type_gives_arrays(term->type) ? mode.whole : mode.computed; }

static void ask_prim(Counting *c, const Core *term, Asked asked, Nat times, Mode mode)
{
    const PrimId id = term->prim.id;
    const Core *f = function_of_elements(term);
    if (f)
        ask_elements(c, term, f, asked, times, mode);
    else if (is_zip(id))
        ask_zip(c, term, asked, times, mode);
    else if (id == P_concat)
        ask_concat(c, term, asked, times, mode);
    else if (is_view(term))
        ask_view(c, term, asked, times, mode);
    else if (is_counted(term, mode) && (id == P_and || id == P_or)) {
        ask_all(c, term->prim.args[0], times);
        ask_choice(c, term->prim.args[0], term->prim.args[1], NULL, (Asked){0}, times);
    } else if (is_counted(term, mode))
        ask_made(c, term, times);
}

/* Of a tuple with a name, each item. */
static void ask_items(Counting *c, const Core *tuple, Nat times, Mode mode)
{
    for (int i = 0; i < tuple->type->n_items; i++) {
        Core *item = NEW(c->ctx, Core);
        *item = (Core){.kind = CORE_PROJ, .span = tuple->span, .type = tuple->type->items[i], .height = tuple->height + 1, .finished = true};
        item->proj.index = i;
        item->proj.value = term_copy(c->ctx, tuple);
        ask(c, item, (Asked){0}, times, mode);
    }
}

static void ask(Counting *c, const Core *term, Asked asked, Nat times, Mode mode)
{
    Type type = asked_type(term->type, asked);
    if (mode.found == FOUND_SCALARS && type->kind != TY_TUPLE) {
        const bool array = type->kind == TY_ARRAY;
        mode.computed &= mode.once || !array;
        mode.found = array ? FOUND_NONE : FOUND_ALL;
    }
    if (!mode.whole && !mode.computed && mode.found == FOUND_NONE)
        return;
    const Core *read = mode.found == FOUND_ALL && !asked.n && !asked.n_path ? scalar_read(c, term) : NULL;
    if (read && was_seen(c, read))
        return;
    term = read ? read : term;
    if ((term->kind == CORE_VAR || term->kind == CORE_PROJ) && !asked.n && !asked.n_path && term->type->kind == TY_TUPLE &&
        !is_of_memory(c, term)) {
        ask_items(c, term, times, mode);
        return;
    }
    switch (term->kind) {
    case CORE_VAR:
        ask_var(c, term, asked, times, mode);
        break;
    case CORE_PRIM:
        ask_prim(c, term, asked, times, mode);
        break;
    case CORE_LET:
        ask_let(c, term, asked, times, mode);
        break;
    case CORE_IF:
        if (is_counted(term, mode)) {
            ask_all(c, term->cond.cond, times);
            ask_choice(c, term->cond.cond, term->cond.then, term->cond.otherwise, asked, times);
        }
        break;
    case CORE_PROJ:
        ask(c, term->proj.value, asked_component(c->ctx, asked, term->proj.index), times, mode);
        break;
    case CORE_TUPLE:
        for (int i = 0; i < term->tuple.n; i++)
            if (!asked.n_path || asked.path[0] == i)
                ask(c, term->tuple.items[i], asked.n_path ? asked_below(asked) : asked, times, mode);
        break;
    case CORE_LIT: case CORE_SIZE: case CORE_LAMBDA: case CORE_UNIT_ERROR:
        break;
    }
}

void term_reads(Ctx *ctx, const NatFacts *known, const Core *term, TermWork work, ReadsOf *out)
{
    Counting c = {.ctx = ctx, .known = known, .work = work, .out = out};
    ask_all(&c, term, nat_const(ctx, 1));
    for (int i = 0; i < out->n; i++)
        out->at[i].uses = nat_simplify(ctx, known, out->at[i].uses);
}
