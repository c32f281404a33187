/* What the arrays of each thread take at once: they lie in registers where every index is known and there are enough, else in local memory, which is
 * memory of the device. */
#include "codegen/lowering.h"
#include "codegen/walk.h"

/* Of an array of registers: from the statement of its first use up to that of its last one, in the order of the text. A loop is one statement for what is
 * declared around it: what it takes out of one array and puts into another goes element by element. */
typedef struct Life {
    ImpVar *var;
    Span users;   /* the text of the user's that declares it */
    int loops;    /* around its declaration */
    int from, to; /* from 0: it is not used yet */
} Life;

typedef struct Arrays {
    Ctx *ctx;
    VEC(Life) lives;
    int *life_of;   /* by id of the variable: its place in lives; -1: it is no array */
    VEC(int) loops; /* that are open: where they begin */
    int now;
} Arrays;

static void touch(Arrays *a, const ImpVar *var)
{
    if (!var || a->life_of[var->id] < 0)
        return;
    Life *life = &a->lives.at[a->life_of[var->id]];
    life->to = a->loops.n > life->loops ? a->loops.at[life->loops] : a->now;
    if (!life->from)
        life->from = life->to;
}

static void touch_expr(void *user, ImpExpr **at)
{
    if ((*at)->kind == IE_VAR)
        touch(user, (*at)->var.var);
}

static void find_lives(Arrays *a, ImpBlock *block)
{
    for (int i = 0; i < block->list.n; i++) {
        ImpStmt *s = block->list.at[i];
        ImpVar *var = imp_sets(s);
        a->now++;
        if (var && imp_declares(s) && var->slots > 1) {
            a->life_of[var->id] = a->lives.n;
            vec_push(a->ctx, &a->lives, ((Life){.var = var, .users = s->users.file ? s->users : s->span, .loops = a->loops.n}));
        }
        if (var && !(s->kind == IS_DECL && !s->var.value))
            touch(a, var);
        walk_own(s, touch_expr, a);
        if (s->kind == IS_IF) {
            find_lives(a, &s->branch.then);
            find_lives(a, &s->branch.otherwise);
        }
        if (s->kind == IS_FOR) {
            vec_push(a->ctx, &a->loops, a->now);
            find_lives(a, &s->loop.body);
            a->loops.n--;
        }
    }
}

static int64_t bytes_of(const ImpVar *var) { return (int64_t)var->slots * scalar_bytes(var->type); }

PrivateMemory private_memory(Ctx *ctx, const ImpKernel *kernel)
{
    Arrays a = {.ctx = ctx, .life_of = NEWN(ctx, int, kernel->vars.n + 1)};
    for (int i = 0; i < kernel->vars.n; i++)
        a.life_of[i] = -1;
    ImpBlock body = kernel->body;
    find_lives(&a, &body);
    int64_t *change = NEWN(ctx, int64_t, a.now + 2), bytes = 0; /* by statement: what begins there, less what ends */
    PrivateMemory most = {0};
    for (int k = 0; k < a.lives.n; k++) {
        const Life *life = &a.lives.at[k];
        change[life->from] += bytes_of(life->var);
        change[life->to > life->from ? life->to : life->from + 1] -= bytes_of(life->var);
        if (!most.largest || bytes_of(life->var) > bytes_of(most.largest)) {
            most.largest = life->var;
            most.users = life->users;
        }
    }
    for (int at = 0; at <= a.now; at++) {
        bytes += change[at];
        if (bytes > most.bytes)
            most.bytes = bytes;
    }
    return most;
}

int kernel_registers(const ImpKernel *kernel)
{
    int64_t threads = (int64_t)kernel->threads[0] * kernel->threads[1] * kernel->threads[2] * (kernel->min_blocks > 1 ? kernel->min_blocks : 1);
    int64_t each = REGISTERS_OF_MULTIPROCESSOR / (threads > 0 ? threads : 1);
    return each < REGISTERS_OF_THREAD ? (int)each : REGISTERS_OF_THREAD;
}

enum { OTHER_REGISTERS = 16 }; /* that a thread needs beside its arrays */

/* Inputs in memory: what a thread keeps of one is combined with others, whose elements are loaded ahead. */
static int count_inputs(const ImpKernel *kernel)
{
    int n = 0;
    for (int i = 0; i < kernel->bufs.n; i++)
        n += kernel->bufs.at[i]->space == SPACE_INPUT && !kernel->bufs.at[i]->by_value;
    return n;
}

void fit_blocks(Ctx *ctx, ImpKernel *kernel)
{
    int64_t arrays = private_memory(ctx, kernel).bytes / 4;
    int more = count_inputs(kernel) - 1;
    int64_t wanted = arrays + (more > 0 ? more * arrays / 2 : 0) + OTHER_REGISTERS;
    while (kernel->min_blocks > 1 && !kernel->blocks_as_said && wanted > kernel_registers(kernel))
        kernel->min_blocks--;
}
