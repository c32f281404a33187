#include "frontend/tuning.h"

#include <stdlib.h>

enum { MAX_FILE = 4 << 20, MAX_SETTINGS = 64 };

/* ---- reading ------------------------------------------------------------------------------------------------------------ */

typedef struct Reader {
    Ctx *ctx;
    Tuning *tuning;
    const char *text;
    size_t size, at, line_end; /* of this line, without its comment */
} Reader;

static Span here(const Reader *r, size_t from, size_t to) { return (Span){r->tuning->file, (uint32_t)from, (uint32_t)(to > from ? to : from)}; }

static bool wrong(Reader *r, const char *wanted)
{
    size_t end = r->at;
    while (end < r->line_end && r->text[end] != ' ' && r->text[end] != ',' && r->text[end] != ':')
        end++;
    if (end == r->at && end < r->line_end)
        end++;
    diag_error(r->ctx, E0660, here(r, r->at, end), "%s is expected here", wanted);
    return false;
}

static void skip_blanks(Reader *r)
{
    while (r->at < r->line_end && (r->text[r->at] == ' ' || r->text[r->at] == '\t' || r->text[r->at] == '\r'))
        r->at++;
}

static bool take(Reader *r, const char *word)
{
    size_t n = strlen(word);
    skip_blanks(r);
    if (r->line_end - r->at < n || memcmp(r->text + r->at, word, n) != 0)
        return false;
    r->at += n;
    return true;
}

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static const char *take_name(Reader *r)
{
    skip_blanks(r);
    size_t from = r->at;
    while (r->at < r->line_end && (is_letter(r->text[r->at]) || (r->at > from && (is_digit(r->text[r->at]) || r->text[r->at] == '\''))))
        r->at++;
    return r->at > from ? intern(r->ctx, r->text + from, r->at - from) : NULL;
}

static bool take_number(Reader *r, int64_t *value)
{
    skip_blanks(r);
    size_t from = r->at;
    uint64_t n = 0;
    for (; r->at < r->line_end && is_digit(r->text[r->at]); r->at++) {
        unsigned digit = (unsigned)(r->text[r->at] - '0');
        if (n > ((uint64_t)INT64_MAX - digit) / 10) {
            r->at = from;
            return false;
        }
        n = n * 10 + digit;
    }
    *value = (int64_t)n;
    return r->at > from;
}

static bool take_hash(Reader *r, uint64_t *hash)
{
    enum { DIGITS = 16 };
    skip_blanks(r);
    *hash = 0;
    for (int i = 0; i < DIGITS; i++) {
        char c = r->at + (size_t)i < r->line_end ? r->text[r->at + (size_t)i] : 0;
        if (!is_digit(c) && !(c >= 'a' && c <= 'f'))
            return false;
        *hash = *hash * 16 + (uint64_t)(is_digit(c) ? c - '0' : c - 'a' + 10);
    }
    r->at += DIGITS;
    return true;
}

static const char *take_quoted(Reader *r)
{
    skip_blanks(r);
    if (r->at == r->line_end || r->text[r->at] != '"')
        return NULL;
    const char *from = r->text + r->at + 1, *to = memchr(from, '"', r->line_end - r->at - 1);
    if (!to || to == from)
        return NULL;
    r->at = (size_t)(to - r->text) + 1;
    return intern(r->ctx, from, (size_t)(to - from));
}

static bool line_done(Reader *r)
{
    skip_blanks(r);
    return r->at == r->line_end || wrong(r, "the end of the line");
}

static bool read_entry(Reader *r, TuneSection *section)
{
    if (!(section->entry = take_name(r)))
        return wrong(r, "the name of an entry");
    if (!take(r, "on") || !(section->device = take_quoted(r)))
        return wrong(r, "`on \"DEVICE\"`");
    if (!take(r, "hash") || !take_hash(r, &section->hash))
        return wrong(r, "`hash` and 16 hexadecimal digits");
    const TuneSection *same = tuning_find(r->tuning, section->entry, section->device);
    if (same) {
        Diag *d = diag_error(r->ctx, E0660, section->span, "`%s` on \"%s\" is here for the second time", section->entry, section->device);
        diag_note(r->ctx, d, same->span, "the first one");
        return false;
    }
    return line_done(r);
}

/* `n*m <= 65536`, or `else` */
static bool read_condition(Reader *r, ElabClass *class)
{
    VEC(const char *) sizes = {0};
    if (!take(r, "else")) {
        do {
            const char *name = take_name(r);
            if (!name)
                return wrong(r, "`NAME <= NUMBER`, `NAME*NAME <= NUMBER` or `else`");
            vec_push(r->ctx, &sizes, name);
        } while (take(r, "*"));
        if (!take(r, "<=") || !take_number(r, &class->most))
            return wrong(r, "`<= NUMBER`");
    }
    class->n_sizes = sizes.n;
    class->sizes = sizes.at;
    return take(r, ":") || wrong(r, "`:`");
}

/* `lowered by STRATEGY`: the rest of the line. */
static bool read_strategy(Reader *r, ElabClass *class)
{
    skip_blanks(r);
    if (r->at == r->line_end)
        return wrong(r, "a strategy");
    class->strategy_span = here(r, r->at, r->line_end);
    class->strategy = intern(r->ctx, r->text + r->at, r->line_end - r->at);
    r->at = r->line_end;
    return true;
}

/* Values of tunables, and at the end perhaps a strategy. */
static bool read_class(Reader *r, ElabClass *class)
{
    VEC(ElabSetting) settings = {0};
    if (!read_condition(r, class))
        return false;
    if (take(r, TUNING_AS_WRITTEN))
        return line_done(r);
    do {
        ElabSetting setting = {0};
        if (take(r, "lowered by ")) {
            if (!read_strategy(r, class))
                return false;
            break;
        }
        skip_blanks(r);
        size_t from = r->at;
        if (!(setting.name = take_name(r)))
            return wrong(r, "`TUNABLE = NUMBER` or `lowered by STRATEGY`");
        if (!take(r, "=") || !take_number(r, &setting.value))
            return wrong(r, "`= NUMBER`");
        for (int i = 0; i < settings.n; i++)
            if (strcmp(settings.at[i].name, setting.name) == 0) {
                diag_error(r->ctx, E0660, here(r, from, r->at), "`%s` has a value here already", setting.name);
                return false;
            }
        setting.span = here(r, from, r->at);
        vec_push(r->ctx, &settings, setting);
    } while (settings.n < MAX_SETTINGS && take(r, ","));
    class->n_settings = settings.n;
    class->settings = settings.at;
    return line_done(r);
}

/* The classes of a section are behind each other, and the last one is `else`. */
static bool section_complete(Reader *r, const TuneSection *section, const ElabClass *classes, int n)
{
    if (n && classes[n - 1].n_sizes == 0)
        return true;
    diag_error(r->ctx, E0660, section->span, "`%s` on \"%s\" has no line `else: ...` at its end", section->entry, section->device);
    return false;
}

static bool next_line(Reader *r, size_t *line)
{
    if (*line >= r->size)
        return false;
    const char *end = memchr(r->text + *line, '\n', r->size - *line);
    size_t stop = end ? (size_t)(end - r->text) : r->size;
    r->at = *line;
    r->line_end = stop;
    bool quoted = false;
    for (size_t i = *line; i + 1 < stop && r->line_end == stop; i++) {
        quoted ^= r->text[i] == '"';
        if (!quoted && r->text[i] == '-' && r->text[i + 1] == '-')
            r->line_end = i;
    }
    while (r->line_end > *line && (r->text[r->line_end - 1] == ' ' || r->text[r->line_end - 1] == '\t' || r->text[r->line_end - 1] == '\r'))
        r->line_end--;
    *line = stop + (end ? 1 : 0);
    return true;
}

static bool read_version(Reader *r)
{
    int64_t version;
    if (!take(r, "tuning"))
        return wrong(r, "`tuning 1`");
    if (!take_number(r, &version) || version != TUNING_VERSION)
        return wrong(r, "the version of the format, 1,");
    return line_done(r);
}

/* The text from `comments` on belongs to the next section. */
static bool read_lines(Reader *r)
{
    TuneSection section = {0};
    VEC(ElabClass) classes = {0};
    bool open = false, version = false;
    size_t line = 0, comments = 0;
    for (size_t begin = 0; next_line(r, &line); begin = line) {
        skip_blanks(r);
        if (r->at == r->line_end)
            continue;
        if (!version) {
            if (!read_version(r))
                return false;
            version = true;
        } else if (take(r, "entry ")) {
            if (open && !section_complete(r, &section, classes.at, classes.n))
                return false;
            if (open)
                vec_push(r->ctx, &r->tuning->sections, section);
            section = (TuneSection){.span = here(r, begin, r->line_end), .begin = comments};
            classes.at = NULL;
            classes.n = classes.cap = 0;
            open = true;
            if (!read_entry(r, &section))
                return false;
        } else if (!open) {
            return wrong(r, "`entry NAME on \"DEVICE\" hash H`");
        } else {
            ElabClass class = {.span = here(r, r->at, r->line_end)};
            if (classes.n && classes.at[classes.n - 1].n_sizes == 0)
                return wrong(r, "`entry ...`, as nothing is left behind `else`,");
            if (!read_class(r, &class))
                return false;
            vec_push(r->ctx, &classes, class);
            section.classes = classes.at;
            section.n_classes = classes.n;
        }
        section.end = comments = line;
    }
    if (!version) {
        r->at = r->line_end = 0;
        return wrong(r, "`tuning 1`");
    }
    if (open && !section_complete(r, &section, classes.at, classes.n))
        return false;
    if (open)
        vec_push(r->ctx, &r->tuning->sections, section);
    return true;
}

bool tuning_parse(Ctx *ctx, const char *name, const char *text, size_t size, Tuning *tuning)
{
    *tuning = (Tuning){.file = source_add(ctx, name, text, size)};
    Reader r = {.ctx = ctx, .tuning = tuning, .text = text, .size = size};
    if (memchr(text, 0, size)) {
        diag_error(ctx, E0660, here(&r, 0, 0), "this is no text");
        return false;
    }
    if (read_lines(&r))
        return true;
    tuning->sections.n = 0;
    return false;
}

bool tuning_read(Ctx *ctx, const char *program_path, Tuning *tuning)
{
    char *text;
    size_t size;
    *tuning = (Tuning){0};
    if (strcmp(program_path, "-") == 0)
        return true;
    const char *path = ctx_printf(ctx, "%s%s", program_path, TUNING_SUFFIX);
    switch (ctx->files.read(ctx->files.user, ctx, path, FILE_REGULAR, MAX_FILE, &text, &size)) {
    case FILE_OK:
        return tuning_parse(ctx, path, text, size, tuning);
    case FILE_MISSING:
        return true;
    default:
        diag_error(ctx, E0660, NO_SPAN, "%s cannot be read", path);
        return false;
    }
}

/* ---- using --------------------------------------------------------------------------------------------------------------- */

const TuneSection *tuning_find(const Tuning *tuning, const char *entry, const char *device)
{
    for (int i = 0; i < tuning->sections.n; i++)
        if (strcmp(tuning->sections.at[i].entry, entry) == 0 && strcmp(tuning->sections.at[i].device, device) == 0)
            return &tuning->sections.at[i];
    return NULL;
}

uint64_t tuning_hash(Ctx *ctx, const CoreEntry *defaults)
{
    StrBuf text;
    sb_init(&text, ctx);
    core_print_entry(&text, defaults);
    return text_hash(text.text, text.len);
}

const char *tuning_device(Ctx *ctx, const char *device_name) { return intern(ctx, device_name, strcspn(device_name, ",\"")); }

static bool names_tunable(const CoreEntry *entry, const char *name)
{
    for (int i = 0; i < entry->n_tunables; i++)
        if (strcmp(entry->tunable_names[i], name) == 0)
            return true;
    return false;
}

/* Only what the entry has is set. */
static bool section_fits(Ctx *ctx, const CoreEntry *defaults, const TuneSection *section)
{
    for (int k = 0; k < section->n_classes; k++)
        for (int i = 0; i < section->classes[k].n_settings; i++) {
            const ElabSetting *setting = &section->classes[k].settings[i];
            if (names_tunable(defaults, setting->name))
                continue;
            diag_error(ctx, E0661, setting->span, "`%s` is no tunable of `%s`", setting->name, defaults->name);
            return false;
        }
    return true;
}

CoreEntry *tuned_entry(Ctx *ctx, Program *program, int k, const char *path, const char *device, int n_settings, const ElabSetting *settings,
                       const TuneSection **used)
{
    Tuning tuning;
    *used = NULL;
    CoreEntry *defaults = elab_entry(ctx, program, k, n_settings, settings);
    if (!defaults || !device)
        return defaults;
    if (!tuning_read(ctx, path, &tuning))
        return NULL;
    const TuneSection *section = tuning_find(&tuning, defaults->name, device);
    if (!section)
        return defaults;
    /* With the defaults, and where sizes that are compiled in are sizes. */
    CoreEntry *hashed = n_settings ? elab_entry(ctx, program, k, 0, NULL) : defaults;
    if (!hashed)
        return NULL;
    for (int i = 0; i < n_settings; i++)
        if (names_tunable(hashed, settings[i].name))
            return defaults;
    if (section->hash != tuning_hash(ctx, hashed)) {
        Diag *d = diag_warning(ctx, W0702, section->span, "`%s` has changed since it was tuned, so the tunables have their defaults", defaults->name);
        diag_help(ctx, d, "run `risec tune %s %s` again, or delete these lines", path, defaults->name);
        return defaults;
    }
    if (!section_fits(ctx, hashed, section))
        return NULL;
    *used = NEW(ctx, TuneSection);
    *(TuneSection *)*used = *section;
    return elab_entry_tuned(ctx, program, k, n_settings, settings, section->n_classes, section->classes);
}
