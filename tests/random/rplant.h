/* Faults planted in what the scheduler makes: in the list of stored arrays as a term, and in the launches that come of it. Only tests know of them. */
#ifndef RISEC_TESTS_RPLANT_H
#define RISEC_TESTS_RPLANT_H

#include "codegen/imp.h"
#include "ir/terms.h"

typedef enum PlantKind {
    PLANT_GUARD,      /* a condition that always holds */
    PLANT_BRANCHES,   /* exchanged */
    PLANT_COMPARISON, /* of sizes and indices: < for <=, and so on */
    PLANT_INDEX,      /* the next element is read */
    PLANT_AXES,       /* two indices exchanged */
    PLANT_EXTENT,     /* a fold leaves out the last element */
    PLANT_UNIT,       /* a fold begins with another number */
    PLANT_READ,       /* another array of the same type is read */
    PLANT_STAGE,      /* an array that nobody computes: zeros */
    PLANT_RESULTS,    /* two results exchanged */
    PLANT_TERMS,      /* so many in terms; then in launches: */
    PLANT_LAUNCH = PLANT_TERMS, /* one is missing */
    PLANT_ORDER,      /* one too early: before what it reads is written */
    PLANT_BUFFER,     /* the wrong one of the two of a state */
    PLANT_COUNT,      /* one turn too few */
    PLANT_KINDS
} PlantKind;
extern const char *const plant_names[PLANT_KINDS];

typedef struct Plant {
    PlantKind kind;
    Span span;
    const char *what; /* the text of what is changed */
} Plant;

/* The term with fault number k planted; NULL: there are fewer. */
Core *plant_term(Ctx *ctx, const CoreEntry *entry, Core *body, int k, int *next_var, Plant *plant);

typedef struct Changed {
    Nat *at, old;
} Changed;

/* The program with other launches; what it shares with the sound one is changed until plant_remove. */
typedef struct LaunchPlant {
    Plant plant;
    ImpProgram program;
    int launch; /* that it is about */
    const ImpKernel *kernel; /* and which of its kernels; NULL: any */
    VEC(Changed) changed;
} LaunchPlant;
/* Fault number k of the launches; false: there are fewer. */
bool plant_launch(Ctx *ctx, const ImpProgram *program, int k, LaunchPlant *plant);
void plant_remove(LaunchPlant *plant);

#endif
