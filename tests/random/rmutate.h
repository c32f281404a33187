/* Planted faults: changes of a finished kernel, each of which some run has to notice. Only tests know of them. */
#ifndef RISEC_TESTS_RMUTATE_H
#define RISEC_TESTS_RMUTATE_H

#include "codegen/imp.h"

typedef enum FaultKind {
    FAULT_BARRIER,      /* a barrier taken out */
    FAULT_STORE_INDEX,  /* a store one cell further on */
    FAULT_LOAD_INDEX,   /* a load likewise */
    FAULT_GUARD,        /* a condition that always holds: of a statement */
    FAULT_CHOICE,       /* of an expression */
    FAULT_SHUFFLE,      /* another distance, mask or lane */
    FAULT_MIN_MAX,      /* one for the other */
    FAULT_OPERANDS,     /* exchanged, where the order matters */
    FAULT_COMPARISON,   /* < for <=, and so on */
    FAULT_LOOP_END,     /* one trip less */
    FAULT_LOOP_STEP,    /* steps twice as long */
    FAULT_LOOP_START,   /* a trip later */
    FAULT_INITIAL,      /* a register starts with another number */
    FAULT_SLOT,         /* the next slot of a register array */
    FAULT_ATOMIC,       /* an atomic in two steps: a load, and then a store */
    FAULT_ATOMIC_OP,    /* another operation in it */
    FAULT_TICKET,       /* taken for the last one, one block too early */
    FAULT_NO_TICKET,    /* counted without ordering what came before */
    FAULT_GRID_SYNC,    /* a barrier of the grid taken out */
    FAULT_SERVE,        /* no block answers the totals */
    FAULT_EXCHANGE,     /* a total with the number of the next one */
    FAULT_SUM,          /* totals combined by another operation */
    FAULT_KINDS
} FaultKind;
extern const char *const fault_names[FAULT_KINDS];

typedef struct Fault {
    FaultKind kind;
    ImpKernel *kernel;
    ImpStmt *stmt;
    ImpExpr *expr;       /* where it is in an expression */
    const char *what;    /* the text of what is changed */
    ImpStmt old_stmt;    /* as it was */
    ImpExpr old_expr;
} Fault;

typedef struct Faults {
    Ctx *ctx;
    ImpKernel *kernel;
    VEC(Fault) list;
    ImpStmt *at;
} Faults;

/* All faults that can be planted in a kernel. */
Faults faults_of(Ctx *ctx, ImpKernel *kernel);
void fault_plant(Ctx *ctx, Fault *fault);
void fault_remove(Fault *fault);

#endif
