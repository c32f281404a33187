#!/usr/bin/env python3
"""`risec repl`: what it prints on a pipe and on a terminal, where mistakes are said to be, Ctrl-C, its history, and that its memory stays.

RISEC names the binary. Prints `ok NAME`, `not ok NAME` or `skip NAME: why`."""
import ctypes
import os
import pty
import re
import resource
import select
import signal
import subprocess
import sys
import tempfile
import time

RISEC = os.environ.get("RISEC") or sys.exit("set RISEC to the risec binary")
SECONDS = 60
# Long enough that nobody waits for its end, and in pieces that look at the brake.
LONG = "generate{n = 1000000}(fun i => generate{n = 1000000}(fun j => cast(f32)(cast(i32)(j))) |> reduce((+), 0)) |> reduce((+), 0)"
failed = False


def report(name, good, detail=""):
    global failed
    failed |= not good
    print(f"{'ok' if good else 'not ok'} {name}", flush=True)
    if not good:
        print("".join(f"# {line}\n" for line in str(detail).splitlines()[-20:]), end="")


def piped(text):
    done = subprocess.run([RISEC, "repl"], input=text, capture_output=True, text=True, timeout=SECONDS)
    return done.returncode, done.stdout, done.stderr


def prints(name, text, wanted, code=0, errors=""):
    got, out, err = piped(text)
    good = got == code and out == wanted and (re.search(errors, err) if errors else not err)
    report(name, bool(good), f"exit code {got}\n{out}{err}")


# ---- on a pipe ---------------------------------------------------------------------------------------

SQUARES = "def sq (x: f32): f32 = x * x\nentry squares {n: nat} (xs: n.f32): n.f32 = xs |> map(sq)\n"
prints("value", "1 + 2\n", "3\n")
prints("last-line-without-an-end", "1 + 2", "3\n")
prints("nothing", "\n   \n-- a comment\n", "")
prints("array", "generate{n = 20}(fun i => cast(i32)(i))\n", "[0, 1, 2, 3, 4, 5, 6, 7, ..., 18, 19]\n")
prints("tuple", "(1, generate{n = 2}(fun i => generate{n = 2}(fun j => 2.5)))\n", ".1: 1\n.2: \n[[2.5, 2.5],\n [2.5, 2.5]]\n")
prints("let", "let x = 5\nx * x\n", "x: i32\n25\n")
prints("let-type", "let x: u8 = 5\nlet xs: 3.i32 = generate(fun i => cast(i32)(i))\nxs\n", "x: u8\nxs: 3.i32\n[0, 1, 2]\n")
prints("let-tuple", "let (a, (b, _)) = (1, (2.5, 3))\na\nb\n", "a: i32\nb: f32\n1\n2.5\n")
prints("let-in", "let z = 1 in z + 1\n", "2\n")
prints("let-again", "let x = 5\nlet x = 2.5\nx\n", "x: i32\nx: f32\n2.5\n")
prints("def", "def twice (x: i32): i32 = 2 * x\ntwice(4)\ndef twice (x: i32): i32 = 3 * x\ntwice(4)\n", "8\n12\n")
prints("def-it", "def it (x: i32): i32 = x + 1\nit(1)\n", "2\n")
prints("two-items", "def a: i32 = 1 def b: i32 = a + 1\na + b\n", "3\n")
prints("list", "[1, 2]\n", "", 1, r"^input:1:1: error\[E0101\]: expected an expression, found `\[`")
prints("import", "import std.order\ngenerate{n = 5}(fun i => cast(f32)(i)) |> argmax\n", "[4]\n")
prints("lines", "entry f {n: nat} (xs: n.f32): n.f32 =\n  xs |>\n    map(fun x =>\n      x + 1)\n:run xs=[1, 2]\n", "f(n = 2) on sim: 2.f32\n[2, 3]\n")
prints("run", SQUARES + ":run squares xs=[1, 2, 3]\n:run n=2 xs=iota --verify\n:run sq x=3\n",
       "squares(n = 3) on sim: 3.f32\n[1, 4, 9]\nsquares(n = 2) on sim: 2.f32\n[0, 1]\nequals the reference\nsq on sim: f32\n9\n")
prints("type", SQUARES + ":type 1 + 2\n:type sq\n:type map\n:type (1, 2.5)\n", "i32\ndef sq (x: f32): f32\nmap: (s -> t) -> n.s -> n.t\n(i32, f32)\n")
prints("quit", "1\n:quit\n2\n", "1\n")
for name, command, wanted in (
    ("cuda", ":cuda squares", r"squares_launch\("),
    ("cuda-expression", ":cuda generate{n = 9}(fun i => sq(cast(f32)(i))) |> reduce((+), 0)", r"it_launch\("),
    ("plan", ":plan n=1000", r"plan of squares: 1 kernel, at n = 1000"),
    ("plan-expression", ":plan generate{n = 9}(fun i => sq(cast(f32)(i)))", r"plan of it: 1 kernel"),
    ("help", ":help", r":quit"),
):
    code, out, err = piped(SQUARES + command + "\n")
    report(name, code == 0 and re.search(wanted, out) and not err, out + err)

# ---- mistakes: in the line typed, and the session goes on ------------------------------------------------

for name, text, errors in (
    ("wrong-name", "1\ntru\n", r"^input:2:1: error\[E0201\][^\n]*\n  2 \| tru\n"),
    ("wrong-type", "\n\n  1 + true\n", r"^input:3:\d+: error\[E03"),
    ("wrong-syntax", "1 + * 2\n", r"^input:1:5: error\[E01"),
    ("wrong-let", "let x = 1 +\n\n", r"^input:1:12: error\[E01"),
    ("wrong-let-once", "let (a, b) = (1, tru)\n", r"\Ainput:1:18: error\[E0201\][^\n]*\n(?!.*E0201)"),
    ("wrong-def", "def f (x: f32): f32 = x * tru\n", r"^input:1:27: error\[E0201\]"),
    ("wrong-entry", "entry f (x: f32): i32 = x\n", r"^input:1:25: error\[E03"),
    ("wrong-line-of-two", "entry f (x: f32): i32 =\n  x\n", r"^input:2:3: error\[E03"),
    ("wrong-earlier", "def f {n: nat} (xs: n.f32): n.f32 = xs |> map(fun x => x + true)\ngenerate{n = 3}(fun i => 1.0) |> f\n", r"^input:1:\d+: error\[E03"),
    ("wrong-command", "1\n:tpye 3\n", r"^input:2:1: error\[E0621\](.*\n)*help: did you mean `:type`\?"),
    ("wrong-run", ":run\n", r"there is no entry in this session yet"),
    ("wrong-subject", ":run nosuch n=3\n", r"there is no entry or definition `nosuch`"),
    ("wrong-option", SQUARES + ":run --bogus\n", r"there is no option `--bogus`"),
    ("wrong-import", 'import "nothing.rise"\n', r"^input:1:1: error\[E0205\]"),
    ("wrong-index", "let k = 7\ngenerate{n = 3}(fun i => 1.0)[4]\n", r"^input:2:\d+: error"),
):
    code, out, err = piped(text + "40 + 2\n")
    report(name, code == 1 and out.endswith("42\n") and re.search(errors, err, re.M), f"exit code {code}\n{out}{err}")
REFUSED = "def two (a: f32) (x: f32): bool = a |> sq == 2\n"
code, out, err = piped("def sq (x: f32): f32 = x * x\n" + REFUSED + "1\n2\n")
report("told-once", err.count("error[E0121]") == 1 and out == "1\n2\n", f"{code}\n{out}{err}")
prints("kept-when-wrong", "let x = 1\nlet x = tru\nx\n", "x: i32\n1\n", 1, "E0201")
done = subprocess.run([RISEC, "repl", "file.rise"], input="", capture_output=True, text=True, timeout=SECONDS)
report("no-file", done.returncode == 2 and "import \"file.rise\"" in done.stderr, done.stderr)


# ---- memory ------------------------------------------------------------------------------------------

def peak(lines):
    """In KiB: of a session of so many lines."""
    text = "".join(f"let x{i % 7} = {i} * 2\nx{i % 7} + tru\nx{i % 7} + 1\n" for i in range(lines // 3))
    with subprocess.Popen([RISEC, "repl"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        process.stdin.write(text.encode())
        process.stdin.close()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_maxrss


few, many = peak(90), peak(3000)
report("memory-stays", many < few * 1.5 + 1024, f"{few} KiB in 90 lines, {many} in 3000")

# ---- Ctrl-C ------------------------------------------------------------------------------------------

process = subprocess.Popen([RISEC, "repl"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                           preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
process.stdin.write(f"1\n{LONG}\n")
process.stdin.flush()
process.stdout.readline()
time.sleep(0.3)
process.send_signal(signal.SIGINT)
out, err = process.communicate("40 + 2\n", timeout=SECONDS)
report("interrupt", process.returncode == 1 and out == "42\n" and err == "interrupted\n", f"{process.returncode}\n{out}{err}")


# ---- on a terminal -----------------------------------------------------------------------------------

class Terminal:
    def __init__(self, term, folder):
        self.seen = ""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ.update(TERM=term, XDG_STATE_HOME=folder, NO_COLOR="1")
            os.execv(RISEC, [RISEC, "repl"])

    def wait(self, wanted, seconds=SECONDS):
        """Whether this comes, after what was waited for before."""
        end = time.monotonic() + seconds
        while not re.search(wanted, self.seen):
            ready, _, _ = select.select([self.fd], [], [], max(0, end - time.monotonic()))
            try:
                got = os.read(self.fd, 4096) if ready else b""
            except OSError:
                got = b""
            if not got:
                return False
            self.seen += re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", got.decode("utf-8", "replace")).replace("\r", "")
        self.seen = self.seen[re.search(wanted, self.seen).end():]
        return True

    def type(self, text):
        os.write(self.fd, text.encode())

    def interrupt(self):
        """Ctrl-C until the work that has begun is given up: one that comes before it begins is one of the line."""
        for _ in range(SECONDS // 2):
            self.type("\x03")
            if self.wait(r"interrupted\n(.*\n)*> ", 2):
                return True
        return False

    def end(self):
        """Ctrl-D until it ends: one that comes between the prompt and the editor's own mode of the terminal becomes a character
        of the line, which Ctrl-U takes back."""
        end, again, pid = time.monotonic() + SECONDS, 0, 0
        while not pid and time.monotonic() < end:
            if time.monotonic() > again:
                self.type("\x15\x04" if again else "\x04")
                again = time.monotonic() + 2
            time.sleep(0.01)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
        if not pid:
            os.kill(self.pid, signal.SIGKILL)
            _, status = os.waitpid(self.pid, 0)
        os.close(self.fd)
        return os.waitstatus_to_exitcode(status)


def has_libedit():
    try:
        ctypes.CDLL("libedit.so.2")
    except OSError:
        return False
    return True


EDITS = has_libedit()
with tempfile.TemporaryDirectory() as folder:
    for term in ("dumb", "xterm") if EDITS else ("dumb",):
        t = Terminal(term, folder)
        steps = [t.wait(r"> "), t.type("6 * 7\n"), t.wait(r"\n42\n(.*\n)*> "), t.type("tru\n"), t.wait(r"input:2:1: error(.*\n)*> "), t.type("(1 +\n"), t.wait(r"\. "),
                 t.type("1)\n"), t.wait(r"\n2\n(.*\n)*> "), t.type(LONG + "\n"), time.sleep(0.5), t.interrupt(),
                 t.type("12 + "), time.sleep(0.2), t.type("\x03"), t.wait(r"> "), t.type("20 + 1\n"), t.wait(r"\n21\n(.*\n)*> ")]
        if term != "dumb":
            steps += [t.type("\x1b[A\n"), t.wait(r"\n21\n(.*\n)*> ")]
        steps += [("exit", t.end())]
        report(f"terminal-{term}", steps[-1][1] == 0 and all(step is not False for step in steps), f"{steps}\n{t.seen}")
    if EDITS:
        path = os.path.join(folder, "rise", "history")
        with open(path, encoding="utf-8") as file:
            history = file.read()
        report("history-written", "20 + 1" in history.replace("\\040", " ") and os.stat(path).st_mode & 0o077 == 0, history)
        t = Terminal("xterm", folder)
        steps = [t.wait(r"> "), t.type("\x1b[A\n"), t.wait(r"\n21\n(.*\n)*> "), t.type(":quit\n")]
        steps += [("exit", t.end())]
        report("history-read", steps[-1][1] == 0 and all(step is not False for step in steps), f"{steps}\n{t.seen}")
    else:
        print("skip terminal-xterm: libedit is not installed")
sys.exit(failed)
