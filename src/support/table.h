/* A map from addresses to values, in the context's arena. Only for finding, never for order. */
#ifndef RISEC_SUPPORT_TABLE_H
#define RISEC_SUPPORT_TABLE_H

#include "support/base.h"

typedef struct Table {
    struct TableSlot *slots; /* open addressing */
    int cap, n;
} Table; /* all zero: empty */

void *table_get(const Table *table, const void *key); /* NULL: none */
void table_put(Ctx *ctx, Table *table, const void *key, void *value); /* in place of the one before; key is not NULL */

#endif
