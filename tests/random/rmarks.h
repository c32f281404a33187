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
} Marks;

/* The numbers of all its kernels up to `most`, each once. */
Marks marks_of(Ctx *ctx, const ImpProgram *program, int64_t most);
/* A size near one of them, a multiple, a sum or a product; or somewhere below or above one. */
int64_t marks_size(const Marks *marks, uint64_t *state);

#endif
