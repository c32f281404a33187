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

static bool is_there(const WorkBuffer *b, const ImpWhens *when)
{
    for (int i = 0; i < b->whens.n; i++)
        if (implies(when, b->whens.at[i]))
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

typedef struct End { /* of buffers that begin at one place: of the longest */
    Nat offset, bytes;
} End;

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

static bool has_place(const WorkBuffer *b) { return b->offset && b->over < 0; }

/* The end of the last ones of the first n buffers that `wanted` picks; `steps`: where the next one may begin. Those that lie before another one of them say nothing.
 * What begins at one place is said once: else the text of each end would have that of the one before several times. */
static Nat end_of(Ctx *ctx, const Workspace *space, int n, bool (*wanted)(const WorkBuffer *b, const void *user), const void *user, bool steps)
{
    VEC(End) ends = {0};
    for (int i = 0; i < n; i++) {
        const WorkBuffer *b = &space->buffers.at[i];
        bool last = has_place(b) && wanted(b, user);
        for (int k = i + 1; last && k < n; k++)
            last = !(has_place(&space->buffers.at[k]) && wanted(&space->buffers.at[k], user) && meet(b, &space->buffers.at[k]));
        if (!last)
            continue;
        Nat bytes = steps ? in_steps(ctx, b->bytes) : b->bytes;
        int k = 0;
        while (k < ends.n && ends.at[k].offset != b->offset)
            k++;
        if (k == ends.n)
            vec_push(ctx, &ends, ((End){b->offset, bytes}));
        ends.at[k].bytes = nat_max(ctx, ends.at[k].bytes, bytes);
    }
    Nat end = nat_const(ctx, space->flags);
    for (int k = 0; k < ends.n; k++) {
        Nat own = nat_add(ctx, ends.at[k].offset, ends.at[k].bytes);
        end = nat_is(end, space->flags) ? own : nat_max(ctx, end, own);
    }
    return end;
}

static bool wanted_beside(const WorkBuffer *b, const void *user) { return meet(b, user); }
static bool wanted_under(const WorkBuffer *b, const void *user) { return is_there(b, user); }

Nat workspace_bytes(Ctx *ctx, const Workspace *space, const ImpWhens *when)
{
    return end_of(ctx, space, space->buffers.n, wanted_under, when, false);
}

void workspace_plan(Ctx *ctx, const ImpProgram *program, Workspace *space)
{
    *space = (Workspace){.align = WORKSPACE_ALIGN};
    for (int i = 0; i < program->launches.n; i++)
        for (int v = 0; v < program->launches.at[i].variants.n; v++)
            find_buffers(ctx, program, i, &program->launches.at[i].variants.at[v], space);
    for (int i = 0; i < space->buffers.n; i++)
        space->buffers.at[i].bytes = nat_mul_k(ctx, space->buffers.at[i].cells, scalar_bytes(space->buffers.at[i].buf->elem));
    int64_t rounds = place_flags(ctx, space, true, WORKSPACE_FIRST_FLAG);
    space->flags = rounded_up(place_flags(ctx, space, false, rounds), WORKSPACE_FLAGS_STEP);
    sort(ctx, space);
    list_names(ctx, space);
    share_places(ctx, space);
    for (int i = 0; i < space->buffers.n; i++)
        if (space->buffers.at[i].over >= 0)
            space->buffers.at[i].offset = space->buffers.at[space->buffers.at[i].over].offset;
        else if (space->buffers.at[i].flag < 0 || space->buffers.at[i].offset)
            space->buffers.at[i].offset = end_of(ctx, space, i, wanted_beside, &space->buffers.at[i], true);
}

/* A buffer has at most 2^55 bytes where its kernel may be launched. */
bool workspace_may_overflow(const Workspace *space, const WorkBuffer *b)
{
    enum { MANY = 200 };
    for (int i = 0; &space->buffers.at[i] != b; i++)
        for (int w = 0; w < b->whens.n; w++)
            if (space->buffers.at[i].offset && meet(&space->buffers.at[i], b) && !is_there(&space->buffers.at[i], b->whens.at[w]) &&
                b->offset)
                return true;
    return space->buffers.n >= MANY;
}
