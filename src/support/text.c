#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/base.h"
#include "support/context.h"
#include "support/utf8.h"

/* ---- StrBuf -------------------------------------------------------------------------------------------------- */

void sb_init(StrBuf *sb, Ctx *ctx)
{
    sb->ctx = ctx;
    sb->len = 0;
    sb->cap = 64;
    sb->text = ctx_alloc(ctx, sb->cap);
}

/* Room for n more bytes and the terminator. */
static void sb_reserve(StrBuf *sb, size_t n)
{
    if (n < sb->cap - sb->len)
        return;
    if (n > SIZE_MAX / 8 || sb->cap > SIZE_MAX / 8)
        ctx_out_of_memory(sb->ctx);
    size_t cap = sb->cap * 2;
    while (cap - sb->len <= n)
        cap *= 2;
    char *wider = ctx_alloc(sb->ctx, cap);
    memcpy(wider, sb->text, sb->len + 1);
    sb->text = wider;
    sb->cap = cap;
}

void sb_putn(StrBuf *sb, const char *text, size_t n)
{
    sb_reserve(sb, n);
    if (n)
        memcpy(sb->text + sb->len, text, n);
    sb->len += n;
    sb->text[sb->len] = 0;
}

void sb_puts(StrBuf *sb, const char *text) { sb_putn(sb, text, strlen(text)); }

void sb_putc(StrBuf *sb, char c) { sb_putn(sb, &c, 1); }

void sb_vprintf(StrBuf *sb, const char *fmt, va_list args)
{
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(sb->text + sb->len, sb->cap - sb->len, fmt, args);
    if (n >= 0 && (size_t)n >= sb->cap - sb->len) {
        sb->text[sb->len] = 0;
        sb_reserve(sb, (size_t)n);
        n = vsnprintf(sb->text + sb->len, sb->cap - sb->len, fmt, again);
    }
    va_end(again);
    if (n > 0)
        sb->len += (size_t)n;
    sb->text[sb->len] = 0;
}

void sb_printf(StrBuf *sb, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    sb_vprintf(sb, fmt, args);
    va_end(args);
}

const char *ctx_printf(Ctx *ctx, const char *fmt, ...)
{
    StrBuf sb;
    sb_init(&sb, ctx);
    va_list args;
    va_start(args, fmt);
    sb_vprintf(&sb, fmt, args);
    va_end(args);
    return sb.text;
}

/* The host may have set a locale whose decimal point is not a point. */
static void put_number(StrBuf *sb, const char *text)
{
    bool pointed = false;
    for (; *text; text++) {
        if (strchr("0123456789+-e", *text)) {
            sb_putc(sb, *text);
        } else if (!pointed) {
            sb_putc(sb, '.');
            pointed = true;
        }
    }
}

void sb_put_float(StrBuf *sb, double value, bool single)
{
    if (isnan(value)) {
        sb_puts(sb, "nan");
        return;
    }
    if (isinf(value)) {
        sb_puts(sb, value < 0 ? "-inf" : "inf");
        return;
    }
    /* %g drops trailing zeros, so 6 (15) digits find every shorter text of a normal number: that many always survive
     * the way to a float (double) and back. Subnormal numbers carry fewer. */
    double smallest_normal = single ? 0x1p-126 : 0x1p-1022;
    int digits = fabs(value) < smallest_normal ? 1 : single ? 6 : 15;
    char text[48];
    for (;; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (digits >= (single ? 9 : 17))
            break;
        if (single ? strtof(text, NULL) == (float)value : strtod(text, NULL) == value)
            break;
    }
    put_number(sb, text);
}

void sb_put_json(StrBuf *sb, const char *text)
{
    size_t size = strlen(text);
    sb_putc(sb, '"');
    for (size_t i = 0; i < size;) {
        uint32_t point;
        size_t n = utf8_decode(text + i, size - i, &point);
        if (n == 0) {
            sb_puts(sb, "\\ufffd");
            n = 1;
        } else if (point == '"' || point == '\\') {
            sb_putc(sb, '\\');
            sb_putc(sb, (char)point);
        } else if (point == '\n') {
            sb_puts(sb, "\\n");
        } else if (point == '\t') {
            sb_puts(sb, "\\t");
        } else if (point == '\r') {
            sb_puts(sb, "\\r");
        } else if (point < 0x20 || point == 0x7f) {
            sb_printf(sb, "\\u%04x", (unsigned)point);
        } else {
            sb_putn(sb, text + i, n);
        }
        i += n;
    }
    sb_putc(sb, '"');
}

/* ---- UTF-8 --------------------------------------------------------------------------------------------------- */

size_t utf8_decode(const char *text, size_t size, uint32_t *point)
{
    const unsigned char *s = (const unsigned char *)text;
    if (size == 0)
        return 0;
    uint32_t c = s[0];
    size_t n;
    uint32_t least;
    if (c < 0x80) {
        *point = c;
        return 1;
    } else if (c >= 0xc2 && c < 0xe0) {
        n = 2, least = 0x80, c &= 0x1f;
    } else if (c >= 0xe0 && c < 0xf0) {
        n = 3, least = 0x800, c &= 0x0f;
    } else if (c >= 0xf0 && c < 0xf5) {
        n = 4, least = 0x10000, c &= 0x07;
    } else {
        return 0;
    }
    if (size < n)
        return 0;
    for (size_t i = 1; i < n; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (s[i] & 0x3fu);
    }
    if (c < least || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
        return 0;
    *point = c;
    return n;
}

bool utf8_printable(uint32_t point)
{
    if (point < 0x20 || (point >= 0x7f && point < 0xa0))
        return false;
    /* Marks that reorder what is shown or take no room: a terminal would show another program than the compiler reads. */
    if ((point >= 0x200b && point <= 0x200f) || (point >= 0x2028 && point <= 0x202e) || (point >= 0x2060 && point <= 0x206f) ||
        point == 0xfeff || (point >= 0xfff0 && point <= 0xfffc))
        return false;
    return true;
}

/* ---- interning ----------------------------------------------------------------------------------------------- */

typedef struct Interned {
    const char *text; /* NULL: free */
    size_t size;
    uint32_t hash;
} Interned;

typedef struct InternTable {
    Interned *slots;
    size_t cap; /* a power of two, at most three quarters full */
    size_t count;
} InternTable;

static uint32_t hash_bytes(const char *text, size_t n)
{
    uint32_t h = 2166136261u; /* FNV-1a */
    for (size_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)text[i]) * 16777619u;
    return h;
}

uint64_t text_hash(const char *text, size_t n)
{
    uint64_t h = 0xcbf29ce484222325u; /* FNV-1a */
    for (size_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)text[i]) * 0x100000001b3u;
    return h;
}

static Interned *slot_of(const InternTable *table, const char *text, size_t n, uint32_t hash)
{
    for (size_t i = hash;; i++) {
        Interned *slot = &table->slots[i & (table->cap - 1)];
        if (!slot->text || (slot->hash == hash && slot->size == n && memcmp(slot->text, text, n) == 0))
            return slot;
    }
}

/* Replaces the slots only when the new ones are complete: running out of memory must leave the table as it was. */
static void intern_grow(Ctx *ctx, InternTable *table)
{
    InternTable wider = {.cap = table->cap ? table->cap * 2 : 256, .count = table->count};
    wider.slots = NEWN(ctx, Interned, wider.cap);
    for (size_t i = 0; i < table->cap; i++) {
        Interned *old = &table->slots[i];
        if (old->text)
            *slot_of(&wider, old->text, old->size, old->hash) = *old;
    }
    *table = wider;
}

/* NULL: none of the contexts that this one is inside of has it. */
static const char *interned_before(const Ctx *ctx, const char *text, size_t n, uint32_t hash)
{
    for (const Ctx *whole = ctx->whole; whole; whole = whole->whole) {
        const Interned *slot = whole->names && whole->names->cap ? slot_of(whole->names, text, n, hash) : NULL;
        if (slot && slot->text)
            return slot->text;
    }
    return NULL;
}

const char *intern(Ctx *ctx, const char *text, size_t n)
{
    if (!ctx->names)
        ctx->names = NEW(ctx, InternTable);
    InternTable *table = ctx->names;
    if (table->count * 4 >= table->cap * 3)
        intern_grow(ctx, table);
    uint32_t hash = hash_bytes(text, n);
    Interned *slot = slot_of(table, text, n, hash);
    const char *before = slot->text ? slot->text : interned_before(ctx, text, n, hash); /* its own first: what it has once stays the one */
    if (before)
        return before;
    char *copy = ctx_alloc(ctx, n + 1);
    memcpy(copy, text, n);
    *slot = (Interned){copy, n, hash};
    table->count++;
    return copy;
}

const char *intern_z(Ctx *ctx, const char *text) { return intern(ctx, text, strlen(text)); }

bool text_is_utf16(const char *text, size_t size)
{
    enum { LOOKED_AT = 16 };
    if (size < 2 || size % 2)
        return false;
    bool marked = memcmp(text, "\xff\xfe", 2) == 0 || memcmp(text, "\xfe\xff", 2) == 0;
    size_t zeros[2] = {0, 0}, n = size < LOOKED_AT ? size : LOOKED_AT;
    for (size_t i = 0; i < n; i++)
        zeros[i % 2] += text[i] == 0;
    return marked || ((zeros[0] == 0 || zeros[1] == 0) && zeros[0] + zeros[1] == n / 2);
}
