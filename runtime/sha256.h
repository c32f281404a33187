/* SHA-256 (FIPS 180-4): the names and the checksums of cached kernels. */
#ifndef RISE_RUNTIME_SHA256_H
#define RISE_RUNTIME_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { SHA256_SIZE = 32, SHA256_BLOCK = 64 };

typedef struct Sha256 {
    uint32_t state[8];
    uint64_t bytes; /* so far */
    unsigned char block[SHA256_BLOCK];
} Sha256;

void sha256_init(Sha256 *sha);
void sha256_add(Sha256 *sha, const void *bytes, size_t size);
void sha256_end(Sha256 *sha, unsigned char digest[SHA256_SIZE]);

#endif
