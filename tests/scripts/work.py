#!/usr/bin/env python3
"""Grades the scheduler: what its kernels do, against the work of the program as it is written.

    tests/scripts/work.py [FILE.rise... [ENTRY...]] [--scheduler nests|standard] [--least W]

The reference interpreter counts functions of scalars and elements read of named arrays, each `let`
once: W is that pair. The simulator counts the same of all lanes. Each of the two may be at most
2 W + 1000 for each kernel + 1000 for each block. Sizes grow until W is at least 10^6 (--least).
tests/work/exceptions names entries that may do more, each with its factor and the reason.
Prints `ok NAME`, `not ok NAME` or `skip NAME: REASON`."""
import glob
import json
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("BUILD") or os.path.join(ROOT, "build")
RISEC = os.environ.get("RISEC") or os.path.join(BUILD, "release", "risec")
EXCEPTIONS = os.path.join(ROOT, "tests", "work", "exceptions")
LAUNCH = BLOCK = 1000
MOST = 1 << 22  # the largest size that is tried
SECONDS = 100
DEFAULT = ("tests/nests/kernels.rise", "tests/nests/rows.rise", "tests/nests/scans.rise", "tests/nests/stages.rise")
PAIRS = (("functions", "laneFunctions"), ("loads", "laneLoads"))


def run(*arguments):
    try:
        done = subprocess.run([RISEC, "run", *arguments, "--json"], capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return None, f"more than {SECONDS} s"
    if done.returncode:
        return None, (done.stderr.strip().split("\n") or ["?"])[0]
    return json.loads(done.stdout), ""


def entries(path):
    """(name, sizes, inputs with their components) of each entry that names no strategy."""
    text = re.sub(r"--[^\n]*", "", open(path, encoding="utf-8").read())
    for match in re.finditer(r"^entry (\w+)(.*?)=(?!=)", text, re.M | re.S):
        head = match.group(2)
        if "lowered by" in head:
            continue
        sizes = [n for group in re.findall(r"\{([^}]*)\}", head)
                 for part in group.split(",") for n in part.split(":")[0].split()]
        inputs = [(name, m.group(2)) for m in re.finditer(r"\(([\w ]+):((?:[^()]|\([^()]*\))*)\)", head)
                  for name in m.group(1).split()]
        yield match.group(1), sizes, inputs


def arguments_of(sizes, inputs, size):
    out = []
    for name in sizes:
        out += ["--set", f"{name}={size}"]
    for name, kind in inputs:
        if kind.strip() == "nat":
            out += ["--set", f"{name}={size}"]
            continue
        tuples = re.search(r"\(([^()]*,[^()]*)\)", kind)
        parts = [f"{name}.{k + 1}" for k in range(tuples.group(1).count(",") + 1)] if tuples else [name]
        for part in parts:
            out += ["--arg", f"{part}=uniform"]
    return out


def measure(path, name, arguments, scheduler):
    counted, why = run(path, name, *arguments, f"--scheduler={scheduler}", "--profile")
    return (counted["profile"]["totals"] if counted else None), why


def grade(path, name, sizes, inputs, scheduler, least):
    """(factors, kernels, W, sizes) or a reason why there are none."""
    free = len(sizes) + sum(kind.strip() == "nat" for _, kind in inputs)
    size, why, best = 16, "no sizes", None
    while True:
        arguments = arguments_of(sizes, inputs, size)
        reference, why = run(path, name, *arguments, "--device=ref", "--stats")
        if reference is None:
            break
        work = reference["work"]
        best = (work, arguments, size)
        if max(work.values()) >= least or free == 0 or size * 2 > MOST:
            break
        size *= 2
    if best is None:
        return None, why
    work, arguments, size = best
    if max(work.values()) < least:
        return None, f"too little work: {max(work.values())} at {size}"
    totals, why = measure(path, name, arguments, scheduler)
    if totals is None:
        return None, why
    extra = LAUNCH * totals["kernels"] + BLOCK * totals["blocks"]
    factors = [max(0, totals[there] - extra) / max(1, work[here]) for here, there in PAIRS]
    return (factors, totals["kernels"], work, size), ""


def exceptions():
    if not os.path.exists(EXCEPTIONS):
        return {}
    lines = [line.split(None, 2) for line in open(EXCEPTIONS, encoding="utf-8") if line.strip() and line[0] != "#"]
    return {name: (float(factor), why.strip()) for name, factor, why in lines}


def main(words):
    scheduler, least, names = "nests", 10 ** 6, []
    words = list(words)
    while words:
        word = words.pop(0)
        if word == "--scheduler":
            scheduler = words.pop(0)
        elif word == "--least":
            least = int(words.pop(0))
        else:
            names.append(word)
    files = [n for n in names if n.endswith(".rise")]
    files = files or [path for pattern in DEFAULT for path in sorted(glob.glob(os.path.join(ROOT, pattern)))]
    wanted = [n for n in names if not n.endswith(".rise")]
    allowed, bad = exceptions(), 0
    for path in files:
        for name, sizes, inputs in entries(path):
            if wanted and name not in wanted:
                continue
            title = f"{os.path.basename(path)} {name}"
            result, why = grade(path, name, sizes, inputs, scheduler, least)
            if result is None:
                print(f"skip {title}: {why}", flush=True)
                continue
            factors, kernels, work, size = result
            most = allowed.get(f"{os.path.basename(path)}:{name}", (2, ""))[0]
            good = max(factors) <= most
            bad += not good
            print(f"{'ok' if good else 'not ok'} {title}: functions {factors[0]:.2f} W, loads {factors[1]:.2f} W, "
                  f"{kernels} kernels, W = ({work['functions']}, {work['loads']}) at {size}", flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
