#!/usr/bin/env python3
"""How a program is spelled does not decide how fast it is: of tests/run/spellings_*.rise, every spelling of one operator costs what the first one costs, within
5 % of the simulator's instructions and sectors, and has the reference's values. The text keeps the order in which operands were written.
A length that is a constant saves instructions: of spellings_rows, all are within 10 %.
RISEC names the binary."""
import os
import re
import subprocess
import sys

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
RISEC = os.environ["RISEC"]
WITHIN = 1.05
# Of each file: the arguments, at which sizes, of which an entry takes its own, and what is compared with what: a name, and all entries whose names go on from it.
CASES = (
    ("spellings_first", ["xs=uniform"], (["n=2^12"], ["n=2^14"], ["n=2^17"]), ["first"], WITHIN),
    ("spellings_product", ["a=uniform", "b=uniform"], (["n=64", "m=64", "k=64"], ["n=37", "m=50", "k=19"]), ["product", "ofRows", "tiled"], WITHIN),
    ("spellings_rows", ["xs=uniform"], (["n=33", "m=96"], ["n=1000", "m=96"]), ["softmax", "spread"], 1.1),
    ("spellings_rows", ["xs=uniform"], (["n=33", "m=1000"],), ["longSoftmax"], 1.1),
)
OTHER = ("spellings_first", "last", "first", ["xs=uniform"], ["n=2^14"])  # no spelling of that operator: it must be seen to be another
COUNTS = ("instr", "sectors")


def risec(*args):
    done = subprocess.run([RISEC, *args], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def costs(path, entry, args, sizes):
    """{instr: .., sectors: ..}, or what went wrong."""
    with open(path) as file:
        header = re.search(rf"^entry {entry} \{{(.*?): nat", file.read(), re.M)
    sizes = [size for size in sizes if size.split("=")[0] in header[1].split()]
    line = [word for size in sizes for word in ("--set", size)] + [word for arg in args for word in ("--arg", arg)]
    code, out, err = risec("run", path, entry, *line, "--profile", "--verify")
    if code or not re.search("equals the reference|differs by at most .*; bound", out):
        return out[:300] + err[:300]
    names = next(row for row in out.splitlines() if row.split()[:1] == ["instr"]).split()
    total = next(row for row in out.splitlines() if row.startswith("total ")).split()[1:]
    return {name: int(total[names.index(name)]) for name in COUNTS}


def within(one, other, part=WITHIN):
    return all(max(one[c], other[c]) <= part * min(one[c], other[c]) for c in COUNTS)


def say(name, wrong):
    print(f"{'not ok' if wrong else 'ok'} spellings-{name}")
    for line in wrong:
        print("#", line.replace("\n", " "))
    return bool(wrong)


def entries_of(path):
    with open(path) as file:
        return re.findall(r"^entry (\w+)", file.read(), re.M)


def main():
    failed = False
    for file, args, sizes, groups, part in CASES:
        path = f"{ROOT}/tests/run/{file}.rise"
        for base in groups:
            others = [e for e in entries_of(path) if re.fullmatch(base + r"[A-Z]\w*", e)]
            wrong = [] if others else ["there is no other spelling"]
            for size in sizes:
                first = costs(path, base, args, size)
                for entry in others:
                    own = costs(path, entry, args, size)
                    if isinstance(first, str) or isinstance(own, str) or not within(first, own, part):
                        wrong.append(f"{entry}, {' '.join(size)}: {own}, and {base} {first}")
            failed |= say(base, wrong)
    file, entry, base, args, size = OTHER
    path = f"{ROOT}/tests/run/{file}.rise"
    own, first = costs(path, entry, args, size), costs(path, base, args, size)
    same = isinstance(own, str) or isinstance(first, str) or within(own, first)
    failed |= say("another", [f"{entry}: {own}, and {base} {first}"] if same else [])
    text = {}
    for entry in ("product", "productTurned"):
        code, out, err = risec("--emit=cuda", "--entry", entry, f"{ROOT}/tests/run/spellings_product.rise")
        text[entry] = re.findall(r"sums\[\w+\] \+= (\w+)\[.*?\] \* (\w+)\[", out)
    pairs = [sorted(set(text[entry])) for entry in ("product", "productTurned")]
    kept = len(pairs[0]) == 1 and pairs[1] == [pairs[0][0][::-1]]
    failed |= say("text", [] if kept else [f"the factors are {pairs[0]} and {pairs[1]}"])
    return failed


sys.exit(main())
