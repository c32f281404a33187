#include "driver/room.h"
#include "sim/sim.h"

#include <stdlib.h>
#include <unistd.h>

enum { OFFERED_BYTES = 1 << 26 /* smaller sizes are offered that need no more than this */ };

typedef struct Room {
    Ctx *ctx;
    const CoreEntry *entry;
    const char *const *names;
    bool *from_file; /* by component of the inputs */
    int copies, watched;
    int64_t total;   /* bytes; INT64_MAX where they are too many to count */
    int64_t largest, largest_count;
    const char *largest_name;
    Type largest_type;
} Room;

static void add_buffer(Room *room, int64_t count, int64_t each, const char *name, Type type)
{
    int64_t bytes;
    if (!mul_fits(count, each, &bytes))
        bytes = INT64_MAX;
    if (!add_fits(room->total, bytes, &room->total))
        room->total = INT64_MAX;
    if (bytes > room->largest) {
        room->largest = bytes;
        room->largest_count = count;
        room->largest_name = name;
        room->largest_type = type;
    }
}

/* False when a size has no value, or the elements are too many to count. */
static bool count_elements(const CoreEntry *entry, const Launch *launch, Type t, int64_t *count)
{
    bool empty = false, fits = true;
    *count = 1;
    for (; t->kind == TY_ARRAY || t->kind == TY_VEC; t = t->elem) {
        int64_t size;
        if (!launch_nat(NULL, entry, launch, t->size, &size) || size < 0)
            return false;
        empty |= size == 0;
        fits = fits && mul_fits(*count, size, count);
    }
    *count = empty ? 0 : *count;
    return empty || fits;
}

/* Adds up what these sizes need. False when that has no value; who makes the buffers will say why. */
static bool measure(Room *room, const Launch *launch)
{
    const CoreEntry *entry = room->entry;
    int64_t count;
    int k = 0;
    room->total = room->largest = 0;
    for (int i = 0; i < entry->n_inputs; i++)
        for (int c = 0; c < type_component_count(entry->inputs[i]->type); c++, k++) {
            Type type = type_component(room->ctx, entry->inputs[i]->type, c);
            if (room->from_file[k])
                continue;
            if (!count_elements(entry, launch, type, &count))
                return false;
            add_buffer(room, count, scalar_bytes(type_scalar_of(room->ctx, type)), room->names[k], type);
        }
    for (int c = 0; c < type_component_count(entry->result); c++) {
        Type type = type_component(room->ctx, entry->result, c);
        if (!count_elements(entry, launch, type, &count))
            return false;
        add_buffer(room, count, (int64_t)scalar_bytes(type_scalar_of(room->ctx, type)) * room->copies + room->watched, "the result", type);
    }
    return true;
}

static void add_elements(Ctx *ctx, const CoreEntry *entry, const Launch *launch, Type type, int64_t *total)
{
    int64_t count;
    for (int c = 0; c < type_component_count(type); c++)
        if (!count_elements(entry, launch, type_component(ctx, type, c), &count) || !add_fits(*total, count, total))
            *total = INT64_MAX;
}

int64_t room_elements(Ctx *ctx, const CoreEntry *entry, const Launch *launch)
{
    int64_t total = 0;
    for (int i = 0; i < entry->n_inputs; i++)
        add_elements(ctx, entry, launch, entry->inputs[i]->type, &total);
    add_elements(ctx, entry, launch, entry->result, &total);
    return total;
}

/* All the memory of the machine, and what a limit on the process leaves of it. */
static bool fits(int64_t bytes)
{
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    int64_t all;
    if (pages > 0 && page > 0 && mul_fits(pages, page, &all) && bytes > all)
        return false;
    void *probe = (uint64_t)bytes <= SIZE_MAX / 2 ? malloc((size_t)bytes + 1) : NULL;
    free(probe);
    return probe;
}

static bool is_set(const Driver *d, const char *name)
{
    for (int i = 0; i < d->line->given.n; i++)
        if (d->line->given.at[i].id == OPT_SET && strcmp(d->line->given.at[i].name, name) == 0)
            return true;
    return false;
}

/* Powers of two for the sizes that --set gives, so small that all fits; the largest shrinks first. */
static void offer(Room *room, const Driver *d, const Launch *launch, Diag *diag)
{
    Launch less = *launch;
    less.sizes = NEWN(room->ctx, int64_t, launch->n_sizes + 1);
    memcpy(less.sizes, launch->sizes, sizeof(int64_t) * (size_t)launch->n_sizes);
    Room smaller = *room;
    while (smaller.total > OFFERED_BYTES) {
        int at = -1;
        for (int i = 0; i < less.n_sizes; i++)
            if (is_set(d, room->entry->sizes[i]->name) && less.sizes[i] > 1 && (at < 0 || less.sizes[i] > less.sizes[at]))
                at = i;
        if (at < 0)
            return;
        int64_t power = 1;
        while (power * 2 < less.sizes[at] && power < INT64_MAX / 4)
            power *= 2;
        less.sizes[at] = power;
        if (!measure(&smaller, &less))
            smaller.total = INT64_MAX;
    }
    StrBuf text;
    sb_init(&text, room->ctx);
    for (int i = 0; i < less.n_sizes; i++)
        if (less.sizes[i] != launch->sizes[i])
            sb_printf(&text, "%s--set %s=%lld", text.len ? " " : "", room->entry->sizes[i]->name, (long long)less.sizes[i]);
    diag_help(room->ctx, diag, "try smaller sizes: `%s`", text.text);
}

bool room_check(Ctx *ctx, Driver *d, const CoreEntry *entry, const Launch *launch, const char *const *names, int copies, int watched)
{
    Room room = {.ctx = ctx, .entry = entry, .names = names, .from_file = NEWN(ctx, bool, launch->n_buffers + 1), .copies = copies, .watched = watched};
    for (int k = 0; k < launch->n_buffers; k++)
        room.from_file[k] = launch->buffers[k].bytes;
    HostBuf *results = NEWN(ctx, HostBuf, type_component_count(entry->result));
    if (watched && !sim_takes_results(ctx, entry, launch, 0, results))
        return false; /* before the inputs are filled */
    if (!measure(&room, launch) || fits(room.total))
        return true;
    driver_fail(d, STATUS_MEMORY);
    Diag *diag = diag_error(ctx, E0635, NO_SPAN, "%s: %s: %s has %lld elements here and takes %lld bytes, and memory does not hold what the run needs", entry->name,
                            room.largest_name, type_text(ctx, room.largest_type), (long long)room.largest_count, (long long)room.largest);
    if (room.total > room.largest)
        diag_note(ctx, diag, NO_SPAN, "all inputs and results together take %lld bytes", (long long)room.total);
    offer(&room, d, launch, diag);
    return false;
}
