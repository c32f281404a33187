/* Prints a syntax tree as RISE text that parses to the same tree (AST_ERROR apart). Parentheses stand only where the grammar needs
 * them, or where a reader or a warning would. Recursion is bounded by the height of the tree. */
#include <inttypes.h>

#include "frontend/ast.h"

/* Precedence, low to high: as in grammar/rise.y. */
enum {
    P_LOW, /* fun, let, if */
    P_SEQ, P_ORELSE, P_AT,
    P_ARROW, P_PIPE, P_OR, P_AND, P_EQUAL, P_ORDER, P_COMPOSE, P_SUM, P_PRODUCT, P_PREFIX, P_POWER,
    P_POSTFIX /* and all that ends in a bracket */
};

static int op_level(AstOp op)
{
    switch (op) {
    case OP_ADD: case OP_SUB: return P_SUM;
    case OP_MUL: case OP_DIV: case OP_MOD: return P_PRODUCT;
    case OP_POW: return P_POWER;
    case OP_EQ: case OP_NE: return P_EQUAL;
    case OP_LT: case OP_LE: case OP_GT: case OP_GE: return P_ORDER;
    case OP_AND: return P_AND;
    case OP_OR: return P_OR;
    case OP_NEG: case OP_NOT: return P_PREFIX;
    }
    return P_POSTFIX;
}

static int level_of(const Ast *ast)
{
    switch (ast->kind) {
    case AST_LAMBDA: case AST_LET: case AST_IF: return P_LOW;
    case AST_SEQ: return P_SEQ;
    case AST_ORELSE: return P_ORELSE;
    case AST_AT: return P_AT;
    case AST_LABEL: return P_PREFIX;
    case AST_ARROW: return P_ARROW;
    case AST_PIPE: return P_PIPE;
    case AST_COMPOSE: return P_COMPOSE;
    case AST_UNARY: case AST_BINARY: return op_level(ast->bin.op);
    case AST_ERROR: case AST_NAME: case AST_INT: case AST_FLOAT: case AST_CALL: case AST_NAMED: case AST_BRACKET: case AST_DOT:
    case AST_BINDER: case AST_TUPLE: case AST_OPFUN: case AST_UNROLL: case AST_LIST: return P_POSTFIX;
    }
    return P_POSTFIX;
}

static void put(StrBuf *out, const Ast *ast, bool dot_follows);

static void put_parens(StrBuf *out, const Ast *ast)
{
    sb_putc(out, '(');
    put(out, ast, false);
    sb_putc(out, ')');
}

/* As an operand that binds at least as tightly as `level`. */
static void put_at(StrBuf *out, const Ast *ast, int level)
{
    if (level_of(ast) < level)
        put_parens(out, ast);
    else
        put(out, ast, false);
}

static void put_items(StrBuf *out, int n, Ast *const *items, const char *const *names)
{
    for (int i = 0; i < n; i++) {
        if (i)
            sb_puts(out, ", ");
        if (names && names[i])
            sb_printf(out, "%s = ", names[i]);
        put(out, items[i], false);
    }
}

static void put_binary(StrBuf *out, const Ast *ast)
{
    int level = op_level(ast->bin.op), lhs = level, rhs = level + 1;
    if (level == P_EQUAL || level == P_ORDER)
        lhs = level + 1;
    if (level == P_POWER)
        lhs = P_POSTFIX, rhs = P_POWER;
    put_at(out, ast->bin.lhs, lhs);
    sb_printf(out, " %s ", ast_op_text(ast->bin.op));
    put_at(out, ast->bin.rhs, rhs);
}

/* `--` would start a comment. */
static void put_unary(StrBuf *out, const Ast *ast)
{
    const Ast *operand = ast->bin.lhs;
    sb_puts(out, ast->bin.op == OP_NEG ? "-" : "not ");
    if (ast->bin.op == OP_NEG && operand->kind == AST_UNARY && operand->bin.op == OP_NEG)
        put_parens(out, operand);
    else
        put_at(out, operand, P_PREFIX);
}

/* Where only a type may stand: the postfix chain and arrows. */
static void put_type(StrBuf *out, const Ast *ast)
{
    if (ast->kind == AST_ARROW || level_of(ast) == P_POSTFIX)
        put(out, ast, false);
    else
        put_parens(out, ast);
}

/* The function of a call, the left of a dot: whatever a bracket or dot may follow. */
static void put_head(StrBuf *out, const Ast *ast, bool dot_follows)
{
    if (level_of(ast) < P_POSTFIX || ast->kind == AST_BINDER || (ast->kind == AST_FLOAT && dot_follows))
        put_parens(out, ast);
    else
        put(out, ast, dot_follows);
}

/* `1.2` is a float, unless a dot follows; and then, as in `1.2.f32`, it is two integers. */
static void put_dot(StrBuf *out, const Ast *ast, bool dot_follows)
{
    const Ast *lhs = ast->bin.lhs, *rhs = ast->bin.rhs;
    if (lhs->kind == AST_INT && rhs->kind == AST_INT && !dot_follows)
        put_parens(out, lhs);
    else
        put_head(out, lhs, true);
    sb_putc(out, '.');
    if (rhs->kind == AST_NAME || rhs->kind == AST_INT || rhs->kind == AST_TUPLE)
        put(out, rhs, false);
    else
        put_parens(out, rhs);
}

static void put_unroll(StrBuf *out, const Ast *ast)
{
    const Ast *list = ast->unroll.list;
    sb_printf(out, "unroll %s in ", ast->unroll.name);
    if (list->kind == AST_LIST || (list->kind == AST_CALL && list->call.fn->kind == AST_NAME))
        put(out, list, false);
    else
        put_parens(out, list);
    sb_putc(out, ' ');
    put_parens(out, ast->unroll.fn);
}

static void put(StrBuf *out, const Ast *ast, bool dot_follows)
{
    switch (ast->kind) {
    case AST_ERROR: sb_puts(out, "<error>"); break;
    case AST_NAME: sb_puts(out, ast->name.text); break;
    case AST_INT: sb_printf(out, "%" PRIu64 "%s", ast->integer.value, ast->integer.suffix ? ast->integer.suffix : ""); break;
    case AST_FLOAT: sb_printf(out, "%s%s", ast->floating.text, ast->floating.suffix ? ast->floating.suffix : ""); break;
    case AST_CALL:
    case AST_NAMED:
    case AST_BRACKET:
        put_head(out, ast->call.fn, false);
        sb_putc(out, ast->kind == AST_CALL ? '(' : ast->kind == AST_NAMED ? '{' : '[');
        put_items(out, ast->call.n, ast->call.items, ast->call.names);
        sb_putc(out, ast->kind == AST_CALL ? ')' : ast->kind == AST_NAMED ? '}' : ']');
        break;
    case AST_DOT: put_dot(out, ast, dot_follows); break;
    case AST_UNARY: put_unary(out, ast); break;
    case AST_BINARY: put_binary(out, ast); break;
    case AST_PIPE:
        put_at(out, ast->bin.lhs, P_PIPE);
        sb_puts(out, " |> ");
        if (ast->bin.rhs->kind == AST_BINARY) /* else E0121 */
            put_parens(out, ast->bin.rhs);
        else
            put_at(out, ast->bin.rhs, P_OR);
        break;
    case AST_COMPOSE:
        put_at(out, ast->bin.lhs, P_COMPOSE);
        sb_puts(out, " >> ");
        put_at(out, ast->bin.rhs, P_SUM);
        break;
    case AST_ARROW: /* also where only a type may stand */
        put_at(out, ast->bin.lhs, P_POSTFIX);
        sb_puts(out, " -> ");
        put_type(out, ast->bin.rhs);
        break;
    case AST_BINDER:
        sb_printf(out, ast->binder.param->implicit ? "{%s: " : "(%s: ", ast->binder.param->name ? ast->binder.param->name : "_");
        put_type(out, ast->binder.param->kind);
        sb_putc(out, ast->binder.param->implicit ? '}' : ')');
        break;
    case AST_TUPLE:
    case AST_LIST:
        sb_putc(out, ast->kind == AST_TUPLE ? '(' : '[');
        put_items(out, ast->list.n, ast->list.items, NULL);
        sb_putc(out, ast->kind == AST_TUPLE ? ')' : ']');
        break;
    case AST_OPFUN: sb_printf(out, "(%s)", ast_op_text(ast->bin.op)); break;
    case AST_LAMBDA:
        sb_puts(out, "fun");
        for (int i = 0; i < ast->lambda.n; i++) {
            const Pattern *param = &ast->lambda.params[i];
            sb_puts(out, param->type ? " (" : " ");
            ast_print_pattern(out, param);
            if (param->type)
                sb_putc(out, ')');
        }
        sb_puts(out, " => ");
        put(out, ast->lambda.body, false);
        break;
    case AST_LET:
        sb_puts(out, "let ");
        ast_print_pattern(out, ast->let.pattern);
        sb_puts(out, " = ");
        put(out, ast->let.value, false);
        sb_puts(out, " in ");
        put(out, ast->let.body, false);
        break;
    case AST_IF:
        sb_puts(out, "if ");
        put(out, ast->cond.cond, false);
        sb_puts(out, " then ");
        put(out, ast->cond.then, false);
        sb_puts(out, " else ");
        put(out, ast->cond.otherwise, false);
        break;
    case AST_UNROLL: put_unroll(out, ast); break;
    case AST_SEQ:
        put_at(out, ast->bin.lhs, P_SEQ);
        sb_puts(out, " ; ");
        put_at(out, ast->bin.rhs, P_ORELSE);
        break;
    case AST_ORELSE:
        put_at(out, ast->bin.lhs, P_ORELSE);
        sb_puts(out, " <+ ");
        put_at(out, ast->bin.rhs, P_AT);
        break;
    case AST_AT:
        put_at(out, ast->at.what, P_AT);
        sb_puts(out, " at");
        for (int i = 0; i < ast->at.n; i++)
            sb_printf(out, ast->at.words[i].label ? " #%s" : " %s", ast->at.words[i].text);
        break;
    case AST_LABEL:
        sb_printf(out, "#%s ", ast->label.name);
        put_at(out, ast->label.operand, P_PREFIX);
        break;
    }
}

void ast_print(StrBuf *out, const Ast *ast) { put(out, ast, false); }

static void put_pattern(StrBuf *out, const Pattern *pattern, bool parens)
{
    parens = parens && pattern->type;
    if (parens)
        sb_putc(out, '(');
    if (pattern->n_items) {
        sb_putc(out, '(');
        for (int i = 0; i < pattern->n_items; i++) {
            if (i)
                sb_puts(out, ", ");
            put_pattern(out, &pattern->items[i], false);
        }
        sb_putc(out, ')');
    } else {
        sb_puts(out, pattern->name ? pattern->name : "_");
    }
    if (pattern->type) {
        sb_puts(out, ": ");
        put_type(out, pattern->type);
    }
    if (parens)
        sb_putc(out, ')');
}

/* A side that would end the equation early stands in parentheses. */
static void put_side(StrBuf *out, const Ast *side)
{
    if (side->kind == AST_LAMBDA || side->kind == AST_LET || side->kind == AST_IF || (side->kind == AST_BINARY && side->bin.op == OP_EQ))
        put_parens(out, side);
    else
        put(out, side, false);
}

void ast_print_equation(StrBuf *out, const Ast *equation)
{
    put_side(out, equation->bin.lhs);
    sb_puts(out, " == ");
    put_side(out, equation->bin.rhs);
}

void ast_print_pattern(StrBuf *out, const Pattern *pattern) { put_pattern(out, pattern, false); }

/* ---- items ---------------------------------------------------------------------------------------------------------- */

/* Parameters that were written in one group share the tree of their type. */
static bool same_group(const Param *a, const Param *b)
{
    return a->kind && a->kind == b->kind && a->implicit == b->implicit && a->def == b->def && !a->pattern.n_items && !b->pattern.n_items;
}

static void put_params(StrBuf *out, int n, const Param *params)
{
    for (int i = 0; i < n; i++) {
        const Param *param = &params[i];
        sb_puts(out, param->implicit ? " {" : " (");
        put_pattern(out, &param->pattern, false);
        while (i + 1 < n && same_group(param, &params[i + 1])) {
            sb_putc(out, ' ');
            put_pattern(out, &params[++i].pattern, false);
        }
        if (param->kind) {
            sb_puts(out, ": ");
            put_type(out, param->kind);
        }
        if (param->def) {
            sb_puts(out, " = ");
            put(out, param->def, false);
        }
        if (param->candidates) {
            sb_puts(out, " in ");
            put(out, param->candidates, false);
        }
        sb_putc(out, param->implicit ? '}' : ')');
    }
}

static void put_expect(StrBuf *out, const Expect *e)
{
    sb_puts(out, e->subject ? "\n  expect " : "\n  expect [");
    if (e->subject) {
        put(out, e->subject, false);
        sb_puts(out, " == ");
        put(out, e->wanted, false);
    } else {
        put_items(out, e->n, e->conditions, NULL);
        sb_putc(out, ']');
    }
    for (int i = 0; i < e->n_given; i++) {
        sb_puts(out, i ? ", " : " for ");
        if (e->given[i].name)
            sb_printf(out, "%s = ", e->given[i].name);
        put(out, e->given[i].value, false);
    }
}

static void put_clauses(StrBuf *out, const Item *item)
{
    if (item->lowered) {
        sb_puts(out, " lowered by ");
        put_at(out, item->lowered, P_POSTFIX);
    }
    if (item->level)
        sb_printf(out, " level %s", item->level);
    if (item->exact)
        sb_puts(out, " exact");
    for (int i = 0; i < item->n_accepts; i++)
        sb_printf(out, "%s%s%s", i ? ", " : " accept [", diag_code_name(item->accepts[i]), i + 1 < item->n_accepts ? "" : "]");
    if (item->n_launch) {
        sb_puts(out, " launch [");
        for (int i = 0; i < item->n_launch; i++) {
            sb_printf(out, i ? ", %s = " : "%s = ", item->launch[i].name);
            put(out, item->launch[i].value, false);
        }
        sb_putc(out, ']');
    }
    if (item->n_where) {
        sb_puts(out, "\n  where ");
        put_items(out, item->n_where, item->where, NULL);
    }
    for (int i = 0; i < item->n_expects; i++)
        put_expect(out, &item->expects[i]);
    if (item->unit) {
        sb_puts(out, "\n  unit ");
        put(out, item->unit, false);
    }
    for (int i = 0; i < item->n_laws; i++) {
        sb_puts(out, i || item->unit ? ", " : "\n  ");
        sb_puts(out, item->laws[i].name);
        if (item->laws[i].within) {
            sb_puts(out, " within ");
            put(out, item->laws[i].within, false);
        }
    }
}

static void put_doc(StrBuf *out, const char *doc)
{
    while (doc) {
        const char *end = strchr(doc, '\n');
        size_t n = end ? (size_t)(end - doc) : strlen(doc);
        sb_puts(out, "--| ");
        sb_putn(out, doc, n);
        sb_putc(out, '\n');
        doc = end ? end + 1 : NULL;
    }
}

static void put_body(StrBuf *out, const Ast *body)
{
    sb_puts(out, " =\n  ");
    for (; body->kind == AST_LET; body = body->let.body) {
        sb_puts(out, "let ");
        ast_print_pattern(out, body->let.pattern);
        sb_puts(out, " = ");
        put(out, body->let.value, false);
        sb_puts(out, " in\n  ");
    }
    put(out, body, false);
}

void ast_print_item(StrBuf *out, const Item *item)
{
    put_doc(out, item->doc);
    switch (item->kind) {
    case ITEM_DEF: sb_puts(out, "def "); break;
    case ITEM_ENTRY: sb_puts(out, "entry "); break;
    case ITEM_OPERATOR: sb_puts(out, "operator "); break;
    case ITEM_RULE: sb_puts(out, "rule "); break;
    case ITEM_STRATEGY: sb_puts(out, "strategy "); break;
    case ITEM_IMPORT: sb_printf(out, item->is_file ? "import \"%s\"\n" : "import %s\n", item->path ? item->path : ""); return;
    case ITEM_ERROR: sb_printf(out, "-- an item with a mistake in its header: %s\n", item->name ? item->name : "no name"); return;
    }
    sb_puts(out, item->name ? item->name : "_");
    put_params(out, item->n_params, item->params);
    if (item->result) {
        sb_puts(out, ": ");
        put_type(out, item->result);
    }
    if (item->kind == ITEM_RULE && item->body) {
        sb_puts(out, ":\n  ");
        ast_print_equation(out, item->body);
    }
    put_clauses(out, item);
    if (item->body && item->kind != ITEM_RULE)
        put_body(out, item->body);
    sb_putc(out, '\n');
}

void ast_print_file(StrBuf *out, const AstFile *file)
{
    for (int i = 0; i < file->items.n; i++) {
        bool imports = i > 0 && file->items.at[i]->kind == ITEM_IMPORT && file->items.at[i - 1]->kind == ITEM_IMPORT;
        if (i && !imports)
            sb_putc(out, '\n');
        ast_print_item(out, file->items.at[i]);
    }
}
