#!/usr/bin/env python3
"""Prints the tables of docs/performance.md from the benchmark's CSV files: a table for each workload, a column for each contender.

    bench/table.py RESULTS.csv [TORCH.csv...]

Each cell: microseconds in a chain (10th .. 90th percentile), alone, and the rate in the chain. The best of each row is bold, with all whose spread meets its own."""
import csv
import sys


def size_text(n, m):
    power = n.bit_length() - 1
    if m > 1:
        return f"{n} x {m}"
    return f"2^{power}" if n == 1 << power else str(n)


def cell(row, best):
    if row is None:
        return ""
    if row["verdict"] != "ok":
        return row["verdict"]
    rate = f"{float(row['rate']):.0f} GB/s" if row["unit"] == "GB/s" else f"{float(row['rate']):.1f} TFLOP/s"
    us = f"{float(row['chain_us']):.2f}"
    us = f"**{us}**" if float(row["chain_p10"]) <= best else us
    return f"{us} ({float(row['chain_p10']):.2f} .. {float(row['chain_p90']):.2f}), alone {float(row['alone_us']):.2f}, {rate}"


def table(rows):
    contenders, sizes = [], []
    for r in rows:
        if r["contender"] not in contenders:
            contenders.append(r["contender"])
        size = int(r["n"]), int(r["m"])
        if size not in sizes:
            sizes.append(size)
    print("| size | " + " | ".join(contenders) + " |")
    print("|---" * (len(contenders) + 1) + "|")
    for size in sizes:
        own = {r["contender"]: r for r in rows if (int(r["n"]), int(r["m"])) == size}
        best = min((r for r in own.values() if r["verdict"] == "ok"), key=lambda r: float(r["chain_us"]))
        print(f"| {size_text(*size)} | " + " | ".join(cell(own.get(c), float(best["chain_p90"])) for c in contenders) + " |")


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    workloads = {}
    for path in sys.argv[1:]:
        with open(path, newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                workloads.setdefault(row["workload"], []).append(row)
    for row in workloads.pop("floor", []):
        what = f"{float(row['alone_us']):.2f} us alone, {float(row['chain_us']):.2f} in a chain" if row["contender"] != "copy" else f"{float(row['rate']):.0f} GB/s, both ways counted"
        print(f"{row['device']}, {row['contender']}: {what}\n")
    for name, rows in workloads.items():
        print(f"### {name}\n")
        table(rows)
        print()


if __name__ == "__main__":
    main()
