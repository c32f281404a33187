/* The host's part of a .cu file: for each entry one plain function that checks the sizes and launches its kernels on a stream. */
#include "codegen/cuda_internal.h"

static void put(Cuda *c, const char *text) { sb_puts(c->out, text); }

/* ---- facts -------------------------------------------------------------------------------------------------------------- */

static bool put_fact(Cuda *c, const Core *e, CPrec prec)
{
    const char *text;
    CPrec own;
    switch (e->kind) {
    case CORE_SIZE:
        cuda_nat(c, e->size, prec);
        return true;
    case CORE_LIT:
        if (scalar_is_float(e->lit.type))
            return false;
        if (e->lit.type == SC_BOOL)
            put(c, e->lit.i ? "true" : "false");
        else
            cuda_nat(c, nat_const(c->ctx, e->lit.i), prec);
        return true;
    case CORE_PRIM:
        if (e->prim.id == P_not) {
            put(c, "!");
            return put_fact(c, e->prim.args[0], C_UNARY);
        }
        if (e->prim.n_args != 2 || !cuda_operator(e->prim.id, &text, &own) || own < C_OR || own > C_LESS || (own > C_AND && own < C_EQUAL))
            return false;
        put(c, prec > own ? "(" : "");
        if (!put_fact(c, e->prim.args[0], own == C_OR || own == C_AND ? C_EQUAL : C_SHIFT))
            return false;
        sb_printf(c->out, " %s ", text);
        if (!put_fact(c, e->prim.args[1], own == C_OR || own == C_AND ? C_EQUAL : C_SHIFT))
            return false;
        put(c, prec > own ? ")" : "");
        return true;
    case CORE_VAR: case CORE_LAMBDA: case CORE_LET: case CORE_TUPLE: case CORE_PROJ: case CORE_IF: case CORE_UNIT_ERROR:
        break;
    }
    return false;
}

bool cuda_fact(Cuda *c, StrBuf *out, const Core *fact)
{
    StrBuf text, *saved = c->out;
    const NatFacts *facts = c->facts;
    sb_init(&text, c->ctx);
    c->out = &text;
    c->facts = NULL; /* nothing is known before it is checked */
    bool good = put_fact(c, fact, C_UNARY);
    c->out = saved;
    c->facts = facts;
    if (good)
        sb_putn(out, text.text, text.len);
    return good;
}

/* ---- the function ------------------------------------------------------------------------------------------------------- */

typedef struct HostParam {
    const ImpKernel *kernel;
    const ImpBuf *buf;
    const char *name;
} HostParam;

typedef struct Host {
    Cuda *c;
    const ImpProgram *program;
    int depth; /* of braces within the function */
    VEC(HostParam) buffers;
    VEC(Nat) sizes; /* the entry's, then what else a launch depends on */
} Host;

static void add_size(void *user, Nat var)
{
    Host *h = user;
    for (int i = 0; i < h->sizes.n; i++)
        if (h->sizes.at[i] == var)
            return;
    vec_push(h->c->ctx, &h->sizes, var);
}

static const char *param_of(const Host *h, const ImpKernel *k, const ImpBuf *buf)
{
    for (int i = 0; i < h->buffers.n; i++) {
        const HostParam *p = &h->buffers.at[i];
        if (p->buf == buf || (p->buf->space == buf->space && buf->space != SPACE_TEMP && p->buf->component == buf->component))
            return p->name;
    }
    (void)k;
    return NULL;
}

static void find_params(Host *h)
{
    static const ImpSpace order[] = {SPACE_OUTPUT, SPACE_INPUT, SPACE_TEMP};
    Cuda *c = h->c;
    for (size_t o = 0; o < sizeof order / sizeof *order; o++)
        for (int i = 0; i < h->program->kernels.n; i++) {
            const ImpKernel *k = h->program->kernels.at[i];
            for (int b = 0; b < k->bufs.n; b++)
                if (k->bufs.at[b]->space == order[o] && !param_of(h, k, k->bufs.at[b]))
                    vec_push(c->ctx, &h->buffers, ((HostParam){k, k->bufs.at[b], c_name_claim(c->names, k->bufs.at[b]->name)}));
        }
    const CoreEntry *entry = h->program->entry;
    for (int i = 0; entry && i < entry->n_sizes; i++)
        add_size(h, entry->sizes[i]);
    for (int i = 0; i < h->program->kernels.n; i++) {
        const ImpKernel *k = h->program->kernels.at[i];
        for (int s = 0; s < k->n_sizes; s++)
            add_size(h, k->sizes[s]);
        for (int a = 0; a < 3; a++)
            nat_each_var(c->ctx, k->blocks[a], add_size, h);
        if (k->shared_bytes)
            nat_each_var(c->ctx, k->shared_bytes, add_size, h);
    }
    for (int i = 0; i < h->sizes.n; i++)
        c_names_set(c->names, h->sizes.at[i], c_name_claim(c->names, h->sizes.at[i]->name));
}

static void put_signature(Host *h, const char *name)
{
    Cuda *c = h->c;
    for (int i = 0; i < h->buffers.n; i++) {
        const HostParam *p = &h->buffers.at[i];
        sb_printf(c->out, "//   %s: ", p->name);
        cuda_comment_text(c->out, nat_text(c->ctx, kernel_cells(c->ctx, p->kernel, p->buf)));
        sb_printf(c->out, " %s%s\n", cuda_type(p->buf->elem), p->buf->space == SPACE_TEMP ? " of workspace, for one launch at a time" : "");
    }
    sb_printf(c->out, "extern \"C\" int %s(", name);
    for (int i = 0; i < h->buffers.n; i++) {
        const HostParam *p = &h->buffers.at[i];
        sb_printf(c->out, "%s%s *%s, ", p->buf->space == SPACE_INPUT ? "const " : "", cuda_type(p->buf->elem), p->name);
    }
    for (int i = 0; i < h->sizes.n; i++)
        sb_printf(c->out, "long long %s, ", c_names_get(c->names, h->sizes.at[i]));
    put(c, "cudaStream_t stream)\n");
}

static void refuse_if(Cuda *c, const char *cond) { sb_printf(c->out, "    if (%s)\n        return (int)cudaErrorInvalidValue;\n", cond); }

/* One condition a line, in an order in which each may be computed: sizes, divisors, products, facts. */
static void put_checks(Host *h)
{
    Cuda *c = h->c;
    Ctx *ctx = c->ctx;
    StrBuf text, *out = c->out;
    sb_init(&text, ctx);
    for (int i = 0; i < h->sizes.n; i++) {
        const char *size = c_names_get(c->names, h->sizes.at[i]);
        sb_printf(&text, "%s%s < 0 || %s > %lld", i ? " || " : "", size, size, (long long)INDEX_MAX);
    }
    if (h->sizes.n)
        refuse_if(c, text.text);
    const char *before = "";
    for (int i = 0; i < h->program->kernels.n; i++) {
        IndexGuards guards;
        index_guards(ctx, h->program->kernels.at[i], &guards);
        for (int pass = 0; pass < 2; pass++) {
            int n = pass ? guards.at_most_max.n : guards.at_least_one.n;
            for (int g = 0; g < n; g++) {
                sb_init(&text, ctx);
                c->out = &text;
                cuda_nat(c, pass ? guards.at_most_max.at[g] : guards.at_least_one.at[g], C_SUM);
                sb_printf(&text, pass ? " > %lld" : " < 1", (long long)INDEX_MAX);
                c->out = out;
                const char *cond = intern_z(ctx, text.text);
                if (cond != before)
                    refuse_if(c, cond);
                before = cond;
            }
        }
    }
    const CoreEntry *entry = h->program->entry;
    for (int i = 0; entry && i < entry->n_facts; i++) {
        sb_init(&text, ctx);
        sb_puts(&text, "!");
        if (cuda_fact(c, &text, entry->facts[i])) {
            refuse_if(c, text.text);
        } else {
            put(c, "    // not checked here: ");
            StrBuf fact;
            sb_init(&fact, ctx);
            core_print(&fact, entry->facts[i]);
            cuda_comment_text(c->out, fact.text);
            put(c, "\n");
        }
    }
}

static const char *margin_text(const Host *h) { return ctx_printf(h->c->ctx, "%*s", 4 * (h->depth + 1), ""); }
static void put_margin(const Host *h) { put(h->c, margin_text(h)); }

/* The condition under which a kernel that has another may be launched (imp.h, Note [Variants]); false when it has no guard. */
static bool host_guard(Host *h, const ImpKernel *k, StrBuf *out)
{
    int n = 0;
    for (int i = 0; i < k->bufs.n; i++) {
        const ImpBuf *buf = k->bufs.at[i];
        if (buf->space != SPACE_SHARED && buf->align)
            sb_printf(out, "%s(size_t)%s %% %d == 0", n++ ? " && " : "", param_of(h, k, buf), buf->align);
    }
    return n > 0;
}

static void put_launch(Host *h, const ImpKernel *k, const char *name)
{
    static const char *const axis_names[3] = {"blocks", "blocks_y", "blocks_z"};
    Cuda *c = h->c;
    Ctx *ctx = c->ctx;
    int mark = c_names_mark(c->names), last = 2;
    const char *blocks[3], *shared = "0";
    StrBuf some; /* the condition that there is a block at all */
    sb_init(&some, ctx);
    while (last > 0 && nat_is(k->blocks[last], 1))
        last--;
    bool dynamic = kernel_shared_is_dynamic(k), block = dynamic; /* whether something is declared */
    for (int a = 0; a <= last; a++)
        block |= !nat_is_const(kernel_grid(ctx, k, a));
    bool brace = block && !h->depth; /* the variants have braces of their own */
    int mark_depth = h->depth;
    if (brace) {
        put_margin(h);
        put(c, "{\n");
        h->depth++;
    }
    const char *margin = margin_text(h);
    for (int a = 0; a <= last; a++) {
        Nat grid = kernel_grid(ctx, k, a);
        if (nat_is_const(grid)) {
            blocks[a] = ctx_printf(ctx, "%lld", (long long)grid->value);
            if (grid->value < 1)
                sb_puts(&some, some.len ? " && false" : "false");
            continue;
        }
        const char *var = c_name_claim(c->names, axis_names[a]);
        sb_printf(c->out, "%slong long %s = ", margin, var);
        cuda_nat(c, k->blocks[a], C_ANY);
        put(c, ";\n");
        if (!nat_le(ctx, c->facts, k->blocks[a], nat_const(ctx, LAUNCH_MAX_GRID)))
            sb_printf(c->out, "%sif (%s > %d)\n%s    %s = %d;\n", margin, var, LAUNCH_MAX_GRID, margin, var, LAUNCH_MAX_GRID);
        blocks[a] = ctx_printf(ctx, "(unsigned)%s", var);
        if (!nat_le(ctx, c->facts, nat_const(ctx, 1), grid))
            sb_printf(&some, "%s%s > 0", some.len ? " && " : "", var);
    }
    const char *pad = some.len ? ctx_printf(ctx, "    %s", margin) : margin;
    if (dynamic) {
        shared = c_name_claim(c->names, "shared");
        sb_printf(c->out, "%sconst long long %s = ", margin, shared);
        cuda_nat(c, k->shared_bytes, C_ANY);
        put(c, ";\n");
    }
    if (some.len)
        sb_printf(c->out, "%sif (%s) {\n", margin, some.text);
    if (dynamic) {
        const char *error = c_name_claim(c->names, "error");
        sb_printf(c->out, "%sconst cudaError_t %s =\n%s    cudaFuncSetAttribute((const void *)%s, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)%s);\n",
                  pad, error, pad, name, shared);
        sb_printf(c->out, "%sif (%s != cudaSuccess)\n%s    return (int)%s;\n", pad, error, pad, error);
    }
    sb_printf(c->out, "%s%s<<<", pad, name);
    put(c, last ? "dim3(" : "");
    for (int a = 0; a <= last; a++)
        sb_printf(c->out, "%s%s", a ? ", " : "", blocks[a]);
    put(c, last ? "), " : ", ");
    if (k->threads[1] == 1 && k->threads[2] == 1)
        sb_printf(c->out, "%d", k->threads[0]);
    else
        sb_printf(c->out, "dim3(%d, %d, %d)", k->threads[0], k->threads[1], k->threads[2]);
    sb_printf(c->out, ", %s%s, stream>>>(", dynamic ? "(size_t)" : "", shared);
    for (int i = 0, n = 0; i < k->bufs.n; i++)
        if (k->bufs.at[i]->space != SPACE_SHARED)
            sb_printf(c->out, "%s%s", n++ ? ", " : "", param_of(h, k, k->bufs.at[i]));
    for (int i = 0; i < k->n_sizes; i++)
        sb_printf(c->out, ", (int)%s", c_names_get(c->names, k->sizes[i]));
    put(c, ");\n");
    if (some.len)
        sb_printf(c->out, "%s}\n", margin);
    h->depth = mark_depth;
    if (brace) {
        put_margin(h);
        put(c, "}\n");
    }
    c_names_release(c->names, mark);
}

/* if (guard) { the kernel } else if ... { the last one }; */
static void put_variants(Host *h, const ImpKernel *k, const char *const *names, int *number)
{
    StrBuf guard;
    sb_init(&guard, h->c->ctx);
    if (!k->otherwise || !host_guard(h, k, &guard)) {
        put_launch(h, k, names[*number]);
        for (; k; k = k->otherwise)
            ++*number;
        return;
    }
    put_margin(h);
    sb_printf(h->c->out, "if (%s) {\n", guard.text);
    h->depth++;
    put_launch(h, k, names[(*number)++]);
    h->depth--;
    put_margin(h);
    put(h->c, "} else {\n");
    h->depth++;
    put_variants(h, k->otherwise, names, number);
    h->depth--;
    put_margin(h);
    put(h->c, "}\n");
}

void cuda_host(Cuda *c, const ImpProgram *program, const char *const *kernels, const char *name)
{
    int mark = c_names_mark(c->names);
    Host h = {.c = c, .program = program};
    c->facts = program->entry ? program->entry->known : NULL;
    c_name_claim(c->names, "stream");
    find_params(&h);
    sb_printf(c->out, "// Launches %s on a stream. Buffers are in device memory; gives 0 or a cudaError_t. Cells:\n",
              program->entry ? program->entry->name : "the kernels");
    put_signature(&h, name);
    put(c, "{\n");
    put_checks(&h);
    int number = 0;
    for (int i = 0; i < program->kernels.n; i++)
        put_variants(&h, program->kernels.at[i], kernels, &number);
    put(c, "    return (int)cudaGetLastError();\n}\n");
    c_names_release(c->names, mark);
}
