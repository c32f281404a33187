#include "codegen/index_guards.h"

#include "codegen/walk.h"

bool kernel_shared_is_dynamic(const ImpKernel *k)
{
    return k->shared_bytes && (!nat_is_const(k->shared_bytes) || k->shared_bytes->value > LAUNCH_MAX_STATIC_SHARED);
}

int kernel_max_grid(const ImpKernel *k, int axis) { return axis == 0 && k->once[0] ? LAUNCH_MAX_GRID_ONCE_X : LAUNCH_MAX_GRID; }
Nat kernel_grid(Ctx *ctx, const ImpKernel *k, int axis) { return nat_min(ctx, k->blocks[axis], nat_const(ctx, kernel_max_grid(k, axis))); }

Nat kernel_cells(Ctx *ctx, const ImpKernel *k, const ImpBuf *buf)
{
    Nat n = buf->count;
    for (int a = 0; a < 3; a++)
        if (k->grid[a]->kind == NAT_VAR)
            n = nat_subst(ctx, n, k->grid[a], kernel_grid(ctx, k, a));
    return n;
}

/* ---- upper bounds ---------------------------------------------------------------------------------------------------- */

typedef struct Bounds {
    Ctx *ctx;
    const ImpKernel *kernel;
    NatFacts *known; /* the entry's facts */
    NatFacts *facts; /* these, and the guards so far */
    bool element;    /* the nat is about an element: an index, or what is computed with it */
    NatFacts *here;  /* these, and that the loops around are not empty */
    IndexGuards *guards;
    Table done;       /* looked at before: what follows from the facts then does so later */
    VEC(Nat) vars;    /* loop variables met so far, and of how much each stays below or at; sums of them that conditions around bound */
    VEC(Nat) most;
    VEC(Nat) ends;    /* beside vars: where the loop ends, or what the condition compares with */
    VEC(const ImpStmt *) bools; /* declarations of conditions with a name */
    VEC(Nat) names;   /* index parts with a name, and what they stand for */
    VEC(Nat) meant;
} Bounds;

static Nat bound(Bounds *b, Nat nat);

static bool not_negative(Bounds *b, Nat nat) { return nat_le(b->ctx, b->facts, nat_const(b->ctx, 0), nat); }

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

/* The most that a nat which is never negative can be; over the sizes it is what it is. */
static Nat highest(Bounds *b, Nat nat)
{
    OtherVars others = {b->kernel->entry, false};
    nat_each_var(b->ctx, nat, find_other, &others);
    return others.found ? bound(b, nat) : nat;
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
    return var->hi ? highest(b, var->hi) : nat_const(b->ctx, INDEX_MAX / 4);
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
            if (!done && t->coef > 0 && f->kind == NAT_DIV && nat_is_const(f->b) && t->coef % f->b->value == 0 && not_negative(b, f->a)) {
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
            positive = positive && not_negative(b, t->factors[j]);
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

static void guard(Bounds *b, Nat nat)
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
        return bound(b, nat);
    Nat up = nat_const(ctx, 0);
    for (int i = 0; i < nat->n_terms; i++) {
        const NatTerm *t = &nat->terms[i];
        Nat product = nat_const(ctx, t->coef > 0 ? t->coef : 0);
        for (int j = 0; j < t->n_factors && t->coef > 0; j++)
            product = nat_mul(ctx, product, bound(b, t->factors[j]));
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
            bound(b, t->factors[j]);
        Nat most = nat_mul_k(ctx, bound_up(b, nat_sub(ctx, end->a, end->b)), times ? times * (coef / part) : 1);
        for (int k = 0; k < t->n_factors && times; k++)
            if (k != j && !taken[k])
                most = nat_mul(ctx, most, bound(b, t->factors[k]));
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
        if (f->kind != NAT_DIV || nat_is_const(f->b) || !not_negative(b, f->a))
            continue;
        int64_t times = take_factors(b, t, q, f->b, taken);
        if (!times)
            continue;
        bound(b, f);
        Nat whole = nat_const(ctx, f->b->kind == NAT_SUM ? f->b->terms[0].coef : 1);
        Nat product = nat_mul_k(ctx, nat_div(ctx, nat_mul_k(ctx, bound(b, f->a), times), whole), t->coef < 0 ? -t->coef : t->coef);
        for (int k = 0; k < t->n_factors; k++)
            if (k != q && !taken[k])
                product = nat_mul(ctx, product, bound(b, t->factors[k]));
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
            product = nat_mul(ctx, product, bound(b, t->factors[j]));
        if (t->coef < 0)
            down = nat_add(ctx, down, product);
        else
            up = nat_add(ctx, up, product);
    }
    guard(b, up);
    guard(b, down);
    return not_negative(b, nat) ? up : nat_max(ctx, up, down);
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

/* At least |nat|, over the sizes; guards what is computed on the way. */
static Nat bound(Bounds *b, Nat nat)
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
        Nat a = bound(b, nat->a);
        bound(b, nat->b);
        divides_by(b, nat->b);
        if (!not_negative(b, nat->a))
            return a;
        Nat end = end_of(b, nat->a), times = end ? times_of(ctx, end, nat->b) : NULL;
        if (times) /* i / d for an i < c * d */
            return nat_add_k(ctx, bound(b, times), -1);
        Nat rest = nat_sub(ctx, nat->a, nat->b); /* (d + n - 1) / d is at most 1 + n / d */
        if (!nat_is_const(nat->b) && nat_nodes(rest) < nat_nodes(nat->a))
            return nat_add_k(ctx, bound_of_quotient(b, bound_up(b, rest), nat->b), 1);
        return bound_of_quotient(b, a, nat->b);
    }
    case NAT_MOD: {
        Nat divisor = bound(b, nat->b);
        bound(b, nat->a);
        divides_by(b, nat->b);
        return nat_add_k(ctx, divisor, -1);
    }
    case NAT_MIN: {
        Nat x = bound(b, nat->a), y = bound(b, nat->b);
        return not_negative(b, nat) ? nat_min(ctx, x, y) : nat_max(ctx, x, y);
    }
    case NAT_MAX: {
        Nat x = bound(b, nat->a), y = bound(b, nat->b);
        return nat_max(ctx, x, y);
    }
    case NAT_POW: {
        Nat p = nat_pow(ctx, bound(b, nat->a), bound(b, nat->b));
        guard(b, p);
        return p;
    }
    case NAT_LOG2:
        bound(b, nat->a);
        return nat_const(ctx, 31);
    }
    return nat;
}

static Nat spelled_out(const Bounds *b, Nat nat)
{
    for (int i = b->names.n - 1; i >= 0; i--)
        if (nat_mentions(nat, b->names.at[i]))
            nat = nat_subst(b->ctx, nat, b->names.at[i], b->meant.at[i]);
    return nat;
}

static void guard_nat(void *user, Nat nat)
{
    Bounds *b = user;
    nat = spelled_out(b, nat);
    if (nat->has_vars)
        guard(b, bound(b, nat));
}

/* ---- conditions ------------------------------------------------------------------------------------------------------- */

/* Where nat < end holds, what is computed from it is so large at most. */
static void assume_less(Bounds *b, Nat nat, Nat end)
{
    Ctx *ctx = b->ctx;
    nat = spelled_out(b, nat);
    end = spelled_out(b, end);
    for (int i = 0; nat->kind == NAT_SUM && i < nat->n_terms; i++)
        if (nat->terms[i].n_factors == 0) { /* a constant */
            end = nat_add_k(ctx, end, -nat->terms[i].coef);
            nat = nat_add_k(ctx, nat, -nat->terms[i].coef);
            break;
        }
    if (nat->kind == NAT_VAR || nat_is_const(nat) || !not_negative(b, nat))
        return;
    vec_push(ctx, &b->vars, nat);
    vec_push(ctx, &b->most, nat_add_k(ctx, highest(b, end), -1));
    vec_push(ctx, &b->ends, end);
}

static void assume_true(Bounds *b, const ImpExpr *cond)
{
    if (cond->kind == IE_VAR)
        for (int i = b->bools.n - 1; i >= 0; i--)
            if (b->bools.at[i]->var.var == cond->var.var) {
                assume_true(b, b->bools.at[i]->var.value);
                return;
            }
    if (cond->kind != IE_OP || cond->op.n != 2)
        return;
    const ImpExpr *left = cond->op.args[0], *right = cond->op.args[1];
    if (cond->op.id == P_and) {
        assume_true(b, left);
        assume_true(b, right);
    } else if ((cond->op.id == P_lt || cond->op.id == P_le) && left->kind == IE_NAT && right->kind == IE_NAT) {
        assume_less(b, left->nat, nat_add_k(b->ctx, right->nat, cond->op.id == P_le));
    }
}

/* How many variables and sums there were before. */
static int enter_condition(Bounds *b, const ImpExpr *cond)
{
    int before = b->vars.n;
    assume_true(b, cond);
    return before;
}

static void leave_condition(Bounds *b, int before) { b->vars.n = b->most.n = b->ends.n = before; }

/* Numbers of an expression. Only where its condition holds, C computes those of a choice. */
static void guard_expr(Bounds *b, const ImpExpr *e)
{
    switch (e->kind) {
    case IE_LIT: break;
    case IE_NAT: guard_nat(b, e->nat); break;
    case IE_VAR: guard_nat(b, e->var.slot); break;
    case IE_LOAD: guard_nat(b, e->mem.index); break;
    case IE_OP:
        for (int i = 0; i < e->op.n; i++)
            guard_expr(b, e->op.args[i]);
        break;
    case IE_CAST: guard_expr(b, e->cast.value); break;
    case IE_COND: {
        guard_expr(b, e->cond.cond);
        int before = enter_condition(b, e->cond.cond);
        guard_expr(b, e->cond.then);
        leave_condition(b, before);
        guard_expr(b, e->cond.otherwise);
        break;
    }
    case IE_SHFL:
        if (e->shfl.by)
            guard_expr(b, e->shfl.by);
        guard_expr(b, e->shfl.value);
        break;
    }
}

static void guard_block(Bounds *b, const ImpBlock *block);

static void guard_loop(Bounds *b, ImpStmt *s)
{
    Ctx *ctx = b->ctx;
    Nat first = spelled_out(b, s->loop.lo), end = spelled_out(b, s->loop.hi);
    Nat lo = bound(b, first), hi = nat_add_k(ctx, highest(b, end), -1), step = bound(b, s->loop.step);
    if (!not_negative(b, first))
        hi = nat_max(ctx, lo, hi);
    vec_push(ctx, &b->vars, s->loop.var);
    vec_push(ctx, &b->most, hi);
    vec_push(ctx, &b->ends, end);
    guard(b, nat_add(ctx, hi, step)); /* where the variable stops */
    NatFacts *outside = b->here;
    b->here = nat_facts_new(ctx, outside);
    nat_fact_le(ctx, b->here, not_negative(b, first) ? nat_const(ctx, 1) : nat_add_k(ctx, first, 1), end);
    guard_block(b, &s->loop.body);
    b->here = outside;
}

/* The statement itself. What a loop runs to exists without elements. */
static void guard_own(Bounds *b, ImpStmt *s)
{
    ImpStmt tile = {.kind = IS_IF};
    if (s->kind == IS_FOR) {
        guard_nat(b, s->loop.lo);
        guard_nat(b, s->loop.hi);
        guard_nat(b, s->loop.step);
        tile.branch.cond = s->loop.full;
        s = &tile;
    }
    b->element = true;
    if (s->kind == IS_DECL || s->kind == IS_SET) {
        if (s->kind == IS_SET)
            guard_nat(b, s->var.slot);
        if (s->var.value)
            guard_expr(b, s->var.value);
    } else if (s != &tile || tile.branch.cond) {
        walk_nats(s, guard_nat, b);
    }
    b->element = false;
}

static void guard_block(Bounds *b, const ImpBlock *block)
{
    for (int i = 0; i < block->list.n; i++) {
        ImpStmt *s = block->list.at[i];
        guard_own(b, s);
        if (s->kind == IS_DECL && s->var.var->nat && s->var.value && s->var.value->kind == IE_NAT) {
            vec_push(b->ctx, &b->names, s->var.var->nat);
            vec_push(b->ctx, &b->meant, spelled_out(b, s->var.value->nat));
        }
        if (s->kind == IS_DECL && s->var.var->type == SC_BOOL && s->var.var->constant && s->var.value)
            vec_push(b->ctx, &b->bools, s);
        if (s->kind == IS_FOR)
            guard_loop(b, s);
        if (s->kind == IS_IF) {
            int before = enter_condition(b, s->branch.cond);
            guard_block(b, &s->branch.then);
            leave_condition(b, before);
            guard_block(b, &s->branch.otherwise);
        }
    }
}

bool index_guards_hold(Ctx *ctx, const ImpKernel *k)
{
    bool hold = index_guards(ctx, k)->at_most_max.n == 0;
    for (int i = 0; i < k->n_sizes; i++) {
        NatRange r = nat_range(ctx, k->known, k->sizes[i]);
        hold &= (imp_is_device_size(k->sizes[i]) && k->sizes[i]->device != NAT_TURN) || (r.has_hi && r.hi <= INDEX_MAX);
    }
    return hold;
}

bool index_guards_admit(const CoreEntry *entry, const IndexGuards *guards, const Launch *launch, bool wide)
{
    int64_t value;
    for (int i = 0; i < launch->n_sizes; i++)
        if (launch->sizes[i] > (wide ? WIDE_SIZE_MAX : INDEX_MAX))
            return false;
    for (int i = 0; i < guards->at_least_one.n; i++)
        if (!launch_nat(NULL, entry, launch, guards->at_least_one.at[i], &value) || value < 1)
            return false;
    for (int i = 0; i < guards->at_most_max.n; i++)
        if (!launch_nat(NULL, entry, launch, guards->at_most_max.at[i], &value) || value > (wide ? index_most(guards->at_most_max.at[i]) : INDEX_MAX))
            return false;
    return true;
}

/* A launch that must have just so many blocks has no more on an axis than a device takes. */
static bool grid_fits(Ctx *ctx, const ImpProgram *program, const ImpKernel *k, const Launch *launch)
{
    for (int a = 0; a < 3; a++) {
        int64_t blocks;
        if (!k->once[a] || (launch_nat(NULL, program->entry, launch, k->blocks[a], &blocks) && blocks <= kernel_max_grid(k, a)))
            continue;
        Diag *d = diag_error(ctx, E0602, program->entry->name_span, "%s: these sizes ask for more than %d blocks on axis %c, which mapBlock[once] needs all at a time", program->entry->name,
                             kernel_max_grid(k, a), "xyz"[a]);
        diag_help(ctx, d, a ? "put the longest axis on x, which takes 2^31 - 1, or leave `once` out" : "leave `once` out");
        return false;
    }
    return true;
}

/* A kernel has a twin with wide indices, is wide itself, or is never too narrow. */
bool index_guards_take(Ctx *ctx, const ImpProgram *program, const Launch *launch)
{
    if (!program)
        return true;
    const CoreEntry *entry = program->entry;
    IndexGuards guards;
    HostBuf result;
    for (int k = 0; entry->result && k < type_component_count(entry->result); k++)
        if (!launch_buffer(ctx, entry, launch, type_component(ctx, entry->result, k), &result, false))
            return false;
    index_guards_of_tests(ctx, program, &guards);
    bool good = index_guards_admit(program->entry, &guards, launch, true);
    for (int i = 0; i < program->launches.n && good; i++) {
        ImpKernel *k;
        if (!imp_choose(ctx, program->entry, &program->launches.at[i], launch, &k))
            return false;
        if (!k)
            continue;
        good = index_guards_admit(program->entry, index_guards(ctx, k), launch, true);
        if (good && !grid_fits(ctx, program, k, launch))
            return false;
    }
    if (!good) {
        Diag *d = diag_error(ctx, E0602, program->entry->name_span, "%s: these sizes are too large for a kernel", program->entry->name);
        diag_help(ctx, d, "a size may be 2^40, a product of sizes 2^48, and an index or what it is computed from 2^52");
    }
    return good;
}

const IndexGuards *index_guards(Ctx *ctx, const ImpKernel *kernel)
{
    if (kernel->guards)
        return kernel->guards;
    IndexGuards *guards = NEW(ctx, IndexGuards);
    NatFacts *known = (NatFacts *)kernel->known; /* a child adds nothing to it */
    Bounds b = {.ctx = ctx, .kernel = kernel, .known = nat_facts_new(ctx, known), .guards = guards};
    for (int i = 0; kernel->entry && i < kernel->entry->n_sizes; i++)
        nat_fact_le(ctx, b.known, kernel->entry->sizes[i], nat_const(ctx, INDEX_MAX));
    b.here = b.facts = nat_facts_new(ctx, b.known);
    for (int a = 0; a < 3; a++)
        if (!index_mentions_device(ctx, kernel->blocks[a])) /* else 64 bits are enough for the host */
            guard_nat(&b, kernel->blocks[a]);
    for (int i = 0; i < kernel->bufs.n; i++)
        guard_nat(&b, kernel_cells(ctx, kernel, kernel->bufs.at[i]));
    if (kernel->shared_bytes)
        guard_nat(&b, kernel->shared_bytes);
    if (kernel->group)
        guard_nat(&b, kernel->group->count);
    b.here = nat_facts_new(ctx, b.facts);
    guard_block(&b, &kernel->body);
    return guards;
}
