#!/usr/bin/env python3
"""Sums an array of numpy, on a GPU where there is one, else on the simulator.

    examples/python/sum_numpy.py [N]
"""
import sys

import numpy
import risec

program = risec.compile("entry sum {n: nat} (xs: n.f32): f32 = xs |> reduce((+), 0)")
n = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
xs = numpy.arange(n, dtype="float32") % 7
print(f"sum of {n} elements: {program.sum(xs):.0f}, numpy says {xs.sum():.0f}")
