#include "codegen/cuda_internal.h"

typedef struct HelperRow {
    const char *name, *text;
} HelperRow;

static const HelperRow helper_rows[HELP_COUNT] = {
#define HELPER(id, name, text) {name, text},
#include "codegen/cuda_helpers.def"
#undef HELPER
};

typedef struct TypeRow {
    const char *name, *unsigned_name, *least, *vector;
} TypeRow;

static const TypeRow type_rows[SC_COUNT] = {
    [SC_BOOL] = {"bool", "bool", "false"},
    [SC_I8] = {"signed char", "unsigned char", "-128", "char"},
    [SC_I16] = {"short", "unsigned short", "-32768", "short"},
    [SC_I32] = {"int", "unsigned", "-2147483647 - 1", "int"},
    [SC_I64] = {"long long", "unsigned long long", "-9223372036854775807ll - 1", "longlong"},
    [SC_U8] = {"unsigned char", "unsigned char", "0", "uchar"},
    [SC_U16] = {"unsigned short", "unsigned short", "0", "ushort"},
    [SC_U32] = {"unsigned", "unsigned", "0", "uint"},
    [SC_U64] = {"unsigned long long", "unsigned long long", "0", "ulonglong"},
    [SC_F16] = {"unsigned short", "unsigned short", "0", "ushort"},
    [SC_BF16] = {"unsigned short", "unsigned short", "0", "ushort"},
    [SC_F32] = {"float", "unsigned", "0", "float"},
    [SC_F64] = {"double", "unsigned long long", "0", "double"}};

const char *cuda_type(Scalar s) { return type_rows[s].name; }
const char *cuda_value_type(Scalar s) { return cuda_type(cuda_is_half(s) ? SC_F32 : s); }

/* Has CUDA a type for it? */
static bool is_cuda_vector(Scalar s, int n) { return n <= 4 && type_rows[s].vector; }

const char *cuda_vector_value_type(Cuda *c, Scalar s, int n) { return cuda_vector_type(c, cuda_is_half(s) ? SC_F32 : s, n); }

const char *cuda_vector_type(Cuda *c, Scalar s, int n)
{
    if (is_cuda_vector(s, n))
        return ctx_printf(c->ctx, "%s%d", type_rows[s].vector, n);
    return ctx_printf(c->ctx, "%s<%s, %d>", cuda_helper(c, HELP_CELLS, SC_I32), cuda_type(s), n);
}

const char *cuda_vector_maker(Cuda *c, Scalar s, int n)
{
    Scalar value = cuda_is_half(s) ? SC_F32 : s;
    if (is_cuda_vector(value, n))
        return ctx_printf(c->ctx, "make_%s", cuda_vector_type(c, value, n));
    cuda_helper(c, HELP_CELLS, SC_I32);
    return ctx_printf(c->ctx, "%s<%s>", cuda_helper(c, HELP_MAKE_CELLS, SC_I32), cuda_type(value));
}

const char *cuda_vector_part(Cuda *c, const char *name, const ImpVar *var, int slot)
{
    Scalar value = cuda_is_bits(c, var) ? SC_U16 : cuda_is_half(var->type) ? SC_F32 : var->type;
    if (cuda_is_held(c, var))
        name = ctx_printf(c->ctx, "%s.cells()", name);
    return is_cuda_vector(value, var->slots) ? ctx_printf(c->ctx, "%s.%c", name, "xyzw"[slot]) : ctx_printf(c->ctx, "%s.at[%d]", name, slot);
}

/* ---- the table of operators and functions --------------------------------------------------------------------------- */

typedef struct OpRow {
    PrimId id;
    const char *text, *f32, *f64;
    CPrec prec;
} OpRow;

static const OpRow op_rows[] = {
#define OPERATOR(id, text, prec) {P_##id, text, NULL, NULL, prec},
#define FUNCTION(id, f32, f64) {P_##id, NULL, f32, f64, C_ATOM},
#include "codegen/cuda_ops.def"
#undef OPERATOR
#undef FUNCTION
};
enum { N_OPS = sizeof op_rows / sizeof *op_rows };

const char *cuda_function(PrimId id, Scalar type)
{
    for (int i = 0; i < N_OPS; i++)
        if (op_rows[i].id == id && op_rows[i].f32)
            return type == SC_F64 ? op_rows[i].f64 : op_rows[i].f32;
    return NULL;
}

bool cuda_operator(PrimId id, const char **text, CPrec *prec)
{
    for (int i = 0; i < N_OPS; i++)
        if (op_rows[i].id == id && op_rows[i].text) {
            *text = op_rows[i].text;
            *prec = op_rows[i].prec;
            return true;
        }
    return false;
}

void cuda_reserve_words(CNames *names)
{
    static const char *const others[] = {"min", "max", "abs", "llabs", "put_mail", "has_mail", "send_mail", "clear_mail", "from_last", "Mails", CUDA_SHARED_BYTES, CUDA_SHARED_BYTES_C};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        c_name_claim(names, others[i]);
    for (int i = 0; i < N_OPS; i++) {
        if (!op_rows[i].f32)
            continue;
        c_name_claim(names, op_rows[i].f32);
        c_name_claim(names, op_rows[i].f64);
    }
    for (int h = 0; h < HELP_COUNT; h++)
        if (h == 0 || strcmp(helper_rows[h].name, helper_rows[h - 1].name))
            c_name_claim(names, helper_rows[h].name);
}

/* Of as many cells as CUDA has no vector for. */
static const char *many_cells(Cuda *c, const ImpStmt *s)
{
    cuda_helper(c, HELP_CELLS, SC_I32);
    if (s->kind == IS_VSTORE)
        return cuda_helper(c, HELP_STORE_CELLS, SC_I32);
    switch (s->vec.buf->hint) {
    case HINT_NONE: break;
    case HINT_STREAM: cuda_helper(c, HELP_LOAD_ONCE, SC_I32); return cuda_helper(c, HELP_LOAD_CELLS_ONCE, SC_I32);
    case HINT_KEEP: cuda_helper(c, HELP_LOAD_KEPT, SC_I32); return cuda_helper(c, HELP_LOAD_CELLS_KEPT, SC_I32);
    }
    return cuda_helper(c, HELP_LOAD_CELLS, SC_I32);
}

/* The function that does it where CUDA has a vector of the cells. */
static const char *few_cells(Cuda *c, const ImpStmt *s)
{
    static const CudaHelper plain[] = {HELP_LOAD_2, HELP_LOAD_4}, kept[] = {HELP_LOAD_2_KEPT, HELP_LOAD_4_KEPT}, once[] = {HELP_LOAD_2_ONCE, HELP_LOAD_4_ONCE};
    static const CudaHelper store[] = {HELP_STORE_2, HELP_STORE_4};
    const ImpBuf *buf = s->vec.buf;
    const Scalar elem = cuda_is_half(buf->elem) ? SC_U16 : buf->elem; /* one type of C, one function */
    int wide = s->vec.n == 4;
    if (s->kind == IS_VSTORE)
        return cuda_helper(c, store[wide], elem);
    switch (buf->hint) {
    case HINT_NONE: break;
    case HINT_STREAM: return cuda_helper(c, once[wide], elem);
    case HINT_KEEP: cuda_helper(c, HELP_LOAD_KEPT, SC_I32); return cuda_helper(c, kept[wide], elem);
    }
    return cuda_helper(c, plain[wide], elem);
}

void cuda_put_access(Cuda *c, const ImpStmt *s, const char *aligned)
{
    if (is_cuda_vector(s->vec.buf->elem, s->vec.n))
        sb_printf(c->out, "%s<%s>(", few_cells(c, s), aligned);
    else
        sb_printf(c->out, "%s<%d, %s>(", many_cells(c, s), s->vec.n, aligned);
}

/* ---- helpers --------------------------------------------------------------------------------------------------------- */

const char *cuda_helper(Cuda *c, CudaHelper helper, Scalar type)
{
    c->helpers[helper] |= 1u << type;
    return helper_rows[helper].name;
}

void cuda_nat_helpers(Cuda *c, int bits)
{
    static const struct { int bit; CudaHelper helper; } of_bits[] = {
        {NAT_C_FLOOR_DIV, HELP_FLOOR_DIV}, {NAT_C_FLOOR_MOD, HELP_FLOOR_MOD}, {NAT_C_MIN, HELP_NAT_MIN},
        {NAT_C_MAX, HELP_NAT_MAX},         {NAT_C_LOG2, HELP_NAT_LOG2},       {NAT_C_POW, HELP_NAT_POW}};
    c->lost |= (bits & NAT_C_ERROR) != 0;
    for (size_t i = 0; i < sizeof of_bits / sizeof *of_bits; i++)
        if (bits & of_bits[i].bit)
            cuda_helper(c, of_bits[i].helper, SC_I32);
}

static void put_helper(StrBuf *out, const char *text, Scalar type)
{
    static const char device[] = "DEVICE", host_device[] = "HOST_DEVICE";
    for (const char *at = text; *at; at++) {
        if (!strncmp(at, host_device, sizeof host_device - 1)) {
            sb_puts(out, "static __host__ __device__ __forceinline__");
            at += sizeof host_device - 2;
        } else if (!strncmp(at, device, sizeof device - 1)) {
            sb_puts(out, "static __device__ __forceinline__");
            at += sizeof device - 2;
        } else if (*at != '$') {
            sb_putc(out, *at);
        } else {
            at++;
            if (*at == 'W')
                sb_printf(out, "%d", 8 * scalar_bytes(type));
            else
                sb_puts(out, *at == 'U' ? type_rows[type].unsigned_name : *at == 'V' ? type_rows[type].vector : *at == 'L' ? type_rows[type].least : type_rows[type].name);
        }
    }
    sb_putc(out, '\n');
}

void cuda_put_helpers(const uint32_t *helpers, StrBuf *out)
{
    const size_t start = out->len;
    bool any = false;
    for (int h = 0; h < HELP_COUNT; h++)
        for (int t = 0; t < SC_COUNT; t++) {
            if (!(helpers[h] & 1u << t))
                continue;
            if (!any)
                sb_puts(out, "#ifndef RISE_HELPERS\n");
            any = true;
            put_helper(out, helper_rows[h].text, (Scalar)t);
        }
    if (any)
        sb_puts(out, "#endif\n\n");
    cuda_wrap(out, start);
}
