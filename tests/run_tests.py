#!/usr/bin/env python3
"""Runs all tests of both builds. ./test.sh builds them and calls this.

    tests/run_tests.py [-v] [-j N] [--times FILE] [--level quick|whole|all] [--no-sanitizers WHY] [WORD...]
                                                 tests with one of the words in their names; all without words. FILE: the processor seconds of each
    tests/run_tests.py --durations [WORD...]     writes the seconds into tests/durations, too, which decides what starts first

Levels: `quick` are the unit tests and the goldens on the release build; `whole`, what is run without one, has both builds and the scripts;
`all` does more of the same where `whole` does some.

    tests/run_tests.py --regen [WORD...]         writes the goldens that exist again, the outputs in the examples, and the pages made of them;
                                                 the lines of tests/bench_counters and tests/one_body only if a word names them: they say what got worse

Kinds of tests:

  unit/       each program build/*/unit/test_* (from tests/unit and tests/random) is one test for each build. tests/unit/args says what
              it is given at each level. The last line of its output is `NAME: N checks, N wrong`.
  <stage>/    tests/<stage>/<point>.rise with a golden beside it. The extension says what is compared:
                .tokens .ast .core .nests .imp .manifest  what `risec --emit=` of that name prints
                .cu                         what `risec --emit=cuda` prints
                .err                        what `risec check` says; its exit code is 1, or 0 where there are only warnings
                .ok                         nothing: `risec check` must find no error, and not the code that the name begins with
              In tests/parse, .err and .ok are about what `risec --emit=ast` says: its programs mean nothing.
              Further arguments stand in <point>.args. A <point>.cmd is a whole command line instead, whose second line may be
              `exit N`, for .err and .ok, and .out, which is its standard output.
              Both builds must agree with the golden (at the level `quick`, the release build). The working directory is tests/<stage>.
  core-again/ what --emit=core prints of a program is a program, and prints as the same.
  codes/      every diagnostic has a case that fails and a near miss; tests/codes_unreachable.txt lists those that cannot, and why.
  scripts/    each prints lines `ok NAME`, `not ok NAME`, `skip NAME: reason`, and these are the tests. Lines that begin with # after a
              `not ok` say why. The environment has RISEC and RISEC_SAN (the two binaries; the second one is missing where there is no
              sanitizer), BUILD (where both builds are), RISEC_LEVEL, TMPDIR, and a cache of its own.
"""
import argparse
import concurrent.futures
import difflib
import glob
import multiprocessing
import os
import re
import resource
import shlex
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.join(ROOT, "build")
TESTS = os.path.join(ROOT, "tests")
BUILDS = ("release", "sanitize")  # main() takes away what a level does not use, or what this machine cannot build
LEVELS = ("quick", "whole", "all")
EMIT = {".tokens": "tokens", ".ast": "ast", ".core": "core", ".nests": "nests", ".imp": "imp", ".cu": "cuda", ".manifest": "manifest"}
GOLDENS = (*EMIT, ".err", ".ok", ".out")
SHOWN_LINES = 60

# Far beyond what any test needs: this only keeps a hang from being for ever.
UNIT_SECONDS, GOLDEN_SECONDS, SCRIPT_SECONDS = 1800, 120, 2700


def environment():
    env = dict(os.environ)
    env.pop("RISEC_WERROR", None)
    env.update(
        RISEC=os.path.join(BUILD, "release", "risec"),
        RISEC_SAN=os.path.join(BUILD, "sanitize", "risec"),
        RISEC_LEVEL="whole",
        BUILD=BUILD,
        LC_ALL="C",
        NO_COLOR="1",
        ASAN_OPTIONS="detect_leaks=1:allocator_may_return_null=1:strict_string_checks=1",
        UBSAN_OPTIONS="print_stacktrace=1",
    )
    return env


ENV = environment()


def run(argv, cwd, seconds, env=ENV, stdin=None):
    """(exit code, output, messages); a code of None means that it did not end."""
    try:
        done = subprocess.run(argv, cwd=cwd, env=env, timeout=seconds, capture_output=True, stdin=stdin or subprocess.DEVNULL)
    except subprocess.TimeoutExpired as late:
        return None, late.stdout or b"", late.stderr or b""
    except OSError as error:
        return None, b"", str(error).encode()
    return done.returncode, done.stdout, done.stderr


def read_text(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def read_bytes(path):
    with open(path, "rb") as file:
        return file.read()


def tail(data):
    lines = data.decode("utf-8", "replace").splitlines()
    return "\n".join(lines[-SHOWN_LINES:])


def ended(code):
    return "did not end" if code is None else f"exit code {code}"


# ---- unit tests ------------------------------------------------------------------------------------------------------------


def good_programs():
    """Programs that are known to parse: those with a printed tree, the examples and the library."""
    parsed = [path[: -len(".ast")] + ".rise" for path in glob.glob(f"{TESTS}/*/*.ast")]
    return parsed + glob.glob(f"{ROOT}/examples/*.rise") + glob.glob(f"{ROOT}/lib/**/*.rise", recursive=True)


def files(word):
    """The files of a pattern, sorted; of `PATTERN@N` each Nth one, and of `PATTERN@N+K` each Nth one after the first K."""
    pattern, step, first = re.fullmatch(r"([^@]*)(?:@(\d+)(?:\+(\d+))?)?", word).groups()
    found = sorted(os.path.relpath(path, ROOT) for path in glob.glob(f"{ROOT}/{pattern}"))
    return found[int(first or 0) :: int(step or 1)]


def unit_arguments():
    """(program, build) -> [(levels, arguments)], from tests/unit/args, which says how its lines are read."""
    table = {}
    for line in read_text(f"{TESTS}/unit/args").splitlines():
        words = line.split("#")[0].split()
        if not words:
            continue
        levels = LEVELS if words[2] == "each" else words[2].split(",")
        if not set(levels) <= set(LEVELS):
            raise ValueError(f"tests/unit/args: {words[2]} is not a level: {line}")
        args = []
        for word in words[3:]:
            if word == "@good":
                args += sorted(os.path.relpath(path, ROOT) for path in good_programs())
            elif "*" in word:
                args += files(word)
            else:
                args.append(word)
        for build in BUILDS if words[1] == "both" else (words[1],):
            table.setdefault((words[0], build), []).append((levels, args))
    return table


def unit_test(name, build, program, args):
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="risec-test-") as scratch:
        code, out, err = run([f"{BUILD}/{build}/unit/{program}", *args], ROOT, UNIT_SECONDS, {**ENV, "TMPDIR": scratch})
    lines = out.decode("utf-8", "replace").splitlines() or [""]
    # A test that checks nothing has lost its arguments.
    good = code == 0 and re.search(r"\b[1-9]\d* checks, 0 (wrong|failed)$", lines[-1])
    print(f"{name}: {lines[-1] if good else 'FAILED'}, {time.monotonic() - start:.0f} s", flush=True)
    return bool(good), f"{ended(code)}\n{tail(out)}\n{tail(err)}"


def unit_tests(level):
    table = unit_arguments()
    for source in sorted(glob.glob(f"{TESTS}/unit/test_*.c") + glob.glob(f"{TESTS}/random/test_*.c")):
        program = os.path.basename(source)[: -len(".c")]
        for build in BUILDS:
            runs = [args for levels, args in table.get((program, build), [(LEVELS, [])]) if level in levels]
            for k, args in enumerate(runs):
                name = f"unit/{program} ({build}{f' {k + 1}' if k else ''})"
                yield name, lambda name=name, build=build, program=program, args=args: unit_test(name, build, program, args)


# ---- goldens ---------------------------------------------------------------------------------------------------------------


def golden_command(folder, point, kind):
    """(arguments, wanted exit code or None)."""
    base = f"{TESTS}/{folder}/{point}"
    if os.path.exists(base + ".cmd"):
        lines = read_text(base + ".cmd").splitlines()
        code = None
        if len(lines) > 1:
            code = int(re.fullmatch(r"exit (\d+)", lines[1].strip()).group(1))
        return shlex.split(lines[0]), code
    more = []
    if os.path.exists(base + ".args"):
        more = shlex.split(read_text(base + ".args"))
    if kind in EMIT:
        return ["--emit=" + EMIT[kind], point + ".rise", *more], 0
    return ["--emit=ast" if folder == "parse" else "check", point + ".rise", *more], None


def golden_output(folder, point, kind, build):
    """(what the golden should be, what is wrong apart from that)."""
    argv, wanted = golden_command(folder, point, kind)
    code, out, err = run([f"{BUILD}/{build}/risec", *argv], f"{TESTS}/{folder}", GOLDEN_SECONDS)
    if kind == ".err":
        if wanted is None:
            wanted = 1 if b": error[" in err or err.startswith(b"error[") else 0
        return err, "" if code == wanted and err else f"{ended(code)}, wanted {wanted}, with messages"
    if kind == ".ok":
        own = re.match(r"[ewEW]\d{4}", point)
        bad = b"error[" in err or (own and f"[{own.group().upper()}]".encode() in err)
        return b"", f"{ended(code)}, wanted 0 without errors\n{tail(err)}" if code != (wanted or 0) or bad else ""
    return out, "" if code == (wanted or 0) and b"error[" not in err else f"{ended(code)}\n{tail(err)}"


def golden_test(folder, point, kind):
    path = f"{TESTS}/{folder}/{point}{kind}"
    golden = read_bytes(path)
    for build in BUILDS:
        got, wrong = golden_output(folder, point, kind, build)
        if wrong:
            return False, f"{build}: {wrong}"
        if got != golden and kind != ".ok":
            lines = difflib.unified_diff(
                golden.decode("utf-8", "replace").splitlines(), got.decode("utf-8", "replace").splitlines(), "golden", build, lineterm=""
            )
            return False, "\n".join(list(lines)[:SHOWN_LINES])
    return True, ""


def golden_files():
    for path in sorted(glob.glob(f"{TESTS}/*/*")):
        folder, file = os.path.split(path)
        point, kind = os.path.splitext(file)
        if kind in GOLDENS and os.path.basename(folder) not in ("scripts", "unit", "handwritten", "gpu"):
            yield os.path.basename(folder), point, kind


def golden_tests():
    for folder, point, kind in golden_files():
        yield f"{folder}/{point}{kind}", lambda folder=folder, point=point, kind=kind: golden_test(folder, point, kind)


def regenerate(words):
    status = 0
    for folder, point, kind in golden_files():
        name = f"{folder}/{point}{kind}"
        if kind == ".ok" or (words and not any(word in name for word in words)):
            continue
        got, wrong = golden_output(folder, point, kind, "release")
        if wrong:
            print(f"{name}: not written: {wrong}")
            status = 1
            continue
        path = f"{TESTS}/{name}"
        if read_bytes(path) != got:
            with open(path, "wb") as file:
                file.write(got)
            print(f"{name}: written")
    scripts = ["examples.py", "tutorial.py"]
    # Only by name: what got worse is not to be written in passing.
    scripts += [f"{name}.py" for name in ("bench_counters", "one_body") if any(word in name for word in words)]
    for script in scripts:
        code, out, err = run([f"{TESTS}/scripts/{script}", "--write"], ROOT, SCRIPT_SECONDS)
        print("".join(line + "\n" for line in tail(out + err).splitlines() if not line.startswith("ok ")), end="")
        status = status or code
    return status


# ---- what all programs and all codes must do -------------------------------------------------------------------------------


def core_again(path):
    """What is printed of core is read back, and prints as the same."""
    code, first, err = run([ENV["RISEC"], "--emit=core", path], ROOT, GOLDEN_SECONDS)
    if code != 0:
        return False, f"{ended(code)}\n{tail(err)}"
    with tempfile.TemporaryFile() as file:
        file.write(first)
        file.seek(0)
        code, again, err = run([ENV["RISEC"], "--emit=core", "-"], ROOT, GOLDEN_SECONDS, stdin=file)
    return code == 0 and again == first, f"{ended(code)}\n{tail(err)}\n{tail(first)}"


def core_again_tests():
    for path in sorted(glob.glob(f"{ROOT}/examples/*.rise")) + sorted(glob.glob(f"{TESTS}/programs/*.rise")):
        yield "core-again/" + os.path.relpath(path, ROOT), lambda path=path: core_again(path)


def code_tests():
    codes = re.findall(r"^DIAG\(([EW]\d{4})", read_text(f"{ROOT}/src/support/diag_codes.def"), re.M)
    excused = re.findall(r"^([EW]\d{4}) +\S", read_text(f"{TESTS}/codes_unreachable.txt"), re.M)
    shown = set()
    for path in glob.glob(f"{TESTS}/*/*.err"):
        shown |= set(re.findall(r"(?:error|warning)\[([EW]\d{4})\]", read_text(path)))
    near = {os.path.basename(path)[:5].upper() for path in glob.glob(f"{TESTS}/*/*_near*.ok")}

    def verdict(good, why):
        return lambda: (good, why)

    for code in codes:
        if code in excused:
            yield f"codes/{code} is unreachable", verdict(code not in shown, "it has a failing case: take it off codes_unreachable.txt")
            continue
        low = code.lower()
        yield f"codes/{code} has a failing case", verdict(code in shown, f"no golden tests/*/*.err shows {code}, as {low}.err would")
        yield f"codes/{code} has a near miss", verdict(code in near, f"there is no tests/*/{low}_near.ok")
    for code in excused:
        if code not in codes:
            yield f"codes/{code} exists", verdict(False, "codes_unreachable.txt names it, and diag_codes.def does not")


# ---- scripts ---------------------------------------------------------------------------------------------------------------


def script_test(path):
    """A list of (name, passed or None for skipped, detail)."""
    script = os.path.basename(path)
    with tempfile.TemporaryDirectory(prefix="risec-test-") as scratch:
        code, out, err = run([path], ROOT, SCRIPT_SECONDS, {**ENV, "TMPDIR": scratch, "XDG_CACHE_HOME": f"{scratch}/cache"})
    results = []
    for line in out.decode("utf-8", "replace").splitlines():
        said = re.match(r"(not ok|ok|skip) (.*)", line)
        if said:
            passed = {"ok": True, "not ok": False, "skip": None}[said.group(1)]
            results.append([f"scripts/{script}: {said.group(2)}", passed, ""])
        elif results and results[-1][1] is False:
            results[-1][2] += line + "\n"
    failed = any(passed is False for _, passed, _ in results)
    if code is None or (code != 0 and not failed) or not results:
        results.append([f"scripts/{script}", False, f"{ended(code)}\n{tail(out)}\n{tail(err)}"])
    return results


def script_tests():
    for path in sorted(glob.glob(f"{TESTS}/scripts/*")):
        if path.endswith((".sh", ".py")) and os.access(path, os.X_OK):
            yield "scripts/" + os.path.basename(path), lambda path=path: script_test(path)


# ---- all of them -----------------------------------------------------------------------------------------------------------


TESTS_TO_RUN = []  # for the processes that main() forks
# The longest come first, so that no processor waits for the last of them: `seconds name` of a run at the level `whole`, which --durations writes.
DURATIONS = f"{TESTS}/durations"
DURATIONS_LEAST = 1  # second; what takes less has no line


def read_durations():
    """{name: processor seconds}."""
    lines = (line.split("#")[0].split(None, 1) for line in read_text(DURATIONS).splitlines())
    return {line[1].strip(): float(line[0]) for line in lines if line}


def write_durations(times):
    """Of the tests that ran; the others keep their lines."""
    known = read_durations()
    known.update({name: user + system for user, system, name in times})
    long = sorted(((seconds, name) for name, seconds in known.items() if seconds >= DURATIONS_LEAST), key=lambda line: (-line[0], line[1]))
    with open(DURATIONS, "w", encoding="utf-8") as file:
        file.write("# Processor seconds of tests at the level `whole`: those that take longest start first.\n# Written by `tests/run_tests.py --durations`.\n")
        file.writelines(f"{seconds:6.0f}  {name}\n" for seconds, name in long)


def in_order(tests):
    """The longest first."""
    known = read_durations()
    return sorted(tests, key=lambda test: -known.get(test[0], 0))


def processor_seconds():
    """(user, system), of the processes that this one waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime, used.ru_stime


def run_one(k):
    """The results of a test, and what it took. In a process that does nothing else meanwhile."""
    name, test = TESTS_TO_RUN[k]
    before = processor_seconds()
    try:
        result = test()
    except Exception as error:  # a broken test is a failed one, and the others still count
        result = (False, repr(error))
    return result if isinstance(result, list) else [(name, *result)], [now - then for now, then in zip(processor_seconds(), before)]


def use_level(level, no_sanitizers):
    """Before tests are made and processes forked."""
    global BUILDS
    ENV["RISEC_LEVEL"] = level
    if level == "quick" or no_sanitizers:
        BUILDS = ("release",)
    if no_sanitizers:
        del ENV["RISEC_SAN"]


def main():
    parser = argparse.ArgumentParser(description="Runs the tests of risec.")
    parser.add_argument("words", nargs="*", metavar="WORD", help="only tests with one of these in their names")
    parser.add_argument("-v", "--verbose", action="store_true", help="name every test")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count() or 2)
    parser.add_argument("--times", metavar="FILE", help="write the processor seconds of each test, user and system")
    parser.add_argument("--durations", action="store_true", help="write them into tests/durations, too, which decides the order of tests")
    parser.add_argument("--level", choices=LEVELS, default="whole")
    parser.add_argument("--no-sanitizers", metavar="WHY", help="there is no build with sanitizers")
    parser.add_argument("--regen", action="store_true", help="write the goldens that exist again")
    options = parser.parse_args()
    if options.regen:
        return regenerate(options.words)

    use_level(options.level, options.no_sanitizers)
    scripts = [] if options.level == "quick" else script_tests()
    tests = [*unit_tests(options.level), *scripts, *core_again_tests(), *golden_tests(), *code_tests()]
    tests = [test for test in tests if not options.words or any(word in test[0] for word in options.words)]
    tests = in_order(tests)
    TESTS_TO_RUN.extend(tests)
    passed, failed, skipped, times = 0, [], [], []
    if options.no_sanitizers:
        skipped.append(f"sanitizers: {options.no_sanitizers}")
        print(f"skip {skipped[0]}")
    with concurrent.futures.ProcessPoolExecutor(max(1, options.jobs), multiprocessing.get_context("fork")) as pool:
        for (name, _), (results, seconds) in zip(tests, pool.map(run_one, range(len(tests)))):
            times.append((*seconds, name))
            for test, good, detail in results:
                if good:
                    passed += 1
                    if options.verbose:
                        print(f"ok {test}")
                elif good is None:
                    skipped.append(test)
                    print(f"skip {test}")
                else:
                    failed.append(test)
                    print(f"FAILED {test}\n{detail.rstrip()}\n")
                sys.stdout.flush()
    if options.times:
        with open(options.times, "w", encoding="utf-8") as file:
            for user, system, name in sorted(times, key=lambda time: -time[0] - time[1]):
                file.write(f"{user:8.2f} {system:7.2f}  {name}\n")
    if options.durations:
        write_durations(times)
    if len(failed) > 5:
        print("Failed:\n  " + "\n  ".join(failed))
    print(f"{passed} passed, {len(failed)} failed" + (f", {len(skipped)} skipped" if skipped else ""))
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
