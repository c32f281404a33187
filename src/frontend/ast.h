/* The syntax tree: what was written, before anything is known about it. Terms, sizes and types are one kind of expression;
 * elaboration tells them apart. Trees are immutable once parsed and live in the context's arena.
 *
 * The parser bounds the height of every tree by the stack (Stack.levels), so recursion over a tree is safe. */
#ifndef RISEC_FRONTEND_AST_H
#define RISEC_FRONTEND_AST_H

#include "support/context.h"

typedef struct Ast Ast;

typedef enum AstOp {
    OP_ADD, OP_SUB, OP_MUL, OP_DIV, OP_MOD, OP_POW,
    OP_EQ, OP_NE, OP_LT, OP_LE, OP_GT, OP_GE,
    OP_AND, OP_OR,
    OP_NEG, OP_NOT /* one operand: in lhs */
} AstOp;

typedef enum AstKind {
    AST_ERROR,   /* where the parser recovered; already reported */
    AST_NAME,    /* name; in the data of `expect` also a text, with its quotes */
    AST_INT,     /* value, suffix ("f32", "u8", or NULL) */
    AST_FLOAT,   /* number, suffix */
    AST_CALL,    /* fn(items): f(a, b) */
    AST_NAMED,   /* fn{name = item, ...}: given implicit arguments; names beside items */
    AST_BRACKET, /* fn[items]: an axis, options or an index; names[i] is the option's name (`pad` in [pad = 1]) or NULL */
    AST_DOT,     /* lhs.rhs: an array type `n.t`, or a projection when rhs is AST_INT. The chain leans left as written:
                    `n.m.t` is DOT(DOT(n, m), t) */
    AST_UNARY,   /* op, lhs */
    AST_BINARY,  /* op, lhs, rhs */
    AST_PIPE,    /* lhs |> rhs */
    AST_COMPOSE, /* lhs >> rhs */
    AST_ARROW,   /* lhs -> rhs: a function type; lhs may be AST_BINDER */
    AST_BINDER,  /* in a type: (names: kind) or {names: kind}; params[0], braces */
    AST_TUPLE,   /* items, two or more */
    AST_OPFUN,   /* (op): an operator as a function */
    AST_LAMBDA,  /* fun params => body */
    AST_LET,     /* let pattern = value in body */
    AST_IF,      /* if cond then lhs else rhs */
    AST_UNROLL,  /* unroll name in list (body): a function; body is the function of each step */
    AST_LIST,    /* [items], only after `in` */
    AST_SEQ,     /* strategies: lhs ; rhs */
    AST_ORELSE,  /* strategies: lhs <+ rhs */
    AST_AT,      /* strategies: what at place */
    AST_LABEL    /* #name operand */
} AstKind;

/* What a parameter, lambda or let binds: a name, `_`, or a tuple of patterns; with an optional type. */
typedef struct Pattern {
    Span span;
    const char *name; /* NULL for a tuple and for `_` */
    int n_items;      /* tuple: two or more */
    struct Pattern *items;
    Ast *type; /* or NULL */
    int height; /* bounded as a tree's is */
} Pattern;

/* Which of the places that fit, and the words for it; that for PICK_ONLY is empty. */
typedef enum Pick { PICK_ONLY, PICK_FIRST, PICK_LAST, PICK_EVERY, PICK_INNERMOST, PICK_OUTERMOST, PICK_COUNT } Pick;
extern const char *const place_picks[PICK_COUNT];

/* One word of a place: `map`, `inside`, `#inner`. */
typedef struct PlaceWord {
    const char *text; /* without the # */
    Span span;
    bool label;
} PlaceWord;

struct Ast {
    AstKind kind;
    bool parens; /* written in parentheses; they are inside the span */
    Span span;
    int height;
    union {
        struct { const char *text; } name;
        struct { uint64_t value; const char *suffix; } integer;
        struct { double value; const char *text; const char *suffix; } floating; /* text: digits as written, no suffix */
        struct { Ast *fn; int n; Ast **items; const char **names; /* NULL but for NAMED and BRACKET */ Span *name_spans; } call;
        struct { Ast *lhs, *rhs; AstOp op; Span op_span; } bin; /* DOT UNARY BINARY PIPE COMPOSE ARROW SEQ ORELSE OPFUN(op only) */
        struct { struct Param *param; Ast *next; /* the parser's own */ } binder;
        struct { int n; Ast **items; } list; /* TUPLE LIST */
        struct { int n; Pattern *params; Ast *body; } lambda;
        struct { Pattern *pattern; Ast *value, *body; } let;
        struct { Ast *cond, *then, *otherwise; } cond;
        struct { const char *name; Span name_span; Ast *list; Ast *fn; } unroll;
        struct { Ast *what; int n; PlaceWord *words; } at;
        struct { const char *name; Span name_span; Ast *operand; } label;
    };
};

/* One parameter of a header. `{n m: nat}` gives one Param a name. `kind` is the expression after the colon: `nat`, `data`, or a
 * type; NULL for an untyped one (an error in headers, reported by the parser). */
typedef struct Param {
    Span span;      /* of the name */
    const char *name; /* NULL when it is a tuple pattern: see pattern */
    Pattern pattern;
    bool implicit;  /* in braces */
    Ast *kind;
    Span kind_span; /* of the written type */
    Ast *def;       /* `= e`: a tunable's default; or NULL */
    Ast *candidates; /* `in [..]`: AST_LIST or another list expression (`halving(1024)`); or NULL */
} Param;

/* ITEM_ERROR: the header is wrong, which has been reported. Its name is kept where there was one (else NULL), so that uses of it
 * need not be reported. An item whose body alone is wrong keeps its kind; its body is AST_ERROR. */
typedef enum ItemKind { ITEM_DEF, ITEM_ENTRY, ITEM_OPERATOR, ITEM_IMPORT, ITEM_RULE, ITEM_STRATEGY, ITEM_ERROR } ItemKind;

typedef struct Option { /* name = value, in launch [...] */
    const char *name;
    Span span;
    Ast *value;
} Option;

typedef struct Law { /* of an operator: `associative`, `commutative`, `associative within 1e-5` */
    const char *name;
    Span span;
    Ast *within; /* or NULL */
} Law;

/* What the counters of the simulator are to be, for some sizes: `expect [barriers == 1] for n = 4096`.
 * Or what the result is to be, for each combination of some values:
 * `expect result == other for n = 0, 1, m = 2`. */
typedef struct Expect {
    Span span;
    const char *entry; /* in a file of expectations: the entry, or NULL for the only one */
    Span entry_span;
    int n;
    Ast **conditions;
    Ast *subject;      /* `result`, or `result.1`; or NULL: counters */
    Ast *wanted;       /* a name, or data: a number, a text, AST_LIST of such */
    int n_given;
    Option *given;     /* after `for`; a further value of the one before has no name */
} Expect;

typedef struct Item {
    ItemKind kind;
    Span span, name_span;
    const char *name;
    const char *doc;    /* documentation comment before it, lines joined by \n, or NULL */
    int n_params;
    Param *params;
    Ast *result;        /* DEF ENTRY OPERATOR: the type after ':'; may be NULL for DEF */
    int n_where;
    Ast **where;
    int n_launch;
    Option *launch;
    Span launch_span;
    bool exact;         /* ENTRY: marked `exact` */
    Ast *unit;          /* OPERATOR */
    int n_laws;
    Law *laws;
    int n_expects;      /* ENTRY */
    Expect *expects;
    int n_accepts;      /* ENTRY: warnings that it is not given, `accept [W0704]` */
    DiagCode *accepts;
    const char *level;  /* RULE: where it may fire, or NULL */
    Span level_span;
    Ast *lowered;       /* ENTRY: `lowered by S`: the strategy; or NULL */
    Ast *body;          /* NULL in a signature (a primitive's header); RULE: the equation, an AST_BINARY with OP_EQ */
    const char *path;   /* IMPORT: `import "file.rise"` the text; `import std.warp` the dotted name */
    bool is_file;       /* IMPORT: the quoted form */
} Item;

/* Does the entry say that this warning is known, and as it is wanted? item: or NULL. */
bool item_accepts(const Item *item, DiagCode code);

typedef struct AstFile {
    uint32_t file;
    VEC(Item *) items;
} AstFile;

/* Parses a source that source_add knows. Always gives a tree; mistakes are in the diagnostics, several a run. */
AstFile *parse_file(Ctx *ctx, uint32_t file);
/* A primitive's header, as in `split {n: nat} {t: data} (k: nat) (xs: n.t): (n/k).k.t where k >= 1, n % k == 0`: an item of kind
 * DEF without a body. */
Item *parse_signature(Ctx *ctx, uint32_t file);
/* A file of `expect` clauses, and nothing else: an item with these alone. */
Item *parse_expectations(Ctx *ctx, uint32_t file);

/* Spelled as it would be written, parenthesised only where needed. */
void ast_print(StrBuf *out, const Ast *ast);
void ast_print_pattern(StrBuf *out, const Pattern *pattern);
/* The equation of a rule. */
void ast_print_equation(StrBuf *out, const Ast *equation);
void ast_print_item(StrBuf *out, const Item *item);
/* --emit=ast: the whole file. What it prints parses to the same tree. */
void ast_print_file(StrBuf *out, const AstFile *file);
const char *ast_op_text(AstOp op);
/* The expressions in it, from left to right. */
int ast_children(const Ast *ast);
const Ast *ast_child(const Ast *ast, int i);
/* Whether it is this word of the language and no more: `nat` as a kind. */
bool ast_is_word(const Ast *ast, const char *word);
static inline bool ast_is_nat(const Ast *kind) { return ast_is_word(kind, "nat"); }

#endif
