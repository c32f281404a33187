/* Identifiers of emitted text: unique among all names in scope, never a word that C++ or CUDA has taken. A name is
 * changed only when it must be.
 *
 * Scopes nest: names claimed after a mark are free again once it is released, so siblings may share a name but no name hides
 * another. Each entry has scopes of its own inside the functions of the file. */
#ifndef RISEC_CODEGEN_C_NAMES_H
#define RISEC_CODEGEN_C_NAMES_H

#include "ir/nat.h"

typedef struct CNames CNames;

/* Without `cuda`, no word is taken from the start: for texts that are no C. */
CNames *c_names_new(Ctx *ctx, bool cuda);
/* `wanted` made an identifier, with _1, _2, ... behind it when it is taken. The result is interned. */
const char *c_name_claim(CNames *names, const char *wanted);
/* The name as it stands. */
bool c_name_is_taken(CNames *names, const char *name);
void c_name_take(CNames *names, const char *name);
/* For a loop variable: where `wanted` is one of i, j, k, l and taken, the next of them that is free. */
const char *c_name_claim_loop(CNames *names, const char *wanted);
/* For the name of a kernel or function: also none of the C library's and the CUDA runtime's. */
const char *c_name_claim_global(CNames *names, const char *wanted);
int c_names_mark(const CNames *names);
void c_names_release(CNames *names, int mark);

/* What a nat variable is called. A variable without a name is called as it was made. */
void c_names_set(CNames *names, Nat var, const char *name);
const char *c_names_get(const CNames *names, Nat var);
const char *c_names_of(void *names, Nat var); /* the same, for nat_print_c */

#endif
