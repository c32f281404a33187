/* Counting uses: one walk over a scope, for all variables that are bound in it. */
#include "codegen/uses.h"

struct Uses {
    const CoreVar *var; /* of a whole variable; or NULL */
    int index;          /* of a component */
    int depth;          /* functions around the place where the variable is bound */
    int all, whole;     /* up to MANY; `whole` are not of a component of it */
    Uses *parts;        /* the components that are read on their own */
    Uses *next;         /* the next component, or the next variable of the same scope */
};

enum { MANY = 2 };

int uses_count(const Uses *uses) { return uses ? uses->all : 0; }
int uses_as_whole(const Uses *uses) { return uses ? uses->whole : 0; }

const Uses *uses_of_part(const Uses *uses, int k)
{
    const Uses *part = uses ? uses->parts : NULL;
    while (part && part->index != k)
        part = part->next;
    return part;
}

typedef struct Count {
    Lowering *lw;
    Table open; /* by variable: its Uses, while its scope is walked */
    int depth;  /* functions around this place */
} Count;

static void add(int *to, int n) { *to = *to + n < MANY ? *to + n : MANY; }

/* The uses of what e, a variable or a component of one, reads. NULL: of a variable that is bound elsewhere. */
static Uses *read_by(Count *c, const Core *e, int *n)
{
    Ctx *ctx = c->lw->ctx;
    Uses *uses;
    if (e->kind == CORE_VAR) {
        uses = table_get(&c->open, e->var);
        *n = uses && uses->depth == c->depth ? 1 : MANY;
    } else {
        Uses *of = read_by(c, e->proj.value, n);
        if (!of)
            return NULL;
        uses = (Uses *)uses_of_part(of, e->proj.index);
        if (!uses) {
            uses = NEW(ctx, Uses);
            *uses = (Uses){.index = e->proj.index, .next = of->parts};
            of->parts = uses;
        }
    }
    if (uses)
        add(&uses->all, *n);
    return uses;
}

static void walk(Count *c, const Core *e);

/* Counts the uses of the variables in their scope, and keeps the counts with it. */
static void walk_scope(Count *c, int n, CoreVar *const *vars, const Core *scope)
{
    Ctx *ctx = c->lw->ctx;
    Uses *list = NULL;
    for (int i = 0; i < n; i++) {
        Uses *uses = NEW(ctx, Uses);
        *uses = (Uses){.var = vars[i], .depth = c->depth, .next = list};
        table_put(ctx, &c->open, vars[i], list = uses);
    }
    walk(c, scope);
    for (int i = 0; i < n; i++)
        table_put(ctx, &c->open, vars[i], NULL);
    table_put(ctx, &c->lw->uses, scope, list);
}

static void walk_all(Count *c, int n, Core *const *terms)
{
    for (int i = 0; i < n; i++)
        walk(c, terms[i]);
}

static void walk(Count *c, const Core *e)
{
    switch (e->kind) {
    case CORE_LIT: case CORE_SIZE: case CORE_UNIT_ERROR: return;
    case CORE_PRIM: walk_all(c, e->prim.n_args, e->prim.args); return;
    case CORE_LAMBDA:
        c->depth++;
        walk_scope(c, e->lambda.n, e->lambda.params, e->lambda.body);
        c->depth--;
        return;
    case CORE_LET:
        walk(c, e->let.value);
        walk_scope(c, 1, &e->let.var, e->let.body);
        return;
    case CORE_TUPLE: walk_all(c, e->tuple.n, e->tuple.items); return;
    case CORE_VAR: case CORE_PROJ: {
        const Core *root = e;
        while (root->kind == CORE_PROJ)
            root = root->proj.value;
        int n;
        Uses *uses = root->kind == CORE_VAR ? read_by(c, e, &n) : NULL;
        if (uses)
            add(&uses->whole, n);
        if (root->kind != CORE_VAR)
            walk(c, root);
        return;
    }
    case CORE_IF: walk_all(c, 3, (Core *const[]){e->cond.cond, e->cond.then, e->cond.otherwise}); return;
    }
}

static const Uses *known_uses(const Lowering *lw, const CoreVar *var, const Core *scope)
{
    const Uses *uses = table_get(&lw->uses, scope);
    while (uses && uses->var != var)
        uses = uses->next;
    return uses;
}

const Uses *uses_of(Lowering *lw, const CoreVar *var, const Core *scope)
{
    const Uses *known = known_uses(lw, var, scope);
    if (known)
        return known;
    Uses *others = table_get(&lw->uses, scope);
    Count count = {.lw = lw};
    walk_scope(&count, 1, (CoreVar *[]){(CoreVar *)var}, scope);
    Uses *uses = table_get(&lw->uses, scope);
    uses->next = others;
    return uses;
}
