#!/usr/bin/env python3
"""A fold reads no sector of memory twice, whatever its operator and the type of its elements.

    tests/scripts/sectors.py [WORD...]   the table; WORD: only the types, and operators, named so

Of 20 operators of one to four components, one of them in rows too, with every type of elements, at sizes with ragged ends:
sectors that the simulator sees loaded and stored, for each that is needed. More than 1.05 is wrong.
The level `all` takes every operator with every type at all sizes; else each type has three of the
operators at two sizes, and each operator some type. Prints `ok NAME` or `not ok NAME`."""
import json
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("BUILD") or os.path.join(ROOT, "build")
RISEC = os.environ.get("RISEC") or os.path.join(BUILD, "release", "risec")
ALL = os.environ.get("RISEC_LEVEL") == "all" or len(sys.argv) > 1
MOST = 1.05
SIZES = (2**12 + 1, 2**16 - 3, 2**20 + 77, 2**22 - 5)
FEW_SIZES = (2**12 + 1, 2**20 + 77)

TYPES = "i8 u8 i16 u16 i32 u32 i64 u64 f16 bf16 f32 f64".split()

OPERATORS = """
operator greaterOp (a: T) (b: T): T unit LEAST, associative, commutative = if a < b then b else a
operator joinedOp (a: T) (b: T): T unit LEAST, associative, commutative =
  let less = a < b in let same = a == b in if less then b else if same then a else max(a, b)
operator betweenOp (a: (T, T)) (b: (T, T)): (T, T) unit (GREATEST, LEAST), associative, commutative =
  (if b.1 < a.1 then b.1 else a.1, if b.2 > a.2 then b.2 else a.2)
operator nearOp (a: (T, i64)) (b: (T, i64)): (T, i64) unit (GREATEST, highest), associative, commutative =
  if b.1 < a.1 or (a.1 == b.1 and b.2 < a.2) then b else a
operator placedOp (a: (T, i32)) (b: (T, i32)): (T, i32) unit (GREATEST, highest), associative, commutative =
  if b.1 < a.1 then b else if a.1 == b.1 then (if a.2 > b.2 then b else a) else a
operator mixedOp (a: (T, f32)) (b: (T, f32)): (T, f32) unit (0, -inf), associative, commutative =
  (a.1 + b.1, if a.2 < b.2 then b.2 else a.2)
operator smallOp (a: (T, u8)) (b: (T, u8)): (T, u8) unit (0, 0), associative, commutative =
  (a.1 + b.1, if a.2 < b.2 then b.2 else a.2)
operator wideOp (a: (T, f64)) (b: (T, f64)): (T, f64) unit (0, 0), associative, commutative =
  (max(a.1, b.1), a.2 + b.2)
operator saidOp (a: (T, bool)) (b: (T, bool)): (T, bool) unit (0, false), associative, commutative =
  (if a.1 < b.1 then b.1 else a.1, a.2 or b.2)
operator threeOp (a: (T, T, T)) (b: (T, T, T)): (T, T, T) unit (0, GREATEST, LEAST), associative, commutative =
  (a.1 + b.1, min(a.2, b.2), max(a.3, b.3))
operator threeKindsOp (a: (f64, T, i8)) (b: (f64, T, i8)): (f64, T, i8) unit (0, 0, 0), associative, commutative =
  (a.1 + b.1, a.2 + b.2, max(a.3, b.3))
operator fourOp (a: (T, T, T, T)) (b: (T, T, T, T)): (T, T, T, T) unit (0, 0, LEAST, 0), associative, commutative =
  let s = a.1 + b.1 in let top = if a.3 < b.3 then b.3 else a.3 in (s, a.2 + b.2, top, a.4 + b.4)
operator pairsOp (a: ((T, i32), (i16, T))) (b: ((T, i32), (i16, T))): ((T, i32), (i16, T)) unit ((0, 0), (0, 0)), associative, commutative =
  ((a.1.1 + b.1.1, max(a.1.2, b.1.2)), (max(a.2.1, b.2.1), a.2.2 + b.2.2))
"""

# Of each entry: its arrays and their types, its result, and what it is.
ENTRIES = {
    "sum": ("xs: T", "T", "xs |> reduce((+), 0)"),
    "largest": ("xs: T", "T", "xs |> reduce(max, LEAST)"),
    "greater": ("xs: T", "T", "xs |> reduce(greaterOp, LEAST)"),
    "joined": ("xs: T", "T", "xs |> reduce(joinedOp, LEAST)"),
    "asFloat": ("xs: T", "f32", "xs |> map(fun x => cast(f32)(x)) |> reduce((+), 0)"),
    "squares": ("xs: T", "f64",
                "xs |> map(fun x => let y = cast(f64)(x) in y * y) |> reduce((+), 0)"),
    "count": ("xs: T", "i32",
              "xs |> map(fun x => if x > 1 and x < 5 or x == 7 then 1 else 0) |> reduce((+), 0)"),
    "kept": ("xs: T", "(n.T, i32)",
             "xs |> map(fun x => x + 1) |> nextKernel(fun ys =>"
             " (ys, ys |> map(fun y => if y < 5 then 1 else 0) |> reduce((+), 0)))"),
    "dot": ("xs: T, ys: T", "T", "zip(xs, ys) |> map(fun (x, y) => x * y) |> reduce((+), 0)"),
    "masked": ("keep: bool, xs: T", "T",
               "zip(keep, xs) |> map(fun (k, x) => if k then x else 0) |> reduce((+), 0)"),
    "trues": ("keep: bool, xs: T", "i32",
              "zip(keep, xs) |> map(fun (k, x) => if k and x < 3 then 1 else 0) |> reduce((+), 0)"),
    "between": ("xs: T", "(T, T)", "zip(xs, xs) |> reduce(betweenOp, (GREATEST, LEAST))"),
    "near": ("xs: T, ys: i64", "(T, i64)", "zip(xs, ys) |> reduce(nearOp, (GREATEST, highest))"),
    "placed": ("xs: T", "(T, i32)",
               "zip(xs, generate(fun j => cast(i32)(j))) |> reduce(placedOp, (GREATEST, highest))"),
    "mixed": ("xs: T, ys: f32", "(T, f32)", "zip(xs, ys) |> reduce(mixedOp, (0, -inf))"),
    "small": ("xs: T, ys: u8", "(T, u8)", "zip(xs, ys) |> reduce(smallOp, (0, 0))"),
    "wide": ("xs: T, ys: f64", "(T, f64)", "zip(xs, ys) |> reduce(wideOp, (0, 0))"),
    "said": ("xs: T, ys: bool", "(T, bool)", "zip(xs, ys) |> reduce(saidOp, (0, false))"),
    "three": ("xs: T, ys: T, zs: T", "(T, T, T)",
              "zip3(xs, ys, zs) |> reduce(threeOp, (0, GREATEST, LEAST))"),
    "rows": ("xs: T", "(ceilDiv(n, 512)).T",
             "xs |> padTo(512, 0) |> split(512) |> map(reduce((+), 0))"),
    "threeKinds": ("xs: f64, ys: T, zs: i8", "(f64, T, i8)",
                   "zip3(xs, ys, zs) |> reduce(threeKindsOp, (0, 0, 0))"),
    "four": ("xs: T", "(T, T, T, T)",
             "xs |> map(fun x => let y = x * x in (x, y, x, 1)) |> reduce(fourOp, (0, 0, LEAST, 0))"),
    "pairs": ("xs: T, ys: i32, zs: i16", "((T, i32), (i16, T))",
              "zip3(xs, ys, zs) |> map(fun (x, y, z) => ((x, y), (z, x))) |> reduce(pairsOp, ((0, 0), (0, 0)))"),
}


def program(scalar):
    lines = [OPERATORS]
    for name, (arrays, result, body) in ENTRIES.items():
        given = " ".join(f"({a.split(': ')[0]}: n.{a.split(': ')[1]})" for a in arrays.split(", "))
        lines.append(f"entry {name} {{n: nat}} {given}: {result} = {body}")
    words = {"T": scalar, "LEAST": "lowest", "GREATEST": "highest"}
    if "f" in scalar:
        words.update(LEAST="-inf", GREATEST="inf")
    return re.sub(r"\b(T|LEAST|GREATEST)\b", lambda found: words[found[0]], "\n".join(lines))


def counted(path, entry, n):
    """(sectors, sectors needed) of a launch, or what went wrong."""
    names = [a.split(":")[0] for a in ENTRIES[entry][0].split(", ")]
    command = [RISEC, "run", path, entry, "--profile", "--json", "--untuned", "--set", f"n={n}"]
    command += ["--set", "numSM=8"]
    command += [word for name in names for word in ("--arg", name + "=uniform")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    if done.returncode:
        return done.stdout[:200] + done.stderr[:400]
    kernels = json.loads(done.stdout)["profile"]["kernels"]
    return tuple(sum(k[name] for k in kernels) for name in ("sectors", "sectorsNeeded"))


def chosen(scalar, place):
    """The entries to try with a type."""
    names, words = list(ENTRIES), set(sys.argv[1:])
    if words & set(names):
        return [name for name in names if name in words]
    if ALL:
        return names
    return [names[(3 * place + k * 7) % len(names)] for k in range(3)]


def main():
    failed = False
    with tempfile.TemporaryDirectory() as work:
        for place, scalar in enumerate(TYPES):
            if set(sys.argv[1:]) & set(TYPES) and scalar not in sys.argv[1:]:
                continue
            path, wrong, table = os.path.join(work, scalar + ".rise"), [], []
            with open(path, "w", encoding="utf-8") as file:
                file.write(program(scalar))
            for entry in chosen(scalar, place):
                row = []
                for n in SIZES if ALL else FEW_SIZES:
                    found = counted(path, entry, n)
                    if isinstance(found, str):
                        wrong.append(f"{entry}, n = {n}: {found}".replace("\n", " "))
                        break
                    row.append(f"{found[0] / found[1]:.2f}")
                    if found[0] > MOST * found[1]:
                        wrong.append(f"{entry}, n = {n}: {found[0]} sectors, {found[1]} needed")
                table.append(f"{entry:10} " + " ".join(row))
            print(f"{'not ok' if wrong else 'ok'} {scalar}")
            for line in wrong + (table if ALL else []):
                print("# " + line)
            failed |= bool(wrong)
    return failed


if __name__ == "__main__":
    sys.exit(main())
