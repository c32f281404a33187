/* The judge: right results are never called wrong, results with one wrong element always are, and few have no check.
 *
 *     test_judge [--list] [--seed N] [--only K] [--random COUNT] [--high COUNT] FILE.rise...
 *
 * Every entry of the files, and random programs, run on the simulator with floats that round, for several sizes and grids. --list says which
 * have no check, --only runs program K alone and prints it. Entries of files whose floats are f32 or f64 always have one; of random programs at least 19 of 20 have,
 * whatever their number (of few, one may have none). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "rcheck.h"
#include "rgen.h"
#include "unit.h"

typedef struct Totals {
    long launches, equal, near, unchecked;
    long with_elements, with_fault; /* launches whose results have elements; and in which some were made wrong */
    long planted, planted_unchecked; /* such elements; those of launches without a check */
    bool list;
} Totals;

/* ---- shadows of single operations ------------------------------------------------------------------------------------- */

static ShadowValue of(Scalar type, double x) { return shadow_of(scalar_float(type, x)); }

static void test_shadows(void)
{
    ShadowValue args[3] = {of(SC_F32, 1), of(SC_F32, 0x1p-30), {.value = 0}}, r = shadow_apply(P_add, SC_F32, args, false, 0);
    CHECK(r.error > 0 && r.error <= 0x1p-24 * 1.01 && r.value == 1 + 0x1p-30 && r.low == 0 && r.size > 1);
    args[1] = of(SC_F32, 2);
    r = shadow_apply(P_add, SC_F32, args, false, 0);
    CHECK(r.error == 0 && r.value == 3 && r.size == 3);
    r = shadow_apply(P_div, SC_F32, (ShadowValue[]){of(SC_F32, 1), of(SC_F32, 3)}, false, 0);
    CHECK(r.error > 0 && fabs((float)(1.0 / 3) - r.value) <= r.error);
    /* A comparison within the bound decides nothing; a conversion behind it is off by one. */
    ShadowValue third[2] = {r, of(SC_F32, (float)(1.0 / 3))};
    CHECK(shadow_apply(P_lt, SC_F32, third, false, 0).error == INFINITY);
    CHECK(shadow_apply(P_min, SC_F32, third, false, 0).error == r.error);
    /* A value and itself: equal, whatever its error, if it is not NaN, and only if that is known. */
    CHECK(shadow_apply(P_ne, SC_F32, third, true, 0).error == 0 && !shadow_apply(P_ne, SC_F32, third, true, 0).integer);
    CHECK(shadow_apply(P_ne, SC_F32, (ShadowValue[]){of(SC_F32, NAN), of(SC_F32, NAN)}, true, 0).integer == 1);
    CHECK(shadow_apply(P_eq, SC_F32, (ShadowValue[]){{.value = 1, .error = INFINITY}, {.value = 1, .error = INFINITY}}, true, 0).error == INFINITY);
    ShadowValue one = shadow_apply(P_mul, SC_F32, (ShadowValue[]){r, of(SC_F32, 3)}, false, 0);
    CHECK(shadow_cast(SC_I32, SC_F32, &one, 0).error == 1);
    ShadowValue half = shadow_apply(P_mul, SC_F32, (ShadowValue[]){r, of(SC_F32, 1.5)}, false, 0);
    CHECK(shadow_cast(SC_I32, SC_F32, &half, 0).error == 0 && shadow_cast(SC_I32, SC_F32, &half, 0).integer == 0);
    /* Small integers are exact in any order, fractions are not. */
    r = shadow_apply(P_add, SC_F32, (ShadowValue[]){of(SC_F32, 5), of(SC_F32, -5)}, false, 10);
    CHECK(r.error == 0 && r.level == 0 && r.value == 0 && r.size == 10);
    r = shadow_apply(P_add, SC_F32, (ShadowValue[]){of(SC_F32, 0x1p23), of(SC_F32, 0x1p-2)}, false, 10);
    CHECK(r.error == 0 && r.level > 0);
    shadow_close(&r, 10);
    CHECK(r.level == 0 && r.error >= 10 * 0x1p-1 && r.error < 10.1 * 0x1p-1);
    /* What is no number stays none; what may overflow in another order is undecided. */
    r = shadow_apply(P_add, SC_F32, (ShadowValue[]){of(SC_F32, INFINITY), of(SC_F32, 1)}, false, 0);
    CHECK(r.error == 0 && r.value == INFINITY);
    /* The logarithm of 1 has a sign that is not known, which a sum with an infinite value does not ask for. */
    ShadowValue log_one = shadow_apply(P_log, SC_F32, (ShadowValue[]){of(SC_F32, 1)}, false, 0);
    r = shadow_apply(P_add, SC_F32, (ShadowValue[]){log_one, of(SC_F32, -INFINITY)}, false, 0);
    CHECK(r.error == 0 && r.value == -INFINITY);
    r = shadow_apply(P_mul, SC_F32, (ShadowValue[]){log_one, of(SC_F32, -INFINITY)}, false, 0);
    CHECK(r.error == INFINITY);
    r = shadow_apply(P_sub, SC_F32, (ShadowValue[]){of(SC_F32, 0x1p127), of(SC_F32, 0x1.8p127)}, false, 4);
    CHECK(r.error == INFINITY);
    CHECK(isnan(shadow_apply(P_sqrt, SC_F32, (ShadowValue[]){of(SC_F32, -1)}, false, 0).value));
}

/* Expressions of random operations: their value in f32, in f64 and in f16 is within the bound. */
static void test_operations(uint64_t seed)
{
    static const PrimId ops[] = {P_add, P_sub, P_mul, P_div, P_sqrt, P_exp, P_log, P_sin, P_tan, P_asin, P_acos, P_atan, P_expm1, P_log1p, P_erf, P_tanh, P_rsqrt, P_min, P_max, P_abs, P_neg, P_fma, P_pow, P_exp2, P_log2, P_cos};
    static const Scalar types[] = {SC_F32, SC_F64, SC_F16, SC_BF16};
    long checked = 0, wrong = 0;
    for (long k = 0; k < 200000; k++) {
        Scalar type = types[k % 4];
        ScalarValue v[3];
        ShadowValue s[3];
        for (int i = 0; i < 3; i++) {
            v[i] = scalar_float(type, ldexp((double)(int64_t)(sample_random(&seed) >> 40) - 0x1p23, -(int)(sample_random(&seed) % 30)));
            s[i] = shadow_of(v[i]);
        }
        for (int step = 0; step < 6; step++) {
            PrimId op = ops[sample_random(&seed) % (sizeof ops / sizeof *ops)];
            int to = (int)(sample_random(&seed) % 3);
            ScalarValue x = scalar_apply(op, type, v);
            ShadowValue y = shadow_apply(op, type, s, false, 0);
            v[to] = x;
            s[to] = y;
            if (!(y.error < INFINITY))
                break; /* nothing is claimed of what follows, either */
            bool right = isfinite(x.f) ? fabs(x.f - y.value - y.low) <= y.error * 1.02 : y.error == 0 && (isnan(x.f) ? isnan(y.value) : x.f == y.value);
            checked++;
            wrong += !right;
            if (!right && wrong < 10)
                printf("%s of %s: %.17g, shadow %.17g + %g, error %g\n", prim_name(op), scalar_name(type), x.f, y.value, y.low, y.error);
        }
    }
    printf("operations: %ld checked, %ld wrong\n", checked, wrong);
    CHECK(wrong == 0);
    CHECK(checked > 100000);
}

/* ---- programs ------------------------------------------------------------------------------------------------------------ */

/* One element wrong by the largest of a thousandth of its size, 8 units in the last place and twice its bound has to be found, also where too many
 * others are undecided for a check. `unchecked`: it is so in this launch. */
static void plant(Judge *judge, Launch *got, const Launch *ref, const char *name, bool unchecked, Totals *t, uint64_t *seed)
{
    const long before = t->planted;
    int64_t elements = 0;
    for (int k = 0; k < got->n_results; k++)
        elements += got->results[k].count;
    t->with_elements += elements > 0;
    for (int tries = 0; tries < 8; tries++) {
        int k = (int)(sample_random(seed) % (uint64_t)got->n_results);
        HostBuf *buf = &got->results[k];
        if (buf->count == 0)
            continue;
        int64_t i = (int64_t)(sample_random(seed) % (uint64_t)buf->count);
        unsigned char *at = buf->bytes + i * scalar_bytes(buf->elem), old[8];
        ScalarValue v = scalar_load(buf->elem, at);
        if (scalar_is_float(buf->elem) && !isfinite(v.f))
            continue;
        const ShadowValue *s = judge->shadows ? &judge->shadows[k].cells[i] : NULL;
        if (!s || !(s->error < INFINITY) || (!scalar_is_float(buf->elem) && s->error > 0))
            continue; /* undecided */
        memcpy(old, at, (size_t)scalar_bytes(buf->elem));
        if (scalar_is_float(buf->elem)) {
            double by = fmax(fmax(s->size / 1000, 8 * shadow_ulp(buf->elem, fabs(v.f))), 2 * s->error * 1.02);
            scalar_store(scalar_float(buf->elem, v.f + (sample_random(seed) & 1 ? by : -by)), at);
        } else {
            at[0] ^= 1;
        }
        if (memcmp(old, at, (size_t)scalar_bytes(buf->elem)) != 0) {
            Judgement j = judge_results(judge, got->n_results, got->results, ref->results, 1);
            t->planted++;
            t->planted_unchecked += unchecked;
            if (!CHECK(j.verdict == JUDGED_DIFFERENT)) {
                ScalarValue w = scalar_load(buf->elem, at);
                printf("%s: result %d, element %lld: %.9g for %.9g, shadow %.17g, error %g, size %g\n", name, k, (long long)i, w.f, v.f, s->value, s->error, s->size);
            }
        }
        memcpy(at, old, (size_t)scalar_bytes(buf->elem));
    }
    t->with_fault += t->planted > before;
}

typedef struct Trying {
    const Compiled *c;
    const char *name;
    const int64_t *sizes;
    int64_t n, grid;
    uint64_t seed, max_steps;
    bool always; /* what has no check is named */
    Totals *t;
    bool ran, unchecked;
} Trying;

static bool narrow_floats(const Launch *l)
{
    bool narrow = false;
    for (int k = 0; k < l->n_buffers + l->n_results; k++) {
        Scalar elem = (k < l->n_buffers ? l->buffers[k] : l->results[k - l->n_buffers]).elem;
        narrow |= elem == SC_F16 || elem == SC_BF16;
    }
    return narrow;
}

static void try_launch(Ctx *ctx, void *user)
{
    Trying *t = user;
    const CoreEntry *entry = t->c->entry;
    Launch sim, ref;
    int64_t *sizes = NEWN(ctx, int64_t, entry->n_sizes + 1);
    for (int i = 0; i < entry->n_sizes; i++)
        sizes[i] = t->sizes ? t->sizes[i] : t->n;
    ctx->diags.list.n = ctx->diags.errors = 0;
    if (!sample_launch(ctx, entry, sizes, &(SampleInputs){.seed = t->seed, .max_cells = 20000, .real = true}, &sim))
        return;
    ref = sim;
    SimReport report = {.warp_instructions = 0};
    Judge judge = {.ctx = ctx, .entry = entry, .launch = sim, .imp = t->c->imp, .options = {.seed = t->seed, .grid = {t->grid, 0, 0}, .max_steps = t->max_steps}};
    ref.max_steps = 20000000;
    if (!sim_run(ctx, t->c->imp, &sim, &judge.options, &report) || !interp_run(ctx, entry, &ref))
        return;
    t->ran = true;
    t->t->launches++;
    judge.launch.max_steps = 0;
    Judgement j = judge_results(&judge, sim.n_results, sim.results, ref.results, 1);
    Judgement alone = judge_results(&judge, sim.n_results, sim.results, NULL, 1);
    t->t->equal += j.verdict == JUDGED_EQUAL;
    t->t->near += j.verdict == JUDGED_NEAR;
    if (!CHECK(j.verdict != JUDGED_DIFFERENT && alone.verdict != JUDGED_DIFFERENT)) {
        const Judgement *bad = j.verdict == JUDGED_DIFFERENT ? &j : &alone;
        printf("%s: n = %lld, grid %lld, seed %llu: result %d, cell %lld, error %g, bound %g\n", t->name, (long long)t->n, (long long)t->grid, (unsigned long long)t->seed, bad->result,
               (long long)bad->cell, bad->error, bad->bound);
        const ShadowValue *s = &judge.shadows[bad->result].cells[bad->cell];
        const HostBuf *got = &sim.results[bad->result], *want = &ref.results[bad->result];
        int64_t at = bad->cell * scalar_bytes(got->elem);
        ScalarValue a = scalar_load(got->elem, got->bytes + at), b = scalar_load(got->elem, want->bytes + at);
        printf("    of %s: %.17g (%lld), by the reference %.17g (%lld), shadow %.17g (%lld)\n", scalar_name(got->elem), a.f, (long long)a.i, b.f, (long long)b.i, s->value, (long long)s->integer);
    }
    if (alone.verdict == JUDGED_NO_CHECK) {
        t->t->unchecked++;
        if (t->t->list || t->always)
            printf("no check: %s, n = %lld: %s\n", t->name, (long long)t->n, judge_why(ctx, &alone));
        t->unchecked = !narrow_floats(&sim);
    }
    plant(&judge, &sim, &ref, t->name, alone.verdict == JUDGED_NO_CHECK, t->t, &t->seed);
}

/* Every launch has to have a check. By chance, rounding alone may decide one of few elements, but not with other inputs, too. */
static void test_file(const char *path, Totals *t)
{
    static const int64_t sizes[] = {1, 33, 64, 1000, 1024, 4096};
    for (int k = 0, n = 1; k < n; k++) {
        Compiled c = compile_entry(path, k, &n);
        CHECK(c.imp != NULL);
        for (size_t s = 0; c.imp && s < sizeof sizes / sizeof *sizes; s++) {
            Trying one = {.c = &c, .name = ctx_printf(c.ctx, "%s %s", path, c.entry->name), .n = sizes[s], .grid = (int64_t)(s % 3), .seed = 7 + s, .max_steps = 3000000, .always = true, .t = t};
            if (!ctx_try(c.ctx, try_launch, &one) || !one.unchecked)
                continue;
            Trying again = one;
            again.seed += 100;
            again.unchecked = false;
            CHECK(ctx_try(c.ctx, try_launch, &again) && again.ran && !again.unchecked);
        }
        compiled_free(&c);
    }
}

/* Programs in which some launch has no check, of those of which a launch was run. */
static void test_random(uint64_t seed, long count, bool high, long only, Totals *t)
{
    long ran = 0, unchecked = 0;
    bool scalars[SC_COUNT];
    lowered_scalars(scalars);
    for (long k = only < 0 ? 0 : only; k < (only < 0 ? count : only + 1); k++) {
        uint64_t its = seed * 1000003u + (uint64_t)k;
        Pool *pool = pool_new();
        RProgram *program = high ? generate_high_program(pool, its, scalars) : generate_program(pool, its, scalars);
        Compiled c = compile_quietly(program_text(program));
        char name[80];
        if (only >= 0)
            printf("%s", program_text(program));
        snprintf(name, sizeof name, "%s program %ld of seed %llu", high ? "high-level" : "low-level", k, (unsigned long long)seed);
        long before = t->unchecked, launches = t->launches;
        for (int trial = 0; c.imp && trial < TRIALS; trial++) {
            RTrial r = random_trial(program, its, trial);
            int64_t sizes[NAMES_MAX] = {0};
            random_sizes(&c, program, &r, sizes);
            Trying one = {.c = &c, .name = name, .sizes = sizes, .n = c.entry->n_sizes ? sizes[0] : 0, .grid = r.grid, .seed = r.seed, .max_steps = 1000000, .t = t};
            if (!ctx_try(c.ctx, try_launch, &one))
                break;
        }
        ran += t->launches > launches;
        unchecked += t->unchecked > before;
        compiled_free(&c);
        pool_free(pool);
    }
    printf("%s: seed %llu: %ld of %ld programs ran, %ld have a launch without a check\n", high ? "high-level" : "low-level", (unsigned long long)seed, ran, count, unchecked);
    CHECK(only >= 0 || ran * 2 > count);
    /* At most one in twenty; of few programs by chance up to two standard deviations more. */
    CHECK(unchecked <= (double)ran / 20 + 2 * sqrt((double)ran / 20));
}

int main(int argc, char **argv)
{
    Totals t = {.list = false};
    uint64_t seed = 1;
    long only = -1;
    test_shadows();
    test_operations(seed);
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--list") == 0)
            t.list = true;
        else if (strcmp(argv[i], "--seed") == 0 && i + 1 < argc)
            seed = strtoull(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--only") == 0 && i + 1 < argc)
            only = strtol(argv[++i], NULL, 10);
        else if ((strcmp(argv[i], "--random") == 0 || strcmp(argv[i], "--high") == 0) && i + 1 < argc)
            test_random(seed, strtol(argv[i + 1], NULL, 10), argv[i][2] == 'h', only, &t), i++;
        else
            test_file(argv[i], &t);
    printf("programs: %ld launches, %ld to the bit, %ld near, %ld without a check; %ld wrong elements planted in %ld of %ld launches with elements, %ld of them where there is no check\n",
           t.launches, t.equal, t.near, t.unchecked, t.planted, t.with_fault, t.with_elements, t.planted_unchecked);
    /* Else this program would show little. No fault is planted where elements are undecided, infinite or NaN. */
    CHECK(only >= 0 || t.with_fault * 20 >= t.with_elements * 19);
    CHECK(only >= 0 || t.planted_unchecked * 10 <= t.planted);
    return unit_end();
}
