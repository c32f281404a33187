/* Rules at the place of use: see rule.h. The right side is evaluated as the body of a definition is, with functions and data that are core already. */
#include "ir/absorb.h"
#include "frontend/elab_internal.h"
#include "frontend/rule.h"
#include "ir/band.h"
#include "ir/choice.h"
#include "ir/key.h"
#include "ir/neighbours.h"
#include "ir/operator.h"

static FileScope *scope_of(const Program *p, const char *path)
{
    for (int i = 0; i < p->files.n; i++)
        if (strcmp(p->files.at[i]->path, path) == 0)
            return p->files.at[i];
    return p->files.at[0];
}

const char *program_path(const Program *p) { return p->files.at[0]->path; }

const Item *program_rule(const Program *p, const char *from, const char *name, const char **home)
{
    const FileScope *scope = scope_of(p, from), *found = NULL;
    const Item *item = scope_find(scope, name, &found);
    if (!item || (item->kind != ITEM_RULE && item->kind != ITEM_STRATEGY))
        return NULL;
    *home = found->path;
    return item;
}

void program_set_constants(Ctx *ctx, Program *program, int64_t (*value)(void *user, const char *name, int64_t written), void *user)
{
    for (int i = 0; i < program->files.n; i++)
        for (int k = 0; k < program->files.at[i]->items.n; k++) {
            Item *item = (Item *)(uintptr_t)program->files.at[i]->items.at[k];
            if (item->kind != ITEM_DEF || item->n_params || !ast_is_nat(item->result) || !item->body || item->body->kind != AST_INT)
                continue;
            Ast *body = NEW(ctx, Ast);
            *body = *item->body;
            body->integer.value = (uint64_t)value(user, item->name, (int64_t)body->integer.value);
            item->body = body;
        }
}

static Elab *elab_at(Ctx *ctx, Program *program, NatFacts *facts, int next_var)
{
    Elab *e = NEW(ctx, Elab);
    e->ctx = ctx;
    e->program = program;
    e->facts = nat_facts_new(ctx, facts);
    e->prim_root = NEW(ctx, Env);
    e->next_var = next_var;
    e->first_var = next_var;
    return e;
}

int rule_uses(const Core *body, const CoreVar *var) { return core_uses(body, var); }

Core *rule_substitute(Ctx *ctx, Program *program, Core *body, CoreVar *var, Core *by, int *next_var)
{
    Elab *e = elab_at(ctx, program, NULL, *next_var);
    Core *core = core_with(e, body, 1, &var, &by);
    *next_var = e->next_var;
    return core;
}

bool rule_is_view(Ctx *ctx, Program *program, const Core *term)
{
    Elab *e = elab_at(ctx, program, NULL, 0);
    return core_substitutable(e, term);
}

/* ---- functions ---------------------------------------------------------------------------------------------------- */

/* The declared or known operator that a lambda is; NULL when it is none. */
static const Fun *operator_of(Elab *e, const Core *lambda)
{
    Fun *f = NEW(e->ctx, Fun);
    f->span = lambda->span;
    if (lambda->lambda.op) {
        f->kind = F_ITEM;
        f->item = lambda->lambda.op;
        for (int i = 0; i < e->program->files.n; i++)
            for (int k = 0; k < e->program->files.at[i]->items.n; k++)
                if (e->program->files.at[i]->items.at[k] == f->item)
                    f->home = e->program->files.at[i];
        return f->home ? f : NULL;
    }
    const Core *body = lambda->lambda.body;
    if (lambda->lambda.n != 2 || body->kind != CORE_PRIM || body->prim.n_args != 2)
        return NULL;
    for (int i = 0; i < 2; i++)
        if (body->prim.args[i]->kind != CORE_VAR || body->prim.args[i]->var != lambda->lambda.params[i])
            return NULL;
    f->kind = F_PRIM;
    f->prim = body->prim.id;
    return fun_has_laws(f) ? f : NULL;
}

static Value function_value(Elab *e, const Core *lambda)
{
    const Fun *op = operator_of(e, lambda);
    if (op)
        return v_fun(op, lambda->span);
    Fun *f = NEW(e->ctx, Fun);
    *f = (Fun){.kind = F_CORE, .lambda = lambda, .span = lambda->span};
    return v_fun(f, lambda->span);
}

/* ---- how often a side names something -------------------------------------------------------------------------------- */

static int mentions(const Ast *ast, const char *name, int weight)
{
    int n = 0;
    switch (ast->kind) {
    case AST_NAME:
        return ast->name.text == name ? weight : 0;
    case AST_CALL:
    case AST_NAMED:
    case AST_BRACKET:
        n = mentions(ast->call.fn, name, weight);
        for (int i = 0; i < ast->call.n; i++)
            n += mentions(ast->call.items[i], name, weight);
        return n;
    case AST_TUPLE:
    case AST_LIST:
        for (int i = 0; i < ast->list.n; i++)
            n += mentions(ast->list.items[i], name, weight);
        return n;
    case AST_DOT:
    case AST_BINARY:
    case AST_PIPE:
    case AST_COMPOSE:
    case AST_ARROW:
    case AST_SEQ:
    case AST_ORELSE:
        return mentions(ast->bin.lhs, name, weight) + mentions(ast->bin.rhs, name, weight);
    case AST_UNARY:
        return mentions(ast->bin.lhs, name, weight);
    case AST_LAMBDA:
        return mentions(ast->lambda.body, name, 2);
    case AST_LET:
        return mentions(ast->let.value, name, weight) + mentions(ast->let.body, name, weight);
    case AST_IF:
        return mentions(ast->cond.cond, name, weight) + mentions(ast->cond.then, name, weight) + mentions(ast->cond.otherwise, name, weight);
    case AST_UNROLL:
        return mentions(ast->unroll.fn, name, 2);
    case AST_AT:
        return mentions(ast->at.what, name, weight);
    case AST_LABEL:
        return mentions(ast->label.operand, name, weight);
    case AST_ERROR:
    case AST_INT:
    case AST_FLOAT:
    case AST_BINDER:
    case AST_OPFUN:
        break;
    }
    return 0;
}

/* ---- what the parameters stand for ------------------------------------------------------------------------------------ */

typedef struct Using {
    Elab *e;
    RuleUse *use;
    const Item *rule;
    const Env *env;
    Hole *holes; /* beside the parameters: sizes and types */
    LetBind *lets;
    const char **why;
} Using;

static bool refuse(Using *u, const char *words)
{
    if (!*u->why)
        *u->why = words;
    return false;
}

/* Sizes and types first, as holes, so that parameters may be written in any order. */
static void open_holes(Using *u)
{
    u->holes = NEWN(u->e->ctx, Hole, u->rule->n_params + 1);
    for (int i = 0; i < u->rule->n_params; i++) {
        const Param *p = &u->rule->params[i];
        ParamKind kind = param_kind(p);
        if ((kind != KIND_NAT && !kind_is_type(kind)) || !p->name)
            continue;
        Hole *hole = &u->holes[i];
        *hole = (Hole){.name = p->name, .kind = kind, .filled = u->use->bound[i].nat != NULL, .nat = u->use->bound[i].nat};
        u->env = env_push(u->e, u->env, p->name, (Value){.kind = V_HOLE, .hole = hole}, p->span);
    }
}

/* The declared type of a function against that of the lambda that was found. */
static bool match_function(Using *u, const Param *p, const Core *lambda)
{
    const Ast *sig = p->kind;
    int k = 0;
    for (; sig->kind == AST_ARROW; sig = sig->bin.rhs, k++) {
        if (sig->bin.lhs->kind == AST_BINDER || k >= lambda->lambda.n)
            return refuse(u, ctx_printf(u->e->ctx, "`%s` takes other arguments", p->name));
        if (!match_type(u->e, sig->bin.lhs, u->env, lambda->lambda.params[k]->type, NO_SPAN))
            return refuse(u, ctx_printf(u->e->ctx, "`%s` takes %s", p->name, tyt(u->e, lambda->lambda.params[k]->type)));
    }
    if (k != lambda->lambda.n || !match_type(u->e, sig, u->env, lambda->lambda.body->type, NO_SPAN))
        return refuse(u, ctx_printf(u->e->ctx, "`%s` gives %s", p->name, tyt(u->e, lambda->lambda.body->type)));
    return true;
}

static bool match_parameters(Using *u)
{
    for (int i = 0; i < u->rule->n_params; i++) {
        const Param *p = &u->rule->params[i];
        ParamKind kind = param_kind(p);
        Core *core = u->use->bound[i].core;
        if (kind == KIND_NAT || kind_is_type(kind))
            continue;
        if (!core)
            return refuse(u, ctx_printf(u->e->ctx, "nothing says what `%s` is", p->name));
        if (kind == KIND_FUN && !match_function(u, p, core))
            return false;
        if (kind == KIND_VALUE && !match_type(u->e, p->kind, u->env, core->type, NO_SPAN))
            return refuse(u, ctx_printf(u->e->ctx, "`%s` is %s", p->name, tyt(u->e, core->type)));
    }
    return true;
}

/* Sizes that the left side writes: what has one unknown says it; what has none has to agree. */
static bool match_sizes(Using *u)
{
    bool *done = NEWN(u->e->ctx, bool, u->use->n_sizes + 1);
    for (int round = 0; round < u->use->n_sizes + 1; round++)
        for (int i = 0; i < u->use->n_sizes; i++) {
            const RuleSize *s = &u->use->sizes[i];
            if (done[i] || !pattern_solvable(s->pattern, u->env))
                continue;
            done[i] = true;
            if (!match_size(u->e, s->pattern, u->env, s->nat))
                return refuse(u, ctx_printf(u->e->ctx, "%s stands where the rule has %s", nat_text(u->e->ctx, s->nat), pattern_text(u->e, s->pattern, u->env)));
        }
    for (int i = 0; i < u->use->n_sizes; i++)
        if (!done[i])
            return refuse(u, ctx_printf(u->e->ctx, "nothing says what %s is", pattern_text(u->e, u->use->sizes[i].pattern, u->env)));
    return true;
}

/* What is still open in braces is the argument's: its sizes from the outermost on, then its elements. */
static void match_argument(Using *u)
{
    if (!u->use->n_extra)
        return;
    Type t = u->use->extra[0]->type;
    for (int i = 0; i < u->rule->n_params; i++) {
        Hole *hole = &u->holes[i];
        if (hole->name && hole->kind == KIND_NAT && !hole->filled && u->rule->params[i].implicit && t->kind == TY_ARRAY) {
            hole->nat = t->size;
            hole->filled = true;
            t = t->elem;
        }
    }
    for (int i = 0; i < u->rule->n_params; i++) {
        Hole *hole = &u->holes[i];
        if (hole->name && kind_is_type(hole->kind) && !hole->filled) {
            hole->type = t;
            hole->filled = true;
            return;
        }
    }
}

static bool all_known(Using *u)
{
    for (int i = 0; i < u->rule->n_params; i++)
        if (u->holes[i].name && !u->holes[i].filled && !u->rule->params[i].implicit)
            return refuse(u, ctx_printf(u->e->ctx, "nothing says what `%s` is: give it, as in `%s(...)`", u->holes[i].name, u->rule->name));
    return true;
}

/* Functions and data as values. Data that the right side names more than once is computed once. */
static void bind_parameters(Using *u)
{
    const Ast *right = u->rule->body->bin.rhs;
    for (int i = 0; i < u->rule->n_params; i++) {
        const Param *p = &u->rule->params[i];
        Core *core = u->use->bound[i].core;
        if (!core || !p->name)
            continue;
        Value v;
        if (param_kind(p) == KIND_FUN) {
            v = function_value(u->e, core);
        } else {
            v = v_core(u->e, core);
            if (mentions(right, p->name, 1) > 1)
                v = bind_value(u->e, v, p->name, core->span, &u->lets);
            v.bound = true;
        }
        u->env = env_push(u->e, u->env, p->name, v, p->span);
    }
}

/* ---- conditions --------------------------------------------------------------------------------------------------------- */

static bool has_law(const Fun *op, const char *law)
{
    if (op->kind == F_PRIM)
        return true;
    for (int i = 0; i < op->item->n_laws; i++)
        if (strcmp(op->item->laws[i].name, law) == 0)
            return true;
    return false;
}

static const struct {
    const char *name;
    int n;
    const char *takes;
} condition_rows[] = {
#define CONDITION(name, n, takes) {#name, n, takes},
#include "frontend/rule_conditions.def"
#undef CONDITION
};

RuleCondition rule_condition(const Ast *cond)
{
    int k = RULE_CONDITIONS;
    if (cond->kind == AST_CALL && cond->call.fn->kind == AST_NAME)
        for (k = 0; k < RULE_CONDITIONS && strcmp(condition_rows[k].name, cond->call.fn->name.text) != 0;)
            k++;
    return (RuleCondition)k;
}

/* The function that is a parameter of the rule: which one; -1. */
static int function_param(const Using *u, const Ast *ast)
{
    for (int i = 0; i < u->rule->n_params && ast->kind == AST_NAME; i++)
        if (u->rule->params[i].name == ast->name.text && param_kind(&u->rule->params[i]) == KIND_FUN)
            return i;
    return -1;
}

/* Any parameter of the rule: which one; -1. */
static int param_named(const Using *u, const Ast *ast)
{
    for (int i = 0; i < u->rule->n_params && ast->kind == AST_NAME; i++)
        if (u->rule->params[i].name == ast->name.text)
            return i;
    return -1;
}

static const Core *function_named(const Using *u, const Ast *ast)
{
    int k = function_param(u, ast);
    return k < 0 ? NULL : u->use->bound[k].core;
}

static bool is_lawful(Using *u, const Ast *operator)
{
    const Core *lambda = function_named(u, operator);
    const char *why = NULL;
    if (!lambda)
        return refuse(u, "`lawful` takes an operator that the left side names");
    return u->use->lawful(u->use->user, lambda, &why) || refuse(u, ctx_printf(u->e->ctx, "elements that do not begin with the unit are combined, and %s; without `lowered by`, each part begins with it", why));
}

static bool is_unit(Using *u, const Fun *op, const Ast *cond)
{
    Elab *e = u->e;
    Core *core;
    if (!value_to_core(e, eval(e, cond->call.items[1], u->env, NULL), NULL, &core))
        return refuse(u, "the unit is no data");
    note_unit(e, op, op->lambda, core, cond->span, u->rule->name);
    return true;
}

/* The laws of an operator. */
static bool operator_has(Using *u, RuleCondition law, const Ast *cond)
{
    Elab *e = u->e;
    const char *name = cond->call.fn->name.text;
    Value f = eval(e, cond->call.items[0], u->env, NULL);
    const Fun *op = f.kind == V_FUN ? unwrapped(f.fun) : NULL;
    bool by_parts = op && op->kind == F_CORE && operator_parts(op->lambda, NULL, NULL);
    if (!op || !(by_parts || fun_has_laws(op)))
        return refuse(u, ctx_printf(e->ctx, "`%s(%s)` is not known: it is no declared operator", name, pattern_text(e, cond->call.items[0], u->env)));
    if (law == RULE_lawful)
        return is_lawful(u, cond->call.items[0]);
    if (law == RULE_isUnit)
        return is_unit(u, op, cond);
    return by_parts || has_law(op, name) || refuse(u, ctx_printf(e->ctx, "`%s` is not declared %s", op->item->name, name));
}

/* Whether a function that the left side names computes the same as another one, in whatever order that stands. */
static bool is_same_as(Using *u, const Ast *cond)
{
    Elab *e = u->e;
    int k = function_param(u, cond->call.items[0]);
    const Core *lambda = k < 0 ? NULL : u->use->bound[k].core;
    Value other = eval(e, cond->call.items[1], u->env, NULL);
    if (!lambda || other.kind != V_FUN)
        return refuse(u, "`sameAs` takes a function that the left side names, and another one");
    Core *built = elab_lambda(e, other, u->rule->params[k].kind, u->env, NULL, cond->span);
    finish_literals(e);
    core_zonk(e, built);
    return core_alike(e->ctx, lambda, built) || refuse(u, ctx_printf(e->ctx, "`%s` is another function", u->rule->params[k].name));
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
    int k = param_named(u, cond->call.items[0]);
    const Core *array = k < 0 ? NULL : u->use->bound[k].core;
    if (!array || array->type->kind != TY_ARRAY)
        return refuse(u, ctx_printf(u->e->ctx, "`scalars` takes %s", condition_rows[RULE_scalars].takes));
    return !contains_array(array->type->elem) || refuse(u, ctx_printf(u->e->ctx, "the elements of `%s` are arrays", u->rule->params[k].name));
}

static RuleCondition condition_of(const Using *u, const Ast *cond)
{
    RuleCondition law = rule_condition(cond);
    return law != RULE_CONDITIONS && env_find(u->env, cond->call.fn->name.text, NULL) ? RULE_CONDITIONS : law;
}

static bool law_holds(Using *u, RuleCondition law, const Ast *cond)
{
    if (cond->call.n != condition_rows[law].n)
        return refuse(u, ctx_printf(u->e->ctx, "`%s` takes %s", condition_rows[law].name, condition_rows[law].takes));
    bool found = law == RULE_orders || law == RULE_absorbs || law == RULE_band || law == RULE_commutes || law == RULE_neighbours || law == RULE_across || law == RULE_registers; /* it was, when the parameters were bound */
    if (found)
        return true;
    return law == RULE_sameAs ? is_same_as(u, cond) : law == RULE_scalars ? is_of_scalars(u, cond) : operator_has(u, law, cond);
}

/* ---- what a condition says of parameters that the left side does not name ------------------------------------------------------- */

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
        return refuse(u, ctx_printf(u->e->ctx, "`orders` takes %s", condition_rows[RULE_orders].takes));
    int k = (int)by->integer.value - 1;
    if (!choice_order(u->e->ctx, lambda, k, &order))
        return refuse(u, ctx_printf(u->e->ctx, "`%s` does not choose by its %s components, and of equal ones by the less of the others", u->rule->params[op].name, k ? "second" : "first"));
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
    int k[4];
    for (int i = 0; i < 4; i++)
        k[i] = param_named(u, cond->call.items[i]);
    const Core *f = k[0] < 0 ? NULL : u->use->bound[k[0]].core, *unit = k[1] < 0 ? NULL : u->use->bound[k[1]].core;
    ScalarValue pads[2];
    if (!f || !unit || k[2] < 0 || k[3] < 0)
        return refuse(u, ctx_printf(u->e->ctx, "`absorbs` takes %s", condition_rows[RULE_absorbs].takes));
    if (!core_absorbing(f, unit, pads))
        return refuse(u, ctx_printf(u->e->ctx, "no padding is known of which `%s` makes the unit", u->rule->params[k[0]].name));
    for (int i = 0; i < 2; i++)
        u->use->bound[k[i + 2]].core = literal(u->e, pads[i], f->span);
    return true;
}

/* band(f, masks, lower, back, upper, ahead): f(x, masks[i][j]) is -inf unless lower*i <= j + back and j < upper*i + ahead. */
static bool find_band(Using *u, const Ast *cond)
{
    int k[6];
    for (int i = 0; i < 6; i++)
        k[i] = param_named(u, cond->call.items[i]);
    const Core *f = k[0] < 0 ? NULL : u->use->bound[k[0]].core, *masks = k[1] < 0 ? NULL : u->use->bound[k[1]].core;
    bool takes = f && masks;
    for (int i = 2; i < 6; i++)
        takes = takes && k[i] >= 0 && u->holes[k[i]].kind == KIND_NAT && u->holes[k[i]].name;
    if (!takes)
        return refuse(u, ctx_printf(u->e->ctx, "`band` takes %s", condition_rows[RULE_band].takes));
    Band band = core_band(u->e->ctx, f, masks);
    Nat nats[4] = {band.lower, band.back, band.upper, band.ahead};
    for (int i = 2; i < 6; i++) {
        u->holes[k[i]].nat = nats[i - 2];
        u->holes[k[i]].filled = true;
    }
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
    int k = function_param(u, cond->call.items[0]), at = param_named(u, cond->call.items[1]);
    const Core *op = k < 0 ? NULL : u->use->bound[k].core;
    if (!op || at < 0 || u->holes[at].kind != KIND_NAT || !u->holes[at].name)
        return refuse(u, ctx_printf(u->e->ctx, "`commutes` takes %s", condition_rows[RULE_commutes].takes));
    u->holes[at].nat = nat_const(u->e->ctx, operator_commutes(op));
    u->holes[at].filled = true;
    return true;
}

/* What conditions say of parameters that the left side does not name. */
static bool find_values(Using *u)
{
    for (int i = 0; i < u->rule->n_where; i++) {
        const Ast *cond = u->rule->where[i];
        RuleCondition law = condition_of(u, cond);
        bool (*find)(Using *, const Ast *) = law == RULE_orders ? find_order : law == RULE_absorbs ? find_absorbing : law == RULE_band ? find_band : law == RULE_commutes ? find_commutes : NULL;
        if (find && !(law_holds(u, law, cond) && find(u, cond)))
            return false;
    }
    return true;
}

static int registers_of(Type type)
{
    int n = type->kind == TY_SCALAR && scalar_bytes(type->scalar) <= 4 ? 1 : type->kind == TY_TUPLE ? 0 : 2;
    for (int i = 0; i < type->n_items; i++)
        n += registers_of(type->items[i]);
    return n;
}

/* Conditions that set a parameter, unless the strategy gives it. neighbours(xs, w): w neighbours of xs take 16 bytes of the widest array that is
 * read for them. across(xs, x): x is 1 where the last two dimensions are exchanged. registers(x, c): x takes c registers. */
static bool find_numbers(Using *u)
{
    for (int i = 0; i < u->rule->n_where; i++) {
        const Ast *cond = u->rule->where[i];
        RuleCondition law = condition_of(u, cond);
        if (law != RULE_neighbours && law != RULE_across && law != RULE_registers)
            continue;
        if (!law_holds(u, law, cond))
            return false;
        int x = param_named(u, cond->call.items[0]), at = param_named(u, cond->call.items[1]);
        const Core *value = x < 0 ? NULL : u->use->bound[x].core;
        if (!value || at < 0 || u->holes[at].kind != KIND_NAT || !u->holes[at].name)
            return refuse(u, ctx_printf(u->e->ctx, "`%s` takes %s", condition_rows[law].name, condition_rows[law].takes));
        if (law == RULE_registers && contains_array(value->type))
            return refuse(u, ctx_printf(u->e->ctx, "`%s` is no scalar or tuple of scalars", u->rule->params[x].name));
        if (!u->holes[at].filled) {
            u->holes[at].nat = nat_const(u->e->ctx, law == RULE_neighbours ? core_neighbours(u->e->ctx, value) : law == RULE_across ? core_is_across(value) : registers_of(value->type));
            u->holes[at].filled = true;
        }
    }
    return true;
}

static bool conditions_hold(Using *u)
{
    for (int i = 0; i < u->rule->n_where; i++) {
        const Ast *cond = u->rule->where[i];
        RuleCondition law = condition_of(u, cond);
        if (law != RULE_CONDITIONS) {
            if (!law_holds(u, law, cond))
                return false;
            continue;
        }
        Value v = eval(u->e, cond, u->env, NULL);
        if (v.kind == V_CORE && v.core->kind == CORE_LIT && v.core->lit.i)
            continue;
        StrBuf sb;
        sb_init(&sb, u->e->ctx);
        put_cond(u->e, &sb, cond, u->env);
        bool wrong = v.kind == V_CORE && v.core->kind == CORE_LIT;
        return refuse(u, ctx_printf(u->e->ctx, wrong ? "`%s` does not hold" : "`%s` is not known to hold", sb.text));
    }
    return true;
}

/* ---- the right side ------------------------------------------------------------------------------------------------------ */

/* The rule is wrong: where, and what its sides are. */
static const char *sides_differ(const Using *u, const char *right)
{
    Elab *e = u->e;
    int line, column;
    source_position(e->ctx, u->rule->body->bin.rhs->span, &line, &column);
    const Source *source = source_get(e->ctx, u->rule->span.file);
    return ctx_printf(e->ctx, "the sides of the rule differ (%s:%d): the right one is %s, and the left one %s", source ? source->name : "", line, right, tyt(e, u->use->type));
}

static Core *right_side(Using *u)
{
    Elab *e = u->e;
    RuleUse *use = u->use;
    Value v = eval(e, u->rule->body->bin.rhs, u->env, use->n_extra ? NULL : use->type);
    if (use->n_extra) {
        Value *args = NEWN(e->ctx, Value, use->n_extra);
        for (int i = 0; i < use->n_extra; i++) {
            args[i] = v_core(e, use->extra[i]);
            args[i].bound = true;
        }
        v = apply(e, v, use->n_extra, args, u->rule->span, use->type);
    }
    v = v_with_lets(e, v, u->lets);
    Core *core = NULL;
    if (v.kind == V_ERROR || *u->why)
        return NULL;
    if (!value_to_core(e, v, use->type, &core)) {
        refuse(u, sides_differ(u, value_text(e, v)));
        return NULL;
    }
    elab_finish(e, core);
    if (core->type != use->type && core->kind == CORE_PRIM) { /* the same where the rule is used, as n/n is 1 inside a map over n elements; outside only the left side's is known */
        Core *typed = NEW(e->ctx, Core);
        *typed = *core;
        typed->type = use->type;
        core = typed;
    }
    return core;
}

Core *rule_apply(Ctx *ctx, Program *program, RuleUse *use, const char **why)
{
    *why = NULL;
    Elab *e = elab_at(ctx, program, use->facts, use->next_var);
    e->num_sm = use->num_sm;
    e->max_resident = use->max_resident;
    e->quiet = 1;
    e->why = why;
    e->users = use->users;
    Using u = {.e = e, .use = use, .rule = use->rule, .env = scope_of(program, use->home)->root, .why = why};
    open_holes(&u);
    if (!find_values(&u) || !match_parameters(&u) || !match_sizes(&u))
        return NULL;
    match_argument(&u);
    if (!find_numbers(&u) || !all_known(&u))
        return NULL;
    bind_parameters(&u);
    if (!conditions_hold(&u))
        return NULL;
    Core *core = right_side(&u);
    if (!core && !*why)
        *why = "the right side has a mistake";
    if (*why || e->stop)
        return NULL;
    use->next_var = e->next_var;
    use->num_sm = e->num_sm;
    use->max_resident = e->max_resident;
    return core;
}
