"""The programs of bench/shapes: name -> Program. `text` is an entry `f` for elements of type T; X(x) is x as a number of type A, in which it is computed,
and Y(x) the result as a T. WORST is the unit of max. `inputs` and `result` are shapes over the sizes. `torch` computes the same of x[0], x[1], ..; a is torch's type A, t its type T."""
from collections import namedtuple

Program = namedtuple("Program", "sizes text inputs result torch types")
FLOATS, ALL = "f32 f16 bf16 f64", "f32 f16 bf16 f64 i32"

PROGRAMS = {
    "sum": Program("n", "(xs: n.T): A = xs |> map(fun x => X(x)) |> reduce((+), 0)", ["n"], None, "x[0].sum(dtype=a)", ALL),
    "max": Program("n", "(xs: n.T): T = xs |> reduce(max, WORST)", ["n"], None, "x[0].max()", ALL),
    "dot": Program("n", "(xs ys: n.T): A = zip(xs, ys) |> map(fun (x, y) => X(x) * X(y)) |> reduce((+), 0)", ["n", "n"], None, "(x[0].to(a) * x[1].to(a)).sum()", ALL),
    "scale": Program("n", "(xs: n.T): n.T = xs |> map(fun x => 2 * x + 1)", ["n"], "n", "2 * x[0] + 1", ALL),
    "axpby": Program("n", "(xs ys zs: n.T): n.T = zip3(xs, ys, zs) |> map(fun (x, y, z) => 2 * x + 3 * y - z)", ["n"] * 3, "n", "2 * x[0] + 3 * x[1] - x[2]", ALL),
    "rowSums": Program("n m", "(xs: n.m.T): n.A = xs |> map(fun row => row |> map(fun x => X(x)) |> reduce((+), 0))", ["n m"], "n", "x[0].sum(1, dtype=a)", ALL),
    "rowMax": Program("n m", "(xs: n.m.T): n.T = xs |> map(reduce(max, WORST))", ["n m"], "n", "x[0].amax(1)", ALL),
    "columnSums": Program("n m", "(xs: n.m.T): m.A = xs |> transpose |> map(fun c => c |> map(fun x => X(x)) |> reduce((+), 0))", ["n m"], "m", "x[0].sum(0, dtype=a)", ALL),
    "middleSums": Program("b n m", "(xs: b.n.m.T): b.m.A = xs |> map(fun a => a |> transpose |> map(fun c => c |> map(fun x => X(x)) |> reduce((+), 0)))", ["b n m"], "b m",
                          "x[0].sum(1, dtype=a)", ALL),
    "matVec": Program("n m", "(xs: n.m.T) (y: m.T): n.A = xs |> map(fun row => zip(row, y) |> map(fun (p, q) => X(p) * X(q)) |> reduce((+), 0))", ["n m", "m"], "n",
                      "torch.mv(x[0], x[1])", "f32 f64"),
    "addBias": Program("n m", "(xs: n.m.T) (y: m.T): n.m.T = xs |> map(fun row => zip(row, y) |> map(fun (p, q) => max(0, p + q)))", ["n m", "m"], "n m",
                       "torch.relu(x[0] + x[1])", ALL),
    "scaleRows": Program("n m", "(xs: n.m.T) (y: n.T): n.m.T = zip(xs, y) |> map(fun (row, q) => row |> map(fun p => p * q))", ["n m", "n"], "n m", "x[0] * x[1][:, None]", ALL),
    "transposed": Program("n m", "(xs: n.m.T): m.n.T = xs |> transpose", ["n m"], "m n", "x[0].t().clone(memory_format=torch.contiguous_format)", ALL),
    "transposedEach": Program("b n m", "(xs: b.n.m.T): b.m.n.T = xs |> map(transpose)", ["b n m"], "b m n", "x[0].transpose(1, 2).clone(memory_format=torch.contiguous_format)", ALL),
    "lastFirst": Program("b n m", "(xs: b.n.m.T): m.b.n.T = xs |> map(transpose) |> transpose", ["b n m"], "m b n", "x[0].permute(2, 0, 1).clone(memory_format=torch.contiguous_format)", ALL),
    "softmax": Program("n m", """(xs: n.m.T): n.m.T = xs |> map(fun row =>
  let top = row |> map(fun x => X(x)) |> reduce(max, -inf) in
  let es = row |> map(fun x => exp(X(x) - top)) in
  let total = es |> reduce((+), 0) in
  es |> map(fun e => Y(e / total)))""", ["n m"], "n m", "torch.softmax(x[0], 1)", FLOATS),
    "logSumExp": Program("n m", """(xs: n.m.T): n.A = xs |> map(fun row =>
  let top = row |> map(fun x => X(x)) |> reduce(max, -inf) in
  top + log(row |> map(fun x => exp(X(x) - top)) |> reduce((+), 0)))""", ["n m"], "n", "torch.logsumexp(x[0].to(a), 1)", FLOATS),
    "layerNorm": Program("n m", """(xs: n.m.T) (gs bs: m.T): n.m.T where m >= 1 = xs |> map(fun row =>
  let mean = (row |> map(fun x => X(x)) |> reduce((+), 0)) / m in
  let centred = row |> map(fun x => X(x) - mean) in
  let scale = rsqrt((centred |> map(fun x => x * x) |> reduce((+), 0)) / m + 0.00001) in
  zip3(centred, gs, bs) |> map(fun (x, g, b) => Y(x * scale * X(g) + X(b))))""", ["n m", "m", "m"], "n m",
                         "torch.nn.functional.layer_norm(x[0], x[0].shape[1:], x[1], x[2])", FLOATS),
    "scan": Program("n", "(xs: n.T): n.T = xs |> scan((+), 0)", ["n"], "n", "torch.cumsum(x[0], 0, dtype=t)", "f32 f64 i32"),
    "rowScan": Program("n m", "(xs: n.m.T): n.m.T = xs |> map(scan((+), 0))", ["n m"], "n m", "torch.cumsum(x[0], 1, dtype=t)", "f32 f64 i32"),
}

# No shapes are drawn for these.
LISTED_PROGRAMS = {
    "softmaxEach": Program("b n m", """(xs: b.n.m.T): b.n.m.T = xs |> map(map(fun row =>
  let top = row |> map(fun x => X(x)) |> reduce(max, -inf) in
  let es = row |> map(fun x => exp(X(x) - top)) in
  let total = es |> reduce((+), 0) in
  es |> map(fun e => Y(e / total))))""", ["b n m"], "b n m", "torch.softmax(x[0], 2)", FLOATS),
    "centreColumns": Program("n m", """(xs: n.m.T): n.m.T where n >= 1 =
  let means = xs |> transpose |> map(fun c => (c |> map(fun x => X(x)) |> reduce((+), 0)) / n) in
  xs |> map(fun row => zip(row, means) |> map(fun (x, mean) => Y(X(x) - mean)))""", ["n m"], "n m", "x[0] - x[0].mean(0)", FLOATS),
    "matVecTwice": Program("n", """(xs: n.n.T) (y: n.T): n.T =
  let z = xs |> map(fun row => zip(row, y) |> map(fun (p, q) => p * q) |> reduce((+), 0)) in
  xs |> map(fun row => zip(row, z) |> map(fun (p, q) => p * q) |> reduce((+), 0))""", ["n n", "n"], "n", "torch.mv(x[0], torch.mv(x[0], x[1]))", "f32 f64"),
    "sumU8": Program("n", "(xs: n.T): i32 = xs |> map(fun x => cast(i32)(x)) |> reduce((+), 0)", ["n"], None, "x[0].sum(dtype=torch.int32)", "u8"),
}

M = 1000000
# Programs, types and sizes off the shapes that are usual in benchmarks: one axis short, one long, or neither a power of two.
LISTED = [
    ("rowSums", "f32", dict(n=10 * M, m=4)), ("rowSums", "f32", dict(n=M, m=128)), ("rowSums", "f32", dict(n=262144, m=256)), ("rowSums", "f32", dict(n=65536, m=1024)),
    ("rowSums", "f32", dict(n=4, m=10 * M)), ("rowSums", "f32", dict(n=16384, m=4096)), ("columnSums", "f32", dict(n=10 * M, m=3)), ("columnSums", "f32", dict(n=8192, m=64)),
    ("columnSums", "f32", dict(n=10 * M, m=4)), ("columnSums", "f32", dict(n=1000, m=1000)), ("columnSums", "f32", dict(n=4, m=10 * M)), ("softmax", "f32", dict(n=M, m=128)),
    ("softmax", "f32", dict(n=128, m=M)), ("softmax", "f32", dict(n=4096, m=32000)), ("softmaxEach", "f32", dict(b=8, n=512, m=1024)), ("centreColumns", "f32", dict(n=2048, m=2048)),
    ("matVecTwice", "f32", dict(n=2048)), ("matVec", "f32", dict(n=100, m=M)), ("matVec", "f32", dict(n=8192, m=64)), ("matVec", "f32", dict(n=64, m=8192)),
    ("transposed", "f32", dict(n=M, m=3)), ("transposedEach", "f32", dict(b=16384, n=32, m=32)), ("rowScan", "f32", dict(n=1024, m=65536)), ("scale", "f16", dict(n=1 << 28)),
    ("scale", "f32", dict(n=1 << 28)), ("sum", "f32", dict(n=100)), ("sum", "f32", dict(n=300)), ("sumU8", "u8", dict(n=1 << 28)), ("layerNorm", "f32", dict(n=65536, m=768)),
]

BYTES = {"f32": 4, "f16": 2, "bf16": 2, "f64": 8, "i32": 4, "u8": 1}


def program_of(name):
    return PROGRAMS.get(name) or LISTED_PROGRAMS[name]


def wide(kind):
    """The type A that a T is computed in."""
    return "f32" if kind in ("f16", "bf16") else kind


def entry_text(name, kind):
    """The program of entry `f` for elements of this type."""
    program, accumulate = program_of(name), wide(kind)
    text = program.text
    for mark, cast in (("X(", accumulate), ("Y(", kind)):
        text = text.replace(mark, f"cast({cast})(" if kind != accumulate else "(")
    text = text.replace("WORST", "lowest" if kind == "i32" else "-inf")
    for mark, word in ((".T", "." + kind), (": T", ": " + kind), (".A", "." + accumulate), (": A", ": " + accumulate)):
        text = text.replace(mark, word)
    return f"entry f {{{program.sizes}: nat}} {text}\n"


def bytes_moved(name, kind, sizes):
    """Each input read once and each result written once."""
    def cells(shape):
        count = 1
        for size in shape.split():
            count *= sizes[size]
        return count
    program = program_of(name)
    moved = sum(cells(shape) for shape in program.inputs) * BYTES[kind]
    if program.result:
        sums = ": n.A" in program.text or ": m.A" in program.text or ".m.A =" in program.text
        moved += cells(program.result) * BYTES[wide(kind) if sums else kind]
    return moved
