/* Copies of core with other terms for its variables: what applying a function that is core already needs. Binders in the copy are fresh, so
 * nothing is captured. */
#include "frontend/elab_internal.h"

typedef struct VarCopy {
    const CoreVar *from;
    Core *to; /* a term of its type; binders: the fresh variable */
} VarCopy;

typedef struct Copy {
    Elab *e;
    VEC(VarCopy) vars;
    VEC(Nat) nats; /* variables of sizes, and beside them what they become */
    VEC(Nat) by;
} Copy;

static Nat copy_nat(Copy *c, Nat n)
{
    return n && c->nats.n ? nat_subst_many(c->e->ctx, n, c->nats.n, c->nats.at, c->by.at) : n;
}

static Type copy_type(Copy *c, Type t)
{
    return t && c->nats.n ? type_subst(c->e->ctx, type_zonk(c->e, t), c->nats.n, c->nats.at, c->by.at) : t;
}

/* A term may bind the same variable in two places, where it was made of two copies of one; the binder that was entered last counts. */
static void set_nat(Copy *c, Nat from, Nat to)
{
    for (int i = 0; i < c->nats.n; i++)
        if (c->nats.at[i] == from) {
            c->by.at[i] = to;
            return;
        }
    vec_push(c->e->ctx, &c->nats, from);
    vec_push(c->e->ctx, &c->by, to);
}

static CoreVar *fresh(Copy *c, const CoreVar *var)
{
    CoreVar *new = core_var(c->e, var->name, copy_type(c, var->type), var->span);
    vec_push(c->e->ctx, &c->vars, ((VarCopy){var, core_of_var(c->e, new, var->span)}));
    if (var->nat && new->nat)
        set_nat(c, var->nat, new->nat);
    return new;
}

static Core *copy(Copy *c, const Core *core);

static Core *copy_lambda(Copy *c, const Core *core)
{
    Elab *e = c->e;
    Core *new = core_new(e, CORE_LAMBDA, core->span, NULL);
    new->lambda.n_nats = core->lambda.n_nats;
    Nat *nats = NEWN(e->ctx, Nat, core->lambda.n_nats + 1);
    for (int i = 0; i < core->lambda.n_nats; i++) {
        const NatNode *old = core->lambda.nats[i];
        nats[i] = nat_var(e->ctx, old->name, copy_nat(c, old->lo), copy_nat(c, old->hi));
        set_nat(c, old, nats[i]);
    }
    new->lambda.nats = nats;
    new->lambda.n = core->lambda.n;
    new->lambda.params = NEWN(e->ctx, CoreVar *, core->lambda.n + 1);
    for (int i = 0; i < core->lambda.n; i++)
        new->lambda.params[i] = fresh(c, core->lambda.params[i]);
    new->lambda.body = copy(c, core->lambda.body);
    new->lambda.op = core->lambda.op;
    new->type = new->lambda.body->type;
    return core_done(e, new);
}

static Core *copy_prim(Copy *c, const Core *core)
{
    Elab *e = c->e;
    Nat *nats = NEWN(e->ctx, Nat, core->prim.n_nats + 1);
    Core **args = NEWN(e->ctx, Core *, core->prim.n_args + 1);
    for (int i = 0; i < core->prim.n_nats; i++)
        nats[i] = copy_nat(c, core->prim.nats[i]);
    for (int i = 0; i < core->prim.n_args; i++)
        args[i] = copy(c, core->prim.args[i]);
    Core *new = core_prim(e, core->prim.id, core->span, copy_type(c, core->type), core->prim.n_nats, nats, core->prim.n_args, args);
    PrimOptions options = core->prim.options;
    options.pad = copy_nat(c, options.pad);
    options.lanes = copy_nat(c, options.lanes);
    options.blocks = copy_nat(c, options.blocks);
    options.threads = copy_nat(c, options.threads);
    options.min_blocks = copy_nat(c, options.min_blocks);
    if (options.place)
        options.place = copy(c, options.place);
    new->prim.options = options;
    new->prim.cast_type = copy_type(c, core->prim.cast_type);
    return core_done(e, new);
}

static Core *copy(Copy *c, const Core *core)
{
    Elab *e = c->e;
    Core *new = NULL;
    switch (core->kind) {
    case CORE_VAR:
        for (int i = c->vars.n - 1; i >= 0; i--)
            if (c->vars.at[i].from == core->var)
                return c->vars.at[i].to;
        new = core_of_var(e, core->var, core->span);
        new->type = core->type;
        return new;
    case CORE_LIT:
        new = core_new(e, CORE_LIT, core->span, core->type);
        new->lit = core->lit;
        break;
    case CORE_SIZE:
        new = core_new(e, CORE_SIZE, core->span, copy_type(c, core->type));
        new->size = copy_nat(c, core->size);
        break;
    case CORE_PRIM:
        new = copy_prim(c, core);
        break;
    case CORE_LAMBDA:
        new = copy_lambda(c, core);
        break;
    case CORE_LET: {
        Core *value = copy(c, core->let.value);
        new = core_new(e, CORE_LET, core->span, copy_type(c, core->type));
        new->let.value = value;
        new->let.var = fresh(c, core->let.var);
        new->let.body = copy(c, core->let.body);
        break;
    }
    case CORE_TUPLE:
        new = core_new(e, CORE_TUPLE, core->span, copy_type(c, core->type));
        new->tuple.n = core->tuple.n;
        new->tuple.items = NEWN(e->ctx, Core *, core->tuple.n);
        for (int i = 0; i < core->tuple.n; i++)
            new->tuple.items[i] = copy(c, core->tuple.items[i]);
        break;
    case CORE_PROJ: {
        Core *value = copy(c, core->proj.value);
        if (value->kind == CORE_TUPLE)
            return value->tuple.items[core->proj.index];
        new = core_new(e, CORE_PROJ, core->span, copy_type(c, core->type));
        new->proj.index = core->proj.index;
        new->proj.value = value;
        break;
    }
    case CORE_IF:
        new = core_new(e, CORE_IF, core->span, copy_type(c, core->type));
        new->cond.cond = copy(c, core->cond.cond);
        new->cond.then = copy(c, core->cond.then);
        new->cond.otherwise = copy(c, core->cond.otherwise);
        break;
    case CORE_UNIT_ERROR:
        return core_bad(e, core->span);
    }
    new->label = core->label;
    new->users = core->users;
    return core_done(e, new);
}

/* The function of a map over one element, by one thread. */
static bool is_called_once(const Core *map)
{
    return map->prim.id == P_mapGlobal && map->prim.args[0]->kind == CORE_LAMBDA &&
           nat_is(map->prim.args[1]->type->size, 1);
}

/* How often a variable is read; twice at least where it is read in a function, which may be applied often. */
static int uses(const Core *core, const CoreVar *var, bool inside)
{
    int n = 0;
    switch (core->kind) {
    case CORE_VAR:
        return core->var == var ? 1 + inside : 0;
    case CORE_LIT:
    case CORE_SIZE:
    case CORE_UNIT_ERROR:
        return 0;
    case CORE_PRIM:
        for (int i = 0; i < core->prim.n_args && n < 2; i++) {
            const Core *arg = core->prim.args[i];
            n += i == 0 && is_called_once(core) ? uses(arg->lambda.body, var, inside) : uses(arg, var, inside);
        }
        return n;
    case CORE_LAMBDA:
        return uses(core->lambda.body, var, true);
    case CORE_LET:
        return uses(core->let.value, var, inside) + uses(core->let.body, var, inside);
    case CORE_TUPLE:
        for (int i = 0; i < core->tuple.n && n < 2; i++)
            n += uses(core->tuple.items[i], var, inside);
        return n;
    case CORE_PROJ:
        return uses(core->proj.value, var, inside);
    case CORE_IF:
        return uses(core->cond.cond, var, inside) + uses(core->cond.then, var, inside) + uses(core->cond.otherwise, var, inside);
    }
    return 0;
}

int core_uses(const Core *core, const CoreVar *var) { return uses(core, var, false); }

Core *core_with(Elab *e, const Core *body, int n, CoreVar *const *vars, Core *const *by)
{
    Copy c = {.e = e};
    for (int i = 0; i < n; i++) {
        vec_push(e->ctx, &c.vars, ((VarCopy){vars[i], by[i]}));
        const Core *to = by[i];
        Nat nat = to->kind == CORE_VAR ? to->var->nat : to->kind == CORE_SIZE ? to->size : NULL;
        if (vars[i]->nat && nat)
            set_nat(&c, vars[i]->nat, nat);
    }
    return copy(&c, body);
}

Value apply_core(Elab *e, const Core *lambda, const Value *args, Span span)
{
    int n = lambda->lambda.n;
    Core **by = NEWN(e->ctx, Core *, n + 1);
    LetBind *lets = NULL;
    for (int i = 0; i < n; i++) {
        CoreVar *var = lambda->lambda.params[i];
        Core *arg;
        if (!value_to_core(e, args[i], var->type, &arg)) {
            if (e->mis.kind != MIS_REPORTED)
                report_mismatch(e, E0301, args[i].span, var->type, "this is %s", value_text(e, args[i]));
            return v_error(span);
        }
        /* Computed once, as every application does; an index has to be a variable. */
        bool once = core_uses(lambda->lambda.body, var) <= 1 && type_resolve(e, var->type)->kind != TY_IDX;
        Value bound = v_core(e, arg);
        if (!once)
            bound = bind_value(e, bound, var->name, span, &lets);
        if (bound.kind != V_CORE)
            return v_error(span);
        by[i] = bound.core;
    }
    Value r = v_core(e, core_with(e, lambda->lambda.body, n, lambda->lambda.params, by));
    r.span = span;
    return v_with_lets(e, r, lets);
}
