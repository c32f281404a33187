"""What an entry takes and gives, and Python's values as that."""
from __future__ import annotations

import ctypes as c
import math
import struct
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

from . import _devices, _ffi
from ._arrays import is_array
from ._types import BY_CODE, Type


class Argument(NamedTuple):
    """One array or scalar of an entry, as librise knows it."""

    name: str  # "xs", "xs.1", "result"
    key: bytes  # the same
    text: str  # its type in RISE: "n.m.f32"
    type: Type
    rank: int
    is_index: bool


class Parameter(NamedTuple):
    """One parameter of the program: a tuple has several arguments."""

    name: str
    first: int
    parts: int


class Signature(NamedTuple):
    """All that an entry takes and gives."""

    inputs: Tuple[Argument, ...]
    results: Tuple[Argument, ...]
    parameters: Tuple[Parameter, ...]
    sizes: Tuple[str, ...]
    tunables: Dict[str, int]

    def __str__(self) -> str:
        def together(texts: Sequence[str]) -> str:
            return texts[0] if len(texts) == 1 else f"({', '.join(texts)})"

        inputs = ", ".join(
            f"{p.name}: {together([a.text for a in self.inputs[p.first : p.first + p.parts]])}"
            for p in self.parameters
        )
        sizes = "{" + " ".join(self.sizes) + ": nat}" if self.sizes else ""
        return f"{sizes}({inputs}) -> {together([a.text for a in self.results])}"


def signature(entry: c.c_void_p) -> Signature:
    """What librise says of an entry."""
    lib, found = _ffi.lib, {True: [], False: []}  # type: ignore[var-annotated]
    for k in range(lib.rise_entry_argument_count(entry)):
        a = _ffi.sized(_ffi.Argument)
        _devices.call(lib.rise_entry_argument, entry, k, c.byref(a))
        found[bool(a.is_result)].append(
            Argument(
                _ffi.text(a.name),
                a.name,
                _ffi.text(a.text),
                BY_CODE[a.type],
                a.rank,
                bool(a.is_index),
            )
        )
    parameters: List[Parameter] = []
    for k, a in enumerate(found[False]):
        name = a.name.partition(".")[0]
        if parameters and parameters[-1].name == name:
            parameters[-1] = parameters[-1]._replace(parts=parameters[-1].parts + 1)
        else:
            parameters.append(Parameter(name, k, 1))
    sizes = tuple(
        _ffi.text(lib.rise_entry_size_name(entry, k))
        for k in range(lib.rise_entry_size_count(entry))
    )
    tunables = {
        _ffi.text(lib.rise_entry_tunable_name(entry, k)): lib.rise_entry_tunable_value(entry, k)
        for k in range(lib.rise_entry_tunable_count(entry))
    }
    return Signature(tuple(found[False]), tuple(found[True]), tuple(parameters), sizes, tunables)


def _flat(value: Any) -> List[Any]:
    if isinstance(value, tuple):
        return [x for part in value for x in _flat(part)]
    return [value]


def bind(
    entry: str, s: Signature, args: Tuple[Any, ...], named: Dict[str, Any]
) -> Tuple[List[Any], Dict[str, int]]:
    """The values of the inputs, in order, and the sizes that are given by name."""
    given: Dict[str, Any] = {}
    if len(args) > len(s.parameters):
        raise TypeError(
            f"{entry} takes {len(s.parameters)} inputs, and {len(args)} are given: it is {entry}{s}"
        )
    for parameter, value in zip(s.parameters, args):
        given[parameter.name] = value
    sizes: Dict[str, int] = {}
    names = {p.name for p in s.parameters}
    for name, value in named.items():
        if name in names:
            if name in given:
                raise TypeError(f"{entry}: {name} is given twice")
            given[name] = value
        elif name in s.sizes:
            if isinstance(value, bool) or not isinstance(value, int):
                raise TypeError(f"{entry}: size {name} is {type(value).__name__}, no int")
            sizes[name] = value
        else:
            raise TypeError(f"{entry} has no input or size {name!r}: it is {entry}{s}")
    values: List[Any] = []
    for p in s.parameters:
        if p.name not in given:
            raise TypeError(f"{entry}: {p.name} is missing: it is {entry}{s}")
        parts = _flat(given[p.name]) if p.parts > 1 else [given[p.name]]
        if len(parts) != p.parts:
            raise TypeError(
                f"{entry}: {p.name} is a tuple of {p.parts} arrays, and {len(parts)} are given"
            )
        values += parts
    return values, sizes


# ---- scalars ------------------------------------------------------------------------------------

_PACK = {
    "bool": "?",
    "i8": "b",
    "i16": "h",
    "i32": "i",
    "i64": "q",
    "u8": "B",
    "u16": "H",
    "u32": "I",
    "u64": "Q",
    "f16": "e",
    "f32": "f",
    "f64": "d",
}


def _bf16(value: float) -> bytes:
    """The nearest bf16, ties to even, of the nearest f32: what torch makes of it."""
    (bits,) = struct.unpack("I", struct.pack("f", value))
    if math.isnan(value):
        return struct.pack("H", bits >> 16 | 0x40)
    return struct.pack("H", (bits + 0x7FFF + (bits >> 16 & 1)) >> 16)


def scalar_bytes(name: str, value: Any, t: Type) -> Optional[bytes]:
    """The bytes of a number of Python; None where it is none, but an array perhaps.

    An int fits its type or is refused; a float becomes the nearest number of the type.
    """
    if isinstance(value, bool):
        if t.name != "bool":
            raise TypeError(f"{name} is a bool, and the program takes {t.name}: pass int({name})")
        return struct.pack("?", value)
    if isinstance(value, int):
        if t.name == "bool":
            raise TypeError(f"{name} is an int, and the program takes bool: pass bool({name})")
        if t.name in ("f16", "bf16", "f32", "f64"):
            return scalar_bytes(name, _exact(name, value, t), t)
        try:
            return struct.pack(_PACK[t.name], value)
        except struct.error:
            raise ValueError(f"{name} is {value}, which {t.name} cannot hold") from None
    if isinstance(value, float):
        if t.name in ("f16", "bf16", "f32", "f64"):
            try:
                return _bf16(value) if t.name == "bf16" else struct.pack(_PACK[t.name], value)
            except OverflowError:
                raise ValueError(f"{name} is {value}, which {t.name} cannot hold") from None
        raise TypeError(f"{name} is a float, and the program takes {t.name}: pass int({name})")
    if not is_array(value):
        raise TypeError(
            f"{name} is {type(value).__name__}; the program takes a number of type {t.name}"
        )
    return None


def _exact(name: str, value: int, t: Type) -> float:
    """The float that an int is, where the type holds it exactly."""
    try:
        raw = scalar_bytes(name, float(value), t)
    except (OverflowError, ValueError):
        raw = None
    if raw is None or _number(raw, t) != value:
        raise ValueError(
            f"{name} is {value}, which {t.name} does not hold exactly: pass float({name})"
        )
    return float(value)


def _number(raw: bytes, t: Type) -> float:
    if t.name == "bf16":
        return struct.unpack("f", b"\0\0" + raw)[0]  # the upper half of an f32
    return struct.unpack(_PACK[t.name], raw)[0]
