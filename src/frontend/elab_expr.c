/* Expressions: from syntax and an environment to a static value. See Note [Static values]. */
#include "frontend/elab_internal.h"

/* ---- calls ------------------------------------------------------------------------------------------------------------ */

/* `cast(x, f32)` */
static bool is_cast_turned(Elab *e, const Ast *ast, const Env *env)
{
    const Ast *first = ast->call.items[0], *second = ast->call.n == 2 ? ast->call.items[1] : NULL;
    Scalar type;
    bool named = first->kind == AST_NAME && scalar_find(first->name.text, &type) && !env_find(env, first->name.text, NULL);
    if (named || !second || second->kind != AST_NAME || !scalar_find(second->name.text, &type))
        return false;
    const char *words = span_text(e, first->span);
    Diag *d = elab_error(e, E0323, first->span, "`cast` takes the type first, and this is a value");
    diag_propose(e->ctx, d, words ? ast->span : NO_SPAN, "write $", first->parens && words ? "cast(%s)%s" : "cast(%s)(%s)", second->name.text, words ? words : "...");
    return true;
}

/* What argument k of a primitive is wanted as, where it is an index below a size that an argument before it gives. */
static Type index_wanted(Elab *e, Value f, const Value *args, int k)
{
    if (f.kind != V_FUN || f.fun->kind != F_PRIM || f.fun->n_args > 0)
        return NULL;
    const Item *header = prim_header(e->ctx, f.fun->prim);
    const int at = given_param(header, k);
    const Ast *kind = at < 0 ? NULL : header->params[at].kind;
    if (!kind || kind->kind != AST_BRACKET || !ast_is_word(kind->call.fn, "idx") || kind->call.items[0]->kind != AST_NAME)
        return NULL;
    for (int i = 0; i < k; i++) {
        const char *name = header->params[given_param(header, i)].name;
        LetBind *lets = NULL;
        Nat n;
        if (name && ast_is_word(kind->call.items[0], name) && value_is_natable(e, args[i]) && value_to_nat(e, args[i], &n, &lets))
            return type_idx(e->ctx, n);
    }
    return NULL;
}

static Value eval_call(Elab *e, const Ast *ast, const Env *env, Type want)
{
    const Ast *fn = ast->call.fn;
    const char *name = fn->kind == AST_NAME ? fn->name.text : NULL;
    if (name && ast->call.n >= 1 && !env_find(env, name, NULL)) {
        if (prim_find(name) == P_cast) {
            if (is_cast_turned(e, ast, env))
                return v_error(ast->span);
            Type t = eval_type(e, ast->call.items[0], env);
            if (t->kind == TY_ERROR)
                return v_error(ast->span);
            Value f = fun_value(e, (Fun){.kind = F_PRIM, .prim = P_cast, .cast_type = t}, ast->span);
            if (ast->call.n == 1)
                return f;
            Value *args = NEWN(e->ctx, Value, ast->call.n);
            for (int i = 1; i < ast->call.n; i++)
                args[i - 1] = eval(e, ast->call.items[i], env, NULL);
            return apply(e, f, ast->call.n - 1, args, ast->span, want);
        }
        if (builtin_find(name) == BUILTIN_CONST && ast->call.n == 1) {
            Type t = eval_type(e, ast->call.items[0], env);
            return t->kind == TY_ERROR ? v_error(ast->span) : named_constant(e, name, t, ast->span);
        }
    }
    Value f = eval(e, fn, env, NULL);
    Value *args = NEWN(e->ctx, Value, ast->call.n);
    bool good = f.kind != V_ERROR;
    for (int i = 0; i < ast->call.n; i++) {
        args[i] = eval(e, ast->call.items[i], env, index_wanted(e, f, args, i));
        good &= args[i].kind != V_ERROR;
    }
    if (!good)
        return v_error(ast->span);
    Value r = apply(e, f, ast->call.n, args, ast->span, want);
    r.span = ast->span;
    return r;
}

/* ---- if --------------------------------------------------------------------------------------------------------------- */

static bool is_bool(Elab *e, Value v)
{
    Type t = v.kind == V_CORE ? type_resolve(e, v.core->type) : NULL;
    return t && t->kind == TY_SCALAR && t->scalar == SC_BOOL;
}

/* `a and b and c`, or the same of `or`, however it is put in parentheses: the operands so far. */
typedef struct Chain {
    AstOp op;
    const Env *env;
    Value whole; /* of the operands so far; its span begins with the first one's */
    int n;
    VEC(Value) operands;
    bool lazy, grouped; /* an operand rests on those before it; parentheses stand on the right */
    VEC(const Core *) unused; /* operands that `facts` does not know yet */
    NatFacts *facts;          /* NULL: not needed yet */
} Chain;

/* The operand where those before it leave it open. */
static Value eval_guarded(Elab *e, Chain *chain, const Ast *ast)
{
    NatFacts *outer = e->facts;
    if (!chain->facts)
        chain->facts = nat_facts_new(e->ctx, outer);
    for (int i = 0; i < chain->unused.n; i++)
        core_cond_facts(e->ctx, chain->facts, chain->unused.at[i], chain->op == OP_AND);
    chain->unused.n = 0;
    e->facts = chain->facts;
    Value v = eval(e, ast, chain->env, NULL);
    e->facts = outer;
    return v;
}

/* An operand is tried without what the others say. One that made no sense is not tried again in this way while the outermost chain lasts: of chains
 * within chains, each trial would try all inside of it. */
static bool makes_sense_alone(Elab *e, const Chain *chain, const Ast *ast, Value *v)
{
    if (table_get(&e->guarded, ast))
        return false;
    e->quiet++;
    *v = eval(e, ast, chain->env, NULL);
    e->quiet--;
    if (v->kind == V_ERROR)
        table_put(e->ctx, &e->guarded, ast, e);
    return v->kind != V_ERROR;
}

/* An operand is computed only where those before it leave it open, when it makes sense only there: `i < n and xs[i] > 0`. */
static void add_operand(Elab *e, Chain *chain, const Ast *ast, Span op_span)
{
    Value a = chain->whole, b;
    bool is_and = chain->op == OP_AND, open = chain->n > 0 && is_bool(e, a) && a.core->kind != CORE_LIT;
    if (open && makes_sense_alone(e, chain, ast, &b))
        open = false;
    else
        b = open ? eval_guarded(e, chain, ast) : eval(e, ast, chain->env, NULL);
    if (is_bool(e, b))
        vec_push(e->ctx, &chain->unused, b.core);
    Span span = ast->span;
    vec_push(e->ctx, &chain->operands, b);
    if (chain->n++ == 0) {
        chain->whole = b;
        return;
    }
    if (a.span.file == span.file && a.span.lo < span.lo)
        span.lo = a.span.lo;
    if (!open || !is_bool(e, b)) {
        chain->whole = eval_binary(e, chain->op, a, b, span, op_span);
    } else {
        chain->lazy = true;
        Core *known = core_new(e, CORE_LIT, span, type_scalar(e->ctx, SC_BOOL));
        known->lit = scalar_int(SC_BOOL, !is_and);
        Core *lazy = core_new(e, CORE_IF, span, known->type);
        Core *last = value_core(e, b);
        lazy->cond.cond = value_core(e, a);
        lazy->cond.then = is_and ? last : core_done(e, known);
        lazy->cond.otherwise = is_and ? core_done(e, known) : last;
        chain->whole = v_core(e, core_done(e, lazy));
    }
    chain->whole.span = span;
}

static void add_operands(Elab *e, Chain *chain, const Ast *ast, Span op_span)
{
    if (ast->kind == AST_BINARY && ast->bin.op == chain->op) {
        add_operands(e, chain, ast->bin.lhs, op_span);
        chain->grouped |= ast->bin.rhs->kind == AST_BINARY && ast->bin.rhs->bin.op == chain->op;
        add_operands(e, chain, ast->bin.rhs, ast->bin.op_span);
    } else {
        add_operand(e, chain, ast, op_span);
    }
}

/* The operands from *next on, in the parentheses that are written: what is the same but for the order of operands stays so. */
static Value as_grouped(Elab *e, const Chain *chain, const Ast *ast, int *next)
{
    if (ast->kind != AST_BINARY || ast->bin.op != chain->op)
        return chain->operands.at[(*next)++];
    Value a = as_grouped(e, chain, ast->bin.lhs, next), b = as_grouped(e, chain, ast->bin.rhs, next);
    Value v = eval_binary(e, chain->op, a, b, ast->span, ast->bin.op_span);
    v.span = ast->span;
    return v;
}

static Value eval_and_or(Elab *e, const Ast *ast, const Env *env)
{
    Chain chain = {.op = ast->bin.op, .env = env};
    if (e->chains++ == 0)
        e->guarded = (Table){0};
    add_operands(e, &chain, ast, ast->bin.op_span);
    e->chains--;
    int next = 0;
    return chain.grouped && !chain.lazy && chain.whole.kind != V_ERROR ? as_grouped(e, &chain, ast, &next) : chain.whole;
}

/* A tuple with an index in it. */
static bool has_index(Elab *e, Value v)
{
    Type t = v.kind == V_CORE ? type_resolve(e, v.core->type) : NULL;
    for (int i = 0; t && t->kind == TY_TUPLE && i < t->n_items; i++)
        if (type_resolve(e, t->items[i])->kind == TY_IDX)
            return true;
    return false;
}

/* Indices that are chosen where no range is known for them. */
static bool report_chosen_index(Elab *e, const Value v[2], Span whole)
{
    if (v[0].kind != V_NAT || v[1].kind != V_NAT || !(v[0].from_idx || v[1].from_idx))
        return false;
    const Value *index = v[0].from_idx ? &v[0] : &v[1];
    Diag *d = elab_error(e, E0328, whole, "this `if` gives an index, and nothing here says of which array");
    diag_note(e->ctx, d, NO_SPAN, "choose where the index is used: `xs[if ... then ... else ...]`, or in the function of a `generate` that is given to `gather`");
    propose_around(e, d, index->span, "if a number is meant, write $", "cast(i32)(", ")");
    if (v[0].from_idx && v[1].from_idx) {
        diag_edit(e->ctx, d, span_start(v[1].span), "cast(i32)(");
        diag_edit(e->ctx, d, span_end(v[1].span), ")");
    }
    return true;
}

static Value eval_if(Elab *e, const Ast *ast, const Env *env, Type want)
{
    Ctx *ctx = e->ctx;
    Value c = eval(e, ast->cond.cond, env, NULL);
    if (c.kind == V_ERROR)
        return c;
    Core *cond;
    if (!value_to_core(e, c, type_scalar(ctx, SC_BOOL), &cond)) {
        if (e->mis.kind != MIS_REPORTED) {
            Diag *d = elab_error(e, E0313, c.span, "`if` wants a condition, and this is %s", value_text(e, c));
            Type t = c.kind == V_CORE ? type_resolve(e, c.core->type) : NULL;
            const char *words = span_text(e, c.span);
            if ((t && t->kind == TY_SCALAR) || c.kind == V_NAT)
                diag_propose(ctx, d, words ? c.span : NO_SPAN, "compare it: $", "%s != 0", words ? words : "...");
        }
        return v_error(ast->span);
    }
    if (cond->kind == CORE_UNIT_ERROR)
        return v_error(ast->span);
    /* Decided by tunables or facts: the other branch need not even make sense for these sizes. */
    if (cond->kind == CORE_LIT)
        return eval(e, cond->lit.i ? ast->cond.then : ast->cond.otherwise, env, want);
    NatFacts *outer = e->facts, *inside[2];
    Value v[2];
    Core *core[2];
    for (int i = 0; i < 2; i++) {
        inside[i] = nat_facts_new(ctx, outer);
        core_cond_facts(e->ctx, inside[i], cond, i == 0);
        e->facts = inside[i];
        v[i] = eval(e, i ? ast->cond.otherwise : ast->cond.then, env, want);
        e->facts = outer;
    }
    if (v[0].kind == V_ERROR || v[1].kind == V_ERROR)
        return v_error(ast->span);
    for (int i = 0; i < 2; i++)
        if (report_lacking(e, v[i])) {
            return v_error(ast->span);
        } else if (v[i].kind == V_FUN) {
            Diag *d = elab_error(e, E0311, v[i].span, "the branches of an `if` are data, and this is a function");
            diag_help(ctx, d, "apply it in each branch: `fun x => if c then f(x) else g(x)`");
            return v_error(ast->span);
        }
    /* The branch whose type is known says what a literal or an index in the other is; it may be one of fewer elements than are wanted. */
    int first = v[0].kind != V_CORE && v[1].kind == V_CORE ? 1 : 0;
    if (want && type_resolve(e, want)->kind == TY_IDX && v[first].kind == V_CORE)
        want = NULL;
    if (!want && report_chosen_index(e, v, ast->span))
        return v_error(ast->span);
    for (int k = 0; k < 2; k++) {
        int i = k == 0 ? first : 1 - first;
        Type t = want ? want : k == 0 ? NULL : core[first]->type;
        e->facts = inside[i];
        bool good = true;
        if (t)
            good = value_to_core(e, v[i], t, &core[i]);
        else
            core[i] = value_core(e, v[i]);
        e->facts = outer;
        if (!good && e->mis.kind != MIS_REPORTED) {
            if (want) {
                Diag *d = report_mismatch(e, E0314, v[i].span, want, "this branch is %s, and %s is needed", value_text(e, v[i]), tyt(e, want));
                propose_whole_literals(e, d, v[i].span, v[i], want);
                propose_scalar(e, d, v[i].span, v[i], want);
                if (v[i].kind == V_CORE)
                    propose_step(e, d, v[i].span, v[i].core->type, want, false);
                if (d && !d->help && has_index(e, v[i]))
                    diag_note(ctx, d, NO_SPAN, "an index is no number: where it is made, `cast(i64)(i)` makes one of it");
            } else {
                Diag *d = elab_error(e, E0314, v[i].span, "the branches of this `if` differ: %s and %s", first == 0 ? tyt(e, t) : value_text(e, v[i]),
                                     first == 0 ? value_text(e, v[i]) : tyt(e, t));
                diag_note(ctx, d, v[first].span, "this one is %s", tyt(e, t));
                propose_scalar(e, d, v[i].span, v[i], t);
            }
        }
        if (!good || core[i]->kind == CORE_UNIT_ERROR)
            return v_error(ast->span);
    }
    /* What is wanted holds outside of the branches too; the type of a branch may rest on its condition. */
    Core *core_if = core_new(e, CORE_IF, ast->span, type_resolve(e, want ? want : core[0]->type));
    core_if->cond.cond = cond;
    core_if->cond.then = core[0];
    core_if->cond.otherwise = core[1];
    return v_core(e, core_done(e, core_if));
}

/* ---- expressions -------------------------------------------------------------------------------------------------------- */

static Value eval_int(Elab *e, const Ast *ast)
{
    uint64_t value = ast->integer.value;
    if (ast->integer.suffix) {
        Scalar s;
        if (!scalar_find(ast->integer.suffix, &s))
            return v_error(ast->span); /* the lexer reported it */
        return v_core(e, literal_core(e, (Lit){.mag = value}, false, type_scalar(e->ctx, s), ast->span));
    }
    if (value <= INT64_MAX) {
        Value v = v_nat(nat_const(e->ctx, (int64_t)value), ast->span);
        v.literal = true;
        return v;
    }
    Lit *lit = NEW(e->ctx, Lit);
    lit->mag = value;
    return (Value){.kind = V_LIT, .span = ast->span, .lit = lit};
}

static Value eval_float(Elab *e, const Ast *ast)
{
    Lit *lit = NEW(e->ctx, Lit);
    lit->is_float = true;
    lit->f = ast->floating.value;
    if (ast->floating.suffix) {
        Scalar s;
        if (!scalar_find(ast->floating.suffix, &s))
            return v_error(ast->span);
        if (!scalar_is_float(s)) {
            elab_error(e, E0319, ast->span, "%s holds no fractions", scalar_name(s));
            return v_error(ast->span);
        }
        return v_core(e, literal_core(e, *lit, false, type_scalar(e->ctx, s), ast->span));
    }
    return (Value){.kind = V_LIT, .span = ast->span, .lit = lit};
}

static Value eval_tuple(Elab *e, const Ast *ast, const Env *env, Type want)
{
    int n = ast->list.n;
    if (n > LIMIT_TUPLE_ITEMS) {
        elab_error(e, E0342, ast->span, "a tuple of %d; at most %d are possible", n, LIMIT_TUPLE_ITEMS);
        return v_error(ast->span);
    }
    want = want ? type_resolve(e, want) : NULL;
    bool typed = want && want->kind == TY_TUPLE && want->n_items == n;
    Value v = {.kind = V_TUPLE, .span = ast->span};
    v.tuple.n = n;
    v.tuple.items = NEWN(e->ctx, Value, n);
    bool good = true, types = true;
    for (int i = 0; i < n; i++) {
        v.tuple.items[i] = eval(e, ast->list.items[i], env, typed ? want->items[i] : NULL);
        good &= v.tuple.items[i].kind != V_ERROR;
        types &= v.tuple.items[i].kind == V_TYPE;
    }
    if (!good)
        return v_error(ast->span);
    if (types) {
        Type *items = NEWN(e->ctx, Type, n);
        for (int i = 0; i < n; i++)
            items[i] = v.tuple.items[i].type;
        Type t = type_tuple(e->ctx, n, items);
        return (Value){.kind = V_TYPE, .span = ast->span, .type = tuple_fits(e, t, ast->span) ? t : type_error(e->ctx)};
    }
    return v;
}

static Value eval_compose(Elab *e, const Ast *ast, const Env *env)
{
    Value *parts = NEWN(e->ctx, Value, 2);
    LetBind *lets = NULL;
    for (int i = 0; i < 2; i++) {
        const Ast *side = i ? ast->bin.rhs : ast->bin.lhs;
        parts[i] = eval(e, side, env, NULL);
        if (parts[i].kind == V_ERROR)
            return parts[i];
        if (parts[i].kind != V_FUN) {
            Diag *d = elab_error(e, E0310, parts[i].span, "`>>` joins functions, and this is %s", value_text(e, parts[i]));
            const char *x = span_text(e, ast->bin.lhs->span), *y = span_text(e, ast->bin.rhs->span);
            Type t = parts[i].kind == V_CORE ? type_resolve(e, parts[i].core->type) : NULL;
            if (x && y && t && t->kind == TY_SCALAR && scalar_is_int(t->scalar))
                diag_propose(e->ctx, d, ast->span, "bits are shifted by $", "shr(%s, %s)", x, y);
            else if (x && y && t && t->kind == TY_ARRAY)
                diag_propose(e->ctx, d, ast->span, "a value goes into a function by $", "%s |> %s", x, y);
            return v_error(ast->span);
        }
        lets = lets_join(e, lets, parts[i].lets);
        parts[i].lets = NULL;
    }
    Value v = fun_value(e, (Fun){.kind = F_COMPOSE, .first = &parts[0], .then = &parts[1]}, ast->span);
    v.lets = lets;
    return v;
}

/* The type that a `let` declares, of data; NULL: none. */
static Type declared_data(Elab *e, const Pattern *pattern, const Env *env)
{
    const Ast *type = pattern->type;
    if (!type || type->kind == AST_ARROW || (type->kind == AST_NAME && strcmp(type->name.text, "nat") == 0))
        return NULL;
    return eval_type(e, type, env);
}

/* `ast` and the lets that follow it: a list of definitions is long, and no nesting. */
static Value eval_let(Elab *e, const Ast *ast, const Env *env, Type want)
{
    LetBind *lets = NULL;
    const Ast *at = ast;
    for (; at->kind == AST_LET && !e->stop; at = at->let.body) {
        Type declared = declared_data(e, at->let.pattern, env);
        if (declared && declared->kind == TY_ERROR)
            return v_error(ast->span);
        Value v = eval(e, at->let.value, env, declared);
        if (v.kind == V_ERROR)
            return v;
        if (v.kind == V_TYPE) {
            elab_error(e, E0324, v.span, "this is a type, and a value is needed here");
            return v_error(ast->span);
        }
        if (!bind_pattern(e, at->let.pattern, v, &env, &lets))
            return v_error(ast->span);
    }
    return v_with_lets(e, eval(e, at, env, want), lets);
}

/* toShared and the like give what they get. */
static bool is_storing(const Ast *fn)
{
    if (fn->kind == AST_BRACKET)
        fn = fn->call.fn;
    PrimId id = fn->kind == AST_NAME ? prim_find(fn->name.text) : P_COUNT;
    return id != P_COUNT && prim_rows[id].level == LEVEL_MEM;
}

/* What stands there, and the brackets behind it. */
static const char *call_text(Elab *e, Span span)
{
    enum { SHOWN = 60 };
    const char *text = source_get(e->ctx, span.file)->text;
    uint32_t end = span.hi;
    int open = 0;
    while (text[end] && end - span.lo < SHOWN && text[end] != '\n' && (open > 0 || text[end] == '(' || text[end] == '[')) {
        open += (text[end] == '(' || text[end] == '[') - (text[end] == ')' || text[end] == ']');
        end++;
    }
    return ctx_printf(e->ctx, open ? "%.*s(...)" : "%.*s", (int)((open ? span.hi : end) - span.lo), text + span.lo);
}

/* xs.f of data: what other languages write so. */
static bool refuse_method(Elab *e, const Ast *ast, const Env *env)
{
    int n;
    const Ast **parts, *last;
    flatten_array(e, ast, &n, &parts, &last);
    const Env *found = n > 0 && parts[0]->kind == AST_NAME ? env_find(env, parts[0]->name.text, NULL) : NULL;
    if (!found || found->value.kind != V_CORE || value_is_natable(e, found->value))
        return false;
    const Ast *member = n > 1 ? parts[1] : last;
    const char *xs = parts[0]->name.text, *word = span_text(e, member->span);
    Diag *d = elab_error(e, E0344, member->span, "`%s` is %s, and has nothing behind a dot but the components of a tuple", xs, value_text(e, found->value));
    if (member->kind == AST_NAME && prim_find(member->name.text) == P_COUNT)
        diag_note(e->ctx, d, NO_SPAN, "components are `t.1` and `t.2`, elements `xs[i]`; a function is applied by `%s |> f`, and sizes are names in the type of `%s`", xs, xs);
    else
        diag_help(e->ctx, d, "there are no methods; a function is applied by `|>`: `%s |> %s`", xs, word ? call_text(e, member->span) : "f");
    for (int i = 1; d->help && i <= n; i++) {
        const Ast *left = parts[i - 1], *right = i < n ? parts[i] : last;
        diag_edit(e->ctx, d, (Span){ast->span.file, left->span.hi, right->span.lo}, " |> ");
    }
    return true;
}

static Value eval_in(Elab *e, const Ast *ast, const Env *env, Type want)
{
    switch (ast->kind) {
    case AST_ERROR:
        e->failed = true;
        return v_error(ast->span);
    case AST_NAME:
        return eval_name(e, ast->name.text, ast->span, env, want);
    case AST_INT:
        return eval_int(e, ast);
    case AST_FLOAT:
        return eval_float(e, ast);
    case AST_CALL:
        return eval_call(e, ast, env, want);
    case AST_NAMED:
        return eval_named(e, ast, env);
    case AST_BRACKET:
        return eval_bracket(e, ast, env);
    case AST_DOT:
        if (ast->bin.rhs->kind == AST_INT && !ast->bin.rhs->integer.suffix && !ast->bin.rhs->parens) {
            Value v = eval(e, ast->bin.lhs, env, NULL);
            uint64_t k = ast->bin.rhs->integer.value;
            return project(e, v, k <= INT32_MAX ? (int64_t)k : INT32_MAX, ast->span);
        }
        if (refuse_method(e, ast, env))
            return v_error(ast->span);
        return (Value){.kind = V_TYPE, .span = ast->span, .type = eval_type(e, ast, env)};
    case AST_UNARY: {
        Value v = eval(e, ast->bin.lhs, env, NULL);
        AstKind kind = ast->bin.lhs->kind;
        bool written = kind == AST_INT || kind == AST_FLOAT || (kind == AST_CALL && v.kind == V_CORE && v.core->span.lo == ast->bin.lhs->span.lo);
        if (ast->bin.op == OP_NEG && written && v.kind == V_CORE && negate_literal(e, v.core)) {
            v.core->span = v.span = ast->span;
            return v;
        }
        return eval_unary(e, ast->bin.op, v, ast->span);
    }
    case AST_BINARY: {
        if (ast->bin.op == OP_AND || ast->bin.op == OP_OR)
            return eval_and_or(e, ast, env);
        Value a = eval(e, ast->bin.lhs, env, NULL), b = eval(e, ast->bin.rhs, env, NULL);
        return eval_binary(e, ast->bin.op, a, b, ast->span, ast->bin.op_span);
    }
    case AST_PIPE: {
        Value x = eval(e, ast->bin.lhs, env, is_storing(ast->bin.rhs) ? want : NULL), f = eval(e, ast->bin.rhs, env, NULL);
        if (x.kind == V_ERROR || f.kind == V_ERROR)
            return v_error(ast->span);
        Value r = apply(e, f, 1, &x, ast->bin.rhs->span, want);
        if (r.kind == V_CORE || r.kind == V_ERROR)
            r.span = ast->span;
        return r;
    }
    case AST_COMPOSE:
        return eval_compose(e, ast, env);
    case AST_TUPLE:
        return eval_tuple(e, ast, env, want);
    case AST_OPFUN: {
        PrimId prim = prim_of_op(ast->bin.op);
        if (prim == P_COUNT) {
            Diag *d = elab_error(e, E0322, ast->span, "`^` is of sizes, and no function of data");
            diag_help(e->ctx, d, "of floats it is `pow`");
            return v_error(ast->span);
        }
        return fun_value(e, (Fun){.kind = F_PRIM, .prim = prim}, ast->span);
    }
    case AST_LAMBDA:
        return fun_value(e, (Fun){.kind = F_CLOSURE, .ast = ast, .env = env}, ast->span);
    case AST_LET:
        return eval_let(e, ast, env, want);
    case AST_IF:
        return eval_if(e, ast, env, want);
    case AST_UNROLL:
        return fun_value(e, (Fun){.kind = F_UNROLL, .ast = ast, .env = env}, ast->span);
    case AST_ARROW:
    case AST_BINDER:
        elab_error(e, E0324, ast->span, "this is a function type, and a value is needed here");
        return v_error(ast->span);
    case AST_LIST:
        elab_error(e, E0324, ast->span, "a list stands only after `in`");
        return v_error(ast->span);
    case AST_LABEL:
        return label_value(e, eval(e, ast->label.operand, env, want), ast->label.name);
    case AST_SEQ:
    case AST_ORELSE:
    case AST_AT:
        break; /* the parser lets them stand in strategies only */
    }
    return v_error(ast->span);
}

Value eval(Elab *e, const Ast *ast, const Env *env, Type want)
{
    if (e->stop)
        return v_error(ast->span);
    if (ctx_near_end(e->ctx)) {
        elab_too_deep(e, ast->span);
        return v_error(ast->span);
    }
    if (++e->steps > LIMIT_ELAB_STEPS) {
        e->quiet = 0;
        elab_error(e, E0341, ast->span, "this takes too long to expand: more than %d steps", LIMIT_ELAB_STEPS);
        e->stop = true;
        return v_error(ast->span);
    }
    Value v = eval_in(e, ast, env, want);
    if (v.kind == V_TYPE && v.type->kind == TY_ERROR)
        v = v_error(ast->span);
    if (!v.span.file || v.kind == V_NAT || v.kind == V_LIT || v.kind == V_FUN || v.kind == V_GEN)
        v.span = ast->span;
    if (e->notes)
        note_value(e, ast->span, v);
    return v;
}
