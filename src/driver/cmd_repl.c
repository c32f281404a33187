/* `risec repl`: reads, evaluates, prints, and goes on. */
#include <stdio.h>

#include "driver/interrupt.h"
#include "driver/line_reader.h"
#include "driver/repl.h"

typedef struct Loop {
    Driver *d;
    Session session;
    LineReader reader;
    StrBuf *typed; /* the lines of this turn */
    int lines;     /* read so far */
    int first;     /* the number of the first of this turn */
    bool failed;
} Loop;

typedef struct InPart {
    Turn turn;
    bool goes_on;
} InPart;

static void print_diagnostics(Ctx *ctx)
{
    StrBuf text;
    sb_init(&text, ctx);
    diag_render(ctx, &text, driver_colour());
    fwrite(text.text ? text.text : "", 1, text.len, stderr);
    fflush(stderr);
}

static bool is_said(Ctx *ctx, int n, const Diag *diag)
{
    int line, column, other_line, other_column;
    source_position(ctx, diag->span, &line, &column);
    for (int i = 0; i < n; i++) {
        const Diag *other = ctx->diags.list.at[i];
        source_position(ctx, other->span, &other_line, &other_column);
        if (other->code == diag->code && other_line == line && other_column == column)
            return true;
    }
    return false;
}

/* What earlier lines were warned of is not said again; nor is what a turn that reads its line several times has said. */
static void forget_old_warnings(Ctx *ctx, const Turn *turn)
{
    Diags *diags = &ctx->diags;
    int n = 0, line, column;
    for (int i = 0; i < diags->list.n; i++) {
        Diag *diag = diags->list.at[i];
        source_position(ctx, diag->span, &line, &column);
        bool old = diag->warning && ((line && line < turn->typed.line) || is_said(ctx, n, diag));
        if (!old)
            diags->list.at[n++] = diag;
    }
    diags->list.n = n;
}

static void do_turn(Ctx *ctx, void *user)
{
    InPart *in = user;
    repl_turn(ctx, &in->turn);
    in->turn.failed |= ctx->diags.errors > 0;
    forget_old_warnings(ctx, &in->turn);
    print_diagnostics(ctx);
}

static void ask_whether_it_goes_on(Ctx *ctx, void *user)
{
    InPart *in = user;
    in->goes_on = repl_goes_on(ctx, in->turn.typed.text);
}

/* In memory of its own, and such that Ctrl-C ends it. */
static void in_part(Ctx *ctx, Loop *loop, void (*fn)(Ctx *ctx, void *user), InPart *in)
{
    struct Interrupt *interrupt = loop->d->interrupt;
    interrupt_watch(interrupt);
    Ctx *part = ctx_new_part(ctx);
    bool done = part && ctx_try(part, fn, in);
    ctx_free(part);
    interrupt_pause(interrupt);
    bool pulled = interrupt->brake.pulled;
    interrupt->brake.pulled = 0;
    if (done)
        return;
    fputs(pulled ? "interrupted\n" : "risec: out of memory\n", stderr);
    in->turn.failed = true;
}

/* False: it was interrupted, or the input is at its end. */
static bool read_turn(Ctx *ctx, Loop *loop, bool *ended)
{
    loop->typed->len = 0;
    loop->first = loop->lines + 1;
    for (const char *prompt = "> ";; prompt = ". ") {
        LineRead got = line_reader_next(&loop->reader, prompt);
        *ended = got == LINE_END;
        if (got == LINE_INTERRUPTED || (got == LINE_END && !loop->typed->len)) {
            if (loop->reader.terminal)
                putchar('\n');
            return false;
        }
        if (got == LINE_END)
            return true;
        loop->lines++;
        const char *line = loop->reader.line;
        if (loop->typed->len)
            sb_putc(loop->typed, '\n');
        sb_puts(loop->typed, line);
        bool command = loop->typed->text && loop->typed->text[0] == ':', empty = !line[strspn(line, " \t")];
        InPart in = {.turn.typed.text = loop->typed->len ? loop->typed->text : ""};
        if (!command && !empty)
            in_part(ctx, loop, ask_whether_it_goes_on, &in);
        if (!in.goes_on)
            return true;
    }
}

static void loop_turns(Ctx *ctx, void *user)
{
    Loop *loop = user;
    bool ended = false, quit = false;
    while (!ended && !quit && !loop->d->stdout_gone) {
        if (!read_turn(ctx, loop, &ended))
            continue;
        InPart in = {.turn = {.d = loop->d, .session = &loop->session, .typed = {loop->typed->len ? loop->typed->text : "", loop->first}}};
        in_part(ctx, loop, do_turn, &in);
        loop->failed |= in.turn.failed;
        quit = in.turn.ends;
    }
}

void cmd_repl(Ctx *ctx, Driver *d)
{
    Loop loop = {.d = d};
    StrBuf typed;
    if (d->line->words.n) {
        Diag *diag = driver_usage(ctx, d, E0621, "`risec repl` takes no file, and got `%s`", d->line->words.at[0]);
        diag_help(ctx, diag, "write `import \"%s\"` as its first line", d->line->words.at[0]);
        return;
    }
    sb_init(&typed, ctx);
    loop.typed = &typed;
    d->interrupt->session = true;
    interrupt_pause(d->interrupt);
    line_reader_open(ctx, &loop.reader);
    if (loop.reader.terminal && !option_on(d->line, OPT_QUIET))
        puts("risec repl: `:help` lists the commands, `:quit` ends.");
    bool enough = ctx_try(ctx, loop_turns, &loop);
    line_reader_close(&loop.reader);
    session_free(&loop.session);
    if (!enough)
        ctx_out_of_memory(ctx);
    if (loop.failed && !loop.reader.terminal)
        driver_fail(d, STATUS_PROGRAM);
}
