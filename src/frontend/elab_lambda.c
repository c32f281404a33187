/* Static functions as lambdas of core: the function arguments of primitives, and generate. */
#include "frontend/elab_internal.h"

/* ---- functions as lambdas --------------------------------------------------------------------------------------------- */

typedef struct Escape {
    Elab *e;
    uint32_t since; /* variables made from here on belong to the function */
    int n_own;
    const Nat *own; /* but these: the result's declared type is about them */
    Nat found;
} Escape;

static void find_escape(void *user, Nat var)
{
    Escape *x = user;
    bool own = var->id < x->since || var == x->e->num_sm || var == x->e->max_resident;
    for (int i = 0; i < x->n_own; i++)
        own |= x->own[i] == var;
    if (!own)
        x->found = var;
}

static void type_vars(Elab *e, Type t, Escape *x)
{
    t = type_resolve(e, t);
    if (t->size)
        nat_each_var(e->ctx, t->size, find_escape, x);
    if (t->elem)
        type_vars(e, t->elem, x);
    for (int i = 0; i < t->n_items; i++)
        type_vars(e, t->items[i], x);
}

/* Nats are numbered as they are made. */
static uint32_t next_id(Ctx *ctx) { return nat_var(ctx, "_", NULL, NULL)->id; }

/* A result whose size depends on the function's own parameter would be of another type for each. */
static bool report_escape(Elab *e, Value r, Escape x, Span span)
{
    if (r.kind != V_CORE)
        return false;
    type_vars(e, r.core->type, &x);
    if (!x.found)
        return false;
    Diag *d = elab_error(e, E0331, r.span.file ? r.span : span, "the size of this result depends on `%s`, which is known only inside the function", x.found->name);
    diag_label(e->ctx, d, "it is %s", tyt(e, r.core->type));
    return true;
}

/* What the function gives, as its declared result wants it. */
static bool is_given_tuple(Elab *e, const Fun *f) { return f->args[0].kind == V_CORE && type_resolve(e, f->args[0].core->type)->kind == TY_TUPLE; }

/* Where the type that is wanted is that of the entry's result: the header may be what is wrong. */
static void note_result(Elab *e, Diag *d, Value r, Type want)
{
    Type declared = e->result && !e->frame && e->entry && e->entry->result ? type_resolve(e, e->result) : NULL;
    if (declared && want && r.kind == V_CORE && declared->kind == TY_SCALAR && type_resolve(e, want) == declared && is_only_element(e, r.core->type)) {
        const char *type = tyt(e, r.core->type);
        diag_note(e->ctx, d, e->entry->result->span, "%s comes from the header", tyt(e, declared));
        DiagTry own = diag_put_aside(d);
        diag_propose(e->ctx, d, e->entry->result->span, "an array of one element comes out: the header says $, or `[0]` takes the element", "%s", type);
        diag_put_back(e->ctx, d, own);
        return;
    }
    Type t = e->result && !e->frame && e->entry && e->entry->result ? type_resolve(e, e->result) : NULL;
    while (t && t->kind == TY_ARRAY)
        t = type_resolve(e, t->elem);
    if (t && want && t->kind == TY_SCALAR && type_resolve(e, want) == t && r.kind == V_CORE && type_resolve(e, r.core->type)->kind == TY_SCALAR)
        diag_note(e->ctx, d, e->entry->result->span, "%s comes from the header", tyt(e, t));
}

/* Whether the call that is evaluated folds. */
static bool is_name_of_scan(const Elab *e)
{
    const Source *source = source_get(e->ctx, e->prim_span.file);
    const char *at = source ? source->text + e->prim_span.lo : "";
    return strncmp(at, "scan", 4) == 0 || strncmp(at, "reduce", 6) == 0;
}

/* `(y, y)`: the state and what comes out of the step, as in a scan of JAX. */
static void propose_state(Elab *e, Diag *d, Value r, Type want)
{
    const Core *tuple = r.kind == V_CORE ? r.core : NULL;
    Core *first;
    while (tuple && tuple->kind == CORE_LET)
        tuple = tuple->let.body;
    bool pair = r.kind == V_TUPLE ? r.tuple.n == 2 : tuple && tuple->kind == CORE_TUPLE && tuple->tuple.n == 2;
    if (!pair || !want || !is_name_of_scan(e))
        return;
    Value v = r.kind == V_TUPLE ? r.tuple.items[0] : v_core(e, tuple->tuple.items[0]);
    e->quiet++;
    bool fits = value_to_core(e, v, want, &first);
    e->quiet--;
    if (!fits)
        return;
    const char *state = span_text(e, r.kind == V_TUPLE ? v.span : tuple->tuple.items[0]->span), *out = span_text(e, r.kind == V_TUPLE ? r.tuple.items[1].span : tuple->tuple.items[1]->span);
    if (state && out && strcmp(state, out) == 0)
        diag_propose(e->ctx, d, r.span, "the new state stands alone, and a scan gives all of them: $", "%s", state);
    else
        diag_help(e->ctx, d, "a step gives the new state alone, and a scan gives all of them; what else comes out is computed of these by `map`");
}

/* `fun acc x y => e` of a value and a pair. */
static bool propose_last_tuple(Elab *e, Diag *d, const Fun *f)
{
    const Value *last = &f->args[f->n_args - 1];
    Type t = last->kind == V_CORE ? type_resolve(e, last->core->type) : NULL;
    int first = f->n_args - 1, n = f->ast->lambda.n - first;
    const Pattern *params = f->ast->lambda.params;
    if (!t || t->kind != TY_TUPLE || t->n_items != n || first == 0)
        return false;
    const char *names = "";
    for (int i = first; i < first + n; i++)
        names = ctx_printf(e->ctx, "%s%s%s", names, i > first ? ", " : "", span_text(e, params[i].span) ? span_text(e, params[i].span) : "_");
    diag_help(e->ctx, d, "its last argument is a tuple, and parentheses take that apart: `(%s)`", names);
    diag_edit(e->ctx, d, span_start(params[first].span), "(");
    for (int i = first; i + 1 < first + n; i++)
        diag_edit(e->ctx, d, (Span){params[i].span.file, params[i].span.hi, params[i + 1].span.lo}, ", ");
    diag_edit(e->ctx, d, span_end(params[first + n - 1].span), ")");
    return true;
}

static Core *lambda_body(Elab *e, Value r, const Ast *sig, const Env *env, Type want, int n_args, Escape x, Span span)
{
    Ctx *ctx = e->ctx;
    if (r.kind == V_ERROR)
        return core_bad(e, span);
    Core *body;
    if (want ? !value_to_core(e, r, want, &body) : (body = value_core(e, r), body->kind != CORE_UNIT_ERROR && !match_type(e, sig, env, body->type, span))) {
        Mismatch mis = e->mis;
        if (mis.kind != MIS_REPORTED && !report_escape(e, r, x, span)) {
            const char *got = r.kind == V_CORE ? tyt(e, r.core->type) : value_text(e, r);
            bool from_idx = mis.from_idx;
            Span at = r.span.file ? r.span : span;
            Diag *d;
            bool more = r.kind == V_FUN && r.fun->kind == F_CLOSURE && r.fun->n_args == n_args;
            if (more)
                d = elab_error(e, E0311, at, "this function takes %d arguments, and it is given %d", r.fun->ast->lambda.n, n_args);
            else if (r.kind == V_FUN)
                d = elab_error(e, E0311, at, "this function has to give %s, and it gives a function", pattern_text(e, sig, env));
            else
                d = elab_error(e, E0312, at, "this function has to give %s, and it gives %s", pattern_text(e, sig, env), got);
            Type given = r.kind == V_CORE ? type_resolve(e, r.core->type) : NULL;
            if (want && given && given->kind == TY_ARRAY && type_resolve(e, given->elem) == type_resolve(e, want))
                diag_help(ctx, d, "where each part gives an array, `|> join` behind the map makes one array of them");
            if (r.kind == V_FUN && !more && unwrapped(r.fun)->n_args > n_args)
                diag_label(ctx, d, "%s", wants_text(e, r.fun));
            else if (r.kind == V_FUN && !more)
                diag_label(ctx, d, "it is applied to %d argument%s", n_args, n_args == 1 ? "" : "s");
            if (more && n_args == 1 && !is_given_tuple(e, r.fun))
                diag_note(ctx, d, NO_SPAN, "it is given one element: pairs are made by `zip(xs, ys)`, and taken apart by `fun (x, y) => ...`");
            else if (more && propose_last_tuple(e, d, r.fun))
                ;
            else if (r.kind == V_FUN)
                note_wanted(e, d, r.fun);
            if (from_idx)
                propose_around(e, d, at, "an index is no number: write $", ctx_printf(ctx, "cast(%s)(", scalar_wanted(e, sig, env)), ")");
            note_result(e, d, r, want);
            propose_state(e, d, r, want);
            propose_meant(e, d, at);
            if (!want || !given || !propose_converted(e, d, at, span, given, type_resolve(e, want)))
                propose_scalar(e, d, at, r, want);
            if (r.kind == V_CORE)
                propose_step(e, d, at, r.core->type, want, false);
        }
        return core_bad(e, span);
    }
    return body;
}

/* Where an index exists, its range is not empty; where a function meets an element, the array has one. */
static NatFacts *facts_inside(Elab *e, int n, CoreVar *const *params, Nat elements)
{
    NatFacts *facts = NULL;
    for (int i = 0; i <= n; i++) {
        Type t = i < n ? type_resolve(e, params[i]->type) : NULL;
        Nat size = i == n ? elements : t->kind == TY_IDX ? t->size : NULL;
        if (!size || nat_is_const(size))
            continue;
        if (!facts)
            facts = nat_facts_new(e->ctx, e->facts);
        nat_fact_le(e->ctx, facts, nat_const(e->ctx, 1), size);
    }
    return facts ? facts : e->facts;
}

Core *elab_lambda(Elab *e, Value f, const Ast *sig, const Env *env, Nat elements, Span span)
{
    Ctx *ctx = e->ctx;
    int binders = 0, values = 0;
    for (const Ast *s = sig; s->kind == AST_ARROW; s = s->bin.rhs)
        *(s->bin.lhs->kind == AST_BINDER ? &binders : &values) += 1;
    /* A function that is polymorphic in the size need not take it. */
    bool skip = fun_arity(e, f.fun) <= values;
    Nat *nats = NEWN(ctx, Nat, binders + 1);
    Escape x = {.e = e, .since = next_id(ctx), .own = nats};
    CoreVar **params = NEWN(ctx, CoreVar *, values + 1);
    Value *args = NEWN(ctx, Value, binders + values);
    int n_nats = 0, n = 0, n_args = 0;
    for (; sig->kind == AST_ARROW; sig = sig->bin.rhs) {
        const Ast *lhs = sig->bin.lhs;
        const char *name = param_name(e, f.fun, n_args);
        if (lhs->kind == AST_BINDER) {
            Nat l = nat_var(ctx, skip ? lhs->binder.param->name : name, nat_const(ctx, 0), NULL);
            nats[n_nats++] = l;
            env = env_push(e, env, lhs->binder.param->name, v_nat(l, span), span);
            if (!skip)
                args[n_args++] = v_nat(l, span);
            continue;
        }
        if (pattern_open(lhs, env)) {
            elab_error(e, E0317, span, "what this function is applied to is not known here");
            return core_bad(e, span);
        }
        Type t = eval_type(e, lhs, env);
        if (t->kind == TY_ERROR)
            return core_bad(e, span);
        CoreVar *var = core_var(e, name, t, f.span);
        var->parts = param_parts(e, f.fun, n_args);
        var->named = param_is_named(f.fun, n_args);
        params[n++] = var;
        args[n_args++] = v_core(e, core_of_var(e, var, f.span));
    }
    Type want = pattern_open(sig, env) ? NULL : eval_type(e, sig, env);
    if (want && want->kind == TY_ERROR)
        return core_bad(e, span);
    NatFacts *outer = e->facts;
    e->facts = facts_inside(e, n, params, elements);
    x.n_own = n_nats;
    bool one_tuple = report_one_tuple(e, f, n_args, args);
    Value r = one_tuple ? v_error(span) : apply(e, f, n_args, args, span, want);
    Core *body = lambda_body(e, r, sig, env, want, n_args, x, span);
    e->facts = outer;
    if (body->kind == CORE_UNIT_ERROR)
        return body;
    if (report_escape(e, r, x, span))
        return core_bad(e, span);
    Core *lambda = core_new(e, CORE_LAMBDA, f.span, body->type);
    lambda->lambda.n_nats = n_nats;
    lambda->lambda.nats = nats;
    lambda->lambda.n = n;
    lambda->lambda.params = params;
    lambda->lambda.body = body;
    const Fun *inner = unwrapped(f.fun);
    if (fun_has_laws(inner) && inner->kind == F_ITEM)
        lambda->lambda.op = inner->item;
    return core_done(e, lambda);
}

/* ---- generate ------------------------------------------------------------------------------------------------------- */

/* The type of an index expression that nothing else says: below n again, or below what it is a remainder of. */
static Type idx_type_of(Elab *e, Nat a, Nat n)
{
    if (!nat_le(e->ctx, e->facts, nat_const(e->ctx, 0), a))
        return NULL;
    if (nat_lt(e->ctx, e->facts, a, n))
        return type_idx(e->ctx, n);
    return a->kind == NAT_MOD ? type_idx(e->ctx, a->b) : NULL;
}

/* The index of a generate itself, say. */
static bool is_known_index(Elab *e, Value v)
{
    Nat place;
    LetBind *lets = NULL;
    return v.kind == V_CORE && type_resolve(e, v.core->type)->kind == TY_IDX && value_to_nat(e, v, &place, &lets);
}

static Value force(Elab *e, Value v, const Ast *pattern, const Env *env, Type want, bool early)
{
    Ctx *ctx = e->ctx;
    const Fun *f = v.fun;
    Nat n = NULL;
    Type elem = NULL;
    for (const Named *named = f->named; named; named = named->up)
        if (named->value.kind == V_NAT)
            n = named->value.nat;
        else if (named->value.kind == V_TYPE)
            elem = named->value.type;
    if (want) {
        want = type_resolve(e, want);
        if (want->kind == TY_ARRAY) {
            n = n ? n : want->size;
            elem = elem ? elem : want->elem;
        }
    } else if (pattern) {
        int parts;
        const Ast **sizes, *last;
        flatten_array(e, pattern, &parts, &sizes, &last);
        if (parts > 0 && !n && !pattern_open(sizes[0], env)) {
            n = eval_nat(e, sizes[0], env);
            if (nat_is_error(n))
                return v_error(v.span);
        }
        if (parts == 1 && !elem && !pattern_open(last, env) && last->kind != AST_ARROW)
            elem = eval_type(e, last, env);
    }
    if (!n)
        return v;
    Value fn = f->args[0];
    LetBind *lets = lets_join(e, v.lets, fn.lets);
    fn.lets = NULL;
    if (fn.kind == V_ERROR)
        return fn;
    if (fn.kind != V_FUN) {
        elab_error(e, E0311, fn.span, "`generate` wants a function of the index, and this is %s", value_text(e, fn));
        return v_error(v.span);
    }
    Escape x = {.e = e, .since = next_id(ctx)};
    CoreVar *var = core_var(e, param_name(e, fn.fun, 0), type_idx(ctx, n), fn.span);
    Value arg = v_core(e, core_of_var(e, var, fn.span));
    if (elem && type_resolve(e, elem)->kind == TY_META)
        elem = type_resolve(e, elem);
    NatFacts *outer = e->facts;
    e->facts = facts_inside(e, 1, &var, NULL);
    Value r = apply(e, fn, 1, &arg, fn.span, elem);
    bool place = r.kind == V_NAT && r.from_idx && !elem;
    if (early && !elem && (place || is_known_index(e, r))) { /* its range is what is wanted where it is used */
        e->facts = outer;
        return v;
    }
    if (place)
        elem = idx_type_of(e, r.nat, n);
    Core *body = NULL;
    bool good = r.kind != V_ERROR && value_to_core(e, r, elem, &body);
    e->facts = outer;
    if (r.kind == V_ERROR)
        return r;
    if (!good) {
        if (elem && e->mis.kind != MIS_REPORTED) {
            if (!report_escape(e, r, x, v.span))
                propose_scalar(e, elab_error(e, E0312, r.span, "this function has to give %s, and it gives %s", tyt(e, elem), value_text(e, r)), r.span, r, elem);
            return v_error(v.span);
        }
        body = value_core(e, r);
    }
    if (body->kind == CORE_UNIT_ERROR)
        return v_error(v.span);
    if (report_escape(e, r, x, v.span))
        return v_error(v.span);
    Core *lambda = core_new(e, CORE_LAMBDA, fn.span, body->type);
    lambda->lambda.n = 1;
    lambda->lambda.params = NEWN(ctx, CoreVar *, 1);
    lambda->lambda.params[0] = var;
    lambda->lambda.body = body;
    core_done(e, lambda);
    Core *core = core_prim(e, P_generate, v.span, type_array(ctx, n, body->type), 1, &n, 1, &lambda);
    return v_core(e, lets_wrap(e, lets, core));
}

Value force_gen(Elab *e, Value v, const Ast *pattern, const Env *env, Type want) { return force(e, v, pattern, env, want, false); }

Value force_gen_early(Elab *e, Value v, Type want) { return force(e, v, NULL, NULL, want, true); }
