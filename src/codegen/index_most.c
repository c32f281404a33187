/* How large a number of the host can be, where no size is above WIDE_SIZE_MAX: what cannot leave
 * WIDE_INDEX_MAX needs no test before a launch. In double, as the tests of the host are. */
#include "codegen/index_guards.h"

#include <math.h>

/* The most that the value, and all that it is computed from, can be where no size is above
 * WIDE_SIZE_MAX. */
typedef struct Most {
    double value, part;
} Most;

static Most most_of(Nat nat);

static Most most_of_sum(Nat nat)
{
    Most sum = {0, 0};
    for (int i = 0; i < nat->n_terms; i++) {
        double product = (double)nat->terms[i].coef;
        for (int k = 0; k < nat->terms[i].n_factors; k++) {
            const Most factor = most_of(nat->terms[i].factors[k]);
            product *= factor.value;
            sum.part = fmax(sum.part, factor.part);
        }
        sum.part = fmax(sum.part, fabs(product));
        sum.value += fmax(product, 0);
    }
    return (Most){sum.value, fmax(sum.part, sum.value)};
}

static Most most_of(Nat nat)
{
    Most a = {INFINITY, INFINITY}, b = a;
    if (nat->a && nat->b) {
        a = most_of(nat->a);
        b = most_of(nat->b);
    }
    const double part = fmax(a.part, b.part), divisor = nat->b && nat_is_const(nat->b) && nat->b->value > 0 ? b.value : 1;
    switch (nat->kind) {
    case NAT_ERROR: case NAT_POW: break;
    case NAT_CONST: return (Most){(double)nat->value, fabs((double)nat->value)};
    case NAT_VAR: return (Most){(double)WIDE_SIZE_MAX, (double)WIDE_SIZE_MAX};
    case NAT_LOG2: return (Most){62, 62};
    case NAT_SUM: return most_of_sum(nat);
    case NAT_DIV: return (Most){a.value / divisor, part};
    case NAT_MOD: return (Most){b.value, part};
    case NAT_MIN: return (Most){fmin(a.value, b.value), part};
    case NAT_MAX: return (Most){fmax(a.value, b.value), part};
    }
    return (Most){INFINITY, INFINITY};
}

bool index_guards_small(Nat nat) { return most_of(nat).part <= (double)WIDE_INDEX_MAX; }
