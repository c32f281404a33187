#include "driver/aot.h"

#include "runtime/toolchain.h"

/* Without --arch, PTX is for all GPUs that emitted code is tested for: the driver compiles it for its own. */
enum { ARCH_OF_PTX = 75 };

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
    if (!arch_number(text, "sm_", arch) && !(virtual = arch_number(text, "compute_", arch))) {
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
    if (virtual && form == CODE_CUBIN) {
        Diag *diag = driver_usage(ctx, d, E0651, "%s: a cubin is for a real architecture, and `--arch=%s` is a virtual one", path, text);
        diag_help(ctx, diag, "write `--arch=sm_%d`, or make PTX: `-o FILE.ptx`", *arch);
        return false;
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
    CodeWork work;
} Job;

static void run_job(Ctx *ctx, void *user)
{
    Job *job = user;
    toolchain_compile(ctx, job->toolchain, 1, &job->work);
    const char *why = job->work.why.text;
    Diag *diag;
    switch (job->work.status) {
    case CODE_GOOD:
        return;
    case CODE_NO_COMPILER:
        driver_fail(job->d, STATUS_DEVICE);
        diag = diag_error(ctx, E0650, NO_SPAN, "%s", why);
        diag_help(ctx, diag, "install CUDA's NVRTC, or write `-o FILE.cu` and compile that with nvcc elsewhere");
        return;
    case CODE_BAD_ARCH:
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

bool aot_compile(Ctx *ctx, Driver *d, CodeForm form, int arch, const char *source, const char *text, Code *code)
{
    Toolchain toolchain;
    Job job = {d, &toolchain, {.request = {cuda_name(ctx, source), text, arch, form, option_on(d->line, OPT_LINE)}}};
    toolchain_init(&toolchain, NULL, NULL, NULL, 0);
    bool enough = ctx_try(ctx, run_job, &job);
    toolchain_done(&toolchain);
    if (!enough)
        ctx_out_of_memory(ctx);
    *code = job.work.code;
    return job.work.status == CODE_GOOD;
}
