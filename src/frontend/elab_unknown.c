/* Names that mean nothing: what may be meant. The answers in their order: a size that is not declared, the library, a word of another
 * language, a spelling that is near. */
#include <ctype.h>

#include "frontend/elab_resolve.h"
#include "frontend/foreign.h"
#include "frontend/library.h"

static bool is_word_byte(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

static void edit_import(Resolver *r, Diag *d, const char *module)
{
    const AstFile *ast = r->scope->ast;
    const Item *last = NULL;
    for (int i = 0; ast && i < ast->items.n; i++)
        if (ast->items.at[i]->kind == ITEM_IMPORT)
            last = ast->items.at[i];
    if (last)
        diag_edit(r->ctx, d, span_end(last->span), "\nimport %s", module);
    else if (ast)
        diag_edit(r->ctx, d, (Span){ast->file, 0, 0}, "import %s\n", module);
}

static void propose_import(Resolver *r, Diag *d, const char *name)
{
    const char *module = library_module(r->ctx, library_with(name));
    const char *header = library_header(r->ctx, name);
    diag_help(r->ctx, d, "the library has it: `import %s`", module);
    if (header)
        diag_note(r->ctx, d, NO_SPAN, "it is `%s`", header);
    edit_import(r, d, module);
}

/* Another name wherever the item has this one. */
static void edit_name(Resolver *r, Diag *d, const char *name, const char *other)
{
    Span item = r->header->span;
    const char *text = source_get(r->ctx, item.file)->text;
    uint32_t n = (uint32_t)strlen(name);
    for (uint32_t at = item.lo; at + n <= item.hi; at++)
        if (strncmp(text + at, name, n) == 0 && (at == 0 || !is_word_byte(text[at - 1])) && !is_word_byte(text[at + n]))
            diag_edit(r->ctx, d, (Span){item.file, at, at + n}, "%s", other);
}

/* Where a size of its own does not fit, one of those that the header has is meant. */
static void propose_declared_sizes(Resolver *r, Diag *d, const char *name)
{
    const Item *header = r->header;
    if (header->kind == ITEM_ENTRY) {
        diag_propose(r->ctx, d, span_end(header->name_span), "sizes are declared, behind the name of the entry: $", " {%s: nat}", name);
        diag_or_else(r->ctx, d);
    }
    for (int i = 0; i < header->n_params; i++) {
        const Param *p = &header->params[i];
        if (!p->name || !p->kind || !ast_is_nat(p->kind))
            continue;
        diag_help(r->ctx, d, "did you mean `%s`? (a size of its own is declared: `{%s: nat}`)", p->name, name);
        edit_name(r, d, name, p->name);
        diag_or_else(r->ctx, d);
    }
}

/* A name that is the size of an array in the header, and that nothing declares: a parameter is missing. One message speaks of all such names of a header. */
static bool is_missing_size(Resolver *r, const char *name, Span span)
{
    const Source *source = source_get(r->ctx, span.file);
    for (int i = 0; i < r->missing.n; i++)
        if (r->missing.at[i] == name)
            return true;
    if (!r->header || !r->header->name || r->scope->broken || library_with(name))
        return false;
    const char *before = source->text + span.lo;
    while (before > source->text && (before[-1] == ' ' || before[-1] == '\n'))
        before--;
    bool array = before > source->text && strchr(":.(,", before[-1]) && span.hi < source->size && source->text[span.hi] == '.';
    /* Where one is missing, others are that only expressions mention. */
    bool other = r->missing.n > 0 && before[-1] != '.' && span.hi < source->size && source->text[span.hi] != '(';
    if ((!array && !other) || scope_find(r->scope, name, &(const FileScope *){NULL}))
        return false;
    vec_push(r->ctx, &r->missing, name);
    StrBuf names;
    sb_init(&names, r->ctx);
    for (int i = 0; i < r->missing.n; i++)
        sb_printf(&names, i ? " %s" : "%s", r->missing.at[i]);
    if (!r->missing_size)
        r->missing_size = diag_error(r->ctx, E0201, span, "nothing is called `%s` here", name);
    else
        diag_note(r->ctx, r->missing_size, span, "nor `%s`", name);
    Diag *d = r->missing_size;
    if (r->missing.n == 1)
        propose_declared_sizes(r, d, name);
    if (r->header->kind == ITEM_ENTRY)
        diag_propose(r->ctx, d, span_end(r->header->name_span), "sizes are declared, behind the name of the entry: $", " {%s: nat}", names.text);
    else
        diag_help(r->ctx, d, "sizes are declared, behind the name: `{%s: nat}`, or `(%s: nat)` where no argument says it", names.text, names.text);
    return true;
}

/* A parameter of data where the header wants a size. */
static bool is_data_in_header(Resolver *r, const char *name, Span span)
{
    const Param *p = NULL;
    for (int i = 0; r->header && i < r->header->n_params && !p; i++)
        if (r->header->params[i].name == name)
            p = &r->header->params[i];
    if (!p || !p->kind)
        return false;
    if (p->kind->kind == AST_NAME && !resolve_known(r, p->kind->name.text, NULL))
        return true; /* said of the type */
    if (p->implicit) {
        vec_push(r->ctx, &r->program->unusable, r->header);
        return true; /* said of the parameter */
    }
    StrBuf type;
    sb_init(&type, r->ctx);
    ast_print(&type, p->kind);
    Diag *d = diag_error(r->ctx, E0322, span, "a size is needed here, and `%s` is %s", name, type.text);
    diag_label(r->ctx, d, "not known before the program runs");
    diag_note(r->ctx, d, p->span, "declared here");
    Scalar s;
    if (p->kind->kind == AST_NAME && scalar_find(p->kind->name.text, &s) && scalar_is_int(s))
        diag_propose(r->ctx, d, p->kind->span, ctx_printf(r->ctx, "declare it as a size: `(%s: nat)`", name), "nat");
    vec_push(r->ctx, &r->program->unusable, r->header);
    return true;
}

/* ---- what is near ------------------------------------------------------------------------------------------------------------- */

/* Whether a name is used as a function: `f(`, `|> f`, `f >>`. */
static bool is_called(const Resolver *r, Span span)
{
    const Source *source = source_get(r->ctx, span.file);
    uint32_t at = span.lo;
    while (at > 0 && source->text[at - 1] == ' ')
        at--;
    return source->text[span.hi] == '(' || (at > 1 && source->text[at - 1] == '>' && strchr("|>", source->text[at - 2]));
}

static bool is_value_word(const char *word)
{
    switch (builtin_find(word)) {
    case BUILTIN_CONST: case BUILTIN_BOOL: case BUILTIN_DEVICE: case BUILTIN_SCALAR: case BUILTIN_TYPE:
        return true;
    default: return false;
    }
}

/* The nearest spelling of the right kind; NULL when none is near. Of short names of the language a wrong letter makes another word. */
static const char *nearest(Resolver *r, const char *name, Span span, const Local *scope)
{
    enum { SHORT = 4 };
    VEC(const char *) near = {0};
    for (const Local *s = scope; s; s = s->up)
        vec_push(r->ctx, &near, s->name);
    for (int i = 0; i < r->scope->items.n; i++)
        vec_push(r->ctx, &near, r->scope->items.at[i]->name);
    for (int k = 0; k < r->scope->imports.n; k++)
        for (int i = 0; i < r->scope->imports.at[k]->items.n; i++)
            vec_push(r->ctx, &near, r->scope->imports.at[k]->items.at[i]->name);
    const char *own = did_you_mean(r->ctx, name, near.n, near.at);
    if (own || r->strategic)
        return own; /* no primitive is a step */
    near.n = 0;
    bool called = is_called(r, span), type = r->types > 0;
    for (int i = 0; i < P_COUNT && !type; i++)
        vec_push(r->ctx, &near, prim_name((PrimId)i));
    for (const char *const *w = builtin_names(); *w; w++) {
        BuiltinKind kind = builtin_find(*w);
        bool fits = type ? kind == BUILTIN_KIND || kind == BUILTIN_SCALAR || kind == BUILTIN_TYPE || kind == BUILTIN_NATFN : kind != BUILTIN_KIND && !(called && is_value_word(*w));
        if (fits)
            vec_push(r->ctx, &near, *w);
    }
    return strlen(name) <= SHORT ? misspelt(name, near.n, near.at) : did_you_mean(r->ctx, name, near.n, near.at);
}

/* ---- what other languages call so -------------------------------------------------------------------------------------------- */

static const Foreign *foreign_word(const char *name, ForeignPlace place) { return foreign_find(name, strlen(name), place); }

/* A type's name where a value is needed converts, in other languages. */
static bool foreign_type_hint(Resolver *r, Diag *d, Span span, const char *name)
{
    const Foreign *type = foreign_word(name, FOREIGN_TYPE);
    Scalar scalar;
    if (!type || !type->instead || !scalar_find(type->instead, &scalar) || !is_called(r, span))
        return false;
    diag_propose(r->ctx, d, span, "a value is converted by $", "cast(%s)", type->instead);
    return true;
}

static bool foreign_name_hint(Resolver *r, Diag *d, Span span, const char *name)
{
    static const ForeignPlace in_types[] = {FOREIGN_TYPE, FOREIGN_VALUE}, in_values[] = {FOREIGN_VALUE, FOREIGN_STATEMENT, FOREIGN_MODULE};
    const ForeignPlace *places = r->types ? in_types : in_values;
    int n = r->types ? 2 : 3;
    for (int i = 0; i < n; i++) {
        const Foreign *foreign = foreign_word(name, places[i]);
        if (foreign) {
            foreign_hint(r->ctx, d, span, foreign);
            return true;
        }
    }
    return !r->types && foreign_type_hint(r, d, span, name);
}

/* A type of a rule's header that nothing declares: as in a signature of Haskell. One message speaks of all of a header. */
static bool is_missing_type(Resolver *r, const char *name, Span span)
{
    if (!r->types || !r->header || (r->header->kind != ITEM_RULE && r->header->kind != ITEM_DEF) || !r->header->name || is_called(r, span) || r->scope->broken)
        return false;
    for (int i = 0; i < r->missing_types.n; i++)
        if (r->missing_types.at[i] == name)
            return true;
    if (library_with(name) || foreign_word(name, FOREIGN_TYPE) || foreign_word(name, FOREIGN_VALUE) || nearest(r, name, span, NULL))
        return false;
    vec_push(r->ctx, &r->missing_types, name);
    StrBuf names;
    sb_init(&names, r->ctx);
    for (int i = 0; i < r->missing_types.n; i++)
        sb_printf(&names, i ? " %s" : "%s", r->missing_types.at[i]);
    if (r->missing_types.n == 1)
        r->missing_type = diag_error(r->ctx, E0201, span, "nothing is called `%s` here", name);
    else
        diag_note(r->ctx, r->missing_type, span, "nor `%s`", name);
    diag_propose(r->ctx, r->missing_type, span_end(r->header->name_span), "types that may be any are declared, behind the name: $", " {%s: data}", names.text);
    return true;
}

/* ---- strategies ------------------------------------------------------------------------------------------------------------------- */

static void list_strategies(Resolver *r, Diag *d)
{
    StrBuf sb;
    sb_init(&sb, r->ctx);
    int n = 0;
    for (int k = -1; k < r->scope->imports.n; k++) {
        const FileScope *file = k < 0 ? r->scope : r->scope->imports.at[k];
        for (int i = 0; i < file->items.n; i++)
            if (file->items.at[i]->kind == ITEM_STRATEGY && file->items.at[i] != r->item)
                sb_printf(&sb, n++ ? ", `%s`" : "`%s`", file->items.at[i]->name);
    }
    if (n)
        diag_help(r->ctx, d, "the strategies that are seen here: %s", sb.text);
    else
        diag_help(r->ctx, d, "no strategy is seen here: declare one, or import one, as `risec help rules` lists them; without `lowered by`, risec chooses one");
}

/* Of the library, where a name is near that of a rule or strategy; else what could stand there. */
static void propose_library_step(Resolver *r, Diag *d, Span span, const char *name)
{
    const char *near = library_step_near(r->ctx, name);
    if (!near) {
        list_strategies(r, d);
        return;
    }
    diag_help(r->ctx, d, "did you mean `%s`? The library has it: `import %s`", near, library_module(r->ctx, library_with(near)));
    diag_edit(r->ctx, d, span, "%s", near);
    edit_import(r, d, library_module(r->ctx, library_with(near)));
}

/* ---- unknown names -------------------------------------------------------------------------------------------------------------- */

/* Another word in the place of a name is another one wherever the name stands. */
static void edit_again(Resolver *r, Diag *d, Span span)
{
    if (d && d->edits.n > 0 && d->edits.at[0].span.lo == d->span.lo && d->edits.at[0].span.hi == d->span.hi && span.lo > d->span.lo)
        diag_edit(r->ctx, d, span, "%s", d->edits.at[0].text);
}

/* Whether a message spoke of this name: of an import that lacks, in the file; else in the item. */
static bool is_told(Resolver *r, const char *name, Span span, bool import)
{
    for (int i = 0; i < r->of_item.n; i++)
        if (r->of_item.at[i] == name) {
            if (i < r->of_item_said.n)
                edit_again(r, r->of_item_said.at[i], span);
            return true;
        }
    for (int i = 0; i < r->told.n && import; i++)
        if (r->told.at[i] == name)
            return true;
    vec_push(r->ctx, &r->of_item, name);
    if (import)
        vec_push(r->ctx, &r->told, name);
    return false;
}

/* `fun x => 0,5 * x`: the function ends at the comma. */
static bool behind_decimal_comma(Resolver *r, Diag *d, Span span)
{
    const char *text = source_get(r->ctx, span.file)->text;
    uint32_t at = span.lo;
    while (at > 0 && strchr(" *+-/.0123456789", text[at - 1]))
        at--;
    bool digits = at > 1 && text[at - 1] == ',' && strchr("0123456789", text[at]) && strchr("0123456789", text[at - 2]);
    if (digits)
        diag_propose(r->ctx, d, (Span){span.file, at - 1, at}, "a fraction has a point, $, and no comma", ".");
    return digits;
}

/* `2.f`, `0.5.f`: the letter of C behind a number. */
static bool behind_number(Resolver *r, Diag *d, Span span)
{
    static const struct { char letter; const char *type; } letters[] = {{'f', "f32"}, {'F', "f32"}, {'d', "f64"}, {'h', "f16"}};
    const char *text = source_get(r->ctx, span.file)->text, *type = NULL;
    uint32_t at = span.lo;
    for (size_t i = 0; i < sizeof letters / sizeof *letters; i++)
        type = span.hi == span.lo + 1 && text[span.lo] == letters[i].letter ? letters[i].type : type;
    while (type && at > 0 && strchr("0123456789.", text[at - 1]))
        at--;
    if (!type || at + 2 > span.lo || text[span.lo - 1] != '.' || text[at] == '.')
        return false;
    int digits = (int)(span.lo - 1 - at);
    bool point = memchr(text + at, '.', (size_t)digits);
    diag_propose(r->ctx, d, (Span){span.file, at, span.hi}, "the type stands behind the number: $", "%.*s%s%s", digits, text + at, point ? "" : ".0", type);
    return true;
}

/* `map(gelu(x))`: the function is applied, where it is meant itself. */
static bool applied_too_early(Resolver *r, Diag *d, Span span)
{
    const char *text = source_get(r->ctx, span.file)->text;
    uint32_t fn_end = span.lo - 1, fn = fn_end, pattern;
    if (span.lo < 2 || text[span.hi] != ')' || text[fn_end] != '(')
        return false;
    while (fn > 0 && is_word_byte(text[fn - 1]))
        fn--;
    if (fn == fn_end || fn < 2 || text[fn - 1] != '(')
        return false;
    for (pattern = fn - 1; pattern > 0 && is_word_byte(text[pattern - 1]);)
        pattern--;
    const char *who = intern(r->ctx, text + pattern, fn - 1 - pattern), *what = intern(r->ctx, text + fn, fn_end - fn);
    PrimId prim = prim_find(who);
    const Item *header = prim == P_COUNT ? NULL : prim_header(r->ctx, prim);
    int i = 0;
    while (header && i < header->n_params && (header->params[i].implicit || param_kind(&header->params[i]) == KIND_NAT))
        i++;
    if (!header || i >= header->n_params || param_kind(&header->params[i]) != KIND_FUN || !resolve_known(r, what, NULL))
        return false;
    diag_propose(r->ctx, d, (Span){span.file, fn, span.hi + 1}, ctx_printf(r->ctx, "`%s` takes the function itself: $", who), "%s", what);
    return true;
}

/* The byte behind the brackets that follow this one. */
static uint32_t behind_brackets(const char *text, uint32_t at)
{
    while (text[at] == '(' || text[at] == '[' || text[at] == '{') {
        int open = 0;
        do {
            open += (text[at] == '(' || text[at] == '[' || text[at] == '{') - (text[at] == ')' || text[at] == ']' || text[at] == '}');
            at++;
        } while (open > 0 && text[at]);
    }
    return at;
}

/* What stands behind the last comma before the bracket that ends here; NULL. */
static const char *last_argument(const char *text, uint32_t end)
{
    uint32_t at = end > 0 ? end - 1 : 0;
    while (at > 0 && text[at] != ',')
        at--;
    return at > 0 ? text + at + 1 + strspn(text + at + 1, " ") : NULL;
}

/* `filter(fun x => c) |> reduce(op, unit)`: what goes counts as the unit. */
static bool propose_kept(Resolver *r, Diag *d, Span span, const char *name)
{
    enum { LONGEST = 160 };
    const char *text = source_get(r->ctx, span.file)->text, *const behind = text + span.hi;
    if (strcmp(name, "filter") != 0 || strncmp(behind, "(fun ", 5) != 0)
        return false;
    uint32_t end = behind_brackets(text, span.hi);
    const char *param = behind + 5, *arrow = strstr(param, "=> "), *fold = text + end + strspn(text + end, " \n|>");
    size_t n = strcspn(param, " ");
    const char *unit = last_argument(fold, behind_brackets(fold, (uint32_t)strcspn(fold, "(\n")));
    if (end - span.lo > LONGEST || !arrow || arrow != param + n + 1 || param[0] == '(' || strncmp(fold, "reduce", 6) != 0 || !unit)
        return false;
    const char *close = fold + behind_brackets(fold, (uint32_t)strcspn(fold, "(\n")) - 1, *test = arrow + 3;
    if (close < unit || text + end - 1 < test)
        return false;
    diag_propose(r->ctx, d, (Span){span.file, span.lo, end}, "in front of a fold, what goes counts as its unit: $", "map(fun %.*s => if %.*s then %.*s else %.*s)", (int)n, param,
                 (int)(text + end - 1 - test), test, (int)n, param, (int)(close - unit), unit);
    diag_or_else(r->ctx, d);
    diag_help(r->ctx, d, "%s", foreign_word(name, FOREIGN_VALUE)->help);
    return true;
}

/* `map(row |> f)`: the name stands at the start of the function of a map, and goes on, as its element would. */
static bool propose_fun(Resolver *r, Diag *d, Span span, const char *name)
{
    const char *text = source_get(r->ctx, span.file)->text, *next = text + span.hi + strspn(text + span.hi, " \n");
    uint32_t open = span.lo, word;
    while (open > 0 && strchr(" \n", text[open - 1]))
        open--;
    if (open == 0 || text[open - 1] != '(' || *next == ')' || *next == ',' || *next == '(')
        return false;
    for (word = open - 1; word > 0 && isalnum((unsigned char)text[word - 1]); word--)
        ;
    if (strncmp(text + word, "map", 3) != 0 || prim_find(ctx_printf(r->ctx, "%.*s", (int)(open - 1 - word), text + word)) == P_COUNT)
        return false;
    diag_propose(r->ctx, d, (Span){span.file, span.lo, span.lo}, ctx_printf(r->ctx, "`%.*s` wants a function of an element: write $ before it", (int)(open - 1 - word), text + word), "fun %s => ", name);
    return true;
}

void unknown_name(Resolver *r, const char *name, Span span, const Local *scope)
{
    if (is_data_in_header(r, name, span) || is_missing_size(r, name, span) || is_missing_type(r, name, span) || r->scope->broken)
        return;
    if (r->types)
        resolve_unusable(r);
    const LibFile *module = r->types ? NULL : library_with(name);
    if (is_told(r, name, span, module != NULL))
        return;
    if (r->item)
        vec_push(r->ctx, &r->program->lacking, r->item);
    Diag *d = diag_error(r->ctx, E0201, span, "nothing is called `%s` here", name);
    while (r->of_item_said.n + 1 < r->of_item.n)
        vec_push(r->ctx, &r->of_item_said, (Diag *)NULL);
    vec_push(r->ctx, &r->of_item_said, d);
    if (applied_too_early(r, d, span) || behind_decimal_comma(r, d, span) || behind_number(r, d, span))
        return;
    if (module) {
        propose_import(r, d, name);
        return;
    }
    if (foreign_word(name, FOREIGN_LENGTH_OF) && propose_length_of(r, d, span, scope))
        return;
    if (propose_fun(r, d, span, name) || propose_kept(r, d, span, name) || foreign_name_hint(r, d, span, name))
        return;
    const char *best = nearest(r, name, span, scope);
    if (best && resolve_bound(scope, best))
        diag_help(r->ctx, d, "did you mean `%s`?", best); /* or a parameter is missing, and this would compute something else */
    else if (best)
        diag_propose(r->ctx, d, span, "did you mean $?", "%s", best);
    else if (r->strategic)
        propose_library_step(r, d, span, name);
}

bool unknown_statement(Resolver *r, const Ast *ast, const Local *scope)
{
    const Ast *fn = ast->call.fn;
    while (fn->kind == AST_CALL || fn->kind == AST_NAMED)
        fn = fn->call.fn;
    if (fn->kind != AST_NAME || resolve_known(r, fn->name.text, scope) || !foreign_word(fn->name.text, FOREIGN_STATEMENT))
        return false;
    unknown_name(r, fn->name.text, fn->span, scope);
    resolve_unusable(r);
    return true;
}

static const Ast *callee_of(const Ast *ast)
{
    while (ast->kind == AST_CALL || ast->kind == AST_NAMED || ast->kind == AST_BRACKET)
        ast = ast->call.fn;
    return ast;
}

/* A name of a function, one with some of its arguments, or two that a dot joins. */
static bool is_function(const Resolver *r, const Ast *ast, const Local *scope)
{
    const FileScope *home;
    ast = callee_of(ast);
    if (ast->kind == AST_DOT)
        return is_function(r, ast->bin.lhs, scope) && is_function(r, ast->bin.rhs, scope);
    if (ast->kind != AST_NAME || resolve_bound(scope, ast->name.text))
        return false;
    const Item *item = scope_find(r->scope, ast->name.text, &home);
    return item ? item->n_params > 0 : prim_find(ast->name.text) != P_COUNT;
}

/* `f(a) . g(b)` as `g(b) >> f(a)`: what stands before the dot, behind all that stands behind it. */
static const char *composed(Resolver *r, const Ast *ast)
{
    const char *text = source_get(r->ctx, ast->span.file)->text;
    const Ast *dot = callee_of(ast), *rhs = dot->kind == AST_DOT ? dot->bin.rhs : NULL;
    if (!rhs)
        return ctx_printf(r->ctx, "%.*s", (int)(ast->span.hi - ast->span.lo), text + ast->span.lo);
    uint32_t end = behind_brackets(text, rhs->span.hi);
    return ctx_printf(r->ctx, "%.*s >> %s", (int)(end - rhs->span.lo), text + rhs->span.lo, composed(r, dot->bin.lhs));
}

static void report_composed(Resolver *r, const Ast *ast)
{
    enum { LONGEST = 120 };
    const char *text = source_get(r->ctx, ast->span.file)->text;
    uint32_t lo = ast->span.lo, end = behind_brackets(text, ast->span.hi);
    const Ast *first = callee_of(ast->bin.lhs);
    const char *name = first->kind == AST_NAME ? first->name.text : first->bin.rhs->kind == AST_NAME ? first->bin.rhs->name.text : "it";
    Diag *d = diag_error(r->ctx, E0344, (Span){ast->span.file, lo, end}, "`%s` is a function, and nothing stands behind its dot", name);
    if (end - lo > LONGEST || memchr(text + lo, '\n', end - lo))
        diag_note(r->ctx, d, NO_SPAN, "functions are joined by `>>`, the first one first: `f >> g` is first f, then g");
    else
        diag_propose(r->ctx, d, (Span){ast->span.file, lo, end}, "functions are joined by `>>`, the first one first: $", "%s", composed(r, ast));
}

/* `xs.T`, `xs.cumsum`: what other languages write behind a dot, and this one behind a pipe. */
static bool report_method(Resolver *r, const Ast *ast, const Local *scope)
{
    const Ast *lhs = ast->bin.lhs, *rhs = ast->bin.rhs;
    const Foreign *foreign = foreign_word(rhs->name.text, FOREIGN_VALUE);
    const char *text = source_get(r->ctx, ast->span.file)->text, *instead = foreign ? foreign->instead : NULL;
    bool called = text[rhs->span.hi] == '(';
    if (!instead || (called && strchr(instead, '(')) || lhs->kind != AST_NAME || !resolve_bound(scope, lhs->name.text))
        return false;
    uint32_t end = called ? behind_brackets(text, rhs->span.hi) : rhs->span.hi;
    Diag *d = diag_error(r->ctx, E0201, rhs->span, "nothing is called `%s` here", rhs->name.text);
    diag_propose(r->ctx, d, (Span){ast->span.file, lhs->span.lo, end}, "there are no methods: write $", "%s |> %s%.*s", lhs->name.text,
                 instead, (int)(end - rhs->span.hi), text + rhs->span.hi);
    return true;
}

/* `p.x`: a name behind the dot of a value. */
static void unknown_field(Resolver *r, const Ast *ast, const Local *scope)
{
    const Ast *lhs = ast->bin.lhs, *rhs = ast->bin.rhs;
    const char *name = lhs->kind == AST_NAME ? lhs->name.text : NULL;
    if (report_method(r, ast, scope))
        return;
    if (!name || !resolve_bound(scope, name) || library_with(rhs->name.text) || foreign_word(rhs->name.text, FOREIGN_VALUE)) {
        unknown_name(r, rhs->name.text, rhs->span, scope);
        return;
    }
    /* Who names one component names others. */
    if (is_told(r, intern(r->ctx, ".", 1), rhs->span, false))
        return;
    Diag *d = diag_error(r->ctx, E0201, rhs->span, "nothing is called `%s` here", rhs->name.text);
    while (r->of_item_said.n < r->of_item.n)
        vec_push(r->ctx, &r->of_item_said, (Diag *)NULL);
    diag_help(r->ctx, d, "components of a tuple have numbers and no names: the first is `%s.1`, the second `%s.2`; `fun (x, y) => ...` and `let (x, y) = %s in ...` name them", name, name, name);
}

bool unknown_dot(Resolver *r, const Ast *ast, const Local *scope)
{
    const Ast *lhs = ast->bin.lhs, *rhs = ast->bin.rhs;
    if (r->scope->broken)
        return false;
    if (is_function(r, lhs, scope) && is_function(r, rhs, scope)) {
        report_composed(r, ast);
        resolve_unusable(r);
        return true;
    }
    if (rhs->kind != AST_NAME)
        return false;
    const char *after = rhs->name.text;
    if (lhs->kind == AST_NAME && !resolve_known(r, lhs->name.text, scope)) {
        bool module = foreign_word(lhs->name.text, FOREIGN_MODULE) != NULL;
        if (module && (foreign_word(after, FOREIGN_VALUE) || resolve_known(r, after, scope) || library_with(after))) {
            Diag *d = diag_error(r->ctx, E0201, ast->span, "nothing is called `%s.%s` here", lhs->name.text, after);
            if (resolve_known(r, after, scope))
                diag_propose(r->ctx, d, ast->span, "it is called $", "%s", after);
            else if (library_with(after))
                propose_import(r, d, after);
            else
                foreign_name_hint(r, d, ast->span, after);
        } else {
            unknown_name(r, lhs->name.text, lhs->span, scope);
        }
    } else if (!resolve_known(r, after, scope)) {
        unknown_field(r, ast, scope);
    } else {
        return false;
    }
    resolve_unusable(r);
    return true;
}

/* Whether this name may stand in the square brackets of a primitive. */
static bool is_option(PrimId prim, const char *name)
{
    const char *options = prim == P_COUNT ? "" : prim_rows[prim].options;
    if (name[0] >= 'x' && name[0] <= 'z' && !name[1])
        return strstr(options, "axis") != NULL;
    const char *at = strstr(options, name);
    return at && (at == options || at[-1] == ' ') && strchr(" ", at[strlen(name)]);
}

bool axis_in_parens(Resolver *r, const Ast *ast, const Local *scope)
{
    const Ast *fn = ast->call.fn, *axis = ast->kind == AST_CALL && ast->call.n == 1 ? ast->call.items[0] : NULL;
    if (!axis || axis->kind != AST_NAME || fn->kind != AST_NAME || resolve_known(r, axis->name.text, scope) || resolve_bound(scope, fn->name.text) ||
        !is_option(prim_find(fn->name.text), axis->name.text))
        return false;
    Diag *d = diag_error(r->ctx, E0201, axis->span, "nothing is called `%s` here", axis->name.text);
    diag_propose(r->ctx, d, ast->span, axis->name.text[1] ? "options stand in square brackets: $" : "an axis stands in square brackets: $", "%s[%s]", fn->name.text, axis->name.text);
    resolve_unusable(r);
    return true;
}

void arrow_as_value(Resolver *r, const Ast *ast)
{
    Span at = span_start(ast->span), arrow = ast->bin.op_span;
    Diag *d = diag_error(r->ctx, E0105, ast->bin.lhs->span, "a function starts with `fun`");
    diag_help(r->ctx, d, "write `fun x => e`: `->` stands only in types");
    diag_edit(r->ctx, d, at, "fun ");
    diag_edit(r->ctx, d, arrow, "=>");
    resolve_unusable(r);
}
