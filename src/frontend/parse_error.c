/* Mistakes of the grammar: what to say, and where to go on.
 *
 * The engine's stack is as it was before the refused token, so it tells what is open there, and engine_accepts what could stand there.
 * First come the mistakes that people make often, each with its own words and a way to go on as if it had been written right; then the
 * general "expected this, found that". After that the text is skipped to a word or bracket at which something that is open ends, and
 * the engine goes on from there with BROKEN in place of what was skipped, and what is wrong there is not reported. A mistake within two tokens of the last is not reported:
 * it is the same one, seen twice. The tree of an item with a mistake is not used (parse_broken), unless the repair is certain. */
#include "frontend/parse_mistakes.h"

enum {
    RECOVERIES = 40, /* in one item; then the rest of it is given up */
    NEWS_AFTER = 2   /* tokens */
};

/* Drops what is on the stack above `depth`, puts `filler` there, and sees whether `next` may follow. Undone when not. */
static bool resume(Parser *ps, int depth, int filler, int next)
{
    int before = engine_depth(ps);
    if (depth <= 0 || depth > before)
        return false;
    engine_pop_to(ps, depth);
    if (!parse_can(ps, filler)) {
        engine_pop_to(ps, before);
        return false;
    }
    parse_insert(ps, filler);
    return parse_can(ps, next);
}

/* Skips to a token at which something that is open goes on. False at the end of the item. */
static bool skip(Parser *ps, const Place *place)
{
    int open = 0, lets = 0, ifs = 0, funs = 0;
    bool fresh = ps->synced != ps->tok.lo + 1;
    bool header = !ps->has_body && ps->item->kind != ITEM_IMPORT;
    for (;; parse_advance(ps), fresh = true) {
        int kind = ps->tok.kind;
        if (kind == T_END || token_starts_item(kind))
            return false;
        if (token_is_opener(kind)) {
            open++;
            continue;
        }
        if (token_is_closer(kind) && open > 0) {
            open--;
            continue;
        }
        if (open > 0 || !fresh)
            continue;
        ps->synced = ps->tok.lo + 1;
        switch (kind) {
        case T_RP: case T_RBRACKET: case T_RBRACE:
            if (!place->bracket)
                continue;
            ps->tok.kind = (uint8_t)token_closer_of(engine_symbol(ps, place->bracket));
            return resume(ps, place->bracket, T_BROKEN, ps->tok.kind);
        case T_COMMA:
            if (!lets && !ifs && !funs && place->bracket &&
                resume(ps, place->comma > place->bracket ? place->comma : place->bracket, T_BROKEN, kind))
                return true;
            break;
        case T_LET: case T_UNROLL: lets++; break;
        case T_IN:
            if (lets)
                lets--;
            else if (place->let_eq && resume(ps, place->let_eq, T_BROKEN, kind))
                return true;
            break;
        case T_IF: ifs++; break;
        case T_THEN:
            if (!ifs && place->cond > place->let && resume(ps, place->cond, T_BROKEN, kind))
                return true;
            break;
        case T_ELSE:
            if (ifs)
                ifs--;
            else if (place->then && resume(ps, place->then, T_BROKEN, kind))
                return true;
            break;
        case T_FUN: funs++; break;
        case T_DARROW:
            if (funs)
                funs--;
            else if (place->context == IN_FUN && resume(ps, place->fun, T_UNDERSCORE, kind))
                return true;
            break;
        case T_EQ:
            if (place->context == IN_LET_PATTERN && resume(ps, place->let, T_UNDERSCORE, kind))
                return true;
            if (header && !lets && !place->bracket) {
                /* The body may still be looked at, although nobody will use it. */
                engine_start(ps);
                engine_feed(ps, T_RESUME, ps->tok);
                return true;
            }
            break;
        default: break;
        }
    }
}

bool parse_recover(Parser *ps)
{
    bool news = ps->fed >= NEWS_AFTER && (ps->tok.kind == T_END || ps->tok.kind != ps->bad_word);
    if (ps->has_body && ((ps->told_ternary && ps->tok.kind == T_COLON) || (ps->told_let && ps->tok.kind == T_IN)))
        news = false;
    if (ps->recoveries++ >= RECOVERIES)
        return false;
    Place place = parse_find_place(ps);
    Repair repair = parse_repair(ps, &place, news);
    if (repair == GO_ON)
        return true;
    if (repair == NOT_MINE && news)
        parse_report_unexpected(ps, &place);
    parse_broken(ps);
    if (repair == GIVE_UP)
        return false;
    bool quiet = ps->quiet;
    ps->quiet = true;
    bool goes_on = skip(ps, &place);
    ps->quiet = quiet;
    return goes_on;
}
