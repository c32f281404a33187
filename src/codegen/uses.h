/* How often the scope of a variable reads it, and each component of it. Private to src/codegen. */
#ifndef RISEC_CODEGEN_USES_H
#define RISEC_CODEGEN_USES_H

#include "codegen/lowering.h"

/* NULL: none. */
typedef struct Uses Uses;

/* Those of var in its scope. One walk counts for all variables that are bound inside of it, too. */
const Uses *uses_of(Lowering *lw, const CoreVar *var, const Core *scope);
/* 0, 1, or more: of the variable (a component of it), or of a part of it. A function of a pattern reads more than once. */
int uses_count(const Uses *uses);
/* Those that read it as a whole, and so each part of it. */
int uses_as_whole(const Uses *uses);
/* Those of its component k alone. */
const Uses *uses_of_part(const Uses *uses, int k);

#endif
