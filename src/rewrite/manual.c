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

/* Is the file in this folder of the library? */
static bool is_in(const LibFile *file, const char *folder)
{
    size_t n = strlen(folder);
    return strncmp(file->name, folder, n) == 0 && file->name[n] == '/';
}

static bool is_rewriting(const LibFile *file)
{
    return is_in(file, "rules") || is_in(file, "strategies");
}

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
    sb_puts(out, "# Rules and strategies of the library\n\nMade by `risec help --emit-docs=rules` from `lib/rules` and `lib/strategies`.\n"
                 "[strategies.md](strategies.md) says how they are used. `tests/unit/test_rules.c` tests every rule.\n\n## Words of strategies\n\n| word | |\n|---|---|\n");
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
            sb_printf(out, "\n### `%s`\n\n", item->name);
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

/* ---- modules --------------------------------------------------------------------------------- */

/* The comment that a module begins with; `between` stands between its lines. */
static const char *module_doc(Ctx *ctx, const LibFile *file, const char *between)
{
    StrBuf doc;
    sb_init(&doc, ctx);
    for (const char *line = file->text; strncmp(line, "--| ", 4) == 0; line += strcspn(line, "\n") + 1)
        sb_printf(&doc, "%s%.*s", doc.len ? between : "", (int)strcspn(line, "\n") - 4, line + 4);
    return doc.text;
}

static const char *first_sentence(Ctx *ctx, const LibFile *file)
{
    const char *text = module_doc(ctx, file, " ");
    const char *end = strstr(text, ". ");
    return end ? ctx_printf(ctx, "%.*s", (int)(end + 1 - text), text) : text;
}

static bool is_offered(const Item *item)
{
    return item->name && item->kind != ITEM_IMPORT && item->kind != ITEM_ERROR;
}

/* What a caller has to know of an item: a rule's equation, but no other item's body. */
static void put_header(StrBuf *out, const Item *item)
{
    Item bare = *item;
    if (item->kind != ITEM_RULE)
        bare.body = NULL;
    put_item(out, &bare);
}

static void module_page(Ctx *ctx, StrBuf *out, const LibFile *file)
{
    const char *module = library_module(ctx, file);
    const AstFile *ast = parsed(ctx, file);
    sb_printf(out, "# import %s\n\nMade from `lib/%s` by `tests/scripts/docs.sh --write`; do not edit.\n\n%s\n", module, file->name, module_doc(ctx, file, "\n"));
    for (int i = 0; i < ast->items.n; i++) {
        const Item *item = ast->items.at[i];
        if (!is_offered(item))
            continue;
        sb_printf(out, "\n## `%s`\n\n", item->name);
        if (item->doc)
            sb_printf(out, "%s\n\n", item->doc);
        sb_puts(out, "```rise\n");
        put_header(out, item);
        sb_puts(out, "```\n");
    }
}

void library_manual(Ctx *ctx, StrBuf *out)
{
    sb_puts(out, "<!-- README.md -->\n# The standard library\n\nMade from `lib/std` by `tests/scripts/docs.sh --write`; do not edit.\n\n`risec help std` prints this "
                 "list. `risec help std.warp` prints one module.\n[rules.md](../rules.md) has the rules and strategies.\n\n| module | |\n|---|---|\n");
    for (int k = 0; k < risec_lib_file_count; k++) {
        const LibFile *file = &risec_lib_files[k];
        if (is_in(file, "std"))
            sb_printf(out, "| [%s](%s.md) | %s |\n", library_module(ctx, file), library_module(ctx, file) + strlen("std."), first_sentence(ctx, file));
    }
    for (int k = 0; k < risec_lib_file_count; k++) {
        const LibFile *file = &risec_lib_files[k];
        if (!is_in(file, "std"))
            continue;
        sb_printf(out, "<!-- %s.md -->\n", library_module(ctx, file) + strlen("std."));
        module_page(ctx, out, file);
    }
}

bool library_help(Ctx *ctx, StrBuf *out, const char *word)
{
    const LibFile *file = library_find(ctx, word);
    if (file) {
        const AstFile *ast = parsed(ctx, file);
        sb_printf(out, "import %s\n\n%s\n", word, module_doc(ctx, file, " "));
        for (int i = 0; i < ast->items.n; i++) {
            if (!is_offered(ast->items.at[i]))
                continue;
            sb_putc(out, '\n');
            put_header(out, ast->items.at[i]);
            for (const char *line = ast->items.at[i]->doc; line && *line; line += strcspn(line, "\n"), line += *line == '\n')
                sb_printf(out, "  %.*s\n", (int)strcspn(line, "\n"), line);
        }
        return true;
    }
    int modules = 0;
    for (int k = 0; k < risec_lib_file_count; k++) {
        file = &risec_lib_files[k];
        if (!is_in(file, word))
            continue;
        sb_printf(out, "  %-24s%s\n", library_module(ctx, file), first_sentence(ctx, file));
        modules++;
    }
    if (modules)
        sb_puts(out, "\n`risec help std.warp` prints one of them, `risec help warpTree` one definition.\n");
    return modules > 0;
}
