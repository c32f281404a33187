/* Finds the left side of a rule in a term.
 *
 * Matching is on applied terms: `map(f) >> map(g)` is looked for as map(g, map(f, xs)), `map(map(f))` as map(fun x => map(f, x), xs). A function parameter
 * stands for any function that does not mention what is bound around it inside the left side; f(x, y.1), of variables bound there and of parts of them, for any term in these.
 * A parameter that occurs twice stands for the same term twice, up to the names of bound variables and the order of operands that commute (ir/key.h);
 * operands of the left side that commute are found in either order. Sizes are collected, and compared when the
 * parameters are known (frontend/rule.h). */
#ifndef RISEC_REWRITE_MATCH_H
#define RISEC_REWRITE_MATCH_H

#include "frontend/rule.h"
#include "ir/key.h"

/* Fills use->bound, sizes, n_extra and extra. `given`: bindings that the strategy gave, beside the parameters. False: *why says what differs. */
bool match_rule(Ctx *ctx, RuleUse *use, Core *term, const char **why);

/* False only where match_rule would not find the rule's first primitive: found out at once. */
bool may_match(const Item *rule, const Core *term);

/* How many arguments the left side of a rule still takes; -1 where that cannot be said. */
int match_arguments(Ctx *ctx, const Item *rule);

#endif
