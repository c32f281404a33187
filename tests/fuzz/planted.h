/* Faults that the fuzzer has to find, and test_mutants. */
#ifndef RISEC_TESTS_PLANTED_H
#define RISEC_TESTS_PLANTED_H

#include "codegen/lower.h"

/* For the fuzzer. None of the programs that it starts from shows one: fuzz.sh makes sure.
 * 1: a read behind a buffer, where a program has errors of two kinds that seldom come together. */
void planted_in_check(Ctx *ctx, int plant);
/* 2: an overflow of int, where the sizes of inputs of u64 are large constants.
 * 3: wrong code: a min for a max or a max for a min, where they are of u16. */
void planted_in_imp(Ctx *ctx, const CoreEntry *entry, ImpProgram *imp, int plant);
/* For `test_mutants --plant`: any of the faults of rmutate.h that can be planted in these kernels, chosen by `which`. */
void planted_any(Ctx *ctx, const CoreEntry *entry, ImpProgram *imp, int which);

#endif
