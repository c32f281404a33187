"""DLPack capsules, read and made by ctypes: what other libraries hand over, and what results are
handed over as.
"""
from __future__ import annotations

import ctypes as c
from typing import Any, Dict, NamedTuple, Optional, Tuple

from ._types import BY_DLPACK, Type

CPU, CUDA, CUDA_HOST, CUDA_MANAGED = 1, 2, 3, 13


class _Device(c.Structure):
    _fields_ = [("type", c.c_int32), ("id", c.c_int32)]


class _DataType(c.Structure):
    _fields_ = [("code", c.c_uint8), ("bits", c.c_uint8), ("lanes", c.c_uint16)]


class _Tensor(c.Structure):
    _fields_ = [
        ("data", c.c_void_p),
        ("device", _Device),
        ("ndim", c.c_int32),
        ("dtype", _DataType),
        ("shape", c.POINTER(c.c_int64)),
        ("strides", c.POINTER(c.c_int64)),
        ("byte_offset", c.c_uint64),
    ]


class _Managed(c.Structure):
    pass


_DELETER = c.CFUNCTYPE(None, c.POINTER(_Managed))
_Managed._fields_ = [("tensor", _Tensor), ("context", c.c_void_p), ("deleter", _DELETER)]

_DESTRUCTOR = c.CFUNCTYPE(None, c.c_void_p)
_api = c.pythonapi
_api.PyCapsule_GetPointer.restype = c.c_void_p
_api.PyCapsule_GetPointer.argtypes = [c.py_object, c.c_char_p]
_api.PyCapsule_SetName.argtypes = [c.py_object, c.c_char_p]
_api.PyCapsule_New.restype = c.py_object
_api.PyCapsule_New.argtypes = [c.c_void_p, c.c_char_p, c.c_void_p]
# In a destructor the capsule is an address: it has no references any more, and must get none.
_is_valid = c.PYFUNCTYPE(c.c_int, c.c_void_p, c.c_char_p)(("PyCapsule_IsValid", _api))
_pointer = c.PYFUNCTYPE(c.c_void_p, c.c_void_p, c.c_char_p)(("PyCapsule_GetPointer", _api))

_NEW, _USED = b"dltensor", b"used_dltensor"


class Import:
    """What a capsule holds. The producer's memory stays for as long as this object."""

    def __init__(self, capsule: Any) -> None:
        self._managed: Optional[Any] = None
        managed = c.cast(_api.PyCapsule_GetPointer(capsule, _NEW), c.POINTER(_Managed))
        _api.PyCapsule_SetName(capsule, _USED)
        self._managed = managed
        t = managed.contents.tensor
        self.device, self.ordinal = t.device.type, t.device.id
        self.shape: Tuple[int, ...] = tuple(t.shape[i] for i in range(t.ndim))
        self.strides = tuple(t.strides[i] for i in range(t.ndim)) if t.strides else None
        self.address: int = (t.data or 0) + t.byte_offset
        self.dtype = (t.dtype.code, t.dtype.bits, t.dtype.lanes)
        self.type: Optional[Type] = BY_DLPACK.get(self.dtype[:2]) if t.dtype.lanes == 1 else None

    def __del__(self) -> None:
        if self._managed is not None and self._managed.contents.deleter:
            self._managed.contents.deleter(self._managed)
            self._managed = None


class _Export(NamedTuple):
    managed: _Managed
    shape: Any
    owner: Any


_exported: Dict[int, _Export] = {}  # by the address of the struct, until the consumer lets go of it


@_DELETER
def _delete(managed: Any) -> None:
    _exported.pop(c.addressof(managed.contents), None)


@_DESTRUCTOR
def _destroy(capsule: Any) -> None:
    if _is_valid(capsule, _NEW):  # nobody has taken it
        _exported.pop(_pointer(capsule, _NEW), None)


def export(
    owner: Any, address: int, shape: Tuple[int, ...], t: Type, device: int, ordinal: int
) -> Any:
    """A capsule of dense memory that `owner` keeps; the owner lives until the consumer lets go."""
    managed = _Managed()
    extents = (c.c_int64 * max(1, len(shape)))(*shape)
    managed.tensor = _Tensor(
        address,
        _Device(device, ordinal),
        len(shape),
        _DataType(t.dlpack, 8 * t.bytes, 1),
        extents,
        None,
        0,
    )
    managed.deleter = _delete
    at = c.addressof(managed)
    _exported[at] = _Export(managed, extents, owner)
    return _api.PyCapsule_New(at, _NEW, c.cast(_destroy, c.c_void_p))
