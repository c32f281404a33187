/* Lines of emitted text that are too long are broken: some known ones, and random ones, whose
 * characters stay and of which each part fits that has a place to break it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/cuda_internal.h"

enum { LINES = 2000, MOST = 1200 };

static long checks, wrong;

static void check(bool good, const char *what, const char *text, const char *got)
{
    checks++;
    wrong += !good;
    if (!good)
        printf("%s:\n%s\nbecame\n%s\n", what, text, got);
}

static const char *wrapped(Ctx *ctx, const char *text)
{
    StrBuf out;
    sb_init(&out, ctx);
    sb_puts(&out, "before\n");
    size_t from = out.len;
    sb_puts(&out, text);
    cuda_wrap(&out, from);
    sb_putc(&out, '\0');
    return out.text + from;
}

#define X30 "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
#define X60 X30 X30

static const struct { const char *text, *want; } known[] = {
    {"short = 1;\n", "short = 1;\n"},
    {"    " X60 " = f(" X30 ", b, c);\n", "    " X60 " =\n        f(" X30 ", b, c);\n"},
    {"    " X30 " = f(" X30 ", " X60 ", c);\n", "    " X30 " = f(" X30 ",\n        " X60 ", c);\n"},
    {"    y = (a + " X30 ") * (b + " X30 ") + " X30 ";\n",
     "    y = (a + " X30 ") * (b + " X30 ")\n        + " X30 ";\n"},
    {"if (" X30 " < a && " X30 " < b || " X30 " < c)\n    x = 1;\n",
     "if (" X30 " < a && " X30 " < b\n    || " X30 " < c)\n    x = 1;\n"},
    {"  " X60 " = " X60 ";\n", "  " X60 " =\n      " X60 ";\n"},
    {"  x = 1; // " X60 " " X60 "\n", "  // " X60 "\n  // " X60 "\n  x = 1;\n"},
    {"// " X60 " " X60 "\n", "// " X60 "\n// " X60 "\n"},
    {"#define " X60 " " X60 "\n", "#define " X60 " " X60 "\n"},
    {"f(\"" X60 ", " X60 "\", b);\n", "f(\"" X60 ", " X60 "\", b);\n"},
    {"  " X60 "<int, 4> v = g<int, 8>(" X30 ");\n",
     "  " X60 "<int, 4> v =\n      g<int, 8>(" X30 ");\n"},
};

static const char *const words[] = {
    "a",   "index", "b*4", "(",   ")",         "f(",         ") + ", " + ", " && ",
    ", ",  " ? ",   " : ", " = ", "\"x, y\"", "0x7fffffff", " < ",  "[",   "]"};

static void random_line(char *line, unsigned *seed)
{
    int n = 1 + rand_r(seed) % 200;
    line[0] = '\0';
    for (int i = 0; i < n && strlen(line) < MOST - 16; i++)
        strcat(line, words[(size_t)rand_r(seed) % (sizeof words / sizeof *words)]);
}

/* The same characters, but for spaces and ends of lines. */
static bool same_text(const char *a, const char *b)
{
    for (;; a++, b++) {
        a += strspn(a, " \n");
        b += strspn(b, " \n");
        if (*a != *b || !*a)
            return *a == *b;
    }
}

static bool all_fit(const char *text)
{
    for (const char *end; *text; text = end + 1) {
        end = strchr(text, '\n');
        if (end - text > CUDA_WIDTH)
            return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    unsigned seed = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 1;
    printf("seed %u\n", seed);
    Ctx *ctx = ctx_new(NULL, NULL);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const char *got = wrapped(ctx, known[i].text);
        check(!strcmp(got, known[i].want), "a known line", known[i].text, got);
    }
    for (int i = 0; i < LINES; i++) {
        char line[MOST + 2];
        random_line(line, &seed);
        strcat(line, "\n");
        const char *got = wrapped(ctx, line);
        check(same_text(line, got), "a random line", line, got);
        check(!all_fit(got) || !strcmp(got, wrapped(ctx, got)), "what fits", line, got);
    }
    ctx_free(ctx);
    printf("cuda_wrap: %ld checks, %ld wrong\n", checks, wrong);
    return wrong != 0;
}
