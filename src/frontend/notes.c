#include "frontend/notes.h"

#include "frontend/elab_internal.h"

enum { MOST_VALUES = 1 << 18 }; /* of an entry; `unroll` writes the same text again and again */

const NameNote *name_note_at(const NameNotes *notes, uint32_t file, uint32_t at)
{
    const NameNote *best = NULL;
    for (int i = 0; i < notes->list.n; i++) {
        const NameNote *note = &notes->list.at[i];
        if (note->at.file == file && note->at.lo <= at && at <= note->at.hi &&
            (!best || note->at.lo > best->at.lo))
            best = note;
    }
    return best;
}

int program_file_count(const Program *program) { return program->files.n; }
const AstFile *program_file(const Program *program, int k) { return program->files.at[k]->ast; }

/* Does `from` reach `to`? `seen`: files that were asked before. */
static bool reaches(const Program *program, const FileScope *from, const FileScope *to, bool *seen)
{
    if (from == to)
        return true;
    for (int i = 0; i < program->files.n; i++)
        if (program->files.at[i] == from) {
            if (seen[i])
                return false;
            seen[i] = true;
        }
    for (int i = 0; i < from->imports.n; i++)
        if (reaches(program, from->imports.at[i], to, seen))
            return true;
    return false;
}

Span program_import_of(Ctx *ctx, const Program *program, int k)
{
    const FileScope *own = program->files.at[0];
    for (int i = 0; i < own->imports.n; i++)
        if (reaches(program, own->imports.at[i], program->files.at[k],
                    NEWN(ctx, bool, program->files.n)))
            return own->import_spans.at[i];
    return NO_SPAN;
}

const Item *program_visible(const Program *program, int k)
{
    const FileScope *own = program->files.n ? program->files.at[0] : NULL;
    if (!own)
        return NULL;
    if (k < own->items.n)
        return own->items.at[k];
    k -= own->items.n;
    for (int i = 0; i < own->imports.n; k -= own->imports.at[i++]->items.n)
        if (k < own->imports.at[i]->items.n)
            return own->imports.at[i]->items.at[k];
    return NULL;
}

/* ---- values ------------------------------------------------------------------------------ */

typedef struct ValueNote {
    Span at;
    Value value;
} ValueNote;

struct ValueNotes {
    Elab *e;
    uint32_t file;
    VEC(ValueNote) list;
};

void note_value(Elab *e, Span at, Value value)
{
    ValueNotes *notes = e->notes;
    bool known = value.kind == V_CORE || value.kind == V_NAT || value.kind == V_TUPLE;
    if (at.file == notes->file && known && !e->quiet && notes->list.n < MOST_VALUES)
        vec_push(e->ctx, &notes->list, ((ValueNote){at, value}));
}

static Elab *start(Ctx *ctx, Program *program, uint32_t file)
{
    Elab *e = elab_new(ctx, program);
    e->notes = NEW(ctx, ValueNotes);
    e->notes->e = e;
    e->notes->file = file;
    return e;
}

ValueNotes *elab_entry_noting(Ctx *ctx, Program *program, int k, uint32_t file, CoreEntry **entry)
{
    Elab *e = start(ctx, program, file);
    *entry = elab_entry_with(e, k, 0, NULL, 0, NULL);
    return e->notes;
}

ValueNotes *elab_operator_noting(Ctx *ctx, Program *program, int k, uint32_t file)
{
    Elab *e = start(ctx, program, file);
    Core *lambda, *unit;
    elab_operator_with(e, k, &lambda, &unit);
    return e->notes;
}

static bool put_type(Elab *e, StrBuf *out, Value v)
{
    switch (v.kind) {
    case V_CORE:
        sb_puts(out, tyt(e, v.core->type));
        return type_resolve(e, v.core->type)->kind != TY_ERROR;
    case V_TUPLE:
        for (int i = 0; i < v.tuple.n; i++) {
            sb_puts(out, i ? ", " : "(");
            if (!put_type(e, out, v.tuple.items[i]))
                return false;
        }
        sb_puts(out, ")");
        return true;
    default:
        return false;
    }
}

typedef struct Telling {
    Elab *e;
    const ValueNote *note;
    const char *text; /* NULL: nothing is known */
} Telling;

static void tell(Ctx *ctx, void *user)
{
    Telling *t = user;
    Value value = t->note->value;
    StrBuf out;
    sb_init(&out, ctx);
    if (value.kind != V_NAT)
        t->text = put_type(t->e, &out, value) ? out.text : NULL;
    else if (!value.literal && !nat_is_error(value.nat))
        t->text = ctx_printf(ctx, "the size %s", nat_text(ctx, value.nat));
}

/* In the context of the elaboration, which nothing guards any more. */
static const char *note_text(ValueNotes *notes, const ValueNote *note)
{
    Telling t = {notes->e, note, NULL};
    return ctx_try(notes->e->ctx, tell, &t) ? t.text : NULL;
}

const char *value_note_at(ValueNotes *notes, uint32_t at, Span *where)
{
    const ValueNote *best = NULL;
    for (int i = 0; i < notes->list.n; i++) {
        const ValueNote *note = &notes->list.at[i];
        if (note->at.lo <= at && at < note->at.hi &&
            (!best || note->at.hi - note->at.lo < best->at.hi - best->at.lo))
            best = note;
    }
    if (best)
        *where = best->at;
    return best ? note_text(notes, best) : NULL;
}

const char *value_note_of(ValueNotes *notes, Span where)
{
    for (int i = 0; i < notes->list.n; i++)
        if (notes->list.at[i].at.lo == where.lo && notes->list.at[i].at.hi == where.hi) {
            const char *text = note_text(notes, &notes->list.at[i]);
            if (text)
                return text;
        }
    return NULL;
}
