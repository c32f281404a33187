// BLAS scal.
__global__ void scale(float *out, float alpha, const float *xs, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = alpha * xs[i];
}

extern "C" int scal_hand(float *out, float alpha, const float *xs, int n, cudaStream_t stream)
{
    if (n > 0)
        scale<<<(n + 255) / 256, 256, 0, stream>>>(out, alpha, xs, n);
    return (int)cudaGetLastError();
}
