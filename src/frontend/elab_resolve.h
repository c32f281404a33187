/* What the files of the resolver share: the walk over all names, what to say of those that mean nothing, and of those that mean themselves. */
#ifndef RISEC_FRONTEND_ELAB_RESOLVE_H
#define RISEC_FRONTEND_ELAB_RESOLVE_H

#include "frontend/elab_internal.h"

typedef struct Local {
    const char *name;
    Span at; /* where it is bound; NO_SPAN: nowhere */
    bool *used; /* set where the name is */
    const struct Local *up;
    const NameMap *names; /* up to this one */
} Local;

typedef enum Mark { MARK_NEW, MARK_OPEN, MARK_DONE } Mark;

typedef struct Node { /* an item, for the search of recursion */
    const Item *item;
    const FileScope *home;
    Mark mark;
    VEC(int) uses;
    VEC(Span) use_spans;
} Node;

typedef struct Resolver {
    Ctx *ctx;
    Program *program;
    const FileScope *scope;
    VEC(Node) nodes;
    int node; /* whose body is walked; -1: none */
    const Item *item;   /* that is walked */
    const Item *header; /* whose types and conditions are walked, else NULL */
    VEC(const char *) missing; /* sizes of this item that nothing declares */
    Diag *missing_size;        /* what says so, or NULL */
    VEC(const char *) missing_types;
    Diag *missing_type;
    VEC(const char *) told; /* names of the library without their import: one message for each */
    VEC(const char *) of_item; /* unknown names of the item that is walked */
    VEC(Diag *) of_item_said;  /* beside them, what was said */
    int types;      /* depth of types around the name that is walked */
    bool strategic; /* what is walked is a strategy */
} Resolver;

bool resolve_bound(const Local *scope, const char *name);
/* Whether it means anything here: bound, an item, or a word that is always there. */
bool resolve_known(const Resolver *r, const char *name, const Local *scope);
/* What uses the item that is walked has nothing more to say, and neither has its own elaboration. */
void resolve_unusable(Resolver *r);

/* elab_cycles.c. Report names that have two meanings, and items that use themselves. */
void check_duplicates(Resolver *r, const FileScope *scope);
void find_cycles(Resolver *r);

/* Reports a name that means nothing. */
void unknown_name(Resolver *r, const char *name, Span span, const Local *scope);
/* Reports what is no type and no component: `np.sum`, `threadIdx.x`, `xs.shape`, `sqrt . abs`. False where the dot may mean something. */
bool unknown_dot(Resolver *r, const Ast *ast, const Local *scope);
/* `while (x < 3) {y = x}`: a call in form, and a statement of another language. */
bool unknown_statement(Resolver *r, const Ast *ast, const Local *scope);
/* `mapGlobal(y)(f)`: an axis that stands in parentheses. */
bool axis_in_parens(Resolver *r, const Ast *ast, const Local *scope);
/* elab_length.c. `len(row)`, `row.len`: the name of that size, where the text says it. */
bool propose_length_of(Resolver *r, Diag *d, Span word, const Local *scope);
/* `x -> e` where a value is needed. */
void arrow_as_value(Resolver *r, const Ast *ast);

#endif
