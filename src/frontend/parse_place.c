/* Where we are, after a mistake of the grammar: what the engine's stack has open. */
#include "frontend/parse_mistakes.h"

static void note(Place *place, Context context, int index, int *slot)
{
    if (!place->at) {
        place->context = context;
        place->at = index;
    }
    if (!*slot)
        *slot = index;
}

Place parse_find_place(Parser *ps)
{
    Place place = {.context = IN_ITEM};
    int closed = 0, lets = 0, ifs = 0, funs = 0, eq = 0, unroll = 0;
    for (int i = engine_depth(ps); i > 0; i--) {
        int symbol = engine_symbol(ps, i);
        switch (symbol) {
        case T_RP: case T_RBRACKET: case T_RBRACE:
            closed++;
            continue;
        case T_LP: case T_LBRACKET: case T_LBRACE:
            if (closed-- == 0) {
                note(&place, IN_BRACKET, i, &place.bracket);
                return place;
            }
            continue;
        default: break;
        }
        if (closed)
            continue;
        switch (symbol) {
        case T_COMMA:
            if (!place.comma)
                place.comma = i;
            break;
        case T_IN: lets++; break;
        case T_EQ:
            if (!lets)
                eq = i;
            break;
        case T_LET:
            if (lets) {
                lets--;
                break;
            }
            if (!place.let)
                place.let_eq = eq;
            note(&place, eq ? IN_LET_VALUE : IN_LET_PATTERN, i, &place.let);
            eq = 0;
            break;
        case T_UNROLL:
            if (lets)
                lets--;
            note(&place, IN_UNROLL, i, &unroll);
            break;
        case T_ELSE: ifs++; break;
        case T_THEN:
            if (!ifs) {
                note(&place, IN_THEN, i, &place.then);
                ifs++;
            }
            break;
        case T_IF:
            if (ifs)
                ifs--;
            else
                note(&place, IN_IF, i, &place.cond);
            break;
        case T_DARROW: funs++; break;
        case T_FUN:
            if (funs)
                funs--;
            else
                note(&place, IN_FUN, i, &place.fun);
            break;
        default: break;
        }
    }
    return place;
}

bool parse_in_type(Parser *ps)
{
    int closed = 0;
    for (int i = engine_depth(ps); i > 0 && !ps->has_body; i--) {
        switch (engine_symbol(ps, i)) {
        case T_RP: case T_RBRACKET: case T_RBRACE:
            closed++;
            break;
        case T_LP: case T_LBRACKET: case T_LBRACE:
            if (closed-- == 0)
                return false;
            break;
        case T_COLON: case T_ARROW:
            if (!closed)
                return true;
            break;
        case T_EQ: case T_WHERE: case T_COMMA: case T_IN:
            if (!closed)
                return false;
            break;
        default: break;
        }
    }
    return false;
}
