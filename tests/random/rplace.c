#include "rplace.h"

enum { MAX_INPUTS = 64 };

bool try_in_place(Compiled *c, const RProgram *p, const RTrial *t, RResult *r)
{
    int n_inputs = count_inputs(c->entry), n_results = type_component_count(c->entry->result), over[MAX_INPUTS] = {0};
    bool good = true;
    for (int k = 0; k < n_results; k++)
        for (int i = 0; i < n_inputs && n_inputs <= MAX_INPUTS && good; i++) {
            OneMemory found = ask_one_memory(c, k, i);
            if (found == ONE_MEMORY_UNLIKE || found == ONE_MEMORY_SCALAR)
                continue;
            over[i] = k + 1;
            Outcome o = run_random_trial_over(c, p, t, over);
            over[i] = 0;
            bool differs = o == DIFFER || o == FINDING;
            good = found != ONE_MEMORY_ALLOWED || !differs;
            r->in_place.allowed += found == ONE_MEMORY_ALLOWED;
            r->in_place.refused += found != ONE_MEMORY_ALLOWED;
            r->in_place.seen += found != ONE_MEMORY_ALLOWED && differs;
        }
    return good;
}
