// A harness that times several implementations of the same function on one GPU, fairly: same data, one run, turn by turn.
//
// A Workload is a function of one or two sizes with its contenders. Each contender is a host function that puts its work on a stream. Inputs
// are random; several copies of them are used in turn, so that together they are larger than the second-level cache; the first contender's
// results are the reference of the others'.
#pragma once
#include <cuda_runtime.h>
#include <functional>
#include <string>
#include <vector>

struct Buffers {              // device memory of one call
    void *in[4] = {};
    void *out[4] = {};
    char *work = nullptr;     // WORK_BYTES, zero at first unless the contender makes it ready; each has its own
};

constexpr size_t WORK_BYTES = 64u << 20;

struct Sizes {
    long long n = 0, m = 1;
};

using Run = std::function<int(const Buffers &, Sizes, cudaStream_t)>; // 0, or an error

struct Contender {
    std::string name;
    Run run;
    Run ready = nullptr; // what makes the workspace ready, where it is not zero; called once for each size
};

enum class Type { f32, f64, f16, bf16, i32, i64 };
size_t bytes_of(Type type);

struct Array {
    Type type;
    std::function<long long(Sizes)> length;
    bool near_one = false; // numbers whose product stays finite; else they are between -1 and 1
};

struct Workload {
    std::string name;
    std::vector<Sizes> sizes;
    std::vector<Array> inputs, outputs;
    std::function<double(Sizes)> work; // bytes that have to move; floating-point operations where `flops`
    std::vector<Contender> contenders; // the first one is the reference
    double tolerance;                  // relative to the largest result; 0: bit for bit
    bool flops = false;
};

void rivals(std::vector<Workload> &all); // rivals.cu: the workloads, with CUB's, cuBLAS's and the hand-written contenders
void ours(std::vector<Workload> &all);   // ours.cu: adds what risec emitted
int measure(const std::vector<Workload> &all, const char *only, const char *csv, long long least);
