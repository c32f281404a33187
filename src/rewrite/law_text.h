/* What laws.c and law_text.c share. */
#ifndef RISEC_REWRITE_LAW_TEXT_H
#define RISEC_REWRITE_LAW_TEXT_H

#include "frontend/rule.h"
#include "rewrite/laws.h"

typedef struct LawText {
    Ctx *ctx;
    const Item *rule;
    const char *text; /* of the file that has the rule */
    size_t size;
    const LawShape *shape;
    uint64_t state;              /* of what is chosen */
    const struct Chooser *chooser; /* of law_left: the operator that `orders` is about */
    const char *said[LAW_PARAMS]; /* set by law_left: what functions and data are */
} LawText;

/* ---- law_classes.c ---- */
/* What a constant of a template is in a trial. */
int64_t law_constant(uint64_t constants, const char *name, int64_t written);
void law_set_constants(Ctx *ctx, Program *program, const LawShape *shape);
/* The size tests of out->after, and where this launch goes. */
void law_find_classes(Ctx *ctx, LawOutcome *out, const Launch *launch);
void law_note_classes(Ctx *ctx, LawReport *report, const LawOutcome *out);

/* ---- law_text.c ---- */
void law_seed(LawText *t, uint64_t seed);
/* Random sizes, types and an operator. */
void law_choose(LawText *t, LawShape *to);
/* Operator `op`, with the types that follow from it. */
void law_set_operator(const Item *rule, LawShape *to, int op);
/* The file with an entry lawLeft behind it, whose body is the left side, inside the level that the rule wants. */
const char *law_left(LawText *t, const char *result);
/* The parameter of that name; -1. */
int law_param(const Item *rule, const char *name);
bool law_is_nat(const Param *p);
bool law_is_type(const Param *p);
/* False where the header is not one that trials can be made of. */
bool law_can_be_tried(const Item *rule);

#endif
