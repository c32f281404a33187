#!/usr/bin/env python3
"""How many kernels programs need. What is computed of the same rows is one kernel, however the
program spells it. A plan of more kernels gives the same numbers, only later, so no test of results
would notice it.
"""
import json
import os
import pathlib
import subprocess

RISEC = os.environ["RISEC"]
NESTS = pathlib.Path(__file__).resolve().parents[1] / "nests"

# Which kernels are launched may depend on the device, too.
DEVICE = "numSM=132"

# File, entry, sizes, kernels at these sizes.
PROGRAMS = [
    ("labels.rise", "losses", "n=1000 m=1000", 1),
    ("labels.rise", "losses", "n=100000 m=10", 1),
    ("labels.rise", "loss", "n=1000 m=1000", 2),
    ("labels.rise", "ofComputed", "b=8 n=100 m=1000", 1),
    ("labels.rise", "another", "n=1000 m=1000 k=7", 1),
    ("labels.rise", "atCount", "n=1000 m=1000", 1),
    ("labels.rise", "ofTable", "n=1000 m=1000 k=7", 1),
    ("results_joined.rise", "logSoftmax", "n=1000 m=1000", 1),
    ("results_joined.rise", "layerNorm", "n=1000 m=1000", 1),
    ("results_joined.rise", "quantised", "n=1000 m=1000", 1),
    ("results_joined.rise", "residual", "n=1000 m=1000", 1),
    ("results_joined.rise", "moments", "n=1000 m=1000", 1),
    ("results_joined.rise", "heads", "b=4 h=100 m=1000", 1),
    ("results_summed.rise", "lossAndGradient", "n=1000 m=1000", 2),
    ("results_summed.rise", "entropy", "n=1000 m=1000", 2),
    ("results_summed.rise", "lossAndHits", "n=1000 m=1000", 3),
    ("results_summed.rise", "normed", "n=1000 m=1000", 2),
    ("results_summed.rise", "topToo", "n=1000 m=1000", 2),
    ("results_summed.rise", "tops", "n=1000 m=1000", 2),
    ("results_summed.rise", "batches", "b=10 n=100 m=1000", 2),
    ("results_summed.rise", "clipped", "n=1000 m=1000", 3),
    ("results_summed.rise", "three", "n=1000 m=1000", 3),
    ("everyday.rise", "adam", "n=1000", 1),
    ("everyday.rise", "blackScholes", "n=1000", 1),
    ("everyday.rise", "monteCarlo", "n=1000", 1),
    ("everyday.rise", "maskedSoftmax", "n=1000 m=1000", 1),
    ("everyday.rise", "maskedMean", "n=1000 m=1000", 1),
    ("everyday.rise", "regression", "n=1000", 1),
    ("everyday.rise", "correlations", "n=200 m=1000", 1),
    ("nested_rows.rise", "tops", "n=1000 m=1000", 2),
    ("attention_after.rise", "halves", "h=8 n=1000 m=1000 d=64", 2),
    ("repeated.rise", "power", "n=5000 steps=3", 6),
    ("attention.rise", "lets", "n=1000 m=1000 d=64", 2),
]


def kernels(path, entry, sizes):
    """The kernels that one launch of the entry runs, or what risec says instead."""
    args = [RISEC, "lower", str(path), entry, "--plan", "--json"]
    for setting in sizes.split() + DEVICE.split():
        args += ["--set", setting]
    done = subprocess.run(args, capture_output=True, text=True)
    if done.returncode != 0:
        return done.stderr.strip()
    plan = json.loads(done.stdout)
    return sum(any(v["launched"] for v in launch["variants"]) for launch in plan["launches"])


def main():
    for file, entry, sizes, expected in PROGRAMS:
        name = f"{file} {entry} {sizes}".replace(" ", "-")
        found = kernels(NESTS / file, entry, sizes)
        print(f"ok {name}" if found == expected else f"not ok {name}")
        if found != expected:
            print(f"# {expected} kernels expected; found: {found}")


main()
