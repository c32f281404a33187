/* How often elements are read: iterations of what is around a read, times the elements that it asks
 * for. A read of a scalar that stands in several places of one scope is one. */
#include "schedule/reads.h"

#include "ir/key.h"
#include "ir/terms.h"

typedef VEC(const CoreVar *) Arrays; /* a component of a tuple each */

typedef struct Bound { /* a variable that a function or `let` binds */
    const CoreVar *var;
    Arrays of;         /* what its elements are elements of; nothing: it is computed */
} Bound;

typedef struct Counting {
    Ctx *ctx;
    const NatFacts *known;
    ReadsOf *out;
    VEC(Bound) bound;
    VEC(const Core *) seen; /* reads in the scopes around */
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

/* ---- what stands for what ---------------------------------------------------------------------- */

static const Bound *bound_of(const Counting *c, const CoreVar *var)
{
    for (int i = c->bound.n - 1; i >= 0; i--)
        if (c->bound.at[i].var == var)
            return &c->bound.at[i];
    return NULL;
}

static bool has_arrays(Type type)
{
    bool found = type->kind == TY_ARRAY || type->kind == TY_VEC;
    for (int i = 0; i < type->n_items && !found; i++)
        found = has_arrays(type->items[i]);
    return found;
}

static bool is_generate(const Core *term) { return term->kind == CORE_PRIM && term->prim.id == P_generate; }

/* Only changes where elements are found. */
static bool is_view(const Core *term)
{
    return term->kind == CORE_PRIM && prim_rows[term->prim.id].level == LEVEL_VIEW && !is_generate(term) &&
           !prim_is_scatter(term->prim.id);
}

/* The arrays that a term is a view of, if it is one; nothing is counted. */
static void sources(const Counting *c, const Core *term, Arrays *out)
{
    if (term->kind == CORE_VAR) {
        const Bound *bound = bound_of(c, term->var);
        for (int i = 0; bound && i < bound->of.n; i++)
            vec_push(c->ctx, out, bound->of.at[i]);
        if (!bound && has_arrays(term->type))
            vec_push(c->ctx, out, term->var);
        return;
    }
    if (term->kind == CORE_PROJ) {
        Arrays all = {0};
        sources(c, term->proj.value, &all);
        bool each = all.n == term->proj.value->type->n_items;
        for (int i = 0; i < all.n; i++)
            if (!each || i == term->proj.index)
                vec_push(c->ctx, out, all.at[i]);
        return;
    }
    for (int i = 0; is_view(term) && i < term->prim.n_args; i++)
        if (term->prim.args[i]->kind != CORE_LAMBDA)
            sources(c, term->prim.args[i], out);
}

/* ---- counting ---------------------------------------------------------------------------------- */

static void add(Counting *c, const CoreVar *array, Nat once, Nat uses)
{
    Ctx *ctx = c->ctx;
    int i = 0;
    while (i < c->out->n && c->out->at[i].array != array)
        i++;
    if (i == c->out->n)
        vec_push(ctx, c->out, ((ArrayReads){.array = array, .once = nat_const(ctx, 0), .uses = nat_const(ctx, 0)}));
    ArrayReads *reads = &c->out->at[i];
    if (once)
        reads->once = nat_add(ctx, reads->once, once);
    if (uses)
        reads->uses = nat_add(ctx, reads->uses, uses);
    reads->at_most |= c->at_most;
}

static bool was_seen(Counting *c, const Core *read)
{
    if (has_arrays(read->type))
        return false;
    for (int i = 0; i < c->seen.n; i++)
        if (core_same(c->ctx, c->seen.at[i], read))
            return true;
    vec_push(c->ctx, &c->seen, read);
    return false;
}

static void visit(Counting *c, const Core *term, Nat times);
static void visit_generate(Counting *c, const Core *term, Nat elements, Nat times);

/* Of how many elements of an array these cells are; all, where that is not known. */
static Nat elements_asked(const Counting *c, Type array, Nat cells)
{
    Nat n = nat_exact_quotient(c->ctx, cells, type_cells(c->ctx, array->elem));
    return n && nat_le(c->ctx, c->known, n, array->size) ? n : array->size;
}

static bool is_zip(PrimId id) { return id == P_zip || id == P_zip3 || id == P_zip4; }

typedef enum Asked { ASKED_ONCE = 1, ASKED_USES = 2, ASKED = 3 } Asked;

/* `cells` elements of this array are asked for, so many times. */
static void ask(Counting *c, const Core *array, Nat cells, Nat times, Asked what)
{
    Ctx *ctx = c->ctx;
    int indices;
    const Core *first, *base = term_base(array, &indices, &first);
    if (base->kind == CORE_VAR || base->kind == CORE_PROJ) {
        const Bound *bound = base->kind == CORE_VAR ? bound_of(c, base->var) : NULL;
        bool inside = bound || base->kind == CORE_PROJ;
        Arrays of = {0};
        sources(c, base, &of);
        Nat all = nat_mul(ctx, cells, times);
        if (!was_seen(c, array))
            for (int i = 0; i < of.n; i++)
                add(c, of.at[i], (what & ASKED_ONCE) && !inside ? all : NULL, what & ASKED_USES ? all : NULL);
        return;
    }
    if (is_generate(array)) {
        visit_generate(c, array, elements_asked(c, array->type, cells), times);
        return;
    }
    if (!is_view(array)) {
        visit(c, array, times);
        return;
    }
    bool at_most = c->at_most;
    PrimId id = array->prim.id;
    bool own = id == P_concat || (is_zip(id) && has_arrays(array->type->elem)); /* parts have their own cells */
    c->at_most |= id == P_padCst || id == P_padTo;
    for (int i = 0; i < array->prim.n_args; i++) {
        const Core *arg = array->prim.args[i];
        if (has_arrays(arg->type))
            ask(c, arg, own ? type_cells(ctx, arg->type) : cells, times, what);
        else
            visit(c, arg, times);
    }
    c->at_most = at_most;
}

static void bind(Counting *c, const CoreVar *var, Arrays of) { vec_push(c->ctx, &c->bound, ((Bound){var, of})); }

/* A function of n elements of the array: those that are arrays stand for theirs. */
static void visit_function(Counting *c, const Core *f, const Core *array, Nat times)
{
    Ctx *ctx = c->ctx;
    int seen = c->seen.n, bound = c->bound.n;
    Arrays of = {0}, none = {0};
    if (has_arrays(array->type->elem))
        sources(c, array, &of);
    ask(c, array, type_cells(ctx, array->type), times, of.n ? ASKED_ONCE : ASKED);
    for (int i = 0; i < f->lambda.n; i++)
        bind(c, f->lambda.params[i], i + 1 == f->lambda.n ? of : none);
    visit(c, f->lambda.body, nat_mul(ctx, times, array->type->size));
    c->seen.n = seen;
    c->bound.n = bound;
}

static void visit_generate(Counting *c, const Core *term, Nat elements, Nat times)
{
    const Core *f = term->prim.args[0];
    int seen = c->seen.n, bound = c->bound.n;
    bind(c, f->lambda.params[0], (Arrays){0});
    visit(c, f->lambda.body, nat_mul(c->ctx, times, elements));
    c->seen.n = seen;
    c->bound.n = bound;
}

static void visit_prim(Counting *c, const Core *term, Nat times)
{
    int n = term->prim.n_args;
    const Core *array = n && term->prim.args[n - 1]->type->kind == TY_ARRAY ? term->prim.args[n - 1] : NULL;
    bool of_function = false;
    if (is_generate(term)) {
        visit_generate(c, term, term->prim.nats[0], times);
        return;
    }
    for (int i = 0; i < n; i++) {
        const Core *arg = term->prim.args[i];
        bool function = arg->kind == CORE_LAMBDA;
        if (function && array)
            visit_function(c, arg, array, times);
        else if (arg == array && of_function)
            ; /* with the function */
        else if (has_arrays(arg->type))
            ask(c, arg, type_cells(c->ctx, arg->type), times, ASKED);
        else
            visit(c, arg, times);
        of_function |= function;
    }
}

static Nat larger(const Counting *c, Nat a, Nat b)
{
    if (nat_le(c->ctx, c->known, a, b))
        return b;
    return nat_le(c->ctx, c->known, b, a) ? a : nat_max(c->ctx, a, b);
}

/* What is computed under a condition: of two branches, the one that reads more. */
static void visit_choice(Counting *c, const Core *then, const Core *otherwise, Nat times)
{
    Ctx *ctx = c->ctx;
    bool at_most = c->at_most;
    ReadsOf *all = c->out, parts[2] = {{0}, {0}};
    c->at_most = true;
    for (int k = 0; k < 2; k++) {
        const Core *branch = k ? otherwise : then;
        int seen = c->seen.n;
        c->out = &parts[k];
        if (branch && has_arrays(branch->type))
            ask(c, branch, type_cells(ctx, branch->type), times, ASKED);
        else if (branch)
            visit(c, branch, times);
        c->seen.n = seen;
    }
    c->out = all;
    for (int i = 0; i < parts[0].n; i++) {
        ArrayReads a = parts[0].at[i], b = {.once = nat_const(ctx, 0), .uses = nat_const(ctx, 0)};
        for (int k = 0; k < parts[1].n; k++)
            if (parts[1].at[k].array == a.array)
                b = parts[1].at[k];
        add(c, a.array, larger(c, a.once, b.once), larger(c, a.uses, b.uses));
    }
    for (int k = 0; k < parts[1].n; k++) {
        bool both = false;
        for (int i = 0; i < parts[0].n; i++)
            both |= parts[0].at[i].array == parts[1].at[k].array;
        if (!both)
            add(c, parts[1].at[k].array, parts[1].at[k].once, parts[1].at[k].uses);
    }
    c->at_most = at_most;
}

static void visit_let(Counting *c, const Core *term, Nat times)
{
    Arrays of = {0};
    if (has_arrays(term->let.value->type))
        sources(c, term->let.value, &of);
    if (!of.n)
        visit(c, term->let.value, times);
    bind(c, term->let.var, of);
    visit(c, term->let.body, times);
    c->bound.n--;
}

static void visit(Counting *c, const Core *term, Nat times)
{
    int indices;
    const Core *first, *base = term_base(term, &indices, &first);
    bool lazy = term->kind == CORE_PRIM && (term->prim.id == P_and || term->prim.id == P_or);
    if (indices > 0 || (term->kind == CORE_VAR && has_arrays(term->type)) || is_view(term)) {
        if (base->kind == CORE_VAR || is_view(term))
            ask(c, term, type_cells(c->ctx, term->type), times, ASKED);
        else
            visit(c, base, times);
    } else if (term->kind == CORE_VAR) {
        if (!bound_of(c, term->var) && !was_seen(c, term))
            add(c, term->var, times, times);
    } else if (term->kind == CORE_LET) {
        visit_let(c, term, times);
    } else if (term->kind == CORE_IF) {
        visit(c, term->cond.cond, times);
        visit_choice(c, term->cond.then, term->cond.otherwise, times);
    } else if (lazy) {
        visit(c, term->prim.args[0], times);
        visit_choice(c, term->prim.args[1], NULL, times);
    } else if (term->kind == CORE_PRIM) {
        visit_prim(c, term, times);
    } else if (term->kind == CORE_TUPLE || term->kind == CORE_PROJ) {
        for (int i = 0; i < term_children(term); i++)
            visit(c, term_child(term, i), times);
    }
}

void term_reads(Ctx *ctx, const NatFacts *known, const Core *term, ReadsOf *out)
{
    Counting c = {.ctx = ctx, .known = known, .out = out};
    visit(&c, term, nat_const(ctx, 1));
    for (int i = 0; i < out->n; i++) {
        out->at[i].once = nat_simplify(ctx, known, out->at[i].once);
        out->at[i].uses = nat_simplify(ctx, known, out->at[i].uses);
    }
}
