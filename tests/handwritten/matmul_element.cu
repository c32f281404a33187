// Matrix product by one block, each thread its elements (Massini's first kernel, for any sizes).
__global__ void matmul(float *p, const float *a, const float *b, int n, int k, int m)
{
    for (int row = threadIdx.y; row < n; row += blockDim.y)
        for (int column = threadIdx.x; column < m; column += blockDim.x) {
            float sum = 0;
            for (int i = 0; i < k; i++)
                sum += a[row * k + i] * b[i * m + column];
            p[row * m + column] = sum;
        }
}

extern "C" int matmulElement_hand(float *p, const float *a, const float *b, int n, int k, int m, cudaStream_t stream)
{
    matmul<<<1, dim3(32, 8), 0, stream>>>(p, a, b, n, k, m);
    return (int)cudaGetLastError();
}
