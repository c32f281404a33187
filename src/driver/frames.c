#include "driver/frames.h"

#include <elf.h>
#include <string.h>

/* Below that, a few registers lie there for a while: that costs little. */
enum { FRAME_WORTH = 128 };

void frames_note(Ctx *ctx, KernelOwners *owners, const CoreEntry *entry, const ImpProgram *imp)
{
    for (int k = 0; k < imp->kernels.n; k++)
        for (const ImpKernel *kernel = imp->kernels.at[k]; kernel; kernel = kernel->otherwise)
            vec_push(ctx, &owners->list, ((KernelOwner){intern_z(ctx, kernel->name), entry->item}));
}

/* ---- cubins ------------------------------------------------------------------------------------- */

/* A cubin is ELF. Its section .nv.info is a list of attributes, each with 4 bytes before it: the form of its value, which
 * attribute, and two bytes of value or its size. FRAME_SIZE has the number of a symbol and the bytes of its frame. */
enum { FORM_SIZED = 4, ATTRIBUTE_FRAME_SIZE = 0x11, ATTRIBUTE_HEAD = 4 };

typedef struct Cubin {
    const char *bytes;
    size_t size;
    Elf64_Ehdr head;
} Cubin;

/* n bytes at a place, copied: they may stand anywhere. */
static bool take(const Cubin *cubin, uint64_t at, void *to, size_t n)
{
    if (at > cubin->size || n > cubin->size - at)
        return false;
    memcpy(to, cubin->bytes + at, n);
    return true;
}

static bool section(const Cubin *cubin, int k, Elf64_Shdr *out) { return take(cubin, cubin->head.e_shoff + (uint64_t)k * sizeof *out, out, sizeof *out); }

/* A name in a table of names; NULL: it has no end there. */
static const char *name_in(const Cubin *cubin, int table, uint64_t at)
{
    Elf64_Shdr names;
    if (!section(cubin, table, &names) || names.sh_offset > cubin->size || names.sh_size > cubin->size - names.sh_offset || at >= names.sh_size)
        return NULL;
    const char *name = cubin->bytes + names.sh_offset + at;
    return memchr(name, 0, names.sh_size - at) ? name : NULL;
}

static bool open_cubin(Cubin *cubin, const Code *code)
{
    *cubin = (Cubin){.bytes = code->bytes, .size = code->size};
    return take(cubin, 0, &cubin->head, sizeof cubin->head) && memcmp(cubin->head.e_ident, ELFMAG, SELFMAG) == 0 && cubin->head.e_ident[EI_CLASS] == ELFCLASS64 &&
           cubin->head.e_shentsize == sizeof(Elf64_Shdr);
}

static const char *symbol_name(const Cubin *cubin, uint32_t number)
{
    Elf64_Shdr table;
    Elf64_Sym symbol;
    for (int k = 0; k < cubin->head.e_shnum; k++)
        if (section(cubin, k, &table) && table.sh_type == SHT_SYMTAB && number < table.sh_size / sizeof symbol &&
            take(cubin, table.sh_offset + number * sizeof symbol, &symbol, sizeof symbol))
            return name_in(cubin, (int)table.sh_link, symbol.st_name);
    return NULL;
}

/* ---- warnings ----------------------------------------------------------------------------------- */

typedef struct Frame {
    const Item *item;
    const char *kernel;
    uint32_t bytes;
} Frame;

typedef struct Frames {
    VEC(Frame) list; /* the largest of each entry */
} Frames;

static void add_frame(Ctx *ctx, Frames *frames, const KernelOwners *owners, const char *kernel, uint32_t bytes)
{
    const Item *item = NULL;
    for (int i = 0; kernel && i < owners->list.n && !item; i++)
        if (strcmp(owners->list.at[i].kernel, kernel) == 0)
            item = owners->list.at[i].item;
    if (!item || bytes < FRAME_WORTH || item_accepts(item, W0712))
        return;
    for (int i = 0; i < frames->list.n; i++)
        if (frames->list.at[i].item == item) {
            if (frames->list.at[i].bytes < bytes)
                frames->list.at[i] = (Frame){item, kernel, bytes};
            return;
        }
    vec_push(ctx, &frames->list, ((Frame){item, kernel, bytes}));
}

static void read_attributes(Ctx *ctx, const Cubin *cubin, const Elf64_Shdr *info, const KernelOwners *owners, Frames *frames)
{
    for (uint64_t at = 0; at + ATTRIBUTE_HEAD <= info->sh_size;) {
        struct {
            uint8_t form, attribute;
            uint16_t size;
        } head;
        uint32_t value[2]; /* symbol, bytes */
        if (!take(cubin, info->sh_offset + at, &head, sizeof head))
            return;
        at += ATTRIBUTE_HEAD;
        if (head.form != FORM_SIZED)
            continue;
        if (head.attribute == ATTRIBUTE_FRAME_SIZE && head.size == sizeof value && take(cubin, info->sh_offset + at, value, sizeof value))
            add_frame(ctx, frames, owners, symbol_name(cubin, value[0]), value[1]);
        at += head.size;
    }
}

void frames_warn(Ctx *ctx, const KernelOwners *owners, int arch, const Code *code)
{
    Cubin cubin;
    Elf64_Shdr info;
    Frames frames = {0};
    for (int k = 0; open_cubin(&cubin, code) && k < cubin.head.e_shnum; k++) {
        const char *name = section(&cubin, k, &info) ? name_in(&cubin, cubin.head.e_shstrndx, info.sh_name) : NULL;
        if (name && strcmp(name, ".nv.info") == 0)
            read_attributes(ctx, &cubin, &info, owners, &frames);
    }
    for (int i = 0; i < frames.list.n; i++) {
        const Frame *frame = &frames.list.at[i];
        Diag *diag = diag_warning(ctx, W0712, frame->item->name_span, "on sm_%d, each thread of `%s` keeps %u bytes in local memory, where accesses are slow", arch, frame->kernel, frame->bytes);
        diag_note(ctx, diag, NO_SPAN, "give each thread smaller pieces, or a block fewer threads (`launch [threads = 128]`), so that there are more registers for each; what threads share can lie in `toShared`");
    }
}
