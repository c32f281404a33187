/* What the files of the pass outline share. Private to src/codegen.
 *
 * outline.c: the pass. outline_form.c: what a statement is, and what of it may differ between two
 * places. outline_read.c: what a place mentions, and whether two may have one function.
 * outline_match.c: what a function for several places has as parameters. outline_names.c: what it
 * is called. */
#ifndef RISEC_CODEGEN_OUTLINE_H
#define RISEC_CODEGEN_OUTLINE_H

#include "codegen/lowering.h"

/* ---- outline_form.c -------------------------------------------------------------------------- */

typedef enum SlotKind { SLOT_VAR, SLOT_LOOP, SLOT_BUF, SLOT_NAT } SlotKind;

/* A register, the variable of a loop, a buffer or a number that a statement mentions. */
typedef struct Slot {
    SlotKind kind;
    bool declares, sets; /* VAR */
    bool partly;         /* VAR: set under a condition, in a loop or in one of its parts */
    bool fixed;          /* NAT: a function has it as it is */
    bool bounds;         /* NAT: of a loop */
    ImpVar *var;
    Nat loop;
    ImpBuf *buf; /* BUF; NAT: the number of a cell of it */
    Nat *at;     /* NAT: where it stands in the statement */
} Slot;

/* A statement with all that is in it. Two with the same words differ in their slots alone. */
typedef struct Form {
    VEC(uint64_t) words;
    VEC(Slot) slots;
    uint64_t hash; /* of the words */
    int lines;     /* of text, about */
    bool spared;   /* a condition in it, but in none of its loops with `full`, is spared */
    bool grid;     /* it counts the blocks of the launch */
    int blocks[2]; /* the first slots of the statements in it: of a loop, or of the branches */
} Form;

Form *form_of(Ctx *ctx, ImpStmt *s);
bool form_same(const Form *a, const Form *b);
/* Comments, and what prints nothing and gives nothing a name: they may differ. */
bool form_is_nothing(const ImpStmt *s);

/* ---- outline_read.c -------------------------------------------------------------------------- */

/* What stands for a variable that differs from place to place, so that numbers can be compared. */
typedef struct Neutral {
    int role;
    Nat lo, hi; /* constants, or NULL */
    Nat var;
} Neutral;

typedef struct Outline {
    Ctx *ctx;
    ImpProgram *program;
    VEC(Neutral) neutrals;
} Outline;

/* Where a kernel mentions a register: numbers of slots, counted through all of the kernel. */
typedef struct RegUses {
    int mentions, declared;
    VEC(int) reads, sets; /* rising; a declaration with a value is one that sets */
} RegUses;

/* A loop around statements. */
typedef struct LoopAround {
    const struct LoopAround *outer;
    int from; /* its first slot */
} LoopAround;

/* Statements that follow each other, at one place. */
typedef struct Place {
    const ImpKernel *kernel;
    const RegUses *uses;     /* of each register of the kernel, by its id */
    const LoopAround *loops; /* innermost first */
    int first, behind;       /* slots; -1: of the body of a function */
    ImpBlock *block;
    int from, to; /* the first statement, and that behind the last one */
    int n;        /* of them, those that are something */
    const Form **forms;
    struct Reading *reading;
} Place;

/* A register that the statements mention. */
typedef struct Reg {
    ImpVar *var;
    bool declared, set, read_first;
    bool filled; /* an array that its declaration gives values */
    int mentions;
} Reg;

typedef struct Reading {
    Table regs; /* number + 1 of a register; of a buffer, too */
    VEC(Reg) reg;
    VEC(ImpBuf *) buf;
    int *number; /* of each slot: which register or buffer, or -1 */
    Nat *nat;    /* of each slot: the number, with neutral variables */
    const Slot **slots;
    int n_slots;
    VEC(Nat) own, neutral; /* what stands for what; the place's own variables come first */
    int n_own;             /* so many are loops' and of registers that are declared here */
} Reading;

Reading *outline_reading(Outline *o, Place *p);
/* Does a number with neutral variables mention what the statements declare? */
bool reading_mentions_own(const Reading *r, Nat nat);
Nat outline_common_terms(Ctx *ctx, Nat a, Nat b); /* of two sums */
/* Marks the declarations of registers that only functions mention: body is the kernel's, or that of
 * a function whose registers are the kernel's. */
void outline_mark_moved(Ctx *ctx, const ImpKernel *kernel, ImpBlock *body);
/* May both places have one function? */
bool outline_fits(Outline *o, Place *a, Place *b);

/* ---- outline_match.c ------------------------------------------------------------------------- */

enum { MOST_PLACES = 64, MOST_PARAMS = 8 };

/* A function for all of the places, each of which fits the first one, and the calls. NULL: it would
 * have too many parameters. body: the copy of the statements, too. */
ImpFunction *outline_match(Outline *o, int n, Place *places, ImpCall **calls, bool body);

void outline_add_caller(Ctx *ctx, ImpFunction *f, const ImpKernel *kernel);

/* ---- outline_names.c ------------------------------------------------------------------------- */

void outline_name(Outline *o, ImpFunction *function);

#endif
