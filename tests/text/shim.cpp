/* The scheduler of the shim: fibers, barriers, what warps do together, launches.
 *
 * A wave is a set of blocks that run at once: one, or a few with a random schedule, or all of a cooperative launch. A worker is a stack. A thread needs a worker
 * of its own only from its first wait to its end: a worker takes one thread after the other, so that kernels without barriers never switch. */
#include "shim.h"

#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include <algorithm>
#include <vector>

#if defined __SANITIZE_ADDRESS__ || defined SHIM_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#else
#define __sanitizer_start_switch_fiber(save, bottom, size) ((void)(save))
#define __sanitizer_finish_switch_fiber(save, bottom, size) ((void)(save))
#define ASAN_POISON_MEMORY_REGION(at, size) ((void)(at))
#define ASAN_UNPOISON_MEMORY_REGION(at, size) ((void)(at))
#endif
#if !defined __x86_64__ || defined SHIM_UCONTEXT
#define USE_UCONTEXT 1
#include <ucontext.h>
#else
#define USE_UCONTEXT 0
#endif

namespace cuda_shim {

ThreadIds *self;
dim3 launch_grid, launch_block;
long long index_max;
Schedule schedule;

enum {
    STACK_BYTES = 256 * 1024, PAGE_BYTES = 4096, WARP = 32, MAX_RESIDENT_BLOCKS = 3,
    STATIC_SHARED_MAX = 48 * 1024, SHARED_MAX = 227 * 1024, MAX_BLOCK_THREADS = 1024, MAX_BLOCKS_PER_SM = 2,
    MAX_COOPERATIVE_THREADS = 16384, IDLE_ROUNDS = 100000
};

/* ---- random numbers ------------------------------------------------------------------------------------------------------ */

uint64_t random_below(uint64_t *state, uint64_t bound)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (z ^ (z >> 31)) % bound;
}

/* ---- stacks -------------------------------------------------------------------------------------------------------------- */

struct Worker {
#if USE_UCONTEXT
    ucontext_t context;
#else
    void *sp;
#endif
    const void *bottom; /* of the stack, and its size: what the sanitizer must know */
    size_t size;
};

static Worker main_worker;
static Worker *current = &main_worker, *left; /* the one that runs, and the one that ran before it */
static std::vector<Worker *> idle;

#if !USE_UCONTEXT
extern "C" void cuda_shim_switch(void **save, void *to);
/* Pushes what a function must keep, and goes on where the other stack stopped. */
__asm__(".text\n"
        ".globl cuda_shim_switch\n"
        ".type cuda_shim_switch, @function\n"
        "cuda_shim_switch:\n"
        "    pushq %rbp\n    pushq %rbx\n    pushq %r12\n    pushq %r13\n    pushq %r14\n    pushq %r15\n"
        "    movq %rsp, (%rdi)\n"
        "    movq %rsi, %rsp\n"
        "    popq %r15\n    popq %r14\n    popq %r13\n    popq %r12\n    popq %rbx\n    popq %rbp\n"
        "    ret\n"
        ".size cuda_shim_switch, .-cuda_shim_switch\n");
#endif

static void arrived(void *fake)
{
    const void *bottom;
    size_t size;
    __sanitizer_finish_switch_fiber(fake, &bottom, &size);
#if defined __SANITIZE_ADDRESS__ || defined SHIM_ASAN
    left->bottom = bottom; /* how the main stack's place becomes known */
    left->size = size;
#else
    (void)bottom, (void)size;
#endif
}

static void switch_to(Worker *to)
{
    Worker *from = current;
    void *fake = nullptr;
    left = from;
    current = to;
    __sanitizer_start_switch_fiber(&fake, to->bottom, to->size);
#if USE_UCONTEXT
    swapcontext(&from->context, &to->context);
#else
    cuda_shim_switch(&from->sp, to->sp);
#endif
    arrived(fake);
}

static void work();
static void worker_start()
{
    arrived(nullptr);
    work();
}

static Worker *worker_new()
{
    void *map = mmap(nullptr, STACK_BYTES + PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED || mprotect(map, PAGE_BYTES, PROT_NONE))
        fail("no memory for another stack");
    Worker *w = new Worker();
    w->bottom = (char *)map + PAGE_BYTES;
    w->size = STACK_BYTES;
#if USE_UCONTEXT
    getcontext(&w->context);
    w->context.uc_stack.ss_sp = (char *)map + PAGE_BYTES;
    w->context.uc_stack.ss_size = STACK_BYTES;
    w->context.uc_link = nullptr;
    makecontext(&w->context, worker_start, 0);
#else
    void **top = (void **)((char *)map + PAGE_BYTES + STACK_BYTES) - 2; /* a call leaves the stack 8 bytes below a multiple of 16 */
    *top = (void *)worker_start;
    w->sp = top - 6;
#endif
    return w;
}

static Worker *idle_worker()
{
    if (idle.empty())
        return worker_new();
    Worker *w = idle.back();
    idle.pop_back();
    return w;
}

/* ---- threads, blocks, the wave -------------------------------------------------------------------------------------------- */

/* FOR_CHANGE: it would look again at what nobody has changed since. */
enum State : unsigned char { READY, RUNNING, AT_WARP, AT_BLOCK, AT_GRID, FOR_CHANGE, ENDED };

struct Thread : ThreadIds {
    int index, of_block; /* in the block; the block's index in the wave */
    Worker *worker;      /* NULL before it has begun and after its end */
    uint64_t result;     /* of what its warp did together */
    int line;            /* where it waits */
    std::vector<const void *> looked; /* what its last atomics read and left as it was, at this number of changes */
    uint64_t looked_when;
};

/* Lanes of a warp that wait for the others of their mask. */
struct Meeting {
    Together what;
    unsigned mask, here;
    int line;
    uint64_t values[WARP];
    int args[WARP];
};

struct Shared {
    const void *key;
    Guarded memory;
};

struct Block {
    int waiting, line, first, sum, all, any; /* at the barrier */
    std::vector<Meeting> meetings[MAX_BLOCK_THREADS / WARP];
    std::vector<Shared> shared;
    Guarded dynamic;
    bool has_dynamic;
};

static const char *kernel;
static void (*kernel_body)(void *);
static void *kernel_data;
static size_t dynamic_bytes;
static bool cooperative;
static int block_threads;
static std::vector<Thread> threads; /* of the wave, block by block */
static std::vector<State> states;
static std::vector<int> order, place; /* in which threads are looked at; where in it each one is */
static std::vector<uint64_t> ready;   /* a bit for each place: who is there can run */
static std::vector<Block> blocks;
static int n_ready, n_left, cursor, at_grid, grid_line;
static unsigned n_atomics;
static uint64_t n_changes;            /* by atomics */
static std::vector<int> for_change;   /* who waits for one */
static int idle_rounds;               /* how often these were let go on since the last one, as nobody else could */
static bool let_others; /* the next pick is not by rank: a thread that waits for others by atomics must not keep them from running */
static uint64_t random_state;
static Thread *to_begin;

static Thread *me() { return static_cast<Thread *>(self); }

void fail(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fflush(stdout);
    fprintf(stderr, "shim: ");
    if (self)
        fprintf(stderr, "%s, block (%u, %u, %u), thread (%u, %u, %u): ", kernel, self->block.x, self->block.y, self->block.z, self->thread.x,
                self->thread.y, self->thread.z);
    vfprintf(stderr, format, args);
    fprintf(stderr, "\n");
    va_end(args);
    _exit(3);
}

static const char *state_name(State s) { return s == AT_WARP ? "at a warp's barrier or shuffle" : s == AT_BLOCK ? "at a block's barrier" : "at the grid's barrier"; }

/* No thread can go on. */
[[noreturn]] static void deadlock()
{
    int ended = 0, shown = 0;
    const Thread *waits = nullptr;
    for (size_t i = 0; i < threads.size(); i++) {
        ended += states[i] == ENDED;
        if (states[i] != ENDED && !waits)
            waits = &threads[i];
    }
    self = nullptr;
    fprintf(stderr, "shim: %s: no thread can go on; %d of %d have ended\n", kernel, ended, (int)threads.size());
    for (size_t i = 0; i < threads.size() && shown < 4; i++) {
        const Thread *t = &threads[i];
        if (states[i] == ENDED || (shown && t->line == threads[i - 1].line && states[i] == states[i - 1]))
            continue;
        shown++;
        fprintf(stderr, "shim:   block (%u, %u, %u), thread (%u, %u, %u) waits %s, line %d\n", t->block.x, t->block.y, t->block.z, t->thread.x,
                t->thread.y, t->thread.z, state_name(states[i]), t->line);
        if (states[i] == AT_WARP)
            for (const Meeting &m : blocks[t->of_block].meetings[t->index / WARP])
                if (m.here >> (t->index % WARP) & 1)
                    fprintf(stderr, "shim:     lanes 0x%08x of 0x%08x are there\n", m.here, m.mask);
    }
    fail("a barrier or a shuffle is not reached by all of its threads (line %d)", waits ? waits->line : 0);
}

static void make_ready(int at)
{
    states[at] = READY;
    ready[(size_t)place[at] / 64] |= (uint64_t)1 << place[at] % 64;
    n_ready++;
}

static void end_wait_for_change()
{
    for (int at : for_change)
        make_ready(at);
    for_change.clear();
}

/* The first place from `from` on, round the end, where a thread is ready; there is one. */
static int next_ready(int from)
{
    size_t word = (size_t)from / 64;
    uint64_t bits = ready[word] & ~(uint64_t)0 << from % 64;
    while (!bits) {
        word = word + 1 == ready.size() ? 0 : word + 1;
        bits = ready[word];
    }
    return (int)(word * 64) + __builtin_ctzll(bits);
}

static bool by_rank() { return schedule.turns == TURNS_BY_WARP || schedule.turns == TURNS_BY_THREAD; }

/* The next thread to run, or NULL when all have ended. */
static Thread *pick()
{
    if (n_ready == 0 && !for_change.empty()) { /* a plain store may have made the change */
        if (++idle_rounds > IDLE_ROUNDS)
            fail("waits with all others by atomics for what nobody changes");
        end_wait_for_change();
    }
    if (n_ready == 0) {
        if (n_left)
            deadlock();
        return nullptr;
    }
    int n = (int)threads.size();
    if (by_rank() && !let_others)
        cursor = 0;
    else if (schedule.turns != TURNS_IN_ORDER && random_below(&random_state, 2)) /* else: go on near the last one */
        cursor = (int)random_below(&random_state, (uint64_t)n);
    let_others = false;
    int found = next_ready(cursor), at = order[found];
    cursor = found + 1 == n ? 0 : found + 1;
    ready[(size_t)found / 64] &= ~((uint64_t)1 << found % 64);
    states[at] = RUNNING;
    n_ready--;
    return &threads[at];
}

/* What a worker does: one thread after the other. */
static void work()
{
    for (;;) {
        Thread *t = to_begin;
        while (t) {
            t->worker = current;
            self = t;
            kernel_body(kernel_data);
            t->worker = nullptr;
            states[t - threads.data()] = ENDED;
            n_left--;
            self = nullptr;
            t = pick();
            if (t && t->worker)
                break;
        }
        idle.push_back(current);
        switch_to(t ? t->worker : &main_worker);
    }
}

/* Lets others run until this thread is ready again. */
static void wait_turn()
{
    Thread *own = me(), *t = pick();
    if (t != own) {
        if (!t->worker)
            to_begin = t;
        switch_to(t->worker ? t->worker : idle_worker());
    }
    self = own;
}

static void wait_at(State where, int line)
{
    Thread *t = me();
    t->line = line;
    states[t - threads.data()] = where;
    wait_turn();
}

/* With threads in order nothing but a barrier changes who runs, unless the threads wait for each other by atomics. A thread that waits in a loop goes round it only when there
 * is something new: else it would take the time of those that it waits for. */
void yield_point(const void *at)
{
    enum { RARELY = 64 };
    Thread *t = me();
    if (at && t->looked_when == n_changes && std::find(t->looked.begin(), t->looked.end(), at) != t->looked.end()) {
        for_change.push_back((int)(t - threads.data()));
        wait_at(FOR_CHANGE, 0);
        return;
    }
    n_atomics++;
    if (schedule.turns != TURNS_IN_ORDER ? random_below(&random_state, 4) != 0 : !cooperative && n_atomics % RARELY)
        return;
    let_others = true;
    make_ready((int)(t - threads.data()));
    wait_turn();
}

void atomic_done(const void *at, bool changed)
{
    Thread *t = me();
    if (changed || t->looked_when != n_changes)
        t->looked.clear();
    if (!changed)
        t->looked.push_back(at);
    n_changes += changed;
    if (changed) {
        idle_rounds = 0;
        end_wait_for_change();
    }
    t->looked_when = n_changes;
}

/* ---- barriers ------------------------------------------------------------------------------------------------------------- */

int block_barrier(BlockVote vote, int value, int line)
{
    Thread *t = me();
    Block *b = &blocks[t->of_block];
    if (b->waiting == 0) {
        b->line = line;
        b->first = t->index;
        b->sum = b->any = 0;
        b->all = 1;
    } else if (b->line != line) {
        fail("reaches the barrier of line %d while thread %d waits at that of line %d", line, b->first, b->line);
    }
    b->sum += value != 0;
    b->any |= value != 0;
    b->all &= value != 0;
    auto answer = [&] { return (uint64_t)(vote == VOTE_COUNT ? b->sum : vote == VOTE_AND ? b->all : b->any); };
    if (++b->waiting < block_threads) {
        wait_at(AT_BLOCK, line);
    } else {
        b->waiting = 0;
        int first = t->of_block * block_threads;
        for (int i = first; i < first + block_threads; i++) {
            threads[i].result = answer();
            if (i != t - threads.data())
                make_ready(i);
        }
    }
    return (int)t->result;
}

void grid_barrier(int line)
{
    if (!cooperative)
        fail("waits for the whole grid, which was not launched with cudaLaunchCooperativeKernel");
    if (at_grid && grid_line != line)
        fail("reaches the grid's barrier of line %d while others wait at that of line %d", line, grid_line);
    grid_line = line;
    if (++at_grid < (int)threads.size()) {
        wait_at(AT_GRID, line);
        return;
    }
    at_grid = 0;
    for (size_t i = 0; i < threads.size(); i++)
        if (&threads[i] != me())
            make_ready((int)i);
}

unsigned lane_id() { return (unsigned)me()->index % WARP; }

static uint64_t combined(Together what, uint64_t a, uint64_t b)
{
    int32_t sa = (int32_t)a, sb = (int32_t)b;
    uint32_t ua = (uint32_t)a, ub = (uint32_t)b;
    switch (what) {
    case WARP_ADD: return ua + ub;
    case WARP_MIN_S: return (uint32_t)(sa < sb ? sa : sb);
    case WARP_MAX_S: return (uint32_t)(sa > sb ? sa : sb);
    case WARP_MIN_U: return ua < ub ? ua : ub;
    case WARP_MAX_U: return ua > ub ? ua : ub;
    case WARP_AND: return ua & ub;
    case WARP_OR: return ua | ub;
    case WARP_XOR: return ua ^ ub;
    case WARP_SYNC: case WARP_SHUFFLE: case WARP_BALLOT: case WARP_MATCH: case WARP_MATCH_ALL: break;
    }
    return 0;
}

/* What the lane gets when all have come. A lane outside the mask gives rubbish, as on the device. */
static uint64_t lane_result(const Meeting &m, int lane)
{
    uint64_t r = 0, all = m.mask;
    bool any = false;
    if (m.what == WARP_SYNC)
        return 0;
    if (m.what == WARP_SHUFFLE)
        return m.mask >> m.args[lane] & 1 ? m.values[m.args[lane]] : 0xdeadbeefcafef00du;
    for (int i = 0; i < WARP; i++) {
        if (!(m.mask >> i & 1))
            continue;
        if (m.what == WARP_BALLOT)
            r |= (uint64_t)m.values[i] << i;
        else if (m.what == WARP_MATCH)
            r |= (uint64_t)(m.values[i] == m.values[lane]) << i;
        else if (m.what == WARP_MATCH_ALL)
            all = m.values[i] == m.values[lane] ? all : 0;
        else
            r = any ? combined(m.what, r, m.values[i]) : m.values[i];
        any = true;
    }
    return m.what == WARP_MATCH_ALL ? all : r;
}

uint64_t warp_together(Together what, unsigned mask, uint64_t value, int arg, int line)
{
    Thread *t = me();
    int lane = t->index % WARP, base = t->index - lane;
    unsigned exist = block_threads - base >= WARP ? 0xffffffffu : (1u << (block_threads - base)) - 1;
    if (!(mask >> lane & 1))
        fail("line %d: lane %d is not in its own mask 0x%08x", line, lane, mask);
    if (mask & ~exist)
        fail("line %d: the mask 0x%08x names lanes that the block of %d threads does not have", line, mask, block_threads);
    std::vector<Meeting> &meetings = blocks[t->of_block].meetings[t->index / WARP];
    size_t at = 0;
    while (at < meetings.size() && (meetings[at].what != what || meetings[at].mask != mask || meetings[at].here >> lane & 1))
        at++;
    if (at == meetings.size()) {
        meetings.emplace_back();
        meetings[at].what = what;
        meetings[at].mask = mask;
        meetings[at].here = 0;
        meetings[at].line = line;
    }
    Meeting &m = meetings[at];
    if (m.line != line)
        fail("line %d: lane %d comes to a shuffle or barrier of the warp while others wait at that of line %d", line, lane, m.line);
    m.here |= 1u << lane;
    m.values[lane] = value;
    m.args[lane] = arg;
    if (m.here != mask) {
        wait_at(AT_WARP, line);
        return t->result;
    }
    int first = t->of_block * block_threads + base;
    bool by_lane = what == WARP_SHUFFLE || what == WARP_MATCH;
    uint64_t same = by_lane ? 0 : lane_result(m, lane);
    for (int i = 0; i < WARP; i++)
        if (mask >> i & 1) {
            threads[first + i].result = by_lane ? lane_result(m, i) : same;
            if (i != lane)
                make_ready(first + i);
        }
    meetings.erase(meetings.begin() + (long)at);
    return t->result;
}

/* ---- memory ---------------------------------------------------------------------------------------------------------------- */

Guarded guarded_new(size_t bytes, size_t offset, unsigned char rubbish)
{
    Guarded g = {nullptr, nullptr, bytes, offset + bytes};
    void *base = nullptr;
    /* The allocator poisons what lies behind; what lies before is poisoned here. An empty one is one byte that nobody may touch. */
    if (posix_memalign(&base, BOUNDARY, g.room ? g.room : 1))
        fail("no memory for %zu bytes", bytes);
    g.base = (unsigned char *)base;
    g.at = g.base + offset;
    memset(g.base, rubbish, g.room ? g.room : 1);
    if (bytes)
        ASAN_POISON_MEMORY_REGION(g.base, offset & ~(size_t)7);
    else
        ASAN_POISON_MEMORY_REGION(g.base, g.room ? g.room : 1);
    return g;
}

void guarded_free(Guarded *g)
{
    ASAN_UNPOISON_MEMORY_REGION(g->base, g->room ? g->room : 1);
    free(g->base);
    g->base = g->at = nullptr;
}

static unsigned char rubbish() { return schedule.turns ? (unsigned char)(0x80 | random_below(&random_state, 128)) : 0xa5; }

void *shared_variable(const void *key, size_t bytes, size_t align)
{
    Block *b = &blocks[me()->of_block];
    (void)align; /* guarded memory begins at a boundary */
    for (Shared &s : b->shared)
        if (s.key == key)
            return s.memory.at;
    size_t static_bytes = bytes;
    for (const Shared &s : b->shared)
        static_bytes += s.memory.bytes;
    if (static_bytes > STATIC_SHARED_MAX)
        fail("more than %d bytes of static shared memory", STATIC_SHARED_MAX);
    b->shared.push_back({key, guarded_new(bytes, 0, rubbish())});
    return b->shared.back().memory.at;
}

void *dynamic_shared(size_t)
{
    Block *b = &blocks[me()->of_block];
    if (!b->has_dynamic) {
        b->dynamic = guarded_new(dynamic_bytes, 0, rubbish());
        b->has_dynamic = true;
    }
    return b->dynamic.at;
}

/* ---- launches --------------------------------------------------------------------------------------------------------------- */

static cudaError_t last_error;
static std::vector<std::pair<const void *, int>> opted_in; /* dynamic shared bytes by function */
static std::vector<void *> allocated;
static bool too_much_shared;

void start_run(const Schedule &how)
{
    schedule = how;
    random_state = how.seed * 0x2545f4914f6cdd1du;
    last_error = cudaSuccess;
    opted_in.clear();
    too_much_shared = false;
    index_max = how.wide ? -1 : 2147483647;
    self = nullptr;
}

static int thread_count(dim3 d) { return (int)(d.x * d.y * d.z); }

static void rank_warps()
{
    std::vector<int> warps; /* first threads */
    for (size_t i = 0; i < threads.size(); i++)
        if (threads[i].index % WARP == 0)
            warps.push_back((int)i);
    for (size_t i = warps.size(); i > 1; i--)
        std::swap(warps[i - 1], warps[random_below(&random_state, i)]);
    size_t n = 0;
    for (int first : warps)
        for (int lane = 0; lane < WARP && threads[(size_t)first].index + lane < block_threads; lane++)
            order[n++] = first + lane;
}

static void run_wave(const std::vector<uint3> &ids)
{
    size_t n = ids.size() * (size_t)block_threads;
    threads.resize(n);
    states.resize(n);
    order.resize(n);
    place.resize(n);
    ready.assign((n + 63) / 64, 0);
    blocks.resize(ids.size());
    for (size_t i = 0; i < n; i++) {
        unsigned k = (unsigned)i % (unsigned)block_threads;
        Thread *t = &threads[i];
        t->thread = {k % launch_block.x, k / launch_block.x % launch_block.y, k / launch_block.x / launch_block.y};
        t->block = ids[i / (size_t)block_threads];
        t->index = (int)k;
        t->of_block = (int)(i / (size_t)block_threads);
        t->worker = nullptr;
        t->looked.clear();
        order[i] = (int)i;
    }
    if (schedule.turns == TURNS_BY_WARP)
        rank_warps();
    else
        for (size_t i = n; schedule.turns != TURNS_IN_ORDER && i > 1; i--)
            std::swap(order[i - 1], order[random_below(&random_state, i)]);
    n_ready = 0;
    n_left = (int)n;
    for (size_t i = 0; i < n; i++) {
        place[(size_t)order[i]] = (int)i;
        make_ready(order[i]);
    }
    for (Block &b : blocks) {
        b.waiting = 0;
        for (Shared &s : b.shared) /* what the last block left behind must not be of use */
            memset(s.memory.at, rubbish(), s.memory.bytes);
        if (b.has_dynamic && b.dynamic.bytes)
            memset(b.dynamic.at, rubbish(), b.dynamic.bytes);
    }
    cursor = at_grid = idle_rounds = 0;
    to_begin = pick();
    switch_to(idle_worker());
    self = nullptr;
}

static void free_shared()
{
    for (Block &b : blocks) {
        for (Shared &s : b.shared)
            guarded_free(&s.memory);
        if (b.has_dynamic)
            guarded_free(&b.dynamic);
    }
    blocks.clear();
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t r = a % b;
        a = b;
        b = r;
    }
    return a;
}

static cudaError_t error_of(cudaError_t e)
{
    last_error = e;
    return e;
}

cudaError_t launch_body(const char *name, const void *function, Config how, void (*body)(void *), void *data)
{
    kernel = name;
    if (self)
        fail("launches a kernel");
    if (last_error != cudaSuccess)
        fail("is launched though what was launched before it failed");
    if (how.grid.x < 1 || how.grid.x > 2147483647u || how.grid.y < 1 || how.grid.y > 65535 || how.grid.z < 1 || how.grid.z > 65535 ||
        how.block.x < 1 || how.block.y < 1 || how.block.z < 1 || how.block.z > 64 ||
        (uint64_t)how.block.x * how.block.y * how.block.z > MAX_BLOCK_THREADS)
        return error_of(cudaErrorInvalidConfiguration);
    if (schedule.fails && --schedule.fails == 0)
        return error_of(cudaErrorLaunchFailure);
    int allowed = STATIC_SHARED_MAX;
    for (const auto &o : opted_in)
        if (o.first == function)
            allowed = o.second > allowed ? o.second : allowed;
    if (how.shared > (size_t)allowed)
        return error_of(cudaErrorInvalidValue);
    unsigned limit = how.cooperative && schedule.grid_limit == 1 ? 2 : schedule.grid_limit; /* one block may answer the others */
    for (unsigned *axis : {&how.grid.x, &how.grid.y, &how.grid.z})
        if (limit && *axis > limit)
            *axis = limit;
    launch_grid = how.grid;
    launch_block = how.block;
    block_threads = thread_count(how.block);
    kernel_body = body;
    kernel_data = data;
    dynamic_bytes = how.shared;
    cooperative = how.cooperative;
    uint64_t n = (uint64_t)how.grid.x * how.grid.y * how.grid.z, resident = 1;
    if (cooperative && n * (uint64_t)block_threads > MAX_COOPERATIVE_THREADS)
        return error_of(cudaErrorCooperativeLaunchTooLarge);
    if (cooperative)
        resident = n;
    else if (schedule.turns != TURNS_IN_ORDER)
        resident = 1 + random_below(&random_state, MAX_RESIDENT_BLOCKS);
    /* Random: from one block to the next by a step that has no divisor in common with their number, so that each has its turn. */
    uint64_t at = 0, step = 1;
    if (schedule.turns != TURNS_IN_ORDER) {
        at = random_below(&random_state, n);
        step = 1 + random_below(&random_state, n);
        while (common_divisor(step, n) != 1)
            step++;
    }
    std::vector<uint3> ids;
    for (uint64_t k = 0; k < n; k++, at = (at + step) % n) {
        ids.push_back({(unsigned)(at % how.grid.x), (unsigned)(at / how.grid.x % how.grid.y), (unsigned)(at / how.grid.x / how.grid.y)});
        if (ids.size() == resident || k + 1 == n) {
            run_wave(ids);
            ids.clear();
        }
    }
    free_shared();
    return cudaSuccess;
}

cudaError_t cudaGetLastError()
{
    cudaError_t e = last_error;
    last_error = cudaSuccess;
    return e;
}
cudaError_t cudaPeekAtLastError() { return last_error; }
const char *cudaGetErrorString(cudaError_t e) { return e == cudaSuccess ? "no error" : "an error"; }

cudaError_t cudaFuncSetAttribute(const void *function, cudaFuncAttribute attribute, int value)
{
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize)
        return cudaSuccess;
    too_much_shared |= value > SHARED_MAX;
    if (value < 0 || value > SHARED_MAX)
        return error_of(cudaErrorInvalidValue);
    opted_in.push_back({function, value});
    return cudaSuccess;
}

cudaError_t cudaGetDevice(int *device)
{
    *device = 0;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int)
{
    switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock: *value = MAX_BLOCK_THREADS; break;
    case cudaDevAttrMultiProcessorCount: *value = (int)schedule.multiprocessors; break;
    case cudaDevAttrMaxThreadsPerMultiProcessor: *value = 2048; break;
    case cudaDevAttrComputeCapabilityMajor: *value = 9; break;
    case cudaDevAttrComputeCapabilityMinor: *value = 0; break;
    case cudaDevAttrCooperativeLaunch: *value = 1; break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = SHARED_MAX; break;
    }
    return cudaSuccess;
}

cudaError_t occupancy(int *n, int threads_each, size_t shared)
{
    int fit = 2048 / (threads_each > 0 ? threads_each : 1), by_shared = shared ? (int)(SHARED_MAX / shared) : MAX_BLOCKS_PER_SM;
    *n = fit < by_shared ? fit : by_shared;
    if (*n > MAX_BLOCKS_PER_SM)
        *n = MAX_BLOCKS_PER_SM;
    return cudaSuccess;
}

bool wanted_too_much_shared() { return too_much_shared; }
int live_allocations() { return (int)allocated.size(); }

/* Host functions are asked for sizes that no device has room for: only cudaMalloc refuses. */
cudaError_t cudaMemGetInfo(size_t *unused, size_t *all)
{
    *unused = *all = SIZE_MAX;
    return cudaSuccess;
}

cudaError_t cudaMalloc(void **at, size_t bytes)
{
    *at = nullptr;
    if (!bytes)
        return cudaSuccess;
    if (posix_memalign(at, BOUNDARY, bytes))
        return error_of(cudaErrorMemoryAllocation);
    memset(*at, rubbish(), bytes);
    allocated.push_back(*at);
    return cudaSuccess;
}

cudaError_t cudaFree(void *at)
{
    for (size_t i = 0; at && i < allocated.size(); i++)
        if (allocated[i] == at) {
            allocated.erase(allocated.begin() + (long)i);
            free(at);
            return cudaSuccess;
        }
    return at ? error_of(cudaErrorInvalidValue) : cudaSuccess;
}

cudaError_t cudaMemset(void *at, int value, size_t bytes)
{
    memset(at, value, bytes);
    return cudaSuccess;
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind)
{
    memcpy(to, from, bytes);
    return cudaSuccess;
}

} // namespace cuda_shim
