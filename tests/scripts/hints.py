#!/usr/bin/env python3
"""What hints propose can be applied. RISEC names the binary.

    tests/scripts/hints.py [--write]

Of each program of tests/check and tests/lower `risec check --json` is read. A hint that proposes a text has it as edits; they lie in the program, and applied they mend
what the message is about: it is not said again. Hints that only explain are listed in explaining.txt in each of the two folders, one line for each with its code and its
words up to the first backquote; at most one in five of all hints in tests/check may be of that kind. What is wrong with levels and memory, in tests/lower, mostly wants
another shape of the program, which no edit makes. --write makes the lists again.
"""
import collections
import contextlib
import glob
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RISEC = os.path.abspath(os.environ.get("RISEC", f"{ROOT}/build/release/risec"))
FOLDERS = {"check": 5, "lower": 1}  # one in so many hints may explain only


def diagnostics(path, cwd):
    """What check says of a program, and its exit code."""
    done = subprocess.run([RISEC, "check", "--json", path], cwd=cwd, capture_output=True, timeout=600)
    if done.stderr:
        raise ValueError(f"{path}: check --json says beside its output: {done.stderr.decode()}")
    return json.loads(done.stdout)["diagnostics"], done.returncode


@contextlib.contextmanager
def copied(folder):
    """A folder for a moment with the programs of another one, so that imports are found."""
    with tempfile.TemporaryDirectory() as other:
        for path in glob.glob(f"{folder}/*.rise"):
            os.symlink(path, f"{other}/{os.path.basename(path)}")
        yield other


def write_over(path, data):
    """In a copied folder: the program itself is left alone."""
    if os.path.lexists(path):
        os.unlink(path)
    with open(path, "wb") as file:
        file.write(data)


def applied(text, edits):
    """The bytes of a program with the edits of one hint."""
    last = len(text)
    for edit in sorted(edits, key=lambda edit: edit["span"], reverse=True):
        lo, hi = edit["span"]
        if not lo <= hi <= last:
            raise ValueError(f"the edit {edit} overlaps another, or lies outside")
        text, last = text[:lo] + edit["text"].encode() + text[hi:], lo
    return text


def said(diagnostics):
    return collections.Counter((d["code"], d["message"]) for d in diagnostics)


def mends(home, name, diagnostic, before):
    """Why the edits of a diagnostic do not mend it; None where they do."""
    edits = diagnostic["hints"][0]["edits"]
    if any(edit["file"] != name for edit in edits):
        return "an edit of another file"
    with open(f"{home}/{name}", "rb") as file:
        text = applied(file.read(), edits)
    with copied(home) as folder:
        write_over(f"{folder}/{name}", text)
        after, _ = diagnostics(name, folder)
    what = (diagnostic["code"], diagnostic["message"])
    return None if said(after)[what] < said(before)[what] else "the same message again:\n" + text.decode("utf-8", "replace")


def look(home, where, share):
    """Reports the hints of a folder's programs; whether all is well."""
    failed, hints, explaining = [], 0, []
    for path in sorted(glob.glob(f"{home}/*.rise")):
        name = os.path.basename(path)
        if os.path.exists(path[:-5] + ".cmd"):
            continue
        before, _ = diagnostics(name, home)
        for diagnostic in before:
            for hint in diagnostic["hints"]:
                hints += 1
                if not hint["edits"]:
                    explaining.append(f"{name} {diagnostic['code']} {hint['message'].split('`')[0].strip()}")
                    continue
                why = mends(home, name, diagnostic, before)
                if why:
                    failed.append(f"{name}:{diagnostic['line']}: {diagnostic['code']} {hint['message']}: {why}")
    path, text = f"{home}/explaining.txt", "".join(f"{line}\n" for line in sorted(explaining))
    if "--write" in sys.argv[1:]:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    print("not ok" if failed else "ok", f"hints-mend-{where}")
    for why in failed:
        print("# " + why.replace("\n", "\n# "))
    listed = os.path.exists(path) and open(path, encoding="utf-8").read() == text
    print("ok" if listed else "not ok", f"hints-listed-{where}")
    if not listed:
        print(f"# tests/{where}/explaining.txt is not up to date: tests/scripts/hints.py --write, and look at what changes")
    few = share * len(explaining) <= hints and hints >= 90
    print("ok" if few else "not ok", f"hints-few-explain-{where}")
    print(f"# {hints} hints, {len(explaining)} of them explain only")
    return not failed and listed and few


def main():
    good = [look(f"{ROOT}/tests/{where}", where, share) for where, share in FOLDERS.items()]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
