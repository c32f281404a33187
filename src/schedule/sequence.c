/* Sequences whose state has arrays: Note [Sequences] in build.h.
 *
 * Where what becomes of an element of the state depends on one element of each array of the state, the
 * sequence of arrays is an array of sequences, whose state is scalars:
 *
 *   reduceSeq(fun s row => map(f, zip(s, row)), z, xs)
 *     ->  generate(fun j => reduceSeq(fun s k => f(s, xs[k][j]), z[j], generate(fun k => k))) */
#include "ir/key.h"
#include "schedule/build.h"

enum { MOST_RANK = 8 };

typedef struct Leaf { /* an array of scalars in the state, or a scalar */
    Type type;
    CoreVar *var; /* in the step */
    Value *final; /* after the steps */
    int rank;
    Nat at[MOST_RANK]; /* taken: the element that a sequence of scalars is about */
    int taken;         /* number in its state, counted from 1 */
    int needs;         /* so many elements of the state are needed for one of it */
} Leaf;

typedef struct Steps {
    Build *b;
    int n_outer;  /* axes around, which are the first ones of each leaf */
    CoreVar *outer[MOST_RANK];
    const Core *term, *f;
    Value *start, *next;
    Nat n;         /* steps */
    CoreVar *step; /* the number of the step: an axis, for what does not depend on the state */
    Nests *nests;
    VEC(Leaf) leaves;
    VEC(int) taken; /* leaves that the sequence of scalars has, in order */
    VEC(Nat) inner; /* variables of nats around the read */
    bool fits;
} Steps;

/* ---- arrays of a state ---- */

static Type array_of(Ctx *ctx, Type elem, const Type *around, int n)
{
    for (int i = n - 1; i >= 0; i--)
        elem = type_array(ctx, around[i]->size, elem);
    return elem;
}

/* Notes the arrays of scalars that a value of the type is made of, each of the arrays around it. */
static void add_leaves(Steps *s, Type type, const Type *around, int n)
{
    if (type->kind == TY_ARRAY && n < MOST_RANK) {
        Type inside[MOST_RANK];
        for (int i = 0; i < n; i++)
            inside[i] = around[i];
        inside[n] = type;
        add_leaves(s, type->elem, inside, n + 1);
        return;
    }
    s->fits &= type->kind != TY_ARRAY;
    for (int i = 0; i < type->n_items; i++)
        add_leaves(s, type->items[i], around, n);
    if (type->kind != TY_TUPLE)
        vec_push(s->b->ctx, &s->leaves, ((Leaf){.type = array_of(s->b->ctx, type, around, n), .rank = n}));
}

typedef Value *(*LeafValue)(Steps *s, Leaf *leaf);

static Value *state_now(Steps *s, Leaf *leaf)
{
    return value_term(&s->b->v, make_ref(s->b->ctx, leaf->var, s->term->span));
}

static Value *state_final(Steps *s, Leaf *leaf)
{
    (void)s;
    return leaf->final;
}

/* The value of a type whose arrays of scalars are those of the leaves, from number *k on. */
static Value *of_leaves(Steps *s, Type type, LeafValue value, int *k, const Nat *at, int n)
{
    Build *b = s->b;
    if (type->kind == TY_TUPLE) {
        Value *items[LIMIT_TUPLE_ITEMS];
        for (int i = 0; i < type->n_items; i++)
            items[i] = of_leaves(s, type->items[i], value, k, at, n);
        return value_tuple(&b->v, type->n_items, items, s->term->span);
    }
    if (type->kind == TY_ARRAY) {
        Nat inside[MOST_RANK + 1];
        for (int i = 0; i < n; i++)
            inside[i] = at[i];
        CoreVar *axis = make_var(b->ctx, &b->next_var, "i", type_idx(b->ctx, type->size), s->term->span);
        inside[n] = axis->nat;
        return value_each(&b->v, axis, type->size, of_leaves(s, type->elem, value, k, inside, n + 1));
    }
    Value *leaf = value(s, &s->leaves.at[(*k)++]);
    for (int i = 0; i < n; i++)
        leaf = value_at(&b->v, leaf, at[i]);
    return leaf;
}

static Value *with_leaves(Steps *s, Type type, LeafValue value)
{
    Nat at[MOST_RANK];
    int k = 0;
    for (int i = 0; i < s->n_outer; i++)
        at[i] = s->outer[i]->nat;
    return of_leaves(s, type, value, &k, at, s->n_outer);
}

/* The element of leaf number k at these indices. */
static Value *leaf_element(Steps *s, Type type, Value *value, int *k, const Nat *at)
{
    if (type->kind == TY_ARRAY)
        return leaf_element(s, type->elem, value_at(&s->b->v, value, at[0]), k, at + 1);
    if (type->kind != TY_TUPLE)
        return (*k)-- == 0 ? value : NULL;
    Value *found = NULL;
    for (int i = 0; i < type->n_items && !found; i++)
        found = leaf_element(s, type->items[i], value_part(&s->b->v, value, i), k, at);
    return found;
}

static Core *element_of(Steps *s, Value *value, int k)
{
    const Leaf *leaf = &s->leaves.at[k];
    Type type = copy_type(&s->b->copy, s->f->type);
    return value_as_term(&s->b->v, leaf_element(s, type, value, &k, leaf->at + s->n_outer));
}

/* ---- one step ---- */

/* The axes around, unless this is in the step of another sequence. */
static void find_outer(Steps *s)
{
    const Build *b = s->b;
    for (int i = 0; i < b->places.n && b->sequences.n == 0 && s->n_outer < MOST_RANK; i++)
        if (b->places.at[i].kind == PLACE_AXIS)
            s->outer[s->n_outer++] = b->places.at[i].var;
    s->fits &= s->n_outer < MOST_RANK;
}

static void find_leaves(Steps *s, Type type)
{
    Type around[MOST_RANK];
    for (int i = 0; i < s->n_outer; i++)
        around[i] = type_array(s->b->ctx, s->outer[i]->type->size, type);
    add_leaves(s, type, around, s->n_outer);
}

/* Evaluates the start and a step, in which the state is variables. */
static void eval_step(Steps *s, const char *name)
{
    Build *b = s->b;
    const Core *term = s->term;
    bool iterates = term->prim.id == P_iterate;
    s->start = build_value(b, term->prim.args[1], name);
    Value *xs = iterates ? NULL : build_value(b, term->prim.args[2], name);
    s->n = iterates ? copy_nat(&b->copy, term->prim.nats[2]) : xs->type->size;
    Mark mark = mark_here(b);
    if (iterates) {
        vec_push(b->ctx, &b->copy.from, s->f->lambda.nats[0]);
        vec_push(b->ctx, &b->copy.to, copy_nat(&b->copy, term->prim.nats[0]));
    }
    Type type = copy_type(&b->copy, s->f->type);
    find_outer(s);
    find_leaves(s, type);
    int from = b->places.n;
    s->step = open_axis(b, "step", s->n, term->span);
    if (nat_of_all(b, s->n)) /* that has a value whatever the conditions are */
        s->n = s->step->type->size;
    s->nests = NEW(b->ctx, Nests);
    int outside = b->sequences.n ? b->places.n : 0;
    vec_push(b->ctx, &b->sequences, ((Sequence){outside, from, b->places.n, s->nests}));
    for (int i = 0; i < s->leaves.n; i++) {
        Leaf *leaf = &s->leaves.at[i];
        leaf->var = make_var(b->ctx, &b->next_var, "state", leaf->type, term->span);
        table_put(b->ctx, &b->depth_of, leaf->var, (void *)(uintptr_t)b->sequences.n);
    }
    build_bind(b, s->f->lambda.params[0], with_leaves(s, type, state_now));
    if (!iterates)
        build_bind(b, s->f->lambda.params[1], value_at(&b->v, xs, s->step->nat));
    s->next = back_to(b, mark, build_value(b, s->f->lambda.body, name));
    b->sequences.n--;
}

/* ---- sequences of scalars ---- */

typedef struct Binds {
    const Steps *s;
    bool found;
} Binds;

static void look_inside(void *user, Nat var)
{
    Binds *binds = user;
    for (int i = 0; i < binds->s->inner.n; i++)
        binds->found |= binds->s->inner.at[i] == var;
}

static Leaf *leaf_of(Steps *s, const CoreVar *var)
{
    for (int i = 0; i < s->leaves.n; i++)
        if (s->leaves.at[i].var == var)
            return &s->leaves.at[i];
    return NULL;
}

/* Notes that an element of the state is read: the sequence of scalars has to have it. */
static void take_leaf(Steps *s, Leaf *leaf, const Core *read, int indices)
{
    Build *b = s->b;
    Nat at[MOST_RANK];
    s->fits &= indices == leaf->rank;
    const Core *t = read;
    for (int i = leaf->rank - 1; i >= 0 && s->fits; i--, t = t->prim.args[0]) {
        Binds binds = {.s = s};
        at[i] = nat_simplify(b->ctx, b->v.facts, t->prim.nats[1]);
        nat_each_var(b->ctx, at[i], look_inside, &binds);
        s->fits &= !binds.found;
        if (i < s->n_outer) {
            s->fits &= nat_equal(b->ctx, b->v.facts, at[i], s->outer[i]->nat);
            at[i] = s->outer[i]->nat;
        }
    }
    for (int i = 0; i < leaf->rank && s->fits; i++) {
        if (leaf->taken)
            s->fits &= nat_equal(b->ctx, b->v.facts, leaf->at[i], at[i]);
        else
            leaf->at[i] = at[i];
    }
    if (leaf->taken || !s->fits)
        return;
    vec_push(b->ctx, &s->taken, (int)(leaf - s->leaves.at));
    leaf->taken = s->taken.n;
}

static void take_reads(Steps *s, const Core *term)
{
    int indices;
    const Core *first, *base = term_base(term, &indices, &first);
    Leaf *leaf = base->kind == CORE_VAR ? leaf_of(s, base->var) : NULL;
    if (leaf) {
        take_leaf(s, leaf, term, indices);
        return;
    }
    int inner = s->inner.n;
    if (term->kind == CORE_LET && term->let.var->nat)
        vec_push(s->b->ctx, &s->inner, term->let.var->nat);
    for (int i = 0; term->kind == CORE_LAMBDA && i < term->lambda.n; i++)
        if (term->lambda.params[i]->nat)
            vec_push(s->b->ctx, &s->inner, term->lambda.params[i]->nat);
    for (int i = 0; i < term_children(term); i++)
        take_reads(s, term_child(term, i));
    s->inner.n = inner;
}

/* The term with the state of scalars for what it reads. */
static Core *with_state(Steps *s, Core *term, CoreVar *state)
{
    Build *b = s->b;
    int indices;
    const Core *first, *base = term_base(term, &indices, &first);
    const Leaf *leaf = base->kind == CORE_VAR ? leaf_of(s, base->var) : NULL;
    if (leaf) {
        Core *all = make_ref(b->ctx, state, term->span);
        return s->taken.n == 1 ? all : make_proj(b->ctx, all, leaf->taken - 1, term->span);
    }
    if (term_children(term) == 0)
        return term;
    Core *new = term_copy(b->ctx, term);
    for (int i = 0; i < term_children(term); i++)
        term_set_child(new, i, with_state(s, term_child(term, i), state));
    return new;
}

/* The taken elements of a value, as one scalar or a tuple. */
static Core *taken_elements(Steps *s, Value *value)
{
    Core *items[LIMIT_TUPLE_ITEMS];
    for (int i = 0; i < s->taken.n; i++)
        items[i] = element_of(s, value, s->taken.at[i]);
    return s->taken.n == 1 ? items[0] : make_tuple(s->b->ctx, s->taken.n, items, s->term->span);
}

/* What becomes of the element of a leaf, and of all that it depends on; NULL: of more than an element
 * of some leaf, or something would be computed again. */
static Core *scalar_step(Steps *s, int k, Nat evaluated)
{
    Build *b = s->b;
    s->taken.n = 0;
    for (int i = 0; i < s->leaves.n; i++)
        s->leaves.at[i].taken = i == k;
    vec_push(b->ctx, &s->taken, k);
    s->inner.n = 0;
    vec_push(b->ctx, &s->inner, s->step->nat);
    for (int before = 0; before < s->taken.n && s->taken.n <= LIMIT_TUPLE_ITEMS;) {
        before = s->taken.n;
        Core *next = nests_inlined(b->ctx, b->entry, s->nests, taken_elements(s, s->next), evaluated,
                                   b->ends_open, &b->next_var);
        if (!next)
            return NULL;
        take_reads(s, next);
        if (!s->fits)
            return NULL;
        if (s->taken.n == before)
            return next;
    }
    return NULL;
}

/* A sequence with this step, from this start. */
static Core *scalar_sequence(Steps *s, Core *next)
{
    Build *b = s->b;
    Span span = s->term->span;
    Type index = type_idx(b->ctx, s->n);
    CoreVar *state = make_var(b->ctx, &b->next_var, "s", next->type, span);
    CoreVar *k = make_var(b->ctx, &b->next_var, "k", index, span);
    CoreVar *i = make_var(b->ctx, &b->next_var, "k", index, span);
    next = with_state(s, next, state);
    next = term_with_nat(b->ctx, &b->next_var, next, s->step->nat, k->nat);
    CoreVar *params[2] = {state, k};
    Core *args[3] = {make_function(b->ctx, 2, params, next), taken_elements(s, s->start),
                     make_generate(b->ctx, i, make_ref(b->ctx, i, span), span)};
    return make_prim(b->ctx, P_reduceSeq, next->type, 1, &s->n, 3, args, span);
}

/* Is the taken element the one at these axes? */
static bool at_axes(const Leaf *leaf, const Leaf *other, CoreVar *const *axes)
{
    bool same = leaf->rank == other->rank;
    Type a = leaf->type, b = other->type;
    for (int i = 0; i < leaf->rank && same; i++, a = a->elem, b = b->elem)
        same = leaf->at[i] == axes[i]->nat && a->size == b->size;
    return same;
}

/* The value of a leaf after the steps, where `read` is what its sequence gives at the axes. */
static Value *final_value(Steps *s, const Leaf *leaf, Core *read, CoreVar *const *axes)
{
    Build *b = s->b;
    if (s->taken.n > 1)
        read = make_proj(b->ctx, read, leaf->taken - 1, read->span);
    Value *value = value_term(&b->v, read);
    Type sizes[MOST_RANK], type = leaf->type;
    for (int i = 0; i < leaf->rank; i++, type = type->elem)
        sizes[i] = type;
    for (int i = leaf->rank - 1; i >= 0; i--)
        value = value_each(&b->v, axes[i], sizes[i]->size, value);
    return value;
}

/* A sequence for each element of a leaf. It gives the leaf its final value, if that is wanted, and
 * others that it has at the same place. */
static void leaf_by_scalars(Steps *s, int number, const char *name, bool wanted)
{
    Build *b = s->b;
    Leaf *leaf = &s->leaves.at[number];
    CoreVar *axes[MOST_RANK];
    Nat evaluated = nat_const(b->ctx, 1);
    Mark mark = mark_here(b);
    Type type = leaf->type;
    for (int i = 0; i < leaf->rank; i++, type = type->elem) {
        axes[i] = i < s->n_outer ? s->outer[i] : open_axis(b, "j", type->size, s->term->span);
        leaf->at[i] = axes[i]->nat;
        evaluated = nat_mul(b->ctx, evaluated, axes[i]->type->size);
    }
    Core *next = scalar_step(s, number, evaluated), *read = NULL;
    leaf->needs = s->taken.n;
    if (next && wanted)
        read = nest_of(b, scalar_sequence(s, next), name);
    back_to(b, mark, NULL);
    for (int i = 0; i < s->leaves.n && read; i++) {
        Leaf *other = &s->leaves.at[i];
        if (other->taken && !other->final && at_axes(other, leaf, axes))
            other->final = final_value(s, other, read, axes);
    }
    s->fits &= next != NULL;
}

/* The state after the steps by sequences of scalars, those first that have the most in them. */
static bool by_scalars(Steps *s, const char *name)
{
    int most = 0;
    for (int i = 0; i < s->leaves.n && s->fits; i++) {
        leaf_by_scalars(s, i, name, false);
        most = s->leaves.at[i].needs > most ? s->leaves.at[i].needs : most;
    }
    for (; most > 0 && s->fits; most--)
        for (int i = 0; i < s->leaves.n && s->fits; i++)
            if (!s->leaves.at[i].final && s->leaves.at[i].needs == most)
                leaf_by_scalars(s, i, name, true);
    return s->fits;
}

/* ---- groups of launches ---- */

static Value *with_element(Steps *s, int k, Value *value, Type type, Nat *at, int n)
{
    Build *b = s->b;
    Leaf *leaf = &s->leaves.at[k];
    if (type->kind == TY_ARRAY) {
        Span span = s->term->span;
        CoreVar *axis = s->outer[n];
        if (n >= s->n_outer)
            axis = make_var(b->ctx, &b->next_var, "i", type_idx(b->ctx, type->size), span);
        at[n] = axis->nat;
        Value *element = with_element(s, k, value, type->elem, at, n + 1);
        return value_each(&b->v, axis, type->size, element);
    }
    for (int i = 0; i < n; i++)
        leaf->at[i] = at[i];
    return value_term(&b->v, guarded_here(b, element_of(s, value, k)));
}

/* The array that a leaf of the value is stored as. */
static Core *leaf_array(Steps *s, Value *value, int k)
{
    Build *b = s->b;
    Nat at[MOST_RANK];
    Value *array = with_element(s, k, value, s->leaves.at[k].type, at, 0);
    if (array->type->kind == TY_ARRAY)
        return value_as_term(&b->v, array);
    Type one = type_idx(b->ctx, nat_const(b->ctx, 1));
    CoreVar *axis = make_var(b->ctx, &b->next_var, "i", one, s->term->span);
    return make_generate(b->ctx, axis, value_as_term(&b->v, array), s->term->span);
}

/* All of a value, as it is stored. */
static Core *stored_state(Steps *s, Value *value)
{
    int n = s->leaves.n;
    Core **items = NEWN(s->b->ctx, Core *, n + 1);
    for (int i = 0; i < n; i++)
        items[i] = leaf_array(s, value, i);
    return n == 1 ? items[0] : make_tuple(s->b->ctx, n, items, s->term->span);
}

/* What a leaf is of a stored state. */
static Core *stored_leaf(Ctx *ctx, Core *state, int n, int k, bool number)
{
    Core *array = n == 1 ? state : make_proj(ctx, state, k, state->span);
    return number ? make_index(ctx, array, nat_const(ctx, 0), state->span) : array;
}

typedef struct Renaming {
    Ctx *ctx;
    const NestSteps *steps;
} Renaming;

static Core *of_state(void *user, const CoreVar *var)
{
    const Renaming *r = user;
    const NestSteps *steps = r->steps;
    for (int i = 0; i < steps->n_arrays; i++)
        if (steps->arrays[i] == var) {
            Core *state = make_ref(r->ctx, steps->state, var->span);
            return stored_leaf(r->ctx, state, steps->n_arrays, i, var->type->kind != TY_ARRAY);
        }
    return NULL;
}

Core *nests_repeated(Ctx *ctx, const NestSteps *steps, const Nests *step, int *next_var)
{
    Renaming r = {ctx, steps};
    TermCopy copy = {.ctx = ctx, .next_var = next_var, .by = of_state, .user = &r};
    Core *body = copy_term(&copy, nests_body(ctx, step, steps->start->type));
    CoreVar *params[2] = {steps->state, steps->step};
    Core *args[2] = {make_function(ctx, 2, params, body), steps->start};
    return make_prim(ctx, P_repeatKernels, steps->start->type, 1, &steps->n, 2, args, steps->start->span);
}

/* A term without variables that it shares with others. */
static Core *with_own_variables(Build *b, const Core *term)
{
    TermCopy copy = {.ctx = b->ctx, .next_var = &b->next_var};
    return copy_term(&copy, term);
}

/* Do all elements of the axes around have the same number of steps, and arrays of the same lengths? */
static bool is_alike(Steps *s)
{
    bool alike = nat_of_all(s->b, s->n);
    for (int i = 0; i < s->leaves.n; i++)
        for (Type type = s->leaves.at[i].type; type->kind == TY_ARRAY; type = type->elem)
            alike &= nat_of_all(s->b, type->size);
    return alike;
}

/* The state after the steps by launches that repeat, of all elements of the axes around together; false:
 * they would have to stand inside of something. */
static bool by_kernels(Steps *s, const char *name)
{
    Build *b = s->b;
    if (b->sequences.n || !is_alike(s))
        return false;
    NestSteps *steps = NEW(b->ctx, NestSteps);
    *steps = (NestSteps){.n = s->n, .step = s->step, .nests = s->nests, .n_arrays = s->leaves.n};
    steps->arrays = NEWN(b->ctx, CoreVar *, s->leaves.n + 1);
    for (int i = 0; i < s->leaves.n; i++)
        steps->arrays[i] = s->leaves.at[i].var;
    s->nests->result = stored_state(s, s->next);
    nests_drop_unread(b, s->nests);
    steps->start = with_own_variables(b, stored_state(s, s->start));
    steps->state = make_var(b->ctx, &b->next_var, "state", steps->start->type, s->term->span);
    int lists = b->nests->list.n;
    Core *state = nest_of_all(b, nests_repeated(b->ctx, steps, s->nests, &b->next_var), name);
    if (b->nests->list.n > lists)
        b->nests->list.at[lists]->steps = steps;
    for (int i = 0; i < s->leaves.n; i++) {
        bool number = s->leaves.at[i].rank == 0;
        Core *leaf = stored_leaf(b->ctx, state, s->leaves.n, i, number);
        s->leaves.at[i].final = value_term(&b->v, leaf);
    }
    return true;
}

Value *eval_sequence(Build *b, const Core *term, const char *name)
{
    Type type = copy_type(&b->copy, term->type);
    if (!type_gives_arrays(type) || holds_index(type))
        return NULL;
    if (term->prim.id == P_iterate && !nat_is(copy_nat(&b->copy, term->prim.nats[1]), 1))
        return NULL;
    int lists = b->nests->list.n;
    Steps s = {.b = b, .term = term, .f = term->prim.args[0], .fits = true};
    eval_step(&s, name);
    if (s.fits && (by_scalars(&s, name) || by_kernels(&s, name)))
        return with_leaves(&s, type, state_final);
    nests_forget(b, lists);
    return NULL;
}
