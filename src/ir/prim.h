/* The table of primitives (prims.def): names, headers, obligations, levels, index maps, laws, documentation.
 *
 * The enum, lookup, signatures, `risec help`, and docs/primitives.md come from the one table. */
#ifndef RISEC_IR_PRIM_H
#define RISEC_IR_PRIM_H

#include "frontend/ast.h"
#include "ir/costs.h"

typedef enum PrimId {
#define PRIM(id, ...) P_##id,
#include "ir/prims.def"
#undef PRIM
    P_COUNT
} PrimId;

/* What a primitive is to the lowering. */
typedef enum PrimLevel {
    LEVEL_VIEW,   /* moves no data: only changes which index is read or written */
    LEVEL_HIGH,   /* order left open: lowered by strategies */
    LEVEL_SEQ,    /* one thread, in order */
    LEVEL_GRID,   /* mapGlobal and what joins blocks */
    LEVEL_BLOCK, LEVEL_THREAD, LEVEL_WARP, LEVEL_LANE,
    LEVEL_MEM,    /* stores what its argument computes */
    LEVEL_SHFL,   /* moves registers between the lanes of a warp */
    LEVEL_SCALAR  /* a function of scalars */
} PrimLevel;

typedef struct PrimRow {
    const char *name;   /* as written: "split"; operators too: "+" */
    const char *header; /* a definition's header without name and body: "{n: nat} {t: data} (k: nat) (xs: n.t): (n/k).k.t" */
    const char *where;  /* obligations, comma separated; or "" */
    PrimLevel level;
    const char *options; /* names allowed in its brackets: "axis", "pad swizzle inPlace", ...; or "" */
    const char *read;   /* view: index map, result index to source index: "i j -> i*k + j"; "" when it is no plain map */
    const char *write;  /* view: the inverse, for the writing side: "p -> p / k, p % k"; with "| cond" when bounded */
    const char *law;    /* what its value is, as an equation */
    const char *doc;
    CostId cost;        /* SCALAR: what it takes; else COST_COUNT */
    bool lowered;       /* this version compiles it to CUDA; if not, only the reference interpreter runs it */
} PrimRow;

extern const PrimRow prim_rows[P_COUNT];

/* P_COUNT when there is none. `name` is interned or not. */
PrimId prim_find(const char *name);
static inline const char *prim_name(PrimId id) { return prim_rows[id].name; }
static inline bool prim_is_scatter(PrimId id) { return id == P_scatter || id == P_scatterUnchecked || id == P_scatterDrop; }
static inline bool prim_is_lowered(PrimId id) { return prim_rows[id].lowered; }
/* Whether its functions are applied only to elements of its last argument, which then has one. */
bool prim_takes_elements(PrimId id);
/* The scalar function that has the same value when the operands change places: itself where they commute, `>` for `<`. P_COUNT: none. */
PrimId prim_mirrored(PrimId id);
/* The comparison that holds where this one does not, if no operand is NaN; P_COUNT: it is none. */
PrimId prim_opposite(PrimId id);
static inline bool prim_compares(PrimId id) { return prim_opposite(id) != P_COUNT; }
/* What a lowering may regroup: the table of docs/language.md, "Operators and laws". The first argument is the operator. */
typedef struct PrimRegroups {
    PrimId id;
    bool has_unit;    /* the second argument is the operator's unit */
    bool from_unit;   /* each part starts from it; else the laws are needed of all values */
    bool commutative; /* needed; else it is used where it is declared */
} PrimRegroups;
/* Of two values of one type: associative and commutative, with a unit (scalar_unit). */
bool prim_has_laws(PrimId id);
/* NULL: the text is the order. */
const PrimRegroups *prim_regroups(PrimId id);
/* The parsed header (parsed on first use, kept in the context). Its where-conditions are in item->where. */
const Item *prim_header(Ctx *ctx, PrimId id);
/* `(k: nat) -> n.t -> (n/k).k.t`: the header in the notation of the manual. */
const char *prim_signature(Ctx *ctx, PrimId id);
/* What a scalar function takes and gives, as its header says: values of one type, which is any of `types`, or bools. */
typedef struct PrimOperands {
    int n;
    unsigned types;     /* bit s: the type may be scalar s */
    bool is_bool[3];    /* operand k is a bool whatever the type is */
    bool gives_bool;
} PrimOperands;
/* NULL where the id is none of them: those with a size or with two types, `cast` and `indexOr`, have their own forms. */
const PrimOperands *prim_operands(Ctx *ctx, PrimId id);
/* The document docs/primitives.md. */
void prim_manual(Ctx *ctx, StrBuf *out);
/* What `risec help NAME` prints. */
void prim_help(Ctx *ctx, StrBuf *out, PrimId id);

#endif
