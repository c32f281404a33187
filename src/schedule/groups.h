/* What decides which arrays are computed together. */
#ifndef RISEC_SCHEDULE_GROUPS_H
#define RISEC_SCHEDULE_GROUPS_H

#include "schedule/shape.h"

typedef struct Reader {
    const Nest *nest;
    int own; /* the first indices that are the reader's axes */
} Reader;

typedef struct Group {
    Nest *nest;
    bool taken;     /* by its reader */
    bool elsewhere; /* a result, beside other reads */
    bool in_result; /* a part of a result reads it */
    bool given;     /* it is a result, as it is, or values that a fold goes through: what a kernel gives */
    bool joined;    /* its value is given, as it is of the rows of several results */
    bool each;      /* an element by a thread, which folds no more than a few others for it */
    int results;    /* that it is */
    int components; /* of its elements, that are results of their own */
    VEC(Reader) readers;
} Group;

typedef struct Groups {
    Ctx *ctx;
    const CoreEntry *entry;
    RowSizes *rows;
    bool matrices; /* some of them are products or transpositions */
    int n;
    Group *at;
    Table of_var;
} Groups;

/* Has the array one element for each of these rows, or a row, or more axes, of what is no fold? One
 * that launches leave is none of them. */
bool has_rows(const Nest *nest, int rows, const Nest *of);
/* Has each of several arrays kernels of its own, for rows of these sizes? Else the first such rows
 * are noted. `short_apart`: as RowSizes has it. */
bool are_apart(Groups *g, const Nest *nest, int rows, Nat length, bool short_apart);
/* Then a kernel for what follows costs less than to store the product. */
bool is_weighted(Groups *g, int at, int next_var);
bool same_axes(const Nest *a, const Nest *b);
void group_take(Group *group, const Nest *reader);
/* Is each reader of the array one of these, for its own row? */
bool readers_are(const Group *read, int rows, int n, Nest *const *members);
/* The nest of the array in these groups (`user`), unless it is taken; else NULL. */
const Nest *nest_of_group(void *user, const CoreVar *array);
/* The reads of all groups, as their terms are now. */
void note_all(Groups *g);

/* Notes what the term of a nest, or, where there is no reader, a result, reads. */
void note_reads(Groups *g, const Nest *reader, const Core *term);

/* ---- weight_results.c ---- */
/* Weighted sums that are a result, with results that are made of what else is known of their rows.
 * The result with their components. */
Core *weights_joined(Groups *g, int at, Core *result, int *next_var);

/* ---- group_results.c ---- */
/* The array of tuples that one kernel computes, in place of the arrays that have a component of it:
 * the number of each, or -1. `last`: the last of these arrays. The result with its components. */
Core *results_of_tuples(Groups *g, int last, Nest *all, const int *component, Core *result,
                        int *next_var);
/* Notes which arrays the results are, and what else they read. */
void results_noted(Groups *g, const Core *result);
/* Results that are made of the same rows become one array of tuples. The result in its terms. */
Core *results_joined(Groups *g, Core *result, int *next_var);
/* The result, where the last kernel computes some of it. of_two: the list is one of two. */
Core *results_in_place(Groups *g, Core *result, bool of_two);

#endif
