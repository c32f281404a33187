/* Functions of the text for what stands in several places: imp.h, Note [Functions].
 *
 * They are templates of what the kernels that call them differ in, as kernels' bodies are: the type
 * of indices, and whether arrays are aligned. */
#include "codegen/cuda_internal.h"
#include "codegen/walk.h"

static void put(Cuda *c, const char *text) { sb_puts(c->out, text); }

/* ---- templates ------------------------------------------------------------------------------- */

typedef struct Needs {
    const ImpKernel *kernel;
    bool vectors, blocks;
} Needs;

static void need_nat(void *user, Nat nat)
{
    Needs *n = user;
    for (int a = 0; a < 3; a++)
        n->blocks |= n->kernel->block[a]->kind == NAT_VAR && nat_mentions(nat, n->kernel->block[a]);
}

static void need_stmt(void *user, ImpStmt *s)
{
    Needs *n = user;
    bool vector = s->kind == IS_VLOAD || s->kind == IS_VSTORE;
    n->vectors |= vector && (s->vec.buf->space == SPACE_INPUT || s->vec.buf->space == SPACE_OUTPUT);
    walk_nats(s, need_nat, n);
}

CudaFunction *cuda_functions(Ctx *ctx, const ImpProgram *program, const CudaNames *names)
{
    CudaFunction *functions = NEWN(ctx, CudaFunction, program->functions.n + 1);
    for (int i = 0; i < program->functions.n; i++) {
        ImpFunction *imp = program->functions.at[i];
        CudaFunction *f = &functions[i];
        Needs needs = {.kernel = imp->kernel};
        walk_stmts(&imp->body, need_stmt, &needs);
        *f = (CudaFunction){.imp = imp, .name = names->functions[i]};
        bool index = needs.blocks, differ = false;
        for (int k = 0; k < imp->params.n; k++)
            index |= imp->params.at[k].wide;
        for (int k = 0; k < imp->callers.n; k++) {
            const CudaIndex type = cuda_text_index(imp->callers.at[k]);
            differ |= k && type != f->type;
            f->type = type;
            f->wide |= type != INDEX_INT;
            f->aligned |= needs.vectors && cuda_text_may_be_unaligned(imp->callers.at[k]);
        }
        f->type = differ ? INDEX_PARAMETER : f->type;
        if (!index)
            f->type = f->wide ? INDEX_LONG : INDEX_INT;
    }
    return functions;
}

bool cuda_is_called(const CudaFunction *f, const ImpKernel *kernel)
{
    for (int i = 0; i < f->imp->callers.n; i++)
        if (f->imp->callers.at[i] == kernel)
            return true;
    return false;
}

static const CudaFunction *function_of(const Cuda *c, const ImpCall *call)
{
    const CudaFunction *f = c->functions;
    while (f->imp != call->function)
        f++;
    return f;
}

/* ---- a function ------------------------------------------------------------------------------ */

static void put_called(Cuda *c, const ImpCall *call, bool returned);

static const char *type_of(Cuda *c, const ImpVar *var)
{
    return var->divides || var->vector ? cuda_var_type(c, var) : cuda_value_type(var->type);
}

static const char *declaration(Cuda *c, const ImpVar *var, const char *name)
{
    bool array = var->slots > 1 && !var->vector;
    return array ? ctx_printf(c->ctx, "%s %s[%d]", type_of(c, var), name, var->slots)
                 : ctx_printf(c->ctx, "%s %s", type_of(c, var), name);
}

static const char *parameter(Cuda *c, const ImpParam *p)
{
    const char *name;
    switch (p->kind) {
    case PARAM_BUF:
        name = c_name_claim(c->names, p->buf->name);
        c->buf_names[p->buf->id] = name;
        c->buf_scalars[p->buf->id] = p->buf->by_value;
        return ctx_printf(c->ctx, "%s%s %s%s",
                          kernel_writes(c->kernel, p->buf) || p->buf->by_value ? "" : "const ",
                          cuda_type(p->buf->elem), p->buf->by_value ? "" : "*", name);
    case PARAM_NAT:
        name = c_name_claim(c->names, p->nat->name);
        c_names_set(c->names, p->nat, name);
        if (p->var)
            c->var_names[p->var->id] = name;
        if (p->wide && c->kernel->wide)
            vec_push(c->ctx, &c->wide, p->nat);
        return ctx_printf(c->ctx, "%s %s", cuda_index_type(p->wide ? c->index : INDEX_INT), name);
    case PARAM_VAR: break;
    }
    const ImpVar *var = p->var;
    bool array = var->slots > 1 && !var->vector;
    c->var_names[var->id] = name = cuda_claim(c, var);
    c->known[var->id] = true;
    if (array)
        return ctx_printf(c->ctx, "%s%s (&%s)[%d]", p->gives ? "" : "const ", type_of(c, var), name,
                          var->slots);
    if (var->vector && !p->gives &&
        var != c->function->result) /* a copy of it would cost instructions */
        return ctx_printf(c->ctx, "const %s &%s", type_of(c, var), name);
    return ctx_printf(c->ctx, "%s %s%s", type_of(c, var), p->gives ? "&" : "", name);
}

static void put_head(Cuda *c, const CudaFunction *f)
{
    const ImpFunction *imp = f->imp;
    bool index = f->type == INDEX_PARAMETER;
    const char **items = NEWN(c->ctx, const char *, imp->params.n + 1);
    int n = 0;
    for (int k = 0; k < imp->params.n; k++)
        items[n++] = parameter(c, &imp->params.at[k]);
    if (imp->spared)
        items[n++] = ctx_printf(c->ctx, "bool %s", c->full = c_name_claim(c->names, "full"));
    if (index || f->aligned)
        sb_printf(c->out, "template <%s%s%s>\n", index ? "typename Index" : "",
                  index && f->aligned ? ", " : "", f->aligned ? "bool aligned" : "");
    const size_t start = c->out->len;
    sb_printf(c->out, "static __device__ __forceinline__ %s ",
              imp->result ? type_of(c, imp->result) : "void");
    size_t column = c->out->len - start, length = column + strlen(f->name) + 2;
    for (int i = 0; i < n; i++)
        length += strlen(items[i]) + 2 * (i > 0);
    if (length > CUDA_WIDTH) {
        c->out->text[c->out->len - 1] = '\n';
        column = 0;
    }
    cuda_put_items(c, column, f->name, n, items);
    put(c, "\n");
}

/* The number of the last statement, or of the first one of the last call. */
static int last_of(const ImpBlock *body)
{
    int last = -1;
    for (int i = 0; i < body->list.n; i += body->list.at[i]->call ? body->list.at[i]->call->n : 1)
        last = i;
    return last;
}

/* `return x;`, or what the last statement gives x. */
static void put_return(Cuda *c, const ImpFunction *f, const ImpStmt *last)
{
    put(c, "    ");
    if (last && last->call) {
        put_called(c, last->call, true);
        return;
    }
    put(c, "return ");
    if (last)
        cuda_expr(c, last->var.value, C_ANY);
    else
        put(c, c->var_names[f->result->id]);
    put(c, ";\n");
}

/* Is it all that it does to give the result a value? */
static bool gives_result(const ImpStmt *s, const ImpFunction *f)
{
    if (s->call)
        return s->call->result == f->result;
    return (s->kind == IS_DECL || s->kind == IS_SET) && s->var.var == f->result &&
           s->var.var->slots == 1;
}

/* Does it go through the blocks itself? It is not called in a loop then. */
static bool has_blocks(const ImpKernel *kernel)
{
    Needs needs = {.kernel = kernel};
    walk_stmts((ImpBlock *)(uintptr_t)&kernel->body, need_stmt, &needs);
    return needs.blocks;
}

static void put_body(Cuda *c, const ImpFunction *f)
{
    ImpBlock body = f->body;
    const int at = f->result ? last_of(&body) : -1;
    const ImpStmt *last = at >= 0 && gives_result(body.list.at[at], f) ? body.list.at[at] : NULL;
    body.list.n = last ? at : body.list.n;
    put(c, "{\n");
    c->depth = 1;
    bool ids = cuda_put_ids(c), divisors = has_blocks(c->kernel) && cuda_put_divisors(c);
    if ((ids || divisors) && cuda_any_shown(&body))
        put(c, "\n");
    cuda_block(c, &body);
    c->divisors = NULL; /* the names are of this function alone */
    if (f->result)
        put_return(c, f, last);
    put(c, "}\n");
}

void cuda_put_function(Cuda *c, CudaFunction *f)
{
    ImpKernel *kernel = NEW(c->ctx, ImpKernel);
    int n = 0;
    *kernel = *f->imp->kernel;
    kernel->body = f->imp->body;
    kernel->wide = f->wide;
    c->kernel = kernel;
    c->function = f->imp;
    c->facts = f->imp->known;
    c->index = f->type;
    c->may_be_unaligned = f->aligned;
    CudaScope scope = cuda_enter(c);
    if (f->type == INDEX_PARAMETER)
        c_name_take(c->names, "Index");
    if (f->aligned)
        c_name_take(c->names, "aligned");
    for (int i = 0; i < kernel->bufs.n; i++)
        n = kernel->bufs.at[i]->id >= n ? kernel->bufs.at[i]->id + 1 : n;
    c->buf_names = NEWN(c->ctx, const char *, n + 1);
    c->buf_scalars = NEWN(c->ctx, bool, n + 1);
    c->buf_shifts = NEWN(c->ctx, Nat, n + 1);
    c->var_names = NEWN(c->ctx, const char *, kernel->vars.n + 1);
    cuda_find_known(c, kernel->vars.n + 1);
    cuda_find_bits(c, kernel, f->imp);
    for (int a = 0; kernel->wide && a < 3; a++)
        if (kernel->block[a]->kind == NAT_VAR)
            vec_push(c->ctx, &c->wide, kernel->block[a]);
    cuda_put_about(c, f->imp->users, f->imp->span, f->imp->name);
    put_head(c, f);
    put_body(c, f->imp);
    c->full = NULL;
    c->function = NULL;
    cuda_leave(c, scope);
}

/* ---- a call ---------------------------------------------------------------------------------- */

static const char *argument(Cuda *c, const ImpParam *p, const ImpArg *arg)
{
    StrBuf text, *out = c->out;
    sb_init(&text, c->ctx);
    c->out = &text;
    switch (p->kind) {
    case PARAM_BUF:
        if (arg->buf->by_value)
            put(c, c->buf_names[arg->buf->id]);
        else if (c->buf_scalars[arg->buf->id])
            sb_printf(c->out, "&%s", c->buf_names[arg->buf->id]);
        else
            cuda_put_start(c, arg->buf, arg->nat ? arg->nat : nat_const(c->ctx, 0));
        break;
    case PARAM_NAT: cuda_nat(c, arg->nat, C_ANY); break;
    case PARAM_VAR: put(c, c->var_names[arg->var->id]); break;
    }
    c->out = out;
    return text.text;
}

static void put_result(Cuda *c, const ImpFunction *f, ImpVar *result)
{
    const char *name = f->gives_name ? cuda_claim(c, result) : c->var_names[result->id];
    if (f->gives_name)
        sb_printf(c->out, "%s%s ", result->constant ? "const " : "", type_of(c, result));
    sb_printf(c->out, "%s = ", name);
    c->var_names[result->id] = name;
}

/* returned: what the call gives is what is returned. */
static void put_called(Cuda *c, const ImpCall *call, bool returned)
{
    const CudaFunction *f = function_of(c, call);
    const ImpFunction *imp = f->imp;
    const char **items = NEWN(c->ctx, const char *, imp->params.n + 1);
    int n = 0;
    for (int k = 0; k < imp->params.n; k++) {
        if (!imp->params.at[k].gives || !imp->params.at[k].ours)
            continue;
        const ImpVar *var = call->args[k].var;
        c->var_names[var->id] = cuda_claim(c, var);
        sb_printf(c->out, "%s;\n", declaration(c, var, c->var_names[var->id]));
        cuda_indent(c);
    }
    for (int k = 0; k < imp->params.n; k++)
        items[n++] = argument(c, &imp->params.at[k], &call->args[k]);
    if (imp->spared)
        items[n++] = c->full ? c->full : "false";
    const size_t start = c->out->len;
    if (returned)
        put(c, "return ");
    else if (call->result)
        put_result(c, imp, call->result);
    const bool index = f->type == INDEX_PARAMETER;
    const char *aligned = !f->aligned ? "" : c->may_be_unaligned ? "aligned" : "true";
    const char *given = index || *aligned
                            ? ctx_printf(c->ctx, "<%s%s%s>", index ? cuda_index_type(c->index) : "",
                                         index && *aligned ? ", " : "", aligned)
                            : "";
    cuda_put_items(c, 4 * (size_t)c->depth + c->out->len - start,
                   ctx_printf(c->ctx, "%s%s", f->name, given), n, items);
    put(c, ";\n");
}

void cuda_put_call(Cuda *c, const ImpCall *call) { put_called(c, call, false); }
