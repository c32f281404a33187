"""One set of arguments of an entry on a device: what a launch needs, kept for the next launch of
the same shapes.
"""
from __future__ import annotations

import ctypes as c
import math
import time
from typing import Any, Dict, List, Optional, Sequence, Tuple

from . import _devices, _ffi
from ._arguments import Argument

_lib = _ffi.lib


def _extents(shape: Sequence[int]) -> Any:
    return (c.c_int64 * len(shape))(*shape) if shape else None


class Call:
    """A rise_call whose shapes and sizes do not change; one thread at a time uses it."""

    def __init__(
        self,
        entry: c.c_void_p,
        inputs: Sequence[Argument],
        results: Sequence[Argument],
        shapes: Sequence[Optional[Tuple[int, ...]]],
        sizes: Dict[str, int],
    ) -> None:
        self.handle = c.c_void_p()
        _devices.call(_lib.rise_call_new, entry, c.byref(self.handle))
        self.extents = [None if shape is None else _extents(shape) for shape in shapes]
        self.scalars: List[Any] = [c.create_string_buffer(8) for _ in inputs]
        self.kept: List[Any] = []  # what launches that may still run read and write
        self.stream: Optional[int] = None  # of the last launch
        self.launched = False
        self.places: Dict[
            bytes, int
        ] = {}  # addresses that librise has: to tell it again costs time
        for name, value in sizes.items():
            _devices.call(_lib.rise_call_size, self.handle, name.encode(), value)
        for k, (a, shape) in enumerate(zip(inputs, shapes)):
            if shape is not None:
                _devices.call(
                    _lib.rise_call_input,
                    self.handle,
                    a.key,
                    a.type.code,
                    a.rank,
                    self.extents[k],
                    None,
                    _ffi.HOST,
                )
        _devices.call(_lib.rise_call_infer, self.handle)
        self.shapes = [self._shape(a) for a in results]
        self.bytes = [a.type.bytes * math.prod(shape) for a, shape in zip(results, self.shapes)]
        self.sizes = sizes

    def _shape(self, a: Argument) -> Tuple[int, ...]:
        rank, extents = c.c_int(), (c.c_int64 * max(1, a.rank))()
        _devices.call(_lib.rise_call_shape, self.handle, a.key, a.rank, c.byref(rank), extents)
        return tuple(extents[: a.rank])

    def size(self, name: str) -> int:
        value = c.c_int64()
        _devices.call(_lib.rise_call_size_value, self.handle, name.encode(), c.byref(value))
        return value.value

    def __del__(self) -> None:
        if getattr(self, "handle", None):
            _lib.rise_call_free(self.handle)

    # ---- a launch -------------------------------------------------------------------------------

    def set_input(self, k: int, a: Argument, address: int, where: int) -> None:
        if self.places.get(a.key) != address:
            _devices.call(
                _lib.rise_call_input,
                self.handle,
                a.key,
                a.type.code,
                a.rank,
                self.extents[k],
                address,
                where,
            )
            self.places[a.key] = address

    def set_scalar(self, k: int, a: Argument, value: bytes) -> None:
        buffer = self.scalars[k]
        buffer.raw = value.ljust(8, b"\0")
        _devices.call(_lib.rise_call_scalar, self.handle, a.key, a.type.code, buffer)

    def set_output(self, a: Argument, address: int, size: int, where: int) -> None:
        if self.places.get(a.key) != address:
            _devices.call(
                _lib.rise_call_output, self.handle, a.key, a.type.code, address, size, where
            )
            self.places[a.key] = address

    def launch(self, stream: Optional[int], quick: bool) -> None:
        """`quick`: nothing has to be compiled, and nothing runs here."""
        (_devices.call if quick and self.launched else _devices.work)(
            _lib.rise_call_launch, self.handle, stream
        )
        self.launched = True

    def keep(self, stream: Optional[int], *used: Any) -> None:
        """What the launch on this stream uses, until it has finished."""
        self.stream = stream
        self.kept.append(used)

    def done(self) -> bool:
        """Has the last launch finished? Nothing waits."""
        done = c.c_int()
        _devices.call(_lib.rise_call_done, self.handle, c.byref(done))
        return bool(done.value)

    def wait(self) -> None:
        """Until the last launch has finished. A signal ends the wait, not the launch."""
        pause = 1e-5
        while not self.done():
            time.sleep(pause)
            pause = min(2 * pause, 0.01)
        _devices.call(_lib.rise_call_wait, self.handle)

    def let_go(self) -> None:
        """Gives up what finished launches have used."""
        if self.kept and self.done():
            self.kept.clear()


class Pool:
    """Calls of an entry that wait for their next launch, by device, shapes and sizes: the last ones
    that were used.
    """

    LIMIT = 64

    def __init__(self) -> None:
        self._idle: Dict[Any, List[Call]] = {}

    def take(self, key: Any, stream: Optional[int]) -> Optional[Call]:
        """One whose last launch was on this stream, or has finished."""
        idle = self._idle.get(key)
        if not idle:
            return None
        for call in reversed(idle):
            if call.stream == stream or call.done():
                try:
                    idle.remove(call)
                except ValueError:  # another thread was faster
                    continue
                return call
        return None

    def put(self, key: Any, call: Call) -> None:
        idle = self._idle.pop(key, [])
        idle.append(call)
        self._idle[key] = idle  # the last one used is the last one given up
        while len(self._idle) > self.LIMIT:
            try:
                self._idle.pop(next(iter(self._idle)), None)
            except (StopIteration, RuntimeError):
                break
