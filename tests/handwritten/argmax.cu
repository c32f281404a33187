// The largest number and its first place: each block reduces 2048, a second kernel the rest.
enum { THREADS = 256, PART = 2048 };

struct Largest {
    float value;
    long long at;
};

__device__ Largest largest(Largest a, float value, long long at)
{
    return value > a.value || (value == a.value && at < a.at) ? Largest{value, at} : a;
}

__device__ Largest largest_of_warp(Largest a)
{
    for (int d = 16; d > 0; d /= 2) {
        const float value = __shfl_xor_sync(0xffffffff, a.value, d);
        const long long at = __shfl_xor_sync(0xffffffff, a.at, d);
        a = largest(a, value, at);
    }
    return a;
}

__device__ void largest_of_block(float *value, long long *at, Largest a)
{
    __shared__ float values[THREADS / 32];
    __shared__ long long places[THREADS / 32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    a = largest_of_warp(a);
    if (lane == 0) {
        values[warp] = a.value;
        places[warp] = a.at;
    }
    __syncthreads();
    if (warp == 0) {
        a = lane < THREADS / 32 ? Largest{values[lane], places[lane]} : Largest{-INFINITY, 0x7fffffffffffffff};
        a = largest_of_warp(a);
        if (lane == 0) {
            *value = a.value;
            *at = a.at;
        }
    }
}

__global__ void reduce_parts(float *values, long long *places, const float *xs, int n)
{
    const int first = blockIdx.x * PART, end = min(first + PART, n);
    Largest a = {-INFINITY, 0x7fffffffffffffff};
    for (int i = first + threadIdx.x; i < end; i += THREADS)
        a = largest(a, xs[i], i);
    largest_of_block(values + blockIdx.x, places + blockIdx.x, a);
}

__global__ void reduce_rest(float *value, long long *at, const float *values, const long long *places, int n)
{
    Largest a = {-INFINITY, 0x7fffffffffffffff};
    for (int i = threadIdx.x; i < n; i += THREADS)
        a = largest(a, values[i], places[i]);
    largest_of_block(value, at, a);
}

extern "C" int argmax_hand(float *value, long long *at, const float *xs, int n, cudaStream_t stream)
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
