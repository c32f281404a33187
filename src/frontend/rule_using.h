/* A rule at one place of use: what its parts share. See elab_rule.c. */
#ifndef RISEC_FRONTEND_RULE_USING_H
#define RISEC_FRONTEND_RULE_USING_H

#include "frontend/elab_internal.h"
#include "frontend/rule.h"

typedef struct Using {
    Elab *e;
    RuleUse *use;
    const Item *rule;
    const Env *env;
    Hole *holes; /* beside the parameters: sizes and types */
    LetBind *lets;
    const char **why;
} Using;

/* Keeps the first reason; false. */
bool rule_refuse(Using *u, const char *words);

/* Asks the conditions of the rule that are asked then. False, with the reason, where one does not hold or is not known to. */
bool ask_conditions(Using *u, RuleAsked when);

#endif
