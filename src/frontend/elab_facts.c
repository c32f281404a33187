/* Facts after `where`: what they are about, and what is said of those that cannot hold. */
#include "frontend/elab_internal.h"

const ElabSetting *elab_setting(const char *name, int n, const ElabSetting *settings)
{
    const ElabSetting *found = NULL;
    for (int i = 0; i < n; i++)
        if (strcmp(settings[i].name, name) == 0)
            found = &settings[i];
    return found;
}

bool is_about_sizes(const Core *core)
{
    if (core->kind == CORE_SIZE)
        return true;
    if (core->kind == CORE_LIT)
        return core->type->kind == TY_SCALAR && core->type->scalar == SC_BOOL;
    if (core->kind != CORE_PRIM)
        return false;
    for (int i = 0; i < core->prim.n_args; i++)
        if (!is_about_sizes(core->prim.args[i]))
            return false;
    return true;
}

static void put_constants(Elab *e, StrBuf *sb, const Ast *ast, const Env *env)
{
    if (ast->kind == AST_BINARY && ast->bin.op >= OP_EQ) {
        put_constants(e, sb, ast->bin.lhs, env);
        sb_printf(sb, " %s ", ast_op_text(ast->bin.op));
        put_constants(e, sb, ast->bin.rhs, env);
    } else if (ast->kind == AST_BINARY && (ast->bin.op == OP_MOD || ast->bin.op == OP_DIV)) {
        put_constants(e, sb, ast->bin.lhs, env);
        sb_printf(sb, " %s ", ast_op_text(ast->bin.op));
        put_constants(e, sb, ast->bin.rhs, env);
    } else {
        e->quiet++;
        Nat n = eval_nat(e, ast, env);
        e->quiet--;
        if (nat_is_error(n))
            ast_print(sb, ast);
        else
            sb_puts(sb, nat_text(e->ctx, n));
    }
}

static bool is_false(Value v) { return v.kind == V_CORE && v.core->kind == CORE_LIT && v.core->type->kind == TY_SCALAR && !v.core->lit.i; }

/* Whether `cond` is false where `other` holds and no more is known. NULL: where nothing is known. */
static bool excludes(Elab *e, const Env *env, const Ast *other, const Ast *cond)
{
    NatFacts *known = e->facts;
    e->facts = nat_facts_new(e->ctx, NULL);
    e->quiet++;
    Value v = other ? eval(e, other, env, NULL) : v_error(cond->span);
    if (v.kind == V_CORE && is_about_sizes(v.core))
        core_cond_facts(e->ctx, e->facts, v.core, true);
    bool is = is_false(eval(e, cond, env, NULL));
    e->quiet--;
    e->facts = known;
    return is;
}

/* `where n >= 5, n < 3`: of facts before the one at `i`, that with which it cannot hold. */
static void report_exclusive(Elab *e, const Item *item, int i, const Env *env)
{
    const Ast *cond = item->where[i], *other = NULL;
    for (int j = 0; j < i && !other; j++)
        other = excludes(e, env, item->where[j], cond) ? item->where[j] : NULL;
    const char *words = other ? span_text(e, other->span) : NULL;
    Diag *d = elab_error(e, E0325, cond->span, "this fact never holds together with %s", words ? ctx_printf(e->ctx, "`%s`", words) : other ? "another one" : "those before it");
    diag_note(e->ctx, d, other ? other->span : item->where[0]->span, other ? "the other fact" : "the first of them");
    diag_help(e->ctx, d, other ? "no size meets both facts: correct one of them, or leave it out" : "no size meets all facts: correct one of them, or leave it out");
}

/* The tunables that a fact names, which have one value each. Whether there are any. */
static bool note_tunables(Elab *e, Diag *d, const Item *item, const Ast *cond, const Env *env, int n_settings, const ElabSetting *settings)
{
    bool any = false;
    for (int i = 0; i < item->n_params; i++) {
        const Param *p = &item->params[i];
        const Env *found = p->name && param_kind(p) == KIND_NAT ? env_find(env, p->name, NULL) : NULL;
        if (!found || !ast_mentions(cond, p->name) || found->value.kind != V_NAT || !nat_is_const(found->value.nat))
            continue;
        const ElabSetting *set = elab_setting(p->name, n_settings, settings);
        diag_note(e->ctx, d, set && set->span.file ? set->span : p->span, set ? "`%s` is set to %s" : "`%s` is %s", p->name, nat_text(e->ctx, found->value.nat));
        any = true;
    }
    return any;
}

void report_false_fact(Elab *e, const Item *item, int i, const Env *env, int n_settings, const ElabSetting *settings)
{
    const Ast *cond = item->where[i];
    if (!excludes(e, env, NULL, cond)) {
        report_exclusive(e, item, i, env);
        return;
    }
    StrBuf sb;
    sb_init(&sb, e->ctx);
    put_constants(e, &sb, cond, env);
    Diag *d = elab_error(e, E0325, cond->span, "this fact can never hold: %s", sb.text);
    if (note_tunables(e, d, item, cond, env, n_settings, settings))
        diag_help(e->ctx, d, "give the tunable another value, or correct the fact");
    else
        diag_help(e->ctx, d, "no size meets it: correct the fact");
}
