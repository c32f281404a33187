/* Imp: what a kernel does, as loops, registers and memory accesses. Between core and CUDA C; the simulator runs it.
 *
 * Every thread of the launch executes the kernel's body. Which threads do what follows from the hardware ids (nat variables of the
 * kernel) that occur in loop bounds, conditions and indices. All indices are nats over: the entry's sizes, the hardware ids, loop
 * variables in scope, and integer registers (ImpVar.nat). Statements are a tree; nothing jumps. */
#ifndef RISEC_CODEGEN_IMP_H
#define RISEC_CODEGEN_IMP_H

#include "ir/interp.h"

typedef enum ImpSpace { SPACE_INPUT, SPACE_OUTPUT, SPACE_TEMP /* global memory of the launch: workspace */, SPACE_SHARED } ImpSpace;

/* A buffer of scalars in memory that several threads see. One per component of a tuple. */
/* To the caches of a GPU. A higher one overrules. */
typedef enum ImpHint {
    HINT_NONE,
    HINT_KEEP,   /* keepCached: stays longer than what is written */
    HINT_STREAM  /* readOnce: not needed again soon */
} ImpHint;

typedef struct ImpBuf {
    int id;           /* index in ImpKernel.bufs */
    const char *name; /* an identifier of C, unique in the kernel */
    ImpSpace space;
    Scalar elem;
    Nat count;        /* cells. INPUT, OUTPUT: of the whole array. SHARED: in one block. TEMP: of the whole grid (mentions grid) */
    int component;    /* INPUT: index in Launch.buffers; OUTPUT: in Launch.results; TEMP: which buffer of the entry's workspace. Kernels that
                         share memory have each their own ImpBuf for it, alike in space, component and name */
    Type type;        /* INPUT, OUTPUT: the array's type, for the manifest; of type idx: values to check are below its size */
    Span span;        /* where the program asks for it */
    const struct ImpBlock *home; /* SHARED, TEMP: the statements among which it was asked for, which may be gone by now; each of their runs fills it anew. NULL: the kernel's */
    bool named;       /* its name is final */
    bool zero;        /* TEMP: all cells are zero before the first launch, and again after each */
    bool rounds;      /* TEMP, zero: but cells behind the first one count rounds from whatever they are */
    Nat offset;       /* SHARED: first byte within the block's shared memory, set by memory planning; else NULL */
    int group;        /* SHARED: buffers whose bytes overlap share a group number; planned */
    struct ImpBuf *replaces; /* during translation: the buffer that this one overwrites in place (layout.c); NULL afterwards */
    ImpHint hint;     /* INPUT: what its loads say to the caches */
    int prefetch;     /* SHARED, until the pass prefetch: which toShared[prefetch] fills it (1, 2, ...); 0: none */
    bool complete;    /* OUTPUT, TEMP: during translation, kernels before this one have written all of it, and none writes it from here on */
    bool rewritten;   /* OUTPUT, TEMP: by several statements (a scatter over its background), so that barriers order them */
    bool by_value;    /* INPUT: a scalar, which is a parameter of the kernel itself and no memory; it is loaded like one cell */
    const CoreVar *holds; /* TEMP: by which the next kernel, or the next step of those that repeat, knows it; NULL: none */
    const CoreVar *part;  /* TEMP: of a state: by which the kernels of a step know this part of it, which they write and read on; NULL: none */
    const struct ImpBuf *merged; /* that of a kernel that this kernel stands for, too, with its own `holds` and `part` (same_kernels.c); NULL: none */
    struct ImpBuf *swap; /* TEMP: with which this one changes places; NULL: none */
    Nat turns;        /* ... so many times before the launch: after an odd number the kernel gets the address of `swap` */
    int align;        /* bytes that cell 0 is aligned to, for vector accesses; 0: as its element. INPUT, OUTPUT: see Note [Forms] */
} ImpBuf;

/* The widest vector register, in components. */
enum { IMP_VECTOR_MAX = 16 };

/* What a register is for in a step, as of a tree of shuffles: registers of one role may become one. */
typedef enum ImpRole {
    ROLE_NONE,
    ROLE_OWN,   /* a lane's own value */
    ROLE_OTHER, /* what another lane has */
    ROLE_TEST   /* a condition that decides more than one component */
} ImpRole;

/* A register, or a small register array, of each thread. */
typedef struct ImpVar {
    int id;           /* unique in the kernel, 0 .. n_vars - 1 */
    const char *name;
    const char *base; /* its name, were it alone in the kernel: by the pass names; NULL until then */
    Scalar type;
    int slots;        /* 1: a scalar */
    Nat nat;          /* an integer, set once, whose value indices mention by this nat variable; else NULL */
    Nat number;       /* what stands for its value where conditions are decided (number_facts.c); NULL until then */
    bool constant;    /* set only by its IS_DECL */
    bool named;       /* the program names it: it is not reused for another value */
    ImpRole role;
    bool divides;     /* many are divided by it, and nothing else mentions it: pass divisions */
    bool fetched;     /* loaded a step before it is used (prefetch.c) */
    bool vector;      /* a short vector (float4): at most 16 bytes in memory, 2 to IMP_VECTOR_MAX slots, always mentioned by a constant slot */
    Span span;
} ImpVar;

typedef struct ImpExpr ImpExpr;
typedef enum ImpExprKind {
    IE_LIT,  /* lit */
    IE_NAT,  /* nat: its value as `type` */
    IE_VAR,  /* var.var, var.slot (a nat below slots; 0 for a scalar) */
    IE_LOAD, /* mem.buf at mem.index */
    IE_OP,   /* op.id of op.args: a scalar function; the operand type is args[0]->type (select: args[1]) */
    IE_CAST, /* cast.value to `type` */
    IE_COND, /* cond.cond ? cond.then : cond.otherwise, only the chosen one is evaluated */
    IE_SHFL  /* shfl; all 32 lanes of the warp get here. id: P_shflDown, P_shflUp or P_shflXor by `by`, P_shfl from lane `by` of each `lanes`; or P_reduceWarp:
              * shfl.value of all lanes, combined by the scalar function `op`: of i32 or u32 + min max bitAnd bitOr bitXor, of f32 min max */
} ImpExprKind;

struct ImpExpr {
    ImpExprKind kind;
    Scalar type;
    Span span;
    union {
        ScalarValue lit;
        Nat nat;
        struct { ImpVar *var; Nat slot; } var;
        struct { ImpBuf *buf; Nat index; } mem;
        struct { PrimId id; int n; ImpExpr **args; bool rounded; /* no part of a fused operation (contraction.h) */
                 bool spared; /* it holds where loop.full of the loop around it does */ } op;
        struct { ImpExpr *value; } cast;
        struct { ImpExpr *cond, *then, *otherwise; } cond;
        struct { PrimId id, op; ImpExpr *by, *value; int lanes; } shfl;
    };
};

typedef struct ImpStmt ImpStmt;
typedef struct ImpBlock { /* statements in order */
    VEC(ImpStmt *) list;
} ImpBlock;

typedef enum ImpStmtKind {
    IS_DECL,  /* var.var, var.value (NULL: not yet set) */
    IS_SET,   /* var.var, var.slot, var.value */
    IS_STORE, /* store.buf at store.index gets store.value */
    IS_VSET,  /* vec.var, a vector register, gets vec.values: all are read before any is set */
    IS_VLOAD, /* vec.var gets the cells vec.index .. vec.index + vec.n - 1 of vec.buf in one access: vec.index is a multiple of vec.n, and
               * vec.buf->align at least their bytes */
    IS_VSTORE, /* those cells get vec.values, likewise */
    IS_ATOMIC, /* atomic.old is what is in cell atomic.index of atomic.buf, which gets atomic.value instead, in one step; value mentions old */
    IS_TICKET, /* one thread of each block gets here: ticket.flag[0] says whether its block is the last to do so. What happened before it in any block
                * is visible after that in the last one. The count in ticket.buf[0] is 0 again then */
    IS_GRID_SYNC, /* a barrier of all blocks, which are all resident (ImpKernel.cooperative); ticket.buf holds its two counters */
    IS_GIVE,  /* one thread of a block gets here: exchange.value is total number exchange.index. Each once in a launch, in a block in rising order */
    IS_AWAIT, /* one thread of the same block gets here, later: exchange.cell[0] is what IS_SERVE makes of the totals before number exchange.index.
               * Waits until these have been given. Each once in a launch */
    IS_SERVE, /* a warp gets here: answers the totals number 0 .. serve.n - 1 in their order, each with what is before it in its row of serve.row totals (NULL: all
               * are one row): the units, then the values, which combine the registers sum (all before) and next (a total). A total that is a tuple has a part for
               * each component, given and awaited by statements of its own, in order. Associative: grouped as the printer likes. serve.lane: of the warp */
    IS_FOR,   /* for (var = lo; var < hi; var += step) body; step >= 1 */
    IS_IF,    /* cond, then, otherwise (may be empty) */
    IS_SYNC,  /* sync: a barrier of the block or of the warp */
    IS_ALLOC, /* alloc: from here on the shared buffer is in use (prints nothing) */
    IS_NOTE   /* note: the pattern of the program that starts here; a comment in CUDA */
} ImpStmtKind;

typedef enum SyncScope { SYNC_WARP, SYNC_BLOCK } SyncScope;

typedef struct ImpServed { /* a scalar, or a component, of the totals that are served */
    ImpBuf *mail;
    ImpVar *sum, *next;
    ImpExpr *value, *unit;
} ImpServed;

struct ImpStmt {
    ImpStmtKind kind;
    const struct ImpCall *call; /* for the statements from here on, Note [Functions]; NULL: none */
    struct StmtInfo *info; /* belongs to the pass that is running */
    int prefetch;     /* until the pass prefetch: it computes what this toShared[prefetch] stores; 0: none */
    Span span;        /* the .rise text that it comes from */
    Span users;       /* where that is not the user's: what of his it stands for; or nowhere */
    union {
        struct {
            ImpVar *var;
            Nat slot;
            ImpExpr *value;
            bool moved;  /* DECL without a value, by the pass outline: what mentions the register is in functions, which have one of their own */
            bool second; /* DECL of an index, by the pass dead: it is a second name for the register, or the part of a vector, that is its value */
        } var;
        struct { ImpBuf *buf; Nat index; ImpExpr *value; bool unordered; /* several threads may store to one cell: one of them stays */ } store;
        struct {
            ImpVar *var;   /* of vec.n slots */
            ImpBuf *buf;
            Nat index;
            int n;
            bool declares; /* VSET, VLOAD: it is the register's declaration, too */
            ImpExpr *values[IMP_VECTOR_MAX];
            const struct ImpStmt *first; /* VSTORE: the first of the statements that store one vector */
        } vec;
        struct {
            Nat var, lo, hi, step;
            PrimId level;  /* P_mapBlock, P_mapLane, ..., P_reduceSeq: what the loop is for */
            bool tiles;    /* of several elements: that is what it counts */
            bool first;    /* fetches for the first step of a loop that follows: not worth a copy without guards */
            bool unroll;   /* constant trip count, to be unrolled (#pragma unroll) */
            int at_once;   /* so many steps are written out together (#pragma unroll 4), 1: each stays alone; 0: as CUDA's compiler likes */
            bool repeats;  /* unrolled statements that repeat themselves, of pass roll: they count as written out */
            ImpExpr *full; /* in a full tile, in which all `spared` conditions of the body hold; it becomes code of its own (full_tiles.h). NULL: there is none */
            ImpBlock body;
        } loop;
        struct {
            ImpExpr *cond;
            ImpBlock then, otherwise;
            bool last; /* cond is the flag of a ticket: the same in the whole block, and true in one block of the grid, the last one */
        } branch;
        struct { ImpBuf *buf; Nat index; ImpVar *old; ImpExpr *value; } atomic;
        struct { ImpBuf *buf, *flag; } ticket;
        struct { ImpBuf *mail; Nat index; ImpExpr *value; ImpBuf *cell; } exchange; /* mail: imp_mail_words for each total, 0 outside of the exchange. value: of GIVE; cell: of AWAIT */
        struct { int n_parts; ImpServed *parts; Nat n, row, lane; } serve;
        SyncScope sync;
        ImpBuf *alloc;
        const char *note;
    };
};

/* Note [Forms]. A kernel may have other forms to launch in its place where a guard of its does not hold: `otherwise`, and so on along the chain;
 * the last one has no guard. All compute the same from the same arguments. Guards: alignment (every array of the caller's starts at a multiple of
 * its `align`, as workspace does anyway), unless the kernel is `unaligned`, and that 31 bits hold every index (index_guards.h), unless it is `wide`.
 * lower.c makes the chain: wide indices, then no alignment either. All have one body, and one text with two parameters (cuda_print.c). The manifest has each form as a variant of the
 * launch, the host's function tests the guards, and the simulator runs the form it is told to. */
/* Launches that repeat: all of them in their order, then again. */
typedef struct ImpGroup {
    Nat count; /* over the sizes */
    Nat turn;  /* the number of the turn, for its kernels: 0 .. count - 1 */
} ImpGroup;

typedef struct ImpKernel {
    const char *name;
    const CoreEntry *entry;
    const NatFacts *known; /* the entry's facts, and what follows from the conditions of its variants; NULL: nothing */
    int n_sizes;          /* the entry's sizes that the kernel uses, passed after the pointers: as int, or as long long when wide */
    Nat *sizes;
    VEC(ImpBuf *) bufs;   /* parameters in order: outputs, inputs, temps; then shared */
    VEC(ImpVar *) vars;
    int threads[3];       /* threads per block and axis; the product is a multiple of 32 unless it is 1 */
    Nat blocks[3];        /* blocks of the default launch per axis, over the sizes; the result is the same for any number >= 1 */
    bool once[3];         /* on this axis the launch has just blocks[a] blocks, not fewer: a map over them is no loop */
    bool from_last[3];    /* on this axis block[a] is gridDim - 1 - blockIdx */
    bool cooperative;     /* all blocks are resident at once, at most as many as fit */
    int least_blocks;     /* on axis x, however few fit; 0 as 1 */
    Nat totals;           /* the most that an exchange in it has, over the sizes; NULL: there is none */
    int64_t min_blocks;   /* second argument of __launch_bounds__, 0: not given */
    bool blocks_as_said;  /* the user's program says min_blocks, or the brackets of nextKernel do, not a strategy of the library */
    /* Hardware ids, nat variables: grid[a] = gridDim, block[a] = blockIdx, thread[a] = threadIdx on axis a; warp = linear thread / 32, lane =
     * linear thread % 32, linear thread = x + threads[0]*(y + threads[1]*z). An axis of one thread (or a single warp) has the constant 0 instead of a variable. */
    Nat grid[3], block[3], thread[3], warp, lane;
    int lanes; /* of a warp, or of the parts of it that mapWarp[lanes = k] makes: what `warp` and `lane` count */
    Nat shared_bytes;     /* of a block, planned; a constant, or over the sizes: then memory is dynamic */
    ImpBlock body;
    bool wide;            /* sizes, and indices over them, have 64 bits; else they fit 31 (index_guards.h), which is a guard */
    bool unaligned;       /* arrays of the caller's are aligned as their elements: a vector of their cells is accessed cell by cell */
    const ImpGroup *group; /* that it is launched in; NULL: once */
    struct ImpKernel *init; /* the kernel before it that only prepares it; NULL: none */
    struct ImpKernel *otherwise; /* see Note [Forms]; NULL: none */
    const struct IndexGuards *guards; /* index_guards.h; NULL while passes may still change the kernel */
} ImpKernel;

/* Note [Variants]. A program is a sequence of launches. Each has its own variants, in order: kernels with the conditions under which they are launched. The
 * first one whose conditions hold is; where none do, nothing is launched there. Conditions are size tests of the program, and mention sizes and numSM: the
 * host decides them before it launches anything.
 *
 * So classes of one launch do not multiply those of another. A kernel that several classes launch stands once in the program, and its text once in the
 * file. What is launched in a branch of a test with more launches than the other branch has that test among its conditions.
 *
 * Launches that stand together and whose kernels are of one group repeat. */
typedef struct ImpWhen {
    const Core *test; /* a condition over sizes */
    bool holds;       /* or does not */
} ImpWhen;

typedef VEC(ImpWhen) ImpWhens; /* all of them, outermost first */

typedef struct ImpVariant {
    ImpWhens when;
    ImpKernel *kernel; /* in the first of its forms that fits */
} ImpVariant;

typedef struct ImpLaunch {
    VEC(ImpVariant) variants;
    const ImpGroup *group; /* of its kernels; NULL: none */
} ImpLaunch;

/* Note [Functions]. Statements that stand in several places, of one kernel or of several, are one
 * function of the text. In imp they stand at each place as they are, so that nothing else has to know
 * of it: the first one has the call as a mark, which says how many statements it stands for. The
 * function's body is a copy of those at the first place, with parameters of its own for the numbers
 * that differ; registers and buffers in it are those of the first place. The pass outline makes them,
 * cuda_functions.c prints them. */
typedef enum ImpParamKind {
    PARAM_BUF, /* buf */
    PARAM_NAT, /* nat, a variable; the argument is a number */
    PARAM_VAR  /* var, by its value */
} ImpParamKind;

typedef struct ImpParam {
    ImpParamKind kind;
    ImpBuf *buf;
    Nat nat;
    ImpVar *var; /* VAR; NAT: the register that holds it, or NULL */
    bool gives;  /* VAR: by reference, the function sets it */
    bool ours;   /* VAR: what the call stands for declares it, so the text does before the call */
    bool wide;   /* NAT: of the type of indices; else int */
} ImpParam;

typedef struct ImpFunction {
    const char *name;        /* without that of the entry */
    const ImpKernel *kernel; /* of the first place */
    VEC(const ImpKernel *) callers; /* kernels, each once; perhaps by another function */
    const NatFacts *known;   /* what holds at all places; NULL: nothing */
    VEC(ImpParam) params;
    ImpVar *result;          /* what it returns; NULL: nothing */
    bool own_result;         /* which is declared in it, and no parameter */
    bool gives_name;         /* what a call stands for declares the result */
    bool spared;             /* a loop around a call may spare a condition in it (full_tiles.h) */
    Span span;               /* what it is named after, or its first statement */
    Span users;              /* the line that all places stand for; NO_SPAN: they differ */
    ImpBlock body;
} ImpFunction;

typedef struct ImpArg {
    ImpBuf *buf;
    Nat nat;     /* NAT; BUF: the cell that is number 0 of the function's */
    ImpVar *var;
} ImpArg;

typedef struct ImpCall {
    ImpFunction *function;
    int n;           /* statements, comments among them */
    ImpArg *args;    /* one for each parameter */
    ImpVar *result;  /* NULL: nobody reads it */
} ImpCall;

typedef struct ImpProgram {
    const CoreEntry *entry;
    VEC(ImpKernel *) kernels; /* in the order of the text */
    VEC(ImpFunction *) functions; /* each behind those that it calls */
    VEC(ImpLaunch) launches;
} ImpProgram;

/* The kernel that is launched at this place; NULL: none. False, with a diagnostic unless ctx is NULL, when a condition has no value. */
bool imp_choose(Ctx *ctx, const CoreEntry *entry, const ImpLaunch *place, const Launch *launch, ImpKernel **kernel);
bool imp_when_holds(Ctx *ctx, const CoreEntry *entry, const ImpWhens *when, const Launch *launch, bool *holds);
/* Is the kernel, in this form or another one, launched anywhere? */
bool imp_is_launched(const ImpProgram *program, const ImpKernel *kernel, const Launch *launch);
/* whens.c: "n > 1024 and n <= 4096", without what others of them say. */
void imp_print_whens(StrBuf *out, const ImpWhens *when);
bool imp_same_when(const ImpWhens *a, const ImpWhens *b);
/* Each says when the same thing happens. Two that differ in how one test turns out become one, which does not ask it. */
typedef VEC(ImpWhens) ImpWhensList;
void imp_join_whens(Ctx *ctx, ImpWhensList *list);
typedef VEC(const ImpVariant *) ImpVariants;
/* Whatever the sizes are, do the conditions of one of these hold? All have the same first `depth` ones. */
bool imp_cover(Ctx *ctx, const ImpVariants *variants, int depth);
/* The launches from number i on that repeat together, or that one. */
int imp_group_size(const ImpProgram *program, int i);
/* One more launch, always of this kernel. */
void imp_launch_always(Ctx *ctx, ImpProgram *program, ImpKernel *kernel);

/* The kernels of a program with their forms: each one's chain follows it. Number k, or NULL. */
ImpKernel *imp_form(const ImpProgram *program, int k);
/* Which one it is; of one that is not there, how many there are. */
int imp_form_number(const ImpProgram *program, const ImpKernel *kernel);
/* The next form, where it is this very kernel with wide indices; else NULL. */
const ImpKernel *imp_wide_twin(const ImpKernel *kernel);
/* Bytes that a buffer has to be aligned to for this kernel, as an array of the caller's; workspace is aligned to any vector anyway. 0: as its elements. */
int imp_align(const ImpKernel *kernel, const ImpBuf *buf);
bool imp_has_guard(const ImpKernel *kernel); /* a buffer of it has to be aligned */

/* ---- building ---------------------------------------------------------------------------------------------------- */

ImpExpr *imp_lit(Ctx *ctx, ScalarValue v, Span span);
ImpExpr *imp_nat(Ctx *ctx, Nat nat, Scalar type, Span span);
ImpExpr *imp_var(Ctx *ctx, ImpVar *var, Nat slot, Span span);
ImpExpr *imp_load(Ctx *ctx, ImpBuf *buf, Nat index, Span span);
/* Whether a component of this type is a parameter of the kernel itself. */
bool imp_by_value(ImpSpace space, Type t);
bool imp_is_parameter(const ImpExpr *e); /* a scalar of the launch, by value: as good as a register */
ImpExpr *imp_op(Ctx *ctx, PrimId id, Scalar type, int n, ImpExpr **args, Span span);
ImpExpr *imp_op2(Ctx *ctx, PrimId id, Scalar type, ImpExpr *a, ImpExpr *b, Span span);
ImpExpr *imp_op_like(Ctx *ctx, const ImpExpr *op, ImpExpr **args); /* of other operands */
bool imp_is_infix(const ImpExpr *e); /* a + b + c in CUDA, where others stand within each other */
ImpExpr *imp_cast(Ctx *ctx, Scalar type, ImpExpr *value, Span span);
bool imp_widens(const ImpExpr *e); /* a cast of an integer to a wider one that has all its values */
ImpExpr *imp_cond(Ctx *ctx, ImpExpr *cond, ImpExpr *then, ImpExpr *otherwise, Span span);
ImpExpr *imp_shfl(Ctx *ctx, PrimId id, Nat by, ImpExpr *value, Span span);
ImpExpr *imp_shfl_by(Ctx *ctx, PrimId id, ImpExpr *by, ImpExpr *value, Span span);
ImpExpr *imp_reduce_warp(Ctx *ctx, PrimId op, ImpExpr *value, Span span);
int imp_vector_width(Scalar elem, int w); /* components of the vector registers that hold w of them: 1 where there are none */
int imp_mail_words(Scalar total); /* 64 bits each, with 32 of the value and who wrote it */
/* The register that the statement itself sets or declares; NULL: none. */
ImpVar *imp_sets(const ImpStmt *stmt);
bool imp_declares(const ImpStmt *stmt);
ImpStmt *imp_stmt(Ctx *ctx, ImpBlock *block, ImpStmtKind kind, Span span); /* appended to block unless NULL */

/* Has a choice between the two to be hidden from ptxas? See zeros.c. */
bool imp_may_lose_zero(const ImpExpr *value, const ImpExpr *zero);

/* numSM or maxResident: what a device says at launch. */
bool imp_is_device_size(Nat var);
/* By what is known of a kernel no divisor in the nat is 0, wherever the kernel computes it. */
bool imp_divides_safely(Ctx *ctx, const NatFacts *known, Nat nat);

/* The pseudo-code of --emit=imp. */
void imp_print(StrBuf *out, const ImpProgram *program);
void imp_print_kernel(StrBuf *out, const ImpKernel *kernel); /* all but its name */

/* ---- barriers, for tests ------------------------------------------------------------------------------------------- */

int imp_sync_count(const ImpKernel *kernel);
/* Takes barrier number k (in order of text) out; gives it back so that imp_restore_sync can put it in again. */
ImpStmt *imp_drop_sync(ImpKernel *kernel, int k);
void imp_restore_sync(ImpStmt *sync);

#endif
