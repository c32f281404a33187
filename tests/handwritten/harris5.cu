// Harris's fifth reduction: the last warp unrolled.
enum { THREADS = 256 };

// The last warp's threads wait only for each other.
__device__ void reduce_warp(unsigned *sums, int tid)
{
    #pragma unroll
    for (int s = 32; s > 0; s /= 2) {
        if (tid < s)
            sums[tid] += sums[tid + s];
        __syncwarp();
    }
}

__global__ void reduce(unsigned *out, const unsigned *in, int n)
{
    __shared__ unsigned sums[THREADS];
    const int tid = threadIdx.x;
    const int i = blockIdx.x * 2 * THREADS + tid;
    sums[tid] = (i < n ? in[i] : 0) + (i + THREADS < n ? in[i + THREADS] : 0);
    __syncthreads();
    for (int s = THREADS / 2; s > 32; s /= 2) {
        if (tid < s)
            sums[tid] += sums[tid + s];
        __syncthreads();
    }
    if (tid < 32)
        reduce_warp(sums, tid);
    if (tid == 0)
        out[blockIdx.x] = sums[0];
}

extern "C" int harris5_hand(unsigned *out, const unsigned *in, int n, cudaStream_t stream)
{
    if (n > 0)
        reduce<<<(n + 2 * THREADS - 1) / (2 * THREADS), THREADS, 0, stream>>>(out, in, n);
    return (int)cudaGetLastError();
}
