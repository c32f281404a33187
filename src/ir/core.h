/* Core: typed terms. Definitions are expanded, sizes inferred, every primitive has all its arguments. Immutable.
 *
 * Printed, core is RISE text again: what core_print_entry prints parses and checks to the same core. */
#ifndef RISEC_IR_CORE_H
#define RISEC_IR_CORE_H

#include "ir/costs.h"
#include "ir/prim.h"
#include "ir/type.h"

typedef struct Core Core;
typedef struct CoreVar {
    int id;
    const char *name; /* as the source has it; printing makes it unique */
    bool named;       /* a parameter that a `fun` names; else its name is that of a parameter in the header of the function that it is given to */
    Type type;
    Nat nat;          /* for type idx: the nat variable that stands for its value inside sizes and indices; else NULL */
    Span span;
    const char *const *parts; /* of a tuple that the source takes apart: the components' names, NULL for one without; or NULL */
    const Core *value; /* while it is elaborated: what a `let` gives it, as far as that is finished; else NULL */
} CoreVar;

typedef enum CoreKind {
    CORE_VAR,    /* var */
    CORE_LIT,    /* lit */
    CORE_SIZE,   /* nat as a value of a scalar or idx type */
    CORE_PRIM,   /* a primitive with all its arguments */
    CORE_LAMBDA, /* only as an argument of a primitive: params, body */
    CORE_LET,    /* var = value in body */
    CORE_TUPLE,  /* items */
    CORE_PROJ,   /* index (0-based), value */
    CORE_IF,     /* cond, then, otherwise */
    CORE_UNIT_ERROR /* reported before; absorbs */
} CoreKind;

/* A literal in its type's own bits: integers sign- or zero-extended to 64 bits in i, floats (f16, bf16, f32, f64) as the
 * double that the rounded value is, in f. */
typedef struct ScalarValue {
    Scalar type;
    union { int64_t i; uint64_t u; double f; };
} ScalarValue;

/* What stands in a primitive's square brackets. */
typedef struct PrimOptions {
    int axis;        /* 0 x, 1 y, 2 z */
    Nat pad;         /* toShared[pad = k], or NULL */
    bool swizzle, in_place, prefetch, once;
    Core *place;     /* mapThreads[place = fun i => e]: a lambda from idx, or NULL */
    Nat lanes;       /* mapWarp[lanes = k], or NULL: 32 */
    Nat blocks, threads, min_blocks; /* nextKernel and friends; or NULL */
    bool launch_chosen; /* these three are the choice of the library's strategies, not of the user. Not printed */
    bool rounded;    /* once codegen/contraction.h has looked: no part of a fused operation. Not printed */
} PrimOptions;

struct Core {
    CoreKind kind;
    Span span;
    Span users;  /* where that is the library's, or a strategy made it: the user's text that it stands for; or nowhere */
    Type type;   /* of the value; LAMBDA: of the result */
    const char *label; /* `#inner e`: what strategies call it; or NULL */
    int height;  /* set by the elaborator, which bounds it by the stack (Stack.levels): recursion over core is safe */
    bool finished; /* by the elaborator: it has all its types, as all below it */
    union {
        CoreVar *var;
        ScalarValue lit;
        Nat size;
        struct {
            PrimId id;
            int n_nats;        /* the header's nat parameters, implicit and explicit, in the header's order */
            const Nat *nats;
            int n_args;        /* the header's data and function parameters, in order; functions are LAMBDA */
            Core **args;
            PrimOptions options;
            Type cast_type;    /* cast(t) */
        } prim;
        struct {
            int n_nats;        /* nat parameters first (iterate's step takes one) */
            const Nat *nats;   /* each a nat variable */
            int n;
            CoreVar **params;
            Core *body;
            const Item *op;    /* the declared operator that it is, with its laws; else NULL (a builtin's body is the one primitive) */
        } lambda;
        struct { CoreVar *var; Core *value, *body; } let;
        struct { int n; Core **items; } tuple;
        struct { int index; Core *value; } proj;
        struct { Core *cond, *then, *otherwise; } cond;
    };
};

typedef struct CoreLaunch { /* `launch [...]`; what is not given is NULL */
    Nat blocks, threads, min_blocks;
    Span threads_span;
    bool chosen; /* by the library's strategies, though the span is the user's */
} CoreLaunch;

/* The second argument of __launch_bounds__: no multiprocessor of any device holds more than 32 blocks at once. */
static inline bool launch_has_min_blocks(Nat n) { return nat_is_const(n) && n->value >= 1 && n->value <= 32; }
enum { WARP_LANES = 32 };
/* mapWarp[lanes = n]: the parts of a warp are equal, and shuffles cross them by powers of two. */
static inline bool lanes_fit(Nat n) { return nat_is_const(n) && n->value >= 2 && n->value <= WARP_LANES && !(n->value & (n->value - 1)); }
#define LANES_FAULT "`lanes` is a constant, 2, 4, 8, 16 or 32, and this is %s"
#define MIN_BLOCKS_FAULT "`minBlocks` is a constant from 1 to 32, the blocks that a multiprocessor holds at most, and this is %s"

/* Note [Classes of a tuned entry]
 * A tuned entry has other values of its tunables in each class of sizes (frontend/tuning.h). Its body is then
 *     if test of class 0 then body of class 0 else if test of class 1 then ... else body of the last class
 * so that the size tests at the top (codegen/ways.c) give each class kernels of its own. What is no part of a body, the launch, is the class's. */
typedef struct CoreClass {
    CoreLaunch launch;
    Span span;        /* of the line that it comes from */
    const Core *test; /* NULL: the last one */
    int64_t *tunable_values;
    const char *strategy; /* by which the body is lowered instead of the entry's own, as text in strategy_span; or NULL */
    Span strategy_span;
} CoreClass;

typedef struct CoreValues {
    int n;
    int64_t *values;
} CoreValues;

typedef struct CoreEntry {
    const char *name;
    const char *doc;
    Span span, name_span;
    int n_sizes;          /* sizes known at launch, in order of declaration */
    Nat *sizes;           /* each a nat variable with range [0, ..) */
    int n_tunables;       /* constants of this compilation: name and value */
    const char **tunable_names;
    int64_t *tunable_values;
    CoreValues *tunable_candidates; /* what stands behind `in` */
    int n_inputs;
    CoreVar **inputs;
    int n_names;          /* of these, the last ones: names around a stage that is lowered by itself. Where one is a result as it is, it is written already */
    Type result;
    int n_facts;          /* to check at each launch: conditions over the sizes */
    Core **facts;         /* of type bool, over CORE_SIZE */
    const NatFacts *known; /* the facts as the simplifier knows them */
    CoreLaunch launch;
    int n_classes;        /* 0: not tuned; then launch and tunable_values count, else those of the classes */
    CoreClass *classes;
    bool exact;
    Nat num_sm, max_resident; /* the variables of the device's numSM and maxResident; NULL where the entry does not speak of them */
    const Item *item;          /* as written; its strategy, too */
    const Costs *costs;        /* by which it was said what is stored; NULL: by none */
    struct Program *program;   /* in which it stands */
    Diags doubts;              /* warnings about its text: see frontend/elab_doubts.c */
    Core *body;
} CoreEntry;

typedef struct CoreProgram {
    VEC(CoreEntry *) entries;
} CoreProgram;

typedef void (*CondFn)(void *user, const Core *cond, bool holds);
/* Calls `fn` for the conditions that all turn out as said where this one does. */
void core_cond_each(const Core *cond, bool holds, CondFn fn, void *user);
typedef void (*CompareFn)(void *user, PrimId id, Nat a, Nat b);
/* Calls `fn` for comparisons of sizes that are true where the condition holds, or where it does not. */
void core_cond_compares(const Core *cond, bool holds, CompareFn fn, void *user);
/* Adds what a condition over sizes says where it holds, or where it does not. */
void core_cond_facts(Ctx *ctx, NatFacts *facts, const Core *cond, bool holds);
/* Is it proved that a comparison of sizes, or a condition over them, turns out so where the facts hold? */
bool core_compare_is(Ctx *ctx, const NatFacts *facts, PrimId id, Nat a, Nat b, bool value);
bool core_cond_is(Ctx *ctx, const NatFacts *facts, const Core *cond, bool value);
/* Turns out as `cond` does where the facts hold, without operands that say nothing then. It may ask its operands in another order: it is to be read. */
const Core *core_cond_left(Ctx *ctx, const NatFacts *facts, const Core *cond);

void core_print(StrBuf *out, const Core *term);
/* The same on several lines, a pipeline one stage a line, even where it would fit on one. */
void core_print_lines(StrBuf *out, const Core *term);
/* A condition, or its opposite, as an operand of `and`. */
void core_print_test(StrBuf *out, const Core *test, bool holds);
/* The entry as a program, with the operators that it uses; tunables are gone into the sizes. */
void core_print_entry(StrBuf *out, const CoreEntry *entry);
/* Several entries as one program. */
void core_print_entries(StrBuf *out, int n, CoreEntry *const *entries);
/* Re-checks every type. Returns NULL when all is well, else what is wrong (a bug in risec). */
const char *core_verify(Ctx *ctx, const CoreEntry *entry);
/* The same of a part of an entry: of what is to stand at the end of a path from the root, in place of `before`, which was well typed. `around`: the terms on the
 * way; `path`: which child of each. */
const char *core_verify_part(Ctx *ctx, const CoreEntry *entry, int depth, const Core *const *around, const int *path, const Core *before, const Core *part);

/* Reads `u` of CORE_LIT into text: `1.5f32`, `3i64`; reads back as the same value. */
void scalar_value_print(StrBuf *out, ScalarValue v);

#endif
