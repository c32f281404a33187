#!/usr/bin/env python3
"""Times programs of one line, as a user would write them first, over drawn shapes and types, beside torch and torch.compile on the same GPU.

    bench/shapes/run.py CSV [--risec PATH] [--seed 19] [--rows 60] [--listed] [--seconds 460] [--only NAME,...] [--max-autotune]

Rows that CSV has already are not measured again, so a run in parts of at most --seconds goes on where the last one ended. Needs the NVIDIA driver, NVRTC and torch.

Each row is one of the 20 programs of programs.py, with a shape of 2^12 to 2^28 elements whose axes have 1 to 10^7, and a type. The method is that of bench/: calls in a
CUDA graph over buffers, of inputs and of results, that together are larger than the cache; medians of 7 rounds with the 10th and 90th percentile. risec has its turn before and after torch. TF32 is
off. `rate` is bytes that must move (each input once, each result once) in a second, less 1 us for a launch, as a part of the rate of a copy in the same run. Results are compared with torch's
before anything is timed. The last line has the geometric mean of risec's time over that of the faster rival, for rows where that one takes 5 us or more."""
import argparse
import csv
import io
import math
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from programs import LISTED, PROGRAMS, bytes_moved, entry_text, program_of, wide

ROTATE, CHAIN, ROUNDS = 256 << 20, 20, 7
LEAST, MOST, LONGEST = 1 << 12, 1 << 28, 10**7
FIELDS = ["program", "type", "sizes", "risec_us", "risec_p10", "risec_p90", "torch_us", "torch_p10", "torch_p90", "compile_us", "compile_p10", "compile_p90", "factor", "rate", "device"]


def draw(seed, rows):
    """Rows (program, type, sizes): each program in turn, log-uniform elements and axes."""
    source, names, drawn = random.Random(seed), list(PROGRAMS), []
    while len(drawn) < rows:
        name = names[len(drawn) % len(names)]
        kinds = PROGRAMS[name].types.split()
        kind = kinds[0] if source.random() < 0.5 else source.choice(kinds)
        sizes, left = {}, math.exp(source.uniform(math.log(LEAST), math.log(MOST)))
        axes = PROGRAMS[name].sizes.split()
        source.shuffle(axes)
        for axis in axes[:-1]:
            sizes[axis] = max(1, round(math.exp(source.uniform(0, math.log(min(left, LONGEST))))))
            left /= sizes[axis]
        sizes[axes[-1]] = max(1, round(left))
        if len(axes) > 1 and sizes[axes[-1]] > LONGEST:
            continue
        drawn.append((name, kind, {axis: sizes[axis] for axis in PROGRAMS[name].sizes.split()}))
    return drawn


def risec_times(risec, path, sizes):
    command = [risec, "bench", path, "f", "--csv", "--rounds", str(ROUNDS), "--untuned"]
    for name, value in sizes.items():
        command += ["--set", f"{name}={value}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    if not rows:
        raise RuntimeError((done.stderr.strip() or "no output").split("\n")[0])
    return [float(rows[0][key] or "nan") for key in ("chain_us", "chain_p10", "chain_p90")]


def torch_times(torch, function, inputs):
    def clock(work):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        work()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) * 1000
    for x in inputs[:3]:
        function(x)
    torch.cuda.synchronize()
    once = statistics.median(clock(lambda: function(inputs[-1])) for _ in range(3))
    calls = max(1, min(CHAIN, int(40000 / max(once, 1))))
    graph = torch.cuda.CUDAGraph()
    results = [None] * len(inputs)  # in memory of their own, as risec's are
    with torch.cuda.graph(graph):
        for i in range(calls):
            results[i % len(inputs)] = function(inputs[i % len(inputs)])
    graph.replay()
    times = sorted(clock(graph.replay) / calls for _ in range(ROUNDS))
    return [statistics.median(times), times[ROUNDS // 10], times[-1 - ROUNDS // 10]]


def tensors(torch, program, kind, sizes):
    type_of = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "f64": torch.float64, "i32": torch.int32, "u8": torch.uint8}
    made = []
    for shape in program.inputs:
        extents = [sizes[size] for size in shape.split()]
        if kind in ("i32", "u8"):
            made.append(torch.randint(0 if kind == "u8" else -4, 5, extents, device="cuda", dtype=type_of[kind]))
        else:
            made.append(torch.rand(extents, device="cuda", dtype=torch.float32).to(type_of[kind]))
    return made, {"torch": torch, "a": type_of[wide(kind)], "t": type_of[kind]}


def check(risec, path, sizes, inputs, want, folder):
    """The result of the entry, on the GPU, is torch's: within what types and sums allow."""
    import numpy
    command = [risec, "run", path, "f", "--device", "gpu", "--out", f"{folder}/result.npy"]
    names = [word.split(":")[0].split() for word in open(path, encoding="utf-8").read().split("(")[1:]]
    names = [name for group in names for name in group if name in ("xs", "ys", "zs", "y", "gs", "bs")][:len(inputs)]
    for name, tensor in zip(names, inputs):
        numpy.save(f"{folder}/{name}.npy", tensor.cpu().numpy())
        command += ["--arg", f"{name}={folder}/{name}.npy"]
    for name, value in sizes.items():
        command += ["--set", f"{name}={value}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    if done.returncode:
        return (done.stderr.strip() or "it ended with an error").split("\n")[0]
    got, want = numpy.load(f"{folder}/result.npy").astype("f8").ravel(), want.double().cpu().numpy().ravel()
    scale = max(1.0, float(numpy.abs(want).max()))
    far = float(numpy.abs(got - want).max()) if got.shape == want.shape else float("inf")
    return None if far <= 0.02 * scale else f"differs from torch by {far:g} of {scale:g}"


def copy_rate(torch):
    """Bytes a second of a device-to-device copy of 1 GiB, read and written."""
    a = torch.empty(1 << 30, dtype=torch.uint8, device="cuda")
    b = torch.empty_like(a)
    times = torch_times(torch, lambda x: b.copy_(x), [a])
    return 2 * a.numel() / times[0]


def measure(torch, o, folder, row, copy):
    name, kind, sizes = row
    program = program_of(name)
    path = f"{folder}/f.rise"
    with open(path, "w", encoding="utf-8") as file:
        file.write(entry_text(name, kind))
    one, words = tensors(torch, program, kind, sizes)
    function = eval("lambda x: " + program.torch, words)  # the text is programs.py's
    small = sum(x.numel() for x in one) <= 1 << 24 and kind != "bf16"
    fault = check(o.risec, path, sizes, one, function(one), folder) if small else None
    if fault:
        raise RuntimeError(fault)
    first = risec_times(o.risec, path, sizes)
    each = sum(x.numel() * x.element_size() for x in one)
    inputs = [one] + [[x.clone() for x in one] for _ in range(min(CHAIN - 1, ROTATE // max(each, 1)))]
    eager = torch_times(torch, function, inputs)
    torch.compiler.reset()
    try:
        made = torch.compile(function, dynamic=False, mode="max-autotune-no-cudagraphs" if o.max_autotune else None)
        compiled = torch_times(torch, made, inputs)
    except Exception as error:  # what torch.compile refuses has no time
        print(f"{name}: torch.compile: {str(error).splitlines()[0]}")
        compiled = [float("nan")] * 3
    del inputs, one
    torch.cuda.empty_cache()
    last = risec_times(o.risec, path, sizes)
    ours = [statistics.mean((first[0], last[0])), min(first[1], last[1]), max(first[2], last[2])]
    rival = min(x for x in (eager[0], compiled[0]) if x == x)
    rate = bytes_moved(name, kind, sizes) / max(ours[0] - 1, 0.1) / copy
    return ours, eager, compiled, ours[0] / rival, rate


def summary(path):
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    counted = [float(r["factor"]) for r in rows if min(float(r["torch_us"]), float(r["compile_us"]) if r["compile_us"] != "nan" else 1e30) >= 5]
    if counted:
        counted.sort()
        print(f"{len(rows)} rows, {len(counted)} of 5 us and more: geometric mean {math.exp(sum(map(math.log, counted)) / len(counted)):.3f}, three quarters at most "
              f"{counted[(3 * len(counted) - 1) // 4]:.2f}, worst {counted[-1]:.2f}")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("csv")
    p.add_argument("--risec", default="build/release/risec")
    p.add_argument("--seed", type=int, default=19)
    p.add_argument("--rows", type=int, default=60)
    p.add_argument("--seconds", type=float, default=460)
    p.add_argument("--only")
    p.add_argument("--max-autotune", action="store_true")
    p.add_argument("--listed", action="store_true", help="the rows that programs.py lists, instead of drawn ones")
    p.add_argument("--list", action="store_true", help="print the rows and measure nothing")
    o = p.parse_args()
    began, drawn = time.monotonic(), LISTED if o.listed else draw(o.seed, o.rows)
    if o.list:
        for name, kind, sizes in drawn:
            print(name, kind, " x ".join(f"{k}={v}" for k, v in sizes.items()))
        return
    import torch
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    device = torch.cuda.get_device_name()
    done = set()
    if os.path.exists(o.csv):
        with open(o.csv, newline="", encoding="utf-8") as file:
            done = {(r["program"], r["type"], r["sizes"]) for r in csv.DictReader(file)}
    else:
        with open(o.csv, "w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerow(FIELDS)
    folder, copy = tempfile.mkdtemp(), copy_rate(torch)
    print(f"{device}, torch {torch.__version__}, copy {copy / 1000:.0f} GB/s", flush=True)
    for row in drawn:
        name, kind, sizes = row
        shape = "x".join(map(str, sizes.values()))
        if (name, kind, shape) in done or (o.only and name not in o.only.split(",")):
            continue
        if time.monotonic() - began > o.seconds - 20:
            print("no time left: run it again with the same CSV")
            break
        try:
            ours, eager, compiled, factor, rate = measure(torch, o, folder, row, copy)
        except Exception as error:
            print(f"{name} {kind} {shape}: {str(error).splitlines()[0]}", flush=True)
            continue
        print(f"{name:15s} {kind:5s} {shape:22s} {ours[0]:10.2f} {eager[0]:10.2f} {compiled[0]:10.2f}  factor {factor:6.2f}  {100 * rate:4.0f} % of copy", flush=True)
        with open(o.csv, "a", newline="", encoding="utf-8") as file:
            csv.writer(file).writerow([name, kind, shape] + [f"{x:.3f}" for x in (*ours, *eager, *compiled, factor, rate)] + [device])
    shutil.rmtree(folder, ignore_errors=True)
    summary(o.csv)


if __name__ == "__main__":
    sys.exit(main())
