/* The functions of the host, in a .cu file or a header: for each entry one that checks the sizes and launches its kernels on a stream. */
#include "codegen/cuda_host.h"

static void put(Cuda *c, const char *text) { sb_puts(c->out, text); }

/* ---- facts -------------------------------------------------------------------------------------------------------------- */

static bool put_fact(Cuda *c, const Core *e, CPrec prec);

/* That a fact does not hold. */
static bool put_no_fact(Cuda *c, const Core *e, CPrec prec)
{
    Core turned = *e;
    if (e->kind == CORE_PRIM && prim_compares(e->prim.id)) {
        turned.prim.id = prim_opposite(e->prim.id);
        return put_fact(c, &turned, prec);
    }
    put(c, "!");
    return put_fact(c, e, C_UNARY);
}

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
        if (e->prim.id == P_not)
            return put_no_fact(c, e->prim.args[0], prec);
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

bool cuda_fact(Cuda *c, StrBuf *out, const Core *fact, bool holds, CPrec prec)
{
    StrBuf text, *saved = c->out;
    const NatFacts *facts = c->facts;
    sb_init(&text, c->ctx);
    c->out = &text;
    c->facts = NULL; /* nothing is known before it is checked */
    bool good = (holds ? put_fact : put_no_fact)(c, fact, prec);
    c->out = saved;
    c->facts = facts;
    if (good)
        sb_putn(out, text.text, text.len);
    return good;
}

/* ---- the function ------------------------------------------------------------------------------------------------------- */

const char *host_margin(const Host *h) { return ctx_printf(h->c->ctx, "%*s", 4 * (h->depth + 1), ""); }
void host_indent(const Host *h) { put(h->c, host_margin(h)); }

static void add_size(void *user, Nat var)
{
    Host *h = user;
    for (int i = 0; i < h->sizes.n; i++)
        if (h->sizes.at[i] == var)
            return;
    if (!imp_is_device_size(var))
        vec_push(h->c->ctx, &h->sizes, var);
}

static bool same_memory(const ImpBuf *a, const ImpBuf *b) { return a == b || (a->space == b->space && a->component == b->component); }

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
}

const char *host_param(const Host *h, const ImpBuf *buf)
{
    return buf->space == SPACE_TEMP ? workspace_buffer(h->c->ctx, &h->space, buf)->name : h->names[buffer_at(&h->buffers, buf)];
}

/* Has it letters, and are these capitals? */
static bool is_in_capitals(const char *name)
{
    bool some = false;
    for (; *name; name++) {
        if (*name >= 'a' && *name <= 'z')
            return false;
        some |= *name >= 'A' && *name <= 'Z';
    }
    return some;
}

const char *host_claim(const Host *h, const char *name)
{
    return c_name_claim(h->c->names, h->c->header && is_in_capitals(name) ? ctx_printf(h->c->ctx, "%s_", name) : name);
}

static void name_workspace(Host *h)
{
    CNames *names = h->c->names;
    if (!h->space.buffers.n)
        return;
    h->workspace = c_name_claim(names, "workspace");
    h->base = c_name_claim(names, "space");
    h->given = h->c->header ? c_name_claim(names, "workspace_bytes") : NULL;
    for (int i = 0; i < h->space.buffers.n; i++)
        h->space.buffers.at[i].name = host_claim(h, h->space.buffers.at[i].buf->name);
}

static void find_params(Host *h)
{
    Cuda *c = h->c;
    const CoreEntry *entry = h->program->entry;
    host_buffers(c->ctx, h->program, &h->buffers);
    h->names = NEWN(c->ctx, const char *, h->buffers.n);
    for (int i = 0; i < h->buffers.n; i++)
        h->names[i] = host_claim(h, h->buffers.at[i].buf->name);
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
    for (int i = 0; i < h->space.buffers.n; i++)
        nat_each_var(c->ctx, h->space.buffers.at[i].bytes, add_size, h);
    for (int i = 0; i < h->sizes.n; i++)
        c_names_set(c->names, h->sizes.at[i], host_claim(h, h->sizes.at[i]->name));
    name_workspace(h);
}

void host_put_size_params(HostFunction *f)
{
    for (int i = 0; i < f->h->sizes.n; i++)
        host_put_param(f, "long long ", c_names_get(f->h->c->names, f->h->sizes.at[i]));
}

/* Where a function is described. */
StrBuf *host_comments(const Host *h) { return h->c->header ? h->declarations : h->c->out; }
const char *host_what(const Host *h) { return h->program->entry ? h->program->entry->name : "the kernels"; }
const char *host_errors(const Host *h) { return h->c->header ? "an error" : "a cudaError_t"; }

static Nat cells(const Host *h, const HostBuffer *p) { return p->kernel ? kernel_cells(h->c->ctx, p->kernel, p->buf) : p->buf->count; }

static void put_cells(Host *h, const CudaNames *names)
{
    Cuda *c = h->c;
    StrBuf *out = host_comments(h);
    for (int i = 0; i < h->buffers.n; i++) {
        const HostBuffer *p = &h->buffers.at[i];
        if (p->buf->by_value) {
            if (cuda_is_half(p->buf->elem))
                sb_printf(out, "//   %s: the bits of a number of type %s\n", h->names[i], scalar_name(p->buf->elem));
            continue;
        }
        sb_printf(out, "//   %s: ", h->names[i]);
        cuda_comment_text(out, nat_text(c->ctx, cells(h, p)));
        sb_printf(out, " %s\n", c->header && cuda_is_half(p->buf->elem) ? scalar_name(p->buf->elem) : host_type(h, p->buf->elem));
    }
    if (h->workspace)
        sb_printf(out, "//   %s: the bytes that %s says, made ready by %s; for one launch at a time\n", h->workspace, names->workspace, names->init);
}

static void begin_launch(Host *h, const CudaNames *names, HostFunction *f)
{
    Cuda *c = h->c;
    put_cells(h, names);
    host_function_begin(h, f, names->launch, false);
    for (int i = 0; i < h->buffers.n; i++) {
        const ImpBuf *buf = h->buffers.at[i].buf;
        const char *type = host_type(h, buf->elem);
        host_put_param(f, buf->by_value ? ctx_printf(c->ctx, "%s ", type) : ctx_printf(c->ctx, "%s%s *", buf->space == SPACE_INPUT ? "const " : "", type), h->names[i]);
    }
    if (h->workspace)
        host_put_param(f, "void *", h->workspace);
    if (h->given)
        host_put_param(f, "size_t ", h->given);
    host_put_size_params(f);
    host_put_param(f, host_stream_type(h), "stream");
    host_function_body(f);
}

/* ---- checks -------------------------------------------------------------------------------------------------------------- */

void host_refuse_if(const Host *h, HostRefusal why, const char *cond)
{
    const char *margin = host_margin(h);
    sb_printf(h->c->out, "%sif (%s)\n%s    return %s;\n", margin, cond, margin, host_refusal(h, why));
}

/* As host_refuse_if, or as one more condition of the refusal that was printed last. */
static void refuse_also(Host *h, HostRefusal why, const char *cond)
{
    StrBuf *out = h->c->out;
    HostRefused *last = &h->last;
    const char *value = host_refusal(h, why);
    const bool joins = last->out == out && last->end == out->len && last->depth == h->depth && last->why == why;
    if (joins) {
        const char *margin = host_margin(h);
        out->len = last->paren;
        sb_printf(out, " || %s)\n%s    return %s;\n", cond, margin, value);
    } else {
        host_refuse_if(h, why, cond);
    }
    *last = (HostRefused){out, out->len - strlen(")\n") - strlen(host_margin(h)) - strlen("    return ;\n") - strlen(value), out->len, h->depth, why};
}

static bool takes_wide(Ctx *ctx, const ImpKernel *k)
{
    return k->wide || (k->otherwise && k->otherwise->wide) || index_guards_hold(ctx, k);
}

static bool all_take_wide(const Host *h)
{
    bool all = true;
    for (int i = 0; i < h->program->kernels.n; i++)
        all &= takes_wide(h->c->ctx, h->program->kernels.at[i]);
    return all;
}

static void refuse_once(Host *h, HostRefusal why, const StrBuf *text)
{
    const char *cond = intern_z(h->c->ctx, text->text);
    for (int i = 0; i < h->refused.n; i++)
        if (h->refused.at[i] == cond)
            return;
    refuse_also(h, why, cond);
    vec_push(h->c->ctx, &h->refused, cond);
}

void host_refuse_large(Host *h, Nat nat)
{
    Cuda *c = h->c;
    StrBuf text;
    if (index_guards_small(c->ctx, &h->products, c->facts, nat))
        return;
    sb_init(&text, c->ctx);
    cuda_nat_helpers(c, nat_print_plain_c(c->ctx, &text, nat, c->facts, NAT_DOUBLE, c_names_of, c->names, 0, c->header ? c->header->lower : NULL));
    sb_printf(&text, " > %lld.0", (long long)index_most(nat));
    refuse_once(h, REFUSE_OVERFLOW, &text);
    if (!h->depth && index_is_product(nat)) /* what holds of all launches */
        vec_push(c->ctx, &h->products, nat);
}

/* The elements of arrays stand first, for what they say of others. */
static void refuse_cells(Host *h)
{
    h->products = (IndexProducts){0};
    for (int i = 0; i < h->buffers.n; i++)
        if (index_is_product(h->buffers.at[i].buf->count))
            host_refuse_large(h, h->buffers.at[i].buf->count);
}

static void refuse_values(Host *h, const IndexGuards *values)
{
    for (int i = 0; i < values->at_most_max.n; i++)
        host_refuse_large(h, values->at_most_max.at[i]);
}

static void put_guards(Host *h, const ImpVariant *variant, bool alone)
{
    (void)alone;
    const ImpKernel *k = variant->kernel;
    Cuda *c = h->c;
    Ctx *ctx = c->ctx;
    StrBuf text, *out = c->out;
    const IndexGuards *guards = index_guards(ctx, k);
    IndexGuards divisors = {0};
    bool wide = takes_wide(ctx, k);
    for (int i = 0; i < guards->at_least_one.n; i++)
        index_guards_of_value(ctx, guards->at_least_one.at[i], &divisors);
    if (variant->when.n)
        c->facts = k->known;
    refuse_values(h, &divisors);
    for (int i = 0; i < guards->at_least_one.n; i++) {
        sb_init(&text, ctx);
        c->out = &text;
        cuda_nat(c, guards->at_least_one.at[i], C_SUM);
        c->out = out;
        sb_puts(&text, " < 1");
        refuse_once(h, REFUSE_SIZE, &text);
    }
    for (int i = 0; i < guards->at_most_max.n; i++) {
        Nat nat = guards->at_most_max.at[i];
        if (wide) {
            host_refuse_large(h, nat);
            continue;
        }
        sb_init(&text, ctx);
        c->out = &text;
        cuda_nat(c, nat, C_SUM);
        c->out = out;
        sb_printf(&text, " > %lld", (long long)INDEX_MAX);
        refuse_once(h, REFUSE_OVERFLOW, &text);
    }
}

/* Does it say anything that was not said of all sizes? */
static bool has_guards(Host *h, const ImpVariant *variant)
{
    StrBuf text, *out = h->c->out;
    const int refused = h->refused.n, products = h->products.n;
    sb_init(&text, h->c->ctx);
    h->c->out = &text;
    put_guards(h, variant, false);
    h->c->out = out;
    h->refused.n = refused;
    h->products.n = products;
    h->last = (HostRefused){0};
    return text.len > 0;
}

/* Of what is launched for all sizes, or of what a size test chooses: all that can be refused is, before anything is launched. */
static void put_all_guards(Host *h, bool always)
{
    HostRun all = host_all(h->c->ctx, h->program), run = {0};
    for (int i = 0; i < all.n; i++)
        if (always ? all.at[i]->when.n == 0 : all.at[i]->when.n && has_guards(h, all.at[i]))
            vec_push(h->c->ctx, &run, all.at[i]);
    host_put_run(h, &run, 0, put_guards);
}

/* One condition a line, in an order in which each may be computed: sizes, divisors, products, facts. */
void host_put_checks(Host *h)
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
        host_refuse_if(h, REFUSE_SIZE, text.text);
    refuse_cells(h);
    const CoreEntry *entry = h->program->entry;
    IndexGuards values;
    index_guards_of_tests(ctx, h->program, &values);
    refuse_values(h, &values);
    put_all_guards(h, true);
    for (int i = 0; entry && i < entry->n_facts; i++) {
        sb_init(&text, ctx);
        if (cuda_fact(c, &text, entry->facts[i], false, C_ANY)) {
            host_refuse_if(h, REFUSE_SIZE, text.text);
        } else {
            put(c, "    // not checked here: ");
            StrBuf fact;
            sb_init(&fact, ctx);
            core_print(&fact, entry->facts[i]);
            cuda_comment_text(c->out, fact.text);
            put(c, "\n");
        }
    }
    host_put_test_sizes(h);
    put_all_guards(h, false);
}

/* ---- results, in a header ------------------------------------------------------------------------------------------------ */

static bool is_result(const HostBuffer *p) { return p->buf->space == SPACE_OUTPUT && !p->buf->by_value; }

static void put_results(Host *h, const CudaNames *names)
{
    Cuda *c = h->c;
    Ctx *ctx = c->ctx;
    HostFunction f;
    int mark = c_names_mark(c->names);
    const NatFacts *facts = c->facts;
    sb_printf(host_comments(h), "// The bytes of what a launch of %s with these sizes writes.\n// Gives 0 or %s.\n", host_what(h), host_errors(h));
    host_function_begin(h, &f, names->results, false);
    host_put_size_params(&f);
    for (int i = 0; i < h->buffers.n; i++)
        if (is_result(&h->buffers.at[i]))
            host_put_param(&f, "size_t *", h->names[i]);
    host_function_body(&f);
    host_put_checks(h);
    c->facts = facts;
    for (int i = 0; i < h->buffers.n; i++) {
        const HostBuffer *p = &h->buffers.at[i];
        if (!is_result(p))
            continue;
        Nat bytes = nat_mul(ctx, cells(h, p), nat_const(ctx, scalar_bytes(p->buf->elem)));
        host_put_device_sizes(h, bytes);
        if (!nat_le(ctx, c->facts, bytes, nat_const(ctx, WIDE_INDEX_MAX)))
            host_refuse_large(h, bytes);
        sb_printf(c->out, nat_is_const(bytes) ? "    *%s = %s;\n" : "    *%s = (size_t)(%s);\n", h->names[i], host_nat(h, bytes, C_ANY));
    }
    host_function_end(&f, ctx_printf(ctx, "%sOK", c->header->upper));
    host_put_gap(h);
    c_names_release(c->names, mark);
    h->refused.n = 0;
    h->has_sms = false;
}

/* ---- the whole ----------------------------------------------------------------------------------------------------------- */

void cuda_host(Cuda *c, const ImpProgram *program, const CudaNames *names, StrBuf *declarations)
{
    int mark = c_names_mark(c->names);
    Host h = {.c = c, .program = program, .kernels = names->kernels, .declarations = declarations};
    HostFunction f;
    c->kernel = NULL; /* sizes are long long here */
    c->facts = program->entry ? program->entry->known : NULL;
    c_name_claim(c->names, "stream");
    if (c->header)
        c_name_claim(c->names, "error");
    workspace_plan(c->ctx, program, &h.space);
    find_params(&h);
    const NatFacts *facts = c->facts;
    if (c->header)
        put_results(&h, names);
    host_put_workspace(&h, names);
    c->facts = facts;
    h.refused.n = 0;
    sb_printf(host_comments(&h), "// Launches %s on a stream. Gives 0 or %s.\n// Buffers are in device memory. Cells:\n", host_what(&h), host_errors(&h));
    begin_launch(&h, names, &f);
    host_put_checks(&h);
    host_put_base(&h, names);
    host_put_launches(&h);
    host_function_end(&f, c->header ? ctx_printf(c->ctx, "%sOK", c->header->upper) : "(int)cudaGetLastError()");
    c_names_release(c->names, mark);
}

void cuda_host_use(Ctx *ctx, const ImpProgram *program, CudaHostUse *any)
{
    any->sms |= host_test_use(ctx, program).sms;
    any->workspace |= workspace_is_used(program);
    for (int k = 0; k < program->kernels.n; k++) {
        const CudaHostUse use = host_device_use(ctx, program->kernels.at[k]);
        any->sms |= use.sms;
        any->resident |= use.resident;
    }
}

void cuda_host_helpers(StrBuf *out, const CudaHostUse *any)
{
    const size_t start = out->len;
    if (any->sms || any->resident)
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
    if (any->workspace)
        sb_puts(out, "// Fails where the current device has less memory. Up to 1 GB it is not asked.\n"
                     "static cudaError_t rise_fits(size_t bytes)\n"
                     "{\n"
                     "    size_t unused, all = bytes;\n"
                     "    cudaError_t error = bytes > 1 << 30 ? cudaMemGetInfo(&unused, &all) : cudaSuccess;\n"
                     "    return error == cudaSuccess && bytes > all ? cudaErrorMemoryAllocation : error;\n"
                     "}\n\n");
    if (any->resident)
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
    cuda_wrap(out, start);
}
