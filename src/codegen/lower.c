#include "rewrite/rewrite.h"
#include "codegen/imp_verify.h"
#include "codegen/index_guards.h"
#include "codegen/lowering.h"
#include "codegen/walk.h"

typedef struct PassRow {
    const char *name;
    void (*run)(Lowering *lw);
} PassRow;

static const PassRow passes[PASS_COUNT] = {
    [PASS_TRANSLATE] = {"translate", pass_translate},
    [PASS_PREFETCH] = {"prefetch", pass_prefetch},
    [PASS_LITERALS] = {"literals", pass_literals},
    [PASS_REGISTERS] = {"registers", pass_registers},
    [PASS_CONDITIONS] = {"conditions", pass_conditions},
    [PASS_UNITS] = {"units", pass_units},
    [PASS_MEMORY] = {"memory", pass_memory},
    [PASS_BARRIERS] = {"barriers", pass_barriers},
    [PASS_SINK] = {"sink", pass_sink},
    [PASS_STRIDES] = {"strides", pass_strides},
    [PASS_TILES] = {"tiles", pass_tiles},
    [PASS_VECTORS] = {"vectors", pass_vectors},
    [PASS_COMMON] = {"common", pass_common},
    [PASS_HOIST] = {"hoist", pass_hoist},
    [PASS_NAMES] = {"names", pass_names}};

const char *lower_pass_name(LowerPass pass) { return passes[pass].name; }

LowerPass lower_pass_find(const char *name)
{
    int p = 0;
    while (p < PASS_COUNT && strcmp(passes[p].name, name))
        p++;
    return (LowerPass)p;
}

static void verify(Lowering *lw)
{
    Span where;
    const char *missing = imp_verify(lw->ctx, lw->kernel, &where);
    if (missing)
        lower_error(lw, E0510, where, "`%s` is used here before it is known", missing);
}

static ImpProgram *lower_variant(Ctx *ctx, const CoreEntry *entry, LowerPass last, bool narrow)
{
    Lowering lw = {.ctx = ctx, .entry = entry, .program = NEW(ctx, ImpProgram), .narrow = narrow};
    lw.program->entry = entry;
    pass_translate(&lw);
    for (int k = 0; k < lw.program->kernels.n; k++) {
        lw.kernel = lw.program->kernels.at[k];
        lw.any_block = kernel_has_blocks(lw.kernel);
        imp_own_all(ctx, &lw.kernel->body); /* passes change expressions where they stand, and the translation may use one in several statements */
        for (int p = PASS_TRANSLATE + 1; p <= (int)last && p < PASS_COUNT && !lw.failed; p++)
            passes[p].run(&lw);
        if (!lw.failed)
            verify(&lw);
    }
    return lw.failed ? NULL : lw.program;
}

bool lower_rewritten(Ctx *ctx, const CoreEntry *entry) { return lower_variant(ctx, entry, (LowerPass)(PASS_COUNT - 1), false) != NULL; }

/* The same kernel for sizes whose indices need more than 31 bits; NULL when there are none, or the host could not tell. */
static ImpKernel *wide_twin(Ctx *ctx, ImpKernel *k)
{
    IndexGuards guards;
    index_guards(ctx, k, &guards);
    for (int i = 0; i < guards.at_most_max.n; i++)
        k->wide |= nat_le(ctx, k->known, nat_const(ctx, INDEX_MAX + 1), guards.at_most_max.at[i]); /* it never fits */
    if (k->wide)
        return NULL;
    if (index_guards_hold(ctx, k, &guards) || !index_guards_are_plain(&guards))
        return NULL;
    ImpKernel *wide = NEW(ctx, ImpKernel);
    *wide = *k;
    wide->wide = true;
    wide->name = ctx_printf(ctx, "%s_64", k->name);
    return wide;
}

/* Kernels with a guard get variants without: for wide indices, and for buffers that are not aligned, which then has wide indices, too. */
static void add_variants(Ctx *ctx, ImpProgram *program, LowerPass last)
{
    bool guarded = false;
    for (int i = 0; i < program->kernels.n; i++)
        guarded |= imp_has_guard(program->kernels.at[i]);
    ImpProgram *narrow = guarded ? lower_variant(ctx, program->entry, last, true) : NULL;
    for (int i = 0; i < program->kernels.n; i++) {
        ImpKernel *k = program->kernels.at[i];
        bool plain = last == PASS_COUNT - 1;
        ImpKernel *wide = plain ? wide_twin(ctx, k) : NULL;
        if (narrow && imp_has_guard(k)) {
            k->otherwise = narrow->kernels.at[i];
            k->otherwise->name = ctx_printf(ctx, "%s_unaligned", k->otherwise->name);
            k->otherwise->wide = wide || k->wide;
        }
        if (wide) {
            wide->otherwise = k->otherwise;
            k->otherwise = wide;
        }
    }
}

ImpProgram *lower_entry(Ctx *ctx, const CoreEntry *entry, LowerPass last)
{
    entry = rewritten_entry(ctx, entry);
    if (!entry)
        return NULL;
    ImpProgram *program = lower_variant(ctx, entry, last, false);
    if (program)
        add_variants(ctx, program, last);
    return program;
}

/* ---- the last pass, names: parameters in order, identifiers unique; only the sizes that are used ------------------------------------ */

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
    "printf", "malloc", "free", "warp", "lane", "thread", "threadY", "threadZ", "stream"};

typedef struct Names { /* of the registers that are in scope */
    VEC(ImpVar *) scope;
} Names;

static bool is_taken(Lowering *lw, const char *name, const Names *names, int n_bufs)
{
    const ImpKernel *k = lw->kernel;
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        if (!strcmp(taken[i], name))
            return true;
    if (!strcmp(name, k->name))
        return true;
    for (int i = 0; i < lw->entry->n_sizes; i++)
        if (!strcmp(lw->entry->sizes[i]->name, name))
            return true;
    for (int i = 0; i < n_bufs; i++)
        if (!strcmp(k->bufs.at[i]->name, name))
            return true;
    for (int i = 0; names && i < names->scope.n; i++)
        if (!strcmp(names->scope.at[i]->name, name))
            return true;
    return false;
}

static const char *unique(Lowering *lw, const char *name, const Names *names, int n_bufs)
{
    const char *candidate = name;
    for (int k = 1; is_taken(lw, candidate, names, n_bufs); k++)
        candidate = ctx_printf(lw->ctx, "%s_%d", name, k);
    return candidate;
}

/* Workspace has one name in all kernels of the entry: that is how a host tells that it is the same memory. */
static const char *workspace_name(Lowering *lw, const ImpBuf *buf, int n_bufs)
{
    ImpBuf *global = buf->component < lw->globals.n ? lw->globals.at[buf->component] : NULL;
    if (!global)
        return unique(lw, buf->name, NULL, n_bufs);
    const char *candidate = global->name;
    bool clash = !global->named;
    for (int k = 0; clash; k++) {
        candidate = k ? ctx_printf(lw->ctx, "%s_%d", global->name, k) : global->name;
        clash = is_taken(lw, candidate, NULL, n_bufs);
        for (int i = 0; i < lw->globals.n && !clash; i++) {
            const ImpBuf *other = lw->globals.at[i];
            clash = other != global && (other->space != SPACE_TEMP || other->named) && !strcmp(other->name, candidate);
        }
    }
    global->named = true;
    return global->name = candidate;
}

/* Registers of blocks that do not contain each other may have the same name. */
static void name_registers(Lowering *lw, const ImpBlock *block, Names *names, bool *named)
{
    int outer = names->scope.n;
    for (int i = 0; i < block->list.n; i++) {
        ImpStmt *s = block->list.at[i];
        if (imp_declares(s)) {
            ImpVar *var = imp_sets(s);
            if (named[var->id] && is_taken(lw, var->name, names, lw->kernel->bufs.n)) { /* a copy, in a place where its name means another */
                for (int k = 0; k < lw->kernel->vars.n; k++)
                    if (named[k] && lw->kernel->vars.at[k] != var)
                        vec_push(lw->ctx, &names->scope, lw->kernel->vars.at[k]);
                named[var->id] = false;
            }
            if (!named[var->id])
                var->name = unique(lw, var->name, names, lw->kernel->bufs.n);
            named[var->id] = true;
            vec_push(lw->ctx, &names->scope, var);
        }
        if (s->kind == IS_FOR)
            name_registers(lw, &s->loop.body, names, named);
        if (s->kind == IS_IF) {
            name_registers(lw, &s->branch.then, names, named);
            name_registers(lw, &s->branch.otherwise, names, named);
        }
    }
    names->scope.n = outer;
}

/* A note stays where something follows that the note before it does not already announce. */
static void keep_notes(Lowering *lw, ImpBlock *block, const ImpStmt **last)
{
    for (int i = 0; i < block->list.n; i++) {
        ImpStmt *s = block->list.at[i];
        if (s->kind == IS_NOTE) {
            int line, last_line = 0, column;
            bool followed = i + 1 < block->list.n && block->list.at[i + 1]->kind != IS_NOTE;
            source_position(lw->ctx, s->span, &line, &column);
            if (*last)
                source_position(lw->ctx, (*last)->span, &last_line, &column);
            if (!followed || (*last && (*last)->span.file == s->span.file && last_line == line))
                block_remove(block, i--);
            else
                *last = s;
        }
        if (s->kind == IS_FOR)
            keep_notes(lw, &s->loop.body, last);
        if (s->kind == IS_IF) {
            keep_notes(lw, &s->branch.then, last);
            keep_notes(lw, &s->branch.otherwise, last);
        }
    }
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

typedef struct VarUse {
    const ImpVar *var;
    bool used;
} VarUse;

static void use_var(void *user, ImpStmt *s)
{
    VarUse *u = user;
    u->used |= imp_sets(s) == u->var || (s->kind == IS_SERVE && (s->serve.sum == u->var || s->serve.next == u->var));
}

/* numSM and maxResident where indices mention them: parameters like the sizes. */
typedef struct DeviceSizes {
    Ctx *ctx;
    Nat at[2];
    int n;
} DeviceSizes;

static void find_device_size(void *user, Nat var)
{
    DeviceSizes *d = user;
    if (imp_is_device_size(var) && !(d->n && d->at[0] == var) && d->n < 2)
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
    for (int i = 0; i < n; i++) {
        k->bufs.at[i] = sorted[i];
        sorted[i]->id = i;
        sorted[i]->name = sorted[i]->space == SPACE_TEMP ? workspace_name(lw, sorted[i], i) : unique(lw, sorted[i]->name, NULL, i);
    }
    int vars = 0;
    for (int i = 0; i < k->vars.n; i++) { /* registers that the passes took away are gone */
        VarUse u = {k->vars.at[i], false};
        walk_stmts(&k->body, use_var, &u);
        if (u.used)
            k->vars.at[vars++] = k->vars.at[i];
    }
    k->vars.n = vars;
    for (int i = 0; i < vars; i++)
        k->vars.at[i]->id = i;
    Names names = {{0}};
    name_registers(lw, &k->body, &names, NEWN(ctx, bool, vars + 1));
    DeviceSizes device = {.ctx = ctx};
    walk_stmts(&k->body, stmt_device_sizes, &device);
    k->sizes = NEWN(ctx, Nat, lw->entry->n_sizes + 2);
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
