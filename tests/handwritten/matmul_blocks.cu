// Matrix product by blocks of 16 x 16 threads, one thread an element (Massini's second kernel, for any sizes).
enum { TILE = 16 };

__global__ void matmul(float *p, const float *a, const float *b, int n, int k, int m)
{
    const int row = blockIdx.y * TILE + threadIdx.y;
    const int column = blockIdx.x * TILE + threadIdx.x;
    if (row >= n || column >= m)
        return;
    float sum = 0;
    for (int i = 0; i < k; i++)
        sum += a[row * k + i] * b[i * m + column];
    p[row * m + column] = sum;
}

extern "C" int matmulBlocks_hand(float *p, const float *a, const float *b, int n, int k, int m, cudaStream_t stream)
{
    if (n > 0 && m > 0)
        matmul<<<dim3((m + TILE - 1) / TILE, (n + TILE - 1) / TILE), dim3(TILE, TILE), 0, stream>>>(p, a, b, n, k, m);
    return (int)cudaGetLastError();
}
