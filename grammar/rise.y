/* The grammar: tokens to the syntax tree. Spec: docs/language.md. Generated C goes to the build tree only:
 *     lemon -l -q -d<build directory> rise.y
 *
 * One run of the parser reads one item. Terms, sizes and types share the postfix chain; `type` is what may stand after a colon, where
 * operators mean nothing. Mistakes never reach the engine (see parse_internal.h): there are no error productions here but BROKEN,
 * which stands for what parse_error.c skipped. */
%name RisePars
%token_prefix TK_
%token_type {Token}
%extra_context {Parser *ps}
%stack_size 0

%include {
/* The library never aborts, and prints no traces. */
#ifndef NDEBUG
#define NDEBUG
#endif
#include <stdlib.h>

#include "frontend/parse_internal.h"

/* The engine grows its stack with malloc and realloc: give it the context's memory. `p` is the engine in yyGrowStack. */
#define malloc(size) parse_stack_grow(p->ps, NULL, (size))
#define realloc(old, size) parse_stack_grow(p->ps, (old), (size))
#define free(block) ((void)(block))

#define YYNOERRORRECOVERY 1
#define RisePars_ENGINEALWAYSONSTACK 1
#if defined(__GNUC__)
/* The template's, not ours. */
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wunused-variable"
#define MAYBE_UNUSED __attribute__((unused))
#else
#define MAYBE_UNUSED
#endif
/* Declared static here, they stay so where the template defines them. */
static void RisePars(void *engine, int kind, Token token);
static void RiseParsInit(void *engine, Parser *ps);
static void RiseParsFinalize(void *engine) MAYBE_UNUSED;
static int RiseParsFallback(int kind) MAYBE_UNUSED;

static Span over(const Ast *lo, const Ast *hi) { return span_join(lo->span, hi->span); }
static Span from(Parser *ps, Token lo, Ast *hi) { return parse_span(ps, lo.lo, hi->span.hi); }
static Span between(Parser *ps, Token lo, Token hi) { return parse_span(ps, lo.lo, hi.hi); }
static Ast *binary(Parser *ps, AstOp op, Ast *lhs, Token at, Ast *rhs)
{
    return parse_fit(ps, ast_binary(ps->ctx, AST_BINARY, over(lhs, rhs), op, token_span(ps, at), lhs, rhs));
}
static Ast *unary(Parser *ps, AstOp op, Token at, Ast *operand)
{
    return parse_fit(ps, ast_binary(ps->ctx, AST_UNARY, from(ps, at, operand), op, token_span(ps, at), operand, NULL));
}
static Ast *dot(Parser *ps, Ast *lhs, Token at, Ast *rhs)
{
    return parse_fit(ps, ast_binary(ps->ctx, AST_DOT, over(lhs, rhs), OP_ADD, token_span(ps, at), lhs, rhs));
}
static Ast *tuple(Parser *ps, Token open, AstList *items, Token close)
{
    Ast *ast = ast_items(ps->ctx, AST_TUPLE, between(ps, open, close), items->items.n, items->items.at);
    ast->parens = true;
    return parse_fit(ps, ast);
}
static Ast *opfun(Parser *ps, Token open, AstOp op, Token at, Token close)
{
    return ast_opfun(ps->ctx, between(ps, open, close), op, token_span(ps, at));
}
static Ast *name(Parser *ps, Token token) { return ast_name(ps->ctx, token_span(ps, token), token.name); }
static const Token unnamed = {.kind = T_END};
}

%syntax_error { (void)yymajor; (void)yyminor; }
%stack_overflow { parse_stack_overflow(ps); }

/* In the order of PARSE_TOKENS. */
%token NAME INT FLOAT STRING UNDERSCORE DEF ENTRY OPERATOR IMPORT RULE STRATEGY FUN LET IN IF THEN ELSE WHERE UNROLL AND OR NOT
       LP RP LBRACKET RBRACKET LBRACE RBRACE COMMA COLON DOT EQ DARROW ARROW PIPE COMPOSE EQEQ NE LT LE GT GE PLUS MINUS STAR SLASH
       PERCENT POW SEMI ORELSE HASH UNIT LAUNCH EXACT LOWERED BY WITHIN EXPECT ACCEPT FOR LEVEL AT ASSOCIATIVE COMMUTATIVE EQUATION SIGNATURE EXPECTATIONS RESUME BROKEN.
%fallback NAME UNIT LAUNCH EXACT LOWERED BY WITHIN EXPECT ACCEPT FOR LEVEL ASSOCIATIVE COMMUTATIVE.

%right FUN.
%left SEMI.
%left ORELSE.
%left AT.
%right ARROW.
%left PIPE.
%left OR.
%left AND.
%nonassoc EQEQ NE.
%nonassoc LT LE GT GE.
%left COMPOSE.
%left PLUS MINUS.
%left STAR SLASH PERCENT.
%right NOT.
%right POW.

%type expr {Ast *}
%type postfix {Ast *}
%type primary {Ast *}
%type dotted {Ast *}
%type type {Ast *}
%type binder {Ast *}
%type unrolled {Ast *}
%type candidates {Ast *}
%type list {Ast *}
%type exprs {AstList *}
%type exprs2 {AstList *}
%type options {AstList *}
%type named {AstList *}
%type data {Ast *}
%type datas {AstList *}
%type more {Ast *}
%type sum {Ast *}
%type samples {AstList *}
%type given {AstList *}
%type path {AstList *}
%type names {TokenList *}
%type bound {Token}
%type pattern {Pattern *}
%type tuplepattern {Pattern *}
%type typed {Pattern *}
%type patterns {PatternList *}
%type typeds {PatternList *}
%type group {ParamList *}
%type groups {ParamList *}
%type places {TokenList *}
%type place {Token}

%start_symbol start

/* ---- items ---- */

start ::= DEF NAME params result clauses body.
start ::= ENTRY NAME params result clauses body.
start ::= OPERATOR NAME params result clauses body.
start ::= RULE NAME params COLON expr(A) EQUATION(O) expr(B) clauses. { ps->item->body = binary(ps, OP_EQ, A, O, B); }
start ::= STRATEGY NAME params body.
start ::= SIGNATURE NAME params result clauses.
start ::= RESUME body.
start ::= EXPECTATIONS expectations.
start ::= IMPORT STRING(A). {
    ps->item->path = intern(ps->ctx, ps->text + A.lo + 1, A.hi - A.lo < 2 ? 0 : A.hi - A.lo - 2);
    ps->item->is_file = true;
}
start ::= IMPORT path(A). {
    StrBuf sb;
    sb_init(&sb, ps->ctx);
    for (int i = 0; i < A->items.n; i++) {
        if (i)
            sb_putc(&sb, '.');
        sb_puts(&sb, A->items.at[i]->name.text);
    }
    ps->item->path = intern(ps->ctx, sb.text, sb.len);
}
path(R) ::= NAME(A). { R = parse_list_add(ps, NULL, unnamed, name(ps, A)); }
path(R) ::= path(L) DOT NAME(A). { R = parse_list_add(ps, L, unnamed, name(ps, A)); }

body ::= EQ expr(A). { ps->item->body = A; }
/* Never read. That RESUME is accepted after `=` tells parse.c that this `=` begins the body. */
body ::= EQ RESUME.

result ::= .
result ::= COLON type(A). { ps->item->result = A; }

params ::= .
params ::= params param.
param ::= LP(O) groups(A) RP. { parse_params(ps, A, O, false); }
param ::= LBRACE(O) groups(A) RBRACE. { parse_params(ps, A, O, true); }
param ::= LP(O) tuplepattern(A) COLON type(T) RP. { parse_params(ps, parse_params_add(ps, NULL, NULL, A, T, NULL, NULL), O, false); }
param ::= LP(O) names(A) RP. { parse_param_untyped(ps, A, O, false); }
param ::= LBRACE(O) names(A) RBRACE. { parse_param_untyped(ps, A, O, true); }
param ::= bound(A). { parse_param_untyped(ps, parse_tokens_add(ps, NULL, A), A, false); }
param ::= LP BROKEN RP.
param ::= LBRACE BROKEN RBRACE.

groups(R) ::= group(A). { R = A; }
groups(R) ::= groups(L) COMMA(C) group(A). {
    for (int i = 0; i < A->at.n; i++)
        vec_push(ps->ctx, &L->at, A->at.at[i]);
    if (L->groups++ == 1)
        L->second = token_span(ps, C);
    R = L;
}
group(R) ::= names(A) COLON type(T). { R = parse_params_add(ps, NULL, A, NULL, T, NULL, NULL); }
group(R) ::= names(A) COLON type(T) EQ expr(D). { R = parse_params_add(ps, NULL, A, NULL, T, D, NULL); }
group(R) ::= names(A) COLON type(T) EQ expr(D) IN candidates(C). { R = parse_params_add(ps, NULL, A, NULL, T, D, C); }

candidates(R) ::= list(A). { R = A; }
candidates(R) ::= expr(A). { R = A; }
list(R) ::= LBRACKET(O) exprs(A) RBRACKET(C). {
    R = parse_fit(ps, ast_items(ps->ctx, AST_LIST, between(ps, O, C), A->items.n, A->items.at));
}

names(R) ::= bound(A). { R = parse_tokens_add(ps, NULL, A); }
names(R) ::= names(L) bound(A). { R = parse_tokens_add(ps, L, A); }
bound(R) ::= NAME(A). { R = A; }
bound(R) ::= UNDERSCORE(A). { R = A; }

clauses ::= .
clauses ::= clauses clause.
clause ::= WHERE(W) exprs(A). { parse_clause(ps, CLAUSE_WHERE, W, A, NULL, 0); }
clause ::= LAUNCH(W) LBRACKET named(A) RBRACKET(C). { parse_clause(ps, CLAUSE_LAUNCH, W, A, NULL, C.hi); }
clause ::= EXACT(W). { parse_clause(ps, CLAUSE_EXACT, W, NULL, NULL, W.hi); }
clause ::= EXPECT(W) LBRACKET exprs(A) RBRACKET(C) given(S). { parse_expect(ps, W, unnamed, A, S, C); }
clause ::= EXPECT(W) postfix(A) EQEQ data(B). { parse_expect_result(ps, W, A, B, NULL); }
clause ::= EXPECT(W) postfix(A) EQEQ data(B) FOR samples(S). { parse_expect_result(ps, W, A, B, S); }
clause ::= ACCEPT(W) LBRACKET exprs(A) RBRACKET. { parse_accept(ps, W, A); }
clause ::= LOWERED(W) BY postfix(A). { parse_clause(ps, CLAUSE_LOWERED, W, NULL, A, A->span.hi); }
clause ::= LEVEL(W) NAME(A). { parse_level(ps, W, A); }
clause ::= UNIT(W) expr(A) laws. { parse_clause(ps, CLAUSE_UNIT, W, NULL, A, A->span.hi); }
clause ::= law laws.
given(R) ::= . { R = NULL; }
given(R) ::= FOR named(A). { R = A; }
laws ::= .
laws ::= laws COMMA law.
law ::= ASSOCIATIVE(A). { parse_law(ps, A, NULL); }
law ::= ASSOCIATIVE(A) WITHIN expr(W). { parse_law(ps, A, W); }
law ::= COMMUTATIVE(A). { parse_law(ps, A, NULL); }
law ::= COMMUTATIVE(A) WITHIN expr(W). { parse_law(ps, A, W); }

/* Values that are written out. Of a size or an input there may be several: `n = 0, 1, m = 2`. A word
 * among them comes as a STRING (is_sample in parse.c), for a NAME would be the next one's. */
data(R) ::= expr(A). { R = A; }
data(R) ::= STRING(A). { R = parse_text(ps, A); }
data(R) ::= LBRACKET(O) RBRACKET(C). { R = ast_items(ps->ctx, AST_LIST, between(ps, O, C), 0, NULL); }
data(R) ::= LBRACKET(O) datas(A) RBRACKET(C). {
    R = parse_fit(ps, ast_items(ps->ctx, AST_LIST, between(ps, O, C), A->items.n, A->items.at));
}
datas(R) ::= data(A). { R = parse_list_add(ps, NULL, unnamed, A); }
datas(R) ::= datas(L) COMMA data(A). { R = parse_list_add(ps, L, unnamed, A); }
samples(R) ::= NAME(N) EQ data(A). { R = parse_list_add(ps, NULL, N, A); }
samples(R) ::= samples(L) COMMA NAME(N) EQ data(A). { R = parse_list_add(ps, L, N, A); }
samples(R) ::= samples(L) COMMA more(A). { R = parse_list_add(ps, L, unnamed, A); }
more(R) ::= sum(A). { R = A; }
more(R) ::= STRING(A). { R = parse_text(ps, A); }
more(R) ::= LBRACKET(O) RBRACKET(C). { R = ast_items(ps->ctx, AST_LIST, between(ps, O, C), 0, NULL); }
more(R) ::= LBRACKET(O) datas(A) RBRACKET(C). {
    R = parse_fit(ps, ast_items(ps->ctx, AST_LIST, between(ps, O, C), A->items.n, A->items.at));
}
sum(R) ::= INT(A). { R = parse_int(ps, A); }
sum(R) ::= FLOAT(A). { R = parse_float(ps, A); }
sum(R) ::= MINUS(O) sum(A). [NOT] { R = unary(ps, OP_NEG, O, A); }
sum(R) ::= sum(A) PLUS(O) sum(B). { R = binary(ps, OP_ADD, A, O, B); }
sum(R) ::= sum(A) MINUS(O) sum(B). { R = binary(ps, OP_SUB, A, O, B); }
sum(R) ::= sum(A) STAR(O) sum(B). { R = binary(ps, OP_MUL, A, O, B); }
sum(R) ::= sum(A) POW(O) sum(B). { R = binary(ps, OP_POW, A, O, B); }

/* A file of expectations. */
expectations ::= .
expectations ::= expectations EXPECT(W) LBRACKET exprs(A) RBRACKET(C) given(S). { parse_expect(ps, W, unnamed, A, S, C); }
expectations ::= expectations EXPECT(W) NAME(N) LBRACKET exprs(A) RBRACKET(C) given(S). { parse_expect(ps, W, N, A, S, C); }

/* ---- patterns ---- */

pattern(R) ::= bound(A). { R = parse_pattern_name(ps, A); }
pattern(R) ::= LP typed(A) RP. { R = A; }
pattern(R) ::= tuplepattern(A). { R = A; }
pattern(R) ::= LP(O) BROKEN RP. { R = parse_pattern_name(ps, O); }
tuplepattern(R) ::= LP(O) typeds(A) COMMA typed(B) RP(C). { R = parse_pattern_tuple(ps, O, parse_patterns_add(ps, A, B), C); }
typeds(R) ::= typed(A). { R = parse_patterns_add(ps, NULL, A); }
typeds(R) ::= typeds(L) COMMA typed(A). { R = parse_patterns_add(ps, L, A); }
typed(R) ::= pattern(A). { R = A; }
typed(R) ::= pattern(A) COLON type(T). { R = parse_pattern_typed(ps, A, T); }
patterns(R) ::= pattern(A). { R = parse_patterns_add(ps, NULL, A); }
patterns(R) ::= patterns(L) pattern(A). { R = parse_patterns_add(ps, L, A); }

/* ---- types: what may stand after a colon ---- */

type(R) ::= postfix(A). { R = A; }
type(R) ::= postfix(A) ARROW(O) type(B). { R = parse_arrow(ps, A, O, B); }
type(R) ::= binder(A) ARROW(O) type(B). { R = parse_arrow(ps, A, O, B); }

/* The name before the colon is read as an expression, because what follows the parenthesis is not known yet. */
binder(R) ::= LP(O) expr(A) COLON type(T) RP(C). {
    TokenList *names = NULL;
    if (A->kind == AST_NAME)
        names = parse_tokens_add(ps, NULL, (Token){.lo = A->span.lo, .hi = A->span.hi, .kind = T_NAME, .name = A->name.text});
    R = parse_binder(ps, between(ps, O, C), names, T, false);
}
binder(R) ::= LP(O) NAME(A) names(B) COLON type(T) RP(C). {
    TokenList *names = parse_tokens_add(ps, NULL, A);
    for (int i = 0; i < B->at.n; i++)
        names = parse_tokens_add(ps, names, B->at.at[i]);
    R = parse_binder(ps, between(ps, O, C), names, T, false);
}
binder(R) ::= LBRACE(O) names(B) COLON type(T) RBRACE(C). { R = parse_binder(ps, between(ps, O, C), B, T, true); }

/* ---- expressions ---- */

expr(R) ::= postfix(A). { R = A; }
expr(R) ::= FUN(F) patterns(P) DARROW expr(B). [FUN] {
    R = parse_fit(ps, ast_lambda(ps->ctx, from(ps, F, B), P->at.n, P->at.at, B));
}
expr(R) ::= LET(F) typed(P) EQ expr(V) IN expr(B). [FUN] { R = parse_fit(ps, ast_let(ps->ctx, from(ps, F, B), P, V, B)); }
expr(R) ::= IF(F) expr(C) THEN expr(T) ELSE expr(E). [FUN] { R = parse_fit(ps, ast_if(ps->ctx, from(ps, F, E), C, T, E)); }
expr(R) ::= expr(A) SEMI(O) expr(B). {
    R = parse_fit(ps, ast_binary(ps->ctx, AST_SEQ, over(A, B), OP_ADD, token_span(ps, O), A, B));
}
expr(R) ::= expr(A) ORELSE(O) expr(B). {
    R = parse_fit(ps, ast_binary(ps->ctx, AST_ORELSE, over(A, B), OP_ADD, token_span(ps, O), A, B));
}
expr(R) ::= expr(A) AT places(P). { R = parse_at(ps, A, P); }
expr(R) ::= HASH(H) NAME(N) expr(A). [NOT] { R = parse_label(ps, H, N, A); }
expr(R) ::= expr(A) ARROW(O) expr(B). { R = parse_arrow(ps, A, O, B); }
expr(R) ::= binder(A) ARROW(O) expr(B). { R = parse_arrow(ps, A, O, B); }
expr(R) ::= expr(A) PIPE(O) expr(B). { R = parse_pipe(ps, A, O, B); }
expr(R) ::= expr(A) COMPOSE(O) expr(B). {
    R = parse_fit(ps, ast_binary(ps->ctx, AST_COMPOSE, over(A, B), OP_ADD, token_span(ps, O), A, B));
}
expr(R) ::= expr(A) OR(O) expr(B). { R = binary(ps, OP_OR, A, O, B); }
expr(R) ::= expr(A) AND(O) expr(B). { R = binary(ps, OP_AND, A, O, B); }
expr(R) ::= expr(A) EQEQ(O) expr(B). { R = binary(ps, OP_EQ, A, O, B); }
expr(R) ::= expr(A) NE(O) expr(B). { R = binary(ps, OP_NE, A, O, B); }
expr(R) ::= expr(A) LT(O) expr(B). { R = binary(ps, OP_LT, A, O, B); }
expr(R) ::= expr(A) LE(O) expr(B). { R = binary(ps, OP_LE, A, O, B); }
expr(R) ::= expr(A) GT(O) expr(B). { R = binary(ps, OP_GT, A, O, B); }
expr(R) ::= expr(A) GE(O) expr(B). { R = binary(ps, OP_GE, A, O, B); }
expr(R) ::= expr(A) PLUS(O) expr(B). { R = binary(ps, OP_ADD, A, O, B); }
expr(R) ::= expr(A) MINUS(O) expr(B). { R = binary(ps, OP_SUB, A, O, B); }
expr(R) ::= expr(A) STAR(O) expr(B). { R = binary(ps, OP_MUL, A, O, B); }
expr(R) ::= expr(A) SLASH(O) expr(B). { R = binary(ps, OP_DIV, A, O, B); }
expr(R) ::= expr(A) PERCENT(O) expr(B). { R = binary(ps, OP_MOD, A, O, B); }
expr(R) ::= expr(A) POW(O) expr(B). { R = binary(ps, OP_POW, A, O, B); }
expr(R) ::= MINUS(O) expr(A). [NOT] { R = unary(ps, OP_NEG, O, A); }
expr(R) ::= NOT(O) expr(A). { R = unary(ps, OP_NOT, O, A); }

postfix(R) ::= primary(A). { R = A; }
postfix(R) ::= postfix(A) DOT(O) dotted(B). { R = dot(ps, A, O, B); }
postfix(R) ::= postfix(A) LP exprs(L) RP(C). { R = parse_call(ps, AST_CALL, A, L, C); }
postfix(R) ::= postfix(A) LBRACKET options(L) RBRACKET(C). { R = parse_call(ps, AST_BRACKET, A, L, C); }
postfix(R) ::= postfix(A) LBRACE named(L) RBRACE(C). { R = parse_call(ps, AST_NAMED, A, L, C); }

/* Words: primitives, `first`, `inside` and so on. What they mean is said by the strategies. */
places(R) ::= place(A). { R = parse_tokens_add(ps, NULL, A); }
places(R) ::= places(L) place(A). { R = parse_tokens_add(ps, L, A); }
place(R) ::= NAME(A). { R = A; }
place(R) ::= HASH(H) NAME(A). { R = A; R.lo = H.lo; }

dotted(R) ::= NAME(A). { R = name(ps, A); }
dotted(R) ::= INT(A). { R = parse_int(ps, A); }
dotted(R) ::= LP(O) expr(A) RP(C). { R = parse_parens(ps, O, A, C); }
dotted(R) ::= LP(O) exprs2(A) RP(C). { R = tuple(ps, O, A, C); }

primary(R) ::= NAME(A). { R = name(ps, A); }
primary(R) ::= INT(A). { R = parse_int(ps, A); }
primary(R) ::= FLOAT(A). { R = parse_float(ps, A); }
primary(R) ::= LP(O) expr(A) RP(C). { R = parse_parens(ps, O, A, C); }
primary(R) ::= LP(O) exprs2(A) RP(C). { R = tuple(ps, O, A, C); }
primary(R) ::= UNROLL(F) NAME(N) IN unrolled(L) LP expr(B) RP(C). {
    R = parse_fit(ps, ast_unroll(ps->ctx, between(ps, F, C), N.name, token_span(ps, N), L, B));
}
primary(R) ::= BROKEN(A). { R = ast_new(ps->ctx, AST_ERROR, token_span(ps, A)); }
primary(R) ::= LP(O) PLUS(A) RP(C). { R = opfun(ps, O, OP_ADD, A, C); }
primary(R) ::= LP(O) MINUS(A) RP(C). { R = opfun(ps, O, OP_SUB, A, C); }
primary(R) ::= LP(O) STAR(A) RP(C). { R = opfun(ps, O, OP_MUL, A, C); }
primary(R) ::= LP(O) SLASH(A) RP(C). { R = opfun(ps, O, OP_DIV, A, C); }
primary(R) ::= LP(O) PERCENT(A) RP(C). { R = opfun(ps, O, OP_MOD, A, C); }
primary(R) ::= LP(O) POW(A) RP(C). { R = opfun(ps, O, OP_POW, A, C); }
primary(R) ::= LP(O) EQEQ(A) RP(C). { R = opfun(ps, O, OP_EQ, A, C); }
primary(R) ::= LP(O) NE(A) RP(C). { R = opfun(ps, O, OP_NE, A, C); }
primary(R) ::= LP(O) LT(A) RP(C). { R = opfun(ps, O, OP_LT, A, C); }
primary(R) ::= LP(O) LE(A) RP(C). { R = opfun(ps, O, OP_LE, A, C); }
primary(R) ::= LP(O) GT(A) RP(C). { R = opfun(ps, O, OP_GT, A, C); }
primary(R) ::= LP(O) GE(A) RP(C). { R = opfun(ps, O, OP_GE, A, C); }
primary(R) ::= LP(O) AND(A) RP(C). { R = opfun(ps, O, OP_AND, A, C); }
primary(R) ::= LP(O) OR(A) RP(C). { R = opfun(ps, O, OP_OR, A, C); }
primary(R) ::= LP(O) NOT(A) RP(C). { R = opfun(ps, O, OP_NOT, A, C); }

/* A name alone is no list here: `unroll d in f (g)` could not be told from a call. */
unrolled(R) ::= list(A). { R = A; }
unrolled(R) ::= NAME(F) LP exprs(A) RP(C). { R = parse_call(ps, AST_CALL, name(ps, F), A, C); }
unrolled(R) ::= LP(O) expr(A) RP(C). { R = parse_parens(ps, O, A, C); }

exprs(R) ::= expr(A). { R = parse_list_add(ps, NULL, unnamed, A); }
exprs(R) ::= exprs(L) COMMA expr(A). { R = parse_list_add(ps, L, unnamed, A); }
exprs2(R) ::= exprs(L) COMMA expr(A). { R = parse_list_add(ps, L, unnamed, A); }
options(R) ::= expr(A). { R = parse_list_add(ps, NULL, unnamed, A); }
options(R) ::= NAME(N) EQ expr(A). { R = parse_list_add(ps, NULL, N, A); }
options(R) ::= options(L) COMMA expr(A). { R = parse_list_add(ps, L, unnamed, A); }
options(R) ::= options(L) COMMA NAME(N) EQ expr(A). { R = parse_list_add(ps, L, N, A); }
named(R) ::= NAME(N) EQ expr(A). { R = parse_list_add(ps, NULL, N, A); }
named(R) ::= named(L) COMMA NAME(N) EQ expr(A). { R = parse_list_add(ps, L, N, A); }
named(R) ::= BROKEN. { R = parse_list_add(ps, NULL, unnamed, ast_new(ps->ctx, AST_ERROR, NO_SPAN)); }

/* ---- what parse.c and parse_error.c ask of the engine ---- */

%code {
#define T(name, text) _Static_assert((int)T_##name == (int)TK_##name, "PARSE_TOKENS and %token are in the same order");
PARSE_TOKENS(T)
#undef T

void engine_start(Parser *ps)
{
    if (!ps->engine)
        ps->engine = ctx_alloc(ps->ctx, sizeof(yyParser));
    RiseParsInit(ps->engine, ps);
}

void engine_feed(Parser *ps, int kind, Token token) { RisePars(ps->engine, kind, token); }

/* Does to a shadow of the stack what the engine would do to its own: states above `real` are in `shadow`. Only empty rules make the
 * shadow longer, and no state allows more than a few of them in a row. */
bool engine_accepts(Parser *ps, int kind, int64_t steps)
{
    const yyParser *engine = ps->engine;
    YYACTIONTYPE shadow[32], state = engine->yytos->stateno;
    int real = (int)(engine->yytos - engine->yystack), n = 0;
    for (; steps > 0; steps--) {
        YYACTIONTYPE act = yy_find_shift_action((YYCODETYPE)kind, state);
        if (act < YY_MIN_REDUCE)
            return act <= YY_MAX_SHIFTREDUCE || (act == YY_ACCEPT_ACTION && kind == T_END);
        unsigned rule = (unsigned)(act - YY_MIN_REDUCE);
        for (int pop = -yyRuleInfoNRhs[rule]; pop > 0; pop--) {
            if (n > 0)
                n--;
            else
                real--;
        }
        state = yy_find_reduce_action(n ? shadow[n - 1] : engine->yystack[real].stateno, yyRuleInfoLhs[rule]);
        if (n == (int)(sizeof shadow / sizeof *shadow))
            break;
        shadow[n++] = state;
    }
    return false;
}

int engine_depth(Parser *ps)
{
    const yyParser *engine = ps->engine;
    return (int)(engine->yytos - engine->yystack);
}

int engine_symbol(Parser *ps, int index)
{
    int major = ((const yyParser *)ps->engine)->yystack[index].major;
    return major < YYNTOKEN ? major : -1;
}

Token engine_token(Parser *ps, int index) { return ((const yyParser *)ps->engine)->yystack[index].minor.yy0; }

void engine_pop_to(Parser *ps, int depth)
{
    yyParser *engine = ps->engine;
    engine->yytos = engine->yystack + depth;
}
}
