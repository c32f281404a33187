// Minimum and maximum of 2048 doubles a block (Rynkiewicz and Daszuta's first kernel, with several elements a thread, for any n).
enum { THREADS = 256, PART = 2048 };

__global__ void reduce_parts(double *lows, double *highs, const double *xs, int n)
{
    __shared__ double s_low[THREADS], s_high[THREADS];
    const int first = blockIdx.x * PART, end = min(first + PART, n), tid = threadIdx.x;
    double low = INFINITY, high = -INFINITY;
    for (int i = first + tid; i < end; i += THREADS) {
        low = fmin(low, xs[i]);
        high = fmax(high, xs[i]);
    }
    s_low[tid] = low;
    s_high[tid] = high;
    __syncthreads();
    for (int s = THREADS / 2; s > 0; s /= 2) {
        if (tid < s) {
            s_low[tid] = fmin(s_low[tid], s_low[tid + s]);
            s_high[tid] = fmax(s_high[tid], s_high[tid + s]);
        }
        __syncthreads();
    }
    if (tid == 0) {
        lows[blockIdx.x] = s_low[0];
        highs[blockIdx.x] = s_high[0];
    }
}

extern "C" int minMaxBlocks_hand(double *lows, double *highs, const double *xs, int n, cudaStream_t stream)
{
    if (n > 0)
        reduce_parts<<<(n + PART - 1) / PART, THREADS, 0, stream>>>(lows, highs, xs, n);
    return (int)cudaGetLastError();
}
