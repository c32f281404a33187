"""The few functions of the CUDA driver that order streams and find where memory lies."""
from __future__ import annotations

import ctypes as c
import threading
from typing import Any, Dict, Optional

from ._errors import DeviceError

LEGACY, PER_THREAD = 1, 2  # CU_STREAM_LEGACY, CU_STREAM_PER_THREAD
_DEVICE_ORDINAL = 9  # CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
_DISABLE_TIMING = 2  # CU_EVENT_DISABLE_TIMING

_lock = threading.Lock()
_driver: Optional[c.CDLL] = None
_contexts: Dict[int, int] = {}  # primary contexts, kept for as long as the process lives


def _check(what: str, result: int) -> None:
    if result:
        name = c.c_char_p()
        _loaded().cuGetErrorName(result, c.byref(name))
        raise DeviceError(f"{what}: {(name.value or b'?').decode()}", result)


def _loaded() -> c.CDLL:
    global _driver
    if _driver is not None:
        return _driver
    with _lock:
        if _driver is None:
            try:
                driver = c.CDLL("libcuda.so.1")
            except OSError as error:
                raise DeviceError(
                    "there is no CUDA driver: looked for libcuda.so.1, which NVIDIA's driver "
                    f"installs ({error})"
                ) from None
            driver.cuGetErrorName.argtypes = [c.c_int, c.POINTER(c.c_char_p)]
            driver.cuPointerGetAttribute.argtypes = [c.c_void_p, c.c_int, c.c_uint64]
            driver.cuDeviceGet.argtypes = [c.POINTER(c.c_int), c.c_int]
            driver.cuDevicePrimaryCtxRetain.argtypes = [c.POINTER(c.c_void_p), c.c_int]
            driver.cuCtxPushCurrent_v2.argtypes = [c.c_void_p]
            driver.cuCtxPopCurrent_v2.argtypes = [c.POINTER(c.c_void_p)]
            driver.cuMemAlloc_v2.argtypes = [c.POINTER(c.c_uint64), c.c_size_t]
            driver.cuMemFree_v2.argtypes = [c.c_uint64]
            driver.cuEventCreate.argtypes = [c.POINTER(c.c_void_p), c.c_uint]
            driver.cuEventRecord.argtypes = [c.c_void_p, c.c_void_p]
            driver.cuEventDestroy_v2.argtypes = [c.c_void_p]
            driver.cuStreamWaitEvent.argtypes = [c.c_void_p, c.c_void_p, c.c_uint]
            driver.cuStreamGetCaptureInfo_v2.argtypes = [
                c.c_void_p,
                c.POINTER(c.c_int),
                c.POINTER(c.c_uint64),
                c.c_void_p,
                c.c_void_p,
                c.c_void_p,
            ]
            result = driver.cuInit(0)
            if result:
                raise DeviceError(f"the CUDA driver does not start: error {result}", result)
            _driver = driver
        return _driver


def primary_context(ordinal: int) -> int:
    """The primary context of a GPU: that of the CUDA runtime, PyTorch and CuPy."""
    driver = _loaded()
    with _lock:
        if ordinal in _contexts:
            return _contexts[ordinal]
    device, context = c.c_int(), c.c_void_p()
    _check(f"GPU {ordinal}", driver.cuDeviceGet(c.byref(device), ordinal))
    _check(f"GPU {ordinal}", driver.cuDevicePrimaryCtxRetain(c.byref(context), device.value))
    with _lock:
        return _contexts.setdefault(ordinal, context.value or 0)


def allocate(size: int) -> int:
    """Memory in the current context."""
    memory = c.c_uint64()
    _check("memory of a GPU", _loaded().cuMemAlloc_v2(c.byref(memory), size))
    return memory.value


def release(memory: int) -> None:
    """Waits for the device, as the driver does."""
    _check("memory of a GPU", _loaded().cuMemFree_v2(memory))


def ordinal_of(address: int) -> int:
    """The number of the GPU that an address belongs to."""
    driver, number = _loaded(), c.c_int(-1)
    _check(
        "memory of a GPU", driver.cuPointerGetAttribute(c.byref(number), _DEVICE_ORDINAL, address)
    )
    return number.value


def order(before: int, after: int, ordinal: int) -> None:
    """What is put on stream `after` from now on waits for what is on `before` by now. Nothing waits
    on the host.
    """
    driver, event, popped = _loaded(), c.c_void_p(), c.c_void_p()
    _check("cuCtxPushCurrent", driver.cuCtxPushCurrent_v2(primary_context(ordinal)))
    try:
        _check("cuEventCreate", driver.cuEventCreate(c.byref(event), _DISABLE_TIMING))
        try:
            _check("cuEventRecord", driver.cuEventRecord(event, before))
            _check("cuStreamWaitEvent", driver.cuStreamWaitEvent(after, event, 0))
        finally:
            driver.cuEventDestroy_v2(event)
    finally:
        driver.cuCtxPopCurrent_v2(c.byref(popped))


def recording(stream: int, ordinal: Optional[int]) -> Optional[int]:
    """What the graph is known by that a stream records; None: it records none."""
    if stream in (LEGACY, PER_THREAD):
        return None
    driver, status, number, popped = _loaded(), c.c_int(), c.c_uint64(), c.c_void_p()
    _check("cuCtxPushCurrent", driver.cuCtxPushCurrent_v2(primary_context(ordinal or 0)))
    try:
        _check(
            "the stream",
            driver.cuStreamGetCaptureInfo_v2(
                stream, c.byref(status), c.byref(number), None, None, None
            ),
        )
    finally:
        driver.cuCtxPopCurrent_v2(c.byref(popped))
    return number.value if status.value == 1 else None


def stream_handle(stream: Any) -> int:
    """A stream as an integer: an integer, `__cuda_stream__`, torch's, CuPy's, Numba's, or None for
    the legacy default.
    """
    if stream is None:
        return LEGACY
    if isinstance(stream, int) and not isinstance(stream, bool):
        return stream or LEGACY
    protocol = getattr(stream, "__cuda_stream__", None)
    if protocol is not None:
        version, handle = protocol() if callable(protocol) else protocol
        if version != 0:
            raise TypeError(f"stream: version {version} of __cuda_stream__ is not known; 0 is")
        return int(handle) or LEGACY
    for attribute in ("cuda_stream", "ptr"):  # torch.cuda.Stream, cupy.cuda.Stream
        handle = getattr(stream, attribute, None)
        if isinstance(handle, int):
            return handle or LEGACY
    raise TypeError(
        f"stream: {type(stream).__name__} is no CUDA stream; pass a stream of torch or CuPy, "
        "an object with __cuda_stream__, or the address of a CUstream as an int"
    )
