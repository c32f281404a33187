/* The words in which the functions of the host differ: a .cu file is CUDA C++ and calls CUDA's runtime, a header is C99 and calls the driver by the functions
 * of header/implementation.h. */
#include "codegen/cuda_host.h"

static void put(Cuda *c, const char *text) { sb_puts(c->out, text); }
static const char *lower(const Host *h) { return h->c->header->lower; }

/* ---- functions ---------------------------------------------------------------------------------------------------------- */

void host_function_begin(Host *h, HostFunction *f, const char *name, bool own)
{
    Ctx *ctx = h->c->ctx;
    *f = (HostFunction){.h = h, .out = h->c->out};
    sb_init(&f->line, ctx);
    sb_init(&f->body, ctx);
    sb_printf(&f->line, "%sint %s(", !h->c->header ? "extern \"C\" " : own ? "static " : "", name);
    f->own = own;
}

void host_put_param(HostFunction *f, const char *type, const char *name)
{
    vec_push(f->h->c->ctx, &f->names, name);
    vec_push(f->h->c->ctx, &f->params, ctx_printf(f->h->c->ctx, "%s%s", type, name));
}

static void put_params(HostFunction *f)
{
    size_t start = f->line.len, at = start;
    for (int i = 0; i < f->params.n; i++) {
        const char *text = ctx_printf(f->h->c->ctx, "%s%s", f->params.at[i], i + 1 < f->params.n ? "," : ")");
        bool first = at == start;
        if (!first && at + strlen(text) + 1 > CUDA_WIDTH) {
            sb_printf(&f->line, "\n%*s", (int)start, "");
            at = start;
            first = true;
        }
        sb_printf(&f->line, "%s%s", first ? "" : " ", text);
        at += strlen(text) + !first;
    }
}

void host_function_body(HostFunction *f)
{
    Cuda *c = f->h->c;
    put_params(f);
    if (c->header && !f->own)
        sb_printf(f->h->declarations, "%s;\n", f->line.text);
    c->out = &f->body;
}

static bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

/* Does the name stand in the text, but in a comment? */
static bool has_name(const StrBuf *text, const char *name)
{
    const char *start = text->text ? text->text : "", *at = start;
    const size_t n = strlen(name);
    for (; *at; at++) {
        if (at[0] == '/' && at[1] == '/') {
            at = strchr(at, '\n');
            if (!at)
                return false;
            continue;
        }
        if (!strncmp(at, name, n) && !is_word(at[n]) && (at == start || !is_word(at[-1])))
            return true;
    }
    return false;
}

void host_function_end(HostFunction *f, const char *result)
{
    Cuda *c = f->h->c;
    sb_printf(&f->body, "    return %s;\n}\n", result);
    c->out = f->out;
    sb_printf(c->out, "%s\n{\n", f->line.text);
    if (c->header && has_name(&f->body, "error"))
        put(c, "    int error;\n");
    for (int i = 0; c->header && i < f->names.n; i++)
        if (!has_name(&f->body, f->names.at[i]))
            sb_printf(c->out, "    (void)%s;\n", f->names.at[i]);
    sb_putn(c->out, f->body.text, f->body.len);
}

/* ---- types and errors --------------------------------------------------------------------------------------------------- */

const char *host_type(const Host *h, Scalar s)
{
    static const char *const types[SC_COUNT] = {
        [SC_BOOL] = "uint8_t", [SC_I8] = "int8_t",    [SC_I16] = "int16_t",   [SC_I32] = "int32_t",   [SC_I64] = "int64_t", [SC_U8] = "uint8_t", [SC_U16] = "uint16_t",
        [SC_U32] = "uint32_t", [SC_U64] = "uint64_t", [SC_F16] = "uint16_t", [SC_BF16] = "uint16_t", [SC_F32] = "float",   [SC_F64] = "double"};
    return h->c->header ? types[s] : cuda_type(s);
}

const char *host_stream_type(const Host *h) { return h->c->header ? "void *" : "cudaStream_t "; }

const char *host_refusal(const Host *h, HostRefusal why)
{
    static const char *const words[] = {[REFUSE_SIZE] = "SIZE", [REFUSE_OVERFLOW] = "OVERFLOW", [REFUSE_WORKSPACE] = "WORKSPACE"};
    return h->c->header ? ctx_printf(h->c->ctx, "%sERROR_%s", h->c->header->upper, words[why]) : "(int)cudaErrorInvalidValue";
}

void host_return_error(const Host *h, const char *margin, const char *call)
{
    Cuda *c = h->c;
    if (c->header) {
        sb_printf(c->out, "%sif ((error = %s) != 0)\n%s    return error;\n", margin, call, margin);
        return;
    }
    int mark = c_names_mark(c->names);
    const char *error = c_name_claim(c->names, "error");
    sb_printf(c->out, "%sif (const cudaError_t %s = %s)\n%s    return (int)%s;\n", margin, error, call, margin, error);
    c_names_release(c->names, mark);
}

/* ---- the device --------------------------------------------------------------------------------------------------------- */

/* What stands for a kernel where it is no call. */
static const char *kernel_value(const Host *h, const char *name)
{
    return h->c->header ? ctx_printf(h->c->ctx, "%skernel_%s_", lower(h), name) : ctx_printf(h->c->ctx, "(const void *)%s", name);
}

static const char *as_bytes(const char *shared) { return strcmp(shared, "0") ? "(size_t)" : ""; }

const char *host_call_multiprocessors(const Host *h, const char *var)
{
    return h->c->header ? ctx_printf(h->c->ctx, "%smultiprocessors_(&%s)", lower(h), var) : ctx_printf(h->c->ctx, "rise_multiprocessors(&%s)", var);
}

const char *host_call_resident(const Host *h, const char *kernel, int threads, const char *shared, const char *var)
{
    return ctx_printf(h->c->ctx, "%s(%s, %d, %s%s, &%s)", h->c->header ? ctx_printf(h->c->ctx, "%sresident_", lower(h)) : "rise_resident_blocks", kernel_value(h, kernel), threads,
                      as_bytes(shared), shared, var);
}

const char *host_call_fits(const Host *h, const char *bytes)
{
    return h->c->header ? ctx_printf(h->c->ctx, "%sfits_(%s)", lower(h), bytes) : ctx_printf(h->c->ctx, "(int)rise_fits(%s)", bytes);
}

const char *host_call_clear(const Host *h, const char *memory, const char *bytes)
{
    return h->c->header ? ctx_printf(h->c->ctx, "%sclear_(%s, %s, stream)", lower(h), memory, bytes) : ctx_printf(h->c->ctx, "cudaMemsetAsync(%s, 0, %s, stream)", memory, bytes);
}

void host_put_dynamic_shared(const Host *h, const char *margin, const char *kernel, const char *shared)
{
    if (!h->c->header) /* there each call does it */
        host_return_error(h, margin, ctx_printf(h->c->ctx, "cudaFuncSetAttribute(%s, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)%s)", kernel_value(h, kernel), shared));
}

/* ---- calls of kernels --------------------------------------------------------------------------------------------------- */

static const char *block_text(Ctx *ctx, const ImpKernel *k)
{
    const int *t = k->threads;
    return t[1] == 1 && t[2] == 1 ? ctx_printf(ctx, "%d", t[0]) : ctx_printf(ctx, "dim3(%d, %d, %d)", t[0], t[1], t[2]);
}

static const char *grid_text(Ctx *ctx, int n, const char *const blocks[3])
{
    return n == 1   ? blocks[0]
           : n == 2 ? ctx_printf(ctx, "dim3(%s, %s)", blocks[0], blocks[1])
                    : ctx_printf(ctx, "dim3(%s, %s, %s)", blocks[0], blocks[1], blocks[2]);
}

bool host_call_is_block(const Host *h, const ImpKernel *k) { return h->c->header || k->cooperative; }

/* In CUDA C: kernel<<<...>>>(...); */
static void put_launch(Host *h, const ImpKernel *k, const char *name, const char *margin, const char *grid, const char *shared)
{
    Cuda *c = h->c;
    sb_printf(c->out, "%s%s<<<%s, %s, %s%s, stream>>>(", margin, name, grid, block_text(c->ctx, k), as_bytes(shared), shared);
    int n = 0;
    for (int i = 0; i < k->bufs.n; i++)
        if (k->bufs.at[i]->space != SPACE_SHARED)
            sb_printf(c->out, "%s%s", n++ ? ", " : "", host_param(h, k->bufs.at[i]));
    for (int i = 0; i < k->n_sizes; i++)
        sb_printf(c->out, "%s%s%s", n++ ? ", " : "", k->wide ? "" : "(int)", c_names_get(c->names, k->sizes[i]));
    put(c, ");\n");
}

/* void *args[] = {...}; gives its name. */
static const char *put_args(Host *h, const ImpKernel *k, const char *margin)
{
    Cuda *c = h->c;
    int n = 0;
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
    const char *list = "";
    for (int i = 0; i < k->bufs.n; i++)
        if (k->bufs.at[i]->space != SPACE_SHARED)
            list = ctx_printf(c->ctx, "%s%s(void *)&%s", list, n++ ? ", " : "", host_param(h, k->bufs.at[i]));
    for (int i = 0; i < k->n_sizes; i++)
        list = ctx_printf(c->ctx, "%s%s&%s", list, n++ ? ", " : "", sizes[i]);
    if (n)
        sb_printf(c->out, "%svoid *%s[] = {%s};\n", margin, args, list);
    return n ? args : "NULL";
}

static const char *axis(int n, const char *const blocks[3], int a) { return a < n ? blocks[a] : "1"; }

void host_put_call(Host *h, const ImpKernel *k, const char *name, const char *margin, int n, const char *const blocks[3], const char *shared)
{
    Cuda *c = h->c;
    if (!host_call_is_block(h, k)) {
        put_launch(h, k, name, margin, grid_text(c->ctx, n, blocks), shared);
        return;
    }
    int mark = c_names_mark(c->names);
    const char *args = put_args(h, k, margin);
    if (c->header)
        host_return_error(h, margin, ctx_printf(c->ctx, "%scall_%s(%s, %s, %s, %s, %d, %d, %d, %s%s, stream, %s)", lower(h), k->cooperative ? "cooperative_" : "", kernel_value(h, name),
                                                axis(n, blocks, 0), axis(n, blocks, 1), axis(n, blocks, 2), k->threads[0], k->threads[1], k->threads[2], as_bytes(shared), shared, args));
    else
        host_return_error(h, margin, ctx_printf(c->ctx, "cudaLaunchCooperativeKernel(%s, %s, %s, %s, %s%s, stream)", kernel_value(h, name), grid_text(c->ctx, n, blocks),
                                                block_text(c->ctx, k), args, as_bytes(shared), shared));
    c_names_release(c->names, mark);
}
