#include "support/diag.h"

#include <ctype.h>

#include "support/context.h"
#include "support/utf8.h"

/* ---- sources and spans --------------------------------------------------------------------------------------- */

Span span_join(Span a, Span b)
{
    if (a.file != b.file)
        return a;
    return (Span){a.file, a.lo < b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi};
}

Span span_start(Span span) { return (Span){span.file, span.lo, span.lo}; }
Span span_end(Span span) { return (Span){span.file, span.hi, span.hi}; }

uint32_t source_add(Ctx *ctx, const char *name, const char *text, size_t size)
{
    int lines = 1;
    for (const char *at = text; (at = memchr(at, '\n', size - (size_t)(at - text))); at++)
        lines++;
    uint32_t *starts = NEWN(ctx, uint32_t, lines);
    int line = 1;
    for (const char *at = text; (at = memchr(at, '\n', size - (size_t)(at - text))); at++)
        starts[line++] = (uint32_t)(at - text) + 1;
    Source source = {.name = intern_z(ctx, name), .text = text, .size = size, .lines = starts, .line_count = lines};
    vec_push(ctx, &ctx->sources.list, source);
    return (uint32_t)ctx->sources.list.n;
}

uint32_t source_add_part(Ctx *ctx, const char *name, const char *text, size_t size, int first_line)
{
    uint32_t file = source_add(ctx, name, text, size);
    ctx->sources.list.at[file - 1].lines_before = first_line - 1;
    return file;
}

uint32_t source_add_library(Ctx *ctx, const char *name, const char *text, size_t size)
{
    uint32_t file = source_add(ctx, name, text, size);
    ctx->sources.list.at[file - 1].library = true;
    return file;
}

const Source *source_get(const Ctx *ctx, uint32_t file)
{
    return file >= 1 && file <= (uint32_t)ctx->sources.list.n ? &ctx->sources.list.at[file - 1] : NULL;
}

const char *source_argument(const Ctx *ctx, Span span)
{
    const Source *source = source_get(ctx, span.file);
    const char *name = source && !source->library ? source->name : "", *end = strrchr(name, '.');
    return strcmp(name, "-") == 0 || (end && strcmp(end, ".rise") == 0) ? name : "FILE";
}

bool span_is_users(const Ctx *ctx, Span span)
{
    const Source *source = source_get(ctx, span.file);
    return source && !source->library;
}

int source_line_at(const Source *source, uint32_t at)
{
    int lo = 0, hi = source->line_count;
    while (hi - lo > 1) {
        int mid = lo + (hi - lo) / 2;
        if (source->lines[mid] <= at)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}

uint32_t source_line_start(const Source *source, int line)
{
    return source->lines[line] + (line == 0 && source->size >= 3 && memcmp(source->text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0);
}

const char *source_line(const Source *source, int line)
{
    int l = line - source->lines_before - 1;
    return l >= 0 && l < source->line_count ? source->text + source->lines[l] : NULL;
}

void source_position(const Ctx *ctx, Span span, int *line, int *column)
{
    const Source *source = source_get(ctx, span.file);
    *line = *column = 0;
    if (!source)
        return;
    int l = source_line_at(source, span.lo);
    *line = source->lines_before + l + 1;
    uint32_t start = source_line_start(source, l);
    *column = span.lo < start ? 1 : (int)(span.lo - start) + 1;
}

/* ---- codes --------------------------------------------------------------------------------------------------- */

typedef struct CodeInfo {
    const char *name, *title, *explanation;
} CodeInfo;

static const CodeInfo code_info[] = {
#define DIAG(code, title, explanation) {#code, title, explanation},
#include "support/diag_codes.def"
#undef DIAG
    {"?", "?", "?"},
};

static const CodeInfo *info_of(DiagCode code)
{
    return &code_info[(unsigned)code < DIAG_CODE_COUNT ? (unsigned)code : DIAG_CODE_COUNT];
}

const char *diag_code_name(DiagCode code) { return info_of(code)->name; }
const char *diag_code_title(DiagCode code) { return info_of(code)->title; }
const char *diag_code_explanation(DiagCode code) { return info_of(code)->explanation; }

DiagCode diag_code_find(const char *name)
{
    for (int code = 0; code < (int)DIAG_CODE_COUNT; code++) {
        const char *a = code_info[code].name, *b = name;
        while (*a && toupper((unsigned char)*b) == *a)
            a++, b++;
        if (!*a && !*b)
            return (DiagCode)code;
    }
    return DIAG_CODE_COUNT;
}

/* ---- collecting ---------------------------------------------------------------------------------------------- */

static bool same_place(Span a, Span b) { return a.file == b.file && a.lo == b.lo && a.hi == b.hi; }

/* `message`: only compared when it is not NULL. */
static bool recorded(const Diags *diags, DiagCode code, Span span, const char *message)
{
    for (int i = 0; i < diags->list.n; i++) {
        const Diag *d = diags->list.at[i];
        if (d->code == code && same_place(d->span, span) && (!message || strcmp(d->message, message) == 0))
            return true;
    }
    return false;
}

static Diag *spare(Ctx *ctx)
{
    if (!ctx->diags.spare)
        ctx->diags.spare = NEW(ctx, Diag);
    memset(ctx->diags.spare, 0, sizeof(Diag));
    ctx->diags.spare->message = "";
    return ctx->diags.spare;
}

/* Makes room for an error by leaving out the last warning. */
static bool drop_warning(Diags *diags)
{
    for (int i = diags->list.n - 1; i >= 0; i--) {
        if (diags->list.at[i]->warning) {
            memmove(&diags->list.at[i], &diags->list.at[i + 1], sizeof(Diag *) * (size_t)(diags->list.n - 1 - i));
            diags->list.n--;
            return true;
        }
    }
    return false;
}

static Diag *record_text(Ctx *ctx, DiagCode code, Span span, const char *message)
{
    Diags *diags = &ctx->diags;
    bool warning = diag_code_name(code)[0] == 'W';
    bool full = diags->list.n >= LIMIT_DIAGNOSTICS;
    if (recorded(diags, code, span, span.file == 0 ? message : NULL))
        return spare(ctx);
    Diag *diag = full ? NULL : NEW(ctx, Diag);
    if (full) {
        diag = spare(ctx);
        if (!warning && drop_warning(diags)) {
            diag = NEW(ctx, Diag);
            full = false;
        }
        diags->dropped++;
    }
    diag->code = code;
    diag->warning = warning;
    diag->span = span;
    diag->message = message;
    if (!full)
        vec_push(ctx, &diags->list, diag);
    *(warning ? &diags->warnings : &diags->errors) += 1;
    return diag;
}

static Diag *record(Ctx *ctx, DiagCode code, Span span, const char *fmt, va_list args)
{
    if (span.file != 0 && recorded(&ctx->diags, code, span, NULL))
        return spare(ctx);
    StrBuf message;
    sb_init(&message, ctx);
    sb_vprintf(&message, fmt, args);
    return record_text(ctx, code, span, message.text);
}

Diag *diag_error(Ctx *ctx, DiagCode code, Span span, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    Diag *diag = record(ctx, code, span, fmt, args);
    va_end(args);
    return diag;
}

Diag *diag_error_of_user(Ctx *ctx, DiagCode code, Span at, Span users, const char *there, const char *fmt, ...)
{
    bool elsewhere = !span_is_users(ctx, at) && span_is_users(ctx, users);
    va_list args;
    va_start(args, fmt);
    Diag *diag = record(ctx, code, elsewhere ? users : at, fmt, args);
    va_end(args);
    if (elsewhere && at.file)
        diag_note(ctx, diag, at, "%s", there);
    return diag;
}

Diag *diag_warning(Ctx *ctx, DiagCode code, Span span, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    Diag *diag = record(ctx, code, span, fmt, args);
    va_end(args);
    return diag;
}

void diag_again(Ctx *ctx, Diag *diag)
{
    Diags *diags = &ctx->diags;
    if (diags->list.n < LIMIT_DIAGNOSTICS)
        vec_push(ctx, &diags->list, diag);
    else
        diags->dropped++;
    *(diag->warning ? &diags->warnings : &diags->errors) += 1;
}

/* ---- from one context to another ----------------------------------------------------------------------------- */

static const char *copied(Ctx *ctx, const char *text) { return text ? ctx_printf(ctx, "%s", text) : NULL; }

/* Another context's source as one of ctx. */
static uint32_t source_kept(Ctx *ctx, const Source *source)
{
    for (int i = 0; i < ctx->sources.list.n; i++) {
        const Source *own = &ctx->sources.list.at[i];
        if (own->size == source->size && own->lines_before == source->lines_before && strcmp(own->name, source->name) == 0 && memcmp(own->text, source->text, own->size) == 0)
            return (uint32_t)i + 1;
    }
    char *text = ctx_alloc(ctx, source->size + 1);
    memcpy(text, source->text, source->size);
    return source_add_part(ctx, source->name, text, source->size, source->lines_before + 1);
}

static Span span_kept(Ctx *ctx, const Ctx *from, Span span)
{
    if (from != ctx && span.file > (uint32_t)from->sources.of_whole)
        span.file = source_kept(ctx, source_get(from, span.file));
    return span;
}

static DiagEdit *edits_kept(Ctx *ctx, const Ctx *from, int n, const DiagEdit *edits)
{
    DiagEdit *own = NEWN(ctx, DiagEdit, n + 1);
    for (int i = 0; i < n; i++)
        own[i] = (DiagEdit){span_kept(ctx, from, edits[i].span), copied(ctx, edits[i].text)};
    return own;
}

static void keep(Ctx *ctx, const Ctx *from, const Diag *diag)
{
    Diag *own = record_text(ctx, diag->code, span_kept(ctx, from, diag->span), copied(ctx, diag->message));
    if (own == ctx->diags.spare)
        return;
    own->high = diag->high;
    own->label = copied(ctx, diag->label);
    own->help = copied(ctx, diag->help);
    for (int i = 0; i < diag->notes.n; i++)
        vec_push(ctx, &own->notes, (DiagNote){span_kept(ctx, from, diag->notes.at[i].span), copied(ctx, diag->notes.at[i].text)});
    own->edits.at = edits_kept(ctx, from, diag->edits.n, diag->edits.at);
    own->edits.n = own->edits.cap = diag->edits.n;
    for (int i = 0; i < diag->tries.n; i++) {
        const DiagTry *attempt = &diag->tries.at[i];
        DiagTry kept = {.help = copied(ctx, attempt->help)};
        kept.edits.at = edits_kept(ctx, from, attempt->edits.n, attempt->edits.at);
        kept.edits.n = kept.edits.cap = attempt->edits.n;
        vec_push(ctx, &own->tries, kept);
    }
}

static void keep_all(Ctx *ctx, const Ctx *from, const Diags *diags)
{
    int errors = 0, warnings = 0;
    for (int i = 0; i < diags->list.n; i++) {
        keep(ctx, from, diags->list.at[i]);
        *(diags->list.at[i]->warning ? &warnings : &errors) += 1;
    }
    ctx->diags.dropped += diags->dropped;
    ctx->diags.errors += diags->errors - errors; /* those that were dropped there */
    ctx->diags.warnings += diags->warnings - warnings;
}

void diags_again(Ctx *ctx, const Diags *diags) { keep_all(ctx, ctx, diags); }

void diags_keep(Ctx *ctx, Ctx *part)
{
    keep_all(ctx, part, &part->diags);
    part->diags = (Diags){0};
}

void diags_keep_aside(Ctx *ctx, Diags *aside, Ctx *part)
{
    const Diags said = ctx->diags;
    ctx->diags = *aside;
    diags_keep(ctx, part);
    *aside = ctx->diags;
    ctx->diags = said;
}

static const char *format(Ctx *ctx, const char *fmt, va_list args)
{
    StrBuf sb;
    sb_init(&sb, ctx);
    sb_vprintf(&sb, fmt, args);
    return sb.text;
}

void diag_label(Ctx *ctx, Diag *diag, const char *fmt, ...)
{
    if (diag == ctx->diags.spare)
        return;
    va_list args;
    va_start(args, fmt);
    diag->label = format(ctx, fmt, args);
    va_end(args);
}

void diag_note(Ctx *ctx, Diag *diag, Span span, const char *fmt, ...)
{
    if (diag == ctx->diags.spare)
        return;
    va_list args;
    va_start(args, fmt);
    DiagNote note = {span, format(ctx, fmt, args)};
    va_end(args);
    vec_push(ctx, &diag->notes, note);
}

void diag_help(Ctx *ctx, Diag *diag, const char *fmt, ...)
{
    if (diag == ctx->diags.spare)
        return;
    va_list args;
    va_start(args, fmt);
    diag->help = format(ctx, fmt, args);
    diag->edits.n = 0;
    va_end(args);
}

static void add_edit(Ctx *ctx, Diag *diag, Span span, const char *text)
{
    if (!source_get(ctx, span.file))
        return;
    DiagEdit edit = {span, text};
    vec_push(ctx, &diag->edits, edit);
}

void diag_edit(Ctx *ctx, Diag *diag, Span span, const char *fmt, ...)
{
    if (diag == ctx->diags.spare)
        return;
    va_list args;
    va_start(args, fmt);
    add_edit(ctx, diag, span, format(ctx, fmt, args));
    va_end(args);
}

void diag_propose(Ctx *ctx, Diag *diag, Span span, const char *help, const char *fmt, ...)
{
    if (diag == ctx->diags.spare)
        return;
    va_list args;
    va_start(args, fmt);
    const char *text = format(ctx, fmt, args);
    va_end(args);
    const char *lo = text + strspn(text, " \n"), *hi = text + strlen(text);
    while (hi > lo && (hi[-1] == ' ' || hi[-1] == '\n'))
        hi--;
    const char *at = strchr(help, '$');
    if (at)
        diag_help(ctx, diag, "%.*s`%.*s`%s", (int)(at - help), help, (int)(hi - lo), lo, at + 1);
    else
        diag_help(ctx, diag, "%s", help);
    if (span.file)
        add_edit(ctx, diag, span, text);
}

void diag_or_else(Ctx *ctx, Diag *diag)
{
    if (diag != ctx->diags.spare && diag->edits.n > 0) {
        DiagTry attempt = {.help = diag->help, .edits.at = diag->edits.at, .edits.n = diag->edits.n, .edits.cap = diag->edits.n};
        vec_push(ctx, &diag->tries, attempt);
        memset(&diag->edits, 0, sizeof diag->edits);
    }
    diag->help = NULL;
    diag->edits.n = 0;
}

bool diag_name_is_of_grammar(const char *code) { return strcmp(code, "E0115") != 0 && strcmp(code, "E0200") < 0; }

void diag_likeliest(Diag *diag)
{
    if (diag->tries.n) {
        diag->help = diag->tries.at[0].help;
        memcpy(&diag->edits, &diag->tries.at[0].edits, sizeof diag->edits);
    }
    diag->tries.n = 0;
}

DiagTry diag_put_aside(Diag *diag)
{
    DiagTry hint = {.help = diag->help, .edits.at = diag->edits.at, .edits.n = diag->edits.n, .edits.cap = diag->edits.cap};
    memset(&diag->edits, 0, sizeof diag->edits);
    diag->help = NULL;
    return hint;
}

void diag_put_back(Ctx *ctx, Diag *diag, DiagTry hint)
{
    diag_or_else(ctx, diag);
    if (diag == ctx->diags.spare)
        return;
    diag->help = hint.help;
    memcpy(&diag->edits, &hint.edits, sizeof diag->edits);
}
