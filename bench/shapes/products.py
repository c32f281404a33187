#!/usr/bin/env python3
"""Times products of matrices of drawn shapes beside those of torch, which calls cuBLAS.

    bench/shapes/products.py CSV [--seed 20] [--rows 60] [--listed] [--compile] [--seconds 460] [--list]

The lengths n, m and k are log-uniform from 1 to 10^6, with 10^8 to 10^12 operations. Each operand lies in memory by rows or by columns. A third of the products are batched, and a third
have a bias, a relu or a factor. --listed adds square products, products of other functions and types, and small products of many. `factor` is risec's time over torch's, or over the
faster one of torch and torch.compile with --compile. TF32 is off.

Inputs are small whole numbers, so that each sum of floats is exact, and each result is compared with torch's. Rows that CSV has already are not measured again. Needs the Python
package, the NVIDIA driver, NVRTC and torch. The method is that of run.py."""
import argparse
import csv
import math
import os
import random
import statistics
import sys
import time

from axes import Bench, log_uniform
from run import torch_times

FIELDS = ["kind", "shape", "layout", "us", "p10", "p90", "rival_us", "factor", "tflops", "device"]
MOST_CELLS = 500_000_000
# Products of another function, operator or type: (name, f, op, unit, types of operands and result, torch). `a` is b x n x k, `c` is b x k x m.
OTHERS = {
    "distances": ("(x - y) * (x - y)", "(+)", "0", "f32", "f32", lambda t, a, c: t.cdist(a, c.mT.contiguous()) ** 2),
    "min-plus": ("x + y", "min", "inf", "f32", "f32", None),
    "f16": ("cast(f32)(x) * cast(f32)(y)", "(+)", "0", "f16", "f32", lambda t, a, c: a.float() @ c.float()),
    "bf16": ("cast(f32)(x) * cast(f32)(y)", "(+)", "0", "bf16", "f32", lambda t, a, c: a.float() @ c.float()),
    "i8": ("cast(i32)(x) * cast(i32)(y)", "(+)", "0", "i8", "i32", None),
    "f64": ("x * y", "(+)", "0", "f64", "f64", lambda t, a, c: a @ c),
}
LISTED = ([("product", (1, n, n, n), (0, 0)) for n in (1024, 2048, 4096, 8192)] + [("product", (1, 1000, 1000, 1000), (0, 0)), ("product", (1, 2049, 2049, 2049), (0, 0)),
          ("product", (1, 64, 64, 10**6), (0, 0)), ("product", (1, 10**6, 64, 64), (0, 0)), ("product", (2**20, 4, 4, 4), (0, 0)), ("product", (2**15, 32, 32, 32), (0, 0)),
          ("bias", (1, 2048, 2048, 2048), (0, 0)), ("product", (64, 512, 512, 512), (0, 0)), ("gram", (1, 1024, 1024, 65536), (1, 0))]
          + [("gram", (1, n, n, k), (across, 0)) for n, k in ((300, 300), (512, 4096), (1001, 3001), (1536, 256), (2048, 2048), (4096, 4096), (8192, 1024)) for across in (0, 1)]
          + [(name, (1, 2048, 2048, 2048), (0, 0)) for name in OTHERS])


def draw(seed, rows):
    source, drawn = random.Random(seed), []
    while len(drawn) < rows:
        b = round(log_uniform(source, 2, 1000)) if len(drawn) % 3 == 0 else 1
        n, m, k = (round(log_uniform(source, 1, 10**6)) for _ in range(3))
        cells = b * (n * k + k * m + n * m)
        if 10**8 <= 2 * b * n * m * k <= 10**12 and cells <= MOST_CELLS:
            kind = source.choice(["bias", "relu", "alpha"]) if len(drawn) % 3 == 1 else "product"
            drawn.append((kind, (b, n, m, k), (source.randint(0, 1), source.randint(0, 1))))
    return drawn


def text_of(kind, b, layout):
    f, op, unit, t, u, _ = OTHERS.get(kind, ("x * y", "(+)", "0", "f32", "f32", None))
    rows, columns = "k.n" if layout[0] else "n.k", "m.k" if layout[1] else "k.m"
    batch = "b." if b > 1 else ""
    fold = f"(zip(row, column) |> map(fun (x, y) => {f}) |> reduce({op}, {unit}))"
    of_a, of_c = "a" + " |> transpose" * layout[0], "c" + " |> transpose" * (1 - layout[1])
    inner = f"{of_a} |> map(fun row => {of_c} |> map(fun column => {fold}))"
    extra = ""
    if kind == "bias":
        inner, extra = f"{of_a} |> map(fun row => zip({of_c}, z) |> map(fun (column, z) => {fold} + z))", " (z: m.f32)"
    if kind in ("relu", "alpha"):
        inner = f"{of_a} |> map(fun row => {of_c} |> map(fun column => " + (f"max(0, {fold})" if kind == "relu" else f"0.5 * {fold}") + "))"
    if kind == "gram":
        inner, columns = f"{of_a} |> map(fun row => {of_a} |> map(fun column => {fold}))", None
    whole = f"zip(a, c) |> map(fun (a, c) => {inner})" if b > 1 else inner
    second = f" (c: {batch}{columns}.{t})" if columns else ""
    result = "n.n" if kind == "gram" else "n.m"
    return f"entry f {{{'b ' if b > 1 else ''}n m k: nat}} (a: {batch}{rows}.{t}){second}{extra}: {batch}{result}.{u} =\n  {whole}\n".replace("n m k" if kind == "gram" else "\0", "n k")


def measure(bench, row, compiled):
    kind, (b, n, m, k), layout = row
    torch = bench.torch
    t = OTHERS[kind][3] if kind in OTHERS else "f32"
    lead = (b,) if b > 1 else ()
    a = bench.array((*lead, *((k, n) if layout[0] else (n, k))), t)
    inputs = [a]
    if kind != "gram":
        inputs.append(bench.array((*lead, *((m, k) if layout[1] else (k, m))), t))
    if kind == "bias":
        inputs.append(bench.array((m,), "f32"))
    special = OTHERS[kind][5] if kind in OTHERS else None

    def rival(xs):
        left = xs[0].mT if layout[0] else xs[0]
        right = left.mT if kind == "gram" else xs[1].mT if layout[1] else xs[1]
        if kind == "min-plus":
            return torch.stack([(left[i:i + 16, :, None] + right[None]).amin(1) for i in range(0, 32, 16)])  # a part of it: the whole does not fit
        if special:
            return special(torch, left, right)
        if kind == "bias" and b == 1:
            return torch.addmm(xs[2], left, right)
        y = left.int() @ right.int() if t == "i8" else left @ right
        return y + xs[2] if kind == "bias" else torch.relu(y) if kind == "relu" else 0.5 * y if kind == "alpha" else y
    rivals = None if kind == "i8" else rival
    want = None
    if rivals and kind != "min-plus":
        want = rival(inputs)
    if kind == "distances":
        want = want.round()
    times = bench.times(text_of(kind, b, layout), inputs, want)
    del want
    best = float("nan")
    if rivals:
        copies = bench.copies(inputs)
        best = torch_times(torch, rivals, copies)[0] * (n / 32 if kind == "min-plus" else 1)
        if compiled and kind != "min-plus":
            torch._dynamo.reset()
            best = min(best, torch_times(torch, torch.compile(rivals), copies)[0])
    return times, best, 2 * b * n * m * k / times[0] / 1e6


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("csv")
    p.add_argument("--seed", type=int, default=20)
    p.add_argument("--rows", type=int, default=60)
    p.add_argument("--listed", action="store_true")
    p.add_argument("--compile", action="store_true")
    p.add_argument("--seconds", type=float, default=460)
    p.add_argument("--list", action="store_true", help="print the programs and measure nothing")
    o = p.parse_args()
    began, rows = time.monotonic(), (LISTED if o.listed else []) + draw(o.seed, o.rows)
    if o.list:
        for kind, shape, layout in rows:
            print(f"-- {kind} {'x'.join(map(str, shape))} {layout}")
            print(text_of(kind, shape[0], layout), end="")
        return
    bench, done = Bench(), set()
    device = bench.torch.cuda.get_device_name()
    if os.path.exists(o.csv):
        with open(o.csv, newline="", encoding="utf-8") as file:
            done = {(r["kind"], r["shape"], r["layout"]) for r in csv.DictReader(file)}
    else:
        with open(o.csv, "w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerow(FIELDS)
    for row in rows:
        kind, shape, layout = row[0], "x".join(map(str, row[1])), "".join("rc"[x] for x in row[2])
        if (kind, shape, layout) in done:
            continue
        if time.monotonic() - began > o.seconds - 20:
            print("no time left: run it again with the same CSV")
            break
        try:
            times, best, tflops = measure(bench, row, o.compile)
        except Exception as error:
            print(f"{kind} {shape} {layout}: {str(error).splitlines()[0] if str(error) else type(error).__name__}", flush=True)
            continue
        finally:
            bench.torch.cuda.empty_cache()
        factor = times[0] / best
        print(f"{kind:10s} {shape:28s} {layout} {times[0]:10.2f} {best:10.2f}  {factor:5.2f} {tflops:7.2f}", flush=True)
        with open(o.csv, "a", newline="", encoding="utf-8") as file:
            csv.writer(file).writerow([kind, shape, layout] + [f"{x:.3f}" for x in (*times, best, factor, tflops)] + [device])
    with open(o.csv, newline="", encoding="utf-8") as file:
        factors = sorted(float(r["factor"]) for r in csv.DictReader(file) if r["factor"] != "nan" and float(r["rival_us"]) >= 5)
    if factors:
        print(f"{len(factors)} products, geometric mean {math.exp(statistics.mean(map(math.log, factors))):.3f} of torch's time, ninth decile {factors[int(0.9 * len(factors))]:.2f}")


if __name__ == "__main__":
    sys.exit(main())
