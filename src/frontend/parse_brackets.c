/* Brackets that are not closed, closed by another one, or not open. */
#include "frontend/parse_mistakes.h"

Repair parse_repair_closer(Parser *ps, const Place *place, bool news)
{
    int kind = ps->tok.kind;
    if (!token_is_closer(kind))
        return NOT_MINE;
    if (!place->bracket) {
        if (news)
            diag_propose(ps->ctx, parse_mistake(ps, E0103, token_span(ps, ps->tok), "this %s closes nothing", parse_kind_text(kind)), token_span(ps, ps->tok),
                         "leave it out, or open it before", "%s", "");
        parse_broken(ps);
        parse_advance(ps);
        ps->prev.kind = (uint8_t)kind;
        return GO_ON;
    }
    int open = engine_symbol(ps, place->bracket);
    if (kind == token_closer_of(open))
        return NOT_MINE;
    if (news) {
        Diag *diag = parse_mistake(ps, E0103, token_span(ps, ps->tok), "%s does not close %s", parse_kind_text(kind), parse_kind_text(open));
        diag_note(ps->ctx, diag, token_span(ps, engine_token(ps, place->bracket)), "opened here");
    }
    parse_broken(ps);
    if (parse_can(ps, token_closer_of(open)))
        parse_feed_instead(ps, token_closer_of(open));
    else
        parse_advance(ps);
    return GO_ON;
}

/* Words that go on with what the bracket stands in: `let y = (e in ...`. */
static bool is_of_outside(Parser *ps, const Place *place)
{
    switch (ps->tok.kind) {
    case T_END: return true;
    case T_IN: return !place->let;
    case T_THEN: return !place->cond;
    case T_ELSE: return !place->then;
    default: return token_starts_item(ps->tok.kind);
    }
}

Repair parse_repair_unclosed(Parser *ps, const Place *place, bool news)
{
    if (!place->bracket || !is_of_outside(ps, place) || !token_ends_operand(ps->prev.kind))
        return NOT_MINE;
    int open = engine_symbol(ps, place->bracket);
    if (news) {
        Diag *diag = parse_mistake(ps, E0103, parse_gap_or_token(ps), "expected %s, found %s", parse_kind_text(token_closer_of(open)), parse_token_text(ps, ps->tok));
        diag_note(ps->ctx, diag, token_span(ps, engine_token(ps, place->bracket)), "opened here");
        parse_propose_closer(ps, diag, place);
        if (!diag->help && ps->tok.kind != T_END && !token_starts_item(ps->tok.kind))
            diag_propose(ps->ctx, diag, parse_span(ps, ps->prev.hi, ps->prev.hi), "close it with $", "%s", open == T_LP ? ")" : open == T_LBRACKET ? "]" : "}");
    }
    return SKIP;
}

/* The closing brackets that a type lacks: `: (f32, f32`. NULL: this is no type. *colon: where it
 * begins on the stack. */
static const char *closers_of_type(Parser *ps, int *colon)
{
    StrBuf sb;
    sb_init(&sb, ps->ctx);
    int closed = 0, at = engine_depth(ps);
    for (; at > 0; at--) {
        int symbol = engine_symbol(ps, at);
        if (token_is_closer(symbol))
            closed++;
        else if (token_is_opener(symbol) && closed > 0)
            closed--;
        else if (token_is_opener(symbol))
            sb_puts(&sb, symbol == T_LP ? ")" : symbol == T_LBRACKET ? "]" : "}");
        else if (!closed && (symbol == T_COLON || symbol == T_WHERE || symbol == T_EQ))
            break;
    }
    *colon = at;
    return at > 0 && sb.len && engine_symbol(ps, at) == T_COLON ? sb.text : NULL;
}

/* `: (f32, f32 = e`: the type ends here, where its brackets do not. */
Repair parse_repair_type_open(Parser *ps, const Place *place, bool news)
{
    int colon = 0;
    bool ends = (ps->tok.kind == T_EQ || ps->tok.kind == T_WHERE) && place->bracket && token_ends_operand(ps->prev.kind);
    const char *closers = ends ? closers_of_type(ps, &colon) : NULL;
    if (!closers || !parse_can(ps, token_closer_of(engine_symbol(ps, place->bracket))))
        return NOT_MINE;
    Span gap = parse_span(ps, ps->prev.hi, ps->prev.hi);
    if (news) {
        Diag *diag = parse_mistake(ps, E0103, gap, "expected `%c`, found %s: a bracket of this type is still open", closers[0], parse_token_text(ps, ps->tok));
        diag_note(ps->ctx, diag, token_span(ps, engine_token(ps, place->bracket)), "opened here");
        diag_propose(ps->ctx, diag, gap, "close it with $", "%s", closers);
    }
    parse_broken(ps);
    for (int at = colon - 1; at > 0; at--)
        if (token_is_opener(engine_symbol(ps, at))) /* of a parameter, which goes on */
            return SKIP;
    for (; *closers; closers++)
        parse_insert(ps, *closers == ')' ? T_RP : *closers == ']' ? T_RBRACKET : T_RBRACE);
    return GO_ON;
}
