// Matrix product with register tiles: 16 x 16 threads keep 8 x 8 sums each, of a tile of 128 x 128; tiles of 16 columns of a and 16 rows of b, in shared
// memory twice, so that the next ones come while these are used.
enum { TILE = 128, STEP = 16, PADDED = TILE + 4 };

__global__ void __launch_bounds__(256, 2) matmul(float *p, const float *a, const float *b, int n, int k, int m)
{
    __shared__ float as[2][STEP][PADDED], bs[2][STEP][TILE];
    const int thread = threadIdx.x, tx = thread % 16, ty = thread / 16;
    const int row = blockIdx.y * TILE, column = blockIdx.x * TILE;
    float sums[8][8] = {}, next_a[8], next_b[8];
    for (int step = -1; step < (k + STEP - 1) / STEP; step++) { // the first one only loads
        const int from = (step + 1) * STEP;
        for (int j = 0; j < 8; j++) {
            const int e = thread + 256 * j;
            next_a[j] = row + e / STEP < n && from + e % STEP < k ? a[(row + e / STEP) * k + from + e % STEP] : 0;
            next_b[j] = from + e / TILE < k && column + e % TILE < m ? b[(from + e / TILE) * m + column + e % TILE] : 0;
        }
        for (int i = 0; i < STEP && step >= 0; i++) {
            float xs[8], ys[8];
            for (int j = 0; j < 8; j++) {
                xs[j] = as[step % 2][i][j / 4 * 64 + ty * 4 + j % 4];
                ys[j] = bs[step % 2][i][j / 4 * 64 + tx * 4 + j % 4];
            }
            for (int y = 0; y < 8; y++)
                for (int x = 0; x < 8; x++)
                    sums[y][x] += xs[y] * ys[x];
        }
        for (int j = 0; j < 8; j++) {
            const int e = thread + 256 * j;
            as[(step + 1) % 2][e % STEP][e / STEP] = next_a[j];
            bs[(step + 1) % 2][e / TILE][e % TILE] = next_b[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < 64; i++) {
        const int y = row + i / 32 * 64 + ty * 4 + i / 8 % 4, x = column + i % 8 / 4 * 64 + tx * 4 + i % 4;
        if (y < n && x < m)
            p[y * m + x] = sums[i / 8][i % 8];
    }
}

extern "C" int matmulRegisters_hand(float *p, const float *a, const float *b, int n, int k, int m, cudaStream_t stream)
{
    if (n > 0 && m > 0)
        matmul<<<dim3((m + TILE - 1) / TILE, (n + TILE - 1) / TILE), 256, 0, stream>>>(p, a, b, n, k, m);
    return (int)cudaGetLastError();
}
