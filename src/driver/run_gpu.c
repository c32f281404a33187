#include "driver/run_gpu.h"

#include "driver/interrupt.h"
#include "frontend/costs.h"
#include "runtime/internal.h"

void gpu_failed(Ctx *ctx, Driver *d, const char *what, const char *help, const rise_error *error)
{
    int status = error->status == RISE_ERROR_MEMORY ? STATUS_MEMORY
                 : error->status == RISE_ERROR_BUG  ? STATUS_BUG
                 : error->status == RISE_ERROR_PROGRAM || error->status == RISE_ERROR_ARGUMENT ? STATUS_PROGRAM
                                                                                               : STATUS_DEVICE;
    driver_fail(d, status);
    Diag *diag = diag_error(ctx, E0629, NO_SPAN, "`%s`: %s", what, error->text);
    if (status == STATUS_DEVICE)
        diag_help(ctx, diag, "%s", help);
}

static void failed(Ctx *ctx, Driver *d, const rise_error *error) { gpu_failed(ctx, d, "--device gpu", "`--device sim` simulates", error); }

rise_context *gpu_find(Ctx *ctx, Driver *d, bool quiet)
{
    rise_context_options options = {.size = sizeof options, .device = RISE_GPU, .poll = interrupt_poll, .poll_user = ctx->brake};
    rise_context *gpu;
    rise_error error;
    if (rise_context_new(&options, &gpu, &error) != RISE_OK && !quiet)
        failed(ctx, d, &error);
    return gpu;
}

int64_t gpu_multiprocessors(const rise_context *gpu) { return context_of(gpu, NULL)->gpu.sms; }

typedef struct GpuRun {
    Ctx *ctx;
    const CoreEntry *entry;
    Launch *launch;
    rise_program *program;
    rise_call *call;
    rise_error error;
} GpuRun;

int gpu_entry(Ctx *ctx, rise_context *gpu, const CoreEntry *core, rise_program **program, rise_entry **entry, rise_error *error)
{
    const Source *source = source_get(ctx, core->span.file);
    /* A tuned one is tuned by librise in the same way. */
    bool tuned = core->n_classes > 0;
    rise_setting *settings = NEWN(ctx, rise_setting, core->n_tunables + 1);
    for (int i = 0; i < core->n_tunables; i++)
        settings[i] = (rise_setting){core->tunable_names[i], core->tunable_values[i]};
    rise_entry_options options = {.size = sizeof options, .settings = settings, .n_settings = tuned ? 0 : (size_t)core->n_tunables, .flags = tuned ? 0 : RISE_UNTUNED, .costs = costs_of(ctx)->text};
    int status = program_of_file(gpu, source->name, source->text, source->size, program, error);
    return status == RISE_OK ? rise_entry_get(*program, core->name, &options, entry, error) : status;
}

int gpu_type_of(Scalar scalar)
{
    for (int type = RISE_BOOL; type <= RISE_F64; type++)
        if (strcmp(rise_type_name(type), scalar_name(scalar)) == 0)
            return type;
    return 0;
}

/* Results first, then inputs: as rise_entry_argument counts. */
static int set_arguments(GpuRun *run, const rise_entry *entry)
{
    Launch *launch = run->launch;
    int status = RISE_OK;
    for (int i = 0; status == RISE_OK && i < launch->n_sizes; i++)
        status = rise_call_size(run->call, run->entry->sizes[i]->name, launch->sizes[i], &run->error);
    for (int k = 0; status == RISE_OK && k < launch->n_results + launch->n_buffers; k++) {
        bool is_result = k < launch->n_results;
        const HostBuf *buf = is_result ? &launch->results[k] : &launch->buffers[k - launch->n_results];
        rise_argument argument = {.size = sizeof argument};
        status = rise_entry_argument(entry, k, &argument, &run->error);
        if (status != RISE_OK)
            break;
        int type = gpu_type_of(buf->elem);
        status = is_result ? rise_call_output(run->call, argument.name, type, buf->bytes, (size_t)buf->count * (size_t)scalar_bytes(buf->elem), RISE_HOST, &run->error)
                           : rise_call_input(run->call, argument.name, type, buf->rank, buf->shape, buf->bytes, RISE_HOST, &run->error);
    }
    return status;
}

static int launch_and_wait(GpuRun *run, rise_context *gpu)
{
    rise_entry *entry;
    int status = gpu_entry(run->ctx, gpu, run->entry, &run->program, &entry, &run->error);
    if (status == RISE_OK)
        status = rise_call_new(entry, &run->call, &run->error);
    if (status == RISE_OK)
        status = set_arguments(run, entry);
    if (status == RISE_OK)
        status = rise_call_launch(run->call, NULL, &run->error);
    return status == RISE_OK ? rise_call_wait(run->call, &run->error) : status;
}

bool gpu_run(Ctx *ctx, Driver *d, rise_context *gpu, const CoreEntry *entry, Launch *launch)
{
    GpuRun run = {.ctx = ctx, .entry = entry, .launch = launch};
    launch->n_results = type_component_count(entry->result);
    launch->results = NEWN(ctx, HostBuf, launch->n_results + 1);
    for (int k = 0; k < launch->n_results; k++)
        if (!launch_buffer(ctx, entry, launch, type_component(ctx, entry->result, k), &launch->results[k], true)) {
            driver_fail(d, STATUS_PROGRAM);
            return false;
        }
    int status = launch_and_wait(&run, gpu);
    rise_call_free(run.call);
    rise_program_free(run.program);
    if (status != RISE_OK)
        failed(ctx, d, &run.error);
    return status == RISE_OK;
}
