/* Entries, and the operators that they use, as programs. */
#include "ir/core_print_internal.h"

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

/* ---- operators ------------------------------------------------------------------------------------------------------ */

typedef VEC(const Core *) Operators; /* lambdas that are declared operators, each once */

static void find_operators(Ctx *ctx, const Core *term, Operators *found)
{
    switch (term->kind) {
    case CORE_PRIM:
        for (int i = 0; i < term->prim.n_args; i++)
            find_operators(ctx, term->prim.args[i], found);
        return;
    case CORE_LAMBDA:
        find_operators(ctx, term->lambda.body, found);
        for (int i = 0; i < found->n; i++)
            if (found->at[i]->lambda.op == term->lambda.op)
                return;
        if (term->lambda.op)
            vec_push(ctx, found, term);
        return;
    case CORE_LET:
        for (; term->kind == CORE_LET; term = term->let.body)
            find_operators(ctx, term->let.value, found);
        find_operators(ctx, term, found);
        return;
    case CORE_TUPLE:
        for (int i = 0; i < term->tuple.n; i++)
            find_operators(ctx, term->tuple.items[i], found);
        return;
    case CORE_PROJ:
        find_operators(ctx, term->proj.value, found);
        return;
    case CORE_IF:
        find_operators(ctx, term->cond.cond, found);
        find_operators(ctx, term->cond.then, found);
        find_operators(ctx, term->cond.otherwise, found);
        return;
    case CORE_VAR:
    case CORE_LIT:
    case CORE_SIZE:
    case CORE_UNIT_ERROR:
        return;
    }
}

/* Its definition with the body as core, so that nothing else needs to be defined; unit and laws as they were written. */
static void put_operator(StrBuf *out, const Core *lambda)
{
    Printer p = {.out = out, .ctx = out->ctx};
    const Item *op = lambda->lambda.op;
    print_text(&p, "operator ");
    print_text(&p, op->name);
    for (int i = 0; i < lambda->lambda.n; i++) {
        const CoreVar *var = lambda->lambda.params[i];
        print_text(&p, " (");
        print_text(&p, print_bind(&p, var, var->nat, var->name));
        print_text(&p, ": ");
        print_type(&p, var->type);
        print_text(&p, ")");
    }
    print_text(&p, ": ");
    print_type(&p, lambda->lambda.body->type);
    const char *before = "";
    print_line(&p, INDENT);
    if (op->unit) {
        print_text(&p, "unit ");
        ast_print(out, op->unit);
        before = ", ";
    }
    for (int i = 0; i < op->n_laws; i++) {
        print_text(&p, before);
        print_text(&p, op->laws[i].name);
        if (op->laws[i].within) {
            print_text(&p, " within ");
            ast_print(out, op->laws[i].within);
        }
        before = ", ";
    }
    print_text(&p, " =");
    print_line(&p, INDENT);
    print_term(&p, lambda->lambda.body, PREC_LOWEST, INDENT);
    print_text(&p, "\n\n");
}

/* ---- programs ------------------------------------------------------------------------------------------------------- */

static void put_entry(StrBuf *out, const CoreEntry *entry)
{
    Printer p = {.out = out, .ctx = out->ctx};
    if (entry->doc)
        put_doc(out, entry->doc);
    print_text(&p, "entry ");
    print_text(&p, entry->name);
    for (int i = 0; i < entry->n_sizes; i++) {
        /* A size that no input shows is given, not inferred. */
        bool inferred = false;
        for (int k = 0; k < entry->n_inputs; k++)
            inferred |= type_mentions(entry->inputs[k]->type, entry->sizes[i]);
        print_text(&p, inferred ? " {" : " (");
        print_text(&p, print_bind(&p, NULL, entry->sizes[i], entry->sizes[i]->name));
        print_text(&p, inferred ? ": nat}" : ": nat)");
    }
    for (int i = 0; i < entry->n_inputs; i++) {
        const CoreVar *var = entry->inputs[i];
        const char *name = print_bind(&p, var, var->nat, var->name);
        if (print_column(&p) > WIDTH * 3 / 4)
            print_line(&p, 2 * INDENT);
        else
            print_text(&p, " ");
        print_text(&p, "(");
        print_text(&p, name);
        print_text(&p, ": ");
        print_type(&p, var->type);
        print_text(&p, ")");
    }
    print_text(&p, ": ");
    print_type(&p, entry->result);
    for (int i = 0; i < entry->n_facts; i++) {
        if (i == 0) {
            print_line(&p, INDENT);
            print_text(&p, "where ");
        } else {
            print_text(&p, ", ");
        }
        print_term(&p, entry->facts[i], PREC_OR, INDENT);
    }
    if (entry->exact) {
        print_line(&p, INDENT);
        print_text(&p, "exact");
    }
    struct { const char *name; Nat nat; } launch[] = {
        {"blocks", entry->launch.blocks}, {"threads", entry->launch.threads}, {"minBlocks", entry->launch.min_blocks}};
    const char *before = NULL;
    for (size_t i = 0; i < sizeof launch / sizeof launch[0]; i++)
        if (launch[i].nat) {
            if (!before)
                print_line(&p, INDENT);
            print_text(&p, before ? before : "launch [");
            print_text(&p, launch[i].name);
            print_text(&p, " = ");
            print_nat(&p, launch[i].nat, PREC_LOWEST);
            before = ", ";
        }
    print_text(&p, before ? "] =" : " =");
    print_line(&p, INDENT);
    print_term(&p, entry->body, PREC_LOWEST, INDENT);
    print_text(&p, "\n");
}

void core_print_entries(StrBuf *out, int n, CoreEntry *const *entries)
{
    Operators operators = {0};
    for (int i = 0; i < n; i++)
        find_operators(out->ctx, entries[i]->body, &operators);
    for (int i = 0; i < operators.n; i++)
        put_operator(out, operators.at[i]);
    for (int i = 0; i < n; i++) {
        sb_puts(out, i ? "\n" : "");
        put_entry(out, entries[i]);
    }
}

void core_print_entry(StrBuf *out, const CoreEntry *entry)
{
    CoreEntry *one = (CoreEntry *)entry; /* not written to */
    core_print_entries(out, 1, &one);
}
