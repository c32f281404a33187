// The workloads, and what risec's kernels are measured against: CUB, cuBLAS, and kernels written by hand.
#include "bench.h"

#include <cub/cub.cuh>
#include <cublas_v2.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <cuda/std/functional>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace {

// ---- written by hand: NVIDIA's reduction with shuffles (two kernels), and Harris's seventh, as they are published, for floats --------------------

__device__ float warp_sum(float x)
{
    for (int d = 16; d > 0; d /= 2)
        x += __shfl_down_sync(0xffffffff, x, d);
    return x;
}

__device__ float block_sum(float x)
{
    __shared__ float sums[32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    x = warp_sum(x);
    if (lane == 0)
        sums[warp] = x;
    __syncthreads();
    x = threadIdx.x < blockDim.x / 32 ? sums[lane] : 0.0f;
    return warp == 0 ? warp_sum(x) : x;
}

__global__ void shuffle_reduce(const float *in, float *out, long long n)
{
    float sum = 0.0f;
    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += (long long)blockDim.x * gridDim.x)
        sum += in[i];
    sum = block_sum(sum);
    if (threadIdx.x == 0)
        out[blockIdx.x] = sum;
}

int shuffle_sum(const Buffers &b, Sizes s, cudaStream_t stream)
{
    const int blocks = (int)std::min((s.n + 511) / 512, 1024ll);
    float *partial = (float *)b.work;
    shuffle_reduce<<<blocks, 512, 0, stream>>>((const float *)b.in[0], partial, s.n);
    shuffle_reduce<<<1, 1024, 0, stream>>>(partial, (float *)b.out[0], blocks);
    return (int)cudaGetLastError();
}

template <int THREADS> __global__ void harris7(const float *in, float *out, long long n)
{
    __shared__ float sums[THREADS];
    const int tid = threadIdx.x;
    float sum = 0.0f;
    for (long long i = blockIdx.x * (THREADS * 2ll) + tid; i < n; i += THREADS * 2ll * gridDim.x)
        sum += in[i] + (i + THREADS < n ? in[i + THREADS] : 0.0f);
    sums[tid] = sum;
    __syncthreads();
    if (THREADS >= 512 && tid < 256)
        sums[tid] += sums[tid + 256];
    if (THREADS >= 512)
        __syncthreads();
    if (THREADS >= 256 && tid < 128)
        sums[tid] += sums[tid + 128];
    if (THREADS >= 256)
        __syncthreads();
    if (THREADS >= 128 && tid < 64)
        sums[tid] += sums[tid + 64];
    __syncthreads();
    for (int d = 32; d > 0; d /= 2) {
        if (tid < d)
            sums[tid] += sums[tid + d];
        __syncwarp();
    }
    if (tid == 0)
        out[blockIdx.x] = sums[0];
}

int harris_sum(const Buffers &b, Sizes s, cudaStream_t stream)
{
    const int blocks = (int)std::max(std::min((s.n + 1023) / 1024, 1024ll), 1ll);
    float *partial = (float *)b.work;
    harris7<256><<<blocks, 256, 0, stream>>>((const float *)b.in[0], partial, s.n);
    harris7<256><<<1, 256, 0, stream>>>(partial, (float *)b.out[0], blocks);
    return (int)cudaGetLastError();
}

// ---- written by hand, plain: one block a row -----------------------------------------------------------------------------------------------------

template <bool LARGEST> __device__ float block_fold(float x)
{
    __shared__ float parts[32];
    for (int d = 16; d > 0; d /= 2) {
        const float y = __shfl_xor_sync(0xffffffff, x, d);
        x = LARGEST ? fmaxf(x, y) : x + y;
    }
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = x;
    __syncthreads();
    x = threadIdx.x % 32 < blockDim.x / 32 ? parts[threadIdx.x % 32] : LARGEST ? -INFINITY : 0.0f;
    for (int d = 16; d > 0; d /= 2) {
        const float y = __shfl_xor_sync(0xffffffff, x, d);
        x = LARGEST ? fmaxf(x, y) : x + y;
    }
    return x;
}

__global__ void softmax_row(const float *in, float *out, long long m)
{
    const float *row = in + blockIdx.x * m;
    float most = -INFINITY, sum = 0.0f;
    for (long long j = threadIdx.x; j < m; j += blockDim.x)
        most = fmaxf(most, row[j]);
    most = block_fold<true>(most);
    for (long long j = threadIdx.x; j < m; j += blockDim.x)
        sum += expf(row[j] - most);
    sum = block_fold<false>(sum);
    for (long long j = threadIdx.x; j < m; j += blockDim.x)
        out[blockIdx.x * m + j] = expf(row[j] - most) / sum;
}

__global__ void layer_norm_row(const float *in, const float *gamma, const float *beta, float *out, long long m)
{
    const float *row = in + blockIdx.x * m;
    float sum = 0.0f, squares = 0.0f;
    for (long long j = threadIdx.x; j < m; j += blockDim.x)
        sum += row[j];
    const float mean = block_fold<false>(sum) / (float)m;
    for (long long j = threadIdx.x; j < m; j += blockDim.x)
        squares += (row[j] - mean) * (row[j] - mean);
    const float scale = rsqrtf(block_fold<false>(squares) / (float)m + 1e-5f);
    for (long long j = threadIdx.x; j < m; j += blockDim.x)
        out[blockIdx.x * m + j] = (row[j] - mean) * scale * gamma[j] + beta[j];
}

int softmax_by_hand(const Buffers &b, Sizes s, cudaStream_t stream)
{
    softmax_row<<<(unsigned)s.n, 256, 0, stream>>>((const float *)b.in[0], (float *)b.out[0], s.m);
    return (int)cudaGetLastError();
}

int layer_norm_by_hand(const Buffers &b, Sizes s, cudaStream_t stream)
{
    layer_norm_row<<<(unsigned)s.n, 256, 0, stream>>>((const float *)b.in[0], (const float *)b.in[1], (const float *)b.in[2], (float *)b.out[0], s.m);
    return (int)cudaGetLastError();
}

// The tile of 32 x 32 with a column to spare, 8 rows of threads.
__global__ void transpose_tile(const float *in, float *out, int n, int m)
{
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (x < m && y + j < n)
            tile[threadIdx.y + j][threadIdx.x] = in[(long long)(y + j) * m + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (x < n && y + j < m)
            out[(long long)(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}

int transpose_by_hand(const Buffers &b, Sizes s, cudaStream_t stream)
{
    const dim3 grid((unsigned)((s.m + 31) / 32), (unsigned)((s.n + 31) / 32)), block(32, 8);
    transpose_tile<<<grid, block, 0, stream>>>((const float *)b.in[0], (float *)b.out[0], (int)s.n, (int)s.m);
    return (int)cudaGetLastError();
}

// ---- CUB ---------------------------------------------------------------------------------------------------------------------------------------

template <typename T> int cub_sum(const Buffers &b, Sizes s, cudaStream_t stream)
{
    size_t bytes = WORK_BYTES;
    return (int)cub::DeviceReduce::Sum(b.work, bytes, (const T *)b.in[0], (T *)b.out[0], s.n, stream);
}

int cub_max(const Buffers &b, Sizes s, cudaStream_t stream)
{
    size_t bytes = WORK_BYTES;
    return (int)cub::DeviceReduce::Max(b.work, bytes, (const float *)b.in[0], (float *)b.out[0], s.n, stream);
}

int cub_argmin(const Buffers &b, Sizes s, cudaStream_t stream)
{
    size_t bytes = WORK_BYTES;
    return (int)cub::DeviceReduce::ArgMin(b.work, bytes, (const float *)b.in[0], (float *)b.out[0], (long long *)b.out[1], s.n, stream);
}

int cub_argmax(const Buffers &b, Sizes s, cudaStream_t stream)
{
    size_t bytes = WORK_BYTES;
    return (int)cub::DeviceReduce::ArgMax(b.work, bytes, (const float *)b.in[0], (float *)b.out[0], (long long *)b.out[1], s.n, stream);
}

int cub_product(const Buffers &b, Sizes s, cudaStream_t stream)
{
    size_t bytes = WORK_BYTES;
    return (int)cub::DeviceReduce::Reduce(b.work, bytes, (const double *)b.in[0], (double *)b.out[0], s.n, cuda::std::multiplies<double>(), 1.0, stream);
}

struct Pair {
    double least, most;
};
struct Double {
    __host__ __device__ Pair operator()(double x) const { return {x, x}; }
};
struct Widen {
    __host__ __device__ Pair operator()(Pair a, Pair b) const { return {a.least < b.least ? a.least : b.least, a.most > b.most ? a.most : b.most}; }
};
__global__ void split_pair(const Pair *pair, double *least, double *most)
{
    *least = pair->least;
    *most = pair->most;
}

int cub_minmax(const Buffers &b, Sizes s, cudaStream_t stream)
{
    size_t bytes = WORK_BYTES - 256;
    const int error = (int)cub::DeviceReduce::TransformReduce(b.work + 256, bytes, (const double *)b.in[0], (Pair *)b.work, s.n, Widen(), Double(), Pair{INFINITY, -INFINITY}, stream);
    split_pair<<<1, 1, 0, stream>>>((const Pair *)b.work, (double *)b.out[0], (double *)b.out[1]);
    return error;
}

struct FromHalf {
    __host__ __device__ float operator()(__half x) const { return __half2float(x); }
};

int cub_sum_f16(const Buffers &b, Sizes s, cudaStream_t stream)
{
    size_t bytes = WORK_BYTES;
    return (int)cub::DeviceReduce::TransformReduce(b.work, bytes, (const __half *)b.in[0], (float *)b.out[0], s.n, cuda::std::plus<float>(), FromHalf(), 0.0f, stream);
}

struct FromBfloat {
    __host__ __device__ float operator()(__nv_bfloat16 x) const { return __bfloat162float(x); }
};

int cub_sum_bf16(const Buffers &b, Sizes s, cudaStream_t stream)
{
    size_t bytes = WORK_BYTES;
    return (int)cub::DeviceReduce::TransformReduce(b.work, bytes, (const __nv_bfloat16 *)b.in[0], (float *)b.out[0], s.n, cuda::std::plus<float>(), FromBfloat(), 0.0f, stream);
}

struct Moments { // how many, their mean, and the sum of the squared distances from it
    float count, mean, squares;
};
struct FirstMoments {
    __host__ __device__ Moments operator()(float x) const { return {1, x, 0}; }
};
struct Merge { // Chan, Golub, LeVeque
    __host__ __device__ Moments operator()(Moments a, Moments b) const
    {
        const float count = a.count + b.count, share = count == 0 ? 0 : b.count / count, d = b.mean - a.mean;
        return {count, a.mean + d * share, a.squares + b.squares + d * d * a.count * share};
    }
};
__global__ void split_moments(const Moments *all, float *mean, float *variance)
{
    *mean = all->mean;
    *variance = all->squares / all->count;
}

int cub_mean_variance(const Buffers &b, Sizes s, cudaStream_t stream)
{
    size_t bytes = WORK_BYTES - 256;
    const int error = (int)cub::DeviceReduce::TransformReduce(b.work + 256, bytes, (const float *)b.in[0], (Moments *)b.work, s.n, Merge(), FirstMoments(), Moments{0, 0, 0}, stream);
    split_moments<<<1, 1, 0, stream>>>((const Moments *)b.work, (float *)b.out[0], (float *)b.out[1]);
    return error;
}

int cub_scan(const Buffers &b, Sizes s, cudaStream_t stream)
{
    size_t bytes = WORK_BYTES;
    return (int)cub::DeviceScan::InclusiveSum(b.work, bytes, (const int *)b.in[0], (int *)b.out[0], s.n, stream);
}

struct RowStart {
    long long m;
    __host__ __device__ long long operator()(long long i) const { return i * m; }
};

int cub_row_sums(const Buffers &b, Sizes s, cudaStream_t stream)
{
    size_t bytes = WORK_BYTES;
    auto starts = thrust::make_transform_iterator(thrust::make_counting_iterator(0ll), RowStart{s.m});
    return (int)cub::DeviceSegmentedReduce::Sum(b.work, bytes, (const float *)b.in[0], (float *)b.out[0], s.n, starts, starts + 1, stream);
}

// ---- cuBLAS ------------------------------------------------------------------------------------------------------------------------------------

cublasHandle_t blas(cudaStream_t stream)
{
    static cublasHandle_t handle = nullptr;
    static void *space = nullptr;
    if (!handle) {
        cublasCreate(&handle);
        cudaMalloc(&space, 64 << 20);
        cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE);
    }
    cublasSetStream(handle, stream);
    cublasSetWorkspace(handle, space, 64 << 20);
    return handle;
}

// 0, 1 and a vector of ones on the device
const float *constants()
{
    static float *ones = nullptr;
    if (!ones) {
        std::vector<float> host(1 << 20, 1.0f);
        host[0] = 0.0f;
        cudaMalloc(&ones, sizeof(float) << 20);
        cudaMemcpy(ones, host.data(), sizeof(float) << 20, cudaMemcpyHostToDevice);
    }
    return ones;
}

int blas_dot(const Buffers &b, Sizes s, cudaStream_t stream) { return (int)cublasSdot_64(blas(stream), s.n, (const float *)b.in[0], 1, (const float *)b.in[1], 1, (float *)b.out[0]); }
int blas_asum(const Buffers &b, Sizes s, cudaStream_t stream) { return (int)cublasSasum_64(blas(stream), s.n, (const float *)b.in[0], 1, (float *)b.out[0]); }
int blas_nrm2(const Buffers &b, Sizes s, cudaStream_t stream) { return (int)cublasSnrm2_64(blas(stream), s.n, (const float *)b.in[0], 1, (float *)b.out[0]); }

// cuBLAS has columns first: our n x m is its m x n.
int blas_gemv(const Buffers &b, Sizes s, cudaStream_t stream)
{
    const float *c = constants();
    return (int)cublasSgemv_64(blas(stream), CUBLAS_OP_T, s.m, s.n, c + 1, (const float *)b.in[0], s.m, (const float *)b.in[1], 1, c, (float *)b.out[0], 1);
}

int blas_row_sums(const Buffers &b, Sizes s, cudaStream_t stream)
{
    const float *c = constants();
    return (int)cublasSgemv_64(blas(stream), CUBLAS_OP_T, s.m, s.n, c + 1, (const float *)b.in[0], s.m, c + 1, 1, c, (float *)b.out[0], 1);
}

int blas_column_sums(const Buffers &b, Sizes s, cudaStream_t stream)
{
    const float *c = constants();
    return (int)cublasSgemv_64(blas(stream), CUBLAS_OP_N, s.m, s.n, c + 1, (const float *)b.in[0], s.m, c + 1, 1, c, (float *)b.out[0], 1);
}

int blas_transpose(const Buffers &b, Sizes s, cudaStream_t stream)
{
    const float *c = constants();
    return (int)cublasSgeam_64(blas(stream), CUBLAS_OP_T, CUBLAS_OP_N, s.n, s.m, c + 1, (const float *)b.in[0], s.m, c, (const float *)b.out[0], s.n, (float *)b.out[0], s.n);
}

int blas_matmul(const Buffers &b, Sizes s, cudaStream_t stream)
{
    const float *c = constants();
    return (int)cublasSgemm_64(blas(stream), CUBLAS_OP_N, CUBLAS_OP_N, s.n, s.n, s.n, c + 1, (const float *)b.in[1], s.n, (const float *)b.in[0], s.n, c, (float *)b.out[0], s.n);
}

// ---- the workloads -----------------------------------------------------------------------------------------------------------------------------

long long one(Sizes) { return 1; }
long long count(Sizes s) { return s.n; }
long long area(Sizes s) { return s.n * s.m; }
long long rows(Sizes s) { return s.n; }
long long columns(Sizes s) { return s.m; }
long long square(Sizes s) { return s.n * s.n; }

std::function<double(Sizes)> bytes_each(double bytes)
{
    return [=](Sizes s) { return bytes * (double)s.n * (double)s.m; };
}

std::vector<Sizes> powers(int from, int to, std::vector<long long> more)
{
    std::vector<Sizes> sizes;
    for (int k = from; k <= to; k += 2)
        sizes.push_back({1ll << k});
    for (long long n : more)
        sizes.push_back({n});
    return sizes;
}

} // namespace

void rivals(std::vector<Workload> &all)
{
    const std::vector<Sizes> matrix = {{16384, 4096}}, few = {{1ll << 16}, {1ll << 20}, {1000007}, {1ll << 26}};
    const Array xs = {Type::f32, count}, matrix_f32 = {Type::f32, area}, scalar = {Type::f32, one};
    all.push_back({"sum", powers(10, 30, {1000, 100003, 1000007, 100000007}), {xs}, {scalar}, bytes_each(4),
                   {{"CUB", cub_sum<float>}, {"shuffle (two kernels)", shuffle_sum}, {"Harris 7 (two kernels)", harris_sum}}, 1e-2});
    all.push_back({"max", few, {xs}, {scalar}, bytes_each(4), {{"CUB", cub_max}}, 0});
    all.push_back({"argmin", few, {xs}, {scalar, {Type::i64, one}}, bytes_each(4), {{"CUB", cub_argmin}}, 0});
    all.push_back({"argmax", few, {xs}, {scalar, {Type::i64, one}}, bytes_each(4), {{"CUB", cub_argmax}}, 0});
    all.push_back({"sum_i32", few, {{Type::i32, count}}, {{Type::i32, one}}, bytes_each(4), {{"CUB", cub_sum<int>}}, 0});
    all.push_back({"sum_i64", few, {{Type::i64, count}}, {{Type::i64, one}}, bytes_each(8), {{"CUB", cub_sum<long long>}}, 0});
    all.push_back({"sum_f64", few, {{Type::f64, count}}, {{Type::f64, one}}, bytes_each(8), {{"CUB", cub_sum<double>}}, 1e-9});
    all.push_back({"sum_f16", {{1ll << 20}, {1ll << 27}}, {{Type::f16, count}}, {scalar}, bytes_each(2), {{"CUB", cub_sum_f16}}, 1e-2});
    all.push_back({"sum_bf16", {{1ll << 20}, {1ll << 27}}, {{Type::bf16, count}}, {scalar}, bytes_each(2), {{"CUB", cub_sum_bf16}}, 1e-2});
    all.push_back({"product", few, {{Type::f64, count, true}}, {{Type::f64, one}}, bytes_each(8), {{"CUB", cub_product}}, 1e-6});
    all.push_back({"mean_variance", few, {xs}, {scalar, scalar}, bytes_each(4), {{"CUB", cub_mean_variance}}, 1e-2});
    all.push_back({"minmax", {{1ll << 20}, {1ll << 25}}, {{Type::f64, count}}, {{Type::f64, one}, {Type::f64, one}}, bytes_each(8), {{"CUB", cub_minmax}}, 0});
    all.push_back({"dot", few, {xs, xs}, {scalar}, bytes_each(8), {{"cuBLAS", blas_dot}}, 1e-2});
    all.push_back({"asum", few, {xs}, {scalar}, bytes_each(4), {{"cuBLAS", blas_asum}}, 1e-3});
    all.push_back({"nrm2", few, {xs}, {scalar}, bytes_each(4), {{"cuBLAS", blas_nrm2}}, 1e-3});
    all.push_back({"row_sums", matrix, {matrix_f32}, {{Type::f32, rows}}, bytes_each(4), {{"cuBLAS gemv", blas_row_sums}, {"CUB segmented", cub_row_sums}}, 1e-3});
    all.push_back({"column_sums", matrix, {matrix_f32}, {{Type::f32, columns}}, bytes_each(4), {{"cuBLAS gemv", blas_column_sums}}, 1e-3});
    all.push_back({"gemv", {{8192, 8192}}, {matrix_f32, {Type::f32, columns}}, {{Type::f32, rows}}, bytes_each(4), {{"cuBLAS", blas_gemv}}, 1e-3});
    all.push_back({"softmax", matrix, {matrix_f32}, {matrix_f32}, bytes_each(8), {{"by hand", softmax_by_hand}}, 1e-3});
    all.push_back({"layer_norm", matrix, {matrix_f32, {Type::f32, columns}, {Type::f32, columns}}, {matrix_f32}, bytes_each(8), {{"by hand", layer_norm_by_hand}}, 1e-3});
    all.push_back({"transpose", {{8192, 8192}}, {matrix_f32}, {matrix_f32}, bytes_each(8), {{"cuBLAS geam", blas_transpose}, {"by hand (32 x 33)", transpose_by_hand}}, 0});
    all.push_back({"scan", powers(16, 28, {1000007}), {{Type::i32, count}}, {{Type::i32, count}}, bytes_each(8), {{"CUB", cub_scan}}, 0});
    all.push_back({"matmul", {{1024}, {2048}, {4096}, {8192}}, {{Type::f32, square}, {Type::f32, square}}, {{Type::f32, square}},
                   [](Sizes s) { return 2.0 * (double)s.n * (double)s.n * (double)s.n; }, {{"cuBLAS", blas_matmul}}, 1e-3, true});
}
