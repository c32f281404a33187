/* What things take on the device that programs are scheduled for: docs/nests.md, "The table of costs". */
#ifndef RISEC_IR_COSTS_H
#define RISEC_IR_COSTS_H

#include <stdint.h>

typedef enum CostId {
#define COST(name, least) COST_##name,
#include "ir/costs.def"
#undef COST
    COST_COUNT
} CostId;

typedef struct Costs {
    int64_t of[COST_COUNT]; /* as the table has them */
    uint64_t hash;          /* of these */
    const char *text;       /* as written */
} Costs;

/* A time in reads of an element from memory. */
static inline double cost_in_reads(const Costs *costs, CostId id)
{
    return (double)costs->of[id] / (double)costs->of[COST_memoryRead];
}

#endif
