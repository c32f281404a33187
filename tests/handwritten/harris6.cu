// Harris's sixth reduction: completely unrolled.
// The threads of one block, whose number is known to the compiler.
template <int THREADS>
__device__ void reduce_block(unsigned *sums, int tid)
{
    if (THREADS >= 512) {
        if (tid < 256)
            sums[tid] += sums[tid + 256];
        __syncthreads();
    }
    if (THREADS >= 256) {
        if (tid < 128)
            sums[tid] += sums[tid + 128];
        __syncthreads();
    }
    if (THREADS >= 128) {
        if (tid < 64)
            sums[tid] += sums[tid + 64];
        __syncthreads();
    }
    #pragma unroll
    for (int s = 32; s > 0; s /= 2) {
        if (tid < s)
            sums[tid] += sums[tid + s];
        __syncwarp();
    }
}

template <int THREADS>
__global__ void reduce(unsigned *out, const unsigned *in, int n)
{
    __shared__ unsigned sums[THREADS];
    const int tid = threadIdx.x;
    const int i = blockIdx.x * 2 * THREADS + tid;
    sums[tid] = (i < n ? in[i] : 0) + (i + THREADS < n ? in[i + THREADS] : 0);
    __syncthreads();
    reduce_block<THREADS>(sums, tid);
    if (tid == 0)
        out[blockIdx.x] = sums[0];
}

extern "C" int harris6_hand(unsigned *out, const unsigned *in, int n, cudaStream_t stream)
{
    if (n > 0)
        reduce<256><<<(n + 511) / 512, 256, 0, stream>>>(out, in, n);
    return (int)cudaGetLastError();
}
