#!/usr/bin/env python3
"""Compares the quotient of each pair of f16 numbers, and of each pair of bf16 numbers, with the quotient
of f32 numbers that is rounded afterwards.

    tests/gpu/quotients.py RISEC DEVICE     a line `ok NAME` or `not ok NAME: why` for each type

Kernels compute these quotients by an approximation, which has to round to the same number. The quotient
of two f32 numbers is the nearest one, and a second rounding to so few bits changes nothing. A planted
fault, a divisor that is one unit in the last place larger, has to be found. On the simulator, only a few
pairs are compared."""
import os
import subprocess
import sys
import tempfile

import numpy as np

TEXT = """-- How many quotients of each x differ: they are not equal, not both NaN, or zeros of other signs.
entry f {{n m: nat}} (xs: n.f32) (ys: m.f32): n.i32 =
  xs |> map(fun x => ys |> map(fun y =>
    let found = cast(f32)(cast({t})(x) / cast({t})({divisor})) in
    let exact = cast(f32)(cast({t})(x / y)) in
    if (found == exact and 1 / found == 1 / exact) or (found != found and exact != exact)
    then 0 else 1) |> reduce((+), 0))
"""


def all_numbers(kind):
    bits = np.arange(1 << 16, dtype=np.uint32)
    if kind == "bf16":
        return (bits << 16).view(np.float32)
    return bits.astype(np.uint16).view(np.float16).astype(np.float32)


def differ(risec, device, kind, divisor, folder):
    """How many pairs differ."""
    source, numbers, out = (os.path.join(folder, name) for name in ("f.rise", "numbers.npy", "out.npy"))
    with open(source, "w") as file:
        file.write(TEXT.format(t=kind, divisor=divisor))
    xs = all_numbers(kind)
    np.save(numbers, xs if device == "gpu" else xs[:: 1 << 9])
    given = ["--arg", f"xs={numbers}", "--arg", f"ys={numbers}"]
    subprocess.run([risec, "run", source, "--device", device, *given, "--out", out], check=True, stdout=subprocess.DEVNULL)
    return int(np.load(out).astype(np.int64).sum())


def main():
    risec, device = sys.argv[1:3]
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for kind, step in ("f16", 2**-10), ("bf16", 2**-7):
            found = differ(risec, device, kind, "y", folder), differ(risec, device, kind, f"(y * {1 + step})", folder)
            good = found[0] == 0 and found[1] > 0
            wrong += not good
            print(f"ok quotients-{kind}" if good else f"not ok quotients-{kind}: {found[0]} differ; with a planted fault, {found[1]}")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
