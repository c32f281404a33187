#!/usr/bin/env python3
"""Times folds over drawn axes, permutations of drawn axes, and one program in all types, against kernels that move as many bytes in order.

    bench/shapes/axes.py CSV [--seed 19] [--folds 40] [--permutations 40] [--types] [--seconds 460]

A fold is over a subset of the axes of an array of four, with 2^24 to 2^27 floats and axes of 3 to 10^6. A permutation is of an array of two to five axes, with elements of 1, 2, 4 or
8 bytes. `part` is the time of a kernel that reads (and, for permutations, writes) as many bytes in order, as a part of the time of the program: both are programs of one line, compiled
by risec in the same run, and take turns. With --types, `part` is the rate in bytes of a type, as a part of that of f32.

Each result is compared with torch's, bit for bit, as all inputs are small whole numbers. Ten runs of a program have to give the same bits. Rows that CSV has already are not
measured again. Needs the Python package, the NVIDIA driver, NVRTC and torch. The method is that of run.py."""
import argparse
import csv
import gc
import itertools
import math
import os
import random
import statistics
import sys
import time

from run import CHAIN, ROTATE, torch_times

FIELDS = ["kind", "type", "shape", "axes", "us", "p10", "p90", "reference_us", "part", "device"]
NAMES = "abcde"
TYPES = {1: "u8", 2: "i16", 4: "f32", 8: "f64"}


def log_uniform(source, low, high):
    return math.exp(source.uniform(math.log(low), math.log(high)))


def draw_shape(source, rank, least, most, shortest, longest):
    """Axes in a random order, whose product is between the bounds."""
    while True:
        left, shape = log_uniform(source, least, most), []
        for _ in range(rank - 1):
            shape.append(round(log_uniform(source, shortest, max(shortest, min(longest, left)))))
            left /= shape[-1]
        shape.append(round(left))
        if all(shortest <= n <= longest for n in shape) and least <= math.prod(shape) <= most:
            source.shuffle(shape)
            return shape


def swaps(order):
    """What brings the axes into this order: patterns that exchange neighbours."""
    now, text = list(range(len(order))), ""
    for to, axis in enumerate(order):
        for at in range(now.index(axis), to, -1):
            now[at - 1], now[at] = now[at], now[at - 1]
            text += " |> " + "map(" * (at - 1) + "transpose" + ")" * (at - 1)
    return text


def fold_text(rank, folded):
    kept = [axis for axis in range(rank) if axis not in folded]
    fold = "xs" + " |> join" * (len(folded) - 1) + " |> reduce((+), 0)"
    for k in range(len(kept)):
        fold = f"xs |> map(fun xs => {fold})"
    body = "xs" + swaps(kept + folded) + fold[2:]
    sizes, shape = " ".join(NAMES[:rank]), ".".join(NAMES[:rank])
    return f"entry f {{{sizes}: nat}} (xs: {shape}.f32): {''.join(NAMES[k] + '.' for k in kept)}f32 =\n  {body}\n"


def permutation_text(order, kind):
    sizes, shape = " ".join(NAMES[:len(order)]), ".".join(NAMES[:len(order)])
    return f"entry f {{{sizes}: nat}} (xs: {shape}.{kind}): {'.'.join(NAMES[k] for k in order)}.{kind} =\n  xs{swaps(order)}\n"


SUM = "entry f {n: nat} (xs: n.f32): f32 = xs |> reduce((+), 0)\n"
COPY = "entry f {n: nat} (xs: n.f32): n.f32 = xs |> map(fun x => x + 1)\n"
# Programs in all types: text with T, the shape for 2^27 bytes of b-byte elements, and the least part for u8 and i8; None: of types with fractions.
IN_TYPES = {
    "sum": ("entry f {n: nat} (xs: n.T): T = xs |> reduce((+), 0)", lambda b: (2**27 // b,), 0.85),
    "scale": ("entry f {n: nat} (xs: n.T): n.T = xs |> map(fun x => x + x)", lambda b: (2**27 // b,), 0.85),
    "add": ("entry f {n: nat} (xs ys: n.T): n.T = zip(xs, ys) |> map(fun (x, y) => x + y)", lambda b: (2**27 // b,), 0.85),
    "rows of 1000": ("entry f {n m: nat} (xs: n.m.T): n.T = xs |> map(reduce(max, lowest))", lambda b: (2**27 // b // 1000, 1000), 0.5),
    "rows of 24": ("entry f {n m: nat} (xs: n.m.T): n.T = xs |> map(reduce(max, lowest))", lambda b: (2**27 // b // 24, 24), 0.5),
    "columns": ("entry f {n m: nat} (xs: n.m.T): m.T = xs |> transpose |> map(reduce(max, lowest))", lambda b: (2**27 // b // 4096, 4096), 0.5),
    "transposed": ("entry f {n m: nat} (xs: n.m.T): m.n.T = xs |> transpose", lambda b: (2**27 // b // 4096, 4096), 0.5),
    "scan": ("entry f {n: nat} (xs: n.T): n.T = xs |> scan(max, lowest)", lambda b: (2**27 // b,), 0.5),
    "softmax of 1000": ("entry f {n m: nat} (xs: n.m.T): n.m.T = xs |> map(fun row => let top = row |> reduce(max, -inf) in let es = row |> map(fun x => exp(x - top)) in "
                        "let s = es |> reduce((+), 0) in es |> map(fun e => e / s))", lambda b: (2**27 // b // 1000, 1000), None),
}


class Bench:
    def __init__(self):
        import risec
        import torch
        self.risec, self.torch, self.references, self.program = risec, torch, {}, None
        self.types = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "f64": torch.float64, "i32": torch.int32, "u8": torch.uint8, "i8": torch.int8, "i16": torch.int16}

    def array(self, shape, kind):
        low, high = (0, 4) if kind == "u8" else (-3, 4)
        return self.torch.randint(low, high, shape, device="cuda", dtype=self.torch.int8).to(self.types[kind])

    def copies(self, inputs):
        each = sum(x.numel() * x.element_size() for x in inputs)
        return [inputs] + [[x.clone() for x in inputs] for _ in range(min(CHAIN - 1, ROTATE // max(each, 1)))]

    def times(self, text, inputs, want=None):
        """Median, p10 and p90 of a program of one line. `want`: what torch makes of the inputs."""
        self.program = None
        gc.collect()  # now: a program that is freed while a graph is captured invalidates it
        self.torch.cuda.empty_cache()
        self.program = self.risec.compile(text, device="gpu")
        f = self.program["f"]
        first = f(*inputs)
        if want is not None and not self.torch.equal(first.to(want.dtype), want):
            raise RuntimeError("differs from torch")
        bits = first.reshape(-1).view(self.torch.uint8)
        for _ in range(9):
            if not self.torch.equal(f(*inputs).reshape(-1).view(self.torch.uint8), bits):
                raise RuntimeError("ten runs differ")
        del first, want, bits
        gc.disable()
        try:
            return torch_times(self.torch, lambda xs: f(*xs), self.copies(inputs))
        finally:
            gc.enable()

    def reference(self, text, count):
        if (text, count) not in self.references:
            self.references[text, count] = self.times(text, [self.array((count,), "f32")])[0]
        return self.references[text, count]

    def fold(self, shape, folded):
        xs = self.array(shape, "f32")
        count = xs.numel() + xs.numel() // math.prod(shape[k] for k in folded)
        times = self.times(fold_text(len(shape), folded), [xs], xs.double().sum(dim=folded).float())
        return times, self.reference(SUM, count)

    def permutation(self, shape, order, kind):
        xs = self.array(shape, kind)
        times = self.times(permutation_text(order, kind), [xs], xs.permute(order).contiguous())
        return times, self.reference(COPY, max(1, xs.numel() * xs.element_size() // 4))

    def typed(self, name, kind):
        text, shape_of, _ = IN_TYPES[name]
        size = self.torch.empty(0, dtype=self.types[kind]).element_size()
        return self.times(text.replace("lowest", "-inf" if "f" in kind else "lowest").replace("T", kind) + "\n",
                          [self.array(shape_of(size), kind) for _ in range(2 if "ys" in text else 1)])


def rows_of(o):
    source, rows = random.Random(o.seed), []
    for _ in range(o.folds):
        folded = source.choice([list(s) for n in range(1, 5) for s in itertools.combinations(range(4), n)])
        rows.append(("fold", "f32", draw_shape(source, 4, 2**24, 2**27, 3, 10**6), folded))
    for _ in range(o.permutations):
        rank, size = source.randint(2, 5), source.choice([1, 2, 4, 8])
        order = list(range(rank))
        while order == sorted(order):
            source.shuffle(order)
        rows.append(("permutation", TYPES[size], draw_shape(source, rank, 2**24, 2**27, 3, 10**6), order))
    for name in IN_TYPES if o.types else []:
        kinds = ["f32", "f16", "bf16", "f64"] + ([] if IN_TYPES[name][2] is None else ["i32", "u8", "i8"])
        rows += [(name, kind, [], []) for kind in kinds]
    return rows


def summary(path):
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for kind in ("fold", "permutation"):
        of_kind = [r for r in rows if r["kind"] == kind]
        for bytes_each in [None, *sorted(TYPES)] if kind == "permutation" else [None]:
            parts = sorted(float(r["part"]) for r in of_kind if bytes_each is None or r["type"] == TYPES[bytes_each])
            of = "" if bytes_each is None else f" of {bytes_each}-byte elements"
            if parts:
                print(f"{kind}s{of}: {len(parts)}, median {statistics.median(parts):.2f}, least {parts[0]:.2f}")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("csv")
    p.add_argument("--seed", type=int, default=19)
    p.add_argument("--folds", type=int, default=40)
    p.add_argument("--permutations", type=int, default=40)
    p.add_argument("--types", action="store_true")
    p.add_argument("--seconds", type=float, default=460)
    p.add_argument("--list", action="store_true", help="print the programs and measure nothing")
    o = p.parse_args()
    began, rows = time.monotonic(), rows_of(o)
    if o.list:
        for kind, of, shape, axes in rows:
            print(f"-- {kind} {of} {'x'.join(map(str, shape))} {axes}")
            if shape:
                print(fold_text(4, axes) if kind == "fold" else permutation_text(axes, of), end="")
        return
    bench, done, of_f32 = Bench(), set(), {}
    device = bench.torch.cuda.get_device_name()
    if os.path.exists(o.csv):
        with open(o.csv, newline="", encoding="utf-8") as file:
            done = {(r["kind"], r["type"], r["shape"], r["axes"]) for r in csv.DictReader(file)}
    else:
        with open(o.csv, "w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerow(FIELDS)
    for kind, of, extents, axes in rows:
        shape, order = "x".join(map(str, extents)), " ".join(map(str, axes))
        if (kind, of, shape, order) in done and of != "f32":
            continue
        if time.monotonic() - began > o.seconds - 20:
            print("no time left: run it again with the same CSV")
            break
        try:
            if kind == "fold":
                times, reference = bench.fold(extents, axes)
            elif kind == "permutation":
                times, reference = bench.permutation(extents, axes, of)
            else:
                times = bench.typed(kind, of)
                reference = of_f32.setdefault(kind, times[0])
        except Exception as error:
            print(f"{kind} {of} {shape} {order}: {str(error).splitlines()[0]}", flush=True)
            continue
        finally:
            bench.torch.cuda.empty_cache()
        part = reference / times[0]
        print(f"{kind:16s} {of:5s} {shape:28s} {order:10s} {times[0]:9.2f} {reference:9.2f}  {part:5.2f}", flush=True)
        if (kind, of, shape, order) not in done:
            with open(o.csv, "a", newline="", encoding="utf-8") as file:
                csv.writer(file).writerow([kind, of, shape, order] + [f"{x:.3f}" for x in (*times, reference, part)] + [device])
    summary(o.csv)


if __name__ == "__main__":
    sys.exit(main())
