#!/usr/bin/env python3
"""What a rule, a variable or a parameter is called decides nothing.

names-compared  no C file of src/rewrite and src/codegen compares texts, but for those listed here with the reason
names-programs  programs with every name of a variable exchanged for another one become the same CUDA, but for names
names-library   the same with every rule, strategy, definition and variable of the library renamed, as files beside the program

RISEC names the binary."""
import glob
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
RISEC = os.environ["RISEC"]

# Which texts a file may compare, how many times, and why.
LOOKED_UP = "looks up what the user wrote: a name in its scope, a setting, a label, a file"
WORDS = "reads words of the language, or of the compiler's own tables"
TRIAL = "a trial of a law writes a program as text, of the names in the rule's header, and reads its types back"
C_NAMES = "chooses names for the text, and keeps them apart"
EDIT = "where a hint's edit goes in the user's text"
NATS = "compares lists of nats, which are no texts"
ALLOWED = {
    "src/codegen/indices.c": (1, NATS),
    "src/codegen/c_names.c": (5, C_NAMES),
    "src/codegen/names.c": (1, C_NAMES),
    "src/codegen/cuda_helpers.c": (3, WORDS),
    "src/codegen/cuda_calls.c": (2, "where a size stands in C text; whether the text of a size is 0"),
    "src/codegen/cuda_header.c": (4, "the header's own prefix, in its fixed parts; " + C_NAMES),
    "src/codegen/cuda_launches.c": (1, "whether the text of a size has a cast"),
    "src/codegen/cuda_wrap.c": (1, "signs of C, where a line may be broken"),
    "src/codegen/footprint.c": (2, "bytes of a struct, no text"),
    "src/codegen/grid.c": (1, "bytes of a struct, no text"),
    "src/codegen/launch.c": (1, EDIT),
    "src/codegen/lower.c": (1, WORDS),
    "src/codegen/manifest.c": (2, "words of the format; notes that repeat"),
    "src/codegen/outline_form.c": (1, "words of a statement, which are numbers"),
    "src/codegen/outline_match.c": (1, C_NAMES),
    "src/codegen/outline_names.c": (1, C_NAMES),
    "src/codegen/propose.c": (2, EDIT),
    "src/codegen/same_kernels.c": (1, "kernels are one where their texts, made by the same passes, are the same"),
    "src/codegen/views.c": (1, "the words of a message, by the pattern that it proposes"),
    "src/rewrite/arguments.c": (6, LOOKED_UP + "; " + WORDS),
    "src/rewrite/builtins.c": (3, WORDS),
    "src/rewrite/law_gate.c": (5, WORDS + "; bytes of results"),
    "src/rewrite/law_operators.c": (3, WORDS + "; bytes of results"),
    "src/rewrite/law_classes.c": (2, "where a size test stands in the library, of two trials"),
    "src/rewrite/law_text.c": (18, TRIAL),
    "src/rewrite/laws.c": (4, TRIAL),
    "src/rewrite/manual.c": (6, LOOKED_UP),
    "src/rewrite/match.c": (3, WORDS),
    "src/rewrite/place.c": (4, LOOKED_UP),
    "src/rewrite/replay.c": (6, "says where a saved trace does not fit: whole terms and places as text; a module or a path"),
    "src/rewrite/strategy.c": (3, LOOKED_UP),
    "src/rewrite/terms.c": (1, WORDS),
}
COMPARES = re.compile(r"\b(?:strcmp|strncmp|strcasecmp|memcmp|strstr)\s*\(")
FOLDERS = ("rewrite", "codegen")


def say(name, wrong):
    print(f"{'not ok' if wrong else 'ok'} names-{name}")
    for line in wrong[:20]:
        print("#", line.replace("\n", " "))
    return bool(wrong)


def compared():
    wrong, seen = [], set()
    for folder in FOLDERS:
        for path in sorted(glob.glob(f"{ROOT}/src/{folder}/*.[ch]")):
            name = os.path.relpath(path, ROOT)
            with open(path) as file:
                text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
            found = len(COMPARES.findall(text))
            allowed = ALLOWED.get(name, (0, ""))[0]
            seen.add(name)
            if found > allowed or (allowed and not found):
                wrong.append(f"{name} compares texts {found} times, and {allowed} are listed")
    wrong += [f"{name} is listed, and is not there" for name in ALLOWED if name not in seen]
    return say("compared", wrong)


# ---- renaming ------------------------------------------------------------------------------------------------------------

WORD = re.compile(r"--[^\n]*|[A-Za-z_][A-Za-z0-9_]*")


# Words of the grammar, of places and of options, and the `n` of `generate{n = ..}`; where they are also names, they keep them.
SYNTAX = set("x y z at by level grid block warp thread every first last inside outermost steps launch threads minBlocks blocks once pad place inPlace prefetch "
             "swizzle let in fun if then else and or not where unroll import rule strategy def entry operator nat data num int float scalar idx vec i8 i16 i32 i64 "
             "n u8 u16 u32 u64 f16 bf16 f32 f64 bool inf nan lowest highest true false ceilDiv pow2 numSM maxResident halving".split())


def table():
    """Words that are the language's: they keep their names."""
    done = subprocess.run([RISEC, "help", "--emit-docs=primitives"], capture_output=True, text=True, check=True)
    words = set(re.findall(r"^\| `(\w+)`", done.stdout, re.M)) | SYNTAX
    with open(f"{ROOT}/src/frontend/strategies.def") as file:
        words |= set(re.findall(r"^STRATEGY\((\w+)", file.read(), re.M))
    with open(f"{ROOT}/src/frontend/rule_conditions.def") as file:
        words |= set(re.findall(r"^CONDITION\((\w+)", file.read(), re.M))
    return words


def variables(text):
    """Names that `fun`, `let` and headers bind."""
    text = re.sub(r"--[^\n]*", "", text)
    names = set()
    for group in re.findall(r"\bfun\s+(.*?)=>", text, re.S):
        names |= set(re.findall(r"[a-z]\w*", re.sub(r":[^,()]*(\([^()]*\))?", " ", group)))
    for group in re.findall(r"\blet\s+([^=]*?)=", text):
        names |= set(re.findall(r"[a-z]\w*", group.split(":")[0]))
    return names


def renamed(text, new):
    return WORD.sub(lambda m: m.group() if m.group().startswith("--") else new.get(m.group(), m.group()), text)


TYPES = r"float|double|int|unsigned|long|short|char|signed|bool|half|__half|const|if|else|for|return|do|while|__\w+|threadIdx|blockIdx|blockDim|gridDim"


def shape(cuda):
    """The text without names of variables: words of C, and what is called, stay."""
    cuda = re.sub(r"//[^\n]*", "", cuda)
    cuda = re.sub(r"\b(?!(?:" + TYPES + r")\b)[A-Za-z_]\w*\b(?!\s*\()", "v", cuda)
    return re.sub(r"\s+", "", cuda).replace(";", ";\n")


def cuda_of(text, folder, name, risec=RISEC):
    path = os.path.join(folder, name)
    with open(path, "w") as file:
        file.write(text)
    done = subprocess.run([risec, "--emit=cuda", path], capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else None, done.stderr


def programs(folder):
    words, wrong, tried = table(), [], 0
    paths = sorted(glob.glob(f"{ROOT}/examples/*.rise") + glob.glob(f"{ROOT}/examples/high/*.rise") + glob.glob(f"{ROOT}/tests/programs/*.rise"))
    step = 1 if os.environ.get("RISEC_LEVEL") == "all" else 4
    for path in paths[::step]:
        with open(path) as file:
            text = file.read()
        new = {name: f"{name}{'Qz' if i % 2 else 'Renamed'}" for i, name in enumerate(sorted(variables(text) - words - set(re.findall(r"^entry (\w+)", text, re.M)))) if f"#{name}" not in text}
        before, _ = cuda_of(text, folder, "program.rise")
        after, told = cuda_of(renamed(text, new), folder, "program.rise")
        if before is None:
            continue
        tried += 1
        if after is None:
            wrong.append(f"{os.path.basename(path)}: renamed, it is refused: {told[:300]}")
        elif shape(before) != shape(after):
            wrong.append(f"{os.path.basename(path)}: {first_difference(shape(before), shape(after))}")
    if tried < 10:
        wrong.append(f"only {tried} programs were tried")
    return say("programs", wrong)


def first_difference(a, b):
    for one, two in zip(a.splitlines(), b.splitlines()):
        if one != two:
            return f"`{one.strip()}` became `{two.strip()}`"
    return "one of them goes on"


def renamed_library(folder, words):
    """The library as files, with all its names changed; the new name of `scheduled`."""
    texts = {}
    for path in glob.glob(f"{ROOT}/lib/*/*.rise"):
        with open(path) as file:
            texts[os.path.relpath(path, f"{ROOT}/lib")] = file.read()
    names = set()
    for text in texts.values():
        names |= variables(text) | set(re.findall(r"^(?:rule|strategy|def|operator)\s+(\w+)", text, re.M))
        names |= set(re.findall(r"[({]([a-z]\w*(?: [a-z]\w*)*):", re.sub(r"--[^\n]*", "", text))) - {None}
    names = {word for group in names for word in group.split()}
    modules = {part for path in texts for part in path[:-5].split("/")}
    new = {name: f"{name}{'Qz' if i % 2 else 'Renamed'}" for i, name in enumerate(sorted(names - words - modules))}
    new |= {name: f"{name}Renamed" for name in names & modules - words}
    for path, text in texts.items():
        lines = []
        for line in text.splitlines():
            module = re.match(r"import ([\w.]+)", line)
            lines.append(f'import "../{module[1].replace(".", "/")}.rise"' if module else renamed(line, new))
        os.makedirs(os.path.join(folder, os.path.dirname(path)), exist_ok=True)
        with open(os.path.join(folder, path), "w") as file:
            file.write("\n".join(lines) + "\n")
    return new["scheduled"]


def lowered(folder, text, entry, strategy):
    path = os.path.join(folder, "high.rise")
    with open(path, "w") as file:
        file.write(text)
    done = subprocess.run([RISEC, "lower", path, entry, "--strategy", strategy], capture_output=True, text=True)
    if done.returncode:
        return None, done.stderr
    return cuda_of(done.stdout, folder, "low.rise")


def library(folder):
    scheduled, wrong, tried = renamed_library(folder, table()), [], 0
    for name in ("reductions", "matrices", "rows", "arrays", "chains", "points"):
        with open(f"{ROOT}/examples/high/{name}.rise") as file:
            text = file.read()
        for entry in re.findall(r"^entry (\w+)", text, re.M):
            before, _ = lowered(folder, "import strategies.scheduled\n" + text, entry, "scheduled")
            if before is None:
                continue
            after, told = lowered(folder, 'import "strategies/scheduled.rise"\n' + text, entry, scheduled)
            tried += 1
            if after is None:
                wrong.append(f"{name} {entry}: with the library renamed, it is refused: {told[:300]}")
            elif shape(before) != shape(after):
                wrong.append(f"{name} {entry}: {first_difference(shape(before), shape(after))}")
    if tried < 15:
        wrong.append(f"only {tried} entries were tried")
    return say("library", wrong)


def main():
    failed = compared()
    with tempfile.TemporaryDirectory() as folder:
        failed |= programs(folder)
        failed |= library(folder)
    return failed


if __name__ == "__main__":
    sys.exit(main())
