// Harris's fourth reduction: the first addition while loading.
enum { THREADS = 256 };

__global__ void reduce(unsigned *out, const unsigned *in, int n)
{
    __shared__ unsigned sums[THREADS];
    const int tid = threadIdx.x;
    const int i = blockIdx.x * 2 * THREADS + tid;
    sums[tid] = (i < n ? in[i] : 0) + (i + THREADS < n ? in[i + THREADS] : 0);
    __syncthreads();
    for (int s = THREADS / 2; s > 0; s /= 2) {
        if (tid < s)
            sums[tid] += sums[tid + s];
        __syncthreads();
    }
    if (tid == 0)
        out[blockIdx.x] = sums[0];
}

extern "C" int harris4_hand(unsigned *out, const unsigned *in, int n, cudaStream_t stream)
{
    if (n > 0)
        reduce<<<(n + 2 * THREADS - 1) / (2 * THREADS), THREADS, 0, stream>>>(out, in, n);
    return (int)cudaGetLastError();
}
