#!/usr/bin/env python3
"""Sums a PyTorch tensor where it lies, on PyTorch's stream: nothing is copied, and nothing waits.

    examples/python/sum_torch.py [N]

docs/python.md is the manual of the package.
"""
import os
import sys

import risec
import torch

HERE = os.path.dirname(os.path.abspath(__file__))


def main():
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_003
    program = risec.load(os.path.join(HERE, "..", "sum.rise"), device="gpu")
    xs = torch.randint(0, 10, (n,), device="cuda").float()  # whole numbers: the sum is exact
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        total = program.sumBlocks(xs).double().sum()  # a partial sum per block; torch adds them
    side.synchronize()
    want = xs.double().sum()
    print(f"sum of {n} elements: {total.item():.0f}, PyTorch says {want.item():.0f}")
    return total.item() != want.item()


if __name__ == "__main__":
    sys.exit(main())
