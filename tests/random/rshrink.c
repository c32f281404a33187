/* The shrinker: edits of the typed tree, each tried on a copy. An edit that leaves the program well typed, smaller and failing in the same way stays.
 *
 * What is tried at each place: one of its own parts instead; an input or a constant instead; smaller numbers. For the program: fewer outputs,
 * simpler inputs, constants for sizes, no launch clause. */
#include "rshrink.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SLOTS_MAX = 4000, TRIES_MAX = 6000, HANG_SECONDS = 60 };

/* ---- what counts as small ------------------------------------------------------------------------------------------------------------------------ */

static int node_count(const Node *e)
{
    int n = 1;
    for (int k = 0; k < e->n; k++)
        n += node_count(e->args[k]);
    return n;
}

/* Nodes count most, then text, then how large its numbers are. */
static int64_t cost(const RProgram *p)
{
    const char *text = program_text(p);
    int64_t sum = 0;
    for (const char *at = text; *at;) {
        char *end = (char *)at + 1;
        if (*at >= '0' && *at <= '9' && (at == text || at[-1] == ' ' || at[-1] == '.' || at[-1] == '(' || at[-1] == '[')) {
            int64_t v = strtoll(at, &end, 10);
            sum += v > 4096 ? 4096 : v;
        }
        at = end;
    }
    return 400 * (int64_t)node_count(p->body) + 20 * (int64_t)strlen(text) + sum;
}

/* ---- is every variable bound where it is read? --------------------------------------------------------------------------------------------------- */

typedef struct Bound {
    const struct Bound *next;
    const RVar *var;
} Bound;

static bool scoped(const RProgram *p, const Node *e, const Bound *bound)
{
    Bound own[VARS_MAX];
    if (e->kind == N_VAR) {
        for (; bound; bound = bound->next)
            if (bound->var == e->vars[0])
                return true;
        for (int k = 0; k < p->n_inputs; k++)
            if (p->inputs[k] == e->vars[0])
                return true;
        return false;
    }
    const Bound *inner = bound;
    for (int k = 0; k < e->n_vars; k++) {
        own[k] = (Bound){inner, e->vars[k]};
        inner = &own[k];
    }
    for (int k = 0; k < e->n; k++)
        if (!scoped(p, e->args[k], e->kind == N_LET && k == 0 ? bound : inner))
            return false;
    return true;
}

/* ---- does it still fail so? ------------------------------------------------------------------------------------------------------------------------ */

static bool same_failure(const RProgram *p, uint64_t seed, const RResult *wanted)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        alarm(HANG_SECONDS);
        RResult r = check_program(p, seed, false);
        bool same = r.verdict == wanted->verdict && r.finding == wanted->finding && (r.verdict == V_DIFFER || r.verdict == V_FINDING || r.code == wanted->code);
        _exit(same ? 1 : 0);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child)
        return false;
    if (WIFSIGNALED(status))
        return wanted->verdict == (WTERMSIG(status) == SIGALRM ? V_HANG : V_CRASH);
    return WEXITSTATUS(status) == 1 || (wanted->verdict == V_CRASH && WEXITSTATUS(status) != 0);
}

/* ---- edits of one place ------------------------------------------------------------------------------------------------------------------------------ */

typedef struct Slots {
    int n;
    Node **at[SLOTS_MAX];
} Slots;

static void collect(Slots *s, Node **at)
{
    if (s->n < SLOTS_MAX)
        s->at[s->n++] = at;
    for (int k = 0; k < (*at)->n; k++)
        collect(s, &(*at)->args[k]);
}

static Node *literal_of(RProgram *p, const RType *t)
{
    Node *e = POOL_NEW(p->pool, Node);
    if (t->kind == R_SCALAR) {
        e->kind = N_LIT;
        e->scalar = t->scalar;
        e->value = 1;
        return e;
    }
    e->kind = N_TUPLE;
    for (int k = 0; k < t->n; k++)
        if (!(e->args[e->n++] = t->items[k]->kind == R_SCALAR || t->items[k]->kind == R_TUPLE ? literal_of(p, t->items[k]) : NULL))
            return NULL;
    return t->kind == R_TUPLE ? e : NULL;
}

static Node *input_for(RProgram *p, const RType *t)
{
    RVar *v = NULL;
    for (int k = 0; k < p->n_inputs && !v; k++)
        if (rtype_equal(p->inputs[k]->type, t))
            v = p->inputs[k];
    if (!v) {
        if (p->n_inputs == INPUTS_MAX)
            return NULL;
        v = POOL_NEW(p->pool, RVar);
        v->name = pool_printf(p->pool, "in%d", p->n_inputs);
        v->type = t;
        v->input = true;
        p->inputs[p->n_inputs++] = v;
    }
    Node *e = POOL_NEW(p->pool, Node);
    e->kind = N_VAR;
    e->n_vars = 1;
    e->vars[0] = v;
    return e;
}

static Node *with_value(RProgram *p, const Node *e, const RVar *v, const Node *value)
{
    if (e->kind == N_VAR)
        return e->vars[0] == v ? node_copy(p, value) : (Node *)e;
    Node *to = POOL_NEW(p->pool, Node);
    *to = *e;
    for (int k = 0; k < e->n; k++)
        to->args[k] = with_value(p, e->args[k], v, value);
    return to;
}

enum { EDITS = 24 };

/* Edit k of what stands at the slot; false when there is none. */
static bool edit_slot(RProgram *p, Node **at, int k)
{
    Node *e = *at, *with = NULL;
    if (k < ARGS_MAX) { /* a part of it */
        if (k >= e->n || e->kind == N_LAMBDA)
            return false;
        with = e->args[k]->kind == N_LAMBDA ? e->args[k]->args[0] : e->args[k];
    } else if (k == 5)
        with = e->kind != N_LAMBDA && e->kind != N_VAR && e->type->kind == R_ARRAY ? input_for(p, e->type) : NULL;
    else if (k == 6)
        with = e->kind != N_LAMBDA && e->kind != N_LIT && (e->type->kind == R_SCALAR || e->type->kind == R_TUPLE) ? literal_of(p, e->type) : NULL;
    else if (k == 7)
        with = e->kind == N_LET ? with_value(p, e->args[1], e->vars[0], e->args[0]) : NULL;
    else if (k < 12) { /* sizes */
        int64_t *size = e->n_sizes > (k & 1) ? &e->sizes[k & 1].add : NULL;
        int64_t less = k < 10 ? 1 : size ? *size / 2 : 0;
        if (!size || e->sizes[k & 1].atom || *size <= less)
            return false;
        *size = less;
        return true;
    } else if (k < 14 && e->kind == N_TUPLE && e->n > 2) { /* one item less */
        int drop = k - 12;
        memmove(e->args + drop, e->args + drop + 1, sizeof *e->args * (size_t)(e->n - drop - 1));
        e->n--;
        return true;
    } else if (k == 14 && e->kind == N_UNROLL && e->n_list > 1) {
        e->n_list--;
        return true;
    } else if (k == 15 && e->kind == N_UNROLL && e->n_list > 1) {
        memmove(e->list, e->list + 1, sizeof *e->list * (size_t)--e->n_list);
        return true;
    } else if (k == 16 && e->axis) {
        e->axis--;
        return true;
    } else if (k >= 17 && k < 17 + ARGS_MAX && e->kind == N_PRIM) { /* a part of a part, for a change of two steps */
        const Node *part = e->args[e->n - 1];
        with = part->kind != N_LAMBDA && k - 17 < part->n && part->args[k - 17]->kind != N_LAMBDA ? part->args[k - 17] : NULL;
    }
    if (!with)
        return false;
    *at = with;
    return true;
}

/* ---- edits of the program ------------------------------------------------------------------------------------------------------------------------------ */

static RSize size_with(RProgram *p, RSize s, const RAtom *name, int64_t value)
{
    if (!s.atom)
        return s;
    if (s.atom == name)
        return size_const(s.coef * value + s.add);
    if (s.atom->kind == ATOM_NAME)
        return s;
    RSize of = size_with(p, s.atom->of, name, value);
    if (of.atom)
        return (RSize){s.coef, program_atom(p, s.atom->kind, of, s.atom->by), s.add};
    int64_t v = s.atom->kind == ATOM_CEIL ? (of.add + s.atom->by - 1) / s.atom->by : of.add / s.atom->by;
    return size_const(s.coef * v + s.add);
}

static const RType *type_with(RProgram *p, const RType *t, const RAtom *name, int64_t value)
{
    RType *to = POOL_NEW(p->pool, RType);
    *to = *t;
    to->size = size_with(p, t->size, name, value);
    if (t->elem)
        to->elem = type_with(p, t->elem, name, value);
    for (int k = 0; k < t->n; k++)
        to->items[k] = type_with(p, t->items[k], name, value);
    return to;
}

/* Each constant length `from` becomes `to`. */
static const RType *type_resized(RProgram *p, const RType *t, int64_t from, int64_t to)
{
    RType *r = POOL_NEW(p->pool, RType);
    *r = *t;
    if (!t->size.atom && t->size.add == from)
        r->size.add = to;
    if (t->elem)
        r->elem = type_resized(p, t->elem, from, to);
    return r;
}

static bool drop_input(RProgram *p, int k)
{
    memmove(p->inputs + k, p->inputs + k + 1, sizeof *p->inputs * (size_t)(p->n_inputs - k - 1));
    p->n_inputs--;
    return true;
}

static bool resize(RProgram *p, const Slots *s, int k)
{
    static const int64_t froms[] = {1025, 1024, 1023, 1000, 512, 256, 128, 100, 64, 45, 33, 32, 31, 16, 11, 8, 7, 5, 4, 3, 2};
    int64_t from = froms[k / 3], to = k % 3 == 0 ? 1 : k % 3 == 1 ? from / 2 : from - 1;
    if (to < 1 || to >= from)
        return false;
    for (int i = 0; i < p->n_inputs; i++)
        p->inputs[i]->type = type_resized(p, p->inputs[i]->type, from, to);
    for (int i = 0; i < s->n; i++)
        for (int j = 0; j < (*s->at[i])->n_sizes; j++)
            if (!(*s->at[i])->sizes[j].atom && (*s->at[i])->sizes[j].add == from)
                (*s->at[i])->sizes[j].add = to;
    return true;
}

static const RType *simpler_elem(RProgram *p, const RType *t, int k)
{
    if (t->kind == R_ARRAY) {
        const RType *elem = simpler_elem(p, t->elem, k);
        return elem ? type_of_array(p, t->size, elem) : NULL;
    }
    if (t->kind == R_TUPLE)
        return t->items[k % t->n];
    return t->kind == R_SCALAR ? type_of_scalar(p, k ? SC_F32 : SC_I32) : NULL;
}

enum { PROGRAM_EDITS = 4 + INPUTS_MAX * 4 + NAMES_MAX * 5, RESIZES = 63 };

static bool edit_program(RProgram *p, const Slots *s, int k)
{
    if (k < 4) {
        bool some = k == 0 ? p->threads != 0 : k == 1 ? p->blocks != 0 : k == 2 ? p->tunable != 0 : p->n_defs > 0;
        if (k == 0)
            p->threads = 0;
        else if (k == 1)
            p->blocks = 0;
        else if (k == 2)
            p->tunable = 0;
        return some && k < 3;
    }
    k -= 4;
    if (k < INPUTS_MAX * 4) {
        int i = k / 4;
        if (i >= p->n_inputs)
            return false;
        if (k % 4 == 0)
            return drop_input(p, i);
        const RType *t = simpler_elem(p, p->inputs[i]->type, k % 4 - 1);
        if (!t || rtype_equal(t, p->inputs[i]->type))
            return false;
        p->inputs[i]->type = t;
        return true;
    }
    k -= INPUTS_MAX * 4;
    if (k < NAMES_MAX * 5) {
        static const int64_t values[5] = {1, 2, 3, 32, 33};
        if (k / 5 >= p->n_names)
            return false;
        const RAtom *name = p->names[k / 5];
        for (int i = 0; i < p->n_inputs; i++)
            p->inputs[i]->type = type_with(p, p->inputs[i]->type, name, values[k % 5]);
        for (int i = 0; i < s->n; i++)
            for (int j = 0; j < (*s->at[i])->n_sizes; j++)
                (*s->at[i])->sizes[j] = size_with(p, (*s->at[i])->sizes[j], name, values[k % 5]);
        return true;
    }
    return resize(p, s, k - NAMES_MAX * 5);
}

/* ---- the search ---------------------------------------------------------------------------------------------------------------------------------------- */

/* Edit number k of the whole program, on a copy with its own pool. *more: there may be edits with larger numbers. NULL: this one does not apply. */
static RProgram *edited(const RProgram *p, long k, bool *more)
{
    Pool *pool = pool_new();
    RProgram *copy = program_copy(p, pool);
    Slots *s = pool_alloc(pool, sizeof *s);
    collect(s, &copy->body);
    long at_program = PROGRAM_EDITS + RESIZES;
    *more = k < at_program + (long)s->n * EDITS;
    bool done = *more && (k < at_program ? edit_program(copy, s, (int)k) : edit_slot(copy, s->at[(k - at_program) / EDITS], (int)((k - at_program) % EDITS)));
    if (done && program_retype(copy) && scoped(copy, copy->body, NULL))
        return copy;
    pool_free(pool);
    return NULL;
}

RProgram *shrink_program(const RProgram *original, uint64_t seed, const RResult *failure)
{
    RProgram *p = program_copy(original, pool_new());
    int64_t least = cost(p);
    int tries = 0;
    for (bool progress = true; progress && tries < TRIES_MAX;) {
        progress = false;
        bool more = true;
        for (long k = 0; more && tries < TRIES_MAX; k++) {
            RProgram *next = edited(p, k, &more);
            if (!next)
                continue;
            int64_t c = cost(next);
            if (c < least && ++tries && same_failure(next, seed, failure)) {
                pool_free(p->pool);
                p = next;
                least = c;
                progress = true;
                k--; /* the same again: what moved up to this place */
            } else
                pool_free(next->pool);
        }
    }
    return p;
}

void shrink_say(const RProgram *p, uint64_t seed)
{
    RResult r = check_program(p, seed, true);
    printf("-- %s", verdict_names[r.verdict]);
    if (r.verdict == V_DIFFER || r.verdict == V_FINDING || r.verdict == V_RUN_CODE) {
        for (int k = 0; k < p->n_names; k++)
            printf(", %s = %lld", p->names[k]->name, (long long)r.trial.sizes[k]);
        printf(", grid %lld, seed %llu", (long long)r.trial.grid, (unsigned long long)r.trial.seed);
    }
    printf("\n");
}
