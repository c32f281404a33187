/* Runs the programs of a batch on the shim and compares with what the reference interpreter gave.
 *
 *   batch DIR [--seed N] [--share K/N] [--hang SECONDS] [--rounds N]
 *
 * --share K/N: every N-th program, from the K-th on. --rounds: how often each launch is run in all of its orders.
 *
 * DIR/NAME.cases has the launches of a program (text_cases.c writes it). Each program has a process of its own, so that one that crashes does not take the others along. A line for
 * each, `agree NAME RUNS` or `VERDICT NAME: WHAT`, where VERDICT is differ (wrong bits), crash (a sanitizer or the shim ended it), hang, or
 * broken (the test itself). What a crashed one said is in DIR/NAME.log. */
#include "shim.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace cuda_shim;

static Twin *twins, **last_twin = &twins;
cuda_shim::Twin::Twin(const char *name_, HostFunction call_, int arguments, WorkspaceFunction workspace_, InitFunction init_)
    : name(name_), call(call_), n_arguments(arguments), workspace(workspace_), init(init_), next(nullptr)
{
    *last_twin = this;
    last_twin = &next;
}

enum { DEVICES = 4 }; /* of 1 to so many multiprocessors */
enum { GRID_CHOICES = 4, LARGE_CELLS = 4000 /* launches with more have one random order, in turn, and not all of them */ };
static long hang_seconds = 120; /* of processor time for one launch; only against hanging for ever */

/* ---- cases ----------------------------------------------------------------------------------------------------------------- */

enum Role { ROLE_OUT, ROLE_IN, ROLE_TEMP };
enum Kind { KIND_INTEGER, KIND_F16, KIND_BF16, KIND_F32, KIND_F64 };

struct Buffer {
    int role, kind, elem_bytes, align;
    int64_t count;             /* TEMP: the workspace, of as many bytes as its function says */
    const unsigned char *data; /* OUT: what it must be; IN: what it is */
    size_t bytes() const { return (size_t)count * (size_t)elem_bytes; }
};

struct Case {
    bool refused; /* the host function must say that the sizes are too large */
    std::vector<long long> sizes;
    std::vector<Buffer> buffers;
};

struct Cases {
    bool any_grid; /* fewer blocks than the host asks for must do, too */
    std::vector<Case> list;
    std::string text;
};

static bool read_cases(const std::string &path, Cases *cases)
{
    FILE *file = fopen(path.c_str(), "rb");
    if (!file)
        return false;
    char part[1 << 16];
    for (size_t n; (n = fread(part, 1, sizeof part, file)) > 0;)
        cases->text.append(part, n);
    fclose(file);
    const char *at = cases->text.data(), *end = at + cases->text.size();
    bool good = true;
    auto number = [&]() -> int64_t {
        int64_t v = 0;
        good &= end - at >= 8;
        if (good)
            memcpy(&v, at, 8), at += 8;
        return v;
    };
    cases->any_grid = number() != 0;
    int64_t n = number();
    for (int64_t i = 0; good && i < n; i++) {
        Case c;
        c.refused = number() != 0;
        for (int64_t k = number(); good && k > 0; k--)
            c.sizes.push_back(number());
        for (int64_t k = number(); good && k > 0; k--) {
            Buffer b = {};
            b.role = (int)number();
            b.kind = (int)number();
            b.elem_bytes = (int)number();
            b.align = (int)number();
            b.count = number();
            good &= (size_t)(end - at) >= b.bytes();
            b.data = (const unsigned char *)at;
            if (good)
                at += b.bytes();
            c.buffers.push_back(b);
        }
        cases->list.push_back(c);
    }
    return good && at == end;
}

/* ---- comparing -------------------------------------------------------------------------------------------------------------- */

static bool is_nan(int kind, const unsigned char *at)
{
    uint64_t bits = 0;
    switch (kind) {
    case KIND_F16: memcpy(&bits, at, 2); return (bits & 0x7fff) > 0x7c00;
    case KIND_BF16: memcpy(&bits, at, 2); return (bits & 0x7fff) > 0x7f80;
    case KIND_F32: memcpy(&bits, at, 4); return (bits & 0x7fffffff) > 0x7f800000;
    case KIND_F64: memcpy(&bits, at, 8); return (bits & 0x7fffffffffffffff) > 0x7ff0000000000000;
    }
    return false;
}

static std::string cell_text(const Buffer &b, const unsigned char *at)
{
    uint64_t bits = 0;
    char text[64];
    memcpy(&bits, at, (size_t)b.elem_bytes);
    if (b.kind == KIND_F32)
        snprintf(text, sizeof text, "%.9g", (double)from_bits<float>(bits));
    else if (b.kind == KIND_F64)
        snprintf(text, sizeof text, "%.17g", from_bits<double>(bits));
    else
        snprintf(text, sizeof text, "0x%0*llx", 2 * b.elem_bytes, (unsigned long long)bits);
    return text;
}

/* Any NaN is like any other. */
static int64_t first_difference(const Buffer &b, const unsigned char *got)
{
    size_t size = (size_t)b.elem_bytes;
    if (b.bytes() == 0 || memcmp(got, b.data, b.bytes()) == 0)
        return -1;
    for (int64_t i = 0; i < b.count; i++) {
        const unsigned char *mine = got + (size_t)i * size, *want = b.data + (size_t)i * size;
        if (memcmp(mine, want, size) && !(is_nan(b.kind, mine) && is_nan(b.kind, want)))
            return i;
    }
    return -1;
}

/* ---- one program -------------------------------------------------------------------------------------------------------------- */

/* Where the process of a program is; its parent sees it, too. */
struct Progress {
    int at_case;
    Schedule how;
    long runs, failed;
    bool done;
};
static Progress *progress;

static std::string where_text(const Case &c, const Schedule &how)
{
    std::string text = "sizes";
    for (long long s : c.sizes)
        text += " " + std::to_string(s);
    static const char *const turns[] = {"in order", "at random", "by random ranks of warps", "by random ranks"};
    text += std::string(", threads ") + turns[how.turns];
    text += how.turns != TURNS_IN_ORDER ? ", seed " + std::to_string(how.seed) : "";
    text += how.wide ? ", 64-bit indices" : "";
    return text + (how.grid_limit ? ", at most " + std::to_string(how.grid_limit) + " blocks" : "");
}

/* Ends the process when it has used so many seconds; 0: never. */
static void watch(long seconds)
{
    struct itimerval timer = {{0, 0}, {seconds, 0}};
    setitimer(ITIMER_PROF, &timer, nullptr);
}

/* ---- the workspace -------------------------------------------------------------------------------------------------------------- */

/* All launches of a program have one workspace, whatever their sizes and schedules. It is made ready once, and again after a launch that failed. Each launch sees of it what it
 * asks for, between poisoned bytes. */
static std::vector<unsigned char> kept;
enum { FAIL_ONE_IN = 4, FAIL_MOST = 3 };

/* Small integers, which are no flags, are mail that somebody has sent. */
static void fill(unsigned char *at, size_t bytes, bool ones)
{
    const unsigned word = ones ? 1 : 0xffffffff;
    for (size_t i = 0; i < bytes; i++)
        at[i] = (unsigned char)(word >> i % 4 * 8);
}

/* What stays of it goes to where this launch has it; it is full of 0xff before. "" or what is wrong. */
static std::string give_workspace(const Twin &twin, const Guarded &g)
{
    const bool first = kept.empty();
    const size_t before = kept.size();
    if (before < g.bytes) {
        kept.resize(g.bytes);
        fill(kept.data() + before, g.bytes - before, !first);
    }
    memcpy(g.at, kept.data(), g.bytes);
    const int code = first ? twin.init(g.at) : 0;
    return code ? "the function that makes the workspace ready gives error " + std::to_string(code) : "";
}

/* A launch, one of whose kernels cannot be launched; nobody knows what it leaves. */
static std::string fail_once(const Twin &twin, const Case &c, const std::vector<void *> &pointers, const Guarded &g, Schedule how, uint64_t *state)
{
    how.fails = 1 + (int)random_below(state, FAIL_MOST);
    start_run(how);
    watch(hang_seconds);
    const int code = twin.call((void **)pointers.data(), (int)pointers.size(), c.sizes.data());
    watch(0);
    const bool failed = schedule.fails == 0;
    how.fails = 0;
    start_run(how);
    progress->failed += failed;
    if (code && wanted_too_much_shared())
        return ""; /* the next launch says so */
    if (!failed)
        return code ? "the host function gives error " + std::to_string(code) : ""; /* it has fewer kernels */
    if (code != cudaErrorLaunchFailure)
        return "a kernel cannot be launched, and the host function gives " + std::to_string(code);
    fill(g.at, g.bytes, random_below(state, 2));
    return twin.init(g.at) ? "the workspace cannot be made ready again" : "";
}

/* Runs it `times` times with the same workspace. "" or what is wrong. */
static std::string run_case(const Twin &twin, const Case &c, const Schedule &how, int times)
{
    std::vector<Guarded> memory;
    std::vector<void *> pointers;
    std::string wrong;
    uint64_t state = how.seed;
    bool aligned = how.turns == TURNS_IN_ORDER || random_below(&state, 2);
    const Guarded *workspace = nullptr;
    memory.reserve(c.buffers.size());
    start_run(how);
    for (Buffer b : c.buffers) {
        if (b.role == ROLE_TEMP) {
            size_t bytes = 0;
            const int code = twin.workspace(c.sizes.data(), &bytes);
            if (code != (c.refused ? cudaErrorInvalidValue : 0))
                wrong = "the function for the workspace's bytes gives " + std::to_string(code);
            b.count = (int64_t)bytes;
        }
        /* As cudaMalloc does it, or no more than the alignment that was promised. */
        size_t offset = aligned || b.align >= BOUNDARY ? 0 : (size_t)b.align * random_below(&state, 4);
        Guarded g = guarded_new(b.bytes(), offset, how.turns == TURNS_IN_ORDER ? 0x5a : 0xc7);
        if (b.role == ROLE_IN && b.count)
            memcpy(g.at, b.data, b.bytes());
        memory.push_back(g);
        pointers.push_back(g.at);
        if (b.role == ROLE_TEMP && !c.refused && wrong.empty()) {
            workspace = &memory.back();
            wrong = give_workspace(twin, g);
        }
    }
    if (workspace && wrong.empty() && random_below(&state, FAIL_ONE_IN) == 0)
        wrong = fail_once(twin, c, pointers, *workspace, how, &state);
    for (int run = 0; run < times && wrong.empty(); run++) {
        watch(hang_seconds);
        int code = twin.call(pointers.data(), (int)pointers.size(), c.sizes.data());
        watch(0);
        if (code && wanted_too_much_shared()) {
            kept.clear();
            workspace = nullptr;
            break;
        }
        progress->runs++;
        if (c.refused) {
            wrong = code == cudaErrorInvalidValue ? "" : "the host function should refuse these sizes, and gives " + std::to_string(code);
            break;
        }
        if (code)
            wrong = "the host function gives error " + std::to_string(code);
        else if (live_allocations())
            wrong = "the host function leaves device memory allocated";
        for (size_t k = 0; k < c.buffers.size() && wrong.empty(); k++) {
            const Buffer &b = c.buffers[k];
            int64_t at = b.role == ROLE_TEMP ? -1 : first_difference(b, memory[k].at);
            if (at >= 0 && b.role == ROLE_IN)
                wrong = "pointer " + std::to_string(k) + ", an input, is written at " + std::to_string(at);
            else if (at >= 0)
                wrong = "pointer " + std::to_string(k) + ", cell " + std::to_string(at) + " of " + std::to_string(b.count) + ": " +
                        cell_text(b, memory[k].at + at * b.elem_bytes) + ", ref " + cell_text(b, b.data + at * b.elem_bytes);
            if (b.role == ROLE_OUT && b.count)
                memset(memory[k].at, 0x3c, b.bytes());
        }
    }
    if (workspace)
        memcpy(kept.data(), workspace->at, workspace->bytes);
    for (Guarded &g : memory)
        guarded_free(&g);
    return wrong;
}

/* In a process of its own. */
static int run_program(const Twin &twin, const Cases &cases, uint64_t seed, int rounds)
{
    int n = (int)cases.list.size();
    for (int run = 0; run < n * rounds; run++) {
        const int i = run % n, round = run / n;
        const Case &c = cases.list[(size_t)i];
        bool workspace = false, large = false;
        for (const Buffer &b : c.buffers) {
            workspace |= b.role == ROLE_TEMP;
            large |= b.count > LARGE_CELLS;
        }
        if ((int)(c.buffers.size() + c.sizes.size()) != twin.n_arguments) {
            printf("broken %s: its host function takes %d arguments, the test has %zu buffers and %zu sizes\n", twin.name, twin.n_arguments,
                   c.buffers.size(), c.sizes.size());
            return 0;
        }
        if (workspace != (twin.workspace != nullptr)) {
            printf("broken %s: only one of its host functions and the test knows of a workspace\n", twin.name);
            return 0;
        }
        uint64_t state = seed + (uint64_t)run;
        for (int k = 0; k < TURNS_COUNT; k++) {
            if (large && k != TURNS_IN_ORDER && k != 1 + (i + round) % (TURNS_COUNT - 1))
                continue;
            Schedule how = {(Turns)k, 0, 0, DEVICES, (i + k + round) % 2 != 0};
            if (k != TURNS_IN_ORDER) {
                how.seed = 1 + random_below(&state, (uint64_t)1 << 32);
                how.grid_limit = cases.any_grid ? (unsigned)random_below(&state, GRID_CHOICES) : 0;
                how.multiprocessors = 1 + (unsigned)random_below(&state, DEVICES);
            }
            progress->at_case = i;
            progress->how = how;
            std::string wrong = run_case(twin, c, how, workspace ? 2 : 1);
            if (!wrong.empty()) {
                printf("differ %s: %s: %s\n", twin.name, where_text(c, how).c_str(), wrong.c_str());
                return 0;
            }
        }
    }
    printf("agree %s %ld\n", twin.name, progress->runs);
    return 0;
}

int main(int argc, char **argv)
{
    uint64_t seed = 1;
    std::string dir = argc > 1 ? argv[1] : ".";
    int share = 0, shares = 1, at = 0, rounds = 1;
    for (int i = 2; i + 1 < argc; i += 2) {
        if (!strcmp(argv[i], "--seed"))
            seed = strtoull(argv[i + 1], nullptr, 10);
        else if (!strcmp(argv[i], "--share"))
            sscanf(argv[i + 1], "%d/%d", &share, &shares);
        else if (!strcmp(argv[i], "--hang"))
            hang_seconds = atol(argv[i + 1]);
        else if (!strcmp(argv[i], "--rounds"))
            rounds = atoi(argv[i + 1]);
    }
    progress = (Progress *)mmap(nullptr, sizeof *progress, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (const Twin *t = twins; t; t = t->next, at++) {
        const Twin &twin = *t;
        if (at % shares != share)
            continue;
        Cases cases;
        if (!read_cases(dir + "/" + twin.name + ".cases", &cases)) {
            printf("broken %s: %s/%s.cases cannot be read\n", twin.name, dir.c_str(), twin.name);
            continue;
        }
        *progress = Progress();
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            int log = open((dir + "/" + twin.name + ".log").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
            dup2(log, 2);
            int code = run_program(twin, cases, seed, rounds);
            fflush(stdout);
            _exit(code);
        }
        int status = 0;
        if (child < 0 || waitpid(child, &status, 0) < 0) {
            printf("broken %s: no process for it\n", twin.name);
        } else if (status) {
            bool hang = WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF;
            printf("%s %s: %s\n", hang ? "hang" : "crash", twin.name, where_text(cases.list[(size_t)progress->at_case], progress->how).c_str());
        }
    }
    return 0;
}
