"""Arrays of any producer as addresses, and arrays for results. Nothing is copied or converted here.
"""
from __future__ import annotations

import ctypes as c
import sys
from typing import Any, Optional, Tuple, Union

from . import _cuda, _devices, _dlpack, _ffi
from ._types import BY_COMMON, Type, of_typestr, typestr

Shape = Tuple[int, ...]


class View:
    """An array that somebody else owns. `ordinal` is the GPU whose memory it is in; None: memory of
    the host.
    """

    __slots__ = (
        "address",
        "dtype",
        "type",
        "shape",
        "ordinal",
        "readonly",
        "owner",
        "maker",
        "stream",
    )

    def __init__(
        self,
        address: int,
        dtype: str,
        t: Optional[Type],
        shape: Shape,
        ordinal: Optional[int],
        readonly: bool,
        owner: Any,
        maker: str,
        stream: Optional[int] = None,
    ) -> None:
        self.address, self.dtype, self.type, self.shape = address, dtype, t, shape
        self.ordinal, self.readonly, self.owner, self.maker = ordinal, readonly, owner, maker
        self.stream = (
            stream  # what writes the array is on this one; None: nothing is to be waited for
        )


def is_array(x: Any) -> bool:
    """Is it an array of some library, of any rank?"""
    return any(
        hasattr(x, name)
        for name in ("__dlpack__", "__cuda_array_interface__", "__array_interface__")
    )


def _dense(shape: Shape, strides: Optional[Tuple[int, ...]]) -> bool:
    """Strides in elements (or bytes, with a last extent of bytes appended) of an array row by row.
    """
    if strides is None or 0 in shape:
        return True
    want = 1
    for extent, stride in zip(reversed(shape), reversed(strides)):
        if extent != 1 and stride != want:
            return False
        want *= extent
    return True


def _refuse_strides(name: str, strides: Any, remedy: str) -> None:
    raise ValueError(
        f"{name} is not dense row by row (its strides are {tuple(strides)}), "
        f"and risec copies nothing: pass {remedy}"
    )


def _of_torch(name: str, x: Any) -> View:
    torch = sys.modules["torch"]
    if x.layout is not torch.strided:
        raise TypeError(
            f"{name} is a tensor of layout {x.layout}; risec takes dense ones: "
            f"pass {name}.to_dense()"
        )
    if x.device.type not in ("cpu", "cuda"):
        raise TypeError(
            f"{name} is on device {x.device}; risec takes tensors of the CPU and of NVIDIA GPUs"
        )
    if x.requires_grad:
        raise ValueError(
            f"{name} requires a gradient, and risec computes none: pass {name}.detach()"
        )
    if not x.is_contiguous():
        _refuse_strides(name, x.stride(), f"{name}.contiguous()")
    if x.is_neg():
        raise ValueError(f"{name} is a negated view: pass {name}.resolve_neg()")
    dtype = str(x.dtype).rpartition(".")[2]
    ordinal = x.device.index if x.device.type == "cuda" else None
    return View(
        x.data_ptr(), dtype, BY_COMMON.get(dtype), tuple(x.shape), ordinal, False, x, "torch"
    )


def _of_numpy(name: str, x: Any) -> View:
    if type(x).__name__ == "MaskedArray":
        raise TypeError(
            f"{name} is a masked array, and risec has no masks: pass {name}.filled(VALUE)"
        )
    if not x.dtype.isnative:
        raise TypeError(
            f"{name} has its bytes in another order ({x.dtype.str}): "
            f"pass {name}.astype({name}.dtype.newbyteorder('='))"
        )
    if not x.flags.c_contiguous:
        _refuse_strides(name, x.strides, f"numpy.ascontiguousarray({name})")
    dtype = x.dtype.name
    return View(
        x.ctypes.data, dtype, BY_COMMON.get(dtype), x.shape, None, not x.flags.writeable, x, "numpy"
    )


def _of_cuda_interface(name: str, x: Any) -> View:
    said = x.__cuda_array_interface__
    address, readonly = said["data"]
    shape, strides = tuple(said["shape"]), said.get("strides")
    t = of_typestr(said["typestr"])
    if said.get("mask") is not None:
        raise TypeError(f"{name} is a masked array, and risec has no masks")
    if (
        t is not None
        and strides is not None
        and not _dense(shape + (t.bytes,), tuple(strides) + (1,))
    ):
        _refuse_strides(name, strides, f"a copy of {name} that is dense row by row")
    stream = said.get("stream") if said.get("version", 0) >= 3 else None
    if stream == 0:
        raise ValueError(
            f"{name}: its __cuda_array_interface__ names stream 0, which version 3 forbids"
        )
    ordinal = _cuda.ordinal_of(address) if address else 0
    maker = "cupy" if type(x).__module__.partition(".")[0] == "cupy" else "cuda"
    dtype = t.common if t else said["typestr"]
    return View(address, dtype, t, shape, ordinal, bool(readonly), x, maker, stream)


class Exchange:
    """An array that DLPack will hand over, once it is known which stream reads it."""

    __slots__ = ("name", "owner", "ordinal", "maker")

    def __init__(self, name: str, x: Any) -> None:
        device, ordinal = x.__dlpack_device__()
        on_gpu = device in (_dlpack.CUDA, _dlpack.CUDA_MANAGED)
        if not on_gpu and device not in (_dlpack.CPU, _dlpack.CUDA_HOST):
            raise TypeError(
                f"{name} is on a device of DLPack's number {int(device)}; "
                "risec takes memory of the host and of NVIDIA GPUs"
            )
        self.name, self.owner, self.ordinal = name, x, ordinal if on_gpu else None
        self.maker = "dlpack"

    def take(self, stream: Optional[int]) -> View:
        """The array, to be used on this stream. What it holds is there by then."""
        x, name = self.owner, self.name
        held = _dlpack.Import(
            x.__dlpack__() if self.ordinal is None else x.__dlpack__(stream=stream)
        )
        if not _dense(held.shape, held.strides):
            _refuse_strides(name, held.strides, f"a copy of {name} that is dense row by row")
        dtype = (
            held.type.common if held.type else f"DLPack's type (code, bits, lanes) = {held.dtype}"
        )
        # Older producers cannot say whether what they hand over may be written.
        return View(held.address, dtype, held.type, held.shape, self.ordinal, False, held, "dlpack")


def look(name: str, x: Any) -> Union[View, Exchange]:
    """What an array is. TypeError or ValueError with the remedy where risec cannot use it."""
    torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
    if torch is not None and isinstance(x, torch.Tensor):
        return _of_torch(name, x)
    if numpy is not None and isinstance(x, (numpy.ndarray, numpy.generic)):
        return _of_numpy(name, x if isinstance(x, numpy.ndarray) else numpy.asarray(x))
    if hasattr(x, "__cuda_array_interface__"):
        return _of_cuda_interface(name, x)
    if hasattr(x, "__dlpack__"):
        return Exchange(name, x)
    if hasattr(x, "__array_interface__"):
        import numpy as np

        return _of_numpy(name, np.asarray(x))
    raise TypeError(
        f"{name} is no array but {type(x).__name__}: pass numpy.asarray({name}, dtype=...), "
        "or an array of torch, CuPy or another library"
    )


class DeviceArray:
    """A result in the memory of a GPU, for libraries that take `__cuda_array_interface__` or
    DLPack.

    It owns its memory. Work that reads it has to be ordered after the launch that writes it, on
    `stream`; both protocols do that.
    """

    def __init__(self, context: Any, shape: Shape, t: Type) -> None:
        self._context, self.shape, self._type = context, tuple(shape), t
        self.dtype = t.common
        self.size = 1
        for extent in shape:
            self.size *= extent
        self.nbytes = self.size * t.bytes
        self.stream = _cuda.LEGACY
        self._memory = c.c_void_p()
        if self.nbytes:
            _devices.call(_ffi.lib.rise_alloc, context.handle, self.nbytes, c.byref(self._memory))

    def __del__(self) -> None:
        if getattr(self, "_memory", None):
            _ffi.lib.rise_free(self._context.handle, self._memory)

    @property
    def __cuda_array_interface__(self) -> Any:
        if self._type.typestr is None:
            raise AttributeError("bf16 has no __cuda_array_interface__; use DLPack")
        return {
            "version": 3,
            "shape": self.shape,
            "typestr": typestr(self._type),
            "strides": None,
            "data": (self._memory.value or 0, False),
            "stream": self.stream,
        }

    def __dlpack_device__(self) -> Tuple[int, int]:
        return _dlpack.CUDA, self._context.ordinal

    def __dlpack__(self, *, stream: Optional[int] = None, **_newer: Any) -> Any:
        if stream != -1:
            _cuda.order(
                self.stream, _cuda.LEGACY if stream is None else stream, self._context.ordinal
            )
        return _dlpack.export(
            self,
            self._memory.value or 0,
            self.shape,
            self._type,
            _dlpack.CUDA,
            self._context.ordinal,
        )

    def to_numpy(self) -> Any:
        """A copy in memory of the host. Waits for the launch."""
        import numpy as np

        out = np.empty(self.shape, self.dtype)
        _devices.call(
            _ffi.lib.rise_copy,
            self._context.handle,
            out.ctypes.data,
            _ffi.HOST,
            self._memory,
            _ffi.DEVICE,
            self.nbytes,
        )
        return out

    def __repr__(self) -> str:
        return f"<risec.DeviceArray {self.dtype}{list(self.shape)} on GPU {self._context.ordinal}>"


def empty(
    maker: str, context: Any, ordinal: Optional[int], shape: Shape, t: Type
) -> Tuple[Any, int]:
    """An array for a result, as the inputs are (`maker`), and its address."""
    if maker == "torch":
        torch = sys.modules["torch"]
        made = torch.empty(
            shape,
            dtype=getattr(torch, t.common),
            device="cpu" if ordinal is None else torch.device("cuda", ordinal),
        )
        return made, made.data_ptr()
    if maker == "cupy" and t.typestr is not None:
        cupy = sys.modules["cupy"]
        with cupy.cuda.Device(ordinal):
            made = cupy.empty(shape, t.common)
        return made, made.data.ptr
    if ordinal is not None:
        made = DeviceArray(context, shape, t)
        return made, made._memory.value or 0
    import numpy as np

    if t.typestr is None:
        raise TypeError(
            "the result has elements of bf16, which numpy does not have: pass torch tensors"
        )
    made = np.empty(shape, t.common)
    return made, made.ctypes.data
