#!/usr/bin/env python3
"""Programs of many stages: each stage is lowered by itself, whatever the others are, and how many there are changes nothing."""
import os
import re
import subprocess
import tempfile

RISEC = os.environ["RISEC"]
MOST = 24 if os.environ.get("RISEC_LEVEL") == "all" else 18


def folds(n):
    """Each of what the one before gave."""
    return ("entry e {n: nat} (x0: n.f32): n.f32 =\n"
            + "".join(f"  let s{i} = x{i} |> reduce((+), 0) in let x{i + 1} = x{i} |> map(fun x => 0.5 * x - s{i} / n) in\n" for i in range(n)) + f"  x{n}\n")


def row(n):
    """So many folds of a row, each of what the one before gave: more than the library's patterns are tried for."""
    return "".join(f"    let s{i} = x{i} |> reduce((+), 0) in let t{i} = x{i} |> reduce(max, -inf) in\n"
                   f"    let x{i + 1} = x{i} |> map(fun x => exp(x - t{i}) / s{i}) in\n" for i in range(n)) + f"    x{n}"


def beside(n):
    """A product of matrices, transposed, beside rows with n folds each."""
    return ("entry e {n m k: nat} (a: m.k.f32) (b: k.n.f32) (xs: n.m.f32): n.m.f32 =\n"
            "  let ys = a |> map(fun r => b |> transpose |> map(fun c => zip(r, c) |> map(fun (x, y) => x * y) |> reduce((+), 0))) in\n"
            f"  let zs = xs |> map(fun x0 =>\n{row(n)}) in\n"
            "  zip(transpose(ys), transpose(transpose(zs))) |> map(fun (y, z) => zip(y, z) |> map(fun (a, b) => a * exp(b)))\n")


NEAREST = """
operator nearer (a: (f32, i32)) (b: (f32, i32)): (f32, i32)
  unit (inf, highest), associative, commutative = if b.1 < a.1 or b.1 == a.1 and b.2 < a.2 then b else a
-- The fold of pairs has no kernels by the library's pattern; the distances have.
entry nearest {n d k: nat} (ps: n.d.f32) (cs: k.d.f32): n.i32 =
  ps |> map(fun p => (generate{n = k}(fun c => (zip(p, cs[c]) |> map(fun (a, b) => (a - b) * (a - b)) |> reduce((+), 0), cast(i32)(c)))
                      |> reduce(nearer, (inf, highest))).2)
"""


def risec(text, *options):
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/p.rise"
        with open(path, "w") as file:
            file.write(text)
        return subprocess.run([RISEC, *[option.replace("FILE", path) for option in options]], capture_output=True, text=True)


def kernels(text):
    """The bodies of a program's kernels, without what they are called by."""
    run = risec(text, "FILE", "-o", "-")
    assert run.returncode == 0, run.stderr
    bodies = re.findall(r"^\w+_body\(.*?^\}", run.stdout, re.M | re.S)
    return [re.sub(r"^ *//.*$|\b\w+_body\b", "", body, flags=re.M) for body in bodies]


def bounds(text):
    """The launch bounds of the row kernels, which have 512 threads, in their order."""
    run = risec(text, "FILE", "-o", "-")
    assert run.returncode == 0, run.stderr
    return re.findall(r"__launch_bounds__\((512.*)\)$", run.stdout, re.M)


NORMS = ("xs |> map(fun row => let top = row |> reduce(max, -inf) in"
         " sqrt((row |> map(fun x => x - top) |> reduce((+), 0))))")
HEAD = "entry e {n m: nat} (xs: n.m.f32) (w: m.f32): n.f32 =\n"


def launch_bounds():
    """What a row kernel asks for is its own affair: long rows need more registers, so fewer blocks at once."""
    alone = bounds(HEAD + NORMS)
    say(len(set(alone)) > 2, "long rows have fewer blocks at once", f"{alone}")
    over = NORMS.replace("0))))", "0)) / total))")
    others = {"behind a sum": f"let total = w |> reduce((+), 0) in {over}",
              "behind a sum, under a size test": f"if n > 7 then let total = w |> reduce((+), 0) in {over} else {NORMS}"}
    for where, body in others.items():
        own = bounds(HEAD + body)
        say(set(own) == set(alone), f"launch bounds of row kernels {where}", f"{own} for {alone}")


def say(good, name, why=""):
    print(f"{'ok' if good else 'not ok'} {name}")
    if why and not good:
        print("\n".join("# " + line for line in why.splitlines()[:5]))


def main():
    for n in range(10, MOST + 1):
        run = risec(folds(n), "FILE", "-o", "-")
        say(run.returncode == 0, f"{n} folds, each of what the one before gave", run.stderr)
    run = risec(folds(12), "run", "FILE", "--set", "n=3000", "--arg", "x0=uniform", "--verify")
    say(run.returncode == 0, "12 folds on the simulator", run.stdout + run.stderr)
    say(any("__shared__" in body for body in kernels(NEAREST)), "a stage without a pattern leaves the others theirs")
    launch_bounds()
    few, many = kernels(beside(2)), kernels(beside(40))
    product = [body for body in few if body in kernels(beside(1)) and "__shared__" in body]
    say(len(product) >= 2, "a product is lowered as the library knows it", f"{len(product)} kernels")
    say(all(body in many for body in product), "a product beside rows that take too long", f"{len(many)} kernels")
    say(len(few) > len(many), "rows that take too long are a kernel", f"{len(few)} kernels and {len(many)}")


if __name__ == "__main__":
    main()
