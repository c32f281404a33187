/* What is measured at one size: inputs and results on the device, in several copies, and calls of entries on them. `risec bench` races an entry against
 * hand-written kernels there, `risec tune` the entry with other values of its tunables. */
#ifndef RISEC_DRIVER_BENCH_WORK_H
#define RISEC_DRIVER_BENCH_WORK_H

#include "driver/bench_gpu.h"
#include "driver/driver.h"
#include "driver/judge.h"
#include "driver/results.h"

/* ---- --sizes NAME=N,N,... ----------------------------------------------------------------------------------------------------- */

enum { BENCH_MAX_SIZES = 64, BENCH_MAX_ROUNDS = 1000 };

typedef struct BenchSeries {
    const char *name;
    int n;
    int64_t values[BENCH_MAX_SIZES];
} BenchSeries;

typedef struct BenchSizes {
    int n_runs; /* at least 1 */
    VEC(BenchSeries) series;
} BenchSizes;

/* False with diagnostics. */
bool bench_sizes_read(Ctx *ctx, Driver *d, const CoreEntry *entry, BenchSizes *sizes);
/* The command line as if the sizes of this run were given by --set. */
const CommandLine *bench_sizes_line(Ctx *ctx, const BenchSizes *sizes, const CommandLine *line, int run);
/* --rounds, at least 1; 0 with a diagnostic. */
int bench_rounds(Ctx *ctx, Driver *d);
/* `--set numSM=...` is refused. */
bool bench_device_is_its_own(Ctx *ctx, Driver *d);

/* ---- one size ----------------------------------------------------------------------------------------------------------------- */

typedef struct BenchWork {
    Ctx *ctx;
    const CoreEntry *entry;
    BenchGpu *gpu;
    Launch launch; /* results have shapes and no bytes */
    int64_t *held; /* elements of each input that the host has; the device has them again and again */
    int n_arguments; /* results first, as everywhere in librise */
    const HostBuf **host;
    size_t *bytes, all_bytes; /* of the arguments, of all of them */
    bool *values;             /* which arguments are scalars that are passed by value */
    int copies;
    CUdeviceptr **at; /* [copy][argument] */
} BenchWork;

/* Sizes, inputs on the host, shapes of the results: from the command line. False with diagnostics. */
bool bench_work_make(Ctx *ctx, Driver *d, const CommandLine *line, const CoreEntry *entry, BenchGpu *gpu, BenchWork *work);
/* The copies on the device. bench_work_free frees them, also where this failed. */
int bench_work_copy(BenchWork *work, rise_error *error);
void bench_work_free(BenchWork *work);
/* A call for each copy; those that were made are the caller's also where it fails. */
int bench_work_calls(const BenchWork *work, rise_entry *entry, rise_call **calls, rise_error *error);
/* Runs once on the first copy, whose results are poisoned before, and fetches the results. */
int bench_work_fetch(const BenchWork *work, const BenchContender *contender, HostBuf *results, rise_error *error);
/* Of results of one size. `imp`: what was launched. Where the inputs are so many that this would take minutes, it says that there is no check. */
Judge bench_work_judge(const BenchWork *work, const ImpProgram *imp);
/* How much further than ours results of other kernels may be from the exact ones: their trees are not known. */
enum { BENCH_RIVAL_BOUNDS = 8 };

#endif
