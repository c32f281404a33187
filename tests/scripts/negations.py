#!/usr/bin/env python3
"""No negation of integers is left to ptxas of CUDA 13.0, which loses the sign of one in min(min(b, -a), c).

    tests/scripts/negations.py

In the PTX of tests/programs/negated.rise no instruction negates 32 bits, whatever the compiler made of
the text; a negation written plainly is found. Prints `ok NAME`, `not ok NAME` or `skip NAME: REASON`."""
import os
import re
import subprocess
import sys

import ptx_text

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("BUILD") or os.path.join(ROOT, "build")
RISEC = os.environ.get("RISEC") or os.path.join(BUILD, "release", "risec")
PROGRAM = os.path.join(ROOT, "tests", "programs", "negated.rise")
PLAIN = 'extern "C" __global__ void k(int *xs) { xs[threadIdx.x] = min(5, -xs[threadIdx.x]); }\n'
NEGATION = re.compile(r"(?:neg\.s32\s.*|sub\.s32\s+%\w+, 0, .*)")


def negations(nvrtc, text):
    kernels = ptx_text.ptx_kernels(ptx_text.ptx_of(nvrtc, text))
    return [f"{name}: {line}" for name, lines in kernels.items() for line in lines if NEGATION.match(line)]


def main():
    nvrtc = ptx_text.find_nvrtc()
    if not nvrtc:
        print("skip negations in PTX: no libnvrtc.so.13 or .12")
        return 0
    text = subprocess.run([RISEC, PROGRAM, "--emit=cuda"], capture_output=True, text=True, check=True).stdout
    found, seen = negations(nvrtc, text), negations(nvrtc, PLAIN)
    print("not ok" if found else "ok", "the PTX of tests/programs/negated.rise negates nothing")
    for line in found:
        print("# " + line)
    print("ok" if seen else "not ok", "a plain negation is found")
    return bool(found or not seen)


if __name__ == "__main__":
    sys.exit(main())
