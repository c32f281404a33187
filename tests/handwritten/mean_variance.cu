// Mean and variance in one pass: each thread goes twice through the numbers that it has in registers, and moments are merged as Chan, Golub and LeVeque do.
enum { THREADS = 256, WARPS = THREADS / 32, WIDTH = 4 };

struct Moments {
    float count, mean, squares; /* squares: of the distances from the mean */
};

__device__ Moments merge(Moments a, Moments b)
{
    const float count = a.count + b.count, share = count == 0.0f ? 0.0f : b.count / count, d = b.mean - a.mean;
    return {count, a.mean + d * share, a.squares + b.squares + d * d * a.count * share};
}

/* Of all threads' moments; every thread gets it. */
__device__ Moments merge_block(Moments own)
{
    __shared__ Moments warps[WARPS];
    for (int d = 16; d > 0; d /= 2) {
        const float count = __shfl_xor_sync(0xffffffff, own.count, d), mean = __shfl_xor_sync(0xffffffff, own.mean, d),
                    squares = __shfl_xor_sync(0xffffffff, own.squares, d);
        own = merge(own, {count, mean, squares});
    }
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = own;
    __syncthreads();
    Moments all = {0.0f, 0.0f, 0.0f};
    for (int i = 0; i < WARPS; i++)
        all = merge(all, warps[i]);
    return all;
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
        all = merge({count, mean, squares}, all);
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

__global__ void moments_of_rest(float *mean, float *variance, const Moments *parts, int n)
{
    Moments all = {0.0f, 0.0f, 0.0f};
    for (int i = threadIdx.x; i < n; i += THREADS)
        all = merge(all, parts[i]);
    finish(mean, variance, merge_block(all));
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
    const int blocks = (int)(small || tiles < 4 * sms ? tiles : 4 * sms);
    Moments *parts = nullptr;
    cudaMallocAsync((void **)&parts, blocks * sizeof(Moments), stream);
    if (small)
        moments_of_parts<1><<<blocks, THREADS, 0, stream>>>(parts, xs, n);
    else
        moments_of_parts<8><<<blocks, THREADS, 0, stream>>>(parts, xs, n);
    moments_of_rest<<<1, THREADS, 0, stream>>>(mean, variance, parts, blocks);
    cudaFreeAsync(parts, stream);
    return (int)cudaGetLastError();
}
