#!/usr/bin/env python3
"""The emitted text of every example and program, compiled for the CPU and run, gives the reference interpreter's bits: tests/text/run_text.py. So does the
hand-written twin of an example, tests/handwritten/NAME.cu. One entry of each file; all of them at the level `all` (RISEC_LEVEL). SEED: of the inputs and thread orders."""
import glob
import os
import shutil
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "text"))
import run_text  # noqa: E402
from programs import all_programs, named_files, sampled  # noqa: E402

SEED = int(os.environ.get("SEED", "1"))


def main():
    if not shutil.which(run_text.CXX):
        print(f"skip text: no {run_text.CXX}")
        return 0
    print(f"# seed {SEED}")
    programs, failed, runs = list(all_programs()), 0, 0
    for r in run_text.run_batch(sampled(programs), SEED, run_text.checked_or_fast("text")):
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
    used = {p.hand for p in programs}
    for path in sorted(glob.glob(f"{ROOT}/tests/handwritten/*.cu")):
        if path not in used:
            failed = 1
            print(f"not ok {os.path.basename(path)} has a .rise twin of its name")
    for p in programs:
        if os.path.dirname(p.path) == f"{ROOT}/examples" and not p.hand:
            failed = 1
            print(f"not ok {p.name} has a hand-written twin, {p.entry}_hand in tests/handwritten/")
    entered = {p.path for p in programs}
    for name, path in named_files():
        if path not in entered:
            failed = 1
            print(f"not ok {name} has an entry")
    return failed


if __name__ == "__main__":
    sys.exit(main())
