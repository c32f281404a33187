/* Shadows of scalars: a value in higher precision, and how far a right kernel may be from it.
 *
 * The reference interpreter runs a program on shadows (interp_shadow) to judge results that are not equal to the bit. A shadow of a
 * float carries
 *   value + low   the value, as the unevaluated sum of two doubles (about 106 bits; functions such as exp give 53);
 *   error         how far the same value may be from it in a kernel, to the first order: what the operands may be off, by the
 *                 function's derivatives, and one rounding of this operation (scalar_errors.def);
 *   size          the sum of magnitudes: |x| of an input, the sum of both of a sum or difference, the product of both of a product.
 * A shadow without error has the bits that every right kernel gives.
 *
 * Note [Open order]. `reduce`, `scan` and their kin may combine their elements in any grouping, so that one order's roundings say
 * nothing of another's. Inside of them a rounding is not added to `error`. `level` is what the roundings of one level of any tree
 * make together, at most: the unit roundoff times the size for sums and products. A tree of d levels then adds d * level, when
 * the fold ends (shadow_close). d is the longest chain of roundings that the simulator counts in this launch, or what n elements can
 * have, whichever is less: `chain`. Sums of numbers that are multiples of one power of two (`grain`), with a size of few enough of them,
 * are exact in any order, and have no level.
 *
 * Integers and booleans: `integer` is the value, `error` how far another right kernel's may be from it: 0 where it is decided, 1 behind
 * a conversion whose operand may be on either side of an integer, infinity where nothing is known. A float with an infinite error is
 * undecided, too: a comparison within its bound chose it. */
#ifndef RISEC_IR_SHADOW_H
#define RISEC_IR_SHADOW_H

#include "ir/scalar.h"

typedef struct ShadowValue {
    union {
        double value;
        int64_t integer;
    };
    double low, error, size, level;
    int64_t grain; /* floats: the value is a multiple of 2^grain */
} ShadowValue;

/* Of an exact value. */
ShadowValue shadow_of(ScalarValue value);
/* An integer or boolean, in the type's own bits. */
ShadowValue shadow_integer(int64_t value);
/* How far it may be off when the order is open with this chain; 0: the order is fixed. */
static inline double shadow_error(const ShadowValue *x, double chain) { return x->level > 0 ? x->error + chain * x->level : x->error; }

/* As scalar_apply and scalar_cast. `chain` above 0: within a fold whose order is open. `same`: both arguments are one value, so that a
 * comparison of them decides only whether it is NaN. */
ShadowValue shadow_apply(PrimId op, Scalar type, const ShadowValue *args, bool same, double chain);
ShadowValue shadow_cast(Scalar to, Scalar from, const ShadowValue *value, double chain);
/* The value of a choice whose condition is undecided: `taken`, that may be `other` as well. */
ShadowValue shadow_either(Scalar type, const ShadowValue *taken, const ShadowValue *other, double chain);
/* The fold has ended. */
void shadow_close(ShadowValue *x, double chain);
/* Nothing is known of it any more. */
void shadow_spoil(ShadowValue *x);

/* Whether the function rounds: it has a row in scalar_errors.def, or is a cast that narrows a float. */
bool shadow_rounds(PrimId op, Scalar to, Scalar from);
/* Whether it may be further from the exact value than rounding makes it: CUDA's library computes it, by several operations. */
bool shadow_approximates(PrimId op);
/* A unit in the last place of a number of this size. */
double shadow_ulp(Scalar type, double size);
double shadow_least_normal(Scalar type); /* the smallest positive number of full precision */

#endif
