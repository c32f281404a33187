#!/usr/bin/env python3
"""A fold that is computed in several places adds in one order: its readers see the same bits, by the scheduler, on the simulator.

    tests/scripts/one_order.py [SEED]

Each program reads a sum, a running sum or a bin in two places. It marks the places of its greatest one, and there has to be one; or gives the value and something made of it, which is made of it
here as well. Inputs are numbers whose sums round. Where the orders are two on purpose, that is seen. Prints `ok NAME` or `not ok NAME`."""
import array
import os
import random
import re
import struct
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("BUILD") or os.path.join(ROOT, "build")
RISEC = os.environ.get("RISEC") or os.path.join(BUILD, "release", "risec")
SIZES = ((7, 300), (100, 40))

ROWS = "let r = a |> map(fun x => x |> reduce((+), 0)) in "
GREATEST = "let t = r |> reduce(max, -inf) in r |> map(fun v => if v == t then 1 else 0)"
# Programs that mark the greatest.
MARKS = {
    "rows": "entry f {n m: nat} (a: n.m.f32): n.i32 = " + ROWS + GREATEST,
    "columns": "entry f {n m: nat} (a: n.m.f32): m.i32 = let r = a |> transpose |> map(fun x => x |> reduce((+), 0)) in " + GREATEST,
    "rows of a product": "entry f {n m: nat} (a: n.m.f32) (b: m.f32): n.i32 =\n  let r = a |> map(fun x => zip(x, b) |> map(fun (p, q) => p * q) |> reduce((+), 0)) in " + GREATEST,
    "prefixes": "entry f {n m: nat} (a: n.m.f32) (b: m.f32): m.i32 = let r = b |> scan((+), 0) in " + GREATEST,
    "bins": "entry f {n m: nat} (b: m.f32) (k: m.idx[5]) (a: n.m.f32): 5.i32 = let r = zip(k, b) |> reduceByIndex((+), 0, 5) in " + GREATEST,
    "windows": "entry f {n m: nat} (a: n.m.f32) (b: m.f32): m.i32 where m >= 1 =\n  let r = b |> padClamp(3, 3) |> slide(7, 1) |> map(fun w => w |> reduce((+), 0)) in " + GREATEST,
    "shares of rows": "entry f {n m: nat} (a: n.m.f32): n.i32 =\n  let s = a |> map(fun x => let t = x |> reduce((+), 0) in x |> map(fun v => v / t)) in\n"
                      "  let r = s |> map(fun x => x |> reduce((+), 0)) in " + GREATEST,
}
# Programs that give a value and what `again` makes of it.
PAIRS = {
    "a sum and less": ("entry f {n m: nat} (a: n.m.f32): (n.f32, n.f32) = " + ROWS + "(r, r |> map(fun v => v - 1))", lambda v, all_: v - 1),
    "less the greatest": ("entry f {n m: nat} (a: n.m.f32): (n.f32, n.f32) = " + ROWS + "let t = r |> reduce(max, -inf) in (r, r |> map(fun v => v - t))", lambda v, all_: v - max(all_)),
    "turned round": ("entry f {n m: nat} (a: n.m.f32): (n.f32, n.f32) = " + ROWS + "(r, r |> reverse |> map(fun v => v - 1) |> reverse)", lambda v, all_: v - 1),
    "threads": ("entry f {n m: nat} (a: n.m.f32): (n.f32, n.f32) =\n  let r = generate{n = n}(fun i => a[i] |> reduceSeq((+), 0)) in (r |> mapGlobal(id), r |> mapGlobal(fun v => v - 1))", lambda v, all_: v - 1),
    "in the row": ("entry f {n m: nat} (a: n.m.f32): (n.f32, n.f32) =\n  " + ROWS + "(r, zip(a, r) |> map(fun (x, s) => x |> map(fun v => s) |> reduce(max, -inf)))", lambda v, all_: v),
}
TWO_ORDERS = "entry f {n m: nat} (a: n.m.f32): n.i32 =\n  let r = a |> mapGlobal(reduceSeq((+), 0)) |> toGlobal in\n" \
             "  r |> nextKernel(fun r => zip(a, r) |> mapGlobal(fun (x, s) => if (x |> reverse |> reduceSeq((+), 0)) == s then 1 else 0))"


def single(x):
    return struct.unpack("f", struct.pack("f", x))[0]


def save(path, code, kind, shape, values):
    head = f"{{'descr': '<{kind}', 'fortran_order': False, 'shape': ({', '.join(map(str, shape))},), }}"
    head += " " * (-(11 + len(head)) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode())
        array.array(code, values).tofile(file)


def load(path):
    with open(path, "rb") as file:
        data = file.read()
    begin = 10 + struct.unpack("<H", data[8:10])[0]
    values = array.array({"f4": "f", "i4": "i"}[re.search(rb"'descr': '<(\w+)'", data)[1].decode()])
    values.frombytes(data[begin:])
    return list(values)


def results(source, n, m, rng, work):
    """The arrays that the program gives, and what is wrong with the run, or ""."""
    for name in os.listdir(work):
        os.remove(os.path.join(work, name))
    inputs = {"a": ("f", "f4", (n, m)), "b": ("f", "f4", (m,)), "k": ("i", "i4", (m,))}
    args = [RISEC, "run", os.path.join(work, "f.rise"), "--set", f"n={n}", "--set", f"m={m}", "--device", "sim", "--out", os.path.join(work, "out.npy")]
    with open(args[2], "w") as file:
        file.write(source + "\n")
    for name, (code, kind, shape) in inputs.items():
        if f"({name}: " not in source:
            continue
        count = shape[0] * (shape[1] if len(shape) > 1 else 1)
        save(os.path.join(work, name + ".npy"), code, kind, shape, [rng.randrange(5) if code == "i" else rng.random() + 0.1 for _ in range(count)])
        args += ["--arg", f"{name}={work}/{name}.npy"]
    done = subprocess.run(args, capture_output=True, text=True, timeout=300)
    outs = sorted(name for name in os.listdir(work) if name.startswith("out"))
    return [load(os.path.join(work, name)) for name in outs], "" if done.returncode == 0 else done.stdout + done.stderr


def check(name, source, holds, rng, work, wanted=True):
    for n, m in SIZES:
        found, said = results(source, n, m, rng, work)
        if said or holds(found) != wanted:
            print(f"not ok {name}\n# n = {n}, m = {m}: {said or 'its readers see different bits' if wanted else 'no difference is seen'}")
            return True
    print(f"ok {name}")
    return False


def main(seed):
    rng, failed = random.Random(seed), False
    print(f"# seed {seed}")
    with tempfile.TemporaryDirectory() as work:
        for name, source in MARKS.items():
            failed |= check(f"greatest of {name}", source, lambda found: sum(found[0]) >= 1, rng, work)
        for name, (source, again) in PAIRS.items():
            failed |= check(name, source, lambda found, again=again: [single(again(v, found[0])) for v in found[0]] == found[1], rng, work)
        failed |= check("two orders are seen", TWO_ORDERS, lambda found: all(found[0]), rng, work, wanted=False)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1))
