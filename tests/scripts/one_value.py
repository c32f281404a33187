#!/usr/bin/env python3
"""A value that is used more than once, or computed in several places, has one value: CUDA's compiler joins its products with nothing.

    tests/scripts/one_value.py [SEED]         PROGRAMS programs of all forms from a seed, each made so that all its products are used more than once;
                                              more of them at the level `all` (RISEC_LEVEL)
    tests/scripts/one_value.py --count FILE   writes how many fma the kernels of examples and bench/programs have

In the PTX of those programs each product is `mul.rn`, which ptxas joins with nothing: no plain `mul`, no `fma`. Where the emitted text has plain products instead, each is found, or
this script finds nothing. The same programs with values that end with a product of CUDA's own, as `exp` does, have as many fma as where NVRTC may join nothing, and no sum that ptxas may
join with such a product. And in examples and bench/programs products that are used once stay joined: their fma are counted, and compared with fma.txt beside this
script. Prints `ok NAME`, `not ok NAME` or `skip NAME: REASON`."""
import glob
import os
import random
import re
import subprocess
import sys
import tempfile

import ptx_text

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("BUILD") or os.path.join(ROOT, "build")
RISEC = os.environ.get("RISEC") or os.path.join(BUILD, "release", "risec")
COUNTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fma.txt")
ALL = os.environ.get("RISEC_LEVEL") == "all"
PROGRAMS, LIBRARY_PROGRAMS, SEED = (200, 60, 1) if ALL else (60, 60, 1)
EVERY = 1 if ALL else 3  # one in so many of examples and bench/programs

# A product of x and y, and what is made of one alone.
VALUES = ("x * y", "-(x * y)", "(if x < y then x * y else y * y)", "x * y * x", "(let z = x * x in z * y)", "(if x < y then x * y else 0)")
# The same, ending with a product that CUDA makes: (of f32 and f64, of f64 alone).
LIBRARY = ("exp(x)", "-exp(x)", "(if x < y then exp(x) else y)", "exp(max(x, y))", "x / 4", "-(x / 2)"), ("exp2(x)", "-exp2(min(x, y))")
USES = ("p + 1", "1 - p", "p - 3", "-p + 2", "(if p < 1 then p + 5 else p - 5)", "abs(p - 1)", "p + p", "(let q = -p in q - 1)")
PLAIN = ("p", "max(p, 1)", "-p", "(if p < 1 then p else 1)", "p + 7", "5 - p")

# Programs. T: the type. V: the value of (x, y). U, W: uses of p; U adds.
FORMS = {
    "let": "entry f {n: nat} (a b: n.T): (n.T, n.T) =\n  zip(a, b) |> mapGlobal(fun (x, y) => let p = V in (U, W)) |> unzip",
    "parameter": "def both (p: T): (T, T) = (U, W)\nentry f {n: nat} (a b: n.T): n.(T, T) =\n  zip(a, b) |> mapGlobal(fun (x, y) => both(V))",
    "map": "entry f {n: nat} (a b: n.T): (n.T, n.T) =\n  let s = zip(a, b) |> map(fun (x, y) => V) in (s |> map(fun p => U), s |> map(fun p => W))",
    "zipped": "entry f {n: nat} (a b: n.T): n.(T, T) =\n  let s = zip(a, b) |> map(fun (x, y) => V) in zip(s |> map(fun p => W), s |> map(fun p => U))",
    "view": "entry f {n: nat} (a b: n.T): (n.T, n.T) =\n  let s = generate{n = n}(fun i => let x = a[i] in let y = b[i] in V) in (s |> mapGlobal(fun p => U), s |> mapGlobal(fun p => W))",
    "reversed": "entry f {n: nat} (a b: n.T): n.T =\n  let s = zip(a, b) |> map(fun (x, y) => V) in zip(s, s |> reverse) |> map(fun (p, q) => (U) - q)",
    "windows": "entry f {n: nat} (a b: n.T): n.T where n >= 1 =\n  zip(a, b) |> map(fun (x, y) => V) |> padClamp(1, 1) |> slide(3, 1) |> map(fun w => let p = w[1] in (U) + (w[0] - w[2]))",
    "greatest": "entry f {n: nat} (a b: n.T): n.T =\n  let s = zip(a, b) |> map(fun (x, y) => V) in let t = s |> reduce(max, -inf) in s |> map(fun p => (U) - t)",
    "sum": "entry f {n: nat} (a b: n.T): n.T =\n  let s = zip(a, b) |> map(fun (x, y) => V) in let t = s |> reduce((+), 0) in s |> map(fun p => (U) - t)",
    "kept": "entry f {n: nat} (a b: n.8.T): n.8.T =\n  zip(a, b) |> mapGlobal(fun (r, s) =>\n    let ps = zip(r, s) |> mapSeq(fun (x, y) => V) |> toPrivate in\n"
            "    let t = ps |> reduceSeq((+), 0) in ps |> mapSeq(fun p => (U) - t))",
    "captured": "entry f {n: nat} (a b: n.T) (c: 8.T): n.8.T =\n  zip(a, b) |> mapGlobal(fun (x, y) => let p = V in c |> mapSeq(fun z => z + (U)))",
    "lanes": "entry f {n: nat} (a b: (32*n).T): (32*n).T =\n  zip(a, b) |> split(32) |> mapWarp(fun r =>\n    let ps = r |> mapLane(fun (x, y) => V) |> toPrivate in\n"
             "    zip(ps, ps |> shflXor(1)) |> mapLane(fun (p, q) => (U) - q)) |> join",
    "blocks": "entry f {n: nat} (a b: (64*n).T): (64*n).T =\n  zip(a, b) |> split(64) |> mapBlock(fun r =>\n    let ps = r |> mapThreads(fun (x, y) => V) |> toShared in\n"
              "    zip(ps, ps |> reverse) |> mapThreads(fun (p, q) => (U) - q)) |> join",
    "own cells": "entry f {n: nat} (a b: (64*n).T): (64*n).(T, T) =\n  zip(a, b) |> split(64) |> mapBlock(fun r =>\n    let ps = r |> mapThreads(fun (x, y) => V) |> toShared in\n"
                 "    ps |> mapThreads(fun p => (U, W))) |> join",
    "kernels": "entry f {n: nat} (a b: n.T): n.T =\n  let s = generate{n = n}(fun i => let x = a[i] in let y = b[i] in V) in\n"
               "  s |> mapGlobal(fun p => W) |> nextKernel(fun t => zip(s, t) |> mapGlobal(fun (p, q) => (U) - q))",
    "pairs": "entry f {n: nat} (a b: n.T): n.(T, T) =\n  zip(a, b) |> map(fun (x, y) => (V, y)) |> mapGlobal(fun t => let p = t.1 in (U, W))",
    "fold": "entry f {n: nat} (a b: n.64.T): n.T =\n  zip(a, b) |> mapGlobal(fun (r, s) => zip(r, s) |> reduceSeq(fun acc (x, y) => let p = V in max(acc, W) + (U), 0))",
    "prefixes": "entry f {n: nat} (a b: n.T): n.T =\n  let s = zip(a, b) |> map(fun (x, y) => V) in zip(s, s |> scan((+), 0)) |> map(fun (p, q) => (U) - q)",
    "vectors": "entry f {n: nat} (a b: (4*n).T): (4*n).T =\n  zip(a |> asVector(4), b |> asVector(4)) |> mapGlobal(fun (x, y) => let p = x * y in max(p + 1, p - 1)) |> asScalar",
    "planes": "entry f {n m: nat} (a b: n.m.T): n.m.T =\n  zip(a, b) |> map(fun (r, s) => let ps = zip(r, s) |> map(fun (x, y) => V) in zip(ps, ps |> reverse) |> map(fun (p, q) => (U) - q))",
    "size tests": "entry f {n: nat} (a b: n.T): n.T =\n  let s = generate{n = n}(fun i => let x = a[i] in let y = b[i] in V) in\n"
                  "  if n <= 1000 then zip(s, s |> reverse) |> mapGlobal(fun (p, q) => (U) - q) else s |> mapGlobal(fun p => let q = W in q - (U))",
    "twice in a row": "entry f {n: nat} (a b: n.T): (n + n).T =\n  let s = zip(a, b) |> map(fun (x, y) => V) in concat(s |> map(fun p => U), s)",
    "columns": "entry f {n m: nat} (a b: n.m.T): (n.m.T, m.n.T) =\n  let s = zip(a, b) |> map(fun (r, s) => zip(r, s) |> map(fun (x, y) => V)) in\n"
               "  (s |> map(map(fun p => U)), s |> transpose |> map(map(fun p => W)))",
    "all rows": "entry f {n m: nat} (a b: m.T) (c: n.T): n.m.T =\n  let ps = zip(a, b) |> map(fun (x, y) => V) in c |> map(fun z => ps |> map(fun p => z + (U)))",
    "broadcast": "entry f {n: nat} (a b: (32*n).T): (32*n).T =\n  zip(a, b) |> split(32) |> mapWarp(fun r =>\n    let ps = r |> mapLane(fun (x, y) => V) |> toPrivate in\n"
                 "    zip(ps, ps |> broadcast(0)) |> mapLane(fun (p, q) => (U) - q)) |> join",
    "rotated": "entry f {n: nat} (a b: n.10.T): n.8.T =\n  zip(a, b) |> mapGlobal(fun (r, s) => zip(r, s) |> rotateValues(3, fun (x, y) => V)\n"
               "    |> mapSeq(fun w => let p = w[0] in (U) - (w[1] + w[2])))",
    "nested": "entry f {n: nat} (a b: n.T): (n.T, n.T) =\n  let s = zip(zip(a, b) |> map(fun (x, y) => V), a) in (s |> map(fun (p, z) => (U) - z), s |> reverse |> map(fun (p, z) => max(W, z)))\n"
              "entry g {n: nat} (a b: n.T): (n.T, n.T) =\n  let s = zip(b, zip(a, zip(a, b) |> map(fun (x, y) => V))) in\n"
              "  (s |> map(fun t => let p = t.2.2 in U), s |> reverse |> map(fun t => let p = t.2.2 in W))",
    "states": "entry f {n: nat} (a b: n.64.T): n.T =\n  zip(a, b) |> mapGlobal(fun (r, s) => zip(r, s) |> reduceSeq(fun p (x, y) => let q = U in max(p, q) * y, 1))",
    "prefix states": "entry f {n: nat} (a b: n.8.T): n.8.T =\n  zip(a, b) |> mapGlobal(fun (r, s) =>\n"
                     "    let ps = zip(r, s) |> scanSeq(fun p (x, y) => max(p, 1) * y, 1) |> toPrivate in ps |> mapSeq(fun p => U))",
    "next to it": "entry f {n: nat} (a b: n.T): n.T =\n  let s = zip(a, b) |> map(fun (x, y) => V) in zip(s |> take(n), s |> padCst(1, 0, 0) |> take(n)) |> map(fun (p, q) => (U) - q)",
}
STORED = ("blocks", "twice in a row", "all rows")  # where products are only stored
OWN = [form for form in sorted(FORMS) if not re.search(r"\bV\b", FORMS[form])]  # whose products are their own

# Programs with products that are used once: CUDA's compiler joins them.
ONCE = {
    "dot": "entry f {n: nat} (a b: n.T): T = zip(a, b) |> map(fun (x, y) => x * y) |> reduce((+), 0)",
    "dot used twice": "entry f {n: nat} (a b: n.T): n.T = let t = zip(a, b) |> map(fun (x, y) => x * y) |> reduce((+), 0) in a |> map(fun x => (x - t) / t)",
    "norm": "entry f {n: nat} (a: n.T): n.T = let t = sqrt(a |> map(fun x => x * x) |> reduce((+), 0)) in a |> map(fun x => x / t)",
    "rows": "entry f {n m: nat} (a: n.m.T) (b: m.T): n.T = a |> map(fun r => zip(r, b) |> map(fun (x, y) => x * y) |> reduce((+), 0))",
    "product": "entry f {n m k: nat} (a: n.m.T) (b: m.k.T): n.k.T =\n  a |> map(fun r => b |> transpose |> map(fun c => zip(r, c) |> map(fun (x, y) => x * y) |> reduce((+), 0)))",
    "gathered": "entry f {n: nat} (i: n.idx[n]) (a b: n.T): n.T =\n  let s = zip(a, b) |> map(fun (x, y) => x * y) in s |> gather(i) |> map(fun p => p + 1)",
    "axpy": "entry f {n: nat} (k: T) (a b: n.T): n.T = zip(a, b) |> map(fun (x, y) => k * x + y)",
    "polynomial": "entry f {n: nat} (a: n.T): n.T = a |> map(fun x => (((x + 2) * x + 3) * x + 4) * x + 5)",
    "value of a sum": "entry f {n: nat} (a b: n.T): (n.T, n.T) = zip(a, b) |> mapGlobal(fun (x, y) => let s = x * y + x in (s, s + 1)) |> unzip",
    "stored": "entry f {n: nat} (a b: n.T): n.T =\n  zip(a, b) |> mapGlobal(fun (x, y) => x * y + 1) |> toGlobal |> nextKernel(fun s => zip(s, s |> reverse) |> mapGlobal(fun (p, q) => p - q))",
    "two ways": "entry f {n: nat} (a b: n.T): n.T =\n  let s = zip(a, b) |> map(fun (x, y) => x * y) in if n <= 1000 then s |> map(fun p => p + 1) else s |> map(fun p => p - 1)",
    "vectors": "entry f {n: nat} (a: n.64.T): n.T =\n  a |> mapGlobal(fun r => r |> asVector(4) |> reduceSeq(fun acc v => let q = v * v in acc + ((q[0] + q[1]) + (q[2] + q[3])), 0))",
}


ONCE_LIBRARY = "entry f {n: nat} (a b: n.f32): n.f32 = zip(a, b) |> map(fun (x, y) => exp(x) + y)\n"


def program(rng, form, library):
    kind = rng.choice(("f32", "f32", "f64"))
    values = LIBRARY[0] + LIBRARY[1] * (kind == "f64") if library else VALUES
    value, use, plain = rng.choice(values), rng.choice(USES), rng.choice(PLAIN)
    text = re.sub(r"\bT\b", kind, re.sub(r"\bU\b", use, re.sub(r"\bW\b", plain, re.sub(r"\bV\b", value, FORMS[form]))))
    return text + "\n"


def emitted(path, *more):
    done = subprocess.run([RISEC, path, "--emit=cuda", *more], capture_output=True, text=True, timeout=60)
    return done.stdout, done.stdout if done.returncode == 0 and not done.stderr else done.stderr


def without_twins(text):
    """Without the kernels that only have wider indices than another."""
    text = ptx_text.unwrapped(text)
    for kernel in reversed(ptx_text.text_kernels(text)):
        if kernel.name.endswith("_64"):
            text = text[: kernel.first] + text[kernel.last :]
    return text


HARMLESS = "mul.", "st.", "max.", "min.", "setp."


def may_be_added(register, readers):
    """Is the value, or what is chosen from it, read by something else than stores, products and comparisons?"""
    seen, open_ = {register}, [register]
    while open_:
        for reader in readers.get(open_.pop(), []):
            passed = re.match(r"(?:selp|mov)\.f(?:32|64)\s+(%\w+)", reader)
            if passed and passed[1] not in seen:
                seen.add(passed[1])
                open_.append(passed[1])
            if not passed and not reader.startswith(HARMLESS):
                return True
    return False


def joined(ptx):
    """The instructions of products that are, or may be, part of a fused operation. Those may not that only stores, products, comparisons and the like read."""
    found = []
    for lines in ptx_text.ptx_kernels(ptx).values():
        lines = [re.sub(r"^@!?%\w+\s+", "", line) for line in lines]
        readers = {}
        for line in lines:
            for register in re.findall(r"%\w+", line)[0 if line.startswith("st.") else 1 :]:
                readers.setdefault(register, []).append(line)
        for line in lines:
            plain = re.match(r"mul\.(?:ftz\.)?f(?:32|64)\s+(%\w+)", line)
            if plain and may_be_added(plain[1], readers):
                found.append(line)
            if re.match(r"(fma|mad)\.\S*f(32|64)\s", line):
                found.append(line)
    return found


def open_at(lines):
    """For each line, the registers that may hold a product, or what is chosen from one or negates one, before it."""
    labels = {line[:-1]: k for k, line in enumerate(lines) if line.endswith(":")}
    before, todo = {0: frozenset()}, [0]
    while todo:
        k = todo.pop()
        held, line = before[k], lines[k]
        step = re.match(r"(@!?%\w+\s+)?(\w+)\.\S*\s+(%f\w*)\s*,(.*)", line)
        if step and not step[2].startswith("st"):
            passes = step[2] in ("neg", "mov", "selp") and held & set(re.findall(r"%\w+", step[4]))
            made = {step[3]} if step[2] == "mul" or passes else set()
            held = held - (set() if step[1] else {step[3]}) | made
        jump = re.match(r"(@!?%\w+\s+)?bra(?:\.uni)?\s+(\S+)", line)
        after = [labels[jump[2]]] if jump else []
        if not (jump and not jump[1]) and not line.startswith("ret") and k + 1 < len(lines):
            after.append(k + 1)
        for n in after:
            if n not in before or not held <= before[n]:
                before[n] = before.get(n, frozenset()) | held
                todo.append(n)
    return before


def may_join(nvrtc, text):
    """What NVRTC has joined with a sum, or ptxas may join, in a text whose own products are marked."""
    ptx, apart = ptx_text.ptx_of(nvrtc, text), ptx_text.ptx_of(nvrtc, text, more=["--fmad=false"])
    found = []
    for name, lines in ptx_text.ptx_kernels(ptx).items():
        count = [sum(bool(re.match(r"(@!?%\w+\s+)?fma\.", line)) for line in of) for of in (lines, ptx_text.ptx_kernels(apart)[name])]
        if count[0] != count[1]:
            found.append(f"{name} has {count[0]} fma, and {count[1]} where nothing is joined")
        for k, held in open_at(lines).items():
            sum_ = re.match(r"(?:@!?%\w+\s+)?(?:add|sub)\.(?:ftz\.)?f(?:32|64)\s+%\w+(.*)", lines[k])
            if sum_ and held & set(re.findall(r"%\w+", sum_[1])):
                found.append(lines[k])
    return found


def with_plain_operations(text):
    """`(a * b)` for each `__fmul_rn(a, b)`, and the same for sums."""
    while True:
        found = re.search(r"__[fd](mul|add|sub)_rn\(", text)
        if not found:
            return text
        depth, commas, i = 1, [], found.end()
        while depth:
            depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(text[i], 0)
            if text[i] == "," and depth == 1:
                commas.append(i)
            i += 1
        a, b = text[found.end() : commas[0]], text[commas[0] + 1 : i - 1]
        sign = {"mul": "*", "add": "+", "sub": "-"}[found[1]]
        text = f"{text[: found.start()]}(({a}) {sign} ({b.strip()})){text[i:]}"


def fma_counts(nvrtc, every):
    """One in so many of the programs of each folder."""
    counts = {}
    for folder in ("examples", "bench/programs"):
        for path in sorted(glob.glob(f"{ROOT}/{folder}/*.rise"))[::every]:
            text, _ = emitted(path)
            kernels = ptx_text.ptx_kernels(ptx_text.ptx_of(nvrtc, without_twins(text)))
            n = sum(line.startswith("fma.") for lines in kernels.values() for line in (re.sub(r"^@!?%\w+\s+", "", line) for line in lines))
            counts[os.path.relpath(path, ROOT)] = n
    return counts


def release(nvrtc):
    return "CUDA %d.%d" % ptx_text.release_of_nvrtc(nvrtc)


def written(nvrtc):
    lines = ["# How many fma the kernels have that NVRTC makes of it for compute_90, those with wider indices not counted. Written by one_value.py --count.", release(nvrtc)]
    return "\n".join(lines + [f"{name} {n}" for name, n in sorted(fma_counts(nvrtc, 1).items()) if n]) + "\n"


def check_counts(nvrtc):
    with open(COUNTS) as file:
        want = file.read()
    if want.splitlines()[1] != release(nvrtc):
        print(f"skip fma of examples and bench/programs: counted with {want.splitlines()[1]}, and this is {release(nvrtc)}")
        return 0
    listed = {path: int(n) for path, n in (line.split() for line in want.splitlines()[2:])}
    have = fma_counts(nvrtc, EVERY)
    gone = [path for path in listed if not os.path.exists(f"{ROOT}/{path}")]
    wrong = [f"{path}: now {n}, was {listed.get(path, 0)}" for path, n in sorted(have.items()) if n != listed.get(path, 0)] + [f"{path} is no more" for path in gone]
    print("not ok" if wrong else "ok", f"{len(have)} programs of examples and bench/programs have as many fma as fma.txt says")
    for line in wrong:
        print("#", line)
    return bool(wrong)


def check_once(nvrtc):
    apart = []
    with tempfile.TemporaryDirectory() as work:
        for name, source in ONCE.items():
            for kind in ("f32", "f64"):
                path = os.path.join(work, "once.rise")
                with open(path, "w") as file:
                    file.write(re.sub(r"\bT\b", kind, source) + "\n")
                text, said = emitted(path)
                lines = [line for kernel in ptx_text.ptx_kernels(ptx_text.ptx_of(nvrtc, text)).values() for line in kernel] if text else []
                if not any("fma." in line for line in lines) or any(re.search(r"\bmul\.rn\.f", line) for line in lines):
                    apart += [f"{name}, {kind}: {line}" for line in (source + "\n" + said[:300] * (not text)).splitlines()]
        with open(path, "w") as file:
            file.write(ONCE_LIBRARY)
        if not may_join(nvrtc, without_twins(emitted(path)[0])):
            apart.append("a value of exp that is used once is not joined")
    print("not ok" if apart else "ok", f"products that are used once are joined in {2 * len(ONCE)} programs, and a value of exp is")
    for line in apart:
        print("# " + line)
    return bool(apart)


def check_programs(nvrtc, seed, library):
    rng, wrong, seen = random.Random(seed), [], set()
    forms, count = ([form for form in sorted(FORMS) if form not in OWN], LIBRARY_PROGRAMS) if library else (sorted(FORMS), PROGRAMS)
    of = (lambda text: may_join(nvrtc, text)) if library else (lambda text: joined(ptx_text.ptx_of(nvrtc, text)))
    with tempfile.TemporaryDirectory() as work:
        for k in range(count):
            form = forms[k % len(forms)]
            source = program(rng, form, library)
            path = os.path.join(work, "one_value.rise")
            with open(path, "w") as file:
                file.write(source)
            text, said = emitted(path)
            if not text:
                wrong += [f"program {k}, {form}: {line}" for line in (source + said).splitlines()]
                continue
            text = without_twins(text)
            found = of(text)
            if found:
                wrong += [f"program {k}, {form}: {line}" for line in source.splitlines() + found[:4]]
            if of(with_plain_operations(text)):
                seen.add(form)
    blind = [form for form in forms if form not in STORED and form not in seen]
    failed, what = False, "values of CUDA's functions" if library else "products"
    for bad, what in ((wrong, f"{what} that are used more than once are joined with nothing in the PTX of {count} programs, seed {seed}"),
                      (blind, f"{what} in operations that are written plainly are found in each form")):
        failed |= bool(bad)
        print(f"{'not ok' if bad else 'ok'} {what}")
        for line in bad:
            print("# " + line)
    return failed


def main(args):
    nvrtc = ptx_text.find_nvrtc()
    if not nvrtc:
        print("skip products in PTX: no libnvrtc.so.13 or .12")
        return 0
    if args[:1] == ["--count"]:
        with open(args[1], "w") as file:
            file.write(written(nvrtc))
        return 0
    seed = int(args[0]) if args else SEED
    failed = [check_programs(nvrtc, seed, False), check_programs(nvrtc, seed, True), check_once(nvrtc), check_counts(nvrtc)]
    return int(any(failed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
