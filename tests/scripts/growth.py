#!/usr/bin/env python3
"""What the compiler does grows in line with the program: instructions, counted by valgrind, at two lengths of the same program; and memory, of entries.
Lengths of 500 and 8,000 at the level `all` (RISEC_LEVEL)."""
import math
import os
import shutil
import subprocess
import tempfile

EXPONENT = 1.2
EACH_ENTRY = 0.5  # megabytes
MAPS, MAPS_TAKE = 2000, 1000  # megabytes; 2,000 took 4,800 and were refused
ALL = os.environ.get("RISEC_LEVEL") == "all"


def lets(n):
    named = "".join(f"  let x{i} = zip(x{i - 1}, x{i - 1} |> reverse) |> map(fun (a, b) => a + b) in\n" for i in range(1, n + 1))
    return "entry e {n: nat} (x0: n.f32): n.f32 =\n" + named + f"  x{n} |> mapGlobal(id)\n"


def scalars(n):
    named = "".join(f"    let x{i} = x{i - 1} * x{i - 1} + {i}.0 in\n" for i in range(1, n + 1))
    return "entry e {n: nat} (xs: n.f32): n.f32 =\n  xs |> mapGlobal(fun x0 =>\n" + named + f"    x{n})\n"


def same_names(n):
    """Printed as core, where each has a name of its own."""
    return "entry e {n: nat} (xs: n.f32): n.f32 =\n  xs |> mapGlobal(fun x =>\n" + "    let x = x * x + 1.0 in\n" * n + "    x)\n"


def terms(n):
    return "entry e {n: nat} (xs: n.f32): n.f32 = xs |> mapGlobal(fun x => " + " + ".join(f"x * {i}.5" for i in range(1, n + 1)) + ")\n"


def statements(n):
    """2^k of them, by definitions that use the one before twice."""
    k = n.bit_length() - 1
    defs = "".join(f"def g{i} (x: i32): i32 = g{i - 1}(g{i - 1}(x))\n" for i in range(1, k + 1))
    return "def g0 (x: i32): i32 = x * x + 1\n" + defs + f"entry e {{n: nat}} (xs: n.i32): n.i32 = xs |> mapGlobal(g{k})\n"


def conditions(n):
    return ("entry e {n: nat} (xs: n.f32): n.f32 =\n  generate(fun (i: idx[n]) => if " + " and ".join(f"i != {i + 3}" for i in range(n))
            + " then xs[i] else 8) |> mapGlobal(id)\n")


def maps(n):
    """Without a level: they are fused."""
    return "entry e {n: nat} (xs: n.f32): n.f32 = xs" + "".join(f" |> map(fun x => x + {i}.5)" for i in range(n)) + "\n"


def readers(n):
    """Arrays that are read by three others: stages."""
    named = "".join(f"  let x{i} = zip3(x{i - 1}, x{i - 2}, x{i - 3}) |> map(fun (a, b, c) => a * 1.5 + exp(b) - c) in\n" for i in range(4, n + 4))
    return "entry e {n: nat} (x1 x2 x3: n.f32): n.f32 =\n" + named + f"  x{n + 3}\n"


def names(n):
    """Of a function, each read twice."""
    return scalars(n).replace("mapGlobal", "map").replace("* x", "+ 0.5 * x")


def folds(n):
    """Of a row, each of what the one before gave."""
    named = "".join(f"    let s{i} = x{i} |> reduce((+), 0) in let x{i + 1} = x{i} |> map(fun x => exp(x - s{i})) in\n" for i in range(n))
    return "entry e {n m: nat} (xs: n.m.f32): n.m.f32 =\n  xs |> map(fun x0 =>\n" + named + f"    x{n})\n"


def entries(n):
    return "".join(f"entry e{i} {{n: nat}} (xs: n.f32): n.f32 = xs |> mapGlobal(fun x => x * {i})\n" for i in range(n))


def high_entries(n):
    return "".join(f"entry e{i} {{n: nat}} (xs: n.f32): f32 = xs |> map(fun x => x * {i}.5) |> reduce((+), 0)\n" for i in range(n))


def most_memory(text, *options):
    """The megabytes that a command takes at most."""
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/p.rise"
        with open(path, "w") as file:
            file.write(text)
        command = [os.environ["RISEC"], *[option.replace("FILE", path) for option in options]]
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == 0, command
    return usage.ru_maxrss / 1024


def memory():
    """An entry more takes its text alone: each is made in memory that goes before the next one begins."""
    short, long = (20, 200) if ALL else (5, 25)
    for name, options in (("check", ("check", "FILE")), ("compile", ("FILE", "-o", "FILE.cu", "-o", "FILE.json"))):
        a, b = (most_memory(high_entries(n), *options) for n in (short, long))
        each = (b - a) / (long - short)
        print(f"{'ok' if each <= EACH_ENTRY else 'not ok'} memory of {name}")
        print(f"# {short} high-level entries take {a:.1f} MB, {long} take {b:.1f} MB: {each:.2f} MB each, at most {EACH_ENTRY}")


def memory_of_maps():
    a = most_memory(maps(MAPS), "check", "FILE")
    print(f"{'ok' if a <= MAPS_TAKE else 'not ok'} memory of maps")
    print(f"# {MAPS} maps without a level take {a:.1f} MB, at most {MAPS_TAKE}")


def instructions(text, options):
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/p.rise"
        with open(path, "w") as file:
            file.write(text)
        run = subprocess.run(["valgrind", "--tool=cachegrind", "--cache-sim=no", f"--cachegrind-out-file={folder}/out", os.environ["RISEC"],
                              *[option.replace("FILE", path) for option in options]], check=True, capture_output=True, text=True)
    return int(next(line for line in run.stderr.splitlines() if "refs" in line).split(":")[1].replace(",", ""))


def main():
    compiled, core = ("FILE", "-o", "FILE.cu"), ("--emit=core", "FILE")
    nests = ("FILE", "-o", "FILE.cu")
    kinds = ((lets, 100, 500, compiled), (scalars, 100, 500, compiled), (scalars, 500, 500, core), (same_names, 500, 500, core), (terms, 100, 500, compiled),
             (statements, 128, 512, compiled), (conditions, 100, 500, compiled), (entries, 40, 500, compiled),
             (readers, 50, 100, nests), (names, 100, 200, nests), (maps, 250, 500, nests), (folds, 4, 2, nests),
             (maps, 250, 250, compiled))
    for make, short, at_all, options in kinds:
        short, long = (at_all, 16 * at_all) if ALL else (short, 2 * short)
        a, b = instructions(make(short), options), instructions(make(long), options)
        exponent = math.log(b / a) / math.log(long / short)
        print(f"{'ok' if exponent <= EXPONENT else 'not ok'} {make.__name__}{', as core' * (options is core)}{', by nests' * (options is nests)}")
        print(f"# {short} take {a:,} instructions, {long} take {b:,}: exponent {exponent:.2f}, at most {EXPONENT}")


if __name__ == "__main__":
    memory()
    memory_of_maps()
    if not shutil.which("valgrind"):
        print("skip growth: there is no valgrind")
    else:
        main()
