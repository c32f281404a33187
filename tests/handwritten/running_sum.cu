// Running sum of n floats by three kernels: blocks scan their 1024, one block adds up what is before each, each block adds that.
__device__ float warp_scan(float sum)
{
    for (int d = 1; d < 32; d *= 2) {
        const float below = __shfl_up_sync(0xffffffff, sum, d);
        if (threadIdx.x % 32 >= d)
            sum += below;
    }
    return sum;
}

// The sum of this thread's value and all before it in a block of whole warps.
__device__ float block_scan(float x, float *ends)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    const float sum = warp_scan(x);
    if (lane == 31)
        ends[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        const float end = warp_scan(lane < warps ? ends[lane] : 0.0f);
        if (lane < warps)
            ends[lane] = end;
    }
    __syncthreads();
    return (warp > 0 ? ends[warp - 1] : 0.0f) + sum;
}

__global__ void scan_parts(float *out, float *totals, const float *xs, int n)
{
    __shared__ float ends[32];
    const int i = blockIdx.x * 1024 + threadIdx.x;
    const float sum = block_scan(i < n ? xs[i] : 0.0f, ends);
    if (i < n)
        out[i] = sum;
    if (threadIdx.x == 1023)
        totals[blockIdx.x] = sum;
}

__global__ void scan_totals(float *totals, int parts)
{
    __shared__ float ends[8];
    const int each = (parts + 255) / 256, from = threadIdx.x * each, to = min(from + each, parts);
    float sum = 0.0f;
    for (int i = from; i < to; i++)
        sum += totals[i];
    float before = block_scan(sum, ends) - sum;
    for (int i = from; i < to; i++) {
        const float total = totals[i];
        totals[i] = before;
        before += total;
    }
}

__global__ void add_before(float *out, const float *totals, int n)
{
    const int i = blockIdx.x * 1024 + threadIdx.x;
    if (i < n)
        out[i] += totals[blockIdx.x];
}

extern "C" int runningSum_hand(float *out, const float *xs, int n, cudaStream_t stream)
{
    if (n == 0)
        return 0;
    const int parts = (n + 1023) / 1024;
    float *totals;
    const cudaError_t error = cudaMallocAsync((void **)&totals, parts * sizeof *totals, stream);
    if (error != cudaSuccess)
        return (int)error;
    scan_parts<<<parts, 1024, 0, stream>>>(out, totals, xs, n);
    scan_totals<<<1, 256, 0, stream>>>(totals, parts);
    add_before<<<parts, 1024, 0, stream>>>(out, totals, n);
    return (int)cudaFreeAsync(totals, stream);
}
