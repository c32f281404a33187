/* Making core terms and static values; environments; the way from a value to core. See Note [Static values] and Note [Lets]. */
#include "frontend/elab_internal.h"

/* ---- terms ------------------------------------------------------------------------------------------------------- */

static void count_terms(Elab *e, int n, Span span)
{
    if (e->stop)
        return;
    e->terms += n < LIMIT_CORE_TERMS ? n : LIMIT_CORE_TERMS;
    if (e->terms > LIMIT_CORE_TERMS) {
        int quiet = e->quiet;
        e->quiet = 0;
        Diag *d = elab_error(e, E0341, span, "the program is too large once its definitions are expanded: more than %d terms", LIMIT_CORE_TERMS);
        diag_note(e->ctx, d, NO_SPAN, "a shorter `unroll` makes it smaller, and so does a `let` for what is used several times");
        e->quiet = quiet;
        e->stop = true;
    }
}

Core *core_new(Elab *e, CoreKind kind, Span span, Type type)
{
    Core *core = NEW(e->ctx, Core);
    core->kind = kind;
    core->span = span;
    if (!span_is_users(e->ctx, span))
        core->users = e->users;
    core->type = type;
    core->height = 1;
    count_terms(e, 1, span);
    return core;
}

Core *core_bad(Elab *e, Span span) { return core_new(e, CORE_UNIT_ERROR, span, type_error(e->ctx)); }

static void raise_over(Core *core, const Core *part)
{
    if (part && part->height >= core->height)
        core->height = part->height + 1;
}

void elab_too_deep(Elab *e, Span span)
{
    e->quiet = 0;
    elab_error(e, E0340, span, "expressions are nested too deeply once definitions are expanded");
    e->stop = true;
}

Core *core_done(Elab *e, Core *core)
{
    switch (core->kind) {
    case CORE_VAR:
    case CORE_LIT:
    case CORE_SIZE:
    case CORE_UNIT_ERROR:
        break;
    case CORE_PRIM:
        for (int i = 0; i < core->prim.n_args; i++)
            raise_over(core, core->prim.args[i]);
        raise_over(core, core->prim.options.place);
        break;
    case CORE_LAMBDA:
        raise_over(core, core->lambda.body);
        break;
    case CORE_LET:
        raise_over(core, core->let.value);
        raise_over(core, core->let.body);
        break;
    case CORE_TUPLE:
        for (int i = 0; i < core->tuple.n; i++)
            raise_over(core, core->tuple.items[i]);
        break;
    case CORE_PROJ:
        raise_over(core, core->proj.value);
        break;
    case CORE_IF:
        raise_over(core, core->cond.cond);
        raise_over(core, core->cond.then);
        raise_over(core, core->cond.otherwise);
        break;
    }
    if (core->height > e->ctx->stack.levels && !e->stop)
        elab_too_deep(e, core->span);
    return core;
}

Core *core_size(Elab *e, Span span, Nat nat, Type type)
{
    Core *core = core_new(e, CORE_SIZE, span, type);
    core->size = nat;
    vec_push(e->ctx, &e->sizes_used, core);
    return core;
}

Core *core_bool(Elab *e, Span span, bool b)
{
    Core *core = core_new(e, CORE_LIT, span, type_scalar(e->ctx, SC_BOOL));
    core->lit = (ScalarValue){.type = SC_BOOL, .i = b};
    return core;
}

Core *core_of_var(Elab *e, CoreVar *var, Span span)
{
    Core *core = core_new(e, CORE_VAR, span, var->type);
    core->var = var;
    return core;
}

Core *core_prim(Elab *e, PrimId id, Span span, Type type, int n_nats, const Nat *nats, int n_args, Core **args)
{
    Core *core = core_new(e, CORE_PRIM, span, type);
    core->prim.id = id;
    core->prim.n_nats = n_nats;
    Nat *own_nats = NEWN(e->ctx, Nat, n_nats + 1);
    Core **own_args = NEWN(e->ctx, Core *, n_args + 1);
    for (int i = 0; i < n_nats; i++)
        own_nats[i] = nats[i];
    for (int i = 0; i < n_args; i++)
        own_args[i] = args[i];
    core->prim.nats = own_nats;
    core->prim.n_args = n_args;
    core->prim.args = own_args;
    if (id == P_div || id == P_mod || id == P_shl || id == P_shr)
        doubt_operation(e, core);
    return core_done(e, core);
}

Core *core_proj(Elab *e, Core *value, int index, Span span)
{
    if (value->kind == CORE_TUPLE)
        return value->tuple.items[index];
    Type t = type_resolve(e, value->type);
    Core *core = core_new(e, CORE_PROJ, span, type_resolve(e, t->items[index]));
    core->proj.index = index;
    core->proj.value = value;
    return core_done(e, core);
}

CoreVar *core_var(Elab *e, const char *name, Type type, Span span)
{
    Ctx *ctx = e->ctx;
    CoreVar *var = NEW(ctx, CoreVar);
    var->id = e->next_var++;
    var->name = name ? name : "x";
    var->type = type;
    var->span = span;
    vec_push(ctx, &e->type_spans, NO_SPAN);
    type = type_resolve(e, type);
    if (type->kind == TY_IDX)
        var->nat = nat_var(ctx, var->name, nat_const(ctx, 0), nat_add_k(ctx, type->size, -1));
    return var;
}

bool core_is_atom(const Core *core)
{
    return core->kind == CORE_VAR || core->kind == CORE_LIT || core->kind == CORE_SIZE || core->kind == CORE_UNIT_ERROR;
}

/* What a name may stand for without computing anything twice: atoms, projections, tuples and views of them. An index has to be a
 * variable, so that sizes can speak about it. A scalar read from memory is computed. */
bool core_substitutable(const Elab *e, const Core *core)
{
    Type t = type_resolve(e, core->type);
    switch (core->kind) {
    case CORE_VAR:
    case CORE_LIT:
    case CORE_SIZE:
    case CORE_UNIT_ERROR:
        return true;
    case CORE_PROJ:
        return t->kind != TY_IDX && core_substitutable(e, core->proj.value);
    case CORE_TUPLE:
        for (int i = 0; i < core->tuple.n; i++)
            if (!core_substitutable(e, core->tuple.items[i]))
                return false;
        return true;
    case CORE_PRIM:
        if (prim_rows[core->prim.id].level != LEVEL_VIEW || prim_is_scatter(core->prim.id) || core->prim.id == P_readTogether) /* a scatter writes, and what is read is kept */
            return false;
        if (core_splatted(core) != core) /* a scalar as a vector */
            return core_substitutable(e, core_splatted(core));
        /* unzip gives a tuple of arrays and stays a view; a tuple read from an array is a read. */
        if (t->kind != TY_ARRAY && core->prim.id != P_unzip)
            return false;
        for (int i = 0; i < core->prim.n_args; i++)
            if (core->prim.args[i]->kind != CORE_LAMBDA && !core_substitutable(e, core->prim.args[i]))
                return false;
        return true;
    case CORE_LAMBDA:
    case CORE_LET:
    case CORE_IF:
        return false;
    }
    return false;
}

/* Terms that each use of a name has as its own copy: else names that stand for names grow without end. */
enum {
    LONGEST_COPY = 24,     /* of an array of views */
    LONGEST_CONDITION = 16 /* of a condition over sizes */
};

/* Terms in the tree, up to a bound: shared parts count each time, since later passes walk the tree. */
static int weigh(const Core *core, int bound)
{
    int n = 1;
    if (bound <= 0)
        return 1;
    switch (core->kind) {
    case CORE_VAR:
    case CORE_LIT:
    case CORE_SIZE:
    case CORE_UNIT_ERROR:
        break;
    case CORE_PRIM:
        for (int i = 0; i < core->prim.n_args; i++)
            n += weigh(core->prim.args[i], bound - n);
        break;
    case CORE_LAMBDA:
        n += weigh(core->lambda.body, bound - n);
        break;
    case CORE_LET:
        n += weigh(core->let.value, bound - n);
        n += weigh(core->let.body, bound - n);
        break;
    case CORE_TUPLE:
        for (int i = 0; i < core->tuple.n; i++)
            n += weigh(core->tuple.items[i], bound - n);
        break;
    case CORE_PROJ:
        n += weigh(core->proj.value, bound - n);
        break;
    case CORE_IF:
        n += weigh(core->cond.cond, bound - n);
        n += weigh(core->cond.then, bound - n);
        n += weigh(core->cond.otherwise, bound - n);
        break;
    }
    return n;
}

/* ---- lets --------------------------------------------------------------------------------------------------------- */

LetBind *let_bind(Elab *e, CoreVar *var, Core *value, LetBind *outer)
{
    LetBind *l = NEW(e->ctx, LetBind);
    *l = (LetBind){var, value, outer};
    return l;
}

LetBind *lets_join(Elab *e, LetBind *outer, LetBind *inner)
{
    if (!inner || !outer)
        return inner ? inner : outer;
    LetBind *first = NULL, **at = &first;
    for (; inner; inner = inner->outer) {
        *at = let_bind(e, inner->var, inner->value, NULL);
        at = &(*at)->outer;
    }
    *at = outer;
    return first;
}

Core *lets_wrap(Elab *e, LetBind *lets, Core *body)
{
    for (; lets; lets = lets->outer) {
        Core *let = core_new(e, CORE_LET, body->span, body->type);
        let->let.var = lets->var;
        let->let.value = lets->value;
        let->let.body = body;
        body = core_done(e, let);
    }
    return body;
}

/* ---- values ------------------------------------------------------------------------------------------------------- */

Value v_error(Span span) { return (Value){.kind = V_ERROR, .span = span}; }

Value v_core(Elab *e, Core *core)
{
    (void)e;
    if (core->kind == CORE_UNIT_ERROR || core->type->kind == TY_ERROR)
        return v_error(core->span);
    return (Value){.kind = V_CORE, .span = core->span, .core = core};
}

Value v_nat(Nat nat, Span span) { return (Value){.kind = V_NAT, .span = span, .nat = nat}; }
Value v_fun(const Fun *fun, Span span) { return (Value){.kind = V_FUN, .span = span, .fun = fun}; }

Value v_with_lets(Elab *e, Value v, LetBind *outer)
{
    if (!outer || v.kind == V_ERROR || v.kind == V_TYPE)
        return v;
    v.lets = lets_join(e, outer, v.lets);
    v.bound = false;
    return v;
}

/* Comparisons of sizes and indices: an `if` learns from them, so their name stands for them. */
static bool is_condition(const Core *core)
{
    if (core->kind == CORE_SIZE || core->kind == CORE_LIT)
        return true;
    if (core->kind != CORE_PRIM)
        return false;
    switch ((int)core->prim.id) {
    case P_and: case P_or: case P_not: case P_lt: case P_le: case P_gt: case P_ge: case P_eq: case P_ne:
        break;
    default:
        return false;
    }
    for (int i = 0; i < core->prim.n_args; i++)
        if (!is_condition(core->prim.args[i]))
            return false;
    return true;
}

Value bind_value(Elab *e, Value v, const char *name, Span span, LetBind **lets)
{
    *lets = lets_join(e, *lets, v.lets);
    v.lets = NULL;
    if (v.bound)
        return v;
    v.bound = true;
    if (v.kind == V_TUPLE) {
        Value *items = NEWN(e->ctx, Value, v.tuple.n);
        for (int i = 0; i < v.tuple.n; i++)
            items[i] = bind_value(e, v.tuple.items[i], name ? ctx_printf(e->ctx, "%s%d", name, i + 1) : NULL, span, lets);
        v.tuple.items = items;
        return v;
    }
    if (v.kind != V_CORE)
        return v;
    while (v.core->kind == CORE_LET) {
        *lets = let_bind(e, v.core->let.var, v.core->let.value, *lets);
        v.core = v.core->let.body;
    }
    if (core_is_atom(v.core))
        return v;
    if (core_substitutable(e, v.core)) {
        v.weight = weigh(v.core, LONGEST_COPY + 1);
        if (v.weight <= LONGEST_COPY || type_resolve(e, v.core->type)->kind != TY_ARRAY)
            return v;
    }
    if (is_condition(v.core)) {
        v.weight = weigh(v.core, LONGEST_CONDITION + 1);
        if (v.weight <= LONGEST_CONDITION)
            return v;
    }
    if (v.core->kind == CORE_TUPLE) {
        /* Its items have the names that a pattern gives them later; until then they are numbered. */
        Core *tuple = core_new(e, CORE_TUPLE, v.core->span, v.core->type);
        tuple->tuple.n = v.core->tuple.n;
        tuple->tuple.items = NEWN(e->ctx, Core *, tuple->tuple.n);
        for (int i = 0; i < tuple->tuple.n; i++) {
            Value item = bind_value(e, v_core(e, v.core->tuple.items[i]), name ? ctx_printf(e->ctx, "%s%d", name, i + 1) : NULL, span, lets);
            tuple->tuple.items[i] = item.kind == V_CORE ? item.core : core_bad(e, span);
        }
        v.core = core_done(e, tuple);
        v.weight = weigh(v.core, LIMIT_CORE_TERMS);
        return v;
    }
    CoreVar *var = core_var(e, name, v.core->type, span);
    *lets = let_bind(e, var, v.core, *lets);
    v.core = core_of_var(e, var, v.span);
    return v;
}

/* ---- environments ------------------------------------------------------------------------------------------------- */

const Env *env_push(Elab *e, const Env *env, const char *name, Value value, Span span)
{
    Env *new = NEW(e->ctx, Env);
    value.quotient = NULL; /* by its name it is meant */
    *new = (Env){.name = name, .value = value, .span = span, .root = env_root(env)};
    new->names = name_map_put(e->ctx, env->names, name, new);
    if (e->notes)
        note_value(e, span, value);
    return new;
}

const Env *env_root(const Env *env) { return env->root ? env->root : env; }

const Env *env_find(const Env *env, const char *name, const Env **root)
{
    const Env *found = name_map_get(env->names, name);
    if (!found && root)
        *root = env_root(env);
    return found;
}

/* ---- to data ------------------------------------------------------------------------------------------------------ */

static bool mismatch_kind(Elab *e)
{
    e->mis = (Mismatch){.kind = MIS_KIND};
    return false;
}

/* A size or an integer literal as data. */
static bool nat_to_core(Elab *e, Value v, Type want, Core **core)
{
    Ctx *ctx = e->ctx;
    Type head = want ? type_resolve(e, want) : NULL;
    if (head && head->kind == TY_IDX) {
        *core = core_size(e, v.span, v.nat, head);
        if (!nat_le(ctx, e->facts, nat_const(ctx, 0), v.nat) || !nat_lt(ctx, e->facts, v.nat, head->size)) {
            Diag *d = elab_error(e, E0308, v.span, "`%s` is not known to be an index below %s", nat_text(ctx, v.nat), nat_text(ctx, head->size));
            NatRange r = nat_range(ctx, e->facts, v.nat);
            if (nat_is_const(v.nat)) {
                diag_label(ctx, d, "an %s is at least 0 and below %s", tyt(e, head), nat_text(ctx, head->size));
                if (!nat_is_const(head->size))
                    diag_note(ctx, d, NO_SPAN, "where any number is meant, the indices beside it become numbers by `cast(i32)(i)`");
            }
            else if (!r.has_lo || r.lo < 0)
                diag_label(ctx, d, "0 <= %s is not known", nat_text(ctx, v.nat));
            else
                diag_label(ctx, d, "%s < %s is not known", nat_text(ctx, v.nat), nat_text(ctx, head->size));
            *core = core_bad(e, v.span);
        }
        return true;
    }
    if (head && head->kind == TY_ERROR) {
        *core = core_bad(e, v.span);
        return true;
    }
    if (v.from_idx) {
        e->mis = (Mismatch){.kind = MIS_KIND, .from_idx = true};
        return false;
    }
    bool scalar = !head || (head->kind == TY_SCALAR && head->scalar != SC_BOOL) || head->kind == TY_VEC || head->kind == TY_META;
    if (!scalar)
        return mismatch_kind(e);
    Type t = meta_new(e, false, true, MASK_NUM, v.literal ? SC_I32 : SC_I64, v.span);
    if (want && !type_unify(e, t, want))
        return mismatch_kind(e);
    t = type_resolve(e, t);
    if (v.literal && nat_is_const(v.nat)) {
        int64_t k = v.nat->value;
        Lit lit = {.negative = k < 0, .mag = k < 0 ? 0 - (uint64_t)k : (uint64_t)k};
        *core = literal_core(e, lit, v.inexact, t, v.span);
    } else {
        *core = core_size(e, v.span, v.nat, t);
    }
    return true;
}

/* An index of an array as one of another array, where it is known to be one. */
static bool widen_index(Elab *e, Value v, Type head, Core **core)
{
    Nat place;
    LetBind *lets = NULL;
    if (head->kind != TY_IDX || type_resolve(e, v.core->type)->kind != TY_IDX || !value_to_nat(e, v, &place, &lets) ||
        !nat_lt(e->ctx, e->facts, place, head->size))
        return false;
    *core = lets_wrap(e, lets, core_size(e, v.span, place, head));
    return true;
}

bool value_to_core(Elab *e, Value v, Type want, Core **core)
{
    Type head = want ? type_resolve(e, want) : NULL;
    switch (v.kind) {
    case V_ERROR:
        *core = core_bad(e, v.span);
        return true;
    case V_CORE:
        *core = v.lets ? lets_wrap(e, v.lets, v.core) : v.core;
        if (want && !type_unify(e, want, v.core->type)) {
            if (widen_index(e, v, head, core))
                return true;
            if (e->mis.kind != MIS_SIZE) {
                e->mis.actual = v.core->type;
                if (type_resolve(e, v.core->type)->kind == TY_IDX && head->kind == TY_SCALAR)
                    e->mis.from_idx = true;
            }
            return false;
        }
        return true;
    case V_NAT:
        if (!nat_to_core(e, v, want, core))
            return false;
        doubt_quotient(e, v.quotient, *core, NO_SPAN);
        *core = lets_wrap(e, v.lets, *core);
        return true;
    case V_LIT: {
        if (head && head->kind == TY_ERROR) {
            *core = core_bad(e, v.span);
            return true;
        }
        bool is_float = v.lit->is_float;
        Type t = meta_new(e, false, true, is_float ? MASK_FLOAT : MASK_NUM, is_float || v.lit->name ? SC_F32 : SC_I32, v.span);
        if (want && !type_unify(e, t, want))
            return mismatch_kind(e);
        *core = lets_wrap(e, v.lets, literal_core(e, *v.lit, false, type_resolve(e, t), v.span));
        return true;
    }
    case V_TUPLE: {
        if (head && head->kind != TY_TUPLE && head->kind != TY_META)
            return mismatch_kind(e);
        if (head && head->kind == TY_TUPLE && head->n_items != v.tuple.n)
            return mismatch_kind(e);
        Core *tuple = core_new(e, CORE_TUPLE, v.span, NULL);
        if (e->stop) {
            *core = core_bad(e, v.span);
            return true;
        }
        tuple->tuple.n = v.tuple.n;
        tuple->tuple.items = NEWN(e->ctx, Core *, v.tuple.n);
        Type *types = NEWN(e->ctx, Type, v.tuple.n);
        for (int i = 0; i < v.tuple.n; i++) {
            if (!value_to_core(e, v.tuple.items[i], head && head->kind == TY_TUPLE ? head->items[i] : NULL, &tuple->tuple.items[i]))
                return false;
            types[i] = tuple->tuple.items[i]->type;
        }
        tuple->type = type_tuple(e->ctx, v.tuple.n, types);
        if (!tuple_fits(e, tuple->type, v.span)) {
            *core = core_bad(e, v.span);
            return true;
        }
        if (head && head->kind == TY_META && !type_unify(e, head, tuple->type))
            return false;
        if (tuple->type->kind == TY_ERROR)
            *core = core_bad(e, v.span);
        else
            *core = lets_wrap(e, v.lets, core_done(e, tuple));
        return true;
    }
    case V_GEN: {
        Value forced = force_gen(e, v, NULL, NULL, want);
        if (forced.kind == V_GEN)
            return mismatch_kind(e);
        return value_to_core(e, forced, want, core);
    }
    case V_FUN:
    case V_TYPE:
    case V_HOLE:
        break;
    }
    return mismatch_kind(e);
}

bool value_typed(Elab *e, Value *v, Type want)
{
    LetBind *lets = v->kind == V_CORE ? v->lets : NULL;
    if (lets)
        v->lets = NULL;
    Core *core;
    if (!value_to_core(e, *v, want, &core))
        return false;
    Span span = v->span;
    *v = v_core(e, core);
    v->span = span;
    v->lets = v->kind == V_CORE ? lets : NULL;
    return true;
}

/* The type itself, or the first of its components that is an array; NULL: none. */
static Type first_array(const Elab *e, Type t)
{
    Type found = t->kind == TY_ARRAY ? t : NULL;
    for (int i = 0; i < t->n_items && !found; i++)
        found = first_array(e, type_resolve(e, t->items[i]));
    return found;
}

static bool lacks_arguments(Value v) { return v.kind == V_FUN && unwrapped(v.fun)->n_args > 0; }

bool report_lacking(Elab *e, Value v)
{
    bool lacks = lacks_arguments(v);
    if (lacks)
        value_core(e, v);
    for (int i = 0; v.kind == V_TUPLE && i < v.tuple.n; i++)
        lacks |= report_lacking(e, v.tuple.items[i]);
    return lacks;
}

Core *value_core(Elab *e, Value v)
{
    Core *core;
    if (value_to_core(e, v, NULL, &core))
        return core;
    if (e->mis.kind == MIS_REPORTED)
        return core_bad(e, v.span);
    if (v.kind == V_FUN) {
        Diag *d = elab_error(e, E0311, v.span, lacks_arguments(v) ? "an argument is missing: a value is needed here, and this is still a function" : "this is a function, and data is needed here");
        diag_label(e->ctx, d, "%s", wants_text(e, v.fun));
        const Ast *bound = bound_to(e, v.span);
        if (bound)
            diag_note(e->ctx, d, bound->span, "`%s` is this", span_text(e, v.span));
        note_wanted(e, d, v.fun);
    } else if (v.kind == V_TYPE) {
        elab_error(e, E0324, v.span, "this is a type, and data is needed here");
    } else if (v.kind == V_GEN && is_lacking(e)) {
        e->failed = true;
    } else if (v.kind == V_GEN) {
        Diag *d = elab_error(e, E0317, v.span, "the length of this `generate` is not known");
        Type result = e->result ? type_resolve(e, e->result) : NULL;
        result = result ? first_array(e, result) : NULL;
        Span own = v.fun->span;
        if (own.file && (own.file != v.span.file || own.hi < v.span.lo || own.lo > v.span.hi))
            diag_note(e->ctx, d, own, "it stands here");
        propose_length(e, d, v.fun, result ? result->size : NULL);
    } else if (v.kind == V_NAT && v.from_idx) {
        Diag *d = elab_error(e, E0328, v.span, "an index is no number: its range is part of its type");
        propose_around(e, d, v.span, "write $", "cast(i32)(", ")");
    } else {
        elab_error(e, E0301, v.span, "data is needed here, and this is %s", value_text(e, v));
    }
    return core_bad(e, v.span);
}

/* ---- to sizes ----------------------------------------------------------------------------------------------------- */

bool value_is_natable(Elab *e, Value v)
{
    return v.kind == V_NAT || (v.kind == V_CORE && type_resolve(e, v.core->type)->kind == TY_IDX);
}

bool value_to_nat(Elab *e, Value v, Nat *nat, LetBind **lets)
{
    if (v.kind == V_NAT) {
        *lets = lets_join(e, *lets, v.lets);
        *nat = v.nat;
        return true;
    }
    if (!value_is_natable(e, v))
        return false;
    v = bind_value(e, v, "pos", v.span, lets);
    if (v.kind != V_CORE) {
        *nat = nat_error(e->ctx);
        return true;
    }
    if (v.core->kind == CORE_VAR && !v.core->var->nat) {
        /* Its type was not known to be an index when it was made. */
        Type t = type_resolve(e, v.core->type);
        v.core->var->nat = nat_var(e->ctx, v.core->var->name, nat_const(e->ctx, 0), nat_add_k(e->ctx, t->size, -1));
    }
    *nat = v.core->kind == CORE_VAR ? v.core->var->nat : v.core->kind == CORE_SIZE ? v.core->size : nat_error(e->ctx);
    return true;
}
