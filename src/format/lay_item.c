/* Items as documents: a header, its clauses, a body. */
#include <stdlib.h>

#include "format/lay.h"

/* ---- the expressions of an item ------------------------------------------------------------ */

static void add(Lay *l, Parts *parts, const Ast *ast)
{
    if (ast)
        vec_push(l->ctx, &parts->list, ast);
}

static int by_place(const void *a, const void *b)
{
    const Ast *const *x = a, *const *y = b;
    return ((*x)->span.lo > (*y)->span.lo) - ((*x)->span.lo < (*y)->span.lo);
}

/* In the order of the text. Those that several names share are there several times. */
static Parts parts_of(Lay *l, const Item *item)
{
    Parts parts = {0};
    for (int i = 0; i < item->n_params; i++) {
        const Param *param = &item->params[i];
        lay_pattern_parts(l, &parts, &param->pattern);
        add(l, &parts, param->kind);
        add(l, &parts, param->def);
        add(l, &parts, param->candidates);
    }
    add(l, &parts, item->result);
    for (int i = 0; i < item->n_where; i++)
        add(l, &parts, item->where[i]);
    for (int i = 0; i < item->n_launch; i++)
        add(l, &parts, item->launch[i].value);
    add(l, &parts, item->unit);
    for (int i = 0; i < item->n_laws; i++)
        add(l, &parts, item->laws[i].within);
    for (int i = 0; i < item->n_expects; i++) {
        const Expect *expect = &item->expects[i];
        for (int k = 0; k < expect->n; k++)
            add(l, &parts, expect->conditions[k]);
        add(l, &parts, expect->subject);
        add(l, &parts, expect->wanted);
        for (int k = 0; k < expect->n_given; k++)
            add(l, &parts, expect->given[k].value);
    }
    add(l, &parts, item->lowered);
    if (parts.list.n)
        qsort(parts.list.at, (size_t)parts.list.n, sizeof *parts.list.at, by_place);
    return parts;
}

/* ---- the header ---------------------------------------------------------------------------- */

static bool begins_clause(TokenKind kind)
{
    switch (kind) {
    case T_WHERE:
    case T_LAUNCH:
    case T_EXACT:
    case T_LOWERED:
    case T_EXPECT:
    case T_ACCEPT:
    case T_LEVEL:
    case T_UNIT:
    case T_ASSOCIATIVE:
    case T_COMMUTATIVE: return true;
    default: return false;
    }
}

/* Where the clause at l->at ends, before `stop`: where the next one begins, outside of brackets and
 * expressions. */
static int clause_end(const Lay *l, int stop, const Parts *parts)
{
    int at = l->at + 1;
    while (at < stop) {
        const TokenText *token = &l->tokens->at[at];
        const Ast *part = lay_part_at(l, parts, at);
        if (part)
            at = lay_behind(l, part->span);
        else if (token->mate > at)
            at = token->mate + 1;
        else if (begins_clause(token->kind) && token[-1].kind != T_COMMA)
            break;
        else
            at++;
    }
    return at;
}

/* Where `for` stands in the clause that ends at `end`; or `end`. */
static int for_in(const Lay *l, int end)
{
    int at = l->at;
    while (at < end && l->tokens->at[at].kind != T_FOR)
        at = l->tokens->at[at].mate > at ? l->tokens->at[at].mate + 1 : at + 1;
    return lay_kind(l) == T_EXPECT ? at : end;
}

/* Adds the clauses before token `stop`, each with a line before it. */
static void lay_clauses(Lay *l, Docs *out, int stop, const Parts *parts)
{
    while (l->at < stop) {
        /* What is asserted of an entry is no part of its type, and stands by itself. */
        docs_add(out, lay_kind(l) == T_EXPECT ? doc_break(l->ctx) : doc_line(l->ctx));
        int end = clause_end(l, stop, parts), middle = for_in(l, end);
        Docs clause = docs_new(l->ctx);
        docs_add(&clause, lay_mixed(l, middle, parts));
        if (middle < end)
            docs_add(&clause, doc_group(l->ctx, doc_pair(l->ctx, doc_line(l->ctx),
                                                         lay_mixed(l, end, parts))));
        docs_add(out, doc_align(l->ctx, doc_nest(l->ctx, doc_list(&clause))));
    }
}

/* `entry f {n: nat} (xs: n.f32): f32`. The type of the result, and what ends the header where no
 * clause follows, stay with the last parameter. */
static const Doc *lay_header(Lay *l, int stop, const Parts *parts)
{
    Docs header = docs_new(l->ctx), params = docs_new(l->ctx), last = docs_new(l->ctx);
    docs_add(&header, lay_token(l));
    docs_add(&header, doc_blank(l->ctx));
    docs_add(&header, lay_token(l));
    while (l->at < stop && l->tokens->at[l->at].mate > l->at) {
        if (last.list.n)
            docs_add(&params, doc_group(l->ctx, doc_list(&last)));
        last = docs_new(l->ctx);
        docs_add(&last, params.list.n ? doc_line(l->ctx) : doc_empty(l->ctx));
        docs_add(&last, doc_align(l->ctx, lay_mixed(l, l->tokens->at[l->at].mate + 1, parts)));
    }
    bool any = last.list.n > 0;
    if (lay_kind(l) == T_COLON && l->at < stop) {
        int end = l->at + 1;
        if (end < stop)
            end = clause_end(l, stop, parts);
        docs_add(&last, lay_mixed(l, end, parts));
    }
    docs_add(&params, doc_group(l->ctx, doc_list(&last)));
    if (any) {
        docs_add(&header, doc_nest(l->ctx, doc_pair(l->ctx, doc_blank(l->ctx),
                                                    doc_align(l->ctx, doc_list(&params)))));
    } else {
        docs_add(&header, doc_list(&params));
    }
    return doc_list(&header);
}

/* ---- the whole ----------------------------------------------------------------------------- */

static const Doc *lay_import(Lay *l, int end)
{
    Docs docs = docs_new(l->ctx);
    docs_add(&docs, lay_token(l));
    docs_add(&docs, doc_blank(l->ctx));
    while (l->at < end)
        docs_add(&docs, lay_token(l));
    return doc_list(&docs);
}

/* rule name params: equation, with its clauses behind it. */
static const Doc *lay_rule(Lay *l, const Item *item, int end, const Parts *parts)
{
    Docs rule = docs_new(l->ctx), law = docs_new(l->ctx), equation = docs_new(l->ctx);
    const Ast *body = item->body;
    docs_add(&rule, lay_header(l, lay_token_at(l, body->span.lo), parts));
    docs_add(&equation, doc_align(l->ctx, lay_expr(l, body->bin.lhs)));
    docs_add(&equation, doc_blank(l->ctx));
    docs_add(&equation, lay_token(l));
    docs_add(&equation,
             doc_nest(l->ctx, doc_pair(l->ctx, doc_line(l->ctx), lay_expr(l, body->bin.rhs))));
    docs_add(&law, doc_group(l->ctx, doc_list(&equation)));
    lay_clauses(l, &law, end, parts);
    docs_add(&rule, doc_nest(l->ctx, doc_pair(l->ctx, doc_break(l->ctx),
                                              doc_group(l->ctx, doc_list(&law)))));
    return doc_list(&rule);
}

static int item_end(const Lay *l)
{
    int at = l->at + 1;
    while (at < l->tokens->n &&
           !(l->tokens->at[at].kind >= T_DEF && l->tokens->at[at].kind <= T_STRATEGY))
        at++;
    return at;
}

const Doc *lay_item(Lay *l, const Item *item)
{
    int end = item_end(l);
    if (item->kind == ITEM_IMPORT)
        return lay_import(l, end);
    Parts parts = parts_of(l, item);
    if (item->kind == ITEM_RULE)
        return lay_rule(l, item, end, &parts);
    int body = item->body ? lay_token_at(l, item->body->span.lo) : end,
        equals = item->body ? body - 1 : end;
    Docs head = docs_new(l->ctx), clauses = docs_new(l->ctx), whole = docs_new(l->ctx);
    docs_add(&head, lay_header(l, equals, &parts));
    lay_clauses(l, &clauses, equals, &parts);
    if (item->body) {
        docs_add(&clauses, doc_blank(l->ctx));
        docs_add(&clauses, lay_token(l));
    }
    docs_add(&head, doc_nest(l->ctx, doc_list(&clauses)));
    docs_add(&whole, doc_group(l->ctx, doc_list(&head)));
    if (item->body) {
        bool lines = item->body->kind == AST_LET && !item->body->parens;
        docs_add(&whole,
                 doc_nest(l->ctx, doc_pair(l->ctx, lines ? doc_break(l->ctx) : doc_line(l->ctx),
                                           lay_expr(l, item->body))));
    }
    return doc_group(l->ctx, doc_list(&whole));
}
