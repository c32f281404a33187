/* librise: compile RISE text and launch it, from any program that can call C.
 *
 *     rise_context *ctx;  rise_program *prog;  rise_entry *sum;  rise_call *call;  rise_error err;
 *
 *     if (rise_context_new(NULL, &ctx, &err) ||                                     // the GPU, else the simulator
 *         rise_program_from_file(ctx, "sum.rise", &prog, &err) ||
 *         rise_entry_get(prog, "sumBlocks", NULL, &sum, &err) ||                    // typed and lowered
 *         rise_call_new(sum, &call, &err) ||
 *         rise_call_input(call, "xs", RISE_F32, 1, &n, xs, RISE_HOST, &err) ||      // sizes follow from the shapes
 *         rise_call_launch(call, NULL, &err) ||                                     // compiles and loads the kernels that it launches
 *         rise_call_read(call, "result", out, sizeof out, &err))                    // waits, then copies
 *         fprintf(stderr, "%s\n", err.text);
 *
 * Objects. A context has one device. A program belongs to a context, an entry to a program, a call to an entry. An entry is one `entry` of
 * the program with its tunables fixed; asking again for the same one gives the same object. A call is one set of arguments, with the memory that a
 * launch needs; it may be launched any number of times. Whatever belongs to an object keeps it alive: contexts, programs and calls may be freed in
 * any order, and are gone when nothing needs them any more. Entries go with their program; rise_entry_free is for who wants them gone before. Every _free
 * function takes NULL.
 *
 * Memory. A program keeps its text, parsed once for all its entries. An entry keeps what a launch needs and its texts, some ten to a hundred kilobytes, and
 * what it was compiled to. On SIM and REF, launches keep compiled forms for the launches to come: a context at most 32 MiB of them, or the last one that was
 * used where that is larger.
 *
 * Errors. What can fail gives a rise_status, RISE_OK being 0, and, where `error` is not NULL, sets *error on failure (and leaves it alone on
 * success). A function that fails has no other effect, and sets its out parameter, if it has one, to NULL. librise never prints, never ends the
 * process, and leaves signal handlers, the locale and the current CUDA context as they are. Text in and out is UTF-8. Where a
 * pointer that must not be NULL is NULL, the status is RISE_ERROR_ARGUMENT; any other pointer to memory that points to nothing is not detected.
 *
 * Handles. What rise_context *, rise_program *, rise_entry * and rise_call * hold are no addresses. A function that gets one that was
 * freed, that stands for something of another kind, or that librise never gave, gives RISE_ERROR_ARGUMENT and says which of
 * these it is; one without a status gives NULL or 0, and a _free function does nothing. A handle is not given again for
 * something else: one that is kept after it was freed stays wrong.
 *
 * Threads. Contexts, programs and entries may be used by any number of threads at once, each kernel is compiled and loaded once, and the
 * threads that need it wait for it; who needs an entry or kernels that are ready does not wait for others that are being made. Kernels of one launch that are missing are compiled at the same
 * time, on as many threads as there are processors. A call is used by one thread at a time; several calls of one entry may run at the same time, on one stream or on several. Freeing
 * an object while another thread uses that object itself is an error that is not detected. What parses, compiles, or launches on SIM or REF does so on a thread of
 * librise's own that lives as long as the call and has a stack of 256 MiB (taken as it is used; 64 where there is no room for more), while the caller's thread waits and serves the callbacks. So
 * 64 KiB of stack are enough for the caller. RISE_ERROR_MEMORY where no such thread can be made.
 *
 * Callbacks (diagnostic, poll, read) run on the thread that called librise, during that call. They must return: a C++ exception or a longjmp through librise leaves a thread
 * behind that uses the caller's stack. The allocator's functions run on any thread.
 *
 * Text that is not trusted. A program from text reads no file unless the options give a folder or a function (rise_program_from_text); a text cannot write one, run a command, or
 * see the environment. It can be long to compile or to run: `poll` ends that. Kernels on a GPU are not confined, beyond what the compiler proves of their accesses: launch
 * there only what you would run.
 *
 * Fork. A child of fork has none of its parent's objects: their handles give RISE_ERROR_ARGUMENT there, and say so. It makes its own,
 * whatever other threads of the parent were doing at that moment. A GPU that the parent has used is not for the child, as CUDA is not:
 * RISE_ERROR_DEVICE. Where a thread of the parent was inside NVRTC, the child cannot compile for GPUs: RISE_ERROR_NVRTC. After exec, and with other processes, there is nothing to mind: the cache on disk is made for several at once.
 *
 * Floating-point modes. Results and generated code do not depend on the caller's rounding mode, or on whether its denormals are flushed to zero (fesetround,
 * FTZ and DAZ of MXCSR, as -ffast-math and some libraries set them); neither is changed. Callbacks see the caller's mode.
 *
 * Steps. rise_entry_get needs no GPU and no CUDA. rise_entry_compile runs NVRTC and needs no GPU. rise_entry_load, rise_entry_prepare and rise_call_prepare need the GPU. A launch does those that
 * were not done, for the kernels that its sizes choose and no others.
 *
 * Not promised: the text of messages and of generated code, and that a cubin is the same from one version to the next.
 * docs/api.md has a longer introduction. */
#ifndef RISE_H
#define RISE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(RISE_STATIC) || !defined(__GNUC__)
#define RISE_API
#else
#define RISE_API __attribute__((visibility("default")))
#endif

/* Of this header; rise_version tells of the library. */
#define RISE_VERSION_MAJOR 0
#define RISE_VERSION_MINOR 2
#define RISE_VERSION_PATCH 0
/* "0.2.0". Lives as long as the process. */
RISE_API const char *rise_version(void);

/* ---- errors ------------------------------------------------------------------------------------------------------ */

typedef enum rise_status {
    RISE_OK = 0,
    RISE_ERROR_PROGRAM = 1,       /* the program is wrong: its diagnostics went to the callback; the text is the first one */
    RISE_ERROR_ARGUMENT = 2,      /* a name, size, shape, type or pointer does not fit; or the sizes break a fact of the program */
    RISE_ERROR_DEVICE = 3,        /* no driver, no GPU, one that is too small for the kernel, or the driver said no */
    RISE_ERROR_MEMORY = 4,        /* of the host */
    RISE_ERROR_DEVICE_MEMORY = 5,
    RISE_ERROR_FILE = 6,          /* a file cannot be read */
    RISE_ERROR_NVRTC = 7,         /* there is no NVRTC, or none that knows the architecture */
    RISE_ERROR_FAULT = 8,         /* the simulator found a race, an access out of bounds or the like; findings went to the callback */
    RISE_ERROR_LOST = 9,          /* the GPU stopped at a fault; see rise_context_lost */
    RISE_ERROR_CANCELLED = 10,    /* rise_context_options.poll said so */
    RISE_ERROR_LIMIT = 11,        /* a launch on SIM or REF goes beyond max_steps, max_memory or max_result of the options */
    RISE_ERROR_BUG = 70           /* of librise: please report it, with the text */
} rise_status;

enum { RISE_ERROR_TEXT = 2040 };
/* Filled by a function that fails. Owned by the caller; holds no pointers and needs no initialisation. */
typedef struct rise_error {
    int32_t status;             /* a rise_status */
    int32_t cuda;               /* the CUresult that the driver gave, else 0 */
    char text[RISE_ERROR_TEXT]; /* one message of one or several lines, without a newline at the end; cut short where it is longer */
} rise_error;

/* "RISE_ERROR_PROGRAM"; "?" for what is no status. Lives as long as the process. */
RISE_API const char *rise_status_name(int status);

/* One diagnostic about the text of a program. The pointers are valid during the callback. */
typedef struct rise_diagnostic {
    size_t size;          /* of this struct, as the library knows it */
    int32_t is_warning;   /* 1: a warning; 0: an error */
    int32_t line, column; /* from 1, in bytes; 0: nowhere in particular */
    uint32_t begin, end;  /* bytes [begin, end) of the file */
    const char *code;     /* "E0303", for `risec explain` */
    const char *file;     /* name of the file or text; "" */
    const char *message;  /* one line */
    const char *help;     /* one line, or NULL */
} rise_diagnostic;
/* Called by the thread that called librise, before that call returns, in order of the text. Must not call librise with the same program. */
typedef void (*rise_diagnostic_fn)(void *user, const rise_diagnostic *diagnostic);

/* Asked by functions that may take long (those that parse, compile, or launch on SIM or REF), by the thread that called them, at their start and then at
 * least every 20 ms, never after they have returned. What is not 0 gives the work up: the function returns RISE_ERROR_CANCELLED within 50 ms (while NVRTC
 * compiles: when it is done with that kernel), with no other effect, and can be called again. Must not call librise. */
typedef int (*rise_poll_fn)(void *user);

/* Gives a file that a program from text imports, or its tuning, by its path: without `.` and `..`, below the folder that the program's name is taken to be in.
 * NULL: there is no such file. Else the text, of *size bytes, which must stay as it is until the function of librise that asks has returned. Asked once for a path of a program, by the
 * thread that called librise. Must not call librise. */
typedef const char *(*rise_read_fn)(void *user, const char *path, size_t *size);

/* ---- contexts ---------------------------------------------------------------------------------------------------- */

typedef struct rise_context rise_context;
typedef struct rise_program rise_program;
typedef struct rise_entry rise_entry;
typedef struct rise_call rise_call;

typedef enum rise_device {
    RISE_AUTO = 0, /* the GPU if there is one that can be used, else the simulator */
    RISE_GPU = 1,  /* CUDA, through libcuda.so.1 and libnvrtc; both are loaded when they are needed, and only then */
    RISE_SIM = 2,  /* the SIMT simulator, which checks every access: slow, and right or RISE_ERROR_FAULT */
    RISE_REF = 3   /* the reference interpreter: what the program means, without threads */
} rise_device;

/* Where librise gets memory of the host. Called by any thread, also by several at once. */
typedef struct rise_allocator {
    void *user;
    void *(*alloc)(void *user, size_t bytes); /* aligned to 16 bytes; NULL: there is none */
    void (*free)(void *user, void *block);    /* block is not NULL */
} rise_allocator;

/* Where calls get memory of the device: workspaces, copies of arrays on the host, results without a
 * place. (rise_alloc always asks the driver.) Called with the CUDA context of the rise_context current,
 * by the thread that called librise; must not call librise. */
typedef struct rise_device_allocator {
    void *user;
    /* Memory for what is enqueued on `stream` from now on, aligned to 256 bytes. NULL: there is none, and
     * the function of librise gives RISE_ERROR_DEVICE_MEMORY. `bytes` is at least 1. */
    void *(*alloc)(void *user, size_t bytes, void *stream);
    /* Takes it back, with the bytes and the stream that alloc had. What was enqueued on that stream before
     * may still use it, and nothing else does. */
    void (*free)(void *user, void *memory, size_t bytes, void *stream);
} rise_device_allocator;

/* Zero it, set `size`, then what is wanted. */
typedef struct rise_context_options {
    size_t size;                   /* sizeof(rise_context_options) */
    int32_t device;                /* a rise_device */
    int32_t ordinal;               /* GPU: number of the device, when neither cuda_context nor a current context says which */
    void *cuda_context;            /* GPU: a CUcontext to work in; NULL: the calling thread's current one, else the device's primary context,
                                      which is the one of the CUDA runtime, PyTorch and CuPy. Must outlive the rise_context */
    rise_diagnostic_fn diagnostic; /* or NULL */
    void *diagnostic_user;
    const rise_allocator *allocator; /* copied; NULL: malloc and free */
    uint64_t sim_seed;             /* SIM: the order of blocks and warps; 0: as they are numbered */
    int32_t no_disk_cache;         /* 1: compiled kernels are neither looked up on disk nor kept there */
    int32_t reserved;
    rise_poll_fn poll;             /* or NULL */
    void *poll_user;
    const char *folder;            /* what programs from text may read, see rise_program_from_text: files in this folder (copied); or NULL */
    rise_read_fn read;             /* ... or what this gives; or NULL. Not both */
    void *read_user;
    uint64_t max_steps;            /* of a launch: SIM: instructions of warps, REF: functions applied (of scalars and of arrays); 0: without a limit, as in the next two */
    uint64_t max_memory;           /* SIM, REF: bytes that a launch takes from the allocator to run, arguments and results aside */
    uint64_t max_result;           /* SIM, REF: bytes of all results of a launch together; seen before any memory is taken for them */
    const rise_device_allocator *device_allocator; /* GPU; copied; NULL: the driver */
    const char *nvrtc_path;        /* where NVRTC is (copied); NULL: where it usually is. A folder: looked for there
                                      first, in it, its lib64 and lib, and in wheels of pip below it. A file, or a name
                                      without `/` as dlopen takes it: that one, and no other. A path begins with `/` */
} rise_context_options;

/* options: NULL for RISE_AUTO and the defaults. RISE_ERROR_DEVICE where a GPU is asked for and none can be used: the text says what was looked for. */
RISE_API int rise_context_new(const rise_context_options *options, rise_context **context, rise_error *error);
RISE_API void rise_context_free(rise_context *context);
/* What was chosen: RISE_GPU, RISE_SIM or RISE_REF. RISE_AUTO for NULL. */
RISE_API int rise_context_device(const rise_context *context);
/* "NVIDIA H200, sm_90, driver 13.0", "SIMT simulator", "reference interpreter". Lives as long as the context. */
RISE_API const char *rise_context_device_name(const rise_context *context);
/* Why RISE_AUTO took the simulator: what was looked for and not found. "" where it did not. Lives as long as the context. */
RISE_API const char *rise_context_why(const rise_context *context);
/* The architecture that the device's kernels are compiled for: "sm_90". "" where there is no GPU. Lives as long as the context. */
RISE_API const char *rise_context_arch(const rise_context *context);
/* 1 after a fault on the GPU (an access to memory that is not there, for example). CUDA then gives up its whole CUDA context, and gives this process no other one:
 * every call that needs the GPU gives RISE_ERROR_LOST from there on, rise_context_new included. Free what there is, and start a new process for the GPU; SIM and
 * REF go on working. */
RISE_API int rise_context_lost(const rise_context *context);

/* Memory on the context's device (SIM and REF: of the host), for arguments that stay there: RISE_DEVICE. Aligned to 256 bytes. Not for inner loops:
 * all three functions wait, the copies for everything on the device. rise_free does nothing with what rise_alloc of this context has not given, nor after
 * rise_context_free; on SIM and REF such memory then goes with the last thing that needs the context. */
RISE_API int rise_alloc(rise_context *context, size_t bytes, void **memory, rise_error *error);
RISE_API void rise_free(rise_context *context, void *memory);
RISE_API int rise_copy(rise_context *context, void *to, int to_where, const void *from, int from_where, size_t bytes, rise_error *error);

/* ---- programs ---------------------------------------------------------------------------------------------------- */

/* Reads, parses and resolves names. `name` is for messages. The text is copied; `size` in bytes, or (size_t)-1 where a zero byte ends it. RISE_ERROR_PROGRAM after
 * diagnostics. It reads no file, unless rise_context_options.folder or .read is set: then `name` is a path in that folder, imports by path are looked for beside it, and so is its
 * tuning. What is absolute, or leads out of the folder by `..` or a symbolic link, is refused. Only regular files are read. Diagnostics about another file than the text
 * give the place and the code, and quote nothing. */
RISE_API int rise_program_from_text(rise_context *context, const char *name, const char *text, size_t size, rise_program **program, rise_error *error);
/* The file is read once, now; files that it imports, and its tuning, are read now or by rise_entry_get, once each. They may lie anywhere: this is for files that you trust.
 * Only regular files are read. */
RISE_API int rise_program_from_file(rise_context *context, const char *path, rise_program **program, rise_error *error);
RISE_API void rise_program_free(rise_program *program);
/* The entries of the text, in its order. Names live as long as the program; NULL for a number that is none. */
RISE_API int rise_program_entry_count(const rise_program *program);
RISE_API const char *rise_program_entry_name(const rise_program *program, int k);

/* ---- entries ----------------------------------------------------------------------------------------------------- */

/* A size or a tunable by name. */
typedef struct rise_setting {
    const char *name;
    int64_t value;
} rise_setting;

/* Zero it, set `size`. */
typedef struct rise_entry_options {
    size_t size;                  /* sizeof(rise_entry_options) */
    const rise_setting *settings; /* tunables; with RISE_SPECIALIZE also sizes */
    size_t n_settings;
    uint32_t flags;               /* RISE_SPECIALIZE, RISE_UNTUNED */
    uint32_t reserved;
    const char *strategy;         /* by which the entry is lowered instead of its own, as `risec lower --strategy` takes it; or NULL. It is then not tuned */
    const char *costs;            /* the text of a table of costs, as `risec --costs FILE` reads it, by which the entry is scheduled instead of the library's; or NULL */
} rise_entry_options;
/* Sizes among the settings are compiled in: the entry is then for these sizes only, and its code knows them. Worth it where one size serves
 * many launches; otherwise leave sizes to the launch. */
enum { RISE_SPECIALIZE = 1 };
/* What `risec tune` found is used where it lies beside the program (its name with `.tune` behind), is of the context's device and of this entry, and the settings name
 * no tunable: docs/tuning.md. With this flag it is not. RISE_REF never uses it. */
enum { RISE_UNTUNED = 2 };

/* The entry of that name, or the only one where name is NULL, typed and lowered. options: NULL for the defaults. The entry belongs to the
 * program and lives as long as it, or until it is freed. The same settings give the same entry, whatever their order. */
RISE_API int rise_entry_get(rise_program *program, const char *name, const rise_entry_options *options, rise_entry **entry, rise_error *error);
/* Gives back what one rise_entry_get gave; needed only where entries are to be gone before their program. When each get of the entry has been given back, and
 * its last call is freed, its memory goes: texts, compiled code, and on a GPU the loaded kernels (that waits for what runs on the device). Until then calls
 * work as before, those in flight included, and asking for it gives the same entry, under another handle once the last get was given back; afterwards it is made again. So who frees an entry may go on with the calls that
 * he has, but not use the entry, nor what rise_entry_cuda and the like gave him. Any thread may call this, also while others get, use or free the same
 * entry for themselves. It cannot fail. Not after rise_program_free. */
RISE_API void rise_entry_free(rise_entry *entry);
RISE_API const char *rise_entry_name(const rise_entry *entry);
/* 1 where a tuning is used; the manifest then has the values of the tunables by classes of sizes. */
RISE_API int rise_entry_tuned(const rise_entry *entry);

/* Sizes that a launch gives, in order of declaration; then tunables, with their values (of a tuned entry, their defaults). NULL and 0 for a number that is none. */
RISE_API int rise_entry_size_count(const rise_entry *entry);
RISE_API const char *rise_entry_size_name(const rise_entry *entry, int k);
RISE_API int rise_entry_tunable_count(const rise_entry *entry);
RISE_API const char *rise_entry_tunable_name(const rise_entry *entry, int k);
RISE_API int64_t rise_entry_tunable_value(const rise_entry *entry, int k);

/* Elements as they lie in memory. */
typedef enum rise_type {
    RISE_BOOL = 1, /* one byte, 0 or 1 */
    RISE_I8 = 2, RISE_I16 = 3, RISE_I32 = 4, RISE_I64 = 5,
    RISE_U8 = 6, RISE_U16 = 7, RISE_U32 = 8, RISE_U64 = 9,
    RISE_F16 = 10, RISE_BF16 = 11, RISE_F32 = 12, RISE_F64 = 13 /* f16 and bf16: 16 bits */
} rise_type;
/* 0 for what is no type. */
RISE_API size_t rise_type_bytes(int type);
/* "f32"; "?" for what is no type. */
RISE_API const char *rise_type_name(int type);

/* An argument is one array, dense, row by row, or a scalar (rank 0). A tuple of arrays is one argument per component: "xs.1", "xs.2"; several results are
 * "result.1", "result.2". Short vectors are one more dimension. Pointers live as long as the entry. */
typedef struct rise_argument {
    size_t size;        /* in: sizeof(rise_argument) of the caller, who gets that much of it */
    const char *name;   /* "xs", "xs.1", "result" */
    const char *text;   /* its type in RISE: "n.m.f32" */
    int32_t is_result;
    int32_t type;       /* a rise_type */
    int32_t rank;
    int32_t is_index;   /* idx[n]: its values must be below n. Checked for arrays in memory of the host; otherwise the caller's promise */
} rise_argument;
/* Results first, then inputs, in order. */
RISE_API int rise_entry_argument_count(const rise_entry *entry);
RISE_API int rise_entry_argument(const rise_entry *entry, int k, rise_argument *argument, rise_error *error);

/* The emitted CUDA C with host functions, and the manifest (docs/manifest.md). They live as long as the entry. */
RISE_API int rise_entry_cuda(rise_entry *entry, const char **text, size_t *size, rise_error *error);
RISE_API int rise_entry_manifest(rise_entry *entry, const char **text, size_t *size, rise_error *error);

/* Compiles every kernel for an architecture, "sm_75" or later; NULL: that of the context's GPU. Needs NVRTC and no GPU. Results stay on disk, where launches find them, also those of
 * other processes; with no_disk_cache nothing stays. */
RISE_API int rise_entry_compile(rise_entry *entry, const char *arch, rise_error *error);
/* All kernels in one module, for who loads it himself: the text of rise_entry_cuda, compiled when this is asked for first. The bytes live as long as the entry. *size of PTX leaves out its
 * terminating zero. */
RISE_API int rise_entry_ptx(rise_entry *entry, const char *arch, const char **text, size_t *size, rise_error *error);
RISE_API int rise_entry_cubin(rise_entry *entry, const char *arch, const void **bytes, size_t *size, rise_error *error);
/* Every kernel onto the context's GPU, compiling first where that was not done. On SIM and REF there is nothing to do. A launch needs a few of them, and does this for those. */
RISE_API int rise_entry_load(rise_entry *entry, rise_error *error);
/* As rise_entry_load, for the kernels that launches with such sizes can choose, and no others as far as bounds of the sizes tell: for each size, in the order of rise_entry_size_name, a number
 * that is at least least[i] and at most most[i]. Both arrays are the caller's, have rise_entry_size_count numbers, and are read before this returns. least NULL: from 0; most NULL: without an
 * end. Kernels for addresses that are not aligned are among them. Launches of such sizes compile nothing then, but those in place (rise_call_output). RISE_ERROR_ARGUMENT where a range is empty or begins below 0, on all
 * devices; apart from that there is nothing to do on SIM and REF. Kernels that were ready before this failed or was given up stay ready. */
RISE_API int rise_entry_prepare(rise_entry *entry, const int64_t *least, const int64_t *most, rise_error *error);

/* What a CUDA kernel needs, as the driver says. An entry has one or several, some of them variants of each other. */
typedef struct rise_kernel {
    size_t size;              /* in: sizeof(rise_kernel) of the caller */
    const char *name;         /* lives as long as the entry */
    int32_t threads[3];       /* of a block: x, y, z */
    int32_t registers;        /* of a thread */
    int32_t static_shared;    /* bytes of a block, without what a launch adds */
    int32_t spills;           /* bytes of local memory of a thread; 0: nothing is spilled */
    int32_t max_threads;      /* of a block, with these registers */
    int32_t index_bits;       /* 32 or 64 */
} rise_kernel;
RISE_API int rise_entry_kernel_count(const rise_entry *entry);
/* Registers and the rest are those of the context's GPU: loads that kernel first where that was not done. On SIM and REF they are -1. */
RISE_API int rise_entry_kernel(rise_entry *entry, int k, rise_kernel *kernel, rise_error *error);

/* ---- calls ------------------------------------------------------------------------------------------------------- */

RISE_API int rise_call_new(rise_entry *entry, rise_call **call, rise_error *error);
/* Waits for its launches where they copy from or to memory of the host. Memory of its own on the device is given
 * back in the order of the stream of its last launch, which must still exist unless rise_call_wait came in between. */
RISE_API void rise_call_free(rise_call *call);

/* Where an array lies. */
typedef enum rise_memory {
    RISE_HOST = 0,  /* copied to and from the device by each launch */
    RISE_DEVICE = 1 /* memory of the context's device, used as it is: rise_alloc, cudaMalloc, tensor.data_ptr(), ... On SIM and REF, of the host */
} rise_memory;

/* Sets a size that the shapes of the inputs do not tell; one that they do tell must agree. */
RISE_API int rise_call_size(rise_call *call, const char *name, int64_t value, rise_error *error);
/* Sets an input: its elements, its shape (`rank` extents, outermost first; copied; NULL for rank 0) and its address, which need not be valid where it has no
 * elements. The memory stays the caller's; it is read when the launch runs, so nothing but the launch may change it before that has finished. The address must be a multiple of the
 * element's bytes. May be set again, for the next launch. */
RISE_API int rise_call_input(rise_call *call, const char *name, int type, int rank, const int64_t *shape, const void *data, int where, rise_error *error);
/* For wrappers whose arrays have strides. RISE_OK where an array of this shape with these strides, in bytes,
 * lies in memory as rise_call_input and rise_call_output take it: dense, row by row, without a gap.
 * RISE_ERROR_ARGUMENT where it does not (transposed, sliced, reversed, broadcast), with both lists of
 * strides in the text. `name` is for the text. A dimension with one element, and an array with none,
 * may have any stride; strides NULL: dense. Needs no context, and looks at no memory. */
RISE_API int rise_check_dense(const char *name, int type, int rank, const int64_t *shape, const int64_t *strides, rise_error *error);
/* A scalar input: one element, copied now. Kernels take scalars by value, so a launch copies the value when it is enqueued. On a GPU a scalar is never in memory of the
 * device: rise_call_input takes it from the host only (rank 0), and reads it when the launch is enqueued. */
RISE_API int rise_call_scalar(rise_call *call, const char *name, int type, const void *value, rise_error *error);
/* Where a result goes: memory of the caller, of `bytes` bytes or more than the result has, that overlaps no other argument; or all of the memory of an input, where
 * the kernels read each cell before it is written (docs/compiled.md, "In place"). A launch with another overlap gives RISE_ERROR_ARGUMENT, and says why. Without this, or after
 * data = NULL, the call has memory of its own for it. In memory of the host, the result is there once rise_call_wait has returned. */
RISE_API int rise_call_output(rise_call *call, const char *name, int type, void *data, size_t bytes, int where, rise_error *error);

/* Finds all sizes, and the shapes of all arguments and results, without data: inputs may have
 * NULL for their address, and those that are needed for no size may be missing. Allocates,
 * compiles and loads nothing, and does the same on all devices. What follows from the shapes is
 * checked as for a launch: they agree, and the facts of the program hold. A launch may still
 * refuse sizes that are too large for its kernels. */
RISE_API int rise_call_infer(rise_call *call, rise_error *error);
/* Checks the arguments and makes ready all that a launch needs: sizes, facts, memory, and the kernels that these sizes choose, compiled and loaded. rise_call_launch does it where something
 * has changed since. Memory that is new is there for any stream when this returns, so it waits for the
 * allocation; a launch that allocates does so in the order of its stream, and waits for nothing. */
RISE_API int rise_call_prepare(rise_call *call, rise_error *error);
/* The bytes of device memory that a launch of these sizes needs beside its arguments: what kernels
 * leave for one another. 0 where it needs none, and always on SIM and REF. Shapes are enough, as for
 * rise_call_infer: an address that is NULL counts as aligned. Kernels are compiled and loaded where
 * that was not done, as some say only then how many blocks they have; nothing is allocated. */
RISE_API int rise_call_workspace(rise_call *call, size_t *bytes, rise_error *error);
/* Launches use this memory of the device as their workspace, and allocate none. It stays the caller's,
 * is aligned to 256 bytes (or to what the manifest says), has at least the bytes that
 * rise_call_workspace says, else preparing gives RISE_ERROR_ARGUMENT, and overlaps no argument. A
 * launch expects nothing of what is in it, and leaves anything there: where kernels need flags that are
 * zero, each launch clears them first, on its stream. So the memory may be another one for each launch.
 * Nobody else may use it while a launch runs; the call does not order launches on several streams for
 * it. NULL and 0: the call has a workspace of its own again. Ignored on SIM and REF. */
RISE_API int rise_call_use_workspace(rise_call *call, void *memory, size_t bytes, rise_error *error);
/* Launches on a stream (a CUstream or cudaStream_t; NULL: the legacy default stream) of the context's CUDA context, and returns without waiting. SIM and REF are done when it returns.
 * Launches of one call on one stream are in order. On another stream than before, a call with memory of its own first waits (on the device) for its
 * earlier launch, whose stream must still exist then unless rise_call_wait came in between. A launch needs nothing of an earlier one, whether that finished, failed or
 * never ran.
 * A launch with everything prepared, and arrays all on the device, does nothing but launch kernels, so it may be captured into a CUDA graph. On a stream that records nothing is compiled,
 * loaded or allocated: RISE_ERROR_ARGUMENT where that would be needed, and rise_call_prepare before the recording begins is the remedy. The graph keeps
 * addresses, and uses the call's memory: the call must live as long as the graph, and must not be prepared for larger arguments. The call does not know when
 * the graph runs: order it yourself, and not beside another launch of the call. rise_call_wait does not wait for it. A graph keeps the values that scalars had
 * when it was captured. */
RISE_API int rise_call_launch(rise_call *call, void *stream, rise_error *error);
/* Until the last launch has finished; tells what went wrong in it. RISE_ERROR_ARGUMENT while the stream of
 * that launch records: waiting would end the record. */
RISE_API int rise_call_wait(rise_call *call, rise_error *error);
/* Has the last launch finished? Sets *done to 1 or 0 and waits for nothing. 1 where nothing was launched,
 * and always on SIM and REF. Tells what went wrong in the launch, and fails where rise_call_wait does.
 * The stream of the launch must still exist until this or rise_call_wait has said that it is done. */
RISE_API int rise_call_done(rise_call *call, int *done, rise_error *error);

/* After rise_call_infer, rise_call_prepare or a launch: the value of a size. What is set again keeps
 * it, as long as no size or shape becomes another one. */
RISE_API int rise_call_size_value(rise_call *call, const char *name, int64_t *value, rise_error *error);
/* Likewise: the shape of an argument. Writes its rank, and up to max_rank extents. */
RISE_API int rise_call_shape(rise_call *call, const char *name, int max_rank, int *rank, int64_t *shape, rise_error *error);
/* After rise_call_prepare or a launch: where a result is, on the device (SIM and REF: on the host), and how many bytes it has. The call's own memory lives until the call is
 * freed or prepared for other sizes. NULL where the result goes to memory of the host on a GPU. With `data` NULL,
 * rise_call_infer is enough. */
RISE_API int rise_call_result(rise_call *call, const char *name, void **data, size_t *bytes, rise_error *error);
/* Waits, then copies a result to memory of the host; `bytes` must be all of it. */
RISE_API int rise_call_read(rise_call *call, const char *name, void *to, size_t bytes, rise_error *error);

#ifdef __cplusplus
}
#endif

#endif
