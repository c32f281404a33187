#include "runtime/sha256.h"

#include <string.h>

/* The first 32 bits of the fractional parts of the cube roots of the first 64 primes (section 4.2.2). */
static const uint32_t constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be,
    0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa,
    0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
    0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
    0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f,
    0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate(uint32_t x, int n) { return x >> n | x << (32 - n); }

/* Section 6.2.2. */
static void add_block(Sha256 *sha, const unsigned char *block)
{
    uint32_t w[64];
    for (int t = 0; t < 16; t++) {
        const unsigned char *p = block + 4 * t;
        w[t] = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
    }
    for (int t = 16; t < 64; t++) {
        uint32_t s0 = rotate(w[t - 15], 7) ^ rotate(w[t - 15], 18) ^ w[t - 15] >> 3;
        uint32_t s1 = rotate(w[t - 2], 17) ^ rotate(w[t - 2], 19) ^ w[t - 2] >> 10;
        w[t] = s1 + w[t - 7] + s0 + w[t - 16];
    }
    uint32_t *h = sha->state;
    uint32_t a = h[0], b = h[1], c = h[2], d = h[3], e = h[4], f = h[5], g = h[6], last = h[7];
    for (int t = 0; t < 64; t++) {
        uint32_t t1 = last + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & f) ^ (~e & g)) + constants[t] + w[t];
        uint32_t t2 = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        last = g;
        g = f;
        f = e;
        e = d + t1;
        d = c;
        c = b;
        b = a;
        a = t1 + t2;
    }
    const uint32_t out[8] = {a, b, c, d, e, f, g, last};
    for (int i = 0; i < 8; i++)
        h[i] += out[i];
}

void sha256_init(Sha256 *sha)
{
    /* The same of the square roots of the first 8 primes (section 5.3.3). */
    static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memcpy(sha->state, start, sizeof start);
    sha->bytes = 0;
}

void sha256_add(Sha256 *sha, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    while (size > 0) {
        size_t used = sha->bytes % SHA256_BLOCK, take = SHA256_BLOCK - used;
        if (take > size)
            take = size;
        memcpy(sha->block + used, at, take);
        sha->bytes += take;
        at += take;
        size -= take;
        if (used + take == SHA256_BLOCK)
            add_block(sha, sha->block);
    }
}

void sha256_end(Sha256 *sha, unsigned char digest[SHA256_SIZE])
{
    static const unsigned char padding[SHA256_BLOCK] = {0x80};
    uint64_t bits = sha->bytes * 8;
    size_t used = sha->bytes % SHA256_BLOCK;
    sha256_add(sha, padding, used < 56 ? 56 - used : 56 + SHA256_BLOCK - used);
    unsigned char length[8];
    for (int i = 0; i < 8; i++)
        length[i] = (unsigned char)(bits >> (56 - 8 * i));
    sha256_add(sha, length, sizeof length);
    for (int i = 0; i < SHA256_SIZE; i++)
        digest[i] = (unsigned char)(sha->state[i / 4] >> (24 - 8 * (i % 4)));
}
