#ifndef RISEC_SCHEDULE_SHAPE_H
#define RISEC_SCHEDULE_SHAPE_H

#include "ir/terms.h"
#include "schedule/nests.h"

/* An array of scalars, with one axis. */
static inline bool is_vector(Type type) { return type->kind == TY_ARRAY && type->elem->kind == TY_SCALAR; }

/* The array of a nest, as the library's rules know it, if they do. */
Core *stage_term(Ctx *ctx, const CoreEntry *entry, const Nest *nest, int *next_var);
/* A product of matrices, or a transposition; else NULL. */
Core *known_term(Ctx *ctx, const CoreEntry *entry, const Nest *nest, int *next_var);

/* Arrays of which one kernel computes a row each, by the rows of a matrix: how many there are, and how long they are. */
typedef struct RowSizes {
    Nat rows, length; /* NULL: there are none */
    bool short_apart; /* they are results, of which each has kernels of its own if the rows are many and short */
} RowSizes;

/* Gives each array of the list its value; of those that are read once for each row, the reader takes
 * them in, unless the rows are few and long. A result that is the only one is a value itself, unless the
 * list is one of two. The first such rows are noted. */
void nests_valued(Ctx *ctx, const CoreEntry *entry, Nests *nests, bool of_two, RowSizes *rows, int *next_var);
/* How many of the first indices of a read are the reader's axes, in their order. */
int own_indices(const Core *read, const Nest *reader);
/* Does the term of the nest read the array at its own rows alone? */
bool reads_at_rows(const Core *term, const Nest *nest, const CoreVar *array, int rows);
/* The last of n arrays, each of which has a row, or an element, for each of the first `rows` axes, by
 * the same row of those before it and of one array alone, and which nothing else reads; NULL where
 * they are not of this form. `given`: an array of tuples of all those for which it holds; NULL: the last
 * one alone. `length`: of a row of that array; NULL: its columns are what is folded. */
Core *rows_program(Ctx *ctx, const CoreEntry *entry, int rows, int n, Nest *const *nests, const bool *given, Nat *length,
                   int *next_var);
/* The last of n scalars: a fold, or what is made of the fold before it; else NULL. */
Core *fold_program(Ctx *ctx, int n, Nest *const *nests, int *next_var);

/* The term without conditions that those around them decide. */
Core *conditions_decided(Ctx *ctx, Core *term);
/* The list in which prefixes of rows, of columns and of tuples come in parts. */
const Nests *scans_parted(Ctx *ctx, const CoreEntry *entry, const Nests *nests, int *next_var);
/* Of a fold or scan over axes: do neighbours of what it reads lie along the last axis rather than along the fold? */
bool lies_across(Ctx *ctx, const CoreEntry *entry, Core *element, const CoreVar *fold, const CoreVar *kept); /* of an element and two axes */
bool reads_across(Ctx *ctx, const CoreEntry *entry, const Nest *nest, int *next_var);

/* Calls fn for each element of an array in memory that the term reads. */
typedef void (*ReadFn)(void *user, Core *read);
void each_read(Core *term, ReadFn fn, void *user);
/* A thread folds so many elements alone, however many folds there are (`shortColumn` of std.matrices). */
enum { SHORT_FOLD = 64 };
/* Has the fold, of neighbours of which threads read neighbours, a fixed number of elements, and few? */
bool is_short_fold(Ctx *ctx, const CoreEntry *entry, const Nest *nest, int *next_var);
/* Is it a reduction of so few elements that a thread does it alone, wherever they lie? */
bool folds_few(const Core *term);
/* The fold of which a value is computed: let total = fold in value; or the term itself. */
const Core *fold_in(const Core *term);
/* The axis of the array that a fold is of, with its element; a row of memory gets one. */
Core *fold_element(Ctx *ctx, const Core *fold, CoreVar **axis, int *next_var);
/* What repeats the step, which is given as elements: by one block where the state is small. */
Core *steps_in_block(Ctx *ctx, const CoreEntry *entry, const NestSteps *steps, const Nests *step, Core *repeated,
                     int *next_var);
/* The list in which folds of one array over the same axes are one fold of tuples. */
const Nests *folds_merged(Ctx *ctx, const CoreEntry *entry, const Nests *nests, int *next_var);

/* generate(axis => element), as an array, a zip of arrays or a map over them, where it reads such.
 * `indices`: what the axis alone says is one of these arrays. */
Core *vector_over(Ctx *ctx, int *next_var, CoreVar *axis, Core *element, bool indices);
/* The term, with all arrays in it written so. */
Core *with_vectors(Ctx *ctx, int *next_var, Core *term, bool indices);
/* The array: generate(axes => element). */
Core *plain_term(Ctx *ctx, const Nest *nest);
/* An array of rows over all these axes, one after the other, by the axes; under the condition that
 * there are rows, unless that is known. */
Core *rows_split(Ctx *ctx, const CoreEntry *entry, int n_axes, CoreVar *const *axes, Core *rows, int *next_var);

/* The array of a nest, under the condition that all its axes have elements, unless that is known. */
Core *all_or_none(Ctx *ctx, const CoreEntry *entry, const Nest *nest, Core *all, int *next_var);
/* The array of arrays, where the dimension at this depth is split into these axes. */
Core *split_within(Ctx *ctx, int *next_var, Core *array, int depth, int n, CoreVar *const *axes);
/* How many elements there are over all of these axes. */
Nat axes_count(Ctx *ctx, int n, CoreVar *const *axes);
/* The element where one index counts through all of these axes. */
Core *flattened(Ctx *ctx, int n, CoreVar *const *axes, Core *element, CoreVar **flat, int *next_var);
/* Do neighbours along the axis lie beside each other, where an element is at this place of memory? */
bool is_next(Ctx *ctx, const CoreEntry *entry, Nat flat, Nat axis);
/* The place of the element in memory. */
Nat flat_index(Ctx *ctx, const Core *read);
/* The place within what its last so many indices are of. */
Nat flat_within(Ctx *ctx, const Core *read, int indices);
/* generate(axis => element), or the array that this is. */
Core *array_over(Ctx *ctx, CoreVar *axis, Core *element);
/* A layout of a matrix. */
Core *matrix_layout(Ctx *ctx, PrimId id, Type type, Core *array);
Core *transposed(Ctx *ctx, Core *array);
/* The same fold of another array. */
Core *fold_of(Ctx *ctx, const Core *fold, Core *array);

/* A fold whose operator neither commutes nor chooses what comes first: it is folded in order. */
bool fold_is_ordered(Ctx *ctx, const Core *term);

/* ---- nested.c ---- */
/* The list in which a fold of folds by the same operator is one fold. */
const Nests *folds_joined(Ctx *ctx, const CoreEntry *entry, const Nests *nests, int *next_var);

/* ---- apart.c ---- */
/* The list in which folds over axes that lie apart in memory are folds of folds. */
const Nests *folds_apart(Ctx *ctx, const CoreEntry *entry, const Nests *nests, int *next_var);

/* ---- few.c ---- */
/* The list with names of its own. */
Nests *nests_copy(Ctx *ctx, const Nests *nests, int *next_var);
/* Is any of them a sequence? */
bool nests_have_steps(const Nests *nests);
/* Is it known that there are too few rows for a block each, and that a row does not fit on chip? */
bool rows_are_few(Ctx *ctx, const NatFacts *known, const RowSizes *rows);
/* Is it known that there are many rows of results, and that they are short? */
bool rows_are_short(Ctx *ctx, const NatFacts *known, const RowSizes *rows);
/* The list, or copies of it where these rows are few and long, or many and short; NULL: that is known. */
const Nests *rows_staged(Ctx *ctx, const CoreEntry *entry, const Nests *nests, const RowSizes *rows, int *next_var);

/* ---- axes.c ---- */
/* Folds over several axes, of arrays in memory: with as few axes as lie apart there. NULL: they are not of this form. */
Core *fold_by_axes(Ctx *ctx, const CoreEntry *entry, const Nest *nest, int *next_var);

/* ---- permute.c ---- */
/* Elements over three axes or more, of which memory has another order. NULL: they are not of this form. */
Core *permutation(Ctx *ctx, const CoreEntry *entry, const Nest *nest, int *next_var);

#endif
