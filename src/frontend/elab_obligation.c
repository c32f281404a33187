/* Obligations: conditions of a header that are not proved, and what can be done about it. */
#include "frontend/elab_internal.h"

static Nat quiet_nat(Elab *e, const Ast *ast, const Env *env)
{
    bool failed = e->failed;
    e->quiet++;
    Nat n = eval_nat(e, ast, env);
    e->quiet--;
    e->failed = failed;
    return n;
}

static Nat named_nat(Ctx *ctx, const Env *env, const char *name)
{
    const Env *found = env_find(env, intern(ctx, name, strlen(name)), NULL);
    return found && found->value.kind == V_HOLE && found->value.hole->filled ? found->value.hole->nat : NULL;
}

static const char *elements_text(Elab *e, Nat n)
{
    return ctx_printf(e->ctx, nat_is(n, 1) ? "%s element" : "%s elements", nat_text(e->ctx, n));
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

/* An array that was padded to another multiple just before. */
static bool propose_wider_pad(Elab *e, Diag *d, Nat k, const Core *arg, Span span)
{
    if (!arg || arg->kind != CORE_PRIM || arg->prim.id != P_padTo || !nat_divides(e->ctx, e->facts, arg->prim.nats[1], k))
        return false;
    const Core *value = arg->prim.args[0];
    const char *words = span_text(e, value->span), *old = span_text(e, arg->span), *name = prim_name(P_padTo);
    const char *at = old ? strstr(old, name) : NULL;
    if (!words || !at || at[strlen(name)] != '(' || strstr(at + 1, name))
        return false;
    Span call = {arg->span.file, arg->span.lo + (uint32_t)(at - old), arg->span.hi};
    const char *text = source_get(e->ctx, call.file)->text;
    uint32_t comma = call.lo + (uint32_t)strcspn(text + call.lo, ",");
    if (comma >= call.hi)
        return false;
    call.lo += (uint32_t)strlen(name) + 1;
    call.hi = comma;
    Span after = {arg->span.file, span.lo, span.hi};
    const char *step = span_text(e, after), *open = step ? strchr(step, '(') : NULL, *given = nat_text(e->ctx, k), *padded = nat_text(e->ctx, arg->prim.nats[1]);
    if (open && strncmp(open + 1, given, strlen(given)) == 0 && open[1 + strlen(given)] == ')') {
        after.lo += (uint32_t)(open - step) + 1;
        after.hi = after.lo + (uint32_t)strlen(given);
        diag_help(e->ctx, d, "pad to a multiple of it: `%s(%s, %s)`", name, given, words);
        diag_edit(e->ctx, d, call, "%s", given);
        diag_or_else(e->ctx, d);
        diag_propose(e->ctx, d, after, ctx_printf(e->ctx, "the array was padded to a multiple of %s: take $ here, too", padded), "%s", padded);
        diag_or_else(e->ctx, d);
    }
    diag_help(e->ctx, d, "pad to a multiple of it: `%s(%s, %s)`", name, nat_text(e->ctx, k), words);
    diag_edit(e->ctx, d, call, "%s", nat_text(e->ctx, k));
    return true;
}

/* Where several steps divide, each by its own number, one fact of all of them mends: n % 4 == 0, then (n / 4) % 8 == 0 is n % 32 == 0. */
static void propose_multiples(Elab *e, Diag *d, Nat n, Nat k, const char *or_else)
{
    enum { TRIED = 9 };
    int64_t step = nat_is_const(k) ? k->value : 0;
    while (step > 0 && n->kind == NAT_DIV && nat_is_const(n->b) && n->b->value > 0 && mul_fits(step, n->b->value, &step))
        n = n->a;
    for (int i = 0; step > 0 && n->kind == NAT_VAR && i < TRIED; i++) {
        propose_where(e, d, ctx_printf(e->ctx, "%s %% %lld == 0", nat_text(e->ctx, n), (long long)step), i == 0 ? or_else : NULL);
        diag_or_else(e->ctx, d);
        if (!mul_fits(step, 2, &step))
            return;
    }
}

static void report_multiple(Elab *e, const char *name, Nat n, Nat k, const Core *arg, Span span)
{
    Ctx *ctx = e->ctx;
    const char *kt = nat_text(ctx, k), *nt = nat_text(ctx, n);
    const char *call = ctx_printf(ctx, "%s(%s)", name, kt);
    Diag *d = elab_error(e, E0303, span, "`%s` needs a multiple of %s, and %s has %s", call, kt, core_called(arg, "the array"), elements_text(e, n));
    Type t = arg ? type_resolve(e, arg->type) : NULL;
    t = t && t->kind == TY_ARRAY ? type_resolve(e, t->elem) : NULL;
    const char *pad = t && t->kind == TY_SCALAR ? ctx_printf(ctx, "pad the array first, with a value e that changes no result: `padTo(%s, e) |> %s`", kt, call) : NULL;
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
        if (rest->kind == NAT_MOD && only_entry_sizes(e, rest))
            propose_multiples(e, d, rest->a, rest->b, pad ? ctx_printf(ctx, ", or %s", pad) : NULL);
        if (rest->kind == NAT_MOD && rest->a->kind == NAT_VAR && only_entry_sizes(e, rest))
            propose_where(e, d, ctx_printf(ctx, "%s == 0", nat_text(ctx, rest)), pad ? ctx_printf(ctx, ", or %s", pad) : NULL);
        else if (propose_wider_pad(e, d, k, arg, span))
            ;
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
        Nat nat = !h->params[i].implicit && param_kind(&h->params[i]) == KIND_NAT ? named_nat(e->ctx, env, h->params[i].name) : NULL;
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

/* The length that the header of what is elaborated wants; NULL. */
static Nat wanted_length(Elab *e)
{
    Type t = e->result ? type_resolve(e, e->result) : NULL;
    return t && t->kind == TY_ARRAY ? t->size : NULL;
}

/* As many windows as elements are wanted: the ends are to be padded. */
static bool hint_windows(Elab *e, Diag *d, const Fun *f, Nat size, Nat length, Span span)
{
    Nat step = f->prim == P_slide && nat_is_const(size) && size->value > 1 ? size : NULL;
    if (!step || wanted_length(e) != length || !length)
        return false;
    long long left = (long long)(step->value - 1) / 2, right = (long long)(step->value - 1) - left;
    Span at = behind_pipe(e, span);
    diag_help(e->ctx, d, "windows are fewer than elements, by %lld: for as many, repeat the ends first: `padClamp(%lld, %lld) |> slide(%lld, 1)`", left + right, left, right,
              (long long)step->value);
    if (at.file)
        diag_edit(e->ctx, d, at, "padClamp(%lld, %lld) |> ", left, right);
    return true;
}

/* `xs[-1]`; of 8 elements `xs[8]`. */
static void hint_index(Elab *e, Diag *d, const Core *array, Nat n, Nat i, Span span)
{
    const char *words = span_text(e, span), *xs = array ? span_text(e, array->span) : NULL;
    bool counted = nat_is_const(i) && i->value < 0 && i->value > INT64_MIN;
    if (counted) {
        bool plain = xs && words && words[strlen(words) - 1] == ']' && strncmp(words, xs, strlen(xs)) == 0;
        Nat at = nat_add(e->ctx, n, i);
        diag_propose(e->ctx, d, plain ? span : NO_SPAN, i->value == -1 ? "the last element is $" : "counted from the end, it is $", "%s[%s]", plain ? xs : "xs", nat_text(e->ctx, at));
    } else if (n == i && !nat_is_const(n)) {
        bool plain = xs && words && words[strlen(words) - 1] == ']' && strncmp(words, xs, strlen(xs)) == 0;
        diag_propose(e->ctx, d, plain ? span : NO_SPAN, "indices begin at 0: the last element is $", "%s[%s - 1]", plain ? xs : "xs", nat_text(e->ctx, n));
    } else if (nat_is_const(n) && n->value > 0) {
        if (n->value > 1)
            diag_note(e->ctx, d, NO_SPAN, "its elements have the indices 0 to %lld", (long long)n->value - 1);
        if (array)
            propose_windows_turned(e, d, array->span);
    }
}

/* m of n * m and n; NULL. */
static Nat other_factor(Elab *e, Nat product, Nat factor)
{
    if (product->kind != NAT_SUM || product->n_terms != 1)
        return NULL;
    const NatTerm *term = &product->terms[0];
    Nat rest = nat_const(e->ctx, term->coef);
    bool found = false;
    for (int i = 0; i < term->n_factors; i++) {
        bool this = term->factors[i] == factor && !found;
        found |= this;
        rest = this ? rest : nat_mul(e->ctx, rest, term->factors[i]);
    }
    return found ? rest : NULL;
}

/* `split(n)` gives rows of n elements, and n rows are wanted. */
static bool hint_rows(Elab *e, Diag *d, const Fun *f, const Core *arg, Nat k, const char *fact, Span span)
{
    Type t = arg ? type_resolve(e, arg->type) : NULL;
    if (f->kind != F_PRIM || f->prim != P_split || !k || !t || t->kind != TY_ARRAY)
        return false;
    bool meant = wanted_length(e) == k;
    Nat rows = other_factor(e, t->size, k);
    const char *words = span_text(e, span), *old = ctx_printf(e->ctx, "%s(%s)", prim_name(P_split), nat_text(e->ctx, k));
    if (!rows || rows == k)
        return false;
    if (!meant && fact) {
        propose_where(e, d, fact, NULL);
        diag_or_else(e->ctx, d);
    }
    diag_propose(e->ctx, d, words && strcmp(words, old) == 0 ? span : NO_SPAN, ctx_printf(e->ctx, "`split` takes the length of a row, and not the number of rows: for %s rows it is $", nat_text(e->ctx, k)), "%s(%s)", prim_name(P_split),
                 nat_text(e->ctx, rows));
    edit_not_empty(e, d, rows);
    if (!meant)
        diag_or_else(e->ctx, d);
    return meant;
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
    if (sizes_only && cond->bin.op >= OP_LT && cond->bin.op <= OP_GE) {
        bool less = cond->bin.op == OP_LT || cond->bin.op == OP_LE, strict = cond->bin.op == OP_LT || cond->bin.op == OP_GT;
        const char *of_one = at_least_text(e, nat_add_k(ctx, less ? nat_sub(ctx, b, a) : nat_sub(ctx, a, b), strict ? -1 : 0), 0);
        fact = nat_is_const(a) || nat_is_const(b) || !relates_names(of_one) ? of_one : fact;
    }
    if (f->kind == F_PRIM && cond->kind == AST_BINARY) {
        Diag *d;
        switch ((int)f->prim) {
        case P_index: {
            Nat n = named_nat(e->ctx, env, "n"), i = named_nat(e->ctx, env, "i");
            d = elab_error(e, E0308, span, wrong ? "index %s of %s: %s" : "index `%s` of %s may lie outside: %s", nat_text(ctx, i), core_called(main_arg, "the array"),
                           ctx_printf(ctx, "it has %s", elements_text(e, n)));
            diag_label(ctx, d, wrong ? "%s does not hold" : "%s is not known", shown.text);
            if (wrong && (nat_is_const(i) || i == n))
                hint_index(e, d, main_arg, n, i, span);
            if (!wrong && sizes_only)
                propose_where(e, d, fact, ctx_printf(ctx, ", or read it under `if %s then ... else ...`", fact));
            else if (!wrong)
                diag_help(ctx, d, "read it under `if %s then ... else ...`", shown.text);
            if (!wrong)
                propose_other_side(e, d, span);
            note_origin(e, d, main_arg);
            return;
        }
        case P_shflDown: case P_shflUp: case P_shflXor: case P_broadcast: {
            Nat lane = f->prim == P_broadcast ? named_nat(e->ctx, env, "lane") : f->prim == P_shflXor ? named_nat(e->ctx, env, "mask") : named_nat(e->ctx, env, "delta");
            d = elab_error(e, E0309, span, wrong ? "`%s(%s)`: a warp has lanes 0 to 31" : "`%s(%s)`: this is not known to be a lane distance below 32", name, nat_text(ctx, lane));
            diag_label(ctx, d, wrong ? "%s does not hold" : "%s is not known", shown.text);
            if (wrong)
                diag_help(ctx, d, "write a number from 0 to 31; lanes of other warps are reached through `toShared`");
            return;
        }
        case P_reduceWarp:
            d = elab_error(e, E0309, span, "`reduceWarp` takes 2, 4, 8, 16 or 32 values, one of each lane, and here are %s", nat_text(ctx, named_nat(e->ctx, env, "n")));
            diag_label(ctx, d, wrong ? "%s does not hold" : "%s is not known", shown.text);
            if (wrong)
                diag_help(ctx, d, "put `padTo(k, e)` before their first `mapLane`, with such a k, and an e that changes no result");
            else
                diag_help(ctx, d, "the lanes of a part of a warp are a constant: write a number, or `where n == 8` with the size for n");
            return;
        case P_take: case P_drop: case P_slide: case P_circularBuffer: case P_rotateValues:
            if (cond->bin.op == OP_LE) {
                const char *call = call_text(e, f, env);
                d = elab_error(e, E0304, span, "`%s` needs at least %s, and %s has %s", call, elements_text(e, a), core_called(main_arg, "the array"), nat_text(ctx, b));
                diag_label(ctx, d, wrong ? "%s does not hold" : "%s is not known", shown.text);
                const bool hinted = hint_windows(e, d, f, a, b, span);
                if (!hinted && !wrong && sizes_only)
                    propose_where(e, d, fact, NULL);
                if (!hinted && wrong && f->prim == P_take && nat_is_const(b))
                    diag_help(ctx, d, "take at most %s, or make the array longer first: `padTo(%s, e)` adds elements e", nat_text(ctx, b), nat_text(ctx, a));
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
    Nat given = wrong && lhs && lhs->kind == AST_NAME ? named_nat(ctx, env, lhs->name.text) : NULL;
    if (given) {
        diag_label(ctx, d, "`%s` is %s here", lhs->name.text, nat_text(ctx, given));
        if (f->kind == F_PRIM && cond->bin.op == OP_GE && nat_is_const(b))
            diag_help(ctx, d, "write a number of at least %s", nat_text(ctx, b));
        return;
    }
    diag_label(ctx, d, wrong ? "%s does not hold" : "%s is not known", shown.text);
    if (f->kind != F_PRIM)
        diag_note(ctx, d, cond->span, "the condition stands here");
    else
        note_origin(e, d, main_arg);
    if (!hint_rows(e, d, f, main_arg, named_nat(ctx, env, "k"), wrong || !sizes_only ? NULL : fact, span) && !wrong && sizes_only)
        propose_where(e, d, fact, NULL);
}
