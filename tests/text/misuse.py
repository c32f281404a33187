"""Wrong kernels, and right ones that need the rarer parts of the shim, for tests/scripts/text_faults.py: (name, what must be said, text). "" means that it agrees.

All are twins of `entry copy {n: nat} (xs: n.i32): n.i32 = xs |> mapGlobal(id)`."""

RISE = "entry copy {n: nat} (xs: n.i32): n.i32 = xs |> mapGlobal(id)\n"
HEAD = "const int i = blockIdx.x * blockDim.x + threadIdx.x; const int lane = threadIdx.x % 32;"
COPY = "if (i < n) out[i] = xs[i];"


def kernel(body, threads=64, before="", shared=0):
    return (f'{before}\n__global__ void k(int *out, const int *xs, int n)\n{{\n    {HEAD}\n    {body}\n}}\n'
            'extern "C" int copy_hand(int *out, const int *xs, int n, cudaStream_t stream)\n{\n'
            f"    if (n > 0)\n        k<<<(n + {threads - 1}) / {threads}, {threads}, {shared}, stream>>>(out, xs, n);\n"
            "    return (int)cudaGetLastError();\n}\n")


GRID = """
#include <cooperative_groups.h>
__global__ void k(int *out, int *space, const int *xs, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        space[n - 1 - i] = xs[i];
    BARRIER
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        out[n - 1 - i] = space[i];
}
extern "C" int copy_hand(int *out, const int *xs, int n, cudaStream_t stream)
{
    int blocks = 0, many = 0, *space;
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, k, 128, 0);
    cudaDeviceGetAttribute(&many, cudaDevAttrMultiProcessorCount, 0);
    cudaMallocAsync(&space, n * sizeof(int), stream);
    void *args[] = {&out, &space, &xs, &n};
    cudaLaunchCooperativeKernel((const void *)k, dim3(blocks * many), dim3(128), args, 0, stream);
    FREE
    return (int)cudaGetLastError();
}
"""
# Blocks take turns: the first thread of each waits for its own, and needs what the block before it wrote.
TURNS = """
__global__ void k(int *out, unsigned *turn, const int *xs, int n)
{
    for (unsigned next = blockIdx.x; next * 64 < n; next += gridDim.x) {
        if (threadIdx.x == 0)
            while (atomicAdd(turn, 0u) != FIRST + next) {}
        __syncthreads();
        const int i = next * 64 + threadIdx.x;
        if (i < n)
            out[i] = xs[i] + (i > 0 && threadIdx.x == 0 ? out[i - 1] - xs[i - 1] : 0);
        __syncthreads();
        if (threadIdx.x == 0) {
            NEXT
        }
    }
}
extern "C" int copy_hand(int *out, const int *xs, int n, cudaStream_t stream)
{
    int many = 0;
    unsigned *turn;
    cudaDeviceGetAttribute(&many, cudaDevAttrMultiProcessorCount, 0);
    cudaMallocAsync(&turn, sizeof(unsigned), stream);
    cudaMemsetAsync(turn, 0, sizeof(unsigned), stream);
    void *args[] = {&out, &turn, &xs, &n};
    cudaLaunchCooperativeKernel((const void *)k, dim3(2 * many), dim3(64), args, 0, stream);
    cudaFreeAsync(turn, stream);
    return (int)cudaGetLastError();
}
"""
LAST = """
__device__ unsigned tickets;
template <int THREADS> __global__ void k(int *out, int *space, const int *xs, int n)
{
    __shared__ bool last;
    const int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n)
        space[i] = xs[i];
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
        last = atomicInc(&tickets, gridDim.x - 1) == gridDim.x - 1;
    __syncthreads();
    for (int j = threadIdx.x; last && j < n; j += THREADS)
        out[j] = space[j];
}
extern "C" void copy_hand(int *out, const int *xs, long long n, cudaStream_t stream)
{
    int *space;
    cudaMalloc(&space, n * sizeof(int));
    if (n > 0)
        k<96><<<dim3((n + 95) / 96), dim3(32, 3), 0, stream>>>(out, space, xs, (int)n);
    cudaFree(space);
}
""".replace("threadIdx.x", "(threadIdx.x + 32 * threadIdx.y)")

MISUSE = (
    ("barrier_some_threads", "not reached by all", kernel("if (threadIdx.x < 16) __syncthreads(); " + COPY)),
    ("barrier_two_places", "reaches the barrier of line", kernel("if (threadIdx.x < 16)\n__syncthreads();\nelse\n__syncthreads();\n" + COPY)),
    ("barrier_after_return", "have ended", kernel("if (i >= n) return; __syncthreads(); " + COPY)),
    ("shuffle_some_lanes", "lanes 0x0000ffff of 0xffffffff are there", kernel("int v = 0; if (lane < 16) v = __shfl_xor_sync(0xffffffff, v, 1); " + COPY)),
    ("shuffle_not_in_mask", "not in its own mask", kernel("__shfl_xor_sync(0xffff, lane, 1); " + COPY)),
    ("shuffle_no_such_lanes", "names lanes that the block", kernel("__syncwarp(); " + COPY, threads=48)),
    ("shuffle_outside_of_mask", "ref", kernel("int v = i < n ? xs[i] : 0; if (lane < 16) v = __shfl_down_sync(0xffff, v, 1); if (i < n) out[i] = v;")),
    ("grid_not_cooperative", "cudaLaunchCooperativeKernel", kernel("cooperative_groups::this_grid().sync(); " + COPY)),
    ("shared_unset", "ref", kernel("__shared__ int s[64]; if (lane) s[threadIdx.x] = i < n ? xs[i] : 0; __syncthreads(); if (i < n) out[i] = s[threadIdx.x];")),
    ("shared_too_small", "runtime error: index 63", kernel("__shared__ int s[63]; s[threadIdx.x] = 1; " + COPY)),
    ("shared_too_much", "more than 49152 bytes of static shared memory", kernel("__shared__ int a[8000], b[5000]; a[threadIdx.x] = b[threadIdx.x] = 1; " + COPY)),
    ("shared_by_each_block", "", kernel("__shared__ int a[8000]; a[threadIdx.x] = 1; " + COPY)),
    ("dynamic_too_small", "heap-buffer-overflow", kernel("extern __shared__ int s[]; s[threadIdx.x] = 1; " + COPY, shared=255)),
    ("dynamic_not_opted_in", "gives error 1", kernel(COPY, shared=50000)),
    ("input_written", "an input, is written", kernel(COPY + " if (i == 0) ((int *)xs)[0]++;")),
    ("output_left", "ref", kernel("if (i < n && i != 5) out[i] = xs[i];")),
    ("before_the_array", "heap-buffer-overflow", kernel(COPY + " if (i == 0) out[0] = xs[-1];")),
    ("overflow", "signed integer overflow", kernel("__shared__ int s[64]; if (i < n) s[threadIdx.x] = xs[i] * 1000000000; " + COPY)),
    ("misaligned", "misaligned|heap-buffer-overflow", kernel("if (i + 4 < n && i == 1) { int4 v = *(const int4 *)(xs + i); out[i] = v.x; } else " + COPY)),
    ("device_memory_kept", "leaves device memory", GRID.replace("BARRIER", "cooperative_groups::this_grid().sync();").replace("FREE", "")),
    ("grid_barrier_missing", "ref", GRID.replace("BARRIER", "").replace("FREE", "cudaFreeAsync(space, stream);")),
    ("grid_barrier", "", GRID.replace("BARRIER", "cooperative_groups::this_grid().sync();").replace("FREE", "cudaFreeAsync(space, stream);")),
    ("turns", "", TURNS.replace("FIRST", "0").replace("NEXT", "atomicAdd(turn, 1u);")),
    ("turns_by_stores", "", TURNS.replace("FIRST", "0").replace("NEXT", "*turn = next + 1;\n__threadfence();")),
    ("turns_nobody_begins", "for what nobody changes", TURNS.replace("FIRST", "1").replace("NEXT", "atomicAdd(turn, 1u);")),
    ("turns_not_waited_for", "ref", TURNS.replace("FIRST", "0").replace("!=", "> 1000 +").replace("NEXT", "atomicAdd(turn, 1u);")),
    ("last_block", "", LAST),
    ("last_block_not_counted", "ref", LAST.replace("gridDim.x - 1) == gridDim.x - 1", "gridDim.x - 1) == 0")),
    ("vote", "", kernel("const unsigned all = __ballot_sync(0xffffffff, 1), same = __match_any_sync(0xffffffff, lane / 8);\n"
                        "const int count = __syncthreads_count(lane == 3), most = __reduce_max_sync(0xffffffff, lane);\n"
                        "if (i < n) out[i] = xs[i] + (all != 0xffffffff) + (count != 2) + (most != 31) + (same != 0xffu << lane / 8 * 8);")),
)

# What a host function of tests/programs/workspace.rise may do wrong with the workspace: (name, what is in its text, what becomes of it).
WORKSPACE = (
    ("not_made_ready", r"(cudaMemsetAsync\(workspace, 0, )\d+", r"\g<1>0"),
    ("half_made_ready", r"(cudaMemsetAsync\(workspace, 0, )\d+", r"\g<1>16"),
    ("data_on_flags", r"(int \*const parts = )\(int \*\)\(space \+ \d+\)", r"\g<1>(int *)(space + 128)"),
    ("ticket_on_rounds", r"(unsigned \*const ticket = \(unsigned \*\)\(space \+ )\d+", r"\g<1>132"),
    ("mail_not_cleared", r"cudaMemsetAsync\(mail, 0, \(size_t\)\(n\*8\), stream\)", "cudaSuccess"),
    # On the data it may do no harm: a word is given, answered and taken before the sum that lies there is written.
    ("mail_past_the_end", r"(mail = \(unsigned long long \*\)\(space \+ )\(\(n \+ 63\) / 64\)\*256 \+ ", r"\g<1>n*8 + ((n + 63) / 64)*256 + "),
    ("too_few_bytes", r"\*bytes = \(\(n \+ 63\) / 64\)\*256 \+ n\*4 ", "*bytes = n*4 "),
)
