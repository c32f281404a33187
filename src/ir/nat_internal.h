/* What the files of the nat module share, and nobody else includes.
 *
 * nat_node.c makes nodes, nat_poly.c calculates with sums, nat.c has the constructors but for div and mod, nat_div.c the rules
 * of div and mod. nat_prove.c answers "is this >= 0". nat_env.c turns the facts of a scope into an environment,
 * nat_facts.c asks both. nat_print.c evaluates and prints.
 *
 * Layers: the prover adds and multiplies polynomials and never calls a constructor, so constructors may ask it at any time
 * and nothing recurses without bound. */
#ifndef RISEC_IR_NAT_INTERNAL_H
#define RISEC_IR_NAT_INTERNAL_H

#include "ir/nat.h"

/* A nat larger than this becomes nat_error: whatever walks a tree is bounded by them. No index expression comes near. */
enum {
    NAT_MAX_TERMS = 400,    /* of a sum */
    NAT_MAX_DEGREE = 24,    /* factors of a product */
    NAT_MAX_WEIGHT = 20000, /* nodes, as a tree */
    NAT_MAX_HEIGHT = 250
};

/* A node with what is known of it from the start. Every Nat points into one. */
typedef struct NatFull {
    NatNode nat;
    Nat self[1];     /* the factor list of the atom itself */
    NatRange range;  /* holds for good */
    uint32_t weight; /* nodes of the tree */
    uint16_t height;
    bool divisor_ok; /* DIV, MOD: b >= 1 is proved (wherever the variables of the node exist) */
    bool divides;    /* is a DIV or MOD, or has one for a factor */
    bool symbolic;   /* mentions a variable that has a bound with variables */
    Nat mate;        /* DIV: a % b, MOD: a / b; once asked for */
    struct NatValues *values; /* VAR: of nat_model.c; once asked for */
} NatFull;

static inline const NatFull *nat_full(Nat a) { return (const NatFull *)a; }

/* A nat as a list of terms, without copying. */
typedef struct NatView {
    const NatTerm *at;
    int n;
    NatTerm one;
} NatView;
void nat_view(Nat a, NatView *view); /* `view` must stay where it is */

/* ---- polynomials under construction --------------------------------------------------------------------------------- */

enum { POLY_SMALL = 10 };
typedef struct Poly {
    Ctx *ctx;
    bool overflow; /* a coefficient, the degree or the length: the value is lost */
    int n, cap;
    NatTerm *at;
    NatTerm small[POLY_SMALL];
} Poly;

#define TERM_K(k) ((NatTerm){(k), 0, NULL})
NatTerm nat_atom_term(Nat atom, int64_t coef);
/* The one list with these factors, which may be on the caller's stack: equal products have equal factor pointers. */
const Nat *nat_factors(Ctx *ctx, const Nat *factors, int n);

void poly_init(Ctx *ctx, Poly *p);
void poly_copy(Ctx *ctx, Poly *p, const Poly *from);
void poly_push(Poly *p, NatTerm t);                                  /* in order already */
void poly_add_terms(Poly *p, const NatTerm *t, int n, NatTerm by);   /* p += by * t */
void poly_add_nat(Poly *p, Nat a, NatTerm by);                       /* p += by * a */
void poly_add_product(Poly *p, const Poly *a, const Poly *b, int64_t k); /* p += k * a * b */
void poly_add_poly(Poly *p, const Poly *a, NatTerm by);
static inline void poly_add_k(Poly *p, int64_t k) { poly_add_terms(p, &TERM_K(1), 1, TERM_K(k)); }
static inline int64_t poly_const(const Poly *p) { return p->n && p->at[p->n - 1].n_factors == 0 ? p->at[p->n - 1].coef : 0; }
static inline int poly_vars(const Poly *p) { return p->n - (p->n && p->at[p->n - 1].n_factors == 0); } /* terms but the constant */
/* a = by * quotient, exactly; false otherwise. */
bool term_divide(Ctx *ctx, const NatTerm *a, const NatTerm *by, NatTerm *quotient);
/* The factors alone, whatever the coefficients. */
bool mono_divide(Ctx *ctx, const NatTerm *a, const NatTerm *by, NatTerm *quotient);
bool term_multiply(Ctx *ctx, const NatTerm *a, const NatTerm *b, NatTerm *product);
NatTerm term_gcd(Ctx *ctx, const NatTerm *a, const NatTerm *b); /* coefficient positive */
int64_t gcd_i64(int64_t a, int64_t b);                            /* the greatest common divisor that fits */
/* p = b * quotient + rest with no term of rest divisible by the leading term of b (constants: rest in [0, b), other
 * coefficients in (-b, b)). False when it does not end or fit. The order of terms is lexicographic, hence admissible. */
bool poly_divide(Ctx *ctx, const Poly *p, Nat b, Poly *quotient, Poly *rest);
/* By what all coefficients have in common: p >= 0 exactly when the result is, as all values are whole. */
void poly_divide_content(Poly *p);
/* The sum as it stands: hash-consed, but the rules that join div and mod are not applied. */
Nat poly_nat_raw(Poly *p);

/* ---- environments ------------------------------------------------------------------------------------------------------ */

typedef enum NatFactKind { FACT_LE, FACT_EQ, FACT_NE, FACT_DIVIDES /* asked for alone */ } NatFactKind;
typedef struct NatFact {
    NatFactKind kind;
    Nat a, b;
} NatFact;

typedef struct NatEnv NatEnv; /* the facts of a scope, solved; NULL: none */

NatEnv *nat_env_new(Ctx *ctx, const NatFact *facts, int n, uint32_t hash); /* hash: of the facts */
uint32_t nat_env_hash(const NatEnv *env);
Nat nat_env_simplify(NatEnv *env, Nat a);
Nat nat_env_put_back(NatEnv *env, Nat a); /* no variable of the environment's own is left */

/* nat_model.c: numbers for variables under which the facts hold. */
enum { NAT_MODELS = 12, NAT_POOL = 40 };
typedef struct NatModels {
    int n;
    const NatFact *facts;
    int failed; /* the fact that did not hold in what was tried last */
    int tried, n_held;
    unsigned char held[NAT_MODELS];
    int n_pool;
    int64_t pool[NAT_POOL]; /* sizes that are tried */
} NatModels;
NatModels *nat_env_models(NatEnv *env);
/* A variable of the environment's own that stands for n / k. */
bool nat_env_witness(const NatEnv *env, Nat var, Nat *n, Nat *k);
/* Is it wrong in one of them? Then nothing proves it. */
bool nat_refuted(Ctx *ctx, NatEnv *env, NatFactKind kind, Nat a, Nat b);
/* Is p below 0 in one of them in which a and b, where they are given, have values? env NULL: whatever the bounds of variables allow. */
bool nat_is_negative_somewhere(Ctx *ctx, NatEnv *env, const Poly *p, Nat a, Nat b);

/* The bounds of a variable in this environment, or NULL. */
Nat nat_env_lo(const NatEnv *env, Nat var);
Nat nat_env_hi(const NatEnv *env, Nat var);
NatRange nat_env_range(const NatEnv *env, Nat atom);
int nat_env_inequalities(const NatEnv *env, const Nat **at); /* each is >= 0 */

/* The constructors, where what is proved may come from `env`. */
Nat nat_sum_in(Ctx *ctx, NatEnv *env, Poly *p); /* joins div and mod, see nat_div.c */
Nat nat_div_in(Ctx *ctx, NatEnv *env, Nat a, Nat b);
Nat nat_mod_in(Ctx *ctx, NatEnv *env, Nat a, Nat b);
Nat nat_min_max_in(Ctx *ctx, NatEnv *env, NatKind kind, Nat a, Nat b);
/* The node as it stands. */
Nat nat_atom(Ctx *ctx, NatKind kind, Nat a, Nat b, bool divisor_ok);
Nat nat_mate(Ctx *ctx, Nat div_or_mod);

/* Remembered results of the constructors that search. NULL: not remembered. */
Nat nat_memo_get(Ctx *ctx, NatKind op, Nat a, Nat b);
void nat_memo_put(Ctx *ctx, NatKind op, Nat a, Nat b, Nat result);
/* A place for what nat_facts.c remembers, NULL at first. */
struct NatAnswers **nat_answers(Ctx *ctx);

/* ---- the prover ---------------------------------------------------------------------------------------------------------- */

/* p >= 0 wherever the variables of p, a and b (either may be NULL) exist and the facts of env hold. */
bool nat_prove(Ctx *ctx, const NatEnv *env, const Poly *p, Nat a, Nat b);
bool nat_prove_nat(Ctx *ctx, const NatEnv *env, Nat p, Nat a, Nat b);
/* Best constant bounds found: by intervals, then by elimination. */
NatRange nat_prove_range(Ctx *ctx, const NatEnv *env, Nat a);
/* By intervals alone. */
NatRange poly_range(const NatEnv *env, const Poly *p);
bool term_has_factor(const NatTerm *t, Nat x);
/* p >= 0 is x*q - c >= 0 with a c >= 1 for each of these x: where x is not negative, it is at least 1. How many. */
int nat_positive_factors(const NatEnv *env, const Poly *p, Nat *at, int max);
int nat_log2_floor(int64_t x); /* x >= 1 */

#endif
