// Softmax of each row, one block of sixteen warps a row. Rows of up to 4096 numbers stay in registers; longer ones are read three times.
// Sums are in risec's order: four neighbours, then of each thread, by exclusive-or shuffles, and of the warps.
enum { THREADS = 512, STEP = 4 * THREADS };

template <typename Op>
__device__ float fold(float value, float (&parts)[THREADS / 32], Op op)
{
    for (int d = 16; d > 0; d /= 2)
        value = op(value, __shfl_xor_sync(0xffffffff, value, d));
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = value;
    __syncthreads();
    value = parts[0];
    for (int warp = 1; warp < THREADS / 32; warp++)
        value = op(value, parts[warp]);
    return value;
}

__device__ float fold_max(float top, float (&parts)[THREADS / 32])
{
    return fold(top, parts, [](float a, float b) { return fmaxf(a, b); });
}

__device__ float fold_sum(float sum, float (&parts)[THREADS / 32])
{
    return fold(sum, parts, [](float a, float b) { return a + b; });
}

template <int COUNT> // times that a thread has four numbers of the row
__global__ void __launch_bounds__(THREADS) softmax_rows(float *out, const float *xs, int m)
{
    __shared__ float tops[THREADS / 32], sums[THREADS / 32];
    const long long row = (long long)blockIdx.x * m;
    float own[COUNT][4], top = -INFINITY, sum = 0;
    for (int j = 0; j < COUNT; j++)
        for (int k = 0; k < 4; k++) {
            const int i = j * STEP + 4 * threadIdx.x + k;
            own[j][k] = i < m ? xs[row + i] : -INFINITY;
            top = fmaxf(top, own[j][k]);
        }
    top = fold_max(top, tops);
    for (int j = 0; j < COUNT; j++) {
        for (int k = 0; k < 4; k++)
            own[j][k] = expf(own[j][k] - top);
        sum += (own[j][0] + own[j][1]) + (own[j][2] + own[j][3]);
    }
    const float share = 1 / fold_sum(sum, sums);
    for (int j = 0; j < COUNT; j++)
        for (int k = 0; k < 4; k++) {
            const int i = j * STEP + 4 * threadIdx.x + k;
            if (i < m)
                out[row + i] = share * own[j][k];
        }
}

__global__ void __launch_bounds__(THREADS) softmax_long_rows(float *out, const float *xs, int m)
{
    __shared__ float tops[THREADS / 32], sums[THREADS / 32];
    const long long row = (long long)blockIdx.x * m;
    float top = -INFINITY, sum = 0;
    for (int i = threadIdx.x; i < m; i += THREADS)
        top = fmaxf(top, xs[row + i]);
    top = fold_max(top, tops);
    for (int i = 4 * threadIdx.x; i < m; i += STEP) {
        float es[4];
        for (int k = 0; k < 4; k++)
            es[k] = i + k < m ? expf(xs[row + i + k] - top) : 0;
        sum += (es[0] + es[1]) + (es[2] + es[3]);
    }
    const float share = 1 / fold_sum(sum, sums);
    for (int i = threadIdx.x; i < m; i += THREADS)
        out[row + i] = share * expf(xs[row + i] - top);
}

extern "C" int softmax_hand(float *out, const float *xs, int n, int m, cudaStream_t stream)
{
    if (n > 0 && m > 0) {
        if (m <= STEP)
            softmax_rows<1><<<n, THREADS, 0, stream>>>(out, xs, m);
        else if (m <= 2 * STEP)
            softmax_rows<2><<<n, THREADS, 0, stream>>>(out, xs, m);
        else
            softmax_long_rows<<<n, THREADS, 0, stream>>>(out, xs, m);
    }
    return (int)cudaGetLastError();
}
