/* The laws that operators declare, tried on values. */
#include <fenv.h>

#include "rewrite/laws.h"

typedef struct Claim {
    const char *name, *left, *right; /* of the variables a, b and c; %s: the operator */
    int n;                           /* variables */
} Claim;

static const Claim claims[] = {
    {"unit", "%s(%u, a)", "a", 1},
    {"unit", "%s(a, %u)", "a", 1},
    {"associative", "%s(%s(a, b), c)", "%s(a, %s(b, c))", 3},
    {"commutative", "%s(a, b)", "%s(b, a)", 2},
};
enum { CLAIMS = sizeof claims / sizeof *claims };

static const Law *declared(const Item *operator, const char *name)
{
    for (int i = 0; i < operator->n_laws; i++)
        if (strcmp(operator->laws[i].name, name) == 0)
            return &operator->laws[i];
    return NULL;
}

/* %s becomes the operator's name, %u its unit. */
static const char *side_text(Ctx *ctx, const Item *operator, const char *side)
{
    StrBuf sb, unit;
    sb_init(&sb, ctx);
    sb_init(&unit, ctx);
    if (operator->unit)
        ast_print(&unit, operator->unit);
    for (; *side; side++) {
        bool hole = *side == '%';
        side += hole;
        if (!hole)
            sb_putc(&sb, *side);
        else
            sb_puts(&sb, *side == 's' ? operator->name : unit.text);
    }
    return sb.text;
}

/* An entry that gives both sides. */
static CoreEntry *claim_entry(Ctx *ctx, const LawFile *file, const Item *operator, const Claim *claim)
{
    StrBuf sb, type;
    sb_init(&sb, ctx);
    sb_init(&type, ctx);
    ast_print(&type, operator->result);
    sb_printf(&sb, "%.*s\nentry lawClaim", (int)file->size, file->text);
    for (int i = 0; i < claim->n; i++)
        sb_printf(&sb, " (%c: %s)", 'a' + i, type.text);
    sb_printf(&sb, ": (%s, %s) =\n  (%s, %s)\n", type.text, type.text, side_text(ctx, operator, claim->left), side_text(ctx, operator, claim->right));
    Program *program = program_from_text(ctx, file->path, sb.text, sb.len);
    return elab_entry(ctx, program, program_entry_count(program) - 1, 0, NULL);
}

typedef struct Trying {
    Ctx *ctx;
    const CoreEntry *entry;
    double within; /* what the declaration allows, relative to the values; 0: nothing */
    Launch run;
} Trying;

static double magnitude(ScalarValue v) { return v.f < 0 ? -v.f : v.f; }

static bool near(const HostBuf *a, const HostBuf *b, double within)
{
    ScalarValue x = scalar_load(a->elem, a->bytes), y = scalar_load(b->elem, b->bytes);
    if (!scalar_is_float(a->elem))
        return x.u == y.u;
    double error = x.f > y.f ? x.f - y.f : y.f - x.f, size = magnitude(x) > magnitude(y) ? magnitude(x) : magnitude(y);
    return (x.f != x.f && y.f != y.f) || x.f == y.f || error <= within * (size > 1 ? size : 1);
}

/* Whether the two sides differ for these values. */
static bool differs(void *user, const Launch *launch)
{
    enum { ROUNDING = 14 }; /* of a type's bits that a few operations may spoil, as a power of two below 1 */
    Trying *t = user;
    t->run = *launch;
    feclearexcept(FE_INEXACT);
    if (!sample_run(t->ctx, t->entry, &t->run))
        return false;
    double within = t->within;
    if (within == 0 && fetestexcept(FE_INEXACT))
        within = 1.0 / (1 << ROUNDING);
    int half = t->run.n_results / 2;
    for (int i = 0; i < half; i++)
        if (!near(&t->run.results[i], &t->run.results[half + i], within))
            return true;
    return false;
}

static bool find_counter(Trying *t, uint64_t seed, long trials, long *tried)
{
    enum { SPREADS = 4 };
    static const int64_t spreads[SPREADS] = {1, 2, 8, 100};
    for (long k = 0; k < trials; k++, ++*tried) {
        /* Small values meet each other; any integers show what overflows. */
        SampleInputs how = {.seed = seed + (uint64_t)k * 7919, .spread = spreads[k % SPREADS], .wide = k % 8 == 7};
        Launch launch;
        if (!sample_launch(t->ctx, t->entry, NULL, &how, &launch) || !differs(t, &launch))
            continue;
        sample_shrink_values(t->ctx, &launch, differs, t);
        return differs(t, &launch);
    }
    return false;
}

bool law_test_operator(Ctx *ctx, const LawFile *file, const Item *operator, uint64_t seed, OperatorReport *out)
{
    enum { TRIALS = 400 };
    *out = (OperatorReport){0};
    for (int i = 0; i < CLAIMS && !out->law; i++) {
        const Claim *claim = &claims[i];
        const Law *law = declared(operator, claim->name);
        bool unit = strcmp(claim->name, "unit") == 0;
        if (unit ? !operator->unit : !law)
            continue;
        Trying t = {.ctx = ctx, .entry = claim_entry(ctx, file, operator, claim)};
        if (!t.entry)
            return false;
        const Ast *within = law ? law->within : NULL;
        t.within = !within ? 0 : within->kind == AST_FLOAT ? within->floating.value : within->kind == AST_INT ? (double)within->integer.value : 0;
        if (find_counter(&t, seed, TRIALS, &out->trials))
            *out = (OperatorReport){claim->name, side_text(ctx, operator, claim->left), side_text(ctx, operator, claim->right), out->trials, t.entry, t.run};
    }
    return true;
}
