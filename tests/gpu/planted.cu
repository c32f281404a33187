// Runs what risec emitted for examples/sum.rise, with or without a fault planted in it, so that a tool can look at it: -DPLANTED='"FILE.cu"'. `planted unwritten` leaves its input unwritten.
#include PLANTED

#include <cstdio>
#include <vector>

int main(int argc, char **)
{
    const int n = 5000; // the last block's part is not whole
    std::vector<float> host(n, 1.0f);
    float *xs = nullptr, *result = nullptr;
    int error = cudaMalloc(&xs, n * sizeof(float)) || cudaMalloc(&result, (n + 1023) / 1024 * sizeof(float));
    if (argc < 2)
        error = error || cudaMemcpy(xs, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    error = error || sumBlocks_launch(result, xs, n, nullptr) || cudaDeviceSynchronize() || cudaMemcpy(host.data(), result, sizeof(float), cudaMemcpyDeviceToHost);
    std::printf("%g\n", host[0]);
    cudaFree(xs);
    cudaFree(result);
    return error;
}
