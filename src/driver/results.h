/* Results of a run: shown to people, and as JSON. */
#ifndef RISEC_DRIVER_RESULTS_H
#define RISEC_DRIVER_RESULTS_H

#include "ir/interp.h"

enum { RESULTS_JSON_ELEMENTS = 1000000, RESULTS_SHOWN = 16, RESULTS_FIRST = 8, RESULTS_LAST = 2 };

/* Elements of arrays of at most RESULTS_SHOWN in full, of longer ones the first and the last; one line for each innermost row. */
void results_print(StrBuf *out, const HostBuf *buf);
/* All results of an entry: with a number before each where there are several. */
void results_print_all(StrBuf *out, int n, const HostBuf *results);
/* `{"type": "f32", "shape": [2], "values": [1, "nan"]}` */
void results_json(StrBuf *out, const HostBuf *buf);

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
