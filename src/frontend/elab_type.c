/* Types: inference of scalar types, and types and sizes as written. */
#include "frontend/elab_internal.h"
#include "frontend/foreign.h"

/* ---- what inference knows ------------------------------------------------------------------------------------------ */

Type type_resolve(const Elab *e, Type t)
{
    while (t->kind == TY_META && e->metas.at[t->meta].solution)
        t = e->metas.at[t->meta].solution;
    return t;
}

Type type_zonk(Elab *e, Type t)
{
    if (!t->has_meta)
        return t;
    t = type_resolve(e, t);
    switch (t->kind) {
    case TY_ERROR:
    case TY_SCALAR:
    case TY_IDX:
    case TY_META:
        return t;
    case TY_VEC:
        return type_vec(e->ctx, t->size, type_zonk(e, t->elem));
    case TY_ARRAY:
        return type_array(e->ctx, t->size, type_zonk(e, t->elem));
    case TY_TUPLE: {
        Type *items = NEWN(e->ctx, Type, t->n_items);
        for (int i = 0; i < t->n_items; i++)
            items[i] = type_zonk(e, t->items[i]);
        return type_tuple(e->ctx, t->n_items, items);
    }
    }
    return t;
}

Type meta_new(Elab *e, bool any, bool literal, unsigned mask, Scalar preferred, Span span)
{
    Meta m = {.any = any, .literal = literal, .mask = mask, .preferred = preferred, .span = span};
    vec_push(e->ctx, &e->metas, m);
    return type_meta(e->ctx, e->metas.n - 1);
}

bool mismatch(Elab *e, Type actual)
{
    e->mis = (Mismatch){.kind = MIS_TYPE, .actual = actual};
    return false;
}

static bool occurs(Elab *e, int meta, Type t)
{
    t = type_resolve(e, t);
    if (t->kind == TY_META)
        return t->meta == meta;
    if (t->kind == TY_ARRAY || t->kind == TY_VEC)
        return occurs(e, meta, t->elem);
    for (int i = 0; i < t->n_items; i++)
        if (occurs(e, meta, t->items[i]))
            return true;
    return false;
}

/* How strongly a default is meant: a float literal before a size before an integer literal. */
static int rank(Scalar s) { return s == SC_F32 ? 2 : s == SC_I64 ? 1 : 0; }

static bool solve(Elab *e, int meta, Type t)
{
    Meta *m = &e->metas.at[meta];
    if (t->kind == TY_META) {
        Meta *o = &e->metas.at[t->meta];
        unsigned mask = m->any ? o->mask : o->any ? m->mask : m->mask & o->mask;
        bool any = m->any && o->any, literal = m->literal || o->literal;
        if (!any && !mask)
            return mismatch(e, t);
        o->preferred = m->any ? o->preferred : o->any || rank(m->preferred) > rank(o->preferred) ? m->preferred : o->preferred;
        o->mask = mask;
        o->any = any;
        o->literal = literal;
        m->solution = t;
        return true;
    }
    if (!m->any) {
        if (t->kind == TY_SCALAR && !(m->mask >> t->scalar & 1))
            return mismatch(e, t);
        if (t->kind == TY_VEC) {
            Type elem = type_resolve(e, t->elem);
            if (elem->kind != TY_SCALAR || !(m->mask >> elem->scalar & 1))
                return mismatch(e, t);
        } else if (t->kind != TY_SCALAR) {
            return mismatch(e, t);
        }
    } else if (occurs(e, meta, t)) {
        return mismatch(e, t);
    }
    m->solution = t;
    return true;
}

bool same_size(Elab *e, Nat a, Nat b)
{
    if (nat_is_error(a) || nat_is_error(b) || nat_equal(e->ctx, e->facts, a, b))
        return true;
    e->mis = (Mismatch){.kind = MIS_SIZE, .want_size = a, .got_size = b};
    return false;
}

bool type_unify(Elab *e, Type a, Type b)
{
    a = type_resolve(e, a);
    b = type_resolve(e, b);
    if (a == b || a->kind == TY_ERROR || b->kind == TY_ERROR)
        return true;
    if (a->kind == TY_META)
        return solve(e, a->meta, b);
    if (b->kind == TY_META) {
        bool good = solve(e, b->meta, a);
        if (!good)
            e->mis.actual = b;
        return good;
    }
    if (a->kind != b->kind)
        return mismatch(e, b);
    switch (a->kind) {
    case TY_SCALAR:
        return a->scalar == b->scalar || mismatch(e, b);
    case TY_IDX:
        return same_size(e, a->size, b->size);
    case TY_VEC:
    case TY_ARRAY:
        if (!type_unify(e, a->elem, b->elem))
            return false;
        return same_size(e, a->size, b->size);
    case TY_TUPLE:
        if (a->n_items != b->n_items)
            return mismatch(e, b);
        for (int i = 0; i < a->n_items; i++)
            if (!type_unify(e, a->items[i], b->items[i]))
                return false;
        return true;
    case TY_ERROR:
    case TY_META:
        break;
    }
    return true;
}

static unsigned kind_mask(ParamKind kind)
{
    switch (kind) {
    case KIND_NUM:
        return MASK_NUM;
    case KIND_INT:
        return MASK_INT;
    case KIND_FLOAT:
        return MASK_FLOAT;
    case KIND_SCALAR:
        return MASK_SCALAR;
    case KIND_NAT:
    case KIND_DATA:
    case KIND_VALUE:
    case KIND_FUN:
        break;
    }
    return ~0u;
}

bool type_constrain(Elab *e, Type t, ParamKind kind)
{
    t = type_resolve(e, t);
    if (kind == KIND_DATA || t->kind == TY_ERROR)
        return true;
    unsigned mask = kind_mask(kind);
    bool good = false;
    if (t->kind == TY_SCALAR) {
        good = mask >> t->scalar & 1;
    } else if (t->kind == TY_VEC) {
        Type elem = type_resolve(e, t->elem);
        good = elem->kind == TY_SCALAR && (mask >> elem->scalar & 1);
    } else if (t->kind == TY_META) {
        Meta *m = &e->metas.at[t->meta];
        unsigned both = m->any ? mask : m->mask & mask;
        good = both != 0;
        if (good) {
            if (m->any)
                m->preferred = mask & 1 << SC_I32 ? SC_I32 : SC_F32;
            m->any = false;
            m->mask = both;
            if (!(both >> m->preferred & 1))
                m->preferred = both & 1 << SC_I32 ? SC_I32 : SC_F32;
        }
    }
    if (!good)
        e->mis = (Mismatch){.kind = MIS_KIND, .actual = t, .wanted_kind = kind, .from_idx = t->kind == TY_IDX};
    return good;
}

bool type_rank_fits(Elab *e, Type t, Span span)
{
    int depth = 0;
    for (t = type_resolve(e, t); t->kind == TY_ARRAY; t = type_resolve(e, t->elem))
        depth++;
    if (depth <= LIMIT_ARRAY_RANK)
        return true;
    elab_error(e, E0342, span, "an array of %d dimensions; at most %d are possible", depth, LIMIT_ARRAY_RANK);
    return false;
}

bool tuple_fits(Elab *e, Type t, Span span)
{
    if (t->kind != TY_TUPLE)
        return true;
    /* Each item was checked when it was made, so this takes a bounded time. */
    int n = type_component_count(t);
    if (n <= LIMIT_TYPE_COMPONENTS)
        return true;
    elab_error(e, E0342, span, "a tuple of %d scalars in all; at most %d are possible", n, LIMIT_TYPE_COMPONENTS);
    return false;
}

/* ---- types as written ---------------------------------------------------------------------------------------------- */

/* `n.m.t` is DOT(DOT(n, m), t), `n.idx[k]` is BRACKET(DOT(n, idx), k), `n.ceilDiv(m, 4).t` is DOT(CALL(DOT(n, ceilDiv), m, 4), t): the
 * chain leans left as written. Here its parts from the left, the element last. */
void flatten_array(Elab *e, const Ast *ast, int *n, const Ast ***sizes, const Ast **elem)
{
    VEC(const Ast *) parts = {0};
    bool top = true;
    while (true) {
        if (ast->kind == AST_DOT && (top || !ast->parens)) {
            vec_push(e->ctx, &parts, ast->bin.rhs);
            ast = ast->bin.lhs;
        } else if ((ast->kind == AST_CALL || ast->kind == AST_BRACKET) && (top || !ast->parens) && ast->call.fn->kind == AST_DOT &&
                   !ast->call.fn->parens) {
            Ast *part = NEW(e->ctx, Ast);
            *part = *ast;
            part->call.fn = ast->call.fn->bin.rhs;
            part->span.lo = part->call.fn->span.lo;
            vec_push(e->ctx, &parts, part);
            ast = ast->call.fn->bin.lhs;
        } else {
            break;
        }
        top = false;
    }
    vec_push(e->ctx, &parts, ast);
    *n = parts.n - 1;
    *sizes = NEWN(e->ctx, const Ast *, parts.n);
    for (int i = 0; i < *n; i++)
        (*sizes)[i] = parts.at[parts.n - 1 - i];
    *elem = parts.at[0];
}

bool nat_checked(Elab *e, Nat n, Span span)
{
    if (!nat_is_error(n))
        return true;
    Diag *d = elab_error(e, E0336, span, "this size does not fit into 64 bits");
    diag_label(e->ctx, d, "sizes are below 2^63");
    return false;
}

/* By its form, where the general proof gives up. */
bool nat_nonneg(Elab *e, Nat n)
{
    Ctx *ctx = e->ctx;
    if (nat_le(ctx, e->facts, nat_const(ctx, 0), n))
        return true;
    switch (n->kind) {
    case NAT_SUM:
        for (int i = 0; i < n->n_terms; i++) {
            if (n->terms[i].coef < 0)
                return false;
            for (int k = 0; k < n->terms[i].n_factors; k++)
                if (!nat_nonneg(e, n->terms[i].factors[k]))
                    return false;
        }
        return true;
    case NAT_DIV:
        return nat_nonneg(e, n->a) && nat_le(ctx, e->facts, nat_const(ctx, 1), n->b);
    case NAT_MOD:
        return nat_le(ctx, e->facts, nat_const(ctx, 1), n->b);
    case NAT_MIN:
        return nat_nonneg(e, n->a) && nat_nonneg(e, n->b);
    case NAT_MAX:
        return nat_nonneg(e, n->a) || nat_nonneg(e, n->b);
    case NAT_POW:
        return nat_nonneg(e, n->a);
    case NAT_ERROR:
    case NAT_CONST:
    case NAT_VAR:
    case NAT_LOG2:
        break;
    }
    return false;
}

/* A size in a written type must not be negative. */
static Nat array_size(Elab *e, const Ast *ast, const Env *env)
{
    Nat n = eval_nat(e, ast, env);
    /* The table of primitives is trusted. */
    if (nat_is_error(n) || !env_root(env)->scope || nat_nonneg(e, n))
        return n;
    if (e->learn_sizes && !nat_is_const(n)) {
        nat_fact_le(e->ctx, e->facts, nat_const(e->ctx, 0), n);
        return n;
    }
    Diag *d = elab_error(e, E0306, ast->span, nat_is_const(n) ? "the size %s is negative" : "the size %s may be negative", nat_text(e->ctx, n));
    if (!nat_is_const(n) && only_entry_sizes(e, n))
        propose_where(e, d, at_least_text(e, n, 0), NULL);
    else if (nat_is_const(n))
        diag_help(e->ctx, d, "write the number of elements, or a size that the caller chooses: `entry f {n: nat} (xs: n.f32)`");
    return nat_error(e->ctx);
}

/* The type that another language writes so; NULL where none is plain. */
static const char *type_meant(Elab *e, const Ast *ast)
{
    const char *word = ast->kind == AST_NAME ? ast->name.text : ast->kind == AST_BRACKET && ast->call.fn->kind == AST_NAME ? ast->call.fn->name.text : "";
    const Foreign *foreign = foreign_find(word, strlen(word), FOREIGN_TYPE);
    Scalar scalar;
    const char *meant = scalar_find(word, &scalar) ? word : foreign ? foreign->instead : NULL;
    if (!meant || ast->kind == AST_NAME)
        return meant;
    const char *size = ast->call.n == 1 ? span_text(e, ast->call.items[0]->span) : NULL;
    bool compound = size && strpbrk(size, " +-*/%^") && !strchr(size, '(');
    return size ? ctx_printf(e->ctx, compound ? "(%s).%s" : "%s.%s", size, meant) : NULL;
}

/* The last message, if it is about the same words in another place: the same mistake, with one more edit. */
static Diag *said_of_type(Elab *e, const Ast *ast)
{
    const Diags *diags = &e->ctx->diags;
    Diag *last = diags->list.n && !e->quiet ? diags->list.at[diags->list.n - 1] : NULL;
    const char *words = last && last->code == E0323 ? span_text(e, last->span) : NULL, *own = span_text(e, ast->span);
    return words && own && strcmp(words, own) == 0 && last->span.lo != ast->span.lo ? last : NULL;
}

/* `(n, m).f32` */
static void propose_sizes(Elab *e, Diag *d, const Ast *tuple)
{
    const char *text = "";
    for (int i = 0; i < tuple->list.n; i++) {
        const char *size = span_text(e, tuple->list.items[i]->span);
        if (!size)
            return;
        text = ctx_printf(e->ctx, strpbrk(size, " +-*/%^") && size[0] != '(' ? "%s%s(%s)" : "%s%s%s", text, i ? "." : "", size);
    }
    diag_propose(e->ctx, d, tuple->span, "sizes are joined by points: $", "%s", text);
}

static const char a_size[] = "a size", a_kind[] = "a kind";

static Type bad_type(Elab *e, const Ast *ast, const char *what)
{
    const char *plain = type_meant(e, ast), *meant = plain || what != a_kind ? plain : "f32";
    Diag *d = said_of_type(e, ast);
    if (d) {
        e->failed = true;
        diag_note(e->ctx, d, ast->span, "and here");
        if (meant)
            diag_edit(e->ctx, d, ast->span, "%s", meant);
        return type_error(e->ctx);
    }
    d = elab_error(e, E0323, ast->span, "a type is needed here, and this is %s", what);
    diag_label(e->ctx, d, "not a type");
    const Source *source = source_get(e->ctx, ast->span.file);
    if (!meant && ast->kind == AST_NAME && what == a_size && ast->span.lo > 0 && source->text[ast->span.lo - 1] == '.')
        diag_propose(e->ctx, d, ast->span, "the type of the elements is missing: $, or another one", "%s.f32", ast->name.text);
    if (meant)
        diag_propose(e->ctx, d, ast->span, !plain ? "it stands for any type of this kind: write $, or another one" : ast->kind == AST_BRACKET ? "the size stands in front: $" : "the type is called $", "%s", meant);
    else if (ast->kind == AST_BRACKET)
        diag_help(e->ctx, d, "an array of n elements of type f32 is `n.f32`");
    return type_error(e->ctx);
}

bool is_order_reversed(Elab *e, int n, const Ast *const *sizes, const Ast *elem, const Env *env)
{
    if (n < 1 || sizes[0]->kind != AST_NAME || env_find(env, sizes[0]->name.text, NULL) || !type_meant(e, sizes[0]))
        return false;
    const Env *size = elem->kind == AST_NAME ? env_find(env, elem->name.text, NULL) : NULL;
    return elem->kind == AST_INT || elem->kind == AST_BINARY || (size && size->value.kind == V_NAT) ||
           (size && size->value.kind == V_HOLE && size->value.hole->kind == KIND_NAT);
}

Type reversed_type(Elab *e, const Ast *ast, int n, const Ast *const *sizes, const Ast *elem)
{
    StrBuf type;
    sb_init(&type, e->ctx);
    for (int i = 1; i <= n; i++) {
        const Ast *size = i < n ? sizes[i] : elem;
        sb_puts(&type, size->kind == AST_BINARY ? "(" : "");
        ast_print(&type, size);
        sb_puts(&type, size->kind == AST_BINARY ? ")." : ".");
    }
    sb_puts(&type, type_meant(e, sizes[0]));
    Diag *d = said_of_type(e, ast);
    e->failed = true;
    if (d) {
        diag_note(e->ctx, d, ast->span, "and here");
        diag_edit(e->ctx, d, ast->span, "%s", type.text);
        return type_error(e->ctx);
    }
    d = elab_error(e, E0323, ast->span, "the sizes of an array stand before the type of its elements");
    diag_propose(e->ctx, d, ast->span, "in this order: $", "%s", type.text);
    return type_error(e->ctx);
}

static Type eval_bracket_type(Elab *e, const Ast *ast, const Env *env)
{
    Ctx *ctx = e->ctx;
    const Ast *fn = ast->call.fn;
    const char *name = fn->kind == AST_NAME ? fn->name.text : "";
    if (strcmp(name, "idx") == 0) {
        if (ast->call.n != 1) {
            elab_error(e, E0323, ast->span, "`idx[n]` has one size");
            return type_error(ctx);
        }
        Nat n = array_size(e, ast->call.items[0], env);
        return nat_is_error(n) ? type_error(ctx) : type_idx(ctx, n);
    }
    if (strcmp(name, "vec") == 0) {
        if (ast->call.n != 2) {
            elab_error(e, E0323, ast->span, "`vec[w, t]` has a width and a scalar type");
            return type_error(ctx);
        }
        Nat n = array_size(e, ast->call.items[0], env);
        Type elem = type_resolve(e, eval_type(e, ast->call.items[1], env));
        if (nat_is_error(n) || elem->kind == TY_ERROR)
            return type_error(ctx);
        if (elem->kind != TY_SCALAR && elem->kind != TY_META) {
            elab_error(e, E0323, ast->call.items[1]->span, "a vector's elements are scalars, and this is %s", tyt(e, elem));
            return type_error(ctx);
        }
        return type_vec(ctx, n, elem);
    }
    return bad_type(e, ast, "an expression");
}

static Type eval_name_type(Elab *e, const Ast *ast, const Env *env)
{
    Scalar scalar;
    const char *name = ast->name.text;
    const Env *found = env_find(env, name, NULL);
    if (found && found->value.kind == V_TYPE)
        return found->value.type;
    if (found && found->value.kind == V_HOLE && kind_is_type(found->value.hole->kind)) {
        Hole *hole = found->value.hole;
        if (hole->filled)
            return hole->type;
        elab_error(e, E0317, ast->span, "the type `%s` is not known here", name);
        return type_error(e->ctx);
    }
    if (found && found->value.kind == V_ERROR)
        return type_error(e->ctx);
    const FileScope *home;
    const Item *item = !found && env_root(env)->scope ? scope_find(env_root(env)->scope, name, &home) : NULL;
    if (item && item->kind == ITEM_ERROR) {
        e->failed = true;
        return type_error(e->ctx);
    }
    if (found)
        return bad_type(e, ast, found->value.kind == V_HOLE || found->value.kind == V_NAT ? a_size : "a value");
    if (scalar_find(name, &scalar))
        return type_scalar(e->ctx, scalar);
    switch (builtin_find(name)) {
    case BUILTIN_KIND:
        return bad_type(e, ast, a_kind);
    case BUILTIN_TYPE:
        elab_error(e, E0323, ast->span, strcmp(name, "idx") == 0 ? "`idx` needs its bound: `idx[n]`" : "`vec` needs a width and an element: `vec[4, f32]`");
        return type_error(e->ctx);
    case BUILTIN_NONE:
    case BUILTIN_SCALAR:
    case BUILTIN_CONST:
    case BUILTIN_BOOL:
    case BUILTIN_NATFN:
    case BUILTIN_DEVICE:
    case BUILTIN_HALVING:
    case BUILTIN_TOMEM:
        break;
    }
    return bad_type(e, ast, item ? "a definition" : "not one");
}

Type eval_type(Elab *e, const Ast *ast, const Env *env)
{
    Ctx *ctx = e->ctx;
    switch (ast->kind) {
    case AST_ERROR:
        e->failed = true;
        return type_error(ctx);
    case AST_NAME:
        return eval_name_type(e, ast, env);
    case AST_TUPLE: {
        if (ast->list.n > LIMIT_TUPLE_ITEMS) {
            elab_error(e, E0342, ast->span, "a tuple of %d; at most %d are possible", ast->list.n, LIMIT_TUPLE_ITEMS);
            return type_error(ctx);
        }
        Type *items = NEWN(ctx, Type, ast->list.n);
        for (int i = 0; i < ast->list.n; i++)
            items[i] = eval_type(e, ast->list.items[i], env);
        Type t = type_tuple(ctx, ast->list.n, items);
        return tuple_fits(e, t, ast->span) ? t : type_error(ctx);
    }
    case AST_DOT:
    case AST_BRACKET:
    case AST_CALL: {
        int n;
        const Ast **sizes, *elem;
        flatten_array(e, ast, &n, &sizes, &elem);
        if (n == 0)
            return ast->kind == AST_BRACKET ? eval_bracket_type(e, ast, env) : bad_type(e, ast, "an expression");
        if (is_order_reversed(e, n, sizes, elem, env))
            return reversed_type(e, ast, n, sizes, elem);
        Type t = eval_type(e, elem, env);
        for (int i = n - 1; i >= 0; i--) {
            Nat size = array_size(e, sizes[i], env);
            t = nat_is_error(size) ? type_error(ctx) : type_array(ctx, size, t);
        }
        return type_rank_fits(e, t, ast->span) ? t : type_error(ctx);
    }
    case AST_ARROW:
        return bad_type(e, ast, "a function type; data is meant");
    case AST_INT:
    case AST_FLOAT:
        return bad_type(e, ast, "a number");
    case AST_NAMED:
    case AST_UNARY:
    case AST_BINARY:
    case AST_PIPE:
    case AST_COMPOSE:
    case AST_BINDER:
    case AST_OPFUN:
    case AST_LAMBDA:
    case AST_LET:
    case AST_IF:
    case AST_UNROLL:
    case AST_LIST:
    case AST_SEQ:
    case AST_ORELSE:
    case AST_AT:
    case AST_LABEL:
        break;
    }
    return bad_type(e, ast, "an expression");
}

static void note_computed_size(Elab *e, Diag *d, Value v, const Ast *ast)
{
    Type t = type_resolve(e, v.core->type);
    const char *words = span_text(e, ast->span);
    diag_label(e->ctx, d, "computed when the program runs");
    if (t->kind == TY_SCALAR && scalar_is_int(t->scalar) && words)
        diag_note(e->ctx, d, NO_SPAN, STEPS_OF_DATA, words);
}

Nat eval_nat(Elab *e, const Ast *ast, const Env *env)
{
    Value v = eval(e, ast, env, NULL);
    if (v.kind == V_ERROR)
        return nat_error(e->ctx);
    LetBind *lets = NULL;
    Nat n;
    /* A size that needs a computed index cannot stand in a type: the index would leave its scope. */
    if (v.lets || !value_to_nat(e, v, &n, &lets) || lets) {
        if (v.kind == V_LIT && e->program->failed) { /* a number with too many digits, of which the lexer told */
            e->failed = true;
            return nat_error(e->ctx);
        }
        Diag *d = elab_error(e, E0322, ast->span, "a size is needed here, and this is %s", value_text(e, v));
        if (v.kind == V_CORE)
            note_computed_size(e, d, v, ast);
        else if (ast->kind == AST_TUPLE)
            propose_sizes(e, d, ast);
        return nat_error(e->ctx);
    }
    return nat_checked(e, n, ast->span) ? n : nat_error(e->ctx);
}
