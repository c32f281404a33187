#!/usr/bin/env python3
"""Every example says in its first comment how to run it and what that prints, and costs what its
expect clauses say. README.md and the pages in PAGES show what is emitted and printed now.

    tests/scripts/examples.py [--write]     compares; or writes the outputs and the pages again. RISEC names the binary.

In an example the lines `--   $ risec ...` are commands, given in the root of the repository; the comment lines that follow are their output. In a page a
line `<!-- table -->` is followed by the table of all examples, `<!-- rise NAME -->` by the program examples/NAME.rise, `<!-- emitted NAME -->` by the kernels that
risec makes of it, and `<!-- hand NAME -->` by tests/handwritten/NAME.cu, without its host function. `<!-- rise NAME ITEM -->` and `<!-- emitted NAME ENTRY -->` give one item of
several. A block that begins with `$ ` is a dialogue: lines `$ risec ...` are given to a shell in the root, and what follows each is all that it prints, messages too. tutorial.py uses
all of this for the pages of docs/tutorial.
"""
import glob
import os
import re
import shlex
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RISEC = os.path.abspath(os.environ.get("RISEC", f"{ROOT}/build/release/risec"))
PAGES = ("README.md", "docs/comparison.md", "docs/gallery.md", "docs/profiling.md", "docs/quickstart.md")
PAGES += ("docs/faq.md", "docs/limits.md", "docs/scheduling.md", "docs/strategies.md",
          "docs/tools.md")
FOLDERS = {"docs/quickstart.md": "docs/quickstart"}  # where a page's programs are and commands are given
COMMAND, LINE = "--   $ risec ", "--   "
MOST_LINES = 60  # of a dialogue: a page is read, and is no listing
ENV = dict(os.environ, PATH=os.path.dirname(RISEC) + os.pathsep + os.environ["PATH"], LC_ALL="C", NO_COLOR="1")


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


class Failed(Exception):
    pass


def risec(words, cwd=ROOT):
    done = subprocess.run([RISEC, *words], cwd=cwd, capture_output=True, text=True, timeout=60)
    if done.returncode or done.stderr:
        raise Failed(f"risec {shlex.join(words)}: exit code {done.returncode}\n{done.stderr}")
    return done.stdout


def with_outputs(path, cwd=ROOT):
    """The example as it should be; and how many commands it has."""
    lines, out, commands, at = read(path).splitlines(), [], 0, 0
    while at < len(lines):
        line = lines[at]
        at += 1
        out.append(line)
        if line.startswith(COMMAND):
            commands += 1
            while at < len(lines) and lines[at].startswith(LINE) and not lines[at].startswith(COMMAND):
                at += 1
            out += [LINE + text for text in risec(shlex.split(line[len(COMMAND):]), cwd).splitlines()]
    return "\n".join(out) + "\n", commands


def examples():
    return sorted(glob.glob(f"{ROOT}/examples/*.rise"))


def name_of(path):
    return os.path.basename(path)[: -len(".rise")]


def first_sentence(path):
    text = ""
    for line in read(path).splitlines():
        if not line.startswith("-- ") or line.startswith(LINE):
            break
        text += line[2:]
    return re.split(r"(?<=[.]) (?=[A-Z])", text.strip())[0].rstrip(".:")


def program(path):
    """The program without its first comment."""
    lines = read(path).splitlines()
    while lines and lines[0].startswith("--"):
        lines.pop(0)
    return "\n".join(lines).strip("\n")


def item_of(path, name):
    """One item of a program, with the comment before it: items are parted by empty lines."""
    for part in re.split(r"\n\n+", program(path)):
        if re.search(rf"^(entry|def|operator|strategy|rule) {name}\b", part, re.M):
            return part
    raise Failed(f"{path} has no {name}")


def emitted(path, cwd=ROOT, entry=""):
    """The kernels, without the head of the file and the host function."""
    words = [path, "--entry", entry] if entry else [path]
    return re.split(r"^#ifndef __CUDACC_RTC__$", risec(words, cwd).split("\n\n", 1)[-1], flags=re.M)[0].strip()


def hand(path):
    """The twin without its first comment and its host function."""
    text = read(f"{ROOT}/tests/handwritten/{name_of(path)}.cu")
    return re.split(r'^extern "C"', text.split("\n", 1)[1], flags=re.M)[0].strip()


def table():
    rows = ["| example | what it shows |", "|---|---|"]
    rows += [f"| [{name_of(path)}](../examples/{name_of(path)}.rise) | {first_sentence(path)} |" for path in examples()]
    return "\n".join(rows)


def shell(command, cwd):
    """What a command prints. It may fail only by an error of the program, with exit code 1."""
    if not command.startswith("risec "):
        raise Failed(f"a dialogue gives commands to risec, not `{command}`")
    # `head` leaves before all is written, or does not, as it comes.
    options = [] if "| head" in command else ["-o", "pipefail"]
    done = subprocess.run(
        ["bash", *options, "-c", command + " 2>&1"], cwd=cwd, env=ENV, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, timeout=60
    )
    text = done.stdout.decode("utf-8")
    if done.returncode != (1 if "error[" in text else 0):
        raise Failed(f"{command}: exit code {done.returncode}\n{text}")
    return [line.rstrip() for line in text.splitlines()]


def dialogue(text, cwd):
    commands = [line for line in text.splitlines() if line.startswith("$ ")]
    printed = {command: shell(command[2:], cwd) for command in commands}
    silent = [command for command in commands if not printed[command] and not command.startswith("$ risec check ")]
    if silent:
        raise Failed(f"{silent[0]}: prints nothing")
    lines = [line for command in commands for line in (command, *printed[command])]
    if len(lines) > MOST_LINES:
        raise Failed(f"{commands[0]}: more than {MOST_LINES} lines")
    return "\n".join(["```", *lines, "```"])


def filled(text, folder=f"{ROOT}/examples", cwd=ROOT):
    """The page as it should be, with programs of the folder."""

    def fenced(kind, body):
        return f"```{kind}\n{body}\n```"

    def fill(match):
        kind, name, item = match[1], match[2], match[3]
        path = f"{folder}/{name}.rise"
        body = {
            "table": table,
            "rise": lambda: fenced("rise", item_of(path, item) if item else program(path)),
            "emitted": lambda: fenced("cuda", emitted(os.path.relpath(path, cwd), cwd, item)),
            "hand": lambda: fenced("cuda", hand(path)),
        }[kind]()
        return f"{match[0].splitlines()[0]}\n{body}\n<!-- end -->"

    text = re.sub(r"^<!-- (table|rise|emitted|hand) ?(\w*) ?(\w*) -->\n.*?^<!-- end -->$", fill, text, flags=re.M | re.S)
    return re.sub(r"^```\n(\$ .*?)^```$", lambda match: dialogue(match[1], cwd), text, flags=re.M | re.S)


def same(path, wanted, write):
    if read(path) == wanted:
        return
    if write:
        with open(path, "w", encoding="utf-8") as file:
            file.write(wanted)
        print(f"# {os.path.relpath(path, ROOT)}: written")
        return
    have, want = read(path).splitlines(), wanted.splitlines()
    k = next(k for k in range(len(have) + len(want)) if have[k : k + 1] != want[k : k + 1])
    raise Failed(f"run tests/scripts/{os.path.basename(sys.argv[0])} --write and look at what changes: line {k + 1} should be {want[k : k + 1]}")


def example(path, write):
    wanted, commands = with_outputs(path)
    if not commands:
        raise Failed(f"no line of its first comment begins with `{COMMAND}`")
    same(path, wanted, write)
    risec(["check", os.path.relpath(path, ROOT)])


def measured():
    """All numbers with a fraction in the files of measurements, rounded to two digits."""
    files = glob.glob(f"{ROOT}/bench/results/*") + [f"{ROOT}/docs/performance.md", f"{ROOT}/tests/gpu/report.md"]
    texts = "".join(read(path) for path in files if os.path.isfile(path))
    return {f"{float(number):.2f}" for number in re.findall(r"\b\d+\.\d+\b", texts)}


def compare_times(text):
    """Each time in microseconds, as `17.48 us`, is one that was measured."""
    known = measured()
    for time in re.findall(r"\b(\d+\.\d+) us\b", text):
        if f"{float(time):.2f}" not in known:
            raise Failed(f"no measurement has {time} us")


def page(path, write):
    own = FOLDERS.get(os.path.relpath(path, ROOT))
    folder, cwd = (f"{ROOT}/{own}", f"{ROOT}/{own}") if own else (f"{ROOT}/examples", ROOT)
    same(path, filled(read(path), folder, cwd), write)
    if path.endswith("comparison.md"):
        compare_times(read(path))


def main():
    write, good = "--write" in sys.argv[1:], True
    for test, paths in (example, examples()), (page, [f"{ROOT}/{name}" for name in PAGES]):
        for path in paths:
            try:
                test(path, write)
                print(f"ok {os.path.relpath(path, ROOT)}")
            except Failed as failure:
                print(f"not ok {os.path.relpath(path, ROOT)}\n# " + str(failure).rstrip().replace("\n", "\n# "))
                good = False
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
