#!/usr/bin/env python3
"""The Python package: its tests, each file in a process of its own; its wheel and its sources; and the examples of
docs/python.md.

python-NAME   the tests of python/tests/test_NAME.py. test_cuda runs on a stand-in for the driver
python-manual, python-quickstart   each example of docs/python.md and docs/quickstart.md prints what
              stands below it
python-notebook, python-example   what of examples/python needs no GPU
python-wheel  `python3 -m build` makes a wheel that installs without a compiler, needs nothing but glibc
              and says which; and sources that make the same wheel

Wants numpy; the wheel also wants build, wheel and venv. RISEC and BUILD name what was built."""
import ast
import glob
import json
import os
import re
import subprocess
import sys
import tempfile
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RISEC = os.path.abspath(os.environ.get("RISEC", f"{ROOT}/build/release/risec"))
BUILD = os.path.join(os.path.abspath(os.environ.get("BUILD", f"{ROOT}/build")), "release")
PYTHON = f"{ROOT}/python"


def say(name, good, why=""):
    print(f"{'ok' if good else 'not ok'} python-{name}")
    if not good:
        for line in why.splitlines()[-40:]:
            print("#", line)


def skip(name, why):
    print(f"skip python-{name}: {why}")


def library():
    sys.path.insert(0, f"{PYTHON}/risec")
    from _version import LIBRARY
    return f"{BUILD}/runtime/{LIBRARY}"


def interpreter(modules):
    """A Python that has these modules: this one, or the system's."""
    for python in (sys.executable, "/usr/bin/python3"):
        if os.path.exists(python) and not subprocess.run([python, "-c", f"import {modules}"], capture_output=True).returncode:
            return python
    return None


def run(argv, env=None, **how):
    return subprocess.run(argv, capture_output=True, text=True, timeout=600, env={**os.environ, **(env or {})}, **how)


def unit_tests(python, folder, env):
    sys.path.insert(0, f"{PYTHON}/tests")
    import stand_in
    stand_in.build(folder, f"{BUILD}/generated")
    for path in sorted(glob.glob(f"{PYTHON}/tests/test_*.py")):
        name = os.path.basename(path)[5:-3]
        mine = {**env, "LD_LIBRARY_PATH": folder} if name == "cuda" else env
        done = run([python, path], mine)
        good = done.returncode == 0 and re.search(r"^Ran [1-9]\d* tests?", done.stderr, re.M)
        say(name, good, done.stderr)


def page(python, env, name, page, folder, least):
    """Examples are ```python blocks, at least so many; one that is followed by a ``` block without a
    name prints that."""
    with open(f"{ROOT}/docs/{page}", encoding="utf-8") as file:
        text = file.read()
    blocks = re.findall(r"(<!-- needs [^>]*-->\n)?```python\n(.*?)```\n(?:\n```\n(.*?)```\n)?", text, re.S)
    program, wanted = "import warnings\nwarnings.simplefilter('ignore')\n", ""
    for needs, code, output in blocks:
        if not needs:
            program += code
            wanted += output
    done = run([python, "-c", program], env, cwd=f"{ROOT}/{folder}")
    plenty = len(blocks) >= least and wanted.count("\n") >= least // 2 + 1
    say(name, plenty and done.returncode == 0 and done.stdout == wanted,
        f"{done.stderr}\nprinted:\n{done.stdout}\nwanted:\n{wanted}")


def examples(python, env):
    """Those of examples/python that need no GPU; of the notebook, all cells one after the other."""
    with open(f"{ROOT}/examples/python/tour.ipynb", encoding="utf-8") as file:
        cells = [c for c in json.load(file)["cells"] if c["cell_type"] == "code"]
    lines = ["def show(x):\n    print(getattr(x, '_repr_html_', x.__repr__)())"]
    for cell in cells:
        *before, last = ast.parse("".join(cell["source"])).body
        if isinstance(last, ast.Expr):  # Jupyter shows it
            last = f"show({ast.unparse(last)})"
        lines += [*map(ast.unparse, before), last if isinstance(last, str) else ast.unparse(last)]
    done = run([python, "-c", "\n".join(lines)], env)
    wanted = ("499500.0", "<pre>plan of softmax", "sectorsPerNeeded", "__global__", "pass xs.astype", "E0201")
    say("notebook", done.returncode == 0 and all(w in done.stdout for w in wanted), done.stdout[-3000:] + done.stderr)
    done = run([python, f"{ROOT}/examples/python/sum_numpy.py", "1000"], env)
    say("example", done.stdout == "sum of 1000 elements: 2997, numpy says 2997\n", done.stdout + done.stderr)


TEN_LINES = """
import numpy, risec
assert not risec.__file__.startswith(%r)
program = risec.compile("entry sum {n: nat} (xs: n.f32): f32 = xs |> reduce((+), 0)", device="sim")
xs = numpy.arange(1000, dtype="float32")
assert program.sum(xs) == xs.sum()
assert program.sum.plan(n=1000).kernels == 1
print("right")
"""


def glibc(path):
    """The newest GLIBC_2.N of a file, as readelf says it."""
    said = run(["readelf", "-V", path]).stdout
    return max(int(n) for n in re.findall(r"GLIBC_2\.(\d+)", said))


# Parts of glibc, by their names.
GLIBC = re.compile(r"(libc|libm|libpthread|libdl|ld-linux-[a-z0-9-]+)\.so\.\d+")


def strangers(path):
    """The libraries that a file needs and that are no part of glibc."""
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", run(["readelf", "-d", path]).stdout)
    return [name for name in needed if not GLIBC.fullmatch(name)] if needed else ["nothing, so it is no ELF file"]


def wheel(folder):
    python = interpreter("build, wheel, venv, ensurepip, numpy")
    if python is None:
        return skip("wheel", "there is no Python with build, wheel, venv and numpy")
    out = f"{folder}/out"
    env = {"RISEC_BUILD": BUILD}
    done = run([python, "-m", "build", "--no-isolation", "--outdir", out, PYTHON], env)
    if done.returncode:
        return say("wheel", False, done.stdout + done.stderr)
    made = glob.glob(f"{out}/*.whl")
    wanted = max(glibc(RISEC), glibc(library()))
    if len(made) != 1 or not made[0].endswith(f"-py3-none-manylinux_2_{wanted}_x86_64.whl"):
        return say("wheel", False, f"{made}, and the library needs glibc 2.{wanted}")
    with zipfile.ZipFile(made[0]) as archive:
        archive.extractall(f"{folder}/inside")
    for path in ("bin/risec", f"lib/{os.path.basename(library())}"):
        needs = strangers(f"{folder}/inside/risec/{path}")
        if needs:
            return say("wheel", False, f"{path} needs {' '.join(needs)}, which a machine may not have")
    venv = f"{folder}/venv"
    steps = [
        [python, "-m", "venv", "--system-site-packages", venv],
        [f"{venv}/bin/pip", "install", "--quiet", "--no-index", made[0]],
        [f"{venv}/bin/python", "-c", TEN_LINES % ROOT],
        [f"{venv}/bin/risec", "--version"],
    ]
    # A PATH without a compiler.
    bare = {"PATH": f"{venv}/bin", "PYTHONPATH": "", "RISEC": "", "RISEC_LIBRISE": ""}
    for step in steps:
        done = run(step, bare, cwd=folder)
        if done.returncode:
            return say("wheel", False, f"{step}\n{done.stdout}{done.stderr}")
    sources = run(["tar", "-tzf", glob.glob(f"{out}/*.tar.gz")[0]]).stdout
    say("wheel", "source/grammar/generated/rise.c" in sources and "source/src/" in sources, sources[-2000:])


def main():
    python = interpreter("numpy")
    with tempfile.TemporaryDirectory() as folder:
        env = {"PYTHONPATH": PYTHON, "RISEC_LIBRISE": library(), "RISEC": RISEC, "XDG_CACHE_HOME": f"{folder}/cache",
               "PYTHONDONTWRITEBYTECODE": "1"}
        if python is None:
            skip("tests", "there is no Python with numpy")
        else:
            unit_tests(python, folder, env)
            page(python, env, "manual", "python.md", "examples", 8)
            page(python, env, "quickstart", "quickstart.md", "docs/quickstart", 1)
            examples(python, env)
        wheel(folder)


main()
