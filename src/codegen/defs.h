/* Where the registers, indices and cells of a kernel get their values. Private to src/codegen. */
#ifndef RISEC_CODEGEN_DEFS_H
#define RISEC_CODEGEN_DEFS_H

#include "codegen/lowering.h"

typedef struct StmtInfo {
    ImpStmt *around; /* the loop or branch; NULL: there is none */
    bool needed;     /* pass dead */
} StmtInfo;

typedef struct Sites {
    VEC(ImpStmt *) at;
} Sites;

/* By the address of a register, of a variable of indices (a register's, or a loop's) or of memory:
 * the statements that give it a value. */
typedef struct Defs {
    Ctx *ctx;
    Table sites;
} Defs;

/* All statements of the list, and those nested in them. Sets their info. */
void defs_note(Defs *defs, const ImpBlock *block, ImpStmt *around);
void defs_note_stmt(Defs *defs, ImpStmt *s, ImpStmt *around);
const Sites *defs_of(const Defs *defs, const void *what); /* NULL: none */
/* Does the statement, or one nested in it, change the value of e? */
bool defs_change(const Defs *defs, ImpExpr *e, const ImpStmt *by);

#endif
