/* Plans the workspace. First come the flags: tickets, barriers and mail, which must be zero before a launch. Their places depend on no size, and launches that exclude
 * each other use the same ones, so that a caller clears them once for all sizes and classes. Behind them lies the data, where buffers that no launch has both share bytes.
 * So do arrays whose launches are over before those of the other begin.
 *
 * Two kinds of flags do not share places. What is zero again after a launch may lie anywhere among its like; a barrier's second word counts rounds and has any value
 * then, so barriers only lie upon barriers. Mail has a word or two for each block's total. It lies among the flags as long as it fits there, and beyond that among the
 * data, where the launch clears it: with so many blocks that takes no time worth counting. */
#include "codegen/workspace.h"

#include "codegen/index_guards.h"

#include <limits.h>

bool workspace_is_used(const ImpProgram *program)
{
    const ImpKernel *kernel;
    for (int i = 0; (kernel = imp_form(program, i)); i++)
        for (int b = 0; b < kernel->bufs.n; b++)
            if (kernel->bufs.at[b]->space == SPACE_TEMP)
                return true;
    return false;
}

/* Kernels and their forms know it by one name (names.c). */
static const char *name_of(Ctx *ctx, const ImpBuf *buf) { return intern(ctx, buf->name, strlen(buf->name)); }

WorkBuffer *workspace_buffer(Ctx *ctx, const Workspace *space, const ImpBuf *buf)
{
    const int *place = table_get(&space->by_name, name_of(ctx, buf));
    return place ? &space->buffers.at[*place] : NULL;
}

/* Tells names where their buffers stand in the list. */
static void list_names(Ctx *ctx, Workspace *space)
{
    space->by_name = (Table){0};
    int *places = NEWN(ctx, int, space->buffers.n + 1);
    for (int i = 0; i < space->buffers.n; i++) {
        places[i] = i;
        table_put(ctx, &space->by_name, name_of(ctx, space->buffers.at[i].buf), &places[i]);
    }
}

/* ---- what there is --------------------------------------------------------------------------------------------------------------- */

static void find_resident(void *user, Nat var)
{
    if (var->device == NAT_MAX_RESIDENT)
        *(Nat *)user = var;
}

static Nat resident_in(Ctx *ctx, Nat nat)
{
    Nat found = NULL;
    nat_each_var(ctx, nat, find_resident, &found);
    return found;
}

/* The nat with the kernel's own maxResident. */
static Nat with_resident(Ctx *ctx, Workspace *space, const ImpKernel *kernel, Nat nat)
{
    Nat found = resident_in(ctx, nat);
    if (!found)
        return nat;
    for (int i = 0; i < space->residents.n; i++)
        if (space->residents.at[i].kernel == kernel)
            return nat_subst(ctx, nat, found, space->residents.at[i].var);
    WorkResident own = {kernel, space->residents.n ? nat_device_var(ctx, NAT_MAX_RESIDENT) : found};
    vec_push(ctx, &space->residents, own);
    return nat_subst(ctx, nat, found, own.var);
}

/* `asked`: the form of which the host asks how many blocks fit. */
static WorkBuffer *add_buffer(Ctx *ctx, Workspace *space, const ImpWhens *when, const ImpKernel *asked, const ImpKernel *kernel, const ImpBuf *buf)
{
    Nat own = kernel_cells(ctx, kernel, buf), cells = with_resident(ctx, space, asked, own);
    NatRange range = nat_range(ctx, kernel->known, nat_mul_k(ctx, own, scalar_bytes(buf->elem)));
    int64_t most = range.has_hi && range.hi >= 0 ? range.hi : -1;
    WorkBuffer *b = workspace_buffer(ctx, space, buf);
    if (!b) {
        int *place = NEW(ctx, int);
        *place = space->buffers.n;
        table_put(ctx, &space->by_name, name_of(ctx, buf), place);
        vec_push(ctx, &space->buffers, ((WorkBuffer){.buf = buf, .name = buf->name, .cells = cells, .zero = buf->zero, .flag = -1, .most = most, .over = -1, .first = INT_MAX}));
        b = &space->buffers.at[space->buffers.n - 1];
    }
    b->cells = nat_max(ctx, b->cells, cells);
    b->most = most < 0 || b->most < 0 ? -1 : most > b->most ? most : b->most;
    for (int i = 0; i < b->whens.n; i++)
        if (imp_same_when(b->whens.at[i], when))
            return b;
    vec_push(ctx, &b->whens, when);
    return b;
}

/* Of two buffers that change places a kernel gets the one or the other: both are there. */
static void find_buffers(Ctx *ctx, const ImpProgram *program, int launch, const ImpVariant *variant, Workspace *space)
{
    const ImpKernel *asked = variant->kernel;
    for (const ImpKernel *k = asked; k; asked = imp_wide_twin(k) ? asked : k->otherwise, k = k->otherwise)
        for (int b = 0; b < k->bufs.n; b++) {
            const ImpBuf *both[2] = {k->bufs.at[b], k->bufs.at[b]->swap};
            for (int i = 0; i < 2 && both[i] && both[0]->space == SPACE_TEMP; i++) {
                WorkBuffer *added = add_buffer(ctx, space, &variant->when, asked, k, both[i]);
                added->first = launch < added->first ? launch : added->first;
                added->last = launch;
                if (!added->variants.n || added->variants.at[added->variants.n - 1] != space->variants.n)
                    vec_push(ctx, &added->variants, space->variants.n);
                added->alone |= program->launches.at[launch].group != NULL || both[0]->swap;
                space->align = both[i]->align > space->align ? both[i]->align : space->align;
            }
        }
}

/* ---- conditions ------------------------------------------------------------------------------------------------------------------ */

bool workspace_excludes(const ImpWhens *a, const ImpWhens *b)
{
    for (int i = 0; i < a->n; i++)
        for (int k = 0; k < b->n; k++)
            if (a->at[i].test == b->at[k].test && a->at[i].holds != b->at[k].holds)
                return true;
    return false;
}

/* May one run of the program have both? */
static bool meet(const WorkBuffer *a, const WorkBuffer *b)
{
    for (int i = 0; i < a->whens.n; i++)
        for (int k = 0; k < b->whens.n; k++)
            if (!workspace_excludes(a->whens.at[i], b->whens.at[k]))
                return true;
    return false;
}

/* ---- flags ------------------------------------------------------------------------------------------------------------------------- */

static int64_t rounded_up(int64_t bytes, int64_t to) { return (bytes + to - 1) / to * to; }

/* Places the flags for which `rounds` is as given, from byte `from` on, and gives the byte behind them. */
static int64_t place_flags(Ctx *ctx, Workspace *space, bool rounds, int64_t from)
{
    int64_t end = from;
    for (int i = 0; i < space->buffers.n; i++) {
        WorkBuffer *b = &space->buffers.at[i];
        int64_t at = from;
        if (!b->zero || b->buf->rounds != rounds)
            continue;
        for (int k = 0; k < i; k++) {
            const WorkBuffer *before = &space->buffers.at[k];
            if (before->zero && before->buf->rounds == rounds && meet(before, b) && before->flag + before->room > at)
                at = before->flag + before->room;
        }
        bool small = b->most >= 0 && b->most <= WORKSPACE_FLAG_ROOM;
        b->room = small ? b->most : WORKSPACE_FLAG_ROOM;
        b->flag = rounded_up(at, nat_is_const(b->bytes) ? scalar_bytes(b->buf->elem) : WORKSPACE_STEP);
        b->offset = small ? NULL : nat_const(ctx, 0); /* place_data says where */
        end = b->flag + b->room > end ? b->flag + b->room : end;
    }
    return rounded_up(end, WORKSPACE_ALIGN);
}

/* ---- data -------------------------------------------------------------------------------------------------------------------------- */

/* Flags, plain data, then what makes the places of those behind it depend on more. Among data, what is there under fewer conditions comes first. */
static int order_of(Ctx *ctx, const WorkBuffer *b)
{
    enum { KINDS = 1 << 16 };
    int tests = KINDS - 1;
    for (int i = 0; i < b->whens.n; i++)
        tests = b->whens.at[i]->n < tests ? b->whens.at[i]->n : tests;
    if (b->zero)
        return b->offset ? 2 * KINDS + tests : 0;
    return (resident_in(ctx, b->bytes) ? 3 : 1) * KINDS + tests;
}

static void sort(Ctx *ctx, Workspace *space)
{
    for (int i = 1; i < space->buffers.n; i++)
        for (int k = i; k > 0 && order_of(ctx, &space->buffers.at[k - 1]) > order_of(ctx, &space->buffers.at[k]); k--) {
            WorkBuffer other = space->buffers.at[k];
            space->buffers.at[k] = space->buffers.at[k - 1];
            space->buffers.at[k - 1] = other;
        }
}

static Nat in_steps(Ctx *ctx, Nat bytes)
{
    return nat_mul_k(ctx, nat_ceil_div(ctx, bytes, nat_const(ctx, WORKSPACE_STEP)), WORKSPACE_STEP);
}

/* Arrays of one length, under the same conditions, of which one is read for the last time before the other is written: the later one lies upon the
 * earlier one. What turns leave stays where it is. */
static bool lies_upon(Ctx *ctx, const WorkBuffer *below, const WorkBuffer *b)
{
    bool may = !b->zero && !b->alone && !below->zero && !below->alone && below->over < 0 && below->bytes == b->bytes && below->last < b->first &&
               !resident_in(ctx, b->bytes) && below->whens.n == b->whens.n;
    for (int i = 0; may && i < b->whens.n; i++)
        may = imp_same_when(below->whens.at[i], b->whens.at[i]);
    return may;
}

static void share_places(Ctx *ctx, Workspace *space)
{
    for (int i = 0; i < space->buffers.n; i++) {
        WorkBuffer *b = &space->buffers.at[i];
        for (int k = 0; k < i && b->over < 0; k++)
            b->over = lies_upon(ctx, &space->buffers.at[k], b) ? k : -1;
        if (b->over >= 0)
            space->buffers.at[b->over].last = b->last;
    }
}

/* ---- places ------------------------------------------------------------------------------------------------------------------------ */

/* A run of variants that one level of the host's size tests has, and the loop around them. */
typedef struct Level {
    const ImpVariants *all; /* of the program */
    int n, depth;
    const int *of; /* their numbers there */
    const ImpGroup *group;
} Level;

static const ImpVariant *variant_at(const Level *l, int i) { return l->all->at[l->of[i]]; }

/* How many from number i on have the same test at this depth, or repeat together; 0: number i stands alone. */
static int part_at(const Level *l, int i, bool *sides)
{
    const ImpWhens *when = &variant_at(l, i)->when;
    const ImpGroup *group = variant_at(l, i)->kernel->group;
    int tested = 0, repeat = 0;
    while (when->n > l->depth && i + tested < l->n && variant_at(l, i + tested)->when.n > l->depth &&
           variant_at(l, i + tested)->when.at[l->depth].test == when->at[l->depth].test)
        tested++;
    while (group && group != l->group && i + repeat < l->n && variant_at(l, i + repeat)->kernel->group == group)
        repeat++;
    *sides = tested > 0 && tested >= repeat;
    return tested >= repeat ? tested : repeat;
}

/* Those of the part under the test (or not). */
static Level side_of(Ctx *ctx, const Level *l, int i, int n, bool holds)
{
    int *of = NEWN(ctx, int, n + 1), m = 0;
    for (int k = i; k < i + n; k++)
        if (variant_at(l, k)->when.at[l->depth].holds == holds)
            of[m++] = l->of[k];
    return (Level){l->all, m, l->depth + 1, of, l->group};
}

static bool level_has(const Level *l, const WorkBuffer *b)
{
    int had = 0;
    for (int i = 0; i < l->n; i++)
        for (int k = 0; k < b->variants.n; k++)
            had += b->variants.at[k] == l->of[i];
    return had == b->variants.n;
}

static bool in_a_side(Ctx *ctx, const Level *l, const WorkBuffer *b)
{
    bool sides, found = false;
    for (int i = 0, n; i < l->n && !found; i += n ? n : 1) {
        n = part_at(l, i, &sides);
        for (int holds = 0; sides && holds < 2 && !found; holds++) {
            Level side = side_of(ctx, l, i, n, holds);
            found = level_has(&side, b);
        }
    }
    return found;
}

typedef VEC(const WorkBuffer *) Kept;

/* Those of them whose values launches under the first `depth` conditions may need, or have: they were placed in this order, so the last one ends behind all others.
 * `numbers`: the first launch of these and the last one; NULL: any. */
static Kept keep(Ctx *ctx, const Kept *kept, const ImpWhens *when, int depth, const int *numbers)
{
    Kept left = {0};
    for (int i = 0; i < kept->n; i++) {
        const WorkBuffer *b = kept->at[i];
        ImpWhens path = *when;
        path.n = depth;
        bool wanted = false;
        for (int k = 0; k < b->whens.n; k++)
            wanted |= !workspace_excludes(b->whens.at[k], &path);
        if (wanted && (!numbers || (b->variants.at[0] <= numbers[1] && b->variants.at[b->variants.n - 1] >= numbers[0])))
            vec_push(ctx, &left, b);
    }
    return left;
}

static Nat end_of(Ctx *ctx, const Workspace *space, const Kept *kept, bool step)
{
    const WorkBuffer *last = kept->n ? kept->at[kept->n - 1] : NULL;
    return !last ? nat_const(ctx, space->flags) : nat_add(ctx, last->offset, step ? in_steps(ctx, last->bytes) : last->bytes);
}

/* Buffers that lie in no one side of a test have their places here. What a side has lies behind those of them that it has to keep: two sides, or two tests one after the
 * other, use the same bytes. */
static void place_level(Ctx *ctx, Workspace *space, const Level *l, Kept kept)
{
    for (int i = 0; i < space->buffers.n; i++) {
        WorkBuffer *b = &space->buffers.at[i];
        if (b->over >= 0 || (b->flag >= 0 && !b->offset) || !level_has(l, b) || in_a_side(ctx, l, b))
            continue;
        b->offset = end_of(ctx, space, &kept, true);
        vec_push(ctx, &kept, b);
    }
    bool sides;
    for (int i = 0, n; i < l->n; i += n ? n : 1) {
        n = part_at(l, i, &sides);
        const int numbers[2] = {l->of[i], l->of[i + (n ? n : 1) - 1]};
        for (int holds = 0; sides && holds < 2; holds++) {
            Level side = side_of(ctx, l, i, n, holds);
            if (side.n)
                place_level(ctx, space, &side, keep(ctx, &kept, &variant_at(&side, 0)->when, side.depth, numbers));
        }
        for (int k = i; !sides && k < i + (n ? n : 1); k++) {
            const ImpWhens *when = &variant_at(l, k)->when;
            Kept own = keep(ctx, &kept, when, when->n, NULL);
            space->ends.at[l->of[k]] = end_of(ctx, space, &own, false);
        }
    }
}

Nat workspace_bytes(const Workspace *space, const ImpVariant *variant)
{
    for (int i = 0; i < space->variants.n; i++)
        if (space->variants.at[i] == variant)
            return space->ends.at[i];
    return NULL;
}

/* Wherever these conditions hold, do those hold, too? */
static bool implies(const ImpWhens *these, const ImpWhens *those)
{
    for (int i = 0; i < those->n; i++) {
        bool said = false;
        for (int k = 0; k < these->n; k++)
            said |= these->at[k].test == those->at[i].test && these->at[k].holds == those->at[i].holds;
        if (!said)
            return false;
    }
    return true;
}

ImpVariants workspace_needs(Ctx *ctx, const NatFacts *facts, const Workspace *space)
{
    ImpVariants needs = {0};
    for (int i = 0; i < space->variants.n; i++) {
        bool said = false;
        for (int k = 0; k < space->variants.n && !said; k++) {
            const bool same = imp_same_when(&space->variants.at[k]->when, &space->variants.at[i]->when) && space->ends.at[k] == space->ends.at[i];
            said = same ? k < i : implies(&space->variants.at[i]->when, &space->variants.at[k]->when) && nat_le(ctx, facts, space->ends.at[i], space->ends.at[k]);
        }
        if (!said)
            vec_push(ctx, &needs, space->variants.at[i]);
    }
    return needs;
}

static void list_variants(Ctx *ctx, const ImpProgram *program, Workspace *space)
{
    for (int i = 0; i < program->launches.n; i++)
        for (int v = 0; v < program->launches.at[i].variants.n; v++) {
            find_buffers(ctx, program, i, &program->launches.at[i].variants.at[v], space);
            vec_push(ctx, &space->variants, &program->launches.at[i].variants.at[v]);
            vec_push(ctx, &space->ends, NULL);
        }
}

void workspace_plan(Ctx *ctx, const ImpProgram *program, Workspace *space)
{
    *space = (Workspace){.align = WORKSPACE_ALIGN};
    list_variants(ctx, program, space);
    for (int i = 0; i < space->buffers.n; i++)
        space->buffers.at[i].bytes = nat_mul_k(ctx, space->buffers.at[i].cells, scalar_bytes(space->buffers.at[i].buf->elem));
    int64_t rounds = place_flags(ctx, space, true, WORKSPACE_FIRST_FLAG);
    space->flags = rounded_up(place_flags(ctx, space, false, rounds), WORKSPACE_FLAGS_STEP);
    sort(ctx, space);
    list_names(ctx, space);
    share_places(ctx, space);
    int *of = NEWN(ctx, int, space->variants.n + 1);
    for (int i = 0; i < space->variants.n; i++)
        of[i] = i;
    const Level whole = {&space->variants, space->variants.n, 0, of, NULL};
    place_level(ctx, space, &whole, (Kept){0});
    for (int i = 0; i < space->buffers.n; i++)
        if (space->buffers.at[i].over >= 0)
            space->buffers.at[i].offset = space->buffers.at[space->buffers.at[i].over].offset;
}
