#!/usr/bin/env python3
"""nvcc and NVRTC compile what risec emits for every program in examples/ and tests/cuda/, and the texts of the printer's unit test, without a warning; nvcc also
compiles the hand-written kernels, tests/handwritten/*.cu, whose results text.py checks.

    tests/scripts/nvcc.py                those
    tests/scripts/nvcc.py FILE.cu...     these texts

RISEC_LEVEL=whole (the default): NVRTC makes code of one text in six for the oldest architecture, and of one in six for the newest; nvcc's front end reads the others for one, and the host compiler their
host functions, which NVRTC does not see. RISEC_LEVEL=all: all texts, all architectures, and nvcc makes code, too.

Prints `ok NAME`, `not ok NAME` or `skip NAME: REASON` for each. Many texts are compiled together, each in a namespace of its own: most of the time goes into starting compilers.
When that fails each is compiled alone, to tell which one is wrong."""
import ctypes
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass

from ptx_text import CUDA, find_nvrtc, release_of_nvrtc

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("BUILD") or os.path.join(ROOT, "build")
RISEC = os.environ.get("RISEC") or os.path.join(BUILD, "release", "risec")
PRINTER_TEST = os.path.join(BUILD, "release", "unit", "test_cuda_print")
ALL = os.environ.get("RISEC_LEVEL") == "all"
ARCHS = ("75", "80", "90", "100") if ALL else ("75", "100")
# nvcc's optimizer and assembler are NVRTC's where both are of one release. NVRTC makes code of each text for all of ARCHS; then nvcc makes it for NVCC_ARCHS, and only its
# front end and the host compiler read the text for FRONT_ARCHS.
NVCC_ARCHS, FRONT_ARCHS = (("90",), ("75", "80", "100")) if ALL else ((), ("90",))
TEXTS_TOGETHER = 64


@dataclass
class Text:
    name: str
    path: str
    text: str


# ---- texts ---------------------------------------------------------------------------------------------------------------------------


def read(name, path):
    with open(path) as file:
        return Text(name, path, file.read())


def emitted(work):
    """Texts, and the names and messages of programs that risec does not compile."""
    texts, refused = [], []
    for path in sorted(glob.glob(f"{ROOT}/examples/*.rise")) + sorted(glob.glob(f"{ROOT}/examples/high/*.rise")) + sorted(glob.glob(f"{ROOT}/tests/cuda/*.rise")):
        folder, name = os.path.basename(os.path.dirname(path)), os.path.basename(path)[: -len(".rise")]
        out = os.path.join(work, f"{folder}.{name}.cu")
        done = subprocess.run([RISEC, path, "-o", out], capture_output=True, text=True)
        if done.returncode:
            refused.append((f"{folder}/{name} risec", done.stdout + done.stderr))
        else:
            texts.append(read(f"{folder}/{name}", out))
    folder = os.path.join(work, "printer")
    os.mkdir(folder)
    done = subprocess.run([PRINTER_TEST, folder], capture_output=True, text=True)
    printed = sorted(glob.glob(f"{folder}/*.cu"))
    if done.returncode or not printed:
        refused.append(("printer", done.stdout + done.stderr))
    return texts + [read("printer/" + os.path.basename(path)[: -len(".cu")], path) for path in printed], refused


def handwritten():
    return [read("handwritten/" + os.path.basename(path)[: -len(".cu")], path) for path in sorted(glob.glob(f"{ROOT}/tests/handwritten/*.cu"))]


def batches(texts):
    """Lists of texts that define no C function twice."""
    found = []
    for text in texts:
        names = set(re.findall(r'extern\s*"C"[^;{}=]*?\b(\w+)\s*\((?!\s*[\d\s,]+\))', text.text))
        for taken, batch in found:
            if not taken & names and len(batch) < TEXTS_TOGETHER:
                taken |= names
                batch.append(text)
                break
        else:
            found.append((names, [text]))
    return [batch for _, batch in found]


def joined(batch):
    """One text. What is included comes first; risec's helpers, which a file has once, are needed in each namespace."""
    include = re.compile(r"^[ \t]*#[ \t]*include\b.*$", re.M)
    head = sorted({line for text in batch for line in include.findall(text.text)})
    parts = [f'#undef RISE_HELPERS\nnamespace text{k} {{\n#line 1 "{text.path}"\n{include.sub("", text.text)}\n}}\n' for k, text in enumerate(batch)]
    return "\n".join(head) + "\n" + "".join(parts)


# ---- compilers: each gives what is wrong with a text, or "" -----------------------------------------------------------------------------


def find_nvcc():
    return shutil.which("nvcc") or shutil.which(f"{CUDA}/bin/nvcc")


def release_of_nvcc(nvcc):
    """(13, 0), or None."""
    said = re.search(r"release (\d+)\.(\d+)", subprocess.run([nvcc, "--version"], capture_output=True, text=True).stdout)
    return said and (int(said[1]), int(said[2]))


def nvcc_compiles(nvcc, text, work, codes, front):
    """To machine code for the architectures in `codes`; for those in `front` up to LTO IR, which is where the front end ends and the optimizer begins."""
    path = os.path.join(work, "nvcc.cu")
    with open(path, "w") as file:
        file.write(text)
    to_code = [f"-gencode=arch=compute_{arch},code=sm_{arch}" for arch in codes]
    to_ir = [f"-gencode=arch=compute_{arch},code=lto_{arch}" for arch in front]
    host = ["-c", "-Xcompiler", "-Wall,-Wextra,-Wno-unused-parameter", "-o", path + ".o"]
    # One call for all architectures: the host's part is compiled once, with the code where there is any.
    calls = [[*to_code, *host]] if to_code else []
    if to_ir:
        calls.append([*to_ir, "-rdc=true", *(["-fatbin", "-o", path + ".fatbin"] if to_code else host)])
    for call in calls:
        done = subprocess.run([nvcc, *call, "-Werror", "all-warnings", path], capture_output=True, text=True)
        # A warning of the host compiler does not fail nvcc.
        said = (done.stdout + done.stderr).strip()
        if said or done.returncode:
            return said or f"exit code {done.returncode}"
    return ""


def nvrtc_archs(nvrtc):
    """All that it makes code for: 75, 80, ..."""
    count = ctypes.c_int()
    nvrtc.nvrtcGetNumSupportedArchs(ctypes.byref(count))
    archs = (ctypes.c_int * count.value)()
    nvrtc.nvrtcGetSupportedArchs(archs)
    return list(archs)


def nvrtc_log(nvrtc, text, arch):
    """What is wrong with the text on an architecture, or ""."""
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    options = [f"--gpu-architecture=sm_{arch}".encode(), b"--std=c++17"]
    if nvrtc.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"nvrtc.cu", 0, None, None):
        return "nvrtcCreateProgram failed"
    result = nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value + 1)
    nvrtc.nvrtcGetProgramLog(program, log)
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    said = log.value.decode(errors="replace").strip()
    return f"sm_{arch}: result {result}\n{said}" if result or said else ""


def nvrtc_compiles(nvrtc, text, archs):
    return next((wrong for arch in archs for wrong in [nvrtc_log(nvrtc, text, arch)] if wrong), "")


def shares(texts):
    """The texts of which NVRTC makes code, for each architecture: all of them for all, or one in six for the oldest and one in six for the newest."""
    if ALL:
        return [(texts, ARCHS)]
    return [(texts[::6], ARCHS[:1]), (texts[3::6], ARCHS[-1:])]


def for_nvcc(texts, nvrtc):
    """Those that NVRTC's front end does not read already."""
    return texts if ALL or not nvrtc else [text for k, text in enumerate(texts) if k % 3]


# ---- all of them -------------------------------------------------------------------------------------------------------------------------


def report(name, wrong):
    print(f"{'not ok' if wrong else 'ok'} {name}")
    for line in wrong.splitlines():
        print("# " + line)
    sys.stdout.flush()
    return bool(wrong)


def check(texts, what, compiles, codes, front=()):
    """True: something is wrong. `front`: the architectures for which only the front end reads the texts."""
    archs = ", ".join(filter(None, (" ".join(codes), "front end: " + " ".join(front) if front else "")))
    failed = False
    for batch in batches(texts):
        together = compiles(joined(batch))
        alone = [compiles(text.text) if together else "" for text in batch]
        for text, wrong in zip(batch, alone):
            # If each is right alone and all are wrong together, then this script is wrong.
            failed |= report(f"{text.name} {what} ({archs})", wrong or (together if not any(alone) else ""))
    return failed


def main(paths):
    failed = False
    with tempfile.TemporaryDirectory() as work:
        if paths:
            texts, refused, hand = [read(path, path) for path in paths], [], []
        else:
            (texts, refused), hand = emitted(work), handwritten()
        for name, why in refused:
            failed |= report(name, why or "no text")
        nvcc, nvrtc = find_nvcc(), find_nvrtc()
        if nvcc:
            again = nvrtc and release_of_nvcc(nvcc) == release_of_nvrtc(nvrtc)
            codes, front = (NVCC_ARCHS, FRONT_ARCHS) if again else (ARCHS, ())
            failed |= check(for_nvcc(texts, again), "nvcc", lambda text: nvcc_compiles(nvcc, text, work, codes, front), codes, front)
            # Those that people wrote are compiled by nvcc alone.
            codes, front = (ARCHS, ()) if ALL else ((), FRONT_ARCHS)
            failed |= check(hand, "nvcc", lambda text: nvcc_compiles(nvcc, text, work, codes, front), codes, front)
        else:
            print(f"skip {len(texts) + len(hand)} texts nvcc: no nvcc on PATH or in {CUDA}/bin")
        if nvrtc:
            for share, archs in shares(texts):
                failed |= check(share, "nvrtc", lambda text, archs=archs: nvrtc_compiles(nvrtc, text, archs), archs)
        else:
            print(f"skip {len(texts)} texts nvrtc: no libnvrtc.so.13 or .12")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
