#include "raim.h"

#include "codegen/walk.h"
#include "rtree.h"

enum { SAMPLES = 1500, CLIMB = 150 /* samples that go on from one another */, MOST_PARTS = 64 /* of a condition */, MOMENTS = 200, AIM_VARS = 64, DEPTH = 12, FEW = 17, SHRINK_MOMENTS = 40 };

/* ---- the way to the place --------------------------------------------------------------------------------------------------------------- */

static bool find_path(Aim *aim, const ImpBlock *block)
{
    for (int i = 0; i < block->list.n; i++) {
        const ImpStmt *s = block->list.at[i];
        if (s == aim->fault->stmt)
            return true;
        if (s->kind != IS_FOR && s->kind != IS_IF)
            continue;
        for (int otherwise = 0; otherwise <= (s->kind == IS_IF); otherwise++) {
            vec_push(aim->ctx, &aim->path, s);
            vec_push(aim->ctx, &aim->otherwise, otherwise != 0);
            if (find_path(aim, s->kind == IS_FOR ? &s->loop.body : otherwise ? &s->branch.otherwise : &s->branch.then))
                return true;
            aim->path.n--;
            aim->otherwise.n--;
        }
    }
    return false;
}

static void find_name(void *user, ImpStmt *s)
{
    Aim *aim = user;
    if (s->kind == IS_DECL && s->var.var->nat && s->var.value)
        vec_push(aim->ctx, &aim->names, s);
}

typedef struct Contains {
    const ImpExpr *expr;
    bool found;
} Contains;

static void look_for(void *user, ImpExpr **at)
{
    Contains *c = user;
    c->found |= *at == c->expr;
}

/* The outermost condition with the changed place. */
static void find_root(void *user, ImpExpr **at)
{
    Aim *aim = user;
    Contains c = {aim->fault->expr, false};
    if (aim->root || (*at)->type != SC_BOOL)
        return;
    walk_expr(at, look_for, &c);
    if (c.found)
        aim->root = *at;
}

Aim aim_take(Ctx *ctx, const ImpProgram *program, const Fault *fault)
{
    Aim aim = {.ctx = ctx, .entry = program->entry, .program = program, .fault = fault};
    find_path(&aim, &fault->kernel->body);
    walk_stmts(&fault->kernel->body, find_name, &aim);
    if (fault->expr)
        walk_own(fault->stmt, find_root, &aim);
    if (fault->kind == FAULT_CHOICE)
        aim.root = fault->expr->cond.cond;
    if (fault->kind == FAULT_GUARD)
        aim.root = fault->stmt->branch.cond;
    aim.sound = aim.root ? imp_copy_expr(ctx, aim.root) : NULL;
    return aim;
}

void aim_compare(Aim *aim)
{
    if (aim->root)
        aim->wrong = aim->fault->kind == FAULT_CHOICE ? aim->fault->expr->cond.cond : aim->fault->kind == FAULT_GUARD ? aim->fault->stmt->branch.cond : imp_copy_expr(aim->ctx, aim->root);
}

/* ---- one thread at one moment ----------------------------------------------------------------------------------------------------------- */

typedef struct Moment {
    const Aim *aim;
    const int64_t *sizes, *grid;
    int64_t num_sm;
    uint64_t *state;
    int n, depth;
    Nat vars[AIM_VARS];
    int64_t values[AIM_VARS];
    int64_t missed; /* by how much: 0: unknown */
    int came;       /* how many conditions of the way hold, up to the first that does not: its own parts count */
} Moment;

static bool value_of(void *user, Nat var, int64_t *value);

static bool nat_value(Moment *m, Nat nat, int64_t *value)
{
    bool good = m->depth < DEPTH;
    m->depth++;
    good = good && nat_eval(nat, value_of, m, value) == NAT_EVAL_OK;
    m->depth--;
    return good;
}

static bool expr_value(Moment *m, const ImpExpr *e, int64_t *value)
{
    switch (e->kind) {
    case IE_NAT: return nat_value(m, e->nat, value);
    case IE_LIT: *value = e->lit.i; return scalar_is_int(e->lit.type);
    case IE_CAST: return expr_value(m, e->cast.value, value);
    case IE_VAR: return e->var.var->nat && value_of(m, e->var.var->nat, value);
    default: return false;
    }
}

/* One of 0 to n - 1, the ends more often. */
static int64_t one_of(Moment *m, int64_t n)
{
    int kind = random_below(m->state, 4);
    return n <= 1 || kind == 0 ? 0 : kind == 1 ? n - 1 : random_below(m->state, n < INT32_MAX ? (int)n : INT32_MAX);
}

static void bind(Moment *m, Nat var, int64_t value)
{
    if (m->n < AIM_VARS) {
        m->vars[m->n] = var;
        m->values[m->n++] = value;
    }
}

static int64_t linear_thread(Moment *m)
{
    const ImpKernel *kernel = m->aim->fault->kernel;
    int64_t at = 0, value;
    for (int a = 2; a >= 0; a--)
        at = at * kernel->threads[a] + (kernel->thread[a]->kind == NAT_VAR && value_of(m, kernel->thread[a], &value) ? value : 0);
    return at;
}

static bool hardware_value(Moment *m, Nat var, int64_t *value)
{
    const ImpKernel *kernel = m->aim->fault->kernel;
    for (int a = 0; a < 3; a++) {
        if (var == kernel->grid[a] || var == kernel->block[a]) {
            *value = m->grid[a];
            if ((!*value || kernel->once[a]) && !nat_value(m, kernel->blocks[a], value))
                return false;
            *value = var == kernel->grid[a] ? *value : one_of(m, *value);
            return true;
        }
        if (var == kernel->thread[a]) {
            *value = one_of(m, kernel->threads[a]);
            return true;
        }
    }
    if (var != kernel->warp && var != kernel->lane)
        return false;
    int64_t at = linear_thread(m);
    *value = var == kernel->warp ? at / 32 : at % 32;
    return true;
}

static bool value_of(void *user, Nat var, int64_t *value)
{
    Moment *m = user;
    const Aim *aim = m->aim;
    for (int k = 0; k < m->n; k++)
        if (m->vars[k] == var) {
            *value = m->values[k];
            return true;
        }
    bool known = false;
    for (int k = 0; k < aim->entry->n_sizes && !known; k++)
        if (aim->entry->sizes[k] == var) {
            *value = m->sizes[k];
            known = true;
        }
    if (!known && var == aim->entry->num_sm) {
        *value = m->num_sm ? m->num_sm : 1;
        known = true;
    }
    known = known || hardware_value(m, var, value);
    for (int k = 0; k < aim->names.n && !known; k++)
        if (aim->names.at[k]->var.var->nat == var)
            known = expr_value(m, aim->names.at[k]->var.value, value);
    if (known)
        bind(m, var, *value);
    return known;
}

/* 1 or 0; -1: sizes do not decide. */
static int condition(Moment *m, const ImpExpr *e)
{
    int64_t a, b;
    if (e->kind == IE_LIT)
        return e->lit.i != 0;
    if (e->kind != IE_OP)
        return -1;
    if (e->op.id == P_and || e->op.id == P_or) {
        int x = condition(m, e->op.args[0]), y = condition(m, e->op.args[1]), decides = e->op.id == P_or;
        return x == decides || y == decides ? decides : x < 0 || y < 0 ? -1 : !decides;
    }
    if (e->op.id == P_not) {
        int x = condition(m, e->op.args[0]);
        return x < 0 ? x : !x;
    }
    if (e->op.n != 2 || !expr_value(m, e->op.args[0], &a) || !expr_value(m, e->op.args[1], &b))
        return -1;
    switch (e->op.id) {
    case P_lt: return a < b;
    case P_le: return a <= b;
    case P_gt: return a > b;
    case P_ge: return a >= b;
    case P_eq: return a == b;
    case P_ne: return a != b;
    default: return -1;
    }
}

/* How many parts of a conjunction are not known to fail. */
static int parts_that_hold(Moment *m, const ImpExpr *e)
{
    if (e->kind == IE_OP && e->op.id == P_and)
        return parts_that_hold(m, e->op.args[0]) + parts_that_hold(m, e->op.args[1]);
    return condition(m, e) != 0;
}

/* Goes into the loop in some trip; false: it has none. */
static bool enter_loop(Moment *m, const ImpStmt *s, int64_t least)
{
    int64_t lo, hi, step;
    if (!nat_value(m, s->loop.lo, &lo) || !nat_value(m, s->loop.hi, &hi) || !nat_value(m, s->loop.step, &step) || step < 1)
        return true;
    int64_t trips = (hi - lo + step - 1) / step;
    if (trips < least)
        return false;
    bind(m, s->loop.var, lo + step * one_of(m, trips));
    return true;
}

/* The changed comparison decides otherwise where its left side is less by this. */
static int64_t missed_by(Moment *m, const Fault *f)
{
    const ImpExpr *e = &f->old_expr;
    int64_t a, b;
    if (f->kind != FAULT_COMPARISON || !expr_value(m, e->op.args[0], &a) || !expr_value(m, e->op.args[1], &b))
        return 0;
    return a - b - (e->op.id == P_le);
}

/* Does the moment come to the fault, and (`differs`) is its condition another there? */
static bool hits(Moment *m, bool differs)
{
    const Aim *aim = m->aim;
    const Fault *f = aim->fault;
    for (int i = 0; i < aim->path.n; i++) {
        const ImpStmt *s = aim->path.at[i];
        m->came = i * MOST_PARTS;
        if (s->kind == IS_FOR) {
            if (!enter_loop(m, s, 1))
                return false;
        } else if (condition(m, s->branch.cond) == (aim->otherwise.at[i] ? 1 : 0)) {
            m->came += aim->otherwise.at[i] ? 0 : parts_that_hold(m, s->branch.cond);
            return false;
        }
    }
    m->came = aim->path.n * MOST_PARTS;
    if (f->kind == FAULT_LOOP_STEP || f->kind == FAULT_LOOP_START || f->kind == FAULT_LOOP_END)
        return enter_loop(m, &f->old_stmt, f->kind == FAULT_LOOP_STEP ? 2 : 1);
    if (!aim->root || !differs)
        return true;
    int sound = condition(m, aim->sound), wrong = condition(m, aim->wrong);
    if (sound < 0 || wrong < 0 || sound != wrong)
        return true;
    m->missed = missed_by(m, f);
    return false;
}

static bool facts_hold(const CoreEntry *entry, const Launch *launch)
{
    bool holds, accepted = true;
    for (int k = 0; k < entry->n_facts && accepted; k++)
        accepted = !launch_test(NULL, entry, launch, entry->facts[k], &holds) || holds;
    return accepted;
}

bool aim_accepts(const CoreEntry *entry, const int64_t *sizes, int64_t num_sm)
{
    return facts_hold(entry, &(Launch){.n_sizes = entry->n_sizes, .sizes = (int64_t *)sizes, .num_sm = num_sm});
}

static bool accepts(const Aim *aim, const Launch *launch)
{
    return facts_hold(aim->entry, launch) && imp_is_launched(aim->program, aim->fault->kernel, launch);
}

/* The moment that missed by some number, with one size that is this much larger or smaller. */
static bool hits_near(const Aim *aim, const Marks *marks, const Moment *missed, uint64_t before, Launch *launch)
{
    for (int k = 0; k < 2 * launch->n_sizes && missed->missed; k++) {
        int64_t *size = &launch->sizes[k / 2], old = *size;
        uint64_t again = before;
        Moment near = {.aim = aim, .sizes = launch->sizes, .grid = missed->grid, .num_sm = missed->num_sm, .state = &again};
        *size += k % 2 ? -missed->missed : missed->missed;
        if (*size >= 0 && *size <= marks->most && accepts(aim, launch) && hits(&near, true))
            return true;
        *size = old;
    }
    return false;
}

/* Where there are several sizes, one after the other is drawn anew, and stays so where the moment comes as far as before. */
bool aim_sizes(Aim *aim, const Marks *marks, const int64_t grid[3], int64_t num_sm, uint64_t *state, int64_t *sizes)
{
    int n = aim->entry->n_sizes, came = -1;
    Launch launch = {.n_sizes = n, .sizes = sizes, .num_sm = num_sm};
    for (int i = 0; i < SAMPLES; i++) {
        if (i % CLIMB == 0)
            came = -1;
        bool anew = came < 0 || n < 2;
        int at = anew ? 0 : random_below(state, n);
        int64_t old = sizes[at];
        for (int k = at; k < (anew ? n : at + 1); k++)
            sizes[k] = marks_size(marks, n, state);
        uint64_t before = *state;
        Moment m = {.aim = aim, .sizes = sizes, .grid = grid, .num_sm = num_sm, .state = state};
        bool accepted = accepts(aim, &launch);
        if (accepted && (hits(&m, true) || hits_near(aim, marks, &m, before, &launch)))
            return true;
        if (accepted && m.came >= came)
            came = m.came;
        else if (!anew)
            sizes[at] = old;
    }
    return false;
}

/* Some moment of a launch with these sizes comes to the fault. */
static bool some_moment_hits(const Aim *aim, const Launch *launch, const int64_t grid[3], uint64_t *state)
{
    for (int i = 0; i < SHRINK_MOMENTS; i++) {
        Moment m = {.aim = aim, .sizes = launch->sizes, .grid = grid, .num_sm = launch->num_sm, .state = state};
        if (hits(&m, true))
            return true;
    }
    return false;
}

/* What is worth trying for a size: small ones, ones near a mark, and what is left of it by a mark, smallest first. */
static int smaller_sizes(const Marks *marks, int64_t size, int64_t *found)
{
    int n = 0;
    int64_t tried[FEW + 5 * MARKS_MAX];
    int n_tried = 0;
    for (int i = 1; i <= FEW; i++)
        tried[n_tried++] = i;
    for (int i = 0; i < marks->n; i++) {
        int64_t mark = marks->at[i], near[] = {mark - 1, mark, mark + 1, size % mark, size % mark + mark};
        for (int k = 0; k < 5; k++)
            tried[n_tried++] = near[k];
    }
    for (int i = 0; i < n_tried; i++) {
        int at = n;
        while (at > 0 && found[at - 1] > tried[i])
            at--;
        if (tried[i] < 1 || tried[i] >= size || (at > 0 && found[at - 1] == tried[i]))
            continue;
        memmove(found + at + 1, found + at, (size_t)(n++ - at) * sizeof *found);
        found[at] = tried[i];
    }
    return n;
}

void aim_shrink(Aim *aim, const Marks *marks, const int64_t grid[3], int64_t num_sm, uint64_t *state, int64_t *sizes)
{
    int n = aim->entry->n_sizes;
    Launch launch = {.n_sizes = n, .sizes = sizes, .num_sm = num_sm};
    for (int k = 0; k < n; k++) {
        int64_t smaller[FEW + 5 * MARKS_MAX], old = sizes[k];
        int n_smaller = smaller_sizes(marks, old, smaller);
        bool found = false;
        for (int i = 0; i < n_smaller && !found; i++) {
            sizes[k] = smaller[i];
            found = accepts(aim, &launch) && some_moment_hits(aim, &launch, grid, state);
        }
        if (!found)
            sizes[k] = old;
    }
}

bool aim_meets(const Aim *aim, const int64_t *sizes, const int64_t grid[3], int64_t num_sm, uint64_t seed)
{
    Launch launch = {.n_sizes = aim->entry->n_sizes, .sizes = (int64_t *)sizes, .num_sm = num_sm};
    if (!imp_is_launched(aim->program, aim->fault->kernel, &launch))
        return false;
    for (int i = 0; i < MOMENTS; i++) {
        Moment m = {.aim = aim, .sizes = sizes, .grid = grid, .num_sm = num_sm, .state = &seed};
        if (hits(&m, false))
            return true;
    }
    return false;
}
