/* .npy files, as numpy.save writes them: versions 1 to 3, little-endian, C order.
 *
 * A file in Fortran order is converted. bf16, which numpy does not have, is stored as uint16 with the same bits ('<u2'), and read
 * back as u16: a caller who wants bf16 takes the u16 as such (npy_as). Not for: pickled objects, records, complex numbers. */
#ifndef RISEC_DRIVER_NPY_H
#define RISEC_DRIVER_NPY_H

#include "ir/interp.h"

enum { NPY_RANK_LIMIT = 32 };

/* Reads a file's bytes. buf->bytes points into `bytes` where nothing must be converted. False with a diagnostic (E0608) naming `name`. */
bool npy_parse(Ctx *ctx, const char *name, char *bytes, size_t size, HostBuf *buf);
/* A file's bytes, through the context's file access. False with a diagnostic (E0608). */
bool npy_load(Ctx *ctx, const char *path, char **bytes, size_t *size);
/* The same from a path, through the context's file access ("-": standard input). */
bool npy_read(Ctx *ctx, const char *path, HostBuf *buf);
/* True when the elements can stand for `elem`: the same type, or u16 for bf16 (buf->elem is changed). */
bool npy_as(HostBuf *buf, Scalar elem);

/* The file's bytes, in memory from ctx_alloc. */
char *npy_bytes(Ctx *ctx, const HostBuf *buf, size_t *size);

#endif
