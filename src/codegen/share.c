/* An element that several readers want is computed once.
 *
 *   let ys = map f xs in zip (ys, reverse ys)   reads ys[i] and ys[n - 1 - i]; with a third map over that, each of them is asked for twice
 *
 * Without this, the work would double with each `let`. What one reading (the outermost call of shared_at) has computed is remembered by array and
 * index. At the second time the value gets a register, where it was computed first, and whoever has the expression reads that instead.
 *
 * A value is found again only where the facts of the place that computed it hold: then that place comes before, in a block that is still open.
 * Writing begins anew (share_nothing), so that nothing is put in among statements that somebody counts. */
#include "codegen/lowering.h"
#include "codegen/walk.h"
#include "support/table.h"

enum { MAX_ELEMENTS = 1 << 16 }; /* of one reading */

typedef struct Element {
    View *value;
    const NatFacts *facts;
    ImpBlock *out;
    const ImpStmt *after; /* the last statement when it was computed; NULL: none */
    struct Element *before; /* the one that was computed before it, with the same statement last */
    const ImpStmt *decl;  /* the last that names a part of it; NULL: none yet */
    bool named;
} Element;

struct Sharing {
    Table arrays; /* of a Table by index */
    Table newest; /* the element computed last, by Element.after (or its block) */
    int n;
};

/* The value's own expressions: they may be changed for all who have them. Nothing else has these nodes. */
static View *own_scalars(Lowering *lw, View *v)
{
    if (v->kind != VIEW_SCALAR && v->kind != VIEW_TUPLE && v->kind != VIEW_VECTOR)
        return v;
    View *own = view_copy(lw, v);
    if (v->kind == VIEW_SCALAR) {
        own->expr = NEW(lw->ctx, ImpExpr);
        *own->expr = *v->expr;
    }
    if (v->n)
        own->items = NEWN(lw->ctx, View *, v->n);
    for (int k = 0; k < v->n; k++)
        own->items[k] = own_scalars(lw, v->items[k]);
    return own;
}

static int place_after(const ImpBlock *block, const ImpStmt *stmt)
{
    int i = block->list.n;
    while (i > 0 && block->list.at[i - 1] != stmt)
        i--;
    return i;
}

/* Behind what was computed before it: its own expression may read that. */
static const ImpStmt *place_of(const Element *element)
{
    const Element *e = element;
    while (e && !e->decl)
        e = e->before;
    return e ? e->decl : element->after;
}

static void name_scalars(Lowering *lw, Element *element, View *v, const View *array)
{
    for (int k = 0; k < v->n && v->kind != VIEW_ZIP; k++)
        name_scalars(lw, element, v->items[k], array);
    if (v->kind != VIEW_SCALAR || is_trivial(v->expr))
        return;
    int at = place_after(element->out, place_of(element));
    ImpStmt *s = imp_stmt(lw->ctx, NULL, IS_DECL, v->span);
    s->var.var = lower_new_var(lw, array->name ? array->name : "value", v->expr->type, v->span);
    s->var.var->constant = true;
    s->var.var->named = array->name != NULL;
    s->var.value = NEW(lw->ctx, ImpExpr);
    *s->var.value = *v->expr;
    *v->expr = *imp_var(lw->ctx, s->var.var, nat_const(lw->ctx, 0), v->span);
    block_insert(lw->ctx, element->out, at, s);
    element->decl = s;
}

static Table *elements_of(Lowering *lw, const View *array)
{
    Table *elements = table_get(&lw->sharing->arrays, array);
    if (!elements) {
        elements = NEW(lw->ctx, Table);
        table_put(lw->ctx, &lw->sharing->arrays, array, elements);
    }
    return elements;
}

static bool is_nested_scalar(Type type)
{
    bool scalar = type->kind != TY_ARRAY;
    for (int k = 0; k < type->n_items && scalar; k++)
        scalar = is_nested_scalar(type->items[k]);
    return scalar;
}

static View *compute(Lowering *lw, const View *array, Nat i, ViewElement element, Table *elements)
{
    int64_t statements = lw->n_statements;
    if (++lw->sharing->n == MAX_ELEMENTS)
        lower_error(lw, E0503, array->span, "one element of this takes more than %d elements of other arrays", MAX_ELEMENTS);
    if (lw->failed)
        return view_error(lw, array->type->elem);
    View *value = element(lw, array, i);
    if (lw->n_statements != statements && !is_nested_scalar(value->type))
        return value; /* an array that is stored: each reader has its own */
    Element *e = NEW(lw->ctx, Element);
    *e = (Element){.value = own_scalars(lw, value), .facts = lw->facts, .out = lw->out};
    e->after = lw->out->list.n ? lw->out->list.at[lw->out->list.n - 1] : NULL;
    const void *place = e->after ? (const void *)e->after : e->out;
    Element *before = table_get(&lw->sharing->newest, place);
    e->before = before && before->facts == e->facts ? before : NULL;
    table_put(lw->ctx, &lw->sharing->newest, place, e);
    table_put(lw->ctx, elements, i, e);
    return e->value;
}

View *shared_at(Lowering *lw, const View *array, Nat i, ViewElement element)
{
    bool outermost = !lw->sharing;
    if (outermost)
        lw->sharing = NEW(lw->ctx, Sharing);
    Table *elements = elements_of(lw, array);
    Element *e = table_get(elements, i);
    View *value;
    if (!e || !nat_facts_within(lw->facts, e->facts))
        value = compute(lw, array, i, element, elements);
    else {
        if (!e->named)
            name_scalars(lw, e, e->value, array);
        e->named = true;
        value = e->value;
    }
    if (outermost)
        lw->sharing = NULL;
    return value;
}

Sharing *share_nothing(Lowering *lw)
{
    Sharing *saved = lw->sharing;
    lw->sharing = NULL;
    return saved;
}
