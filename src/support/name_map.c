#include "support/name_map.h"

/* A tree ordered by two bits of the name's hash a level; names of one hash go on below [0]. The hash is of the letters, not of the address, so that the same program
 * takes the same memory in each run. */
struct NameMap {
    const char *name;
    const void *value;
    const NameMap *below[4];
};

static uint64_t hash_of(const char *name)
{
    uint64_t x = 0;
    for (; *name; name++)
        x = (x + (unsigned char)*name) * 0x9e3779b97f4a7c15u;
    return x ^ x >> 32;
}

const void *name_map_get(const NameMap *map, const char *name)
{
    for (uint64_t hash = hash_of(name); map; hash >>= 2) {
        if (map->name == name)
            return map->value;
        map = map->below[hash & 3];
    }
    return NULL;
}

const NameMap *name_map_put(Ctx *ctx, const NameMap *map, const char *name, const void *value)
{
    const NameMap *whole = NULL, **at = &whole;
    for (uint64_t hash = hash_of(name);; hash >>= 2) {
        NameMap *copy = NEW(ctx, NameMap);
        bool here = !map || map->name == name;
        if (map)
            *copy = *map;
        *at = copy;
        if (here) {
            copy->name = name;
            copy->value = value;
            return whole;
        }
        at = &copy->below[hash & 3];
        map = *at;
    }
}
