// Convolution with nine weights, one thread an element.
enum { RADIUS = 4 };

__global__ void convolve(float *out, const float *weights, const float *xs, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float sum = 0;
    for (int k = -RADIUS; k <= RADIUS; k++)
        if (i + k >= 0 && i + k < n)
            sum += xs[i + k] * weights[k + RADIUS];
    out[i] = sum;
}

extern "C" int convolution_hand(float *out, const float *weights, const float *xs, int n, cudaStream_t stream)
{
    convolve<<<(n + 255) / 256, 256, 0, stream>>>(out, weights, xs, n);
    return (int)cudaGetLastError();
}
