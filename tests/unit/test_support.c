/* Arenas, text, interning, contexts under failing allocation, and how diagnostics look. */
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "support/name_map.h"
#include "support/context.h"
#include "support/utf8.h"
#include "unit.h"

/* ---- an allocator that counts, and fails at one call -------------------------------------------------------- */

typedef struct Failing {
    long calls, fail_at; /* fail_at 0: never */
    long live;
} Failing;

static void *failing_alloc(void *user, size_t size)
{
    Failing *f = user;
    if (++f->calls == f->fail_at)
        return NULL;
    void *block = malloc(size);
    if (block) {
        memset(block, 0xa5, size);
        f->live++;
    }
    return block;
}

static void failing_free(void *user, void *block)
{
    Failing *f = user;
    f->live--;
    free(block);
}

/* ---- helpers ------------------------------------------------------------------------------------------------ */

/* The n-th code of a kind ('E' or 'W') in the table, so that this test does not depend on what the codes mean. */
static DiagCode nth_code(char kind, int n)
{
    for (int code = 0; code < (int)DIAG_CODE_COUNT; code++)
        if (diag_code_name((DiagCode)code)[0] == kind && n-- == 0)
            return (DiagCode)code;
    return DIAG_CODE_COUNT;
}

/* What is in brackets after `error` and `warning` is left out. */
static const char *rendered(Ctx *ctx, bool colour)
{
    StrBuf out, text;
    sb_init(&out, ctx);
    sb_init(&text, ctx);
    diag_render(ctx, &out, colour);
    for (const char *at = out.text; *at; at++) {
        sb_putc(&text, *at);
        if (*at == '[' && (at - out.text) > 5 && (!strncmp(at - 5, "error", 5) || !strncmp(at - 5, "rning", 5)))
            at = strchr(at, ']') - 1;
    }
    return text.text;
}

static Span span_of(uint32_t file, const char *text, const char *part)
{
    const char *at = strstr(text, part);
    uint32_t lo = (uint32_t)(at - text);
    return (Span){file, lo, lo + (uint32_t)strlen(part)};
}

/* ---- tests -------------------------------------------------------------------------------------------------- */

static void test_arena(Ctx *ctx, void *user)
{
    (void)user;
    Arena arena;
    arena_init(&arena, ctx);
    for (size_t size = 0; size < 100000; size = size * 3 / 2 + 1) {
        unsigned char *a = arena_alloc(&arena, size), *b = arena_alloc(&arena, 1);
        CHECK(((uintptr_t)a & 15) == 0 && ((uintptr_t)b & 15) == 0 && a != b);
        bool zero = true;
        for (size_t i = 0; i < size; i++)
            zero &= a[i] == 0;
        CHECK(zero);
        memset(a, 0xff, size);
    }
    for (int i = 0; i < 20000; i++) {
        int *small = ARENA_NEW(&arena, int);
        CHECK(*small == 0);
        *small = -1;
    }
    arena_free(&arena);
    CHECK(arena.chunks == NULL);
    VEC(int) vec = {0};
    for (int i = 0; i < 1000; i++)
        vec_push(ctx, &vec, i);
    bool same = vec.n == 1000;
    for (int i = 0; i < vec.n; i++)
        same &= vec.at[i] == i;
    CHECK(same);
}

static void alloc_absurd(Ctx *ctx, void *user)
{
    (void)user;
    int n = -1;
    NEWN(ctx, int, n);
}

static void test_intern(Ctx *ctx, void *user)
{
    (void)user;
    const char *first[3000];
    for (int i = 0; i < 3000; i++)
        first[i] = intern_z(ctx, ctx_printf(ctx, "name%d", i));
    bool same = true;
    for (int i = 0; i < 3000; i++)
        same &= first[i] == intern_z(ctx, ctx_printf(ctx, "name%d", i));
    CHECK(same);
    CHECK(intern(ctx, "abc", 2) == intern(ctx, "abd", 2));
    CHECK(intern(ctx, "a\0b", 3) != intern(ctx, "a\0c", 3));
    CHECK_TEXT(intern(ctx, "", 0), "");
}

/* Each map goes on saying what it said, whatever was put into others made of it. */
static void test_name_map(Ctx *ctx, void *user)
{
    enum { N = 3000 };
    (void)user;
    const NameMap *maps[N + 1] = {NULL};
    const char *names[N];
    for (int i = 0; i < N; i++) {
        names[i] = intern_z(ctx, ctx_printf(ctx, "name%d", i % (N / 2)));
        maps[i + 1] = name_map_put(ctx, maps[i], names[i], &names[i]);
    }
    bool right = true;
    for (int k = 0; k <= N; k += 37)
        for (int i = 0; i < N / 2; i++) {
            int last = i + N / 2 < k ? i + N / 2 : i;
            right &= name_map_get(maps[k], names[i]) == (last < k ? &names[last] : NULL);
        }
    CHECK(right);
    CHECK(name_map_get(maps[N], intern_z(ctx, "another")) == NULL);
}

static const char *float_text(Ctx *ctx, double value, bool single)
{
    StrBuf sb;
    sb_init(&sb, ctx);
    sb_put_float(&sb, value, single);
    return sb.text;
}

static void test_text(Ctx *ctx, void *user)
{
    (void)user;
    StrBuf sb;
    sb_init(&sb, ctx);
    for (int i = 0; i < 300; i++)
        sb_printf(&sb, "%d,", i);
    CHECK(sb.len == strlen(sb.text) && sb.len == 10 * 2 + 90 * 3 + 200 * 4);
    CHECK(strlen(ctx_printf(ctx, "%*d", 5000, 1)) == 5000);
    sb_init(&sb, ctx);
    sb_put_json(&sb, "a\"b\\c\n\t\x01\xc3\xa4\xff");
    CHECK_TEXT(sb.text, "\"a\\\"b\\\\c\\n\\t\\u0001\xc3\xa4\\ufffd\"");

    CHECK_TEXT(float_text(ctx, 0.1f, true), "0.1");
    CHECK_TEXT(float_text(ctx, 0.1, false), "0.1");
    CHECK_TEXT(float_text(ctx, 0.1f, false), "0.10000000149011612");
    CHECK_TEXT(float_text(ctx, 1, true), "1");
    CHECK_TEXT(float_text(ctx, -0.0, true), "-0");
    CHECK_TEXT(float_text(ctx, 16777216, true), "16777216");
    CHECK_TEXT(float_text(ctx, 1e6, true), "1e+06");
    CHECK_TEXT(float_text(ctx, 0x1p-149, true), "1e-45");
    CHECK_TEXT(float_text(ctx, 5e-324, false), "5e-324");
    CHECK_TEXT(float_text(ctx, (double)INFINITY, true), "inf");
    CHECK_TEXT(float_text(ctx, -(double)INFINITY, false), "-inf");
    CHECK_TEXT(float_text(ctx, (double)NAN, true), "nan");
    uint64_t seed = 1;
    bool back = true;
    for (int i = 0; i < 20000; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        uint32_t bits32 = (uint32_t)(seed >> 32);
        float f;
        double d;
        memcpy(&f, &bits32, 4);
        memcpy(&d, &seed, 8);
        back &= isnan(f) || strtof(float_text(ctx, (double)f, true), NULL) == f;
        back &= isnan(d) || strtod(float_text(ctx, d, false), NULL) == d;
    }
    CHECK(back);
    uint32_t point;
    CHECK(utf8_decode("\xe2\x82\xac", 3, &point) == 3 && point == 0x20ac);
    CHECK(utf8_decode("\xe2\x82", 2, &point) == 0 && utf8_decode("\xc0\x80", 2, &point) == 0);
    CHECK(utf8_decode("\xed\xa0\x80", 3, &point) == 0 && utf8_decode("\xf4\x90\x80\x80", 4, &point) == 0);
}

static void test_arithmetic(void)
{
    CHECK(floor_div(-7, 2) == -4 && floor_mod(-7, 2) == 1 && floor_div(7, 2) == 3 && floor_div(-8, 2) == -4);
    int64_t r;
    CHECK(!add_fits(INT64_MAX, 1, &r) && !sub_fits(INT64_MIN, 1, &r) && !mul_fits(INT64_MIN, -1, &r));
    CHECK(mul_fits(3, -4, &r) && r == -12);
}

static void test_codes(void)
{
    for (int code = 0; code < (int)DIAG_CODE_COUNT; code++) {
        const char *name = diag_code_name((DiagCode)code);
        CHECK((name[0] == 'E' || name[0] == 'W') && strlen(name) == 5 && strspn(name + 1, "0123456789") == 4);
        CHECK(diag_code_find(name) == (DiagCode)code);
        CHECK(*diag_code_title((DiagCode)code) && *diag_code_explanation((DiagCode)code));
    }
    CHECK(diag_code_find("E9999") == DIAG_CODE_COUNT && diag_code_find("") == DIAG_CODE_COUNT);
    if (DIAG_CODE_COUNT > 0) {
        char lower[8];
        snprintf(lower, sizeof lower, "%s", diag_code_name(nth_code('E', 0)));
        lower[0] = 'e';
        CHECK(diag_code_find(lower) == nth_code('E', 0));
    }
}

static void test_sources(Ctx *ctx, void *user)
{
    (void)user;
    uint32_t empty = source_add(ctx, "empty.rise", "", 0);
    uint32_t file = source_add(ctx, "a.rise", "one\ntwo\n\nfour", 13);
    int line, column;
    source_position(ctx, (Span){empty, 0, 0}, &line, &column);
    CHECK(line == 1 && column == 1);
    static const struct {
        uint32_t at;
        int line, column;
    } places[] = {{0, 1, 1}, {3, 1, 4}, {4, 2, 1}, {8, 3, 1}, {9, 4, 1}, {13, 4, 5}};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        source_position(ctx, (Span){file, places[i].at, places[i].at}, &line, &column);
        CHECK(line == places[i].line && column == places[i].column);
    }
    source_position(ctx, NO_SPAN, &line, &column);
    CHECK(line == 0 && column == 0 && !source_get(ctx, 0) && !source_get(ctx, 9));
    Span joined = span_join((Span){1, 5, 7}, (Span){1, 2, 6});
    CHECK(joined.lo == 2 && joined.hi == 7);
    CHECK(span_join((Span){1, 5, 7}, (Span){2, 2, 6}).lo == 5);
}

static void render_example(Ctx *ctx, void *user)
{
    (void)user;
    const char *text = "// blur\n\n\n\nentry blur (xs: 1000.f32): 4.f32 =\n\n  xs |> split(256) |> map(rowSum)\n";
    uint32_t file = source_add(ctx, "blur.rise", text, strlen(text));
    Diag *d = diag_error(ctx, nth_code('E', 0), span_of(file, text, "split(256)"),
                         "split(256) needs a multiple of 256, and xs has %d elements", 1000);
    diag_label(ctx, d, "1000 = 3*256 + 232: 232 elements would be left over");
    diag_note(ctx, d, span_of(file, text, "1000.f32"), "the size comes from here");
    diag_help(ctx, d, "pad first: `padTo(256, 0) |> split(256)`, or choose a divisor of 1000 (250, 200)");
    Diag *again = diag_error(ctx, nth_code('E', 0), span_of(file, text, "split(256)"), "said once");
    diag_label(ctx, again, "not shown");
    diag_note(ctx, again, NO_SPAN, "not shown");
    diag_help(ctx, again, "not shown");
    CHECK(ctx->diags.errors == 1 && ctx->diags.warnings == 0 && ctx->diags.list.n == 1);
    CHECK_TEXT(rendered(ctx, false),
               "blur.rise:7:9: error[]: split(256) needs a multiple of 256, and xs has 1000 elements\n"
               "  7 |   xs |> split(256) |> map(rowSum)\n"
               "    |         ^^^^^^^^^^ 1000 = 3*256 + 232: 232 elements would be left over\n"
               "  5 | entry blur (xs: 1000.f32): 4.f32 =\n"
               "    |                 -------- the size comes from here\n"
               "help: pad first: `padTo(256, 0) |> split(256)`, or choose a divisor of 1000 (250, 200)\n");
    CHECK(strstr(rendered(ctx, true), "\033[1;31m") && !strstr(rendered(ctx, false), "\033"));
}

static void render_forms(Ctx *ctx, void *user)
{
    (void)user;
    const char *text = "first (line\nsecond) line\n\tx\ty\t= \xc3\xa4 z\r\nbad \x01 \xff \xe2\x80\xae end\nlast";
    uint32_t other = source_add(ctx, "lib.rise", "def id = fn\n", 12);
    uint32_t file = source_add(ctx, "t.rise", text, strlen(text));
    DiagCode e = nth_code('E', 0);
    /* Recorded in another order than shown. */
    diag_error(ctx, e, (Span){file, (uint32_t)strlen(text), (uint32_t)strlen(text)}, "at the end");
    Diag *d = diag_error(ctx, e, span_of(file, text, "z"), "after tabs, same line twice");
    diag_note(ctx, d, span_of(file, text, "y\t="), "over a tab");
    diag_note(ctx, d, (Span){other, 4, 6}, "another file");
    diag_note(ctx, d, NO_SPAN, "no place, \033[31mno colour");
    diag_error(ctx, e, span_of(file, text, "(line\nsecond)"), "several lines");
    diag_error(ctx, e, span_of(file, text, "end"), "bytes that do not print");
    diag_error(ctx, e, NO_SPAN, "nowhere");
    diag_error(ctx, e, NO_SPAN, "nowhere");
    diag_error(ctx, e, NO_SPAN, "nowhere else");
    CHECK_TEXT(rendered(ctx, false),
               "risec: error[]: nowhere\n"
               "risec: error[]: nowhere else\n"
               "t.rise:1:7: error[]: several lines\n"
               "  1 | first (line\n"
               "    |       ^^^^^\n"
               "t.rise:3:11: error[]: after tabs, same line twice\n"
               "  3 |     x   y   = \xc3\xa4 z\n"
               "    |                 ^\n"
               "    |         ----- over a tab\n"
               "lib.rise:1:5: note:\n"
               "  1 | def id = fn\n"
               "    |     -- another file\n"
               "note: no place, ?[31mno colour\n"
               "t.rise:4:13: error[]: bytes that do not print\n"
               "  4 | bad ? ? ? end\n"
               "    |           ^^^\n"
               "t.rise:5:5: error[]: at the end\n"
               "  5 | last\n"
               "    |     ^\n");
}

static void render_window(Ctx *ctx, void *user)
{
    (void)user;
    char text[1000];
    memset(text, 'a', sizeof text);
    text[500] = 'X';
    text[10] = 'Y';
    text[999] = 0;
    uint32_t file = source_add(ctx, "long.rise", text, 999);
    Diag *d = diag_error(ctx, nth_code('E', 0), (Span){file, 500, 501}, "far");
    diag_note(ctx, d, (Span){file, 10, 11}, "near");
    char a[160];
    memset(a, 'a', sizeof a);
    CHECK_TEXT(rendered(ctx, false), ctx_printf(ctx,
                                                "long.rise:1:501: error[]: far\n"
                                                "  1 | ...%.60sX%.99s...\n"
                                                "    | %63s^\n"
                                                "  1 | %.10sY%.149s...\n"
                                                "    | %10s- near\n",
                                                a, a, "", a, a, ""));
}

static void render_many(Ctx *ctx, void *user)
{
    (void)user;
    char text[LIMIT_DIAGNOSTICS * 2 + 1];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    uint32_t file = source_add(ctx, "m.rise", text, sizeof text - 1);
    DiagCode w = nth_code('W', 0);
    int warnings = w == DIAG_CODE_COUNT ? 0 : 1;
    if (warnings)
        diag_warning(ctx, w, (Span){file, 0, 1}, "gives way to an error");
    for (uint32_t i = 0; i < LIMIT_DIAGNOSTICS + 7; i++) {
        Diag *d = diag_error(ctx, nth_code('E', 0), (Span){file, i, i + 1}, "wrong");
        diag_label(ctx, d, "label");
        diag_note(ctx, d, NO_SPAN, "note");
        diag_help(ctx, d, "help");
    }
    CHECK(ctx->diags.list.n == LIMIT_DIAGNOSTICS && ctx->diags.errors == LIMIT_DIAGNOSTICS + 7);
    CHECK(ctx->diags.warnings == warnings && ctx->diags.dropped == 7 + warnings);
    const char *out = rendered(ctx, false);
    CHECK(strstr(out, "gives way") == NULL);
    const char *end = ctx_printf(ctx, "help: help\n%d more not shown\n", 7 + warnings);
    CHECK(strlen(out) > strlen(end) && strcmp(out + strlen(out) - strlen(end), end) == 0);
}

static void in_new_context(void (*fn)(Ctx *, void *))
{
    Ctx *ctx = ctx_new(NULL, NULL);
    CHECK(ctx != NULL);
    CHECK(ctx_try(ctx, fn, NULL));
    ctx_free(ctx);
}

/* ---- running out of memory ---------------------------------------------------------------------------------- */

static void inner(Ctx *ctx, void *user)
{
    (void)user;
    for (int i = 0; i < 400; i++)
        intern_z(ctx, ctx_printf(ctx, "inner%d", i));
    ctx_alloc(ctx, 3 << 20);
}

static void outer(Ctx *ctx, void *user)
{
    long *inner_failed = user;
    jmp_buf *guard = ctx->guard;
    if (!ctx_try(ctx, inner, NULL))
        ++*inner_failed;
    CHECK(ctx->guard == guard);
    char *text = ctx_alloc(ctx, 1 << 17);
    memset(text, 'x', (1 << 17) - 1);
    uint32_t file = source_add(ctx, "x.rise", text, (1 << 17) - 1);
    for (uint32_t i = 0; i < 30; i++) {
        Diag *d = diag_error(ctx, nth_code('E', 0), (Span){file, i, i + 9}, "%*d", 3000, 1);
        diag_note(ctx, d, (Span){file, i, i + 1}, "note");
        diag_help(ctx, d, "help %d", (int)i);
    }
    StrBuf out;
    sb_init(&out, ctx);
    diag_render(ctx, &out, false);
    CHECK(out.len > 90000);
}

static void still_usable(Ctx *ctx, void *user)
{
    (void)user;
    CHECK(intern_z(ctx, "inner7") == intern_z(ctx, "inner7"));
    CHECK_TEXT(intern_z(ctx, "inner7"), "inner7");
    StrBuf out;
    sb_init(&out, ctx);
    diag_render(ctx, &out, false);
}

static void test_failing_allocation(void)
{
    long none = 0, failed_new = 0, failed_try = 0, failed_inner = 0;
    for (long k = 1;; k++) {
        Failing f = {.fail_at = k};
        Allocator alloc = {&f, failing_alloc, failing_free};
        Ctx *ctx = ctx_new(&alloc, NULL);
        if (!ctx) {
            failed_new++;
            CHECK(f.live == 0);
            continue;
        }
        if (!ctx_try(ctx, outer, &failed_inner))
            failed_try++;
        CHECK(ctx->guard == NULL);
        bool reached = f.calls >= k;
        f.fail_at = 0;
        CHECK(ctx_try(ctx, still_usable, NULL));
        ctx_free(ctx);
        CHECK(f.live == 0);
        if (!reached) {
            none = k;
            break;
        }
    }
    CHECK(failed_new == 1 && failed_try >= 4 && failed_inner >= 2);
    CHECK(none == failed_new + failed_try + failed_inner + 1);
}

/* ---- files -------------------------------------------------------------------------------------------------- */

typedef struct File {
    const char *path;
    FileKind kind;
    size_t limit, size;
    char *bytes;
    FileStatus status;
} File;

static void read_file(Ctx *ctx, void *user)
{
    File *file = user;
    file->status = ctx->files.read(ctx->files.user, ctx, file->path, file->kind, file->limit, &file->bytes, &file->size);
}

static void test_files(void)
{
    char dir[UNIT_PATH], path[UNIT_PATH + 16], absent[UNIT_PATH + 16];
    if (!unit_folder(dir))
        return;
    snprintf(path, sizeof path, "%s/x", dir);
    snprintf(absent, sizeof absent, "%s/absent/x", dir);
    static char big[70000];
    memset(big, 'b', sizeof big);
    Ctx *ctx = ctx_new(NULL, NULL);
    CHECK(ctx->files.write(ctx->files.user, path, big, sizeof big) == FILE_OK);
    CHECK(ctx->files.write(ctx->files.user, absent, big, 1) == FILE_UNWRITABLE);
    static const size_t limits[] = {70000, 69999, 16384, 0};
    for (int i = 0; i < 4; i++) {
        File file = {.path = path, .limit = limits[i]};
        CHECK(ctx_try(ctx, read_file, &file));
        CHECK(file.status == (i ? FILE_TOO_LARGE : FILE_OK));
        CHECK(i || (file.size == sizeof big && file.bytes[file.size] == 0 && memcmp(file.bytes, big, file.size) == 0));
    }
    File missing = {.path = absent, .limit = 9}, folder = {.path = "/", .limit = 9};
    CHECK(ctx_try(ctx, read_file, &missing) && missing.status == FILE_MISSING);
    CHECK(ctx_try(ctx, read_file, &folder) && folder.status == FILE_UNFIT);
    File device = {.path = "/dev/null", .limit = 9}, dash = {.path = "-", .limit = 9};
    CHECK(ctx_try(ctx, read_file, &device) && device.status == FILE_UNFIT);
    CHECK(ctx_try(ctx, read_file, &dash) && dash.status == FILE_MISSING);
    device.kind = FILE_ANY;
    CHECK(ctx_try(ctx, read_file, &device) && device.status == FILE_OK && device.size == 0);
    ctx_free(ctx);
    for (long k = 2; k < 6; k++) {
        Failing f = {.fail_at = k};
        Allocator alloc = {&f, failing_alloc, failing_free};
        ctx = ctx_new(&alloc, NULL);
        File file = {.path = path, .limit = 1 << 20};
        CHECK(ctx_try(ctx, read_file, &file) == (f.calls < k));
        ctx_free(ctx);
        CHECK(f.live == 0);
    }
    remove(path);
    rmdir(dir);
}

int main(void)
{
    in_new_context(test_arena);
    Ctx *ctx = ctx_new(NULL, NULL);
    CHECK(!ctx_try(ctx, alloc_absurd, NULL));
    ctx_free(ctx);
    ctx_free(NULL);
    in_new_context(test_intern);
    in_new_context(test_name_map);
    in_new_context(test_text);
    if (setlocale(LC_NUMERIC, "de_DE.UTF-8"))
        in_new_context(test_text);
    setlocale(LC_NUMERIC, "C");
    test_arithmetic();
    test_codes();
    in_new_context(test_sources);
    in_new_context(render_example);
    in_new_context(render_forms);
    in_new_context(render_window);
    in_new_context(render_many);
    test_failing_allocation();
    test_files();
    return unit_end();
}
