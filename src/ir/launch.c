/* What must hold before an entry is run, whoever runs it: sizes, facts, shapes, indices. */
#include "ir/interp.h"

typedef struct Lookup {
    const CoreEntry *entry;
    const Launch *launch;
} Lookup;

bool launch_device_size(Nat var, int64_t *value)
{
    *value = var->device == NAT_MAX_RESIDENT ? LAUNCH_RESIDENT_BLOCKS : 1;
    return var->device != NAT_NO_DEVICE;
}

bool launch_device_value(const Launch *launch, Nat var, int64_t *value)
{
    if (!launch_device_size(var, value))
        return false;
    if (var->device == NAT_TURN) {
        *value = launch->turn;
        return true;
    }
    int64_t own = var->device == NAT_NUM_SM ? launch->num_sm : launch->max_resident;
    *value = own ? own : *value;
    return *value >= 0;
}

static bool value_of(void *user, Nat var, int64_t *value)
{
    const Lookup *l = user;
    for (int i = 0; i < l->entry->n_sizes && i < l->launch->n_sizes; i++)
        if (l->entry->sizes[i] == var) {
            *value = l->launch->sizes[i];
            return true;
        }
    return launch_device_value(l->launch, var, value);
}

/* "n = 1001, m = 3": the sizes that something mentions. */
typedef struct Sizes {
    Lookup lookup;
    StrBuf text;
    VEC(Nat) seen;
} Sizes;

static void put_size(void *user, Nat var)
{
    Sizes *s = user;
    int64_t value;
    for (int i = 0; i < s->seen.n; i++)
        if (s->seen.at[i] == var)
            return;
    vec_push(s->text.ctx, &s->seen, var);
    if (value_of(&s->lookup, var, &value))
        sb_printf(&s->text, "%s%s = %lld", s->text.len ? ", " : "", var->name, (long long)value);
}

static void sizes_init(Ctx *ctx, Sizes *s, const CoreEntry *entry, const Launch *launch)
{
    *s = (Sizes){.lookup = {entry, launch}};
    sb_init(&s->text, ctx);
}

static const char *sizes_text(const Sizes *s) { return s->text.len ? s->text.text : "any sizes"; }

bool launch_nat(Ctx *ctx, const CoreEntry *entry, const Launch *launch, Nat nat, int64_t *value)
{
    Lookup lookup = {entry, launch};
    NatEval how = nat_eval(nat, value_of, &lookup, value);
    if (how == NAT_EVAL_OK)
        return true;
    *value = 0;
    if (!ctx)
        return false;
    Sizes sizes;
    sizes_init(ctx, &sizes, entry, launch);
    nat_each_var(ctx, nat, put_size, &sizes);
    const char *why = how == NAT_EVAL_OVERFLOW  ? "needs more than 64 bits"
                      : how == NAT_EVAL_DIVISOR ? "divides by a number below 1"
                      : how == NAT_EVAL_UNBOUND ? "has a size that was not given"
                                                : "is not defined";
    diag_error(ctx, E0602, entry->name_span, "%s: the size %s %s for %s", entry->name, nat_text(ctx, nat), why, sizes_text(&sizes));
    return false;
}

/* ---- buffers ---------------------------------------------------------------------------------------------------- */

bool launch_buffer(Ctx *ctx, const CoreEntry *entry, const Launch *launch, Type t, HostBuf *buf, bool with_bytes)
{
    *buf = (HostBuf){.elem = type_scalar_of(ctx, t), .count = 1};
    for (Type u = t; u->kind == TY_ARRAY || u->kind == TY_VEC; u = u->elem)
        buf->rank++;
    buf->shape = NEWN(ctx, int64_t, buf->rank + 1);
    bool empty = false, fits = true;
    int k = 0;
    for (Type u = t; u->kind == TY_ARRAY || u->kind == TY_VEC; u = u->elem) {
        int64_t size;
        if (!launch_nat(ctx, entry, launch, u->size, &size))
            return false;
        if (size < 0) {
            Sizes sizes;
            sizes_init(ctx, &sizes, entry, launch);
            nat_each_var(ctx, u->size, put_size, &sizes);
            diag_error(ctx, E0602, entry->name_span, "%s: the size %s is %lld for %s", entry->name, nat_text(ctx, u->size),
                       (long long)size, sizes_text(&sizes));
            return false;
        }
        buf->shape[k++] = size;
        empty |= size == 0;
        fits = fits && mul_fits(buf->count, size, &buf->count);
    }
    if (empty) { /* whatever the other dimensions are */
        buf->count = 0;
        fits = true;
    }
    int64_t bytes;
    if (!fits || !mul_fits(buf->count, scalar_bytes(buf->elem), &bytes)) {
        diag_error(ctx, E0602, entry->name_span, "%s: an array of type %s is too large to count", entry->name, type_text(ctx, t));
        return false;
    }
    if (with_bytes)
        buf->bytes = arena_alloc(launch->memory ? launch->memory : &ctx->arena, bytes ? (size_t)bytes : 1);
    return true;
}

/* ---- facts ------------------------------------------------------------------------------------------------------ */

/* False when the fact has no value under these sizes; launch_nat has said why. */
static bool fact_value(Ctx *ctx, const CoreEntry *entry, const Launch *launch, const Core *fact, ScalarValue *value)
{
    switch (fact->kind) {
    case CORE_SIZE: { /* always as wide as sizes are, whatever type the elaborator gave it */
        int64_t size;
        if (!launch_nat(ctx, entry, launch, fact->size, &size))
            return false;
        *value = scalar_int(SC_I64, size);
        return true;
    }
    case CORE_LIT:
        *value = scalar_is_int(fact->lit.type) ? scalar_cast(SC_I64, fact->lit) : fact->lit;
        return true;
    case CORE_IF: {
        ScalarValue cond;
        return fact_value(ctx, entry, launch, fact->cond.cond, &cond) &&
               fact_value(ctx, entry, launch, cond.i ? fact->cond.then : fact->cond.otherwise, value);
    }
    case CORE_PRIM: {
        ScalarValue args[3];
        int n = fact->prim.n_args;
        if (n < 1 || n > 3)
            return false;
        for (int i = 0; i < n; i++)
            if (!fact_value(ctx, entry, launch, fact->prim.args[i], &args[i]))
                return false;
        *value = fact->prim.id == P_cast ? scalar_cast(fact->prim.cast_type->kind == TY_SCALAR ? fact->prim.cast_type->scalar : SC_I64, args[0])
                                         : scalar_apply(fact->prim.id, args[fact->prim.id == P_select].type, args);
        return true;
    }
    case CORE_VAR:
    case CORE_LAMBDA:
    case CORE_LET:
    case CORE_TUPLE:
    case CORE_PROJ:
    case CORE_UNIT_ERROR:
        break;
    }
    return false;
}

bool launch_test(Ctx *ctx, const CoreEntry *entry, const Launch *launch, const Core *test, bool *holds)
{
    ScalarValue value;
    bool good = fact_value(ctx, entry, launch, test, &value);
    *holds = good && value.i;
    return good;
}

static void fact_sizes(Ctx *ctx, const Core *fact, Sizes *sizes)
{
    if (fact->kind == CORE_SIZE)
        nat_each_var(ctx, fact->size, put_size, sizes);
    if (fact->kind == CORE_PRIM)
        for (int i = 0; i < fact->prim.n_args; i++)
            fact_sizes(ctx, fact->prim.args[i], sizes);
}

static bool check_fact(Ctx *ctx, const CoreEntry *entry, const Launch *launch, const Core *fact)
{
    ScalarValue value;
    if (!fact_value(ctx, entry, launch, fact, &value))
        return false;
    if (value.i)
        return true;
    Sizes sizes;
    sizes_init(ctx, &sizes, entry, launch);
    fact_sizes(ctx, fact, &sizes);
    StrBuf text;
    sb_init(&text, ctx);
    core_print(&text, fact);
    Diag *diag = diag_error(ctx, E0601, fact->span, "%s needs %s, and %s", entry->name, text.text, sizes_text(&sizes));
    ScalarValue sides[2];
    if (fact->kind == CORE_PRIM && fact->prim.n_args == 2 && fact->prim.id >= P_eq && fact->prim.id <= P_ge &&
        fact_value(ctx, entry, launch, fact->prim.args[0], &sides[0]) && fact_value(ctx, entry, launch, fact->prim.args[1], &sides[1]))
        diag_label(ctx, diag, "%lld %s %lld does not hold", (long long)sides[0].i, prim_name(fact->prim.id), (long long)sides[1].i);
    return false;
}

/* ---- inputs ----------------------------------------------------------------------------------------------------- */

static void put_shape(StrBuf *out, const HostBuf *buf)
{
    for (int i = 0; i < buf->rank; i++)
        sb_printf(out, "%lld.", (long long)buf->shape[i]);
    sb_puts(out, scalar_name(buf->elem));
}

static bool check_shape(Ctx *ctx, const CoreEntry *entry, const Launch *launch, const CoreVar *var, int component, Type type,
                        const HostBuf *buf)
{
    HostBuf wanted;
    if (!launch_buffer(ctx, entry, launch, type, &wanted, false))
        return false;
    bool same = wanted.elem == buf->elem && wanted.rank == buf->rank && wanted.count == buf->count && (buf->bytes || buf->count == 0);
    for (int i = 0; same && i < wanted.rank; i++)
        same = wanted.shape[i] == buf->shape[i];
    if (same)
        return true;
    StrBuf has, needs;
    sb_init(&has, ctx);
    put_shape(&has, buf);
    sb_init(&needs, ctx);
    put_shape(&needs, &wanted);
    diag_error(ctx, E0603, var->span, "%s: %s is %s here, and its buffer is %s", entry->name, type_component_name(ctx, var->name, var->type, component), needs.text,
               has.text);
    return false;
}

static bool check_indices(Ctx *ctx, const CoreEntry *entry, const Launch *launch, const CoreVar *var, int component, Type type,
                          const HostBuf *buf)
{
    Type elem = type;
    while (elem->kind == TY_ARRAY)
        elem = elem->elem;
    if (elem->kind != TY_IDX)
        return true;
    int64_t size;
    if (!launch_nat(ctx, entry, launch, elem->size, &size))
        return false;
    int bytes = scalar_bytes(buf->elem);
    for (int64_t i = 0; i < buf->count; i++) {
        ctx_look_at(ctx, i);
        int64_t value = scalar_load(buf->elem, buf->bytes + i * bytes).i;
        if (value >= 0 && value < size)
            continue;
        StrBuf place;
        sb_init(&place, ctx);
        sb_puts(&place, type_component_name(ctx, var->name, var->type, component));
        int64_t rest = i, inner = buf->count;
        for (int k = 0; k < buf->rank; k++) {
            inner /= buf->shape[k];
            sb_printf(&place, "[%lld]", (long long)(rest / inner));
            rest %= inner;
        }
        Diag *diag = diag_error(ctx, E0604, var->span, "%s: %s is %lld, and an %s has %s", entry->name, place.text, (long long)value,
                                type_text(ctx, elem), size > 0 ? "other values" : "no values");
        if (size > 0)
            diag_label(ctx, diag, "the values here go from 0 to %lld", (long long)(size - 1));
        return false;
    }
    return true;
}

bool launch_check_sizes(Ctx *ctx, const CoreEntry *entry, const Launch *launch)
{
    if (launch->n_sizes != entry->n_sizes) {
        diag_error(ctx, E0602, entry->name_span, "%s has %d sizes, and %d are given", entry->name, entry->n_sizes, launch->n_sizes);
        return false;
    }
    bool good = true;
    for (int i = 0; i < entry->n_sizes; i++)
        if (launch->sizes[i] < 0) {
            diag_error(ctx, E0602, entry->name_span, "%s: the size %s is %lld, and sizes are at least 0", entry->name, entry->sizes[i]->name,
                       (long long)launch->sizes[i]);
            return false; /* one is enough: the same place has one message */
        }
    for (int i = 0; i < entry->n_facts; i++)
        good &= check_fact(ctx, entry, launch, entry->facts[i]);
    return good;
}

bool launch_check(Ctx *ctx, const CoreEntry *entry, const Launch *launch)
{
    if (!launch_check_sizes(ctx, entry, launch))
        return false;
    bool good = true;
    int buffers = 0;
    for (int i = 0; i < entry->n_inputs; i++)
        buffers += type_component_count(entry->inputs[i]->type);
    if (launch->n_buffers != buffers) {
        diag_error(ctx, E0603, entry->name_span, "%s has %d input buffers, and %d are given", entry->name, buffers, launch->n_buffers);
        return false;
    }
    int k = 0;
    for (int i = 0; i < entry->n_inputs; i++) {
        const CoreVar *var = entry->inputs[i];
        int count = type_component_count(var->type);
        for (int c = 0; c < count; c++, k++) {
            Type type = type_component(ctx, var->type, c);
            good = check_shape(ctx, entry, launch, var, c, type, &launch->buffers[k]) &&
                   check_indices(ctx, entry, launch, var, c, type, &launch->buffers[k]) && good;
        }
    }
    return good;
}
