#!/usr/bin/env python3
"""The prose of the pages by textlint: sentences of 35 words, repeated words, cliches.

The pages are those that tests/scripts/prose.py reads, and site/.textlintrc.json has the rules. Each
rule is shown to find a planted sentence. Prints `ok NAME` or `not ok NAME`.
"""
import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SITE = f"{ROOT}/site"
sys.path.insert(0, f"{ROOT}/tests/scripts")
import prose  # noqa: E402

# What each rule has to find, by a word of its message.
PLANTS = [
    ("en-max-word-count", "35", f"{prose.LONG}."),
    ("write-good", "repeated", "This is the the end."),
    ("write-good", "cliche", "It adds in the nick of time."),
]


def textlint(arguments, text=None):
    """(path, line, rule, message) of each finding."""
    command = ["node", f"{SITE}/node_modules/textlint/bin/textlint.js", "--format", "json", *arguments]
    done = subprocess.run(command, cwd=SITE, input=text, capture_output=True, encoding="utf-8",
                          check=False)
    if not done.stdout.strip():
        sys.exit(f"textlint fails: {done.stderr}")
    return [(os.path.relpath(page["filePath"], ROOT), one["line"], one["ruleId"], one["message"])
            for page in json.loads(done.stdout) for one in page["messages"]]


def planted():
    text = "\n\n".join(sentence for _, _, sentence in PLANTS)
    found = textlint(["--stdin", "--stdin-filename", "planted.md"], text)
    for number, (rule, word, sentence) in enumerate(PLANTS):
        if not any(line == 2 * number + 1 and name == rule and word in message
                   for _, line, name, message in found):
            yield f"{rule} does not find: {sentence}"
    with open(f"{SITE}/.textlintrc.json", encoding="utf-8") as file:
        rules = json.load(file)["rules"].keys()
    yield from (f"no sentence is planted for {rule}" for rule in rules - {plant[0] for plant in PLANTS})


def main():
    pages = [f"{ROOT}/{page}" for page in prose.pages() if not prose.excused(page)]
    found = [f"{path}:{line}: {message} ({rule})" for path, line, rule, message in textlint(pages)]
    for name, faults in (("textlint", found), ("textlint-planted", list(planted()))):
        print("not ok" if faults else "ok", f"site-{name}")
        print("".join(f"# {fault}\n" for fault in faults), end="")


if __name__ == "__main__":
    main()
