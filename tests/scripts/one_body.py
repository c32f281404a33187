#!/usr/bin/env python3
"""How long the emitted kernels are, and whether they say a thing twice. RISEC names the binary.

    tests/scripts/one_body.py          compares with tests/one_body/counts.txt
    tests/scripts/one_body.py --write  writes it again, as does `tests/run_tests.py --regen one_body`

All entries of PROGRAMS are emitted. Counted are
  again  of an entry: lines that stand in a run of 8 that was there before, in the same kernel or in
         one of the entry's kernels before it. Indentation, comments and lines of brackets alone
         count for nothing. Nothing should stand there twice.
  lines  of a kernel: those of its body without comments, a line for each 100 columns begun. A fold
         should have at most 60, a product 130, all others 90.
  wide   of a file: lines of more than 100 columns.
What is not yet as it should be stands in counts.txt with its number, which may only become smaller:
more is an error, and less has to be written there.
Prints `ok NAME` or `not ok NAME`."""
import glob
import json
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RISEC = os.path.abspath(os.environ.get("RISEC", f"{ROOT}/build/release/risec"))
COUNTS = f"{ROOT}/tests/one_body/counts.txt"
PROGRAMS = ("examples/*.rise", "examples/high/*.rise", "bench/programs/*.rise",
            "tests/one_body/*.rise")
AGAIN = "tests/run_tests.py --regen one_body"
WIDTH, RUN = 100, 8
BARS = {"fold": 60, "product": 130, "other": 90}


# ---- texts --------------------------------------------------------------------------------------


def emit(form, path):
    done = subprocess.run([RISEC, f"--emit={form}", path], cwd=ROOT, capture_output=True,
                          text=True, timeout=600)
    if done.returncode:
        raise ValueError(f"{path}: {done.stderr}")
    return done.stdout


def kernel_text(text):
    """The lines that are neither helpers nor host functions, which stand between directives."""
    depth = 0
    for line in text.splitlines():
        depth += line.startswith("#if")
        if depth == 0:
            yield line
        depth -= line.startswith("#endif")


def functions(text):
    """(name, lines of the whole function) of each; comments and what is empty are left out."""
    head, inside = [], False
    for line in kernel_text(text):
        code = re.sub(r"\s*//.*", "", line)
        if not code:
            head = head if inside else []
            continue
        head.append(code)
        inside |= line == "{"
        if line == "}":
            yield re.search(r"^(?:static .* )?(\w+)\(", "\n".join(head), re.M).group(1), head
            head, inside = [], False


def is_thin(lines):
    """A form of a kernel, which calls the body of all forms."""
    return len(lines[lines.index("{") :]) == 3 and "_body<" in lines[-2]


# ---- counts -------------------------------------------------------------------------------------


def repeated(bodies):
    """How many lines of the bodies stand in a run that was there before."""
    seen, count = set(), 0
    for body in bodies:
        lines = [line.strip() for line in body]
        lines = [line for line in lines if line.strip("{}();, ")]
        again = set()
        for i in range(len(lines) - RUN + 1):
            run = tuple(lines[i : i + RUN])
            if run in seen:
                again |= set(range(i, i + RUN))
            seen.add(run)
        count += len(again)
    return count


def length(body):
    return sum(-(-len(line) // WIDTH) for line in body)


def kind_of(entry):
    """By its types: a fold has one value; a product lacks an axis that two matrices share."""
    shapes = [(argument["direction"], argument["shape"]) for argument in entry["arguments"]]
    results = [shape for direction, shape in shapes if direction == "out"]
    inputs = [shape for direction, shape in shapes if direction == "in"]
    if not any(results):
        return "fold"
    matrices = [set(shape) - set(results[0]) for shape in inputs if len(shape) > 1]
    shared = [a & b for i, a in enumerate(matrices) for b in matrices[:i]]
    return "product" if len(results[0]) > 1 and any(shared) else "other"


def counts_of(text, manifest):
    """{what: number} of a file: what stands in counts.txt."""
    found = {"wide": sum(len(line) > WIDTH for line in text.splitlines())}
    entries = {entry["name"]: entry for entry in manifest["entries"]}
    bodies = {name: [] for name in entries}
    for name, lines in functions(text):
        if is_thin(lines):
            continue
        entry = max((e for e in entries if name == e or name.startswith(e + "_")), key=len)
        body = lines[lines.index("{") + 1 : -1]
        bodies[entry].append(body)
        if length(body) > BARS[kind_of(entries[entry])]:
            found[f"lines {name.removesuffix('_body')}"] = length(body)
    for entry, found_bodies in bodies.items():
        found[f"again {entry}"] = repeated(found_bodies)
    return {what: number for what, number in found.items() if number}


def read_counts():
    counts = {}
    with open(COUNTS, encoding="utf-8") as file:
        for line in file:
            path, what, number = re.fullmatch(r"(\S+) (.+) (\d+)\n", line).groups()
            counts.setdefault(path, {})[what] = int(number)
    return counts


def differences(old, new):
    for what in sorted(old.keys() | new.keys()):
        was, now = old.get(what, 0), new.get(what, 0)
        if now > was:
            yield f"{what}: {now}, it was {was}"
        elif now < was:
            yield f"{what}: {now} instead of {was}: write it with {AGAIN}"


# ---- what must be found -------------------------------------------------------------------------


def report(name, wrong=()):
    print("\n# ".join([f"not ok {name}", *wrong]) if wrong else f"ok {name}", flush=True)
    return bool(wrong)


def plants():
    """Kernels of which something is said twice, is long or is wide."""
    def text(*kernels):
        bodies = ("".join(f"    {line}\n" for line in lines) for lines in kernels)
        head = 'extern "C" __global__ void __launch_bounds__(256, f(1, 2))\n'
        return "".join(f"{head}k_case{i}(float *x,\n    int n)\n{{\n{body}}}\n"
                       for i, body in enumerate(bodies))

    result = {"shape": ["n"], "direction": "out"}
    manifest = {"entries": [{"name": "k", "arguments": [result]}]}
    wide = "y = " + "a + " * 30 + "a;"
    lines = [f"x{i} = {i};" for i in range(10)]
    for name, kernels, want in (
        ("nothing", [lines, lines[:7]], {}),
        ("in another kernel", [lines, ["y = 1;"] + lines[1:9]], {"again k": 8}),
        ("in one kernel", [lines + ["{", "    // a word"] + lines[:9] + ["}"]], {"again k": 9}),
        ("indented", [lines, ["{"] + ["    " + line for line in lines] + ["}"]], {"again k": 10}),
        ("with a line between", [lines, lines[:5] + ["y = 1;"] + lines[5:]], {}),
        ("long", [[f"y{i} = {i};" for i in range(91)]], {"lines k_case0": 91}),
        ("wide", [[wide] + [f"y{i} = {i};" for i in range(89)]], {"wide": 1, "lines k_case0": 91}),
    ):
        got = counts_of(text(*kernels), manifest)
        yield f"plant {name}", [] if got == want else [f"{got} instead of {want}"]
    yield "plant more", [] if list(differences({"wide": 1}, {"wide": 2})) else ["is not found"]
    yield "plant less", [] if list(differences({"wide": 1}, {})) else ["is not found"]


def main():
    paths = sorted(path for pattern in PROGRAMS for path in glob.glob(pattern, root_dir=ROOT))
    counts = {path: counts_of(emit("cuda", path), json.loads(emit("manifest", path)))
              for path in paths}
    if sys.argv[1:] == ["--write"]:
        with open(COUNTS, "w", encoding="utf-8") as file:
            file.writelines(f"{path} {what} {found[what]}\n"
                            for path, found in counts.items() for what in sorted(found))
        return 0
    failed = False
    for name, wrong in plants():
        failed |= report(name, wrong)
    old = read_counts()
    for path in sorted(old.keys() | counts.keys()):
        failed |= report(path, list(differences(old.get(path, {}), counts.get(path, {}))))
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
