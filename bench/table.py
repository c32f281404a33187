#!/usr/bin/env python3
"""The tables of docs/performance.md and bench/results/h200.md, made from the benchmark's CSV files.

    bench/table.py                            writes both again from bench/results/*.csv
    bench/table.py RESULTS.csv [TORCH.csv...] prints the full tables of other files

A table for each workload has a column for each contender. A full cell: microseconds in a chain (10th
.. 90th percentile), alone, and the rate in the chain; a short one: microseconds in a chain. Bold are the best of a row
and every one whose spread meets the best's. tests/scripts/pages.py compares the pages."""
import csv
import glob
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RESULTS = sorted(glob.glob(f"{ROOT}/bench/results/*.csv"))
# A short table of a workload with many sizes has these, and the smallest and the largest.
FEW = ("2^16", "2^20", "2^26")


def load(paths):
    """{workload: rows}"""
    workloads = {}
    for path in paths:
        with open(path, newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                workloads.setdefault(row["workload"], []).append(row)
    return workloads


def size_text(row):
    n, m = int(row["n"]), int(row["m"])
    power = n.bit_length() - 1
    if m > 1:
        return f"{n} x {m}"
    return f"2^{power}" if n == 1 << power else str(n)


def by_size(rows):
    """{size: {contender: row}}"""
    sizes = {}
    for row in rows:
        sizes.setdefault(size_text(row), {})[row["contender"]] = row
    return sizes


def full_cell(row, us):
    rate = float(row["rate"])
    rate = f"{rate:.0f} GB/s" if row["unit"] == "GB/s" else f"{rate:.1f} TFLOP/s"
    spread = f"{float(row['chain_p10']):.2f} .. {float(row['chain_p90']):.2f}"
    return f"{us} ({spread}), alone {float(row['alone_us']):.2f}, {rate}"


def table(rows, cell=full_cell, some=False):
    sizes = by_size(rows)
    contenders = list(dict.fromkeys(row["contender"] for row in rows))
    lengths = {size: int(next(iter(own.values()))["n"]) for size, own in sizes.items()}
    ends = min(lengths, key=lengths.get), max(lengths, key=lengths.get)
    lines = ["| size | " + " | ".join(contenders) + " |", "|---" * (len(contenders) + 1) + "|"]
    for size, own in sizes.items():
        if some and len(sizes) > 5 and size not in (*FEW, *ends):
            continue
        good = [row for row in own.values() if row["verdict"] == "ok"]
        best = float(min(good, key=lambda row: float(row["chain_us"]))["chain_p90"])
        cells = []
        for row in (own.get(contender) for contender in contenders):
            if row is None or row["verdict"] != "ok":
                cells.append(row["verdict"] if row else "")
                continue
            us = f"{float(row['chain_us']):.2f}"
            cells.append(cell(row, f"**{us}**" if float(row["chain_p10"]) <= best else us))
        lines.append(f"| {size} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def floor_text(rows):
    for row in rows:
        if row["contender"] == "copy":
            yield f"{row['device']}, copy: {float(row['rate']):.0f} GB/s, both ways counted"
        else:
            alone, chain = float(row["alone_us"]), float(row["chain_us"])
            times = f"{alone:.2f} us alone, {chain:.2f} in a chain"
            yield f"{row['device']}, {row['contender']}: {times}"


def full_page(workloads):
    parts = list(floor_text(workloads.get("floor", [])))
    parts += [f"### {name}\n\n{table(rows)}" for name, rows in workloads.items() if name != "floor"]
    return "\n\n".join(parts)


def short_page(workloads):
    return "\n\n".join(
        f"### {name}\n\n[picture](plots/{name}.svg)\n\n{table(rows, lambda row, us: us, some=True)}"
        for name, rows in workloads.items() if name != "floor")


# What stands between `<!-- times -->` and `<!-- end -->` of each page.
PAGES = {"docs/performance.md": short_page, "bench/results/h200.md": full_page}


def filled(path):
    """The page as it should be."""
    with open(f"{ROOT}/{path}", encoding="utf-8") as file:
        text = file.read()
    body = f"<!-- times -->\n{PAGES[path](load(RESULTS))}\n<!-- end -->"
    return re.sub(r"^<!-- times -->\n.*?^<!-- end -->$", lambda _: body, text, flags=re.M | re.S)


def write():
    for path in PAGES:
        text = filled(path)
        with open(f"{ROOT}/{path}", "w", encoding="utf-8") as file:
            file.write(text)


def main():
    if sys.argv[1:]:
        print(full_page(load(sys.argv[1:])))
    else:
        write()


if __name__ == "__main__":
    main()
