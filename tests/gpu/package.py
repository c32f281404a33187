#!/usr/bin/env python3
"""The Python package on a GPU, with torch and, where it is there, CuPy: one line `ok NAME` or `not ok NAME: why` for each point.

    tests/gpu/package.py [--calls N]     PYTHONPATH has the package; RISEC_LIBRISE and RISEC name what was built

The last lines are host times: from a call to its return, medians over N warm calls (10,000)."""
import argparse
import gc
import statistics
import threading
import time
import traceback

import numpy as np
import risec
import risec.torch
import torch
from risec import _types

SUM = "entry sum {n: nat} (xs: n.f32): f32 = xs |> reduce((+), 0)\n"
AXPY = """entry axpy {n: nat} (k: f32) (xs ys: n.f32): n.f32 =
  zip(xs, ys) |> map(fun (x, y) => k * x + y)
"""
ROWS = """entry rows {n m: nat} (xs: n.m.f32): (n.f32, n.f32) =
  (xs |> map(reduce((+), 0)), xs |> map(reduce(max, -inf)))
"""
TAIL = "entry tail {n: nat} (xs: n.f32): (n - 1).f32 where n >= 1 = xs |> drop(1) |> map(fun x => x + 1)\n"
POINTS = []


def point(function):
    POINTS.append(function)
    return function


class Programs:
    def __init__(self):
        self.all = risec.compile(SUM + AXPY + ROWS + TAIL, device="gpu")

    def __getattr__(self, name):
        return self.all[name]


P = Programs()


def whole(n, device="cuda"):
    """Small whole numbers: their sums are exact in any order."""
    return torch.randint(0, 8, (n,), device=device).float()


def raises(kind, pattern, function, *args, **named):
    import re
    try:
        function(*args, **named)
    except kind as error:
        assert re.search(pattern, str(error)), str(error)
        return
    raise AssertionError(f"no {kind.__name__}")


@point
def tensors():
    for n in (0, 1, 1000, 4096, 1_000_003):
        x = whole(n)
        y = P.sum(x)
        assert isinstance(y, torch.Tensor) and y.is_cuda and y.shape == (), y
        assert y.item() == x.sum().item(), n
    x, y = whole(1000), whole(1000)
    assert torch.equal(P.axpy(2.0, x, y), 2 * x + y)
    sums, tops = P.rows(x.view(10, 100))
    assert torch.equal(sums, x.view(10, 100).sum(1)) and torch.equal(tops, x.view(10, 100).amax(1))


@point
def all_types():
    for t in _types.TYPES:
        dtype = getattr(torch, t.common, None)
        text = f"entry f {{n: nat}} (xs: n.{t.name}): n.{t.name} = xs |> map(fun x => x)\n"
        x = torch.randint(0, 2 if t.name == "bool" else 100, (1001,), device="cuda").to(dtype)
        y = risec.compile(text, device="gpu").f(x)
        assert y.dtype is dtype and bool((y == x).all()), t.name


@point
def streams():
    """The launch is on torch's current stream: what is before it there is done, and nothing waits."""
    side = torch.cuda.Stream()
    x = torch.zeros(1 << 24, device="cuda")
    P.sum(x)
    torch.cuda.synchronize()
    with torch.cuda.stream(side):
        torch.cuda._sleep(200_000_000)  # some 0.1 s
        x.fill_(1)
        begin = time.perf_counter()
        total = P.sum(x)
        assert time.perf_counter() - begin < 0.05
        assert not side.query()
    side.synchronize()
    assert total.item() == 1 << 24
    y = P.sum(x, stream=side)
    side.synchronize()
    assert y.item() == 1 << 24


@point
def protocols():
    class Interface:
        def __init__(self, t, stream=None):
            self.t = t
            self.__cuda_array_interface__ = {**t.__cuda_array_interface__, "version": 3, "stream": stream}

    class Exchange:
        def __init__(self, t):
            self.t = t

        def __dlpack_device__(self):
            return self.t.__dlpack_device__()

        def __dlpack__(self, *, stream=None, **_):
            return self.t.__dlpack__(stream=stream)

    x = whole(5000)
    for wrapped in (Interface(x), Exchange(x)):
        y = P.axpy(1.0, wrapped, wrapped)
        assert isinstance(y, risec.DeviceArray)
        assert torch.equal(torch.from_dlpack(y), 2 * x)
        assert torch.equal(torch.as_tensor(y, device="cuda"), 2 * x)
        assert (y.to_numpy() == 2 * x.cpu().numpy()).all()
    # What the producer's stream still writes is waited for.
    side = torch.cuda.Stream()
    late = torch.zeros(1 << 22, device="cuda")
    torch.cuda.synchronize()
    with torch.cuda.stream(side):
        torch.cuda._sleep(100_000_000)
        late.fill_(1)
    total = P.sum(Interface(late, side.cuda_stream), stream=torch.cuda.current_stream())
    assert total.to_numpy() == 1 << 22


@point
def cupy():
    try:
        import cupy as cp
    except ImportError:
        return "there is no CuPy"
    x = cp.arange(1000, dtype="f4")
    y = P.sum(x)
    assert isinstance(y, cp.ndarray) and float(y) == 499500
    with cp.cuda.Stream(non_blocking=True) as stream:
        y = P.axpy(2.0, x, x)
        stream.synchronize()
    assert bool((y == 3 * x).all())


@point
def numpy_arrays():
    x = np.arange(1000, dtype="f4")
    assert P.sum(x) == 499500
    assert (P.axpy(2.0, x, x) == 3 * x).all()


@point
def lifetimes():
    """Inputs and results that go at once do not disturb launches that still run."""
    torch.cuda._sleep(100_000_000)
    totals = []
    for k in range(50):
        totals.append(P.sum(torch.full((100_000,), float(k % 4), device="cuda")))
        gc.collect()
    assert [t.item() for t in totals] == [100_000.0 * (k % 4) for k in range(50)]


@point
def graphs():
    x = whole(1_000_003)
    P.sum(x)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        a = P.sum(x)
        b = P.sum(x)
    for value in (2.0, 3.0):
        x.fill_(value)
        graph.replay()
        torch.cuda.synchronize()
        assert a.item() == b.item() == (x.double().sum().float()).item(), (a, b)
    assert P.sum(whole(1_000_003)).item() > 0  # other launches do not use the graph's memory
    y = torch.zeros(77_777, device="cuda")
    never = torch.cuda.CUDAGraph()
    try:
        with torch.cuda.graph(never):
            raises(risec.ArgumentError, "before the recording", P.axpy, 1.0, y, y)
            y.add_(1)
    except RuntimeError:
        pass


@point
def threads():
    wrong = []

    def work(k):
        with torch.cuda.stream(torch.cuda.Stream()):
            for n in range(1, 200, 7):
                x = torch.full((n * 100,), float(k), device="cuda")
                if P.sum(x).item() != k * n * 100:
                    wrong.append((k, n))
    all_of_them = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for t in all_of_them:
        t.start()
    for t in all_of_them:
        t.join()
    assert not wrong, wrong


@point
def allocator():
    """Workspace is torch's memory."""
    entry = risec.compile(SUM, device="gpu").sum
    x = whole(10_000_000)
    torch.cuda.synchronize()
    before = torch.cuda.memory_allocated()
    y = entry(x)
    torch.cuda.synchronize()
    assert torch.cuda.memory_allocated() - before > 512, torch.cuda.memory_allocated() - before
    del y


@point
def refusals():
    x = whole(100)
    raises(TypeError, r"xs\.to\(torch\.float32\)", P.sum, x.double())
    raises(ValueError, r"contiguous", P.sum, x.view(10, 10).t()[0])
    raises(ValueError, r"detach", P.sum, x.clone().requires_grad_())
    raises(ValueError, r"GPU 0 and ys in that of the host", P.axpy, 1.0, x, x.cpu())
    raises(TypeError, r"k\.item\(\)", P.axpy, x[0], x, x)
    raises(ValueError, "shape", P.axpy, 1.0, x, x, out=torch.empty(99, device="cuda"))
    raises(TypeError, "sparse", P.sum, x.to_sparse())


@point
def operators():
    total = risec.torch.op(P.sum, "risectest::total")
    rows = risec.torch.op(P.rows, "risectest::rows")
    tail = risec.torch.op(P.tail, "risectest::tail")
    axpy = risec.torch.op(P.axpy, "risectest::axpy")
    x = whole(4096)
    for made, args in ((total, (x,)), (rows, (x.view(64, 64),)), (tail, (x,)), (axpy, (2.0, x, x))):
        said = torch.library.opcheck(made, args)
        assert all(v == "SUCCESS" for v in said.values()), (made, said)

    @torch.compile(fullgraph=True)
    def mean(x):
        return total(x * 2) / x.shape[0]

    for n in (1000, 1000, 2000, 3000):
        y = whole(n)
        assert torch.allclose(mean(y), (2 * y).sum() / n), n
    g = whole(10).requires_grad_()
    raises(RuntimeError, "no gradient", lambda: total(g).backward())


def host_times(calls):
    op = risec.torch.op(P.sum, "risectest::timed")
    x = whole(1000)
    y = whole(1000)
    out = torch.empty((), device="cuda")
    cases = (("sum", lambda: P.sum(x)), ("sum with out", lambda: P.sum(x, out=out)),
             ("axpy", lambda: P.axpy(2.0, x, y)), ("custom op of sum", lambda: op(x)), ("torch.sum", lambda: x.sum()))
    for name, call in cases:
        for _ in range(200):
            call()
        torch.cuda.synchronize()
        times = []
        for k in range(calls):
            begin = time.perf_counter()
            call()
            times.append(time.perf_counter() - begin)
            if k % 100 == 0:
                torch.cuda.synchronize()
        q = statistics.quantiles(times, n=10)
        print(f"# {name}: {statistics.median(times) * 1e6:.1f} us ({q[0] * 1e6:.1f} .. {q[8] * 1e6:.1f})", flush=True)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--calls", type=int, default=10_000)
    p.add_argument("--profile", action="store_true")
    calls = p.parse_args()
    bad = 0
    for function in POINTS:
        begin = time.monotonic()
        try:
            note = function()
        except Exception as error:
            bad += 1
            print(f"not ok package-{function.__name__}: {type(error).__name__}: {str(error)[:300]}", flush=True)
            print("#", "\n# ".join(traceback.format_exc().splitlines()[-8:]), flush=True)
        else:
            print(f"ok package-{function.__name__}" + (f": {note}" if note else ""), f"# {time.monotonic() - begin:.1f} s", flush=True)
    host_times(calls.calls)
    if calls.profile:
        import cProfile
        import pstats
        x = whole(1000)
        profile = cProfile.Profile()
        profile.enable()
        for k in range(5000):
            P.sum(x)
        profile.disable()
        pstats.Stats(profile).sort_stats("tottime").print_stats(18)
    return bad > 0


if __name__ == "__main__":
    raise SystemExit(main())
