/* Strategies: which rule goes where. A strategy turns the body of an entry into another that means the same, a step at a time; each step is one rule at one
 * place, checked as it is made. What `risec lower` shows. */
#ifndef RISEC_REWRITE_REWRITE_H
#define RISEC_REWRITE_REWRITE_H

#include "frontend/elab.h"
#include "schedule/nests.h"

typedef struct RewriteStep {
    const char *rule;  /* as the strategy says it, with its arguments: `reduceSplit(4096)` */
    const char *place; /* where: `reduce inside mapBlock` */
    const Item *law;   /* the rule; NULL: one that is built in */
    const char *given; /* of law, what the strategy gave: `k = 256`; "" where that is nothing */
    const char *home;  /* of law: where it stands, a module of the library or the path of a file */
    Span span;         /* where the strategy says it */
    Span users;        /* what of the user's text has it done: of his strategy, or of what is rewritten */
    int depth;
    int *path;         /* to the place, from the root: which child at each level */
    Core *before, *after;         /* the term that was rewritten; the same where only the launch was set */
    const struct Here *here;      /* the place */
    Core *body;                   /* the whole, after; NULL until step_body is asked for it */
    CoreLaunch launch;            /* after */
    const NestChoices *choices;   /* of the step `stored`; else NULL */
} RewriteStep;

Core *step_body(Ctx *ctx, RewriteStep *step);

typedef struct Rewriting {
    VEC(RewriteStep) steps;
    CoreEntry *entry; /* rewritten */
    const char *right_fails; /* why a rule whose conditions hold has no right side, first; NULL: none was such */
} Rewriting;

/* What a strategy is called with instead of its defaults. */
typedef struct StrategySetting {
    const char *name;
    int64_t value;
} StrategySetting;

/* Rewrites the entry by `strategy`, an expression that names are looked up in the program's file. At most `most` steps are made (below 0: any
 * number). False, with diagnostics (E08xx), where it does not apply; the steps made until then stay in `out`. */
bool rewrite_entry(Ctx *ctx, const CoreEntry *entry, const Ast *strategy, int n_settings, const StrategySetting *settings, int most, Rewriting *out);

/* By the strategy after its `lowered by`; where there is none and the entry has high-level patterns, by the scheduler; else it stays as it is. */
bool rewrite_by_its_own(Ctx *ctx, const CoreEntry *entry, int most, Rewriting *out);
/* A step that was made before, to be made again. */
typedef struct ReplayStep {
    Span span;
    const char *rule;  /* as RewriteStep has it */
    const char *home;  /* where its name is looked up: a module of the library, or the path of a file; NULL: the program's own */
    const char *place;
    int depth, *path;
    const char *before, *after; /* the terms as text */
} ReplayStep;

/* Makes the steps again. They fit where the place is there, and of the same kind, and the rule applies; where the term is the one that it was, the rule has to
 * make the same of it. False with E0807, which says at which step that ends, what was expected there and what is there instead. */
bool rewrite_replay(Ctx *ctx, const CoreEntry *entry, int n, const ReplayStep *steps, int most, Rewriting *out);

/* As a list of nests (schedule/nests.h), if the scheduler lowers it; else the entry itself. */
CoreEntry *entry_as_nests(Ctx *ctx, CoreEntry *entry);
/* Whether the scheduler lowers the entry. */
bool entry_is_high(const CoreEntry *entry);
/* Folds and scans that one thread does alone over an array of any length, where whole patterns would have it done by many: of a lowered term. */
typedef VEC(const Core *) SlowWalks;
void term_slow_walks(Ctx *ctx, const NatFacts *known, const Core *term, SlowWalks *out);
/* The entry that is compiled: the one given, or what the strategy after its `lowered by` makes of it. NULL with diagnostics. */
const CoreEntry *rewritten_entry(Ctx *ctx, const CoreEntry *entry);

#endif
