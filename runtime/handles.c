#include "handles.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

/* From the top: 4 bits of kind, the generation, the place. The kinds are chosen so that no pointer of a
 * 64-bit system has them there. */
enum {
    BITS = sizeof(uintptr_t) * 8,
    PLACE_BITS = BITS == 64 ? 22 : 14,
    KIND_BITS = 4,
    GENERATION_BITS = BITS - KIND_BITS - PLACE_BITS,
    FIRST_KIND = 9,
    KINDS = 4,
    CHUNK = 1024, /* places that are allocated together */
    CHUNKS = (1 << PLACE_BITS) / CHUNK
};

static const char *const kind_names[KINDS] = {"context", "program", "entry", "call"};

typedef struct Place {
    _Atomic(uintptr_t) handle; /* of what is there now; 0: nothing */
    void *object;              /* written before the handle is */
    /* Under the lock: */
    uintptr_t generation; /* of the last handle; from 1 */
    uint32_t next;        /* free place, + 1; 0: none */
    bool inherited;       /* from the parent of a fork */
} Place;

static _Atomic(Place *) chunks[CHUNKS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t used, first_free, last_free; /* under the lock; the latter two + 1 */
static atomic_int inside[2], broken[2];      /* by Unforkable */
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* ---- parts of a handle ---------------------------------------------------------------------------------- */

static uintptr_t handle_of(HandleKind kind, uintptr_t generation, uint32_t place)
{
    uintptr_t top = (uintptr_t)(FIRST_KIND + kind) << (BITS - KIND_BITS);
    return top | generation << PLACE_BITS | place;
}

static int kind_in(uintptr_t handle) { return (int)(handle >> (BITS - KIND_BITS)) - FIRST_KIND; }

static uintptr_t generation_in(uintptr_t handle)
{
    return handle << KIND_BITS >> KIND_BITS >> PLACE_BITS;
}

static Place *place_at(uint32_t place)
{
    Place *chunk = atomic_load_explicit(&chunks[place / CHUNK], memory_order_acquire);
    return chunk ? &chunk[place % CHUNK] : NULL;
}

static Place *place_in(uintptr_t handle) { return place_at((uint32_t)(handle & ((1u << PLACE_BITS) - 1))); }

/* ---- fork ------------------------------------------------------------------------------------------------ */

static void before_fork(void) { pthread_mutex_lock(&lock); }
static void in_parent(void) { pthread_mutex_unlock(&lock); }

/* Locks of the parent's objects may be held by threads that are not here. None of them is used again. */
static void in_child(void)
{
    for (uint32_t i = 0; i < used; i++) {
        Place *place = place_at(i);
        place->inherited = atomic_exchange(&place->handle, 0) != 0 || place->inherited;
    }
    for (int i = 0; i < 2; i++)
        broken[i] |= atomic_exchange(&inside[i], 0) > 0;
    pthread_mutex_unlock(&lock);
}

static void watch_forks(void) { pthread_atfork(before_fork, in_parent, in_child); }

void fork_note(Unforkable what, int by)
{
    pthread_once(&once, watch_forks);
    atomic_fetch_add(&inside[what], by);
}

bool fork_broke(Unforkable what) { return atomic_load(&broken[what]) != 0; }

/* ---- the table --------------------------------------------------------------------------------------------- */

/* A place that is free, under the lock; NULL where a chunk is wanted first, or where all are used. */
static Place *take_place(uint32_t *number)
{
    *number = first_free ? first_free - 1 : used;
    Place *place = *number < CHUNK * CHUNKS ? place_at(*number) : NULL;
    if (!place)
        return NULL;
    if (first_free) {
        first_free = place->next;
        last_free = first_free ? last_free : 0;
    } else {
        used++;
    }
    return place;
}

/* A generation that would come again is no use: the place stays empty. */
static void free_place(Place *place, uint32_t number)
{
    if (place->generation + 1 == (uintptr_t)1 << GENERATION_BITS)
        return;
    place->next = 0;
    if (last_free)
        place_at(last_free - 1)->next = number + 1;
    else
        first_free = number + 1;
    last_free = number + 1;
}

static uintptr_t try_new(HandleKind kind, void *object)
{
    uint32_t number;
    uintptr_t handle = 0;
    pthread_mutex_lock(&lock);
    Place *place = take_place(&number);
    if (place) {
        place->object = object;
        handle = handle_of(kind, ++place->generation, number);
        atomic_store_explicit(&place->handle, handle, memory_order_release);
    }
    pthread_mutex_unlock(&lock);
    return handle;
}

/* Not under the lock, so that fork, which takes it, and malloc never wait for each other. */
static bool add_chunk(void)
{
    Place *chunk = calloc(CHUNK, sizeof *chunk);
    bool added = false;
    if (!chunk)
        return false;
    pthread_mutex_lock(&lock);
    for (uint32_t i = used / CHUNK; !added && i < CHUNKS; i++) {
        Place *none = NULL;
        added = atomic_compare_exchange_strong(&chunks[i], &none, chunk);
    }
    pthread_mutex_unlock(&lock);
    if (!added)
        free(chunk);
    return added;
}

void *handle_new(HandleKind kind, void *object, rise_error *error)
{
    pthread_once(&once, watch_forks);
    uintptr_t handle = try_new(kind, object);
    while (!handle && add_chunk())
        handle = try_new(kind, object);
    if (!handle)
        rise_fail(error, RISE_ERROR_MEMORY, "out of memory");
    return (void *)handle;
}

/* ---- looking ------------------------------------------------------------------------------------------------- */

/* Why it is not what was wanted. */
static void wrong(HandleKind kind, uintptr_t handle, rise_error *error)
{
    const char *wanted = kind_names[kind];
    int is = kind_in(handle);
    Place *place = place_in(handle);
    if (!handle) {
        rise_fail(error, RISE_ERROR_ARGUMENT, "%s is NULL", wanted);
        return;
    }
    pthread_mutex_lock(&lock);
    bool ours = is >= 0 && is < KINDS && place && generation_in(handle) > 0 && generation_in(handle) <= place->generation;
    bool live = ours && atomic_load(&place->handle) == handle;
    bool inherited = ours && place->inherited && generation_in(handle) == place->generation;
    pthread_mutex_unlock(&lock);
    if (live)
        rise_fail(error, RISE_ERROR_ARGUMENT, "a rise_%s is given where a rise_%s is wanted", kind_names[is], wanted);
    else if (inherited)
        rise_fail(error, RISE_ERROR_ARGUMENT,
                  "the %s is of the process that has forked this one: a child of fork makes its own, "
                  "from rise_context_new on",
                  kind_names[is]);
    else if (ours)
        rise_fail(error, RISE_ERROR_ARGUMENT, "the %s was freed before", kind_names[is]);
    else
        rise_fail(error, RISE_ERROR_ARGUMENT, "%p is no rise_%s, and never was one", (void *)handle, wanted);
}

void *handle_get(HandleKind kind, const void *given, rise_error *error)
{
    uintptr_t handle = (uintptr_t)given;
    Place *place = kind_in(handle) == (int)kind ? place_in(handle) : NULL;
    if (place && atomic_load_explicit(&place->handle, memory_order_acquire) == handle)
        return place->object;
    if (error)
        wrong(kind, handle, error);
    return NULL;
}

void *handle_take(HandleKind kind, const void *given)
{
    uintptr_t handle = (uintptr_t)given;
    Place *place = kind_in(handle) == (int)kind ? place_in(handle) : NULL;
    if (!place || !atomic_compare_exchange_strong(&place->handle, &handle, 0))
        return NULL;
    void *object = place->object;
    pthread_mutex_lock(&lock);
    free_place(place, (uint32_t)((uintptr_t)given & ((1u << PLACE_BITS) - 1)));
    pthread_mutex_unlock(&lock);
    return object;
}
