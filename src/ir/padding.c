/* Note [Samples]
 * A term is evaluated on a few representatives, all of its elements at once: lane 0 is what stands where the padding is, the other lanes are what might stand elsewhere. An
 * array, an element of it and a scalar look alike; `axes` says along which axes of an array padding and elements lie beside each other. Whatever is not followed (indices,
 * gathers, windows) is not known, and what is made of it neither, so that nothing is said about it.
 *
 * A fold is asked what it makes of the padding after accumulators that it can come to: its start, and what it makes of that and the samples. */
#include "ir/padding.h"

#include <math.h>

#include "ir/scalar.h"

enum { LANES = 7, MOST_STEPS = 20000 };

typedef struct Rep Rep;
struct Rep {
    int n; /* of a tuple; 0: a scalar, or an array of scalars */
    Rep **items; /* each may be NULL: not known */
    ScalarValue lane[LANES];
    bool anywhere; /* lane 0 means something: a scalar is the same everywhere */
    bool padded;   /* lane 0 is padding */
    unsigned axes;
    Nat elements;  /* beside the padding */
    const Core *pad;
};

typedef struct Bound {
    const CoreVar *var;
    const Rep *rep;
    const struct Bound *up;
} Bound;

typedef struct Walk {
    Ctx *ctx;
    const CoreEntry *entry;
    int steps;
    int quiet; /* inside the question what a fold makes of its padding */
} Walk;

static Rep *eval(Walk *w, const Core *term, const Bound *env);

/* ---- representatives ----------------------------------------------------------------------------------------------------- */

static Rep *rep_new(Walk *w) { return NEW(w->ctx, Rep); }

static Rep *copy_of(Walk *w, const Rep *rep)
{
    Rep *r = rep_new(w);
    *r = *rep;
    return r;
}

static ScalarValue sample(Scalar type, int k)
{
    static const double floats[LANES] = {1.5, 1, -33, 0.5, -0.25, 7, -2};
    static const int whole[LANES] = {6, 1, -33, 5, -4, 7, -2};
    if (type == SC_BOOL)
        return scalar_int(type, k % 2);
    if (scalar_is_float(type))
        return scalar_float(type, floats[k]);
    return scalar_int(type, scalar_is_signed(type) ? whole[k] : whole[k] < 0 ? -whole[k] : whole[k]);
}

/* What an input holds. NULL: not known, as of indices and vectors. */
static Rep *rep_of_type(Walk *w, Type t, bool scalar)
{
    while (t->kind == TY_ARRAY) {
        t = t->elem;
        scalar = false;
    }
    Rep *r = rep_new(w);
    if (t->kind == TY_TUPLE) {
        r->n = t->n_items;
        r->items = NEWN(w->ctx, Rep *, r->n);
        for (int i = 0; i < r->n; i++)
            r->items[i] = rep_of_type(w, t->items[i], scalar);
        return r;
    }
    if (t->kind != TY_SCALAR)
        return NULL;
    for (int k = 0; k < LANES; k++)
        r->lane[k] = sample(t->scalar, k);
    r->anywhere = scalar;
    return r;
}

static Rep *rep_of_value(Walk *w, ScalarValue value)
{
    Rep *r = rep_new(w);
    for (int k = 0; k < LANES; k++)
        r->lane[k] = value;
    r->anywhere = true;
    return r;
}

/* The same elements, of which it is not known whether the padding is among them. */
static Rep *unpadded(Walk *w, const Rep *rep)
{
    if (!rep)
        return NULL;
    Rep *r = copy_of(w, rep);
    r->padded = r->anywhere = false;
    r->axes = 0;
    if (r->n) {
        r->items = NEWN(w->ctx, Rep *, r->n);
        for (int i = 0; i < r->n; i++)
            r->items[i] = unpadded(w, rep->items[i]);
    }
    return r;
}

static unsigned axes_of_split(unsigned axes) { return (axes & ~1u) << 1 | (axes & 1 ? 3 : 0); }
static unsigned axes_of_join(unsigned axes) { return (axes >> 1 & ~1u) | (axes & 3 ? 1 : 0); }
static unsigned axes_of_transpose(unsigned axes) { return (axes & ~3u) | (axes & 1) << 1 | (axes >> 1 & 1); }
static unsigned axes_of_element(unsigned axes) { return axes >> 1; }

static Rep *with_axes(Walk *w, const Rep *rep, unsigned (*change)(unsigned axes))
{
    if (!rep)
        return NULL;
    Rep *r = copy_of(w, rep);
    r->axes = change(r->axes);
    if (r->n) {
        r->items = NEWN(w->ctx, Rep *, r->n);
        for (int i = 0; i < r->n; i++)
            r->items[i] = with_axes(w, rep->items[i], change);
    }
    return r;
}

/* Whether this padding lies along the outermost axis. */
static bool lies_outside(const Rep *rep, const Core *pad)
{
    if (!rep)
        return false;
    bool found = rep->padded && rep->pad == pad && rep->axes & 1;
    for (int i = 0; i < rep->n; i++)
        found |= lies_outside(rep->items[i], pad);
    return found;
}

/* The elements that a map makes are an array again. */
static Rep *mapped(Walk *w, const Rep *made, const Rep *from)
{
    if (!made)
        return NULL;
    Rep *r = copy_of(w, made);
    r->anywhere = made->padded;
    r->axes = made->axes << 1 | (made->padded && lies_outside(from, made->pad) ? 1 : 0);
    if (r->n) {
        r->items = NEWN(w->ctx, Rep *, r->n);
        for (int i = 0; i < r->n; i++)
            r->items[i] = mapped(w, made->items[i], from);
    }
    return r;
}

/* One lane everywhere; NULL where it means nothing. */
static Rep *only_lane0(Walk *w, const Rep *rep)
{
    if (!rep || (!rep->n && !rep->anywhere))
        return NULL;
    Rep *r = rep->n ? copy_of(w, rep) : rep_of_value(w, rep->lane[0]);
    if (rep->n) {
        r->items = NEWN(w->ctx, Rep *, r->n);
        for (int i = 0; i < rep->n; i++)
            if (!(r->items[i] = only_lane0(w, rep->items[i])))
                return NULL;
    }
    return r;
}

/* The first scalar that is padding along the outermost axis. */
static const Rep *folded_padding(const Rep *rep)
{
    if (!rep)
        return NULL;
    if (!rep->n)
        return rep->padded && rep->axes & 1 ? rep : NULL;
    const Rep *found = NULL;
    for (int i = 0; i < rep->n && !found; i++)
        found = folded_padding(rep->items[i]);
    return found;
}

/* ---- folds --------------------------------------------------------------------------------------------------------------- */

static Rep *apply(Walk *w, const Core *f, int n, Rep *const *args, const Bound *env)
{
    if (f->kind != CORE_LAMBDA || f->lambda.n != n || f->lambda.n_nats)
        return NULL;
    for (int i = 0; i < n; i++) {
        Bound *b = NEW(w->ctx, Bound);
        *b = (Bound){f->lambda.params[i], args[i], env};
        env = b;
    }
    return eval(w, f->lambda.body, env);
}

static bool same_value(ScalarValue a, ScalarValue b)
{
    if (!scalar_is_float(a.type))
        return a.i == b.i;
    return a.f == b.f || isnan(a.f) || isnan(b.f);
}

/* A lane in which they differ; 0: none, -1: not known. */
static int differing_lane(const Rep *a, const Rep *b)
{
    if (!a || !b || a->n != b->n)
        return -1;
    for (int i = 0; i < a->n; i++) {
        int k = differing_lane(a->items[i], b->items[i]);
        if (k)
            return k;
    }
    for (int k = 1; k < LANES && !a->n; k++)
        if (a->lane[k].type != b->lane[k].type)
            return -1;
        else if (!same_value(a->lane[k], b->lane[k]))
            return k;
    return 0;
}

/* What a fold has done after a few elements. */
typedef struct Reached {
    Rep *acc[3];
} Reached;

/* As differing_lane, of accumulators and what the fold makes of them and a value; *at: which accumulator. */
static int changes(Walk *w, const Core *f, const Reached *reached, const Rep *value, const Bound *env, int *at)
{
    static const int plainest[] = {1, 2, 0};
    for (int i = 0; i < 3; i++) {
        *at = plainest[i];
        Rep *args[2] = {reached->acc[*at], (Rep *)value};
        int k = differing_lane(apply(w, f, 2, args, env), reached->acc[*at]);
        if (k)
            return k;
    }
    return 0;
}

/* By its name, where it has one. */
static void put_scalar(StrBuf *sb, ScalarValue value)
{
    static const char *const names[] = {"inf", "lowest", "highest"};
    ScalarValue named;
    for (int i = 0; i < 3; i++) {
        bool plain = scalar_is_float(value.type) ? i == 2 : i == 1 && !scalar_is_signed(value.type);
        if (plain || !scalar_named(value.type, names[i], &named))
            continue;
        bool negative = i == 0 && value.f == -named.f;
        if (negative || same_value(named, value)) {
            sb_printf(sb, "%s%s", negative ? "-" : "", names[i]);
            return;
        }
    }
    scalar_value_print(sb, value);
}

static void put_value(StrBuf *sb, const Rep *rep, int k)
{
    if (!rep->n)
        put_scalar(sb, rep->lane[k]);
    for (int i = 0; i < rep->n; i++) {
        sb_puts(sb, i ? ", " : "(");
        put_value(sb, rep->items[i], k);
    }
    sb_puts(sb, rep->n ? ")" : "");
}

static const char *value_text(Ctx *ctx, const Rep *rep, int k)
{
    StrBuf sb;
    sb_init(&sb, ctx);
    put_value(&sb, rep, k);
    return sb.text;
}

static bool is_literal(const Core *term, ScalarValue value) { return term->kind == CORE_LIT && term->lit.type == value.type && same_value(term->lit, value); }

static void warn(Walk *w, const Core *fold, const Rep *padding, const Rep *value, const Rep *before, const Rep *after, int lane, const Rep *neutral)
{
    Ctx *ctx = w->ctx;
    if (item_accepts(w->entry->item, W0706))
        return;
    Span span = padding->pad->span.file ? padding->pad->span : fold->span;
    Diag *d = diag_warning(ctx, W0706, span, "this padding changes what the fold that reads it gives");
    const char *put = value_text(ctx, &(Rep){.lane[0] = padding->pad->lit}, 0), *read = value_text(ctx, value, 0);
    diag_label(ctx, d, "%s%s%s makes %s of %s", put, strcmp(put, read) == 0 ? "" : ", read as ", strcmp(put, read) == 0 ? "" : ctx_printf(ctx, "%s,", read),
               after ? value_text(ctx, after, lane) : "another result", value_text(ctx, before, lane));
    if (fold->span.file)
        diag_note(ctx, d, fold->span, "the fold");
    if (neutral)
        diag_propose(ctx, d, padding->pad->span.file ? padding->pad->span : NO_SPAN, "pad with what the fold starts from: $", "%s", value_text(ctx, neutral, 0));
}

static void check_fold(Walk *w, const Core *term, const Core *f, Rep *start, const Rep *xs, const Bound *env)
{
    const Rep *padding = folded_padding(xs);
    if (w->quiet || !padding || !start)
        return;
    const Rep *element = with_axes(w, xs, axes_of_element), *value = only_lane0(w, element);
    if (!value)
        return;
    w->quiet++;
    Rep *others = unpadded(w, element);
    Reached reached = {{start}};
    for (int i = 1; i < 3; i++) {
        Rep *args[2] = {reached.acc[i - 1], others};
        reached.acc[i] = reached.acc[i - 1] ? apply(w, f, 2, args, env) : NULL;
    }
    int at, lane = changes(w, f, &reached, value, env, &at);
    if (lane > 0) {
        Rep *args[2] = {reached.acc[at], (Rep *)value};
        Rep *after = apply(w, f, 2, args, env);
        int other;
        /* The start in its place, where nothing happens to the padding on its way. */
        bool direct = !xs->n && !start->n && is_literal(padding->pad, padding->lane[0]) && start->lane[0].type == padding->lane[0].type;
        bool better = direct && changes(w, f, &reached, start, env, &other) == 0;
        warn(w, term, padding, value, reached.acc[at], after, lane, better ? start : NULL);
    }
    w->quiet--;
}

/* A fold or scan: f, start, xs. */
static Rep *eval_fold(Walk *w, const Core *term, bool keeps_axis, const Bound *env)
{
    const Core *f = term->prim.args[0];
    Rep *start = eval(w, term->prim.args[1], env), *xs = eval(w, term->prim.args[2], env);
    if (!start || !xs)
        return NULL;
    check_fold(w, term, f, start, xs, env);
    Rep *args[2] = {start, with_axes(w, xs, axes_of_element)};
    Rep *r = apply(w, f, 2, args, env);
    return r && r->axes && !keeps_axis ? r : unpadded(w, r);
}

/* ---- terms --------------------------------------------------------------------------------------------------------------- */

static Rep *eval_pad(Walk *w, const Core *term, const Bound *env)
{
    const Core *c = term->prim.args[0];
    Rep *value = eval(w, c, env), *xs = eval(w, term->prim.args[1], env);
    const Nat *nats = term->prim.nats;
    bool none = term->prim.id == P_padTo ? nat_divides(w->ctx, w->entry->known, nats[1], nats[0]) : nat_is(nats[1], 0) && nat_is(nats[2], 0);
    if (!xs || none)
        return xs;
    if (!value || value->n || xs->n || !value->anywhere || value->lane[0].type != xs->lane[0].type || c->kind != CORE_LIT)
        return unpadded(w, xs);
    Rep *r = copy_of(w, xs);
    r->lane[0] = value->lane[0];
    r->anywhere = r->padded = true;
    r->axes = xs->padded ? xs->axes | 1 : 1;
    r->elements = nats[0];
    r->pad = c;
    return r;
}

static Rep *eval_scalar(Walk *w, const Core *term, const Bound *env)
{
    Rep *args[3] = {0}, *r = rep_new(w);
    int n = term->prim.n_args;
    if (n > 3 || term->type->kind != TY_SCALAR || term->prim.id == P_indexOr)
        return NULL;
    r->anywhere = true;
    for (int i = 0; i < n; i++) {
        const Rep *a = args[i] = eval(w, term->prim.args[i], env);
        if (!a || a->n)
            return NULL;
        bool other = r->padded && a->padded && r->elements != a->elements;
        r->anywhere &= a->anywhere && !other;
        if (a->padded && !r->padded) {
            r->padded = true;
            r->elements = a->elements;
            r->pad = a->pad;
        }
        r->axes |= a->axes;
    }
    for (int k = 0; k < LANES; k++) {
        ScalarValue values[3];
        for (int i = 0; i < n; i++)
            values[i] = args[i]->lane[k];
        r->lane[k] = term->prim.id == P_cast ? scalar_cast(term->type->scalar, values[0]) : scalar_apply(term->prim.id, values[term->prim.id == P_select].type, values);
    }
    r->padded &= r->anywhere;
    return r;
}

static Rep *eval_tuple(Walk *w, int n, Core *const *items, const Bound *env)
{
    Rep *r = rep_new(w);
    r->n = n;
    r->items = NEWN(w->ctx, Rep *, n);
    for (int i = 0; i < n; i++)
        r->items[i] = eval(w, items[i], env);
    return r;
}

static Rep *eval_map(Walk *w, const Core *term, const Bound *env)
{
    Rep *xs = eval(w, term->prim.args[1], env);
    Rep *element = with_axes(w, xs, axes_of_element);
    return mapped(w, apply(w, term->prim.args[0], 1, &element, env), xs);
}

static Rep *eval_prim(Walk *w, const Core *term, const Bound *env)
{
    Core *const *args = term->prim.args;
    switch (term->prim.id) {
    case P_id: case P_readOnce: case P_keepCached: case P_readTogether: case P_reverse: case P_stride: case P_toGlobal: case P_toShared: case P_toPrivate: case P_unzip: case P_padClamp:
        return eval(w, args[0], env);
    case P_reorder:
        return eval(w, args[1], env);
    case P_split:
        return with_axes(w, eval(w, args[0], env), axes_of_split);
    case P_join:
        return with_axes(w, eval(w, args[0], env), axes_of_join);
    case P_transpose:
        return with_axes(w, eval(w, args[0], env), axes_of_transpose);
    case P_zip: case P_zip3: case P_zip4:
        return eval_tuple(w, term->prim.n_args, args, env);
    case P_padTo: case P_padCst:
        return eval_pad(w, term, env);
    case P_take: case P_drop: case P_slide: case P_splitDrop: case P_single: case P_index: case P_shflDown: case P_shflUp: case P_shflXor: case P_broadcast:
        return unpadded(w, eval(w, args[0], env));
    case P_map: case P_mapSeq: case P_mapSeqUnroll: case P_mapGlobal: case P_mapBlock: case P_mapThreads: case P_mapWarp: case P_mapLane:
        return eval_map(w, term, env);
    case P_reduce: case P_reduceSeq: case P_reduceSeqUnroll: case P_atomicReduce:
        return eval_fold(w, term, false, env);
    case P_scan: case P_scanExcl: case P_scanSeq: case P_scanSeqExcl:
        return eval_fold(w, term, true, env);
    case P_nextKernel: case P_lastBlock: case P_gridSync: {
        Rep *x = eval(w, args[1], env);
        return apply(w, args[0], 1, &x, env);
    }
    default:
        return prim_rows[term->prim.id].level == LEVEL_SCALAR ? eval_scalar(w, term, env) : NULL;
    }
}

static Rep *eval_if(Walk *w, const Core *term, const Bound *env)
{
    Rep *cond = eval(w, term->cond.cond, env), *a = eval(w, term->cond.then, env), *b = eval(w, term->cond.otherwise, env);
    if (!cond || !a || !b || a->n || b->n || a->axes || b->axes)
        return NULL;
    Rep *r = copy_of(w, a->padded ? a : b->padded ? b : cond->padded ? cond : a);
    bool other = (a->padded && a->elements != r->elements) || (b->padded && b->elements != r->elements) || (cond->padded && cond->elements != r->elements);
    for (int k = 0; k < LANES; k++)
        r->lane[k] = cond->lane[k].i ? a->lane[k] : b->lane[k];
    r->anywhere = cond->anywhere && (cond->lane[0].i ? a : b)->anywhere && !other;
    r->padded &= r->anywhere;
    return r;
}

static Rep *eval(Walk *w, const Core *term, const Bound *env)
{
    if (++w->steps > MOST_STEPS)
        return NULL;
    switch (term->kind) {
    case CORE_VAR:
        for (; env; env = env->up)
            if (env->var == term->var)
                return (Rep *)env->rep;
        return NULL;
    case CORE_LIT:
        return rep_of_value(w, term->lit);
    case CORE_SIZE:
        if (term->type->kind != TY_SCALAR || !nat_is_const(term->size))
            return NULL;
        return rep_of_value(w, scalar_is_float(term->type->scalar) ? scalar_float(term->type->scalar, (double)term->size->value) : scalar_int(term->type->scalar, term->size->value));
    case CORE_PRIM:
        return eval_prim(w, term, env);
    case CORE_LET: {
        Bound b = {term->let.var, eval(w, term->let.value, env), env};
        return eval(w, term->let.body, &b);
    }
    case CORE_TUPLE:
        return eval_tuple(w, term->tuple.n, term->tuple.items, env);
    case CORE_PROJ: {
        Rep *value = eval(w, term->proj.value, env);
        return value && term->proj.index < value->n ? value->items[term->proj.index] : NULL;
    }
    case CORE_IF:
        return eval_if(w, term, env);
    case CORE_LAMBDA:
    case CORE_UNIT_ERROR:
        break;
    }
    return NULL;
}

void padding_check(Ctx *ctx, const CoreEntry *entry)
{
    Walk w = {.ctx = ctx, .entry = entry};
    const Bound *env = NULL;
    for (int i = 0; i < entry->n_inputs; i++) {
        Bound *b = NEW(ctx, Bound);
        *b = (Bound){entry->inputs[i], rep_of_type(&w, entry->inputs[i]->type, true), env};
        env = b;
    }
    eval(&w, entry->body, env);
}
