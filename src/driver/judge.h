/* Judges results: are they those of the program, or has a kernel computed something else?
 *
 * Note [Judging]
 * Equal bits are equal. What is not equal to the bit is compared with the program's shadow (ir/shadow.h): a run of the reference in higher
 * precision that knows, for each element, how far a right kernel may be from it. The number of roundings in folds whose order is open is that of
 * this launch: the simulator counts them, with the launch's sizes, grid and number of multiprocessors.
 *   - Elements that nothing has rounded, integers and booleans have the same bits, or differ. (Zeros may have either sign.) The reference
 *     adds in order, and may round more often than a kernel: what has been decided by rounded numbers is right, too, where the shadow decided so.
 *   - Other elements may be off by their bound.
 *   - An element is undecided where a comparison or a conversion within its bound chose its value. It is not checked.
 *   - Where a scatter that allows it writes a place several times, each of these writes may stay: the element may be off by what they are apart.
 *   - A bound above a hundredth of the element's size (the sum of magnitudes that it is made of), and above 16 units in the last place of it,
 *     checks nothing: such an element is not checked, either.
 * Where more than one in a hundred elements is not checked, the verdict is that there is no check. */
#ifndef RISEC_DRIVER_JUDGE_H
#define RISEC_DRIVER_JUDGE_H

#include "ir/interp.h"
#include "sim/sim.h"

typedef enum Judged {
    JUDGED_EQUAL,     /* to the bit, but for the payload of NaNs */
    JUDGED_NEAR,      /* within the bounds */
    JUDGED_DIFFERENT,
    JUDGED_NO_CHECK
} Judged;

typedef struct Judgement {
    Judged verdict;
    bool shapes_differ;  /* DIFFERENT: then `result` has another type or shape */
    int result;          /* DIFFERENT: the first element that is; NO_CHECK without `why`: the first one that is undecided */
    int64_t cell;
    double error, relative, bound; /* NEAR: of the element that is furthest off; DIFFERENT: of that one. `relative` to the element */
    bool rounded;        /* DIFFERENT: that element has a bound above 0 */
    int64_t elements, unchecked; /* of all results */
    const char *why;     /* NO_CHECK: there is no shadow, and why; else NULL */
    bool place_repeats;  /* a scatter left open which of several writes stays */
} Judgement;

typedef struct Judge {
    Ctx *ctx;
    const CoreEntry *entry; /* as written */
    Launch launch;          /* its inputs; results are not looked at */
    const ImpProgram *imp;  /* whose roundings are counted; NULL: any order that the program allows */
    SimOptions options;     /* how it was launched, and how many warp instructions are simulated at most to count them */
    bool tried;
    ShadowBuf *shadows;     /* NULL: could not be made */
    const char *why;
} Judge;

/* Results of the launch. `want`: the reference's, for EQUAL; the shadow, and the simulator, are needed only where bits differ. Or somebody
 * else's, with `times` above 1: then the two may be `times` bounds apart. Or NULL: the results are judged by the shadow alone, and may be
 * `times` bounds from it; EQUAL are those that nothing has rounded. */
Judgement judge_results(Judge *judge, int n, const HostBuf *got, const HostBuf *want, double times);
/* "equal", "near", "different", "no check": for JSON and tables. */
const char *judge_word(Judged verdict);
/* "differs by at most 1.2e-06 (relative 3e-07); bound 4e-06, 2 of 1000 elements undecided"; of NEAR. */
void judge_put(StrBuf *out, const Judgement *j);
/* Why there is no check, in words, and what to do. */
const char *judge_why(Ctx *ctx, const Judgement *j);

#endif
