/* From the body of an entry to its list of nests: docs/nests.md. */
#include "schedule/build.h"

bool holds_index(Type type)
{
    bool index = type->kind == TY_IDX || (type->elem && holds_index(type->elem));
    for (int i = 0; i < type->n_items && !index; i++)
        index = holds_index(type->items[i]);
    return index;
}

/* The same value, with scalars that are computed in nests. Indices are no values to store: what they
 * may be depends on the place. */
static Value *stored(Build *b, Value *value, const char *name)
{
    if (value->kind == VALUE_TUPLE) {
        bool reads = true, whole = !type_gives_arrays(value->type) && !holds_index(value->type);
        for (int i = 0; i < value->n; i++)
            reads &= value->items[i]->kind == VALUE_TERM && is_read(value->items[i]->term);
        if (whole && !reads)
            return value_term(&b->v, nest_of(b, value_as_term(&b->v, value), name));
        Value **items = NEWN(b->ctx, Value *, value->n + 1);
        for (int i = 0; i < value->n; i++)
            items[i] = stored(b, value->items[i], name);
        return value_tuple(&b->v, value->n, items, value->span);
    }
    bool scalar = value->kind == VALUE_TERM && !type_gives_arrays(value->type);
    if (!scalar || holds_index(value->type) || is_read(value->term))
        return value;
    return value_term(&b->v, nest_of(b, value->term, name));
}

/* How many terms an element of the value is made of, about. */
static int leaves(const Value *value)
{
    enum { MANY = 1 << 20 };
    int n = 1;
    for (int i = 0; i < value->n && n < MANY; i++)
        n += leaves(value->items[i]);
    for (int i = 0; i < value->n_given && n < MANY; i++)
        n += nat_nodes(value->given[i]) / 8;
    return n;
}

/* What a name stands for: an array that is found by many steps is copied. */
static Value *named(Build *b, Value *value, const char *name)
{
    enum { MOST_LEAVES = 24 };
    if (value->type->kind == TY_ARRAY && leaves(value) > MOST_LEAVES)
        return build_copied(b, value, name);
    return stored(b, value, name);
}

Value *build_copied(Build *b, const Value *value, const char *name)
{
    if (value->type->kind != TY_ARRAY) {
        Core *term = value_as_term(&b->v, value);
        return holds_index(term->type) ? value_term(&b->v, term)
                                       : value_term(&b->v, nest_of(b, term, name));
    }
    int mark = b->places.n;
    CoreVar *axis = open_axis(b, "i", value->type->size, value->span);
    Value *element = build_copied(b, value_at(&b->v, value, axis->nat), name);
    element = place_pop(b, mark, element);
    return value_each(&b->v, axis, value->type->size, element);
}

/* The nest of this name is stored, whatever that costs. */
static void keep_nest(Build *b, const CoreVar *var)
{
    for (int i = 0; i <= b->sequences.n; i++) {
        const Nests *nests = i < b->sequences.n ? b->sequences.at[i].nests : b->nests;
        for (int k = nests->list.n - 1; k >= 0; k--)
            if (nests->list.at[k]->var == var)
                nests->list.at[k]->kept = true;
    }
}

/* What the program says is stored: of what is computed, each array of scalars. */
static Value *kept(Build *b, Value *value, const char *name)
{
    if (value->kind == VALUE_TUPLE) {
        Value **items = NEWN(b->ctx, Value *, value->n + 1);
        for (int i = 0; i < value->n; i++)
            items[i] = kept(b, value->items[i], name);
        return value_tuple(&b->v, value->n, items, value->span);
    }
    if (value->type->kind == TY_ARRAY) {
        int mark = b->places.n;
        CoreVar *axis = open_axis(b, "i", value->type->size, value->span);
        Value *element = kept(b, value_at(&b->v, value, axis->nat), name);
        return value_each(&b->v, axis, value->type->size, place_pop(b, mark, element));
    }
    Core *term = value_as_term(&b->v, value);
    if (holds_index(term->type))
        return value;
    Core *read = is_read(term) ? term : nest_of(b, term, name);
    int indices;
    const Core *first, *base = term_base(read, &indices, &first);
    if (base->kind == CORE_VAR)
        keep_nest(b, base->var);
    return value_term(&b->v, read);
}

/* ---- names and functions ---- */

static Reads *reads_of(Build *b, const CoreVar *var)
{
    while (b->reads.n <= var->id)
        vec_push(b->ctx, &b->reads, (Reads){0});
    return &b->reads.at[var->id];
}

/* Notes how often each variable is read: twice, where that is in a function that it is not of. */
static void count_uses(Build *b, const Core *term, int functions)
{
    for (; term->kind == CORE_LET; term = term->let.body) {
        count_uses(b, term->let.value, functions);
        reads_of(b, term->let.var)->functions = functions;
    }
    if (term->kind == CORE_VAR)
        reads_of(b, term->var)->n += reads_of(b, term->var)->functions < functions ? 2 : 1;
    functions += term->kind == CORE_LAMBDA;
    for (int i = 0; term->kind == CORE_LAMBDA && i < term->lambda.n; i++)
        reads_of(b, term->lambda.params[i])->functions = functions;
    for (int i = 0; i < term_children(term); i++)
        count_uses(b, term_child(term, i), functions);
}

static void set(Build *b, const CoreVar *var, Value *value)
{
    while (b->env.n <= var->id)
        vec_push(b->ctx, &b->env, NULL);
    b->env.at[var->id] = value;
}

void build_bind(Build *b, CoreVar *var, Value *value)
{
    if (var->type->kind != TY_IDX) {
        set(b, var, reads_of(b, var)->n > 1 ? named(b, value, var->name) : value);
        return;
    }
    Nat nat = index_nat(value->term);
    if (!nat) { /* data: a variable says it to sizes and indices */
        CoreVar *index = make_var(b->ctx, &b->next_var, var->name, copy_type(&b->copy, var->type), var->span);
        place_push(b, PLACE_INDEX, index, value->term);
        value = value_term(&b->v, make_ref(b->ctx, index, var->span));
        nat = index->nat;
    }
    vec_push(b->ctx, &b->copy.from, var->nat);
    vec_push(b->ctx, &b->copy.to, nat);
    set(b, var, value);
}

Mark mark_here(const Build *b) { return (Mark){b->places.n, b->copy.from.n}; }

Value *back_to(Build *b, Mark mark, Value *value)
{
    b->copy.from.n = b->copy.to.n = mark.nats;
    return place_pop(b, mark.places, value);
}

static Value *eval_lets(Build *b, const Core *term, const char *name)
{
    Mark mark = mark_here(b);
    for (; term->kind == CORE_LET; term = term->let.body) {
        Value *value = build_value(b, term->let.value, term->let.var->name);
        build_bind(b, term->let.var, value);
    }
    return back_to(b, mark, build_value(b, term, name));
}

/* ---- primitives that stay ---- */

static Value *look_up(Build *b, const CoreVar *var)
{
    return var->id < b->env.n ? b->env.at[var->id] : NULL;
}

/* What a variable stands for in a function that stays as it is. */
static Core *outer_term(void *user, const CoreVar *var)
{
    Build *b = user;
    Value *value = look_up(b, var);
    if (!value)
        return NULL;
    Core *term = value_as_term(&b->v, value);
    if (value->kind == VALUE_TERM || term->type->kind != TY_ARRAY)
        return term;
    CoreVar *array = make_var(b->ctx, &b->next_var, var->name, term->type, var->span);
    vec_push(b->ctx, &b->arrays, make_let(b->ctx, array, term, term));
    return make_ref(b->ctx, array, var->span);
}

/* A primitive as it is, of arguments that are evaluated. */
static Core *as_it_is(Build *b, const Core *term, const char *name)
{
    Core *new = NEW(b->ctx, Core);
    *new = *term;
    new->prim.args = NEWN(b->ctx, Core *, term->prim.n_args + 1);
    Nat *nats = NEWN(b->ctx, Nat, term->prim.n_nats + 1);
    for (int i = 0; i < term->prim.n_nats; i++)
        nats[i] = copy_nat(&b->copy, term->prim.nats[i]);
    new->prim.nats = nats;
    new->type = copy_type(&b->copy, term->type);
    new->prim.cast_type = copy_type(&b->copy, term->prim.cast_type);
    new->height = 1;
    for (int i = 0; i < term->prim.n_args; i++) {
        const Core *arg = term->prim.args[i];
        Core *copy = arg->kind == CORE_LAMBDA ? copy_term(&b->copy, arg)
                                              : value_as_term(&b->v, build_value(b, arg, name));
        new->prim.args[i] = copy;
        if (copy->height >= new->height)
            new->height = copy->height + 1;
    }
    return new;
}

/* The nest of a primitive whose function reads the arrays that have been put down since the mark. */
static Value *nest_with_arrays(Build *b, Core *node, int mark, const char *name)
{
    while (b->arrays.n > mark) {
        const Core *let = b->arrays.at[--b->arrays.n];
        node = make_let(b->ctx, let->let.var, let->let.value, node);
    }
    return value_term(&b->v, nest_of(b, node, name));
}

static Value *eval_node(Build *b, const Core *term, const char *name)
{
    int mark = b->arrays.n;
    return nest_with_arrays(b, as_it_is(b, term, name), mark, name);
}

/* A kernel that the user lowered by hand is one nest, with the memory and the size classes that it has. */
static Value *eval_by_hand(Build *b, const Core *term, const char *name)
{
    int mark = b->arrays.n;
    return nest_with_arrays(b, copy_term(&b->copy, term), mark, name);
}

/* ---- arrays ---- */

static Value *eval_generate(Build *b, const Core *term, const char *name)
{
    const Core *f = term->prim.args[0];
    Mark mark = mark_here(b);
    Nat n = copy_nat(&b->copy, term->prim.nats[0]);
    CoreVar *axis = open_axis(b, f->lambda.params[0]->name, n, term->span);
    build_bind(b, f->lambda.params[0], value_term(&b->v, make_ref(b->ctx, axis, term->span)));
    Value *element = stored(b, build_value(b, f->lambda.body, name), name);
    return value_each(&b->v, axis, n, back_to(b, mark, element));
}

static Value *eval_map(Build *b, const Core *term, const char *name)
{
    const Core *f = term->prim.args[0];
    Value *array = build_value(b, term->prim.args[1], name);
    Mark mark = mark_here(b);
    Nat n = array->type->size;
    CoreVar *axis = open_axis(b, "i", n, term->span);
    build_bind(b, f->lambda.params[0], value_at(&b->v, array, axis->nat));
    Value *element = stored(b, build_value(b, f->lambda.body, name), name);
    return value_each(&b->v, axis, n, back_to(b, mark, element));
}

/* A map whose lengths have no bound is one nest, as it is written. */
static Value *eval_whole(Build *b, const Core *term, const char *name,
                         Value *(*fn)(Build *b, const Core *term, const char *name))
{
    bool outermost = true;
    for (int i = 0; i < b->places.n; i++)
        outermost &= b->places.at[i].kind != PLACE_AXIS;
    int nests = b->nests->list.n;
    Value *value = fn(b, term, name);
    if (!b->ragged || !outermost)
        return value;
    b->ragged = false;
    nests_forget(b, nests);
    return eval_node(b, term, name);
}

static Value *view_of(Build *b, ValueKind kind, const Core *term, int first)
{
    Value *items[4];
    int n = term->prim.n_args - first;
    for (int i = 0; i < n; i++)
        items[i] = build_value(b, term->prim.args[first + i], "view");
    return value_new(&b->v, kind, copy_type(&b->copy, term->type), term->span, n, items);
}

static Nat nat_of(Build *b, const Core *term, int k) { return copy_nat(&b->copy, term->prim.nats[k]); }

static Value *eval_index_map(Build *b, const Core *term)
{
    Value *view = view_of(b, VALUE_MAP, term, 0);
    Nat *nats = NEWN(b->ctx, Nat, term->prim.n_nats + 1);
    for (int i = 0; i < term->prim.n_nats; i++)
        nats[i] = nat_of(b, term, i);
    view->prim = term->prim.id;
    view->nats = nats;
    return view;
}

static Value *eval_pad(Build *b, const Core *term)
{
    bool both = term->prim.id == P_padCst; /* {n} (l) (r), or {n} (k) */
    Value *pad = stored(b, build_value(b, term->prim.args[0], "pad"), "pad");
    Value *items[2] = {build_value(b, term->prim.args[1], "padded"), pad};
    Value *view = value_new(&b->v, VALUE_PAD, copy_type(&b->copy, term->type), term->span, 2, items);
    view->lo = both ? nat_of(b, term, 1) : nat_const(b->ctx, 0);
    return view;
}

/* Vectors of what stands in memory, or of a few elements, are views; of anything else, that is
 * stored first. */
static Value *eval_vectors(Build *b, const Core *term, const char *name)
{
    enum { FEW = 16 };
    Value *array = stored(b, build_value(b, term->prim.args[0], name), name);
    bool few = nat_is_const(array->type->size) && array->type->size->value <= FEW;
    if (!few && (array->kind != VALUE_TERM || array->type != array->term->type))
        array = build_copied(b, array, name);
    Nat *nats = NEWN(b->ctx, Nat, term->prim.n_nats + 1);
    for (int i = 0; i < term->prim.n_nats; i++)
        nats[i] = nat_of(b, term, i);
    Core *source = value_as_term(&b->v, array);
    return value_term(&b->v, make_prim(b->ctx, term->prim.id, copy_type(&b->copy, term->type),
                                       term->prim.n_nats, nats, 1, &source, term->span));
}

static Value *eval_unzip(Build *b, const Core *term)
{
    Value *pairs = build_value(b, term->prim.args[0], "pairs"), *items[2];
    Type type = copy_type(&b->copy, term->type);
    for (int i = 0; i < 2; i++)
        items[i] = value_component(&b->v, pairs, type->items[i], i);
    return value_tuple(&b->v, 2, items, term->span);
}

static Value *eval_reorder(Build *b, const Core *term)
{
    const Core *f = term->prim.args[0];
    Mark mark = mark_here(b);
    Nat n = nat_of(b, term, 0);
    CoreVar *axis = open_axis(b, "i", n, term->span);
    build_bind(b, f->lambda.params[0], value_term(&b->v, make_ref(b->ctx, axis, term->span)));
    Value *at = back_to(b, mark, build_value(b, f->lambda.body, "at"));
    Value *items[2] = {value_each(&b->v, axis, n, at), build_value(b, term->prim.args[1], "reordered")};
    return value_new(&b->v, VALUE_GATHER, copy_type(&b->copy, term->type), term->span, 2, items);
}

/* ---- sequences ---- */

static Value *eval_steps(Build *b, const Core *term, const char *name)
{
    Value *value = eval_sequence(b, term, name);
    return value ? value : eval_node(b, term, name);
}

/* ---- scalars and branches ---- */

/* A value of a branch. */
static Value *eval_under(Build *b, const Core *term, Core *cond, const char *name)
{
    int mark = b->places.n;
    place_push(b, PLACE_GUARD, NULL, cond);
    return place_pop(b, mark, build_value(b, term, name));
}

static Value *eval_if(Build *b, const Core *term, const char *name)
{
    Value *cond = build_value(b, term->cond.cond, "condition");
    if (type_gives_arrays(term->type))
        cond = stored(b, cond, "condition");
    Value *then = eval_under(b, term->cond.then, cond->term, name);
    Value *otherwise = eval_under(b, term->cond.otherwise, make_not(b->ctx, cond->term), name);
    return value_choice(&b->v, cond->term, then, otherwise);
}

static Value *eval_scalar(Build *b, const Core *term)
{
    PrimId id = term->prim.id;
    if (id != P_and && id != P_or)
        return value_term(&b->v, as_it_is(b, term, "value"));
    Core *first = build_value(b, term->prim.args[0], "condition")->term;
    Core *under = id == P_and ? first : make_not(b->ctx, first);
    Core *args[2] = {first, eval_under(b, term->prim.args[1], under, "condition")->term};
    return value_term(&b->v, make_prim(b->ctx, id, term->type, 0, NULL, 2, args, term->span));
}

static Value *eval_tuple(Build *b, const Core *term, const char *name)
{
    Value **items = NEWN(b->ctx, Value *, term->tuple.n + 1);
    for (int i = 0; i < term->tuple.n; i++)
        items[i] = build_value(b, term->tuple.items[i], name);
    return value_tuple(&b->v, term->tuple.n, items, term->span);
}

/* ---- terms ---- */

static Value *eval_prim(Build *b, const Core *term, const char *name)
{
    switch ((int)term->prim.id) {
    case P_id: case P_readOnce: case P_keepCached: case P_readTogether: case P_toShared:
    case P_toPrivate:
        return build_value(b, term->prim.args[0], name);
    case P_toGlobal:
        return kept(b, build_value(b, term->prim.args[0], name), name);
    case P_map: case P_mapSeq: case P_mapSeqUnroll:
        return eval_whole(b, term, name, eval_map);
    case P_generate:
        return eval_whole(b, term, name, eval_generate);
    case P_reduceSeq: case P_iterate:
        return eval_whole(b, term, name, eval_steps);
    case P_zip: case P_zip3: case P_zip4:
        return view_of(b, VALUE_ZIP, term, 0);
    case P_unzip:
        return eval_unzip(b, term);
    case P_padCst: case P_padTo:
        return eval_pad(b, term);
    case P_gather:
        return view_of(b, VALUE_GATHER, term, 0);
    case P_reorder:
        return eval_reorder(b, term);
    case P_concat: {
        Value *view = view_of(b, VALUE_CONCAT, term, 0);
        view->lo = view->items[0]->type->size;
        return view;
    }
    case P_index:
        return value_at(&b->v, build_value(b, term->prim.args[0], name),
                        nat_simplify(b->ctx, b->v.facts, nat_of(b, term, 1)));
    case P_single:
        return value_at(&b->v, build_value(b, term->prim.args[0], name), nat_const(b->ctx, 0));
    case P_nextKernel: case P_lastBlock: case P_gridSync: {
        const Core *f = term->prim.args[0];
        Mark mark = mark_here(b);
        Value *array = build_value(b, term->prim.args[1], f->lambda.params[0]->name);
        array = term->prim.id == P_nextKernel ? kept(b, array, f->lambda.params[0]->name) : named(b, array, name);
        build_bind(b, f->lambda.params[0], array);
        return back_to(b, mark, build_value(b, f->lambda.body, name));
    }
    }
    if (term->prim.id == P_asVector || term->prim.id == P_asScalar)
        return eval_vectors(b, term, name);
    if (index_map_rank(term->prim.id, false))
        return eval_index_map(b, term);
    if (prim_rows[term->prim.id].level == LEVEL_SCALAR && !type_gives_arrays(term->type))
        return eval_scalar(b, term);
    return eval_node(b, term, name);
}

Value *build_value(Build *b, const Core *term, const char *name)
{
    ctx_look(b->ctx);
    if (b->places.n == 0 && term_is_by_hand(term)) /* not under conditions: its blocks may wait for each other */
        return eval_by_hand(b, term, name);
    switch (term->kind) {
    case CORE_VAR:
        return look_up(b, term->var);
    case CORE_SIZE:
        return value_term(&b->v, make_size(b->ctx, copy_nat(&b->copy, term->size),
                                           copy_type(&b->copy, term->type), term->span));
    case CORE_PRIM:
        return eval_prim(b, term, name);
    case CORE_LET:
        return eval_lets(b, term, name);
    case CORE_TUPLE:
        return eval_tuple(b, term, name);
    case CORE_PROJ:
        return value_part(&b->v, build_value(b, term->proj.value, name), term->proj.index);
    case CORE_IF:
        return eval_if(b, term, name);
    case CORE_LIT: case CORE_LAMBDA: case CORE_UNIT_ERROR:
        break;
    }
    return value_term(&b->v, (Core *)(uintptr_t)term);
}

/* ---- the whole ---- */

static Nests *build(Build *b, const Core *term);

/* One side of a condition over sizes, at the end of the program: a list of its own. */
static Nests *build_side(Build *b, const Core *term, const Core *cond, bool holds)
{
    NatFacts *facts = b->v.facts, *known = b->known;
    Nests *nests = b->nests;
    Table by_key = b->by_key;
    b->known = b->v.facts = nat_facts_new(b->ctx, facts);
    b->by_key = (Table){0};
    core_cond_facts(b->ctx, b->known, cond, holds);
    Nests *side = build(b, term);
    b->v.facts = facts;
    b->known = known;
    b->nests = nests;
    b->by_key = by_key;
    return side;
}

static Nests *build(Build *b, const Core *term)
{
    Nests *nests = NEW(b->ctx, Nests);
    b->nests = nests;
    Mark mark = mark_here(b);
    for (; term->kind == CORE_LET && term->let.var->type->kind != TY_IDX; term = term->let.body)
        build_bind(b, term->let.var, build_value(b, term->let.value, term->let.var->name));
    if (term->kind == CORE_IF && term_is_over_sizes(term->cond.cond)) {
        nests->cond = term->cond.cond;
        nests->then = build_side(b, term->cond.then, nests->cond, true);
        nests->otherwise = build_side(b, term->cond.otherwise, nests->cond, false);
        return nests;
    }
    Value *result = stored(b, back_to(b, mark, build_value(b, term, "result")), "result");
    nests->result = build_results(b, result, copy_type(&b->copy, term->type));
    return nests;
}

/* Notes what a term reads. */
static void note_read(Build *b, const Core *term, Table *read)
{
    for (; term->kind == CORE_LET; term = term->let.body)
        note_read(b, term->let.value, read);
    if (term->kind == CORE_VAR)
        table_put(b->ctx, read, term->var, (void *)(uintptr_t)term);
    for (int i = 0; i < term_children(term); i++)
        note_read(b, term_child(term, i), read);
}

static void drop_unread(Build *b, Nests *nests, Table *read)
{
    if (nests->result)
        note_read(b, nests->result, read);
    else {
        note_read(b, nests->cond, read);
        drop_unread(b, nests->then, read);
        drop_unread(b, nests->otherwise, read);
    }
    int n = nests->list.n;
    for (int i = n - 1; i >= 0; i--)
        if (table_get(read, nests->list.at[i]->var))
            note_read(b, nests->list.at[i]->element, read);
    nests->list.n = 0;
    for (int i = 0; i < n; i++)
        if (table_get(read, nests->list.at[i]->var))
            vec_push(b->ctx, &nests->list, nests->list.at[i]);
}

void nests_drop_unread(Build *b, Nests *nests)
{
    Table read = {0};
    drop_unread(b, nests, &read);
}

Nests *nests_of(Ctx *ctx, const CoreEntry *entry, EndsOpen ends_open, int *next_var)
{
    Build b = {.ctx = ctx, .entry = entry, .ends_open = ends_open};
    b.known = nat_facts_new(ctx, (NatFacts *)(uintptr_t)entry->known);
    b.v = (Values){.ctx = ctx, .next_var = &b.next_var, .facts = b.known};
    b.copy = (TermCopy){.ctx = ctx, .next_var = &b.next_var, .by = outer_term, .user = &b};
    b.next_var = *next_var;
    for (int i = 0; i < entry->n_inputs; i++)
        set(&b, entry->inputs[i], value_term(&b.v, make_ref(ctx, entry->inputs[i], entry->span)));
    count_uses(&b, entry->body, 0);
    Nests *nests = build(&b, entry->body);
    nests_drop_unread(&b, nests);
    *next_var = b.next_var;
    return nests;
}

Core *nests_body(Ctx *ctx, const Nests *nests, Type type)
{
    Core *body = nests->result;
    if (!body) {
        body = make_if(ctx, nests->cond, nests_body(ctx, nests->then, type),
                       nests_body(ctx, nests->otherwise, type), nests->cond->span);
        body->type = type; /* that of a branch may be the same only where the condition holds */
    }
    for (int i = nests->list.n - 1; i >= 0; i--) {
        const Nest *nest = nests->list.at[i];
        body = make_let(ctx, nest->var, nest->value ? nest->value : close_nest(ctx, nest), body);
    }
    return body;
}
