/* Pass outline: statements that stand in several places of an entry's kernels become functions of
 * the text, Note [Functions] in imp.h.
 *
 *   for d: acc += shflXor(d, acc)  if lane == 0 { shared[warp] = acc }  ... in five kernels
 *     ->  acc = sum_blockTiles(shared, acc) in five kernels, and the function once
 *
 * Runs of statements of one block are compared, by their words (outline_form.c), then by what a
 * function would have as parameters (outline_match.c). The run that saves the most lines of text is
 * taken first. The copy that is the body of its function is looked at as the kernels are, so that a
 * function may call another one. Statements around a call stay where they are.
 *
 * Requires the names of registers and buffers. Changes nothing that a kernel does: sets marks. */
#include "codegen/outline.h"
#include "codegen/tails.h"
#include "codegen/walk.h"

enum {
    LEAST_LINES = 4,  /* of a function */
    LINES_OF_TWO = 8, /* that should not stand twice, though nothing is saved */
    LINES_AROUND = 5, /* of a function: head, brackets, what it computes first, what it returns */
    MOST_PAIRS = 64,  /* of statements with the same words, each is compared with each of so many;
                          of more, neighbours are */
    MOST_FUNCTIONS = 64,
    LOOKS = 256, /* at each statement: parts of long runs are many, and are looked at until then */
    NO_FUNCTION = INT32_MIN /* in place of lines that one saves */
};

typedef struct Segment Segment;

/* A statement, with its form and what has become of it. */
typedef struct Spot {
    Segment *segment;
    int place; /* in the segment */
    int at;    /* in the block */
    int slot;  /* its first one, as RegUses count; -1: it is in a function */
    const Form *form;
    bool gone; /* a function has it, or it holds a call */
    Segment *inside[2];
} Spot;

/* The statements of a block that are something. */
struct Segment {
    const ImpKernel *kernel;
    RegUses *uses;
    const LoopAround *loops;
    ImpBlock *block;
    Spot *around;
    int n;
    Spot *spots;
    const Form **forms;
};

/* Statements with the same words, in order. */
typedef struct Alike {
    const Form *form;
    VEC(Spot *) spots;
} Alike;

typedef struct Candidate {
    Spot *first;
    int n;
    int saves; /* lines, when that was looked at last */
} Candidate;

typedef struct Search {
    Outline o;
    Ctx *ctx;
    VEC(Alike) alike;
    int *by_hash; /* open addressing: number + 1 in alike */
    int cap;
    VEC(Candidate) candidates;
    Table tried; /* by the first spot: Lengths */
    int64_t statements, looks;
} Search;

typedef struct Lengths {
    VEC(int) n;
} Lengths;

/* ---- what there is --------------------------------------------------------------------------- */

static Alike *alike_of(Search *s, const Form *form)
{
    if (2 * (s->alike.n + 1) > s->cap) {
        s->cap = s->cap ? 2 * s->cap : 256;
        s->by_hash = NEWN(s->ctx, int, s->cap);
        for (int k = 0; k < s->alike.n; k++) {
            uint64_t i = s->alike.at[k].form->hash;
            while (s->by_hash[i & (uint64_t)(s->cap - 1)])
                i++;
            s->by_hash[i & (uint64_t)(s->cap - 1)] = k + 1;
        }
    }
    uint64_t i = form->hash;
    for (int k; (k = s->by_hash[i & (uint64_t)(s->cap - 1)]) != 0; i++)
        if (form_same(s->alike.at[k - 1].form, form))
            return &s->alike.at[k - 1];
    vec_push(s->ctx, &s->alike, ((Alike){.form = form}));
    s->by_hash[i & (uint64_t)(s->cap - 1)] = s->alike.n;
    return &s->alike.at[s->alike.n - 1];
}

/* The first of its slots is number `slot`; -1: it is of a function. */
static Segment *add_block(Search *s, const Segment *like, ImpBlock *block, Spot *around, int slot)
{
    Segment *segment = NEW(s->ctx, Segment);
    *segment = (Segment){.kernel = like->kernel,
                         .uses = like->uses,
                         .loops = like->loops,
                         .block = block,
                         .around = around};
    segment->spots = NEWN(s->ctx, Spot, block->list.n + 1);
    segment->forms = NEWN(s->ctx, const Form *, block->list.n + 1);
    for (int i = 0; i < block->list.n; i++) {
        ImpStmt *stmt = block->list.at[i];
        if (form_is_nothing(stmt))
            continue;
        Spot *spot = &segment->spots[segment->n];
        *spot = (Spot){.segment = segment,
                       .place = segment->n,
                       .at = i,
                       .slot = slot,
                       .form = form_of(s->ctx, stmt)};
        segment->forms[segment->n++] = spot->form;
        s->statements++;
        vec_push(s->ctx, &alike_of(s, spot->form)->spots, spot);
        Segment inside = *segment;
        if (stmt->kind == IS_FOR) {
            LoopAround *loop = NEW(s->ctx, LoopAround);
            *loop = (LoopAround){segment->loops, slot};
            inside.loops = loop;
            spot->inside[0] = add_block(s, &inside, &stmt->loop.body, spot,
                                        slot < 0 ? slot : slot + spot->form->blocks[0]);
        }
        AllOrFewer one; /* which is one statement of the text */
        if (stmt->kind == IS_IF && !tail_find_both(s->ctx, stmt, &one)) {
            spot->inside[0] = add_block(s, &inside, &stmt->branch.then, spot,
                                        slot < 0 ? slot : slot + spot->form->blocks[0]);
            spot->inside[1] = add_block(s, &inside, &stmt->branch.otherwise, spot,
                                        slot < 0 ? slot : slot + spot->form->blocks[1]);
        }
        slot = slot < 0 ? slot : slot + spot->form->slots.n;
    }
    return segment;
}

typedef struct Counting {
    Ctx *ctx;
    Table registers; /* by the variable that stands for them in numbers */
    RegUses *uses;
    int slot;
} Counting;

static void count_read(void *user, Nat var)
{
    const Counting *c = user;
    const ImpVar *held = table_get(&c->registers, var);
    if (!held)
        return;
    c->uses[held->id].mentions++;
    vec_push(c->ctx, &c->uses[held->id].reads, c->slot);
}

/* Mentions as outline_match.c counts them in a place. */
static void count_slot(Counting *c, const Slot *slot)
{
    if (slot->kind == SLOT_NAT)
        nat_each_var(c->ctx, *slot->at, count_read, c);
    if (slot->kind != SLOT_VAR)
        return;
    RegUses *uses = &c->uses[slot->var->id];
    uses->mentions++;
    if (slot->declares)
        uses->declared = c->slot;
    if (slot->sets)
        vec_push(c->ctx, &uses->sets, c->slot);
    else if (!slot->declares)
        vec_push(c->ctx, &uses->reads, c->slot);
}

static void add_kernel(Search *s, ImpKernel *kernel)
{
    Segment like = {.kernel = kernel, .uses = NEWN(s->ctx, RegUses, kernel->vars.n + 1)};
    Counting c = {.ctx = s->ctx, .uses = like.uses};
    const Segment *body = add_block(s, &like, &kernel->body, NULL, 0);
    for (int i = 0; i < kernel->vars.n; i++)
        if (kernel->vars.at[i]->nat)
            table_put(s->ctx, &c.registers, kernel->vars.at[i]->nat, kernel->vars.at[i]);
    for (int i = 0; i < body->n; i++)
        for (int k = 0; k < body->forms[i]->slots.n; k++, c.slot++)
            count_slot(&c, &body->forms[i]->slots.at[k]);
}

/* ---- candidates ------------------------------------------------------------------------------ */

static Spot *spot_at(const Spot *first, int i) { return first->segment->spots + first->place + i; }

static bool same_spots(const Spot *a, const Spot *b)
{
    return a->form == b->form || form_same(a->form, b->form);
}

static void add_candidate(Search *s, Spot *first, int n)
{
    Lengths *tried = table_get(&s->tried, first);
    if (!tried)
        table_put(s->ctx, &s->tried, first, tried = NEW(s->ctx, Lengths));
    for (int i = 0; i < tried->n.n; i++)
        if (tried->n.at[i] == n)
            return;
    vec_push(s->ctx, &tried->n, n);
    int lines = 0;
    for (int i = 0; i < n; i++)
        lines += spot_at(first, i)->form->lines;
    if (lines >= LEAST_LINES)
        vec_push(s->ctx, &s->candidates, ((Candidate){.first = first, .n = n}));
}

/* As many as follow both and are alike, without meeting. */
static void compare(Search *s, Spot *a, Spot *b)
{
    if (a->place && b->place && same_spots(spot_at(a, -1), spot_at(b, -1)))
        return;
    int n = 0, most = a->segment->n - a->place, of_b = b->segment->n - b->place;
    most = of_b < most ? of_b : most;
    if (a->segment == b->segment && b->place - a->place < most)
        most = b->place - a->place;
    while (n < most && same_spots(spot_at(a, n), spot_at(b, n)))
        n++;
    add_candidate(s, a, n);
}

static void find_candidates(Search *s)
{
    for (int k = 0; k < s->alike.n; k++) {
        const Alike *alike = &s->alike.at[k];
        for (int i = 0; i < alike->spots.n; i++)
            for (int j = i + 1; j < alike->spots.n && (j == i + 1 || alike->spots.n <= MOST_PAIRS);
                 j++)
                compare(s, alike->spots.at[i], alike->spots.at[j]);
    }
}

/* ---- what a candidate saves ------------------------------------------------------------------ */

typedef struct Group {
    int n;
    Spot *first[MOST_PLACES];
    Place places[MOST_PLACES];
} Group;

static bool is_free(const Candidate *c, const Spot *first)
{
    if (first->segment->n - first->place < c->n)
        return false;
    for (int i = 0; i < c->n; i++)
        if (spot_at(first, i)->gone || !same_spots(spot_at(first, i), spot_at(c->first, i)))
            return false;
    return true;
}

static Place place_of(const Candidate *c, const Spot *first)
{
    const Segment *segment = first->segment;
    const Spot *last = spot_at(first, c->n - 1);
    return (Place){.kernel = segment->kernel,
                   .uses = segment->uses,
                   .loops = segment->loops,
                   .block = segment->block,
                   .n = c->n,
                   .forms = segment->forms + first->place,
                   .from = first->at,
                   .to = last->at + 1,
                   .first = first->slot,
                   .behind = first->slot < 0 ? -1 : last->slot + last->form->slots.n};
}

static void find_group(Search *s, const Candidate *c, Group *g)
{
    const Alike *alike = alike_of(s, c->first->form);
    g->n = 0;
    if (!is_free(c, c->first))
        return;
    g->first[0] = c->first;
    g->places[0] = place_of(c, c->first);
    g->n = 1;
    for (int i = 0; i < alike->spots.n && g->n < MOST_PLACES; i++) {
        Spot *spot = alike->spots.at[i];
        bool meets = false;
        for (int k = 0; k < g->n && !meets; k++)
            meets = g->first[k]->segment == spot->segment &&
                    g->first[k]->place < spot->place + c->n &&
                    spot->place < g->first[k]->place + c->n;
        if (meets || !is_free(c, spot))
            continue;
        g->places[g->n] = place_of(c, spot);
        g->first[g->n] = spot;
        s->looks += c->n;
        g->n += outline_fits(&s->o, &g->places[0], &g->places[g->n]);
    }
}

/* A number takes as long to read as a line does, unless it is a variable. */
static int lines_of_call(const ImpFunction *f, int n, ImpCall *const *calls)
{
    int lines = 1 + (f->params.n > 5), numbers = 0;
    for (int k = 0; k < f->params.n; k++) {
        const ImpParam *param = &f->params.at[k];
        bool plain = true;
        for (int p = 0; p < n && param->kind == PARAM_NAT; p++)
            plain &= calls[p]->args[k].nat->kind == NAT_VAR || nat_is_const(calls[p]->args[k].nat);
        lines += param->gives && param->ours;
        numbers += !plain;
    }
    return lines + numbers;
}

/* Lines of text. */
static int value(Search *s, const Candidate *c, Group *g)
{
    ImpCall *calls[MOST_PLACES];
    find_group(s, c, g);
    const ImpFunction *f = g->n < 2 ? NULL : outline_match(&s->o, g->n, g->places, calls, false);
    if (!f)
        return NO_FUNCTION;
    int lines = 0;
    for (int i = 0; i < c->n; i++)
        lines += spot_at(c->first, i)->form->lines;
    int saves = (g->n - 1) * lines - LINES_AROUND - g->n * lines_of_call(f, g->n, calls);
    return saves > 0 ? saves : lines >= LINES_OF_TWO && saves > -lines ? 0 : NO_FUNCTION;
}

/* ---- taking one ------------------------------------------------------------------------------ */

static void leave(Segment *segment)
{
    for (int i = 0; segment && i < segment->n; i++) {
        segment->spots[i].gone = true;
        leave(segment->spots[i].inside[0]);
        leave(segment->spots[i].inside[1]);
    }
}

/* The registers of the function's body, of which something else reads what it gives to its callers:
 * the first place may do without. */
static RegUses *uses_in_function(Search *s, const ImpFunction *f, const RegUses *of_place)
{
    RegUses *uses = NEWN(s->ctx, RegUses, f->kernel->vars.n + 1);
    for (int i = 0; i < f->kernel->vars.n; i++)
        uses[i] = of_place[i];
    if (f->result)
        uses[f->result->id].mentions++;
    for (int k = 0; k < f->params.n; k++)
        if (f->params.at[k].gives)
            uses[f->params.at[k].var->id].mentions++;
    return uses;
}

static void take(Search *s, const Candidate *c, Group *g)
{
    ImpCall *calls[MOST_PLACES];
    ImpFunction *f = outline_match(&s->o, g->n, g->places, calls, true);
    for (int p = 0; p < g->n; p++) {
        Spot *first = g->first[p];
        for (int i = 0; i < c->n; i++) {
            Spot *spot = spot_at(first, i);
            spot->gone = true;
            leave(spot->inside[0]);
            leave(spot->inside[1]);
        }
        for (Spot *around = first->segment->around; around; around = around->segment->around)
            around->gone = true;
        first->segment->block->list.at[first->at]->call = calls[p];
    }
    vec_push(s->ctx, &s->o.program->functions, f);
    RegUses *uses = uses_in_function(s, f, g->first[0]->segment->uses);
    add_block(s, &(Segment){.kernel = f->kernel, .uses = uses}, &f->body, NULL, -1);
}

/* Looks at what candidate i saves now. Where a run has no function, a part of it may have one. */
static void look_at(Search *s, int i, Group *group)
{
    const Candidate c = s->candidates.at[i];
    const int saves = value(s, &c, group);
    s->candidates.at[i].saves = saves;
    if (saves != NO_FUNCTION || c.n < 2 || s->looks > LOOKS * s->statements)
        return;
    add_candidate(s, c.first, c.n - 1);
    add_candidate(s, spot_at(c.first, 1), c.n - 1);
}

/* The candidate that saves the most; -1: there is none. */
static int best(const Search *s)
{
    int found = -1, most = NO_FUNCTION;
    for (int i = 0; i < s->candidates.n; i++)
        if (s->candidates.at[i].saves > most) {
            found = i;
            most = s->candidates.at[i].saves;
        }
    return found;
}

/* What a candidate saves becomes less with each one that is taken, so it is looked at again. */
static void take_all(Search *s)
{
    Group group;
    for (int known = 0, i; s->o.program->functions.n < MOST_FUNCTIONS;) {
        for (; known < s->candidates.n; known++)
            look_at(s, known, &group);
        if ((i = best(s)) < 0)
            return;
        const int hoped = s->candidates.at[i].saves;
        look_at(s, i, &group);
        if (s->candidates.at[i].saves != hoped)
            continue;
        take(s, &s->candidates.at[i], &group);
        s->candidates.at[i].saves = NO_FUNCTION;
    }
}

/* ---- the pass -------------------------------------------------------------------------------- */

static void take_marks(ImpBlock *block)
{
    for (int i = 0; i < block->list.n; i++) {
        ImpStmt *s = block->list.at[i];
        s->call = NULL;
        if (s->kind == IS_FOR)
            take_marks(&s->loop.body);
        if (s->kind == IS_IF) {
            take_marks(&s->branch.then);
            take_marks(&s->branch.otherwise);
        }
    }
}

typedef struct Calling {
    Ctx *ctx;
    const ImpFunction *by;
} Calling;

static void add_callers_of_call(void *user, ImpStmt *s)
{
    const Calling *c = user;
    ImpFunction *f = s->call ? s->call->function : NULL;
    for (int i = 0; f && i < c->by->callers.n; i++)
        outline_add_caller(c->ctx, f, c->by->callers.at[i]);
}

/* To the functions that this one calls. */
static void add_callers(Ctx *ctx, ImpFunction *f)
{
    Calling c = {ctx, f};
    walk_stmts(&f->body, add_callers_of_call, &c);
}

void outline(Ctx *ctx, ImpProgram *program)
{
    Search s = {.ctx = ctx, .o = {.ctx = ctx, .program = program}};
    program->functions.n = 0;
    for (int i = 0; i < program->kernels.n; i++) {
        ImpKernel *k = program->kernels.at[i];
        take_marks(&k->body);
        add_kernel(&s, k);
    }
    find_candidates(&s);
    take_all(&s);
    for (int i = 0, n = program->functions.n; i < n / 2;
         i++) { /* a later one is called by an earlier one */
        ImpFunction *f = program->functions.at[i];
        program->functions.at[i] = program->functions.at[n - 1 - i];
        program->functions.at[n - 1 - i] = f;
    }
    for (int i = program->functions.n - 1; i >= 0; i--) {
        add_callers(ctx, program->functions.at[i]);
        outline_name(&s.o, program->functions.at[i]);
        outline_mark_moved(ctx, program->functions.at[i]->kernel, &program->functions.at[i]->body);
    }
    for (int i = 0; i < program->kernels.n; i++)
        outline_mark_moved(ctx, program->kernels.at[i], &program->kernels.at[i]->body);
}
