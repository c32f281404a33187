#!/usr/bin/env python3
"""Runs all tests of both builds, two at a time, and closes with `N passed, N failed` (`, N skipped`).

- unit tests: build/*/unit/test_*; each program is one test a build, and prints what it checked.
- goldens: tests/STAGE/POINT.rise with POINT.ast, .core, .imp, .cu, .manifest (what --emit prints), .err (what `check` says, exit code 1)
  or an empty .ok (nothing to say). `--regen` rewrites those that exist.
- codes: every diagnostic has a failing golden and a near miss.
- examples: core prints as a program again.
- scripts: tests/scripts/*; each line `ok NAME`, `not ok NAME` or `skip NAME: reason` is a test.
"""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
TESTS = ROOT / "tests"
RELEASE = ROOT / "build" / "release"
SANITIZE = ROOT / "build" / "sanitize"
RISEC = RELEASE / "risec"
EMIT = {".ast": "ast", ".core": "core", ".imp": "imp", ".cu": "cuda", ".manifest": "manifest"}
TIMEOUT = 1200


def run(args, cwd=ROOT, **more):
    env = dict(os.environ, NO_COLOR="1", RISEC=str(RISEC), RISEC_SAN=str(SANITIZE / "risec"), BUILD=str(ROOT / "build"), ROOT=str(ROOT))
    try:
        return subprocess.run([str(a) for a in args], cwd=cwd, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT, **more)
    except subprocess.TimeoutExpired as e:
        return subprocess.CompletedProcess(args, 124, e.stdout or b"", b"ran out of time\n")


# ---- each test is a function that gives a list of (status, name, text); status is ok, not ok or skip ------------------------


def unit_arguments(name, sanitized):
    programs = sorted((TESTS / "programs").glob("*.rise"))
    examples = sorted((ROOT / "examples").glob("*.rise"))
    if name == "test_nat" and sanitized:
        return ["200000"]
    if name == "test_parse":
        return sorted(f for f in (TESTS / "parse").glob("*.rise") if f.with_suffix(".ast").exists()) + examples
    if name == "test_programs":
        return programs
    if name == "test_barriers":
        return examples + programs
    if name == "test_variants":
        return [ROOT / "examples/sum.rise", ROOT / "examples/sum_down.rise"] + (["2047"] if sanitized else [])
    return []


def unit_test(program, sanitized):
    start = time.time()
    r = run([program] + unit_arguments(program.name, sanitized))
    text = (r.stdout + r.stderr).decode("utf-8", "replace")
    last = r.stdout.decode("utf-8", "replace").strip().split("\n")[-1]
    counted = re.search(r"\b([1-9][0-9]*) checks, 0 wrong", last)
    build = "sanitize" if sanitized else "release"
    name = f"unit/{program.name} ({build}, {time.time() - start:.1f} s): {last}"
    return [("ok" if r.returncode == 0 and counted else "not ok", name, text[-4000:])]


def golden(source, suffix, regen):
    target = source.with_suffix(suffix)
    name = f"{source.parent.name}/{target.name}"
    if suffix in EMIT:
        r = run([RISEC, f"--emit={EMIT[suffix]}", source.name], cwd=source.parent)
        got, wanted_code = r.stdout, 0
    else:
        r = run([RISEC, "check", source.name], cwd=source.parent)
        got, wanted_code = r.stderr, 1 if suffix == ".err" else 0
    if regen and suffix != ".ok":
        target.write_bytes(got)
    wanted = target.read_bytes()
    if r.returncode != wanted_code:
        return [("not ok", name, f"exit code {r.returncode}, wanted {wanted_code}\n" + r.stderr.decode("utf-8", "replace")[:2000])]
    if suffix == ".ok":
        return [("ok" if b"error[" not in got else "not ok", name, got.decode("utf-8", "replace")[:2000])]
    if got != wanted:
        return [("not ok", name, "differs:\n--- wanted\n" + wanted.decode("utf-8", "replace")[:3000] + "--- got\n" + got.decode("utf-8", "replace")[:3000])]
    return [("ok", name, "")]


def core_again(source):
    """What --emit=core prints checks as a program, and prints as the same."""
    name = f"core-again/{source.name}"
    first = run([RISEC, "--emit=core", source])
    if first.returncode:
        return [("not ok", name, first.stderr.decode("utf-8", "replace"))]
    again = subprocess.run([str(RISEC), "--emit=core", "-"], input=first.stdout, capture_output=True, timeout=TIMEOUT)
    if again.returncode or again.stdout != first.stdout:
        return [("not ok", name, again.stderr.decode("utf-8", "replace")[:2000] + first.stdout.decode()[:2000])]
    return [("ok", name, "")]


def codes():
    """Every diagnostic code has a failing golden that shows it and a near miss that does not."""
    table = (ROOT / "src/support/diag_codes.def").read_text()
    unreachable = TESTS / "codes_unreachable.txt"
    excused = set(re.findall(r"^([EW]\d{4})", unreachable.read_text(), re.M)) if unreachable.exists() else set()
    shown = "\n".join(f.read_text(errors="replace") for f in TESTS.glob("*/*.err")) + "\n".join(
        f.read_text(errors="replace") for f in (TESTS / "scripts").iterdir() if f.is_file())
    near = {f.name[:5].upper() for f in TESTS.glob("*/[ew]????_near*.ok")}
    results = []
    for code in re.findall(r"^DIAG\(([EW]\d{4})", table, re.M):
        if code in excused:
            continue
        results.append(("ok" if code in shown else "not ok", f"codes/{code} has a failing case", ""))
        if code.startswith(("E02", "E03", "E04", "E05")):
            results.append(("ok" if code in near else "not ok", f"codes/{code} has a near miss", ""))
    return results


def script(path):
    r = run([path], cwd=ROOT)
    text = r.stdout.decode("utf-8", "replace")
    results = []
    for line in text.split("\n"):
        m = re.match(r"(ok|not ok|skip) (.*)", line)
        if m:
            results.append((m.group(1), f"scripts/{path.name}: {m.group(2)}", ""))
    if not results or (r.returncode and not any(s == "not ok" for s, _, _ in results)):
        results.append(("not ok", f"scripts/{path.name}", f"exit code {r.returncode}"))
    if any(s == "not ok" for s, _, _ in results):
        results[-1] = results[-1][:2] + (text[-3000:] + r.stderr.decode("utf-8", "replace")[-2000:],)
    return results


def all_jobs(regen):
    jobs = []
    if not regen:
        for build, sanitized in ((SANITIZE, True), (RELEASE, False)):
            for program in sorted((build / "unit").glob("test_*")):
                jobs.append((unit_test, program, sanitized))
        jobs += [(script, p) for p in sorted((TESTS / "scripts").iterdir()) if os.access(p, os.X_OK) and p.is_file()]
        jobs += [(core_again, p) for p in sorted((ROOT / "examples").glob("*.rise")) + sorted((TESTS / "programs").glob("*.rise"))]
        jobs.append((codes,))
    for source in sorted(TESTS.glob("*/*.rise")):
        for suffix in list(EMIT) + [".err", ".ok"]:
            if source.with_suffix(suffix).exists():
                jobs.append((golden, source, suffix, regen))
    return jobs


def main():
    regen = "--regen" in sys.argv
    count = {"ok": 0, "not ok": 0, "skip": 0}
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count() or 2) as pool:
        futures = [pool.submit(job[0], *job[1:]) for job in all_jobs(regen)]
        for future in futures:
            for status, name, text in future.result():
                count[status] += 1
                if status != "ok" or name.startswith("unit/"):
                    print(f"{status} {name}", flush=True)
                if status == "not ok" and text:
                    print("\n".join("    " + line for line in text.rstrip().split("\n")), flush=True)
    skipped = f", {count['skip']} skipped" if count["skip"] else ""
    print(f"{count['ok']} passed, {count['not ok']} failed{skipped}")
    return 1 if count["not ok"] else 0


if __name__ == "__main__":
    sys.exit(main())
