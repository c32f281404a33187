#include "ir/scalar.h"
#include "ir/terms.h"

static void raise_over(Core *core, const Core *part)
{
    if (part->height >= core->height)
        core->height = part->height + 1;
}

static Core *new_term(Ctx *ctx, CoreKind kind, Type type, Span span)
{
    Core *core = NEW(ctx, Core);
    core->kind = kind;
    core->span = span;
    core->type = type;
    core->height = 1;
    core->finished = true;
    return core;
}

CoreVar *make_var(Ctx *ctx, int *next_var, const char *name, Type type, Span span)
{
    CoreVar *var = NEW(ctx, CoreVar);
    *var = (CoreVar){.id = (*next_var)++, .name = name, .named = true, .type = type, .span = span};
    if (type->kind == TY_IDX)
        var->nat = nat_var(ctx, name, nat_const(ctx, 0), nat_add_k(ctx, type->size, -1));
    return var;
}

Core *make_ref(Ctx *ctx, CoreVar *var, Span span)
{
    Core *core = new_term(ctx, CORE_VAR, var->type, span);
    core->var = var;
    return core;
}

Core *make_size(Ctx *ctx, Nat nat, Type type, Span span)
{
    Core *core = new_term(ctx, CORE_SIZE, type, span);
    core->size = nat;
    return core;
}

Core *make_prim(Ctx *ctx, PrimId id, Type type, int n_nats, const Nat *nats, int n_args,
                Core *const *args, Span span)
{
    Core *core = new_term(ctx, CORE_PRIM, type, span);
    core->prim.id = id;
    core->prim.n_nats = n_nats;
    core->prim.n_args = n_args;
    Nat *own = NEWN(ctx, Nat, n_nats + 1);
    core->prim.args = NEWN(ctx, Core *, n_args + 1);
    for (int i = 0; i < n_nats; i++)
        own[i] = nats[i];
    core->prim.nats = own;
    for (int i = 0; i < n_args; i++) {
        core->prim.args[i] = args[i];
        raise_over(core, args[i]);
    }
    return core;
}

Core *make_index(Ctx *ctx, Core *array, Nat at, Span span)
{
    Nat nats[2] = {array->type->size, at};
    return make_prim(ctx, P_index, array->type->elem, 2, nats, 1, &array, span);
}

Core *make_function(Ctx *ctx, int n, CoreVar *const *params, Core *body)
{
    Core *f = new_term(ctx, CORE_LAMBDA, body->type, body->span);
    f->lambda.n = n;
    f->lambda.params = NEWN(ctx, CoreVar *, n + 1);
    for (int i = 0; i < n; i++)
        f->lambda.params[i] = params[i];
    f->lambda.body = body;
    raise_over(f, body);
    return f;
}

Core *make_map(Ctx *ctx, CoreVar *param, Core *body, Core *array)
{
    Core *args[2] = {make_function(ctx, 1, &param, body), array};
    Nat n = array->type->size;
    return make_prim(ctx, P_map, type_array(ctx, n, body->type), 1, &n, 2, args, body->span);
}

Core *make_generate(Ctx *ctx, CoreVar *axis, Core *element, Span span)
{
    Nat n = axis->type->size;
    Core *f = make_function(ctx, 1, &axis, element);
    return make_prim(ctx, P_generate, type_array(ctx, n, element->type), 1, &n, 1, &f, span);
}

Core *make_let(Ctx *ctx, CoreVar *var, Core *value, Core *body)
{
    Core *core = new_term(ctx, CORE_LET, body->type, value->span);
    core->let.var = var;
    core->let.value = value;
    core->let.body = body;
    raise_over(core, value);
    raise_over(core, body);
    return core;
}

Core *make_tuple(Ctx *ctx, int n, Core *const *items, Span span)
{
    Type *types = NEWN(ctx, Type, n + 1);
    Core *core = new_term(ctx, CORE_TUPLE, NULL, span);
    core->tuple.n = n;
    core->tuple.items = NEWN(ctx, Core *, n + 1);
    for (int i = 0; i < n; i++) {
        core->tuple.items[i] = items[i];
        types[i] = items[i]->type;
        raise_over(core, items[i]);
    }
    core->type = type_tuple(ctx, n, types);
    return core;
}

Core *make_proj(Ctx *ctx, Core *value, int index, Span span)
{
    if (value->kind == CORE_TUPLE)
        return value->tuple.items[index];
    Core *core = new_term(ctx, CORE_PROJ, value->type->items[index], span);
    core->proj.index = index;
    core->proj.value = value;
    raise_over(core, value);
    return core;
}

Core *make_if(Ctx *ctx, Core *cond, Core *then, Core *otherwise, Span span)
{
    Core *core = new_term(ctx, CORE_IF, then->type, span);
    core->cond.cond = cond;
    core->cond.then = then;
    core->cond.otherwise = otherwise;
    raise_over(core, cond);
    raise_over(core, then);
    raise_over(core, otherwise);
    return core;
}

Core *make_binary(Ctx *ctx, PrimId id, Core *a, Core *b)
{
    Core *args[2] = {a, b};
    return make_prim(ctx, id, a->type, 0, NULL, 2, args, a->span);
}

Core *make_compare(Ctx *ctx, PrimId id, Nat a, Nat b, Span span)
{
    Type i64 = type_scalar(ctx, SC_I64);
    Core *args[2] = {make_size(ctx, a, i64, span), make_size(ctx, b, i64, span)};
    return make_prim(ctx, id, type_scalar(ctx, SC_BOOL), 0, NULL, 2, args, span);
}

Core *make_both(Ctx *ctx, Core *a, Core *b)
{
    Core *no = new_term(ctx, CORE_LIT, a->type, b->span);
    no->lit = (ScalarValue){.type = SC_BOOL};
    return make_if(ctx, a, b, no, b->span);
}

Core *make_not(Ctx *ctx, Core *a)
{
    return make_prim(ctx, P_not, a->type, 0, NULL, 1, &a, a->span);
}

Core *make_int(Ctx *ctx, int value, Span span)
{
    Core *literal = NEW(ctx, Core);
    *literal = (Core){.kind = CORE_LIT, .span = span, .type = type_scalar(ctx, SC_I32), .height = 1};
    literal->lit = scalar_int(SC_I32, value);
    return literal;
}

Core *make_zero(Ctx *ctx, int *next_var, Type type, Span span)
{
    switch (type->kind) {
    case TY_ARRAY: {
        CoreVar *axis = make_var(ctx, next_var, "i", type_idx(ctx, type->size), span);
        return make_generate(ctx, axis, make_zero(ctx, next_var, type->elem, span), span);
    }
    case TY_TUPLE: {
        Core **items = NEWN(ctx, Core *, type->n_items + 1);
        for (int i = 0; i < type->n_items; i++)
            items[i] = make_zero(ctx, next_var, type->items[i], span);
        return make_tuple(ctx, type->n_items, items, span);
    }
    case TY_IDX:
        return make_size(ctx, nat_const(ctx, 0), type, span);
    default: {
        Core *zero = new_term(ctx, CORE_LIT, type, span);
        zero->lit = (ScalarValue){.type = type_scalar_of(ctx, type)};
        return zero;
    }
    }
}

int term_children(const Core *term)
{
    switch (term->kind) {
    case CORE_PRIM: return term->prim.n_args;
    case CORE_LAMBDA: case CORE_PROJ: return 1;
    case CORE_LET: return 2;
    case CORE_TUPLE: return term->tuple.n;
    case CORE_IF: return 3;
    case CORE_VAR: case CORE_LIT: case CORE_SIZE: case CORE_UNIT_ERROR: break;
    }
    return 0;
}

static Core **child_slot(Core *term, int i)
{
    switch (term->kind) {
    case CORE_PRIM: return &term->prim.args[i];
    case CORE_LAMBDA: return &term->lambda.body;
    case CORE_PROJ: return &term->proj.value;
    case CORE_LET: return i ? &term->let.body : &term->let.value;
    case CORE_TUPLE: return &term->tuple.items[i];
    case CORE_IF: return i == 0 ? &term->cond.cond : i == 1 ? &term->cond.then : &term->cond.otherwise;
    case CORE_VAR: case CORE_LIT: case CORE_SIZE: case CORE_UNIT_ERROR: break;
    }
    return NULL;
}

Core *term_child(const Core *term, int i)
{
    Core copy = *term;
    return *child_slot(&copy, i);
}

Core *term_copy(Ctx *ctx, const Core *term)
{
    Core *new = NEW(ctx, Core);
    *new = *term;
    new->height = 1;
    if (term->kind == CORE_PRIM) {
        new->prim.args = NEWN(ctx, Core *, term->prim.n_args + 1);
        memcpy(new->prim.args, term->prim.args, sizeof(Core *) * (size_t)term->prim.n_args);
    }
    if (term->kind == CORE_TUPLE) {
        new->tuple.items = NEWN(ctx, Core *, term->tuple.n + 1);
        memcpy(new->tuple.items, term->tuple.items, sizeof(Core *) * (size_t)term->tuple.n);
    }
    return new;
}

void term_set_child(Core *term, int i, Core *part)
{
    *child_slot(term, i) = part;
    raise_over(term, part);
}

const Core *term_base(const Core *term, int *indices, const Core **first)
{
    *first = NULL;
    for (*indices = 0; term->kind == CORE_PRIM && term->prim.id == P_index; ++*indices) {
        *first = term;
        term = term->prim.args[0];
    }
    return term;
}

Nat index_nat(const Core *term)
{
    return term->kind == CORE_SIZE ? term->size : term->kind == CORE_VAR ? term->var->nat : NULL;
}

/* ---- copies ---- */

Nat copy_nat(TermCopy *c, Nat nat)
{
    return nat && c->from.n ? nat_subst_many(c->ctx, nat, c->from.n, c->from.at, c->to.at) : nat;
}

Type copy_type(TermCopy *c, Type type)
{
    return type && c->from.n ? type_subst(c->ctx, type, c->from.n, c->from.at, c->to.at) : type;
}

static CoreVar *bind_fresh(TermCopy *c, const CoreVar *var)
{
    CoreVar *new = NEW(c->ctx, CoreVar);
    *new = *var;
    new->id = (*c->next_var)++;
    new->type = copy_type(c, var->type);
    if (var->nat) {
        new->nat = nat_var(c->ctx, var->name, copy_nat(c, var->nat->lo), copy_nat(c, var->nat->hi));
        vec_push(c->ctx, &c->from, var->nat);
        vec_push(c->ctx, &c->to, new->nat);
    }
    vec_push(c->ctx, &c->bound, var);
    vec_push(c->ctx, &c->fresh, new);
    return new;
}

static void copy_lambda(TermCopy *c, Core *new)
{
    int vars = c->bound.n, nats = c->from.n;
    Nat *own = NEWN(c->ctx, Nat, new->lambda.n_nats + 1);
    for (int i = 0; i < new->lambda.n_nats; i++) {
        Nat old = new->lambda.nats[i];
        own[i] = nat_var(c->ctx, old->name, copy_nat(c, old->lo), copy_nat(c, old->hi));
        vec_push(c->ctx, &c->from, old);
        vec_push(c->ctx, &c->to, own[i]);
    }
    new->lambda.nats = own;
    CoreVar **params = NEWN(c->ctx, CoreVar *, new->lambda.n + 1);
    for (int i = 0; i < new->lambda.n; i++)
        params[i] = bind_fresh(c, new->lambda.params[i]);
    new->lambda.params = params;
    new->lambda.body = copy_term(c, new->lambda.body);
    new->type = new->lambda.body->type;
    raise_over(new, new->lambda.body);
    c->bound.n = c->fresh.n = vars;
    c->from.n = c->to.n = nats;
}

static void copy_options(TermCopy *c, Core *new)
{
    Nat *nats = NEWN(c->ctx, Nat, new->prim.n_nats + 1);
    PrimOptions *options = &new->prim.options;
    for (int i = 0; i < new->prim.n_nats; i++)
        nats[i] = copy_nat(c, new->prim.nats[i]);
    new->prim.nats = nats;
    new->prim.cast_type = copy_type(c, new->prim.cast_type);
    options->pad = copy_nat(c, options->pad);
    options->lanes = copy_nat(c, options->lanes);
    options->blocks = copy_nat(c, options->blocks);
    options->threads = copy_nat(c, options->threads);
    options->min_blocks = copy_nat(c, options->min_blocks);
    if (options->place)
        options->place = copy_term(c, options->place);
}

static Core *copy_var(TermCopy *c, const Core *term)
{
    for (int i = c->bound.n - 1; i >= 0; i--)
        if (c->bound.at[i] == term->var)
            return make_ref(c->ctx, c->fresh.at[i], term->span);
    Core *by = c->by ? c->by(c->user, term->var) : NULL;
    return by ? by : make_ref(c->ctx, term->var, term->span);
}

/* A chain of `let`s is as long as the program: its links are copied in a loop. */
static Core *copy_lets(TermCopy *c, const Core *term)
{
    int vars = c->bound.n, nats = c->from.n;
    VEC(Core *) links = {0};
    for (; term->kind == CORE_LET; term = term->let.body) {
        Core *link = new_term(c->ctx, CORE_LET, NULL, term->span);
        link->let.value = copy_term(c, term->let.value);
        link->let.var = bind_fresh(c, term->let.var);
        link->label = term->label;
        vec_push(c->ctx, &links, link);
    }
    Core *body = copy_term(c, term);
    for (int i = links.n - 1; i >= 0; i--) {
        Core *link = links.at[i];
        link->type = body->type;
        link->let.body = body;
        raise_over(link, link->let.value);
        raise_over(link, body);
        body = link;
    }
    c->bound.n = c->fresh.n = vars;
    c->from.n = c->to.n = nats;
    return body;
}

Core *copy_term(TermCopy *c, const Core *term)
{
    if (term->kind == CORE_VAR)
        return copy_var(c, term);
    if (term->kind == CORE_LET)
        return copy_lets(c, term);
    if (term->kind == CORE_PROJ)
        return make_proj(c->ctx, copy_term(c, term->proj.value), term->proj.index, term->span);
    Core *new = term_copy(c->ctx, term);
    new->type = copy_type(c, term->type);
    if (term->kind == CORE_SIZE)
        new->size = copy_nat(c, term->size);
    if (term->kind == CORE_PRIM)
        copy_options(c, new);
    if (term->kind == CORE_LAMBDA)
        copy_lambda(c, new);
    for (int i = 0; i < term_children(term) && term->kind != CORE_LAMBDA; i++)
        term_set_child(new, i, copy_term(c, term_child(term, i)));
    return new;
}

typedef struct OneNat {
    TermCopy copy;
    Nat var, by;
} OneNat;

static Core *as_size(void *user, const CoreVar *var)
{
    OneNat *one = user;
    if (!var->nat || var->nat != one->var)
        return NULL;
    return make_size(one->copy.ctx, one->by, copy_type(&one->copy, var->type), var->span);
}

Core *term_with_nat(Ctx *ctx, int *next_var, Core *term, Nat var, Nat by)
{
    if (var == by)
        return term;
    OneNat one = {.copy = {.ctx = ctx, .next_var = next_var, .by = as_size}, .var = var, .by = by};
    one.copy.user = &one;
    vec_push(ctx, &one.copy.from, var);
    vec_push(ctx, &one.copy.to, by);
    return copy_term(&one.copy, term);
}

typedef struct OneVar {
    const CoreVar *var;
    Core *by;
} OneVar;

static Core *as_term(void *user, const CoreVar *var)
{
    const OneVar *one = user;
    return var == one->var ? one->by : NULL;
}

Core *term_with_var(Ctx *ctx, int *next_var, Core *term, const CoreVar *var, Core *by)
{
    OneVar one = {var, by};
    TermCopy copy = {.ctx = ctx, .next_var = next_var, .by = as_term, .user = &one};
    return copy_term(&copy, term);
}

/* ---- what a term mentions ---- */

typedef struct EachNat {
    Ctx *ctx;
    void (*fn)(void *user, Nat var);
    void *user;
} EachNat;

static void each_in_nat(const EachNat *e, Nat nat)
{
    if (nat && nat->has_vars)
        nat_each_var(e->ctx, nat, e->fn, e->user);
}

static void each_in_type(const EachNat *e, Type type)
{
    each_in_nat(e, type->size);
    if (type->elem)
        each_in_type(e, type->elem);
    for (int i = 0; i < type->n_items; i++)
        each_in_type(e, type->items[i]);
}

static void each_nat(const EachNat *e, const Core *term)
{
    for (; term->kind == CORE_LET; term = term->let.body)
        each_nat(e, term->let.value);
    if (term->kind == CORE_VAR)
        each_in_nat(e, term->var->nat);
    if (term->kind == CORE_SIZE)
        each_in_nat(e, term->size);
    for (int i = 0; term->kind == CORE_LAMBDA && i < term->lambda.n; i++)
        each_in_type(e, term->lambda.params[i]->type);
    for (int i = 0; term->kind == CORE_PRIM && i < term->prim.n_nats; i++)
        each_in_nat(e, term->prim.nats[i]);
    if (term->kind == CORE_PRIM && term->prim.options.place)
        each_nat(e, term->prim.options.place);
    if (term->kind == CORE_PRIM && term->prim.cast_type)
        each_in_type(e, term->prim.cast_type);
    for (int i = 0; i < term_children(term); i++)
        each_nat(e, term_child(term, i));
}

void term_each_nat(Ctx *ctx, const Core *term, void (*fn)(void *user, Nat var), void *user)
{
    EachNat e = {ctx, fn, user};
    each_nat(&e, term);
}

typedef struct Look {
    Nat var;
    bool found;
} Look;

static void look(void *user, Nat var)
{
    Look *l = user;
    l->found |= l->var == var;
}

bool term_mentions(const Core *term, const CoreVar *var)
{
    bool found = term->kind == CORE_VAR && term->var == var;
    for (int i = 0; i < term_children(term) && !found; i++)
        found = term_mentions(term_child(term, i), var);
    return found;
}

bool term_mentions_nat(Ctx *ctx, const Core *term, Nat var)
{
    Look l = {.var = var};
    term_each_nat(ctx, term, look, &l);
    return l.found;
}

bool term_is_total(const Core *term)
{
    bool total = term->kind != CORE_PRIM || term->prim.id != P_index;
    total &= term->kind != CORE_SIZE || !nat_is_partial(term->size);
    for (int i = 0; term->kind == CORE_PRIM && i < term->prim.n_nats && total; i++)
        total = !nat_is_partial(term->prim.nats[i]);
    for (int i = 0; i < term_children(term) && total; i++)
        total = term_is_total(term_child(term, i));
    return total;
}

void type_each_nat(Ctx *ctx, Type type, void (*fn)(void *user, Nat var), void *user)
{
    EachNat e = {ctx, fn, user};
    each_in_type(&e, type);
}

bool term_is_elementwise(const Core *term)
{
    for (int i = 0; i < term_children(term); i++)
        if (!term_is_elementwise(term_child(term, i)))
            return false;
    return term->kind != CORE_PRIM || term->prim.id == P_index || prim_rows[term->prim.id].level == LEVEL_SCALAR;
}

bool term_is_exact_size(const Core *term)
{
    return term->kind == CORE_SIZE && (term->type->kind == TY_IDX || (term->type->kind == TY_SCALAR && term->type->scalar == SC_I64));
}

bool term_compares_sizes(const Core *term)
{
    return term->kind == CORE_PRIM && prim_compares(term->prim.id) && term_is_exact_size(term->prim.args[0]) && term_is_exact_size(term->prim.args[1]);
}

Nat term_size_asked(const Core *term)
{
    bool asks = term_compares_sizes(term) && term->prim.id == P_le && nat_is(term->prim.args[0]->size, 1);
    return asks ? term->prim.args[1]->size : NULL;
}

bool term_is_over_sizes(const Core *term)
{
    if (term->kind == CORE_LIT || term_compares_sizes(term))
        return true;
    bool logic = term_is(term, P_and) || term_is(term, P_or) || term_is(term, P_not);
    for (int i = 0; i < term_children(term); i++)
        if (!term_is_over_sizes(term_child(term, i)))
            return false;
    return logic || term->kind == CORE_IF;
}

const Core *term_repeat(const Core *value)
{
    if (value->kind == CORE_IF) {
        const Core *repeat = term_repeat(value->cond.then);
        return repeat ? repeat : term_repeat(value->cond.otherwise);
    }
    return value->kind == CORE_PRIM && value->prim.id == P_repeatKernels ? value : NULL;
}
