/* `risec doctor`: what is found of what risec can use, and what works without the rest. Nothing is
 * changed, and no context is opened on a GPU. */
#include "driver/bench_hand.h"
#include "frontend/tuning.h"
#include "runtime/cache.h"
#include "runtime/cuda_api.h"
#include "runtime/nvrtc.h"
#include "version.h"

typedef enum PartId {
    PART_DRIVER,
    PART_GPU,
    PART_NVRTC,
    PART_NVCC,
    PART_CACHE,
    PART_COUNT
} PartId;

/* BROKEN: it is there, and cannot be used. */
typedef enum State {
    STATE_FOUND,
    STATE_MISSING,
    STATE_BROKEN
} State;

typedef struct Part {
    State state;
    const char *version, *where; /* or NULL */
    const char *more; /* what else is known, or why it is not found */
} Part;

typedef struct Doctor {
    Ctx *ctx;
    Part parts[PART_COUNT];
    CudaApi api;
} Doctor;

static const char *const part_names[PART_COUNT] = {"driver", "GPU", "NVRTC", "nvcc", "cache"};

/* What there is to do, and the parts that it needs. */
static const struct {
    const char *what;
    unsigned needs;
} works[] = {
    {"check, lower, fmt, and CUDA C (-o FILE.cu)", 0},
    {"run, test and tune on the simulator, run and test on the reference interpreter", 0},
    {"PTX, cubins and headers (-o FILE.ptx, .cubin, .h)", 1 << PART_NVRTC},
    {"run, test and tune on a GPU, and bench", 1 << PART_DRIVER | 1 << PART_GPU | 1 << PART_NVRTC},
    {"bench --vs FILE.cu", 1 << PART_DRIVER | 1 << PART_GPU | 1 << PART_NVRTC | 1 << PART_NVCC},
    {"kernels that are compiled once, and kept", 1 << PART_NVRTC | 1 << PART_CACHE},
};
enum {
    WORKS = sizeof works / sizeof works[0]
};

/* ---- the parts ------------------------------------------------------------------------------- */

static const char *path_of(Ctx *ctx, void *function)
{
    char path[NVRTC_PATH_MAX];
    bool known = library_loader.path(library_loader.user, function, path, sizeof path);
    return known ? ctx_printf(ctx, "%s", path) : NULL;
}

/* Its major version, for NVRTC; 0: there is none. */
static int look_for_driver(Doctor *d)
{
    Part *part = &d->parts[PART_DRIVER];
    rise_error error;
    int version;
    if (cuda_api_load(&library_loader, &d->api, &error) != RISE_OK) {
        bool old = strstr(error.text, " older ") != NULL;
        *part = (Part){
            .state = old ? STATE_BROKEN : STATE_MISSING,
            .more = ctx_printf(d->ctx, "%.*s", (int)strcspn(error.text, ";"), error.text)};
        return 0;
    }
    part->where = path_of(d->ctx, *(void **)&d->api.init);
    if (d->api.driver_version(&version) != CU_SUCCESS) {
        part->state = STATE_BROKEN;
        part->more = "it does not say its version";
        return 0;
    }
    part->version = ctx_printf(d->ctx, "CUDA %d.%d", version / 1000, version % 1000 / 10);
    return version / 1000;
}

static const char *error_text(Doctor *d, CUresult result)
{
    const char *text = NULL;
    return d->api.error_string(result, &text) == CU_SUCCESS && text
               ? text
               : ctx_printf(d->ctx, "error %d", result);
}

static bool describe_gpu(Doctor *d, int k, StrBuf *out)
{
    CUdevice device;
    char name[256];
    int major, minor, sms;
    if (d->api.device_get(&device, k) != CU_SUCCESS ||
        d->api.device_name(name, sizeof name, device) != CU_SUCCESS ||
        d->api.device_attribute(&major, CU_MAJOR, device) != CU_SUCCESS ||
        d->api.device_attribute(&minor, CU_MINOR, device) != CU_SUCCESS ||
        d->api.device_attribute(&sms, CU_MULTIPROCESSORS, device) != CU_SUCCESS)
        return false;
    sb_printf(out, "%s%s, sm_%d%d, %d multiprocessors", k ? "; " : "", name, major, minor, sms);
    return true;
}

static void look_for_gpu(Doctor *d)
{
    Part *part = &d->parts[PART_GPU];
    if (!d->parts[PART_DRIVER].version) {
        *part = (Part){.state = STATE_MISSING, .more = "without a driver, none can be seen"};
        return;
    }
    int n = 0;
    CUresult result = d->api.init(0);
    if (result == CU_SUCCESS)
        result = d->api.device_count(&n);
    if (result == CU_NO_DEVICE || (result == CU_SUCCESS && n == 0)) {
        *part = (Part){.state = STATE_MISSING, .more = "the driver sees none"};
        return;
    }
    if (result != CU_SUCCESS) {
        *part = (Part){.state = STATE_BROKEN, .more = error_text(d, result)};
        return;
    }
    StrBuf out;
    sb_init(&out, d->ctx);
    for (int k = 0; k < n; k++)
        if (!describe_gpu(d, k, &out)) {
            part->state = STATE_BROKEN;
            sb_puts(&out, "; one does not answer");
            break;
        }
    part->version = ctx_printf(d->ctx, "%d", n);
    part->more = out.text;
}

static void look_for_nvrtc(Doctor *d, int driver_major)
{
    Part *part = &d->parts[PART_NVRTC];
    Nvrtc nvrtc;
    char *why = ctx_alloc(d->ctx, NVRTC_WHY_MAX);
    int n = 0;
    if (!nvrtc_load(&library_loader, NULL, driver_major, &nvrtc, why)) {
        *part = (Part){.state = STATE_MISSING, .more = why};
        return;
    }
    part->version = ctx_printf(d->ctx, "%d.%d", nvrtc.major, nvrtc.minor);
    part->where = nvrtc.path[0] ? ctx_printf(d->ctx, "%s", nvrtc.path) : NULL;
    if (!nvrtc.api.arch_count || nvrtc.api.arch_count(&n) != 0 || n <= 0)
        return;
    int *archs = NEWN(d->ctx, int, n);
    if (nvrtc.api.archs(archs) == 0)
        part->more = ctx_printf(d->ctx, "for sm_%d to sm_%d", archs[0], archs[n - 1]);
}

static void look_for_nvcc(Doctor *d)
{
    Part *part = &d->parts[PART_NVCC];
    part->where = nvcc_find(d->ctx);
    if (!part->where) {
        *part = (Part){.state = STATE_MISSING, .more = "not in PATH, nor by NVCC or CUDA_HOME"};
        return;
    }
    part->version = nvcc_version(d->ctx, part->where);
    if (!part->version) {
        part->state = STATE_BROKEN;
        part->more = "it cannot be run, or does not say its version";
    }
}

static void look_for_cache(Doctor *d)
{
    Part *part = &d->parts[PART_CACHE];
    Cache cache;
    CacheReport report;
    cache_init(&cache, NULL, &library_loader, NULL);
    if (!cache.dir[0]) {
        *part = (Part){.state = STATE_MISSING,
                       .more = "neither XDG_CACHE_HOME nor HOME is an absolute path"};
        return;
    }
    cache_report(&cache, &report);
    part->where = ctx_printf(d->ctx, "%s", cache.dir);
    if (!report.there)
        part->more = "made with the first kernel";
    else if (report.usable)
        part->more = ctx_printf(d->ctx, "%lld kernel%s, %lld bytes", (long long)report.entries,
                                report.entries == 1 ? "" : "s", (long long)report.bytes);
    if (report.there && !report.usable) {
        part->state = STATE_BROKEN;
        part->more = "it must be a folder that is yours, and that nobody else may write to";
    }
}

/* ---- what is said ------------------------------------------------------------------------------
 */

/* The tuning file of a program, and for which devices it has something. */
static const char *tuning_words(Doctor *d, const char *path)
{
    Tuning tuning = {0};
    if (!tuning_read(d->ctx, path, &tuning))
        return NULL;
    StrBuf out;
    sb_init(&out, d->ctx);
    for (int i = 0; i < tuning.sections.n; i++)
        sb_printf(&out, "%s%s on %s", i ? ", " : "", tuning.sections.at[i].entry,
                  tuning.sections.at[i].device);
    return out.text;
}

static bool is_there(const Doctor *d, unsigned needs)
{
    for (int i = 0; i < PART_COUNT; i++)
        if (needs & 1u << i && d->parts[i].state != STATE_FOUND)
            return false;
    return true;
}

static const char *state_word(State state)
{
    return state == STATE_FOUND ? "found" : state == STATE_MISSING ? "missing" : "broken";
}

static void put_line(StrBuf *out, const char *name, const Part *part)
{
    sb_printf(out, "%-8s %s", name, state_word(part->state));
    if (part->version)
        sb_printf(out, ", %s", part->version);
    if (part->where)
        sb_printf(out, ", %s", part->where);
    if (part->more)
        sb_printf(out, ": %s", part->more);
    sb_putc(out, '\n');
}

static void put_text(Doctor *d, const CommandLine *line, StrBuf *out)
{
    sb_puts(out, "risec    " RISEC_VERSION "\n");
    for (int i = 0; i < PART_COUNT; i++)
        put_line(out, part_names[i], &d->parts[i]);
    for (int i = 0; i < line->words.n; i++) {
        const char *tuned = tuning_words(d, line->words.at[i]);
        sb_printf(out, "tuning   %s" TUNING_SUFFIX ": %s\n", line->words.at[i],
                  !tuned      ? "broken"
                  : !tuned[0] ? "there is none, or nothing in it"
                              : tuned);
    }
    for (int pass = 0; pass < 2; pass++) {
        const char *head = pass ? "\nDoes not work here:\n" : "\nWorks here:\n";
        for (int i = 0; i < WORKS; i++) {
            if (is_there(d, works[i].needs) == (pass == 1))
                continue;
            sb_printf(out, "%s  %s\n", head, works[i].what);
            head = "";
        }
    }
}

static void put_member(StrBuf *out, const char *name, const char *value)
{
    sb_printf(out, ", \"%s\": ", name);
    if (value)
        sb_put_json(out, value);
    else
        sb_puts(out, "null");
}

static void put_json(Doctor *d, const CommandLine *line, StrBuf *out)
{
    sb_puts(out, "{\"risec\": \"" RISEC_VERSION "\", \"parts\": {");
    for (int i = 0; i < PART_COUNT; i++) {
        const Part *part = &d->parts[i];
        sb_printf(out, "%s\"%s\": {\"state\": \"%s\"", i ? ", " : "", part_names[i],
                  state_word(part->state));
        put_member(out, "version", part->version);
        put_member(out, "where", part->where);
        put_member(out, "more", part->more);
        sb_puts(out, "}");
    }
    sb_puts(out, "}, \"tuning\": {");
    for (int i = 0; i < line->words.n; i++) {
        const char *tuned = tuning_words(d, line->words.at[i]);
        sb_puts(out, i ? ", " : "");
        sb_put_json(out, line->words.at[i]);
        sb_puts(out, ": ");
        sb_put_json(out, tuned ? tuned : "broken");
    }
    sb_puts(out, "}, \"works\": {");
    for (int i = 0; i < WORKS; i++) {
        sb_puts(out, i ? ", " : "");
        sb_put_json(out, works[i].what);
        sb_puts(out, is_there(d, works[i].needs) ? ": true" : ": false");
    }
    sb_puts(out, "}}\n");
}

void cmd_doctor(Ctx *ctx, Driver *driver)
{
    Doctor *d = NEW(ctx, Doctor);
    StrBuf out;
    d->ctx = ctx;
    sb_init(&out, ctx);
    int major = look_for_driver(d);
    look_for_gpu(d);
    look_for_nvrtc(d, major);
    look_for_nvcc(d);
    look_for_cache(d);
    (option_on(driver->line, OPT_JSON) ? put_json : put_text)(d, driver->line, &out);
    driver_write(ctx, driver, "-", out.text, out.len);
    for (int i = 0; i < PART_COUNT; i++)
        if (d->parts[i].state == STATE_BROKEN)
            driver_fail(driver, STATUS_DEVICE);
}
