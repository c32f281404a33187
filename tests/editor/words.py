#!/usr/bin/env python3
"""The words of the language in the grammars of editors, from the compiler's tables, which
`risec help --emit-docs=words` prints.

    tests/editor/words.py            says which files differ
    tests/editor/words.py --write    writes them"""
import json
import os
import re
import subprocess
import sys
import textwrap

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RISEC = os.path.abspath(os.environ.get("RISEC", f"{ROOT}/build/release/risec"))
SCOPES = {
    "keyword": "keyword.control.rise",
    "primitive": "support.function.primitive.rise",
    "type": "support.type.rise",
    "constant": "constant.language.rise",
    "function": "support.function.size.rise",
}


def words():
    return json.loads(
        subprocess.run([RISEC, "help", "--emit-docs=words"], capture_output=True, check=True).stdout
    )


def textmate(text, lists):
    rules = []
    for kind, scope in SCOPES.items():
        for line in textwrap.wrap(" ".join(lists[kind]), 62):
            words_of = line.replace(" ", "|")
            match = f'          "match": "\\\\b(?:{words_of})\\\\b"'
            rules.append(f'        {{\n          "name": "{scope}",\n{match}\n        }}')
    block = ",\n".join(rules)
    return re.sub(
        r'("words": \{\n      "patterns": \[\n).*?(\n      \]\n)',
        lambda m: m[1] + block + m[2],
        text,
        flags=re.S,
    )


def vim(text, lists):
    for kind in SCOPES:
        group = "rise" + kind.capitalize()
        lines = textwrap.wrap(" ".join(lists[kind]), 70)
        block = "".join(f"syn keyword {group} {line}\n" for line in lines)
        text = re.sub(
            rf'(" words: {kind}\n).*?(?=" words:)', lambda m: m[1] + block, text, flags=re.S
        )
    return text


def emacs(text, lists):
    for kind in SCOPES:
        lines = textwrap.wrap(f"({kind} " + " ".join(f'"{word}"' for word in lists[kind]) + ")", 90)
        block = "".join(f"    {' ' if i else ''}{line}\n" for i, line in enumerate(lines))
        text = re.sub(
            rf"(;; words: {kind}\n).*?(?= *;; words:)", lambda m: m[1] + block, text, flags=re.S
        )
    return text


FILES = {
    "editors/vscode/rise.tmLanguage.json": textmate,
    "editors/vim/syntax/rise.vim": vim,
    "editors/emacs/rise-mode.el": emacs,
}


def differences(write=False):
    lists = words()
    for path, make in FILES.items():
        with open(f"{ROOT}/{path}", encoding="utf-8") as file:
            old = file.read()
        new = make(old, lists)
        if new != old:
            yield path
        if write and new != old:
            with open(f"{ROOT}/{path}", "w", encoding="utf-8") as file:
                file.write(new)


if __name__ == "__main__":
    found = list(differences("--write" in sys.argv))
    for name in found:
        print(name)
    sys.exit(bool(found) and "--write" not in sys.argv)
