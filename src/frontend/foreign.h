/* Words of other languages and libraries, for messages only: what a newcomer wrote, and what this language has in its place.
 * The table is foreign.def. It gives no word a meaning: it is asked where a name is not declared, or the grammar refused a text. */
#ifndef RISEC_FRONTEND_FOREIGN_H
#define RISEC_FRONTEND_FOREIGN_H

#include "support/diag.h"

typedef enum ForeignPlace {
    FOREIGN_ITEM,      /* where an item should start */
    FOREIGN_IMPORT,    /* the same, with the name of a module behind it */
    FOREIGN_ARGUMENT,  /* an argument's name, before `=` */
    FOREIGN_DIRECTIVE, /* behind a `#` at the start of a line */
    FOREIGN_STATEMENT, /* where an expression starts, and goes on as no expression does */
    FOREIGN_INFIX,     /* between two operands */
    FOREIGN_VALUE,     /* a function or a value */
    FOREIGN_LENGTH_OF, /* one of these that asks how long an array is */
    FOREIGN_LIBRARY,   /* the last word of a module that is imported */
    FOREIGN_MODULE,    /* before a dot and a name */
    FOREIGN_TYPE,      /* a type or a kind */
} ForeignPlace;

typedef struct Foreign {
    const char *word;
    ForeignPlace place;
    const char *help;
    const char *instead; /* NULL: nothing does the same in its place */
} Foreign;

/* NULL when the table has no such word for this place. The word need not be terminated. */
const Foreign *foreign_find(const char *word, size_t size, ForeignPlace place);
/* The hint: with an `instead` it proposes that at `span`, else it is a note. A span that is nowhere has no edit. */
void foreign_hint(Ctx *ctx, Diag *diag, Span span, const Foreign *foreign);

/* elab_hints.c: the nearest spelling; NULL where none is near. */
const char *did_you_mean(Ctx *ctx, const char *name, int n, const char *const *candidates);
/* The first that differs by a letter too many or missing, by two that changed places, or by case; NULL. */
const char *misspelt(const char *name, int n, const char *const *candidates);

#endif
