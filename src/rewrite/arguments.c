/* What strategies and rules are given: sizes, and which parameter an argument is for. */
#include "rewrite/runner.h"

const char *ast_text(Ctx *ctx, const Ast *ast)
{
    StrBuf sb;
    sb_init(&sb, ctx);
    ast_print(&sb, ast);
    return sb.text;
}

const SEnv *senv_find(const SEnv *env, const char *name)
{
    while (env && env->name != name)
        env = env->up;
    return env;
}

static Nat entry_size(Runner *r, const char *name)
{
    for (int i = 0; i < r->entry->n_sizes; i++)
        if (strcmp(r->entry->sizes[i]->name, name) == 0)
            return r->entry->sizes[i];
    for (int i = 0; i < r->entry->n_tunables; i++)
        if (strcmp(r->entry->tunable_names[i], name) == 0)
            return nat_const(r->ctx, r->entry->tunable_values[i]);
    NatDevice which = nat_device_find(name);
    Nat *device = which == NAT_NUM_SM ? &r->num_sm : &r->max_resident;
    if (which && !*device)
        *device = nat_device_var(r->ctx, which);
    return which ? *device : NULL;
}

Nat size_of(Runner *r, const Ast *ast, const SEnv *env)
{
    Ctx *ctx = r->ctx;
    if (ast->kind == AST_INT)
        return nat_const(ctx, (int64_t)ast->integer.value);
    if (ast->kind == AST_NAME) {
        const SEnv *own = senv_find(env, ast->name.text);
        if (own && own->is_nat)
            return nat_const(ctx, own->nat);
        Nat n = own ? NULL : entry_size(r, ast->name.text);
        if (n)
            return n;
        strategy_mistake(r, E0804, ast->span, ctx_printf(ctx, "`%s` is no size here", ast->name.text), "a strategy knows its own parameters and the sizes of the entry");
        return NULL;
    }
    bool call = ast->kind == AST_CALL && ast->call.fn->kind == AST_NAME && ast->call.n == 2;
    if (ast->kind == AST_BINARY || call) {
        Nat a = size_of(r, call ? ast->call.items[0] : ast->bin.lhs, env), b = a ? size_of(r, call ? ast->call.items[1] : ast->bin.rhs, env) : NULL;
        if (!b)
            return NULL;
        const char *fn = call ? ast->call.fn->name.text : "";
        if (strcmp(fn, "min") == 0)
            return nat_min(ctx, a, b);
        if (strcmp(fn, "max") == 0)
            return nat_max(ctx, a, b);
        if (strcmp(fn, "ceilDiv") == 0)
            return nat_ceil_div(ctx, a, b);
        if (!call)
            switch (ast->bin.op) {
            case OP_ADD: return nat_add(ctx, a, b);
            case OP_SUB: return nat_sub(ctx, a, b);
            case OP_MUL: return nat_mul(ctx, a, b);
            case OP_DIV: return nat_div(ctx, a, b);
            case OP_MOD: return nat_mod(ctx, a, b);
            default: break;
            }
    }
    strategy_mistake(r, E0804, ast->span, ctx_printf(ctx, "a size is needed here, and this is `%s`", ast_text(ctx, ast)), NULL);
    return NULL;
}

bool as_call(const Ast *ast, SCall *call)
{
    *call = (SCall){.span = ast->span};
    if (ast->kind == AST_CALL || ast->kind == AST_NAMED || ast->kind == AST_BRACKET) {
        call->n = ast->call.n;
        call->args = ast->call.items;
        call->names = ast->kind == AST_CALL ? NULL : ast->call.names;
        call->name_spans = ast->call.name_spans;
        ast = ast->call.fn;
    }
    call->name = ast->kind == AST_NAME ? ast->name.text : NULL;
    return call->name != NULL;
}

bool is_nat_param(const Param *p) { return ast_is_nat(p->kind); }

/* What may be given without a name: of a rule the sizes alone, as its left side fixes the rest. */
static bool by_position(const Item *item, const Param *p) { return !p->implicit && (item->kind != ITEM_RULE || is_nat_param(p)); }

const char *takes_text(Ctx *ctx, const Item *item)
{
    StrBuf sb;
    sb_init(&sb, ctx);
    for (int k = 0; k < item->n_params; k++) {
        const Param *p = &item->params[k];
        if (!by_position(item, p))
            continue;
        sb_printf(&sb, "%s(%s: ", sb.len ? " " : "it takes `", p->name);
        ast_print(&sb, p->kind);
        if (p->def) {
            sb_puts(&sb, " = ");
            ast_print(&sb, p->def);
        }
        sb_putc(&sb, ')');
    }
    sb_puts(&sb, sb.len ? "`" : "it takes nothing");
    return sb.text;
}

int param_for(Runner *r, const Item *item, const SCall *call, int i)
{
    if (call->names) {
        for (int k = 0; k < item->n_params; k++)
            if (call->names[i] && item->params[k].name == call->names[i])
                return k;
        strategy_mistake(r, E0804, call->name_spans[i], ctx_printf(r->ctx, "`%s` has no parameter `%s`", item->name, call->names[i] ? call->names[i] : "?"), takes_text(r->ctx, item));
        return -1;
    }
    int n = i;
    for (int k = 0; k < item->n_params; k++)
        if (by_position(item, &item->params[k]) && n-- == 0)
            return k;
    strategy_mistake(r, E0804, call->args[i]->span, ctx_printf(r->ctx, "`%s` takes fewer arguments", item->name), takes_text(r->ctx, item));
    return -1;
}

/* ---- once for each of a list of sizes --------------------------------------------------------------------------------------------- */

static bool constant_of(Runner *r, const Ast *ast, const SEnv *env, int64_t *value)
{
    Nat n = size_of(r, ast, env);
    if (n && !nat_is_const(n))
        strategy_mistake(r, E0804, ast->span, ctx_printf(r->ctx, "an `unroll` goes over constants, and this is %s", nat_text(r->ctx, n)), NULL);
    *value = n && nat_is_const(n) ? n->value : 0;
    return n && nat_is_const(n);
}

bool constants_of(Runner *r, const Ast *list, const SEnv *env, Constants *out)
{
    int64_t n;
    if (list->kind == AST_LIST) {
        for (int i = 0; i < list->list.n; i++) {
            if (!constant_of(r, list->list.items[i], env, &n))
                return false;
            vec_push(r->ctx, &out->at, n);
        }
        return true;
    }
    SCall call;
    if (!as_call(list, &call) || strcmp(call.name, "halving") != 0 || call.n != 1 || call.names) {
        strategy_mistake(r, E0804, list->span, "an `unroll` goes over a list `[16, 8, 4]` or `halving(k)`", NULL);
        return false;
    }
    if (!constant_of(r, call.args[0], env, &n))
        return false;
    if (n < 1 || (n & (n - 1)) != 0) {
        strategy_mistake(r, E0804, call.args[0]->span, ctx_printf(r->ctx, "`halving` wants a power of two, and this is %lld", (long long)n), NULL);
        return false;
    }
    for (int64_t k = n / 2; k >= 1; k /= 2)
        vec_push(r->ctx, &out->at, k);
    return true;
}
