#!/usr/bin/env python3
"""Each rule, strategy and definition of the library has a user: what lowers programs, a program of
examples, bench, tests or the tutorial, or a page of docs; or one of the library that has a user.

    tests/scripts/users.py            says which have none
    tests/scripts/users.py --list     prints the users of each

The modules of ALGEBRA are equations for lowering by hand: their rules need no user. docs/rules.md lists all names, and is no user. Prints `ok NAME` or `not ok NAME`."""
import glob
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DEFINITION = re.compile(r"^(rule|strategy|def|operator) +(\w+)", re.M)
START = re.compile(r"^(?:rule|strategy|def|operator|entry|import)\b", re.M)
WORD = re.compile(r"[A-Za-z_]\w*")
PROGRAMS = ("examples/**/*.rise", "bench/**/*.rise", "tests/**/*.rise", "docs/tutorial/*")
PAGES = ("README.md", "docs/*.md")
COMPILER = ("src/**/*.c", "src/**/*.def", "runtime/**/*.c")
ALGEBRA = ("rules/algorithmic", "rules/movement", "rules/lowering", "rules/tiles", "rules/trees",
           "rules/scans")
# A name that no program has: it is not found to be used.
PLANTED = "strategy nobodyAsksForThis = tidy\nstrategy onlyByThat = nobodyAsksForThis ; onlyByThat\n"


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def without_comments(text):
    return re.sub(r"--[^\n]*", "", text)


def words_of_code(page):
    return WORD.findall(" ".join(re.findall(r"```.*?```|`[^`]*`", page, re.S)))


def definitions(text):
    """{name: the words of what defines it}."""
    text = without_comments(text)
    starts = [m.start() for m in START.finditer(text)] + [len(text)]
    found = {}
    for begin, end in zip(starts, starts[1:]):
        named = DEFINITION.match(text, begin)
        if named:
            found.setdefault(named[2], set()).update(WORD.findall(text[named.end():end]))
    return found


def library():
    found = {}
    for path in sorted(glob.glob(f"{ROOT}/lib/*/*.rise")):
        for name, words in definitions(read(path)).items():
            found.setdefault(name, set()).update(words)
    return found


def outside(names):
    """{name: the files outside the library that mention it}; of C code in strings."""
    users = {name: [] for name in names}
    for patterns, words_of in ((PROGRAMS, lambda text: WORD.findall(without_comments(text))),
                               (PAGES, words_of_code),
                               (COMPILER, lambda text: re.findall(r'"(?:[\w.]*\.)?(\w+)"', text))):
        for path in sorted(p for one in patterns for p in glob.glob(f"{ROOT}/{one}", recursive=True)):
            if os.path.isfile(path) and os.path.basename(path) != "rules.md":
                for name in names & set(words_of(read(path))):
                    users[name].append(os.path.relpath(path, ROOT))
    return users


def reached(found, users):
    """Names that have a user, or are part of one that has."""
    seen, left = set(), [name for name in found if users[name]]
    while left:
        name = left.pop()
        if name not in seen:
            seen.add(name)
            left += found[name] & found.keys()
    return seen


def report(name, wrong):
    print(f"{'not ok' if wrong else 'ok'} {name}")
    for line in wrong:
        print("# " + line)
    return bool(wrong)


def main():
    found = library()
    planted = definitions(PLANTED)
    users = outside(found.keys() | planted.keys())
    if "--list" in sys.argv[1:]:
        for name in sorted(found):
            inside = sorted(other for other in found if name in found[other] and other != name)
            print(f"{name}: {', '.join(inside + users[name]) or 'nobody'}")
        return 0
    seen = reached({**found, **planted}, users)
    missed = [name for name in planted if name in seen]
    failed = report("a planted strategy without users is seen", missed)
    free = {name for module in ALGEBRA for name in definitions(read(f"{ROOT}/lib/{module}.rise"))}
    unused = [f"{name}: delete it, or use it" for name in sorted(found) if name not in seen | free]
    return int(failed | report(f"each of {len(found)} names of the library has a user", unused))


sys.exit(main())
