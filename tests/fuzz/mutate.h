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

/* One type, number, operator or primitive becomes another of its kind wherever it stands: then a
 * program is well typed still, more often. The caller frees it. */
Text exchange_all(const Text *program, uint64_t seed);
/* One number becomes one at which something ends: what is worked out with it may leave its type. The
 * caller frees it. */
Text number_at_limit(const Text *program, uint64_t seed);
/* `program` with some items of `other`, or all. Where both have an item of one name, that of
 * `other` gets another. The caller frees it. */
Text join_items(const Text *program, const Text *other, uint64_t seed);

#endif
