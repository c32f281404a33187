#!/usr/bin/env python3
"""A fault has one message wherever it stands: each failing program of tests/lower is checked again with views that change nothing around its inputs, before its
patterns, and behind names; the codes that `risec check` gives are the same. Views that map leave the
program to the scheduler, which mends some faults: parts that say who computes them get kernels of
their own. There no code is new; and where none is left, unit/test_programs runs what was made.

    tests/scripts/placements.py [WORD...]     of the programs with a word in their name

Prints `ok placements NAME` or `not ok placements NAME` for each way of placing, and lines with # for the programs that differ."""
import glob
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RISEC = os.environ.get("RISEC") or os.path.join(ROOT, "build", "release", "risec")
PROGRAMS = os.path.join(os.path.dirname(RISEC), "unit", "test_programs")
SIZES = "256"  # the largest that is tried
PATTERN = re.compile(r"\|>(\s*)(?=(?:mapGlobal|mapBlock|mapThreads|mapWarp|mapLane|mapSeq|mapSeqUnroll|reduceSeq|reduceSeqUnroll)\b)")
# What is nothing but another way to say an array.
MAPS = ["map(id)", "splitOnes |> map(reverse) |> join", "renamed"]
VIEWS = ["id", "reverse |> reverse", "splitOnes |> join", "splitOnes |> transpose |> transpose |> join", "named", *MAPS]
# Where another code is right: (program, way) and the codes, or None for any, with the reason.
EXCEPTIONS = {
    ("e0432.rise", "inputs"): ["E0432", "E0432"],  # `u` is not used: the strategy, which a map of views calls, leaves it out, and the rest is right
    ("e0432.rise", "results"): ["E0432", "E0432"],
    ("e0432.rise", "patterns"): ["E0431"] * 4,  # what is replaced in place is read as it lies there, and not through a map
    ("e0415_inside.rise", "results"): ["E0406", "E0415", "E0422"],  # behind a view it is no result any more, so the library's levels are asked for first
    ("e0404.rise", "patterns"): ["E0403"],  # the elements that drop leaves stay with their owners only where drop is the last view
}
LEAST_PLACED = 40  # programs that are well typed with the views around them, in each way
DEFS = """
def splitOnes {t: data} {n: nat} (xs: n.t): n.1.t = xs |> split(1)
def named {t: data} {n: nat} (xs: n.t): n.t = let ys = xs in ys
def renamed {t: data} {n: nat} (xs: n.t): n.t = xs |> map(fun x => let y = x in y) |> named
"""


def before_patterns(text, view):
    return PATTERN.sub(lambda m: f"|>{m[1]}{view} |> ", text)


ENTRY = re.compile(r"^entry\b", re.M)


def body_start(text):
    """Where the body of the entry that begins the text stands: behind the `=` that is in no bracket."""
    depth = 0
    for at, c in enumerate(text):
        depth += c in "([{"
        depth -= c in ")]}"
        if c == "=" and depth == 0 and text[at + 1] not in "=>" and text[at - 1] not in "=<>!":
            return at + 1
    return None


def each_entry(text, change):
    starts = [m.start() for m in ENTRY.finditer(text)] + [len(text)]
    parts = [text[: starts[0]]]
    for a, b in zip(starts, starts[1:]):
        entry = text[a:b]
        body = body_start(entry)
        parts.append(entry if body is None else change(entry[:body], entry[body:]))
    return "".join(parts)


def arrays(header):
    """The inputs that are arrays."""
    return re.findall(r"\((\w+): *[^()]*?\.\(?(?:[fiu]\d+|bool|bf16|\w+)", re.sub(r"\{[^}]*\}", "", header))


def around_inputs(text, view):
    def change(header, body):
        lets = "".join(f" let {name} = {name} |> {view} in" for name in arrays(header))
        return f"{header}{lets}{body}"
    return each_entry(text, change)


def around_results(text, view):
    def change(header, body):
        code = re.sub(r"--.*", "", body).strip()
        return f"{header} ({code}) |> {view}\n" if re.search(r"\)?: *[^:]*\.[^:]*$", header.split(" launch")[0].split("where")[0].rstrip(" =\n")) else header + body
    return each_entry(text, change)


def codes(text, folder, name):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    done = subprocess.run([RISEC, "check", path], capture_output=True, text=True, timeout=120)
    return sorted(re.findall(r"^[^\n]*?: (?:error|warning)\[(\w+)\]", done.stderr + done.stdout, re.M)), done.stderr + done.stdout


def runs_wrong(path):
    """What unit/test_programs says of a program that is not refused."""
    done = subprocess.run([PROGRAMS, SIZES, path], capture_output=True, text=True, timeout=120)
    return "" if done.returncode == 0 else f"{os.path.basename(path)}: {done.stdout}{done.stderr}"


def main():
    words = sys.argv[1:]
    programs = [p for p in sorted(glob.glob(f"{ROOT}/tests/lower/e04*.rise")) if not p.endswith("_near.rise") and (not words or any(w in p for w in words))]
    ways = [("inputs", around_inputs), ("patterns", before_patterns), ("results", around_results)]
    failed = False
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        def as_written(path):
            with open(path, encoding="utf-8") as file:
                text = file.read()
            return path, text, codes(text, folder, os.path.basename(path))[0]

        def placed(job):
            """None where it cannot be placed; else what is wrong, or nothing."""
            (path, text, want), way, change, view = job
            name = os.path.basename(path)
            changed = change(text, view)
            got, said = codes(changed + DEFS, folder, f"{way}_{name}")
            if changed == text or any(code.startswith("E03") for code in got):
                return None
            if got in (want, EXCEPTIONS.get((name, way))):
                return ""
            if view not in MAPS or Counter(got) - Counter(want):
                return f"{name}: {want}, and here {got}\n{said}"
            return "" if got else runs_wrong(os.path.join(folder, f"{way}_{name}"))

        written = list(pool.map(as_written, programs))
        for way, change in ways:
            for view in VIEWS:
                results = [r for r in pool.map(placed, [(w, way, change, view) for w in written]) if r is not None]
                wrong = [r for r in results if r]
                few = not words and len(results) < LEAST_PLACED
                print("not ok" if wrong or few else "ok", f"placements {way}: {view}")
                if few:
                    print(f"# only {len(results)} programs are well typed with it")
                for w in wrong:
                    print("".join(f"# {line}\n" for line in w.splitlines()[:4]), end="")
                failed |= bool(wrong) or few
    return failed


sys.exit(main())
