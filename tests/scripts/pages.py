#!/usr/bin/env python3
"""Every program and every command that README and the pages of docs show is tried. RISEC names the binary.

    tests/scripts/pages.py [--write]

A ```rise block is checked: it has to compile. One that is a part of a program, or wrong on purpose, says so in a comment in front of it, which is tested:

    <!-- whole: TEXT -->     the block stands in this text, in the place of its `...`
    <!-- rest: TEXT -->      this text stands in the place of the block's `...`
    <!-- wrong E0303 -->     check says this code
    <!-- rise NAME ITEM -->  one item of a program that examples.py or tutorial.py checks and compares; an exercise is refused for its counters, E0632

A command, a line that begins with `risec`, is run where its program is a file of the repository or the block before it, on the simulator; of others, as of those that need a
GPU, NVRTC or a file that nobody has, the options are tried. Other commands are run where their tools are: OTHER says in which place, and which ones are not run. Lines behind
`$ ` are compared by examples.py and tutorial.py, and stand in pages that these read. A plain search for commands has to find the ones that were tried or skipped, and no others.

docs/README.md leads to every page of docs.

Examples in errors.md that are whole items: `bad:` gets its code, `good:` compiles. The tables of docs/performance.md and what
README says of times are made from bench/results/*.csv; --write makes them again.
"""
import glob
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import textwrap

import examples

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, f"{ROOT}/bench")
import table  # noqa: E402

RISEC = os.path.abspath(os.environ.get("RISEC", f"{ROOT}/build/release/risec"))
DIALOGUES = examples.PAGES
ITEM = r"(?:entry|def|operator|import|rule|strategy)\b"


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def pages():
    paths = [f"{ROOT}/README.md", *sorted(glob.glob(f"{ROOT}/docs/*.md")), *sorted(glob.glob(f"{ROOT}/docs/tutorial/*.md"))]
    return [path for path in paths if os.path.basename(path) != "rules.md"]  # the text of the library: scripts/docs.sh compares


def check(text):
    """The codes that check gives a program, and its exit code."""
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/block.rise", "w", encoding="utf-8") as file:
            file.write(text)
        done = subprocess.run([RISEC, "check", "block.rise"], cwd=folder, capture_output=True, text=True, timeout=60)
    return re.findall(r"(?:error|warning)\[(\w+)\]", done.stderr), done.returncode, done.stderr


def block_fault(marker, body):
    """What is wrong with a block; None where it is what its marker says."""
    kind, _, rest = marker.partition(" ")
    if kind in ("whole:", "rest:"):
        outer, inner = (rest, body) if kind == "whole:" else (body, rest)
        if outer.count("...") != 1:
            return "it has no single `...`"
        _, status, said = check(outer.replace("...", inner.rstrip()) + "\n")
        return said if status else None
    if kind == "rise" and len(rest.split()) == 2:
        return None
    codes, status, said = check(body)
    wrong = rest if kind == "wrong" else "E0632" if kind == "rise" and rest.startswith("exercise") else ""
    if wrong:
        return None if set(codes) == {wrong} else f"it is marked as wrong, {wrong}, and check says {codes}"
    return said if status else None


def blocks(text):
    """(marker, language, body, line) of each fenced block; the marker is the comment in the line before, or ''."""
    for match in re.finditer(r"^(?:<!-- ([^\n]*?) -->\n)?```(\w*)\n(.*?)^```$", text, re.M | re.S):
        yield match[1] or "", match[2], match[3], text[: match.start(3)].count("\n")


def commands(body):
    """The commands of a block; what stands two spaces behind one, or behind #, explains it."""
    for line in re.sub(r"\\\n\s*", " ", body).splitlines():
        line = re.sub(r"\s+#.*|(?<=\S)  +.*", "", line).strip()
        if re.match(r"risec\s+\S", line):
            yield line


DEVICE = re.compile(r"^risec (bench|cache)\b|--device gpu|--arch|\.ptx|\.cubin|-o \S+\.h\b|--emit-docs|tune\b(?!.*--device sim)")


def command_fault(line, block):
    """What is wrong with a command. `block`: the program before it in the page, or ''."""
    words = shlex.split(re.split(r"\s[|;&<>]+(?:\s|$)|\s2?>\S", line)[0])[1:]
    words = [word for word in (re.sub(r"^\[|\]$", "", word) for word in words) if word and word != "..."]
    program = next((word for word in words if word.endswith(".rise")), None)
    with tempfile.TemporaryDirectory() as folder:
        for name in ("examples", "docs", "tests", "bench", "lib"):
            os.symlink(f"{ROOT}/{name}", f"{folder}/{name}")
        known = program and os.path.exists(f"{folder}/{program}")
        if program and not known and block and not DEVICE.search(line) and "/" not in program:
            with open(f"{folder}/{program}", "w", encoding="utf-8") as file:
                file.write(block)
            known = True
        done = subprocess.run([RISEC, *words], cwd=folder, capture_output=True, text=True, timeout=120)
    faults = re.findall(r"error\[(\w+)\].*", done.stderr)
    if known and not DEVICE.search(line) and not re.search(r"[A-Z]{3}|\.npy", line):
        return done.stderr if done.returncode else None
    # Without its program: the verb and the options exist and belong together.
    return done.stderr if set(faults) & {"E0620", "E0621", "E0623"} else None


# ---- commands that are not risec's ---------------------------------------------------------------------------------------------

BUILD = os.path.abspath(os.environ.get("BUILD", f"{ROOT}/build"))
# How a command begins: the tools that it wants, or None and why it is not run.
OTHER = {
    "./run.sh": ("cmake", "cc"),
    "./test.sh": (None, "it runs this test"),
    "cmake": ("cmake", "cc"),
    "cc": ("cc", "pkg-config"),
    "rm -r PREFIX/": ("rm",),
    "build/release/unit/": (None, "it takes minutes"),
    "tests/random/": (None, "it takes hours"),
}


def other_of(line):
    return next((head for head in OTHER if line.startswith(head) and (head.endswith("/") or line[len(head) :][:1] in (" ", ""))), None)


class Reader:
    """Somebody who types the commands of a page: in a folder with the programs of examples/c, and with a folder for what he installs."""

    def __init__(self):
        self.folder = tempfile.mkdtemp()
        self.prefix = f"{self.folder}/prefix"
        for path in glob.glob(f"{ROOT}/examples/c/*.c"):
            shutil.copy(path, self.folder)

    def end(self):
        shutil.rmtree(self.folder)

    def run(self, line):
        """('ok' or 'not ok' or 'skip', why)."""
        head = other_of(line)
        tools, why = OTHER[head] if OTHER[head][0] is None else (OTHER[head], "")
        missing = [tool for tool in tools or () if not shutil.which(tool)]
        if tools is None or missing:
            return "skip", why or f"no {missing[0]} here"
        home = self.folder if head == "cc" else ROOT
        if head == "cmake":
            line = line.replace("build/release", shlex.quote(f"{BUILD}/release"))
        paths = glob.glob(f"{self.prefix}/**/pkgconfig", recursive=True)
        env = {**os.environ, "PKG_CONFIG_PATH": ":".join(paths)}
        words = re.sub(r"\bPREFIX\b", self.prefix, line)
        done = subprocess.run(["sh", "-c", words], cwd=home, env=env, capture_output=True, text=True, timeout=900)
        left = [path for path in glob.glob(f"{self.prefix}/**", recursive=True) if os.path.isfile(path)]
        if head.startswith("rm") and left:
            return "not ok", f"it leaves {left[0]}"
        return ("not ok", f"exit code {done.returncode}: {done.stdout[-500:]}{done.stderr[-2000:]}") if done.returncode else ("ok", "")


def plain_count(text):
    """How many ```rise blocks and lines with commands a page has, counted without looking at what they are."""
    count, inside, shell = 0, False, False
    for line, after in zip(text.splitlines(), text.splitlines()[1:] + [""]):
        if line.startswith("```"):
            inside = not inside
            count += line == "```rise"
            shell = inside and line in ("```", "```sh", "```bash") and not after.startswith("$ ")
        elif shell:
            count += line.startswith("risec ") or other_of(line) is not None
    return count


def error_examples():
    """(code, bad or good, program) of errors.md, where an example is whole items."""
    for part in re.split(r"^### ", read(f"{ROOT}/docs/errors.md"), flags=re.M)[1:]:
        code = part[:5]
        for kind, body in re.findall(r"^\s*(bad|good): +(.*?)(?=^\s*(?:bad|good):|^```|\Z)", part, re.M | re.S):
            lines = body.rstrip().splitlines()
            text = "\n".join(re.sub(r"^ {6}", "", line) for line in lines)
            if re.match(ITEM, text) and "..." not in text and re.search(r"=\s", text):
                yield code, kind, text


# Examples that need more than their text to be what they show: another file, a tuning file, `check --laws`, a strategy that applies the rule, `fmt`, `test`.
ELSEWHERE = {"E0206", "E0207", "E0216", "E0661", "E0670", "E0672", "E0803", "E0806", "E0808", "E0809", "W0703", "W0707"}


def example_fault(code, kind, text):
    codes, status, said = check(text + "\n")
    if kind == "bad" and code not in codes:
        return f"{code} bad: says {codes or 'nothing'}"
    if kind == "good" and code in codes:
        return f"{code} good: {said}"
    return None


def index_faults():
    """Pages of docs that docs/README.md does not lead to."""
    listed = set(re.findall(r"\]\(([\w-]+\.md)\)", read(f"{ROOT}/docs/README.md")))
    for path in glob.glob(f"{ROOT}/docs/*.md"):
        if os.path.basename(path) not in listed | {"README.md"}:
            yield f"docs/README.md does not lead to {os.path.basename(path)}"


# ---- what README says of times -----------------------------------------------------------------------------------------------

REDUCTIONS = ("sum max argmin argmax sum_i32 sum_i64 sum_f64 sum_f16 sum_bf16 product mean_variance minmax dot asum nrm2 row_sums column_sums").split()


def times(name):
    """{size: {contender: (median, low, high)}} of a workload, in the digits of the tables."""
    def digits(row):
        return tuple(float(f"{float(row[key]):.2f}") for key in ("chain_us", "chain_p10", "chain_p90"))
    sizes = table.by_size(table.load(table.RESULTS)[name])
    return {size: {head: digits(row) for head, row in own.items() if row["verdict"] == "ok"}
            for size, own in sizes.items()}


def table_faults(write):
    """Pages whose tables are not those of the CSV files."""
    if write:
        table.write()
    return [f"{path} has other tables: run bench/table.py" for path in table.PAGES
            if read(f"{ROOT}/{path}") != table.filled(path)]


def ours(row):
    return [one for head, one in row.items() if head.startswith("risec")]


def rivals(row):
    return [one for head, one in row.items() if not head.startswith("risec")]


def claim():
    """The sentences of README, from the tables."""
    rows = [row for name in REDUCTIONS for row in times(name).values()]
    ahead = [row for row in rows if all(min(ours(row))[0] < rival[0] for rival in rivals(row))]
    level = sum(any(min(ours(row))[2] >= rival[1] and min(ours(row))[1] <= rival[2] for rival in rivals(row)) for row in rows)
    scans = [1 - min(ours(row))[0] / row["CUB"][0] for row in times("scan").values()]
    products = {size: row["cuBLAS"][0] / min(ours(row))[0] for size, row in times("matmul").items()}
    slowest = min(products, key=products.get)
    others = {size: ratio for size, ratio in products.items() if size != slowest}
    *sizes, last = others
    return (
        f"Of {len(rows)} reduction benchmarks, risec has the lowest median in {len(ahead)}, with programs that were lowered by hand. "
        f"In {level} of the {len(rows)}, its spread overlaps that of a library. "
        f"A running sum (prefix sum) takes {100 * min(scans):.0f} to {100 * max(scans):.0f} % less time with risec than with CUB. "
        f"For the product of two matrices of {slowest} x {slowest} floats, risec reached {100 * products[slowest]:.0f} % of cuBLAS's speed in this run. "
        f"For sizes of {', '.join(sizes)} and {last}, it reached {100 * min(others.values()):.0f} to {100 * max(others.values()):.0f} %."
    )


# What README shows: the words for it, the workload and its size.
ROWS = (
    ("sum of 2^26 floats", "sum", "2^26"),
    ("running sums of 2^26 integers", "scan", "2^26"),
    ("softmax of 16384 rows of 4096", "softmax", "16384 x 4096"),
)
COLUMNS = {"CUB": "CUB", "torch.compile": "torch.compile", "risec": "risec from one line"}


def readme_times():
    lines = ["| | " + " | ".join(COLUMNS) + " |", "|---" * (len(COLUMNS) + 1) + "|"]
    for words, name, size in ROWS:
        row = times(name)[size]
        cells = [f"{row[head][0]:.2f} us" if head in row else "" for head in COLUMNS.values()]
        best = min(row[head][0] for head in COLUMNS.values() if head in row)
        cells = [f"**{cell}**" if cell == f"{best:.2f} us" else cell for cell in cells]
        lines.append(f"| {words} | " + " | ".join(cells) + " |")
    return "\n".join([*lines, "", *textwrap.wrap(claim(), 100)])


def readme_fault(write):
    path = f"{ROOT}/README.md"
    text = read(path)
    place = re.search(r"(?<=^<!-- times -->\n).*?(?=\n<!-- end -->$)", text, re.M | re.S)
    if not place:
        return "README has no table of times"
    if place[0] == readme_times():
        return None
    if write:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text[: place.start()] + readme_times() + text[place.end() :])
        return None
    return f"README says other than its tables:\n{readme_times()}"


# ---- the words of the language ---------------------------------------------------------------------


def words_of_language():
    """Every word of the lexer and every word that the compiler gives a meaning."""
    lexer = re.findall(r'^ +"([a-z]+)" \{ TOKEN\(', read(f"{ROOT}/grammar/rise.re"), re.M)
    table = re.search(r"words\[\] = \{(.*?)\}", read(f"{ROOT}/src/frontend/elab_resolve.c"), re.S)[1]
    return lexer, re.findall(r'"(\w+)"', table)


def word_faults(text):
    """What language.md gets wrong about which words may be names."""
    part = re.search(r"^<!-- reserved -->\n(.*?)^<!-- end -->", text, re.M | re.S)
    lists = [set(one.split()) for one in re.findall(r"```text\n(.*?)```", part[1], re.S)]
    if len(lists) != 2:
        return ["language.md has no two lists of words"]
    lexer, table = words_of_language()
    free = {word for word in lexer if not check(f"entry f ({word}: f32): f32 = {word}\n")[1]}
    wanted = {*lexer, *table} - free, free
    return [f"{word}: which list of language.md should have it?"
            for listed, right in zip(lists, wanted) for word in sorted(listed ^ right)]


def reserved_faults():
    text = read(f"{ROOT}/docs/language.md")
    seen = word_faults(text.replace(" strategy fun", " fun")) and word_faults(text.replace(" at ", " "))
    return word_faults(text) + ([] if seen else ["a word that is left out is not found"])


def report(name, faults):
    print("not ok" if faults else "ok", name)
    for fault in faults:
        print("# " + fault.strip().replace("\n", "\n# "))
    return not faults


def main():
    good, tried, there, reader = True, 0, 0, Reader()
    for path in pages():
        name, faults, program = os.path.relpath(path, ROOT), [], ""
        there += plain_count(read(path))
        for marker, language, body, line in blocks(read(path)):
            if language == "rise":
                tried += 1
                fault = block_fault(marker, body)
                faults += [f"{name}:{line}: {fault}"] if fault else []
                program = "" if marker.startswith(("whole:", "rest:", "wrong")) else body
            elif body.startswith("$ "):
                run = name in DIALOGUES or name.startswith("docs/tutorial/")
                faults += [] if run else [f"{name}:{line}: no test runs this dialogue"]
            elif language in ("", "sh", "bash"):
                for command in commands(body):
                    tried += 1
                    fault = command_fault(command, program)
                    faults += [f"{name}:{line}: {command}: {fault}"] if fault else []
                for command in filter(other_of, body.splitlines()):
                    tried += 1
                    command = re.sub(r"\s+#.*", "", command)
                    result, why = reader.run(command)
                    if result == "skip":
                        print(f"skip pages-{name}-{command.replace(' ', '_')}: {why}")
                    faults += [f"{name}:{line}: {command}: {why}"] if result == "not ok" else []
        good &= report(f"pages-{name}", faults)
    faults = [example_fault(*one) for one in error_examples() if one[0] not in ELSEWHERE]
    good &= report("pages-error-examples", [fault for fault in faults if fault])
    good &= report("pages-index", list(index_faults()))
    good &= report("pages-reserved-words", reserved_faults())
    good &= report("pages-tables", table_faults("--write" in sys.argv[1:]))
    good &= report("pages-readme-times", [fault for fault in [readme_fault("--write" in sys.argv[1:])] if fault])
    whole = re.findall(rf"^(?:bad|good): +{ITEM}(?!.*\.\.\.).*\s=\s", read(f"{ROOT}/docs/errors.md"), re.M)
    few = [f"{tried} blocks and commands were tried or skipped, and {there} are there"] if tried != there else []
    few += [f"{len(faults)} examples of errors were tried, and {len(whole)} are there"] if len(faults) + len(ELSEWHERE) < len(whole) else []
    good &= report("pages-many", few)
    reader.end()
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
