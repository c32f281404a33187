/* From core to imp and from imp to text. */
#ifndef RISEC_CODEGEN_LOWER_H
#define RISEC_CODEGEN_LOWER_H

#include "codegen/imp.h"

/* The passes of lowering, in order; each has a printed form: `--stop-after=NAME --emit=imp`. */
typedef enum LowerPass {
    PASS_TRANSLATE, /* core to loops and accesses; views become index expressions */
    PASS_PREFETCH,  /* toShared[prefetch]: loads go one step ahead */
    PASS_LITERALS,  /* what literals decide is decided */
    PASS_LOOPS,     /* loops over the same elements are one */
    PASS_REGISTERS, /* private values: forwarded, reused, never copied */
    PASS_CONDITIONS, /* what is known already is not asked again */
    PASS_UNITS,     /* what a guard leaves out of a fold is left out */
    PASS_ONE_TILE,  /* a shared buffer lies where an earlier one lay */
    PASS_MEMORY,    /* shared buffers get their bytes by life */
    PASS_BARRIERS,  /* synchronisation from dependencies */
    PASS_SINK,      /* what only one branch needs is computed there */
    PASS_APART,     /* loads that one condition guards have a guard each */
    PASS_STRIDES,   /* loops that go from element to element of theirs */
    PASS_TILES,     /* loops without guards in full tiles */
    PASS_UNROLLING, /* loops that would be written out too often stay loops */
    PASS_VALUES,    /* what is loaded or computed again has a name */
    PASS_ROLL,      /* statements that repeat themselves become loops */
    PASS_ZEROS,     /* zeros under a condition, which ptxas may lose */
    PASS_INDICES,   /* indices, and parts of them, that are used again get a name */
    PASS_DEAD,      /* what nobody reads is gone, and copies of registers */
    PASS_DIVISIONS, /* what many floats are divided by is multiplied by */
    PASS_STEPS,     /* steps of a fold are joined */
    PASS_NAMES,     /* identifiers for C */
    PASS_OUTLINE,   /* what stands in several places is a function of the text */
    PASS_COUNT
} LowerPass;
const char *lower_pass_name(LowerPass pass);
LowerPass lower_pass_find(const char *name); /* PASS_COUNT: none */
/* Does it make what kernels cannot do without? Any other pass may be left out, and each may run twice: no result changes. */
bool lower_pass_is_needed(LowerPass pass);

/* NULL with diagnostics (E04xx, E05xx) when the entry cannot be lowered. Runs the passes up to and including `last`. */
ImpProgram *lower_entry(Ctx *ctx, const CoreEntry *entry, LowerPass last);
/* The same with each pass, but for the translation, as often as times says. */
typedef struct LowerPlan {
    int times[PASS_COUNT];
} LowerPlan;
LowerPlan lower_plan(LowerPass last); /* once each */
ImpProgram *lower_entry_by(Ctx *ctx, const CoreEntry *entry, const LowerPlan *plan);
/* What arrays of one thread take at once in a lowered kernel, in bytes, and the largest of them; NULL: there is none. */
typedef struct PrivateMemory {
    int64_t bytes;
    const ImpVar *largest;
    Span users; /* the user's text that the largest one stands for */
} PrivateMemory;
PrivateMemory private_memory(Ctx *ctx, const ImpKernel *kernel);
enum { REGISTERS_OF_MULTIPROCESSOR = 65536, REGISTERS_OF_THREAD = 255, REGISTER_BYTES = 4, LOCAL_MEMORY_MAX = 512 * 1024 /* bytes of a thread */ };
/* Fewer blocks at once on a multiprocessor, where the arrays of their threads would not fit into its registers; not where the user says how many. */
void fit_blocks(Ctx *ctx, ImpKernel *kernel);
int kernel_registers(const ImpKernel *kernel); /* that each thread may have, by its launch bounds */
/* Whether an entry without high-level patterns can be lowered. Says nothing. See Note [Tried and taken]. */
bool lower_rewritten(Ctx *ctx, const CoreEntry *entry);
/* By all passes, for index_guards_take; NULL without a diagnostic when the entry cannot be lowered. */
ImpProgram *lower_quietly(Ctx *ctx, const CoreEntry *entry);

/* CUDA C of a whole program: one or several entries' kernels; E0504 for what has no text. No header is included; compiles with nvcc and NVRTC for sm_75 and later.
 * `host`: also plain C host functions under #ifndef __CUDACC_RTC__. */
void cuda_print(Ctx *ctx, StrBuf *out, int n, ImpProgram *const *programs, bool line_directives);
/* The same an entry at a time: what is added may be forgotten then. `ctx` may be inside of the file's (ctx_new_inside). */
typedef struct CudaFile CudaFile;
CudaFile *cuda_file_new(Ctx *ctx, bool line_directives);
void cuda_file_add(Ctx *ctx, CudaFile *file, const ImpProgram *program);
void cuda_file_print(const CudaFile *file, StrBuf *out);
/* A header for C and C++ with the functions of the host and the code of the kernels: docs/header.md. To be asked for before the first entry is added; the text of
 * the file has the kernels alone then. `name`: what it is called, from which the names of its functions are made. */
typedef struct Header Header;
Header *cuda_file_header(CudaFile *file, const char *name);
typedef struct HeaderCode {
    int arch;
    bool ptx;
    const char *bytes; /* with a zero byte behind them */
    size_t size;
} HeaderCode;
/* codes: cubins from the newest architecture to the oldest, then PTX. source: name of the program. */
void header_print(const Header *header, StrBuf *out, const char *source, int n, const HeaderCode *codes);
/* What its kernels are called in the text of a file of its own, as imp_form counts. */
const char *const *cuda_kernel_names(Ctx *ctx, const ImpProgram *program);
/* Which parts of an entry's text are a kernel's own, so that each can be compiled alone: its body, and the helpers that it calls. Kernels as imp_form counts. */
typedef struct CudaPiece {
    size_t body, end_body;        /* bytes of the text: what it shares with its other forms */
    size_t from, to;              /* its own */
    int first_helper, end_helper; /* of CudaPieces.helpers */
    int first_function, end_function;
} CudaPiece;
typedef struct CudaRange {
    size_t from, to;
} CudaRange;
typedef struct CudaPieces {
    int n, n_helpers, n_functions;
    CudaPiece *at;
    uint16_t *helpers;
    CudaRange *functions; /* bytes of the text; for each kernel those that it calls */
} CudaPieces;
/* cuda_print of one entry, in memory of ctx as the pieces are. */
void cuda_print_pieces(Ctx *ctx, StrBuf *out, const ImpProgram *program, CudaPieces *pieces);
/* The text of kernel k alone; `text` is that of all. `in_place`: for launches that store results over inputs
 * (one_memory.h), no load passes a store. */
void cuda_piece_text(const CudaPieces *pieces, int k, const char *text, bool in_place, StrBuf *out);
/* The buffers that a launch is given, in the order of the host function's parameters: results and inputs of the entry, whether a kernel uses them or
 * not, then workspace. */
typedef struct HostBuffer {
    const ImpKernel *kernel; /* one that uses it (kernel_cells); NULL: none */
    const ImpBuf *buf;
} HostBuffer;
typedef VEC(HostBuffer) HostBuffers;
void host_buffers(Ctx *ctx, const ImpProgram *program, HostBuffers *list);
/* The manifest (JSON): docs/manifest.md describes it. */
void manifest_print(Ctx *ctx, StrBuf *out, int n, ImpProgram *const *programs);
/* The same an entry at a time, as with CudaFile. */
typedef struct ManifestFile ManifestFile;
ManifestFile *manifest_new(Ctx *ctx);
void manifest_add(Ctx *ctx, ManifestFile *file, const ImpProgram *program);
void manifest_end(ManifestFile *file, StrBuf *out);

#endif
