"""Faults planted into emitted text, for tests/scripts/text_faults.py: each must make the text executor disagree.

A fault is (kind, line, the line before, the line after). Only kernels are changed, not host functions. Kinds:

  barrier   __syncthreads() or __syncwarp() is gone
  mask      a shuffle's mask lacks the last lane
  shuffle   a shuffle moves by another distance
  index     an access is to the next cell
  bound     `<` became `<=`, in a guard or a loop, or a loop has one turn less
  guard     a condition of an if or of a choice is always true
  extreme   a minimum became a maximum, or the other way round
"""
import re

import run_text

KINDS = ("barrier", "mask", "shuffle", "index", "bound", "guard", "extreme")
# What is found, and what it becomes.
RULES = (
    ("barrier", r"__sync(?:threads|warp)\(\);", lambda m: ";"),
    ("mask", r"(?<=_sync\()0xffffffff", lambda m: "0x7fffffff"),
    ("shuffle", r"((?:__shfl\w+\([^()]*(?:\([^()]*\))?[^()]*, )|\bdistance = )(\d+)(?=\)| >> | << )",
     lambda m: m[1] + str(int(m[2]) // 2 if int(m[2]) > 1 else 2)),
    ("bound", r"(?<= )<(?= )", lambda m: "<="),
    ("bound", r"(?<= < )\d+(?=; \w+\+\+\))", lambda m: str(int(m[0]) - 1)),
    ("extreme", r"\bf?(min|max)f?\(", lambda m: m[0].replace(m[1], "max" if m[1] == "min" else "min")),
)
# `a < n` of `a < n ? x : y`, from the start of the expression.
CHOICE = re.compile(r"(?<=[=(+*] )?([\w. *+\-/()%]+? < [\w. *+\-/]+?)(?= \? )")
DECLARATION = re.compile(r"\s*(extern |__shared__|(?:const )?(?:bool|char|short|float|double|int|unsigned|long|signed)\b[\w ]* \w+\[)")


def kernel_lines(text):
    """Numbers of the lines of the kernels, first statements to closing braces."""
    inside = False
    for number, line in enumerate(text.split("\n")):
        if line.startswith("#ifndef __CUDACC_RTC__"):
            return
        if line.startswith("{"):
            inside = True
        elif line.startswith("}"):
            inside = False
        elif inside and not line.lstrip().startswith(("//", "#")):
            yield number, line


def changes_of(line):
    """(kind, the line with one fault)."""
    for kind, pattern, new in RULES:
        for m in re.finditer(pattern, line):
            yield kind, line[: m.start()] + new(m) + line[m.end():]
    test = re.search(r"\bif (\()", line)
    if test:
        yield "guard", line[: test.start(1)] + "(true)" + line[run_text.closing(line, test.start(1)) + 1:]
    for m in CHOICE.finditer(line):
        if m[1].count("(") == m[1].count(")"):
            yield "guard", line[: m.start(1)] + re.match(r"[ (]*", m[1])[0] + "true" + line[m.end(1):]
    for m in re.finditer(r"\w\[", line):
        if not DECLARATION.match(line):
            end = run_text.closing(line, m.end() - 1)
            yield "index", f"{line[: m.end()]}({line[m.end():end]}) + 1{line[end:]}"


def faults_of(text):
    for number, line in kernel_lines(text):
        seen = {line}
        for kind, changed in changes_of(line):
            if changed not in seen:
                seen.add(changed)
                yield kind, number, line, changed


def planted(text, fault):
    _, number, before, after = fault
    lines = text.split("\n")
    assert lines[number] == before
    lines[number] = after
    return "\n".join(lines)
