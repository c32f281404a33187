#include "driver/sizes.h"

/* What is known of one size, and who said so. */
typedef struct SizeKnown {
    bool known;
    int64_t value;
    const char *why; /* "--set n=1000", "xs (data.npy) has 1000 elements" */
} SizeKnown;

typedef struct Infer {
    Ctx *ctx;
    Driver *d;
    const CoreEntry *entry;
    SizeKnown *known;
} Infer;

static int size_index(const CoreEntry *entry, Nat var)
{
    for (int i = 0; i < entry->n_sizes; i++) {
        if (entry->sizes[i] == var)
            return i;
    }
    return -1;
}

static Nat with_known(const Infer *in, Nat nat)
{
    for (int i = 0; i < in->entry->n_sizes; i++) {
        if (in->known[i].known)
            nat = nat_subst(in->ctx, nat, in->entry->sizes[i], nat_const(in->ctx, in->known[i].value));
    }
    return nat;
}

/* "has 1000 elements", "has 20 rows", "has rows of 30 elements", "has the shape 20.30.40, whose dimension 2 is 30". */
static const char *extent_words(Ctx *ctx, const KnownShape *shape, int dim)
{
    if (shape->buf->rank == 1)
        return ctx_printf(ctx, "%s (%s) has %lld element%s", shape->input, shape->source, (long long)shape->buf->shape[0],
                          shape->buf->shape[0] == 1 ? "" : "s");
    long long n = (long long)shape->buf->shape[dim];
    if (shape->buf->rank == 2)
        return ctx_printf(ctx, dim ? "%s (%s) has rows of %lld element%s" : "%s (%s) has %lld row%s", shape->input, shape->source, n, n == 1 ? "" : "s");
    StrBuf text;
    sb_init(&text, ctx);
    sb_printf(&text, "%s (%s) has the shape ", shape->input, shape->source);
    for (int i = 0; i < shape->buf->rank; i++)
        sb_printf(&text, "%s%lld", i ? "." : "", (long long)shape->buf->shape[i]);
    sb_printf(&text, ", whose dimension %d is %lld", dim + 1, n);
    return text.text;
}

/* The dimension as c*v + k with c >= 1, where v is a size. */
static bool linear_in_one(const Infer *in, Nat nat, int *var, int64_t *c, int64_t *k)
{
    *c = 1;
    *k = 0;
    if (nat->kind == NAT_VAR)
        return (*var = size_index(in->entry, nat)) >= 0;
    if (nat->kind != NAT_SUM || nat->n_terms > 2)
        return false;
    bool found = false;
    for (int i = 0; i < nat->n_terms; i++) {
        const NatTerm *term = &nat->terms[i];
        if (term->n_factors == 0) {
            *k = term->coef;
        } else if (term->n_factors == 1 && !found && term->coef >= 1 && (*var = size_index(in->entry, term->factors[0])) >= 0) {
            *c = term->coef;
            found = true;
        } else {
            return false;
        }
    }
    return found;
}

/* True when the dimension told a new size; an extent that no size explains is left for the final check. */
static bool solve(Infer *in, const KnownShape *shape, int dim, Nat size)
{
    int var;
    int64_t c, k, rest, extent = shape->buf->shape[dim];
    if (!linear_in_one(in, with_known(in, size), &var, &c, &k) || !sub_fits(extent, k, &rest) || rest < 0 || rest % c != 0)
        return false;
    in->known[var] = (SizeKnown){true, rest / c, extent_words(in->ctx, shape, dim)};
    return true;
}

static bool solve_all(Infer *in, int n, const KnownShape *shapes)
{
    bool found = false;
    for (int s = 0; s < n; s++) {
        int dim = 0;
        for (Type t = shapes[s].type; t->kind == TY_ARRAY || t->kind == TY_VEC; t = t->elem, dim++)
            found |= solve(in, &shapes[s], dim, t->size);
    }
    return found;
}

/* ---- contradictions ------------------------------------------------------------------------------------------- */

typedef struct Blame {
    const Infer *in;
    StrBuf text; /* "n = 999 (--set n=999)" */
    int count;
    bool unknown;
} Blame;

static void blame_size(void *user, Nat var)
{
    Blame *blame = user;
    int i = size_index(blame->in->entry, var);
    if (i < 0 || !blame->in->known[i].known) {
        blame->unknown = true;
        return;
    }
    const SizeKnown *known = &blame->in->known[i];
    sb_printf(&blame->text, "%s%s = %lld follows from: %s", blame->count++ ? "; " : "", var->name, (long long)known->value, known->why);
}

static bool check_dimension(Infer *in, const KnownShape *shape, int dim, Nat size)
{
    Blame blame = {.in = in};
    sb_init(&blame.text, in->ctx);
    nat_each_var(in->ctx, size, blame_size, &blame);
    Nat now = with_known(in, size);
    int64_t extent = shape->buf->shape[dim], c, k;
    int var;
    if (!blame.unknown && nat_is_const(now) && now->value == extent)
        return true;
    Diag *diag;
    if (blame.unknown) {
        if (!linear_in_one(in, now, &var, &c, &k))
            return true; /* the size is reported as missing */
        diag = driver_usage(in->ctx, in->d, E0625, "%s: %s, and no %s makes %s: %s that long", in->entry->name, extent_words(in->ctx, shape, dim),
                            in->entry->sizes[var]->name, shape->input, type_text(in->ctx, shape->type));
    } else if (nat_is_const(size)) {
        diag = driver_usage(in->ctx, in->d, E0625, "%s: %s, and %s: %s wants %s", in->entry->name, extent_words(in->ctx, shape, dim), shape->input,
                            type_text(in->ctx, shape->type), nat_text(in->ctx, size));
    } else if (nat_is_const(now)) {
        diag = driver_usage(in->ctx, in->d, E0625, "%s: %s, and %s: %s wants %s = %lld", in->entry->name, extent_words(in->ctx, shape, dim),
                            shape->input, type_text(in->ctx, shape->type), nat_text(in->ctx, size), (long long)now->value);
        diag_note(in->ctx, diag, NO_SPAN, "%s", blame.text.text);
    } else {
        return true; /* of the device, or not defined for these sizes: launch_check says it */
    }
    return false;
}

static bool check_all(Infer *in, int n, const KnownShape *shapes)
{
    bool good = true;
    for (int s = 0; s < n; s++) {
        int dim = 0;
        for (Type t = shapes[s].type; t->kind == TY_ARRAY || t->kind == TY_VEC; t = t->elem, dim++)
            good &= check_dimension(in, &shapes[s], dim, t->size);
    }
    return good;
}

/* Is an input so long? */
static bool is_extent(const CoreEntry *entry, Nat size)
{
    bool found = false;
    for (int i = 0; i < entry->n_inputs; i++)
        for (Type t = entry->inputs[i]->type; t->kind == TY_ARRAY; t = t->elem)
            found |= nat_mentions(t->size, size);
    return found;
}

/* For a size that is no length, such as a radius or a distance, 1 is a harmless value. */
static bool nothing_missing(Infer *in, int n)
{
    StrBuf names, sets;
    sb_init(&names, in->ctx);
    sb_init(&sets, in->ctx);
    int missing = 0;
    for (int i = 0; i < in->entry->n_sizes; i++) {
        if (in->known[i].known)
            continue;
        sb_printf(&names, "%s`%s`", missing ? ", " : "", in->entry->sizes[i]->name);
        sb_printf(&sets, "%s--set %s=%d", missing ? " " : "", in->entry->sizes[i]->name, is_extent(in->entry, in->entry->sizes[i]) ? 1000 : 1);
        missing++;
    }
    if (!missing)
        return true;
    Diag *diag = driver_usage(in->ctx, in->d, E0624, "%s: nothing gives the size%s %s", in->entry->name, missing > 1 ? "s" : "", names.text);
    diag_help(in->ctx, diag, n ? "the shapes of what is given do not tell: add `%s`" : "the sizes say what is generated: add `%s`",
              sets.text);
    return false;
}

bool sizes_infer(Ctx *ctx, Driver *d, const CoreEntry *entry, int n, const KnownShape *shapes, Launch *launch)
{
    Infer in = {ctx, d, entry, NEWN(ctx, SizeKnown, entry->n_sizes + 1)};
    for (int i = 0; i < entry->n_sizes; i++) {
        for (int g = 0; g < d->line->given.n; g++) {
            const Given *given = &d->line->given.at[g];
            if (given->id == OPT_SET && strcmp(given->name, entry->sizes[i]->name) == 0)
                in.known[i] = (SizeKnown){true, given->number, ctx_printf(ctx, "--set %s=%s", given->name, given->value)};
        }
    }
    while (solve_all(&in, n, shapes))
        ;
    bool good = check_all(&in, n, shapes);
    if (!good || !nothing_missing(&in, n))
        return false;
    launch->n_sizes = entry->n_sizes;
    launch->sizes = NEWN(ctx, int64_t, entry->n_sizes + 1);
    for (int i = 0; i < entry->n_sizes; i++)
        launch->sizes[i] = in.known[i].value;
    return true;
}
