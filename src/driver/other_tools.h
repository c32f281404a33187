/* Words of other tools' command lines: what a newcomer wrote, and what risec has in its place. For messages only; the table is other_tools.def. */
#ifndef RISEC_DRIVER_OTHER_TOOLS_H
#define RISEC_DRIVER_OTHER_TOOLS_H

#include "driver/options.h"

typedef enum OtherPlace { OTHER_VERB, OTHER_OPTION, OTHER_LETTER, OTHER_INPUT, OTHER_CHOICE } OtherPlace;

/* The help for this word; NULL where no other tool is known to have it. */
const char *other_tools_help(OtherPlace place, const char *word);
/* The first word of the line, if it is a verb of another tool or a misspelt one: reports, and gives true. */
bool other_tools_verb(Ctx *ctx, const CommandLine *line);
/* `n=1000 xs=ones` beside a file: reports that they want --set and --arg, and gives true. */
bool other_tools_pairs(Ctx *ctx, const CommandLine *line);
/* `1e6` as an integer; false where it is none. */
bool other_tools_size(const char *text, int64_t *value);

#endif
