#!/usr/bin/env python3
"""README and docs read well: links lead somewhere, sentences are short, lines fit, spelling is right.

    tests/scripts/prose.py             tests all pages; prints `ok NAME` or `not ok NAME`
    tests/scripts/prose.py PAGE...     prints what is wrong with these pages, exceptions or not

- links: each relative link and each anchor, in README, docs and the pages beside them, has a target
- sentences: no sentence has more than 35 words; a piece of code counts as one word
- lines: no line has more than 100 columns, outside of tables, code and links that cannot be broken
- spelling: hunspell knows each word outside of code, or tests/prose/words lists it
- tests-listed: docs/testing.md has a row for each unit test and script

Each rule is shown to find a fault planted in a text. A page of EXCEPTIONS that breaks no rule any
more is an error, so that the list only shrinks.
"""
import glob
import os
import re
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
WORDS = f"{ROOT}/tests/prose/words"
MOST_WORDS, MOST_COLUMNS = 35, 100

# Pages that only have their links tested, and why.
SOURCES = "made from the text of src, line by line"
EXCEPTIONS = {"docs/errors.md": SOURCES}
# More pages of which only the links are tested.
BESIDE = ("bench/*.md", "bench/results/*.md", "tests/*.md", "tests/fuzz/*.md", "python/*.md",
          "examples/*/*.md")


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def pages():
    paths = [f"{ROOT}/README.md", *glob.glob(f"{ROOT}/docs/**/*.md", recursive=True)]
    return sorted(os.path.relpath(path, ROOT) for path in paths)


def prose(text):
    """The text with its blocks of code and its comments blanked, line by line."""
    def blank(match):
        return re.sub(r"[^\n]+", "", match[0])
    text = re.sub(r"^ *```.*?^ *```$", blank, text, flags=re.M | re.S)
    return re.sub(r"<!--.*?-->", blank, text, flags=re.S)


# ---- links ---------------------------------------------------------------------------------------


def anchors(text):
    """The anchors of a page's headings, as GitHub makes them."""
    seen, found = {}, set(re.findall(r'<a (?:id|name)="([^"]+)"', text))
    for heading in re.findall(r"^#+ +(.*?)\s*$", prose(text), re.M):
        heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        count = seen.get(slug, 0)
        seen[slug] = count + 1
        found.add(f"{slug}-{count}" if count else slug)
    return found


def link_faults(page, text):
    plain = re.sub(r"`[^`\n]*`", lambda code: " " * len(code[0]), prose(text))
    for match in re.finditer(r"\]\(([^)\s]+)\)", plain):
        target, _, anchor = match[1].partition("#")
        line = plain[: match.start()].count("\n") + 1
        if re.match(r"[a-z]+:", target):
            continue
        path = os.path.join(ROOT, os.path.dirname(page), target) if target else None
        if path and not os.path.exists(path):
            yield f"{page}:{line}: there is no {target}"
        elif anchor and anchor not in anchors(read(path) if path else text):
            yield f"{page}:{line}: {target or page} has no heading #{anchor}"


# ---- sentences and lines -------------------------------------------------------------------------


def is_table(line):
    return line.lstrip().startswith("|")


def paragraphs(text):
    """(line, text) of each paragraph, item of a list, heading and cell of a table."""
    part, start = [], 0
    for number, line in enumerate(prose(text).splitlines() + [""], 1):
        begins = re.match(r"\s*(?:[-*+] |\d+\. |#+ |>)", line)
        if part and (begins or not line.strip() or is_table(line)):
            yield start, " ".join(part)
            part = []
        if is_table(line):
            cells = re.sub(r"`[^`]*`", lambda code: code[0].replace("|", " "), line)
            cells = cells.replace(r"\|", " ")
            yield from ((number, cell.strip()) for cell in cells.split("|") if cell.strip())
        elif line.strip():
            start = start if part else number
            part.append(line.strip())
            if line.startswith("#"):
                yield start, " ".join(part)
                part = []


def without_code(text):
    text = re.sub(r"``.+?``|`[^`]*`", "code", text)
    return re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)


def sentences(text):
    for line, paragraph in paragraphs(text):
        plain = re.sub(r"\b(e\.g|i\.e|vs)\.", r"\1", without_code(paragraph))
        for sentence in re.split(r"(?<=[.!?])[)\"*]*\s+", plain):
            yield line, sentence


def sentence_faults(page, text):
    for line, sentence in sentences(text):
        count = len(re.findall(r"[^\s\-–—=+*/|]\S*", sentence))
        if count > MOST_WORDS:
            yield f"{page}:{line}: a sentence of {count} words: {sentence[:70]}..."


def line_faults(page, text):
    for number, line in enumerate(prose(text).splitlines(), 1):
        unbroken = " " not in re.sub(r"^\s*(?:[-*] |\d+\. )?", "", line)
        if len(line) > MOST_COLUMNS and not is_table(line) and not unbroken:
            yield f"{page}:{number}: {len(line)} columns"


# ---- spelling ------------------------------------------------------------------------------------


UTF8 = dict(os.environ, LC_ALL="C.UTF-8")  # hunspell reads its list of words as the locale says


def hunspell():
    """Why words cannot be looked up, or None."""
    if not shutil.which("hunspell"):
        return "no hunspell here"
    done = subprocess.run(["hunspell", "-d", "en_GB", "-l"], input="word", capture_output=True,
                          encoding="utf-8", env=UTF8)
    return "hunspell has no en_GB" if done.returncode or done.stderr else None


def spelling_faults(page, text):
    text = re.sub(r"\w*[\d_]\w*|[\w./-]*\w\.\w+|&\w+;", " ", without_code(prose(text)))
    done = subprocess.run(["hunspell", "-d", "en_GB", "-i", "utf-8", "-p", WORDS, "-l"], input=text,
                          capture_output=True, encoding="utf-8", check=True, env=UTF8)
    for word in sorted(set(done.stdout.split())):
        yield f"{page}: {word}: correct it, or put it into tests/prose/words"


RULES = {"links": link_faults, "sentences": sentence_faults, "lines": line_faults,
         "spelling": spelling_faults}
# A text with one fault of the rule, and one that looks like it and has none.
LONG, SHORT = " ".join(["word"] * 36), " ".join(["word"] * 20)
PLANTS = {
    "links": (["See [it](docs/nowhere.md).", "See [it](README.md#no-such-heading).",
               "## One\n\nSee [two](#two)."],
              ["See [it](README.md) and `[x](nowhere.md)`.", "## `One` more\n\nSee [it](#one-more)."]),
    "sentences": ([f"{LONG}.", f"- Good.\n- {LONG}", f"| {LONG} |"],
                  [f"{SHORT}.\nAnd {SHORT}", f"`{LONG}`", f"```\n{LONG}\n```"]),
    "lines": (["word " * 21], [SHORT, f"| {LONG} |", f"```\n{LONG}\n```"]),
    "spelling": (["A sentense."], ["A sentence of `sentense`.", "```\nsentense\n```"]),
}


def report(name, faults):
    print("not ok" if faults else "ok", f"prose-{name}")
    for fault in faults:
        print(f"# {fault}")
    return not faults


def planted(rule):
    bad, good = PLANTS[rule]
    faults = [f"not found: {text!r}" for text in bad if not list(RULES[rule]("planted.md", text))]
    return faults + [f"found: {one}" for text in good for one in RULES[rule]("planted.md", text)]


def excused(page):
    return next((one for one in EXCEPTIONS if page == one or page.startswith(one + "/")), None)


def faults_of(rules):
    """{rule: what is wrong}, and the exceptions that nothing needs."""
    found, needed = {rule: [] for rule in rules}, set()
    beside = [path for one in BESIDE for path in glob.glob(f"{ROOT}/{one}")]
    beside = sorted(os.path.relpath(path, ROOT) for path in beside)
    for page in pages() + beside:
        for rule in rules:
            faults = list(RULES[rule](page, read(f"{ROOT}/{page}")))
            if rule == "links" or not (excused(page) or page in beside):
                found[rule] += faults
            elif faults:
                needed.add(excused(page))
    return found, [f"{page} breaks no rule" for page in sorted(EXCEPTIONS.keys() - needed)]


# ---- the table of tests ----------------------------------------------------------------------------


def unlisted(text):
    """Unit tests and scripts without a row in docs/testing.md."""
    units = glob.glob(f"{ROOT}/tests/unit/test_*.c") + glob.glob(f"{ROOT}/tests/random/test_*.c")
    names = [os.path.basename(path)[:-2] for path in units]
    names += [os.path.basename(path) for path in glob.glob(f"{ROOT}/tests/scripts/*.[ps][yh]")]
    rows = "\n".join(line for line in text.splitlines() if is_table(line))
    return [f"docs/testing.md has no row for {name}" for name in sorted(names)
            if not re.search(rf"\b{re.escape(name)}`", rows)]


def test_faults():
    text = read(f"{ROOT}/docs/testing.md")
    seen = unlisted(text.replace("| `scripts/users.py`", "| ")) != unlisted(text)
    return unlisted(text) + ([] if seen else ["a script without a row is not found"])


def main():
    missing = hunspell()
    if sys.argv[1:]:
        for page in sys.argv[1:]:
            for rule in RULES if not missing else RULES.keys() - {"spelling"}:
                print("".join(f"{fault}\n" for fault in RULES[rule](page, read(page))), end="")
        return 0
    rules = [rule for rule in RULES if rule != "spelling" or not missing]
    found, idle = faults_of(rules)
    good = all([report(f"{rule}-planted", planted(rule)) & report(rule, found[rule]) for rule in rules])
    good &= report("tests-listed", test_faults())
    if missing:
        print(f"skip prose-spelling: {missing}")
    else:
        good &= report("exceptions", idle)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
