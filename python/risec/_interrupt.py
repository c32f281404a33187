"""Ctrl-C, and every other signal with a handler in Python, ends work inside librise.

A handler runs in the main thread, between two steps of Python. While that thread is inside librise
it takes such steps only in `poll`, and an exception cannot leave a function that C has called. So
handlers are wrapped for the time of the call: what one raises is kept, `poll` tells librise to give
up, and it is raised again when librise has returned.
"""
from __future__ import annotations

import signal
import threading
from types import TracebackType
from typing import Any, Callable, Dict, Optional, Type

from . import _ffi


class _Pending:
    """What handlers have raised during the call. Only the main thread uses it."""

    error: Optional[BaseException] = None


def _wrapped(handler: Callable[..., Any]) -> Callable[..., Any]:
    def wrapper(number: int, frame: Any) -> None:
        try:
            handler(number, frame)
        except BaseException as error:  # whatever it is, it is raised later
            _Pending.error = error

    return wrapper


class Interruptible:
    """A block that calls librise for work that may take long. At its end, what a handler has raised
    is raised.
    """

    def __init__(self) -> None:
        self._replaced: Dict[int, Any] = {}

    def __enter__(self) -> None:
        if threading.current_thread() is not threading.main_thread():
            return
        _Pending.error = None
        for number in signal.valid_signals():
            handler = signal.getsignal(number)
            if callable(handler):
                wrapper = _wrapped(handler)
                self._replaced[number] = (wrapper, handler)
                signal.signal(number, wrapper)

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        for number, (wrapper, handler) in self._replaced.items():
            if signal.getsignal(number) is wrapper:
                signal.signal(number, handler)
        pending = _Pending.error
        if self._replaced and pending is not None:
            _Pending.error = None
            raise pending from None


@_ffi.POLL_FN
def poll(_user: Any) -> int:
    """1 where a handler has raised: librise then gives up within 50 ms."""
    return int(_Pending.error is not None and threading.current_thread() is threading.main_thread())
