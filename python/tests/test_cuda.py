"""Arrays in the memory of a GPU, on a stand-in for the driver (stand_in.py): protocols, streams,
graphs, lifetimes.
"""
import ctypes as c
import gc
import threading
import unittest
import weakref

import numpy as np

import risec
from risec import _cuda, _dlpack, _types
from stand_in import Driver

DRIVER = Driver()
TWICE = "entry twice {n: nat} (xs: n.f32): n.f32 = xs |> map(fun x => 2 * x)\n"
PLUS = """entry plus {n: nat} (k: f32) (xs ys: n.f32): n.f32 =
  zip(xs, ys) |> map(fun (x, y) => k * x + y)
"""
SUM = "entry sum {n: nat} (xs: n.f32): f32 = xs |> reduce((+), 0)\n"


class Memory:
    """Device memory with values, that knows when it goes."""

    def __init__(self, values):
        values = np.asarray(values, "f4")
        self.address = DRIVER.lib.stand_in_memory(max(1, values.nbytes))
        self.shape, self.nbytes = values.shape, values.nbytes
        c.memmove(self.address, values.ctypes.data, values.nbytes)

    def values(self):
        return np.frombuffer(c.string_at(self.address, self.nbytes), "f4").reshape(self.shape)


class ByInterface(Memory):
    """`__cuda_array_interface__` of version 3."""

    def __init__(self, values, stream=None, readonly=False, **other):
        super().__init__(values)
        self.__cuda_array_interface__ = {
            "version": 3,
            "shape": self.shape,
            "typestr": "<f4",
            "strides": None,
            "data": (self.address, readonly),
            "stream": stream,
            **other,
        }


class ByDLPack(Memory):
    def __init__(self, values, ordinal=0):
        super().__init__(values)
        self.streams, self.ordinal = [], ordinal

    def __dlpack_device__(self):
        return _dlpack.CUDA, self.ordinal

    def __dlpack__(self, *, stream=None, **_):
        self.streams.append(stream)
        return _dlpack.export(
            self, self.address, self.shape, _types.BY_COMMON["float32"], _dlpack.CUDA, self.ordinal
        )


class Stream:
    def __init__(self, handle):
        self.handle = handle

    def __cuda_stream__(self):
        return 0, self.handle


class Gpu(unittest.TestCase):
    def setUp(self):
        self.launches = []
        DRIVER.log()

        def kernel(name, params, stream):
            """Each kernel of `twice` doubles its first eight elements: what it does is not tested
            here.
            """
            self.launches.append((name, stream))

        DRIVER.kernels(kernel)
        self.program = risec.compile(TWICE + PLUS + SUM, device="gpu")

    def tearDown(self):
        self.assertEqual(DRIVER.misuse, 0)

    def address_of(self, x):
        if isinstance(x, risec.DeviceArray):
            return x.__cuda_array_interface__["data"][0]
        return x.address

    # ---- arrays ---------------------------------------------------------------------------------

    def test_interface_in_and_out(self):
        seen = []
        DRIVER.kernels(
            lambda name, params, stream: seen.append(
                [c.cast(params[k], c.POINTER(c.c_void_p)).contents.value for k in range(2)]
            )
        )
        xs = ByInterface(np.arange(8))
        ys = self.program.twice(xs)
        self.assertIsInstance(ys, risec.DeviceArray)
        self.assertEqual((ys.shape, ys.dtype, ys.nbytes), ((8,), "float32", 32))
        self.assertEqual(seen, [[self.address_of(ys), xs.address]])
        self.assertEqual(ys.__cuda_array_interface__["typestr"], "<f4")
        self.assertEqual(self.program.twice(ys).shape, (8,))  # a result is an input

    def test_dlpack_in_and_out(self):
        xs = ByDLPack(np.arange(8))
        ys = self.program.twice(xs, stream=Stream(0x70))
        self.assertEqual(xs.streams, [0x70])  # the producer makes our stream wait
        DRIVER.log()
        taken = _dlpack.Import(ys.__dlpack__(stream=0x90))
        self.assertEqual(DRIVER.log(), ["event on 0x70", "wait on 0x90"])
        self.assertEqual(
            (taken.shape, taken.address, taken.device), ((8,), self.address_of(ys), _dlpack.CUDA)
        )
        self.assertEqual(ys.__dlpack_device__(), (_dlpack.CUDA, 0))

    def test_exports_live_as_long_as_they_are_used(self):
        ys = self.program.twice(ByInterface(np.arange(8)))
        capsule = ys.__dlpack__()
        gone = weakref.ref(ys)
        del ys
        gc.collect()
        taken = _dlpack.Import(capsule)
        del capsule
        self.assertIsNotNone(gone())
        del taken
        self.program.twice(ByInterface(np.arange(8)))  # lets go of what finished launches have used
        gc.collect()
        self.assertIsNone(gone())
        unused = self.program.twice(ByInterface(np.arange(8))).__dlpack__()  # nobody takes it
        del unused
        gc.collect()
        self.assertEqual(_dlpack._exported, {})

    def test_inputs_live_until_the_launch_has_run(self):
        xs = ByInterface(np.arange(9))
        gone = weakref.ref(xs)
        running = [True]
        done, risec._call.Call.done = risec._call.Call.done, lambda call: not running[0]
        try:
            ys = self.program.twice(xs)
            del xs
            gc.collect()
            self.assertIsNotNone(gone())
            running[0] = False
            self.program.twice(ByInterface(np.arange(9)))
            gc.collect()
            self.assertIsNone(gone())
        finally:
            risec._call.Call.done = done
        del ys

    def test_out(self):
        xs, out = ByInterface(np.arange(8)), ByInterface(np.zeros(8))
        self.assertIs(self.program.twice(xs, out=out), out)
        with self.assertRaisesRegex(ValueError, "may not be written"):
            self.program.twice(xs, out=ByInterface(np.zeros(8), readonly=True))
        with self.assertRaisesRegex(ValueError, r"shape \(7,\)"):
            self.program.twice(xs, out=ByInterface(np.zeros(7)))

    def test_in_place(self):
        xs = ByInterface(np.arange(8))
        for _ in range(2):
            self.assertIs(self.program.twice(xs, out=xs), xs)
        self.assertEqual([name for name, _ in self.launches], ["twice", "twice"])
        with self.assertRaisesRegex(ValueError, "may not be written"):
            ys = ByInterface(np.arange(8), readonly=True)
            self.program.twice(ys, out=ys)

    def test_host_arrays_are_copied(self):
        DRIVER.log()
        ys = self.program.twice(np.arange(8, dtype="f4"))
        self.assertIsInstance(ys, np.ndarray)
        said = [line for line in DRIVER.log() if not line.startswith(("event", "wait"))]
        self.assertEqual(
            [line.split()[0] for line in said if "clear" not in line], ["copy", "twice", "copy"]
        )

    def test_scalars_are_of_the_host(self):
        xs = ByInterface(np.arange(8))
        self.program.plus(2.0, xs, xs)
        with self.assertRaisesRegex(TypeError, r"k\.item\(\)"):
            self.program.plus(ByInterface(np.float32(2)), xs, xs)

    # ---- refusals -------------------------------------------------------------------------------

    def test_refused(self):
        xs = ByInterface(np.arange(8))
        for other, kind, why in (
            (ByInterface(np.arange(8), typestr="<f8"), TypeError, "float64"),
            (ByInterface(np.arange(8), typestr=">f4"), TypeError, ">f4"),
            (ByInterface(np.arange(8), strides=(8,)), ValueError, "not dense"),
            (ByInterface(np.arange(8), mask=1), TypeError, "masked"),
            (ByInterface(np.arange(8), stream=0), ValueError, "stream 0"),
            (ByDLPack(np.arange(8), ordinal=1), ValueError, "GPU 0 and ys in that of GPU 1"),
            (np.arange(8, dtype="f4"), ValueError, "GPU 0 and ys in that of the host"),
        ):
            with self.subTest(why), self.assertRaisesRegex(kind, why):
                self.program.plus(1.0, xs, other)
        with self.assertRaisesRegex(ValueError, 'device="gpu"'):
            risec.compile(TWICE, device="sim").twice(xs)
        with self.assertRaisesRegex(TypeError, "no CUDA stream"):
            self.program.twice(xs, stream="main")

    # ---- streams --------------------------------------------------------------------------------

    def test_streams(self):
        for given, handle in (
            (None, _cuda.LEGACY),
            (0, _cuda.LEGACY),
            (0x40, 0x40),
            (Stream(0x50), 0x50),
        ):
            self.launches.clear()
            ys = self.program.twice(ByInterface(np.arange(8)), stream=given)
            self.assertEqual([s for _, s in self.launches], [handle])
            self.assertEqual(ys.__cuda_array_interface__["stream"], handle)

    def test_the_producers_stream_is_taken(self):
        self.program.twice(ByInterface(np.arange(8), stream=0x60))
        self.assertEqual(self.launches[-1][1], 0x60)
        self.assertNotIn("wait on 0x60", DRIVER.log())

    def test_other_producers_are_waited_for(self):
        self.program.plus(
            1.0, ByInterface(np.arange(8), stream=0x60), ByInterface(np.arange(8), stream=0x61)
        )
        log = DRIVER.log()
        self.assertEqual(self.launches[-1][1], 0x60)
        self.assertLess(log.index("event on 0x61"), log.index("wait on 0x60"))
        self.assertLess(
            log.index("wait on 0x60"),
            [k for k, line in enumerate(log) if line.startswith("plus")][-1],
        )

    # ---- graphs ---------------------------------------------------------------------------------

    def test_recording(self):
        xs, out = ByInterface(np.arange(3000)), ByInterface(np.float32(0))
        with self.assertRaisesRegex(risec.ArgumentError, "before the recording"):
            self.recorded(lambda: self.program.sum(xs, out=out, stream=0x44))
        self.program.sum(xs, out=out)
        before = len(self.launches)

        def twice():
            self.program.sum(xs, out=out, stream=0x44)
            self.program.sum(xs, out=out, stream=0x44)

        self.recorded(twice)
        self.assertEqual(len(self.launches), before)  # nothing has run
        DRIVER.lib.stand_in_replay()
        self.assertEqual(len(self.launches), before + 2)
        kept = self.program.sum._recorded
        self.assertEqual(
            sum(len(calls) for calls in kept.values()), 1
        )  # one call for both, which nobody else gets
        self.program.sum(xs, out=out)
        self.assertEqual(sum(len(calls) for calls in kept.values()), 1)

    def recorded(self, work):
        DRIVER.lib.stand_in_record(0x44)
        try:
            work()
        finally:
            DRIVER.lib.stand_in_record_end()

    # ---- threads --------------------------------------------------------------------------------

    def test_threads(self):
        wrong = []

        def work(k):
            for n in range(1, 30):
                ys = self.program.twice(ByInterface(np.arange(n)), stream=0x100 + 16 * k)
                if ys.shape != (n,):
                    wrong.append((k, n))

        threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(wrong, [])

    def test_auto_is_the_gpu(self):
        self.assertEqual(risec.device().kind, "gpu")
        self.assertIn("Fake GPU", repr(risec.device()))


if __name__ == "__main__":
    unittest.main()
