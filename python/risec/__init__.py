"""risec: fast GPU reductions and other data-parallel programs in RISE, from Python.

    import numpy, risec
    program = risec.compile("entry sum {n: nat} (xs: n.f32): f32 = xs |> reduce((+), 0)")
    program.sum(numpy.arange(10, dtype="float32"))      # 45.0

`compile` takes a text, `load` a file. Entries are called with arrays of numpy, torch, CuPy, or
anything that has `__cuda_array_interface__` or DLPack. Without a GPU they run on a simulator, which
finds races and accesses out of bounds.
"""
from __future__ import annotations

from ._arrays import DeviceArray
from ._devices import Context as Device
from ._entry import Entry, Kernel, Shapes
from ._errors import (
    ArgumentError,
    BugError,
    CancelledError,
    DeviceError,
    DeviceMemoryError,
    Diagnostic,
    Error,
    FaultError,
    FileError,
    HostMemoryError,
    LimitError,
    LostError,
    NvrtcError,
    ProgramError,
    RisecWarning,
)
from ._program import Program, compile, load, version
from ._reports import Plan, Profile, Trace
from ._version import VERSION as __version__


def device(kind: str = "auto") -> Device:
    """The device that programs with `device=kind` run on."""
    from . import _devices

    return _devices.context(_devices.resolve(kind))


__all__ = [
    "ArgumentError",
    "BugError",
    "CancelledError",
    "Device",
    "DeviceArray",
    "DeviceError",
    "DeviceMemoryError",
    "Diagnostic",
    "Entry",
    "Error",
    "FaultError",
    "FileError",
    "HostMemoryError",
    "Kernel",
    "LimitError",
    "LostError",
    "NvrtcError",
    "Plan",
    "Profile",
    "Program",
    "ProgramError",
    "RisecWarning",
    "Shapes",
    "Trace",
    "__version__",
    "compile",
    "device",
    "load",
    "version",
]
