/* Sources, spans and diagnostics. Diagnostics are collected, never printed here; the driver renders them.
 *
 * A message says what the user wrote, with numbers. It has at most one hint. A hint that proposes a text has it as edits, which
 * work when they are applied together; one without edits explains. */
#ifndef RISEC_SUPPORT_DIAG_H
#define RISEC_SUPPORT_DIAG_H

#include "support/base.h"

/* Bytes [lo, hi) of a source. file 0 means "nowhere" (a command line, a built-in). */
typedef struct Span {
    uint32_t file, lo, hi;
} Span;
#define NO_SPAN ((Span){0, 0, 0})
Span span_join(Span a, Span b); /* the smallest span over both; a when they are in different files */
Span span_start(Span span);     /* the empty span before it, where a text can be inserted */
Span span_end(Span span);

typedef struct Source {
    const char *name; /* as shown to the user */
    const char *text; /* terminated */
    size_t size;
    const uint32_t *lines; /* where each line starts, in bytes */
    int line_count;        /* at least 1 */
    int lines_before;      /* its first line has the next number */
    size_t added;          /* bytes at its beginning that the user has not written */
    bool library;          /* built into the compiler: no text of the user's */
} Source;

typedef struct Sources {
    VEC(Source) list; /* file number f is list.at[f - 1] */
    int of_whole;     /* so many are those of Ctx.whole */
} Sources;

/* The text is not copied and must live as long as the context; the name is copied. */
uint32_t source_add(Ctx *ctx, const char *name, const char *text, size_t size);
/* A part of what the user types, whose first line has this number. */
uint32_t source_add_part(Ctx *ctx, const char *name, const char *text, size_t size, int first_line);
uint32_t source_add_library(Ctx *ctx, const char *name, const char *text, size_t size);
const Source *source_get(const Ctx *ctx, uint32_t file);
/* Whether the span is of text that the user has: not nowhere, and not in the library. */
bool span_is_users(const Ctx *ctx, Span span);
/* Where the line with this number begins; NULL: there is none. */
const char *source_line(const Source *source, int line);
int source_line_at(const Source *source, uint32_t at); /* the line of this byte, counted from 0 within the source */
uint32_t source_line_start(const Source *source, int line); /* of a line so counted; a byte order mark belongs to no line */
/* The file of a span as a command line names it; `FILE` where it has no name there. */
const char *source_argument(const Ctx *ctx, Span span);
/* 1-based line and column (in bytes) of a span's start. */
void source_position(const Ctx *ctx, Span span, int *line, int *column);

typedef enum DiagCode {
#define DIAG(code, title, explanation) code,
#include "support/diag_codes.def"
#undef DIAG
    DIAG_CODE_COUNT
} DiagCode;

typedef struct DiagNote {
    Span span;
    const char *text;
} DiagNote;

/* `text` in the place of what the span holds. */
typedef struct DiagEdit {
    Span span;
    const char *text;
} DiagEdit;

/* A hint that is given only if its edits mend what the message is about. */
typedef struct DiagTry {
    const char *help;
    VEC(DiagEdit) edits;
} DiagTry;

typedef struct Diag {
    DiagCode code;
    bool warning;
    bool high;        /* it is about what some strategy could lower, and none has */
    Span span;
    const char *message;
    const char *label; /* under the carets; may be NULL */
    VEC(DiagNote) notes;
    const char *help; /* the hint; may be NULL */
    VEC(DiagEdit) edits; /* of the hint */
    VEC(DiagTry) tries;  /* hints that come first, in this order; the driver tries them */
} Diag;

typedef struct Diags {
    VEC(Diag *) list;
    int errors, warnings;
    int dropped; /* beyond LIMIT_DIAGNOSTICS; counted in errors and warnings */
    Diag *spare; /* what is handed out for a diagnostic that is not recorded */
} Diags;

/* Never NULL. An error at the same span with the same code is recorded once: the second call's text is dropped. (With no
 * span, the texts must be equal too.) Which of error and warning it is follows from the code's first letter. */
Diag *diag_error(Ctx *ctx, DiagCode code, Span span, const char *fmt, ...) PRINTF_LIKE(4, 5);
/* An error that was found at `at`. In the library, where the user can mend nothing, that becomes a note that says what `there` is,
 * and the error stands at `users`. */
Diag *diag_error_of_user(Ctx *ctx, DiagCode code, Span at, Span users, const char *there, const char *fmt, ...) PRINTF_LIKE(6, 7);
Diag *diag_warning(Ctx *ctx, DiagCode code, Span span, const char *fmt, ...) PRINTF_LIKE(4, 5);
void diag_again(Ctx *ctx, Diag *diag); /* records one that was recorded before and taken away */
/* Adds those of `part`, a context inside of ctx, and takes them away there. */
void diags_keep(Ctx *ctx, Ctx *part);
/* The same, to a list of ctx's that is put aside. */
void diags_keep_aside(Ctx *ctx, Diags *aside, Ctx *part);
/* Adds those that were put aside. */
void diags_again(Ctx *ctx, const Diags *diags);
void diag_label(Ctx *ctx, Diag *diag, const char *fmt, ...) PRINTF_LIKE(3, 4);
void diag_note(Ctx *ctx, Diag *diag, Span span, const char *fmt, ...) PRINTF_LIKE(4, 5);
/* The words of the hint. Those of an earlier call, and its edits, are forgotten. */
void diag_help(Ctx *ctx, Diag *diag, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* One more edit of the hint. Edits of a hint do not overlap. */
void diag_edit(Ctx *ctx, Diag *diag, Span span, const char *fmt, ...) PRINTF_LIKE(4, 5);
/* A hint made of its edit: in the words `help` a `$` stands for the new text, in backquotes. Nowhere (NO_SPAN) the hint only explains. */
void diag_propose(Ctx *ctx, Diag *diag, Span span, const char *help, const char *fmt, ...) PRINTF_LIKE(5, 6);
/* The hint so far is given only if its edits mend what the message is about; what follows is another one, for where they do not. */
void diag_or_else(Ctx *ctx, Diag *diag);
/* By the name of its code: the text cannot be read, and nothing else is known of it. A type that lacks (E0115) is no such error. */
bool diag_name_is_of_grammar(const char *code);
/* Where nothing tries them, the likeliest hint is the one, and the only one. */
void diag_likeliest(Diag *diag);
/* Takes the hint away for a moment, so that others come before it. */
DiagTry diag_put_aside(Diag *diag);
void diag_put_back(Ctx *ctx, Diag *diag, DiagTry hint); /* the one so far comes first, as by diag_or_else */

const char *diag_code_name(DiagCode code);        /* "E0303" */
const char *diag_code_title(DiagCode code);
const char *diag_code_explanation(DiagCode code);
/* DIAG_CODE_COUNT when there is no such code. Case does not matter. */
DiagCode diag_code_find(const char *name);

/* The recorded ones in order of their place: diags.list.n of them. */
Diag **diag_sorted(Ctx *ctx);
/* All collected diagnostics as text, as `risec check` prints them; `colour`: ANSI colours. */
void diag_render(Ctx *ctx, StrBuf *out, bool colour);
/* The same as one JSON object on one line: `risec help json`. */
void diag_render_json(Ctx *ctx, StrBuf *out);

#endif
