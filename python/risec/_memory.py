"""Memory of a GPU for calls: torch's where torch is in use, so that its pool knows of it; else the
driver's.
"""
from __future__ import annotations

import sys
from typing import Any, Dict, Tuple

from . import _cuda, _ffi

_torchs: Dict[Tuple[int, int], bool] = {}  # (GPU, address): memory that torch has given


def _torch() -> Any:
    torch = sys.modules.get("torch")
    return torch.cuda if torch is not None and torch.cuda.is_initialized() else None


def allocator(ordinal: int) -> _ffi.DeviceAllocator:
    """For rise_context_options. What it gives, it takes back as it gave it."""

    @_ffi.ALLOC_FN
    def alloc(_user: Any, size: int, stream: Any) -> Any:
        try:
            cuda = _torch()
            if cuda is None:
                return _cuda.allocate(size)
            address = cuda.caching_allocator_alloc(size, ordinal, stream or 0)
            _torchs[ordinal, address] = True
            return address
        except Exception:  # librise says that there is no memory
            return None

    @_ffi.FREE_FN
    def free(_user: Any, memory: Any, _size: int, _stream: Any) -> None:
        try:
            if _torchs.pop((ordinal, memory), False):
                sys.modules["torch"].cuda.caching_allocator_delete(memory)
            else:
                _cuda.release(memory)
        except Exception:  # at the end of a process: the driver takes it
            pass

    return _ffi.DeviceAllocator(None, alloc, free)
