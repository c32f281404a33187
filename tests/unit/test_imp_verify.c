/* imp_verify finds every declaration that is taken out of a kernel, and nothing in kernels as they are.
 *
 *     test_imp_verify [FILE.rise...] */
#include "codegen/imp_verify.h"

#include <stdio.h>

#include "codegen/walk.h"
#include "executors.h"
#include "unit.h"

static bool is_sound(const Compiled *c, const ImpKernel *kernel)
{
    Span where;
    return imp_verify(c->ctx, kernel, &where) == NULL;
}

typedef struct Mention {
    const ImpVar *var;
    bool found;
} Mention;

static void mention_nat(void *user, Nat nat)
{
    Mention *m = user;
    m->found |= m->var->nat && nat_mentions(nat, m->var->nat);
}

static void mention_expr(void *user, ImpExpr **at)
{
    Mention *m = user;
    m->found |= (*at)->kind == IE_VAR && (*at)->var.var == m->var;
}

static void mention_stmt(void *user, ImpStmt *s)
{
    Mention *m = user;
    m->found |= imp_sets(s) == m->var;
    walk_own(s, mention_expr, m);
    walk_nats(s, mention_nat, m);
}

/* Takes out one declaration after the other, here and in the blocks inside. */
static void drop_one(const Compiled *c, ImpKernel *kernel, ImpBlock *block, ImpStmt *note)
{
    for (int i = 0; i < block->list.n; i++) {
        ImpStmt *s = block->list.at[i];
        if (s->kind == IS_FOR)
            drop_one(c, kernel, &s->loop.body, note);
        if (s->kind == IS_IF) {
            drop_one(c, kernel, &s->branch.then, note);
            drop_one(c, kernel, &s->branch.otherwise, note);
        }
        if (s->kind != IS_DECL)
            continue;
        block->list.at[i] = note;
        Mention m = {s->var.var, false}; /* an index of a guard that was left out is not */
        walk_stmts(&kernel->body, mention_stmt, &m);
        if (m.found && !CHECK(!is_sound(c, kernel)))
            printf("  without the declaration of %s\n", s->var.var->name);
        block->list.at[i] = s;
    }
}

static void test_file(const char *path)
{
    for (int k = 0, n = 1; k < n; k++) {
        Compiled c = compile_entry(path, k, &n);
        ImpStmt note = {.kind = IS_NOTE, .note = "dropped"};
        CHECK(c.imp != NULL);
        for (int i = 0; c.imp && imp_form(c.imp, i); i++) {
            ImpKernel *kernel = imp_form(c.imp, i);
            CHECK(is_sound(&c, kernel));
            drop_one(&c, kernel, &kernel->body, &note);
        }
        compiled_free(&c);
    }
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        test_file(argv[i]);
    printf("imp_verify: %ld checks, %ld wrong\n", unit_checks, unit_failures);
    return unit_failures != 0;
}
