/* How blocks of a scan pass their totals on, as CUDA C: they give a total, await the prefix, or serve all others. */
#include "codegen/cuda_internal.h"
#include "codegen/walk.h"

static void put(Cuda *c, const char *text) { sb_puts(c->out, text); }

static CudaHelper mail_helper(Scalar type)
{
    bool wide = imp_mail_words(type) > 1;
    return scalar_is_float(type) ? (wide ? HELP_MAIL_F64 : HELP_MAIL_F32) : wide ? HELP_MAIL_WIDE_INT : HELP_MAIL_INT;
}

/* What passes totals of this type: those of 16 bits as the floats that they are in registers. */
static void cuda_mail_helpers(Cuda *c, Scalar total)
{
    cuda_helper(c, HELP_MAIL, SC_U64);
    cuda_helper(c, mail_helper(total), cuda_is_half(total) ? SC_F32 : total);
}

static void print_exchange(Cuda *c, const ImpStmt *s, Scalar total, const char *function)
{
    cuda_mail_helpers(c, total);
    sb_printf(c->out, "%s(%s, ", function, c->buf_names[s->exchange.mail->id]);
    cuda_nat(c, s->exchange.index, C_ANY);
}

/* With its own type: C computes with small numbers as ints, for which no function of the mail is, and which braces do not make smaller. */
static void put_as_itself(Cuda *c, const ImpExpr *e)
{
    bool small = scalar_is_int(e->type) && scalar_bytes(e->type) < 4;
    if (small)
        sb_printf(c->out, "(%s)(", cuda_value_type(e->type));
    cuda_expr(c, e, C_ANY);
    put(c, small ? ")" : "");
}

void cuda_put_give(Cuda *c, const ImpStmt *s)
{
    print_exchange(c, s, s->exchange.value->type, "send_mail");
    put(c, ", 1, ");
    put_as_itself(c, s->exchange.value);
    put(c, ");");
}

void cuda_put_await(Cuda *c, const ImpStmt *s)
{
    Scalar type = s->exchange.cell->elem;
    const char *function = "wait_for_prefix";
    if (cuda_is_half(type)) {
        cuda_helper(c, type == SC_F16 ? HELP_TO_F16 : HELP_TO_BF16, type);
        function = cuda_helper(c, type == SC_F16 ? HELP_WAIT_F16 : HELP_WAIT_BF16, type);
    }
    print_exchange(c, s, type, function);
    put(c, ", ");
    cuda_cell(c, s->exchange.cell, nat_const(c->ctx, 0));
    put(c, ");");
}

typedef struct OwnReads {
    const ImpStmt *serve;
    bool foreign;
} OwnReads;

static void find_foreign(void *user, ImpExpr **at)
{
    OwnReads *r = user;
    const ImpExpr *e = *at;
    bool own = false;
    for (int k = 0; k < r->serve->serve.n_parts && e->kind == IE_VAR; k++)
        own |= e->var.var == r->serve->serve.parts[k].sum || e->var.var == r->serve->serve.parts[k].next;
    r->foreign |= e->kind == IE_LOAD || (e->kind == IE_NAT && !nat_is_const(e->nat)) || (e->kind == IE_VAR && !own);
}

/* The type of the totals. */
static const char *total_type(Cuda *c, const ImpStmt *s)
{
    StrBuf text;
    sb_init(&text, c->ctx);
    for (int k = 0; k < s->serve.n_parts; k++)
        sb_printf(&text, "%s%s", k ? ", " : "", cuda_value_type(s->serve.parts[k].sum->type));
    return s->serve.n_parts == 1 ? text.text : ctx_printf(c->ctx, "Total<%s>", text.text);
}

/* The name of the total, and of each of its parts: a, or a.part, a.rest.part and so on. */
static const char *claim_total(Cuda *c, const ImpStmt *s, bool next)
{
    const ImpServed *parts = s->serve.parts;
    const char *name = cuda_claim(c, next ? parts[0].next : parts[0].sum), *at = name;
    for (int k = 0; k < s->serve.n_parts; k++) {
        c->var_names[(next ? parts[k].next : parts[k].sum)->id] = s->serve.n_parts == 1 ? at : ctx_printf(c->ctx, "%s.part", at);
        at = ctx_printf(c->ctx, "%s.rest", at);
    }
    return name;
}

static void print_total(Cuda *c, const ImpStmt *s, const char *type, bool units)
{
    const ImpServed *parts = s->serve.parts;
    if (s->serve.n_parts == 1) {
        cuda_expr(c, units ? parts[0].unit : parts[0].value, C_ANY);
        return;
    }
    for (int k = 0; k < s->serve.n_parts; k++) {
        sb_printf(c->out, "%s{", k ? "" : type);
        put_as_itself(c, units ? parts[k].unit : parts[k].value);
        put(c, ", ");
    }
    put(c, "{}");
    for (int k = 0; k < s->serve.n_parts; k++)
        put(c, "}");
}

void cuda_put_serve(Cuda *c, const ImpStmt *s)
{
    const ImpServed *parts = s->serve.parts;
    bool tuple = s->serve.n_parts > 1;
    OwnReads reads = {s, false};
    for (int k = 0; k < s->serve.n_parts; k++) {
        cuda_mail_helpers(c, parts[k].sum->type);
        ImpExpr *value = parts[k].value;
        walk_expr(&value, find_foreign, &reads);
    }
    cuda_helper(c, HELP_LANES, SC_U64);
    if (tuple)
        cuda_helper(c, HELP_TOTAL, SC_U64);
    const char *type = total_type(c, s), *function = cuda_helper(c, s->serve.row ? HELP_SERVE_ROWS : HELP_SERVE, SC_U64);
    sb_printf(c->out, "%s<%s>(", function, type);
    if (tuple)
        sb_printf(c->out, "Mails<%d>{{", s->serve.n_parts);
    for (int k = 0; k < s->serve.n_parts; k++)
        sb_printf(c->out, "%s%s", k ? ", " : "", c->buf_names[parts[k].mail->id]);
    put(c, tuple ? "}}, " : ", ");
    cuda_nat(c, s->serve.n, C_ANY);
    if (s->serve.row) {
        put(c, ", ");
        cuda_nat(c, s->serve.row, C_ANY);
    }
    put(c, ", ");
    cuda_nat(c, s->serve.lane, C_ANY);
    put(c, ", ");
    print_total(c, s, type, true);
    int mark = c_names_mark(c->names);
    const char *a = claim_total(c, s, false), *b = claim_total(c, s, true);
    sb_printf(c->out, ", [%s](%s %s, %s %s) { return ", reads.foreign ? "=" : "", type, a, type, b);
    print_total(c, s, type, false);
    put(c, "; });");
    c_names_release(c->names, mark);
}
