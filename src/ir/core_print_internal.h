/* What the two files of printing core share, and nobody else includes: core_print.c prints terms, core_print_entry.c what is around them. */
#ifndef RISEC_IR_CORE_PRINT_INTERNAL_H
#define RISEC_IR_CORE_PRINT_INTERNAL_H

#include "ir/core.h"
#include "support/table.h"

enum { WIDTH = 100, INDENT = 2 };

/* Of the grammar, low to high. A term is parenthesised where its own is below what its place asks for. */
typedef enum Prec {
    PREC_LOWEST, /* fun, let, if */
    PREC_PIPE,
    PREC_OR,
    PREC_AND,
    PREC_EQUAL,
    PREC_LESS,
    PREC_SUM = PREC_LESS + 2, /* >> is between */
    PREC_PRODUCT,
    PREC_PREFIX,
    PREC_POSTFIX = PREC_PREFIX + 2 /* ^ is between */
} Prec;

/* A variable in scope and what it is called here. var or nat may be NULL. */
typedef struct Binding {
    const CoreVar *var;
    Nat nat;
    const char *name;
    const char *base;   /* what it would be called if that were free */
    const char *hidden; /* what var was called around this */
} Binding;

/* How many bindings in scope are called so, and how many would be. */
typedef struct NameUse {
    int called, wanted;
} NameUse;

typedef struct Printer {
    StrBuf *out;
    Ctx *ctx;
    VEC(Binding) scope; /* innermost last */
    Table names, called; /* a name, interned: its NameUse; a variable: its name */
    VEC(Nat) renamed, renamed_to; /* nat variables whose own name is taken, and their stand-ins */
    bool flat;    /* on one line, up to `end` */
    bool failed;  /* flat: a line break or the margin was met */
    size_t end;   /* flat: the length that out may reach */
} Printer;

/* All of these do nothing once `failed` is set. */
void print_text(Printer *p, const char *text);
void print_line(Printer *p, int indent);
size_t print_column(const Printer *p);
/* Brings a variable into scope, for as long as the printer lives or its scope lasts; the name that it gets here. */
const char *print_bind(Printer *p, const CoreVar *var, Nat nat, const char *wanted);
void print_nat(Printer *p, Nat nat, Prec prec);
void print_type(Printer *p, Type type);
void print_term(Printer *p, const Core *term, Prec prec, int indent);

#endif
