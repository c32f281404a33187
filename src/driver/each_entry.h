/* The entries of a program one after the other, each in memory of its own, which goes before the next one begins: a file with a thousand entries
 * takes no more than its largest one. */
#ifndef RISEC_DRIVER_EACH_ENTRY_H
#define RISEC_DRIVER_EACH_ENTRY_H

#include "driver/driver.h"

typedef struct EntryRound EntryRound;
struct EntryRound {
    Driver *d;
    const char *path;
    Program *program;
    bool together; /* nothing is forgotten: what the entries are made of stays in ctx */
    void (*work)(Ctx *ctx, EntryRound *round, CoreEntry *entry); /* ctx goes after it */
    void *user;
    /* Out: */
    int n;          /* entries that work was called for */
    Diags of_work;  /* what it said, for diags_again; what elaboration said is in ctx */
};

/* Calls work for each entry that the command line asks for and that is typed. False with diagnostics, where one is not; or a setting names nothing. */
bool driver_each_entry(Ctx *ctx, EntryRound *round);

#endif
