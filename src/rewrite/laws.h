/* Rules and operators are claims, and are tested as such: `risec check --laws`, and tests/unit/test_rules.c for those of the library.
 *
 * A trial of a rule writes its left side as an entry, with random small sizes, types, functions and operators for the parameters; some sizes stay open until
 * launch. The rule has to fire there or say that a condition is not known. Where it fires, both programs are run by the reference interpreter on the same
 * inputs and have to agree to the bit. Each condition is left out in turn: some trial must then give another result, or a right side that another check
 * refuses, else nothing shows that the condition is needed. What disagrees is made smaller as long as it disagrees. */
#ifndef RISEC_REWRITE_LAWS_H
#define RISEC_REWRITE_LAWS_H

#include "ir/sample.h"
#include "rewrite/rewrite.h"

enum { LAW_PARAMS = 40, LAW_CONDITIONS = 8, LAW_CLASSES = 64 };

typedef struct LawFile { /* that has the rules, and what they mention */
    const char *path, *text;
    size_t size;
} LawFile;

/* ---- one trial --------------------------------------------------------------------------------------------------------- */

typedef enum LawResult {
    LAW_UNTYPED,  /* there is no such left side with what was chosen */
    LAW_REFUSED,  /* a condition is not known to hold */
    LAW_NO_RIGHT, /* the conditions hold, and the right side has another type, or a mistake */
    LAW_ILL_TYPED,/* the right side is not well typed there */
    LAW_SAME, LAW_OTHER,
    LAW_NOT_RUN,  /* the sizes are too large, or floats were rounded */
    LAW_RESULTS
} LawResult;

typedef enum LawPlainness { LAW_RANDOM, LAW_PLAIN, LAW_PLAINEST } LawPlainness;

typedef struct LawShape { /* what a trial is about, beside the parameters of the rule */
    int64_t nats[LAW_PARAMS];
    bool open[LAW_PARAMS];         /* a size of the launch, not a constant */
    const char *types[LAW_PARAMS]; /* "i32" or "(i32, i32)" */
    int op;                        /* which operator */
    LawPlainness plain;            /* of functions and data */
    uint64_t constants;            /* which values the constants of templates have; 0: those that are written */
} LawShape;

typedef struct LawTrial {
    const LawFile *file;
    const char *rule;
    uint64_t seed;
    int without;           /* the condition that is left out, or -1 */
    const LawShape *shape; /* instead of what the seed chooses; or NULL */
    bool plain_values;     /* where the sides differ: look for plainer inputs that show it */
} LawTrial;

typedef struct LawClass { /* a branch of a size test on the right side */
    const char *where;        /* of the test: file:line:column */
    bool holds, entered;      /* the branch of it; some trial has been there */
} LawClass;

typedef struct LawOutcome {
    Ctx *ctx;
    LawResult result;
    LawShape shape;
    const Item *rule;
    const char *why;             /* it was refused, ill typed, or has no value any more */
    const char *left;            /* the program */
    const CoreEntry *before, *after;
    Launch left_run, right_run;  /* LAW_SAME and LAW_OTHER: with their results */
    int cell_result;             /* LAW_OTHER, without `why`: the first difference */
    int64_t cell;
    const char *said[LAW_PARAMS]; /* what functions and data are, as text */
    int n_classes;               /* where it has run */
    LawClass classes[LAW_CLASSES];
} LawOutcome;

/* The outcome is the context's. */
void law_try(Ctx *ctx, const LawTrial *trial, LawOutcome *out);

/* ---- whole rules -------------------------------------------------------------------------------------------------------- */

enum { LAW_TRIALS = 60, LAW_FIRES = 30, LAW_SEED = 20261121 };

typedef enum LawNeed {
    NOT_NEEDED,      /* as far as was seen */
    NEEDED_BY_CHECK, /* without it the right side is not well typed, or another condition is not known to hold: a message only */
    NEEDED_BY_VALUE  /* without it the rule gives another result */
} LawNeed;

typedef struct LawReport {
    long counts[LAW_RESULTS];
    int n_where;
    bool enough;                    /* so many trials that each condition should be shown to be needed */
    LawNeed needed[LAW_CONDITIONS];
    int n_classes;                  /* one that was not entered is not tested */
    LawClass classes[LAW_CLASSES];
    const char *refusal;            /* why it did not fire, last; or NULL */
    bool wrong;                     /* it is no law, or no trial had a right side: then this trial shows it */
    LawTrial counter;
    LawShape shape;                 /* of it, as small as was found */
} LawReport;

typedef void (*LawSeen)(void *user, const LawTrial *trial, const LawOutcome *outcome);
typedef struct LawHow {
    uint64_t seed;
    long trials, fires; /* at least so many, and more until the rule has fired so often */
    LawSeen seen;       /* is told of each; or NULL */
    void *user;
} LawHow;
/* Whether some trial was in each branch of each size test. */
bool law_entered_all(const LawReport *report);
/* Each trial in a context of its own. */
void law_test(Ctx *ctx, const LawFile *file, const char *rule, const LawHow *how, LawReport *out);

/* ---- operators ----------------------------------------------------------------------------------------------------------- */

enum { LAW_FREE = 8 };
typedef struct LawOperator {
    const Core *lambda;
    Core *unit;           /* NULL: none is known, so nothing is said of it */
    const Item *declared; /* what it claims */
    int next_var;         /* ids from here on are fresh */
    Core *element;        /* its values are made so, of any values of these variables; NULL: they are any of its type */
    bool in_pairs;        /* what it makes of two such elements */
    int n_free;
    CoreVar *free[LAW_FREE];
} LawOperator;

typedef struct OperatorReport {
    const char *law;      /* the one that does not hold: "associative", "commutative" or "unit"; NULL: all hold */
    bool special;         /* the values that show it are NaN, infinite, -0 or ends of their type: no others were found */
    bool from_unit;       /* the laws hold of values that begin with the unit: Note [From the unit] */
    bool zeros;           /* somewhere the sides differ in the sign of a zero */
    const char *left, *right; /* what should be equal: `op(op(a, b), c)` */
    long trials;
    const CoreEntry *entry;
    Launch launch;        /* of what shows it; results: the components of the left, of the right, and of the values that they are of */
    int half, n_values;   /* components of a value; how many values */
} OperatorReport;

/* The laws that an operator declares, on random values: small ones, any, and those that arithmetic treats in ways of its own. */
void law_test_operator(Ctx *ctx, const LawOperator *op, uint64_t seed, OperatorReport *out);
/* The operator that a function of an entry is. */
LawOperator law_operator(const Core *lambda, Core *unit, int next_var);
/* One that stands in no entry. */
LawOperator law_operator_alone(const Core *lambda, Core *unit);
/* Tries values only that elements of this array can have. False where nothing is known of them. */
bool law_of_elements(Ctx *ctx, LawOperator *op, const Core *array);
/* One of the file. False with diagnostics where it cannot be tried. */
bool law_operator_of(Ctx *ctx, const LawFile *file, const Item *operator, LawOperator *out);
/* Does it fail for NaN alone, and not for what is combined from the unit on? Folds may regroup it then. */
bool law_fails_for_nan(const OperatorReport *report);
/* E0808, with the values that show it; at `use`, if the library declares it. fold: what needs the laws, or NULL. */
Diag *law_report_operator(Ctx *ctx, const Item *operator, Span use, const Core *fold, const OperatorReport *report);

/* W0713: the same where nothing is lowered by it, or no lowering makes it wrong. fold: what uses it, or NULL. */
void law_warn_operator(Ctx *ctx, const Item *operator, const OperatorReport *report, const Core *fold);

/* ---- what a lowering may regroup ------------------------------------------------------------------------------------------ */

/* What shows that a law does not hold, in words. */
const char *law_values_text(Ctx *ctx, const OperatorReport *report);
const char *law_counter_text(Ctx *ctx, const LawOperator *op, const OperatorReport *report);
/* False, and reported, where an operator of the entry does not have the laws that the entry needs. */
bool laws_allow(Ctx *ctx, const CoreEntry *entry);
/* W0713 for each fold of the entry that starts from a unit which changes values. */
void laws_advise(Ctx *ctx, const CoreEntry *entry);
/* Whether these laws hold for all values, also those that do not begin with the unit; *why: a value that shows that they do not. */
bool law_holds_for_all(Ctx *ctx, const Core *lambda, const char **why);

#endif
