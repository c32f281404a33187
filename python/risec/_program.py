"""Programs: RISE text, and its entries on the devices that are asked for."""
from __future__ import annotations

import ctypes as c
import os
import threading
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

from . import _devices, _ffi
from ._entry import Entry

Path = Union[str, "os.PathLike[str]"]


class Program(Mapping[str, Entry]):
    """A program: a mapping from the names of its entries to what can be called.

    `program["sum"]` and `program.sum` are the same entry. Any number of threads may use it.
    """

    def __init__(
        self, text: Optional[str], name: str, device: str, entries: Optional[Sequence[str]]
    ) -> None:
        self._text, self._name, self._device = text, name, device
        self._lock = threading.RLock()
        self._handles: Dict[int, Tuple[_devices.Context, c.c_void_p]] = {}
        context = _devices.context(_devices.resolve(device))
        handle = self._on(context)
        lib = _ffi.lib
        names = [
            _ffi.text(lib.rise_program_entry_name(handle, k))
            for k in range(lib.rise_program_entry_count(handle))
        ]
        self._entries = {name: Entry(self, name) for name in names}
        for wanted in names if entries is None else entries:
            self[wanted]._describe()

    def _on(self, context: _devices.Context) -> c.c_void_p:
        """The program in a context, which it keeps."""
        with self._lock:
            found = self._handles.get(id(context))
            if found is not None:
                return found[1]
            handle = c.c_void_p()
            if self._text is None:
                _devices.work(
                    _ffi.lib.rise_program_from_file,
                    context.handle,
                    os.fsencode(self._name),
                    c.byref(handle),
                )
            else:
                data = self._text.encode()
                _devices.work(
                    _ffi.lib.rise_program_from_text,
                    context.handle,
                    self._name.encode(),
                    data,
                    len(data),
                    c.byref(handle),
                )
            self._handles[id(context)] = context, handle
            return handle

    def __del__(self) -> None:
        pid = getattr(self, "_pid", None)
        if pid is None or pid == os.getpid():
            for _, handle in getattr(self, "_handles", {}).values():
                _ffi.lib.rise_program_free(handle)

    # ---- a mapping ------------------------------------------------------------------------------

    def __getitem__(self, name: str) -> Entry:
        try:
            return self._entries[name]
        except KeyError:
            raise KeyError(f"{self._name} has no entry {name!r}; it has {self._said()}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __getattr__(self, name: str) -> Entry:
        entries = self.__dict__.get("_entries", {})
        if name in entries:
            return entries[name]
        raise AttributeError(f"a risec program has no entry {name!r}; this one has {self._said()}")

    def __dir__(self) -> List[str]:
        return [*super().__dir__(), *self._entries]

    def __eq__(self, other: Any) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    def _said(self) -> str:
        return ", ".join(self.__dict__.get("_entries", {})) or "none"

    def __repr__(self) -> str:
        return f"<risec program {self._name}: {self._said()}>"

    def __reduce__(self) -> Tuple[Any, ...]:
        return Program, (self._text, self._name, self._device, list(self._entries))

    @property
    def source(self) -> Tuple[Optional[str], str]:
        """The text, or None where it was read from a file; and the name."""
        return self._text, self._name


def compile(
    text: str,
    *,
    name: str = "text.rise",
    device: str = "auto",
    entries: Optional[Sequence[str]] = None,
) -> Program:
    """Compiles a program from its text.

    text     RISE. It is never taken for the name of a file, and reads none.
    name     what messages call it.
    device   "gpu", "sim" (the simulator), "ref" (the reference interpreter), or "auto": a GPU where
             there is one, else the simulator.
    entries  the names of the entries to type and lower now; None: all. The others follow when they
             are first used.

    Raises ProgramError with the place and the code of what is wrong. Kernels are compiled when they
    are first launched.
    """
    if not isinstance(text, str):
        raise TypeError(f"text is {type(text).__name__}, no str; risec.load reads a file")
    if "\n" not in text and text.endswith(".rise") and os.path.exists(text):
        raise ValueError(f"the text is the name of a file: risec.load({text!r}) reads it")
    return Program(text, name, device, entries)


def load(path: Path, *, device: str = "auto", entries: Optional[Sequence[str]] = None) -> Program:
    """Compiles a program from a file. Files that it imports, and its tuning, may lie anywhere: load
    what you trust.

    `device` and `entries` are as for `compile`. Raises FileError where the file cannot be read.
    """
    return Program(None, os.path.abspath(os.fspath(path)), device, entries)


def version() -> str:
    """Of librise: "0.2.0"."""
    return _ffi.text(_ffi.lib.rise_version())
