/* UTF-8, as far as showing text needs it. Widths and combining are not known here: one code point is one column. */
#ifndef RISEC_SUPPORT_UTF8_H
#define RISEC_SUPPORT_UTF8_H

#include "support/base.h"

/* The bytes of the first code point of the text, or 0 when it is not UTF-8 (or size is 0). */
size_t utf8_decode(const char *text, size_t size, uint32_t *point);
/* False for controls and for marks that would reorder or hide the text around them. */
bool utf8_printable(uint32_t point);
/* Is the text in UTF-16? It begins with a mark that says so, or each second byte of its first ones
 * is 0. */
bool text_is_utf16(const char *text, size_t size);

#endif
