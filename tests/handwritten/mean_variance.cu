// Mean and variance in one pass: each thread goes twice through the numbers that it has in registers, and moments are merged as Chan, Golub and LeVeque do.
enum { THREADS = 256, WARPS = THREADS / 32, WIDTH = 4 };

struct Moments {
    float count, mean, squares; /* squares: of the distances from the mean */
};

__device__ Moments merge(Moments a, Moments b)
{
    if (a.count == 0.0f)
        return b;
    const float count = a.count + b.count, share = b.count / count, d = b.mean - a.mean;
    return {count, a.mean + d * share, a.squares + b.squares + d * d * a.count * share};
}

/* Of several parts at once: squares from the mean of all. */
template <int N>
__device__ Moments merge_all(const Moments *parts)
{
    float count = 0.0f, sum = 0.0f, squares = 0.0f;
    for (int i = 0; i < N; i++) {
        count += parts[i].count;
        sum += parts[i].count * parts[i].mean;
    }
    const float mean = sum / fmaxf(count, 1.0f);
    for (int i = 0; i < N; i++) {
        const float d = parts[i].mean - mean;
        squares += parts[i].squares + parts[i].count * d * d;
    }
    return {count, mean, squares};
}

__device__ float sum_of_warp(float x)
{
    for (int d = 16; d > 0; d /= 2)
        x += __shfl_xor_sync(0xffffffff, x, d);
    return x;
}

/* Of all threads' moments; every thread gets it. */
__device__ Moments merge_block(Moments own)
{
    __shared__ Moments warps[WARPS];
    const float count = sum_of_warp(own.count), mean = sum_of_warp(own.count * own.mean) / fmaxf(count, 1.0f), d = own.mean - mean;
    const float squares = sum_of_warp(own.squares + own.count * d * d);
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = {count, mean, squares};
    __syncthreads();
    return merge_all<WARPS>(warps);
}

__device__ void finish(float *mean, float *variance, Moments all)
{
    if (threadIdx.x == 0) {
        *mean = all.mean;
        *variance = all.squares / all.count;
    }
}

/* Tiles of ROWS rows of 1024 numbers, of which a thread has 4 neighbours in each. */
template <int ROWS>
__device__ Moments moments_of_tiles(const float *xs, long long n)
{
    const long long tile = (long long)ROWS * THREADS * WIDTH;
    const long long rounds = ((n + tile - 1) / tile + gridDim.x - 1) / gridDim.x;
    Moments all = {0.0f, 0.0f, 0.0f};
    for (long long r = 0; r < rounds || r == 0; r++) {
        const long long first = (r * gridDim.x + blockIdx.x) * tile + threadIdx.x * WIDTH;
        float own[ROWS * WIDTH], count = 0.0f, sum = 0.0f, squares = 0.0f;
        for (int k = 0; k < ROWS * WIDTH; k++) {
            const long long i = first + k / WIDTH * (THREADS * WIDTH) + k % WIDTH;
            own[k] = i < n ? xs[i] : 0.0f;
            count += i < n ? 1.0f : 0.0f;
            sum += own[k];
        }
        const float mean = sum / fmaxf(count, 1.0f);
        for (int k = 0; k < ROWS * WIDTH; k++) {
            const long long i = first + k / WIDTH * (THREADS * WIDTH) + k % WIDTH;
            const float d = own[k] - mean;
            squares += (i < n ? 1.0f : 0.0f) * d * d;
        }
        all = merge(all, {count, mean, squares});
    }
    return all;
}

template <int ROWS>
__global__ void moments_at_once(float *mean, float *variance, const float *xs, long long n)
{
    finish(mean, variance, merge_block(moments_of_tiles<ROWS>(xs, n)));
}

template <int ROWS>
__global__ void moments_of_parts(Moments *parts, const float *xs, long long n)
{
    const Moments all = merge_block(moments_of_tiles<ROWS>(xs, n));
    if (threadIdx.x == 0)
        parts[blockIdx.x] = all;
}

/* At most N parts for each thread. */
template <int N>
__global__ void moments_of_rest(float *mean, float *variance, const Moments *parts, int n)
{
    Moments own[N];
    for (int k = 0; k < N; k++) {
        const int i = k * THREADS + threadIdx.x;
        own[k] = i < n ? parts[i] : Moments{0.0f, 0.0f, 0.0f};
    }
    finish(mean, variance, merge_block(merge_all<N>(own)));
}

extern "C" int meanVariance_hand(float *mean, float *variance, const float *xs, long long n, cudaStream_t stream)
{
    if (n <= 1024)
        moments_at_once<1><<<1, THREADS, 0, stream>>>(mean, variance, xs, n);
    else if (n <= 4096)
        moments_at_once<4><<<1, THREADS, 0, stream>>>(mean, variance, xs, n);
    if (n <= 4096)
        return (int)cudaGetLastError();
    int device = 0, sms = 1;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
    const bool small = n <= 262144;
    const long long tiles = small ? (n + 1023) / 1024 : (n + 8191) / 8192;
    const int blocks = (int)(small || tiles < 4 * sms ? tiles : 4 * sms < 1024 ? 4 * sms : 1024);
    Moments *parts = nullptr;
    cudaMallocAsync((void **)&parts, blocks * sizeof(Moments), stream);
    if (small) {
        moments_of_parts<1><<<blocks, THREADS, 0, stream>>>(parts, xs, n);
        moments_of_rest<1><<<1, THREADS, 0, stream>>>(mean, variance, parts, blocks);
    } else {
        moments_of_parts<8><<<blocks, THREADS, 0, stream>>>(parts, xs, n);
        moments_of_rest<4><<<1, THREADS, 0, stream>>>(mean, variance, parts, blocks);
    }
    cudaFreeAsync(parts, stream);
    return (int)cudaGetLastError();
}
