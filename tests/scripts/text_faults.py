#!/usr/bin/env python3
"""The text executor can fail: wrong kernels (tests/text/misuse.py) are refused, and faults planted into the emitted text (tests/text/faults.py) are caught, by wrong bits, a sanitizer or the shim.

    tests/scripts/text_faults.py            all faults of some programs
    tests/scripts/text_faults.py --all      all faults of all programs
    tests/scripts/text_faults.py NAME...    all faults of these programs
    ... --list                              also prints what survives in the form of tests/text/survivors.txt

tests/text/survivors.txt lists faults that change nothing, each with the reason. SEED: of the inputs and thread orders."""
import collections
import glob
import os
import re
import shutil
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "text"))
import faults  # noqa: E402
import misuse  # noqa: E402
import run_text  # noqa: E402
from programs import all_programs  # noqa: E402

SEED = int(os.environ.get("SEED", "1"))
# One of each kind of kernel: a reduction, a scan, a transposition, a stencil, dynamic shared memory, three axes, indices that are data.
SOME = {"sum", "max", "warp_scan", "programs.tiled_transpose", "programs.stencil", "programs.shared_dynamic", "programs.threads3", "programs.gather_indices",
        "programs.operators"}


def read_survivors():
    """{(program, kind, changed line): reason}."""
    listed = {}
    with open(f"{ROOT}/tests/text/survivors.txt") as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                program, kind, text, reason = (part.strip() for part in line.split(" | "))
                listed[program, kind, text] = reason
    return listed


def check_misuse(flags):
    """What is wrong with the shim, as lines."""
    programs = [run_text.Program(name, text=misuse.RISE, entry="copy", sizes=(0, 1, 33, 100, 1000), hand=text) for name, _, text in misuse.MISUSE]
    said = {r.name: r for r in run_text.run_batch(programs, SEED, flags=flags)}
    for name, wanted, _ in misuse.MISUSE:
        r = said[name + ".hand"]
        good = r.verdict == "agree" and r.runs if not wanted else r.verdict in ("differ", "crash") and re.search(wanted, r.detail + "\n" + r.log)
        if not good:
            yield f"{name}: {r.verdict} {r.detail} {r.log}"


def check_workspace():
    """Which faults of a host function around the workspace are not caught, as lines."""
    program = run_text.Program("workspace", path=f"{ROOT}/tests/programs/workspace.rise", sizes=(20, 33, 400, 1000, 2049, 2600, 33000), spread=1000)

    def change(_, text):
        yield "workspace.none", text
        for name, pattern, new in misuse.WORKSPACE:
            changed, times = re.subn(pattern, new, text)
            if not times:
                raise SystemExit(f"the text of {program.path} has no place for {name}")
            yield f"workspace.{name}", changed

    for r in run_text.run_changed([program], change, SEED):
        if (r.verdict == "agree") != (r.name == "workspace.none") or r.verdict == "broken":
            yield f"{r.name}: {r.verdict} {r.detail} {r.log}"


def main(words):
    if not shutil.which(run_text.CXX):
        print(f"skip text faults: no {run_text.CXX}")
        return 0
    if not run_text.has_sanitizers():  # many faults are found by them alone
        print(f"skip text faults: {run_text.CXX} does not link -fsanitize=address,undefined")
        return 0
    failed = False
    names = {word for word in words if not word.startswith("--")}
    wanted = [p for p in all_programs() if "--all" in words or p.name in (names or SOME)]
    what = {}

    def change(program, text):
        for k, fault in enumerate(faults.faults_of(text)):
            what[f"{program}.{k}"] = (program, fault)
            yield f"{program}.{k}", faults.planted(text, fault)

    print(f"# seed {SEED}")
    for what_runs, flags in (("fibers of its own", run_text.CHECKED), ("ucontext", [*run_text.CHECKED, "-DSHIM_UCONTEXT"])):
        wrong = list(check_misuse(flags))
        failed |= bool(wrong)
        print(f"{'not ok' if wrong else 'ok'} {len(misuse.MISUSE)} kernels on {what_runs}")
        for line in wrong:
            print("# " + line.replace("\n", "\n# "))
    wrong = list(check_workspace())
    failed |= bool(wrong)
    print(f"{'not ok' if wrong else 'ok'} {len(misuse.WORKSPACE)} faults around the workspace")
    for line in wrong:
        print("# " + line.replace("\n", "\n# "))
    results = run_text.run_changed(wanted, change, SEED)
    survivors = read_survivors()
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
    stale = [key for key in survivors if key[0] in {p.name for p in wanted} and key not in used]
    print(f"{'not ok' if stale else 'ok'} every fault in survivors.txt survives")
    for key in stale:
        print("# caught, or no longer there: " + " | ".join(key))
    return int(failed or bool(stale))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
