/* Short vectors: asVector and asScalar as views, values of type vec[w, t] in registers, and the accesses that move several cells at once.
 *
 * Note [Vector values]. A vector is a view whose components are scalars (VIEW_VECTOR, or the part of a buffer or of registers that vector_part
 * gives). Arithmetic goes component by component. Where all components are neighbours in one buffer, from a multiple of their number on, one access
 * moves as many as fit into 16 bytes; in every other case they move one by one, so that only speed depends on what is proved here. */
#include "codegen/lowering.h"
#include "codegen/walk.h"

static Nat simplify(Lowering *lw, Nat n) { return nat_simplify(lw->ctx, lw->facts, n); }

/* ---- views ------------------------------------------------------------------------------------------------------------------ */

static bool width_fits(Lowering *lw, Type vec, Span span)
{
    if (type_is_vector(vec))
        return true;
    Diag *d = lower_error(lw, E0417, span, "a vector of %s components: %s", nat_text(lw->ctx, vec->size),
                          nat_is_const(vec->size) ? "no thread has so many registers for one" : "registers need a constant number");
    diag_help(lw->ctx, d, "vectors have up to %d components; 16 bytes move at once: 2 of f64, 4 of f32, 8 of f16, 16 of u8", LIMIT_VECTOR_WIDTH);
    return false;
}

static View *vectors_view(Lowering *lw, ViewKind kind, View *source, Type type, Span span)
{
    ViewKind inverse = kind == VIEW_AS_VECTOR ? VIEW_AS_SCALAR : VIEW_AS_VECTOR;
    Type vec = kind == VIEW_AS_VECTOR ? type->elem : source->type->elem;
    if (source->kind == VIEW_ERROR || !width_fits(lw, vec, span))
        return view_error(lw, type);
    if (source->kind == inverse && (kind == VIEW_AS_SCALAR || source->source->type->elem == vec))
        return source->source;
    View *v = view_new(lw, kind, type, span);
    v->source = source;
    v->size = vec->size;
    return v;
}

View *lower_read_vectors(Lowering *lw, const Core *e)
{
    View *source = lower_read(lw, e->prim.args[0]);
    return vectors_view(lw, e->prim.id == P_asVector ? VIEW_AS_VECTOR : VIEW_AS_SCALAR, source, lower_type(lw, e->type), e->span);
}

/* The source is written through the inverse. */
bool lower_write_vectors(Lowering *lw, const Core *e, View *acceptor)
{
    const Core *source = e->prim.args[0];
    View *v = vectors_view(lw, e->prim.id == P_asVector ? VIEW_AS_SCALAR : VIEW_AS_VECTOR, acceptor, lower_type(lw, source->type), e->span);
    lower_write(lw, source, v);
    return true;
}

View *vector_at(Lowering *lw, View *v, Nat i)
{
    Ctx *ctx = lw->ctx;
    int w = (int)v->size->value;
    if (v->kind == VIEW_AS_SCALAR)
        return vector_part(lw, view_at(lw, v->source, simplify(lw, nat_div(ctx, i, v->size))), simplify(lw, nat_mod(ctx, i, v->size)));
    View *vector = view_new(lw, VIEW_VECTOR, v->type->elem, v->span);
    vector->n = w;
    vector->items = NEWN(ctx, View *, w);
    for (int j = 0; j < w; j++) {
        vector->items[j] = view_at(lw, v->source, nat_add_k(ctx, nat_mul_k(ctx, i, w), j));
        if (vector->items[j]->kind == VIEW_ERROR)
            return vector->items[j];
    }
    return vector;
}

bool vector_wants_unroll(const View *xs, Nat n)
{
    for (int k = 0; xs->kind == VIEW_ZIP && k < xs->n; k++)
        if (vector_wants_unroll(xs->items[k], n))
            return true;
    if ((xs->kind == VIEW_MAP || xs->kind == VIEW_PROJ || xs->kind == VIEW_EACH) && !xs->writing && vector_wants_unroll(xs->source, n))
        return true;
    bool vector = xs->kind == VIEW_VECTOR || (xs->kind == VIEW_AS_SCALAR && xs->source->kind == VIEW_GEN);
    return vector && nat_is_const(n) && n->value <= LIMIT_VECTOR_WIDTH;
}

/* Components, or elements, that are mentioned by an index that varies: registers in an array. */
static View *indexed_part(Lowering *lw, View *v, Nat j)
{
    Ctx *ctx = lw->ctx;
    Type type = v->type->elem;
    int width = type_width(type);
    ImpVar *var = lower_new_var(lw, "parts", type_scalar_of(ctx, type), v->span);
    var->slots = v->n * width;
    lower_emit(lw, IS_DECL, v->span)->var.var = var;
    for (int i = 0; i < v->n; i++) {
        Value value = value_of(lw, v->items[i], "v");
        for (int k = 0; k < width; k++) {
            ImpStmt *s = lower_emit(lw, IS_SET, v->span);
            s->var.var = var;
            s->var.slot = nat_const(ctx, i * width + k);
            s->var.value = value.parts[k];
        }
    }
    Value part = {width, NEWN(ctx, ImpExpr *, width)};
    for (int k = 0; k < width; k++)
        part.parts[k] = imp_var(ctx, var, nat_add_k(ctx, nat_mul_k(ctx, j, width), k), v->span);
    return value_view(lw, type, part, v->span);
}

/* Cells equally far apart: the part is one of them, to be read or written. NULL: they are not. */
static View *cell_at(Lowering *lw, const View *v, Nat j)
{
    const View *first = v->items[0];
    Nat apart = NULL;
    for (int k = 0; k < v->n; k++) {
        const View *item = v->items[k];
        if (item->kind != VIEW_BUF || item->buf != first->buf || item->layout)
            return NULL;
        Nat distance = simplify(lw, nat_sub(lw->ctx, item->offset, first->offset));
        apart = k == 1 ? distance : apart;
        if (!nat_is_const(distance) || (k && distance->value != k * apart->value))
            return NULL;
    }
    View *cell = view_copy(lw, first);
    cell->offset = apart ? nat_add(lw->ctx, first->offset, nat_mul(lw->ctx, j, apart)) : first->offset;
    return cell;
}

static View *part_at(Lowering *lw, View *v, void *j) { return vector_part(lw, v, *(Nat *)j); }

View *vector_part(Lowering *lw, View *v, Nat j)
{
    Ctx *ctx = lw->ctx;
    switch (v->kind) {
    case VIEW_ERROR: return v;
    case VIEW_VECTOR: {
        View *cell = nat_is_const(j) ? v->items[j->value] : cell_at(lw, v, j);
        return cell ? cell : indexed_part(lw, v, j);
    }
    case VIEW_BUF: case VIEW_REG: {
        View *part = view_copy(lw, v);
        part->type = v->type->elem;
        if (v->kind == VIEW_BUF)
            part->offset = nat_add(ctx, v->offset, j);
        else
            part->slot = nat_add(ctx, v->slot, j);
        return part;
    }
    case VIEW_COND: case VIEW_GUARD: return view_cond_map(lw, v, part_at, &j);
    case VIEW_SCALAR: /* a literal, which all components are */
        if (v->expr->kind != IE_LIT)
            break;
        v = view_copy(lw, v);
        v->type = v->type->elem;
        return v;
    case VIEW_TUPLE: case VIEW_ZIP: case VIEW_PROJ: case VIEW_MAP: case VIEW_PAD: case VIEW_GEN: case VIEW_EACH: case VIEW_GATHER: case VIEW_CONCAT:
    case VIEW_AS_VECTOR: case VIEW_AS_SCALAR: case VIEW_WINDOWS: case VIEW_RING: case VIEW_ATOMIC: break;
    }
    lower_error(lw, E0510, v->span, "risec lost track of a vector here");
    return view_error(lw, v->type->elem);
}

/* All components, each a view of a scalar. */
static View **parts_of(Lowering *lw, View *v, int n)
{
    View **parts = NEWN(lw->ctx, View *, n);
    for (int k = 0; k < n; k++)
        parts[k] = v->type->kind == TY_VEC ? vector_part(lw, v, nat_const(lw->ctx, k)) : v;
    return parts;
}

/* ---- which accesses may be one ----------------------------------------------------------------------------------------------- */

/* Are the cells w neighbours, the first at a multiple of w? */
static bool are_run(Lowering *lw, View *const *parts, int w, bool simplified)
{
    Ctx *ctx = lw->ctx;
    Nat first = simplified ? simplify(lw, parts[0]->offset) : parts[0]->offset;
    if (!nat_divides(ctx, lw->facts, nat_const(ctx, w), first))
        return false;
    for (int k = 1; k < w; k++) {
        Nat at = simplified ? simplify(lw, parts[k]->offset) : parts[k]->offset;
        if (!nat_is(nat_sub(ctx, at, first), k))
            return false;
    }
    return true;
}

int access_width(Lowering *lw, View *const *parts, int n)
{
    const View *first = parts[0];
    if (first->kind != VIEW_BUF)
        return 1;
    int w = imp_vector_width(first->buf->elem, n);
    if (w < 2 || w * scalar_bytes(first->buf->elem) < ACCESS_BYTES_MIN)
        return 1;
    for (int k = 1; k < w; k++)
        if (parts[k]->kind != VIEW_BUF || parts[k]->buf != first->buf)
            return 1;
    /* In an array of higher rank, neighbours may be told apart only where quotients and remainders are gone. */
    return are_run(lw, parts, w, false) || are_run(lw, parts, w, true) ? w : 1;
}

void buf_needs(ImpBuf *buf, int w)
{
    int bytes = w * scalar_bytes(buf->elem);
    if (buf->align < bytes)
        buf->align = bytes;
}

ImpStmt *store_cells(Lowering *lw, const View *first, ImpExpr *const *values, int w, Span span)
{
    buf_needs(first->buf, w);
    ImpStmt *s = lower_emit(lw, IS_VSTORE, span);
    s->vec.buf = first->buf;
    s->vec.index = simplify(lw, first->offset);
    s->vec.n = w;
    s->vec.first = s;
    memcpy(s->vec.values, values, sizeof *values * (size_t)w);
    return s;
}

/* `a < b` or `a <= b` for all components at once: the sides that move from component to component start at a multiple of w, and the bounds
 * are multiples. */
static bool same_comparison(Lowering *lw, const ImpExpr *first, const ImpExpr *e, int k, int w)
{
    Ctx *ctx = lw->ctx;
    Nat width = nat_const(ctx, w);
    if (first->kind != IE_OP || e->kind != IE_OP || e->op.id != first->op.id || e->op.n != 2)
        return false;
    if (e->op.id == P_and)
        return same_comparison(lw, first->op.args[0], e->op.args[0], k, w) && same_comparison(lw, first->op.args[1], e->op.args[1], k, w);
    if (e->op.id != P_lt && e->op.id != P_le)
        return false;
    for (int side = 0; side < 2; side++)
        if (first->op.args[side]->kind != IE_NAT || e->op.args[side]->kind != IE_NAT)
            return false;
    Nat a = first->op.args[0]->nat, b = first->op.args[1]->nat, ak = e->op.args[0]->nat, bk = e->op.args[1]->nat;
    if (ak == a && bk == b)
        return true;
    if (!nat_divides(ctx, lw->facts, width, a) || !nat_divides(ctx, lw->facts, width, b))
        return false;
    return e->op.id == P_lt ? bk == b && nat_is(nat_sub(ctx, ak, a), k) : ak == a && nat_is(nat_sub(ctx, bk, b), k);
}

/* Guards of the components that are one guard of the vector. */
static bool same_guard(Lowering *lw, View *const *parts, int n, ViewKind kind)
{
    for (int k = 0; k < n; k++)
        if (parts[k]->kind != kind || parts[k]->before_then.list.n || parts[k]->before_other.list.n || (k && parts[k]->cond != parts[0]->cond && !same_comparison(lw, parts[0]->cond, parts[k]->cond, k, n)))
            return false;
    return true;
}

static View *vector_of(Lowering *lw, View *const *parts, int n, Type type, Span span)
{
    View *v = view_new(lw, VIEW_VECTOR, type, span);
    v->n = n;
    v->items = NEWN(lw->ctx, View *, n);
    memcpy(v->items, parts, sizeof *parts * (size_t)n);
    return v;
}

/* ---- registers --------------------------------------------------------------------------------------------------------------- */

Registers registers_new(Lowering *lw, const char *name, Type type, Span span)
{
    Ctx *ctx = lw->ctx;
    Scalar elem = type_scalar_of(ctx, type);
    Registers r = {.n = type_width(type), .width = imp_vector_width(elem, type_width(type))};
    int count = r.n / r.width;
    r.vars = NEWN(ctx, ImpVar *, count);
    for (int k = 0; k < count; k++) {
        r.vars[k] = lower_new_var(lw, count > 1 ? ctx_printf(ctx, "%s_%d", name, k + 1) : name, elem, span);
        r.vars[k]->slots = r.width;
        r.vars[k]->vector = r.width > 1;
    }
    return r;
}

void registers_declare(Lowering *lw, Registers r, Span span)
{
    for (int k = 0; k < r.n / r.width; k++)
        lower_emit(lw, IS_DECL, span)->var.var = r.vars[k];
}

void registers_set(Lowering *lw, Registers r, Value value, bool declares, Span span)
{
    for (int k = 0; k < r.n / r.width; k++) {
        if (r.width == 1) {
            ImpStmt *s = lower_emit(lw, declares ? IS_DECL : IS_SET, span);
            s->var.var = r.vars[k];
            s->var.slot = nat_const(lw->ctx, 0);
            s->var.value = value.parts[k];
            continue;
        }
        ImpStmt *s = lower_emit(lw, IS_VSET, span);
        s->vec.var = r.vars[k];
        s->vec.n = r.width;
        s->vec.declares = declares;
        memcpy(s->vec.values, value.parts + k * r.width, sizeof *value.parts * (size_t)r.width);
    }
}

Value registers_value(Lowering *lw, Registers r, Span span)
{
    Value value = {r.n, NEWN(lw->ctx, ImpExpr *, r.n)};
    for (int k = 0; k < r.n; k++)
        value.parts[k] = imp_var(lw->ctx, r.vars[k / r.width], nat_const(lw->ctx, k % r.width), span);
    return value;
}

/* ---- values ------------------------------------------------------------------------------------------------------------------ */

View *value_view(Lowering *lw, Type type, Value value, Span span)
{
    Type elem = type->kind == TY_VEC ? type->elem : type;
    View **parts = NEWN(lw->ctx, View *, value.n);
    for (int k = 0; k < value.n; k++) {
        parts[k] = view_new(lw, VIEW_SCALAR, elem, value.parts[k]->span);
        parts[k]->expr = value.parts[k];
    }
    return type->kind == TY_VEC ? vector_of(lw, parts, value.n, type, span) : parts[0];
}

Value value_choose(Lowering *lw, ImpExpr *cond, Value then, Value otherwise, Span span)
{
    Value value = {then.n, NEWN(lw->ctx, ImpExpr *, then.n)};
    for (int k = 0; k < then.n; k++)
        value.parts[k] = imp_same_value(then.parts[k], otherwise.parts[k]) ? then.parts[k] : imp_cond(lw->ctx, cond, then.parts[k], otherwise.parts[k], span);
    return value;
}

static Value cond_value(Lowering *lw, View *const *parts, int n, const char *name, Type type, Span span);

static bool same_constant(Lowering *lw, View *a, View *b)
{
    if (a->kind != VIEW_SCALAR || b->kind != VIEW_SCALAR)
        return false;
    ImpExpr *x = view_scalar(lw, a), *y = view_scalar(lw, b);
    return x->kind == IE_LIT && imp_same_value(x, y);
}

/* Two pads with the same value are one: c ? (d ? x : 0) : 0 is c and d ? x : 0. NULL where that is not so for all parts. */
static View *const *one_guard(Lowering *lw, View *const *parts, int n)
{
    View **merged = NEWN(lw->ctx, View *, n);
    for (int k = 0; k < n; k++) {
        View *inner = parts[k]->source;
        if (inner->kind != VIEW_COND || inner->before_then.list.n || inner->before_other.list.n || !same_constant(lw, parts[k]->other, inner->other))
            return NULL;
        merged[k] = view_copy(lw, inner);
        merged[k]->cond = imp_op2(lw->ctx, P_and, SC_BOOL, parts[k]->cond, inner->cond, inner->span);
    }
    return same_guard(lw, merged, n, VIEW_COND) ? merged : NULL;
}

/* Neighbours that one access moves take a vector register. */
static Value parts_value(Lowering *lw, View *const *parts, int n, const char *name, Type type, Span span)
{
    Ctx *ctx = lw->ctx;
    Value value = {n, NEWN(ctx, ImpExpr *, n)};
    if (n > 1 && same_guard(lw, parts, n, VIEW_COND)) {
        View *const *merged = one_guard(lw, parts, n);
        return cond_value(lw, merged ? merged : parts, n, name, type, span);
    }
    int from = n > 1 ? lw->out->list.n : 0;
    for (int k = 0, w; k < n; k += w) {
        w = access_width(lw, parts + k, n - k);
        if (w == 1) {
            value.parts[k] = view_scalar(lw, parts[k]);
            continue;
        }
        ImpVar *var = lower_new_var(lw, w < n ? ctx_printf(ctx, "%s_%d", name, k / w + 1) : name, parts[k]->buf->elem, span);
        var->slots = w;
        var->vector = var->constant = true;
        buf_needs(parts[k]->buf, w);
        ImpStmt *s = lower_emit(lw, IS_VLOAD, span);
        s->vec.var = var;
        s->vec.buf = parts[k]->buf;
        s->vec.index = simplify(lw, parts[k]->offset);
        s->vec.n = w;
        s->vec.declares = true;
        for (int j = 0; j < w; j++)
            value.parts[k + j] = imp_var(ctx, var, nat_const(ctx, j), span);
    }
    read_together(lw, value.parts, n, from, name, span);
    return value;
}

/* A vector register of `from` that is loaded in the block is loaded into `to` at once. */
static bool load_into(ImpBlock *block, ImpExpr *const *parts, ImpVar *to)
{
    if (!to->vector || parts[0]->kind != IE_VAR)
        return false;
    ImpVar *from = parts[0]->var.var;
    for (int i = 0; i < block->list.n; i++) {
        ImpStmt *s = block->list.at[i];
        if (s->kind != IS_VLOAD || s->vec.var != from || s->vec.n != to->slots || !s->vec.declares)
            continue;
        s->vec.var = to;
        s->vec.declares = false;
        return true;
    }
    return false;
}

/* Sets in the block; what is loaded there is not copied. */
static void set_in_block(Lowering *lw, ImpBlock *block, Registers regs, Value value, Span span)
{
    ImpBlock *out = lw->out;
    lw->out = block;
    for (int k = 0; k < regs.n / regs.width; k++) {
        Registers one = {regs.width, regs.width, regs.vars + k};
        Value part = {regs.width, value.parts + k * regs.width};
        if (!load_into(block, part.parts, regs.vars[k]))
            registers_set(lw, one, part, false, span);
    }
    lw->out = out;
}

static bool same_literal(const ImpExpr *a, const ImpExpr *b)
{
    return a && b && a->kind == IE_LIT && b->kind == IE_LIT && a->type == b->type && a->lit.u == b->lit.u;
}

/* a ? (b ? x : 0) : 0 is a and b ? x : 0. NULL: not of this form. */
static View **joined_guards(Lowering *lw, View *const *parts, int n)
{
    View **inner = NEWN(lw->ctx, View *, n), **joined = NEWN(lw->ctx, View *, n);
    for (int k = 0; k < n; k++)
        inner[k] = parts[k]->source;
    if (!same_guard(lw, inner, n, VIEW_COND))
        return NULL;
    for (int k = 0; k < n; k++) {
        const View *outside = parts[k]->other, *other = inner[k]->other;
        if (outside->kind != VIEW_SCALAR || other->kind != VIEW_SCALAR || !same_literal(outside->expr, other->expr))
            return NULL;
        joined[k] = view_copy(lw, inner[k]);
        joined[k]->cond = imp_op2(lw->ctx, P_and, SC_BOOL, parts[0]->cond, inner[0]->cond, inner[0]->span);
    }
    for (int k = 1; k < n; k++)
        joined[k]->cond = joined[0]->cond;
    return joined;
}

/* One condition for all components. */
static Value cond_value(Lowering *lw, View *const *parts, int n, const char *name, Type type, Span span)
{
    Ctx *ctx = lw->ctx;
    for (View **joined; (joined = joined_guards(lw, parts, n));)
        parts = joined;
    ImpExpr *cond = parts[0]->cond;
    ImpBlock sides[2] = {{{0}}}, *out = lw->out;
    NatFacts *facts = lw->facts;
    Value values[2];
    for (int k = 0; k < 2; k++) {
        View **side = NEWN(ctx, View *, n);
        for (int i = 0; i < n; i++)
            side[i] = k ? parts[i]->other : parts[i]->source;
        lw->out = &sides[k];
        lw->facts = nat_facts_new(ctx, facts);
        if (k == 0)
            assume(lw, cond);
        values[k] = parts_value(lw, side, n, name, type, span);
    }
    lw->out = out;
    lw->facts = facts;
    if (!sides[0].list.n && !sides[1].list.n)
        return value_choose(lw, cond, values[0], values[1], span);
    Registers regs = registers_new(lw, name, type, span);
    bool plain = !sides[1].list.n; /* what it is otherwise is set first, and the load replaces it */
    for (int k = 0; k < n; k++)
        plain &= values[1].parts[k]->kind == IE_LIT;
    if (plain)
        registers_set(lw, regs, values[1], true, span);
    else
        registers_declare(lw, regs, span);
    ImpStmt *s = lower_emit(lw, IS_IF, span);
    s->branch.cond = cond;
    s->branch.then = sides[0];
    set_in_block(lw, &s->branch.then, regs, values[0], span);
    if (!plain) {
        s->branch.otherwise = sides[1];
        set_in_block(lw, &s->branch.otherwise, regs, values[1], span);
    }
    return registers_value(lw, regs, span);
}

Value value_of(Lowering *lw, View *v, const char *name)
{
    int n = type_width(v->type);
    return parts_value(lw, parts_of(lw, v, n), n, name, v->type, v->span);
}

static void store_parts(Lowering *lw, View *const *parts, Value value, Span span)
{
    if (value.n > 1 && same_guard(lw, parts, value.n, VIEW_GUARD)) {
        if (cond_is(lw, parts[0]->cond, false))
            return;
        ImpStmt *s = lower_emit(lw, IS_IF, span);
        s->branch.cond = parts[0]->cond;
        ImpBlock *out = lw->out;
        View **inside = NEWN(lw->ctx, View *, value.n);
        for (int k = 0; k < value.n; k++)
            inside[k] = parts[k]->source;
        lw->out = &s->branch.then;
        store_parts(lw, inside, value, span);
        lw->out = out;
        return;
    }
    if (store_together(lw, parts, value, span))
        return;
    const ImpStmt *first = NULL;
    for (int k = 0, w; k < value.n; k += w) {
        w = access_width(lw, parts + k, value.n - k);
        if (w == 1) {
            view_store(lw, parts[k], value.parts[k], span);
        } else if (view_one_writer(lw, parts[k]->buf, span)) {
            ImpStmt *s = store_cells(lw, parts[k], value.parts + k, w, span);
            first = first ? first : s;
            s->vec.first = first;
        } else {
            return;
        }
    }
}

void value_store(Lowering *lw, View *acceptor, Value value, Span span)
{
    if (acceptor->kind != VIEW_ERROR)
        store_parts(lw, parts_of(lw, acceptor, value.n), value, span);
}
