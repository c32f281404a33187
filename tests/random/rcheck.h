/* Compiles and runs one random program, and says what came of it. */
#ifndef RISEC_TESTS_RCHECK_H
#define RISEC_TESTS_RCHECK_H

#include "executors.h"
#include "rfeatures.h"
#include "rtree.h"

typedef enum Verdict {
    V_GOOD,
    V_REFUSED,   /* with a code that says: not lowered, not proved, not readable there */
    V_NOT_RUN,   /* compiled, but no trial could be run */
    V_DIFFER,    /* sim and ref; from here on it is a failure */
    V_FINDING,   /* of the simulator */
    V_IN_PLACE,  /* differs where a result takes the memory of an input */
    V_INTERNAL,  /* E0510, or core that core_verify does not accept */
    V_ILL_TYPED, /* refused as if the program were wrong */
    V_RUN_CODE,  /* a run ended with a code that no well-typed program has */
    V_CRASH,
    V_HANG,
    V_COUNT
} Verdict;
extern const char *const verdict_names[V_COUNT];
static inline bool verdict_fails(Verdict v) { return v >= V_DIFFER; }

typedef struct RTrial {
    int64_t sizes[NAMES_MAX]; /* beside RProgram.names */
    int64_t grid;
    uint64_t seed;
} RTrial;

/* What is no primitive of its own. */
typedef enum Form { FORM_PAD, FORM_SWIZZLE, FORM_IN_PLACE, FORM_PLACE, FORM_ARRAY_STATE, FORM_TUPLE_STATE, FORM_SIZE_TEST, FORM_UNROLL, FORM_TREE, FORM_DATA_SHUFFLE, FORM_VECTOR, FORM_F16, FORM_BF16, FORM_COUNT } Form;
extern const char *const form_names[FORM_COUNT];

typedef struct RResult {
    Verdict verdict;
    int code;      /* DiagCode of the refusal or the failure; -1: none */
    int finding;   /* SimFindingKind of the first */
    int agreed, cannot; /* trials */
    RTrial trial;  /* FAILS in a run: which one */
    unsigned char reads[P_COUNT], writes[P_COUNT]; /* is the primitive in the program, on which side */
    unsigned char forms[FORM_COUNT];
    struct { int allowed, refused, seen; } in_place; /* runs with a result in the memory of an input: that the compiler allows; that it does not, and of these, that differ */
    unsigned features; /* a bit for each Feature, of the launches that agree */
} RResult;

/* Which scalar types this version lowers: found by compiling. */
void lowered_scalars(bool scalars[SC_COUNT]);
/* Tries the trials that follow from the seed. `say`: prints what is wrong. */
RResult check_program(const RProgram *p, uint64_t seed, bool say);
/* One trial of a compiled program. */
Outcome run_random_trial(Compiled *c, const RProgram *p, const RTrial *t, SimReport *report);
/* With results in the memory of inputs: SimOptions.over. */
Outcome run_random_trial_over(Compiled *c, const RProgram *p, const RTrial *t, const int *over);
/* Trial k of a program; there are TRIALS. */
enum { TRIALS = 4 };
RTrial random_trial(const RProgram *p, uint64_t seed, int k);
/* The trial's sizes in the order of the entry. */
void random_sizes(const Compiled *c, const RProgram *p, const RTrial *t, int64_t *sizes);
Compiled compile_quietly(const char *text);
/* The code of the first error; -1: there is none. */
int first_error(const Ctx *ctx);
/* What a well-typed program may be refused with: something not proved, not in its place, too large, or not lowered. */
bool may_refuse(int code);

#endif
