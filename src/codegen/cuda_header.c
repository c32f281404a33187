/* The header for C and C++: declarations, the code of the kernels, and the functions of the host, which call the CUDA driver. docs/header.md describes it.
 *
 * Nothing of it is shared with another header, not even a type: two headers may be of two versions of risec. What is the same in all of them stands in
 * header/, with `sum_` and `SUM_` for what its names begin with. */
#include "codegen/cuda_internal.h"
#include "support/embedded.h"
#include "version.h"

struct Header {
    Ctx *ctx;
    HeaderPrefix prefix;
    const char *name;         /* the prefix without its underscore */
    CNames *globals;
    StrBuf declarations, kernels, host;
    VEC(const char *) launches;
    int n_kernels;
};

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* "my-sum" gives "my_sum", "2d" gives "rise_2d". C++ keeps names with two `_` in a row for itself. */
static const char *identifier(Ctx *ctx, const char *name)
{
    StrBuf out;
    sb_init(&out, ctx);
    if (!is_letter(*name))
        sb_puts(&out, "rise");
    for (bool gap = out.len > 0; *name; name++) {
        const bool own = is_letter(*name) || is_digit(*name);
        if (own)
            sb_printf(&out, "%s%c", gap ? "_" : "", *name);
        gap = !own;
    }
    return out.text;
}

static const char *upper(Ctx *ctx, const char *name)
{
    char *out = (char *)ctx_printf(ctx, "%s", name);
    for (char *at = out; *at; at++)
        *at = *at >= 'a' && *at <= 'z' ? (char)(*at - 'a' + 'A') : *at;
    return out;
}

static const char *file_text(const char *name)
{
    for (int i = 0; i < risec_header_file_count; i++)
        if (!strcmp(risec_header_files[i].name, name))
            return risec_header_files[i].text;
    return "";
}

static bool is_word(char c) { return is_letter(c) || is_digit(c) || c == '_'; }

/* A text of header/, with this header's names. `taken`: all of them are taken there. */
static void put_file(StrBuf *out, const HeaderPrefix *prefix, const char *file, CNames *taken)
{
    const char *text = file_text(file);
    for (const char *at = text; *at;) {
        const char *own = at > text && is_word(at[-1]) ? NULL : !strncmp(at, "sum_", 4) ? prefix->lower : !strncmp(at, "SUM_", 4) ? prefix->upper : NULL;
        if (!own) {
            sb_putc(out, *at++);
            continue;
        }
        const char *rest = at + 4, *end = rest;
        while (is_word(*end))
            end++;
        const char *name = ctx_printf(out->ctx, "%s%.*s", own, (int)(end - rest), rest);
        sb_puts(out, name);
        if (taken)
            c_name_take(taken, name);
        at = end;
    }
}

/* What the header calls so for itself. */
static void take_words(Ctx *ctx, const HeaderPrefix *prefix, CNames *names)
{
    StrBuf unused;
    sb_init(&unused, ctx);
    put_file(&unused, prefix, "declarations.h", names);
    put_file(&unused, prefix, "implementation.h", names);
}

Header *header_new(Ctx *ctx, const char *name)
{
    Header *header = NEW(ctx, Header);
    name = identifier(ctx, name);
    *header = (Header){.ctx = ctx, .name = name, .globals = c_names_new(ctx, true)};
    header->prefix = (HeaderPrefix){ctx_printf(ctx, "%s_", name), ctx_printf(ctx, "%s_", upper(ctx, name))};
    take_words(ctx, &header->prefix, header->globals);
    sb_init(&header->declarations, ctx);
    sb_init(&header->kernels, ctx);
    sb_init(&header->host, ctx);
    return header;
}

static const char *claim(Header *header, const char *base, const char *what)
{
    return c_name_claim(header->globals, ctx_printf(header->ctx, "%s%s", base, what));
}

/* Entry `sum` of sum.h has sum_launch, entry `mean` sum_mean_launch. */
static CudaNames function_names(Header *header, const CudaNames *kernels, const char *entry)
{
    const char *lower = header->prefix.lower, *base = strcmp(entry, header->name) ? ctx_printf(header->ctx, "%s%s_", lower, entry) : lower;
    CudaNames names = *kernels;
    names.launch = claim(header, base, "launch");
    names.results = claim(header, base, "result_bytes");
    if (kernels->workspace) {
        names.workspace = claim(header, base, "workspace");
        names.init = claim(header, base, "workspace_init");
        names.needed = claim(header, base, "needed_");
    }
    return names;
}

void header_add(Header *header, Cuda *c, const ImpProgram *program, const CudaNames *kernels)
{
    const CudaNames names = function_names(header, kernels, program->entry ? program->entry->name : program->kernels.n ? program->kernels.at[0]->name : "entry");
    const size_t host = header->host.len;
    take_words(c->ctx, &header->prefix, c->names);
    for (int i = 0; i < names.n_kernels; i++) {
        sb_printf(&header->kernels, "%s\n", names.kernels[i]);
        c_name_take(c->names, ctx_printf(c->ctx, "%skernel_%s_", header->prefix.lower, names.kernels[i]));
    }
    header->n_kernels += names.n_kernels;
    c->header = &header->prefix;
    c->out = &header->host;
    sb_puts(&header->declarations, "\n");
    cuda_host(c, program, &names, &header->declarations);
    c->header = NULL;
    sb_puts(&header->host, "\n");
    cuda_wrap(&header->host, host);
}

/* ---- the file ----------------------------------------------------------------------------------------------------------- */

/* Each kernel as `before`, its name, `after`. */
static void put_kernels(const Header *header, StrBuf *out, const char *before, const char *after)
{
    for (const char *at = header->kernels.text, *end; at && *at; at = end + 1) {
        end = strchr(at, '\n');
        sb_printf(out, "    %s%.*s%s,\n", before, (int)(end - at), at, after);
    }
}

/* Eight bytes a number, as the hosts of GPUs keep them: the lowest first. Cubins have to be aligned as such. */
static void put_bytes(StrBuf *out, const HeaderCode *code)
{
    enum { ON_A_LINE = 5 };
    size_t words = code->size / 8 + 1; /* a zero byte at least stands behind PTX */
    for (size_t w = 0; w < words; w++) {
        uint64_t word = 0;
        for (size_t i = 8 * w; i < 8 * w + 8 && i < code->size; i++)
            word |= (uint64_t)(unsigned char)code->bytes[i] << 8 * (i % 8);
        sb_printf(out, "%s0x%llx,", w % ON_A_LINE ? "" : "\n", (unsigned long long)word);
    }
}

static const char *code_name(Ctx *ctx, const Header *header, const HeaderCode *code)
{
    return ctx_printf(ctx, "%s%s%d_", header->prefix.lower, code->ptx ? "ptx_" : "sm_", code->arch);
}

static void put_codes(const Header *header, StrBuf *out, int n, const HeaderCode *codes)
{
    const char *lower = header->prefix.lower, *upper_ = header->prefix.upper;
    for (int i = 0; i < n; i++) {
        sb_printf(out, "/* %s for sm_%d%s: %zu bytes */\nstatic const unsigned long long %s[] = {", codes[i].ptx ? "PTX" : "A cubin", codes[i].arch, codes[i].ptx ? " and later" : "",
                  codes[i].size, code_name(out->ctx, header, &codes[i]));
        put_bytes(out, &codes[i]);
        sb_puts(out, "};\n\n");
    }
    sb_printf(out, "static const struct {\n    int arch, ptx;\n    const unsigned long long *bytes;\n} %scodes_[] = {\n", lower);
    for (int i = 0; i < n; i++)
        sb_printf(out, "    {%d, %d, %s},\n", codes[i].arch, codes[i].ptx, code_name(out->ctx, header, &codes[i]));
    sb_printf(out, "};\n\nenum { %sCODES_ = %d, %sKERNELS_ = %d };\n\n", upper_, n, upper_, header->n_kernels);
}

static void put_kernel_tables(const Header *header, StrBuf *out)
{
    const char *lower = header->prefix.lower;
    sb_puts(out, "enum {\n");
    put_kernels(header, out, ctx_printf(out->ctx, "%skernel_", lower), "_");
    sb_printf(out, "};\n\nstatic const char *const %skernel_names_[] = {\n", lower);
    put_kernels(header, out, "\"", "\"");
    sb_puts(out, "};\n\n");
}

static void put_first_comment(const Header *header, StrBuf *out, const char *source, int n, const HeaderCode *codes)
{
    StrBuf archs;
    sb_init(&archs, out->ctx);
    for (int i = 0; i < n; i++)
        sb_printf(&archs, "%s%s", i ? ", " : "", codes[i].ptx ? ctx_printf(out->ctx, "PTX for sm_%d and later", codes[i].arch) : ctx_printf(out->ctx, "sm_%d", codes[i].arch));
    const size_t start = out->len;
    cuda_put_origin(out, source);
    sb_printf(out, "//\n// Kernels for NVIDIA GPUs, and functions that launch them: %s. C99 or C++, on 64-bit Linux.\n//\n", archs.text);
    sb_printf(out, "// In one file of the program write `#define %sIMPLEMENTATION` before this header is included; in others, include it alone. No library has to be linked; "
                   "before glibc 2.34, -ldl and -pthread.\n//\n", header->prefix.upper);
    sb_puts(out, "// A launch works in the CUDA context that is current in the thread, on a stream of it (a CUstream or cudaStream_t; NULL is the default one). Any thread may call.\n");
    cuda_wrap(out, start);
}

void header_print(const Header *header, StrBuf *out, const char *source, int n, const HeaderCode *codes)
{
    const char *upper_ = header->prefix.upper;
    put_first_comment(header, out, source, n, codes);
    sb_printf(out, "#ifndef %sRISE_H\n#define %sRISE_H\n\n#include <stddef.h>\n#include <stdint.h>\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n", upper_, upper_);
    put_file(out, &header->prefix, "declarations.h", NULL);
    const size_t declared = out->len;
    sb_putn(out, header->declarations.text, header->declarations.len);
    cuda_wrap(out, declared);
    sb_puts(out, "\n#ifdef __cplusplus\n}\n#endif\n#endif\n\n");
    sb_printf(out, "#if defined(%sIMPLEMENTATION) && !defined(%sRISE_IMPLEMENTED)\n#define %sRISE_IMPLEMENTED\n\n", upper_, upper_, upper_);
    sb_puts(out, "#include <dlfcn.h>\n#include <pthread.h>\n#include <stdbool.h>\n#include <stdlib.h>\n#include <string.h>\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
    put_codes(header, out, n, codes);
    put_kernel_tables(header, out);
    put_file(out, &header->prefix, "implementation.h", NULL);
    sb_puts(out, "\n/* ---- the entries ---- */\n\n");
    /* A program may say `n >= 4096 or n <= 8192`. */
    sb_puts(out, "#ifdef __GNUC__\n#pragma GCC diagnostic push\n#pragma GCC diagnostic ignored \"-Wtautological-compare\"\n#endif\n\n");
    sb_putn(out, header->host.text, header->host.len);
    sb_puts(out, "#ifdef __GNUC__\n#pragma GCC diagnostic pop\n#endif\n\n#ifdef __cplusplus\n}\n#endif\n#endif\n");
}
