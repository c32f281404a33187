/* The plan of an entry: `risec lower --plan`. What its kernels are, what each computes and why, what is
 * stored between them. plan_stages.c gathers arrays and stages from the steps that were made, plan.c
 * the kernels that came out; plan_text.c and plan_json.c show it. */
#ifndef RISEC_DRIVER_PLAN_H
#define RISEC_DRIVER_PLAN_H

#include "codegen/workspace.h"
#include "driver/driver.h"
#include "rewrite/rewrite.h"
#include "schedule/reads.h"

/* PLAN_PART: a result, or several, that a stage of its own writes; or a part of a state. */
typedef enum PlanPlace { PLAN_INPUT, PLAN_RESULT, PLAN_PART, PLAN_STORED } PlanPlace;

typedef struct PlanArray {
    PlanPlace place;
    const char *name;   /* no other array of the plan is called so */
    const CoreVar *var; /* by which terms read it; a result: NULL */
    const CoreVar *holds; /* stored: ImpBuf.holds of its buffers */
    Type type;
    Nat bytes;          /* of an input or result, all components; stored: of its buffers */
    int buffers;        /* stored: of the workspace that hold it */
    int of;             /* a part: the array, and */
    VEC(int) components; /* which of it */
    VEC(int) elsewhere; /* components of its elements that are no results: they are stored */
    Span span;          /* where the program computes it */
    const NestChoice *choice; /* stored: why; or NULL */
} PlanArray;

typedef struct PlanReads {
    int array; /* of Plan.arrays */
    ArrayReads reads;
    VEC(int) kernels; /* of the stage's: those that read it */
} PlanReads;

/* What one kernel, or several that follow each other, compute. */
typedef struct PlanStage {
    int makes;               /* of Plan.arrays; -1: the results */
    bool rest;               /* the last of a list: what the others have not written */
    bool start;              /* of launches that repeat: what `makes` is before the first of them */
    bool step;               /* in a step of launches that repeat */
    ImpWhens when;           /* in these branches of the program */
    const Core *term;        /* as the scheduler leaves it to the rules; NULL: it was none of its */
    const Core *lowered;
    const RewriteStep *rule; /* the first step that was made here; NULL: none */
    const Core *walk;        /* that a thread goes through alone, over so many elements that it is slow; or NULL */
    bool by_blocks;          /* threads of a block, or of a warp, do something together */
    bool keeps;              /* on chip, what they read */
    bool vectors;            /* a thread computes neighbours, and reads once what they share */
    bool several;            /* one loop may compute several results, and reads once what they share */
    VEC(PlanReads) reads;
    VEC(int) kernels;        /* of Plan.launches */
    VEC(const char *) names; /* of these kernels: A2 is the second one of branch A, and 2 that of all branches */
} PlanStage;

typedef struct PlanKept { /* an array that is not stored */
    const char *name;
    const NestChoice *choice;
} PlanKept;

/* A buffer in which a template hands values from one of its kernels to the next. */
typedef struct PlanPartial {
    const char *name;
    Nat bytes;
    int stage;               /* of Plan.stages: whose kernels they are */
    VEC(int) writers;        /* of Plan.launches */
    VEC(int) readers;
} PlanPartial;

typedef struct PlanVariant {
    const ImpVariant *variant;
    VEC(int) stages;         /* of Plan.stages: several where branches of the program have one kernel in common */
    ImpWhens when;           /* beside what the sizes that are given decide for all the plan */
    bool chosen;             /* at the sizes that are given */
    const ImpKernel *form;   /* chosen: the form that is launched */
    int64_t blocks[3];       /* the same: of its launch */
    const char *name;        /* in CUDA, of the first form, or of the one that is launched */
} PlanVariant;

typedef struct PlanLaunch {
    const ImpLaunch *launch;
    VEC(PlanVariant) variants;
} PlanLaunch;

/* A result that may take the memory of an input, in a launch of librise. */
typedef struct PlanShare {
    const char *result, *input;
} PlanShare;

typedef struct Plan {
    Ctx *ctx;
    const CoreEntry *entry;   /* as written */
    const CoreEntry *lowered;
    const ImpProgram *program;
    const char *const *names; /* of its kernels, in CUDA, as imp_form counts */
    bool scheduled;           /* by a list of arrays: else stages have no terms, and choices are none */
    const NestChoices *choices; /* or NULL */
    VEC(PlanArray) arrays;
    VEC(PlanKept) kept;
    VEC(PlanPartial) partial;
    VEC(PlanStage) stages;
    VEC(PlanLaunch) launches;
    VEC(PlanShare) shares;
    int most;                 /* kernels, one after the other */
    Workspace space;
    const Launch *at;         /* the sizes; NULL: none are given */
    ImpWhens decided;         /* by them: the branches of the program that the plan is of */
    int64_t workspace_bytes;  /* at them; -1: not known */
    bool device_open;         /* numSM or maxResident matter, and are not given */
} Plan;

/* Of a rewriting that has been made. NULL with diagnostics. */
Plan *driver_plan(Ctx *ctx, Driver *d, const CoreEntry *entry, const Rewriting *r);
void plan_text(StrBuf *out, const Plan *plan);
void plan_json(StrBuf *out, const Plan *plan);

/* Of it: its arrays, and the stages that compute them. */
void plan_add_stages(Plan *plan, const Rewriting *r);

/* ---- for both ---- */
/* The value at the plan's sizes; false: there are none, or it has none. */
bool plan_value(const Plan *plan, Nat nat, int64_t *value);
/* Why the array is stored or not. */
const char *plan_why_choice(Ctx *ctx, const Plan *plan, const NestChoice *choice);
/* How often each element is read: `least` and `most` times; NULL: not a number of times that is the same
 * for all elements. */
typedef struct PlanOften {
    Nat least, most;
} PlanOften;
PlanOften plan_often(Ctx *ctx, const Plan *plan, const PlanStage *stage, const PlanReads *reads);
/* Fewer elements may be read than that says. */
bool plan_at_most(const PlanStage *stage, const PlanReads *reads, PlanOften often);
/* "each element once", "each element n = 8 times", "16*n elements in all". */
const char *plan_often_text(Ctx *ctx, const Plan *plan, const PlanStage *stage, const PlanReads *reads);
/* `4*n*m`, and with sizes `4*n*m = 4,096`. */
const char *plan_number(Ctx *ctx, const Plan *plan, Nat nat);
const char *plan_grouped(Ctx *ctx, int64_t value); /* 4,096 */
/* `soft.rise:3`; "" where that is no text of the user's. */
const char *plan_line(Ctx *ctx, Span span);
/* Of that line. */
const char *plan_line_text(Ctx *ctx, Span span);
/* Who computes the stage. */
const char *plan_who(Ctx *ctx, const Plan *plan, const PlanStage *stage);
bool plan_is_of(const PlanVariant *variant, int stage);
/* Do both say the same? */
bool plan_same_when(const Plan *plan, const ImpWhens *a, const ImpWhens *b);
/* No sizes have both. */
bool plan_excludes(const Plan *plan, const ImpWhens *a, const ImpWhens *b);
/* Why the stage is no part of a kernel before it; NULL: it is the first. */
const char *plan_why_apart(Ctx *ctx, const Plan *plan, int stage);
/* `kernels 2 and 3`: those of the stage. */
const char *plan_kernels(Ctx *ctx, const PlanStage *stage);
/* Of these, the ones that read the array. */
const char *plan_readers(Ctx *ctx, const PlanStage *stage, const PlanReads *reads);
/* `kernels 2 and 3`: these of the stage's. */
const char *plan_some(Ctx *ctx, const PlanStage *stage, int n, const int *kernels);
/* Why they are stored. */
const char *plan_why_partial(Ctx *ctx, const Plan *plan, const PlanPartial *partial);
/* `A2`: the kernel of Plan.launches, as one of the stage's. */
const char *plan_name(const PlanStage *stage, int kernel);
/* All kernels of the stage's branch. */
const char *plan_branch(Ctx *ctx, const Plan *plan, const PlanStage *stage);
/* Is the stage the first one of its branch? */
bool plan_begins_branch(const Plan *plan, int stage);
/* `result.2`: the result that a part is. */
const char *plan_part(const Plan *plan, const PlanArray *part);
/* ", but for .." of the result, or a state, where stages of their own write some of what this stage, or one
 * of those that write it (NULL), leaves; of others "". */
const char *plan_rest(const Plan *plan, int array, const PlanStage *stage);
/* Of a stored array or the result: the stage that leaves it at last; -1: not known. */
int plan_maker(const Plan *plan, int array);
/* "kernels 1 and 3": all that write the array, by sizes, or one after the other. */
const char *plan_makers(Ctx *ctx, const Plan *plan, int array, bool *several);

#endif
