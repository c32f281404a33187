#include "frontend/library.h"

#include <ctype.h>
#include <string.h>

#include "frontend/foreign.h"

const char *library_module(Ctx *ctx, const LibFile *file)
{
    char *name = (char *)ctx_alloc(ctx, strlen(file->name) + 1);
    strcpy(name, file->name);
    char *suffix = strrchr(name, '.');
    if (suffix)
        *suffix = 0;
    for (char *c = name; *c; c++)
        if (*c == '/')
            *c = '.';
    return name;
}

const LibFile *library_find(Ctx *ctx, const char *module)
{
    for (int i = 0; i < risec_lib_file_count; i++)
        if (strcmp(library_module(ctx, &risec_lib_files[i]), module) == 0)
            return &risec_lib_files[i];
    return NULL;
}

/* Items of the library begin their lines, so that no module has to be parsed. */
static bool begins_item(const char *line, const char *name)
{
    static const char *const kinds[] = {"def ", "operator ", "rule ", "strategy "};
    size_t n = strlen(name);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        const char *at = line + strlen(kinds[k]);
        if (strncmp(line, kinds[k], strlen(kinds[k])) == 0 && strncmp(at, name, n) == 0 && !isalnum((unsigned char)at[n]) && at[n] != '_')
            return true;
    }
    return false;
}

/* Where an item of this name begins; NULL. */
static const char *item_line(const LibFile *file, const char *name)
{
    for (const char *line = file->text; line; line = strchr(line, '\n'), line = line ? line + 1 : NULL)
        if (begins_item(line, name))
            return line;
    return NULL;
}

const char *library_header(Ctx *ctx, const char *name)
{
    enum { SHOWN = 100 };
    const LibFile *file = library_with(name);
    const char *line = file ? item_line(file, name) : NULL, *end = line ? strstr(line, " =") : NULL;
    const char *where = line ? strstr(line, " where ") : NULL;
    if (!end || strncmp(line, "def ", 4) != 0)
        return NULL;
    end = where && where < end ? where : end;
    line += 4;
    return end - line <= SHOWN && !memchr(line, '\n', (size_t)(end - line)) ? ctx_printf(ctx, "%.*s", (int)(end - line), line) : NULL;
}

const char *library_step_near(Ctx *ctx, const char *name)
{
    static const char *const kinds[] = {"rule ", "strategy "};
    VEC(const char *) names = {0};
    for (int i = 0; i < risec_lib_file_count; i++)
        for (const char *line = risec_lib_files[i].text; line; line = strchr(line, '\n'), line = line ? line + 1 : NULL)
            for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
                const size_t n = strlen(kinds[k]);
                if (strncmp(line, kinds[k], n) == 0)
                    vec_push(ctx, &names, ctx_printf(ctx, "%.*s", (int)strcspn(line + n, " =\n"), line + n));
            }
    return did_you_mean(ctx, name, names.n, names.at);
}

const LibFile *library_with(const char *name)
{
    for (int i = 0; i < risec_lib_file_count; i++)
        if (item_line(&risec_lib_files[i], name))
            return &risec_lib_files[i];
    return NULL;
}
