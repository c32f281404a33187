#!/usr/bin/env python3
"""The text executor: compiles emitted CUDA text for the CPU, runs it, and compares with the reference interpreter, bit for bit.

    tests/text/run_text.py [options] FILE.rise...           each file's first entry
    tests/text/run_text.py [options] --hand FILE.cu FILE.rise
                                                            also a hand-written twin (tests/handwritten/README.md)
    tests/text/run_text.py [options] --jobs FILE            many programs, in the form that text_cases.c describes (`-`: standard input)

      --sizes N,N...   values for all sizes of the entry (the same, then mixed); default: the size classes of the tests
      --set NAME=N     a tunable; may be repeated
      --entry NAME     instead of the first one
      --cells N        leave out launches with larger arrays; default 70000
      --seed N         of the inputs and of the random thread orders; printed
      --keep DIR       leave the texts and logs there
      --fast           without sanitizers: for long runs of random programs, three times as fast

Prints a line for each program, `agree NAME RUNS` (how many launches were compared; 0 means that the entry accepted none of the sizes), or

    differ NAME: where and what      wrong bits, an unwritten result, an input that was written, an error from the host function
    crash NAME: where                a sanitizer or the shim ended it; lines that begin with # say why
    hang NAME: where
    refused NAME: message            risec does not compile it
    broken NAME: message             its text does not compile as C++, or the test itself is wrong

and ends with exit code 0 if all agree. From Python: run_batch. All programs of a call are compiled together, by as many compilers as there are processors; what does
not depend on the programs is compiled once (in build/release/text).

Each launch is run four times: with threads and blocks in order; then with threads at random, by random ranks of warps and by random ranks of threads, with several blocks at a
time, a random number of blocks (the grid that the host function asks for, or at most 1, 2 or 3), and buffers that are no better aligned than promised.
All launches of a program, of whatever sizes, use one workspace, which is full of 0xff before and made ready once; now and then a launch fails, and it is made ready again.
Every second run takes the kernels with 64-bit indices, where there are such. Of launches with more than 4000 cells in an array only one of the random orders is run.
"""
import argparse
import hashlib
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BUILD = os.environ.get("BUILD") or os.path.join(ROOT, "build")
SIZE_CLASSES = (0, 1, 31, 32, 33, 45, 1000, 1023, 1024, 1025, 2047, 65537)
CXX = os.environ.get("CXX", "g++")
# Without optimisation: with sanitizers -O1 takes g++ more than twice as long, which the short runs do not make up for.
CHECKED = ["-O0", "-g1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer", "-DSHIM_ASAN"]
FAST = ["-O0"]
# -frounding-math: without it gcc 12 makes -x of `0.0f - (float)x` for a number x without a sign, which is not the same for x = 0.
COMMON = ["-std=c++17", "-w", "-Werror=narrowing", "-ffp-contract=off", "-frounding-math", "-fno-builtin", f"-I{HERE}"]
PROGRAMS_PER_FILE = 40
LOG_LINES = 12
# Of compiling and of the reference interpreter: against what grows or runs for ever.
PREPARE_BYTES, PREPARE_SECONDS = 1 << 30, 600
# A changed text that runs for longer is caught (a good one takes milliseconds); one that agrees has to do it again in other orders.
FAULT_HANG_SECONDS, FAULT_ROUNDS = 10, 4


# ---- from CUDA text to C++ ------------------------------------------------------------------------------------------------------


class TextError(Exception):
    pass


def without_comments(text):
    """Comments become blanks; lines stay where they are."""
    pattern = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|//[^\n]*|/\*.*?\*/', re.S)
    return pattern.sub(lambda m: m[0] if m[0][0] in "\"'" else re.sub(r"[^\n]", " ", m[0]), text)


def closing(text, at):
    """The index of the bracket that closes the one at `at`."""
    depth = 0
    for i in range(at, len(text)):
        if text[i] in "([{":
            depth += 1
        elif text[i] in ")]}":
            depth -= 1
            if depth == 0:
                return i
    raise TextError("a bracket is not closed")


def split_commas(text):
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "([{<") - (c in ")]}>")
        if c == "," and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    return parts + [text[start:]]


def shared_declaration(match):
    """`__shared__ float a[4], b;`: references to memory of the block; `extern` ones to what the launch gives."""
    extern, words = match[1], re.sub(r"__align__\s*\(\s*\d+\s*\)", " ", match[2]).replace("__shared__", " ")
    first, *more = split_commas(words)
    head = re.fullmatch(r"\s*(.*?)(\w+)\s*((?:\[[^\]]*\]\s*)*)", first, re.S)
    if not head:
        raise TextError(f"cannot read the declaration of `{words.strip()}`")
    declared = [(head[2], head[3])]
    for part in more:
        one = re.fullmatch(r"\s*(\w+)\s*((?:\[[^\]]*\]\s*)*)", part, re.S)
        if not one:
            raise TextError(f"cannot read the declaration of `{part.strip()}`")
        declared.append((one[1], one[2]))
    kind, out = head[1].strip(), []
    for name, dims in declared:
        if extern:
            out.append(f"{kind} *const {name} = ({kind} *)::cuda_shim::dynamic_shared(16);")
        else:
            out.append(f"static char {name}_key; typedef {kind} {name}_type{dims}; "
                       f"{name}_type &{name} = *({name}_type *)::cuda_shim::shared_variable(&{name}_key, sizeof({name}_type), alignof({name}_type));")
    return " ".join(out) + "\n" * match[0].count("\n")


def launches(text):
    """kernel<<<grid, block, ...>>>(args) as a call that C++ can read."""
    out, done = [], 0
    for launch in re.finditer(r"([\w:]+(?:<[^<>;{}]*>)?)\s*<<<", text):
        kernel, end = launch[1], text.find(">>>", launch.end())
        if launch.start() < done or end < 0:
            raise TextError("cannot read a launch")
        opening = text.index("(", end)
        close = closing(text, opening)
        out += [text[done : launch.start()], f'::cuda_shim::launch("{kernel}", (const void *){kernel}, ::cuda_shim::config({text[launch.end():end]}), ',
                f"[=] {{ {kernel}{text[opening:close + 1]}; }})"]
        done = close + 1
    rest = text[done:]
    if "<<<" in "".join(out) + rest:
        raise TextError("cannot read a launch")
    return "".join(out) + rest


def to_cpp(text):
    """The text as C++ for cuda_shim.h. Lines keep their numbers. What the host compares with the largest int it compares with a number of the shim's, so that the kernels
    for large arrays run with small ones."""
    text = without_comments(text)
    kernels, mark, host = text.partition("#ifndef __CUDACC_RTC__")
    text = kernels + mark + host.replace("<= 2147483647", "<= ::cuda_shim::index_max")
    text = re.sub(r"^[ \t]*#[ \t]*(include|line)\b.*$", "", text, flags=re.M)
    text = re.sub(r'\bextern\s*"C"\s*(?!\s*\{)', " ", text)
    text = re.sub(r"\b(extern\s+)?((?:__align__\s*\(\s*\d+\s*\)\s*)?\b__shared__\b[^;]*);", shared_declaration, text)
    text = re.sub(r"\bcudaLaunch(Cooperative)?Kernel\s*\(\s*(?:\((?:const\s+)?void\s*\*\)\s*)?&?\s*([\w:]+(?:<[^<>;{}]*>)?)\s*,",
                  lambda m: f'::cuda_shim::launch_args("{m[2]}", {"true" if m[1] else "false"}, {m[2]},', text)
    return launches(text)


def host_function(text, name=""):
    """The last host function of a text, or the one of that name."""
    found = re.findall(r'extern\s*"C"\s*(?:int|void|cudaError_t)\s+(\w+)\s*\([^)]*cudaStream_t', without_comments(text))
    if not found or (name and name not in found):
        raise TextError(f"there is no host function {name} with a stream as its last parameter")
    return name or found[-1]


def workspace_functions(text, function):
    """The host functions that say how much workspace the one before needs, and make it ready; or none."""
    before = without_comments(text)[: re.search(rf'extern\s*"C"\s*int\s+{function}\s*\(', without_comments(text)).start()]
    size = re.findall(r'extern\s*"C"\s*int\s+(\w+)\s*\([^)]*size_t\s*\*\w+\s*\)\s*\{', before)
    init = re.findall(r'extern\s*"C"\s*int\s+(\w+)\s*\(\s*void\s*\*\w+\s*,\s*cudaStream_t\s+\w+\s*\)\s*\{', before)
    return [size[-1], init[-1]] if size and init else []


def in_namespace(index, name, text, function, hand):
    """One program of a batch, apart from the others. What depends on the device's generation is there for the oldest."""
    with_workspace = [] if hand else workspace_functions(text, function)
    twin = f'SHIM_TWIN{"_WITH" if with_workspace else ""}("{name}", {", ".join([function, *with_workspace])})'
    return f'namespace cuda_shim {{ namespace p{index} {{\n#line 1 "{name}.cu"\n{to_cpp(text)}\n{twin}\n}} }}\n'


# ---- compiling --------------------------------------------------------------------------------------------------------------------


def compiler(args):
    done = subprocess.run([CXX, *COMMON, *args], capture_output=True, text=True)
    return done.returncode, done.stderr


def has_sanitizers():
    """Does the compiler make programs with sanitizers, and do these run?"""
    with tempfile.TemporaryDirectory() as folder:
        source, program = os.path.join(folder, "a.cpp"), os.path.join(folder, "a")
        with open(source, "w") as file:
            file.write("int main() { return 0; }\n")
        return compiler([*CHECKED, source, "-o", program])[0] == 0 and subprocess.run([program], capture_output=True).returncode == 0


def checked_or_fast(what):
    """CHECKED, or FAST and a line that says so where there are no sanitizers."""
    if has_sanitizers():
        return CHECKED
    print(f"skip {what} under sanitizers: {CXX} does not link -fsanitize=address,undefined")
    return FAST


def shim_objects(flags):
    """The scheduler and the runner: compiled once for each of their versions."""
    key = hashlib.sha256(" ".join([CXX, *COMMON, *flags]).encode())
    for name in sorted(os.listdir(HERE)):
        if name.endswith((".h", ".cpp")):
            with open(os.path.join(HERE, name), "rb") as file:
                key.update(file.read())
    folder = os.path.join(BUILD, "release", "text", "shim-" + key.hexdigest()[:16])
    objects = [os.path.join(folder, name) for name in ("shim.o", "runner.o")]
    if not all(map(os.path.exists, objects)):
        os.makedirs(folder, exist_ok=True)
        # The scheduler itself is not instrumented: it works on the stacks of others.
        asan = [flag for flag in flags if flag.startswith("-D")]
        for source, target, how in (("shim.cpp", objects[0], ["-O2", *asan]), ("runner.cpp", objects[1], flags)):
            part = f"{target}.{os.getpid()}"
            code, log = compiler([*how, "-c", os.path.join(HERE, source), "-o", part])
            if code:
                raise RuntimeError(f"{source} does not compile:\n{log}")
            os.replace(part, target)
    return objects


def compile_batch(folder, units, flags, jobs):
    """units: (name, C++). Links what compiles into folder/batch; gives {name: why it does not}."""
    broken = {}

    def one(k, part):
        while part:
            path = os.path.join(folder, f"batch{k}.cpp")
            with open(path, "w") as file:
                file.write('#include "cuda_shim.h"\n' + "".join(text for _, text in part))
            code, log = compiler([*flags, "-c", path, "-o", path[:-4] + ".o"])
            if code == 0:
                return path[:-4] + ".o"
            bad = {m[1]: m[0] for m in reversed(list(re.finditer(r"^(?:In file included from )?([^:\n]+)\.cu:\d+.*error.*$", log, re.M)))}
            names = [name for name, _ in part if name in bad] or [name for name, _ in part]
            for name in names:
                broken[name] = bad.get(name, log.strip()[:500])
            part = [unit for unit in part if unit[0] not in names]
        return None

    count = min(len(units), max(jobs, -(-len(units) // PROGRAMS_PER_FILE))) or 1
    with ThreadPoolExecutor(jobs) as pool:
        objects = list(pool.map(lambda k: one(k, units[k::count]), range(count)))
    code, log = compiler([*flags, *filter(None, objects), *shim_objects(flags), "-o", os.path.join(folder, "batch")])
    if code:
        raise RuntimeError(f"the batch does not link:\n{log}")
    return broken


# ---- running ------------------------------------------------------------------------------------------------------------------------


@dataclass
class Program:
    """name: letters, digits, _ and dots; unique in the batch. One of path (a .rise file) and text (its contents)."""

    name: str
    path: str = ""
    text: str = ""
    entry: str = ""
    settings: dict = field(default_factory=dict)
    sizes: tuple = SIZE_CLASSES
    launches: tuple = ()  # of tuples: a value for each size, in order
    cells: int = 70000
    steps: int = 0        # of the reference interpreter for a launch, at most; 0: any number
    samples: int = 0      # launches of more sizes, which the entry accepts
    simulate: bool = False  # the simulator has to agree, too: text_cases.c
    spread: int = 8       # inputs are integers from -spread to spread; more only where no floats are added
    hand: str = ""        # a .cu file (or its contents) with ENTRY_hand, or with the twin of the only entry; becomes a result of its own, `name.hand`


@dataclass
class Result:
    name: str
    verdict: str  # agree, differ, crash, hang, refused, broken
    detail: str = ""
    runs: int = 0
    log: str = ""
    cases: int = 0    # launches, each of which was run several times
    rounded: int = 0  # of them, those whose results are the simulator's, which agrees with the reference within the tolerance


def prepare(folder, programs, seed):
    """Writes texts and cases; gives {name: (verdict, detail)}."""
    lines = []
    for p in programs:
        path = p.path
        if p.text:
            path = os.path.join(folder, p.name + ".rise")
            with open(path, "w") as file:
                file.write(p.text)
        lines += [f"program {p.name} {path}", f"seed {seed}", f"cells {p.cells}"]
        lines += [f"steps {p.steps}"] if p.steps else []
        lines += [f"spread {p.spread}"] + (["narrow"] if p.hand else [])  # plain C does not say what overflow gives
        lines += [f"samples {p.samples}"] + (["simulate"] if p.simulate else [])
        lines += [f"entry {p.entry}"] if p.entry else []
        lines += [f"set {name}={value}" for name, value in p.settings.items()]
        lines += ["sizes " + " ".join(map(str, p.sizes))] if p.sizes else []
        lines += ["launch " + " ".join(map(str, launch)) for launch in p.launches]
        lines += ["end"]
    return text_cases(folder, "\n".join(lines) + "\n")


def text_cases(folder, jobs):
    tool = os.path.join(BUILD, "release", "text", "text_cases")
    blocks = re.findall(r"^program .*?^end$", jobs, re.S | re.M)
    limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (PREPARE_BYTES, PREPARE_BYTES))  # noqa: E731
    shares = os.cpu_count() or 2

    def one(k):
        try:
            return subprocess.run([tool, folder], input="\n".join(blocks[k::shares]) + "\n", capture_output=True, text=True, preexec_fn=limit,
                                  timeout=PREPARE_SECONDS)
        except subprocess.TimeoutExpired as late:
            return subprocess.CompletedProcess([], 1, (late.stdout or b"").decode(), "it did not end")

    with ThreadPoolExecutor(shares) as pool:
        runs = list(pool.map(one, range(shares)))
    said = {m[2]: (m[1], m[3]) for done in runs for m in re.finditer(r"^(ready|refused|differ) ([\w.]+):? (.*)$", done.stdout, re.M)}
    for k, done in enumerate(runs):
        for block in blocks[k::shares]:
            said.setdefault(block.split()[1], ("broken", f"text_cases: exit code {done.returncode}: {done.stderr.strip()[-200:]}"))
    return said


def logged(folder, name):
    """The lines of a log that say why."""
    try:
        with open(os.path.join(folder, name + ".log"), errors="replace") as file:
            lines = [line.rstrip() for line in file if line.strip()]
    except OSError:
        return ""
    told = [line for line in lines if re.search(r"shim:|runtime error|ERROR: |^(READ|WRITE) of|#[0-4] |located|SUMMARY", line)]
    return "\n".join((told or lines)[:LOG_LINES])


def run_prepared(folder, ready, hands, seed, flags, jobs, hang_seconds=120, rounds=1):
    """ready: names with NAME.cu and NAME.cases in the folder; hands: {name: program}. Gives {name: result}."""
    units, results = [], {}
    for name in [*ready, *(f"{name}.hand" for name in hands)]:
        hand = name.endswith(".hand")
        try:
            path = hands[name[:-5]].hand if hand else os.path.join(folder, name + ".cu")
            if "\n" in path:
                text = path
            else:
                with open(path) as file:
                    text = file.read()
            entry = hand and hands[name[:-5]].entry
            units.append((name, in_namespace(len(units), name, text, host_function(text, f"{entry}_hand" if entry else ""), hand)))
        except (TextError, OSError) as error:
            results[name] = Result(name, "broken", str(error))
    if not units:
        return results
    for name, why in compile_batch(folder, units, flags, jobs).items():
        results[name] = Result(name, "broken", why)
    env = dict(os.environ, ASAN_OPTIONS="detect_leaks=0:quarantine_size_mb=4:max_redzone=64", UBSAN_OPTIONS="print_stacktrace=0")
    with ThreadPoolExecutor(jobs) as pool:
        runs = list(pool.map(
            lambda k: subprocess.run([os.path.join(folder, "batch"), folder, "--seed", str(seed), "--share", f"{k}/{jobs}",
                                      "--hang", str(hang_seconds), "--rounds", str(rounds)], env=env,
                                     capture_output=True, text=True, errors="replace"), range(jobs)))
    for done in runs:
        for m in re.finditer(r"^(agree|differ|crash|hang|broken) ([\w.]+):? (.*)$", done.stdout, re.M):
            result = results[m[2]] = Result(m[2], m[1], m[3])
            if m[1] == "agree":
                result.runs = int(m[3])
            else:
                result.log = logged(folder, m[2])
    for name, _ in units:
        results.setdefault(name, Result(name, "broken", "it was not run: " + " ".join(d.stderr.strip()[-300:] for d in runs)))
    return results


def run_batch(programs, seed=1, flags=CHECKED, keep=None, jobs=None):
    """Runs all of them, compiled together; gives a list of Results in order, a program's hand-written twin behind it. `flags`: CHECKED or FAST."""
    folder = keep or tempfile.mkdtemp(prefix="risec-text-")
    os.makedirs(folder, exist_ok=True)
    try:
        said = prepare(folder, programs, seed)
        ready = [p.name for p in programs if said[p.name][0] == "ready"]
        results = run_prepared(folder, ready, {p.name: p for p in programs if p.hand and p.name in ready}, seed,
                               flags, jobs or os.cpu_count() or 2)
        ordered = []
        for p in programs:
            if said[p.name][0] != "ready":
                ordered.append(Result(p.name, *said[p.name]))
            elif p.name in results:
                results[p.name].cases, results[p.name].rounded = map(int, said[p.name][1].split())
            ordered += [results[name] for name in (p.name, p.name + ".hand") if name in results]
        return ordered
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)


def run_changed(programs, change, seed=1, keep=None, jobs=None):
    """For planted faults: `change(name, emitted text)` gives (name, text) of changed texts, all of which run with the program's launches. Gives their results in order."""
    folder = keep or tempfile.mkdtemp(prefix="risec-text-")
    os.makedirs(folder, exist_ok=True)
    try:
        names = []
        for program, (how, _) in prepare(folder, programs, seed).items():
            if how != "ready":
                continue
            with open(os.path.join(folder, program + ".cu")) as file:
                text = file.read()
            for name, changed in change(program, text):
                with open(os.path.join(folder, name + ".cu"), "w") as file:
                    file.write(changed)
                cases = os.path.join(folder, name + ".cases")
                if os.path.lexists(cases):
                    os.remove(cases)
                os.link(os.path.join(folder, program + ".cases"), cases)
                names.append(name)
        results = run_prepared(folder, names, {}, seed, CHECKED, jobs or os.cpu_count() or 2, FAULT_HANG_SECONDS, FAULT_ROUNDS)
        return [results[name] for name in names]
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)


def report(results):
    for r in results:
        print(f"agree {r.name} {r.runs}" if r.verdict == "agree" else f"{r.verdict} {r.name}: {r.detail}")
        for line in r.log.splitlines() if r.verdict != "agree" else ():
            print("# " + line)
    return 0 if all(r.verdict == "agree" for r in results) else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*")
    parser.add_argument("--hand")
    parser.add_argument("--jobs")
    parser.add_argument("--sizes", default=",".join(map(str, SIZE_CLASSES)))
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--entry", default="")
    parser.add_argument("--cells", type=int, default=70000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep")
    parser.add_argument("--fast", action="store_true")
    options = parser.parse_args()
    print(f"# seed {options.seed}")
    if options.jobs:
        folder = options.keep or tempfile.mkdtemp(prefix="risec-text-")
        os.makedirs(folder, exist_ok=True)
        try:
            said = text_cases(folder, sys.stdin.read() if options.jobs == "-" else open(options.jobs).read())
            results = run_prepared(folder, [n for n, (how, _) in said.items() if how == "ready"], {}, options.seed,
                                   FAST if options.fast else CHECKED, os.cpu_count() or 2)
            return report([results.get(n) or Result(n, how, why) for n, (how, why) in said.items()])
        finally:
            if not options.keep:
                shutil.rmtree(folder, ignore_errors=True)
    sizes = tuple(int(n) for n in options.sizes.split(","))
    programs = [Program(re.sub(r"\W", "_", os.path.basename(f)[: -len(".rise")]), f, entry=options.entry, sizes=sizes, cells=options.cells,
                        settings=dict(s.split("=") for s in options.set), hand=options.hand or "") for f in options.files]
    return report(run_batch(programs, options.seed, FAST if options.fast else CHECKED, options.keep))


if __name__ == "__main__":
    sys.exit(main())
