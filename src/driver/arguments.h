/* What an entry is called with, from the command line: sizes by --set and from files, inputs by --arg and --seed. */
#ifndef RISEC_DRIVER_ARGUMENTS_H
#define RISEC_DRIVER_ARGUMENTS_H

#include "driver/driver.h"
#include "ir/interp.h"

typedef struct ArgumentsHow {
    int copies;            /* how often the results will be held, and */
    int watched;           /* what is added to each of their cells: for room_check */
    const char *otherwise; /* "uniform": what inputs are that are not given; NULL: they have to be given */
    const char *slow;      /* "the simulator": large runs take long, which is said before they begin; NULL: they do not */
    int64_t most;          /* 0, or of an array no more elements are made, except of indices, of iota and from files */
    int64_t *held;         /* made: how many elements there are in the bytes of each buffer; the first ones */
} ArgumentsHow;

/* Fills launch->sizes and the inputs, and checks them. What launch says of the device is there before. False with diagnostics. */
bool arguments_make(Ctx *ctx, Driver *d, const CoreEntry *entry, ArgumentsHow *how, Launch *launch);

#endif
