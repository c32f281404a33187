/* Kernels that several classes have in common: the finish of both branches of a size test, say. They are lowered once for each class, with what it knows of sizes,
 * and stand once in the program where all of this has made no difference: same launch, same parameters, same guards, same body.
 *
 * Such a kernel knows no more than the entry does. Its guards are the same with that, so that no class loses sizes. */
#include "codegen/index_guards.h"
#include "codegen/lowering.h"
#include "codegen/walk.h"

static ImpKernel *with_known(Ctx *ctx, const ImpKernel *from, const NatFacts *known)
{
    ImpKernel *copy = NEW(ctx, ImpKernel);
    *copy = *from;
    copy->known = known;
    copy->guards = NULL;
    return copy;
}

static bool same_nats(const Nat *a, int n, const Nat *b, int m)
{
    bool same = n == m;
    for (int i = 0; same && i < n; i++)
        same = a[i] == b[i];
    return same;
}

static bool same_guards(Ctx *ctx, const ImpKernel *a, const ImpKernel *b)
{
    const IndexGuards *of_a = index_guards(ctx, a), *of_b = index_guards(ctx, b);
    return same_nats(of_a->at_least_one.at, of_a->at_least_one.n, of_b->at_least_one.at, of_b->at_least_one.n) &&
           same_nats(of_a->at_most_max.at, of_a->at_most_max.n, of_b->at_most_max.at, of_b->at_most_max.n) &&
           index_guards_hold(ctx, a) == index_guards_hold(ctx, b);
}

static bool same_launch(const ImpKernel *a, const ImpKernel *b)
{
    bool same = a->group == b->group && a->lanes == b->lanes && a->cooperative == b->cooperative && a->least_blocks == b->least_blocks && a->min_blocks == b->min_blocks && a->wide == b->wide && a->unaligned == b->unaligned && a->totals == b->totals &&
                a->shared_bytes == b->shared_bytes && !a->init == !b->init && same_nats(a->sizes, a->n_sizes, b->sizes, b->n_sizes);
    for (int axis = 0; axis < 3 && same; axis++)
        same = a->threads[axis] == b->threads[axis] && a->blocks[axis] == b->blocks[axis] && a->once[axis] == b->once[axis] && a->from_last[axis] == b->from_last[axis];
    return same;
}

static bool same_parameters(const ImpKernel *a, const ImpKernel *b)
{
    bool same = a->bufs.n == b->bufs.n;
    for (int i = 0; i < a->bufs.n && same; i++) {
        const ImpBuf *x = a->bufs.at[i], *y = b->bufs.at[i];
        same = x->space == y->space && x->component == y->component && x->zero == y->zero && x->rounds == y->rounds && x->hint == y->hint && x->rewritten == y->rewritten &&
               x->swap == y->swap && x->turns == y->turns;
    }
    return same;
}

static const char *text_of(Ctx *ctx, const ImpKernel *kernel)
{
    StrBuf text;
    sb_init(&text, ctx);
    imp_print_kernel(&text, kernel);
    return text.text;
}

typedef struct Bounds {
    Ctx *ctx;
    VEC(Nat) list; /* NULL: there is none */
} Bounds;

static void take_bounds(void *user, ImpStmt *s)
{
    Bounds *b = user;
    const ImpVar *declared = imp_declares(s) ? imp_sets(s) : NULL;
    Nat index = declared ? declared->nat : NULL;
    if (index) {
        vec_push(b->ctx, &b->list, index->lo);
        vec_push(b->ctx, &b->list, index->hi);
    }
}

/* Do the indices have the same bounds? A class that knows more of a size has narrower ones, and what is done with them is wrong in the other. */
static bool same_bounds(Ctx *ctx, const ImpKernel *a, const ImpKernel *b)
{
    Bounds of_a = {.ctx = ctx}, of_b = {.ctx = ctx};
    ImpBlock body_a = a->body, body_b = b->body;
    walk_stmts(&body_a, take_bounds, &of_a);
    walk_stmts(&body_b, take_bounds, &of_b);
    return same_nats(of_a.list.at, of_a.list.n, of_b.list.at, of_b.list.n);
}

/* In all forms. */
static bool same_kernel(Ctx *ctx, const ImpKernel *a, const ImpKernel *b)
{
    for (; a && b; a = a->otherwise, b = b->otherwise) {
        if (!same_launch(a, b) || !same_parameters(a, b) || !a->entry)
            return false;
        const ImpKernel *known_a = with_known(ctx, a, a->entry->known), *known_b = with_known(ctx, b, a->entry->known);
        if (strcmp(text_of(ctx, known_a), text_of(ctx, known_b)) != 0 || !same_bounds(ctx, a, b))
            return false;
        if (!same_guards(ctx, a, known_a) || !same_guards(ctx, b, known_b) || !same_guards(ctx, known_a, known_b))
            return false;
    }
    return !a && !b;
}

/* f_small_finish and f_large_finish are f_finish together. */
static void name_for_both(Ctx *ctx, ImpKernel *a, const ImpKernel *b)
{
    const char *entry = a->entry->name, *name = a->name;
    size_t n = strlen(name), m = strlen(b->name), end = 0, base = strlen(entry);
    for (size_t k = 1; k <= n - base && k <= m - base && name[n - k] == b->name[m - k]; k++)
        if (name[n - k] == '_')
            end = k;
    const char *both = ctx_printf(ctx, "%s%s", entry, name + n - end);
    for (ImpKernel *form = a; form; form = form->otherwise)
        form->name = ctx_printf(ctx, "%s%s", both, form->name + n);
}

static void exchange(ImpProgram *program, const ImpKernel *from, ImpKernel *to)
{
    for (int i = 0; i < program->launches.n; i++)
        for (int v = 0; v < program->launches.at[i].variants.n; v++)
            if (program->launches.at[i].variants.at[v].kernel == from)
                program->launches.at[i].variants.at[v].kernel = to;
}

/* The one kernel's buffers are the other's, too: what it knows them by. */
static void merge_buffers(const ImpKernel *from, ImpKernel *to)
{
    for (int i = 0; i < to->bufs.n; i++) {
        from->bufs.at[i]->merged = to->bufs.at[i]->merged;
        to->bufs.at[i]->merged = from->bufs.at[i];
    }
}

/* The same conditions, but for the last one, which holds for the one and does not for the other. */
static bool both_sides(const ImpWhens *a, const ImpWhens *b)
{
    if (a->n != b->n || a->n == 0 || a->at[a->n - 1].test != b->at[b->n - 1].test || a->at[a->n - 1].holds == b->at[b->n - 1].holds)
        return false;
    const ImpWhens before_a = {a->at, a->n - 1, 0}, before_b = {b->at, b->n - 1, 0};
    return imp_same_when(&before_a, &before_b);
}

/* What is launched on both sides of a test is launched, whatever it says. False: there is no such. */
static bool join_sides(ImpLaunch *place)
{
    for (int i = 0; i < place->variants.n; i++)
        for (int k = i + 1; k < place->variants.n; k++) {
            ImpVariant *a = &place->variants.at[i], *b = &place->variants.at[k];
            if (a->kernel != b->kernel || !both_sides(&a->when, &b->when))
                continue;
            a->when.n--;
            for (; k + 1 < place->variants.n; k++)
                place->variants.at[k] = place->variants.at[k + 1];
            place->variants.n--;
            return true;
        }
    return false;
}

void share_kernels(Ctx *ctx, ImpProgram *program)
{
    int n = 0;
    for (int i = 0; i < program->kernels.n; i++) {
        ImpKernel *kernel = program->kernels.at[i], *other = NULL;
        for (int k = 0; k < n && !other; k++)
            other = same_kernel(ctx, program->kernels.at[k], kernel) ? program->kernels.at[k] : NULL;
        if (!other) {
            program->kernels.at[n++] = kernel;
            continue;
        }
        exchange(program, kernel, other);
        merge_buffers(kernel, other);
        name_for_both(ctx, other, kernel);
        for (ImpKernel *form = other; form; form = form->otherwise)
            form->known = form->entry->known;
    }
    program->kernels.n = n;
    for (int i = 0; i < program->launches.n; i++)
        while (join_sides(&program->launches.at[i]))
            continue;
}
