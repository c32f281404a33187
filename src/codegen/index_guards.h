/* When 32-bit indices suffice: conditions over the sizes under which no value, partial sum or product that a kernel computes for an
 * index leaves 31 bits. They are what a host checks before it launches. */
#ifndef RISEC_CODEGEN_INDEX_GUARDS_H
#define RISEC_CODEGEN_INDEX_GUARDS_H

#include "codegen/imp.h"

/* A host launches no more blocks per axis: then neither the hardware's limits nor the last step of a strided loop can be exceeded. */
enum { LAUNCH_MAX_GRID = 65535 };
/* But where a launch must have just so many blocks (ImpKernel.once), axis x takes as many as the hardware does. */
enum { LAUNCH_MAX_GRID_ONCE_X = 2147483647 };
int kernel_max_grid(const ImpKernel *kernel, int axis);
enum { LAUNCH_MAX_STATIC_SHARED = 48 << 10 }; /* bytes; more must be dynamic */
#define INDEX_MAX INT64_C(2147483647)
/* With 64-bit indices: no size is larger, and nothing that a kernel computes for an index leaves 2^52, so that a host can check it in double. */
#define WIDE_SIZE_MAX (INT64_C(1) << 40)
#define WIDE_INDEX_MAX (INT64_C(1) << 52)
/* A product of sizes alone stays below this, as the elements of an array do: what is added to it, or is a few times as large, then cannot leave 2^52. */
#define WIDE_PRODUCT_MAX (INT64_C(1) << 48)

typedef struct IndexGuards {
    VEC(Nat) at_least_one; /* divisors */
    VEC(Nat) at_most_max;  /* each <= INDEX_MAX. No product in them leaves 64 bits if they are checked in order and no size is negative or above INDEX_MAX */
} IndexGuards;

/* Are 31 bits enough for all sizes that the kernel's facts allow? */
bool index_guards_hold(Ctx *ctx, const ImpKernel *kernel);
/* Do the indices of a launch of these sizes stay below INDEX_MAX, or, with `wide`, below index_most? What has no value in 64 bits does not. */
bool index_guards_admit(const CoreEntry *entry, const IndexGuards *guards, const Launch *launch, bool wide);
bool index_mentions_device(Ctx *ctx, Nat nat); /* a size of the device */
bool index_is_product(Nat nat); /* of sizes, perhaps times a number */
int64_t index_most(Nat nat);    /* how large it may be with 64-bit indices: WIDE_PRODUCT_MAX or WIDE_INDEX_MAX */
/* Products of sizes that were tested before. */
typedef VEC(Nat) IndexProducts;
/* No larger than WIDE_INDEX_MAX, nor is anything that it is computed from, where the sizes are at most WIDE_SIZE_MAX: such a guard says nothing
 * (index_most.c). */
bool index_guards_small(Ctx *ctx, const IndexProducts *products, const NatFacts *facts, Nat nat);
/* Bounds of WIDE_INDEX_MAX under which a value of the host, and all that it is computed from, stays in 64 bits: added to guards->at_most_max. */
void index_guards_of_value(Ctx *ctx, Nat nat, IndexGuards *guards);
/* Of all facts and size tests of a program. */
void index_guards_of_tests(Ctx *ctx, const ImpProgram *program, IndexGuards *guards);
/* Is there a kernel for these sizes, in each place where one is launched? Else a diagnostic. program NULL: of an entry that only the reference interpreter
 * runs; it takes any. */
bool index_guards_take(Ctx *ctx, const ImpProgram *program, const Launch *launch);
/* The kernel's own where it has them, else found now. */
const IndexGuards *index_guards(Ctx *ctx, const ImpKernel *kernel);
/* True when the kernel's shared memory is given at launch: its size is not constant, or too large for a declaration. */
bool kernel_shared_is_dynamic(const ImpKernel *kernel);
/* Blocks of the launch on an axis: kernel->blocks, at most kernel_max_grid. */
Nat kernel_grid(Ctx *ctx, const ImpKernel *kernel, int axis);
/* Cells of a buffer of the launch, over the sizes alone. */
Nat kernel_cells(Ctx *ctx, const ImpKernel *kernel, const ImpBuf *buf);

#endif
