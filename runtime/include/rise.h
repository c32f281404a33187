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
 * librise finds the sizes from the shapes of the inputs.
 *
 * Objects. A context has one device. A program belongs to a context, an entry to a program, and a
 * call to an entry. An entry is one `entry` of the program with fixed tunables. If you ask for the
 * same entry again, you get the same object. A call is one set of arguments, together with the
 * memory that a launch needs. You may launch a call any number of times.
 *
 * Lifetime. An object stays alive as long as an object that belongs to it. You may free contexts,
 * programs and calls in any order; each is gone when nothing needs it any more. Freeing a program
 * frees its entries; with rise_entry_free, you can free one earlier. Every _free function accepts
 * NULL.
 *
 * Memory. A program keeps its text, which is parsed once for all its entries. An entry keeps its
 * texts, the data for launches, and its compiled code. The first two need ten to a hundred
 * kilobytes. On SIM and REF, launches keep compiled forms of entries for later launches. A context
 * keeps at most 32 MiB of them; if the form that was used last is larger, it keeps only that one.
 *
 * Errors. A function that can fail returns a rise_status, and RISE_OK is 0. On failure it also
 * fills *error, unless `error` is NULL. On success it leaves *error unchanged. A function that
 * fails has no other effect, and sets its out parameter, if it has one, to NULL. librise never
 * prints and never ends the process. It does not change signal handlers, the locale or the current
 * CUDA context. All text, in both directions, is UTF-8. A NULL pointer where NULL is not allowed
 * gives RISE_ERROR_ARGUMENT. Any other invalid pointer to memory is not detected.
 *
 * Handles. The values of rise_context *, rise_program *, rise_entry * and rise_call * are handles,
 * not addresses. A handle is invalid if it was freed, is of another kind, or does not come from
 * librise. A function that gets an invalid handle returns RISE_ERROR_ARGUMENT, and the text says
 * which of the three it is. A function without a status returns NULL or 0, and a _free function
 * does nothing. librise never uses a handle again for another object, so a freed handle stays
 * invalid.
 *
 * Threads. Any number of threads may use contexts, programs and entries at once. librise compiles
 * and loads each kernel once, and the threads that need the kernel wait for it. A thread whose
 * entry or kernels are ready does not wait for others that are being made. librise compiles the
 * missing kernels of one launch in parallel, on as many threads as there are processors. Only one
 * thread at a time may use a call. Several calls of one entry may run at the same time, on one
 * stream or on several. Do not free an object while another thread uses that same object: librise
 * does not detect this error.
 *
 * Stacks. Parsing, compiling, and launches on SIM or REF run on a separate thread that librise
 * starts. That thread lives until the function returns. Meanwhile, the caller's thread waits and
 * runs the callbacks. The thread has a stack of 256 MiB, of which only the used part takes memory,
 * or of 64 MiB if there is no room for more. If librise cannot start the thread, the status is
 * RISE_ERROR_MEMORY. So the caller needs only 64 KiB of stack.
 *
 * Callbacks (diagnostic, poll, read) run on the thread that called librise, before that call
 * returns. They must return normally. A C++ exception or a longjmp through librise leaves a thread
 * behind that still uses the caller's stack. The functions of the allocator may run on any thread.
 *
 * Untrusted text. A program from text reads no file, unless the options give a folder or a function
 * (rise_program_from_text). It cannot write a file, run a command, or see the environment. It may
 * take long to compile or to run, and `poll` can end that. Nothing confines kernels on a GPU,
 * except what the compiler proves about their accesses. Launch there only programs that you would
 * trust to run.
 *
 * Fork. A child of fork has none of its parent's objects. Their handles give RISE_ERROR_ARGUMENT
 * there, and the text says why. The child can make its own objects, whatever other threads of the
 * parent were doing at that moment. As with CUDA itself, a child cannot use a GPU that the parent
 * has used: it gets RISE_ERROR_DEVICE. If a thread of the parent was inside NVRTC, the child cannot
 * compile for GPUs: it gets RISE_ERROR_NVRTC. These limits do not apply to a process after exec, or
 * to any other process. Several processes may share the cache on disk.
 *
 * Floating-point modes. A program may change the rounding mode of a thread, or flush denormals to
 * zero: fesetround, -ffast-math and some libraries do so (FTZ and DAZ of MXCSR). Results and
 * generated code do not depend on these modes of the caller. librise does not change them, and
 * callbacks see the caller's modes.
 *
 * Steps. rise_entry_get needs no GPU and no CUDA. rise_entry_compile runs NVRTC and needs no GPU.
 * rise_entry_load, rise_entry_prepare and rise_call_prepare need the GPU. A launch does the steps
 * that are missing, but only for the kernels that its sizes select.
 *
 * librise does not promise that the text of messages and of generated code, or a cubin, stays
 * the same from one version to the next. docs/api.md is a longer introduction. */
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
    /* The program is wrong. The callback got its diagnostics; the text is the first of them. */
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
    /* The simulator found a race, an access out of bounds, or a similar fault. The callback got its
     * findings. */
    RISE_ERROR_FAULT = 8,
    RISE_ERROR_LOST = 9,          /* The GPU stopped at a fault; see rise_context_lost. */
    RISE_ERROR_CANCELLED = 10,    /* rise_context_options.poll ended the work. */
    /* A launch on SIM or REF exceeds max_steps, max_memory or max_result of the options. */
    RISE_ERROR_LIMIT = 11,
    RISE_ERROR_BUG = 70           /* A bug of librise: please report it, with the text. */
} rise_status;

enum { RISE_ERROR_TEXT = 2040 };
/* What went wrong. A function that fails fills this struct. The caller owns it. It contains no
 * pointers and needs no initialisation. */
typedef struct rise_error {
    int32_t status;             /* a rise_status */
    int32_t cuda;               /* the CUresult that the driver gave, else 0 */
    /* One message of one or several lines, without a newline at the end. librise cuts a longer one.
     * */
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
/* Receives the diagnostics in the order of the text. librise calls this function on the thread that
 * called librise, before that call returns. The function must not call librise with the same
 * program. */
typedef void (*rise_diagnostic_fn)(void *user, const rise_diagnostic *diagnostic);

/* Says whether to give up work that takes long: parsing, compiling, or a launch on SIM or REF.
 * librise calls this function on the thread that called librise. The first call comes at the start
 * of the work, and the next ones at least every 20 ms. There is none after the librise function has
 * returned. If this function returns a value other than 0, the librise function returns
 * RISE_ERROR_CANCELLED within 50 ms. If NVRTC is compiling a kernel, it returns when that kernel is
 * done. The cancelled librise function has no other effect, and you can call it again. This
 * function must not call librise. */
typedef int (*rise_poll_fn)(void *user);

/* Returns the text of a file that a program from text imports, or the text of its tuning file. NULL
 * means that there is no such file. librise treats the program's name as a path; `path` is below
 * the folder of that path, and has no `.` and `..`. The function sets *size to the bytes of the
 * text. The text must not change until the librise function that asks for it has returned. librise
 * asks for each path of a program once, on the thread that called librise. This function must not
 * call librise. */
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
    RISE_REF = 3   /* the reference interpreter: computes what the program means, without threads */
} rise_device;

/* The functions with which librise allocates host memory. Any thread may call them, several at
 * once. */
typedef struct rise_allocator {
    void *user;
    void *(*alloc)(void *user, size_t bytes); /* aligned to 16 bytes; NULL: there is none */
    void (*free)(void *user, void *block);    /* block is not NULL */
} rise_allocator;

/* The functions with which calls allocate device memory: workspaces, copies of host arrays, and
 * results without an address. (rise_alloc always asks the driver.) librise calls them on the thread
 * that called librise, while the CUDA context of the rise_context is current. They must not call
 * librise. */
typedef struct rise_device_allocator {
    void *user;
    /* Returns memory for work that is enqueued on `stream` from now on. It must be aligned to 256
     * bytes. `bytes` is at least 1. NULL means that there is no memory; the librise function then
     * returns RISE_ERROR_DEVICE_MEMORY. */
    void *(*alloc)(void *user, size_t bytes, void *stream);
    /* Takes the memory back, with the bytes and the stream that alloc got. Work that was enqueued
     * on that stream before may still use the memory, and nothing else does. */
    void (*free)(void *user, void *memory, size_t bytes, void *stream);
} rise_device_allocator;

/* The options of a context. Set all bytes to zero, then set `size`, then the options that you need.
 * */
typedef struct rise_context_options {
    size_t size;                   /* sizeof(rise_context_options) */
    int32_t device;                /* a rise_device */
    /* GPU: the number of the device. It is used if neither cuda_context nor a current context
     * determines the device. */
    int32_t ordinal;
    /* GPU: the CUcontext to work in; it must outlive the rise_context. NULL means the current
     * context of the calling thread, or, if there is none, the primary context of the device. The
     * CUDA runtime, PyTorch and CuPy use the primary context. */
    void *cuda_context;
    rise_diagnostic_fn diagnostic; /* or NULL */
    void *diagnostic_user;
    const rise_allocator *allocator; /* copied; NULL: malloc and free */
    uint64_t sim_seed;             /* SIM: the order of blocks and warps; 0: as numbered */
    int32_t no_disk_cache;         /* 1: kernels are neither read from the disk nor written to it */
    int32_t reserved;
    rise_poll_fn poll;             /* or NULL */
    void *poll_user;
    /* The folder whose files programs from text may read (rise_program_from_text), or NULL. The
     * path is copied. */
    const char *folder;
    rise_read_fn read;             /* returns these files instead, or NULL; do not set both */
    void *read_user;
    /* The largest number of steps of a launch; 0 means no limit, here and in the next two. On SIM,
     * a step is an instruction of a warp. On REF, it is an application of a function to scalars or
     * to arrays. */
    uint64_t max_steps;
    /* SIM, REF: the largest number of bytes that a launch may take from the allocator to run, apart
     * from arguments and results. */
    uint64_t max_memory;
    /* SIM, REF: the largest number of bytes of all results of a launch together. librise checks it
     * before it takes memory for them. */
    uint64_t max_result;
    const rise_device_allocator *device_allocator; /* GPU; copied; NULL: the driver */
    /* The path of NVRTC, which is copied. NULL: librise searches the usual places. A folder, which
     * begins with `/`: librise first searches it, its lib64 and lib, and pip wheels below it. A
     * file, which begins with `/`, or a name without `/`, as for dlopen: librise loads this one,
     * and no other. */
    const char *nvrtc_path;
} rise_context_options;

/* Makes a context. `options` may be NULL, which means RISE_AUTO and the defaults. The status is
 * RISE_ERROR_DEVICE if you ask for a GPU and none can be used; the text says what was searched for.
 * */
RISE_API int rise_context_new(const rise_context_options *options, rise_context **context, rise_error *error);
RISE_API void rise_context_free(rise_context *context);
/* The device of the context: RISE_GPU, RISE_SIM or RISE_REF. RISE_AUTO for NULL. */
RISE_API int rise_context_device(const rise_context *context);
/* The name of the device: "NVIDIA H200, sm_90, driver 13.0", "SIMT simulator", or "reference
 * interpreter". It lives as long as the context. */
RISE_API const char *rise_context_device_name(const rise_context *context);
/* Why RISE_AUTO chose the simulator: what librise searched for and did not find. It is "" if
 * RISE_AUTO did not choose the simulator. The text lives as long as the context. */
RISE_API const char *rise_context_why(const rise_context *context);
/* The architecture that kernels are compiled for: "sm_90". It is "" if there is no GPU. The text
 * lives as long as the context. */
RISE_API const char *rise_context_arch(const rise_context *context);
/* 1 after a fault on the GPU, such as an access to memory that does not exist. CUDA then gives up
 * its whole CUDA context, and the process cannot get another one. From then on, every function that
 * needs the GPU returns RISE_ERROR_LOST, including rise_context_new. Free the objects, and start a
 * new process for the GPU. SIM and REF still work. */
RISE_API int rise_context_lost(const rise_context *context);

/* These functions allocate, free and copy memory on the context's device (SIM and REF: host
 * memory), for arguments that stay there with RISE_DEVICE. It is aligned to 256 bytes. Sizes are in
 * bytes. Do not use the functions in inner loops: all of them wait, and the copies wait for
 * everything on the device. rise_free frees only memory that rise_alloc of this context returned,
 * and nothing after rise_context_free. On SIM and REF, memory that you did not free is freed with
 * the last object that needs the context. */
RISE_API int rise_alloc(rise_context *context, size_t bytes, void **memory, rise_error *error);
RISE_API void rise_free(rise_context *context, void *memory);
RISE_API int rise_copy(rise_context *context, void *to, int to_where, const void *from, int from_where, size_t bytes, rise_error *error);

/* ---- programs -------------------------------------------------------------------------------- */

/* Makes a program from text: parses it and resolves its names. `name` is used in messages. The text
 * is copied. `size` is in bytes, or (size_t)-1 if a zero byte ends the text. If the program is
 * wrong, the status is RISE_ERROR_PROGRAM, after the diagnostics.
 * The program reads no file, unless rise_context_options.folder or .read is set. In that case,
 * `name` is a path in that folder, and librise looks for imports by path and for the tuning beside
 * it. It refuses a path that is absolute, or that leads out of the folder by `..` or a symbolic
 * link. It reads only regular files. Diagnostics about a file other than the text give the place
 * and the code, and quote nothing. */
RISE_API int rise_program_from_text(rise_context *context, const char *name, const char *text, size_t size, rise_program **program, rise_error *error);
/* Makes a program from a file. librise reads the file once, now. It reads each file that the
 * program imports, and its tuning, once, either now or in rise_entry_get. These files may be
 * anywhere, so use this function for files that you trust. librise reads only regular files. */
RISE_API int rise_program_from_file(rise_context *context, const char *path, rise_program **program, rise_error *error);
RISE_API void rise_program_free(rise_program *program);
/* The entries of the text, in its order, numbered from 0. The names live as long as the program.
 * The name is NULL if there is no entry `k`. */
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
    /* The strategy that lowers the entry instead of its own, written as for
     * `risec lower --strategy`, or NULL. No tuning is used for such an entry. */
    const char *strategy;
    /* The text of a table of costs, in the format of `risec --costs FILE`, or NULL. The scheduler
     * then uses it for the entry instead of the library's table. */
    const char *costs;
} rise_entry_options;
/* Compiles the entry for the sizes among the settings, and for no others. This is worth it if you
 * launch one size many times. Otherwise, give the sizes to the launch. */
enum { RISE_SPECIALIZE = 1 };
/* Ignores the tuning that `risec tune` wrote (docs/tuning.md). Without this flag, librise uses a
 * tuning file if it is beside the program and has the program's name with `.tune` appended. The
 * tuning must be for the context's device and for this entry, and the settings must name no
 * tunable. RISE_REF never uses a tuning. */
enum { RISE_UNTUNED = 2 };

/* Returns the entry of that name, typed and lowered. If name is NULL, the program must have only
 * one entry. `options` may be NULL, which means the defaults. The entry belongs to the program. It
 * lives until the program or the entry itself is freed. The same settings, in any order, give the
 * same entry. */
RISE_API int rise_entry_get(rise_program *program, const char *name, const rise_entry_options *options, rise_entry **entry, rise_error *error);
/* Gives back what one rise_entry_get returned. You need it only if you want to free entries before
 * their program. The entry's memory is freed when you have given back each rise_entry_get, and have
 * freed the entry's last call. This memory is texts, compiled code, and on a GPU the loaded
 * kernels. Unloading the kernels waits for what runs on the device.
 * Until then, calls work as before, including those that are in flight, and rise_entry_get returns
 * the same entry. It uses another handle if the last rise_entry_get was given back. After the
 * memory is freed, rise_entry_get makes the entry again. So after freeing an entry you may still
 * use its calls. You may not use the entry itself, or what rise_entry_cuda and similar functions
 * returned.
 * Any thread may call this function, even while other threads get, use or free the same entry for
 * themselves. It cannot fail. Do not call it after rise_program_free. */
RISE_API void rise_entry_free(rise_entry *entry);
RISE_API const char *rise_entry_name(const rise_entry *entry);
/* 1 if a tuning is used. The manifest then contains the values of the tunables for each size class.
 * */
RISE_API int rise_entry_tuned(const rise_entry *entry);

/* The sizes that a launch gets, in order of declaration, and the tunables with their values. For a
 * tuned entry, the values are the defaults. The functions return NULL or 0 if there is no size or
 * tunable `k`. */
RISE_API int rise_entry_size_count(const rise_entry *entry);
RISE_API const char *rise_entry_size_name(const rise_entry *entry, int k);
RISE_API int rise_entry_tunable_count(const rise_entry *entry);
RISE_API const char *rise_entry_tunable_name(const rise_entry *entry, int k);
RISE_API int64_t rise_entry_tunable_value(const rise_entry *entry, int k);

/* The types of elements in memory. */
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

/* An argument is one dense array in row-major order, or a scalar (rank 0). A tuple of arrays is one
 * argument for each component: "xs.1", "xs.2". Several results are "result.1", "result.2". A short
 * vector is one more dimension. The pointers live as long as the entry. */
typedef struct rise_argument {
    size_t size;        /* in: sizeof(rise_argument) of the caller; that many bytes are filled */
    const char *name;   /* "xs", "xs.1", "result" */
    const char *text;   /* its type in RISE: "n.m.f32" */
    int32_t is_result;
    int32_t type;       /* a rise_type */
    int32_t rank;
    /* 1 for an array of idx[n], whose values must be below n. librise checks them in host memory.
     * In device memory, the caller has to ensure it. */
    int32_t is_index;
} rise_argument;
/* The arguments: results first, then inputs, in order. */
RISE_API int rise_entry_argument_count(const rise_entry *entry);
RISE_API int rise_entry_argument(const rise_entry *entry, int k, rise_argument *argument, rise_error *error);

/* The emitted CUDA C with host functions, and the manifest (docs/manifest.md). The texts live as
 * long as the entry. */
RISE_API int rise_entry_cuda(rise_entry *entry, const char **text, size_t *size, rise_error *error);
RISE_API int rise_entry_manifest(rise_entry *entry, const char **text, size_t *size, rise_error *error);

/* Compiles every kernel for an architecture, "sm_75" or later. If `arch` is NULL, it is that of the
 * context's GPU. The function needs NVRTC and no GPU. The compiled kernels stay on disk, where
 * launches find them, even those of other processes. With no_disk_cache, nothing is kept. */
RISE_API int rise_entry_compile(rise_entry *entry, const char *arch, rise_error *error);
/* All kernels in one module, for callers that load it themselves. The module is the text of
 * rise_entry_cuda. It is compiled when you first ask for it. The bytes live as long as the entry.
 * For PTX, *size does not include the terminating zero. */
RISE_API int rise_entry_ptx(rise_entry *entry, const char *arch, const char **text, size_t *size, rise_error *error);
RISE_API int rise_entry_cubin(rise_entry *entry, const char *arch, const void **bytes, size_t *size, rise_error *error);
/* Loads every kernel onto the context's GPU, and compiles it first if necessary. On SIM and REF
 * there is nothing to do. You need not call this function: a launch loads the few kernels that it
 * needs. */
RISE_API int rise_entry_load(rise_entry *entry, rise_error *error);
/* Loads the kernels that launches with sizes in a range can choose. It loads others only if the
 * bounds of the sizes do not rule them out. Launches with such sizes then compile nothing, except
 * for those in place (rise_call_output). The kernels for addresses that are not aligned are
 * included.
 * least[i] and most[i] are the bounds of size i, in the order of rise_entry_size_name; both are
 * included. The arrays belong to the caller and have rise_entry_size_count numbers. librise reads
 * them before it returns. If `least` is NULL, all ranges begin at 0. If `most` is NULL, they have
 * no end.
 * The status is RISE_ERROR_ARGUMENT if a range is empty or begins below 0, on all devices.
 * Otherwise, there is nothing to do on SIM and REF. If this function fails or is cancelled, kernels
 * that were ready before it stay ready. */
RISE_API int rise_entry_prepare(rise_entry *entry, const int64_t *least, const int64_t *most, rise_error *error);

/* The resources of a CUDA kernel, as the driver reports them. An entry has one kernel or several,
 * and some are variants of others. */
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
/* Describes kernel `k`. Its registers, shared memory, spills and max_threads are those on the
 * context's GPU, so librise loads the kernel first if necessary. On SIM and REF, these four are -1.
 * */
RISE_API int rise_entry_kernel(rise_entry *entry, int k, rise_kernel *kernel, rise_error *error);

/* ---- calls ----------------------------------------------------------------------------------- */

RISE_API int rise_call_new(rise_entry *entry, rise_call **call, rise_error *error);
/* Frees a call. If the call's launches copy from or to host memory, the function waits for them. It
 * gives back the call's own device memory in the order of the stream of the last launch. That
 * stream must still exist, unless you have called rise_call_wait since. */
RISE_API void rise_call_free(rise_call *call);

/* Where an array lies. */
typedef enum rise_memory {
    RISE_HOST = 0,  /* copied to and from the device by each launch */
    /* Memory of the context's device, used as it is: rise_alloc, cudaMalloc, tensor.data_ptr(), ...
     * On SIM and REF it is host memory. */
    RISE_DEVICE = 1
} rise_memory;

/* Sets a size that does not follow from the shapes of the inputs. If the size does follow from
 * them, the value must agree. */
RISE_API int rise_call_size(rise_call *call, const char *name, int64_t value, rise_error *error);
/* Sets an input: its type, its shape and its address. The shape has `rank` extents, outermost
 * first; it is copied, and may be NULL for rank 0. The address must be a multiple of the element
 * size. It need not be valid if there are no elements. The memory still belongs to the caller. The
 * launch reads it when it runs, so the memory must not change before the launch has finished. You
 * may set an input again for the next launch. */
RISE_API int rise_call_input(rise_call *call, const char *name, int type, int rank, const int64_t *shape, const void *data, int where, rise_error *error);
/* Checks strides, for wrappers whose arrays have them. `strides` are in bytes; NULL means dense.
 * The status is RISE_OK if the array is laid out as rise_call_input and rise_call_output need it:
 * dense, in row-major order, without a gap. Otherwise (transposed, sliced, reversed, broadcast) it
 * is RISE_ERROR_ARGUMENT, and the text has both lists of strides. `name` is used in the text. A
 * dimension with one element, and an array without elements, may have any stride. The function
 * needs no context, and does not read the array. */
RISE_API int rise_check_dense(const char *name, int type, int rank, const int64_t *shape, const int64_t *strides, rise_error *error);
/* Sets a scalar input: one element, which is copied now. Kernels get scalars by value, so a launch
 * copies the value when it is enqueued. On a GPU, a scalar is never in device memory. For a scalar
 * (rank 0) on a GPU, rise_call_input accepts only a host address, and the launch reads the value
 * when it is enqueued. */
RISE_API int rise_call_scalar(rise_call *call, const char *name, int type, const void *value, rise_error *error);
/* Sets where a result is stored: memory of the caller, with at least the bytes of the result. It
 * must not overlap another argument, with one exception. It may be exactly the memory of an input
 * whose cells the kernels read before they write there (docs/compiled.md, "In place"). A launch
 * with another overlap returns RISE_ERROR_ARGUMENT, and the text says why. If you do not call this
 * function, or pass NULL as `data`, the call allocates memory for the result. In host memory, the
 * result is complete when rise_call_wait has returned. */
RISE_API int rise_call_output(rise_call *call, const char *name, int type, void *data, size_t bytes, int where, rise_error *error);

/* Finds all sizes, and the shapes of all arguments and results, without data. The addresses of
 * inputs may be NULL, and inputs that no size depends on may be missing. The function allocates,
 * compiles and loads nothing, and does the same on all devices. As a launch does, it checks that
 * the shapes agree and that the facts of the program hold. A launch may still refuse sizes that are
 * too large for its kernels. */
RISE_API int rise_call_infer(rise_call *call, rise_error *error);
/* Checks the arguments and prepares everything that a launch needs: sizes, facts, memory, and the
 * kernels for these sizes, compiled and loaded. rise_call_launch does this itself if something has
 * changed since. When this function returns, any stream may use new memory, so the function waits
 * for the allocation. A launch that allocates does so in the order of its stream, without waiting.
 * */
RISE_API int rise_call_prepare(rise_call *call, rise_error *error);
/* The bytes of device memory that a launch with these sizes needs beside its arguments, for values
 * that one kernel leaves to later ones. It is 0 if the launch needs none, and always on SIM and
 * REF. Shapes are enough, as for rise_call_infer; a NULL address counts as aligned. The function
 * compiles and loads kernels if necessary, because some have a number of blocks that is known only
 * then. It allocates nothing. */
RISE_API int rise_call_workspace(rise_call *call, size_t *bytes, rise_error *error);
/* Sets the device memory that launches use as their workspace, so that they allocate none. The
 * memory still belongs to the caller. It must be aligned to 256 bytes (or to what the manifest
 * says), have at least the bytes of rise_call_workspace, and overlap no argument. If it is too
 * small, preparing the call returns RISE_ERROR_ARGUMENT.
 * A launch makes no assumption about the contents, and leaves any contents there. If kernels need
 * flags that are zero, each launch clears them first, on its stream. So each launch may get other
 * memory. Nothing else may use the memory while a launch runs, and the call does not order launches
 * on several streams for it. After NULL and 0, the call has its own workspace again. On SIM and
 * REF, the function has no effect. */
RISE_API int rise_call_use_workspace(rise_call *call, void *memory, size_t bytes, rise_error *error);
/* Launches on a stream of the context's CUDA context, and returns without waiting. `stream` is a
 * CUstream or cudaStream_t; NULL means the legacy default stream. On SIM and REF, the launch is
 * done when this returns.
 * Launches of one call on one stream run in order. A call that has its own memory may change the
 * stream. Its next launch then first waits, on the device, for the earlier one. The stream of the
 * earlier launch must still exist, unless you have called rise_call_wait since. A launch needs
 * nothing from an earlier one, whether that one finished, failed or never ran.
 * You may capture a launch into a CUDA graph if everything is prepared and all arrays are on the
 * device. The launch then does nothing but launch kernels. On a stream that records, librise
 * compiles, loads and allocates nothing. If something is missing, the status is
 * RISE_ERROR_ARGUMENT; call rise_call_prepare before the recording begins. The graph keeps
 * addresses, and the values that scalars had at the capture, and it uses the call's memory. So the
 * call must live as long as the graph, and you must not prepare it for larger arguments. The call
 * does not know when the graph runs. You have to order the graph yourself, and must never run it at
 * the same time as another launch of the call. rise_call_wait does not wait for it. */
RISE_API int rise_call_launch(rise_call *call, void *stream, rise_error *error);
/* Waits until the last launch has finished, and reports what went wrong in it. The status is
 * RISE_ERROR_ARGUMENT while the stream of that launch records, because waiting would end the
 * recording. */
RISE_API int rise_call_wait(rise_call *call, rise_error *error);
/* Sets *done to 1 if the last launch has finished, and to 0 if not, without waiting. It is also 1
 * if nothing was launched, and always on SIM and REF. The function reports what went wrong in the
 * launch, and fails in the same cases as rise_call_wait. The stream of the launch must exist until
 * this function or rise_call_wait has reported that the launch is done. */
RISE_API int rise_call_done(rise_call *call, int *done, rise_error *error);

/* The value of a size, after rise_call_infer, rise_call_prepare or a launch. It stays valid if you
 * set arguments again with the same sizes and shapes. */
RISE_API int rise_call_size_value(rise_call *call, const char *name, int64_t *value, rise_error *error);
/* The shape of an argument, after the same functions. Writes its rank, and up to max_rank extents.
 * */
RISE_API int rise_call_shape(rise_call *call, const char *name, int max_rank, int *rank, int64_t *shape, rise_error *error);
/* The address of a result on the device (SIM and REF: on the host), and its bytes, after
 * rise_call_prepare or a launch. The call's own memory lives until you free the call or prepare it
 * for other sizes. On a GPU, *data is NULL if the result goes to host memory. If `data` is NULL,
 * rise_call_infer is enough. */
RISE_API int rise_call_result(rise_call *call, const char *name, void **data, size_t *bytes, rise_error *error);
/* Waits, then copies a result to host memory. `bytes` must be the size of the whole result. */
RISE_API int rise_call_read(rise_call *call, const char *name, void *to, size_t bytes, rise_error *error);

#ifdef __cplusplus
}
#endif

#endif
