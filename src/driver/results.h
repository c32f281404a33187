/* Results of a run: shown to people, as JSON, and compared. */
#ifndef RISEC_DRIVER_RESULTS_H
#define RISEC_DRIVER_RESULTS_H

#include "ir/interp.h"

enum { RESULTS_JSON_ELEMENTS = 1000000, RESULTS_SHOWN = 16, RESULTS_FIRST = 8, RESULTS_LAST = 2 };

/* Elements of arrays of at most RESULTS_SHOWN in full, of longer ones the first and the last; one line for each innermost row. */
void results_print(StrBuf *out, const HostBuf *buf);
/* `{"type": "f32", "shape": [2], "values": [1, "nan"]}` */
void results_json(StrBuf *out, const HostBuf *buf);

/* Note [The bound of a comparison]
 * Two ways of summing the same n floats differ by at most about n * eps * (the sum of their absolute values), whatever the order of each
 * (Higham, Accuracy and Stability of Numerical Algorithms, section 4.2: each is within (n - 1) * eps/2 of the exact sum, to first order).
 * The bound here adds a few roundings for what happens to the sum afterwards, and never falls below that many roundings of the result
 * itself. For programs that do something else than sum it is a yardstick, and the driver prints it beside the error.
 *
 * Note [Exact runs]
 * Where no operation of either run rounded anything (the machine keeps a note of that, FE_INEXACT), both results are the values of their expressions over the
 * real numbers. If the laws hold by which one order was made of the other, they are equal to the bit but for the sign of a zero (0 + -0 is 0, so that
 * a sum that begins with 0 is never -0), and that is asked for. Small integers kept as floats
 * are such a case. What a GPU rounds is not known: there the reference must not round, and the inputs be integers whose absolute values sum up to what
 * the type holds exactly. */
typedef struct Comparison {
    bool equal;        /* within the bound */
    bool exact;        /* to the bit, but for the payload of NaNs */
    bool wanted_exact; /* nothing was rounded: see Note [Exact runs] */
    bool float_bound;  /* a float result was compared with a bound */
    double max_error, bound; /* of the element with the largest error in proportion to its bound */
    /* The first element that is not equal: */
    int result;        /* which result, from 0 */
    int64_t cell;
    double cell_error, cell_bound; /* floats */
    bool shapes_differ; /* then `result` has another type or shape */
} Comparison;

/* `launch`: its buffers are the inputs, of which the bound is made. `exact`: only equal bits are equal. */
Comparison results_compare(const Launch *launch, int n, const HostBuf *got, const HostBuf *want, bool exact);
/* Whether the inputs are integers so small that every sum of them is exact in the floats that they and the results are of. */
bool results_small_integers(const Launch *launch, int n, const HostBuf *results);
/* The same in two steps, where the inputs are not all there. */
typedef struct InputScale {
    double elements, sum; /* of all inputs; of the absolute values of those that are floats */
} InputScale;
InputScale results_scale(const Launch *launch);
Comparison results_compare_scaled(const InputScale *scale, int n, const HostBuf *got, const HostBuf *want, bool exact);
/* "[3][5]" for a cell; "" for a scalar. */
void results_put_index(StrBuf *out, const HostBuf *buf, int64_t cell);
/* The value of one cell. */
void results_put_cell(StrBuf *out, const HostBuf *buf, int64_t cell);
/* Like results_print, all on one line, which is not ended. */
void results_put_row(StrBuf *out, const HostBuf *buf);
/* `xs = [1, 0, 2], y = 3`: the inputs of a launch, long arrays shortened as by results_print; each on one line. */
void results_put_inputs(StrBuf *out, const CoreEntry *entry, const Launch *launch);
void results_put_shape(StrBuf *out, const HostBuf *buf); /* "20.30.f32" */

#endif
