#!/usr/bin/env python3
"""Is each variable of the emitted text used? RISEC names the binary.

All .cu goldens are read, and what examples and bench emit: a local variable that nothing but its
declaration mentions is an error. Prints `ok NAME` or `not ok NAME`."""
import glob
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RISEC = os.path.abspath(os.environ.get("RISEC", f"{ROOT}/build/release/risec"))
GOLDENS = ("tests/cuda/*.cu", "tests/nests/*.cu", "tests/programs/*.cu", "tests/gpu/*.cu")
PROGRAMS = ("examples/*.rise", "examples/high/*.rise", "bench/programs/*.rise",
            "tests/one_body/*.rise")

# `const float2 v = ...`, `float v[4];`, `__shared__ __align__(16) float part[8];`, `char *const p =`
DECLARATION = re.compile(
    r"(?:(?:extern )?__shared__ (?:__align__\(\d+\) )?)?(?:static )?(?:const )?"
    r"(?:unsigned |signed )?(?!return\b|else\b|goto\b|typename\b)(?:long long|[A-Za-z_]\w*(?:<[^;()=]*?>)?)"
    r"(?: \**(?:const |__restrict__ )?&?)(?P<name>[A-Za-z_]\w*)(?:\[[^\]]*\])*(?= = |;)")
WORD = re.compile(r"[A-Za-z_]\w*")
# struct Cells { T at[n]; }, union { T value; unsigned words[2]; } u: members are mentioned elsewhere
MEMBERS = re.compile(r"\b(?:struct|union)\b[^;{}]*\{[^{}]*\}")


def strip(text):
    """Without comments, literal strings and members; line breaks stay."""
    text = re.sub(r'//[^\n]*|"(?:\\.|[^"\\\n])*"', "", text)
    return MEMBERS.sub(lambda match: "\n" * match[0].count("\n"), text)


def declarations(text):
    """By where they start; only what begins a statement is one."""
    return {match.start(): match for match in DECLARATION.finditer(text)
            if text[:match.start()].rstrip(" \n")[-1:] in set("{};)")}


def unused(text):
    """(line, name) of each variable of a block that is declared and not mentioned again."""
    found, scopes, at = declarations(text), [], 0
    while at < len(text):
        name = WORD.match(text, at)
        if at in found and scopes:
            scopes[-1].append([text.count("\n", 0, at) + 1, found[at]["name"], False])
            at = found[at].end()
            continue
        if name:
            seen = [one for scope in scopes for one in scope if one[1] == name[0]]
            if seen:
                seen[-1][2] = True
        elif text[at] == "{":
            scopes.append([])
        elif text[at] == "}" and scopes:
            yield from ((line, name) for line, name, used in scopes.pop() if not used)
        at = name.end() if name else at + 1


def report(name, wrong=()):
    print("\n# ".join([f"not ok {name}", *wrong]) if wrong else f"ok {name}", flush=True)
    return bool(wrong)


def faults(text):
    return [f"line {line}: {name} is declared and not used" for line, name in unused(strip(text))]


def plants():
    """Texts with what is not used."""
    for name, body, want in (
        ("nothing", "float v;\nv = 1.0f; x[0] = v;", []),
        ("a vector", "float4 v_1;\nx[0] = 1.0f;", ["v_1"]),
        ("in a branch", "if (n > 0) {\n    float v;\n}\nfloat v;\nx[0] = v;", ["v"]),
        ("with a value", "const long long index = n*4;\nx[0] = 1.0f;", ["index"]),
        ("in shared memory", "__shared__ __align__(16) float part[8];\nx[0] = 1.0f;", ["part"]),
        ("a pointer", "char *const space = (char *)x;\nx[0] = 1.0f;", ["space"]),
        ("in a comment alone", "float v;\n// v is here\nx[0] = 1.0f;", ["v"]),
    ):
        found = [name for _, name in unused(strip(f"void f(float *x, int n)\n{{\n{body}\n}}\n"))]
        yield f"plant {name}", [] if found == want else [f"{found} instead of {want}"]


def texts():
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as file:
            yield path, file.read()
    for pattern in [] if sys.argv[1:] else GOLDENS:
        for path in sorted(glob.glob(pattern, root_dir=ROOT)):
            with open(f"{ROOT}/{path}", encoding="utf-8") as file:
                yield path, file.read()
    for pattern in [] if sys.argv[1:] else PROGRAMS:
        for path in sorted(glob.glob(pattern, root_dir=ROOT)):
            done = subprocess.run([RISEC, "--emit=cuda", path], cwd=ROOT, capture_output=True,
                                  text=True, timeout=600, check=False)
            yield path, done.stdout


def main():
    failed = False
    for name, wrong in plants():
        failed |= report(name, wrong)
    for path, text in texts():
        failed |= report(path, faults(text) if text else ["is empty"])
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
