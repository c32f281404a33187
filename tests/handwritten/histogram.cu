// A histogram of 256 bins. Each block counts 4096 numbers from shared memory, each thread its bin; a second kernel adds the counts.
enum { BINS = 256, PART = 4096 };

__global__ void count(unsigned *counts, const unsigned *xs, int n)
{
    __shared__ unsigned part[PART];
    const int first = blockIdx.x * PART, size = min(PART, n - first);
    for (int i = threadIdx.x; i < size; i += BINS)
        part[i] = xs[first + i];
    __syncthreads();
    unsigned sum = 0;
    for (int i = 0; i < size; i++)
        sum += part[i] == threadIdx.x;
    counts[blockIdx.x * BINS + threadIdx.x] = sum;
}

__global__ void add(unsigned *out, const unsigned *counts, int parts)
{
    unsigned sum = 0;
    for (int i = 0; i < parts; i++)
        sum += counts[i * BINS + threadIdx.x];
    out[threadIdx.x] = sum;
}

extern "C" int histogram_hand(unsigned *out, const unsigned *xs, int n, cudaStream_t stream)
{
    const int parts = (n + PART - 1) / PART;
    unsigned *counts = nullptr;
    if (parts > 0) {
        cudaMallocAsync((void **)&counts, parts * BINS * sizeof(unsigned), stream);
        count<<<parts, BINS, 0, stream>>>(counts, xs, n);
    }
    add<<<1, BINS, 0, stream>>>(out, counts, parts);
    if (counts)
        cudaFreeAsync(counts, stream);
    return (int)cudaGetLastError();
}
