#!/usr/bin/env python3
"""Length is no depth: long programs of many kinds are checked, printed in every form, and run, on both builds; text that is nested without end is refused, at a place.

Each kind is a chain of N links: `let`s, terms, stages, definitions, branches. The reference and the simulator give the value that is known."""
import os
import re
import subprocess
import sys
import tempfile

RISEC, SAN = os.environ["RISEC"], os.environ.get("RISEC_SAN") or os.environ["RISEC"]
LONG, LONG_SAN = 10000, 1500
NESTED = 200000
FORMS = ("ast", "core", "imp")
LIMIT = 120  # seconds; only against hanging for ever
failed = False


def each_element(body):
    return f"entry e {{n: nat}} (xs: n.i32): n.i32 = xs |> mapGlobal(fun x => {body})\n"


def over_array(stages):
    return f"entry e {{n: nat}} (xs: n.i32): n.i32 =\n  xs{stages}\n  |> mapGlobal(id)\n"


def as_i32(value):
    return (value + 2**31) % 2**32 - 2**31


def squares(n):
    x = 1
    for _ in range(n):
        x = as_i32(x * x + 1)
    return x


SUM = lambda n: as_i32(1 + n * (n - 1) // 2)  # noqa: E731

# name: (program of n links, what it makes of 1)
KINDS = {
    "lets of scalars": (lambda n: each_element("\n" + "".join(f"    let x{i} = {f'x{i - 1}' if i else 'x'} + {i} in\n" for i in range(n)) + f"    x{n - 1}"), SUM),
    "lets that are used twice": (lambda n: each_element("\n" + "".join(f"    let y{i + 1} = y{i} * y{i} + 1 in\n" for i in range(n)).replace("y0 ", "x ") + f"    y{n}"), squares),
    "lets of arrays": (lambda n: "entry e {n: nat} (xs: n.i32): n.i32 =\n" + "".join(f"  let y{i} = {f'y{i - 1}' if i else 'xs'} |> map(fun x => x + {i}) in\n" for i in range(n))
                       + f"  y{n - 1} |> mapGlobal(id)\n", SUM),
    "terms of a sum": (lambda n: each_element("x" + "".join(f" + {i}" for i in range(n))), SUM),
    "terms of products": (lambda n: each_element(" + ".join(f"x * {i}" for i in range(1, n + 1))), lambda n: as_i32(n * (n + 1) // 2)),
    "nested sums": (lambda n: each_element("(1 + " * n + "x" + ")" * n), lambda n: n + 1),
    "stages that move": (lambda n: over_array("\n  |> reverse" * (n // 2 * 2)), lambda n: 1),
    "stages that compute": (lambda n: over_array("".join(f"\n  |> map(fun x => x + {i})" for i in range(n))), SUM),
    "stages of one definition": (lambda n: "def f (x: i32): i32 = x * x + 1\n" + each_element("x" + " |> f" * n), squares),
    "functions that are joined": (lambda n: f"entry e {{n: nat}} (xs: n.i32): n.i32 = xs |> mapGlobal(id{''.join(f' >> (fun x => x + {i})' for i in range(n))})\n", SUM),
    "branches": (lambda n: each_element("".join(f"if x == {i + 2} then {i} else " for i in range(n)) + "7"), lambda n: 7),
    "conditions in parentheses": (lambda n: each_element("if " + "".join(f"x != {i + 2} and (" for i in range(n)) + "x == 1" + ")" * n + " then 7 else 8"), lambda n: 7),
    "conditions of indices": (lambda n: over_array("").replace("xs\n", "generate(fun (i: idx[n]) => if " + " and ".join(f"i != {i + 3}" for i in range(n)) + " then xs[i] else 8)\n"), lambda n: 1),
    "conditions that rest on those before": (lambda n: over_array("").replace("xs\n", f"generate(fun (i: idx[n]) => if i + {n} < n" + "".join(f" and (xs[i + {i + 1}] == 1" for i in range(n)) + ")" * n + " then 8 else 7)\n"), lambda n: 7),
    "definitions": (lambda n: "def g0 (x: i32): i32 = x\n" + "".join(f"def g{i + 1} (x: i32): i32 = g{i}(x) + {i}\n" for i in range(n)) + each_element(f"g{n}(x)"), SUM),
}
DEEP = {
    "signs": each_element("- " * NESTED + "x"),
    "parentheses": each_element("(1 + " * NESTED + "x" + ")" * NESTED),
    "functions": each_element("(fun x => " * NESTED + "x" + ")(1)" * NESTED),
    "calls": each_element("abs(" * NESTED + "x" + ")" * NESTED),
    "lets in values": each_element("let y = " * NESTED + "x" + " in y" * NESTED),
    "definitions": "def g0 (x: f32): f32 = sqrt(x)\n" + "".join(f"def g{i + 1} (x: f32): f32 = g{i}(g{i}(x))\n" for i in range(17))
                   + "entry e {n: nat} (xs: n.f32): n.f32 = xs |> mapGlobal(g17)\n",
}


def risec(binary, *words):
    try:
        r = subprocess.run([binary, *words], capture_output=True, text=True, errors="replace", timeout=LIMIT, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return None, "", "did not end"
    return r.returncode, r.stdout, r.stderr


def long_program(binary, path, want):
    for words in (["check", path], *([f"--emit={form}", path] for form in FORMS), [path, "-o", path + ".cu"]):
        code, _, err = risec(binary, *words)
        if code != 0:
            return f"{words[0]}: exit code {code}: {err[:300]}"
    for device in ("ref", "sim"):
        code, out, err = risec(binary, "run", path, "--device", device, "--set", "n=3", "--arg", "xs=1")
        values = re.findall(r"-?\d+", out.splitlines()[1]) if code == 0 else []
        if values != [str(want)] * 3:
            return f"{device}: exit code {code}, {values}, not three of {want}: {err[:300]}"
    return ""


def deep_program(binary, path):
    code, _, err = risec(binary, "check", path)
    located = re.search(r":\d+:\d+: error\[E(0109|0340|0341)\]", err)
    return "" if code == 1 and located else f"exit code {code}: {err[:300]}"


def report(name, wrong):
    global failed
    failed |= bool(wrong)
    print(("not ok " if wrong else "ok ") + name)
    if wrong:
        print("# " + wrong.replace("\n", "\n# "), flush=True)


with tempfile.TemporaryDirectory() as folder:
    program = f"{folder}/p.rise"
    for risec_, n, build in ((RISEC, LONG, "release"), (SAN, LONG_SAN, "sanitize")):
        for name, (make, value) in KINDS.items():
            with open(program, "w") as file:
                file.write(make(n))
            report(f"{n} {name} ({build})", long_program(risec_, program, value(n)))
        for name, text in DEEP.items():
            with open(program, "w") as file:
                file.write(text)
            report(f"nested {name} ({build})", deep_program(risec_, program))
sys.exit(failed)
