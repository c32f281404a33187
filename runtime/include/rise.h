/* librise: compile RISE text and launch it, from any program that can call C.
 *
 *     rise_context *ctx;  rise_program *prog;  rise_entry *sum;  rise_call *call;  rise_error err;
 *
 *     if (rise_context_new(NULL, &ctx, &err) ||                 // the GPU, else the simulator
 *         rise_program_from_file(ctx, "sum.rise", &prog, &err) ||
 *         rise_entry_get(prog, "sumBlocks", NULL, &sum, &err) ||             // types and lowers
 *         rise_call_new(sum, &call, &err) ||
 *         rise_call_input(call, "xs", RISE_F32, 1, &n, xs, RISE_HOST, &err) ||
 *         rise_call_launch(call, NULL, &err) ||   // compiles and loads the kernels it launches
 *         rise_call_read(call, "result", out, sizeof out, &err))            // waits, then copies
 *         fprintf(stderr, "%s\n", err.text);
 *
 * Sizes follow from the shapes of the inputs.
 *
 * Objects. A context has one device. A program belongs to a context, an entry to a program, and a
 * call to an entry. An entry is one `entry` of the program with fixed tunables. Asking again for
 * the same entry gives the same object. A call is one set of arguments, with the memory that a
 * launch needs, and it may be launched any number of times.
 *
 * Lifetime. An object is kept alive by everything that belongs to it. Contexts, programs and calls
 * may be freed in any order, and are gone when nothing needs them any more. Entries go with their
 * program; rise_entry_free frees one earlier. Every _free function accepts NULL.
 *
 * Memory. A program keeps its text, parsed once for all its entries. An entry keeps its texts, what
 * a launch needs, and its compiled code. The first two take ten to a hundred kilobytes. On SIM and
 * REF, launches keep compiled forms for later launches. A context keeps at most 32 MiB of them, or
 * the one used last if that is larger.
 *
 * Errors. A function that can fail returns a rise_status, and RISE_OK is 0. On failure it also
 * fills *error, unless `error` is NULL. On success it leaves *error alone. A function that fails
 * has no other effect, and sets its out parameter, if it has one, to NULL. librise never prints and
 * never ends the process. It leaves signal handlers, the locale and the current CUDA context as
 * they are. Text in and out is UTF-8. A NULL pointer where NULL is not allowed gives
 * RISE_ERROR_ARGUMENT. Any other invalid pointer to memory is not detected.
 *
 * Handles. The values of rise_context *, rise_program *, rise_entry * and rise_call * are handles,
 * not addresses. A handle may have been freed, be of another kind, or not come from librise. A
 * function that gets such a handle returns RISE_ERROR_ARGUMENT, and the text says which of these it
 * is. A function without a status returns NULL or 0, and a _free function does nothing. A handle is
 * never used again for another object, so a freed handle stays invalid.
 *
 * Threads. Any number of threads may use contexts, programs and entries at once. Each kernel is
 * compiled and loaded once, and the threads that need it wait for it. A thread whose entry or
 * kernels are ready does not wait for others that are being made. The missing kernels of one launch
 * are compiled in parallel, on as many threads as there are processors. Only one thread at a time
 * may use a call. Several calls of one entry may run at the same time, on one stream or on several.
 * Freeing an object while another thread uses that object itself is an error that is not detected.
 *
 * Stacks. Parsing, compiling, and launches on SIM or REF run on a thread of librise. That thread
 * lives as long as the call of the function, while the caller's thread waits and serves the
 * callbacks. It has a stack of 256 MiB, taken as it is used, or of 64 MiB where there is no room
 * for more. If no such thread can be made, the status is RISE_ERROR_MEMORY. So the caller needs
 * only 64 KiB of stack.
 *
 * Callbacks (diagnostic, poll, read) run on the thread that called librise, during that call. They
 * must return. A C++ exception or a longjmp through librise leaves a thread behind that uses the
 * caller's stack. The functions of the allocator run on any thread.
 *
 * Untrusted text. A program from text reads no file, unless the options give a folder or a function
 * (rise_program_from_text). It cannot write a file, run a command, or see the environment. It can
 * take long to compile or to run, and `poll` can end that. Kernels on a GPU are not confined,
 * beyond what the compiler proves of their accesses. Launch there only what you would run.
 *
 * Fork. A child of fork has none of its parent's objects. Their handles give RISE_ERROR_ARGUMENT
 * there, and the text says why. The child makes its own objects, whatever other threads of the
 * parent were doing at that moment. As with CUDA itself, a child cannot use a GPU that the parent
 * has used: RISE_ERROR_DEVICE. If a thread of the parent was inside NVRTC, the child cannot compile
 * for GPUs: RISE_ERROR_NVRTC. A process after exec, and other processes, have no such limits:
 * several may share the cache on disk.
 *
 * Floating-point modes. Results and generated code do not depend on the caller's rounding mode, or
 * on whether denormals are flushed to zero. (fesetround, -ffast-math and some libraries set these:
 * FTZ and DAZ of MXCSR.) Neither mode is changed. Callbacks see the caller's mode.
 *
 * Steps. rise_entry_get needs no GPU and no CUDA. rise_entry_compile runs NVRTC and needs no GPU.
 * rise_entry_load, rise_entry_prepare and rise_call_prepare need the GPU. A launch takes the steps
 * that are missing, for the kernels that its sizes choose and no others.
 *
 * Not promised: the text of messages and of generated code, and that a cubin is the same from one
 * version to the next. docs/api.md has a longer introduction. */
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

/* The version of this header. rise_version gives that of the library. */
#define RISE_VERSION_MAJOR 0
#define RISE_VERSION_MINOR 2
#define RISE_VERSION_PATCH 0
/* The version of the library: "0.2.0". Lives as long as the process. */
RISE_API const char *rise_version(void);

/* ---- errors ---------------------------------------------------------------------------------- */

typedef enum rise_status {
    RISE_OK = 0,
    /* The program is wrong. Its diagnostics went to the callback; the text is the first of them. */
    RISE_ERROR_PROGRAM = 1,
    /* A name, size, shape, type or pointer does not fit, or the sizes break a fact of the
     * program. */
    RISE_ERROR_ARGUMENT = 2,
    /* There is no driver or no GPU, the GPU is too small for the kernel, or the driver refused. */
    RISE_ERROR_DEVICE = 3,
    RISE_ERROR_MEMORY = 4,        /* The host has too little memory. */
    RISE_ERROR_DEVICE_MEMORY = 5, /* The device has too little memory. */
    RISE_ERROR_FILE = 6,          /* A file cannot be read. */
    RISE_ERROR_NVRTC = 7,         /* There is no NVRTC, or none that knows the architecture. */
    /* The simulator found a race, an access out of bounds or the like. Findings went to the
     * callback. */
    RISE_ERROR_FAULT = 8,
    RISE_ERROR_LOST = 9,          /* The GPU stopped at a fault; see rise_context_lost. */
    RISE_ERROR_CANCELLED = 10,    /* rise_context_options.poll ended the work. */
    /* A launch on SIM or REF exceeds max_steps, max_memory or max_result of the options. */
    RISE_ERROR_LIMIT = 11,
    RISE_ERROR_BUG = 70           /* A bug of librise: please report it, with the text. */
} rise_status;

enum { RISE_ERROR_TEXT = 2040 };
/* What went wrong. A function that fails fills it. The caller owns it; it holds no pointers and
 * needs no initialisation. */
typedef struct rise_error {
    int32_t status;             /* a rise_status */
    int32_t cuda;               /* the CUresult that the driver gave, else 0 */
    /* One message of one or several lines, without a newline at the end. A longer one is cut. */
    char text[RISE_ERROR_TEXT];
} rise_error;

/* The name of a status: "RISE_ERROR_PROGRAM". "?" if it is no status. Lives as long as the
 * process. */
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
/* Receives the diagnostics in the order of the text. It runs on the thread that called librise,
 * before that call returns. It must not call librise with the same program. */
typedef void (*rise_diagnostic_fn)(void *user, const rise_diagnostic *diagnostic);

/* Says whether to give up work that takes long: parsing, compiling, or a launch on SIM or REF.
 * It runs on the thread that called librise, at the start of the work and then at least every
 * 20 ms, and never after the function has returned. If it returns a value other than 0, the
 * function returns RISE_ERROR_CANCELLED within 50 ms. While NVRTC compiles a kernel, the function
 * returns when that is done. It has no other effect then, and can be called again. It must not
 * call librise. */
typedef int (*rise_poll_fn)(void *user);

/* Gives the text of a file that a program from text imports, or of its tuning. `path` has no `.`
 * and `..`, and is below the folder that the program's name is taken to be in. NULL: there is no
 * such file. Otherwise *size is set to the bytes of the text. The text must stay as it is until
 * the function of librise that asks has returned. Each path of a program is asked for once, on the
 * thread that called librise. It must not call librise. */
typedef const char *(*rise_read_fn)(void *user, const char *path, size_t *size);

/* ---- contexts -------------------------------------------------------------------------------- */

typedef struct rise_context rise_context;
typedef struct rise_program rise_program;
typedef struct rise_entry rise_entry;
typedef struct rise_call rise_call;

typedef enum rise_device {
    RISE_AUTO = 0, /* the GPU if there is one that can be used, else the simulator */
    RISE_GPU = 1,  /* CUDA, through libcuda.so.1 and libnvrtc, which are loaded only when needed */
    RISE_SIM = 2,  /* the SIMT simulator: slow; it checks each access, and gives RISE_ERROR_FAULT */
    RISE_REF = 3   /* the reference interpreter: what the program means, without threads */
} rise_device;

/* Gives librise its memory of the host. Any thread may call the functions, several at once. */
typedef struct rise_allocator {
    void *user;
    void *(*alloc)(void *user, size_t bytes); /* aligned to 16 bytes; NULL: there is none */
    void (*free)(void *user, void *block);    /* block is not NULL */
} rise_allocator;

/* Gives calls their memory of the device: workspaces, copies of arrays on the host, and results
 * without a place. (rise_alloc always asks the driver.) The functions run on the thread that called
 * librise, with the CUDA context of the rise_context current. They must not call librise. */
typedef struct rise_device_allocator {
    void *user;
    /* Gives memory for work that is enqueued on `stream` from now on, aligned to 256 bytes. `bytes`
     * is at least 1. NULL: there is none, and the function of librise returns
     * RISE_ERROR_DEVICE_MEMORY. */
    void *(*alloc)(void *user, size_t bytes, void *stream);
    /* Takes the memory back, with the bytes and the stream that alloc had. Work that was enqueued
     * on that stream before may still use it, and nothing else does. */
    void (*free)(void *user, void *memory, size_t bytes, void *stream);
} rise_device_allocator;

/* The options of a context. Set all bytes to zero, then `size`, then what is wanted. */
typedef struct rise_context_options {
    size_t size;                   /* sizeof(rise_context_options) */
    int32_t device;                /* a rise_device */
    /* GPU: the number of the device, if neither cuda_context nor a current context chooses it. */
    int32_t ordinal;
    /* GPU: the CUcontext to work in; it must outlive the rise_context. NULL: the calling thread's
     * current context, else the device's primary one. The CUDA runtime, PyTorch and CuPy use the
     * primary context. */
    void *cuda_context;
    rise_diagnostic_fn diagnostic; /* or NULL */
    void *diagnostic_user;
    const rise_allocator *allocator; /* copied; NULL: malloc and free */
    uint64_t sim_seed;             /* SIM: the order of blocks and warps; 0: as numbered */
    int32_t no_disk_cache;         /* 1: the disk is neither searched for kernels nor keeps them */
    int32_t reserved;
    rise_poll_fn poll;             /* or NULL */
    void *poll_user;
    /* The folder whose files programs from text may read (rise_program_from_text), copied; or
     * NULL. */
    const char *folder;
    rise_read_fn read;             /* gives these files instead; or NULL. Not both */
    void *read_user;
    /* The most steps of a launch. SIM: instructions of warps. REF: applications of functions to
     * scalars and to arrays. 0: no limit, as in the next two. */
    uint64_t max_steps;
    /* SIM, REF: the most bytes that a launch takes from the allocator to run, apart from arguments
     * and results. */
    uint64_t max_memory;
    /* SIM, REF: the most bytes of all results of a launch together. It is checked before any memory
     * is taken for them. */
    uint64_t max_result;
    const rise_device_allocator *device_allocator; /* GPU; copied; NULL: the driver */
    /* Where NVRTC is (copied). NULL: in the usual places. A folder, which begins with `/`: first in
     * it, in its lib64 and lib, and in wheels of pip below it. A file, which begins with `/`, or a
     * name without `/`, as dlopen takes it: that one, and no other. */
    const char *nvrtc_path;
} rise_context_options;

/* Makes a context. `options`: NULL for RISE_AUTO and the defaults. RISE_ERROR_DEVICE if a GPU is
 * asked for and none can be used; the text says what was looked for. */
RISE_API int rise_context_new(const rise_context_options *options, rise_context **context, rise_error *error);
RISE_API void rise_context_free(rise_context *context);
/* The device of the context: RISE_GPU, RISE_SIM or RISE_REF. RISE_AUTO for NULL. */
RISE_API int rise_context_device(const rise_context *context);
/* The name of the device: "NVIDIA H200, sm_90, driver 13.0", "SIMT simulator", "reference
 * interpreter". Lives as long as the context. */
RISE_API const char *rise_context_device_name(const rise_context *context);
/* Why RISE_AUTO took the simulator: what was looked for and not found. "" if it did not. Lives as
 * long as the context. */
RISE_API const char *rise_context_why(const rise_context *context);
/* The architecture that kernels are compiled for: "sm_90". "" if there is no GPU. Lives as long as
 * the context. */
RISE_API const char *rise_context_arch(const rise_context *context);
/* 1 after a fault on the GPU, such as an access to memory that is not there. CUDA then gives up its
 * whole CUDA context, and gives this process no other one. From then on, every function that needs
 * the GPU returns RISE_ERROR_LOST, rise_context_new included. Free the objects, and start a new
 * process for the GPU. SIM and REF go on working. */
RISE_API int rise_context_lost(const rise_context *context);

/* Memory on the context's device (SIM and REF: of the host), for arguments that stay there with
 * RISE_DEVICE. It is aligned to 256 bytes. Sizes are in bytes. These three functions are not for
 * inner loops: all of them wait, and the copies wait for everything on the device. rise_free does
 * nothing with memory that rise_alloc of this context has not given, and nothing after
 * rise_context_free. On SIM and REF, such memory then goes with the last object that needs the
 * context. */
RISE_API int rise_alloc(rise_context *context, size_t bytes, void **memory, rise_error *error);
RISE_API void rise_free(rise_context *context, void *memory);
RISE_API int rise_copy(rise_context *context, void *to, int to_where, const void *from, int from_where, size_t bytes, rise_error *error);

/* ---- programs -------------------------------------------------------------------------------- */

/* Makes a program from text: parses it and resolves its names. `name` is for messages. The text is
 * copied. `size` is in bytes, or (size_t)-1 if a zero byte ends the text. RISE_ERROR_PROGRAM after
 * diagnostics.
 * It reads no file, unless rise_context_options.folder or .read is set. Then `name` is a path in
 * that folder, and imports by path and the tuning are looked for beside it. A path that is
 * absolute, or that leads out of the folder by `..` or a symbolic link, is refused. Only regular
 * files are read. Diagnostics about another file than the text give the place and the code, and
 * quote nothing. */
RISE_API int rise_program_from_text(rise_context *context, const char *name, const char *text, size_t size, rise_program **program, rise_error *error);
/* Makes a program from a file. The file is read once, now. The files that it imports, and its
 * tuning, are read once each, now or by rise_entry_get. They may lie anywhere, so use this for
 * files that you trust. Only regular files are read. */
RISE_API int rise_program_from_file(rise_context *context, const char *path, rise_program **program, rise_error *error);
RISE_API void rise_program_free(rise_program *program);
/* The entries of the text, in its order, numbered from 0. Names live as long as the program; NULL
 * if there is no entry `k`. */
RISE_API int rise_program_entry_count(const rise_program *program);
RISE_API const char *rise_program_entry_name(const rise_program *program, int k);

/* ---- entries --------------------------------------------------------------------------------- */

/* A size or a tunable by name. */
typedef struct rise_setting {
    const char *name;
    int64_t value;
} rise_setting;

/* The options of an entry. Set all bytes to zero, then `size`. */
typedef struct rise_entry_options {
    size_t size;                  /* sizeof(rise_entry_options) */
    const rise_setting *settings; /* tunables; with RISE_SPECIALIZE also sizes */
    size_t n_settings;
    uint32_t flags;               /* RISE_SPECIALIZE, RISE_UNTUNED */
    uint32_t reserved;
    /* The strategy that lowers the entry instead of its own, as `risec lower --strategy` takes it;
     * or NULL. The entry is then not tuned. */
    const char *strategy;
    /* The text of a table of costs, as `risec --costs FILE` reads it. It schedules the entry
     * instead of the library's table. Or NULL. */
    const char *costs;
} rise_entry_options;
/* Compiles in the sizes among the settings: the entry is then for these sizes only. It is worth it
 * if one size serves many launches. Otherwise leave sizes to the launch. */
enum { RISE_SPECIALIZE = 1 };
/* Ignores the tuning that `risec tune` wrote (docs/tuning.md). Without this flag, a tuning is used
 * if it lies beside the program, under its name with `.tune` behind, is of the context's device and
 * of this entry, and the settings name no tunable. RISE_REF never uses one. */
enum { RISE_UNTUNED = 2 };

/* The entry of that name, or the only one if name is NULL, typed and lowered. `options`: NULL for
 * the defaults. The entry belongs to the program and lives as long as it, or until it is freed. The
 * same settings give the same entry, whatever their order. */
RISE_API int rise_entry_get(rise_program *program, const char *name, const rise_entry_options *options, rise_entry **entry, rise_error *error);
/* Gives back what one rise_entry_get gave. It is needed only if entries are to go before their
 * program. The entry's memory goes when each get has been given back and its last call is freed:
 * texts, compiled code, and on a GPU the loaded kernels. Unloading them waits for what runs on the
 * device.
 * Until then calls work as before, those in flight included, and rise_entry_get gives the same
 * entry. Once the last get was given back, it gives it under another handle. Afterwards the entry
 * is made again. So after freeing an entry you may go on with its calls. You may not use the entry,
 * or what rise_entry_cuda and the like gave you.
 * Any thread may call this, also while others get, use or free the same entry for themselves. It
 * cannot fail. Do not call it after rise_program_free. */
RISE_API void rise_entry_free(rise_entry *entry);
RISE_API const char *rise_entry_name(const rise_entry *entry);
/* 1 if a tuning is used. The manifest then has the values of the tunables by size class. */
RISE_API int rise_entry_tuned(const rise_entry *entry);

/* The sizes that a launch gives, in order of declaration, and the tunables with their values. The
 * values of a tuned entry are the defaults. NULL and 0 if there is no size or tunable `k`. */
RISE_API int rise_entry_size_count(const rise_entry *entry);
RISE_API const char *rise_entry_size_name(const rise_entry *entry, int k);
RISE_API int rise_entry_tunable_count(const rise_entry *entry);
RISE_API const char *rise_entry_tunable_name(const rise_entry *entry, int k);
RISE_API int64_t rise_entry_tunable_value(const rise_entry *entry, int k);

/* The types of elements, as they lie in memory. */
typedef enum rise_type {
    RISE_BOOL = 1, /* one byte, 0 or 1 */
    RISE_I8 = 2, RISE_I16 = 3, RISE_I32 = 4, RISE_I64 = 5,
    RISE_U8 = 6, RISE_U16 = 7, RISE_U32 = 8, RISE_U64 = 9,
    RISE_F16 = 10, RISE_BF16 = 11, RISE_F32 = 12, RISE_F64 = 13 /* f16 and bf16: 16 bits */
} rise_type;
/* The bytes of an element. 0 if `type` is no type. */
RISE_API size_t rise_type_bytes(int type);
/* The name of a type: "f32". "?" if `type` is no type. */
RISE_API const char *rise_type_name(int type);

/* An argument is one dense array, row by row, or a scalar (rank 0). A tuple of arrays is one
 * argument for each component: "xs.1", "xs.2". Several results are "result.1", "result.2". Short
 * vectors are one more dimension. The pointers live as long as the entry. */
typedef struct rise_argument {
    size_t size;        /* in: sizeof(rise_argument) of the caller; that many bytes are filled */
    const char *name;   /* "xs", "xs.1", "result" */
    const char *text;   /* its type in RISE: "n.m.f32" */
    int32_t is_result;
    int32_t type;       /* a rise_type */
    int32_t rank;
    /* An array of idx[n]: its values must be below n. They are checked in memory of the host, and
     * are the caller's promise elsewhere. */
    int32_t is_index;
} rise_argument;
/* The arguments: results first, then inputs, in order. */
RISE_API int rise_entry_argument_count(const rise_entry *entry);
RISE_API int rise_entry_argument(const rise_entry *entry, int k, rise_argument *argument, rise_error *error);

/* The emitted CUDA C with host functions, and the manifest (docs/manifest.md). The texts live as
 * long as the entry. */
RISE_API int rise_entry_cuda(rise_entry *entry, const char **text, size_t *size, rise_error *error);
RISE_API int rise_entry_manifest(rise_entry *entry, const char **text, size_t *size, rise_error *error);

/* Compiles every kernel for an architecture, "sm_75" or later. NULL: that of the context's GPU. It
 * needs NVRTC and no GPU. The results stay on disk, where launches find them, also those of other
 * processes. With no_disk_cache nothing stays. */
RISE_API int rise_entry_compile(rise_entry *entry, const char *arch, rise_error *error);
/* All kernels in one module, for callers that load it themselves. It is the text of
 * rise_entry_cuda, compiled when it is first asked for. The bytes live as long as the entry. *size
 * of PTX leaves out its terminating zero. */
RISE_API int rise_entry_ptx(rise_entry *entry, const char *arch, const char **text, size_t *size, rise_error *error);
RISE_API int rise_entry_cubin(rise_entry *entry, const char *arch, const void **bytes, size_t *size, rise_error *error);
/* Loads every kernel onto the context's GPU, and compiles it first if necessary. On SIM and REF
 * there is nothing to do. A launch needs only a few kernels, and loads those itself. */
RISE_API int rise_entry_load(rise_entry *entry, rise_error *error);
/* Loads the kernels that launches with sizes in a range can choose, and no others as far as bounds
 * of the sizes tell. Launches of such sizes then compile nothing, except for those in place
 * (rise_call_output). Kernels for addresses that are not aligned are among them.
 * least[i] and most[i] bound size i, in the order of rise_entry_size_name; both are included. The
 * arrays are the caller's, have rise_entry_size_count numbers, and are read before this returns.
 * `least` NULL: from 0. `most` NULL: without an end.
 * RISE_ERROR_ARGUMENT if a range is empty or begins below 0, on all devices. Apart from that there
 * is nothing to do on SIM and REF. If this fails or is cancelled, kernels that were ready before
 * that stay ready. */
RISE_API int rise_entry_prepare(rise_entry *entry, const int64_t *least, const int64_t *most, rise_error *error);

/* The resources of a CUDA kernel, as the driver gives them. An entry has one kernel or several, and
 * some are variants of others. */
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
/* Describes kernel `k`. Its registers, shared memory, spills and most threads are those on the
 * context's GPU, so the kernel is loaded first if necessary. On SIM and REF, these four are -1. */
RISE_API int rise_entry_kernel(rise_entry *entry, int k, rise_kernel *kernel, rise_error *error);

/* ---- calls ----------------------------------------------------------------------------------- */

RISE_API int rise_call_new(rise_entry *entry, rise_call **call, rise_error *error);
/* Frees a call. It waits for the call's launches if they copy from or to memory of the host. The
 * call's own memory on the device is given back in the order of the stream of its last launch. That
 * stream must still exist, unless rise_call_wait came in between. */
RISE_API void rise_call_free(rise_call *call);

/* Where an array lies. */
typedef enum rise_memory {
    RISE_HOST = 0,  /* copied to and from the device by each launch */
    /* Memory of the context's device, used as it is: rise_alloc, cudaMalloc, tensor.data_ptr(), ...
     * On SIM and REF it is memory of the host. */
    RISE_DEVICE = 1
} rise_memory;

/* Sets a size that does not follow from the shapes of the inputs. A size that follows from them
 * must agree. */
RISE_API int rise_call_size(rise_call *call, const char *name, int64_t value, rise_error *error);
/* Sets an input: its type, its shape and its address. The shape has `rank` extents, outermost
 * first; it is copied, and may be NULL for rank 0. The address must be a multiple of the element's
 * bytes, and need not be valid if there are no elements. The memory stays the caller's. It is read
 * when the launch runs, so it must not change before the launch has finished. An input may be set
 * again for the next launch. */
RISE_API int rise_call_input(rise_call *call, const char *name, int type, int rank, const int64_t *shape, const void *data, int where, rise_error *error);
/* Checks strides for wrappers whose arrays have them. `strides` are in bytes; NULL: dense. RISE_OK
 * if the array lies in memory as rise_call_input and rise_call_output take it: dense, row by row,
 * without a gap. RISE_ERROR_ARGUMENT if it does not (transposed, sliced, reversed, broadcast); the
 * text has both lists of strides. `name` is for the text. A dimension with one element, and an
 * array without elements, may have any stride. It needs no context, and reads no memory of the
 * array. */
RISE_API int rise_check_dense(const char *name, int type, int rank, const int64_t *shape, const int64_t *strides, rise_error *error);
/* Sets a scalar input: one element, copied now. Kernels take scalars by value, so a launch copies
 * the value when it is enqueued. On a GPU a scalar is never in memory of the device. There
 * rise_call_input takes a scalar (rank 0) from the host only, and reads it when the launch is
 * enqueued. */
RISE_API int rise_call_scalar(rise_call *call, const char *name, int type, const void *value, rise_error *error);
/* Sets where a result goes: memory of the caller, of at least the bytes of the result. It overlaps
 * no other argument, or it is all of the memory of an input whose cells the kernels read before
 * they write there (docs/compiled.md, "In place"). A launch with another overlap gives
 * RISE_ERROR_ARGUMENT, and says why. Without this, or after data = NULL, the call has memory of its
 * own for it. In memory of the host, the result is there once rise_call_wait has returned. */
RISE_API int rise_call_output(rise_call *call, const char *name, int type, void *data, size_t bytes, int where, rise_error *error);

/* Finds all sizes, and the shapes of all arguments and results, without data. Addresses of inputs
 * may be NULL, and inputs that no size needs may be missing. It allocates, compiles and loads
 * nothing, and does the same on all devices. It checks what follows from the shapes as a launch
 * does: they agree, and the facts of the program hold. A launch may still refuse sizes that are too
 * large for its kernels. */
RISE_API int rise_call_infer(rise_call *call, rise_error *error);
/* Checks the arguments and makes ready all that a launch needs: sizes, facts, memory, and the
 * kernels that these sizes choose, compiled and loaded. rise_call_launch does this itself if
 * something has changed since. New memory is there for any stream when this returns, so it waits
 * for the allocation. A launch that allocates does so in the order of its stream, without
 * waiting. */
RISE_API int rise_call_prepare(rise_call *call, rise_error *error);
/* The bytes of device memory that a launch of these sizes needs beside its arguments: what kernels
 * leave for later kernels. 0 if it needs none, and always on SIM and REF. Shapes are enough, as for
 * rise_call_infer; a NULL address counts as aligned. Kernels are compiled and loaded if necessary,
 * as some have a number of blocks that is known only then. Nothing is allocated. */
RISE_API int rise_call_workspace(rise_call *call, size_t *bytes, rise_error *error);
/* Sets the memory of the device that launches use as their workspace; they then allocate none. The
 * memory stays the caller's. It must be aligned to 256 bytes (or to what the manifest says), have
 * at least the bytes of rise_call_workspace, and overlap no argument. Preparing gives
 * RISE_ERROR_ARGUMENT if it is too small.
 * A launch expects nothing of its contents, and leaves anything there. If kernels need flags that
 * are zero, each launch clears them first, on its stream. So each launch may have other memory.
 * Nothing else may use it while a launch runs, and the call does not order launches on several
 * streams for it. NULL and 0: the call has a workspace of its own again. Ignored on SIM and REF. */
RISE_API int rise_call_use_workspace(rise_call *call, void *memory, size_t bytes, rise_error *error);
/* Launches on a stream of the context's CUDA context, and returns without waiting. `stream` is a
 * CUstream or cudaStream_t; NULL: the legacy default stream. On SIM and REF, the launch is done
 * when this returns.
 * Launches of one call on one stream are in order. A call with memory of its own may change the
 * stream. It then first waits, on the device, for its earlier launch. The stream of that launch
 * must still exist, unless rise_call_wait came in between. A launch needs nothing of an earlier
 * one, whether that finished, failed or never ran.
 * A launch may be captured into a CUDA graph if everything is prepared and all arrays are on the
 * device: it then does nothing but launch kernels. On a stream that records, nothing is compiled,
 * loaded or allocated. If that is needed, the status is RISE_ERROR_ARGUMENT; call rise_call_prepare
 * before the recording begins. The graph keeps addresses, and the values that scalars had at the
 * capture, and it uses the call's memory. So the call must live as long as the graph, and must not
 * be prepared for larger arguments. The call does not know when the graph runs. Order it yourself,
 * and never beside another launch of the call. rise_call_wait does not wait for it. */
RISE_API int rise_call_launch(rise_call *call, void *stream, rise_error *error);
/* Waits until the last launch has finished, and reports what went wrong in it. RISE_ERROR_ARGUMENT
 * while the stream of that launch records, as waiting would end the recording. */
RISE_API int rise_call_wait(rise_call *call, rise_error *error);
/* Sets *done to 1 if the last launch has finished, and to 0 if not, without waiting. It is 1 if
 * nothing was launched, and always on SIM and REF. It reports what went wrong in the launch, and
 * fails where rise_call_wait does. The stream of the launch must still exist until this or
 * rise_call_wait has said that it is done. */
RISE_API int rise_call_done(rise_call *call, int *done, rise_error *error);

/* The value of a size, after rise_call_infer, rise_call_prepare or a launch. It stays valid while
 * arguments are set again with the same sizes and shapes. */
RISE_API int rise_call_size_value(rise_call *call, const char *name, int64_t *value, rise_error *error);
/* The shape of an argument, likewise: writes its rank, and up to max_rank extents. */
RISE_API int rise_call_shape(rise_call *call, const char *name, int max_rank, int *rank, int64_t *shape, rise_error *error);
/* Where a result is on the device (SIM and REF: on the host), and its bytes, after
 * rise_call_prepare or a launch. The call's own memory lives until the call is freed or prepared
 * for other sizes. On a GPU, *data is NULL if the result goes to memory of the host. With `data`
 * NULL, rise_call_infer is enough. */
RISE_API int rise_call_result(rise_call *call, const char *name, void **data, size_t *bytes, rise_error *error);
/* Waits, then copies a result to memory of the host. `bytes` must be all of it. */
RISE_API int rise_call_read(rise_call *call, const char *name, void *to, size_t bytes, rise_error *error);

#ifdef __cplusplus
}
#endif

#endif
