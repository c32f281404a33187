/* Which elements of a masked row may be more than -inf. */
#ifndef RISEC_IR_BAND_H
#define RISEC_IR_BAND_H

#include "ir/core.h"

/* Element j of row i is -inf unless lower*i <= j + back and j < upper*i + ahead. */
typedef struct Band {
    Nat lower, back, upper, ahead;
} Band;

/* `finish` is a function of (x, e), or of x and e, where the last two dimensions of `masks` have e
 * at row i and column j. All x are taken for finite. Where no bound is known, it is that of the
 * array. */
Band core_band(Ctx *ctx, const Core *finish, const Core *masks);

#endif
