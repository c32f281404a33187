#!/usr/bin/env python3
"""Headers for C and C++ (docs/header.md), with stand-ins for NVRTC and for the driver, so that no GPU is needed.

Programs of the repository give headers that compile without a warning as C99 and C++20, and define no name but their own. What their functions launch, for some
sizes and addresses, is what the manifest says by docs/manifest.md: kernels, grids, parameters, places in the workspace, in order. tests/header/sum.h is such a
header, which tests/header/behaviour.c includes to check the rest. With the true NVRTC, a header is written, compiled, and run to where it finds no driver.

    header.py [WORD...]    programs with one of the words in their names; for sizes of this SEED (environment)
    header.py --write      writes tests/header/sum.h anew
"""
import json
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HERE = os.path.join(ROOT, "tests", "header")
RISEC = os.environ["RISEC"]
CC, CXX = os.environ.get("CC", "cc"), os.environ.get("CXX", "c++")
STRICT = ["-Wall", "-Wextra", "-Werror", "-pedantic"]
C99, CXX20 = [CC, "-std=c99", *STRICT], [CXX, "-std=c++20", *STRICT]
OTHERS = [[path, *flags[1:]] for name, flags in (("gcc", C99), ("g++", CXX20), ("clang", C99), ("clang++", CXX20)) if (path := shutil.which(name)) and name != flags[0]]
LEVEL = os.environ.get("RISEC_LEVEL", "whole")
# With all, every program of these folders.
SAMPLE = [
    "examples/high/sum", "examples/high/reductions", "examples/high/rows", "examples/device_scan", "examples/softmax", "tests/nests/repeated",
    "tests/nests/jacobi", "tests/nests/ema", "tests/nests/stages", "tests/nests/results", "tests/programs/workspace", "tests/gpu/device_size_result",
]
FOLDERS = ["examples", "examples/high", "tests/nests", "tests/programs", "bench/programs"]
CTYPES = {"bool": "uint8_t", "f16": "uint16_t", "bf16": "uint16_t", "f32": "float", "f64": "double"}
BYTES = {"bool": 1, "i8": 1, "u8": 1, "i16": 2, "u16": 2, "f16": 2, "bf16": 2, "i32": 4, "u32": 4, "f32": 4, "i64": 8, "u64": 8, "f64": 8}
SMS, RESIDENT, MEMORY = 7, 2, 1 << 40  # of fake_cuda.c
WORKSPACE, STREAM = 0x100000000000, 0xABC0
INVALID, OVERFLOW, TOO_MUCH = -5, -6, -8


def ok(name):
    print(f"ok {name}", flush=True)


def bad(name, why):
    print(f"not ok {name}")
    for line in str(why).splitlines()[:25]:
        print(f"# {line}")


def run(argv, env=None, cwd=None):
    done = subprocess.run(argv, capture_output=True, text=True, env=env, cwd=cwd, stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout, done.stderr


# ---- what the manifest says ------------------------------------------------------------------------------------------------


class Refused(Exception):
    pass


class Number(int):
    """What is beyond the limit is a refusal."""

    limit = 1 << 63

    def __new__(cls, number):
        if abs(number) > cls.limit:
            raise Refused
        return super().__new__(cls, number)

    def __pow__(self, exponent):
        if exponent > 64 and self > 1:
            raise Refused
        return Number(int(self) ** int(exponent) if self > 1 or not exponent else self)

    def __rpow__(self, base):
        return Number(base) ** self


for operator in ("add", "sub", "mul", "floordiv", "mod"):
    def checked(self, other, do=getattr(int, f"__{operator}__")):
        return Number(do(int(self), int(other)))

    def reflected(self, other, do=getattr(int, f"__{operator}__")):
        return Number(do(int(other), int(self)))

    setattr(Number, f"__{operator}__", checked)
    setattr(Number, f"__r{operator}__", reflected)


def value(text, sizes):
    """An expression of the manifest, in Python."""
    text = re.sub(r"(?<![/<>=!])/(?!/)", "//", text).replace("^", "**").replace("true", "True").replace("false", "False")
    known = {
        "ceilDiv": lambda a, b: -(-a // b), "log2": lambda a: a.bit_length() - 1, "pow2": lambda a: Number(2) ** a, "min": min, "max": max,
    }
    known.update((name, Number(size)) for name, size in sizes.items())
    return eval(text, {"__builtins__": {}}, known)  # noqa: S307: text of our own


def all_hold(conditions, sizes):
    return all(value(c, sizes) for c in conditions)


def tests_hold(conditions, sizes):
    """Host functions compute size tests up to 2^52."""
    Number.limit = 1 << 52
    try:
        return all_hold(conditions, sizes)
    finally:
        Number.limit = 1 << 63


def guards_of(kernel):
    """Without those for sizes that the kernel does not get: the host functions know that it needs none."""
    own = {p["size"] for p in kernel["parameters"] if "size" in p}
    return [g for g in kernel["guards"] if not re.fullmatch(r"\w+ <= 2147483647", g) or g.split()[0] in own]


def place(b, sizes):
    """(address, bytes to clear first) of a buffer in the workspace. One that no launched kernel uses may have no size: it may divide by 0."""
    size = value(b["bytes"], sizes)
    beyond = "beyond" in b and size > b["room"]
    return WORKSPACE + value(b["beyond" if beyond else "offset"], sizes), size if beyond else 0


def parameter(p, entry, sizes, given, turn):
    if "argument" in p:
        return given[p["argument"]]
    if "workspace" in p:
        swaps = turn if "turns" not in p else value(p["turns"], sizes)
        name = p["odd"] if "odd" in p and swaps % 2 else p["workspace"]
        return place(next(b for b in entry["workspace"]["buffers"] if b["name"] == name), sizes)[0]
    if "turn" in p:
        return turn
    return sizes[p["size"]]


def chosen(launch, kernels, sizes, given):
    """The kernel of a launch, or None: nothing is launched."""
    wanted = False
    for variant in launch["variants"]:
        kernel = kernels[variant["kernel"]]
        if not tests_hold(variant["when"], sizes):
            continue
        wanted = True
        if all_hold(guards_of(kernel), sizes) and all(given[a["argument"]] % a["bytes"] == 0 for a in kernel.get("aligned", [])):
            return kernel
    if wanted:
        raise Refused
    return None


def grid_of(kernel, sizes):
    grid = [value(g, sizes) for g in kernel["grid"]]
    if kernel["cooperative"] and all(grid):
        left, last = sizes["maxResident"], max([a for a in range(3) if kernel["grid"][a] != "1"], default=0)
        for a in range(last, -1, -1):
            grid[a] = min(grid[a], max(left, kernel.get("leastGrid", 1) if a == 0 else left))
            left //= grid[a]
    return grid


def check_room(kernel, sizes):
    """What is refused although a kernel is chosen: more blocks than an axis has where each counts, more shared memory than an int holds."""
    most = [kernel.get("maxGridX", kernel["maxGrid"]), kernel["maxGrid"], kernel["maxGrid"]]
    whole = [re.sub(r"^min\((.*), \d+\)$", r"\1", g) for g in kernel["grid"]]
    if kernel["exactGrid"] and any(value(g, sizes) > m for g, m in zip(whole, most)):
        raise Refused
    if value(kernel["dynamicSharedBytes"], sizes) > 0x7FFFFFFF:
        raise Refused


def launch_lines(kernel, entry, sizes, given, turn):
    lines = []
    used = [p["workspace"] for p in kernel["parameters"] if "workspace" in p]
    for b in entry.get("workspace", {}).get("buffers", []):
        address, clear = place(b, sizes) if b["name"] in used else (0, 0)
        if clear:
            lines.append(f"set {address:x} 0 {clear}, stream {STREAM:x}")
    grid = grid_of(kernel, sizes)
    if not all(grid):
        return lines
    values = " ".join(f"{parameter(p, entry, sizes, given, turn):x}" for p in kernel["parameters"])
    return lines + [
        f"launch {kernel['name']} {grid[0]} {grid[1]} {grid[2]}, {kernel['block'][0]} {kernel['block'][1]} {kernel['block'][2]}, "
        f"{value(kernel['dynamicSharedBytes'], sizes)}{' cooperative' if kernel['cooperative'] else ''}, stream {STREAM:x}: {values}".rstrip()
    ]


def expected(entry, sizes, given):
    """The lines that the driver should print, and whether the launch is refused in the end: mostly before there are any."""
    kernels = {k["name"]: k for k in entry["kernels"]}
    sizes = {**sizes, "numSM": SMS, "maxResident": SMS * RESIDENT}
    lines = []
    try:
        if any(size > 1 << 40 for size in sizes.values()) or not all_hold(entry["facts"], sizes):
            return lines, True
        plan = []
        for step in entry["launches"]:
            several = step["launches"] if "repeat" in step else [step]
            picked = [kernel for kernel in (chosen(one, kernels, sizes, given) for one in several) if kernel]
            plan.append((value(step["repeat"], sizes) if "repeat" in step else 1, picked))
        for times, picked in plan:
            for turn in range(times):
                for kernel in picked:
                    check_room(kernel, sizes)
                    lines += launch_lines(kernel, entry, sizes, given, turn)
    except (Refused, ZeroDivisionError):
        return lines, True
    return lines, False


def workspace_bytes(entry, sizes):
    sizes = {**sizes, "numSM": SMS, "maxResident": SMS * RESIDENT}
    return max((value(b["bytes"], sizes) for b in entry["workspace"]["bytes"] if all_hold(b["when"], sizes)), default=entry["workspace"]["zeroBytes"])


# ---- what the header does --------------------------------------------------------------------------------------------------


def ctype(elem):
    return CTYPES.get(elem) or (("u" if elem[0] == "u" else "") + f"int{elem[1:]}_t")


def bases(entry, shift):
    """Of each argument: an address, or the bits of a number."""
    given = {}
    for i, a in enumerate(entry["arguments"]):
        if a["pass"] == "value":
            given[a["name"]] = (i % 2) if a["elem"] == "bool" else 3 + i
        else:
            given[a["name"]] = 0x200000000000 + (i << 36) + (BYTES[a["elem"]] if shift else 0)
    return given


def bits(a, number):
    """What stands in the parameter for this number."""
    if a["pass"] == "value" and a["elem"] in ("f32", "f64"):
        return int.from_bytes(struct.pack("<f" if a["elem"] == "f32" else "<d", number), "little")
    return number


def main_of(name, manifest, cases):
    """A program that launches all cases, and prints what is between two of them."""
    text = [f'#include <stdio.h>\n#include <string.h>\n#define {name.upper()}_IMPLEMENTATION\n#include "{name}.h"\n', "const char *parameters_of(const char *kernel);",
            "const char *parameters_of(const char *kernel)\n{"]
    for entry in manifest["entries"]:
        arguments = {a["name"]: a for a in entry["arguments"]}
        for kernel in entry["kernels"]:
            widths = ""
            for p in kernel["parameters"]:
                a = arguments.get(p.get("argument"))
                by_value = a and a["pass"] == "value"
                widths += str(BYTES[a["elem"]] if by_value else 8 if "argument" in p or "workspace" in p or p["type"] == "long long" else 4)
            text.append(f'    if (!strcmp(kernel, "{kernel["name"]}"))\n        return "{widths}";')
    text.append('    return "";\n}\n\nint main(void)\n{\n    size_t bytes = 0;\n    int error = ' + f"{name}_use_device(0);\n    if (error || bytes)\n        return 1;")
    for number, (entry, sizes, shift) in enumerate(cases):
        base = name + "_" if entry["name"] == name else f"{name}_{entry['name']}_"
        given = bases(entry, shift)
        numbers = [f"{v}LL" for v in sizes.values()]
        args = [str(given[a["name"]]) if a["pass"] == "value" else f"(void *)0x{given[a['name']]:x}" for a in entry["arguments"]]
        results = [a for a in entry["arguments"] if a["direction"] == "out"]
        text.append("    {")
        text.append("        size_t result[%d];" % max(1, len(results)))
        text.append(f"        error = {base}result_bytes({', '.join(numbers + [f'&result[{i}]' for i in range(len(results))])});")
        text.append(f'        printf("case {number} results %d", error);')
        text.append(f'        for (int i = 0; !error && i < {len(results)}; i++)\n            printf(" %zu", result[i]);\n        printf("\\n");')
        if "workspace" in entry:
            text.append(f"        error = {base}workspace({', '.join([*numbers, '&bytes'])});")
            text.append('        printf("workspace %d %zu\\n", error, error ? 0 : bytes);')
            args += [f"(void *)0x{WORKSPACE:x}", "bytes"]
        text.append(f"        error = {base}launch({', '.join([*args, *numbers, f'(void *)0x{STREAM:x}'])});")
        text.append('        printf("launched %d\\n", error);\n    }')
    text.append("    return 0;\n}\n")
    return "\n".join(text)


def blocks_of(out):
    """The lines of each case."""
    found = []
    for line in out.splitlines():
        if line.startswith("case "):
            found.append([])
        if found:
            found[-1].append(line)
    return found


def check_case(entry, sizes, shift, lines):
    """What is wrong, or None."""
    given = {a["name"]: bits(a, bases(entry, shift)[a["name"]]) for a in entry["arguments"]}
    want, refused = expected(entry, sizes, given)
    got = int(lines[-1].split()[1])
    launches = [line for line in lines[1:-1] if not line.startswith("workspace ")]
    if refused:
        return None if got in (INVALID, OVERFLOW) and launches == want else f"not refused, or not after {want}: {lines}"
    known = {**sizes, "numSM": SMS, "maxResident": SMS * RESIDENT}
    if any(value(a["count"], known) * BYTES[a["elem"]] > 1 << 52 for a in entry["arguments"] if a["direction"] == "out"):
        return None if lines[0].endswith(f" results {OVERFLOW}") else f"results: {lines[0]}, of more than 2^52 bytes"
    results = " ".join(str(value(a["count"], known) * BYTES[a["elem"]]) for a in entry["arguments"] if a["direction"] == "out")
    if not lines[0].endswith(f" results 0 {results}"):
        return f"results: {lines[0]}, wanted {results}"
    if "workspace" in entry:
        need = workspace_bytes(entry, sizes)
        if lines[1] != (f"workspace {TOO_MUCH} 0" if need > MEMORY else f"workspace 0 {need}"):
            return f"{lines[1]}, wanted {need}"
        if need > MEMORY:
            return None
    if got != 0:
        return f"launch gave {got}"
    if launches != want:
        return "got:\n" + "\n".join(launches[:6]) + "\nwanted:\n" + "\n".join(want[:6])
    return None


def cases_of(manifest, rng):
    choices = [0, 1, 2, 3, 4, 5, 8, 16, 31, 32, 33, 64, 100, 128, 256, 500, 1000, 1024, 1025, 4096, 5000, 16384, 65536, 100000, 262145, 1 << 20, 3000001, 1 << 24, 1 << 31, 1 << 33, 1 << 40, (1 << 40) + 1]
    cases = []
    for entry in manifest["entries"]:
        many = [s["repeat"] for s in entry["launches"] if "repeat" in s]
        for k in range(6 if LEVEL != "all" else 12):
            most = 1 << 41 if k == 5 else 1 << 34 if len(entry["sizes"]) < 2 else 5000 if k % 2 else 1 << 24
            sizes = {s: rng.choice([c for c in choices if c <= most]) for s in entry["sizes"]}
            for s in sizes:
                if any(re.search(rf"\b{s}\b", count) for count in many):
                    sizes[s] = min(sizes[s], 5)
            if max([value(count, sizes) for count in many], default=0) < 1000:
                cases.append((entry, sizes, k % 3 == 2))
    return cases


def c_name(path):
    return "rise_" + re.sub(r"[^A-Za-z0-9]", "_", path)


def one_program(path, folder, env):
    name = c_name(path)
    source = os.path.join(ROOT, path + ".rise")
    code, _, err = run([RISEC, source, "-o", f"{folder}/{name}.h", "--arch=sm_90", "-o", f"{folder}/{name}.json"], env)
    if code != 0:
        return None if "E0622" in err else f"risec: exit code {code}\n{err}"
    with open(f"{folder}/{name}.json", encoding="utf-8") as file:
        manifest = json.load(file)
    if not any(entry["kernels"] for entry in manifest["entries"]):
        return None
    cases = cases_of(manifest, random.Random(f"{os.environ.get('SEED', '1')} {path}"))
    with open(f"{folder}/{name}_main.c", "w", encoding="utf-8") as file:
        file.write(main_of(name, manifest, cases))
    with open(f"{folder}/{name}.cc", "w", encoding="utf-8") as file:
        file.write(f'#define {name.upper()}_IMPLEMENTATION\n#include "{name}.h"\n')
    for argv in ([*C99, "-rdynamic", f"{name}_main.c", "-o", f"{name}_main"], [*CXX20, "-c", f"{name}.cc", "-o", f"{name}.o"],
                 *([*other, "-fsyntax-only", f"{name}.cc" if "++" in other[0] else f"{name}_main.c"] for other in OTHERS)):
        code, out, err = run(argv, cwd=folder)
        if code != 0:
            return err or out
    _, out, _ = run(["nm", "-g", "--defined-only", f"{folder}/{name}.o"])
    foreign = [line for line in out.splitlines() if line and not line.split()[-1].startswith(name + "_")]
    if foreign:
        return "names that are not its own: " + ", ".join(foreign)
    code, out, err = run([f"{folder}/{name}_main"], env)
    blocks = blocks_of(out)
    if code != 0 or len(blocks) != len(cases) or "misuse" in out:
        return f"exit code {code}, {len(blocks)} of {len(cases)} cases\n{out[-600:]}\n{err}"
    counts["cases"] += len(cases)
    for (entry, sizes, shift), lines in zip(cases, blocks):
        counts["launches"] += sum(line.startswith("launch ") for line in lines)
        counts["refused"] += lines[-1] in (f"launched {INVALID}", f"launched {OVERFLOW}")
        why = check_case(entry, sizes, shift, lines)
        if why:
            return f"{entry['name']} of {sizes}, {'odd' if shift else 'aligned'} addresses: {why}"
    return None


counts = {"cases": 0, "launches": 0, "refused": 0}


def wanted_programs(words):
    paths = SAMPLE
    if LEVEL == "all" or words:
        paths = sorted(f"{folder}/{file[:-5]}" for folder in FOLDERS for file in os.listdir(os.path.join(ROOT, folder)) if file.endswith(".rise"))
    return [path for path in paths if not words or any(word in path for word in words)]


def programs(folder, env, words):
    wrong = 0
    paths = wanted_programs(words)
    for path in paths:
        why = one_program(path, folder, env)
        if why:
            wrong += 1
            bad(f"launches of {path}", why)
    if not wrong and counts["launches"] > 3 * len(paths):
        ok(f"{len(paths)} programs: {counts['cases']} cases, {counts['refused']} of them refused, {counts['launches']} launches as the manifest says")
    elif not wrong:
        bad("launches", f"only {counts}")


# ---- the rest --------------------------------------------------------------------------------------------------------------

SUM = "entry sum {n: nat} (xs: n.f32): f32 = xs |> reduce((+), 0)\n"
TWO = "entry sum {n: nat} (xs: n.i32): i32 = xs |> reduce((+), 0)\nentry half {n: nat} (k: f16) (xs: n.f16): (n.f16, n.bool) = (xs |> map(fun x => x * k), xs |> map(fun x => x < k))\n"


def write(folder, name, text):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.write(text)


def builds(name, folder, commands, env):
    """Each command succeeds; the last one's output."""
    out = ""
    for argv in commands:
        code, out, err = run(argv, env, folder)
        if code != 0:
            bad(name, f"{' '.join(argv)}: exit code {code}\n{out}{err}")
            return None
    return out


def written(folder, env):
    """tests/header/sum.h is what is written now: it needs no NVRTC, and shows what a change does to headers."""
    golden = f"{HERE}/sum.h"
    write(folder, "sum.rise", SUM)
    if builds("tests/header/sum.h", folder, [[RISEC, "sum.rise", "-o", "sum.h"]], env) is None:
        return
    if "--write" in sys.argv:
        shutil.copyfile(f"{folder}/sum.h", golden)
    code, out, _ = run(["diff", "-u", golden, f"{folder}/sum.h"])
    if code == 0:
        ok("tests/header/sum.h is up to date")
    else:
        bad("tests/header/sum.h is not what is written; header.py --write", out)


def behaviour(folder, env):
    out = builds("behaviour", folder, [[*C99, f"-I{HERE}", f"{HERE}/behaviour.c", "-o", "behaviour", "-pthread", "-ldl"], ["./behaviour"]], env)
    if out is not None:
        ok(f"behaviour: {out.splitlines()[-1]}")


def together(folder, env):
    """Three headers in one program, two of them of the same entry; each is included by a file in C and by one in C++, and implemented in one of them."""
    write(folder, "stats.rise", TWO)
    write(folder, "one.c", '#define STATS_IMPLEMENTATION\n#include "stats.h"\n#include "sum.h"\n#include "stats.h"\n#define AGAIN_IMPLEMENTATION\n#include "again.h"\n\n'
          "int other(void);\nint main(void)\n{\n    size_t bytes;\n"
          "    return stats_sum_result_bytes(5, &bytes) || bytes != 4 || other() || stats_use_device(0) || sum_load() || stats_load() || again_load() || again_unload();\n}\n")
    write(folder, "two.cc", '#include "stats.h"\n#include "again.h"\n#include "sum.h"\n#define SUM_IMPLEMENTATION\n#include "sum.h"\n\nextern "C" int other(void);\nint other()\n{\n'
          "    size_t bytes, more;\n    return again_sum_result_bytes(5, &bytes) || sum_result_bytes(5, &bytes) || bytes != 4 || stats_half_result_bytes(5, &bytes, &more) || bytes != 10 || more != 5;\n}\n"
          "[[maybe_unused]] static int (*const half)(uint16_t *, uint8_t *, uint16_t, const uint16_t *, long long, void *) = stats_half_launch;\n")
    for c, cxx in [(C99, CXX20)] + ([(OTHERS[-2], OTHERS[-1])] if len(OTHERS) > 1 else []):
        name = f"three headers in one program, by {os.path.basename(c[0])} and {os.path.basename(cxx[0])}"
        if builds(name, folder, [
            [RISEC, "stats.rise", "-o", "stats.h", "--arch=sm_80,sm_75,sm_80"],
            [RISEC, "sum.rise", "-o", "again.h", "-o", "sum.h"],
            [*c, "-c", "one.c"],
            [*cxx, "-c", "two.cc"],
            [cxx[0], "one.o", "two.o", "-o", "all", "-pthread", "-ldl"],
            ["./all"],
        ], env) is not None:
            ok(name)
    with open(os.path.join(folder, "stats.h"), encoding="utf-8") as file:
        codes = re.findall(r"^    \{(\d+), (\d), stats_", file.read(), re.M)
    if codes == [("80", "0"), ("75", "0"), ("75", "1")]:
        ok("--arch is a list, and PTX is for the oldest")
    else:
        bad("--arch is a list", codes)


def words(folder, env):
    """Names that are macros, types or functions of C, or that the header has for itself; N is the includer's macro. And entries that launch nothing or take nothing."""
    write(folder, "words.rise", "entry stream {NULL N: nat} (RTLD_NOW: NULL.f32) (error: N.f32) (memcpy: f32) (size_t: u8): NULL.f32 = RTLD_NOW |> map(fun x => x * memcpy)\n"
          "entry INT8_MAX {errno: nat} (workspace: errno.f32) (bytes: u8) (args: errno.i32): (f32, i32) = (workspace |> reduce((+), 0), args |> reduce((+), 0))\n"
          "entry launch {unix: nat} (linux: unix.f32) (class: f32) (words_cuda_: unix.f32): f32 = zip(linux, words_cuda_) |> map(fun (a, b) => a * b * class) |> reduce((+), 0)\n"
          "entry zero (xs: 0.f32): 0.f32 = xs |> map(fun x => x + 1)\nentry ones: 4.f32 = generate(fun (i: idx[4]) => 1.0)\nentry words {n: nat} (xs: n.f32): f32 = xs |> reduce((+), 0)\n")
    write(folder, "words.c", '#define N 1000\n#define WORDS_IMPLEMENTATION\n#include "words.hpp"\n')
    shutil.copyfile(f"{folder}/words.c", f"{folder}/words.cc")
    if builds("words", folder, [[RISEC, "words.rise", "-o", "words.hpp"], [*C99, "-c", "words.c"], [*CXX20, "-c", "words.cc"]], env) is not None:
        ok("names that C has taken")


def refusals(folder, env):
    for name, args, code, message in (
        ("an architecture that NVRTC does not know", ["--arch=sm_90,sm_130"], 2, "E0651"),
        ("a word that is none", ["--arch=sm_90,hopper"], 2, "`--arch=hopper` is no architecture"),
        ("a comma too many", ["--arch=sm_80,"], 2, "a comma with no architecture beside it"),
        ("a virtual architecture", ["--arch=compute_90"], 2, "a header has cubins"),
    ):
        got, _, err = run([RISEC, "sum.rise", "-o", "no.h", *args], env, folder)
        if got == code and message in err and not os.path.exists(f"{folder}/no.h"):
            ok(f"refused: {name}")
        else:
            bad(f"refused: {name}", f"exit code {got}\n{err}")
    got, _, err = run([RISEC, "sum.rise", "-o", "no.cubin", "--arch=sm_80,sm_90"], env, folder)
    if got == 2 and "for one architecture" in err:
        ok("refused: a cubin for two")
    else:
        bad("refused: a cubin for two", f"exit code {got}\n{err}")


def without(folder, fake):
    """Without NVRTC there is no header, and without a driver each function says so: dlopen does not find the libraries with the word $GONE in their names."""
    write(folder, "gone.c", '#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <stdlib.h>\n#include <string.h>\nvoid *dlopen(const char *name, int mode)\n{\n'
          '    static void *(*real)(const char *, int);\n    if (!real)\n        *(void **)&real = dlsym(RTLD_NEXT, "dlopen");\n'
          '    return name && strstr(name, getenv("GONE")) ? NULL : real(name, mode);\n}\n')
    if builds("what is gone", folder, [[CC, "-shared", "-fPIC", "gone.c", "-o", "gone.so", "-ldl"]], None) is None:
        return
    env = {**os.environ, "LD_PRELOAD": f"{folder}/gone.so", "XDG_CACHE_HOME": f"{folder}/none"}
    got, _, err = run([RISEC, "sum.rise", "-o", "no.h"], {**env, "GONE": "nvrtc"}, folder)
    if got == 3 and "E0650" in err and not os.path.exists(f"{folder}/no.h"):
        ok("without NVRTC there is a refusal")
    else:
        bad("without NVRTC there is a refusal", f"exit code {got}\n{err}")
    with open(f"{ROOT}/docs/header.md", encoding="utf-8") as file:
        write(folder, "main.c", re.search(r"```c\n(.*?)```", file.read(), re.S).group(1))
    if builds("the program of docs/header.md", folder, [[*C99, f"-I{HERE}", "main.c", "-o", "main", "-pthread", "-ldl"]], None) is None:
        return
    shutil.copyfile(f"{ROOT}/tests/gpu/header.rise", f"{folder}/gpu.rise")
    if builds("tests/gpu/header.c", folder, [[RISEC, "gpu.rise", "--emit=header", "-o", "sum.h"], *([*c, "-I.", f"{ROOT}/tests/gpu/header.c", "-o", "gpu", "-pthread", "-ldl"]
                                             for c in (C99, *(o for o in OTHERS if "++" not in o[0])))], fake) is None:
        return
    got, out, err = run([f"{folder}/gpu"], {**env, "GONE": "libcuda"})
    if got == 3:
        ok("without a driver, tests/gpu/header.c says so")
    else:
        bad("without a driver, tests/gpu/header.c says so", f"exit code {got}\n{out}{err}")
    got, out, err = run([f"{folder}/main"], {**env, "GONE": "libcuda"})
    if got == 1 and out == "there is no CUDA driver: looked for libcuda.so.1, which NVIDIA's driver installs\n":
        ok("without a driver, the program of docs/header.md says so")
    else:
        bad("without a driver, the program of docs/header.md says so", f"exit code {got}\n{out}{err}")


def true_code(folder):
    """By NVIDIA's NVRTC, on a machine with a driver or without one."""
    write(folder, "true.c", '#define SUM_IMPLEMENTATION\n#include "sum.h"\n#include <stdio.h>\nint main(void)\n{\n    printf("%d\\n", sum_use_device(0));\n    return 0;\n}\n')
    env = {**os.environ, "XDG_CACHE_HOME": f"{folder}/true_cache"}
    code, _, err = run([RISEC, "sum.rise", "-o", "sum.h"], env, folder)
    if code == 3 and "E0650" in err:
        print("skip a header by NVRTC: there is no NVRTC")
        return
    out = None if code else builds("a header by NVRTC", folder, [[CC, "-std=c99", *STRICT, "true.c", "-o", "true"], ["./true"]], None)
    if out is not None and out.strip() in ("0", "-1", "-3"):
        ok(f"a header by NVRTC: {os.path.getsize(f'{folder}/sum.h')} bytes, and no driver is said so" if out.strip() == "-1" else "a header by NVRTC")
    elif code or out is not None:
        bad("a header by NVRTC", f"exit code {code}\n{out}\n{err}")


def main():
    with tempfile.TemporaryDirectory(prefix="risec-header-") as folder:
        os.mkdir(f"{folder}/fake")
        for source, library in (("fake_cuda.c", "libcuda.so.1"), ("fake_nvrtc.c", "libnvrtc.so.13")):
            code, out, err = run([CC, "-shared", "-fPIC", *STRICT, f"{HERE}/{source}", "-o", f"{folder}/fake/{library}", "-pthread", "-ldl"])
            if code != 0:
                bad(source, out + err)
                return
        env = {**os.environ, "LD_LIBRARY_PATH": f"{folder}/fake", "XDG_CACHE_HOME": f"{folder}/cache"}
        given = sys.argv[1:]
        if "--write" not in given:
            programs(folder, env, given)
        if not given or "--write" in given:
            written(folder, env)
        if not given:
            words(folder, env)
            behaviour(folder, env)
            together(folder, env)
            refusals(folder, env)
            without(folder, env)
            true_code(folder)


main()
