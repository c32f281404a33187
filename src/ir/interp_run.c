/* A run of the reference interpreter: its inputs, its results. */
#include "ir/interp_internal.h"

/* Between the i64 of an idx in here and its type outside. */
static void convert(Interp *in, Scalar to, unsigned char *at, Scalar from, const unsigned char *source, int64_t n)
{
    for (int64_t i = 0; i < n; i++, interp_tick(in))
        scalar_store(scalar_cast(to, scalar_load(from, source + i * scalar_bytes(from))), at + i * scalar_bytes(to));
}

/* A component of an input as shadows. */
static unsigned char *shadow_input(Interp *in, Span span, const HostBuf *buf, Scalar scalar)
{
    int64_t bytes;
    if (!mul_fits(buf->count, (int64_t)sizeof(ShadowValue), &bytes))
        interp_too_large(in, span);
    ShadowValue *to = (ShadowValue *)(void *)interp_alloc(in, span, bytes);
    for (int64_t i = 0; i < buf->count; i++, interp_tick(in))
        to[i] = shadow_of(scalar_cast(scalar, scalar_load(buf->elem, buf->bytes + i * scalar_bytes(buf->elem))));
    return (unsigned char *)to;
}

static void take_component(Interp *in, Span span, Type comp, const HostBuf *buf, Cell *cell)
{
    Type elem = comp;
    while (elem->kind == TY_ARRAY)
        elem = elem->elem;
    if (in->shadow) {
        cell->at = shadow_input(in, span, buf, elem->kind == TY_IDX ? SC_I64 : buf->elem);
    } else if (comp->kind != TY_ARRAY && comp->kind != TY_VEC) {
        cell->i = scalar_load(buf->elem, buf->bytes).i;
    } else if (elem->kind == TY_IDX && buf->elem != SC_I64) {
        cell->at = interp_alloc(in, span, buf->count > INT64_MAX / 8 ? -1 : buf->count * 8);
        convert(in, SC_I64, cell->at, buf->elem, buf->bytes, buf->count);
    } else { /* an empty buffer may have no address */
        cell->at = buf->bytes ? buf->bytes : interp_alloc(in, span, 0);
    }
}

static void take_inputs(Interp *in, const int *cells)
{
    const HostBuf *buf = in->launch->buffers;
    for (int i = 0; i < in->entry->n_inputs; i++) {
        Type type = in->entry->inputs[i]->type;
        int n = type_component_count(type);
        for (int k = 0; k < n; k++, buf++)
            take_component(in, in->entry->inputs[i]->span, type_component(in->ctx, type, k), buf, &in->cells[cells[i] + k]);
    }
}

static void give_shadows(Interp *in, const Code *body, int k, int64_t count)
{
    ShadowBuf *to = &in->shadows[k];
    to->count = count;
    to->cells = NEWN(in->ctx, ShadowValue, count + 1);
    ctx_copy(in->ctx, to->cells, in->cells[body->at + k].at, sizeof(ShadowValue) * (size_t)count);
}

static void give_results(Interp *in, const Code *body)
{
    Launch *launch = in->launch;
    int n = type_component_count(in->entry->result);
    HostBuf *results = NEWN(in->ctx, HostBuf, n);
    for (int k = 0; k < n; k++) {
        HostBuf *buf = &results[k];
        if (!launch_buffer(in->ctx, in->entry, launch, type_component(in->ctx, in->entry->result, k), buf, !in->shadow))
            interp_stop(in);
        const Comp *comp = &body->shape->comps[k];
        const Cell *cell = &in->cells[body->at + k];
        if (in->shadow)
            give_shadows(in, body, k, buf->count);
        else if (!comp->by_address)
            scalar_store(scalar_cast(buf->elem, (ScalarValue){.type = comp->scalar, .i = cell->i}), buf->bytes);
        else if (comp->scalar == buf->elem)
            ctx_copy(in->ctx, buf->bytes, cell->at, (size_t)(buf->count * scalar_bytes(buf->elem)));
        else
            convert(in, buf->elem, buf->bytes, comp->scalar, cell->at, buf->count);
    }
    if (in->shadow)
        return;
    launch->results = results;
    launch->n_results = n;
}

static void run(Ctx *ctx, void *user)
{
    (void)ctx;
    Interp *in = user;
    int *inputs = ARENA_NEWN(&in->arena, int, in->entry->n_inputs + 1);
    Code *body = interp_compile(in, inputs);
    take_inputs(in, inputs);
    interp_eval(in, body);
    give_results(in, body);
}

static bool run_as(Interp *in, Ctx *ctx, const CoreEntry *entry, Launch *launch)
{
    if (!launch_check(ctx, entry, launch))
        return false;
    in->ctx = ctx;
    in->entry = entry;
    in->launch = launch;
    in->steps_left = launch->max_steps > 0 ? launch->max_steps : INT64_MAX;
    launch->work = (EntryWork){0};
    launch->gave_up = launch->order_open = launch->place_repeats = false;
    in->scratch.top = -1;
    arena_init(&in->arena, ctx);
    bool good = ctx_try(ctx, run, in);
    interp_free_scratch(in);
    arena_free(&in->arena);
    if (!good && !in->reported)
        ctx_out_of_memory(ctx);
    return good;
}

bool interp_run(Ctx *ctx, const CoreEntry *entry, Launch *launch) { return run_as(NEW(ctx, Interp), ctx, entry, launch); }

bool interp_shadow(Ctx *ctx, const CoreEntry *entry, Launch *launch, double longest, ShadowBuf **results)
{
    Interp *in = NEW(ctx, Interp);
    in->shadow = true;
    in->longest = longest;
    *results = in->shadows = NEWN(ctx, ShadowBuf, type_component_count(entry->result) + 1);
    return run_as(in, ctx, entry, launch);
}
