/* What a rule's `where` says: each condition is asked by one function. See rule_conditions.def. */
#include "ir/absorb.h"
#include "frontend/rule_using.h"
#include "ir/band.h"
#include "ir/choice.h"
#include "ir/exchange.h"
#include "ir/key.h"
#include "ir/neighbours.h"
#include "ir/operator.h"

static const struct {
    const char *name, *args;
    int n, found;
    RuleAsked when;
    const char *takes;
} condition_rows[] = {
#define CONDITION(name, args, found, when, takes) {#name, args, sizeof args - 1, found, when, takes},
#include "frontend/rule_conditions.def"
#undef CONDITION
};

bool rule_condition_help(StrBuf *out, const char *name)
{
    bool all = strcmp(name, "conditions") == 0, found = all;
    if (all)
        sb_puts(out, "What the `where` of a rule may say, besides conditions over sizes:\n\n");
    for (int k = 0; k < RULE_CONDITIONS; k++)
        if (all || strcmp(condition_rows[k].name, name) == 0) {
            sb_printf(out, all ? "  %s: %s\n" : "`%s` is a condition of rules. It takes %s.\n", condition_rows[k].name, condition_rows[k].takes);
            found = true;
        }
    if (found)
        sb_printf(out, "%sThe table of docs/strategies.md says when %s.\n", all ? "\n" : "", all ? "each of them holds" : "it holds");
    return found;
}

bool rule_refuse(Using *u, const char *words)
{
    if (!*u->why)
        *u->why = words;
    return false;
}

RuleCondition rule_condition(const Ast *cond)
{
    int k = RULE_CONDITIONS;
    if (cond->kind == AST_CALL && cond->call.fn->kind == AST_NAME)
        for (k = 0; k < RULE_CONDITIONS && strcmp(condition_rows[k].name, cond->call.fn->name.text) != 0;)
            k++;
    return (RuleCondition)k;
}

bool rule_finds(RuleCondition kind, RuleAsked when, int arg)
{
    return kind != RULE_CONDITIONS && condition_rows[kind].when == when && arg >= condition_rows[kind].n - condition_rows[kind].found && arg < condition_rows[kind].n;
}

/* The condition is not written as it has to be. */
static bool refuse_arguments(Using *u, const Ast *cond)
{
    RuleCondition kind = rule_condition(cond);
    return rule_refuse(u, ctx_printf(u->e->ctx, "`%s` takes %s", condition_rows[kind].name, condition_rows[kind].takes));
}

/* The parameter of the rule that this names: which one; -1. */
static int param_of(const Item *rule, const Ast *ast)
{
    for (int i = 0; i < rule->n_params && ast->kind == AST_NAME; i++)
        if (rule->params[i].name == ast->name.text)
            return i;
    return -1;
}

static const char *param_text(const Param *param)
{
    if (!param)
        return "no parameter of the rule";
    ParamKind kind = param_kind(param);
    return kind == KIND_NAT ? "a size" : kind == KIND_FUN ? "a function" : kind_is_type(kind) ? "a type" : "data";
}

/* Another name, or an expression, may be what is asked for. */
static bool is_of_kind(char letter, const Param *param)
{
    ParamKind kind = param ? param_kind(param) : KIND_VALUE;
    switch (letter) {
    case 'f': return !param || kind == KIND_FUN;
    case 'd': return !param || kind == KIND_VALUE;
    case 's': return param && kind == KIND_NAT;
    default: return true;
    }
}

const Ast *rule_condition_in(const Ast *cond)
{
    const Ast *found = rule_condition(cond) == RULE_CONDITIONS ? NULL : cond;
    for (int i = 0; i < ast_children(cond) && !found; i++)
        found = rule_condition_in(ast_child(cond, i));
    return found;
}

void rule_condition_check(Ctx *ctx, const Item *rule, const Ast *cond, const Ast *of)
{
    RuleCondition kind = rule_condition(cond);
    Diag *d = NULL;
    if (cond != of) {
        d = diag_error(ctx, E0804, cond->span, "`%s` stands alone: `and`, `or` and `not` combine conditions over sizes", condition_rows[kind].name);
        diag_help(ctx, d, "a comma separates conditions, as in `where associative(op), n %% 2 == 0`");
        return;
    }
    const int n = cond->call.n, most = condition_rows[kind].n;
    if (n != most)
        d = diag_error(ctx, E0804, cond->span, "`%s` takes %d argument%s, and this has %d", condition_rows[kind].name, most, most == 1 ? "" : "s", n);
    for (int k = 0; k < n && !d; k++) {
        const int at = param_of(rule, cond->call.items[k]);
        const Param *param = at < 0 ? NULL : &rule->params[at];
        if (!is_of_kind(condition_rows[kind].args[k], param))
            d = diag_error(ctx, E0804, cond->call.items[k]->span, "`%s` takes something else here: this is %s", condition_rows[kind].name, param_text(param));
    }
    if (d)
        diag_note(ctx, d, NO_SPAN, "`%s` takes %s", condition_rows[kind].name, condition_rows[kind].takes);
}

/* ---- its arguments -------------------------------------------------------------------------------------------------------- */

/* The function that is a parameter of the rule: which one; -1. */
static int function_param(const Using *u, const Ast *ast)
{
    const int i = param_of(u->rule, ast);
    return i >= 0 && param_kind(&u->rule->params[i]) == KIND_FUN ? i : -1;
}

static const Core *function_named(const Using *u, const Ast *ast)
{
    int k = function_param(u, ast);
    return k < 0 ? NULL : u->use->bound[k].core;
}

static const Core *data_named(const Using *u, const Ast *ast)
{
    int k = param_of(u->rule, ast);
    return k < 0 ? NULL : u->use->bound[k].core;
}

/* The size that is a parameter of the rule; NULL. */
static Hole *size_param(const Using *u, const Ast *ast)
{
    int k = param_of(u->rule, ast);
    return k >= 0 && u->holes[k].kind == KIND_NAT && u->holes[k].name ? &u->holes[k] : NULL;
}

static void fill(Hole *hole, Nat nat)
{
    hole->nat = nat;
    hole->filled = true;
}

/* ---- what has to hold ------------------------------------------------------------------------------------------------------- */

static bool has_law(const Fun *op, const char *law)
{
    if (op->kind == F_PRIM)
        return true;
    for (int i = 0; i < op->item->n_laws; i++)
        if (strcmp(op->item->laws[i].name, law) == 0)
            return true;
    return false;
}

static bool is_lawful(Using *u, const Ast *cond)
{
    const Core *lambda = function_named(u, cond->call.items[0]);
    const char *why = NULL;
    if (!lambda)
        return refuse_arguments(u, cond);
    return u->use->lawful(u->use->user, lambda, &why) || rule_refuse(u, ctx_printf(u->e->ctx, "elements that do not begin with the unit are combined, and %s; without `lowered by`, each part begins with it", why));
}

static bool is_unit(Using *u, const Fun *op, const Ast *cond)
{
    Elab *e = u->e;
    Core *core;
    if (!value_to_core(e, eval(e, cond->call.items[1], u->env, NULL), NULL, &core))
        return rule_refuse(u, "the unit is no data");
    note_unit(e, op, op->lambda, core, cond->span, u->rule->name);
    return true;
}

/* The laws of an operator. */
static bool operator_has(Using *u, const Ast *cond)
{
    Elab *e = u->e;
    RuleCondition law = rule_condition(cond);
    const char *name = cond->call.fn->name.text;
    Value f = eval(e, cond->call.items[0], u->env, NULL);
    const Fun *op = f.kind == V_FUN ? unwrapped(f.fun) : NULL;
    bool by_parts = op && op->kind == F_CORE && operator_parts(op->lambda, NULL, NULL);
    if (!op || !(by_parts || fun_has_laws(op)))
        return rule_refuse(u, ctx_printf(e->ctx, "`%s(%s)` is not known: it is no declared operator", name, pattern_text(e, cond->call.items[0], u->env)));
    if (law == RULE_lawful)
        return is_lawful(u, cond);
    if (law == RULE_isUnit)
        return is_unit(u, op, cond);
    return by_parts || has_law(op, name) || rule_refuse(u, ctx_printf(e->ctx, "`%s` is not declared %s", op->item->name, name));
}

/* Whether a function that the left side names computes the same as another one, in whatever order that stands. */
static bool is_same_as(Using *u, const Ast *cond)
{
    Elab *e = u->e;
    int k = function_param(u, cond->call.items[0]);
    const Core *lambda = k < 0 ? NULL : u->use->bound[k].core;
    Value other = eval(e, cond->call.items[1], u->env, NULL);
    if (!lambda || other.kind != V_FUN)
        return refuse_arguments(u, cond);
    Core *built = elab_lambda(e, other, u->rule->params[k].kind, u->env, NULL, cond->span);
    finish_literals(e);
    core_zonk(e, built);
    return core_alike(e->ctx, lambda, built) || rule_refuse(u, ctx_printf(e->ctx, "`%s` is another function", u->rule->params[k].name));
}

static bool contains_array(Type type)
{
    bool found = type->kind == TY_ARRAY;
    for (int i = 0; i < type->n_items && !found; i++)
        found = contains_array(type->items[i]);
    return found;
}

/* scalars(xs): no element of xs is an array, or has one. */
static bool is_of_scalars(Using *u, const Ast *cond)
{
    const Core *array = data_named(u, cond->call.items[0]);
    if (!array || array->type->kind != TY_ARRAY)
        return refuse_arguments(u, cond);
    return !contains_array(array->type->elem) || rule_refuse(u, ctx_printf(u->e->ctx, "the elements of `%s` are arrays", cond->call.items[0]->name.text));
}

/* ---- what it finds --------------------------------------------------------------------------------------------------------- */

static Core *primitive_lambda(Elab *e, PrimId id, Type t, Span span)
{
    CoreVar **params = NEWN(e->ctx, CoreVar *, 2);
    Core **args = NEWN(e->ctx, Core *, 2);
    for (int i = 0; i < 2; i++) {
        params[i] = core_var(e, i ? "b" : "a", t, span);
        args[i] = core_of_var(e, params[i], span);
    }
    bool compares = id != P_min && id != P_max;
    Core *lambda = core_new(e, CORE_LAMBDA, span, compares ? type_scalar(e->ctx, SC_BOOL) : t);
    lambda->lambda.n = 2;
    lambda->lambda.params = params;
    lambda->lambda.body = core_prim(e, id, span, lambda->type, 0, NULL, 2, args);
    return core_done(e, lambda);
}

/* orders(op, 1, before, pick): op chooses by the first components, by `before`, and where these are equal by the second ones. */
static bool find_order(Using *u, const Ast *cond)
{
    int op = function_param(u, cond->call.items[0]), before = function_param(u, cond->call.items[2]), pick = function_param(u, cond->call.items[3]);
    const Ast *by = cond->call.items[1];
    const Core *lambda = op < 0 ? NULL : u->use->bound[op].core;
    ChoiceOrder order;
    if (!lambda || before < 0 || pick < 0 || by->kind != AST_INT || by->integer.value < 1 || by->integer.value > 2)
        return refuse_arguments(u, cond);
    int k = (int)by->integer.value - 1;
    if (!choice_order(u->e->ctx, lambda, k, &order))
        return rule_refuse(u, ctx_printf(u->e->ctx, "`%s` does not choose by its %s components, and of equal ones by the less of the others", u->rule->params[op].name, k ? "second" : "first"));
    Type t = lambda->lambda.params[0]->type->items[k];
    u->use->bound[before].core = primitive_lambda(u->e, order.before, t, lambda->span);
    u->use->bound[pick].core = primitive_lambda(u->e, order.pick, t, lambda->span);
    return true;
}

static Core *literal(Elab *e, ScalarValue value, Span span)
{
    Core *lit = core_new(e, CORE_LIT, span, type_scalar(e->ctx, value.type));
    lit->lit = value;
    return core_done(e, lit);
}

/* absorbs(f, unit, a, b): f((a, b)) is the unit. */
static bool find_absorbing(Using *u, const Ast *cond)
{
    const Core *f = data_named(u, cond->call.items[0]), *unit = data_named(u, cond->call.items[1]);
    int found[2] = {param_of(u->rule, cond->call.items[2]), param_of(u->rule, cond->call.items[3])};
    ScalarValue pads[2];
    if (!f || !unit || found[0] < 0 || found[1] < 0)
        return refuse_arguments(u, cond);
    if (!core_absorbing(f, unit, pads))
        return rule_refuse(u, ctx_printf(u->e->ctx, "no padding is known of which `%s` makes the unit", cond->call.items[0]->name.text));
    for (int i = 0; i < 2; i++)
        u->use->bound[found[i]].core = literal(u->e, pads[i], f->span);
    return true;
}

/* band(f, masks, lower, back, upper, ahead): f(x, masks[i][j]) is -inf unless lower*i <= j + back and j < upper*i + ahead. */
static bool find_band(Using *u, const Ast *cond)
{
    const Core *f = data_named(u, cond->call.items[0]), *masks = data_named(u, cond->call.items[1]);
    Hole *found[4];
    bool takes = f && masks;
    for (int i = 0; i < 4; i++) {
        found[i] = size_param(u, cond->call.items[i + 2]);
        takes &= found[i] != NULL;
    }
    if (!takes)
        return refuse_arguments(u, cond);
    Band band = core_band(u->e->ctx, f, masks);
    fill(found[0], band.lower);
    fill(found[1], band.back);
    fill(found[2], band.upper);
    fill(found[3], band.ahead);
    return true;
}

bool operator_commutes(const Core *lambda)
{
    const Item *op = lambda->lambda.op;
    for (int i = 0; op && i < op->n_laws; i++)
        if (strcmp(op->laws[i].name, "commutative") == 0)
            return true;
    return operator_parts(lambda, NULL, NULL);
}

/* commutes(op, c): c is 1 where op is known to commute. */
static bool find_commutes(Using *u, const Ast *cond)
{
    const Core *op = function_named(u, cond->call.items[0]);
    Hole *found = size_param(u, cond->call.items[1]);
    if (!op || !found)
        return refuse_arguments(u, cond);
    fill(found, nat_const(u->e->ctx, operator_commutes(op)));
    return true;
}

/* A number that data has, unless the strategy gives it. *at: where it goes. NULL, with the reason: the arguments are none. */
static const Core *data_with_number(Using *u, const Ast *cond, Hole **at)
{
    const Core *value = data_named(u, cond->call.items[0]);
    *at = size_param(u, cond->call.items[1]);
    if (value && *at)
        return value;
    refuse_arguments(u, cond);
    return NULL;
}

/* neighbours(xs, w): w neighbours of xs take 16 bytes of the widest array that is read for them. */
static bool find_neighbours(Using *u, const Ast *cond)
{
    Hole *at;
    const Core *value = data_with_number(u, cond, &at);
    if (value && !at->filled)
        fill(at, nat_const(u->e->ctx, core_neighbours(u->e->ctx, value)));
    return value != NULL;
}

/* across(xs, x): x is 1 where the last two dimensions are exchanged. */
static bool find_across(Using *u, const Ast *cond)
{
    Hole *at;
    const Core *value = data_with_number(u, cond, &at);
    if (value && !at->filled)
        fill(at, nat_const(u->e->ctx, core_is_across(value)));
    return value != NULL;
}

/* lanes(p): p lanes, of a warp or of a part of it, compute the place. */
static bool find_lanes(Using *u, const Ast *cond)
{
    Hole *at = size_param(u, cond->call.items[0]);
    Nat lanes = u->use->lanes;
    if (!at)
        return refuse_arguments(u, cond);
    if (!lanes)
        return rule_refuse(u, "no `mapWarp` is around it, so the rule wants `level warp`");
    if (at->filled && !nat_equal(u->e->ctx, u->e->facts, at->nat, lanes))
        return rule_refuse(u, ctx_printf(u->e->ctx, "`mapWarp` gives each element %s lanes here", nat_text(u->e->ctx, lanes)));
    fill(at, lanes);
    return true;
}

static int registers_of(Type type)
{
    int n = type->kind == TY_SCALAR && scalar_bytes(type->scalar) <= 4 ? 1 : type->kind == TY_TUPLE ? 0 : 2;
    for (int i = 0; i < type->n_items; i++)
        n += registers_of(type->items[i]);
    return n;
}

/* registers(x, c): x takes c registers. */
static bool find_registers(Using *u, const Ast *cond)
{
    Hole *at;
    const Core *value = data_with_number(u, cond, &at);
    if (value && contains_array(value->type))
        return rule_refuse(u, ctx_printf(u->e->ctx, "`%s` is no scalar or tuple of scalars", cond->call.items[0]->name.text));
    if (value && !at->filled)
        fill(at, nat_const(u->e->ctx, registers_of(value->type)));
    return value != NULL;
}

/* symmetric(f, xs, ys, s): s is 1 where xs and ys are the same arrays, and f takes their elements in either order. */
static bool find_symmetric(Using *u, const Ast *cond)
{
    const Core *f = data_named(u, cond->call.items[0]), *xs = data_named(u, cond->call.items[1]), *ys = data_named(u, cond->call.items[2]);
    Hole *at = size_param(u, cond->call.items[3]);
    if (!f || !xs || !ys || !at)
        return refuse_arguments(u, cond);
    if (!at->filled)
        fill(at, nat_const(u->e->ctx, core_alike(u->e->ctx, xs, ys) && core_exchanges(u->e->ctx, f)));
    return true;
}

/* ---- asking --------------------------------------------------------------------------------------------------------------- */

static bool (*const asked_by[RULE_CONDITIONS])(Using *, const Ast *) = {
    [RULE_associative] = operator_has, [RULE_commutative] = operator_has,   [RULE_isUnit] = operator_has,
    [RULE_lawful] = operator_has,      [RULE_sameAs] = is_same_as,          [RULE_scalars] = is_of_scalars,
    [RULE_orders] = find_order,        [RULE_absorbs] = find_absorbing,     [RULE_band] = find_band,
    [RULE_commutes] = find_commutes,   [RULE_neighbours] = find_neighbours, [RULE_across] = find_across,
    [RULE_registers] = find_registers, [RULE_lanes] = find_lanes, [RULE_symmetric] = find_symmetric,
};

static bool size_holds(Using *u, const Ast *cond)
{
    Value v = eval(u->e, cond, u->env, NULL);
    if (v.kind == V_CORE && v.core->kind == CORE_LIT && v.core->lit.i)
        return true;
    StrBuf sb;
    sb_init(&sb, u->e->ctx);
    put_cond(u->e, &sb, cond, u->env);
    bool wrong = v.kind == V_CORE && v.core->kind == CORE_LIT;
    return rule_refuse(u, ctx_printf(u->e->ctx, wrong ? "`%s` does not hold" : "`%s` is not known to hold", sb.text));
}

bool ask_conditions(Using *u, RuleAsked when)
{
    for (int i = 0; i < u->rule->n_where; i++) {
        const Ast *cond = u->rule->where[i];
        RuleCondition kind = rule_condition(cond);
        bool of_sizes = kind == RULE_CONDITIONS || env_find(u->env, cond->call.fn->name.text, NULL);
        if ((of_sizes ? CHECKS : condition_rows[kind].when) != when)
            continue;
        if (of_sizes) {
            if (!size_holds(u, cond))
                return false;
            continue;
        }
        if (cond->call.n != condition_rows[kind].n)
            return refuse_arguments(u, cond);
        if (!asked_by[kind](u, cond))
            return false;
    }
    return true;
}
