/* Lines of CUDA C that are too long are broken, at the loosest operator or comma that lets the
 * first part fit. What is not broken: directives, and words and names that are as long. */
#include "codegen/cuda_internal.h"

enum { INDENT = 4, LEAST_PART = 20, LOOSER = 16 };

/* Where a line may be broken, which is at a space: what binds least comes first. */
typedef enum Looseness {
    CLAUSE, COMMA, BRACE, CHOICE, OR, AND, SUM, PRODUCT, VALUE,
    LONG_VALUE = 8 * LOOSER /* the value has to be broken, too */
} Looseness;

typedef struct Line {
    StrBuf *out;
    const char *text;
    size_t len, indent;
    int depth; /* of brackets, where the part that is printed begins */
} Line;

static bool is_at(const Line *line, size_t i, const char *word)
{
    size_t n = strlen(word);
    return i + n <= line->len && !memcmp(line->text + i, word, n);
}

/* What follows the space i: how loose it binds, or -1. */
static int looseness(const Line *line, size_t i)
{
    static const struct { const char *before; Looseness how; } operators[] = {
        {"{ ", BRACE}, {"? ", CHOICE}, {": ", CHOICE}, {"|| ", OR}, {"&& ", AND},
        {"+ ", SUM},   {"- ", SUM},    {"* ", PRODUCT}, {"/ ", PRODUCT}};
    char last = i ? line->text[i - 1] : ' ';
    if (last == ';' || (last == '>' && is_at(line, line->indent, "template <")))
        return CLAUSE;
    if (last == ',')
        return is_at(line, i + 1, "[&]") ? -1 : COMMA;
    if (last == '=' && !is_at(line, i - 2, "==") && !is_at(line, i - 2, "!=") &&
        !is_at(line, i - 2, "<=") && !is_at(line, i - 2, ">="))
        return VALUE;
    for (size_t k = 0; k < sizeof operators / sizeof *operators; k++)
        if (is_at(line, i + 1, operators[k].before))
            return operators[k].how;
    return -1;
}

static size_t behind_string(const Line *line, size_t i)
{
    for (i++; i < line->len && line->text[i] != '"'; i++)
        i += line->text[i] == '\\';
    return i;
}

/* How much deeper in brackets the text is from character i on. */
static int deeper(const Line *line, size_t i)
{
    char c = line->text[i], last = i ? line->text[i - 1] : ' ';
    if (is_at(line, i, "<<<") || c == '(' || c == '[' || c == '{')
        return 1;
    if (is_at(line, i, ">>>") || c == ')' || c == ']' || c == '}')
        return -1;
    if (c == '<' && last != ' ' && last != '<') /* of a template: others have spaces around */
        return 1;
    return c == '>' && last != ' ' && last != '>' && last != '-' && last != '<' ? -1 : 0;
}

/* The space at which to break what begins at `from`, and is printed behind `margin` columns; 0:
 * there is none. */
static size_t place(Line *line, size_t from, size_t margin)
{
    size_t best = 0;
    int depth = line->depth, least = INT32_MAX, depth_there = depth;
    size_t start = from ? from : line->indent, end = from + CUDA_WIDTH - margin + 1;
    for (size_t i = start; i < line->len && i < end; i++) {
        char c = line->text[i];
        if (c == '"')
            i = behind_string(line, i);
        depth += deeper(line, i);
        int how = c == ' ' ? looseness(line, i) : -1;
        if (how == VALUE && line->len - i - 1 + line->indent + INDENT > CUDA_WIDTH)
            how = LONG_VALUE;
        if (how < 0 || (i <= start + LEAST_PART && how != VALUE) || depth * LOOSER + how > least)
            continue;
        least = depth * LOOSER + how;
        depth_there = depth;
        best = i;
    }
    line->depth = depth_there;
    return best;
}

static void put_margin(StrBuf *out, size_t n)
{
    while (n--)
        sb_putc(out, ' ');
}

static void put_code(Line *line)
{
    size_t from = 0, margin = 0;
    while (line->len - from + margin > CUDA_WIDTH) {
        size_t at = place(line, from, margin);
        if (!at)
            break;
        put_margin(line->out, margin);
        sb_putn(line->out, line->text + from, at - from);
        sb_putc(line->out, '\n');
        from = at + 1;
        margin = line->indent + INDENT;
    }
    put_margin(line->out, margin);
    sb_putn(line->out, line->text + from, line->len - from);
    sb_putc(line->out, '\n');
}

/* Where a line of the comment ends that has room for so much: behind a clause, if that is not too
 * early, else behind a word; a word that is too long stands alone. */
static size_t end_of_line(const Line *line, size_t from, size_t room)
{
    size_t word = 0, clause = 0, i = from;
    if (line->len - from <= room)
        return line->len;
    for (int depth = 0; i < line->len && (i <= from + room || !word); i++) {
        const char before = i > from ? line->text[i - 1] : ' ';
        depth += (line->text[i] == '(') - (line->text[i] == ')');
        if (line->text[i] != ' ' || before == ' ')
            continue;
        word = i;
        if (depth == 0 && strchr(".;:,", before) && i - from >= room / 2)
            clause = i;
    }
    return clause ? clause : word ? word : line->len;
}

/* The comment that begins at `from`, on lines of its own; what is set in goes on further in. */
static void put_comment(const Line *line, size_t from)
{
    size_t in = 0, first = from;
    while (from + in < line->len && line->text[from + in] == ' ')
        in++;
    for (from += in; from < line->len; first = 0) {
        const size_t margin = in && !first ? in + 2 : in, end = end_of_line(line, from, CUDA_WIDTH - line->indent - 3 - margin);
        put_margin(line->out, line->indent);
        sb_puts(line->out, "// ");
        put_margin(line->out, margin);
        sb_putn(line->out, line->text + from, end - from);
        sb_putc(line->out, '\n');
        from = end + 1;
    }
}

static size_t find_comment(const Line *line)
{
    for (size_t i = line->indent; i < line->len; i++) {
        if (line->text[i] == '"')
            i = behind_string(line, i);
        else if (is_at(line, i, "// "))
            return i;
    }
    return line->len;
}

static void put_line(StrBuf *out, const char *text, size_t len)
{
    Line line = {out, text, len, 0, 0};
    while (line.indent < len && text[line.indent] == ' ')
        line.indent++;
    if (len <= CUDA_WIDTH || text[line.indent] == '#') {
        sb_putn(out, text, len);
        sb_putc(out, '\n');
        return;
    }
    size_t comment = find_comment(&line);
    if (comment < len)
        put_comment(&line, comment + 3);
    if (comment == line.indent)
        return;
    if (comment < len)
        line.len = comment;
    while (line.text[line.len - 1] == ' ')
        line.len--;
    put_code(&line);
}

static bool any_wide(const char *text, size_t len)
{
    size_t column = 0;
    for (size_t i = 0; i < len && column <= CUDA_WIDTH; i++)
        column = text[i] == '\n' ? 0 : column + 1;
    return column > CUDA_WIDTH;
}

void cuda_wrap(StrBuf *out, size_t from)
{
    size_t len = out->len - from;
    if (!any_wide(out->text + from, len))
        return;
    char *text = NEWN(out->ctx, char, len);
    memcpy(text, out->text + from, len);
    out->len = from;
    for (size_t i = 0, end; i < len; i = end + 1) {
        const char *newline = memchr(text + i, '\n', len - i);
        end = newline ? (size_t)(newline - text) : len;
        put_line(out, text + i, end - i);
    }
}
