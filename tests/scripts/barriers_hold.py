#!/usr/bin/env python3
"""No load or store of global memory that a kernel both reads and writes is moved over a barrier by CUDA's compiler, and none of its loads is `ld.global.nc`.

    tests/scripts/barriers_hold.py [SEED]

For each way without a barrier from a barrier, an access of such memory or the kernel's begin to an access of it in the PTX there has to be one in the emitted text. The programs: those of
tests/gpu, tests/programs, tests/cuda and examples that have such memory, and random ones of a seed, PROGRAMS in all. One in EVERY of the former; each at the level `all`
(RISEC_LEVEL). Where `__restrict__` is put back in front of such memory, each of
tests/gpu/exchanged_*.rise is found, or this script finds nothing. Prints `ok NAME`, `not ok NAME` or `skip NAME: REASON`."""
import glob
import os
import re
import subprocess
import sys
import tempfile

import ptx_text

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("BUILD") or os.path.join(ROOT, "build")
RISEC = os.environ.get("RISEC") or os.path.join(BUILD, "release", "risec")
RANDOM = os.path.join(BUILD, "release", "unit", "test_random")
EVERY, PROGRAMS = (1, 200) if os.environ.get("RISEC_LEVEL") == "all" else (4, 50)
SEED = 1001
PLANTED = sorted(glob.glob(f"{ROOT}/tests/gpu/exchanged_*.rise"))


def emitted(path):
    done = subprocess.run([RISEC, path, "--emit=cuda"], capture_output=True, text=True, timeout=60)
    return ptx_text.unwrapped(done.stdout) if done.returncode == 0 else ""


def programs(seed, work):
    """(name, text) of programs whose kernels exchange values through global memory."""
    folders = ("tests/gpu", "tests/programs", "tests/cuda", "examples", "examples/high")
    for path in [path for folder in folders for path in sorted(glob.glob(f"{ROOT}/{folder}/*.rise"))][::EVERY]:
        yield os.path.relpath(path, ROOT), emitted(path)
    for k in range(20 * PROGRAMS):
        path = os.path.join(work, f"random_{k}.rise")
        with open(path, "w") as file:
            subprocess.run([RANDOM, "--seed", str(seed), "--show", str(k)], stdout=file, check=True)
        yield f"random {seed} {k}", emitted(path)


def moved(text, ptx):
    """What the PTX does that the text does not: (kernel, parameter, what) each."""
    found, compiled = [], ptx_text.ptx_kernels(ptx)
    for kernel in ptx_text.text_kernels(text):
        buffers = ptx_text.exchanged(kernel)
        steps = ptx_text.ptx_steps(compiled[kernel.name], {step.place for step in kernel.steps})
        allowed = ptx_text.without_barrier(kernel.steps, buffers)
        for buffer, before, after in sorted(ptx_text.without_barrier(steps, buffers) - allowed):
            found.append((kernel.name, kernel.params[buffer][1], f"a {after} comes after the {before} without a barrier between"))
        for step in steps:
            for buffer in step.reads & buffers:
                if "ld.global.nc" in step.line:
                    found.append((kernel.name, kernel.params[buffer][1], step.line))
    return found


def kept(text):
    """The text without the kernels that exchange no values, and without those that only have wider indices than another: NVRTC has less to do."""
    for kernel in reversed(ptx_text.text_kernels(text)):
        if not ptx_text.exchanged(kernel) or kernel.name.endswith("_64"):
            text = text[: kernel.first] + text[kernel.last :]
    return text


def with_promise(text):
    """`__restrict__` on every pointer of every kernel, as once."""
    heads = {head for kernel in ptx_text.text_kernels(text) for head in kernel.heads}
    for first, last in sorted(heads, reverse=True):
        text = text[:first] + re.sub(r"\*(?!__restrict__)(\w+)", r"*__restrict__ \1", text[first:last]) + text[last:]
    return text


def main(seed):
    nvrtc = ptx_text.find_nvrtc()
    if not nvrtc:
        print("skip barriers hold in PTX: no libnvrtc.so.13 or .12")
        return 0
    wrong, seen = [], 0
    with tempfile.TemporaryDirectory() as work:
        for name, text in programs(seed, work):
            text = kept(text)
            if not ptx_text.text_kernels(text):
                continue
            seen += 1
            wrong += [f"{name}: {param} of {kernel}: {what}" for kernel, param, what in moved(text, ptx_text.ptx_of(nvrtc, text))]
            if seen == PROGRAMS:
                break
    blind = []
    for path in PLANTED:
        text = kept(emitted(path))
        if not moved(text, ptx_text.ptx_of(nvrtc, with_promise(text))):
            blind.append(f"nothing is found in {os.path.basename(path)}")
    failed = False
    for bad, what in ((wrong, f"no access of exchanged memory is moved over a barrier in the PTX of {seen} programs, seed {seed}"),
                      ([] if seen == PROGRAMS else [f"{seen}"], f"there are {PROGRAMS} programs with exchanged memory"),
                      (blind if PLANTED else ["no programs"], f"accesses are moved where `__restrict__` is put back, in {len(PLANTED)} programs")):
        failed |= bool(bad)
        print(f"{'not ok' if bad else 'ok'} {what}")
        for line in bad:
            print("# " + line)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else SEED))
