/* Scalars of a run: functions of them, and what looks at their values. On shadows (Note [Runs on shadows]) as well. */
#include "ir/interp_internal.h"

static ShadowValue *shadow_at(unsigned char *at) { return (ShadowValue *)(void *)at; }

static ShadowValue *new_shadow(Interp *in, const Code *code)
{
    return shadow_at(in->cells[code->at].at = interp_alloc(in, code->span, (int64_t)sizeof(ShadowValue)));
}

/* ---- numbers that the interpreter itself looks at ----------------------------------------------------------------- */

int64_t interp_number_at(const Interp *in, Scalar scalar, unsigned char *at, double *off)
{
    if (!in->shadow) {
        *off = 0;
        return scalar_load(scalar, at).i;
    }
    *off = shadow_at(at)->error;
    return shadow_at(at)->integer;
}

int64_t interp_number(const Interp *in, const Code *code, double *off)
{
    if (in->shadow)
        return interp_number_at(in, SC_I64, in->cells[code->at].at, off);
    *off = 0;
    return in->cells[code->at].i;
}

void interp_set_index(Interp *in, Span span, int cell, int64_t value)
{
    if (in->shadow)
        *shadow_at(in->cells[cell].at = interp_alloc(in, span, (int64_t)sizeof(ShadowValue))) = shadow_integer(value);
    else
        in->cells[cell].i = value;
}

bool interp_size_off(const Interp *in, const Size *size)
{
    for (int i = 0; size->nat && i < size->n_vars; i++)
        if (size->cells[i] < 0 && shadow_at(in->cells[~size->cells[i]].at)->error > 0)
            return true;
    return false;
}

/* ---- shadows of whole values ---------------------------------------------------------------------------------------- */

static int64_t scalars_of(const Comp *comp) { return comp->bytes / (int64_t)sizeof(ShadowValue); }

void interp_spoil(const Shape *row, const Cell *array, int64_t from, int64_t n)
{
    for (int k = 0; k < row->n; k++)
        for (int64_t i = from * scalars_of(&row->comps[k]); i < (from + n) * scalars_of(&row->comps[k]); i++)
            shadow_spoil(shadow_at(array[k].at) + i);
}

void interp_write_again(const Interp *in, const Shape *row, const Cell *array, int64_t to, const Cell *xs, int64_t from)
{
    for (int k = 0; k < row->n; k++) {
        int64_t n = scalars_of(&row->comps[k]);
        ShadowValue *cell = shadow_at(array[k].at) + to * n, *again = shadow_at(xs[k].at) + from * n;
        for (int64_t i = 0; i < n; i++)
            cell[i] = shadow_either(row->comps[k].scalar, &again[i], &cell[i], in->chain);
    }
}

void interp_close(const Interp *in, const Shape *row, const Cell *array, int64_t from, int64_t n, double chain)
{
    for (int k = 0; in->shadow && k < row->n; k++)
        for (int64_t i = from * scalars_of(&row->comps[k]); scalar_is_float(row->comps[k].scalar) && i < (from + n) * scalars_of(&row->comps[k]); i++)
            shadow_close(shadow_at(array[k].at) + i, chain);
}

/* The value of `code`: `taken`, that may be `other` as well. */
static void either(Interp *in, Code *code, const Cell *taken, const Cell *other)
{
    interp_refresh(in, code->shape);
    for (int k = 0; k < code->shape->n; k++) {
        const Comp *comp = &code->shape->comps[k];
        unsigned char *a = taken[k].at, *b = other[k].at, *to = interp_alloc(in, code->span, comp->bytes);
        for (int64_t i = 0; i < scalars_of(comp); i++)
            shadow_at(to)[i] = shadow_either(comp->scalar, shadow_at(a) + i, shadow_at(b) + i, in->chain);
        in->cells[code->at + k].at = to;
    }
}

void interp_choose(Interp *in, Code *code, Code *cond, Code *then, Code *otherwise)
{
    double off;
    bool holds = interp_number(in, cond, &off);
    Code *taken = holds ? then : otherwise, *other = holds ? otherwise : then;
    if (code->kind == CODE_IF)
        interp_eval(in, taken);
    if (off > 0) {
        if (code->kind == CODE_IF)
            interp_eval(in, other);
        either(in, code, &in->cells[taken->at], &in->cells[other->at]);
    } else {
        memmove(&in->cells[code->at], &in->cells[taken->at], sizeof(Cell) * (size_t)code->shape->n);
    }
}

/* ---- functions -------------------------------------------------------------------------------------------------------- */

static bool is_index(int64_t i, int64_t n) { return i >= 0 && i < n; }

static int64_t apply(Interp *in, const Code *code, Scalar to, const ScalarValue *args)
{
    if (code->id == P_cast)
        return scalar_cast(to, args[0]).i;
    if (code->id == P_indexOr)
        return is_index(args[1].i, interp_size(in, &code->nats[0])) ? args[1].i : args[0].i;
    return scalar_apply(code->id, code->scalar, args).i;
}

static ShadowValue index_or(const ShadowValue *instead, const ShadowValue *k, int64_t n)
{
    bool inside = is_index(k->integer, n);
    if (k->error == 0)
        return inside ? *k : *instead;
    double least = (double)k->integer - k->error, most = (double)k->integer + k->error;
    ShadowValue r = inside ? *k : *instead;
    if (most < 0 || least >= (double)n)
        return r;
    r.error = least >= 0 && most < (double)n ? k->error : INFINITY;
    return r;
}

/* `at`: where the operands are. Two at one address are one value. */
static ShadowValue apply_shadow(Interp *in, const Code *code, Scalar to, unsigned char *const *at)
{
    ShadowValue args[3];
    for (int k = 0; k < code->n; k++)
        args[k] = *shadow_at(at[k]);
    if (code->id == P_cast)
        return shadow_cast(to, code->args[0]->shape->comps[0].scalar, args, in->chain);
    if (code->id == P_indexOr)
        return index_or(&args[0], &args[1], interp_size(in, &code->nats[0]));
    if (code->id != P_select)
        return shadow_apply(code->id, code->scalar, args, code->n == 2 && at[0] == at[1], in->chain);
    const ShadowValue *taken = &args[args[0].integer ? 1 : 2], *other = &args[args[0].integer ? 2 : 1];
    return args[0].error > 0 ? shadow_either(to, taken, other, in->chain) : *taken;
}

static void eval_shadow(Interp *in, Code *code)
{
    unsigned char *at[3];
    for (int k = 0; k < code->n; k++) {
        interp_eval(in, code->args[k]);
        at[k] = in->cells[code->args[k]->at].at;
    }
    ShadowValue value = apply_shadow(in, code, code->shape->comps[0].scalar, at);
    *new_shadow(in, code) = value;
}

void interp_scalar(Interp *in, Code *code)
{
    if (in->shadow) {
        eval_shadow(in, code);
        return;
    }
    ScalarValue args[3];
    for (int k = 0; k < code->n; k++) {
        interp_eval(in, code->args[k]);
        args[k].type = code->args[k]->shape->comps[0].scalar;
        args[k].i = in->cells[code->args[k]->at].i;
    }
    in->cells[code->at].i = apply(in, code, code->shape->comps[0].scalar, args);
}

/* Component i of the operands, or the operands themselves. */
static void vector_component(Interp *in, Code *code, int64_t i, unsigned char *out)
{
    const Comp *to = &code->shape->comps[0];
    ScalarValue args[3];
    unsigned char *at[3];
    for (int k = 0; k < code->n; k++) {
        const Comp *from = &code->args[k]->shape->comps[0];
        Cell cell = in->cells[code->args[k]->at];
        at[k] = from->by_address ? cell.at + (from->n_dims ? i : 0) * scalar_room(in, from->scalar) : NULL;
        if (!in->shadow)
            args[k] = at[k] ? scalar_load(from->scalar, at[k]) : (ScalarValue){.type = from->scalar, .i = cell.i};
    }
    if (in->shadow)
        *shadow_at(out) = apply_shadow(in, code, to->scalar, at);
    else
        scalar_store((ScalarValue){.type = to->scalar, .i = apply(in, code, to->scalar, args)}, out);
}

void interp_vector(Interp *in, Code *code)
{
    if (code->id == P_select) {
        interp_choose(in, code, code->args[0], code->args[1], code->args[2]);
        return;
    }
    const Comp *to = &code->shape->comps[0], *vector = &code->args[0]->shape->comps[0];
    interp_refresh(in, code->args[0]->shape);
    int64_t n = vector->bytes / scalar_room(in, vector->scalar), room = scalar_room(in, to->scalar);
    unsigned char *out = interp_alloc(in, code->span, n * room);
    for (int64_t i = 0; i < n; i++)
        vector_component(in, code, i, out + i * room);
    if (to->n_dims > 0) {
        in->cells[code->at].at = out;
        return;
    }
    /* A comparison of vectors holds when it holds for all components. */
    bool all = true, known = false;
    double off = 0;
    for (int64_t i = 0; i < n; i++) {
        double its;
        bool holds = interp_number_at(in, SC_BOOL, out + i * room, &its) != 0;
        all = all && holds;
        known = known || (!holds && its == 0);
        off = its > off ? its : off;
    }
    interp_set_index(in, code->span, code->at, all);
    if (in->shadow && !known && off > 0)
        shadow_spoil(shadow_at(in->cells[code->at].at));
}

/* ---- constants ----------------------------------------------------------------------------------------------------------- */

void interp_literal(Interp *in, Code *code)
{
    const Comp *comp = &code->shape->comps[0];
    if (!comp->by_address) {
        in->cells[code->at].i = code->lit.i;
        return;
    }
    interp_refresh(in, code->shape);
    unsigned char *out = in->cells[code->at].at = interp_alloc(in, code->span, comp->bytes);
    int64_t room = scalar_room(in, comp->scalar);
    for (int64_t at = 0; at < comp->bytes; at += room, interp_tick(in))
        if (in->shadow)
            *shadow_at(out + at) = shadow_of(code->lit);
        else
            scalar_store(code->lit, out + at);
}

void interp_size_value(Interp *in, Code *code)
{
    ScalarValue value = scalar_int(code->shape->comps[0].scalar, interp_size(in, &code->nats[0]));
    if (!in->shadow) {
        in->cells[code->at].i = value.i;
        return;
    }
    *new_shadow(in, code) = shadow_of(value);
    if (interp_size_off(in, &code->nats[0]))
        shadow_spoil(shadow_at(in->cells[code->at].at));
}
