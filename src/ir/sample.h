/* Small inputs and sizes to try a program on: for checks of rules and rewriting steps, and for the tests.
 *
 * Everything follows from a seed. Floats get small integers as values, so that sums and products of them are exact in any order. */
#ifndef RISEC_IR_SAMPLE_H
#define RISEC_IR_SAMPLE_H

#include "ir/interp.h"

/* Inputs are small integers, so that sums of floats and of their products are exact. */
typedef struct SampleInputs {
    uint64_t seed;
    int64_t max_cells; /* of any one array; 0: no limit */
    int64_t spread;    /* values from -spread to spread; 0: 8. More for programs that compare floats and do not add them */
    bool wide;         /* integers are any of their type */
    bool real;         /* floats are no integers: from 0 to 1, or, by the seed, from -1 to 1, or of many magnitudes */
    int64_t num_sm;    /* as in a Launch */
    Arena *memory;     /* as in a Launch */
} SampleInputs;

uint64_t sample_random(uint64_t *state);

/* A launch with these sizes; no results yet. False, with diagnostics, when the entry does not accept the sizes; false, too, when an array is too large. */
bool sample_launch(Ctx *ctx, const CoreEntry *entry, const int64_t *sizes, const SampleInputs *how, Launch *launch);
/* Makes room for the results and runs the reference interpreter. False with diagnostics, or when launch->max_steps was not enough. */
bool sample_run(Ctx *ctx, const CoreEntry *entry, Launch *launch);
/* -0 becomes 0 in the results: 0 is the unit of a sum, and 0 + -0 is 0. */
void sample_plain_zeros(const Launch *launch);
/* The same bits, but for the payload of NaNs. False: *result and *cell say where the first difference is; *cell is -1 where the shapes differ. */
bool sample_same(const Launch *a, const Launch *b, int *result, int64_t *cell);

/* The numbers that a program's sizes mention, up to SAMPLE_LARGEST. Gives how many there are, at most SAMPLE_MARKS. */
enum { SAMPLE_MARKS = 32, SAMPLE_LARGEST = 4096 };
int sample_marks(const CoreEntry *entry, int64_t marks[SAMPLE_MARKS]);
/* Launches with small sizes that the entry accepts, smaller ones first. `marks`: numbers of the program about which sizes are tried, too. Sizes that
 * `fixed` gives (-1: open) stay. At most `most`; their number is given, and may be 0 where the entry's facts want other sizes. */
int sample_sizes(Ctx *ctx, const CoreEntry *entry, const SampleInputs *how, const int64_t *fixed, int n_marks, const int64_t *marks, int most, int64_t **sizes);

/* Says whether a launch still shows what is looked for. */
typedef bool (*SampleShows)(void *user, const Launch *launch);
/* Makes the values of the inputs as plain as they can be while `shows` stays true: 0 where that is possible, else 1, else halves. */
void sample_shrink_values(Ctx *ctx, Launch *launch, SampleShows shows, void *user);

#endif
