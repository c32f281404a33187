/* Under which sizes a kernel is launched, to be read. */
#include "codegen/imp.h"

bool imp_same_when(const ImpWhens *a, const ImpWhens *b)
{
    bool same = a->n == b->n;
    for (int i = 0; same && i < a->n; i++)
        same = a->at[i].test == b->at[i].test && a->at[i].holds == b->at[i].holds;
    return same;
}

/* ---- one launch ------------------------------------------------------------------------------------------------------- */

typedef struct Said {
    Ctx *ctx;
    ImpWhens list;
} Said;

static void say(void *user, const Core *cond, bool holds)
{
    Said *said = user;
    vec_push(said->ctx, &said->list, ((ImpWhen){cond, holds}));
}

/* What the others say of sizes, but number i. */
static NatFacts *said_beside(Ctx *ctx, const ImpWhens *list, int i)
{
    NatFacts *facts = nat_facts_new(ctx, NULL);
    for (int k = 0; k < list->n; k++)
        if (k != i)
            core_cond_facts(ctx, facts, list->at[k].test, list->at[k].holds);
    return facts;
}

static void leave_out(ImpWhens *list, int i)
{
    list->n--;
    for (; i < list->n; i++)
        list->at[i] = list->at[i + 1];
}

/* Of two that say the same, the first one stays. */
static ImpWhens without_implied(Ctx *ctx, const ImpWhens *when)
{
    Said said = {.ctx = ctx};
    for (int i = 0; i < when->n; i++)
        core_cond_each(when->at[i].test, when->at[i].holds, say, &said);
    for (int i = said.list.n - 1; i >= 0; i--) {
        ImpWhen *one = &said.list.at[i];
        const NatFacts *beside = said_beside(ctx, &said.list, i);
        if (core_cond_is(ctx, beside, one->test, one->holds))
            leave_out(&said.list, i);
        else
            one->test = core_cond_left(ctx, beside, one->test);
    }
    return said.list;
}

void imp_print_whens(StrBuf *out, const ImpWhens *when)
{
    const ImpWhens said = without_implied(out->ctx, when);
    for (int i = 0; i < said.n; i++) {
        sb_puts(out, i ? " and " : "");
        core_print_test(out, said.at[i].test, said.at[i].holds);
    }
}

/* ---- several launches --------------------------------------------------------------------------------------------------- */

static int place_of(const ImpWhens *when, const Core *test)
{
    int i = 0;
    while (i < when->n && when->at[i].test != test)
        i++;
    return i;
}

/* The only test that turns out otherwise in b, which has the same ones; -1: it is not so. */
static int only_difference(const ImpWhens *a, const ImpWhens *b)
{
    int found = -1;
    for (int i = 0; i < a->n; i++) {
        const int k = place_of(b, a->at[i].test);
        if (k == b->n || (a->at[i].holds != b->at[k].holds && found >= 0))
            return -1;
        found = a->at[i].holds != b->at[k].holds ? i : found;
    }
    return a->n == b->n ? found : -1;
}

void imp_join_whens(Ctx *ctx, ImpWhensList *list)
{
    for (int i = 0; i < list->n; i++)
        for (int k = 0; k < i; k++) {
            const int at = only_difference(&list->at[k], &list->at[i]);
            if (at < 0)
                continue;
            ImpWhens both = {0};
            for (int j = 0; j < list->at[k].n; j++)
                if (j != at)
                    vec_push(ctx, &both, list->at[k].at[j]);
            list->at[k] = both;
            list->n--;
            for (; i < list->n; i++)
                list->at[i] = list->at[i + 1];
            i = k = -1; /* it may meet another one now */
            break;
        }
}
