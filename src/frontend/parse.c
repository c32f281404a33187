/* The parser's entry points: cuts a text into items, and feeds each to the engine.
 *
 * requires: the source is in ctx->sources.  gives: a tree for every text; what is wrong with it is in the diagnostics.
 * Each item is a parse of its own, from its first word to the next item word: these words are reserved, so a broken item ends
 * where the next begins. Time is linear in the text, memory too; nothing here recurs over the input. */
#include "frontend/ast.h"

#include "frontend/library.h"
#include "frontend/parse_mistakes.h"
#include "support/input_words.h"
#include "support/utf8.h"

enum {
    STACK_LIMIT = 64 << 20 /* bytes of the engine's stack: about two million open brackets or signs */
};

Span parse_span(Parser *ps, uint32_t lo, uint32_t hi) { return (Span){ps->file, lo, hi}; }
Span token_span(Parser *ps, Token token) { return parse_span(ps, token.lo, token.hi); }

bool token_starts_item(int kind) { return kind >= T_DEF && kind <= T_STRATEGY; }

void parse_broken(Parser *ps) { *(ps->has_body ? &ps->body_broken : &ps->header_broken) = true; }

void parse_advance(Parser *ps)
{
    ps->prev = ps->tok;
    ps->tok = lex_next(ps);
}

/* ---- the engine's stack ------------------------------------------------------------------------------------------- */

/* Never given back before the context is: an allocation that fails may jump past any release. */
void *parse_stack_grow(Parser *ps, void *old, size_t size)
{
    if (size <= ps->stack_size)
        return ps->stack;
    if (size > STACK_LIMIT)
        return NULL;
    void *wider = ctx_alloc(ps->ctx, size);
    if (old)
        memcpy(wider, ps->stack, ps->stack_size);
    ps->stack = wider;
    ps->stack_size = size;
    return wider;
}

void parse_stack_overflow(Parser *ps)
{
    parse_mistake(ps, E0109, token_span(ps, ps->tok), "brackets and signs are nested too deeply here");
    parse_broken(ps);
    ps->abandoned = true;
}

/* ---- items ---------------------------------------------------------------------------------------------------------- */

static ItemKind item_kind(int kind)
{
    switch (kind) {
    case T_DEF: return ITEM_DEF;
    case T_ENTRY: return ITEM_ENTRY;
    case T_OPERATOR: return ITEM_OPERATOR;
    case T_IMPORT: return ITEM_IMPORT;
    case T_RULE: return ITEM_RULE;
    case T_STRATEGY: return ITEM_STRATEGY;
    default: return ITEM_ERROR;
    }
}

static void begin_item(Parser *ps, ItemKind kind)
{
    memset(&ps->params, 0, sizeof ps->params);
    memset(&ps->laws, 0, sizeof ps->laws);
    memset(&ps->expects, 0, sizeof ps->expects);
    ps->item = NEW(ps->ctx, Item);
    ps->item->kind = kind;
    ps->item->span = token_span(ps, ps->tok);
    ps->item->doc = lex_take_doc(ps);
    ps->has_launch = ps->has_body = ps->header_broken = ps->body_broken = ps->told_height = ps->told_braces = ps->told_ternary = ps->told_let = ps->told_method = ps->abandoned = false;
    ps->strategic = kind == ITEM_STRATEGY;
    ps->open = 0;
    ps->recoveries = ps->mistakes = 0;
    ps->bad_word = T_END;
    ps->slice = NULL;
    ps->synced = 0;
    ps->fed = 1000;
    engine_start(ps);
}

static void name_item(Parser *ps)
{
    if (ps->item->kind == ITEM_IMPORT || !ps->tok.name)
        return;
    ps->item->name = ps->tok.name;
    ps->item->name_span = token_span(ps, ps->tok);
}

static void check_header(Parser *ps)
{
    Item *item = ps->item;
    if (ps->header_broken || (item->kind != ITEM_ENTRY && item->kind != ITEM_OPERATOR))
        return;
    if (!item->result) {
        Diag *diag = parse_mistake(ps, E0115, item->name_span, "%s `%s` has no result type",
                                   item->kind == ITEM_ENTRY ? "entry" : "operator", item->name);
        if (!ps->body_broken)
            parse_propose_result(ps, diag);
        diag_help(ps->ctx, diag, "write `: type` after the last parameter");
        ps->header_broken = true;
    }
    if (item->kind == ITEM_OPERATOR && !item->unit) {
        Diag *diag = parse_mistake(ps, E0118, item->name_span, "operator `%s` has no unit", item->name);
        diag_help(ps->ctx, diag, "write `unit e, associative` after the result type, with %s(e, x) == x for every x", item->name);
        ps->header_broken = true;
    }
}

static Item *end_item(Parser *ps)
{
    Item *item = ps->item;
    item->span.hi = ps->prev.hi > item->span.lo ? ps->prev.hi : item->span.hi;
    item->n_params = ps->params.n;
    item->params = ps->params.at;
    item->n_laws = ps->laws.n;
    item->laws = ps->laws.at;
    item->n_expects = ps->expects.n;
    item->expects = ps->expects.at;
    check_header(ps);
    if (ps->body_broken && item->kind != ITEM_IMPORT)
        item->body = ast_new(ps->ctx, AST_ERROR, parse_span(ps, ps->body_eq.lo, item->span.hi));
    if (ps->header_broken)
        item->kind = ITEM_ERROR;
    return item;
}

/* The equation of a rule is its first `==` outside brackets: it binds less tightly than anything in the sides. */
static int rule_token(Parser *ps, int kind)
{
    switch (kind) {
    case T_LP: case T_LBRACKET: case T_LBRACE:
        ps->open++;
        break;
    case T_RP: case T_RBRACKET: case T_RBRACE:
        ps->open--;
        break;
    case T_WHERE:
        ps->open = 1; /* there are no more */
        break;
    case T_EQEQ:
        if (ps->open == 0) {
            ps->open = 1;
            return T_EQUATION;
        }
        break;
    }
    return kind;
}

/* `lowered by (...)`: a strategy stands in the parentheses. */
static void track_lowered(Parser *ps, int kind)
{
    if (kind == T_LP && ps->prev.kind == T_BY && ps->open == 0)
        ps->strategic = true;
    if (!ps->strategic)
        return;
    ps->open += kind == T_LP ? 1 : kind == T_RP ? -1 : 0;
    ps->strategic = ps->open > 0;
}

static const char *near_item_word(Parser *ps, Token word)
{
    static const char *const words[] = {"def", "entry", "operator", "import", "rule", "strategy"};
    return word.name ? did_you_mean(ps->ctx, word.name, sizeof words / sizeof *words, words) : NULL;
}

/* `Entry f {`: a word that is near, and behind it a name and a header. */
static bool starts_misspelt_item(Parser *ps)
{
    const char *at = ps->text + ps->tok.hi;
    if (*at != ' ' || !near_item_word(ps, ps->tok))
        return false;
    at += strspn(at, " ");
    const char *name = at;
    while (is_name_byte(*at))
        at++;
    at += strspn(at, " ");
    return at > name && *at && strchr("{(:=", *at);
}

/* Where a line begins with what begins a definition in another language. */
static bool starts_foreign_item(Parser *ps)
{
    uint32_t lo = ps->tok.lo;
    return (ps->has_body || ps->item->kind == ITEM_IMPORT) && ps->tok.first && (lo == 0 || ps->text[lo - 1] == '\n') && ps->tok.kind != T_END &&
           (parse_foreign(ps, ps->tok, FOREIGN_ITEM) || parse_foreign(ps, ps->tok, FOREIGN_IMPORT) || starts_misspelt_item(ps));
}

/* `for xs = uniform, normal, n = 3`: a word that is one more value, and not the name of the next one. */
static bool is_sample(Parser *ps)
{
    if (ps->tok.kind != T_NAME || ps->prev.kind != T_COMMA || ps->has_body || !engine_accepts(ps, T_STRING, INT64_MAX))
        return false;
    const char *next = ps->text + ps->tok.hi + strspn(ps->text + ps->tok.hi, " \t\r\n");
    if (next[0] != '=' || next[1] == '=')
        return true;
    bool parameter = false; /* else this sign is that before the body */
    for (int i = 0; i < ps->params.n; i++)
        parameter = parameter || (ps->params.at[i].name && strcmp(ps->params.at[i].name, ps->tok.name) == 0);
    return !parameter && is_input_word(ps->tok.name);
}

/* `# total`, where a label is `#total`. */
static bool is_comment(const Parser *ps)
{
    char next = ps->tok.kind == T_HASH ? ps->text[ps->tok.hi] : 0;
    return !ps->strategic && (next == ' ' || next == '\t');
}

static void feed_item(Parser *ps)
{
    while (!ps->abandoned) {
        if (is_comment(ps)) {
            parse_report_comment(ps);
            parse_skip_line(ps);
            continue;
        }
        if (is_sample(ps))
            ps->tok.kind = T_STRING;
        int kind = token_starts_item(ps->tok.kind) ? (int)T_END : ps->tok.kind;
        if (ps->item->kind == ITEM_RULE && rule_token(ps, kind) != kind)
            kind = ps->tok.kind = T_EQUATION;
        if (ps->item->kind == ITEM_ENTRY)
            track_lowered(ps, kind);
        if (kind == T_AT && (!ps->strategic || !engine_accepts(ps, T_AT, INT64_MAX))) /* no `%fallback`: behind `(a`, it would begin a list of names */
            kind = ps->tok.kind = T_NAME;
        if (starts_foreign_item(ps) && engine_accepts(ps, T_END, INT64_MAX) && !engine_accepts(ps, kind, INT64_MAX)) {
            engine_feed(ps, T_END, ps->tok);
            return;
        }
        bool foreign = (kind == T_SEMI || kind == T_ORELSE) && !ps->strategic;
        if (foreign || !engine_accepts(ps, kind, INT64_MAX)) {
            if (parse_recover(ps))
                continue;
            break;
        }
        engine_feed(ps, kind, ps->tok);
        if (kind == T_EQ && !ps->has_body && engine_accepts(ps, T_RESUME, 1)) {
            ps->has_body = true;
            ps->body_eq = token_span(ps, ps->tok);
        }
        if (kind == T_END)
            return;
        ps->fed++;
        parse_advance(ps);
    }
    ps->quiet = true;
    while (ps->tok.kind != T_END && !token_starts_item(ps->tok.kind))
        parse_advance(ps);
    ps->quiet = false;
    parse_broken(ps);
}

void parse_report_comment(Parser *ps)
{
    Diag *diag = parse_mistake(ps, E0009, token_span(ps, ps->tok), "`#` does not start a comment");
    diag_propose(ps->ctx, diag, token_span(ps, ps->tok), "a comment starts with $", "--");
}

void parse_skip_line(Parser *ps)
{
    bool quiet = ps->quiet;
    ps->quiet = true;
    do
        parse_advance(ps);
    while (ps->tok.kind != T_END && !ps->tok.first);
    ps->quiet = quiet;
}

/* `from std.order import argmax`: what is imported, as far as the library has it. */
static void foreign_import(Parser *ps, Token name, Diag *diag, Span word)
{
    enum { LONGEST = 60 };
    uint32_t end = name.lo;
    while (is_name_byte(ps->text[end]) || ps->text[end] == '.')
        end++;
    const char *module = end - name.lo < LONGEST ? intern(ps->ctx, ps->text + name.lo, end - name.lo) : "";
    ps->item->kind = ITEM_IMPORT;
    ps->item->name = NULL;
    if (!library_find(ps->ctx, module))
        return;
    uint32_t line = end + (uint32_t)strcspn(ps->text + end, "\n");
    diag_propose(ps->ctx, diag, parse_span(ps, word.lo, line), "write $, which gives all names of the module", "import %s", module);
    ps->item->path = module;
}

/* What other languages begin a definition with. Its name, if it has one, is known from here on as one that is wrong. */
static void foreign_item(Parser *ps, AstFile *out)
{
    Token word = ps->tok, name = word;
    bool sign = word.kind == T_HASH;
    ps->quiet = true;
    parse_advance(ps);
    Token next = ps->tok;
    for (; ps->tok.kind == T_NAME && !ps->tok.first; parse_advance(ps))
        name = ps->tok;
    ps->quiet = false;
    const Foreign *import = sign ? NULL : parse_foreign(ps, word, FOREIGN_IMPORT);
    const Foreign *foreign = import ? import : parse_foreign(ps, sign ? next : word, sign ? FOREIGN_DIRECTIVE : FOREIGN_ITEM);
    const char *near = foreign || sign ? NULL : near_item_word(ps, word);
    Diag *diag = &ps->spare;
    if (sign && !foreign) {
        Token behind = ps->tok;
        ps->tok = word;
        parse_report_comment(ps);
        ps->tok = behind;
    } else {
        diag = parse_mistake(ps, E0116, token_span(ps, word), "expected `def`, `entry`, `operator`, `import`, `rule` or `strategy`, found %s", parse_token_text(ps, word));
        if (foreign)
            foreign_hint(ps->ctx, diag, sign ? NO_SPAN : token_span(ps, word), foreign);
        else if (word.kind == T_STRING)
            diag_help(ps->ctx, diag, "a comment starts with `--`");
        else if (near)
            diag_propose(ps->ctx, diag, token_span(ps, word), "did you mean $?", "%s", near);
        else if (word.name)
            diag_help(ps->ctx, diag, "a definition has its types in its header, and no signature beside it: `def %s {n: nat} (xs: n.f32): f32 = ...`", name.name);
    }
    if (sign) {
        while (ps->tok.kind != T_END && !ps->tok.first)
            parse_skip_line(ps);
        return;
    }
    begin_item(ps, ITEM_ERROR);
    ps->item->name = name.name;
    ps->item->name_span = token_span(ps, name);
    if (import)
        foreign_import(ps, next, diag, token_span(ps, word));
    /* `from std import block` is one line, whatever words it has. */
    ps->quiet = true;
    while (ps->tok.kind != T_END && !((token_starts_item(ps->tok.kind) || import) && ps->tok.first))
        parse_advance(ps);
    ps->quiet = false;
    if (name.name || import)
        vec_push(ps->ctx, &out->items, ps->item);
}

static void parse_item(Parser *ps, AstFile *out)
{
    Token word = ps->tok;
    if (!token_starts_item(word.kind)) {
        foreign_item(ps, out);
        return;
    }
    begin_item(ps, item_kind(word.kind));
    engine_feed(ps, word.kind, word);
    parse_advance(ps);
    name_item(ps);
    feed_item(ps);
    vec_push(ps->ctx, &out->items, end_item(ps));
}

/* False, and reported, when the text cannot be read at all. */
static bool begin_text(Parser *ps, Ctx *ctx, uint32_t file)
{
    memset(ps, 0, sizeof *ps);
    ps->ctx = ctx;
    ps->file = file;
    ps->fed = 1000;
    const Source *source = source_get(ctx, file);
    if (!source)
        return false;
    if (source->size > LIMIT_SOURCE_BYTES) {
        diag_error(ctx, E0001, parse_span(ps, 0, 0), "this file has %zu bytes, and the limit is %d", source->size, LIMIT_SOURCE_BYTES);
        return false;
    }
    const char *zero = memchr(source->text, 0, source->size);
    if (zero) {
        uint32_t at = (uint32_t)(zero - source->text);
        if (text_is_utf16(source->text, source->size)) {
            Diag *diag = diag_error(ctx, E0012, NO_SPAN, "%s is UTF-16, and programs are UTF-8",
                                    source->name);
            diag_help(ctx, diag, "save it as UTF-8 in the editor, or `iconv -f UTF-16 -t UTF-8`");
            return false;
        }
        diag_help(ctx, diag_error(ctx, E0012, parse_span(ps, at, at + 1), "this file holds a zero byte, so it is no text"), "delete this byte, or save the file as UTF-8");
        return false;
    }
    ps->text = source->text;
    ps->lex.text = ps->lex.cursor = (const unsigned char *)source->text;
    ps->lex.end = ps->lex.text + source->size;
    lex_start(ps);
    ps->tok = lex_next(ps);
    return true;
}

AstFile *parse_file(Ctx *ctx, uint32_t file)
{
    AstFile *out = NEW(ctx, AstFile);
    out->file = file;
    Parser ps;
    if (begin_text(&ps, ctx, file))
        while (ps.tok.kind != T_END)
            parse_item(&ps, out);
    return out;
}

Item *parse_signature(Ctx *ctx, uint32_t file)
{
    Parser ps;
    if (!begin_text(&ps, ctx, file)) {
        Item *item = NEW(ctx, Item);
        item->kind = ITEM_ERROR;
        return item;
    }
    begin_item(&ps, ITEM_DEF);
    engine_feed(&ps, T_SIGNATURE, ps.tok);
    /* Operators are primitives too: whatever stands first is the name. */
    if (ps.tok.kind != T_END && !ps.tok.name) {
        ps.tok.kind = T_NAME;
        ps.tok.name = intern(ctx, ps.text + ps.tok.lo, ps.tok.hi - ps.tok.lo);
    }
    name_item(&ps);
    feed_item(&ps);
    return end_item(&ps);
}

Item *parse_expectations(Ctx *ctx, uint32_t file)
{
    Parser ps;
    if (!begin_text(&ps, ctx, file)) {
        Item *item = NEW(ctx, Item);
        item->kind = ITEM_ERROR;
        return item;
    }
    begin_item(&ps, ITEM_IMPORT);
    ps.item->is_file = true;
    engine_feed(&ps, T_EXPECTATIONS, ps.tok);
    feed_item(&ps);
    if (token_starts_item(ps.tok.kind)) {
        Diag *diag = parse_mistake(&ps, E0116, token_span(&ps, ps.tok), "a file of expectations holds `expect` clauses only");
        diag_help(ctx, diag, "write `expect [barriers == 1] for n = 4096`");
    }
    return end_item(&ps);
}
