/* Statements of imp as CUDA C. */
#include "codegen/cuda_internal.h"
#include "codegen/tails.h"
#include "codegen/walk.h"

enum { ONE_LINE = 90 };

static void put(Cuda *c, const char *text) { sb_puts(c->out, text); }

/* The user's line, where one is known. */
static Span users_place(const ImpStmt *s) { return s->users.file ? s->users : s->span; }

static void line_directive(Cuda *c, const ImpStmt *s)
{
    int line;
    if (span_is_users(c->ctx, users_place(s)))
        c->users = users_place(s);
    const char *file = cuda_place(c->ctx, c->users, &line);
    if (!c->line_directives || !line)
        return;
    sb_printf(c->out, "#line %d \"", line);
    for (; *file; file++)
        sb_putc(c->out, *file < ' ' || *file > '~' || *file == '"' || *file == '\\' ? '?' : *file);
    put(c, "\"\n");
}

static bool is_second_name(const ImpStmt *s) { return s->kind == IS_DECL && s->var.second; }

/* The register is called what its value is called. */
static void take_second_name(Cuda *c, const ImpStmt *s)
{
    if (!is_second_name(s))
        return;
    const ImpVar *var = s->var.var;
    c->var_names[var->id] = cuda_slot_name(c, s->var.value->var.var, s->var.value->var.slot);
    c_names_set(c->names, var->nat, c->var_names[var->id]);
    cuda_index_is(c, var->nat, scalar_bytes(var->type) == 8 ? INDEX_LONG : INDEX_INT);
}

static void take_second_names(Cuda *c, const ImpBlock *block)
{
    for (int i = 0; i < block->list.n; i++)
        take_second_name(c, block->list.at[i]);
}

bool cuda_any_shown(const ImpBlock *block)
{
    for (int i = 0; i < block->list.n; i++)
        if (block->list.at[i]->kind != IS_NOTE && cuda_is_shown(block->list.at[i]))
            return true;
    return false;
}

bool cuda_is_shown(const ImpStmt *s) 
{
    return s->kind != IS_ALLOC && !is_second_name(s) && !(s->kind == IS_DECL && s->var.moved);
}

/* ---- statements -------------------------------------------------------------------------------------------------------- */


CudaScope cuda_enter(Cuda *c) { return (CudaScope){c_names_mark(c->names), c->wide.n, c->longs.n}; }

void cuda_leave(Cuda *c, CudaScope scope)
{
    c_names_release(c->names, scope.names);
    c->wide.n = scope.wide;
    c->longs.n = scope.longs;
}

static void print_body(Cuda *c, const ImpBlock *block)
{
    CudaScope scope = cuda_enter(c);
    put(c, "{\n");
    c->depth++;
    cuda_block(c, block);
    c->depth--;
    cuda_indent(c);
    put(c, "}");
    cuda_leave(c, scope);
}

/* The statement that gives the vector which statement i declares all its cells, or those that are
 * there: it declares the vector then. Indices may be declared in between. 0: there is none. */
static int gets_cells(Cuda *c, const ImpBlock *block, int i)
{
    const ImpStmt *s = block->list.at[i];
    if (s->kind != IS_DECL || !s->var.var->vector || s->var.value)
        return 0;
    while (++i < block->list.n && !block->list.at[i]->call) {
        const ImpStmt *next = block->list.at[i];
        if (cuda_sets_all_or_fewer(c, next) == s->var.var)
            return i;
        if (cuda_is_shown(next) && (next->kind != IS_DECL || !next->var.var->nat))
            break;
    }
    return 0;
}

/* float4 v = i + 3 < n ? load4<aligned>(xs + i) : load_fewer<float4>(xs, i, n, 0.0f); */
static void print_cells(Cuda *c, const ImpStmt *s, const ImpVar *var, bool declares)
{
    const char *name = declares ? cuda_claim(c, var) : c->var_names[var->id];
    if (declares)
        sb_printf(c->out, "%s ", cuda_var_type(c, var));
    sb_printf(c->out, "%s = ", name);
    cuda_put_all_or_fewer(c, s);
    put(c, ";\n");
    c->var_names[var->id] = name;
}

static void put_value(Cuda *c, const ImpVar *var, const ImpExpr *value)
{
    if (cuda_is_bits(c, var))
        cuda_put_copy(c, value, C_ANY);
    else
        cuda_expr(c, value, C_ANY);
}

static void print_decl(Cuda *c, const ImpStmt *s)
{
    ImpVar *var = s->var.var;
    const char *name = cuda_claim(c, var);
    CudaIndex of_index;
    const ImpExpr *index = cuda_index_value(c, s, &of_index);
    const char *type = index ? cuda_index_type(of_index) : cuda_var_type(c, var);
    sb_printf(c->out, "%s%s %s", var->constant && var->slots == 1 && s->var.value ? "const " : "", type, name);
    if (var->vector) {
        put(c, ";\n");
    } else if (var->slots != 1) {
        sb_printf(c->out, "[%d];\n", var->slots);
    } else if (s->var.value) {
        put(c, var->divides ? "(" : " = ");
        put_value(c, var, index ? index : s->var.value);
        put(c, var->divides ? ");\n" : ";\n");
    } else {
        put(c, ";\n");
    }
    c->var_names[var->id] = name;
    if (var->slots != 1 && s->var.value) { /* every slot starts with the value */
        const char *i = c_name_claim(c->names, "slot");
        cuda_indent(c);
        put(c, "#pragma unroll\n");
        cuda_indent(c);
        sb_printf(c->out, "for (int %s = 0; %s < %d; %s++)\n", i, i, var->slots, i);
        cuda_indent(c);
        sb_printf(c->out, "    %s[%s] = ", name, i);
        put_value(c, var, s->var.value);
        put(c, ";\n");
    }
    if (var->nat) {
        c_names_set(c->names, var->nat, name);
        cuda_index_is(c, var->nat, of_index);
    }
}

/* gridDim.x*256, unsigned: of 32 bits, whatever the type of what it is added to. CUDA's compiler does not unroll a loop with such a step. */
static bool put_unsigned_step(Cuda *c, Nat step)
{
    const ImpKernel *k = c->kernel;
    Nat most = step;
    const char *saved[3] = {NULL};
    for (int a = 0; a < 3; a++)
        if (k->grid[a]->kind == NAT_VAR)
            most = nat_subst(c->ctx, most, k->grid[a], nat_const(c->ctx, kernel_max_grid(k, a)));
    if (!cuda_unsigned_safe(step) || !nat_is_const(most) || most->value > UINT32_MAX || nat_is_const(step))
        return false;
    for (int a = 0; a < 3; a++)
        if (k->grid[a]->kind == NAT_VAR) { /* in place, gridDim needs no cast */
            saved[a] = c_names_get(c->names, k->grid[a]);
            c_names_set(c->names, k->grid[a], ctx_printf(c->ctx, "gridDim.%c", "xyz"[a]));
        }
    nat_print_c(c->ctx, c->out, step, c->facts, NAT_INT, c_names_of, c->names, 0);
    for (int a = 0; a < 3; a++)
        if (saved[a])
            c_names_set(c->names, k->grid[a], saved[a]);
    return true;
}

static void print_step(Cuda *c, const char *name, Nat step)
{
    if (nat_is(step, 1)) {
        sb_printf(c->out, "%s++", name);
        return;
    }
    sb_printf(c->out, "%s += ", name);
    if (!put_unsigned_step(c, step))
        cuda_nat(c, step, C_ANY);
}

static void print_simple(Cuda *c, const ImpStmt *s);

/* The one statement of the block when it may stand behind `if (...)` or `for (...)`; NULL otherwise. A comment
 * in the loop has no place then. */
static const ImpStmt *only_simple(const ImpBlock *block, bool without_notes)
{
    const ImpStmt *only = NULL;
    for (int i = 0; i < block->list.n; i++) {
        const ImpStmt *s = block->list.at[i];
        if (s->call)
            return NULL;
        if (!cuda_is_shown(s) || (without_notes && s->kind == IS_NOTE))
            continue;
        bool move = s->kind == IS_VSTORE || (s->kind == IS_VLOAD && !s->vec.declares);
        if (only || (s->kind != IS_SET && s->kind != IS_STORE && s->kind != IS_ATOMIC && s->kind != IS_TICKET && s->kind != IS_GIVE && s->kind != IS_AWAIT && s->kind != IS_SERVE && !move))
            return NULL;
        only = s;
    }
    return only;
}

static void print_plain_for(Cuda *c, const ImpStmt *s)
{
    if (s->loop.unroll)
        put(c, "#pragma unroll\n");
    else if (s->loop.at_once)
        sb_printf(c->out, "#pragma unroll %d\n", s->loop.at_once);
    if (s->loop.unroll || s->loop.at_once)
        cuda_indent(c);
    CudaScope scope = cuda_enter(c);
    const char *name = c_name_claim_loop(c->names, s->loop.var->name);
    bool large = nat_is_const(s->loop.hi) && s->loop.hi->value > INDEX_MAX;
    bool as_start = cuda_nat_type(c, s->loop.lo) == INDEX_LONG || !nat_is_wide(c, s->loop.hi);
    Nat wider = as_start ? s->loop.lo : s->loop.hi;
    CudaIndex type = large ? INDEX_LONG : cuda_nat_type(c, wider);
    sb_printf(c->out, "for (%s %s = ", cuda_index_type(type), name);
    cuda_nat(c, s->loop.lo, C_ANY);
    c_names_set(c->names, s->loop.var, name);
    cuda_index_is(c, s->loop.var, type);
    sb_printf(c->out, "; %s < ", name);
    cuda_nat(c, s->loop.hi, C_SUM);
    put(c, "; ");
    print_step(c, name, s->loop.step);
    put(c, ")");
    const ImpStmt *only = c->line_directives ? NULL : only_simple(&s->loop.body, true);
    if (only) {
        take_second_names(c, &s->loop.body);
        c->depth++;
        put(c, "\n");
        cuda_indent(c);
        print_simple(c, only);
        c->depth--;
    } else {
        put(c, " ");
        print_body(c, &s->loop.body);
    }
    put(c, "\n");
    cuda_leave(c, scope);
}

/* full_or_not(block*1024 + 1024 <= n, [&](bool full) { the loop }): two codes, one text (full_tiles.h). */
static void print_for(Cuda *c, const ImpStmt *s)
{
    if (!s->loop.full) {
        print_plain_for(c, s);
        return;
    }
    CudaScope scope = cuda_enter(c);
    sb_printf(c->out, "%s(", cuda_helper(c, HELP_FULL_OR_NOT, SC_I32));
    cuda_expr(c, s->loop.full, C_ANY);
    c->full = c_name_claim(c->names, "full");
    sb_printf(c->out, ", [&](bool %s) {\n", c->full);
    c->depth++;
    cuda_indent(c);
    print_plain_for(c, s);
    c->depth--;
    cuda_indent(c);
    put(c, "});\n");
    c->full = NULL;
    cuda_leave(c, scope);
}

static void put_whole(Cuda *c, const ImpVar *var) { sb_printf(c->out, cuda_is_held(c, var) ? "%s.cells()" : "%s", c->var_names[var->id]); }

/* from_f16(x), where the bits of x are fetched ahead. False: the values are no such thing. */
static bool put_converted(Cuda *c, const ImpStmt *s)
{
    const ImpVar *of = NULL;
    for (int k = 0; k < s->vec.n; k++) {
        const ImpExpr *e = s->vec.values[k], *from = e->kind == IE_CAST && e->type == SC_F32 ? e->cast.value : e;
        if (from == e || from->kind != IE_VAR || !from->var.var->vector || !cuda_is_bits(c, from->var.var) || !nat_is(from->var.slot, k) || (of && of != from->var.var))
            return false;
        of = from->var.var;
    }
    if (of->slots != s->vec.n)
        return false;
    sb_printf(c->out, "%s(", cuda_half_from(c, of->type, of->slots));
    put_whole(c, of);
    put(c, ")");
    return true;
}

static void put_vector(Cuda *c, const ImpStmt *s, Scalar type)
{
    const ImpExpr *first = s->vec.values[0];
    bool whole = first->kind == IE_VAR && first->var.var->vector && first->var.var->slots == s->vec.n;
    for (int k = 0; whole && k < s->vec.n; k++) {
        const ImpExpr *e = s->vec.values[k];
        whole = e->kind == IE_VAR && e->var.var == first->var.var && nat_is(e->var.slot, k);
    }
    if (whole) {
        put_whole(c, first->var.var);
        return;
    }
    if (put_converted(c, s))
        return;
    bool half_store = s->kind == IS_VSTORE && cuda_is_half(type); /* the conversion rounds */
    const bool bits = s->kind == IS_VSET ? cuda_is_bits(c, s->vec.var) : cuda_are_copies(c, s);
    sb_printf(c->out, "%s(", cuda_vector_maker(c, bits ? SC_U16 : type, s->vec.n));
    size_t length = 0;
    StrBuf parts[IMP_VECTOR_MAX], *out = c->out;
    for (int k = 0; k < s->vec.n; k++) {
        sb_init(&parts[k], c->ctx);
        c->out = &parts[k];
        if (bits)
            cuda_put_copy(c, s->vec.values[k], C_ANY);
        else if (half_store)
            cuda_unrounded(c, s->vec.values[k], C_ANY);
        else
            cuda_expr(c, s->vec.values[k], C_ANY);
        length += parts[k].len + 2;
    }
    c->out = out;
    for (int k = 0; k < s->vec.n; k++) {
        put(c, !k ? "" : length <= ONE_LINE ? ", " : ",");
        if (length > ONE_LINE) { /* one below the other */
            put(c, "\n    ");
            cuda_indent(c);
        }
        sb_putn(c->out, parts[k].text, parts[k].len);
    }
    put(c, ")");
}

/* Where the cells start: xs + 4*i. */
void cuda_put_start(Cuda *c, const ImpBuf *buf, Nat index)
{
    Nat shift = c->buf_shifts[buf->id];
    if (shift)
        index = nat_add(c->ctx, index, shift);
    put(c, c->buf_names[buf->id]);
    if (!nat_is(index, 0)) {
        put(c, " + ");
        cuda_nat(c, index, C_SUM);
    }
}

/* The cells as one vector of shared memory: *reinterpret_cast<float4 *>(part + 4*i). */
static void put_shared_cells(Cuda *c, const ImpStmt *s)
{
    const bool is_const = c->function && !kernel_writes(c->kernel, s->vec.buf); /* as the parameter */
    sb_printf(c->out, "*reinterpret_cast<%s%s *>(", is_const ? "const " : "",
              cuda_vector_type(c, s->vec.buf->elem, s->vec.n));
    cuda_put_start(c, s->vec.buf, s->vec.index);
    put(c, ")");
}

/* Workspace is aligned to any vector. */
static const char *is_aligned(const Cuda *c, const ImpBuf *buf) { return c->may_be_unaligned && buf->space != SPACE_TEMP ? "aligned" : "true"; }

/* load4<aligned>(xs + 4*i). */
void cuda_put_loaded(Cuda *c, const ImpStmt *s)
{
    bool half = cuda_is_half(s->vec.buf->elem) && !cuda_is_bits(c, s->vec.var);
    if (half)
        sb_printf(c->out, "%s(", cuda_half_from(c, s->vec.buf->elem, s->vec.n));
    if (s->vec.buf->space == SPACE_SHARED) {
        put_shared_cells(c, s);
    } else {
        cuda_put_access(c, s, is_aligned(c, s->vec.buf));
        cuda_put_start(c, s->vec.buf, s->vec.index);
        put(c, ")");
    }
    put(c, half ? ")" : "");
}

static void put_stored(Cuda *c, const ImpStmt *s)
{
    bool half = cuda_is_half(s->vec.buf->elem) && !cuda_are_copies(c, s);
    if (half)
        sb_printf(c->out, "%s(", cuda_half_to(c, s->vec.buf->elem, s->vec.n));
    put_vector(c, s, s->vec.buf->elem);
    put(c, half ? ")" : "");
}

static void print_vector_store(Cuda *c, const ImpStmt *s)
{
    if (s->vec.buf->space == SPACE_SHARED) {
        put_shared_cells(c, s);
        put(c, " = ");
        put_stored(c, s);
        put(c, ";");
        return;
    }
    cuda_put_access(c, s, is_aligned(c, s->vec.buf));
    cuda_put_start(c, s->vec.buf, s->vec.index);
    put(c, ", ");
    put_stored(c, s);
    put(c, ");");
}

static bool is_loaded_held(const Cuda *c, const ImpStmt *s) { return cuda_is_held(c, s->vec.var) && s->vec.buf->space != SPACE_SHARED && s->vec.buf->hint == HINT_NONE; }

static void print_vec(Cuda *c, const ImpStmt *s)
{
    if (s->kind == IS_VSTORE) {
        print_vector_store(c, s);
        return;
    }
    ImpVar *var = s->vec.var;
    const char *name = s->vec.declares ? cuda_claim(c, var) : c->var_names[var->id];
    if (s->kind == IS_VSET && !s->vec.declares && tail_by_component(s)) {
        for (int k = 0; k < s->vec.n; k++) {
            Nat slot = nat_const(c->ctx, k);
            if (k) {
                put(c, "\n");
                cuda_indent(c);
            }
            cuda_slot(c, var, slot);
            cuda_assign(c, imp_var(c->ctx, var, slot, s->span), s->vec.values[k]);
            put(c, ";");
        }
        return;
    }
    if (s->kind == IS_VLOAD && !s->vec.declares && is_loaded_held(c, s)) { /* v.load<aligned>(xs + 4*i) */
        sb_printf(c->out, "%s.load<%s>(", name, is_aligned(c, s->vec.buf));
        cuda_put_start(c, s->vec.buf, s->vec.index);
        put(c, ");");
        return;
    }
    if (s->vec.declares)
        sb_printf(c->out, "%s%s ", var->constant ? "const " : "", cuda_var_type(c, var));
    sb_printf(c->out, "%s = ", name);
    if (s->kind == IS_VLOAD)
        cuda_put_loaded(c, s);
    else if (!cuda_put_tail(c, s))
        put_vector(c, s, var->type);
    put(c, ";");
    c->var_names[var->id] = name;
}

/* gridDim.x*gridDim.y, for the axes that have more than one block. */
static void put_grid_size(Cuda *c)
{
    bool any = false;
    for (int a = 0; a < 3; a++)
        if (c->kernel->grid[a]->kind == NAT_VAR) {
            sb_printf(c->out, "%sgridDim.%c", any ? "*" : "", "xyz"[a]);
            any = true;
        }
}

static void print_ticket(Cuda *c, const ImpStmt *s)
{
    cuda_cell(c, s->ticket.flag, nat_const(c->ctx, 0));
    sb_printf(c->out, " = %s(%s, ", cuda_helper(c, HELP_LAST_TICKET, SC_U32), c->buf_names[s->ticket.buf->id]);
    put_grid_size(c);
    put(c, ");");
}

typedef struct OldReads {
    const ImpVar *old;
    bool found;
} OldReads;

static void find_old(void *user, ImpExpr **at)
{
    OldReads *r = user;
    r->found |= (*at)->kind == IE_VAR && (*at)->var.var == r->old;
}

/* The operand when the value is `old op operand` and CUDA has an atomic for it, with its name and the type that it takes; else NULL. */
static const ImpExpr *atomic_operand(const ImpStmt *s, const char **name, Scalar *as)
{
    static const struct { PrimId id; const char *name; } functions[] = {{P_add, "atomicAdd"},    {P_min, "atomicMin"},   {P_max, "atomicMax"},
                                                                        {P_bitAnd, "atomicAnd"}, {P_bitOr, "atomicOr"}, {P_bitXor, "atomicXor"}};
    const ImpExpr *e = s->atomic.value;
    Scalar type = s->atomic.buf->elem;
    *name = NULL;
    for (size_t i = 0; i < sizeof functions / sizeof *functions && e->kind == IE_OP; i++)
        if (functions[i].id == e->op.id)
            *name = functions[i].name;
    if (!*name || e->op.n != 2 || (scalar_is_float(type) && e->op.id != P_add))
        return NULL;
    bool ordered = e->op.id == P_min || e->op.id == P_max; /* long long has these, and no other */
    *as = type == SC_I64 && !ordered ? SC_U64 : type;
    for (int k = 0; k < 2; k++) {
        const ImpExpr *old = e->op.args[k];
        ImpExpr *other = e->op.args[1 - k];
        OldReads reads = {s->atomic.old, false};
        walk_expr(&other, find_old, &reads);
        if (old->kind == IE_VAR && old->var.var == s->atomic.old && !reads.found)
            return other;
    }
    return NULL;
}

static void print_atomic(Cuda *c, const ImpStmt *s)
{
    Scalar type = s->atomic.buf->elem, as;
    const char *name;
    const ImpExpr *operand = atomic_operand(s, &name, &as);
    if (operand) {
        sb_printf(c->out, "%s(", name);
        if (as != type)
            sb_printf(c->out, "(%s *)", cuda_type(as));
        put(c, "&");
        cuda_cell(c, s->atomic.buf, s->atomic.index);
        put(c, ", ");
        cuda_expr(c, operand, C_ANY);
        put(c, ");");
        return;
    }
    CudaHelper helper = type == SC_F32 ? HELP_UPDATE_F32 : type == SC_F64 ? HELP_UPDATE_F64 : HELP_UPDATE_INT;
    int mark = c_names_mark(c->names);
    const char *old = cuda_claim(c, s->atomic.old);
    c->var_names[s->atomic.old->id] = old;
    sb_printf(c->out, "%s(&", cuda_helper(c, helper, type));
    cuda_cell(c, s->atomic.buf, s->atomic.index);
    sb_printf(c->out, ", [=](%s %s) { return ", cuda_type(type), old);
    cuda_expr(c, s->atomic.value, C_ANY);
    put(c, "; });");
    c_names_release(c->names, mark);
}

static void print_simple(Cuda *c, const ImpStmt *s)
{
    if (s->kind == IS_GIVE) {
        cuda_put_give(c, s);
        return;
    }
    if (s->kind == IS_AWAIT) {
        cuda_put_await(c, s);
        return;
    }
    if (s->kind == IS_SERVE) {
        cuda_put_serve(c, s);
        return;
    }
    if (s->kind == IS_ATOMIC) {
        print_atomic(c, s);
        return;
    }
    if (s->kind == IS_TICKET) {
        print_ticket(c, s);
        return;
    }
    if (s->kind == IS_VLOAD || s->kind == IS_VSTORE) {
        print_vec(c, s);
        return;
    }
    if (s->kind == IS_SET) {
        cuda_slot(c, s->var.var, s->var.slot);
        cuda_assign(c, imp_var(c->ctx, s->var.var, s->var.slot, s->span), s->var.value);
    } else {
        cuda_cell(c, s->store.buf, s->store.index);
        cuda_assign(c, imp_load(c->ctx, s->store.buf, s->store.index, s->span), s->store.value);
    }
    put(c, ";");
}

static void print_if(Cuda *c, const ImpStmt *s)
{
    const ImpBlock *then = &s->branch.then, *otherwise = &s->branch.otherwise;
    size_t start = c->out->len;
    const ImpVar *var = cuda_sets_all_or_fewer(c, s);
    if (var) {
        print_cells(c, s, var, false);
        return;
    }
    put(c, "if (");
    const bool shown = cuda_any_shown(then); /* else only the other part is left */
    (shown ? cuda_expr : cuda_not)(c, s->branch.cond, C_ANY);
    then = shown ? then : otherwise;
    put(c, ")");
    bool both = then != otherwise && cuda_any_shown(otherwise);
    const ImpStmt *only = both || c->line_directives ? NULL : only_simple(then, false);
    if (only) {
        take_second_names(c, then);
        StrBuf line, *out = c->out;
        sb_init(&line, c->ctx);
        c->out = &line;
        print_simple(c, only);
        c->out = out;
        if (out->len - start + line.len <= ONE_LINE) {
            put(c, " ");
        } else {
            put(c, "\n    ");
            cuda_indent(c);
        }
        sb_putn(out, line.text, line.len);
        put(c, "\n");
        return;
    }
    put(c, " ");
    print_body(c, then);
    if (both) {
        const char *full = c->full;
        if (s->branch.cond->kind == IE_OP && s->branch.cond->op.spared) /* holds in full tiles: this is none */
            c->full = NULL;
        put(c, " else ");
        print_body(c, otherwise);
        c->full = full;
    }
    put(c, "\n");
}

/* FILE:LINE between the two; nothing for nowhere. */
static void put_place(Cuda *c, Span span, const char *before, const char *behind)
{
    int line;
    const char *file = cuda_place(c->ctx, span, &line);
    if (!line)
        return;
    put(c, before);
    cuda_comment_text(c->out, file);
    sb_printf(c->out, ":%d%s", line, behind);
}

void cuda_put_about(Cuda *c, Span users, Span span, const char *what)
{
    const bool own = !users.file && span_is_users(c->ctx, span);
    put(c, "// ");
    put_place(c, own ? span : users, "", ": ");
    cuda_comment_text(c->out, what);
    if (!own)
        put_place(c, span, " of ", "");
    put(c, "\n");
}

void cuda_block(Cuda *c, const ImpBlock *block)
{
    bool first = true;
    const ImpStmt *last = NULL;
    int cells = 0;
    for (int i = 0; i < block->list.n; i++) {
        const ImpStmt *s = block->list.at[i];
        if (s->call) {
            line_directive(c, s);
            cuda_indent(c);
            cuda_put_call(c, s->call);
            first = false;
            last = s;
            i += s->call->n - 1;
            continue;
        }
        take_second_name(c, s);
        if (!cuda_is_shown(s))
            continue;
        if (gets_cells(c, block, i)) {
            cells = gets_cells(c, block, i);
            continue;
        }
        if (s->kind == IS_NOTE) {
            /* Nothing left to say something of; or the same again. */
            const ImpStmt *next = NULL;
            for (int j = i + 1; j < block->list.n && !next; j++)
                if (cuda_is_shown(block->list.at[j]))
                    next = block->list.at[j];
            if (!next)
                continue;
            if (!first && last->kind != IS_NOTE)
                put(c, "\n");
        }
        if (s->kind != IS_NOTE)
            line_directive(c, s);
        cuda_indent(c);
        first = false;
        last = s;
        if (i && i == cells) {
            print_cells(c, s, cuda_sets_all_or_fewer(c, s), true);
            continue;
        }
        switch (s->kind) {
        case IS_DECL:
            print_decl(c, s);
            if (s->var.var->nat)
                cuda_put_divisors_after(c, s->var.var->nat);
            break;
        case IS_SET:
        case IS_STORE:
        case IS_GIVE:
        case IS_AWAIT:
        case IS_SERVE:
            print_simple(c, s);
            put(c, "\n");
            break;
        case IS_VSET:
        case IS_VLOAD:
        case IS_VSTORE:
            print_vec(c, s);
            put(c, "\n");
            break;
        case IS_FOR:
            print_for(c, s);
            break;
        case IS_IF:
            print_if(c, s);
            break;
        case IS_ATOMIC:
            print_atomic(c, s);
            put(c, "\n");
            break;
        case IS_TICKET:
            print_ticket(c, s);
            put(c, "\n");
            break;
        case IS_GRID_SYNC:
            sb_printf(c->out, "%s(%s, ", cuda_helper(c, HELP_SYNC_GRID, SC_U32), c->buf_names[s->ticket.buf->id]);
            put_grid_size(c);
            put(c, ");\n");
            break;
        case IS_SYNC:
            put(c, s->sync == SYNC_WARP ? "__syncwarp();\n" : "__syncthreads();\n");
            break;
        case IS_NOTE:
            cuda_put_about(c, s->users, s->span, s->note);
            break;
        case IS_ALLOC:
            break;
        }
    }
}
