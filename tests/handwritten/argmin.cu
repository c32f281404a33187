// The smallest number and its first place: each block reduces 2048, a second kernel the rest.
enum { THREADS = 256, PART = 2048 };

struct Least {
    float value;
    long long at;
};

__device__ Least least(Least a, float value, long long at)
{
    return value < a.value || (value == a.value && at < a.at) ? Least{value, at} : a;
}

__device__ Least least_of_warp(Least a)
{
    for (int d = 16; d > 0; d /= 2) {
        const float value = __shfl_xor_sync(0xffffffff, a.value, d);
        const long long at = __shfl_xor_sync(0xffffffff, a.at, d);
        a = least(a, value, at);
    }
    return a;
}

__device__ void least_of_block(float *value, long long *at, Least a)
{
    __shared__ float values[THREADS / 32];
    __shared__ long long places[THREADS / 32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    a = least_of_warp(a);
    if (lane == 0) {
        values[warp] = a.value;
        places[warp] = a.at;
    }
    __syncthreads();
    if (warp == 0) {
        a = lane < THREADS / 32 ? Least{values[lane], places[lane]} : Least{INFINITY, 0x7fffffffffffffff};
        a = least_of_warp(a);
        if (lane == 0) {
            *value = a.value;
            *at = a.at;
        }
    }
}

__global__ void reduce_parts(float *values, long long *places, const float *xs, int n)
{
    const int first = blockIdx.x * PART, end = min(first + PART, n);
    Least a = {INFINITY, 0x7fffffffffffffff};
    for (int i = first + threadIdx.x; i < end; i += THREADS)
        a = least(a, xs[i], i);
    least_of_block(values + blockIdx.x, places + blockIdx.x, a);
}

__global__ void reduce_rest(float *value, long long *at, const float *values, const long long *places, int n)
{
    Least a = {INFINITY, 0x7fffffffffffffff};
    for (int i = threadIdx.x; i < n; i += THREADS)
        a = least(a, values[i], places[i]);
    least_of_block(value, at, a);
}

extern "C" int argmin_hand(float *value, long long *at, const float *xs, int n, cudaStream_t stream)
{
    const int parts = (n + PART - 1) / PART;
    float *values = nullptr;
    long long *places = nullptr;
    if (parts > 0) {
        cudaMallocAsync((void **)&values, parts * sizeof(float), stream);
        cudaMallocAsync((void **)&places, parts * sizeof(long long), stream);
        reduce_parts<<<parts, THREADS, 0, stream>>>(values, places, xs, n);
    }
    reduce_rest<<<1, THREADS, 0, stream>>>(value, at, values, places, parts);
    if (parts > 0) {
        cudaFreeAsync(values, stream);
        cudaFreeAsync(places, stream);
    }
    return (int)cudaGetLastError();
}
