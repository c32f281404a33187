/* The arithmetic of scalars: small types in full against plain integers, halves against the definition of rounding. */
#include <math.h>
#include <stdlib.h>

#include "ir/scalar.h"
#include "unit.h"

static uint64_t state = 88172645463325252u;

static uint64_t next(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static ScalarValue of(Scalar type, int64_t v) { return scalar_int(type, v); }
static ScalarValue flt(Scalar type, double v) { return scalar_float(type, v); }

static bool same(ScalarValue a, ScalarValue b)
{
    if (a.type != b.type)
        return false;
    if (scalar_is_float(a.type))
        return (a.f != a.f && b.f != b.f) || (a.f == b.f && signbit(a.f) == signbit(b.f));
    return a.u == b.u;
}

static ScalarValue apply(PrimId op, ScalarValue a, ScalarValue b)
{
    ScalarValue args[3] = {a, b, a};
    return scalar_apply(op, a.type, args);
}

static bool is_binary_int(PrimId op, Scalar type, int64_t a, int64_t b, int64_t *r)
{
    bool is_signed = scalar_is_signed(type);
    int64_t lowest = is_signed ? -128 : 0;
    switch ((int)op) {
    case P_add:
        *r = a + b;
        return true;
    case P_sub:
        *r = a - b;
        return true;
    case P_mul:
        *r = a * b;
        return true;
    case P_div:
        *r = b == 0 || (a == lowest && b == -1) ? 0 : a / b;
        return true;
    case P_mod:
        *r = b == 0 ? 0 : a % b;
        return true;
    case P_bitAnd:
        *r = a & b;
        return true;
    case P_bitOr:
        *r = a | b;
        return true;
    case P_bitXor:
        *r = a ^ b;
        return true;
    case P_shl:
        *r = b < 0 || b >= 8 ? 0 : a * (1 << b);
        return true;
    case P_shr:
        *r = b < 0 || b >= 8 ? 0 : a >> b;
        return true;
    case P_min:
        *r = a < b ? a : b;
        return true;
    case P_max:
        *r = a > b ? a : b;
        return true;
    }
    return false;
}

static void small_integers(void)
{
    static const PrimId ops[] = {P_add, P_sub, P_mul, P_div, P_mod, P_bitAnd, P_bitOr, P_bitXor, P_shl, P_shr, P_min, P_max};
    for (int t = 0; t < 2; t++) {
        Scalar type = t ? SC_U8 : SC_I8;
        int64_t lo = t ? 0 : -128, hi = t ? 255 : 127;
        for (int64_t a = lo; a <= hi; a++) {
            CHECK(same(apply(P_neg, of(type, a), of(type, 0)), of(type, -a)));
            CHECK(same(apply(P_abs, of(type, a), of(type, 0)), of(type, a < 0 ? -a : a)));
            int ones = 0, zeros = 8;
            for (int bit = 0; bit < 8; bit++)
                if (a >> bit & 1) {
                    ones++;
                    zeros = 7 - bit;
                }
            CHECK(apply(P_popc, of(type, a), of(type, 0)).i == ones);
            CHECK(apply(P_clz, of(type, a), of(type, 0)).i == zeros);
            for (int64_t b = lo; b <= hi; b++) {
                bool good = true;
                for (size_t k = 0; k < sizeof ops / sizeof ops[0]; k++) {
                    int64_t r = 0;
                    is_binary_int(ops[k], type, a, b, &r);
                    good = good && same(apply(ops[k], of(type, a), of(type, b)), of(type, r));
                }
                good = good && apply(P_lt, of(type, a), of(type, b)).i == (a < b) && apply(P_le, of(type, a), of(type, b)).i == (a <= b) &&
                       apply(P_gt, of(type, a), of(type, b)).i == (a > b) && apply(P_ge, of(type, a), of(type, b)).i == (a >= b) &&
                       apply(P_eq, of(type, a), of(type, b)).i == (a == b) && apply(P_ne, of(type, a), of(type, b)).i == (a != b);
                CHECK(good);
            }
        }
    }
}

static void wide_integers(void)
{
    ScalarValue lowest = of(SC_I64, INT64_MIN), minus = of(SC_I64, -1), one = of(SC_I64, 1);
    CHECK(apply(P_div, lowest, minus).i == 0);
    CHECK(apply(P_mod, lowest, minus).i == 0);
    CHECK(apply(P_div, of(SC_I32, INT32_MIN), of(SC_I32, -1)).i == 0);
    CHECK(apply(P_sub, lowest, one).i == INT64_MAX);
    CHECK(apply(P_neg, lowest, one).i == INT64_MIN);
    CHECK(apply(P_add, of(SC_I32, INT32_MAX), of(SC_I32, 1)).i == INT32_MIN);
    CHECK(apply(P_shr, lowest, of(SC_I64, 63)).i == -1);
    CHECK(apply(P_shr, of(SC_U64, -1), of(SC_U64, 63)).u == 1);
    CHECK(apply(P_shl, of(SC_U32, 1), of(SC_U32, 31)).u == 0x80000000u);
    CHECK(apply(P_shl, of(SC_U32, 1), of(SC_U32, 32)).u == 0);
    CHECK(apply(P_div, of(SC_U64, -1), of(SC_U64, 2)).u == UINT64_MAX / 2);
    CHECK(apply(P_lt, of(SC_U64, -1), of(SC_U64, 2)).i == 0);
    CHECK(apply(P_max, of(SC_U64, -1), of(SC_U64, 2)).u == UINT64_MAX);
    CHECK(apply(P_clz, of(SC_I64, 0), one).i == 64);
    CHECK(apply(P_clz, of(SC_I32, -1), of(SC_I32, 0)).i == 0);
    CHECK(apply(P_popc, of(SC_I32, -1), of(SC_I32, 0)).i == 32);
    CHECK(apply(P_and, of(SC_BOOL, 1), of(SC_BOOL, 0)).i == 0);
    CHECK(apply(P_or, of(SC_BOOL, 1), of(SC_BOOL, 0)).i == 1);
    CHECK(apply(P_not, of(SC_BOOL, 1), of(SC_BOOL, 0)).i == 0);
    ScalarValue args[3] = {of(SC_BOOL, 0), of(SC_I32, 7), of(SC_I32, 8)};
    CHECK(scalar_apply(P_select, SC_I32, args).i == 8);
}

static void halves(void)
{
    for (uint32_t bits = 0; bits < 0x10000; bits++) {
        double h = f16_to_double((uint16_t)bits), b = bf16_to_double((uint16_t)bits);
        CHECK(h != h || f16_from_double(h) == bits);
        CHECK(b != b || bf16_from_double(b) == bits);
        CHECK((h != h) == ((bits & 0x7fff) > 0x7c00));
        CHECK((b != b) == ((bits & 0x7fff) > 0x7f80));
        uint32_t wide = bits << 16;
        float f;
        memcpy(&f, &wide, sizeof f);
        CHECK((b != b && f != f) || b == (double)f);
        /* Between two neighbours the nearer one, in the middle the even one. */
        if ((bits & 0x7fff) < 0x7bff) {
            double up = f16_to_double((uint16_t)(bits + 1)), middle = h / 2 + up / 2;
            uint32_t even = bits & 1 ? bits + 1 : bits;
            CHECK(f16_from_double(middle) == even);
            CHECK(f16_from_double(nextafter(middle, h)) == bits);
            CHECK(f16_from_double(nextafter(middle, up)) == bits + 1);
        }
        if ((bits & 0x7fff) < 0x7f7f) {
            double up = bf16_to_double((uint16_t)(bits + 1)), middle = b / 2 + up / 2;
            uint32_t even = bits & 1 ? bits + 1 : bits;
            CHECK(bf16_from_double(middle) == even);
            CHECK(bf16_from_double(nextafter(middle, b)) == bits);
            CHECK(bf16_from_double(nextafter(middle, up)) == bits + 1);
        }
    }
    CHECK(f16_to_double(0x3c00) == 1 && f16_to_double(0x7bff) == 65504 && f16_to_double(1) == 0x1p-24);
    CHECK(f16_from_double(65519.999) == 0x7bff && f16_from_double(65520) == 0x7c00 && f16_from_double(-1e300) == 0xfc00);
    CHECK(bf16_from_double(1) == 0x3f80 && bf16_from_double(3.4e38) == 0x7f80 && bf16_from_double(1e-300) == 0);
    CHECK(f16_from_double(-0.0) == 0x8000 && bf16_from_double(-1e-300) == 0x8000);
}

static void floats(void)
{
    for (int i = 0; i < 200000; i++) {
        uint32_t x = (uint32_t)next(), y = (uint32_t)next();
        float a, b;
        memcpy(&a, &x, 4);
        memcpy(&b, &y, 4);
        ScalarValue va = flt(SC_F32, (double)a), vb = flt(SC_F32, (double)b);
        volatile float sum = a + b, difference = a - b, product = a * b, quotient = a / b;
        CHECK(same(apply(P_add, va, vb), flt(SC_F32, (double)sum)) && same(apply(P_sub, va, vb), flt(SC_F32, (double)difference)) &&
              same(apply(P_mul, va, vb), flt(SC_F32, (double)product)) && same(apply(P_div, va, vb), flt(SC_F32, (double)quotient)));
        CHECK(apply(P_lt, va, vb).i == (a < b) && apply(P_eq, va, va).i == (a == a) && apply(P_ne, va, va).i == (a != a));
        CHECK(same(apply(P_add, flt(SC_F64, (double)a), flt(SC_F64, (double)b)), flt(SC_F64, (double)a + (double)b)));
        /* Halves: computed in float, which holds sums and products of halves exactly or rounds them innocuously. */
        double ha = f16_to_double((uint16_t)x), hb = f16_to_double((uint16_t)y);
        if (ha == ha && hb == hb) {
            double exact = ha * hb;
            CHECK(same(apply(P_mul, flt(SC_F16, ha), flt(SC_F16, hb)), flt(SC_F16, exact)));
            exact = ha + hb;
            CHECK(same(apply(P_add, flt(SC_F16, ha), flt(SC_F16, hb)), flt(SC_F16, exact)));
        }
    }
    static const Scalar types[] = {SC_F16, SC_BF16, SC_F32, SC_F64};
    for (int t = 0; t < 4; t++) {
        ScalarValue nan = flt(types[t], (double)NAN), two = flt(types[t], 2), zero = flt(types[t], 0.0), minus = flt(types[t], -0.0);
        CHECK(same(apply(P_min, nan, two), two) && same(apply(P_min, two, nan), two) && same(apply(P_max, nan, two), two));
        CHECK(same(apply(P_min, zero, minus), minus) && same(apply(P_min, minus, zero), minus));
        CHECK(same(apply(P_max, zero, minus), zero) && same(apply(P_max, minus, zero), zero));
        CHECK(same(apply(P_round, flt(types[t], 2.5), zero), two) && same(apply(P_floor, flt(types[t], -1.5), zero), flt(types[t], -2)));
        CHECK(same(apply(P_ceil, flt(types[t], 1.5), zero), two) && same(apply(P_abs, flt(types[t], -2), zero), two));
        CHECK(same(apply(P_neg, zero, zero), minus) && same(apply(P_sqrt, flt(types[t], 4), zero), two));
        CHECK(same(apply(P_rsqrt, flt(types[t], 0.25), zero), two) && same(apply(P_exp2, flt(types[t], 1), zero), two));
        CHECK(same(apply(P_log2, flt(types[t], 4), zero), two) && same(apply(P_pow, flt(types[t], 4), flt(types[t], 0.5)), two));
        CHECK(same(apply(P_exp, zero, zero), flt(types[t], 1)) && same(apply(P_log, flt(types[t], 1), zero), zero));
        CHECK(same(apply(P_sin, zero, zero), zero) && same(apply(P_cos, zero, zero), flt(types[t], 1)) && same(apply(P_tanh, zero, zero), zero));
    }
    /* fma rounds once: (1 + e)(1 - e) - 1 = -e^2. */
    ScalarValue args[3] = {flt(SC_F32, 1 + 0x1p-20), flt(SC_F32, 1 - 0x1p-20), flt(SC_F32, -1)};
    CHECK(scalar_apply(P_fma, SC_F32, args).f == -0x1p-40);
}

/* ---- fma of 16-bit floats ------------------------------------------------------------------------------------------------ */

enum { WORDS = 24 }; /* of 32 bits: any sum of a product and a number, as an integer times the least product there is */

typedef struct Wide {
    bool negative;
    uint32_t words[WORDS];
} Wide;

/* An integer below 2^64, times 2^shift. */
static Wide wide(bool negative, uint64_t m, int shift)
{
    Wide w = {.negative = negative};
    for (int i = 0; i < 64; i++)
        if (m >> i & 1)
            w.words[(shift + i) / 32] |= 1u << (shift + i) % 32;
    return w;
}

static int compare_magnitudes(const Wide *a, const Wide *b)
{
    for (int i = WORDS; i-- > 0;)
        if (a->words[i] != b->words[i])
            return a->words[i] > b->words[i] ? 1 : -1;
    return 0;
}

static Wide wide_sum(Wide a, Wide b)
{
    if (compare_magnitudes(&a, &b) < 0) {
        Wide t = a;
        a = b;
        b = t;
    }
    int64_t carry = 0;
    for (int i = 0; i < WORDS; i++) {
        int64_t sum = (int64_t)a.words[i] + (a.negative == b.negative ? 1 : -1) * (int64_t)b.words[i] + carry;
        a.words[i] = (uint32_t)sum;
        carry = sum >> 32;
    }
    return a;
}

static Wide wide_double(Wide a)
{
    for (int i = WORDS; i-- > 0;)
        a.words[i] = a.words[i] << 1 | (i ? a.words[i - 1] >> 31 : 0);
    return a;
}

/* A finite 16-bit float is its integer times 2^(its exponent), which counts from that of the least one. */
static void parts(uint16_t bits, int mant, uint64_t *m, int *exponent)
{
    int e = (bits & 0x7fff) >> mant;
    *m = (bits & ((1u << mant) - 1)) | (e ? 1u << mant : 0);
    *exponent = e ? e - 1 : 0;
}

/* Twice as many of the least products: 2^(2 * unit), where the least number is 2^unit. */
static Wide wide_of(uint16_t bits, int mant, int least)
{
    uint64_t m;
    int e;
    parts(bits, mant, &m, &e);
    return wide(bits >> 15, m, e + least);
}

/* Whether `got` is the float next to a * b + c; of two the even one. */
static bool is_nearest(uint16_t a, uint16_t b, uint16_t c, uint16_t got, int mant, int bias)
{
    uint64_t ma, mb;
    int ea, eb, least = bias - 1 + mant; /* the least number is 2^-least, the least product 2^(-2 * least) */
    parts(a, mant, &ma, &ea);
    parts(b, mant, &mb, &eb);
    Wide exact = wide_sum(wide((a ^ b) >> 15, ma * mb, ea + eb), wide_of(c, mant, least));
    uint16_t inf = (uint16_t)(0x7fff >> mant << mant), size = got & 0x7fff;
    if (size > inf)
        return false;
    /* Its neighbours' middles: the exact value lies between them, and on one only where `got` is even. Behind the largest stands the next power of two. */
    Wide twice = wide_double(exact);
    twice.negative = false;
    Wide low = size ? wide_sum(wide_of(size, mant, least), wide_of((uint16_t)(size - 1), mant, least)) : wide(false, 0, 0);
    int from = size ? compare_magnitudes(&twice, &low) : 1;
    int to = -1;
    if (size < inf) {
        Wide high = wide_sum(wide_of(size, mant, least), wide_of((uint16_t)(size + 1), mant, least));
        to = compare_magnitudes(&twice, &high);
    }
    bool inside = (got & 1 ? from > 0 && to < 0 : from >= 0 && to <= 0);
    Wide none = {0};
    bool zero = compare_magnitudes(&exact, &none) == 0;
    return inside && (zero || (got >> 15) == exact.negative);
}

/* Operands whose sum is near a middle between two floats, and any. */
static void half_fma(void)
{
    static const struct { Scalar type; int mant, bias; } kinds[] = {{SC_F16, 10, 15}, {SC_BF16, 7, 127}};
    enum { TRIES = 400000 };
    for (int k = 0; k < 2; k++) {
        uint64_t random_bits = 20261122;
        uint16_t inf = (uint16_t)(0x7fff >> kinds[k].mant << kinds[k].mant);
        for (int i = 0; i < TRIES; i++) {
            uint16_t bits[3], got;
            for (int j = 0; j < 3; j++) {
                random_bits = random_bits * 6364136223846793005u + 1442695040888963407u;
                bits[j] = (uint16_t)(random_bits >> 40);
            }
            if (i % 2) { /* few bits each, of numbers about 1: middles, and what is far below */
                bits[0] = (uint16_t)((inf / 2 & ~((1 << kinds[k].mant) - 1)) + (bits[0] & (0x8000 | ((1 << kinds[k].mant) - 1))));
                bits[1] = (uint16_t)((inf / 2 & ~((1 << kinds[k].mant) - 1)) + (bits[1] & (0x8000 | ((3 << kinds[k].mant) - 1))));
                bits[2] = (uint16_t)(i % 4 == 1 ? bits[2] & 0x803f : bits[2]);
            }
            if ((bits[0] & 0x7fff) >= inf || (bits[1] & 0x7fff) >= inf || (bits[2] & 0x7fff) >= inf)
                continue;
            ScalarValue args[3];
            for (int j = 0; j < 3; j++)
                args[j] = scalar_load(kinds[k].type, &bits[j]);
            scalar_store(scalar_apply(P_fma, kinds[k].type, args), &got);
            CHECK(is_nearest(bits[0], bits[1], bits[2], got, kinds[k].mant, kinds[k].bias));
        }
    }
    ScalarValue args[3] = {flt(SC_F16, 0.04415893554687500), flt(SC_F16, -12824), flt(SC_F16, 0.04415893554687500)};
    CHECK(scalar_apply(P_fma, SC_F16, args).f == -566.5);
    ScalarValue infinite[3] = {flt(SC_BF16, (double)INFINITY), flt(SC_BF16, 0), flt(SC_BF16, 1)};
    CHECK(isnan(scalar_apply(P_fma, SC_BF16, infinite).f));
    infinite[1] = flt(SC_BF16, -2);
    CHECK(scalar_apply(P_fma, SC_BF16, infinite).f == -(double)INFINITY);
}

static void casts(void)
{
    CHECK(scalar_cast(SC_I32, flt(SC_F32, 1e20)).i == INT32_MAX && scalar_cast(SC_I32, flt(SC_F32, -1e20)).i == INT32_MIN);
    CHECK(scalar_cast(SC_I32, flt(SC_F64, (double)NAN)).i == 0 && scalar_cast(SC_U8, flt(SC_F64, -1)).i == 0);
    CHECK(scalar_cast(SC_U8, flt(SC_F64, 255.9)).i == 255 && scalar_cast(SC_U8, flt(SC_F64, 256)).i == 255);
    CHECK(scalar_cast(SC_I8, flt(SC_F64, -128.9)).i == -128 && scalar_cast(SC_I8, flt(SC_F64, -1.9)).i == -1);
    CHECK(scalar_cast(SC_U64, flt(SC_F64, 0x1p64)).u == UINT64_MAX && scalar_cast(SC_U64, flt(SC_F64, 0x1p63)).u == 1ull << 63);
    CHECK(scalar_cast(SC_I64, flt(SC_F64, 0x1p63)).i == INT64_MAX && scalar_cast(SC_I64, flt(SC_F64, -0x1p63)).i == INT64_MIN);
    CHECK(scalar_cast(SC_I64, flt(SC_F64, (double)INFINITY)).i == INT64_MAX && scalar_cast(SC_I64, flt(SC_F64, -(double)INFINITY)).i == INT64_MIN);
    CHECK(scalar_cast(SC_U8, of(SC_I32, 300)).i == 44 && scalar_cast(SC_I8, of(SC_I32, 200)).i == -56);
    CHECK(scalar_cast(SC_BOOL, of(SC_I32, 2)).i == 1 && scalar_cast(SC_I32, of(SC_BOOL, 1)).i == 1);
    CHECK(scalar_cast(SC_F32, of(SC_U64, -1)).f == 0x1p64 && scalar_cast(SC_F64, of(SC_I64, -3)).f == -3);
    CHECK(scalar_cast(SC_F16, flt(SC_F64, 1 + 0x1p-11 + 0x1p-40)).f == 1 + 0x1p-10); /* once, not by way of f32 */
    /* 2^60 + 2^52 lies between two bf16; a bit far below decides the tie. */
    int64_t tie = (1ll << 60) + (1ll << 52);
    CHECK(scalar_int(SC_BF16, tie).f == 0x1p60 && scalar_int(SC_BF16, tie + 1).f == 0x1p60 + 0x1p53);
    CHECK(scalar_int(SC_BF16, -tie - 1).f == -0x1p60 - 0x1p53);
    CHECK(scalar_int(SC_F32, (1ll << 24) + 1).f == 0x1p24 && scalar_int(SC_F32, INT64_MAX).f == 0x1p63);
    for (int i = 0; i < 20000; i++) {
        int64_t v = (int64_t)(next() >> (next() & 63));
        v = next() & 1 ? -v : v;
        for (int t = 0; t < SC_COUNT; t++) {
            Scalar type = (Scalar)t;
            ScalarValue got = scalar_int(type, v);
            bool fits = scalar_is_float(type) ? fabs(got.f) <= 0x1p63 && (got.f < 0x1p63) && (int64_t)got.f == v && isfinite(got.f)
                                              : got.i == v && (type != SC_U64 || v >= 0);
            if (v == INT64_MIN)
                continue;
            CHECK(scalar_int_fits(type, v) == fits);
        }
    }
    CHECK(scalar_int_fits(SC_F16, 65504) && !scalar_int_fits(SC_F16, 65536) && !scalar_int_fits(SC_F16, 2049) && scalar_int_fits(SC_F16, 2050));
    CHECK(scalar_int_fits(SC_F32, INT64_MIN) && scalar_int_fits(SC_BF16, INT64_MIN) && !scalar_int_fits(SC_F32, INT64_MAX));
    CHECK(scalar_int_fits(SC_BOOL, 1) && !scalar_int_fits(SC_BOOL, 2) && !scalar_int_fits(SC_BOOL, -1));
}

static void memory(void)
{
    for (int t = 0; t < SC_COUNT; t++)
        for (int i = 0; i < 2000; i++) {
            Scalar type = (Scalar)t;
            ScalarValue v = scalar_is_float(type) ? flt(type, ldexp((double)(int64_t)next(), (int)(next() % 60) - 70)) : of(type, (int64_t)next());
            unsigned char bytes[9] = {0};
            bytes[scalar_bytes(type)] = 0xa5;
            scalar_store(v, bytes);
            CHECK(same(scalar_load(type, bytes), v) && bytes[scalar_bytes(type)] == 0xa5);
        }
}

static void named(void)
{
    ScalarValue v, unit;
    CHECK(scalar_named(SC_F32, "lowest", &v) && v.f == -0x1.fffffep127);
    CHECK(scalar_named(SC_F16, "highest", &v) && v.f == 65504);
    CHECK(scalar_named(SC_BF16, "highest", &v) && bf16_from_double(v.f) == 0x7f7f);
    CHECK(scalar_named(SC_F64, "highest", &v) && v.f == 0x1.fffffffffffffp1023);
    CHECK(scalar_named(SC_I8, "lowest", &v) && v.i == -128 && scalar_named(SC_I8, "highest", &v) && v.i == 127);
    CHECK(scalar_named(SC_U64, "highest", &v) && v.u == UINT64_MAX && scalar_named(SC_I64, "lowest", &v) && v.i == INT64_MIN);
    CHECK(!scalar_named(SC_I32, "inf", &v) && !scalar_named(SC_BOOL, "lowest", &v) && !scalar_named(SC_F32, "low", &v));
    CHECK(scalar_named(SC_F32, "nan", &v) && v.f != v.f && scalar_named(SC_F32, "inf", &v) && isinf(v.f));
    static const PrimId ops[] = {P_add, P_mul, P_min, P_max, P_and, P_or, P_bitAnd, P_bitOr, P_bitXor};
    for (size_t k = 0; k < sizeof ops / sizeof ops[0]; k++)
        for (int t = 0; t < SC_COUNT; t++) {
            Scalar type = (Scalar)t;
            if (!scalar_unit(ops[k], type, &unit))
                continue;
            for (int64_t x = -3; x < 4; x++) {
                ScalarValue value = of(type, x);
                CHECK(same(apply(ops[k], unit, value), value) && same(apply(ops[k], value, unit), value));
            }
        }
    CHECK(!scalar_unit(P_sub, SC_I32, &unit) && !scalar_unit(P_add, SC_BOOL, &unit) && !scalar_unit(P_bitAnd, SC_F32, &unit));
    /* Never a trap, whatever the bits. */
    for (int i = 0; i < 100000; i++) {
        PrimId op = (PrimId)(P_add + (int)(next() % (P_select - P_add + 1)));
        Scalar type = (Scalar)(next() % SC_COUNT);
        if (op == P_cast)
            continue;
        unsigned char bytes[24];
        ScalarValue args[3];
        for (int k = 0; k < 3; k++) {
            uint64_t r = next() >> (next() & 63);
            memcpy(bytes + 8 * k, &r, 8);
            args[k] = scalar_load(type, bytes + 8 * k);
        }
        if (op == P_select)
            args[0] = of(SC_BOOL, 1);
        ScalarValue r = scalar_apply(op, type, args);
        unsigned char out[8];
        scalar_store(r, out);
        CHECK(same(scalar_load(r.type, out), r));
    }
}

int main(void)
{
    small_integers();
    wide_integers();
    halves();
    floats();
    half_fma();
    casts();
    memory();
    named();
    printf("scalar: %ld checks, %ld wrong\n", unit_checks, unit_failures);
    return unit_failures != 0;
}
