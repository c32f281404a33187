/* Core as RISE text. What is printed parses and elaborates to the same core, up to the names of bound variables.
 *
 * Each term is first tried on the rest of the line; where it does not fit it is broken, its parts tried again. A try gives up at
 * the margin, so the cost is the size of the term times the width. */
#include <math.h>

#include "ir/core.h"

enum { WIDTH = 100, INDENT = 2 };

/* Of the grammar, low to high. A term is parenthesised where its own is below what its place asks for. */
typedef enum Prec {
    PREC_LOWEST, /* fun, let, if */
    PREC_PIPE,
    PREC_OR,
    PREC_AND,
    PREC_EQUAL,
    PREC_LESS,
    PREC_SUM = PREC_LESS + 2, /* >> is between */
    PREC_PRODUCT,
    PREC_PREFIX,
    PREC_POSTFIX = PREC_PREFIX + 2 /* ^ is between */
} Prec;

/* A variable in scope and what it is called here. var or nat may be NULL. */
typedef struct Binding {
    const CoreVar *var;
    Nat nat;
    const char *name;
} Binding;

typedef struct Printer {
    StrBuf *out;
    Ctx *ctx;
    VEC(Binding) scope; /* innermost last */
    VEC(Nat) renamed, renamed_to; /* nat variables whose own name is taken, and their stand-ins */
    bool flat;    /* on one line, up to `end` */
    bool failed;  /* flat: a line break or the margin was met */
    size_t end;   /* flat: the length that out may reach */
} Printer;

static void put_term(Printer *p, const Core *term, Prec prec, int indent);
static void unbind_to(Printer *p, int n);

/* ---- writing ---------------------------------------------------------------------------------------------------- */

static void put(Printer *p, const char *text)
{
    if (p->failed)
        return;
    sb_puts(p->out, text);
    if (p->flat && p->out->len > p->end)
        p->failed = true;
}

static void put_line(Printer *p, int indent)
{
    if (p->flat) {
        p->failed = true;
        return;
    }
    sb_putc(p->out, '\n');
    for (int i = 0; i < indent; i++)
        sb_putc(p->out, ' ');
}

static size_t column(const Printer *p)
{
    size_t at = p->out->len;
    while (at > 0 && p->out->text[at - 1] != '\n')
        at--;
    return p->out->len - at;
}

/* On the rest of this line when it fits there, else over several. */
static void put_fitting(Printer *p, const Core *term, void (*put_it)(Printer *, const Core *, Prec, int), Prec prec, int indent)
{
    if (p->failed)
        return;
    if (p->flat) {
        put_it(p, term, prec, indent);
        return;
    }
    size_t start = p->out->len, at = column(p);
    int scope = p->scope.n;
    p->flat = true;
    p->end = start + (at < WIDTH - 3 ? WIDTH - 3 - at : 0); /* leaves room for what closes the line */
    put_it(p, term, prec, indent);
    p->flat = false;
    if (!p->failed)
        return;
    p->failed = false;
    unbind_to(p, scope);
    p->out->len = start;
    p->out->text[start] = 0;
    put_it(p, term, prec, indent);
}

/* ---- names ------------------------------------------------------------------------------------------------------ */

static const char *const words[] = {
    "fun", "let", "in", "if", "then", "else", "and", "or", "not", "unroll", "def", "entry", "operator", "import", "where", "launch",
    "true", "false", "inf", "nan", "lowest", "highest", "nat", "data", "num", "int", "float", "scalar", "idx", "vec", "ceilDiv",
    "pow2", "numSM", "maxResident", "halving", "unit", "level", "lowered", "by", "at", "expect", "associative", "commutative",
    "within", "exact", "rule", "strategy"};

static bool is_name(const char *text)
{
    bool letter = false;
    if (!text || (text[0] >= '0' && text[0] <= '9'))
        return false;
    for (; *text; text++) {
        char c = *text;
        bool alpha = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!alpha && !(c >= '0' && c <= '9') && c != '_')
            return false;
        letter |= alpha;
    }
    return letter;
}

static bool is_taken(const Printer *p, const char *name)
{
    Scalar scalar;
    if (prim_find(name) != P_COUNT || scalar_find(name, &scalar))
        return true;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(words[i], name) == 0)
            return true;
    for (int i = p->scope.n - 1; i >= 0; i--)
        if (strcmp(p->scope.at[i].name, name) == 0)
            return true;
    return false;
}

static const char *bind(Printer *p, const CoreVar *var, Nat nat, const char *wanted)
{
    const char *base = is_name(wanted) ? wanted : "x";
    const char *name = base;
    for (int k = 1; is_taken(p, name); k++)
        name = ctx_printf(p->ctx, "%s_%d", base, k);
    vec_push(p->ctx, &p->scope, (Binding){var, nat, name});
    if (nat && strcmp(nat->name, name) != 0) {
        vec_push(p->ctx, &p->renamed, nat);
        vec_push(p->ctx, &p->renamed_to, nat_var(p->ctx, name, nat->lo, nat->hi));
    }
    return name;
}

/* Ends the scopes of the innermost bindings. */
static void unbind_to(Printer *p, int n)
{
    while (p->scope.n > n) {
        Binding b = p->scope.at[--p->scope.n];
        if (b.nat && p->renamed.n > 0 && p->renamed.at[p->renamed.n - 1] == b.nat) {
            p->renamed.n--;
            p->renamed_to.n--;
        }
    }
}

static const char *name_of(const Printer *p, const CoreVar *var)
{
    for (int i = p->scope.n - 1; i >= 0; i--)
        if (p->scope.at[i].var == var)
            return p->scope.at[i].name;
    return is_name(var->name) ? var->name : "x";
}

/* ---- sizes, types, literals ------------------------------------------------------------------------------------- */

static bool is_atom_text(const char *text)
{
    for (; *text; text++)
        if (!((*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z') || (*text >= '0' && *text <= '9') || *text == '_'))
            return false;
    return true;
}

static void put_nat(Printer *p, Nat nat, Prec prec)
{
    if (p->failed)
        return;
    if (p->renamed.n)
        nat = nat_subst_many(p->ctx, nat, p->renamed.n, p->renamed.at, p->renamed_to.at);
    const char *text = nat_text(p->ctx, nat);
    bool parens = prec > PREC_LOWEST && !is_atom_text(text);
    put(p, parens ? "(" : "");
    put(p, text);
    put(p, parens ? ")" : "");
}

static void put_type(Printer *p, Type type)
{
    if (p->failed)
        return;
    if (p->renamed.n)
        type = type_subst(p->ctx, type, p->renamed.n, p->renamed.at, p->renamed_to.at);
    type_print(p->out, type);
    put(p, "");
}

/* Digits as the grammar wants them: a point or an exponent, and no plus sign. */
static void put_digits(StrBuf *out, double value, Scalar type)
{
    StrBuf text;
    sb_init(&text, out->ctx);
    sb_put_float(&text, value, type != SC_F64);
    bool plain = true;
    for (const char *c = text.text; *c; c++) {
        if (*c == '+')
            continue;
        plain &= *c != '.' && *c != 'e';
        sb_putc(out, *c);
    }
    if (plain)
        sb_puts(out, ".0");
}

void scalar_value_print(StrBuf *out, ScalarValue v)
{
    if (v.type == SC_BOOL) {
        sb_puts(out, v.i ? "true" : "false");
    } else if (!scalar_is_float(v.type)) {
        if (scalar_is_signed(v.type))
            sb_printf(out, "%lld", (long long)v.i);
        else
            sb_printf(out, "%llu", (unsigned long long)v.u);
        sb_puts(out, scalar_name(v.type));
    } else if (isnan(v.f)) {
        sb_printf(out, "nan(%s)", scalar_name(v.type));
    } else if (isinf(v.f)) {
        sb_printf(out, "%sinf(%s)", v.f < 0 ? "-" : "", scalar_name(v.type));
    } else {
        put_digits(out, v.f, v.type);
        sb_puts(out, scalar_name(v.type));
    }
}

static void put_literal(Printer *p, const Core *term, Prec prec)
{
    ScalarValue v = term->lit;
    StrBuf text;
    sb_init(&text, p->ctx);
    if (term->type->kind == TY_IDX)
        sb_printf(&text, "%lld", (long long)v.i);
    else
        scalar_value_print(&text, v);
    bool parens = text.text[0] == '-' && prec > PREC_PREFIX;
    put(p, parens ? "(" : "");
    put(p, text.text);
    put(p, parens ? ")" : "");
}

/* ---- scalar operators ------------------------------------------------------------------------------------------- */

/* The precedence of an infix operator, or PREC_LOWEST. */
static Prec infix_prec(PrimId id)
{
    switch ((int)id) {
    case P_or:
        return PREC_OR;
    case P_and:
        return PREC_AND;
    case P_eq:
    case P_ne:
        return PREC_EQUAL;
    case P_lt:
    case P_le:
    case P_gt:
    case P_ge:
        return PREC_LESS;
    case P_add:
    case P_sub:
        return PREC_SUM;
    case P_mul:
    case P_div:
    case P_mod:
        return PREC_PRODUCT;
    }
    return PREC_LOWEST;
}

/* A comparison of sizes: its operands are written as sizes, as `where` and a decision at launch need them. */
static bool is_size_comparison(const Core *term)
{
    Prec prec = infix_prec(term->prim.id);
    if (prec != PREC_EQUAL && prec != PREC_LESS)
        return false;
    const Core *a = term->prim.args[0], *b = term->prim.args[1];
    return (a->kind == CORE_SIZE && (b->kind == CORE_SIZE || b->kind == CORE_LIT)) || (a->kind == CORE_LIT && b->kind == CORE_SIZE);
}

static void put_operand(Printer *p, const Core *term, Prec prec, int indent, bool sizes)
{
    if (sizes && term->kind == CORE_SIZE)
        put_nat(p, term->size, prec >= PREC_PRODUCT ? prec : PREC_LOWEST);
    else if (sizes && term->kind == CORE_LIT && !scalar_is_float(term->lit.type))
        put(p, ctx_printf(p->ctx, "%lld", (long long)term->lit.i));
    else
        put_term(p, term, prec, indent);
}

static void put_infix(Printer *p, const Core *term, Prec prec, int indent)
{
    Prec own = infix_prec(term->prim.id);
    bool sizes = is_size_comparison(term);
    bool parens = own < prec;
    /* Equality and order do not associate. */
    bool left = own != PREC_EQUAL && own != PREC_LESS;
    put(p, parens ? "(" : "");
    put_operand(p, term->prim.args[0], left ? own : own + 1, indent, sizes);
    if (!p->flat && column(p) > WIDTH * 3 / 4)
        put_line(p, indent + INDENT);
    else
        put(p, " ");
    put(p, prim_name(term->prim.id));
    put(p, " ");
    put_operand(p, term->prim.args[1], own + 1, indent, sizes);
    put(p, parens ? ")" : "");
}

/* ---- lambdas ---------------------------------------------------------------------------------------------------- */

/* `fun a b => a + b` is `(+)`, `fun x => join(x)` is `join`: the body is a primitive of just the parameters. */
static bool is_eta(const Core *lambda)
{
    const Core *body = lambda->lambda.body;
    if (lambda->lambda.n_nats || body->kind != CORE_PRIM || body->prim.n_args != lambda->lambda.n || body->prim.id == P_cast)
        return false;
    if (infix_prec(body->prim.id) == PREC_LOWEST && prim_rows[body->prim.id].level != LEVEL_SCALAR) {
        switch ((int)body->prim.id) {
        case P_id:
        case P_join:
        case P_transpose:
        case P_reverse:
        case P_unzip:
        case P_single:
            break;
        default:
            return false;
        }
    }
    for (int i = 0; i < lambda->lambda.n; i++) {
        const Core *arg = body->prim.args[i];
        if (arg->kind != CORE_VAR || arg->var != lambda->lambda.params[i])
            return false;
    }
    return true;
}

static void put_lambda(Printer *p, const Core *term, Prec prec, int indent)
{
    if (is_eta(term)) {
        PrimId id = term->lambda.body->prim.id;
        bool word = infix_prec(id) == PREC_LOWEST && id != P_not;
        put(p, word ? "" : "(");
        put(p, prim_name(id));
        put(p, word ? "" : ")");
        return;
    }
    int scope = p->scope.n;
    put(p, prec > PREC_LOWEST ? "(fun" : "fun");
    for (int i = 0; i < term->lambda.n_nats; i++) {
        put(p, " (");
        put(p, bind(p, NULL, term->lambda.nats[i], term->lambda.nats[i]->name));
        put(p, ": nat)");
    }
    for (int i = 0; i < term->lambda.n; i++) {
        const CoreVar *var = term->lambda.params[i];
        put(p, " (");
        put(p, bind(p, var, var->nat, var->name));
        put(p, ": ");
        put_type(p, var->type);
        put(p, ")");
    }
    put(p, " =>");
    if (p->flat) {
        put(p, " ");
        put_term(p, term->lambda.body, PREC_LOWEST, indent);
    } else {
        put_line(p, indent + INDENT);
        put_term(p, term->lambda.body, PREC_LOWEST, indent + INDENT);
    }
    put(p, prec > PREC_LOWEST ? ")" : "");
    unbind_to(p, scope);
}

/* ---- primitives ------------------------------------------------------------------------------------------------- */

static void put_options(Printer *p, const Core *term, int indent)
{
    const PrimOptions *o = &term->prim.options;
    const char *before = "[";
    if (o->axis) {
        put(p, o->axis == 1 ? "[y" : "[z");
        before = ", ";
    }
    struct { const char *name; Nat nat; } nats[] = {
        {"pad", o->pad}, {"blocks", o->blocks}, {"threads", o->threads}, {"minBlocks", o->min_blocks}};
    for (size_t i = 0; i < sizeof nats / sizeof nats[0]; i++)
        if (nats[i].nat) {
            put(p, before);
            put(p, nats[i].name);
            put(p, " = ");
            put_nat(p, nats[i].nat, PREC_LOWEST);
            before = ", ";
        }
    if (o->swizzle) {
        put(p, before);
        put(p, "swizzle");
        before = ", ";
    }
    if (o->in_place) {
        put(p, before);
        put(p, "inPlace");
        before = ", ";
    }
    if (o->place) {
        put(p, before);
        put(p, "place = ");
        put_term(p, o->place, PREC_LOWEST, indent);
        before = ", ";
    }
    put(p, before[0] == ',' ? "]" : "");
}

static bool is_nat_param(const Param *param)
{
    return param->kind && param->kind->kind == AST_NAME && strcmp(param->kind->name.text, "nat") == 0;
}

/* name[options]{implicit}(arguments); without the last `skip` arguments. */
static void put_call(Printer *p, const Core *term, int skip, int indent)
{
    PrimId id = term->prim.id;
    const Item *header = prim_header(p->ctx, id);
    bool word = infix_prec(id) == PREC_LOWEST && id != P_not;
    put(p, word ? "" : "(");
    put(p, prim_name(id));
    put(p, word ? "" : ")");
    put_options(p, term, indent);
    const char *before = "{";
    int nat = 0, arg = 0;
    if (id == P_generate || id == P_iterate) { /* their sizes follow from no argument */
        for (int i = 0; i < header->n_params && nat < term->prim.n_nats; i++) {
            const Param *param = &header->params[i];
            if (!is_nat_param(param))
                continue;
            if (param->implicit) {
                put(p, before);
                put(p, param->name);
                put(p, " = ");
                put_nat(p, term->prim.nats[nat], PREC_LOWEST);
                before = ", ";
            }
            nat++;
        }
        put(p, before[0] == ',' ? "}" : "");
    }
    if (id == P_cast) {
        put(p, "(");
        put_type(p, term->prim.cast_type);
        put(p, ")");
    }
    before = "(";
    nat = 0;
    for (int i = 0; i < header->n_params; i++) {
        const Param *param = &header->params[i];
        if (is_nat_param(param)) {
            if (!param->implicit && nat < term->prim.n_nats) {
                put(p, before);
                put_nat(p, term->prim.nats[nat], PREC_LOWEST);
                before = ", ";
            }
            nat++;
        } else if (!param->implicit) {
            if (arg < term->prim.n_args - skip) {
                put(p, before);
                put_term(p, term->prim.args[arg], PREC_LOWEST, indent);
                before = ", ";
            }
            arg++;
        }
    }
    put(p, before[0] == ',' ? ")" : "");
}

/* Written `x |> f(...)`: what takes one array and gives what becomes of it. */
static bool is_stage(const Core *term)
{
    if (term->kind != CORE_PRIM || prim_rows[term->prim.id].level == LEVEL_SCALAR)
        return false;
    switch ((int)term->prim.id) {
    case P_zip:
    case P_zip3:
    case P_zip4:
    case P_concat:
    case P_generate:
    case P_index:
        return false;
    }
    return term->prim.n_args > 0;
}

static void put_stage(Printer *p, const Core *term, Prec prec, int indent)
{
    (void)prec;
    put_call(p, term, 1, indent);
}

static void put_pipeline(Printer *p, const Core *term, Prec prec, int indent)
{
    VEC(const Core *) stages = {0};
    while (is_stage(term)) {
        vec_push(p->ctx, &stages, term);
        term = term->prim.args[term->prim.n_args - 1];
    }
    bool parens = prec > PREC_PIPE;
    put(p, parens ? "(" : "");
    int inner = indent + (parens ? 1 : 0);
    put_term(p, term, PREC_PIPE, inner);
    for (int i = stages.n - 1; i >= 0; i--) {
        if (p->flat)
            put(p, " ");
        else
            put_line(p, inner + INDENT);
        put(p, "|> ");
        put_fitting(p, stages.at[i], put_stage, PREC_PIPE, inner + INDENT + 3);
    }
    put(p, parens ? ")" : "");
}

static void put_prim(Printer *p, const Core *term, Prec prec, int indent)
{
    if (infix_prec(term->prim.id) != PREC_LOWEST) {
        put_infix(p, term, prec, indent);
        return;
    }
    if (term->prim.id == P_not || (term->prim.id == P_neg && term->prim.args[0]->kind != CORE_LIT)) {
        /* Operands bind tighter than the prefix, so that no two minus signs meet. */
        bool parens = prec > PREC_PREFIX;
        put(p, parens ? "(" : "");
        put(p, term->prim.id == P_not ? "not " : "-");
        put_term(p, term->prim.args[0], PREC_POSTFIX, indent);
        put(p, parens ? ")" : "");
        return;
    }
    if (term->prim.id == P_index) {
        put_term(p, term->prim.args[0], PREC_POSTFIX, indent);
        put(p, "[");
        put_nat(p, term->prim.nats[term->prim.n_nats - 1], PREC_LOWEST);
        put(p, "]");
        return;
    }
    if (is_stage(term))
        put_pipeline(p, term, prec, indent);
    else
        put_call(p, term, 0, indent);
}

/* ---- terms ------------------------------------------------------------------------------------------------------ */

/* `let`s in a row are one loop, however many. */
static void put_lets(Printer *p, const Core *term, Prec prec, int indent)
{
    int scope = p->scope.n;
    put(p, prec > PREC_LOWEST ? "(" : "");
    if (prec > PREC_LOWEST)
        indent++;
    for (; term->kind == CORE_LET; term = term->let.body) {
        /* The value does not see the variable, but its own binders must not take the name that is written before it. */
        const char *name = bind(p, term->let.var, term->let.var->nat, term->let.var->name);
        put(p, "let ");
        put(p, name);
        put(p, " = ");
        put_term(p, term->let.value, PREC_PIPE, indent + INDENT);
        put(p, " in");
        if (p->flat)
            put(p, " ");
        else
            put_line(p, indent);
    }
    put_term(p, term, PREC_LOWEST, indent);
    put(p, prec > PREC_LOWEST ? ")" : "");
    unbind_to(p, scope);
}

static void put_if(Printer *p, const Core *term, Prec prec, int indent)
{
    bool parens = prec > PREC_LOWEST;
    put(p, parens ? "(if " : "if ");
    put_term(p, term->cond.cond, PREC_PIPE, indent + INDENT);
    const Core *branches[2] = {term->cond.then, term->cond.otherwise};
    for (int i = 0; i < 2; i++) {
        if (p->flat)
            put(p, " ");
        else
            put_line(p, indent);
        put(p, i == 0 ? "then " : "else ");
        /* `else c |> f` pipes only c, so a branch may be anything but another open end. */
        put_term(p, branches[i], i == 0 ? PREC_PIPE : PREC_LOWEST, indent + INDENT);
    }
    put(p, parens ? ")" : "");
}

static void put_broken(Printer *p, const Core *term, Prec prec, int indent)
{
    switch (term->kind) {
    case CORE_VAR:
        put(p, name_of(p, term->var));
        return;
    case CORE_LIT:
        put_literal(p, term, prec);
        return;
    case CORE_SIZE:
        if (term->type->kind == TY_IDX) {
            put_nat(p, term->size, prec);
        } else {
            put(p, "cast(");
            put_type(p, term->type);
            put(p, ")(");
            put_nat(p, term->size, PREC_LOWEST);
            put(p, ")");
        }
        return;
    case CORE_PRIM:
        put_prim(p, term, prec, indent);
        return;
    case CORE_LAMBDA:
        put_lambda(p, term, prec, indent);
        return;
    case CORE_LET:
        put_lets(p, term, prec, indent);
        return;
    case CORE_TUPLE:
        put(p, "(");
        for (int i = 0; i < term->tuple.n; i++) {
            if (i && p->flat)
                put(p, ", ");
            else if (i) {
                put(p, ",");
                put_line(p, indent + 1);
            }
            put_term(p, term->tuple.items[i], PREC_LOWEST, indent + 1);
        }
        put(p, ")");
        return;
    case CORE_PROJ:
        put_term(p, term->proj.value, PREC_POSTFIX, indent);
        put(p, ctx_printf(p->ctx, ".%d", term->proj.index + 1));
        return;
    case CORE_IF:
        put_if(p, term, prec, indent);
        return;
    case CORE_UNIT_ERROR:
        put(p, "<error>");
        return;
    }
}

static void put_term(Printer *p, const Core *term, Prec prec, int indent) { put_fitting(p, term, put_broken, prec, indent); }

void core_print(StrBuf *out, const Core *term)
{
    Printer p = {.out = out, .ctx = out->ctx};
    put_term(&p, term, PREC_LOWEST, (int)column(&p));
}

/* ---- entries ---------------------------------------------------------------------------------------------------- */

static bool type_mentions(Type t, Nat var)
{
    if (t->size && nat_mentions(t->size, var))
        return true;
    if (t->elem && type_mentions(t->elem, var))
        return true;
    for (int i = 0; i < t->n_items; i++)
        if (type_mentions(t->items[i], var))
            return true;
    return false;
}

static void put_doc(StrBuf *out, const char *doc)
{
    while (*doc) {
        const char *end = strchr(doc, '\n');
        size_t n = end ? (size_t)(end - doc) : strlen(doc);
        sb_puts(out, "--|");
        sb_puts(out, n ? " " : "");
        sb_putn(out, doc, n);
        sb_putc(out, '\n');
        doc += n + (end ? 1 : 0);
    }
}

void core_print_entry(StrBuf *out, const CoreEntry *entry)
{
    Printer p = {.out = out, .ctx = out->ctx};
    if (entry->doc)
        put_doc(out, entry->doc);
    put(&p, "entry ");
    put(&p, entry->name);
    for (int i = 0; i < entry->n_sizes; i++) {
        /* A size that no input shows is given, not inferred. */
        bool inferred = false;
        for (int k = 0; k < entry->n_inputs; k++)
            inferred |= type_mentions(entry->inputs[k]->type, entry->sizes[i]);
        put(&p, inferred ? " {" : " (");
        put(&p, bind(&p, NULL, entry->sizes[i], entry->sizes[i]->name));
        put(&p, inferred ? ": nat}" : ": nat)");
    }
    for (int i = 0; i < entry->n_inputs; i++) {
        const CoreVar *var = entry->inputs[i];
        const char *name = bind(&p, var, var->nat, var->name);
        if (column(&p) > WIDTH * 3 / 4)
            put_line(&p, 2 * INDENT);
        else
            put(&p, " ");
        put(&p, "(");
        put(&p, name);
        put(&p, ": ");
        put_type(&p, var->type);
        put(&p, ")");
    }
    put(&p, ": ");
    put_type(&p, entry->result);
    for (int i = 0; i < entry->n_facts; i++) {
        if (i == 0) {
            put_line(&p, INDENT);
            put(&p, "where ");
        } else {
            put(&p, ", ");
        }
        put_term(&p, entry->facts[i], PREC_OR, INDENT);
    }
    if (entry->exact) {
        put_line(&p, INDENT);
        put(&p, "exact");
    }
    struct { const char *name; Nat nat; } launch[] = {
        {"blocks", entry->launch_blocks}, {"threads", entry->launch_threads}, {"minBlocks", entry->launch_min_blocks}};
    const char *before = NULL;
    for (size_t i = 0; i < sizeof launch / sizeof launch[0]; i++)
        if (launch[i].nat) {
            if (!before)
                put_line(&p, INDENT);
            put(&p, before ? before : "launch [");
            put(&p, launch[i].name);
            put(&p, " = ");
            put_nat(&p, launch[i].nat, PREC_LOWEST);
            before = ", ";
        }
    put(&p, before ? "] =" : " =");
    put_line(&p, INDENT);
    put_term(&p, entry->body, PREC_LOWEST, INDENT);
    put(&p, "\n");
}
