#include "driver/profile.h"

enum {
    LANES = 32,
    TEXT_SHOWN = 64,      /* bytes of a line of the program beside its counts */
    PERCENT_WORTH = 2,    /* of all sectors or wavefronts that a line must waste to be named in the verdict */
    PERCENT_IDLE = 10,    /* of all lanes of all instructions that are idle at one line */
    PADDING_HELPS_FROM = 8 /* cells between neighbouring lanes: such a distance is that of rows */
};

/* ---- lines ----------------------------------------------------------------------------------------------------------- */

/* The program itself: what comes first and is no module of the library. 0 where all that is counted comes from the library, as in an entry that rules have lowered. */
static uint32_t main_file(Ctx *ctx, const SimProfile *profile)
{
    for (int i = 0; i < profile->lines.n; i++) {
        uint32_t file = profile->lines.at[i].file;
        if (file)
            return source_get(ctx, file)->library ? 0 : file;
    }
    return 0;
}

const char *profile_line_name(Ctx *ctx, const SimProfile *profile, const SimLine *line)
{
    if (!line->file)
        return "elsewhere";
    if (line->file == main_file(ctx, profile))
        return ctx_printf(ctx, "line %d", line->line);
    return ctx_printf(ctx, "%s:%d", source_get(ctx, line->file)->name, line->line);
}

const char *profile_line_text(Ctx *ctx, const SimLine *line)
{
    const Source *source = line->file ? source_get(ctx, line->file) : NULL;
    const char *at = source ? source_line(source, line->line) : NULL;
    if (!at)
        return "";
    const char *end = at + strcspn(at, "\r\n");
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    while (end > at && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    return ctx_printf(ctx, "%.*s", (int)(end - at), at);
}

const SimLine *profile_most(const SimProfile *profile, CounterId id)
{
    if (id >= COUNTERS_COUNTED)
        id = counter_rows[id].over;
    const SimLine *most = NULL;
    for (int i = 0; i < profile->lines.n; i++) {
        const SimLine *line = &profile->lines.at[i];
        if (line->counts.at[id] && (!most || line->counts.at[id] > most->counts.at[id]))
            most = line;
    }
    return most;
}

/* Up to three digits after the point, and no zeros at the end. */
static void put_ratio(StrBuf *out, double value)
{
    StrBuf text;
    sb_init(&text, out->ctx);
    sb_printf(&text, "%.3f", value);
    while (text.len && text.text[text.len - 1] == '0')
        text.len--;
    if (text.len && text.text[text.len - 1] == '.')
        text.len--;
    sb_putn(out, text.text, text.len);
}

/* ---- the verdict ------------------------------------------------------------------------------------------------------- */

static bool worth(uint64_t part, uint64_t of, uint64_t percent) { return part && (double)part * 100 >= (double)of * (double)percent; }

static void put_distance(StrBuf *out, const SimAccess *a)
{
    const char *verb = a->store ? "write" : "read";
    if (a->stride_kind == STRIDE_SAME && a->stride != 1)
        sb_printf(out, "neighbouring lanes %s %lld cells apart", verb, (long long)(a->stride < 0 ? -a->stride : a->stride));
    else if (a->stride_kind == STRIDE_SAME)
        sb_printf(out, "neighbouring lanes %s neighbouring cells, but do not start at a multiple of 32 bytes", verb);
    else
        sb_printf(out, "the lanes of a warp %s cells here and there", verb);
}

static bool put_traffic(StrBuf *out, const SimProfile *profile, const SimAccess *a)
{
    uint64_t moved = a->counts.at[COUNT_sectors], needed = a->counts.at[COUNT_sectorsNeeded];
    if (!worth(moved - needed, profile->total.at[COUNT_sectors], PERCENT_WORTH))
        return false;
    put_ratio(out, (double)moved / (double)needed);
    sb_printf(out, " sectors moved per one needed by %s of `%s`: ", a->store ? "stores" : "loads", a->buffer);
    put_distance(out, a);
    return true;
}

static bool put_conflicts(StrBuf *out, const SimProfile *profile, const SimAccess *a)
{
    uint64_t conflicts = a->counts.at[COUNT_bankConflicts];
    if (!worth(conflicts, profile->total.at[COUNT_sharedRequests], PERCENT_WORTH))
        return false;
    bool always = a->counts.at[COUNT_sharedRequests] * (uint64_t)(a->ways - 1) <= conflicts;
    sb_printf(out, "%s%d-way bank conflicts on %s of `%s`: ", always ? "" : "up to ", a->ways, a->store ? "stores" : "loads", a->buffer);
    if (a->stride_kind != STRIDE_SAME) {
        sb_puts(out, "the lanes of a warp use different words of one bank; let neighbouring lanes use neighbouring cells");
        return true;
    }
    int64_t apart = a->stride < 0 ? -a->stride : a->stride;
    sb_printf(out, "neighbouring lanes %s %lld cells apart; ", a->store ? "write" : "read", (long long)apart);
    sb_puts(out, apart >= PADDING_HELPS_FROM ? "pad the rows with toShared[pad = 1]" : "let them use neighbouring cells");
    return true;
}

/* Lanes idle at a line of which warps split at another: a definition that is called in a branch. */
static bool put_idle(Ctx *ctx, StrBuf *out, const SimProfile *profile, const SimLine *line)
{
    const Counts *c = &line->counts;
    uint64_t idle = LANES * c->at[COUNT_instructions] - c->at[COUNT_laneInstructions];
    if (!worth(idle, LANES * profile->total.at[COUNT_instructions], PERCENT_IDLE))
        return false;
    put_ratio(out, counter_value(c, COUNT_lanesPerInstruction));
    sb_puts(out, " of 32 lanes are active on average");
    if (c->at[COUNT_divergentBranches])
        sb_printf(out, ", as the lanes of a warp split at %llu of %llu branches: let whole warps go the same way",
                  (unsigned long long)c->at[COUNT_divergentBranches], (unsigned long long)c->at[COUNT_branches]);
    else if (profile->total.at[COUNT_divergentBranches])
        sb_printf(out, "; most warps that split do so at %s", profile_line_name(ctx, profile, profile_most(profile, COUNT_divergentBranches)));
    return true;
}

void profile_verdict(Ctx *ctx, Sentences *out, const SimProfile *profile, const SimLine *line, CounterId about)
{
    CounterId counted = about < COUNTERS_COUNTED || about == COUNTER_COUNT ? about : counter_rows[about].over;
    for (int i = 0; i <= line->accesses.n; i++) {
        const SimAccess *a = i < line->accesses.n ? &line->accesses.at[i] : NULL;
        CounterId kind = !a ? (counted == COUNT_laneInstructions ? counted : COUNT_divergentBranches) : a->shared ? COUNT_bankConflicts : COUNT_sectors;
        StrBuf words;
        sb_init(&words, ctx);
        bool said = !a          ? put_idle(ctx, &words, profile, line)
                    : a->shared ? put_conflicts(&words, profile, a)
                                : put_traffic(&words, profile, a);
        if (said && (counted == kind || counted == COUNTER_COUNT))
            vec_push(ctx, out, words.text);
    }
}

static void put_summary(Ctx *ctx, StrBuf *out, const SimProfile *profile)
{
    const SimLine *most = profile_most(profile, COUNT_instructions);
    uint64_t all = profile->total.at[COUNT_instructions];
    if (!most)
        return;
    sb_printf(out, "%s has %.0f %% of the instructions", profile_line_name(ctx, profile, most),
              100 * (double)most->counts.at[COUNT_instructions] / (double)all);
}

static void collect(Ctx *ctx, const SimProfile *profile, Sentences *out)
{
    for (int i = 0; i < profile->lines.n; i++) {
        int first = out->n;
        profile_verdict(ctx, out, profile, &profile->lines.at[i], COUNTER_COUNT);
        for (; first < out->n; first++)
            out->at[first] = ctx_printf(ctx, "%s: %s", profile_line_name(ctx, profile, &profile->lines.at[i]), out->at[first]);
    }
    if (!out->n)
        vec_push(ctx, out, "nothing stands out: next to no wasted sectors, bank conflicts or idle lanes");
    StrBuf summary;
    sb_init(&summary, ctx);
    put_summary(ctx, &summary, profile);
    if (summary.len)
        vec_push(ctx, out, summary.text);
}

/* ---- the table --------------------------------------------------------------------------------------------------------- */

static int digits(uint64_t n)
{
    int count = 1;
    for (; n > 9; n /= 10)
        count++;
    return count;
}

/* 0: the column is left out, as nothing was counted. */
static int column_width(const SimProfile *profile, int id)
{
    int head = (int)strlen(counter_rows[id].heading), all = digits(profile->total.at[id]);
    if (!head || !profile->total.at[id])
        return 0;
    return head > all ? head : all;
}

static void put_row(StrBuf *out, const SimProfile *profile, int margin, const char *name, const Counts *counts, const char *text)
{
    sb_printf(out, "%-*s", margin, name);
    for (int id = 0; id < COUNTERS_OF_LINES; id++) {
        int width = column_width(profile, id);
        if (!width)
            continue;
        if (!counts)
            sb_printf(out, "  %*s", width, counter_rows[id].heading);
        else if (!counts->at[id])
            sb_printf(out, "  %*s", width, ".");
        else
            sb_printf(out, "  %*llu", width, (unsigned long long)counts->at[id]);
    }
    size_t n = strlen(text);
    if (n)
        sb_printf(out, "  %.*s%s", n > TEXT_SHOWN ? TEXT_SHOWN - 3 : TEXT_SHOWN, text, n > TEXT_SHOWN ? "..." : "");
    sb_putc(out, '\n');
}

void profile_print(Ctx *ctx, StrBuf *out, const SimProfile *profile)
{
    int margin = (int)strlen("total");
    for (int i = 0; i < profile->lines.n; i++) {
        int n = (int)strlen(profile_line_name(ctx, profile, &profile->lines.at[i]));
        margin = n > margin ? n : margin;
    }
    sb_putc(out, '\n');
    put_row(out, profile, margin, "", NULL, "");
    for (int i = 0; i < profile->lines.n; i++) {
        const SimLine *line = &profile->lines.at[i];
        put_row(out, profile, margin, profile_line_name(ctx, profile, line), &line->counts, profile_line_text(ctx, line));
    }
    put_row(out, profile, margin, "total", &profile->total, "");
    sb_putc(out, '\n');
    for (int id = COUNTERS_OF_LINES; id < COUNTERS_COUNTED; id++)
        sb_printf(out, "%s%s %llu", id > COUNTERS_OF_LINES ? ", " : "", counter_rows[id].name, (unsigned long long)profile->total.at[id]);
    sb_putc(out, '\n');
    const char *between = "";
    for (int id = COUNTERS_COUNTED; id < COUNTER_COUNT; id++) {
        if (!profile->total.at[counter_rows[id].over])
            continue;
        sb_printf(out, "%s%s ", between, counter_rows[id].name);
        put_ratio(out, counter_value(&profile->total, (CounterId)id));
        between = ", ";
    }
    sb_puts(out, between[0] ? "\n\n" : "\n");
    Sentences sentences = {0};
    collect(ctx, profile, &sentences);
    for (int i = 0; i < sentences.n; i++)
        sb_printf(out, "%s\n", sentences.at[i]);
}

/* ---- JSON -------------------------------------------------------------------------------------------------------------- */

static void put_counts(StrBuf *out, const Counts *counts, int first, int end)
{
    for (int id = first; id < end; id++)
        sb_printf(out, "%s\"%s\": %llu", id > first ? ", " : "", counter_rows[id].name, (unsigned long long)counts->at[id]);
}

static void put_kernel(StrBuf *out, const SimKernel *kernel, const char *between)
{
    sb_printf(out, "%s{\"name\": ", between);
    sb_put_json(out, kernel->name);
    sb_printf(out, ", \"grid\": [%lld, %lld, %lld]", (long long)kernel->blocks[0], (long long)kernel->blocks[1], (long long)kernel->blocks[2]);
    sb_printf(out, ", \"block\": [%d, %d, %d], ", kernel->threads[0], kernel->threads[1], kernel->threads[2]);
    put_counts(out, &kernel->counts, 0, COUNTERS_OF_LINES);
    sb_puts(out, "}");
}

void profile_json(Ctx *ctx, StrBuf *out, const SimProfile *profile)
{
    sb_puts(out, "{\"totals\": {");
    put_counts(out, &profile->total, 0, COUNTERS_COUNTED);
    for (int id = COUNTERS_COUNTED; id < COUNTER_COUNT; id++) {
        sb_printf(out, ", \"%s\": ", counter_rows[id].name);
        sb_put_float(out, counter_value(&profile->total, (CounterId)id), false);
    }
    sb_puts(out, "}, \"kernels\": [");
    for (int i = 0; i < profile->kernels.n; i++)
        put_kernel(out, &profile->kernels.at[i], i ? ", " : "");
    sb_puts(out, "], \"lines\": [");
    for (int i = 0; i < profile->lines.n; i++) {
        const SimLine *line = &profile->lines.at[i];
        sb_printf(out, "%s{\"file\": ", i ? ", " : "");
        sb_put_json(out, line->file ? source_get(ctx, line->file)->name : "");
        sb_printf(out, ", \"line\": %d, \"text\": ", line->line);
        sb_put_json(out, profile_line_text(ctx, line));
        sb_puts(out, ", ");
        put_counts(out, &line->counts, 0, COUNTERS_OF_LINES);
        sb_puts(out, "}");
    }
    sb_puts(out, "], \"verdict\": [");
    Sentences sentences = {0};
    collect(ctx, profile, &sentences);
    for (int i = 0; i < sentences.n; i++) {
        sb_puts(out, i ? ", " : "");
        sb_put_json(out, sentences.at[i]);
    }
    sb_puts(out, "]}");
}

/* ---- what the counters mean ------------------------------------------------------------------------------------------------ */

void profile_put_counters(StrBuf *out)
{
    for (int id = 0; id < COUNTER_COUNT; id++) {
        if (id == COUNTERS_OF_LINES || id == COUNTERS_COUNTED)
            sb_putc(out, '\n');
        sb_printf(out, "  %s: %s\n", counter_rows[id].name, counter_rows[id].text);
    }
}

void profile_manual(StrBuf *out)
{
    static const struct {
        int first;
        const char *title;
    } groups[] = {{0, "Counted at each line"}, {COUNTERS_OF_LINES, "Counted for the whole launch"}, {COUNTERS_COUNTED, "Ratios"}};
    sb_puts(out, "# Counters of the simulator\n\n"
                 "This page lists the counters of the simulator. You can use their names in `expect` clauses, and the\n"
                 "output of `--json` contains them. With `--profile`, `risec run` prints a table of them:\n\n"
                 "```\nrisec run examples/sum.rise --set n=1000 --arg xs=uniform --profile\n```\n\n"
                 "[profiling.md](profiling.md) explains how the simulator computes each counter. The compiler makes\n"
                 "this page from the table `src/sim/counters.def`, so do not edit it by hand.\n");
    for (int g = 0; g < 3; g++) {
        sb_printf(out, "\n## %s\n\n| name | column of `--profile` | meaning |\n|---|---|---|\n", groups[g].title);
        for (int id = groups[g].first; id < (g < 2 ? groups[g + 1].first : COUNTER_COUNT); id++)
            sb_printf(out, "| `%s` | %s%s%s | %s |\n", counter_rows[id].name, counter_rows[id].heading[0] ? "`" : "", counter_rows[id].heading,
                      counter_rows[id].heading[0] ? "`" : "", counter_rows[id].text);
    }
}
