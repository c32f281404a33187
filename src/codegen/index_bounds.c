/* Upper bounds of indices, over the sizes, and the conditions under which they are ints. */
#include "codegen/index_bounds.h"

bool index_not_negative(Bounds *b, Nat nat) { return nat_le(b->ctx, b->facts, nat_const(b->ctx, 0), nat); }

typedef struct OtherVars {
    const CoreEntry *entry;
    bool found;
} OtherVars;

static void find_other(void *user, Nat var)
{
    OtherVars *o = user;
    for (int i = 0; o->entry && i < o->entry->n_sizes; i++)
        if (o->entry->sizes[i] == var)
            return;
    o->found = true;
}

Nat index_highest(Bounds *b, Nat nat)
{
    OtherVars others = {b->kernel->entry, false};
    nat_each_var(b->ctx, nat, find_other, &others);
    return others.found ? index_bound(b, nat) : nat;
}

static Nat bound_var(Bounds *b, Nat var)
{
    const ImpKernel *k = b->kernel;
    for (int i = b->vars.n - 1; i >= 0; i--)
        if (b->vars.at[i] == var)
            return b->most.at[i];
    for (int a = 0; a < 3; a++) {
        if (var == k->grid[a])
            return nat_const(b->ctx, LAUNCH_MAX_GRID);
        if (var == k->block[a])
            return nat_add_k(b->ctx, index_mentions_device(b->ctx, k->blocks[a]) ? nat_const(b->ctx, LAUNCH_MAX_GRID) : k->blocks[a], -1);
    }
    for (int i = 0; k->entry && i < k->entry->n_sizes; i++)
        if (var == k->entry->sizes[i])
            return var;
    if (imp_is_device_size(var) && var->device != NAT_TURN)
        return nat_const(b->ctx, LAUNCH_MAX_GRID);
    /* Thread ids and idx registers have a bound from the start. What has none is an idx that the sizes bound elsewhere. */
    return var->hi ? index_highest(b, var->hi) : nat_const(b->ctx, INDEX_MAX / 4);
}

/* c * (a / c) <= a, so that a guard names the size and not its number of tiles. */
static Nat without_tiles(Bounds *b, Nat nat)
{
    Ctx *ctx = b->ctx;
    if (nat->kind != NAT_SUM)
        return nat;
    Nat sum = nat_const(ctx, 0);
    bool changed = false;
    for (int i = 0; i < nat->n_terms; i++) {
        const NatTerm *t = &nat->terms[i];
        Nat product = nat_const(ctx, t->coef);
        bool done = false;
        for (int j = 0; j < t->n_factors; j++) {
            Nat f = t->factors[j];
            if (!done && t->coef > 0 && f->kind == NAT_DIV && nat_is_const(f->b) && t->coef % f->b->value == 0 && index_not_negative(b, f->a)) {
                product = nat_div(ctx, product, f->b);
                f = f->a;
                done = changed = true;
            }
            product = nat_mul(ctx, product, f);
        }
        sum = nat_add(ctx, sum, product);
    }
    return changed ? sum : nat;
}

/* x - n % 8 <= x: a host cannot check a remainder in double, and the difference is small. */
static Nat without_remainders(Bounds *b, Nat nat)
{
    Nat sum = nat_const(b->ctx, 0);
    bool changed = false;
    for (int i = 0; i < nat->n_terms; i++) {
        const NatTerm *t = &nat->terms[i];
        bool remainder = false, positive = true;
        Nat product = nat_const(b->ctx, t->coef);
        for (int j = 0; j < t->n_factors; j++) {
            remainder |= t->factors[j]->kind == NAT_MOD;
            positive = positive && index_not_negative(b, t->factors[j]);
            product = nat_mul(b->ctx, product, t->factors[j]);
        }
        if (t->coef < 0 && remainder && positive)
            changed = true;
        else
            sum = nat_add(b->ctx, sum, product);
    }
    return changed ? sum : nat;
}

static bool is_product(Nat nat) { return nat->kind == NAT_SUM && nat->terms[0].n_factors > 1; }

/* Is a term a product of so many factors that it may leave 64 bits, unless a part of it was checked? */
static bool is_long(Nat nat)
{
    bool is = false;
    for (int i = 0; nat->kind == NAT_SUM && i < nat->n_terms; i++)
        is |= nat->terms[i].n_factors > 2;
    return is;
}

/* The guard becomes a higher one, before what is checked with its help. */
static void raise_guard(IndexGuards *guards, int i, Nat nat)
{
    int n = 0;
    for (int k = 0; k < guards->at_most_max.n; k++)
        if (k == i || guards->at_most_max.at[k] != nat)
            guards->at_most_max.at[n++] = k == i ? nat : guards->at_most_max.at[k];
    guards->at_most_max.n = n;
}

/* Indices of neighbours differ by constants, and the highest of them stands for all. True: a guard implies this one, or has become it. */
static bool require_as_neighbour(Bounds *b, Nat nat)
{
    IndexGuards *guards = b->guards;
    for (int i = 0; i < guards->at_most_max.n; i++) {
        Nat *old = &guards->at_most_max.at[i], d = nat_sub(b->ctx, nat, *old);
        if (!nat_is_const(d))
            continue;
        if (d->value > 0 && !is_product(nat)) { /* it may imply others, too */
            memmove(old, old + 1, sizeof *old * (size_t)(guards->at_most_max.n - i - 1));
            guards->at_most_max.n--;
            return false;
        }
        if (d->value > 0)
            raise_guard(guards, i, nat);
        return true;
    }
    return false;
}

/* The guards that are left are facts; those that one of them implies would only slow the proofs. */
static void know_guards(Bounds *b)
{
    b->facts = nat_facts_new(b->ctx, b->known);
    for (int i = 0; i < b->guards->at_most_max.n; i++)
        nat_fact_le(b->ctx, b->facts, b->guards->at_most_max.at[i], nat_const(b->ctx, INDEX_MAX));
}

/* Adds a condition, unless the ones before imply it; takes out what it implies itself. */
static void require(Bounds *b, Nat nat)
{
    bool is_of_many = is_long(nat);
    int n = 0;
    if (nat->kind == NAT_MAX) {
        require(b, nat->a);
        require(b, nat->b);
        return;
    }
    if (require_as_neighbour(b, nat))
        return;
    for (int i = 0; i < b->guards->at_most_max.n; i++)
        if (nat_le(b->ctx, b->facts, nat, b->guards->at_most_max.at[i]))
            return;
    for (int i = 0; i < b->guards->at_most_max.n; i++) {
        Nat old = b->guards->at_most_max.at[i];
        /* A product may be what keeps the check of a longer one from overflowing: it stays. */
        bool keep = (is_of_many && is_product(old)) || !nat_le(b->ctx, b->facts, old, nat);
        if (keep)
            b->guards->at_most_max.at[n++] = old;
    }
    b->guards->at_most_max.n = n;
    vec_push(b->ctx, &b->guards->at_most_max, nat);
    know_guards(b);
}

/* Products of three sizes and more might leave 64 bits while they are checked: their parts are checked first. */
static void require_parts(Bounds *b, Nat nat)
{
    for (int i = 0; i < nat->n_terms; i++) {
        const NatTerm *t = &nat->terms[i];
        Nat product = t->n_factors ? t->factors[t->n_factors - 1] : NULL;
        for (int j = t->n_factors - 2; j > 0; j--) { /* in the order of nat_print_c */
            product = nat_mul(b->ctx, product, t->factors[j]);
            require(b, product);
        }
    }
}

void index_guard(Bounds *b, Nat nat)
{
    if (table_get(&b->done, nat))
        return;
    table_put(b->ctx, &b->done, nat, b);
    NatRange r = nat_range(b->ctx, b->facts, nat);
    if (nat_is_error(nat) || nat->kind == NAT_VAR || (r.has_hi && r.hi <= INDEX_MAX)) /* sizes are checked anyway */
        return;
    if (nat_le(b->ctx, b->known, nat, nat_const(b->ctx, INDEX_MAX)))
        return;
    nat = without_remainders(b, without_tiles(b, nat));
    require_parts(b, nat);
    require(b, nat);
}

/* What the positive terms add up to at most: a bound of what is known not to be negative. */
static Nat bound_up(Bounds *b, Nat nat)
{
    Ctx *ctx = b->ctx;
    if (nat->kind != NAT_SUM)
        return index_bound(b, nat);
    Nat up = nat_const(ctx, 0);
    for (int i = 0; i < nat->n_terms; i++) {
        const NatTerm *t = &nat->terms[i];
        Nat product = nat_const(ctx, t->coef > 0 ? t->coef : 0);
        for (int j = 0; j < t->n_factors && t->coef > 0; j++)
            product = nat_mul(ctx, product, index_bound(b, t->factors[j]));
        up = nat_add(ctx, up, product);
    }
    return up;
}

/* Is the factor this one, or a whole multiple of it? n is 4 * (n / 4) where 4 divides it. 0: it is none. */
static int64_t multiple_of(Bounds *b, Nat factor, Nat of)
{
    if (factor == of)
        return 1;
    bool part = of->kind == NAT_DIV && of->a == factor && nat_is_const(of->b);
    return part && nat_divides(b->ctx, b->here, of->b, factor) ? of->b->value : 0;
}

/* Takes the sizes that the divisor is a product of out of the factors: `taken` are so many times these. 0: not all of them are among the factors. */
static int64_t take_factors(Bounds *b, const NatTerm *t, int quotient, Nat divisor, bool *taken)
{
    const NatTerm one = {.coef = 1, .n_factors = 1, .factors = &divisor}, *d = divisor->kind == NAT_SUM ? &divisor->terms[0] : &one;
    int64_t times = 1, more = 0;
    if (divisor->kind == NAT_SUM && (divisor->n_terms != 1 || d->coef < 1))
        return 0;
    memset(taken, 0, sizeof *taken * (size_t)t->n_factors);
    for (int k = 0; k < d->n_factors; k++) {
        int j = 0;
        while (j < t->n_factors && (j == quotient || taken[j] || !(more = multiple_of(b, t->factors[j], d->factors[k]))))
            j++;
        if (j == t->n_factors)
            return 0;
        taken[j] = true;
        times *= more;
    }
    return times;
}

/* What a factor is below: the end of its loop, or the divisor of a remainder. NULL: neither. */
static Nat end_of(const Bounds *b, Nat factor)
{
    for (int v = b->vars.n - 1; v >= 0; v--)
        if (b->vars.at[v] == factor)
            return b->ends.at[v];
    return factor->kind == NAT_MOD ? factor->b : NULL;
}

/* c * d * i for an i < a / d: at most c * (a - d), whatever d is. NULL: it is no such product. */
static Nat bound_strided(Bounds *b, const NatTerm *t)
{
    Ctx *ctx = b->ctx;
    bool *taken = NEWN(ctx, bool, t->n_factors + 1);
    int64_t coef = t->coef < 0 ? -t->coef : t->coef;
    for (int j = 0; j < t->n_factors; j++) {
        Nat end = end_of(b, t->factors[j]);
        if (!end || end->kind != NAT_DIV || nat_is_const(end->b))
            continue;
        int64_t part = end->b->kind == NAT_SUM ? end->b->terms[0].coef : 1, times = coef % part == 0 ? take_factors(b, t, j, end->b, taken) : 0;
        Nat stride = nat_const(ctx, coef);
        for (int k = 0; k < t->n_factors; k++)
            stride = k == j ? stride : nat_mul(ctx, stride, t->factors[k]);
        if (!times && !nat_le(ctx, b->facts, stride, end->b))
            continue;
        if (t->factors[j]->kind == NAT_MOD)
            index_bound(b, t->factors[j]);
        Nat most = nat_mul_k(ctx, bound_up(b, nat_sub(ctx, end->a, end->b)), times ? times * (coef / part) : 1);
        for (int k = 0; k < t->n_factors && times; k++)
            if (k != j && !taken[k])
                most = nat_mul(ctx, most, index_bound(b, t->factors[k]));
        return most;
    }
    return NULL;
}

/* c * d * (a / (64 * d)) <= c * (a / 64), for sizes in d, too. NULL: it is no such product. */
static Nat bound_quotient(Bounds *b, const NatTerm *t)
{
    Ctx *ctx = b->ctx;
    bool *taken = NEWN(ctx, bool, t->n_factors + 1);
    for (int q = 0; q < t->n_factors; q++) {
        Nat f = t->factors[q];
        if (f->kind != NAT_DIV || nat_is_const(f->b) || !index_not_negative(b, f->a))
            continue;
        int64_t times = take_factors(b, t, q, f->b, taken);
        if (!times)
            continue;
        index_bound(b, f);
        Nat whole = nat_const(ctx, f->b->kind == NAT_SUM ? f->b->terms[0].coef : 1);
        Nat product = nat_mul_k(ctx, nat_div(ctx, nat_mul_k(ctx, index_bound(b, f->a), times), whole), t->coef < 0 ? -t->coef : t->coef);
        for (int k = 0; k < t->n_factors; k++)
            if (k != q && !taken[k])
                product = nat_mul(ctx, product, index_bound(b, t->factors[k]));
        return product;
    }
    return NULL;
}

/* Upper bounds of what the positive and the negative terms add up to: C adds them in that order, so no partial sum is larger. */
static Nat bound_sum(Bounds *b, Nat nat)
{
    Ctx *ctx = b->ctx;
    Nat up = nat_const(ctx, 0), down = up;
    for (int i = 0; i < nat->n_terms; i++) {
        const NatTerm *t = &nat->terms[i];
        Nat known = bound_strided(b, t);
        known = known ? known : bound_quotient(b, t);
        Nat product = known ? known : nat_const(ctx, t->coef < 0 ? -t->coef : t->coef);
        for (int j = 0; j < t->n_factors && !known; j++)
            product = nat_mul(ctx, product, index_bound(b, t->factors[j]));
        if (t->coef < 0)
            down = nat_add(ctx, down, product);
        else
            up = nat_add(ctx, up, product);
    }
    index_guard(b, up);
    index_guard(b, down);
    return index_not_negative(b, nat) ? up : nat_max(ctx, up, down);
}

/* An index exists only where an element does, and then what its array's lengths divide by is not 0: only other divisors are guarded. */
static void divides_by(Bounds *b, Nat divisor)
{
    if (!b->element && !nat_le(b->ctx, b->here, nat_const(b->ctx, 1), divisor))
        vec_push(b->ctx, &b->guards->at_least_one, divisor);
}

/* Does the term have all factors of the other one? If so, the term without them. */
static Nat term_over(Ctx *ctx, const NatTerm *t, const NatTerm *divisor)
{
    Nat left = nat_const(ctx, t->coef);
    int k = 0, found = 0;
    for (; k < t->n_factors; k++) {
        int times = 0, wanted = 0, before = 0; /* of this factor */
        for (int i = 0; i < divisor->n_factors; i++)
            wanted += divisor->factors[i] == t->factors[k];
        for (int i = 0; i < t->n_factors; i++) {
            times += t->factors[i] == t->factors[k];
            before += i < k && t->factors[i] == t->factors[k];
        }
        if (before < wanted && wanted <= times)
            found++;
        else
            left = nat_mul(ctx, left, t->factors[k]);
    }
    return found == divisor->n_factors ? left : NULL;
}

/* At least a / divisor, where that is natural and a is at most `up`: the divisor is cancelled in the terms that have it. */
static Nat bound_of_quotient(Bounds *b, Nat up, Nat divisor)
{
    Ctx *ctx = b->ctx;
    if (nat_is_const(divisor))
        return nat_div(ctx, up, divisor);
    if (up->kind == NAT_MIN) /* at most either quotient: the divisor may cancel in one */
        return nat_min(ctx, bound_of_quotient(b, up->a, divisor), bound_of_quotient(b, up->b, divisor));
    NatRange range = nat_range(ctx, b->facts, divisor);
    bool product = divisor->kind == NAT_SUM && divisor->n_terms == 1;
    int64_t least = product && divisor->terms[0].coef > 1 ? divisor->terms[0].coef : 1; /* it is no 0 */
    least = range.has_lo && range.lo > least ? range.lo : least;
    Nat by_least = without_tiles(b, nat_div(ctx, without_tiles(b, up), nat_const(ctx, least)));
    if (divisor->kind == NAT_SUM && (divisor->n_terms != 1 || divisor->terms[0].coef < 1))
        return by_least;
    const NatTerm one = {.coef = 1, .n_factors = 1, .factors = &divisor}, *d = divisor->kind == NAT_SUM ? &divisor->terms[0] : &one;
    Nat sum = nat_const(ctx, 0);
    up = without_tiles(b, nat_div(ctx, without_tiles(b, up), nat_const(ctx, d->coef)));
    if (up->kind != NAT_SUM)
        return by_least;
    bool cancelled = false;
    for (int i = 0; i < up->n_terms; i++) {
        const NatTerm *t = &up->terms[i];
        Nat over = term_over(ctx, t, d), whole = nat_const(ctx, t->coef);
        for (int k = 0; k < t->n_factors; k++)
            whole = nat_mul(ctx, whole, t->factors[k]);
        if (over || t->coef > 0)
            sum = nat_add(ctx, sum, over ? over : whole);
        cancelled |= over != NULL;
    }
    return cancelled ? sum : by_least;
}

/* How many times the divisor is the nat? NULL: it is no product with that factor. */
static Nat times_of(Ctx *ctx, Nat nat, Nat divisor)
{
    const NatTerm one = {.coef = 1, .n_factors = 1, .factors = &divisor};
    if (nat->kind != NAT_SUM || nat->n_terms != 1 || divisor->kind == NAT_SUM || nat_is_const(divisor))
        return NULL;
    return term_over(ctx, &nat->terms[0], &one);
}

/* The most that conditions around let it be; NULL: they do not mention it. */
static Nat bound_by_condition(const Bounds *b, Nat nat)
{
    for (int i = b->vars.n - 1; nat->kind != NAT_VAR && i >= 0; i--)
        if (b->vars.at[i] == nat)
            return b->most.at[i];
    return NULL;
}

Nat index_bound(Bounds *b, Nat nat)
{
    Ctx *ctx = b->ctx;
    Nat most = bound_by_condition(b, nat);
    if (most)
        return most;
    switch (nat->kind) {
    case NAT_ERROR:
        return nat;
    case NAT_CONST:
        return nat->value < 0 ? nat_sub(ctx, nat_const(ctx, 0), nat) : nat;
    case NAT_VAR:
        return bound_var(b, nat);
    case NAT_SUM:
        return bound_sum(b, nat);
    case NAT_DIV: {
        Nat a = index_bound(b, nat->a);
        index_bound(b, nat->b);
        divides_by(b, nat->b);
        if (!index_not_negative(b, nat->a))
            return a;
        Nat end = end_of(b, nat->a), times = end ? times_of(ctx, end, nat->b) : NULL;
        if (times) /* i / d for an i < c * d */
            return nat_add_k(ctx, index_bound(b, times), -1);
        Nat rest = nat_sub(ctx, nat->a, nat->b); /* (d + n - 1) / d is at most 1 + n / d */
        if (!nat_is_const(nat->b) && nat_nodes(rest) < nat_nodes(nat->a))
            return nat_add_k(ctx, bound_of_quotient(b, bound_up(b, rest), nat->b), 1);
        return bound_of_quotient(b, a, nat->b);
    }
    case NAT_MOD: {
        Nat divisor = index_bound(b, nat->b);
        index_bound(b, nat->a);
        divides_by(b, nat->b);
        return nat_add_k(ctx, divisor, -1);
    }
    case NAT_MIN: {
        Nat x = index_bound(b, nat->a), y = index_bound(b, nat->b);
        return index_not_negative(b, nat) ? nat_min(ctx, x, y) : nat_max(ctx, x, y);
    }
    case NAT_MAX: {
        Nat x = index_bound(b, nat->a), y = index_bound(b, nat->b);
        return nat_max(ctx, x, y);
    }
    case NAT_POW: {
        Nat p = nat_pow(ctx, index_bound(b, nat->a), index_bound(b, nat->b));
        index_guard(b, p);
        return p;
    }
    case NAT_LOG2:
        index_bound(b, nat->a);
        return nat_const(ctx, 31);
    }
    return nat;
}
