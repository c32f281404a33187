/* A function for several places: which of its numbers, registers and buffers are parameters. Places
 * are read by outline_read.c. */
#include "codegen/index_guards.h"
#include "codegen/outline.h"
#include "codegen/walk.h"

typedef struct Match {
    Outline *o;
    int n; /* places */
    Place *places;
    ImpFunction *function;
    ImpCall **calls;
    Nat **rests; /* of each parameter that is a rest of numbers: by place, with neutral variables */
    Nat *body; /* of each slot: the function's number; NULL: as it is */
    bool *outside; /* of each register: something else reads it, at some place */
    bool *valued;  /* it may have a value before */
    bool *needed;  /* it is a parameter */
    bool failed;
} Match;

static Reading *of_place(const Match *m, int i) { return m->places[i].reading; }

/* Number of the parameter, the arguments of which are still to be set. */
static int add_param(Match *m, ImpParam param)
{
    ImpFunction *f = m->function;
    if (f->params.n == MOST_PARAMS) {
        m->failed = true;
        return f->params.n - 1;
    }
    vec_push(m->o->ctx, &f->params, param);
    return f->params.n - 1;
}

/* Is one of the slots in what may run again after the place, before the register is declared again?
 * before: or before the place. behind: or behind it. */
static bool elsewhere(const Place *place, const RegUses *uses, const int *slots, int n, bool before,
                      bool behind)
{
    int again =
        place->first; /* what of the kernel runs again before the register is declared again */
    for (const LoopAround *loop = place->loops; loop && loop->from > uses->declared;
         loop = loop->outer)
        again = loop->from;
    for (int i = 0; i < n; i++)
        if (slots[i] < place->first ? before || slots[i] >= again
                                    : slots[i] >= place->behind && (behind || again < place->first))
            return true;
    return false;
}

static bool runs_again(const Place *place, const RegUses *uses)
{
    const LoopAround *loop = place->loops;
    return loop && loop->from > uses->declared;
}

/* May something else read what the statements give it? Of what they declare: does it mention it? */
static bool is_outside(const Place *place, const Reg *reg)
{
    const RegUses *uses = &place->uses[reg->var->id];
    if (uses->mentions == reg->mentions)
        return false;
    return place->first < 0 || reg->declared || (runs_again(place, uses) && reg->read_first) ||
           elsewhere(place, uses, uses->reads.at, uses->reads.n, false, true);
}

/* May it have a value before? */
static bool has_value(const Place *place, const Reg *reg)
{
    const RegUses *uses = &place->uses[reg->var->id];
    return place->first < 0 || (runs_again(place, uses) && reg->set) ||
           elsewhere(place, uses, uses->sets.at, uses->sets.n, true, false);
}

/* Register number i: what the function returns, or a parameter, or its own. */
static void param_result(Match *m, int i, int given)
{
    const Reg *reg = &of_place(m, 0)->reg.at[i];
    const bool array = reg->var->slots > 1 && !reg->var->vector, gives = reg->set && m->outside[i];
    const bool own = reg->declared || !reg->read_first;
    const bool returned = gives && given == 1 && !array && (own || !reg->var->vector);
    if (returned) {
        m->function->result = reg->var;
        m->function->own_result = own;
        m->function->gives_name = reg->declared;
        for (int p = 0; p < m->n; p++)
            if (is_outside(&m->places[p], &of_place(m, p)->reg.at[i]))
                m->calls[p]->result = of_place(m, p)->reg.at[i].var;
    }
    m->needed[i] = returned ? !own : gives || !reg->declared;
    if (!m->needed[i] || gives || m->valued[i])
        return;
    m->needed[i] = false; /* declared before, and used here alone */
    ImpStmt *decl = imp_stmt(m->o->ctx, &m->function->body, IS_DECL, reg->var->span);
    decl->var.var = reg->var;
}

static void param_var(Match *m, int i)
{
    const Reg *reg = &of_place(m, 0)->reg.at[i];
    const bool copied = reg->var->slots == 1 &&
                        !m->outside[i]; /* else the function sets it where it is */
    const bool gives = reg->set && !copied && m->function->result != reg->var;
    int k = reg->var->nat
                ? add_param(m, (ImpParam){.kind = PARAM_NAT, .nat = reg->var->nat, .var = reg->var})
                : add_param(m, (ImpParam){.kind = PARAM_VAR,
                                          .var = reg->var,
                                          .gives = gives,
                                          .ours = reg->declared});
    for (int p = 0; p < m->n; p++) {
        ImpVar *var = of_place(m, p)->reg.at[i].var;
        m->calls[p]->args[k].var = var;
        m->calls[p]->args[k].nat = var->nat;
    }
}

static void param_vars(Match *m)
{
    const Reading *first = of_place(m, 0);
    int given = 0;
    for (int i = 0; i < first->reg.n; i++) {
        const Reg *reg = &first->reg.at[i];
        given += reg->set && m->outside[i];
        m->failed |= reg->declared && m->outside[i] && (reg->var->nat || reg->filled || !reg->set);
    }
    for (int i = 0; i < first->reg.n && !m->failed; i++)
        param_result(m, i, given);
    for (int others = 0; others < 2; others++) /* behind those that the function gives a value */
        for (int i = 0; i < first->reg.n && !m->failed; i++)
            if (m->needed[i] && (first->reg.at[i].set && m->outside[i]) != others)
                param_var(m, i);
}

static bool all_equal(const Match *m, int k)
{
    bool equal = true;
    for (int p = 1; p < m->n; p++)
        equal &= of_place(m, p)->nat[k] == of_place(m, 0)->nat[k];
    return equal;
}

/* The first slot with a cell of the buffer, where all its cells are some distance from that one,
 * which differs from place to place: it may be number 0 of the function's buffer. -1: none is. */
static int start_of_cells(const Match *m, const ImpBuf *buf)
{
    const Reading *first = of_place(m, 0);
    int start = -1;
    bool differ = false;
    for (int k = 0; k < first->n_slots; k++) {
        if (first->slots[k]->kind != SLOT_NAT || first->slots[k]->buf != buf)
            continue;
        start = start < 0 ? k : start;
        differ |= !all_equal(m, k);
        for (int p = 0; p < m->n; p++) {
            const Reading *r = of_place(m, p);
            Nat distance = nat_sub(m->o->ctx, r->nat[k], r->nat[start]);
            if (reading_mentions_own(r, r->nat[start]) || !nat_is_const(distance) ||
                distance != nat_sub(m->o->ctx, first->nat[k], first->nat[start]))
                return -1;
        }
    }
    return differ && !buf->by_value ? start : -1;
}

static bool same_distance(const Match *m, int a, int b)
{
    Nat distance = nat_sub(m->o->ctx, of_place(m, 0)->nat[b], of_place(m, 0)->nat[a]);
    bool same = nat_is_const(distance);
    for (int p = 1; p < m->n && same; p++)
        same = distance == nat_sub(m->o->ctx, of_place(m, p)->nat[b], of_place(m, p)->nat[a]);
    return same;
}

/* Does something else need the number of the cell? One number costs less registers than several
 * addresses. */
static bool is_needed_again(const Match *m, int start)
{
    const Reading *first = of_place(m, 0);
    for (int k = 0; k < first->n_slots; k++) {
        const Slot *slot = first->slots[k];
        if (slot->kind == SLOT_NAT && slot->buf != first->slots[start]->buf && !all_equal(m, k) &&
            same_distance(m, start, k))
            return true;
    }
    return false;
}

static void param_bufs(Match *m)
{
    const Reading *first = of_place(m, 0);
    for (int i = 0; i < first->buf.n && !m->failed; i++) {
        const ImpBuf *buf = first->buf.at[i];
        const int param = add_param(m, (ImpParam){.kind = PARAM_BUF, .buf = first->buf.at[i]});
        int start = start_of_cells(m, buf);
        start = start >= 0 && is_needed_again(m, start) ? -1 : start;
        for (int p = 0; p < m->n; p++) {
            m->calls[p]->args[param].buf = of_place(m, p)->buf.at[i];
            if (start >= 0)
                m->calls[p]->args[param].nat = *of_place(m, p)->slots[start]->at;
        }
        for (int k = start; k >= 0 && k < first->n_slots; k++)
            if (first->slots[k]->kind == SLOT_NAT && first->slots[k]->buf == buf)
                m->body[k] = nat_sub(m->o->ctx, first->nat[k], first->nat[start]);
    }
}

static Nat with_own(const Match *m, int p, Nat nat)
{
    const Reading *r = of_place(m, p);
    return nat_subst_many(m->o->ctx, nat, r->own.n, r->neutral.at, r->own.at);
}

/* At all places. */
static NatRange range_of_args(const Match *m, int param)
{
    NatRange all = {true, true, INT64_MAX, INT64_MIN};
    for (int p = 0; p < m->n; p++) {
        NatRange r = nat_range(m->o->ctx, NULL, m->calls[p]->args[param].nat);
        all.has_lo &= r.has_lo;
        all.has_hi &= r.has_hi;
        all.lo = r.lo < all.lo ? r.lo : all.lo;
        all.hi = r.hi > all.hi ? r.hi : all.hi;
    }
    return all;
}

/* What the argument is called, where it is one variable's at all places; else NULL. */
static const char *name_of_args(const Match *m, int param)
{
    const char *name = NULL;
    for (int p = 0; p < m->n; p++) {
        Nat arg = m->calls[p]->args[param].nat;
        if (arg->kind != NAT_VAR || (name && strcmp(arg->name, name)))
            return NULL;
        name = arg->name;
    }
    return name;
}

/* The parameter that is at a constant distance from the rest, the same at all places; -1: none. */
static int param_near(const Match *m, const Nat *rest, Nat *distance)
{
    for (int i = 0; i < m->function->params.n; i++) {
        const Nat *other = m->rests[i];
        if (!other)
            continue;
        *distance = nat_sub(m->o->ctx, rest[0], other[0]);
        bool same = nat_is_const(*distance);
        for (int p = 1; p < m->n && same; p++)
            same = nat_sub(m->o->ctx, rest[p], other[p]) == *distance;
        if (same)
            return i;
    }
    return -1;
}

static int param_rest(Match *m, const Slot *slot, Nat *rest)
{
    Ctx *ctx = m->o->ctx;
    const char *kind = slot->buf ? "start" : slot->bounds ? "end" : "offset";
    const int param = add_param(m, (ImpParam){.kind = PARAM_NAT});
    m->rests[param] = rest;
    for (int p = 0; p < m->n; p++)
        m->calls[p]->args[param].nat = with_own(m, p, rest[p]);
    const char *name = name_of_args(m, param);
    NatRange r = range_of_args(m, param);
    m->function->params.at[param].nat = nat_var(ctx, name ? name : kind,
                                                r.has_lo ? nat_const(ctx, r.lo) : NULL,
                                                r.has_hi ? nat_const(ctx, r.hi) : NULL);
    return param;
}

/* A parameter for what the number has besides what is common. */
static void split(Match *m, int k)
{
    Ctx *ctx = m->o->ctx;
    Nat common = of_place(m, 0)->nat[k], distance = NULL;
    for (int p = 1; p < m->n; p++)
        common = outline_common_terms(ctx, common, of_place(m, p)->nat[k]);
    Nat *rest = NEWN(ctx, Nat, m->n);
    for (int p = 0; p < m->n; p++)
        rest[p] = nat_sub(ctx, of_place(m, p)->nat[k], common);
    int param = param_near(m, rest, &distance);
    if (param < 0) {
        param = param_rest(m, of_place(m, 0)->slots[k], rest);
        distance = nat_const(ctx, 0);
    }
    Nat own = nat_add(ctx, with_own(m, 0, common), m->function->params.at[param].nat);
    m->body[k] = nat_add(ctx, own, distance);
}

/* Variables of the function's numbers that are neither its own nor ids of the hardware. */
static void free_var(void *user, Nat var)
{
    Match *m = user;
    const Reading *first = of_place(m, 0);
    for (int i = 0; i < first->own.n; i++)
        if (first->own.at[i] == var)
            return;
    for (int i = 0; i < m->function->params.n; i++)
        if (m->function->params.at[i].nat == var)
            return;
    int k = add_param(m, (ImpParam){.kind = PARAM_NAT, .nat = var});
    for (int p = 0; p < m->n; p++)
        m->calls[p]->args[k].nat = var;
}

static void param_numbers(Match *m)
{
    const Reading *first = of_place(m, 0);
    for (int k = 0; k < first->n_slots && !m->failed; k++)
        if (first->slots[k]->kind == SLOT_NAT && !m->body[k] && !all_equal(m, k))
            split(m, k);
    for (int k = 0; k < first->n_slots && !m->failed; k++)
        if (first->slots[k]->kind == SLOT_NAT)
            nat_each_var(m->o->ctx, m->body[k] ? m->body[k] : *first->slots[k]->at, free_var, m);
}

/* A register of 64 bits, which holds what was loaded. */
static bool mentions_long(const ImpKernel *kernel, Nat nat)
{
    for (int i = 0; i < kernel->vars.n; i++) {
        const ImpVar *var = kernel->vars.at[i];
        if (var->nat && scalar_bytes(var->type) == 8 && nat_mentions(nat, var->nat))
            return true;
    }
    return false;
}

/* A call computes its arguments always; the statements may have done so under a condition. */
static void refuse_divisions(Match *m)
{
    for (int k = 0; k < m->function->params.n; k++)
        for (int p = 0; p < m->n && m->function->params.at[k].kind != PARAM_VAR; p++) {
            Nat arg = m->calls[p]->args[k].nat;
            m->failed |= arg && !imp_divides_safely(m->o->ctx, m->places[p].kernel->known, arg);
        }
}

static void find_widths(Match *m)
{
    for (int k = 0; k < m->function->params.n; k++) {
        ImpParam *param = &m->function->params.at[k];
        if (param->kind != PARAM_NAT)
            continue;
        NatRange r = range_of_args(m, k);
        param->wide = !r.has_lo || !r.has_hi || r.lo < -INDEX_MAX || r.hi > INDEX_MAX;
        for (int p = 0; p < m->n && param->wide; p++)
            m->failed |= mentions_long(m->places[p].kernel, m->calls[p]->args[k].nat);
    }
}

/* ---- the body -------------------------------------------------------------------------------- */

static bool is_param(const ImpFunction *f, const ImpVar *var)
{
    for (int k = 0; k < f->params.n; k++)
        if (f->params.at[k].var == var)
            return true;
    return false;
}

/* A parameter is not declared again, and a result that is none is. */
static bool declared_in_function(Ctx *ctx, const ImpFunction *f, ImpStmt *s, bool *result)
{
    ImpVar *var = imp_sets(s);
    if (!var)
        return true;
    if (imp_declares(s) && is_param(f, var)) {
        if (s->kind == IS_DECL && !s->var.value)
            return false;
        if (s->kind == IS_DECL) {
            s->kind = IS_SET;
            s->var.slot = nat_const(ctx, 0);
        } else {
            s->vec.declares = false;
        }
    } else if (var == f->result && f->own_result && !*result) {
        if (s->kind == IS_SET)
            s->kind = IS_DECL;
        else if (s->kind == IS_VSET || s->kind == IS_VLOAD)
            s->vec.declares = true;
    }
    *result |= var == f->result;
    return true;
}

static bool same_line(Ctx *ctx, Span a, Span b)
{
    int line_a, line_b, column;
    if (!a.file || a.file != b.file)
        return a.file == b.file;
    source_position(ctx, a, &line_a, &column);
    source_position(ctx, b, &line_b, &column);
    return line_a == line_b;
}

/* With the comment before it. */
static int first_told(const Place *place)
{
    const int from = place->from;
    return from > 0 && place->block->list.at[from - 1]->kind == IS_NOTE ? from - 1 : from;
}

static Span users_of(const Place *place)
{
    for (int i = first_told(place); i < place->to; i++)
        if (place->block->list.at[i]->users.file)
            return place->block->list.at[i]->users;
    return NO_SPAN;
}

/* The line of the user's that all places stand for. */
static Span common_users(const Match *m)
{
    Span common = NO_SPAN;
    for (int p = 0; p < m->n; p++) {
        const Span users = users_of(&m->places[p]);
        if (p && !same_line(m->o->ctx, users, common))
            return NO_SPAN;
        common = users;
    }
    return common;
}

static void keep_common(void *user, ImpStmt *s)
{
    const Match *m = user;
    if (!same_line(m->o->ctx, s->users, m->function->users))
        s->users = NO_SPAN;
}

/* The parameter that the statement gives another name; -1: it does something else. */
static int param_named_again(const ImpFunction *f, const ImpStmt *s)
{
    if (s->kind != IS_DECL || !s->var.var->nat || !s->var.value || s->var.value->kind != IE_NAT)
        return -1;
    for (int k = 0; k < f->params.n; k++)
        if (f->params.at[k].kind == PARAM_NAT && !f->params.at[k].var &&
            f->params.at[k].nat == s->var.value->nat)
            return k;
    return -1;
}

typedef struct Renamed {
    Ctx *ctx;
    Nat from[2], to[2];
} Renamed;

static Nat renamed_nat(void *user, Nat nat)
{
    const Renamed *r = user;
    return nat_subst_many(r->ctx, nat, 2, r->from, r->to);
}

static void renamed_stmt(void *user, ImpStmt *s) { map_nats(s, renamed_nat, user); }

/* `base = offset`, where the offset is a parameter: that is called base. */
static void name_once(Match *m, ImpBlock *block)
{
    ImpFunction *f = m->function;
    for (int i = 0; i < block->list.n; i++) {
        ImpStmt *s = block->list.at[i];
        if (s->kind == IS_FOR)
            name_once(m, &s->loop.body);
        if (s->kind == IS_IF) {
            name_once(m, &s->branch.then);
            name_once(m, &s->branch.otherwise);
        }
        const int k = param_named_again(f, s);
        if (k < 0)
            continue;
        Nat own = s->var.var->nat, param = f->params.at[k].nat;
        Nat named = nat_var(m->o->ctx, own->name, param->lo, param->hi);
        Renamed r = {m->o->ctx, {own, param}, {named, named}};
        block_remove(block, i--);
        walk_stmts(&f->body, renamed_stmt, &r);
        f->params.at[k].nat = named;
    }
}

static void make_body(Match *m)
{
    Ctx *ctx = m->o->ctx;
    const Place *first = &m->places[0];
    ImpFunction *f = m->function;
    bool result = false;
    f->users = common_users(m);
    for (int i = first_told(first), k = 0; i < first->to; i++) {
        ImpStmt *s = imp_copy_stmt(ctx, first->block->list.at[i]);
        s->call = NULL;
        if (!form_is_nothing(s)) {
            const Form *form = form_of(ctx, s);
            for (int j = 0; j < form->slots.n; j++, k++)
                if (m->body[k])
                    *form->slots.at[j].at = m->body[k];
        }
        if (declared_in_function(ctx, f, s, &result))
            vec_push(ctx, &f->body.list, s);
    }
    walk_stmts(&f->body, keep_common, m);
    name_once(m, &f->body);
}

void outline_add_caller(Ctx *ctx, ImpFunction *f, const ImpKernel *kernel)
{
    for (int i = 0; i < f->callers.n; i++)
        if (f->callers.at[i] == kernel)
            return;
    vec_push(ctx, &f->callers, kernel);
    f->known = f->callers.n == 1 ? kernel->known : kernel->entry ? kernel->entry->known : NULL;
}

ImpFunction *outline_match(Outline *o, int n, Place *places, ImpCall **calls, bool body)
{
    Ctx *ctx = o->ctx;
    Match m = {.o = o, .n = n, .places = places, .function = NEW(ctx, ImpFunction), .calls = calls};
    for (int p = 0; p < n; p++) {
        outline_reading(o, &places[p]);
        calls[p] = NEW(ctx, ImpCall);
        *calls[p] = (ImpCall){.function = m.function,
                              .n = places[p].to - places[p].from,
                              .args = NEWN(ctx, ImpArg, MOST_PARAMS)};
    }
    const Reading *first = of_place(&m, 0);
    m.body = NEWN(ctx, Nat, first->n_slots + 1);
    m.rests = NEWN(ctx, Nat *, MOST_PARAMS);
    m.outside = NEWN(ctx, bool, first->reg.n + 1);
    m.valued = NEWN(ctx, bool, first->reg.n + 1);
    m.needed = NEWN(ctx, bool, first->reg.n + 1);
    for (int i = 0; i < first->reg.n; i++)
        for (int p = 0; p < n; p++) {
            m.outside[i] |= is_outside(&places[p], &of_place(&m, p)->reg.at[i]);
            m.valued[i] |= has_value(&places[p], &of_place(&m, p)->reg.at[i]);
        }
    param_bufs(&m);
    param_vars(&m);
    param_numbers(&m);
    refuse_divisions(&m);
    find_widths(&m);
    if (m.failed)
        return NULL;
    m.function->kernel = places[0].kernel;
    for (int p = 0; p < n; p++)
        outline_add_caller(ctx, m.function, places[p].kernel);
    for (int i = 0; i < places[0].n; i++)
        m.function->spared |= places[0].forms[i]->spared;
    if (body)
        make_body(&m);
    return m.function;
}
