/* Words that say how the values of an input are made: `--arg xs=uniform`, and `expect ... for xs =
 * uniform`. */
#ifndef RISEC_SUPPORT_INPUT_WORDS_H
#define RISEC_SUPPORT_INPUT_WORDS_H

#include <stdbool.h>
#include <string.h>

static const char *const input_words[] = {"iota",   "ones",    "zeros", "uniform",
                                          "normal", "special", "small"};
enum { N_INPUT_WORDS = sizeof input_words / sizeof *input_words };

static inline bool is_input_word(const char *text)
{
    int i = 0;
    while (i < N_INPUT_WORDS && strcmp(text, input_words[i]) != 0)
        i++;
    return i < N_INPUT_WORDS;
}

#endif
