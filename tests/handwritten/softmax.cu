// Softmax of each row, one block of eight warps a row. The sum is in risec's order: of each thread, then by exclusive-or shuffles.
template <typename Op>
__device__ float reduce(float value, float unit, Op op)
{
    __shared__ float parts[8], result;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int d = 16; d > 0; d /= 2)
        value = op(value, __shfl_xor_sync(0xffffffff, value, d));
    if (lane == 0)
        parts[warp] = value;
    __syncthreads();
    if (warp == 0) {
        value = lane < 8 ? parts[lane] : unit;
        for (int d = 16; d > 0; d /= 2)
            value = op(value, __shfl_xor_sync(0xffffffff, value, d));
        if (lane == 0)
            result = value;
    }
    __syncthreads();
    return result;
}

__global__ void softmax_rows(float *out, const float *xs, int m)
{
    const float *row = xs + blockIdx.x * m;
    float top = -INFINITY;
    for (int i = threadIdx.x; i < m; i += 256)
        top = fmaxf(top, row[i]);
    top = reduce(top, -INFINITY, [](float a, float b) { return fmaxf(a, b); });
    float total = 0;
    for (int i = threadIdx.x; i < m; i += 256)
        total += expf(row[i] - top);
    total = reduce(total, 0, [](float a, float b) { return a + b; });
    for (int i = threadIdx.x; i < m; i += 256)
        out[blockIdx.x * m + i] = expf(row[i] - top) / total;
}

extern "C" int softmax_hand(float *out, const float *xs, int n, int m, cudaStream_t stream)
{
    if (n > 0)
        softmax_rows<<<n, 256, 0, stream>>>(out, xs, m);
    return (int)cudaGetLastError();
}
