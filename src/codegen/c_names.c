#include "codegen/c_names.h"

/* Keywords, what CUDA declares in every kernel, and what nvcc defines as macros. Functions that the printer calls are added from its tables. */
static const char *const taken_words[] = {
    /* C++ */
    "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break", "case", "catch", "char", "char16_t", "char32_t", "char8_t",
    "class", "co_await", "co_return", "co_yield", "compl", "concept", "const", "const_cast", "consteval", "constexpr", "constinit", "continue", "decltype",
    "default", "delete", "do", "double", "dynamic_cast", "else", "enum", "explicit", "export", "extern", "false", "float", "for", "friend", "goto", "if",
    "inline", "int", "long", "mutable", "namespace", "new", "noexcept", "not", "not_eq", "nullptr", "operator", "or", "or_eq", "private", "protected",
    "public", "register", "reinterpret_cast", "requires", "restrict", "return", "short", "signed", "sizeof", "static", "static_assert", "static_cast",
    "struct", "switch", "template", "this", "thread_local", "throw", "true", "try", "typedef", "typeid", "typename", "typeof", "union", "unsigned", "using",
    "virtual", "void", "volatile", "wchar_t", "while", "xor", "xor_eq",
    /* CUDA */
    "threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize", "dim3", "size_t", "cudaStream_t", "half", "uint", "ushort", "uchar", "ulong",
    /* macros */
    "linux", "unix", "i386", "assert", "alloca", "errno", "stdin", "stdout", "stderr", "major", "minor", "makedev", "signbit", "isnan", "isinf", "isfinite",
    "NULL", "EOF", "NAN", "INFINITY", "HUGE_VAL", "BUFSIZ", "SEEK_SET", "SEEK_CUR", "SEEK_END", "RAND_MAX", "CHAR_BIT", "DOMAIN", "OVERFLOW", "UNDERFLOW",
    "SING", "PLOSS", "TLOSS", "NFDBITS", "FD_SET", "WNOHANG", "NZERO", "TMP_MAX", "math_errhandling"};

static const char *const taken_functions[] = {
#define NAME(name) #name,
#include "codegen/c_names.def"
#undef NAME
};

typedef struct Slot {
    const char *name; /* interned; NULL: free */
    int suffix;       /* the next one to try */
    bool taken;
    const char *base; /* claimed as base_number; NULL: as it stands */
    int number;
} Slot;

typedef struct NatSlot {
    Nat var;
    const char *name;
} NatSlot;

struct CNames {
    Ctx *ctx;
    bool cuda;
    Slot *slots; /* open addressing by address; only for finding, never for order */
    int cap, n;
    VEC(const char *) claimed;
    NatSlot *nats;
    int nat_cap, nat_n;
};

static size_t hash_pointer(const void *p) { return (size_t)(((uintptr_t)p >> 4) * 0x9e3779b97f4a7c15u >> 20); }

static Slot *find_slot(Slot *slots, int cap, const char *name)
{
    size_t i = hash_pointer(name) & (size_t)(cap - 1);
    while (slots[i].name && slots[i].name != name)
        i = (i + 1) & (size_t)(cap - 1);
    return &slots[i];
}

static Slot *slot_of(CNames *names, const char *name)
{
    if (2 * names->n >= names->cap) {
        int cap = names->cap ? 2 * names->cap : 512;
        Slot *slots = NEWN(names->ctx, Slot, cap);
        for (int i = 0; i < names->cap; i++)
            if (names->slots[i].name)
                *find_slot(slots, cap, names->slots[i].name) = names->slots[i];
        names->slots = slots;
        names->cap = cap;
    }
    Slot *slot = find_slot(names->slots, names->cap, name);
    if (!slot->name) {
        slot->name = name;
        slot->suffix = 1;
        names->n++;
    }
    return slot;
}

CNames *c_names_new(Ctx *ctx, bool cuda)
{
    CNames *names = NEW(ctx, CNames);
    names->ctx = ctx;
    names->cuda = cuda;
    for (size_t i = 0; cuda && i < sizeof taken_words / sizeof *taken_words; i++)
        slot_of(names, intern_z(ctx, taken_words[i]))->taken = true;
    return names;
}

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* Names that begin with an underscore and a capital, or with two, are the compiler's. */
static const char *identifier(CNames *names, const char *wanted)
{
    StrBuf sb;
    sb_init(&sb, names->ctx);
    if (!is_letter(wanted[0]) || (names->cuda && wanted[0] == '_' && (wanted[1] == '_' || (wanted[1] >= 'A' && wanted[1] <= 'Z'))))
        sb_putc(&sb, 'v');
    for (const char *c = wanted; *c; c++)
        sb_putc(&sb, is_letter(*c) || is_digit(*c) ? *c : '_');
    return intern_z(names->ctx, sb.text);
}

const char *c_name_claim(CNames *names, const char *wanted)
{
    const char *base = identifier(names, wanted), *name = base;
    int number = 0;
    while (slot_of(names, name)->taken) {
        number = slot_of(names, base)->suffix++;
        name = intern_z(names->ctx, ctx_printf(names->ctx, "%s_%d", base, number));
    }
    Slot *slot = slot_of(names, name);
    slot->taken = true;
    slot->base = number ? base : NULL;
    slot->number = number;
    vec_push(names->ctx, &names->claimed, name);
    return name;
}

bool c_name_is_taken(CNames *names, const char *name) { return slot_of(names, intern_z(names->ctx, name))->taken; }

void c_name_take(CNames *names, const char *name)
{
    name = intern_z(names->ctx, name);
    Slot *slot = slot_of(names, name);
    if (slot->taken)
        return;
    slot->taken = true;
    slot->base = NULL;
    vec_push(names->ctx, &names->claimed, name);
}

static bool is_vector_type(const char *name)
{
    static const char *const types[] = {"char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "longlong", "ulonglong", "float", "double"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        size_t n = strlen(types[i]);
        if (!strncmp(name, types[i], n) && name[n] >= '1' && name[n] <= '4' && (!name[n + 1] || name[n + 1] == '_'))
            return true;
    }
    return false;
}

const char *c_name_claim_loop(CNames *names, const char *wanted)
{
    static const char *const loops[] = {"i", "j", "k", "l"};
    const size_t n = sizeof loops / sizeof *loops;
    for (size_t first = 0; first < n; first++)
        if (!strcmp(wanted, loops[first]))
            for (size_t step = 0; step < n; step++) {
                const char *name = loops[(first + step) % n];
                if (!slot_of(names, intern_z(names->ctx, name))->taken)
                    return c_name_claim(names, name);
            }
    return c_name_claim(names, wanted);
}

static bool is_function(const char *name, const char *function)
{
    static const char *const types[] = {"", "f", "l", "f32", "f32x", "f64", "f64x"};
    size_t n = strlen(function);
    bool is = false;
    for (size_t k = 0; !strncmp(name, function, n) && k < sizeof types / sizeof *types; k++)
        is |= !strcmp(name + n, types[k]);
    return is;
}

const char *c_name_claim_global(CNames *names, const char *wanted)
{
    const char *base = identifier(names, wanted);
    bool taken = !strncmp(base, "cuda", 4) || is_vector_type(base);
    for (size_t i = 0; !taken && i < sizeof taken_functions / sizeof *taken_functions; i++)
        taken = is_function(base, taken_functions[i]);
    return c_name_claim(names, taken ? ctx_printf(names->ctx, "rise_%s", base) : base);
}

int c_names_mark(const CNames *names) { return names->claimed.n; }

void c_names_release(CNames *names, int mark)
{
    while (names->claimed.n > mark) {
        Slot *slot = slot_of(names, names->claimed.at[--names->claimed.n]);
        slot->taken = false;
        Slot *base = slot->base ? slot_of(names, slot->base) : NULL;
        if (base && base->suffix > slot->number)
            base->suffix = slot->number;
    }
}

/* ---- nat variables --------------------------------------------------------------------------------------------------- */

static NatSlot *find_nat(NatSlot *slots, int cap, Nat var)
{
    size_t i = (size_t)var->id * 2654435769u & (size_t)(cap - 1);
    while (slots[i].var && slots[i].var != var)
        i = (i + 1) & (size_t)(cap - 1);
    return &slots[i];
}

void c_names_set(CNames *names, Nat var, const char *name)
{
    if (2 * names->nat_n >= names->nat_cap) {
        int cap = names->nat_cap ? 2 * names->nat_cap : 64;
        NatSlot *slots = NEWN(names->ctx, NatSlot, cap);
        for (int i = 0; i < names->nat_cap; i++)
            if (names->nats[i].var)
                *find_nat(slots, cap, names->nats[i].var) = names->nats[i];
        names->nats = slots;
        names->nat_cap = cap;
    }
    NatSlot *slot = find_nat(names->nats, names->nat_cap, var);
    names->nat_n += !slot->var;
    *slot = (NatSlot){var, name};
}

const char *c_names_get(const CNames *names, Nat var)
{
    const char *name = names->nat_cap ? find_nat(names->nats, names->nat_cap, var)->name : NULL;
    return name ? name : var->name;
}

const char *c_names_of(void *names, Nat var) { return c_names_get(names, var); }
