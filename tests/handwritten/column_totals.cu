// The sum of each column by blocks of 512 threads, each with 32 columns: four neighbours a thread in 64 rows of threads, or one in 16 rows. The sums of
// eight rows of threads are added, and those sums. Long narrow matrices go in parts of 4096 rows, whose sums a second kernel adds.
enum { COLUMNS = 32, PART = 4096 };

template <int WIDE> // columns a thread
__global__ void __launch_bounds__(512) sum_columns(float *out, const float *xs, int n, int m, int part_rows)
{
    enum { ROWS = 16 * WIDE, GROUPS = ROWS / 8 };
    __shared__ float sums[ROWS][COLUMNS], groups[GROUPS][COLUMNS];
    const int strips = (m - 1) / COLUMNS + 1, column = blockIdx.x % strips * COLUMNS, part = blockIdx.x / strips;
    const long long from = (long long)part * part_rows, to = min(from + part_rows, (long long)n);
    const int thread = threadIdx.y * blockDim.x + threadIdx.x, x = threadIdx.x * WIDE;
    float own[WIDE] = {};
    if (column + x < m)
        for (long long row = from + threadIdx.y; row < to; row += ROWS)
            for (int k = 0; k < WIDE; k++)
                own[k] += xs[row * m + column + x + k];
    for (int k = 0; k < WIDE; k++)
        sums[threadIdx.y][x + k] = own[k];
    __syncthreads();
    const int group = thread / COLUMNS, lane = thread % COLUMNS;
    if (group < GROUPS) {
        float sum = 0;
        for (int k = 0; k < 8; k++)
            sum += sums[8 * group + k][lane];
        groups[group][lane] = sum;
    }
    __syncthreads();
    if (group == 0 && column + lane < m) {
        float sum = 0;
        for (int k = 0; k < GROUPS; k++)
            sum += groups[k][lane];
        out[(long long)part * m + column + lane] = sum;
    }
}

template <int WIDE>
static int sum_parts(float *out, const float *xs, int n, int m, cudaStream_t stream)
{
    const int strips = (m - 1) / COLUMNS + 1, parts = (n - 1) / PART + 1;
    const dim3 threads(COLUMNS / WIDE, 16 * WIDE);
    if (m >= 4096 || n <= 8192) {
        sum_columns<WIDE><<<strips, threads, 0, stream>>>(out, xs, n, m, n);
        return (int)cudaGetLastError();
    }
    float *temp;
    const cudaError_t error = cudaMallocAsync((void **)&temp, sizeof(float) * parts * m, stream);
    if (error != cudaSuccess)
        return (int)error;
    sum_columns<WIDE><<<parts * strips, threads, 0, stream>>>(temp, xs, n, m, PART);
    sum_columns<WIDE><<<strips, threads, 0, stream>>>(out, temp, parts, m, parts);
    cudaFreeAsync(temp, stream);
    return (int)cudaGetLastError();
}

extern "C" int columnSumsWide_hand(float *out, const float *xs, int n, int m, cudaStream_t stream)
{
    return m % 4 == 0 ? sum_parts<4>(out, xs, n, m, stream) : sum_parts<1>(out, xs, n, m, stream);
}
