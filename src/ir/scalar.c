/* Needs -ffp-contract=off where the compiler does not have it anyway (gcc has, under -std=c11; clang has not): no function here may be
 * rounded once where it should be twice. The machine rounds to nearest even and evaluates float in float, as every one with SSE2
 * or NEON does. */
#include "ir/scalar.h"

#include <fenv.h>
#include <float.h>
#include <math.h>

_Static_assert(FLT_EVAL_METHOD == 0, "float arithmetic is rounded to float");

/* ---- half precision --------------------------------------------------------------------------------------------- */

static uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static double double_of(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* To a 16-bit format with `mant` bits after the leading one and this exponent bias; nearest even, once. */
static uint16_t narrow(double x, int mant, int bias)
{
    uint64_t bits = bits_of(x);
    uint16_t sign = (uint16_t)(bits >> 63 << 15), exponents = (uint16_t)(0x7fff >> mant << mant);
    bits &= ~0ull >> 1;
    int exponent = (int)(bits >> 52) - 1023 + bias;
    if (x != x)
        return 0x7fff; /* the only NaN that a GPU's conversions give */
    if (exponent >= exponents >> mant)
        return sign | exponents;
    if (exponent < 1) { /* subnormal there: a multiple of 2^(1 - bias - mant); the product is exact */
        double steps = nearbyint(double_of(bits) * double_of((uint64_t)(1023 + bias - 1 + mant) << 52));
        return (uint16_t)(sign | (uint16_t)steps);
    }
    int drop = 52 - mant;
    uint64_t kept = (bits & (~0ull >> 12)) >> drop, rest = bits & ((1ull << drop) - 1), half = 1ull << (drop - 1);
    kept += rest > half || (rest == half && (kept & 1));
    /* A carry goes on into the exponent, up to infinity. */
    return (uint16_t)(sign | (((uint64_t)exponent << mant) + kept));
}

static double widen(uint16_t bits, int mant, int bias)
{
    uint64_t sign = (uint64_t)(bits >> 15) << 63, m = bits & ((1u << mant) - 1u);
    int exponent = (bits & 0x7fff) >> mant;
    if (exponent == 0x7fff >> mant)
        return double_of(sign | 0x7ffull << 52 | m << (52 - mant));
    if (exponent == 0) {
        double x = (double)m * double_of((uint64_t)(1023 + 1 - bias - mant) << 52);
        return sign ? -x : x;
    }
    return double_of(sign | (uint64_t)(exponent - bias + 1023) << 52 | m << (52 - mant));
}

uint16_t f16_from_double(double value) { return narrow(value, 10, 15); }
double f16_to_double(uint16_t bits) { return widen(bits, 10, 15); }
uint16_t bf16_from_double(double value) { return narrow(value, 7, 127); }
double bf16_to_double(uint16_t bits) { return widen(bits, 7, 127); }

/* ---- making ----------------------------------------------------------------------------------------------------- */

static int width_of(Scalar type) { return scalar_bytes(type) * 8; }

static int64_t wrap(Scalar type, uint64_t v)
{
    switch (type) {
    case SC_BOOL:
        return v != 0;
    case SC_I8:
        return (int8_t)v;
    case SC_I16:
        return (int16_t)v;
    case SC_I32:
        return (int32_t)v;
    case SC_U8:
        return (uint8_t)v;
    case SC_U16:
        return (uint16_t)v;
    case SC_U32:
        return (uint32_t)v;
    case SC_I64:
    case SC_U64:
    case SC_F16:
    case SC_BF16:
    case SC_F32:
    case SC_F64:
    case SC_COUNT:
        break;
    }
    return (int64_t)v;
}

/* Rounding without the machine's arithmetic leaves the machine's note all the same: see Note [Exact runs] in driver/results.h. */
static double rounded(double to, double from, double smallest_normal)
{
    if (to != from)
        feraiseexcept(FE_INEXACT | (isinf(to) ? FE_OVERFLOW : fabs(from) < smallest_normal ? FE_UNDERFLOW : 0));
    return to;
}

static double precision(Scalar type, double value)
{
    switch ((int)type) {
    case SC_F32:
        return (float)value;
    case SC_F16:
        return rounded(f16_to_double(f16_from_double(value)), value, 0x1p-14);
    case SC_BF16:
        return rounded(bf16_to_double(bf16_from_double(value)), value, 0x1p-126);
    }
    return value;
}

static inline ScalarValue of_int(Scalar type, uint64_t v) { return (ScalarValue){.type = type, .i = wrap(type, v)}; }
static inline ScalarValue of_bool(bool v) { return (ScalarValue){.type = SC_BOOL, .i = v}; }
static inline ScalarValue of_float(Scalar type, double v) { return (ScalarValue){.type = type, .f = v}; }

/* Rounded once, also where the way to the type leads over double: bits below double's last are gathered into it, so that no tie
 * appears that was none. */
static double float_from_magnitude(Scalar type, uint64_t m, bool negative)
{
    if (type == SC_F32)
        return negative ? -(double)(float)m : (double)(float)m;
    if (type != SC_F64 && m >> 53) {
        bool sticky = (m & 0xffff) != 0;
        m = (m >> 16 << 16) | (uint64_t)sticky << 16;
    }
    double v = (double)m;
    return precision(type, negative ? -v : v);
}

ScalarValue scalar_int(Scalar type, int64_t value)
{
    if (!scalar_is_float(type))
        return of_int(type, (uint64_t)value);
    return of_float(type, float_from_magnitude(type, value < 0 ? 0 - (uint64_t)value : (uint64_t)value, value < 0));
}

static int64_t saturate(Scalar type, double v)
{
    if (v != v)
        return 0;
    int width = width_of(type);
    if (scalar_is_signed(type)) {
        double limit = double_of((uint64_t)(1023 + width - 1) << 52); /* 2^(width-1) */
        if (v >= limit)
            return (int64_t)(~0ull >> (65 - width));
        if (v < -limit)
            return -(int64_t)(~0ull >> (65 - width)) - 1;
        return (int64_t)v;
    }
    double limit = double_of((uint64_t)(1023 + width) << 52);
    if (v >= limit)
        return (int64_t)(~0ull >> (64 - width));
    return v <= 0 ? 0 : (int64_t)(uint64_t)v;
}

ScalarValue scalar_float(Scalar type, double value)
{
    if (scalar_is_float(type))
        return of_float(type, precision(type, value));
    if (type == SC_BOOL)
        return of_bool(value != 0);
    return (ScalarValue){.type = type, .i = saturate(type, value)};
}

ScalarValue scalar_cast(Scalar to, ScalarValue value)
{
    if (scalar_is_float(value.type))
        return scalar_float(to, value.f);
    if (value.type == SC_U64 && scalar_is_float(to))
        return of_float(to, float_from_magnitude(to, value.u, false));
    return scalar_int(to, value.i);
}

/* Significant bits, and the largest power of two below infinity. */
static void float_format(Scalar type, int *digits, int *max_exponent)
{
    *digits = type == SC_F16 ? 11 : type == SC_BF16 ? 8 : type == SC_F32 ? 24 : 53;
    *max_exponent = type == SC_F16 ? 15 : type == SC_F64 ? 1023 : 127;
}

bool scalar_int_fits(Scalar type, int64_t value)
{
    if (type == SC_U64)
        return value >= 0;
    if (!scalar_is_float(type))
        return type == SC_BOOL ? value == 0 || value == 1 : wrap(type, (uint64_t)value) == value;
    uint64_t m = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    int digits, max_exponent, width = 0;
    float_format(type, &digits, &max_exponent);
    while (width < 64 && m >> width)
        width++;
    return width - 1 <= max_exponent && (width <= digits || (m & ((1ull << (width - digits)) - 1)) == 0);
}

/* ---- arithmetic ------------------------------------------------------------------------------------------------- */

static inline double min_float(double a, double b)
{
    if (a != a)
        return b;
    if (b != b)
        return a;
    return a < b || (a == b && signbit(a)) ? a : b;
}

static inline double max_float(double a, double b)
{
    if (a != a)
        return b;
    if (b != b)
        return a;
    return a > b || (a == b && !signbit(a)) ? a : b;
}

/* Functions that float has no exact rule for are computed in double and rounded once. */
static double transcendental(PrimId op, double a, double b)
{
    switch ((int)op) {
    case P_rsqrt:
        return 1 / sqrt(a);
    case P_exp:
        return exp(a);
    case P_exp2:
        return exp2(a);
    case P_log:
        return log(a);
    case P_log2:
        return log2(a);
    case P_sin:
        return sin(a);
    case P_cos:
        return cos(a);
    case P_tan:
        return tan(a);
    case P_asin:
        return asin(a);
    case P_acos:
        return acos(a);
    case P_atan:
        return atan(a);
    case P_expm1:
        return expm1(a);
    case P_log1p:
        return log1p(a);
    case P_erf:
        return erf(a);
    case P_tanh:
        return tanh(a);
    case P_pow:
        return pow(a, b);
    }
    return 0;
}

/* a * b + c of 16-bit floats: the product is exact in double, and what the sum loses sets its last bit, so that rounding it again is rounding once. */
static double fma_to_odd(double a, double b, double c)
{
    double product = a * b, sum = product + c, added = sum - product, lost = (product - (sum - added)) + (c - added);
    uint64_t bits = bits_of(sum);
    if ((lost > 0 || lost < 0) && !(bits & 1))
        bits += (lost > 0) == (sum > 0) ? 1u : ~0ull;
    return double_of(bits);
}

static double apply_f32(PrimId op, float a, float b, float c)
{
    switch ((int)op) {
    case P_add:
        return a + b;
    case P_sub:
        return a - b;
    case P_mul:
        return a * b;
    case P_div:
        return a / b;
    case P_neg:
        return -a;
    case P_min:
        return min_float(a, b);
    case P_max:
        return max_float(a, b);
    case P_abs:
        return fabsf(a);
    case P_sqrt:
        return sqrtf(a);
    case P_floor:
        return floorf(a);
    case P_ceil:
        return ceilf(a);
    case P_round:
        return nearbyintf(a);
    case P_fma:
        return fmaf(a, b, c);
    }
    return (float)transcendental(op, a, b);
}

static double apply_f64(PrimId op, double a, double b, double c)
{
    switch ((int)op) {
    case P_add:
        return a + b;
    case P_sub:
        return a - b;
    case P_mul:
        return a * b;
    case P_div:
        return a / b;
    case P_neg:
        return -a;
    case P_min:
        return min_float(a, b);
    case P_max:
        return max_float(a, b);
    case P_abs:
        return fabs(a);
    case P_sqrt:
        return sqrt(a);
    case P_floor:
        return floor(a);
    case P_ceil:
        return ceil(a);
    case P_round:
        return nearbyint(a);
    case P_fma:
        return fma(a, b, c);
    }
    return transcendental(op, a, b);
}

static ScalarValue compare_float(PrimId op, double a, double b)
{
    switch ((int)op) {
    case P_eq:
        return of_bool(a == b);
    case P_ne:
        return of_bool(a != b);
    case P_lt:
        return of_bool(a < b);
    case P_le:
        return of_bool(a <= b);
    case P_gt:
        return of_bool(a > b);
    }
    return of_bool(a >= b);
}

static int popcount(uint64_t v) { return __builtin_popcountll(v); }

static int leading_zeros(uint64_t v, int width) { return v ? __builtin_clzll(v) - (64 - width) : width; }

static ScalarValue apply_int(PrimId op, Scalar type, ScalarValue a, ScalarValue b)
{
    bool is_signed = scalar_is_signed(type);
    switch ((int)op) {
    case P_add:
        return of_int(type, a.u + b.u);
    case P_sub:
        return of_int(type, a.u - b.u);
    case P_mul:
        return of_int(type, a.u * b.u);
    case P_div:
        if (b.u == 0)
            return of_int(type, 0);
        if (!is_signed)
            return of_int(type, a.u / b.u);
        /* minInt / -1 is unspecified, hence 0, in every width. */
        if (b.i == -1)
            return of_int(type, a.i == -(int64_t)(~0ull >> (65 - width_of(type))) - 1 ? 0 : 0 - a.u);
        return of_int(type, (uint64_t)(a.i / b.i));
    case P_mod:
        if (b.u == 0 || (is_signed && b.i == -1))
            return of_int(type, 0);
        return of_int(type, is_signed ? (uint64_t)(a.i % b.i) : a.u % b.u);
    case P_eq:
        return of_bool(a.u == b.u);
    case P_ne:
        return of_bool(a.u != b.u);
    case P_lt:
        return of_bool(is_signed ? a.i < b.i : a.u < b.u);
    case P_le:
        return of_bool(is_signed ? a.i <= b.i : a.u <= b.u);
    case P_gt:
        return of_bool(is_signed ? a.i > b.i : a.u > b.u);
    case P_ge:
        return of_bool(is_signed ? a.i >= b.i : a.u >= b.u);
    case P_and:
        return of_bool(a.u && b.u);
    case P_or:
        return of_bool(a.u || b.u);
    case P_not:
        return of_bool(!a.u);
    case P_neg:
        return of_int(type, 0 - a.u);
    case P_bitAnd:
        return of_int(type, a.u & b.u);
    case P_bitOr:
        return of_int(type, a.u | b.u);
    case P_bitXor:
        return of_int(type, a.u ^ b.u);
    case P_shl:
        return of_int(type, b.u < (uint64_t)width_of(type) ? a.u << b.u : 0);
    case P_shr:
        /* gcc and clang shift signed integers keeping the sign. */
        if (b.u >= (uint64_t)width_of(type))
            return of_int(type, 0);
        return of_int(type, is_signed ? (uint64_t)(a.i >> b.u) : a.u >> b.u);
    case P_popc:
        return of_int(type, (uint64_t)popcount(a.u & ~0ull >> (64 - width_of(type))));
    case P_clz:
        return of_int(type, (uint64_t)leading_zeros(a.u & ~0ull >> (64 - width_of(type)), width_of(type)));
    case P_min:
        return (is_signed ? a.i <= b.i : a.u <= b.u) ? a : b;
    case P_max:
        return (is_signed ? a.i >= b.i : a.u >= b.u) ? a : b;
    case P_abs:
        return is_signed && a.i < 0 ? of_int(type, 0 - a.u) : a;
    }
    return of_int(type, 0);
}

int scalar_operands(PrimId op)
{
    switch ((int)op) {
    case P_not:
    case P_neg:
    case P_popc:
    case P_clz:
    case P_abs:
    case P_sqrt:
    case P_rsqrt:
    case P_exp:
    case P_exp2:
    case P_log:
    case P_log2:
    case P_sin:
    case P_cos:
    case P_tan:
    case P_asin:
    case P_acos:
    case P_atan:
    case P_expm1:
    case P_log1p:
    case P_erf:
    case P_tanh:
    case P_floor:
    case P_ceil:
    case P_round:
        return 1;
    case P_fma:
    case P_select:
        return 3;
    }
    return 2;
}

ScalarValue scalar_apply(PrimId op, Scalar type, const ScalarValue *args)
{
    if (op == P_select)
        return args[0].i ? args[1] : args[2];
    int n = scalar_operands(op);
    ScalarValue a = args[0], b = n > 1 ? args[1] : a, c = n > 2 ? args[2] : a;
    if (!scalar_is_float(type))
        return apply_int(op, type, a, b);
    if (op >= P_eq && op <= P_ge)
        return compare_float(op, a.f, b.f);
    if (type == SC_F64)
        return of_float(type, apply_f64(op, a.f, b.f, c.f));
    if (op == P_fma && type != SC_F32)
        return of_float(type, precision(type, fma_to_odd(a.f, b.f, c.f)));
    double v = apply_f32(op, (float)a.f, (float)b.f, (float)c.f);
    return of_float(type, type == SC_F32 ? v : precision(type, v));
}

/* ---- memory ----------------------------------------------------------------------------------------------------- */

ScalarValue scalar_load(Scalar type, const void *at)
{
    union {
        int8_t i8;
        int16_t i16;
        int32_t i32;
        int64_t i64;
        uint8_t u8;
        uint16_t u16;
        uint32_t u32;
        float f32;
        double f64;
    } m;
    memcpy(&m, at, (size_t)scalar_bytes(type));
    switch (type) {
    case SC_BOOL:
        return of_bool(m.u8 != 0);
    case SC_I8:
        return (ScalarValue){.type = type, .i = m.i8};
    case SC_I16:
        return (ScalarValue){.type = type, .i = m.i16};
    case SC_I32:
        return (ScalarValue){.type = type, .i = m.i32};
    case SC_I64:
    case SC_U64:
        return (ScalarValue){.type = type, .i = m.i64};
    case SC_U8:
        return (ScalarValue){.type = type, .i = m.u8};
    case SC_U16:
        return (ScalarValue){.type = type, .i = m.u16};
    case SC_U32:
        return (ScalarValue){.type = type, .i = m.u32};
    case SC_F16:
        return of_float(type, f16_to_double(m.u16));
    case SC_BF16:
        return of_float(type, bf16_to_double(m.u16));
    case SC_F32:
        return of_float(type, m.f32);
    case SC_F64:
        return of_float(type, m.f64);
    case SC_COUNT:
        break;
    }
    return of_bool(false);
}

void scalar_store(ScalarValue value, void *at)
{
    switch (value.type) {
    case SC_F16:
    case SC_BF16: {
        uint16_t bits = value.type == SC_F16 ? f16_from_double(value.f) : bf16_from_double(value.f);
        memcpy(at, &bits, sizeof bits);
        return;
    }
    case SC_F32: {
        float f = (float)value.f;
        memcpy(at, &f, sizeof f);
        return;
    }
    case SC_F64:
        memcpy(at, &value.f, sizeof value.f);
        return;
    case SC_BOOL:
    case SC_I8:
    case SC_U8: {
        uint8_t v = (uint8_t)value.u;
        memcpy(at, &v, sizeof v);
        return;
    }
    case SC_I16:
    case SC_U16: {
        uint16_t v = (uint16_t)value.u;
        memcpy(at, &v, sizeof v);
        return;
    }
    case SC_I32:
    case SC_U32: {
        uint32_t v = (uint32_t)value.u;
        memcpy(at, &v, sizeof v);
        return;
    }
    case SC_I64:
    case SC_U64:
        memcpy(at, &value.u, sizeof value.u);
        return;
    case SC_COUNT:
        return;
    }
}

/* ---- for people -------------------------------------------------------------------------------------------------- */

void scalar_put(StrBuf *out, Scalar type, ScalarValue value)
{
    /* Whole numbers that the type tells apart from their neighbours read better without an exponent. */
    double whole = type == SC_F64 ? 1e15 : type == SC_F32 ? 0x1p24 : type == SC_F16 ? 0x1p11 : 0x1p8;
    if (type == SC_BOOL)
        sb_puts(out, value.i ? "true" : "false");
    else if (scalar_is_float(type) && fabs(value.f) <= whole && value.f == floor(value.f) && !(value.f == 0 && signbit(value.f)))
        sb_printf(out, "%lld", (long long)value.f);
    else if (scalar_is_float(type))
        sb_put_float(out, value.f, type != SC_F64);
    else if (scalar_is_signed(type))
        sb_printf(out, "%lld", (long long)value.i);
    else
        sb_printf(out, "%llu", (unsigned long long)value.u);
}

/* ---- named values ----------------------------------------------------------------------------------------------- */

bool scalar_named(Scalar type, const char *name, ScalarValue *value)
{
    bool lowest = strcmp(name, "lowest") == 0, highest = strcmp(name, "highest") == 0;
    if (scalar_is_float(type)) {
        int digits, max_exponent;
        float_format(type, &digits, &max_exponent);
        double ones = 2 - double_of((uint64_t)(1023 + 1 - digits) << 52);
        double largest = ones * double_of((uint64_t)(1023 + max_exponent) << 52);
        bool inf = strcmp(name, "inf") == 0, nan = strcmp(name, "nan") == 0;
        *value = of_float(type, inf ? (double)INFINITY : nan ? double_of(~0ull >> 1) : highest ? largest : -largest);
        return inf || nan || lowest || highest;
    }
    if (!scalar_is_int(type) || (!lowest && !highest))
        return false;
    int width = width_of(type);
    if (scalar_is_signed(type)) {
        int64_t largest = (int64_t)(~0ull >> (65 - width));
        *value = (ScalarValue){.type = type, .i = highest ? largest : -largest - 1};
    } else {
        *value = (ScalarValue){.type = type, .u = highest ? ~0ull >> (64 - width) : 0};
    }
    return true;
}

bool scalar_unit(PrimId op, Scalar type, ScalarValue *unit)
{
    bool number = type != SC_BOOL, integer = scalar_is_int(type);
    switch ((int)op) {
    case P_add:
        *unit = scalar_int(type, 0);
        return number;
    case P_mul:
        *unit = scalar_int(type, 1);
        return number;
    case P_min:
    case P_max:
        if (!number)
            return false;
        if (integer)
            return scalar_named(type, op == P_min ? "highest" : "lowest", unit);
        *unit = of_float(type, op == P_min ? (double)INFINITY : -(double)INFINITY);
        return true;
    case P_and:
    case P_or:
        *unit = of_bool(op == P_and);
        return !number;
    case P_bitAnd:
        *unit = scalar_int(type, -1);
        return integer;
    case P_bitOr:
    case P_bitXor:
        *unit = scalar_int(type, 0);
        return integer;
    }
    return false;
}
