/* What patterns bind, and what names mean. See Note [Static values]. */
#include "frontend/elab_internal.h"

/* ---- binding -------------------------------------------------------------------------------------------------------- */

Value project(Elab *e, Value v, int64_t index, Span span)
{
    Ctx *ctx = e->ctx;
    if (v.kind == V_ERROR)
        return v;
    if (v.kind == V_TUPLE) {
        if (index >= 1 && index <= v.tuple.n) {
            Value item = v.tuple.items[index - 1];
            item.span = span;
            return v_with_lets(e, item, v.lets);
        }
        elab_error(e, E0315, span, "this tuple has %d components, and number %lld is asked for", v.tuple.n, (long long)index);
        return v_error(span);
    }
    Core *core = value_core(e, v);
    if (core->kind == CORE_UNIT_ERROR)
        return v_error(span);
    Type t = type_resolve(e, core->type);
    if (t->kind != TY_TUPLE) {
        Diag *d = elab_error(e, E0315, span, "`.%lld` takes a component of a tuple, and this is %s", (long long)index, tyt(e, t));
        if (t->kind == TY_ARRAY)
            diag_note(ctx, d, NO_SPAN, type_resolve(e, t->elem)->kind == TY_TUPLE ? "`unzip` makes an array of tuples a tuple of arrays" : "the element at i is `xs[i]`");
        return v_error(span);
    }
    if (index < 1 || index > t->n_items) {
        Diag *d = elab_error(e, E0315, span, "%s has %d components, and number %lld is asked for", tyt(e, t), t->n_items, (long long)index);
        diag_label(ctx, d, "components are counted from 1");
        if (index == 0)
            propose_counted(e, d, span);
        else
            diag_help(ctx, d, "the last one is `.%d`", t->n_items);
        return v_error(span);
    }
    return v_core(e, core_proj(e, core, (int)index - 1, span));
}

/* Whether a `let` in the text takes a value apart by the pattern that stands there. */
static bool is_let_pattern(const Ast *ast, Span span)
{
    while (ast && !(ast->kind == AST_LET && span_holds(ast->let.pattern->span, span))) {
        const Ast *next = NULL;
        for (int i = 0; i < ast_children(ast) && !next; i++)
            if (span_holds(ast_child(ast, i)->span, span))
                next = ast_child(ast, i);
        ast = next;
    }
    return ast != NULL;
}

/* A pattern of two names meets what is no tuple: a value of `let`, or the argument of a function. */
static void propose_one_name(Elab *e, Diag *d, const Pattern *pattern)
{
    const Item *item = item_holding(e, pattern->span);
    if (!item || !item->body || !is_let_pattern(item->body, pattern->span))
        diag_help(e->ctx, d, "if one of them is the position of an element, make pairs: `zip(xs, generate(fun i => i)) |> map(fun (x, i) => ...)`");
    else {
        const char *name = pattern->items[0].name ? pattern->items[0].name : "a";
        diag_propose(e->ctx, d, pattern->span, "one value has one name: $", "%s", name);
        diag_or_else(e->ctx, d);
        diag_help(e->ctx, d, "one value has one name: `let %s = ...`", name);
    }
}

static bool bind_tuple(Elab *e, const Pattern *pattern, Value v, const Env **env, LetBind **lets)
{
    int have = -1;
    if (v.kind == V_TUPLE) {
        have = v.tuple.n;
        *lets = lets_join(e, *lets, v.lets);
        v.lets = NULL;
    } else if (v.kind == V_CORE) {
        *lets = lets_join(e, *lets, v.lets);
        v.lets = NULL;
        while (v.core->kind == CORE_LET) {
            *lets = let_bind(e, v.core->let.var, v.core->let.value, *lets);
            v.core = v.core->let.body;
        }
        Type t = type_resolve(e, v.core->type);
        have = t->kind == TY_TUPLE ? t->n_items : -1;
        if (v.core->kind != CORE_TUPLE)
            v = bind_value(e, v, "t", pattern->span, lets);
    } else if (v.kind != V_NAT && v.kind != V_LIT) {
        value_core(e, v);
        return false;
    }
    if (have != pattern->n_items) {
        Diag *d;
        if (have < 0)
            d = elab_error(e, E0316, pattern->span, "this pattern takes a tuple of %d apart, and meets %s", pattern->n_items, value_text(e, v));
        else
            d = elab_error(e, E0316, pattern->span, "this pattern takes a tuple of %d apart, and meets %s with %d components", pattern->n_items, value_text(e, v), have);
        if (v.span.file && v.span.lo != pattern->span.lo)
            diag_note(e->ctx, d, v.span, "from here");
        propose_nested(e, d, pattern, v);
        Type elem = v.kind == V_CORE && type_resolve(e, v.core->type)->kind == TY_ARRAY ? type_resolve(e, type_resolve(e, v.core->type)->elem) : NULL;
        if (elem && elem->kind == TY_TUPLE && elem->n_items == 2 && pattern->n_items == 2) {
            propose_around(e, d, v.span, "an array of pairs becomes a pair of arrays by $", "", " |> unzip");
            diag_or_else(e->ctx, d);
        }
        if (have < 0 && !elem && pattern->n_items == 2)
            propose_one_name(e, d, pattern);
        if (elem)
            diag_note(e->ctx, d, NO_SPAN, "the elements of an array `p` are `p[0]`, `p[1]`");
        return false;
    }
    for (int i = 0; i < pattern->n_items; i++)
        if (!bind_pattern(e, &pattern->items[i], project(e, v, i + 1, pattern->items[i].span), env, lets))
            return false;
    return true;
}

bool bind_pattern(Elab *e, const Pattern *pattern, Value v, const Env **env, LetBind **lets)
{
    if (v.kind == V_ERROR)
        return false;
    int before = e->next_var;
    if (pattern->type) {
        const Ast *type = pattern->type;
        Nat n;
        if (type->kind == AST_ARROW) {
            if (v.kind != V_FUN) {
                elab_error(e, E0311, v.span, "a function %s is wanted, and this is %s", pattern_text(e, type, *env), value_text(e, v));
                return false;
            }
        } else if (ast_is_nat(type)) {
            if (!value_to_nat(e, v, &n, lets)) {
                elab_error(e, E0322, v.span, "a size is needed here, and this is %s", value_text(e, v));
                return false;
            }
            bool from_idx = v.from_idx || v.kind == V_CORE;
            v = v_nat(n, v.span);
            v.from_idx = from_idx;
        } else {
            Type t = eval_type(e, type, *env);
            if (t->kind == TY_ERROR)
                return false;
            if (!value_typed(e, &v, t)) {
                report_mismatch(e, E0301, v.span, t, "%s is declared %s, and this is %s", pattern->name ? ctx_printf(e->ctx, "`%s`", pattern->name) : "the pattern",
                                tyt(e, t), value_text(e, v));
                return false;
            }
            if (v.kind == V_ERROR)
                return false;
        }
    }
    if (pattern->n_items)
        return bind_tuple(e, pattern, v, env, lets);
    if (!pattern->name)
        return true;
    if (v.kind == V_TYPE) {
        elab_error(e, E0324, v.span, "this is a type, and a value is needed here");
        return false;
    }
    v = bind_value(e, v, pattern->name, pattern->span, lets);
    if (pattern->type && e->next_var > before && v.kind == V_CORE && v.core->kind == CORE_VAR && v.core->var->id >= before)
        set_type_span(e, v.core->var, pattern->type->span);
    *env = env_push(e, *env, pattern->name, v, pattern->span);
    return true;
}

/* A term carries its label; a function gives it to what it makes. */
Value label_value(Elab *e, Value v, const char *label)
{
    if (v.kind == V_CORE) {
        Core *core = NEW(e->ctx, Core);
        *core = *v.core;
        core->label = label;
        v.core = core;
    } else if (v.kind == V_FUN) {
        Fun *f = NEW(e->ctx, Fun);
        *f = *v.fun;
        f->label = label;
        v.fun = f;
    }
    return v;
}

/* ---- names ----------------------------------------------------------------------------------------------------------- */

Value fun_value(Elab *e, Fun f, Span span)
{
    Fun *own = NEW(e->ctx, Fun);
    *own = f;
    own->span = span;
    return v_fun(own, span);
}

static Value item_value(Elab *e, const Item *item, const FileScope *home, Span span, Type want)
{
    if (item->kind == ITEM_ERROR) {
        e->failed = true;
        return v_error(span);
    }
    if (item->kind == ITEM_RULE || item->kind == ITEM_STRATEGY) {
        Diag *d = elab_error(e, E0219, span, "`%s` is a %s, and no part of a program", item->name, item->kind == ITEM_RULE ? "rule" : "strategy");
        diag_note(e->ctx, d, NO_SPAN, "it is used after `lowered by`, or in a strategy");
        return v_error(span);
    }
    Value v = fun_value(e, (Fun){.kind = F_ITEM, .item = item, .home = home}, span);
    if (fun_arity(e, v.fun) > 0)
        return v;
    /* A definition without parameters is a value. */
    if (item->kind == ITEM_ENTRY) {
        Diag *d = elab_error(e, E0210, span, "`%s` is an entry, which only the outside can call", item->name);
        diag_note(e->ctx, d, NO_SPAN, "a `def` with its body can be used by both");
        return v_error(span);
    }
    if (ctx_near_end(e->ctx)) {
        elab_too_deep(e, span);
        return v_error(span);
    }
    if (is_unusable(e, item))
        return v_error(span);
    const Ast *result = item->result;
    const FileScope *at = home;
    Frame *frame = NEW(e->ctx, Frame);
    *frame = (Frame){item, span, e->frame};
    const Frame *outer = e->frame;
    e->frame = frame;
    Type t = result && result->kind != AST_ARROW && !ast_is_nat(result) ? eval_type(e, result, at->root) : NULL;
    Value r = item->body && (!t || t->kind != TY_ERROR) ? eval(e, item->body, at->root, t ? t : want) : v_error(span);
    Core *core;
    if (t && r.kind != V_ERROR) {
        if (value_to_core(e, r, t, &core)) {
            r = v_core(e, core);
        } else {
            report_mismatch(e, E0312, r.span, t, "the body of `%s` is %s, and its header says %s", item->name, value_text(e, r), tyt(e, t));
            r = v_error(span);
        }
    }
    e->frame = outer;
    r.span = span;
    return r;
}

static Value device_size(Elab *e, const char *name, Span span)
{
    NatDevice which = nat_device_find(name);
    Nat *at = which == NAT_NUM_SM ? &e->num_sm : &e->max_resident;
    if (!*at)
        *at = nat_device_var(e->ctx, which);
    return v_nat(*at, span);
}

Value eval_name(Elab *e, const char *name, Span span, const Env *env, Type want)
{
    const Env *root = NULL;
    const Env *found = env_find(env, name, &root);
    if (found) {
        Value v = found->value;
        if (v.kind == V_HOLE) {
            Hole *hole = v.hole;
            if (!hole->filled) {
                elab_error(e, E0317, span, "`%s` is not known here", name);
                return v_error(span);
            }
            v = hole->kind == KIND_NAT ? v_nat(hole->nat, span) : (Value){.kind = V_TYPE, .type = hole->type};
        }
        if (v.kind == V_CORE) {
            if (core_is_atom(v.core)) {
                /* Its own span, for messages; the term itself may stand in several places. */
                Core *core = v.core;
                if (core->kind == CORE_VAR)
                    core = core_of_var(e, core->var, span);
                v.core = core;
            } else if (v.weight > 0) {
                e->terms += v.weight < LIMIT_CORE_TERMS ? v.weight : LIMIT_CORE_TERMS;
                (void)core_new(e, CORE_UNIT_ERROR, span, type_error(e->ctx)); /* checks the count */
            }
        }
        v.span = span;
        return v;
    }
    const FileScope *home = NULL;
    const Item *item = root && root->scope ? scope_find(root->scope, name, &home) : NULL;
    if (item)
        return item_value(e, item, home, span, want);
    PrimId prim = prim_find(name);
    if (prim != P_COUNT)
        return fun_value(e, (Fun){.kind = F_PRIM, .prim = prim}, span);
    Scalar scalar;
    switch (builtin_find(name)) {
    case BUILTIN_SCALAR:
        scalar_find(name, &scalar);
        return (Value){.kind = V_TYPE, .span = span, .type = type_scalar(e->ctx, scalar)};
    case BUILTIN_CONST:
        return named_constant(e, name, NULL, span);
    case BUILTIN_BOOL:
        return v_core(e, core_bool(e, span, name[0] == 't'));
    case BUILTIN_NATFN:
        return fun_value(e, (Fun){.kind = F_NATFN, .name = name}, span);
    case BUILTIN_DEVICE:
        return device_size(e, name, span);
    case BUILTIN_KIND:
    case BUILTIN_TYPE:
    {
        const Foreign *type = foreign_find(name, strlen(name), FOREIGN_TYPE);
        Diag *d = elab_error(e, E0324, span, "`%s` belongs into types, and a value is needed here", name);
        if (type && type->instead)
            diag_propose(e->ctx, d, span, "a value is converted by $", "cast(%s)", type->instead);
        return v_error(span);
    }
    case BUILTIN_HALVING: {
        Diag *d = elab_error(e, E0329, span, "`halving` gives the list of an `unroll`, and is no value");
        diag_help(e->ctx, d, "write `unroll d in halving(32) (...)`");
        return v_error(span);
    }
    case BUILTIN_TOMEM: {
        Diag *d = elab_error(e, E0214, span, "`toMem` needs a space");
        diag_help(e->ctx, d, "write `toMem[shared]`, or global or private");
        return v_error(span);
    }
    case BUILTIN_NONE:
        break;
    }
    /* The resolver reported it, unless it is a parameter of the same header further on. */
    if (!e->program->failed) {
        Diag *d = elab_error(e, E0217, span, "`%s` is not known yet here", name);
        diag_label(e->ctx, d, "a default uses the sizes before it");
    }
    e->failed = true;
    return v_error(span);
}
