#!/usr/bin/env python3
"""`--quiet`, `--verbose` and progress: what each verb says of its work, and that a line of progress stands on terminals alone.

RISEC names the binary. Prints `ok NAME` or `not ok NAME`."""
import os
import pty
import re
import select
import signal
import subprocess
import sys
import tempfile
import time

RISEC = os.environ.get("RISEC") or sys.exit("set RISEC to the risec binary")
SECONDS = 60
SOON = 2  # seconds: by then a line of progress is there
PROGRAM = """entry f {n: nat} (block: nat = 32 in [32, 64]) (xs: n.f32): n.f32
  launch [threads = block]
  expect result == g for n = 0, 5 =
  xs |> mapGlobal(fun x => 2 * x)
def g {n: nat} (xs: n.f32): n.f32 = xs |> map(fun x => 2 * x)
"""
WARNED = "entry w {n: nat} (xs: n.f32): ceilDiv(n, 32).f32 = xs |> padTo(32, 0) |> split(32) |> mapGlobal(reduceSeq(max, -inf))\n"
LONG = "entry long {n: nat} (x: f32): f32 = generate{n = n}(fun i => generate{n = n}(fun j => x) |> reduce((+), 0)) |> reduce((+), 0)\n"
failed = False


def report(name, good, detail=""):
    global failed
    failed |= not good
    print(f"{'ok' if good else 'not ok'} {name}", flush=True)
    if not good:
        print("".join(f"# {line}\n" for line in str(detail).splitlines()[-20:]), end="")


def command(*words):
    done = subprocess.run([RISEC, *words], capture_output=True, text=True, timeout=SECONDS)
    return done.returncode, done.stdout, done.stderr


folder = tempfile.TemporaryDirectory()
os.chdir(folder.name)
for name, text in (("f.rise", PROGRAM), ("warned.rise", WARNED), ("long.rise", LONG)):
    with open(name, "w", encoding="utf-8") as file:
        file.write(text)

# ---- --verbose: lines on standard error, and standard output as without it ----------------------------------

TIME = r": \d+\.\d ms"
TYPED = r"read f\.rise and what it imports" + TIME, r"typed `f`" + TIME
LOWERED = r"lowered `f` to 1 kernel" + TIME
for name, words, wanted in (
    ("compile", ["f.rise", "-o", "f.cu"], [*TYPED, LOWERED, r"printed f\.cu" + TIME, r"wrote f\.cu, \d+ bytes"]),
    ("check", ["check", "f.rise"], [*TYPED, LOWERED, r"checked the `expect` clauses of f\.rise" + TIME]),
    ("run", ["run", "f.rise", "--arg", "xs=[1]", "--out", "r.npy", "--verify"],
     [*TYPED, LOWERED, "made the inputs" + TIME, "ran on sim" + TIME, "compared with the reference" + TIME, r"wrote r\.npy, \d+ bytes"]),
    ("lower", ["lower", "f.rise"], TYPED),
    ("tune", ["tune", "f.rise", "--device", "sim", "--set", "n=64"], [*TYPED, r"measured 2 candidates at size 1 of 1" + TIME, r"wrote f\.rise\.tune, \d+ bytes"]),
    ("tuned", ["run", "f.rise", "--arg", "xs=[1]"], [r'found in f\.rise\.tune: `f` on "sim"', "ran on sim" + TIME]),
    ("fmt", ["fmt", "f.rise"], [r"laid out f\.rise" + TIME, r"wrote f\.rise, \d+ bytes"]),
    ("new", ["new", "made"], [r"wrote made/made\.rise, \d+ bytes"]),
):
    code, out, err = command(*words, "-v")
    at = [re.search(f"^risec: {line}$", err, re.M) for line in wanted]
    ordered = all(at) and [m.start() for m in at] == sorted(m.start() for m in at)
    report(f"verbose-{name}", code == 0 and ordered and all(line.startswith("risec: ") for line in err.splitlines()), f"{code}\n{out}{err}")
code, out, err = command("test", "f.rise", "-v")
report("verbose-test", code == 0 and re.search(r"^f\.rise:\d+: f: result == g holds", out, re.M) and "checked the `expect`" in err, out + err)
with_it, without = command("run", "f.rise", "--arg", "xs=[1, 2]", "-v"), command("run", "f.rise", "--arg", "xs=[1, 2]")
report("verbose-output-is-the-same", with_it[1] == without[1] and with_it[2] and not without[2], with_it)

# ---- --quiet: errors alone ------------------------------------------------------------------------------------

loud, quiet = command("check", "warned.rise"), command("check", "warned.rise", "-q")
report("quiet-check", not quiet[2] and "warning[W0" in loud[2] and loud[:2] == quiet[:2], f"{loud}\n{quiet}")
loud, quiet = command("check", "warned.rise", "--json"), command("check", "warned.rise", "--json", "-q")
report("quiet-json", "W0" in loud[1] and "W0" not in quiet[1], f"{loud}\n{quiet}")
for name, words in (("test", ["test", "f.rise"]), ("new", ["new", "silent"]), ("tune", ["tune", "f.rise", "--device", "sim", "--set", "n=64"])):
    code, out, err = command(*words, "-q")
    report(f"quiet-{name}", code == 0 and not out and not err, f"{code}\n{out}{err}")
code, out, err = command("run", "f.rise", "--arg", "xs=[1]", "-q")
report("quiet-run-prints-results", code == 0 and "[2]" in out and not err, out + err)
code, out, err = command("check", "nothing.rise", "-q")
report("quiet-tells-errors", code == 2 and "error[E0205]" in err, err)
code, out, err = command("check", "f.rise", "-q", "-v")
report("quiet-and-verbose", code == 2 and "contradict" in err, err)


# ---- progress -------------------------------------------------------------------------------------------------

class Run:
    """Of what does not end by itself; its standard error is a terminal, or a pipe."""

    def __init__(self, terminal, *words, term="xterm"):
        ours, theirs = pty.openpty() if terminal else os.pipe()
        self.fd = ours
        self.process = subprocess.Popen([RISEC, "run", "long.rise", "--device", "ref", "--set", "n=10000000", "--arg", "x=1", *words],
                                        stderr=theirs, stdout=subprocess.DEVNULL, env={**os.environ, "TERM": term},
                                        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        os.close(theirs)

    def read(self, seconds):
        ready, _, _ = select.select([self.fd], [], [], seconds)
        try:
            return os.read(self.fd, 4096).decode() if ready else ""
        except OSError:
            return ""

    def end(self):
        """What came until it ended by Ctrl-C."""
        self.process.send_signal(signal.SIGINT)
        text = ""
        while got := self.read(SECONDS):
            text += got
        self.process.wait(SECONDS)
        os.close(self.fd)
        return text


shown, silent = Run(True), [Run(True, "-q"), Run(False), Run(True, term="dumb")]
first = shown.read(SECONDS)
report("progress-on-a-terminal", first == "\r\x1b[Krunning `long` on ref", repr(first))
time.sleep(SOON)
rest = shown.end()
report("progress-is-taken-back", rest == "\r\x1b[K", repr(rest))
for name, process in zip(("quiet", "pipe", "dumb"), silent):
    text = process.end()
    report(f"progress-{name}", text == "", repr(text))

# ---- what takes long is said before it begins -----------------------------------------------------------------

with open("many.rise", "w", encoding="utf-8") as file:
    file.write("entry many {n: nat} (xs: n.i8): i32 = xs |> map(cast(i32)) |> reduce((+), 0)\n")


def first_line(*words):
    """Of standard error, of a run that is not waited for."""
    process = subprocess.Popen([RISEC, "run", "many.rise", "--arg", "xs=ones", *words], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    line = process.stderr.readline() if select.select([process.stderr], [], [], SECONDS)[0] else ""
    process.kill()
    process.communicate()
    return line


for device, word in (("sim", "simulator"), ("ref", "reference interpreter")):
    line = first_line("--set", "n=2^29", "--device", device)
    report(f"long-run-{device}", line.startswith("risec: the inputs and results have 536870913 elements") and word in line, line)
report("short-run-says-nothing", first_line("--set", "n=1000") == "")
sys.exit(failed)
