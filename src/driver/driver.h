/* What the files of the driver share: exit codes, the parsed command line, output, one function for each verb.
 *
 * The driver is the only part of risec that prints or ends the process. A verb leaves its diagnostics in the context and an
 * exit code in Driver.status; driver_command prints the ones and returns the other. */
#ifndef RISEC_DRIVER_DRIVER_H
#define RISEC_DRIVER_DRIVER_H

#include "codegen/lower.h"
#include "driver/files.h"
#include "driver/options.h"
#include "driver/say.h"
#include "frontend/elab.h"
#include "ir/interp.h"

enum {
    STATUS_GOOD = 0,
    STATUS_PROGRAM = 1, /* the program is wrong, or a check failed */
    STATUS_USAGE = 2,   /* the command line, or a file */
    STATUS_DEVICE = 3,
    STATUS_MEMORY = 4,
    STATUS_BUG = 70
};

struct Interrupt;

typedef struct Driver {
    const CommandLine *line;
    DriverFiles *files;
    int (*lsp)(void); /* serves editors; NULL: this build does not */
    struct Interrupt *interrupt;
    Say *say; /* or NULL */
    Program *session; /* what `risec repl` has instead of a file; or NULL */
    int status;
    bool stdout_gone; /* whoever read our output has left: say nothing about it */
    const char *path; /* of the file that was read last, */
    Program *program; /* and what was read, with its names; NULL: none */
    const char *only_entry; /* the one that a verb works on; NULL: the option says which */
    int only_item;    /* driver_check lowers the entry that is this item of the program, from 1, and only types all others; 0: it lowers all */
} Driver;

/* The topics of `risec help`. */
typedef struct HelpTopic {
    const char *name, *title, *text;
} HelpTopic;
extern const HelpTopic help_topics[];
extern const int help_topic_count;
/* NULL where there is none of that name. */
const char *help_topic_text(const char *name);

/* What risec does with its arguments; gives its exit code. */
int driver_command(int argc, char **argv);
/* Whether messages are coloured: standard error is a terminal, and nothing speaks against it. */
bool driver_colour(void);
/* The same, where the language server is at hand. */
int driver_command_with(int argc, char **argv, int (*lsp)(void));
/* A command line in a context, without what comes before and after it. */
void driver_line(Ctx *ctx, Driver *d, int argc, char **argv);
/* With --quiet, forgets the warnings that the context has. */
void driver_only_errors(Ctx *ctx, const Driver *d);
/* The larger trouble wins: a file that cannot be read is not hidden by a program that is wrong. */
void driver_fail(Driver *d, int status);
/* An error about the command line or a file: STATUS_USAGE. */
Diag *driver_usage(Ctx *ctx, Driver *d, DiagCode code, const char *fmt, ...) PRINTF_LIKE(4, 5);
/* Writes a whole file, or standard output for "-". False with a diagnostic, also where the command read this very file and --force is not given. */
bool driver_write(Ctx *ctx, Driver *d, const char *path, const void *bytes, size_t size);
/* For what takes long: may a file be written later that is not one of the inputs? False with the diagnostic. */
bool driver_may_write(Ctx *ctx, Driver *d, const char *path);
/* The tuning file is read and written anew: only as an input of another kind it is refused. */
bool driver_may_tune(Ctx *ctx, Driver *d, const char *path);
bool driver_write_tuning(Ctx *ctx, Driver *d, const char *path, const void *bytes, size_t size);
/* Writes over a file that this command has read to change it. */
bool driver_write_back(Ctx *ctx, Driver *d, const char *path, const void *bytes, size_t size);
/* Reads a text that the user names. False with a diagnostic. */
bool driver_source(Ctx *ctx, Driver *d, const char *path, uint32_t *file);
/* False, with the complaint, when the checker of typed programs finds a fault: a bug in risec. */
bool driver_verify(Ctx *ctx, Driver *d, const CoreEntry *entry);
/* Sets the table of costs that --costs names for all that is compiled. False with diagnostics. */
bool driver_costs(Ctx *ctx, Driver *d);
/* Sets the status for the errors that others have left in the context. True when there are none. */
bool driver_no_errors(Ctx *ctx, Driver *d);

/* Loads the program; false when there is nothing to go on with (the file cannot be read). */
bool driver_load(Ctx *ctx, Driver *d, const char *path, Program **program);
/* The entry of that name, or the only one when `name` is NULL; -1 with a diagnostic. */
int driver_find_entry(Ctx *ctx, Driver *d, const Program *program, const char *path, const char *name);
/* The command line's --set values as the elaborator wants them. */
const ElabSetting *driver_settings(Ctx *ctx, const Driver *d, int *n);
/* Every --set must be a tunable of one of the entries, or (with `sizes`) a size. False with a diagnostic. */
bool driver_check_settings(Ctx *ctx, Driver *d, int n, const Item *const *entries, bool sizes);

/* The file and the entry that the words of the command line name, elaborated with its settings; tuned for `device`, unless that is NULL or --untuned is
 * given. False with diagnostics. */
bool driver_entry(Ctx *ctx, Driver *d, const char *device, CoreEntry **entry);
/* NULL with diagnostics, which say so where the entry is tuned. */
ImpProgram *driver_lower(Ctx *ctx, Driver *d, const CoreEntry *entry, LowerPass last);
/* The values of the tunables in a launch, of which the sizes are known: those of its class, where the entry is tuned. */
const int64_t *driver_tunables(Ctx *ctx, const CoreEntry *entry, const Launch *launch);
/* " (tuned: threads = 256, lowered by blocks)"; nothing where the entry is not tuned. */
void driver_put_tuned(Ctx *ctx, StrBuf *out, const CoreEntry *entry, const Launch *launch);
/* `"tunables": {"threads": 256}`, and `, "tuned": true` where the entry is, with its strategy where tuning chose one. */
void driver_put_tunables(Ctx *ctx, StrBuf *out, const CoreEntry *entry, const Launch *launch);

/* The number of the item in which a place lies; -1: none. An edit inside an item changes no numbers. */
int driver_item_at(const Program *program, Span span);
/* All that `check` does with a program but its `expect` clauses and laws. False where there is nothing to go on with. *advice: warnings for where
 * nothing is wrong (diags_again); NULL: they are not looked for. */
bool driver_check(Ctx *ctx, Driver *d, const char *path, Program **program, Diags *advice);
/* The same of one entry that is typed. NULL where it cannot be compiled. */
ImpProgram *driver_check_entry(Ctx *ctx, const CoreEntry *entry);
/* Warnings for where nothing is wrong. */
void driver_advise(Ctx *ctx, const CoreEntry *entry, const ImpProgram *imp);
/* Takes the edits away, from diagnostic `from` on, that do not mend what was read. */
void driver_try_hints(Ctx *ctx, Driver *d, const char *path, const Program *program, int from);

/* A strategy on the command line, parsed as the body of one in a file of its own; names in it are looked up in the program's file. NULL with diagnostics. */
const Ast *driver_strategy(Ctx *ctx, Driver *d, OptId option, const char *text);

void cmd_compile(Ctx *ctx, Driver *d);
void cmd_new(Ctx *ctx, Driver *d);
void cmd_check(Ctx *ctx, Driver *d);
/* `risec check --laws`: tests the rules and the operators of one file. */
void check_laws(Ctx *ctx, Driver *d, const char *path);
void cmd_doctor(Ctx *ctx, Driver *d);
void cmd_test(Ctx *ctx, Driver *d);
void cmd_fmt(Ctx *ctx, Driver *d);
void cmd_lower(Ctx *ctx, Driver *d);
void cmd_run(Ctx *ctx, Driver *d);
void cmd_bench(Ctx *ctx, Driver *d);
void cmd_tune(Ctx *ctx, Driver *d);
void cmd_repl(Ctx *ctx, Driver *d);
void cmd_cache(Ctx *ctx, Driver *d);
void cmd_help(Ctx *ctx, Driver *d);
void cmd_explain(Ctx *ctx, Driver *d);
void cmd_version(Ctx *ctx, Driver *d);

#endif
