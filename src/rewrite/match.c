/* See match.h. The left side stays a syntax tree: it is read against the term, with the functions in it applied as they are met.
 *
 * Note [Thunks]
 * A piece of the left side with the names around it is a thunk. Applying `f >> g` to a thunk t makes the thunk "f applied to t"; nothing is built. A lambda
 * of the term, met where the left side has a function, is opened: its parameters become locals, and the function applied to them is read
 * against its body.
 *
 * Note [Orders]
 * Operands that commute may stand in either order. Which one fits may show much later, where a parameter occurs a second time, so the match is
 * tried again from the start with other orders: `order` says for each place where there were two which one is taken, `n_orders` how many places were
 * met. A comparison whose mirror image stands there has one order only. */
#include "ir/scalar.h"
#include "rewrite/internal.h"

typedef struct Scope Scope;

typedef struct Thunk {
    const Ast *ast;        /* NULL: a local */
    const Scope *scope;
    CoreVar *local;        /* a variable bound inside the term */
    int n_args;            /* applied to these */
    const struct Thunk *args;
} Thunk;

struct Scope { /* names that the left side binds itself */
    const char *name;
    Thunk value;
    const Scope *up;
};

typedef struct Matcher {
    Ctx *ctx;
    RuleUse *use;
    VEC(RuleSize) sizes;
    VEC(CoreVar *) locals; /* of the term, bound inside what the left side covers */
    VEC(Core *) extra;
    const char *why;
    int n_orders;
    uint32_t order; /* bit k: the operands at the k-th place change places */
} Matcher;

enum { LIMIT_MATCH_ARGS = 16, LIMIT_MATCH_PATH = 8, LIMIT_MATCH_ORDERS = 12 };

static bool differ(Matcher *m, const char *words)
{
    if (!m->why)
        m->why = words;
    return false;
}

static const char *called(const Core *term)
{
    switch (term->kind) {
    case CORE_VAR: return term->var->name;
    case CORE_LIT: return "a number";
    case CORE_SIZE: return "a size";
    case CORE_PRIM: return prim_name(term->prim.id);
    case CORE_LAMBDA: return "a function";
    case CORE_LET: return "a let";
    case CORE_TUPLE: return "a tuple";
    case CORE_PROJ: return "a component";
    case CORE_IF: return "an if";
    case CORE_UNIT_ERROR: break;
    }
    return "a mistake";
}

static bool wanted(Matcher *m, const char *what, const Core *term)
{
    return m->why ? false : differ(m, ctx_printf(m->ctx, "the rule has `%s` where `%s` stands", what, called(term)));
}

static int param_of(const Matcher *m, const char *name)
{
    for (int i = 0; i < m->use->rule->n_params; i++)
        if (m->use->rule->params[i].name == name)
            return i;
    return -1;
}

static const Scope *find(const Scope *scope, const char *name)
{
    while (scope && scope->name != name)
        scope = scope->up;
    return scope;
}

/* ---- what is bound inside -------------------------------------------------------------------------------------------- */

typedef struct Inside {
    const Matcher *m;
    int n;
    const Thunk *allowed; /* locals that may occur */
    bool found;
} Inside;

static void look_at_nat(void *user, Nat var)
{
    Inside *in = user;
    for (int i = 0; i < in->m->locals.n; i++)
        if (in->m->locals.at[i]->nat == var) {
            bool allowed = false;
            for (int k = 0; k < in->n; k++)
                allowed |= in->allowed[k].local == in->m->locals.at[i];
            in->found |= !allowed;
        }
}

static void look_at_type(Inside *in, Type t)
{
    if (t->size)
        nat_each_var(in->m->ctx, t->size, look_at_nat, in);
    if (t->elem)
        look_at_type(in, t->elem);
    for (int i = 0; i < t->n_items; i++)
        look_at_type(in, t->items[i]);
}

static void look(Inside *in, const Core *term)
{
    if (in->found)
        return;
    switch (term->kind) {
    case CORE_VAR:
        for (int i = 0; i < in->m->locals.n; i++)
            if (in->m->locals.at[i] == term->var) {
                bool allowed = false;
                for (int k = 0; k < in->n; k++)
                    allowed |= in->allowed[k].local == term->var;
                in->found |= !allowed;
            }
        return;
    case CORE_LIT:
    case CORE_UNIT_ERROR:
        return;
    case CORE_SIZE:
        nat_each_var(in->m->ctx, term->size, look_at_nat, in);
        return;
    case CORE_PRIM:
        for (int i = 0; i < term->prim.n_nats; i++)
            nat_each_var(in->m->ctx, term->prim.nats[i], look_at_nat, in);
        for (int i = 0; i < term->prim.n_args; i++)
            look(in, term->prim.args[i]);
        if (term->prim.options.place)
            look(in, term->prim.options.place);
        if (term->prim.options.pad)
            nat_each_var(in->m->ctx, term->prim.options.pad, look_at_nat, in);
        look_at_type(in, term->type);
        return;
    case CORE_LAMBDA:
        look(in, term->lambda.body);
        return;
    case CORE_LET:
        look(in, term->let.value);
        look(in, term->let.body);
        return;
    case CORE_TUPLE:
        for (int i = 0; i < term->tuple.n; i++)
            look(in, term->tuple.items[i]);
        return;
    case CORE_PROJ:
        look(in, term->proj.value);
        return;
    case CORE_IF:
        look(in, term->cond.cond);
        look(in, term->cond.then);
        look(in, term->cond.otherwise);
        return;
    }
}

/* Whether the term mentions none of what is bound around it in the left side, but for these. */
static bool closed(Matcher *m, const Core *term, int n, const Thunk *allowed)
{
    Inside in = {.m = m, .n = n, .allowed = allowed};
    if (m->locals.n)
        look(&in, term);
    return !in.found;
}

/* ---- parameters ------------------------------------------------------------------------------------------------------- */

static bool bind(Matcher *m, int param, Core *core, int n, const Thunk *allowed)
{
    RuleBound *b = &m->use->bound[param];
    if (!closed(m, core, n, allowed))
        return differ(m, ctx_printf(m->ctx, "`%s` would depend on what is known only inside", m->use->rule->params[param].name));
    if (!b->core) {
        b->core = core;
        return true;
    }
    return core_alike(m->ctx, b->core, core) || differ(m, ctx_printf(m->ctx, "`%s` would be two different things", m->use->rule->params[param].name));
}

static bool match_data(Matcher *m, Thunk t, Core *term);

/* `x.1.2` of a variable x: what may stand for a variable, too. */
typedef struct Part {
    CoreVar *of;
    int n, path[LIMIT_MATCH_PATH]; /* the last component first */
    CoreVar *var;                  /* what it is called in the function */
} Part;

static bool part_of(Thunk arg, Part *part)
{
    *part = (Part){0};
    for (;;) {
        const Scope *own;
        if (arg.n_args)
            return false;
        if (arg.local) {
            part->of = arg.local;
            return true;
        }
        if (arg.ast->kind == AST_DOT && arg.ast->bin.rhs->kind == AST_INT && part->n < LIMIT_MATCH_PATH) {
            part->path[part->n++] = (int)arg.ast->bin.rhs->integer.value - 1;
            arg.ast = arg.ast->bin.lhs;
        } else if (arg.ast->kind == AST_NAME && (own = find(arg.scope, arg.ast->name.text))) {
            arg = own->value;
        } else {
            return false;
        }
    }
}

/* A variable for the part; false where it has no such component, or is an index, which is more than a value. */
static bool name_part(Matcher *m, Part *part)
{
    Type type = part->of->type;
    for (int i = part->n - 1; i >= 0; i--) {
        if (type->kind != TY_TUPLE || part->path[i] < 0 || part->path[i] >= type->n_items)
            return false;
        type = type->items[part->path[i]];
    }
    if (type->kind == TY_IDX)
        return false;
    part->var = NEW(m->ctx, CoreVar);
    *part->var = (CoreVar){.id = m->use->next_var++, .name = part->of->name, .type = type, .span = part->of->span};
    return true;
}

static bool is_part(const Part *part, const Core *term)
{
    for (int i = 0; i < part->n; i++) {
        if (term->kind != CORE_PROJ || term->proj.index != part->path[i])
            return false;
        term = term->proj.value;
    }
    return term->kind == CORE_VAR && term->var == part->of;
}

/* The term with the parts' variables where they are taken. */
static Core *with_parts(Ctx *ctx, Core *term, int n, const Part *parts)
{
    for (int i = 0; i < n; i++)
        if (parts[i].n && is_part(&parts[i], term)) {
            Core *var = NEW(ctx, Core);
            *var = (Core){.kind = CORE_VAR, .span = term->span, .type = term->type, .height = 1};
            var->var = parts[i].var;
            return var;
        }
    for (int i = 0; i < term_children(term); i++) {
        Core *child = term_child(term, i), *other = with_parts(ctx, child, n, parts);
        if (other != child)
            term = term_with_child(ctx, term, i, other);
    }
    return term;
}

/* f(x, y.1) where f is a parameter: any term in these variables, and these parts of variables. */
static bool match_applied(Matcher *m, int param, int n, const Thunk *given, Core *term)
{
    CoreVar **params = NEWN(m->ctx, CoreVar *, n + 1);
    Thunk *args = NEWN(m->ctx, Thunk, n + 1);
    Part *parts = NEWN(m->ctx, Part, n + 1);
    for (int i = 0; i < n; i++) {
        if (!part_of(given[i], &parts[i]))
            return differ(m, ctx_printf(m->ctx, "`%s` is applied to something that is no variable on the left side", m->use->rule->params[param].name));
        if (parts[i].n && !name_part(m, &parts[i]))
            return differ(m, ctx_printf(m->ctx, "`%s` has no such component", parts[i].of->name));
        params[i] = parts[i].n ? parts[i].var : parts[i].of;
        args[i].local = params[i];
    }
    Core *lambda = NEW(m->ctx, Core);
    *lambda = (Core){.kind = CORE_LAMBDA, .span = term->span, .users = term->users, .type = term->type, .height = term->height + 1};
    lambda->lambda.n = n;
    lambda->lambda.params = params;
    lambda->lambda.body = with_parts(m->ctx, term, n, parts);
    return bind(m, param, lambda, n, args);
}

/* ---- primitives ------------------------------------------------------------------------------------------------------- */

static bool match_function(Matcher *m, Thunk t, Core *lambda)
{
    if (lambda->kind != CORE_LAMBDA)
        return wanted(m, "a function", lambda);
    if (t.ast && t.ast->kind == AST_NAME && !t.n_args && !find(t.scope, t.ast->name.text)) {
        int k = param_of(m, t.ast->name.text);
        if (k >= 0)
            return bind(m, k, lambda, 0, NULL);
    }
    if (lambda->lambda.n_nats)
        return differ(m, "a function of sizes is not matched");
    int n = lambda->lambda.n;
    Thunk *args = NEWN(m->ctx, Thunk, t.n_args + n + 1);
    for (int i = 0; i < t.n_args; i++)
        args[i] = t.args[i];
    for (int i = 0; i < n; i++) {
        vec_push(m->ctx, &m->locals, lambda->lambda.params[i]);
        args[t.n_args + i] = (Thunk){.local = lambda->lambda.params[i]};
    }
    t.args = args;
    t.n_args += n;
    return match_data(m, t, lambda->lambda.body);
}

/* Nothing in brackets but an axis: what a left side says nothing of, its right side would lose. */
static bool has_options(const PrimOptions *o)
{
    return o->pad || o->lanes || o->swizzle || o->in_place || o->prefetch || o->once || o->place || o->blocks || o->threads || o->min_blocks;
}

/* Whether the operands are tried in the other order this time. */
static bool other_order(Matcher *m, PrimId id)
{
    if (prim_mirrored(id) != id || m->n_orders == LIMIT_MATCH_ORDERS)
        return false;
    return m->order >> m->n_orders++ & 1;
}

static bool match_prim(Matcher *m, PrimId id, int axis, int n, const Thunk *args, Core *term)
{
    const Item *header = prim_header(m->ctx, id);
    int explicit_params = 0;
    for (int i = 0; i < header->n_params; i++)
        explicit_params += !header->params[i].implicit;
    if (id == P_id && n == 1)
        return match_data(m, args[0], term);
    if (id == P_cast && n > explicit_params) { /* the type that it casts to: the whole left side is of the term's type, or the rule does not apply */
        args++;
        n--;
    }
    if (n != explicit_params)
        return differ(m, ctx_printf(m->ctx, "`%s` takes %d arguments, and the rule gives it %d", prim_name(id), explicit_params, n));
    bool mirrored = term->kind == CORE_PRIM && term->prim.id != id && n == 2 && prim_mirrored(id) == term->prim.id;
    if (term->kind != CORE_PRIM || (term->prim.id != id && !mirrored))
        return wanted(m, prim_name(id), term);
    Thunk turned[2];
    if (mirrored || other_order(m, id)) {
        turned[0] = args[1];
        turned[1] = args[0];
        args = turned;
    }
    if (term->prim.options.axis != axis)
        return differ(m, ctx_printf(m->ctx, "`%s` is on another axis", prim_name(id)));
    if (has_options(&term->prim.options))
        return differ(m, ctx_printf(m->ctx, "`%s` has options already", prim_name(id)));
    int nat = 0, arg = 0, k = 0;
    for (int i = 0; i < header->n_params; i++) {
        const Param *p = &header->params[i];
        bool is_nat = ast_is_nat(p->kind);
        bool is_type = p->implicit && !is_nat;
        if (is_type)
            continue;
        if (p->implicit) {
            nat++;
            continue;
        }
        Thunk t = args[k++];
        if (is_nat) {
            if (!t.ast || t.n_args)
                return differ(m, "a size that is no size expression");
            vec_push(m->ctx, &m->sizes, ((RuleSize){t.ast, term->prim.nats[nat++]}));
        } else if (p->kind->kind == AST_ARROW) {
            if (!match_function(m, t, term->prim.args[arg++]))
                return false;
        } else if (!match_data(m, t, term->prim.args[arg++])) {
            return false;
        }
    }
    return true;
}

static PrimId operator_prim(AstOp op)
{
    static const PrimId prims[] = {P_add, P_sub, P_mul, P_div, P_mod, P_COUNT, P_eq, P_ne, P_lt, P_le, P_gt, P_ge, P_and, P_or, P_neg, P_not};
    return prims[op];
}

/* ---- terms -------------------------------------------------------------------------------------------------------------- */

static bool same_number(ScalarValue a, ScalarValue b)
{
    return scalar_is_float(a.type) ? a.f == b.f || (a.f != a.f && b.f != b.f) : a.u == b.u;
}

static bool match_name(Matcher *m, Thunk t, Core *term)
{
    const char *name = t.ast->name.text;
    const Scope *own = find(t.scope, name);
    if (own) {
        Thunk to = own->value;
        if (t.n_args) {
            Thunk *args = NEWN(m->ctx, Thunk, to.n_args + t.n_args);
            for (int i = 0; i < to.n_args; i++)
                args[i] = to.args[i];
            for (int i = 0; i < t.n_args; i++)
                args[to.n_args + i] = t.args[i];
            to.args = args;
            to.n_args += t.n_args;
        }
        return match_data(m, to, term);
    }
    int param = param_of(m, name);
    if (param >= 0)
        return t.n_args ? match_applied(m, param, t.n_args, t.args, term) : bind(m, param, term, 0, NULL);
    PrimId id = prim_find(name);
    if (id != P_COUNT)
        return match_prim(m, id, 0, t.n_args, t.args, term);
    ScalarValue value;
    if (!t.n_args && term->kind == CORE_LIT && scalar_named(term->lit.type, name, &value))
        return same_number(value, term->lit) || differ(m, "another number stands there");
    return differ(m, ctx_printf(m->ctx, "`%s` cannot stand on the left side of a rule", name));
}

static Thunk with_args(Matcher *m, Thunk t, const Ast *fn, int n, Ast *const *items)
{
    Thunk *args = NEWN(m->ctx, Thunk, n + t.n_args + 1);
    for (int i = 0; i < n; i++)
        args[i] = (Thunk){.ast = items[i], .scope = t.scope};
    for (int i = 0; i < t.n_args; i++)
        args[n + i] = t.args[i];
    return (Thunk){.ast = fn, .scope = t.scope, .n_args = n + t.n_args, .args = args};
}

static bool match_lambda(Matcher *m, Thunk t, Core *term)
{
    const Ast *ast = t.ast;
    if (t.n_args < ast->lambda.n)
        return differ(m, "a function where data stands");
    const Scope *scope = t.scope;
    for (int i = 0; i < ast->lambda.n; i++) {
        const Pattern *p = &ast->lambda.params[i];
        if (!p->name)
            return differ(m, "a pattern that is no name, on the left side of a rule");
        Scope *own = NEW(m->ctx, Scope);
        *own = (Scope){p->name, t.args[i], scope};
        scope = own;
    }
    return match_data(m, (Thunk){.ast = ast->lambda.body, .scope = scope, .n_args = t.n_args - ast->lambda.n, .args = t.args + ast->lambda.n}, term);
}

static bool match_literal(Matcher *m, const Ast *ast, const Core *term)
{
    double value = ast->kind == AST_INT ? (double)ast->integer.value : ast->floating.value;
    bool same = false;
    if (term->kind == CORE_LIT)
        same = scalar_is_float(term->lit.type) ? term->lit.f == value : (double)term->lit.i == value;
    if (term->kind == CORE_SIZE && nat_is_const(term->size))
        same = (double)term->size->value == value;
    return same || differ(m, "another number stands there");
}

/* -x: of a number, or worked out. */
static bool match_unary(Matcher *m, Thunk t, Core *term)
{
    Thunk operand = {.ast = t.ast->bin.lhs, .scope = t.scope};
    if (t.n_args || t.ast->bin.op != OP_NEG || term->kind != CORE_LIT || !scalar_is_float(term->lit.type))
        return match_prim(m, operator_prim(t.ast->bin.op), 0, 1, &operand, term);
    Core *opposite = NEW(m->ctx, Core);
    *opposite = *term;
    opposite->lit.f = -term->lit.f;
    return match_data(m, operand, opposite);
}

/* The bracket of a primitive: an axis. */
static bool match_bracket(Matcher *m, Thunk t, Core *term)
{
    const Ast *fn = t.ast->call.fn;
    bool plain = t.ast->call.n == 1 && !(t.ast->call.names && t.ast->call.names[0]);
    if (plain && !t.n_args && (fn->kind != AST_NAME || prim_find(fn->name.text) == P_COUNT)) {
        Thunk args[2] = {{.ast = t.ast->call.items[0], .scope = t.scope}, {.ast = fn, .scope = t.scope}};
        return match_prim(m, P_index, 0, 2, args, term);
    }
    PrimId id = fn->kind == AST_NAME ? prim_find(fn->name.text) : P_COUNT;
    if (id == P_COUNT || t.ast->call.n != 1 || t.ast->call.items[0]->kind != AST_NAME || (t.ast->call.names && t.ast->call.names[0]))
        return differ(m, "an option that cannot stand on the left side of a rule");
    const char *axis = t.ast->call.items[0]->name.text;
    int k = strcmp(axis, "x") == 0 ? 0 : strcmp(axis, "y") == 0 ? 1 : strcmp(axis, "z") == 0 ? 2 : -1;
    return k < 0 ? differ(m, "an axis is x, y or z") : match_prim(m, id, k, t.n_args, t.args, term);
}

/* `generate{n = k}`: a size that is said by name. */
static bool match_named(Matcher *m, Thunk t, Core *term)
{
    const Ast *ast = t.ast;
    PrimId id = ast->call.fn->kind == AST_NAME ? prim_find(ast->call.fn->name.text) : P_COUNT;
    if (id == P_COUNT)
        return differ(m, "something with sizes by name that is no primitive, on the left side of a rule");
    if (!match_prim(m, id, 0, t.n_args, t.args, term))
        return false;
    const Item *header = prim_header(m->ctx, id);
    for (int i = 0; i < ast->call.n; i++) {
        int nat = 0, found = -1;
        for (int k = 0; k < header->n_params; k++) {
            const Ast *kind = header->params[k].kind;
            if (!ast_is_nat(kind))
                continue;
            if (ast->call.names[i] && header->params[k].name == ast->call.names[i])
                found = nat;
            nat++;
        }
        if (found < 0)
            return differ(m, ctx_printf(m->ctx, "`%s` has no such size", prim_name(id)));
        vec_push(m->ctx, &m->sizes, ((RuleSize){ast->call.items[i], term->prim.nats[found]}));
    }
    return true;
}

static bool match_data(Matcher *m, Thunk t, Core *term)
{
    if (m->why)
        return false;
    if (!t.ast) {
        if (t.n_args)
            return differ(m, "a variable is applied");
        bool as_size = term->kind == CORE_SIZE && t.local->nat && term->size == t.local->nat;
        return as_size || (term->kind == CORE_VAR && term->var == t.local) || wanted(m, t.local->name, term);
    }
    const Ast *ast = t.ast;
    switch (ast->kind) {
    case AST_NAME:
        return match_name(m, t, term);
    case AST_CALL:
        return match_data(m, with_args(m, t, ast->call.fn, ast->call.n, ast->call.items), term);
    case AST_PIPE:
        return match_data(m, with_args(m, t, ast->bin.rhs, 1, &ast->bin.lhs), term);
    case AST_COMPOSE: {
        if (t.n_args < 1)
            return differ(m, "a function where data stands");
        Thunk *first = NEWN(m->ctx, Thunk, 2);
        Thunk *args = NEWN(m->ctx, Thunk, t.n_args);
        first[1] = t.args[0];
        first[0] = (Thunk){.ast = ast->bin.lhs, .scope = t.scope, .n_args = 1, .args = &first[1]};
        args[0] = first[0];
        for (int i = 1; i < t.n_args; i++)
            args[i] = t.args[i];
        /* `f(a) >> g`: f keeps the arguments that it is written with. */
        return match_data(m, (Thunk){.ast = ast->bin.rhs, .scope = t.scope, .n_args = t.n_args, .args = args}, term);
    }
    case AST_BRACKET:
        return match_bracket(m, t, term);
    case AST_NAMED:
        return match_named(m, t, term);
    case AST_OPFUN:
        return match_prim(m, operator_prim(ast->bin.op), 0, t.n_args, t.args, term);
    case AST_BINARY: {
        Thunk args[2] = {{.ast = ast->bin.lhs, .scope = t.scope}, {.ast = ast->bin.rhs, .scope = t.scope}};
        PrimId id = operator_prim(ast->bin.op);
        return id == P_COUNT || t.n_args ? differ(m, "a size where data stands") : match_prim(m, id, 0, 2, args, term);
    }
    case AST_LAMBDA:
        return match_lambda(m, t, term);
    case AST_INT:
    case AST_FLOAT:
        return match_literal(m, ast, term);
    case AST_TUPLE:
        if (term->kind != CORE_TUPLE || term->tuple.n != ast->list.n || t.n_args)
            return wanted(m, "a tuple", term);
        for (int i = 0; i < ast->list.n; i++)
            if (!match_data(m, (Thunk){.ast = ast->list.items[i], .scope = t.scope}, term->tuple.items[i]))
                return false;
        return true;
    case AST_DOT:
        if (ast->bin.rhs->kind != AST_INT || t.n_args || term->kind != CORE_PROJ || term->proj.index + 1 != (int)ast->bin.rhs->integer.value)
            return wanted(m, "a component", term);
        return match_data(m, (Thunk){.ast = ast->bin.lhs, .scope = t.scope}, term->proj.value);
    case AST_IF:
        if (term->kind != CORE_IF || t.n_args)
            return wanted(m, "an if", term);
        return match_data(m, (Thunk){.ast = ast->cond.cond, .scope = t.scope}, term->cond.cond) &&
               match_data(m, (Thunk){.ast = ast->cond.then, .scope = t.scope}, term->cond.then) &&
               match_data(m, (Thunk){.ast = ast->cond.otherwise, .scope = t.scope}, term->cond.otherwise);
    case AST_LET: {
        const Pattern *p = ast->let.pattern;
        if (term->kind != CORE_LET || t.n_args || !p->name)
            return wanted(m, "let", term);
        if (!match_data(m, (Thunk){.ast = ast->let.value, .scope = t.scope}, term->let.value))
            return false;
        Scope *own = NEW(m->ctx, Scope);
        *own = (Scope){p->name, {.local = term->let.var}, t.scope};
        vec_push(m->ctx, &m->locals, term->let.var);
        return match_data(m, (Thunk){.ast = ast->let.body, .scope = own}, term->let.body);
    }
    case AST_UNARY:
        return match_unary(m, t, term);
    case AST_ERROR:
    case AST_ARROW:
    case AST_BINDER:
    case AST_UNROLL:
    case AST_LIST:
    case AST_SEQ:
    case AST_ORELSE:
    case AST_AT:
    case AST_LABEL:
        break;
    }
    return differ(m, "something that cannot stand on the left side of a rule");
}

/* ---- whole sides -------------------------------------------------------------------------------------------------------- */

/* Arguments that a function still wants; -1 where that cannot be said. */
static int missing(const Matcher *m, const Ast *ast)
{
    switch (ast->kind) {
    case AST_NAME: {
        int param = param_of(m, ast->name.text), n = 0;
        if (param >= 0) {
            const Ast *sig = m->use->rule->params[param].kind;
            for (; sig->kind == AST_ARROW; sig = sig->bin.rhs)
                n++;
            return n;
        }
        PrimId id = prim_find(ast->name.text);
        if (id == P_COUNT)
            return -1;
        const Item *header = prim_header(m->ctx, id);
        for (int i = 0; i < header->n_params; i++)
            n += !header->params[i].implicit;
        return n;
    }
    case AST_CALL: {
        int n = missing(m, ast->call.fn);
        return n < 0 ? n : n - ast->call.n;
    }
    case AST_BRACKET:
    case AST_NAMED:
        return missing(m, ast->call.fn);
    case AST_OPFUN:
        return ast->bin.op >= OP_NEG ? 1 : 2;
    case AST_COMPOSE:
        return 1;
    case AST_LAMBDA:
        return ast->lambda.n;
    case AST_PIPE: {
        int n = missing(m, ast->bin.rhs);
        return n < 0 ? n : n - 1;
    }
    default:
        return 0;
    }
}

/* What the left side begins with. */
static const Ast *side_head(const Ast *side)
{
    for (;;)
        switch (side->kind) {
        case AST_CALL: case AST_NAMED:
            side = side->call.fn;
            break;
        case AST_PIPE: case AST_COMPOSE:
            side = side->bin.rhs;
            break;
        default:
            return side;
        }
}

bool may_match(const Item *rule, const Core *term)
{
    const Ast *head = side_head(rule->body->bin.lhs);
    if (head->kind == AST_LET)
        return term->kind == CORE_LET;
    if (head->kind != AST_NAME)
        return true;
    for (int i = 0; i < rule->n_params; i++)
        if (rule->params[i].name == head->name.text)
            return true;
    PrimId id = prim_find(head->name.text);
    if (id == P_COUNT || id == P_id)
        return true;
    return term->kind == CORE_PRIM && (term->prim.id == id || term->prim.id == prim_mirrored(id));
}

int match_arguments(Ctx *ctx, const Item *rule)
{
    RuleUse use = {.rule = rule};
    return missing(&(Matcher){.ctx = ctx, .use = &use}, rule->body->bin.lhs);
}

/* The arguments that `map(f) >> map(g)` is applied to match anything: placeholders. */
static bool match_side(Matcher *m, const Ast *side, Core *term)
{
    int n = missing(m, side);
    if (n <= 0)
        return match_data(m, (Thunk){.ast = side}, term);
    if (n > LIMIT_MATCH_ARGS)
        return differ(m, "a function of too many arguments");
    /* Each placeholder is a parameter of its own, after the rule's. */
    const Item *rule = m->use->rule;
    Item *wider = NEW(m->ctx, Item);
    *wider = *rule;
    wider->n_params = rule->n_params + n;
    wider->params = NEWN(m->ctx, Param, wider->n_params);
    RuleBound *bound = NEWN(m->ctx, RuleBound, wider->n_params + 1), *own = m->use->bound;
    for (int i = 0; i < rule->n_params; i++) {
        wider->params[i] = rule->params[i];
        bound[i] = own[i];
    }
    Thunk *args = NEWN(m->ctx, Thunk, n);
    Ast *names = NEWN(m->ctx, Ast, n);
    for (int i = 0; i < n; i++) {
        const char *name = intern(m->ctx, "?0123456789abcdef" + i, 1);
        wider->params[rule->n_params + i] = (Param){.name = ctx_printf(m->ctx, "the argument%s", i ? " after it" : ""), .span = rule->span};
        wider->params[rule->n_params + i].name = name;
        names[i] = (Ast){.kind = AST_NAME, .span = rule->span};
        names[i].name.text = name;
        args[i] = (Thunk){.ast = &names[i]};
    }
    m->use->rule = wider;
    m->use->bound = bound;
    bool good = match_data(m, (Thunk){.ast = side, .n_args = n, .args = args}, term);
    m->use->rule = rule;
    m->use->bound = own;
    for (int i = 0; i < rule->n_params; i++)
        own[i] = bound[i];
    for (int i = 0; i < n && good; i++) {
        if (!bound[rule->n_params + i].core)
            return differ(m, "an argument of the left side is not used");
        vec_push(m->ctx, &m->extra, bound[rule->n_params + i].core);
    }
    return good;
}

/* The orders to try next: the last place that was not turned round yet is, and those after it are as they are written. False: there are none. */
static bool next_order(uint32_t *order, int places)
{
    while (places > 0 && *order >> (places - 1) & 1)
        *order &= ~(1u << --places);
    if (places == 0)
        return false;
    *order |= 1u << (places - 1);
    return true;
}

bool match_rule(Ctx *ctx, RuleUse *use, Core *term, const char **why)
{
    size_t bytes = sizeof *use->bound * (size_t)use->rule->n_params;
    RuleBound *given = NEWN(ctx, RuleBound, use->rule->n_params + 1);
    memcpy(given, use->bound, bytes);
    Matcher m;
    uint32_t order = 0;
    bool good;
    *why = NULL;
    do {
        memcpy(use->bound, given, bytes);
        m = (Matcher){.ctx = ctx, .use = use, .order = order};
        good = match_side(&m, use->rule->body->bin.lhs, term);
        *why = *why ? *why : m.why; /* of the order that the rule is written in */
    } while (!good && next_order(&order, m.n_orders));
    use->n_sizes = m.sizes.n;
    use->sizes = m.sizes.at;
    use->n_extra = m.extra.n;
    use->extra = m.extra.at;
    return good;
}
