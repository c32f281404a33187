/* What the files of the simulator's compiler share: compile.c (kernels and statements), compile_expr.c, compile_nat.c (registers, instructions, nats). */
#ifndef RISEC_SIM_COMPILE_H
#define RISEC_SIM_COMPILE_H

#include "sim/sim_internal.h"

typedef struct Binding { /* what a nat variable is at this place */
    Nat nat;
    int operand;
    int var; /* register variable of the kernel, -1: none */
} Binding;

typedef struct Memo {
    Nat nat;
    int operand;
} Memo;

typedef struct Pool { /* registers of one kind; temporaries are a stack and are used again */
    int n;
    VEC(int) live, free;
} Pool;

typedef struct Ready {
    const ImpExpr *expr;
    int operand;
} Ready;

typedef struct Compiler {
    Run *run;
    Arena *arena;
    Code *code;
    Pool vectors, scalars;
    VEC(Binding) bindings;
    VEC(Memo) memo;       /* of one nat */
    int *var_reg;         /* per ImpVar: its first register, -1: none yet */
    bool *var_known;      /* per ImpVar: declared with a value in a block around this place */
    VEC(int) loops;       /* the slots of trip counts of the loops around */
    VEC(Ready) ready;     /* of one atomic: what the lanes have computed before they go one by one */
    int masks;            /* slots in use */
    bool failed;
    Span span;
    Span statement, place; /* of profiles: see place_of_expr */
    struct IndexCosts *costs; /* of profiles, or NULL */
} Compiler;

/* ---- compile_nat.c: instructions, registers and nats ------------------------------------------------------------------ */

void compile_bug(Compiler *c, const char *what); /* the kernel is not as the code generator makes them */

/* The new instruction; another one may move it. */
Ins *compile_emit(Compiler *c, OpCode op);
uint32_t compile_site(Compiler *c, Span span, const ImpBuf *buf, bool store, const char *what);
int compile_masks(Compiler *c, int n); /* n slots; the first */
int compile_here(const Compiler *c); /* the number of the next instruction */

/* Temporaries in use; what came after a mark is given back. */
typedef struct Mark {
    int vectors, scalars;
} Mark;
Mark register_mark(const Compiler *c);
void register_release(Compiler *c, Mark m);
int register_temp(Compiler *c); /* of 32 lanes */
int register_of(Compiler *c, Pool *p);
int register_preset(Compiler *c, bool vector, uint64_t bits); /* holds these bits from the start */

/* Operands: a vector register, or ~ a scalar one. */
int const_operand(Compiler *c, int64_t value);
void bind_nat(Compiler *c, Nat nat, int operand, int var); /* var: the register variable of the kernel, -1: none */
void check_set(Compiler *c, int reg, int var);
int compile_nat(Compiler *c, Nat a, Span span);
void check_range(Compiler *c, Nat var, int operand, Span span); /* of what is not known before it runs */

/* ---- compile_expr.c ----------------------------------------------------------------------------------------------------- */

int var_register(Compiler *c, const ImpVar *var);
bool declares_input(const Compiler *c, Span span);
int compile_expr(Compiler *c, const ImpExpr *e);

#endif
