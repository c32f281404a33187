/* Application: one way for closures, definitions, operators and primitives. See Note [Holes]. */
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
static const char *param_name(Elab *e, const Fun *f, int k)
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
    const Item *header = fun_header(e, f);
    const Param *param = header ? explicit_param(header, k) : NULL;
    return param && param->name ? param->name : "x";
}

static const Fun *unwrapped(const Fun *f)
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
    if (f->kind != F_PRIM)
        return false;
    switch ((int)f->prim) {
    case P_add:
    case P_mul:
    case P_min:
    case P_max:
    case P_and:
    case P_or:
    case P_bitAnd:
    case P_bitOr:
    case P_bitXor:
        return true;
    }
    return false;
}

/* The function under a declared type, against which its arguments and results are checked. */
static Value with_sig(Elab *e, Value v, const Ast *sig, const Env *env)
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

static Value expect_function(Elab *e, Value v, const Ast *sig, const Env *env, const char *callee, const char *param)
{
    if (v.kind == V_FUN)
        return with_sig(e, v, sig, env);
    if (v.kind != V_ERROR) {
        Diag *d = elab_error(e, E0311, v.span, "`%s` wants a function for `%s`, and this is %s", callee ? callee : "this function", param ? param : "it", value_text(e, v));
        diag_label(e->ctx, d, "wanted: %s", pattern_text(e, sig, env));
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
            diag_help(e->ctx, d, "an index is no number: write `cast(i32)(...)`");
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
            if (r.kind == V_FUN)
                d = elab_error(e, E0311, at, "this function has to give %s, and it gives a function", pattern_text(e, sig, env));
            else
                d = elab_error(e, E0312, at, "this function has to give %s, and it gives %s", pattern_text(e, sig, env), got);
            if (r.kind == V_FUN)
                diag_label(ctx, d, "it is applied to %d argument%s", n_args, n_args == 1 ? "" : "s");
            if (from_idx)
                diag_help(ctx, d, "an index is no number: write `cast(i32)(...)`");
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
        params[n++] = var;
        args[n_args++] = v_core(e, core_of_var(e, var, f.span));
    }
    Type want = pattern_open(sig, env) ? NULL : eval_type(e, sig, env);
    if (want && want->kind == TY_ERROR)
        return core_bad(e, span);
    NatFacts *outer = e->facts;
    e->facts = facts_inside(e, n, params, elements);
    x.n_own = n_nats;
    Value r = apply(e, f, n_args, args, span, want);
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

Value force_gen(Elab *e, Value v, const Ast *pattern, const Env *env, Type want)
{
    Ctx *ctx = e->ctx;
    const Fun *f = v.fun;
    Nat n = NULL;
    Type elem = NULL;
    for (const Named *named = f->named; named; named = named->up)
        if (strcmp(named->name, "n") == 0 && named->value.kind == V_NAT)
            n = named->value.nat;
        else if (strcmp(named->name, "t") == 0 && named->value.kind == V_TYPE)
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
    if (r.kind == V_NAT && r.from_idx && !elem)
        elem = idx_type_of(e, r.nat, n);
    Core *body = NULL;
    bool good = r.kind != V_ERROR && value_to_core(e, r, elem, &body);
    e->facts = outer;
    if (r.kind == V_ERROR)
        return r;
    if (!good) {
        if (elem && e->mis.kind != MIS_REPORTED) {
            if (!report_escape(e, r, x, v.span))
                elab_error(e, E0312, r.span, "this function has to give %s, and it gives %s", tyt(e, elem), value_text(e, r));
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

/* ---- headers -------------------------------------------------------------------------------------------------------- */

typedef struct Call {
    Elab *e;
    const Fun *f;
    const Item *header;
    const char *name;
    const Env *env;  /* the header's, with its holes */
    Hole *holes;     /* beside params; unused where the parameter is no hole */
    Value *values;   /* beside params */
    Core **cores;    /* beside params: data */
    Span span;
    Type want;       /* of the result, or NULL */
    LetBind *lets;
} Call;

static bool is_filler(const Call *c, int i, ParamKind *kind)
{
    *kind = param_kind(&c->header->params[i]);
    return *kind == KIND_NAT || kind_is_type(*kind);
}

static bool take_named(Call *c)
{
    Elab *e = c->e;
    for (const Named *named = c->f->named; named; named = named->up)
        for (int i = 0; i < c->header->n_params; i++) {
            const Param *p = &c->header->params[i];
            if (!p->implicit || p->name != named->name)
                continue;
            Hole *hole = &c->holes[i];
            if (hole->kind == KIND_NAT) {
                if (named->value.kind != V_NAT)
                    return false;
                hole->nat = named->value.nat;
            } else {
                if (named->value.kind != V_TYPE)
                    return false;
                if (!type_constrain(e, named->value.type, hole->kind)) {
                    elab_error(e, E0318, named->span, "`%s` of `%s` is %s, and this is %s", p->name, c->name, kind_name(hole->kind), tyt(e, named->value.type));
                    return false;
                }
                hole->type = named->value.type;
            }
            hole->filled = true;
            hole->from = named->span;
        }
    return true;
}

static bool take_sizes(Call *c)
{
    Elab *e = c->e;
    for (int i = 0; i < c->header->n_params; i++) {
        const Param *p = &c->header->params[i];
        Hole *hole = &c->holes[i];
        if (p->implicit)
            continue;
        Value v = c->values[i];
        if (param_kind(p) == KIND_NAT) {
            Nat n;
            if (!value_to_nat(e, v, &n, &c->lets)) {
                bool index = c->f->kind == F_PRIM && c->f->prim == P_index;
                Diag *d = elab_error(e, index ? E0328 : E0322, v.span, index ? "an index has type idx[n] or is a size, and this is %s" : "`%s` wants a size for `%s`, and this is %s",
                                     index ? value_text(e, v) : c->name, p->name ? p->name : "_", value_text(e, v));
                if (index)
                    diag_help(e->ctx, d, "indices come from `generate`, from data of type idx[n], or from arithmetic on those");
                return false;
            }
            if (nat_is_error(n))
                return false;
            bool checked = c->f->kind == F_PRIM && c->f->prim == P_index;
            if (!checked && !nat_nonneg(e, n)) {
                Diag *d = elab_error(e, E0306, v.span, nat_is_const(n) ? "`%s` of `%s` is %s: sizes are not negative" : "`%s` of `%s` may be negative: it is `%s`",
                                     p->name ? p->name : "_", c->name, nat_text(e->ctx, n));
                if (!nat_is_const(n) && only_entry_sizes(e, n))
                    diag_help(e->ctx, d, "add `where %s` to the entry", at_least_text(e, n, 0));
                return false;
            }
            hole->nat = n;
        } else if (kind_is_type(param_kind(p))) {
            if (v.kind != V_TYPE) {
                elab_error(e, E0323, v.span, "`%s` wants a type for `%s`, and this is %s", c->name, p->name ? p->name : "_", value_text(e, v));
                return false;
            }
            if (!type_constrain(e, v.type, hole->kind)) {
                elab_error(e, E0318, v.span, "`%s` of `%s` is %s, and this is %s", p->name ? p->name : "_", c->name, kind_name(hole->kind), tyt(e, v.type));
                return false;
            }
            hole->type = v.type;
        } else {
            continue;
        }
        hole->filled = true;
        hole->from = v.span;
    }
    return true;
}

static bool take_data(Call *c, int i)
{
    Elab *e = c->e;
    const Param *p = &c->header->params[i];
    Value v = c->values[i];
    if (v.kind == V_GEN)
        v = force_gen(e, v, p->kind, c->env, NULL);
    if (v.kind == V_ERROR)
        return false;
    bool good;
    if (!pattern_open(p->kind, c->env)) {
        Type t = eval_type(e, p->kind, c->env);
        if (t->kind == TY_ERROR)
            return false;
        good = value_to_core(e, v, t, &c->cores[i]);
    } else if (v.kind == V_FUN || v.kind == V_TYPE || v.kind == V_GEN || (v.kind == V_NAT && v.from_idx)) {
        value_core(e, v);
        return false;
    } else {
        good = value_to_core(e, v, NULL, &c->cores[i]);
        if (good && c->cores[i]->kind != CORE_UNIT_ERROR)
            good = match_type(e, p->kind, c->env, c->cores[i]->type, v.span);
    }
    if (!good) {
        report_argument(e, c->name, p->name, p->kind, c->env, v);
        return false;
    }
    return c->cores[i]->kind != CORE_UNIT_ERROR;
}

/* Typed values first: they say what literals are, and how long a `generate` is. */
static int eagerness(Value v)
{
    return v.kind == V_CORE ? 0 : v.kind == V_TUPLE ? 1 : v.kind == V_GEN ? 3 : 2;
}

static bool take_all_data(Call *c)
{
    int n = c->header->n_params;
    bool *done = NEWN(c->e->ctx, bool, n + 1), asked = false;
    for (int round = 0; round < 5; round++)
        for (int i = 0; i < n; i++) {
            const Param *p = &c->header->params[i];
            if (done[i] || p->implicit || param_kind(p) != KIND_VALUE || (round < 4 && eagerness(c->values[i]) > round))
                continue;
            if (round < 4 && !pattern_solvable(p->kind, c->env))
                continue;
            /* How long a `generate` is may follow from what is wanted of the result. */
            if (c->values[i].kind == V_GEN && !asked && c->want && c->header->result && c->header->result->kind != AST_ARROW && pattern_open(p->kind, c->env)) {
                asked = true;
                match_type(c->e, c->header->result, c->env, c->want, c->span);
            }
            if (!take_data(c, i))
                return false;
            done[i] = true;
        }
    return true;
}

static bool any_unfilled(const Call *c)
{
    for (int i = 0; i < c->header->n_params; i++) {
        ParamKind kind;
        if (is_filler(c, i, &kind) && !c->holes[i].filled)
            return true;
    }
    return false;
}

/* Operators with laws, where order is left open. */
static bool wants_laws(const Call *c)
{
    if (c->f->kind != F_PRIM)
        return false;
    switch ((int)c->f->prim) {
    case P_reduce:
    case P_scan:
    case P_scanExcl:
    case P_reduceByIndex:
    case P_reduceWarp:
    case P_atomicReduce:
        return true;
    }
    return false;
}

static bool check_laws(Call *c, Value v)
{
    Elab *e = c->e;
    const Fun *f = unwrapped(v.fun);
    if (!fun_has_laws(f)) {
        Diag *d = elab_error(e, E0320, v.span, "`%s` wants a declared operator, whose laws are known", c->name);
        diag_label(e->ctx, d, f->kind == F_CLOSURE ? "nothing says that this function is associative" : "this has no declared laws");
        if (f->kind == F_CLOSURE)
            diag_help(e->ctx, d, "declare it: `operator name (a: t) (b: t): t unit e, associative = ...`; `reduceSeq` takes any function");
        else
            diag_help(e->ctx, d, "`reduceSeq` takes any function");
        return false;
    }
    bool associative = f->kind == F_PRIM, commutative = f->kind == F_PRIM;
    for (int i = 0; f->kind == F_ITEM && i < f->item->n_laws; i++) {
        associative |= strcmp(f->item->laws[i].name, "associative") == 0;
        commutative |= strcmp(f->item->laws[i].name, "commutative") == 0;
    }
    bool both = c->f->prim == P_reduceWarp || c->f->prim == P_atomicReduce;
    if (!associative || (both && !commutative)) {
        Diag *d = elab_error(e, E0320, v.span, "`%s` wants an operator that is %s%s", c->name, "associative", both ? " and commutative" : "");
        diag_note(e->ctx, d, f->item->name_span, "`%s` is not declared %s", f->item->name, !associative ? "associative" : "commutative");
        return false;
    }
    return true;
}

static Core *declared_unit(Elab *e, const Fun *f)
{
    if (f->kind != F_ITEM || !f->item->unit)
        return NULL;
    Type t = f->item->result ? eval_type(e, f->item->result, f->home->root) : NULL;
    Value v = eval(e, f->item->unit, f->home->root, t);
    Core *core;
    if (v.kind == V_ERROR || (t && t->kind == TY_ERROR))
        return core_bad(e, f->item->unit->span);
    if (!value_to_core(e, v, t, &core)) {
        report_mismatch(e, E0215, f->item->unit->span, t, "the unit of `%s` is %s", f->item->name, value_text(e, v));
        return core_bad(e, f->item->unit->span);
    }
    return core;
}

/* The length of the array whose elements the function is applied to, for primitives that apply it only to those. */
static Nat elements_of(const Call *c)
{
    switch ((int)c->f->prim) {
    case P_nextKernel: case P_lastBlock: case P_gridSync: case P_iterate: case P_reorder: case P_generate:
        return NULL;
    }
    for (int i = 0; i < c->header->n_params; i++)
        if (c->cores[i] && c->header->params[i].name && strcmp(c->header->params[i].name, "xs") == 0) {
            Type t = type_resolve(c->e, c->cores[i]->type);
            return t->kind == TY_ARRAY ? t->size : NULL;
        }
    return NULL;
}

static bool take_functions(Call *c)
{
    Elab *e = c->e;
    bool prim = c->f->kind == F_PRIM;
    for (int i = 0; i < c->header->n_params; i++) {
        const Param *p = &c->header->params[i];
        if (p->implicit || param_kind(p) != KIND_FUN)
            continue;
        Value v = c->values[i];
        if (v.kind == V_ERROR)
            return false;
        if (v.kind != V_FUN) {
            expect_function(e, v, p->kind, c->env, c->name, p->name);
            return false;
        }
        c->lets = lets_join(e, c->lets, v.lets);
        v.lets = NULL;
        if (prim) {
            if (wants_laws(c) && !check_laws(c, v))
                return false;
            Core *lambda = elab_lambda(e, v, p->kind, c->env, elements_of(c), v.span);
            if (lambda->kind == CORE_UNIT_ERROR)
                return false;
            c->cores[i] = lambda;
            continue;
        }
        /* What only the function's result fixes: types are found when it is first applied, sizes by trying it. */
        bool open_size = false;
        for (int k = 0; k < c->header->n_params; k++) {
            ParamKind kind;
            if (!is_filler(c, k, &kind) || c->holes[k].filled)
                continue;
            const Env one = {.name = c->holes[k].name, .value = {.kind = V_HOLE, .hole = &c->holes[k]}, .up = &(const Env){0}};
            open_size |= kind == KIND_NAT && pattern_open(p->kind, &one);
        }
        if (open_size) {
            e->quiet++;
            elab_lambda(e, v, p->kind, c->env, NULL, v.span);
            e->quiet--;
        }
        for (int k = 0; k < c->header->n_params; k++) {
            Hole *hole = &c->holes[k];
            ParamKind kind;
            if (!is_filler(c, k, &kind) || hole->filled || kind == KIND_NAT)
                continue;
            const Env one = {.name = hole->name, .value = {.kind = V_HOLE, .hole = hole}, .up = &(const Env){0}};
            if (!pattern_open(p->kind, &one))
                continue;
            hole->type = meta_new(e, true, false, ~0u, SC_I32, v.span);
            type_constrain(e, hole->type, kind);
            hole->filled = true;
            hole->from = v.span;
        }
        c->values[i] = with_sig(e, v, p->kind, c->env);
    }
    return true;
}

static bool all_filled(Call *c)
{
    Elab *e = c->e;
    for (int i = 0; i < c->header->n_params; i++) {
        ParamKind kind;
        if (!is_filler(c, i, &kind) || c->holes[i].filled)
            continue;
        const char *name = c->holes[i].name;
        if (c->f->kind == F_ITEM && !param_is_fixed(c->header, &c->header->params[i])) {
            e->failed = true;
            return false;
        }
        Diag *d = elab_error(e, E0317, c->span, "`%s` of `%s` is not known from its arguments", name, c->name);
        diag_help(e->ctx, d, kind == KIND_NAT ? "say it: `%s{%s = ...}`" : "say it: `%s{%s = f32}`", c->name, name);
        return false;
    }
    return true;
}

static const Core *main_argument(const Call *c)
{
    const Core *last = NULL;
    for (int i = 0; i < c->header->n_params; i++)
        if (c->cores[i] && c->cores[i]->kind != CORE_LAMBDA)
            last = c->cores[i];
    return last;
}

static bool check_where(Call *c)
{
    Elab *e = c->e;
    for (int i = 0; i < c->header->n_where; i++) {
        const Ast *cond = c->header->where[i];
        Value v = eval(e, cond, c->env, NULL);
        if (v.kind == V_ERROR)
            return false;
        if (v.kind != V_CORE || type_resolve(e, v.core->type)->kind != TY_SCALAR || type_resolve(e, v.core->type)->scalar != SC_BOOL) {
            elab_error(e, E0326, cond->span, "a fact is a condition over sizes, and this is %s", value_text(e, v));
            return false;
        }
        if (v.core->kind == CORE_LIT && v.core->lit.i)
            continue;
        report_obligation(e, c->f, c->header, cond, v.core, c->env, main_argument(c), c->span);
        return false;
    }
    return true;
}

static Value prim_result(Call *c)
{
    Elab *e = c->e;
    Ctx *ctx = e->ctx;
    const Item *h = c->header;
    Nat *nats = NEWN(ctx, Nat, h->n_params + 1);
    Core **args = NEWN(ctx, Core *, h->n_params + 1);
    int n_nats = 0, n_args = 0;
    for (int i = 0; i < h->n_params; i++) {
        ParamKind kind = param_kind(&h->params[i]);
        if (kind == KIND_NAT)
            nats[n_nats++] = c->holes[i].nat;
        else if (!kind_is_type(kind))
            args[n_args++] = c->cores[i];
    }
    Type t = eval_type(e, h->result, c->env);
    if (t->kind == TY_ERROR)
        return v_error(c->span);
    Core *core = core_prim(e, c->f->prim, c->span, type_resolve(e, t), n_nats, nats, n_args, args);
    core->prim.options = c->f->options;
    if (c->f->place) {
        const Ast *f_type = NULL;
        for (int i = 0; i < h->n_params; i++)
            if (h->params[i].name && strcmp(h->params[i].name, "xs") == 0)
                f_type = h->params[i].kind;
        (void)f_type;
        Value place = *c->f->place;
        CoreVar *var = core_var(e, param_name(e, place.fun, 0), type_idx(ctx, nats[0]), place.span);
        Value arg = v_core(e, core_of_var(e, var, place.span));
        Value r = apply(e, place, 1, &arg, place.span, NULL);
        Nat at;
        LetBind *lets = NULL;
        if (r.kind == V_ERROR)
            return r;
        if (!value_to_nat(e, r, &at, &lets) || lets) {
            elab_error(e, E0332, r.span, "`place` gives the thread of element i as a size, and this is %s", value_text(e, r));
            return v_error(c->span);
        }
        Core *lambda = core_new(e, CORE_LAMBDA, place.span, type_scalar(ctx, SC_I64));
        lambda->lambda.n = 1;
        lambda->lambda.params = NEWN(ctx, CoreVar *, 1);
        lambda->lambda.params[0] = var;
        lambda->lambda.body = core_size(e, r.span, at, lambda->type);
        core->prim.options.place = core_done(e, lambda);
        core_done(e, core);
    }
    if (wants_laws(c)) {
        const Fun *op = NULL;
        Core *unit = NULL;
        Span span = c->span;
        for (int i = 0; i < h->n_params; i++) {
            if (param_kind(&h->params[i]) == KIND_FUN)
                op = unwrapped(c->values[i].fun);
            if (h->params[i].name && strcmp(h->params[i].name, "unit") == 0) {
                unit = c->cores[i];
                span = c->values[i].span;
            }
        }
        if (op && unit) {
            PendingUnit p = {op, unit, declared_unit(e, op), unit->type, span, c->name, e->frame};
            if (!p.declared || p.declared->kind != CORE_UNIT_ERROR)
                vec_push(ctx, &e->units, p);
        }
    }
    return v_core(e, core);
}

static Value item_result(Call *c, Type want)
{
    Elab *e = c->e;
    const Item *h = c->header;
    const Env *env = c->env;
    for (int i = 0; i < h->n_params; i++) {
        const Param *p = &h->params[i];
        ParamKind kind = param_kind(p);
        if (p->implicit || kind == KIND_NAT || kind_is_type(kind))
            continue;
        Value v = kind == KIND_FUN ? c->values[i] : v_core(e, c->cores[i]);
        if (v.kind == V_ERROR)
            return v;
        v.span = p->span;
        if (p->name) {
            int before = e->next_var;
            v = bind_value(e, v, p->name, p->span, &c->lets);
            if (e->next_var > before && v.kind == V_CORE && v.core->kind == CORE_VAR)
                e->type_spans.at[v.core->var->id] = p->kind_span;
            env = env_push(e, env, p->name, v, p->span);
        } else if (!bind_pattern(e, &p->pattern, v, &env, &c->lets)) {
            return v_error(c->span);
        }
    }
    Frame frame = {h, c->span, e->frame};
    Frame *kept = NEW(e->ctx, Frame);
    *kept = frame;
    const Frame *outer = e->frame;
    e->frame = kept;
    Value r;
    const Ast *result = h->result;
    if (!h->body) {
        r = v_error(c->span);
        e->failed = true;
    } else if (!result) {
        r = eval(e, h->body, env, want);
    } else if (result->kind == AST_NAME && strcmp(result->name.text, "nat") == 0) {
        r = eval(e, h->body, env, NULL);
        Nat n;
        LetBind *lets = NULL;
        if (r.kind != V_ERROR && !value_to_nat(e, r, &n, &lets)) {
            elab_error(e, E0312, r.span, "`%s` gives a size, and its body is %s", c->name, value_text(e, r));
            r = v_error(c->span);
        } else if (r.kind != V_ERROR) {
            bool from_idx = r.from_idx || r.kind == V_CORE;
            r = v_nat(n, c->span);
            r.lets = lets;
            r.from_idx = from_idx;
        }
    } else if (result->kind == AST_ARROW) {
        r = eval(e, h->body, env, NULL);
        if (r.kind == V_FUN)
            r = with_sig(e, r, result, c->env);
        else if (r.kind != V_ERROR) {
            elab_error(e, E0312, r.span, "`%s` gives a function, and its body is %s", c->name, value_text(e, r));
            r = v_error(c->span);
        }
    } else {
        Type t = eval_type(e, result, c->env);
        r = t->kind == TY_ERROR ? v_error(c->span) : eval(e, h->body, env, t);
        if (r.kind != V_ERROR && !value_typed(e, &r, t)) {
            if (e->mis.kind != MIS_REPORTED) {
                Diag *d = elab_error(e, E0312, r.span.file ? r.span : h->body->span, "the body of `%s` is %s, and its header says %s", c->name, value_text(e, r), tyt(e, t));
                diag_note(e->ctx, d, result->span, "declared here");
            }
            r = v_error(c->span);
        }
    }
    e->frame = outer;
    r.span = c->span;
    return r;
}

static Value call_header(Elab *e, const Fun *f, const Value *args, Span span, Type want)
{
    Ctx *ctx = e->ctx;
    const Item *h = fun_header(e, f);
    Call c = {.e = e, .f = f, .header = h, .name = f->kind == F_PRIM ? prim_name(f->prim) : h->name, .span = span, .want = want};
    c.holes = NEWN(ctx, Hole, h->n_params + 1);
    c.values = NEWN(ctx, Value, h->n_params + 1);
    c.cores = NEWN(ctx, Core *, h->n_params + 1);
    c.env = f->kind == F_PRIM ? e->prim_root : f->home->root;
    int k = 0;
    for (int i = 0; i < h->n_params; i++) {
        const Param *p = &h->params[i];
        ParamKind kind = param_kind(p);
        if (kind == KIND_NAT || kind_is_type(kind)) {
            c.holes[i] = (Hole){.name = p->name ? p->name : "_", .kind = kind};
            Value v = {.kind = V_HOLE, .span = p->span, .hole = &c.holes[i]};
            c.env = env_push(e, c.env, c.holes[i].name, v, p->span);
        }
        if (!p->implicit)
            c.values[i] = args[k++];
    }
    Span prim_span = e->prim_span;
    if (f->kind == F_PRIM)
        e->prim_span = span;
    Value r = v_error(span);
    if (take_named(&c) && take_sizes(&c) && take_all_data(&c)) {
        if (want && h->result && any_unfilled(&c) && h->result->kind != AST_ARROW)
            match_type(e, h->result, c.env, want, span); /* what it leaves open is reported below */
        if (take_functions(&c) && all_filled(&c) && check_where(&c))
            r = f->kind == F_PRIM ? prim_result(&c) : item_result(&c, want);
    }
    if (r.kind == V_ERROR)
        e->failed |= !e->quiet;
    e->prim_span = prim_span;
    return v_with_lets(e, r, c.lets);
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
                elab_error(e, E0329, list->list.items[i]->span, "the list of an `unroll` is known when it is compiled, and `%s` is not", nat_text(ctx, n));
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
    case P_generate: {
        Fun *gen = NEW(e->ctx, Fun);
        *gen = *f;
        Value *arg = NEW(e->ctx, Value);
        *arg = args[0];
        gen->args = arg;
        gen->n_args = 1;
        Value v = {.kind = V_GEN, .span = span, .fun = gen};
        return want || f->named ? force_gen(e, v, NULL, NULL, want) : v;
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
    Value r = eval(e, f->ast->lambda.body, env, want);
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
            diag_help(e->ctx, d, "move its body into a `def` and call that from both");
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
        diag_label(e->ctx, d, "no function");
        return v_error(span);
    }
    if (e->depth >= LIMIT_ELAB_DEPTH) {
        elab_error(e, E0340, span, "definitions are nested too deeply: more than %d levels", LIMIT_ELAB_DEPTH);
        e->stop = true;
        return v_error(span);
    }
    e->depth++;
    const Fun *f = fv.fun;
    Value r;
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
            if (n > arity && r.kind != V_ERROR) {
                r.span = span;
                r = apply(e, r, n - arity, args + arity, span, want);
            }
        }
    }
    e->depth--;
    return v_with_lets(e, r, fv.lets);
}
