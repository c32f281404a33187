#!/usr/bin/env python3
"""Powers in sizes: the simulator and the reference interpreter take the same sizes, give the same, and refuse the same with the same exit code and message. RISEC names the binary.
What the host functions take is for tests/text (powers.rise); what librise takes, for tests/unit/test_api.c and test_api_gpu.c."""
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RISEC = os.environ["RISEC"]
LARGEST = 1 << 52  # of an index, with what it is computed from
ENTRIES = [("base", 2, lambda k: 2**k + 31), ("base", 3, lambda k: 3**k + 31), ("offset", None, lambda k: 3 * 2**k + 31), ("factor", None, lambda k: 31 * 2**k)]


def run(entry, k, m, device):
    sizes = ["--set", f"k={k}"] + (["--set", f"m={m}"] if m else [])
    done = subprocess.run([RISEC, "run", "tests/programs/powers.rise", entry, *sizes, "--arg", "xs=iota", "--device", device], cwd=ROOT, capture_output=True, text=True)
    return done.returncode, done.stdout.split("\n", 1)[-1], done.stderr


def indices(entry, k, m):
    power = (m or 2) ** k
    return [{"base": power + i, "offset": 3 * power + i, "factor": power * i}[entry] % 10 for i in range(10)]


def main():
    wrong = []
    for entry, m, largest in ENTRIES:
        for k in range(29, 65):
            sim, ref = run(entry, k, m, "sim"), run(entry, k, m, "ref")
            name = f"{entry} m = {m} k = {k}"
            if sim != ref:
                wrong.append(f"{name}: sim {sim}, ref {ref}")
            elif largest(k) > LARGEST and not (ref[0] == 1 and "E0602" in ref[2]):
                wrong.append(f"{name}: not refused: {ref}")
            elif largest(k) <= LARGEST and (ref[0], ref[1].strip()) != (0, str([i for i in indices(entry, k, m)])):
                wrong.append(f"{name}: {ref}, and not {indices(entry, k, m)}")
    print("\n".join(f"# {line}" for line in wrong[:10]))
    print("not ok size-limits" if wrong else "ok size-limits")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
