#!/usr/bin/env python3
"""Compiles one CUDA text with NVRTC: nvrtc.py FILE ARCH...  A non-empty log (a warning) is a failure. Exit code 77: there is no NVRTC."""
import ctypes
import glob
import os
import sys


def find():
    names = ["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"]
    for folder in ["/usr/local/cuda/lib64"]:
        names += sorted(glob.glob(os.path.join(folder, "libnvrtc.so.1[23]")), reverse=True)
    for name in names:
        try:
            return ctypes.CDLL(name)
        except OSError:
            pass
    return None


def main():
    path, archs = sys.argv[1], sys.argv[2:]
    nvrtc = find()
    if nvrtc is None:
        print("no libnvrtc.so.13 or .12")
        return 77
    with open(path, "rb") as file:
        text = file.read()
    status = 0
    for arch in archs:
        program = ctypes.c_void_p()
        options = [b"--gpu-architecture=sm_" + arch.encode(), b"--std=c++17"]
        if nvrtc.nvrtcCreateProgram(ctypes.byref(program), text, os.path.basename(path).encode(), 0, None, None):
            print("nvrtcCreateProgram failed")
            return 1
        result = nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
        size = ctypes.c_size_t()
        nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
        log = ctypes.create_string_buffer(size.value + 1)
        nvrtc.nvrtcGetProgramLog(program, log)
        said = log.value.decode(errors="replace").strip()
        if result or said:
            print(f"sm_{arch}: result {result}\n{said}")
            status = 1
        nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return status


if __name__ == "__main__":
    sys.exit(main())
