// Transposition, one thread an element (Filipovič's first version, for any matrix).
__global__ void transpose(float *out, const float *in, int n, int m)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < m && y < n)
        out[x * n + y] = in[y * m + x];
}

extern "C" int transposeNaive_hand(float *out, const float *in, int n, int m, cudaStream_t stream)
{
    if (n > 0 && m > 0)
        transpose<<<dim3((m + 31) / 32, (n + 7) / 8), dim3(32, 8), 0, stream>>>(out, in, n, m);
    return (int)cudaGetLastError();
}
