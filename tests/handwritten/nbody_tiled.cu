// One step of n bodies under gravity, one thread a body, all bodies through shared memory 256 at a time.
struct Bodies {
    const float *x, *y, *z, *m, *vx, *vy, *vz;
};
struct Moved {
    float *x, *y, *z, *m, *vx, *vy, *vz;
};

__global__ void move(Moved out, float dt, Bodies in, int n)
{
    __shared__ float4 others[256];
    const int i = blockIdx.x * 256 + threadIdx.x;
    float x = 0, y = 0, z = 0, vx = 0, vy = 0, vz = 0;
    if (i < n) {
        x = in.x[i], y = in.y[i], z = in.z[i];
        vx = in.vx[i], vy = in.vy[i], vz = in.vz[i];
    }
    for (int first = 0; first < n; first += 256) {
        const int j = first + threadIdx.x;
        __syncthreads();
        others[threadIdx.x] = j < n ? make_float4(in.x[j], in.y[j], in.z[j], in.m[j]) : make_float4(0, 0, 0, 0);
        __syncthreads();
        for (int k = 0; k < 256; k++) {
            const float dx = others[k].x - x, dy = others[k].y - y, dz = others[k].z - z;
            const float r = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
            const float s = dt * others[k].w * r * r * r;
            vx += s * dx;
            vy += s * dy;
            vz += s * dz;
        }
    }
    if (i >= n)
        return;
    out.x[i] = x + dt * vx;
    out.y[i] = y + dt * vy;
    out.z[i] = z + dt * vz;
    out.m[i] = in.m[i];
    out.vx[i] = vx;
    out.vy[i] = vy;
    out.vz[i] = vz;
}

extern "C" int nbodyTiled_hand(float *x1, float *y1, float *z1, float *m1, float *vx1, float *vy1, float *vz1, float dt, const float *x,
                          const float *y, const float *z, const float *m, const float *vx, const float *vy, const float *vz, int n,
                          cudaStream_t stream)
{
    if (n > 0)
        move<<<(n + 255) / 256, 256, 0, stream>>>({x1, y1, z1, m1, vx1, vy1, vz1}, dt, {x, y, z, m, vx, vy, vz}, n);
    return (int)cudaGetLastError();
}
