#!/usr/bin/env python3
"""Sums a PyTorch tensor with a RISE program, where the tensor lies and on PyTorch's stream: nothing is copied, and nothing waits.

    examples/python/sum_torch.py [N]        LIBRISE names the library: librise.so by default

Only ctypes is used; rise.h describes each call. The kernel writes its partial sums into another tensor, which PyTorch then sums.
"""
import ctypes as c
import os
import sys

import torch

HERE = os.path.dirname(os.path.abspath(__file__))
RISE_GPU, RISE_F32, RISE_DEVICE = 1, 12, 1

rise = c.CDLL(os.environ.get("LIBRISE", "librise.so"))


class Error(c.Structure):
    _fields_ = [("status", c.c_int32), ("cuda", c.c_int32), ("text", c.c_char * 2040)]


class ContextOptions(c.Structure):
    _fields_ = [("size", c.c_size_t), ("device", c.c_int32), ("ordinal", c.c_int32), ("cuda_context", c.c_void_p),
                ("diagnostic", c.c_void_p), ("diagnostic_user", c.c_void_p), ("allocator", c.c_void_p), ("sim_seed", c.c_uint64),
                ("no_disk_cache", c.c_int32), ("reserved", c.c_int32)]


def call(name, *args):
    """Calls a function of librise, whose last parameter is the error."""
    error = Error()
    if getattr(rise, name)(*args, c.byref(error)):
        raise RuntimeError(f"{name}: {error.text.decode()}")


def tensor(call_handle, name, t, is_result):
    place, stop = c.c_void_p(t.data_ptr()), t.numel() * t.element_size()
    if is_result:
        call("rise_call_output", call_handle, name, RISE_F32, place, c.c_size_t(stop), RISE_DEVICE)
    else:
        shape = (c.c_int64 * t.dim())(*t.shape)
        call("rise_call_input", call_handle, name, RISE_F32, t.dim(), shape, place, RISE_DEVICE)


def main():
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_003
    xs = torch.randint(0, 10, (n,), device="cuda").float()  # small whole numbers: their sum is exact in any order
    partial = torch.empty((n + 1023) // 1024, device="cuda")
    context, program, entry, sums = (c.c_void_p() for _ in range(4))
    options = ContextOptions(size=c.sizeof(ContextOptions), device=RISE_GPU)
    call("rise_context_new", c.byref(options), c.byref(context))
    call("rise_program_from_file", context, os.path.join(HERE, "..", "sum.rise").encode(), c.byref(program))
    call("rise_entry_get", program, b"sumBlocks", None, c.byref(entry))
    call("rise_call_new", entry, c.byref(sums))
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        tensor(sums, b"xs", xs, False)
        tensor(sums, b"result", partial, True)
        call("rise_call_launch", sums, c.c_void_p(side.cuda_stream))
        total = partial.double().sum()  # after the kernel, because it is on the same stream
    side.synchronize()
    want = xs.double().sum()
    print(f"sum of {n} elements: {total.item():.0f}, PyTorch says {want.item():.0f}")
    for free, handle in (("rise_call_free", sums), ("rise_program_free", program), ("rise_context_free", context)):
        getattr(rise, free)(handle)
    return total.item() != want.item()


if __name__ == "__main__":
    sys.exit(main())
