// One step of n bodies under gravity, one thread a body.
struct Bodies {
    const float *x, *y, *z, *m, *vx, *vy, *vz;
};
struct Moved {
    float *x, *y, *z, *m, *vx, *vy, *vz;
};

__global__ void move(Moved out, float dt, Bodies in, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const float x = in.x[i], y = in.y[i], z = in.z[i];
    float ax = 0, ay = 0, az = 0;
    for (int j = 0; j < n; j++) {
        const float dx = in.x[j] - x, dy = in.y[j] - y, dz = in.z[j] - z;
        const float r = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
        const float s = in.m[j] * r * r * r;
        ax += s * dx;
        ay += s * dy;
        az += s * dz;
    }
    const float vx = in.vx[i] + dt * ax, vy = in.vy[i] + dt * ay, vz = in.vz[i] + dt * az;
    out.x[i] = x + dt * vx;
    out.y[i] = y + dt * vy;
    out.z[i] = z + dt * vz;
    out.m[i] = in.m[i];
    out.vx[i] = vx;
    out.vy[i] = vy;
    out.vz[i] = vz;
}

extern "C" int nbody_hand(float *x1, float *y1, float *z1, float *m1, float *vx1, float *vy1, float *vz1, float dt, const float *x,
                          const float *y, const float *z, const float *m, const float *vx, const float *vy, const float *vz, int n,
                          cudaStream_t stream)
{
    if (n > 0)
        move<<<(n + 255) / 256, 256, 0, stream>>>({x1, y1, z1, m1, vx1, vy1, vz1}, dt, {x, y, z, m, vx, vy, vz}, n);
    return (int)cudaGetLastError();
}
