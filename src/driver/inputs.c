#include "driver/inputs.h"
#include "support/input_words.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* ---- random numbers --------------------------------------------------------------------------------------------- */

typedef struct Random {
    uint64_t s[4];
} Random;

/* Steele, Lea and Flood: Fast splittable pseudorandom number generators. */
static uint64_t splitmix(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static void random_seed(Random *r, uint64_t seed)
{
    for (int i = 0; i < 4; i++)
        r->s[i] = splitmix(&seed);
}

static uint64_t rotate(uint64_t x, int k) { return x << k | x >> (64 - k); }

/* Blackman and Vigna: Scrambled linear pseudorandom number generators. */
static uint64_t random_next(Random *r)
{
    uint64_t result = rotate(r->s[1] * 5, 7) * 9, t = r->s[1] << 17;
    r->s[2] ^= r->s[0];
    r->s[3] ^= r->s[1];
    r->s[1] ^= r->s[2];
    r->s[0] ^= r->s[3];
    r->s[2] ^= t;
    r->s[3] = rotate(r->s[3], 45);
    return result;
}

/* In [0, n), n >= 1; 0 stands for 2^64. By the high half of a product: the bias is below n / 2^64. */
static uint64_t random_below(Random *r, uint64_t n)
{
    uint64_t x = random_next(r);
    if (n == 0)
        return x;
    uint64_t lo = (x & 0xffffffffu) * (n & 0xffffffffu), m1 = (x >> 32) * (n & 0xffffffffu), m2 = (x & 0xffffffffu) * (n >> 32);
    uint64_t middle = (lo >> 32) + (m1 & 0xffffffffu) + (m2 & 0xffffffffu);
    return (x >> 32) * (n >> 32) + (m1 >> 32) + (m2 >> 32) + (middle >> 32);
}

static double random_unit(Random *r, int bits) { return ldexp((double)(random_next(r) >> (64 - bits)), -bits); }

/* ---- numbers ---------------------------------------------------------------------------------------------------- */

/* strtod reads more than a number may be here: hexadecimal floats, words, leading spaces. */
static bool looks_like_number(const char *text)
{
    const char *c = text;
    if (*c == '-' || *c == '+')
        c++;
    if (strcmp(c, "inf") == 0 || strcmp(c, "nan") == 0)
        return true;
    bool digits = false, point = false;
    for (; *c && *c != 'e' && *c != 'E'; c++) {
        if (*c == '.' && !point)
            point = true;
        else if (*c >= '0' && *c <= '9')
            digits = true;
        else
            return false;
    }
    if (!digits)
        return false;
    if (*c == 0)
        return true;
    c++;
    if (*c == '-' || *c == '+')
        c++;
    if (*c == 0)
        return false;
    for (; *c; c++)
        if (*c < '0' || *c > '9')
            return false;
    return true;
}

/* The locale of the process may want another point, so strtod is given none: 12.5e3 goes in as 125e2. */
static double parse_double(const char *text)
{
    char plain[400];
    size_t n = 0;
    int places = 0;
    bool point = false;
    for (; *text && *text != 'e' && *text != 'E'; text++) {
        if (*text == '.') {
            point = true;
        } else if (n < sizeof plain - 32) {
            places += point;
            plain[n++] = *text;
        } else { /* digits that no double can tell apart */
            places -= !point;
        }
    }
    long exponent = *text == 'e' || *text == 'E' ? strtol(text + 1, NULL, 10) : 0;
    exponent = exponent > 100000 ? 100000 : exponent < -100000 ? -100000 : exponent;
    exponent -= places;
    plain[n++] = 'e';
    if (exponent < 0)
        plain[n++] = '-';
    char digits[24];
    int count = 0;
    for (unsigned long m = (unsigned long)(exponent < 0 ? -exponent : exponent); m || count == 0; m /= 10)
        digits[count++] = (char)('0' + m % 10);
    while (count)
        plain[n++] = digits[--count];
    plain[n] = 0;
    return strtod(plain, NULL);
}

bool input_number(const char *text, Scalar type, ScalarValue *value)
{
    if (type == SC_BOOL && (strcmp(text, "true") == 0 || strcmp(text, "false") == 0)) {
        *value = scalar_int(SC_BOOL, text[0] == 't');
        return true;
    }
    if (!looks_like_number(text))
        return false;
    const char *magnitude = text[0] == '-' || text[0] == '+' ? text + 1 : text;
    if (strcmp(magnitude, "inf") == 0 || strcmp(magnitude, "nan") == 0) {
        *value = scalar_float(type, magnitude[0] == 'n' ? (double)NAN : text[0] == '-' ? -(double)INFINITY : (double)INFINITY);
        return scalar_is_float(type);
    }
    if (scalar_is_float(type)) {
        double v = parse_double(text);
        *value = scalar_float(type, v);
        return !isinf(value->f); /* a number that the type cannot hold is a mistake, one that it rounds is none */
    }
    if (strpbrk(text, ".eE"))
        return false;
    errno = 0;
    if (type == SC_U64) {
        unsigned long long v = strtoull(text, NULL, 10);
        *value = (ScalarValue){.type = type, .u = v};
        return errno == 0 && (text[0] != '-' || v == 0);
    }
    long long v = strtoll(text, NULL, 10);
    *value = scalar_int(type, v);
    return errno == 0 && scalar_int_fits(type, v);
}

/* ---- making ----------------------------------------------------------------------------------------------------- */

static bool has_prefix(const char *text, const char *prefix) { return strncmp(text, prefix, strlen(prefix)) == 0; }

bool input_is_spec(const char *text)
{
    return is_input_word(text) || strcmp(text, "true") == 0 || strcmp(text, "false") == 0 || has_prefix(text, "const:") || has_prefix(text, "uniform:") || has_prefix(text, "normal:") || looks_like_number(text);
}

static bool refuse(Ctx *ctx, const char *name, const char *spec, const char *why)
{
    diag_error(ctx, E0609, NO_SPAN, "%s=%s: %s", name, spec, why);
    return false;
}

static void store(HostBuf *buf, int64_t i, ScalarValue v) { scalar_store(v, buf->bytes + i * scalar_bytes(buf->elem)); }

static bool fill_constant(Ctx *ctx, const char *name, const char *spec, const char *number, bool is_idx, int64_t idx_size, HostBuf *buf)
{
    ScalarValue v;
    if (!input_number(number, buf->elem, &v))
        return refuse(ctx, name, spec, ctx_printf(ctx, "%s is no value of type %s", number, scalar_name(buf->elem)));
    if (is_idx && (v.i < 0 || v.i >= idx_size) && buf->count > 0)
        return refuse(ctx, name, spec, ctx_printf(ctx, "the indices go from 0 to %lld here", (long long)(idx_size - 1)));
    for (int64_t i = 0; i < buf->count; i++)
        store(buf, i, v);
    return true;
}

static bool fill_uniform(Ctx *ctx, const char *name, const char *spec, Random *r, bool is_idx, int64_t idx_size, HostBuf *buf)
{
    Scalar elem = buf->elem;
    bool bounded = spec[7] == ':';
    ScalarValue lo, hi;
    if (bounded) {
        const char *colon = strchr(spec + 8, ':');
        size_t n = colon ? (size_t)(colon - spec - 8) : 0;
        char low[80];
        if (!colon || n == 0 || n >= sizeof low)
            return refuse(ctx, name, spec, "write uniform:LO:HI, as in uniform:0:10");
        memcpy(low, spec + 8, n);
        low[n] = 0;
        if (!input_number(low, elem, &lo) || !input_number(colon + 1, elem, &hi))
            return refuse(ctx, name, spec, ctx_printf(ctx, "LO and HI must be values of type %s", scalar_name(elem)));
    } else {
        lo = scalar_int(elem, 0);
        hi = scalar_int(elem, elem == SC_BOOL || scalar_is_float(elem) ? 1 : 99);
        if (is_idx)
            hi = (ScalarValue){.type = elem, .i = idx_size - 1};
    }
    bool is_float = scalar_is_float(elem);
    bool ordered = is_float ? lo.f <= hi.f && isfinite(hi.f - lo.f) : elem == SC_U64 ? lo.u <= hi.u : lo.i <= hi.i;
    if (!ordered && buf->count > 0)
        return refuse(ctx, name, spec, is_idx && !bounded ? "there are no indices below 0" : "LO and HI must be finite, and LO not above HI");
    if (is_idx && (lo.i < 0 || hi.i >= idx_size) && buf->count > 0)
        return refuse(ctx, name, spec, ctx_printf(ctx, "the indices go from 0 to %lld here", (long long)(idx_size - 1)));
    int bits = elem == SC_F64 ? 53 : elem == SC_F32 ? 24 : 8;
    for (int64_t i = 0; i < buf->count; i++) {
        if (is_float) {
            /* Rounding may give HI itself, which is not in the range; LO is as good. */
            double v = lo.f + random_unit(r, bounded && bits < 53 ? 53 : bits) * (hi.f - lo.f);
            ScalarValue rounded = scalar_float(elem, v);
            store(buf, i, rounded.f >= hi.f ? lo : rounded);
        } else {
            store(buf, i, scalar_int(elem, (int64_t)(lo.u + random_below(r, hi.u - lo.u + 1))));
        }
    }
    return true;
}

/* Values that arithmetic treats in ways of its own. */
static ScalarValue special_value(Scalar type, Random *r)
{
    static const double floats[] = {0,    -0.0,     1,        -1,      0.5,     -2,      INFINITY,
                                    -INFINITY, NAN, 5.96e-8, -6.1e-5, 1.2e-38, -1e-40, 3};
    if (type == SC_BOOL)
        return scalar_int(type, (int64_t)random_below(r, 2));
    if (scalar_is_float(type))
        return scalar_float(type, floats[random_below(r, sizeof floats / sizeof floats[0])]);
    uint64_t bit = (uint64_t)1 << random_below(r, 8 * (uint64_t)scalar_bytes(type));
    const uint64_t integers[] = {0, 1, (uint64_t)-1, bit, bit - 1, ~bit, (uint64_t)-2};
    return scalar_int(type, (int64_t)integers[random_below(r, sizeof integers / sizeof integers[0])]);
}

/* `special`: such values among others; `small`: small integers. Of indices any. */
static bool fill_odd(Ctx *ctx, const char *name, const char *spec, Random *r, bool is_idx, int64_t idx_size, HostBuf *buf)
{
    enum { SPECIAL_IN = 6, NEAR = 100, SMALL = 8 };
    bool special = spec[1] == 'p', sign = scalar_is_float(buf->elem) || scalar_is_signed(buf->elem);
    if (is_idx)
        return fill_uniform(ctx, name, "uniform", r, is_idx, idx_size, buf);
    for (int64_t i = 0; i < buf->count; i++) {
        int64_t most = special ? NEAR : SMALL;
        int64_t value = (int64_t)random_below(r, 2 * (uint64_t)most + 1) - (sign ? most : 0);
        if (special && random_below(r, SPECIAL_IN) == 0)
            store(buf, i, special_value(buf->elem, r));
        else if (scalar_is_float(buf->elem))
            store(buf, i, scalar_float(buf->elem, special ? (double)value / 8 : (double)value));
        else
            store(buf, i, scalar_int(buf->elem, buf->elem == SC_BOOL ? value & 1 : value));
    }
    return true;
}

bool input_fill(Ctx *ctx, const char *name, const char *spec, uint64_t seed, bool is_idx, int64_t idx_size, HostBuf *buf)
{
    buf->bytes = ctx_alloc(ctx, (size_t)(buf->count * scalar_bytes(buf->elem)) + 1);
    Random random;
    random_seed(&random, seed);
    if (strcmp(spec, "iota") == 0) {
        if (is_idx && idx_size <= 0 && buf->count > 0)
            return refuse(ctx, name, spec, "there are no indices below 0");
        for (int64_t i = 0; i < buf->count; i++)
            store(buf, i, scalar_int(buf->elem, is_idx ? i % idx_size : buf->elem == SC_BOOL ? i & 1 : i));
        return true;
    }
    if (strcmp(spec, "ones") == 0 || strcmp(spec, "zeros") == 0)
        return fill_constant(ctx, name, spec, spec[0] == 'o' ? "1" : "0", is_idx, idx_size, buf);
    if (has_prefix(spec, "const:"))
        return fill_constant(ctx, name, spec, spec + 6, is_idx, idx_size, buf);
    if (strcmp(spec, "uniform") == 0 || has_prefix(spec, "uniform:"))
        return fill_uniform(ctx, name, spec, &random, is_idx, idx_size, buf);
    if (strcmp(spec, "special") == 0 || strcmp(spec, "small") == 0)
        return fill_odd(ctx, name, spec, &random, is_idx, idx_size, buf);
    if (strcmp(spec, "normal") == 0) {
        if (!scalar_is_float(buf->elem))
            return refuse(ctx, name, spec, ctx_printf(ctx, "normal makes floats, and %s has elements of type %s", name, scalar_name(buf->elem)));
        for (int64_t i = 0; i < buf->count; i++) {
            double u = 1 - random_unit(&random, 53), angle = 6.283185307179586 * random_unit(&random, 53);
            store(buf, i, scalar_float(buf->elem, sqrt(-2 * log(u)) * cos(angle)));
        }
        return true;
    }
    if (input_is_spec(spec) && !strchr(spec, ':'))
        return fill_constant(ctx, name, spec, spec, is_idx, idx_size, buf);
    return refuse(ctx, name, spec, "an input is a .npy file, a number, iota, ones, zeros, const:V, uniform, uniform:LO:HI, normal, special or small");
}
