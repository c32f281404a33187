/* Folds of what other folds give: which of them are one, and which go through values of rows. */
#ifndef RISEC_SCHEDULE_NESTED_H
#define RISEC_SCHEDULE_NESTED_H

#include "schedule/shape.h"

typedef struct Nested {
    Ctx *ctx;
    const CoreEntry *entry;
    int *next_var;
    Nest **at;
    int n;
    const Core *result; /* NULL: of two lists, either may read any array */
    Table of_var; /* from an array to its nest */
    Table reads;  /* from a nest to a count: how often it is read, or is a result */
    NestList values;  /* of rows, that folds go through: */
    VEC(int) through; /* the number of the fold of each */
} Nested;

typedef struct Count {
    int n;
} Count;

/* A nest, and those that it reads element by element, each at its own row. */
typedef struct Row {
    const Nested *m;
    const Nest *own; /* the nest whose term is looked at */
    int rows;        /* axes that say which row */
    VEC(const Nest *) made, folds; /* of the row: what is worked out element by element, and folded */
    VEC(const CoreVar *) others; /* arrays that are not of the list */
    bool memory;                 /* a row of such an array is read that all of these axes say */
} Row;

/* How often the term reads the array. */
int nested_reads(const Core *term, const CoreVar *array);
/* Is it a fold of an array whose length no axis says? */
bool nested_is_plain_fold(const Nest *nest);
Row nested_row(const Nested *m, const Nest *nest, int rows);
/* With all that the folds of the row are made of, in turn. */
Row nested_whole_row(const Nested *m, const Nest *values);
bool nested_is_of_row(const Row *row, const Nest *nest);
/* Is all that reads the fold, but for so many reads, among the values and what they are made of, and
 * is it more than a thread folds? */
bool nested_is_rows_own(const Nested *m, const Row *row, const Nest *values, const Nest *fold, int reads_beside);

/* ---- row_values.c ---- */

/* The fold of this number goes through an array of values, which is a nest of its own, if one kernel
 * computes each of them with its row on chip. */
void row_values(Nested *m, int at);
/* The list, with these values. */
NestList row_values_in_order(const Nested *m);

#endif
