/* Calls of what has a header, definitions, operators and primitives alike: the arguments fill the header's holes, what it demands is
 * proved, then its result type is known. See Note [Holes]. */
#include "frontend/elab_internal.h"
#include "ir/operator.h"

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
                bool number = v.kind == V_CORE && v.core->type->kind == TY_SCALAR && scalar_is_int(v.core->type->scalar);
                Type xs = index && c->values[c->header->n_params - 1].kind == V_CORE ? type_resolve(e, c->values[c->header->n_params - 1].core->type) : NULL;
                if (index && number) {
                    Nat size = xs && xs->kind == TY_ARRAY ? xs->size : NULL;
                    propose_index_or(e, d, v.span, size);
                    propose_index_type(e, d, v.core->type, size, "");
                }
                else if (index)
                    diag_help(e->ctx, d, "indices come from `generate`, from data of type idx[n], or from arithmetic on those with + - * / %% min max");
                else if (v.kind == V_CORE && v.core->kind == CORE_VAR && type_span(e, v.core->var).file && v.core->type->kind == TY_SCALAR && scalar_is_int(v.core->type->scalar))
                    diag_propose(e->ctx, d, e->frame ? NO_SPAN : type_span(e, v.core->var), ctx_printf(e->ctx, "a size that is given at launch is a parameter of the entry: `(%s: nat)`", v.core->var->name), "nat");
                else if (!index && span_text(e, v.span) && strstr(span_text(e, v.span), ".0"))
                    propose_whole(e, d, v.span);
                else if (v.kind == V_CORE && type_resolve(e, v.core->type)->kind == TY_ARRAY) {
                    propose_exchange(e, d, c->header, c->name, i, c->values);
                    if (!d->tries.n)
                        note_order(e, d, c->header, c->name);
                }
                return false;
            }
            if (nat_is_error(n))
                return false;
            bool checked = c->f->kind == F_PRIM && c->f->prim == P_index;
            if (!checked && !nat_nonneg(e, n)) {
                Diag *d = elab_error(e, E0306, v.span, nat_is_const(n) ? "`%s` of `%s` is %s: sizes are not negative" : "`%s` of `%s` may be negative: it is `%s`",
                                     p->name ? p->name : "_", c->name, nat_text(e->ctx, n));
                if (!nat_is_const(n) && only_entry_sizes(e, n))
                    propose_where(e, d, at_least_text(e, n, 0), NULL);
                else if (nat_is_const(n))
                    diag_help(e->ctx, d, "write a number of elements, as in `%s(4)`", c->name);
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

/* The other arguments say what sizes are called in the message about argument i. */
static void match_others(Call *c, int i)
{
    Elab *e = c->e;
    Mismatch mis = e->mis;
    e->quiet++;
    for (int k = 0; k < c->header->n_params; k++) {
        const Param *p = &c->header->params[k];
        if (k != i && !p->implicit && param_kind(p) == KIND_VALUE && c->values[k].kind == V_CORE && pattern_open(p->kind, c->env) && pattern_solvable(p->kind, c->env))
            match_type(e, p->kind, c->env, c->values[k].core->type, c->values[k].span);
    }
    e->quiet--;
    e->mis = mis;
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
    if (c->f->kind == F_PRIM && c->f->prim == P_asScalar && is_vector(e, v))
        v = array_of_vector(e, v);
    if (c->f->kind == F_ITEM && v.kind == V_CORE) { /* they stay around the call: in a chain of calls they are many */
        c->lets = lets_join(e, c->lets, v.lets);
        v.lets = NULL;
    }
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
        match_others(c, i);
        Diag *d = report_argument(e, c->name, p->name, p->kind, c->env, v);
        propose_exchange(e, d, c->header, c->name, i, c->values);
        propose_transposed(e, d, c->header, c->values);
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

/* Where order is left open. */
static const PrimRegroups *regroups(const Call *c) { return c->f->kind == F_PRIM ? prim_regroups(c->f->prim) : NULL; }

/* Which parameter is argument k of a primitive, not counting sizes: the operator whose laws matter is 0, its unit 1 (PrimRegroups). */
static int argument_param(const Item *h, int k)
{
    for (int i = 0; i < h->n_params; i++)
        if (!h->params[i].implicit && param_kind(&h->params[i]) != KIND_NAT && k-- == 0)
            return i;
    return -1;
}

static bool check_laws(Call *c, Value v, const Core *lambda)
{
    Elab *e = c->e;
    const Fun *f = unwrapped(v.fun);
    if (operator_parts(lambda, NULL, NULL))
        return true;
    if (!fun_has_laws(f)) {
        Diag *d = elab_error(e, E0320, v.span, "`%s` wants a declared operator, whose laws are known", c->name);
        diag_label(e->ctx, d, f->kind == F_CLOSURE ? "nothing says that this function is associative" : "this has no declared laws");
        int unit = regroups(c)->has_unit ? argument_param(c->header, 1) : -1;
        Value start = unit < 0 ? v_error(v.span) : c->values[unit];
        if (f->kind == F_CLOSURE)
            propose_lawful(e, d, f, c->name, lambda->lambda.n ? lambda->lambda.params[0]->type : NULL, start, regroups(c)->commutative);
        else
            propose_operator(e, d, f, c->name, regroups(c)->commutative, start);
        return false;
    }
    bool associative = false, commutative = false;
    for (int i = 0; i < f->item->n_laws; i++) {
        associative |= strcmp(f->item->laws[i].name, "associative") == 0;
        commutative |= strcmp(f->item->laws[i].name, "commutative") == 0;
    }
    bool both = regroups(c)->commutative;
    if (!associative || (both && !commutative)) {
        Diag *d = elab_error(e, E0320, v.span, "`%s` wants an operator that is %s%s", c->name, "associative", both ? " and commutative" : "");
        diag_note(e->ctx, d, f->item->name_span, "`%s` is not declared %s", f->item->name, !associative ? "associative" : "commutative");
        propose_laws(e, d, f->item, associative, commutative);
        propose_in_order(e, d, c->name);
        return false;
    }
    return true;
}

Core *operator_unit(Elab *e, const Fun *f)
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

typedef struct Units { /* of the components that an operator combines */
    Elab *e;
    PendingUnit whole;
} Units;

static void note_part(void *user, const OperatorPart *part)
{
    const Units *u = user;
    PendingUnit p = u->whole;
    Fun *op = NEW(u->e->ctx, Fun);
    *op = (Fun){.kind = F_PRIM, .prim = part->id, .span = p.span};
    p.op = op;
    for (int i = 0; i < part->depth; i++)
        p.unit = p.unit->kind == CORE_TUPLE ? p.unit->tuple.items[part->path[i]] : core_proj(u->e, p.unit, part->path[i], p.span);
    p.type = p.unit->type;
    p.span = p.unit->span.file ? p.unit->span : p.span;
    vec_push(u->e->ctx, &u->e->units, p);
}

void note_unit(Elab *e, const Fun *op, const Core *lambda, Core *unit, Span span, const char *who)
{
    Units u = {e,
               {.op = op,
                .unit = unit,
                .declared = operator_unit(e, op),
                .type = unit->type,
                .span = span,
                .who = who,
                .frame = e->frame}};
    if (u.whole.declared ? u.whole.declared->kind != CORE_UNIT_ERROR : op->kind == F_PRIM)
        vec_push(e->ctx, &e->units, u.whole);
    else if (!u.whole.declared)
        operator_parts(lambda, note_part, &u);
}

/* The length of the array whose elements the function is applied to, for primitives that apply it only to those. */
static Nat elements_of(const Call *c)
{
    if (!prim_takes_elements(c->f->prim))
        return NULL;
    const Core *elements = c->cores[c->header->n_params - 1];
    Type t = elements ? type_resolve(c->e, elements->type) : NULL;
    return t && t->kind == TY_ARRAY ? t->size : NULL;
}

/* Where nothing else has a name. */
static const Env *env_of_hole(Elab *e, Hole *hole) { return env_push(e, e->prim_root, hole->name, (Value){.kind = V_HOLE, .hole = hole}, NO_SPAN); }

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
            Core *lambda = elab_lambda(e, v, p->kind, c->env, elements_of(c), v.span);
            if (lambda->kind == CORE_UNIT_ERROR)
                return false;
            if (regroups(c) && i == argument_param(c->header, 0) && !check_laws(c, v, lambda))
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
            open_size |= kind == KIND_NAT && pattern_open(p->kind, env_of_hole(e, &c->holes[k]));
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
            if (!pattern_open(p->kind, env_of_hole(e, hole)))
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

/* Integers that stand for indices are no vectors, as other operands may be. */
static bool numbers_single(const Call *c)
{
    bool as_indices = c->f->kind == F_PRIM && (c->f->prim == P_indexOr || c->f->prim == P_scatterDrop);
    for (int i = 0; as_indices && i < c->header->n_params; i++)
        if (c->holes[i].kind == KIND_INT && c->header->params[i].implicit && !check_number(c->e, c->name, c->holes[i].type, c->holes[i].from))
            return false;
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
    if (regroups(c) && regroups(c)->has_unit) {
        int operator = argument_param(h, 0), unit = argument_param(h, 1);
        note_unit(e, unwrapped(c->values[operator].fun), c->cores[operator], c->cores[unit], c->values[unit].span, c->name);
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
                set_type_span(e, v.core->var, p->kind_span);
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
    const Span users = e->users;
    if (span_is_users(e->ctx, c->span))
        e->users = c->span;
    Value r;
    const Ast *result = h->result;
    if (!h->body) {
        r = v_error(c->span);
        e->failed = true;
    } else if (!result) {
        r = eval(e, h->body, env, want);
    } else if (ast_is_nat(result)) {
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
        Type t = eval_type(e, result, c->env), around = e->result;
        e->result = t;
        r = t->kind == TY_ERROR ? v_error(c->span) : eval(e, h->body, env, t);
        e->result = around;
        if (r.kind != V_ERROR && !value_typed(e, &r, t)) {
            if (e->mis.kind != MIS_REPORTED) {
                Diag *d = elab_error(e, E0312, r.span.file ? r.span : h->body->span, "the body of `%s` is %s, and its header says %s", c->name, value_text(e, r), tyt(e, t));
                diag_note(e->ctx, d, result->span, "declared here");
                propose_meant(e, d, r.span);
                propose_scalar(e, d, r.span, r, t);
                if (r.kind == V_CORE)
                    propose_step(e, d, r.span, r.core->type, t, false);
            }
            r = v_error(c->span);
        }
    }
    e->frame = outer;
    e->users = users;
    r.span = c->span;
    return r;
}

Value call_header(Elab *e, const Fun *f, const Value *args, Span span, Type want)
{
    Ctx *ctx = e->ctx;
    const Item *h = fun_header(e, f);
    if (f->kind == F_ITEM && is_unusable(e, h)) {
        e->failed |= !e->quiet;
        return v_error(span);
    }
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
        if (take_functions(&c) && all_filled(&c) && numbers_single(&c) && check_where(&c))
            r = f->kind == F_PRIM ? prim_result(&c) : item_result(&c, want);
        if (r.kind != V_ERROR && f->kind == F_ITEM)
            note_advised_units(e, f, c.values, c.cores, span);
    }
    if (r.kind == V_ERROR)
        e->failed |= !e->quiet;
    e->prim_span = prim_span;
    return v_with_lets(e, r, c.lets);
}
