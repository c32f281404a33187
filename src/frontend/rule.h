/* The right side of a rule, once its left side has been found: elaborated at the place of use, with what the parameters stand for there, and with
 * every size condition, law and obligation proved from the facts of that place. */
#ifndef RISEC_FRONTEND_RULE_H
#define RISEC_FRONTEND_RULE_H

#include "frontend/elab.h"

/* What a `where` says of functions. */
typedef enum RuleCondition {
#define CONDITION(name, ...) RULE_##name,
#include "frontend/rule_conditions.def"
#undef CONDITION
    RULE_CONDITIONS /* none: a condition over sizes */
} RuleCondition;
/* When a condition is asked. */
typedef enum RuleAsked {
    FINDS_FIRST,   /* before sizes are matched: it finds functions, or numbers that functions have */
    FINDS_NUMBERS, /* once sizes are known: it finds numbers, unless the strategy gives them */
    CHECKS         /* at the end: it holds or does not */
} RuleAsked;
/* What `risec help NAME` prints of a condition, and `risec help conditions` of all. False: it is none. */
bool rule_condition_help(StrBuf *out, const char *name);
/* The first of them in what a `where` says; NULL: it is about sizes alone. */
const Ast *rule_condition_in(const Ast *cond);
/* Reports it where its arguments are no such as it takes, or where it is not all that this part of the `where` says. */
void rule_condition_check(Ctx *ctx, const Item *rule, const Ast *cond, const Ast *of);
/* Which condition is written there, if its name means nothing else. */
RuleCondition rule_condition(const Ast *cond);
/* Whether that argument of it is a parameter that it finds then. */
bool rule_finds(RuleCondition kind, RuleAsked when, int arg);

/* What a parameter of the rule stands for; both NULL while nothing says. */
typedef struct RuleBound {
    Nat nat;
    Core *core; /* data, or a CORE_LAMBDA */
} RuleBound;

typedef struct RuleSize { /* a size that the left side writes, and the one that stands there */
    const Ast *pattern;
    Nat nat;
} RuleSize;

typedef struct RuleUse {
    const Item *rule;
    const char *home;     /* path of the file in which it stands */
    RuleBound *bound;     /* beside rule->params */
    int n_sizes;
    RuleSize *sizes;
    int n_extra;          /* arguments that a side without its argument (`map(f) >> map(g)`) is applied to */
    Core **extra;
    NatFacts *facts;      /* of the place */
    Type type;            /* of the term that is rewritten */
    Nat lanes;            /* that the mapWarp around the term gives each element; or NULL */
    Span users;           /* the user's text that it stands for */
    int next_var;         /* ids from here on are fresh; raised */
    bool right_fails;     /* set where all conditions hold, and the right side is no term of the type */
    Nat num_sm, max_resident; /* the entry's, or NULL; set where the rule brings them in */
    /* Whether an operator has its laws for all values; *why: what shows that it has not. */
    bool (*lawful)(void *user, const Core *lambda, const char **why);
    void *user;
} RuleUse;

/* NULL, and *why in words, where a condition does not hold or is not known to. */
Core *rule_apply(Ctx *ctx, Program *program, RuleUse *use, const char **why);
/* A copy of `body` with a term for a variable, under fresh names. */
Core *rule_substitute(Ctx *ctx, Program *program, Core *body, CoreVar *var, Core *by, int *next_var);
/* 0, 1, or more than once; a use inside a function counts as several, unless that is called once. */
int rule_uses(const Core *body, const CoreVar *var);
/* Whether it moves no data and computes nothing, so that it may stand wherever its variable does. */
bool rule_is_view(Ctx *ctx, Program *program, const Core *term);

/* A rule or strategy by name, seen from the program's own file; also one of those that are always there. *home: its file. NULL: none. */
const Item *program_rule(const Program *program, const char *from, const char *name, const char **home);

/* The rules of that file for this level that rewrite what `like` does, as in "`a`, `b`"; NULL: none. */
const char *program_rules_for(Ctx *ctx, const Program *program, const char *home, const char *level, const Item *like);
/* The rule, strategy or word of strategies that a name was likely to be; NULL. */
const char *program_step_near(Ctx *ctx, const Program *program, const char *name);

/* Gives the program's constants, which are definitions of a number without parameters, other values, before anything is elaborated. */
void program_set_constants(Ctx *ctx, Program *program, int64_t (*value)(void *user, const char *name, int64_t written), void *user);

/* A module of the library, read if it was not yet; its names are not seen by the program. The home of its items; NULL with diagnostics. */
const char *program_module(Ctx *ctx, Program *program, const char *dotted);
/* The path of the program's own file. */
const char *program_path(const Program *program);

/* Is the operator known to commute? */
bool operator_commutes(const Core *lambda);

#endif
