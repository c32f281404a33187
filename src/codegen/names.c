/* Pass names, the last one: parameters in order, identifiers unique; only the sizes and registers that are used. */
#include "codegen/c_names.h"
#include "codegen/lowering.h"
#include "codegen/walk.h"

/* Words that a user may choose and CUDA C++ will not have as a name. */
static const char *const taken[] = {
    "alignas", "alignof", "asm", "auto", "bool", "break", "case", "catch", "char", "class", "const", "constexpr", "continue", "default", "delete", "do",
    "double", "dynamic_cast", "enum", "explicit", "export", "extern", "false", "float", "for", "friend", "goto", "inline", "int", "long", "mutable",
    "namespace", "new", "noexcept", "nullptr", "operator", "private", "protected", "public", "register", "restrict", "return", "short", "signed", "sizeof",
    "static", "struct", "switch", "template", "this", "throw", "true", "try", "typedef", "typeid", "typename", "union", "unsigned", "using", "virtual",
    "void", "volatile", "wchar_t", "while", "and", "or", "not", "xor", "bitand", "bitor", "compl", "and_eq", "or_eq", "xor_eq", "not_eq", "char8_t",
    "char16_t", "char32_t", "concept", "requires", "decltype", "const_cast", "static_assert", "thread_local", "threadIdx", "blockIdx", "blockDim",
    "gridDim", "warpSize", "min", "max", "abs", "sqrt", "exp", "exp2", "log", "log2", "sin", "cos", "tanh", "floor", "ceil", "rint", "fma", "pow", "fmin",
    "fmax", "fminf", "fmaxf", "sqrtf", "fabs", "fabsf", "half", "char2", "char4", "uchar2", "uchar4", "short2", "short4", "ushort2", "ushort4", "int2", "int4", "uint2", "uint4",
    "longlong2", "ulonglong2", "float2", "float4", "double2", "dim3", "uint", "main", "NULL", "assert",
    "size_t", "int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t", "cudaStream_t",
    "cudaError_t", "printf", "malloc", "free", "warp", "lane", "thread", "threadY", "threadZ", "stream"};

typedef struct Naming {
    Lowering *lw;
    CNames *scope; /* what is taken here */
    CNames *given; /* every name that a register has got so far */
    bool *named;   /* by id of the register */
    bool fresh;    /* up to the end of the block, no name of a register stands for another one again */
} Naming;

/* Workspace has one name in all kernels of the entry: that is how a host tells that it is the same memory. */
static const char *workspace_name(Naming *n, const ImpBuf *buf)
{
    Lowering *lw = n->lw;
    ImpBuf *global = buf->component < lw->globals.n ? lw->globals.at[buf->component] : NULL;
    if (!global)
        return c_name_claim(n->scope, buf->name);
    const char *candidate = global->name;
    bool clash = !global->named;
    for (int k = 0; clash; k++) {
        candidate = k ? ctx_printf(lw->ctx, "%s_%d", global->name, k) : global->name;
        clash = c_name_is_taken(n->scope, candidate);
        for (int i = 0; i < lw->globals.n && !clash; i++) {
            const ImpBuf *other = lw->globals.at[i];
            clash = other != global && (other->space != SPACE_TEMP || other->named) && !strcmp(other->name, candidate);
        }
    }
    global->named = true;
    c_name_take(n->scope, candidate);
    return global->name = candidate;
}

static void name_register(Naming *n, ImpVar *var)
{
    if (n->named[var->id] && c_name_is_taken(n->scope, var->name)) { /* a copy, in a place where its name means another */
        n->fresh = true;
        n->named[var->id] = false;
    }
    if (n->named[var->id]) {
        c_name_take(n->scope, var->name);
        return;
    }
    const char *wanted = var->base ? var->base : var->name;
    var->base = wanted;
    do
        var->name = c_name_claim(n->scope, wanted);
    while (n->fresh && c_name_is_taken(n->given, var->name));
    c_name_take(n->given, var->name);
    n->named[var->id] = true;
}

/* Registers of blocks that do not contain each other may have the same name. */
static void name_registers(Naming *n, const ImpBlock *block)
{
    int mark = c_names_mark(n->scope);
    bool fresh = n->fresh;
    for (int i = 0; i < block->list.n; i++) {
        ImpStmt *s = block->list.at[i];
        if (imp_declares(s))
            name_register(n, imp_sets(s));
        if (s->kind == IS_FOR)
            name_registers(n, &s->loop.body);
        if (s->kind == IS_IF) {
            name_registers(n, &s->branch.then);
            name_registers(n, &s->branch.otherwise);
        }
    }
    n->fresh = fresh;
    c_names_release(n->scope, mark);
}

/* A note stays where something follows that the note before it does not already announce. */
static void keep_notes(Lowering *lw, ImpBlock *block, const ImpStmt **last)
{
    int kept = 0;
    for (int i = 0; i < block->list.n; i++) {
        ImpStmt *s = block->list.at[i];
        if (s->kind == IS_NOTE) {
            int line, last_line = 0, column;
            bool followed = i + 1 < block->list.n && block->list.at[i + 1]->kind != IS_NOTE;
            source_position(lw->ctx, s->span, &line, &column);
            if (*last)
                source_position(lw->ctx, (*last)->span, &last_line, &column);
            if (!followed || (*last && (*last)->span.file == s->span.file && last_line == line))
                continue;
            *last = s;
        }
        block->list.at[kept++] = s;
        if (s->kind == IS_FOR)
            keep_notes(lw, &s->loop.body, last);
        if (s->kind == IS_IF) {
            keep_notes(lw, &s->branch.then, last);
            keep_notes(lw, &s->branch.otherwise, last);
        }
    }
    block->list.n = kept;
}

typedef struct SizeUse {
    Nat size;
    bool used;
} SizeUse;

static void use_size(void *user, Nat nat)
{
    SizeUse *u = user;
    u->used |= nat_mentions(nat, u->size);
}

static void stmt_sizes(void *user, ImpStmt *s) { walk_nats(s, use_size, user); }

static void use_vars(void *user, ImpStmt *s)
{
    bool *used = user;
    if (imp_sets(s))
        used[imp_sets(s)->id] = true;
    for (int k = 0; s->kind == IS_SERVE && k < s->serve.n_parts; k++)
        used[s->serve.parts[k].sum->id] = used[s->serve.parts[k].next->id] = true;
}

/* Registers that the passes took away are gone, and the others are numbered again. */
static void keep_registers(Lowering *lw)
{
    ImpKernel *k = lw->kernel;
    bool *used = NEWN(lw->ctx, bool, k->vars.n + 1);
    int kept = 0;
    walk_stmts(&k->body, use_vars, used);
    for (int i = 0; i < k->vars.n; i++)
        if (used[k->vars.at[i]->id])
            k->vars.at[kept++] = k->vars.at[i];
    k->vars.n = kept;
    for (int i = 0; i < kept; i++)
        k->vars.at[i]->id = i;
}

/* numSM, maxResident and the turn where indices mention them: parameters like the sizes. */
typedef struct DeviceSizes {
    Ctx *ctx;
    Nat at[3];
    int n;
} DeviceSizes;

static void find_device_size(void *user, Nat var)
{
    DeviceSizes *d = user;
    bool known = !imp_is_device_size(var);
    for (int i = 0; i < d->n; i++)
        known |= d->at[i] == var;
    if (!known)
        d->at[d->n++] = var;
}

static void nat_device_sizes(void *user, Nat nat) { nat_each_var(((DeviceSizes *)user)->ctx, nat, find_device_size, user); }
static void stmt_device_sizes(void *user, ImpStmt *s) { walk_nats(s, nat_device_sizes, user); }

void pass_names(Lowering *lw)
{
    static const ImpSpace order[] = {SPACE_OUTPUT, SPACE_INPUT, SPACE_TEMP, SPACE_SHARED};
    Ctx *ctx = lw->ctx;
    ImpKernel *k = lw->kernel;
    const ImpStmt *last = NULL;
    keep_notes(lw, &k->body, &last);
    ImpBuf **sorted = NEWN(ctx, ImpBuf *, k->bufs.n);
    int n = 0;
    for (size_t o = 0; o < sizeof order / sizeof *order; o++)
        for (int i = 0; i < k->bufs.n; i++)
            if (k->bufs.at[i]->space == order[o])
                sorted[n++] = k->bufs.at[i];
    Naming naming = {.lw = lw, .scope = c_names_new(ctx, false), .given = c_names_new(ctx, false)};
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        c_name_take(naming.scope, taken[i]);
    c_name_take(naming.scope, k->name);
    for (int i = 0; i < lw->entry->n_sizes; i++)
        c_name_take(naming.scope, lw->entry->sizes[i]->name);
    for (int i = 0; i < n; i++) {
        k->bufs.at[i] = sorted[i];
        sorted[i]->id = i;
        sorted[i]->name = sorted[i]->space == SPACE_TEMP ? workspace_name(&naming, sorted[i]) : c_name_claim(naming.scope, sorted[i]->name);
    }
    for (int i = 0; i < n; i++)
        if (sorted[i]->swap) {
            sorted[i]->swap = lw->globals.at[sorted[i]->swap->component];
            workspace_name(&naming, sorted[i]->swap);
        }
    keep_registers(lw);
    naming.named = NEWN(ctx, bool, k->vars.n + 1);
    name_registers(&naming, &k->body);
    DeviceSizes device = {.ctx = ctx};
    walk_stmts(&k->body, stmt_device_sizes, &device);
    k->sizes = NEWN(ctx, Nat, lw->entry->n_sizes + 3);
    k->n_sizes = 0;
    for (int i = 0; i < lw->entry->n_sizes; i++) {
        SizeUse u = {lw->entry->sizes[i], false};
        walk_stmts(&k->body, stmt_sizes, &u);
        use_size(&u, k->shared_bytes);
        for (int b = 0; b < n; b++)
            if (k->bufs.at[b]->offset)
                use_size(&u, k->bufs.at[b]->offset);
        if (u.used)
            k->sizes[k->n_sizes++] = lw->entry->sizes[i];
    }
    for (int i = 0; i < device.n; i++)
        k->sizes[k->n_sizes++] = device.at[i];
}
