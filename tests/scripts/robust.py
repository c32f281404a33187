#!/usr/bin/env python3
"""Large bad input ends with exit code 0 or 1, and with 1 a diagnostic: no signal, no sanitizer report, no hang. unit/test_cut does it for programs that are cut off."""
import os
import random
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RISEC, SAN = os.environ["RISEC"], os.environ.get("RISEC_SAN") or os.environ["RISEC"]
SEED = int(os.environ.get("SEED", "20"))
LIMIT = 120  # seconds; only against hanging for ever
failed = 0


def check(binary, data, path):
    with open(path, "wb") as f:
        f.write(data)
    try:
        r = subprocess.run([binary, "check", path], capture_output=True, timeout=LIMIT, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return "did not end"
    if r.returncode not in (0, 1) or (r.returncode == 1 and b"error[" not in r.stderr) or b"Sanitizer" in r.stderr or b"runtime error" in r.stderr:
        return f"exit code {r.returncode}: " + r.stderr.decode("utf-8", "replace")[:500]
    return ""


def report(name, what):
    global failed
    failed |= bool(what)
    print(("not ok " if what else "ok ") + name)
    if what:
        print("# " + what.replace("\n", "\n# "))


with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "bad.rise")
    rng = random.Random(SEED)
    print(f"# seed {SEED}")
    mega = 1 << 20
    for binary, build in ((RISEC, "release"), (SAN, "sanitize")):
        report(f"1 MB of random bytes ({build})", check(binary, rng.randbytes(mega), path))
        report(f"1 MB of random text ({build})", check(binary, bytes(rng.choice(b"abxf01 ().,|>=-+*{}[]:\n") for _ in range(mega)), path))
        for text in (b"(", b"entry f (x: f32): f32 = " + b"(" * mega, b"entry f (x: f32): f32 = " + b"f(" * (mega // 2),
                     b"entry f (x: f32): f32 = " + b"- " * (mega // 2), b"entry f (x: f32): f32 = x" + b" |> id" * (mega // 6), b"[" * mega):
            report(f"1 MB of nesting: {text[-12:].decode()} ({build})", check(binary, (text * (mega // len(text) or 1))[: mega + 64], path))
sys.exit(failed)
