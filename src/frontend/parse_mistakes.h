/* What the files that speak of the grammar's mistakes share; private to them.
 *
 *     parse_place.c     where we are: what is open around the refused token
 *     parse_words.c     tokens in words; words of other languages in the text
 *     parse_expected.c  the general "expected this, found that", and its hints by a table
 *     parse_repair.c    mistakes with words of their own, and a way to go on as if it had been written right
 *     parse_brackets.c  brackets that are not closed, or not open
 *     parse_applied.c   the same of functions that are applied without parentheses
 *     parse_written.c   expressions of other languages that are written anew
 *     parse_moved.c     the same of what belongs to another part of the item, or to another kind of item
 *     parse_error.c     the order of these, and going on */
#ifndef RISEC_FRONTEND_PARSE_MISTAKES_H
#define RISEC_FRONTEND_PARSE_MISTAKES_H

#include "frontend/foreign.h"
#include "frontend/parse_internal.h"

typedef enum Context { IN_ITEM, IN_BRACKET, IN_LET_PATTERN, IN_LET_VALUE, IN_IF, IN_THEN, IN_FUN, IN_UNROLL } Context;

/* What is open, from the top of the stack down to the innermost bracket or the item. */
typedef struct Place {
    Context context; /* the innermost of what is open */
    int at;          /* the stack index of its first word; 0 for the item */
    int bracket;     /* of the innermost bracket; 0 when there is none */
    int comma;       /* of the last comma directly inside that bracket, or 0 */
    int let, let_eq, cond, then, fun; /* of the innermost of each above the bracket, or 0; let_eq: of the let's `=` */
} Place;

Place parse_find_place(Parser *ps);
/* Whether a type is being read: a colon or an arrow of the header is behind us, and nothing that ends the type. */
bool parse_in_type(Parser *ps);

/* Whether the item has a `where` before the refused token. */
bool parse_after_where(Parser *ps, const Place *place);

/* Whether this token could stand here. */
bool parse_can(Parser *ps, int kind);
const char *parse_kind_text(int kind);
/* The token as it was written, for a proposal. */
const char *parse_source_of(Parser *ps, Token token);
const char *parse_item_name(Parser *ps);
/* Where a token is missing rather than wrong (the next line, the next item, the end): just behind the one before. */
Span parse_gap_or_token(Parser *ps);
bool parse_adjacent(Parser *ps);

bool token_starts_operand(int kind);
bool token_is_operator(int kind);
bool token_is_comparison(int kind);
bool token_is_opener(int kind);
bool token_is_closer(int kind);
bool token_is_word(int kind);
int token_closer_of(int opener);
bool is_name_byte(char c);

const Foreign *parse_foreign(Parser *ps, Token token, ForeignPlace place);
/* Whether a name is a scalar type's, or a type's of another language. */
bool parse_is_type_word(Parser *ps, Token token);
/* The name before an open bracket, `f` of `f(`; foreign words only. *span is where it stands. */
const Foreign *parse_foreign_callee(Parser *ps, uint32_t bracket, Span *span);
/* The first word of a statement before the refused token, in whose reach that token is. */
const Foreign *parse_foreign_statement(Parser *ps, Span *span);
/* Says that it is not part of the language, with the hint of the table. */
void parse_report_foreign(Parser *ps, Span span, const Foreign *foreign);

void parse_report_unexpected(Parser *ps, const Place *place);

typedef enum Repair { NOT_MINE, GO_ON, SKIP, GIVE_UP } Repair;

/* `news`: it is to be reported. */
Repair parse_repair(Parser *ps, const Place *place, bool news);
Repair parse_repair_moved(Parser *ps, const Place *place, bool news);
Repair parse_repair_applied(Parser *ps, const Place *place, bool news);
Repair parse_repair_closer(Parser *ps, const Place *place, bool news);
Repair parse_repair_unclosed(Parser *ps, const Place *place, bool news);
Repair parse_repair_type_open(Parser *ps, const Place *place, bool news);
void parse_report_no_fun(Parser *ps); /* `x => e` */
/* Whether more parameters and `=>` follow: `acc x => ...`. */
bool parse_parameters_ahead(Parser *ps);
/* Hints that write a text of another language anew. False: it is none of theirs. */
bool parse_propose_written(Parser *ps, Diag *diag, const Place *place);
bool parse_propose_option(Parser *ps, Diag *diag, const Place *place); /* at the `=` of `f(name = e)` */
void parse_propose_closer(Parser *ps, Diag *diag, const Place *place); /* of the innermost bracket */
bool parse_report_method(Parser *ps, Span name, const Foreign *foreign); /* `xs.sum()` */
void parse_propose_result(Parser *ps, Diag *diag); /* types of the result of an entry that has none */
bool parse_report_own_method(Parser *ps);                                /* at the `)` of `xs.f()` */
void parse_feed_instead(Parser *ps, int kind);
void parse_insert(Parser *ps, int kind);

#define STRATEGY_IN_HEADER "a strategy of several words stands in parentheses: `lowered by (a at map ; b)`"

#endif
