/* `risec cache`: what the cache of compiled kernels holds, and clearing it. */
#include <inttypes.h>

#include "driver/driver.h"
#include "runtime/cache.h"

static void show(StrBuf *out, const Cache *cache, const CacheReport *report)
{
    sb_printf(out, "directory  %s%s\n", cache->dir, !report->there ? " (made with the first kernel)" : "");
    sb_printf(out, "entries    %" PRId64 "\n", report->entries);
    sb_printf(out, "bytes      %" PRIu64 " of at most %" PRIu64 "\n", report->bytes, cache->limit);
    sb_printf(out, "hits       %" PRIu64 "\n", report->hits);
    sb_printf(out, "misses     %" PRIu64 "\n", report->misses);
}

static void show_json(StrBuf *out, const Cache *cache, const CacheReport *report)
{
    sb_puts(out, "{\"directory\": ");
    sb_put_json(out, cache->dir);
    sb_printf(out, ", \"entries\": %" PRId64 ", \"bytes\": %" PRIu64 ", \"limit\": %" PRIu64 ", \"hits\": %" PRIu64 ", \"misses\": %" PRIu64 "}\n",
              report->entries, report->bytes, cache->limit, report->hits, report->misses);
}

void cmd_cache(Ctx *ctx, Driver *d)
{
    const CommandLine *line = d->line;
    bool clear = line->words.n == 1 && strcmp(line->words.at[0], "clear") == 0;
    if (line->words.n > 0 && !clear) {
        Diag *diag = driver_usage(ctx, d, E0621, "`risec cache` shows the cache, and `%s` is nothing it can do", line->words.at[line->words.n - 1]);
        diag_help(ctx, diag, "`risec cache clear` removes all compiled kernels");
        return;
    }
    Cache cache;
    CacheReport report;
    cache_init(&cache, NULL, &library_loader, NULL);
    if (!cache.dir[0]) {
        Diag *diag = driver_usage(ctx, d, E0654, "there is no cache: neither $XDG_CACHE_HOME nor $HOME is an absolute path");
        diag_help(ctx, diag, "set XDG_CACHE_HOME to a folder; kernels are compiled each time until then");
        return;
    }
    cache_report(&cache, &report);
    if (report.there && !report.usable) {
        Diag *diag = driver_usage(ctx, d, E0654, "%s is not used: it must be a folder that is yours, and that nobody else may write to", cache.dir);
        diag_help(ctx, diag, "`chmod go-w %s`, if it is yours", cache.dir);
        return;
    }
    if (clear && report.there && !cache_clear(&cache)) {
        driver_usage(ctx, d, E0654, "%s: not all of it could be removed", cache.dir);
        return;
    }
    if (clear && !option_on(line, OPT_JSON))
        return;
    if (clear)
        cache_report(&cache, &report);
    StrBuf out;
    sb_init(&out, ctx);
    (option_on(line, OPT_JSON) ? show_json : show)(&out, &cache, &report);
    driver_write(ctx, d, "-", out.text, out.len);
}
