/* The laws of the primitives: each small program runs on the reference interpreter, over many sizes, against plain C that says what
 * its primitive means. On the way every program is verified, printed, read again, and must be the same. */
#include <stdlib.h>

#include "frontend/elab.h"
#include "ir/interp.h"
#include "rewrite/internal.h"
#include "unit.h"

enum { SIZES = 3, INPUTS = 4, MOST = 1 << 17 };

/* One run, for the C side: sizes in order, components of the inputs in order, as integers; what the results should be. */
typedef struct Want {
    int64_t n, m, k; /* the first three sizes */
    const int64_t *in[INPUTS];
    int64_t count;
    int64_t *out;
} Want;

static void want(Want *w, int64_t v)
{
    if (w->count < MOST)
        w->out[w->count++] = v;
}

static uint64_t state = 88172645463325252u;

static uint64_t next(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

typedef struct Test {
    const char *text;
    void (*law)(Want *w);
} Test;

#define LAW(name) static void name(Want *w)
#define EACH(i, n) for (int64_t i = 0; i < (n); i++)
#define XS w->in[0]
#define YS w->in[1]

/* ---- layout ------------------------------------------------------------------------------------------------------ */

LAW(same) { EACH(i, w->n) want(w, XS[i]); }
LAW(first_rows) { EACH(i, w->n / 4 * 4) want(w, XS[i]); }
LAW(all_of_matrix) { EACH(i, w->n * w->m) want(w, XS[i]); }
LAW(transposed) { EACH(j, w->m) EACH(i, w->n) want(w, XS[i * w->m + j]); }
LAW(transposed_rows) { EACH(j, 4) EACH(i, w->n / 4) EACH(c, 2) want(w, XS[i * 8 + j * 2 + c]); }
LAW(zipped) { EACH(i, w->n) want(w, XS[i] - 2 * YS[i]); }
LAW(zipped3) { EACH(i, w->n) want(w, XS[i] - 2 * YS[i] + 3 * w->in[2][i]); }
LAW(zipped4) { EACH(i, w->n) want(w, XS[i] - 2 * YS[i] + 3 * w->in[2][i] - w->in[3][i]); }
LAW(unzipped) { EACH(i, w->n) want(w, YS[i]); EACH(i, w->n) want(w, XS[i]); }
LAW(taken) { EACH(i, w->n / 3) want(w, XS[i]); }
LAW(dropped) { EACH(i, w->n - w->n / 3) want(w, XS[i + w->n / 3]); }
LAW(dropped_rows) { EACH(i, (w->n - w->n / 3) * 2) want(w, XS[i + w->n / 3 * 2]); }
LAW(windows) { EACH(i, 1 + (w->n - 3) / 2) EACH(j, 3) want(w, XS[i * 2 + j]); }
LAW(windows2) { EACH(i, w->n - 2) EACH(j, 3) EACH(c, w->m) want(w, XS[(i + j) * w->m + c]); }
LAW(pad_constant) { EACH(i, 2 + w->n + 3) want(w, i >= 2 && i < 2 + w->n ? XS[i - 2] : 7); }
LAW(pad_clamp) { EACH(i, 2 + w->n + 3) want(w, XS[i < 2 ? 0 : i - 2 >= w->n ? w->n - 1 : i - 2]); }
LAW(pad_to) { EACH(i, (w->n + 7) / 8 * 8) want(w, i < w->n ? XS[i] : 5); }
LAW(pad_rows) { EACH(i, (w->n + 3) / 4 * 4) EACH(j, w->m) want(w, i < w->n ? XS[i * w->m + j] : YS[j]); }
LAW(gathered) { EACH(i, w->m) want(w, YS[XS[i]]); }
LAW(gathered_rows) { EACH(i, w->m) EACH(j, 3) want(w, YS[XS[i] * 3 + j]); }
LAW(reversed) { EACH(i, w->n) want(w, XS[w->n - 1 - i]); }
LAW(strided) { EACH(i, w->n) want(w, XS[i / (w->n / 4) + 4 * (i % (w->n / 4))]); }
LAW(joined2) { EACH(i, w->n) want(w, XS[i]); EACH(i, w->m) want(w, YS[i]); }
LAW(squares) { EACH(i, w->n) want(w, i * i); }
LAW(plus_index) { EACH(i, w->n) want(w, XS[i] + i); }
LAW(last_one) { want(w, XS[w->n - 1]); }
LAW(first_one) { want(w, XS[0]); }
LAW(first_row) { EACH(j, w->m) want(w, XS[j]); }
LAW(doubled) { EACH(i, w->n) want(w, 2 * XS[i]); }
LAW(scattered)
{
    EACH(i, w->n) want(w, XS[w->n - 1 - i] + 100);
}
LAW(dropping)
{
    EACH(j, w->m) { int64_t got = YS[j]; EACH(i, w->n) if (XS[i] == j) got = 5; want(w, got); }
}
LAW(indexed_or) { EACH(i, w->n) want(w, YS[XS[i] >= 0 && XS[i] < w->m ? XS[i] : w->m - 1]); }
LAW(one_before) { EACH(i, w->n) want(w, XS[i > 0 ? i - 1 : i]); }

static const Test layout[] = {
    {"entry e {n: nat} (xs: n.i32): n.i32 = id(xs)", same},
    {"entry e {n: nat} (xs: n.i32): (n/4).4.i32 where n % 4 == 0 = xs |> split(4)", same},
    {"entry e {n: nat} (xs: n.i32): (n/4).4.i32 = xs |> splitDrop(4)", first_rows},
    {"entry e {n m: nat} (xs: n.m.i32): (n*m).i32 = xs |> join", all_of_matrix},
    {"entry e {n m: nat} (xs: n.m.i32): m.n.i32 = xs |> transpose", transposed},
    {"entry e {n: nat} (xs: n.2.i32): 4.(n/4).2.i32 where n % 4 == 0 = xs |> split(4) |> transpose", transposed_rows},
    {"entry e {n: nat} (xs: n.i32) (ys: n.i32): n.i32 = zip(xs, ys) |> mapSeq(fun (a, b) => a - 2 * b)", zipped},
    {"entry e {n: nat} (xs: n.i32) (ys: n.i32) (zs: n.i32): n.i32 = zip3(xs, ys, zs) |> mapSeq(fun (a, b, c) => a - 2 * b + 3 * c)", zipped3},
    {"entry e {n: nat} (xs: n.i32) (ys: n.i32) (zs: n.i32) (ws: n.i32): n.i32 = zip4(xs, ys, zs, ws) |> mapSeq(fun (a, b, c, d) => a - 2 * b + 3 * c - d)", zipped4},
    {"entry e {n: nat} (ps: n.(i32, i16)): (n.i16, n.i32) = let q = unzip(ps) in (q.2, q.1)", unzipped},
    {"entry e {n: nat} (xs: n.i32): (n/3).i32 = xs |> take(n/3)", taken},
    {"entry e {n: nat} (xs: n.i32): (n - n/3).i32 = xs |> drop(n/3)", dropped},
    {"entry e {n: nat} (xs: n.2.i32): (n - n/3).2.i32 = xs |> drop(n/3)", dropped_rows},
    {"entry e {n: nat} (xs: n.i32): (1 + (n - 3)/2).3.i32 where n >= 3 = xs |> slide(3, 2)", windows},
    {"entry e {n m: nat} (xs: n.m.i32): (n - 2).3.m.i32 where n >= 3 = xs |> slide(3, 1)", windows2},
    {"entry e {n: nat} (xs: n.i32): (n + 5).i32 = xs |> padCst(2, 3, 7)", pad_constant},
    {"entry e {n: nat} (xs: n.i32): (n + 5).i32 where n >= 1 = xs |> padClamp(2, 3)", pad_clamp},
    {"entry e {n: nat} (xs: n.i32): (ceilDiv(n, 8)*8).i32 = xs |> padTo(8, 5)", pad_to},
    {"entry e {n m: nat} (xs: n.m.i32) (c: m.i32): (ceilDiv(n, 4)*4).m.i32 = xs |> padTo(4, c)", pad_rows},
    {"entry e {n m: nat} (is: m.idx[n]) (xs: n.i32): m.i32 = xs |> gather(is)", gathered},
    {"entry e {n m: nat} (is: m.idx[n]) (xs: n.3.i32): m.3.i32 = xs |> gather(is)", gathered_rows},
    {"entry e {m: nat} (is: m.idx[45]) (xs: 45.i32): m.i32 = xs |> gather(is)", NULL},
    {"entry e {n: nat} (xs: n.i32): n.i32 = xs |> reorder(fun i => n - 1 - i)", reversed},
    {"entry e {n: nat} (xs: n.i32): n.i32 = xs |> reverse", reversed},
    {"entry e {n: nat} (xs: n.i32): n.i32 = xs |> readOnce |> reverse", reversed},
    {"entry e {n: nat} (xs: n.i32): n.i32 = xs |> reverse |> keepCached", reversed},
    {"entry e {n: nat} (xs: n.i32): n.i32 = xs |> readTogether |> reverse", reversed},
    {"entry e {n: nat} (xs: n.i32): n.i32 where n % 4 == 0 = xs |> stride(4)", strided},
    {"entry e {n m: nat} (xs: n.i32) (ys: m.i32): (n + m).i32 = concat(xs, ys)", joined2},
    {"entry e (n: nat): n.i64 = generate{n = n}(fun i => cast(i64)(i) * cast(i64)(i))", squares},
    {"entry e {n: nat} (xs: n.i32): n.i32 = generate(fun i => xs[i] + cast(i32)(i))", plus_index},
    {"entry e {n: nat} (xs: n.i32): i32 where n >= 1 = xs[n - 1]", last_one},
    {"entry e {n: nat} (xs: n.i32): i32 where n >= 1 = xs |> take(1) |> single", first_one},
    {"entry e {n m: nat} (xs: n.m.i32): m.i32 where n >= 1 = xs |> take(1) |> single", first_row},
    {"entry e {n: nat} (xs: n.i32): n.i32 where n % 4 == 0 = xs |> asVector(4) |> mapSeq(fun v => v + v) |> asScalar", doubled},
    {"entry e {n: nat} (xs: n.i32): n.i32 = xs |> mapSeq(fun x => x + 100) |> scatter(generate(fun i => n - 1 - i), xs)", scattered},
    {"entry e {n m: nat} (is: n.i8) (ys: m.i32): m.i32 = generate{n = n}(fun i => 5) |> scatterDrop(is, ys)", dropping},
    {"entry e {n m: nat} (is: n.u16) (ys: m.i32): m.i32 = generate{n = n}(fun i => 5) |> scatterDrop(is, ys)", dropping},
    {"entry e {n m: nat} (is: n.i32) (ys: m.i32): n.i32 where m >= 1 = is |> mapSeq(fun k => ys[indexOr(m, m - 1, k)])", indexed_or},
    {"entry e {n m: nat} (is: n.u8) (ys: m.i32): n.i32 where m >= 1 = is |> mapSeq(fun k => ys[indexOr(m, m - 1, k)])", indexed_or},
    {"entry e {n: nat} (xs: n.i32): n.i32 = generate(fun i => i) |> mapSeq(fun i => xs[indexOr(n, i, i - 1)])", one_before},
};

/* ---- order left open, sequential ---------------------------------------------------------------------------------- */

LAW(mapped) { EACH(i, w->n) want(w, XS[i] * 3 + 1); }
LAW(row_sums) { EACH(i, w->n) { int64_t s = 0; EACH(j, w->m) s += XS[i * w->m + j]; want(w, s); } }
LAW(sum) { int64_t s = 0; EACH(i, w->n) s += XS[i]; want(w, s); }
LAW(alternating) { int64_t s = 1; EACH(i, w->n) s = XS[i] - s; want(w, s); }
LAW(column_sums) { EACH(j, w->m) { int64_t s = 0; EACH(i, w->n) s += XS[i * w->m + j]; want(w, s); } }
LAW(fibonacci) { int64_t a = 0, b = 1; EACH(i, w->n % 40) { int64_t c = (int32_t)(a + b); a = b; b = c; } want(w, a); want(w, b); }
LAW(swapped) { EACH(j, w->m) want(w, w->in[w->n % 2 ? 2 : 1][j]); EACH(j, w->m) want(w, w->in[w->n % 2 ? 1 : 2][j]); }
LAW(prefixes) { int64_t s = 0; EACH(i, w->n) want(w, s += XS[i]); }
LAW(prefixes_exclusive) { int64_t s = 0; EACH(i, w->n) { want(w, s); s += XS[i]; } }
LAW(prefix_rows) { EACH(i, w->n) EACH(j, w->m) { int64_t s = 0; EACH(k, i + 1) s += XS[k * w->m + j]; want(w, s); } }
LAW(histogram) { EACH(j, 8) { int64_t s = 0; EACH(i, w->n) s += XS[i] == j ? YS[i] : 0; want(w, s); } }
LAW(histogram_max) { EACH(j, 8) { int64_t s = INT32_MIN; EACH(i, w->n) s = XS[i] == j && YS[i] > s ? YS[i] : s; want(w, s); } }
LAW(sums_of_eight) { EACH(i, w->n) { int64_t s = 0; EACH(j, 8) s += XS[i * 8 + j]; want(w, s); } }
LAW(rings) { EACH(i, w->n - 2) EACH(j, 3) want(w, 2 * XS[i + j]); }
LAW(smallest)
{
    int64_t v = INT32_MAX, at = INT64_MAX;
    EACH(i, w->n) if (XS[i] < v) { v = XS[i]; at = i; }
    want(w, v);
    want(w, at);
}

#define PAIRS "operator plus2 (a: (i32, i32)) (b: (i32, i32)): (i32, i32) unit (0, 0), associative, commutative = (a.1 + b.1, a.2 + b.2)\n"
LAW(pair_sums) { int64_t s = 0, t = 0; EACH(i, w->n) { s += XS[i]; t += YS[i]; } want(w, s); want(w, t); }

static const Test computing[] = {
    {"entry e {n: nat} (xs: n.i32): n.i32 = xs |> map(fun x => x * 3 + 1)", mapped},
    {"entry e {n: nat} (xs: n.i32): n.i32 = xs |> mapSeq(fun x => x * 3 + 1)", mapped},
    {"entry e {n: nat} (xs: n.i32): n.i32 = xs |> mapGlobal(fun x => x * 3 + 1)", mapped},
    {"entry e {n: nat} (xs: n.i32): n.i32 = xs |> mapBlock(fun x => x * 3 + 1)", mapped},
    {"entry e {n: nat} (xs: n.i32): n.i32 = xs |> mapThreads[y](fun x => x * 3 + 1)", mapped},
    {"entry e {n: nat} (xs: n.i32): n.i32 = xs |> mapWarp(fun x => x * 3 + 1)", mapped},
    {"entry e {n: nat} (xs: n.i32): n.i32 = xs |> mapLane(fun x => x * 3 + 1) |> toShared[pad = 1] |> toPrivate |> toGlobal", mapped},
    {"entry e {n m: nat} (xs: n.m.i32): n.i32 = xs |> map(reduce((+), 0))", row_sums},
    {"entry e {n m: nat} (xs: n.m.i32): n.i32 = xs |> mapSeq(reduceSeq((+), 0))", row_sums},
    {"entry e {n: nat} (xs: n.i32): i32 = xs |> reduce((+), 0)", sum},
    {"entry e {n: nat} (xs: n.i32): i32 = xs |> reduceSeq(fun a x => x - a, 1)", alternating},
    {"entry e (xs: 32.i32): i32 = xs |> reduceSeqUnroll((+), 0)", NULL},
    {"entry e {n m: nat} (xs: n.m.i32): m.i32 = xs |> reduceSeq(fun acc row => zip(acc, row) |> mapSeq(fun (a, b) => a + b), generate{n = m}(fun i => 0))", column_sums},
    {"entry e {n: nat} (xs: n.i32): (i32, i32) = xs |> take(n % 40) |> reduceSeq(fun (a, b) x => (b, a + b), (0, 1))", fibonacci},
    {"entry e {n m: nat} (xs: n.i32) (a: m.i32) (b: m.i32): (m.i32, m.i32) = xs |> reduceSeq(fun (p, q) x => (q, p), (a, b))", swapped},
    {"entry e {n: nat} (xs: n.i32): n.i32 = xs |> scan((+), 0)", prefixes},
    {"entry e {n: nat} (xs: n.i32): n.i32 = xs |> scanExcl((+), 0)", prefixes_exclusive},
    {"entry e {n: nat} (xs: n.i32): n.i32 = xs |> scanSeq((+), 0)", prefixes},
    {"entry e {n: nat} (xs: n.i32): n.i32 = xs |> scanSeqExcl((+), 0)", prefixes_exclusive},
    {"entry e {n m: nat} (xs: n.m.i32): n.m.i32 = xs |> scanSeq(fun acc row => zip(acc, row) |> mapSeq(fun (a, b) => a + b), generate{n = m}(fun i => 0))", prefix_rows},
    {"entry e {n: nat} (is: n.idx[8]) (xs: n.i32): 8.i32 = zip(is, xs) |> reduceByIndex((+), 0, 8)", histogram},
    {"entry e {n: nat} (is: n.idx[8]) (xs: n.i32): 8.i32 = zip(is, xs) |> reduceByIndex(max, lowest, 8)", histogram_max},
    {"entry e {n: nat} (xs: (n*8).i32): n.i32 = xs |> iterate{m = n, n = 2}(3, fun (l: nat) (ys: (l*2).i32) => ys |> split(2) |> mapSeq(reduceSeq((+), 0)))", sums_of_eight},
    {"entry e {n: nat} (xs: n.i32): (n - 2).3.i32 where n >= 3 = xs |> circularBuffer(3, fun x => 2 * x)", rings},
    {"entry e {n: nat} (xs: n.i32): (n - 2).3.i32 where n >= 3 = xs |> rotateValues(3, fun x => 2 * x)", rings},
    {"operator argmin (a: (i32, i64)) (b: (i32, i64)): (i32, i64) unit (highest, highest), associative, commutative =\n"
     "  if a.1 < b.1 or (a.1 == b.1 and a.2 < b.2) then a else b\n"
     "entry e {n: nat} (xs: n.i32): (i32, i64) = zip(xs, generate(fun i => cast(i64)(i))) |> reduce(argmin, (highest, highest))", smallest},
    {PAIRS "entry e {n: nat} (xs: n.(i32, i32)): (i32, i32) = xs |> reduce(plus2, (0, 0))", pair_sums},
};

/* ---- warps and grids --------------------------------------------------------------------------------------------- */

LAW(shfl_down) { EACH(g, w->n) EACH(i, 32) want(w, XS[g * 32 + (i + 5 < 32 ? i + 5 : i)]); }
LAW(shfl_up) { EACH(g, w->n) EACH(i, 32) want(w, XS[g * 32 + (i >= 5 ? i - 5 : i)]); }
LAW(shfl_xor) { EACH(g, w->n) EACH(i, 32) want(w, XS[g * 32 + (i ^ 6)]); }
LAW(shfl_any) { EACH(i, 32) want(w, YS[XS[i]]); }
LAW(broadcasted) { EACH(g, w->n) EACH(i, 32) want(w, XS[g * 32 + 9]); }
LAW(warp_sums) { EACH(g, w->n) { int64_t s = 0; EACH(i, 32) s += XS[g * 32 + i]; want(w, s); } }
LAW(repeated)
{
    EACH(i, w->n) { /* the element that it becomes, back to where it comes from */
        int64_t v = 0, at = i, factor = 1;
        for (int64_t k = w->n % 4; k-- > 0; at = w->n - 1 - at, factor *= 2)
            v += factor * k;
        want(w, v + factor * XS[at]);
    }
}
LAW(plus_one) { EACH(i, w->n) want(w, XS[i] + 1); }
LAW(mean) { int64_t s = 0; EACH(i, w->n) s += XS[i]; want(w, s / w->n); }

static const Test meeting[] = {
    {"entry e {n: nat} (xs: n.32.i32): n.32.i32 = xs |> mapWarp(shflDown(5))", shfl_down},
    {"entry e {n: nat} (xs: n.32.i32): n.32.i32 = xs |> mapWarp(shflUp(5))", shfl_up},
    {"entry e {n: nat} (xs: n.32.i32): n.32.i32 = xs |> mapWarp(shflXor(6))", shfl_xor},
    {"entry e (is: 32.idx[32]) (xs: 32.i32): 32.i32 = xs |> shfl(is)", shfl_any},
    {"entry e {n: nat} (xs: n.32.i32): n.32.i32 = xs |> mapWarp(broadcast(9))", broadcasted},
    {"entry e {n: nat} (xs: n.32.i32): n.1.i32 = xs |> mapWarp(reduceWarp((+)))", warp_sums},
    {"entry e {n: nat} (xs: n.i32): n.i32 = xs |> nextKernel(mapGlobal(fun x => x + 1))", plus_one},
    {"entry e {n: nat} (xs: n.i32): n.i32 = xs |> repeatKernels(n % 4, fun ys k => generate{n = n}(fun i => 2 * ys[n - 1 - i] + cast(i32)(k)) |> mapGlobal(id))", repeated},
    {"entry e {n: nat} (xs: n.i32): n.i32 = xs |> lastBlock(mapGlobal(fun x => x + 1))", plus_one},
    {"entry e {n: nat} (xs: n.i32): n.i32 = xs |> gridSync(mapGlobal(fun x => x + 1))", plus_one},
    {"entry e {n: nat} (xs: n.i32): 1.i32 = xs |> atomicReduce((+), 0)", sum},
    {"entry e {n: nat} (xs: n.i32): n.i32 = xs |> scanBlocks((+), 0, fun x => (x, x), fun before x => before + x)", prefixes},
    {"entry e {n m: nat} (xs: n.m.i32): n.i32 = xs |> scanBlocks((+), 0, fun row => (0 * (row |> reduceSeq((+), 0)), (1, row)), fun before (one, row) => before + one * (row |> reduceSeq((+), 0)))", row_sums},
    {"entry e {n: nat} (xs: n.i64): i64 where n >= 1 = let s = xs |> reduceSeq((+), 0) in if s < 0 then -(-s / n) else s / n", mean},
    {"entry e {n: nat} (xs: n.i32): n.i32 = if n <= 40 then xs |> mapSeq(fun x => 1 + x) else xs |> mapGlobal(fun x => x + 1)", plus_one},
    {"entry e {n: nat} (xs: n.i32): n.i32 = xs |> mapSeq(fun x => select(x == x, x + 1, 0))", plus_one},
    {"entry e {n: nat} (xs: n.f64): n.i32 = xs |> mapSeq(fun x => cast(i32)(x + 1.0))", plus_one},
    {"entry e {n: nat} (xs: n.i32): n.i32 = xs |> mapSeq(fun x => let y = x + 2 in let z = (y, y - 1) in z.2)", plus_one},
    {"entry e {n: nat} (xs: n.i32): n.i32 exact launch [threads = 64] = xs |> mapGlobal(fun x => if x < -5 or not (x >= 3) then x + 1 else -(-x - 1))", plus_one},
};

/* ---- what is hard to print and to read -------------------------------------------------------------------------------- */

LAW(renamed) { EACH(i, w->n) want(w, (XS[i] + 1) * 2 - XS[i]); }
LAW(precedence)
{
    EACH(i, w->n)
    {
        int64_t a = XS[i], b = YS[i];
        want(w, a - (b - a) - (a - b) + a * (b + 1) - -(-(a * b)) + (a - b) * 3 % 7 + 24 / (1 + b * b) * 2);
    }
}
LAW(logic) { EACH(i, w->n) want(w, ((XS[i] < 0) != (YS[i] < 0) || XS[i] == 3) && !(YS[i] >= 2 && XS[i] != YS[i])); }
LAW(rotated) { EACH(i, w->n) want(w, XS[(i + 1) % w->n]); }
LAW(limits) { want(w, INT64_MIN); want(w, -1); want(w, -128); want(w, 255); want(w, w->n); }
LAW(folded) { EACH(i, w->n) want(w, XS[i] * 16 + 8 + 4 + 2 + 1); }
LAW(nested) { EACH(i, w->n) want(w, XS[i] + 10 * YS[i] + 100 * w->in[2][i]); }

static const Test spelling[] = {
    {"entry e {n: nat} (xs: n.i32): n.i32 = xs |> mapSeq(fun x => let y = x in let x = x + 1 in let x = x * 2 in x - y)", renamed},
    {"entry e {n: nat} (n_1: n.i32): n.i32 = n_1 |> mapSeq(fun n => (n + 1) * 2 - n)", renamed},
    {"entry e {n: nat} (xs: n.i32) (ys: n.i32): n.i32 =\n"
     "  zip(xs, ys) |> mapSeq(fun (a, b) => a - (b - a) - (a - b) + a * (b + 1) - -(-(a * b)) + (a - b) * 3 % 7 + 24 / (1 + b * b) * 2)", precedence},
    {"entry e {n: nat} (xs: n.i32) (ys: n.i32): n.bool =\n"
     "  zip(xs, ys) |> mapSeq(fun (a, b) => ((a < 0) != (b < 0) or a == 3) and not (b >= 2 and not (a == b)) and true or false)", logic},
    {"entry e {n: nat} (xs: n.i32): n.i32 where n >= 1 = generate(fun i => xs[(i + 1) % n])", rotated},
    {"entry e (n: nat): (i64, u64, i8, u8, i16) where n <= 2000 = (lowest, 18446744073709551615u64, -128i8, 255, cast(i16)(n))", limits},
    {"entry e {n: nat} (xs: n.i32): n.i32 = xs |> mapSeq(unroll d in halving(16) (fun x => 2 * x + 1))", folded},
    {"entry e (n: nat): (bool, bool, bool, bool, bool) = (inf > 1e30, -inf < lowest, nan != 0.0f32, 5e-324 > 0.0f64, 0.1f16 < 0.2 or 0.1f64 < 0.2)", NULL},
    {"entry e {n: nat} (xs: n.f32) (ys: n.f64): (n.f32, n.f64, n.f16, n.bf16) =\n"
     "  let a = xs |> mapSeq(fun x => x * 0.1 + 1e-7 - 16777216.0) in let b = ys |> mapSeq(fun y => y * 0.1 + 1e-300) in\n"
     "  (a, b, xs |> mapSeq(fun x => cast(f16)(x) * 0.1f16), xs |> mapSeq(fun x => cast(bf16)(x) + 3.14))", NULL},
    {"entry e {n: nat} (xs: n.(i32, (i32, i32))): n.i32 = xs |> mapSeq(fun (a, (b, c)) => a + 10 * b + 100 * c)", nested},
    {"--| Adds one.\n--|  Indented.\nentry e {n: nat} (k: nat = 32 in [32, 64]) (xs: n.i32): n.i32\n"
     "  where n % 1 == 0, n + k >= 32, k == 32 or k == 64 launch [blocks = ceilDiv(n, k), threads = k, minBlocks = 2] =\n"
     "  xs |> padTo(k, 0) |> split(k) |> mapBlock(mapThreads[x](fun x => x + 1) >> toShared[pad = 1] >> mapThreads(id)) |> join |> take(n)", plus_one},
};

/* ---- running ------------------------------------------------------------------------------------------------------ */

static void show(Ctx *ctx)
{
    StrBuf out;
    sb_init(&out, ctx);
    diag_render(ctx, &out, false);
    fputs(out.text, stdout);
}

static CoreEntry *elaborate(Ctx *ctx, const char *text)
{
    Program *program = program_from_text(ctx, "test", text, strlen(text));
    CoreEntry *entry = elab_entry(ctx, program, 0, 0, NULL);
    if (!entry || ctx->diags.errors)
        return NULL;
    return entry;
}

static const char *printed(Ctx *ctx, const CoreEntry *entry)
{
    StrBuf out;
    sb_init(&out, ctx);
    core_print_entry(&out, entry);
    return out.text;
}

/* False where the launch is impossible for these sizes. */
static bool set_up(Ctx *ctx, const CoreEntry *entry, const int64_t *sizes, Launch *launch, Want *w)
{
    *launch = (Launch){.n_sizes = entry->n_sizes};
    launch->sizes = NEWN(ctx, int64_t, entry->n_sizes + 1);
    memcpy(launch->sizes, sizes, sizeof *sizes * (size_t)entry->n_sizes);
    for (int i = 0; i < entry->n_inputs; i++)
        launch->n_buffers += type_component_count(entry->inputs[i]->type);
    launch->buffers = NEWN(ctx, HostBuf, launch->n_buffers + 1);
    int b = 0;
    for (int i = 0; i < entry->n_inputs; i++)
        for (int c = 0; c < type_component_count(entry->inputs[i]->type); c++, b++) {
            Type t = type_component(ctx, entry->inputs[i]->type, c);
            HostBuf *buf = &launch->buffers[b];
            if (!launch_buffer(ctx, entry, launch, t, buf, true))
                return false;
            while (t->kind == TY_ARRAY)
                t = t->elem;
            int64_t bound = 0;
            if (t->kind == TY_IDX && (!launch_nat(ctx, entry, launch, t->size, &bound) || (bound == 0 && buf->count > 0)))
                return false;
            int64_t *values = NEWN(ctx, int64_t, buf->count + 1);
            for (int64_t k = 0; k < buf->count; k++) {
                values[k] = bound ? (int64_t)(next() % (uint64_t)bound) : (int64_t)(next() % 19) - 9;
                scalar_store(scalar_int(buf->elem, values[k]), buf->bytes + k * scalar_bytes(buf->elem));
            }
            if (b < INPUTS)
                w->in[b] = values;
        }
    return true;
}

static bool agrees(const Launch *launch, const Want *w)
{
    int64_t at = 0;
    for (int r = 0; r < launch->n_results; r++) {
        const HostBuf *buf = &launch->results[r];
        for (int64_t i = 0; i < buf->count; i++, at++) {
            ScalarValue v = scalar_load(buf->elem, buf->bytes + i * scalar_bytes(buf->elem));
            if (at >= w->count || (scalar_is_float(buf->elem) ? v.f != (double)w->out[at] : v.i != w->out[at]))
                return false;
        }
    }
    return at == w->count;
}

static bool equal_results(const Launch *a, const Launch *b)
{
    if (a->n_results != b->n_results)
        return false;
    for (int r = 0; r < a->n_results; r++)
        if (a->results[r].count != b->results[r].count ||
            memcmp(a->results[r].bytes, b->results[r].bytes, (size_t)(a->results[r].count * scalar_bytes(a->results[r].elem))) != 0)
            return false;
    return true;
}

typedef struct Seen {
    bool prims[P_COUNT];
} Seen;

static void note(const Core *term, Seen *seen)
{
    switch (term->kind) {
    case CORE_PRIM:
        seen->prims[term->prim.id] = true;
        for (int i = 0; i < term->prim.n_args; i++)
            note(term->prim.args[i], seen);
        return;
    case CORE_LAMBDA:
        note(term->lambda.body, seen);
        return;
    case CORE_LET:
        note(term->let.value, seen);
        note(term->let.body, seen);
        return;
    case CORE_TUPLE:
        for (int i = 0; i < term->tuple.n; i++)
            note(term->tuple.items[i], seen);
        return;
    case CORE_PROJ:
        note(term->proj.value, seen);
        return;
    case CORE_IF:
        note(term->cond.cond, seen);
        note(term->cond.then, seen);
        note(term->cond.otherwise, seen);
        return;
    case CORE_VAR:
    case CORE_LIT:
    case CORE_SIZE:
    case CORE_UNIT_ERROR:
        return;
    }
}

/* A wrong type anywhere must be found. */
static void plant(Ctx *ctx, const CoreEntry *entry, Core *term)
{
    Type good = term->type, f64 = type_scalar(ctx, SC_F64);
    term->type = good == f64 ? type_scalar(ctx, SC_I8) : f64;
    if (!CHECK(core_verify(ctx, entry) != NULL))
        printf("a wrong type is not found at kind %d in\n%s\n", (int)term->kind, printed(ctx, entry));
    term->type = type_array(ctx, nat_const(ctx, 77), good);
    CHECK(core_verify(ctx, entry) != NULL);
    term->type = good;
    switch (term->kind) {
    case CORE_PRIM:
        for (int i = 0; i < term->prim.n_args; i++)
            plant(ctx, entry, term->prim.args[i]);
        if (term->prim.n_args > 0) {
            term->prim.n_args--;
            CHECK(core_verify(ctx, entry) != NULL);
            term->prim.n_args++;
        }
        return;
    case CORE_LAMBDA:
        plant(ctx, entry, term->lambda.body);
        for (int i = 0; i < term->lambda.n; i++) {
            CoreVar *var = term->lambda.params[i];
            good = var->type;
            var->type = type_array(ctx, nat_const(ctx, 77), good);
            CHECK(core_verify(ctx, entry) != NULL);
            var->type = good;
        }
        return;
    case CORE_LET:
        plant(ctx, entry, term->let.value);
        plant(ctx, entry, term->let.body);
        return;
    case CORE_TUPLE:
        for (int i = 0; i < term->tuple.n; i++)
            plant(ctx, entry, term->tuple.items[i]);
        return;
    case CORE_PROJ:
        plant(ctx, entry, term->proj.value);
        term->proj.index += term->proj.value->type->n_items;
        CHECK(core_verify(ctx, entry) != NULL);
        term->proj.index -= term->proj.value->type->n_items;
        return;
    case CORE_IF:
        plant(ctx, entry, term->cond.cond);
        plant(ctx, entry, term->cond.then);
        plant(ctx, entry, term->cond.otherwise);
        return;
    case CORE_VAR: {
        CoreVar *var = term->var, stranger = *term->var;
        term->var = &stranger;
        CHECK(core_verify(ctx, entry) != NULL);
        term->var = var;
        return;
    }
    case CORE_LIT:
    case CORE_SIZE:
    case CORE_UNIT_ERROR:
        return;
    }
}

/* Each term that is no function is put in its own place again as a new one, and then with another type, or with a variable that nothing binds. */
static void part_again(Ctx *ctx, const CoreEntry *entry, Core *term, int depth, const Core **around, int *path)
{
    enum { DEEPEST = 64 };
    if (term->kind != CORE_LAMBDA) {
        Core new = *term, *stray = NEW(ctx, Core);
        CoreVar unbound = {.id = 1 << 20, .name = "stray", .type = term->type};
        CHECK(core_verify_part(ctx, entry, depth, around, path, term, term) == NULL);
        const char *wrong = core_verify_part(ctx, entry, depth, around, path, term, &new);
        if (!CHECK(wrong == NULL))
            printf("a part is refused in\n%s\n%s\n", printed(ctx, entry), wrong);
        *stray = (Core){.kind = CORE_VAR, .type = term->type, .var = &unbound, .height = 1};
        CHECK(core_verify_part(ctx, entry, depth, around, path, term, stray) != NULL);
        Core pair = {.kind = CORE_TUPLE, .type = type_scalar(ctx, SC_F64), .height = 1};
        Core *items[2] = {term, stray};
        pair.tuple.n = 2;
        pair.tuple.items = items;
        CHECK(core_verify_part(ctx, entry, depth, around, path, term, &pair) != NULL);
    }
    for (int i = 0; i < term_children(term) && depth < DEEPEST; i++) {
        around[depth] = term;
        path[depth] = i;
        part_again(ctx, entry, term_child(term, i), depth + 1, around, path);
    }
}

typedef struct Job {
    const Test *test;
    Seen *seen;
} Job;

static void run_test(Ctx *ctx, void *user)
{
    const Job *job = user;
    static const int64_t first[] = {0, 1, 2, 3, 4, 31, 32, 33, 45, 96, 1000, 1024}, second[] = {0, 1, 2, 5, 32};
    CoreEntry *entry = elaborate(ctx, job->test->text);
    if (!CHECK(entry != NULL)) {
        printf("%s\n", job->test->text);
        show(ctx);
        return;
    }
    note(entry->body, job->seen);
    const char *wrong = core_verify(ctx, entry), *text = printed(ctx, entry);
    if (!CHECK(wrong == NULL))
        printf("%s\n%s\n", text, wrong);
    CoreEntry *again = elaborate(ctx, text);
    if (!CHECK(again != NULL)) {
        printf("does not read back:\n%s\n", text);
        show(ctx);
    } else {
        CHECK_TEXT(printed(ctx, again), text);
        CHECK(core_verify(ctx, again) == NULL);
    }
    plant(ctx, entry, entry->body);
    part_again(ctx, entry, entry->body, 0, (const Core *[65]){0}, (int[65]){0});
    int64_t *out = NEWN(ctx, int64_t, MOST);
    long runs = 0;
    for (size_t i = 0; i < sizeof first / sizeof first[0]; i++)
        for (size_t j = 0; j < (entry->n_sizes > 1 ? sizeof second / sizeof second[0] : 1); j++) {
            int64_t sizes[SIZES] = {first[i], second[j], 3};
            Want w = {.n = sizes[0], .m = sizes[1], .k = sizes[2], .out = out};
            Launch launch;
            if (!set_up(ctx, entry, sizes, &launch, &w) || !launch_check(ctx, entry, &launch)) {
                CHECK(ctx->diags.errors > 0 || w.n == 0); /* the same complaint is recorded once */
                continue;
            }
            runs++;
            if (!CHECK(interp_run(ctx, entry, &launch))) {
                printf("%s\n", text);
                show(ctx);
                return;
            }
            if (job->test->law) {
                job->test->law(&w);
                if (!CHECK(agrees(&launch, &w)))
                    printf("with sizes %lld, %lld:\n%s\n", (long long)w.n, (long long)w.m, text);
            }
            if (again) {
                Launch other = launch;
                CHECK(interp_run(ctx, again, &other) && equal_results(&launch, &other));
            }
        }
    CHECK(runs > 0);
}

/* ---- what is refused ---------------------------------------------------------------------------------------------- */

typedef struct Refusal {
    const char *text;
    int64_t sizes[SIZES];
    const char *message;
} Refusal;

static const Refusal refusals[] = {
    {"entry e {n: nat} (xs: n.i32): (n/4).4.i32 where n % 4 == 0 = xs |> split(4)", {10, 0, 0}, "e needs n % 4 == 0, and n = 10"},
    {"entry e {n m: nat} (xs: n.i32) (ys: m.i32): i32 where n + 1 <= m, m >= 1 = ys[0]", {5, 4, 0}, "n = 5"},
    {"entry e {n: nat} (xs: n.i32): n.i32 = xs", {-1, 0, 0}, "the size n is -1"},
    {"entry e {n: nat} (xs: n.i32): n.n.n.i32 = xs |> mapSeq(fun x => xs |> mapSeq(fun y => xs))", {100000, 0, 0}, "16 GiB"},
};

static void refuse(Ctx *ctx, void *user)
{
    const Refusal *r = user;
    CoreEntry *entry = elaborate(ctx, r->text);
    if (!CHECK(entry != NULL)) {
        show(ctx);
        return;
    }
    Want w = {0};
    Launch launch;
    CHECK(!set_up(ctx, entry, r->sizes, &launch, &w) || !interp_run(ctx, entry, &launch));
    StrBuf out;
    sb_init(&out, ctx);
    diag_render(ctx, &out, false);
    if (!CHECK(strstr(out.text, r->message) != NULL))
        fputs(out.text, stdout);
}

static void bad_index(Ctx *ctx, void *user)
{
    (void)user;
    CoreEntry *entry = elaborate(ctx, "entry e {n m: nat} (is: m.idx[n]) (xs: n.i32): m.i32 = xs |> gather(is)");
    Want w = {0};
    Launch launch;
    int64_t sizes[SIZES] = {10, 8, 0};
    CHECK(set_up(ctx, entry, sizes, &launch, &w));
    scalar_store(scalar_int(launch.buffers[0].elem, 10), launch.buffers[0].bytes + 5 * scalar_bytes(launch.buffers[0].elem));
    CHECK(!interp_run(ctx, entry, &launch) && strstr(ctx->diags.list.at[0]->message, "is[5] is 10"));
    CHECK(ctx->diags.list.at[0]->code == E0604);
}

static void twice(Ctx *ctx, void *user)
{
    (void)user;
    CoreEntry *entry = elaborate(ctx, "entry e {n m: nat} (is: n.idx[m]) (ys: m.i32) (xs: n.i32): m.i32 = xs |> scatterUnchecked(is, ys)");
    if (!CHECK(entry != NULL)) {
        show(ctx);
        return;
    }
    CHECK(core_verify(ctx, entry) == NULL);
    Want w = {0};
    Launch launch;
    int64_t sizes[SIZES] = {10, 4, 0};
    CHECK(set_up(ctx, entry, sizes, &launch, &w) && interp_run(ctx, entry, &launch));
    for (int64_t j = 0; j < 4; j++) {
        int32_t got;
        memcpy(&got, launch.results[0].bytes + 4 * j, 4);
        bool any = false, fits = false;
        for (int64_t i = 0; i < 10; i++)
            if (w.in[0][i] == j) {
                any = true;
                fits |= got == w.in[2][i];
            }
        CHECK(any ? fits : got == w.in[1][j]);
    }
}

/* One map, and one function of scalars for each element. */
static void too_long(Ctx *ctx, void *user)
{
    (void)user;
    CoreEntry *entry = elaborate(ctx, "entry e {n m: nat} (xs: n.i32): n.i32 = xs |> mapSeq(fun x => x + 1)");
    if (!CHECK(entry != NULL)) {
        show(ctx);
        return;
    }
    Want w = {0};
    Launch launch;
    int64_t sizes[SIZES] = {100, 0, 0};
    CHECK(set_up(ctx, entry, sizes, &launch, &w));
    launch.max_steps = 100;
    CHECK(!interp_run(ctx, entry, &launch) && launch.gave_up && ctx->diags.list.n == 0);
    launch.max_steps = 102;
    CHECK(interp_run(ctx, entry, &launch) && !launch.gave_up && launch.n_results == 1);
}

/* ---- memory that runs out ------------------------------------------------------------------------------------------ */

typedef struct Failing {
    long left; /* allocations until one fails; below 0: none does */
    long live;
} Failing;

static void *failing_alloc(void *user, size_t size)
{
    Failing *f = user;
    if (f->left == 0)
        return NULL;
    f->left -= f->left > 0;
    void *block = malloc(size);
    f->live += block != NULL;
    return block;
}

static void failing_free(void *user, void *block)
{
    ((Failing *)user)->live -= block != NULL;
    free(block);
}

static void run_once(Ctx *ctx, void *user)
{
    (void)user;
    CoreEntry *entry = elaborate(ctx, computing[12].text);
    Want w = {0};
    Launch launch;
    int64_t sizes[SIZES] = {300, 300, 0};
    CHECK(entry && set_up(ctx, entry, sizes, &launch, &w) && interp_run(ctx, entry, &launch));
}

static void out_of_memory(void)
{
    bool done = false;
    for (long k = 1; !done && k < 10000; k++) {
        Failing failing = {.left = k};
        Allocator alloc = {&failing, failing_alloc, failing_free};
        Ctx *ctx = ctx_new(&alloc, NULL);
        if (!ctx)
            continue;
        done = ctx_try(ctx, run_once, NULL);
        failing.left = -1;
        ctx_free(ctx);
        CHECK(failing.live == 0);
    }
    CHECK(done);
}

static void in_context(void (*fn)(Ctx *, void *), void *user)
{
    Ctx *ctx = ctx_new(NULL, NULL);
    CHECK(ctx_try(ctx, fn, user));
    ctx_free(ctx);
}

int main(void)
{
    Seen seen = {{false}};
    const struct { const Test *at; size_t n; } groups[] = {
        {layout, sizeof layout / sizeof layout[0]}, {computing, sizeof computing / sizeof computing[0]}, {meeting, sizeof meeting / sizeof meeting[0]},
        {spelling, sizeof spelling / sizeof spelling[0]}};
    for (size_t g = 0; g < sizeof groups / sizeof groups[0]; g++)
        for (size_t i = 0; i < groups[g].n; i++) {
            Job job = {&groups[g].at[i], &seen};
            in_context(run_test, &job);
        }
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++)
        in_context(refuse, (void *)&refusals[i]);
    in_context(bad_index, NULL);
    in_context(twice, NULL);
    in_context(too_long, NULL);
    out_of_memory();
    /* Scalar functions are tested one by one in test_scalar.c. */
    for (int id = 0; id < P_add; id++)
        if (!seen.prims[id] && id != P_id && id != P_mapSeqUnroll && id != P_scatterUnchecked)
            printf("not met in any program: %s\n", prim_name((PrimId)id));
    printf("interp: %ld checks, %ld wrong\n", unit_checks, unit_failures);
    return unit_failures != 0;
}
