/* Numbers that a host function works out more than once in an expression get names:
 *
 *     const long long count = nat_max(nat_min(numSM*8 / tiles, 256), 3);
 *     long long blocks = (count*16 + m - 1) / (count*16); */
#include "codegen/cuda_host.h"

enum { WORTH_A_NAME = 8 }; /* nodes; less is written again */

typedef struct Repeated {
    Ctx *ctx;
    VEC(Nat) seen;
    Nat found; /* the largest that is there twice */
} Repeated;

static void look(Repeated *r, Nat nat)
{
    if (!nat || !nat->has_vars)
        return;
    bool worth = (nat->kind == NAT_DIV || nat->kind == NAT_MOD || nat->kind == NAT_MIN || nat->kind == NAT_MAX) && nat_nodes(nat) >= WORTH_A_NAME;
    for (int i = 0; worth && i < r->seen.n; i++)
        if (r->seen.at[i] == nat && (!r->found || nat_nodes(nat) > nat_nodes(r->found)))
            r->found = nat;
    if (worth)
        vec_push(r->ctx, &r->seen, nat);
    look(r, nat->a);
    look(r, nat->b);
    for (int i = 0; i < nat->n_terms; i++)
        for (int k = 0; k < nat->terms[i].n_factors; k++)
            look(r, nat->terms[i].factors[k]);
}

static Nat repeated_in(Ctx *ctx, Nat nat)
{
    Repeated r = {.ctx = ctx};
    look(&r, nat);
    return r.found;
}

bool host_has_counts(const Host *h, Nat nat) { return repeated_in(h->c->ctx, nat) != NULL; }

/* The largest first: what it is computed from may be repeated in it alone. */
Nat host_name_counts(Host *h, Nat nat)
{
    Cuda *c = h->c;
    for (Nat found; (found = repeated_in(c->ctx, nat));) {
        Nat value = host_name_counts(h, found);
        const NatRange range = nat_range(c->ctx, c->facts, found);
        Nat var = nat_var(c->ctx, "count", range.has_lo ? nat_const(c->ctx, range.lo) : NULL, NULL);
        const char *text = host_nat(h, value, C_ANY), *name = c_name_claim(c->names, "count");
        c_names_set(c->names, var, name);
        host_indent(h);
        sb_printf(c->out, "const long long %s = %s;\n", name, text);
        nat = nat_subst(c->ctx, nat, found, var);
    }
    return nat;
}
