/* Core to Code: see interp_internal.h. */
#include "ir/interp_internal.h"

/* Where a variable (of terms or of sizes) has its cells. */
typedef struct Place {
    const void *key;
    int cell;
    int next; /* in the same bucket, -1: none */
} Place;

enum { BUCKETS = 1024 };

typedef struct Compiler {
    Interp *in;
    int n_cells;
    Place *places;
    int n_places, cap_places;
    int buckets[BUCKETS];
    int64_t roundings; /* in what was compiled so far */
    Shape **memo; /* by type id: shapes that are fixed */
    uint32_t memo_cap;
} Compiler;

static Code *compile(Compiler *c, const Core *term);

/* ---- places ----------------------------------------------------------------------------------------------------- */

static int *bucket_of(Compiler *c, const void *key) { return &c->buckets[((uintptr_t)key >> 4) * 2654435761u % BUCKETS]; }

static void bind(Compiler *c, const void *key, int cell)
{
    if (c->n_places == c->cap_places) {
        int cap = c->cap_places ? c->cap_places * 2 : 64;
        Place *wider = ARENA_NEWN(&c->in->arena, Place, cap);
        if (c->n_places)
            memcpy(wider, c->places, sizeof(Place) * (size_t)c->n_places);
        c->places = wider;
        c->cap_places = cap;
    }
    int *bucket = bucket_of(c, key);
    c->places[c->n_places] = (Place){key, cell, *bucket};
    *bucket = c->n_places++;
}

static void unbind_to(Compiler *c, int n)
{
    while (c->n_places > n) {
        Place p = c->places[--c->n_places];
        *bucket_of(c, p.key) = p.next;
    }
}

static bool find(Compiler *c, const void *key, int *cell)
{
    for (int i = *bucket_of(c, key); i >= 0; i = c->places[i].next)
        if (c->places[i].key == key) {
            *cell = c->places[i].cell;
            return true;
        }
    return false;
}

static int new_cells(Compiler *c, int n)
{
    int at = c->n_cells;
    c->n_cells += n;
    return at;
}

/* ---- sizes and shapes ------------------------------------------------------------------------------------------- */

typedef struct Vars {
    Compiler *c;
    int n;
    Nat *vars;
    int *cells;
} Vars;

static void count_var(void *user, Nat var)
{
    Vars *v = user;
    int cell;
    v->n += find(v->c, var, &cell);
}

static void add_var(void *user, Nat var)
{
    Vars *v = user;
    int cell;
    if (!find(v->c, var, &cell))
        return;
    v->vars[v->n] = var;
    v->cells[v->n++] = cell;
}

/* What belongs to no binder. */
static bool device_var(void *user, Nat var, int64_t *value)
{
    const Launch *launch = user;
    return launch_device_value(launch, var, value);
}

static Size compile_size(Compiler *c, Nat nat)
{
    Ctx *ctx = c->in->ctx;
    const CoreEntry *entry = c->in->entry;
    Nat *numbers = ARENA_NEWN(&c->in->arena, Nat, entry->n_sizes + 1);
    for (int i = 0; i < entry->n_sizes; i++)
        numbers[i] = nat_const(ctx, c->in->launch->sizes[i]);
    nat = nat_subst_many(ctx, nat, entry->n_sizes, entry->sizes, numbers);
    int64_t value;
    Vars vars = {.c = c};
    nat_each_var(ctx, nat, count_var, &vars);
    if (vars.n == 0 && nat_eval(nat, device_var, c->in->launch, &value) == NAT_EVAL_OK)
        return (Size){.value = value};
    /* What has no value (in a branch not taken) is found out only when it is asked for. */
    vars.vars = ARENA_NEWN(&c->in->arena, Nat, vars.n);
    vars.cells = ARENA_NEWN(&c->in->arena, int, vars.n);
    vars.n = 0;
    nat_each_var(ctx, nat, add_var, &vars);
    return (Size){.nat = nat, .n_vars = vars.n, .vars = vars.vars, .cells = vars.cells};
}

static Comp compile_comp(Compiler *c, Type t)
{
    Comp comp = {0};
    for (Type u = t; u->kind == TY_ARRAY || u->kind == TY_VEC; u = u->elem)
        comp.n_dims++;
    comp.by_address = comp.n_dims > 0 || c->in->shadow;
    Size *dims = ARENA_NEWN(&c->in->arena, Size, comp.n_dims);
    comp.dims = dims;
    while (t->kind == TY_ARRAY || t->kind == TY_VEC) {
        *dims++ = compile_size(c, t->size);
        t = t->elem;
    }
    comp.scalar = t->kind == TY_IDX ? SC_I64 : type_scalar_of(c->in->ctx, t);
    comp.bytes = scalar_room(c->in, comp.scalar);
    bool empty = false;
    for (int i = 0; i < comp.n_dims; i++) {
        empty |= !comp.dims[i].nat && comp.dims[i].value == 0;
        if (comp.bytes >= 0 && (comp.dims[i].nat || comp.dims[i].value < 0 || !mul_fits(comp.bytes, comp.dims[i].value, &comp.bytes)))
            comp.bytes = -1;
    }
    for (int i = 0; empty && i < comp.n_dims; i++)
        empty = !comp.dims[i].nat && comp.dims[i].value >= 0;
    if (empty)
        comp.bytes = 0;
    return comp;
}

static Shape *shape_of(Compiler *c, Type t)
{
    if (t->id < c->memo_cap && c->memo[t->id])
        return c->memo[t->id];
    Shape *s = ARENA_NEW(&c->in->arena, Shape);
    s->n = type_component_count(t);
    s->comps = ARENA_NEWN(&c->in->arena, Comp, s->n);
    s->fixed = true;
    for (int k = 0; k < s->n; k++) {
        s->comps[k] = compile_comp(c, type_component(c->in->ctx, t, k));
        s->fixed &= s->comps[k].bytes >= 0;
    }
    if (!s->fixed)
        return s;
    if (t->id >= c->memo_cap) {
        uint32_t cap = c->memo_cap * 2 > t->id + 64 ? c->memo_cap * 2 : t->id + 64;
        Shape **wider = ARENA_NEWN(&c->in->arena, Shape *, cap);
        if (c->memo_cap)
            memcpy(wider, c->memo, sizeof *wider * c->memo_cap);
        c->memo = wider;
        c->memo_cap = cap;
    }
    return c->memo[t->id] = s;
}

/* ---- terms ------------------------------------------------------------------------------------------------------ */

static int bind_var(Compiler *c, const CoreVar *var, int cell)
{
    bind(c, var, cell);
    if (var->type->kind == TY_IDX && var->nat)
        bind(c, var->nat, c->in->shadow ? ~cell : cell);
    return cell;
}

static Lambda *compile_lambda(Compiler *c, const Core *term)
{
    Arena *arena = &c->in->arena;
    Lambda *l = ARENA_NEW(arena, Lambda);
    int scope = c->n_places;
    l->n_nats = term->lambda.n_nats;
    int *nats = ARENA_NEWN(arena, int, l->n_nats);
    for (int i = 0; i < l->n_nats; i++)
        bind(c, term->lambda.nats[i], nats[i] = new_cells(c, 1));
    l->nats = nats;
    l->n = term->lambda.n;
    int *params = ARENA_NEWN(arena, int, l->n);
    for (int i = 0; i < l->n; i++) {
        const CoreVar *var = term->lambda.params[i];
        params[i] = bind_var(c, var, new_cells(c, type_component_count(var->type)));
    }
    l->params = params;
    int64_t before = c->roundings;
    l->body = compile(c, term->lambda.body);
    l->roundings = c->roundings - before;
    l->declared = term->lambda.op;
    unbind_to(c, scope);
    return l;
}

static bool is_plain(const Shape *s) { return s->n == 1 && s->comps[0].n_dims == 0; }

static void compile_prim(Compiler *c, const Core *term, Code *code)
{
    Arena *arena = &c->in->arena;
    code->kind = CODE_PRIM;
    code->id = term->prim.id;
    code->n_nats = term->prim.n_nats;
    code->nats = ARENA_NEWN(arena, Size, code->n_nats);
    for (int i = 0; i < code->n_nats; i++)
        code->nats[i] = compile_size(c, term->prim.nats[i]);
    code->n = term->prim.n_args;
    code->args = ARENA_NEWN(arena, Code *, code->n);
    code->arg_rows = ARENA_NEWN(arena, Shape *, code->n);
    code->lambdas = ARENA_NEWN(arena, Lambda *, code->n);
    bool scalars = prim_rows[code->id].level == LEVEL_SCALAR && is_plain(code->shape);
    for (int i = 0; i < code->n; i++) {
        const Core *arg = term->prim.args[i];
        if (arg->kind == CORE_LAMBDA) {
            code->lambdas[i] = compile_lambda(c, arg);
            if (!code->lambda)
                code->lambda = code->lambdas[i];
            continue;
        }
        code->args[i] = compile(c, arg);
        if (arg->type->kind == TY_ARRAY)
            code->arg_rows[i] = shape_of(c, arg->type->elem);
        scalars &= is_plain(code->args[i]->shape);
    }
    if (code->id == P_scanRowBlocks) { /* all elements of all rows, one after the other */
        int last = code->n - 1;
        code->arg_rows[last] = shape_of(c, term->prim.args[last]->type->elem->elem);
        code->row = shape_of(c, term->type->elem->elem);
    }
    if (prim_rows[code->id].level == LEVEL_SCALAR) {
        code->scalar = code->args[code->id == P_select]->shape->comps[0].scalar;
        c->roundings += shadow_rounds(code->id, code->shape->comps[0].scalar, code->scalar);
        if (scalars)
            code->kind = CODE_SCALAR;
    }
    else if (code->lambda && code->lambda->roundings)
        c->roundings += INT32_MAX; /* as often as there are elements */
    code->at = new_cells(c, code->shape->n);
}

/* `let`s in a row are one Code, however many. */
static void compile_lets(Compiler *c, const Core *term, Code *code)
{
    int scope = c->n_places;
    code->kind = CODE_LET;
    for (const Core *t = term; t->kind == CORE_LET; t = t->let.body)
        code->n++;
    code->args = ARENA_NEWN(&c->in->arena, Code *, code->n + 1);
    int k = 0;
    for (; term->kind == CORE_LET; term = term->let.body) {
        code->args[k] = compile(c, term->let.value);
        bind_var(c, term->let.var, code->args[k]->at);
        k++;
    }
    code->args[k] = compile(c, term);
    code->n++;
    code->at = code->args[k]->at;
    unbind_to(c, scope);
}

static Code *compile(Compiler *c, const Core *term)
{
    Arena *arena = &c->in->arena;
    Code *code = ARENA_NEW(arena, Code);
    code->span = term->span;
    code->shape = shape_of(c, term->type);
    code->row = term->type->kind == TY_ARRAY ? shape_of(c, term->type->elem) : NULL;
    switch (term->kind) {
    case CORE_VAR:
        code->kind = CODE_PLACE;
        if (!find(c, term->var, &code->at)) /* core_verify would have said so */
            code->at = new_cells(c, code->shape->n);
        break;
    case CORE_LIT:
        code->kind = CODE_LIT;
        code->lit = term->lit;
        code->at = new_cells(c, 1);
        break;
    case CORE_SIZE:
        code->kind = CODE_SIZE;
        code->n_nats = 1;
        code->nats = ARENA_NEW(arena, Size);
        code->nats[0] = compile_size(c, term->size);
        code->at = new_cells(c, 1);
        break;
    case CORE_PRIM:
        compile_prim(c, term, code);
        break;
    case CORE_LET:
        compile_lets(c, term, code);
        break;
    case CORE_TUPLE:
        code->kind = CODE_TUPLE;
        code->n = term->tuple.n;
        code->args = ARENA_NEWN(arena, Code *, code->n);
        for (int i = 0; i < code->n; i++)
            code->args[i] = compile(c, term->tuple.items[i]);
        code->at = new_cells(c, code->shape->n);
        break;
    case CORE_PROJ: {
        code->kind = CODE_PART;
        code->n = 1;
        code->args = ARENA_NEWN(arena, Code *, 1);
        code->args[0] = compile(c, term->proj.value);
        code->at = code->args[0]->at;
        for (int i = 0; i < term->proj.index; i++)
            code->at += type_component_count(term->proj.value->type->items[i]);
        break;
    }
    case CORE_IF:
        code->kind = CODE_IF;
        code->n = 3;
        code->args = ARENA_NEWN(arena, Code *, 3);
        code->args[0] = compile(c, term->cond.cond);
        code->args[1] = compile(c, term->cond.then);
        code->args[2] = compile(c, term->cond.otherwise);
        code->at = new_cells(c, code->shape->n);
        break;
    case CORE_LAMBDA:
    case CORE_UNIT_ERROR: /* in no finished core */
        code->kind = CODE_PLACE;
        code->at = new_cells(c, code->shape->n);
        break;
    }
    return code;
}

Code *interp_compile(Interp *in, int *inputs)
{
    Compiler *c = ARENA_NEW(&in->arena, Compiler);
    c->in = in;
    for (int i = 0; i < BUCKETS; i++)
        c->buckets[i] = -1;
    for (int i = 0; i < in->entry->n_inputs; i++)
        inputs[i] = bind_var(c, in->entry->inputs[i], new_cells(c, type_component_count(in->entry->inputs[i]->type)));
    Code *body = compile(c, in->entry->body);
    in->cells = ARENA_NEWN(&in->arena, Cell, c->n_cells + 1);
    return body;
}
