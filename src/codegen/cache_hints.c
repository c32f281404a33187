/* readOnce, keepCached: the arrays behind a view whose loads say something to the caches. */
#include "codegen/lowering.h"

/* Only inputs: what a kernel itself has written is often read by a neighbour soon. */
static void mark(View *v, ImpHint hint)
{
    switch (v->kind) {
    case VIEW_BUF:
        if (v->buf->space == SPACE_INPUT && v->buf->hint < hint)
            v->buf->hint = hint;
        return;
    case VIEW_TUPLE: case VIEW_ZIP: case VIEW_VECTOR:
        for (int i = 0; i < v->n; i++)
            mark(v->items[i], hint);
        return;
    case VIEW_CONCAT: case VIEW_COND:
        mark(v->source, hint);
        mark(v->other, hint);
        return;
    case VIEW_PROJ: case VIEW_MAP: case VIEW_PAD: case VIEW_EACH: case VIEW_GATHER: case VIEW_AS_VECTOR: case VIEW_AS_SCALAR: case VIEW_WINDOWS: case VIEW_RING:
        mark(v->source, hint);
        return;
    case VIEW_ERROR: case VIEW_SCALAR: case VIEW_REG: case VIEW_GEN: case VIEW_GUARD: case VIEW_ATOMIC:
        return;
    }
}

View *lower_cache_hint(Lowering *lw, const Core *e)
{
    View *source = lower_read(lw, e->prim.args[0]);
    mark(source, e->prim.id == P_readOnce ? HINT_STREAM : HINT_KEEP);
    return source;
}
