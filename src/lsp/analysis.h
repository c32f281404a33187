/* What the compiler knows of a document as it is now: the program that begins with it, what its
 * names mean, and of entries that somebody has asked about, what their expressions are. It is made
 * when it is asked for, and goes when a text changes. */
#ifndef RISEC_LSP_ANALYSIS_H
#define RISEC_LSP_ANALYSIS_H

#include "frontend/notes.h"
#include "lsp/documents.h"

typedef struct ItemValues { /* of an entry or an operator */
    Ctx *ctx;               /* inside of the analysis's; NULL: nobody has asked */
    ValueNotes *notes;
} ItemValues;

typedef struct Analysis {
    Ctx *ctx; /* does not change any more: what is made of it is made inside of it */
    Program *program;
    NameNotes names;
    const AstFile *ast; /* of the document; NULL: it cannot be read */
    uint32_t file;
    Lines lines;
    int n_values;
    ItemValues *values; /* of ast->items */
} Analysis;

/* A text in the place of a file's, for a trial. */
typedef struct TextInstead {
    const char *path, *text;
    size_t size;
} TextInstead;

typedef struct Workspace {
    Documents documents;
    FileAccess below; /* for what is not open */
    Brake *brake;     /* of all that is worked out */
    int n_instead;
    const TextInstead *instead;
} Workspace;

/* Files as the editor has them, else as they are. */
FileAccess workspace_files(Workspace *workspace);
/* NULL: the brake was pulled, or there is no memory. */
Analysis *analysis_of(Workspace *workspace, Document *doc);
/* The same of a path, with other texts in the place of some files', for a trial; the caller frees
 * it. */
Analysis *analysis_instead(Workspace *workspace, const char *path, int n,
                           const TextInstead *instead);
void analysis_free(Analysis *analysis);

/* The item that holds a byte; NULL: none does. */
const Item *analysis_item_at(const Analysis *analysis, uint32_t at);
/* What is known of the expressions of an item, by itself or by the first entry that uses it. NULL:
 * nothing, or it was given up. It stays with the analysis. */
ValueNotes *analysis_values(Analysis *analysis, const Item *item);
/* Calls `work` for each item, of any file of the user's, that `item` rests on, itself first. */
void analysis_each_used(Ctx *ctx, const Analysis *analysis, const Item *item,
                        void (*work)(void *user, const Item *used), void *user);
/* The number of an entry among the program's entries, or of an operator among its operators; -1: it
 * is none. */
int analysis_entry(const Analysis *analysis, const Item *item);
int analysis_operator(const Analysis *analysis, const Item *item);
/* The lines of any file of the program. */
Lines analysis_lines(Ctx *ctx, const Analysis *analysis, uint32_t file);

#endif
