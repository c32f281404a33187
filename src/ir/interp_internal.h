/* What the files of the interpreter share, and nobody else includes.
 *
 * interp_compile.c turns core into Code for one launch: every size that the launch fixes is a number, every variable and every
 * intermediate value has its place among the cells. interp.c runs it, in the memory of interp_memory.c.
 *
 * A value of a type with k components (type_component) takes k cells: a scalar stands in its cell, an array (or vector) is
 * a pointer to its scalars, row-major and without gaps. So rows, split, join, take and drop copy nothing. There is no recursion in the
 * language, so each place exists once: no frames. An idx is an i64 in here, whatever its size; elsewhere it may be an i32.
 *
 * Note [Runs on shadows]. interp_shadow runs the same Code on shadows (ir/shadow.h). There a scalar is a ShadowValue in scratch
 * memory and its cell points to it, as an array's does: all that moves values moves shadows, too. What differs is what computes with
 * scalars or looks at them. */
#ifndef RISEC_IR_INTERP_INTERNAL_H
#define RISEC_IR_INTERP_INTERNAL_H

#include "ir/interp.h"
#include "ir/shadow.h"

#include <math.h>

typedef union Cell {
    int64_t i;
    double f;
    unsigned char *at;
} Cell;

/* A size: a number once and for all, or one that depends on variables of the program. */
typedef struct Size {
    int64_t value; /* nat is NULL: the size; else as last computed */
    Nat nat;
    int n_vars;
    const Nat *vars;
    const int *cells; /* beside vars; ~cell: of a shadow */
} Size;

/* One component of a type. */
typedef struct Comp {
    Scalar scalar;
    bool by_address;  /* its cell points to it: an array, a vector, a shadow */
    int n_dims;       /* array: its dimensions, a vector's width the last; 0: a scalar */
    const Size *dims;
    int64_t bytes;    /* of the whole component, as last computed */
} Comp;

typedef struct Shape {
    int n;
    Comp *comps;
    bool fixed; /* all bytes are known and never change */
} Shape;

typedef struct Code Code;
typedef struct Lambda {
    int n_nats;
    const int *nats; /* cells */
    int n;
    const int *params; /* first cell of each */
    bool declared;     /* an operator of the program, with the laws that it says */
    int64_t roundings; /* on any way through the body, at most */
    Code *body;
} Lambda;

typedef enum CodeKind {
    CODE_PLACE,  /* the value is in its cells already: a variable */
    CODE_PART,   /* of args[0], whose cells contain it: a projection */
    CODE_LIT,    /* lit */
    CODE_SIZE,   /* nats[0] as a value */
    CODE_SCALAR, /* a scalar function of scalars */
    CODE_PRIM,
    CODE_LET,    /* args in order, the last is the value */
    CODE_TUPLE,
    CODE_IF      /* cond, then, otherwise */
} CodeKind;

struct Code {
    CodeKind kind;
    PrimId id;
    int at;       /* first cell of the value */
    Span span;
    Shape *shape; /* of the value */
    Shape *row;   /* of an element of the value, when that is an array; else NULL */
    Scalar scalar; /* CODE_SCALAR: of the operands */
    ScalarValue lit;
    int n_nats;
    Size *nats;
    int n;
    Code **args;  /* NULL where the argument is a function */
    Shape **arg_rows; /* of an element of each argument that is an array */
    Lambda **lambdas; /* NULL where the argument is none */
    Lambda *lambda;   /* the first function argument; only scanBlocks has more */
};

enum { SCRATCH_CHUNKS = 300 }; /* see scratch_alloc */

/* Buffers of intermediate values: a stack, given back by marks. */
typedef struct Scratch {
    struct { unsigned char *bytes; int64_t size, used; } chunks[SCRATCH_CHUNKS];
    int top;       /* the chunk in use, -1: none */
    int count;     /* chunks allocated; those above top are empty */
    int64_t total; /* bytes of all chunks */
} Scratch;

typedef struct Interp {
    Ctx *ctx;
    Arena arena; /* Code and what belongs to it */
    const CoreEntry *entry;
    Launch *launch;
    bool reported; /* the run ended with a diagnostic, or gave up */
    int64_t steps_left;
    int ticks; /* rounds of loops since the last look at the brake */
    Cell *cells;
    Scratch scratch;
    bool shadow;    /* Note [Runs on shadows] */
    ShadowBuf *shadows; /* then: the results */
    double longest; /* ... the longest chain of roundings in the launch that is judged */
    double chain;   /* ... and the chain of the fold around, whose order is open; 0: none is */
} Interp;

/* Of a scalar in memory. */
static inline int64_t scalar_room(const Interp *in, Scalar scalar) { return in->shadow ? (int64_t)sizeof(ShadowValue) : scalar_bytes(scalar); }

/* Ends the run: a diagnostic is in the context. */
_Noreturn void interp_stop(Interp *in);
/* Counts so many; ends the run where max_steps are used up. */
void interp_steps(Interp *in, int64_t n);
_Noreturn void interp_too_large(Interp *in, Span span);

typedef struct Mark {
    int top;
    int64_t used;
} Mark;

/* In each round of a loop over elements. */
static inline void interp_tick(Interp *in)
{
    if (++in->ticks < 256)
        return;
    in->ticks = 0;
    ctx_look(in->ctx);
}

Mark interp_mark(const Interp *in);
/* Gives back what was allocated since the mark: the end of a round. */
void interp_release(Interp *in, Mark mark);
/* Aligned to 16 bytes, not zeroed, never NULL. `span`: whose fault it is when the run needs too much. */
unsigned char *interp_alloc(Interp *in, Span span, int64_t size);
void interp_free_scratch(Interp *in);

/* The size as the variables are now. */
int64_t interp_size(Interp *in, const Size *size);
/* Brings the bytes of a shape (or NULL) up to date with the variables in it. */
void interp_refresh(Interp *in, Shape *shape);

/* interp.c: the value of code goes to its cells. */
void interp_eval(Interp *in, Code *code);

/* interp_scalar.c. `*off`: how far the number may be off; above 0 only on shadows. */
int64_t interp_number_at(const Interp *in, Scalar scalar, unsigned char *at, double *off);
int64_t interp_number(const Interp *in, const Code *code, double *off); /* of a scalar's code */
void interp_set_index(Interp *in, Span span, int cell, int64_t value);
bool interp_size_off(const Interp *in, const Size *size); /* an index in it is undecided */
void interp_spoil(const Shape *row, const Cell *array, int64_t from, int64_t n); /* rows [from, from + n) are undecided */
/* Shadows: row `to` gets row `from` of `xs`, or keeps what it has. Which of the two, is open, of each component by itself. */
void interp_write_again(const Interp *in, const Shape *row, const Cell *array, int64_t to, const Cell *xs, int64_t from);
/* A fold of open order has ended that made these rows. */
void interp_close(const Interp *in, const Shape *row, const Cell *array, int64_t from, int64_t n, double chain);
/* One of two values, by a condition that has been evaluated; of CODE_IF, the one that is taken is evaluated now. */
void interp_choose(Interp *in, Code *code, Code *cond, Code *then, Code *otherwise);
void interp_count(Interp *in, const Code *code);
void interp_scalar(Interp *in, Code *code);     /* CODE_SCALAR */
void interp_vector(Interp *in, Code *code);     /* a scalar function of vectors, or select of whole values */
void interp_literal(Interp *in, Code *code);
void interp_size_value(Interp *in, Code *code); /* CODE_SIZE */

/* The code of the entry's body. Sets in->cells; `inputs` gets the first cell of each input. */
Code *interp_compile(Interp *in, int *inputs);

#endif
