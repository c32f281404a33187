/* What the runner asks of the shim: schedules, and memory that faults when a kernel leaves it. */
#ifndef SHIM_H
#define SHIM_H

#include "cuda_shim.h"

namespace cuda_shim {

/* How the threads of the next launches take turns. The result must not depend on it.
 *
 * TURNS_BY_WARP and TURNS_BY_THREAD give each warp or thread of a block a random rank, and always run the first that can: it gets as far ahead of the others as barriers
 * allow, which shows where one is missing between a read and a later write. */
enum Turns { TURNS_IN_ORDER, TURNS_RANDOM, TURNS_BY_WARP, TURNS_BY_THREAD, TURNS_COUNT };
struct Schedule {
    Turns turns;         /* TURNS_IN_ORDER: one block at a time; else several */
    uint64_t seed;
    unsigned grid_limit; /* most blocks on an axis, though the host asks for more; 0: no limit */
    unsigned multiprocessors;
    bool wide;           /* the kernels with 64-bit indices, where there are such */
    int fails;           /* the kernel with this number from now on, the first is 1, cannot be launched; 0: all can */
};
extern Schedule schedule;
void start_run(const Schedule &how); /* forgets errors and attributes of the last one */

/* A next number below `bound` from the state. */
uint64_t random_below(uint64_t *state, uint64_t bound);
int live_allocations();
/* The run was refused because no device has that much shared memory. */
bool wanted_too_much_shared();

enum { BOUNDARY = 256 }; /* what cudaMalloc aligns to */

/* Exactly `bytes` bytes between poisoned ones, at `offset` behind a boundary; full of rubbish. */
struct Guarded {
    unsigned char *base, *at;
    size_t bytes, room;
};
Guarded guarded_new(size_t bytes, size_t offset, unsigned char rubbish);
void guarded_free(Guarded *g);
}
#endif
