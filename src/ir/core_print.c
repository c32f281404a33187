/* Core as RISE text. What is printed parses and elaborates to the same core, up to the names of bound variables.
 *
 * Each term is first tried on the rest of the line; where it does not fit it is broken, its parts tried again. A try gives up at
 * the margin, so the cost is the size of the term times the width. */
#include <math.h>

#include "ir/core_print_internal.h"
#include "ir/scalar.h"

static void unbind_to(Printer *p, int n);

/* ---- writing ---------------------------------------------------------------------------------------------------- */

void print_text(Printer *p, const char *text)
{
    if (p->failed)
        return;
    sb_puts(p->out, text);
    if (p->flat && p->out->len > p->end)
        p->failed = true;
}

void print_line(Printer *p, int indent)
{
    if (p->flat) {
        p->failed = true;
        return;
    }
    sb_putc(p->out, '\n');
    for (int i = 0; i < indent; i++)
        sb_putc(p->out, ' ');
}

size_t print_column(const Printer *p)
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
    size_t start = p->out->len, at = print_column(p);
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
    "pow2", "numSM", "maxResident", "halving", "unit", "level", "lowered", "by", "at", "expect", "accept", "associative", "commutative",
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
    const NameUse *use = table_get(&p->names, intern_z(p->ctx, name));
    return use && use->called > 0;
}

static NameUse *use_of(Printer *p, const char *name)
{
    const char *key = intern_z(p->ctx, name);
    NameUse *use = table_get(&p->names, key);
    if (!use) {
        use = NEW(p->ctx, NameUse);
        *use = (NameUse){0};
        table_put(p->ctx, &p->names, key, use);
    }
    return use;
}

const char *print_bind(Printer *p, const CoreVar *var, Nat nat, const char *wanted)
{
    const char *base = is_name(wanted) ? wanted : "x";
    NameUse *wanted_use = use_of(p, base);
    int same = wanted_use->wanted++; /* a long chain of `x` finds its next number at once */
    const char *name = same ? ctx_printf(p->ctx, "%s_%d", base, same) : base;
    for (int k = same + 1; is_taken(p, name); k++)
        name = ctx_printf(p->ctx, "%s_%d", base, k);
    use_of(p, name)->called++;
    const char *hidden = var ? table_get(&p->called, var) : NULL;
    if (var)
        table_put(p->ctx, &p->called, var, (void *)name);
    vec_push(p->ctx, &p->scope, (Binding){var, nat, name, base, hidden});
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
        use_of(p, b.name)->called--;
        use_of(p, b.base)->wanted--;
        if (b.var)
            table_put(p->ctx, &p->called, b.var, (void *)b.hidden);
        if (b.nat && p->renamed.n > 0 && p->renamed.at[p->renamed.n - 1] == b.nat) {
            p->renamed.n--;
            p->renamed_to.n--;
        }
    }
}

static const char *name_of(const Printer *p, const CoreVar *var)
{
    const char *name = table_get(&p->called, var);
    if (name)
        return name;
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

void print_nat(Printer *p, Nat nat, Prec prec)
{
    if (p->failed)
        return;
    if (p->renamed.n)
        nat = nat_subst_many(p->ctx, nat, p->renamed.n, p->renamed.at, p->renamed_to.at);
    const char *text = nat_text(p->ctx, nat);
    bool parens = prec > PREC_LOWEST && !is_atom_text(text);
    print_text(p, parens ? "(" : "");
    print_text(p, text);
    print_text(p, parens ? ")" : "");
}

void print_type(Printer *p, Type type)
{
    if (p->failed)
        return;
    if (p->renamed.n)
        type = type_subst(p->ctx, type, p->renamed.n, p->renamed.at, p->renamed_to.at);
    type_print(p->out, type);
    print_text(p, "");
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

static void put_literal(Printer *p, const Core *term, ScalarValue v, Prec prec)
{
    StrBuf text;
    sb_init(&text, p->ctx);
    if (term->type->kind == TY_IDX)
        sb_printf(&text, "%lld", (long long)v.i);
    else
        scalar_value_print(&text, v);
    bool parens = text.text[0] == '-' && prec > PREC_PREFIX;
    print_text(p, parens ? "(" : "");
    print_text(p, text.text);
    print_text(p, parens ? ")" : "");
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
        print_nat(p, term->size, prec >= PREC_PRODUCT ? prec : PREC_LOWEST);
    else if (sizes && term->kind == CORE_LIT && !scalar_is_float(term->lit.type))
        print_text(p, ctx_printf(p->ctx, "%lld", (long long)term->lit.i));
    else
        print_term(p, term, prec, indent);
}

static void put_infix(Printer *p, const Core *term, Prec prec, int indent)
{
    Prec own = infix_prec(term->prim.id);
    bool sizes = is_size_comparison(term);
    bool parens = own < prec;
    /* Equality and order do not associate. */
    bool left = own != PREC_EQUAL && own != PREC_LESS;
    print_text(p, parens ? "(" : "");
    put_operand(p, term->prim.args[0], left ? own : own + 1, indent, sizes);
    if (!p->flat && print_column(p) > WIDTH * 3 / 4)
        print_line(p, indent + INDENT);
    else
        print_text(p, " ");
    print_text(p, prim_name(term->prim.id));
    print_text(p, " ");
    put_operand(p, term->prim.args[1], own + 1, indent, sizes);
    print_text(p, parens ? ")" : "");
}

/* ---- lambdas ---------------------------------------------------------------------------------------------------- */

/* `fun a b => a + b` is `(+)`, `fun x => join(x)` is `join`: the body is a primitive of just the parameters. */
static bool is_eta(const Core *lambda)
{
    const Core *body = lambda->lambda.body;
    if (lambda->lambda.n_nats || body->label || body->kind != CORE_PRIM || body->prim.n_args != lambda->lambda.n || body->prim.id == P_cast)
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
    if (term->lambda.op) {
        print_text(p, term->lambda.op->name);
        return;
    }
    if (is_eta(term)) {
        PrimId id = term->lambda.body->prim.id;
        bool word = infix_prec(id) == PREC_LOWEST && id != P_not;
        print_text(p, word ? "" : "(");
        print_text(p, prim_name(id));
        print_text(p, word ? "" : ")");
        return;
    }
    int scope = p->scope.n;
    print_text(p, prec > PREC_LOWEST ? "(fun" : "fun");
    for (int i = 0; i < term->lambda.n_nats; i++) {
        print_text(p, " (");
        print_text(p, print_bind(p, NULL, term->lambda.nats[i], term->lambda.nats[i]->name));
        print_text(p, ": nat)");
    }
    for (int i = 0; i < term->lambda.n; i++) {
        const CoreVar *var = term->lambda.params[i];
        print_text(p, " (");
        print_text(p, print_bind(p, var, var->nat, var->name));
        print_text(p, ": ");
        print_type(p, var->type);
        print_text(p, ")");
    }
    print_text(p, " =>");
    if (p->flat) {
        print_text(p, " ");
        print_term(p, term->lambda.body, PREC_LOWEST, indent);
    } else {
        print_line(p, indent + INDENT);
        print_term(p, term->lambda.body, PREC_LOWEST, indent + INDENT);
    }
    print_text(p, prec > PREC_LOWEST ? ")" : "");
    unbind_to(p, scope);
}

/* ---- primitives ------------------------------------------------------------------------------------------------- */

/* Its body is a size, not a value of a type. */
static void put_place(Printer *p, const Core *place)
{
    int scope = p->scope.n;
    const CoreVar *var = place->lambda.params[0];
    print_text(p, "place = fun ");
    print_text(p, print_bind(p, var, var->nat, var->name));
    print_text(p, " => ");
    print_nat(p, place->lambda.body->size, PREC_LOWEST);
    unbind_to(p, scope);
}

static void put_options(Printer *p, const Core *term)
{
    const PrimOptions *o = &term->prim.options;
    const char *before = "[";
    if (o->axis) {
        print_text(p, o->axis == 1 ? "[y" : "[z");
        before = ", ";
    }
    struct { const char *name; Nat nat; } nats[] = {
        {"pad", o->pad}, {"lanes", o->lanes}, {"blocks", o->blocks}, {"threads", o->threads}, {"minBlocks", o->min_blocks}};
    for (size_t i = 0; i < sizeof nats / sizeof nats[0]; i++)
        if (nats[i].nat) {
            print_text(p, before);
            print_text(p, nats[i].name);
            print_text(p, " = ");
            print_nat(p, nats[i].nat, PREC_LOWEST);
            before = ", ";
        }
    struct { const char *name; bool given; } flags[] = {{"swizzle", o->swizzle}, {"inPlace", o->in_place}, {"prefetch", o->prefetch}, {"once", o->once}};
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
        if (flags[i].given) {
            print_text(p, before);
            print_text(p, flags[i].name);
            before = ", ";
        }
    if (o->place) {
        print_text(p, before);
        put_place(p, o->place);
        before = ", ";
    }
    print_text(p, before[0] == ',' ? "]" : "");
}

static bool is_nat_param(const Param *param)
{
    return ast_is_nat(param->kind);
}

/* name[options]{implicit}(arguments); without the last `skip` arguments. */
static void put_call(Printer *p, const Core *term, int skip, int indent)
{
    PrimId id = term->prim.id;
    const Item *header = prim_header(p->ctx, id);
    bool word = infix_prec(id) == PREC_LOWEST && id != P_not;
    print_text(p, word ? "" : "(");
    print_text(p, prim_name(id));
    print_text(p, word ? "" : ")");
    put_options(p, term);
    const char *before = "{";
    int nat = 0, arg = 0;
    if (id == P_generate || id == P_iterate) { /* their sizes follow from no argument */
        for (int i = 0; i < header->n_params && nat < term->prim.n_nats; i++) {
            const Param *param = &header->params[i];
            if (!is_nat_param(param))
                continue;
            if (param->implicit) {
                print_text(p, before);
                print_text(p, param->name);
                print_text(p, " = ");
                print_nat(p, term->prim.nats[nat], PREC_LOWEST);
                before = ", ";
            }
            nat++;
        }
        const Type elem = term->type->kind == TY_ARRAY ? term->type->elem : NULL;
        if (id == P_generate && elem && elem->kind == TY_IDX && elem->size != term->prim.nats[0]) {
            /* Only the use that it was made for says the range of such an index. */
            print_text(p, ", t = ");
            print_type(p, elem);
        }
        print_text(p, before[0] == ',' ? "}" : "");
    }
    if (id == P_cast) {
        print_text(p, "(");
        print_type(p, term->prim.cast_type);
        print_text(p, ")");
    }
    before = "(";
    nat = 0;
    size_t start = p->out->len;
    for (int i = 0; i < header->n_params; i++) {
        const Param *param = &header->params[i];
        if (is_nat_param(param)) {
            if (!param->implicit && nat < term->prim.n_nats) {
                print_text(p, before);
                print_nat(p, term->prim.nats[nat], PREC_LOWEST);
                before = ", ";
            }
            nat++;
        } else if (!param->implicit) {
            if (arg < term->prim.n_args - skip) {
                if (before[0] == ',' && !p->flat && strchr(p->out->text + start, '\n')) {
                    /* What stood behind a function of several lines would be overlooked. */
                    print_text(p, ",");
                    print_line(p, indent);
                } else {
                    print_text(p, before);
                }
                print_term(p, term->prim.args[arg], PREC_LOWEST, indent);
                before = ", ";
            }
            arg++;
        }
    }
    print_text(p, before[0] == ',' ? ")" : "");
}

/* Is there something to compute, outside of functions? */
static bool is_computed(const Core *term)
{
    if (term->kind == CORE_LET || term->kind == CORE_IF)
        return true;
    if (term->kind == CORE_PROJ)
        return is_computed(term->proj.value);
    if (term->kind != CORE_PRIM)
        return false;
    bool computed = prim_rows[term->prim.id].level != LEVEL_VIEW;
    for (int i = 0; i < term->prim.n_args && !computed; i++)
        computed = is_computed(term->prim.args[i]);
    return computed;
}

/* Written `x |> f(...)`: what takes one array and gives what becomes of it. Another array that is computed, and goes in as it is, would be bound by
 * `let` if it were given to f before x is. */
static bool is_stage(const Core *term)
{
    for (int i = 0; term->kind == CORE_PRIM && i < term->prim.n_args - 1; i++)
        if (term->prim.args[i]->type->kind == TY_ARRAY && is_computed(term->prim.args[i]))
            return false;
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
    if (term->label)
        print_text(p, ctx_printf(p->ctx, "#%s ", term->label));
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
    print_text(p, parens ? "(" : "");
    int inner = indent + (parens ? 1 : 0);
    print_term(p, term, PREC_PIPE, inner);
    for (int i = stages.n - 1; i >= 0; i--) {
        if (p->flat)
            print_text(p, " ");
        else
            print_line(p, inner + INDENT);
        print_text(p, "|> ");
        put_fitting(p, stages.at[i], put_stage, PREC_PIPE, inner + INDENT + 3);
    }
    print_text(p, parens ? ")" : "");
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
        print_text(p, parens ? "(" : "");
        print_text(p, term->prim.id == P_not ? "not " : "-");
        print_term(p, term->prim.args[0], PREC_POSTFIX, indent);
        print_text(p, parens ? ")" : "");
        return;
    }
    if (term->prim.id == P_index) {
        print_term(p, term->prim.args[0], PREC_POSTFIX, indent);
        print_text(p, "[");
        print_nat(p, term->prim.nats[term->prim.n_nats - 1], PREC_LOWEST);
        print_text(p, "]");
        return;
    }
    if (is_stage(term))
        put_pipeline(p, term, prec, indent);
    else
        put_call(p, term, 0, indent);
}

/* ---- terms ------------------------------------------------------------------------------------------------------ */

/* An `if` between indices says by itself of no array that they are its indices. */
static bool needs_type(const Core *value)
{
    while (value->kind == CORE_LET)
        value = value->let.body;
    return value->kind == CORE_IF && value->type->kind == TY_IDX;
}

/* `let`s in a row are one loop, however many. */
static void put_lets(Printer *p, const Core *term, Prec prec, int indent)
{
    int scope = p->scope.n;
    print_text(p, prec > PREC_LOWEST ? "(" : "");
    if (prec > PREC_LOWEST)
        indent++;
    for (; term->kind == CORE_LET; term = term->let.body) {
        /* The value does not see the variable, but its own binders must not take the name that is written before it. */
        const char *name = print_bind(p, term->let.var, term->let.var->nat, term->let.var->name);
        print_text(p, "let ");
        print_text(p, name);
        if (needs_type(term->let.value)) {
            print_text(p, ": ");
            print_type(p, term->let.value->type);
        }
        print_text(p, " = ");
        print_term(p, term->let.value, PREC_PIPE, indent + INDENT);
        print_text(p, " in");
        if (p->flat)
            print_text(p, " ");
        else
            print_line(p, indent);
    }
    print_term(p, term, PREC_LOWEST, indent);
    print_text(p, prec > PREC_LOWEST ? ")" : "");
    unbind_to(p, scope);
}

static void put_if(Printer *p, const Core *term, Prec prec, int indent)
{
    bool parens = prec > PREC_LOWEST;
    print_text(p, parens ? "(if " : "if ");
    print_term(p, term->cond.cond, PREC_PIPE, indent + INDENT);
    const Core *branches[2] = {term->cond.then, term->cond.otherwise};
    for (int i = 0; i < 2; i++) {
        if (p->flat)
            print_text(p, " ");
        else
            print_line(p, indent);
        print_text(p, i == 0 ? "then " : "else ");
        /* `else c |> f` pipes only c, so a branch may be anything but another open end. */
        print_term(p, branches[i], i == 0 ? PREC_PIPE : PREC_LOWEST, indent + INDENT);
    }
    print_text(p, parens ? ")" : "");
}

static void put_broken(Printer *p, const Core *term, Prec prec, int indent);

/* `#name e`; a stage of a pipeline has its label there: `xs |> #name map(f)`. */
static void put_labelled(Printer *p, const Core *term, Prec prec, int indent)
{
    Core bare = *term;
    bare.label = NULL;
    print_text(p, prec > PREC_PREFIX ? "(#" : "#");
    print_text(p, term->label);
    print_text(p, " ");
    put_broken(p, &bare, PREC_PREFIX, indent);
    print_text(p, prec > PREC_PREFIX ? ")" : "");
}

static void put_broken(Printer *p, const Core *term, Prec prec, int indent)
{
    if (term->label && !is_stage(term)) {
        put_labelled(p, term, prec, indent);
        return;
    }
    switch (term->kind) {
    case CORE_VAR:
        print_text(p, name_of(p, term->var));
        return;
    case CORE_LIT:
        put_literal(p, term, term->lit, prec);
        return;
    case CORE_SIZE:
        if (term->type->kind == TY_IDX) {
            print_nat(p, term->size, prec);
        } else if (nat_is_const(term->size) && term->type->kind == TY_SCALAR) {
            put_literal(p, term, scalar_cast(term->type->scalar, scalar_int(SC_I64, term->size->value)), prec);
        } else {
            print_text(p, "cast(");
            print_type(p, term->type);
            print_text(p, ")(");
            print_nat(p, term->size, PREC_LOWEST);
            print_text(p, ")");
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
        print_text(p, "(");
        for (int i = 0; i < term->tuple.n; i++) {
            if (i && p->flat)
                print_text(p, ", ");
            else if (i) {
                print_text(p, ",");
                print_line(p, indent + 1);
            }
            print_term(p, term->tuple.items[i], PREC_LOWEST, indent + 1);
        }
        print_text(p, ")");
        return;
    case CORE_PROJ:
        print_term(p, term->proj.value, PREC_POSTFIX, indent);
        print_text(p, ctx_printf(p->ctx, ".%d", term->proj.index + 1));
        return;
    case CORE_IF:
        put_if(p, term, prec, indent);
        return;
    case CORE_UNIT_ERROR:
        print_text(p, "<error>");
        return;
    }
}

void print_term(Printer *p, const Core *term, Prec prec, int indent) { put_fitting(p, term, put_broken, prec, indent); }

void core_print(StrBuf *out, const Core *term)
{
    Printer p = {.out = out, .ctx = out->ctx};
    print_term(&p, term, PREC_LOWEST, (int)print_column(&p));
}

void core_print_lines(StrBuf *out, const Core *term)
{
    Printer p = {.out = out, .ctx = out->ctx};
    put_broken(&p, term, PREC_LOWEST, (int)print_column(&p));
}

/* On one line, however long it is: what stands around it breaks it. */
static void print_unbroken(StrBuf *out, const Core *term, int prec)
{
    StrBuf text;
    sb_init(&text, out->ctx);
    Printer p = {.out = &text, .ctx = out->ctx};
    print_term(&p, term, prec, 0);
    for (size_t i = 0; i < text.len; i++) {
        const bool breaks = text.text[i] == '\n';
        sb_putc(out, breaks ? ' ' : text.text[i]);
        while (breaks && text.text[i + 1] == ' ')
            i++;
    }
}

void core_print_test(StrBuf *out, const Core *test, bool holds)
{
    Core turned = *test;
    bool of_sizes = test->kind == CORE_PRIM && prim_compares(test->prim.id) && test->prim.args[0]->kind == CORE_SIZE && test->prim.args[1]->kind == CORE_SIZE;
    if (test->kind == CORE_PRIM && test->prim.id == P_not) {
        core_print_test(out, test->prim.args[0], !holds);
        return;
    }
    if (!holds && !of_sizes) {
        sb_puts(out, "not (");
        print_unbroken(out, test, PREC_LOWEST);
        sb_puts(out, ")");
        return;
    }
    if (!holds)
        turned.prim.id = prim_opposite(test->prim.id);
    print_unbroken(out, &turned, PREC_AND);
}
