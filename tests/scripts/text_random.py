#!/usr/bin/env python3
"""Random well-typed programs (tests/random) on the reference interpreter, on the simulator and through the text executor, which must all agree for the same launches.

The reference runs the program as it is written. To the bit; only where a high-level program rounds, so that the order of its sums matters, the simulator may differ from the
reference by the tolerance, and then the text has the simulator's bits.

    tests/scripts/text_random.py            some of both kinds
    tests/scripts/text_random.py [--high] [--count N] [--seed N] [--first K] [--fast]

Program K of a seed is what `test_random --seed N --show K` prints. --high: high-level programs, which the scheduler lowers (`test_random --high 1`). --fast: without sanitizers, for long runs. A program that risec refuses, or that accepts none of the sizes, shows
nothing: these are counted, and too many of them are a failure. That a high-level one is refused is one."""
import argparse
import collections
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "text"))
import run_text  # noqa: E402

TEST_RANDOM = os.path.join(run_text.BUILD, "release", "unit", "test_random")
# Some that divide, and ragged ones.
SIZES = (0, 1, 2, 3, 7, 31, 32, 33, 45, 64, 100, 128, 256, 1000, 1025)
HIGH_SIZES = (0, 1, 7, 33, 192, 1025, 5000)
SAMPLES = 4           # launches with sizes that the entry accepts, as many want multiples of something
CELLS = 20000         # of the largest array
STEPS = 3000000       # of the reference interpreter, a launch: random programs may take any number
BATCH = 100           # compiled together
# What a run of the tests does, the high-level ones without sanitizers.
SOME, SOME_HIGH = (400, 200) if os.environ.get("RISEC_LEVEL") == "all" else (80, 40)
# Of all programs, at least. A high-level one is never refused; test_random refuses of the others one in ten to one in six.
COMPARED_PERCENT, HIGH_COMPARED_PERCENT = 75, 95


def generated(seed, k, high):
    done = subprocess.run([TEST_RANDOM, "--high", str(int(high)), "--seed", str(seed), "--show", str(k)], capture_output=True, text=True)
    if done.returncode or "entry" not in done.stdout:
        raise RuntimeError(f"test_random does not print program {k}: {done.stderr}")
    return run_text.Program(f"random{k}", text=done.stdout, sizes=HIGH_SIZES if high else SIZES, cells=CELLS, steps=STEPS, samples=SAMPLES, simulate=True)


def check(high, seed, first, count, flags):
    verdicts, cases, rounded, runs, failed = collections.Counter(), 0, 0, 0, False
    for start in range(first, first + count, BATCH):
        with ThreadPoolExecutor(os.cpu_count() or 2) as pool:
            programs = list(pool.map(lambda k: generated(seed, k, high), range(start, min(start + BATCH, first + count))))
        for program, r in zip(programs, run_text.run_batch(programs, seed, flags)):
            verdict = "not run" if r.verdict == "agree" and not r.runs else r.verdict
            verdicts[verdict] += 1
            cases, rounded, runs = cases + r.cases, rounded + r.rounded, runs + r.runs
            if verdict == "not run":
                print(f"# {r.name} accepts none of the sizes, or takes too long")
            if verdict in ("agree", "not run") or (verdict == "refused" and not high):
                continue
            failed = True
            print(f"not ok {r.name} of seed {seed}")
            for line in [f"{r.verdict}: {r.detail}", *r.log.splitlines(), *program.text.splitlines()]:
                print("# " + line)
            sys.stdout.flush()
    said = ", ".join(f"{n} {verdict}" for verdict, n in sorted(verdicts.items()))
    enough = (verdicts["agree"] + verdicts["differ"]) * 100 >= count * (HIGH_COMPARED_PERCENT if high else COMPARED_PERCENT)
    print(f"{'ok' if enough and not failed else 'not ok'} {count} random {'high-level ' if high else ''}programs: {said}; "
          f"{cases} launches, {rounded} of them rounded, each in several orders: {runs} runs")
    return not failed and enough


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--high", action="store_true")
    parser.add_argument("--count", type=int, default=SOME)
    parser.add_argument("--seed", type=int, default=int(os.environ.get("SEED", "1")))
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--fast", action="store_true")
    options = parser.parse_args()
    if not shutil.which(run_text.CXX):
        print(f"skip random texts: no {run_text.CXX}")
        return 0
    print(f"# seed {options.seed}")
    good = check(options.high, options.seed, options.first, options.count, run_text.FAST if options.fast else run_text.checked_or_fast("random texts"))
    if len(sys.argv) == 1:
        good &= check(True, options.seed, 0, SOME_HIGH, run_text.FAST)
    return int(not good)


if __name__ == "__main__":
    sys.exit(main())
