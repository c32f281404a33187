/* Where blocks meet: with a meeting taken out, or a kernel before it, some run reports a finding. Arguments: the programs. */
#include <stdio.h>

#include "codegen/walk.h"
#include "executors.h"

static const int64_t sizes[] = {1, 2, 16, 33, 192, 1000, 1024, 4096, 8192};
static const int64_t grids[] = {0, 2, 3};
enum { N_SIZES = sizeof sizes / sizeof *sizes, N_GRIDS = sizeof grids / sizeof *grids };

typedef struct Meeting {
    int left;       /* meetings to pass over */
    ImpStmt *found; /* a barrier of the grid, the branch of the last block, or an exchange of totals */
} Meeting;

static void find_meeting(void *user, ImpStmt *s)
{
    Meeting *m = user;
    if ((s->kind == IS_GRID_SYNC || s->kind == IS_SERVE || s->kind == IS_GIVE || s->kind == IS_AWAIT || (s->kind == IS_IF && s->branch.last)) && m->left-- == 0)
        m->found = s;
}

/* `value`: a wrong result counts, too. */
static bool found_without(Compiled *c, bool value)
{
    for (int s = 0; s < N_SIZES; s++)
        for (int g = 0; g < N_GRIDS; g++) {
            Outcome o = run_trial(c, (Trial){sizes[s], grids[g], 5 + (uint64_t)s, value, true, 40000}, NULL);
            if (o == FINDING || o == DIFFER)
                return true;
        }
    return false;
}

typedef struct Tally {
    const char *file;
    long checks, wrong, faults;
} Tally;

static void expect(Tally *t, bool found, const char *what, int number)
{
    t->checks++;
    t->faults++;
    if (found)
        return;
    t->wrong++;
    printf("%s: %s %d can be taken out and nothing notices\n", t->file, what, number);
}

/* Every block goes on as if it were the last one; or none waits for the others. */
static void without_meetings(Compiled *c, ImpKernel *kernel, Tally *t)
{
    for (int k = 0;; k++) {
        Meeting m = {k, NULL};
        walk_stmts(&kernel->body, find_meeting, &m);
        if (!m.found)
            return;
        ImpStmt saved = *m.found;
        const char *what = saved.kind == IS_GRID_SYNC ? "grid barrier" : saved.kind == IS_SERVE ? "answer" : saved.kind == IS_GIVE ? "total" : saved.kind == IS_AWAIT ? "wait" : "ticket";
        if (saved.kind == IS_GIVE || saved.kind == IS_AWAIT) { /* its neighbour's */
            m.found->exchange.index = nat_add_k(c->ctx, saved.exchange.index, 1);
        } else if (saved.kind != IS_IF) {
            m.found->kind = IS_NOTE;
            m.found->note = "";
        } else
            m.found->branch.cond = imp_lit(c->ctx, scalar_int(SC_BOOL, 1), saved.span);
        expect(t, found_without(c, false), what, k);
        *m.found = saved;
    }
}

/* What a kernel leaves is read by a later one, or in the result. */
static void without_kernels(Compiled *c, Tally *t)
{
    for (int k = 0; k < c->imp->kernels.n; k++) {
        ImpKernel *kernel = c->imp->kernels.at[k];
        ImpBlock body = kernel->body;
        kernel->body = (ImpBlock){{0}};
        expect(t, found_without(c, true), "kernel", k);
        kernel->body = body;
    }
}

int main(int argc, char **argv)
{
    Tally t = {NULL, 0, 0, 0};
    for (int f = 1; f < argc; f++) {
        Compiled c = compile_file(argv[f], "");
        t.file = argv[f];
        t.faults = 0;
        t.checks++;
        if (!c.imp) {
            t.wrong++;
            continue;
        }
        for (int k = 0; k < c.imp->kernels.n; k++)
            without_meetings(&c, c.imp->kernels.at[k], &t);
        without_kernels(&c, &t);
        printf("%s: %ld faults\n", argv[f], t.faults);
        compiled_free(&c);
    }
    printf("grid: %ld checks, %ld wrong\n", t.checks, t.wrong);
    return t.wrong != 0;
}
