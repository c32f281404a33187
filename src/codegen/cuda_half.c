/* f16 and bf16 in CUDA C, without headers: 16 bits in memory, float in registers and expressions. An operation is computed in float and rounded to
 * the type at once, as scalar_apply does, so that the bits agree; fma is rounded once, by an instruction of its own; what cannot leave the type (a minimum, a negation, a load) is not rounded again.
 * A sum in f32 of f16 elements therefore converts each element once and nothing else. */
#include "codegen/cuda_internal.h"

bool cuda_is_half(Scalar s) { return s == SC_F16 || s == SC_BF16; }

static void put(Cuda *c, const char *text) { sb_puts(c->out, text); }

/* Its result is of the type already. */
static bool is_exact(PrimId id)
{
    return id == P_fma || id == P_min || id == P_max || id == P_neg || id == P_abs || id == P_floor || id == P_ceil || id == P_round || id == P_select;
}

bool cuda_half_rounds(const ImpExpr *e)
{
    if (e->kind == IE_NAT)
        return !nat_is_const(e->nat);
    if (e->kind == IE_OP)
        return !is_exact(e->op.id);
    if (e->kind != IE_CAST)
        return false;
    Scalar from = e->cast.value->type; /* bytes and truth values are values of either type */
    return from != e->type && (scalar_is_float(from) || scalar_bytes(from) > 1);
}

static const char *from_bits(Cuda *c, Scalar type) { return cuda_helper(c, type == SC_F16 ? HELP_FROM_F16 : HELP_FROM_BF16, type); }
static const char *to_bits(Cuda *c, Scalar type) { return cuda_helper(c, type == SC_F16 ? HELP_TO_F16 : HELP_TO_BF16, type); }

const char *cuda_half_fma(Cuda *c, Scalar type)
{
    from_bits(c, type);
    to_bits(c, type);
    return cuda_helper(c, type == SC_F16 ? HELP_FMA_F16 : HELP_FMA_BF16, type);
}

const char *cuda_half_quotient(Cuda *c, Scalar type) { return cuda_helper(c, type == SC_F16 ? HELP_QUOTIENT_F16 : HELP_QUOTIENT_BF16, type); }

void cuda_half_round(Cuda *c, const ImpExpr *e)
{
    from_bits(c, e->type);
    to_bits(c, e->type);
    sb_printf(c->out, "%s(", cuda_helper(c, e->type == SC_F16 ? HELP_ROUND_F16 : HELP_ROUND_BF16, e->type));
    cuda_unrounded(c, e, C_ANY);
    put(c, ")");
}

void cuda_half_load(Cuda *c, const ImpExpr *load)
{
    sb_printf(c->out, "%s(", from_bits(c, load->type));
    cuda_load_cell(c, load->mem.buf, load->mem.index);
    put(c, ")");
}

void cuda_half_slot(Cuda *c, const ImpVar *var, Nat slot)
{
    sb_printf(c->out, "%s(", from_bits(c, var->type));
    cuda_slot(c, var, slot);
    put(c, ")");
}

void cuda_half_store(Cuda *c, const ImpExpr *value)
{
    if (cuda_is_copy(c, value)) {
        cuda_put_copy(c, value, C_ANY);
        return;
    }
    sb_printf(c->out, "%s(", to_bits(c, value->type)); /* rounds as well */
    cuda_unrounded(c, value, C_ANY);
    put(c, ")");
}

const char *cuda_half_from(Cuda *c, Scalar type, int n)
{
    from_bits(c, type);
    static const CudaHelper helpers[2][3] = {{HELP_FROM_F16_2, HELP_FROM_F16_4, HELP_FROM_F16_8}, {HELP_FROM_BF16_2, HELP_FROM_BF16_4, HELP_FROM_BF16_8}};
    return cuda_helper(c, helpers[type == SC_BF16][n / 4], type);
}

const char *cuda_half_to(Cuda *c, Scalar type, int n)
{
    to_bits(c, type);
    cuda_helper(c, type == SC_F16 ? HELP_PAIR_F16 : HELP_PAIR_BF16, type);
    static const CudaHelper helpers[2][3] = {{HELP_TO_F16_2, HELP_TO_F16_4, HELP_TO_F16_8}, {HELP_TO_BF16_2, HELP_TO_BF16_4, HELP_TO_BF16_8}};
    return cuda_helper(c, helpers[type == SC_BF16][n / 4], type);
}
