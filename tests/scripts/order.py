#!/usr/bin/env python3
"""std.order against the definition, to the bit, for each type, with NaN of any bits, both zeros, infinities, equal elements.

    order.py [SEED] [DEVICE...]        RISEC names the binary; the devices are sim and ref unless named (also gpu)
"""
import os
import random
import struct
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
PROGRAM = f"{ROOT}/tests/run/order.rise"
FLOATS = {"f16": (10, 16), "bf16": (7, 16), "f32": (23, 32), "f64": (52, 64)}  # bits of the mantissa, of all
NPY = {"f16": "<f2", "bf16": "<u2", "f32": "<f4", "f64": "<f8", **{f"{c}{b}": f"{'|' if b == 8 else '<'}{c}{b // 8}" for c in "iu" for b in (8, 16, 32, 64)}}
CANONICAL = {kind: (1 << (bits - 1)) - 1 for kind, (_, bits) in FLOATS.items()}
SIZES = (1, 2, 31, 1000, 4100)


def npy(path, kind, values):
    """Elements by their bits."""
    width = int(NPY[kind][2:])
    header = f"{{'descr': '{NPY[kind]}', 'fortran_order': False, 'shape': ({len(values)},), }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        file.write(b"".join(v.to_bytes(width, "little") for v in values))


def read_npy(path):
    with open(path, "rb") as file:
        data = file.read()
    return int.from_bytes(data[10 + struct.unpack("<H", data[8:10])[0] :], "little")


def key(kind, bits):
    """The element as something that is ordered: -0 before 0; None: NaN."""
    if kind not in FLOATS:
        width = int(NPY[kind][2:]) * 8
        return bits - (1 << width) if kind[0] == "i" and bits >> (width - 1) else bits
    mantissa, width = FLOATS[kind]
    sign, rest = bits >> (width - 1), bits & ((1 << (width - 1)) - 1)
    if rest > ((1 << (width - 1 - mantissa)) - 1) << mantissa:
        return None
    return -1 - rest if sign else rest


def expected(name, kind, values):
    keys = [key(kind, v) for v in values]
    nans = [i for i, k in enumerate(keys) if k is None]
    greatest = name in ("greatest", "argmax")
    if name in ("least", "greatest"):
        return CANONICAL[kind] if nans else values[keys.index((max if greatest else min)(keys))]
    if nans:
        return nans[0]
    equal = [0 if kind in FLOATS and k == -1 else k for k in keys]
    return equal.index((max if greatest else min)(equal))


def values_of(rng, kind, n):
    width = int(NPY[kind][2:]) * 8
    if kind not in FLOATS:
        return [rng.choice((0, 1, 2, (1 << width) - 1, 1 << (width - 1), (1 << (width - 1)) - 1, rng.getrandbits(width))) for _ in range(n)]
    mantissa, _ = FLOATS[kind]
    inf = ((1 << (width - 1 - mantissa)) - 1) << mantissa
    minus = 1 << (width - 1)
    pools = [
        [0, minus],
        [inf, minus | inf],
        [inf],
        [minus | inf],
        [1, minus | 1, 0, minus],
        [rng.randrange(inf) | rng.choice((0, minus)) for _ in range(6)],
        [rng.randrange(inf) | rng.choice((0, minus)) for _ in range(max(1, n))],
    ]
    values = [rng.choice(rng.choice(pools[:1] + pools[4:]) if rng.random() < 0.5 else pools[rng.randrange(len(pools))]) for _ in range(n)]
    if rng.random() < 0.3:
        pool = rng.choice(pools)
        values = [rng.choice(pool) for _ in range(n)]
    for _ in range(rng.choice((0, 0, 1, 3))):
        values[rng.randrange(n)] = inf + rng.randrange(1, 1 << mantissa) | rng.choice((0, minus))
    return values


def one(case):
    name, kind, n, seed, scratch, devices = case
    rng = random.Random(f"{seed} {name} {kind} {n}")
    values = values_of(rng, kind, n)
    want = expected(name, kind, values)
    base = f"{scratch}/{name}_{kind}_{n}"
    npy(f"{base}.npy", kind, values)
    for device in devices:
        done = subprocess.run([os.environ["RISEC"], "run", PROGRAM, f"{name}_{kind}", "--arg", f"xs={base}.npy", "--device", device, "--out", f"{base}_out.npy"],
                              capture_output=True, text=True, timeout=120)
        if done.returncode:
            return f"{name}_{kind}, n = {n}, {device}: {done.stderr}"
        got = read_npy(f"{base}_out.npy")
        if got != want:
            return f"{name}_{kind}, n = {n}, {device}: {got:#x} instead of {want:#x}"
    return ""


def main():
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 20261122
    devices = sys.argv[2:] or ["sim", "ref"]
    with tempfile.TemporaryDirectory() as scratch:
        cases = [(name, kind, n, seed, scratch, devices) for kind in NPY for name in ("least", "greatest", "argmin", "argmax") for n in SIZES]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            wrong = [line for line in pool.map(one, cases) if line]
        empty = f"{scratch}/empty.npy"
        npy(empty, "f32", [])
        done = subprocess.run([os.environ["RISEC"], "run", PROGRAM, "argmin_f32", "--arg", f"xs={empty}"], capture_output=True, text=True, timeout=60)
        if done.returncode != 1 or "argmin_f32 needs n >= 1" not in done.stderr:
            wrong.append(f"of an empty array: exit code {done.returncode}, {done.stderr}")
    print(f"{'not ok' if wrong else 'ok'} order")
    print(f"# seed {seed}, {len(cases)} arrays on {', '.join(devices)}")
    for line in "\n".join(wrong).splitlines():
        print(f"# {line}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
