/* What combines with a value and leaves it: see units.c. Private to src/codegen. */
#ifndef RISEC_CODEGEN_UNITS_H
#define RISEC_CODEGEN_UNITS_H

#include "codegen/lowering.h"

typedef struct Units Units;

/* Looks at all that the kernel's registers are set to. */
Units *units_of(Lowering *lw);
/* Does the block change no register that lives on, and no memory, where lw->facts hold? True only when proved. */
bool units_nothing(const Units *u, Lowering *lw, const ImpBlock *block);
/* Leaves out of the block what combines with a unit, as for statements that run once. */
void units_leave_out(const Units *u, Lowering *lw, ImpBlock *block);

#endif
