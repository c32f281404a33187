#!/usr/bin/env python3
"""What `risec check` accepts compiles: with exit code 0, the text has no number that was lost, and NVRTC makes code of it for all architectures that it knows.

    tests/scripts/accepts.py [--seed N] [--count N]     the programs of the repository, and N compositions of views at random

A sample of the programs; all of them, more compositions, and kernels with each name that CUDA's headers mention, at the level `all` (RISEC_LEVEL). Prints `ok NAME`, `not ok NAME`
or `skip NAME: REASON`."""
import argparse
import glob
import os
import random
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from nvcc import CUDA, Text, batches, find_nvrtc, joined, nvrtc_log, nvrtc_archs  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RISEC = os.environ.get("RISEC") or os.path.join(ROOT, "build", "release", "risec")
ALL = os.environ.get("RISEC_LEVEL") == "all"
SAMPLE = 40      # one of so many programs goes through NVRTC,
CHECKED = 10     # and one of so many through risec
NVRTC_BYTES = 100000  # a longer text goes through NVRTC, which takes minutes for megabytes, at the level `all` only
CHAIN = 12       # views of a composition, at most
SECONDS = 60     # of one program


def run(*words, cwd=None):
    done = subprocess.run([RISEC, *words], capture_output=True, text=True, errors="replace", timeout=SECONDS, cwd=cwd)
    return done.returncode, done.stdout, done.stderr


def lost(text):
    """A number that the compiler lost is printed as the word `error`, which texts have as a name of the host's only."""
    kernels = text.split("#ifndef __CUDACC_RTC__")[0]
    return re.search(r"(?<![\w\"'/])error(?!\w)", re.sub(r"//[^\n]*", "", kernels))


# ---- programs ----------------------------------------------------------------------------------------------------------------------------


def programs():
    found = subprocess.run(["git", "ls-files", "*.rise"], cwd=ROOT, capture_output=True, text=True).stdout.split() or \
        [os.path.relpath(p, ROOT) for p in glob.glob(f"{ROOT}/**/*.rise", recursive=True)]
    return sorted(p for p in found if not p.startswith(("tests/parse/", "build/")))


def accepted(path):
    """(whether check accepts it, what is wrong, the text)"""
    folder, name = os.path.split(os.path.join(ROOT, path))
    try:
        code, _, _ = run("check", name, cwd=folder)
        if code:
            return False, "", ""
        made, text, said = run(name, "-o", "-", cwd=folder)
    except subprocess.TimeoutExpired:
        return False, f"did not end in {SECONDS} s", ""
    if "E0622" in said:  # it has no entry
        return False, "", ""
    return True, said or f"exit code {made}" if made else "a number was lost in the text" if lost(text) else "", text


# ---- compositions of views -----------------------------------------------------------------------------------------------------------------


class Chain:
    """A one-dimensional array of n elements, or its rows, through views with odd constants."""

    def __init__(self, rng):
        self.rng, self.stages = rng, []
        for _ in range(rng.randint(1, CHAIN)):
            self.add()

    def constant(self):
        return self.rng.choice([1, 2, 3, 5, 7, 12, 17, 31, 33, 64, 100, 127, 1000, 4097, 65537, 2**31 - 1, 2**31 + 11, 2**40 + 1])

    def add(self):
        rng, k = self.rng, self.constant()
        inner = rng.choice(["map(reverse)", "transpose |> map(reverse) |> transpose", "transpose |> transpose", "map(id)", f"padTo({self.constant()}, generate(fun i => 0)) |> reverse"])
        self.stages.append(rng.choice([
            f"padTo({k}, 0) |> split({k}) |> {inner} |> join",
            f"padTo({k}, 0) |> split({k}) |> transpose |> join",
            "reverse",
            f"padCst({rng.randint(0, 9)}, {rng.randint(0, 9)}, 1)",
            f"padCst(5, {k}, 2) |> reverse |> take(5)" if rng.random() < 0.2 else "reverse",
            f"splitDrop({k}) |> {rng.choice(['map(reverse)', 'transpose'])} |> join",
            "padCst(1, 1, 0) |> slide(3, 1) |> map(fun w => w[0] + w[2])" if len(self.stages) < 4 else "reverse",
            f"concatTwice |> drop({rng.randint(0, 3)})" if len(self.stages) < 3 else "reverse",
            f"stretched({rng.choice([2, 3, 5])})",
        ]))

    def program(self):
        body = "\n     |> ".join(self.stages)
        return ("def concatTwice {n: nat} (xs: n.i32): (2*n + 3).i32 = concat(concat(xs, generate{n = 3}(fun i => 7)), xs)\n"
                "def stretched {n: nat} (k: nat) (xs: n.i32): (k*n).i32 where k >= 1 = generate{n = k*n}(fun i => if i / k < n then xs[i / k] else 0)\n"
                f"entry e {{n: nat}} (xs: n.i32): 1.i32 where n >= 100 =\n  xs |> {body}\n     |> mapGlobal(id)\n")


def composed(seed, folder):
    """The text of a random composition, whose length risec tells; None where none could be made that is well typed."""
    rng = random.Random(seed)
    for _ in range(20):
        program, path = Chain(rng).program(), os.path.join(folder, f"views{seed}.rise")
        for _ in range(2):
            with open(path, "w", encoding="utf-8") as file:
                file.write(program)
            code, _, said = run("check", path)
            if code == 0:
                return path
            length = re.search(r"the body of `e` is (\(.*?\)|\w+)\.i32", said)
            if not length:
                break
            program = program.replace(": 1.i32", f": {length[1]}.i32")
    return None


def is_small(path):
    """The result for n = 100, and the constants of the views between: the reference would fill all its memory with a view of 2^31 elements."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    header = re.search(r"^entry .*?\): (.*)\.i32 where", text, re.M)[1]
    if any(int(number) > 1 << 24 for number in re.findall(r"\b\d+\b", text)):
        return False
    size = re.sub(r"ceilDiv\(", "ceil_div(", header).replace("/", "//").replace("^", "**")
    return eval(size, {"ceil_div": lambda a, b: -(-a // b), "n": 100, "min": min, "max": max}) <= 100000


def agrees(path):
    """A composition has the reference's values; one that is too large for the reference is not compared."""
    if not is_small(path):
        return ""
    code, _, said = run("run", path, "--set", "n=100", "--arg", "xs=iota", "--verify")
    return "" if code == 0 or "error[E0605]" in said else said or f"exit code {code}"


# ---- names ---------------------------------------------------------------------------------------------------------------------------------


def names():
    found = set()
    for path in glob.glob(f"{CUDA}/include/*.h") + glob.glob(f"{CUDA}/include/crt/*.h*"):
        if re.match(r"(cu(dnn|blas|sparse|fft|rand|solver)|npp|nv)", os.path.basename(path)):
            continue
        with open(path, errors="replace") as file:
            found |= set(re.findall(r"\b([a-z]\w*)\s*\(", file.read()))
    return sorted(found)


def named(found, folder):
    """Texts of kernels with these names, but for those that are words of the language."""
    texts = []
    for k in range(0, len(found), 60):
        some, path = found[k : k + 60], os.path.join(folder, f"names{k}.rise")
        for _ in range(20):
            with open(path, "w", encoding="utf-8") as file:
                file.writelines(f"entry {name} {{size: nat}} (items: size.f32): size.f32 = items |> mapGlobal(fun x => x + 1)\n" for name in some)
            code, text, said = run(path, "-o", "-")
            if code == 0:
                texts.append(Text(f"names {some[0]} .. {some[-1]}", path, text))
                break
            wrong = {int(line) for line in re.findall(r"\.rise:(\d+):\d+: error", said)}
            some = [name for line, name in enumerate(some, 1) if line not in wrong]
    return texts


# ---- all of them ---------------------------------------------------------------------------------------------------------------------------


def report(name, wrong):
    print(f"{'not ok' if wrong else 'ok'} {name}")
    for line in wrong.splitlines()[:20]:
        print("# " + line)
    sys.stdout.flush()
    return bool(wrong)


def refused(nvrtc, text, arch):
    """What NVRTC says of a text that it does not take; warnings are about launch bounds of other devices."""
    said = nvrtc_log(nvrtc, text, arch)
    return "" if ": result 0\n" in said else said


def compile_all(nvrtc, name, texts):
    """In batches; one after the other where a batch fails."""
    known, wrong = nvrtc_archs(nvrtc), ""
    archs = known if ALL else [known[0], known[-1]]
    for arch in archs:
        for batch in batches(texts):
            if refused(nvrtc, joined(batch), arch):
                wrong += "".join(f"{t.name}: {said}\n" for t in batch for said in [refused(nvrtc, t.text, arch)] if said)
        if wrong:
            break
    return report(f"{name}: NVRTC compiles {len(texts)} texts for {len(archs)} architectures", wrong)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=400 if ALL else 16)
    options = parser.parse_args()
    failed, nvrtc = False, find_nvrtc()
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        paths = programs() if ALL else programs()[:: CHECKED]
        results = dict(zip(paths, pool.map(accepted, paths)))
        good = [p for p in paths if results[p][0]]
        failed |= report(f"programs: {len(good)} of {len(paths)} are accepted, and have a text", "".join(f"{p}: {wrong}\n" for p, (_, wrong, _) in results.items() if wrong)
                         or ("" if 2 * len(good) > len(paths) else "too few"))
        views = [p for p in pool.map(lambda seed: composed(seed, folder), range(options.seed, options.seed + options.count)) if p]
        texts = [accepted(p) for p in views]
        wrong = "".join(f"{p}: {w}\n" for p, (_, w, _) in zip(views, texts) if w) + "".join(f"{p}: {w}\n" for p, w in zip(views, pool.map(agrees, views)) if w)
        failed |= report(f"views (--seed {options.seed}): {len(views)} of {options.count} compositions have a text and the reference's values", wrong or ("" if 4 * len(views) > 3 * options.count else "too few"))
        if not nvrtc:
            print("skip NVRTC: no libnvrtc.so.13 or .12")
            return failed
        sample = good if ALL else [p for p in good if len(results[p][2]) <= NVRTC_BYTES][:: SAMPLE // CHECKED]
        failed |= compile_all(nvrtc, "programs", [Text(p, p, results[p][2]) for p in sample])
        some = list(zip(views, texts)) if ALL else list(zip(views, texts))[:: 4]
        failed |= compile_all(nvrtc, "views", [Text(p, p, text) for p, (_, _, text) in some])
        if ALL:
            failed |= compile_all(nvrtc, "names", named(names(), folder))
    return failed


if __name__ == "__main__":
    sys.exit(main())
