"""A CUDA driver and an NVRTC of the tests' own, so that the way to a GPU runs where there is none.

The driver is that of tests/unit, behind the names of libcuda.so.1: memory of the device is memory
of the host, what is put on a stream runs at once, and kernels are functions of the test. `build` makes
both libraries in a folder; a process that has it in LD_LIBRARY_PATH finds them.
"""
import ctypes as c
import os
import re
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HERE = os.path.dirname(os.path.abspath(__file__))

OWN = ("cuEventRecord", "cuStreamWaitEvent")  # stand_in.c logs them


def build(folder, generated):
    """`generated`: where the build tree keeps what it generates."""
    with open(f"{ROOT}/runtime/cuda_api.def", encoding="utf-8") as file:
        names = re.findall(r'CUDA_FN\((\w+), "(\w+)"', file.read())
    flags = [
        "-shared",
        "-fPIC",
        "-O1",
        "-g",
        "-std=c11",
        "-D_POSIX_C_SOURCE=200809L",
        f"-I{ROOT}",
        f"-I{ROOT}/src",
        f"-I{ROOT}/tests/unit",
        f"-I{generated}",
        f"-I{ROOT}/runtime/include",
    ]
    compiler = os.environ.get("CC", "cc")
    aliases = [f"-Wl,--defsym,{symbol}=fake_{name}" for name, symbol in names if symbol not in OWN]
    subprocess.run(
        [
            compiler,
            *flags,
            f"{HERE}/stand_in.c",
            f"{ROOT}/tests/unit/fake_gpu.c",
            f"{ROOT}/tests/unit/fake_streams.c",
            *aliases,
            "-lpthread",
            "-o",
            f"{folder}/libcuda.so.1",
        ],
        check=True,
    )
    subprocess.run(
        [compiler, *flags, f"{HERE}/stand_in_nvrtc.c", "-o", f"{folder}/libnvrtc.so.13"], check=True
    )


class Driver:
    """The stand-in, in a process that has found it."""

    KERNEL = c.CFUNCTYPE(None, c.c_char_p, c.POINTER(c.c_void_p), c.c_void_p)

    def __init__(self):
        lib = self.lib = c.CDLL("libcuda.so.1")
        lib.stand_in_log.restype = c.c_char_p
        lib.stand_in_memory.restype = c.c_void_p
        lib.stand_in_memory.argtypes = [c.c_size_t]
        lib.stand_in_record.argtypes = [c.c_void_p]
        lib.stand_in_start()

    def kernels(self, function):
        """`function(name, params, stream)` is what a launch does."""
        self._kept = self.KERNEL(
            lambda name, params, stream: function(name.decode(), params, stream)
        )
        self.lib.stand_in_kernels(self._kept)

    def log(self):
        """What was put on streams, and which waited for which, since the last time."""
        return self.lib.stand_in_log().decode().splitlines()

    @property
    def misuse(self):
        return self.lib.stand_in_misuse()
