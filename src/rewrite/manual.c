#include "rewrite/manual.h"

#include "frontend/ast.h"
#include "frontend/library.h"

typedef struct Word {
    const char *name, *doc;
} Word;

static const Word words[] = {
#define STRATEGY(name, n, doc) {#name, doc},
#include "frontend/strategies.def"
#undef STRATEGY
};
enum { WORDS = sizeof words / sizeof *words };

const char *rules_word_doc(const char *text)
{
    size_t n = strcspn(text, "([{ ");
    for (int i = 0; i < WORDS; i++)
        if (strlen(words[i].name) == n && memcmp(words[i].name, text, n) == 0)
            return words[i].doc;
    return NULL;
}

static bool is_rewriting(const LibFile *file) { return strncmp(file->name, "rules/", 6) == 0 || strncmp(file->name, "strategies/", 11) == 0; }

static const AstFile *parsed(Ctx *ctx, const LibFile *file) { return parse_file(ctx, source_add_library(ctx, ctx_printf(ctx, "lib/%s", file->name), file->text, file->size)); }

static bool is_shown(const Item *item) { return item->kind == ITEM_RULE || item->kind == ITEM_STRATEGY; }

/* Documentation stands before the item again. */
static void put_item(StrBuf *out, const Item *item)
{
    Item bare = *item;
    bare.doc = NULL;
    ast_print_item(out, &bare);
}

void rules_manual(Ctx *ctx, StrBuf *out)
{
    sb_puts(out, "# Rules and strategies of the library\n\nMade by `risec help --emit-docs=rules` from `lib/rules` and `lib/strategies`; [strategies.md](strategies.md) says how they are used. "
                 "`tests/unit/test_rules.c` tests every rule.\n\n## Words of strategies\n\n| word | |\n|---|---|\n");
    for (int i = 0; i < WORDS; i++)
        sb_printf(out, "| `%s` | %s |\n", words[i].name, words[i].doc);
    for (int k = 0; k < risec_lib_file_count; k++) {
        const LibFile *file = &risec_lib_files[k];
        if (!is_rewriting(file))
            continue;
        const AstFile *ast = parsed(ctx, file);
        sb_printf(out, "\n## import %s\n", library_module(ctx, file));
        for (int i = 0; i < ast->items.n; i++) {
            const Item *item = ast->items.at[i];
            if (!is_shown(item))
                continue;
            sb_printf(out, "\n### %s\n\n", item->name);
            if (item->doc)
                sb_printf(out, "%s\n\n", item->doc);
            sb_puts(out, "```rise\n");
            put_item(out, item);
            sb_puts(out, "```\n");
        }
    }
}

bool rules_help(Ctx *ctx, StrBuf *out, const char *name)
{
    const LibFile *file = library_with(name);
    const AstFile *ast = file ? parsed(ctx, file) : NULL;
    for (int i = 0; ast && i < ast->items.n; i++) {
        const Item *item = ast->items.at[i];
        if (!item->name || strcmp(item->name, name) != 0)
            continue;
        put_item(out, item);
        if (item->doc)
            sb_printf(out, "\n%s\n", item->doc);
        sb_printf(out, "\nimport %s\n", library_module(ctx, file));
        return true;
    }
    for (int i = 0; i < WORDS; i++)
        if (strcmp(words[i].name, name) == 0) {
            sb_printf(out, "%s: %s\n", name, words[i].doc);
            return true;
        }
    return false;
}

void rules_list(Ctx *ctx, StrBuf *out)
{
    sb_puts(out, "Words of strategies:");
    for (int i = 0; i < WORDS; i++)
        sb_printf(out, "%s %s", i ? "," : "", words[i].name);
    sb_puts(out, "\n");
    for (int k = 0; k < risec_lib_file_count; k++) {
        const LibFile *file = &risec_lib_files[k];
        if (!is_rewriting(file))
            continue;
        sb_printf(out, "\n%s:", library_module(ctx, file));
        const AstFile *ast = parsed(ctx, file);
        int n = 0;
        for (int i = 0; i < ast->items.n; i++)
            if (is_shown(ast->items.at[i]))
                sb_printf(out, "%s %s", n++ ? "," : "", ast->items.at[i]->name);
        sb_putc(out, '\n');
    }
    sb_puts(out, "\n`risec help NAME` shows one of them.\n");
}
