#!/usr/bin/env python3
"""Damaged programs (tests/fuzz): what `risec check` accepts of them agrees on the simulator and the reference, and its text is C++ and CUDA C.

    tests/scripts/mutants.py [--count N] [--seed N] [--first K] [--nvrtc N] [--limits N]

unit test_mutants checks and runs them; here a C++ compiler and NVRTC read the text of those that were accepted (NVRTC of N of them). The seed is printed; mutant K of a seed is what
`test_mutants --seed N --show K FILES` prints."""
import argparse
import collections
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "text"))
import run_text  # noqa: E402

from ptx_text import find_nvrtc, ptx_of  # noqa: E402

ALL = os.environ.get("RISEC_LEVEL") == "all"
TOGETHER, SHOWN = 40, 5
# Mutants that are made before their texts are read: a long run says how far it is, and keeps few texts.
AT_ONCE = 2000
# NVRTC takes minutes for megabytes. A C++ compiler reads all texts.
NVRTC_BYTES = 300000
CORES = len(os.sched_getaffinity(0))


def programs():
    """All .rise files of the tree, from its root."""
    found = glob.glob(f"{ROOT}/**/*.rise", recursive=True)
    return sorted(os.path.relpath(path, ROOT) for path in found if not os.path.relpath(path, ROOT).startswith("build/"))


def report(name, wrong):
    print(f"{'not ok' if wrong else 'ok'} {name}")
    for line in "\n".join(wrong[:SHOWN]).splitlines():
        print("# " + line)
    sys.stdout.flush()
    return bool(wrong)


def read(path):
    with open(path) as file:
        return file.read()


def one_by_one(paths, reads):
    """Names and complaints. `reads` takes several texts at once, and gives what is wrong, or ""."""
    wrong = []

    def batch(some):
        if not reads(some):
            return
        for path in some:
            said = reads([path])
            if said:
                wrong.append(f"{os.path.basename(path)}: {said[:600]}")

    with ThreadPoolExecutor(CORES) as pool:
        list(pool.map(batch, [paths[k : k + TOGETHER] for k in range(0, len(paths), TOGETHER)]))
    return wrong


def cpp_reads(paths):
    text = '#include "cuda_shim.h"\n'
    for k, path in enumerate(paths):
        text += f"namespace cuda_shim {{ namespace p{k} {{\n#line 1 \"{path}\"\n{run_text.to_cpp(read(path))}\n}} }}\n"
    done = subprocess.run([run_text.CXX, *run_text.COMMON, "-fsyntax-only", "-x", "c++", "-"], input=text, capture_output=True, text=True)
    return done.stderr.strip() if done.returncode else ""


def nvrtc_reads(nvrtc, paths):
    """To PTX for the oldest architecture; all of it together, each in a namespace of its own."""
    include = re.compile(r"^[ \t]*#[ \t]*include\b.*$", re.M)
    texts = [read(path) for path in paths]
    head = sorted({line for text in texts for line in include.findall(text)})
    parts = [f"#undef RISE_HELPERS\nnamespace p{k} {{\n{include.sub('', text)}\n}}\n".replace('extern "C"', "") for k, text in enumerate(texts)]
    source = "\n".join(head) + "\n" + "".join(parts)
    try:
        ptx_of(nvrtc, source, "compute_75")
    except RuntimeError as error:
        return "\n".join(line for line in str(error).splitlines() if "error" in line) or str(error)
    return ""


def run_mutants(seed, first, count, keep):
    shares = CORES
    test = os.path.join(run_text.BUILD, "release", "unit", "test_mutants")
    files, each = programs(), -(-count // shares)

    def share(k):
        return subprocess.run([test, "--seed", str(seed), "--first", str(first + k * each), "--count", str(min(each, count - k * each)), "--keep", keep, *files],
                              cwd=ROOT, capture_output=True, text=True)

    with ThreadPoolExecutor(shares) as pool:
        return list(pool.map(share, range(shares)))


class Run:
    """What is known of the mutants so far."""

    def __init__(self, nvrtc):
        self.nvrtc, self.counts, self.texts, self.cuda = nvrtc, collections.Counter(), 0, 0
        self.wrong, self.wrong_cpp, self.wrong_cuda = [], [], []

    def add(self, seed, first, count, cuda):
        """`cuda`: how many texts NVRTC reads."""
        with tempfile.TemporaryDirectory() as keep:
            for done in run_mutants(seed, first, count, keep):
                said = [line for line in done.stdout.splitlines() if line]
                self.counts.update({kind: int(n) for n, kind in re.findall(r"(\d+) ([a-z][a-z ]*)", said[-2] if len(said) > 1 else "")})
                self.wrong += [done.stdout + done.stderr] if done.returncode else []
            texts = sorted(path for path in glob.glob(f"{keep}/*.cu") if os.path.getsize(path))
            if shutil.which(run_text.CXX):
                self.wrong_cpp += one_by_one(texts, cpp_reads)
                self.texts += len(texts)
            if self.nvrtc:
                some = [path for path in texts if os.path.getsize(path) <= NVRTC_BYTES][:cuda]
                self.wrong_cuda += one_by_one(some, lambda paths: nvrtc_reads(self.nvrtc, paths))
                self.cuda += len(some)

    def report(self, count):
        counts = ", ".join(f"{n} {kind}" for kind, n in self.counts.items())
        failed = report(f"{count} mutants: {counts}", self.wrong)
        if shutil.which(run_text.CXX):
            failed |= report(f"{self.texts} texts are C++", self.wrong_cpp)
        else:
            print(f"skip texts: no {run_text.CXX}")
        if self.nvrtc:
            failed |= report(f"{self.cuda} texts are CUDA C", self.wrong_cuda)
        else:
            print("skip CUDA C of mutants: no libnvrtc.so.13 or .12")
        return failed


def planted():
    """The comparison can fail: faults in the kernels of mutants whose sums round, of which the judge has to find some. The seed is fixed, so that they are the same each time."""
    test = os.path.join(run_text.BUILD, "release", "unit", "test_mutants")
    done = subprocess.run([test, "--plant", "--seed", "1", "--count", "100", "--least", "5", "tests/fuzz/rounds.rise"], cwd=ROOT, capture_output=True, text=True)
    said = [line for line in done.stdout.splitlines() if line]
    return report(said[-1] if said else "planted faults", [done.stdout + done.stderr] if done.returncode else [])


def limits(seed, count):
    """One number of each is one at which a type or a range ends. In the sanitized build, which stops where a sum or a product leaves its type."""
    test = os.path.join(run_text.BUILD, "sanitize", "unit", "test_mutants")
    if not os.path.exists(test):
        print("skip numbers at their limits: there is no sanitized build")
        return False

    # How much memory the machine has decides nothing: no allocation takes more than this.
    env = dict(os.environ, ASAN_OPTIONS=os.environ.get("ASAN_OPTIONS", "") + ":allocator_may_return_null=1:max_allocation_size_mb=1024")

    def share(k):
        own = range(k, count, CORES)
        return subprocess.run([test, "--limits", "--seed", str(seed), "--first", str(k * count), "--count", str(len(own)), "--least", "5", *programs()],
                              cwd=ROOT, env=env, capture_output=True, text=True)

    with ThreadPoolExecutor(CORES) as pool:
        wrong = [done.stdout + done.stderr for done in pool.map(share, range(CORES)) if done.returncode]
    return report(f"{count} programs with a number at its limit", wrong)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=10000 if ALL else 500)
    parser.add_argument("--seed", type=int, default=int(os.environ.get("SEED", "1")))
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--nvrtc", type=int, default=1000 if ALL else 25)
    parser.add_argument("--limits", type=int, default=20000 if ALL else 200)
    options = parser.parse_args()
    print(f"# seed {options.seed}")
    run = Run(find_nvrtc())
    for done in range(0, options.count, AT_ONCE):
        now = min(options.count, done + AT_ONCE)
        if done:
            print(f"# {done}: {run.counts['accepted by check']} accepted, {len(run.wrong + run.wrong_cpp + run.wrong_cuda)} wrong", flush=True)
        run.add(options.seed, options.first + done, now - done, options.nvrtc * now // options.count - run.cuda)
    failed = run.report(options.count) | planted() | limits(options.seed, options.limits)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
