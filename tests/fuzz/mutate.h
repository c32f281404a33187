/* Damages programs as people do: tokens, subterms, sizes and types are exchanged, taken out and doubled. */
#ifndef RISEC_TESTS_MUTATE_H
#define RISEC_TESTS_MUTATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Text {
    char *at; /* from malloc, with a zero byte behind it */
    size_t size;
} Text;

/* One to three changes of `program`; what comes from elsewhere is of `other`. The caller frees it. The same for the same seed. */
Text mutate(const Text *program, const Text *other, uint64_t seed);

#endif
