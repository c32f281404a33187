/* W0705: private arrays that cannot lie in registers. */
#include "driver/private_warnings.h"
#include "rewrite/rewrite.h"

/* The compiler may need only a part of them at a time, up to half in kernels that were looked at. */
enum { PRIVATE_AT_A_TIME = 2 };

/* Who wrote what the kernel does: that is who can change it. */
typedef enum Author { AUTHOR_USER, AUTHOR_STRATEGY, AUTHOR_SCHEDULER } Author;

static Author author_of(const CoreEntry *entry)
{
    if (entry->item && entry->item->lowered)
        return AUTHOR_STRATEGY;
    return entry_is_high(entry) ? AUTHOR_SCHEDULER : AUTHOR_USER;
}

static Span place_of(const Ctx *ctx, const CoreEntry *entry, const PrivateMemory *memory, Author author)
{
    const Span made = memory->largest->span;
    if (author != AUTHOR_USER && span_is_users(ctx, memory->users))
        return memory->users;
    return made.file == entry->name_span.file ? made : entry->name_span;
}

/* "if n > 1024, or if m == 2"; "at any sizes". */
static const char *sizes_of(Ctx *ctx, const ImpProgram *imp, const ImpKernel *kernel)
{
    StrBuf out;
    sb_init(&out, ctx);
    for (int i = 0; i < imp->launches.n; i++)
        for (int v = 0; v < imp->launches.at[i].variants.n; v++) {
            const ImpVariant *variant = &imp->launches.at[i].variants.at[v];
            if (variant->kernel != kernel || !variant->when.n)
                continue;
            sb_puts(&out, out.len ? ", or if " : "if ");
            imp_print_whens(&out, &variant->when);
        }
    return out.len ? out.text : "at any sizes";
}

static void say_private(Ctx *ctx, const CoreEntry *entry, const ImpProgram *imp, const ImpKernel *kernel, const PrivateMemory *memory)
{
    static const char *const mends[] = {
        [AUTHOR_STRATEGY] = "the strategy can give each thread smaller pieces; fewer `threads` or a smaller `minBlocks` in its `launch` leave each thread more registers",
        [AUTHOR_SCHEDULER] = "risec chose this kernel; it needs fewer registers if a row has fewer arrays at once, or if a strategy of your own, `lowered by`, gives each thread less"};
    const Author author = author_of(entry);
    const int registers = kernel_registers(kernel);
    const char *where = author == AUTHOR_USER ? "" : ctx_printf(ctx, "in the kernel `%s`, ", kernel->name);
    Diag *diag = diag_warning(ctx, W0705, place_of(ctx, entry, memory, author), "%sthe private arrays of each thread take %lld bytes, and its registers hold %d", where, (long long)memory->bytes, registers * REGISTER_BYTES);
    diag_label(ctx, diag, "with %d threads in a block, each has up to %d registers of %d bytes", kernel->threads[0] * kernel->threads[1] * kernel->threads[2], registers, REGISTER_BYTES);
    if (author == AUTHOR_USER) {
        diag_note(ctx, diag, NO_SPAN, "what does not fit lies in memory of the device, where each access waits: smaller pieces, fewer threads in a block, or `toShared`");
        return;
    }
    diag_note(ctx, diag, NO_SPAN, "`%s` runs %s; what does not fit lies in memory of the device, where each access waits", kernel->name, sizes_of(ctx, imp, kernel));
    diag_help(ctx, diag, "%s", mends[author]);
}

void warn_private(Ctx *ctx, const CoreEntry *entry, const ImpProgram *imp, const Launch *at)
{
    for (int k = 0; k < imp->kernels.n && !item_accepts(entry->item, W0705); k++) {
        const ImpKernel *kernel = imp->kernels.at[k];
        const PrivateMemory memory = private_memory(ctx, kernel);
        const int64_t held = (int64_t)kernel_registers(kernel) * REGISTER_BYTES;
        if (memory.bytes > held * PRIVATE_AT_A_TIME && (!at || imp_is_launched(imp, kernel, at)))
            say_private(ctx, entry, imp, kernel, &memory);
    }
}
