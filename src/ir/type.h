/* Types, hash-consed: equal types are the same pointer (once metas are resolved). Sizes in them are nats in normal form. */
#ifndef RISEC_IR_TYPE_H
#define RISEC_IR_TYPE_H

#include "ir/nat.h"

typedef enum Scalar {
    SC_BOOL, SC_I8, SC_I16, SC_I32, SC_I64, SC_U8, SC_U16, SC_U32, SC_U64, SC_F16, SC_BF16, SC_F32, SC_F64,
    SC_COUNT
} Scalar;

const char *scalar_name(Scalar s); /* "f32" */
int scalar_bytes(Scalar s);        /* in memory; bool: 1 */
bool scalar_is_float(Scalar s);
bool scalar_is_int(Scalar s);      /* signed or unsigned; not bool */
bool scalar_is_signed(Scalar s);   /* integers only */
bool scalar_find(const char *name, Scalar *s);

typedef enum TypeKind {
    TY_ERROR,  /* absorbs: whatever it meets was reported before */
    TY_SCALAR, /* scalar */
    TY_IDX,    /* size: an integer in [0, size) */
    TY_VEC,    /* size, elem (a scalar) */
    TY_ARRAY,  /* size, elem */
    TY_TUPLE,  /* items */
    TY_META    /* inference only: stands for a numeric scalar (a literal's type) or any data; never in finished core */
} TypeKind;

typedef enum MetaKind { META_ANY, META_NUM /* integer literal */, META_FLOAT /* literal with a point */ } MetaKind;

typedef struct TypeNode TypeNode;
typedef const TypeNode *Type;
struct TypeNode {
    TypeKind kind;
    uint32_t id, hash;
    Scalar scalar;
    Nat size;
    Type elem;
    int n_items;
    const Type *items;
    int meta; /* META: index in the elaborator's table */
    bool has_meta;
};

/* A part that is TY_ERROR gives TY_ERROR. A size that is nat_error stays in the type: who made it reports it. */
Type type_error(Ctx *ctx);
Type type_scalar(Ctx *ctx, Scalar s);
Type type_idx(Ctx *ctx, Nat size);
Type type_vec(Ctx *ctx, Nat width, Type elem);
Type type_array(Ctx *ctx, Nat size, Type elem);
Type type_tuple(Ctx *ctx, int n, const Type *items);
Type type_meta(Ctx *ctx, int index);

/* Scalars, idx, vectors of them: what fits one register. */
bool type_is_scalar_like(Type t);
/* The scalar that represents it: idx is I32 or I64 by its size (I64 when not provably below 2^31), a vector its element's. */
Scalar type_scalar_of(Ctx *ctx, Type t);
bool type_is_total(Type t); /* can the blocks of a grid give each other one while they run? A scalar, or a tuple of scalars with at most LIMIT_TOTAL_BYTES */
bool type_is_vector(Type t); /* one of a width that a thread can hold: others are refused where they are made (E0417) */
int type_width(Type t); /* components; 1 of what is no such vector */
bool type_gives_arrays(Type t);      /* an array, or a tuple with one in it */
int type_component_count(Type t);    /* scalars after tuples are taken apart, arrays counted once: n.(f32, i32) has 2 */
/* Component k of t with tuples taken apart: n.(f32, i32) gives n.f32 and n.i32. */
Type type_component(Ctx *ctx, Type t, int k);
/* Of what is called `name`: "xs", or "xs.2" of several. */
const char *type_component_name(Ctx *ctx, const char *name, Type t, int k);
Type type_subst(Ctx *ctx, Type t, int n, const Nat *vars, const Nat *by);

/* As RISE text that reads back: `ceilDiv(n, 1024).f32`, `(2*n).m.(f32, i32)`, `idx[n]`, `vec[4, f32]`. */
void type_print(StrBuf *out, Type t);
const char *type_text(Ctx *ctx, Type t);

#endif
