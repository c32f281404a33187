/* Which results may lie in the memory of which inputs. Note [One memory].
 *
 * A launch may write a result over an input if each cell of the input is read for the last time before the
 * result's cell is written there. For one kernel partners.c proves it.
 *
 * Kernels before the first one that stores to the result may read the input as they like; those after it may
 * not read it. Kernels of size classes that exclude each other are no neighbours. */
#include "codegen/one_memory.h"

#include "codegen/partners.h"
#include "codegen/walk.h"

static const ImpBuf *find_buf(const ImpKernel *kernel, ImpSpace space, int component)
{
    for (int i = 0; i < kernel->bufs.n; i++)
        if (kernel->bufs.at[i]->space == space && kernel->bufs.at[i]->component == component)
            return kernel->bufs.at[i];
    return NULL;
}

/* Is there a test that holds for one and not for the other? */
static bool exclude_each_other(const ImpWhens *a, const ImpWhens *b)
{
    for (int i = 0; i < a->n; i++)
        for (int k = 0; k < b->n; k++)
            if (a->at[i].test == b->at[k].test && a->at[i].holds != b->at[k].holds)
                return true;
    return false;
}

/* This variant of launch number i stores to the result. */
static OneMemory variant_allows(Ctx *ctx, const ImpProgram *program, int i, const ImpVariant *v, const ImpBuf *to, int input)
{
    const ImpBuf *from = find_buf(v->kernel, SPACE_INPUT, input);
    int first = program->launches.at[i].group ? 0 : i + 1;
    for (int j = first; j < program->launches.n; j++) {
        const ImpLaunch *later = &program->launches.at[j];
        bool again = j <= i && later->group == program->launches.at[i].group;
        for (int k = 0; k < later->variants.n && (j > i || again); k++)
            if (find_buf(later->variants.at[k].kernel, SPACE_INPUT, input) && !exclude_each_other(&v->when, &later->variants.at[k].when))
                return ONE_MEMORY_LATER;
    }
    return from ? partners_prove(ctx, v->kernel, to, from) : ONE_MEMORY_ALLOWED;
}

/* The type of this component of the inputs. */
static Type input_type(Ctx *ctx, const CoreEntry *entry, int input)
{
    int i = 0, n;
    for (; input >= (n = type_component_count(entry->inputs[i]->type)); i++)
        input -= n;
    return type_component(ctx, entry->inputs[i]->type, input);
}

static Nat cells_of(Ctx *ctx, Type t)
{
    Nat cells = nat_const(ctx, 1);
    for (; t->kind == TY_ARRAY; t = t->elem)
        cells = nat_mul(ctx, cells, t->size);
    return t->kind == TY_VEC ? nat_mul(ctx, cells, t->size) : cells;
}

static Type element_of(Type t)
{
    while (t->kind == TY_ARRAY)
        t = t->elem;
    return t;
}

OneMemory one_memory(Ctx *ctx, const ImpProgram *program, int result, int input)
{
    const CoreEntry *entry = program->entry;
    Type to = type_component(ctx, entry->result, result), from = input_type(ctx, entry, input);
    if (type_scalar_of(ctx, element_of(to)) != type_scalar_of(ctx, element_of(from)) || cells_of(ctx, to) != cells_of(ctx, from))
        return ONE_MEMORY_UNLIKE;
    if (imp_by_value(SPACE_INPUT, from))
        return ONE_MEMORY_SCALAR;
    OneMemory found = ONE_MEMORY_ALLOWED;
    for (int i = 0; i < program->launches.n; i++)
        for (int k = 0; k < program->launches.at[i].variants.n && found == ONE_MEMORY_ALLOWED; k++) {
            const ImpVariant *v = &program->launches.at[i].variants.at[k];
            const ImpBuf *buf = find_buf(v->kernel, SPACE_OUTPUT, result);
            if (buf && kernel_writes(v->kernel, buf))
                found = variant_allows(ctx, program, i, v, buf, input);
        }
    return found;
}

const char *one_memory_why(OneMemory found)
{
    static const char *const why[ONE_MEMORY_COUNT] = {
        [ONE_MEMORY_ALLOWED] = "",
        [ONE_MEMORY_UNLIKE] = "their elements or their lengths differ",
        [ONE_MEMORY_SCALAR] = "kernels take scalars by value",
        [ONE_MEMORY_EXCHANGED] = "threads exchange values in it",
        [ONE_MEMORY_ELSEWHERE] = "a kernel reads elements of the input after it, or another thread, may have written there",
        [ONE_MEMORY_LATER] = "a kernel reads the input after one has written the result",
        [ONE_MEMORY_LARGE] = "its kernels have too many accesses to prove it",
        [ONE_MEMORY_UNKNOWN] = "no kernels can be made of the entry, which would say so",
    };
    return why[found];
}
