#!/usr/bin/env python3
"""Runs each entry of the programs several times on the same inputs, and compares the results bit by bit.

    tests/gpu/repeat.py RISEC DEVICE PROGRAM.rise...     a line `ok NAME` or `not ok NAME: why` for each entry"""
import glob
import json
import os
import subprocess
import sys
import tempfile

RUNS = 4
# The first that the entry takes: ragged sizes before such as some entries want.
SIZES = {1: [[3000001], [3000000]], 2: [[1003, 4099], [1024, 4096]], 3: [[500, 333, 417], [512, 512, 512]]}


def manifest(risec, program):
    out = subprocess.run([risec, program, "--emit=manifest", "-o", "-"], check=True, stdout=subprocess.PIPE).stdout
    found = json.loads(out)
    if found["format"] != 4:
        raise SystemExit(f"repeat.py knows manifests of format 3, and risec writes {found['format']}")
    return found["entries"]


def results(folder):
    found = []
    for path in sorted(glob.glob(os.path.join(folder, "*.npy"))):
        with open(path, "rb") as file:
            found.append(file.read())
        os.remove(path)
    return found


def repeat(risec, device, program, entry):
    inputs = [a["name"] + ("=uniform:-100:100" if "f" in a["elem"] else "=uniform") for a in entry["arguments"] if a["direction"] == "in"]
    why = "no sizes for it"
    for sizes in SIZES.get(len(entry["sizes"]), []):
        with tempfile.TemporaryDirectory() as folder:
            command = [risec, "run", program, entry["name"], "--device", device, "--seed", "7", "--out", os.path.join(folder, "out.npy")]
            command += [word for name, n in zip(entry["sizes"], sizes) for word in ("--set", f"{name}={n}")]
            command += [word for name in inputs for word in ("--arg", name)]
            first, different = None, 0
            for _ in range(RUNS):
                done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
                if done.returncode:
                    why = done.stderr.strip().split("\n")[0]
                    break
                found = results(folder)
                first = first or found
                different += found != first
            else:
                return f"{different} of {RUNS - 1} runs differ from the first" if different or not first else None
    return why


def main():
    risec, device, failed = sys.argv[1], sys.argv[2], 0
    for program in sys.argv[3:]:
        for entry in manifest(risec, program):
            why = repeat(risec, device, program, entry)
            name = f"repeat-{os.path.basename(program)[:-5]}-{entry['name']}"
            print(f"not ok {name}: {why}" if why else f"ok {name}", flush=True)
            failed |= bool(why)
    return failed


if __name__ == "__main__":
    sys.exit(main())
