#include "frontend/library.h"

#include <ctype.h>
#include <string.h>

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

const LibFile *library_with(const char *name)
{
    for (int i = 0; i < risec_lib_file_count; i++)
        for (const char *line = risec_lib_files[i].text; line; line = strchr(line, '\n'), line = line ? line + 1 : NULL)
            if (begins_item(line, name))
                return &risec_lib_files[i];
    return NULL;
}
