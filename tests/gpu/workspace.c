/* The host functions of tests/programs/workspace.rise on a real GPU: launches of unlike sizes and classes on one workspace, which is full of 0xff before, and
 * made ready once, and again after a launch that failed.
 *
 *     risec tests/programs/workspace.rise -o workspace.cu && nvcc -arch=native -c workspace.cu
 *     cc tests/gpu/workspace.c workspace.o -I$CUDA_HOME/include -L$CUDA_HOME/lib64 -lcudart -lstdc++ -o workspace && ./workspace */
#include <stdio.h>
#include <stdlib.h>

#include <cuda_runtime_api.h>

int total_workspace(long long n, size_t *bytes);
int total_workspace_init(void *workspace, cudaStream_t stream);
int total_launch(int *result, const int *xs, void *workspace, long long n, cudaStream_t stream);

enum { MOST = 40000, ROUNDS = 20 };

static void need(int status, const char *what)
{
    if (status) {
        fprintf(stderr, "not ok workspace: %s: %s\n", what, cudaGetErrorString((cudaError_t)status));
        exit(1);
    }
}

static void expect(int *result, const int *xs, void *workspace, long long n, long long total, cudaStream_t stream)
{
    int got;
    need(total_launch(result, xs, workspace, n, stream), "a launch");
    need(cudaMemcpyAsync(&got, result, sizeof got, cudaMemcpyDeviceToHost, stream), "copying the result");
    need(cudaStreamSynchronize(stream), "waiting for a launch");
    if (got != total) {
        fprintf(stderr, "not ok workspace: the total of %lld numbers is %d, and not %lld\n", n, got, total);
        exit(1);
    }
}

int main(void)
{
    static const long long sizes[] = {20, 400, 1000, 2049, 33000, 2600, 40000, 33, 1200, 500, 2500, 32, 40000, 501};
    static int host[MOST];
    static long long totals[MOST + 1];
    size_t bytes = 0, one;
    int *xs, *result;
    void *workspace;
    cudaStream_t stream;
    for (int i = 0; i < MOST; i++) {
        host[i] = i % 17 - 3;
        totals[i + 1] = totals[i] + host[i];
    }
    for (int i = 0; i < 14; i++) {
        need(total_workspace(sizes[i], &one), "the bytes of the workspace");
        bytes = one > bytes ? one : bytes;
    }
    need(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream");
    need(cudaMalloc((void **)&xs, sizeof host), "memory");
    need(cudaMalloc((void **)&result, sizeof *result), "memory");
    need(cudaMalloc(&workspace, bytes), "memory");
    need(cudaMemcpy(xs, host, sizeof host, cudaMemcpyHostToDevice), "copying the input");
    need(cudaMemset(workspace, 0xff, bytes), "filling the workspace");
    need(total_workspace_init(workspace, stream), "making the workspace ready");
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < 14; i++)
            expect(result, xs, workspace, sizes[i], totals[sizes[i]], stream);
        if (!total_launch(result, xs, (char *)workspace + 1, 400, stream) || !total_launch(result, xs, workspace, -1, stream)) {
            fprintf(stderr, "not ok workspace: a launch that cannot be is not refused\n");
            return 1;
        }
        /* As a launch may leave it that is ended in its middle. */
        need(cudaMemsetAsync(workspace, round % 2 ? 0xff : 1, bytes, stream), "spoiling the workspace");
        need(total_workspace_init(workspace, stream), "making the workspace ready again");
    }
    printf("ok workspace: %d launches on one workspace of %zu bytes\n", 14 * ROUNDS, bytes);
    cudaFree(workspace);
    cudaFree(result);
    cudaFree(xs);
    cudaStreamDestroy(stream);
    return 0;
}
