/* What the elaborator says: the words for values and types, where a size comes from, which fact is missing. */
#include "frontend/elab_internal.h"

/* ---- recording --------------------------------------------------------------------------------------------------------- */

static bool inside(Span outer, Span span) { return outer.file == span.file && span.file != 0 && outer.lo <= span.lo && span.hi <= outer.hi; }

Diag *elab_error(Elab *e, DiagCode code, Span span, const char *fmt, ...)
{
    if (e->quiet) {
        if (e->why && !*e->why && e->quiet == 1) {
            StrBuf words;
            sb_init(&words, e->ctx);
            va_list list;
            va_start(list, fmt);
            sb_vprintf(&words, fmt, list);
            va_end(list);
            *e->why = words.text;
        }
        memset(&e->mute, 0, sizeof e->mute);
        return &e->mute;
    }
    e->failed = true;
    if (e->unused && is_about_use(e, code)) {
        memset(&e->mute, 0, sizeof e->mute);
        return &e->mute;
    }
    StrBuf sb;
    sb_init(&sb, e->ctx);
    va_list args;
    va_start(args, fmt);
    sb_vprintf(&sb, fmt, args);
    va_end(args);
    /* Nobody has written a primitive's header. */
    const Source *source = source_get(e->ctx, span.file);
    if (source && strncmp(source->name, "<primitive", 10) == 0)
        span = e->prim_span;
    Diag *d = diag_error(e->ctx, code, span, "%s", sb.text);
    propose_parameters_turned(e, d);
    /* From the definition that the place belongs to, outwards. */
    const Frame *frame = e->frame;
    while (frame && !inside(frame->item->span, span))
        frame = frame->up;
    for (int n = 0; frame && n < 4; frame = frame->up, n++)
        if (span_is_users(e->ctx, frame->use) && !inside(frame->item->span, frame->use))
            diag_note(e->ctx, d, frame->use, "`%s` is used here", frame->item->name);
    return d;
}

/* ---- words -------------------------------------------------------------------------------------------------------------- */

const char *span_text(Elab *e, Span span)
{
    enum { MOST = 40 };
    const Source *s = source_get(e->ctx, span.file);
    if (!s || span.hi > s->size || span.lo >= span.hi || span.hi - span.lo > MOST || memchr(s->text + span.lo, '\n', span.hi - span.lo))
        return NULL;
    return ctx_printf(e->ctx, "%.*s", (int)(span.hi - span.lo), s->text + span.lo);
}

/* Metas are shown as what they may be. */
static void put_type(Elab *e, StrBuf *sb, Type t)
{
    t = type_resolve(e, t);
    if (!t->has_meta) {
        type_print(sb, t);
        return;
    }
    switch (t->kind) {
    case TY_META: {
        const Meta *m = &e->metas.at[t->meta];
        sb_puts(sb, m->any ? "_" : m->literal ? scalar_name(m->preferred) : m->mask == MASK_FLOAT ? "float" : m->mask == MASK_INT ? "int" : "number");
        return;
    }
    case TY_ARRAY: {
        const char *size = nat_text(e->ctx, t->size);
        sb_printf(sb, strpbrk(size, " +-*/%") ? "(%s)." : "%s.", size);
        put_type(e, sb, t->elem);
        return;
    }
    case TY_VEC:
        sb_printf(sb, "vec[%s, ", nat_text(e->ctx, t->size));
        put_type(e, sb, t->elem);
        sb_putc(sb, ']');
        return;
    case TY_TUPLE:
        sb_putc(sb, '(');
        for (int i = 0; i < t->n_items; i++) {
            sb_puts(sb, i ? ", " : "");
            put_type(e, sb, t->items[i]);
        }
        sb_putc(sb, ')');
        return;
    case TY_ERROR:
    case TY_SCALAR:
    case TY_IDX:
        break;
    }
    type_print(sb, t);
}

/* As the reader computes: under what is known there, `2*w/w` is 2. */
static Type with_short_sizes(Elab *e, Type t)
{
    t = type_resolve(e, t);
    if (t->kind != TY_ARRAY)
        return t;
    Nat size = nat_simplify(e->ctx, e->facts, t->size);
    return type_array(e->ctx, strlen(nat_text(e->ctx, size)) < strlen(nat_text(e->ctx, t->size)) ? size : t->size, with_short_sizes(e, t->elem));
}

const char *tyt(Elab *e, Type t)
{
    StrBuf sb;
    sb_init(&sb, e->ctx);
    put_type(e, &sb, with_short_sizes(e, t));
    return sb.text;
}

const char *value_text(Elab *e, Value v)
{
    switch (v.kind) {
    case V_ERROR:
    case V_HOLE:
        return "a mistake";
    case V_CORE:
        return tyt(e, v.core->type);
    case V_NAT:
        if (v.literal)
            return ctx_printf(e->ctx, "the integer %s", nat_text(e->ctx, v.nat));
        return ctx_printf(e->ctx, v.from_idx ? "the index %s" : "the size %s", nat_text(e->ctx, v.nat));
    case V_LIT:
        return v.lit->name ? ctx_printf(e->ctx, "`%s%s`", v.lit->negative ? "-" : "", v.lit->name) : v.lit->is_float ? "a float literal" : "an integer literal";
    case V_FUN: {
        const char *name = fun_name(v.fun);
        return name ? ctx_printf(e->ctx, "the function `%s`", name) : "a function";
    }
    case V_TUPLE: {
        StrBuf sb;
        sb_init(&sb, e->ctx);
        sb_putc(&sb, '(');
        for (int i = 0; i < v.tuple.n; i++) {
            sb_puts(&sb, i ? ", " : "");
            sb_puts(&sb, v.tuple.items[i].kind == V_TUPLE ? "(...)" : value_text(e, v.tuple.items[i]));
        }
        sb_putc(&sb, ')');
        return sb.text;
    }
    case V_GEN:
        return "an array whose length is not known";
    case V_TYPE:
        return ctx_printf(e->ctx, "the type %s", tyt(e, v.type));
    }
    return "something else";
}

static void put_pattern(Elab *e, StrBuf *sb, const Ast *ast, const Env *env, bool size)
{
    int n;
    const Ast **sizes, *elem;
    if (ast->kind == AST_ARROW) {
        bool parens = ast->bin.lhs->kind == AST_ARROW;
        sb_puts(sb, parens ? "(" : "");
        if (ast->bin.lhs->kind == AST_BINDER)
            ast_print(sb, ast->bin.lhs);
        else
            put_pattern(e, sb, ast->bin.lhs, env, false);
        sb_puts(sb, parens ? ") -> " : " -> ");
        put_pattern(e, sb, ast->bin.rhs, env, false);
        return;
    }
    if (ast->kind == AST_NAME && pattern_open(ast, env)) {
        sb_puts(sb, ast->name.text);
        return;
    }
    if (size) {
        StrBuf part;
        sb_init(&part, e->ctx);
        if (pattern_open(ast, env))
            ast_print(&part, ast);
        else
            sb_puts(&part, nat_text(e->ctx, eval_nat(e, ast, env)));
        sb_printf(sb, part.text[0] != '(' && strpbrk(part.text, " +-*/%^") && !strchr(part.text, '(') ? "(%s)" : "%s", part.text);
        return;
    }
    if (ast->kind == AST_TUPLE) {
        sb_putc(sb, '(');
        for (int i = 0; i < ast->list.n; i++) {
            sb_puts(sb, i ? ", " : "");
            put_pattern(e, sb, ast->list.items[i], env, false);
        }
        sb_putc(sb, ')');
        return;
    }
    if (!pattern_open(ast, env)) {
        sb_puts(sb, tyt(e, eval_type(e, ast, env)));
        return;
    }
    flatten_array(e, ast, &n, &sizes, &elem);
    if (n == 0) {
        ast_print(sb, ast);
        return;
    }
    for (int i = 0; i < n; i++) {
        put_pattern(e, sb, sizes[i], env, true);
        sb_putc(sb, '.');
    }
    put_pattern(e, sb, elem, env, false);
}

const char *pattern_text(Elab *e, const Ast *ast, const Env *env)
{
    StrBuf sb;
    sb_init(&sb, e->ctx);
    Mismatch mis = e->mis;
    bool failed = e->failed;
    e->quiet++;
    put_pattern(e, &sb, ast, env, false);
    e->quiet--;
    e->failed = failed;
    e->mis = mis;
    return sb.text;
}

const char *core_called(const Core *core, const char *otherwise)
{
    return core && core->kind == CORE_VAR ? core->var->name : otherwise;
}

/* ---- where things come from ----------------------------------------------------------------------------------------------- */

/* The variable that a chain of primitives starts from. */
static const CoreVar *root_of(const Core *core)
{
    while (core)
        switch (core->kind) {
        case CORE_VAR:
            return core->var;
        case CORE_PROJ:
            core = core->proj.value;
            break;
        case CORE_LET:
            core = core->let.body;
            break;
        case CORE_PRIM: {
            const Core *last = NULL;
            for (int i = 0; i < core->prim.n_args; i++)
                if (core->prim.args[i]->kind != CORE_LAMBDA)
                    last = core->prim.args[i];
            core = last;
            break;
        }
        case CORE_LIT:
        case CORE_SIZE:
        case CORE_LAMBDA:
        case CORE_TUPLE:
        case CORE_IF:
        case CORE_UNIT_ERROR:
            return NULL;
        }
    return NULL;
}

void note_origin(Elab *e, Diag *d, const Core *core)
{
    const CoreVar *var = root_of(core);
    if (var && type_span(e, var).file)
        diag_note(e->ctx, d, type_span(e, var), "the size comes from here");
}

void note_hole(Elab *e, Diag *d, const Hole *hole, const char *callee)
{
    if (!hole || !hole->filled || !hole->from.file)
        return;
    const char *size = hole->kind == KIND_NAT ? nat_text(e->ctx, hole->nat) : NULL;
    const char *whose = callee ? ctx_printf(e->ctx, " of `%s`", callee) : "";
    if (size && strcmp(size, hole->name) == 0)
        diag_note(e->ctx, d, hole->from, "the size %s comes from this", size);
    else if (size)
        diag_note(e->ctx, d, hole->from, "`%s`%s is %s because of this", hole->name, whose, size);
    else
        diag_note(e->ctx, d, hole->from, "`%s`%s is %s because of this", hole->name, whose, tyt(e, hole->type));
}

/* Does a fold over such elements keep an index in its state, whose start is then an index, too? */
static bool keeps_index(Elab *e, const Hole *hole)
{
    Type t = hole && hole->filled && hole->kind != KIND_NAT ? type_resolve(e, hole->type) : NULL;
    for (int i = 0; t && t->kind == TY_TUPLE && i < t->n_items; i++)
        if (type_resolve(e, t->items[i])->kind == TY_IDX)
            return true;
    return false;
}

const char *at_least_text(Elab *e, Nat a, int64_t least)
{
    /* c*b >= k is b >= ceil(k / c), and floor(n / d) >= k is n >= d*k. */
    if (a->kind == NAT_SUM && a->n_terms == 1 && a->terms[0].n_factors == 1 && a->terms[0].coef > 1 && least > INT64_MIN / 2) {
        int64_t c = a->terms[0].coef;
        return at_least_text(e, a->terms[0].factors[0], -floor_div(-least, c));
    }
    int64_t product;
    if (a->kind == NAT_DIV && nat_is_const(a->b) && a->b->value > 0 && mul_fits(a->b->value, least, &product))
        return at_least_text(e, a->a, product);
    if (a->kind == NAT_SUM && a->n_terms > 1 && a->terms[a->n_terms - 1].n_factors == 0) {
        int64_t c = a->terms[a->n_terms - 1].coef, k;
        Nat rest = nat_add_k(e->ctx, a, c == INT64_MIN ? 0 : -c);
        if (sub_fits(least, c, &k) && !nat_is_error(rest))
            return at_least_text(e, rest, k);
    }
    return ctx_printf(e->ctx, "%s >= %lld", nat_text(e->ctx, a), (long long)least);
}

typedef struct SizeCheck {
    Elab *e;
    bool only;
} SizeCheck;

static void check_size(void *user, Nat var)
{
    SizeCheck *c = user;
    for (int i = 0; i < c->e->entry_sizes.n; i++)
        if (c->e->entry_sizes.at[i] == var)
            return;
    c->only = false;
}

/* A number, and a formula that has it for few sizes. */
static bool only_special(Nat number, Nat formula)
{
    return nat_is_const(number) && !nat_is_const(formula) && formula->kind != NAT_VAR;
}

bool only_entry_sizes(Elab *e, Nat a)
{
    SizeCheck c = {e, a->has_vars};
    nat_each_var(e->ctx, a, check_size, &c);
    return c.only;
}

/* ---- mismatches --------------------------------------------------------------------------------------------------------------- */

static const char *kinds(ParamKind kind)
{
    return kind == KIND_NUM ? "numbers" : kind == KIND_INT ? "integers" : kind == KIND_FLOAT ? "floats" : "scalars";
}

static const char *differ(Elab *e, Nat a, Nat b)
{
    bool sure = nat_lt(e->ctx, e->facts, a, b) || nat_lt(e->ctx, e->facts, b, a);
    return ctx_printf(e->ctx, sure ? "%s and %s differ" : "%s == %s is not known", nat_text(e->ctx, b), nat_text(e->ctx, a));
}

static bool is_tuple_of_arrays(Elab *e, Value v)
{
    if (v.kind == V_TUPLE) {
        for (int i = 0; i < v.tuple.n; i++)
            if (v.tuple.items[i].kind != V_CORE || type_resolve(e, v.tuple.items[i].core->type)->kind != TY_ARRAY)
                return false;
        return true;
    }
    Type t = v.kind == V_CORE ? type_resolve(e, v.core->type) : NULL;
    for (int i = 0; t && t->kind == TY_TUPLE && i < t->n_items; i++)
        if (type_resolve(e, t->items[i])->kind != TY_ARRAY)
            return false;
    return t && t->kind == TY_TUPLE;
}

static bool wants_indices(Elab *e, const Ast *pattern)
{
    int n;
    const Ast **sizes, *elem;
    flatten_array(e, pattern, &n, &sizes, &elem);
    return n == 1 && elem->kind == AST_BRACKET && elem->call.fn->kind == AST_NAME && strcmp(elem->call.fn->name.text, "idx") == 0;
}

static const Ast *index_bound(Elab *e, const Ast *pattern)
{
    int n;
    const Ast **sizes, *elem;
    flatten_array(e, pattern, &n, &sizes, &elem);
    return elem->call.items[0];
}

/* Literals, too, of whose type nothing is known yet. */
static bool is_integer(const Elab *e, Type t)
{
    if (t && t->kind == TY_META)
        return e->metas.at[t->meta].literal && e->metas.at[t->meta].preferred == SC_I32;
    return t && t->kind == TY_SCALAR && scalar_is_int(t->scalar);
}

static bool is_array_of_integers(Elab *e, Value v)
{
    Type t = v.kind == V_CORE ? type_resolve(e, v.core->type) : NULL;
    t = t && t->kind == TY_ARRAY ? type_resolve(e, t->elem) : NULL;
    return is_integer(e, t);
}

/* reduceByIndex of pairs whose first components are numbers. */
static bool is_binned_by_numbers(Elab *e, const char *callee, Value v)
{
    Type t = v.kind == V_CORE ? type_resolve(e, v.core->type) : NULL;
    t = t && t->kind == TY_ARRAY ? type_resolve(e, t->elem) : NULL;
    t = t && t->kind == TY_TUPLE ? type_resolve(e, t->items[0]) : NULL;
    return is_integer(e, t) && callee && strcmp(callee, prim_name(P_reduceByIndex)) == 0;
}

/* The size in `n.(idx[size], t)`, if it is known. */
static Nat bound_of_bins(Elab *e, const Ast *pattern, const Env *env)
{
    int n;
    const Ast **sizes, *elem;
    flatten_array(e, pattern, &n, &sizes, &elem);
    const Ast *bin = elem->kind == AST_TUPLE ? elem->list.items[0] : NULL;
    return bin && bin->kind == AST_BRACKET && !pattern_open(bin->call.items[0], env) ? eval_nat(e, bin->call.items[0], env) : NULL;
}

static bool is_shuffle(const char *callee)
{
    const PrimId shuffles[] = {P_shflDown, P_shflUp, P_shflXor, P_shfl};
    for (size_t i = 0; callee && i < sizeof shuffles / sizeof *shuffles; i++)
        if (strcmp(callee, prim_name(shuffles[i])) == 0)
            return true;
    return false;
}

const char *scalar_wanted(Elab *e, const Ast *pattern, const Env *env)
{
    const Env *found = pattern->kind == AST_NAME ? env_find(env, pattern->name.text, NULL) : NULL;
    const Hole *hole = found && found->value.kind == V_HOLE ? found->value.hole : NULL;
    Type t = hole && hole->filled && kind_is_type(hole->kind) ? hole->type : pattern_open(pattern, env) ? NULL : eval_type(e, pattern, env);
    t = t ? type_resolve(e, t) : NULL;
    return t && t->kind == TY_SCALAR && t->scalar != SC_BOOL ? scalar_name(t->scalar) : "i32";
}

static bool has_rows(const Elab *e, Value v)
{
    Type t = v.kind == V_CORE ? type_resolve(e, v.core->type) : NULL;
    return t && t->kind == TY_ARRAY && type_resolve(e, t->elem)->kind == TY_ARRAY;
}

Diag *report_argument(Elab *e, const char *callee, const char *param, const Ast *pattern, const Env *env, Value arg)
{
    Ctx *ctx = e->ctx;
    Mismatch mis = e->mis;
    if (mis.kind == MIS_REPORTED || e->quiet)
        return NULL;
    const char *who = callee ? ctx_printf(ctx, "`%s`", callee) : "this function";
    const char *what = param ? ctx_printf(ctx, " for `%s`", param) : "";
    if (arg.kind == V_FUN || arg.kind == V_TYPE || arg.kind == V_GEN) {
        value_core(e, arg);
        return NULL;
    }
    const char *got = value_text(e, arg);
    Diag *d;
    if (mis.kind == MIS_UNKNOWN) {
        bool iterates = callee && strcmp(callee, prim_name(P_iterate)) == 0;
        if (iterates)
            d = elab_error(e, E0317, arg.span, "nothing says how many times shorter each step of `%s` makes this array, %s", callee, got);
        else
            d = elab_error(e, E0317, arg.span, "the sizes in %s cannot be worked out from %s", pattern_text(e, pattern, env), got);
        if (iterates) {
            diag_help(ctx, d, "that is the parameter `n` of `%s`; where the length stays, it is 1: `%s{n = 1}(...)`", callee, callee);
            diag_edit(ctx, d, behind_name(e, callee), "{n = 1}");
        } else if (callee)
            diag_help(ctx, d, "say them: `%s{%s = ...}`", callee, mis.hole ? mis.hole->name : "n");
        return d;
    }
    if (mis.kind == MIS_SIZE) {
        d = elab_error(e, E0302, arg.span, "%s wants %s%s, and this is %s", who, pattern_text(e, pattern, env), what, got);
        if (mis.want_size)
            diag_label(ctx, d, "%s", differ(e, mis.want_size, mis.got_size));
        else
            diag_label(ctx, d, "%s does not fit", nat_text(ctx, mis.got_size));
        if (arg.kind == V_CORE)
            note_origin(e, d, arg.core);
        propose_shorter(e, d, pattern, env, arg);
        propose_meant(e, d, arg.span);
        int n;
        const Ast **sizes, *elem;
        flatten_array(e, pattern, &n, &sizes, &elem);
        for (int i = 0; i < n; i++) {
            const Env *found = sizes[i]->kind == AST_NAME ? env_find(env, sizes[i]->name.text, NULL) : NULL;
            if (found && found->value.kind == V_HOLE && found->value.hole->filled && found->value.hole->nat == mis.want_size) {
                note_hole(e, d, found->value.hole, callee);
                break;
            }
        }
        propose_argument(e, d, pattern, env, arg);
        propose_columns(e, d, arg);
        propose_beside(e, d, callee);
        /* Explains only: two sizes with names of their own are two sizes, until somebody knows better. */
        if (mis.want_size && callee && strcmp(callee, prim_name(P_gather)) == 0 && nat_le(ctx, e->facts, mis.want_size, mis.got_size))
            propose_around(e, d, arg.span, "such indices read only the first of these elements: $", ctx_printf(ctx, "take(%s, ", nat_text(ctx, mis.want_size)), ")");
        else if (mis.want_size && (only_special(mis.want_size, mis.got_size) || only_special(mis.got_size, mis.want_size)))
            diag_help(ctx, d, "%s and %s are equal for special sizes only: most likely an array is taken along another axis than is meant, and a `transpose` or a `map(...)` is missing",
                      nat_text(ctx, mis.got_size), nat_text(ctx, mis.want_size));
        else if (mis.want_size && only_entry_sizes(e, nat_sub(ctx, mis.want_size, mis.got_size)) && !strstr(d->label ? d->label : "", "differ") && !has_rows(e, arg))
            diag_help(ctx, d, "where the two are always as long as each other, declare both with one size, %s, or say so: `where %s == %s`", nat_text(ctx, mis.want_size),
                      nat_text(ctx, mis.got_size), nat_text(ctx, mis.want_size));
        else if (mis.want_size && only_entry_sizes(e, nat_sub(ctx, mis.want_size, mis.got_size)) && !strstr(d->label ? d->label : "", "differ"))
            diag_help(ctx, d, "a matrix that lies the other way is turned by `transpose`; where the two sizes are always equal, say so: `where %s == %s`",
                      nat_text(ctx, mis.got_size), nat_text(ctx, mis.want_size));
        else if (mis.want_size && nat_is(mis.want_size, 32) && nat_is_const(mis.got_size) && mis.got_size->value < 32)
            diag_help(ctx, d, "a warp has 32 lanes, and here are %s: put `padTo(32, e)` before its first `mapLane`, with an e that changes no result, and `take(%s)` behind its last; a part of a warp, `mapWarp[lanes = k]`, has only `reduceWarp`", nat_text(ctx, mis.got_size), nat_text(ctx, mis.got_size));
        else if (mis.want_size && nat_is(mis.want_size, 32) && nat_is_const(mis.got_size) && mis.got_size->value % 32 == 0)
            diag_help(ctx, d, "a warp has 32 lanes: let each fold its %lld elements first, `split(32) |> transpose |> mapLane(reduceSeq(op, e)) |> toPrivate`, or give each warp 32 elements, `split(32) |> mapWarp(...)`",
                      (long long)mis.got_size->value / 32);
        return d;
    }
    if (mis.kind == MIS_KIND && mis.wanted_kind >= KIND_NUM && mis.wanted_kind <= KIND_SCALAR) {
        d = elab_error(e, E0318, arg.span, "%s wants %s, and this is %s", who, kinds(mis.wanted_kind), got);
        Type t = arg.kind == V_CORE ? type_resolve(e, arg.core->type) : NULL;
        bool whole = t && (t->kind == TY_IDX || (t->kind == TY_SCALAR && scalar_is_int(t->scalar)));
        Scalar to = !whole ? SC_COUNT : mis.wanted_kind == KIND_FLOAT ? float_for(e, t->kind == TY_IDX ? SC_COUNT : t->scalar) : SC_I32;
        if (t && t->kind == TY_IDX && to != SC_COUNT)
            propose_around(e, d, arg.span, "an index is no number: write $", ctx_printf(ctx, "cast(%s)(", scalar_name(to)), ")");
        else if (t && t->kind == TY_ARRAY && type_resolve(e, t->elem)->kind == TY_IDX && callee && strcmp(callee, prim_name(P_scatterDrop)) == 0)
            diag_note(ctx, d, NO_SPAN, "of indices that is `scatterUnchecked`, or `scatter` where they are seen to differ");
        else if (t && t->kind == TY_ARRAY && type_resolve(e, t->elem)->kind == TY_TUPLE && callee)
            diag_help(ctx, d, "give it the components apart: `map(fun p => p.1)` is the array of the first ones");
        else if (t && t->kind == TY_ARRAY && callee) {
            hint_elements(e, d, callee, arg);
            propose_sum(e, d, &arg);
            diag_or_else(ctx, d);
            diag_help(ctx, d, "apply it to the elements: `map(%s)`", callee);
        }
        else if (t && t->kind == TY_SCALAR && mis.wanted_kind == KIND_FLOAT && to != SC_COUNT)
            propose_around(e, d, arg.span, "convert it: $", ctx_printf(ctx, "cast(%s)(", scalar_name(to)), ")");
        return d;
    }
    d = elab_error(e, E0301, arg.span, "%s wants %s%s, and this is %s", who, pattern_text(e, pattern, env), what, got);
    if (is_shuffle(callee))
        propose_shuffled(e, d, arg.span);
    propose_once(e, d, arg.span);
    if (!pattern_open(pattern, env) && !mis.from_idx)
        propose_argument(e, d, pattern, env, arg);
    if (wants_indices(e, pattern) && is_array_of_integers(e, arg)) {
        bool scatter = callee && strncmp(callee, prim_name(P_scatter), strlen(prim_name(P_scatter))) == 0;
        Span name = {e->prim_span.file, e->prim_span.lo, behind_name(e, callee).lo};
        if (scatter)
            diag_propose(ctx, d, name.hi > name.lo ? name : NO_SPAN, "where the places are numbers that the program computes, it is $, which leaves out elements whose number is no index", "%s", prim_name(P_scatterDrop));
        else
            propose_indices(e, d, index_bound(e, pattern), env, arg);
    } else if (pattern->kind == AST_DOT && arg.kind == V_CORE && callee && prim_find(callee) != P_COUNT && !is_shuffle(callee) && type_resolve(e, arg.core->type)->kind == TY_SCALAR) {
        propose_parts(e, d, arg);
    } else if (propose_turned(e, d, callee, arg)) {
        return d;
    } else if (is_binned_by_numbers(e, callee, arg)) {
        propose_bins(e, d, bound_of_bins(e, pattern, env), arg);
    } else if (mis.from_idx) {
        propose_around(e, d, arg.span, "an index is no number: write $", ctx_printf(ctx, "cast(%s)(", scalar_wanted(e, pattern, env)), ")");
    } else if (pattern->kind == AST_NAME) {
        const Env *found = env_find(env, pattern->name.text, NULL);
        const Hole *hole = found && found->value.kind == V_HOLE ? found->value.hole : NULL;
        note_hole(e, d, hole, callee);
        if (keeps_index(e, hole))
            diag_help(ctx, d, "an index is no number: make the elements with `cast(i32)(i)` or `cast(i64)(i)`, as the operator has them, instead of the index `i`");
        const char *words = arg.kind == V_LIT && arg.lit->is_float ? span_text(e, arg.span) : NULL;
        if (words && strstr(words, ".0"))
            propose_whole(e, d, arg.span);
        hint_argument(e, d, callee, hole, arg);
    } else if (hint_argument(e, d, callee, NULL, arg)) {
        return d;
    } else if (is_shuffle(callee) && arg.kind == V_CORE && type_resolve(e, arg.core->type)->kind == TY_SCALAR) {
        diag_help(ctx, d, "a shuffle takes the values of all 32 lanes at once, outside of `mapLane`: `mapLane(f) |> toPrivate |> %s(...)`", callee);
    } else if (is_tuple_of_arrays(e, arg)) {
        const char *words = span_text(e, arg.span);
        if (words && words[0] == '(')
            diag_propose(ctx, d, arg.span, "an array of tuples is made of a tuple of arrays by $", "zip%s", words);
        else
            diag_help(ctx, d, "an array of tuples is made of arrays by `zip(xs, ys)`");
    }
    return d;
}

/* Whether this is a size rounded up to a multiple of something: what is beyond it is padding. */
static bool is_rounded_up(Elab *e, Nat size, Nat rounded)
{
    if (rounded->kind != NAT_SUM || rounded->n_terms != 1)
        return false;
    const NatTerm *term = &rounded->terms[0];
    Nat step = nat_const(e->ctx, term->coef);
    for (int i = 0; i < term->n_factors; i++)
        if (term->factors[i]->kind != NAT_DIV)
            step = nat_mul(e->ctx, step, term->factors[i]);
    return nat_mul(e->ctx, step, nat_ceil_div(e->ctx, size, step)) == rounded;
}

/* The part of a type's text that says its first size: `(n/32)` of `(n/32).f32`. */
static const Ast *first_size(const Ast *type)
{
    if (!type || type->kind != AST_DOT)
        return NULL;
    while (type->bin.lhs->kind == AST_DOT)
        type = type->bin.lhs;
    return type->bin.lhs;
}

/* The body has more elements than its header says. Only padding may be cut off unseen. */
static void report_longer(Elab *e, Diag *d, Span body, Nat want, Nat got)
{
    const Ast *size = e->entry && !e->frame ? first_size(e->entry->result) : NULL;
    bool ceiling = want->kind == NAT_DIV && nat_ceil_div(e->ctx, want->a, want->b) == got;
    if (ceiling && size)
        diag_propose(e->ctx, d, size->span, ctx_printf(e->ctx, "a last part that is not full counts: write $ in the header; %s leaves it out", nat_text(e->ctx, want)), "%s", nat_text(e->ctx, got));
    else if (is_rounded_up(e, want, got))
        propose_around(e, d, body, "cut the padding off: $", "", ctx_printf(e->ctx, " |> take(%s)", nat_text(e->ctx, want)));
    else
        diag_help(e->ctx, d, "one of the two is meant: the header may say %s, and `take(%s)` leaves elements out", nat_text(e->ctx, got), nat_text(e->ctx, want));
}

static void propose_result(Elab *e, Diag *d, const char *help, const char *type)
{
    diag_propose(e->ctx, d, e->entry && !e->frame && e->entry->result ? e->entry->result->span : NO_SPAN, help, "%s", type);
}

/* Which of two sizes is meant, only the user knows: that is no edit. */
void propose_header(Elab *e, Diag *d, Value v)
{
    Core *core;
    const Mismatch mis = e->mis;
    if (!d || d->help)
        return;
    e->quiet++;
    if (v.kind == V_TUPLE && value_to_core(e, v, NULL, &core))
        v = v_core(e, core);
    e->quiet--;
    e->mis = mis;
    if (v.kind != V_CORE || v.core->kind == CORE_UNIT_ERROR)
        return;
    const char *type = tyt(e, v.core->type);
    Type got = type_resolve(e, v.core->type), want = e->result ? type_resolve(e, e->result) : NULL;
    bool vectors = got->kind == TY_ARRAY && type_resolve(e, got->elem)->kind == TY_VEC;
    if (vectors && want && want->kind == TY_ARRAY && type_resolve(e, want->elem)->kind == TY_SCALAR)
        propose_around(e, d, v.span, "vectors become elements again by $", "", " |> asScalar");
    else if (e->mis.kind == MIS_SIZE)
        diag_help(e->ctx, d, "if the body is what you mean, the header says `%s`%s", type, windows_text(e, v.span, got, want));
    else
        propose_result(e, d, "if the body is what you mean, the header says $", type);
}

Diag *report_mismatch(Elab *e, DiagCode code, Span span, Type want, const char *what, ...)
{
    Mismatch mis = e->mis;
    if (mis.kind == MIS_REPORTED || e->quiet)
        return NULL;
    StrBuf sb;
    sb_init(&sb, e->ctx);
    va_list args;
    va_start(args, what);
    sb_vprintf(&sb, what, args);
    va_end(args);
    Diag *d = elab_error(e, code, span, "%s", sb.text);
    if (mis.kind == MIS_SIZE && mis.want_size)
        diag_label(e->ctx, d, "%s", differ(e, mis.want_size, mis.got_size));
    Type outer = want ? type_resolve(e, want) : NULL;
    if (mis.kind == MIS_SIZE && mis.want_size && outer && outer->kind == TY_ARRAY && outer->size == mis.want_size &&
        nat_le(e->ctx, e->facts, mis.want_size, mis.got_size))
        report_longer(e, d, span, mis.want_size, mis.got_size);
    if (mis.kind != MIS_SIZE && outer && outer->kind == TY_ARRAY && nat_is(outer->size, 1) && mis.actual && mis.actual == type_resolve(e, outer->elem))
        propose_result(e, d, "it is no array: declare it as $", tyt(e, mis.actual));
    if (mis.from_idx) {
        Type t = want ? type_resolve(e, want) : NULL;
        const char *cast = ctx_printf(e->ctx, "cast(%s)(", t && t->kind == TY_SCALAR ? scalar_name(t->scalar) : "i32");
        propose_around(e, d, span, "an index is no number: write $", cast, ")");
    }
    return d;
}
