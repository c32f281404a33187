#include "ir/operator.h"

#include "ir/prim.h"

enum { DEEPEST = 8 }; /* tuples in tuples */

typedef struct Parts {
    const Core *lambda;
    OperatorPartFn fn;
    void *user;
    int depth, path[DEEPEST];
} Parts;

/* Is it this component of the parameter? */
static bool is_component(const Parts *p, const Core *term, int param)
{
    for (int i = p->depth - 1; i >= 0; i--, term = term->proj.value)
        if (term->kind != CORE_PROJ || term->proj.index != p->path[i])
            return false;
    return term->kind == CORE_VAR && term->var == p->lambda->lambda.params[param];
}

static bool combines(Parts *p, const Core *body)
{
    if (body->kind == CORE_TUPLE) {
        if (p->depth == DEEPEST)
            return false;
        for (int i = 0; i < body->tuple.n; i++) {
            p->path[p->depth++] = i;
            bool part = combines(p, body->tuple.items[i]);
            p->depth--;
            if (!part)
                return false;
        }
        return body->tuple.n > 0;
    }
    if (body->kind != CORE_PRIM || body->prim.n_args != 2 || !prim_has_laws(body->prim.id))
        return false;
    const Core *a = body->prim.args[0], *b = body->prim.args[1];
    if (!(is_component(p, a, 0) && is_component(p, b, 1)) && !(is_component(p, a, 1) && is_component(p, b, 0)))
        return false;
    if (p->fn)
        p->fn(p->user, &(OperatorPart){body->prim.id, p->depth, p->path});
    return true;
}

bool operator_parts(const Core *lambda, OperatorPartFn fn, void *user)
{
    if (lambda->kind != CORE_LAMBDA || lambda->lambda.n != 2)
        return false;
    Parts p = {.lambda = lambda};
    if (!combines(&p, lambda->lambda.body))
        return false;
    p.fn = fn;
    p.user = user;
    return !fn || combines(&p, lambda->lambda.body);
}
