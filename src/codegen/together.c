/* Neighbours that are read together: readTogether, and vectors whose components have guards of their own or are computed.
 *
 * Note [Reading together]. The n elements are the same term at n places, so their expressions have the same form. Where all of them load, each the cell
 * after the one before, these loads are one access of as many cells as 16 bytes hold, before all that uses them:
 *
 *   i < n ? abs(xs[i]) : 0, i + 1 < n ? abs(xs[i + 1]) : 0, ...
 *     ->  float4 v;
 *         if (i + 3 < n) v = xs[i .. i + 3];              all guards hold
 *         else v = {i < n ? xs[i] : 0, i + 1 < n ? ...};  in one thread of the grid at most
 *         abs(v.x), abs(v.y), ...
 *
 * What is inside of a guard is loaded under that guard. What is behind a condition over data is loaded whether that holds or not, if the cells are proved to be
 * there. Accesses start at a multiple of their width; other cells are loaded one by one, each once. */
#include "codegen/guards.h"
#include "codegen/together.h"
#include "codegen/walk.h"

/* ---- places of the same form ---------------------------------------------------------------------------------------------- */

static void join_places(Together *t, const Places *p);

static bool all_of_kind(const Together *t, const Places *p, ImpExprKind kind)
{
    for (int k = 0; k < t->n; k++)
        if ((*p->at[k])->kind != kind)
            return false;
    return true;
}

static bool all_literals(const Together *t, ImpExpr *const *e)
{
    for (int k = 0; k < t->n; k++)
        if (e[k]->kind != IE_LIT)
            return false;
    return true;
}

/* The same part of each place. */
static Places parts_of_all(const Together *t, const Places *p, ImpExpr **(*part)(ImpExpr *e))
{
    Places parts = *p;
    for (int k = 0; k < t->n; k++)
        parts.at[k] = part(*p->at[k]);
    return parts;
}

static ImpExpr **cond_of(ImpExpr *e) { return &e->cond.cond; }
static ImpExpr **then_of(ImpExpr *e) { return &e->cond.then; }
static ImpExpr **otherwise_of(ImpExpr *e) { return &e->cond.otherwise; }

/* Conditions over data. */
static void join_choices(Together *t, const Places *p)
{
    Places cond = parts_of_all(t, p, cond_of), then = parts_of_all(t, p, then_of), otherwise = parts_of_all(t, p, otherwise_of);
    Guarded guarded[LIMIT_VECTOR_WIDTH];
    for (int k = 0; k < t->n; k++) {
        then.guard[k] = both_hold(t->ctx, p->guard[k], index_part(t->ctx, (*p->at[k])->cond.cond));
        guarded[k] = (Guarded){p->at[k], NULL};
    }
    ScalarValue pad;
    const ScalarValue *before = begin_guarded(t, guarded, t->n, &pad);
    join_places(t, &cond);
    t->sometimes++;
    guards_begin(t, &then);
    join_places(t, &then);
    guards_end(t);
    join_places(t, &otherwise);
    t->sometimes--;
    end_guarded(t, guarded, t->n, before);
}

/* Looks at places inside of guards, n of which are around them. */
static void join_inside(Together *t, const Places *inside, const Guarded *guarded, int n)
{
    ScalarValue pad;
    const ScalarValue *before = begin_guarded(t, guarded, n, &pad);
    join_places(t, inside);
    end_guarded(t, guarded, n, before);
}

/* Under conditions that compare indices their first sides are looked at. Where one is known to hold there is none. */
static void join_conds(Together *t, const Places *p)
{
    Places inside = *p;
    Conjuncts c = {.indices = true};
    ImpExpr *others[LIMIT_VECTOR_WIDTH];
    Guarded guarded[LIMIT_VECTOR_WIDTH];
    int n = 0;
    NatFacts *facts = t->lw->facts;
    for (int k = 0; k < t->n; k++) {
        ImpExpr *e = *p->at[k];
        others[k] = imp_lit(t->ctx, scalar_int(e->type, 0), t->span);
        if (e->kind != IE_COND || !asks_indices(e->cond.cond))
            continue;
        guarded[n++] = (Guarded){p->at[k], NULL};
        add_conjuncts(t->ctx, &c, e->cond.cond);
        inside.at[k] = &e->cond.then;
        inside.guard[k] = both_hold(t->ctx, p->guard[k], e->cond.cond);
        others[k] = e->cond.otherwise;
    }
    if (!n) {
        if (all_of_kind(t, p, IE_COND))
            join_choices(t, p);
        return;
    }
    t->lw->facts = nat_facts_new(t->ctx, facts);
    for (int i = 0; i < c.list.n; i++)
        assume(t->lw, c.list.at[i]);
    bool load = all_of_kind(t, &inside, IE_LOAD) && all_literals(t, others);
    guards_begin(t, &inside);
    if (load)
        join_loads(t, &inside, p->at, others);
    else
        join_inside(t, &inside, guarded, n);
    guards_end(t);
    t->lw->facts = facts;
}

typedef struct Sets {
    const ImpVar *var;
    int n;
} Sets;

static void count_set(void *user, ImpStmt *s)
{
    Sets *sets = user;
    sets->n += imp_sets(s) == sets->var;
}

/* The value of a register that is set once, among the statements of the list from number `from` on. One that is declared there and set on both sides of
 * an `if` has the value of the first side, of that `if` in the list itself. NULL: not so simple. */
static ImpExpr **register_value(const ImpBlock *list, int from, const ImpVar *var, ImpStmt **choice)
{
    ImpBlock rest = stmts_from(list, from);
    Sets sets = {var, 0};
    walk_stmts(&rest, count_set, &sets);
    bool declared = false;
    for (int i = from; i < list->list.n; i++) {
        ImpStmt *s = list->list.at[i];
        if (s->kind == IS_DECL && s->var.var == var && s->var.value)
            return var->constant && !var->nat && sets.n == 1 ? &s->var.value : NULL;
        declared |= s->kind == IS_DECL && s->var.var == var;
        if (s->kind != IS_IF || !s->branch.then.list.n)
            continue;
        ImpStmt *last = s->branch.then.list.at[s->branch.then.list.n - 1];
        if (declared && sets.n == 3 && var->slots == 1 && last->kind == IS_SET && last->var.var == var) { /* the declaration and two sides */
            *choice = s;
            return &last->var.value;
        }
        ImpExpr **inside = declared ? NULL : register_value(&s->branch.then, 0, var, choice);
        if (inside)
            return *choice ? NULL : inside;
    }
    return NULL;
}

/* Registers that were declared for the expressions: their values have the same form, too. */
static void join_registers(Together *t, const Places *p)
{
    Places values = *p;
    Conjuncts c = {.indices = true};
    NatFacts *facts = t->lw->facts;
    Guarded guarded[LIMIT_VECTOR_WIDTH];
    ImpStmt *choices[LIMIT_VECTOR_WIDTH] = {NULL};
    int n = 0;
    for (int k = 0; k < t->n; k++) {
        ImpStmt *choice = NULL;
        if ((*p->at[k])->kind != IE_VAR)
            continue;
        values.at[k] = t->from < 0 ? NULL : register_value(t->lw->out, t->from, (*p->at[k])->var.var, &choice);
        for (int j = 0; j < k && values.at[k]; j++)
            values.at[k] = values.at[j] == values.at[k] ? NULL : values.at[k];
        if (!values.at[k] || !guard_of_readers(t, (*p->at[k])->var.var, k, &values.guard[k]))
            return;
        if (!choice)
            continue;
        add_conjuncts(t->ctx, &c, choice->branch.cond);
        values.guard[k] = both_hold(t->ctx, values.guard[k], choice->branch.cond);
        choices[k] = choice;
        guarded[n++] = (Guarded){NULL, choice};
    }
    if (!c.indices)
        return;
    t->lw->facts = nat_facts_new(t->ctx, facts);
    for (int i = 0; i < c.list.n; i++)
        assume(t->lw, c.list.at[i]);
    int under = t->under.n;
    values_begin(t, p, &values, choices);
    join_inside(t, &values, guarded, n);
    t->guarding.n--;
    t->under.n = under;
    t->lw->facts = facts;
}

/* Is the second operand evaluated wherever the indices allow it? */
static bool guards_second(const Together *t, const Places *p)
{
    for (int k = 0; k < t->n; k++)
        if ((*p->at[k])->op.id != P_and || !asks_indices((*p->at[k])->op.args[0]))
            return false;
    return true;
}

/* The second operand of `and` and `or` is evaluated only sometimes. */
static void join_operands(Together *t, const Places *p)
{
    PrimId id = (*p->at[0])->op.id;
    for (int k = 1; k < t->n; k++)
        if ((*p->at[k])->op.id != id || (*p->at[k])->op.n != (*p->at[0])->op.n)
            return;
    Places inside = *p;
    bool guarded = guards_second(t, p);
    for (int i = 0; i < (*p->at[0])->op.n; i++) {
        bool second = i == 1 && (id == P_and || id == P_or), sometimes = second && !guarded;
        for (int k = 0; k < t->n; k++) {
            ImpExpr *e = *p->at[k];
            inside.at[k] = &e->op.args[i];
            if (second && id == P_and)
                inside.guard[k] = both_hold(t->ctx, p->guard[k], index_part(t->ctx, e->op.args[0]));
        }
        t->sometimes += sometimes;
        if (second)
            guards_begin(t, &inside);
        join_places(t, &inside);
        if (second)
            guards_end(t);
        t->sometimes -= sometimes;
    }
}

static void join_places(Together *t, const Places *p)
{
    ImpExprKind kind = (*p->at[0])->kind;
    bool same = all_of_kind(t, p, kind);
    for (int k = 0; k < t->n && !same; k++)
        if ((*p->at[k])->kind == IE_COND) {
            join_conds(t, p);
            return;
        }
    for (int k = 0; k < t->n && !same; k++)
        if ((*p->at[k])->kind == IE_VAR) {
            join_registers(t, p);
            return;
        }
    if (!same)
        return;
    Places inside = *p;
    switch (kind) {
    case IE_LIT: case IE_NAT: case IE_SHFL: break;
    case IE_VAR: join_registers(t, p); break;
    case IE_LOAD: join_loads(t, p, NULL, NULL); break;
    case IE_COND: join_conds(t, p); break;
    case IE_CAST:
        for (int k = 0; k < t->n; k++)
            inside.at[k] = &(*p->at[k])->cast.value;
        join_places(t, &inside);
        break;
    case IE_OP: join_operands(t, p); break;
    }
}

static void note_index(void *user, ImpStmt *s) { *(bool *)user |= s->kind == IS_DECL && s->var.var->nat; }

/* Does one of the statements name an index, which loads before them could not mention? */
static bool names_index(const Lowering *lw, int from)
{
    ImpBlock emitted = stmts_from(lw->out, from);
    bool found = false;
    walk_stmts(&emitted, note_index, &found);
    return found;
}

static void add_exprs(Together *t, ImpExpr **exprs, int n)
{
    for (int k = 0; k < n; k++) {
        exprs[k] = imp_copy_expr(t->ctx, exprs[k]);
        vec_push(t->ctx, &t->exprs, &exprs[k]);
    }
}

/* Looks at n of the expressions, which are changed where their loads are joined. */
static void join_exprs(Together *t, ImpExpr **exprs, int n)
{
    Places p = {{0}, {0}};
    t->n = n;
    if (n < 2 || n > LIMIT_VECTOR_WIDTH)
        return;
    for (int k = 0; k < n; k++)
        p.at[k] = &exprs[k];
    join_places(t, &p);
}

static void emit_loads(Together *t, int from)
{
    share_loads(t);
    int at = t->from < 0 ? t->lw->out->list.n : from;
    for (int i = 0; i < t->loads.list.n; i++)
        block_insert(t->ctx, t->lw->out, at + i, t->loads.list.at[i]);
}

static Together together_begin(Lowering *lw, int from, const char *name, Span span)
{
    Together t = {.lw = lw, .ctx = lw->ctx, .name = name, .span = span, .facts = lw->facts, .from = names_index(lw, from) ? -1 : from};
    ImpBlock emitted = stmts_from(lw->out, from);
    imp_own_all(lw->ctx, &emitted);
    return t;
}

void read_together(Lowering *lw, ImpExpr **exprs, int n, int from, const char *name, Span span)
{
    if (n < 2 || lw->failed)
        return;
    Together t = together_begin(lw, from, name, span);
    add_exprs(&t, exprs, n);
    join_exprs(&t, exprs, n);
    emit_loads(&t, from);
}

/* ---- stores ------------------------------------------------------------------------------------------------------------------- */

/* Each value in a register of its own, unless it costs nothing. */
static ImpExpr *in_own_register(Lowering *lw, ImpExpr *e, const char *name)
{
    if (is_trivial(e))
        return e;
    ImpVar *var = lower_new_var(lw, name, e->type, e->span);
    var->constant = true;
    ImpStmt *s = lower_emit(lw, IS_DECL, e->span);
    s->var.var = var;
    s->var.value = e;
    return imp_var(lw->ctx, var, nat_const(lw->ctx, 0), e->span);
}

/* The cell behind all guards of an acceptor, and what says that they hold; false where it is not of this form. */
static bool behind_guards(Lowering *lw, const View *v, View **cell, ImpExpr **guard)
{
    *guard = NULL;
    for (; v->kind == VIEW_GUARD && !v->before_then.list.n; v = v->source)
        *guard = *guard ? imp_op2(lw->ctx, P_and, SC_BOOL, *guard, v->cond, v->span) : v->cond;
    *cell = (View *)v;
    return v->kind == VIEW_BUF && !v->unordered;
}

typedef struct Cells {
    View *cell[LIMIT_VECTOR_WIDTH];
    ImpExpr *guard[LIMIT_VECTOR_WIDTH];
    ImpExpr *value[LIMIT_VECTOR_WIDTH];
    int width[LIMIT_VECTOR_WIDTH]; /* of the access that begins here */
    int n;
    Span span;
} Cells;

/* Cells k to k + w - 1, in one access where their guards hold. */
static void store_chunk(Lowering *lw, const Cells *c, int k, int w)
{
    ImpBlock *out = lw->out;
    NatFacts *facts = lw->facts;
    ImpExpr *all = all_hold(lw, c->guard + k, w);
    ImpStmt *choice = all ? lower_emit(lw, IS_IF, c->span) : NULL;
    if (choice) {
        choice->branch.cond = all;
        lw->out = &choice->branch.then;
    }
    if (w > 1)
        store_cells(lw, c->cell[k], c->value + k, w, c->span);
    else
        view_store(lw, c->cell[k], c->value[k], c->span);
    if (!choice)
        return;
    lw->out = &choice->branch.otherwise;
    lw->facts = nat_facts_new(lw->ctx, facts);
    assume_not(lw, all);
    for (int j = k; j < k + w && w > 1; j++) {
        if (c->guard[j] && (imp_same_value(c->guard[j], all) || condition_fails(lw, c->guard[j])))
            continue;
        lw->out = &choice->branch.otherwise;
        if (c->guard[j]) {
            ImpStmt *one = lower_emit(lw, IS_IF, c->span);
            one->branch.cond = c->guard[j];
            lw->out = &one->branch.then;
        }
        view_store(lw, c->cell[j], c->value[j], c->span);
    }
    lw->out = out;
    lw->facts = facts;
}

/* Widths of the accesses where all guards hold; false where none has more than one cell. */
static bool find_widths(Lowering *lw, Cells *c, const ImpExpr *all)
{
    NatFacts *facts = lw->facts;
    bool wide = false;
    lw->facts = nat_facts_new(lw->ctx, facts);
    assume(lw, all);
    for (int k = 0; k < c->n; k += c->width[k]) {
        c->width[k] = access_width(lw, c->cell + k, c->n - k);
        wide |= c->width[k] > 1;
    }
    lw->facts = facts;
    return wide;
}

bool store_together(Lowering *lw, View *const *parts, Value value, Span span)
{
    Cells c = {.n = value.n, .span = span};
    if (value.n < 2)
        return false;
    for (int k = 0; k < c.n; k++)
        if (!behind_guards(lw, parts[k], &c.cell[k], &c.guard[k]))
            return false;
    ImpExpr *all = all_hold(lw, c.guard, c.n);
    if (!all || !find_widths(lw, &c, all) || !view_one_writer(lw, c.cell[0]->buf, span))
        return false;
    for (int k = 0; k < c.n; k++)
        c.value[k] = in_own_register(lw, value.parts[k], "v");
    for (int k = 0; k < c.n; k += c.width[k])
        store_chunk(lw, &c, k, c.width[k]);
    return true;
}

/* ---- readTogether --------------------------------------------------------------------------------------------------------- */

/* One component of the elements, a scalar or a vector. */
typedef struct Component {
    View *view; /* VIEW_VECTOR: its items are set last */
    Type type;
    View **parts; /* of the elements */
    ImpExpr **exprs;
} Component;

typedef VEC(Component) Components;

static View *find_component(Lowering *lw, View **elements, int n, Type type, Components *components, Span span)
{
    View *all = view_new(lw, VIEW_VECTOR, type_array(lw->ctx, nat_const(lw->ctx, n), type), span);
    all->n = n;
    all->items = NEWN(lw->ctx, View *, n);
    for (int k = 0; k < n; k++)
        if (elements[k]->kind == VIEW_ERROR)
            return elements[k];
    vec_push(lw->ctx, components, ((Component){all, type, elements, NEWN(lw->ctx, ImpExpr *, n * type_width(type))}));
    return all;
}

/* Element by element: what the components of one are computed from stands together. */
static void read_elements(Lowering *lw, int n, const Components *components)
{
    for (int k = 0; k < n; k++)
        for (int c = 0; c < components->n; c++) {
            const Component *of = &components->at[c];
            int width = type_width(of->type);
            Value value = value_of(lw, of->parts[k], "v");
            memcpy(of->exprs + k * width, value.parts, sizeof *of->exprs * (size_t)width);
        }
}

/* `xs`: the array of these elements. Arrays in them stay where they are. */
static View *find_components(Lowering *lw, View *xs, View **elements, int n, Type type, Components *components, Span span)
{
    if (type_is_scalar_like(type))
        return find_component(lw, elements, n, type, components, span);
    if (type->kind != TY_TUPLE)
        return xs;
    View *all = view_new(lw, VIEW_ZIP, type_array(lw->ctx, nat_const(lw->ctx, n), type), span);
    all->n = type->n_items;
    all->items = NEWN(lw->ctx, View *, all->n);
    for (int c = 0; c < all->n; c++) {
        View **parts = NEWN(lw->ctx, View *, n);
        for (int k = 0; k < n; k++)
            parts[k] = view_proj(lw, elements[k], c);
        all->items[c] = find_components(lw, view_proj(lw, xs, c), parts, n, type->items[c], components, span);
        if (all->items[c]->kind == VIEW_ERROR)
            return all->items[c];
    }
    return all;
}

static void keep_component(Lowering *lw, const Component *c)
{
    int width = type_width(c->type);
    for (int k = 0; k < c->view->n; k++) {
        Value value = {width, c->exprs + k * width};
        for (int j = 0; j < width; j++)
            value.parts[j] = in_own_register(lw, value.parts[j], "v");
        c->view->items[k] = value_view(lw, c->type, value, c->view->span);
    }
}

/* The number of elements; 0 where they are too many (diagnosed). */
static int64_t together_count(Lowering *lw, const Core *e)
{
    Nat n = lower_nat(lw, e->type->size);
    if (nat_is_const(n) && n->value <= LIMIT_VECTOR_WIDTH)
        return n->value;
    Diag *d = lower_error(lw, E0414, e->span, "readTogether of %s elements: only a constant number up to %d is read together", nat_text(lw->ctx, n), LIMIT_VECTOR_WIDTH);
    diag_help(lw->ctx, d, "split the array into pieces of constant size first");
    return 0;
}

View *lower_read_together(Lowering *lw, const Core *e)
{
    View *xs = lower_read(lw, e->prim.args[0]);
    int64_t n = together_count(lw, e);
    if (n == 0 || xs->kind == VIEW_ERROR)
        return lw->failed ? view_error(lw, e->type) : xs;
    if (n == 1)
        return xs;
    int from = lw->out->list.n;
    bool together = lw->together;
    lw->together = true;
    View **elements = NEWN(lw->ctx, View *, n);
    for (int k = 0; k < n; k++) {
        elements[k] = view_at(lw, xs, nat_const(lw->ctx, k));
        if (elements[k]->kind == VIEW_ERROR)
            return elements[k];
    }
    Components components = {0};
    View *all = find_components(lw, xs, elements, (int)n, lower_type(lw, e->type->elem), &components, e->span);
    if (lw->failed)
        return view_error(lw, e->type);
    read_elements(lw, (int)n, &components);
    lw->together = together;
    if (lw->failed)
        return view_error(lw, e->type);
    Together t = together_begin(lw, from, "v", e->span);
    for (int c = 0; c < components.n; c++)
        add_exprs(&t, components.at[c].exprs, (int)n * type_width(components.at[c].type));
    for (int c = 0; c < components.n; c++)
        if (type_width(components.at[c].type) == 1)
            join_exprs(&t, components.at[c].exprs, (int)n);
    emit_loads(&t, from);
    for (int c = 0; c < components.n; c++)
        keep_component(lw, &components.at[c]);
    return all;
}
