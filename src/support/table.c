#include "support/table.h"

typedef struct TableSlot {
    const void *key; /* NULL: free */
    void *value;
} TableSlot;

static TableSlot *find(TableSlot *slots, int cap, const void *key)
{
    size_t i = (size_t)(((uintptr_t)key >> 4) * 0x9e3779b97f4a7c15u >> 20) & (size_t)(cap - 1);
    while (slots[i].key && slots[i].key != key)
        i = (i + 1) & (size_t)(cap - 1);
    return &slots[i];
}

void *table_get(const Table *table, const void *key) { return table->cap ? find(table->slots, table->cap, key)->value : NULL; }

void table_put(Ctx *ctx, Table *table, const void *key, void *value)
{
    if (2 * table->n >= table->cap) {
        int cap = table->cap ? 2 * table->cap : 32;
        TableSlot *slots = NEWN(ctx, TableSlot, cap);
        for (int i = 0; i < table->cap; i++)
            if (table->slots[i].key)
                *find(slots, cap, table->slots[i].key) = table->slots[i];
        table->slots = slots;
        table->cap = cap;
    }
    TableSlot *slot = find(table->slots, table->cap, key);
    table->n += !slot->key;
    *slot = (TableSlot){key, value};
}
