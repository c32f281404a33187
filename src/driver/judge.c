/* See Note [Judging] in judge.h. */
#include "driver/judge.h"

#include <math.h>

/* Bounds are of the first order; this is for the rest, as long as a hundredth of the size is much. */
static const double beyond_first_order = 1 + 0x1p-6;

static ScalarValue value_at(const HostBuf *buf, int64_t i) { return scalar_load(buf->elem, buf->bytes + i * scalar_bytes(buf->elem)); }

static bool same_bits(Scalar type, ScalarValue a, ScalarValue b)
{
    return a.i == b.i || (scalar_is_float(type) && isnan(a.f) && isnan(b.f));
}

static bool same_shape(const HostBuf *a, const HostBuf *b)
{
    if (a->elem != b->elem || a->rank != b->rank)
        return false;
    for (int i = 0; i < a->rank; i++)
        if (a->shape[i] != b->shape[i])
            return false;
    return true;
}

/* ---- the shadow ------------------------------------------------------------------------------------------------- */

/* The longest chain of roundings in the launch; INFINITY where it cannot be simulated. */
static double longest_chain(Judge *judge)
{
    Launch again = judge->launch;
    SimOptions options = judge->options;
    SimReport report = {.warp_instructions = 0};
    again.n_results = 0;
    again.results = NULL;
    options.roundings = true;
    return judge->imp && sim_run(judge->ctx, judge->imp, &again, &options, &report) ? report.roundings : INFINITY;
}

static void make_shadow(Judge *judge)
{
    Ctx *ctx = judge->ctx;
    int diags = ctx->diags.list.n, errors = ctx->diags.errors;
    if (judge->tried)
        return;
    judge->tried = true;
    double chain = longest_chain(judge);
    ctx->diags.list.n = diags; /* what the simulator has to say, `risec run` says */
    ctx->diags.errors = errors;
    ShadowBuf *shadows;
    if (interp_shadow(ctx, judge->entry, &judge->launch, chain, &shadows))
        judge->shadows = shadows;
    else
        judge->why = judge->launch.gave_up ? "the reference takes too many steps" : ctx->diags.list.n > diags ? ctx->diags.list.at[diags]->message : "it cannot be computed";
    ctx->diags.list.n = diags;
    ctx->diags.errors = errors;
}

/* ---- elements ----------------------------------------------------------------------------------------------------- */

typedef enum Finding { SAME, WITHIN, BEYOND, UNCHECKED } Finding;

typedef struct Distance {
    double error, relative, bound;
} Distance;

/* A right result may be so far off that being within the bound means nothing. What is made of zeros alone may be off by as much as underflows. */
static bool too_wide(Scalar type, const ShadowValue *s, double bound)
{
    return bound > s->size / 100 && bound > (s->size > 0 ? 16 * shadow_ulp(type, s->size) : shadow_least_normal(type));
}

static double distance_of(ScalarValue a, double high, double low)
{
    return a.f == high ? fabs(low) : fabs((a.f - high) - low);
}

static double number_of(Scalar type, ScalarValue x)
{
    return scalar_is_float(type) ? x.f : type == SC_U64 ? (double)(uint64_t)x.i : (double)x.i;
}

/* It is not what the reference has computed, which may itself be further off than a kernel: is it what every right kernel gives? */
static Finding look_at_sure(Scalar type, ScalarValue got, ScalarValue want, const ShadowValue *s, Distance *d)
{
    ScalarValue sure = {.type = type, .i = s->integer};
    if (scalar_is_float(type))
        sure = scalar_float(type, s->value);
    if (!same_bits(type, got, sure))
        return BEYOND;
    d->error = d->bound = fabs(number_of(type, got) - number_of(type, want));
    d->relative = d->error / fabs(number_of(type, want));
    return WITHIN;
}

/* `given`: somebody has computed `want`, so that the same bits are right where rounding leaves all open. `foreign`: that is not the
 * reference, and what is measured is the distance to it. */
static Finding look(Scalar type, ScalarValue got, ScalarValue want, bool given, bool foreign, const ShadowValue *s, double times, Distance *d)
{
    const bool same = same_bits(type, got, want);
    const Finding open = given && same ? SAME : UNCHECKED;
    *d = (Distance){0, 0, 0};
    if (!scalar_is_float(type))
        return s->error > 0 ? open : same ? SAME : foreign ? BEYOND : look_at_sure(type, got, want, s, d);
    double bound = s->error * beyond_first_order;
    if (bound == 0) /* of nothing rounded */
        return same || (got.f == 0 && want.f == 0) ? SAME : foreign ? BEYOND : look_at_sure(type, got, want, s, d);
    if (!(bound < INFINITY))
        return open;
    d->bound = bound * times;
    d->error = foreign ? distance_of(got, want.f, 0) : distance_of(got, s->value, s->low);
    d->relative = d->error / fabs(foreign ? want.f : s->value);
    if (isnan(got.f) || isinf(got.f) || isnan(want.f) || isinf(want.f))
        return BEYOND;
    return d->error > d->bound ? BEYOND : too_wide(type, s, bound) ? open : WITHIN;
}

static void judge_component(Judgement *j, int k, const HostBuf *got, const HostBuf *want, const ShadowBuf *shadow, double times)
{
    for (int64_t i = 0; i < got->count; i++) {
        Distance d;
        const ShadowValue *s = &shadow->cells[i];
        ScalarValue a = value_at(got, i), exact = {.type = got->elem, .i = s->integer}, b = want ? value_at(want, i) : exact;
        Finding finding = look(got->elem, a, b, want, want && times > 1, s, times, &d);
        if (finding == UNCHECKED) {
            if (j->unchecked++ == 0 && j->verdict != JUDGED_DIFFERENT) {
                j->result = k;
                j->cell = i;
            }
        } else if (finding == BEYOND && j->verdict != JUDGED_DIFFERENT) {
            *j = (Judgement){.verdict = JUDGED_DIFFERENT, .result = k, .cell = i, .error = d.error, .relative = d.relative, .bound = d.bound,
                             .rounded = d.bound > 0, .elements = j->elements, .unchecked = j->unchecked};
        } else if (finding == WITHIN && j->verdict != JUDGED_DIFFERENT && (d.error > j->error || j->bound == 0)) {
            j->verdict = JUDGED_NEAR;
            j->error = d.error;
            j->relative = d.relative;
            j->bound = d.bound;
        }
    }
}

Judgement judge_results(Judge *judge, int n, const HostBuf *got, const HostBuf *want, double times)
{
    Judgement j = {.verdict = JUDGED_EQUAL};
    for (int k = 0; k < n; k++) {
        if (want && !same_shape(&got[k], &want[k]))
            return (Judgement){.verdict = JUDGED_DIFFERENT, .shapes_differ = true, .result = k};
        j.elements += got[k].count;
    }
    for (int k = 0; want && k < n && j.verdict == JUDGED_EQUAL; k++)
        for (int64_t i = 0; i < got[k].count && j.verdict == JUDGED_EQUAL; i++)
            if (!same_bits(got[k].elem, value_at(&got[k], i), value_at(&want[k], i)))
                j.verdict = JUDGED_NEAR;
    if (want && j.verdict == JUDGED_EQUAL)
        return j;
    make_shadow(judge);
    if (!judge->shadows) {
        j.verdict = JUDGED_NO_CHECK;
        j.why = judge->why;
        j.unchecked = j.elements;
        return j;
    }
    for (int k = 0; k < n; k++)
        judge_component(&j, k, &got[k], want ? &want[k] : NULL, &judge->shadows[k], times);
    j.place_repeats = judge->launch.place_repeats;
    if (j.verdict != JUDGED_DIFFERENT && j.unchecked > j.elements / 100)
        j.verdict = JUDGED_NO_CHECK;
    return j;
}

/* ---- words -------------------------------------------------------------------------------------------------------------- */

const char *judge_word(Judged verdict)
{
    static const char *const words[] = {"equal", "near", "different", "no check"};
    return words[verdict];
}

void judge_put(StrBuf *out, const Judgement *j)
{
    sb_puts(out, "differs by at most ");
    sb_put_float(out, j->error, true);
    sb_puts(out, " (relative ");
    sb_put_float(out, j->relative, true);
    sb_puts(out, "); bound ");
    sb_put_float(out, j->bound, true);
    if (j->unchecked)
        sb_printf(out, "; %lld of %lld elements undecided", (long long)j->unchecked, (long long)j->elements);
}

const char *judge_why(Ctx *ctx, const Judgement *j)
{
    if (j->why)
        return j->why;
    if (j->place_repeats)
        return ctx_printf(ctx, "where a scatter writes a place twice, either may stay, which decides %lld of %lld elements", (long long)j->unchecked, (long long)j->elements);
    return ctx_printf(ctx, "rounding alone may decide %lld of %lld elements, or change more than a hundredth of what they are made of",
                      (long long)j->unchecked, (long long)j->elements);
}
