/* Manual pages, in roff: risec.1 and one for each verb, from the tables of verbs and options and the topics of `risec help`. */
#include "driver/driver.h"
#include "version.h"

/* ---- roff ------------------------------------------------------------------------------------------------------- */

/* roff takes a hyphen for a place to break, and other signs for those of typography. What stands in back quotes is bold. */
static void put_text(StrBuf *out, const char *text, size_t n)
{
    bool bold = false;
    /* A line that begins so would be a request. */
    if (n && (*text == '.' || *text == '\''))
        sb_puts(out, "\\&");
    for (const char *at = text; at < text + n; at++) {
        switch (*at) {
        case '-':
            sb_puts(out, "\\-");
            break;
        case '\\':
            sb_puts(out, "\\e");
            break;
        case '^':
            sb_puts(out, "\\(ha");
            break;
        case '~':
            sb_puts(out, "\\(ti");
            break;
        case '\'':
            sb_puts(out, "\\(aq");
            break;
        case '`':
            bold = !bold;
            sb_puts(out, bold ? "\\fB" : "\\fR");
            break;
        default:
            sb_putc(out, *at);
        }
    }
}

static void put(StrBuf *out, const char *text) { put_text(out, text, strlen(text)); }

/* Lines with an indent stay as they are; the others are paragraphs. */
static void put_topic(StrBuf *out, const char *text)
{
    bool literal = false;
    while (*text) {
        size_t n = strcspn(text, "\n");
        if (n && (*text == ' ') != literal) {
            literal = !literal;
            sb_puts(out, literal ? ".nf\n" : ".fi\n");
        }
        if (n)
            put_text(out, text, n);
        else
            sb_puts(out, ".PP");
        sb_putc(out, '\n');
        text += n + (text[n] == '\n');
    }
    if (literal)
        sb_puts(out, ".fi\n");
}

/* The names in capitals are what the user puts in. */
static void put_usage(StrBuf *out, const char *usage)
{
    sb_puts(out, "\\fBrisec\\fR");
    while (*usage) {
        size_t n = strcspn(usage, " ");
        char first = usage[*usage == '['];
        bool fixed = first == '-' || (first >= 'a' && first <= 'z');
        sb_puts(out, fixed ? " \\fB" : " \\fI");
        put_text(out, usage, n);
        sb_puts(out, "\\fR");
        usage += n + (usage[n] == ' ');
    }
    sb_putc(out, '\n');
}

/* The name of a page: risec, or risec-run. */
static void put_name(StrBuf *out, Verb verb)
{
    sb_puts(out, "risec");
    if (verb != VERB_COMPILE)
        sb_printf(out, "\\-%s", verb_rows[verb].name);
}

/* ---- sections ----------------------------------------------------------------------------------------------------- */

/* What a verb does, as `apropos` shows it: the first words of its help. */
static void put_summary(StrBuf *out, Verb verb)
{
    const char *help = verb_rows[verb].help;
    size_t n = strlen(help);
    for (size_t k = 0; k < n; k++) {
        if (strchr(".:;", help[k]) && (help[k + 1] == ' ' || !help[k + 1]))
            n = k;
    }
    sb_putc(out, (char)(help[0] - 'A' + 'a'));
    put_text(out, help + 1, n - 1);
}

static void put_options(StrBuf *out, Verb verb)
{
    sb_puts(out, ".SH OPTIONS\n");
    for (int id = 0; id < OPT_COUNT; id++) {
        const OptRow *row = &option_rows[id];
        if (!option_shown((OptId)id, verb))
            continue;
        sb_puts(out, ".TP\n\\fB");
        if (row->letter)
            sb_printf(out, "\\-%c\\fR, \\fB", row->letter);
        sb_puts(out, "\\-\\-");
        put(out, row->name);
        sb_puts(out, "\\fR");
        if (row->arg[0]) {
            sb_puts(out, row->kind == OK_CHOICE ? "=\\fI" : " \\fI");
            put(out, row->arg);
            sb_puts(out, "\\fR");
        }
        sb_putc(out, '\n');
        put(out, row->help);
        sb_putc(out, '\n');
    }
}

static void put_section(StrBuf *out, const char *title, const char *topic)
{
    sb_printf(out, ".SH %s\n", title);
    put_topic(out, help_topic_text(topic));
}

static void put_verbs(StrBuf *out)
{
    sb_puts(out, ".SH COMMANDS\n");
    for (int v = 0; v < VERB_COUNT; v++) {
        if (v == VERB_COMPILE)
            continue;
        sb_puts(out, ".TP\n");
        put_usage(out, verb_rows[v].usage);
        put(out, verb_rows[v].help);
        sb_puts(out, "\nSee\n.BR ");
        put_name(out, (Verb)v);
        sb_puts(out, " (1).\n");
    }
}

void options_man(StrBuf *out, Verb verb)
{
    const VerbRow *row = &verb_rows[verb];
    sb_puts(out, ".TH RISEC");
    for (const char *at = row->name; *at; at++)
        sb_printf(out, "%s%c", at == row->name ? "\\-" : "", *at - 'a' + 'A');
    sb_puts(out, " 1 \"\" \"risec " RISEC_VERSION "\" \"User Commands\"\n.SH NAME\n");
    put_name(out, verb);
    sb_puts(out, " \\- ");
    if (verb == VERB_COMPILE)
        put(out, "compile RISE, a language of data-parallel patterns, to CUDA C");
    else
        put_summary(out, verb);
    sb_puts(out, "\n.SH SYNOPSIS\n");
    put_usage(out, row->usage);
    sb_puts(out, ".SH DESCRIPTION\n");
    put(out, row->help);
    sb_putc(out, '\n');
    const char *topic = help_topic_text(verb == VERB_COMPILE ? "emit" : verb == VERB_TUNE ? "tuning" : row->name);
    if (topic) {
        sb_puts(out, ".PP\n");
        put_topic(out, topic);
    }
    if (strstr(row->usage, "FILE.rise")) {
        sb_puts(out, ".PP\n");
        put(out, "`-` as FILE.rise is standard input.\n");
    }
    if (verb == VERB_COMPILE)
        put_verbs(out);
    put_options(out, verb);
    if (option_shown(OPT_ARG, verb))
        put_section(out, "INPUTS", "inputs");
    put_section(out, "EXIT STATUS", "exit");
    put_section(out, "ENVIRONMENT", "environment");
    if (verb == VERB_COMPILE)
        put_section(out, "EXAMPLES", "examples");
    sb_puts(out, ".SH SEE ALSO\n");
    put(out, verb == VERB_COMPILE ? "`risec help topics` lists what else there is to read.\n" : "`risec`(1), `risec help topics`\n");
}
