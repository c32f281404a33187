#!/usr/bin/env python3
"""Times torch and torch.compile on the workloads of rivals.cu, by the same method, and prints the same columns as the benchmark's CSV.

    bench/torch_rivals.py [WORKLOADS [FILE.csv]] [--seconds S]    names with commas between, or all; FILE.csv: standard output

What cannot run is skipped by name, with the reason, on standard error: everything where there is no torch or no GPU. --seconds: begin nothing after so long. The first
call of each function is compared with the same in double precision."""
import argparse
import statistics
import sys
import time

CHAIN, ROUNDS, MAX_SECONDS, ROTATE_BYTES = 20, 15, 0.6, 256 << 20  # as in harness.cu
COLUMNS = "device,workload,n,m,contender,chain_us,chain_p10,chain_p90,alone_us,alone_p10,alone_p90,rate,unit,verdict"
FEW = [(1 << 16, 1), (1 << 20, 1), (1000007, 1), (1 << 26, 1)]
MATRIX = [(16384, 4096)]


def powers(first, last, more):
    return [(1 << k, 1) for k in range(first, last + 1, 2)] + [(n, 1) for n in more]


def workloads(torch):
    """name: (sizes, [(type, shape of n and m)] of the inputs, function, bytes or operations, unit, relative tolerance; 0: equal)"""
    f32, f64, f16, i32, i64 = torch.float32, torch.float64, torch.float16, torch.int32, torch.int64

    def array(kind):
        return [(kind, lambda n, m: (n,))]

    def each(size):
        return lambda n, m: size * n * m

    matrix, square = [(f32, lambda n, m: (n, m))], [(f32, lambda n, m: (n, n))]
    vector = [(f32, lambda n, m: (m,))]
    return {
        "sum": (powers(10, 30, (1000, 100003, 1000007, 100000007)), array(f32), lambda x: x.sum(), each(4), "GB/s", 1e-2),
        "max": (FEW, array(f32), lambda x: x.max(), each(4), "GB/s", 0),
        "argmin": (FEW, array(f32), lambda x: torch.min(x, 0), each(4), "GB/s", 0),
        "argmax": (FEW, array(f32), lambda x: torch.max(x, 0), each(4), "GB/s", 0),
        "mean_variance": (FEW, array(f32), lambda x: torch.var_mean(x, correction=0), each(4), "GB/s", 1e-2),
        "sum_i32": (FEW, array(i32), lambda x: x.sum(dtype=i32), each(4), "GB/s", 0),
        "sum_i64": (FEW, array(i64), lambda x: x.sum(), each(8), "GB/s", 0),
        "sum_f64": (FEW, array(f64), lambda x: x.sum(), each(8), "GB/s", 1e-9),
        "sum_f16": ([(1 << 20, 1), (1 << 27, 1)], array(f16), lambda x: x.sum(dtype=f32), each(2), "GB/s", 1e-2),
        "sum_bf16": ([(1 << 20, 1), (1 << 27, 1)], array(torch.bfloat16), lambda x: x.sum(dtype=f32), each(2), "GB/s", 1e-2),
        "minmax": ([(1 << 20, 1), (1 << 25, 1)], array(f64), lambda x: torch.aminmax(x), each(8), "GB/s", 0),
        "dot": (FEW, array(f32) * 2, lambda x, y: torch.dot(x, y), each(8), "GB/s", 1e-2),
        "asum": (FEW, array(f32), lambda x: x.abs().sum(), each(4), "GB/s", 1e-3),
        "nrm2": (FEW, array(f32), lambda x: torch.linalg.vector_norm(x), each(4), "GB/s", 1e-3),
        "row_sums": (MATRIX, matrix, lambda x: x.sum(1), each(4), "GB/s", 1e-3),
        "column_sums": (MATRIX, matrix, lambda x: x.sum(0), each(4), "GB/s", 1e-3),
        "gemv": ([(8192, 8192)], matrix + vector, lambda a, x: torch.mv(a, x), each(4), "GB/s", 1e-3),
        "softmax": (MATRIX, matrix, lambda x: torch.softmax(x, 1), each(8), "GB/s", 1e-3),
        "layer_norm": (MATRIX, matrix + vector * 2, lambda x, g, b: torch.nn.functional.layer_norm(x, x.shape[1:], g, b), each(8), "GB/s", 1e-3),
        "transpose": ([(8192, 8192)], matrix, lambda x: x.t().contiguous(), each(8), "GB/s", 0),
        "scan": (powers(16, 28, (1000007,)), array(i32), lambda x: torch.cumsum(x, 0, dtype=i32), each(8), "GB/s", 0),
        "matmul": ([(1024, 1), (2048, 1), (4096, 1), (8192, 1)], square * 2, lambda a, b: torch.mm(a, b), lambda n, m: 2.0 * n * n * n, "TFLOP/s", 1e-3),
    }


def skip(name, why):
    print(f"{name}: skipped: {why}", file=sys.stderr)


def random(torch, kind, shape):
    if kind.is_floating_point:
        return (torch.rand(shape, device="cuda", dtype=torch.float64 if kind == torch.float64 else torch.float32) * 2 - 1).to(kind)
    return torch.randint(-1000000, 1000000, shape, device="cuda", dtype=kind)


def results(value):
    return list(value) if isinstance(value, tuple) else [value]


def verdict(torch, function, inputs, tolerance):
    """The results compared with those in double precision, or on the host. Not the index of one of several equal elements."""
    if not inputs[0].is_floating_point() or tolerance == 0:
        exact = [x.cpu() for x in inputs]
    else:
        exact = [x.double() for x in inputs]
    for got, want in zip(results(function[0](*inputs)), results(function[1](*exact))):
        if inputs[0].is_floating_point() and not got.is_floating_point():
            continue
        got, want = got.double().cpu(), want.double().cpu()
        off, most = (got - want).abs().max().item(), want.abs().max().item()
        if not off <= tolerance * most:
            return f"wrong: off by {off} of {most}"
    return "ok"


class Times:
    def __init__(self, us):
        self.us = sorted(us)

    def at(self, q):
        return self.us[int(q * (len(self.us) - 1) + 0.5)] if self.us else float("nan")

    def text(self):
        return f"{self.at(0.5):.3f},{self.at(0.1):.3f},{self.at(0.9):.3f}"


def clock(torch, work):
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    work()
    end.record()
    end.synchronize()
    return start.elapsed_time(end) * 1000


def measure(torch, function, copies):
    for inputs in copies[:3]:
        function(*inputs)
    once = statistics.median(clock(torch, lambda: function(*copies[-1])) for _ in range(3))
    calls = max(1, min(CHAIN, int(MAX_SECONDS * 1e6 / ROUNDS / max(once, 1.0))))
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for i in range(calls):
            function(*copies[i % len(copies)])
    graph.replay()
    chained, alone = [], []
    for i in range(ROUNDS):
        chained.append(clock(torch, graph.replay) / calls)
        alone.append(clock(torch, lambda: function(*copies[i % len(copies)])))
    return Times(chained), Times(alone)


def run(torch, name, row, write, late):
    sizes, inputs, function, work, unit, tolerance = row
    device = torch.cuda.get_device_name()
    for n, m in sizes:
        copies = [[random(torch, kind, shape(n, m)) for kind, shape in inputs]]
        while len(copies) < CHAIN and len(copies) <= ROTATE_BYTES // sum(x.numel() * x.element_size() for x in copies[0]):
            copies.append([random(torch, kind, shape(n, m)) for kind, shape in inputs])
        for contender in ("torch", "torch.compile"):
            if late():
                skip(f"{name} {n} x {m}, {contender}", "no time left")
                continue
            try:
                torch.compiler.reset()
                made = torch.compile(function, dynamic=False) if contender == "torch.compile" else function
                said = verdict(torch, (made, function), copies[0], tolerance)
                chained, alone = measure(torch, made, copies)
            except Exception as error:  # whatever a compiler may raise: the others still run
                skip(f"{name} {n} x {m}, {contender}", str(error).strip().split("\n")[0])
                continue
            rate = work(n, m) / chained.at(0.5) * (1e-6 if unit == "TFLOP/s" else 1e-3)
            write(f"{device},{name},{n},{m},{contender},{chained.text()},{alone.text()},{rate:.1f},{unit},{said}")
        copies = None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("workloads", nargs="?", default="all")
    parser.add_argument("csv", nargs="?")
    parser.add_argument("--seconds", type=float, default=1e9)
    options = parser.parse_args()
    wanted = None if options.workloads == "all" else options.workloads.split(",")
    try:
        import torch
    except ImportError:
        for name in wanted or ["all workloads"]:
            skip(name, "there is no torch")
        return
    if not torch.cuda.is_available():
        for name in wanted or ["all workloads"]:
            skip(name, "torch sees no GPU")
        return
    torch.backends.cuda.matmul.allow_tf32 = False
    table, began = workloads(torch), time.monotonic()
    out = open(options.csv, "w", encoding="utf-8") if options.csv else sys.stdout

    def write(line):
        print(line, file=out, flush=True)

    write(COLUMNS)
    for name in wanted or table:
        if name in table:
            run(torch, name, table[name], write, lambda: time.monotonic() - began > options.seconds)
        else:
            skip(name, "there is no such workload")


if __name__ == "__main__":
    main()
