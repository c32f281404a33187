/* Nats: sizes and index expressions as mathematical integers, hash-consed in normal form.
 *
 * Equal normal forms are the same pointer. The constructors normalise: a nat is a sum of products over atoms (variables, div,
 * mod, min, max, pow, log2), ordered by id, never by address. They use only what belongs to a variable for good (its
 * range at creation); what holds in a scope (facts) goes through nat_simplify, nat_le and nat_equal. Every rule about
 * div and mod fires only when its side condition is proved, so a nat keeps its value under every assignment within the
 * variables' ranges; what cannot be proved is left as it stands.
 *
 * `/` and `%` round towards minus infinity. A divisor that is not provably >= 1 is the caller's obligation: the constructors
 * then build the atom, and simplify only sums of such atoms, which have no value either where a divisor is not. A coefficient that leaves 64 bits gives nat_error, which absorbs.
 * Not for: floats, machine integers that wrap. */
#ifndef RISEC_IR_NAT_H
#define RISEC_IR_NAT_H

#include "support/context.h"
#include "support/table.h"

typedef struct NatNode NatNode;
typedef const NatNode *Nat;

typedef enum NatKind {
    NAT_ERROR, /* overflow, or a division by a constant below 1; absorbs */
    NAT_CONST, /* value */
    NAT_VAR,   /* name, lo, hi */
    NAT_SUM,   /* two or more terms, or one whose product is more than a bare atom; ordered, constant term last */
    NAT_DIV,   /* a / b */
    NAT_MOD,   /* a % b */
    NAT_MIN, NAT_MAX,
    NAT_POW,   /* a ^ b, when b is no constant (or too large to multiply out) */
    NAT_LOG2   /* floor(log2(a)), a >= 1 */
} NatKind;

/* coefficient * factor * factor ...; a factor is an atom (never SUM or CONST), repeated for powers; ordered by id. The
 * constant term has no factors. */
typedef struct NatTerm {
    int64_t coef;
    int n_factors;
    const Nat *factors;
} NatTerm;

/* What a variable stands for that is the device's, and known at launch. */
typedef enum NatDevice {
    NAT_NO_DEVICE, NAT_NUM_SM, NAT_MAX_RESIDENT,
    NAT_TURN /* of a group of launches that repeat: what its kernels are told */
} NatDevice;

struct NatNode {
    NatKind kind;
    NatDevice device; /* VAR */
    uint32_t id;   /* order of creation; the order of everything that is sorted */
    uint32_t hash;
    int64_t value; /* CONST */
    const char *name; /* VAR: what it is printed as */
    Nat lo, hi;    /* VAR: inclusive bounds for good, NULL where there is none; they mention older variables only */
    Nat a, b;      /* DIV MOD MIN MAX POW; LOG2: a */
    int n_terms;
    const NatTerm *terms; /* SUM */
    bool has_vars;
};

/* ---- making ---------------------------------------------------------------------------------------------------- */

Nat nat_error(Ctx *ctx);
Nat nat_const(Ctx *ctx, int64_t value);
/* A fresh variable, different from all others whatever its name. lo, hi: inclusive bounds or NULL. */
Nat nat_var(Ctx *ctx, const char *name, Nat lo, Nat hi);
/* At least 1; its name is the word of the language. */
Nat nat_device_var(Ctx *ctx, NatDevice which);
/* From 0 to count - 1. */
Nat nat_turn_var(Ctx *ctx, Nat count);
/* The one with this name; NAT_NO_DEVICE: there is none. */
NatDevice nat_device_find(const char *name);
Nat nat_add(Ctx *ctx, Nat a, Nat b);
Nat nat_sub(Ctx *ctx, Nat a, Nat b);
Nat nat_mul(Ctx *ctx, Nat a, Nat b);
Nat nat_div(Ctx *ctx, Nat a, Nat b);
Nat nat_mod(Ctx *ctx, Nat a, Nat b);
Nat nat_min(Ctx *ctx, Nat a, Nat b);
Nat nat_max(Ctx *ctx, Nat a, Nat b);
Nat nat_pow(Ctx *ctx, Nat a, Nat b);
Nat nat_log2(Ctx *ctx, Nat a);
Nat nat_ceil_div(Ctx *ctx, Nat a, Nat b); /* (a + b - 1) / b */
/* a + k, a * k for a machine constant: shorthands. */
Nat nat_add_k(Ctx *ctx, Nat a, int64_t k);
Nat nat_mul_k(Ctx *ctx, Nat a, int64_t k);

static inline bool nat_is_const(Nat a) { return a->kind == NAT_CONST; }
static inline bool nat_is(Nat a, int64_t k) { return a->kind == NAT_CONST && a->value == k; }
static inline bool nat_is_error(Nat a) { return a->kind == NAT_ERROR; }

/* `a` with var (or any other atom) replaced, rebuilt by the constructors (so it simplifies). */
Nat nat_subst(Ctx *ctx, Nat a, Nat var, Nat by);
Nat nat_subst_many(Ctx *ctx, Nat a, int n, const Nat *vars, const Nat *by); /* all at once */
bool nat_mentions(Nat a, Nat var);
/* How large the text of `a` is: its nodes, counted as a tree. */
int nat_nodes(Nat a);
/* May it have no value: does it divide by what is no constant, or has it a power or a logarithm? */
bool nat_is_partial(Nat a);
/* Calls fn once for each different variable in `a` (not those in other variables' bounds), in order of id. */
void nat_each_var(Ctx *ctx, Nat a, void (*fn)(void *user, Nat var), void *user);

/* Copies into memory that outlives ctx: evaluated and printed there, but nothing is made of them. A nat that is copied twice is the same both times. */
typedef struct NatCopies {
    Ctx *ctx; /* of the nats, and of the table */
    Ctx *to;
    Table done;
} NatCopies;
Nat nat_copied(NatCopies *copies, Nat a); /* NULL for NULL */

/* ---- facts ------------------------------------------------------------------------------------------------------- */

/* What is known in a scope. A child sees its parent's facts; facts are only added. NULL is the empty scope. */
typedef struct NatFacts NatFacts;
NatFacts *nat_facts_new(Ctx *ctx, NatFacts *parent);
bool nat_facts_within(const NatFacts *facts, const NatFacts *outer); /* are they `outer` itself, or a descendant of it? */
void nat_fact_le(Ctx *ctx, NatFacts *facts, Nat a, Nat b); /* a <= b */
void nat_fact_eq(Ctx *ctx, NatFacts *facts, Nat a, Nat b); /* a == b; `n % k == 0` is eq(mod(n, k), 0) */
void nat_fact_ne(Ctx *ctx, NatFacts *facts, Nat a, Nat b);

/* `a` under the facts: equal to it wherever the facts hold. */
Nat nat_simplify(Ctx *ctx, const NatFacts *facts, Nat a);
/* True only when proved. False says nothing. */
bool nat_le(Ctx *ctx, const NatFacts *facts, Nat a, Nat b);
bool nat_lt(Ctx *ctx, const NatFacts *facts, Nat a, Nat b);
bool nat_equal(Ctx *ctx, const NatFacts *facts, Nat a, Nat b);
bool nat_divides(Ctx *ctx, const NatFacts *facts, Nat k, Nat n); /* k >= 1 and n % k == 0 */
bool nat_no_scope(Ctx *ctx, const NatFacts *facts); /* the facts do not hold together: whatever is asked under them, nobody asks it */
bool nat_differ(Ctx *ctx, const NatFacts *facts, Nat a, Nat b);  /* a != b; also where only divisibility says so, which neither a < b nor b < a does */

/* Constant bounds proved for a value. */
typedef struct NatRange {
    bool has_lo, has_hi;
    int64_t lo, hi;
} NatRange;
NatRange nat_range(Ctx *ctx, const NatFacts *facts, Nat a);

/* ---- evaluating and printing -------------------------------------------------------------------------------------- */

typedef enum NatEval { NAT_EVAL_OK, NAT_EVAL_OVERFLOW, NAT_EVAL_DIVISOR /* below 1 */, NAT_EVAL_UNBOUND, NAT_EVAL_DOMAIN } NatEval;
/* `value_of` gives a variable's value, false when it has none. */
NatEval nat_eval(Nat a, bool (*value_of)(void *user, Nat var, int64_t *value), void *user, int64_t *result);

/* As RISE text that reads back as the same nat: `2*n + 3`, `ceilDiv(n, 1024)` for (n + 1023) / 1024, `n % 32`. Positive terms first,
 * constant last, so that nothing starts with a minus unless it must. `tight`: without spaces, for places like `(n*32).f32`. */
void nat_print(StrBuf *out, Nat a, bool tight);
const char *nat_text(Ctx *ctx, Nat a);

/* As C for index expressions: `block*1024 + warp*256 + k*32 + lane`, variables first, coefficient after them, constant last.
 * `/` and `%` appear as C's where the dividend is proved >= 0 under `facts`, else as calls of floor_div(a, b) and floor_mod(a, b).
 * min, max, log2 and non-constant powers as calls nat_min, nat_max, nat_log2, nat_pow. `name_of` spells a variable.
 * `min_prec`: parenthesise when the outermost operator binds looser: 0 never, 1 for a sum, 2 for a product or division too.
 * Returns a set of NAT_C_* bits saying which helpers the text calls. */
enum { NAT_C_FLOOR_DIV = 1, NAT_C_FLOOR_MOD = 2, NAT_C_MIN = 4, NAT_C_MAX = 8, NAT_C_LOG2 = 16, NAT_C_POW = 32, NAT_C_ERROR = 64 /* it has a nat_error in it, which is no C */ };
/* What C computes with. The base of a power that is a constant is written as one of that type; NAT_DOUBLE casts variables to it, and NAT_LONG_LONG leaves them to `name_of`. */
typedef enum NatNumbers { NAT_INT, NAT_LONG_LONG, NAT_DOUBLE } NatNumbers;
int nat_print_c(Ctx *ctx, StrBuf *out, Nat a, const NatFacts *facts, NatNumbers numbers, const char *(*name_of)(void *user, Nat var), void *user,
                int min_prec);
/* The same for C without templates: min is called PREFIXnat_min_, and of doubles PREFIXnat_min_double_. Without a prefix, as above. */
int nat_print_plain_c(Ctx *ctx, StrBuf *out, Nat a, const NatFacts *facts, NatNumbers numbers, const char *(*name_of)(void *user, Nat var), void *user,
                      int min_prec, const char *prefix);
/* As nat_print_c, where some of what is divided by has names: `i / by_m`. The list ends with one without a name; NULL: none has. */
typedef struct NatNamed {
    Nat nat;
    const char *name;
} NatNamed;
int nat_print_named_c(Ctx *ctx, StrBuf *out, Nat a, const NatFacts *facts, NatNumbers numbers, const char *(*name_of)(void *user, Nat var), void *user,
                      int min_prec, const NatNamed *divisors);

#endif
