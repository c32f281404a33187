/* Arrays of more than 2^31 elements on a GPU, where 32-bit indices end: copies and sums of i8 and f32 around 2^31, every element and every partial sum checked. One line `ok NAME` or
 * `not ok NAME: why` each.
 *
 *     gpu_large i8|f32 [sim]      sim: small sizes on the simulator, so that this program is tested itself
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rise.h"

enum { TILE = 1024 };

/* Partial sums of 1024 elements: whole numbers that f32 holds. */
#define PROGRAM(t, acc, one, zero, cast)                                                                                                                     \
    "entry next {n: nat} (xs: n." t "): n." t " = xs |> mapGlobal(fun x => x + " one ")\n"                                                                    \
    "entry sums {n: nat} (xs: n." t "): ceilDiv(n, 1024)." acc " =\n"                                                                                          \
    "  xs |> padTo(1024, " zero ") |> split(1024) |> mapBlock(fun chunk => chunk |> split(32) |> transpose |> mapThreads(fun own =>\n"                          \
    "          own |> reduceSeq(fun (sum: " acc ") x => sum + " cast ", 0)) |> toShared |> split(32) |> mapThreads(reduceSeq((+), 0))) |> join\n"

static const char I8[] = PROGRAM("i8", "i32", "1i8", "0i8", "cast(i32)(x)");
static const char F32[] = PROGRAM("f32", "f32", "1.0f32", "0.0f32", "x");

static rise_error err;
static int failures;

static void tell(bool good, const char *type, const char *name, long long n, const char *why)
{
    failures += !good;
    printf(good ? "ok large-%s-%s-%lld\n" : "not ok large-%s-%s-%lld: %s\n", type, name, n, why);
    fflush(stdout);
}

/* Element i: from -7 to 7, of another period than any power of two. */
static int value(int64_t i) { return (int)((i + (i >> 13)) % 15) - 7; }

typedef struct Type {
    const char *name, *text;
    int type, sums;
    size_t bytes;
} Type;

static const Type types[] = {{"i8", I8, RISE_I8, RISE_I32, 1}, {"f32", F32, RISE_F32, RISE_F32, 4}};

static void fill(const Type *t, void *xs, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (t->type == RISE_I8)
            ((signed char *)xs)[i] = (signed char)value(i);
        else
            ((float *)xs)[i] = (float)value(i);
}

static int64_t wrong_copy(const Type *t, const void *ys, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (t->type == RISE_I8 ? ((const signed char *)ys)[i] != value(i) + 1 : ((const float *)ys)[i] != (float)(value(i) + 1))
            return i;
    return -1;
}

static int64_t wrong_sum(const Type *t, const void *sums, int64_t n)
{
    for (int64_t block = 0; block * TILE < n; block++) {
        int sum = 0;
        for (int64_t i = block * TILE; i < n && i < (block + 1) * TILE; i++)
            sum += value(i);
        if (t->sums == RISE_I32 ? ((const int *)sums)[block] != sum : ((const float *)sums)[block] != (float)sum)
            return block;
    }
    return -1;
}

typedef struct Device {
    rise_context *context;
    rise_program *program;
    void *in, *out, *host;
} Device;

/* Runs an entry from `in` to `out`, and copies the result to the host. */
static bool run(Device *d, const Type *t, const char *name, int64_t n, int type, size_t bytes)
{
    rise_entry *entry;
    rise_call *call = NULL;
    bool good = rise_entry_get(d->program, name, NULL, &entry, &err) == RISE_OK && rise_call_new(entry, &call, &err) == RISE_OK &&
                rise_call_input(call, "xs", t->type, 1, &n, d->in, RISE_DEVICE, &err) == RISE_OK && rise_call_output(call, "result", type, d->out, bytes, RISE_DEVICE, &err) == RISE_OK &&
                rise_call_launch(call, NULL, &err) == RISE_OK && rise_call_wait(call, &err) == RISE_OK && rise_copy(d->context, d->host, RISE_HOST, d->out, RISE_DEVICE, bytes, &err) == RISE_OK;
    rise_call_free(call);
    return good;
}

static void check(Device *d, const Type *t, int64_t n)
{
    memset(d->host, 0xa5, (size_t)n * t->bytes);
    bool good = run(d, t, "next", n, t->type, (size_t)n * t->bytes);
    int64_t at = good ? wrong_copy(t, d->host, n) : -1;
    if (at >= 0)
        snprintf(err.text, sizeof err.text, "element %lld is wrong", (long long)at);
    tell(good && at < 0, t->name, "copy", (long long)n, err.text);
    size_t bytes = (size_t)((n + TILE - 1) / TILE) * 4;
    memset(d->host, 0xa5, bytes);
    good = run(d, t, "sums", n, t->sums, bytes);
    at = good ? wrong_sum(t, d->host, n) : -1;
    if (at >= 0)
        snprintf(err.text, sizeof err.text, "partial sum %lld is wrong", (long long)at);
    tell(good && at < 0, t->name, "sums", (long long)n, err.text);
}

int main(int argc, char **argv)
{
    const Type *t = argc > 1 && strcmp(argv[1], "f32") == 0 ? &types[1] : &types[0];
    bool sim = argc > 2 && strcmp(argv[2], "sim") == 0;
    int64_t near = sim ? 1 << 14 : (int64_t)1 << 31, sizes[] = {near - 1, near, near + 4099};
    int64_t most = sizes[2];
    rise_context_options options = {.size = sizeof options, .device = sim ? RISE_SIM : RISE_GPU};
    Device d = {.host = malloc((size_t)most * t->bytes)};
    if (!d.host) {
        printf("not ok large-%s: no memory\n", t->name);
        return 1;
    }
    fill(t, d.host, most);
    bool good = rise_context_new(&options, &d.context, &err) == RISE_OK && rise_program_from_text(d.context, "large.rise", t->text, (size_t)-1, &d.program, &err) == RISE_OK &&
                rise_alloc(d.context, (size_t)most * t->bytes, &d.in, &err) == RISE_OK && rise_alloc(d.context, (size_t)most * t->bytes, &d.out, &err) == RISE_OK &&
                rise_copy(d.context, d.in, RISE_DEVICE, d.host, RISE_HOST, (size_t)most * t->bytes, &err) == RISE_OK;
    if (!good)
        tell(false, t->name, "start", (long long)most, err.text);
    for (size_t i = 0; good && i < sizeof sizes / sizeof sizes[0]; i++)
        check(&d, t, sizes[i]);
    rise_program_free(d.program);
    rise_free(d.context, d.in);
    rise_free(d.context, d.out);
    rise_context_free(d.context);
    free(d.host);
    return failures != 0;
}
