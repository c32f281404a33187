// Times every contender of every workload, checks its results, prints a table and writes it as CSV. See bench.h and README.md.
#include "bench.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace {

constexpr int CHAIN = 20;           // calls in one graph
constexpr int ROUNDS = 15;          // each contender's turns
constexpr double MAX_SECONDS = 0.6; // of one contender at one size: fewer rounds where calls are long
constexpr size_t ROTATE_BYTES = 256u << 20; // more than the second-level cache of any GPU of today
constexpr int MAX_COPIES = CHAIN;

void check(cudaError_t error, const char *what)
{
    if (error == cudaSuccess)
        return;
    std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
    std::exit(3);
}

__global__ void fill(void *data, long long n, Type type, bool near_one, unsigned seed)
{
    for (long long i = blockIdx.x * 256ll + threadIdx.x; i < n; i += gridDim.x * 256ll) {
        unsigned long long x = (i + 1) * 0x9e3779b97f4a7c15ull + seed * 0xd1342543de82ef95ull;
        x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
        x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
        x ^= x >> 31;
        const double between = (x >> 11) * 0x1p-53 * 2 - 1, u = near_one ? 1 + 0x1p-12 * between : between;
        switch (type) {
        case Type::f32: ((float *)data)[i] = (float)u; break;
        case Type::f64: ((double *)data)[i] = u; break;
        case Type::f16: ((__half *)data)[i] = __float2half((float)u); break;
        case Type::bf16: ((__nv_bfloat16 *)data)[i] = __float2bfloat16((float)u); break;
        case Type::i32: ((int *)data)[i] = (int)(u * 1000000); break;
        case Type::i64: ((long long *)data)[i] = (long long)(u * 1000000); break;
        }
    }
}

__device__ double value_at(const void *data, long long i, Type type)
{
    switch (type) {
    case Type::f32: return ((const float *)data)[i];
    case Type::f64: return ((const double *)data)[i];
    case Type::f16: return __half2float(((const __half *)data)[i]);
    case Type::bf16: return __bfloat162float(((const __nv_bfloat16 *)data)[i]);
    case Type::i32: return ((const int *)data)[i];
    case Type::i64: return (double)((const long long *)data)[i];
    }
    return 0;
}

__device__ void atomic_max(double *cell, double x) // x >= 0: the bits are in the same order
{
    atomicMax((unsigned long long *)cell, (unsigned long long)__double_as_longlong(x));
}

// result[0]: the largest difference, result[1]: the largest value of the reference; not a number counts as infinitely far
__global__ void compare(const void *a, const void *b, long long n, Type type, double *result)
{
    for (long long i = blockIdx.x * 256ll + threadIdx.x; i < n; i += gridDim.x * 256ll) {
        const double x = value_at(a, i, type), y = value_at(b, i, type), d = x == y ? 0 : fabs(x - y);
        atomic_max(&result[0], d >= 0 ? d : INFINITY);
        atomic_max(&result[1], fabs(y));
    }
}

__global__ void nothing() {}

struct Times {
    std::vector<double> us;
    double median() const { return at(0.5); }
    double at(double q) const
    {
        std::vector<double> sorted = us;
        std::sort(sorted.begin(), sorted.end());
        return sorted.empty() ? NAN : sorted[(size_t)(q * (double)(sorted.size() - 1) + 0.5)];
    }
};

struct Clock {
    cudaEvent_t from, to;
    Clock()
    {
        check(cudaEventCreate(&from), "event");
        check(cudaEventCreate(&to), "event");
    }
    ~Clock()
    {
        cudaEventDestroy(from);
        cudaEventDestroy(to);
    }
    template <typename F> double us(cudaStream_t stream, F work)
    {
        check(cudaEventRecord(from, stream), "event");
        work();
        check(cudaEventRecord(to, stream), "event");
        check(cudaEventSynchronize(to), "a timed call");
        float ms = 0;
        check(cudaEventElapsedTime(&ms, from, to), "event");
        return ms * 1000.0;
    }
};

struct Memory { // all that is allocated for one workload at one size
    std::vector<void *> blocks;
    void *get(size_t bytes)
    {
        void *block = nullptr;
        check(cudaMalloc(&block, bytes ? bytes : 1), "memory for the buffers");
        blocks.push_back(block);
        return block;
    }
    ~Memory()
    {
        for (void *block : blocks)
            cudaFree(block);
    }
};

struct Entry { // a contender in a race
    const Contender *contender;
    std::vector<Buffers> copies;
    cudaGraphExec_t graph = nullptr;
    int chain = CHAIN;
    Times chained, single;
    std::string failed;
};

cudaGraphExec_t capture(const Contender &c, const std::vector<Buffers> &copies, Sizes s, int calls, cudaStream_t stream)
{
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capture");
    int error = 0;
    for (int i = 0; i < calls && !error; i++)
        error = c.run(copies[(size_t)i % copies.size()], s, stream);
    cudaGraph_t graph = nullptr;
    const cudaError_t ended = cudaStreamEndCapture(stream, &graph);
    cudaGraphExec_t exec = nullptr;
    if (!error && ended == cudaSuccess)
        check(cudaGraphInstantiate(&exec, graph, 0), "graph");
    cudaGetLastError();
    if (graph)
        cudaGraphDestroy(graph);
    return exec;
}

class Race {
public:
    Race(const Workload &w, Sizes s, cudaStream_t stream) : w(w), s(s), stream(stream)
    {
        size_t bytes = 0;
        for (const Array &a : w.inputs)
            bytes += bytes_of(a.type) * (size_t)a.length(s);
        int copies = (int)std::min<size_t>(MAX_COPIES, ROTATE_BYTES / std::max<size_t>(bytes, 1) + 1);
        std::vector<Buffers> inputs((size_t)copies);
        unsigned seed = 1;
        for (Buffers &b : inputs)
            for (size_t i = 0; i < w.inputs.size(); i++) {
                const long long n = w.inputs[i].length(s);
                b.in[i] = memory.get(bytes_of(w.inputs[i].type) * (size_t)n);
                fill<<<2048, 256, 0, stream>>>(b.in[i], n, w.inputs[i].type, w.inputs[i].near_one, seed++);
            }
        for (const Contender &c : w.contenders) {
            Entry e;
            e.contender = &c;
            char *work = (char *)memory.get(WORK_BYTES);
            for (const Buffers &b : inputs) {
                e.copies.push_back(b);
                e.copies.back().work = work;
                for (size_t i = 0; i < w.outputs.size(); i++)
                    e.copies.back().out[i] = &b == &inputs[0] ? memory.get(output_bytes(i)) : e.copies[0].out[i];
            }
            entries.push_back(e);
        }
    }
    ~Race()
    {
        for (Entry &e : entries)
            if (e.graph)
                cudaGraphExecDestroy(e.graph);
    }

    void run()
    {
        for (Entry &e : entries)
            prepare(e);
        for (int round = 0; round < ROUNDS; round++)
            for (Entry &e : entries)
                turn(e, round);
    }

    std::vector<Entry> entries;

private:
    size_t output_bytes(size_t i) const { return bytes_of(w.outputs[i].type) * (size_t)w.outputs[i].length(s); }

    // One call on poisoned outputs and a workspace that is zero or made ready, compared with the reference; then the graph.
    void prepare(Entry &e)
    {
        const Buffers &b = e.copies[0];
        const Run &ready = e.contender->ready;
        check(cudaMemsetAsync(b.work, ready ? 0xff : 0, WORK_BYTES, stream), "workspace");
        check(ready ? (cudaError_t)ready(b, s, stream) : cudaSuccess, "the workspace of a contender");
        for (size_t i = 0; i < w.outputs.size(); i++)
            check(cudaMemsetAsync(b.out[i], 0xff, output_bytes(i), stream), "outputs");
        const int error = e.contender->run(b, s, stream);
        const cudaError_t ended = cudaStreamSynchronize(stream);
        if (error || ended != cudaSuccess) {
            e.failed = "error " + std::to_string(error ? error : (int)ended);
            check(ended, e.contender->name.c_str());
            cudaGetLastError();
            return;
        }
        double *result = (double *)memory.get(2 * sizeof(double)), host[2];
        for (size_t i = 0; i < w.outputs.size(); i++) {
            if (&e == &entries[0]) {
                expected[i] = memory.get(output_bytes(i));
                check(cudaMemcpyAsync(expected[i], b.out[i], output_bytes(i), cudaMemcpyDeviceToDevice, stream), "the reference");
                continue;
            }
            check(cudaMemsetAsync(result, 0, 2 * sizeof(double), stream), "comparison");
            compare<<<1024, 256, 0, stream>>>(b.out[i], expected[i], w.outputs[i].length(s), w.outputs[i].type, result);
            check(cudaMemcpyAsync(host, result, sizeof host, cudaMemcpyDeviceToHost, stream), "comparison");
            check(cudaStreamSynchronize(stream), "comparison");
            if (!(host[0] <= w.tolerance * host[1]))
                e.failed = "wrong: off by " + std::to_string(host[0]) + " of " + std::to_string(host[1]);
        }
        const double once = clock.us(stream, [&] { e.contender->run(e.copies.back(), s, stream); });
        e.chain = std::max(1, std::min(CHAIN, (int)(MAX_SECONDS * 1e6 / ROUNDS / std::max(once, 1.0))));
        e.graph = capture(*e.contender, e.copies, s, e.chain, stream);
        for (int i = 0; e.graph && i < 2; i++)
            check(cudaGraphLaunch(e.graph, stream), "graph");
        check(cudaStreamSynchronize(stream), e.contender->name.c_str());
    }

    void turn(Entry &e, int round)
    {
        if (!e.failed.empty() && e.failed.rfind("wrong", 0) != 0)
            return;
        if (e.graph)
            e.chained.us.push_back(clock.us(stream, [&] { check(cudaGraphLaunch(e.graph, stream), "graph"); }) / e.chain);
        e.single.us.push_back(clock.us(stream, [&] { e.contender->run(e.copies[(size_t)round % e.copies.size()], s, stream); }));
    }

    const Workload &w;
    Sizes s;
    cudaStream_t stream;
    Memory memory;
    Clock clock;
    void *expected[4] = {};
};

std::string size_text(Sizes s)
{
    for (int k = 8; k < 40; k++)
        if (s.n == 1ll << k && s.m == 1)
            return "2^" + std::to_string(k);
    return s.m == 1 ? std::to_string(s.n) : std::to_string(s.n) + "x" + std::to_string(s.m);
}

constexpr char COLUMNS[] = "device,workload,n,m,contender,chain_us,chain_p10,chain_p90,alone_us,alone_p10,alone_p90,rate,unit,verdict\n";

// Times that were not taken are nan.
void csv_line(FILE *out, const char *device, const char *workload, Sizes s, const char *contender, const Times &chained, const Times &alone, double rate, const char *unit,
              const char *verdict)
{
    if (out)
        std::fprintf(out, "%s,%s,%lld,%lld,%s,%.3f,%.3f,%.3f,%.3f,%.3f,%.3f,%.1f,%s,%s\n", device, workload, s.n, s.m, contender, chained.median(), chained.at(0.1),
                     chained.at(0.9), alone.median(), alone.at(0.1), alone.at(0.9), rate, unit, verdict);
}

// No call can take less than the empty kernel; what moves memory is measured against the copy.
void floors(cudaStream_t stream, const char *device, FILE *out)
{
    Clock clock;
    Times alone, chained, copy;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capture");
    for (int i = 0; i < CHAIN; i++)
        nothing<<<1, 32, 0, stream>>>();
    check(cudaStreamEndCapture(stream, &graph), "capture");
    check(cudaGraphInstantiate(&exec, graph, 0), "graph");
    Memory memory;
    const size_t bytes = 1u << 30;
    void *a = memory.get(bytes), *b = memory.get(bytes);
    fill<<<2048, 256, 0, stream>>>(a, (long long)(bytes / 4), Type::f32, false, 1);
    for (int i = 0; i < ROUNDS + 3; i++) {
        const double one = clock.us(stream, [&] { nothing<<<1, 32, 0, stream>>>(); });
        const double many = clock.us(stream, [&] { check(cudaGraphLaunch(exec, stream), "graph"); }) / CHAIN;
        const double moved = clock.us(stream, [&] { check(cudaMemcpyAsync(b, a, bytes, cudaMemcpyDeviceToDevice, stream), "copy"); });
        if (i >= 3) {
            alone.us.push_back(one);
            chained.us.push_back(many);
            copy.us.push_back(moved);
        }
    }
    const double rate = 2e-3 * (double)bytes / copy.median();
    csv_line(out, device, "floor", {0, 1}, "empty kernel", chained, alone, 0, "GB/s", "ok");
    csv_line(out, device, "floor", {(long long)(bytes / 4), 1}, "copy", Times(), copy, rate, "GB/s", "ok");
    std::printf("empty kernel: %.2f us alone between two events, %.2f us in a chain of a graph; copy of 1 GiB: %.0f GB/s both ways\n\n", alone.median(),
                chained.median(), rate);
}

} // namespace

size_t bytes_of(Type type)
{
    switch (type) {
    case Type::f16: case Type::bf16: return 2;
    case Type::f32: case Type::i32: return 4;
    case Type::f64: case Type::i64: return 8;
    }
    return 0;
}

int measure(const std::vector<Workload> &all, const char *only, const char *csv, long long least)
{
    cudaDeviceProp device;
    int driver = 0, runtime = 0, wrong = 0;
    check(cudaGetDeviceProperties(&device, 0), "no GPU");
    cudaDriverGetVersion(&driver);
    cudaRuntimeGetVersion(&runtime);
    std::printf("%s, %d multiprocessors, driver %d, CUDA %d\n", device.name, device.multiProcessorCount, driver, runtime);
    std::printf("chain: us a call in a graph of up to %d calls over rotating buffers; alone: us of one call between two events; median of %d, with the 10th to 90th percentile\n", CHAIN, ROUNDS);
    cudaStream_t stream;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "stream");
    FILE *out = csv ? std::fopen(csv, "w") : nullptr;
    if (out)
        std::fputs(COLUMNS, out);
    floors(stream, device.name, out);
    for (const Workload &w : all) {
        if (only && ("," + std::string(only) + ",").find("," + w.name + ",") == std::string::npos)
            continue;
        std::printf("%-14s %-12s %-26s %10s %18s %10s %18s %9s\n", w.name.c_str(), "size", "", "chain", "", "alone", "", w.flops ? "TFLOP/s" : "GB/s");
        for (const Sizes s : w.sizes) {
            if (s.n * s.m < least)
                continue;
            Race race(w, s, stream);
            race.run();
            for (const Entry &e : race.entries) {
                const double chain = e.chained.median(), alone = e.single.median(), best = std::isnan(chain) ? alone : chain;
                const double rate = w.work(s) / best * (w.flops ? 1e-6 : 1e-3);
                std::printf("%-14s %-12s %-26s %10.2f %8.2f .. %-7.2f %9.2f %8.2f .. %-7.2f %9.1f %s\n", "", size_text(s).c_str(), e.contender->name.c_str(), chain,
                            e.chained.at(0.1), e.chained.at(0.9), alone, e.single.at(0.1), e.single.at(0.9), rate, e.failed.c_str());
                csv_line(out, device.name, w.name.c_str(), s, e.contender->name.c_str(), e.chained, e.single, rate, w.flops ? "TFLOP/s" : "GB/s",
                         e.failed.empty() ? "ok" : e.failed.c_str());
                wrong += !e.failed.empty();
            }
        }
        std::printf("\n");
        std::fflush(stdout);
    }
    if (out)
        std::fclose(out);
    std::printf("%d wrong\n", wrong);
    return wrong ? 1 : 0;
}

// bench [WORKLOADS [FILE.csv [LEAST]]]: WORKLOADS are names with commas between; none or "all": all of them. LEAST: no smaller sizes.
int main(int argc, char **argv)
{
    std::vector<Workload> all;
    rivals(all);
    ours(all);
    const char *only = argc > 1 && std::strcmp(argv[1], "all") ? argv[1] : nullptr;
    return measure(all, only, argc > 2 ? argv[2] : nullptr, argc > 3 ? std::atoll(argv[3]) : 0);
}
