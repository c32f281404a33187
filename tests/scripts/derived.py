#!/usr/bin/env python3
"""The kernels that strategies derive are those that were lowered by hand: their CUDA C is the same text.

In tests/derived/*.rise, `-- as FILE ENTRY` before an entry names the program in examples/. Compared are the kernels of that entry and its launch function, but for notes of
positions, empty lines, and the names of the entry and of what is declared inside."""
import difflib
import glob
import os
import re
import subprocess
import tempfile


def emitted(path):
    return subprocess.run([os.environ["RISEC"], "--emit=cuda", path], check=True, capture_output=True, text=True).stdout


def renamed(function, entry):
    """A function, with numbers for the names that it declares."""
    names = {}
    for name in re.findall(r"\b(?:bool|int|unsigned|float[24]?|double2?|long long) [*&(]*(?:const )?(?:__restrict__ )?(\w+)(?= =|\[|;|,|\))", function):
        names.setdefault(name, f"local{len(names)}")
    function = re.sub(rf"\b{entry}((_\w+)?)\b", r"ENTRY\1", function)
    return re.sub(r"\b(" + "|".join(names) + r")\b", lambda m: names[m.group(1)], function) if names else function


def joined(text):
    """Each comment and each statement on a line: where lines end depends on the length of names."""
    lines = []
    for line in text.splitlines():
        words, last = line.strip(), lines[-1] if lines else ""
        if last.startswith("//") and re.match(r"// \S", words):
            lines[-1] += words[2:]
        elif last and words and not last.startswith(("//", "#")) and not words.startswith(("//", "#")) and last[-1] not in ";{}":
            lines[-1] += " " + words
        else:
            lines.append(words)
    return "\n".join(lines)


def outlined(text, entry):
    """Numbers for the names of the functions that kernels share, and a comment above each of them.

    Where two programs have the same kernels, it is other definitions that they are named after."""
    head = rf"(?m)^((?:template <.*>\n)?static __device__ __forceinline__ [\w ]+\s)({entry}_(?!\w*body\()\w+)\("
    for k, name in enumerate(match[2] for match in re.finditer(head, text)):
        text = re.sub(rf"\b{name}\b", f"{entry}_function{k}", text)
    return re.sub(head, rf"// {entry}: a function\n\1\2(", text)


def kernels(text, entry):
    """The functions of an entry, each from its comment on."""
    text = outlined(re.sub(r"(?m)^ *// (?:\w+ of )?[\w/]+\.rise:.*\n", "", text), entry)
    functions = re.split(r"(?m)^(?=// \w|#)", joined(text))
    own = [renamed(f, entry) for f in functions if re.match(rf"// (Launches )?{entry}(_\w+)?\b", f)]
    return [line for line in "".join(own).splitlines() if line]


def imported_together():
    """Whether a program may import all modules of the library: what is wrong, or nothing."""
    modules = sorted(path[len("lib/") : -len(".rise")].replace("/", ".") for path in glob.glob("lib/*/*.rise"))
    with tempfile.NamedTemporaryFile("w", suffix=".rise", encoding="utf-8") as file:
        file.write("".join(f"import {module}\n" for module in modules) + "entry same (x: i32): i32 = x\n")
        file.flush()
        return subprocess.run([os.environ["RISEC"], "check", file.name], check=False, capture_output=True, text=True).stderr


def main():
    wrong = imported_together()
    print("not ok" if wrong else "ok", "all modules of the library can be imported together")
    for line in wrong.splitlines():
        print("#", line)
    found = 0
    for path in sorted(glob.glob("tests/derived/*.rise")):
        with open(path, encoding="utf-8") as file:
            pairs = re.findall(r"(?m)^-- as (\S+) (\w+)\nentry (\w+)", file.read())
        derived = emitted(path) if pairs else ""
        for example, by_hand, entry in pairs:
            left, right = kernels(emitted(f"examples/{example}"), by_hand), kernels(derived, entry)
            same = bool(left) and left == right
            print(f"{'ok' if same else 'not ok'} {os.path.basename(path)}: {entry} is examples/{example} {by_hand}")
            for line in [] if same else list(difflib.unified_diff(left, right, "by hand", "derived", lineterm="", n=1))[:40]:
                print("#", line)
        found += len(pairs)
    print(f"{'ok' if found else 'not ok'} there is something to compare")


main()
