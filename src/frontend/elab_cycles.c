/* A name of the top level has one meaning, and nothing means itself. */
#include "frontend/elab_resolve.h"

void check_duplicates(Resolver *r, const FileScope *scope)
{
    for (int i = 0; i < scope->items.n; i++) {
        const Item *item = scope->items.at[i];
        if (!item->name)
            continue;
        bool told = false;
        for (int k = 0; k < i && !told; k++)
            if (scope->items.at[k]->name == item->name && item->kind != ITEM_ERROR && scope->items.at[k]->kind != ITEM_ERROR) {
                Diag *d = diag_error(r->ctx, E0202, item->name_span, "`%s` is defined twice", item->name);
                diag_note(r->ctx, d, scope->items.at[k]->name_span, "first here");
                told = true;
            }
        for (int k = 0; k < scope->imports.n && !told; k++)
            for (int j = 0; j < scope->imports.at[k]->items.n && !told; j++)
                if (scope->imports.at[k]->items.at[j]->name == item->name) {
                    Diag *d = diag_error(r->ctx, E0202, item->name_span, "`%s` is defined here and in an imported file", item->name);
                    diag_note(r->ctx, d, scope->imports.at[k]->items.at[j]->name_span, "imported from here");
                    told = true;
                }
    }
    for (int k = 0; k < scope->imports.n; k++)
        for (int i = 0; i < scope->imports.at[k]->items.n; i++)
            for (int m = 0; m < k; m++)
                for (int j = 0; j < scope->imports.at[m]->items.n; j++) {
                    const Item *a = scope->imports.at[m]->items.at[j], *b = scope->imports.at[k]->items.at[i];
                    if (!a->name || a->name != b->name)
                        continue;
                    Diag *d = diag_error(r->ctx, E0211, scope->import_spans.at[k], "this import brings a second `%s`", a->name);
                    diag_note(r->ctx, d, a->name_span, "the first");
                    diag_note(r->ctx, d, b->name_span, "the second");
                }
}

/* The first parameter that is an integer, which may count steps; NULL. */
static const Param *integer_of(const Item *item)
{
    for (int i = 0; i < item->n_params; i++) {
        const Ast *kind = item->params[i].kind;
        Scalar s;
        if (item->params[i].name && kind && kind->kind == AST_NAME && scalar_find(kind->name.text, &s) && scalar_is_int(s))
            return &item->params[i];
    }
    return NULL;
}

static void say_how_to_repeat(Ctx *ctx, Diag *d, const Item *item)
{
    if (item->kind == ITEM_STRATEGY) {
        diag_note(ctx, d, NO_SPAN, "strategies are repeated by `repeat(s)`, `normalise(s)` or `unroll`");
        return;
    }
    diag_note(ctx, d, NO_SPAN, "there is no recursion: a number of steps is a fold; x to the power of 8 is `generate{n = 8}(fun _ => x) |> reduceSeq((*), 1)`, and `reduceSeq(fun state x => ..., start)` takes a state from step to step");
    const Param *count = integer_of(item);
    if (count)
        diag_note(ctx, d, NO_SPAN, STEPS_OF_DATA, count->name);
}

static void report_cycle(Resolver *r, const int *path, int n)
{
    StrBuf sb;
    sb_init(&sb, r->ctx);
    enum { SHOWN = 6 };
    for (int i = 0; i < n && i < SHOWN; i++)
        sb_printf(&sb, "%s -> ", r->nodes.at[path[i]].item->name);
    for (int i = 0; i < n; i++)
        vec_push(r->ctx, &r->program->unusable, r->nodes.at[path[i]].item);
    sb_puts(&sb, n > SHOWN ? "... -> " : "");
    sb_puts(&sb, r->nodes.at[path[0]].item->name);
    const Node *first = &r->nodes.at[path[0]], *last = &r->nodes.at[path[n - 1]];
    Span use = first->item->name_span;
    for (int i = 0; i < last->uses.n; i++)
        if (last->uses.at[i] == path[0]) {
            use = last->use_spans.at[i];
            break;
        }
    Diag *d = diag_error(r->ctx, E0204, use, n == 1 ? "`%s` uses itself" : "`%s` uses itself through other definitions", first->item->name);
    if (n > 1)
        diag_label(r->ctx, d, "%s", sb.text);
    say_how_to_repeat(r->ctx, d, first->item);
}

/* Depth first with its own stack: a chain of definitions may be long. */
void find_cycles(Resolver *r)
{
    int *path = NEWN(r->ctx, int, r->nodes.n + 1), *next = NEWN(r->ctx, int, r->nodes.n + 1);
    for (int start = 0; start < r->nodes.n; start++) {
        if (r->nodes.at[start].mark != MARK_NEW)
            continue;
        int n = 0;
        path[n] = start;
        next[n++] = 0;
        r->nodes.at[start].mark = MARK_OPEN;
        while (n > 0) {
            Node *node = &r->nodes.at[path[n - 1]];
            if (next[n - 1] == node->uses.n) {
                node->mark = MARK_DONE;
                n--;
                continue;
            }
            int to = node->uses.at[next[n - 1]++];
            if (r->nodes.at[to].mark == MARK_OPEN) {
                int at = 0;
                while (path[at] != to)
                    at++;
                report_cycle(r, path + at, n - at);
            } else if (r->nodes.at[to].mark == MARK_NEW) {
                r->nodes.at[to].mark = MARK_OPEN;
                path[n] = to;
                next[n++] = 0;
            }
        }
    }
}
