/* Trees as RISE text. */
#include "rtree.h"

#include <stdio.h>
#include <stdlib.h>

/* How much an expression must hold together: ANY stands alone, PIPED may be a pipe, ATOM needs parentheses unless it is a name, call or index. */
typedef enum Hold { ANY, PIPED, ATOM } Hold;

typedef struct Out {
    const RProgram *p;
    char *text;
    size_t n, cap;
    bool used[NAMES_MAX], tile_used;
} Out;

static void put(Out *o, const char *text)
{
    size_t n = strlen(text);
    if (o->n + n + 1 > o->cap) {
        size_t cap = 2 * (o->cap + n + 64);
        char *more = pool_alloc(o->p->pool, cap);
        if (o->n)
            memcpy(more, o->text, o->n);
        o->text = more;
        o->cap = cap;
    }
    memcpy(o->text + o->n, text, n + 1);
    o->n += n;
}

static void put_number(Out *o, int64_t k)
{
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)k);
    put(o, text);
}

/* ---- sizes and types ----------------------------------------------------------------------------------------------------------------- */

static void put_constant(Out *o, int64_t k)
{
    if (o->p->tunable && k == o->p->tunable) {
        o->tile_used = true;
        put(o, "tile");
    } else
        put_number(o, k);
}

static void put_size(Out *o, RSize s, bool atom);

static void put_atom_times(Out *o, const RAtom *a, int64_t coef)
{
    if (a->kind == ATOM_NAME) {
        for (int k = 0; k < o->p->n_names; k++)
            o->used[k] |= o->p->names[k] == a;
        bool whole = coef % a->unit == 0;
        int64_t k = whole ? coef / a->unit : coef;
        if (k != 1) {
            put_constant(o, k);
            put(o, "*");
        }
        if (!whole)
            put(o, "(");
        put(o, a->name);
        if (!whole) {
            put(o, " / ");
            put_constant(o, a->unit);
            put(o, ")");
        }
        return;
    }
    if (coef != 1) {
        put_constant(o, coef);
        put(o, "*");
    }
    if (a->kind == ATOM_CEIL) {
        put(o, "ceilDiv(");
        put_size(o, a->of, false);
        put(o, ", ");
        put_constant(o, a->by);
    } else {
        put(o, "(");
        put_size(o, a->of, true);
        put(o, " / ");
        put_constant(o, a->by);
    }
    put(o, ")");
}

static bool plain_size(RSize s)
{
    return !s.atom || (s.add == 0 && (s.atom->kind == ATOM_NAME ? s.coef == s.atom->unit : s.coef == 1));
}

static void put_size(Out *o, RSize s, bool atom)
{
    if (!s.atom) {
        put_constant(o, s.add);
        return;
    }
    atom &= !plain_size(s);
    if (atom)
        put(o, "(");
    put_atom_times(o, s.atom, s.coef);
    if (s.add) {
        put(o, s.add > 0 ? " + " : " - ");
        put_constant(o, s.add > 0 ? s.add : -s.add);
    }
    if (atom)
        put(o, ")");
}

static void put_type(Out *o, const RType *t)
{
    switch (t->kind) {
    case R_SCALAR: put(o, scalar_name(t->scalar)); break;
    case R_VEC:
        put(o, "vec[");
        put_number(o, t->width);
        put(o, ", ");
        put(o, scalar_name(t->scalar));
        put(o, "]");
        break;
    case R_IDX:
        put(o, "idx[");
        put_size(o, t->size, false);
        put(o, "]");
        break;
    case R_ARRAY:
        put_size(o, t->size, true);
        put(o, ".");
        put_type(o, t->elem);
        break;
    case R_TUPLE:
        put(o, "(");
        for (int k = 0; k < t->n; k++) {
            put(o, k ? ", " : "");
            put_type(o, t->items[k]);
        }
        put(o, ")");
        break;
    }
}

/* ---- expressions ---------------------------------------------------------------------------------------------------------------------- */

static void put_node(Out *o, const Node *e, Hold hold);

static void put_lit(Out *o, const Node *e, bool atom)
{
    if (e->extreme) {
        put(o, scalar_is_float(e->scalar) ? (e->value < 0 ? "-inf" : "inf") : e->value < 0 ? "lowest" : "highest");
        return;
    }
    if (e->scalar == SC_BOOL) {
        put(o, e->value ? "(0 == 0)" : "(0 == 1)");
        return;
    }
    atom &= e->value < 0;
    put(o, atom ? "(" : "");
    put_number(o, e->value);
    put(o, scalar_is_float(e->scalar) ? ".0" : "");
    put(o, scalar_name(e->scalar));
    put(o, atom ? ")" : "");
}

static bool is_infix(PrimId id)
{
    const char *name = prim_name(id);
    return prim_rows[id].level == LEVEL_SCALAR && (strchr("+-*/%<>=!", name[0]) || id == P_and || id == P_or);
}

static bool mentions(const Node *e, const RVar *v)
{
    for (int k = 0; e->kind == N_VAR && k < e->n_vars; k++)
        if (e->vars[k] == v)
            return true;
    for (int k = 0; k < e->n; k++)
        if (mentions(e->args[k], v))
            return true;
    return false;
}

static bool is_var(const Node *e, const RVar *v) { return e->kind == N_VAR && e->vars[0] == v; }

static void put_prim_args(Out *o, const Node *e, int n_args);

/* A lambda as an operator, a definition or a partial application, where it is one. */
static bool put_partial(Out *o, const Node *f)
{
    const Node *e = f->args[0];
    if (f->spelled)
        put(o, f->spelled);
    if (f->spelled || !f->partial)
        return f->spelled != NULL;
    bool straight = e->n == f->n_vars && (e->kind == N_CALL || (e->kind == N_PRIM && prim_rows[e->prim].level == LEVEL_SCALAR && e->prim != P_cast && e->prim != P_indexOr));
    for (int k = 0; straight && k < e->n; k++)
        straight = is_var(e->args[k], f->vars[k]);
    if (straight && e->kind == N_CALL)
        put(o, o->p->defs[e->value]->name);
    else if (straight && is_infix(e->prim)) {
        put(o, "(");
        put(o, prim_name(e->prim));
        put(o, ")");
    } else if (straight)
        put(o, prim_name(e->prim));
    else {
        if (e->kind != N_PRIM || f->n_vars != 1 || prim_rows[e->prim].level == LEVEL_SCALAR || e->n == 0 || !is_var(e->args[e->n - 1], f->vars[0]) ||
            e->prim == P_generate || e->prim == P_index)
            return false;
        for (int k = 0; k < e->n - 1; k++)
            if (mentions(e->args[k], f->vars[0]))
                return false;
        put_prim_args(o, e, e->n - 1);
    }
    return true;
}

static void put_lambda(Out *o, const Node *f)
{
    if (put_partial(o, f))
        return;
    put(o, "fun");
    for (int k = 0; k < f->n_vars; k++) {
        put(o, " ");
        put(o, f->vars[k]->name);
    }
    put(o, " => ");
    put_node(o, f->args[0], ANY);
}

/* The forms of reorder's index. */
static void put_reorder(Out *o, const Node *e)
{
    RSize n = e->args[0]->type->size;
    put(o, "reorder(fun i => ");
    switch (e->value) {
    case 0: put(o, "i"); break;
    case 1:
        put_size(o, n, true);
        put(o, " - 1 - i");
        break;
    case 2:
        put(o, "(i + 1) % ");
        put_size(o, n, true);
        break;
    case 3:
        put(o, "min(i + 1, ");
        put_size(o, n, true);
        put(o, " - 1)");
        break;
    default: put(o, "i / 2"); break;
    }
    put(o, ")");
}

/* Indices below the second size. */
static void put_indices(Out *o, const Node *e)
{
    put(o, "generate(fun i => "); /* its length, and what the indices are below, come from where it stands */
    switch ((IndexForm)e->value) {
    case INDEX_BACK:
        put_size(o, e->sizes[1], true);
        put(o, " - 1 - i");
        break;
    case INDEX_SPREAD: put(o, "2 * i + 1"); break;
    case INDEX_ROUND:
        put(o, "(i + 5) % ");
        put_size(o, e->sizes[1], true);
        break;
    default: put(o, "i"); break;
    }
    put(o, ")");
}

static void put_options(Out *o, const Node *e)
{
    static const char *const axes[] = {"", "y", "z"}, *const layouts[] = {"", "pad = 1", "pad = 2", "pad = 3", "swizzle", "inPlace"};
    const char *first = e->prim == P_toShared ? layouts[e->axis] : axes[e->axis];
    if (!first[0] && !e->place[0])
        return;
    put(o, "[");
    put(o, first);
    if (e->place[0]) {
        put(o, first[0] ? ", place = fun i => " : "place = fun i => ");
        put_number(o, e->place[0]);
        put(o, " * i + ");
        put_number(o, e->place[1]);
    }
    put(o, "]");
}

/* name[axis](sizes and the first n_args arguments). */
static void put_prim_args(Out *o, const Node *e, int n_args)
{
    if (e->prim == P_reorder) {
        put_reorder(o, e);
        return;
    }
    put(o, prim_name(e->prim));
    put_options(o, e);
    if (e->prim == P_generate) {
        put(o, "{n = ");
        put_size(o, e->sizes[0], false);
        put(o, "}");
    }
    bool bins = e->prim == P_reduceByIndex; /* their number stands after the operator and its unit */
    int n = 0, n_sizes = e->prim == P_generate || bins ? 0 : e->n_sizes;
    if (n_sizes + n_args == 0)
        return;
    put(o, "(");
    for (int k = 0; k < n_sizes; k++) {
        put(o, n++ ? ", " : "");
        if (e->named)
            put(o, "d");
        else
            put_size(o, e->sizes[k], false);
    }
    for (int k = 0; k < n_args; k++) {
        put(o, n++ ? ", " : "");
        put_node(o, e->args[k], ANY);
        if (bins && k == 1) {
            put(o, ", ");
            put_size(o, e->sizes[0], false);
        }
    }
    put(o, ")");
}

static void put_scalar_prim(Out *o, const Node *e, Hold hold)
{
    bool one = e->prim == P_neg || e->prim == P_not;
    if (!one && !is_infix(e->prim)) {
        put(o, prim_name(e->prim));
        if (e->prim == P_cast) {
            put(o, "(");
            put(o, scalar_name(e->scalar));
            put(o, ")");
        }
        put(o, "(");
        for (int k = 0; k < e->n_sizes; k++) { /* indexOr */
            put_size(o, e->sizes[k], false);
            put(o, ", ");
        }
        for (int k = 0; k < e->n; k++) {
            put(o, k ? ", " : "");
            put_node(o, e->args[k], ANY);
        }
        put(o, ")");
        return;
    }
    put(o, hold == ANY ? "" : "(");
    if (one)
        put(o, e->prim == P_neg ? "-" : "not ");
    else {
        put_node(o, e->args[0], ATOM);
        put(o, " ");
        put(o, prim_name(e->prim));
        put(o, " ");
    }
    put_node(o, e->args[e->n - 1], ATOM);
    put(o, hold == ANY ? "" : ")");
}

static void put_prim(Out *o, const Node *e, Hold hold)
{
    if (prim_rows[e->prim].level == LEVEL_SCALAR) {
        put_scalar_prim(o, e, hold);
        return;
    }
    if (e->prim == P_index) {
        put_node(o, e->args[0], ATOM);
        put(o, "[");
        put_size(o, e->sizes[0], false);
        put(o, "]");
        return;
    }
    bool zip = e->prim == P_zip || e->prim == P_zip3 || e->prim == P_zip4;
    if (zip || e->call || e->prim == P_generate || e->prim == P_concat || e->prim == P_gather || prim_is_scatter(e->prim)) {
        if (e->prim == P_reorder) {
            put_reorder(o, e);
            put(o, "(");
            put_node(o, e->args[0], ANY);
            put(o, ")");
        } else
            put_prim_args(o, e, e->n);
        return;
    }
    put(o, hold == ATOM ? "(" : "");
    put_node(o, e->args[e->n - 1], PIPED);
    put(o, " |> ");
    put_prim_args(o, e, e->n - 1);
    put(o, hold == ATOM ? ")" : "");
}

static void put_open(Out *o, Hold hold) { put(o, hold == ANY ? "" : "("); }
static void put_close(Out *o, Hold hold) { put(o, hold == ANY ? "" : ")"); }

static void put_unroll(Out *o, const Node *e, Hold hold)
{
    put(o, hold == ATOM ? "(" : "");
    put_node(o, e->args[0], PIPED);
    put(o, " |> unroll d in [");
    for (int k = 0; k < e->n_list; k++) {
        put(o, k ? ", " : "");
        put_number(o, e->list[k]);
    }
    put(o, "] (");
    put_node(o, e->args[1], ANY);
    put(o, ")");
    put(o, hold == ATOM ? ")" : "");
}

/* xs |> iterate{n = 2}(k, fun l ys => zip(take(l, ys), drop(l, ys)) |> map(fun a b) |> store) */
static void put_iterate(Out *o, const Node *e, Hold hold)
{
    const Node *f = e->args[0];
    put(o, hold == ATOM ? "(" : "");
    put_node(o, e->args[1], PIPED);
    put(o, " |> iterate{n = 2}(");
    put_number(o, e->value);
    put(o, ", fun l ys => zip(take(l, ys), drop(l, ys)) |> ");
    put(o, prim_name(e->prim));
    put(o, "(fun (");
    put(o, f->vars[0]->name);
    put(o, ", ");
    put(o, f->vars[1]->name);
    put(o, ") => ");
    put_node(o, f->args[0], ANY);
    put(o, ") |> ");
    put(o, prim_name((PrimId)e->list[0]));
    put(o, hold == ATOM ? "))" : ")");
}

static void put_node(Out *o, const Node *e, Hold hold)
{
    static const char *const trees[] = {"warpTree", "warpTreeDown", "warpTreeUp"};
    switch (e->kind) {
    case N_VAR: put(o, e->vars[0]->name); break;
    case N_LIT: put_lit(o, e, hold != ANY); break;
    case N_SIZE:
        put(o, "cast(");
        put(o, scalar_name(e->scalar));
        put(o, ")(");
        put_size(o, e->sizes[0], false);
        put(o, ")");
        break;
    case N_PRIM: put_prim(o, e, hold); break;
    case N_LAMBDA: put_lambda(o, e); break;
    case N_LET:
        put_open(o, hold);
        put(o, "let ");
        put(o, e->vars[0]->name);
        put(o, " = ");
        put_node(o, e->args[0], ANY);
        put(o, " in ");
        put_node(o, e->args[1], ANY);
        put_close(o, hold);
        break;
    case N_TUPLE:
    case N_CALL:
        put(o, e->kind == N_CALL ? o->p->defs[e->value]->name : "");
        put(o, "(");
        for (int k = 0; k < e->n; k++) {
            put(o, k ? ", " : "");
            put_node(o, e->args[k], ANY);
        }
        put(o, ")");
        break;
    case N_PROJ:
        put_node(o, e->args[0], ATOM);
        put(o, ".");
        put_number(o, e->value + 1);
        break;
    case N_IF:
        put_open(o, hold);
        put(o, "if ");
        put_node(o, e->args[0], PIPED);
        put(o, " then ");
        put_node(o, e->args[1], PIPED);
        put(o, " else ");
        put_node(o, e->args[2], PIPED);
        put_close(o, hold);
        break;
    case N_INDEX:
        put_node(o, e->args[0], ATOM);
        put(o, "[");
        put_node(o, e->args[1], ANY);
        put(o, "]");
        break;
    case N_UNROLL: put_unroll(o, e, hold); break;
    case N_ITERATE: put_iterate(o, e, hold); break;
    case N_INDICES: put_indices(o, e); break;
    case N_TEST:
        put(o, hold == ANY ? "" : "(");
        put_size(o, e->sizes[0], false);
        put(o, " <= ");
        put_number(o, e->value);
        put(o, hold == ANY ? "" : ")");
        break;
    case N_TREE:
        put(o, hold == ATOM ? "(" : "");
        put_node(o, e->args[1], PIPED);
        put(o, " |> ");
        put(o, trees[e->value]);
        put(o, "(");
        put_node(o, e->args[0], ANY);
        put(o, ")");
        put(o, hold == ATOM ? ")" : "");
        break;
    }
}

/* ---- programs --------------------------------------------------------------------------------------------------------------------------- */

static bool uses_kind(const Node *e, NodeKind kind)
{
    bool used = e->kind == kind;
    for (int k = 0; k < e->n && !used; k++)
        used = uses_kind(e->args[k], kind);
    return used;
}

static bool calls(const Node *e, int def)
{
    bool used = e->kind == N_CALL && e->value == def;
    for (int k = 0; k < e->n && !used; k++)
        used = calls(e->args[k], def);
    return used;
}

static void put_def(Out *o, const RDef *d)
{
    put(o, d->is_operator ? "operator " : "def ");
    put(o, d->name);
    for (int k = 0; k < d->n; k++) {
        put(o, " (");
        put(o, d->params[k]->name);
        put(o, ": ");
        put_type(o, d->params[k]->type);
        put(o, ")");
    }
    put(o, ": ");
    put_type(o, d->body->type);
    if (d->is_operator)
        put(o, d->body->prim == P_max ? " unit lowest, associative" : " unit 0, associative");
    put(o, " = ");
    put_node(o, d->body, ANY);
    put(o, "\n");
}

static void put_clauses(Out *o, const RProgram *p)
{
    if (p->threads || p->blocks) {
        put(o, " launch [");
        if (p->threads) {
            put(o, "threads = ");
            put_number(o, p->threads);
        }
        if (p->blocks) {
            put(o, p->threads ? ", blocks = " : "blocks = ");
            put_number(o, p->blocks);
        }
        put(o, "]");
    }
    int facts = 0;
    for (int k = 0; k < p->n_names; k++) {
        const RAtom *a = p->names[k];
        if (!o->used[k])
            continue;
        if (a->unit > 1) {
            put(o, facts++ ? ", " : "\n  where ");
            put(o, a->name);
            put(o, " % ");
            put_number(o, a->unit);
            put(o, " == 0");
        }
        if (a->least > 0) {
            put(o, facts++ ? ", " : "\n  where ");
            put(o, a->name);
            put(o, " >= ");
            put_number(o, a->least * a->unit);
        }
    }
}

const char *program_text(const RProgram *p)
{
    /* What is used shows in the rest, which therefore comes first. */
    Out *body = &(Out){.p = p}, *o = &(Out){.p = p};
    for (int k = 0; k < p->n_inputs; k++) {
        put(body, " (");
        put(body, p->inputs[k]->name);
        put(body, ": ");
        put_type(body, p->inputs[k]->type);
        put(body, ")");
    }
    put(body, ": ");
    put_type(body, p->body->type);
    Out rest = {.p = p};
    memcpy(rest.used, body->used, sizeof rest.used);
    put(&rest, "\n  ");
    put_node(&rest, p->body, ANY);
    memcpy(body->used, rest.used, sizeof rest.used);
    put_clauses(body, p);
    if (p->prelude)
        put(o, p->prelude);
    if (uses_kind(p->body, N_TREE))
        put(o, "import std.warp\n");
    for (int k = 0; k < p->n_defs; k++)
        if (calls(p->body, k))
            put_def(o, p->defs[k]);
    put(o, "entry f");
    for (int k = 0; k < p->n_names; k++)
        if (rest.used[k]) {
            put(o, " {");
            put(o, p->names[k]->name);
            put(o, ": nat}");
        }
    if (body->tile_used || rest.tile_used) {
        put(o, " (tile: nat = ");
        put_number(o, p->tunable);
        put(o, ")");
    }
    put(o, body->text);
    put(o, " =");
    put(o, rest.text);
    put(o, "\n");
    return o->text;
}
