/* Arithmetic on 32 lanes. The semantics are scalar_apply's and scalar_cast's, to the bit; the common cases are written out as loops
 * that a C compiler vectorises. Those may compute in lanes that the mask leaves out: nothing here traps. */
#include "sim/sim_internal.h"

/* ---- scalar functions ---------------------------------------------------------------------------------------------- */

static ScalarValue lane_value(Scalar type, const Lanes *x, int l)
{
    ScalarValue v = {.type = type};
    v.u = x->u[l];
    return v;
}

static void apply_slowly(PrimId prim, Scalar type, uint32_t mask, Lanes *dst, const Lanes *a, const Lanes *b, const Lanes *c)
{
    for (int l = 0; l < WARP; l++)
        if (mask >> l & 1) {
            ScalarValue args[3] = {lane_value(prim == P_select ? SC_BOOL : type, a, l)};
            if (b)
                args[1] = lane_value(type, b, l);
            if (c)
                args[2] = lane_value(type, c, l);
            dst->u[l] = scalar_apply(prim, type, args).u;
        }
}

#define EACH(expr)                      \
    do {                                \
        for (int l = 0; l < WARP; l++)  \
            (expr);                     \
        return true;                    \
    } while (0)

/* Comparisons of any values that C compares as they are. */
#define COMPARE(field)                                          \
    switch ((int)prim) {                                        \
    case P_eq: EACH(dst->i[l] = a->field[l] == b->field[l]);    \
    case P_ne: EACH(dst->i[l] = a->field[l] != b->field[l]);    \
    case P_lt: EACH(dst->i[l] = a->field[l] < b->field[l]);     \
    case P_le: EACH(dst->i[l] = a->field[l] <= b->field[l]);    \
    case P_gt: EACH(dst->i[l] = a->field[l] > b->field[l]);     \
    case P_ge: EACH(dst->i[l] = a->field[l] >= b->field[l]);    \
    }

static bool compare_lanes(PrimId prim, Scalar type, Lanes *dst, const Lanes *a, const Lanes *b)
{
    if (scalar_is_float(type)) {
        COMPARE(f)
    } else if (type == SC_U64) {
        COMPARE(u)
    } else {
        COMPARE(i)
    }
    return false;
}

/* Wraps to the type: shifts the bits that the type has to the top and back. */
#define WRAPPED(expr)                                                            \
    do {                                                                         \
        if (is_signed)                                                           \
            for (int l = 0; l < WARP; l++)                                       \
                dst->i[l] = (int64_t)((uint64_t)(expr) << shift) >> shift;       \
        else                                                                     \
            for (int l = 0; l < WARP; l++)                                       \
                dst->u[l] = (uint64_t)(expr) << shift >> shift;                  \
        return true;                                                             \
    } while (0)

static bool int_lanes(PrimId prim, Scalar type, Lanes *dst, const Lanes *a, const Lanes *b)
{
    int shift = 64 - 8 * scalar_bytes(type);
    bool is_signed = scalar_is_signed(type);
    switch ((int)prim) {
    case P_add: WRAPPED(a->u[l] + b->u[l]);
    case P_sub: WRAPPED(a->u[l] - b->u[l]);
    case P_mul: WRAPPED(a->u[l] * b->u[l]);
    case P_bitAnd: EACH(dst->u[l] = a->u[l] & b->u[l]);
    case P_bitOr: EACH(dst->u[l] = a->u[l] | b->u[l]);
    case P_bitXor: EACH(dst->u[l] = a->u[l] ^ b->u[l]);
    case P_min:
        if (type == SC_U64)
            EACH(dst->u[l] = a->u[l] < b->u[l] ? a->u[l] : b->u[l]);
        EACH(dst->i[l] = a->i[l] < b->i[l] ? a->i[l] : b->i[l]);
    case P_max:
        if (type == SC_U64)
            EACH(dst->u[l] = a->u[l] > b->u[l] ? a->u[l] : b->u[l]);
        EACH(dst->i[l] = a->i[l] > b->i[l] ? a->i[l] : b->i[l]);
    }
    return false;
}

/* f32 in double, then rounded: a double has more than twice the bits of a float and two to spare, so that rounding twice gives what
 * rounding once does. A result that is NaN, whose sign and payload are the machine's choice, and minima of equal values are left to
 * scalar_apply: `slow` collects those lanes. */
#define FLOATS(expr)                                                \
    do {                                                            \
        if (type == SC_F32)                                         \
            for (int l = 0; l < WARP; l++)                          \
                r.f[l] = (double)(float)(expr);                     \
        else                                                        \
            for (int l = 0; l < WARP; l++)                          \
                r.f[l] = (expr);                                    \
        for (int l = 0; l < WARP; l++)                              \
            slow |= (uint32_t)(r.f[l] != r.f[l]) << l;              \
    } while (0)
#define EXTREME(op)                                                                     \
    for (int l = 0; l < WARP; l++) {                                                    \
        double x = a->f[l], y = b->f[l];                                                \
        r.f[l] = x op y ? x : y;                                                        \
        slow |= (uint32_t)!(x < y || x > y || (x == y && x != 0)) << l;                 \
    }

static bool float_lanes(PrimId prim, Scalar type, uint32_t mask, Lanes *dst, const Lanes *a, const Lanes *b, const Lanes *c)
{
    uint32_t slow = 0;
    Lanes r;
    switch ((int)prim) {
    case P_add: FLOATS(a->f[l] + b->f[l]); break;
    case P_sub: FLOATS(a->f[l] - b->f[l]); break;
    case P_mul: FLOATS(a->f[l] * b->f[l]); break;
    case P_div: FLOATS(a->f[l] / b->f[l]); break;
    case P_min: EXTREME(<) break;
    case P_max: EXTREME(>) break;
    default: return false;
    }
    if (slow & mask)
        apply_slowly(prim, type, slow & mask, &r, a, b, c);
    *dst = r;
    return true;
}

void lanes_apply(PrimId prim, Scalar type, uint32_t mask, Lanes *dst, const Lanes *a, const Lanes *b, const Lanes *c)
{
    if (prim == P_select) {
        for (int l = 0; l < WARP; l++)
            dst->u[l] = a->i[l] ? b->u[l] : c->u[l];
        return;
    }
    if (b && !c) {
        if (compare_lanes(prim, type, dst, a, b))
            return;
        if (type == SC_F32 || type == SC_F64) {
            if (float_lanes(prim, type, mask, dst, a, b, c))
                return;
        } else if (scalar_is_int(type)) {
            if (int_lanes(prim, type, dst, a, b))
                return;
        } else if (type == SC_BOOL && (prim == P_and || prim == P_or)) {
            for (int l = 0; l < WARP; l++)
                dst->i[l] = prim == P_and ? a->i[l] & b->i[l] : a->i[l] | b->i[l];
            return;
        }
    }
    apply_slowly(prim, type, mask, dst, a, b, c);
}

void lanes_cast(Scalar to, Scalar from, uint32_t mask, Lanes *dst, const Lanes *a)
{
    if (to == from) {
        *dst = *a;
        return;
    }
    for (int l = 0; l < WARP; l++)
        if (mask >> l & 1)
            dst->u[l] = scalar_cast(to, lane_value(from, a, l)).u;
}

void lanes_of_nat(Scalar type, uint32_t mask, Lanes *dst, const int64_t *a, int stride)
{
    if (type == SC_I64 || type == SC_I32) { /* the caller has checked that 32 bits are enough */
        for (int l = 0; l < WARP; l++)
            dst->i[l] = a[l * stride];
        return;
    }
    for (int l = 0; l < WARP; l++)
        if (mask >> l & 1)
            dst->u[l] = scalar_cast(type, (ScalarValue){.type = SC_I64, .i = a[l * stride]}).u;
}

/* ---- index arithmetic ------------------------------------------------------------------------------------------------ */

static bool power(int64_t base, int64_t exponent, int64_t *result)
{
    int64_t r = 1;
    if (exponent < 0)
        return false;
    while (exponent > 0) {
        if (exponent & 1 && !mul_fits(r, base, &r))
            return false;
        exponent >>= 1;
        if (exponent > 0 && !mul_fits(base, base, &base))
            return false;
    }
    *result = r;
    return true;
}

static inline bool add_product_fits(int64_t x, int64_t y, int64_t k, int64_t *result)
{
    int64_t product;
    bool fits = mul_fits(y, k, &product);
    return add_fits(x, product, result) && fits;
}

static int64_t floor_log2(int64_t x)
{
    int64_t r = 0;
    while (x >>= 1)
        r++;
    return r;
}

#define CHECKED(call)                                  \
    for (int l = 0; l < n; l++) {                      \
        int64_t x = a[l * sa], y = b ? b[l * sb] : 0;  \
        (void)y;                                       \
        bad |= (uint32_t)!(call) << l;                 \
    }                                                  \
    break

uint32_t lanes_nat(OpCode op, int64_t k, int n, int64_t *dst, const int64_t *a, int sa, const int64_t *b, int sb, uint32_t mask,
                   uint32_t *divisor)
{
    uint32_t bad = 0;
    switch ((int)op) {
    case N_ADDMUL: CHECKED(add_product_fits(x, y, k, &dst[l]));
    case N_MULK: CHECKED(mul_fits(x, k, &dst[l]));
    case N_ADD: CHECKED(add_fits(x, y, &dst[l]));
    case N_MUL: CHECKED(mul_fits(x, y, &dst[l]));
    case N_DIV:
    case N_MOD:
        if (sb == 0 && *b >= 1 && (*b & (*b - 1)) == 0) { /* most divisors are powers of two, and division takes most of the time */
            int64_t low = *b - 1, shift = floor_log2(*b);
            for (int l = 0; l < n; l++)
                dst[l] = op == N_DIV ? a[l * sa] >> shift : a[l * sa] & low;
            break;
        }
        for (int l = 0; l < n; l++) {
            int64_t x = a[l * sa], y = b[l * sb];
            if (y >= 1)
                dst[l] = op == N_DIV ? floor_div(x, y) : floor_mod(x, y);
            else
                *divisor |= 1u << l;
        }
        break;
    case N_MIN:
        for (int l = 0; l < n; l++)
            dst[l] = a[l * sa] < b[l * sb] ? a[l * sa] : b[l * sb];
        break;
    case N_MAX:
        for (int l = 0; l < n; l++)
            dst[l] = a[l * sa] > b[l * sb] ? a[l * sa] : b[l * sb];
        break;
    case N_POW:
        for (int l = 0; l < n; l++)
            if (mask >> l & 1 && !power(a[l * sa], b[l * sb], &dst[l]))
                bad |= 1u << l;
        break;
    case N_LOG2:
        for (int l = 0; l < n; l++)
            if (a[l * sa] >= 1)
                dst[l] = floor_log2(a[l * sa]);
            else
                *divisor |= 1u << l;
        break;
    }
    *divisor &= mask;
    return bad & mask;
}
