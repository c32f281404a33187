/* Classes of a rule's right side: its size tests, and which of their branches a trial has entered.
 *
 * Note [Constants of templates]
 * A template has a class for few elements, one for more, and so on, and a trial is about few. So a trial takes the constants of templates, which are
 * definitions without parameters, `def tileWarps: nat = 8`, as numbers of 1 to 8 more often than as they are written, and a device of 1 to 8
 * multiprocessors. What is computed may not depend on them. */
#include "rewrite/law_text.h"
#include "rewrite/internal.h"

/* ---- constants --------------------------------------------------------------------------------------------------------------- */

static uint64_t mixed(uint64_t h, const char *name)
{
    for (; *name; name++)
        h = (h ^ (unsigned char)*name) * 0x100000001b3u;
    return (h ^ (h >> 31)) * 0x9e3779b97f4a7c15u >> 33;
}

int64_t law_constant(uint64_t constants, const char *name, int64_t written)
{
    static const int64_t values[] = {1, 1, 1, 1, 1, 2, 2, 2, 3, 3, 4, 5, 6, 7, 8, 8}; /* small ones enter large classes */
    return constants ? values[mixed(constants, name) % (sizeof values / sizeof *values)] : written;
}

static int64_t constant_of(void *user, const char *name, int64_t written) { return law_constant(*(const uint64_t *)user, name, written); }

void law_set_constants(Ctx *ctx, Program *program, const LawShape *shape)
{
    uint64_t constants = shape->constants;
    if (constants)
        program_set_constants(ctx, program, constant_of, &constants);
}

/* ---- classes ----------------------------------------------------------------------------------------------------------------- */

typedef struct Classes {
    Ctx *ctx;
    LawOutcome *out;
    bool about_sizes;
} Classes;

static void look_at_size(void *user, Nat var)
{
    Classes *c = user;
    bool known = var->device != NAT_NO_DEVICE;
    for (int i = 0; i < c->out->after->n_sizes && !known; i++)
        known = c->out->after->sizes[i] == var;
    c->about_sizes &= known;
}

/* Whether it asks of nothing but the sizes of the launch. */
static bool is_size_test(Classes *c, const Core *test)
{
    if (test->kind == CORE_SIZE)
        nat_each_var(c->ctx, test->size, look_at_size, c);
    else if (test->kind != CORE_LIT && (test->kind != CORE_PRIM || prim_rows[test->prim.id].level != LEVEL_SCALAR))
        return false;
    for (int i = 0; i < term_children(test); i++)
        if (!is_size_test(c, term_child(test, i)))
            return false;
    return c->about_sizes;
}

static void note(Classes *c, const Core *test, bool holds, bool entered)
{
    LawOutcome *out = c->out;
    int line, column;
    if (!test->span.file)
        return;
    source_position(c->ctx, test->span, &line, &column);
    const char *where = ctx_printf(c->ctx, "%s:%d:%d", source_get(c->ctx, test->span.file)->name, line, column);
    for (int i = 0; i < out->n_classes; i++)
        if (strcmp(out->classes[i].where, where) == 0 && out->classes[i].holds == holds) {
            out->classes[i].entered |= entered;
            return;
        }
    if (out->n_classes < LAW_CLASSES)
        out->classes[out->n_classes++] = (LawClass){where, holds, entered};
}

static void find_classes(Classes *c, const Launch *launch, const Core *term, bool entered)
{
    if (term->kind != CORE_IF) {
        for (int i = 0; i < term_children(term); i++)
            find_classes(c, launch, term_child(term, i), entered);
        return;
    }
    bool holds = false, sides[2] = {entered, entered};
    c->about_sizes = true;
    if (is_size_test(c, term->cond.cond) && launch_test(c->ctx, c->out->after, launch, term->cond.cond, &holds)) {
        sides[0] = entered && holds;
        sides[1] = entered && !holds;
        note(c, term->cond.cond, true, sides[0]);
        note(c, term->cond.cond, false, sides[1]);
    }
    find_classes(c, launch, term->cond.then, sides[0]);
    find_classes(c, launch, term->cond.otherwise, sides[1]);
}

void law_find_classes(Ctx *ctx, LawOutcome *out, const Launch *launch)
{
    Classes c = {.ctx = ctx, .out = out};
    find_classes(&c, launch, out->after->body, true);
}

void law_note_classes(Ctx *ctx, LawReport *report, const LawOutcome *out)
{
    for (int i = 0; i < out->n_classes; i++) {
        const LawClass *own = &out->classes[i];
        int k = 0;
        while (k < report->n_classes && (report->classes[k].holds != own->holds || strcmp(report->classes[k].where, own->where) != 0))
            k++;
        if (k == LAW_CLASSES)
            continue;
        if (k == report->n_classes)
            report->classes[report->n_classes++] = (LawClass){ctx_printf(ctx, "%s", own->where), own->holds, false};
        report->classes[k].entered |= own->entered;
    }
}

bool law_entered_all(const LawReport *report)
{
    for (int i = 0; i < report->n_classes; i++)
        if (!report->classes[i].entered)
            return false;
    return true;
}
