/* What the files of the elaborator share. Not for anyone else.
 *
 * Note [Static values]
 * Evaluating an expression gives a Value. Functions, sizes and literals stay static: a function is a closure until a primitive
 * or a definition applies it, a size is a nat, an integer literal has no type until it meets one. Only data becomes core.
 *
 * Note [Lets]
 * A computed argument is bound once, as by `let`. A value that is not core yet (a function that was given a computed argument, an index
 * computed from data) carries the bindings it needs in `lets`, innermost first, and so does core that is still to be bound: whoever
 * needs the finished term puts them around. Variables are unique, so bindings may move outwards freely.
 *
 * Note [Holes]
 * A header's parameters of kind nat, data, ... are holes in the header's environment. Matching an argument's type against the
 * parameter's written type fills them. What is written in the header is evaluated only after its holes are filled. */
#ifndef RISEC_FRONTEND_ELAB_INTERNAL_H
#define RISEC_FRONTEND_ELAB_INTERNAL_H

#include "frontend/elab.h"
#include "frontend/foreign.h"
#include "ir/scalar.h"
#include "support/name_map.h"
#include "support/table.h"

typedef struct FileScope FileScope;
typedef struct Env Env;
typedef struct Fun Fun;
typedef struct Hole Hole;

/* ---- programs ----------------------------------------------------------------------------------------------------- */

typedef enum LoadState { LOAD_READING, LOAD_DONE } LoadState;

struct FileScope {
    const char *path; /* as opened; std modules: their dotted name */
    AstFile *ast;     /* NULL when it could not be read */
    LoadState state;
    bool broken;    /* an import is missing: unknown names are no news */
    VEC(Item *) items;        /* definitions, entries, operators of this file */
    VEC(FileScope *) imports; /* files whose items are seen here; not what those import in turn */
    VEC(Span) import_spans;
    Env *root;                /* the empty environment of this file */
};

typedef struct DoubtfulName {
    const Item *item; /* in which it is */
    const char *name;
    Span span;
    bool let; /* else a parameter */
    const Param *hides; /* a size of the item, which it has the name of; else nothing uses it */
} DoubtfulName;

struct Program {
    VEC(FileScope *) files; /* in order of reading; the first is the program's own */
    VEC(const Item *) entries;
    VEC(const Item *) operators;
    VEC(const Item *) lacking;  /* a name in them means nothing: what is not known may be its consequence */
    VEC(const Item *) unusable; /* reported: what uses them has nothing more to say */
    VEC(DoubtfulName) doubtful; /* of the entries and definitions of the file itself */
    bool failed;
    struct NameNotes *notes; /* while it is loaded: who asks what names mean; or NULL */
};

/* The item a name means in this file, and the file that holds it; NULL when there is none. */
const Item *scope_find(const FileScope *scope, const char *name, const FileScope **home);
void resolve_program(Ctx *ctx, Program *program, int first); /* the files from `first` on */
/* Whether an argument's type says what this parameter in braces is; where not, the resolver has said so. */
bool param_is_fixed(const Item *item, const Param *param);

/* `(x: int)` of an entry: a kind where a type is meant. The elaborator says so, as of other types. */
bool param_is_of_kind(const Item *item, int i);

/* Names that are neither primitives nor definitions but mean something everywhere. */
typedef enum BuiltinKind {
    BUILTIN_NONE, BUILTIN_KIND /* nat, data, num, ... */, BUILTIN_SCALAR, BUILTIN_TYPE /* idx, vec */, BUILTIN_CONST /* inf, nan, lowest, highest */,
    BUILTIN_BOOL, BUILTIN_NATFN /* ceilDiv, pow2 */, BUILTIN_DEVICE /* numSM, maxResident */, BUILTIN_HALVING, BUILTIN_TOMEM
} BuiltinKind;
BuiltinKind builtin_find(const char *name);
const char *const *builtin_names(void); /* ended by NULL */

typedef enum ParamKind {
    KIND_NAT, KIND_DATA, KIND_NUM, KIND_INT, KIND_FLOAT, KIND_SCALAR, /* holes */
    KIND_VALUE, /* data of the written type */
    KIND_FUN    /* a function of the written type */
} ParamKind;
ParamKind param_kind(const Param *param);
static inline bool kind_is_type(ParamKind k) { return k >= KIND_DATA && k <= KIND_SCALAR; }
const char *kind_name(ParamKind k);

/* ---- values --------------------------------------------------------------------------------------------------------- */

typedef struct LetBind LetBind;
struct LetBind {
    CoreVar *var;
    Core *value;
    LetBind *outer;
};

typedef enum ValueKind {
    V_ERROR, /* reported before */
    V_CORE,  /* typed data */
    V_NAT,   /* a size, an index expression or an integer literal */
    V_LIT,   /* a literal without a type that is no nat: 1.5, inf, 2^63 and above */
    V_FUN,
    V_TUPLE, /* of values not yet core */
    V_GEN,   /* generate(f): elaborated when the length is known, at each use; fun has the one argument */
    V_TYPE,
    V_HOLE   /* only in environments of headers */
} ValueKind;

typedef struct Lit {
    bool is_float, negative; /* is_float: 1.5, inf, nan */
    uint64_t mag;     /* integers */
    double f;
    const char *name; /* inf, nan, lowest, highest; or NULL */
} Lit;

typedef struct Quotient Quotient; /* see Note [Quotients] */

typedef struct Value Value;
struct Value {
    ValueKind kind;
    bool literal;  /* NAT: made of integer literals alone */
    bool inexact;  /* NAT: a division of literals left a remainder */
    bool from_idx; /* NAT: mentions an index */
    bool bound;    /* has a name: nothing in it is left to compute */
    const Quotient
        *quotient; /* NAT: a division that was just written, and may be rounded; or NULL */
    int weight;    /* CORE: terms that a further use of it adds; 0 for an atom */
    Span span;
    LetBind *lets;
    union {
        Core *core;
        Nat nat;
        const Lit *lit;
        const Fun *fun;
        Type type;
        Hole *hole;
        struct { int n; Value *items; } tuple;
    };
};

typedef struct Named { /* {name = value} */
    const char *name;
    Value value;
    Span span;
    const struct Named *up;
} Named;

typedef enum FunKind { F_CLOSURE, F_ITEM, F_PRIM, F_COMPOSE, F_UNROLL, F_NATFN, F_WRAP /* first, under one more sig */, F_CORE /* a lambda that is core already */ } FunKind;

typedef enum OptionGiven {
    GIVEN_AXIS = 1, GIVEN_SWIZZLE = 2, GIVEN_IN_PLACE = 4, GIVEN_PLACE = 8, GIVEN_PAD = 16, GIVEN_BLOCKS = 32, GIVEN_THREADS = 64, GIVEN_MIN_BLOCKS = 128,
    GIVEN_PREFETCH = 256, GIVEN_ONCE = 512, GIVEN_LANES = 1024
} OptionGiven;

struct Fun {
    FunKind kind;
    Span span;
    const Ast *ast;          /* CLOSURE: the lambda; UNROLL */
    const Env *env;          /* CLOSURE UNROLL */
    const Item *item;        /* ITEM */
    const FileScope *home;   /* ITEM: the file it stands in */
    const Core *lambda;      /* CORE: without sizes among its parameters */
    PrimId prim;             /* PRIM */
    PrimOptions options;
    unsigned options_given;  /* PRIM: of OptionGiven */
    const Value *place;      /* PRIM: [place = f] */
    Type cast_type;          /* PRIM cast */
    const char *name;        /* NATFN */
    const Value *first, *then; /* COMPOSE; WRAP: first */
    const char *label;       /* of what it makes, or NULL */
    int n_args;              /* given so far */
    const Value *args;
    const Named *named;
    const Ast *sig;          /* the declared type `a -> b`, in sig_env; or NULL */
    const Env *sig_env;
};

struct Hole {
    const char *name;
    ParamKind kind;
    bool filled;
    Nat nat;
    Type type;
    Span from; /* the argument that filled it */
};

struct Env {
    const char *name; /* NULL: the root */
    Value value;
    Span span;
    const NameMap *names; /* what each name means here: an Env */
    const Env *root;      /* NULL: this is it */
    const FileScope *scope; /* root; NULL in the headers of primitives */
};

/* ---- the elaborator -------------------------------------------------------------------------------------------------- */

enum {
    MASK_INT = 1 << SC_I8 | 1 << SC_I16 | 1 << SC_I32 | 1 << SC_I64 | 1 << SC_U8 | 1 << SC_U16 | 1 << SC_U32 | 1 << SC_U64,
    MASK_FLOAT = 1 << SC_F16 | 1 << SC_BF16 | 1 << SC_F32 | 1 << SC_F64,
    MASK_NUM = MASK_INT | MASK_FLOAT,
    MASK_SCALAR = MASK_NUM | 1 << SC_BOOL
};

typedef struct Meta {
    Type solution;  /* or NULL */
    bool any;       /* may be any data; else a scalar of mask (or, unless literal, a vector of one) */
    bool literal;
    unsigned mask;
    Scalar preferred; /* what it becomes when nothing says */
    Span span;
} Meta;

typedef struct PendingLit { /* a CORE_LIT whose value waits for its type */
    Core *core;
    Lit lit;
    bool inexact;
    const struct Frame *frame;
} PendingLit;

typedef struct PendingUnit { /* reduce(op, unit): compared when types are known */
    const Fun *op;
    Core *unit, *declared; /* declared: of an operator item; NULL for a builtin's */
    Type type;
    Span span;
    const char *who;
    const struct Frame *frame;
    bool advised; /* of a definition: another value is doubtful, and no mistake */
} PendingUnit;

typedef struct Frame { /* a definition being expanded */
    const Item *item;
    Span use;
    const struct Frame *up;
} Frame;

/* What is to be looked at when types are known. */
typedef struct Doubt {
    enum { DOUBT_QUOTIENT, DOUBT_COMPARED, DOUBT_UNSPECIFIED } kind;
    const Core *core;         /* QUOTIENT: the number that it becomes; else the operation */
    const Quotient *quotient;
    Span span;                /* QUOTIENT: the cast, or nowhere; else the operation */
    const struct Frame *frame;
} Doubt;

typedef struct Remainder { /* of `a % b` */
    Span above, below;
} Remainder;

/* Why a value did not fit, for the message. */
typedef struct Mismatch {
    enum { MIS_TYPE, MIS_SIZE, MIS_KIND, MIS_REPORTED, MIS_UNKNOWN /* a hole that cannot be solved for */ } kind;
    Type actual;
    Nat want_size, got_size;
    const Hole *hole;
    ParamKind wanted_kind;
    bool from_idx; /* an index met a number */
} Mismatch;

typedef struct Elab {
    Ctx *ctx;
    Program *program;
    VEC(Meta) metas;
    VEC(PendingLit) lits;
    VEC(PendingUnit) units;
    VEC(Doubt) doubts;
    VEC(Remainder) remainders;
    VEC(Span) type_spans; /* where the type was declared: of the variables with ids from first_var on */
    int first_var;        /* those below were made before */
    VEC(Core *) sizes_used; /* CORE_SIZE of a numeric type: constants must fit */
    int next_var;
    NatFacts *facts;
    const Frame *frame;
    Span users;        /* the innermost text of the user's that uses what is elaborated; or nowhere */
    const Item *entry; /* NULL: a rule, an operator */
    Type result;  /* that the entry or definition says it has; NULL: it says none */
    int terms, steps;
    bool learn_sizes; /* in the types of inputs: what exists has a size, so its size is at least 0 */
    bool stop;   /* a limit was hit and reported */
    bool failed;
    int quiet;   /* a trial: nothing is reported */
    bool unused; /* of a definition that nothing uses: is_about_use is not reported */
    int chains;    /* of `and` or `or`, within each other */
    Table guarded; /* their operands that make sense only by those before them */
    const char **why; /* a trial of a rule: its first mistake, in words; or NULL */
    Diag mute;
    Mismatch mis;
    const Env *prim_root;
    const Ast *lambda;          /* the innermost function of the text that is applied, and to what; or NULL */
    const Value *lambda_args;
    Span prim_span; /* the call whose primitive's header is being evaluated */
    VEC(Nat) entry_sizes; /* what a `where` can speak about */
    Nat num_sm, max_resident;
    struct ValueNotes *notes; /* who asks what expressions are; or NULL */
} Elab;

static inline Span type_span(const Elab *e, const CoreVar *var) { return var->id < e->first_var ? NO_SPAN : e->type_spans.at[var->id - e->first_var]; }

static inline void set_type_span(Elab *e, const CoreVar *var, Span span)
{
    if (var->id >= e->first_var)
        e->type_spans.at[var->id - e->first_var] = span;
}

/* Of an integer that is to say how many steps there are. */
#define STEPS_OF_DATA "how many steps there are is a size, and this is data: take as many as there can be, and let `if` end them: `generate{n = 32}(fun i => cast(i32)(i)) |> reduceSeq(fun state i => if i < %s then ... else state, start)`"

/* elab_diag.c */
Diag *elab_error(Elab *e, DiagCode code, Span span, const char *fmt, ...) PRINTF_LIKE(4, 5);
const char *span_text(Elab *e, Span span); /* what is written there, when short and on one line; else NULL */
const char *tyt(Elab *e, Type t);          /* type_text with what inference knows */
const char *pattern_text(Elab *e, const Ast *ast, const Env *env);
const char *value_text(Elab *e, Value v);  /* "a function", "f32", "a size" */
const char *core_called(const Core *core, const char *otherwise); /* its name or the given words */
const char *at_least_text(Elab *e, Nat a, int64_t least); /* `n >= 1` for n - 1 >= 0 */
void note_origin(Elab *e, Diag *d, const Core *core);
void note_hole(Elab *e, Diag *d, const Hole *hole, const char *callee); /* callee: whose it is, or NULL */
/* What was said, or NULL. */
Diag *report_argument(Elab *e, const char *callee, const char *param, const Ast *pattern, const Env *env, Value arg);
/* The number that a parameter's written type wants; "i32" where it says none. */
const char *scalar_wanted(Elab *e, const Ast *pattern, const Env *env);
/* NULL: it was reported before. */
Diag *report_mismatch(Elab *e, DiagCode code, Span span, Type want, const char *what, ...) PRINTF_LIKE(5, 6);
/* elab_mistakes.c */
bool propose_made(Elab *e, Diag *d, const Fun *f, Value length, Span text); /* text: what is to go */
bool is_function_missing(Elab *e, const Fun *f, int n, const Value *args);
/* `hole`: what the argument's type is called in the header, or NULL. */
bool hint_elements(Elab *e, Diag *d, const char *callee, Value arg);
void propose_shorter(Elab *e, Diag *d, const Ast *pattern, const Env *env, Value arg);
/* Two matrices whose rows differ in length, where they are put below each other: side by side. */
void propose_beside(Elab *e, Diag *d, const char *callee);
bool hint_argument(Elab *e, Diag *d, const char *callee, const Hole *hole, Value arg);
bool propose_fold(Elab *e, Diag *d, const Fun *f);
void propose_whole(Elab *e, Diag *d, Span span);
/* More of a hint that holds where this size is not 0: the fact for the header. An array may have no elements, and then 0 is no index of it. */
void edit_not_empty(Elab *e, Diag *d, Nat size);
void propose_index_or(Elab *e, Diag *d, Span number, Nat size);
/* `bound`: what the indices are below. */
void propose_indices(Elab *e, Diag *d, const Ast *bound, const Env *env, Value numbers);
/* Behind the primitive's name, in the call that is being evaluated; NO_SPAN. */
Span behind_name(const Elab *e, const char *callee);
/* elab_order.c */
/* A pattern takes as many names as the tuple has values, all nests counted. */
void propose_nested(Elab *e, Diag *d, const Pattern *pattern, Value v);
void propose_counted(Elab *e, Diag *d, Span span); /* `t.0` */
bool propose_turned(Elab *e, Diag *d, const char *callee, Value v);
void propose_bins(Elab *e, Diag *d, Nat bound, Value v);
/* The argument of parameter `wrong` and another of them in each other's place. */
void propose_exchange(Elab *e, Diag *d, const Item *header, const char *name, int wrong, const Value *values);
void propose_transposed(Elab *e, Diag *d, const Item *header, const Value *values);
/* The function among the arguments first, and the others in each order. */
bool propose_function_first(Elab *e, Diag *d, const char *order, int n, const Value *args);
/* otherwise: more words; or "". */
void propose_index_type(Elab *e, Diag *d, Type number, Nat size, const char *otherwise);
/* A function without laws stands where `callee` wants an operator. */
void propose_operator(Elab *e, Diag *d, const Fun *f, const char *callee, bool commutative, Value unit);
/* elab_hints.c */
/* Where a step can be put before the one that stands there; NO_SPAN: it stands behind no pipe. */
Span behind_pipe(Elab *e, Span span);
/* A text around what the span holds; `help` as for diag_propose. */
void propose_around(Elab *e, Diag *d, Span span, const char *help, const char *before, const char *after);
/* What changes nothing, as a program has it. */
const char *unit_word(PrimId op, Scalar type);
/* One more edit: this fact in the entry's header. */
void edit_where(Elab *e, Diag *d, const char *fact);
/* A fact about the sizes of the entry; `or_else`: more words, or NULL. */
void propose_where(Elab *e, Diag *d, const char *fact, const char *or_else);
bool scalar_keeps(Scalar from, Scalar to); /* each value */
const char *cast_loss(Scalar from, Scalar to); /* what a cast that does not keep each value does with it, as a verb */
/* The float that a whole number (SC_COUNT: an index) becomes, by what the header wants; SC_COUNT: none is wanted. */
Scalar float_for(Elab *e, Scalar whole);
/* One of two operands gets the other's type. truth: what becomes of them is no number. */
void propose_one_type(Elab *e, Diag *d, bool truth, const Value *a, Scalar sa, const Value *b, Scalar sb);
/* The length of a `generate` that stands there. */
/* The same of any value and type: what are no scalars has no conversion. Nothing where the message has a hint, or is NULL. */
bool propose_extreme(Elab *e, Diag *d, Span span, Type want);
void propose_scalar(Elab *e, Diag *d, Span span, Value v, Type want);
/* The type of the body as the type of the result, where there is no other hint. */
void propose_header(Elab *e, Diag *d, Value v);
/* An array is applied like a function. */
void propose_index(Elab *e, Diag *d, Span array, Span index, Span call);
/* A lambda is applied to n arguments, and takes fewer. */
void propose_parameters(Elab *e, Diag *d, const Fun *f, int n, const Value *args);
/* The parameters of a function in their order. */
void note_order(Elab *e, Diag *d, const Item *header, const char *name);
const char *order_text(Elab *e, const Item *header, const char *name); /* "`f` takes `a`, `b`, in this order" */
/* A scalar `from` stands where one of type `to` is needed. */
void propose_conversion(Elab *e, Diag *d, Span span, Value v, Scalar from, Scalar to);
/* An operator that one of whose operands, or both, are arrays. */
void propose_map(Elab *e, Diag *d, Span span, const char *sign, const Value *a, bool a_is_array, const Value *b, bool b_is_array);
void propose_length(Elab *e, Diag *d, const Fun *generate, Nat result); /* NULL: the result has none */
void propose_float_division(Elab *e, Diag *d, Span span);
/* Where the division stands that an expression of integers is, by its names. */
Span division_behind(Elab *e, Span span);
/* elab_shapes.c. Steps that make `want` of `got`, each for where those before it do not mend the program. */
void propose_step(Elab *e, Diag *d, Span span, Type got, Type want, bool body); /* body: of an entry */
/* A row stands where a column would fit: the array that it is of, turned. */
void propose_columns(Elab *e, Diag *d, Value v);
/* One element stands where an array is wanted. */
void propose_parts(Elab *e, Diag *d, Value v);
/* The same of an argument. */
void propose_argument(Elab *e, Diag *d, const Ast *pattern, const Env *env, Value v);
/* An array of numbers stands where one number is needed: its sum, where it is bound or where it stands. */
void propose_sum(Elab *e, Diag *d, const Value *array);
/* The parameters of the function around a mistake, in each other's place. */
void propose_parameters_turned(Elab *e, Diag *d);
bool span_holds(Span outer, Span inner);
const Item *item_holding(const Elab *e, Span use); /* the item whose text this is; NULL */
/* The pipe into a pattern whose function binds the name, around its use; NULL. */
const Ast *pipe_binding(const Ast *ast, const char *name, Span use);
bool pattern_binds(const Pattern *p, const char *name);
/* Whether a fact relates two names, or one to itself: a mistake elsewhere may be the reason that it is
 * asked for. */
bool relates_names(const char *fact);
/* Has each component of the pattern one of the type? *named: the type of the name, if it is in it. */
bool pattern_fits(Elab *e, const Pattern *p, Type t, const char *name, Type *named);
/* elab_meant.c */
PrimId callee_of_call(const Ast *call); /* P_COUNT: none */
/* What a text of the wrong type may be meant as: other orders of parameters and sizes in it. All are tried. */
void propose_meant(Elab *e, Diag *d, Span span);
/* A window that is too short, where its use stands: the sizes of what made it are exchanged. */
void propose_windows_turned(Elab *e, Diag *d, Span window);
/* Arithmetic of whole arrays, around an operand that is one. */
void propose_elementwise(Elab *e, Diag *d, Span operand);
/* Elements of the array around a row stand where those of a row do. */
void propose_row(Elab *e, Diag *d, const Value *v);
/* elab_anew.c */
bool ast_mentions(const Ast *ast, const char *name);
void propose_not(Elab *e, Diag *d, Span operand);
bool propose_composed(Elab *e, Diag *d); /* of a function where its value is wanted */
/* `at`: in the expression that is the function. */
bool propose_converted(Elab *e, Diag *d, Span at, Span function, Type got, Type want);           /* `not x > 0`, at x */
void propose_other_side(Elab *e, Diag *d, Span element);    /* `xs[i + 1]` where `xs[i - 1]` is known */
/* `1.0` where an integer is needed, in each of the branches around it. */
void propose_whole_literals(Elab *e, Diag *d, Span span, Value got, Type want);
void propose_scaled(Elab *e, Diag *d, Span literal, Scalar type); /* `0.5 * x` of an integer */
/* `reduce(fun acc x => acc + f(x), 0)`; `why`: as for diag_propose. */
void propose_mapped_fold(Elab *e, Diag *d, Span call, const char *why);
/* A lambda of which nothing says that it has laws, where `callee` wants them. */
/* `base`, or with a number behind it: of no item of the program. */
const char *name_not_used(Elab *e, const char *base);
/* An operator for a function that chooses one of two pairs by a comparison. Gives the words of the
 * hint; NULL: the function is another one. */
const char *propose_chosen(Elab *e, Diag *d, const Ast *lambda, Type element);
/* A function of one tuple, where one of two arguments is wanted. False: it may be one. */
bool report_one_tuple(Elab *e, Value f, int n, const Value *args);
void propose_lawful(Elab *e, Diag *d, const Fun *f, const char *callee, Type element, Value unit, bool commutative);
/* Laws that an operator does not declare, behind its unit. */
void propose_laws(Elab *e, Diag *d, const Item *operator, bool associative, bool commutative);
/* The pattern in the place of `callee` that needs no laws, if there is one. */
void propose_in_order(Elab *e, Diag *d, const char *callee);
void propose_shuffled(Elab *e, Diag *d, Span argument);     /* a shuffle of one lane's value */
/* elab_surplus.c */
/* An array that a call has from its pipe, and among its arguments. */
void propose_once(Elab *e, Diag *d, Span use);
/* Several arrays for a pattern of one: `map(f, xs, ys)`. */
bool propose_zip(Elab *e, Diag *d, Span function);
/* Sizes that a definition takes as arguments, and that its arrays say. */
void propose_found_sizes(Elab *e, Diag *d, const Fun *f);
/* More words of a hint: how windows keep the length of their array; or "". */
const char *windows_text(Elab *e, Span body, Type got, Type want);
/* What a `let` of the text gives the name that stands there; NULL. */
const Ast *bound_to(Elab *e, Span use);
/* The expression that stands there, in what is elaborated; NULL. */
const Ast *expression_at(Elab *e, Span span);
/* elab_obligation.c. A condition of `f`'s header that is not proved. */
void report_obligation(Elab *e, const Fun *f, const Item *header, const Ast *cond, const Core *value, const Env *env, const Core *main_arg,
                       Span span);
void put_cond(Elab *e, StrBuf *sb, const Ast *cond, const Env *env);
bool only_entry_sizes(Elab *e, Nat a);

/* elab_type.c */
Type type_resolve(const Elab *e, Type t); /* the head only */
Type type_zonk(Elab *e, Type t);
Type meta_new(Elab *e, bool any, bool literal, unsigned mask, Scalar preferred, Span span);
bool type_unify(Elab *e, Type a, Type b); /* false: see e->mis */
bool type_constrain(Elab *e, Type t, ParamKind kind);
bool type_rank_fits(Elab *e, Type t, Span span);
Type eval_type(Elab *e, const Ast *ast, const Env *env); /* TY_ERROR after a report */
Nat eval_nat(Elab *e, const Ast *ast, const Env *env);   /* nat_error after a report */
bool nat_checked(Elab *e, Nat n, Span span); /* reports an overflow */
bool nat_nonneg(Elab *e, Nat n); /* proved to be at least 0 */
void flatten_array(Elab *e, const Ast *ast, int *n, const Ast ***sizes, const Ast **elem); /* of an AST_DOT chain */
/* `f32.n`: the type of the elements first, and then sizes alone. */
bool is_order_reversed(Elab *e, int n, const Ast *const *sizes, const Ast *elem, const Env *env);
Type reversed_type(Elab *e, const Ast *ast, int n, const Ast *const *sizes, const Ast *elem); /* reports it */
bool same_size(Elab *e, Nat a, Nat b); /* false: see e->mis */
bool mismatch(Elab *e, Type actual);   /* notes it in e->mis; gives false */

/* elab_match.c */
bool match_type(Elab *e, const Ast *pattern, const Env *env, Type actual, Span from); /* false: see e->mis */
bool match_size(Elab *e, const Ast *pattern, const Env *env, Nat actual);
bool pattern_open(const Ast *ast, const Env *env); /* mentions a hole that is not filled */
bool pattern_solvable(const Ast *ast, const Env *env);

/* elab_core.c: making core and values */
Core *core_new(Elab *e, CoreKind kind, Span span, Type type);
Core *core_bad(Elab *e, Span span);
Core *core_size(Elab *e, Span span, Nat nat, Type type);
Core *core_bool(Elab *e, Span span, bool b);
Core *core_of_var(Elab *e, CoreVar *var, Span span);
Core *core_prim(Elab *e, PrimId id, Span span, Type type, int n_nats, const Nat *nats, int n_args, Core **args);
Core *core_proj(Elab *e, Core *value, int index, Span span);
/* Ends the elaboration: what is left of the stack bears no more. */
void elab_too_deep(Elab *e, Span span);
Core *core_done(Elab *e, Core *core); /* after its parts are set: height and count */
CoreVar *core_var(Elab *e, const char *name, Type type, Span span);
LetBind *let_bind(Elab *e, CoreVar *var, Core *value, LetBind *outer);
LetBind *lets_join(Elab *e, LetBind *outer, LetBind *inner);
Core *lets_wrap(Elab *e, LetBind *lets, Core *body);
Value v_error(Span span);
Value v_core(Elab *e, Core *core);
Value v_nat(Nat nat, Span span);
Value v_fun(const Fun *fun, Span span);
Value v_with_lets(Elab *e, Value v, LetBind *outer);
bool core_is_atom(const Core *core);
bool core_substitutable(const Elab *e, const Core *core); /* may stand wherever its name does */
/* elab_vector.c. A scalar as the vector of which each component is it; what core_splatted gives back of it. */
Core *core_splat(Elab *e, Core *x, Type vec);
const Core *core_splatted(const Core *core);
bool splat_operand(Elab *e, Value *v, Type vec); /* false: *v is no scalar of that element type; see e->mis */
bool is_vector(Elab *e, Value v);
Value array_of_vector(Elab *e, Value v);   /* as an array of one */
Value vector_components(Elab *e, Value v); /* as an array of scalars */
/* The value as a name may stand for it: what must be computed once becomes a variable in *lets. */
Value bind_value(Elab *e, Value v, const char *name, Span span, LetBind **lets);
const Env *env_push(Elab *e, const Env *env, const char *name, Value value, Span span);
const Env *env_root(const Env *env);
const Env *env_find(const Env *env, const char *name, const Env **root);
/* Data of a type that is given (want) or not (NULL). False: see e->mis; then nothing was reported unless MIS_REPORTED. */
bool value_to_core(Elab *e, Value v, Type want, Core **core);
/* *v becomes core of that type; what it still has to bind stays beside it. */
bool value_typed(Elab *e, Value *v, Type want);
bool tuple_fits(Elab *e, Type t, Span span); /* reports one with too many components */
Core *value_core(Elab *e, Value v); /* reports what is no data */
/* Reports all parts that are functions with some of their arguments, where data is needed. False: there are none. */
bool report_lacking(Elab *e, Value v);
bool value_is_natable(Elab *e, Value v); /* a size, an integer literal, an index */
bool value_to_nat(Elab *e, Value v, Nat *nat, LetBind **lets); /* false: is none; reports nothing */

/* elab_program.c */
bool is_unusable(const Elab *e, const Item *item);
/* Whether the item that is elaborated has names that mean nothing. */
bool is_lacking(const Elab *e);

/* elab_expr.c */
Value eval(Elab *e, const Ast *ast, const Env *env, Type want);

/* elab_names.c */
Value project(Elab *e, Value v, int64_t index, Span span);
bool bind_pattern(Elab *e, const Pattern *pattern, Value v, const Env **env, LetBind **lets);
Value label_value(Elab *e, Value v, const char *label);
Value fun_value(Elab *e, Fun f, Span span);
Value eval_name(Elab *e, const char *name, Span span, const Env *env, Type want);

/* elab_options.c */
Value eval_bracket(Elab *e, const Ast *ast, const Env *env);
Value eval_named(Elab *e, const Ast *ast, const Env *env);

/* elab_scalar.c */
Value eval_binary(Elab *e, AstOp op, Value a, Value b, Span span, Span op_span);
bool negate_literal(Elab *e, Core *core);
Value eval_unary(Elab *e, AstOp op, Value a, Span span);
/* elab_index.c */
Value index_or_of_index(Elab *e, const Value *args, Span span, bool *done); /* done: the number is an index or a size */
bool check_number(Elab *e, const char *callee, Type number, Span span); /* false: it is a vector, which is reported */
Value eval_natfn(Elab *e, const char *name, int n, const Value *args, Span span);
Value prim_on_nats(Elab *e, PrimId id, const Value *args, Span span, bool *done); /* + of sizes and the like; *done: it was that */
PrimId prim_of_op(AstOp op);
Value named_constant(Elab *e, const char *name, Type type, Span span); /* type NULL: by context */
Core *literal_core(Elab *e, Lit lit, bool inexact, Type type, Span span);
Value apply_cast(Elab *e, const Fun *f, Value arg, Span span);
void finish_literals(Elab *e);

/* elab_units.c */
void finish_units(Elab *e);
void advise_units(Elab *e);
/* Arguments of a definition that should be units of others: values and cores beside its parameters.
 */
void note_advised_units(Elab *e, const Fun *f, const Value *values, Core *const *cores, Span call);

/* elab_doubts.c */
const Quotient *quotient_of_sizes(Elab *e, Nat a, Nat b, Span above, Span below,
                                  Span span); /* NULL: it is exact */
/* It becomes this number, by the cast `whole` or (NO_SPAN) by itself. `q`: or NULL. */
void doubt_quotient(Elab *e, const Quotient *q, const Core *number, Span whole);
void doubt_cast_quotient(Elab *e, Value arg, const Core *number, Span whole);
void note_remainder(Elab *e, Span above, Span below);
void doubt_compared(Elab *e, const Core *test);
void doubt_operation(Elab *e, const Core *operation); /* of integers, by a constant: a division or a shift */
void finish_doubts(Elab *e, Diags *found); /* types are known */

/* elab_apply.c */
Value apply(Elab *e, Value f, int n, const Value *args, Span span, Type want);
int fun_arity(Elab *e, const Fun *f); /* arguments still missing */
/* "`reduce` still wants 1 argument" */
const char *wants_text(Elab *e, const Fun *f);
/* Which arguments a function takes, where data is needed and it lacks some; or that its one argument is a tuple. */
void note_wanted(Elab *e, Diag *d, const Fun *f);
/* An array of one scalar. */
bool is_only_element(const Elab *e, Type t);
/* `xs[0]` for it, at the span. */
void propose_only_element(Elab *e, Diag *d, Span span);
const Item *fun_header(Elab *e, const Fun *f);
const char *fun_name(const Fun *f);
/* What argument k of the function is called where it is written; for names of variables. */
const char *param_name(Elab *e, const Fun *f, int k);
bool param_is_named(const Fun *f, int k); /* by a `fun` */
const char *const *param_parts(Elab *e, const Fun *f, int k); /* where it is taken apart: see CoreVar.parts */
/* Elaborates an entry or definition for what is wrong with it. */
void elab_item(Elab *e, const Item *item);
/* Whether a definition may have this error only where nothing is known of its sizes. */
bool is_about_use(const Elab *e, DiagCode code);
const Fun *unwrapped(const Fun *f); /* without declared types around it */
bool fun_has_laws(const Fun *f);
/* The function under a declared type, against which its arguments and results are checked. */
Value with_sig(Elab *e, Value v, const Ast *sig, const Env *env);
Value expect_function(Elab *e, Value v, const Ast *sig, const Env *env, const char *callee, const char *param);
/* Is it a size that this option of a launch or a pattern can have? Reports where it is not. */
bool size_option_fits(Elab *e, const char *name, int64_t least, Nat n, Span span);
Value bracket_options(Elab *e, const Ast *ast, Value fn, const Env *env);

/* elab_copy.c */
int core_uses(const Core *core, const CoreVar *var); /* 0, 1, or more than once */
/* A copy of `body` with these terms for these variables, and fresh binders. */
Core *core_with(Elab *e, const Core *body, int n, CoreVar *const *vars, Core *const *by);
Value apply_core(Elab *e, const Core *lambda, const Value *args, Span span);

/* elab_call.c: all arguments of what has a header are there. */
Value call_header(Elab *e, const Fun *f, const Value *args, Span span, Type want);

int given_param(const Item *item, int k); /* the parameter that a call gives as argument k; -1: there are fewer */
Core *operator_unit(Elab *e, const Fun *f); /* the declared one; NULL: none */
/* The operator, which is this function as core, is used with that unit: it is compared when types are known. */
void note_unit(Elab *e, const Fun *op, const Core *lambda, Core *unit, Span span, const char *who);

/* elab_lambda.c */
/* elements: the length of an array to whose elements alone it is applied, or NULL. */
Core *elab_lambda(Elab *e, Value f, const Ast *sig, const Env *env, Nat elements, Span span);
/* A V_GEN at the length that the written or wanted type says; itself again when neither does. */
Value force_gen(Elab *e, Value v, const Ast *pattern, const Env *env, Type want);
/* Where it stands. An array of indices whose type nothing says stays as it is: who takes it may say of what array they are indices. */
Value force_gen_early(Elab *e, Value v, Type want);

/* notes.c */
void note_value(Elab *e, Span at, Value value); /* where e->notes is */

/* elab_facts.c */
const ElabSetting *elab_setting(const char *name, int n, const ElabSetting *settings); /* the last of that name; NULL */
bool is_about_sizes(const Core *core); /* of them alone */
/* The fact with number i after `where` was found to be false. */
void report_false_fact(Elab *e, const Item *item, int i, const Env *env, int n_settings, const ElabSetting *settings);

/* elab_entry.c */
Elab *elab_new(Ctx *ctx, Program *program);
CoreEntry *elab_entry_with(Elab *e, int k, int n_settings, const ElabSetting *settings, int n_classes, const ElabClass *classes);
bool elab_operator_with(Elab *e, int k, Core **lambda, Core **unit);
void elab_finish(Elab *e, Core *body); /* what inference left open */
void core_zonk(Elab *e, Core *core);

#endif
