// Transposition by tiles of 32 x 32, 32 x 8 threads (Filipovič's second version, for any matrix).
enum { TILE = 32, ROWS = 8 };

__global__ void transpose(float *out, const float *in, int n, int m)
{
    __shared__ float tile[TILE][TILE];
    const int row = blockIdx.y * TILE, column = blockIdx.x * TILE;
    for (int y = threadIdx.y; y < TILE; y += ROWS)
        if (row + y < n && column + threadIdx.x < m)
            tile[y][threadIdx.x] = in[(row + y) * m + column + threadIdx.x];
    __syncthreads();
    for (int y = threadIdx.y; y < TILE; y += ROWS)
        if (column + y < m && row + threadIdx.x < n)
            out[(column + y) * n + row + threadIdx.x] = tile[threadIdx.x][y];
}

extern "C" int transposeTiled_hand(float *out, const float *in, int n, int m, cudaStream_t stream)
{
    if (n > 0 && m > 0)
        transpose<<<dim3((m + TILE - 1) / TILE, (n + TILE - 1) / TILE), dim3(TILE, ROWS), 0, stream>>>(out, in, n, m);
    return (int)cudaGetLastError();
}
