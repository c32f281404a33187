/* What may be written at a place. The text around it need not parse, so what is bound there is
 * found in the tokens before it: parameters, and what `let`, `fun` and `unroll` bind, as far as the
 * brackets around them are still open. */
#include "frontend/elab_internal.h"
#include "frontend/library.h"
#include "frontend/parse_internal.h"
#include "frontend/token_class.h"
#include "lsp/request.h"

enum { /* of LSP */
       KIND_OF_FUNCTION = 3,
       KIND_OF_VARIABLE = 6,
       KIND_OF_MODULE = 9,
       KIND_OF_KEYWORD = 14,
       KIND_OF_CONSTANT = 21,
       KIND_OF_OPERATOR = 24,
       KIND_OF_TYPE = 25,
       KIND_OF_OPTION = 10
};

typedef struct Bound {
    const char *name;
    int depth; /* of brackets around it */
} Bound;

typedef struct Completion {
    Request *r;
    const ClassedToken *tokens;
    int n;       /* tokens that end before what is being written */
    int item;    /* the first token of the item; -1: none has begun */
    uint32_t lo; /* where the word that is being written begins */
    VEC(Bound) locals;
    int offered;
} Completion;

/* ---- offers ------------------------------------------------------------------------------ */

static void offer(Completion *c, const char *label, int kind, const char *detail, char rank)
{
    StrBuf *out = &c->r->out;
    sb_puts(out, c->offered++ ? ",{\"label\":" : "{\"label\":");
    sb_put_json(out, label);
    sb_printf(out, ",\"kind\":%d,\"sortText\":", kind);
    sb_put_json(out, ctx_printf(c->r->ctx, "%c%s", rank, label));
    if (detail) {
        sb_puts(out, ",\"detail\":");
        sb_put_json(out, detail);
    }
    sb_puts(out, ",\"data\":");
    sb_put_json(out, c->r->doc->uri);
    sb_puts(out, "}");
}

static bool is_letter(char ch) { return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z'); }

static void offer_words(Completion *c, TokenClass wanted, int kind, char rank)
{
    for (const char *const *w = builtin_names(); *w; w++)
        if (token_class_of_name(*w) == wanted)
            offer(c, *w, kind, NULL, rank);
}

static void offer_primitives(Completion *c)
{
    for (int id = 0; id < P_COUNT; id++)
        if (is_letter(prim_name((PrimId)id)[0]))
            offer(c, prim_name((PrimId)id), KIND_OF_FUNCTION, prim_signature(c->r->ctx, (PrimId)id),
                  'c');
}

static void offer_items(Completion *c)
{
    const Item *item;
    for (int k = 0; (item = program_visible(c->r->analysis->program, k)); k++) {
        bool library = !span_is_users(c->r->analysis->ctx, item->span);
        if (item->name && item->kind != ITEM_IMPORT && item->kind != ITEM_ENTRY)
            offer(c, item->name, item->kind == ITEM_OPERATOR ? KIND_OF_OPERATOR : KIND_OF_FUNCTION,
                  NULL, library ? 'd' : 'b');
    }
}

static void offer_locals(Completion *c)
{
    for (int i = c->locals.n - 1; i >= 0; i--) {
        bool hidden = false;
        for (int k = i + 1; k < c->locals.n; k++)
            hidden |= c->locals.at[k].name == c->locals.at[i].name;
        if (!hidden)
            offer(c, c->locals.at[i].name, KIND_OF_VARIABLE, NULL, 'a');
    }
}

static void offer_keywords(Completion *c, const char *const *words)
{
    for (; *words; words++)
        offer(c, *words, KIND_OF_KEYWORD, NULL, 'e');
}

static const char *const item_words[] = {"def",  "entry",    "import", "operator",
                                         "rule", "strategy", NULL};
static const char *const body_words[] = {"let",    "in",  "fun", "if",  "then", "else",
                                         "unroll", "and", "or",  "not", NULL};
static const char *const header_words[] = {
    "where", "launch",      "lowered",     "by",     "expect", "for", "exact", "accept",
    "unit",  "associative", "commutative", "within", "level",  "at",  NULL};

static void offer_modules(Completion *c)
{
    for (int i = 0; i < risec_lib_file_count; i++)
        offer(c, library_module(c->r->ctx, &risec_lib_files[i]), KIND_OF_MODULE, NULL, 'a');
}

/* Of `std.` what follows. */
static void offer_submodules(Completion *c, const char *before)
{
    size_t n = strlen(before);
    for (int i = 0; i < risec_lib_file_count; i++) {
        const char *module = library_module(c->r->ctx, &risec_lib_files[i]);
        if (strncmp(module, before, n) == 0)
            offer(c, module + n, KIND_OF_MODULE, NULL, 'a');
    }
}

static void offer_options(Completion *c, PrimId id)
{
    const char *at = prim_rows[id].options;
    while (*at) {
        size_t n = strcspn(at, " ");
        const char *word = ctx_printf(c->r->ctx, "%.*s", (int)n, at);
        static const char *const axes[] = {"x", "y", "z", NULL};
        for (const char *const *axis = axes; strcmp(word, "axis") == 0 && *axis; axis++)
            offer(c, *axis, KIND_OF_OPTION, NULL, 'a');
        if (strcmp(word, "axis") != 0)
            offer(c, word, KIND_OF_OPTION, NULL, 'a');
        at += n + (at[n] == ' ');
    }
}

/* ---- what is bound ----------------------------------------------------------------------- */

static int kind_at(const Completion *c, int i)
{
    return i >= 0 && i < c->n ? c->tokens[i].kind : 0;
}

static void bind(Completion *c, int i, int depth)
{
    if (c->tokens[i].name)
        vec_push(c->r->ctx, &c->locals, ((Bound){c->tokens[i].name, depth}));
}

static bool is_open(int kind) { return kind == T_LP || kind == T_LBRACKET || kind == T_LBRACE; }
static bool is_close(int kind) { return kind == T_RP || kind == T_RBRACKET || kind == T_RBRACE; }

/* The names of a pattern that begins at i and ends before `end`; types in it apart. Gives the token
 * behind it. */
static int bind_until(Completion *c, int i, int end, int depth)
{
    int open = 0;
    bool in_type = false;
    for (; i < c->n && (open > 0 || kind_at(c, i) != end); i++) {
        int kind = kind_at(c, i);
        if (token_starts_item(kind) || kind == T_LET)
            break;
        open += is_open(kind) - is_close(kind);
        if (kind == T_COLON)
            in_type = true;
        else if (kind == T_COMMA || is_close(kind))
            in_type = false;
        else if (!in_type)
            bind(c, i, depth);
    }
    return i;
}

/* Parameters of a header: names before a colon, in brackets. */
static int bind_header(Completion *c, int i)
{
    int open = 0;
    bool in_type = true;
    for (; i < c->n && (open > 0 || kind_at(c, i) != T_EQ); i++) {
        int kind = kind_at(c, i);
        if (is_open(kind)) {
            open++;
            in_type &= open > 1;
        } else if (is_close(kind)) {
            open--;
            in_type = true;
        } else if (kind == T_COLON) {
            in_type = true;
        } else if (!in_type) {
            bind(c, i, 0);
        }
    }
    return i;
}

static void find_locals(Completion *c)
{
    int depth = 0;
    if (c->item < 0)
        return;
    for (int i = bind_header(c, c->item + 2); i < c->n; i++) {
        int kind = kind_at(c, i);
        if (is_open(kind)) {
            depth++;
        } else if (is_close(kind)) {
            depth--;
            while (c->locals.n > 0 && c->locals.at[c->locals.n - 1].depth > depth)
                c->locals.n--;
        } else if (kind == T_FUN) {
            i = bind_until(c, i + 1, T_DARROW, depth);
        } else if (kind == T_UNROLL) {
            bind(c, i + 1 < c->n ? i + 1 : i, depth);
        } else if (kind == T_LET) {
            /* Its own value does not see it, but whoever reads on does: the `in` of an unfinished
             * text may be missing. */
            i = bind_until(c, i + 1, T_EQ, depth);
        }
    }
}

/* ---- where it is ------------------------------------------------------------------------- */

static void find_place(Completion *c)
{
    Request *r = c->r;
    ClassedTokens all = {0};
    class_tokens(r->ctx, r->analysis->file, &all);
    VEC(ClassedToken) before = {0};
    c->lo = r->at;
    c->item = -1;
    for (int i = 0; i < all.list.n && all.list.at[i].lo < r->at; i++) {
        const ClassedToken *t = &all.list.at[i];
        bool comment = t->token_class == TOKEN_COMMENT || t->token_class == TOKEN_DOC;
        if (t->hi >= r->at &&
            (comment || t->token_class == TOKEN_TEXT || t->token_class == TOKEN_NUMBER)) {
            c->n = -1; /* nothing is completed there */
            return;
        }
        if (t->hi >= r->at && is_letter(r->analysis->lines.text[t->lo])) {
            c->lo = t->lo;
            break;
        }
        if (comment)
            continue;
        if (token_starts_item(t->kind))
            c->item = before.n;
        vec_push(r->ctx, &before, *t);
    }
    c->tokens = before.at;
    c->n = before.n;
}

/* `import std.` so far, or NULL: it is no import. */
static const char *import_before(Completion *c)
{
    if (c->item < 0 || kind_at(c, c->item) != T_IMPORT)
        return NULL;
    const char *text = c->r->analysis->lines.text;
    uint32_t from = c->tokens[c->item].hi;
    /* It ends with its line. */
    if (memchr(text + from, '\n', c->lo - from))
        return NULL;
    while (from < c->lo && (text[from] == ' ' || text[from] == '\t'))
        from++;
    return ctx_printf(c->r->ctx, "%.*s", (int)(c->lo - from), text + from);
}

static PrimId options_of(const Completion *c)
{
    int i = c->n - 1;
    while (i >= 0 && kind_at(c, i) != T_LBRACKET && !is_close(kind_at(c, i)) &&
           kind_at(c, i) != T_LP)
        i--;
    if (kind_at(c, i) != T_LBRACKET || kind_at(c, i - 1) != T_NAME || !c->tokens[i - 1].name)
        return P_COUNT;
    PrimId id = prim_find(c->tokens[i - 1].name);
    return id != P_COUNT && prim_rows[id].options[0] ? id : P_COUNT;
}

static void offer_all(Completion *c)
{
    int last = kind_at(c, c->n - 1);
    const char *import = import_before(c);
    if (import && import[0]) {
        offer_submodules(c, import);
        return;
    }
    if (import) {
        offer_modules(c);
        return;
    }
    if (options_of(c) != P_COUNT) {
        offer_options(c, options_of(c));
        if (last == T_LBRACKET)
            return;
    }
    find_locals(c);
    offer_locals(c);
    offer_words(c, TOKEN_TYPE, KIND_OF_TYPE, last == T_COLON || last == T_DOT ? 'a' : 'd');
    if (last == T_DOT)
        return;
    offer_words(c, TOKEN_FUNCTION, KIND_OF_FUNCTION, 'd');
    if (last != T_COLON) {
        offer_items(c);
        offer_primitives(c);
        offer_words(c, TOKEN_CONSTANT, KIND_OF_CONSTANT, 'd');
        offer_keywords(c, body_words);
    }
    offer_keywords(c, header_words);
    offer_keywords(c, item_words);
}

void feature_completion(Request *r)
{
    Completion c = {.r = r};
    find_place(&c);
    sb_puts(&r->out, "{\"isIncomplete\":false,\"items\":[");
    if (c.n >= 0)
        offer_all(&c);
    sb_puts(&r->out, "]}");
}

/* What a name is, when the editor shows it: its documentation. */
void feature_completion_resolve(Request *r)
{
    const char *label = json_text_of(r->params, "label"), *uri = json_text_of(r->params, "data");
    Document *doc = uri ? documents_find(&r->workspace->documents, uri) : NULL;
    Analysis *a = doc ? analysis_of(r->workspace, doc) : NULL;
    size_t n = json_dumpb(r->params, NULL, 0, JSON_COMPACT);
    if (!label || !json_is_object(r->params) || n < 2) {
        request_fail(r, REQUEST_BAD_PARAMS, "this is no item of a completion");
        return;
    }
    const Item *item = NULL, *at;
    for (int k = 0; a && (at = program_visible(a->program, k)) && !item; k++)
        if (at->name && strcmp(at->name, label) == 0)
            item = at;
    r->analysis = a;
    StrBuf about;
    sb_init(&about, r->ctx);
    put_about_name(r, &about, label, item);
    char *own = ctx_alloc(r->ctx, n + 1);
    json_dumpb(r->params, own, n, JSON_COMPACT);
    sb_putn(&r->out, own, n - 1);
    if (about.len) {
        sb_puts(&r->out, ",\"documentation\":{\"kind\":\"markdown\",\"value\":");
        sb_put_json(&r->out, about.text);
        sb_puts(&r->out, "}");
    }
    sb_puts(&r->out, "}");
}
