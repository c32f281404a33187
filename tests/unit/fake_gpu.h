/* A CUDA driver and an NVRTC of our own, behind the loader's seam, so that librise's way to the GPU runs without one.
 *
 * Memory of the device is memory of the host, kept in a list, so that each address that the driver is given can be looked up. Kernels do what the test's
 * `kernel` says. Every call can be made to fail. Whatever a real driver would not forgive (an address that is not its own, a call without a current
 * context, an object that is freed twice, memory or code that is made while a stream is recording) is counted in `misuse`. One fake at a time: a driver's functions have no user pointer.
 *
 * What is enqueued on a stream runs at once, unless the stream is recording: then it is kept, with the values of its parameters, and runs by fake_gpu_replay. */
#ifndef RISEC_TESTS_FAKE_GPU_H
#define RISEC_TESTS_FAKE_GPU_H

#include "runtime/internal.h"

typedef struct FakeLaunch {
    const char *name;
    CUfunction function;
    unsigned grid[3], block[3], shared;
    bool cooperative;
    CUstream stream;
    void **params;
} FakeLaunch;

typedef struct FakeGpu {
    /* What there is: set these after fake_gpu_start. */
    bool no_driver, no_nvrtc;
    int pools;               /* memory in the order of streams */
    const char *no_symbol;   /* the driver lacks this function */
    int version;             /* of the driver, 13000 */
    int devices, arch, sms, max_shared, cooperative, resident /* blocks on a multiprocessor */, max_threads;
    CUresult init_result;
    int nvrtc_newest;        /* architecture that NVRTC knows */
    bool any_code;           /* modules are not looked into: code of NVIDIA's NVRTC */
    void (*kernel)(const FakeLaunch *launch); /* what a kernel does */
    int (*compile)(const char *text);         /* what NVRTC does, on its thread: an nvrtcResult; NULL: nothing */
    long fail_at;            /* the driver's call of this number fails; 0: none */
    CUresult fail_with;
    bool busy_stream, busy_event; /* what is asked is not done */
    CUresult sticky;         /* what all calls say after a fault, until the process ends */
    /* What happened. */
    long calls, misuse, launches, compilations;
    const char *failed;      /* the function that was made to fail */
    int retained;            /* holds on the primary context */
    long waits;              /* for the whole device */
    CUstream freed_on;       /* where memory was given back last */
    size_t memory;       /* bytes that the device has */
    long memories, modules, events, streams, pushed; /* that are there now */
    char *log;               /* each thing that was enqueued on a stream, a line each; set it to a text of `log_room` bytes, or NULL */
    size_t log_room;
    long leaked; /* that were there when the primary context went */
} FakeGpu;

extern FakeGpu fake_gpu;
extern const LibraryLoader fake_loader;

void fake_gpu_start(void);
/* Is [address, address + bytes) inside memory that was allocated? */
bool fake_gpu_owns(CUdeviceptr address, size_t bytes);
CUcontext fake_gpu_primary(void);
/* Streams other than NULL are any addresses of the test. From here on `stream` records; the record begins anew. */
void fake_gpu_record(CUstream stream);
/* The end of the record. */
void fake_gpu_record_end(void);
/* Runs what was recorded last, in order. */
void fake_gpu_replay(void);
void fake_gpu_set_current(CUcontext context); /* of this thread */
CUcontext fake_gpu_current(void);

#endif
