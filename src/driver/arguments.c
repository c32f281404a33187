#include "driver/arguments.h"

#include "driver/inputs.h"
#include "driver/nearby.h"
#include "driver/npy.h"
#include "driver/results.h"
#include "driver/room.h"
#include "driver/sizes.h"
#include "driver/text_data.h"
#include "support/input_words.h"
#include "support/utf8.h"

enum {
    LARGEST_TEXT = 256 << 20,
    LONG_RUN = 1 << 28 /* elements; from here on a run takes minutes */
};

/* One component of an input, and what the command line gives for it. */
typedef struct Component {
    const char *name; /* "xs", or "xs.2" */
    Type type;
    const char *value;
    bool from_file;
} Component;

typedef struct Making {
    Ctx *ctx;
    Driver *d;
    const CoreEntry *entry;
    ArgumentsHow *how;
    Launch *launch;
    int n_components;
    Component *components;
} Making;

static Type innermost(Type t)
{
    while (t->kind == TY_ARRAY || t->kind == TY_VEC)
        t = t->elem;
    return t;
}

static void list_components(Making *m)
{
    const CoreEntry *entry = m->entry;
    for (int i = 0; i < entry->n_inputs; i++)
        m->n_components += type_component_count(entry->inputs[i]->type);
    m->components = NEWN(m->ctx, Component, m->n_components + 1);
    int k = 0;
    for (int i = 0; i < entry->n_inputs; i++) {
        const CoreVar *var = entry->inputs[i];
        int count = type_component_count(var->type);
        for (int c = 0; c < count; c++, k++) {
            m->components[k].name = type_component_name(m->ctx, var->name, var->type, c);
            m->components[k].type = type_component(m->ctx, var->type, c);
        }
    }
}

/* Column k of `[[1, 2], [3, 4]]`, where each row has n numbers; NULL: it is something else. */
static const char *column_of(Ctx *ctx, const char *rows, int k, int n)
{
    StrBuf out;
    sb_init(&out, ctx);
    int depth = 0, at = 0;
    for (const char *c = rows; *c; c++) {
        bool opens = *c == '[' || *c == '(', closes = *c == ']' || *c == ')';
        if (closes && depth == 2 && at != n - 1)
            return NULL;
        depth += opens - closes;
        if (depth < 0 || depth > 2)
            return NULL;
        if (opens)
            at = 0;
        if (opens && depth == 2)
            sb_puts(&out, out.len ? "," : "[");
        at += *c == ',' && depth == 2;
        if (depth == 2 && at == k && !strchr("[(, ", *c))
            sb_putc(&out, *c);
    }
    sb_puts(&out, "]");
    return depth == 0 && out.len > 1 ? out.text : NULL;
}

/* What gives the components of this input, whose value was given as one. */
static const char *each_component(Ctx *ctx, const CoreVar *var, const char *value)
{
    int n = type_component_count(var->type);
    StrBuf out;
    sb_init(&out, ctx);
    for (int k = 0; k < n; k++) {
        const char *column = text_is_inline(value)  ? column_of(ctx, value, k, n)
                             : input_is_spec(value) ? value
                                                    : NULL;
        sb_printf(&out, "%s--arg %s=%s", k ? " " : "",
                  type_component_name(ctx, var->name, var->type, k), column ? column : "...");
    }
    return out.text;
}

/* `xs.2.1` of an input `xs`. */
static bool is_nested(const CoreEntry *entry, const char *name)
{
    size_t n = strcspn(name, ".");
    bool nested = name[n] && strchr(name + n + 1, '.'), input = false;
    for (int i = 0; nested && i < entry->n_inputs; i++)
        input |= strlen(entry->inputs[i]->name) == n && strncmp(entry->inputs[i]->name, name, n) == 0;
    return input;
}

static void unknown_input(Making *m, const Given *given)
{
    Diag *diag;
    for (int i = 0; i < m->entry->n_sizes; i++) {
        if (strcmp(m->entry->sizes[i]->name, given->name) == 0) {
            diag = driver_usage(m->ctx, m->d, E0626, "%s: `%s` is a size, not an input", m->entry->name, given->name);
            diag_help(m->ctx, diag, "sizes are given by `--set %s=%s`", given->name, given->value);
            return;
        }
    }
    for (int i = 0; i < m->entry->n_inputs; i++) {
        const CoreVar *var = m->entry->inputs[i];
        if (strcmp(var->name, given->name) == 0) {
            diag = driver_usage(m->ctx, m->d, E0626, "%s: the input `%s` is %s, of %d components", m->entry->name, var->name,
                                type_text(m->ctx, var->type), type_component_count(var->type));
            diag_help(m->ctx, diag, "give each: `%s`", each_component(m->ctx, var, given->value));
            return;
        }
    }
    diag = driver_usage(m->ctx, m->d, E0626, "%s has no input `%s`", m->entry->name, given->name);
    Nearest nearest;
    nearest_init(&nearest, given->name);
    StrBuf list;
    sb_init(&list, m->ctx);
    for (int k = 0; k < m->n_components; k++) {
        nearest_try(&nearest, m->components[k].name);
        sb_printf(&list, "%s`%s`", k ? ", " : "", m->components[k].name);
    }
    if (is_nested(m->entry, given->name))
        diag_help(m->ctx, diag, "the components of nested tuples are counted through: its inputs are %s", list.text);
    else if (nearest.best && m->n_components > 1)
        diag_help(m->ctx, diag, "did you mean `%s`? Its inputs are %s", nearest.best, list.text);
    else if (nearest.best)
        diag_help(m->ctx, diag, "did you mean `%s`?", nearest.best);
    else if (m->n_components)
        diag_help(m->ctx, diag, m->n_components > 1 ? "its inputs are %s" : "its only input is %s", list.text);
}

static bool match_arguments(Making *m)
{
    bool good = true;
    for (int i = 0; i < m->d->line->given.n; i++) {
        const Given *given = &m->d->line->given.at[i];
        if (given->id != OPT_ARG)
            continue;
        bool found = false;
        for (int k = 0; k < m->n_components && !found; k++) {
            found = strcmp(m->components[k].name, given->name) == 0;
            if (found) {
                m->components[k].value = given->value;
                m->components[k].from_file = !input_is_spec(given->value);
            }
        }
        if (!found)
            unknown_input(m, given);
        good &= found;
    }
    return good;
}

/* Separate from match_arguments: where an argument was unknown, others would only seem to be missing. */
static bool nothing_missing(Making *m)
{
    for (int k = 0; m->how->otherwise && k < m->n_components; k++)
        if (!m->components[k].value)
            m->components[k].value = m->how->otherwise;
    StrBuf names, args;
    sb_init(&names, m->ctx);
    sb_init(&args, m->ctx);
    int missing = 0;
    bool files = false;
    for (int k = 0; k < m->n_components; k++)
        files |= m->components[k].from_file;
    /* What generated inputs need besides, so that one help is enough. */
    for (int i = 0; !files && i < m->entry->n_sizes; i++) {
        if (!option_sets(m->d->line, m->entry->sizes[i]->name))
            sb_printf(&args, "--set %s=1000 ", m->entry->sizes[i]->name);
    }
    for (int k = 0; k < m->n_components; k++) {
        const Component *c = &m->components[k];
        if (c->value)
            continue;
        sb_printf(&names, "%s`%s`: %s", missing ? ", " : "", c->name, type_text(m->ctx, c->type));
        sb_printf(&args, "%s--arg %s=%s", missing ? " " : "", c->name, type_is_scalar_like(c->type) && c->type->kind != TY_VEC ? "1" : "uniform");
        missing++;
    }
    if (!missing)
        return true;
    Diag *diag = driver_usage(m->ctx, m->d, E0626, "%s: nothing is given for %s", m->entry->name, names.text);
    diag_help(m->ctx, diag, "add `%s`, or give data: `--arg NAME=[1, 2]`, or a .npy or text file", args.text);
    return false;
}

static int rank_of(Type t)
{
    int rank = 0;
    for (; t->kind == TY_ARRAY || t->kind == TY_VEC; t = t->elem)
        rank++;
    return rank;
}

/* `n.m.f32`, of so many sizes. */
static const char *array_text(Ctx *ctx, int rank, Scalar elem)
{
    enum { NAMED = 4 };
    StrBuf out;
    sb_init(&out, ctx);
    for (int i = 0; i < rank; i++)
        sb_printf(&out, "%c.", "nmkl"[i % NAMED]);
    sb_puts(&out, scalar_name(elem));
    return rank <= NAMED ? out.text : NULL;
}

static void help_rank(Ctx *ctx, Diag *diag, const char *name, int has, int wanted, Scalar elem)
{
    const char *type = array_text(ctx, has, elem);
    if (wanted == 1 && has > 1 && type)
        diag_help(ctx, diag,
                  "all its rows one after another are `%s.ravel()` with numpy; or let the entry "
                  "take `%s: %s`",
                  name, name, type);
    else if (wanted == 1 && has > 1)
        diag_help(ctx, diag, "all its rows one after another are `%s.ravel()` with numpy", name);
    else if (wanted > has && has > 0)
        diag_help(ctx, diag,
                  "`%s.reshape(...)` with numpy gives it %d dimensions, before it is saved", name,
                  wanted);
}

/* The file's elements must be of the input's type, and its dimensions as many; which sizes they have is for sizes_infer. */
static bool fits_type(Making *m, const Component *c, HostBuf *buf)
{
    Scalar elem = type_scalar_of(m->ctx, c->type);
    int rank = rank_of(c->type);
    if (!npy_as(buf, elem)) {
        Diag *diag = driver_usage(m->ctx, m->d, E0627, "%s: the elements of %s are %s, and %s: %s wants %s", m->entry->name, c->value,
                                  scalar_name(buf->elem), c->name, type_text(m->ctx, c->type), scalar_name(elem));
        if (elem != SC_BF16)
            diag_help(m->ctx, diag, "convert it where it is made: `%s.astype(\"%s%d\")` with numpy", c->name,
                      elem == SC_BOOL ? "bool" : scalar_is_float(elem) ? "float" : scalar_is_signed(elem) ? "int" : "uint",
                      elem == SC_BOOL ? 8 : 8 * scalar_bytes(elem));
        return false;
    }
    if (buf->rank != rank) {
        StrBuf shape;
        sb_init(&shape, m->ctx);
        results_put_shape(&shape, buf);
        Diag *diag =
            driver_usage(m->ctx, m->d, E0627, "%s: %s has %d dimension%s (%s), and %s: %s has %d",
                         m->entry->name, c->value, buf->rank, buf->rank == 1 ? "" : "s", shape.text,
                         c->name, type_text(m->ctx, c->type), rank);
        help_rank(m->ctx, diag, c->name, buf->rank, rank, elem);
        return false;
    }
    return true;
}

/* `1,2,3`, `1 2` or `(1, 2)`: numbers that would be an array in brackets; NULL: it is something else. */
static const char *in_brackets(Ctx *ctx, const char *value)
{
    StrBuf out;
    const char *end = value + strlen(value);
    bool several = strpbrk(value, ",; (){}") != NULL;
    while (*value && strchr("({ ", *value))
        value++;
    while (end > value && strchr(")} ,;", end[-1]))
        end--;
    if (!several || end == value || strspn(value, "0123456789+-.eE,; ") < (size_t)(end - value) || !strpbrk(value, "0123456789"))
        return NULL;
    sb_init(&out, ctx);
    for (; value < end; value++) {
        bool between = strchr(",; ", *value) != NULL;
        if (!between)
            sb_putc(&out, *value);
        else if (out.text[out.len - 1] != ',')
            sb_putc(&out, ',');
    }
    return out.text;
}

/* The size that is given for the array's length; NULL: it is computed. */
static const char *length_name(const Making *m, const Component *c)
{
    for (int i = 0; c->type->kind == TY_ARRAY && i < m->entry->n_sizes; i++)
        if (m->entry->sizes[i] == c->type->size)
            return m->entry->sizes[i]->name;
    return NULL;
}

static bool is_number(const char *text) { return text[0] && text[strspn(text, "0123456789")] == 0; }

/* `zeros:3`, `range:10`: a length stands behind the word. */
static bool help_length(Making *m, const Component *c, Diag *said)
{
    static const char *const words[] = {"iota", "ones", "zeros", "range", "arange"};
    const char *colon = strpbrk(c->value, ":("), *size = length_name(m, c);
    const char *word = colon ? intern(m->ctx, c->value, (size_t)(colon - c->value)) : "";
    const char *length = colon ? intern(m->ctx, colon + 1, strcspn(colon + 1, ")")) : "";
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (is_number(length) && strcmp(word, words[i]) == 0) {
            const char *meant = strstr(word, "range") ? "iota" : word;
            if (size && !option_sets(m->d->line, size))
                diag_help(m->ctx, said, "the length is a size: `--set %s=%s --arg %s=%s`", size,
                          length, c->name, meant);
            else
                diag_help(m->ctx, said, "the length is known from the sizes: `--arg %s=%s`",
                          c->name, meant);
            return true;
        }
    return false;
}

/* `1..3`: numbers in order. */
static bool help_range(Making *m, const Component *c, Diag *said)
{
    enum { SHOWN = 8 };
    const char *dots = strstr(c->value, "..");
    const char *lo = dots ? intern(m->ctx, c->value, (size_t)(dots - c->value)) : "",
               *hi = dots ? dots + 2 : "";
    int64_t first, last;
    if (!rank_of(c->type) || !is_number(lo) || !is_number(hi) || !size_parse(lo, &first) ||
        !size_parse(hi, &last))
        return false;
    StrBuf list;
    sb_init(&list, m->ctx);
    for (int64_t i = first; i <= last && last - first < SHOWN; i++)
        sb_printf(&list, "%s%lld", list.len ? "," : "", (long long)i);
    if (list.len)
        diag_help(m->ctx, said,
                  "0, 1, 2, ... are `iota`; others stand in brackets: `--arg '%s=[%s]'`", c->name,
                  list.text);
    else
        diag_help(
            m->ctx, said,
            "0, 1, 2, ... are `iota`: `--arg %s=iota`; others stand in brackets, or in a file",
            c->name);
    return true;
}

/* Quotes that a shell would have taken away. */
static bool help_quotes(Making *m, const Component *c, Diag *said)
{
    size_t n = strlen(c->value);
    if (n < 3 || !strchr("'\"", c->value[0]) || c->value[n - 1] != c->value[0])
        return false;
    diag_help(m->ctx, said,
              "the quotes have become a part of the value: write `--arg '%s=%s'`, with the quotes "
              "around all of it",
              c->name, intern(m->ctx, c->value + 1, n - 2));
    return true;
}

/* `random`, `zeros:3`: no file has such a name, most likely. */
static bool is_word(const char *value)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    size_t n = strcspn(value, ":(");
    return n > 0 && strspn(value, letters) == n;
}

/* After npy_read has complained: perhaps it was to be an array, or a word, and no file. */
static void not_a_file(Making *m, const Component *c)
{
    const char *value = c->value, *list = in_brackets(m->ctx, value);
    driver_fail(m->d, STATUS_USAGE);
    Nearest nearest;
    nearest_init(&nearest, intern(m->ctx, value, strcspn(value, ":")));
    nearest_try(&nearest, "const");
    for (int i = 0; i < N_INPUT_WORDS; i++)
        nearest_try(&nearest, input_words[i]);
    const int n = m->ctx->diags.list.n;
    Diag *said = n ? m->ctx->diags.list.at[n - 1] : NULL;
    if (said && is_word(value))
        diag_note(m->ctx, said, NO_SPAN, "the words that make an input are iota, ones, zeros, const:V, uniform, uniform:LO:HI, normal, special and small");
    if (!said || said->help || help_quotes(m, c, said) || help_length(m, c, said) ||
        help_range(m, c, said))
        return;
    const char *near =
        nearby_file(m->ctx, value, strrchr(value, '.') ? strrchr(value, '.') : ".npy");
    if (near) {
        diag_help(m->ctx, said, "did you mean `--arg %s=%s`?", c->name, near);
        return;
    }
    if (list && rank_of(c->type)) {
        diag_help(m->ctx, said, "an array stands in brackets: `--arg '%s=[%s]'`", c->name, list);
        return;
    }
    bool same = nearest.best && strlen(nearest.best) == strcspn(value, ":") && strncmp(nearest.best, value, strlen(nearest.best)) == 0;
    if (nearest.best && !same)
        diag_help(m->ctx, said, "did you mean `%s%s`?", nearest.best, value + strcspn(value, ":"));
}

/* What is neither a .npy file nor looks like one is text. */
static bool is_text(const char *path, const char *bytes, size_t size)
{
    size_t n = strlen(path);
    bool npy = n > 4 && strcmp(path + n - 4, ".npy") == 0;
    return !npy && size > 0 && bytes[0] != '\x93' && !memchr(bytes, 0, size);
}

static bool read_text(Making *m, const Component *c, const char *source, const char *text, size_t size, HostBuf *buf)
{
    TextWanted wanted = {c->name, c->type, type_scalar_of(m->ctx, c->type), rank_of(c->type)};
    if (size <= LARGEST_TEXT && text_read(m->ctx, &wanted, source, text, size, buf))
        return true;
    if (size > LARGEST_TEXT)
        driver_usage(m->ctx, m->d, E0671, "%s: a text of more than %d bytes: write a .npy file", source, LARGEST_TEXT);
    driver_fail(m->d, STATUS_USAGE);
    return false;
}

/* From the brackets on the command line, or the file. */
static bool read_value(Making *m, const Component *c, HostBuf *buf)
{
    if (text_is_inline(c->value)) {
        const char *source = ctx_printf(m->ctx, "--arg %s", c->name);
        return read_text(m, c, source, c->value, strlen(c->value), buf);
    }
    char *bytes;
    size_t size;
    if (!npy_load(m->ctx, c->value, &bytes, &size)) {
        not_a_file(m, c);
        return false;
    }
    if (is_text(c->value, bytes, size))
        return read_text(m, c, c->value, bytes, size, buf);
    if (text_is_utf16(bytes, size)) {
        Diag *diag = driver_usage(m->ctx, m->d, E0608, "%s cannot be read: it is UTF-16", c->value);
        diag_help(m->ctx, diag, "save it as UTF-8, as by `iconv -f UTF-16 -t UTF-8`");
        return false;
    }
    if (npy_parse(m->ctx, c->value, bytes, size, buf))
        return fits_type(m, c, buf);
    driver_fail(m->d, STATUS_USAGE);
    return false;
}

static bool read_files(Making *m, KnownShape *shapes, int *n)
{
    bool good = true;
    for (int k = 0; k < m->n_components; k++) {
        const Component *c = &m->components[k];
        HostBuf *buf = &m->launch->buffers[k];
        if (!c->from_file)
            continue;
        const char *source = text_is_inline(c->value) ? "in brackets" : c->value;
        if (read_value(m, c, buf))
            shapes[(*n)++] = (KnownShape){c->name, source, c->type, buf};
        else
            good = false;
    }
    return good;
}

static bool make_inputs(Making *m)
{
    uint64_t seed = (uint64_t)option_number(m->d->line, OPT_SEED, 0);
    bool good = true;
    for (int k = 0; k < m->n_components; k++) {
        const Component *c = &m->components[k];
        HostBuf *buf = &m->launch->buffers[k];
        m->how->held[k] = buf->count;
        if (c->from_file)
            continue;
        Type elem = innermost(c->type);
        int64_t below = 0;
        if (!launch_buffer(m->ctx, m->entry, m->launch, c->type, buf, false) ||
            (elem->kind == TY_IDX && !launch_nat(m->ctx, m->entry, m->launch, elem->size, &below))) {
            driver_fail(m->d, STATUS_PROGRAM);
            return false;
        }
        HostBuf part = *buf;
        if (m->how->most && part.count > m->how->most && elem->kind != TY_IDX && strcmp(c->value, "iota") != 0)
            part.count = m->how->most;
        /* Each input its own stream: two inputs from one seed shall differ. */
        if (!input_fill(m->ctx, c->name, c->value, seed + (uint64_t)k * 0x9e3779b97f4a7c15u, elem->kind == TY_IDX, below, &part)) {
            driver_fail(m->d, STATUS_USAGE);
            good = false;
        }
        buf->bytes = part.bytes;
        m->how->held[k] = part.count;
    }
    return good;
}

/* Where not all elements are made there is no telling from the sizes. */
static bool has_room(Making *m)
{
    const char **names = NEWN(m->ctx, const char *, m->n_components + 1);
    for (int k = 0; k < m->n_components; k++)
        names[k] = m->components[k].name;
    return m->how->most || room_check(m->ctx, m->d, m->entry, m->launch, names, m->how->copies, m->how->watched);
}

/* Before the inputs are made, which takes long itself. */
static void say_slow(const Making *m)
{
    int64_t n = m->how->slow ? room_elements(m->ctx, m->entry, m->launch) : 0;
    if (n > LONG_RUN && !option_on(m->d->line, OPT_QUIET))
        say_note(m->d->say, "the inputs and results have %s%lld elements, for which %s takes minutes or hours", n == INT64_MAX ? "more than " : "", (long long)n, m->how->slow);
}

bool arguments_make(Ctx *ctx, Driver *d, const CoreEntry *entry, ArgumentsHow *how, Launch *launch)
{
    Making *m = NEW(ctx, Making);
    *m = (Making){.ctx = ctx, .d = d, .entry = entry, .how = how, .launch = launch};
    list_components(m);
    how->held = NEWN(ctx, int64_t, m->n_components + 1);
    launch->n_buffers = m->n_components;
    launch->buffers = NEWN(ctx, HostBuf, m->n_components + 1);
    KnownShape *shapes = NEWN(ctx, KnownShape, m->n_components + 1);
    int n = 0;
    if (!match_arguments(m) || !nothing_missing(m) || !read_files(m, shapes, &n))
        return false;
    if (!sizes_infer(ctx, d, entry, n, shapes, launch) || !has_room(m))
        return false;
    say_slow(m);
    return make_inputs(m) && launch_check(ctx, entry, launch);
}
