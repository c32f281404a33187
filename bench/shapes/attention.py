#!/usr/bin/env python3
"""Times attention in f32 beside risec's own product of 4096 x 4096 matrices and beside torch.

    bench/shapes/attention.py CSV [--seconds 460] [--list]

A program is the lets that a user writes. `part` is its operations a second, as a part of those of the product. A causal program counts half of the operations of the full one. `work`
is the time of a causal program as a part of that of the full one. Rivals: the same lets by torch, as they are and by torch.compile, and scaled_dot_product_attention with its math
backend and with its memory-efficient one, which uses tensor cores. TF32 is off. `memory` is what the program takes on the device beside its inputs and its result.

Each result is compared with that of scaled_dot_product_attention in f64. Rows that CSV has already are not measured again. Needs the Python package, the NVIDIA driver, NVRTC and torch. The
method is that of run.py."""
import argparse
import csv
import os
import sys
import time

from axes import Bench
from run import torch_times

FIELDS = ["shape", "mask", "us", "p10", "p90", "part", "work", "eager_us", "compiled_us", "math_us", "efficient_us", "memory_mb", "device"]
SHAPES = [(32, 1024, 64), (32, 2048, 64), (32, 4096, 64), (32, 8192, 64), (32, 16384, 64), (32, 4096, 128), (32, 2000, 80), (8, 4099, 64), (1, 64, 64), (1, 1024, 64), (1, 16384, 64)]
MASKS = ["full", "causal", "window"]
MOST_SCORES = 2**32  # bytes of scores that torch is given
PRODUCT = "entry f {n k m: nat} (a: n.k.f32) (c: k.m.f32): n.m.f32 = a |> map(fun row => c |> transpose |> map(fun column => zip(row, column) |> map(fun (x, y) => x * y) |> reduce((+), 0)))\n"


def text_of(mask):
    score = "(zip(q[i], k[j]) |> map(fun (x, y) => x * y) |> reduce((+), 0)) / sqrt(cast(f32)(d))"
    seen = {"full": score, "causal": f"if j <= i then {score} else -inf", "window": f"if j <= i and i < j + 256 then {score} else -inf"}[mask]
    return f"""entry f {{b n d: nat}} (q k v: b.n.d.f32): b.n.d.f32 =
  zip(zip(q, k), v) |> map(fun ((q, k), v) =>
    let scores = generate{{n = n}}(fun i => generate{{n = n}}(fun j => {seen})) in
    scores |> map(fun row =>
      let top = row |> reduce(max, -inf) in
      let weights = row |> map(fun x => exp(x - top)) in
      let total = weights |> reduce((+), 0) in
      v |> transpose |> map(fun column => (zip(weights, column) |> map(fun (w, x) => w * x) |> reduce((+), 0)) / total)))
"""


def mask_of(torch, mask, n):
    i, j = torch.arange(n, device="cuda")[:, None], torch.arange(n, device="cuda")[None]
    return None if mask == "full" else j <= i if mask == "causal" else (j <= i) & (i < j + 256)


def rivals_of(torch, mask, n):
    seen = mask_of(torch, mask, n)
    kernels = torch.nn.attention.SDPBackend

    def lets(xs):
        q, k, v = xs
        scores = q @ k.mT / q.shape[-1] ** 0.5
        if seen is not None:
            scores = scores.masked_fill(~seen, -float("inf"))
        weights = torch.exp(scores - scores.amax(-1, keepdim=True))
        return weights / weights.sum(-1, keepdim=True) @ v

    def fused(backend):
        def run(xs):
            with torch.nn.attention.sdpa_kernel(backend):
                q, k, v = (x[:, None] for x in xs)
                if mask == "window":
                    return torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=seen)[:, 0]
                return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=mask == "causal")[:, 0]
        return run
    return [lets, torch.compile(lets), fused(kernels.MATH), fused(kernels.EFFICIENT_ATTENTION)]


def wrong(torch, got, inputs, mask):
    """How far the result is from that of f64, for some of the matrices."""
    seen, worst = mask_of(torch, mask, got.shape[1]), 0.0
    for i in sorted({0, got.shape[0] - 1}):
        q, k, v = (x[i].double() for x in inputs)
        worst = max(worst, (torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=seen) - got[i]).abs().max().item())
    return worst


def measure(bench, shape, mask):
    torch, (b, n, d) = bench.torch, shape
    inputs = [torch.randn(b, n, d, device="cuda") for _ in range(3)]
    torch.cuda.synchronize()
    before = torch.cuda.mem_get_info()[0]
    program = bench.risec.compile(text_of(mask), device="gpu")
    got = program["f"](*inputs)
    torch.cuda.synchronize()
    memory = (before - torch.cuda.mem_get_info()[0]) / 1e6 - 4e-6 * b * n * d
    far = wrong(torch, got, inputs, mask) if n <= 4200 else 0
    if not far < 2e-5:
        raise RuntimeError(f"differs from torch by {far}")
    del got, program
    times = bench.times(text_of(mask), inputs)
    copies, found = bench.copies(inputs), []
    for k, rival in enumerate(rivals_of(torch, mask, n)):
        try:
            if k < 3 and 4 * b * n * n > MOST_SCORES:
                raise RuntimeError("too many scores")
            torch._dynamo.reset()
            found.append(torch_times(torch, rival, copies)[0])
        except Exception as error:
            print(f"  rival {k}: {str(error).splitlines()[0]}", flush=True)
            found.append(float("nan"))
            torch.cuda.synchronize()
        torch.cuda.empty_cache()
    return times, found, memory


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("csv")
    p.add_argument("--seconds", type=float, default=460)
    p.add_argument("--list", action="store_true", help="print the programs and measure nothing")
    o = p.parse_args()
    if o.list:
        print("".join(map(text_of, MASKS)), end="")
        return
    began, bench, full = time.monotonic(), Bench(), {}
    torch = bench.torch
    done = set()
    if os.path.exists(o.csv):
        with open(o.csv, newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                done.add((row["shape"], row["mask"]))
                full.update({row["shape"]: float(row["us"])} if row["mask"] == "full" else {})
    else:
        with open(o.csv, "w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerow(FIELDS)
    product = bench.times(PRODUCT, [bench.array((4096, 4096), "f32") for _ in range(2)])[0]
    rate = 2 * 4096**3 / product
    print(f"product of 4096 x 4096: {product:.0f} us, {rate / 1e6:.1f} TFLOP/s")
    for shape in SHAPES:
        for mask in MASKS:
            name = "x".join(map(str, shape))
            if (name, mask) in done:
                continue
            if time.monotonic() - began > o.seconds - 30:
                print("no time left: run it again with the same CSV")
                return
            try:
                times, rivals, memory = measure(bench, shape, mask)
            except Exception as error:
                print(f"{name} {mask}: {str(error).splitlines()[0] if str(error) else type(error).__name__}", flush=True)
                continue
            finally:
                torch.cuda.empty_cache()
            b, n, d = shape
            full.update({name: times[0]} if mask == "full" else {})
            part = 4 * b * n * n * d * (1 if mask == "full" else 0.5) / times[0] / rate if mask != "window" else float("nan")
            work = times[0] / full.get(name, float("nan"))
            print(f"{name:14s} {mask:7s} {times[0]:10.1f} us  part {part:4.2f}  work {work:4.2f}  eager {rivals[0]:9.1f}  compiled {rivals[1]:9.1f}  math {rivals[2]:9.1f}  "
                  f"efficient {rivals[3]:9.1f}  memory {memory:.1f} MB", flush=True)
            with open(o.csv, "a", newline="", encoding="utf-8") as file:
                csv.writer(file).writerow([name, mask] + [f"{x:.3f}" for x in (*times, part, work, *rivals, memory)] + [torch.cuda.get_device_name()])


if __name__ == "__main__":
    sys.exit(main())
