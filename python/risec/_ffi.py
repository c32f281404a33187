"""librise by ctypes: its structs and functions as rise.h declares them. tests/test_ffi.py compares
both.
"""
from __future__ import annotations

import ctypes as c
import os
from typing import Any, Optional

from . import _errors
from ._version import LIBRARY

HERE = os.path.dirname(os.path.abspath(__file__))

# rise_device
AUTO, GPU, SIM, REF = 0, 1, 2, 3
# rise_memory
HOST, DEVICE = 0, 1
# flags of rise_entry_options
SPECIALIZE, UNTUNED = 1, 2
CANCELLED = 10


class Error(c.Structure):
    _fields_ = [("status", c.c_int32), ("cuda", c.c_int32), ("text", c.c_char * 2040)]


class Diagnostic(c.Structure):
    _fields_ = [
        ("size", c.c_size_t),
        ("is_warning", c.c_int32),
        ("line", c.c_int32),
        ("column", c.c_int32),
        ("begin", c.c_uint32),
        ("end", c.c_uint32),
        ("code", c.c_char_p),
        ("file", c.c_char_p),
        ("message", c.c_char_p),
        ("help", c.c_char_p),
    ]


DIAGNOSTIC_FN = c.CFUNCTYPE(None, c.c_void_p, c.POINTER(Diagnostic))
POLL_FN = c.CFUNCTYPE(c.c_int, c.c_void_p)


ALLOC_FN = c.CFUNCTYPE(c.c_void_p, c.c_void_p, c.c_size_t, c.c_void_p)
FREE_FN = c.CFUNCTYPE(None, c.c_void_p, c.c_void_p, c.c_size_t, c.c_void_p)


class DeviceAllocator(c.Structure):
    _fields_ = [("user", c.c_void_p), ("alloc", ALLOC_FN), ("free", FREE_FN)]


class ContextOptions(c.Structure):
    _fields_ = [
        ("size", c.c_size_t),
        ("device", c.c_int32),
        ("ordinal", c.c_int32),
        ("cuda_context", c.c_void_p),
        ("diagnostic", DIAGNOSTIC_FN),
        ("diagnostic_user", c.c_void_p),
        ("allocator", c.c_void_p),
        ("sim_seed", c.c_uint64),
        ("no_disk_cache", c.c_int32),
        ("reserved", c.c_int32),
        ("poll", POLL_FN),
        ("poll_user", c.c_void_p),
        ("folder", c.c_char_p),
        ("read", c.c_void_p),
        ("read_user", c.c_void_p),
        ("max_steps", c.c_uint64),
        ("max_memory", c.c_uint64),
        ("max_result", c.c_uint64),
        ("device_allocator", c.POINTER(DeviceAllocator)),
        ("nvrtc_path", c.c_char_p),
    ]


class Setting(c.Structure):
    _fields_ = [("name", c.c_char_p), ("value", c.c_int64)]


class EntryOptions(c.Structure):
    _fields_ = [
        ("size", c.c_size_t),
        ("settings", c.POINTER(Setting)),
        ("n_settings", c.c_size_t),
        ("flags", c.c_uint32),
        ("reserved", c.c_uint32),
        ("strategy", c.c_char_p),
        ("costs", c.c_char_p),
    ]


class Argument(c.Structure):
    _fields_ = [
        ("size", c.c_size_t),
        ("name", c.c_char_p),
        ("text", c.c_char_p),
        ("is_result", c.c_int32),
        ("type", c.c_int32),
        ("rank", c.c_int32),
        ("is_index", c.c_int32),
    ]


class Kernel(c.Structure):
    _fields_ = [
        ("size", c.c_size_t),
        ("name", c.c_char_p),
        ("threads", c.c_int32 * 3),
        ("registers", c.c_int32),
        ("static_shared", c.c_int32),
        ("spills", c.c_int32),
        ("max_threads", c.c_int32),
        ("index_bits", c.c_int32),
    ]


def sized(struct: Any, **fields: Any) -> Any:
    """A zeroed struct whose `size` is set, and these fields."""
    made = struct(size=c.sizeof(struct), **fields)
    return made


_P, _S, _I, _Z = c.c_void_p, c.c_char_p, c.c_int, c.c_size_t
_OUT, _ERR = c.POINTER(c.c_void_p), c.POINTER(Error)
_I64S, _NUMBER = c.POINTER(c.c_int64), c.POINTER(c.c_int64)
_BYTES = c.POINTER(c.c_size_t)

# name: (result, parameters)
FUNCTIONS = {
    "rise_version": (_S, ()),
    "rise_status_name": (_S, (_I,)),
    "rise_context_new": (_I, (c.POINTER(ContextOptions), _OUT, _ERR)),
    "rise_context_free": (None, (_P,)),
    "rise_context_device": (_I, (_P,)),
    "rise_context_device_name": (_S, (_P,)),
    "rise_context_why": (_S, (_P,)),
    "rise_context_arch": (_S, (_P,)),
    "rise_context_lost": (_I, (_P,)),
    "rise_alloc": (_I, (_P, _Z, _OUT, _ERR)),
    "rise_free": (None, (_P, _P)),
    "rise_copy": (_I, (_P, _P, _I, _P, _I, _Z, _ERR)),
    "rise_program_from_text": (_I, (_P, _S, _S, _Z, _OUT, _ERR)),
    "rise_program_from_file": (_I, (_P, _S, _OUT, _ERR)),
    "rise_program_free": (None, (_P,)),
    "rise_program_entry_count": (_I, (_P,)),
    "rise_program_entry_name": (_S, (_P, _I)),
    "rise_entry_get": (_I, (_P, _S, c.POINTER(EntryOptions), _OUT, _ERR)),
    "rise_entry_free": (None, (_P,)),
    "rise_entry_name": (_S, (_P,)),
    "rise_entry_tuned": (_I, (_P,)),
    "rise_entry_size_count": (_I, (_P,)),
    "rise_entry_size_name": (_S, (_P, _I)),
    "rise_entry_tunable_count": (_I, (_P,)),
    "rise_entry_tunable_name": (_S, (_P, _I)),
    "rise_entry_tunable_value": (c.c_int64, (_P, _I)),
    "rise_type_bytes": (_Z, (_I,)),
    "rise_type_name": (_S, (_I,)),
    "rise_entry_argument_count": (_I, (_P,)),
    "rise_entry_argument": (_I, (_P, _I, c.POINTER(Argument), _ERR)),
    "rise_entry_cuda": (_I, (_P, c.POINTER(_S), _BYTES, _ERR)),
    "rise_entry_manifest": (_I, (_P, c.POINTER(_S), _BYTES, _ERR)),
    "rise_entry_compile": (_I, (_P, _S, _ERR)),
    "rise_entry_ptx": (_I, (_P, _S, c.POINTER(_S), _BYTES, _ERR)),
    "rise_entry_cubin": (_I, (_P, _S, _OUT, _BYTES, _ERR)),
    "rise_entry_load": (_I, (_P, _ERR)),
    "rise_entry_prepare": (_I, (_P, _I64S, _I64S, _ERR)),
    "rise_entry_kernel_count": (_I, (_P,)),
    "rise_entry_kernel": (_I, (_P, _I, c.POINTER(Kernel), _ERR)),
    "rise_call_new": (_I, (_P, _OUT, _ERR)),
    "rise_call_free": (None, (_P,)),
    "rise_call_size": (_I, (_P, _S, c.c_int64, _ERR)),
    "rise_call_input": (_I, (_P, _S, _I, _I, _I64S, _P, _I, _ERR)),
    "rise_call_scalar": (_I, (_P, _S, _I, _P, _ERR)),
    "rise_call_output": (_I, (_P, _S, _I, _P, _Z, _I, _ERR)),
    "rise_call_prepare": (_I, (_P, _ERR)),
    "rise_call_launch": (_I, (_P, _P, _ERR)),
    "rise_call_wait": (_I, (_P, _ERR)),
    "rise_call_infer": (_I, (_P, _ERR)),
    "rise_call_workspace": (_I, (_P, _BYTES, _ERR)),
    "rise_call_use_workspace": (_I, (_P, _P, _Z, _ERR)),
    "rise_call_done": (_I, (_P, c.POINTER(_I), _ERR)),
    "rise_call_size_value": (_I, (_P, _S, _NUMBER, _ERR)),
    "rise_call_shape": (_I, (_P, _S, _I, c.POINTER(_I), _I64S, _ERR)),
    "rise_call_result": (_I, (_P, _S, _OUT, _BYTES, _ERR)),
    "rise_call_read": (_I, (_P, _S, _P, _Z, _ERR)),
}


def _find() -> str:
    """$RISEC_LIBRISE, else the library of this package, else what the loader finds."""
    named = os.environ.get("RISEC_LIBRISE")
    if named:
        return named
    own = os.path.join(HERE, "lib", LIBRARY)
    return own if os.path.exists(own) else LIBRARY


def _load() -> c.CDLL:
    path = _find()
    try:
        library = c.CDLL(path)
    except OSError as error:
        raise ImportError(
            f"risec cannot load librise: {error}. The package has it inside; "
            "or RISEC_LIBRISE names one"
        ) from None
    for name, (result, parameters) in FUNCTIONS.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, parameters
    return library


lib = _load()
PATH = lib._name


def text(value: Optional[bytes]) -> str:
    return value.decode("utf-8", "replace") if value else ""


def raise_for(error: Error, diagnostics: Any = ()) -> None:
    """The exception that a function of librise has told about."""
    raise _errors.make(error.status, text(error.text), error.cuda, diagnostics)
