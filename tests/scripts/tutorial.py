#!/usr/bin/env python3
"""What docs/tutorial shows is what risec does; its programs cost what their expect clauses say; its exercises fail as given, and their solutions pass.

    tests/scripts/tutorial.py [--write]     compares; or writes the pages again. RISEC names the binary.

A page is filled as examples.py fills README.md, with programs of docs/tutorial, where its dialogues
are given. Other blocks quote programs, and each of their lines stands in one of them; a block of
kind `text` is a drawing.

A time in microseconds, `17.48 us`, is one that bench/results or a report of docs has.

exercise*.rise and solutions/exercise*.rise have the same commands in their first comment, which must print the same in both: a solution computes what the exercise does,
and keeps its expect clauses. Wrong answers, WRONG, are found by the clause about the result.
"""
import glob
import os
import re
import sys
import tempfile

from examples import ROOT, Failed, compare_times, filled, name_of, read, risec, same, shell, with_outputs

FOLDER = f"{ROOT}/docs/tutorial"
# Wrong answers: what stands in the body of a solution's entry, and what somebody wrote instead.
WRONG = {
    "exercise1": [("2 * x", "3 * x"), ("mapSeq(fun x => 2 * x)", "mapSeq(id)")],
    "exercise2": [("i % 2 == 1", "i % 2 == 0"), ("root(x)", "x")],
    "exercise3": [("reduceSeq((+), 0)", "reduceSeq((+), 7)"), ("(+), 0", "max, 0")],
    "exercise4": [("max(a, b)", "min(a, b)"), ("drop(256, chunk)", "take(256, chunk)")],
    "exercise5": [("x / top", "top / x"), ("x / top", "x")],
    "exercise6": [("x > 0", "x < 0"), ("x > 0", "x >= 0"), ("padTo(1024, 0)", "padTo(1024, 1)")],
    "exercise7": [("2 * x", "x"), ("fun x => 2 * x", "fun x => x + 2")],
    "exercise8": [("transpose) |> transpose |> join", "transpose) |> join"), ("shared(bTile)", "shared(bTile |> transpose)")],
    "exercise9": [("2 * x + y", "2 * y + x"), ("2 * x + y", "2 * x - y")],
    "exercise10": [("padTo(threads * each, 0)", "padTo(threads * each, 1)"), ("(256, (+), 0)", "(256, max, -inf)")],
}


def quoted_lines():
    paths = glob.glob(f"{FOLDER}/**/*.rise", recursive=True) + glob.glob(f"{ROOT}/lib/**/*.rise", recursive=True)
    return {line.strip() for path in paths for line in read(path).splitlines()}


def page(path, write):
    text = filled(read(path), FOLDER, FOLDER)
    same(path, text, write)
    rest = re.sub(r"^<!-- .*?^<!-- end -->$", "", text, flags=re.M | re.S)
    compare_times(rest)
    known = quoted_lines()
    for kind, body in re.findall(r"^```(\w*)\n(.*?)^```$", rest, flags=re.M | re.S):
        if body.startswith("$ ") or kind == "text":
            continue
        foreign = [line for line in body.splitlines() if line.strip() and line.strip() not in known]
        if foreign:
            raise Failed(f"no program has the line `{foreign[0]}`, and no command stands before it")


def program(path, write):
    risec(["check", os.path.relpath(path, FOLDER)], FOLDER)
    name = name_of(path)
    pages = "".join(read(page) for page in glob.glob(f"{FOLDER}/*.md"))
    if os.path.exists(path + ".tune") and read(path + ".tune") not in pages:
        raise Failed("no page shows how risec tune makes its tuning file: make it again")
    if not re.search(rf"\b{name}\.rise|<!-- rise {name}\b", pages):
        raise Failed("no page speaks of it")


def expects(path):
    return [line.strip().removesuffix(" =") for line in read(path).splitlines() if re.match(r"\s*expect ", line)]


def exercise(path, write):
    solution = f"{FOLDER}/solutions/{os.path.basename(path)}"
    outputs = {}
    for file in path, solution:
        cwd = os.path.dirname(file)
        wanted, commands = with_outputs(file, cwd)
        if not commands:
            raise Failed(f"no command in the first comment of {os.path.relpath(file, ROOT)}")
        same(file, wanted, write)
        outputs[file] = [line for line in wanted.splitlines() if line.startswith("--   ")]
    if outputs[path] != outputs[solution]:
        raise Failed("the solution prints something else")
    if not expects(path) or expects(path) != expects(solution):
        raise Failed("the solution has other expect clauses")
    said = "\n".join(shell(f"risec check {os.path.basename(path)}", FOLDER))
    if set(re.findall(r"error\[(\w+)\]", said)) != {"E0632"}:
        raise Failed(f"as given, its expect clauses should fail, and nothing else\n{said}")
    if not any(f"$ risec check {os.path.basename(path)}\n" in read(page) for page in glob.glob(f"{FOLDER}/*.md")):
        raise Failed("no page shows what `risec check` says of it")
    risec(["check", os.path.basename(path)], os.path.dirname(solution))


def wrong_answers(path):
    """Each is found by the clause about the result, and not only by what it costs."""
    solution = f"{FOLDER}/solutions/{os.path.basename(path)}"
    text = read(solution)
    start = text.index(" =\n", text.index("\nentry ")) if "\nentry " in text else 0
    for right, wrong in WRONG[name_of(path)]:
        blanks = re.escape(right).replace(r"\ ", r"\s*")
        body, changes = re.subn(blanks, lambda _: wrong, text[start:])
        if not changes:
            raise Failed(f"the solution has no `{right}`")
        with tempfile.TemporaryDirectory() as folder:
            with open(f"{folder}/answer.rise", "w", encoding="utf-8") as file:
                file.write(text[:start] + body)
            said = "\n".join(shell("risec test answer.rise", folder))
        if not re.search(r"error\[E0632\]: \w+: result.* is .*, and `\w+` gives ", said):
            raise Failed(f"`{wrong}` for `{right}` is not found:\n{said}")


def main():
    write, good = "--write" in sys.argv[1:], True
    programs = sorted(glob.glob(f"{FOLDER}/*.rise"))
    exercises = [path for path in programs if name_of(path).startswith("exercise")]
    solutions = glob.glob(f"{FOLDER}/solutions/*.rise")
    tests = [(page, path) for path in sorted(glob.glob(f"{FOLDER}/*.md"))]
    tests += [(exercise if path in exercises else program, path) for path in programs]
    tests += [(lambda path, write: wrong_answers(path), path) for path in exercises]
    for test, path in tests:
        try:
            test(path, write)
            print(f"ok {os.path.relpath(path, ROOT)}{'' if test in (page, exercise, program) else ', wrong answers'}")
        except Failed as failure:
            print(f"not ok {os.path.relpath(path, ROOT)}\n# " + str(failure).rstrip().replace("\n", "\n# "))
            good = False
    if {name_of(path) for path in solutions} != {name_of(path) for path in exercises} or not exercises:
        print("not ok tutorial-solutions\n# each exercise has a solution, and each solution an exercise")
        good = False
    return 0 if good else 1


sys.exit(main())
