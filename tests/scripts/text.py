#!/usr/bin/env python3
"""The emitted text of every example and program, compiled for the CPU and run, gives the reference interpreter's bits: tests/text/run_text.py. So does the
hand-written twin of an example, tests/handwritten/NAME.cu. SEED: of the inputs and thread orders."""
import glob
import os
import shutil
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "text"))
import run_text  # noqa: E402

SEED = int(os.environ.get("SEED", "1"))
# Sizes that divide, for programs that want that, and primes.
SIZES = (*run_text.SIZE_CLASSES, 2, 7, 20, 64, 96, 100, 192, 997, 4096, 8192)
# These do work that grows with the square of the size, on the reference interpreter too.
LARGEST = {"conditional": 8192, "global_state": 100, "tree_loop_let": 100, "nbody": 2047, "nearest": 2047, "knearest": 2047, "nbody_tiled": 2047,
           "levenshtein": 2047}


def main():
    if not shutil.which(run_text.CXX):
        print(f"skip text: no {run_text.CXX}")
        return 0
    print(f"# seed {SEED}")
    programs = []
    for path in sorted(glob.glob(f"{ROOT}/examples/*.rise")) + sorted(glob.glob(f"{ROOT}/tests/programs/*.rise")):
        name = os.path.basename(path)[: -len(".rise")]
        hand = f"{ROOT}/tests/handwritten/{name}.cu"
        sizes = tuple(n for n in SIZES if n <= LARGEST.get(name, n))
        programs.append(run_text.Program(name, path, sizes=sizes, hand=hand if os.path.exists(hand) else ""))
    failed, runs = 0, 0
    for r in run_text.run_batch(programs, SEED):
        runs += r.runs
        if r.verdict == "agree" and r.runs:
            print(f"ok {r.name}")
            continue
        failed = 1
        print(f"not ok {r.name}")
        print(f"# {r.verdict}: {r.detail or 'no size could be run'}")
        for line in r.log.splitlines():
            print("# " + line)
    print(f"# {runs} launches")
    return failed


sys.exit(main())
