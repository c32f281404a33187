/* What the files of the lowering share: the state of one translation, views, and the launch. Private to src/codegen.
 *
 * Note [Views]. A view says where the elements of a value are: in a buffer, in registers, or computed from other views. Applying indices to it
 * (view_at) ends at a scalar, whose index is then one nat over loop variables and hardware ids. The writing side uses the same views
 * with the inverse index maps: an acceptor is a view that is stored to. Nothing here moves data.
 *
 * Note [Owners]. A private array filled by mapLane, mapThreads, mapWarp or mapBlock is distributed: with p = i * stride + shift, element i lives
 * with instance p % count of that level, in its register slot p / count. Reading it elsewhere is refused. The stride is 1 but for
 * mapThreads[place = ...]. */
#ifndef RISEC_CODEGEN_LOWERING_H
#define RISEC_CODEGEN_LOWERING_H

#include "codegen/lower.h"
#include "support/table.h"

typedef struct View View;
enum { MAX_THREADS = 1024 }; /* of a block */

typedef enum ViewKind {
    VIEW_ERROR,  /* reported before; absorbs */
    VIEW_SCALAR, /* expr */
    VIEW_BUF,    /* buf from cell `offset` on, row-major */
    VIEW_REG,    /* var from slot `slot` on; dims say who holds what */
    VIEW_TUPLE,  /* items: a tuple */
    VIEW_ZIP,    /* items: arrays of equal length, as an array of tuples */
    VIEW_PROJ,   /* source: an array (of arrays...) of tuples, component `k` of each */
    VIEW_MAP,    /* source through the index map of a table row, once `rank` indices are there */
    VIEW_PAD,    /* source with `other` outside [lo, lo + size) */
    VIEW_COND,   /* cond ? source : other */
    VIEW_GEN,    /* lambda applied to the index */
    VIEW_EACH,   /* source with lambda applied to each element; writing: what is written to it goes through the lambda, a chain of views */
    VIEW_GATHER, /* source at the index that `other` holds */
    VIEW_CONCAT, /* source, then other from lo on */
    VIEW_VECTOR, /* a short vector of n components: items */
    VIEW_AS_VECTOR, /* source, an array of scalars, as one of vectors */
    VIEW_AS_SCALAR, /* source, an array of vectors, as one of their components */
    VIEW_WINDOWS, /* of `size` values of a function of source: only for patterns that go from one to the next (windows.c) */
    VIEW_RING,   /* source, `size` of them, from number lo on and around */
    VIEW_GUARD,  /* writing side: stores to source happen only where cond holds */
    VIEW_ATOMIC  /* writing side: every element is combined into the one cell that is source, by prim, an atomicReduce in env */
} ViewKind;

/* Where the elements of a distributed map are: see Note [Owners]. */
typedef struct Placement {
    int64_t stride; /* at least 1; 0: nowhere in particular */
    Nat shift;
} Placement;

/* One dimension of a private array. */
typedef struct RegDim {
    PrimId level; /* P_mapLane, P_mapThreads, P_mapWarp, P_mapBlock, P_mapGlobal, or P_mapSeq: all of it in each holder */
    int axis;
    Nat extent;
    int64_t slots; /* of this dimension in one thread */
    Placement place;
} RegDim;

/* How the rows (innermost dimension) of a buffer lie: see Note [Shared layouts] in layout.c. */
typedef struct BufLayout {
    Nat pad;              /* cells after each row; NULL: none */
    int64_t period, step; /* row r is rotated by r / period * step cells; step 0: not at all */
} BufLayout;

/* The environment is a list: closures in views keep the one they were made in. */
typedef struct Env {
    const struct Env *next;
    const CoreVar *var;
    View *view;
    Nat nat, value; /* var->nat, and what it stands for here */
    const struct Env *numbers; /* this, or the next one outside of it, that has a nat which stands for another one */
    const Core *let; /* that binds it; or NULL */
    bool once;      /* a stored value that is read in one place only: who reads it may go on with its registers or memory */
} Env;

struct View {
    ViewKind kind;
    Type type;
    Span span;
    ImpExpr *expr, *cond;
    ImpBuf *buf;
    Nat offset;
    const BufLayout *layout; /* BUF: of its rows; NULL: row-major without gaps */
    Nat row;                 /* BUF with a layout: which row, as far as the indices say */
    ImpVar *var;
    Nat slot;
    int n_dims;
    RegDim *dims;
    ImpVar *spread; /* REG of one element in lane 0: what all lanes of the warp have of it, or NULL */
    int n;
    View **items;
    int k;
    View *source, *other;
    Nat lo, size;
    const Core *prim;    /* MAP: the application whose row gives the map, with */
    const Nat *nats;     /* MAP: its nats, as they were where the view was made */
    bool writing;        /* MAP: which of the row's two maps */
    int rank, got;
    Nat at[4];
    const char *name;    /* EACH, GEN: that of the let, for elements that are computed once; or NULL */
    const Core *lambda;
    const Env *env;
    bool unordered;      /* GATHER, BUF: written by scatterUnchecked: several threads may store to one cell */
    bool drops;          /* GATHER, of the writing side: the index is a number; where it is no index, what is stored goes nowhere */
    ImpBlock before_then, before_other; /* COND: what source and other need, where they are chosen; GUARD: what source needs */
};

/* What is open around the place of translation. */
typedef struct Opened { /* a pattern whose function is translated */
    const Core *map;
    const struct Opened *up;
} Opened;
typedef struct Levels {
    bool global[3], block[3], thread[3], warp, lane;
    Nat of_block[3]; /* the variables of loops over mapBlock; NULL: there is none */
    const Opened *inside; /* the innermost; for messages */
} Levels;

/* A size test that chooses between kernels, on the way that is being translated: ways.c, Note [Ways]. */
typedef struct Decision {
    const Core *test; /* the CORE_IF */
    ImpExpr *cond;
    bool holds;
    bool certain; /* it can only turn out so */
    bool top;     /* the entry's own: all of the entry is its branch */
    bool inside;  /* its branch is being translated */
    bool closed;  /* its branch has ended */
} Decision;
typedef VEC(Decision) Decisions;
typedef struct Ways Ways;

typedef struct Lowering {
    Ctx *ctx;
    const CoreEntry *entry;
    ImpProgram *program;
    ImpKernel *kernel;
    VEC(ImpBuf *) globals; /* what lies in global memory; each kernel gets its own copy of those that it uses */
    View **inputs;         /* by parameter of the entry */
    NatFacts *known;       /* what holds in all of the kernel */
    Decisions decisions;
    const ImpGroup *group; /* of the kernels that begin now */
    Ways *ways;
    ImpBlock *out;     /* statements go to its end */
    const Env *env;
    NatFacts *facts;   /* what holds at this place */
    Levels open;
    bool any_block;    /* more than one block gets here */
    bool alone;        /* one block of several does: the last one */
    bool together;     /* elements are read that readTogether joins */
    const ImpBlock *step; /* statements of the innermost step of a sequential pattern, or NULL */
    int prefetches;    /* toShared[prefetch] so far */
    bool failed;
    int64_t n_statements, most_statements; /* so far; when the kernel has its limit */
    int64_t copies; /* of this place, by loops around it that are written out; 0 as 1 */
    struct Quotients *quotients; /* that comparisons mention, in the pass conditions (quotients.c) */
    struct Sharing *sharing;  /* of the reading that is going on (share.c); or NULL */
    struct InPlace *in_place; /* the last toShared[inPlace] so far (layout.c) */
    const char *hint;  /* the name that the next private value gets, or NULL */
    Table uses;        /* by scope: those of the variables that it is the scope of (uses.c) */
    Table starts;      /* by term: whether a kernel may begin in it (launch.c) */
    Table footprints;  /* by scope: those of the accesses in it (footprint.c) */
    Table parities;    /* by distance of two accesses: what it is where its variable is even, and where it is odd (footprint.c) */
    Span users;        /* the user's text that is being translated */
} Lowering;

/* ---- launch.c: threads and blocks, and the loops of the levels ---------------------------------------------------------- */

/* Of the kernel that goes on at `start`: a nextKernel, or NULL for the first one. */
void launch_plan(Lowering *lw, const Core *start);
enum { LEAST_BLOCKS_OF_SCAN = 2 }; /* one that answers, and another */
/* Runs `body(i)` for every element i < n of a map at `level`, on the instances that `place` says. Emits the loop or guard that it takes. False
 * when the level may not stand here (diagnosed). */
typedef void (*LevelBody)(Lowering *lw, Nat i, void *user);
bool level_each(Lowering *lw, const Core *map, Nat n, Placement place, LevelBody body, void *user);
/* The same for a pattern of the grid whose last block does something else. */
void blocks_but_last_each(Lowering *lw, const Core *pattern, Nat n, LevelBody body, void *user);
/* ---- place.c: mapThreads[place = ...]; in any other map element i is on instance i ---------------------------------------- */

/* One more than the instance of the last element, as the launch sees it. */
Nat place_end(Lowering *lw, const Core *map);
/* False when it is no place (diagnosed). */
bool place_of_map(Lowering *lw, const Core *map, Placement *place);
/* How many instances a level has (constant, or the grid's variable), and which one this thread is in. */
Nat level_count(const Lowering *lw, PrimId level, int axis);
Nat level_id(const Lowering *lw, PrimId level, int axis);
bool level_is_open(const Lowering *lw, PrimId level, int axis);
/* nesting.c. Whether a level may stand here; reported where it may not. */
bool level_fits(Lowering *lw, const Core *map);
/* Plain loop i = 0 .. n - 1 in one thread. */
void seq_each(Lowering *lw, const Core *pattern, Nat n, bool unroll, LevelBody body, void *user);
/* True when exactly one thread gets here (of the block, or of the grid for memory that all blocks see). */
bool single_writer(const Lowering *lw, bool grid_wide, const char **missing);

/* ---- views.c ------------------------------------------------------------------------------------------------------------ */

View *view_new(Lowering *lw, ViewKind kind, Type type, Span span);
View *view_error(Lowering *lw, Type type);
View *view_at(Lowering *lw, View *view, Nat i);
View *view_proj(Lowering *lw, View *view, int k);
/* The value of a view of scalar type. May emit statements. */
ImpExpr *view_scalar(Lowering *lw, View *view);
/* A view through the index map of a table row. */
View *view_map(Lowering *lw, const Core *prim, View *source, Type type, bool writing);
View *view_inverse(Lowering *lw, const View *map, View *acceptor); /* an acceptor of the map's source */
/* The place of the distributed private array under the view's first dimension at this level; stride 0 when there is none. */
Placement view_owner(Lowering *lw, const View *view, PrimId level, int axis);
/* Stores a scalar through an acceptor. */
void view_store(Lowering *lw, View *acceptor, ImpExpr *value, Span span);
bool view_is_private(const View *view);
View *view_copy(Lowering *lw, const View *view);
/* A conditional view with fn applied to both sides, or a guard with fn applied to its source; what fn emits runs only where its side is chosen. */
typedef View *(*ViewFn)(Lowering *lw, View *view, void *user);
View *view_cond_map(Lowering *lw, const View *cond, ViewFn fn, void *user);
bool view_one_writer(Lowering *lw, const ImpBuf *buf, Span span); /* exactly one thread gets here to write it; else diagnosed */

/* ---- vectors.c ---------------------------------------------------------------------------------------------------------- */

/* A scalar, or the components of a vector, as expressions. */
typedef struct Value {
    int n;
    ImpExpr **parts;
} Value;
/* Registers for one: a scalar's, or vector registers that hold the components. */
typedef struct Registers {
    int n, width; /* components, and of each register */
    ImpVar **vars;
} Registers;
enum { ACCESS_BYTES_MAX = 16, ACCESS_BYTES_MIN = 2 }; /* that one access moves */
/* Of n parts, how many cells from the first one on are one access: neighbours from an aligned one on. 1: none beyond the first. */
int access_width(Lowering *lw, View *const *parts, int n);
ImpStmt *store_cells(Lowering *lw, const View *first, ImpExpr *const *values, int w, Span span); /* in one access */
void buf_needs(ImpBuf *buf, int w); /* accesses of w elements at once, and so their alignment */
View *lower_read_vectors(Lowering *lw, const Core *term);
bool lower_write_vectors(Lowering *lw, const Core *term, View *acceptor);
View *vector_at(Lowering *lw, View *view, Nat i);     /* of AS_VECTOR and AS_SCALAR */
View *vector_part(Lowering *lw, View *vector, Nat j); /* component j of a view of a vector */
/* Is this the array of the components of a vector in registers? Those have no index that varies: a loop over them is written out. */
bool vector_wants_unroll(const View *xs, Nat n);
/* What a view of a scalar or a vector holds. Emits loads; `name`: of the registers that they take. */
Value value_of(Lowering *lw, View *view, const char *name);
Value value_choose(Lowering *lw, ImpExpr *cond, Value then, Value otherwise, Span span);
View *value_view(Lowering *lw, Type type, Value value, Span span);
void value_store(Lowering *lw, View *acceptor, Value value, Span span);
Registers registers_new(Lowering *lw, const char *name, Type type, Span span);
void registers_declare(Lowering *lw, Registers regs, Span span); /* without a value */
/* Sets all of it; `declares`: this is the declaration, too. */
void registers_set(Lowering *lw, Registers regs, Value value, bool declares, Span span);
Value registers_value(Lowering *lw, Registers regs, Span span);
bool view_all_private(const View *view); /* no component lies in memory */

/* ---- together.c --------------------------------------------------------------------------------------------------------- */

View *lower_read_together(Lowering *lw, const Core *term);
/* Stores to neighbours whose guards differ: together where all of them hold. False: there are no such. */
bool store_together(Lowering *lw, View *const *parts, Value value, Span span);
/* Neighbours that the n expressions load, one each, are loaded together, before them and before what was emitted for them: statements of lw->out from number
 * `from` on. */
void read_together(Lowering *lw, ImpExpr **exprs, int n, int from, const char *name, Span span);

/* ---- storage.c ---------------------------------------------------------------------------------------------------------- */

/* Buffers for a value: one per component. */
typedef struct BufMaker {
    ImpSpace space;
    const char *name;
    bool several; /* components: number the names */
    Span span;
    int first;    /* component number of the first */
    const CoreVar *holds;       /* ImpBuf.holds */
    const PrimOptions *options; /* of toShared, or NULL */
} BufMaker;
View *lower_buffers(Lowering *lw, Type type, BufMaker maker);
/* Registers for what the map `term` computes; nothing is written. */
View *lower_new_private(Lowering *lw, const Core *term, const char *name);
View *lower_read_memory(Lowering *lw, const Core *term);
View *lower_cache_hint(Lowering *lw, const Core *term); /* cache_hints.c */
/* What a map writes to private memory lies where the map runs. */
void lower_place_registers(Lowering *lw, View *acceptor, const Core *map, Placement place);
bool is_parallel_map(PrimId id);
bool is_seq_map(PrimId id);

/* ---- layout.c: toShared[pad, swizzle, inPlace] --------------------------------------------------------------------------- */

/* Cells of a value of type t in a buffer with this layout; its rows. */
bool only_sizes(const Lowering *lw, Nat nat); /* no loop variables: known at the launch */
Nat layout_cells(Lowering *lw, Type t, const BufLayout *layout);
Nat layout_rows(Lowering *lw, Type t);
/* The layout that the options ask for, of a buffer for arrays of type t; NULL: plain. */
const BufLayout *layout_of(Lowering *lw, const PrimOptions *options, Type t, Scalar elem);
/* False when the options of a toShared cannot be had (diagnosed). */
bool layout_check(Lowering *lw, const Core *term);
/* The cell of column i in a row that begins at `offset`. */
Nat layout_column(Lowering *lw, const View *view, Nat i);
View *lower_read_in_place(Lowering *lw, const Core *term);
bool view_is_in_place(const View *view); /* writes over what may still be read */
/* At the end of the translation: proves every in-place write, and lets its buffer be the one that it replaces. */
void layout_finish_in_place(Lowering *lw);

/* ---- prefetch.c: toShared[prefetch] -------------------------------------------------------------------------------------- */

/* False when it stands in no step (diagnosed). */
bool prefetch_check(Lowering *lw, const Core *term);
/* The statements of lw->out from number `from` on store what toShared[prefetch] keeps in the buffers of the view. */
void prefetch_mark(Lowering *lw, View *view, int from);

/* ---- from_last.c ----------------------------------------------------------------------------------------------------------- */

void number_from_last(Lowering *lw); /* the blocks of a kernel, where that makes its indices shorter */

/* ---- pads_first.c: what is fetched ahead, as it is in memory ---------------------------------------------------------------- */

typedef struct LateValue { /* `made` is computed from `loaded` alone, and only stores mention it */
    const ImpVar *loaded, *made;
} LateValue;

typedef VEC(LateValue) LateValues;

/* Takes functions of padded elements out of the conditions in `block`, a part of `all`. Adds the vectors that these functions make to `late`. */
void pads_first(Lowering *lw, ImpBlock *all, ImpBlock *block, LateValues *late);

/* ---- number_index.c: computed numbers as indices --------------------------------------------------------------------------- */

View *lower_read_index_or(Lowering *lw, const Core *term);
View *number_at(Lowering *lw, const View *view, Nat i); /* of a GATHER that drops */

/* ---- map_view.c: map ---------------------------------------------------------------------------------------------------- */

View *lower_read_map(Lowering *lw, const Core *term);
View *map_view(Lowering *lw, const Core *map, View *xs); /* read, of an array that is read already */
bool map_is_of_views(const Core *prim); /* is this primitive a map, whose function moves elements and computes none? */
bool lower_write_map_view(Lowering *lw, const Core *term, View *acceptor);
/* `let x = e in` views of x that can be written through, as a definition of views becomes where it is used: e is written. False: it is no such let. */
bool lower_write_let_of_views(Lowering *lw, const Core *let, View *acceptor);
View *each_at(Lowering *lw, const View *view, Nat i); /* of an EACH */

/* ---- shuffle.c ---------------------------------------------------------------------------------------------------------- */

View *lower_read_shuffle(Lowering *lw, const Core *term);
View *lower_read_reduce_warp(Lowering *lw, const Core *term);

/* ---- read.c, translate.c -------------------------------------------------------------------------------------------------- */

/* lw->users at the term. Gives what it was around it. */
Span lower_enter(Lowering *lw, const Core *term);
View *lower_read(Lowering *lw, const Core *term);
void lower_write(Lowering *lw, const Core *term, View *acceptor);
/* What the translation does with a primitive beyond its row in prims.def: one row per primitive, in forms.c. Without one, a view with index
 * maps is applied by these, a scalar function becomes an operation, and all else is refused. */
typedef struct LowerForm {
    View *(*read)(Lowering *lw, const Core *term);
    bool (*write)(Lowering *lw, const Core *term, View *acceptor); /* false: not written so; then its value is read and stored, if it is scalar */
} LowerForm;
extern const LowerForm lower_forms[P_COUNT];
View *lower_read_zip(Lowering *lw, const Core *term);
View *lower_read_generate(Lowering *lw, const Core *term);
View *lower_read_gather(Lowering *lw, const Core *term);
View *lower_read_concat(Lowering *lw, const Core *term);
void refuse_unstored(Lowering *lw, const Core *term, const char *place); /* E0415 */
View *lower_read_reduce(Lowering *lw, const Core *term);
bool lower_write_reduce(Lowering *lw, const Core *term, View *acceptor);
bool lower_write_scan(Lowering *lw, const Core *term, View *acceptor);
View *lower_read_windows(Lowering *lw, const Core *term);
View *windows_refuse(Lowering *lw, const View *view);
View *lower_read_iterate(Lowering *lw, const Core *term);
bool lower_write_iterate(Lowering *lw, const Core *term, View *acceptor);
bool lower_write_map(Lowering *lw, const Core *term, View *acceptor);
/* As lower_write_map, with the array already read. */
void lower_write_map_of(Lowering *lw, const Core *term, View *xs, View *acceptor);
bool lower_write_zip(Lowering *lw, const Core *term, View *acceptor);
bool lower_write_unzip(Lowering *lw, const Core *term, View *acceptor);
bool lower_write_through(Lowering *lw, const Core *term, View *acceptor);
/* A view primitive applied to the view of its last argument. */
View *lower_apply_view(Lowering *lw, const Core *term, View *source);
/* How many scalars a value of this type is: -1 when it has arrays in it. */
int lower_scalar_count(Type type);
/* Scalar k of a value of n of them. */
View *lower_component(Lowering *lw, View *view, int k, int n);
/* Is the loop of this pattern written out? *ok: false when it cannot be (diagnosed). */
bool lower_unrolled(Lowering *lw, const Core *pattern, Nat n, bool *ok);
void lower_emit_set(Lowering *lw, ImpVar *var, ImpExpr *value, Span span);
/* Binds a lambda's parameters to views and reads or writes its body. */
View *lower_apply_read(Lowering *lw, const Core *lambda, const Env *env, int n, View **args);
/* A nat parameter of a function, bound to a size. */
void lower_bind_nat(Lowering *lw, Nat nat, Nat value);
/* The value of a let, bound. */
void lower_let(Lowering *lw, const Core *let);
const char *lower_part_name(Lowering *lw, const CoreVar *var, int k); /* component k of a tuple */
void lower_bind(Lowering *lw, const CoreVar *var, View *view, const Core *scope);
View *lower_in_register(Lowering *lw, View *view, const char *name); /* a scalar or vector that is read several times: computed once */
/* A nat or a type of core as it is here: index variables replaced by what they stand for. */
Nat lower_nat(Lowering *lw, Nat nat);
Type lower_type(Lowering *lw, Type type);
/* Is the block one row of threads, of several warps? Then thread = 32*warp + lane. */
bool threads_in_a_row(const ImpKernel *kernel);
Nat lanes_to_thread(const Lowering *lw, Nat nat); /* the same nat, with the thread for 32*warp + lane; of threads in a row */
ImpVar *lower_new_var(Lowering *lw, const char *name, Scalar type, Span span);
ImpBuf *lower_new_buf(Lowering *lw, ImpSpace space, const char *name, Scalar elem, Nat count, Span span);
ImpStmt *lower_emit(Lowering *lw, ImpStmtKind kind, Span span);
Diag *lower_error(Lowering *lw, DiagCode code, Span span, const char *fmt, ...) PRINTF_LIKE(4, 5);
bool cond_is(Lowering *lw, ImpExpr *cond, bool value); /* a size comparison that the facts decide */
bool condition_fails(Lowering *lw, ImpExpr *cond); /* as cond_is with false, and where one part of an `and` fails */
/* A comparison of nats as an expression: lo <= i or i < hi. */
/* Does it compare two nats, each as the number that it is? Sizes that were cast to a narrower type or to floats are none. */
bool is_nat_comparison(const ImpExpr *e);
ImpExpr *nat_cmp(Lowering *lw, PrimId op, Nat a, Nat b, Span span);
void assume(Lowering *lw, const ImpExpr *cond); /* adds what a condition says about nats to the facts */
void assume_not(Lowering *lw, const ImpExpr *cond); /* adds what its opposite says */
ImpExpr *numbers_as_nats(Lowering *lw, ImpExpr *cond); /* the condition with comparisons of data as ones of nats, where that is exact; only for facts */

/* ---- kernels.c: entries of several kernels ------------------------------------------------------------------------------------ */

/* All kernels of the entry, on all ways through its size tests, and the launches. */
void lower_kernels(Lowering *lw);
/* What follows belongs to a new kernel, which goes on at `start` (see launch_plan) with what `scope` computes. */
void kernel_begin(Lowering *lw, const Core *start, const Core *scope);
/* A kernel of one thread right before this one, for what must be there before any block begins. */
ImpKernel *kernel_before(Lowering *lw);
bool kernel_has_blocks(const ImpKernel *kernel); /* more than one, in some launch */
/* The branch of a size test that this way takes; NULL when it is none. It is written between these two. */
const Core *lower_decided(const Lowering *lw, const Core *e);
void branch_enter(Lowering *lw, const Core *test);
void branch_leave(Lowering *lw, const Core *test);
/* Sets buf->component: workspace that is the same on several ways has the same one. */
void workspace_of(Lowering *lw, ImpBuf *buf);

/* ---- grid.c: how the blocks of a kernel meet ------------------------------------------------------------------------------------ */

View *lower_read_next_kernel(Lowering *lw, const Core *term);
/* Where `rest`, which is written to the acceptor, is to have an array as it is: its kernels write it
 * there, and later ones read it there. NULL: nowhere. */
View *lower_result_place(Lowering *lw, const Core *rest, const CoreVar *var, View *acceptor);
/* Says of buffers whether all is written there that ever will be. Of the parts of a state it is never said: each step writes them anew. */
void mark_complete(const View *v, bool complete);
/* repeat.c: the state after the last turn, for the kernel that begins next. */
/* Of a term that term_repeat is of. */
View *lower_repeat(Lowering *lw, const Core *value, const CoreVar *of);
/* Of the buffers for what the next kernel calls so. */
const char *lower_stage_name(const CoreVar *of);
View *lower_read_repeat(Lowering *lw, const Core *term);
bool lower_write_next_kernel(Lowering *lw, const Core *term, View *acceptor);
bool lower_write_last_block(Lowering *lw, const Core *term, View *acceptor);
bool lower_write_grid_sync(Lowering *lw, const Core *term, View *acceptor);
/* The condition that this is the first thread of the block; NULL where there is only one. */
ImpExpr *first_thread(Lowering *lw, Span span);
bool lower_at_grid_level(Lowering *lw, const Core *term); /* all blocks get here; else diagnosed */

/* ---- scatter.c ---------------------------------------------------------------------------------------------------------- */

View *lower_read_scatter(Lowering *lw, const Core *term);
bool lower_write_scatter(Lowering *lw, const Core *term, View *acceptor);

/* ---- atomic.c: reduction into one cell -------------------------------------------------------------------------------------------- */

bool lower_write_atomic_reduce(Lowering *lw, const Core *term, View *acceptor);
void atomic_store(Lowering *lw, const View *acceptor, ImpExpr *value, Span span);

/* ---- scan_blocks.c ------------------------------------------------------------------------------------------------------------- */

bool scans_blocks(PrimId id);
Nat scanned_elements(Lowering *lw, const Core *scan);
bool lower_write_scan_blocks(Lowering *lw, const Core *term, View *acceptor);
/* The last statement around is a loop of scanBlocks, which waits in statement number `split` of its body for the first time. scan_pipeline.c. */
void scan_pipeline(Lowering *lw, ImpBlock *around, int split);

/* ---- share.c: elements that are read several times ------------------------------------------------------------------------------ */

typedef struct Sharing Sharing;
typedef View *(*ViewElement)(Lowering *lw, const View *array, Nat i);
View *shared_at(Lowering *lw, const View *array, Nat i, ViewElement element); /* what `element` computes, once */
Sharing *share_nothing(Lowering *lw); /* up to where lw->sharing is set to the result again */
bool is_trivial(const ImpExpr *e);    /* costs nothing to compute again */

/* ---- passes: the first makes the program; each other one takes a kernel, lw->kernel, and keeps it valid --------------------------- */

void pass_translate(Lowering *lw);
void pass_prefetch(Lowering *lw);
void pass_literals(Lowering *lw);
void pass_loops(Lowering *lw);
void pass_registers(Lowering *lw);
/* Parts of pass_registers for later: values move to where they are read; the next value of a name takes the register of the one before. */
void registers_forward(Lowering *lw);
void registers_copies(Lowering *lw); /* of those, only copies */
void dead_vector_copies(Lowering *lw); /* those of components of vectors (dead.c) */
void registers_reuse(Lowering *lw);
void pass_conditions(Lowering *lw);
void conditions_in_block(Lowering *lw, ImpBlock *block);
void conditions_in_loop(Lowering *lw, ImpStmt *loop); /* the same for a part, where lw->facts hold */
void pass_units(Lowering *lw);
void pass_one_tile(Lowering *lw);
void pass_memory(Lowering *lw);
void pass_barriers(Lowering *lw);
void pass_sink(Lowering *lw);
void pass_apart(Lowering *lw);
void pass_strides(Lowering *lw);
void pass_tiles(Lowering *lw);
void pass_values(Lowering *lw);
void values_of_folds(Lowering *lw); /* folds.c */
void values_round(ImpExpr *e);      /* for several uses */
void pass_unrolling(Lowering *lw);
void pass_roll(Lowering *lw);
void roll_make_arrays(Lowering *lw); /* roll_arrays.c */
int *roll_count_reads(Ctx *ctx, ImpKernel *kernel); /* roll_loads.c */
int roll_sink_loads(Lowering *lw, const ImpBlock *block, int i, const int *reads, ImpBlock *at_steps, int *first);
void pass_zeros(Lowering *lw);
void pass_indices(Lowering *lw);
void pass_dead(Lowering *lw);
void pass_divisions(Lowering *lw);
void pass_steps(Lowering *lw);
void pass_names(Lowering *lw);

/* ---- same_kernels.c: kernels of several classes that are the same stand once ---- */
void share_kernels(Ctx *ctx, ImpProgram *program);

/* ---- outline.c: a pass over all kernels of the program, after the others ---- */
void outline(Ctx *ctx, ImpProgram *program);

/* ---- propose.c ---- */
/* The hint `help`, in which `$` is the primitive that is proposed in the place of e's own, its options included. */
void propose_primitive(Ctx *ctx, Diag *d, const Core *e, PrimId by, const char *help);
/* What stands behind mapBlock in a chain works with what all blocks have made: they have to meet before. False: no mapBlock stands there. */
bool propose_meeting(Lowering *lw, Diag *d, const Core *e);
/* One more edit of the hint: `by` for the primitive's name and brackets. False where its author has not written it there. */
bool edit_primitive(Ctx *ctx, Diag *d, const Core *e, const char *by);
/* The hint `help`: to leave this option out of the primitive that begins at the span. */
void propose_without(Ctx *ctx, Diag *d, Span at, PrimId prim, const char *option, const char *help);

#endif
