"""The short way of a call: tensors of torch on a GPU, by position, on torch's current stream,
shapes that were there before.

Whatever is out of the ordinary is MISS, and goes the long way of Entry.__call__, which says what is
wrong or does what the short way does not know. Both use the same calls of librise.

Nothing is kept alive here: torch gives memory of a tensor that is gone to work on its stream alone,
behind the launch.
"""
from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, List, Optional, Tuple

from . import _cuda, _devices, _ffi
from ._arguments import scalar_bytes

if TYPE_CHECKING:
    from ._entry import Entry

MISS = object()
_launch = _ffi.lib.rise_call_launch


class Quick:
    """The short way of one entry."""

    def __init__(self, entry: "Entry") -> None:
        torch, s = sys.modules["torch"], entry.signature
        self._entry, self._torch = entry, torch
        self._tensor, self._empty = torch.Tensor, torch.empty
        self._current = getattr(torch._C, "_cuda_getCurrentRawStream", None) or (
            lambda ordinal: torch.cuda.current_stream(ordinal).cuda_stream
        )
        self._plain = all(p.parts == 1 for p in s.parameters)
        self._inputs = [(k, a, getattr(torch, a.type.common, None)) for k, a in enumerate(s.inputs)]
        self._results = [(a, getattr(torch, a.type.common, None)) for a in s.results]
        self._devices: List[Any] = []  # torch.device by number: to make one takes time

    def _device(self, ordinal: int) -> Any:
        while len(self._devices) <= ordinal:
            self._devices.append(self._torch.device("cuda", len(self._devices)))
        return self._devices[ordinal]

    def __call__(self, args: Tuple[Any, ...]) -> Any:
        if len(args) != len(self._inputs) or not self._plain:
            return MISS
        ordinal: Optional[int] = None
        shapes: List[Any] = []
        tensor = self._tensor
        for (_, a, dtype), x in zip(self._inputs, args):
            if not a.rank:
                shapes.append(None)
                continue
            if (
                type(x) is not tensor
                or x.dtype is not dtype
                or not x.is_cuda
                or x.requires_grad
                or not x.is_contiguous()
                or x.is_neg()
            ):
                return MISS
            if ordinal is None:
                ordinal = x.get_device()
            elif ordinal != x.get_device():
                return MISS
            shapes.append(x.shape)
        if ordinal is None:
            return MISS
        stream = self._current(ordinal)
        if not stream:
            stream = _cuda.LEGACY
        elif self._torch.cuda.is_current_stream_capturing():
            return MISS
        entry = self._entry
        key = id(entry._context(ordinal)), tuple(shapes), ()
        call = entry._pool.take(key, stream)
        if call is None:
            return MISS
        if call.kept:
            call.let_go()
        for (k, a, _), x in zip(self._inputs, args):
            if a.rank:
                call.set_input(k, a, x.data_ptr(), _ffi.DEVICE)
            else:
                raw = scalar_bytes(a.name, x, a.type)
                if raw is None:
                    return MISS
                call.set_scalar(k, a, raw)
        device, results = self._device(ordinal), []
        for (a, dtype), shape, size in zip(self._results, call.shapes, call.bytes):
            made = self._empty(shape, dtype=dtype, device=device)
            call.set_output(a, made.data_ptr(), size, _ffi.DEVICE)
            results.append(made)
        call.stream = stream
        if _launch(call.handle, stream, _devices.local.error_at):
            _ffi.raise_for(_devices.local.error)
        entry._pool.put(key, call)
        return results[0] if len(results) == 1 else tuple(results)
