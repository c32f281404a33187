/* Ways through the size tests of an entry, and the launches that they make.
 *
 * Note [Ways]. A size test chooses between kernels where it stands at the top of an entry, of what nextKernel goes on with, or of what it is given. It is decided
 * when the kernel begins in which it stands, so that the plan of the launch knows the branch, and closed where its branch ends: kernels that begin
 * while it is open are launched under it, later ones are not.
 *
 * The entry is translated once for each way: the first one takes the first branch of every test, and each test that was met for the first time leaves another way
 * to go, with the same decisions before it and the other branch. Such a way is recorded from the kernel on in which it parts from the others. Where a kernel
 * begins at a place, and under tests, where one has begun on a way before, all that follows is there already. So the numbers of the kernels
 * of several tests add up, and do not multiply.
 *
 * That needs one thing: what a kernel finds when it begins does not depend on tests that are closed. Tests are decided only where values are written, so that no
 * view comes out of a branch; what a branch knows of sizes is forgotten at its end; workspace is told apart by the branches around the place where it is
 * made, and by its number there (workspace_of), so that it is the same on all ways. */
#include "codegen/ways.h"
#include "ir/key.h"
#include "ir/terms.h"

/* ---- decisions ------------------------------------------------------------------------------------------------------------ */

static Decision *decision_on(const Lowering *lw, const Core *test)
{
    for (int i = 0; i < lw->decisions.n; i++)
        if (lw->decisions.at[i].test == test)
            return &lw->decisions.at[i];
    return NULL;
}

const Core *lower_decided(const Lowering *lw, const Core *e)
{
    const Decision *d = e->kind == CORE_IF ? decision_on(lw, e) : NULL;
    return !d ? NULL : d->holds ? e->cond.then : e->cond.otherwise;
}

typedef struct HostKnows {
    const CoreEntry *entry;
    bool all;
} HostKnows;

static void note_unknown(void *user, Nat var)
{
    HostKnows *h = user;
    bool known = var->device == NAT_NUM_SM;
    for (int i = 0; i < h->entry->n_sizes; i++)
        known |= h->entry->sizes[i] == var;
    h->all &= known;
}

/* Not so where the number of blocks that fit, which is another one for each kernel, or that of a step stands in it. */
static bool host_knows(const Lowering *lw, Nat nat)
{
    HostKnows h = {lw->entry, true};
    nat_each_var(lw->ctx, nat, note_unknown, &h);
    return h.all;
}

/* A condition that the host can decide before it launches. */
static bool is_size_test(const Lowering *lw, const Core *e)
{
    if (e->kind == CORE_SIZE)
        return host_knows(lw, e->size);
    if (e->kind != CORE_PRIM)
        return false;
    PrimId id = e->prim.id;
    bool compares = id >= P_eq && id <= P_ge;
    if (!compares && id != P_and && id != P_or && id != P_not)
        return false;
    for (int i = 0; i < e->prim.n_args; i++)
        if ((compares && !term_is_exact_size(e->prim.args[i])) || (!compares && e->prim.args[i]->kind == CORE_SIZE) || !is_size_test(lw, e->prim.args[i]))
            return false;
    return true;
}

static void assume_decision(Lowering *lw, const Decision *d) { (d->holds ? assume : assume_not)(lw, d->cond); }

/* What is known of sizes under the tests that are open; `inside`: under those whose branch is being translated. */
static NatFacts *known_here(Lowering *lw, bool inside)
{
    NatFacts *saved = lw->facts, *known = lw->facts = nat_facts_new(lw->ctx, (NatFacts *)lw->entry->known);
    for (int i = 0; i < lw->decisions.n; i++)
        if (!lw->decisions.at[i].closed && (lw->decisions.at[i].inside || !inside))
            assume_decision(lw, &lw->decisions.at[i]);
    lw->facts = saved;
    return known;
}

void branch_enter(Lowering *lw, const Core *test)
{
    Decision *d = decision_on(lw, test);
    if (d->top)
        return;
    d->inside = true;
    lw->facts = nat_facts_new(lw->ctx, lw->facts);
    assume_decision(lw, d);
}

void branch_leave(Lowering *lw, const Core *test)
{
    Decision *d = decision_on(lw, test);
    if (d->top)
        return;
    d->closed = true;
    lw->facts = nat_facts_new(lw->ctx, known_here(lw, true));
}

/* The same tests are open, or with `inside` entered, and turn out alike. */
static bool same_tests(const Decisions *a, const Decisions *b)
{
    bool same = a->n == b->n;
    for (int i = 0; same && i < a->n; i++)
        same = a->at[i].test == b->at[i].test && a->at[i].holds == b->at[i].holds;
    return same;
}

static Decisions tests_here(const Lowering *lw, bool inside)
{
    Decisions here = {0};
    for (int i = 0; i < lw->decisions.n; i++)
        if (!lw->decisions.at[i].closed && (lw->decisions.at[i].inside || !inside))
            vec_push(lw->ctx, &here, lw->decisions.at[i]);
    return here;
}

/* ---- tests of the kernel that begins -------------------------------------------------------------------------------------- */

typedef struct TestWalk {
    Lowering *lw;
    const Core *start, *here; /* the kernel that begins, and the one that the walk is in */
} TestWalk;

/* The way that parts from this one here. */
static void add_way(Lowering *lw, Decision other)
{
    Decisions way = {0};
    for (int i = 0; i < lw->decisions.n; i++)
        vec_push(lw->ctx, &way, lw->decisions.at[i]);
    other.holds = !other.holds;
    vec_push(lw->ctx, &way, other);
    vec_push(lw->ctx, &lw->ways->left, way);
}

static void decide(Lowering *lw, const Core *e, bool top)
{
    Ways *ways = lw->ways;
    const Env *env = lw->env;
    ImpBlock *out = lw->out, none = {{0}};
    NatFacts *facts = lw->facts;
    lw->env = NULL;
    lw->out = &none;
    lw->facts = known_here(lw, false);
    Decision d = {.test = e, .holds = true, .top = top, .inside = top, .cond = view_scalar(lw, lower_read(lw, e->cond.cond))};
    const bool always = core_cond_is(lw->ctx, lw->facts, e->cond.cond, true), never = core_cond_is(lw->ctx, lw->facts, e->cond.cond, false);
    lw->env = env;
    lw->out = out;
    lw->facts = facts;
    d.certain = always || never;
    d.holds = !never;
    bool told = lw->decisions.n < ways->way.n;
    if (told)
        d.holds = ways->way.at[lw->decisions.n].holds;
    else if (!d.certain && ways->fresh)
        add_way(lw, d);
    vec_push(lw->ctx, &lw->decisions, d);
    ways->fresh |= told && lw->decisions.n == ways->way.n;
}

static void tests_write(TestWalk *w, const Core *e, bool head, bool top);

/* What is read, where no test chooses: only the kernels that begin there. */
static void tests_read(TestWalk *w, const Core *e);

static void tests_staged(TestWalk *w, const Core *e)
{
    for (; e->kind == CORE_LET; e = e->let.body)
        tests_read(w, e->let.value);
    tests_write(w, e, true, false);
}

static void tests_next_kernel(TestWalk *w, const Core *e, bool writes)
{
    tests_staged(w, e->prim.args[1]);
    w->here = e;
    if (writes)
        tests_write(w, e->prim.args[0]->lambda.body, true, false);
    else
        tests_read(w, e->prim.args[0]->lambda.body);
}

static void tests_read(TestWalk *w, const Core *e)
{
    switch (e->kind) {
    case CORE_LET:
        tests_read(w, e->let.value);
        tests_read(w, e->let.body);
        break;
    case CORE_PROJ: tests_read(w, e->proj.value); break;
    case CORE_TUPLE:
        for (int i = 0; i < e->tuple.n; i++)
            tests_read(w, e->tuple.items[i]);
        break;
    case CORE_PRIM:
        if (e->prim.id == P_nextKernel) {
            tests_next_kernel(w, e, false);
            break;
        }
        if (e->prim.id == P_repeatKernels) {
            tests_staged(w, e->prim.args[1]);
            w->here = e;
            tests_staged(w, e->prim.args[0]->lambda.body);
            break;
        }
        for (int i = 0; i < e->prim.n_args; i++)
            tests_read(w, e->prim.args[i]);
        break;
    case CORE_IF: case CORE_VAR: case CORE_LIT: case CORE_SIZE: case CORE_LAMBDA: case CORE_UNIT_ERROR: break;
    }
}

/* `head`: a size test that stands here chooses; `top`: it is that of the entry. */
static void tests_write(TestWalk *w, const Core *e, bool head, bool top)
{
    Lowering *lw = w->lw;
    for (; e->kind == CORE_LET; e = e->let.body)
        tests_read(w, e->let.value);
    if (e->kind == CORE_IF) {
        if (!lower_decided(lw, e) && head && w->here == w->start && is_size_test(lw, e->cond.cond))
            decide(lw, e, top);
        const Core *decided = lower_decided(lw, e);
        if (decided)
            tests_write(w, decided, head, top);
        return;
    }
    bool view = e->kind == CORE_PRIM && prim_rows[e->prim.id].level == LEVEL_VIEW;
    if (e->kind == CORE_PRIM && e->prim.id == P_nextKernel)
        tests_next_kernel(w, e, true);
    else if (view && (prim_rows[e->prim.id].write[0] || e->prim.id == P_zip || e->prim.id == P_zip3 || e->prim.id == P_zip4))
        for (int i = 0; i < e->prim.n_args; i++)
            tests_write(w, e->prim.args[i], false, false);
    else if (e->kind == CORE_TUPLE)
        for (int i = 0; i < e->tuple.n; i++)
            tests_write(w, e->tuple.items[i], false, false);
    else
        tests_read(w, e);
}

/* ---- kernels of a way ------------------------------------------------------------------------------------------------------ */

static int start_at(Lowering *lw, const Core *at, const Decisions *open)
{
    Ways *ways = lw->ways;
    int turn = 0;
    for (int i = 0; i < ways->begun.n; i++)
        turn += ways->begun.at[i].at == at && !ways->begun.at[i].prepares;
    for (int i = 0; i < ways->starts.n; i++) {
        const Start *s = &ways->starts.at[i];
        if (s->at == at && s->turn == turn && same_tests(&s->open, open))
            return i;
    }
    vec_push(lw->ctx, &ways->starts, ((Start){at, turn, *open, -1}));
    return ways->starts.n - 1;
}

void way_kernel(Lowering *lw, ImpKernel *kernel, const Core *at)
{
    Ways *ways = lw->ways;
    int known = ways->starts.n;
    const Decisions open = tests_here(lw, false);
    const int start = start_at(lw, at, &open);
    if (ways->fresh && start < known) { /* this way is another's from here on */
        ways->meets = start;
        ways->fresh = false;
    }
    tests_write(&(TestWalk){.lw = lw, .start = at}, lw->entry->body, true, true);
    Begun b = {.kernel = kernel, .at = at, .start = start, .recorded = ways->fresh};
    for (int i = 0; i < lw->decisions.n; i++)
        if (!lw->decisions.at[i].closed)
            vec_push(lw->ctx, &b.tests, lw->decisions.at[i]);
    vec_push(lw->ctx, &ways->begun, b);
    lw->known = known_here(lw, false);
}

const ImpGroup *way_group(Lowering *lw, const Core *at, Nat count)
{
    Ways *ways = lw->ways;
    for (int i = 0; i < ways->groups.n; i++)
        if (ways->groups.at[i].at == at)
            return ways->groups.at[i].group;
    ImpGroup *group = NEW(lw->ctx, ImpGroup);
    *group = (ImpGroup){count, nat_turn_var(lw->ctx, count)};
    vec_push(lw->ctx, &ways->groups, ((Repeated){at, group}));
    return group;
}

void way_facts(Lowering *lw) { lw->facts = nat_facts_new(lw->ctx, known_here(lw, true)); }

void way_kernel_before(Lowering *lw, ImpKernel *init)
{
    Ways *ways = lw->ways;
    Begun b = ways->begun.at[ways->begun.n - 1];
    b.kernel = init;
    b.prepares = true;
    const Begun own = ways->begun.at[--ways->begun.n]; /* moves on by one */
    vec_push(lw->ctx, &ways->begun, b);
    vec_push(lw->ctx, &ways->begun, own);
}

/* ---- workspace ------------------------------------------------------------------------------------------------------------ */

/* The number of the first buffer for the same workspace, on this way or another one. */
void workspace_of(Lowering *lw, ImpBuf *buf)
{
    Ways *ways = lw->ways;
    const Decisions tests = tests_here(lw, true);
    int number = 0;
    for (int i = 0; i < ways->made.n; i++)
        number += same_tests(&ways->made.at[i], &tests);
    vec_push(lw->ctx, &ways->made, tests);
    buf->component = buf->id;
    for (int i = 0; i < ways->spaces.n; i++) {
        const Space *s = &ways->spaces.at[i];
        if (s->number == number && s->elem == buf->elem && s->count == buf->count && same_tests(&s->tests, &tests)) {
            buf->component = s->buf->id;
            return;
        }
    }
    vec_push(lw->ctx, &ways->spaces, ((Space){tests, number, buf->elem, buf->count, buf, 0}));
}

/* Is workspace of the one made in another branch than that of the other? */
static bool exclude_each_other(const Space *a, const Space *b)
{
    for (int i = 0; i < a->tests.n; i++)
        for (int k = 0; k < b->tests.n; k++)
            if (a->tests.at[i].test == b->tests.at[k].test && a->tests.at[i].holds != b->tests.at[k].holds)
                return true;
    return false;
}

static bool may_share(const Ways *ways, int i, int k)
{
    const Space *a = &ways->spaces.at[i], *b = &ways->spaces.at[k];
    bool may = a->elem == b->elem && a->buf->count == b->buf->count && a->buf->zero == b->buf->zero && a->buf->rounds == b->buf->rounds;
    for (int j = 0; may && j < i; j++)
        may = (j != k && ways->spaces.at[j].shares != k) || exclude_each_other(a, &ways->spaces.at[j]);
    return may;
}

/* Buffers of branches of which only one is taken are the same memory where they are alike. */
static void share_workspace(Lowering *lw)
{
    Ways *ways = lw->ways;
    for (int i = 0; i < ways->spaces.n; i++) {
        Space *s = &ways->spaces.at[i];
        s->shares = i;
        for (int k = 0; k < i && s->shares == i; k++)
            if (ways->spaces.at[k].shares == k && may_share(ways, i, k))
                s->shares = k;
    }
    for (int b = 0; b < lw->globals.n; b++) {
        ImpBuf *buf = lw->globals.at[b];
        for (int i = 0; i < ways->spaces.n && buf->space == SPACE_TEMP; i++)
            if (buf->component == ways->spaces.at[i].buf->id) {
                buf->component = ways->spaces.at[ways->spaces.at[i].shares].buf->id;
                break;
            }
    }
}

/* ---- launches -------------------------------------------------------------------------------------------------------------- */

/* Loops over nothing that does anything, too. */
static bool does_nothing(const ImpBlock *block)
{
    for (int i = 0; i < block->list.n; i++) {
        const ImpStmt *s = block->list.at[i];
        bool idle = s->kind == IS_NOTE || (s->kind == IS_FOR && does_nothing(&s->loop.body)) ||
                    (s->kind == IS_IF && does_nothing(&s->branch.then) && does_nothing(&s->branch.otherwise));
        if (!idle)
            return false;
    }
    return true;
}

/* Not between launches that repeat together, of which it is none. */
static int behind_group(const Lowering *lw, const Begun *b, int at)
{
    const ImpProgram *program = lw->program;
    const ImpGroup *group = at > 0 ? program->launches.at[at - 1].group : NULL;
    while (group && group != b->kernel->group && at < program->launches.n && program->launches.at[at].group == group)
        at++;
    return at;
}

static void insert_launch(Lowering *lw, int at)
{
    ImpProgram *program = lw->program;
    vec_push(lw->ctx, &program->launches, ((ImpLaunch){.group = NULL}));
    for (int i = program->launches.n - 1; i > at; i--)
        program->launches.at[i] = program->launches.at[i - 1];
    program->launches.at[at] = (ImpLaunch){.group = NULL};
    for (int i = 0; i < lw->ways->starts.n; i++)
        lw->ways->starts.at[i].launch += lw->ways->starts.at[i].launch >= at;
}

/* Tests that say the same are one: where one stage takes a class, so do others by it. */
static const Core *one_test(Lowering *lw, const Core *cond)
{
    Ways *ways = lw->ways;
    for (int i = 0; i < ways->conds.n; i++)
        if (core_same(lw->ctx, ways->conds.at[i], cond))
            return ways->conds.at[i];
    vec_push(lw->ctx, &ways->conds, cond);
    return cond;
}

/* The launches of a way stand beside those of the way that it parts from: where that has no more, new ones. */
static void place_kernels(Lowering *lw)
{
    Ways *ways = lw->ways;
    ImpProgram *program = lw->program;
    int last = -1;
    for (int i = 0; i < ways->begun.n; i++) {
        const Begun *b = &ways->begun.at[i];
        Start *start = &ways->starts.at[b->start];
        int end = ways->meets >= 0 ? ways->starts.at[ways->meets].launch : program->launches.n, at = start->launch;
        if (!b->recorded) {
            last = at;
            continue;
        }
        if (b->prepares || at < 0) {
            at = b->prepares && start->launch >= 0 ? start->launch : behind_group(lw, b, last + 1);
            if (b->prepares || at >= end || program->launches.at[at].group != b->kernel->group)
                insert_launch(lw, at);
            program->launches.at[at].group = b->kernel->group;
        }
        if (!b->prepares)
            start->launch = at;
        last = at;
        ImpVariant variant = {.kernel = b->kernel};
        for (int d = 0; d < b->tests.n; d++)
            if (!b->tests.at[d].certain)
                vec_push(lw->ctx, &variant.when, ((ImpWhen){one_test(lw, b->tests.at[d].test->cond.cond), b->tests.at[d].holds}));
        if (!b->nothing)
            vec_push(lw->ctx, &program->launches.at[at].variants, variant);
    }
}

static void drop_empty_launches(ImpProgram *program)
{
    int n = 0;
    for (int i = 0; i < program->launches.n; i++)
        if (program->launches.at[i].variants.n)
            program->launches.at[n++] = program->launches.at[i];
    program->launches.n = n;
}

/* ---- names ------------------------------------------------------------------------------------------------------------------ */

static const char *case_word(const Core *test, bool holds)
{
    switch ((int)test->prim.id) {
    case P_lt: case P_le:
        return holds ? "small" : "large";
    case P_gt: case P_ge:
        return holds ? "large" : "small";
    case P_and: case P_or:
        return case_word(test->prim.args[0], holds);
    case P_not:
        return case_word(test->prim.args[0], !holds);
    }
    return holds ? "then" : "else";
}

/* The outermost test that may turn out in two ways; NULL: none. */
static const Decision *outermost(const Decisions *tests)
{
    for (int i = 0; i < tests->n; i++)
        if (!tests->at[i].certain)
            return &tests->at[i];
    return NULL;
}

static int class_of(Lowering *lw, const Decisions *tests)
{
    Ways *ways = lw->ways;
    int k = 0;
    while (k < ways->classes.n && !same_tests(&ways->classes.at[k], tests))
        k++;
    if (k == ways->classes.n)
        vec_push(lw->ctx, &ways->classes, *tests);
    return k;
}

/* Both sides of a test are called by its condition, where neither has classes in it. More are counted in the order of the text: the conditions stand
 * above the kernels. */
static const char *class_name(Lowering *lw, const Decisions *tests)
{
    const Ways *ways = lw->ways;
    const char *base = lw->entry->name;
    const Decision *own = outermost(tests);
    int classes = 0, sides[2] = {0, 0};
    for (int i = 0; own && i < ways->classes.n; i++) {
        const Decision *other = outermost(&ways->classes.at[i]);
        classes += other->test == own->test;
        sides[other->holds] += other->test == own->test;
    }
    if (classes < 2)
        return base;
    return sides[0] == 1 && sides[1] == 1 ? ctx_printf(lw->ctx, "%s_%s", base, case_word(own->test->cond.cond, own->holds))
                                          : ctx_printf(lw->ctx, "%s_case%d", base, class_of(lw, tests) + 1);
}

/* The names that people would give them. `steps`: of the kernel's way. */
static void name_kernels(Lowering *lw)
{
    Ways *ways = lw->ways;
    for (int i = 0; i < ways->placed.n; i++)
        if (outermost(&ways->placed.at[i].tests))
            class_of(lw, &ways->placed.at[i].tests);
    for (int i = 0; i < ways->placed.n; i++) {
        const Placed *p = &ways->placed.at[i];
        if (p->step == 0)
            continue;
        const char *base = class_name(lw, &p->tests);
        p->kernel->name = p->step == 1 ? base : p->step == p->steps ? ctx_printf(lw->ctx, "%s_finish", base) : ctx_printf(lw->ctx, "%s_%d", base, p->step);
        if (p->kernel->init)
            p->kernel->init->name = ctx_printf(lw->ctx, "%s_init", p->kernel->name);
    }
}

/* ---- all ways --------------------------------------------------------------------------------------------------------------- */

/* What the way said of its inputs' loads, which is not said on the next one. */
static ImpHint *take_hints(Lowering *lw)
{
    ImpHint *hints = NEWN(lw->ctx, ImpHint, lw->globals.n + 1);
    for (int i = 0; i < lw->globals.n; i++) {
        hints[i] = lw->globals.at[i]->hint;
        lw->globals.at[i]->hint = HINT_NONE;
    }
    return hints;
}

/* Kernels that do nothing go, but for one of all ways. */
static void end_way(Lowering *lw)
{
    Ways *ways = lw->ways;
    const ImpHint *hints = take_hints(lw);
    int n_hints = lw->globals.n, steps = 0, step = 0, kept = 0;
    for (int i = 0; i < ways->begun.n; i++) {
        Begun *b = &ways->begun.at[i];
        b->nothing = does_nothing(&b->kernel->body) && !b->kernel->init && (i < ways->begun.n - 1 || kept || ways->placed.n || ways->left.n);
        kept += !b->nothing;
        steps += !b->nothing && !b->prepares;
    }
    for (int i = 0; i < ways->begun.n && ways->begun.n > 1 && !lw->failed; i++)
        if (ways->begun.at[i].recorded && !ways->begun.at[i].nothing)
            own_kernel_values(lw, ways->begun.at[i].kernel);
    for (int i = 0; i < ways->begun.n; i++) {
        const Begun *b = &ways->begun.at[i];
        step += !b->nothing && !b->prepares;
        if (!b->recorded || b->nothing)
            continue;
        vec_push(lw->ctx, &lw->program->kernels, b->kernel);
        vec_push(lw->ctx, &ways->placed, ((Placed){b->kernel, b->tests, b->prepares ? 0 : step, steps, hints, n_hints}));
    }
    place_kernels(lw);
}

static void go_way(Lowering *lw, Decisions way)
{
    Ways *ways = lw->ways;
    ways->way = way;
    ways->fresh = way.n == 0;
    ways->meets = -1;
    ways->begun.n = ways->made.n = 0;
    lw->decisions.n = 0;
    lw->env = NULL;
    lw->kernel = NULL;
    lw->facts = lw->known = nat_facts_new(lw->ctx, (NatFacts *)lw->entry->known);
    kernel_begin(lw, NULL, lw->entry->body);
    lower_write(lw, lw->entry->body, ways->result);
    kernel_end(lw);
    if (!lw->failed)
        end_way(lw);
}

void ways_go(Lowering *lw, View *result)
{
    Ways *ways = lw->ways;
    ways->result = result;
    vec_push(lw->ctx, &ways->left, ((Decisions){0}));
    while (ways->left.n && !lw->failed)
        go_way(lw, ways->left.at[--ways->left.n]);
    if (lw->failed)
        return;
    drop_empty_launches(lw->program);
    name_kernels(lw);
    share_workspace(lw);
    for (int i = 0; i < ways->placed.n; i++)
        own_kernel_bufs(lw, ways->placed.at[i].kernel, ways->placed.at[i].hints, ways->placed.at[i].n_hints);
}
