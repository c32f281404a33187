/* What all entries of a program are made from: its text, parsed once. See Base. */
#include "internal.h"

#include "frontend/rule.h"

Program *base_parse(Ctx *ctx, const RiseProgram *p) { return p->text ? program_from_text(ctx, p->name, p->text, p->size) : program_load(ctx, p->name); }

/* ---- modules that strategies ask for ------------------------------------------------------------------------------------------------ */

static void forget_modules(RiseContext *context, int n, char **modules)
{
    for (int i = 0; modules && i < n; i++)
        context_dealloc(context, modules[i]);
    context_dealloc(context, modules);
}

void base_note(RiseProgram *program, const Base *base, const Program *part)
{
    RiseContext *context = program->context;
    int n = program_more_count(part, base->program);
    char **modules = n ? context_alloc(context, sizeof(char *) * (size_t)n, NULL) : NULL;
    bool enough = modules;
    for (int i = 0; enough && i < n; i++) {
        const char *name = program_more_module(part, base->program, i);
        modules[i] = context_copy(context, name, strlen(name), NULL);
        enough = modules[i];
    }
    pthread_mutex_lock(&program->lock);
    if (enough && !program->modules) {
        program->n_modules = n;
        program->modules = modules;
        modules = NULL;
    }
    pthread_mutex_unlock(&program->lock);
    forget_modules(context, n, modules);
}

typedef struct Growing {
    const RiseProgram *program;
    Program *more;
} Growing;

static void read_modules(Ctx *ctx, void *user)
{
    Growing *g = user;
    g->more = program_inside(ctx, g->program->base.program);
    for (int i = 0; i < g->program->n_modules; i++)
        program_module(ctx, g->more, intern_z(ctx, g->program->modules[i]));
}

/* In the program's turn. */
static int make_more(RiseProgram *program, Job *job, rise_error *error)
{
    Growing g = {program, NULL};
    Ctx *ctx = ctx_new_inside(program->base.ctx, NULL, NULL);
    int status = ctx ? job_try(job, ctx, read_modules, &g, error) : context_out_of_memory(error);
    if (status != RISE_OK) {
        ctx_free(ctx);
        return status;
    }
    ctx->diags = (Diags){0}; /* an instance that reads one of them has told them */
    program->more = (Base){ctx, g.more};
    atomic_store_explicit(&program->has_more, true, memory_order_release);
    return RISE_OK;
}

int base_get(RiseProgram *program, Job *job, const Base **base, rise_error *error)
{
    *base = &program->base;
    pthread_mutex_lock(&program->lock);
    bool wanted = program->modules;
    pthread_mutex_unlock(&program->lock);
    if (!wanted)
        return RISE_OK;
    int status = RISE_OK;
    if (!atomic_load_explicit(&program->has_more, memory_order_acquire)) {
        status = turn_take(job, &program->turn, error);
        if (status != RISE_OK)
            return status;
        if (!atomic_load_explicit(&program->has_more, memory_order_relaxed))
            status = make_more(program, job, error);
        turn_give(&program->turn);
    }
    *base = &program->more;
    return status;
}

void base_free(RiseProgram *program)
{
    forget_modules(program->context, program->n_modules, program->modules);
    ctx_free(program->more.ctx);
    ctx_free(program->base.ctx);
}
