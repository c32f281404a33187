// The nearest point to each query, one thread a query.
__global__ void find(long long *out, const float *qx, const float *qy, const float *px, const float *py, int n, int m)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const float x = qx[i], y = qy[i];
    float nearest = INFINITY;
    long long at = -1;
    for (int j = 0; j < m; j++) {
        const float dx = px[j] - x, dy = py[j] - y;
        const float distance = dx * dx + dy * dy;
        if (distance < nearest) {
            nearest = distance;
            at = j;
        }
    }
    out[i] = at;
}

extern "C" int nearest_hand(long long *out, const float *qx, const float *qy, const float *px, const float *py, int n, int m, cudaStream_t stream)
{
    if (n > 0)
        find<<<(n + 255) / 256, 256, 0, stream>>>(out, qx, qy, px, py, n, m);
    return (int)cudaGetLastError();
}
