// Matrix product by tiles of 16 x 16 in shared memory (Massini's third kernel, for sizes that no tile divides).
enum { TILE = 16 };

__global__ void matmul(float *p, const float *a, const float *b, int n, int k, int m)
{
    __shared__ float as[TILE][TILE], bs[TILE][TILE];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * TILE + ty;
    const int column = blockIdx.x * TILE + tx;
    float sum = 0;
    for (int tile = 0; tile < k; tile += TILE) {
        as[ty][tx] = row < n && tile + tx < k ? a[row * k + tile + tx] : 0;
        bs[ty][tx] = tile + ty < k && column < m ? b[(tile + ty) * m + column] : 0;
        __syncthreads();
        for (int i = 0; i < TILE; i++)
            sum += as[ty][i] * bs[i][tx];
        __syncthreads();
    }
    if (row < n && column < m)
        p[row * m + column] = sum;
}

extern "C" int matmulTiled_hand(float *p, const float *a, const float *b, int n, int k, int m, cudaStream_t stream)
{
    if (n > 0 && m > 0)
        matmul<<<dim3((m + TILE - 1) / TILE, (n + TILE - 1) / TILE), dim3(TILE, TILE), 0, stream>>>(p, a, b, n, k, m);
    return (int)cudaGetLastError();
}
