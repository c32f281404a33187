#include "ir/type.h"

/* ---- scalars ---------------------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    int bytes;
    bool is_float, is_int, is_signed;
} scalars[SC_COUNT] = {
    [SC_BOOL] = {"bool", 1, false, false, false},
    [SC_I8] = {"i8", 1, false, true, true},
    [SC_I16] = {"i16", 2, false, true, true},
    [SC_I32] = {"i32", 4, false, true, true},
    [SC_I64] = {"i64", 8, false, true, true},
    [SC_U8] = {"u8", 1, false, true, false},
    [SC_U16] = {"u16", 2, false, true, false},
    [SC_U32] = {"u32", 4, false, true, false},
    [SC_U64] = {"u64", 8, false, true, false},
    [SC_F16] = {"f16", 2, true, false, false},
    [SC_BF16] = {"bf16", 2, true, false, false},
    [SC_F32] = {"f32", 4, true, false, false},
    [SC_F64] = {"f64", 8, true, false, false},
};

const char *scalar_name(Scalar s) { return scalars[s].name; }
int scalar_bytes(Scalar s) { return scalars[s].bytes; }
bool scalar_is_float(Scalar s) { return scalars[s].is_float; }
bool scalar_is_int(Scalar s) { return scalars[s].is_int; }
bool scalar_is_signed(Scalar s) { return scalars[s].is_signed; }

bool scalar_find(const char *name, Scalar *s)
{
    for (int i = 0; i < SC_COUNT; i++)
        if (strcmp(scalars[i].name, name) == 0) {
            *s = (Scalar)i;
            return true;
        }
    return false;
}

/* ---- the store -------------------------------------------------------------------------------------------------- */

struct TypeStore {
    TypeNode **nodes; /* open addressing; cap a power of two */
    uint32_t cap, count;
    uint32_t next_id;
    Type error;
    Type scalars[SC_COUNT];
};

static uint32_t mix(uint32_t h, uint64_t x)
{
    uint64_t v = (x ^ h) * 0x9e3779b97f4a7c15u;
    return (uint32_t)(v ^ (v >> 29) ^ (v >> 43));
}

static uint32_t hash_of(const TypeNode *t)
{
    uint32_t h = mix((uint32_t)t->kind, (uint64_t)t->scalar);
    h = mix(h, t->size ? t->size->id + 1u : 0u);
    h = mix(h, t->elem ? t->elem->id + 1u : 0u);
    h = mix(h, (uint64_t)(uint32_t)t->meta);
    for (int i = 0; i < t->n_items; i++)
        h = mix(h, t->items[i]->id);
    return h;
}

static bool same_node(const TypeNode *a, const TypeNode *b)
{
    return a->hash == b->hash && a->kind == b->kind && a->scalar == b->scalar && a->size == b->size && a->elem == b->elem &&
           a->meta == b->meta && a->n_items == b->n_items &&
           (a->n_items == 0 || memcmp(a->items, b->items, sizeof(Type) * (size_t)a->n_items) == 0);
}

static struct TypeStore *store_of(Ctx *ctx)
{
    if (ctx->types)
        return ctx->types;
    struct TypeStore *s = NEW(ctx, struct TypeStore);
    s->cap = 256;
    s->nodes = NEWN(ctx, TypeNode *, s->cap);
    ctx->types = s;
    return s;
}

static void store_grow(Ctx *ctx, struct TypeStore *s)
{
    uint32_t cap = s->cap * 2;
    TypeNode **nodes = NEWN(ctx, TypeNode *, cap);
    for (uint32_t i = 0; i < s->cap; i++)
        if (s->nodes[i]) {
            uint32_t at = s->nodes[i]->hash & (cap - 1);
            while (nodes[at])
                at = (at + 1) & (cap - 1);
            nodes[at] = s->nodes[i];
        }
    s->nodes = nodes;
    s->cap = cap;
}

/* The only place that makes a type. `key` and its items may be on the caller's stack. */
static Type cons(Ctx *ctx, TypeNode key)
{
    struct TypeStore *s = store_of(ctx);
    key.hash = hash_of(&key);
    uint32_t at = key.hash & (s->cap - 1);
    for (; s->nodes[at]; at = (at + 1) & (s->cap - 1))
        if (same_node(s->nodes[at], &key))
            return s->nodes[at];
    if (s->count * 2 >= s->cap) {
        store_grow(ctx, s);
        for (at = key.hash & (s->cap - 1); s->nodes[at];)
            at = (at + 1) & (s->cap - 1);
    }
    TypeNode *node = NEW(ctx, TypeNode);
    if (key.n_items) {
        Type *items = NEWN(ctx, Type, key.n_items);
        memcpy(items, key.items, sizeof(Type) * (size_t)key.n_items);
        key.items = items;
    }
    *node = key;
    node->id = s->next_id++;
    node->has_meta = key.kind == TY_META || (key.elem && key.elem->has_meta);
    for (int i = 0; i < key.n_items; i++)
        node->has_meta |= key.items[i]->has_meta;
    s->nodes[at] = node;
    s->count++;
    return node;
}

/* ---- making ----------------------------------------------------------------------------------------------------- */

Type type_error(Ctx *ctx)
{
    struct TypeStore *s = store_of(ctx);
    if (!s->error)
        s->error = cons(ctx, (TypeNode){.kind = TY_ERROR});
    return s->error;
}

Type type_scalar(Ctx *ctx, Scalar scalar)
{
    struct TypeStore *s = store_of(ctx);
    if (!s->scalars[scalar])
        s->scalars[scalar] = cons(ctx, (TypeNode){.kind = TY_SCALAR, .scalar = scalar});
    return s->scalars[scalar];
}

Type type_idx(Ctx *ctx, Nat size) { return cons(ctx, (TypeNode){.kind = TY_IDX, .size = size}); }

Type type_vec(Ctx *ctx, Nat width, Type elem)
{
    if (elem->kind == TY_ERROR)
        return elem;
    return cons(ctx, (TypeNode){.kind = TY_VEC, .size = width, .elem = elem});
}

Type type_array(Ctx *ctx, Nat size, Type elem)
{
    if (elem->kind == TY_ERROR)
        return elem;
    return cons(ctx, (TypeNode){.kind = TY_ARRAY, .size = size, .elem = elem});
}

Type type_tuple(Ctx *ctx, int n, const Type *items)
{
    for (int i = 0; i < n; i++)
        if (items[i]->kind == TY_ERROR)
            return items[i];
    return cons(ctx, (TypeNode){.kind = TY_TUPLE, .n_items = n, .items = items});
}

Type type_meta(Ctx *ctx, int index) { return cons(ctx, (TypeNode){.kind = TY_META, .meta = index}); }

/* Items on the stack while a tuple is rebuilt; longer tuples go to the arena. */
enum { ITEMS_SMALL = 8 };

Type type_subst(Ctx *ctx, Type t, int n, const Nat *vars, const Nat *by)
{
    switch (t->kind) {
    case TY_ERROR:
    case TY_SCALAR:
    case TY_META:
        return t;
    case TY_IDX:
        return type_idx(ctx, nat_subst_many(ctx, t->size, n, vars, by));
    case TY_VEC:
        return type_vec(ctx, nat_subst_many(ctx, t->size, n, vars, by), type_subst(ctx, t->elem, n, vars, by));
    case TY_ARRAY:
        return type_array(ctx, nat_subst_many(ctx, t->size, n, vars, by), type_subst(ctx, t->elem, n, vars, by));
    case TY_TUPLE: {
        Type small[ITEMS_SMALL];
        Type *items = t->n_items <= ITEMS_SMALL ? small : NEWN(ctx, Type, t->n_items);
        for (int i = 0; i < t->n_items; i++)
            items[i] = type_subst(ctx, t->items[i], n, vars, by);
        return type_tuple(ctx, t->n_items, items);
    }
    }
    return t;
}

/* ---- asking ----------------------------------------------------------------------------------------------------- */

bool type_is_scalar_like(Type t) { return t->kind == TY_SCALAR || t->kind == TY_IDX || t->kind == TY_VEC; }

Scalar type_scalar_of(Ctx *ctx, Type t)
{
    switch (t->kind) {
    case TY_SCALAR:
        return t->scalar;
    case TY_IDX: {
        NatRange r = nat_range(ctx, NULL, t->size);
        return r.has_hi && r.hi <= INT32_MAX ? SC_I32 : SC_I64;
    }
    case TY_VEC:
    case TY_ARRAY:
        return type_scalar_of(ctx, t->elem);
    case TY_ERROR:
    case TY_TUPLE:
    case TY_META:
        break;
    }
    return SC_I32;
}

bool type_is_total(Type t)
{
    int bytes = 0, n = t->kind == TY_TUPLE ? t->n_items : 1;
    for (int i = 0; i < n; i++) {
        Type part = t->kind == TY_TUPLE ? t->items[i] : t;
        if (part->kind != TY_SCALAR && part->kind != TY_IDX)
            return false;
        bytes += part->kind == TY_SCALAR ? scalar_bytes(part->scalar) : 8;
    }
    return bytes <= LIMIT_TOTAL_BYTES;
}

bool type_is_vector(Type t) { return t->kind == TY_VEC && nat_is_const(t->size) && t->size->value >= 1 && t->size->value <= LIMIT_VECTOR_WIDTH; }
int type_width(Type t) { return type_is_vector(t) ? (int)t->size->value : 1; }

bool type_gives_arrays(Type type)
{
    bool arrays = type->kind == TY_ARRAY;
    for (int i = 0; i < type->n_items && !arrays; i++)
        arrays = type_gives_arrays(type->items[i]);
    return arrays;
}

int type_component_count(Type t)
{
    if (t->kind == TY_ARRAY)
        return type_component_count(t->elem);
    if (t->kind != TY_TUPLE)
        return 1;
    int count = 0;
    for (int i = 0; i < t->n_items; i++)
        count += type_component_count(t->items[i]);
    return count;
}

const char *type_component_name(Ctx *ctx, const char *name, Type t, int k)
{
    return type_component_count(t) > 1 ? ctx_printf(ctx, "%s.%d", name, k + 1) : name;
}

Type type_component(Ctx *ctx, Type t, int k)
{
    if (t->kind == TY_ARRAY)
        return type_array(ctx, t->size, type_component(ctx, t->elem, k));
    if (t->kind != TY_TUPLE)
        return t;
    for (int i = 0; i < t->n_items; i++) {
        int count = type_component_count(t->items[i]);
        if (k < count)
            return type_component(ctx, t->items[i], k);
        k -= count;
    }
    return type_error(ctx);
}

/* ---- printing --------------------------------------------------------------------------------------------------- */

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* A variable, a literal or one call: what may stand before the dot of an array type without parentheses. */
static bool is_tight(const char *text)
{
    while (is_word(*text))
        text++;
    if (*text == 0)
        return true;
    if (*text != '(')
        return false;
    int depth = 0;
    for (; *text; text++) {
        depth += *text == '(';
        depth -= *text == ')';
        if (depth == 0)
            return text[1] == 0;
    }
    return false;
}

void type_print(StrBuf *out, Type t)
{
    switch (t->kind) {
    case TY_ERROR:
        sb_puts(out, "<error>");
        return;
    case TY_SCALAR:
        sb_puts(out, scalar_name(t->scalar));
        return;
    case TY_IDX:
        sb_puts(out, "idx[");
        nat_print(out, t->size, false);
        sb_putc(out, ']');
        return;
    case TY_VEC:
        sb_puts(out, "vec[");
        nat_print(out, t->size, false);
        sb_puts(out, ", ");
        type_print(out, t->elem);
        sb_putc(out, ']');
        return;
    case TY_ARRAY: {
        /* A call keeps its spaces, anything else is parenthesised and tight. */
        StrBuf size;
        sb_init(&size, out->ctx);
        nat_print(&size, t->size, false);
        if (is_tight(size.text)) {
            sb_puts(out, size.text);
        } else {
            sb_putc(out, '(');
            nat_print(out, t->size, true);
            sb_putc(out, ')');
        }
        sb_putc(out, '.');
        type_print(out, t->elem);
        return;
    }
    case TY_TUPLE:
        sb_putc(out, '(');
        for (int i = 0; i < t->n_items; i++) {
            if (i)
                sb_puts(out, ", ");
            type_print(out, t->items[i]);
        }
        sb_putc(out, ')');
        return;
    case TY_META:
        sb_printf(out, "?%d", t->meta);
        return;
    }
}

const char *type_text(Ctx *ctx, Type t)
{
    StrBuf sb;
    sb_init(&sb, ctx);
    type_print(&sb, t);
    return sb.text;
}
