/* Places in the words of the program: `first map`, `reduce inside mapBlock`, `map over reduce`, `#inner`, `reduce under lambda x`.
 *
 *     place  = [first | last | every | innermost | outermost] what { inside what | over what | under lambda NAME }
 *     what   = a primitive's name, or #label
 *
 * `inside` and `over` look at all that is around and below, and what follows them is about what they found: `map inside mapWarp inside mapBlock`. */
#include "frontend/foreign.h"
#include "rewrite/internal.h"

typedef struct Words {
    int n;
    const PlaceWord *at;
} Words;

static bool word_is(Words w, int i, const char *text) { return i < w.n && !w.at[i].label && strcmp(w.at[i].text, text) == 0; }

static bool is_what(const Core *term, const PlaceWord *word)
{
    if (word->label)
        return term->label && strcmp(term->label, word->text) == 0;
    return term->kind == CORE_PRIM && strcmp(prim_name(term->prim.id), word->text) == 0;
}

static bool fits(Ctx *ctx, const Here *here, Words w);

static bool fits_below(Ctx *ctx, const Here *here, Words w)
{
    for (int i = 0; i < term_children(here->term); i++) {
        const Here *child = here_child(ctx, here, i);
        if (fits(ctx, child, w) || fits_below(ctx, child, w))
            return true;
    }
    return false;
}

static bool fits(Ctx *ctx, const Here *here, Words w)
{
    if (!is_what(here->term, &w.at[0]))
        return false;
    Words rest = {w.n - 2, w.at + 2};
    if (w.n < 2)
        return true;
    if (word_is(w, 1, "inside")) {
        for (const Here *up = here->up; up; up = up->up)
            if (fits(ctx, up, rest))
                return true;
        return false;
    }
    if (word_is(w, 1, "over"))
        return fits_below(ctx, here, rest);
    /* under lambda NAME */
    for (const Here *up = here; up; up = up->up)
        for (int i = 0; up->term->kind == CORE_LAMBDA && i < up->term->lambda.n; i++)
            if (strcmp(up->term->lambda.params[i]->name, w.at[3].text) == 0)
                return true;
    return false;
}

static bool bad(Places *out, const PlaceWord *word, const char *why)
{
    out->bad = word;
    out->why = why;
    return false;
}

/* Where a place begins, it may be a misspelt `outermost`, too. */
static const char *no_primitive(Ctx *ctx, const char *word, bool begins)
{
    VEC(const char *) names = {0};
    for (int k = PICK_FIRST; begins && k <= PICK_OUTERMOST; k++)
        vec_push(ctx, &names, place_picks[k]);
    for (int i = 0; i < P_COUNT; i++)
        vec_push(ctx, &names, prim_name((PrimId)i));
    const char *near = did_you_mean(ctx, word, names.n, names.at);
    return near ? ctx_printf(ctx, "`%s` is no primitive: did you mean `%s`?", word, near) : ctx_printf(ctx, "`%s` is no primitive", word);
}

static bool check_words(Ctx *ctx, Words w, Places *out)
{
    for (int i = 0;; i += 2) {
        if (i >= w.n)
            return bad(out, &w.at[w.n - 1], "a primitive or a label is missing after this");
        if (!w.at[i].label && prim_find(w.at[i].text) == P_COUNT)
            return bad(out, &w.at[i], no_primitive(ctx, w.at[i].text, i == 0));
        if (i + 1 == w.n)
            return true;
        if (word_is(w, i + 1, "under"))
            return (word_is(w, i + 2, "lambda") && i + 4 == w.n) || bad(out, &w.at[i + 1], "`under` is followed by `lambda` and a name, and ends the place");
        if (!word_is(w, i + 1, "inside") && !word_is(w, i + 1, "over"))
            return bad(out, &w.at[i + 1], ctx_printf(ctx, "`%s` is neither `inside`, `over` nor `under`", w.at[i + 1].text));
    }
}

/* A term on the way down. Most of them are passed by, so what is known at one is found out when it is asked for. */
typedef struct Way {
    const Core *term;
    const Here *here; /* NULL: not asked for yet */
    struct Way *up;
    int child;
} Way;

static const Here *way_here(Ctx *ctx, Way *way)
{
    if (!way->here)
        way->here = here_child(ctx, way_here(ctx, way->up), way->child);
    return way->here;
}

static void collect(Ctx *ctx, Way *way, Words w, Places *out)
{
    enum { FEW = 8 };
    int few[FEW + 1], children = term_children(way->term);
    int *order = children <= FEW ? few : NEWN(ctx, int, children + 1);
    int n = reading_order(way->term, order);
    for (int i = 0; i < n; i++)
        if (order[i] >= 0)
            collect(ctx, &(Way){.term = term_child(way->term, order[i]), .up = way, .child = order[i]}, w, out);
        else if (is_what(way->term, &w.at[0]) && fits(ctx, way_here(ctx, way), w))
            vec_push(ctx, &out->at, way_here(ctx, way));
}

static int depth_of(const Here *here)
{
    int n = 0;
    for (; here->up; here = here->up)
        n++;
    return n;
}

bool places_find(Ctx *ctx, const Here *here, int n, const PlaceWord *words, Places *out)
{
    Words w = {n, words};
    *out = (Places){0};
    Pick pick = PICK_ONLY;
    for (int k = PICK_FIRST; k <= PICK_OUTERMOST; k++)
        if (word_is(w, 0, place_picks[k]))
            pick = (Pick)k;
    if (pick != PICK_ONLY)
        w = (Words){n - 1, words + 1};
    if (w.n == 0)
        return bad(out, words, "a primitive or a label is missing after this");
    if (!check_words(ctx, w, out))
        return false;
    out->every = pick == PICK_EVERY;
    collect(ctx, &(Way){.term = here->term, .here = here}, w, out);
    if (out->at.n == 0 || pick == PICK_ONLY || pick == PICK_EVERY)
        return true;
    int best = pick == PICK_LAST ? out->at.n - 1 : 0;
    for (int i = 0; i < out->at.n; i++) {
        int d = depth_of(out->at.at[i]), b = depth_of(out->at.at[best]);
        if ((pick == PICK_INNERMOST && d > b) || (pick == PICK_OUTERMOST && d < b))
            best = i;
    }
    out->at.at[0] = out->at.at[best];
    out->at.n = 1;
    return true;
}

const char *place_text(Ctx *ctx, int n, const PlaceWord *words)
{
    StrBuf sb;
    sb_init(&sb, ctx);
    for (int i = 0; i < n; i++)
        sb_printf(&sb, "%s%s%s", i ? " " : "", words[i].label ? "#" : "", words[i].text);
    return sb.text;
}

static const char *head_of(const Core *term)
{
    switch (term->kind) {
    case CORE_PRIM: return prim_name(term->prim.id);
    case CORE_LET: return "let";
    case CORE_IF: return "if";
    case CORE_TUPLE: return "a tuple";
    case CORE_PROJ: return "a component";
    case CORE_VAR: return term->var->name;
    case CORE_LIT: case CORE_SIZE: return "a number";
    case CORE_LAMBDA: return "a function";
    case CORE_UNIT_ERROR: break;
    }
    return "?";
}

const char *here_text(Ctx *ctx, const Here *here)
{
    StrBuf sb;
    sb_init(&sb, ctx);
    sb_puts(&sb, head_of(here->term));
    for (const Here *up = here->up; up; up = up->up)
        if (up->term->kind == CORE_PRIM && term_child(up->term, here->child)->kind == CORE_LAMBDA && prim_rows[up->term->prim.id].level != LEVEL_SCALAR) {
            sb_printf(&sb, " inside %s", prim_name(up->term->prim.id));
            here = up;
        } else {
            here = up;
        }
    return sb.text;
}

static void put_names(Ctx *ctx, const Here *here, bool *seen, StrBuf *sb)
{
    int *order = NEWN(ctx, int, term_children(here->term) + 1);
    int n = reading_order(here->term, order);
    for (int i = 0; i < n; i++) {
        if (order[i] >= 0) {
            put_names(ctx, here_child(ctx, here, order[i]), seen, sb);
            continue;
        }
        if (here->term->label)
            sb_printf(sb, "%s#%s", sb->len ? ", " : "", here->term->label);
        if (here->term->kind != CORE_PRIM || prim_rows[here->term->prim.id].level == LEVEL_SCALAR || seen[here->term->prim.id])
            continue;
        seen[here->term->prim.id] = true;
        sb_printf(sb, "%s%s", sb->len ? ", " : "", prim_name(here->term->prim.id));
    }
}

const char *places_there(Ctx *ctx, const Here *here)
{
    StrBuf sb;
    sb_init(&sb, ctx);
    put_names(ctx, here, NEWN(ctx, bool, P_COUNT), &sb);
    return sb.len ? sb.text : "nothing";
}
