/* Diagnostics as JSON, for editors and other programs. */
#include "support/context.h"
#include "support/diag.h"

static void put_span(Ctx *ctx, StrBuf *out, Span span)
{
    const Source *source = source_get(ctx, span.file);
    if (!source) {
        sb_puts(out, "\"file\": null");
        return;
    }
    int line, column;
    source_position(ctx, span, &line, &column);
    sb_puts(out, "\"file\": ");
    sb_put_json(out, source->name);
    sb_printf(out, ", \"line\": %d, \"column\": %d, \"span\": [%u, %u]", line, column, (unsigned)span.lo, (unsigned)span.hi);
}

static void put_member(StrBuf *out, const char *name, const char *text)
{
    sb_printf(out, ", \"%s\": ", name);
    if (text)
        sb_put_json(out, text);
    else
        sb_puts(out, "null");
}

static void put_hint(Ctx *ctx, StrBuf *out, const Diag *diag)
{
    sb_puts(out, "{\"message\": ");
    sb_put_json(out, diag->help);
    sb_puts(out, ", \"edits\": [");
    for (int i = 0; i < diag->edits.n; i++) {
        sb_puts(out, i ? ", {" : "{");
        put_span(ctx, out, diag->edits.at[i].span);
        put_member(out, "text", diag->edits.at[i].text);
        sb_puts(out, "}");
    }
    sb_puts(out, "]}");
}

static void put_diag(Ctx *ctx, StrBuf *out, const Diag *diag)
{
    sb_printf(out, "{\"code\": \"%s\", \"severity\": \"%s\", ", diag_code_name(diag->code), diag->warning ? "warning" : "error");
    put_span(ctx, out, diag->span);
    put_member(out, "message", diag->message);
    put_member(out, "label", diag->label);
    sb_puts(out, ", \"notes\": [");
    for (int i = 0; i < diag->notes.n; i++) {
        sb_puts(out, i ? ", {" : "{");
        put_span(ctx, out, diag->notes.at[i].span);
        put_member(out, "message", diag->notes.at[i].text);
        sb_puts(out, "}");
    }
    sb_puts(out, "], \"hints\": [");
    if (diag->help)
        put_hint(ctx, out, diag);
    sb_puts(out, "]}");
}

void diag_render_json(Ctx *ctx, StrBuf *out)
{
    Diag **sorted = diag_sorted(ctx);
    sb_puts(out, "{\"diagnostics\": [");
    for (int i = 0; i < ctx->diags.list.n; i++) {
        sb_puts(out, i ? ", " : "");
        put_diag(ctx, out, sorted[i]);
    }
    sb_printf(out, "], \"errors\": %d, \"warnings\": %d, \"not_shown\": %d}\n", ctx->diags.errors, ctx->diags.warnings, ctx->diags.dropped);
}
