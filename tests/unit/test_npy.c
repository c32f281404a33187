/* .npy files: what numpy writes is read, what we write is read back, and no damaged file does harm. Inputs made from words. */
#include <math.h>
#include <stdlib.h>

#include "driver/inputs.h"
#include "driver/npy.h"
#include "unit.h"

static uint64_t state = 88172645463325252u;

static uint64_t next(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

/* From a copy of just this size, so that a sanitizer sees a step over the end. */
static bool parse(Ctx *ctx, const char *bytes, size_t size, HostBuf *buf)
{
    char *copy = ctx_alloc(ctx, size);
    memcpy(copy, bytes, size);
    return npy_parse(ctx, "x.npy", copy, size, buf);
}

static const char *last_message(Ctx *ctx) { return ctx->diags.list.n ? ctx->diags.list.at[ctx->diags.list.n - 1]->message : ""; }

/* A file of version 1 with this dictionary and data; unpadded, as files by others may be. */
static size_t make(char *file, int version, const char *dict, const void *data, size_t size)
{
    size_t length = strlen(dict), start = version == 1 ? 10 : 12;
    memcpy(file, "\x93NUMPY", 6);
    file[6] = (char)version;
    file[7] = 0;
    file[8] = (char)(length & 0xff);
    file[9] = (char)(length >> 8);
    file[10] = file[11] = 0;
    memcpy(file + start, dict, length);
    if (size)
        memcpy(file + start + length, data, size);
    return start + length + size;
}

static void round_trip(Ctx *ctx)
{
    for (int t = 0; t < SC_COUNT; t++)
        for (int rank = 0; rank <= 4; rank++)
            for (int round = 0; round < 20; round++) {
                int64_t shape[4];
                HostBuf buf = {.elem = (Scalar)t, .rank = rank, .shape = shape, .count = 1};
                for (int k = 0; k < rank; k++)
                    buf.count *= shape[k] = (int64_t)(next() % 5);
                size_t bytes = (size_t)(buf.count * scalar_bytes(buf.elem)), size;
                buf.bytes = ctx_alloc(ctx, bytes + 1);
                for (size_t i = 0; i < bytes; i++)
                    buf.bytes[i] = (unsigned char)(t == SC_BOOL ? next() & 1 : next());
                char *file = npy_bytes(ctx, &buf, &size);
                CHECK((size - bytes) % 64 == 0);
                HostBuf back;
                CHECK(parse(ctx, file, size, &back));
                CHECK(npy_as(&back, (Scalar)t) && back.rank == rank && back.count == buf.count);
                CHECK(memcmp(back.bytes, buf.bytes, bytes) == 0 && (rank == 0 || memcmp(back.shape, shape, sizeof shape[0] * (size_t)rank) == 0));
            }
    HostBuf buf = {.elem = SC_F32, .rank = 0};
    CHECK(!npy_as(&buf, SC_BF16) && !npy_as(&buf, SC_F64) && npy_as(&buf, SC_F32));
}

static void by_others(Ctx *ctx)
{
    char file[600];
    float six[6] = {1, 2, 3, 4, 5, 6};
    HostBuf buf;
    size_t n = make(file, 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }                                              \n", six, 24);
    CHECK(parse(ctx, file, n, &buf) && buf.elem == SC_F32 && buf.rank == 2 && buf.shape[0] == 2 && buf.shape[1] == 3 && buf.count == 6);
    CHECK(memcmp(buf.bytes, six, 24) == 0);
    n = make(file, 1, "{\"shape\":(6,),\"fortran_order\":True,\"descr\":\"=f4\"}", six, 24);
    CHECK(parse(ctx, file, n, &buf) && buf.rank == 1 && memcmp(buf.bytes, six, 24) == 0);
    n = make(file, 2, "{'descr': '<f4', 'fortran_order': True, 'shape': (2L, 3L)}\n", six, 24);
    static const float turned[6] = {1, 3, 5, 2, 4, 6};
    CHECK(parse(ctx, file, n, &buf) && buf.shape[0] == 2 && memcmp(buf.bytes, turned, 24) == 0);
    float eight[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    static const float cube[8] = {0, 4, 2, 6, 1, 5, 3, 7};
    n = make(file, 3, "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2, 2)}", eight, 32);
    CHECK(parse(ctx, file, n, &buf) && memcmp(buf.bytes, cube, 32) == 0);
    n = make(file, 1, "{'descr': '|b1', 'fortran_order': False, 'shape': (3,)}", "\0\1\2", 3);
    CHECK(parse(ctx, file, n, &buf) && buf.elem == SC_BOOL && memcmp(buf.bytes, "\0\1\1", 3) == 0);
    n = make(file, 1, "{'descr': '<i8', 'fortran_order': False, 'shape': ()}", eight, 8);
    CHECK(parse(ctx, file, n, &buf) && buf.elem == SC_I64 && buf.rank == 0 && buf.count == 1);
    n = make(file, 1, "{'descr': '<f2', 'fortran_order': False, 'shape': (0, 99)}", eight, 0);
    CHECK(parse(ctx, file, n, &buf) && buf.elem == SC_F16 && buf.count == 0);
}

static void refusals(Ctx *ctx)
{
    static const struct {
        const char *dict;
        size_t size;
        const char *why;
    } bad[] = {
        {"{'descr': '>f4', 'fortran_order': False, 'shape': (2,)}", 8, "big-endian"},
        {"{'descr': '<c8', 'fortran_order': False, 'shape': (1,)}", 8, "complex"},
        {"{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", 8, "Python objects"},
        {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", 4, "records"},
        {"{'descr': '<f3', 'fortran_order': False, 'shape': (1,)}", 4, "does not have"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (3,)}", 8, "12 bytes of data, and it has 8"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", 8, "4 bytes of data, and it has 8"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}", 8, "64 bits"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}", 8, "64 bits"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2305843009213693952,)}", 0, "64 bits"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}", 8, "no number"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': 2}", 8, "no tuple"},
        {"{'descr': '<f4', 'fortran_order': Maybe, 'shape': (2,)}", 8, "neither True nor False"},
        {"{'descr': '<f4', 'shape': (2,)}", 8, "lacks"},
        {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", 8, "repeated"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} x", 8, "behind"},
        {"", 8, "no dictionary"},
    };
    char file[600], data[16] = {0};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        HostBuf buf;
        CHECK(!parse(ctx, file, make(file, 1, bad[i].dict, data, bad[i].size), &buf));
        if (!CHECK(strstr(last_message(ctx), bad[i].why) != NULL))
            printf("%s\n", last_message(ctx));
    }
    CHECK(!npy_read(ctx, "there/is/no/such.npy", &(HostBuf){0}) && strstr(last_message(ctx), "no such file"));
}

/* Damaged copies of a good file: every length, and random bytes. */
static void damage(Ctx *unused)
{
    (void)unused;
    char file[600], damaged[600];
    float six[6] = {1, 2, 3, 4, 5, 6};
    size_t size = make(file, 1, "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }", six, 24);
    long good = 0;
    for (int round = 0; round < 300; round++) {
        Ctx *ctx = ctx_new(NULL, NULL);
        for (int k = 0; k < 300; k++) {
            HostBuf buf;
            memcpy(damaged, file, size);
            size_t length = round == 0 ? (size_t)k % size : size;
            if (round > 0)
                for (uint64_t n = 1 + next() % 4; n; n--)
                    damaged[next() % size] = next() & 1 ? (char)next() : "0123456789(),'<>{}: "[next() % 20];
            if (!parse(ctx, damaged, length, &buf))
                continue;
            good++;
            CHECK(buf.count >= 0 && buf.rank <= NPY_RANK_LIMIT);
            int64_t count = 1;
            for (int d = 0; d < buf.rank; d++)
                count *= buf.shape[d];
            unsigned char sum = 0;
            for (int64_t i = 0; i < buf.count * scalar_bytes(buf.elem); i++)
                sum = (unsigned char)(sum + buf.bytes[i]);
            CHECK(count == buf.count && sum == sum);
        }
        ctx_free(ctx);
    }
    CHECK(good > 1000);
}

/* ---- inputs ----------------------------------------------------------------------------------------------------- */

static double value_at(const HostBuf *buf, int64_t i)
{
    ScalarValue v = scalar_load(buf->elem, buf->bytes + i * scalar_bytes(buf->elem));
    return scalar_is_float(buf->elem) ? v.f : (double)v.i;
}

static bool fill(Ctx *ctx, const char *spec, Scalar elem, int64_t n, int64_t idx, HostBuf *buf)
{
    *buf = (HostBuf){.elem = elem, .rank = 1, .count = n};
    buf->shape = NEW(ctx, int64_t);
    buf->shape[0] = n;
    return input_fill(ctx, "xs", spec, 42, idx >= 0, idx < 0 ? 0 : idx, buf);
}

static void inputs(Ctx *ctx)
{
    HostBuf buf, again;
    for (int t = 0; t < SC_COUNT; t++) {
        Scalar type = (Scalar)t;
        CHECK(fill(ctx, "iota", type, 300, -1, &buf) && value_at(&buf, 1) == 1 && value_at(&buf, 0) == 0);
        CHECK(fill(ctx, "ones", type, 3, -1, &buf) && value_at(&buf, 2) == 1);
        CHECK(fill(ctx, "zeros", type, 3, -1, &buf) && value_at(&buf, 2) == 0);
        CHECK(fill(ctx, "1", type, 3, -1, &buf) && value_at(&buf, 2) == 1);
        CHECK(fill(ctx, "const:1", type, 3, -1, &buf) && value_at(&buf, 0) == 1);
        CHECK(fill(ctx, "uniform", type, 20000, -1, &buf) && fill(ctx, "uniform", type, 20000, -1, &again));
        CHECK(memcmp(buf.bytes, again.bytes, (size_t)(20000 * scalar_bytes(type))) == 0);
        double lo = 1e9, hi = -1e9, sum = 0;
        for (int64_t i = 0; i < buf.count; i++) {
            double v = value_at(&buf, i);
            lo = v < lo ? v : lo;
            hi = v > hi ? v : hi;
            sum += v / 20000;
        }
        bool unit = scalar_is_float(type) || type == SC_BOOL;
        CHECK(lo >= 0 && lo < (unit ? 0.01 : 1) && (scalar_is_float(type) ? hi < 1 && hi > 0.98 : hi == (unit ? 1 : 99)));
        CHECK(fabs(sum - (unit ? 0.5 : 49.5)) < (unit ? 0.02 : 2));
        CHECK(fill(ctx, "normal", type, 20000, -1, &buf) == scalar_is_float(type));
        if (scalar_is_float(type)) {
            double mean = 0, square = 0;
            for (int64_t i = 0; i < buf.count; i++) {
                mean += value_at(&buf, i) / 20000;
                square += value_at(&buf, i) * value_at(&buf, i) / 20000;
            }
            CHECK(fabs(mean) < 0.05 && fabs(square - 1) < 0.05);
        }
    }
    CHECK(fill(ctx, "iota", SC_I8, 300, -1, &buf) && value_at(&buf, 128) == -128);
    CHECK(fill(ctx, "iota", SC_I32, 30, 7, &buf) && value_at(&buf, 29) == 29 % 7);
    CHECK(fill(ctx, "uniform", SC_I64, 3000, 7, &buf));
    for (int64_t i = 0; i < buf.count; i++)
        CHECK(value_at(&buf, i) >= 0 && value_at(&buf, i) < 7);
    CHECK(fill(ctx, "uniform:-3:3", SC_I32, 3000, -1, &buf));
    int64_t seen = 0;
    for (int64_t i = 0; i < buf.count; i++) {
        CHECK(value_at(&buf, i) >= -3 && value_at(&buf, i) <= 3);
        seen |= 1 << ((int)value_at(&buf, i) + 3);
    }
    CHECK(seen == 127);
    CHECK(fill(ctx, "uniform:-2.5:7", SC_F32, 3000, -1, &buf));
    for (int64_t i = 0; i < buf.count; i++)
        CHECK(value_at(&buf, i) >= -2.5 && value_at(&buf, i) < 7);
    CHECK(fill(ctx, "uniform:0:18446744073709551615", SC_U64, 100, -1, &buf) && fill(ctx, "uniform:3:3", SC_U8, 10, -1, &buf) && value_at(&buf, 9) == 3);
    CHECK(fill(ctx, "1e3", SC_F16, 1, -1, &buf) && value_at(&buf, 0) == 1000 && fill(ctx, "-inf", SC_F32, 1, -1, &buf) && value_at(&buf, 0) < -1e38);
    CHECK(fill(ctx, "-2.5e-1", SC_F64, 1, -1, &buf) && value_at(&buf, 0) == -0.25 && fill(ctx, "18446744073709551615", SC_U64, 1, -1, &buf));
    CHECK(fill(ctx, "3", SC_I32, 4, 4, &buf) && fill(ctx, "iota", SC_I32, 0, 0, &buf) && fill(ctx, "uniform", SC_I32, 0, 0, &buf));
    static const struct {
        const char *spec;
        Scalar type;
        int64_t idx;
    } bad[] = {{"unform", SC_F32, -1},       {"300", SC_U8, -1},          {"-1", SC_U64, -1},     {"1.5", SC_I32, -1},   {"1e6", SC_F16, -1},
               {"const:", SC_F32, -1},       {"const:x", SC_F32, -1},     {"uniform:", SC_F32, -1}, {"uniform:1", SC_F32, -1}, {"uniform:2:1", SC_I32, -1},
               {"uniform:0:inf", SC_F32, -1}, {"uniform:0:9", SC_I32, 9}, {"4", SC_I32, 4},       {"ones", SC_I32, 1},   {"iota", SC_I32, 0},
               {"nan", SC_I32, -1},          {"0x10", SC_I32, -1},        {" 1", SC_I32, -1},     {"normal:1", SC_F32, -1}, {"18446744073709551616", SC_U64, -1},
               {"", SC_F32, -1},             {"2", SC_BOOL, -1}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (!CHECK(!fill(ctx, bad[i].spec, bad[i].type, 3, bad[i].idx, &buf)))
            printf("accepted: %s\n", bad[i].spec);
    CHECK(input_is_spec("iota") && input_is_spec("3") && input_is_spec("-1e5") && input_is_spec("uniform:0:1") && input_is_spec("const:3"));
    CHECK(!input_is_spec("xs.npy") && !input_is_spec("-") && !input_is_spec("3.npy") && !input_is_spec("") && !input_is_spec("."));
}

static void all(Ctx *ctx, void *user)
{
    (void)user;
    round_trip(ctx);
    by_others(ctx);
    refusals(ctx);
    inputs(ctx);
}

static void damaged(Ctx *ctx, void *user)
{
    (void)user;
    damage(ctx);
}

int main(void)
{
    Ctx *ctx = ctx_new(NULL, NULL);
    CHECK(ctx_try(ctx, all, NULL));
    ctx_free(ctx);
    ctx = ctx_new(NULL, NULL);
    CHECK(ctx_try(ctx, damaged, NULL));
    ctx_free(ctx);
    printf("npy: %ld checks, %ld wrong\n", unit_checks, unit_failures);
    return unit_failures != 0;
}
