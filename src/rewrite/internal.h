/* What the files of rewriting share. */
#ifndef RISEC_REWRITE_INTERNAL_H
#define RISEC_REWRITE_INTERNAL_H

#include "frontend/rule.h"
#include "ir/terms.h"
#include "rewrite/match.h"
#include "rewrite/rewrite.h"

/* A place in a term: the node, and the way up from it. Immutable. */
typedef struct Here {
    Core *term;
    const struct Here *up; /* NULL at the root */
    int child;             /* of up->term */
    NatFacts *facts;       /* known there */
} Here;

/* What the place of a step is called that sets the launch: the body is not looked at. */
#define LAUNCH_PLACE "the whole entry"

/* ---- strategy.c ---- */
/* rewrite_entry, with the names of the strategy looked up in another file of the program. */
bool rewrite_from(Ctx *ctx, const CoreEntry *entry, const Ast *strategy, const char *home, int n_settings, const StrategySetting *settings, int most, Rewriting *out);

/* ---- terms.c ---- */
/* Whether a `let` or a function in it binds the variable. */
bool term_binds(const Core *term, const CoreVar *var);
/* Ids of variables from here on are fresh. */
int term_next_var(const CoreEntry *entry);
/* A copy with another child of the same type. */
Core *term_with_child(Ctx *ctx, const Core *term, int i, Core *child);
/* The child's place, with what is known there beside what is known here. */
const Here *here_child(Ctx *ctx, const Here *here, int i);
/* The whole with `term` here. */
Core *here_plug(Ctx *ctx, const Here *here, Core *term);
typedef enum PlaceLevel { AT_GRID, AT_BLOCK, AT_WARP, AT_THREAD } PlaceLevel;
PlaceLevel here_level(const Here *here);
Nat here_lanes(Ctx *ctx, const Here *here); /* of the mapWarp around; or NULL */
bool here_has_level(const Here *here, PlaceLevel level);
bool level_find(const char *name, PlaceLevel *level);
const char *level_name(PlaceLevel level);
/* The children in reading order, as in `x |> p(f)`: x, then p itself (-1), then f. Gives their number; order has room for one more than there are children. */
int reading_order(const Core *term, int *order);

/* ---- place.c ---- */
/* The places in and below `here` that the words of an `at` name, in reading order. False when the words are wrong: then `bad` is, and `why` says why. */
typedef struct Places {
    VEC(const Here *) at;
    bool every;
    const PlaceWord *bad;
    const char *why;
} Places;
bool places_find(Ctx *ctx, const Here *here, int n, const PlaceWord *words, Places *out);
const char *place_text(Ctx *ctx, int n, const PlaceWord *words);
/* What a place is called in a trace: `reduce inside mapBlock`. */
const char *here_text(Ctx *ctx, const Here *here);
/* The primitives and labels that stand below, for a message. */
const char *places_there(Ctx *ctx, const Here *here);

#endif
