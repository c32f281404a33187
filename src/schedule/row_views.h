/* What a program of rows reads of memory for each of its rows: arrays with a row, or a number, for
 * each. */
#ifndef RISEC_SCHEDULE_ROW_VIEWS_H
#define RISEC_SCHEDULE_ROW_VIEWS_H

#include "schedule/shape.h"

/* Where a program of rows reads: in the term of a nest whose first `rows` axes say which row. */
typedef struct RowReads {
    Ctx *ctx;
    const CoreEntry *entry;
    const Nest *nest;
    int rows;
    int *next_var;
    VEC(const Core *) lets;     /* of indices, around the read: the outermost first */
    VEC(const CoreVar *) inner; /* indices that are bound in the term, and axes within the row */
    VEC(const CoreVar *) local; /* values that are bound in the term */
} RowReads;

typedef struct RowView {
    Core *all; /* a row, or a number, for each row of the results */
    Nat at;    /* the element of the row that is read; NULL: the whole row, or the number */
} RowView;

RowReads row_reads(Ctx *ctx, const CoreEntry *entry, const Nest *nest, int rows, int *next_var);
/* join of the array. */
Core *array_joined(Ctx *ctx, Core *array);
/* Does the term mention an axis that says which row? */
bool mentions_row(const RowReads *reads, const Core *term);
/* Does the term mention a value that is bound in the nest's term? */
bool mentions_local(const RowReads *reads, const Core *term);
/* What the read of an array in memory is, if each row of the results has a row of its own, or a
 * number. Without `several`, only rows as they are. */
bool row_view(const RowReads *reads, Core *read, bool several, RowView *view);

/* The read of an array that is the same for all rows, as an element of one row. */
Core *one_row(const RowReads *reads, Core *read);

#endif
