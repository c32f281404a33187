#!/usr/bin/env python3
"""`risec doctor` where there is nothing of CUDA, and with libraries and programs that stand in for it.

    tests/scripts/doctor.py

RISEC names the binary. Prints `ok NAME`, `not ok NAME` or `skip NAME: reason`."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RISEC = os.path.abspath(os.environ.get("RISEC") or os.path.join(ROOT, "build/release/risec"))
CC = shutil.which("cc")
PARTS = {"driver", "GPU", "NVRTC", "nvcc", "cache"}
failed = False

# A driver with %s, of version 12.4. Functions that doctor does not call give an error.
DRIVER = """
static const char *names[] = {"Stand-in"};
%s
int cuInit(unsigned flags) { return INIT; }
int cuDriverGetVersion(int *version) { *version = 12040; return 0; }
int cuGetErrorString(int error, const char **text) { *text = "all is lost"; return 0; }
int cuDeviceGetCount(int *count) { *count = COUNT; return 0; }
int cuDeviceGet(int *device, int ordinal) { *device = ordinal; return 0; }
int cuDeviceGetName(char *name, int size, int device)
{
    for (int i = 0; i < 9; i++)
        name[i] = names[0][i];
    return 0;
}
int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    *value = attribute == 75 ? 9 : attribute == 76 ? 0 : 7;
    return 0;
}
"""


def say(good, name, why=""):
    global failed
    failed |= not good
    print(("ok " if good else "not ok ") + name)
    if not good:
        print("# " + str(why).replace("\n", "\n# "))


def doctor(env, *words):
    clean = {"PATH": "/nowhere", "LC_ALL": "C", **env}
    return subprocess.run([RISEC, "doctor", *words], env=clean, capture_output=True, text=True)


def parts(env):
    done = doctor(env, "--json")
    return json.loads(done.stdout), done.returncode


def driver_symbols():
    """The functions of the driver that librise calls."""
    with open(f"{ROOT}/runtime/cuda_api.def", encoding="utf-8") as file:
        return [line.split('"')[1] for line in file if line.startswith("CUDA_FN(")]


def make_driver(folder, head):
    text = DRIVER % head
    for symbol in driver_symbols():
        if f"int {symbol}(" not in text:
            text += f"int {symbol}(void) {{ return 999; }}\n"
    source = os.path.join(folder, "driver.c")
    with open(source, "w", encoding="utf-8") as file:
        file.write(text)
    library = os.path.join(folder, "libcuda.so.1")
    subprocess.run([CC, "-shared", "-fPIC", "-w", source, "-o", library], check=True)


def check_nothing(folder):
    found, code = parts({"HOME": folder})
    say(set(found["parts"]) == PARTS and found["parts"]["cache"]["state"] == "found", "parts", found)
    say(code == 0, "exit code", code)
    found, code = parts({})
    cache = found["parts"]["cache"]
    say(cache["state"] == "missing" and code == 0, "no cache", cache)
    text = doctor({"HOME": folder}).stdout
    say("Works here:\n" in text and all(f"\n{part} " in text for part in PARTS), "text", text)
    program = os.path.join(folder, "sums.rise")
    shutil.copy(f"{ROOT}/docs/tutorial/tunable.rise", program)
    shutil.copy(f"{ROOT}/docs/tutorial/tunable.rise.tune", program + ".tune")
    text = doctor({"HOME": folder}, program).stdout
    say("sums on sim" in text, "tuning", text)


def check_cache(folder):
    cache = os.path.join(folder, "open")
    os.makedirs(os.path.join(cache, "rise"))
    os.chmod(os.path.join(cache, "rise"), 0o777)
    found, code = parts({"XDG_CACHE_HOME": cache})
    good = found["parts"]["cache"]["state"] == "broken" and code == 3
    say(good, "a cache that others may write to", found["parts"]["cache"])


def check_nvcc(folder):
    nvcc = os.path.join(folder, "nvcc")
    with open(nvcc, "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\necho 'Cuda compilation tools, release 99.5, V99.5.1'\n")
    os.chmod(nvcc, 0o755)
    found, _ = parts({"HOME": folder, "NVCC": nvcc})
    part = found["parts"]["nvcc"]
    say(part["version"] == "99.5" and part["where"] == nvcc, "nvcc", part)
    with open(nvcc, "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\nexit 1\n")
    found, code = parts({"HOME": folder, "NVCC": nvcc})
    say(found["parts"]["nvcc"]["state"] == "broken" and code == 3, "a broken nvcc", found)


def check_driver(folder):
    if not CC:
        print("skip a driver: no C compiler")
        return
    env = {"HOME": folder, "LD_LIBRARY_PATH": folder}
    make_driver(folder, "enum { INIT = 0, COUNT = 2 };")
    found, code = parts(env)
    driver, gpu = found["parts"]["driver"], found["parts"]["GPU"]
    good = driver["version"] == "CUDA 12.4" and driver["where"] == f"{folder}/libcuda.so.1"
    say(good and code == 0, "a driver", driver)
    good = gpu["version"] == "2" and gpu["more"].startswith("Stand-in, sm_90, 7 multiprocessors; ")
    say(good, "two GPUs", gpu)
    make_driver(folder, "enum { INIT = 0, COUNT = 0 };")
    found, code = parts(env)
    say(found["parts"]["GPU"]["state"] == "missing" and code == 0, "no GPU", found)
    make_driver(folder, "enum { INIT = 999, COUNT = 0 };")
    found, code = parts(env)
    gpu = found["parts"]["GPU"]
    say(gpu["state"] == "broken" and gpu["more"] == "all is lost" and code == 3, "a broken GPU", gpu)
    os.remove(f"{folder}/libcuda.so.1")


with tempfile.TemporaryDirectory() as scratch:
    check_nothing(scratch)
    check_cache(scratch)
    check_nvcc(scratch)
    check_driver(scratch)
sys.exit(failed)
