/* The laws that operators declare, tried on values.
 *
 * Note [Trials of an operator]
 * A claim is an equation of the operator's own core, between closed terms of up to three values. All trials of a claim are one array, so that the reference
 * interpreter is started once; what differs there is tried again by itself, as a run says only as a whole whether it rounded.
 *
 * A trial that rounds decides within a tolerance. One that overflows, goes below the smallest normal number, or makes NaN of infinities decides nothing: then
 * arithmetic is at fault, not the operator, and the same holds of `+` and `*`; so where an operator only calculates, and what it calculates with is NaN. All others decide to the bit, but for the payload of a NaN; where only the
 * sign of a zero differs, the claim holds and the report says so.
 *
 * Note [From the unit]
 * An operator may have its laws only for values that it gave itself, as max(-inf, x) is a number where x is NaN. If they hold of unit op a instead of a, and
 * taking in unit op b is taking in b, then a fold that starts each part from the unit is right in every grouping; one that combines elements as they are is not. */
#include <fenv.h>
#include <math.h>

#include "rewrite/internal.h"
#include "rewrite/laws.h"

typedef struct Claim {
    const char *name, *left, *right; /* of the variables a, b and c and the unit u, in a notation of their own: *xy is x op y */
    int n;                           /* variables */
} Claim;

static const Claim claims[] = {
    {"unit", "*ua", "a", 1},
    {"unit", "*au", "a", 1},
    {"unit", "*uu", "u", 1},
    {"associative", "**abc", "*a*bc", 3},
    {"commutative", "*ab", "*ba", 2},
};
/* Beside these, where they are asked of unit op a: an element that is taken in may be combined with the unit first. */
static const Claim taking_in = {"unit", "**uab", "**ua*ub", 2};

enum { CLAIMS = sizeof claims / sizeof *claims, UNIT_CLAIMS = 3, MOST_VARS = 3, BATCH = 480 };

static const Law *declared(const Item *operator, const char *name)
{
    for (int i = 0; i < operator->n_laws; i++)
        if (strcmp(operator->laws[i].name, name) == 0)
            return &operator->laws[i];
    return NULL;
}

/* ---- terms --------------------------------------------------------------------------------------------------------------- */

typedef struct Building {
    Ctx *ctx;
    const LawOperator *op;
    Core *vars[MOST_VARS]; /* what a, b and c stand for */
    int next_var;
    bool from_unit;
} Building;

static Core *node(Building *b, CoreKind kind, Type type)
{
    Core *core = NEW(b->ctx, Core);
    *core = (Core){.kind = kind, .type = type, .span = b->op->lambda->span, .height = 1};
    return core;
}

static Core *variable(Building *b, CoreVar *var)
{
    Core *core = node(b, CORE_VAR, var->type);
    core->var = var;
    return core;
}

static CoreVar *fresh(Building *b, const char *name, Type type)
{
    CoreVar *var = NEW(b->ctx, CoreVar);
    *var = (CoreVar){.id = b->next_var++, .name = name, .type = type};
    return var;
}

static Core *let(Building *b, CoreVar *var, Core *value, Core *body)
{
    Core *core = node(b, CORE_LET, body->type);
    core->let.var = var;
    core->let.value = value;
    core->let.body = body;
    return core;
}

/* x op y. The operands get their values before the operator's own variables do, which the operands may have in them. */
static Core *applied(Building *b, Core *x, Core *y)
{
    const Core *f = b->op->lambda;
    CoreVar *own[2];
    for (int i = 0; i < 2; i++)
        own[i] = fresh(b, "operand", f->lambda.params[i]->type);
    Core *body = let(b, f->lambda.params[0], variable(b, own[0]), let(b, f->lambda.params[1], variable(b, own[1]), f->lambda.body));
    return let(b, own[0], x, let(b, own[1], y, body));
}

static Core *side(Building *b, const char **text)
{
    char c = *(*text)++;
    if (c == 'u')
        return b->op->unit;
    if (c != '*')
        return b->vars[c - 'a'];
    Core *x = side(b, text);
    return applied(b, x, side(b, text));
}

/* `op(op(a, b), c)`, for people. */
static void put_side(StrBuf *out, const LawOperator *op, const char **text)
{
    char c = *(*text)++;
    if (c == 'u' && op->declared->unit) {
        ast_print(out, op->declared->unit);
    } else if (c != '*') {
        sb_putc(out, c);
    } else {
        sb_printf(out, "%s(", op->declared->name);
        put_side(out, op, text);
        sb_puts(out, ", ");
        put_side(out, op, text);
        sb_puts(out, ")");
    }
}

static const char *side_text(Ctx *ctx, const LawOperator *op, const char *text)
{
    StrBuf sb;
    sb_init(&sb, ctx);
    put_side(&sb, op, &text);
    return sb.text;
}

static Core *tuple(Building *b, int n, Core *const *items)
{
    Type types[2 + MOST_VARS];
    for (int i = 0; i < n; i++)
        types[i] = items[i]->type;
    Core *core = node(b, CORE_TUPLE, type_tuple(b->ctx, n, types));
    core->tuple.n = n;
    core->tuple.items = NEWN(b->ctx, Core *, n);
    memcpy(core->tuple.items, items, sizeof *items * (size_t)n);
    return core;
}

static Core *part(Building *b, Core *whole, int i)
{
    Core *core = node(b, CORE_PROJ, whole->type->items[i]);
    core->proj.index = i;
    core->proj.value = whole;
    return core;
}

/* What a value of the operator is made of, as a variable's type: the value itself, or what the program's elements are worked out from. */
static Type input_type(Ctx *ctx, const LawOperator *op)
{
    Type types[LAW_FREE];
    if (!op->element)
        return op->lambda->lambda.params[0]->type;
    for (int i = 0; i < op->n_free; i++)
        types[i] = op->free[i]->type;
    Type one = op->n_free == 1 ? types[0] : type_tuple(ctx, op->n_free, types);
    types[0] = types[1] = one;
    return op->in_pairs ? type_tuple(ctx, 2, types) : one;
}

static Core *element_from(Building *b, Core *input)
{
    const LawOperator *op = b->op;
    Core *value = op->element;
    for (int i = op->n_free; i-- > 0;)
        value = let(b, op->free[i], op->n_free == 1 ? input : part(b, input, i), value);
    return value;
}

/* The value that is made of an input. */
static Core *value_of(Building *b, Core *input)
{
    if (!b->op->element)
        return input;
    if (!b->op->in_pairs)
        return element_from(b, input);
    return applied(b, element_from(b, part(b, input, 0)), element_from(b, part(b, input, 1)));
}

/* Both sides, and the values that they are of; from the unit: unit op a instead of a. */
static Core *both_sides(Building *b, const Claim *claim)
{
    CoreVar *vars[MOST_VARS], *raw[MOST_VARS];
    Core *items[2 + MOST_VARS], *values[MOST_VARS];
    Type t = b->op->lambda->lambda.params[0]->type;
    for (int i = 0; i < claim->n; i++) {
        raw[i] = fresh(b, "value", t);
        vars[i] = fresh(b, "begun", t);
        values[i] = value_of(b, b->vars[i]);
        b->vars[i] = variable(b, b->from_unit ? vars[i] : raw[i]);
        items[2 + i] = b->vars[i];
    }
    const char *left = claim->left, *right = claim->right;
    items[0] = side(b, &left);
    items[1] = side(b, &right);
    Core *both = tuple(b, 2 + claim->n, items);
    for (int i = claim->n; i-- > 0;) {
        if (b->from_unit)
            both = let(b, vars[i], applied(b, b->op->unit, variable(b, raw[i])), both);
        both = let(b, raw[i], values[i], both);
    }
    return both;
}

static Core *prim(Building *b, PrimId id, Type type, Nat n, int n_args, Core *const *args)
{
    Core *core = node(b, CORE_PRIM, type);
    Nat *nats = NEWN(b->ctx, Nat, 1);
    nats[0] = n;
    core->prim.id = id;
    core->prim.n_nats = 1;
    core->prim.nats = nats;
    core->prim.n_args = n_args;
    core->prim.args = NEWN(b->ctx, Core *, n_args);
    memcpy(core->prim.args, args, sizeof *args * (size_t)n_args);
    return core;
}

/* An entry that gives both sides and their values; trials > 0: of so many elements of arrays. */
static CoreEntry *claim_entry(Ctx *ctx, const LawOperator *op, const Claim *claim, bool from_unit, int trials)
{
    static const char *const names[MOST_VARS] = {"a", "b", "c"};
    static const PrimId zips[MOST_VARS + 1] = {P_COUNT, P_COUNT, P_zip, P_zip3};
    Building b = {.ctx = ctx, .op = op, .next_var = op->next_var, .from_unit = from_unit};
    Type t = input_type(ctx, op), types[MOST_VARS];
    Nat n = nat_const(ctx, trials);
    CoreEntry *entry = NEW(ctx, CoreEntry);
    *entry = (CoreEntry){.name = "law", .n_inputs = claim->n};
    entry->inputs = NEWN(ctx, CoreVar *, claim->n);
    Core *inputs[MOST_VARS];
    for (int i = 0; i < claim->n; i++) {
        types[i] = t;
        entry->inputs[i] = fresh(&b, names[i], trials ? type_array(ctx, n, t) : t);
        b.vars[i] = inputs[i] = variable(&b, entry->inputs[i]);
    }
    if (!trials) {
        entry->body = both_sides(&b, claim);
        entry->result = entry->body->type;
        return entry;
    }
    CoreVar *one = fresh(&b, "one", claim->n > 1 ? type_tuple(ctx, claim->n, types) : t);
    for (int i = 0; i < claim->n; i++)
        b.vars[i] = claim->n > 1 ? part(&b, variable(&b, one), i) : variable(&b, one);
    Core *body = both_sides(&b, claim), *lambda = node(&b, CORE_LAMBDA, body->type);
    lambda->lambda.n = 1;
    lambda->lambda.params = NEWN(ctx, CoreVar *, 1);
    lambda->lambda.params[0] = one;
    lambda->lambda.body = body;
    Core *args[2] = {lambda, claim->n > 1 ? prim(&b, zips[claim->n], type_array(ctx, n, one->type), n, claim->n, inputs) : inputs[0]};
    entry->result = type_array(ctx, n, body->type);
    entry->body = prim(&b, P_map, entry->result, n, 2, args);
    return entry;
}

/* ---- values ---------------------------------------------------------------------------------------------------------------- */

/* What arithmetic treats in ways of its own, and the ends of each type. */
enum { SPECIALS = 12 };

static int specials(Scalar elem, ScalarValue out[SPECIALS])
{
    static const char *const named[] = {"lowest", "highest", "inf", "nan"};
    int n = 0;
    for (int i = 0; i < (int)(sizeof named / sizeof *named); i++)
        n += scalar_named(elem, named[i], &out[n]);
    if (!scalar_is_float(elem))
        return n;
    out[n++] = scalar_float(elem, -INFINITY);
    out[n++] = scalar_float(elem, -0.0);
    /* The smallest normal number and the smallest one, by bits. */
    static const struct { Scalar type; uint64_t normal; } smallest[] = {{SC_F16, 0x400}, {SC_BF16, 0x80}, {SC_F32, 0x800000}, {SC_F64, 1ull << 52}};
    for (size_t i = 0; i < sizeof smallest / sizeof *smallest; i++)
        if (smallest[i].type == elem) {
            uint64_t one = 1;
            out[n] = scalar_load(elem, &smallest[i].normal);
            out[n + 1] = scalar_load(elem, &one);
            out[n + 2] = scalar_float(elem, -out[n + 1].f);
            n += 3;
        }
    return n;
}

static bool is_special(Scalar elem, ScalarValue v)
{
    ScalarValue all[SPECIALS];
    int n = specials(elem, all);
    for (int i = 0; i < n; i++)
        if (scalar_is_float(elem) ? (v.f != v.f && all[i].f != all[i].f) || (v.f == all[i].f && !signbit(v.f) == !signbit(all[i].f)) : v.u == all[i].u)
            return true;
    return false;
}

/* The numbers that an operator's text mentions: it may do something of its own with them. */
enum { MOST_MENTIONED = 16 };
typedef struct Mentioned {
    int n;
    ScalarValue at[MOST_MENTIONED];
} Mentioned;

static void find_mentioned(const Core *term, Mentioned *out)
{
    if (term->kind == CORE_LIT && term->lit.type != SC_BOOL && out->n < MOST_MENTIONED)
        out->at[out->n++] = term->lit;
    for (int i = 0; i < term_children(term); i++)
        find_mentioned(term_child(term, i), out);
}

static ScalarValue any_value(Scalar elem, int trial, bool special, const Mentioned *mentioned, uint64_t *state)
{
    static const int64_t spreads[] = {1, 2, 8, 100};
    ScalarValue all[SPECIALS];
    int n = special ? specials(elem, all) : 0;
    if (n && sample_random(state) % 3)
        return all[sample_random(state) % (uint64_t)n];
    if (!special && mentioned->n && sample_random(state) % 4 == 0) {
        ScalarValue lit = mentioned->at[sample_random(state) % (uint64_t)mentioned->n];
        if (lit.type == elem && !is_special(elem, lit))
            return lit;
    }
    /* Small values meet each other; any integers show what overflows. */
    int64_t spread = spreads[trial % 4], v = (int64_t)(sample_random(state) % (uint64_t)(2 * spread + 1)) - spread;
    if (trial % 8 == 7 && scalar_is_int(elem))
        return scalar_int(elem, (int64_t)sample_random(state));
    if (scalar_is_float(elem))
        return scalar_float(elem, (double)v);
    return scalar_int(elem, scalar_is_signed(elem) ? v : v + spread);
}

/* ---- one trial ------------------------------------------------------------------------------------------------------------- */

typedef enum Verdict { SAME, ZERO_SIGNS, UNDECIDED, OTHER } Verdict;

typedef struct Trying {
    Ctx *ctx;
    const CoreEntry *entry;
    int half;     /* components of a side */
    bool chooses; /* the operator decides by floats */
    double within; /* what the declaration allows, relative to the values; 0: nothing */
    Launch run;
} Trying;

static bool is_zero(ScalarValue v, Scalar elem) { return scalar_is_float(elem) && v.f == 0; }

static Verdict compared(const HostBuf *a, const HostBuf *b, int64_t cell)
{
    int bytes = scalar_bytes(a->elem);
    ScalarValue x = scalar_load(a->elem, a->bytes + cell * bytes), y = scalar_load(b->elem, b->bytes + cell * bytes);
    if (memcmp(a->bytes + cell * bytes, b->bytes + cell * bytes, (size_t)bytes) == 0 || (scalar_is_float(a->elem) && x.f != x.f && y.f != y.f))
        return SAME;
    return is_zero(x, a->elem) && is_zero(y, a->elem) ? ZERO_SIGNS : OTHER;
}

/* Of a type's bits, as many as a few operations may spoil. */
static double rounding_of(Scalar elem)
{
    return elem == SC_F16 ? 0x1p-6 : elem == SC_BF16 ? 0x1p-4 : 0x1p-14;
}

static double magnitude(ScalarValue v) { return isfinite(v.f) ? fabs(v.f) : 0; }

typedef struct Inputs {
    bool nan, infinite;
    double largest, rounding;
} Inputs;

static Inputs look_at(const Launch *launch)
{
    Inputs in = {.largest = 1};
    for (int i = 0; i < launch->n_buffers; i++)
        for (int64_t k = 0; scalar_is_float(launch->buffers[i].elem) && k < launch->buffers[i].count; k++) {
            const HostBuf *buf = &launch->buffers[i];
            ScalarValue v = scalar_load(buf->elem, buf->bytes + k * scalar_bytes(buf->elem));
            in.nan |= isnan(v.f);
            in.infinite |= isinf(v.f);
            in.largest = fmax(in.largest, magnitude(v));
            in.rounding = fmax(in.rounding, rounding_of(buf->elem));
        }
    return in;
}

static Verdict within(const HostBuf *a, const HostBuf *b, int64_t cell, double relative, double largest)
{
    int bytes = scalar_bytes(a->elem);
    ScalarValue x = scalar_load(a->elem, a->bytes + cell * bytes), y = scalar_load(b->elem, b->bytes + cell * bytes);
    if (!scalar_is_float(a->elem))
        return UNDECIDED; /* an integer that a rounded number chose */
    return fabs(x.f - y.f) <= relative * largest ? SAME : OTHER;
}

/* The largest of the inputs and of what is made of them: one component's rounding goes into the others. */
static double largest_of(const Trying *t, double largest)
{
    for (int i = 0; i < 2 * t->half; i++)
        for (int64_t k = 0; scalar_is_float(t->run.results[i].elem) && k < t->run.results[i].count; k++)
            largest = fmax(largest, magnitude(scalar_load(t->run.results[i].elem, t->run.results[i].bytes + k * scalar_bytes(t->run.results[i].elem))));
    return largest;
}

/* Note [Trials of an operator]. */
static Verdict decide(Trying *t, const Launch *launch)
{
    Inputs in = look_at(launch);
    t->run = *launch;
    feclearexcept(FE_ALL_EXCEPT);
    if (!sample_run(t->ctx, t->entry, &t->run))
        return UNDECIDED;
    int raised = fetestexcept(FE_ALL_EXCEPT), half = t->half;
    if ((raised & (FE_OVERFLOW | FE_UNDERFLOW)) || (in.nan && !t->chooses) || ((raised & FE_INVALID) && in.infinite && !in.nan))
        return UNDECIDED;
    double relative = t->within > 0 ? t->within : raised & FE_INEXACT ? in.rounding : 0;
    double largest = largest_of(t, in.largest);
    Verdict all = SAME;
    for (int i = 0; i < half; i++)
        for (int64_t k = 0; k < t->run.results[i].count; k++) {
            const HostBuf *a = &t->run.results[i], *b = &t->run.results[half + i];
            Verdict v = compared(a, b, k);
            if (v == OTHER && relative > 0)
                v = within(a, b, k, relative, largest);
            all = v > all ? v : all;
        }
    return all;
}

/* Whether it decides by a float, and does not only calculate. */
static bool chooses(const Core *term)
{
    static const PrimId choosing[] = {P_lt, P_le, P_gt, P_ge, P_eq, P_ne, P_min, P_max};
    bool found = false;
    for (size_t i = 0; term->kind == CORE_PRIM && i < sizeof choosing / sizeof *choosing; i++)
        found |= term->prim.id == choosing[i] && term->prim.args[0]->type->kind == TY_SCALAR && scalar_is_float(term->prim.args[0]->type->scalar);
    for (int i = 0; i < term_children(term) && !found; i++)
        found = chooses(term_child(term, i));
    return found;
}

static bool differs(void *user, const Launch *launch) { return decide(user, launch) == OTHER; }

/* ---- many -------------------------------------------------------------------------------------------------------------------- */

static void fill(const Launch *launch, int trials, bool special, const Mentioned *mentioned, uint64_t *state)
{
    for (int i = 0; i < launch->n_buffers; i++) {
        const HostBuf *buf = &launch->buffers[i];
        int64_t each = buf->count / trials;
        for (int64_t k = 0; each && k < buf->count; k++)
            scalar_store(any_value(buf->elem, (int)(k / each), special, mentioned, state), buf->bytes + k * scalar_bytes(buf->elem));
    }
}

/* Number k of many, by itself. */
static void pick(const Launch *many, const Launch *one, int trials, int k)
{
    for (int i = 0; i < many->n_buffers; i++) {
        const HostBuf *from = &many->buffers[i], *to = &one->buffers[i];
        int64_t bytes = from->count / trials * scalar_bytes(from->elem);
        memcpy(to->bytes, from->bytes + k * bytes, (size_t)bytes);
    }
}

static bool trial_differs(const Launch *many, int half, int trials, int k, bool *zeros)
{
    bool other = false;
    for (int i = 0; i < half; i++) {
        int64_t each = many->results[i].count / trials;
        for (int64_t c = 0; c < each; c++) {
            Verdict v = compared(&many->results[i], &many->results[half + i], k * each + c);
            *zeros |= v == ZERO_SIGNS;
            other |= v == OTHER;
        }
    }
    return other;
}

static bool any_special(const Launch *launch)
{
    for (int i = 0; i < launch->n_buffers; i++)
        for (int64_t k = 0; k < launch->buffers[i].count; k++) {
            const HostBuf *buf = &launch->buffers[i];
            if (is_special(buf->elem, scalar_load(buf->elem, buf->bytes + k * scalar_bytes(buf->elem))))
                return true;
        }
    return false;
}

/* A trial of a claim that shows it to be false; as plain as it can be. */
static bool find_counter(Ctx *ctx, const LawOperator *op, const Claim *claim, bool from_unit, bool special, uint64_t seed, OperatorReport *out)
{
    const SampleInputs how = {.seed = seed};
    const Law *law = declared(op->declared, claim->name);
    const Ast *within = law ? law->within : NULL;
    CoreEntry *batch = claim_entry(ctx, op, claim, from_unit, BATCH);
    Trying t = {.ctx = ctx, .entry = claim_entry(ctx, op, claim, from_unit, 0), .half = type_component_count(op->lambda->lambda.params[0]->type), .chooses = chooses(op->lambda)};
    Launch many, one;
    t.within = !within ? 0 : within->kind == AST_FLOAT ? within->floating.value : within->kind == AST_INT ? (double)within->integer.value : 0;
    if (!sample_launch(ctx, batch, NULL, &how, &many) || !sample_launch(ctx, t.entry, NULL, &how, &one))
        return false;
    Mentioned mentioned = {0};
    find_mentioned(op->lambda->lambda.body, &mentioned);
    fill(&many, BATCH, special, &mentioned, &seed);
    if (!sample_run(ctx, batch, &many))
        return false;
    out->trials += BATCH;
    for (int k = 0; k < BATCH; k++) {
        if (!trial_differs(&many, t.half, BATCH, k, &out->zeros))
            continue;
        pick(&many, &one, BATCH, k);
        if (!differs(&t, &one))
            continue;
        sample_shrink_values(ctx, &one, differs, &t);
        differs(&t, &one);
        out->law = claim->name;
        out->left = side_text(ctx, op, claim->left);
        out->right = side_text(ctx, op, claim->right);
        out->special = special && any_special(&one);
        out->entry = t.entry;
        out->launch = t.run;
        out->half = t.half;
        out->n_values = strchr(claim->left, 'a') ? claim->n : 0;
        return true;
    }
    return false;
}

/* Whether a claim is made at all. */
static bool is_made(const LawOperator *op, const Claim *claim)
{
    return strcmp(claim->name, "unit") == 0 ? op->unit && op->declared->unit : declared(op->declared, claim->name) && (!strchr(claim->left, 'u') || op->unit);
}

/* Of plain numbers the unit comes last: an operator that is not associative has more wrong than that. */
static bool any_claim_fails(Ctx *ctx, const LawOperator *op, bool from_unit, bool special, uint64_t seed, OperatorReport *out)
{
    for (int k = 0; k < CLAIMS; k++) {
        const Claim *claim = &claims[special ? k : (k + UNIT_CLAIMS) % CLAIMS];
        if (is_made(op, claim) && find_counter(ctx, op, claim, from_unit, special, seed, out))
            return true;
    }
    return from_unit && find_counter(ctx, op, &taking_in, from_unit, special, seed, out);
}

/* Of the elements of a program, and of what the operator makes of two of them. */
static bool any_counter(Ctx *ctx, const LawOperator *op, bool from_unit, bool special, uint64_t seed, OperatorReport *out)
{
    LawOperator pairs = *op;
    pairs.in_pairs = true;
    return any_claim_fails(ctx, op, from_unit, special, seed, out) || (op->element && any_claim_fails(ctx, &pairs, from_unit, special, seed, out));
}

/* Values of indices have a range of their own, and are not tried. */
static bool has_index(Type t)
{
    bool found = t->kind == TY_IDX || ((t->kind == TY_ARRAY || t->kind == TY_VEC) && has_index(t->elem));
    for (int i = 0; t->kind == TY_TUPLE && i < t->n_items && !found; i++)
        found = has_index(t->items[i]);
    return found;
}

void law_test_operator(Ctx *ctx, const LawOperator *op, uint64_t seed, OperatorReport *out)
{
    *out = (OperatorReport){0};
    if (has_index(input_type(ctx, op)))
        return;
    if (!any_counter(ctx, op, false, false, seed, out) && !any_counter(ctx, op, false, true, seed, out))
        return;
    OperatorReport begun = {0};
    out->from_unit = op->unit && !any_counter(ctx, op, true, false, seed, &begun) && !any_counter(ctx, op, true, true, seed, &begun);
    out->trials += begun.trials;
}

/* ---- what a program makes -------------------------------------------------------------------------------------------------- */

/* A variable of which an element is worked out: any value of its type. False: it has none that can be tried. */
static bool add_free(LawOperator *op, CoreVar *var)
{
    for (int i = 0; i < op->n_free; i++)
        if (op->free[i] == var)
            return true;
    if (op->n_free == LAW_FREE || has_index(var->type) || var->type->kind == TY_ARRAY)
        return false;
    op->free[op->n_free++] = var;
    return true;
}

/* Whether the term is worked out from constants and variables that can be tried; those of `op` are noted. */
static bool find_free(LawOperator *op, const Core *term, const Core *scope)
{
    if (term->kind == CORE_VAR && !term_binds(scope, term->var) && !add_free(op, term->var))
        return false;
    if (term->kind == CORE_SIZE && !nat_is_const(term->size))
        return false;
    for (int i = 0; term->kind == CORE_PRIM && i < term->prim.n_nats; i++)
        if (!nat_is_const(term->prim.nats[i]))
            return false;
    for (int i = 0; i < term_children(term); i++)
        if (!find_free(op, term_child(term, i), scope))
            return false;
    return true;
}

/* An element of an array, as far as its text says how it is worked out. */
static Core *element_of(Building *b, const Core *array)
{
    if (array->kind == CORE_PRIM && array->prim.id == P_map) {
        const Core *f = array->prim.args[0];
        return let(b, f->lambda.params[0], element_of(b, array->prim.args[1]), f->lambda.body);
    }
    if (array->kind == CORE_PRIM && (array->prim.id == P_zip || array->prim.id == P_zip3)) {
        Core *items[MOST_VARS];
        for (int i = 0; i < array->prim.n_args; i++)
            items[i] = element_of(b, array->prim.args[i]);
        return tuple(b, array->prim.n_args, items);
    }
    return variable(b, fresh(b, "element", array->type->elem));
}

bool law_of_elements(Ctx *ctx, LawOperator *op, const Core *array)
{
    Building b = {.ctx = ctx, .op = op, .next_var = op->next_var};
    Core *element = element_of(&b, array);
    LawOperator made = *op;
    if (element->kind == CORE_VAR || element->type != op->lambda->lambda.params[0]->type || !find_free(&made, element, element) || !made.n_free)
        return false;
    made.element = element;
    made.next_var = b.next_var;
    *op = made;
    return true;
}

/* ---- of a file ---------------------------------------------------------------------------------------------------------------- */

/* Without variables of what stands around it. */
static bool is_closed(const Core *term)
{
    bool closed = term->kind != CORE_VAR && term->kind != CORE_LET && term->kind != CORE_LAMBDA;
    for (int i = 0; i < term_children(term) && closed; i++)
        closed = is_closed(term_child(term, i));
    return closed;
}

static const Core *find_fold(const Core *term)
{
    if (term->kind == CORE_PRIM && term->prim.id == P_reduceSeq)
        return term;
    const Core *found = NULL;
    for (int i = 0; i < term_children(term) && !found; i++)
        found = find_fold(term_child(term, i));
    return found;
}

LawOperator law_operator(const Core *lambda, Core *unit, int next_var)
{
    return (LawOperator){.lambda = lambda, .unit = unit && is_closed(unit) ? unit : NULL, .declared = lambda->lambda.op, .next_var = next_var};
}

LawOperator law_operator_alone(const Core *lambda, Core *unit)
{
    const CoreEntry only = {.body = (Core *)(uintptr_t)lambda};
    return law_operator(lambda, unit, term_next_var(&only));
}

bool law_operator_of(Ctx *ctx, const LawFile *file, const Item *operator, LawOperator *out)
{
    StrBuf sb, type, unit;
    sb_init(&sb, ctx);
    sb_init(&type, ctx);
    sb_init(&unit, ctx);
    ast_print(&type, operator->result);
    if (operator->unit)
        ast_print(&unit, operator->unit);
    /* The operator's own core, as the function of a fold. */
    sb_printf(&sb, "%.*s\nentry lawOperator {lawSize: nat} (lawFirst: %s) (lawRest: lawSize.%s): %s = reduceSeq(%s, %s, lawRest)\n", (int)file->size, file->text, type.text,
              type.text, type.text, operator->name, operator->unit ? unit.text : "lawFirst");
    Program *program = program_from_text(ctx, file->path, sb.text, sb.len);
    const CoreEntry *entry = elab_entry(ctx, program, program_entry_count(program) - 1, 0, NULL);
    const Core *fold = entry ? find_fold(entry->body) : NULL;
    if (!fold)
        return false;
    *out = law_operator(fold->prim.args[0], operator->unit ? fold->prim.args[1] : NULL, term_next_var(entry));
    out->declared = operator;
    return true;
}
