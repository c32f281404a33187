// One step of the heat equation: a five-point stencil on a grid whose border repeats outwards.
__global__ void step(float *out, const float *c, const float *grid, int n, int m)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= m || y >= n)
        return;
    const int left = x > 0 ? x - 1 : 0, right = x < m - 1 ? x + 1 : m - 1;
    const int up = y > 0 ? y - 1 : 0, down = y < n - 1 ? y + 1 : n - 1;
    const float here = grid[y * m + x];
    out[y * m + x] = here + *c * (grid[y * m + left] + grid[y * m + right] + grid[up * m + x] + grid[down * m + x] - 4 * here);
}

extern "C" int heatStep_hand(float *out, const float *c, const float *grid, int n, int m, cudaStream_t stream)
{
    step<<<dim3((m + 31) / 32, (n + 7) / 8), dim3(32, 8), 0, stream>>>(out, c, grid, n, m);
    return (int)cudaGetLastError();
}
