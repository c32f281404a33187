#!/usr/bin/env python3
"""No hint makes a wrong program of a right one that was damaged. RISEC names the binary.

    tests/scripts/damage.py [--all] [--seed N] [--count N] [FILE...]

Each of the right programs (examples, tests/programs, the library's users; or the files that are named) is damaged in one place: a `transpose`, a cast, `ceilDiv`, a
condition after `where`, a `fun` or a parameter is left out. If `risec check --json` then refuses it, the edits of its first hint are applied. What comes out has to
compile, and to give what the right program gave, on the reference, for each of several sizes and seeds; a hint without edits explains, and changes nothing. A sample
of COUNT damages (default 150) is tried, drawn by a seed that is printed; --all tries each.
"""
import argparse
import collections
import concurrent.futures
import functools
import glob
import json
import os
import random
import re
import subprocess
import sys

from hints import RISEC, ROOT, applied, copied, diagnostics, write_over

SIZES = (64, 32, 128, 8, 33, 1024, 1, 5)
KEPT, MOST_TRIES = 2, 40  # launches of each entry; attempts to find them
MEMORY = 400000  # KiB
OPENERS = {"(": ")", "{": "}"}


def risec(words, cwd):
    """With so little memory that sizes of a gigabyte, where a program multiplies its own, are refused at once."""
    return subprocess.run(["sh", "-c", f'ulimit -v {MEMORY}; exec "$@"', "sh", RISEC, *words], cwd=cwd, capture_output=True, text=True, timeout=600)


def closer(text, at):
    """Where the bracket that opens at `at` is closed; None where it is not."""
    depth, pair = 0, OPENERS[text[at]]
    for k in range(at, len(text)):
        depth += {text[at]: 1, pair: -1}.get(text[k], 0)
        if depth == 0:
            return k
    return None


def code(text):
    """The text with its comments blanked out, so that places stay the same."""
    return re.sub(r"--.*", lambda match: " " * len(match[0]), text)


def cut(text, lo, hi, by=""):
    return text[:lo] + by + text[hi:]


def transposes(text, plain):
    for match in re.finditer(r"\s*(\|>|>>)\s*transpose\b(?!\s*\()", plain):
        yield cut(text, *match.span())


def casts(text, plain):
    for match in re.finditer(r"\bcast\((\w+)\)\(", plain):
        yield cut(text, match.start(), match.end() - 1)


def ceil_divs(text, plain):
    for match in re.finditer(r"\bceilDiv\(", plain):
        end = closer(plain, match.end() - 1)
        inner = text[match.end() : end] if end else ""
        if inner.count(",") == 1:
            yield cut(text, match.start(), end + 1, "(" + inner.replace(",", " /") + ")")


def wheres(text, plain):
    for match in re.finditer(r"\s+where\b(.*?)(?=\n\s*(?:expect|launch|lowered)\b|\s=\s|\s=\n|\slaunch\b|\slowered\b|\sexact\b)", plain, re.S):
        facts = match[1].split(",")
        for k in range(len(facts)):
            rest = ",".join(facts[:k] + facts[k + 1 :])
            yield cut(text, match.start(), match.end(), " where" + rest if rest.strip() else "")


def funs(text, plain):
    for match in re.finditer(r"\bfun (?=[\w(])", plain):
        yield cut(text, *match.span())


def parameters(text, plain):
    for header in re.finditer(r"^(entry|def) \w+", plain, re.M):
        at = header.end()
        while True:
            space = re.compile(r"\s*").match(plain, at).end()
            if space >= len(plain) or plain[space] not in OPENERS:
                break
            end = closer(plain, space)
            if end is None:
                break
            yield cut(text, at, end + 1)
            names = re.match(r"[\w ]+(?=:)", plain[space + 1 : end])
            for name in names[0].split() if names and len(names[0].split()) > 1 else ():
                yield cut(text, space + 1, space + 1 + names.end(), re.sub(rf"\b{name}\b ?", "", names[0]))
            at = end + 1


DAMAGES = {"transpose": transposes, "cast": casts, "ceilDiv": ceil_divs, "where": wheres, "fun": funs, "parameter": parameters}


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def entries(text):
    return re.findall(r"^entry (\w+)", code(text), re.M)


def result(path, cwd, entry, sets, args, seed):
    """What an entry gives on the reference; None where it gives nothing for these sizes."""
    words = ["run", path, entry, "--device", "ref", "--json", "--untuned", "--seed", str(seed)]
    words += [word for name, value in sets for word in ("--set", f"{name}={value}")] + [word for name in args for word in ("--arg", f"{name}=uniform")]
    done = risec(words, cwd)
    if done.returncode != 0:
        return None
    results = json.loads(done.stdout)["results"]
    return None if any(one["values"] is None for one in results) else results  # so many that they are not written


@functools.lru_cache(maxsize=None)
def launches(path):
    """[(entry, sizes, inputs, seed, results)] of a right program."""
    found = []
    for entry in entries(read(path)):
        said = risec(["run", path, entry, "--device", "ref"], os.path.dirname(path)).stderr
        sizes, args = sorted(set(re.findall(r"--set (\w+)=", said))), sorted(set(re.findall(r"--arg ([\w.]+)=uniform", said)))
        draw, kept = random.Random(path + entry), 0
        for k in range(MOST_TRIES if sizes else 1):
            sets = tuple((name, draw.choice(SIZES) if k else SIZES[0]) for name in sizes)
            got = result(path, os.path.dirname(path), entry, sets, args, k)
            if got is not None:
                found.append((entry, sets, args, k, got))
                kept += 1
            if kept == KEPT:
                break
    return found


def judge(path, kind, text):
    """How a damage ends: `accepted`, `explained`, `mended`, `not run`; or what is wrong, with a `!` before it."""
    name = os.path.basename(path)
    with copied(os.path.dirname(path)) as folder:

        def put(data):
            write_over(f"{folder}/{name}", data)
            return diagnostics(name, folder)

        said, status = put(text.encode())
        if status == 0:
            return "accepted"
        first = next(d for d in said if d["severity"] == "error")
        hint = first["hints"][0] if first["hints"] else {"edits": []}
        if not hint["edits"]:
            return "explained"
        if any(edit["file"] != name for edit in hint["edits"]):
            return "! an edit of another file"
        fixed = applied(text.encode(), hint["edits"])
        about = f"{first['code']} {first['message']}; {hint['message']}"
        said, status = put(fixed)
        if status:
            now = next((f"{d['code']} {d['message']}" for d in said if d["severity"] == "error"), status)
            return f"! {about}: and then {now}"
        ran = launches(path)
        for entry, sets, args, seed, wanted in ran:
            got = result(name, folder, entry, sets, args, seed)
            if got != wanted:
                return f"! {about}: {entry} at {sets} gives another result"
        return "mended" if ran else "not run"


def right_programs(names):
    paths = [os.path.abspath(name) for name in names]
    paths = paths or glob.glob(f"{ROOT}/examples/*.rise") + glob.glob(f"{ROOT}/examples/high/*.rise") + glob.glob(f"{ROOT}/tests/programs/*.rise")
    return sorted(paths)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=150)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("files", nargs="*")
    options = parser.parse_args()
    work = []
    for path in right_programs(options.files):
        text = read(path)
        for kind, damage in DAMAGES.items():
            work += [(path, kind, damaged) for damaged in dict.fromkeys(damage(text, code(text)))]
    if not options.all:
        work = random.Random(options.seed).sample(work, min(options.count, len(work)))
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        ends = list(pool.map(lambda one: judge(*one), work))
    counts, wrong = collections.Counter(), []
    for (path, kind, text), end in zip(work, ends):
        counts[kind, end if end[0] != "!" else "wrong"] += 1
        if end[0] == "!":
            wrong.append(f"{os.path.relpath(path, ROOT)}, {kind}: {end[2:]}")
    for kind in DAMAGES:
        print(f"# {kind}: " + ", ".join(f"{n} {end}" for (of, end), n in sorted(counts.items()) if of == kind))
    mended = sum(n for (_, end), n in counts.items() if end == "mended")
    print("not ok" if wrong else "ok", f"damage-hints\n# {len(work)} damages, seed {options.seed}")
    for line in wrong:
        print("# " + line.replace("\n", "\n# "))
    enough = bool(options.files) or mended * 10 >= len(work)
    print("ok" if enough else "not ok", "damage-many-mended")
    return 1 if wrong or not enough else 0


if __name__ == "__main__":
    sys.exit(main())
