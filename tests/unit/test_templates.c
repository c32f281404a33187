/* The library's templates, each at the boundaries of its classes: FILE (tests/unit/templates.rise) has a program for each. Of every type of its kind it runs with
 * axes of 0, 1, 2 and about the widths of vectors, warps and tiles, and with sizes one below, at and one above each number that a class ends at.
 *
 * Arguments: FILE CELLS [TYPE...]: arrays of at most so many elements; these types alone. The simulator runs every variant of a kernel; the reference, or the judge where something was rounded, decides. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "executors.h"

enum { MAX_BOUND = 1 << 19, MAX_BOUNDS = 24, MAX_AXES = 3, MAX_TEXT = 1 << 14, BESIDE = 3 };
static const int64_t small_axes[] = {0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65};
static const char *const numbers[] = {"f32", "u8", "f64", "i16", "f16", "i64", "bf16", "u32", "i8", "u16", "i32", "u64"};

typedef struct Totals {
    int64_t cells; /* of any one array, at most */
    long programs, launches, not_run, wrong;
} Totals;

/* ---- where classes end ----------------------------------------------------------------------------------------------------- */

typedef struct Bounds {
    int n;
    int64_t at[MAX_BOUNDS];
} Bounds;

static void add_bound(Bounds *b, int64_t value)
{
    for (int i = 0; i < b->n; i++)
        if (b->at[i] == value)
            return;
    if (b->n < MAX_BOUNDS && value > 1 && value < MAX_BOUND)
        b->at[b->n++] = value;
}

/* The numbers that sizes are compared with. */
static void bounds_of_test(Bounds *b, const Core *test)
{
    if (test->kind == CORE_SIZE && nat_is_const(test->size))
        add_bound(b, test->size->value);
    for (int i = 0; test->kind == CORE_PRIM && i < test->prim.n_args; i++)
        bounds_of_test(b, test->prim.args[i]);
}

static Bounds bounds_of(const ImpProgram *imp)
{
    Bounds b = {0};
    for (int l = 0; l < imp->launches.n; l++)
        for (int v = 0; v < imp->launches.at[l].variants.n; v++) {
            const ImpWhens *when = &imp->launches.at[l].variants.at[v].when;
            for (int w = 0; w < when->n; w++)
                bounds_of_test(&b, when->at[w].test);
        }
    return b;
}

/* ---- one program ----------------------------------------------------------------------------------------------------------- */

typedef struct Template {
    Compiled c;
    const char *type;
    Totals *totals;
    long ran;
} Template;

static void launch(Template *t, const int64_t *sizes)
{
    SimReport report = {.warp_instructions = 0};
    Outcome o = run_trial_at(&t->c, (Trial){.seed = 2, .compare = true, .quiet = true, .max_cells = t->totals->cells}, sizes, 0, &report);
    t->totals->launches++;
    t->totals->not_run += o == CANNOT;
    t->ran += o == AGREE;
    if (o != DIFFER && o != FINDING)
        return;
    t->totals->wrong++;
    printf("%s of %s with", t->c.entry->name, t->type);
    for (int i = 0; i < t->c.entry->n_sizes; i++)
        printf(" %s = %lld", t->c.entry->sizes[i]->name, (long long)sizes[i]);
    printf(": %s %s\n", o == DIFFER ? "differs" : "finding", report.findings.n ? report.findings.at[0].text : "");
}

/* This axis has the size, the others are small. */
static void launch_axis(Template *t, int axis, int64_t size)
{
    int64_t sizes[MAX_AXES];
    for (int i = 0; i < t->c.entry->n_sizes; i++)
        sizes[i] = i == axis ? size : BESIDE;
    launch(t, sizes);
}

static void run_template(Template *t)
{
    const Bounds bounds = bounds_of(t->c.imp);
    for (int axis = 0; axis < t->c.entry->n_sizes; axis++) {
        for (size_t i = 0; i < sizeof small_axes / sizeof *small_axes; i++)
            launch_axis(t, axis, small_axes[i]);
        for (int i = 0; i < bounds.n; i++)
            for (int d = -1; d <= 1; d++)
                launch_axis(t, axis, bounds.at[i] + d);
    }
    if (!t->ran) {
        t->totals->wrong++;
        printf("%s of %s: no sizes could be run\n", t->c.entry->name, t->type);
    }
}

/* ---- the file -------------------------------------------------------------------------------------------------------------- */

static bool of_word(char ch) { return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || (ch >= '0' && ch <= '9') || ch == '_'; }

/* The part of the file with the type in place of each word `elem`. */
static void with_type(const char *part, size_t length, const char *type, char out[MAX_TEXT])
{
    static const char word[] = "elem";
    size_t n = 0, word_length = strlen(word);
    for (size_t i = 0; i < length && n + strlen(type) + 2 < MAX_TEXT;) {
        bool here = i + word_length <= length && !strncmp(part + i, word, word_length) && !(i && of_word(part[i - 1])) && !of_word(part[i + word_length]);
        n += (size_t)snprintf(out + n, MAX_TEXT - n, "%.*s", here ? (int)strlen(type) : 1, here ? type : part + i);
        i += here ? word_length : 1;
    }
    out[n] = 0;
}

static bool takes(const char *part, const char *type)
{
    bool is_float = type[0] == 'f' || type[0] == 'b';
    return !strncmp(part, "-- num\n", 7) || (is_float && !strncmp(part, "-- float\n", 9));
}

static void test_part(const char *part, size_t length, const char *type, Totals *totals)
{
    char text[MAX_TEXT];
    if (!takes(part, type))
        return;
    with_type(part, length, type, text);
    Template t = {compile_text("template.rise", text, ""), type, totals, 0};
    totals->programs++;
    if (t.c.imp)
        run_template(&t);
    else {
        totals->wrong++;
        printf("this does not compile for %s:\n%s", type, text);
    }
    compiled_free(&t.c);
}

/* The next part begins with its kind of types; NULL: there is none. */
static const char *next_part(const char *part)
{
    const char *num = strstr(part, "\n-- num\n"), *real = strstr(part, "\n-- float\n");
    const char *next = !num || (real && real < num) ? real : num;
    return next ? next + 1 : NULL;
}

int main(int argc, char **argv)
{
    static char file[MAX_TEXT * 8];
    Totals totals = {.cells = argc > 2 ? strtoll(argv[2], NULL, 10) : 0};
    FILE *in = argc > 1 ? fopen(argv[1], "r") : NULL;
    size_t length = in ? fread(file, 1, sizeof file - 1, in) : 0;
    if (in)
        fclose(in);
    int n = argc > 3 ? argc - 3 : (int)(sizeof numbers / sizeof *numbers);
    for (const char *part = file; part && *part;) {
        const char *next = next_part(part);
        size_t size = next ? (size_t)(next - part) : length - (size_t)(part - file);
        for (int i = 0; i < n; i++)
            test_part(part, size, argc > 3 ? argv[i + 3] : numbers[i], &totals);
        part = next;
    }
    totals.wrong += totals.programs == 0;
    printf("%ld programs, %ld launches too large or of no elements where one is wanted\n", totals.programs, totals.not_run);
    printf("templates: %ld checks, %ld wrong\n", totals.launches - totals.not_run, totals.wrong);
    return totals.wrong != 0;
}
