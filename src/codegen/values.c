/* Pass values: what is loaded or computed again gets a name, and is loaded or computed once.
 *
 *   a = a + xs[i];  b = max(b, xs[i])   ->  const float x = xs[i];  a = a + x;  b = max(b, x)
 *   for (j < n) acc += xs[j] * ws[i]    ->  const float w = ws[i];  for (j < n) acc += xs[j] * w
 *
 * A name stands before a statement, for the uses in it and in the next ones, as far as nothing
 * changes the value (defs.h). Either the statement always computes it, and it is used again; or the
 * statement is a loop in one thread that loads it from an input in each trip. The loop may have no
 * trip, so the index has to be seen to lie within the input where the loop stands. What a condition
 * in the loop chooses stays there. What stands twice where one condition holds has a name, which is
 * 0 elsewhere: c ? x*x : 0 of an x = c ? xs[i] : 0. Loops over blocks and over the grid's threads
 * usually run once: they count as no loop. Folds that stand again come first (folds.c).
 *
 * Requires: barriers are placed. Keeps every value; takes loads away, adds none. */
#include "codegen/defs.h"
#include "codegen/walk.h"

enum {
    WINDOW = 12,   /* statements: a value kept for longer costs a register */
    MOST_MOVED = 8 /* out of one loop: each keeps a register */
};

typedef struct Values {
    Lowering *lw;
    Ctx *ctx;
    Defs defs;
    Table hashes; /* by expression */
    Table times;  /* by hash: how often such a value stands in the kernel, or more */
} Values;

/* ---- what stands there again: by hashes, which are equal for equal values -------------------- */

static uint64_t mix(uint64_t hash, uint64_t more)
{
    uint64_t mixed = (hash ^ more) * 0x9e3779b97f4a7c15u;
    return mixed ^ mixed >> 32; /* a literal may differ in its first bits alone */
}

static const void *hash_of(const Values *v, const ImpExpr *e) { return table_get(&v->hashes, e); }

static uint64_t mix_in(const Values *v, uint64_t hash, const ImpExpr *operand)
{
    return mix(hash, (uintptr_t)hash_of(v, operand));
}

static uint64_t new_hash(const Values *v, const ImpExpr *e)
{
    uint64_t hash = mix((uint64_t)e->kind * 31 + (uint64_t)e->type, 0);
    switch (e->kind) {
    case IE_LIT: return mix(hash, e->lit.u);
    case IE_NAT: return mix(hash, e->nat->id);
    case IE_VAR: return mix(mix(hash, (uint64_t)e->var.var->id), e->var.slot->id);
    case IE_LOAD: return mix(mix(hash, (uint64_t)e->mem.buf->id), e->mem.index->id);
    case IE_OP:
        hash = mix(hash, (uint64_t)e->op.id);
        for (int i = 0; i < e->op.n; i++)
            hash = mix_in(v, hash, e->op.args[i]);
        return hash;
    case IE_CAST: return mix_in(v, hash, e->cast.value);
    case IE_COND:
        hash = mix_in(v, mix_in(v, hash, e->cond.cond), e->cond.then);
        return mix_in(v, hash, e->cond.otherwise);
    case IE_SHFL: return hash; /* never the same */
    }
    return hash;
}

static void count(Values *v, const void *hash, int more)
{
    intptr_t times = (intptr_t)table_get(&v->times, hash);
    table_put(v->ctx, &v->times, hash, (void *)(times + more));
}

static void hash_node(void *user, ImpExpr **at)
{
    Values *v = user;
    const void *last = hash_of(v, *at), *now = (const void *)(uintptr_t)(new_hash(v, *at) | 16);
    if (now == last)
        return;
    if (last)
        count(v, last, -1);
    count(v, now, 1);
    table_put(v->ctx, &v->hashes, *at, (void *)now);
}

static void hash_stmt(void *user, ImpStmt *s) { walk_own_inner_first(s, hash_node, user); }

static bool stands_again(const Values *v, const ImpExpr *e)
{
    return (intptr_t)table_get(&v->times, hash_of(v, e)) > 1;
}

/* ---- how far a value keeps ------------------------------------------------------------------- */

typedef struct Uses {
    Values *values;
    const ImpExpr *value;
    ImpVar *by; /* or NULL: only count */
    int n;
} Uses;

static void use(void *user, ImpExpr **at)
{
    Uses *u = user;
    if (!imp_same_value(*at, u->value))
        return;
    u->n++;
    if (u->by)
        *at = imp_var(u->values->ctx, u->by, nat_const(u->values->ctx, 0), u->value->span);
}

static void hash_again(const Uses *u, ImpStmt *s)
{
    ImpBlock one = {.list = {&s, 1, 1}};
    if (u->by)
        walk_stmts(&one, hash_stmt, u->values);
}

/* In statement i and the next ones, as far as it keeps: tells them by the register, or counts. */
static int uses_from(Values *v, const ImpBlock *block, int i, ImpExpr *value, ImpVar *by)
{
    Uses u = {v, value, by, 0};
    bool ends = false;
    for (int j = i; j < block->list.n && j < i + WINDOW && !ends; j++) {
        ImpStmt *s = block->list.at[j];
        ends = defs_change(&v->defs, value, s);
        if (ends && (s->kind == IS_FOR || s->kind == IS_IF))
            walk_own(s, use, &u);
        else
            walk_stmt(s, use, &u);
        hash_again(&u, s);
    }
    return u.n;
}

/* ---- candidates ------------------------------------------------------------------------------ */

typedef enum When {
    ALWAYS, /* the statement computes it */
    OFTEN,  /* behind `and` or `or` */
    CHOSEN  /* by a condition */
} When;

enum { LOADS = 1, WORKS = 2, SHUFFLES = 4 }; /* what is in a value */

typedef struct Candidate {
    ImpExpr *value;
    When when;
    int has;
} Candidate;

typedef VEC(Candidate) Candidates; /* outer before inner */

/* A number, or a half in a register, which is a float already. */
static bool is_given(const ImpExpr *e)
{
    bool half = e->type == SC_F16 || e->type == SC_BF16;
    return e->kind == IE_NAT || (e->kind == IE_VAR && half);
}

/* The expression itself. Comparisons of indices, wider integers and negated literals are no work: a
 * good reader wants to see them. */
static int has_itself(const ImpExpr *e)
{
    switch (e->kind) {
    case IE_LOAD: return imp_is_parameter(e) ? 0 : LOADS;
    case IE_OP: return e->op.args[0]->kind != IE_NAT && e->op.args[0]->kind != IE_LIT ? WORKS : 0;
    case IE_CAST: return imp_widens(e) || is_given(e->cast.value) ? 0 : WORKS;
    case IE_SHFL: return SHUFFLES;
    default: return 0;
    }
}

/* The expression and those in it; gives what is in them. */
static int add_candidates(Ctx *ctx, Candidates *list, ImpExpr *e, When when)
{
    int place = list->n, has = has_itself(e);
    vec_push(ctx, list, ((Candidate){e, when, 0}));
    switch (e->kind) {
    case IE_LIT: case IE_NAT: case IE_VAR: case IE_LOAD: break;
    case IE_OP:
        for (int i = 0; i < e->op.n; i++) {
            has |= add_candidates(ctx, list, e->op.args[i], when);
            if (when == ALWAYS && (e->op.id == P_and || e->op.id == P_or))
                when = OFTEN;
        }
        break;
    case IE_CAST: has |= add_candidates(ctx, list, e->cast.value, when); break;
    case IE_COND:
        has |= add_candidates(ctx, list, e->cond.cond, when);
        has |= add_candidates(ctx, list, e->cond.then, CHOSEN);
        has |= add_candidates(ctx, list, e->cond.otherwise, CHOSEN);
        break;
    case IE_SHFL:
        if (e->shfl.by)
            has |= add_candidates(ctx, list, e->shfl.by, when);
        has |= add_candidates(ctx, list, e->shfl.value, when);
        break;
    }
    list->at[place].has = has;
    return has;
}

/* In what the statement itself computes for registers, cells and its own condition. */
static Candidates candidates(Ctx *ctx, const ImpStmt *s)
{
    Candidates list = {0};
    if ((s->kind == IS_DECL || s->kind == IS_SET) && s->var.value)
        add_candidates(ctx, &list, s->var.value, ALWAYS);
    if (s->kind == IS_STORE)
        add_candidates(ctx, &list, s->store.value, ALWAYS);
    for (int k = 0; (s->kind == IS_VSET || s->kind == IS_VSTORE) && k < s->vec.n; k++)
        add_candidates(ctx, &list, s->vec.values[k], ALWAYS);
    if (s->kind == IS_IF)
        add_candidates(ctx, &list, s->branch.cond, ALWAYS);
    return list;
}

static bool is_worth_it(const Candidate *c)
{
    return c->when == ALWAYS && (c->has & (LOADS | WORKS)) && !(c->has & SHUFFLES);
}

/* ---- names ----------------------------------------------------------------------------------- */

/* Does the condition ask for places alone? */
static bool of_indices(const ImpExpr *e)
{
    if (e->kind == IE_OP && e->op.id == P_and)
        return of_indices(e->op.args[0]) && of_indices(e->op.args[1]);
    return e->kind == IE_OP && e->op.n == 2 && e->op.args[0]->kind == IE_NAT &&
           e->op.args[1]->kind == IE_NAT;
}

/* `x` for an element of `xs`, else `value`. */
static const char *value_name(Ctx *ctx, const ImpExpr *e)
{
    if (e->kind == IE_COND)
        e = e->cond.then;
    const char *name = e->kind == IE_LOAD ? e->mem.buf->name : "";
    size_t n = strlen(name);
    if (e->kind == IE_OP && e->type == SC_BOOL)
        return of_indices(e) ? "inside" : "holds";
    bool plural = n >= 2 && n <= 12 && name[n - 1] == 's' && name[n - 2] != 's';
    return plural ? ctx_printf(ctx, "%.*s", (int)n - 1, name) : "value";
}

/* A value with a name has several uses, and is the same in all of them: see Note [A value has one
 * value] in contraction.c. */
void values_round(ImpExpr *e)
{
    if (e->kind == IE_CAST) {
        values_round(e->cast.value);
    } else if (e->kind == IE_COND) {
        values_round(e->cond.then);
        values_round(e->cond.otherwise);
    } else if (e->kind == IE_OP) {
        e->op.rounded |= e->op.id == P_mul && (e->type == SC_F32 || e->type == SC_F64);
        bool hands_on = e->op.id == P_neg || e->op.id == P_select;
        for (int i = e->op.id == P_select; hands_on && i < e->op.n; i++)
            values_round(e->op.args[i]);
    }
}

/* Is it the declaration of a name for a value? */
static bool is_name(const ImpStmt *s)
{
    return s->kind == IS_DECL && s->var.value && s->var.var->constant && s->var.var->slots == 1;
}

static ImpVar *new_name(const Values *v, const ImpExpr *value)
{
    ImpVar *var = lower_new_var(v->lw, value_name(v->ctx, value), value->type, value->span);
    var->constant = true;
    return var;
}

static void declare(Values *v, ImpBlock *block, int i, ImpVar *name, ImpExpr *value)
{
    const ImpStmt *first = block->list.at[i];
    values_round(value);
    ImpStmt *decl = imp_stmt(v->ctx, NULL, IS_DECL, first->span);
    decl->var.var = name;
    decl->var.value = value;
    defs_note_stmt(&v->defs, decl, first->info->around);
    block_insert(v->ctx, block, i, decl);
}

/* Before statement i, for its uses from there on. */
static void name_value(Values *v, ImpBlock *block, int i, ImpExpr *value)
{
    ImpVar *name = new_name(v, value);
    uses_from(v, block, i, value, name);
    declare(v, block, i, name, value);
}

typedef struct Copy {
    Values *values;
    const ImpVar *from;
    ImpVar *to;
} Copy;

static void read_original(void *user, ImpExpr **at)
{
    const Copy *c = user;
    if ((*at)->kind == IE_VAR && (*at)->var.var == c->from)
        *at = imp_var(c->values->ctx, c->to, nat_const(c->values->ctx, 0), (*at)->span);
}

/* Names behind statement i whose values `var` has now go: what is computed from them is the same. */
static void forward_names(Values *v, ImpBlock *block, int i, ImpVar *var)
{
    for (int j = i + 1; j < block->list.n && j < i + WINDOW; j++) {
        const ImpStmt *s = block->list.at[j];
        if (!is_name(s) || s->var.var->nat || s->var.value->kind != IE_VAR ||
            s->var.value->var.var != var)
            continue;
        Copy copy = {v, s->var.var, var};
        block_remove(block, j);
        ImpBlock rest = stmts_from(block, j--);
        walk_block(&rest, read_original, &copy);
        walk_stmts(&rest, hash_stmt, v);
    }
}

/* ---- what neighbours share ------------------------------------------------------------------- */

/* True when a value of statement i now stands before it, in a register. */
static bool share_one(Values *v, ImpBlock *block, int i)
{
    const ImpStmt *s = block->list.at[i];
    Candidates list = candidates(v->ctx, s);
    for (int k = 0; k < list.n; k++) {
        ImpExpr *value = list.at[k].value;
        if (!is_worth_it(&list.at[k]) || !stands_again(v, value) ||
            uses_from(v, block, i, value, NULL) < 2)
            continue;
        if (!is_name(s) || s->var.value != value || s->var.var->nat) {
            name_value(v, block, i, value);
            return true;
        }
        uses_from(v, block, i + 1, value, s->var.var);
        forward_names(v, block, i, s->var.var);
        values_round(value);
    }
    return false;
}

/* ---- what stands twice where a condition holds ---------------------------------------------- */

/* True when a value that stands twice in one side of the choice, which statement i always makes, now
 * stands before it, where the condition holds. */
static bool share_in_side(Values *v, ImpBlock *block, int i, const ImpExpr *choice, bool then)
{
    Ctx *ctx = v->ctx;
    ImpExpr *side = then ? choice->cond.then : choice->cond.otherwise;
    Candidates list = {0};
    add_candidates(ctx, &list, side, ALWAYS);
    for (int k = 0; k < list.n; k++) {
        ImpExpr *value = list.at[k].value;
        Uses u = {v, value, NULL, 0};
        if (!is_worth_it(&list.at[k]) || !stands_again(v, value))
            continue;
        walk_expr(&side, use, &u);
        if (u.n < 2)
            continue;
        ImpExpr *kept = imp_copy_expr(ctx, value), *cond = imp_copy_expr(ctx, choice->cond.cond);
        ImpExpr *zero = imp_lit(ctx, scalar_int(value->type, 0), value->span);
        u.by = new_name(v, value);
        walk_expr(&side, use, &u);
        declare(v, block, i, u.by,
                imp_cond(ctx, cond, then ? kept : zero, then ? zero : kept, value->span));
        hash_stmt(v, block->list.at[i]);
        hash_stmt(v, block->list.at[i + 1]);
        return true;
    }
    return false;
}

static bool share_chosen(Values *v, ImpBlock *block, int i)
{
    Candidates list = candidates(v->ctx, block->list.at[i]);
    for (int k = 0; k < list.n; k++) {
        const Candidate *c = &list.at[k];
        if (c->value->kind == IE_COND && c->when == ALWAYS && !(c->has & SHUFFLES) &&
            (share_in_side(v, block, i, c->value, true) ||
             share_in_side(v, block, i, c->value, false)))
            return true;
    }
    return false;
}

/* ---- what a loop does not change ------------------------------------------------------------- */

static bool is_safe(Values *v, const ImpExpr *e);

/* Where the condition holds. */
static bool is_safe_if(Values *v, const ImpExpr *cond, const ImpExpr *e)
{
    Lowering *lw = v->lw;
    NatFacts *facts = lw->facts;
    lw->facts = nat_facts_new(v->ctx, facts);
    assume(lw, cond);
    bool safe = is_safe(v, e);
    lw->facts = facts;
    return safe;
}

/* May it be computed where the facts hold, by any thread? */
static bool is_safe(Values *v, const ImpExpr *e)
{
    NatFacts *facts = v->lw->facts;
    switch (e->kind) {
    case IE_LIT: case IE_NAT: return true;
    case IE_VAR: return e->var.var->constant;
    case IE_LOAD:
        return e->mem.buf->space == SPACE_INPUT &&
               nat_le(v->ctx, facts, nat_const(v->ctx, 0), e->mem.index) &&
               nat_lt(v->ctx, facts, e->mem.index, e->mem.buf->count);
    case IE_OP:
        for (int i = 0; i < e->op.n; i++) {
            bool behind = i && e->op.id == P_and;
            if (behind ? !is_safe_if(v, e->op.args[0], e->op.args[i]) : !is_safe(v, e->op.args[i]))
                return false;
        }
        return true;
    case IE_CAST: return is_safe(v, e->cast.value);
    case IE_COND:
        return is_safe(v, e->cond.cond) && is_safe_if(v, e->cond.cond, e->cond.then) &&
               is_safe(v, e->cond.otherwise);
    case IE_SHFL: return false;
    }
    return false;
}

typedef struct Out {
    Values *values;
    ImpBlock *block;
    int at;   /* the loop's place in it */
    int left; /* as many may still move */
} Out;

/* Has it the same value in each trip, and before the loop, where it may be computed, too? */
static bool is_fixed(const Out *o, ImpExpr *value)
{
    return !defs_change(&o->values->defs, value, o->block->list.at[o->at]) &&
           is_safe(o->values, value);
}

typedef struct Declared {
    const ImpVar *var;
    int times;
} Declared;

static void count_declared(void *user, ImpStmt *s)
{
    Declared *d = user;
    d->times += s->kind == IS_DECL && s->var.var == d->var;
}

/* The same name is declared in another loop, too: the two were one. */
static bool is_declared_again(const Values *v, const ImpVar *var)
{
    Declared own = {var, 0};
    walk_stmts(&v->lw->kernel->body, count_declared, &own);
    return own.times > 1;
}

/* Another variable for a name of the loop's body. */
static void rename_in(Values *v, ImpStmt *loop, ImpStmt *name)
{
    const ImpVar *from = name->var.var;
    Copy copy = {v, from, lower_new_var(v->lw, from->name, from->type, from->span)};
    copy.to->constant = true;
    name->var.var = copy.to;
    walk_block(&loop->loop.body, read_original, &copy);
    walk_stmts(&loop->loop.body, hash_stmt, v);
}

/* Statement k of the body goes before the loop. It stays where it would be known in another loop that
 * declares it, and its indices mention it. */
static bool move_name(Out *o, ImpBlock *body, int k)
{
    Values *v = o->values;
    ImpStmt *name = body->list.at[k], *loop = o->block->list.at[o->at];
    bool again = is_declared_again(v, name->var.var);
    if (again && name->var.var->nat)
        return false;
    if (again)
        rename_in(v, loop, name);
    name->info->around = loop->info->around;
    block_remove(body, k);
    block_insert(v->ctx, o->block, o->at++, name);
    if (again)
        defs_note_stmt(&v->defs, name, name->info->around);
    o->left--;
    return true;
}

/* What these statements in the loop load; what has a name there moves with it. */
static void move_out(Out *o, ImpBlock *body)
{
    Values *v = o->values;
    for (int k = 0; k < body->list.n; k++) {
        ImpStmt *s = body->list.at[k];
        if (s->kind == IS_FOR)
            move_out(o, &s->loop.body);
        Candidates list = candidates(v->ctx, s);
        if (o->left && is_name(s) && list.at[0].has & LOADS && is_fixed(o, s->var.value) &&
            move_name(o, body, k)) {
            k--;
            continue;
        }
        for (int c = 0; c < list.n && o->left; c++) {
            ImpExpr *value = list.at[c].value;
            bool loads = value->kind == IE_LOAD && list.at[c].has && list.at[c].when != CHOSEN;
            if (!loads || !is_fixed(o, value) || !uses_from(v, o->block, o->at, value, NULL))
                continue;
            name_value(v, o->block, o->at++, value);
            o->left--;
        }
    }
}

static bool in_one_thread(const ImpStmt *loop)
{
    PrimId level = loop->loop.level;
    return level != P_mapBlock && level != P_mapGlobal && level != P_mapWarp &&
           level != P_mapThreads && level != P_mapLane;
}

/* ---- the walk -------------------------------------------------------------------------------- */

static void visit(Values *v, ImpBlock *block)
{
    Lowering *lw = v->lw;
    NatFacts *facts = lw->facts;
    for (int i = 0; i < block->list.n; i++) {
        while (share_one(v, block, i) || share_chosen(v, block, i))
            ;
        ImpStmt *s = block->list.at[i];
        if (s->kind == IS_FOR || s->kind == IS_IF)
            lw->facts = nat_facts_new(v->ctx, facts);
        if (s->kind == IS_FOR) {
            nat_fact_le(v->ctx, lw->facts, s->loop.lo, s->loop.var);
            nat_fact_le(v->ctx, lw->facts, nat_add_k(v->ctx, s->loop.var, 1), s->loop.hi);
            visit(v, &s->loop.body);
            lw->facts = facts;
            Out out = {v, block, i, MOST_MOVED};
            if (in_one_thread(s))
                move_out(&out, &s->loop.body);
            i = out.at;
        } else if (s->kind == IS_IF) {
            assume(lw, s->branch.cond);
            visit(v, &s->branch.then);
            lw->facts = nat_facts_new(v->ctx, facts);
            visit(v, &s->branch.otherwise);
            lw->facts = facts;
        }
    }
}

void pass_values(Lowering *lw)
{
    Values v = {.lw = lw, .ctx = lw->ctx, .defs = {.ctx = lw->ctx}};
    dead_vector_copies(lw);
    values_of_folds(lw);
    defs_note(&v.defs, &lw->kernel->body, NULL);
    walk_stmts(&lw->kernel->body, hash_stmt, &v);
    lw->facts = nat_facts_new(lw->ctx, (NatFacts *)lw->kernel->known);
    visit(&v, &lw->kernel->body);
    registers_copies(lw); /* a name that is only another one's value now */
}
