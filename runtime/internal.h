/* What the files of librise share.
 *
 *   context.c   contexts, memory of the device       gpu.c      the driver: where we work, and what its errors mean
 *   program.c   programs, their text and files       image.c    CUDA C of kernels compiled, and loaded
 *   base.c      what all entries of a program share  plan.c     what of an entry does not change from launch to launch
 *   instance.c  the compiler on one entry            keep.c     the plan in small memory of the entry's own
 *   entry.c     entries and what can be asked        sizes.c    sizes from shapes, and whether they fit
 *   kernels.c   kernels of an entry, one by one      range.c    which of them sizes in a range choose
 *   handles.c   handles of all objects
 *   call.c      arguments, and what they must be     launch_gpu.c, launch_host.c   the launch itself
 *   memory_gpu.c   memory of a call on the device    workspace_gpu.c  what kernels leave for one another
 *   job.c       the thread that long work is done on, beside the caller's, which waits and is asked
 *   nvrtc_find.c   where NVRTC is                     nvrtc.c, toolchain.c, cache.c   code for kernels
 *   folder.c    files of programs that are not trusted    stack.c    threads with a large stack
 *
 * Who keeps whom: a program counts in its context's `refs`, a call in its program's and its entry's. Entries are the program's, and go with it if nothing
 * has freed them before.
 * Locks, outer before inner: entry->turn, program->turn, image->turn, context->lock, the toolchain's; program->lock; program->files_lock. A turn is held
 * while something is compiled, and only by a job; all others for a moment, and never while a callback of the caller runs. */
#ifndef RISE_RUNTIME_INTERNAL_H
#define RISE_RUNTIME_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "codegen/index_guards.h"
#include "codegen/lower.h"
#include "codegen/one_memory.h"
#include "cuda_api.h"
#include "frontend/elab.h"
#include "handles.h"
#include "job.h"
#include "toolchain.h"

/* What handles of rise.h stand for; no handle is ever a pointer to one of these. */
typedef struct RiseContext RiseContext;
typedef struct RiseProgram RiseProgram;
typedef struct RiseEntry RiseEntry;
typedef struct RiseCall RiseCall;

/* NULL with an error where the handle is none, or none any more. */
RiseContext *context_of(const rise_context *handle, rise_error *error);
RiseProgram *program_of(const rise_program *handle, rise_error *error);
RiseEntry *entry_of(const rise_entry *handle, rise_error *error);
RiseCall *call_of(const rise_call *handle, rise_error *error);

/* ---- seams ------------------------------------------------------------------------------------------------------------ */

/* All that librise asks of the world. */
typedef struct RiseSeams {
    Allocator alloc;
    FileAccess files;            /* reads programs */
    const LibraryLoader *loader; /* the driver, NVRTC, the environment; NULL: the system's */
    const CacheFiles *cache_files; /* NULL: the system's */
    const char *cache_dir;       /* NULL: the usual one; "": none */
    JobTests *job_tests;         /* or NULL */
} RiseSeams;

/* rise_context_new with seams. `seams` NULL: the usual ones. */
int context_new(const rise_context_options *options, const RiseSeams *seams, rise_context **context, rise_error *error);

/* ---- contexts --------------------------------------------------------------------------------------------------------- */

typedef struct Image Image;
typedef struct Instance Instance;
typedef struct HostMemory HostMemory;

typedef struct Gpu {
    CudaApi api;
    CUcontext context; /* where all of it happens */
    CUdevice device;
    bool owns_primary;
    int sms, max_shared, arch; /* 90 for sm_90 */
    bool cooperative, pools;
    CUstream stream; /* our own; NULL until it is needed; under the lock */
    _Atomic int lost; /* the CUresult after which nothing works any more; 0: none */
} Gpu;

struct RiseContext {
    RiseSeams seams;
    atomic_int refs;
    int device;
    rise_diagnostic_fn diagnostic;
    void *diagnostic_user;
    char why[RISE_ERROR_TEXT]; /* there is no GPU; "" */
    uint64_t sim_seed;
    JobOptions job;
    rise_device_allocator device_alloc; /* its functions NULL: the driver */
    uint64_t max_steps, max_memory, max_result; /* of launches on SIM and REF; 0: any */
    char *folder; /* this or `read`, or neither */
    rise_read_fn read;
    void *read_user;
    char *nvrtc_path; /* or NULL */
    Toolchain toolchain;
    pthread_mutex_t lock;
    Image *images; /* under the lock */
    HostMemory *memory; /* SIM, REF: of rise_alloc; under the lock */
    Instance *idle; /* that launches have used, the last one first; under the lock */
    Gpu gpu;
    char name[256], arch[16];
};

void context_release(RiseContext *context);
/* Zeroed memory; NULL with an error. context_dealloc takes NULL. */
void *context_alloc(RiseContext *context, size_t size, rise_error *error);
void context_dealloc(RiseContext *context, void *block);
char *context_copy(RiseContext *context, const char *text, size_t size, rise_error *error); /* with a zero byte behind it */
int context_out_of_memory(rise_error *error);
/* The struct of a caller who knows `size` bytes of it; gives false where that is no struct at all. */
bool struct_get(void *ours, size_t our_size, const void *theirs);
void struct_put(void *theirs, const void *ours, size_t our_size);
int argument_null(rise_error *error, const char *what);
/* job_run with the poll of the context. */
int context_job(const RiseContext *context, JobWork work, void *user, rise_error *error);

/* ---- gpu.c ------------------------------------------------------------------------------------------------------------ */

int gpu_open(RiseContext *context, const rise_context_options *options, rise_error *error);
void gpu_close(RiseContext *context);
/* Makes the context's CUDA context the current one of this thread until gpu_leave. RISE_ERROR_LOST where it is lost. */
int gpu_enter(RiseContext *context, bool *pushed, rise_error *error);
void gpu_leave(RiseContext *context, bool pushed);
/* Inside gpu_enter: a stream on which nothing of the caller's runs. It lives as long as the context. */
int gpu_own_stream(RiseContext *context, CUstream *stream, rise_error *error);
/* RISE_OK for CU_SUCCESS; else the error in words, "%s: what the driver says". Notes when the context is lost. */
int gpu_check(RiseContext *context, CUresult result, rise_error *error, const char *fmt, ...) RISE_PRINTF(4, 5);

/* ---- programs and the compiler ---------------------------------------------------------------------------------------- */

typedef struct SourceFile {
    struct SourceFile *next;
    FileStatus status;
    size_t size;
    char *path, *bytes;
} SourceFile;

/* What a program may read: imports by path, and its tuning. */
typedef enum ProgramReads {
    READS_BESIDE,  /* its own file's surroundings: it was read from a file by somebody who trusts it */
    READS_NOTHING,
    READS_FOLDER,  /* context->folder */
    READS_CALLBACK /* context->read */
} ProgramReads;

typedef struct Reader {
    RiseProgram *program;
    Job *job; /* that is at work; NULL: none, and nothing is read */
} Reader;

/* The program as parsed, which does not change any more: instances are inside of it (ctx_new_inside), any number at once. */
typedef struct Base {
    Ctx *ctx;
    Program *program;
} Base;

struct RiseProgram {
    RiseContext *context;
    atomic_int refs;
    char *name, *text; /* text NULL: the file `name` */
    size_t size;
    ProgramReads reads;
    int n_entries;
    char **entry_names;
    pthread_mutex_t lock;
    RiseEntry *entries; /* under the lock; those that are being made included */
    pthread_mutex_t files_lock;
    SourceFile *files; /* what was read, so that it is the same each time; under files_lock */
    Reader reader;
    Base base;         /* the text, and what it imports */
    Base more;         /* inside of it, with the modules that strategies have asked for; none until one has */
    Turn turn;         /* of making `more` */
    _Atomic bool has_more;
    int n_modules;     /* wanted in `more`; these under the lock, set once */
    char **modules;
};

void program_release(RiseProgram *program);
/* Tells the callback of all diagnostics in `ctx`, and *error of the first error; then forgets them. Gives their status, RISE_OK when there is no error. */
int program_report(const RiseProgram *program, Job *job, Ctx *ctx, bool silent, rise_error *error);

/* Parses; names of entries are not read yet. The job of the program's reader is at work. */
Program *base_parse(Ctx *ctx, const RiseProgram *program);
int base_get(RiseProgram *program, Job *job, const Base **base, rise_error *error);
/* An instance has read modules that its base has not: base_get reads them once, for those to come. Without memory nothing is noted. */
void base_note(RiseProgram *program, const Base *base, const Program *part);
void base_free(RiseProgram *program);

/* Memory of one Ctx, counted. */
typedef struct Meter {
    RiseContext *context;
    size_t bytes; /* that it holds */
    size_t most;  /* that it may hold; 0: any */
    bool over;    /* it wanted more */
} Meter;

/* The compiler on one entry, with a Ctx of its own. It takes megabytes, as nothing in a Ctx is ever freed: one that compiles goes when the plan and the texts
 * have been copied, one that runs programs waits for the next launch among the context's idle ones, and goes when it or they have grown. */
struct Instance {
    Instance *next;
    const RiseEntry *entry;
    const Base *base;
    Program *program;
    Reader reader;
    Meter meter;
    size_t fresh; /* meter.bytes when it was made */
    Ctx *ctx;
    CoreEntry *core;
    ImpProgram *imp; /* NULL until lowered; RISE_REF: NULL where it cannot be lowered */
};

/* Elaborates, and lowers unless `only_typed`. `silent`: diagnostics go nowhere. */
int instance_new(RiseEntry *entry, Job *job, bool only_typed, bool silent, Instance **instance, rise_error *error);
void instance_free(RiseContext *context, Instance *instance);
int instance_lower(Instance *instance, Job *job, bool silent, rise_error *error);
/* An idle one, or a new one. */
int instance_take(RiseEntry *entry, Job *job, Instance **instance, rise_error *error);
void instance_give(RiseEntry *entry, Instance *instance);
void instances_drop(const RiseEntry *entry); /* the idle ones */
/* How a Ctx reads the files of the program, once each. */
FileAccess program_files(Reader *reader);
/* Of a text that was read from the file `name`: it reads what a program from that file reads. */
int program_of_file(rise_context *context, const char *name, const char *text, size_t size, rise_program **program, rise_error *error);

/* ---- plans ------------------------------------------------------------------------------------------------------------ */

typedef struct Argument {
    const char *name, *text;
    bool is_result, is_index, by_value; /* by_value: a scalar input, a parameter of kernels */
    Scalar elem;
    int rank;
    Nat *extents;
    Nat below;
    const unsigned char *in_place; /* result: of each input, the OneMemory of both; NULL where it was not lowered */
} Argument;

typedef struct Temp { /* a buffer in the workspace (codegen/workspace.h), in the order in which data is placed */
    const char *name;
    bool zero;          /* it must be zero before a launch */
    bool data;          /* it has a place among the data */
    int64_t flag, room; /* its place among the flags, and the bytes there; flag -1: none */
    int over;           /* one before it, which is done with then, whose place it has; -1: its own */
} Temp;

typedef struct PlanBuffer {
    int argument, temp; /* which one it is; the other is -1 */
    int swap;           /* the temp with which it changes places; -1: none */
    Nat turns;          /* so often before the launch; NAT_TURN: as often as the group of the launch has been launched */
    int align;          /* 0: as its elements */
    Nat cells;          /* TEMP; may mention the device's sizes */
    int cell_bytes;
} PlanBuffer;

typedef struct Variant {
    const ImpKernel *kernel;
    const char *name; /* in CUDA */
    int number;       /* among the kernels of the entry */
    int n_buffers;
    PlanBuffer *buffers; /* the kernel's first parameters, in order; then the sizes */
    IndexGuards guards;
    bool dynamic_shared, asks_resident;
    bool guards_ask; /* ... in a guard, too: whether it holds is known once the kernel is loaded */
} Variant;

typedef struct Choice { /* what is launched where all conditions hold */
    ImpWhens when;
    const Variant *variant;
    int form; /* of the kernel; 0: its first one. All forms that follow it have its conditions */
} Choice;

typedef struct Step { /* one launch: the first of its choices that may be launched is, none where no conditions hold */
    Nat repeat; /* how often the launches beside each other that have this number as `group` are launched; NULL: once */
    int group;
    int n;
    Choice *choices;
} Step;

typedef struct Plan {
    const CoreEntry *core;
    int n_arguments, n_results; /* results first */
    Argument *arguments;
    int n_steps, n_variants;
    Step *steps;
    Variant **variants; /* all, by number */
    int n_temps;
    Temp *temps;
    int64_t flags; /* bytes at the start of the workspace */
    int align;     /* of its address */
    int max_params;
    IndexGuards tests; /* facts and size tests must have values */
} Plan;

/* In the instance's memory. Without kernels where it is not lowered. Runs inside ctx_try. */
void plan_make(Ctx *ctx, const CoreEntry *core, const ImpProgram *imp, Plan *plan);
/* A copy of `from`, which was made in ctx. Runs inside ctx_try of ctx; allocates in `to`. */
void plan_keep(Ctx *ctx, const Plan *from, Ctx *to, Plan *plan);
int plan_argument(const Plan *plan, const char *name); /* -1: none */
int scalar_of_type(int type); /* a rise_type as Scalar; -1 for what is none */
int rise_type_of(Scalar scalar);

/* ---- entries ---------------------------------------------------------------------------------------------------------- */

typedef struct Function { /* of the GPU, for a variant */
    Image *image; /* that it is in; set once, under the program's lock, with all below */
    CUfunction function;
    int registers, shared, local, max_threads;
    _Atomic bool ready;
} Function;

typedef struct EntryCode { /* of all kernels together, for who asks for it */
    struct EntryCode *next;
    Ctx *ctx; /* of the code */
    int arch;
    CodeForm form;
    Code code;
} EntryCode;

struct RiseEntry {
    RiseEntry *next;
    RiseProgram *program;
    int number; /* in the program */
    size_t n_settings;
    ElabSetting *settings; /* ordered by name */
    uint32_t flags;
    char *strategy, *costs; /* or NULL */
    int refs;              /* threads in rise_entry_get, what they were given, calls: under the program's lock */
    int gets;              /* what they were given, and is not given back; likewise */
    void *handle;          /* while there are gets; likewise */
    _Atomic bool made;     /* then, and never changed again: */
    Ctx *kept;        /* the plan's memory */
    Plan plan;
    Turn turn;        /* of making the entry, and all below */
    _Atomic bool has_texts;
    char *cuda, *manifest;
    size_t cuda_size, manifest_size;
    CudaPieces pieces; /* of `cuda`: the kernels, by number of the variant */
    EntryCode *codes;  /* whose turn it is */
    Function *functions; /* by number (kernels.c); NULL where there is no GPU. Made with the entry */
};

void entry_free(RiseEntry *entry);
void entry_hold(RiseEntry *entry);
void entry_release(RiseEntry *entry); /* the last one frees it */
int entry_texts(Job *job, RiseEntry *entry, rise_error *error); /* they are there then */
int entry_arch(const RiseEntry *entry, const char *arch, int *number, rise_error *error);
const char *entry_file_name(const RiseEntry *entry); /* of its CUDA C in messages */

/* ---- kernels of an entry ---------------------------------------------------------------------------------------------- */

/* Numbers of kernels are those of variants; from plan.n_variants on, those of their forms for launches in place. */
int kernels_new(RiseEntry *entry, rise_error *error);
void kernels_free(RiseEntry *entry);
/* What is in entry->functions does not change any more. */
bool kernel_is_ready(const RiseEntry *entry, int k);
/* Compiles and loads these, which are not ready, on a job. */
int kernels_get(RiseEntry *entry, int n, const int *numbers, rise_error *error);
/* Sets wanted[number] for each variant that sizes from least[i] to most[i] can choose. NULL: without a bound. */
void plan_in_range(const Plan *plan, int sms, const int64_t *least, const int64_t *most, bool *wanted);

/* ---- images ----------------------------------------------------------------------------------------------------------- */

/* Of a kernel's text; one for a text and an architecture in a context. */
int image_get(RiseContext *context, const char *text, size_t size, int arch, Image **image, rise_error *error);
void image_release(RiseContext *context, Image *image); /* NULL: nothing */
typedef struct ImageWant {
    Image *image;
    const char *name, *text; /* name: in messages */
    CUmodule module;         /* out; lives as long as the image */
} ImageWant;
/* Inside gpu_enter. Each is compiled and loaded unless it was. */
int images_load(RiseContext *context, Job *job, int n, ImageWant *wants, rise_error *error);
/* Compiles in ctx; the status of the first that is not good. */
int code_compile(RiseContext *context, Job *job, Ctx *ctx, int n, CodeWork *works, rise_error *error);

/* ---- calls ------------------------------------------------------------------------------------------------------------ */

/* Memory that a call has on the device. */
typedef struct DeviceBlock {
    CUdeviceptr at; /* 0: none */
    size_t bytes;
    CUstream home; /* in whose order it was allocated */
} DeviceBlock;

typedef struct CallArgument {
    bool given;          /* the caller has said where it is */
    bool is_scalar;      /* ... as a value, which is in `scalar` */
    int where;
    unsigned char *data; /* the caller's */
    size_t capacity;     /* result: bytes there */
    int64_t *given_shape;
    unsigned char scalar[8];
    /* Once prepared: */
    int64_t *shape;
    int64_t count;
    size_t bytes;
    void *own_host;       /* SIM, REF: of a result without a place */
    size_t own_host_bytes;
    DeviceBlock own;      /* GPU: of what is not on the device */
    CUdeviceptr address;  /* GPU: what kernels get */
} CallArgument;

typedef struct CallTemp { /* GPU, once prepared */
    int64_t bytes; /* -1: no kernel of the launch has it */
    int64_t offset; /* in the workspace */
    CUdeviceptr memory;
    bool clears;   /* each launch makes it zero first: it has no place among the flags */
} CallTemp;

typedef struct CallStep {
    const Variant *variant;
    int number;       /* of the kernel */
    int group;        /* launches beside each other with the same one repeat; 0: none */
    int64_t repeat;   /* so often */
    unsigned grid[3];
    unsigned shared;
    int64_t max_resident; /* blocks of the kernel that fit on the device, or RESIDENT_UNKNOWN */
    void **params;
    int64_t *numbers; /* the sizes among the parameters, as int or as long long */
} CallStep;

struct RiseCall {
    RiseEntry *entry;
    RiseContext *context;
    int64_t *sizes;
    bool *set, *known; /* by the caller; by the caller or from shapes */
    int64_t *set_values;
    CallArgument *arguments;
    CallTemp *temps;
    CallStep *steps; /* as many as will be launched */
    int n_steps;
    int *missing;    /* kernels that are not ready; of them */
    int n_missing;
    bool in_place;   /* kernels are chosen for call_in_place */
    bool launching;  /* what is prepared will be launched on `stream`, which has waited for what was there before */
    bool enqueued;   /* preparing has put something on a stream of ours */
    bool recording;  /* what is prepared will be launched on a stream that records: nothing may be compiled, loaded or allocated */
    bool sized;      /* sizes and shapes are those of what is given */
    bool prepared;
    bool has_memory; /* of its own on the device */
    DeviceBlock workspace; /* of its own */
    bool ready;      /* its flags were cleared when it was made; every complete launch leaves them so */
    bool is_lent;    /* the caller has given the workspace, and nobody knows what is in it */
    void *lent;
    size_t lent_bytes;
    int64_t needs;   /* bytes of the workspace that the launch needs; 0: it has none */
    int64_t flags_end; /* of the flags that its kernels use; 0: it has none */
    CUdeviceptr base; /* of the one that it uses */
    bool clears;     /* a launch has failed: each one clears them first from then on */
    bool busy;       /* launched, and not waited for */
    CUstream stream; /* where */
    CUevent event;   /* made when it is needed */
    bool asked;      /* the event stands behind the last launch: gpu_done has been asked for it before */
};

/* The sizes of the call as the rest of the compiler wants them; without buffers. */
Launch call_sizes(const RiseCall *call, int64_t max_resident);
enum { RESIDENT_UNKNOWN = -1 }; /* on a GPU; elsewhere the executors say */
/* Sizes from shapes, facts, shapes of all arguments. Nothing where they are known. */
int call_size(RiseCall *call, rise_error *error);
int call_all_given(const RiseCall *call, rise_error *error);
/* Does it lie where it may? Of a call whose sizes are known. */
int call_check_places(RiseCall *call, rise_error *error);
/* Does result number k take the memory of this input, as a whole? */
bool call_shares(const RiseCall *call, int k, int input);
/* Does any, in memory of the device? */
bool call_in_place(const RiseCall *call);
int gpu_prepare(RiseCall *call, rise_error *error);
/* Chooses the kernels of the launch, and finds call->needs; the call has to be prepared after it. */
int gpu_measure(RiseCall *call, rise_error *error);
int gpu_launch(RiseCall *call, CUstream stream, rise_error *error);
int gpu_wait(RiseCall *call, rise_error *error);
int gpu_done(RiseCall *call, bool *done, rise_error *error);
int gpu_read(RiseCall *call, const CallArgument *from, void *to, rise_error *error);
void gpu_call_free(RiseCall *call);
int host_launch(RiseCall *call, rise_error *error);
/* What is wrong with these sizes, in the words of the program. Gives the status; RISE_ERROR_BUG where nothing is. */
int host_explain(RiseCall *call, rise_error *error);
/* REF, which makes no kernels before somebody asks: plan.arguments[result].in_place[input]. */
int host_one_memory(RiseCall *call, int result, int input, OneMemory *found, rise_error *error);

#endif
