/* Which kernels can sizes in a range choose? By intervals: each nat and each test gets bounds of what it can be, wide rather than narrow. So no kernel that some sizes choose is
 * left out; one that none do may be in. */
#include "internal.h"

__extension__ typedef __int128 Wide;
#define ENDLESS ((Wide)1 << 60) /* beyond all that a launch admits: this or anything more */

typedef struct Interval {
    Wide lo, hi;
} Interval;

typedef struct Box {
    const CoreEntry *core;
    int sms;
    const int64_t *least, *most; /* of each size; or NULL */
} Box;

static const Interval ANY = {-ENDLESS, ENDLESS};

static Wide clamp(Wide x) { return x > ENDLESS ? ENDLESS : x < -ENDLESS ? -ENDLESS : x; }
static Wide lesser(Wide a, Wide b) { return a < b ? a : b; }
static Wide larger(Wide a, Wide b) { return a > b ? a : b; }

static Interval product(Interval a, Interval b)
{
    Wide p[] = {a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi};
    return (Interval){clamp(lesser(lesser(p[0], p[1]), lesser(p[2], p[3]))), clamp(larger(larger(p[0], p[1]), larger(p[2], p[3])))};
}

static Wide floor_of(Wide a, Wide b) { return a / b - (a % b != 0 && a < 0); }

static Interval quotient(Interval a, Interval b)
{
    Wide small = larger(b.lo, 1), large = b.hi; /* a launch whose divisor is below 1 has no value */
    if (large < small)
        return ANY;
    return (Interval){a.lo == -ENDLESS ? -ENDLESS : floor_of(a.lo, a.lo < 0 ? small : large), a.hi == ENDLESS ? ENDLESS : floor_of(a.hi, a.hi < 0 ? large : small)};
}

static Interval power(Interval a, Interval b)
{
    Wide lo = 1, hi = 1;
    if (a.lo < 0 || b.lo < 0)
        return ANY;
    for (Wide i = 0; i < b.lo && lo < ENDLESS && a.lo != 1 && lo; i++)
        lo = clamp(lo * a.lo);
    for (Wide i = 0; i < b.hi && hi < ENDLESS && a.hi > 1; i++)
        hi = clamp(hi * a.hi);
    return (Interval){a.lo == 0 ? 0 : lo, larger(hi, 1)};
}

static Interval of_variable(const Box *box, Nat var)
{
    for (int i = 0; i < box->core->n_sizes; i++)
        if (box->core->sizes[i] == var)
            return (Interval){box->least ? box->least[i] : 0, box->most && box->most[i] < WIDE_SIZE_MAX ? box->most[i] : WIDE_SIZE_MAX};
    if (var->device == NAT_NUM_SM)
        return (Interval){box->sms, box->sms};
    return var->device == NAT_MAX_RESIDENT ? (Interval){1, ENDLESS} : ANY;
}

static Interval interval(const Box *box, Nat nat)
{
    Interval sum = {0, 0}, a, b;
    switch (nat->kind) {
    case NAT_ERROR:
        return ANY;
    case NAT_CONST:
        return (Interval){clamp(nat->value), clamp(nat->value)};
    case NAT_VAR:
        return of_variable(box, nat);
    case NAT_SUM:
        for (int i = 0; i < nat->n_terms; i++) {
            Interval term = {clamp(nat->terms[i].coef), clamp(nat->terms[i].coef)};
            for (int j = 0; j < nat->terms[i].n_factors; j++)
                term = product(term, interval(box, nat->terms[i].factors[j]));
            sum = (Interval){clamp(sum.lo + term.lo), clamp(sum.hi + term.hi)};
        }
        return sum;
    case NAT_DIV:
        return quotient(interval(box, nat->a), interval(box, nat->b));
    case NAT_MOD:
        a = interval(box, nat->a);
        b = interval(box, nat->b);
        return a.lo >= 0 && a.hi < b.lo ? a : (Interval){0, a.lo >= 0 ? lesser(a.hi, larger(b.hi - 1, 0)) : larger(b.hi - 1, 0)};
    case NAT_MIN:
        a = interval(box, nat->a);
        b = interval(box, nat->b);
        return (Interval){lesser(a.lo, b.lo), lesser(a.hi, b.hi)};
    case NAT_MAX:
        a = interval(box, nat->a);
        b = interval(box, nat->b);
        return (Interval){larger(a.lo, b.lo), larger(a.hi, b.hi)};
    case NAT_POW:
        return power(interval(box, nat->a), interval(box, nat->b));
    case NAT_LOG2:
        return (Interval){0, 63};
    }
    return ANY;
}

/* ---- tests ---------------------------------------------------------------------------------------------------------------------- */

typedef struct Chance {
    bool holds, fails; /* can it? */
} Chance;

static Chance test(const Box *box, const Core *core);

/* False where it is no number of the sizes. */
static bool number(const Box *box, const Core *core, Interval *value)
{
    if (core->kind == CORE_SIZE)
        *value = interval(box, core->size);
    else if (core->kind == CORE_LIT && scalar_is_int(core->lit.type))
        *value = (Interval){clamp(scalar_cast(SC_I64, core->lit).i), clamp(scalar_cast(SC_I64, core->lit).i)};
    else
        return false;
    return true;
}

static Chance comparison(const Box *box, const Core *core)
{
    Interval a, b;
    bool equal, unequal, less, more;
    if (core->prim.n_args != 2 || !number(box, core->prim.args[0], &a) || !number(box, core->prim.args[1], &b))
        return (Chance){true, true};
    equal = a.lo <= b.hi && b.lo <= a.hi;
    unequal = !(a.lo == a.hi && b.lo == b.hi && a.lo == b.lo) || a.lo == ENDLESS;
    less = a.lo < b.hi || b.hi == ENDLESS;
    more = a.hi > b.lo || a.hi == ENDLESS;
    switch (core->prim.id) {
    case P_eq:
        return (Chance){equal, unequal};
    case P_ne:
        return (Chance){unequal, equal};
    case P_lt:
        return (Chance){less, equal || more};
    case P_le:
        return (Chance){equal || less, more};
    case P_gt:
        return (Chance){more, equal || less};
    case P_ge:
        return (Chance){equal || more, less};
    default:
        return (Chance){true, true};
    }
}

static Chance test(const Box *box, const Core *core)
{
    Chance a, b;
    if (core->kind != CORE_PRIM)
        return (Chance){true, true};
    switch (core->prim.id) {
    case P_not:
        a = test(box, core->prim.args[0]);
        return (Chance){a.fails, a.holds};
    case P_and:
        a = test(box, core->prim.args[0]);
        b = test(box, core->prim.args[1]);
        return (Chance){a.holds && b.holds, a.fails || b.fails};
    case P_or:
        a = test(box, core->prim.args[0]);
        b = test(box, core->prim.args[1]);
        return (Chance){a.holds || b.holds, a.fails && b.fails};
    default:
        return comparison(box, core);
    }
}

/* ---- kernels --------------------------------------------------------------------------------------------------------------------- */

static Chance are_met(const Box *box, const ImpWhens *when)
{
    Chance all = {true, false};
    for (int i = 0; i < when->n; i++) {
        Chance c = test(box, when->at[i].test);
        all.holds &= when->at[i].holds ? c.holds : c.fails;
        all.fails |= when->at[i].holds ? c.fails : c.holds;
    }
    return all;
}

static int alignment(const Variant *v, int argument)
{
    int most = 0;
    for (int i = 0; i < v->n_buffers; i++)
        if (v->buffers[i].argument == argument && v->buffers[i].align > most)
            most = v->buffers[i].align;
    return most;
}

/* Are addresses that are not aligned for `other` not aligned for v, either? */
static bool asks_as_much(const Plan *plan, const Variant *v, const Variant *other)
{
    for (int k = 0; k < plan->n_arguments; k++)
        if (alignment(v, k) < alignment(other, k))
            return false;
    return true;
}

/* index_guards_admit. */
static Chance admits(const Box *box, const Variant *v)
{
    Chance all = {true, false};
    Wide size = v->kernel->wide ? WIDE_SIZE_MAX : INDEX_MAX, most = v->kernel->wide ? WIDE_INDEX_MAX : INDEX_MAX;
    for (int i = 0; i < box->core->n_sizes; i++) {
        Interval n = of_variable(box, box->core->sizes[i]);
        all = (Chance){all.holds && n.lo <= size, all.fails || n.hi > size};
    }
    for (int i = 0; i < v->guards.at_least_one.n; i++) {
        Interval n = interval(box, v->guards.at_least_one.at[i]);
        all = (Chance){all.holds && n.hi >= 1, all.fails || n.lo < 1};
    }
    for (int i = 0; i < v->guards.at_most_max.n; i++) {
        Interval n = interval(box, v->guards.at_most_max.at[i]);
        all = (Chance){all.holds && n.lo <= most, all.fails || n.hi > most};
    }
    return all;
}

/* Can a launch that passes by `taken` take v? */
static bool is_beside(const Plan *plan, const Variant *v, const Variant *taken) { return !taken || !asks_as_much(plan, v, taken); }

void plan_in_range(const Plan *plan, int sms, const int64_t *least, const int64_t *most, bool *wanted)
{
    const Box box = {plan->core, sms, least, most};
    for (int i = 0; i < plan->n_steps; i++) {
        const Step *step = &plan->steps[i];
        /* What addresses alone can keep from being chosen, by all sizes and by those that meet the conditions at hand. */
        const Variant *taken = NULL, *taken_here = NULL;
        for (int k = 0; k < step->n; k++) {
            const Choice *choice = &step->choices[k];
            Chance met = are_met(&box, &choice->when), fits = admits(&box, choice->variant);
            if (choice->form == 0)
                taken_here = NULL;
            if (met.holds && fits.holds && is_beside(plan, choice->variant, taken) && is_beside(plan, choice->variant, taken_here))
                wanted[choice->variant->number] = true;
            if (!fits.fails)
                taken_here = choice->variant;
            if (!fits.fails && !met.fails)
                taken = choice->variant;
        }
    }
}
