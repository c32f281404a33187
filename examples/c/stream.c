/* Compiles a .rise file at run time and launches it on this program's own stream, on memory that this program has on the GPU: nothing is
 * copied by librise.
 *
 *     cc stream.c $(pkg-config --cflags --libs rise) -I$CUDA_HOME/include -L$CUDA_HOME/lib64 -lcudart -o stream
 *     ./stream ../sum.rise 1000003 */
#include <stdio.h>
#include <stdlib.h>

#include <cuda_runtime_api.h>
#include <rise.h>

static void need(int status, const rise_error *error)
{
    if (status) {
        fprintf(stderr, "%s: %s\n", rise_status_name(status), error->text);
        exit(1);
    }
}

static void need_cuda(cudaError_t status)
{
    if (status != cudaSuccess) {
        fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(status));
        exit(1);
    }
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: %s FILE.rise N\n", argv[0]);
        return 2;
    }
    int64_t n = atoll(argv[2]), n_parts = 0;
    float *host = malloc((size_t)n * sizeof *host + 1), *xs, *parts;
    if (!host)
        return 1;
    double want = 0, total = 0;
    for (int64_t i = 0; i < n; i++) {
        host[i] = (float)(i % 7);
        want += host[i];
    }
    cudaStream_t stream;
    need_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    need_cuda(cudaMalloc((void **)&xs, (size_t)n * sizeof *xs + 1));

    /* The CUDA runtime has made the device's primary context current by now, and librise works in what is current. */
    rise_context_options options = {.size = sizeof options, .device = RISE_GPU};
    rise_context *context;
    rise_program *program;
    rise_entry *entry;
    rise_call *call;
    rise_error error;
    int rank;
    need(rise_context_new(&options, &context, &error), &error);
    need(rise_program_from_file(context, argv[1], &program, &error), &error);
    need(rise_entry_get(program, NULL, NULL, &entry, &error), &error);
    need(rise_call_new(entry, &call, &error), &error);
    need(rise_call_input(call, "xs", RISE_F32, 1, &n, xs, RISE_DEVICE, &error), &error);
    need(rise_call_prepare(call, &error), &error);
    need(rise_call_shape(call, "result", 1, &rank, &n_parts, &error), &error);
    size_t bytes = (size_t)n_parts * sizeof *parts;
    need_cuda(cudaMalloc((void **)&parts, bytes + 1));
    need(rise_call_output(call, "result", RISE_F32, parts, bytes, RISE_DEVICE, &error), &error);

    /* Copy, kernel, copy: in this order because they are on one stream. Nothing waits until the end. */
    need_cuda(cudaMemcpyAsync(xs, host, (size_t)n * sizeof *xs, cudaMemcpyHostToDevice, stream));
    need(rise_call_launch(call, stream, &error), &error);
    float *back = malloc(bytes + 1);
    if (!back)
        return 1;
    need_cuda(cudaMemcpyAsync(back, parts, bytes, cudaMemcpyDeviceToHost, stream));
    need_cuda(cudaStreamSynchronize(stream));
    for (int64_t i = 0; i < n_parts; i++)
        total += back[i];
    printf("%s: the sum of %lld numbers is %.0f%s\n", rise_context_device_name(context), (long long)n, total, total == want ? "" : ", which is wrong");

    rise_call_free(call);
    rise_program_free(program);
    rise_context_free(context);
    cudaFree(xs);
    cudaFree(parts);
    cudaStreamDestroy(stream);
    free(host);
    free(back);
    return total != want;
}
