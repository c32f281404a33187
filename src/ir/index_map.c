#include "ir/index_map.h"

/* A reader for the index maps of prims.def. Names are the indices left of the arrow and the nat parameters of the row's header. */
typedef struct MapReader {
    Ctx *ctx;
    const NatFacts *facts;
    const char *at;
    PrimId prim;
    int n_in;
    const char *in_name[INDEX_MAP_RANK];
    size_t in_len[INDEX_MAP_RANK];
    const Nat *in, *nats;
} MapReader;

static void skip_spaces(MapReader *r)
{
    while (*r->at == ' ')
        r->at++;
}

static size_t name_length(const char *at)
{
    size_t n = 0;
    while ((at[n] >= 'a' && at[n] <= 'z') || (at[n] >= 'A' && at[n] <= 'Z'))
        n++;
    return n;
}

int index_map_rank(PrimId prim, bool write)
{
    const char *map = write ? prim_rows[prim].write : prim_rows[prim].read;
    int rank = 0;
    while (*map && !(map[0] == '-' && map[1] == '>')) {
        size_t n = name_length(map);
        rank += n > 0;
        map += n ? n : 1;
    }
    return rank;
}

static Nat read_sum(MapReader *r);

static Nat lookup(MapReader *r, const char *name, size_t len)
{
    for (int i = 0; i < r->n_in; i++)
        if (r->in_len[i] == len && !memcmp(r->in_name[i], name, len))
            return r->in[i];
    const Item *header = prim_header(r->ctx, r->prim);
    int nat = 0;
    for (int i = 0; i < header->n_params; i++) {
        const Param *p = &header->params[i];
        if (!ast_is_nat(p->kind))
            continue;
        if (p->name && strlen(p->name) == len && !memcmp(p->name, name, len))
            return r->nats[nat];
        nat++;
    }
    return nat_error(r->ctx);
}

static bool eat(MapReader *r, char c)
{
    skip_spaces(r);
    if (*r->at != c)
        return false;
    r->at++;
    return true;
}

static Nat read_atom(MapReader *r)
{
    Ctx *ctx = r->ctx;
    skip_spaces(r);
    if (eat(r, '(')) {
        Nat inner = read_sum(r);
        eat(r, ')');
        return inner;
    }
    if (*r->at >= '0' && *r->at <= '9') {
        int64_t value = 0;
        while (*r->at >= '0' && *r->at <= '9')
            value = value * 10 + (*r->at++ - '0');
        return nat_const(ctx, value);
    }
    const char *name = r->at;
    size_t len = name_length(name);
    if (!len)
        return nat_error(ctx);
    r->at += len;
    if (*r->at != '(')
        return lookup(r, name, len);
    r->at++;
    Nat a = read_sum(r);
    eat(r, ',');
    Nat b = read_sum(r);
    eat(r, ')');
    return len == 3 && !memcmp(name, "min", 3) ? nat_min(ctx, a, b) : nat_max(ctx, a, b);
}

/* Rows of no elements have no element whose index this would be. */
static Nat quotient(MapReader *r, Nat a, Nat b, Nat (*op)(Ctx *, Nat, Nat))
{
    return nat_is(b, 0) ? b : nat_simplify(r->ctx, r->facts, op(r->ctx, a, b));
}

static Nat read_product(MapReader *r)
{
    Ctx *ctx = r->ctx;
    Nat a = read_atom(r);
    for (;;) {
        if (eat(r, '*'))
            a = nat_mul(ctx, a, read_atom(r));
        else if (eat(r, '/'))
            a = quotient(r, a, read_atom(r), nat_div);
        else if (eat(r, '%'))
            a = quotient(r, a, read_atom(r), nat_mod);
        else
            return a;
    }
}

static Nat read_sum(MapReader *r)
{
    Ctx *ctx = r->ctx;
    Nat a = read_product(r);
    for (;;) {
        if (eat(r, '+'))
            a = nat_add(ctx, a, read_product(r));
        else if (eat(r, '-'))
            a = nat_sub(ctx, a, read_product(r));
        else
            return a;
    }
}

int index_map_apply(Ctx *ctx, const NatFacts *facts, PrimId prim, bool write, const Nat *nats, const Nat *in, Nat *out, IndexBound *bound)
{
    const char *map = write ? prim_rows[prim].write : prim_rows[prim].read;
    MapReader r = {.ctx = ctx, .facts = facts, .at = map, .prim = prim, .in = in, .nats = nats};
    while (!(r.at[0] == '-' && r.at[1] == '>')) {
        size_t len = name_length(r.at);
        if (len) {
            r.in_name[r.n_in] = r.at;
            r.in_len[r.n_in++] = len;
        }
        r.at += len ? len : 1;
    }
    r.at += 2;
    *bound = (IndexBound){0};
    int n = 0;
    skip_spaces(&r);
    while (*r.at && *r.at != '|' && n < INDEX_MAP_RANK) {
        out[n++] = read_sum(&r);
        eat(&r, ',');
        skip_spaces(&r);
    }
    if (eat(&r, '|')) {
        bound->a = read_sum(&r);
        skip_spaces(&r);
        bound->strict = r.at[1] != '=';
        r.at += bound->strict ? 1 : 2;
        bound->b = read_sum(&r);
    }
    return n;
}
