// Levenshtein distances of pairs of words of at most 32 letters, one warp a pair, along the diagonals of the table.
__global__ void distances(unsigned *out, const unsigned char *as, const unsigned *a_lengths, const unsigned char *bs, const unsigned *b_lengths, int n)
{
    const int lane = threadIdx.x % 32;
    const int pair = blockIdx.x * 8 + threadIdx.x / 32;
    if (pair >= n)
        return;
    const int a_length = a_lengths[pair], b_length = b_lengths[pair];
    const unsigned char letter = bs[pair * 32 + lane];
    int up = lane + 1, corner = lane;
    for (int t = 0; t < 63; t++) {
        int left = __shfl_up_sync(0xffffffff, up, 1);
        if (lane == 0)
            left = t + 1;
        const int row = t - lane;
        if (row >= 0 && row < a_length)
            up = min(min(up, left) + 1, corner + (as[pair * 32 + row] != letter));
        corner = left;
    }
    const int distance = b_length == 0 ? a_length : __shfl_sync(0xffffffff, up, b_length - 1);
    if (lane == 0)
        out[pair] = distance;
}

extern "C" int levenshtein_hand(unsigned *out, const unsigned char *as, const unsigned *a_lengths, const unsigned char *bs, const unsigned *b_lengths,
                                int n, cudaStream_t stream)
{
    if (n > 0)
        distances<<<(n + 7) / 8, 256, 0, stream>>>(out, as, a_lengths, bs, b_lengths, n);
    return (int)cudaGetLastError();
}
