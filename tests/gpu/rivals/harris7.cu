// Sum of n floats in shared memory, by two kernels, as the seventh kernel of Harris ("Optimizing Parallel Reduction in CUDA"), with the barriers within a warp that today's GPUs need. THREADS in a
// block, a power of two from 64; RIVAL is the function's name.
#ifndef THREADS
#define THREADS 256
#endif
#ifndef RIVAL
#define RIVAL sum_hand
#endif
#define MAX_BLOCKS 1024

__device__ float partials[MAX_BLOCKS];

__device__ void add_in_block(float *out, const float *in, int n)
{
    __shared__ float sums[THREADS];
    const int tid = threadIdx.x;
    float sum = 0.0f;
    for (int i = blockIdx.x * (THREADS * 2) + tid; i < n; i += THREADS * 2 * gridDim.x)
        sum += in[i] + (n - i > THREADS ? in[i + THREADS] : 0.0f);
    sums[tid] = sum;
    __syncthreads();
#pragma unroll
    for (int half = THREADS / 2; half > 32; half /= 2) {
        if (tid < half)
            sums[tid] += sums[tid + half];
        __syncthreads();
    }
    if (tid < 32) {
        sum = sums[tid] + sums[tid + 32];
#pragma unroll
        for (int d = 16; d > 0; d /= 2) {
            sums[tid] = sum;
            __syncwarp();
            sum += sums[tid ^ d];
            __syncwarp();
        }
        if (tid == 0)
            out[blockIdx.x] = sum;
    }
}

__global__ void sum_blocks(const float *in, int n) { add_in_block(partials, in, n); }
__global__ void sum_partials(float *out, int n) { add_in_block(out, partials, n); }

extern "C" int RIVAL(float *out, const float *in, int n, cudaStream_t stream)
{
    const int wanted = n / (THREADS * 2) + (n % (THREADS * 2) != 0), blocks = wanted < MAX_BLOCKS ? wanted : MAX_BLOCKS;
    if (blocks > 0)
        sum_blocks<<<blocks, THREADS, 0, stream>>>(in, n);
    sum_partials<<<1, THREADS, 0, stream>>>(out, blocks);
    return (int)cudaGetLastError();
}
