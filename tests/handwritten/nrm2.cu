// The square root of the sum of the squares, which are added as doubles: each block adds 2048 of them, a second kernel the rest.
enum { THREADS = 256, PART = 2048 };

__device__ double sum_of_block(double sum)
{
    __shared__ double sums[THREADS / 32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int d = 16; d > 0; d /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, d);
    if (lane == 0)
        sums[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        sum = lane < THREADS / 32 ? sums[lane] : 0.0;
        for (int d = 16; d > 0; d /= 2)
            sum += __shfl_xor_sync(0xffffffff, sum, d);
    }
    return sum;
}

__global__ void square_parts(double *sums, const float *xs, int n)
{
    const int first = blockIdx.x * PART, end = min(first + PART, n);
    double sum = 0.0;
    for (int i = first + threadIdx.x; i < end; i += THREADS)
        sum += (double)xs[i] * xs[i];
    sum = sum_of_block(sum);
    if (threadIdx.x == 0)
        sums[blockIdx.x] = sum;
}

__global__ void norm_of_rest(float *result, const double *sums, int n)
{
    double sum = 0.0;
    for (int i = threadIdx.x; i < n; i += THREADS)
        sum += sums[i];
    sum = sum_of_block(sum);
    if (threadIdx.x == 0)
        *result = (float)sqrt(sum);
}

extern "C" int nrm2_hand(float *result, const float *xs, int n, cudaStream_t stream)
{
    const int parts = (n + PART - 1) / PART;
    double *sums = nullptr;
    if (parts > 0) {
        cudaMallocAsync((void **)&sums, parts * sizeof(double), stream);
        square_parts<<<parts, THREADS, 0, stream>>>(sums, xs, n);
    }
    norm_of_rest<<<1, THREADS, 0, stream>>>(result, sums, parts);
    if (parts > 0)
        cudaFreeAsync(sums, stream);
    return (int)cudaGetLastError();
}
