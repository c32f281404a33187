/* Nats in other memory: see NatCopies. */
#include "ir/nat_internal.h"

static const Nat *factors_copied(NatCopies *copies, const NatTerm *term)
{
    Nat *factors = NEWN(copies->to, Nat, term->n_factors + 1);
    for (int i = 0; i < term->n_factors; i++)
        factors[i] = nat_copied(copies, term->factors[i]);
    return factors;
}

static const NatTerm *terms_copied(NatCopies *copies, Nat a)
{
    NatTerm *terms = NEWN(copies->to, NatTerm, a->n_terms);
    for (int i = 0; i < a->n_terms; i++)
        terms[i] = (NatTerm){a->terms[i].coef, a->terms[i].n_factors, factors_copied(copies, &a->terms[i])};
    return terms;
}

Nat nat_copied(NatCopies *copies, Nat a)
{
    NatFull *copy = a ? table_get(&copies->done, a) : NULL;
    if (copy || !a)
        return copy ? &copy->nat : NULL;
    copy = NEW(copies->to, NatFull);
    table_put(copies->ctx, &copies->done, a, copy);
    *copy = *nat_full(a);
    copy->self[0] = &copy->nat;
    copy->mate = NULL;
    copy->nat.name = a->name ? ctx_printf(copies->to, "%s", a->name) : NULL;
    copy->nat.lo = nat_copied(copies, a->lo);
    copy->nat.hi = nat_copied(copies, a->hi);
    copy->nat.a = nat_copied(copies, a->a);
    copy->nat.b = nat_copied(copies, a->b);
    copy->nat.terms = a->n_terms ? terms_copied(copies, a) : NULL;
    return &copy->nat;
}
