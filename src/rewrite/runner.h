/* The machine that runs strategies: what strategy.c, arguments.c and builtins.c share. */
#ifndef RISEC_REWRITE_RUNNER_H
#define RISEC_REWRITE_RUNNER_H

#include "rewrite/internal.h"
#include "support/table.h"

enum { LIMIT_REWRITE_STEPS = 10000, LIMIT_STRATEGY_DEPTH = 200, LIMIT_TRIED = 1000000, LIMIT_BOUNDED = 100000 };
/* A look at a term where a rule cannot apply costs less than to try it. */
enum { LOOKS_A_TRY = 10 };

typedef struct SEnv { /* a strategy's parameters */
    const char *name;
    int64_t nat;
    bool is_nat;
    const Ast *ast;  /* a strategy, in env */
    const struct SEnv *env;
    const char *home; /* of ast */
    const struct SEnv *up;
} SEnv;

typedef struct Strategy { /* an expression where it stands */
    const Ast *ast;
    const SEnv *env;
    const char *home;
} Strategy;

typedef struct TriedOperator {
    const Item *declared; /* NULL: one that is built in */
    const char *why;      /* NULL: it has its laws for all values */
} TriedOperator;

typedef struct Runner {
    Ctx *ctx;
    Program *program;
    CoreEntry *entry;
    Rewriting *out;
    int next_var, most, depth;
    int64_t tried, most_tried; /* in looks */
    bool bounded, exhausted;   /* within `bounded`; and that has tried what it may */
    int highest; /* a term that becomes so many levels grows for ever */
    Nat num_sm, max_resident;
    bool stopped; /* after `most` steps, or a mistake that was reported */
    bool mistake;
    bool verified; /* the whole was well typed once, and each step since then keeps it so */
    int searching, fail_rank; /* within traversals; how near the failure was that is noted */
    Span asked;           /* the innermost part of the strategy that runs and is the user's text; nowhere in the default one */
    const Here *here;     /* where it runs */
    const Here *stage;     /* what has a launch of its own there; NULL: the whole entry */
    Span fail_span, fail_users; /* of what failed last: Note [Where a message stands] */
    const char *fail_what, *fail_where, *fail_why; /* fail_what NULL: fail_why says all */
    const Core *fail_term;
    int n_settings;
    const StrategySetting *settings;
    VEC(TriedOperator) lawful;
    Table words;              /* from what the strategies' text calls to what that is: strategy.c */
} Runner;

/* ---- step.c ---- */
/* One step: `after` in place of what is here. Every step is checked: NULL, and reported, where the whole would not be well typed, or too high. */
Core *strategy_step(Runner *r, const char *rule, const Item *law, const Here *here, Core *after, Span span);

/* ---- strategy.c ---- */
Span users_place(const Runner *r); /* Note [Where a message stands] */
Runner *runner_new(Ctx *ctx, const CoreEntry *entry, int most, Rewriting *out);
/* The entry with this body, and what the strategy said of it beside: out->entry. */
void runner_finish(Runner *r, Core *body);
/* Runs a strategy here: the term that comes out, or NULL where it does not apply; what it did is undone then. */
Core *run_strategy(Runner *r, Strategy s, const Here *here);
/* Notes what failed, for the message where the whole fails: Note [Failure]. */
Core *strategy_fail(Runner *r, Span span, const char *what, const Here *here, const char *why);
/* Reports what is wrong with the strategy itself, and ends everything. Notes may be added. */
Diag *strategy_error(Runner *r, DiagCode code, Span span, const char *words);
/* The same, with one note or NULL. Gives NULL. */
Core *strategy_mistake(Runner *r, DiagCode code, Span span, const char *words, const char *help);
/* What goes on and on: reported as E0805, but within `bounded`, which then does not apply. Gives NULL. */
Core *strategy_endless(Runner *r, Span span, const char *words, const char *note);

/* ---- traversal.c ---- */
const Here *here_with(Ctx *ctx, const Here *here, Core *term);
/* The term at `to`, which lies in or below `here`, replaced: the term at `here`. */
Core *lift(Ctx *ctx, const Here *here, const Here *to, Core *term);
typedef enum PlaceOrder { HERE_ONLY, TOP_DOWN, BOTTOM_UP } PlaceOrder;
/* At the first place, in this order, that it applies at. */
Core *once(Runner *r, Strategy s, const Here *here, PlaceOrder order);
/* As often as it applies so; `least` times at least. */
Core *again(Runner *r, Strategy s, const Here *here, PlaceOrder order, int least, Span span);
Core *everywhere(Runner *r, Strategy s, const Here *here);
/* At a place, and then below what has become of it, so that of terms in a row every other one is left alone. */
Core *downwards(Runner *r, Strategy s, const Here *here);
/* In the function that a primitive applies; lets: behind its lets. */
Core *in_function(Runner *r, Strategy s, const Here *here, bool lets, Span span);
Core *in_items(Runner *r, Strategy s, const Here *here, Span span);
/* The last argument, where the primitive is applied to data. */
Core *in_argument(Runner *r, Strategy s, const Here *here, Span span);
Core *in_branch(Runner *r, Strategy s, const Here *here, int child, const char *word, Span span);
/* It does not apply where it takes too long. */
Core *bounded(Runner *r, Strategy s, const Here *here, Span span);

/* ---- arguments.c ---- */
/* `f(a, b)` and `f{k = a}`: the function and what it is given. */
typedef struct SCall {
    const char *name;
    Span span;
    int n;
    Ast *const *args;
    const char *const *names; /* NULL: by position */
    const Span *name_spans;
} SCall;

bool as_call(const Ast *ast, SCall *call);
const SEnv *senv_find(const SEnv *env, const char *name);
/* A size in a strategy: of its parameters and of the sizes of the entry. NULL, and reported, when it is none. */
Nat size_of(Runner *r, const Ast *ast, const SEnv *env);
/* What an `unroll` goes over: `[16, 8, 4]` and `halving(32)`, as in programs. False, and reported, when it is no list of constants. */
typedef struct Constants { VEC(int64_t) at; } Constants;
bool constants_of(Runner *r, const Ast *list, const SEnv *env, Constants *out);
/* Which parameter argument i is for; -1, and reported, when there is none. Those in braces are not given by position. */
int param_for(Runner *r, const Item *item, const SCall *call, int i);
bool is_nat_param(const Param *p);
/* "it takes `(k: nat) (s: steps)`", for a help. */
const char *takes_text(Ctx *ctx, const Item *item);
const char *ast_text(Ctx *ctx, const Ast *ast);

/* ---- builtins.c: what no equation can say ---- */
Core *inline_let(Runner *r, Span span, const Here *here);
Core *let_of_let(Runner *r, Span span, const Here *here);
Core *name_reduce(Runner *r, Span span, const Here *here);
/* `let total = AT in HERE` with the name in place of the term. */
Core *named_before(Runner *r, const Here *here, const Here *at);
Core *lowers(Runner *r, Span span, const Here *here);
Core *set_launch(Runner *r, const SCall *call, const SEnv *env, const Here *here);
/* A step that tells of the entry's launch, where that was another one before. */
Core *launch_entry(Runner *r, Span span, const Here *here, const CoreLaunch *before);
typedef Core *LaunchedStep(Runner *r, Span span, const Here *here, CoreLaunch launch);
/* `let xs = value in rest` as value |> nextKernel(fun xs => rest), launched so; repeatKernels whose first kernel is. */
LaunchedStep stage_to_kernel, launch_repeated;
/* The term behind a kernel that does nothing, and so is none: what begins there has this launch. schedule.c. */
LaunchedStep begin_again;
/* The word with what a launch says. */
const char *launch_text(Ctx *ctx, const char *word, const CoreLaunch *launch);
/* The step with the launch that the call gives: steps that are made again. */
Core *launched(Runner *r, const SCall *call, const SEnv *env, const Here *here, LaunchedStep *step);

/* ---- stages.c ---- */
/* s at the first place on the way to the results; s at all results. */
Core *on_way(Runner *r, Strategy s, const Here *here);
Core *on_results(Runner *r, Strategy s, const Here *here);
/* What is here, where there is one stage in it. */
Core *one_stage(Runner *r, Span span, const Here *here);
Core *is_light(Runner *r, Span span, const Here *here);
Core *is_moved(Runner *r, Span span, const Here *here);
/* What is here, where that says who computes it. */
Core *is_computed(Runner *r, Span span, const Here *here);
/* What is here, where s does not apply. */
Core *unless(Runner *r, Strategy s, const Here *here, Span span);

/* ---- schedule.c ---- */
Core *make_nests(Runner *r, Span span, const Here *here);
Core *make_stored(Runner *r, Span span, const Here *here);
Core *split_branches(Runner *r, Span span, const Here *here);
Core *in_split(Runner *r, Strategy s, const Here *here, Span span);
Core *in_innermost(Runner *r, Strategy s, const Here *here, Span span);
Core *layout_here(Runner *r, Span span, const Here *here);
/* A value that is stored as an array of one, as that; NULL: it is not. */
Core *as_array(Ctx *ctx, Core *term);
Core *next_kernel(Runner *r, const Core *let, CoreLaunch launch);
/* What begins a kernel gets this launch, and whose choice it is. */
void take_launch(const Ctx *ctx, Core *begins, const CoreLaunch *launch);
Core *stages_to_kernels(Runner *r, Strategy stage, Strategy result, Span span, const Here *here);

/* ---- copies.c ---- */
/* What is here, copied by a thread for each element of its first dimension. */
Core *copy_in_order(Runner *r, Span span, const Here *here);


#endif
