/* Units of operators. `reduce` and its like want theirs; of definitions that use a start more than
 * once, it is advised.
 *
 * Note [Starts]
 * A fold in one thread may start from any value. A definition that starts several folds from one of
 * its parameters and combines their results, or that fills an array up with it, gives another
 * result then, unless the value is the unit of the operator. Which parameters are such is read off
 * the definition's text, and that of the definitions to which it passes both. */
#include <ctype.h>
#include <math.h>

#include "frontend/elab_internal.h"
#include "ir/key.h"

/* ---- what differs ---------------------------------------------------------------------------- */

/* What the term names, where that is known. */
static const Core *named_value(const Core *core)
{
    for (;;)
        if (core->kind == CORE_LET)
            core = core->let.body;
        else if (core->kind == CORE_VAR && core->var->value)
            core = core->var->value;
        else
            return core;
}

/* A constant size is a literal here. */
static const Core *as_literal(const Core *core, Core *room)
{
    if (core->kind != CORE_SIZE || !nat_is_const(core->size) || core->type->kind != TY_SCALAR)
        return core;
    Scalar s = core->type->scalar;
    *room = (Core){.kind = CORE_LIT, .type = core->type};
    room->lit = scalar_is_float(s) ? scalar_float(s, (double)core->size->value)
                                   : scalar_int(s, core->size->value);
    return room;
}

/* Are they the same constant, or computed in the same way? */
static bool same_value(Elab *e, const Core *a, const Core *b)
{
    Core room_a, room_b;
    a = as_literal(named_value(a), &room_a);
    b = as_literal(named_value(b), &room_b);
    if (a->kind != CORE_TUPLE || b->kind != CORE_TUPLE || a->tuple.n != b->tuple.n)
        return core_same(e->ctx, a, b);
    for (int i = 0; i < a->tuple.n; i++)
        if (!same_value(e, a->tuple.items[i], b->tuple.items[i]))
            return false;
    return true;
}

static const char *unit_text(Elab *e, const Core *core)
{
    core = named_value(core);
    StrBuf sb;
    sb_init(&sb, e->ctx);
    if (core->kind == CORE_LIT)
        scalar_value_print(&sb, core->lit);
    else if (core->kind == CORE_TUPLE) {
        sb_putc(&sb, '(');
        for (int i = 0; i < core->tuple.n; i++) {
            sb_puts(&sb, i ? ", " : "");
            sb_puts(&sb, unit_text(e, core->tuple.items[i]));
        }
        sb_putc(&sb, ')');
    } else {
        const char *written = span_text(e, core->span);
        sb_puts(&sb, written ? written : "a computed value");
    }
    return sb.text;
}

/* `max(0, ...)`: how a fold of a primitive gets a start of its own, which is combined with its
 * result. */
static const char *with_start(Elab *e, const PendingUnit *p, const Core *got)
{
    const char *name = p->op->kind == F_PRIM ? prim_name(p->op->prim) : NULL,
               *start = span_text(e, p->span);
    bool once = !p->advised && strcmp(p->who, prim_name(P_reduce)) != 0;
    if (!name || once || got->kind != CORE_LIT || got->lit.type == SC_BOOL)
        return NULL;
    start = start && !p->frame ? start : unit_text(e, got);
    return isalpha((unsigned char)name[0]) ? ctx_printf(e->ctx, "%s(%s, ...)", name, start)
                                           : ctx_printf(e->ctx, "%s %s (...)", start, name);
}

/* What stands there and what should. */
typedef struct UnitPair {
    const Core *want, *got;
    Core builtin, as_lit;
} UnitPair;

static bool unit_differs(Elab *e, const PendingUnit *p, UnitPair *pair)
{
    *pair = (UnitPair){.want = p->declared, .builtin.kind = CORE_LIT};
    if (!pair->want) {
        Type t = type_zonk(e, p->type);
        Type scalar = t->kind == TY_VEC ? t->elem : t;
        if (scalar->kind != TY_SCALAR ||
            !scalar_unit(p->op->prim, scalar->scalar, &pair->builtin.lit))
            return false;
        pair->want = &pair->builtin;
    }
    const Core *want = pair->want;
    const Core *got = pair->got = as_literal(core_splatted(p->unit), &pair->as_lit);
    /* -0 is taken for a sum's unit too: it is one. */
    bool zero = got->kind == CORE_LIT && want->kind == CORE_LIT && scalar_is_float(got->lit.type) &&
                got->lit.type == want->lit.type && got->lit.f == 0 && want->lit.f == 0;
    return !zero && !same_value(e, got, want);
}

static bool is_constant(const Core *core)
{
    core = named_value(core);
    bool constant = core->kind == CORE_LIT || core->kind == CORE_TUPLE;
    for (int i = 0; core->kind == CORE_TUPLE && i < core->tuple.n; i++)
        constant &= is_constant(core->tuple.items[i]);
    return constant;
}

/* ---- what is said ---------------------------------------------------------------------------- */

static const char *operator_name(const PendingUnit *p)
{
    return p->op->kind == F_ITEM ? p->op->item->name : prim_name(p->op->prim);
}

static void propose_unit(Elab *e, Diag *d, const PendingUnit *p, const UnitPair *pair)
{
    bool builtin = pair->want == &pair->builtin;
    const char *written = p->op->kind == F_ITEM ? span_text(e, p->op->item->unit->span) : NULL;
    /* In a definition it may be a parameter that stands there. */
    if (builtin)
        written = unit_word(p->op->prim, pair->builtin.lit.type);
    const char *start = builtin ? with_start(e, p, pair->got) : NULL;
    diag_propose(
        e->ctx, d, p->frame ? NO_SPAN : p->span,
        start ? ctx_printf(e->ctx,
                           "write $; to start from another value, combine it with the result: `%s`",
                           start)
              : "write $",
        "%s", written ? written : unit_text(e, pair->want));
    if (p->op->kind == F_ITEM)
        diag_note(e->ctx, d, p->op->item->unit->span, "declared here");
}

static void label_unit(Elab *e, Diag *d, const UnitPair *pair)
{
    if (is_constant(pair->got))
        diag_label(e->ctx, d, "this is %s", unit_text(e, pair->got));
    else if (is_constant(pair->want))
        diag_label(e->ctx, d, "this is computed, so risec cannot tell whether it is %s",
                   unit_text(e, pair->want));
    else
        diag_label(e->ctx, d, "this is not computed as the unit is");
}

void finish_units(Elab *e)
{
    for (int i = 0; i < e->units.n; i++) {
        const PendingUnit *p = &e->units.at[i];
        UnitPair pair;
        e->frame = p->frame;
        if (p->advised || !unit_differs(e, p, &pair))
            continue;
        Diag *d = elab_error(e, E0321, p->span, "`%s` starts from the unit of `%s`, which is %s",
                             p->who, operator_name(p), unit_text(e, pair.want));
        label_unit(e, d, &pair);
        propose_unit(e, d, p, &pair);
    }
    e->frame = NULL;
}

void advise_units(Elab *e)
{
    for (int i = 0; i < e->units.n; i++) {
        const PendingUnit *p = &e->units.at[i];
        UnitPair pair;
        if (!p->advised || !unit_differs(e, p, &pair) || !is_constant(pair.got))
            continue;
        Diag *d = diag_warning(
            e->ctx, W0717, p->span,
            "`%s` uses this more than once, so it should be the unit of `%s`, which is %s", p->who,
            operator_name(p), unit_text(e, pair.want));
        diag_label(e->ctx, d, "this is %s", unit_text(e, pair.got));
        propose_unit(e, d, p, &pair);
    }
}

/* ---- definitions that start from a unit: see Note [Starts] ----------------------------------- */

enum { DEEPEST_PASS = 8 }; /* of definitions that pass their parameters on */

typedef struct Starts {
    const FileScope *home;
    const char *op, *unit; /* names of parameters */
    int depth;
    bool repeated; /* folds in the function of a map start from it, or it fills an array up */
    bool cut;              /* by `take`: what fills up may be gone again */
    bool passed;           /* to a definition that is such */
    int uses, folds;       /* of the operator; those by the folds that start there, in a map */
} Starts;

static bool starts_from_unit(const Item *item, const FileScope *home, int op, int unit, int depth);

static bool is_word(const Ast *ast, const char *name)
{
    return ast->kind == AST_NAME && ast->name.text == name;
}

static const char *called_name(const Ast *call)
{
    const Ast *fn = call->call.fn;
    while (fn->kind == AST_NAMED || fn->kind == AST_BRACKET)
        fn = fn->call.fn;
    return fn->kind == AST_NAME ? fn->name.text : NULL;
}

static bool folds_in_order(PrimId id)
{
    return id == P_reduceSeq || id == P_reduceSeqUnroll || id == P_scanSeq || id == P_scanSeqExcl;
}

static bool is_map(PrimId id)
{
    return id == P_map || id == P_mapSeq ||
           (prim_rows[id].level >= LEVEL_GRID && prim_rows[id].level <= LEVEL_LANE &&
            prim_takes_elements(id));
}

static void look_at_prim(Starts *s, PrimId id, const Ast *call, bool mapped)
{
    Ast *const *args = call->call.items;
    s->cut |= id == P_take;
    if (call->call.n < 2 || !is_word(args[1], s->unit))
        return;
    s->repeated |= folds_in_order(id) ? mapped : id == P_padTo;
    s->folds += folds_in_order(id) && mapped && is_word(args[0], s->op);
}

int given_param(const Item *item, int k)
{
    for (int i = 0; i < item->n_params; i++)
        if (!item->params[i].implicit && k-- == 0)
            return i;
    return -1;
}

static void look_at_item(Starts *s, const Item *item, const FileScope *home, const Ast *call)
{
    int op = -1, unit = -1;
    for (int k = 0; k < call->call.n && !s->passed; k++) {
        const bool is_op = is_word(call->call.items[k], s->op);
        const bool is_unit = is_word(call->call.items[k], s->unit);
        op = is_op ? given_param(item, k) : op;
        unit = is_unit ? given_param(item, k) : unit;
        s->passed = (is_op || is_unit) && op >= 0 && unit >= 0 &&
                    starts_from_unit(item, home, op, unit, s->depth + 1);
    }
}

static void look_for_starts(Starts *s, const Ast *ast, bool mapped)
{
    s->uses += is_word(ast, s->op);
    const char *name = ast->kind == AST_CALL ? called_name(ast) : NULL;
    const FileScope *home = NULL;
    PrimId prim = name ? prim_find(name) : P_COUNT;
    const Item *item = name && prim == P_COUNT ? scope_find(s->home, name, &home) : NULL;
    if (prim != P_COUNT)
        look_at_prim(s, prim, ast, mapped);
    else if (item && item->kind == ITEM_DEF)
        look_at_item(s, item, home, ast);
    mapped |= prim != P_COUNT && is_map(prim);
    for (int i = 0; i < ast_children(ast); i++)
        look_for_starts(s, ast_child(ast, i), mapped);
}

static bool is_operator_type(const Ast *type, const char *of)
{
    for (int i = 0; i < 2; i++, type = type->bin.rhs)
        if (type->kind != AST_ARROW || !is_word(type->bin.lhs, of))
            return false;
    return is_word(type, of);
}

/* `(op: t -> t -> t)` and `(unit: t)`. */
static bool are_one_type(const Param *op, const Param *unit)
{
    bool named = op->name && unit->name && !op->implicit && !unit->implicit;
    return named && op->kind && unit->kind && unit->kind->kind == AST_NAME &&
           is_operator_type(op->kind, unit->kind->name.text);
}

static bool starts_from_unit(const Item *item, const FileScope *home, int op, int unit, int depth)
{
    if (depth > DEEPEST_PASS || !item->body ||
        !are_one_type(&item->params[op], &item->params[unit]))
        return false;
    Starts s = {
        .home = home, .op = item->params[op].name, .unit = item->params[unit].name, .depth = depth};
    look_for_starts(&s, item->body, false);
    return s.passed || (s.repeated && !s.cut && s.uses > s.folds);
}

static void advise_unit(Elab *e, const Fun *op, Value unit, Core *core, const char *who)
{
    PendingUnit p = {.op = op,
                     .unit = core,
                     .declared = operator_unit(e, op),
                     .type = core->type,
                     .span = unit.span,
                     .who = who,
                     .frame = e->frame,
                     .advised = true};
    if (p.declared ? p.declared->kind != CORE_UNIT_ERROR : op->kind == F_PRIM)
        vec_push(e->ctx, &e->units, p);
}

void note_advised_units(Elab *e, const Fun *f, const Value *values, Core *const *cores, Span call)
{
    const Item *item = f->item;
    if (e->quiet || !e->entry || !span_is_users(e->ctx, call))
        return;
    for (int op = 0; op < item->n_params; op++)
        for (int unit = 0; unit < item->n_params; unit++) {
            Span span = values[unit].span;
            bool written =
                cores[unit] && span.file == call.file && call.lo <= span.lo && span.hi <= call.hi;
            if (written && values[op].kind == V_FUN && starts_from_unit(item, f->home, op, unit, 0))
                advise_unit(e, unwrapped(values[op].fun), values[unit], cores[unit], item->name);
        }
}
