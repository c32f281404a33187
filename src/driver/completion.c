/* What shells read to complete the command line of risec: scripts for bash, zsh and fish, from the tables of verbs and options.
 *
 * A verb is the first word. What its other words may be follows from its usage, and what the value of an option may be from the
 * option's kind and argument. */
#include "driver/driver.h"
#include "ir/prim.h"

/* ---- what may stand there --------------------------------------------------------------------------------------- */

typedef enum Value { NO_VALUE, FILES, FOLDERS, CHOICES, FREE } Value;

static Value value_of(const OptRow *row)
{
    if (row->kind == OK_FLAG)
        return NO_VALUE;
    if (row->kind == OK_CHOICE)
        return CHOICES;
    if (row->kind != OK_TEXT)
        return FREE;
    bool files = strncmp(row->arg, "FILE", 4) == 0 || strcmp(row->arg, "OUT") == 0 || strcmp(row->arg, "TRACE") == 0;
    return files ? FILES : strcmp(row->arg, "DIR") == 0 ? FOLDERS : FREE;
}

static void put_choices(StrBuf *out, const OptRow *row)
{
    for (const char *at = row->arg; *at; at++)
        sb_putc(out, *at == '|' ? ' ' : *at);
}

static bool takes_programs(Verb verb) { return strstr(verb_rows[verb].usage, "FILE.rise") != NULL; }

/* The words that a verb takes, with a blank before each. */
static void put_operands(StrBuf *out, Verb verb)
{
    if (verb == VERB_HELP) {
        for (int k = 0; k < help_topic_count; k++)
            sb_printf(out, " %s", help_topics[k].name);
        for (int v = 0; v < VERB_COUNT; v++)
            sb_printf(out, " %s", v == VERB_COMPILE ? "compile" : verb_rows[v].name);
        for (int id = 0; id < P_COUNT; id++) {
            const char *name = prim_name((PrimId)id);
            /* Operators are no words to a shell. */
            if (name[0] >= 'a' && name[0] <= 'z')
                sb_printf(out, " %s", name);
        }
    } else if (verb == VERB_EXPLAIN) {
        for (int code = 0; code < (int)DIAG_CODE_COUNT; code++)
            sb_printf(out, " %s", diag_code_name((DiagCode)code));
    } else if (verb == VERB_CACHE) {
        sb_puts(out, " clear");
    }
}

static void put_verbs(StrBuf *out)
{
    for (int v = 0; v < VERB_COUNT; v++) {
        if (v != VERB_COMPILE)
            sb_printf(out, " %s", verb_rows[v].name);
    }
}

/* The first sentence of a help, in single quotes to come; a backslash before what `special` has. */
static void put_sentence(StrBuf *out, const char *help, const char *special, const char *quote)
{
    for (const char *at = help; *at && !(at[0] == '.' && (at[1] == ' ' || !at[1])); at++) {
        if (*at == '\'')
            sb_puts(out, quote);
        else if (strchr(special, *at))
            sb_printf(out, "\\%c", *at);
        else if (*at != '`')
            sb_putc(out, *at);
    }
}

/* ---- bash --------------------------------------------------------------------------------------------------------- */

/* The options whose value is of this kind, as a pattern of `case`; then what is done. */
static void bash_values(StrBuf *out, Value value, const char *action)
{
    const char *before = "    ";
    for (int id = 0; id < OPT_COUNT; id++) {
        const OptRow *row = &option_rows[id];
        if (row->hidden || value_of(row) != value)
            continue;
        sb_printf(out, "%s--%s", before, row->name);
        before = " | ";
        if (row->letter)
            sb_printf(out, " | -%c", row->letter);
    }
    sb_printf(out, ") %s ;;\n", action);
}

static void bash_verb(StrBuf *out, Verb verb)
{
    sb_printf(out, "    %s) options='", verb == VERB_COMPILE ? "*" : verb_rows[verb].name);
    for (int id = 0; id < OPT_COUNT; id++) {
        if (option_shown((OptId)id, verb))
            sb_printf(out, " --%s%s", option_rows[id].name, option_rows[id].kind == OK_FLAG ? "" : "=");
    }
    sb_puts(out, "' words='");
    put_operands(out, verb);
    sb_printf(out, "' programs=%s ;;\n", takes_programs(verb) ? "yes" : "");
}

void options_bash(StrBuf *out)
{
    sb_puts(out, "# bash completion for risec, made by `risec help --emit-docs=bash`\n"
                 "_risec_files() { # OPTION...: of compgen\n"
                 "    local path\n"
                 "    while IFS= read -r path; do COMPREPLY+=(\"$path\"); done < <(compgen \"$@\" -- \"$cur\")\n"
                 "    compopt -o filenames 2>/dev/null\n"
                 "}\n"
                 "_risec() {\n"
                 "    local cur=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} verb= options words programs\n"
                 "    COMPREPLY=()\n"
                 "    [ \"$COMP_CWORD\" -gt 1 ] && verb=${COMP_WORDS[1]}\n"
                 "    # A `=` is a word of its own.\n"
                 "    if [ \"$cur\" = = ]; then\n"
                 "        cur=\n"
                 "    elif [ \"$before\" = = ] && [ \"$COMP_CWORD\" -gt 2 ]; then\n"
                 "        before=${COMP_WORDS[COMP_CWORD-2]}\n"
                 "    fi\n"
                 "    case $before in\n");
    bash_values(out, FILES, "_risec_files -f; return");
    bash_values(out, FOLDERS, "_risec_files -d; return");
    bash_values(out, FREE, "return");
    for (int id = 0; id < OPT_COUNT; id++) {
        if (option_rows[id].hidden || value_of(&option_rows[id]) != CHOICES)
            continue;
        sb_printf(out, "    --%s) COMPREPLY=($(compgen -W '", option_rows[id].name);
        put_choices(out, &option_rows[id]);
        sb_puts(out, "' -- \"$cur\")); return ;;\n");
    }
    sb_puts(out, "    esac\n    case $verb in\n");
    for (int v = VERB_COUNT - 1; v >= 0; v--)
        bash_verb(out, (Verb)v);
    sb_puts(out, "    esac\n    [ \"$COMP_CWORD\" -eq 1 ] && words='");
    put_verbs(out);
    sb_puts(out, "'\n"
                 "    if [[ $cur == -* ]]; then\n"
                 "        COMPREPLY=($(compgen -W \"$options\" -- \"$cur\"))\n"
                 "        [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null\n"
                 "        return 0\n"
                 "    fi\n"
                 "    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
                 "    if [ -n \"$programs\" ]; then\n"
                 "        _risec_files -f -X '!*.rise'\n"
                 "        _risec_files -d\n"
                 "    fi\n"
                 "    return 0\n"
                 "}\n"
                 "complete -F _risec risec\n");
}

/* ---- zsh ---------------------------------------------------------------------------------------------------------- */

static const char ZSH_SPECIAL[] = "[]:\\", ZSH_QUOTE[] = "'\\''";
static const char ZSH_PROGRAMS[] = "_files -g \"*.rise\"";

/* An argument of _arguments: --name= or -n+, and no more than that for a flag. */
static void zsh_option(StrBuf *out, const OptRow *row, const char *dashes, const char *name, const char *takes)
{
    Value value = value_of(row);
    sb_printf(out, " \\\n      '%s%s%s%s[", row->many ? "*" : "", dashes, name, value == NO_VALUE ? "" : takes);
    put_sentence(out, row->help, ZSH_SPECIAL, ZSH_QUOTE);
    sb_putc(out, ']');
    if (value != NO_VALUE) {
        sb_putc(out, ':');
        put_sentence(out, value == CHOICES ? row->name : row->arg, ZSH_SPECIAL, ZSH_QUOTE);
        sb_putc(out, ':');
    }
    if (value == CHOICES) {
        sb_putc(out, '(');
        put_choices(out, row);
        sb_putc(out, ')');
    } else {
        sb_puts(out, value == FILES ? "_files" : value == FOLDERS ? "_files -/" : value == FREE ? " " : "");
    }
    sb_putc(out, '\'');
}

static void zsh_verb(StrBuf *out, Verb verb)
{
    bool compile = verb == VERB_COMPILE;
    sb_printf(out, "  %s)\n", compile ? "*" : verb_rows[verb].name);
    if (!compile)
        sb_puts(out, "    shift words\n    (( CURRENT-- ))\n");
    sb_puts(out, "    _arguments -s");
    for (int id = 0; id < OPT_COUNT; id++) {
        const OptRow *row = &option_rows[id];
        if (!option_shown((OptId)id, verb))
            continue;
        zsh_option(out, row, "--", row->name, "=");
        if (row->letter)
            zsh_option(out, row, "-", (char[]){row->letter, 0}, "+");
    }
    if (compile)
        sb_puts(out, " \\\n      '1: :_risec_first'");
    if (takes_programs(verb)) {
        sb_printf(out, " \\\n      '*:FILE.rise:%s'", ZSH_PROGRAMS);
    } else {
        sb_puts(out, " \\\n      '1: :(");
        put_operands(out, verb);
        sb_puts(out, ")'");
    }
    sb_puts(out, "\n    ;;\n");
}

void options_zsh(StrBuf *out)
{
    sb_puts(out, "#compdef risec\n"
                 "# zsh completion for risec, made by `risec help --emit-docs=zsh`\n"
                 "_risec_first() {\n"
                 "  local -a verbs=(");
    for (int v = 0; v < VERB_COUNT; v++) {
        if (v == VERB_COMPILE)
            continue;
        sb_printf(out, "\n    '%s:", verb_rows[v].name);
        put_sentence(out, verb_rows[v].help, "\\", ZSH_QUOTE);
        sb_putc(out, '\'');
    }
    sb_printf(out, ")\n  _describe command verbs\n  %s\n}\n_risec() {\n  local verb=\n  (( CURRENT > 2 )) && verb=$words[2]\n  case $verb in\n", ZSH_PROGRAMS);
    for (int v = VERB_COUNT - 1; v >= 0; v--)
        zsh_verb(out, (Verb)v);
    sb_puts(out, "  esac\n}\n_risec \"$@\"\n");
}

/* ---- fish --------------------------------------------------------------------------------------------------------- */

static const char FISH_SPECIAL[] = "\\", FISH_QUOTE[] = "\\'";

/* ` -n CONDITION`: the verb is one of the set. Compiling has no word: it is where none of the others stands. */
static void fish_condition(StrBuf *out, unsigned verbs)
{
    bool compile = verbs & 1u << VERB_COMPILE;
    unsigned named = compile ? OPT_ALL_VERBS & ~verbs : verbs;
    if (!named)
        return;
    sb_printf(out, " -n '%s__fish_seen_subcommand_from", compile ? "not " : "");
    for (int v = 0; v < VERB_COUNT; v++) {
        if (named & 1u << v)
            sb_printf(out, " %s", verb_rows[v].name);
    }
    sb_putc(out, '\'');
}

static void fish_option(StrBuf *out, const OptRow *row)
{
    sb_puts(out, "complete -c risec");
    fish_condition(out, row->verbs);
    sb_printf(out, " -l %s", row->name);
    if (row->letter)
        sb_printf(out, " -s %c", row->letter);
    Value value = value_of(row);
    if (value == CHOICES) {
        sb_puts(out, " -x -a '");
        put_choices(out, row);
        sb_putc(out, '\'');
    } else {
        sb_puts(out, value == FILES ? " -r -F" : value == FOLDERS ? " -x -a '(__fish_complete_directories)'" : value == FREE ? " -x" : "");
    }
    sb_puts(out, " -d '");
    put_sentence(out, row->help, FISH_SPECIAL, FISH_QUOTE);
    sb_puts(out, "'\n");
}

void options_fish(StrBuf *out)
{
    sb_puts(out, "# fish completion for risec, made by `risec help --emit-docs=fish`\ncomplete -c risec -f\n");
    unsigned programs = 0;
    for (int v = 0; v < VERB_COUNT; v++) {
        const VerbRow *row = &verb_rows[v];
        if (takes_programs((Verb)v))
            programs |= 1u << v;
        if (v != VERB_COMPILE) {
            sb_printf(out, "complete -c risec -n __fish_use_subcommand -a %s -d '", row->name);
            put_sentence(out, row->help, FISH_SPECIAL, FISH_QUOTE);
            sb_puts(out, "'\n");
        }
        if (v == VERB_HELP || v == VERB_EXPLAIN || v == VERB_CACHE) {
            sb_printf(out, "complete -c risec -n '__fish_seen_subcommand_from %s' -a '", row->name);
            put_operands(out, (Verb)v);
            sb_puts(out, "'\n");
        }
    }
    sb_puts(out, "complete -c risec");
    fish_condition(out, programs);
    sb_puts(out, " -k -a '(__fish_complete_suffix .rise)'\n");
    for (int id = 0; id < OPT_COUNT; id++) {
        if (!option_rows[id].hidden)
            fish_option(out, &option_rows[id]);
    }
}
