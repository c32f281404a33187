/* Findings: collecting them, wording them, and handing them to the diagnostics. */
#include "sim/sim_internal.h"

static Span site_span(const Run *run, uint32_t at) { return at == NO_SITE ? NO_SPAN : run->code->sites.at[at].span; }

bool sim_repeats(Run *run, SimFindingKind kind, FindingPlace place)
{
    for (int i = 0; i < run->keys.n; i++) {
        const FindingKey *k = &run->keys.at[i];
        if (k->kernel == run->kernel && k->kind == (int)kind && k->site == place.site && k->other == place.other && k->buf == place.buf) {
            run->report->findings.at[k->finding].times++;
            return true;
        }
    }
    return false;
}

static const char *block_text(Run *run, const int64_t block[3])
{
    if (run->grid[1] == 1 && run->grid[2] == 1)
        return ctx_printf(run->ctx, "block %lld", (long long)block[0]);
    return ctx_printf(run->ctx, "block (%lld, %lld, %lld)", (long long)block[0], (long long)block[1], (long long)block[2]);
}

const char *thread_text(Run *run, const int64_t block[3], int thread)
{
    const int *t = run->kernel->threads;
    StrBuf text;
    sb_init(&text, run->ctx);
    sb_printf(&text, "thread %d", thread);
    if (t[1] > 1 || t[2] > 1)
        sb_printf(&text, " = (%d, %d, %d)", thread % t[0], thread / t[0] % t[1], thread / t[0] / t[1]);
    sb_printf(&text, " of %s", block_text(run, block));
    if (run->n_warps > 1)
        sb_printf(&text, " (warp %d, lane %d)", thread / WARP, thread % WARP);
    return text.text;
}

void sim_find(Run *run, SimFindingKind kind, FindingPlace place, const char *fmt, ...)
{
    Ctx *ctx = run->ctx;
    if (sim_repeats(run, kind, place))
        return;
    int thread = place.warp < 0 ? -1 : place.warp * WARP + place.lane;
    StrBuf text;
    sb_init(&text, ctx);
    if (thread >= 0)
        sb_printf(&text, "%s ", thread_text(run, run->block, thread));
    va_list args;
    va_start(args, fmt);
    sb_vprintf(&text, fmt, args);
    va_end(args);
    SimFinding f = {.kind = kind, .span = site_span(run, place.site), .other = site_span(run, place.other), .thread = thread,
                    .other_thread = place.other_thread, .buffer = place.buf ? place.buf->name : NULL, .cell = place.cell,
                    .text = text.text, .times = 1};
    if (place.site == NO_SITE && place.buf)
        f.span = place.buf->span;
    if (thread >= 0)
        memcpy(f.block, run->block, sizeof f.block);
    run_push(run->lasting, &run->keys,
             (FindingKey){run->kernel, kind, place.site, place.other, place.buf, run->report->findings.n});
    vec_push(ctx, &run->report->findings, f);
    run->found++;
    if (run->found >= run->max_findings)
        run->stop = true;
}

void sim_bug(Run *run, Span span, const char *fmt, ...)
{
    va_list args;
    StrBuf text;
    sb_init(&text, run->ctx);
    va_start(args, fmt);
    sb_vprintf(&text, fmt, args);
    va_end(args);
    diag_error(run->ctx, E0510, span, "%s: a bug in risec", text.text);
    run->failed = true;
}

void sim_diagnose(Ctx *ctx, const SimReport *report)
{
    static const DiagCode codes[] = {
        [SIM_OUT_OF_BOUNDS] = E0611,     [SIM_UNWRITTEN] = E0612,        [SIM_RACE] = E0613,
        [SIM_DIVERGENT_BARRIER] = E0614, [SIM_SHUFFLE_INACTIVE] = E0615, [SIM_OUTPUT_UNWRITTEN] = E0616,
        [SIM_INDEX_VALUE] = E0617,       [SIM_REGISTER_UNSET] = E0618,   [SIM_ARITHMETIC] = E0619,
        [SIM_MISALIGNED] = E0620,      [SIM_STUCK] = E0610};
    for (int i = 0; i < report->findings.n; i++) {
        const SimFinding *f = &report->findings.at[i];
        Diag *d = diag_error(ctx, codes[f->kind], f->span, "%s", f->text);
        if (f->times > 1)
            diag_label(ctx, d, "found %llu times in this run", (unsigned long long)f->times);
        if (f->other.file)
            diag_note(ctx, d, f->other, "the other access is here");
    }
}
