"""Contexts of librise: one for each device, made when it is first needed, for the whole process."""
from __future__ import annotations

import ctypes as c
import os
import threading
import warnings
from typing import Any, Dict, List, Optional, Tuple

from . import _cuda, _errors, _ffi, _memory
from ._interrupt import Interruptible, poll

KINDS = {"auto": _ffi.AUTO, "gpu": _ffi.GPU, "sim": _ffi.SIM, "ref": _ffi.REF}


class _Local(threading.local):
    """What a thread needs to call librise: an error to fill, and the diagnostics of this call."""

    def __init__(self) -> None:
        self.error = _ffi.Error()
        self.error_at = c.byref(self.error)
        self.diagnostics: List[_errors.Diagnostic] = []


local = _Local()


@_ffi.DIAGNOSTIC_FN
def _hear(_user: Any, said: Any) -> None:
    d = said.contents
    local.diagnostics.append(
        _errors.Diagnostic(
            _ffi.text(d.code),
            _ffi.text(d.file),
            d.line,
            d.column,
            d.begin,
            d.end,
            _ffi.text(d.message),
            d.help and _ffi.text(d.help),
            bool(d.is_warning),
        )
    )


def call(function: Any, *args: Any) -> None:
    """Calls a function of librise, whose last parameter is the error, that does not take long."""
    if function(*args, local.error_at):
        _ffi.raise_for(local.error, local.diagnostics)


def work(function: Any, *args: Any) -> None:
    """The same for what may take long: signals end it, and warnings about the program become
    Python's.
    """
    local.diagnostics = []
    try:
        with Interruptible():
            call(function, *args)
    finally:
        said, local.diagnostics = local.diagnostics, []
    for diagnostic in said:
        if diagnostic.is_warning:
            warnings.warn(str(diagnostic), _errors.RisecWarning, stacklevel=4)


class Context:
    """A device. `kind` is "gpu", "sim" or "ref", `ordinal` the number of the GPU."""

    def __init__(self, kind: str, ordinal: Optional[int] = None) -> None:
        cuda_context = _cuda.primary_context(ordinal) if ordinal is not None else None
        self._allocator = _memory.allocator(ordinal) if ordinal is not None else None
        options = _ffi.sized(
            _ffi.ContextOptions,
            device=KINDS[kind],
            ordinal=ordinal or 0,
            cuda_context=cuda_context,
            diagnostic=_hear,
            poll=poll,
        )
        if self._allocator is not None:
            options.device_allocator = c.pointer(self._allocator)
        self.handle = c.c_void_p()
        self.kind, self.ordinal = kind, ordinal
        work(_ffi.lib.rise_context_new, c.byref(options), c.byref(self.handle))

    @property
    def name(self) -> str:
        """ "NVIDIA H200, sm_90, driver 13.0", "SIMT simulator"."""
        return _ffi.text(_ffi.lib.rise_context_device_name(self.handle))

    @property
    def arch(self) -> str:
        """ "sm_90"; "" where there is no GPU."""
        return _ffi.text(_ffi.lib.rise_context_arch(self.handle))

    def __repr__(self) -> str:
        return f"<risec device: {self.name}>"


_lock = threading.RLock()
_contexts: Dict[Tuple[str, Optional[int]], Context] = {}
_auto: Optional[str] = None


def _forget() -> None:
    """In a child of fork: contexts are the parent's."""
    global _lock, _auto
    _lock, _auto = threading.RLock(), None
    _contexts.clear()


os.register_at_fork(after_in_child=_forget)


def context(kind: str, ordinal: Optional[int] = None) -> Context:
    """The context of a device; "gpu" without a number is GPU 0."""
    if kind == "gpu" and ordinal is None:
        ordinal = 0
    with _lock:
        made = _contexts.get((kind, ordinal))
        if made is None:
            made = _contexts[kind, ordinal] = Context(kind, ordinal)
        return made


def resolve(kind: str) -> str:
    """What "auto" means: "gpu" where there is one that works, else "sim", which is said once."""
    global _auto
    if kind not in KINDS:
        raise ValueError(f"device: {kind!r} is none; devices are {', '.join(map(repr, KINDS))}")
    if kind != "auto":
        return kind
    with _lock:
        if _auto is None:
            try:
                context("gpu")
                _auto = "gpu"
            except _errors.DeviceError as error:
                _auto = "sim"
                warnings.warn(
                    f"there is no GPU to use ({error}), so programs run on the simulator, "
                    "which is slow; "
                    'device="sim" says that this is wanted',
                    _errors.RisecWarning,
                    stacklevel=4,
                )
        return _auto
