/* What weighted sums (weights.c) and folds of the rows of a product (row_folds.c) are found by. */
#ifndef RISEC_SCHEDULE_WEIGHTS_PARTS_H
#define RISEC_SCHEDULE_WEIGHTS_PARTS_H

#include "schedule/product_parts.h"
#include "schedule/shape.h"
#include "schedule/weights.h"

typedef struct Weights {
    Ctx *ctx;
    int *next_var;
    FindNest find;
    void *user;
    Weighted *from;
    bool other; /* too many arrays */
} Weights;

enum { MOST_AFTER = 8 };

typedef struct Found {
    Product sums, scores;
    int n_after;             /* functions of one number that are made of an average */
    struct {
        const Core *term;
        int at;              /* the child that the number is */
    } after[MOST_AFTER];     /* the outermost first */
    const Nest *top, *total;
    Core *beside, *finish;
    CoreVar *result; /* the parameter of finish */
    bool apart;      /* the sums are divided, and not the weights */
    RowValues values; /* of each row, beside the averages */
    Core *of_row[MOST_ROW_VALUES]; /* their elements */
} Found;

/* The nest that a term reads an element of, with an index for each axis; NULL: it reads no such. */
const Nest *weights_read(const Weights *w, const Core *term, int *indices);
void weights_take(Weights *w, const Nest *nest);
/* The term with the elements of arrays that functions of scalars make of folds, in place of reads of them. */
Core *weights_spelled_out(Weights *w, Core *term);
/* The array of folds whose element a term is made of, over several axes; NULL: of none. */
const Nest *weights_product(Weights *w, const Core *term);
/* Takes those of the values that are made of what is largest in a row and of the total. False:
 * there is none, or too many. */
bool weights_take_values(Weights *w, Found *f, RowValues *values);
/* The tuple of the averages and of the values of a row. */
Core *weights_tuple(const Weights *w, const Found *f, Core *averages, CoreVar *top,
                    CoreVar *total);
/* What a score, over these axes of rows and this axis of a fold, is made of the product. */
bool weights_finish(Weights *w, Found *f, Core *score, CoreVar *const *axes, int rows, const CoreVar *fold);

#endif
