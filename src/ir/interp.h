/* The reference interpreter: core by its mathematical meaning, ignoring levels and memory. Slow and plain on purpose. */
#ifndef RISEC_IR_INTERP_H
#define RISEC_IR_INTERP_H

#include "ir/shadow.h"

/* An array of scalars, as in a file or on a device: one buffer per component of an input or a result. */
typedef struct HostBuf {
    Scalar elem;
    int rank;            /* 0: a scalar, count 1 */
    int64_t *shape;
    int64_t count;       /* product of the shape */
    unsigned char *bytes; /* count * scalar_bytes(elem) */
} HostBuf;

/* What a program does, each `let` once: functions of scalars applied, elements read of named arrays. */
typedef struct EntryWork {
    int64_t functions, loads;
} EntryWork;

/* What an entry is called with: values of its sizes and one HostBuf per component of each input, in order. */
typedef struct Launch {
    int n_sizes;
    int64_t *sizes;     /* beside entry->sizes */
    int n_buffers;
    HostBuf *buffers;   /* inputs, components in order (type_component) */
    int n_results;
    HostBuf *results;   /* filled by who runs it: components of entry->result */
    int64_t num_sm, max_resident; /* of the device; 0: as launch_device_size says; below 0: not known */
    int64_t turn;       /* of the group of launches that is repeated */
    int64_t max_steps;  /* interp_run gives up after so many scalar functions, primitives and KiB of what they make; 0: never */
    bool gave_up;       /* it did: there is no diagnostic then */
    bool order_open;    /* it folded with `reduce`, `scan`, `atomicReduce` or their kin, in some order */
    EntryWork work;          /* what it did */
    bool place_repeats; /* it wrote a cell of scatterUnchecked or scatterDrop again: which of the writes stays is open */
    Arena *memory;      /* where launch_buffer takes bytes from; NULL: the context's own */
} Launch;

/* The size of every array dimension of type component `t` under the launch's sizes. False with a diagnostic (E06xx) when a size is negative or
 * leaves 64 bits. Allocates shape; allocates bytes too when `with_bytes` (zeroed). */
bool launch_buffer(Ctx *ctx, const CoreEntry *entry, const Launch *launch, Type t, HostBuf *buf, bool with_bytes);
/* Evaluates a nat over the entry's sizes; false with a diagnostic. Here and in launch_test, a ctx of NULL means no diagnostic; then nothing is changed, and
 * several threads may ask at once. */
bool launch_nat(Ctx *ctx, const CoreEntry *entry, const Launch *launch, Nat nat, int64_t *value);
/* Whether a condition over sizes holds; false with a diagnostic when it has no value. */
bool launch_test(Ctx *ctx, const CoreEntry *entry, const Launch *launch, const Core *test, bool *holds);
enum { LAUNCH_RESIDENT_BLOCKS = 4 };
/* True for numSM and maxResident, with their values where there is no device: of one multiprocessor that takes a few blocks. */
bool launch_device_size(Nat var, int64_t *value);
/* The same under this launch, which may say what device it is for; false, too, where the launch does not know. */
bool launch_device_value(const Launch *launch, Nat var, int64_t *value);
/* Checks sizes >= 0 and the entry's facts. False with diagnostics. */
bool launch_check_sizes(Ctx *ctx, const CoreEntry *entry, const Launch *launch);
/* The same, and the shapes of the inputs, idx values in range. False with diagnostics. */
bool launch_check(Ctx *ctx, const CoreEntry *entry, const Launch *launch);

/* Runs the entry, after launch_check; fills launch->results. False with diagnostics (E06xx). */
bool interp_run(Ctx *ctx, const CoreEntry *entry, Launch *launch);

/* A component of a result, as shadows: row-major, as HostBuf. */
typedef struct ShadowBuf {
    int64_t count;
    ShadowValue *cells;
} ShadowBuf;
/* The same on shadows (ir/shadow.h): what each element of the results is, and how far a right kernel may be from it. `longest`: the most
 * roundings, one after the other, on the way from an input to a result of the launch; INFINITY: not known. Leaves launch->results alone;
 * *results, one for each component, lives as long as the context. */
bool interp_shadow(Ctx *ctx, const CoreEntry *entry, Launch *launch, double longest, ShadowBuf **results);

#endif
