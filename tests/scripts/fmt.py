#!/usr/bin/env python3
"""`risec fmt`: what becomes of a program depends on its tokens and comments alone.

    tests/scripts/fmt.py [SEED]

Each program that parses, and random ones with comments in random places, are laid out anew in five
ways that keep their tokens: on one line, a token a line, with random blanks, with tabs, with CRLF.
All are formatted to one text, with the same tokens, each comment beside the token that it was beside,
no line above 100 columns that has a blank in it, and the same core.
The repository's own programs are formatted, but those whose layout is what they test.
Prints `ok NAME` or `not ok NAME`."""
import os
import random
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("BUILD") or os.path.join(ROOT, "build")
RISEC = os.environ.get("RISEC") or os.path.join(BUILD, "release", "risec")
TEST_RANDOM = os.path.join(BUILD, "release", "unit", "test_random")
ALL = os.environ.get("RISEC_LEVEL") == "all"
SEED = int(sys.argv[1]) if len(sys.argv) > 1 else 1
RANDOM_PROGRAMS = 2000 if ALL else 100
CORE_EVERY = 1 if ALL else 8  # of the programs of the repository
COLUMNS = 100
# Programs with mistakes, and for the lexer and the parser: where things stand is what they test.
LAYOUT_TESTED = ("tests/check", "tests/fmt", "tests/parse", "tests/tokens")
WAYS = ("one line", "a token a line", "blanks", "tabs", "CRLF")

NUMBER = r"0x[0-9a-fA-F]+\w*|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\w*"
SIGN = r"=>|->|\|>|>>|==|!=|<=|>=|<\+|\S"
TOKEN = re.compile(rf'--[^\n\r]*|"[^"\n\r]*"|{NUMBER}|\w+|{SIGN}', re.ASCII)
TEXT = {"newline": "", "encoding": "utf-8", "errors": "surrogateescape"}  # bytes stay as they are
failed = False


def say(good, name, lines=()):
    global failed
    failed |= not good
    print(("ok " if good else "not ok ") + name)
    for line in lines:
        print("#", line)


def risec(*words, text=None):
    return subprocess.run([RISEC, *words], input=text, capture_output=True)


class Tokens:
    """The tokens of a program: (text, comments above it, the comment behind it). A comment above is
    (text, an empty line follows)."""

    def __init__(self, text):
        self.list = [["", [], None]]  # the last one is the end
        at, last = 0, None
        text = text.removeprefix("\ufeff")
        while match := TOKEN.search(text, at):
            gap, word = text[at:match.start()], match.group()
            if word[0].isdigit() and not word.startswith("0x") and "." in word:
                if last == "." or re.match(r"\.[\w(]", text[match.end():]):
                    word = word[:word.index(".")]
            at = match.start() + len(word)
            if word.startswith("--"):
                breaks = re.match(r"\s*", text[at:]).group().count("\n") > 1
                if len(self.list) > 1 and "\n" not in gap and not self.list[-1][1]:
                    self.list[-2][2] = word.rstrip()
                else:
                    self.list[-1][1].append((word.rstrip(), breaks))
            else:
                self.list[-1][0] = word
                self.list.append(["", [], None])
                last = word


def relaid(tokens, way, draw):
    """The text of these tokens in another layout."""
    out = []
    blank = {"one line": " ", "a token a line": "\n", "tabs": "\t\t", "CRLF": "\n"}

    def gap():
        return blank.get(way) or draw.choice((" ", "   ", "\n", "\n\n\n", " \n\t  ", "\t"))

    for word, above, behind in tokens.list:
        if above and out and not out[-1].endswith("\n"):
            out.append("\n")
        for comment, breaks in above:
            out.append(comment + draw.choice(("", "  ")) + ("\n\n" if breaks else "\n"))
        out.append(word)
        if behind:
            out.append("  " + behind + "\n")
        elif word != "#" and not (way == "blanks" and word in "([{,}])" and draw.random() < 0.5):  # a label stands right behind its sign
            out.append(gap())
    text = "".join(out)
    return text.replace("\n", "\r\n") if way == "CRLF" else text


def with_comments(text, draw):
    """Comments above and behind one token in eight."""
    tokens = Tokens(text)
    for i, token in enumerate(tokens.list):
        if draw.random() < 0.06:
            token[1].extend([(f"-- above {i}", draw.random() < 0.3)] * draw.choice((1, 1, 2)))
        if token[0] and draw.random() < 0.06 and token[0] != "#":
            token[2] = f"-- behind {i}"
    return relaid(tokens, "blanks", draw)


def wide_lines(text):
    """Lines above 100 columns that could be broken. Comments do not count."""
    for line in text.split("\n"):
        code = line
        for match in TOKEN.finditer(line):
            if match.group().startswith("--"):
                code = line[:match.start()]
                break
        if len(code.rstrip()) > COLUMNS and " " in code.strip():
            yield line


def wrong_with(name, texts, formatted):
    """What is wrong with what became of a program: texts and formatted are beside each other, the
    first as it was, then by WAYS."""
    for way, text in zip(WAYS, formatted[1:]):
        if text != formatted[0]:
            lines = list(zip(text.split("\n"), formatted[0].split("\n")))
            at = next((i for i, (a, b) in enumerate(lines) if a != b), 0)
            return f"{name}, {way}: line {at + 1} is {lines[at][0]!r}, and before {lines[at][1]!r}"
    # An empty line counts behind a comment between items only.
    def plain(tokens):
        return [(word, [text for text, _ in above], behind) for word, above, behind in tokens.list]
    if plain(Tokens(formatted[0])) != plain(Tokens(texts[0])):
        return f"{name}: tokens or comments have changed"
    for line in wide_lines(formatted[0]):
        return f"{name}: a line above {COLUMNS} columns: {line}"
    return None


def core(path):
    done = risec("--emit=core", path)
    return re.sub(rb"\S*/", b"", done.stdout) if done.returncode == 0 else None


def check(title, programs, seed, core_every):
    """programs: (name, text)."""
    draw = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        texts = []
        for k, (name, text) in enumerate(programs):
            tokens = Tokens(text)
            texts.append([text] + [relaid(tokens, way, draw) for way in WAYS])
            for i, text in enumerate(texts[-1]):
                with open(f"{folder}/{k}_{i}.rise", "w", **TEXT) as file:
                    file.write(text)
        before = {k: core(f"{folder}/{k}_0.rise") for k in range(0, len(programs), core_every)}
        done = risec("fmt", folder)
        problems = [done.stderr.decode(errors="replace")[:2000]] if done.returncode else []
        cores = 0
        for k, (name, _) in enumerate(programs):
            formatted = []
            for i in range(len(WAYS) + 1):
                with open(f"{folder}/{k}_{i}.rise", **TEXT) as file:
                    formatted.append(file.read())
            wrong = wrong_with(name, texts[k], formatted)
            if before.get(k) is not None:
                cores += 1
                if core(f"{folder}/{k}_0.rise") != before[k]:
                    wrong = wrong or f"{name}: another core"
            if wrong:
                problems.append(wrong)
        again = risec("fmt", "--check", folder)
        if again.returncode and not problems:
            problems.append("not as it stays: " + again.stderr.decode(errors="replace")[:500])
    title = f"{title}: {len(programs)} programs, {cores} with their core"
    say(not problems and len(programs) > 0, title, problems[:10])


def programs_of_tree():
    listed = []
    for folder, folders, names in os.walk(ROOT):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        if folder == ROOT:
            folders.remove("build")
        listed += [os.path.join(folder, name) for name in sorted(names) if name.endswith(".rise")]
    return listed


def parses(path):
    return risec("--emit=ast", path, "-o", os.devnull).returncode == 0


def check_tree():
    paths = [path for path in programs_of_tree() if parses(path)]
    programs = []
    for path in paths:
        with open(path, **TEXT) as file:
            programs.append((os.path.relpath(path, ROOT), file.read()))
    # What they import lies beside them, so those that import files show no core here.
    check("relaid", programs, SEED, CORE_EVERY)


def check_formatted():
    paths = [os.path.relpath(path, ROOT) for path in programs_of_tree()]
    paths = [path for path in paths if not path.startswith(tuple(f"{f}/" for f in LAYOUT_TESTED))]
    problems = []
    for i in range(0, len(paths), 50):
        done = subprocess.run([RISEC, "fmt", "--check", *paths[i:i + 50]], cwd=ROOT,
                              capture_output=True, text=True)
        problems += done.stderr.splitlines() if done.returncode else []
    say(not problems and len(paths) > 400, f"formatted: {len(paths)} programs", problems[:10])


def check_random():
    draw = random.Random(SEED + 1)
    programs = []
    for k in range(RANDOM_PROGRAMS):
        high = k % 2
        command = [TEST_RANDOM, "--high", str(high), "--seed", str(SEED), "--show", str(k)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        name = f"random program {k} of seed {SEED}, high {high}"
        programs.append((name, with_comments(done.stdout, draw)))
    check("random", programs, SEED + 2, 1)


def check_faults():
    """What this script would find."""
    text = "def f (a: i32): i32 = a + 1 -- one\n"
    good, wide = [text] * (len(WAYS) + 1), [text.replace("a", "a" * 60)] * (len(WAYS) + 1)
    finds = {
        "a layout": (good, good[:-1] + [text + "\n"]),
        "a token": (good, [text.replace("+", "-")] * len(good)),
        "a comment": (good, [text.replace(" -- one", "")] * len(good)),
        "a comment elsewhere": (good, [text.replace("1 -- one", "-- one\n 1")] * len(good)),
        "a wide line": (wide, wide),
    }
    missed = [name for name, (texts, made) in finds.items() if not wrong_with("", texts, made)]
    say(not missed and wrong_with("", good, good) is None, "faults are found", missed)
    done = risec("fmt", "--check", "-", text=b"def f  = 1\n")
    say(done.returncode == 1 and b"E0670" in done.stderr, "what is not formatted is found")


def check_lines():
    """Only the items on the lines are touched, and a file with a mistake is not."""
    text = "def  f = 1\r\n\r\n  -- g\n   def  g =\n 2  \ndef  h = 3\n"
    wants = {
        "1:1": "def f = 1\r\n\r\n  -- g\n   def  g =\n 2  \ndef  h = 3\n",
        "4:4": "def  f = 1\r\n\r\n-- g\ndef g = 2\ndef  h = 3\n",
        "2:2": text,
        "5:6": "def  f = 1\r\n\r\n-- g\ndef g = 2\ndef h = 3\n",
    }
    for lines, want in wants.items():
        done = risec("fmt", "--lines", lines, "-", text=text.encode())
        say(done.stdout.decode() == want, f"lines {lines}", [repr(done.stdout.decode())])
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "wrong.rise")
        wrong = b"def  f = 1\ndef g = (\n"
        with open(path, "wb") as file:
            file.write(wrong)
        done = risec("fmt", folder)
        with open(path, "rb") as file:
            good = done.returncode == 1 and file.read() == wrong and b"error[" in done.stderr
            say(good, "a file with a mistake stays")


print(f"# seed {SEED}")
check_faults()
check_lines()
check_formatted()
check_random()
check_tree()
sys.exit(failed)
