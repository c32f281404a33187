/* The workspace in the functions of the host: how large it is, how it becomes ready, and where in it a launch finds its buffers. */
#include "codegen/cuda_host.h"

static void put(Cuda *c, const char *text) { sb_puts(c->out, text); }

/* ---- sizes of the device ---------------------------------------------------------------------------------------------------------- */

typedef struct DeviceVars {
    Ctx *ctx;
    Nat sms;
    VEC(Nat) residents;
} DeviceVars;

static void note_var(void *user, Nat var)
{
    DeviceVars *found = user;
    if (var->device == NAT_NUM_SM)
        found->sms = var;
    bool known = var->device != NAT_MAX_RESIDENT;
    for (int i = 0; i < found->residents.n; i++)
        known |= found->residents.at[i] == var;
    if (!known)
        vec_push(found->ctx, &found->residents, var);
}

const char *host_nat(const Host *h, Nat nat, CPrec prec)
{
    Cuda *c = h->c;
    StrBuf text, *out = c->out;
    sb_init(&text, c->ctx);
    c->out = &text;
    cuda_nat(c, nat, prec);
    c->out = out;
    return text.text;
}

/* Declares what these depend on beside the sizes. */
static void put_device_sizes(Host *h, const DeviceVars *found)
{
    Cuda *c = h->c;
    if (found->sms) {
        c_name_claim(c->names, "numSM");
        c_names_set(c->names, found->sms, "numSM");
        host_put_multiprocessors(h, host_margin(h));
    }
    for (int i = 0; i < h->space.residents.n; i++) {
        const WorkResident *r = &h->space.residents.at[i];
        bool wanted = false;
        for (int k = 0; k < found->residents.n; k++)
            wanted |= found->residents.at[k] == r->var;
        if (!wanted)
            continue;
        const char *name = c_name_claim(c->names, "resident"), *shared = "0";
        c_names_set(c->names, r->var, name);
        if (kernel_shared_is_dynamic(r->kernel))
            shared = host_nat(h, r->kernel->shared_bytes, C_ANY);
        host_put_resident(h, host_margin(h), r->kernel, host_kernel_name(h, r->kernel), shared, name);
    }
}

void host_put_device_sizes(Host *h, Nat nat)
{
    DeviceVars found = {.ctx = h->c->ctx};
    nat_each_var(h->c->ctx, nat, note_var, &found);
    put_device_sizes(h, &found);
}

/* ---- the places of a launch --------------------------------------------------------------------------------------------------------- */

static const char *place(Host *h, const WorkBuffer *b, Nat offset)
{
    Ctx *ctx = h->c->ctx;
    const char *type = cuda_type(b->buf->elem);
    return nat_is(offset, 0) ? ctx_printf(ctx, "(%s *)%s", type, h->base) : ctx_printf(ctx, "(%s *)(%s + %s)", type, h->base, host_nat(h, offset, C_ANY));
}

/* Mail that may be longer than its place among the flags. */
static void put_either_place(Host *h, const WorkBuffer *b)
{
    Cuda *c = h->c;
    const char *bytes = host_nat(h, b->bytes, C_SUM), *margin = host_margin(h);
    sb_printf(c->out, "%sif (%s > %lld) {\n%s    %s = %s;\n", margin, bytes, (long long)b->room, margin, b->name, place(h, b, b->offset));
    host_return_error(h, ctx_printf(c->ctx, "    %s", margin), host_call_clear(h, b->name, ctx_printf(c->ctx, "(size_t)(%s)", bytes)));
    sb_printf(c->out, "%s}\n", margin);
}

/* Of a header: its function puts into `to` how many bytes a launch needs. */
static void put_needed(Host *h, const CudaNames *names, const char *to)
{
    Cuda *c = h->c;
    const char *call = ctx_printf(c->ctx, "%s(", names->needed);
    for (int i = 0; i < h->sizes.n; i++)
        call = ctx_printf(c->ctx, "%s%s, ", call, c_names_get(c->names, h->sizes.at[i]));
    host_return_error(h, "    ", ctx_printf(c->ctx, "%s%s)", call, to));
}

/* In a header a launch knows how many bytes there are. */
static void put_enough(Host *h, const CudaNames *names)
{
    Cuda *c = h->c;
    int mark = c_names_mark(c->names);
    const char *needed = c_name_claim(c->names, "needed");
    sb_printf(c->out, "    size_t %s;\n", needed);
    put_needed(h, names, ctx_printf(c->ctx, "&%s", needed));
    host_refuse_if(h, REFUSE_WORKSPACE, ctx_printf(c->ctx, "%s < %s", h->given, needed));
    c_names_release(c->names, mark);
}

/* The condition that there is none, or that it stands where kernels cannot use it. */
static const char *misplaced(const Host *h) { return ctx_printf(h->c->ctx, "!%s || (size_t)%s %% %d != 0", h->workspace, h->workspace, h->space.align); }

void host_put_base(Host *h, const CudaNames *names)
{
    if (!h->workspace)
        return;
    host_refuse_if(h, REFUSE_WORKSPACE, misplaced(h));
    if (h->given)
        put_enough(h, names);
    sb_printf(h->c->out, "    char *const %s = (char *)%s;\n", h->base, h->workspace);
}

/* What the kernel has of the buffer; NULL: nothing. */
static const ImpBuf *had(const Host *h, const ImpKernel *k, const WorkBuffer *b)
{
    for (; k; k = k->otherwise)
        for (int i = 0; i < k->bufs.n; i++)
            if (k->bufs.at[i]->space == SPACE_TEMP && workspace_buffer(h->c->ctx, &h->space, k->bufs.at[i]) == b)
                return k->bufs.at[i];
    return NULL;
}

bool host_has_places(const ImpKernel *k)
{
    for (; k; k = k->otherwise)
        for (int i = 0; i < k->bufs.n; i++)
            if (k->bufs.at[i]->space == SPACE_TEMP)
                return true;
    return false;
}

/* The place of a buffer that has changed places with another one. */
static const char *place_by_turns(Host *h, const WorkBuffer *b, const WorkBuffer *other, Nat turns)
{
    Nat odd = nat_mod(h->c->ctx, turns, nat_const(h->c->ctx, 2));
    return ctx_printf(h->c->ctx, "(%s *)(%s + (%s != 0 ? %s : %s))", cuda_type(b->buf->elem), h->base, host_nat(h, odd, C_SUM), host_nat(h, other->offset, C_ANY),
                      host_nat(h, b->offset, C_ANY));
}

static void put_swapped_place(Host *h, const WorkBuffer *b, const ImpBuf *buf)
{
    Cuda *c = h->c;
    const WorkBuffer *other = workspace_buffer(h->c->ctx, &h->space, buf->swap);
    host_refuse_large(h, b->offset);
    host_refuse_large(h, other->offset);
    host_indent(h);
    sb_printf(c->out, "%s *const %s = %s; // ", cuda_type(b->buf->elem), b->name, place_by_turns(h, b, other, buf->turns));
    cuda_comment_text(c->out, nat_text(c->ctx, b->cells));
    put(c, "\n");
}

static void put_place(Host *h, const WorkBuffer *b)
{
    Cuda *c = h->c;
    bool either = b->flag >= 0 && b->offset;
    if (b->offset)
        host_refuse_large(h, b->offset);
    host_indent(h);
    sb_printf(c->out, "%s *%s%s = %s; // ", cuda_type(b->buf->elem), either ? "" : "const ", b->name, place(h, b, b->flag >= 0 ? nat_const(c->ctx, b->flag) : b->offset));
    cuda_comment_text(c->out, nat_text(c->ctx, b->cells));
    put(c, "\n");
    if (either)
        put_either_place(h, b);
}

void host_put_places(Host *h, const ImpKernel *k)
{
    Ctx *ctx = h->c->ctx;
    DeviceVars found = {.ctx = ctx};
    for (int i = 0; i < h->space.buffers.n; i++) {
        const WorkBuffer *b = &h->space.buffers.at[i];
        const ImpBuf *buf = b->offset ? had(h, k, b) : NULL;
        if (!buf)
            continue;
        nat_each_var(ctx, b->offset, note_var, &found);
        if (buf->swap)
            nat_each_var(ctx, workspace_buffer(h->c->ctx, &h->space, buf->swap)->offset, note_var, &found);
        if (b->flag >= 0)
            nat_each_var(ctx, b->bytes, note_var, &found);
    }
    put_device_sizes(h, &found);
    for (int i = 0; i < h->space.buffers.n; i++) {
        const WorkBuffer *b = &h->space.buffers.at[i];
        const ImpBuf *buf = had(h, k, b);
        if (buf && buf->swap)
            put_swapped_place(h, b, buf);
        else if (buf)
            put_place(h, b);
    }
}

/* ---- its functions ------------------------------------------------------------------------------------------------------------------ */

/* What launches under the variant's conditions need. */
static void put_bytes(Host *h, const ImpVariant *variant, bool alone)
{
    Cuda *c = h->c;
    DeviceVars found = {.ctx = c->ctx};
    const bool had_sms = h->has_sms;
    Nat bytes = workspace_bytes(&h->space, variant);
    c->facts = variant->kernel->known;
    nat_each_var(c->ctx, bytes, note_var, &found);
    int mark = c_names_mark(c->names);
    const bool small = index_guards_small(c->ctx, &h->products, c->facts, bytes), block = !alone && h->several && (found.sms || found.residents.n || host_has_counts(h, bytes));
    if (block) {
        host_indent(h);
        put(c, "{\n");
        h->depth++;
    }
    put_device_sizes(h, &found);
    bytes = host_name_counts(h, bytes);
    if (!small)
        host_refuse_large(h, bytes);
    const char *text = host_nat(h, bytes, C_ANY);
    bool most = h->several && (h->said++ || variant->when.n);
    if (most)
        cuda_nat_helpers(c, NAT_C_MAX);
    host_indent(h);
    sb_printf(c->out, "*%s = ", h->bytes);
    if (most && c->header)
        sb_printf(c->out, "(size_t)%snat_max_((long long)*%s, %s);\n", c->header->lower, h->bytes, text);
    else if (most)
        sb_printf(c->out, "nat_max((long long)*%s, %s);\n", h->bytes, text);
    else
        sb_printf(c->out, c->header && !nat_is_const(bytes) ? "(size_t)(%s);\n" : "%s;\n", text);
    if (block) {
        h->depth--;
        host_indent(h);
        put(c, "}\n");
    }
    h->has_sms = had_sms;
    c_names_release(c->names, mark);
}

/* Do the conditions of some launches not exclude each other? */
static bool conditions_mix(const HostRun *all)
{
    for (int i = 0; i < all->n; i++)
        for (int k = 0; k < i; k++)
            if (!workspace_excludes(&all->at[i]->when, &all->at[k]->when))
                return true;
    return false;
}

void host_put_gap(const Host *h)
{
    put(h->c, "\n");
    if (h->c->header)
        sb_puts(h->declarations, "\n");
}

static void put_size_function(Host *h, const char *name, bool own)
{
    Cuda *c = h->c;
    const HostRun all = workspace_needs(c->ctx, c->facts, &h->space);
    HostFunction f;
    h->said = 0;
    h->several = conditions_mix(&all);
    host_function_begin(h, &f, name, own);
    host_put_size_params(&f);
    host_put_param(&f, "size_t *", h->bytes);
    host_function_body(&f);
    host_put_checks(h);
    if (h->several ? all.at[0]->when.n > 0 : !imp_cover(c->ctx, &all, 0)) /* else each way says it */
        sb_printf(c->out, "    *%s = %lld;\n", h->bytes, (long long)h->space.flags);
    host_put_run(h, &all, 0, put_bytes);
    host_function_end(&f, own ? ctx_printf(c->ctx, "%sOK", c->header->upper) : host_call_fits(h, ctx_printf(c->ctx, "*%s", h->bytes)));
    put(c, "\n");
}

/* In a header: the bytes are those of a function of its own, that a launch calls too. */
static void put_asked_function(Host *h, const CudaNames *names)
{
    Cuda *c = h->c;
    HostFunction f;
    host_function_begin(h, &f, names->workspace, false);
    host_put_size_params(&f);
    host_put_param(&f, "size_t *", h->bytes);
    host_function_body(&f);
    put_needed(h, names, h->bytes);
    host_function_end(&f, host_call_fits(h, ctx_printf(c->ctx, "*%s", h->bytes)));
    host_put_gap(h);
}

static void put_init_function(Host *h, const CudaNames *names)
{
    Cuda *c = h->c;
    HostFunction f;
    const char *flags = ctx_printf(c->ctx, "%lld", (long long)h->space.flags);
    sb_printf(host_comments(h), "// Makes the workspace ready: once before its first launch, of whatever sizes, and again after a launch that failed.\n");
    host_function_begin(h, &f, names->init, false);
    host_put_param(&f, "void *", h->workspace);
    if (h->given)
        host_put_param(&f, "size_t ", h->given);
    host_put_param(&f, host_stream_type(h), "stream");
    host_function_body(&f);
    if (h->given)
        host_refuse_if(h, REFUSE_WORKSPACE, ctx_printf(c->ctx, "%s || %s < %s", misplaced(h), h->given, flags));
    host_function_end(&f, ctx_printf(c->ctx, c->header ? "%s" : "(int)%s", host_call_clear(h, h->workspace, flags)));
    host_put_gap(h);
}

void host_put_workspace(Host *h, const CudaNames *names)
{
    Cuda *c = h->c;
    if (!names->workspace)
        return;
    int mark = c_names_mark(c->names);
    h->bytes = c_name_claim(c->names, "bytes");
    if (c->header)
        put_size_function(h, names->needed, true);
    sb_printf(host_comments(h), "// The bytes of workspace, in device memory, that a launch of %s with these sizes needs.\n", host_what(h));
    sb_printf(host_comments(h), "// Gives 0 or %s: %s where the current device has less memory.\n", host_errors(h),
              c->header ? ctx_printf(c->ctx, "%sERROR_DEVICE_MEMORY", c->header->upper) : "cudaErrorMemoryAllocation");
    if (c->header)
        put_asked_function(h, names);
    else
        put_size_function(h, names->workspace, false);
    c_names_release(c->names, mark);
    put_init_function(h, names);
}
