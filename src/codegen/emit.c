#include "codegen/lowering.h"
#include "frontend/elab.h"

/* ---- small things ----------------------------------------------------------------------------------------------------- */

/* Whether this stands in what `map`, or another pattern without a level, is given as a function. */
static bool is_in_high_function(const Ast *ast, Span use, bool inside)
{
    bool high = false;
    if (ast->kind == AST_CALL && ast->call.fn->kind == AST_NAME) {
        PrimId prim = prim_find(ast->call.fn->name.text);
        high = prim != P_COUNT && prim_rows[prim].level == LEVEL_HIGH;
    }
    for (int i = 0; i < ast_children(ast); i++) {
        const Ast *child = ast_child(ast, i);
        bool function = high && i > 0 && (child->kind == AST_LAMBDA || child->kind == AST_NAME || child->kind == AST_COMPOSE);
        if (child->span.lo <= use.lo && use.hi <= child->span.hi)
            return is_in_high_function(child, use, inside || function);
    }
    return inside;
}

/* What else is said there of the same kind would be about the text of the library: it is recorded no more. */
static void report_levels_inside(Lowering *lw, DiagCode code, Span use)
{
    const Source *source = source_get(lw->ctx, use.file);
    int n = (int)(use.hi - use.lo);
    Diag *d = diag_error(lw->ctx, code, use, "`%.*s` has levels of its own, and cannot be computed inside of a function without one", n, source->text + use.lo);
    diag_help(lw->ctx, d, "call it with a whole array, outside of `map`; inside, write what it does by `reduce`, `scan` or `map`");
}

Diag *lower_error(Lowering *lw, DiagCode code, Span span, const char *fmt, ...)
{
    va_list args;
    StrBuf text;
    sb_init(&text, lw->ctx);
    va_start(args, fmt);
    sb_vprintf(&text, fmt, args);
    va_end(args);
    lw->failed = true;
    const CoreEntry *entry = lw->entry;
    bool foreign = span.file && span.file != entry->name_span.file;
    Span use = foreign && entry->item ? item_use(lw->ctx, entry->program, entry->item, span) : NO_SPAN;
    const Item *around = entry->item && span.file && !foreign ? program_item_around(entry->program, span) : NULL;
    /* A strategy's step made it: the text of a rule is not what the program's author knows, and in a rule of his own nothing is wrong. */
    bool of_rule = (foreign && !use.file) || (around && around->kind == ITEM_RULE);
    if (use.file && !span_is_users(lw->ctx, span) && is_in_high_function(entry->item->body, use, false))
        report_levels_inside(lw, code, use);
    const Ast *strategy = of_rule && entry->item ? entry->item->lowered : NULL; /* that is what can be mended */
    Diag *d = diag_error_of_user(lw->ctx, code, strategy ? strategy->span : of_rule ? entry->name_span : span, use, "what is called there does this: the levels and memory around the call are what counts",
                                 "%s", text.text);
    if (use.file && span_is_users(lw->ctx, span)) /* in a module that is imported */
        diag_note(lw->ctx, d, use, "`%s` uses it here: the levels and memory around this are what counts", entry->name);
    if (of_rule)
        diag_note(lw->ctx, d, span, "a step of the strategy has put this there; `risec lower %s %s --trace` shows the steps", source_argument(lw->ctx, entry->name_span), entry->name);
    return d;
}

ImpStmt *lower_emit(Lowering *lw, ImpStmtKind kind, Span span)
{
    if (++lw->n_statements == lw->most_statements)
        lower_error(lw, E0503, lw->entry->name_span, "a kernel of `%s` becomes more than %d statements", lw->entry->name, LIMIT_IMP_STATEMENTS);
    ImpStmt *s = imp_stmt(lw->ctx, lw->out, kind, span);
    if (!span_is_users(lw->ctx, span))
        s->users = lw->users;
    return s;
}

Span lower_enter(Lowering *lw, const Core *term)
{
    const Span around = lw->users;
    if (span_is_users(lw->ctx, term->span))
        lw->users = term->span;
    else if (term->users.file)
        lw->users = term->users;
    return around;
}

ImpVar *lower_new_var(Lowering *lw, const char *name, Scalar type, Span span)
{
    ImpVar *var = NEW(lw->ctx, ImpVar);
    var->id = lw->kernel->vars.n;
    var->name = name;
    var->type = type;
    var->slots = 1;
    var->span = span;
    vec_push(lw->ctx, &lw->kernel->vars, var);
    return var;
}

ImpBuf *lower_new_buf(Lowering *lw, ImpSpace space, const char *name, Scalar elem, Nat count, Span span)
{
    ImpBuf *buf = NEW(lw->ctx, ImpBuf);
    buf->id = space == SPACE_SHARED ? lw->kernel->bufs.n : lw->globals.n;
    buf->name = name;
    buf->space = space;
    buf->elem = elem;
    buf->count = count;
    buf->span = span;
    buf->group = -1;
    buf->home = space == SPACE_SHARED || space == SPACE_TEMP ? lw->out : NULL;
    if (space == SPACE_SHARED)
        vec_push(lw->ctx, &lw->kernel->bufs, buf);
    else
        vec_push(lw->ctx, &lw->globals, buf);
    if (space == SPACE_TEMP)
        workspace_of(lw, buf);
    return buf;
}

Nat lower_nat(Lowering *lw, Nat nat)
{
    const Env *e = lw->env;
    while (e && (e = e->numbers) && nat->has_vars) {
        nat = nat_subst(lw->ctx, nat, e->nat, e->value);
        e = e->next;
    }
    return nat->has_vars ? nat_simplify(lw->ctx, lw->facts, nat) : nat;
}

Type lower_type(Lowering *lw, Type t)
{
    if (t->kind == TY_ARRAY)
        return type_array(lw->ctx, lower_nat(lw, t->size), lower_type(lw, t->elem));
    return t;
}

ImpExpr *nat_cmp(Lowering *lw, PrimId op, Nat a, Nat b, Span span)
{
    return imp_op2(lw->ctx, op, SC_BOOL, imp_nat(lw->ctx, a, SC_I64, span), imp_nat(lw->ctx, b, SC_I64, span), span);
}

/* The type has all nats, so that none is rounded or wrapped before it is compared. */
static bool is_exact(const ImpExpr *e) { return e->kind == IE_NAT && e->type == SC_I64; }

bool is_nat_comparison(const ImpExpr *e)
{
    return e->kind == IE_OP && e->op.n == 2 && e->op.id >= P_eq && e->op.id <= P_ge && is_exact(e->op.args[0]) && is_exact(e->op.args[1]);
}

bool cond_is(Lowering *lw, ImpExpr *e, bool value)
{
    if (e->kind == IE_LIT)
        return (e->lit.i != 0) == value;
    if (!is_nat_comparison(e))
        return false;
    return core_compare_is(lw->ctx, lw->facts, e->op.id, e->op.args[0]->nat, e->op.args[1]->nat, value);
}

bool condition_fails(Lowering *lw, ImpExpr *cond)
{
    if (cond->kind == IE_OP && cond->op.id == P_and)
        return condition_fails(lw, cond->op.args[0]) || condition_fails(lw, cond->op.args[1]);
    return cond_is(lw, cond, false);
}

static void assume_that(Lowering *lw, const ImpExpr *e, bool holds)
{
    static const PrimId opposite[] = {[P_eq - P_eq] = P_ne, [P_ne - P_eq] = P_eq, [P_lt - P_eq] = P_ge,
                                      [P_le - P_eq] = P_gt, [P_gt - P_eq] = P_le, [P_ge - P_eq] = P_lt};
    Ctx *ctx = lw->ctx;
    if (e->kind == IE_OP && e->op.id == (holds ? P_and : P_or)) {
        assume_that(lw, e->op.args[0], holds);
        assume_that(lw, e->op.args[1], holds);
        return;
    }
    if (e->kind == IE_OP && e->op.id == P_not) {
        assume_that(lw, e->op.args[0], !holds);
        return;
    }
    if (!is_nat_comparison(e))
        return;
    Nat a = e->op.args[0]->nat, b = e->op.args[1]->nat;
    PrimId op = holds ? e->op.id : opposite[e->op.id - P_eq];
    if (op == P_lt)
        nat_fact_le(ctx, lw->facts, nat_add_k(ctx, a, 1), b);
    else if (op == P_le)
        nat_fact_le(ctx, lw->facts, a, b);
    else if (op == P_gt)
        nat_fact_le(ctx, lw->facts, nat_add_k(ctx, b, 1), a);
    else if (op == P_ge)
        nat_fact_le(ctx, lw->facts, b, a);
    else if (op == P_eq)
        nat_fact_eq(ctx, lw->facts, a, b);
    else
        nat_fact_ne(ctx, lw->facts, a, b);
}

void assume(Lowering *lw, const ImpExpr *e) { assume_that(lw, e, true); }
void assume_not(Lowering *lw, const ImpExpr *e) { assume_that(lw, e, false); }

/* ---- threads, warps and lanes ---------------------------------------------------------------------------------------------- */

bool threads_in_a_row(const ImpKernel *k)
{
    return k->lane->kind == NAT_VAR && k->warp->kind == NAT_VAR && k->thread[0]->kind == NAT_VAR && k->thread[1]->kind != NAT_VAR && k->thread[2]->kind != NAT_VAR;
}

static Nat product_of(Ctx *ctx, const NatTerm *t, Nat without, int *times)
{
    Nat product = nat_const(ctx, t->coef);
    for (int j = 0; j < t->n_factors; j++)
        if (t->factors[j] == without)
            ++*times;
        else
            product = nat_mul(ctx, product, t->factors[j]);
    return product;
}

Nat lanes_to_thread(const Lowering *lw, Nat nat)
{
    const ImpKernel *k = lw->kernel;
    Ctx *ctx = lw->ctx;
    for (int i = 0; nat->kind == NAT_SUM && i < nat->n_terms; i++) {
        int lanes = 0;
        Nat c = product_of(ctx, &nat->terms[i], k->lane, &lanes);
        bool warps = false;
        for (int j = 0; j < nat->n_terms && lanes == 1; j++) {
            int times = 0;
            Nat other = product_of(ctx, &nat->terms[j], k->warp, &times);
            warps |= times == 1 && other == nat_mul_k(ctx, c, k->lanes);
        }
        if (!warps)
            continue;
        nat = nat_sub(ctx, nat, nat_mul(ctx, c, nat_add(ctx, nat_mul_k(ctx, k->warp, k->lanes), k->lane)));
        nat = nat_add(ctx, nat, nat_mul(ctx, c, k->thread[0]));
        i = -1;
    }
    return nat;
}
