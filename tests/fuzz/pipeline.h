/* All that risec makes of a program: typed core, imp, CUDA C, and small launches on the simulator beside the reference. For programs that nobody wrote. */
#ifndef RISEC_TESTS_PIPELINE_H
#define RISEC_TESTS_PIPELINE_H

#include <stdio.h>

#include "executors.h"

typedef enum PipeVerdict {
    PIPE_GOOD,
    PIPE_REFUSED,  /* with an error */
    PIPE_MEMORY,   /* it ran out */
    PIPE_SILENT,   /* refused without an error; from here on it is a failure */
    PIPE_BUG,      /* E0510, core that core_verify does not accept, core that is printed and not read back */
    PIPE_DIFFERS,  /* sim and ref, by more than rounding and places that repeat explain: driver/judge.h */
    PIPE_FINDING,  /* of the simulator */
    PIPE_RUN_CODE, /* a launch ended with a code that is about the program, not about the launch */
    PIPE_COUNT
} PipeVerdict;
extern const char *const pipe_names[PIPE_COUNT];
static inline bool pipe_fails(PipeVerdict v) { return v >= PIPE_SILENT; }

/* What became of a launch that did not fail. */
typedef enum PipeLaunch {
    LAUNCH_EQUAL,    /* to the bit */
    LAUNCH_NEAR,     /* within the judge's bounds */
    LAUNCH_NO_CHECK, /* the judge says that rounding could explain anything, or has no shadow */
    LAUNCH_OPEN,     /* ... that places of scatterUnchecked or scatterDrop repeat, and too many elements are open by that */
    LAUNCH_REFUSED,  /* with a reason */
    LAUNCH_KINDS
} PipeLaunch;
extern const char *const launch_names[LAUNCH_KINDS];

typedef struct PipeResult {
    PipeVerdict verdict;
    int code;            /* DiagCode of the first error, or -1 */
    bool claims;         /* it has operators or rules, whose laws may not hold */
    int launches[LAUNCH_KINDS];
    int64_t undecided;   /* elements, of launches that agree */
    bool judged;         /* PIPE_DIFFERS: a judge was asked */
    char said[300];      /* of a failure */
} PipeResult;

typedef struct Pipe {
    const char *name; /* imports are looked for beside it */
    const char *text;
    size_t size;
    uint64_t seed;
    int launches;      /* of each entry that have to agree; no more are run */
    int entries;       /* of which launches are run */
    uint64_t max_steps;
    const FileAccess *files; /* or NULL */
    void (*change)(Ctx *ctx, const CoreEntry *entry, ImpProgram *imp, int plant); /* of what is launched; or NULL */
    int plant;
    FILE *cuda;        /* where the text goes when all is good; or NULL */
    bool typed_again;  /* core is printed and read back, too */
    Brake *brake;      /* or NULL; what it ends is out of memory */
} Pipe;

PipeResult pipe_run(const Pipe *pipe, const Allocator *alloc);

#endif
