#!/usr/bin/env python3
"""What risec writes: a regular file is the old one or the new one, whole, with the old one's permissions, through links; pipes and devices are written directly; what a command
reads it does not write over. RISEC names the binary. SEED: of the moments at which processes are killed."""
import glob
import os
import random
import resource
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RISEC = os.environ["RISEC"]
SEED = int(os.environ.get("SEED", "1"))
KILLS = 40
PROGRAM = """import "other.rise"
entry sums {n: nat} (block: nat = 64 in [32, 64]) (xs: n.f32): ceilDiv(n, block).f32
  where block >= 1 =
  xs |> padTo(block, 0) |> split(block) |> mapGlobal(reduceSeq((+), 0))
"""
HIGH = """entry twice {n: nat} (xs: n.f32): n.f32 = xs |> map(fun x => 2.0f32 * x)
"""
failed = False


def report(name, wrong=""):
    global failed
    failed |= bool(wrong)
    print(f"not ok {name}\n# " + wrong.replace("\n", "\n# ") if wrong else f"ok {name}", flush=True)


def risec(*args, limit=None, **more):
    before = (lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))) if limit else None
    return subprocess.run([RISEC, *args], capture_output=True, text=True, preexec_fn=before, timeout=120, **more)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def write(path, data):
    with open(path, "wb") as file:
        file.write(data)


def parts():
    return glob.glob(".risec-*")


def said(done, code, *words):
    """What is wrong with how it ended."""
    missing = [word for word in words if word not in done.stderr]
    return "" if done.returncode == code and not missing else f"exit code {done.returncode}, wanted {code} and {words}\n{done.stdout}{done.stderr}"


TUNE = ("tune", "tuned.rise", "--device", "sim", "--sizes", "n=64", "--set", "numSM=8")
# Name, arguments, what is written. Each of them is a writer of its own.
WRITERS = (
    ("cuda", ("sum.rise", "-o", "x.cu"), "x.cu"),
    ("manifest", ("sum.rise", "-o", "x.json"), "x.json"),
    ("emit", ("sum.rise", "--emit=core", "-o", "x.core"), "x.core"),
    ("npy", ("run", "sum.rise", "--set", "n=20000", "--arg", "xs=iota", "--out", "x.npy"), "x.npy"),
    ("steps", ("lower", "high.rise", "--save", "x.steps"), "x.steps"),
    ("tuning", (*TUNE, "-o", "x.tune"), "x.tune"),
)


def test_whole(name, args, path):
    """A new file; the same through a link, with the old mode; a file size limit, as a full disk, leaves the old one."""
    if os.path.exists(path):
        os.remove(path)
    wrong = said(risec(*args), 0)
    new = read(path) if os.path.exists(path) else b""
    report(f"{name}-written", wrong or ("" if new else "nothing was written"))
    os.rename(path, "kept")
    os.chmod("kept", 0o640)
    os.symlink("kept", path)
    # What stands in a tuning file is kept, so it has to be one.
    old = b"tuning 1\n" if name == "tuning" else b"old\n"
    write("kept", old)
    wrong = said(risec(*args), 0)
    good = os.path.islink(path) and len(read("kept")) > len(old) and stat.S_IMODE(os.stat("kept").st_mode) == 0o640
    report(f"{name}-through-a-link-with-its-mode", wrong or ("" if good else "the link or the mode is another, or nothing was written"))
    write("kept", old)
    wrong = said(risec(*args, limit=64), 2, "E0628", "File too large")
    report(f"{name}-full-disk", wrong or ("" if read("kept") == old else "the old file is gone") or ("" if not parts() else f"left behind: {parts()}"))
    os.remove(path)
    os.remove("kept")


def test_kinds():
    os.symlink("absent", "dangling")
    wrong = said(risec("sum.rise", "-o", "x.cu"), 0) or said(risec("sum.rise", "--emit=cuda", "-o", "dangling"), 0)
    text = read("x.cu")
    report("link-to-nothing", wrong or ("" if os.path.islink("dangling") and read("absent") == text else "not what was wanted"))
    os.mkdir("folder")
    os.symlink("../absent", "folder/link")
    write("absent", b"")
    wrong = said(risec("sum.rise", "--emit=cuda", "-o", "folder/link"), 0)
    report("link-out-of-a-folder", wrong or ("" if read("absent") == text and os.path.islink("folder/link") else "not what was wanted"))
    os.symlink("circle", "circle")
    report("links-in-a-circle", said(risec("sum.rise", "--emit=cuda", "-o", "circle"), 2, "E0628"))
    report("folder", said(risec("sum.rise", "--emit=cuda", "-o", "folder"), 2, "E0628", "Is a directory"))
    old_mask = os.umask(0o027)
    risec("sum.rise", "-o", "masked.cu")
    os.umask(old_mask)
    report("new-mode", "" if stat.S_IMODE(os.stat("masked.cu").st_mode) == 0o640 else oct(os.stat("masked.cu").st_mode))
    os.mkfifo("pipe")
    got = []
    reader = threading.Thread(target=lambda: got.append(read("pipe")), daemon=True)
    reader.start()
    wrong = said(risec("sum.rise", "--emit=cuda", "-o", "pipe"), 0)
    reader.join(60)
    report("pipe", wrong or ("" if got == [text] and stat.S_ISFIFO(os.stat("pipe").st_mode) else "not what was wanted"))
    for args in ("--emit=cuda", "-o"), ("run", "--set", "n=100", "--arg", "xs=iota", "--out"):
        if os.path.exists("/dev/full"):
            report(f"device-{args[-1]}", said(risec(*args[:-1], "sum.rise", args[-1], "/dev/full"), 2, "E0628", "No space left"))
        else:
            print(f"skip device-{args[-1]}: no /dev/full")
    with open("all", "wb") as out:
        done = subprocess.run([RISEC, "sum.rise", "--emit=cuda", "-o", "/dev/stdout"], stdout=out, stderr=subprocess.PIPE, text=True)
    report("standard-output-by-name", said(done, 0) or ("" if read("all") == text else "not what was wanted"))
    if os.geteuid() == 0:
        print("skip read-only: root may write everything")
    else:
        os.chmod("masked.cu", 0o444)
        report("read-only", said(risec("sum.rise", "-o", "masked.cu"), 2, "E0628", "Permission denied"))


def killed(args, old, new, path, when):
    """What is wrong after a kill; `when`: seconds, or None for the moment at which the new file appears beside the old one."""
    write(path, old)
    process = subprocess.Popen([RISEC, *args], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    end = time.monotonic() + (60 if when is None else when)
    while process.poll() is None and time.monotonic() < end and not (when is None and parts()):
        time.sleep(0)
    process.send_signal(signal.SIGKILL)
    process.wait()
    got = read(path)
    for part in parts():
        os.remove(part)
    return ("" if got in (old, new) else f"{len(got)} bytes, neither the old file nor the new one"), got == new


def test_kills():
    print(f"# seed {SEED}")
    rng = random.Random(SEED)
    args, path = ("run", "copy.rise", "--device", "ref", "--set", "n=200000", "--arg", "xs=iota", "--out", "big.npy"), "big.npy"
    start = time.monotonic()
    wrong = said(risec(*args), 0)
    seconds, new, old = time.monotonic() - start, read(path), b"old " * 1000
    seen = set()
    for k in range(KILLS):
        why, is_new = killed(args, old, new, path, None if k % 4 == 0 else rng.uniform(0.5, 1.1) * seconds)
        wrong = wrong or why
        seen.add(is_new)
    report(f"{KILLS}-kills", wrong or ("" if False in seen else "none came before the end"))


def array(path, count):
    """count floats."""
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (%d,), }" % count
    header += b" " * (63 - (10 + len(header)) % 64) + b"\n"
    write(path, b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(4 * count))


def test_inputs():
    array("in.npy", 100)
    array("want.npy", 2)
    write("sum.rise.tune", b"tuning 1\n")
    os.symlink("other.rise", "soft.rise")
    if said(risec("lower", "high.rise", "--save", "x.steps"), 0):
        report("steps-for-inputs", "they cannot be saved")
    run = ("run", "sum.rise", "--set", "n=100", "--arg", "xs=in.npy")
    cases = (
        ("source", ("sum.rise", "--emit=cuda", "-o"), "sum.rise"),
        ("source-by-another-path", ("sum.rise", "--emit=cuda", "-o"), "folder/../sum.rise"),
        ("source-by-a-hard-link", ("sum.rise", "--emit=cuda", "-o"), "hard.rise"),
        ("import", ("sum.rise", "--emit=cuda", "-o"), "other.rise"),
        ("import-by-a-link", ("sum.rise", "--emit=cuda", "-o"), "soft.rise"),
        ("tuning-file", ("sum.rise", "--emit=cuda", "-o"), "sum.rise.tune"),
        ("input", (*run, "--out"), "in.npy"),
        ("expected", (*run, "--expect", "want.npy", "--out"), "want.npy"),
        ("result-over-source", (*run, "--out"), "sum.rise"),
        ("steps", ("lower", "high.rise", "--replay", "x.steps", "--save"), "x.steps"),
        ("tuning-over-source", (*TUNE, "-o"), "tuned.rise"),
    )
    for name, args, path in cases:
        if path == "hard.rise":
            os.link("sum.rise", path)
        old = read(path)
        wrong = said(risec(*args, path), 2, "E0636", "--force")
        report(f"not-over-{name}", wrong or ("" if read(path) == old else "it was written over"))
        if name != "tuning-over-source":  # which is no tuning file that could be gone on with
            wrong = said(risec(*args, path, "--force"), 0)
            report(f"forced-over-{name}", wrong or ("" if read(path) != old or name in ("steps", "expected") else "it was not written over"))
        write(path, old)
    wrong = said(risec("sum.rise", "-o", "copy.cu", "-o", "in.json"), 0)
    report("what-is-not-read-is-written", wrong)
    wrong = said(risec(*TUNE), 0)
    report("tuning-goes-on-in-its-file", wrong or ("" if b"entry " in read("tuned.rise.tune") else "nothing was written"))


def main():
    folder = tempfile.mkdtemp()
    os.chdir(folder)
    try:
        write("sum.rise", PROGRAM.encode())
        write("other.rise", b"def other (x: f32): f32 = x\n")
        write("high.rise", HIGH.encode())
        shutil.copy(f"{ROOT}/tests/run/tunable.rise", "tuned.rise")
        write("copy.rise", b"entry copy {n: nat} (xs: n.f32): n.f32 = xs |> mapGlobal(id)\n")
        for writer in WRITERS:
            test_whole(*writer)
        test_kinds()
        test_kills()
        test_inputs()
    finally:
        os.chdir("/")
        shutil.rmtree(folder)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
