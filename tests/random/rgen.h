/* The generator: random programs that are well typed by construction. */
#ifndef RISEC_TESTS_RGEN_H
#define RISEC_TESTS_RGEN_H

#include "rtree.h"

/* The program of this number; the same for the same seed. `scalars`: the types that this version lowers. */
RProgram *generate_program(Pool *pool, uint64_t seed, const bool scalars[SC_COUNT]);

/* High-level ones. */
RProgram *generate_high_program(Pool *pool, uint64_t seed, const bool scalars[SC_COUNT]);
/* Those that only the scheduler takes: sequences whose state is an array, arrays with several readers,
 * of three axes, and by conditions. */
RProgram *generate_scheduled_program(Pool *pool, uint64_t seed, const bool scalars[SC_COUNT]);

/* ---- between the files of the generator ------------------------------------------------------------------------------------------------- */

enum { SCOPE_MAX = 48 };
typedef struct Gen {
    RProgram *p;
    uint64_t rng;
    const bool *scalars;
    int n_scope;
    RVar *scope[SCOPE_MAX]; /* what can be read here by whoever runs here */
    int counter;            /* of names */
    int thread_axes;        /* of mapThreads in this program: 1 .. 3 */
    bool by_threads, by_warps; /* what divides a block */
    bool scheduled;         /* high-level programs: for the scheduler */
} Gen;

static inline int below(Gen *g, int n) { return random_below(&g->rng, n); }
static inline bool chance(Gen *g, int percent) { return below(g, 100) < percent; }

Node *node_new(Gen *g, NodeKind kind);
/* Gives a finished node its type; ends the program when it has none, for then the generator is wrong. */
Node *node_done(Gen *g, Node *e);
RVar *var_new(Gen *g, const RType *type);
Node *node_var(Gen *g, RVar *v);
Node *node_prim(Gen *g, PrimId id, int n, Node *const *args);
Node *node_prim1(Gen *g, PrimId id, Node *xs);
Node *node_prim_k(Gen *g, PrimId id, int64_t k, Node *xs);
Node *node_lambda(Gen *g, int n, RVar *const *vars, Node *body);
Node *node_lit(Gen *g, Scalar s, int value);
Node *node_proj(Gen *g, Node *e, int k);
Node *node_let(Gen *g, RVar *v, Node *value, Node *body);
RVar *input_new(Gen *g, const RType *type); /* NULL: there are too many */
RVar *input_of(Gen *g, const RType *type);  /* one that is there, or a new one */
void scope_push(Gen *g, RVar *v);
void make_names(Gen *g);
/* An input that is an array. */
Node *random_source(Gen *g);
/* Rough number of scalars in a value, for sizes of some hundred. */
int64_t rtype_volume(const RType *t);

Scalar random_scalar(Gen *g);
/* A number that fits every numeric type. */
Node *random_lit(Gen *g, Scalar s);
/* An expression of this type over what is in scope. */
Node *random_value(Gen *g, Scalar want, int depth);
/* The same, and it mentions v. */
Node *random_value_of(Gen *g, RVar *v, Scalar want, int depth);
/* A scalar or a tuple of scalars out of v. */
Node *random_flat(Gen *g, RVar *v, int depth);
/* A constant of a flat type. */
Node *random_constant(Gen *g, const RType *t);
/* reduceSeq over an array. */
Node *random_reduce(Gen *g, Node *xs, int depth);
/* A step of a fold: acc and x, or something of them. */
Node *random_fold_step(Gen *g, RVar *acc, RVar *x, int depth);
Node *random_seq_map(Gen *g, Node *xs, int depth);
Node *random_cast(Gen *g, Scalar want, Node *e);
/* What one thread makes of v: an expression that can be written. */
Node *random_leaf(Gen *g, RVar *v, int depth);

/* rgen_patterns.c; NULL where it does not fit. */
/* scan, window, fold of rows, iterate or vectors in one thread: an expression that can be written. */
Node *random_pattern(Gen *g, Node *xs, int depth);
Node *random_row_fold(Gen *g, Node *xs, PrimId map, PrimId store);
Node *random_iterate(Gen *g, Node *xs, PrimId map, PrimId store);
Node *random_as_vector(Gen *g, Node *xs);
Node *random_vector(Gen *g, RVar *v, int depth);
Node *random_shfl(Gen *g, Node *xs);
Node *random_block_scan(Gen *g, Node *xs);
Node *random_repeated(Gen *g, Node *start);
Node *random_reduce_warp(Gen *g, Node *xs);
/* These give e where they do not fit. */
Node *random_scatter(Gen *g, Node *e);
Node *random_size_test(Gen *g, Node *body);
/* A condition over one of the sizes, of which there is one. */
Node *random_test(Gen *g);
Node *random_hits(Gen *g, Node *xs, PrimId map);
Node *random_atomic(Gen *g, Node *e);

/* rhigh.c: reduce, scan or scanExcl, of something made of the elements where they have no operator. */
Node *random_fold(Gen *g, PrimId id, Node *xs);

/* rstages.c */
/* Something of each element of an array that is given three axes. */
Node *random_cube(Gen *g, Node *xs);
/* One of two arrays by a condition. */
Node *random_branches(Gen *g, Node *xs);
/* What is made of an array that is computed, by several readers. */
Node *random_shared(Gen *g, Node *xs);

/* n random views on the reading side, and on the writing side. */
Node *random_views(Gen *g, Node *xs, int n);
Node *random_write_views(Gen *g, Node *xs, int n);
/* Splits until there are so many dimensions. */
Node *views_to_rank(Gen *g, Node *xs, int rank);
/* The constants that sizes are made of. */
int random_count(Gen *g);

#endif
