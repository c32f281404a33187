"""The 13 element types of RISE, each with its names in numpy, torch and DLPack: one row per type.
"""
from __future__ import annotations

import sys
from typing import NamedTuple, Optional


class Type(NamedTuple):
    """One element type."""

    code: int  # a rise_type of rise.h
    name: str  # in RISE
    common: str  # in numpy and torch
    typestr: Optional[str]  # in array interfaces, without the byte order; None: it has none
    dlpack: int  # DLDataTypeCode
    bytes: int


# DLDataTypeCode
_INT, _UINT, _FLOAT, _BFLOAT, _BOOL = 0, 1, 2, 4, 6

TYPES = (
    Type(1, "bool", "bool", "b1", _BOOL, 1),
    Type(2, "i8", "int8", "i1", _INT, 1),
    Type(3, "i16", "int16", "i2", _INT, 2),
    Type(4, "i32", "int32", "i4", _INT, 4),
    Type(5, "i64", "int64", "i8", _INT, 8),
    Type(6, "u8", "uint8", "u1", _UINT, 1),
    Type(7, "u16", "uint16", "u2", _UINT, 2),
    Type(8, "u32", "uint32", "u4", _UINT, 4),
    Type(9, "u64", "uint64", "u8", _UINT, 8),
    Type(10, "f16", "float16", "f2", _FLOAT, 2),
    Type(11, "bf16", "bfloat16", None, _BFLOAT, 2),
    Type(12, "f32", "float32", "f4", _FLOAT, 4),
    Type(13, "f64", "float64", "f8", _FLOAT, 8),
)

BY_CODE = {t.code: t for t in TYPES}
BY_COMMON = {t.common: t for t in TYPES}
BY_TYPESTR = {t.typestr: t for t in TYPES if t.typestr}
BY_DLPACK = {(t.dlpack, 8 * t.bytes): t for t in TYPES}

NATIVE = "<" if sys.byteorder == "little" else ">"


def typestr(t: Type) -> str:
    """As array interfaces write it: "<f4", "|u1"."""
    assert t.typestr is not None
    return ("|" if t.bytes == 1 else NATIVE) + t.typestr


def of_typestr(text: str) -> Optional[Type]:
    """The type, or None where RISE has no such type or its bytes are in the other order."""
    if text[:1] not in (NATIVE, "|", "="):
        return None
    return BY_TYPESTR.get(text[1:])
