/* Roundings roundings: how many lie behind a value at most, one after the other, on the way from the inputs. What judges results by the
 * tree of this launch asks for it (SimOptions.roundings); the run itself does not change.
 *
 * Each register has a count for each lane, and each cell of memory one. An operation's is the largest of its operands', and one more where
 * it rounds. Inputs and constants have none, and neither has what is no float: what lies behind a float that decides an integer or a
 * boolean is counted there. */
#include "ir/shadow.h"
#include "sim/sim_internal.h"

typedef uint32_t Roundings[WARP];

static uint32_t larger(uint32_t a, uint32_t b) { return a > b ? a : b; }

static void set_counts(const Warp *w, int reg, const Roundings from, uint32_t more)
{
    for (int l = 0; l < WARP; l++)
        if (w->mask >> l & 1)
            w->counts[reg][l] = from[l] + more;
}

static void no_counts(const Warp *w, int reg)
{
    static const Roundings none;
    set_counts(w, reg, none, 0);
}

/* The register decides what is no float. */
static void decide(Run *run, const Warp *w, int reg)
{
    for (int l = 0; reg >= 0 && l < WARP; l++)
        if (w->mask >> l & 1)
            run->decided = larger(run->decided, w->counts[reg][l]);
}

static void apply(Run *run, const Warp *w, const Ins *ins)
{
    if (prim_compares((PrimId)ins->prim) || !scalar_is_float((Scalar)ins->type)) {
        const int args[3] = {ins->a, ins->b, ins->c};
        for (int k = 0; k < 3; k++)
            decide(run, w, args[k]);
        no_counts(w, ins->dst);
        return;
    }
    Roundings most;
    const int args[3] = {ins->prim == P_select ? ins->b : ins->a, ins->b, ins->c};
    memcpy(most, w->counts[args[0]], sizeof most);
    for (int k = 1; k < 3; k++)
        for (int l = 0; args[k] >= 0 && l < WARP; l++)
            most[l] = larger(most[l], w->counts[args[k]][l]);
    set_counts(w, ins->dst, most, shadow_rounds((PrimId)ins->prim, (Scalar)ins->type, (Scalar)ins->type));
}

static void shuffle(const Warp *w, const Ins *ins)
{
    Roundings from;
    memcpy(from, w->counts[ins->a], sizeof from);
    if (ins->prim == P_reduceWarp) {
        uint32_t most = 0, rounds = shadow_rounds((PrimId)ins->b, (Scalar)ins->type, (Scalar)ins->type);
        for (int l = 0; l < WARP; l++)
            most = larger(most, from[l]);
        for (int l = 0; l < WARP; l++)
            w->counts[ins->dst][l] = most + 5 * rounds;
        return;
    }
    for (int l = 0; l < WARP; l++) {
        int64_t d = ins->b >= 0 ? w->v[ins->b].i[l] : w->s[~ins->b], source = l;
        if (d >= 0 && d < ins->k)
            source = ins->prim == P_shfl ? l / ins->k * ins->k + d : ins->prim == P_shflXor ? (l ^ d) : ins->prim == P_shflUp ? l - d : l + d;
        w->counts[ins->dst][l] = from[source >= 0 && source < WARP ? source : l];
    }
}

static void slot(const Warp *w, const Ins *ins)
{
    for (int l = 0; l < WARP; l++) {
        int64_t k = ins->a >= 0 ? w->v[ins->a].i[l] : w->s[~ins->a];
        if (!(w->mask >> l & 1) || k < 0 || k >= ins->k)
            continue;
        if (ins->op == X_GET_SLOT)
            w->counts[ins->dst][l] = w->counts[ins->b + k][l];
        else
            w->counts[ins->b + k][l] = w->counts[ins->dst][l];
    }
}

/* Register `reg` and cell `more` behind the one that the instruction names, in one direction or the other. */
static void move_cells(const Run *run, const Warp *w, const Ins *ins, int reg, int64_t more, bool to_memory)
{
    const Mem *mem = &run->mems[ins->b];
    for (int l = 0; l < WARP; l++) {
        int64_t at = (ins->a >= 0 ? w->v[ins->a].i[l] : w->s[~ins->a]) + more;
        if (!(w->mask >> l & 1))
            continue;
        bool there = mem->counts && at >= 0 && at < mem->count;
        if (!to_memory)
            w->counts[reg][l] = there ? mem->counts[at] : 0;
        else if (there)
            mem->counts[at] = w->counts[reg][l];
    }
}

void count_roundings(Run *run, Warp *w, const Ins *ins)
{
    switch ((int)ins->op) {
    case X_SET:
    case X_MOVE: set_counts(w, ins->dst, w->counts[ins->a], 0); break;
    case X_NAT: no_counts(w, ins->dst); break;
    case X_APPLY: apply(run, w, ins); break;
    case X_CAST:
        if (scalar_is_float((Scalar)ins->type)) {
            set_counts(w, ins->dst, w->counts[ins->a], shadow_rounds(P_cast, (Scalar)ins->type, (Scalar)ins->k));
        } else {
            decide(run, w, ins->a);
            no_counts(w, ins->dst);
        }
        break;
    case X_SHFL: shuffle(w, ins); break;
    case X_GET_SLOT:
    case X_SET_SLOT: slot(w, ins); break;
    case X_LOAD:
    case X_OLD: move_cells(run, w, ins, ins->dst, 0, false); break;
    case X_STORE:
    case X_ATOMIC: move_cells(run, w, ins, ins->dst, 0, true); break;
    case X_VLOAD:
        for (int k = (int)ins->k - 1; k >= 0; k--)
            move_cells(run, w, ins, ins->dst + k, k, false);
        break;
    case X_VSTORE:
        for (int k = 0; k < ins->k; k++)
            move_cells(run, w, ins, run->code->operands.at[ins->c + k], k, true);
        break;
    case X_BEFORE:
    case X_AWAIT:
        for (int l = 0; l < WARP; l++)
            w->counts[ins->dst][l] = run->exchanges[ins->b].roundings;
        break;
    case X_TOTAL:
        for (int l = 0; l < WARP; l++)
            if (w->mask >> l & 1)
                run->exchanges[ins->b].roundings = larger(run->exchanges[ins->b].roundings, w->counts[ins->dst][l]);
        break;
    }
}

uint32_t most_roundings(const Run *run)
{
    uint32_t most = run->decided;
    for (int g = 0; g < run->globals.n; g++)
        for (int64_t i = 0; run->globals.at[g].space == SPACE_OUTPUT && i < run->globals.at[g].count; i++)
            most = larger(most, run->globals.at[g].counts[i]);
    return most;
}
