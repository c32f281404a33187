// Sum of n floats by CUB's DeviceReduce, as a program calls it that keeps the workspace. RIVAL is the function's name.
#include <cub/cub.cuh>
#ifndef RIVAL
#define RIVAL sum_hand
#endif

extern "C" int RIVAL(float *out, const float *in, long long n, cudaStream_t stream)
{
    static void *workspace;
    static size_t has;
    size_t bytes = 0;
    cudaError_t error = cub::DeviceReduce::Sum(nullptr, bytes, in, out, n, stream);
    if (error == cudaSuccess && bytes > has) { // at a first call, which comes before any that is measured or captured
        error = cudaMalloc(&workspace, bytes);
        has = error == cudaSuccess ? bytes : 0;
    }
    if (error == cudaSuccess)
        error = cub::DeviceReduce::Sum(workspace, bytes, in, out, n, stream);
    return (int)error;
}
