// Minimum and maximum of doubles by two kernels (Rynkiewicz and Daszuta), for any n.
enum { THREADS = 256, PART = 2048 };

__device__ void reduce_block(double *low, double *high)
{
    __shared__ double s_low[THREADS], s_high[THREADS];
    const int tid = threadIdx.x;
    s_low[tid] = *low;
    s_high[tid] = *high;
    __syncthreads();
    for (int s = THREADS / 2; s > 0; s /= 2) {
        if (tid < s) {
            s_low[tid] = fmin(s_low[tid], s_low[tid + s]);
            s_high[tid] = fmax(s_high[tid], s_high[tid + s]);
        }
        __syncthreads();
    }
    *low = s_low[0];
    *high = s_high[0];
}

__global__ void reduce_parts(double *lows, double *highs, const double *xs, int n)
{
    const int first = blockIdx.x * PART, end = min(first + PART, n);
    double low = INFINITY, high = -INFINITY;
    for (int i = first + threadIdx.x; i < end; i += THREADS) {
        low = fmin(low, xs[i]);
        high = fmax(high, xs[i]);
    }
    reduce_block(&low, &high);
    if (threadIdx.x == 0) {
        lows[blockIdx.x] = low;
        highs[blockIdx.x] = high;
    }
}

__global__ void reduce_rest(double *low_out, double *high_out, const double *lows, const double *highs, int n)
{
    double low = INFINITY, high = -INFINITY;
    for (int i = threadIdx.x; i < n; i += THREADS) {
        low = fmin(low, lows[i]);
        high = fmax(high, highs[i]);
    }
    reduce_block(&low, &high);
    if (threadIdx.x == 0) {
        *low_out = low;
        *high_out = high;
    }
}

extern "C" int minMax_hand(double *low, double *high, const double *xs, int n, cudaStream_t stream)
{
    const int parts = (n + PART - 1) / PART;
    double *lows = nullptr, *highs = nullptr;
    if (parts > 0) {
        cudaMallocAsync((void **)&lows, 2 * parts * sizeof(double), stream);
        highs = lows + parts;
        reduce_parts<<<parts, THREADS, 0, stream>>>(lows, highs, xs, n);
    }
    reduce_rest<<<1, THREADS, 0, stream>>>(low, high, lows, highs, parts);
    if (lows)
        cudaFreeAsync(lows, stream);
    return (int)cudaGetLastError();
}
