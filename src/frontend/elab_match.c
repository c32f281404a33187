/* Matching a written type or size, which may have holes, against a known one. */
#include "frontend/elab_internal.h"

static Hole *hole_named(const Ast *ast, const Env *env)
{
    if (ast->kind != AST_NAME)
        return NULL;
    const Env *found = env_find(env, ast->name.text, NULL);
    return found && found->value.kind == V_HOLE && !found->value.hole->filled ? found->value.hole : NULL;
}

/* Holes not filled that occur in it, up to 2. */
static int open_count(const Ast *ast, const Env *env)
{
    int n = 0;
    switch (ast->kind) {
    case AST_NAME:
        return hole_named(ast, env) ? 1 : 0;
    case AST_CALL:
    case AST_BRACKET:
    case AST_NAMED:
        n = open_count(ast->call.fn, env);
        for (int i = 0; i < ast->call.n; i++)
            n += open_count(ast->call.items[i], env);
        break;
    case AST_TUPLE:
    case AST_LIST:
        for (int i = 0; i < ast->list.n; i++)
            n += open_count(ast->list.items[i], env);
        break;
    case AST_DOT:
    case AST_BINARY:
    case AST_ARROW:
        n = open_count(ast->bin.lhs, env) + open_count(ast->bin.rhs, env);
        break;
    case AST_UNARY:
        n = open_count(ast->bin.lhs, env);
        break;
    case AST_BINDER:
    case AST_ERROR:
    case AST_INT:
    case AST_FLOAT:
    case AST_PIPE:
    case AST_COMPOSE:
    case AST_OPFUN:
    case AST_LAMBDA:
    case AST_LET:
    case AST_IF:
    case AST_UNROLL:
    case AST_SEQ:
    case AST_ORELSE:
    case AST_AT:
    case AST_LABEL:
        break;
    }
    return n < 2 ? n : 2;
}

bool pattern_open(const Ast *ast, const Env *env) { return open_count(ast, env) > 0; }

/* Whether each size in it has at most one hole, so that matching can proceed. Sizes are all that is neither a name nor a structure. */
bool pattern_solvable(const Ast *ast, const Env *env)
{
    switch (ast->kind) {
    case AST_DOT:
        return pattern_solvable(ast->bin.lhs, env) && pattern_solvable(ast->bin.rhs, env);
    case AST_TUPLE:
        for (int i = 0; i < ast->list.n; i++)
            if (!pattern_solvable(ast->list.items[i], env))
                return false;
        return true;
    case AST_BRACKET:
        for (int i = 0; i < ast->call.n; i++)
            if (!pattern_solvable(ast->call.items[i], env))
                return false;
        return pattern_solvable(ast->call.fn, env);
    case AST_ERROR:
    case AST_NAME:
    case AST_INT:
    case AST_FLOAT:
    case AST_CALL:
    case AST_NAMED:
    case AST_UNARY:
    case AST_BINARY:
    case AST_PIPE:
    case AST_COMPOSE:
    case AST_ARROW:
    case AST_BINDER:
    case AST_OPFUN:
    case AST_LAMBDA:
    case AST_LET:
    case AST_IF:
    case AST_UNROLL:
    case AST_LIST:
    case AST_SEQ:
    case AST_ORELSE:
    case AST_AT:
    case AST_LABEL:
        break;
    }
    return open_count(ast, env) <= 1;
}

static bool unknown(Elab *e, const Hole *hole)
{
    e->mis = (Mismatch){.kind = MIS_UNKNOWN, .hole = hole};
    return false;
}

static bool match_nat(Elab *e, const Ast *pattern, const Env *env, Nat actual, Span from)
{
    Ctx *ctx = e->ctx;
    Hole *hole = hole_named(pattern, env);
    if (hole) {
        if (hole->kind != KIND_NAT)
            return unknown(e, hole);
        hole->nat = actual;
        hole->filled = true;
        hole->from = from;
        return true;
    }
    if (open_count(pattern, env) == 0) {
        Nat want = eval_nat(e, pattern, env);
        if (nat_is_error(want)) {
            e->mis = (Mismatch){.kind = MIS_REPORTED};
            return false;
        }
        return same_size(e, want, actual);
    }
    if (pattern->kind != AST_BINARY)
        return unknown(e, NULL);
    const Ast *a = pattern->bin.lhs, *b = pattern->bin.rhs;
    bool a_open = open_count(a, env) > 0, b_open = open_count(b, env) > 0;
    if (a_open && b_open)
        return unknown(e, NULL);
    const Ast *open = a_open ? a : b;
    Nat c = eval_nat(e, a_open ? b : a, env);
    if (nat_is_error(c)) {
        e->mis = (Mismatch){.kind = MIS_REPORTED};
        return false;
    }
    switch (pattern->bin.op) {
    case OP_MUL:
        if (!nat_le(ctx, e->facts, nat_const(ctx, 1), c) || !nat_divides(ctx, e->facts, c, actual)) {
            e->mis = (Mismatch){.kind = MIS_SIZE, .want_size = NULL, .got_size = actual};
            return false;
        }
        return match_nat(e, open, env, nat_simplify(ctx, e->facts, nat_div(ctx, actual, c)), from);
    case OP_ADD: {
        Nat rest = nat_sub(ctx, actual, c);
        if (!nat_le(ctx, e->facts, nat_const(ctx, 0), rest)) {
            e->mis = (Mismatch){.kind = MIS_SIZE, .want_size = NULL, .got_size = actual};
            return false;
        }
        return match_nat(e, open, env, rest, from);
    }
    case OP_SUB:
        return match_nat(e, open, env, a_open ? nat_add(ctx, actual, c) : nat_sub(ctx, c, actual), from);
    case OP_DIV:
    case OP_MOD:
    case OP_POW:
    case OP_EQ:
    case OP_NE:
    case OP_LT:
    case OP_LE:
    case OP_GT:
    case OP_GE:
    case OP_AND:
    case OP_OR:
    case OP_NEG:
    case OP_NOT:
        break;
    }
    return unknown(e, NULL);
}

bool match_size(Elab *e, const Ast *pattern, const Env *env, Nat actual) { return match_nat(e, pattern, env, actual, NO_SPAN); }

static bool match_parts(Elab *e, int n, const Ast **sizes, const Ast *elem, const Env *env, Type actual, Span from)
{
    if (n == 0)
        return match_type(e, elem, env, actual, from);
    actual = type_resolve(e, actual);
    if (actual->kind == TY_ERROR)
        return true;
    if (actual->kind != TY_ARRAY)
        return mismatch(e, actual);
    if (!match_nat(e, sizes[0], env, actual->size, from)) {
        if (e->mis.kind == MIS_SIZE)
            e->mis.actual = actual;
        return false;
    }
    return match_parts(e, n - 1, sizes + 1, elem, env, actual->elem, from);
}

bool match_type(Elab *e, const Ast *pattern, const Env *env, Type actual, Span from)
{
    actual = type_resolve(e, actual);
    if (actual->kind == TY_ERROR)
        return true;
    Hole *hole = hole_named(pattern, env);
    if (hole) {
        if (!kind_is_type(hole->kind))
            return unknown(e, hole);
        if (!type_constrain(e, actual, hole->kind))
            return false;
        hole->type = actual;
        hole->filled = true;
        hole->from = from;
        return true;
    }
    if (open_count(pattern, env) == 0) {
        Type want = eval_type(e, pattern, env);
        if (want->kind == TY_ERROR) {
            e->mis = (Mismatch){.kind = MIS_REPORTED};
            return false;
        }
        return type_unify(e, want, actual);
    }
    if (pattern->kind == AST_TUPLE) {
        if (actual->kind != TY_TUPLE || actual->n_items != pattern->list.n)
            return mismatch(e, actual);
        for (int i = 0; i < actual->n_items; i++)
            if (!match_type(e, pattern->list.items[i], env, actual->items[i], from))
                return false;
        return true;
    }
    if (pattern->kind == AST_DOT || pattern->kind == AST_BRACKET || pattern->kind == AST_CALL) {
        int n;
        const Ast **sizes, *elem;
        flatten_array(e, pattern, &n, &sizes, &elem);
        if (is_order_reversed(e, n, sizes, elem, env)) {
            reversed_type(e, pattern, n, sizes, elem);
            e->mis = (Mismatch){.kind = MIS_REPORTED};
            return false;
        }
        if (n > 0)
            return match_parts(e, n, sizes, elem, env, actual, from);
        const Ast *fn = pattern->call.fn;
        if (pattern->kind == AST_BRACKET && fn->kind == AST_NAME && strcmp(fn->name.text, "idx") == 0 && pattern->call.n == 1)
            return actual->kind == TY_IDX ? match_nat(e, pattern->call.items[0], env, actual->size, from) : mismatch(e, actual);
        if (pattern->kind == AST_BRACKET && fn->kind == AST_NAME && strcmp(fn->name.text, "vec") == 0 && pattern->call.n == 2)
            return actual->kind == TY_VEC ? match_nat(e, pattern->call.items[0], env, actual->size, from) &&
                                                match_type(e, pattern->call.items[1], env, actual->elem, from)
                                          : mismatch(e, actual);
    }
    return mismatch(e, actual);
}
