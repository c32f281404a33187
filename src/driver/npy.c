#include "driver/npy.h"
#include "driver/other_tools.h"

enum { PREAMBLE = 8, HEADER_LIMIT = 1 << 20 };
/* A file this large does not fit the memory of the machines that run risec. */
static const size_t largest_file = (size_t)1 << 40;
static const char magic[] = "\x93NUMPY";

/* ---- the header: a Python dictionary of three entries ------------------------------------------------------------- */

typedef struct Header {
    const char *at, *end;
    const char *wrong; /* what is the matter, or NULL */
    bool has_descr, has_order, has_shape;
    Scalar elem;
    bool fortran;
    int rank;
    int64_t shape[NPY_RANK_LIMIT];
} Header;

static void fail(Header *h, const char *wrong)
{
    if (!h->wrong)
        h->wrong = wrong;
}

static void skip_spaces(Header *h)
{
    while (h->at < h->end && (*h->at == ' ' || *h->at == '\t' || *h->at == '\n' || *h->at == '\r'))
        h->at++;
}

/* The character is next (after spaces): takes it. */
static bool take(Header *h, char c)
{
    skip_spaces(h);
    if (h->wrong || h->at == h->end || *h->at != c)
        return false;
    h->at++;
    return true;
}

/* A quoted word without escapes. */
static bool take_word(Header *h, char *word, size_t cap)
{
    skip_spaces(h);
    if (h->at == h->end || (*h->at != '\'' && *h->at != '"'))
        return false;
    char quote = *h->at++;
    size_t n = 0;
    for (; h->at < h->end && *h->at != quote; h->at++) {
        if (n + 1 == cap)
            return false;
        word[n++] = *h->at;
    }
    if (h->at == h->end)
        return false;
    h->at++;
    word[n] = 0;
    return true;
}

static bool take_bare(Header *h, const char *word)
{
    skip_spaces(h);
    size_t n = strlen(word);
    if ((size_t)(h->end - h->at) < n || memcmp(h->at, word, n) != 0)
        return false;
    h->at += n;
    return true;
}

static const struct {
    const char *descr;
    Scalar elem;
} descrs[] = {{"b1", SC_BOOL}, {"i1", SC_I8},  {"i2", SC_I16}, {"i4", SC_I32}, {"i8", SC_I64}, {"u1", SC_U8},
              {"u2", SC_U16},  {"u4", SC_U32}, {"u8", SC_U64}, {"f2", SC_F16}, {"f4", SC_F32}, {"f8", SC_F64}};
enum { DESCR_COUNT = sizeof descrs / sizeof descrs[0] };

static void header_descr(Header *h)
{
    char word[32];
    if (!take_word(h, word, sizeof word)) {
        fail(h, "its elements are records or of another type that risec does not have");
        return;
    }
    /* '<' little-endian, '|' not applicable, '=' the machine's own. */
    const char *name = strchr("<|=", word[0]) && word[0] ? word + 1 : word;
    if (word[0] == '>') {
        bool one = word[1] && word[2] == '1' && word[3] == 0;
        if (!one) {
            fail(h, "its elements are big-endian; risec reads little-endian ones");
            return;
        }
        name = word + 1;
    }
    for (int i = 0; i < DESCR_COUNT; i++)
        if (strcmp(name, descrs[i].descr) == 0 || (i == 0 && strcmp(name, "?") == 0)) {
            h->elem = descrs[i].elem;
            h->has_descr = true;
            return;
        }
    fail(h, name[0] == 'c'   ? "its elements are complex numbers"
            : name[0] == 'O' ? "its elements are Python objects"
                             : "its elements are of a type that risec does not have");
}

static void header_shape(Header *h)
{
    if (!take(h, '(')) {
        fail(h, "its shape is no tuple");
        return;
    }
    while (!take(h, ')')) {
        if (h->rank == NPY_RANK_LIMIT) {
            fail(h, "it has more than 32 dimensions");
            return;
        }
        skip_spaces(h);
        int64_t size = 0;
        const char *first = h->at;
        for (; h->at < h->end && *h->at >= '0' && *h->at <= '9'; h->at++)
            if (!mul_fits(size, 10, &size) || !add_fits(size, *h->at - '0', &size)) {
                fail(h, "a dimension of its shape does not fit 64 bits");
                return;
            }
        if (h->at == first) {
            fail(h, "a dimension of its shape is no number");
            return;
        }
        take_bare(h, "L"); /* of Python 2 */
        h->shape[h->rank++] = size;
        if (!take(h, ',')) {
            if (!take(h, ')'))
                fail(h, "its shape is no tuple");
            break;
        }
    }
    h->has_shape = true;
}

static void header_parse(Header *h)
{
    if (!take(h, '{'))
        fail(h, "its header is no dictionary");
    while (!h->wrong && !take(h, '}')) {
        char key[32];
        if (!take_word(h, key, sizeof key) || !take(h, ':')) {
            fail(h, "its header is no dictionary");
        } else if (strcmp(key, "descr") == 0 && !h->has_descr) {
            header_descr(h);
        } else if (strcmp(key, "fortran_order") == 0 && !h->has_order) {
            h->has_order = true;
            h->fortran = take_bare(h, "True");
            if (!h->fortran && !take_bare(h, "False"))
                fail(h, "fortran_order is neither True nor False");
        } else if (strcmp(key, "shape") == 0 && !h->has_shape) {
            header_shape(h);
        } else {
            fail(h, "its header has an unknown or repeated entry");
        }
        if (!h->wrong && !take(h, ',') && !(h->at < h->end && *h->at == '}'))
            fail(h, "its header is no dictionary");
    }
    skip_spaces(h);
    if (!h->wrong && h->at != h->end)
        fail(h, "there is something behind the dictionary of its header");
    if (!h->wrong && !(h->has_descr && h->has_order && h->has_shape))
        fail(h, "its header lacks descr, fortran_order or shape");
}

/* ---- reading ---------------------------------------------------------------------------------------------------- */

static void from_fortran(Ctx *ctx, HostBuf *buf)
{
    int bytes = scalar_bytes(buf->elem);
    unsigned char *to = ctx_alloc(ctx, (size_t)(buf->count * bytes) + 1);
    int64_t index[NPY_RANK_LIMIT] = {0};
    for (int64_t i = 0; i < buf->count; i++) {
        int64_t source = 0;
        for (int k = buf->rank - 1; k >= 0; k--)
            source = source * buf->shape[k] + index[k];
        memcpy(to + i * bytes, buf->bytes + source * bytes, (size_t)bytes);
        for (int k = buf->rank - 1; k >= 0 && ++index[k] == buf->shape[k]; k--)
            index[k] = 0;
    }
    buf->bytes = to;
}

static bool refuse(Ctx *ctx, const char *name, const char *why)
{
    diag_error(ctx, E0608, NO_SPAN, "%s cannot be read as .npy: %s", name, why);
    return false;
}

bool npy_parse(Ctx *ctx, const char *name, char *bytes, size_t size, HostBuf *buf)
{
    const unsigned char *u = (const unsigned char *)bytes;
    if (size == 0)
        return refuse(ctx, name, "it is empty");
    if (size < 6 || memcmp(bytes, magic, 6) != 0)
        return refuse(ctx, name, "it does not start with the bytes of a .npy file");
    if (size < PREAMBLE + 2)
        return refuse(ctx, name, "it ends inside its header");
    int version = u[6];
    if (version < 1 || version > 3)
        return refuse(ctx, name, ctx_printf(ctx, "it is of version %d.%d", u[6], u[7]));
    size_t start = version == 1 ? PREAMBLE + 2 : PREAMBLE + 4;
    if (size < start)
        return refuse(ctx, name, "it ends inside its header");
    size_t length = u[8] | (size_t)u[9] << 8;
    if (version > 1)
        length |= (size_t)u[10] << 16 | (size_t)u[11] << 24;
    if (length > HEADER_LIMIT)
        return refuse(ctx, name, "its header is too long");
    if (size - start < length)
        return refuse(ctx, name, "it ends inside its header");
    Header h = {.at = bytes + start, .end = bytes + start + length};
    header_parse(&h);
    if (h.wrong)
        return refuse(ctx, name, h.wrong);

    *buf = (HostBuf){.elem = h.elem, .rank = h.rank, .count = 1};
    buf->shape = NEWN(ctx, int64_t, h.rank + 1);
    bool empty = false, fits = true;
    for (int k = 0; k < h.rank; k++) {
        buf->shape[k] = h.shape[k];
        empty |= h.shape[k] == 0;
        fits = fits && mul_fits(buf->count, h.shape[k], &buf->count);
    }
    if (empty)
        buf->count = 0;
    int64_t total;
    if (!(fits || empty) || !mul_fits(buf->count, scalar_bytes(h.elem), &total))
        return refuse(ctx, name, "its shape has more elements than fit 64 bits");
    size_t there = size - start - length;
    if ((uint64_t)total != there)
        return refuse(ctx, name, ctx_printf(ctx, "its shape needs %lld bytes of data, and it has %llu", (long long)total, (unsigned long long)there));
    buf->bytes = (unsigned char *)bytes + start + length;
    if (buf->elem == SC_BOOL)
        for (int64_t i = 0; i < buf->count; i++)
            buf->bytes[i] = buf->bytes[i] != 0;
    if (h.fortran && h.rank > 1)
        from_fortran(ctx, buf);
    return true;
}

/* Why a file cannot be read, whatever it holds. */
static const char *unread(FileStatus status)
{
    switch (status) {
    case FILE_MISSING: return "there is no such file";
    case FILE_TOO_LARGE: return "it is too large";
    case FILE_UNFIT: return "it is a folder";
    case FILE_OK:
    case FILE_UNREADABLE:
    case FILE_UNWRITABLE:
    case FILE_OUTSIDE: break;
    }
    return "the system does not let risec read it";
}

bool npy_load(Ctx *ctx, const char *path, char **bytes, size_t *size)
{
    FileStatus status = ctx->files.read(ctx->files.user, ctx, path, FILE_ANY, largest_file, bytes, size);
    if (status == FILE_OK)
        return true;
    const char *other = status == FILE_MISSING ? other_tools_help(OTHER_INPUT, path) : NULL;
    Diag *diag = diag_error(ctx, E0608, NO_SPAN, "%s cannot be read: %s", path, unread(status));
    if (other)
        diag_help(ctx, diag, "%s", other);
    else if (status == FILE_UNFIT)
        diag_help(ctx, diag, "name a file in it");
    return false;
}

bool npy_read(Ctx *ctx, const char *path, HostBuf *buf)
{
    char *bytes;
    size_t size;
    return npy_load(ctx, path, &bytes, &size) && npy_parse(ctx, path, bytes, size, buf);
}

bool npy_as(HostBuf *buf, Scalar elem)
{
    if (buf->elem == SC_U16 && elem == SC_BF16)
        buf->elem = SC_BF16;
    return buf->elem == elem;
}

/* ---- writing ---------------------------------------------------------------------------------------------------- */

char *npy_bytes(Ctx *ctx, const HostBuf *buf, size_t *size)
{
    Scalar elem = buf->elem == SC_BF16 ? SC_U16 : buf->elem;
    const char *descr = "b1";
    for (int i = 0; i < DESCR_COUNT; i++)
        if (descrs[i].elem == elem)
            descr = descrs[i].descr;
    StrBuf header;
    sb_init(&header, ctx);
    sb_printf(&header, "{'descr': '%c%s', 'fortran_order': False, 'shape': (", scalar_bytes(elem) == 1 ? '|' : '<', descr);
    for (int k = 0; k < buf->rank; k++)
        sb_printf(&header, "%s%lld", k ? ", " : "", (long long)buf->shape[k]);
    sb_puts(&header, buf->rank == 1 ? ",), }" : "), }");
    /* The data start at a multiple of 64, behind spaces and a line feed. */
    while ((PREAMBLE + 2 + header.len + 1) % 64 != 0)
        sb_putc(&header, ' ');
    sb_putc(&header, '\n');
    /* At most 32 dimensions: two bytes hold the length. */
    size_t data = (size_t)(buf->count * scalar_bytes(buf->elem)), start = PREAMBLE + 2 + header.len;
    char *bytes = ctx_alloc(ctx, start + data + 1);
    memcpy(bytes, magic, 6);
    bytes[6] = 1;
    bytes[7] = 0;
    bytes[8] = (char)(header.len & 0xff);
    bytes[9] = (char)(header.len >> 8);
    memcpy(bytes + PREAMBLE + 2, header.text, header.len);
    if (data)
        memcpy(bytes + start, buf->bytes, data);
    *size = start + data;
    return bytes;
}
