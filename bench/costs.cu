// Measures what things take on the GPU that is present, and prints it as a table of costs, as `risec --costs` reads it and lib/device.rise is one:
//
//     nvcc -O3 -std=c++17 -arch=sm_90 bench/costs.cu -o build/costs && build/costs > table.rise
//
// Each time is a median of several runs in which the whole device is busy with one thing, divided by the elements. It takes a few seconds and 1 GiB.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <functional>
#include <vector>

namespace {

constexpr int RUNS = 9;
constexpr long long LARGE = 1ll << 28;  // elements: far more than any cache holds
constexpr long long CACHED = 1ll << 21; // 8 MiB: in the second-level cache, and no first-level cache
constexpr int PASSES = 64;              // over what is in the cache
constexpr int TRIPS = 512, VALUES = 4;  // of a thread: functions of each of so many values
constexpr int NODES = 200;              // kernels of a graph
constexpr int THREADS = 256;

struct Table {
#define COST(name, least) long long name = -1;
#include "../src/ir/costs.def"
#undef COST
};

void check(cudaError_t error, const char *what)
{
    if (error == cudaSuccess)
        return;
    std::fprintf(stderr, "costs: %s: %s\n", what, cudaGetErrorString(error));
    std::exit(3);
}

// ---- kernels --------------------------------------------------------------------------------------------------------------

__global__ void nothing() {}

__global__ void read_all(const float4 *xs, long long n, float *out)
{
    float sum = 0;
    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += gridDim.x * (long long)blockDim.x) {
        const float4 x = xs[i];
        sum += x.x + x.y + x.z + x.w;
    }
    if (sum == 12345) // never: the memory is zero
        out[0] = sum;
}

__global__ void write_all(float4 *xs, long long n)
{
    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += gridDim.x * (long long)blockDim.x)
        xs[i] = float4{0, 0, 0, 0};
}

// Past the first-level cache; each pass begins elsewhere, so that a thread reads other cells. n: a power of 2.
__global__ void read_cached(const float4 *xs, long long n, int passes, float *out)
{
    float sum = 0;
    for (int pass = 0; pass < passes; pass++)
        for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += gridDim.x * (long long)blockDim.x) {
            const float4 x = __ldcg(&xs[(i + pass * 4099ll * blockDim.x) & (n - 1)]);
            sum += x.x + x.y + x.z + x.w;
        }
    if (sum == 12345)
        out[0] = sum;
}

struct Sum { __device__ static float of(float x, float a) { return x + a; } };
struct Quotient { __device__ static float of(float x, float a) { return a / x; } };
struct Root { __device__ static float of(float x, float) { return sqrtf(x); } };
struct Exponential { __device__ static float of(float x, float) { return expf(-x); } };
struct Cosine { __device__ static float of(float x, float) { return cosf(x); } };
struct Conversions { __device__ static float of(float x, float a) { return (float)(int)x + a; } }; // two of them, and a sum

template <class Op> __global__ void apply(float a, float start, float *out)
{
    float x[VALUES];
    for (int v = 0; v < VALUES; v++)
        x[v] = start + (float)(threadIdx.x + v) * 1e-3f;
    for (int k = 0; k < TRIPS; k++)
#pragma unroll
        for (int v = 0; v < VALUES; v++)
            x[v] = Op::of(x[v], a);
    float sum = 0;
    for (int v = 0; v < VALUES; v++)
        sum += x[v];
    if (sum == 12345.678f)
        out[0] = sum;
}

// ---- times ----------------------------------------------------------------------------------------------------------------

cudaStream_t stream;

// Femtoseconds of the median run.
double time_of(const std::function<void()> &run)
{
    cudaEvent_t from, to;
    check(cudaEventCreate(&from), "event");
    check(cudaEventCreate(&to), "event");
    std::vector<double> times;
    for (int k = -2; k < RUNS; k++) { // the first two are for the clocks and the caches
        float ms = 0;
        check(cudaEventRecord(from, stream), "event");
        run();
        check(cudaEventRecord(to, stream), "event");
        check(cudaEventSynchronize(to), "run");
        check(cudaGetLastError(), "run");
        check(cudaEventElapsedTime(&ms, from, to), "time");
        if (k >= 0)
            times.push_back(ms * 1e12);
    }
    check(cudaEventDestroy(from), "event");
    check(cudaEventDestroy(to), "event");
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

long long rounded(double femtoseconds) { return (long long)(femtoseconds + 0.5); }

double time_of_launch()
{
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "graph");
    for (int k = 0; k < NODES; k++)
        nothing<<<1, 32, 0, stream>>>();
    check(cudaStreamEndCapture(stream, &graph), "graph");
    check(cudaGraphInstantiate(&ready, graph, 0), "graph");
    const double time = time_of([&] { check(cudaGraphLaunch(ready, stream), "graph"); });
    check(cudaGraphExecDestroy(ready), "graph");
    check(cudaGraphDestroy(graph), "graph");
    return time / NODES;
}

template <class Op> double time_of_function(int blocks, float a, float start, float *out)
{
    return time_of([&] { apply<Op><<<blocks, THREADS, 0, stream>>>(a, start, out); }) / ((double)blocks * THREADS * VALUES * TRIPS);
}

Table measured(const cudaDeviceProp &device)
{
    Table t;
    float *xs, *out;
    const int blocks = device.multiProcessorCount * device.maxThreadsPerMultiProcessor / THREADS;
    check(cudaMalloc(&xs, LARGE * sizeof(float)), "memory");
    check(cudaMalloc(&out, sizeof(float)), "memory");
    check(cudaMemset(xs, 0, LARGE * sizeof(float)), "memory");
    t.memoryRead = rounded(time_of([&] { read_all<<<blocks, THREADS, 0, stream>>>((float4 *)xs, LARGE / 4, out); }) / LARGE);
    t.memoryWrite = rounded(time_of([&] { write_all<<<blocks, THREADS, 0, stream>>>((float4 *)xs, LARGE / 4); }) / LARGE);
    t.cacheAccess = rounded(time_of([&] { read_cached<<<blocks, THREADS, 0, stream>>>((float4 *)xs, CACHED / 4, PASSES, out); }) / ((double)CACHED * PASSES));
    const double sum = time_of_function<Sum>(blocks, 1e-3f, 1, out);
    t.arithmetic = rounded(sum);
    t.conversion = rounded((time_of_function<Conversions>(blocks, 1.25f, 1, out) - sum) / 2);
    t.division = rounded(time_of_function<Quotient>(blocks, 1.5f, 1, out));
    t.root = rounded(time_of_function<Root>(blocks, 0, 2, out));
    t.exponential = rounded(time_of_function<Exponential>(blocks, 0, 1, out));
    t.trigonometric = rounded(time_of_function<Cosine>(blocks, 0, 1, out));
    t.launch = rounded(time_of_launch());
    t.lanes = (long long)device.multiProcessorCount * device.maxThreadsPerMultiProcessor;
    t.blockCells = 4096; // where a block and launches take about as long (docs/nests.md)
    t.cacheBytes = device.l2CacheSize / 2; // the other half is for what is read beside
    return t;
}

} // namespace

int main()
{
    cudaDeviceProp device;
    check(cudaGetDeviceProperties(&device, 0), "no GPU");
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "stream");
    const Table t = measured(device);
    std::printf("-- Measured by bench/costs on one %s.\n", device.name);
#define COST(name, least) std::printf("def " #name ": nat = %lld\n", std::max(t.name, (long long)(least)));
#include "../src/ir/costs.def"
#undef COST
    return 0;
}
