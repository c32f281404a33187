#include "rplant.h"

#include "codegen/walk.h"
#include "ir/key.h"

const char *const plant_names[PLANT_KINDS] = {"guard lost",  "branches exchanged", "comparison changed", "next element read", "indices exchanged", "last element left out", "other unit", "other array read",
                                              "zeros instead", "results exchanged", "launch missing",     "launch too early",  "other buffer",      "turn left out"};

enum { TEXT_MAX = 70 };

/* ---- terms --------------------------------------------------------------------------------------- */

typedef struct Planter {
    Ctx *ctx;
    const CoreEntry *entry;
    int *next_var;
    int left; /* places before the one that is wanted */
    Plant *plant;
    bool done;
    VEC(CoreVar *) arrays; /* inputs, and `let`s around */
} Planter;

static const char *short_text(Ctx *ctx, const Core *term)
{
    StrBuf out;
    sb_init(&out, ctx);
    core_print(&out, term);
    char *text = (char *)ctx_printf(ctx, "%s", out.text ? out.text : "");
    for (char *at = text; *at; at++)
        *at = *at == '\n' ? ' ' : *at;
    return ctx_printf(ctx, "%.*s", TEXT_MAX, text);
}

/* Is this place the one? */
static bool here(Planter *p, PlantKind kind, const Core *term)
{
    if (p->done || p->left-- > 0)
        return false;
    *p->plant = (Plant){kind, term->span, short_text(p->ctx, term)};
    p->done = true;
    return true;
}

static bool is_prim(const Core *term, PrimId id) { return term->kind == CORE_PRIM && term->prim.id == id; }

/* A choice between two ways to the same: prefixes of fewer elements than this take a thread each, and that is right for any number, only slow. */
static bool is_choice(const Core *cond)
{
    enum { PARTS_FROM = 1024 };
    return is_prim(cond, P_lt) && cond->prim.args[0]->kind == CORE_SIZE && cond->prim.args[1]->kind == CORE_SIZE && nat_is(cond->prim.args[1]->size, PARTS_FROM);
}

static PrimId other_comparison(PrimId id)
{
    return id == P_lt ? P_le : id == P_le ? P_lt : id == P_gt ? P_ge : id == P_ge ? P_gt : P_COUNT;
}

static Core *with_child(Ctx *ctx, const Core *term, int i, Core *child)
{
    Core *new = term_copy(ctx, term);
    term_set_child(new, i, child);
    return new;
}

static Core *take_fewer(Ctx *ctx, Core *xs)
{
    Nat nats[2] = {xs->type->size, nat_max(ctx, nat_const(ctx, 0), nat_add_k(ctx, xs->type->size, -1))};
    return make_prim(ctx, P_take, type_array(ctx, nats[1], xs->type->elem), 2, nats, 1, &xs, xs->span);
}

/* Another number for the first literal in it; NULL: there is none. */
static Core *other_literal(Ctx *ctx, Core *term)
{
    if (term->kind == CORE_LIT) {
        Core *new = term_copy(ctx, term);
        Scalar s = term->lit.type;
        new->lit = s == SC_BOOL ? scalar_int(s, !term->lit.i) : scalar_is_float(s) ? scalar_float(s, term->lit.f == 100 ? 50 : 100) : scalar_int(s, term->lit.i == 100 ? 50 : 100);
        return new;
    }
    for (int i = 0; i < term_children(term) && term->kind == CORE_TUPLE; i++) {
        Core *other = other_literal(ctx, term_child(term, i));
        if (other)
            return with_child(ctx, term, i, other);
    }
    return NULL;
}

static CoreVar *other_array(const Planter *p, const CoreVar *var)
{
    for (int i = p->arrays.n - 1; i >= 0; i--)
        if (p->arrays.at[i] != var && p->arrays.at[i]->type == var->type)
            return p->arrays.at[i];
    return NULL;
}

static bool is_zero(const Core *term)
{
    bool zero = term->kind != CORE_LIT || (scalar_is_float(term->lit.type) ? term->lit.f == 0 : term->lit.i == 0);
    for (int i = 0; i < term_children(term) && zero; i++)
        zero = is_zero(term_child(term, i));
    return zero && (term->kind == CORE_LIT || term->kind == CORE_TUPLE || is_prim(term, P_generate) || term->kind == CORE_LAMBDA);
}

typedef struct Axes {
    const CoreEntry *entry;
    bool found;
} Axes;

static void look_for_axis(void *user, Nat var)
{
    Axes *axes = user;
    bool size = false;
    for (int i = 0; i < axes->entry->n_sizes; i++)
        size |= axes->entry->sizes[i] == var;
    axes->found |= !size;
}

static void look_for_axes(const Planter *p, const Core *term, Axes *axes)
{
    if (term->kind == CORE_SIZE)
        nat_each_var(p->ctx, term->size, look_for_axis, axes);
    for (int i = 0; i < term_children(term); i++)
        look_for_axes(p, term_child(term, i), axes);
}

/* Where such a condition does not hold, nobody reads what is there, and it may be any number. One that compares an axis may keep reads in bounds. */
static bool is_free(const Planter *p, const Core *choice)
{
    Axes axes = {p->entry, false};
    look_for_axes(p, choice->cond.cond, &axes);
    return is_zero(choice->cond.otherwise) && !axes.found;
}

/* One of the faults that a reading of an element may have. */
static Core *plant_index(Planter *p, Core *term)
{
    Ctx *ctx = p->ctx;
    Nat n = term->prim.nats[0], at = term->prim.nats[1];
    Core *array = term->prim.args[0];
    if (!nat_is(n, 1) && here(p, PLANT_INDEX, term)) {
        Nat last = nat_add_k(ctx, n, -1), next = nat_add_k(ctx, at, 1);
        return make_index(ctx, array, nat_is_const(at) && !at->value ? next : nat_max(ctx, nat_const(ctx, 0), nat_min(ctx, next, last)), term->span);
    }
    if (is_prim(array, P_index) && array->prim.nats[1] != at && here(p, PLANT_AXES, term))
        return make_index(ctx, make_index(ctx, array->prim.args[0], at, term->span), array->prim.nats[1], term->span);
    return term;
}

static Core *plant_prim(Planter *p, Core *term)
{
    Ctx *ctx = p->ctx;
    PrimId id = term->prim.id;
    int last = term->prim.n_args - 1;
    bool compares = other_comparison(id) != P_COUNT && term->prim.args[0]->kind == CORE_SIZE && term->prim.args[1]->kind == CORE_SIZE;
    bool fold = id == P_reduce || id == P_reduceSeq, prefixes = id == P_scan || id == P_scanExcl || id == P_scanSeq || id == P_scanSeqExcl;
    if (compares && !is_choice(term) && here(p, PLANT_COMPARISON, term)) {
        Core *new = term_copy(ctx, term);
        new->prim.id = other_comparison(id);
        return new;
    }
    if (id == P_index)
        return plant_index(p, term);
    if (fold && here(p, PLANT_EXTENT, term)) {
        Core *new = with_child(ctx, term, last, take_fewer(ctx, term->prim.args[last]));
        Nat *nats = NEWN(ctx, Nat, term->prim.n_nats);
        memcpy(nats, term->prim.nats, sizeof *nats * (size_t)term->prim.n_nats);
        nats[0] = new->prim.args[last]->type->size;
        new->prim.nats = nats;
        return new;
    }
    Core *unit = fold || prefixes ? other_literal(ctx, term->prim.args[1]) : NULL;
    if (unit && here(p, PLANT_UNIT, term))
        return with_child(ctx, term, 1, unit);
    return term;
}

static Core *plant_here(Planter *p, Core *term)
{
    switch (term->kind) {
    case CORE_IF:
        if (!is_choice(term->cond.cond) && !is_free(p, term) && here(p, PLANT_GUARD, term))
            return term->cond.then;
        if (here(p, PLANT_BRANCHES, term))
            return make_if(p->ctx, term->cond.cond, term->cond.otherwise, term->cond.then, term->span);
        return term;
    case CORE_VAR: {
        CoreVar *other = term->type->kind == TY_ARRAY ? other_array(p, term->var) : NULL;
        return other && here(p, PLANT_READ, term) ? make_ref(p->ctx, other, term->span) : term;
    }
    case CORE_LET:
        if (term->let.var->type->kind == TY_ARRAY && here(p, PLANT_STAGE, term->let.value))
            return make_let(p->ctx, term->let.var, make_zero(p->ctx, p->next_var, term->let.value->type, term->span), term->let.body);
        return term;
    case CORE_PRIM: return plant_prim(p, term);
    default: return term;
    }
}

static Core *planted(Planter *p, Core *term)
{
    Core *new = plant_here(p, term);
    if (new != term || p->done)
        return new;
    for (int i = 0; i < term_children(term) && !p->done; i++) {
        int arrays = p->arrays.n;
        if (term->kind == CORE_LET && i == 1)
            vec_push(p->ctx, &p->arrays, term->let.var);
        Core *part = term_child(term, i), *changed = planted(p, part);
        p->arrays.n = arrays;
        if (changed != part)
            return with_child(p->ctx, term, i, changed);
    }
    return term;
}

/* The results of a list stand at its end. */
static Core *with_results_exchanged(Planter *p, Core *body)
{
    if (body->kind == CORE_LET) {
        Core *rest = with_results_exchanged(p, body->let.body);
        return rest == body->let.body ? body : make_let(p->ctx, body->let.var, body->let.value, rest);
    }
    bool two = body->kind == CORE_TUPLE && body->tuple.items[0]->type == body->tuple.items[1]->type && !core_same(p->ctx, body->tuple.items[0], body->tuple.items[1]);
    if (!two || !here(p, PLANT_RESULTS, body))
        return body;
    return with_child(p->ctx, with_child(p->ctx, body, 0, body->tuple.items[1]), 1, body->tuple.items[0]);
}

Core *plant_term(Ctx *ctx, const CoreEntry *entry, Core *body, int k, int *next_var, Plant *plant)
{
    Planter p = {.ctx = ctx, .entry = entry, .next_var = next_var, .left = k, .plant = plant};
    for (int i = 0; i < entry->n_inputs; i++)
        if (entry->inputs[i]->type->kind == TY_ARRAY)
            vec_push(ctx, &p.arrays, entry->inputs[i]);
    Core *new = with_results_exchanged(&p, body);
    if (!p.done)
        new = planted(&p, body);
    return p.done ? new : NULL;
}

/* ---- launches ------------------------------------------------------------------------------------ */

static const char *launch_text(Ctx *ctx, const ImpLaunch *launch)
{
    return launch->variants.n ? ctx_printf(ctx, "%s", launch->variants.at[0].kernel->name) : "nothing";
}

static bool uses_temp(const ImpLaunch *launch, const char *name)
{
    for (int v = 0; v < launch->variants.n; v++) {
        const ImpKernel *kernel = launch->variants.at[v].kernel;
        for (int i = 0; i < kernel->bufs.n; i++)
            if (kernel->bufs.at[i]->space == SPACE_TEMP && strcmp(kernel->bufs.at[i]->name, name) == 0)
                return true;
    }
    return false;
}

/* Does the second of two launches want what the first one leaves? */
static bool are_linked(const ImpLaunch *a, const ImpLaunch *b)
{
    for (int v = 0; v < a->variants.n; v++) {
        const ImpKernel *kernel = a->variants.at[v].kernel;
        for (int i = 0; i < kernel->bufs.n; i++)
            if (kernel->bufs.at[i]->space == SPACE_TEMP && uses_temp(b, kernel->bufs.at[i]->name))
                return true;
    }
    return false;
}

static void copy_launches(Ctx *ctx, const ImpProgram *program, LaunchPlant *p)
{
    p->program = *program;
    memset(&p->program.launches, 0, sizeof p->program.launches);
    for (int i = 0; i < program->launches.n; i++)
        vec_push(ctx, &p->program.launches, program->launches.at[i]);
}

static bool wanted(Ctx *ctx, const ImpProgram *program, int *k, int launch, PlantKind kind, const char *what, LaunchPlant *p)
{
    if ((*k)-- > 0)
        return false;
    copy_launches(ctx, program, p);
    p->launch = launch;
    p->plant = (Plant){kind, program->entry->span, what};
    return true;
}

typedef struct Access {
    const ImpBuf *buf;
    bool found;
} Access;

static void look_at_buf(void *user, ImpBuf **at) { ((Access *)user)->found |= *at == ((Access *)user)->buf; }

static void look_at_stmt(void *user, ImpStmt *s) { walk_bufs(s, look_at_buf, user); }

static bool is_accessed(ImpKernel *kernel, const ImpBuf *buf)
{
    Access access = {buf, false};
    walk_stmts(&kernel->body, look_at_stmt, &access);
    return access.found;
}

/* Reads, or writes, the other one of the two in all forms of its kernel. */
static bool exchange_buffer(Ctx *ctx, LaunchPlant *p, ImpKernel *kernel, const char *name)
{
    for (; kernel; kernel = kernel->otherwise)
        for (int i = 0; i < kernel->bufs.n; i++) {
            Nat *turns = &kernel->bufs.at[i]->turns;
            bool mine = strcmp(kernel->bufs.at[i]->name, name) == 0 && kernel->bufs.at[i]->swap;
            for (int k = 0; k < p->changed.n; k++) /* forms may share it */
                mine &= p->changed.at[k].at != turns;
            if (!mine)
                continue;
            vec_push(ctx, &p->changed, ((Changed){turns, *turns}));
            *turns = nat_add_k(ctx, *turns, 1);
        }
    return true;
}

static bool plant_buffer(Ctx *ctx, const ImpProgram *program, int *k, int i, LaunchPlant *p)
{
    const ImpLaunch *launch = &program->launches.at[i];
    for (int v = 0; v < launch->variants.n; v++) {
        ImpKernel *kernel = launch->variants.at[v].kernel;
        for (int b = 0; b < kernel->bufs.n; b++) {
            const ImpBuf *buf = kernel->bufs.at[b];
            if (buf->swap && is_accessed(kernel, buf) && wanted(ctx, program, k, i, PLANT_BUFFER, ctx_printf(ctx, "%s of %s", buf->name, kernel->name), p))
{
                p->kernel = kernel;
                return exchange_buffer(ctx, p, kernel, buf->name);
            }
        }
    }
    return false;
}

bool plant_launch(Ctx *ctx, const ImpProgram *program, int k, LaunchPlant *p)
{
    *p = (LaunchPlant){.launch = 0};
    for (int i = 0; i < program->launches.n; i++) {
        const ImpLaunch *launch = &program->launches.at[i];
        const char *what = launch_text(ctx, launch);
        if (wanted(ctx, program, &k, i, PLANT_LAUNCH, what, p)) {
            p->program.launches.at[i].variants.n = 0;
            return true;
        }
        bool linked = i > 0 && launch->group == launch[-1].group && are_linked(launch - 1, launch);
        if (linked && wanted(ctx, program, &k, i, PLANT_ORDER, what, p)) {
            p->program.launches.at[i] = launch[-1];
            p->program.launches.at[i - 1] = *launch;
            return true;
        }
        if (launch->group && (i == 0 || launch[-1].group != launch->group) && wanted(ctx, program, &k, i, PLANT_COUNT, what, p)) {
            ImpGroup *group = (ImpGroup *)launch->group; /* its kernels know it */
            vec_push(ctx, &p->changed, ((Changed){&group->count, group->count}));
            group->count = nat_max(ctx, nat_const(ctx, 0), nat_add_k(ctx, group->count, -1));
            return true;
        }
        if (plant_buffer(ctx, program, &k, i, p))
            return true;
    }
    return false;
}

void plant_remove(LaunchPlant *p)
{
    for (int i = 0; i < p->changed.n; i++)
        *p->changed.at[i].at = p->changed.at[i].old;
}
