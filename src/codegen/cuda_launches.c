/* What a host function launches: device sizes, variants of a kernel, and the size tests around them. */
#include "codegen/cuda_host.h"

static void put(Cuda *c, const char *text) { sb_puts(c->out, text); }

static void note_device(void *user, Nat var)
{
    CudaHostUse *use = user;
    if (imp_is_device_size(var) && var->device != NAT_TURN)
        *(var->device == NAT_NUM_SM ? &use->sms : &use->resident) = true;
}

static void each_device_size(Ctx *ctx, const ImpKernel *k, void (*fn)(void *user, Nat var), void *user)
{
    for (int a = 0; a < 3; a++)
        nat_each_var(ctx, k->blocks[a], fn, user);
    for (int i = 0; i < k->n_sizes; i++)
        fn(user, k->sizes[i]);
}

CudaHostUse host_device_use(Ctx *ctx, const ImpKernel *k)
{
    CudaHostUse use = {0};
    each_device_size(ctx, k, note_device, &use);
    use.resident |= k->cooperative;
    return use;
}

static void set_device_names(void *user, Nat var)
{
    Cuda *c = user;
    if (imp_is_device_size(var) && var->device != NAT_TURN)
        c_names_set(c->names, var, var->name);
}

void host_put_multiprocessors(Host *h, const char *margin)
{
    if (h->has_sms)
        return;
    sb_printf(h->c->out, "%slong long numSM;\n", margin);
    host_return_error(h, margin, host_call_multiprocessors(h, "numSM"));
    h->has_sms = true;
}

void host_put_resident(const Host *h, const char *margin, const ImpKernel *k, const char *name, const char *shared, const char *var)
{
    int threads = k->threads[0] * k->threads[1] * k->threads[2];
    sb_printf(h->c->out, "%slong long %s;\n", margin, var);
    host_return_error(h, margin, host_call_resident(h, name, threads, shared, var));
}

/* The sizes of the device that the grid mentions. */
static void put_device_sizes(Host *h, const ImpKernel *k, const char *margin, const char *name, const char *shared)
{
    Cuda *c = h->c;
    CudaHostUse use = host_device_use(c->ctx, k);
    c_name_claim(c->names, "numSM");
    c_name_claim(c->names, "maxResident");
    each_device_size(c->ctx, k, set_device_names, c);
    if (use.sms)
        host_put_multiprocessors(h, margin);
    if (use.resident)
        host_put_resident(h, margin, k, name, shared, "maxResident");
}

/* 31 bits hold the sizes and whatever the kernel computes for an index. */
static void put_narrow_guard(Host *h, const ImpKernel *k)
{
    Cuda *c = h->c;
    const IndexGuards *guards = index_guards(c->ctx, k);
    int n = 0;
    for (int i = 0; i < k->n_sizes; i++) {
        Nat size = k->sizes[i]->device == NAT_TURN ? k->group->count : k->sizes[i];
        bool said = imp_is_device_size(size); /* an int of CUDA's, or a product that a grid holds */
        for (int g = 0; g < guards->at_most_max.n; g++)
            said |= nat_le(c->ctx, k->known, size, guards->at_most_max.at[g]);
        if (said)
            continue;
        put(c, n++ ? " && " : "");
        cuda_nat(c, size, C_SUM);
        sb_printf(c->out, " <= %lld", (long long)INDEX_MAX);
    }
    for (int g = 0; g < guards->at_most_max.n; g++) {
        put(c, n++ ? " && " : "");
        cuda_nat(c, guards->at_most_max.at[g], C_SUM);
        sb_printf(c->out, " <= %lld", (long long)INDEX_MAX);
    }
    put(c, n ? "" : "true");
}

/* The kernel, or its twin where the indices are too large for it. */
static void put_calls(Host *h, const ImpKernel *k, const char *const *names, const char *margin, int n, const char *const blocks[3], const char *shared)
{
    Cuda *c = h->c;
    const bool braces = host_call_is_block(h, k);
    const ImpKernel *twin = imp_wide_twin(k);
    const char *inner = twin ? ctx_printf(c->ctx, "    %s", margin) : margin;
    if (twin) {
        sb_printf(c->out, "%sif (", margin);
        put_narrow_guard(h, k);
        put(c, braces ? ") {\n" : ")\n");
    }
    host_put_call(h, k, names[0], inner, n, blocks, shared);
    if (twin) {
        sb_printf(c->out, braces ? "%s} else {\n" : "%selse\n", margin);
        host_put_call(h, twin, names[1], inner, n, blocks, shared);
        if (braces)
            sb_printf(c->out, "%s}\n", margin);
    }
}

/* The condition under which a kernel that has another may be launched (imp.h, Note [Forms]); false when it has no guard. */
static bool host_guard(Host *h, const ImpKernel *k, StrBuf *out)
{
    int n = 0;
    for (int i = 0; i < k->bufs.n; i++) {
        const ImpBuf *buf = k->bufs.at[i];
        if (imp_align(k, buf))
            sb_printf(out, "%s(size_t)%s %% %d == 0", n++ ? " && " : "", host_param(h, buf), imp_align(k, buf));
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
    CudaHostUse device = host_device_use(ctx, k);
    block |= device.sms || device.resident || host_call_is_block(h, k);
    block &= !braces;
    if (block) {
        host_indent(h);
        put(c, "{\n");
        h->depth++;
    }
    const char *margin = host_margin(h);
    const bool had_sms = h->has_sms;
    if (dynamic) {
        shared = c_name_claim(c->names, "shared");
        sb_printf(c->out, "%sconst long long %s = ", margin, shared);
        cuda_nat(c, k->shared_bytes, C_ANY);
        put(c, ";\n");
        const bool small = nat_le(ctx, k->known, k->shared_bytes, nat_const(ctx, LAUNCH_MAX_STATIC_SHARED)); /* any kernel may have so much */
        for (int i = 0; i < 1 + (imp_wide_twin(k) != NULL) && !small; i++)
            host_put_dynamic_shared(h, margin, names[i], shared);
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
        const char *var = c_name_claim(c->names, axis_names[a]), *value = host_nat(h, host_name_counts(h, k->blocks[a]), C_ANY);
        sb_printf(c->out, "%slong long %s = %s;\n", margin, var, value);
        int most = kernel_max_grid(k, a);
        if (!nat_le(ctx, c->facts, k->blocks[a], nat_const(ctx, most))) {
            const char *then = k->once[a] ? ctx_printf(ctx, "return %s", host_refusal(h, REFUSE_OVERFLOW)) : ctx_printf(ctx, "%s = %d", var, most);
            sb_printf(c->out, "%sif (%s > %d)\n%s    %s;\n", margin, var, most, margin, then);
        }
        blocks[a] = ctx_printf(ctx, "(unsigned)%s", var);
        if (!nat_le(ctx, c->facts, nat_const(ctx, 1), grid))
            sb_printf(&some, "%s%s > 0", some.len ? " && " : "", var);
    }
    bool opens = some.len && (host_call_is_block(h, k) || imp_wide_twin(k));
    const char *inner = some.len ? ctx_printf(ctx, "    %s", margin) : margin;
    if (some.len)
        sb_printf(c->out, "%sif (%s)%s\n", margin, some.text, opens ? " {" : "");
    if (k->cooperative)
        limit_to_resident(h, k, inner, last, blocks);
    put_calls(h, k, names, inner, last + 1, blocks, shared);
    if (opens)
        sb_printf(c->out, "%s}\n", margin);
    if (block) {
        h->depth--;
        host_indent(h);
        put(c, "}\n");
    }
    h->has_sms = had_sms;
    c_names_release(c->names, mark);
}

/* if (guard) { the kernel } else if ... { the last one }; */
static void put_forms(Host *h, const ImpKernel *k, const char *const *names, bool braces)
{
    StrBuf guard;
    sb_init(&guard, h->c->ctx);
    const ImpKernel *twin = imp_wide_twin(k), *other = twin ? twin->otherwise : k->otherwise;
    if (!other || !host_guard(h, k, &guard)) {
        put_launch(h, k, names, braces);
        return;
    }
    host_indent(h);
    sb_printf(h->c->out, "if (%s) {\n", guard.text);
    h->depth++;
    put_launch(h, k, names, true);
    h->depth--;
    host_indent(h);
    put(h->c, "} else {\n");
    h->depth++;
    put_forms(h, other, names + (twin ? 2 : 1), true);
    h->depth--;
    host_indent(h);
    put(h->c, "}\n");
}

const char *host_kernel_name(const Host *h, const ImpKernel *kernel)
{
    return h->kernels[imp_form_number(h->program, kernel)];
}

/* After a launch that failed nothing else is launched: it would read cells that nobody has written,
 * and some of them may say where to write. */
static void put_stop(Host *h)
{
    if (h->c->header) /* where each call is looked at */
        return;
    host_indent(h);
    put(h->c, "if (cudaPeekAtLastError() != cudaSuccess)\n");
    host_indent(h);
    put(h->c, "    return (int)cudaGetLastError();\n");
}

static void put_variant(Host *h, const ImpVariant *variant, bool alone)
{
    const ImpKernel *k = variant->kernel;
    int number = imp_form_number(h->program, k), mark = c_names_mark(h->c->names);
    const bool block = host_has_places(k) && !alone, had_sms = h->has_sms;
    h->c->facts = k->known;
    if (h->launched || h->group)
        put_stop(h);
    if (block) {
        host_indent(h);
        put(h->c, "{\n");
        h->depth++;
    }
    host_put_places(h, k);
    put_forms(h, k, h->kernels + number, alone || block);
    if (block) {
        h->depth--;
        host_indent(h);
        put(h->c, "}\n");
    }
    h->has_sms = had_sms;
    h->launched = true;
    c_names_release(h->c->names, mark);
}

/* ---- size tests ------------------------------------------------------------------------------------------------------- */

HostRun host_all(Ctx *ctx, const ImpProgram *program)
{
    HostRun run = {0};
    for (int i = 0; i < program->launches.n; i++)
        for (int v = 0; v < program->launches.at[i].variants.n; v++)
            vec_push(ctx, &run, &program->launches.at[i].variants.at[v]);
    return run;
}

/* How many from number i on have the same test at this depth; 0: number i has none. */
static int same_test(const HostRun *run, int i, int depth)
{
    int n = 0;
    while (i + n < run->n && run->at[i + n]->when.n > depth && run->at[i + n]->when.at[depth].test == run->at[i]->when.at[depth].test)
        n++;
    return n;
}

/* The two sides of the test that all of the run have; the first one is not empty. `swapped`: it is where the test does not hold. */
static bool split(Ctx *ctx, const HostRun *run, int depth, HostRun sides[2])
{
    sides[0] = sides[1] = (HostRun){0};
    for (int i = 0; i < run->n; i++)
        vec_push(ctx, &sides[run->at[i]->when.at[depth].holds ? 0 : 1], run->at[i]);
    const bool swapped = !sides[0].n;
    if (swapped) {
        sides[0] = sides[1];
        sides[1] = (HostRun){0};
    }
    return swapped;
}

/* All of the run have a test at this depth, the same one with the same outcome. */
static bool is_one_sided(Ctx *ctx, const HostRun *run, int depth)
{
    HostRun sides[2];
    if (same_test(run, 0, depth) < run->n)
        return false;
    split(ctx, run, depth, sides);
    return !sides[1].n;
}

/* Both sides of the test that all of the run have. Tests of which only one side is there are one condition. */
static void put_sides(Host *h, const HostRun *run, int depth, HostPut put_each)
{
    Cuda *c = h->c;
    HostRun sides[2], part = *run;
    const char *before = "if (";
    for (bool more = true; more; depth++) {
        const bool swapped = split(c->ctx, &part, depth, sides), first = *before == 'i';
        more = !sides[1].n && is_one_sided(c->ctx, &sides[0], depth + 1);
        put(c, before);
        cuda_fact(c, c->out, part.at[0]->when.at[depth].test, !swapped, first && !more ? C_ANY : C_EQUAL);
        before = " && ";
        part = sides[0];
    }
    const HostRun *other = &sides[1];
    put(c, ") {\n");
    const bool launched = h->launched;
    h->depth++;
    host_put_run(h, &sides[0], depth, put_each);
    h->depth--;
    h->launched = launched;
    host_indent(h);
    if (other->n && same_test(other, 0, depth) == other->n) {
        put(c, "} else ");
        put_sides(h, other, depth, put_each);
        h->launched = true;
        return;
    }
    if (other->n) {
        put(c, "} else {\n");
        h->depth++;
        host_put_run(h, other, depth, put_each);
        h->depth--;
        host_indent(h);
    }
    put(c, "}\n");
    h->launched = true;
}

/* How many from number i on repeat together; 0: it does not, or a loop around it does that. */
static int same_group(const Host *h, const HostRun *run, int i)
{
    const ImpGroup *group = run->at[i]->kernel->group;
    int n = 0;
    while (group && group != h->group && i + n < run->n && run->at[i + n]->kernel->group == group)
        n++;
    return n;
}

/* A loop around launches that repeat. */
static void put_group(Host *h, const HostRun *run, int depth, HostPut put_each)
{
    Cuda *c = h->c;
    const ImpGroup *group = h->group = run->at[0]->kernel->group;
    int mark = c_names_mark(c->names);
    const char *turn = host_claim(h, group->turn->name);
    host_indent(h);
    sb_printf(c->out, "for (long long %s = 0; %s < ", turn, turn);
    c_names_set(c->names, group->turn, turn);
    cuda_nat(c, group->count, C_SUM);
    sb_printf(c->out, "; %s++) {\n", turn);
    h->depth++;
    host_put_run(h, run, depth, put_each);
    h->depth--;
    host_indent(h);
    put(c, "}\n");
    c_names_release(c->names, mark);
    h->group = NULL;
}

/* Launches that begin with the same test stand within it: of two sides only one is launched. What repeats
 * under one test as a whole is a loop on each side. */
void host_put_run(Host *h, const HostRun *run, int depth, HostPut put_each)
{
    int mark = h->refused.n;
    for (int i = 0; i < run->n;) {
        int n = same_test(run, i, depth), repeat = h->loops ? same_group(h, run, i) : 0;
        if (n < repeat) {
            HostRun part = {run->at + i, repeat, repeat};
            put_group(h, &part, depth, put_each);
            i += repeat;
            continue;
        }
        if (!n) {
            put_each(h, run->at[i++], (depth || h->group) && run->n == 1);
            continue;
        }
        HostRun part = {run->at + i, n, n};
        host_indent(h);
        put_sides(h, &part, depth, put_each);
        i += n;
    }
    if (depth)
        h->refused.n = mark;
}

static void each_test_size(Ctx *ctx, const Core *test, void (*fn)(void *user, Nat var), void *user)
{
    if (test->kind == CORE_SIZE)
        nat_each_var(ctx, test->size, fn, user);
    for (int i = 0; test->kind == CORE_PRIM && i < test->prim.n_args; i++)
        each_test_size(ctx, test->prim.args[i], fn, user);
}

static void each_tests_size(Ctx *ctx, const ImpProgram *program, void (*fn)(void *user, Nat var), void *user)
{
    const HostRun all = host_all(ctx, program);
    for (int i = 0; i < all.n; i++)
        for (int w = 0; w < all.at[i]->when.n; w++)
            each_test_size(ctx, all.at[i]->when.at[w].test, fn, user);
}

CudaHostUse host_test_use(Ctx *ctx, const ImpProgram *program)
{
    CudaHostUse use = {0};
    each_tests_size(ctx, program, note_device, &use);
    return use;
}

void host_put_test_sizes(Host *h)
{
    Cuda *c = h->c;
    h->has_sms = false;
    if (!host_test_use(c->ctx, h->program).sms)
        return;
    c_name_claim(c->names, "numSM");
    each_tests_size(c->ctx, h->program, set_device_names, c);
    host_put_multiprocessors(h, "    ");
}

void host_put_launches(Host *h)
{
    const HostRun all = host_all(h->c->ctx, h->program);
    h->loops = true;
    h->launched = false;
    host_put_run(h, &all, 0, put_variant);
    h->loops = false;
}
