// The four nearest points to each query, one thread a query: an insertion into a sorted list in registers.
enum { K = 4 };

__global__ void find(long long *out, const float *qx, const float *qy, const float *px, const float *py, int n, int m)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const float x = qx[i], y = qy[i];
    float distance[K];
    long long at[K];
    for (int k = 0; k < K; k++) {
        distance[k] = INFINITY;
        at[k] = -1;
    }
    for (int j = 0; j < m; j++) {
        const float dx = px[j] - x, dy = py[j] - y;
        const float d = dx * dx + dy * dy;
        #pragma unroll
        for (int k = K - 1; k >= 0; k--)
            if (k > 0 && d < distance[k - 1]) {
                distance[k] = distance[k - 1];
                at[k] = at[k - 1];
            } else if (d < distance[k]) {
                distance[k] = d;
                at[k] = j;
            }
    }
    for (int k = 0; k < K; k++)
        out[i * K + k] = at[k];
}

extern "C" int nearestOf_hand(long long *out, const float *qx, const float *qy, const float *px, const float *py, int n, int m, cudaStream_t stream)
{
    if (n > 0)
        find<<<(n + 255) / 256, 256, 0, stream>>>(out, qx, qy, px, py, n, m);
    return (int)cudaGetLastError();
}
