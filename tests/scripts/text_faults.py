#!/usr/bin/env python3
"""The text executor can fail: faults planted into the emitted text (tests/text/faults.py) are caught, by wrong bits, a sanitizer or the shim.

    tests/scripts/text_faults.py            all faults of some programs, and the missing barriers of all
    tests/scripts/text_faults.py --all      all faults of all programs
    tests/scripts/text_faults.py NAME...    all faults of these programs
    ... --list                              also prints what survives in the form of tests/text/survivors.txt

tests/text/survivors.txt lists faults that change nothing, each with the reason. SEED: of the inputs and thread orders."""
import collections
import glob
import os
import shutil
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "text"))
import faults  # noqa: E402
import run_text  # noqa: E402
from programs import all_programs  # noqa: E402

SEED = int(os.environ.get("SEED", "1"))
# One of each kind of kernel: reductions, scans, transposition, products, stencils, gathers, dynamic shared memory, three axes, several results.
SOME = {"sum", "sum_down", "minmax", "warp_scan", "programs.matmul", "programs.tiled_transpose", "programs.shared_dynamic", "programs.shared_pairs",
        "programs.threads3", "programs.stencil", "programs.gather_indices", "programs.two_results"}


def read_survivors():
    """{(program, kind, changed line): reason}."""
    listed = {}
    with open(f"{ROOT}/tests/text/survivors.txt") as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                program, kind, text, reason = (part.strip() for part in line.split(" | "))
                listed[program, kind, text] = reason
    return listed


def main(words):
    if not shutil.which(run_text.CXX):
        print(f"skip text faults: no {run_text.CXX}")
        return 0
    names = {word for word in words if not word.startswith("--")}
    whole = (lambda name: True) if "--all" in words else (lambda name: name in (names or SOME))
    what = {}

    def change(program, text):
        for k, fault in enumerate(faults.faults_of(text)):
            if whole(program) or (not names and fault[0] == "barrier"):
                what[f"{program}.{k}"] = (program, fault)
                yield f"{program}.{k}", faults.planted(text, fault)

    print(f"# seed {SEED}")
    wanted = [p for p in all_programs() if not names or p.name in names]
    results = run_text.run_changed(wanted, change, SEED)
    survivors, failed = read_survivors(), 0
    caught, alive, used = collections.Counter(), collections.Counter(), set()
    wrong = []
    for r in results:
        program, (kind, number, before, after) = what[r.name]
        key = (program, kind, after.strip())
        if r.verdict in ("differ", "crash", "hang"):
            caught[kind] += 1
        elif r.verdict == "agree" and key in survivors:
            alive[kind] += 1
            used.add(key)
        else:
            wrong.append((kind, f"{program}, line {number + 1}, {r.verdict}: {before.strip()}  ->  {after.strip()}  {r.detail}"))
            if "--list" in words:
                print(f"{program} | {kind} | {after.strip()} | ?")
    for kind in faults.KINDS:
        bad = [text for k, text in wrong if k == kind]
        count = f"{caught[kind]} of {caught[kind] + alive[kind] + len(bad)} caught, {alive[kind]} change nothing"
        print(f"{'not ok' if bad or not caught[kind] else 'ok'} {kind}: {count}")
        for text in bad:
            print("# survives: " + text)
        failed |= bool(bad) or not caught[kind]
    stale = [key for key in survivors if whole(key[0]) and (not names or key[0] in names) and key not in used]
    print(f"{'not ok' if stale else 'ok'} every fault in survivors.txt survives")
    for key in stale:
        print("# caught, or no longer there: " + " | ".join(key))
    return int(failed or bool(stale))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
