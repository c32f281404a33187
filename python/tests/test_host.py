"""Arrays of the host, on the simulator and the reference interpreter."""
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import warnings

import numpy as np

import risec
import risec._errors
from risec import _dlpack, _types

SUM = "entry sum {n: nat} (xs: n.f32): f32 = xs |> reduce((+), 0)\n"
PAIR = """entry pair {n: nat} (k: f32) (xs: n.(f32, i32)): (n.f32, n.i32) =
  (xs |> map(fun (x, i) => x * k), xs |> map(fun (x, i) => i + 1))
"""
FOREVER = """entry forever {n: nat} (xs: n.f32): n.f32 =
  xs |> mapGlobal(fun x => generate{n = 1000000000}(fun i => x) |> reduceSeq((+), 0))
"""


def ones(n, dtype="f4"):
    return np.ones(n, dtype)


class Compiled:
    """Programs that several tests use."""

    programs = {}

    @classmethod
    def get(cls, text, device="sim"):
        key = text, device
        if key not in cls.programs:
            cls.programs[key] = risec.compile(text, device=device)
        return cls.programs[key]


class Results(unittest.TestCase):
    def test_sum(self):
        for device in ("sim", "ref"):
            program = Compiled.get(SUM, device)
            for n in (0, 1, 5, 1000):
                with self.subTest(device=device, n=n):
                    result = program.sum(np.arange(n, dtype="f4"))
                    self.assertEqual(result, n * (n - 1) / 2)
                    self.assertIs(type(result), np.float32)

    def test_all_types(self):
        rng = np.random.default_rng(7)
        for t in _types.TYPES:
            if t.typestr is None:
                continue
            text = f"entry f {{n: nat}} (xs: n.{t.name}): n.{t.name} = xs |> map(fun x => x)\n"
            xs = rng.integers(0, 2 if t.name == "bool" else 100, 37).astype(t.common)
            for device in ("sim", "ref"):
                with self.subTest(t.name, device=device):
                    ys = Compiled.get(text, device).f(xs)
                    self.assertEqual(ys.dtype, xs.dtype)
                    np.testing.assert_array_equal(ys, xs)

    def test_tuples_and_scalars(self):
        xs, i = np.array([1.5, 2.5], "f4"), np.array([7, 8], "i4")
        program = Compiled.get(PAIR)
        for call in (
            lambda: program.pair(2.0, (xs, i)),
            lambda: program["pair"](k=2, xs=(xs, i)),
            lambda: program.pair(np.float32(2), (xs, i)),
            lambda: program.pair(np.array(2, "f4"), xs=(xs, i)),
        ):
            a, b = call()
            np.testing.assert_array_equal(a, np.array([3, 5], "f4"))
            np.testing.assert_array_equal(b, np.array([8, 9], "i4"))

    def test_sizes_by_name(self):
        program = Compiled.get(
            "entry f {n: nat} (xs: (n * n).f32): n.f32 = generate{n = n}(fun i => xs[i * n])\n"
        )
        np.testing.assert_array_equal(program.f(np.arange(9, dtype="f4"), n=3), [0, 3, 6])

    def test_no_inputs(self):
        program = Compiled.get("entry f (n: nat): n.i32 = generate{n = n}(fun i => cast(i32)(i))\n")
        np.testing.assert_array_equal(program.f(n=4), [0, 1, 2, 3])

    def test_out(self):
        program = Compiled.get(
            "entry twice {n: nat} (xs: n.f32): n.f32 = xs |> map(fun x => 2 * x)\n"
        )
        out = np.zeros(3, "f4")
        self.assertIs(program.twice(ones(3), out=out), out)
        np.testing.assert_array_equal(out, [2, 2, 2])
        total = np.zeros((), "f4")
        self.assertIs(Compiled.get(SUM).sum(ones(3), out=total), total)
        self.assertEqual(total, 3)

    def test_in_place(self):
        text = """
entry scaled {n: nat} (k: f32) (xs: n.f32): n.f32 = xs |> map(fun x => k * x)
entry turned {n: nat} (xs: n.f32): n.f32 = xs |> reverse |> map(fun x => x)
"""
        for device in ("sim", "ref"):
            with self.subTest(device=device):
                program = Compiled.get(text, device)
                self.assertEqual(program.scaled.in_place, {"result": ("xs",)})
                self.assertEqual(program.turned.in_place, {"result": ()})
                xs = np.arange(5, dtype="f4")
                for _ in range(2):
                    self.assertIs(program.scaled(2, xs, out=xs), xs)
                np.testing.assert_array_equal(xs, [0, 4, 8, 12, 16])
                with self.assertRaisesRegex(risec.ArgumentError, "cannot be computed in place of xs"):
                    program.turned(xs, out=xs)
                with self.assertRaisesRegex(risec.ArgumentError, "overlap in a part"):
                    program.scaled(2, xs[:4], out=xs[1:])
                np.testing.assert_array_equal(xs, [0, 4, 8, 12, 16])
                np.testing.assert_array_equal(program.scaled(1, xs), xs)

    def test_bf16_by_dlpack(self):
        text = "entry f {n: nat} (xs: n.bf16): n.f32 = xs |> map(fun x => cast(f32)(x))\n"
        bits = np.array([0x3F80, 0x4000, 0xC0A0], "u2")  # 1, 2, -5
        np.testing.assert_array_equal(
            Compiled.get(text).f(Producer(bits, _types.BY_COMMON["bfloat16"])), [1, 2, -5]
        )

    def test_bf16_result(self):
        text = "entry f {n: nat} (xs: n.bf16): n.bf16 = xs |> map(fun x => x + x)\n"
        bits = Producer(np.array([0x3F80, 0x4000], "u2"), _types.BY_COMMON["bfloat16"])
        with self.assertRaisesRegex(TypeError, "bf16.*numpy does not have"):
            Compiled.get(text).f(bits)
        out = np.zeros(2, "u2")
        Compiled.get(text).f(bits, out=Producer(out, _types.BY_COMMON["bfloat16"]))
        np.testing.assert_array_equal(out, [0x4000, 0x4080])

    def test_array_interface(self):
        class Other:
            def __init__(self, xs):
                self.xs = xs
                self.__array_interface__ = xs.__array_interface__

        self.assertEqual(Compiled.get(SUM).sum(Other(ones(9))), 9)

    def test_empty_and_axes_of_one(self):
        program = Compiled.get(
            "entry f {n m: nat} (xs: n.m.f32): n.f32 = xs |> map(reduce((+), 0))\n"
        )
        self.assertEqual(program.f(np.zeros((0, 5), "f4")).shape, (0,))
        np.testing.assert_array_equal(program.f(np.zeros((3, 0), "f4")), [0, 0, 0])
        np.testing.assert_array_equal(program.f(ones((2, 1, 7))[:, 0]), [7, 7])

    def test_large(self):
        xs = np.random.default_rng(3).integers(0, 9, (33, 65)).astype("i4")
        program = Compiled.get(
            "entry f {n m: nat} (xs: n.m.i32): m.i32 = xs |> transpose |> map(reduce((+), 0))\n",
            "ref",
        )
        np.testing.assert_array_equal(program.f(xs), xs.sum(0))


class Producer:
    """Memory of numpy handed over by DLPack alone."""

    def __init__(self, xs, t=None, strides=None):
        self.xs, self.t = xs, t or _types.BY_COMMON[xs.dtype.name]
        self.taken = 0

    def __dlpack_device__(self):
        return _dlpack.CPU, 0

    def __dlpack__(self, **_):
        self.taken += 1
        return _dlpack.export(self.xs, self.xs.ctypes.data, self.xs.shape, self.t, _dlpack.CPU, 0)


class Shapes(unittest.TestCase):
    def test_infer(self):
        program = Compiled.get(
            "entry f {n m: nat} (xs: (4 * n).m.f32) (k: f32): m.n.f32 =\n"
            "  generate{n = m}(fun j => generate{n = n}(fun i => xs[4 * i][j] * k))\n"
        )
        self.assertEqual(program.f.infer((12, 5), 1.0), ({"n": 3, "m": 5}, ((5, 3),)))
        self.assertEqual(program.f.infer(ones((12, 5)), k=0).results, ((5, 3),))
        with self.assertRaisesRegex(risec.ArgumentError, "13"):
            program.f.infer((13, 5), 1.0)
        with self.assertRaisesRegex(ValueError, "axes"):
            program.f.infer((12,), 1.0)

    def test_infer_of_tuples(self):
        self.assertEqual(Compiled.get(PAIR).pair.infer(1, [(6,), (6,)]).results, ((6,), (6,)))

    def test_signature(self):
        entry = Compiled.get(PAIR).pair
        self.assertEqual(
            str(entry.signature), "{n: nat}(k: f32, xs: (n.f32, n.i32)) -> (n.f32, n.i32)"
        )
        self.assertEqual(
            repr(entry), "<risec entry pair{n: nat}(k: f32, xs: (n.f32, n.i32)) -> (n.f32, n.i32)>"
        )
        self.assertEqual(entry.signature.sizes, ("n",))


class Refusals(unittest.TestCase):
    """Each says the argument and the remedy, and nothing is converted or copied silently."""

    def refused(self, kind, pattern, *args, text=SUM, entry="sum", **named):
        with self.assertRaisesRegex(kind, pattern) as caught:
            Compiled.get(text)[entry](*args, **named)
        return caught.exception

    def test_types(self):
        self.refused(
            TypeError,
            r'sum: xs has elements of float64.*n\.f32.*xs\.astype\("float32"\)',
            np.arange(4.0),
        )
        self.refused(TypeError, "int64", np.arange(4))
        self.refused(TypeError, r"another order.*newbyteorder", ones(4, ">f4"))
        self.refused(TypeError, "complex64", ones(4, "c8"))
        self.refused(TypeError, "list.*numpy.asarray", [1.0, 2.0])
        self.refused(TypeError, "str", "abc")
        self.refused(TypeError, "masked", np.ma.masked_array(ones(3), [0, 1, 0]))

    def test_layout(self):
        self.refused(ValueError, "not dense.*ascontiguousarray", ones((4, 2))[:, 0])
        self.refused(ValueError, "not dense", ones(8)[::-1])
        self.refused(
            ValueError, "not dense", np.asfortranarray(ones((2, 3))), text=ROWS, entry="rows"
        )
        self.refused(ValueError, "not dense", np.broadcast_to(np.float32(1), (4,)))

    def test_shapes(self):
        self.refused(ValueError, r"1 axes.*2 are given.*\(2, 2\)", ones((2, 2)))
        self.refused(ValueError, "n", ones(3), ones(4), text=DOT, entry="dot")

    def test_arguments(self):
        self.refused(TypeError, "xs is missing")
        self.refused(TypeError, "takes 1 inputs, and 2", ones(2), ones(2))
        self.refused(TypeError, "given twice", ones(2), xs=ones(2))
        self.refused(TypeError, "no input or size 'ys'", ones(2), ys=ones(2))
        self.refused(TypeError, "tuple of 2 arrays, and 1", 1.0, ones(2), text=PAIR, entry="pair")
        self.refused(TypeError, "size n is float", ones(2), n=2.0)
        self.refused(risec.ArgumentError, "n", ones(2), n=3)

    def test_scalars(self):
        text = "entry f {n: nat} (k: i8) (xs: n.i8): n.i8 = xs |> map(fun x => x + k)\n"
        xs = np.ones(2, "i1")
        self.refused(ValueError, "k is 128, which i8 cannot hold", 128, xs, text=text, entry="f")
        self.refused(TypeError, "k is a float.*int", 1.0, xs, text=text, entry="f")
        self.refused(TypeError, "k is a bool", True, xs, text=text, entry="f")
        self.refused(TypeError, "k has elements of int64", np.int64(1), xs, text=text, entry="f")
        self.refused(TypeError, "str", "1", xs, text=text, entry="f")
        self.refused(
            ValueError,
            "16777217, which f32 does not hold",
            2**24 + 1,
            (ones(1), ones(1, "i4")),
            text=PAIR,
            entry="pair",
        )

    def test_out(self):
        text = "entry f {n: nat} (xs: n.f32): n.f32 = xs |> map(fun x => x + 1)\n"
        for out, kind, why in (
            (np.zeros(3, "f8"), TypeError, "float64"),
            (np.zeros(4, "f4"), ValueError, r"\(4,\)"),
            (np.zeros((3, 2), "f4")[:, 0], ValueError, "dense"),
            ([0, 0, 0], TypeError, "3 arrays"),
            ([[0, 0, 0]], TypeError, "list"),
            ((np.zeros(3, "f4"),) * 2, TypeError, "2 arrays"),
        ):
            self.refused(kind, why, ones(3), out=out, text=text, entry="f")
        fixed = np.zeros(3, "f4")
        fixed.flags.writeable = False
        self.refused(ValueError, "may not be written", ones(3), out=fixed, text=text, entry="f")

    def test_stream(self):
        self.refused(ValueError, "stream", ones(3), stream=1)

    def test_facts(self):
        text = "entry f {n: nat} (xs: n.f32): n.f32 where n % 4 == 0 = xs |> map(fun x => x)\n"
        self.refused(risec.ArgumentError, "n % 4 == 0", ones(3), text=text, entry="f")

    def test_index(self):
        text = "entry f {n m: nat} (is: m.idx[n]) (xs: n.f32): m.f32 = gather(is, xs)\n"
        self.refused(risec.ArgumentError, "is", np.array([0, 9]), ones(3), text=text, entry="f")
        np.testing.assert_array_equal(
            Compiled.get(text).f(np.array([2, 0]), np.arange(3, dtype="f4")), [2, 0]
        )


ROWS = "entry rows {n m: nat} (xs: n.m.f32): n.f32 = xs |> map(reduce((+), 0))\n"
DOT = """entry dot {n: nat} (xs ys: n.f32): f32 =
  zip(xs, ys) |> map(fun (x, y) => x * y) |> reduce((+), 0)
"""


class Programs(unittest.TestCase):
    def test_diagnostics(self):
        with self.assertRaises(risec.ProgramError) as caught:
            risec.compile(
                "entry f {n: nat} (xs: n.f32): f32 =\n  xs |> reduc((+), 0)\n",
                name="mine.rise",
                device="sim",
            )
        error = caught.exception
        self.assertEqual(
            (error.code, error.file, error.line, error.column), ("E0201", "mine.rise", 2, 9)
        )
        self.assertIn("reduce", error.help)
        self.assertIn("mine.rise:2:9: error[E0201]", str(error))
        self.assertFalse(error.diagnostics[0].is_warning)

    def test_diagnostics_of_types(self):
        with self.assertRaises(risec.ProgramError) as caught:
            risec.compile(
                "entry f {n: nat} (xs: n.f32): n.i32 = xs |> map(fun x => x)\n", device="sim"
            )
        self.assertEqual(caught.exception.line, 1)

    def test_only_wanted_entries(self):
        text = SUM + "entry bad {n: nat} (xs: n.f32): n.i32 = xs |> map(fun x => x)\n"
        program = risec.compile(text, device="sim", entries=["sum"])
        self.assertEqual(program.sum(ones(3)), 3)
        with self.assertRaises(risec.ProgramError):
            program.bad.signature

    def test_mapping(self):
        program = Compiled.get(SUM + DOT)
        self.assertEqual(list(program), ["sum", "dot"])
        self.assertEqual(len(program), 2)
        self.assertIs(program["dot"], program.dot)
        self.assertIn("sum", dir(program))
        with self.assertRaisesRegex(KeyError, "sum, dot"):
            program["max"]
        with self.assertRaisesRegex(AttributeError, "sum, dot"):
            program.max

    def test_text_is_no_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.rise")
            with open(path, "w", encoding="utf-8") as file:
                file.write(SUM)
            with self.assertRaisesRegex(ValueError, "risec.load"):
                risec.compile(path, device="sim")
            self.assertEqual(risec.load(path, device="sim").sum(ones(4)), 4)
            with self.assertRaises(risec.ProgramError):
                risec.compile('import "a.rise"\n' + SUM, device="sim")
        with self.assertRaises(risec.FileError):
            risec.load(path, device="sim")
        with self.assertRaisesRegex(TypeError, "str"):
            risec.compile(b"", device="sim")

    def test_devices(self):
        with self.assertRaisesRegex(ValueError, "'cuda'.*'gpu'"):
            risec.compile(SUM, device="cuda")
        self.assertEqual(risec.device("sim").kind, "sim")
        self.assertIn("imulator", risec.device("sim").name)

    def test_pickle(self):
        again = pickle.loads(pickle.dumps(Compiled.get(SUM)))
        self.assertEqual(again.sum(ones(6)), 6)

    def test_options(self):
        text = (
            "entry f {n: nat} (per: nat = 2 in [2, 4]) (xs: n.f32): n.f32 where n % 4 == 0 =\n"
            "  xs |> split(per) |> mapGlobal(mapSeq(id)) |> join\n"
        )
        entry = risec.compile(text, device="sim").f
        self.assertEqual(entry.signature.tunables, {"per": 2})
        self.assertEqual(entry.with_options(settings={"per": 4}).signature.tunables, {"per": 4})
        with self.assertRaises(risec.Error):
            entry.with_options(settings={"per": 3})
        fixed = entry.with_options(settings={"n": 8}, specialize=True)
        np.testing.assert_array_equal(fixed(ones(8)), ones(8))

    def test_texts(self):
        entry = Compiled.get(SUM).sum
        self.assertIn("__global__", entry.cuda)
        self.assertEqual(entry.manifest["entries"][0]["name"], "sum")
        self.assertTrue(entry.kernels[0].name.startswith("sum"))
        entry.prepare({"n": 1}, {"n": 100})
        with self.assertRaisesRegex(TypeError, "no size 'm'"):
            entry.prepare({"m": 1})

    def test_statuses(self):
        """No program that the compiler accepts has a race; what librise says of one becomes this.
        """
        error = risec._errors.make(8, "a race", 0, ())
        self.assertIsInstance(error, risec.FaultError)
        self.assertIsInstance(risec._errors.make(5, "", 2, ()), MemoryError)
        self.assertIsInstance(risec._errors.make(999, "", 0, ()), risec.BugError)

    def test_reports(self):
        entry = Compiled.get(SUM).sum
        plan = entry.plan(n=1000)
        self.assertEqual(plan.kernels, 1)
        self.assertEqual(plan.stored, ())
        self.assertIn("plan of sum", str(plan))
        self.assertIn("<pre>plan of sum", plan._repr_html_())
        self.assertGreater(len(entry.trace().steps), 0)
        profile = entry.profile(ones(100))
        self.assertGreater(profile.totals["instructions"], 100)
        two = Compiled.get(PAIR).pair.profile(2.0, (ones(8), ones(8, "i4")))
        self.assertIn("pair", str(two))
        with self.assertRaisesRegex(risec.ProgramError, "size"):
            entry.plan(m=1)


class Threads(unittest.TestCase):
    def test_eight(self):
        entry, wrong = Compiled.get(SUM, "ref").sum, []

        def work(seed):
            rng = np.random.default_rng(seed)
            for _ in range(25):
                xs = rng.integers(0, 9, int(rng.integers(0, 200))).astype("f4")
                if entry(xs) != xs.sum():
                    wrong.append(seed)

        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(wrong, [])

    def test_lock_is_free(self):
        """Another thread goes on while a launch runs."""
        entry = Compiled.get(FOREVER, "ref").forever
        steps = []

        def count():
            while len(steps) < 50:
                steps.append(1)
                time.sleep(0.001)
            os.kill(os.getpid(), signal.SIGUSR1)

        counter = threading.Thread(target=count)
        old = signal.signal(signal.SIGUSR1, stop)
        try:
            counter.start()
            with self.assertRaises(Stop):
                entry(ones(1))
        finally:
            counter.join()
            signal.signal(signal.SIGUSR1, old)
        self.assertEqual(len(steps), 50)


class Stop(Exception):
    pass


def stop(_number, _frame):
    raise Stop


class Signals(unittest.TestCase):
    def setUp(self):
        """Whoever starts the tests in the background may have made them ignore it."""
        self.addCleanup(signal.signal, signal.SIGINT, signal.getsignal(signal.SIGINT))
        signal.signal(signal.SIGINT, signal.default_int_handler)

    def interrupted(self, device):
        entry = Compiled.get(FOREVER, device).forever
        threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
        with self.assertRaises(KeyboardInterrupt):
            entry(ones(1))
        self.assertIs(signal.getsignal(signal.SIGINT), signal.default_int_handler)

    def test_keyboard(self):
        for device in ("sim", "ref"):
            with self.subTest(device):
                self.interrupted(device)

    def test_goes_on_afterwards(self):
        self.interrupted("ref")
        self.assertEqual(Compiled.get(SUM, "ref").sum(ones(3)), 3)


CHILD = """
import os, sys, numpy, risec
text = "entry sum {n: nat} (xs: n.f32): f32 = xs |> reduce((+), 0)"
mine = risec.compile(text, device="ref")
assert mine.sum(numpy.ones(3, "f4")) == 3
child = os.fork()
if child == 0:
    again = risec.compile(text, device="ref")
    os._exit(0 if again.sum(numpy.ones(5, "f4")) == 5 else 1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


class Processes(unittest.TestCase):
    def run_python(self, text, **env):
        return subprocess.run(
            [sys.executable, "-W", "error::DeprecationWarning", "-c", text],
            capture_output=True,
            text=True,
            timeout=60,
            env={**os.environ, **env},
        )

    def test_fork(self):
        done = self.run_python(CHILD)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_end_of_process(self):
        done = self.run_python(
            "import numpy, risec\np = risec.compile(" + repr(SUM) + ', device="sim")\n'
            "p.sum(numpy.ones(3, 'f4'))\nkeep = p.sum\n"
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_without_a_gpu(self):
        with tempfile.TemporaryDirectory() as nothing:
            done = self.run_python(
                "import numpy, risec\nprint(risec.compile("
                + repr(SUM)
                + ").sum(numpy.ones(3, 'f4')))",
                CUDA_VISIBLE_DEVICES="",
                TMPDIR=nothing,
            )
        self.assertEqual(done.stdout, "3.0\n", done.stderr)
        self.assertEqual(done.stderr.count("RisecWarning"), 1, done.stderr)
        self.assertIn("simulator", done.stderr)


class Warned(unittest.TestCase):
    def test_slow_program(self):
        text = (
            "entry f {n m: nat} (xs: n.m.f32): n.f32 =\n"
            "  xs |> map(reduceSeq(fun a x => a * 0.5 + x, 0))\n"
        )
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            risec.compile(text, device="sim")
        self.assertTrue(all(issubclass(w.category, risec.RisecWarning) for w in said))


if __name__ == "__main__":
    unittest.main()
