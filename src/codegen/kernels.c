/* Entries of several kernels: the cases of the size tests at the top, the kernels of each, and what they share.
 *
 * While an entry is translated, all kernels refer to the same buffers of global memory, and views made for one kernel are read in another. At the
 * end each kernel gets buffers, registers and expressions of its own; what could not come along is refused. */
#include "codegen/lowering.h"
#include "codegen/walk.h"

bool kernel_has_blocks(const ImpKernel *kernel)
{
    return kernel->grid[0]->kind == NAT_VAR || kernel->grid[1]->kind == NAT_VAR || kernel->grid[2]->kind == NAT_VAR;
}

/* ---- beginning one ------------------------------------------------------------------------------------------------------ */

ImpKernel *kernel_before(Lowering *lw)
{
    Ctx *ctx = lw->ctx;
    ImpKernel *kernel = lw->kernel;
    if (kernel->init)
        return kernel->init;
    Nat zero = nat_const(ctx, 0), one = nat_const(ctx, 1);
    ImpKernel *init = NEW(ctx, ImpKernel);
    init->entry = kernel->entry;
    init->known = kernel->known;
    init->warp = init->lane = zero;
    for (int a = 0; a < 3; a++) {
        init->threads[a] = 1;
        init->blocks[a] = init->grid[a] = one;
        init->block[a] = init->thread[a] = zero;
    }
    vec_push(ctx, &lw->program->kernels, kernel); /* the kernel moves on by one */
    lw->program->kernels.at[lw->program->kernels.n - 2] = init;
    return kernel->init = init;
}

/* All statements of the kernel are there. */
static void kernel_end(Lowering *lw)
{
    if (lw->kernel && !lw->failed)
        layout_finish_in_place(lw);
}

void kernel_begin(Lowering *lw, const Core *start, const Core *scope)
{
    Ctx *ctx = lw->ctx;
    const CoreEntry *entry = lw->entry;
    kernel_end(lw);
    ImpKernel *kernel = NEW(ctx, ImpKernel);
    kernel->name = entry->name; /* until all kernels of the case are there */
    kernel->entry = entry;
    kernel->known = lw->known;
    vec_push(ctx, &lw->program->kernels, kernel);
    lw->kernel = kernel;
    lw->out = &kernel->body;
    lw->facts = nat_facts_new(ctx, lw->known);
    launch_plan(lw, start);
    for (int i = 0; i < entry->n_inputs; i++) /* a scalar that several places read goes into a register of this kernel */
        lower_bind(lw, entry->inputs[i], lw->inputs[i], scope);
}

/* ---- what a kernel has of its own ----------------------------------------------------------------------------------------- */

typedef struct Owner {
    Lowering *lw;
    ImpKernel *kernel;
    ImpBuf **copies; /* of lw->globals; NULL: not used */
    Span span;
} Owner;

static void left_behind(Owner *o, Span span, const char *name, const char *what)
{
    if (o->lw->failed)
        return; /* once is enough */
    Diag *d = lower_error(o->lw, E0421, span, "%s does not live on in the next kernel", name ? ctx_printf(o->lw->ctx, "`%s`", name) : "this value");
    diag_label(o->lw->ctx, d, "it lies in %s of the kernel before", what);
    diag_help(o->lw->ctx, d, "store it in global memory before `nextKernel`: `toGlobal`");
}

static ImpKernel *kernel_of(const Owner *o, const ImpVar *var)
{
    for (int k = 0; k < o->lw->program->kernels.n; k++) {
        ImpKernel *kernel = o->lw->program->kernels.at[k];
        if (var->id < kernel->vars.n && kernel->vars.at[var->id] == var)
            return kernel;
    }
    return NULL;
}

typedef struct FindDecl {
    const ImpVar *var;
    ImpExpr *value;
    bool again; /* set a second time */
} FindDecl;

static void find_decl(void *user, ImpStmt *s)
{
    FindDecl *f = user;
    if ((s->kind != IS_DECL && s->kind != IS_SET) || s->var.var != f->var)
        return;
    f->again |= f->value || s->kind == IS_SET;
    f->value = s->var.value;
}

static void find_local(void *user, ImpExpr **at)
{
    const ImpExpr *e = *at;
    bool *local = user;
    *local |= e->kind == IE_VAR || e->kind == IE_SHFL || (e->kind == IE_LOAD && e->mem.buf->space != SPACE_INPUT);
}

static void round_product(void *user, ImpExpr **at)
{
    (void)user;
    if ((*at)->kind == IE_OP && (*at)->op.id == P_mul && scalar_is_float((*at)->type))
        (*at)->op.rounded = true;
}

/* The value of another kernel's register where this kernel can compute it as well: from inputs and sizes alone. */
static ImpExpr *computed_again(const Owner *o, const ImpVar *var)
{
    ImpKernel *home = kernel_of(o, var);
    FindDecl f = {var, NULL, false};
    if (!home || !var->constant)
        return NULL;
    walk_stmts(&home->body, find_decl, &f);
    bool local = f.again || !f.value;
    if (f.value)
        walk_expr(&f.value, find_local, &local);
    if (local)
        return NULL;
    walk_expr(&f.value, round_product, NULL); /* both kernels get the same bits */
    return imp_copy_expr(o->lw->ctx, f.value);
}

static void own_expr(void *user, ImpExpr **at)
{
    Owner *o = user;
    const ImpExpr *e = *at;
    if (e->kind != IE_VAR || kernel_of(o, e->var.var) == o->kernel)
        return;
    ImpExpr *again = computed_again(o, e->var.var);
    if (again)
        *at = again;
    else
        left_behind(o, e->span, e->var.var->named ? e->var.var->name : NULL, "a register");
}

static void own_buf(void *user, ImpBuf **at)
{
    Owner *o = user;
    Ctx *ctx = o->lw->ctx;
    ImpBuf *buf = *at;
    if (buf->space == SPACE_SHARED) {
        bool mine = false;
        for (int i = 0; i < o->kernel->bufs.n; i++)
            mine |= o->kernel->bufs.at[i] == buf;
        if (!mine)
            left_behind(o, o->span, buf->name, "the shared memory");
        return;
    }
    ImpBuf **copy = &o->copies[buf->id];
    if (*copy == NULL) {
        *copy = NEW(ctx, ImpBuf);
        **copy = *buf;
        (*copy)->align = 0;
    }
    *at = *copy;
}

static void foreign_nat(void *user, Nat var)
{
    Owner *o = user;
    for (int k = 0; k < o->lw->program->kernels.n; k++) {
        const ImpKernel *kernel = o->lw->program->kernels.at[k];
        bool its = var == kernel->warp || var == kernel->lane;
        for (int a = 0; a < 3; a++)
            its |= var == kernel->grid[a] || var == kernel->block[a] || var == kernel->thread[a];
        for (int i = 0; i < kernel->vars.n; i++)
            its |= kernel->vars.at[i]->nat == var;
        if (its && kernel != o->kernel)
            left_behind(o, o->span, NULL, "registers");
    }
}

static void own_nat(void *user, Nat nat)
{
    Owner *o = user;
    nat_each_var(o->lw->ctx, nat, foreign_nat, o);
}

static void own_values(void *user, ImpStmt *s)
{
    Owner *o = user;
    o->span = s->span;
    imp_own_exprs(o->lw->ctx, s);
    walk_own(s, own_expr, o);
    walk_nats(s, own_nat, o);
}

static void own_bufs(void *user, ImpStmt *s)
{
    Owner *o = user;
    o->span = s->span;
    walk_bufs(s, own_buf, o);
    if (s->kind == IS_VLOAD || s->kind == IS_VSTORE) { /* this kernel needs it, whatever others do */
        int bytes = s->vec.n * scalar_bytes(s->vec.buf->elem);
        s->vec.buf->align = s->vec.buf->align > bytes ? s->vec.buf->align : bytes;
    }
}

typedef struct VarReads {
    const ImpVar *var;
    bool found;
} VarReads;

static void find_read(void *user, ImpExpr **at)
{
    VarReads *r = user;
    r->found |= (*at)->kind == IE_VAR && (*at)->var.var == r->var;
}

/* Scalar inputs that this kernel has no use for. */
static void drop_unread(ImpKernel *kernel)
{
    for (int i = 0; i < kernel->body.list.n; i++) {
        const ImpStmt *s = kernel->body.list.at[i];
        VarReads r = {s->var.var, false};
        if (s->kind != IS_DECL || !s->var.value || !s->var.var->constant || s->var.var->nat)
            continue;
        walk_block(&kernel->body, find_read, &r);
        if (!r.found)
            block_remove(&kernel->body, i--);
    }
}

/* What other kernels computed. All kernels still refer to the same buffers. */
static void own_kernel_values(Lowering *lw, ImpKernel *kernel)
{
    Owner o = {.lw = lw, .kernel = kernel};
    walk_stmts(&kernel->body, own_values, &o);
}

/* ---- the kernels of a case -------------------------------------------------------------------------------------------------- */

static bool does_nothing(const ImpKernel *kernel)
{
    for (int i = 0; i < kernel->body.list.n; i++)
        if (kernel->body.list.at[i]->kind != IS_NOTE)
            return false;
    return true;
}

/* One way through the size tests, and its kernels. */
typedef struct Case {
    int first, end;   /* kernels of the program */
    ImpWhens when;
    const char *word; /* which side of the outermost test it is */
    ImpHint *hints;   /* of lw->globals[0 .. n_hints - 1] */
    int n_hints;
} Case;

typedef struct Cases {
    View *result;
    VEC(Case) list;
} Cases;

/* The kernels from number `first` on, without those that do nothing. */
static Case finish_case(Lowering *lw, int first, const char *word)
{
    ImpProgram *program = lw->program;
    int n = first;
    for (int k = first; k < program->kernels.n; k++)
        if (!does_nothing(program->kernels.at[k]) || (k == program->kernels.n - 1 && n == first))
            program->kernels.at[n++] = program->kernels.at[k];
    program->kernels.n = n;
    return (Case){.first = first, .end = n, .word = word};
}

/* What the case said of its inputs' loads, which is not said in the next one. */
static void take_hints(Lowering *lw, Case *c)
{
    c->n_hints = lw->globals.n;
    c->hints = NEWN(lw->ctx, ImpHint, c->n_hints + 1);
    for (int i = 0; i < c->n_hints; i++) {
        c->hints[i] = lw->globals.at[i]->hint;
        lw->globals.at[i]->hint = HINT_NONE;
    }
}

/* The names that people would give them. */
static void name_case(Lowering *lw, const Case *c, const char *base)
{
    ImpProgram *program = lw->program;
    int steps = 0, step = 0;
    for (int k = c->first; k < c->end; k++)
        steps += program->kernels.at[k]->name != NULL;
    for (int k = c->first; k < c->end; k++) {
        ImpKernel *kernel = program->kernels.at[k];
        if (!kernel->name)
            continue;
        step++;
        kernel->name = step == 1       ? base
                       : step == steps ? ctx_printf(lw->ctx, "%s_finish", base)
                                       : ctx_printf(lw->ctx, "%s_%d", base, step);
        if (kernel->init)
            kernel->init->name = ctx_printf(lw->ctx, "%s_init", kernel->name);
    }
}

/* Two cases are called by their condition. More are counted in the order of the text: the conditions stand above the kernels. */
static void name_cases(Lowering *lw, const Cases *cases)
{
    const char *base = lw->entry->name;
    for (int i = 0; i < cases->list.n; i++) {
        const Case *c = &cases->list.at[i];
        name_case(lw, c, cases->list.n == 1   ? base
                         : cases->list.n == 2 ? ctx_printf(lw->ctx, "%s_%s", base, c->word)
                                              : ctx_printf(lw->ctx, "%s_case%d", base, i + 1));
    }
}

static void own_kernel_bufs(Lowering *lw, const Case *c, ImpKernel *kernel)
{
    Ctx *ctx = lw->ctx;
    Owner o = {.lw = lw, .kernel = kernel};
    o.copies = NEWN(ctx, ImpBuf *, lw->globals.n);
    drop_unread(kernel);
    walk_stmts(&kernel->body, own_bufs, &o);
    VEC(ImpBuf *) bufs = {0};
    for (int i = 0; i < lw->globals.n; i++)
        if (o.copies[i]) {
            o.copies[i]->hint = i < c->n_hints ? c->hints[i] : HINT_NONE;
            vec_push(ctx, &bufs, o.copies[i]);
        }
    for (int i = 0; i < kernel->bufs.n; i++)
        vec_push(ctx, &bufs, kernel->bufs.at[i]);
    for (int i = 0; i < bufs.n; i++)
        bufs.at[i]->id = i;
    kernel->bufs.at = bufs.at;
    kernel->bufs.n = bufs.n;
    kernel->bufs.cap = bufs.cap;
}

static void lower_case(Lowering *lw, Cases *cases, const char *word)
{
    const CoreEntry *entry = lw->entry;
    int first = lw->program->kernels.n;
    lw->env = NULL;
    kernel_begin(lw, NULL, entry->body);
    lower_write(lw, entry->body, cases->result);
    kernel_end(lw);
    Case done = finish_case(lw, first, word);
    for (int i = 0; i < lw->decisions.n; i++)
        vec_push(lw->ctx, &done.when, ((ImpWhen){lw->decisions.at[i].test->cond.cond, lw->decisions.at[i].holds}));
    take_hints(lw, &done);
    vec_push(lw->ctx, &cases->list, done);
}

/* ---- cases ------------------------------------------------------------------------------------------------------------------- */

const Core *lower_decided(const Lowering *lw, const Core *e)
{
    for (int i = 0; e->kind == CORE_IF && i < lw->decisions.n; i++)
        if (lw->decisions.at[i].test == e)
            return lw->decisions.at[i].holds ? e->cond.then : e->cond.otherwise;
    return NULL;
}

/* A condition that the host can decide before it launches. */
static bool is_size_test(const Core *e)
{
    if (e->kind != CORE_PRIM)
        return false;
    PrimId id = e->prim.id;
    if (id >= P_eq && id <= P_ge)
        return e->prim.args[0]->kind == CORE_SIZE && e->prim.args[1]->kind == CORE_SIZE;
    if (id != P_and && id != P_or && id != P_not)
        return false;
    for (int i = 0; i < e->prim.n_args; i++)
        if (!is_size_test(e->prim.args[i]))
            return false;
    return true;
}

static const char *case_word(const Core *test, bool holds)
{
    switch ((int)test->prim.id) {
    case P_lt: case P_le:
        return holds ? "small" : "large";
    case P_gt: case P_ge:
        return holds ? "large" : "small";
    case P_and: case P_or:
        return case_word(test->prim.args[0], holds);
    case P_not:
        return case_word(test->prim.args[0], !holds);
    }
    return holds ? "then" : "else";
}

/* `word`: NULL outside of all tests that are open. */
static void each_case(Lowering *lw, const Core *e, Cases *cases, const char *word)
{
    Ctx *ctx = lw->ctx;
    while (e->kind == CORE_LET)
        e = e->let.body;
    if (e->kind != CORE_IF || !is_size_test(e->cond.cond)) {
        lower_case(lw, cases, word);
        return;
    }
    lw->env = NULL;
    lw->facts = lw->known;
    ImpExpr *test = view_scalar(lw, lower_read(lw, e->cond.cond));
    NatFacts *known = lw->known;
    bool always = cond_is(lw, test, true), never = cond_is(lw, test, false), decided = always || never;
    for (int k = 0; k < 2 && !lw->failed; k++) {
        bool holds = k == 0;
        if (holds ? never : always)
            continue;
        vec_push(ctx, &lw->decisions, ((Decision){e, holds}));
        lw->known = lw->facts = nat_facts_new(ctx, known);
        if (holds)
            assume(lw, test);
        else
            assume_not(lw, test);
        each_case(lw, holds ? e->cond.then : e->cond.otherwise, cases, word || decided ? word : case_word(e->cond.cond, holds));
        lw->decisions.n--;
        lw->known = known;
    }
}

/* The first kernel of each case is a variant of the first launch, and so on. */
static void make_launches(Lowering *lw, const Cases *cases)
{
    ImpProgram *program = lw->program;
    for (int i = 0; i < cases->list.n; i++) {
        const Case *c = &cases->list.at[i];
        for (int k = c->first; k < c->end; k++) {
            if (program->launches.n <= k - c->first)
                vec_push(lw->ctx, &program->launches, ((ImpLaunch){{0}}));
            vec_push(lw->ctx, &program->launches.at[k - c->first].variants, ((ImpVariant){c->when, program->kernels.at[k]}));
        }
    }
}

void lower_kernels(Lowering *lw)
{
    Ctx *ctx = lw->ctx;
    const CoreEntry *entry = lw->entry;
    lw->known = nat_facts_new(ctx, (NatFacts *)entry->known);
    View *result = lower_buffers(lw, entry->result, (BufMaker){.space = SPACE_OUTPUT, .name = "result", .span = entry->name_span});
    lw->inputs = NEWN(ctx, View *, entry->n_inputs);
    int first = 0;
    for (int i = 0; i < entry->n_inputs; i++) {
        CoreVar *var = entry->inputs[i];
        lw->inputs[i] = lower_buffers(lw, var->type, (BufMaker){.space = SPACE_INPUT, .name = var->name, .span = var->span, .first = first});
        first += type_component_count(var->type);
    }
    Cases cases = {.result = result};
    each_case(lw, entry->body, &cases, NULL);
    name_cases(lw, &cases);
    make_launches(lw, &cases);
    for (int k = 0; lw->program->kernels.n > 1 && k < lw->program->kernels.n && !lw->failed; k++)
        own_kernel_values(lw, lw->program->kernels.at[k]);
    for (int i = 0; i < cases.list.n; i++)
        for (int k = cases.list.at[i].first; k < cases.list.at[i].end && !lw->failed; k++)
            own_kernel_bufs(lw, &cases.list.at[i], lw->program->kernels.at[k]);
}
