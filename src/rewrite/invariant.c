/* A reduction that a function computes again for each of its elements is computed once, before. */
#include "rewrite/runner.h"

typedef VEC(const CoreVar *) Bound; /* between here and there */

static bool depends(const Core *term, const Bound *bound)
{
    bool found = false;
    for (int i = 0; term->kind == CORE_VAR && i < bound->n; i++)
        found |= bound->at[i] == term->var;
    for (int i = 0; i < term_children(term) && !found; i++)
        found = depends(term_child(term, i), bound);
    return found;
}

/* The first reduction below that depends on nothing bound on the way. Conditions are not crossed: what they say of sizes may be needed. Nor are
 * functions of an index, which types may mention. */
static const Here *find_invariant(Runner *r, const Here *here, Bound *bound)
{
    const Core *term = here->term;
    if (term->kind == CORE_IF || (term->kind == CORE_PRIM && (term->prim.id == P_and || term->prim.id == P_or)))
        return NULL;
    if (bound->n && term->kind == CORE_PRIM && term->prim.id == P_reduce && !depends(term, bound))
        return here;
    int outside = bound->n;
    for (int i = 0; term->kind == CORE_LAMBDA && i < term->lambda.n; i++) {
        if (term->lambda.params[i]->nat)
            return NULL;
        vec_push(r->ctx, bound, term->lambda.params[i]);
    }
    if (term->kind == CORE_LAMBDA && term->lambda.n_nats)
        return NULL;
    const Here *found = NULL;
    for (int i = 0; i < term_children(term) && !found; i++) {
        bool in_body = term->kind == CORE_LET && i == 1;
        if (in_body && (bound->n == 0 || term->let.var->nat)) /* a let that is not in a function stays around what it names */
            break;
        if (in_body)
            vec_push(r->ctx, bound, term->let.var);
        found = find_invariant(r, here_child(r->ctx, here, i), bound);
    }
    bound->n = outside;
    return found;
}

/* It is asked of each term of a chain: those that have none are remembered. */
static bool has_reduction(Runner *r, const Core *term)
{
    if (term_children(term) == 0 || table_get(&r->without_reduction, term))
        return false;
    bool found = term->kind == CORE_PRIM && term->prim.id == P_reduce;
    for (int i = 0; i < term_children(term) && !found; i++)
        found = has_reduction(r, term_child(term, i));
    if (!found)
        table_put(r->ctx, &r->without_reduction, term, r);
    return found;
}

Core *name_invariant(Runner *r, Span span, const Here *here)
{
    Bound bound = {0};
    bool fits = here->term->kind == CORE_PRIM || here->term->kind == CORE_LET; /* of a let, in its value */
    const Here *at = fits && has_reduction(r, here->term) ? find_invariant(r, here, &bound) : NULL;
    if (!at)
        return strategy_fail(r, span, "nameInvariant", here, "no function here has a reduction that is the same for all its elements");
    return strategy_step(r, "nameInvariant", NULL, here, named_before(r, here, at), span);
}
