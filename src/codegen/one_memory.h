/* Which results may lie in the memory of which inputs: docs/compiled.md, "In place". */
#ifndef RISEC_CODEGEN_ONE_MEMORY_H
#define RISEC_CODEGEN_ONE_MEMORY_H

#include "codegen/imp.h"

typedef enum OneMemory {
    ONE_MEMORY_ALLOWED,
    ONE_MEMORY_UNLIKE,    /* other types, or lengths */
    ONE_MEMORY_SCALAR,
    ONE_MEMORY_EXCHANGED,
    ONE_MEMORY_ELSEWHERE, /* who reads a cell does not write it afterwards */
    ONE_MEMORY_LATER,     /* a later kernel still reads the input */
    ONE_MEMORY_LARGE,     /* too much text to look at */
    ONE_MEMORY_UNKNOWN,   /* there are no kernels */
    ONE_MEMORY_COUNT
} OneMemory;

/* May component `result` of the result lie in all of the memory of component `input` of the inputs? Of a
 * program with all passes. Its kernels need a text of their own for it (cuda_piece_text). */
OneMemory one_memory(Ctx *ctx, const ImpProgram *program, int result, int input);
/* Why not, to stand behind "as". */
const char *one_memory_why(OneMemory found);

#endif
