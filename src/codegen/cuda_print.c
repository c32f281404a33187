/* Imp as CUDA C++: one text for nvcc and NVRTC that includes nothing.
 *
 * Requires imp after the names pass. What it adds to imp: hardware ids where they are used, names
 * for loop variables, comments with the place in the program. No text of the user's but checked
 * identifiers and literals gets here; file names go into comments and #line only. */
#include "codegen/cuda_internal.h"
#include "codegen/workspace.h"
#include "codegen/walk.h"
#include "version.h"

static void put(Cuda *c, const char *text) { sb_puts(c->out, text); }

void cuda_indent(Cuda *c)
{
    for (int i = 0; i < c->depth; i++)
        put(c, "    ");
}

/* ---- comments and places ----------------------------------------------------------------------------------------------- */

void cuda_comment_text(StrBuf *out, const char *text)
{
    char last = 0;
    for (; *text; text++) {
        char ch = *text < ' ' || *text > '~' || *text == '\\' ? '?' : *text;
        if ((last == '*' && ch == '/') || (last == '/' && ch == '*') || (last == '?' && ch == '?'))
            sb_putc(out, ' ');
        sb_putc(out, ch);
        last = ch;
    }
}

const char *cuda_place(Ctx *ctx, Span span, int *line)
{
    const Source *source = source_get(ctx, span.file);
    int column;
    *line = 0;
    if (!source)
        return "";
    source_position(ctx, span, line, &column);
    const char *base = source->library ? NULL : strrchr(source->name, '/');
    return base ? base + 1 : source->name;
}

/* ---- hardware ids ------------------------------------------------------------------------------------------------------ */

/* Sums and products of variables with positive coefficients give the same bits whether computed as int or, as threadIdx is, as unsigned. */
bool cuda_unsigned_safe(Nat nat)
{
    for (int i = 0; i < nat->n_terms; i++) {
        if (nat->terms[i].coef < 0)
            return false;
        for (int j = 0; j < nat->terms[i].n_factors; j++)
            if (nat->terms[i].factors[j]->kind != NAT_VAR)
                return false;
    }
    return nat->kind == NAT_VAR || nat->kind == NAT_SUM || nat->kind == NAT_CONST;
}

enum { N_IDS = 8 };
typedef struct HardwareId {
    Nat var;
    const char *wanted, *text; /* name of its declaration, and what it is */
    bool atom;                 /* the text may stand in place inside a sum */
    bool used, declared;
} HardwareId;

typedef struct Ids {
    HardwareId at[N_IDS];
    const char *linear;
    bool in_place; /* the nats that are noted stand where the text may, too */
} Ids;

static void note_ids(void *user, Nat nat)
{
    Ids *ids = user;
    for (int i = 0; i < N_IDS; i++) {
        HardwareId *id = &ids->at[i];
        if (!id->var || id->var->kind != NAT_VAR || !nat_mentions(nat, id->var))
            continue;
        id->used = true;
        id->declared |= !ids->in_place || !(nat == id->var || (id->atom && cuda_unsigned_safe(nat)));
    }
}

static void note_stmt(void *user, ImpStmt *s)
{
    Ids *ids = user;
    if (!cuda_is_shown(s))
        return;
    if (s->kind != IS_FOR) {
        walk_nats(s, note_ids, ids);
        return;
    }
    ids->in_place = true; /* the start of a loop is assigned to an int */
    note_ids(ids, s->loop.lo);
    ids->in_place = false;
    note_ids(ids, s->loop.hi);
    note_ids(ids, s->loop.step);
}

static void note_call(void *user, const ImpCall *call)
{
    for (int k = 0; k < call->function->params.n; k++)
        if (call->args[k].nat)
            note_ids(user, call->args[k].nat);
}

static const char axis_letters[] = "xyz";

static const char *linear_thread(Ctx *ctx, const ImpKernel *k)
{
    const int *t = k->threads;
    const char *text = t[0] > 1 ? "threadIdx.x" : "";
    int stride = t[0];
    for (int a = 1; a < 3; a++) {
        if (t[a] > 1)
            text = ctx_printf(ctx, stride > 1 ? "%s%sthreadIdx.%c*%d" : "%s%sthreadIdx.%c", text, *text ? " + " : "", axis_letters[a], stride);
        stride *= t[a];
    }
    return *text ? text : "0";
}

static void find_ids(Cuda *c, Ids *ids)
{
    static const char *const block_names[3] = {"blockId", "blockIdY", "blockIdZ"};
    static const char *const thread_names[3] = {"thread", "threadY", "threadZ"};
    const ImpKernel *k = c->kernel;
    Ctx *ctx = c->ctx;
    const char *linear = linear_thread(ctx, k);
    bool sum = strchr(linear, '+') || strchr(linear, '*');
    *ids = (Ids){.in_place = false};
    int n = 0;
    ids->at[n++] = (HardwareId){.var = k->warp, .wanted = k->lanes == WARP_LANES ? "warp" : "part", .text = ctx_printf(ctx, sum ? "(%s) / %d" : "%s / %d", linear, k->lanes)};
    ids->at[n++] = (HardwareId){.var = k->lane, .wanted = "lane", .text = ctx_printf(ctx, sum ? "(%s) %% %d" : "%s %% %d", linear, k->lanes)};
    for (int a = 0; a < 3; a++) {
        ids->at[n++] = (HardwareId){.var = k->block[a], .wanted = block_names[a], .text = ctx_printf(ctx, k->from_last[a] ? "gridDim.%c - 1 - blockIdx.%c" : "blockIdx.%c", axis_letters[a], axis_letters[a]), .atom = !k->from_last[a]};
        ids->at[n++] = (HardwareId){.var = k->thread[a], .wanted = thread_names[a], .text = ctx_printf(ctx, "threadIdx.%c", axis_letters[a]), .atom = true};
    }
    walk_text(&k->body, note_stmt, note_call, ids);
}

/* Declares the ids that the body uses; one that only starts loops stands there in place. */
bool cuda_put_ids(Cuda *c)
{
    Ids ids;
    bool any = false;
    find_ids(c, &ids);
    for (int i = 0; i < N_IDS; i++) {
        HardwareId *id = &ids.at[i];
        if (!id->used)
            continue;
        c_names_set(c->names, id->var, id->text);
        if (!id->declared)
            continue;
        const char *name = c_name_claim(c->names, id->wanted);
        c_names_set(c->names, id->var, name);
        cuda_indent(c);
        sb_printf(c->out, "const %s %s = %s;\n", cuda_index_type(cuda_nat_type(c, id->var)), name, id->text);
        any = true;
    }
    for (int a = 0; a < 3; a++)
        if (c->kernel->grid[a]->kind == NAT_VAR)
            c_names_set(c->names, c->kernel->grid[a], ctx_printf(c->ctx, "(int)gridDim.%c", axis_letters[a]));
    return any;
}

/* ---- shared memory ----------------------------------------------------------------------------------------------------- */

static void put_pointer(Cuda *c, const ImpBuf *buf, const char *bytes, int64_t base)
{
    Nat offset = buf->offset ? nat_add_k(c->ctx, buf->offset, -base) : nat_const(c->ctx, 0);
    cuda_indent(c);
    sb_printf(c->out, "%s *%s = (%s *)", cuda_type(buf->elem), c->buf_names[buf->id], cuda_type(buf->elem));
    if (nat_is(offset, 0)) {
        sb_printf(c->out, "%s;\n", bytes);
        return;
    }
    sb_printf(c->out, "(%s + ", bytes);
    cuda_nat(c, offset, C_PRODUCT);
    put(c, ");\n");
}

static bool same_group(const ImpBuf *a, const ImpBuf *b) { return a == b || (a->group >= 0 && a->group == b->group && a->offset && b->offset); }

typedef struct BufUse {
    const ImpBuf *buf;
    bool used;
} BufUse;

static void use_buf(void *user, ImpBuf **at)
{
    BufUse *u = user;
    u->used |= *at == u->buf;
}

static void use_in_stmt(void *user, ImpStmt *s)
{
    if (s->kind != IS_ALLOC)
        walk_bufs(s, use_buf, user);
}

static void use_in_call(void *user, const ImpCall *call)
{
    for (int k = 0; k < call->function->params.n; k++)
        use_buf(user, &call->args[k].buf);
}

static bool is_used(const Cuda *c, const ImpBuf *buf)
{
    BufUse u = {buf, false};
    walk_text(&c->kernel->body, use_in_stmt, use_in_call, &u);
    return u.used;
}

/* Buffers that share bytes: as one array, when they agree on the type, else as pointers into bytes. */
static void put_group(Cuda *c, const ImpBuf *first)
{
    const ImpKernel *k = c->kernel;
    bool alike = true;
    int align = 0;
    int64_t size = scalar_bytes(first->elem), from = first->offset ? first->offset->value : 0, lo = from, hi = lo;
    for (int i = 0; i < k->bufs.n; i++) {
        const ImpBuf *buf = k->bufs.at[i];
        if (buf->space != SPACE_SHARED || !same_group(first, buf))
            continue;
        int64_t at = buf->offset ? buf->offset->value : 0, end = at + buf->count->value * scalar_bytes(buf->elem);
        alike &= buf->elem == first->elem && (at - from) % size == 0;
        align = buf->align > align ? buf->align : align;
        lo = at < lo ? at : lo;
        hi = end > hi ? end : hi;
    }
    const char *name = c->buf_names[first->id];
    bool single = alike && !align && hi - lo == size;
    cuda_indent(c);
    if (single) {
        sb_printf(c->out, "__shared__ %s %s;\n", cuda_type(first->elem), name);
    } else if (alike) {
        const char *aligned = align ? ctx_printf(c->ctx, "__align__(%d) ", align) : "";
        sb_printf(c->out, "__shared__ %s%s %s[%lld];\n", aligned, cuda_type(first->elem), name, (long long)(hi > lo ? (hi - lo) / size : 1));
    } else {
        lo -= lo % 16; /* keeps every buffer as aligned as it was planned */
        sb_printf(c->out, "__shared__ __align__(16) unsigned char %s[%lld];\n", name = c_name_claim(c->names, "bytes"), (long long)(hi - lo));
    }
    for (int i = 0; i < k->bufs.n; i++) {
        const ImpBuf *buf = k->bufs.at[i];
        if (buf->space != SPACE_SHARED || !same_group(first, buf))
            continue;
        if (alike) {
            c->buf_names[buf->id] = name;
            c->buf_scalars[buf->id] = single;
            c->buf_shifts[buf->id] = buf->offset ? nat_const(c->ctx, (buf->offset->value - lo) / size) : NULL;
        } else if (is_used(c, buf)) {
            put_pointer(c, buf, name, lo);
        }
    }
}

static bool put_shared(Cuda *c)
{
    const ImpKernel *k = c->kernel;
    bool dynamic = kernel_shared_is_dynamic(k), any = false;
    const char *bytes = NULL;
    for (int i = 0; i < k->bufs.n; i++) {
        const ImpBuf *buf = k->bufs.at[i];
        if (buf->space != SPACE_SHARED || (dynamic && !is_used(c, buf)))
            continue;
        any = true;
        if (dynamic) {
            if (!bytes) {
                bool is_template = c->index == INDEX_PARAMETER || c->may_be_unaligned;
                bytes = is_template ? CUDA_SHARED_BYTES : CUDA_SHARED_BYTES_C;
                cuda_indent(c);
                sb_printf(c->out, "extern __shared__ __align__(16) unsigned char %s[];\n", bytes);
            }
            put_pointer(c, buf, bytes, 0);
            continue;
        }
        bool first = true, used = false;
        for (int j = 0; j < k->bufs.n; j++)
            if (k->bufs.at[j]->space == SPACE_SHARED && same_group(buf, k->bufs.at[j])) {
                first &= j >= i;
                used |= is_used(c, k->bufs.at[j]);
            }
        if (first && used)
            put_group(c, buf);
    }
    return any;
}

/* ---- kernels ----------------------------------------------------------------------------------------------------------- */

static void put_per_axis(Cuda *c, const Nat n[3])
{
    int last = 2;
    while (last > 0 && nat_is(n[last], 1))
        last--;
    for (int a = 0; a <= last; a++) {
        put(c, a ? " x " : "");
        cuda_comment_text(c->out, nat_text(c->ctx, n[a]));
    }
}

static bool is_one(const Nat n[3]) { return nat_is(n[0], 1) && nat_is(n[1], 1) && nat_is(n[2], 1); }

static void put_when(Cuda *c, const ImpWhens *when, const char *first)
{
    StrBuf text;
    sb_init(&text, c->ctx);
    imp_print_whens(&text, when);
    put(c, first);
    cuda_comment_text(c->out, text.text);
}

static bool is_form_of(const ImpKernel *kernel, const ImpKernel *first)
{
    while (first && first != kernel)
        first = first->otherwise;
    return first;
}

/* " for n > 1024 and n <= 65536, or for n > 2097152": what the host looks at. */
static void put_whens(Cuda *c)
{
    ImpWhensList found = {0};
    for (int i = 0; i < c->program->launches.n; i++) {
        const ImpLaunch *place = &c->program->launches.at[i];
        for (int v = 0; v < place->variants.n; v++) {
            const ImpWhens *when = &place->variants.at[v].when;
            bool again = !is_form_of(c->kernel, place->variants.at[v].kernel);
            for (int s = 0; s < found.n && !again; s++)
                again = imp_same_when(&found.at[s], when);
            if (!again)
                vec_push(c->ctx, &found, *when);
        }
    }
    imp_join_whens(c->ctx, &found);
    bool always = false;
    for (int i = 0; i < found.n; i++)
        always |= found.at[i].n == 0;
    for (int i = 0; i < found.n && !always; i++)
        put_when(c, &found.at[i], i ? ", or for " : " for ");
}

/* The least number of threads that a multiprocessor of any kind holds. */
enum { RESIDENT_THREADS = 1024 };

static void put_launch_bounds(Cuda *c)
{
    const ImpKernel *k = c->kernel;
    int threads = k->threads[0] * k->threads[1] * k->threads[2];
    sb_printf(c->out, "extern \"C\" __global__ void __launch_bounds__(%d", threads);
    if (k->min_blocks * threads > RESIDENT_THREADS)
        sb_printf(c->out, ", %s(%lld, %d)", cuda_helper(c, HELP_THAT_FIT, SC_I32), (long long)k->min_blocks, threads);
    else if (k->min_blocks > 0)
        sb_printf(c->out, ", %lld", (long long)k->min_blocks);
    put(c, ")\n");
}

/* What the kernel's caller owes it; to the line of a comment. */
static void put_alignment(Cuda *c, const ImpKernel *k, const char *before)
{
    int n = 0;
    for (int i = 0; i < k->bufs.n; i++)
        if (imp_align(k, k->bufs.at[i]))
            sb_printf(c->out, "%s%s to %d bytes", n++ ? ", " : before, c->buf_names[k->bufs.at[i]->id], imp_align(k, k->bufs.at[i]));
}

/* Of all forms of the kernel. */
static void put_kernel_comment(Cuda *c, const char *name)
{
    const ImpKernel *k = c->kernel;
    Nat threads[3];
    for (int a = 0; a < 3; a++)
        threads[a] = nat_const(c->ctx, k->threads[a]);
    sb_printf(c->out, "// %s", name);
    put_whens(c);
    put(c, ": ");
    put_per_axis(c, threads);
    put(c, is_one(threads) ? " thread a block, " : " threads a block, ");
    put_per_axis(c, k->blocks);
    put(c, is_one(k->blocks) ? " block" : " blocks");
    if (kernel_shared_is_dynamic(k)) {
        put(c, ", ");
        cuda_comment_text(c->out, nat_text(c->ctx, k->shared_bytes));
        put(c, " bytes of dynamic shared memory");
    }
    put(c, c->index == INDEX_LONG ? ", 64-bit indices" : "");
    put(c, "\n");
}

static const char *buffer_parameter(const Cuda *c, const ImpBuf *buf)
{
    if (buf->by_value)
        return ctx_printf(c->ctx, "%s %s", cuda_type(buf->elem), c->buf_names[buf->id]);
    return ctx_printf(c->ctx, "%s%s *%s%s", kernel_writes(c->kernel, buf) ? "" : "const ", cuda_type(buf->elem),
                      c->promises[buf->id] ? "__restrict__ " : "", c->buf_names[buf->id]);
}

void cuda_put_items(Cuda *c, size_t column, const char *name, int n, const char *const *items)
{
    const size_t first = column + strlen(name) + 1;
    column = first;
    sb_printf(c->out, "%s(", name);
    for (int i = 0; i < n; i++) {
        if (i) {
            put(c, ",");
            bool wrap = column + strlen(items[i]) + 3 > CUDA_WIDTH;
            put(c, wrap ? "\n" : " ");
            for (size_t j = 0; wrap && j < first; j++)
                sb_putc(c->out, ' ');
            column = wrap ? first : column + 2;
        }
        put(c, items[i]);
        column += strlen(items[i]);
    }
    put(c, ")");
}

/* The parameters of the kernel behind a name that begins at a column, with the type of sizes; or,
 * with none, what is passed for them. */
static void put_list(Cuda *c, size_t column, const char *name, const char *index)
{
    const ImpKernel *k = c->kernel;
    const char **items = NEWN(c->ctx, const char *, k->bufs.n + k->n_sizes + 1);
    int n = 0;
    for (int i = 0; i < k->bufs.n + k->n_sizes; i++) {
        const ImpBuf *buf = i < k->bufs.n ? k->bufs.at[i] : NULL;
        if (buf && buf->space == SPACE_SHARED)
            continue;
        const char *size = buf ? NULL : c_names_get(c->names, k->sizes[i - k->bufs.n]);
        items[n++] = !index ? (buf ? c->buf_names[buf->id] : size)
                     : buf  ? buffer_parameter(c, buf)
                            : ctx_printf(c->ctx, "%s %s", index, size);
    }
    cuda_put_items(c, column, name, n, items);
}

static void print_body(Cuda *c)
{
    put(c, "{\n");
    c->depth = 1;
    bool shared = put_shared(c), ids = cuda_put_ids(c), divisors = cuda_put_divisors(c);
    if ((shared || ids || divisors) && cuda_any_shown(&c->kernel->body))
        put(c, "\n");
    cuda_block(c, &c->kernel->body);
    c->divisors = NULL; /* the names are of this kernel alone */
    put(c, "}\n");
}

enum { MOST_FORMS = 3 }; /* lower.c, add_forms */

/* The parameters of the text that the forms of a kernel share. */
typedef struct TextParameters {
    bool index, aligned;
} TextParameters;

static TextParameters text_parameters(const ImpKernel *k)
{
    TextParameters p = {false, false};
    for (const ImpKernel *v = k->otherwise; v; v = v->otherwise) {
        p.index |= v->wide != k->wide;
        p.aligned |= v->unaligned;
    }
    return p;
}

static CudaIndex index_type(const ImpKernel *k) { return k->wide ? INDEX_LONG : INDEX_INT; }

static const ImpKernel *text_kernel(const ImpKernel *first)
{
    const ImpKernel *twin = imp_wide_twin(first);
    return twin ? twin : first;
}

CudaIndex cuda_text_index(const ImpKernel *kernel)
{
    return text_parameters(kernel).index ? INDEX_PARAMETER : index_type(text_kernel(kernel));
}

bool cuda_text_may_be_unaligned(const ImpKernel *kernel) { return text_parameters(kernel).aligned; }

/* extern "C": calls the text with its own parameters. */
static void put_form(Cuda *c, TextParameters p, const ImpKernel *form, const char *name, const char *body)
{
    put(c, "\n");
    if (p.aligned) {
        put(c, "// ");
        put_alignment(c, form, "Aligned: ");
        put(c, form->unaligned ? "For any address" : "");
        put(c, p.index && form->wide ? ", 64-bit indices.\n" : ".\n");
    }
    put_launch_bounds(c);
    put_list(c, 0, name, cuda_index_type(index_type(form)));
    const char *index = p.index ? cuda_index_type(index_type(form)) : "", *aligned = !p.aligned ? "" : form->unaligned ? "false" : "true";
    put(c, "\n{\n    ");
    put_list(c, 4, ctx_printf(c->ctx, "%s<%s%s%s>", body, index, *index && *aligned ? ", " : "", aligned), NULL);
    put(c, ";\n}\n");
}

static void name_parameters(Cuda *c, const ImpKernel *k)
{
    int n = 0;
    for (int i = 0; i < k->bufs.n; i++)
        n = k->bufs.at[i]->id >= n ? k->bufs.at[i]->id + 1 : n;
    c->buf_names = NEWN(c->ctx, const char *, n + 1);
    c->buf_scalars = NEWN(c->ctx, bool, n + 1);
    c->buf_shifts = NEWN(c->ctx, Nat, n + 1);
    for (int i = 0; i < k->bufs.n; i++) {
        c->buf_names[k->bufs.at[i]->id] = c_name_claim(c->names, k->bufs.at[i]->name);
        c->buf_scalars[k->bufs.at[i]->id] = k->bufs.at[i]->by_value;
    }
    for (int i = 0; i < k->n_sizes; i++)
        c_names_set(c->names, k->sizes[i], c_name_claim(c->names, k->sizes[i]->name));
    c->var_names = NEWN(c->ctx, const char *, k->vars.n + 1);
    cuda_find_known(c, k->vars.n + 1);
    cuda_find_bits(c, k, NULL);
    cuda_find_promises(c, n);
}

/* With #line directives each line stands for one of the program's: they are as long as they are. */
static size_t end_text(Cuda *c, size_t start)
{
    if (!c->line_directives)
        cuda_wrap(c->out, start);
    return c->out->len;
}

/* A kernel with its forms: one text with the widest indices, which may be a parameter, and functions that call it. A kernel of one form is that text itself.
 * `names`: in C, the kernel's own first. Gives the number of forms; ends: where the common text ends in the output, and the text of each form. */
static int print_kernel(Cuda *c, const ImpKernel *first, const char *const *names, const char *body, size_t ends[MOST_FORMS + 1])
{
    int n = 0;
    ends[0] = c->out->len;
    const TextParameters p = text_parameters(first);
    const ImpKernel *k = text_kernel(first);
    c->kernel = k;
    c->facts = k->known;
    c->index = cuda_text_index(first);
    c->may_be_unaligned = p.aligned;
    CudaScope scope = cuda_enter(c);
    if (p.index)
        c_name_take(c->names, "Index");
    if (p.aligned)
        c_name_take(c->names, "aligned");
    name_parameters(c, k);
    for (int i = 0; k->wide && i < k->n_sizes; i++)
        vec_push(c->ctx, &c->wide, k->sizes[i]);
    for (int a = 0; k->wide && a < 3; a++)
        if (k->block[a]->kind == NAT_VAR)
            vec_push(c->ctx, &c->wide, k->block[a]);
    put_kernel_comment(c, names[0]);
    if (!body) {
        put_launch_bounds(c);
        put_list(c, 0, names[0], cuda_index_type(c->index));
        put(c, "\n");
        print_body(c);
        ends[++n] = end_text(c, ends[0]);
    } else {
        sb_printf(c->out, "template <%s%s%s>\nstatic __device__ __forceinline__ void\n", p.index ? "typename Index" : "", p.index && p.aligned ? ", " : "", p.aligned ? "bool aligned" : "");
        put_list(c, 0, body, cuda_index_type(c->index));
        put(c, "\n");
        print_body(c);
        ends[0] = end_text(c, ends[0]);
        for (const ImpKernel *form = first; form; form = form->otherwise) {
            put_form(c, p, form, names[n], body);
            ends[n + 1] = end_text(c, ends[n]);
            n++;
        }
    }
    cuda_leave(c, scope);
    return n;
}

/* ---- files ------------------------------------------------------------------------------------------------------------- */

CNames *cuda_globals(Ctx *ctx)
{
    CNames *names = c_names_new(ctx, true);
    cuda_reserve_words(names);
    return names;
}

CudaNames cuda_names(Ctx *ctx, CNames *globals, const ImpProgram *program)
{
    CudaNames names = {0};
    names.n_kernels = imp_form_number(program, NULL);
    names.kernels = NEWN(ctx, const char *, names.n_kernels + 1);
    for (int j = 0; j < names.n_kernels; j++)
        names.kernels[j] = c_name_claim_global(globals, imp_form(program, j)->name);
    names.bodies = NEWN(ctx, const char *, program->kernels.n + 1);
    for (int i = 0; i < program->kernels.n; i++) {
        const ImpKernel *k = program->kernels.at[i];
        names.bodies[i] = k->otherwise ? c_name_claim_global(globals, ctx_printf(ctx, "%s_body", k->name)) : NULL;
    }
    const char *entry = program->entry ? program->entry->name : program->kernels.n ? program->kernels.at[0]->name : "entry";
    names.functions = NEWN(ctx, const char *, program->functions.n + 1);
    for (int i = program->functions.n - 1; i >= 0; i--) /* the larger ones first */
        names.functions[i] = c_name_claim_global(
            globals, ctx_printf(ctx, "%s_%s", entry, program->functions.at[i]->name));
    names.launch = c_name_claim_global(globals, ctx_printf(ctx, "%s_launch", entry));
    if (workspace_is_used(program)) {
        names.workspace = c_name_claim_global(globals, ctx_printf(ctx, "%s_workspace", entry));
        names.init = c_name_claim_global(globals, ctx_printf(ctx, "%s_workspace_init", entry));
    }
    return names;
}

const char *const *cuda_kernel_names(Ctx *ctx, const ImpProgram *program)
{
    return cuda_names(ctx, cuda_globals(ctx), program).kernels;
}

/* Names inside the entry's functions hide none of its own functions; what others are called makes no difference to its text. */
static CNames *names_inside(Ctx *ctx, const ImpProgram *program, const CudaNames *own)
{
    CNames *names = cuda_globals(ctx);
    for (int i = 0; i < program->kernels.n; i++)
        if (own->bodies[i])
            c_name_take(names, own->bodies[i]);
    for (int j = 0; j < own->n_kernels; j++)
        c_name_take(names, own->kernels[j]);
    for (int i = 0; i < program->functions.n; i++)
        c_name_take(names, own->functions[i]);
    c_name_take(names, own->launch);
    if (own->workspace) {
        c_name_take(names, own->workspace);
        c_name_take(names, own->init);
    }
    return names;
}

struct CudaFile {
    Ctx *ctx;
    bool line_directives;
    CNames *globals;
    int n;                        /* entries */
    const char *source;           /* "": none */
    StrBuf launches, kernels, host;
    uint32_t helpers[HELP_COUNT]; /* as in Cuda */
    CudaPieces *pieces;           /* of the kernels, as places in `kernels`; NULL: not asked for */
    CudaHostUse use;
    Header *header;               /* the functions of the host are in there; NULL: in `host` */
};

Header *cuda_file_header(CudaFile *file, const char *name)
{
    file->header = header_new(file->ctx, name);
    return file->header;
}

CudaFile *cuda_file_new(Ctx *ctx, bool line_directives)
{
    CudaFile *file = NEW(ctx, CudaFile);
    *file = (CudaFile){.ctx = ctx, .line_directives = line_directives, .globals = cuda_globals(ctx), .source = ""};
    sb_init(&file->launches, ctx);
    sb_init(&file->kernels, ctx);
    sb_init(&file->host, ctx);
    return file;
}

static void add_helpers(CudaFile *file, const Cuda *c)
{
    for (int h = 0; h < HELP_COUNT; h++)
        file->helpers[h] |= c->helpers[h];
}

static void add_host(CudaFile *file, Cuda *c, const ImpProgram *program, const CudaNames *names)
{
    const size_t host = file->host.len;
    c->out = &file->host;
    put(c, file->n ? "\n" : "");
    cuda_host(c, program, names, NULL);
    cuda_wrap(c->out, host);
    cuda_host_use(c->ctx, program, &file->use);
    add_helpers(file, c);
}

/* The functions that the kernel is the first to call. */
static void add_functions(CudaFile *file, Cuda *c, const ImpKernel *kernel)
{
    for (CudaFunction *f = c->functions; f->imp; f++) {
        if (f->to || !cuda_is_called(f, kernel))
            continue;
        f->from = c->out->len;
        memset(c->helpers, 0, sizeof c->helpers);
        cuda_put_function(c, f);
        f->to = end_text(c, f->from);
        memcpy(f->helpers, c->helpers, sizeof f->helpers);
        add_helpers(file, c);
        put(c, "\n");
    }
}

void cuda_file_add(Ctx *ctx, CudaFile *file, const ImpProgram *program)
{
    const CudaNames names = cuda_names(ctx, file->globals, program);
    Cuda c = {.ctx = ctx, .out = &file->kernels, .program = program, .names = names_inside(ctx, program, &names), .line_directives = file->line_directives};
    int line;
    if (!file->n && program->entry)
        file->source = ctx_printf(file->ctx, "%s", cuda_place(ctx, program->entry->span, &line));
    sb_printf(&file->launches, "%s%s", file->n ? ", " : "// To launch: ", names.launch);
    c.functions = cuda_functions(ctx, program, &names);
    if (file->pieces)
        cuda_pieces_init(ctx, file->pieces, names.n_kernels);
    for (int i = 0, at = 0; i < program->kernels.n; i++) {
        add_functions(file, &c, program->kernels.at[i]);
        size_t ends[MOST_FORMS + 1], start = file->kernels.len;
        memset(c.helpers, 0, sizeof c.helpers);
        int n = print_kernel(&c, program->kernels.at[i], names.kernels + at, names.bodies[i], ends);
        add_helpers(file, &c);
        for (int f = 0; f < n && file->pieces; f++) {
            CudaPiece piece = {.body = start, .end_body = ends[0], .from = ends[f], .to = ends[f + 1]};
            cuda_pieces_add(ctx, file->pieces, at + f, piece, &c, program->kernels.at[i]);
        }
        at += n;
        put(&c, "\n");
    }
    c.line_directives = false;
    if (file->header)
        header_add(file->header, &c, program, &names);
    else
        add_host(file, &c, program, &names);
    file->n++;
    if (c.lost)
        diag_error(ctx, E0504, program->entry->name_span, "a number that `%s` or its launch computes from the sizes is more than 64 bits can hold", program->entry->name);
}

void cuda_put_origin(StrBuf *out, const char *source)
{
    sb_puts(out, "// Generated by risec " RISEC_VERSION);
    if (*source) {
        sb_puts(out, " from ");
        cuda_comment_text(out, source);
    }
    sb_puts(out, ". It belongs to whoever generated it.\n");
}

void cuda_file_print(const CudaFile *file, StrBuf *out)
{
    const size_t start = out->len;
    cuda_put_origin(out, file->source);
    sb_puts(out, "// Includes nothing; compiles with nvcc and NVRTC for sm_75 and later.\n");
    if (file->n)
        sb_printf(out, "%s below, on a stream.\n", file->launches.text);
    sb_putc(out, '\n');
    cuda_wrap(out, start);
    cuda_put_helpers(file->helpers, out);
    for (int k = 0; file->pieces && k < file->pieces->n; k++) {
        CudaPiece *piece = &file->pieces->at[k];
        piece->body += out->len;
        piece->end_body += out->len;
        piece->from += out->len;
        piece->to += out->len;
    }
    for (int i = 0; file->pieces && i < file->pieces->n_functions; i++) {
        file->pieces->functions[i].from += out->len;
        file->pieces->functions[i].to += out->len;
    }
    sb_putn(out, file->kernels.text, file->kernels.len);
    if (file->header)
        return;
    sb_puts(out, "#ifndef __CUDACC_RTC__\n");
    cuda_host_helpers(out, &file->use);
    sb_putn(out, file->host.text, file->host.len);
    sb_puts(out, "#endif\n");
}

void cuda_print_pieces(Ctx *ctx, StrBuf *out, const ImpProgram *program, CudaPieces *pieces)
{
    CudaFile *file = cuda_file_new(ctx, false);
    file->pieces = pieces;
    cuda_file_add(ctx, file, program);
    cuda_file_print(file, out);
}

void cuda_print(Ctx *ctx, StrBuf *out, int n, ImpProgram *const *programs, bool line_directives)
{
    CudaFile *file = cuda_file_new(ctx, line_directives);
    for (int i = 0; i < n; i++)
        cuda_file_add(ctx, file, programs[i]);
    cuda_file_print(file, out);
}
