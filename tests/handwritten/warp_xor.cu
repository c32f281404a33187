// One sum per 32 numbers, by shuffles alone: all lanes exchange.
__global__ void add_warps(float *out, const float *in, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = i < n ? in[i] : 0;
    for (int d = 16; d > 0; d /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, d);
    if (i % 32 == 0 && i / 32 < (n + 31) / 32)
        out[i / 32] = sum;
}

extern "C" int warpSums_hand(float *out, const float *in, int n, cudaStream_t stream)
{
    if (n > 0)
        add_warps<<<(n + 255) / 256, 256, 0, stream>>>(out, in, n);
    return (int)cudaGetLastError();
}
