/* The rows that a program of rows keeps on chip, where they are computed from rows of several
 * arrays. */
#ifndef RISEC_SCHEDULE_ROW_MATRIX_H
#define RISEC_SCHEDULE_ROW_MATRIX_H

#include "schedule/shape.h"

/* An array with a row, or a number, for each row of the results. */
typedef struct RowOperand {
    Core *all;
    CoreVar *var; /* that of this row */
} RowOperand;

typedef VEC(RowOperand) RowOperands;

/* If the n terms read the rows of the matrix only to compute the same elements from them and from what
 * stands beside them, these elements become the matrix. What the terms then no longer read does not
 * stand beside it any more. The last term is read by none of the others. */
void rows_computed_once(Ctx *ctx, int *next_var, RowOperand *matrix, RowOperands *beside, int n, Core **terms);

#endif
