#!/usr/bin/env python3
"""A guard for speed without a GPU: each kernel of some launches, against its line in counters.txt.

    tests/scripts/bench_counters.py [WORD...]  compares; WORD: only the entries named so. Without: one
                                               in EVERY of each program, and all of them at the
                                               level `all` (RISEC_LEVEL)
    tests/scripts/bench_counters.py --write    writes counters.txt again, as does
                                               `tests/run_tests.py --regen bench_counters`

tests/bench_counters/cases says which launches. A line of tests/bench_counters/counters.txt has what
the simulator counts of a kernel, and what the cubin has that NVRTC makes of it for sm_90: COLUMNS.
MEASURES says what is worse. A line that is worse by more than 3 % is an error; what is better is
named. Columns of the cubin are compared where NVRTC is of the release that made counters.txt.
Prints `ok NAME`, `not ok NAME` or `skip NAME: REASON`."""
import json
import math
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from typing import Callable

import cubin_text
import ptx_text

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("BUILD") or os.path.join(ROOT, "build")
RISEC = os.environ.get("RISEC") or os.path.join(BUILD, "release", "risec")
FOLDER = os.path.join(ROOT, "tests", "bench_counters")
CASES, COUNTERS = os.path.join(FOLDER, "cases"), os.path.join(FOLDER, "counters.txt")
FAULTS = os.path.join("tests", "bench_counters", "faults.rise")
AGAIN = "tests/run_tests.py --regen bench_counters"
ALLOWED = 1.03
EVERY = 1 if os.environ.get("RISEC_LEVEL") == "all" else 3
# NVRTC does not make the same of the same text each time: 47 registers or 63, once in ten times.
COMPILED_AGAIN = 8
SMALL_DEVICE, LARGE_DEVICE = 8, 132  # numSM of a run, and of sizes in [ ]

# Columns of counters.txt: name, width, what they are made from, the name that they have there.
COLUMNS = (
    ("entry", 24, "launch", ""), ("sizes", 20, "launch", ""), ("launch", 6, "launch", ""),
    ("kernel", 27, "launch", ""), ("blocks", 9, "launch", ""), ("threads", 7, "launch", ""),
    ("instr", 9, "simulator", "instructions"), ("sectors", 8, "simulator", "sectors"),
    ("needed", 8, "simulator", "sectorsNeeded"), ("waves", 8, "simulator", "sharedWavefronts"),
    ("regs", 4, "cubin", "registers"), ("local", 5, "cubin", "local"),
    ("shared", 6, "cubin", "shared"), ("LDG.128", 7, "cubin", "LDG.128"),
    ("LDG", 4, "cubin", "LDG"), ("STG.128", 7, "cubin", "STG.128"), ("STG", 4, "cubin", "STG"),
    ("FFMA", 5, "cubin", "FFMA"), ("BAR", 4, "cubin", "BAR"), ("SHFL", 4, "cubin", "SHFL"),
)
NAMES = [name for name, _, _, _ in COLUMNS]
OF_CUBIN = [name for name, _, source, _ in COLUMNS if source == "cubin"]
UNKNOWN = "-"


# ---- what is worse ------------------------------------------------------------------------------


def number(cell):
    """Of `7`, and of `32x16` the product."""
    return math.prod(int(part) for part in cell.split("x"))


def whole(column):
    return lambda row: number(row[column])


@dataclass
class Measure:
    name: str
    of: Callable        # a row: an integer
    worse: str          # when there are "more" of it, or "fewer"
    unless: str = ""    # no matter, if this measure gets better
    joined: Callable = sum  # several kernels, to compare with another number of kernels


MEASURES = (
    Measure("threads in all", lambda row: number(row["blocks"]) * number(row["threads"]), "fewer"),
    Measure("instructions", whole("instr"), "more"),
    Measure("sectors", whole("sectors"), "more"),
    Measure("shared wavefronts", whole("waves"), "more"),
    # A thread gets 8 registers at once.
    Measure("registers (rounded up to 8)", lambda row: -(-number(row["regs"]) // 8) * 8, "more",
            joined=max),
    Measure("bytes of local memory", whole("local"), "more"),
    Measure("bytes of shared memory", whole("shared"), "more", joined=max),
    Measure("LDG.128", whole("LDG.128"), "fewer", "LDG"),
    Measure("LDG", whole("LDG"), "more"),
    Measure("STG.128", whole("STG.128"), "fewer", "STG"),
    Measure("STG", whole("STG"), "more"),
    Measure("FFMA", whole("FFMA"), "fewer", "instructions"),
    Measure("BAR", whole("BAR"), "more"),
    Measure("SHFL", whole("SHFL"), "more"),
)


def values(rows):
    """{measure: value} of kernels taken together; a measure that is not known of one is missing."""
    found = {}
    for measure in MEASURES:
        try:
            found[measure.name] = measure.joined(measure.of(row) for row in rows)
        except ValueError:
            pass
    return found


def change(measure, old, new):
    """-1: worse by more than is allowed; 1: better by as much; else 0."""
    if measure.worse == "fewer":
        old, new = new, old
    return -1 if new > old * ALLOWED else 1 if old > new * ALLOWED else 0


def changes(old_rows, new_rows):
    """(worse, better): lines that say which measure changed, and how."""
    old, new = values(old_rows), values(new_rows)
    known = [measure for measure in MEASURES if measure.name in old and measure.name in new]
    signs = {m.name: change(m, old[m.name], new[m.name]) for m in known}
    said = {-1: [], 0: [], 1: []}
    for m in known:
        if signs[m.name] >= 0 or signs.get(m.unless, 0) <= 0:
            was, now = old[m.name], new[m.name]
            much = f" ({100 * (now - was) / was:+.0f} %)" if was else ""
            said[signs[m.name]].append(f"{m.name} {was} -> {now}{much}")
    return said[-1], said[1]


def compare(old, new):
    """(worse, better) of a launch: its lines as they were, and as they are."""
    if len(old) == len(new):
        worse, better = [], []
        for before, now in zip(old, new):
            where = f"kernel {now['launch']}, {now['kernel']}: "
            for into, lines in zip((worse, better), changes([before], [now])):
                into += [where + line for line in lines]
        return worse, better
    worse, better = changes(old, new)
    (worse if len(new) > len(old) else better).append(f"kernels {len(old)} -> {len(new)}")
    return worse, better


# ---- launches -----------------------------------------------------------------------------------


@dataclass
class Sizes:
    text: str     # `n=1000`, or `[n=2^31]`
    values: dict
    run: bool     # on the simulator


def read_cases(path):
    """{program: {entry: its Sizes}}."""
    cases = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            line = line.split("#")[0].strip()
            if not line:
                continue
            program, entry, listed = re.fullmatch(r"(\S+) (\w+): (.*)", line).groups()
            sizes = [read_sizes(one.strip()) for one in listed.split(";")]
            cases.setdefault(program, {})[entry] = sizes
    return cases


def read_sizes(text):
    run = not text.startswith("[")
    values = {"numSM": SMALL_DEVICE if run else LARGE_DEVICE}
    for given in text.strip("[]").split(","):
        name, value = given.split("=")
        values[name] = size(value, {})
    values["maxResident"] = 4 * values["numSM"]
    return Sizes(text, values, run)


def size(text, given):
    """The value of a size expression, or of a condition, of the manifest."""
    known = {"ceilDiv": lambda a, b: -(-a // b), "min": min, "max": max, "pow2": lambda a: 2**a,
             "log2": lambda a: a.bit_length() - 1, **given}
    return eval(text.replace("/", "//").replace("^", "**"), {"__builtins__": {}}, known)


def chosen(variants, kernels, given):
    """The kernel of the first variant whose conditions hold, where addresses are aligned; None where no `when` does."""
    asked = [v["kernel"] for v in variants if all(size(when, given) for when in v["when"])]
    fitting = [name for name in asked if all(size(guard, given) for guard in kernels[name]["guards"])]
    if asked and not fitting:
        raise RuntimeError(f"no variant of {asked} takes {given}")
    return kernels[fitting[0]] if asked else None


def usual(entry):
    """The names of the first variants for each `when`: of usual width, where addresses are aligned."""
    first = {}
    for launch in entry["launches"]:
        seen = {}
        for one in launch["variants"]:
            seen.setdefault(tuple(one["when"]), one["kernel"])
        first.update(dict.fromkeys(seen.values()))
    return list(first)


def launched(entry, given):
    """The kernels that the sizes choose, in order."""
    kernels = {kernel["name"]: kernel for kernel in entry["kernels"]}
    made = [chosen(launch["variants"], kernels, given) for launch in entry["launches"]]
    return [kernel for kernel in made if kernel]


def simulate(program, entry, sizes):
    """What the simulator counts: a dictionary for each kernel."""
    given = [f"{name}={value}" for name, value in sizes.values.items()]
    inputs = [a["name"] for a in entry["arguments"] if a["direction"] == "in"]
    command = [RISEC, "run", program, entry["name"], "--profile", "--json", "--untuned"]
    command += [word for one in given for word in ("--set", one)]
    command += [word for name in inputs for word in ("--arg", name + "=uniform")]
    return json.loads(output(command))["profile"]["kernels"]


def output(command):
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    if done.returncode or "error[" in done.stderr:
        raise RuntimeError(" ".join(command) + "\n" + done.stderr)
    return done.stdout


def axes(lengths):
    lengths = list(lengths)
    while len(lengths) > 1 and lengths[-1] == 1:
        lengths.pop()
    return "x".join(map(str, lengths))


class Program:
    """A program of cases, compiled once."""

    def __init__(self, path, nvrtc, left_out=()):
        """`left_out`: the names of entries that are not looked at."""
        self.path = path
        manifest = json.loads(output([RISEC, path, "--emit=manifest"]))
        self.entries = {entry["name"]: entry for entry in manifest["entries"]
                        if entry["name"] not in left_out}
        self.nvrtc = nvrtc
        # What is launched with indices of the usual width, where addresses are aligned.
        self.cubin = self.compile({k for entry in self.entries.values() for k in usual(entry)})

    def compile(self, wanted):
        """What NVRTC makes of some kernels."""
        if not self.nvrtc:
            return {}
        text = ptx_text.unwrapped(output([RISEC, self.path, "--emit=cuda"]))
        for kernel in reversed(ptx_text.text_kernels(text)):
            if kernel.name not in wanted:
                text = text[: kernel.first] + text[kernel.last :]
        return cubin_text.kernels(cubin_text.cubin_of(self.nvrtc, text))

    def row(self, entry, sizes, place, kernel, counted):
        grid = counted["grid"] if counted else [size(axis, sizes.values) for axis in kernel["grid"]]
        stem = os.path.splitext(os.path.basename(self.path))[0]
        cubin = self.cubin.get(kernel["name"])
        if cubin:
            given = size(kernel["dynamicSharedBytes"], sizes.values)
            cubin = {**cubin, "shared": cubin["shared"] + given}
        launch = {"entry": f"{stem}.{entry['name']}", "sizes": sizes.text, "launch": place,
                  "kernel": kernel["name"], "blocks": axes(grid), "threads": axes(kernel["block"])}
        made = {"launch": launch, "simulator": counted or {}, "cubin": cubin or {}}
        return {name: str(made[source].get(key or name, UNKNOWN))
                for name, _, source, key in COLUMNS}

    def rows(self, entry, sizes):
        """The lines of one launch."""
        kernels = launched(entry, sizes.values)
        counted = simulate(self.path, entry, sizes) if sizes.run else [None] * len(kernels)
        said, ran = [k["name"] for k in kernels], [c["name"] for c in counted if c]
        if sizes.run and said != ran:
            raise RuntimeError(f"{entry['name']}, {sizes.text}: the simulator launched {ran}, "
                               f"and the manifest says {said}")
        return [self.row(entry, sizes, f"{k}/{len(kernels)}", *pair)
                for k, pair in enumerate(zip(kernels, counted), 1)]


# ---- counters.txt -------------------------------------------------------------------------------

HEAD = """# What the kernels of bench/programs and shapes.rise would do: docs/testing.md has the columns.
# Written by `%s`.
# A commit that changes lines says what an H200 says of them.
""" % AGAIN


def line_of(cells):
    placed = [f"{cell:{'<' if source == 'launch' else '>'}{width}}"
              for cell, (_, width, source, _) in zip(cells, COLUMNS)]
    return " ".join(placed) + "\n"


def write_counters(release, rows):
    with open(COUNTERS, "w", encoding="utf-8") as file:
        file.write(HEAD + f"# {release}\n" + line_of(NAMES))
        for k, row in enumerate(rows):
            if k == 0 or row["entry"] != rows[k - 1]["entry"]:
                file.write("\n")
            file.write(line_of([row[name] for name in NAMES]))


def read_counters():
    """(the release of NVRTC, {(entry, sizes): rows})."""
    with open(COUNTERS, encoding="utf-8") as file:
        lines = file.read().splitlines()
    release = lines[HEAD.count("\n")][2:]
    launches = {}
    for line in lines[HEAD.count("\n") + 2 :]:
        if line:
            row = dict(zip(NAMES, line.split(), strict=True))
            launches.setdefault((row["entry"], row["sizes"]), []).append(row)
    return release, launches


# ---- planted faults ------------------------------------------------------------------------------

# Entries of faults.rise: a good one, one that is worse, its sizes, and what is said of it at least.
PLANTED = (
    ("wide", "narrow", "n=2048", {"instructions", "LDG.128", "STG.128", "LDG", "STG"}),
    ("once", "twoPasses", "n=1000", {"kernels", "instructions", "sectors", "LDG", "STG"}),
    ("once", "oneBlock", "n=2000", {"threads in all"}),
    ("once", "joinedWithNothing", "n=1000", {"FFMA"}),
    ("once", "jumping", "n=2048", {"sectors"}),
    ("oneBarrier", "threeBarriers", "n=1024",
     {"BAR", "bytes of shared memory", "shared wavefronts"}),
    ("padded", "conflicting", "n=3", {"shared wavefronts"}),
    ("shuffledOnce", "shuffledTwice", "n=7", {"SHFL", "instructions"}),
    ("spilling", "inRegisters", "n=4000", {"registers (rounded up to 8)"}),
    ("inRegisters", "spilling", "n=4000", {"bytes of local memory"}),
)


def planted_missed(nvrtc):
    """What is not said of the planted faults."""
    program, missed = Program(FAULTS, nvrtc), []
    for good, bad, sizes, wanted in PLANTED:
        rows = [program.rows(program.entries[name], read_sizes(sizes)) for name in (good, bad)]
        worse, _ = compare(*rows)
        for measure in sorted(wanted):
            known = nvrtc or measure == "kernels" or measure in values(rows[0])
            saying = re.compile(rf"(^|: ){re.escape(measure)} \d")
            if known and not any(map(saying.search, worse)):
                missed.append(f"{good} against {bad}: {measure} is worse, and said is {worse}")
        if compare(rows[0], rows[0])[0]:
            missed.append(f"{good} is worse than itself")
    return missed


# ---- all of it ----------------------------------------------------------------------------------


def report(name, wrong, better=()):
    print(f"{'not ok' if wrong else 'ok'} {name}")
    for line in wrong:
        print("# " + line)
    for line in better:
        print("# better: " + line)
    return bool(wrong)


def never_launched(program, rows):
    """Each kernel of each entry that is looked at stands in some line."""
    seen = {row["kernel"] for row in rows}
    names = [name for entry in program.entries.values() for name in usual(entry)]
    return [f"{program.path}: {name} is launched for none of the sizes in cases"
            for name in names if name not in seen]


def compare_program(program, cases, table):
    """Whether lines are worse."""
    worse, better, made = [], [], []
    for name, several in cases.items():
        for sizes in several:
            rows = program.rows(program.entries[name], sizes)
            made += rows
            key = rows[0]["entry"], sizes.text
            old = table.pop(key, None)
            bad, good = compare(old, rows) if old else ([f"it has no line: {AGAIN}"], [])
            for _ in range(COMPILED_AGAIN if old and program.nvrtc else 0):
                if not bad:
                    break
                program.cubin.update(program.compile({row["kernel"] for row in rows}))
                bad, good = compare(old, program.rows(program.entries[name], sizes))
            worse += [f"{key[0]}, {key[1]}: {line}" for line in bad]
            better += [f"{key[0]}, {key[1]}: {line}" for line in good]
    if worse:
        worse.append(f"if that is meant: {AGAIN}; the commit says what an H200 says of these lines")
    name = f"kernels of {program.path} are no worse than their lines in counters.txt"
    return report(name, worse, better), made


def usable_nvrtc(release, writing):
    """NVRTC, where the columns of the cubin can be compared; else None. It says which."""
    nvrtc, why = ptx_text.find_nvrtc(), ""
    if not nvrtc:
        why = "no libnvrtc.so.13 or .12"
    elif not writing and release_of(nvrtc) != release:
        why = f"counters.txt is of {release}, and this is {release_of(nvrtc)}"
    if why:
        print(f"skip {', '.join(OF_CUBIN)} of kernels: {why}")
    return None if why else nvrtc


def release_of(nvrtc):
    return "CUDA %d.%d" % ptx_text.release_of_nvrtc(nvrtc)


def write():
    nvrtc = usable_nvrtc("", writing=True)
    if not nvrtc:
        print("not written: a line wants all of its columns")
        return 1
    rows, missing = [], cubin_text.wrong_about_probe(nvrtc)
    for path, cases in read_cases(CASES).items():
        program = Program(path, nvrtc)
        made = [row for name, several in cases.items() for sizes in several
                for row in program.rows(program.entries[name], sizes)]
        missing += never_launched(program, made)
        rows += made
    if not missing:
        write_counters(release_of(nvrtc), rows)
    return report("written again: tests/bench_counters/counters.txt", missing)


def main(words):
    if words == ["--write"]:
        return int(write())
    release, table = read_counters()
    nvrtc = usable_nvrtc(release, writing=False)
    failed = report("planted faults are seen", planted_missed(nvrtc))
    if nvrtc:
        failed |= report("cubins are read right", cubin_text.wrong_about_probe(nvrtc))
    missing = []
    for path, cases in read_cases(CASES).items():
        stem = os.path.splitext(os.path.basename(path))[0]
        some = [name for name in cases if any(word in name for word in words)] if words else \
            list(cases)[::EVERY]
        left_out = cases.keys() - some
        for name in left_out:
            for sizes in cases[name]:
                table.pop((f"{stem}.{name}", sizes.text), None)
        if not some:
            continue
        program = Program(path, nvrtc, left_out)
        cases = {name: cases[name] for name in some}
        wrong, made = compare_program(program, cases, table)
        failed |= wrong
        missing += never_launched(program, made)
    if not words:
        missing += [f"{entry}, {sizes}: counters.txt has lines for it, and cases has none"
                    for entry, sizes in table]
        failed |= report("each kernel has a line, and each line a kernel", missing)
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
