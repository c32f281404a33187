/* Whether a kernel reads each cell of an input before it stores to the same cell of a result. Note [Partners].
 *
 * Two facts prove it, whatever the order of its threads:
 *
 *   - Each read has a partner: a store that the same thread gets to after the read, for the same cell. So
 *     whoever reads a cell stores to it afterwards.
 *   - Each cell of a result is stored to once in a launch. Then nobody else stores to it, and nobody before.
 *
 * The second one is what the translation makes of a result (Note [Exchanged memory]). It is believed only of
 * stores whose index mentions all threads, blocks and trips of loops that get to them, and nothing else.
 *
 * The first one is found in the text, after all passes. Let a list of statements be the innermost one around
 * both. The read stands in an earlier statement of it, or in the store itself. From that list down to the
 * store there are loops and conditions; the read has to stand in loops with the same trips and under the same
 * conditions, and perhaps in more. With the read's loop variables in place of the store's, the indices are
 * equal. Loops of a few trips count as written out. Only sizes, ids and loop variables are compared: they have one value at both places.
 *
 * Before a grid barrier a kernel may read what it likes, if it stores to the result only behind it. And where reads
 * have no partners, blocks may have parts of their own (own_parts.c).
 *
 * All of this is about the order of the text. `__restrict__` lets loads pass stores, and so do loads with a
 * hint (cache_hints.c): cuda_piece_text leaves both out for such a launch. Reads and stores of a pair move
 * equally many cells, so that CUDA's compiler knows them for one type. */
#include "codegen/partners.h"

#include "codegen/partners_internal.h"
#include "codegen/walk.h"

static void refuse(Look *l, OneMemory why)
{
    if (l->found == ONE_MEMORY_ALLOWED)
        l->found = why;
}

/* ---- accesses -------------------------------------------------------------------------------------------- */

/* Notes the access once for each trip of the loops around it from list d outwards, as far as that makes no more than `most`. */
static void note_trips(Look *l, Spots *spots, const Spot *spot, int d, int64_t most)
{
    const ImpStmt *s = NULL;
    for (; d >= 0 && !s; d--) {
        s = spot->lists[d]->list.at[spot->pos[d]];
        bool few = s->kind == IS_FOR && nat_is_const(s->loop.lo) && nat_is_const(s->loop.hi) && nat_is_const(s->loop.step);
        if (!few || (s->loop.hi->value - s->loop.lo->value) / s->loop.step->value >= most || spot->n_fixed == MAX_FIXED)
            s = NULL;
    }
    if (!s) {
        Spot *noted = NEW(l->ctx, Spot);
        *noted = *spot;
        vec_push(l->ctx, spots, noted);
        return;
    }
    int64_t trips = (s->loop.hi->value - s->loop.lo->value + s->loop.step->value - 1) / s->loop.step->value;
    for (int64_t i = s->loop.lo->value; i < s->loop.hi->value; i += s->loop.step->value) {
        Spot next = *spot;
        next.fixed[next.n_fixed] = s->loop.var;
        next.trip[next.n_fixed++] = nat_const(l->ctx, i);
        note_trips(l, spots, &next, d, most / trips);
    }
}

static void note(Look *l, Spots *spots, Nat index, int cells)
{
    Spot spot = l->here;
    spot.index = index;
    spot.cells = cells;
    note_trips(l, spots, &spot, spot.depth - 2, MAX_COPIES);
}

static void look_expr(Look *l, const ImpExpr *e);

static void look_under(Look *l, const ImpExpr *e, const ImpExpr *cond, bool negated)
{
    if (l->here.n_conds == MAX_CONDS) {
        refuse(l, ONE_MEMORY_LARGE);
        return;
    }
    l->here.conds[l->here.n_conds++] = (Cond){cond, negated};
    look_expr(l, e);
    l->here.n_conds--;
}

static void look_expr(Look *l, const ImpExpr *e)
{
    switch (e->kind) {
    case IE_LIT: case IE_NAT: case IE_VAR: break;
    case IE_LOAD:
        if (e->mem.buf == l->input)
            note(l, &l->reads, e->mem.index, 1);
        if (e->mem.buf == l->result)
            refuse(l, ONE_MEMORY_EXCHANGED);
        break;
    case IE_OP:
        for (int i = 0; i < e->op.n; i++)
            look_expr(l, e->op.args[i]);
        break;
    case IE_CAST: look_expr(l, e->cast.value); break;
    case IE_COND:
        look_expr(l, e->cond.cond);
        look_under(l, e->cond.then, e->cond.cond, false);
        look_under(l, e->cond.otherwise, e->cond.cond, true);
        break;
    case IE_SHFL:
        look_expr(l, e->shfl.value);
        if (e->shfl.by)
            look_expr(l, e->shfl.by);
        break;
    }
}

/* walk_own gives all expressions, outermost first; only the outermost ones are looked at. */
typedef struct Own {
    Look *look;
    int inside; /* so many of those that come next belong to one that was looked at */
} Own;

static void count(void *user, ImpExpr **at)
{
    (void)at;
    ++*(int *)user;
}

static void look_own(void *user, ImpExpr **at)
{
    Own *own = user;
    if (own->inside == 0) {
        walk_expr(at, count, &own->inside);
        look_expr(own->look, *at);
    }
    own->inside--;
}

static void refuse_buf(void *user, ImpBuf **at)
{
    Look *l = user;
    if (*at == l->result || *at == l->input)
        refuse(l, ONE_MEMORY_EXCHANGED);
}

static void look_stmt(Look *l, ImpStmt *s)
{
    Own own = {l, 0};
    walk_own(s, look_own, &own);
    switch (s->kind) {
    case IS_STORE:
        if (s->store.buf == l->input || (s->store.buf == l->result && s->store.unordered))
            refuse(l, ONE_MEMORY_EXCHANGED);
        if (s->store.buf == l->result)
            note(l, &l->writes, s->store.index, 1);
        break;
    case IS_VSTORE:
        if (s->vec.buf == l->result)
            note(l, &l->writes, s->vec.index, s->vec.n);
        if (s->vec.buf == l->input)
            refuse(l, ONE_MEMORY_EXCHANGED);
        break;
    case IS_VLOAD:
        if (s->vec.buf == l->input)
            note(l, &l->reads, s->vec.index, s->vec.n);
        if (s->vec.buf == l->result)
            refuse(l, ONE_MEMORY_EXCHANGED);
        break;
    case IS_ATOMIC: case IS_TICKET: case IS_GRID_SYNC: case IS_GIVE: case IS_AWAIT: case IS_SERVE:
        walk_bufs(s, refuse_buf, l);
        break;
    case IS_DECL: case IS_SET: case IS_VSET: case IS_FOR: case IS_IF: case IS_SYNC: case IS_ALLOC: case IS_NOTE:
        break;
    }
}

static void look_block(Look *l, const ImpBlock *block)
{
    int d = l->here.depth;
    if (d == MAX_NESTING) {
        refuse(l, ONE_MEMORY_LARGE);
        return;
    }
    l->here.depth++;
    l->here.lists[d] = block;
    for (int i = 0; i < block->list.n && l->found == ONE_MEMORY_ALLOWED; i++) {
        ImpStmt *s = block->list.at[i];
        l->here.pos[d] = i;
        look_stmt(l, s);
        if (s->kind == IS_GRID_SYNC && d == 0 && l->grid_sync < 0)
            l->grid_sync = i;
        if (s->kind == IS_FOR)
            look_block(l, &s->loop.body);
        if (s->kind == IS_IF) {
            look_block(l, &s->branch.then);
            look_block(l, &s->branch.otherwise);
        }
    }
    l->here.depth = d;
}

/* ---- names of indices ------------------------------------------------------------------------------------ */

typedef struct Names {
    Ctx *ctx;
    VEC(Nat) names, values, loops;
} Names;

/* A name stands behind those that its value mentions, in the text. Copies of a loop declare theirs again. */
static void note_name(void *user, ImpStmt *s)
{
    Names *n = user;
    if (s->kind == IS_FOR)
        vec_push(n->ctx, &n->loops, s->loop.var);
    if (s->kind != IS_DECL || !s->var.var->nat || !s->var.value || s->var.value->kind != IE_NAT)
        return;
    Nat name = s->var.var->nat, value = nat_subst_many(n->ctx, s->var.value->nat, n->names.n, n->names.at, n->values.at);
    for (int i = 0; i < n->names.n; i++)
        if (n->names.at[i] == name) {
            n->values.at[i] = n->values.at[i] == value ? value : name; /* itself: nobody knows */
            return;
        }
    vec_push(n->ctx, &n->names, name);
    vec_push(n->ctx, &n->values, value);
}

Nat partners_spelled(const Look *l, Nat nat) { return nat_subst_many(l->ctx, nat, l->n_names, l->names, l->values); }

typedef struct Variables {
    const Look *look;
    bool others; /* than sizes, ids and loop variables: registers, which may have another value elsewhere */
} Variables;

bool partners_is_size(const ImpKernel *k, Nat var)
{
    bool found = imp_is_device_size(var);
    for (int i = 0; i < k->entry->n_sizes; i++)
        found |= k->entry->sizes[i] == var;
    for (int a = 0; a < 3; a++)
        found |= k->grid[a] == var;
    return found;
}

static bool is_id(const ImpKernel *k, Nat var)
{
    bool found = var == k->warp || var == k->lane;
    for (int a = 0; a < 3; a++)
        found |= var == k->block[a] || var == k->thread[a];
    return found;
}

static void find_other(void *user, Nat var)
{
    Variables *v = user;
    bool known = partners_is_size(v->look->kernel, var) || is_id(v->look->kernel, var);
    for (int i = 0; i < v->look->n_loops && !known; i++)
        known = v->look->loops[i] == var;
    v->others |= !known;
}

bool partners_is_steady(const Look *look, Nat nat)
{
    Variables v = {look, false};
    nat_each_var(look->ctx, nat, find_other, &v);
    return !v.others;
}

/* ---- partners -------------------------------------------------------------------------------------------- */

static void add_conds(Path *path, const ImpExpr *cond, bool negated, bool *fits)
{
    if (cond->kind == IE_OP && cond->op.id == P_and && !negated) {
        for (int i = 0; i < cond->op.n; i++)
            add_conds(path, cond->op.args[i], false, fits);
        return;
    }
    *fits &= path->n_conds < MAX_CONDS;
    if (*fits)
        path->conds[path->n_conds++] = (Cond){cond, negated};
}

/* The trip of a loop that counts as written out; NULL: it does not. */
static Nat trip_of(const Spot *spot, Nat var)
{
    for (int i = 0; i < spot->n_fixed; i++)
        if (spot->fixed[i] == var)
            return spot->trip[i];
    return NULL;
}

bool partners_path(const Spot *spot, int from, Path *path)
{
    bool fits = true;
    path->n_loops = path->n_conds = 0;
    for (int d = from; d + 1 < spot->depth && fits; d++) {
        const ImpStmt *s = spot->lists[d]->list.at[spot->pos[d]];
        if (s->kind == IS_IF)
            add_conds(path, s->branch.cond, spot->lists[d + 1] == &s->branch.otherwise, &fits);
        else if (path->n_loops == MAX_LOOPS)
            fits = false;
        else if (!trip_of(spot, s->loop.var))
            path->loops[path->n_loops++] = s;
    }
    for (int i = 0; i < spot->n_conds && fits; i++)
        add_conds(path, spot->conds[i].cond, spot->conds[i].negated, &fits);
    return fits;
}

/* The store's loop variables, and the read's in their place. */
typedef struct Renaming {
    const Look *look;
    const Spot *read, *write;
    int n;
    Nat from[MAX_LOOPS], to[MAX_LOOPS];
} Renaming;

static Nat spelled_at(const Renaming *r, const Spot *spot, Nat nat)
{
    return nat_subst_many(r->look->ctx, partners_spelled(r->look, nat), spot->n_fixed, spot->fixed, spot->trip);
}

/* A number of the read's and one of the store's. */
static bool same_nat(const Renaming *r, Nat read, Nat write)
{
    Nat nat = spelled_at(r, r->read, read);
    Nat other = nat_subst_many(r->look->ctx, spelled_at(r, r->write, write), r->n, r->from, r->to);
    return nat == other && partners_is_steady(r->look, nat);
}

/* No more than comparisons of numbers, which both places decide alike. */
static bool same_cond(const Renaming *r, const ImpExpr *read, const ImpExpr *write)
{
    if (read->kind != write->kind || read->type != write->type)
        return false;
    if (read->kind == IE_NAT)
        return same_nat(r, read->nat, write->nat);
    if (read->kind == IE_LIT)
        return imp_same_value(read, write);
    bool same = read->kind == IE_OP && read->op.id == write->op.id && read->op.n == write->op.n;
    for (int i = 0; same && i < read->op.n; i++)
        same = same_cond(r, read->op.args[i], write->op.args[i]);
    return same;
}

/* Each loop of the store is one of the read's, in the same order. */
static bool match_loops(Renaming *r, const Path *read, const Path *write)
{
    int next = 0;
    for (int w = 0; w < write->n_loops; w++) {
        const ImpStmt *to = write->loops[w];
        while (next < read->n_loops && !(same_nat(r, read->loops[next]->loop.lo, to->loop.lo) && same_nat(r, read->loops[next]->loop.hi, to->loop.hi) &&
                                         same_nat(r, read->loops[next]->loop.step, to->loop.step)))
            next++;
        if (next == read->n_loops)
            return false;
        r->from[r->n] = to->loop.var;
        r->to[r->n++] = read->loops[next++]->loop.var;
    }
    return true;
}

static bool match_conds(const Renaming *r, const Path *read, const Path *write)
{
    for (int w = 0; w < write->n_conds; w++) {
        bool found = false;
        for (int i = 0; i < read->n_conds && !found; i++)
            found = read->conds[i].negated == write->conds[w].negated && same_cond(r, read->conds[i].cond, write->conds[w].cond);
        if (!found)
            return false;
    }
    return true;
}

/* How many lists both are in, from the outside: the last one is the innermost around both. */
static int common_lists(const Spot *a, const Spot *b)
{
    int n = 0;
    while (n < a->depth && n < b->depth && a->lists[n] == b->lists[n] && (n == 0 || a->pos[n - 1] == b->pos[n - 1]))
        n++;
    return n;
}

/* Are both in the same trip of the loops around the first `lists` lists? Where they are not written out, that follows from their indices. */
static bool same_trips(const Spot *read, const Spot *write, int lists)
{
    bool same = true;
    for (int d = 0; d + 1 < lists && same; d++) {
        const ImpStmt *s = read->lists[d]->list.at[read->pos[d]];
        same = s->kind != IS_FOR || trip_of(read, s->loop.var) == trip_of(write, s->loop.var);
    }
    return same;
}

static bool is_partner(const Look *l, const Spot *read, const Spot *write)
{
    Path from, to;
    Renaming r = {.look = l, .read = read, .write = write};
    int last = common_lists(read, write) - 1;
    bool after = read->pos[last] < write->pos[last] || (read->pos[last] == write->pos[last] && read->depth == last + 1);
    return read->cells == write->cells && after && same_trips(read, write, last + 1) && partners_path(read, last, &from) && partners_path(write, last, &to) && match_loops(&r, &from, &to) &&
           match_conds(&r, &from, &to) && same_nat(&r, read->index, write->index);
}

/* ---- stores that tell who stores --------------------------------------------------------------------------- */

typedef struct Told {
    const Look *look;
    const Spot *spot;
    bool block[3], thread[3], warp, lane, others;
} Told;

static const ImpStmt *loop_of(const Spot *spot, Nat var)
{
    for (int d = 0; d + 1 < spot->depth; d++) {
        const ImpStmt *s = spot->lists[d]->list.at[spot->pos[d]];
        if (s->kind == IS_FOR && s->loop.var == var)
            return s;
    }
    return NULL;
}

static void tell(void *user, Nat var)
{
    Told *t = user;
    const ImpKernel *k = t->look->kernel;
    const ImpStmt *loop = loop_of(t->spot, var);
    t->warp |= var == k->warp;
    t->lane |= var == k->lane;
    for (int a = 0; a < 3; a++) {
        t->block[a] |= var == k->block[a];
        t->thread[a] |= var == k->thread[a];
    }
    if (loop)
        nat_each_var(t->look->ctx, partners_spelled(t->look, loop->loop.lo), tell, t);
    t->others |= !loop && !is_id(k, var) && !partners_is_size(k, var);
}

/* A condition `id == c` tells it as well. */
static void tell_conditions(Told *t)
{
    Path path;
    if (!partners_path(t->spot, 0, &path))
        return;
    for (int i = 0; i < path.n_conds; i++) {
        const ImpExpr *e = path.conds[i].cond;
        if (!path.conds[i].negated && e->kind == IE_OP && e->op.id == P_eq && e->op.args[0]->kind == IE_NAT && e->op.args[1]->kind == IE_NAT &&
            e->op.args[0]->nat->kind == NAT_VAR && nat_is_const(e->op.args[1]->nat) && !loop_of(t->spot, e->op.args[0]->nat))
            tell(t, e->op.args[0]->nat);
    }
}

/* Does its index tell all threads, blocks and trips of loops apart, and hang on nothing else? */
static bool tells_all(const Look *l, const Spot *write)
{
    const ImpKernel *k = l->kernel;
    Told t = {.look = l, .spot = write};
    Nat index = partners_spelled(l, write->index);
    nat_each_var(l->ctx, index, tell, &t);
    bool all = !t.others, threads = true, warp = t.warp || !k->warp || nat_is_const(k->warp);
    tell_conditions(&t);
    for (int a = 0; a < 3; a++) {
        all &= l->shared || t.block[a] || !k->block[a] || nat_is_const(k->block[a]);
        threads &= t.thread[a] || k->threads[a] == 1;
    }
    for (int d = 0; d + 1 < write->depth && all; d++) {
        const ImpStmt *s = write->lists[d]->list.at[write->pos[d]];
        all = s->kind != IS_FOR || nat_mentions(index, s->loop.var);
    }
    return all && (threads || (warp && t.lane));
}

/* ---- the kernel ------------------------------------------------------------------------------------------- */

static bool is_before_grid_sync(const Look *l, const Spot *read)
{
    bool first = l->grid_sync >= 0 && read->pos[0] < l->grid_sync;
    for (int w = 0; w < l->writes.n && first; w++)
        first = l->writes.at[w]->pos[0] > l->grid_sync;
    return first;
}

static void find_partners(Look *l)
{
    int matches = 0;
    for (int i = 0; i < l->reads.n && l->found == ONE_MEMORY_ALLOWED; i++) {
        const Spot *read = l->reads.at[i];
        bool has = is_before_grid_sync(l, read);
        for (int w = 0; w < l->writes.n && !has; w++, matches++)
            has = matches < MAX_MATCHES && is_partner(l, read, l->writes.at[w]) && tells_all(l, l->writes.at[w]);
        if (!has && !l->shared && blocks_have_parts(l))
            return;
        if (!has)
            refuse(l, matches < MAX_MATCHES ? ONE_MEMORY_ELSEWHERE : ONE_MEMORY_LARGE);
    }
}

static void note_names(Look *l)
{
    Names names = {.ctx = l->ctx};
    ImpBlock body = l->kernel->body;
    walk_stmts(&body, note_name, &names);
    l->n_names = names.names.n;
    l->names = names.names.at;
    l->values = names.values.at;
    l->n_loops = names.loops.n;
    l->loops = names.loops.at;
}

OneMemory partners_prove(Ctx *ctx, const ImpKernel *kernel, const ImpBuf *result, const ImpBuf *input)
{
    if (result->rewritten)
        return ONE_MEMORY_EXCHANGED;
    Look l = {.ctx = ctx, .kernel = kernel, .result = result, .input = input, .grid_sync = -1};
    note_names(&l);
    look_block(&l, &kernel->body);
    find_partners(&l);
    return l.found;
}

/* What the statements in a statement do with a buffer. */
typedef struct Mentions {
    const ImpBuf *buf;
    bool here, any, stores;
} Mentions;

static void mention_buf(void *user, ImpBuf **at)
{
    Mentions *m = user;
    m->here |= *at == m->buf;
}

static void mention(void *user, ImpStmt *s)
{
    Mentions *m = user;
    m->here = false;
    if (s->kind != IS_ALLOC)
        walk_bufs(s, mention_buf, m);
    m->any |= m->here;
    switch (s->kind) {
    case IS_STORE: m->stores |= s->store.buf == m->buf; break;
    case IS_VSTORE: m->stores |= s->vec.buf == m->buf; break;
    case IS_DECL: case IS_SET: case IS_VSET: case IS_VLOAD: case IS_FOR: case IS_IF: case IS_SYNC:
    case IS_ALLOC: case IS_NOTE:
        break;
    case IS_ATOMIC: case IS_TICKET: case IS_GRID_SYNC: case IS_GIVE: case IS_AWAIT: case IS_SERVE:
        m->stores |= m->here;
        break;
    }
}

static Mentions mentions_of(ImpStmt *s, const ImpBuf *buf)
{
    Mentions m = {.buf = buf};
    ImpBlock one = {.list = {&s, 1, 1}};
    walk_stmts(&one, mention, &m);
    return m;
}

bool partners_prove_shared(Ctx *ctx, const ImpKernel *kernel, const ImpBlock *list, const ImpBuf *later,
                           const ImpBuf *earlier)
{
    int from = -1, to = -1, filled = -1;
    for (int i = 0; i < list->list.n; i++) {
        if (mentions_of(list->list.at[i], earlier).stores)
            filled = i;
        if (mentions_of(list->list.at[i], later).stores) {
            from = from < 0 ? i : from;
            to = i;
        }
    }
    if (from < 0 || filled >= from)
        return false;
    ImpBlock part = {.list = {list->list.at + filled + 1, to - filled, to - filled}};
    for (int i = to + 1; i < list->list.n; i++)
        if (mentions_of(list->list.at[i], earlier).any)
            return false;
    Look l = {.ctx = ctx, .kernel = kernel, .result = later, .input = earlier, .grid_sync = -1};
    l.shared = true;
    note_names(&l);
    look_block(&l, &part);
    find_partners(&l);
    return l.found == ONE_MEMORY_ALLOWED;
}
