/* Typed trees of random programs: what the generator builds, the printer writes as RISE, and the shrinker cuts down.
 *
 * This is no second compiler: the trees know only what they need so that what is built is well typed (sizes as c*atom + d, types, the rule of each
 * primitive). Where this differs from risec's own types, a program is refused, and the test counts it. */
#ifndef RISEC_TESTS_RTREE_H
#define RISEC_TESTS_RTREE_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/prim.h"
#include "ir/type.h"

/* ---- memory and chance: of one program -------------------------------------------------------------------------------------- */

typedef struct Pool Pool;
Pool *pool_new(void);
void pool_free(Pool *pool);
void *pool_alloc(Pool *pool, size_t size); /* zeroed; ends the program when there is none */
char *pool_printf(Pool *pool, const char *fmt, ...) PRINTF_LIKE(2, 3);
#define POOL_NEW(pool, T) ((T *)pool_alloc((pool), sizeof(T)))

uint64_t random_next(uint64_t *state);
/* Below n; n >= 1. */
int random_below(uint64_t *state, int n);

/* ---- sizes: coef * atom + add ------------------------------------------------------------------------------------------------- */

typedef struct RAtom RAtom;
typedef struct RSize {
    int64_t coef; /* 0 when there is no atom */
    const RAtom *atom;
    int64_t add;
} RSize;
typedef enum RAtomKind {
    ATOM_NAME, /* an entry's size divided by `unit`; the entry says that unit divides it */
    ATOM_CEIL, /* ceilDiv(of, by) */
    ATOM_DIV   /* of / by */
} RAtomKind;
struct RAtom {
    RAtomKind kind;
    const char *name;
    int64_t unit, least; /* NAME: least value of the atom, by the entry's facts */
    bool pattern;        /* NAME: the entry's size is the atom itself, and inputs have types like (32*n).f32 */
    RSize of;
    int64_t by;
    const RAtom *next;   /* all of one program */
};

static inline RSize size_const(int64_t k) { return (RSize){0, NULL, k}; }
static inline bool size_is_const(RSize s) { return !s.atom; }
bool size_equal(RSize a, RSize b);
int64_t size_least(RSize s); /* a lower bound */
bool size_divides(int64_t k, RSize s);
RSize size_plus(RSize a, int64_t k);

/* ---- types ---------------------------------------------------------------------------------------------------------------------- */

enum { TUPLE_MAX = 4 };
typedef enum RKind { R_SCALAR, R_IDX, R_TUPLE, R_ARRAY, R_VEC /* `width` components of `scalar` */ } RKind;
typedef struct RType RType;
struct RType {
    RKind kind;
    Scalar scalar;
    RSize size; /* IDX: below it; ARRAY */
    const RType *elem;
    int width;
    int n;
    const RType *items[TUPLE_MAX];
};
bool rtype_equal(const RType *a, const RType *b);
bool rtype_is_flat(const RType *t); /* a scalar, an idx, or a tuple of them; no vector */
int rtype_rank(const RType *t);

/* ---- trees ------------------------------------------------------------------------------------------------------------------------ */

typedef struct RVar {
    const char *name;
    const RType *type;
    bool input;
} RVar;

typedef enum NodeKind {
    N_VAR,    /* vars[0] */
    N_LIT,    /* value, of a scalar type */
    N_SIZE,   /* sizes[0] as a number of type `scalar` */
    N_PRIM,   /* prim with sizes and args, in the order of its header; functions are N_LAMBDA */
    N_LAMBDA, /* vars, args[0] */
    N_LET,    /* vars[0] = args[0] in args[1] */
    N_TUPLE,  /* args */
    N_PROJ,   /* component `value` of args[0] */
    N_IF,     /* args[0], args[1], args[2] */
    N_INDEX,  /* args[0] [args[1]]: args[1] an idx */
    N_CALL,   /* definition `value` of the program applied to args */
    N_UNROLL, /* args[0] through args[1], a lambda, once for each of `list`; shuffles in it take d */
    N_INDICES, /* generate{n = sizes[0]} of indices below sizes[1], by form `value` */
    N_TEST,   /* a size test: sizes[0] <= value */
    N_ITERATE, /* value steps of iterate{n = 2}: args[0], a lambda of two values, over both halves of args[1], by the map `prim`, stored by `list[0]`, a PrimId */
    N_TREE    /* std.warp's warpTree (value 0), warpTreeDown or warpTreeUp of args[0], a lambda, over args[1] */
} NodeKind;

enum { SWIZZLE = 4, IN_PLACE = 5 };
typedef enum IndexForm { INDEX_SAME, INDEX_BACK, INDEX_SPREAD /* 2i + 1 */, INDEX_ROUND /* (i + 5) % n */, INDEX_FORMS } IndexForm;
enum { ARGS_MAX = 5, SIZES_MAX = 2, VARS_MAX = 2, LIST_MAX = 6 };
typedef struct Node Node;
struct Node {
    NodeKind kind;
    const RType *type;
    PrimId prim;
    int axis;       /* of a parallel map; of toShared: 1 to 3 pad, SWIZZLE, IN_PLACE */
    int place[2];   /* mapThreads: element i on thread place[0] * i + place[1]; 0: no such option */
    bool call;      /* print f(x), not x |> f */
    bool named;     /* a shuffle whose distance is the unroll's d */
    bool partial;   /* print a lambda (a, b) => op(a, b) as (op) */
    bool extreme;   /* LIT: lowest where value < 0, else highest */
    const char *spelled; /* a lambda that is printed as this operator of the prelude */
    int64_t value;
    Scalar scalar;  /* LIT, SIZE, cast */
    int n_sizes, n_vars, n, n_list;
    RSize sizes[SIZES_MAX];
    RVar *vars[VARS_MAX];
    Node *args[ARGS_MAX];
    int list[LIST_MAX];
};

typedef struct RDef {
    const char *name;
    bool is_operator;
    int n;
    RVar *params[3];
    Node *body;
} RDef;

enum { INPUTS_MAX = 8, NAMES_MAX = 2, DEFS_MAX = 3 };
typedef struct RProgram {
    Pool *pool;
    int n_names, n_inputs, n_defs;
    RAtom *names[NAMES_MAX];
    RVar *inputs[INPUTS_MAX];
    RDef *defs[DEFS_MAX];
    const RAtom *atoms;
    int64_t tunable;  /* 0: none; else the constant that is printed as `tile` */
    const char *prelude; /* declarations that come first; NULL: none */
    int threads, blocks; /* of the launch clause; 0: not given */
    Node *body;
} RProgram;

const RAtom *program_atom(RProgram *p, RAtomKind kind, RSize of, int64_t by);
RType *type_of_scalar(RProgram *p, Scalar s);
RType *type_of_array(RProgram *p, RSize size, const RType *elem);
RType *type_of_idx(RProgram *p, RSize size);

/* The type of a node from those of its parts; NULL when they do not fit. */
const RType *node_type(RProgram *p, const Node *node);
/* All of a tree, from the inputs' types on: gives variables their types. False when it is not well typed. */
bool node_retype(RProgram *p, Node *node);
/* All of a program, definitions included. */
bool program_retype(RProgram *p);
/* A copy that shares nothing that can be changed: inputs and sizes included. */
RProgram *program_copy(const RProgram *p, Pool *pool);
/* A copy of a tree, with its own variables where it binds them. */
Node *node_copy(RProgram *p, const Node *node);
/* The arguments of a primitive that are functions come first: how many. */
int prim_functions(PrimId id);

/* The text; in the pool. */
const char *program_text(const RProgram *p);

#endif
