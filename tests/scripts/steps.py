#!/usr/bin/env python3
"""What strategies do to the high-level examples: no step changes a result (--verify-each), and the saved steps make the same program again. RISEC names the
binary. Each check prints `ok NAME` or `not ok NAME`, then why in lines that begin with #."""
import glob
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


# Smaller tiles and fewer threads, by the same steps: those of the examples take the reference interpreter most of a minute.
STRATEGIES = {"registers": "matmulRegisters(8, 2, 2, 1, 1)", "sum7": "harris7(32, 2)"}


def lower(*args):
    done = subprocess.run([os.environ["RISEC"], "lower", *args], cwd=ROOT, capture_output=True, text=True, timeout=300)
    return done.returncode, done.stdout, done.stderr


def check(path, entry, trace):
    """Why it is not good, or nothing."""
    how = ["--strategy", STRATEGIES[entry]] if entry in STRATEGIES else []
    code, program, err = lower(path, entry, *how, "--verify-each", "--save", trace)
    if code or not re.search(r"^-- each step gives what the program before it gives", program, re.M):
        return f"exit code {code}\n{err}"
    code, again, err = lower(path, entry, "--replay", trace)
    if code:
        return f"the steps cannot be made again: exit code {code}\n{err}"
    return "" if again == re.sub(r"(?m)^-- each step gives.*\n", "", program) else "the steps made again give another program"


def check_nests(path, entry, trace):
    """The same of the scheduler, whose steps are compared with the reference elsewhere."""
    code, program, err = lower(path, entry, "--save", trace)
    if code:
        return f"exit code {code}\n{err}"
    code, again, err = lower(path, entry, "--replay", trace)
    return "" if not code and again == program else f"the steps made again give another program: exit code {code}\n{err}"


# Its laws hold of the values that the program makes, where a count of 0 has the mean 0; not of all values of its type.
ONLY_REACHABLE = {"examples/high/chains.rise"}


# Whole patterns start each part from the unit. What only NaN breaks is no error.
FROM_UNIT = "its laws hold of values that were combined with its unit"


def laws():
    """Programs with operators whose laws do not hold, and why."""
    wrong = []
    for path in sorted(glob.glob(f"{ROOT}/examples/**/*.rise", recursive=True) + glob.glob(f"{ROOT}/tests/programs/*.rise") + glob.glob(f"{ROOT}/docs/quickstart/*.rise")):
        with open(path, encoding="utf-8") as file:
            if not re.search(r"^operator ", file.read(), re.M) or os.path.relpath(path, ROOT) in ONLY_REACHABLE:
                continue
        done = subprocess.run([os.environ["RISEC"], "check", "--laws", path], capture_output=True, text=True, timeout=300)
        errors = len(re.findall(r": error\[", done.stderr))
        ends_well = not done.returncode or "/docs/" not in path
        if not ends_well or errors != done.stderr.count(FROM_UNIT) or not (errors or re.search(r"^operator \w+: its laws held", done.stdout, re.M)):
            wrong.append(f"{path}: {done.stdout}{done.stderr}")
    return wrong


def report(name, wrong):
    print(f"not ok {name}" if wrong else f"ok {name}")
    for line in "\n".join(wrong).splitlines():
        print(f"# {line}")
    return not wrong


def replayed(name, path, check_entry):
    with open(f"{ROOT}/{path}", encoding="utf-8") as file:
        entries = re.findall(r"^entry (\w+)", file.read(), re.M)
    wrong = []
    with tempfile.TemporaryDirectory() as scratch:
        for entry in entries:
            why = check_entry(path, entry, f"{scratch}/{entry}.json")
            if why:
                wrong.append(f"{entry}: {why}")
    return report(name, wrong)


NESTS = ("centred", "dimensions", "kernels", "repeated", "rows", "scans", "sequences", "stages", "toglobal")


def main():
    good = report("laws-of-operators", laws())
    for path in sorted(glob.glob(f"{ROOT}/examples/high/*.rise")):
        path = os.path.relpath(path, ROOT)
        good &= replayed(f"steps-{os.path.basename(path)[: -len('.rise')]}", path, check)
    for name in NESTS:
        good &= replayed(f"steps-nests-{name}", f"tests/nests/{name}.rise", check_nests)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
