#!/usr/bin/env python3
"""What only looks at an array otherwise costs nothing: no division is left of it.

    tests/scripts/contiguous.py [SEED [PROGRAMS]]

Makes programs from a seed. Each is a chain of `join`, `split` and `transpose`, of which a `join`
takes two axes only where they lie one after the other in memory, and then a map of all elements, a
fold of each row, or the sum of all. The text of its kernels divides nothing that a thread computes:
sizes alone, and the thread's number by constants. Where rows are taken in another order than they lie
in, the number of a row is divided, once for the row. Prints `ok NAME` or `not ok NAME`."""
import os
import random
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass

import ptx_text

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("BUILD") or os.path.join(ROOT, "build")
RISEC = os.environ.get("RISEC") or os.path.join(BUILD, "release", "risec")
SEED, PROGRAMS = 1, 150
NAMES = "nmkl"


@dataclass
class Axis:
    """Its length is the product of `factors`, the last one innermost."""

    factors: tuple
    next: tuple  # what lies inside of it: the factors behind its last one, in memory


def product(factors):
    return "*".join(factors) if factors else "1"


def mapped(depth, step):
    return f"map({mapped(depth - 1, step)})" if depth else step


def moves(axes):
    """(text, axes behind it) of each step that this array allows."""
    found = []
    for d in range(len(axes)):
        a = axes[d]
        b = axes[d + 1] if d + 1 < len(axes) else None
        if b and a.next == b.factors + b.next:
            joined = Axis(a.factors + b.factors, b.next)
            found.append((mapped(d, "join"), axes[:d] + [joined] + axes[d + 2 :]))
        if b:
            found.append((mapped(d, "transpose"), axes[:d] + [b, a] + axes[d + 2 :]))
        for cut in range(1, len(a.factors)):
            outer, inner = a.factors[:cut], a.factors[cut:]
            parts = [Axis(outer, inner + a.next), Axis(inner, a.next)]
            split = mapped(d, f"split({product(inner)})")
            found.append((split, axes[:d] + parts + axes[d + 1 :]))
    return found


def program(rng):
    names = list(NAMES[: rng.randint(2, len(NAMES))])
    cuts = sorted(rng.sample(range(1, len(names)), rng.randint(0, len(names) - 1)))
    parts = [tuple(names[i:j]) for i, j in zip([0] + cuts, cuts + [len(names)])]
    axes = [Axis(part, sum(parts[k + 1 :], ())) for k, part in enumerate(parts)]
    given = ".".join(f"({product(a.factors)})" for a in axes) + ".f32"
    steps = []
    for _ in range(rng.randint(1, 6)):
        step, axes = rng.choice(moves(axes))
        steps.append(step)
    while rng.random() < 0.3:
        joins = [m for m in moves(axes) if m[0].endswith("join" + ")" * m[0].count("map("))]
        if not joins:
            break
        step, axes = joins[0]
        steps.append(step)
    lengths = [f"({product(a.factors)})" for a in axes]
    end = rng.choice(("map", "rows", "sum"))
    if end == "sum" and len(axes) == 1:
        steps.append("reduce((+), 0)")
        result = "f32"
    elif end == "rows" and len(axes) > 1:
        steps.append(mapped(len(axes) - 1, "reduce((+), 0)"))
        result = ".".join(lengths[:-1]) + ".f32"
    else:
        steps.append(mapped(len(axes), "fun x => x + 1"))
        result = ".".join(lengths) + ".f32"
    kept = axes[:-1] if end == "rows" and len(axes) > 1 else axes if steps[-1].startswith("map") else []
    moved = any(a.next != b.factors + b.next for a, b in zip(kept, kept[1:]))
    facts = ", ".join(f"{name} >= 1" for name in names)
    head = f"entry f {{{' '.join(names)}: nat}} (xs: {given}): {result} where {facts}"
    return f"{head} =\n  xs |> {' |> '.join(steps)}\n", moved


# What a thread, warp or lane is of its block, by a constant: shifts.
OF_THREADS = re.compile(r"\b(?:threadIdx\.x|thread|warp|lane) [/%] \d+\b")
# The part of a long row that is a block's, and whose row: once for a block.
OF_BLOCKS = re.compile(r"\bblockZ? [/%] size(?:_\d+)?\b")
# A size by a constant, and how many parts there are of some size.
OF_SIZES = re.compile(r"\b[nmkl] / \d+\b|/ \(size(?:_\d+)?(?:\*\w+)+\)|floor_mod\(\(+[^,]*size[^,]*, \d+\)|\(size(?:_\d+)? \+ \d+\) / \d+")
# The places of a thread's own folds among all.
OF_FOLDS = re.compile(r"(?:\bi|\bi\*4|\bi\*4 \+ \d\)|\bthread\)|\bthread \+ \d+\)) [/%] (?:[nmkl]\b|\([nmkl*]+\))|\) / [nmkl]\b|\(\) % [nmkl]\b")  # twice: what is left of one is divided again
KNOWN = {"const", "int", "long", "Index", "if", "else", "numSM", "nat_min", "nat_max", "floor_div", *NAMES}
NAMED = re.compile(r"\s*const (?:int|long long|Index) (\w+) = (.*);")


def divisions(text, rows=False, folds=False):
    """Lines of kernels that divide something else than sizes; `rows`: than sizes, and a row's number for its place; `folds`: or a fold's number for its place."""
    found, number = [], {"i", "block", "thread", "warp", "lane"} if rows else set()  # which count rows
    for kernel in re.findall(r'^(?:extern "C" __global__|static __device__ __forceinline__ void).*?^\}', ptx_text.unwrapped(text), re.M | re.S):
        sizes = set(KNOWN)
        for line in kernel.splitlines()[2:]:
            line = re.sub(r"//.*", "", line)
            line = re.sub(r"\bby_\w+", "n", line)  # the divisor of a size, or of a product of sizes
            for of in (OF_THREADS, OF_BLOCKS, OF_SIZES, *(folds * 2 * [OF_FOLDS])):
                line = of.sub("", line)
            named = NAMED.match(line)
            words = set(re.findall(r"[A-Za-z_]\w*", named[2] if named else line))
            if named and words <= sizes:
                sizes.add(named[1])
            elif named and re.fullmatch(r"base(_\d+)?", named[1]) and words <= sizes | number:
                continue
            elif named and re.fullmatch(r"(quotient|rest)(_\d+)?", named[1]) and words <= sizes | (number & {"block"}):
                continue  # once for a block
            elif re.search(r" / | % |floor_(?:div|mod)", line) and not words <= sizes:
                found.append(line.strip())
    return found


# Its axes lie apart: a place is divided into a row and a column.
APART = """entry f {n m: nat} (xs: n.m.f32): (m*n + 1).f32 =
  xs |> transpose |> join |> padCst(1, 0, 0) |> map(fun x => x + 1)
"""


def emitted(path, source):
    with open(path, "w") as file:
        file.write(source)
    return subprocess.run([RISEC, path, "--emit=cuda"], capture_output=True, text=True, timeout=120)


def main(args):
    seed, count = (int(a) for a in (args + [SEED, PROGRAMS][len(args) :]))
    rng, wrong, refused, checked = random.Random(seed), [], [], 0
    with tempfile.TemporaryDirectory() as work:
        path = os.path.join(work, "chain.rise")
        for k in range(count):
            source, moved = program(rng)
            done = emitted(path, source)
            said = [line for line in done.stderr.splitlines() if "error" in line]
            if done.returncode:
                refused += [f"program {k}: {line}" for line in source.splitlines() + said[:1]]
            # A map whose axes were moved is one of numbered vectors: their numbers are divided, to find what they read.
            vectors = moved and "fun x" in source
            checked += not vectors
            found = [] if vectors else divisions(done.stdout, moved, "reduce" in source)
            if found:
                wrong += [f"program {k}: {line}" for line in source.splitlines() + found[:3]]
        seen = divisions(emitted(path, APART).stdout)
    for bad, what in (([] if seen else [APART.strip()], "a division is seen where axes lie apart"),
                      (refused, f"{count} chains of views, seed {seed}, are accepted"),
                      (wrong or ["too few"] * (2 * checked < count), "their kernels divide sizes alone")):
        print(f"{'not ok' if bad else 'ok'} {what}")
        for line in bad:
            print("# " + line)
    return bool(wrong or refused or not seen)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
