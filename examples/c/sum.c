/* Compiles a .rise file at run time and sums numbers with it.
 *
 *     cc sum.c -I PREFIX/include -L PREFIX/lib -lrise -Wl,-rpath,PREFIX/lib -o sum
 *     ./sum auto ../sum.rise 1000003
 *
 * DEVICE is gpu, sim, ref, or auto: the GPU if there is one. The entry takes n numbers
 * (f32) and gives their sum, or partial sums, which are added here. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rise.h>

/* What is wrong with the program, as a compiler says it. */
static void show(void *user, const rise_diagnostic *d)
{
    (void)user;
    fprintf(stderr, "%s:%d:%d: %s[%s]: %s\n", d->file, d->line, d->column, d->is_warning ? "warning" : "error", d->code, d->message);
    if (d->help)
        fprintf(stderr, "help: %s\n", d->help);
}

static int device_of(const char *name)
{
    static const char *const names[] = {"auto", "gpu", "sim", "ref"}; /* in the order of rise_device */
    for (int i = 0; i < 4; i++) {
        if (strcmp(names[i], name) == 0)
            return i;
    }
    return -1;
}

/* The sum of xs, or a failure that `error` tells. */
static int sum(rise_context *context, const char *path, int64_t n, const float *xs, double *total, rise_error *error)
{
    rise_program *program = NULL;
    rise_entry *entry = NULL;
    rise_call *call = NULL;
    float *parts = NULL;
    int64_t n_parts = 0;
    int rank = 0;
    int status = rise_program_from_file(context, path, &program, error);
    if (!status)
        status = rise_entry_get(program, NULL, NULL, &entry, error);
    if (!status)
        status = rise_call_new(entry, &call, error);
    /* The size n follows from the shape. */
    if (!status)
        status = rise_call_input(call, "xs", RISE_F32, 1, &n, xs, RISE_HOST, error);
    if (!status)
        status = rise_call_launch(call, NULL, error);
    if (!status)
        status = rise_call_shape(call, "result", 1, &rank, &n_parts, error);
    if (!status) {
        n_parts = rank == 0 ? 1 : n_parts;
        parts = malloc((size_t)n_parts * sizeof *parts + 1);
        status = !parts ? RISE_ERROR_MEMORY : rise_call_read(call, "result", parts, (size_t)n_parts * sizeof *parts, error);
        if (!parts)
            snprintf(error->text, sizeof error->text, "out of memory");
    }
    *total = 0;
    for (int64_t i = 0; !status && i < n_parts; i++)
        *total += parts[i];
    free(parts);
    rise_call_free(call);
    rise_program_free(program);
    return status;
}

int main(int argc, char **argv)
{
    int device = argc == 4 ? device_of(argv[1]) : -1;
    long long n = argc == 4 ? atoll(argv[3]) : -1;
    if (device < 0 || n < 0) {
        fprintf(stderr, "usage: %s auto|gpu|sim|ref FILE.rise N\n", argv[0]);
        return 2;
    }
    float *xs = malloc((size_t)n * sizeof *xs + 1);
    if (!xs) {
        fprintf(stderr, "out of memory\n");
        return 1;
    }
    double want = 0;
    for (long long i = 0; i < n; i++) {
        xs[i] = (float)(i % 7); /* small integers: a block's sum is exact in f32, in any order */
        want += xs[i];
    }

    rise_context_options options = {.size = sizeof options, .device = device, .diagnostic = show};
    rise_context *context;
    rise_error error;
    double total = 0;
    int status = rise_context_new(&options, &context, &error);
    if (!status)
        status = sum(context, argv[2], n, xs, &total, &error);
    if (status)
        fprintf(stderr, "%s: %s\n", rise_status_name(status), error.text);
    else
        printf("%s: the sum of %lld numbers is %.0f%s\n", rise_context_device_name(context), n, total, total == want ? "" : ", which is wrong");
    rise_context_free(context);
    free(xs);
    return status || total != want;
}
