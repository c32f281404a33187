/* What the files of the CUDA printer share.
 *
 * cuda_print.c: files and kernels. cuda_pieces.c: the text of a kernel alone. cuda_stmt.c: statements. cuda_scan.c: how blocks of a scan meet. cuda_expr.c: expressions. cuda_tail.c: ends of arrays. cuda_helpers.c: the
 * small functions that expressions call. cuda_functions.c: what several kernels call. cuda_promises.c: `__restrict__`. cuda_host.c, cuda_launches.c, cuda_workspace.c: the functions of the host; cuda_calls.c: what they call. cuda_header.c: the header for C. */
#ifndef RISEC_CODEGEN_CUDA_INTERNAL_H
#define RISEC_CODEGEN_CUDA_INTERNAL_H

#include "codegen/c_names.h"
#include "codegen/index_guards.h"
#include "codegen/lower.h"
#include "codegen/walk.h"

/* Operators of C, loosest first. */
typedef enum CPrec {
    C_ANY, C_CHOICE, C_OR, C_AND, C_BIT_OR, C_BIT_XOR, C_BIT_AND, C_EQUAL, C_LESS, C_SHIFT, C_SUM, C_PRODUCT, C_UNARY, C_ATOM
} CPrec;

typedef enum CudaHelper {
#define HELPER(id, name, text) HELP_##id,
#include "codegen/cuda_helpers.def"
#undef HELPER
    HELP_COUNT
} CudaHelper;

/* The types that indices have in C. */
typedef enum CudaIndex {
    INDEX_INT,
    INDEX_LONG,     /* long long */
    INDEX_PARAMETER /* Index, the parameter of a template: one of the two */
} CudaIndex;

/* What the functions of a header begin with. */
typedef struct HeaderPrefix {
    const char *lower, *upper; /* "sum_", "SUM_" */
} HeaderPrefix;

/* A function for what stands in several places, in C. */
typedef struct CudaFunction {
    ImpFunction *imp;
    const char *name;
    CudaIndex type;  /* of indices: INDEX_PARAMETER, a parameter of its template */
    bool aligned;    /* the template has this parameter */
    bool wide;       /* a kernel that calls it may have 64-bit indices */
    size_t from, to; /* its text */
    uint32_t helpers[HELP_COUNT]; /* as in Cuda */
} CudaFunction;

typedef struct Cuda {
    Ctx *ctx;
    StrBuf *out;
    CNames *names;           /* of the entry; a kernel's are released at its end */
    const ImpProgram *program;
    const ImpKernel *kernel;
    CudaFunction *functions;     /* those of the program, ended by one without imp */
    const ImpFunction *function; /* that is printed: `kernel` has its body then; NULL: none is */
    const NatFacts *facts;
    bool line_directives;
    Span users;              /* the last text of the user's that a statement stood for */
    bool lost;               /* a number beyond 64 bits was printed, which is no text of C */
    int depth;               /* of indentation */
    uint32_t helpers[HELP_COUNT]; /* a bit for each scalar type that it is called with */
    const char **buf_names;  /* by id */
    Nat *buf_shifts;         /* the cell of the named array that cell 0 is, or NULL: 0 */
    bool *promises;          /* by id: the buffer's pointer is `__restrict__` */
    bool *buf_scalars;       /* what is no array: shared buffers of one cell, scalars by value */
    const char **var_names;
    bool *known;             /* registers that the compiler may know the value of somewhere */
    bool *bits;              /* by id: a register of f16 or bf16 that is the bits that are in memory */
    bool *held;              /* by id: a vector of small cells that is the words that are in memory */
    bool copies;             /* values of f16 and bf16 are printed as their bits */
    bool may_be_unaligned;   /* the text has the parameter `aligned` */
    const char *full;        /* the name of what says whether this tile is full; NULL: no such tile is around */
    CudaIndex index;         /* the type of sizes and of what is computed from them */
    VEC(Nat) wide;           /* nat variables of this type, where it may be long long */
    VEC(Nat) longs;          /* nat variables of type long long, whatever the type of sizes is */
    const NatNamed *divisors; /* of the kernel whose body is printed; NULL: none */
    const Nat *divisors_after; /* the variable after whose declaration each of them stands; NULL: it is the first in the body */
    const HeaderPrefix *header; /* of host functions for a header, in C99; NULL: for a .cu file */
} Cuda;

/* ---- cuda_helpers.c ---------------------------------------------------------------------------------------------------- */

enum { CUDA_WIDTH = 100 }; /* columns of a line */
/* Breaks the lines that are longer, of what stands in `out` from there on. cuda_wrap.c */
void cuda_wrap(StrBuf *out, size_t from);

const char *cuda_type(Scalar s);     /* in memory: "unsigned char" */
const char *cuda_value_type(Scalar s); /* of a register or an expression */
const char *cuda_vector_type(Cuda *c, Scalar s, int n); /* in memory: "uchar4", "Cells<unsigned char, 16>" */
const char *cuda_vector_value_type(Cuda *c, Scalar s, int n);
const char *cuda_vector_maker(Cuda *c, Scalar s, int n); /* the function that makes a value of it */
const char *cuda_vector_part(Cuda *c, const char *name, const ImpVar *var, int slot);
const char *cuda_helper(Cuda *c, CudaHelper helper, Scalar type); /* its name; it will be in the text */
void cuda_nat_helpers(Cuda *c, int nat_c_bits);
void cuda_put_helpers(const uint32_t *helpers, StrBuf *out); /* Cuda.helpers */
/* A declaration of it in a kernel is of the whole file, so that nothing else in a file may be called so. */
#define CUDA_SHARED_BYTES "shared_bytes"
/* In a function that is extern "C", so is what it declares as extern: another name than that in templates. */
#define CUDA_SHARED_BYTES_C "shared_memory"
void cuda_reserve_words(CNames *names); /* the functions that emitted text calls */
const char *cuda_function(PrimId id, Scalar type); /* of floats; NULL: none */
bool cuda_operator(PrimId id, const char **text, CPrec *prec);

/* ---- cuda_pieces.c ----------------------------------------------------------------------------------------------------- */

void cuda_pieces_init(Ctx *ctx, CudaPieces *pieces, int n);
/* Kernel k of the text is a form of this one, which c has printed last, with c->helpers. In order. */
void cuda_pieces_add(Ctx *ctx, CudaPieces *pieces, int k, CudaPiece piece, const Cuda *c,
                     const ImpKernel *kernel);

/* ---- cuda_divisors.c --------------------------------------------------------------------------------------------------- */

/* Finds what the kernel divides by often, and declares what follows from sizes. False: nothing. */
bool cuda_put_divisors(Cuda *c);
/* Declares those that follow from sizes and from this variable, which has just been declared. */
bool cuda_put_divisors_after(Cuda *c, Nat declared);

/* ---- cuda_expr.c ------------------------------------------------------------------------------------------------------- */

/* The text's C type is the scalar's own, or int for types narrower than that; its value is in the scalar's range. */
void cuda_expr(Cuda *c, const ImpExpr *e, CPrec prec);
/* That a condition does not hold: `m != 0`, or `!holds`. */
void cuda_not(Cuda *c, const ImpExpr *e, CPrec prec);
void cuda_unrounded(Cuda *c, const ImpExpr *e, CPrec prec); /* before the rounding that cuda_half_rounds tells of */
void cuda_nat(Cuda *c, Nat nat, CPrec prec);
/* A name for the register, up to the end of the scope. */
const char *cuda_claim(Cuda *c, const ImpVar *var);
void cuda_slot(Cuda *c, const ImpVar *var, Nat slot);
const char *cuda_slot_name(Cuda *c, const ImpVar *var, Nat slot); /* of a register, or of a vector's part */
void cuda_cell(Cuda *c, const ImpBuf *buf, Nat index);
void cuda_load_cell(Cuda *c, const ImpBuf *buf, Nat index); /* with the buffer's cache hint */
const char *cuda_loader(Cuda *c, const ImpBuf *buf); /* the function that loads from it; NULL: plainly */
/* `target = value`, or `target += e` where the value allows it; `target` is an IE_VAR or, of a cell, an IE_LOAD. */
void cuda_assign(Cuda *c, const ImpExpr *target, const ImpExpr *value);
bool nat_is_wide(const Cuda *c, Nat nat); /* may it need more than an int? */
CudaIndex cuda_nat_type(const Cuda *c, Nat nat);
const char *cuda_index_type(CudaIndex type);
/* The variable has this type from here on. */
void cuda_index_is(Cuda *c, Nat var, CudaIndex type);
/* The beginning of the call that loads or stores n cells of global memory, in one access where it is `aligned`: "load4<aligned>(". */
void cuda_put_access(Cuda *c, const ImpStmt *s, const char *aligned);

/* ---- cuda_convert.c ---------------------------------------------------------------------------------------------------- */

const ImpExpr *cuda_compared(const Cuda *c, const ImpExpr *e); /* an operand of a signed comparison, without conversions that C makes by itself */
/* The value of a register that is an index and is computed from such, with the type that it has here; else NULL, with the register's own type. */
const ImpExpr *cuda_index_value(const Cuda *c, const ImpStmt *decl, CudaIndex *type);
/* The type of an expression that has no cast: a nat's is cuda_nat_type. */
#define CUDA_AS_IT_IS SC_COUNT
/* cuda_negation.c */
void cuda_find_known(Cuda *c, int n_vars); /* sets c->known */
bool cuda_put_negation(Cuda *c, const ImpExpr *e, Scalar t, CPrec prec); /* false: e, an operation on integers of type t, is none to be hidden */

/* ---- cuda_promises.c -------------------------------------------------------------------------------------------------- */

void cuda_find_promises(Cuda *c, int n_bufs); /* sets c->promises, for ids below n_bufs */

/* ---- cuda_half.c: f16 and bf16, which are unsigned short in memory and float in registers -------------------------------- */

bool cuda_is_half(Scalar s);
bool cuda_half_rounds(const ImpExpr *e); /* may the float that computes it lie between two values of the type? */
void cuda_half_round(Cuda *c, const ImpExpr *e);
/* The function that is a * b + c, rounded once. */
const char *cuda_half_fma(Cuda *c, Scalar type);
/* a / b, as exact as a rounding to the type needs. */
const char *cuda_half_quotient(Cuda *c, Scalar type);
void cuda_half_load(Cuda *c, const ImpExpr *load);
void cuda_half_slot(Cuda *c, const ImpVar *var, Nat slot); /* the value of bits */
void cuda_half_store(Cuda *c, const ImpExpr *value); /* the bits of a value, for a cell */
/* The functions that turn vectors of bits into vectors of values, and back. */
const char *cuda_half_from(Cuda *c, Scalar type, int n);
const char *cuda_half_to(Cuda *c, Scalar type, int n);

/* ---- cuda_bits.c: f16 and bf16 that are copied ---------------------------------------------------------------------------- */

void cuda_find_bits(Cuda *c, const ImpKernel *kernel, const ImpFunction *function); /* of the text that is printed next; function: NULL, or its body */
bool cuda_is_bits(const Cuda *c, const ImpVar *var);
bool cuda_is_held(const Cuda *c, const ImpVar *var);
bool cuda_is_copy(const Cuda *c, const ImpExpr *e);
bool cuda_are_copies(const Cuda *c, const ImpStmt *vector); /* all values of a VSET or VSTORE */
void cuda_put_copy(Cuda *c, const ImpExpr *copy, CPrec prec);
void cuda_put_literal_bits(Cuda *c, const ImpExpr *literal);
const char *cuda_var_type(Cuda *c, const ImpVar *var); /* of a register; of an array, that of its slots */

/* ---- cuda_scan.c ------------------------------------------------------------------------------------------------------- */

void cuda_put_give(Cuda *c, const ImpStmt *s);
void cuda_put_await(Cuda *c, const ImpStmt *s);
void cuda_put_serve(Cuda *c, const ImpStmt *s);

/* ---- cuda_stmt.c ------------------------------------------------------------------------------------------------------- */

void cuda_block(Cuda *c, const ImpBlock *block); /* its statements, indented to c->depth */
bool cuda_any_shown(const ImpBlock *block); /* does it print anything? */
bool cuda_is_shown(const ImpStmt *s);
/* A comment: FILE:LINE of the user's text, where there is some: what, of FILE:LINE. */
void cuda_put_about(Cuda *c, Span users, Span span, const char *what);
void cuda_put_start(Cuda *c, const ImpBuf *buf, Nat index); /* where cells start: xs + 4*i */
void cuda_put_loaded(Cuda *c, const ImpStmt *vload); /* the vector's value */
/* Names and wide variables that end with a block of C. */
typedef struct CudaScope {
    int names, wide, longs;
} CudaScope;
CudaScope cuda_enter(Cuda *c);
void cuda_leave(Cuda *c, CudaScope scope);

/* ---- cuda_functions.c ------------------------------------------------------------------------ */

struct CudaNames;
CudaFunction *cuda_functions(Ctx *ctx, const ImpProgram *program, const struct CudaNames *names);
/* By the kernel, or by another function for it. */
bool cuda_is_called(const CudaFunction *f, const ImpKernel *kernel);
void cuda_put_function(Cuda *c, CudaFunction *f);
void cuda_put_call(Cuda *c, const ImpCall *call); /* with the end of its line */

/* ---- cuda_tail.c ------------------------------------------------------------------------------- */

/* The value that a vector gets, as the cells at the end of an array; false: it is something else. */
bool cuda_put_tail(Cuda *c, const ImpStmt *vset);
/* The vector that the branch gives all cells, or those that are there; NULL: it does more. */
const ImpVar *cuda_sets_all_or_fewer(Cuda *c, const ImpStmt *branch);
void cuda_put_all_or_fewer(Cuda *c, const ImpStmt *branch); /* the value, as a choice */

/* ---- cuda_host.c ------------------------------------------------------------------------------------------------------- */

/* What the functions of an entry are called in C. */
typedef struct CudaNames {
    int n_kernels;
    const char **kernels; /* as imp_form counts */
    const char **functions; /* as in ImpProgram.functions */
    const char **bodies;  /* of the program's kernels: the function that all its forms call; NULL: there is one form */
    const char *launch;   /* the host function */
    const char *workspace, *init; /* those for the workspace; NULL: there is none */
    const char *results, *needed; /* only in a header: bytes of results, and of the workspace whatever the device has */
} CudaNames;
/* The functions of the host that launch a program. declarations: where those of a header are declared, in which c->header is set; NULL: of a .cu file. */
void cuda_host(Cuda *c, const ImpProgram *program, const CudaNames *names, StrBuf *declarations);
/* A condition over sizes as C, or that it does not hold; false when it is no such condition. */
bool cuda_fact(Cuda *c, StrBuf *out, const Core *fact, bool holds, CPrec prec);
/* What host functions ask the device: each asks for a function that they share. */
typedef struct CudaHostUse {
    bool sms, resident, workspace;
} CudaHostUse;
void cuda_host_use(Ctx *ctx, const ImpProgram *program, CudaHostUse *use); /* adds the program's */
void cuda_host_helpers(StrBuf *out, const CudaHostUse *use);

/* ---- cuda_header.c ----------------------------------------------------------------------------------------------------- */

Header *header_new(Ctx *ctx, const char *name);
/* Adds the functions of an entry. `names`: of the kernels; c: as it printed them. */
void header_add(Header *header, Cuda *c, const ImpProgram *program, const CudaNames *names);

/* ---- cuda_print.c ------------------------------------------------------------------------------------------------------ */

void cuda_indent(Cuda *c);
/* Declares the ids of the hardware that the body of c->kernel uses; false: it uses none. */
bool cuda_put_ids(Cuda *c);
/* name(a, b, ...), which begins at a column. */
void cuda_put_items(Cuda *c, size_t column, const char *name, int n, const char *const *items);
/* The type of indices in the text that the forms of a kernel share; may arrays be unaligned? */
CudaIndex cuda_text_index(const ImpKernel *kernel);
bool cuda_text_may_be_unaligned(const ImpKernel *kernel);
bool cuda_unsigned_safe(Nat nat); /* may gridDim stand in it as it is, an unsigned? */
/* Text that cannot end a comment or begin a line: what comes from file names and notes. */
void cuda_comment_text(StrBuf *out, const char *text);
/* The first comment of all that is emitted: what made it, of what, and whose it is. */
void cuda_put_origin(StrBuf *out, const char *source);
/* File name, of the user's without directories, and line; "" and 0 when the span is nowhere. */
const char *cuda_place(Ctx *ctx, Span span, int *line);

/* Names for functions of a file, of which none is claimed yet. */
CNames *cuda_globals(Ctx *ctx);
CudaNames cuda_names(Ctx *ctx, CNames *globals, const ImpProgram *program);

#endif
