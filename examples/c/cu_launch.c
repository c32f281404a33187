/* Calls the host function that risec writes into a .cu file, from plain C.
 *
 *     risec ../sum.rise -o sum.cu && nvcc -arch=sm_90 -c sum.cu
 *     cc cu_launch.c sum.o -I$CUDA_HOME/include -L$CUDA_HOME/lib64 -lcudart -lstdc++ -o cu_launch
 *     ./cu_launch 1000003 */
#include <stdio.h>
#include <stdlib.h>

#include <cuda_runtime_api.h>

/* As sum.cu has it: gives 0 or a cudaError_t. */
int sumBlocks_launch(float *result, const float *xs, long long n, cudaStream_t stream);

static void need(cudaError_t status)
{
    if (status != cudaSuccess) {
        fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(status));
        exit(1);
    }
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: %s N\n", argv[0]);
        return 2;
    }
    long long n = atoll(argv[1]), n_parts = (n + 1023) / 1024;
    float *host = malloc((size_t)n * sizeof *host + 1), *back = malloc((size_t)n_parts * sizeof *back + 1), *xs, *parts;
    if (!host || !back)
        return 1;
    double want = 0, total = 0;
    for (long long i = 0; i < n; i++) {
        host[i] = (float)(i % 7);
        want += host[i];
    }
    cudaStream_t stream;
    need(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    need(cudaMalloc((void **)&xs, (size_t)n * sizeof *xs + 1));
    need(cudaMalloc((void **)&parts, (size_t)n_parts * sizeof *parts + 1));
    need(cudaMemcpyAsync(xs, host, (size_t)n * sizeof *xs, cudaMemcpyHostToDevice, stream));
    need((cudaError_t)sumBlocks_launch(parts, xs, n, stream));
    need(cudaMemcpyAsync(back, parts, (size_t)n_parts * sizeof *back, cudaMemcpyDeviceToHost, stream));
    need(cudaStreamSynchronize(stream));
    for (long long i = 0; i < n_parts; i++)
        total += back[i];
    printf("the sum of %lld numbers is %.0f%s\n", n, total, total == want ? "" : ", which is wrong");
    cudaFree(xs);
    cudaFree(parts);
    cudaStreamDestroy(stream);
    free(host);
    free(back);
    return total != want;
}
