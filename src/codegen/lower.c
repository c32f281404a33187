#include "codegen/lowering.h"
#include "codegen/walk.h"

typedef struct PassRow {
    const char *name;
    void (*run)(Lowering *lw);
} PassRow;

static const PassRow passes[PASS_COUNT] = {
    [PASS_TRANSLATE] = {"translate", pass_translate}, [PASS_REGISTERS] = {"registers", pass_registers}, [PASS_MEMORY] = {"memory", pass_memory},
    [PASS_BARRIERS] = {"barriers", pass_barriers},
    [PASS_TILES] = {"tiles", pass_tiles},             [PASS_NAMES] = {"names", pass_names}};

const char *lower_pass_name(LowerPass pass) { return passes[pass].name; }

LowerPass lower_pass_find(const char *name)
{
    int p = 0;
    while (p < PASS_COUNT && strcmp(passes[p].name, name))
        p++;
    return (LowerPass)p;
}

ImpProgram *lower_entry(Ctx *ctx, const CoreEntry *entry, LowerPass last)
{
    Lowering lw = {.ctx = ctx, .entry = entry, .program = NEW(ctx, ImpProgram)};
    lw.program->entry = entry;
    for (int p = 0; p <= (int)last && p < PASS_COUNT && !lw.failed; p++)
        passes[p].run(&lw);
    return lw.failed ? NULL : lw.program;
}

/* ---- pass 6, names: parameters in order, identifiers unique; only the sizes that are used ------------------------------------ */

/* Words that a user may choose and CUDA C++ will not have as a name. */
static const char *const taken[] = {
    "alignas", "alignof", "asm", "auto", "bool", "break", "case", "catch", "char", "class", "const", "constexpr", "continue", "default", "delete", "do",
    "double", "dynamic_cast", "enum", "explicit", "export", "extern", "false", "float", "for", "friend", "goto", "inline", "int", "long", "mutable",
    "namespace", "new", "noexcept", "nullptr", "operator", "private", "protected", "public", "register", "restrict", "return", "short", "signed", "sizeof",
    "static", "struct", "switch", "template", "this", "throw", "true", "try", "typedef", "typeid", "typename", "union", "unsigned", "using", "virtual",
    "void", "volatile", "wchar_t", "while", "and", "or", "not", "xor", "bitand", "bitor", "compl", "and_eq", "or_eq", "xor_eq", "not_eq", "char8_t",
    "char16_t", "char32_t", "concept", "requires", "decltype", "const_cast", "static_assert", "thread_local", "threadIdx", "blockIdx", "blockDim",
    "gridDim", "warpSize", "min", "max", "abs", "sqrt", "exp", "exp2", "log", "log2", "sin", "cos", "tanh", "floor", "ceil", "rint", "fma", "pow", "fmin",
    "fmax", "fminf", "fmaxf", "sqrtf", "fabs", "fabsf", "half", "int2", "int4", "float2", "float4", "double2", "dim3", "uint", "main", "NULL", "assert",
    "printf", "malloc", "free", "warp", "lane", "thread", "threadY", "threadZ", "stream"};

static bool is_taken(Lowering *lw, const char *name, int n_vars, int n_bufs)
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
    for (int i = 0; i < n_vars; i++)
        if (!strcmp(k->vars.at[i]->name, name))
            return true;
    return false;
}

static const char *unique(Lowering *lw, const char *name, int n_vars, int n_bufs)
{
    const char *candidate = name;
    for (int k = 1; is_taken(lw, candidate, n_vars, n_bufs); k++)
        candidate = ctx_printf(lw->ctx, "%s_%d", name, k);
    return candidate;
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
    u->used |= (s->kind == IS_DECL || s->kind == IS_SET) && s->var.var == u->var;
}

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
        sorted[i]->name = unique(lw, sorted[i]->name, 0, i);
    }
    int vars = 0;
    for (int i = 0; i < k->vars.n; i++) { /* registers that the passes took away are gone */
        VarUse u = {k->vars.at[i], false};
        walk_stmts(&k->body, use_var, &u);
        if (u.used)
            k->vars.at[vars++] = k->vars.at[i];
    }
    k->vars.n = vars;
    for (int i = 0; i < vars; i++) {
        k->vars.at[i]->id = i;
        k->vars.at[i]->name = unique(lw, k->vars.at[i]->name, i, n);
    }
    k->sizes = NEWN(ctx, Nat, lw->entry->n_sizes);
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
}
