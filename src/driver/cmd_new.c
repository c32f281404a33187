/* `risec new NAME`: the files of share/new, in which @NAME@ stands for the name and @VERSION@ for that of the package. */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "driver/driver.h"
#include "format/format.h"
#include "support/embedded.h"
#include "version.h"

enum { NEW_NAME_BYTES = 64 };

/* "0.2": what find_package takes, as a minor version may change the interface. */
static const char *package_version(Ctx *ctx)
{
    const char *version = RISEC_VERSION, *minor = strchr(version, '.') + 1;
    return intern(ctx, version, (size_t)(minor - version) + strcspn(minor, "."));
}

static const char *filled(Ctx *ctx, const char *text, const char *name)
{
    const struct {
        const char *mark, *value;
    } marks[] = {{"@NAME@", name}, {"@VERSION@", package_version(ctx)}};
    StrBuf out;
    sb_init(&out, ctx);
    while (*text) {
        size_t plain = strcspn(text, "@"), taken = text[plain] ? 1 : 0;
        sb_putn(&out, text, plain);
        const char *value = taken ? "@" : "";
        for (int k = 0; k < 2; k++)
            if (strncmp(text + plain, marks[k].mark, strlen(marks[k].mark)) == 0) {
                taken = strlen(marks[k].mark);
                value = marks[k].value;
            }
        sb_puts(&out, value);
        text += plain + taken;
    }
    return out.text ? out.text : "";
}

static bool is_program(const LibFile *file) { return strstr(file->name, ".rise."); }

/* ---- the name --------------------------------------------------------------------------------- */

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

static bool looks_like_name(const char *name)
{
    size_t n = 0;
    while (is_letter(name[n]) || (n && name[n] >= '0' && name[n] <= '9'))
        n++;
    return n && !name[n] && n <= NEW_NAME_BYTES;
}

typedef struct Trial {
    const char *name;
    const char *complaint; /* of the caller's context; NULL: none */
    Ctx *ctx;
} Trial;

/* Words and primitives of the language are no names: the program itself tells. */
static void try_program(Ctx *part, void *user)
{
    Trial *trial = user;
    for (int i = 0; i < risec_new_file_count; i++) {
        if (!is_program(&risec_new_files[i]))
            continue;
        const char *text = filled(part, risec_new_files[i].text, trial->name);
        elab_all(part, program_from_text(part, trial->name, text, strlen(text)));
    }
    if (part->diags.errors)
        trial->complaint = ctx_printf(trial->ctx, "%s", part->diags.list.at[0]->message);
    part->diags = (Diags){0};
}

static bool is_good_name(Ctx *ctx, Driver *d, const char *name)
{
    Trial trial = {.name = name, .ctx = ctx};
    Diag *diag;
    if (!looks_like_name(name)) {
        diag = driver_usage(ctx, d, E0621, "`%s` cannot be the name of a program", name);
        diag_help(ctx, diag, "a name has the letters a to z and A to Z, digits and `_`, does not begin with a digit, and has at most %d of these; the folder is made where you are",
                  NEW_NAME_BYTES);
        return false;
    }
    ctx_do_inside(ctx, try_program, &trial);
    if (!trial.complaint)
        return true;
    diag = driver_usage(ctx, d, E0621, "`%s` cannot be the name of a program: %s", name, trial.complaint);
    diag_help(ctx, diag, "choose another name, such as `my_%s`", name);
    return false;
}

/* ---- the verb --------------------------------------------------------------------------------- */

/* How a program is laid out depends on how long its name is. */
static const char *formatted(Ctx *ctx, const char *name, const char *text)
{
    StrBuf out;
    sb_init(&out, ctx);
    return format_source(ctx, source_add(ctx, name, text, strlen(text)), 1, INT_MAX, &out) == FORMAT_GOOD ? out.text : text;
}

static bool write_file(Ctx *ctx, Driver *d, const LibFile *file, const char *name)
{
    const char *plain = intern(ctx, file->name, strlen(file->name) - strlen(".in"));
    const char *path = ctx_printf(ctx, "%s/%s", name, filled(ctx, plain, name)), *text = filled(ctx, file->text, name);
    if (is_program(file))
        text = formatted(ctx, path, text);
    return driver_write(ctx, d, path, text, strlen(text));
}

void cmd_new(Ctx *ctx, Driver *d)
{
    if (d->line->words.n != 1) {
        Diag *diag = driver_usage(ctx, d, E0621, "`risec new` takes one name, and got %d", d->line->words.n);
        diag_help(ctx, diag, "the usage is `risec %s`", verb_rows[VERB_NEW].usage);
        return;
    }
    const char *name = d->line->words.at[0];
    if (!is_good_name(ctx, d, name))
        return;
    if (mkdir(name, 0777) != 0) {
        bool there = errno == EEXIST;
        Diag *diag = driver_usage(ctx, d, E0628, "%s: the folder cannot be made: %s", name, there ? "this name is there already" : strerror(errno));
        if (there)
            diag_help(ctx, diag, "choose another name: `risec new` changes nothing that is there");
        return;
    }
    for (int i = 0; i < risec_new_file_count; i++)
        if (!write_file(ctx, d, &risec_new_files[i], name))
            return;
    if (option_on(d->line, OPT_QUIET))
        return;
    const char *next = ctx_printf(ctx, "%s: made. Next: cd %s && risec test %s.rise; README.md there says more.\n", name, name, name);
    driver_write(ctx, d, "-", next, strlen(next));
}
