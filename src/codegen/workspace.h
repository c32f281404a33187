/* Where the buffers of a launch's workspace lie in it. docs/manifest.md tells callers of it. */
#ifndef RISEC_CODEGEN_WORKSPACE_H
#define RISEC_CODEGEN_WORKSPACE_H

#include "codegen/imp.h"
#include "support/table.h"

enum {
    WORKSPACE_ALIGN = 16,         /* of its address, at least */
    WORKSPACE_STEP = 256,         /* each array of the data begins at a multiple of it, as if allocated by itself */
    /* The first flag, and the step at which the data may begin behind the flags. Not for order: with a ticket at byte 0, or
     * data from byte 256 on, sums of 2^14 to 2^20 numbers took 2 to 6 % longer on an H200 (bench/results/README.md). */
    WORKSPACE_FIRST_FLAG = 128,
    WORKSPACE_FLAGS_STEP = 4096,
    WORKSPACE_FLAG_ROOM = 1 << 18 /* bytes among the flags, of a buffer that must be zero and whose length depends on sizes */
};

typedef struct WorkBuffer {
    const ImpBuf *buf;   /* as one of the kernels has it */
    const char *name;    /* in the host function; until then the buffer's own */
    Nat cells, bytes;    /* the most that a kernel in any of its forms needs */
    bool zero;           /* must be zero before a launch */
    int64_t flag, room;  /* its place in the first bytes, and how many it has there; flag -1: none */
    Nat offset;          /* its place among the data; NULL: none. With both, it lies among the flags where `bytes` is at most `room`; else each launch clears it */
    int64_t most;        /* bytes, by what is known of its kernels; -1: nothing is */
    VEC(const ImpWhens *) whens; /* of the launches that have it */
    VEC(int) variants;   /* that have it, as Workspace.variants counts */
    int first, last;     /* launches that do; and of those whose place it is */
    bool alone;          /* it shares its place with none by their times */
    int over;            /* the buffer whose place it has, as that is done with before; -1: its own */
} WorkBuffer;

/* What `maxResident` of a kernel is in the sizes of buffers, where kernels may differ in it. */
typedef struct WorkResident {
    const ImpKernel *kernel;
    Nat var;
} WorkResident;

typedef struct Workspace {
    int64_t flags; /* so many bytes at the start are zero before a launch and after it. They hold what depends on no size */
    int align;     /* of its address, in bytes */
    VEC(WorkBuffer) buffers; /* in the order of their places */
    VEC(WorkResident) residents;
    ImpVariants variants; /* all of the program, in the order of launches */
    VEC(Nat) ends;         /* beside them: the bytes that what is launched at their sizes needs up to them */
    Table by_name; /* from interned names to places in the list of buffers */
} Workspace;

bool workspace_is_used(const ImpProgram *program); /* does a launch need any? */
void workspace_plan(Ctx *ctx, const ImpProgram *program, Workspace *space);
WorkBuffer *workspace_buffer(Ctx *ctx, const Workspace *space, const ImpBuf *buf);
/* The bytes up to the end of what the variant and those around it have: the most that this takes over all that is launched is what they need. */
Nat workspace_bytes(const Workspace *space, const ImpVariant *variant);
/* The variants that say all of that: none of them needs fewer bytes than another one, which is launched wherever it is. */
ImpVariants workspace_needs(Ctx *ctx, const NatFacts *facts, const Workspace *space);
/* No run of the program has both. */
bool workspace_excludes(const ImpWhens *a, const ImpWhens *b);
#endif
