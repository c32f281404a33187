/* Enough of CUDA for a CPU: what emitted and hand-written kernels see when they are compiled as C++.
 *
 * Texts are placed inside namespace cuda_shim (run_text.py does it), so that names such as fminf and max mean the device's functions and not the host's. Every
 * thread of a block is a fiber; shim.cpp has the scheduler. Anything that CUDA leaves undefined and that can be seen here ends the process
 * with a message: a shuffle that a lane of its mask does not reach, a barrier that some threads miss, a lane outside its own mask.
 *
 * Not like a GPU: one thread runs at a time, and another one takes over only at a barrier, a shuffle or an atomic; memory is sequentially
 * consistent. So a missing fence is not found here; a missing barrier is found when some order of threads makes the result wrong. */
#ifndef CUDA_SHIM_H
#define CUDA_SHIM_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))

namespace cuda_shim {

/* ---- types --------------------------------------------------------------------------------------------------------------- */

struct uint3 { unsigned x, y, z; };
struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};

/* `two`, `four`: the alignment that CUDA gives the type, which the sanitizer checks at each access. */
#define SHIM_VECTORS(name, elem, two, four)                                                                                      \
    struct name##1 { elem x; };                                                                                                  \
    struct alignas(two) name##2 { elem x, y; };                                                                                  \
    struct name##3 { elem x, y, z; };                                                                                            \
    struct alignas(four) name##4 { elem x, y, z, w; };                                                                           \
    static inline name##1 make_##name##1(elem x) { return {x}; }                                                                 \
    static inline name##2 make_##name##2(elem x, elem y) { return {x, y}; }                                                      \
    static inline name##3 make_##name##3(elem x, elem y, elem z) { return {x, y, z}; }                                           \
    static inline name##4 make_##name##4(elem x, elem y, elem z, elem w) { return {x, y, z, w}; }
SHIM_VECTORS(char, signed char, 2, 4)
SHIM_VECTORS(uchar, unsigned char, 2, 4)
SHIM_VECTORS(short, short, 4, 8)
SHIM_VECTORS(ushort, unsigned short, 4, 8)
SHIM_VECTORS(int, int, 8, 16)
struct uint1 { unsigned x; };
struct alignas(8) uint2 { unsigned x, y; };
struct alignas(16) uint4 { unsigned x, y, z, w; };
static inline uint1 make_uint1(unsigned x) { return {x}; }
static inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
static inline uint3 make_uint3(unsigned x, unsigned y, unsigned z) { return {x, y, z}; }
static inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
SHIM_VECTORS(longlong, long long, 16, 16)
SHIM_VECTORS(ulonglong, unsigned long long, 16, 16)
SHIM_VECTORS(float, float, 8, 16)
SHIM_VECTORS(double, double, 16, 16)
#undef SHIM_VECTORS

/* ---- threads ------------------------------------------------------------------------------------------------------------- */

/* What shim.cpp knows of the thread that runs. */
struct ThreadIds {
    uint3 thread, block;
};
extern ThreadIds *self;
extern dim3 launch_grid, launch_block;
extern long long index_max; /* up to here the host takes the kernel with 32-bit indices */

#define threadIdx (::cuda_shim::self->thread)
#define blockIdx (::cuda_shim::self->block)
#define blockDim (::cuda_shim::launch_block)
#define gridDim (::cuda_shim::launch_grid)
#define warpSize 32

/* Ends the run with a message that names the thread. */
[[noreturn]] void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* A shared variable of the block: `key` stands for the declaration. Fresh memory holds rubbish. */
void *shared_variable(const void *key, size_t bytes, size_t align);
void *dynamic_shared(size_t align);

/* ---- barriers ------------------------------------------------------------------------------------------------------------ */

enum BlockVote { VOTE_NONE, VOTE_COUNT, VOTE_AND, VOTE_OR };
int block_barrier(BlockVote vote, int value, int line);
void grid_barrier(int line);
/* Another thread may go on here: before an atomic at `at`, or at a fence. */
void yield_point(const void *at = nullptr);
void atomic_done(const void *at, bool changed);

static inline void __syncthreads(int line = __builtin_LINE()) { block_barrier(VOTE_NONE, 0, line); }
static inline int __syncthreads_count(int v, int line = __builtin_LINE()) { return block_barrier(VOTE_COUNT, v, line); }
static inline int __syncthreads_and(int v, int line = __builtin_LINE()) { return block_barrier(VOTE_AND, v, line); }
static inline int __syncthreads_or(int v, int line = __builtin_LINE()) { return block_barrier(VOTE_OR, v, line); }
static inline void __threadfence() { yield_point(); }
static inline void __threadfence_block() { yield_point(); }
static inline void __threadfence_system() { yield_point(); }
static inline void __nanosleep(unsigned) { yield_point(); }
[[noreturn]] static inline void __trap() { fail("__trap()"); }

/* ---- what the lanes of a warp do together -------------------------------------------------------------------------------- */

/* All lanes of the mask come with the same `what`; each gives a value, and gets a result made of all of them. */
enum Together {
    WARP_SYNC, WARP_SHUFFLE /* arg: the lane to read from */, WARP_BALLOT, WARP_MATCH, WARP_MATCH_ALL,
    WARP_ADD, WARP_MIN_S, WARP_MAX_S, WARP_MIN_U, WARP_MAX_U, WARP_AND, WARP_OR, WARP_XOR
};
uint64_t warp_together(Together what, unsigned mask, uint64_t value, int arg, int line);
unsigned lane_id();

static inline void __syncwarp(unsigned mask = 0xffffffffu, int line = __builtin_LINE()) { warp_together(WARP_SYNC, mask, 0, 0, line); }
static inline unsigned __ballot_sync(unsigned mask, int p, int line = __builtin_LINE())
{
    return (unsigned)warp_together(WARP_BALLOT, mask, p != 0, 0, line);
}
static inline int __any_sync(unsigned mask, int p, int line = __builtin_LINE()) { return __ballot_sync(mask, p, line) != 0; }
static inline int __all_sync(unsigned mask, int p, int line = __builtin_LINE()) { return __ballot_sync(mask, p, line) == mask; }
/* The lanes that happen to be together: alone is always allowed. */
static inline unsigned __activemask() { return 1u << lane_id(); }

/* The compiler's own memcpy: these are among the hottest functions, and memcpy is a call of the sanitizer's. */
template <typename T> static inline uint64_t to_bits(T v)
{
    uint64_t bits = 0;
    __builtin_memcpy(&bits, &v, sizeof v);
    return bits;
}
template <typename T> static inline T from_bits(uint64_t bits)
{
    T v;
    __builtin_memcpy(&v, &bits, sizeof v);
    return v;
}

static inline int segment_end(int lane, int width) { return (lane & ~(width - 1)) + width; }
static inline int from_down(int lane, unsigned by, int width) { return (int64_t)lane + by < segment_end(lane, width) ? lane + (int)by : lane; }
static inline int from_up(int lane, unsigned by, int width) { return (int64_t)lane - by >= segment_end(lane, width) - width ? lane - (int)by : lane; }
static inline int from_xor(int lane, int by, int width) { return (lane ^ by) < segment_end(lane, width) ? (lane ^ by) & 31 : lane; }
static inline int from_index(int lane, int index, int width) { return segment_end(lane, width) - width + (index & (width - 1)); }

#define SHIM_SHUFFLE(name, T, B, from)                                                                                           \
    static inline T name(unsigned mask, T v, B by, int width = 32, int line = __builtin_LINE())                                  \
    {                                                                                                                            \
        if (width < 1 || width > 32 || (width & (width - 1)))                                                                    \
            fail(#name ": width %d is not a power of two up to 32", width);                                                      \
        return from_bits<T>(warp_together(WARP_SHUFFLE, mask, to_bits(v), from((int)lane_id(), by, width), line));               \
    }
#define SHIM_SHUFFLES(T)                                                                                                         \
    SHIM_SHUFFLE(__shfl_sync, T, int, from_index)                                                                                \
    SHIM_SHUFFLE(__shfl_up_sync, T, unsigned, from_up)                                                                           \
    SHIM_SHUFFLE(__shfl_down_sync, T, unsigned, from_down)                                                                       \
    SHIM_SHUFFLE(__shfl_xor_sync, T, int, from_xor)                                                                              \
    static inline unsigned __match_any_sync(unsigned mask, T v, int line = __builtin_LINE())                                     \
    {                                                                                                                            \
        return (unsigned)warp_together(WARP_MATCH, mask, to_bits(v), 0, line);                                                   \
    }                                                                                                                            \
    static inline unsigned __match_all_sync(unsigned mask, T v, int *all, int line = __builtin_LINE())                           \
    {                                                                                                                            \
        unsigned equal = (unsigned)warp_together(WARP_MATCH_ALL, mask, to_bits(v), 0, line);                                     \
        *all = equal != 0;                                                                                                       \
        return equal;                                                                                                            \
    }
SHIM_SHUFFLES(int)
SHIM_SHUFFLES(unsigned)
SHIM_SHUFFLES(long)
SHIM_SHUFFLES(unsigned long)
SHIM_SHUFFLES(long long)
SHIM_SHUFFLES(unsigned long long)
SHIM_SHUFFLES(float)
SHIM_SHUFFLES(double)
#undef SHIM_SHUFFLES
#undef SHIM_SHUFFLE

#define SHIM_WARP_REDUCE(name, T, what)                                                                                          \
    static inline T name(unsigned mask, T v, int line = __builtin_LINE()) { return (T)warp_together(what, mask, to_bits(v), 0, line); }
SHIM_WARP_REDUCE(__reduce_add_sync, int, WARP_ADD)
SHIM_WARP_REDUCE(__reduce_add_sync, unsigned, WARP_ADD)
SHIM_WARP_REDUCE(__reduce_min_sync, int, WARP_MIN_S)
SHIM_WARP_REDUCE(__reduce_max_sync, int, WARP_MAX_S)
SHIM_WARP_REDUCE(__reduce_min_sync, unsigned, WARP_MIN_U)
SHIM_WARP_REDUCE(__reduce_max_sync, unsigned, WARP_MAX_U)
SHIM_WARP_REDUCE(__reduce_and_sync, unsigned, WARP_AND)
SHIM_WARP_REDUCE(__reduce_or_sync, unsigned, WARP_OR)
SHIM_WARP_REDUCE(__reduce_xor_sync, unsigned, WARP_XOR)
#undef SHIM_WARP_REDUCE

/* ---- atomics ------------------------------------------------------------------------------------------------------------- */

/* Instrumented like any other access; one thread runs at a time, so nothing else is needed. */
template <typename T> static inline bool same_bits(T a, T b) { return to_bits(a) == to_bits(b); }
#define SHIM_ATOMIC(name, T, result)                                                                                             \
    static inline T name(T *at, T v)                                                                                             \
    {                                                                                                                            \
        yield_point(at);                                                                                                         \
        T old = *at;                                                                                                             \
        *at = (T)(result);                                                                                                       \
        atomic_done(at, !same_bits(old, *at));                                                                                   \
        return old;                                                                                                              \
    }                                                                                                                            \
    static inline T name##_block(T *at, T v) { return name(at, v); }                                                             \
    static inline T name##_system(T *at, T v) { return name(at, v); }
#define SHIM_ATOMIC_CAS(T)                                                                                                       \
    static inline T atomicCAS(T *at, T expected, T v)                                                                            \
    {                                                                                                                            \
        yield_point(at);                                                                                                         \
        T old = *at;                                                                                                             \
        if (old == expected)                                                                                                     \
            *at = v;                                                                                                             \
        atomic_done(at, !same_bits(old, *at));                                                                                   \
        return old;                                                                                                              \
    }                                                                                                                            \
    static inline T atomicCAS_block(T *at, T expected, T v) { return atomicCAS(at, expected, v); }                               \
    static inline T atomicCAS_system(T *at, T expected, T v) { return atomicCAS(at, expected, v); }
#define SHIM_ATOMIC_BITS(T)                                                                                                      \
    SHIM_ATOMIC(atomicAnd, T, old & v) SHIM_ATOMIC(atomicOr, T, old | v) SHIM_ATOMIC(atomicXor, T, old ^ v)
#define SHIM_ATOMIC_ORDER(T) SHIM_ATOMIC(atomicMin, T, old < v ? old : v) SHIM_ATOMIC(atomicMax, T, old > v ? old : v)
SHIM_ATOMIC(atomicAdd, int, (unsigned)old + (unsigned)v)
SHIM_ATOMIC(atomicAdd, unsigned, old + v)
SHIM_ATOMIC(atomicAdd, unsigned long long, old + v)
SHIM_ATOMIC(atomicAdd, float, old + v)
SHIM_ATOMIC(atomicAdd, double, old + v)
SHIM_ATOMIC(atomicSub, int, (unsigned)old - (unsigned)v)
SHIM_ATOMIC(atomicSub, unsigned, old - v)
SHIM_ATOMIC(atomicExch, int, v)
SHIM_ATOMIC(atomicExch, unsigned, v)
SHIM_ATOMIC(atomicExch, unsigned long long, v)
SHIM_ATOMIC(atomicExch, float, v)
SHIM_ATOMIC(atomicInc, unsigned, old >= v ? 0 : old + 1)
SHIM_ATOMIC(atomicDec, unsigned, old == 0 || old > v ? v : old - 1)
SHIM_ATOMIC_ORDER(int)
SHIM_ATOMIC_ORDER(unsigned)
SHIM_ATOMIC_ORDER(long long)
SHIM_ATOMIC_ORDER(unsigned long long)
SHIM_ATOMIC_BITS(int)
SHIM_ATOMIC_BITS(unsigned)
SHIM_ATOMIC_BITS(unsigned long long)
SHIM_ATOMIC_CAS(unsigned short)
SHIM_ATOMIC_CAS(int)
SHIM_ATOMIC_CAS(unsigned)
SHIM_ATOMIC_CAS(unsigned long long)
#undef SHIM_ATOMIC
#undef SHIM_ATOMIC_CAS
#undef SHIM_ATOMIC_BITS
#undef SHIM_ATOMIC_ORDER

/* ---- memory and arithmetic ------------------------------------------------------------------------------------------------ */

template <typename T> static inline T __ldg(const T *at) { return *at; }
template <typename T> static inline T __ldcs(const T *at) { return *at; }
template <typename T> static inline T __ldcg(const T *at) { return *at; }
template <typename T> static inline void __stcs(T *at, T v) { *at = v; }
template <typename T> static inline void __stcg(T *at, T v) { *at = v; }

static inline int __float_as_int(float v) { return from_bits<int>(to_bits(v)); }
static inline unsigned __float_as_uint(float v) { return from_bits<unsigned>(to_bits(v)); }
static inline float __int_as_float(int v) { return from_bits<float>(to_bits(v)); }
static inline float __uint_as_float(unsigned v) { return from_bits<float>(to_bits(v)); }
static inline long long __double_as_longlong(double v) { return from_bits<long long>(to_bits(v)); }
static inline double __longlong_as_double(long long v) { return from_bits<double>(to_bits(v)); }

static inline int __popc(unsigned v) { return __builtin_popcount(v); }
static inline int __popcll(unsigned long long v) { return __builtin_popcountll(v); }
static inline int __clz(int v) { return v ? __builtin_clz((unsigned)v) : 32; }
static inline int __clzll(long long v) { return v ? __builtin_clzll((unsigned long long)v) : 64; }
static inline int __ffs(int v) { return __builtin_ffs(v); }
static inline int __ffsll(long long v) { return __builtin_ffsll(v); }
static inline unsigned __brev(unsigned v)
{
    unsigned r = 0;
    for (int i = 0; i < 32; i++)
        r |= (v >> i & 1) << (31 - i);
    return r;
}
static inline int __mul24(int a, int b) { return (int)((unsigned)(a << 8 >> 8) * (unsigned)(b << 8 >> 8)); }
static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) { return (unsigned long long)((unsigned __int128)a * b >> 64); }
static inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((uint64_t)a * b >> 32); }

/* Rounded once: never joined with a sum. */
static inline float __fmul_rn(float a, float b) { return a * b; }
static inline float __fadd_rn(float a, float b) { return a + b; }
static inline float __fsub_rn(float a, float b) { return a - b; }
static inline float __fdiv_rn(float a, float b) { return a / b; }
static inline float __fsqrt_rn(float a) { return sqrtf(a); }
static inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
static inline double __dmul_rn(double a, double b) { return a * b; }
static inline double __dadd_rn(double a, double b) { return a + b; }
static inline double __dsub_rn(double a, double b) { return a - b; }
static inline double __ddiv_rn(double a, double b) { return a / b; }
static inline double __fma_rn(double a, double b, double c) { return fma(a, b, c); }
static inline float rsqrtf(float a) { return (float)(1.0 / sqrt((double)a)); }
/* As the reference interpreter has them (ir/scalar.c): a device rounds them otherwise, and is compared with a tolerance. */
static inline float expf(float a) { return (float)exp((double)a); }
static inline float exp2f(float a) { return (float)exp2((double)a); }
static inline float logf(float a) { return (float)log((double)a); }
static inline float log2f(float a) { return (float)log2((double)a); }
static inline float sinf(float a) { return (float)sin((double)a); }
static inline float cosf(float a) { return (float)cos((double)a); }
static inline float tanhf(float a) { return (float)tanh((double)a); }
static inline float powf(float a, float b) { return (float)pow((double)a, (double)b); }
static inline double rsqrt(double a) { return 1.0 / sqrt(a); }

/* min.f32 and max.f32: the other argument when one is NaN, and -0 before +0. */
#define SHIM_MIN_MAX(T, fmin_, fmax_)                                                                                            \
    static inline T fmin_(T a, T b) { return a != a ? b : b != b ? a : a == b ? (signbit(a) ? a : b) : a < b ? a : b; }          \
    static inline T fmax_(T a, T b) { return a != a ? b : b != b ? a : a == b ? (signbit(a) ? b : a) : a > b ? a : b; }          \
    static inline T min(T a, T b) { return fmin_(a, b); }                                                                        \
    static inline T max(T a, T b) { return fmax_(a, b); }
SHIM_MIN_MAX(float, fminf, fmaxf)
SHIM_MIN_MAX(double, fmin, fmax)
#undef SHIM_MIN_MAX
#define SHIM_MIN_MAX(T)                                                                                                          \
    static inline T min(T a, T b) { return a < b ? a : b; }                                                                      \
    static inline T max(T a, T b) { return a > b ? a : b; }
SHIM_MIN_MAX(int)
SHIM_MIN_MAX(unsigned)
SHIM_MIN_MAX(long)
SHIM_MIN_MAX(unsigned long)
SHIM_MIN_MAX(long long)
SHIM_MIN_MAX(unsigned long long)
#undef SHIM_MIN_MAX
/* CUDA mixes signed and unsigned in these, as the unsigned type. */
static inline unsigned min(int a, unsigned b) { return min((unsigned)a, b); }
static inline unsigned min(unsigned a, int b) { return min(a, (unsigned)b); }
static inline unsigned max(int a, unsigned b) { return max((unsigned)a, b); }
static inline unsigned max(unsigned a, int b) { return max(a, (unsigned)b); }
static inline int abs(int a) { return a < 0 ? -a : a; }
static inline long abs(long a) { return a < 0 ? -a : a; }
static inline long long abs(long long a) { return a < 0 ? -a : a; }
static inline float abs(float a) { return fabsf(a); }
static inline double abs(double a) { return fabs(a); }
static inline long long llabs(long long a) { return a < 0 ? -a : a; }

/* Towards zero, to the nearest value that exists. NaN: what the device gives, so that a text that does not look first is seen. */
template <typename I, typename F> static inline I convert_rz(F x, I low, I high, I of_nan)
{
    if (x != x)
        return of_nan;
    if (x <= (F)low)
        return low;
    return x >= (F)high ? high : (I)x;
}
#define SHIM_CONVERT(from, F)                                                                                                    \
    static inline int __##from##2int_rz(F x) { return convert_rz<int, F>(x, INT32_MIN, INT32_MAX, sizeof(F) == 4 ? 0 : INT32_MIN); } \
    static inline unsigned __##from##2uint_rz(F x) { return convert_rz<unsigned, F>(x, 0, UINT32_MAX, sizeof(F) == 4 ? 0 : 0x80000000u); } \
    static inline long long __##from##2ll_rz(F x) { return convert_rz<long long, F>(x, INT64_MIN, INT64_MAX, INT64_MIN); }       \
    static inline unsigned long long __##from##2ull_rz(F x) { return convert_rz<unsigned long long, F>(x, 0, UINT64_MAX, 1ull << 63); }
SHIM_CONVERT(float, float)
SHIM_CONVERT(double, double)
#undef SHIM_CONVERT

/* ---- the host's side ------------------------------------------------------------------------------------------------------ */

enum cudaError_t {
    cudaSuccess = 0, cudaErrorInvalidValue = 1, cudaErrorMemoryAllocation = 2, cudaErrorInvalidConfiguration = 9, cudaErrorLaunchFailure = 719,
    cudaErrorCooperativeLaunchTooLarge = 720
};
typedef cudaError_t cudaError;
struct CUstream_st;
typedef CUstream_st *cudaStream_t;
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8, cudaFuncAttributePreferredSharedMemoryCarveout = 9 };
enum cudaDeviceAttr {
    cudaDevAttrMaxThreadsPerBlock = 1, cudaDevAttrMultiProcessorCount = 16, cudaDevAttrMaxThreadsPerMultiProcessor = 39,
    cudaDevAttrComputeCapabilityMajor = 75, cudaDevAttrComputeCapabilityMinor = 76, cudaDevAttrCooperativeLaunch = 95,
    cudaDevAttrMaxSharedMemoryPerBlockOptin = 97
};
enum cudaMemcpyKind { cudaMemcpyHostToHost, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice, cudaMemcpyDefault };

cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();
const char *cudaGetErrorString(cudaError_t error);
cudaError_t cudaGetDevice(int *device);
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device);
cudaError_t cudaFuncSetAttribute(const void *function, cudaFuncAttribute attribute, int value);
cudaError_t occupancy(int *blocks, int threads, size_t shared);
cudaError_t cudaMemGetInfo(size_t *unused, size_t *all);
cudaError_t cudaMalloc(void **at, size_t bytes);
cudaError_t cudaFree(void *at);
cudaError_t cudaMemset(void *at, int value, size_t bytes);
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind);
template <typename T> static inline cudaError_t cudaMalloc(T **at, size_t bytes) { return cudaMalloc((void **)at, bytes); }
template <typename T> static inline cudaError_t cudaMallocAsync(T **at, size_t bytes, cudaStream_t) { return cudaMalloc((void **)at, bytes); }
static inline cudaError_t cudaFreeAsync(void *at, cudaStream_t) { return cudaFree(at); }
static inline cudaError_t cudaMemsetAsync(void *at, int value, size_t bytes, cudaStream_t) { return cudaMemset(at, value, bytes); }
static inline cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t) { return cudaMemcpy(to, from, bytes, kind); }
template <typename T> static inline cudaError_t cudaMemcpyToSymbolAsync(T &to, const void *from, size_t bytes, size_t at, cudaMemcpyKind kind, cudaStream_t)
{
    return cudaMemcpy((char *)&to + at, from, bytes, kind);
}
template <typename T> static inline cudaError_t cudaMemcpyToSymbol(T &to, const void *from, size_t bytes) { return cudaMemcpy(&to, from, bytes, cudaMemcpyDefault); }
static inline cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
static inline cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
template <typename K> static inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, K, int threads, size_t shared)
{
    return occupancy(blocks, threads, shared);
}

/* kernel<<<grid, block, shared, stream>>>(args) becomes launch("kernel", (const void *)kernel, config(grid, block, shared, stream), [=] { kernel(args); }). */
struct Config {
    dim3 grid, block;
    size_t shared;
    bool cooperative;
};
static inline Config config(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t = nullptr) { return {grid, block, shared, false}; }
cudaError_t launch_body(const char *name, const void *function, Config how, void (*body)(void *), void *data);
template <typename F> static inline cudaError_t launch(const char *name, const void *function, Config how, F f)
{
    return launch_body(name, function, how, [](void *data) { (*(F *)data)(); }, &f);
}

template <int... I> struct Indices {};
template <int N, int... I> struct UpTo : UpTo<N - 1, N - 1, I...> {};
template <int... I> struct UpTo<0, I...> { typedef Indices<I...> type; };
template <typename... A, int... I> static inline cudaError_t launch_with(const char *name, void (*f)(A...), Config how, void **args, Indices<I...>)
{
    return launch(name, (const void *)f, how, [=] { f(*(A *)args[I]...); });
}
/* cudaLaunchKernel and cudaLaunchCooperativeKernel: the text names the kernel, whose type says what `args` points to. */
template <typename... A>
static inline cudaError_t launch_args(const char *name, bool cooperative, void (*f)(A...), dim3 grid, dim3 block, void **args, size_t shared = 0, cudaStream_t = nullptr)
{
    return launch_with(name, f, {grid, block, shared, cooperative}, args, typename UpTo<sizeof...(A)>::type());
}

namespace cooperative_groups {
struct grid_group {
    void sync(int line = __builtin_LINE()) const { grid_barrier(line); }
    bool is_valid() const { return true; }
};
static inline grid_group this_grid() { return {}; }
}

/* ---- what the runner calls --------------------------------------------------------------------------------------------------- */

typedef int (*HostFunction)(void **buffers, int n_buffers, const long long *sizes);
typedef int (*WorkspaceFunction)(const long long *sizes, size_t *bytes);
typedef int (*InitFunction)(void *workspace);
struct Twin { /* a program of the batch; they make a list */
    const char *name;
    HostFunction call;
    int n_arguments; /* buffers and sizes */
    WorkspaceFunction workspace; /* its bytes, and what makes it ready; NULL: there is none */
    InitFunction init;
    Twin *next;
    Twin(const char *name_, HostFunction call_, int arguments, WorkspaceFunction workspace_, InitFunction init_);
};
#define SHIM_TWIN_CALL(function) \
    static int call_twin(void **buffers, int n_buffers, const long long *sizes) { return call(function, buffers, n_buffers, sizes); }
#define SHIM_TWIN(name, function) \
    SHIM_TWIN_CALL(function)      \
    static Twin twin(name, call_twin, arguments_of(function), nullptr, nullptr);
#define SHIM_TWIN_WITH(name, function, workspace, init)                                                       \
    SHIM_TWIN_CALL(function)                                                                                  \
    static int size_twin(const long long *sizes, size_t *bytes) { return size_call(workspace, sizes, bytes); } \
    static int init_twin(void *at) { return init(at, nullptr); }                                              \
    static Twin twin(name, call_twin, arguments_of(function), size_twin, init_twin);

/* Parameter number i of a host function: first those for buffers, which are pointers or, of scalars, values; then sizes, then a stream. */
template <typename T> struct Argument {
    static T get(void **buffers, int n_buffers, const long long *sizes, int i) { return i < n_buffers ? *(T *)buffers[i] : (T)sizes[i - n_buffers]; }
};
template <typename T> struct Argument<T *> {
    static T *get(void **buffers, int, const long long *, int i) { return (T *)buffers[i]; }
};
template <> struct Argument<cudaStream_t> {
    static cudaStream_t get(void **, int, const long long *, int) { return nullptr; }
};
template <typename R, typename... A> constexpr int arguments_of(R (*)(A...)) { return (int)sizeof...(A) - 1; }
template <typename... A, int... I> static inline int call_with(int (*f)(A...), void **b, int n, const long long *s, Indices<I...>)
{
    return f(Argument<A>::get(b, n, s, I)...);
}
template <typename... A, int... I> static inline int call_with(void (*f)(A...), void **b, int n, const long long *s, Indices<I...>)
{
    f(Argument<A>::get(b, n, s, I)...);
    return (int)cudaGetLastError();
}
/* Of the function that says how much workspace is needed: sizes, then where the number goes. */
template <typename T> struct SizeArgument {
    static T get(const long long *sizes, size_t *, int i) { return (T)sizes[i]; }
};
template <> struct SizeArgument<size_t *> {
    static size_t *get(const long long *, size_t *bytes, int) { return bytes; }
};
template <typename... A, int... I> static inline int size_call_with(int (*f)(A...), const long long *s, size_t *bytes, Indices<I...>)
{
    return f(SizeArgument<A>::get(s, bytes, I)...);
}
template <typename... A> static inline int size_call(int (*f)(A...), const long long *s, size_t *bytes)
{
    return size_call_with(f, s, bytes, typename UpTo<sizeof...(A)>::type());
}
template <typename R, typename... A> static inline int call(R (*f)(A...), void **b, int n, const long long *s)
{
    return call_with(f, b, n, s, typename UpTo<sizeof...(A)>::type());
}

} // namespace cuda_shim
#endif
