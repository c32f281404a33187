/* What scanBlocks needs of the simulator: see Exchange. */
#include "sim/sim_internal.h"

int64_t exchange_blocks(Run *run, int64_t blocks)
{
    int64_t totals;
    bool known = run->kernel->totals && launch_nat(run->ctx, run->program->entry, run->launch, run->kernel->totals, &totals);
    return known && blocks > totals && blocks <= LIMIT_RESIDENT_BLOCKS ? blocks : run->kernel->least_blocks;
}

static FindingPlace place_in(const Run *run, const Warp *warp, const Ins *ins)
{
    return (FindingPlace){warp->number, warp->mask ? __builtin_ctz(warp->mask) : 0, ins->site, NO_SITE, -1, run->mems[ins->b].buf, 0};
}

void exchange_before(Run *run, Warp *warp, const Ins *ins, int64_t index, int64_t place)
{
    Exchange *x = &run->exchanges[ins->b];
    int lane = __builtin_ctz(warp->mask);
    if (warp->mask & (warp->mask - 1))
        sim_find(run, SIM_STUCK, place_in(run, warp, ins), "gives a total, and so do other lanes of its warp: a block has one");
    if (index != x->given)
        sim_find(run, SIM_STUCK, place_in(run, warp, ins), "gives total number %lld, and number %lld comes next", (long long)index, (long long)x->given);
    if (place == 0)
        x->sum = warp->v[ins->c].u[lane];
    vec_push(run->ctx, &x->before, x->sum);
    for (int l = 0; l < WARP; l++)
        if (warp->mask >> l & 1)
            warp->v[ins->dst].u[l] = x->sum;
}

void exchange_total(Run *run, Warp *warp, const Ins *ins)
{
    Exchange *x = &run->exchanges[ins->b];
    x->sum = warp->v[ins->dst].u[__builtin_ctz(warp->mask)];
    x->given++;
}

void exchange_await(Run *run, Warp *warp, const Ins *ins, int64_t index)
{
    Exchange *x = &run->exchanges[ins->b];
    bool known = index >= 0 && index < x->given;
    if (warp->mask & (warp->mask - 1))
        sim_find(run, SIM_STUCK, place_in(run, warp, ins), "waits for what is before a total, and so do other lanes of its warp: one is answered");
    if (!known)
        sim_find(run, SIM_STUCK, place_in(run, warp, ins), "waits for what is before total number %lld, which nobody has given", (long long)index);
    else if (index != x->awaited)
        sim_find(run, SIM_STUCK, place_in(run, warp, ins), "waits for what is before total number %lld, and number %lld comes next", (long long)index, (long long)x->awaited);
    x->awaited++;
    for (int l = 0; l < WARP; l++)
        if (warp->mask >> l & 1)
            warp->v[ins->dst].u[l] = known ? x->before.at[index] : 0;
}

void exchange_serve(Run *run, const Warp *warp, const Ins *ins, int64_t n)
{
    Exchange *x = &run->exchanges[ins->b];
    if (warp->mask != FULL_MASK)
        sim_find(run, SIM_STUCK, place_in(run, warp, ins), "answers totals without the other lanes of its warp");
    if (x->given != n)
        sim_find(run, SIM_STUCK, place_in(run, warp, ins), "waits for %lld totals, and gets %lld", (long long)n, (long long)x->given);
    if (x->served)
        sim_find(run, SIM_STUCK, place_in(run, warp, ins), "answers totals that have been answered");
    x->served = true;
}

void exchange_check(Run *run)
{
    for (int b = 0; b < run->kernel->bufs.n && !run->stop; b++)
        if (run->exchanges[b].given && (!run->exchanges[b].served || run->exchanges[b].awaited != run->exchanges[b].given))
            sim_find(run, SIM_STUCK, (FindingPlace){-1, 0, NO_SITE, NO_SITE, -1, run->mems[b].buf, 0},
                     run->exchanges[b].served ? "some totals in %s are given, and nobody takes what is before them" : "no block answers the totals in %s", run->mems[b].buf->name);
}
