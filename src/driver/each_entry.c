#include "driver/each_entry.h"

#include "frontend/tuning.h"

typedef struct OneEntry {
    Ctx *ctx; /* the round's */
    EntryRound *round;
    int number, end;
    bool tuned; /* out, too */
} OneEntry;

/* What the work says is kept apart from what was said before. */
static void do_work(Ctx *part, OneEntry *one, CoreEntry *entry)
{
    EntryRound *round = one->round;
    const Diags said = part->diags;
    round->n++;
    part->diags = (Diags){0};
    round->work(part, round, entry);
    diags_keep_aside(one->ctx, &round->of_work, part);
    part->diags = said;
}

static void do_entry(Ctx *part, void *user)
{
    OneEntry *one = user;
    EntryRound *round = one->round;
    Driver *d = round->d;
    Program *program = program_inside(part, round->program);
    const TuneSection *section;
    int n_settings;
    const ElabSetting *settings = driver_settings(part, d, &n_settings);
    const char *name = program_entry_name(program, one->number);
    say_part(d->say, "entry `%s`", name);
    CoreEntry *entry = tuned_entry(part, program, one->number, round->path, option_text(d->line, OPT_TUNED), n_settings, settings, &section);
    one->tuned |= section != NULL;
    if (section)
        say(d->say, "found in %s%s: `%s` on \"%s\"", round->path, TUNING_SUFFIX, section->entry, section->device);
    if (entry)
        say_step(d->say, "typed `%s`", name);
    if (entry && (!option_on(d->line, OPT_VERIFY_EACH) || driver_verify(part, d, entry)))
        do_work(part, one, entry);
    if (one->number + 1 < one->end && program_more_count(program, round->program) > 0)
        program_read_more(one->ctx, round->program, program);
}

/* Every --set must mean something to one of the entries that were asked for. */
static bool check_settings(Ctx *ctx, const EntryRound *round, int first, int end)
{
    const Item **entries = NEWN(ctx, const Item *, end - first + 1);
    for (int k = first; k < end; k++)
        entries[k - first] = program_entry_item(round->program, k);
    return driver_check_settings(ctx, round->d, end - first, entries, false);
}

bool driver_each_entry(Ctx *ctx, EntryRound *round)
{
    Driver *d = round->d;
    const char *only = d->only_entry ? d->only_entry : option_text(d->line, OPT_ENTRY);
    const char *device = option_text(d->line, OPT_TUNED);
    int first = 0, end = program_entry_count(round->program), errors = ctx->diags.errors;
    if (only) {
        first = driver_find_entry(ctx, d, round->program, round->path, only);
        end = first + 1;
        if (first < 0)
            return false;
    }
    OneEntry one = {.ctx = ctx, .round = round, .number = first, .end = end};
    for (; one.number < end; one.number++) {
        if (round->together)
            do_entry(ctx, &one);
        else
            ctx_do_inside(ctx, do_entry, &one);
    }
    if (device && !one.tuned && ctx->diags.errors == errors) {
        Diag *diag = driver_usage(ctx, d, E0662, "`--tuned \"%s\"`: %s%s has nothing that could be used for that device", device, round->path, TUNING_SUFFIX);
        diag_help(ctx, diag, "the names of the devices stand there behind `on`; `risec tune` adds the one that it runs on");
    }
    if (ctx->diags.errors > errors || program_failed(round->program) || round->n < end - first)
        return false;
    /* A verb that works on one entry takes sizes, too, and has looked at the settings. */
    return d->only_entry || check_settings(ctx, round, first, end);
}
