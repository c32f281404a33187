// Harris's third reduction: sequential addressing.
enum { THREADS = 256 };

__global__ void reduce(unsigned *out, const unsigned *in, int n)
{
    __shared__ unsigned sums[THREADS];
    const int tid = threadIdx.x;
    const int i = blockIdx.x * THREADS + tid;
    sums[tid] = i < n ? in[i] : 0;
    __syncthreads();
    for (int s = THREADS / 2; s > 0; s /= 2) {
        if (tid < s)
            sums[tid] += sums[tid + s];
        __syncthreads();
    }
    if (tid == 0)
        out[blockIdx.x] = sums[0];
}

extern "C" int harris3_hand(unsigned *out, const unsigned *in, int n, cudaStream_t stream)
{
    if (n > 0)
        reduce<<<(n + THREADS - 1) / (THREADS), THREADS, 0, stream>>>(out, in, n);
    return (int)cudaGetLastError();
}
