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
    /* From the definition that the place belongs to, outwards. */
    const Frame *frame = e->frame;
    while (frame && !inside(frame->item->span, span))
        frame = frame->up;
    for (int n = 0; frame && n < 4; frame = frame->up, n++)
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
        sb_puts(sb, m->any ? "_" : m->mask == MASK_FLOAT ? "float" : m->mask == MASK_INT ? "int" : "number");
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

const char *tyt(Elab *e, Type t)
{
    StrBuf sb;
    sb_init(&sb, e->ctx);
    put_type(e, &sb, t);
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
        return v.lit->name ? ctx_printf(e->ctx, "`%s`", v.lit->name) : v.lit->is_float ? "a float literal" : "an integer literal";
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
    if (var && e->type_spans.at[var->id].file)
        diag_note(e->ctx, d, e->type_spans.at[var->id], "the size comes from here");
}

void note_hole(Elab *e, Diag *d, const Hole *hole)
{
    if (!hole || !hole->filled || !hole->from.file)
        return;
    const char *size = hole->kind == KIND_NAT ? nat_text(e->ctx, hole->nat) : NULL;
    if (size && strcmp(size, hole->name) == 0)
        diag_note(e->ctx, d, hole->from, "the size %s comes from this", size);
    else if (size)
        diag_note(e->ctx, d, hole->from, "`%s` is %s because of this", hole->name, size);
    else
        diag_note(e->ctx, d, hole->from, "`%s` is %s because of this", hole->name, tyt(e, hole->type));
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

bool only_entry_sizes(Elab *e, Nat a)
{
    SizeCheck c = {e, a->has_vars};
    nat_each_var(e->ctx, a, check_size, &c);
    return c.only;
}

/* ---- did you mean ----------------------------------------------------------------------------------------------------------- */

static int edit_distance(const char *a, const char *b, int limit)
{
    enum { LONGEST = 40 };
    int n = (int)strlen(a), m = (int)strlen(b);
    int row[LONGEST + 1];
    if (n > LONGEST || m > LONGEST || (n > m ? n - m : m - n) > limit)
        return limit + 1;
    for (int j = 0; j <= m; j++)
        row[j] = j;
    for (int i = 1; i <= n; i++) {
        int diagonal = row[0];
        row[0] = i;
        for (int j = 1; j <= m; j++) {
            int same = a[i - 1] == b[j - 1] || (a[i - 1] ^ b[j - 1]) == 32 ? 0 : 1;
            int best = diagonal + same;
            diagonal = row[j];
            best = row[j] + 1 < best ? row[j] + 1 : best;
            best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
            row[j] = best;
        }
    }
    return row[m];
}

const char *did_you_mean(Ctx *ctx, const char *name, int n, const char *const *candidates)
{
    (void)ctx;
    int length = (int)strlen(name), limit = length <= 3 ? 1 : length <= 5 ? 2 : 3;
    const char *best = NULL;
    for (int i = 0; i < n; i++) {
        const char *c = candidates[i];
        if (!c || strcmp(c, name) == 0)
            continue;
        int d = edit_distance(name, c, limit);
        /* A short name that shares no letter is no misspelling. */
        if (d <= limit && d < length && d < (int)strlen(c)) {
            best = c;
            limit = d - 1;
        }
    }
    return best;
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

static bool is_array_of_integers(Elab *e, Value v)
{
    Type t = v.kind == V_CORE ? type_resolve(e, v.core->type) : NULL;
    t = t && t->kind == TY_ARRAY ? type_resolve(e, t->elem) : NULL;
    return t && t->kind == TY_SCALAR && scalar_is_int(t->scalar);
}

/* reduceByIndex of pairs whose first components are numbers. */
static bool is_binned_by_numbers(Elab *e, const char *callee, Value v)
{
    Type t = v.kind == V_CORE ? type_resolve(e, v.core->type) : NULL;
    t = t && t->kind == TY_ARRAY ? type_resolve(e, t->elem) : NULL;
    t = t && t->kind == TY_TUPLE ? type_resolve(e, t->items[0]) : NULL;
    return t && t->kind == TY_SCALAR && scalar_is_int(t->scalar) && callee && strcmp(callee, prim_name(P_reduceByIndex)) == 0;
}

void report_argument(Elab *e, const char *callee, const char *param, const Ast *pattern, const Env *env, Value arg)
{
    Ctx *ctx = e->ctx;
    Mismatch mis = e->mis;
    if (mis.kind == MIS_REPORTED || e->quiet)
        return;
    const char *who = callee ? ctx_printf(ctx, "`%s`", callee) : "this function";
    const char *what = param ? ctx_printf(ctx, " for `%s`", param) : "";
    if (arg.kind == V_FUN || arg.kind == V_TYPE || arg.kind == V_GEN) {
        value_core(e, arg);
        return;
    }
    const char *got = value_text(e, arg);
    Diag *d;
    if (mis.kind == MIS_UNKNOWN) {
        d = elab_error(e, E0317, arg.span, "the sizes in %s cannot be worked out from %s", pattern_text(e, pattern, env), got);
        if (callee)
            diag_help(ctx, d, "say them: `%s{%s = ...}`", callee, mis.hole ? mis.hole->name : "n");
        return;
    }
    if (mis.kind == MIS_SIZE) {
        d = elab_error(e, E0302, arg.span, "%s wants %s%s, and this is %s", who, pattern_text(e, pattern, env), what, got);
        if (mis.want_size)
            diag_label(ctx, d, "%s", differ(e, mis.want_size, mis.got_size));
        else
            diag_label(ctx, d, "%s does not fit", nat_text(ctx, mis.got_size));
        if (arg.kind == V_CORE)
            note_origin(e, d, arg.core);
        int n;
        const Ast **sizes, *elem;
        flatten_array(e, pattern, &n, &sizes, &elem);
        for (int i = 0; i < n; i++) {
            const Env *found = sizes[i]->kind == AST_NAME ? env_find(env, sizes[i]->name.text, NULL) : NULL;
            if (found && found->value.kind == V_HOLE && found->value.hole->filled && found->value.hole->nat == mis.want_size) {
                note_hole(e, d, found->value.hole);
                break;
            }
        }
        if (mis.want_size && only_entry_sizes(e, nat_sub(ctx, mis.want_size, mis.got_size)) && !strstr(d->label ? d->label : "", "differ"))
            diag_help(ctx, d, "add `where %s == %s` to the entry", nat_text(ctx, mis.got_size), nat_text(ctx, mis.want_size));
        else if (mis.want_size && nat_is(mis.want_size, 32) && nat_is_const(mis.got_size) && mis.got_size->value < 32)
            diag_help(ctx, d, "a warp has 32 lanes: pad before they compute, with `padTo(32, 0)`");
        return;
    }
    if (mis.kind == MIS_KIND && mis.wanted_kind >= KIND_NUM && mis.wanted_kind <= KIND_SCALAR) {
        d = elab_error(e, E0318, arg.span, "%s wants %s, and this is %s", who, kinds(mis.wanted_kind), got);
        Type t = arg.kind == V_CORE ? type_resolve(e, arg.core->type) : NULL;
        const char *words = span_text(e, arg.span);
        if (t && t->kind == TY_IDX)
            diag_help(ctx, d, "an index is no number: write `cast(i32)(%s)`", words ? words : "...");
        else if (t && t->kind == TY_ARRAY && type_resolve(e, t->elem)->kind == TY_IDX && callee && strcmp(callee, prim_name(P_scatterDrop)) == 0)
            diag_help(ctx, d, "of indices that is `scatterUnchecked`, or `scatter` where they are seen to differ");
        else if (t && t->kind == TY_ARRAY && callee)
            diag_help(ctx, d, "apply it to the elements: `map(%s)`", callee);
        else if (t && t->kind == TY_SCALAR && mis.wanted_kind == KIND_FLOAT && scalar_is_int(t->scalar))
            diag_help(ctx, d, "convert it: `cast(f32)(%s)`", words ? words : "...");
        return;
    }
    d = elab_error(e, E0301, arg.span, "%s wants %s%s, and this is %s", who, pattern_text(e, pattern, env), what, got);
    if (wants_indices(e, pattern) && is_array_of_integers(e, arg)) {
        bool scatter = callee && strncmp(callee, prim_name(P_scatter), strlen(prim_name(P_scatter))) == 0;
        diag_help(ctx, d, scatter ? "`scatterDrop` takes numbers; elements whose number is no index go nowhere"
                                  : "make indices below n of numbers: `... |> map(indexOr(n, 0))` takes 0 where one is none");
    } else if (is_binned_by_numbers(e, callee, arg)) {
        diag_help(ctx, d, "bins are indices: `zip(ks |> map(indexOr(16, 0)), xs)` makes indices below 16 of numbers, and takes 0 where one is none");
    } else if (mis.from_idx) {
        const char *words = span_text(e, arg.span);
        diag_help(ctx, d, "an index is no number: write `cast(i32)(%s)`", words ? words : "...");
    } else if (pattern->kind == AST_NAME) {
        const Env *found = env_find(env, pattern->name.text, NULL);
        if (found && found->value.kind == V_HOLE)
            note_hole(e, d, found->value.hole);
    } else if (is_tuple_of_arrays(e, arg)) {
        const char *words = span_text(e, arg.span);
        bool written = words && words[0] == '(';
        diag_help(ctx, d, written ? "an array of tuples is made of a tuple of arrays by `zip%s`" : "an array of tuples is made of arrays by `zip(xs, ys)`", words);
    }
}

void report_mismatch(Elab *e, DiagCode code, Span span, Type want, const char *what, ...)
{
    Mismatch mis = e->mis;
    if (mis.kind == MIS_REPORTED || e->quiet)
        return;
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
        diag_help(e->ctx, d, "cut what is too much: `... |> take(%s)`", nat_text(e->ctx, mis.want_size));
    if (mis.kind != MIS_SIZE && outer && outer->kind == TY_ARRAY && nat_is(outer->size, 1) && mis.actual && mis.actual == type_resolve(e, outer->elem))
        diag_help(e->ctx, d, "it is no array: declare it as `%s`", tyt(e, mis.actual));
    if (mis.from_idx) {
        const char *words = span_text(e, span);
        Type t = want ? type_resolve(e, want) : NULL;
        diag_help(e->ctx, d, "an index is no number: write `cast(%s)(%s)`", t && t->kind == TY_SCALAR ? scalar_name(t->scalar) : "i32", words ? words : "...");
    }
}

/* ---- obligations ---------------------------------------------------------------------------------------------------------------- */

static Nat quiet_nat(Elab *e, const Ast *ast, const Env *env)
{
    bool failed = e->failed;
    e->quiet++;
    Nat n = eval_nat(e, ast, env);
    e->quiet--;
    e->failed = failed;
    return n;
}

static Nat named_nat(const Env *env, const char *name)
{
    for (; env->name; env = env->up)
        if (strcmp(env->name, name) == 0)
            return env->value.kind == V_HOLE && env->value.hole->filled ? env->value.hole->nat : NULL;
    return NULL;
}

/* Up to two divisors of n, the largest not above k. */
static const char *divisors(Elab *e, int64_t n, int64_t k)
{
    StrBuf sb;
    sb_init(&sb, e->ctx);
    int found = 0;
    enum { FARTHEST = 100000 };
    for (int64_t d = k < n ? k : n, tries = 0; d >= 2 && found < 2 && tries < FARTHEST; d--, tries++)
        if (n % d == 0)
            sb_printf(&sb, found++ ? ", %lld" : "%lld", (long long)d);
    return found ? sb.text : NULL;
}

static void report_multiple(Elab *e, const char *name, Nat n, Nat k, const Core *arg, Span span)
{
    Ctx *ctx = e->ctx;
    const char *kt = nat_text(ctx, k), *nt = nat_text(ctx, n);
    const char *call = ctx_printf(ctx, "%s(%s)", name, kt);
    Diag *d = elab_error(e, E0303, span, "`%s` needs a multiple of %s, and %s has %s elements", call, kt, core_called(arg, "the array"), nt);
    Type t = arg ? type_resolve(e, arg->type) : NULL;
    t = t && t->kind == TY_ARRAY ? type_resolve(e, t->elem) : NULL;
    /* padTo(k, 0) fits numbers only. */
    const char *pad = t && t->kind == TY_SCALAR && t->scalar != SC_BOOL ? ctx_printf(ctx, "pad first: `padTo(%s, 0) |> %s`", kt, call) : NULL;
    if (nat_is_const(n) && nat_is_const(k) && k->value > 0) {
        int64_t q = floor_div(n->value, k->value), r = floor_mod(n->value, k->value);
        diag_label(ctx, d, "%s = %lld*%s + %lld: %lld element%s would be left over", nt, (long long)q, kt, (long long)r, (long long)r, r == 1 ? "" : "s");
        const char *others = divisors(e, n->value, k->value);
        if (pad && others)
            diag_help(ctx, d, "%s, or choose a divisor of %s (%s)", pad, nt, others);
        else if (pad || others)
            diag_help(ctx, d, "%s%s%s%s", pad ? pad : "choose a divisor of ", pad ? "" : nt, pad ? "" : ": ", pad ? "" : others);
    } else {
        Nat rest = nat_mod(ctx, n, k);
        diag_label(ctx, d, "%s == 0 is not known", nat_text(ctx, rest));
        if (only_entry_sizes(e, rest))
            diag_help(ctx, d, pad ? "add `where %s == 0`, or %s" : "add `where %s == 0` to the entry", nat_text(ctx, rest), pad);
        else if (pad)
            diag_help(ctx, d, "%s", pad);
    }
    note_origin(e, d, arg);
}

/* A size expression with its names filled in, as written otherwise: `7 % 2`. `tight`: inside a product. */
static void put_filled(Elab *e, StrBuf *sb, const Ast *ast, const Env *env, bool tight)
{
    if (ast->kind == AST_BINARY && ast->bin.op <= OP_POW) {
        bool inner = ast->bin.op >= OP_MUL, parens = tight && (!inner || ast->parens);
        sb_puts(sb, parens ? "(" : "");
        put_filled(e, sb, ast->bin.lhs, env, inner);
        sb_printf(sb, " %s ", ast_op_text(ast->bin.op));
        put_filled(e, sb, ast->bin.rhs, env, inner || ast->bin.op == OP_SUB);
        sb_puts(sb, parens ? ")" : "");
        return;
    }
    Nat n = quiet_nat(e, ast, env);
    if (nat_is_error(n)) {
        ast_print(sb, ast);
        return;
    }
    const char *text = nat_text(e->ctx, n);
    bool compound = n->kind == NAT_SUM || n->kind == NAT_DIV || n->kind == NAT_MOD;
    sb_printf(sb, tight && compound ? "(%s)" : "%s", text);
}

static bool is_small(Elab *e, const Ast *ast, const Env *env) { return nat_is_const(quiet_nat(e, ast, env)); }

void put_cond(Elab *e, StrBuf *sb, const Ast *cond, const Env *env)
{
    if (cond->kind == AST_BINARY && (cond->bin.op == OP_AND || cond->bin.op == OP_OR)) {
        put_cond(e, sb, cond->bin.lhs, env);
        sb_printf(sb, " %s ", ast_op_text(cond->bin.op));
        put_cond(e, sb, cond->bin.rhs, env);
    } else if (cond->kind == AST_BINARY && cond->bin.op >= OP_EQ && cond->bin.op <= OP_GE) {
        const Ast *a = cond->bin.lhs, *b = cond->bin.rhs;
        AstOp op = cond->bin.op;
        /* n >= 10 and not 10 <= n */
        if (is_small(e, a, env) && !is_small(e, b, env)) {
            const Ast *t = a;
            a = b;
            b = t;
            op = op == OP_LT ? OP_GT : op == OP_LE ? OP_GE : op == OP_GT ? OP_LT : op == OP_GE ? OP_LE : op;
        }
        put_filled(e, sb, a, env, false);
        sb_printf(sb, " %s ", ast_op_text(op));
        put_filled(e, sb, b, env, false);
    } else {
        ast_print(sb, cond);
    }
}

/* `slide(3, 1)`: the primitive with the sizes it was given. */
static const char *call_text(Elab *e, const Fun *f, const Env *env)
{
    StrBuf sb;
    sb_init(&sb, e->ctx);
    const Item *h = fun_header(e, f);
    int n = 0;
    sb_puts(&sb, fun_name(f));
    for (int i = 0; i < h->n_params; i++) {
        Nat nat = !h->params[i].implicit && param_kind(&h->params[i]) == KIND_NAT ? named_nat(env, h->params[i].name) : NULL;
        if (nat)
            sb_printf(&sb, n++ ? ", %s" : "(%s", nat_text(e->ctx, nat));
    }
    sb_puts(&sb, n ? ")" : "");
    return sb.text;
}

static const char *cond_text(Elab *e, const Ast *cond)
{
    StrBuf sb;
    sb_init(&sb, e->ctx);
    ast_print(&sb, cond);
    return sb.text;
}

void report_obligation(Elab *e, const Fun *f, const Item *header, const Ast *cond, const Core *value, const Env *env, const Core *main_arg, Span span)
{
    Ctx *ctx = e->ctx;
    const char *name = f->kind == F_PRIM ? prim_name(f->prim) : header->name;
    const Ast *lhs = cond->kind == AST_BINARY ? cond->bin.lhs : NULL, *rhs = cond->kind == AST_BINARY ? cond->bin.rhs : NULL;
    bool wrong = value->kind == CORE_LIT; /* known not to hold */
    StrBuf shown;
    sb_init(&shown, ctx);
    put_cond(e, &shown, cond, env);
    Nat a = lhs ? quiet_nat(e, lhs, env) : NULL, b = rhs ? quiet_nat(e, rhs, env) : NULL;
    bool sizes_only = a && b && !nat_is_error(a) && !nat_is_error(b) && only_entry_sizes(e, nat_add(ctx, nat_mul_k(ctx, a, 3), nat_mul_k(ctx, b, 7)));
    const char *fact = shown.text;
    if (sizes_only && cond->bin.op >= OP_LT && cond->bin.op <= OP_GE && (nat_is_const(a) || nat_is_const(b))) {
        bool less = cond->bin.op == OP_LT || cond->bin.op == OP_LE, strict = cond->bin.op == OP_LT || cond->bin.op == OP_GT;
        fact = at_least_text(e, nat_add_k(ctx, less ? nat_sub(ctx, b, a) : nat_sub(ctx, a, b), strict ? -1 : 0), 0);
    }
    if (f->kind == F_PRIM && cond->kind == AST_BINARY) {
        Diag *d;
        switch ((int)f->prim) {
        case P_index: {
            Nat n = named_nat(env, "n"), i = named_nat(env, "i");
            d = elab_error(e, E0308, span, wrong ? "index %s of %s: %s" : "index `%s` of %s may lie outside: %s", nat_text(ctx, i), core_called(main_arg, "the array"),
                           ctx_printf(ctx, "it has %s elements", nat_text(ctx, n)));
            diag_label(ctx, d, wrong ? "%s does not hold" : "%s is not known", shown.text);
            if (!wrong && sizes_only)
                diag_help(ctx, d, "add `where %s` to the entry, or read it under `if %s then ... else ...`", fact, fact);
            else if (!wrong)
                diag_help(ctx, d, "read it under `if %s then ... else ...`", shown.text);
            note_origin(e, d, main_arg);
            return;
        }
        case P_shflDown: case P_shflUp: case P_shflXor: case P_broadcast: {
            Nat lane = f->prim == P_broadcast ? named_nat(env, "lane") : f->prim == P_shflXor ? named_nat(env, "mask") : named_nat(env, "delta");
            d = elab_error(e, E0309, span, wrong ? "`%s(%s)`: a warp has lanes 0 to 31" : "`%s(%s)`: this is not known to be a lane distance below 32", name, nat_text(ctx, lane));
            diag_label(ctx, d, wrong ? "%s does not hold" : "%s is not known", shown.text);
            return;
        }
        case P_take: case P_drop: case P_slide: case P_circularBuffer: case P_rotateValues:
            if (cond->bin.op == OP_LE) {
                const char *call = call_text(e, f, env);
                d = elab_error(e, E0304, span, "`%s` needs at least %s elements, and %s has %s", call, nat_text(ctx, a), core_called(main_arg, "the array"), nat_text(ctx, b));
                diag_label(ctx, d, wrong ? "%s does not hold" : "%s is not known", shown.text);
                if (!wrong && sizes_only)
                    diag_help(ctx, d, "add `where %s` to the entry", fact);
                note_origin(e, d, main_arg);
                return;
            }
            break;
        }
        if (cond->bin.op == OP_EQ && lhs->kind == AST_BINARY && lhs->bin.op == OP_MOD && rhs->kind == AST_INT && rhs->integer.value == 0) {
            report_multiple(e, name, quiet_nat(e, lhs->bin.lhs, env), quiet_nat(e, lhs->bin.rhs, env), main_arg, span);
            return;
        }
    }
    Diag *d = elab_error(e, E0305, span, wrong ? "`%s` needs `%s`, which does not hold here" : "`%s` needs `%s`, which is not known here", name, cond_text(e, cond));
    diag_label(ctx, d, wrong ? "%s does not hold" : "%s is not known", shown.text);
    if (f->kind != F_PRIM)
        diag_note(ctx, d, cond->span, "the condition stands here");
    else
        note_origin(e, d, main_arg);
    if (!wrong && sizes_only)
        diag_help(ctx, d, "add `where %s` to the entry", fact);
}
