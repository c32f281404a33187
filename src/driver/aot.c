#include "driver/aot.h"

#include "runtime/toolchain.h"

/* Without --arch, PTX is for all GPUs that emitted code is tested for: the driver compiles it for its own. */
enum { ARCH_OF_PTX = 75 };

/* Without --arch, a header has cubins for these; a GPU runs those of its own major number that are not newer than it is. */
static const int archs_of_header[] = {120, 100, 90, 89, 86, 80, 75};

static bool arch_number(const char *text, const char *prefix, int *arch)
{
    size_t n = strlen(prefix);
    if (strncmp(text, prefix, n) != 0 || !text[n] || strspn(text + n, "0123456789") != strlen(text + n) || strlen(text + n) > 3)
        return false;
    *arch = 0;
    for (const char *at = text + n; *at; at++)
        *arch = 10 * *arch + (*at - '0');
    return true;
}

/* The architecture that the text says, which is one that code can be made for. */
static bool read_arch(Ctx *ctx, Driver *d, const char *text, bool *is_virtual, int *arch)
{
    *is_virtual = false;
    if (!arch_number(text, "sm_", arch) && !(*is_virtual = arch_number(text, "compute_", arch))) {
        Diag *diag = driver_usage(ctx, d, E0651, "`--arch=%s` is no architecture", text);
        int number;
        if (arch_number(text, "", &number) || arch_number(text, "sm", &number) || arch_number(text, "SM_", &number))
            diag_help(ctx, diag, "did you mean `--arch=sm_%d`?", number);
        else
            diag_help(ctx, diag, "it is sm_ and a number, as in `--arch=sm_90`%s",
                      strncmp(text, "sm_", 3) == 0 ? "; emitted code uses nothing that sm_90a has beyond sm_90" : "");
        return false;
    }
    if (*arch < ARCH_MIN || *arch > ARCH_MAX) {
        driver_usage(ctx, d, E0651, "`--arch=%s`: emitted code needs sm_%d or later", text, ARCH_MIN);
        return false;
    }
    return true;
}

bool aot_arch(Ctx *ctx, Driver *d, CodeForm form, const char *path, int *arch)
{
    const char *text = option_text(d->line, OPT_ARCH);
    bool virtual = false;
    *arch = ARCH_OF_PTX;
    if (!text && form == CODE_PTX)
        return true;
    if (!text) {
        Diag *diag = driver_usage(ctx, d, E0651, "%s: a cubin is for one architecture, and none is given", path);
        diag_help(ctx, diag, "add `--arch=sm_90`, with the number of your GPU: `nvidia-smi --query-gpu=compute_cap --format=csv` says 9.0 for 90");
        return false;
    }
    if (strchr(text, ',')) {
        Diag *diag = driver_usage(ctx, d, E0651, "%s: it is for one architecture, and `--arch=%s` are several", path, text);
        diag_help(ctx, diag, "a header has code for several: `-o FILE.h`");
        return false;
    }
    if (!read_arch(ctx, d, text, &virtual, arch))
        return false;
    if (virtual && form == CODE_CUBIN) {
        Diag *diag = driver_usage(ctx, d, E0651, "%s: a cubin is for a real architecture, and `--arch=%s` is a virtual one", path, text);
        diag_help(ctx, diag, "write `--arch=sm_%d`, or make PTX: `-o FILE.ptx`", *arch);
        return false;
    }
    return true;
}

/* Keeps them in order, each once. */
static void add_arch(Ctx *ctx, Archs *archs, int arch)
{
    int i = 0;
    while (i < archs->at.n && archs->at.at[i] > arch)
        i++;
    if (i < archs->at.n && archs->at.at[i] == arch)
        return;
    vec_push(ctx, &archs->at, arch);
    for (int k = archs->at.n - 1; k > i; k--)
        archs->at.at[k] = archs->at.at[k - 1];
    archs->at.at[i] = arch;
}

bool aot_archs(Ctx *ctx, Driver *d, const char *path, Archs *archs)
{
    const char *text = option_text(d->line, OPT_ARCH);
    *archs = (Archs){.given = text != NULL};
    for (size_t i = 0; !text && i < sizeof archs_of_header / sizeof *archs_of_header; i++)
        add_arch(ctx, archs, archs_of_header[i]);
    for (const char *end; text; text = *end ? end + 1 : NULL) {
        bool virtual;
        int arch;
        end = text + strcspn(text, ",");
        const char *one = ctx_printf(ctx, "%.*s", (int)(end - text), text);
        if (!*one) {
            Diag *diag = driver_usage(ctx, d, E0651, "`--arch=%s` has a comma with no architecture beside it", option_text(d->line, OPT_ARCH));
            diag_help(ctx, diag, "it is a list without blanks, as in `--arch=sm_80,sm_90`");
            return false;
        }
        if (!read_arch(ctx, d, one, &virtual, &arch))
            return false;
        if (virtual) {
            Diag *diag = driver_usage(ctx, d, E0651, "%s: a header has cubins, which are for real architectures, and `--arch=%s` is a virtual one", path, one);
            diag_help(ctx, diag, "write `sm_%d`; PTX for the oldest is in the header as well", arch);
            return false;
        }
        add_arch(ctx, archs, arch);
    }
    return true;
}

/* "dir/sum.rise" gives "sum.cu". */
static const char *cuda_name(Ctx *ctx, const char *source)
{
    const char *slash = strrchr(source, '/'), *name = slash ? slash + 1 : source, *dot = strrchr(name, '.');
    if (strcmp(source, "-") == 0)
        return "stdin.cu";
    return ctx_printf(ctx, "%.*s.cu", (int)(dot && dot > name ? dot - name : (long)strlen(name)), name);
}

typedef struct Job {
    Driver *d;
    Toolchain *toolchain;
    int n;
    CodeWork *works;
    bool optional; /* it is no error that NVRTC does not know an architecture */
} Job;

static void tell(Ctx *ctx, const Job *job, const CodeWork *work)
{
    const char *why = work->why.text;
    Diag *diag;
    switch (work->status) {
    case CODE_GOOD:
        return;
    case CODE_NO_COMPILER:
        driver_fail(job->d, STATUS_DEVICE);
        diag = diag_error(ctx, E0650, NO_SPAN, "%s", why);
        diag_help(ctx, diag, "install CUDA's NVRTC, for example by `python3 -m venv ve && . ve/bin/activate && pip install nvidia-cuda-nvrtc`, or write `-o FILE.cu` and compile that with nvcc elsewhere");
        return;
    case CODE_BAD_ARCH:
        if (!job->optional)
            driver_usage(ctx, job->d, E0651, "%s", why);
        return;
    case CODE_REFUSED:
        driver_fail(job->d, STATUS_BUG);
        diag_error(ctx, E0652, NO_SPAN, "%s", why);
        return;
    case CODE_FAILED:
        driver_fail(job->d, STATUS_DEVICE);
        diag_error(ctx, E0653, NO_SPAN, "%s", why);
        return;
    }
}

static bool is_good(const Job *job, const CodeWork *work) { return work->status == CODE_GOOD || (job->optional && work->status == CODE_BAD_ARCH); }

/* The first one that is not good says why; what is wrong with one is mostly so with all. */
static void run_job(Ctx *ctx, void *user)
{
    Job *job = user;
    say_part(job->d->say, "NVRTC");
    toolchain_compile(ctx, job->toolchain, job->n, job->works);
    if (job->toolchain->state == NVRTC_LOADED)
        say(job->d->say, "found NVRTC: %s", job->toolchain->nvrtc.path);
    say_step(job->d->say, "made code for %d architecture%s", job->n, job->n == 1 ? "" : "s");
    int i = 0;
    while (i < job->n && is_good(job, &job->works[i]))
        i++;
    if (i < job->n)
        tell(ctx, job, &job->works[i]);
}

static bool compile(Ctx *ctx, Job *job)
{
    Toolchain toolchain;
    job->toolchain = &toolchain;
    toolchain_init(&toolchain, NULL, NULL, NULL, NULL, 0);
    bool enough = ctx_try(ctx, run_job, job);
    toolchain_done(&toolchain);
    if (!enough)
        ctx_out_of_memory(ctx);
    for (int i = 0; i < job->n; i++)
        if (!is_good(job, &job->works[i]))
            return false;
    return true;
}

static CodeRequest request_of(Ctx *ctx, const Driver *d, CodeForm form, int arch, const char *source, const char *text)
{
    return (CodeRequest){cuda_name(ctx, source), text, arch, form, option_on(d->line, OPT_LINE)};
}

bool aot_compile(Ctx *ctx, Driver *d, CodeForm form, int arch, const char *source, const char *text, Code *code)
{
    CodeWork work = {.request = request_of(ctx, d, form, arch, source, text)};
    Job job = {.d = d, .n = 1, .works = &work};
    bool good = compile(ctx, &job);
    *code = work.code;
    return good;
}

/* The name of the program in the header's first line: without folders. */
static const char *source_name(const char *source)
{
    const char *slash = strrchr(source, '/');
    return strcmp(source, "-") == 0 ? "" : slash ? slash + 1 : source;
}

bool aot_header(Ctx *ctx, Driver *d, const Header *header, const Archs *archs, const char *source, const char *text, Code *code, Code *newest, int *newest_arch)
{
    const int n = archs->at.n;
    CodeWork *works = NEWN(ctx, CodeWork, n + 1);
    for (int i = 0; i < n; i++)
        works[i].request = request_of(ctx, d, CODE_CUBIN, archs->at.at[i], source, text);
    Job cubins = {.d = d, .n = n, .works = works, .optional = !archs->given};
    if (!compile(ctx, &cubins))
        return false;
    HeaderCode *codes = NEWN(ctx, HeaderCode, n + 1);
    int made = 0;
    for (int i = 0; i < n; i++)
        if (works[i].status == CODE_GOOD)
            codes[made++] = (HeaderCode){works[i].request.arch, false, works[i].code.bytes, works[i].code.size};
    if (!made) {
        driver_usage(ctx, d, E0651, "%s", works[0].why.text);
        return false;
    }
    *newest = (Code){.bytes = codes[0].bytes, .size = codes[0].size};
    *newest_arch = codes[0].arch;
    CodeWork *ptx = &works[n];
    ptx->request = request_of(ctx, d, CODE_PTX, codes[made - 1].arch, source, text);
    Job job = {.d = d, .n = 1, .works = ptx};
    if (!compile(ctx, &job))
        return false;
    codes[made++] = (HeaderCode){ptx->request.arch, true, ptx->code.bytes, ptx->code.size};
    StrBuf out;
    sb_init(&out, ctx);
    header_print(header, &out, source_name(source), made, codes);
    *code = (Code){.bytes = out.text, .size = out.len};
    return true;
}
