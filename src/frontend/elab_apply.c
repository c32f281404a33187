/* Application: one way for closures, definitions, operators and primitives. */
#include "frontend/elab_internal.h"

/* ---- functions ------------------------------------------------------------------------------------------------------ */

const Item *fun_header(Elab *e, const Fun *f)
{
    return f->kind == F_ITEM ? f->item : f->kind == F_PRIM ? prim_header(e->ctx, f->prim) : NULL;
}

const char *fun_name(const Fun *f)
{
    while (f->kind == F_WRAP)
        f = f->first->fun;
    return f->kind == F_ITEM ? f->item->name : f->kind == F_PRIM ? prim_name(f->prim) : f->kind == F_NATFN ? f->name : NULL;
}

static int explicit_count(const Item *header)
{
    int n = 0;
    for (int i = 0; i < header->n_params; i++)
        n += !header->params[i].implicit;
    return n;
}

int fun_arity(Elab *e, const Fun *f)
{
    switch (f->kind) {
    case F_CLOSURE:
        return f->ast->lambda.n - f->n_args;
    case F_ITEM:
    case F_PRIM:
        return explicit_count(fun_header(e, f)) - f->n_args;
    case F_COMPOSE:
    case F_UNROLL:
        return 1;
    case F_NATFN:
        return (strcmp(f->name, "pow2") == 0 ? 1 : 2) - f->n_args;
    case F_WRAP:
        return fun_arity(e, f->first->fun);
    case F_CORE:
        return f->lambda->lambda.n - f->n_args;
    }
    return 1;
}

static const Param *explicit_param(const Item *header, int k)
{
    for (int i = 0; i < header->n_params; i++)
        if (!header->params[i].implicit && k-- == 0)
            return &header->params[i];
    return NULL;
}

/* What argument k of the function is called where it is written; for names of variables. */
const char *param_name(Elab *e, const Fun *f, int k)
{
    while (f->kind == F_WRAP || f->kind == F_COMPOSE)
        f = f->first->fun;
    k += f->n_args;
    if (f->kind == F_CLOSURE && k < f->ast->lambda.n) {
        const Pattern *p = &f->ast->lambda.params[k];
        if (p->name)
            return p->name;
        return p->n_items ? "t" : "x";
    }
    if (f->kind == F_CORE && k < f->lambda->lambda.n)
        return f->lambda->lambda.params[k]->name;
    const Item *header = fun_header(e, f);
    const Param *param = header ? explicit_param(header, k) : NULL;
    return param && param->name ? param->name : "x";
}

bool param_is_named(const Fun *f, int k)
{
    while (f->kind == F_WRAP || f->kind == F_COMPOSE)
        f = f->first->fun;
    k += f->n_args;
    if (f->kind == F_CORE)
        return k < f->lambda->lambda.n && f->lambda->lambda.params[k]->named;
    return f->kind == F_CLOSURE && k < f->ast->lambda.n && f->ast->lambda.params[k].name;
}

const char *const *param_parts(Elab *e, const Fun *f, int k)
{
    while (f->kind == F_WRAP || f->kind == F_COMPOSE)
        f = f->first->fun;
    k += f->n_args;
    if (f->kind != F_CLOSURE || k >= f->ast->lambda.n || !f->ast->lambda.params[k].n_items)
        return NULL;
    const Pattern *p = &f->ast->lambda.params[k];
    const char **parts = NEWN(e->ctx, const char *, p->n_items);
    for (int i = 0; i < p->n_items; i++)
        parts[i] = p->items[i].name;
    return parts;
}

const Fun *unwrapped(const Fun *f)
{
    while (f->kind == F_WRAP)
        f = f->first->fun;
    return f;
}

bool fun_has_laws(const Fun *f)
{
    f = unwrapped(f);
    if (f->n_args)
        return false;
    if (f->kind == F_ITEM)
        return f->item->kind == ITEM_OPERATOR;
    return f->kind == F_PRIM && prim_has_laws(f->prim);
}

/* The function under a declared type, against which its arguments and results are checked. */
Value with_sig(Elab *e, Value v, const Ast *sig, const Env *env)
{
    Fun *f = NEW(e->ctx, Fun);
    if (v.fun->sig) {
        Value *inner = NEW(e->ctx, Value);
        *inner = v;
        inner->lets = NULL;
        *f = (Fun){.kind = F_WRAP, .span = v.fun->span, .first = inner};
    } else {
        *f = *v.fun;
    }
    f->sig = sig;
    f->sig_env = env;
    v.fun = f;
    return v;
}

Value expect_function(Elab *e, Value v, const Ast *sig, const Env *env, const char *callee, const char *param)
{
    if (v.kind == V_FUN)
        return with_sig(e, v, sig, env);
    if (v.kind != V_ERROR) {
        Diag *d = elab_error(e, E0311, v.span, "`%s` wants a function for `%s`, and this is %s", callee ? callee : "this function", param ? param : "it", value_text(e, v));
        diag_label(e->ctx, d, "wanted: %s", pattern_text(e, sig, env));
        const char *words = v.kind == V_NAT || v.kind == V_LIT ? span_text(e, v.span) : NULL;
        if (words && sig->bin.rhs->kind != AST_ARROW)
            diag_help(e->ctx, d, "a function is `fun x => e`: `fun x => %s * x` multiplies, `fun x => %s` gives this number for every element", words, words);
        else if (v.kind == V_CORE)
            diag_help(e->ctx, d, "a function is `fun x => e`");
    }
    return v_error(v.span);
}

/* ---- under a declared type ------------------------------------------------------------------------------------------- */

static bool coerce_argument(Elab *e, Value *v, const Ast *pattern, const Env *env, const char *callee)
{
    if (pattern->kind == AST_ARROW) {
        *v = expect_function(e, *v, pattern, env, callee, NULL);
        return v->kind != V_ERROR;
    }
    bool good;
    if (pattern_open(pattern, env)) {
        good = value_typed(e, v, NULL) && (v->kind == V_ERROR || match_type(e, pattern, env, v->core->type, v->span));
    } else {
        Type t = eval_type(e, pattern, env);
        if (t->kind == TY_ERROR)
            return false;
        good = value_typed(e, v, t);
    }
    if (!good) {
        report_argument(e, callee, NULL, pattern, env, *v);
        return false;
    }
    return v->kind != V_ERROR;
}

static Value coerce_result(Elab *e, Value r, const Ast *pattern, const Env *env, const char *callee, Span span)
{
    if (r.kind == V_ERROR)
        return r;
    if (pattern->kind == AST_ARROW)
        return expect_function(e, r, pattern, env, callee, "its result");
    bool good;
    Type t = NULL;
    if (pattern_open(pattern, env)) {
        if (r.kind != V_CORE)
            r = v_core(e, value_core(e, r));
        if (r.kind == V_ERROR)
            return v_error(span);
        good = match_type(e, pattern, env, r.core->type, span);
    } else {
        t = eval_type(e, pattern, env);
        if (t->kind == TY_ERROR)
            return v_error(span);
        good = value_typed(e, &r, t);
    }
    if (good)
        return r;
    if (e->mis.kind != MIS_REPORTED) {
        const char *got = r.kind == V_CORE ? tyt(e, r.core->type) : value_text(e, r);
        Diag *d = elab_error(e, E0312, r.span, "`%s` has to give %s here, and this is %s", callee ? callee : "the function", pattern_text(e, pattern, env), got);
        if (r.kind == V_NAT && r.from_idx && e->mis.from_idx)
            propose_around(e, d, r.span, "an index is no number: write $", "cast(i32)(", ")");
    }
    return v_error(span);
}

static Value apply_sig(Elab *e, const Fun *f, int n, const Value *args, Span span, Type want)
{
    Fun *plain = NEW(e->ctx, Fun);
    *plain = *f;
    plain->sig = NULL;
    const Ast *sig = f->sig;
    const Env *env = f->sig_env;
    const char *name = fun_name(f);
    Value *given = NEWN(e->ctx, Value, n + 1);
    LetBind *lets = NULL;
    int k = 0;
    for (; k < n && sig->kind == AST_ARROW; k++, sig = sig->bin.rhs) {
        given[k] = args[k];
        if (sig->bin.lhs->kind == AST_BINDER) {
            Nat nat;
            if (!value_to_nat(e, args[k], &nat, &lets)) {
                elab_error(e, E0322, args[k].span, "a size is needed here, and this is %s", value_text(e, args[k]));
                return v_error(span);
            }
            given[k] = v_nat(nat, args[k].span);
            env = env_push(e, env, sig->bin.lhs->binder.param->name, given[k], args[k].span);
        } else if (!coerce_argument(e, &given[k], sig->bin.lhs, env, name)) {
            return v_error(span);
        }
    }
    Value r;
    if (sig->kind == AST_ARROW) {
        r = apply(e, v_fun(plain, span), k, given, span, NULL);
        if (r.kind == V_FUN)
            r = with_sig(e, r, sig, env);
    } else {
        Type t = pattern_open(sig, env) ? NULL : eval_type(e, sig, env);
        r = apply(e, v_fun(plain, span), k, given, span, t);
        r = coerce_result(e, r, sig, env, name, span);
    }
    r = v_with_lets(e, r, lets);
    return k < n ? apply(e, r, n - k, args + k, span, want) : r;
}

/* ---- application ------------------------------------------------------------------------------------------------------ */

static Value apply_unroll(Elab *e, const Fun *f, Value x, Span span)
{
    Ctx *ctx = e->ctx;
    const Ast *list = f->ast->unroll.list;
    VEC(Nat) items = {0};
    if (list->kind == AST_LIST) {
        for (int i = 0; i < list->list.n; i++) {
            Nat n = eval_nat(e, list->list.items[i], f->env);
            if (nat_is_error(n))
                return v_error(span);
            if (!nat_is_const(n)) {
                Diag *d = elab_error(e, E0329, list->list.items[i]->span, "the list of an `unroll` has to be known when it is compiled, and `%s` is not", nat_text(ctx, n));
                diag_help(ctx, d, "write numbers, as in `[16, 8, 4]`, or `halving(32)`; `iterate(k, f)` repeats a step as often as a size says");
                return v_error(span);
            }
            vec_push(ctx, &items, n);
        }
    } else if (list->kind == AST_CALL && list->call.fn->kind == AST_NAME && strcmp(list->call.fn->name.text, "halving") == 0 && list->call.n == 1) {
        Nat n = eval_nat(e, list->call.items[0], f->env);
        if (nat_is_error(n))
            return v_error(span);
        if (!nat_is_const(n) || n->value < 1 || (n->value & (n->value - 1)) != 0) {
            Diag *d = elab_error(e, E0330, list->call.items[0]->span, "`halving` wants a constant power of two, and this is %s", nat_text(ctx, n));
            if (nat_is_const(n) && n->value > 1) {
                int64_t p = 1;
                while (p <= n->value / 2)
                    p *= 2;
                diag_label(ctx, d, "%lld is the largest power of two below it", (long long)p);
            }
            return v_error(span);
        }
        for (int64_t k = n->value / 2; k >= 1; k /= 2)
            vec_push(ctx, &items, nat_const(ctx, k));
    } else {
        if (list->kind != AST_ERROR)
            elab_error(e, E0329, list->span, "an `unroll` goes over a list `[16, 8, 4]` or `halving(k)`");
        e->failed = true;
        return v_error(span);
    }
    if (items.n > LIMIT_UNROLL_ITEMS) {
        elab_error(e, E0343, list->span, "this `unroll` has %d steps; at most %d are possible", items.n, LIMIT_UNROLL_ITEMS);
        return v_error(span);
    }
    for (int i = 0; i < items.n && x.kind != V_ERROR && !e->stop; i++) {
        const Env *env = env_push(e, f->env, f->ast->unroll.name, v_nat(items.at[i], f->ast->unroll.name_span), f->ast->unroll.name_span);
        Value step = eval(e, f->ast->unroll.fn, env, NULL);
        if (step.kind == V_ERROR)
            return step;
        x = apply(e, step, 1, &x, f->ast->unroll.fn->span, NULL);
    }
    return x;
}

/* An array that is applied: to its array once more, or to an index. */
static void propose_called(Elab *e, Diag *d, Span array, Span index, Span call)
{
    propose_once(e, d, array);
    if (!d->tries.n)
        propose_index(e, d, array, index, call);
}

static Value apply_prim(Elab *e, const Fun *f, const Value *args, Span span, Type want)
{
    bool done;
    switch ((int)f->prim) {
    case P_id:
        return args[0];
    case P_cast:
        if (!f->cast_type) {
            Diag *d = elab_error(e, E0323, span, "`cast` needs the type to cast to");
            diag_help(e->ctx, d, "write `cast(f32)(x)`");
            return v_error(span);
        }
        return apply_cast(e, f, args[0], span);
    case P_add: case P_sub: case P_mul: case P_div: case P_mod:
    case P_eq: case P_ne: case P_lt: case P_le: case P_gt: case P_ge:
    case P_and: case P_or:
        for (int op = OP_ADD; op <= OP_OR; op++)
            if (prim_of_op((AstOp)op) == f->prim)
                return eval_binary(e, (AstOp)op, args[0], args[1], span, span);
        break;
    case P_not:
        return eval_unary(e, OP_NOT, args[0], span);
    case P_neg:
        return eval_unary(e, OP_NEG, args[0], span);
    case P_min: case P_max: case P_log2: {
        Value v = prim_on_nats(e, f->prim, args, span, &done);
        if (done)
            return v;
        break;
    }
    case P_indexOr: {
        Value v = index_or_of_index(e, args, span, &done);
        if (done)
            return v;
        break;
    }
    case P_generate: {
        Fun *gen = NEW(e->ctx, Fun);
        *gen = *f;
        Value *arg = NEW(e->ctx, Value);
        *arg = args[0];
        gen->args = arg;
        gen->n_args = 1;
        Value v = {.kind = V_GEN, .span = span, .fun = gen};
        return want || f->named ? force_gen_early(e, v, want) : v;
    }
    }
    return call_header(e, f, args, span, want);
}

static Value apply_closure(Elab *e, const Fun *f, const Value *args, Type want)
{
    const Env *env = f->env;
    LetBind *lets = NULL;
    for (int i = 0; i < f->ast->lambda.n; i++)
        if (!bind_pattern(e, &f->ast->lambda.params[i], args[i], &env, &lets))
            return v_error(args[i].span);
    const Ast *outer = e->lambda;
    const Value *outer_args = e->lambda_args;
    e->lambda = f->ast;
    e->lambda_args = args;
    Value r = eval(e, f->ast->lambda.body, env, want);
    e->lambda = outer;
    e->lambda_args = outer_args;
    return v_with_lets(e, r, lets);
}

static Value apply_full(Elab *e, const Fun *f, const Value *args, Span span, Type want)
{
    switch (f->kind) {
    case F_CLOSURE:
        return apply_closure(e, f, args, want);
    case F_PRIM:
        return apply_prim(e, f, args, span, want);
    case F_ITEM:
        if (f->item->kind == ITEM_ENTRY) {
            Diag *d = elab_error(e, E0210, span, "`%s` is an entry, which only the outside can call", f->item->name);
            diag_note(e->ctx, d, NO_SPAN, "a `def` with its body can be used by both");
            return v_error(span);
        }
        return call_header(e, f, args, span, want);
    case F_COMPOSE: {
        Value v = apply(e, *f->first, 1, args, f->first->span, NULL);
        return apply(e, *f->then, 1, &v, f->then->span, want);
    }
    case F_UNROLL:
        return apply_unroll(e, f, args[0], span);
    case F_NATFN:
        return eval_natfn(e, f->name, strcmp(f->name, "pow2") == 0 ? 1 : 2, args, span);
    case F_WRAP:
        return apply(e, *f->first, fun_arity(e, f), args, span, want);
    case F_CORE:
        return apply_core(e, f->lambda, args, span);
    }
    return v_error(span);
}

/* The arguments that are there are computed here, once, whatever becomes of the function. */
static Value apply_partly(Elab *e, const Fun *f, int n, const Value *args, Span span)
{
    LetBind *lets = NULL;
    Value *all = NEWN(e->ctx, Value, f->n_args + n);
    for (int i = 0; i < f->n_args; i++)
        all[i] = f->args[i];
    for (int i = 0; i < n; i++) {
        all[f->n_args + i] = bind_value(e, args[i], param_name(e, f, i), args[i].span, &lets);
        all[f->n_args + i].span = args[i].span;
    }
    Fun *g = NEW(e->ctx, Fun);
    *g = *f;
    g->args = all;
    g->n_args = f->n_args + n;
    g->span = span;
    Value v = v_fun(g, span);
    v.lets = lets;
    return v;
}

Value apply(Elab *e, Value fv, int n, const Value *args, Span span, Type want)
{
    if (fv.kind == V_ERROR || e->stop)
        return v_error(span);
    for (int i = 0; i < n; i++)
        if (args[i].kind == V_ERROR)
            return v_error(span);
    if (n == 0)
        return fv;
    if (fv.kind != V_FUN) {
        Diag *d = elab_error(e, E0310, fv.span, "this is %s, and it is applied like a function", value_text(e, fv));
        diag_label(e->ctx, d, "not a function");
        if (fv.kind == V_TYPE && type_resolve(e, fv.type)->kind == TY_SCALAR)
            diag_propose(e->ctx, d, fv.span, "a value is converted by $", "cast(%s)", tyt(e, fv.type));
        else if (fv.kind == V_CORE && type_resolve(e, fv.core->type)->kind == TY_ARRAY)
            propose_called(e, d, fv.span, n == 1 ? args[0].span : NO_SPAN, span);
        return v_error(span);
    }
    if (ctx_near_end(e->ctx)) {
        elab_too_deep(e, span);
        return v_error(span);
    }
    const Fun *f = fv.fun;
    Value r;
    if (is_function_missing(e, f, n, args))
        return v_error(span);
    if (f->sig) {
        r = apply_sig(e, f, n, args, span, want);
    } else {
        int arity = fun_arity(e, f);
        if (n < arity) {
            r = f->kind == F_WRAP ? apply(e, *f->first, n, args, span, want) : apply_partly(e, f, n, args, span);
        } else {
            const Value *all = args;
            if (f->n_args) {
                Value *joined = NEWN(e->ctx, Value, f->n_args + arity);
                for (int i = 0; i < f->n_args; i++)
                    joined[i] = f->args[i];
                for (int i = 0; i < arity; i++)
                    joined[f->n_args + i] = args[i];
                all = joined;
            }
            r = apply_full(e, f, all, span, n > arity ? NULL : want);
            if (n > arity && r.kind != V_ERROR && r.kind != V_FUN && fun_name(f)) {
                int takes = f->n_args + arity;
                Diag *d = elab_error(e, E0310, args[arity].span, "`%s` takes %d argument%s, and this is one more", fun_name(f), takes, takes == 1 ? "" : "s");
                if (f->kind == F_ITEM)
                    diag_note(e->ctx, d, f->item->name_span, "declared here");
                else if (f->kind == F_PRIM && f->prim == P_zip && n == 3 && span_text(e, fv.span) && strcmp(span_text(e, fv.span), prim_name(P_zip)) == 0)
                    diag_propose(e->ctx, d, fv.span, "three arrays are zipped by $", "%s", prim_name(P_zip3));
                else if (n == 2 && propose_made(e, d, f, args[1], (Span){args[1].span.file, args[0].span.hi, args[1].span.hi}))
                    ;
                else if (f->kind == F_PRIM)
                    note_order(e, d, fun_header(e, f), fun_name(f));
                r = v_error(span);
            } else if (n > arity && r.kind != V_ERROR && r.kind != V_FUN && f->kind == F_CLOSURE) {
                int takes = f->ast->lambda.n;
                Diag *d = elab_error(e, E0310, f->span, "this function takes %d argument%s, and it is applied to %d", takes, takes == 1 ? "" : "s", n + f->n_args);
                propose_parameters(e, d, f, n, args);
                r = v_error(span);
            } else if (n > arity && r.kind != V_ERROR) {
                r.span = span;
                r = apply(e, r, n - arity, args + arity, span, want);
            }
        }
    }
    if (f->label && r.kind == V_CORE && r.core->kind != CORE_VAR && fun_arity(e, f) <= n)
        r = label_value(e, r, f->label);
    return v_with_lets(e, r, fv.lets);
}
