/* What an editor asks of a program: what each name means, and what each expression is. The resolver
 * and the elaborator note it as they go, for whoever gives them a place for it; nobody else pays
 * for it. */
#ifndef RISEC_FRONTEND_NOTES_H
#define RISEC_FRONTEND_NOTES_H

#include "frontend/elab.h"

/* A name where it is written. */
typedef struct NameNote {
    Span at;
    Span bound; /* where it is bound, `at` itself for that place; NO_SPAN: it is always there */
    const char *name;
    const Item *item; /* whose name it is; NULL: none's */
    const Item *user; /* in which it is written */
} NameNote;

typedef struct NameNotes {
    VEC(NameNote) list; /* of all files of the program, the library's among them */
} NameNotes;

/* As program_load. The notes are made while the program is loaded, and never after. */
Program *program_load_noting(Ctx *ctx, const char *path, NameNotes *notes);
/* A name of the program's own file that contains byte `at`, or ends there; NULL: none. */
const NameNote *name_note_at(const NameNotes *notes, uint32_t file, uint32_t at);

int program_file_count(const Program *program);
/* The files in order of reading, the first being the program's own. NULL where one could not be
 * read. */
const AstFile *program_file(const Program *program, int k);
/* Where the own file imports file k, perhaps through others; NO_SPAN: it does not. */
Span program_import_of(Ctx *ctx, const Program *program, int k);
/* Names that the program's own file may mention, its own and imported ones: item k; NULL: there are
 * no more. */
const Item *program_visible(const Program *program, int k);

typedef struct ValueNotes ValueNotes;

/* Elaborates an entry, as elab_entry does, and notes what is written in `file`. *entry: or NULL. */
ValueNotes *elab_entry_noting(Ctx *ctx, Program *program, int k, uint32_t file, CoreEntry **entry);
/* Operator k, the same. */
ValueNotes *elab_operator_noting(Ctx *ctx, Program *program, int k, uint32_t file);
/* Of the smallest expression that contains byte `at`: its type, or "the size n / 4". NULL: nothing
 * is known. */
const char *value_note_at(ValueNotes *notes, uint32_t at, Span *where);
/* Of exactly this expression or binding. */
const char *value_note_of(ValueNotes *notes, Span where);

#endif
