/* What a product of matrices is made of, for those who write its term. */
#ifndef RISEC_SCHEDULE_PRODUCT_PARTS_H
#define RISEC_SCHEDULE_PRODUCT_PARTS_H

#include "schedule/product.h"

enum { BATCH, ROW, COLUMN, GROUPS };

/* A fold over an axis, of a function of two operands. */
typedef struct Product {
    Ctx *ctx;
    const CoreEntry *entry;
    int *next_var;
    const Nest *nest;
    CoreVar *fold; /* its axis */
    Core *cond;    /* over the axes: elsewhere the product is the unit of the fold; NULL: it is one everywhere */
    int first[GROUPS + 1]; /* the axes of each group, by where it begins */
    int of_left, of_right; /* axes that reads without and with the last axis mention, as bits */
    Core *left, *right;    /* operands */
    Core *by_left, *by_right; /* what stands for them in the function of pairs */
    bool other;            /* it is no product */
    CoreVar *pair;         /* of operands, and */
    Core *body;            /* the function of it */
} Product;

/* False: the nest is no product. */
bool product_find(Product *p, Ctx *ctx, const CoreEntry *entry, const Nest *nest, int *next_var);
/* How many axes the group has. */
int product_axes(const Product *p, int group);
/* The matrices that an operand has: its rows or columns, one after the other. They are transposed where neighbours in memory lie along them. */
Core *product_matrices(const Product *p, Core *element, int group);
/* What is made of an element of the product, as a function of a pair, and the array beside the product; NULL: it is no such function. */
Core *product_finish(Product *p, const Nest *then, Core **beside, CoreVar **pair);
/* map(fun column => reduce(op, unit, map(f, zip(row, column))), columns) */
Core *product_row(const Product *p, Core *row, Core *columns);
/* The array over the axes of each group, as one over all axes of the nest. */
Core *product_over_axes(const Product *p, Core *all);
/* The same of an array that has one element for each row. */
Core *product_over_rows(const Product *p, Core *all);
/* The term without names of tuples: of (x, y).1 it has x. */
Core *product_opened(Ctx *ctx, Core *term, int *next_var);
Core *product_zip(Ctx *ctx, Core *a, Core *b);
Core *product_component(const Product *p, CoreVar *pair, int i);
CoreVar *product_element(const Product *p, const char *name, const Core *array);

#endif
