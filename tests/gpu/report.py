#!/usr/bin/env python3
"""The report of tests/gpu/validate.sh, on standard output: report.py WORK STAGES VERSION, where WORK holds its log and what the stages left."""
import csv
import glob
import os
import re
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
WORK, STAGES, VERSION = sys.argv[1:4]
SHOWN = 40 # points that failed


def read(name):
    try:
        with open(os.path.join(WORK, name), encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def output(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=60).stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        return ""


def rows(name):
    lines = [line for line in read(name).splitlines() if not line.startswith("risec:")]
    return list(csv.DictReader(lines)) if lines and lines[0].startswith("device,") else []


def table(head, body):
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for line in body:
        print("| " + " | ".join(str(cell) for cell in line) + " |")
    print()


def number(text):
    return float(text) if text else None


def time_of(row, kind):
    """Median and spread, in microseconds."""
    if not row[f"{kind}_us"]:
        return "-"
    return f"{float(row[f'{kind}_us']):.2f} ({float(row[f'{kind}_p10']):.2f} .. {float(row[f'{kind}_p90']):.2f})"


def sizes_of(row):
    """Tunables, then sizes: the columns between the entry and the kernel."""
    names = list(row)
    return {name: int(row[name]) for name in names[2 : names.index("kernel")]}


def head(log):
    gpu = output("nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader").splitlines()
    nvcc = re.search(r"release \S+, (V\S+)", output("nvcc", "--version"))
    nvrtc = re.search(r"CUDA Version: ([\d.]+)", output("nvidia-smi"))
    passed, failed = len(re.findall("^ok ", log, re.M)), len(re.findall("^not ok ", log, re.M))
    print("# GPU report\n")
    print(f"Written by `tests/gpu/validate.sh` on {time.strftime('%Y-%m-%d', time.gmtime())}. Stages: {STAGES}. {passed} points ok, {failed} not ok.\n")
    table(
        ["", ""],
        [
            ["device", gpu[0] if gpu else "not known"],
            ["CUDA of the driver", nvrtc[1] if nvrtc else "not known"],
            ["nvcc", nvcc[1] if nvcc else "none"],
            ["compute-sanitizer", next(iter(re.findall(r"Version (\S+)", output("compute-sanitizer", "--version"))), "none")],
            ["risec", VERSION],
        ],
    )
    for line in re.findall("^not ok .*", log, re.M)[:SHOWN]:
        print(f"- {line}")
    if failed > SHOWN:
        print(f"- and {failed - SHOWN} more")
    if failed:
        print()


def points(log):
    """All points by the word they begin with; programs are counted."""
    groups = {}
    for good, name in re.findall(r"^(not ok|ok) (\S+)", log, re.M):
        group = re.split(r"[-:]", name)[0]
        groups.setdefault(group, [0, 0])[good == "not ok"] += 1
    print("## Points\n")
    table(["", "ok", "not ok"], [[group, *counts] for group, counts in groups.items()])


def title(code):
    with open(os.path.join(ROOT, "docs", "errors.md"), encoding="utf-8") as file:
        return next(iter(re.findall(rf"^### {code}: (.*)", file.read(), re.M)), "")


def against_reference():
    names = {"examples": "examples, usual sizes", "programs": "tests/programs", "bench": "bench/programs", "large-examples": "examples, 131071 and 1000003 elements", "random": "random programs, the fixed seed",
             "random-high": "random high-level programs, the fixed seed", "random-new": "random programs, a new seed", "random-new-high": "random high-level programs, a new seed"}
    lines, refused = [], []
    for name, words in names.items():
        total = re.search(r"^# (seed \d+), (\d+) programs: (.*)", read(f"check-{name}"), re.M)
        if total:
            lines.append([words, total[1], total[2], total[3]])
        for code, count in re.findall(r" ([EW]\d{4}) (\d+)", "".join(re.findall("^# refused:.*", read(f"check-{name}"), re.M))):
            refused.append([code, title(code), count])
    if not lines:
        return
    print("## Against the reference interpreter\n")
    print("Inputs are small whole numbers (for integers also any). \"To the bit\" counts programs all of whose launches agree so; \"with rounding\" those with floats that differ within the bounds of")
    print("`risec run --verify` (random programs: only those that call functions which CPU and GPU round differently, such as exp); \"without a check\" those where rounding may explain anything. \"Refused\" are random programs that break a rule")
    print("of levels or memory, which the generator does not know; each has one of the codes below, and any other is a failure. \"Not run\" accept none of the sizes tried.\n")
    table(["", "", "programs", "what came of them"], lines)
    if refused:
        table(["refused with", "", "random programs"], refused)
    inexact = []
    for name in ("examples", "programs", "bench", "large-examples"):
        inexact += re.findall(r"^ok (.*?): \d+ launches, \d+ to the bit; (.*)", read(f"check-{name}"), re.M)
    if inexact:
        table(["within the bound", ""], inexact)


def sanitizers(log):
    lines = []
    for tool in ("memcheck", "racecheck", "initcheck", "synccheck"):
        planted = re.search(rf"^(ok|not ok) sanitize-planted-{tool}:? ?(.*)", log, re.M)
        all_of = re.search(rf"^(ok|not ok) sanitize-{tool}: (.*)", log, re.M)
        clean = re.search(rf"^(ok|not ok) sanitize-clean-{tool}", log, re.M)
        if planted and all_of:
            lines.append([tool, f"{'found' if planted[1] == 'ok' else 'MISSED'}: {planted[2]}", "clean" if clean and clean[1] == "ok" else "NOT CLEAN", f"{'' if all_of[1] == 'ok' else 'NOT OK: '}{all_of[2]}"])
    if lines:
        print("## compute-sanitizer\n")
        print("First one change to what risec emits for `examples/sum.rise`, which the tool must find: a guard of the last part always true, a barrier left out, an input not written, a barrier that only some threads reach.\n")
        table(["tool", "planted fault", "without it", "all examples"], lines)


def middle(numbers):
    return sorted(numbers)[len(numbers) // 2]


def host_times():
    """Each time in a process of its own that did nothing before: median (least .. most)."""
    lines = []
    for words, file, pattern in (
        ("CUDA's start: `rise_context_new`, ms", "times-cached", r"^# a context, ms: ([\d.]+)"),
        ("`examples/sum.rise`, from its text to a loaded kernel, empty disk cache, ms (NVRTC's start included)", "times-cold", r"^# from text to a loaded kernel, ms: ([\d.]+)"),
        ("the same from the disk cache, ms", "times-cached", r"^# from text to a loaded kernel, ms: ([\d.]+)"),
        ("of that risec's own part, ms", "times-cached", r"risec's own part ([\d.]+)"),
        ("a warm `rise_call_launch`, us of the host", "times-cached", r"^# a warm launch of sum.rise takes ([\d.]+)"),
        ("a bare `cuLaunchKernel` of the same kernel, us", "times-cached", r"a bare cuLaunchKernel of the same kernel ([\d.]+)"),
    ):
        found = [float(number) for number in re.findall(pattern, read(file), re.M)]
        if found:
            lines.append([words, f"{middle(found):.2f} ({min(found):.2f} .. {max(found):.2f})", len(found)])
    first = re.search(r"^# from text to a loaded kernel, ms: ([\d.]+)", read("smoke-cold"), re.M)
    if first:
        lines.append(["the first such compilation on the machine, whose files no cache of the system held, ms", first[1], 1])
    if lines:
        print("## Times of the host\n")
        print("Each in a process of its own: median (least .. most).\n")
        table(["", "", "processes"], lines)


def twins():
    lines, floors = [], None
    for path in sorted(glob.glob(os.path.join(WORK, "twins", "*.csv"))):
        found = rows(os.path.relpath(path, WORK))
        for ours, hand in zip(found[::2], found[1::2]):
            floors = ours
            a, b = number(ours["chain_us"]), number(hand["chain_us"])
            if a is None or b is None:
                a, b = number(ours["alone_us"]), number(hand["alone_us"])
            sizes = ", ".join(f"{k} = {v}" for k, v in sizes_of(ours).items() if k in ("n", "m", "k"))
            name = os.path.basename(path)[: -len(".csv")].split("-")[0]
            lines.append([name, sizes, time_of(ours, "chain"), time_of(hand, "chain"), time_of(ours, "alone"), time_of(hand, "alone"), f"{float(ours['gb_s']):.0f}",
                          f"{float(ours['percent_of_copy']):.1f}", f"{b / a:.2f}", hand["result"]])
    if not lines:
        return
    print("## Beside hand-written kernels\n")
    print(f"`risec bench examples/NAME.rise --vs tests/handwritten/NAME.cu`: microseconds a call, median (10th .. 90th percentile), in a chain of a CUDA graph over buffers larger than the cache, and alone between two events. "
          f"An empty kernel takes {float(floors['empty_chain_us']):.2f} and {float(floors['empty_alone_us']):.2f}. GB/s of inputs and results once each; copying memory reaches {float(floors['copy_gb_s']):.0f}. "
          "The last but one column: how often our time goes into that of the hand-written kernel. Alone, some hand-written ones lose by what their host functions do: they allocate their workspace in each call.\n")
    table(["", "sizes", "ours, chain", "hand, chain", "ours, alone", "hand, alone", "GB/s", "% of copy", "hand / ours", "results"], lines)


def variants():
    """By size: the rivals' best and the best and worst variant of each kind, down to one number."""
    rivals, ours, cub = {}, {}, {}
    for row in rows("variants/rivals.csv"):
        if row["kernel"] == "risec":
            continue
        name = os.path.basename(row["kernel"])
        kind = "CUB" if name.startswith("cub") else "NVIDIA's blog" if name.startswith("shuffle") else "Harris 7"
        threads = re.search(r"_(\d+)\.cu", name)
        rivals.setdefault((kind, int(row["n"])), []).append((row, f"{threads[1]} threads" if threads else ""))
    for path in sorted(glob.glob(os.path.join(WORK, "variants", "sum*.csv"))):
        for row in rows(os.path.relpath(path, WORK)):
            key = (row["entry"], int(row["n"]))
            if row["kernel"] == "risec":
                ours.setdefault(key, []).append((row, f"{row['elemsWarp']} / {row['elemsBlock']}"))
            else:
                cub.setdefault(int(row["n"]), []).append(float(row["alone_us"]))
    if not ours:
        return
    print("## The thesis's figure 5.3\n")
    print("Sums of floats down to one number, as many kernels as it takes: for each size the fastest of the variants tried (as in the thesis), here of 30 variants (elemsWarp / elemsBlock) with each shuffle, and of 5 numbers of threads for the rivals. "
          "Microseconds; first alone between two events, which is what the thesis measured, then in a chain.\n")
    for kind in ("alone", "chain"):
        lines = []
        for n in sorted({key[1] for key in ours}):
            line = [f"2^{n.bit_length() - 1}"]
            for source, key in ((rivals, "CUB"), (rivals, "NVIDIA's blog"), (rivals, "Harris 7"), (ours, "sumXor"), (ours, "sumDown")):
                tried = [(float(row[f"{kind}_us"]), row, words) for row, words in source.get((key, n), []) if row[f"{kind}_us"]]
                if not tried:
                    line.append("-")
                    continue
                best = min(tried, key=lambda one: one[0])
                line.append(f"{best[0]:.2f}" + (f" ({best[2]})" if best[2] else ""))
            tried = [float(row[f"{kind}_us"]) for key in ("sumXor", "sumDown") for row, _ in ours.get((key, n), []) if row[f"{kind}_us"]]
            line.append(f"{max(tried):.2f}" if tried else "-")
            lines.append(line)
        table([kind, "CUB", "NVIDIA's blog", "Harris 7", "shflXor, best", "shflDown, best", "slowest variant"], lines)
    if cub:
        print("CUB was measured again beside each of the 60 variants; alone: " + "; ".join(f"2^{n.bit_length() - 1} {min(us):.2f} to {max(us):.2f}" for n, us in sorted(cub.items())) + ".\n")


def main():
    log = read("log")
    head(log)
    points(log)
    against_reference()
    sanitizers(log)
    host_times()
    variants()
    twins()
    skipped = re.findall("^skip .*", log, re.M)
    if skipped:
        print("Skipped: " + "; ".join(skipped) + "\n")


main()
