#ifndef RISEC_SCHEDULE_SHAPE_H
#define RISEC_SCHEDULE_SHAPE_H

#include "ir/terms.h"
#include "schedule/nests.h"

/* The array of a nest, as the library's rules know it. */
Core *stage_term(Ctx *ctx, const CoreEntry *entry, const Nest *nest, int *next_var);

#endif
