/* Sizes at which a finished program goes another way: near the numbers that its conditions, loops and numbers of blocks mention. */
#ifndef RISEC_TESTS_RMARKS_H
#define RISEC_TESTS_RMARKS_H

#include "codegen/imp.h"

enum { MARKS_MAX = 64 };

typedef struct Marks {
    Ctx *ctx;
    int n;
    int64_t at[MARKS_MAX]; /* 2 to `most` */
    int64_t most;
    int n_literals;
    double literals[MARKS_MAX]; /* the numbers that its elements meet */
} Marks;

/* The numbers of the entry's facts and all its kernels up to `most`, each once. */
Marks marks_of(Ctx *ctx, const ImpProgram *program, int64_t most);
/* A size near one of them, a multiple, a sum or a product; or somewhere below or above one, or any up to a quarter of `most`. Sometimes, and
 * more often where the entry has several sizes, a small one. */
int64_t marks_size(const Marks *marks, int n_sizes, uint64_t *state);

#endif
