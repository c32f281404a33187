#!/usr/bin/env python3
"""The table of costs decides what is stored. For each entry of lib/device.rise there is a program here whose array is stored for one value of it and not for
another, so no entry is there for nothing. Also: the hash in the manifest is of the numbers alone; a trace is made again by its own table only.

RISEC names the binary."""
import json
import os
import re
import subprocess
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RISEC = os.path.abspath(os.environ.get("RISEC", f"{ROOT}/build/release/risec"))
LIBRARY = f"{ROOT}/lib/device.rise"
ENTRY = re.compile(r"^def (\w+): nat = (\d+)$", re.M)
HUGE = 10 ** 12


def exponentials(times):
    """The term of so many, one of another."""
    return "exp(" * times + "x" + ")" * times


def twice(term, length="n"):
    """An array of these terms, of which neighbours are read."""
    size = "{n: nat} " if length == "n" else ""
    where = "where n >= 1 " if length == "n" else ""
    return (f"entry f {size}(xs: {length}.f32): ({length} - 1).f32 {where}=\n"
            f"  let ys = xs |> map(fun x => {term}) in\n"
            f"  zip(take({length} - 1, ys), drop(1, ys)) |> map(fun (a, b) => b - a)\n")


SMALL_READ = """entry f {n m: nat} (xs: n.m.f32) (ws: m.f32): n.(m - 1).f32 where m >= 1 =
  let ys = xs |> map(fun row => zip(row, ws) |> map(fun (x, w) => x * w)) in
  ys |> map(fun row => zip(take(m - 1, row), drop(1, row)) |> map(fun (a, b) => b - a))
"""
EXPONENTIALS = twice(exponentials(12))
MANY = twice(exponentials(4), "4000000")
FEW = twice(exponentials(12), "1000")

STEPS = """entry f {n: nat} (steps: nat) (xs: n.f32): n.f32 =
  xs |> iterate{n = 1}(steps, fun l ys => generate{n = l}(fun i => if i + 1 < l then ys[i + 1] - ys[i] else ys[i]))
"""

# entry: program, a value for which ys is stored, one for which it is not; of blockCells, for which a block has all steps
FLIPS = {
    "memoryRead": (EXPONENTIALS, 1000, 10 ** 6),
    "memoryWrite": (EXPONENTIALS, 1000, 10 ** 6),
    "cacheAccess": (SMALL_READ, 10 ** 6, 250),
    "conversion": (twice("cast(f32)(cast(i32)(x))"), 10 ** 6, 0),
    "arithmetic": (twice("x + 1.0f32"), 10 ** 6, 0),
    "division": (twice("1.0f32 / x"), 10 ** 6, 0),
    "root": (twice("sqrt(x)"), 10 ** 6, 0),
    "exponential": (twice("tanh(x)"), 10 ** 6, 0),
    "trigonometric": (twice("sin(x)"), 10 ** 6, 0),
    "launch": (FEW, 0, HUGE),
    "lanes": (FEW, 10 ** 6, 1),
    "cacheBytes": (MANY, 3 * 10 ** 7, 10 ** 6),
    "blockCells": (STEPS, 1024, 1023),
}


def say(name, good, why=""):
    print(f"{'ok' if good else 'not ok'} costs-{name}")
    if not good and why:
        print("#", " ".join(why.split())[:400])


def risec(*words):
    done = subprocess.run([RISEC, *words], capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout, done.stderr


def table(text, **values):
    for name, value in values.items():
        text, n = re.subn(rf"^def {name}: nat = \d+$", f"def {name}: nat = {value}", text, flags=re.M)
        assert n == 1, name
    return text


class Files:
    def __init__(self, folder):
        self.folder = folder

    def of(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path


def is_stored(program, costs):
    code, out, said = risec("lower", program, "--plan", "--json", "--costs", costs)
    if code:
        return said
    plan = json.loads(out)
    by_block = any(v["block"] == [1024, 1, 1] for launch in plan["launches"] for v in launch["variants"])
    return by_block or any(a["name"] == "ys" for a in plan["arrays"])


def hash_of(program, *words):
    code, out, said = risec(program, "--emit=manifest", *words)
    return json.loads(out)["entries"][0].get("costs") if code == 0 else said


def flips(files, library):
    for name in [m[1] for m in ENTRY.finditer(library)]:
        if name not in FLIPS:
            say(name, False, "no program here depends on this entry")
            continue
        text, stored, not_stored = FLIPS[name]
        program = files.of("p.rise", text)
        found = [is_stored(program, files.of("t.rise", table(library, **{name: value}))) for value in (stored, not_stored)]
        say(name, found == [True, False], f"stored for {stored}: {found[0]}; for {not_stored}: {found[1]}")


def hashes(files, library):
    program = files.of("p.rise", EXPONENTIALS)
    lines = [m[0] for m in ENTRY.finditer(library)]
    turned = files.of("t.rise", "\n".join(reversed(lines)) + "\n")
    other = files.of("o.rise", table(library, root=1001))
    own = hash_of(program)
    say("hash", re.fullmatch("[0-9a-f]{16}", own or ""), f"{own}")
    say("hash-of-numbers", hash_of(program, "--costs", turned) == own == hash_of(program, "--costs", LIBRARY))
    say("hash-of-another", hash_of(program, "--costs", other) != own)
    by_hand = files.of("h.rise", "entry f {n: nat} (xs: n.f32): n.f32 = xs |> mapGlobal(fun x => x)\n")
    say("hash-not-by-hand", hash_of(by_hand) is None)


def traces(files, library):
    program = files.of("p.rise", EXPONENTIALS)
    other = files.of("o.rise", table(library, root=1001))
    trace = os.path.join(files.folder, "trace")
    saved = risec("lower", program, "--save", trace, "--costs", other)
    again = risec("lower", program, "--replay", trace, "--costs", other)
    say("replay", saved[0] == 0 and again[:2] == saved[:2], again[2])
    refused = risec("lower", program, "--replay", trace)
    say("replay-by-another", refused[0] == 1 and "E0807" in refused[2] and hash_of(program) in refused[2], refused[2])


def main():
    with open(LIBRARY, encoding="utf-8") as file:
        library = file.read()
    with tempfile.TemporaryDirectory() as folder:
        files = Files(folder)
        flips(files, library)
        hashes(files, library)
        traces(files, library)


main()
