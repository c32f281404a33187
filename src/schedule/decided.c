/* Conditions that are decided where they are asked: an array that is computed where it is read brings
 * the conditions of its own place with it, and stands under the same ones already.
 *
 *   if c then (if c then x else 0) else (if not c then y else 0)  ->  if c then x else y */
#include "ir/key.h"
#include "schedule/shape.h"

typedef struct Decision {
    const Core *cond;
    bool holds;
} Decision;

typedef struct Decide {
    Ctx *ctx;
    VEC(Decision) known;      /* around the term */
    VEC(const Core *) named;  /* `let`s of conditions around it */
} Decide;

/* What a name stands for. */
static const Core *meaning(const Decide *d, const Core *cond)
{
    for (int i = d->named.n - 1; i >= 0 && cond->kind == CORE_VAR; i--)
        if (d->named.at[i]->let.var == cond->var)
            cond = d->named.at[i]->let.value;
    return cond;
}

/* What follows from it, too. */
static void add(Decide *d, const Core *cond, bool holds)
{
    cond = meaning(d, cond);
    bool prim = cond->kind == CORE_PRIM;
    if (prim && cond->prim.id == P_not) {
        add(d, cond->prim.args[0], !holds);
        return;
    }
    if (prim && cond->prim.id == (holds ? P_and : P_or)) {
        add(d, cond->prim.args[0], holds);
        add(d, cond->prim.args[1], holds);
        return;
    }
    vec_push(d->ctx, &d->known, ((Decision){cond, holds}));
}

static bool is_known(const Decide *d, const Core *cond, bool *holds)
{
    cond = meaning(d, cond);
    if (cond->kind == CORE_PRIM && cond->prim.id == P_not) {
        bool known = is_known(d, cond->prim.args[0], holds);
        *holds = !*holds;
        return known;
    }
    for (int i = 0; i < d->known.n; i++)
        if (core_same(d->ctx, d->known.at[i].cond, cond)) {
            *holds = d->known.at[i].holds;
            return true;
        }
    if (cond->kind == CORE_PRIM && (cond->prim.id == P_and || cond->prim.id == P_or)) {
        bool one = cond->prim.id == P_or, second = false; /* the value of one operand that is the value of both */
        bool a = is_known(d, cond->prim.args[0], holds);
        if (a && *holds == one)
            return true;
        bool b = is_known(d, cond->prim.args[1], &second);
        if (b && (a || second == one)) {
            *holds = second;
            return true;
        }
    }
    return false;
}

static Core *decide(Decide *d, Core *term);

static Core *decide_branch(Decide *d, const Core *cond, bool holds, Core *branch)
{
    int known = d->known.n;
    add(d, cond, holds);
    branch = decide(d, branch);
    d->known.n = known;
    return branch;
}

static Core *decide(Decide *d, Core *term)
{
    bool choice = term->kind == CORE_IF, holds = false;
    if (choice && is_known(d, term->cond.cond, &holds))
        return decide(d, holds ? term->cond.then : term->cond.otherwise);
    Core *new = term;
    int named = d->named.n;
    if (term->kind == CORE_LET && term->let.var->type->kind == TY_SCALAR && term->let.var->type->scalar == SC_BOOL)
        vec_push(d->ctx, &d->named, term);
    for (int i = 0; i < term_children(term); i++) {
        Core *part = term_child(term, i);
        Core *decided = choice && i > 0 ? decide_branch(d, term->cond.cond, i == 1, part) : decide(d, part);
        if (decided == part)
            continue;
        new = new == term ? term_copy(d->ctx, term) : new;
        term_set_child(new, i, decided);
    }
    d->named.n = named;
    return new;
}

Core *conditions_decided(Ctx *ctx, Core *term) { return decide(&(Decide){.ctx = ctx}, term); }
