/* W0712 of a small cubin that is made here: two kernels and their frames; and of that file cut off or damaged anywhere. */
#include <elf.h>

#include "driver/frames.h"
#include "frontend/elab.h"
#include "unit.h"

enum { SECTIONS = 5, INFO = 1, SYMBOLS = 2, NAMES = 3, SECTION_NAMES = 4, LARGE = 4096, SMALL = 64 };

static const char program_text[] = "entry f {n: nat} (xs: n.f32): n.f32 = xs |> mapGlobal(fun x => x + 1)\n"
                                   "entry g {n: nat} (xs: n.f32): n.f32 = xs |> mapGlobal(fun x => x * 2)\n"
                                   "entry h {n: nat} (xs: n.f32): n.f32 accept [W0712] = xs |> mapGlobal(fun x => x * 2)\n";

typedef struct Cubin {
    Elf64_Ehdr head;
    Elf64_Shdr sections[SECTIONS];
    Elf64_Sym symbols[4];
    unsigned char info[4 * 12];
    char names[16], section_names[16];
} Cubin;

static void put_section(Cubin *c, int k, uint32_t type, const void *at, size_t size)
{
    c->sections[k].sh_type = type;
    c->sections[k].sh_offset = (uint64_t)((const char *)at - (const char *)c);
    c->sections[k].sh_size = size;
}

/* Symbol k has so many bytes. */
static void put_frame(Cubin *c, int at, uint32_t symbol, uint32_t bytes)
{
    const unsigned char head[4] = {4, 0x11, 8, 0};
    memcpy(c->info + 12 * at, head, 4);
    memcpy(c->info + 12 * at + 4, &symbol, 4);
    memcpy(c->info + 12 * at + 8, &bytes, 4);
}

static void make(Cubin *c)
{
    memset(c, 0, sizeof *c);
    memcpy(c->head.e_ident, ELFMAG, SELFMAG);
    c->head.e_ident[EI_CLASS] = ELFCLASS64;
    c->head.e_shoff = sizeof c->head;
    c->head.e_shentsize = sizeof(Elf64_Shdr);
    c->head.e_shnum = SECTIONS;
    c->head.e_shstrndx = SECTION_NAMES;
    memcpy(c->section_names, "\0.nv.info", 10);
    memcpy(c->names, "\0f\0g\0h\0other", 12);
    put_section(c, INFO, SHT_NULL, c->info, sizeof c->info);
    put_section(c, SYMBOLS, SHT_SYMTAB, c->symbols, sizeof c->symbols);
    put_section(c, NAMES, SHT_STRTAB, c->names, sizeof c->names);
    put_section(c, SECTION_NAMES, SHT_STRTAB, c->section_names, sizeof c->section_names);
    c->sections[INFO].sh_name = 1;
    c->sections[SYMBOLS].sh_link = NAMES;
    for (uint32_t k = 0; k < 4; k++)
        c->symbols[k].st_name = 2 * k + 1;
    put_frame(c, 0, 0, LARGE);
    put_frame(c, 1, 1, SMALL);
    put_frame(c, 2, 2, LARGE);
    put_frame(c, 3, 3, LARGE);
}

/* How many warnings; text: of the first. The bytes have an end of their own, which sanitizers see. */
static int warned(Ctx *ctx, const KernelOwners *owners, const void *bytes, size_t size, const char **text)
{
    char *copy = malloc(size ? size : 1);
    memcpy(copy, bytes, size);
    ctx->diags = (Diags){0};
    frames_warn(ctx, owners, 90, &(Code){.bytes = copy, .size = size});
    *text = ctx->diags.list.n ? ctx->diags.list.at[0]->message : "";
    free(copy);
    return ctx->diags.list.n;
}

static void run(Ctx *ctx, void *user)
{
    Program *program = program_from_text(ctx, "frames.rise", program_text, strlen(program_text));
    KernelOwners owners = {0};
    Cubin cubin;
    const char *text;
    (void)user;
    CHECK(!program_failed(program));
    for (int k = 0; k < 3; k++)
        vec_push(ctx, &owners.list, ((KernelOwner){program_entry_name(program, k), program_entry_item(program, k)}));
    make(&cubin);
    CHECK(warned(ctx, &owners, &cubin, sizeof cubin, &text) == 1);
    CHECK(strstr(text, "`f` keeps 4096 bytes") && strstr(text, "sm_90"));
    CHECK(warned(ctx, &owners, "extern \"C\"", 10, &text) == 0);
    for (size_t n = 0; n < sizeof cubin; n++)
        CHECK(warned(ctx, &owners, &cubin, n, &text) <= 1);
    for (size_t at = 0; at < sizeof cubin; at++)
        for (int bit = 0; bit < 8; bit++) {
            unsigned char damaged[sizeof cubin];
            memcpy(damaged, &cubin, sizeof cubin);
            damaged[at] ^= (unsigned char)(1 << bit);
            CHECK(warned(ctx, &owners, damaged, sizeof damaged, &text) <= 3);
        }
}

int main(void)
{
    Ctx *ctx = ctx_new(NULL, NULL);
    CHECK(ctx && ctx_try(ctx, run, NULL));
    ctx_free(ctx);
    return unit_end();
}
