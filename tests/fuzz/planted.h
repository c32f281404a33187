/* Faults that the fuzzer has to find. None of the programs that it starts from shows one: fuzz.sh makes sure. */
#ifndef RISEC_TESTS_PLANTED_H
#define RISEC_TESTS_PLANTED_H

#include "codegen/lower.h"

/* 1: a read behind a buffer, where a program has errors of two kinds that seldom come together. */
void planted_in_check(Ctx *ctx, int plant);
/* 2: an overflow of int, where the sizes of inputs of u64 are large constants.
 * 3: wrong code: a min for a max or a max for a min, where the result is of u16. */
void planted_in_imp(Ctx *ctx, const CoreEntry *entry, ImpProgram *imp, int plant);

#endif
