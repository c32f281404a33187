/* What `risec tune` found, as a text beside the program, FILE.rise.tune:
 *
 *     tuning 1                                             -- of the format
 *     entry sum on "NVIDIA H200" hash 5f1c09aa1b2c3d4e     -- of the entry with its defaults: core as text
 *       n <= 65536: threads = 256, perThread = 4
 *       else: threads = 512, perThread = 8, lowered by blocks{k = 512}
 *
 * An entry is looked up by its name and the device that it runs on ("sim" for the simulator), and used as long as its hash is the same. */
#ifndef RISEC_FRONTEND_TUNING_H
#define RISEC_FRONTEND_TUNING_H

#include "frontend/elab.h"

typedef struct TuneSection { /* one entry on one device */
    Span span;               /* of its first line */
    size_t begin, end;       /* bytes of the text, with the lines of comments above it */
    const char *entry, *device;
    uint64_t hash;
    int n_classes;
    const ElabClass *classes;
} TuneSection;

typedef struct Tuning {
    uint32_t file; /* of the diagnostics */
    VEC(TuneSection) sections;
} Tuning;

enum { TUNING_VERSION = 1 };
#define TUNING_SUFFIX ".tune"
#define TUNING_SIM "sim" /* the simulator's name */
#define TUNING_AS_WRITTEN "as written" /* a class with no values, and no strategy but the entry's own */

/* False with E0660. The text lives as long as the context. */
bool tuning_parse(Ctx *ctx, const char *name, const char *text, size_t size, Tuning *tuning);
/* Of the file beside the program; none, and true, where there is no such file or the program is standard input. False with a diagnostic. */
bool tuning_read(Ctx *ctx, const char *program_path, Tuning *tuning);
/* NULL: there is none. */
const TuneSection *tuning_find(const Tuning *tuning, const char *entry, const char *device);
uint64_t tuning_hash(Ctx *ctx, const CoreEntry *defaults);
/* The name that a device has in these files: what stands before the first comma. */
const char *tuning_device(Ctx *ctx, const char *device_name);

/* The entry, with what the file beside the program says about it on this device; W0702 where it no longer fits. `section`: what was used, else
 * NULL. Settings that name a tunable, and a device of NULL, leave tuning out. NULL when there are errors. */
CoreEntry *tuned_entry(Ctx *ctx, Program *program, int entry, const char *path, const char *device, int n_settings, const ElabSetting *settings,
                       const TuneSection **section);

#endif
