/* A kernel in a header, which finds no driver here, and librise, which needs none. */
#include <stdio.h>

#include <rise.h>

#define SUM_IMPLEMENTATION
#include "sum.h"

int own(void);

int main(void)
{
    static const char text[] = "entry twice {n: nat} (xs: n.f32): n.f32 = xs |> map(fun x => 2 * x)\n";
    rise_context_options options = {.size = sizeof options, .device = RISE_SIM};
    rise_context *context;
    rise_program *program;
    rise_entry *entry;
    rise_call *call;
    rise_error error;
    int64_t n = 3;
    float xs[3] = {1, 2, 3}, ys[3];
    if (rise_context_new(&options, &context, &error) ||
        rise_program_from_text(context, "twice", text, (size_t)-1, &program, &error) ||
        rise_entry_get(program, NULL, NULL, &entry, &error) || rise_call_new(entry, &call, &error) ||
        rise_call_input(call, "xs", RISE_F32, 1, &n, xs, RISE_HOST, &error) ||
        rise_call_launch(call, NULL, &error) || rise_call_read(call, "result", ys, sizeof ys, &error)) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    rise_call_free(call);
    rise_program_free(program);
    rise_context_free(context);
    printf("%s %g %d: %s\n", rise_version(), ys[2], own(), sum_error_text(sum_use_device(0)));
    return 0;
}
