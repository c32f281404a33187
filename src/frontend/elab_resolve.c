/* Names, before anything is elaborated: every name of every item, used or not, means something, and means one thing. */
#include "frontend/elab_resolve.h"
#include "frontend/notes.h"
#include "frontend/rule.h"

/* ---- names that are always there ---------------------------------------------------------------------------------------- */

static const char *const words[] = {
    "nat", "data", "num", "int", "float", "scalar", "idx", "vec", "inf", "nan", "lowest", "highest", "true", "false", "ceilDiv", "pow2",
    "numSM", "maxResident", "halving", "toMem", "bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "bf16", "f32", "f64", NULL};

const char *const *builtin_names(void) { return words; }

BuiltinKind builtin_find(const char *name)
{
    static const BuiltinKind kinds[] = {
        BUILTIN_KIND, BUILTIN_KIND, BUILTIN_KIND, BUILTIN_KIND, BUILTIN_KIND, BUILTIN_KIND, BUILTIN_TYPE, BUILTIN_TYPE, BUILTIN_CONST, BUILTIN_CONST,
        BUILTIN_CONST, BUILTIN_CONST, BUILTIN_BOOL, BUILTIN_BOOL, BUILTIN_NATFN, BUILTIN_NATFN, BUILTIN_DEVICE, BUILTIN_DEVICE, BUILTIN_HALVING, BUILTIN_TOMEM};
    for (size_t i = 0; words[i]; i++)
        if (strcmp(words[i], name) == 0)
            return i < sizeof kinds / sizeof kinds[0] ? kinds[i] : BUILTIN_SCALAR;
    return BUILTIN_NONE;
}

ParamKind param_kind(const Param *param)
{
    const Ast *kind = param->kind;
    if (!kind)
        return KIND_VALUE;
    if (kind->kind == AST_ARROW)
        return KIND_FUN;
    if (kind->kind == AST_NAME) {
        for (int k = KIND_NAT; k <= KIND_SCALAR; k++)
            if (strcmp(kind->name.text, kind_name((ParamKind)k)) == 0)
                return (ParamKind)k;
    }
    return KIND_VALUE;
}

const char *kind_name(ParamKind k)
{
    switch (k) {
    case KIND_NAT:
        return "nat";
    case KIND_DATA:
        return "data";
    case KIND_NUM:
        return "num";
    case KIND_INT:
        return "int";
    case KIND_FLOAT:
        return "float";
    case KIND_SCALAR:
        return "scalar";
    case KIND_VALUE:
    case KIND_FUN:
        break;
    }
    return "a value";
}

/* ---- the walk ------------------------------------------------------------------------------------------------------------- */

static int node_of(const Resolver *r, const Item *item)
{
    for (int i = 0; i < r->nodes.n; i++)
        if (r->nodes.at[i].item == item)
            return i;
    return -1;
}

bool resolve_bound(const Local *scope, const char *name) { return scope && name_map_get(scope->names, name); }

static void note_name(const Resolver *r, const char *name, Span at, Span bound_at, const Item *item)
{
    if (r->program->notes && name && at.file)
        vec_push(r->ctx, &r->program->notes->list, ((NameNote){at, bound_at, name, item, r->item}));
}

/* A name that belongs to a header: in `f{n = 4}`, and in `for n = 4`. */
static void note_param(const Resolver *r, const Item *item, const char *name, Span at)
{
    for (int i = 0; r->program->notes && i < item->n_params; i++)
        if (name && item->params[i].name == name)
            note_name(r, name, at, item->params[i].span, NULL);
}

bool resolve_known(const Resolver *r, const char *name, const Local *scope)
{
    const FileScope *home;
    return resolve_bound(scope, name) || scope_find(r->scope, name, &home) || prim_find(name) != P_COUNT || builtin_find(name) != BUILTIN_NONE;
}

void resolve_unusable(Resolver *r)
{
    if (r->item)
        vec_push(r->ctx, &r->program->unusable, r->item);
}

static void use_name(Resolver *r, const char *name, Span span, const Local *scope)
{
    const Local *local = scope ? name_map_get(scope->names, name) : NULL;
    if (local) {
        *local->used = true;
        note_name(r, name, span, local->at, NULL);
        return;
    }
    const FileScope *home;
    const Item *item = scope_find(r->scope, name, &home);
    note_name(r, name, span, item ? item->name_span : NO_SPAN, item);
    if (item) {
        int to = node_of(r, item);
        if (r->node >= 0 && to >= 0) {
            vec_push(r->ctx, &r->nodes.at[r->node].uses, to);
            vec_push(r->ctx, &r->nodes.at[r->node].use_spans, span);
        }
        return;
    }
    if (prim_find(name) == P_COUNT && builtin_find(name) == BUILTIN_NONE)
        unknown_name(r, name, span, scope);
}

static bool is_name_byte(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

/* Every place of a name in an item, comments apart, gets an underscore. */
static void rename_in(Resolver *r, Diag *d, Span item, const char *name)
{
    const char *text = source_get(r->ctx, item.file)->text;
    size_t n = strlen(name);
    for (uint32_t at = item.lo; at + n <= item.hi; at++) {
        if (text[at] == '-' && text[at + 1] == '-')
            at += (uint32_t)strcspn(text + at, "\n");
        bool starts = at == 0 || !is_name_byte(text[at - 1]);
        if (starts && strncmp(text + at, name, n) == 0 && !is_name_byte(text[at + n]))
            diag_edit(r->ctx, d, (Span){item.file, at, at + (uint32_t)n}, "%s_", name);
    }
}

/* A name that means something everywhere keeps that meaning. */
static void check_new_name(Resolver *r, const char *name, Span span)
{
    if (!name)
        return;
    PrimId prim = prim_find(name);
    if (prim == P_COUNT && builtin_find(name) == BUILTIN_NONE)
        return;
    Diag *d = diag_error(r->ctx, E0203, span, prim != P_COUNT ? "`%s` is a primitive, and its name cannot be given again" : "`%s` is a word of the language, and cannot be given again", name);
    diag_help(r->ctx, d, "choose another name, such as `%s_`", name);
    if (r->item && span.lo != r->item->name_span.lo)
        rename_in(r, d, r->item->span, name);
}

static const Local *push(Resolver *r, const Local *scope, const char *name, Span at)
{
    if (!name)
        return scope;
    Local *l = NEW(r->ctx, Local);
    note_name(r, name, at, at, NULL);
    *l = (Local){name, at, NEW(r->ctx, bool), scope, name_map_put(r->ctx, scope ? scope->names : NULL, name, l)};
    return l;
}

static void walk(Resolver *r, const Ast *ast, const Local *scope);

/* `first`: the scope before the pattern, to find a name that stands in it twice. */
static const Local *bind_names(Resolver *r, const Pattern *p, const Local *scope, const Local *first)
{
    r->types++;
    if (p->type)
        walk(r, p->type, scope);
    r->types--;
    if (p->name) {
        check_new_name(r, p->name, p->span);
        for (const Local *s = scope; s != first; s = s->up)
            if (s->name == p->name)
                diag_error(r->ctx, E0209, p->span, "`%s` is bound twice in one pattern", p->name);
        scope = push(r, scope, p->name, p->span);
    }
    for (int i = 0; i < p->n_items; i++)
        scope = bind_names(r, &p->items[i], scope, first);
    return scope;
}

static void walk_all(Resolver *r, int n, Ast *const *items, const Local *scope)
{
    for (int i = 0; i < n; i++)
        walk(r, items[i], scope);
}

/* What is bound from `before` on, and has no use: by the header, or by a `let`. Of rules and
 * strategies, nothing is said. */
static void note_unused(const Resolver *r, bool let, const Local *scope, const Local *before)
{
    ItemKind kind = r->item ? r->item->kind : ITEM_ERROR;
    bool asked = kind == ITEM_ENTRY || kind == ITEM_DEF || (let && kind == ITEM_OPERATOR);
    if (!asked || r->scope != r->program->files.at[0])
        return;
    for (const Local *l = scope; l != before; l = l->up)
        if (!*l->used && l->name[0] != '_')
            vec_push(r->ctx, &r->program->doubtful, ((DoubtfulName){.item = r->item, .name = l->name, .span = l->at, .let = let}));
}

/* A `let` with the name of a size: what follows means the value where it may have meant the size. */
static void note_hidden(const Resolver *r, const Local *scope, const Local *before)
{
    for (const Local *l = scope; l != before && r->scope == r->program->files.at[0]; l = l->up)
        for (int i = 0; r->item && i < r->item->n_params; i++) {
            const Param *p = &r->item->params[i];
            if (p->name == l->name && p->kind && param_kind(p) == KIND_NAT && *l->used)
                vec_push(r->ctx, &r->program->doubtful, ((DoubtfulName){.item = r->item, .name = l->name, .span = l->at, .let = true, .hides = p}));
        }
}

static void walk_bracket(Resolver *r, const Ast *ast, const Local *scope)
{
    const Ast *fn = ast->call.fn;
    walk(r, fn, scope);
    bool options = fn->kind == AST_NAME && !resolve_bound(scope, fn->name.text) &&
                   (prim_find(fn->name.text) != P_COUNT || builtin_find(fn->name.text) == BUILTIN_TOMEM);
    for (int i = 0; i < ast->call.n; i++)
        /* Words of an option (`x`, `swizzle`) are checked when they are elaborated. */
        if (!options || (ast->call.names && ast->call.names[i]) || ast->call.items[i]->kind != AST_NAME)
            walk(r, ast->call.items[i], scope);
}

/* The names in f{n = 4}, of a definition. */
static void note_named(const Resolver *r, const Ast *ast, const Local *scope)
{
    const Ast *fn = ast->call.fn;
    const Item *item = fn->kind == AST_NAME && !resolve_bound(scope, fn->name.text) ? scope_find(r->scope, fn->name.text, &(const FileScope *){NULL}) : NULL;
    for (int i = 0; item && i < ast->call.n; i++)
        note_param(r, item, ast->call.names[i], ast->call.name_spans[i]);
}

static void walk(Resolver *r, const Ast *ast, const Local *scope)
{
    switch (ast->kind) {
    case AST_ERROR:
    case AST_INT:
    case AST_FLOAT:
    case AST_OPFUN:
        return;
    case AST_NAME:
        use_name(r, ast->name.text, ast->span, scope);
        return;
    case AST_CALL:
    case AST_NAMED:
        if (unknown_statement(r, ast, scope) || axis_in_parens(r, ast, scope))
            return;
        if (ast->kind == AST_NAMED)
            note_named(r, ast, scope);
        walk(r, ast->call.fn, scope);
        r->types += ast->kind == AST_NAMED; /* an argument by name may be a type */
        walk_all(r, ast->call.n, ast->call.items, scope);
        r->types -= ast->kind == AST_NAMED;
        return;
    case AST_BRACKET:
        walk_bracket(r, ast, scope);
        return;
    case AST_DOT:
        if (!r->types && unknown_dot(r, ast, scope))
            return;
        walk(r, ast->bin.lhs, scope);
        walk(r, ast->bin.rhs, scope);
        return;
    case AST_BINARY:
    case AST_PIPE:
    case AST_COMPOSE:
        walk(r, ast->bin.lhs, scope);
        walk(r, ast->bin.rhs, scope);
        return;
    case AST_ARROW:
        if (!r->types && ast->bin.lhs->kind != AST_BINDER) {
            arrow_as_value(r, ast);
            return;
        }
        walk(r, ast->bin.lhs, scope);
        if (ast->bin.lhs->kind == AST_BINDER)
            scope = push(r, scope, ast->bin.lhs->binder.param->name, ast->bin.lhs->binder.param->span);
        walk(r, ast->bin.rhs, scope);
        return;
    case AST_BINDER:
        if (ast->binder.param->kind)
            walk(r, ast->binder.param->kind, scope);
        return;
    case AST_UNARY:
        walk(r, ast->bin.lhs, scope);
        return;
    case AST_TUPLE:
    case AST_LIST:
        walk_all(r, ast->list.n, ast->list.items, scope);
        return;
    case AST_LAMBDA: {
        const Local *first = scope;
        for (int i = 0; i < ast->lambda.n; i++)
            scope = bind_names(r, &ast->lambda.params[i], scope, first);
        walk(r, ast->lambda.body, scope);
        return;
    }
    case AST_LET: {
        walk(r, ast->let.value, scope);
        const Local *before = scope;
        scope = bind_names(r, ast->let.pattern, scope, scope);
        walk(r, ast->let.body, scope);
        note_unused(r, true, scope, before);
        note_hidden(r, scope, before);
        return;
    }
    case AST_IF:
        walk(r, ast->cond.cond, scope);
        walk(r, ast->cond.then, scope);
        walk(r, ast->cond.otherwise, scope);
        return;
    case AST_SEQ:
    case AST_ORELSE:
        walk(r, ast->bin.lhs, scope);
        walk(r, ast->bin.rhs, scope);
        return;
    case AST_AT:
        walk(r, ast->at.what, scope);
        return;
    case AST_LABEL:
        walk(r, ast->label.operand, scope);
        return;
    case AST_UNROLL:
        walk(r, ast->unroll.list, scope);
        check_new_name(r, ast->unroll.name, ast->unroll.name_span);
        walk(r, ast->unroll.fn, push(r, scope, ast->unroll.name, ast->unroll.name_span));
        return;
    }
}

/* ---- headers ---------------------------------------------------------------------------------------------------------------- */

static bool mentions(const Ast *ast, const char *name)
{
    switch (ast->kind) {
    case AST_NAME:
        return ast->name.text == name;
    case AST_CALL:
    case AST_NAMED:
    case AST_BRACKET:
        if (mentions(ast->call.fn, name))
            return true;
        for (int i = 0; i < ast->call.n; i++)
            if (mentions(ast->call.items[i], name))
                return true;
        return false;
    case AST_DOT:
    case AST_BINARY:
    case AST_ARROW:
        return mentions(ast->bin.lhs, name) || mentions(ast->bin.rhs, name);
    case AST_UNARY:
        return mentions(ast->bin.lhs, name);
    case AST_TUPLE:
    case AST_LIST:
        for (int i = 0; i < ast->list.n; i++)
            if (mentions(ast->list.items[i], name))
                return true;
        return false;
    case AST_ERROR:
    case AST_INT:
    case AST_FLOAT:
    case AST_OPFUN:
    case AST_PIPE:
    case AST_COMPOSE:
    case AST_BINDER:
    case AST_LAMBDA:
    case AST_LET:
    case AST_IF:
    case AST_UNROLL:
    case AST_SEQ:
    case AST_ORELSE:
    case AST_AT:
    case AST_LABEL:
        break;
    }
    return false;
}

bool param_is_fixed(const Item *item, const Param *param)
{
    for (int k = 0; k < item->n_params; k++) {
        const Param *p = &item->params[k];
        ParamKind kind = param_kind(p);
        if (!p->implicit && (kind == KIND_VALUE || kind == KIND_FUN) && p->kind && mentions(p->kind, param->name))
            return true;
    }
    return false;
}

/* Whether the header has arrays of this size. */
static bool is_size_of(const Ast *type, const char *name)
{
    for (; type && type->kind == AST_DOT; type = type->bin.lhs) {
        const Ast *size = type->bin.lhs->kind == AST_DOT ? type->bin.lhs->bin.rhs : type->bin.lhs;
        if (size->kind == AST_NAME && size->name.text == name)
            return true;
    }
    return false;
}

static bool is_size(const Item *item, const char *name)
{
    for (int i = 0; i < item->n_params; i++)
        if (is_size_of(item->params[i].kind, name))
            return true;
    return is_size_of(item->result, name);
}

bool param_is_of_kind(const Item *item, int i)
{
    const Param *p = &item->params[i];
    ParamKind kind = param_kind(p);
    bool type = false; /* others are of it */
    for (int k = 0; k < item->n_params; k++)
        type |= p->name && k != i && item->params[k].kind && mentions(item->params[k].kind, p->name);
    return kind_is_type(kind) && kind != KIND_DATA && !p->implicit && !type;
}

/* `{n: i32}`: a size that has a type of data, or data in braces. */
static void report_inferred_data(Resolver *r, const Item *item, const Param *p)
{
    const char *name = p->name ? p->name : "_";
    Diag *d = diag_error(r->ctx, E0208, p->span, "`%s` is data: only sizes and types can be inferred", name);
    if (is_size(item, p->name)) {
        diag_propose(r->ctx, d, p->kind->span, ctx_printf(r->ctx, "declare it as a size: `{%s: nat}`", name), "nat");
        return;
    }
    StrBuf type;
    sb_init(&type, r->ctx);
    ast_print(&type, p->kind);
    const char *text = source_get(r->ctx, p->span.file)->text;
    bool alone = p->span.lo > 0 && text[p->span.lo - 1] == '{' && text[p->kind->span.hi] == '}' && text[p->span.hi] == ':';
    diag_help(r->ctx, d, "a value that the caller gives stands in parentheses: `(%s: %s)`", name, type.text);
    if (alone) {
        diag_edit(r->ctx, d, (Span){p->span.file, p->span.lo - 1, p->span.lo}, "(");
        diag_edit(r->ctx, d, (Span){p->span.file, p->kind->span.hi, p->kind->span.hi + 1}, ")");
    }
}

static void check_params(Resolver *r, const Item *item)
{
    for (int i = 0; i < item->n_params; i++) {
        const Param *p = &item->params[i];
        check_new_name(r, p->name, p->span);
        for (int k = 0; k < i && p->name; k++)
            if (item->params[k].name == p->name) {
                Diag *d = diag_error(r->ctx, E0209, p->span, "`%s` has two parameters `%s`", item->name, p->name);
                diag_note(r->ctx, d, item->params[k].span, "the first is here");
                break;
            }
        ParamKind kind = param_kind(p);
        bool tuned = item->kind == ITEM_ENTRY || item->kind == ITEM_STRATEGY;
        if (p->def && (!tuned || kind != KIND_NAT)) {
            Diag *d = diag_error(r->ctx, E0217, p->def->span, !tuned ? "only an entry's sizes have defaults" : "only sizes have defaults, and `%s` is none", p->name ? p->name : "_");
            diag_label(r->ctx, d, "a default makes a tunable");
            if (p->kind)
                diag_propose(r->ctx, d, (Span){p->def->span.file, p->kind->span.hi, p->def->span.hi}, "leave the default out: whoever calls it gives a value, as by `--arg` on the command line", "%s", "");
        }
        if (item->kind == ITEM_ENTRY && (kind == KIND_FUN || kind_is_type(kind)) && !param_is_of_kind(item, i)) {
            Diag *d = diag_error(r->ctx, E0212, p->span, kind == KIND_FUN ? "`%s` is a function, and an entry is called from outside with data" : "`%s` is a type, and an entry is called from outside with data",
                                 p->name ? p->name : "_");
            if (kind != KIND_FUN && is_size(item, p->name))
                diag_propose(r->ctx, d, p->kind->span, "a size is a $", "nat");
            else
                diag_propose(r->ctx, d, (Span){item->span.file, item->span.lo, item->span.lo + 5}, "make this a $, and write an entry that uses it at fixed types", "def");
        }
        if (p->implicit && kind == KIND_VALUE && p->kind && (p->kind->kind != AST_NAME || resolve_known(r, p->kind->name.text, NULL)))
            report_inferred_data(r, item, p);
        if (!p->implicit || item->kind == ITEM_ENTRY || item->kind == ITEM_RULE || !p->name || kind == KIND_VALUE)
            continue;
        if (!param_is_fixed(item, p)) {
            Diag *d = diag_error(r->ctx, E0208, p->span, "no argument of `%s` says what `%s` is", item->name, p->name);
            diag_label(r->ctx, d, "it occurs in no parameter's type");
            diag_help(r->ctx, d, "make it a parameter that is given: `(%s: %s)`", p->name, kind_name(kind));
        }
    }
}

static const char *type_of(Resolver *r, const Ast *type)
{
    StrBuf sb;
    sb_init(&sb, r->ctx);
    if (type)
        ast_print(&sb, type);
    return sb.text;
}

/* Types that are spelled alike are one; of others that are computed, the elaborator knows more. */
static void check_operator_types(Resolver *r, const Item *item)
{
    const char *result = type_of(r, item->result);
    for (int i = 0; i < item->n_params && item->result; i++) {
        const char *type = type_of(r, item->params[i].kind);
        if (strcmp(type, result) == 0 || strpbrk(type, "+-*/%") || strpbrk(result, "+-*/%"))
            continue;
        Diag *d = diag_error(r->ctx, E0215, item->params[i].kind_span, "an operator takes two values of one type and gives that type; this is %s, and the result %s", type, result);
        diag_note(r->ctx, d, item->result->span, "the result");
        resolve_unusable(r);
        return;
    }
}

static void check_operator(Resolver *r, const Item *item)
{
    /* A missing unit or result was reported by the parser. */
    bool good = item->n_params == 2;
    for (int i = 0; i < item->n_params; i++)
        good &= !item->params[i].implicit && param_kind(&item->params[i]) == KIND_VALUE;
    if (good) {
        check_operator_types(r, item);
        return;
    }
    Diag *d = diag_error(r->ctx, E0215, item->name_span, "an operator takes two values of one type, and `%s` does not", item->name);
    diag_note(r->ctx, d, NO_SPAN, "one is written `operator %s (a: t) (b: t): t unit e, associative = ...`", item->name);
}

static const Local *push_words(Resolver *r, const Local *scope, const char *const *words_)
{
    for (; *words_; words_++)
        scope = push(r, scope, intern(r->ctx, *words_, strlen(*words_)), NO_SPAN);
    return scope;
}

static const Local *strategy_words(Resolver *r, const Local *scope)
{
    static const char *const combinators[] = {
#define STRATEGY(name, ...) #name,
#include "frontend/strategies.def"
#undef STRATEGY
        NULL};
    return push_words(r, scope, combinators);
}

static const char *const rule_laws[] = {
#define CONDITION(name, ...) #name,
#include "frontend/rule_conditions.def"
#undef CONDITION
    NULL};

/* The sizes that it gives, and the entry with which it compares. */
static void note_expect(const Resolver *r, const Item *item, const Expect *expect)
{
    const Ast *wanted = expect->wanted;
    const Item *other = wanted && wanted->kind == AST_NAME ? scope_find(r->scope, wanted->name.text, &(const FileScope *){NULL}) : NULL;
    for (int k = 0; k < expect->n_given; k++)
        note_param(r, item, expect->given[k].name, expect->given[k].span);
    if (other)
        note_name(r, other->name, wanted->span, other->name_span, other);
}

static void warn_unused(Ctx *ctx, const DoubtfulName *name)
{
    const Item *item = name->item;
    Diag *diag =
        name->let ? diag_warning(ctx, W0709, name->span, "nothing uses `%s`", name->name)
                  : diag_warning(ctx, W0709, name->span, "nothing in `%s` uses its parameter `%s`",
                                 item->name, name->name);
    const char *where = name->let ? "" : " where it has to be there";
    if (!name->let && item->n_expects) /* which may give it a value */
        diag_help(ctx, diag, "leave it out, or call it `_%s`%s", name->name, where);
    else
        diag_propose(ctx, diag, name->span, ctx_printf(ctx, "leave it out, or call it $%s", where),
                     "_%s", name->name);
}

static void warn_hidden(Ctx *ctx, const DoubtfulName *name)
{
    Diag *diag = diag_warning(ctx, W0719, name->span, "this `let` hides the size `%s`", name->name);
    diag_note(ctx, diag, name->hides->span, "the size");
    diag_help(ctx, diag, "behind it, `%s` is this value: give it another name", name->name);
}

void program_warn_names(Ctx *ctx, const Program *program)
{
    for (int i = 0; i < program->doubtful.n && !program->failed; i++) {
        const DoubtfulName *name = &program->doubtful.at[i];
        if (!item_accepts(name->item, name->hides ? W0719 : W0709))
            (name->hides ? warn_hidden : warn_unused)(ctx, name);
    }
}

static void resolve_item(Resolver *r, const Item *item)
{
    r->node = node_of(r, item);
    r->item = item;
    r->missing.n = r->missing_types.n = r->of_item.n = r->of_item_said.n = 0;
    r->missing_size = NULL;
    check_new_name(r, item->name, item->name_span);
    note_name(r, item->name, item->name_span, item->name_span, item);
    if (item->kind == ITEM_ERROR)
        return;
    check_params(r, item);
    if (item->kind == ITEM_OPERATOR)
        check_operator(r, item);
    const Local *scope = NULL;
    /* Sizes and types of a header may be written in any order. */
    for (int i = 0; i < item->n_params; i++) {
        ParamKind kind = param_kind(&item->params[i]);
        if (kind == KIND_NAT || kind_is_type(kind))
            scope = push(r, scope, item->params[i].name, item->params[i].span);
    }
    static const char *const strategy_kinds[] = {"steps", NULL};
    r->header = item;
    for (int i = 0; i < item->n_params; i++) {
        const Param *p = &item->params[i];
        r->types++;
        if (p->kind)
            walk(r, p->kind, item->kind == ITEM_STRATEGY ? push_words(r, scope, strategy_kinds) : scope);
        r->types--;
        if (p->def)
            walk(r, p->def, scope);
        if (p->candidates)
            walk(r, p->candidates, scope);
    }
    r->types++;
    if (item->result)
        walk(r, item->result, scope);
    r->types--;
    if (item->kind != ITEM_RULE) /* a rule's are about its functions, too */
        walk_all(r, item->n_where, item->where, scope);
    for (int i = 0; i < item->n_launch; i++)
        walk(r, item->launch[i].value, scope);
    r->header = NULL;
    if (item->unit)
        walk(r, item->unit, NULL);
    for (int i = 0; i < item->n_params; i++) {
        const Param *p = &item->params[i];
        ParamKind kind = param_kind(p);
        if (kind == KIND_NAT || kind_is_type(kind))
            continue;
        if (p->name)
            scope = push(r, scope, p->name, p->span);
        else
            scope = bind_names(r, &p->pattern, scope, scope);
    }
    const Local *params = scope;
    for (int i = 0; i < item->n_expects; i++)
        note_expect(r, item, &item->expects[i]);
    r->strategic = true;
    if (item->lowered)
        walk(r, item->lowered, strategy_words(r, scope));
    r->strategic = item->kind == ITEM_STRATEGY;
    if (item->kind == ITEM_STRATEGY)
        scope = strategy_words(r, scope);
    if (item->kind == ITEM_RULE)
        walk_all(r, item->n_where, item->where, push_words(r, scope, rule_laws));
    for (int i = 0; item->kind == ITEM_RULE && i < item->n_where; i++) {
        const Ast *cond = rule_condition_in(item->where[i]);
        if (cond && !resolve_known(r, cond->call.fn->name.text, scope))
            rule_condition_check(r->ctx, item, cond, item->where[i]);
    }
    if (item->body)
        walk(r, item->body, scope);
    note_unused(r, false, params, NULL);
}

void resolve_program(Ctx *ctx, Program *program, int first)
{
    Resolver r = {.ctx = ctx, .program = program, .node = -1};
    for (int f = 0; f < program->files.n; f++)
        for (int i = 0; i < program->files.at[f]->items.n; i++) {
            Node node = {.item = program->files.at[f]->items.at[i], .home = program->files.at[f]};
            vec_push(ctx, &r.nodes, node);
        }
    for (int f = first; f < program->files.n; f++) {
        r.scope = program->files.at[f];
        check_duplicates(&r, r.scope);
        for (int i = 0; i < r.scope->items.n; i++)
            resolve_item(&r, r.scope->items.at[i]);
    }
    find_cycles(&r);
}
