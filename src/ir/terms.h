/* Making terms of core outside of the elaborator: types are given, or follow from the parts. */
#ifndef RISEC_IR_TERMS_H
#define RISEC_IR_TERMS_H

#include "ir/core.h"

/* An index has a nat variable of its own. */
CoreVar *make_var(Ctx *ctx, int *next_var, const char *name, Type type, Span span);
Core *make_ref(Ctx *ctx, CoreVar *var, Span span);
Core *make_size(Ctx *ctx, Nat nat, Type type, Span span);
Core *make_prim(Ctx *ctx, PrimId id, Type type, int n_nats, const Nat *nats, int n_args,
                Core *const *args, Span span);
/* Element `at` of an array. */
Core *make_index(Ctx *ctx, Core *array, Nat at, Span span);
Core *make_function(Ctx *ctx, int n, CoreVar *const *params, Core *body);
Core *make_generate(Ctx *ctx, CoreVar *axis, Core *element, Span span);
/* map(fun param => body, array) */
Core *make_map(Ctx *ctx, CoreVar *param, Core *body, Core *array);
Core *make_let(Ctx *ctx, CoreVar *var, Core *value, Core *body);
Core *make_tuple(Ctx *ctx, int n, Core *const *items, Span span);
Core *make_proj(Ctx *ctx, Core *value, int index, Span span);
Core *make_if(Ctx *ctx, Core *cond, Core *then, Core *otherwise, Span span);
/* A primitive of two values of one type, which its result has, too. */
Core *make_binary(Ctx *ctx, PrimId id, Core *a, Core *b);
/* a <= b or a < b over sizes. */
Core *make_compare(Ctx *ctx, PrimId id, Nat a, Nat b, Span span);
Core *make_both(Ctx *ctx, Core *a, Core *b);
Core *make_not(Ctx *ctx, Core *a);
Core *make_int(Ctx *ctx, int value, Span span); /* of type i32 */
/* Some value of the type: zeros. */
Core *make_zero(Ctx *ctx, int *next_var, Type type, Span span);
/* Is it this primitive, with its arguments? NULL is none. */
static inline bool term_is(const Core *term, PrimId id) { return term && term->kind == CORE_PRIM && term->prim.id == id; }
/* The parts of a term in their order, a function's body too. */
int term_children(const Core *term);
Core *term_child(const Core *term, int i);
/* A copy whose parts may be set. */
Core *term_copy(Ctx *ctx, const Core *term);
void term_set_child(Core *term, int i, Core *part);
/* What an idx is as a nat; NULL where it is none. */
Nat index_nat(const Core *term);

/* A copy with other terms for free variables and other nats; what it binds is fresh. */
typedef struct TermCopy {
    Ctx *ctx;
    int *next_var;
    /* What stands for a free variable; NULL: itself. */
    Core *(*by)(void *user, const CoreVar *var);
    void *user;
    VEC(Nat) from; /* beside `to` */
    VEC(Nat) to;
    VEC(const CoreVar *) bound; /* beside `fresh` */
    VEC(CoreVar *) fresh;
} TermCopy;

Core *copy_term(TermCopy *c, const Core *term);
Nat copy_nat(TermCopy *c, Nat nat);
Type copy_type(TermCopy *c, Type type);
/* The term with another nat for a variable of nats, and for the index that it stands for. */
Core *term_with_nat(Ctx *ctx, int *next_var, Core *term, Nat var, Nat by);
/* The term with another one for a free variable. */
Core *term_with_var(Ctx *ctx, int *next_var, Core *term, const CoreVar *var, Core *by);
/* What a chain of indices reads, which may be the term itself; how many they are, and the one that is
 * applied first, or NULL. */
const Core *term_base(const Core *term, int *indices, const Core **first);
/* Is it worked out with functions of scalars alone, of elements that are read? */
bool term_is_elementwise(const Core *term);
/* A size as the number that it is. One that was cast to a narrower type or to floats is data. */
bool term_is_exact_size(const Core *term);
/* Does it compare two exact sizes? */
bool term_compares_sizes(const Core *term);
/* Of `1 <= n`, for an exact size n: n; else NULL. */
Nat term_size_asked(const Core *term);
/* Is it a condition over exact sizes alone, so that it is known at launch? */
bool term_is_over_sizes(const Core *term);
/* The repeatKernels that the term is, or that one of its branches is; else NULL. */
const Core *term_repeat(const Core *value);
bool term_mentions(const Core *term, const CoreVar *var);
bool term_mentions_nat(Ctx *ctx, const Core *term, Nat var);
/* May it be worked out where a condition around it does not hold? It reads no memory, and no size in it lacks a value. */
bool term_is_total(const Core *term);
/* Calls fn for each variable of nats in the term: those that it binds, too. */
void term_each_nat(Ctx *ctx, const Core *term, void (*fn)(void *user, Nat var), void *user);
void type_each_nat(Ctx *ctx, Type type, void (*fn)(void *user, Nat var), void *user);

#endif
