/* What the lexer (grammar/rise.re), the grammar (grammar/rise.y) and the glue (parse.c, parse_error.c) share. Not for anyone else:
 * users of the parser include frontend/ast.h.
 *
 * The way of a text: lex_next cuts it into tokens; parse.c splits the tokens into items and feeds each item to a fresh run of the
 * LALR engine; the grammar's actions build the item. Before a token is fed, parse_accepts asks whether the engine would take it, so
 * that a mistake is seen before any default reduction has hidden what was expected; parse_error.c then reports and finds a place to
 * go on. The engine's own error handling is never reached. */
#ifndef RISEC_FRONTEND_PARSE_INTERNAL_H
#define RISEC_FRONTEND_PARSE_INTERNAL_H

#include "frontend/ast.h"
#include "frontend/token.h"

typedef struct Token {
    uint32_t lo, hi;   /* bytes of the source */
    uint8_t kind;      /* TokenKind */
    bool first;        /* of its line */
    const char *name;  /* interned: NAME and the words that may be names; else NULL */
} Token;

typedef struct Lexer {
    const unsigned char *text, *cursor, *end; /* *end is 0, and no other byte is */
    uint8_t last;                             /* kind of the token before, and where it ended */
    const unsigned char *last_end;
    bool in_fun;     /* the sign before a function's body is still to come */
    bool foreign_fun; /* and the function began in the way of another language: reported there */
    bool bars;       /* `|x|`: the second bar is still to come */
    bool primed;     /* a name with `'` was reported */
    bool quoted;     /* a curved quote was reported; the closing one belongs to it */
    StrBuf doc;      /* the documentation block before the next token */
    int doc_breaks;  /* line ends since its last line */
    bool has_doc;
} Lexer;

typedef struct AstList {
    VEC(Ast *) items;
    VEC(const char *) names; /* beside items; NULL for an item without a name */
    VEC(Span) spans;
} AstList;

typedef struct TokenList { VEC(Token) at; } TokenList;
typedef struct PatternList { VEC(Pattern) at; } PatternList;
typedef struct ParamList { VEC(Param) at; int groups; Span second; } ParamList;

typedef struct Parser {
    Ctx *ctx;
    uint32_t file;
    const char *text;
    Lexer lex;
    Token tok, prev; /* the token to feed next, and the one fed before it */

    /* The item being built. */
    Item *item;
    VEC(Param) params;
    VEC(Law) laws;
    VEC(Expect) expects;
    bool has_launch, has_body;
    int open;       /* brackets, in a rule; in an entry those of its strategy */
    bool strategic; /* a strategy: `;`, `<+` and `at` mean something */
    bool header_broken; /* the item becomes ITEM_ERROR, which keeps its name */
    bool body_broken;   /* the body becomes AST_ERROR: half a tree would only cause errors about itself */
    bool told_height;
    bool abandoned;     /* the engine's stack is at its limit */
    int fed;            /* tokens fed since the last mistake that was reported, or a large number */
    int recoveries;     /* in this item */
    int mistakes;       /* reported in this item; beyond a limit they go to `spare` and are forgotten */
    uint8_t bad_word;   /* a word of the language that was meant as a name: where it stands again, it is the same mistake */
    const char *own_sign; /* what an operator was called, though it is no name */
    size_t own_sign_size;
    Diag *slice;        /* what was said of a slice in this item */
    bool told_braces;   /* of this item */
    bool told_ternary;
    bool told_let;      /* which is missing, so that its `in` is the same mistake */
    bool told_method;
    bool quiet;         /* what is read is skipped: nothing is reported of it */
    Diag spare;
    uint32_t synced;    /* 1 + where parse_recover last came to a halt, so that it does not halt there again */
    Span body_eq;       /* the `=` before the body */

    void *engine;
    void *stack; /* the engine's stack, kept from item to item */
    size_t stack_size;
} Parser;

/* ---- lexer ------------------------------------------------------------------------------------------------------ */

void lex_start(Parser *ps);
/* The next token; T_END at the end, again and again. Reports what is wrong with the text itself. */
Token lex_next(Parser *ps);
/* The documentation block before the token just read; NULL when there is none. Call it at an item word. */
const char *lex_take_doc(Parser *ps);
/* The value of an INT or FLOAT token's text; `*suffix` interned or NULL. `digits`: its length without the suffix. */
bool lex_int_value(const char *text, size_t n, uint64_t *value, size_t *digits);
double lex_float_value(Ctx *ctx, const char *text, size_t n, size_t *digits);
bool token_ends_operand(int kind);

/* ---- engine: the lemon parser, in grammar/rise.y ---------------------------------------------------------------- */

void engine_start(Parser *ps);
void engine_feed(Parser *ps, int kind, Token token);
/* Whether this token could come next. Changes nothing. False when more than `steps` reductions come before it. */
bool engine_accepts(Parser *ps, int kind, int64_t steps);
/* The symbols on the stack, bottom is 1: a TokenKind, or -1 for a nonterminal. */
int engine_depth(Parser *ps);
int engine_symbol(Parser *ps, int index);
Token engine_token(Parser *ps, int index);
void engine_pop_to(Parser *ps, int depth);
/* Called by the engine: the stack, grown to `size` bytes; NULL beyond the limit. */
void *parse_stack_grow(Parser *ps, void *old, size_t size);
void parse_stack_overflow(Parser *ps);

/* ---- building, for the grammar's actions ------------------------------------------------------------------------- */

Span parse_span(Parser *ps, uint32_t lo, uint32_t hi);
Span token_span(Parser *ps, Token token);
/* Passes a tree on, or an AST_ERROR in its place when it is too high. */
Ast *parse_fit(Parser *ps, Ast *ast);
Ast *parse_int(Parser *ps, Token token);
Ast *parse_float(Parser *ps, Token token);
Ast *parse_pipe(Parser *ps, Ast *lhs, Token op, Ast *rhs);
Ast *parse_arrow(Parser *ps, Ast *lhs, Token op, Ast *rhs);
/* (names: kind) or {names: kind} before `->`. */
Ast *parse_binder(Parser *ps, Span span, TokenList *names, Ast *kind, bool braces);
Ast *parse_at(Parser *ps, Ast *what, TokenList *words);
Ast *parse_label(Parser *ps, Token hash, Token name, Ast *operand);
Ast *parse_parens(Parser *ps, Token open, Ast *inner, Token close);
Ast *parse_call(Parser *ps, AstKind kind, Ast *fn, AstList *args, Token close);
Pattern *parse_pattern_name(Parser *ps, Token token);
Pattern *parse_pattern_tuple(Parser *ps, Token open, PatternList *items, Token close);
Pattern *parse_pattern_typed(Parser *ps, Pattern *pattern, Ast *type);
void parse_params(Parser *ps, ParamList *params, Token open, bool braces);
void parse_param_untyped(Parser *ps, TokenList *names, Token open, bool implicit);
typedef enum Clause { CLAUSE_WHERE, CLAUSE_LAUNCH, CLAUSE_EXACT, CLAUSE_LOWERED, CLAUSE_UNIT } Clause;
void parse_clause(Parser *ps, Clause clause, Token word, AstList *list, Ast *ast, uint32_t hi);
void parse_accept(Parser *ps, Token word, const AstList *codes);
void parse_level(Parser *ps, Token word, Token name);
void parse_law(Parser *ps, Token word, Ast *within);
/* `given` NULL: no `for`. entry.kind T_END: of the item itself. */
void parse_expect(Parser *ps, Token word, Token entry, AstList *conditions, AstList *given, Token close);

/* `samples` NULL: no `for`. */
void parse_expect_result(Parser *ps, Token word, Ast *subject, Ast *wanted, AstList *samples);
Ast *parse_text(Parser *ps, Token token);

AstList *parse_list_add(Parser *ps, AstList *list, Token name, Ast *item); /* list NULL: a new one; name.kind T_END: no name */
TokenList *parse_tokens_add(Parser *ps, TokenList *list, Token token);
PatternList *parse_patterns_add(Parser *ps, PatternList *list, const Pattern *pattern);
ParamList *parse_params_add(Parser *ps, ParamList *list, TokenList *names, Pattern *tuple, Ast *kind, Ast *def, Ast *candidates);

/* ---- mistakes: parse_error.c and the files that parse_mistakes.h names --------------------------------------------------------------------------------------- */

/* Reports. A mistake of the grammar that follows at once is then not reported: it is most likely the same one. Never NULL. */
Diag *parse_mistake(Parser *ps, DiagCode code, Span span, const char *fmt, ...) PRINTF_LIKE(4, 5);
/* The token ps->tok was refused. Reports, and brings engine and text to a place where parsing goes on. False when the rest of
 * the item is given up; ps->tok is then still inside it. */
bool parse_recover(Parser *ps);
const char *parse_token_text(Parser *ps, Token token);
void parse_advance(Parser *ps);
/* The tree of what is being read is not to be used: the header's before the body begins, then the body's. */
void parse_broken(Parser *ps);
bool token_starts_item(int kind);
/* Only to guess what was meant: scalars are no words of the grammar. */
bool parse_is_scalar(const char *name);
/* At a `#` that is no label. */
void parse_report_comment(Parser *ps);
void parse_skip_line(Parser *ps);
/* `c ? a : b`, at the sign. Its colon is no other mistake. */
void parse_propose_if(Parser *ps, Diag *diag, uint32_t sign);
/* `expect f(2) == 4`, where the name begins. */
void parse_propose_expect(Parser *ps, Diag *diag, uint32_t at);

/* ---- constructors: ast.c. Each sets span and height; none checks the limit ------------------------------------------ */

Ast *ast_new(Ctx *ctx, AstKind kind, Span span);
Ast *ast_name(Ctx *ctx, Span span, const char *name);
Ast *ast_binary(Ctx *ctx, AstKind kind, Span span, AstOp op, Span op_span, Ast *lhs, Ast *rhs); /* rhs NULL: AST_UNARY */
Ast *ast_opfun(Ctx *ctx, Span span, AstOp op, Span op_span);
Ast *ast_call(Ctx *ctx, AstKind kind, Span span, Ast *fn, int n, Ast **items, const char **names, Span *name_spans);
Ast *ast_items(Ctx *ctx, AstKind kind, Span span, int n, Ast **items); /* TUPLE LIST */
Ast *ast_binder(Ctx *ctx, Span span, Param *param);
Ast *ast_lambda(Ctx *ctx, Span span, int n, Pattern *params, Ast *body);
Ast *ast_let(Ctx *ctx, Span span, const Pattern *pattern, Ast *value, Ast *body);
Ast *ast_if(Ctx *ctx, Span span, Ast *cond, Ast *then, Ast *otherwise);
Ast *ast_unroll(Ctx *ctx, Span span, const char *name, Span name_span, Ast *list, Ast *fn);
Ast *ast_at(Ctx *ctx, Span span, Ast *what, int n, PlaceWord *words);
Ast *ast_label(Ctx *ctx, Span span, const char *name, Span name_span, Ast *operand);

#endif
