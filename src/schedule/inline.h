/* What is known of an array while it is decided whether it is stored: inline.c counts reads and puts
 * terms together, costs.c decides. */
#ifndef RISEC_SCHEDULE_INLINE_H
#define RISEC_SCHEDULE_INLINE_H

#include "ir/costs.h"
#include "schedule/shape.h"
#include "support/table.h"

typedef struct Info Info;
struct Info {
    Nest *nest;
    const Nest *made; /* the same, for the list of those that are stored */
    bool heavy;   /* a fold, or another primitive that stays */
    double reads; /* of an element */
    double cost;  /* of an element, in reads of one from memory */
    int size;     /* reads and functions of an element */
    bool too_long; /* more of them than may be a part of other elements */
    StoreCost stored;
    int whole;    /* how often the result is the array itself */
    int places;   /* where elements are read */
    bool alone;   /* nothing reads it, and it is a result */
    bool by_one;  /* one thread goes through it in order, alone */
    bool elsewhere; /* it is read otherwise than row by row */
    bool on_chip; /* who reads a row of it computes that row, and keeps it */
    bool refuted; /* that was thought, and is not so */
    bool inlined;
    bool spread;  /* a read of it is another than of the reader's own element, once */
    bool local;   /* all that read it are parts of one element: it is worked out there, once */
    const Core *cond; /* as in NestChoice */
    bool holds;
    VEC(Info *) readers; /* unless it is spread */
    Core *closed; /* inlined: the element, once what it reads is inlined, unless it is local */
};

/* A read that stands in several places of an element is one value. */
typedef struct Bind {
    const Core *read;
    CoreVar *var;
    Core *value; /* while reads are counted: NULL */
    int uses;
} Bind;

typedef struct Inline {
    Ctx *ctx;
    EndsOpen ends_open;
    const CoreEntry *entry;
    const Costs *costs;
    int *next_var;
    VEC(Info *) infos;
    Table of_var;     /* CoreVar -> Info */
    VEC(Bind) binds;  /* in the functions and branches around */
    bool deep;        /* what an inlined element reads is not inlined yet */
    const Nest *reader;
    bool in_order;    /* within what one thread does */
    NestChoices *said;
    bool again;       /* something was thought that is not so */
    RowSizes rows;    /* that one kernel computes several arrays by */
    bool elements;    /* wanted: elements of arrays, and not how they are computed */
} Inline;

/* Reads and functions of an element. What has more is stored whoever reads it, and whatever things
 * cost: a term that grows with each array of a chain would take a time and a memory that is the
 * square of their number. */
enum { INLINE_LARGEST = 128 };
/* The same of what is read any number of times: the work of the program stays a few times what it is. */
enum { INLINE_OFTEN = 4 };

/* The read as it is bound around; NULL: it is not. */
Bind *inline_bind_of(const Inline *in, const Core *read);
/* Is the child of the term evaluated elsewhere, oftener, or under a condition? */
bool inline_opens_scope(const Core *term, int child);
/* A primitive that is no part of an element: others can compute it together. */
bool inline_stays(PrimId id);
Nat inline_cells(Ctx *ctx, Type type);

/* ---- costs.c ---- */

/* Once reads are counted: what is worked out within one element. */
void inline_find_local(Inline *in);
/* In the order of the list: whether it is stored. */
void inline_choose(Inline *in, Info *info);

#endif
