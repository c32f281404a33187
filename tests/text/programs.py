"""The programs that the text executor runs in the tests: those of examples/ and tests/programs/, with the sizes that they are run for. At the level `all` (RISEC_LEVEL) each of their
entries; else one of each file, and of the files one after the other the first, the second and so on, round the end."""
import glob
import os
import re

from run_text import ROOT, SIZE_CLASSES, Program

# Beside the classes: sizes that divide, for programs that want that, primes, and several turns of a block.
SIZES = (*SIZE_CLASSES, 2, 3, 7, 20, 64, 96, 100, 192, 997, 4096, 8192, 20000)
# These do work that grows with the square of the size, or have a block of many barriers for each row.
LARGEST = {"programs.conditional": 4096, "nbody": 1025, "nearest": 1025, "knearest": 1025, "nbody_tiled": 1025, "levenshtein": 1025, "histogram": 8192,
           "softmax": 1000, "softmax_registers": 20, "layer_norm": 20, "row_sums": 1000, "gemv": 1000, "programs.global_state": 100, "programs.loop_loads": 100, "programs.tree_loop_let": 100, "programs.high_views": 45, "programs.state_in_block": 100, "programs.index_algebra": 45, "programs.high_scatters": 100}
# Steps of the reference interpreter for a launch; a larger one is left out. What grows with the cube of a size would take as long as all others together.
ALL = os.environ.get("RISEC_LEVEL") == "all"
STEPS = 30000000 if ALL else 2000000
# What the scheduler makes is a program of many tiles, also for few elements, and takes the reference long.
HIGH_SIZES = (0, 1, 3, 33, 45)
# These compare floats and add none: other inputs than small ones tell more.
SPREAD = {"max": 1 << 20, "minmax": 1 << 20, "nearest": 1 << 20, "reverse": 1 << 20}
# Launches beside those of the sizes, where all sizes the same would be too much work.
LAUNCHES = {"programs.symmetric.covariances": ((1, 4, 3), (2, 20, 9), (1, 64, 8))}


def named_files():
    """(name, path): examples by their names, the others as high.NAME and programs.NAME."""
    for prefix, folder in (("", "examples"), ("high.", "examples/high"), ("programs.", "tests/programs")):
        for path in sorted(glob.glob(f"{ROOT}/{folder}/*.rise")):
            yield prefix + os.path.basename(path)[: -len(".rise")], path


def all_programs():
    """Every entry: `file`, or `file.entry` where there are several. ENTRY_hand in tests/handwritten/NAME.cu is the twin of an entry of examples/NAME.rise."""
    for base, path in named_files():
        hand = f"{ROOT}/tests/handwritten/{base}.cu"
        with open(path) as file:
            entries = re.findall(r"^entry\s+(\w+)", file.read(), re.M)
        twins = ()
        if os.path.exists(hand):
            with open(hand) as file:
                twins = re.findall(r"\b(\w+)_hand\b", file.read())
        # Of the slow ones only the classes, and what divides.
        sizes = tuple(n for n in SIZES if n <= LARGEST[base] and (n in SIZE_CLASSES or n <= 100)) if base in LARGEST else SIZES
        sizes = HIGH_SIZES if base.startswith("high.") else sizes
        for entry in entries:
            name = base if len(entries) == 1 else f"{base}.{entry}"
            yield Program(name, path, entry=entry, sizes=sizes, spread=SPREAD.get(base, 8), steps=STEPS, launches=LAUNCHES.get(name, ()), hand=hand if entry in twins else "")


def sampled(programs):
    """Those that run at this level: see above."""
    if ALL:
        return programs
    files = {}
    for p in programs:
        files.setdefault(p.path, []).append(p)
    return [of[k % len(of)] for k, of in enumerate(files.values())]
