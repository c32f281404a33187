/* Evaluates nats, and prints them as RISE and as C. */
#include <inttypes.h>

#include "ir/nat_internal.h"

/* ---- evaluation -------------------------------------------------------------------------------------------------------- */

typedef bool (*ValueOf)(void *user, Nat var, int64_t *value);

/* Wide enough that only a value, not an order of summation, overflows in practice. */
__extension__ typedef __int128 Wide;

static NatEval eval_sum(Nat a, ValueOf value_of, void *user, int64_t *result)
{
    Wide sum = 0;
    for (int i = 0; i < a->n_terms; i++) {
        Wide product = a->terms[i].coef;
        for (int j = 0; j < a->terms[i].n_factors; j++) {
            int64_t x;
            NatEval e = nat_eval(a->terms[i].factors[j], value_of, user, &x);
            if (e != NAT_EVAL_OK)
                return e;
            if (__builtin_mul_overflow(product, (Wide)x, &product))
                return NAT_EVAL_OVERFLOW;
        }
        if (__builtin_add_overflow(sum, product, &sum))
            return NAT_EVAL_OVERFLOW;
    }
    if (sum < INT64_MIN || sum > INT64_MAX)
        return NAT_EVAL_OVERFLOW;
    *result = (int64_t)sum;
    return NAT_EVAL_OK;
}

static NatEval eval_pow(int64_t base, int64_t exp, int64_t *result)
{
    if (exp < 0)
        return NAT_EVAL_DOMAIN;
    int64_t r = 1;
    for (int64_t i = 0; i < exp; i++) {
        if (r == 0 || base == 1)
            break;
        if (base == -1) {
            r = exp % 2 ? -1 : 1;
            break;
        }
        if (!mul_fits(r, base, &r))
            return NAT_EVAL_OVERFLOW;
    }
    *result = r;
    return NAT_EVAL_OK;
}

NatEval nat_eval(Nat a, ValueOf value_of, void *user, int64_t *result)
{
    int64_t x = 0, y = 0;
    NatEval e = NAT_EVAL_OK;
    if (a->a)
        e = nat_eval(a->a, value_of, user, &x);
    if (e == NAT_EVAL_OK && a->b)
        e = nat_eval(a->b, value_of, user, &y);
    if (e != NAT_EVAL_OK)
        return e;
    switch (a->kind) {
    case NAT_ERROR:
        return NAT_EVAL_OVERFLOW;
    case NAT_CONST:
        *result = a->value;
        return NAT_EVAL_OK;
    case NAT_VAR:
        return value_of(user, a, result) ? NAT_EVAL_OK : NAT_EVAL_UNBOUND;
    case NAT_SUM:
        return eval_sum(a, value_of, user, result);
    case NAT_DIV:
    case NAT_MOD:
        if (y < 1)
            return NAT_EVAL_DIVISOR;
        *result = a->kind == NAT_DIV ? floor_div(x, y) : floor_mod(x, y);
        return NAT_EVAL_OK;
    case NAT_MIN:
        *result = x < y ? x : y;
        return NAT_EVAL_OK;
    case NAT_MAX:
        *result = x > y ? x : y;
        return NAT_EVAL_OK;
    case NAT_POW:
        return eval_pow(x, y, result);
    case NAT_LOG2:
        if (x < 1)
            return NAT_EVAL_DOMAIN;
        for (*result = 0; x >>= 1;)
            ++*result;
        return NAT_EVAL_OK;
    }
    return NAT_EVAL_UNBOUND;
}

/* ---- what both texts share ------------------------------------------------------------------------------------------------ */

/* How tightly an operand must bind to stand without parentheses. */
typedef enum Prec { PREC_ANY, PREC_PRODUCT, PREC_FACTOR, PREC_BASE } Prec;

typedef struct Printer {
    Ctx *ctx; /* C only */
    StrBuf *out;
    bool c, tight;
    NatNumbers numbers; /* C: of what type the base of a power is where it is constant */
    const NatFacts *facts;
    const char *(*name_of)(void *user, Nat var);
    void *user;
    const char *prefix; /* of the helpers, for a C that has no templates; NULL: none */
    const NatNamed *divisors;
    int helpers;
} Printer;

static void print(Printer *p, Nat a, Prec prec);

static void put_k(Printer *p, int64_t k)
{
    if (k == INT64_MIN) /* C has no such literal */
        sb_puts(p->out, "(-9223372036854775807 - 1)");
    else
        sb_printf(p->out, "%" PRId64, k);
}

static void put_call(Printer *p, const char *name, Nat a, Nat b)
{
    sb_printf(p->out, "%s%s%s(", p->prefix ? p->prefix : "", name, !p->prefix ? "" : p->numbers == NAT_DOUBLE ? "_double_" : "_");
    print(p, a, PREC_ANY);
    if (b) {
        sb_puts(p->out, ", ");
        print(p, b, PREC_ANY);
    }
    sb_putc(p->out, ')');
}

/* The start of an array's part, by its name: it leads, as in `base + i*32`. */
static bool is_base(const NatTerm *t)
{
    return t->n_factors == 1 && t->coef == 1 && t->factors[0]->kind == NAT_VAR && t->factors[0]->name && !strcmp(t->factors[0]->name, "base");
}

/* In C larger steps first: more factors, then the larger coefficient. In RISE the order of the terms. */
static bool before(const Printer *p, const NatTerm *x, const NatTerm *y)
{
    if ((x->n_factors == 0) != (y->n_factors == 0))
        return y->n_factors == 0;
    if (!p->c)
        return false;
    if (is_base(x) != is_base(y))
        return is_base(x);
    if (x->n_factors != y->n_factors)
        return x->n_factors > y->n_factors;
    int64_t kx = x->coef < 0 ? -(x->coef + 1) : x->coef - 1, ky = y->coef < 0 ? -(y->coef + 1) : y->coef - 1;
    return kx > ky;
}

/* INT64_MIN has no magnitude: it stays whole, in its parentheses. */
static bool starts_minus(const NatTerm *t) { return t->coef < 0 && t->coef != INT64_MIN; }

/* Without signed_k the sign is the caller's. */
static void put_term(Printer *p, const NatTerm *t, bool signed_k)
{
    int64_t k = signed_k || !starts_minus(t) ? t->coef : -t->coef;
    int n = t->n_factors;
    if (n == 0) {
        put_k(p, k);
        return;
    }
    bool first = true, minus = k == -1;
    if (minus)
        sb_putc(p->out, '-');
    bool k_first = !p->c || k < 0; /* -3*n for n*-3 */
    bool show = k != 1 && !minus;
    if (show && k_first) {
        put_k(p, k);
        first = false;
    }
    for (int i = 0; i < n;) {
        /* Sizes are older than the indices over them: i*m in C. */
        Nat f = t->factors[p->c ? n - 1 - i : i];
        int power = 1;
        while (i + power < n && t->factors[p->c ? n - 1 - i - power : i + power] == f)
            power++;
        for (int j = 0; j < (p->c ? power : 1); j++) {
            if (!first)
                sb_putc(p->out, '*');
            first = false;
            bool alone = n == 1 && !show && !minus;
            print(p, f, !p->c && power > 1 ? PREC_BASE : alone && power == 1 ? PREC_PRODUCT : PREC_FACTOR);
        }
        if (!p->c && power > 1)
            sb_printf(p->out, "^%d", power);
        i += power;
    }
    if (show && !k_first) {
        sb_putc(p->out, '*');
        put_k(p, k);
    }
}

static void put_sum(Printer *p, const NatTerm *terms, int n, bool first);

/* The factor that most terms share, where at least two do; NULL else. */
static Nat shared_factor(const NatTerm *terms, int n)
{
    Nat best = NULL;
    int most = 1;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < terms[i].n_factors; k++) {
            Nat f = terms[i].factors[k];
            int times = 0;
            for (int j = 0; j < n; j++) {
                int at = 0;
                while (at < terms[j].n_factors && terms[j].factors[at] != f)
                    at++;
                times += at < terms[j].n_factors;
            }
            if (times > most || (times == most && best && f->id < best->id)) {
                best = f;
                most = times;
            }
        }
    return most > 1 ? best : NULL;
}

static void put_operator(Printer *p, bool minus) { sb_puts(p->out, p->tight ? (minus ? "-" : "+") : minus ? " - " : " + "); }

/* (i*m + j)*n + k for i*m*n + j*n + k, as a programmer would write it, and with fewer multiplications. False when no two terms share a factor. */
static bool put_factored(Printer *p, const NatTerm *terms, int n, bool first)
{
    Nat f = shared_factor(terms, n);
    if (!f)
        return false;
    NatTerm *inner = NEWN(p->ctx, NatTerm, n), *rest = NEWN(p->ctx, NatTerm, n);
    int n_inner = 0, n_rest = 0;
    int64_t g = 0;
    bool positive = false, rest_positive = false;
    for (int i = 0; i < n; i++) {
        int at = 0;
        while (at < terms[i].n_factors && terms[i].factors[at] != f)
            at++;
        if (at == terms[i].n_factors) {
            rest_positive |= terms[i].coef > 0;
            rest[n_rest++] = terms[i];
            continue;
        }
        Nat *left = NEWN(p->ctx, Nat, terms[i].n_factors);
        for (int k = 0, to = 0; k < terms[i].n_factors; k++)
            if (k != at)
                left[to++] = terms[i].factors[k];
        inner[n_inner++] = (NatTerm){terms[i].coef, terms[i].n_factors - 1, left};
        positive |= terms[i].coef > 0;
        g = gcd_i64(g, terms[i].coef);
    }
    if (g <= 0 || g == INT64_MAX)
        return false;
    for (int i = 0; i < n_inner; i++)
        inner[i].coef /= positive ? g : -g;
    bool rest_first = !positive && rest_positive;
    if (rest_first) {
        put_sum(p, rest, n_rest, first);
        first = false;
    }
    if (!first)
        put_operator(p, !positive);
    else if (!positive)
        sb_putc(p->out, '-');
    sb_putc(p->out, '(');
    put_sum(p, inner, n_inner, true);
    sb_puts(p->out, ")*");
    print(p, f, PREC_FACTOR);
    if (g != 1)
        sb_printf(p->out, "*%lld", (long long)g);
    if (!rest_first && n_rest)
        put_sum(p, rest, n_rest, false);
    return true;
}

static void put_sum(Printer *p, const NatTerm *terms, int n, bool first)
{
    if (p->c && n > 1 && put_factored(p, terms, n, first))
        return;
    NatTerm small[POLY_SMALL], *t = n <= POLY_SMALL ? small : NEWN(p->out->ctx, NatTerm, n);
    for (int i = 0; i < n; i++) {
        int at = i;
        while (at > 0 && before(p, &terms[i], &t[at - 1])) {
            t[at] = t[at - 1];
            at--;
        }
        t[at] = terms[i];
    }
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < n; i++) {
            bool minus = starts_minus(&t[i]), k = t[i].n_factors == 0;
            /* Positive terms, negative ones, a negative constant last; a positive constant last too unless only it is positive. */
            bool constant_last = k && (minus || n == 1 || t[0].coef > 0);
            for (int j = 0; k && !minus && j < n - 1; j++)
                constant_last |= t[j].coef > 0;
            int when = constant_last ? 1 : minus;
            if (when != pass)
                continue;
            if (first) {
                put_term(p, &t[i], true);
            } else {
                put_operator(p, minus);
                put_term(p, &t[i], false);
            }
            first = false;
        }
}

/* ---- RISE ----------------------------------------------------------------------------------------------------------------- */

/* (n + k - 1) / k: n, when that is shorter than the dividend, no negative number, and in normal form (else the text would not
 * read back as the same nat). */
static Nat ceil_div_of(Ctx *ctx, Nat a, Nat b)
{
    NatView v;
    Poly n, copy;
    poly_init(ctx, &n);
    poly_add_nat(&n, a, TERM_K(1));
    poly_add_nat(&n, b, TERM_K(-1));
    poly_add_k(&n, 1);
    nat_view(a, &v);
    if (n.overflow || n.n >= v.n || (poly_vars(&n) == 0 && poly_const(&n) < 0))
        return NULL;
    poly_copy(ctx, &copy, &n);
    Nat raw = poly_nat_raw(&copy);
    return nat_sum_in(ctx, NULL, &n) == raw ? raw : NULL;
}

static void open_paren(Printer *p, bool paren)
{
    if (paren)
        sb_putc(p->out, '(');
}

static void close_paren(Printer *p, bool paren)
{
    if (paren)
        sb_putc(p->out, ')');
}

static void put_binary(Printer *p, Nat a, const char *op, Nat b, Prec prec)
{
    bool paren = prec > PREC_PRODUCT;
    open_paren(p, paren);
    print(p, a, a->kind == NAT_DIV || a->kind == NAT_MOD ? PREC_FACTOR : PREC_PRODUCT);
    sb_puts(p->out, p->tight ? "" : " ");
    sb_puts(p->out, op);
    sb_puts(p->out, p->tight ? "" : " ");
    print(p, b, PREC_FACTOR);
    close_paren(p, paren);
}

/* What has no like in double is computed in integers. */
static void put_as_double(Printer *p, Nat a)
{
    p->numbers = NAT_LONG_LONG;
    sb_puts(p->out, "(double)(");
    print(p, a, PREC_ANY);
    sb_putc(p->out, ')');
    p->numbers = NAT_DOUBLE;
}

/* 2^k with k below 31: 1 << k fits int. */
static bool is_small_power(const Printer *p, Nat a)
{
    if (a->kind != NAT_POW || !nat_is(a->a, 2) || p->numbers == NAT_DOUBLE)
        return false;
    NatRange k = nat_range(p->ctx, p->facts, a->b);
    return k.has_lo && k.has_hi && k.lo >= 0 && k.hi < 31;
}

/* a / 2^k: a >> k. The power itself, a is NULL: 1 << k, whose value has the type of the 1. */
static void put_shift(Printer *p, Nat a, Nat k, Prec prec)
{
    open_paren(p, prec > PREC_ANY);
    if (a)
        print(p, a, PREC_FACTOR);
    else
        sb_puts(p->out, p->numbers == NAT_LONG_LONG ? "1ll" : "1");
    sb_puts(p->out, a ? " >> " : " << ");
    print(p, k, PREC_FACTOR);
    close_paren(p, prec > PREC_ANY);
}

static const char *name_of_divisor(const Printer *p, Nat nat)
{
    const NatNamed *d = p->divisors;
    while (d && d->name && d->nat != nat)
        d++;
    return d ? d->name : NULL;
}

static void print_div(Printer *p, Nat a, Prec prec)
{
    bool div = a->kind == NAT_DIV;
    if (p->c) {
        bool natural = nat_le(p->ctx, p->facts, nat_const(p->ctx, 0), a->a);
        if (div && natural && is_small_power(p, a->b)) {
            put_shift(p, a->a, a->b->b, prec);
            return;
        }
        if (p->numbers == NAT_DOUBLE && (!div || !natural || !nat_is_const(a->b))) {
            put_as_double(p, a);
            return;
        }
        const char *name = natural ? name_of_divisor(p, a->b) : NULL;
        if (name) {
            open_paren(p, prec >= PREC_FACTOR);
            print(p, a->a, a->a->kind == NAT_DIV || a->a->kind == NAT_MOD ? PREC_FACTOR : PREC_PRODUCT);
            sb_printf(p->out, " %s %s", div ? "/" : "%", name);
            close_paren(p, prec >= PREC_FACTOR);
        } else if (natural) {
            put_binary(p, a->a, div ? "/" : "%", a->b, prec);
        } else {
            p->helpers |= div ? NAT_C_FLOOR_DIV : NAT_C_FLOOR_MOD;
            put_call(p, div ? "floor_div" : "floor_mod", a->a, a->b);
        }
        return;
    }
    Nat n = div ? ceil_div_of(p->out->ctx, a->a, a->b) : NULL;
    if (n)
        put_call(p, "ceilDiv", n, a->b);
    else
        put_binary(p, a->a, div ? "/" : "%", a->b, prec);
}

/* nat_pow(2ll, k): its value has the type of its base. In double it is CUDA's own pow. */
static void put_c_power(Printer *p, Nat a)
{
    static const char *const suffixes[] = {[NAT_INT] = "", [NAT_LONG_LONG] = "ll", [NAT_DOUBLE] = ".0"};
    bool is_double = p->numbers == NAT_DOUBLE;
    p->helpers |= is_double && !p->prefix ? 0 : NAT_C_POW;
    if (p->prefix)
        sb_printf(p->out, "%snat_pow%s(", p->prefix, is_double ? "_double_" : "_");
    else
        sb_puts(p->out, is_double ? "pow(" : "nat_pow(");
    print(p, a->a, PREC_ANY);
    sb_printf(p->out, "%s, ", nat_is_const(a->a) ? suffixes[p->numbers] : "");
    print(p, a->b, PREC_ANY);
    sb_putc(p->out, ')');
}

static void print(Printer *p, Nat a, Prec prec)
{
    switch (a->kind) {
    case NAT_ERROR:
        p->helpers |= NAT_C_ERROR;
        sb_puts(p->out, "error");
        return;
    case NAT_CONST: {
        bool paren = a->value < 0 && prec >= PREC_PRODUCT && a->value != INT64_MIN;
        open_paren(p, paren);
        put_k(p, a->value);
        close_paren(p, paren);
        return;
    }
    case NAT_VAR:
        sb_puts(p->out, p->numbers == NAT_DOUBLE ? "(double)" : "");
        sb_puts(p->out, p->name_of ? p->name_of(p->user, a) : a->name);
        return;
    case NAT_SUM: {
        /* A leading minus counts as a sum. */
        bool paren = prec >= (a->n_terms > 1 || a->terms[0].coef < 0 ? PREC_PRODUCT : PREC_FACTOR);
        open_paren(p, paren);
        put_sum(p, a->terms, a->n_terms, true);
        close_paren(p, paren);
        return;
    }
    case NAT_DIV:
    case NAT_MOD:
        print_div(p, a, prec);
        return;
    case NAT_MIN:
    case NAT_MAX:
        if (p->c)
            p->helpers |= a->kind == NAT_MIN ? NAT_C_MIN : NAT_C_MAX;
        put_call(p, p->c ? (a->kind == NAT_MIN ? "nat_min" : "nat_max") : a->kind == NAT_MIN ? "min" : "max", a->a, a->b);
        return;
    case NAT_POW:
        if (p->c && is_small_power(p, a)) {
            put_shift(p, NULL, a->b, prec);
            return;
        }
        if (p->c) {
            put_c_power(p, a);
            return;
        }
        open_paren(p, prec == PREC_BASE);
        print(p, a->a, PREC_BASE); /* right associative */
        sb_putc(p->out, '^');
        print(p, a->b, PREC_FACTOR);
        close_paren(p, prec == PREC_BASE);
        return;
    case NAT_LOG2:
        if (p->numbers == NAT_DOUBLE) {
            put_as_double(p, a);
            return;
        }
        if (p->c)
            p->helpers |= NAT_C_LOG2;
        put_call(p, p->c ? "nat_log2" : "log2", a->a, NULL);
        return;
    }
}

void nat_print(StrBuf *out, Nat a, bool tight)
{
    Printer p = {.ctx = out->ctx, .out = out, .tight = tight};
    print(&p, a, PREC_ANY);
}

const char *nat_text(Ctx *ctx, Nat a)
{
    StrBuf sb;
    sb_init(&sb, ctx);
    nat_print(&sb, a, false);
    return sb.text;
}

/* ---- C ---------------------------------------------------------------------------------------------------------------------- */

int nat_print_c(Ctx *ctx, StrBuf *out, Nat a, const NatFacts *facts, NatNumbers numbers, const char *(*name_of)(void *user, Nat var),
                void *user, int min_prec)
{
    return nat_print_plain_c(ctx, out, a, facts, numbers, name_of, user, min_prec, NULL);
}

int nat_print_named_c(Ctx *ctx, StrBuf *out, Nat a, const NatFacts *facts, NatNumbers numbers, const char *(*name_of)(void *user, Nat var),
                      void *user, int min_prec, const NatNamed *divisors)
{
    Printer p = {.ctx = ctx, .out = out, .c = true, .numbers = numbers, .facts = facts, .name_of = name_of, .user = user, .divisors = divisors};
    print(&p, a, min_prec <= 0 ? PREC_ANY : min_prec == 1 ? PREC_PRODUCT : PREC_FACTOR);
    return p.helpers;
}

int nat_print_plain_c(Ctx *ctx, StrBuf *out, Nat a, const NatFacts *facts, NatNumbers numbers, const char *(*name_of)(void *user, Nat var),
                      void *user, int min_prec, const char *prefix)
{
    Printer p = {.ctx = ctx, .out = out, .c = true, .numbers = numbers, .facts = facts, .name_of = name_of, .user = user, .prefix = prefix};
    print(&p, a, min_prec <= 0 ? PREC_ANY : min_prec == 1 ? PREC_PRODUCT : PREC_FACTOR);
    return p.helpers;
}
