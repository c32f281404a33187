/* From syntax to core: names, types, sizes. The only way from a text to a CoreEntry.
 *
 * program_load reads and parses a file and all it imports, and checks names: also those in definitions that nothing uses.
 * elab_entry then evaluates one entry as far as sizes and functions go (definitions are expanded at each use, with the sizes of that
 * use) and leaves typed core. Mistakes go to the diagnostics (E02xx, E03xx); one mistake is one message. */
#ifndef RISEC_FRONTEND_ELAB_H
#define RISEC_FRONTEND_ELAB_H

#include "frontend/ast.h"
#include "ir/core.h"

typedef struct ElabSetting { /* --set for a tunable; one that names no tunable is ignored here */
    const char *name;
    int64_t value;
    Span span;
    bool fixes_size; /* it may also name a size, which is then no size of the launch but a constant, like a tunable */
} ElabSetting;

/* A class of launches with values of the tunables: those where the product of some sizes is at most `most`; of no sizes, all launches that are left. */
typedef struct ElabClass {
    Span span;
    int n_sizes;
    const char **sizes;
    int64_t most;
    int n_settings;
    const ElabSetting *settings;
    const char *strategy; /* by which its body is lowered instead of the entry's own; or NULL */
    Span strategy_span;
} ElabClass;

typedef struct Program Program; /* parsed files with their names resolved; lives in the context's arena */

/* Never NULL. */
Program *program_load(Ctx *ctx, const char *path);
/* Only the text of this one file: no imports, no names, so that there are no entries. For program_ast. */
Program *program_parse(Ctx *ctx, const char *path);
Program *program_from_text(Ctx *ctx, const char *name, const char *text, size_t size);
/* A file of this name whose items stand in several sources. `entry`: this definition is an entry, whatever it is written as; or NULL. */
Program *program_from_parts(Ctx *ctx, const char *name, int n, const uint32_t *sources, const char *entry);

/* The same program for a context inside of the one it was made in (ctx_new_inside): modules that a part reads are the part's own. */
Program *program_inside(Ctx *part, const Program *whole);
/* The modules that the part has read and the whole has not, in the order of program_module. */
int program_more_count(const Program *part, const Program *whole);
const char *program_more_module(const Program *part, const Program *whole, int k);
/* Reads them for the whole, too, so that the parts to come find them there. */
void program_read_more(Ctx *ctx, Program *whole, const Program *part);

/* Entries of the file itself, not of what it imports. */
int program_entry_count(const Program *program);
const char *program_entry_name(const Program *program, int k);
const Item *program_entry_item(const Program *program, int k);
/* The entry or definition of the file itself with this name; or NULL. */
const Item *program_item(const Program *program, const char *name);
/* The size or tunable number k in the header of an entry; NULL: there are not so many. */
const char *item_size(const Item *entry, int k, bool *tunable);
/* The file itself as parsed; NULL when it could not be read. */
const AstFile *program_ast(const Program *program);
/* True when program_load reported an error: entries may still be elaborated to find more, but none will be given. */
bool program_failed(const Program *program);
/* Warns of names that nothing uses, and of those that hide a size, where all names mean something. */
void program_warn_names(Ctx *ctx, const Program *program);
/* Operators declared in the file itself, for `check --laws`. */
int program_operator_count(const Program *program);
const Item *program_operator_item(const Program *program, int k);

/* Where the item's body uses, perhaps by other definitions, the definition that holds this place; NO_SPAN: nowhere. */
Span item_use(const Ctx *ctx, const Program *program, const Item *user, Span inside);
/* The definition, rule or entry that holds this place; NULL: none does. */
const Item *program_item_around(const Program *program, Span inside);

/* NULL when there are errors (in this entry or in the program). */
CoreEntry *elab_entry(Ctx *ctx, Program *program, int entry, int n_settings, const ElabSetting *settings);
/* The entry or definition of the file itself with this name, elaborated as an entry is. NULL: with
 * diagnostics, or because it takes functions or types. */
CoreEntry *elab_named(Ctx *ctx, Program *program, const char *name, int n_settings, const ElabSetting *settings);
/* The same with classes, the last one of no sizes: Note [Classes of a tuned entry] in ir/core.h. `settings` fix sizes, at most. The types of the
 * inputs and the result and the facts about sizes must be the same in all classes as with the tunables' defaults: E0661. */
CoreEntry *elab_entry_tuned(Ctx *ctx, Program *program, int entry, int n_settings, const ElabSetting *settings, int n_classes, const ElabClass *classes);
/* Every entry that is good, with the defaults of its tunables; also checks operators that nothing uses. Never NULL. */
CoreProgram *elab_all(Ctx *ctx, Program *program);
/* Reports what is wrong with definitions that nothing uses, whatever their sizes are. */
void elab_unused(Ctx *ctx, Program *program);
/* An operator as core: a lambda of two parameters and its unit. False when it has errors. */
bool elab_operator(Ctx *ctx, Program *program, int k, Core **lambda, Core **unit);

#endif
