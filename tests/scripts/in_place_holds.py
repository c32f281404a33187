#!/usr/bin/env python3
"""What librise compiles for a launch in place has no load that may pass a store.

    tests/scripts/in_place_holds.py [FILE...]

NVRTC makes PTX of it: `ld.global.nc` is in none, nor a load with a hint. With `__restrict__` back in its
place there are such loads, or this script would find nothing. Prints `ok NAME`, `not ok NAME` or
`skip NAME: REASON`."""
import glob
import os
import re
import subprocess
import sys

import ptx_text

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("BUILD") or os.path.join(ROOT, "build")
TEXTS = os.path.join(BUILD, "release", "unit", "test_one_memory")
PATTERNS = ("examples/s*.rise", "examples/high/[mr]*.rise", "tests/programs/kept.rise", "tests/programs/read_once.rise")
EMPTY = "#define __restrict__\n"
PASSING = re.compile(r"ld\.global\S*\.(?:nc|cs)|L2::cache_hint")


def main(files):
    nvrtc = ptx_text.find_nvrtc()
    if not nvrtc:
        print("skip in place holds in PTX: no libnvrtc.so.13 or .12")
        return 0
    files = files or sorted(path for p in PATTERNS for path in glob.glob(f"{ROOT}/{p}"))
    listed = subprocess.run([TEXTS, "--texts", *files], capture_output=True, text=True, check=True)
    texts = listed.stdout.split("// KERNEL\n")[1:]
    bad, seen = [], None
    for text in texts:
        names = re.findall(r"\b(\w+)\(\n?[^;{]*\)\n\{", text)
        if PASSING.search(ptx_text.ptx_of(nvrtc, text)):
            bad.append(names[-1] if names else text[-200:])
        seen = seen or PASSING.search(ptx_text.ptx_of(nvrtc, text.replace(EMPTY, "")))
    some = [] if seen else [f"in none of {len(texts)} kernels"]
    for wrong, what in (
        (bad, "no load of a launch in place passes a store in PTX"),
        (some, "one does where `__restrict__` is put back"),
    ):
        print(f"{'not ok' if wrong else 'ok'} {what}")
        for line in wrong:
            print("# " + line)
    return int(bool(bad or some))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
