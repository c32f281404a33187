/* Re-checks the types of a finished entry, from the headers of the primitives alone and not by the elaborator's code.
 *
 * Every term's type follows from its parts; sizes are compared with nat_equal under the entry's facts and those of the branches
 * around. Variables, of terms and of sizes, are in scope where they stand. Obligations are not proved again. */
#include "ir/core.h"

/* A header's parameter with what this use puts there: a size or a type. */
typedef struct Bound {
    const char *name;
    Nat nat;
    Type type; /* NULL until the first argument fixes it */
    const Ast *kind;
} Bound;

typedef VEC(Bound) Bounds;

/* Terms that are well typed wherever the part that is checked stands: of what stood there before, those that are in no function and no branch. So many, the
 * outermost ones: a step takes apart little of what it finds, and what is below may be long. */
enum { KEPT_TERMS = 32 };

typedef struct Verifier {
    Ctx *ctx;
    NatFacts *facts;
    const char *wrong; /* the first thing found; from then on nothing is done */
    VEC(const CoreVar *) vars;
    VEC(Nat) nats;
    Bounds bound; /* of the header at hand */
    const Core *kept[KEPT_TERMS];
    int n_kept;
} Verifier;

static void check(Verifier *v, const Core *term);

static void fail(Verifier *v, const Core *at, const char *what)
{
    if (v->wrong)
        return;
    StrBuf text;
    sb_init(&text, v->ctx);
    if (at)
        core_print(&text, at);
    if (text.len > 200) {
        text.text[200] = 0;
        v->wrong = ctx_printf(v->ctx, "%s, in %s ...", what, text.text);
    } else {
        v->wrong = at ? ctx_printf(v->ctx, "%s, in %s", what, text.text) : what;
    }
}

/* ---- types ------------------------------------------------------------------------------------------------------ */

static bool equal(Verifier *v, Type a, Type b)
{
    if (a == b)
        return true;
    if (a->kind != b->kind)
        return false;
    switch (a->kind) {
    case TY_ERROR:
    case TY_SCALAR:
    case TY_META:
        return false;
    case TY_IDX:
        return nat_equal(v->ctx, v->facts, a->size, b->size);
    case TY_VEC:
    case TY_ARRAY:
        return equal(v, a->elem, b->elem) && nat_equal(v->ctx, v->facts, a->size, b->size);
    case TY_TUPLE:
        if (a->n_items != b->n_items)
            return false;
        for (int i = 0; i < a->n_items; i++)
            if (!equal(v, a->items[i], b->items[i]))
                return false;
        return true;
    }
    return false;
}

typedef struct NatScope {
    Verifier *v;
    Nat stranger;
} NatScope;

static void find_stranger(void *user, Nat var)
{
    NatScope *s = user;
    for (int i = s->v->nats.n - 1; i >= 0; i--)
        if (s->v->nats.at[i] == var)
            return;
    /* The device's numbers belong to no binder. */
    if (!var->device)
        s->stranger = var;
}

static void check_nat(Verifier *v, const Core *at, Nat nat)
{
    if (v->wrong)
        return;
    if (nat_is_error(nat)) {
        fail(v, at, "a size that overflowed");
        return;
    }
    NatScope scope = {v, NULL};
    nat_each_var(v->ctx, nat, find_stranger, &scope);
    if (scope.stranger)
        fail(v, at, ctx_printf(v->ctx, "the size variable %s is not in scope", scope.stranger->name));
}

static void check_type(Verifier *v, const Core *at, Type t)
{
    if (v->wrong)
        return;
    if (!t || t->kind == TY_ERROR || t->kind == TY_META) {
        fail(v, at, "a type that is not known");
        return;
    }
    if (t->size)
        check_nat(v, at, t->size);
    if (t->elem)
        check_type(v, at, t->elem);
    for (int i = 0; i < t->n_items; i++)
        check_type(v, at, t->items[i]);
    if (t->kind == TY_TUPLE && t->n_items < 2)
        fail(v, at, "a tuple of fewer than two");
    if (t->kind == TY_VEC && t->elem->kind != TY_SCALAR)
        fail(v, at, "a vector of something that is no scalar");
}

/* ---- headers ---------------------------------------------------------------------------------------------------- */

static Bound *bound_find(Verifier *v, const char *name)
{
    for (int i = v->bound.n - 1; i >= 0; i--)
        if (v->bound.at[i].name == name || strcmp(v->bound.at[i].name, name) == 0)
            return &v->bound.at[i];
    return NULL;
}

/* The value of a size expression of a header; NULL when it is none. */
static Nat header_nat(Verifier *v, const Ast *ast)
{
    Ctx *ctx = v->ctx;
    if (ast->kind == AST_INT)
        return nat_const(ctx, (int64_t)ast->integer.value);
    if (ast->kind == AST_NAME) {
        Bound *b = bound_find(v, ast->name.text);
        return b ? b->nat : NULL;
    }
    bool call = ast->kind == AST_CALL && ast->call.n == 2 && ast->call.fn->kind == AST_NAME;
    if (ast->kind != AST_BINARY && !call)
        return NULL;
    Nat a = header_nat(v, call ? ast->call.items[0] : ast->bin.lhs), b = header_nat(v, call ? ast->call.items[1] : ast->bin.rhs);
    if (!a || !b)
        return NULL;
    if (call) {
        const char *fn = ast->call.fn->name.text;
        return strcmp(fn, "ceilDiv") == 0 ? nat_ceil_div(ctx, a, b)
               : strcmp(fn, "min") == 0   ? nat_min(ctx, a, b)
               : strcmp(fn, "max") == 0   ? nat_max(ctx, a, b)
                                          : NULL;
    }
    switch ((int)ast->bin.op) {
    case OP_ADD:
        return nat_add(ctx, a, b);
    case OP_SUB:
        return nat_sub(ctx, a, b);
    case OP_MUL:
        return nat_mul(ctx, a, b);
    case OP_DIV:
        return nat_div(ctx, a, b);
    case OP_MOD:
        return nat_mod(ctx, a, b);
    case OP_POW:
        return nat_pow(ctx, a, b);
    }
    return NULL;
}

static bool same_size(Verifier *v, const Ast *ast, Nat size)
{
    Nat wanted = header_nat(v, ast);
    return wanted && nat_equal(v->ctx, v->facts, wanted, size);
}

static bool is_word(const Ast *ast, const char *word)
{
    return ast && ast->kind == AST_NAME && strcmp(ast->name.text, word) == 0;
}

static bool fits_kind(const Ast *kind, Type t)
{
    Type scalar = t->kind == TY_VEC ? t->elem : t;
    if (is_word(kind, "data"))
        return true;
    if (is_word(kind, "scalar"))
        return type_is_scalar_like(t);
    if (is_word(kind, "num"))
        return t->kind == TY_IDX || (scalar->kind == TY_SCALAR && scalar->scalar != SC_BOOL);
    if (is_word(kind, "int"))
        return t->kind == TY_IDX || (scalar->kind == TY_SCALAR && scalar_is_int(scalar->scalar));
    if (is_word(kind, "float"))
        return scalar->kind == TY_SCALAR && scalar_is_float(scalar->scalar);
    return false;
}

/* A type of a header leans left as it was written: n.m.t is ((n.m).t), n.idx[k] is (n.idx)[k]. Its parts from the left: sizes, then the
 * element, which may carry what stood in brackets. */
typedef struct Chain {
    VEC(const Ast *) sizes;
    const Ast *elem, *brackets;
} Chain;

static void chain_of(Verifier *v, const Ast *ast, Chain *chain)
{
    if (ast->kind == AST_BRACKET) {
        chain->brackets = ast;
        ast = ast->call.fn;
    }
    chain->elem = ast;
    VEC(const Ast *) left = {0};
    while (ast->kind == AST_DOT && !ast->parens) {
        if (chain->elem == ast)
            chain->elem = ast->bin.rhs;
        else
            vec_push(v->ctx, &left, ast->bin.rhs);
        ast = ast->bin.lhs;
    }
    if (ast != chain->elem)
        vec_push(v->ctx, &left, ast);
    for (int i = left.n - 1; i >= 0; i--)
        vec_push(v->ctx, &chain->sizes, left.at[i]);
}

/* Whether `t` is the header's type `ast`; the first use of a data parameter fixes it. */
static bool match(Verifier *v, const Ast *ast, Type t)
{
    Chain chain = {0};
    chain_of(v, ast, &chain);
    for (int i = 0; i < chain.sizes.n; i++) {
        if (t->kind != TY_ARRAY || !same_size(v, chain.sizes.at[i], t->size))
            return false;
        t = t->elem;
    }
    if (chain.brackets) {
        const Ast *b = chain.brackets;
        if (is_word(chain.elem, "idx"))
            return t->kind == TY_IDX && same_size(v, b->call.items[0], t->size);
        return is_word(chain.elem, "vec") && t->kind == TY_VEC && b->call.n == 2 && same_size(v, b->call.items[0], t->size) &&
               match(v, b->call.items[1], t->elem);
    }
    if (chain.elem->kind == AST_TUPLE) {
        if (t->kind != TY_TUPLE || t->n_items != chain.elem->list.n)
            return false;
        for (int i = 0; i < t->n_items; i++)
            if (!match(v, chain.elem->list.items[i], t->items[i]))
                return false;
        return true;
    }
    if (chain.elem->kind != AST_NAME)
        return false;
    Scalar scalar;
    if (scalar_find(chain.elem->name.text, &scalar))
        return t->kind == TY_SCALAR && t->scalar == scalar;
    Bound *b = bound_find(v, chain.elem->name.text);
    if (!b)
        return false;
    if (!b->type) {
        b->type = t;
        return fits_kind(b->kind, t);
    }
    return equal(v, b->type, t);
}

/* ---- terms ------------------------------------------------------------------------------------------------------ */

static void enter(Verifier *v, const CoreVar *var)
{
    vec_push(v->ctx, &v->vars, var);
    if (var->type->kind == TY_IDX && var->nat)
        vec_push(v->ctx, &v->nats, var->nat);
}

/* In a function: where an index exists, its range is not empty; where it is applied to an element, the array has one. As the elaborator has it. */
static void learn_inside(Verifier *v, const Core *prim, const Core *lambda)
{
    const Core *last = prim->prim.args[prim->prim.n_args - 1];
    v->facts = nat_facts_new(v->ctx, v->facts);
    if (prim_takes_elements(prim->prim.id) && last->kind != CORE_LAMBDA && last->type->kind == TY_ARRAY)
        nat_fact_le(v->ctx, v->facts, nat_const(v->ctx, 1), last->type->size);
    for (int i = 0; i < lambda->lambda.n; i++)
        if (lambda->lambda.params[i]->type->kind == TY_IDX)
            nat_fact_le(v->ctx, v->facts, nat_const(v->ctx, 1), lambda->lambda.params[i]->type->size);
}

/* A function argument of a primitive against `a -> b -> c` of its header. */
static void check_lambda(Verifier *v, const Core *prim, const Core *lambda, const Ast *type)
{
    if (lambda->kind != CORE_LAMBDA) {
        fail(v, lambda, "a function that is no lambda");
        return;
    }
    int vars = v->vars.n, nats = v->nats.n, nat = 0, param = 0, names = v->bound.n;
    NatFacts *outside = v->facts;
    learn_inside(v, prim, lambda);
    for (; type->kind == AST_ARROW && !v->wrong; type = type->bin.rhs) {
        if (type->bin.lhs->kind == AST_BINDER) {
            if (nat >= lambda->lambda.n_nats)
                fail(v, lambda, "a function with too few size parameters");
            else {
                vec_push(v->ctx, &v->nats, lambda->lambda.nats[nat]);
                vec_push(v->ctx, &v->bound, (Bound){type->bin.lhs->binder.param->name, lambda->lambda.nats[nat], NULL, NULL});
            }
            nat++;
        } else if (param >= lambda->lambda.n) {
            fail(v, lambda, "a function with too few parameters");
        } else {
            const CoreVar *var = lambda->lambda.params[param++];
            check_type(v, lambda, var->type);
            if (!v->wrong && !match(v, type->bin.lhs, var->type))
                fail(v, lambda, ctx_printf(v->ctx, "the parameter %s has type %s", var->name ? var->name : "_", type_text(v->ctx, var->type)));
            enter(v, var);
        }
    }
    if (!v->wrong && (nat != lambda->lambda.n_nats || param != lambda->lambda.n))
        fail(v, lambda, "a function with too many parameters");
    if (!v->wrong && !match(v, type, lambda->lambda.body->type))
        fail(v, lambda, ctx_printf(v->ctx, "a function gives %s", type_text(v->ctx, lambda->lambda.body->type)));
    if (!v->wrong && !equal(v, lambda->type, lambda->lambda.body->type))
        fail(v, lambda, "a lambda whose type is not its body's");
    v->bound.n = names;
    /* The body's own primitives use their own headers' names. */
    Bounds outer = v->bound;
    v->bound = (Bounds){0};
    check(v, lambda->lambda.body);
    v->bound = outer;
    v->vars.n = vars;
    v->nats.n = nats;
    v->facts = outside;
}

static void check_prim(Verifier *v, const Core *term)
{
    PrimId id = term->prim.id;
    if (id >= P_COUNT) {
        fail(v, term, "an unknown primitive");
        return;
    }
    const Item *header = prim_header(v->ctx, id);
    int nat = 0, arg = 0;
    for (int i = 0; i < term->prim.n_nats; i++)
        check_nat(v, term, term->prim.nats[i]);
    for (int i = 0; i < term->prim.n_args; i++)
        if (term->prim.args[i]->kind != CORE_LAMBDA)
            check(v, term->prim.args[i]);
    if (v->wrong)
        return;
    Bounds outer = v->bound;
    v->bound = (Bounds){0};
    for (int i = 0; i < header->n_params && !v->wrong; i++) {
        const Param *param = &header->params[i];
        Bound bound = {param->name, NULL, NULL, param->kind};
        if (ast_is_nat(param->kind)) {
            if (nat >= term->prim.n_nats) {
                fail(v, term, "too few sizes");
                break;
            }
            bound.nat = term->prim.nats[nat++];
        } else if (!param->implicit) {
            continue;
        } else if (id == P_cast && strcmp(param->name, "t") == 0) {
            check_type(v, term, term->prim.cast_type);
            bound.type = term->prim.cast_type;
        }
        vec_push(v->ctx, &v->bound, bound);
    }
    /* Values first: they fix the types that the functions are checked against. */
    for (int functions = 0; functions < 2 && !v->wrong; functions++) {
        arg = 0;
        for (int i = 0; i < header->n_params && !v->wrong; i++) {
            const Param *param = &header->params[i];
            if (param->implicit || ast_is_nat(param->kind))
                continue;
            if (arg >= term->prim.n_args) {
                fail(v, term, "too few arguments");
                break;
            }
            const Core *value = term->prim.args[arg++];
            bool function = param->kind->kind == AST_ARROW;
            if (function != (functions == 1))
                continue;
            if (function)
                check_lambda(v, term, value, param->kind);
            else if (value->kind == CORE_LAMBDA)
                fail(v, term, "a function where a value stands");
            else if (!match(v, param->kind, value->type))
                fail(v, term, ctx_printf(v->ctx, "argument %s of %s has type %s", param->name, prim_name(id), type_text(v->ctx, value->type)));
        }
    }
    if (!v->wrong && (arg != term->prim.n_args || nat != term->prim.n_nats))
        fail(v, term, "too many arguments");
    if (!v->wrong && !match(v, header->result, term->type))
        fail(v, term, ctx_printf(v->ctx, "the result of %s is said to be %s", prim_name(id), type_text(v->ctx, term->type)));
    v->bound = outer;
    if (!v->wrong && term->prim.options.place) {
        const Core *place = term->prim.options.place;
        int vars = v->vars.n, nats = v->nats.n;
        if (place->kind != CORE_LAMBDA || place->lambda.n != 1) {
            fail(v, term, "a place that is no function of one index");
        } else {
            enter(v, place->lambda.params[0]);
            check(v, place->lambda.body);
        }
        v->vars.n = vars;
        v->nats.n = nats;
    }
}

static void check_if(Verifier *v, const Core *term)
{
    check(v, term->cond.cond);
    if (v->wrong)
        return;
    if (term->cond.cond->type->kind != TY_SCALAR || term->cond.cond->type->scalar != SC_BOOL)
        fail(v, term, "a condition that is no bool");
    NatFacts *outer = v->facts;
    const Core *branches[2] = {term->cond.then, term->cond.otherwise};
    for (int i = 0; i < 2 && !v->wrong; i++) {
        v->facts = nat_facts_new(v->ctx, outer);
        core_cond_facts(v->ctx, v->facts, term->cond.cond, i == 0);
        check(v, branches[i]);
        if (!v->wrong && !equal(v, branches[i]->type, term->type))
            fail(v, term, "a branch of another type");
    }
    v->facts = outer;
}

static void check_literal(Verifier *v, const Core *term)
{
    Type t = term->type->kind == TY_VEC ? term->type->elem : term->type;
    if (t->kind == TY_SCALAR ? term->lit.type != t->scalar : t->kind != TY_IDX)
        fail(v, term, "a literal of another type");
}

static bool is_kept(const Verifier *v, const Core *term)
{
    for (int i = 0; i < v->n_kept; i++)
        if (v->kept[i] == term)
            return true;
    return false;
}

static void keep(Verifier *v, const Core *term)
{
    if (term->kind != CORE_LAMBDA && v->n_kept < KEPT_TERMS)
        v->kept[v->n_kept++] = term;
}

static void keep_all(Verifier *v, const Core *before)
{
    keep(v, before);
    for (int k = 0; k < v->n_kept; k++) {
        const Core *term = v->kept[k];
        for (int i = 0; term->kind == CORE_PRIM && i < term->prim.n_args; i++)
            keep(v, term->prim.args[i]);
        for (int i = 0; term->kind == CORE_TUPLE && i < term->tuple.n; i++)
            keep(v, term->tuple.items[i]);
        if (term->kind == CORE_PROJ)
            keep(v, term->proj.value);
        if (term->kind == CORE_LET)
            keep(v, term->let.value);
    }
}

/* A `let` becomes a function: what stood in the scope of its variable stands there still. */
static void keep_body(Verifier *v, const Core *let, const Core *part)
{
    for (int i = 0; let->kind == CORE_LET && part->kind == CORE_PRIM && i < part->prim.n_args; i++) {
        const Core *f = part->prim.args[i];
        if (f->kind == CORE_LAMBDA && f->lambda.n == 1 && f->lambda.params[0] == let->let.var && f->lambda.body == let->let.body)
            keep(v, let->let.body);
    }
}

static void check(Verifier *v, const Core *term)
{
    int vars = v->vars.n, nats = v->nats.n;
    if (is_kept(v, term))
        return;
    /* `let`s in a row are one loop, however many. */
    for (; term->kind == CORE_LET && !v->wrong; term = term->let.body) {
        check_type(v, term, term->type);
        check(v, term->let.value);
        if (!v->wrong && !equal(v, term->let.value->type, term->let.var->type))
            fail(v, term, ctx_printf(v->ctx, "let binds %s to a value of type %s", term->let.var->name ? term->let.var->name : "_",
                                     type_text(v->ctx, term->let.value->type)));
        if (!v->wrong && !equal(v, term->let.body->type, term->type))
            fail(v, term, "a let whose type is not its body's");
        enter(v, term->let.var);
    }
    if (v->wrong)
        return;
    check_type(v, term, term->type);
    if (v->wrong)
        return;
    switch (term->kind) {
    case CORE_VAR: {
        bool found = false;
        for (int i = v->vars.n - 1; i >= 0 && !found; i--)
            found = v->vars.at[i] == term->var;
        if (!found)
            fail(v, term, "a variable that is not in scope");
        else if (!equal(v, term->var->type, term->type))
            fail(v, term, "a variable of another type");
        break;
    }
    case CORE_LIT:
        check_literal(v, term);
        break;
    case CORE_SIZE:
        check_nat(v, term, term->size);
        if (!v->wrong && term->type->kind != TY_IDX && (term->type->kind != TY_SCALAR || term->type->scalar == SC_BOOL))
            fail(v, term, "a size as a value of a type that is no number");
        break;
    case CORE_PRIM:
        check_prim(v, term);
        break;
    case CORE_LAMBDA:
        fail(v, term, "a lambda that is no argument of a primitive");
        break;
    case CORE_LET:
        break;
    case CORE_TUPLE:
        if (term->type->kind != TY_TUPLE || term->type->n_items != term->tuple.n) {
            fail(v, term, "a tuple of another type");
            break;
        }
        for (int i = 0; i < term->tuple.n && !v->wrong; i++) {
            check(v, term->tuple.items[i]);
            if (!v->wrong && !equal(v, term->tuple.items[i]->type, term->type->items[i]))
                fail(v, term, "a tuple's item of another type");
        }
        break;
    case CORE_PROJ: {
        check(v, term->proj.value);
        Type t = v->wrong ? NULL : term->proj.value->type;
        if (t && (t->kind != TY_TUPLE || term->proj.index < 0 || term->proj.index >= t->n_items))
            fail(v, term, "a projection that the tuple has not");
        else if (t && !equal(v, t->items[term->proj.index], term->type))
            fail(v, term, "a projection of another type");
        break;
    }
    case CORE_IF:
        check_if(v, term);
        break;
    case CORE_UNIT_ERROR:
        fail(v, NULL, "an error was left in the term");
        break;
    }
    v->vars.n = vars;
    v->nats.n = nats;
}

static void enter_entry(Verifier *v, Ctx *ctx, const CoreEntry *entry)
{
    *v = (Verifier){.ctx = ctx, .facts = nat_facts_new(ctx, (NatFacts *)entry->known)};
    for (int i = 0; i < entry->n_sizes; i++)
        vec_push(ctx, &v->nats, entry->sizes[i]);
    for (int i = 0; i < entry->n_inputs; i++) {
        check_type(v, NULL, entry->inputs[i]->type);
        enter(v, entry->inputs[i]);
    }
}

/* What is in scope and known in a child, beside what is around it. */
static void enter_child(Verifier *v, const Core *term, int child)
{
    if (term->kind == CORE_LET && child == 1)
        enter(v, term->let.var);
    if (term->kind == CORE_PRIM && term->prim.args[child]->kind == CORE_LAMBDA)
        learn_inside(v, term, term->prim.args[child]);
    if (term->kind == CORE_LAMBDA) {
        for (int i = 0; i < term->lambda.n_nats; i++)
            vec_push(v->ctx, &v->nats, term->lambda.nats[i]);
        for (int i = 0; i < term->lambda.n; i++)
            enter(v, term->lambda.params[i]);
    }
    if (term->kind == CORE_IF && child > 0) {
        v->facts = nat_facts_new(v->ctx, v->facts);
        core_cond_facts(v->ctx, v->facts, term->cond.cond, child == 1);
    }
}

const char *core_verify_part(Ctx *ctx, const CoreEntry *entry, int depth, const Core *const *around, const int *path, const Core *before, const Core *part)
{
    Verifier v;
    enter_entry(&v, ctx, entry);
    for (int i = 0; i < depth; i++)
        enter_child(&v, around[i], path[i]);
    keep_all(&v, before);
    keep_body(&v, before, part);
    check(&v, part);
    return v.wrong;
}

const char *core_verify(Ctx *ctx, const CoreEntry *entry)
{
    Verifier v;
    enter_entry(&v, ctx, entry);
    for (int i = 0; i < entry->n_facts; i++)
        check(&v, entry->facts[i]);
    check_type(&v, NULL, entry->result);
    check(&v, entry->body);
    if (!v.wrong && !equal(&v, entry->body->type, entry->result))
        fail(&v, NULL, ctx_printf(ctx, "the body gives %s, the entry says %s", type_text(ctx, entry->body->type), type_text(ctx, entry->result)));
    return v.wrong;
}
