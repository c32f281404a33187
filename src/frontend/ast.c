/* Constructors of the syntax tree. Each sets the height, from which the parser knows when a tree becomes too high to walk. */
#include "frontend/ast.h"

#include "frontend/parse_internal.h"

const char *const place_picks[PICK_COUNT] = {"", "first", "last", "every", "innermost", "outermost"};

static int higher(int height, const Ast *child) { return child && child->height > height ? child->height : height; }

static int highest(int height, int n, Ast *const *children)
{
    for (int i = 0; i < n; i++)
        height = higher(height, children[i]);
    return height;
}

static int highest_pattern(int height, int n, const Pattern *patterns)
{
    for (int i = 0; i < n; i++)
        if (patterns[i].height > height)
            height = patterns[i].height;
    return height;
}

Ast *ast_new(Ctx *ctx, AstKind kind, Span span)
{
    Ast *ast = NEW(ctx, Ast);
    ast->kind = kind;
    ast->span = span;
    ast->height = 1;
    return ast;
}

Ast *ast_name(Ctx *ctx, Span span, const char *name)
{
    Ast *ast = ast_new(ctx, AST_NAME, span);
    ast->name.text = name;
    return ast;
}

Ast *ast_binary(Ctx *ctx, AstKind kind, Span span, AstOp op, Span op_span, Ast *lhs, Ast *rhs)
{
    Ast *ast = ast_new(ctx, kind, span);
    ast->bin.op = op;
    ast->bin.op_span = op_span;
    ast->bin.lhs = lhs;
    ast->bin.rhs = rhs;
    ast->height = 1 + higher(higher(0, lhs), rhs);
    return ast;
}

Ast *ast_opfun(Ctx *ctx, Span span, AstOp op, Span op_span)
{
    Ast *ast = ast_new(ctx, AST_OPFUN, span);
    ast->bin.op = op;
    ast->bin.op_span = op_span;
    return ast;
}

Ast *ast_call(Ctx *ctx, AstKind kind, Span span, Ast *fn, int n, Ast **items, const char **names, Span *name_spans)
{
    Ast *ast = ast_new(ctx, kind, span);
    ast->call.fn = fn;
    ast->call.n = n;
    ast->call.items = items;
    ast->call.names = names;
    ast->call.name_spans = name_spans;
    ast->height = 1 + highest(fn->height, n, items);
    return ast;
}

Ast *ast_items(Ctx *ctx, AstKind kind, Span span, int n, Ast **items)
{
    Ast *ast = ast_new(ctx, kind, span);
    ast->list.n = n;
    ast->list.items = items;
    ast->height = 1 + highest(0, n, items);
    return ast;
}

Ast *ast_binder(Ctx *ctx, Span span, Param *param)
{
    Ast *ast = ast_new(ctx, AST_BINDER, span);
    ast->binder.param = param;
    ast->height = 1 + higher(0, param->kind);
    return ast;
}

Ast *ast_lambda(Ctx *ctx, Span span, int n, Pattern *params, Ast *body)
{
    Ast *ast = ast_new(ctx, AST_LAMBDA, span);
    ast->lambda.n = n;
    ast->lambda.params = params;
    ast->lambda.body = body;
    ast->height = 1 + highest_pattern(body->height, n, params);
    return ast;
}

Ast *ast_let(Ctx *ctx, Span span, const Pattern *pattern, Ast *value, Ast *body)
{
    Ast *ast = ast_new(ctx, AST_LET, span);
    ast->let.pattern = NEW(ctx, Pattern);
    *ast->let.pattern = *pattern;
    ast->let.value = value;
    ast->let.body = body;
    ast->height = 1 + higher(highest_pattern(body->height, 1, pattern), value);
    return ast;
}

Ast *ast_if(Ctx *ctx, Span span, Ast *cond, Ast *then, Ast *otherwise)
{
    Ast *ast = ast_new(ctx, AST_IF, span);
    ast->cond.cond = cond;
    ast->cond.then = then;
    ast->cond.otherwise = otherwise;
    ast->height = 1 + higher(higher(cond->height, then), otherwise);
    return ast;
}

Ast *ast_unroll(Ctx *ctx, Span span, const char *name, Span name_span, Ast *list, Ast *fn)
{
    Ast *ast = ast_new(ctx, AST_UNROLL, span);
    ast->unroll.name = name;
    ast->unroll.name_span = name_span;
    ast->unroll.list = list;
    ast->unroll.fn = fn;
    ast->height = 1 + higher(list->height, fn);
    return ast;
}

Ast *ast_at(Ctx *ctx, Span span, Ast *what, int n, PlaceWord *words)
{
    Ast *ast = ast_new(ctx, AST_AT, span);
    ast->at.what = what;
    ast->at.n = n;
    ast->at.words = words;
    ast->height = 1 + what->height;
    return ast;
}

Ast *ast_label(Ctx *ctx, Span span, const char *name, Span name_span, Ast *operand)
{
    Ast *ast = ast_new(ctx, AST_LABEL, span);
    ast->label.name = name;
    ast->label.name_span = name_span;
    ast->label.operand = operand;
    ast->height = 1 + operand->height;
    return ast;
}

/* ---- walking ---------------------------------------------------------------------------------------------------- */

int ast_children(const Ast *ast)
{
    switch (ast->kind) {
    case AST_CALL: case AST_NAMED: case AST_BRACKET:
        return 1 + ast->call.n;
    case AST_DOT: case AST_BINARY: case AST_PIPE: case AST_COMPOSE: case AST_ARROW: case AST_SEQ: case AST_ORELSE: case AST_LET: case AST_UNROLL:
        return 2;
    case AST_UNARY: case AST_LAMBDA: case AST_AT: case AST_LABEL:
        return 1;
    case AST_TUPLE: case AST_LIST:
        return ast->list.n;
    case AST_IF:
        return 3;
    case AST_ERROR: case AST_NAME: case AST_INT: case AST_FLOAT: case AST_BINDER: case AST_OPFUN:
        break;
    }
    return 0;
}

const Ast *ast_child(const Ast *ast, int i)
{
    switch (ast->kind) {
    case AST_CALL: case AST_NAMED: case AST_BRACKET:
        return i == 0 ? ast->call.fn : ast->call.items[i - 1];
    case AST_LET:
        return i == 0 ? ast->let.value : ast->let.body;
    case AST_UNROLL:
        return i == 0 ? ast->unroll.list : ast->unroll.fn;
    case AST_LAMBDA:
        return ast->lambda.body;
    case AST_AT:
        return ast->at.what;
    case AST_LABEL:
        return ast->label.operand;
    case AST_TUPLE: case AST_LIST:
        return ast->list.items[i];
    case AST_IF:
        return i == 0 ? ast->cond.cond : i == 1 ? ast->cond.then : ast->cond.otherwise;
    default:
        return i == 0 ? ast->bin.lhs : ast->bin.rhs;
    }
}

const char *ast_op_text(AstOp op)
{
    switch (op) {
    case OP_ADD: return "+";
    case OP_SUB: return "-";
    case OP_MUL: return "*";
    case OP_DIV: return "/";
    case OP_MOD: return "%";
    case OP_POW: return "^";
    case OP_EQ: return "==";
    case OP_NE: return "!=";
    case OP_LT: return "<";
    case OP_LE: return "<=";
    case OP_GT: return ">";
    case OP_GE: return ">=";
    case OP_AND: return "and";
    case OP_OR: return "or";
    case OP_NEG: return "-";
    case OP_NOT: return "not";
    }
    return "?";
}

bool ast_is_word(const Ast *ast, const char *word) { return ast && ast->kind == AST_NAME && strcmp(ast->name.text, word) == 0; }

bool item_accepts(const Item *item, DiagCode code)
{
    for (int i = 0; item && i < item->n_accepts; i++)
        if (item->accepts[i] == code)
            return true;
    return false;
}
