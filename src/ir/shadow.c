/* See shadow.h. */
#include "ir/shadow.h"

#include <math.h>

/* ---- formats ---------------------------------------------------------------------------------------------------- */

typedef struct Format {
    int digits;     /* of the significand, the hidden one included */
    int least;      /* the exponent of the smallest number above 0 */
    double largest;
} Format;

static Format format_of(Scalar type)
{
    switch ((int)type) {
    case SC_F16: return (Format){11, -24, 65504};
    case SC_BF16: return (Format){8, -133, 0x1.fep127};
    case SC_F32: return (Format){24, -149, 0x1.fffffep127};
    default: return (Format){53, -1074, 0x1.fffffffffffffp1023};
    }
}

double shadow_ulp(Scalar type, double size)
{
    Format f = format_of(type);
    int exponent = f.least + f.digits;
    if (isfinite(size) && size > 0)
        frexp(size, &exponent);
    return ldexp(1, exponent - f.digits > f.least ? exponent - f.digits : f.least);
}

double shadow_least_normal(Scalar type)
{
    Format f = format_of(type);
    return ldexp(1, f.least + f.digits - 1);
}

/* ---- numbers of two doubles ------------------------------------------------------------------------------------- */

/* T. J. Dekker, "A floating-point technique for extending the available precision", Numerische Mathematik 18, 1971. */
typedef struct Pair {
    double high, low;
} Pair;

static Pair fast_sum(double a, double b)
{
    double s = a + b;
    return (Pair){s, b - (s - a)};
}

static Pair exact_sum(double a, double b)
{
    double s = a + b, t = s - a;
    return (Pair){s, (a - (s - t)) + (b - t)};
}

static Pair pair_add(Pair a, Pair b)
{
    Pair s = exact_sum(a.high, b.high), t = exact_sum(a.low, b.low);
    s = fast_sum(s.high, s.low + t.high);
    return fast_sum(s.high, s.low + t.low);
}

static Pair pair_mul(Pair a, Pair b)
{
    double p = a.high * b.high;
    if (!isfinite(p))
        return (Pair){p, 0};
    return fast_sum(p, fma(a.high, b.high, -p) + (a.high * b.low + a.low * b.high));
}

static Pair pair_div(Pair a, Pair b)
{
    double q = a.high / b.high;
    if (!isfinite(q))
        return (Pair){q, 0};
    Pair back = pair_mul((Pair){-q, 0}, b), rest = pair_add(a, back);
    return fast_sum(q, rest.high / b.high);
}

static Pair pair_sqrt(Pair a)
{
    double r = sqrt(a.high);
    if (!(r > 0) || !isfinite(r))
        return (Pair){r, 0};
    Pair rest = pair_add(a, pair_mul((Pair){-r, 0}, (Pair){r, 0}));
    return fast_sum(r, rest.high / (2 * r));
}

/* ---- values ------------------------------------------------------------------------------------------------------- */

static bool is_exact(const ShadowValue *x) { return x->error == 0 && x->level == 0; }
static bool is_lost(const ShadowValue *x) { return !(x->error < INFINITY); }
static Pair pair_of(const ShadowValue *x) { return (Pair){x->value, x->low}; }

void shadow_spoil(ShadowValue *x) { x->error = INFINITY; }

static ShadowValue lost(double value) { return (ShadowValue){.value = value, .error = INFINITY, .size = fabs(value)}; }

ShadowValue shadow_integer(int64_t value) { return (ShadowValue){.integer = value}; }

/* A radius that has no value (0 times infinity) is not known. */
static ShadowValue undecided_integer(int64_t value, double radius) { return (ShadowValue){.integer = value, .error = radius >= 0 ? radius : INFINITY}; }

/* The largest power of two that the number is a multiple of, as an exponent. */
static int64_t grain_of(double value)
{
    int exponent;
    if (value == 0 || !isfinite(value))
        return 4096;
    int64_t digits = (int64_t)ldexp(frexp(fabs(value), &exponent), 53);
    return exponent - 53 + __builtin_ctzll((uint64_t)digits);
}

static ShadowValue exact(double value) { return (ShadowValue){.value = value, .size = fabs(value), .grain = grain_of(value)}; }

ShadowValue shadow_of(ScalarValue value) { return scalar_is_float(value.type) ? exact(value.f) : shadow_integer(value.i); }

void shadow_close(ShadowValue *x, double chain)
{
    x->error = shadow_error(x, chain);
    x->level = 0;
}

static double larger(double a, double b) { return a > b ? a : b; }

/* ---- roundings ------------------------------------------------------------------------------------------------------ */

static bool ulps_of(PrimId op, double *f32, double *f64)
{
    switch ((int)op) {
#define ROUNDS(name, single, twice) case P_##name: *f32 = single; *f64 = twice; return true;
#include "ir/scalar_errors.def"
#undef ROUNDS
    }
    return false;
}

bool shadow_approximates(PrimId op)
{
    double f32, f64;
    return ulps_of(op, &f32, &f64) && f32 + f64 > 0;
}

bool shadow_rounds(PrimId op, Scalar to, Scalar from)
{
    double ignored;
    if (!scalar_is_float(to))
        return false;
    if (op != P_cast)
        return ulps_of(op, &ignored, &ignored);
    Format wide = format_of(from), narrow = format_of(to);
    return !scalar_is_float(from) || narrow.digits < wide.digits || narrow.least > wide.least || narrow.largest < wide.largest;
}

/* Half an ulp and the function's own distance, relative to the value. Functions are evaluated in double here, which is off itself. */
static double roundoff(PrimId op, Scalar type)
{
    double f32 = 0, f64 = 0;
    ulps_of(op, &f32, &f64);
    double unit = ldexp(1, -format_of(type).digits), own = f64 > 0 ? 0x1p-52 : 0;
    if (type == SC_F64)
        return (2 * f64 + 1) * unit + own;
    return (2 * f32 + 1) * 0x1p-24 + (type == SC_F32 ? 0 : unit) + own;
}

/* What one rounding of a result of this size is off at most. */
static double rounding(double relative, Scalar type, double size)
{
    return larger(relative * size, ldexp(0.5, format_of(type).least));
}

/* The result of an operation: its value, what its operands make it off, and its own rounding with `relative` (0: it does not round). */
static ShadowValue result(Scalar type, Pair value, double error, double size, double level, double relative, double chain)
{
    ShadowValue r = {.value = value.high, .low = value.low, .error = error, .size = larger(size, fabs(value.high)), .level = level, .grain = -4096};
    if (!isfinite(value.high))
        return lost(value.high);
    if (relative > 0 && chain > 0)
        r.level = larger(level, rounding(relative, type, r.size));
    else if (relative > 0)
        r.error += rounding(relative, type, fabs(value.high));
    double off = shadow_error(&r, chain);
    if (!(off < INFINITY) || fabs(value.high) + off > format_of(type).largest || (chain > 0 && r.size > format_of(type).largest))
        shadow_spoil(&r);
    return r;
}

/* ---- sums and products ------------------------------------------------------------------------------------------------ */

/* Is a number of this size, a multiple of 2^grain, one of the type, and all partial results as well? */
static bool fits_any_order(Scalar type, double size, int64_t grain)
{
    Format f = format_of(type);
    if (grain < f.least || grain > 2048)
        return size == 0;
    return size <= ldexp(1, (int)(f.digits + grain < 1023 ? f.digits + grain : 1023)) && size <= f.largest;
}

static ShadowValue sum(Scalar type, const ShadowValue *a, const ShadowValue *b, double sign, double chain)
{
    Pair value = pair_add(pair_of(a), (Pair){sign * b->value, sign * b->low});
    double size = a->size + b->size;
    int64_t grain = a->grain < b->grain ? a->grain : b->grain;
    if (is_exact(a) && is_exact(b) && isfinite(value.high)) {
        bool fits = chain > 0 ? fits_any_order(type, size, grain) : value.low == 0 && scalar_float(type, value.high).f == value.high;
        if (fits)
            return (ShadowValue){.value = value.high != 0 ? value.high : a->value + sign * b->value, .size = size, .grain = chain > 0 ? grain : grain_of(value.high)};
    }
    return result(type, value, a->error + b->error, size, a->level + b->level, roundoff(P_add, type), chain);
}

static ShadowValue product(Scalar type, const ShadowValue *a, const ShadowValue *b, double chain, bool rounds)
{
    Pair value = pair_mul(pair_of(a), pair_of(b));
    double size = a->size * b->size, x = fabs(a->value), y = fabs(b->value);
    int64_t grain = a->grain + b->grain;
    if (is_exact(a) && is_exact(b) && isfinite(value.high)) {
        bool fits = chain > 0 ? fits_any_order(type, size, grain) : value.low == 0 && scalar_float(type, value.high).f == value.high;
        if (a->value == 0 || b->value == 0 || (fits && (value.high != 0)))
            return (ShadowValue){.value = a->value * b->value, .size = size, .grain = chain > 0 ? grain : grain_of(value.high)};
    }
    double error = x * b->error + y * a->error + a->error * b->error;
    return result(type, value, error, size, x * b->level + y * a->level, rounds ? roundoff(P_mul, type) : 0, chain);
}

static ShadowValue quotient(Scalar type, const ShadowValue *a, const ShadowValue *b, double chain)
{
    Pair value = pair_div(pair_of(a), pair_of(b));
    double y = fabs(b->value), off = shadow_error(b, chain), q = fabs(value.high);
    if (is_exact(a) && is_exact(b)) {
        if (!isfinite(value.high))
            return b->value == 0 ? exact(value.high) : lost(value.high);
        if (value.low == 0 && scalar_float(type, value.high).f == value.high && pair_mul(value, pair_of(b)).high == a->value)
            return exact(value.high);
    }
    if (!(off < y))
        return lost(value.high);
    return result(type, value, (a->error + q * b->error) / (y - off), a->size / y, (a->level + q * b->level) / y, roundoff(P_div, type), chain);
}

/* ---- functions of one number -------------------------------------------------------------------------------------------- */

/* How much exp grows from x to x + off, over off. Far from x, the greatest value there says it. */
static double growth(double x, double off)
{
    return off > 1 ? exp(x + off) / off : off > 0 ? exp(x) * (expm1(off) / off) : exp(x);
}

/* Where it may be without a value (the root of a number that may be below 0), it is lost. */
static ShadowValue smooth(PrimId op, Scalar type, const ShadowValue *a, double chain)
{
    double x = a->value, off = shadow_error(a, chain), v = 0, slope = 0;
    Pair pair = {0, 0};
    switch ((int)op) {
    case P_sqrt:
        pair = pair_sqrt(pair_of(a));
        v = pair.high;
        if (is_exact(a) && (x <= 0 || (pair.low == 0 && scalar_float(type, v).f == v && v * v == x)))
            return exact(v);
        if (x - off < 0)
            return lost(v);
        slope = 1 / larger(v, sqrt(off));
        break;
    case P_rsqrt:
        v = 1 / sqrt(x);
        if (x - off <= 0)
            return is_exact(a) ? exact(v) : lost(v);
        slope = 0.5 * v / (x - off);
        break;
    case P_exp: v = exp(x); slope = growth(x, off); break;
    case P_exp2: v = exp2(x); slope = growth(x * 0.6931471805599453, off * 0.6931471805599453) * 0.6931471805599453; break;
    case P_log:
    case P_log2:
        v = op == P_log ? log(x) : log2(x);
        if (x - off <= 0)
            return is_exact(a) ? exact(v) : lost(v);
        slope = (op == P_log ? 1 : 1.4426950408889634) / (x - off);
        break;
    case P_sin: v = sin(x); slope = 1; break;
    case P_cos: v = cos(x); slope = 1; break;
    case P_tan:
        v = tan(x);
        slope = 1 / ((fabs(cos(x)) - off) * (fabs(cos(x)) - off));
        if (fabs(cos(x)) <= off) /* a pole may lie between */
            return lost(v);
        break;
    case P_asin:
    case P_acos:
        v = op == P_asin ? asin(x) : acos(x);
        if (fabs(x) + off > 1 || (fabs(x) + off == 1 && !is_exact(a)))
            return is_exact(a) ? exact(v) : lost(v);
        slope = is_exact(a) ? 0 : 1 / sqrt(1 - (fabs(x) + off) * (fabs(x) + off));
        break;
    case P_atan: v = atan(x); slope = 1; break;
    case P_expm1: v = expm1(x); slope = growth(x, off); break;
    case P_log1p:
        v = log1p(x);
        if (1 + x - off <= 0)
            return is_exact(a) ? exact(v) : lost(v);
        slope = 1 / (1 + x - off);
        break;
    case P_erf: {
        double least = larger(fabs(x) - off, 0);
        v = erf(x);
        slope = 1.1283791670955126 * exp(-least * least);
        break;
    }
    case P_tanh: v = tanh(x); slope = 1 - v * v + off < 1 ? 1 - v * v + off : 1; break;
    default: return lost(x);
    }
    if (pair.high == 0) {
        pair.high = v;
        if (op != P_sqrt && slope > 0 && isfinite(slope * a->low))
            pair = exact_sum(v, slope * a->low * (op == P_rsqrt || op == P_acos ? -1 : op == P_cos ? -sin(x) : op == P_sin ? cos(x) : op == P_atan ? 1 / (1 + x * x) : 1));
    }
    return result(type, pair, slope * a->error, fabs(v), slope * a->level, roundoff(op, type), chain);
}

static ShadowValue power(Scalar type, const ShadowValue *a, const ShadowValue *b, double chain)
{
    double v = pow(a->value, b->value), x = a->value, y = b->value, off = shadow_error(a, chain);
    if (is_exact(a) && is_exact(b) && (!isfinite(v) || x == 0))
        return isfinite(v) || x == 0 || x < 0 ? exact(v) : lost(v);
    /* Below 0 only whole exponents have a value. */
    if (!(fabs(x) > off) || (x < 0 && !(b->error == 0 && b->level == 0)) || !isfinite(v))
        return lost(v);
    /* Of the logarithm, y log x, whose error becomes the value's by exp. */
    double least = fabs(x) - off, by_base = (fabs(y) + shadow_error(b, chain)) / least, by_exponent = fabs(log(fabs(x)));
    double error = by_base * a->error + by_exponent * b->error, level = by_base * a->level + by_exponent * b->level;
    double whole = error + chain * level, grows = whole > 0 ? fabs(v) * (expm1(whole) / whole) : fabs(v);
    return result(type, (Pair){v, 0}, grows * error, fabs(v), grows * level, roundoff(P_pow, type), chain);
}

/* floor, ceil, round: a step lies within the error, or it does not. */
static ShadowValue whole(PrimId op, const ShadowValue *a, double chain)
{
    double off = shadow_error(a, chain);
    ScalarValue below = scalar_apply(op, SC_F64, &(ScalarValue){.type = SC_F64, .f = a->value - off});
    ScalarValue above = scalar_apply(op, SC_F64, &(ScalarValue){.type = SC_F64, .f = a->value + off});
    return below.f == above.f ? exact(below.f) : lost(a->value);
}

/* ---- comparing, and the larger of two -------------------------------------------------------------------------------------- */

/* The sign of a - b; 2: one is NaN; 3: within what they may be off. */
static int order_of(Scalar type, const ShadowValue *a, const ShadowValue *b, double chain)
{
    if (is_lost(a) || is_lost(b))
        return 3;
    if (!scalar_is_float(type)) {
        bool below = type == SC_U64 ? (uint64_t)a->integer < (uint64_t)b->integer : a->integer < b->integer;
        double distance = fabs((double)a->integer - (double)b->integer), off = a->error + b->error;
        return off > 0 && distance <= off ? 3 : a->integer == b->integer ? 0 : below ? -1 : 1;
    }
    if (isnan(a->value) || isnan(b->value))
        return 2;
    if (isinf(a->value) || isinf(b->value))
        return a->value < b->value ? -1 : a->value > b->value;
    double difference = pair_add(pair_of(a), (Pair){-b->value, -b->low}).high, off = shadow_error(a, chain) + shadow_error(b, chain);
    if (off > 0 && fabs(difference) <= off)
        return 3;
    return difference < 0 ? -1 : difference > 0;
}

/* The same of a value and itself. */
static int order_of_same(Scalar type, const ShadowValue *a)
{
    if (!scalar_is_float(type))
        return 0;
    return is_lost(a) ? 3 : isnan(a->value) ? 2 : 0;
}

static ShadowValue truth(bool holds) { return shadow_integer(holds); }

static ShadowValue compare(PrimId op, Scalar type, const ShadowValue *args, bool same, double chain)
{
    int order = same ? order_of_same(type, &args[0]) : order_of(type, &args[0], &args[1], chain);
    bool known = order < 2;
    ShadowValue r = truth(op == P_eq   ? order == 0
                          : op == P_ne ? order != 0
                          : op == P_lt ? order == -1
                          : op == P_le ? known && order <= 0
                          : op == P_gt ? order == 1
                                       : known && order >= 0);
    if (order == 3)
        shadow_spoil(&r);
    return r;
}

/* The smaller or larger decides nothing: it is off by no more than the two are. */
static ShadowValue extreme(PrimId op, Scalar type, const ShadowValue *args, double chain)
{
    const ShadowValue *a = &args[0], *b = &args[1];
    if (is_lost(a) || is_lost(b))
        return lost(a->value);
    if (isnan(a->value))
        return *b;
    if (isnan(b->value))
        return *a;
    int order = order_of(type, a, b, chain);
    if (order == 0 && is_exact(a) && is_exact(b)) { /* -0 before 0 */
        ScalarValue zeros[2] = {{.type = type, .f = a->value}, {.type = type, .f = b->value}};
        ShadowValue r = *a;
        r.value = scalar_apply(op, type, zeros).f;
        return r;
    }
    bool first = op == P_min ? a->value < b->value || (a->value == b->value && a->low <= b->low)
                             : a->value > b->value || (a->value == b->value && a->low >= b->low);
    ShadowValue r = first ? *a : *b;
    if (order == 3) {
        r.error = larger(a->error, b->error);
        r.level = larger(a->level, b->level);
        r.size = larger(a->size, b->size);
        r.grain = -4096;
    }
    return r;
}

ShadowValue shadow_either(Scalar type, const ShadowValue *taken, const ShadowValue *other, double chain)
{
    ShadowValue r = *taken;
    if (!scalar_is_float(type)) {
        double distance = fabs((double)taken->integer - (double)other->integer);
        r.error = larger(taken->error, distance + other->error);
        if (type == SC_BOOL && r.error > 0)
            shadow_spoil(&r);
        return r;
    }
    if (is_exact(taken) && is_exact(other) && memcmp(&taken->value, &other->value, sizeof taken->value) == 0)
        return r;
    if (!isfinite(taken->value) || !isfinite(other->value)) {
        shadow_spoil(&r);
        return r;
    }
    double distance = fabs(pair_add(pair_of(taken), (Pair){-other->value, -other->low}).high);
    r.error = larger(shadow_error(taken, chain), distance + shadow_error(other, chain));
    r.level = 0;
    r.size = larger(taken->size, other->size);
    r.grain = -4096;
    return r;
}

/* ---- integers -------------------------------------------------------------------------------------------------------------- */

static ShadowValue of_integers(PrimId op, Scalar type, const ShadowValue *args, int n)
{
    ScalarValue values[3];
    double radius = 0, sizes[2] = {0, 0};
    for (int k = 0; k < n; k++) {
        values[k] = (ScalarValue){.type = type, .i = args[k].integer};
        radius += args[k].error;
        sizes[k & 1] = fabs((double)args[k].integer);
    }
    int64_t value = scalar_apply(op, type, values).i;
    if (radius == 0)
        return shadow_integer(value);
    switch ((int)op) {
    case P_add: case P_sub: case P_neg: case P_abs: case P_min: case P_max: break;
    case P_mul: radius = sizes[0] * args[1].error + sizes[1] * args[0].error + args[0].error * args[1].error; break;
    case P_and: radius = (args[0].error == 0 && !args[0].integer) || (args[1].error == 0 && !args[1].integer) ? 0 : INFINITY; break;
    case P_or: radius = (args[0].error == 0 && args[0].integer) || (args[1].error == 0 && args[1].integer) ? 0 : INFINITY; break;
    default: radius = INFINITY;
    }
    if (radius == 0) /* decided by one side alone */
        value = op == P_or;
    return undecided_integer(value, radius);
}

/* ---- all of them ------------------------------------------------------------------------------------------------------------- */

/* With an operand that is no finite number: what comes out is decided, unless another operand's sign, or whether it is 0, is not. To a
 * sum, a finite operand is nothing, whatever its sign. */
static ShadowValue of_special(PrimId op, Scalar type, const ShadowValue *args, int n, double chain)
{
    ScalarValue values[3];
    const bool is_sum = op == P_add || op == P_sub;
    for (int k = 0; k < n; k++) {
        values[k] = (ScalarValue){.type = type, .f = args[k].value};
        if (!is_sum && !is_exact(&args[k]) && (op == P_pow || fabs(args[k].value) <= shadow_error(&args[k], chain)))
            return lost(args[k].value);
    }
    return exact(scalar_apply(op, type, values).f);
}

static ShadowValue of_floats(PrimId op, Scalar type, const ShadowValue *args, double chain)
{
    ShadowValue r = args[0];
    int n = scalar_operands(op);
    if (op == P_min || op == P_max)
        return extreme(op, type, args, chain);
    for (int k = 0; k < n; k++)
        if (is_lost(&args[k]))
            return lost(args[k].value);
    for (int k = 0; k < n; k++)
        if (!isfinite(args[k].value))
            return of_special(op, type, args, n, chain);
    switch ((int)op) {
    case P_add: return sum(type, &args[0], &args[1], 1, chain);
    case P_sub: return sum(type, &args[0], &args[1], -1, chain);
    case P_mul: return product(type, &args[0], &args[1], chain, true);
    case P_div: return quotient(type, &args[0], &args[1], chain);
    case P_fma:
        r = product(SC_F64, &args[0], &args[1], chain, false);
        return is_lost(&r) ? r : sum(type, &r, &args[2], 1, chain);
    case P_pow: return power(type, &args[0], &args[1], chain);
    case P_neg:
    case P_abs:
        if (op == P_neg || signbit(r.value)) {
            r.value = -r.value;
            r.low = -r.low;
        }
        return r;
    case P_floor: case P_ceil: case P_round: return whole(op, &args[0], chain);
    default: return smooth(op, type, &args[0], chain);
    }
}

ShadowValue shadow_apply(PrimId op, Scalar type, const ShadowValue *args, bool same, double chain)
{
    if (prim_compares(op))
        return compare(op, type, args, same, chain);
    return scalar_is_float(type) ? of_floats(op, type, args, chain) : of_integers(op, type, args, scalar_operands(op));
}

/* ---- conversions ---------------------------------------------------------------------------------------------------------------- */

static ShadowValue float_from_integer(Scalar to, Scalar from, const ShadowValue *a, double chain)
{
    bool is_unsigned = from == SC_U64;
    double high = is_unsigned ? (double)(uint64_t)a->integer : (double)a->integer;
    uint64_t back = is_unsigned ? high >= 0x1p64 ? 0 : (uint64_t)high : high >= 0x1p63 ? UINT64_C(1) << 63 : (uint64_t)(int64_t)high;
    ShadowValue r = exact(high);
    r.low = (double)(int64_t)((uint64_t)a->integer - back);
    r.error = a->error;
    if (r.error > 0)
        r.grain = -4096;
    if (is_lost(&r) || (is_exact(&r) && r.low == 0 && scalar_float(to, high).f == high))
        return r;
    return result(to, pair_of(&r), r.error, fabs(high), 0, ldexp(1, -format_of(to).digits), chain);
}

static ShadowValue integer_from_float(Scalar to, Scalar from, const ShadowValue *a, double chain)
{
    double off = shadow_error(a, chain);
    int64_t value = scalar_cast(to, (ScalarValue){.type = from, .f = a->value}).i;
    if (is_exact(a))
        return shadow_integer(value);
    if (is_lost(a) || (to == SC_BOOL && fabs(a->value) <= off)) /* true is what is not 0 */
        return undecided_integer(value, INFINITY);
    int64_t below = scalar_cast(to, (ScalarValue){.type = SC_F64, .f = a->value - off}).i;
    int64_t above = scalar_cast(to, (ScalarValue){.type = SC_F64, .f = a->value + off}).i;
    return below == above ? shadow_integer(below) : undecided_integer(value, larger((double)above - (double)value, (double)value - (double)below));
}

ShadowValue shadow_cast(Scalar to, Scalar from, const ShadowValue *a, double chain)
{
    bool to_float = scalar_is_float(to), from_float = scalar_is_float(from);
    if (!from_float && !to_float) {
        int64_t value = scalar_cast(to, (ScalarValue){.type = from, .i = a->integer}).i;
        return undecided_integer(value, a->error == 0 || value == a->integer ? a->error : INFINITY);
    }
    if (!from_float)
        return float_from_integer(to, from, a, chain);
    if (!to_float)
        return integer_from_float(to, from, a, chain);
    if (is_lost(a) || !isfinite(a->value) || !shadow_rounds(P_cast, to, from))
        return *a;
    if (is_exact(a) && scalar_float(to, a->value).f == a->value)
        return *a;
    return result(to, pair_of(a), a->error, a->size, a->level, ldexp(1, -format_of(to).digits), chain);
}
