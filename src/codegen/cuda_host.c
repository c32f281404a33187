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

bool cuda_fact(Cuda *c, StrBuf *out, const Core *fact, CPrec prec)
{
    StrBuf text, *saved = c->out;
    const NatFacts *facts = c->facts;
    sb_init(&text, c->ctx);
    c->out = &text;
    c->facts = NULL; /* nothing is known before it is checked */
    bool good = put_fact(c, fact, prec);
    c->out = saved;
    c->facts = facts;
    if (good)
        sb_putn(out, text.text, text.len);
    return good;
}

/* ---- the function ------------------------------------------------------------------------------------------------------- */

typedef struct Host {
    Cuda *c;
    const ImpProgram *program;
    HostBuffers buffers;
    const char **names; /* of the buffers */
    VEC(Nat) sizes;  /* the entry's, then what else a launch depends on */
    int depth;       /* of braces within the function */
    VEC(bool) braced; /* for each size test that is open, whether it has braces of its own */
} Host;

static void indent(const Host *h)
{
    for (int i = 0; i <= h->depth; i++)
        put(h->c, "    ");
}

static void add_size(void *user, Nat var)
{
    Host *h = user;
    for (int i = 0; i < h->sizes.n; i++)
        if (h->sizes.at[i] == var)
            return;
    if (!imp_is_device_size(var))
        vec_push(h->c->ctx, &h->sizes, var);
}

static bool same_memory(const ImpBuf *a, const ImpBuf *b)
{
    return a == b || (a->space == b->space && (a->space == SPACE_TEMP ? !strcmp(a->name, b->name) : a->component == b->component));
}

static int buffer_at(const HostBuffers *list, const ImpBuf *buf)
{
    for (int i = 0; i < list->n; i++)
        if (same_memory(list->at[i].buf, buf))
            return i;
    return -1;
}

static void add_buffers(Ctx *ctx, const ImpProgram *program, ImpSpace space, HostBuffers *list)
{
    for (int i = 0; i < program->kernels.n; i++) {
        const ImpKernel *k = program->kernels.at[i];
        for (int b = 0; b < k->bufs.n; b++)
            if (k->bufs.at[b]->space == space && buffer_at(list, k->bufs.at[b]) < 0)
                vec_push(ctx, list, ((HostBuffer){k, k->bufs.at[b]}));
    }
}

static void add_arguments(Ctx *ctx, const ImpProgram *program, ImpSpace space, Type type, const char *name, int first, HostBuffers *list)
{
    int n = type_component_count(type);
    for (int k = 0; k < n; k++) {
        HostBuffers used = {0};
        add_buffers(ctx, program, space, &used);
        ImpBuf *buf = NEW(ctx, ImpBuf);
        Type t = type_component(ctx, type, k);
        *buf = (ImpBuf){.space = space, .component = first + k, .elem = type_scalar_of(ctx, t), .count = nat_const(ctx, 1)};
        buf->by_value = imp_by_value(space, t);
        for (; t->kind == TY_ARRAY || t->kind == TY_VEC; t = t->elem)
            buf->count = nat_mul(ctx, buf->count, t->size);
        buf->name = n > 1 ? ctx_printf(ctx, "%s_%d", name, k + 1) : name;
        int at = buffer_at(&used, buf);
        vec_push(ctx, list, at >= 0 ? used.at[at] : ((HostBuffer){NULL, buf}));
    }
}

void host_buffers(Ctx *ctx, const ImpProgram *program, HostBuffers *list)
{
    const CoreEntry *entry = program->entry;
    if (entry && entry->result) {
        add_arguments(ctx, program, SPACE_OUTPUT, entry->result, "result", 0, list);
        for (int i = 0, first = 0; i < entry->n_inputs; i++) {
            add_arguments(ctx, program, SPACE_INPUT, entry->inputs[i]->type, entry->inputs[i]->name, first, list);
            first += type_component_count(entry->inputs[i]->type);
        }
    }
    add_buffers(ctx, program, SPACE_OUTPUT, list);
    add_buffers(ctx, program, SPACE_INPUT, list);
    add_buffers(ctx, program, SPACE_TEMP, list);
}

static const char *param_of(const Host *h, const ImpBuf *buf) { return h->names[buffer_at(&h->buffers, buf)]; }

static void find_params(Host *h)
{
    Cuda *c = h->c;
    const CoreEntry *entry = h->program->entry;
    host_buffers(c->ctx, h->program, &h->buffers);
    h->names = NEWN(c->ctx, const char *, h->buffers.n);
    for (int i = 0; i < h->buffers.n; i++)
        h->names[i] = c_name_claim(c->names, h->buffers.at[i].buf->name);
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

enum { HOST_LINE_WIDTH = 110 };

typedef struct Columns {
    Cuda *c;
    size_t start, at; /* where parameters begin, and where the line is */
} Columns;

static void put_param(Columns *line, const char *text)
{
    bool first = line->at == line->start;
    if (!first && line->at + strlen(text) + 1 > HOST_LINE_WIDTH) {
        put(line->c, "\n");
        for (size_t i = 0; i < line->start; i++)
            put(line->c, " ");
        line->at = line->start;
        first = true;
    }
    sb_printf(line->c->out, "%s%s", first ? "" : " ", text);
    line->at += strlen(text) + !first;
}

static void put_signature(Host *h, const char *name)
{
    Cuda *c = h->c;
    for (int i = 0; i < h->buffers.n; i++) {
        const HostBuffer *p = &h->buffers.at[i];
        if (p->buf->by_value) {
            if (cuda_is_half(p->buf->elem))
                sb_printf(c->out, "//   %s: the bits of a number of type %s\n", h->names[i], scalar_name(p->buf->elem));
            continue;
        }
        sb_printf(c->out, "//   %s: ", h->names[i]);
        cuda_comment_text(c->out, nat_text(c->ctx, p->kernel ? kernel_cells(c->ctx, p->kernel, p->buf) : p->buf->count));
        sb_printf(c->out, " %s%s%s\n", cuda_type(p->buf->elem), p->buf->space == SPACE_TEMP ? " of workspace, for one launch at a time" : "",
                  p->buf->zero ? "; zero before the first one" : "");
    }
    Columns line = {c, 0, 0};
    const char *start = ctx_printf(c->ctx, "extern \"C\" int %s(", name);
    put(c, start);
    line.start = line.at = strlen(start);
    for (int i = 0; i < h->buffers.n; i++) {
        const ImpBuf *buf = h->buffers.at[i].buf;
        put_param(&line, buf->by_value ? ctx_printf(c->ctx, "%s %s,", cuda_type(buf->elem), h->names[i])
                                       : ctx_printf(c->ctx, "%s%s *%s,", buf->space == SPACE_INPUT ? "const " : "", cuda_type(buf->elem), h->names[i]));
    }
    for (int i = 0; i < h->sizes.n; i++)
        put_param(&line, ctx_printf(c->ctx, "long long %s,", c_names_get(c->names, h->sizes.at[i])));
    put_param(&line, "cudaStream_t stream)");
    put(c, "\n");
}

/* ---- checks -------------------------------------------------------------------------------------------------------------- */

static void refuse_if(const Host *h, const char *cond)
{
    indent(h);
    sb_printf(h->c->out, "if (%s)\n", cond);
    indent(h);
    put(h->c, "    return (int)cudaErrorInvalidValue;\n");
}

static bool same_when(const ImpKernel *a, const ImpKernel *b)
{
    bool same = a->when.n == b->when.n;
    for (int i = 0; same && i < a->when.n; i++)
        same = a->when.at[i].test == b->when.at[i].test && a->when.at[i].holds == b->when.at[i].holds;
    return same;
}

static bool takes_wide(Ctx *ctx, const ImpKernel *k)
{
    IndexGuards guards;
    index_guards(ctx, k, &guards);
    return k->wide || (k->otherwise && k->otherwise->wide) || index_guards_hold(ctx, k, &guards);
}

static bool all_take_wide(const Host *h)
{
    bool all = true;
    for (int i = 0; i < h->program->kernels.n; i++)
        all &= takes_wide(h->c->ctx, h->program->kernels.at[i]);
    return all;
}

typedef struct Refusals { /* conditions that were tested before */
    VEC(const char *) list;
} Refusals;

static void refuse_once(Host *h, Refusals *before, const StrBuf *text)
{
    const char *cond = intern_z(h->c->ctx, text->text);
    for (int i = 0; i < before->list.n; i++)
        if (before->list.at[i] == cond)
            return;
    refuse_if(h, cond);
    vec_push(h->c->ctx, &before->list, cond);
}

static void refuse_large(Host *h, Refusals *before, Nat nat)
{
    Cuda *c = h->c;
    StrBuf text;
    sb_init(&text, c->ctx);
    cuda_nat_helpers(c, nat_print_c(c->ctx, &text, nat, c->facts, NAT_DOUBLE, c_names_of, c->names, 0));
    sb_printf(&text, " > %lld.0", (long long)WIDE_INDEX_MAX);
    refuse_once(h, before, &text);
}

static void refuse_values(Host *h, Refusals *before, const IndexGuards *values)
{
    for (int i = 0; i < values->at_most_max.n; i++)
        refuse_large(h, before, values->at_most_max.at[i]);
}

static void put_guards_of(Host *h, const ImpKernel *k, Refusals *before)
{
    Cuda *c = h->c;
    Ctx *ctx = c->ctx;
    StrBuf text, *out = c->out;
    IndexGuards guards, divisors = {0};
    index_guards(ctx, k, &guards);
    bool wide = takes_wide(ctx, k);
    for (int i = 0; i < guards.at_least_one.n; i++)
        index_guards_of_value(ctx, guards.at_least_one.at[i], &divisors);
    refuse_values(h, before, &divisors);
    for (int i = 0; i < guards.at_least_one.n; i++) {
        sb_init(&text, ctx);
        c->out = &text;
        cuda_nat(c, guards.at_least_one.at[i], C_SUM);
        c->out = out;
        sb_puts(&text, " < 1");
        refuse_once(h, before, &text);
    }
    for (int i = 0; i < guards.at_most_max.n; i++) {
        Nat nat = guards.at_most_max.at[i];
        if (wide && index_guards_small(nat))
            continue;
        if (wide) {
            refuse_large(h, before, nat);
            continue;
        }
        sb_init(&text, ctx);
        c->out = &text;
        cuda_nat(c, nat, C_SUM);
        c->out = out;
        sb_printf(&text, " > %lld", (long long)INDEX_MAX);
        refuse_once(h, before, &text);
    }
}

/* Of all kernels in the same case as this one. */
static void put_guards(Host *h, const ImpKernel *of, Refusals *before)
{
    for (int i = 0; i < h->program->kernels.n; i++)
        if (same_when(h->program->kernels.at[i], of))
            put_guards_of(h, h->program->kernels.at[i], before);
}

/* One condition a line, in an order in which each may be computed: sizes, divisors, products, facts. */
static void put_checks(Host *h)
{
    Cuda *c = h->c;
    Ctx *ctx = c->ctx;
    StrBuf text;
    sb_init(&text, ctx);
    long long most = all_take_wide(h) ? WIDE_SIZE_MAX : INDEX_MAX;
    for (int i = 0; i < h->sizes.n; i++) {
        const char *size = c_names_get(c->names, h->sizes.at[i]);
        sb_printf(&text, "%s%s < 0 || %s > %lld", i ? " || " : "", size, size, most);
    }
    if (h->sizes.n)
        refuse_if(h, text.text);
    static const ImpKernel always;
    const CoreEntry *entry = h->program->entry;
    Refusals before = {0};
    IndexGuards values;
    index_guards_of_tests(ctx, h->program, &values);
    refuse_values(h, &before, &values);
    put_guards(h, &always, &before);
    for (int i = 0; entry && i < entry->n_facts; i++) {
        sb_init(&text, ctx);
        sb_puts(&text, "!");
        if (cuda_fact(c, &text, entry->facts[i], C_UNARY)) {
            refuse_if(h, text.text);
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

/* ---- launches ------------------------------------------------------------------------------------------------------------ */

typedef struct DeviceUse {
    bool sms, resident;
} DeviceUse;

static void note_device(void *user, Nat var)
{
    DeviceUse *use = user;
    if (imp_is_device_size(var))
        *(!strcmp(var->name, "numSM") ? &use->sms : &use->resident) = true;
}

static void each_device_size(Ctx *ctx, const ImpKernel *k, void (*fn)(void *user, Nat var), void *user)
{
    for (int a = 0; a < 3; a++)
        nat_each_var(ctx, k->blocks[a], fn, user);
    for (int i = 0; i < k->n_sizes; i++)
        fn(user, k->sizes[i]);
}

static DeviceUse device_use(Ctx *ctx, const ImpKernel *k)
{
    DeviceUse use = {false, false};
    each_device_size(ctx, k, note_device, &use);
    use.resident |= k->cooperative;
    return use;
}

static void set_device_names(void *user, Nat var)
{
    Cuda *c = user;
    if (imp_is_device_size(var))
        c_names_set(c->names, var, var->name);
}

static void return_error(const Host *h, const char *margin, const char *call)
{
    Cuda *c = h->c;
    int mark = c_names_mark(c->names);
    const char *error = c_name_claim(c->names, "error");
    sb_printf(c->out, "%sif (const cudaError_t %s = %s)\n%s    return (int)%s;\n", margin, error, call, margin, error);
    c_names_release(c->names, mark);
}

/* The sizes of the device that the grid mentions. */
static void put_device_sizes(Host *h, const ImpKernel *k, const char *margin, const char *name, const char *shared)
{
    Cuda *c = h->c;
    DeviceUse use = device_use(c->ctx, k);
    c_name_claim(c->names, "numSM");
    c_name_claim(c->names, "maxResident");
    each_device_size(c->ctx, k, set_device_names, c);
    int threads = k->threads[0] * k->threads[1] * k->threads[2];
    if (use.sms) {
        sb_printf(c->out, "%slong long numSM;\n", margin);
        return_error(h, margin, "rise_multiprocessors(&numSM)");
    }
    if (use.resident) {
        sb_printf(c->out, "%slong long maxResident;\n", margin);
        return_error(h, margin, ctx_printf(c->ctx, "rise_resident_blocks((const void *)%s, %d, %s%s, &maxResident)", name, threads,
                                           strcmp(shared, "0") ? "(size_t)" : "", shared));
    }
}

static const char *block_text(Ctx *ctx, const ImpKernel *k)
{
    const int *t = k->threads;
    return t[1] == 1 && t[2] == 1 ? ctx_printf(ctx, "%d", t[0]) : ctx_printf(ctx, "dim3(%d, %d, %d)", t[0], t[1], t[2]);
}

static void put_call(Host *h, const ImpKernel *k, const char *name, const char *margin, const char *grid, const char *shared)
{
    Cuda *c = h->c;
    sb_printf(c->out, "%s%s<<<%s, %s, %s%s, stream>>>(", margin, name, grid, block_text(c->ctx, k), strcmp(shared, "0") ? "(size_t)" : "", shared);
    int n = 0;
    for (int i = 0; i < k->bufs.n; i++)
        if (k->bufs.at[i]->space != SPACE_SHARED)
            sb_printf(c->out, "%s%s", n++ ? ", " : "", param_of(h, k->bufs.at[i]));
    for (int i = 0; i < k->n_sizes; i++)
        sb_printf(c->out, "%s%s%s", n++ ? ", " : "", k->wide ? "" : "(int)", c_names_get(c->names, k->sizes[i]));
    put(c, ");\n");
}

/* 31 bits hold the sizes and whatever the kernel computes for an index. */
static void put_narrow_guard(Host *h, const ImpKernel *k)
{
    Cuda *c = h->c;
    IndexGuards guards;
    index_guards(c->ctx, k, &guards);
    int n = 0;
    for (int i = 0; i < k->n_sizes; i++) {
        bool said = imp_is_device_size(k->sizes[i]); /* an int of CUDA's, or a product that a grid holds */
        for (int g = 0; g < guards.at_most_max.n; g++)
            said |= nat_le(c->ctx, k->known, k->sizes[i], guards.at_most_max.at[g]);
        if (!said)
            sb_printf(c->out, "%s%s <= %lld", n++ ? " && " : "", c_names_get(c->names, k->sizes[i]), (long long)INDEX_MAX);
    }
    for (int g = 0; g < guards.at_most_max.n; g++) {
        put(c, n++ ? " && " : "");
        cuda_nat(c, guards.at_most_max.at[g], C_SUM);
        sb_printf(c->out, " <= %lld", (long long)INDEX_MAX);
    }
    put(c, n ? "" : "true");
}

/* All blocks at once, or not at all. */
static void put_cooperative_call(Host *h, const ImpKernel *k, const char *name, const char *margin, const char *grid, const char *shared)
{
    Cuda *c = h->c;
    int mark = c_names_mark(c->names), n = 0;
    const char **sizes = NEWN(c->ctx, const char *, k->n_sizes + 1);
    for (int i = 0; i < k->n_sizes; i++) {
        const char *size = c_names_get(c->names, k->sizes[i]);
        if (k->wide) {
            sizes[i] = size;
            continue;
        }
        sizes[i] = c_name_claim(c->names, ctx_printf(c->ctx, "%s_int", size));
        sb_printf(c->out, "%sint %s = (int)%s;\n", margin, sizes[i], size);
    }
    const char *args = c_name_claim(c->names, "args");
    sb_printf(c->out, "%svoid *%s[] = {", margin, args);
    for (int i = 0; i < k->bufs.n; i++)
        if (k->bufs.at[i]->space != SPACE_SHARED)
            sb_printf(c->out, "%s(void *)&%s", n++ ? ", " : "", param_of(h, k->bufs.at[i]));
    for (int i = 0; i < k->n_sizes; i++)
        sb_printf(c->out, "%s&%s", n++ ? ", " : "", sizes[i]);
    put(c, "};\n");
    return_error(h, margin, ctx_printf(c->ctx, "cudaLaunchCooperativeKernel((const void *)%s, %s, %s, %s, %s%s, stream)", name, grid, block_text(c->ctx, k), args,
                                       strcmp(shared, "0") ? "(size_t)" : "", shared));
    c_names_release(c->names, mark);
}

static void put_one_call(Host *h, const ImpKernel *k, const char *name, const char *margin, const char *grid, const char *shared)
{
    (k->cooperative ? put_cooperative_call : put_call)(h, k, name, margin, grid, shared);
}

/* The kernel, or its twin where the indices are too large for it. */
static void put_calls(Host *h, const ImpKernel *k, const char *const *names, const char *margin, const char *grid, const char *shared)
{
    Cuda *c = h->c;
    const ImpKernel *twin = imp_wide_twin(k);
    const char *inner = twin ? ctx_printf(c->ctx, "    %s", margin) : margin;
    if (twin) {
        sb_printf(c->out, "%sif (", margin);
        put_narrow_guard(h, k);
        put(c, k->cooperative ? ") {\n" : ")\n");
    }
    put_one_call(h, k, names[0], inner, grid, shared);
    if (twin) {
        sb_printf(c->out, k->cooperative ? "%s} else {\n" : "%selse\n", margin);
        put_one_call(h, twin, names[1], inner, grid, shared);
        if (k->cooperative)
            sb_printf(c->out, "%s}\n", margin);
    }
}

/* The condition under which a kernel that has another may be launched (imp.h, Note [Variants]); false when it has no guard. */
static bool host_guard(Host *h, const ImpKernel *k, StrBuf *out)
{
    int n = 0;
    for (int i = 0; i < k->bufs.n; i++) {
        const ImpBuf *buf = k->bufs.at[i];
        if (buf->space != SPACE_SHARED && buf->align)
            sb_printf(out, "%s(size_t)%s %% %d == 0", n++ ? " && " : "", param_of(h, buf), buf->align);
    }
    return n > 0;
}

/* Without the cast to unsigned. */
static const char *plain(const char *blocks) { return strncmp(blocks, "(unsigned)", 10) ? blocks : blocks + 10; }

/* blocks[a], an expression of C, becomes what fits on the device beside the other axes. */
static void limit_to_resident(Host *h, const ImpKernel *k, const char *margin, int last, const char *blocks[3])
{
    Cuda *c = h->c;
    for (int a = last; a >= 0; a--) {
        const char *fit = c_name_claim(c->names, last ? ctx_printf(c->ctx, "fit_%c", "xyz"[a]) : "fit");
        sb_printf(c->out, "%sconst long long %s = %s < maxResident ? %s : ", margin, fit, plain(blocks[a]), plain(blocks[a]));
        if (a == 0 && k->least_blocks > 1) /* a launch of more than fit fails */
            sb_printf(c->out, "maxResident < %d ? %d : ", k->least_blocks, k->least_blocks);
        put(c, "maxResident;\n");
        if (a)
            sb_printf(c->out, "%smaxResident /= %s;\n", margin, fit);
        blocks[a] = ctx_printf(c->ctx, "(unsigned)%s", fit);
    }
}

/* `braces`: the kernel stands alone between braces. */
static void put_launch(Host *h, const ImpKernel *k, const char *const *names, bool braces)
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
    DeviceUse device = device_use(ctx, k);
    block |= device.sms || device.resident;
    block &= !braces;
    if (block) {
        indent(h);
        put(c, "{\n");
        h->depth++;
    }
    StrBuf margin_text, *out = c->out;
    sb_init(&margin_text, ctx);
    c->out = &margin_text;
    indent(h);
    c->out = out;
    const char *margin = margin_text.text;
    if (dynamic) {
        shared = c_name_claim(c->names, "shared");
        sb_printf(c->out, "%sconst long long %s = ", margin, shared);
        cuda_nat(c, k->shared_bytes, C_ANY);
        put(c, ";\n");
        for (int i = 0; i < 1 + (imp_wide_twin(k) != NULL); i++)
            return_error(h, margin, ctx_printf(ctx, "cudaFuncSetAttribute((const void *)%s, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)%s)", names[i], shared));
    }
    put_device_sizes(h, k, margin, names[0], shared);
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
        int most = kernel_max_grid(k, a);
        if (!nat_le(ctx, c->facts, k->blocks[a], nat_const(ctx, most))) {
            const char *then = k->once[a] ? "return (int)cudaErrorInvalidValue" : ctx_printf(ctx, "%s = %d", var, most);
            sb_printf(c->out, "%sif (%s > %d)\n%s    %s;\n", margin, var, most, margin, then);
        }
        blocks[a] = ctx_printf(ctx, "(unsigned)%s", var);
        if (!nat_le(ctx, c->facts, nat_const(ctx, 1), grid))
            sb_printf(&some, "%s%s > 0", some.len ? " && " : "", var);
    }
    bool opens = some.len && (k->cooperative || imp_wide_twin(k));
    const char *inner = some.len ? ctx_printf(ctx, "    %s", margin) : margin;
    if (some.len)
        sb_printf(c->out, "%sif (%s)%s\n", margin, some.text, opens ? " {" : "");
    if (k->cooperative)
        limit_to_resident(h, k, inner, last, blocks);
    const char *grid = last == 0   ? blocks[0]
                       : last == 1 ? ctx_printf(ctx, "dim3(%s, %s)", blocks[0], blocks[1])
                                   : ctx_printf(ctx, "dim3(%s, %s, %s)", blocks[0], blocks[1], blocks[2]);
    put_calls(h, k, names, inner, grid, shared);
    if (opens)
        sb_printf(c->out, "%s}\n", margin);
    if (block) {
        h->depth--;
        indent(h);
        put(c, "}\n");
    }
    c_names_release(c->names, mark);
}

/* if (guard) { the kernel } else if ... { the last one }; */
static void put_variants(Host *h, const ImpKernel *k, const char *const *names, int *number, bool braces)
{
    StrBuf guard;
    sb_init(&guard, h->c->ctx);
    int own = imp_wide_twin(k) ? 2 : 1;
    const ImpKernel *other = own == 2 ? imp_wide_twin(k)->otherwise : k->otherwise;
    const char *const *mine = names + *number;
    *number += own;
    if (!other || !host_guard(h, k, &guard)) {
        put_launch(h, k, mine, braces);
        for (; other; other = other->otherwise)
            ++*number;
        return;
    }
    indent(h);
    sb_printf(h->c->out, "if (%s) {\n", guard.text);
    h->depth++;
    put_launch(h, k, mine, true);
    h->depth--;
    indent(h);
    put(h->c, "} else {\n");
    h->depth++;
    put_variants(h, other, names, number, true);
    h->depth--;
    indent(h);
    put(h->c, "}\n");
}

/* Of the tests on the way to two kernels, the first so many are the same and turn out alike. */
static int common_tests(const ImpKernel *a, const ImpKernel *b)
{
    int n = 0;
    while (n < a->when.n && n < b->when.n && a->when.at[n].test == b->when.at[n].test && a->when.at[n].holds == b->when.at[n].holds)
        n++;
    return n;
}

static void close_tests(Host *h, int left)
{
    while (h->braced.n > left)
        if (h->braced.at[--h->braced.n]) {
            h->depth--;
            indent(h);
            put(h->c, "}\n");
        }
}

/* Ends the tests that do not lead to k, and begins those that do: `before` is the kernel before, with which it has the first `common` in common. */
static void put_tests(Host *h, const ImpKernel *before, const ImpKernel *k, int common)
{
    Cuda *c = h->c;
    bool otherwise = common < k->when.n && common < before->when.n && k->when.at[common].test == before->when.at[common].test;
    bool chained = otherwise && common + 1 < k->when.n; /* } else if (...) {: all that is in the else is in its test, too */
    close_tests(h, common + otherwise);
    if (otherwise) {
        h->depth -= 1;
        indent(h);
        put(c, chained ? "} else " : "} else {\n");
        h->depth += !chained;
        h->braced.at[common] = !chained;
    }
    for (int w = common + otherwise; w < k->when.n; w++, h->depth++) {
        if (!chained || w > common + 1)
            indent(h);
        put(c, k->when.at[w].holds ? "if (" : "if (!");
        cuda_fact(c, c->out, k->when.at[w].test, k->when.at[w].holds ? C_ANY : C_UNARY);
        put(c, ") {\n");
        vec_push(c->ctx, &h->braced, true);
    }
}

/* if (n <= 4096) { ... } else { ... } around the kernels of a case. */
static void put_launches(Host *h, const char *const *names)
{
    static const ImpKernel none;
    const ImpKernel *before = &none;
    int number = 0;
    for (int i = 0; i < h->program->kernels.n; i++) {
        const ImpKernel *k = h->program->kernels.at[i], *after = i + 1 < h->program->kernels.n ? h->program->kernels.at[i + 1] : &none;
        int common = common_tests(before, k);
        bool alone = common < k->when.n && common_tests(k, after) < k->when.n;
        put_tests(h, before, k, common);
        h->c->facts = k->known;
        Refusals refused = {0};
        if (k->when.n && !same_when(k, before))
            put_guards(h, k, &refused);
        put_variants(h, k, names, &number, alone);
        before = k;
    }
    close_tests(h, 0);
}

void cuda_host(Cuda *c, const ImpProgram *program, const char *const *kernels, const char *name)
{
    int mark = c_names_mark(c->names);
    Host h = {.c = c, .program = program};
    c->kernel = NULL; /* sizes are long long here */
    c->facts = program->entry ? program->entry->known : NULL;
    c_name_claim(c->names, "stream");
    find_params(&h);
    sb_printf(c->out, "// Launches %s on a stream. Buffers are in device memory; gives 0 or a cudaError_t. Cells:\n",
              program->entry ? program->entry->name : "the kernels");
    put_signature(&h, name);
    put(c, "{\n");
    put_checks(&h);
    put_launches(&h, kernels);
    put(c, "    return (int)cudaGetLastError();\n}\n");
    c_names_release(c->names, mark);
}

/* What several host functions call. */
void cuda_host_helpers(Ctx *ctx, StrBuf *out, int n, ImpProgram *const *programs)
{
    DeviceUse any = {false, false};
    for (int i = 0; i < n; i++)
        for (int k = 0; k < programs[i]->kernels.n; k++) {
            DeviceUse use = device_use(ctx, programs[i]->kernels.at[k]);
            any.sms |= use.sms;
            any.resident |= use.resident;
        }
    if (any.sms || any.resident)
        sb_puts(out, "// Multiprocessors of the current device.\n"
                     "static cudaError_t rise_multiprocessors(long long *count)\n"
                     "{\n"
                     "    int device, sms = 0;\n"
                     "    cudaError_t error = cudaGetDevice(&device);\n"
                     "    if (error == cudaSuccess)\n"
                     "        error = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);\n"
                     "    *count = sms;\n"
                     "    return error;\n"
                     "}\n\n");
    if (any.resident)
        sb_puts(out, "// Blocks of a kernel that fit on the current device at once.\n"
                     "static cudaError_t rise_resident_blocks(const void *kernel, int threads, size_t shared, long long *count)\n"
                     "{\n"
                     "    long long sms;\n"
                     "    int each = 0;\n"
                     "    cudaError_t error = rise_multiprocessors(&sms);\n"
                     "    if (error == cudaSuccess)\n"
                     "        error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, threads, shared);\n"
                     "    *count = sms * each;\n"
                     "    return error;\n"
                     "}\n\n");
}
