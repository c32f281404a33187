/* The memory of a run, and the sizes that change while it goes on. */
#include "ir/interp_internal.h"

/* ---- ending early ----------------------------------------------------------------------------------------------- */

void interp_stop(Interp *in)
{
    in->reported = true;
    ctx_out_of_memory(in->ctx); /* to the guard in interp_run, which looks at `reported` */
}

/* ---- scratch memory --------------------------------------------------------------------------------------------- */

static const int64_t largest_total = INT64_C(1) << 34, chunk_smallest = 1 << 20, chunk_usual = 64 << 20;
enum { STEP_BYTES = 1024 };

static void scratch_trim(Interp *in, int count)
{
    Scratch *s = &in->scratch;
    while (s->count > count) {
        s->count--;
        s->total -= s->chunks[s->count].size;
        in->ctx->alloc.free(in->ctx->alloc.user, s->chunks[s->count].bytes);
    }
}

void interp_free_scratch(Interp *in) { scratch_trim(in, 0); }

Mark interp_mark(const Interp *in)
{
    int top = in->scratch.top;
    return (Mark){top, top < 0 ? 0 : in->scratch.chunks[top].used};
}

void interp_release(Interp *in, Mark mark)
{
    Scratch *s = &in->scratch;
    interp_tick(in);
    for (int i = mark.top + 1; i <= s->top; i++)
        s->chunks[i].used = 0;
    s->top = mark.top;
    if (mark.top >= 0)
        s->chunks[mark.top].used = mark.used;
    scratch_trim(in, mark.top + 3); /* the next round will want some again */
}

void interp_too_large(Interp *in, Span span)
{
    diag_error(in->ctx, E0605, span, "%s: an intermediate array needs more than the %lld GiB that the interpreter takes", in->entry->name,
               (long long)(largest_total >> 30));
    interp_stop(in);
}

unsigned char *interp_alloc(Interp *in, Span span, int64_t size)
{
    Scratch *s = &in->scratch;
    if (size < 0 || size > largest_total)
        interp_too_large(in, span);
    size = (size + 16) / 16 * 16; /* at least one byte, so that an empty array has an address */
    interp_steps(in, size / STEP_BYTES);
    if (s->top < 0 || s->chunks[s->top].size - s->chunks[s->top].used < size) {
        if (s->top + 1 < s->count && s->chunks[s->top + 1].size < size)
            scratch_trim(in, s->top + 1);
        if (s->top + 1 == s->count) {
            /* Chunks are of the usual size or larger, but for the first few: largest_total bounds their number. */
            int64_t own = s->count == 0 ? chunk_smallest : s->chunks[s->count - 1].size * 4;
            own = own > chunk_usual ? chunk_usual : own;
            own = own > size ? own : size;
            if (s->total + own > largest_total || s->count == SCRATCH_CHUNKS)
                interp_too_large(in, span);
            unsigned char *bytes = in->ctx->alloc.alloc(in->ctx->alloc.user, (size_t)own);
            if (!bytes)
                ctx_out_of_memory(in->ctx);
            s->chunks[s->count].bytes = bytes;
            s->chunks[s->count].size = own;
            s->chunks[s->count].used = 0;
            s->count++;
            s->total += own;
        }
        s->top++;
    }
    unsigned char *at = s->chunks[s->top].bytes + s->chunks[s->top].used;
    s->chunks[s->top].used += size;
    return at;
}

/* ---- sizes ------------------------------------------------------------------------------------------------------ */

typedef struct Lookup {
    const Interp *in;
    const Size *size;
} Lookup;

static int64_t interp_index(const Interp *in, int cell)
{
    return cell >= 0 ? in->cells[cell].i : ((const ShadowValue *)(const void *)in->cells[~cell].at)->integer;
}

static bool size_var(void *user, Nat var, int64_t *value)
{
    const Lookup *l = user;
    for (int i = 0; i < l->size->n_vars; i++)
        if (l->size->vars[i] == var) {
            *value = interp_index(l->in, l->size->cells[i]);
            return true;
        }
    return launch_device_value(l->in->launch, var, value);
}

int64_t interp_size(Interp *in, const Size *size)
{
    if (!size->nat)
        return size->value;
    if (size->nat->kind == NAT_VAR && size->n_vars == 1)
        return interp_index(in, size->cells[0]);
    int64_t value;
    Lookup lookup = {in, size};
    if (nat_eval(size->nat, size_var, &lookup, &value) == NAT_EVAL_OK)
        return value;
    diag_error(in->ctx, E0602, in->entry->name_span, "%s: the size %s has no value here", in->entry->name, nat_text(in->ctx, size->nat));
    interp_stop(in);
}

static void refresh_comp(Interp *in, Comp *comp)
{
    int64_t bytes = scalar_room(in, comp->scalar);
    bool empty = false, fits = true;
    for (int i = 0; i < comp->n_dims; i++) {
        int64_t n = interp_size(in, &comp->dims[i]);
        if (n < 0) {
            diag_error(in->ctx, E0602, in->entry->name_span, "%s: the size %s is %lld here", in->entry->name,
                       comp->dims[i].nat ? nat_text(in->ctx, comp->dims[i].nat) : "of an array", (long long)n);
            interp_stop(in);
        }
        empty |= n == 0;
        fits = fits && mul_fits(bytes, n, &bytes);
    }
    comp->bytes = empty ? 0 : fits ? bytes : INT64_MAX;
}

/* Brings the bytes of a shape up to date with the variables in it. */
void interp_refresh(Interp *in, Shape *shape)
{
    if (shape && !shape->fixed)
        for (int k = 0; k < shape->n; k++)
            refresh_comp(in, &shape->comps[k]);
}
