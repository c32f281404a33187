/* The CUDA driver as a table of functions, so that librise needs no CUDA to be built, one binary serves machines with and without it, and tests
 * can put their own driver in its place. Declares the little of cuda.h that is used. */
#ifndef RISE_RUNTIME_CUDA_API_H
#define RISE_RUNTIME_CUDA_API_H

#include "error.h"
#include "library.h"

typedef int CUresult;
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef void *CUcontext, *CUmodule, *CUfunction, *CUstream, *CUevent;

enum { /* CUresult */
    CU_SUCCESS = 0,
    CU_OUT_OF_MEMORY = 2,
    CU_NOT_INITIALIZED = 3,
    CU_STUB_LIBRARY = 34,
    CU_NO_DEVICE = 100,
    CU_INVALID_CONTEXT = 201,
    CU_NO_BINARY_FOR_GPU = 209,
    CU_NOT_READY = 600,
    CU_COOPERATIVE_LAUNCH_TOO_LARGE = 720
};
enum { /* of a device */
    CU_MULTIPROCESSORS = 16,
    CU_MAJOR = 75,
    CU_MINOR = 76,
    CU_COOPERATIVE = 95,
    CU_MAX_SHARED_OPTIN = 97, /* bytes of a block, with CU_FUNCTION_MAX_DYNAMIC_SHARED */
    CU_MEMORY_POOLS = 115     /* memory in the order of streams: mem_alloc_async */
};
enum { /* of a function */
    CU_FUNCTION_MAX_THREADS = 0,
    CU_FUNCTION_SHARED = 1, /* static, in bytes */
    CU_FUNCTION_LOCAL = 3,
    CU_FUNCTION_REGISTERS = 4,
    CU_FUNCTION_MAX_DYNAMIC_SHARED = 8
};
enum { CU_EVENT_NO_TIMING = 2, CU_STREAM_NON_BLOCKING = 1, CU_STREAM_NOT_CAPTURING = 0,
       CU_CAPTURE_RELAXED = 2 };
enum { CUDA_DRIVER_OLDEST = 11020 };

typedef struct CudaApi {
#define CUDA_FN(name, symbol, params) CUresult(*name) params;
#include "cuda_api.def"
#undef CUDA_FN
} CudaApi;

/* Fills the table from libcuda.so.1, by that name and from nowhere else, so that the linker's stub is never met. RISE_ERROR_DEVICE where there is none. The library
 * stays loaded until the process ends: a driver cannot be unloaded. */
int cuda_api_load(const LibraryLoader *loader, CudaApi *api, rise_error *error);

#endif
