/* All that risec makes of a program: typed core, imp, CUDA C, and small launches on the simulator beside the reference. For programs that nobody wrote. */
#ifndef RISEC_TESTS_PIPELINE_H
#define RISEC_TESTS_PIPELINE_H

#include <stdio.h>

#include "executors.h"

typedef enum PipeVerdict {
    PIPE_GOOD,
    PIPE_REFUSED,  /* with an error */
    PIPE_MEMORY,   /* it ran out */
    PIPE_OPEN,     /* sim and ref differ where the language leaves it open: high-level programs that round, and places that repeat */
    PIPE_SILENT,   /* refused without an error; from here on it is a failure */
    PIPE_BUG,      /* E0510, core that core_verify does not accept, core that is printed and not read back */
    PIPE_DIFFERS,  /* sim and ref */
    PIPE_FINDING,  /* of the simulator */
    PIPE_RUN_CODE, /* a launch ended with a code that is about the program, not about the launch */
    PIPE_COUNT
} PipeVerdict;
extern const char *const pipe_names[PIPE_COUNT];
static inline bool pipe_fails(PipeVerdict v) { return v >= PIPE_SILENT; }

typedef struct PipeResult {
    PipeVerdict verdict;
    int code;            /* DiagCode of the first error, or -1 */
    bool claims;         /* it has operators or rules, whose laws may not hold */
    int agreed, refused; /* launches; refused ones say why */
    char said[300];      /* of a failure */
} PipeResult;

typedef struct Pipe {
    const char *name; /* imports are looked for beside it */
    const char *text;
    size_t size;
    uint64_t seed;
    int launches;      /* that have to agree, of each entry; no more are run */
    int entries;       /* of which launches are run */
    uint64_t max_steps;
    const FileAccess *files; /* or NULL */
    void (*change)(Ctx *ctx, const CoreEntry *entry, ImpProgram *imp, int plant); /* of what is launched; or NULL */
    int plant;
    FILE *cuda;        /* where the text goes when all is good; or NULL */
    bool typed_again;  /* core is printed and read back, too */
} Pipe;

PipeResult pipe_run(const Pipe *pipe, const Allocator *alloc);

#endif
