#!/usr/bin/env python3
"""What the compiler does grows in line with the program: instructions, counted by valgrind, at two lengths of the same program.
Longer ones at the level `all` (RISEC_LEVEL)."""
import math
import os
import shutil
import subprocess
import tempfile

EXPONENT = 1.2
ALL = os.environ.get("RISEC_LEVEL") == "all"


def lets(n):
    named = "".join(f"  let x{i} = zip(x{i - 1}, x{i - 1} |> reverse) |> map(fun (a, b) => a + b) in\n" for i in range(1, n + 1))
    return "entry e {n: nat} (x0: n.f32): n.f32 =\n" + named + f"  x{n} |> mapGlobal(id)\n"


def scalars(n):
    named = "".join(f"    let x{i} = x{i - 1} * x{i - 1} + {i}.0 in\n" for i in range(1, n + 1))
    return "entry e {n: nat} (xs: n.f32): n.f32 =\n  xs |> mapGlobal(fun x0 =>\n" + named + f"    x{n})\n"


def terms(n):
    return "entry e {n: nat} (xs: n.f32): n.f32 = xs |> mapGlobal(fun x => " + " + ".join(f"x * {i}.5" for i in range(1, n + 1)) + ")\n"


def statements(n):
    """2^k of them, by definitions that use the one before twice."""
    k = n.bit_length() - 1
    defs = "".join(f"def g{i} (x: i32): i32 = g{i - 1}(g{i - 1}(x))\n" for i in range(1, k + 1))
    return "def g0 (x: i32): i32 = x * x + 1\n" + defs + f"entry e {{n: nat}} (xs: n.i32): n.i32 = xs |> mapGlobal(g{k})\n"


def entries(n):
    return "".join(f"entry e{i} {{n: nat}} (xs: n.f32): n.f32 = xs |> mapGlobal(fun x => x * {i})\n" for i in range(n))


def instructions(text):
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/p.rise"
        with open(path, "w") as file:
            file.write(text)
        run = subprocess.run(["valgrind", "--tool=cachegrind", "--cache-sim=no", f"--cachegrind-out-file={folder}/out", os.environ["RISEC"], path, "-o",
                              f"{folder}/p.cu"], check=True, capture_output=True, text=True)
    return int(next(line for line in run.stderr.splitlines() if "refs" in line).split(":")[1].replace(",", ""))


def main():
    for make, short, at_all in ((lets, 100, 180), (scalars, 100, 180), (terms, 100, 180), (statements, 128, 512), (entries, 40, 500)):
        short = at_all if ALL else short
        long = 2 * short
        a, b = instructions(make(short)), instructions(make(long))
        exponent = math.log(b / a) / math.log(long / short)
        print(f"{'ok' if exponent <= EXPONENT else 'not ok'} {make.__name__}")
        print(f"# {short} take {a:,} instructions, {long} take {b:,}: exponent {exponent:.2f}, at most {EXPONENT}")


if __name__ == "__main__":
    if not shutil.which("valgrind"):
        print("skip growth: there is no valgrind")
    else:
        main()
