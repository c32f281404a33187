/* A map from interned names to values that never changes: putting one more makes another map, which shares what it can. For scopes: leaving one is going on
 * with the map from before. Putting and getting take a time that grows with the logarithm of the number of names. */
#ifndef RISEC_SUPPORT_NAME_MAP_H
#define RISEC_SUPPORT_NAME_MAP_H

#include "support/base.h"

typedef struct NameMap NameMap; /* NULL: empty */

const NameMap *name_map_put(Ctx *ctx, const NameMap *map, const char *name, const void *value); /* hides the one of this name before */
const void *name_map_get(const NameMap *map, const char *name);                                 /* NULL: none */

#endif
