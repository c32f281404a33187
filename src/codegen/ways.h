/* Ways through the size tests of an entry (ways.c, Note [Ways]), and what kernels have of their own (kernels.c). Private to the two. */
#ifndef RISEC_CODEGEN_WAYS_H
#define RISEC_CODEGEN_WAYS_H

#include "codegen/lowering.h"

/* Where a kernel begins: the nextKernel, or NULL for the first one, for the so-manieth time, under these tests. */
typedef struct Start {
    const Core *at;
    int turn;
    Decisions open;
    int launch; /* its number in the program, -1: none yet */
} Start;

typedef struct Begun { /* a kernel of the way */
    ImpKernel *kernel;
    const Core *at;
    int start;       /* number in starts */
    bool prepares;   /* it stands before the kernel that begins here */
    bool recorded, nothing;
    Decisions tests; /* under which it is launched */
} Begun;

typedef struct Placed { /* a kernel of the program */
    ImpKernel *kernel;
    Decisions tests;
    int step, steps; /* of the way; 0: it prepares another one */
    const ImpHint *hints; /* of lw->globals[0 .. n_hints - 1] */
    int n_hints;
} Placed;

typedef struct Space { /* workspace: number `number` that is made inside of these branches */
    Decisions tests;
    int number;
    Scalar elem;
    Nat count;
    ImpBuf *buf;
    int shares; /* which one's memory it is */
} Space;

typedef struct Repeated {
    const Core *at; /* the repeatKernels */
    const ImpGroup *group;
} Repeated;

struct Ways {
    View *result;
    VEC(Decisions) left;
    Decisions way;       /* that is being gone, as far as it is told */
    bool fresh;          /* what begins is on no way before */
    int meets;           /* where it came to another way again, in starts; -1: nowhere */
    VEC(Begun) begun;
    VEC(Start) starts;   /* of all ways */
    VEC(Decisions) made; /* workspace so far: the branches around it */
    VEC(Space) spaces;   /* of all ways */
    VEC(Placed) placed;
    VEC(Repeated) groups; /* of all ways */
    VEC(Decisions) classes;
    VEC(const Core *) conds; /* of tests, each once */
};

void ways_go(Lowering *lw, View *result);
/* The kernel begins at the nextKernel, or first: its tests are decided, and lw->known is what holds in all of it. */
void way_kernel(Lowering *lw, ImpKernel *kernel, const Core *at);
/* The group of a repeatKernels, the same on all ways. */
const ImpGroup *way_group(Lowering *lw, const Core *at, Nat count);
void way_facts(Lowering *lw); /* lw->facts is what holds at the place of translation */
void way_kernel_before(Lowering *lw, ImpKernel *init);

/* ---- kernels.c ---------------------------------------------------------------------------------------------------------- */

void kernel_end(Lowering *lw); /* all statements of the kernel are there */
void own_kernel_values(Lowering *lw, ImpKernel *kernel);
void own_kernel_bufs(Lowering *lw, ImpKernel *kernel, const ImpHint *hints, int n_hints);

#endif
