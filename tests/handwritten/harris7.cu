// Harris's seventh reduction: several elements a thread, in a grid-stride loop.
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
    unsigned sum = 0;
    for (int i = blockIdx.x * 2 * THREADS + tid; i < n; i += gridDim.x * 2 * THREADS)
        sum += in[i] + (i + THREADS < n ? in[i + THREADS] : 0);
    sums[tid] = sum;
    __syncthreads();
    reduce_block<THREADS>(sums, tid);
    if (tid == 0)
        out[blockIdx.x] = sums[0];
}

extern "C" int harris7_hand(unsigned *out, const unsigned *in, int n, cudaStream_t stream)
{
    reduce<256><<<64, 256, 0, stream>>>(out, in, n);
    return (int)cudaGetLastError();
}
