/* Rules at the place of use: see rule.h. The right side is evaluated as the body of a definition is, with functions and data that are core already. */
#include "frontend/elab_internal.h"
#include "frontend/rule_using.h"

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
            return rule_refuse(u, ctx_printf(u->e->ctx, "`%s` takes other arguments", p->name));
        if (!match_type(u->e, sig->bin.lhs, u->env, lambda->lambda.params[k]->type, NO_SPAN))
            return rule_refuse(u, ctx_printf(u->e->ctx, "`%s` takes %s", p->name, tyt(u->e, lambda->lambda.params[k]->type)));
    }
    if (k != lambda->lambda.n || !match_type(u->e, sig, u->env, lambda->lambda.body->type, NO_SPAN))
        return rule_refuse(u, ctx_printf(u->e->ctx, "`%s` gives %s", p->name, tyt(u->e, lambda->lambda.body->type)));
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
            return rule_refuse(u, ctx_printf(u->e->ctx, "nothing says what `%s` is", p->name));
        if (kind == KIND_FUN && !match_function(u, p, core))
            return false;
        if (kind == KIND_VALUE && !match_type(u->e, p->kind, u->env, core->type, NO_SPAN))
            return rule_refuse(u, ctx_printf(u->e->ctx, "`%s` is %s", p->name, tyt(u->e, core->type)));
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
                return rule_refuse(u, ctx_printf(u->e->ctx, "%s stands where the rule has %s", nat_text(u->e->ctx, s->nat), pattern_text(u->e, s->pattern, u->env)));
        }
    for (int i = 0; i < u->use->n_sizes; i++)
        if (!done[i])
            return rule_refuse(u, ctx_printf(u->e->ctx, "nothing says what %s is", pattern_text(u->e, u->use->sizes[i].pattern, u->env)));
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
            return rule_refuse(u, ctx_printf(u->e->ctx, "nothing says what `%s` is: give it, as in `%s(...)`", u->holes[i].name, u->rule->name));
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
        rule_refuse(u, sides_differ(u, value_text(e, v)));
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
    if (!ask_conditions(&u, FINDS_FIRST) || !match_parameters(&u) || !match_sizes(&u))
        return NULL;
    match_argument(&u);
    if (!ask_conditions(&u, FINDS_NUMBERS) || !all_known(&u))
        return NULL;
    bind_parameters(&u);
    if (!ask_conditions(&u, CHECKS))
        return NULL;
    Core *core = right_side(&u);
    use->right_fails = !core;
    if (!core && !*why)
        *why = "the right side has a mistake";
    if (*why || e->stop)
        return NULL;
    use->next_var = e->next_var;
    use->num_sm = e->num_sm;
    use->max_resident = e->max_resident;
    return core;
}
