#!/usr/bin/env python3
"""Writes what run.py has measured into docs/performance.md, and draws docs/plots/shapes.svg.

    bench/shapes/report.py CSV        CSV: as bench/shapes/h200.csv, whose column `set` says which rows were drawn, by which seed

A factor is risec's time over that of the faster one of torch and torch.compile. Rows whose best rival takes less than 5 us are in no mean."""
import csv
import math
import os
import sys
import textwrap

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "bench"))
from plot import COLOURS, Svg  # noqa: E402

BEGIN, END = "<!-- shapes -->\n", "<!-- end of shapes -->\n"
SHORTEST = 5  # us, of the best rival
WORST = 1.2   # drawn rows above it are in the table


def rival(row):
    return min(float(row[key]) for key in ("torch_us", "compile_us") if row[key] != "nan")


def counted(rows):
    return sorted(float(r["factor"]) for r in rows if rival(r) >= SHORTEST)


def line(row):
    def cell(key):
        best = key == "risec" and float(row["factor"]) <= 1 or key != "risec" and float(row[f"{key}_us"]) == rival(row) and float(row["factor"]) > 1
        value = f"{float(row[key + '_us']):.2f}"
        return f"**{value}**" if best else value
    shape = row["sizes"].replace("x", " x ")
    spread = f"{float(row['risec_p10']):.2f} to {float(row['risec_p90']):.2f}"
    return f"| `{row['program']}` | {row['type']} | {shape} | {cell('risec')} | {spread} | {cell('torch')} | {cell('compile')} | {float(row['factor']):.2f} |"


def summary(name, rows):
    factors = counted(rows)
    mean = math.exp(sum(map(math.log, factors)) / len(factors))
    return f"| {name} | {len(rows)} | {len(factors)} | {mean:.3f} | {factors[(3 * len(factors) - 1) // 4]:.2f} | {factors[-1]:.2f} |"


def table(rows, names):
    head = ["| program | type | sizes | risec | 10th to 90th percentile | torch | torch.compile | factor |", "|---|---|---|---:|---:|---:|---:|---:|"]
    groups = {name: [r for r in rows if r["set"] == name] for name in names}
    text = ["| rows | number | of 5 us and more | geometric mean | third quartile | worst |", "|---|---:|---:|---:|---:|---:|"]
    text += [summary(name, group) for name, group in groups.items()]
    text += ["", "The listed rows, in microseconds:", "", *head, *map(line, groups[names[0]])]
    slow = [r for name in names[1:] for r in groups[name] if rival(r) >= SHORTEST and float(r["factor"]) > WORST]
    short = [float(r["factor"]) for name in names[1:] for r in groups[name] if rival(r) < SHORTEST and float(r["factor"]) > WORST]
    words = (f"The drawn rows in which the faster rival takes {SHORTEST} us or more, and risec takes more than {WORST} times as long. "
             f"({len(short)} shorter rows are also above {WORST}, the highest at {max(short):.2f}.)")
    text += ["", *textwrap.wrap(words, 100), "", *head, *map(line, slow)]
    return "\n".join(text) + "\n"


def picture(rows, names, path):
    width, height, left, bottom, top = 860, 360, 60, 40, 30
    svg = Svg(width, height)
    low, high = math.log2(0.25), math.log2(2)

    def y_of(factor):
        return top + (high - math.log2(min(max(factor, 0.25), 2))) / (high - low) * (height - top - bottom)
    for factor in (0.25, 0.5, 0.75, 1, 1.25, 1.5, 2):
        svg.line(left, y_of(factor), width - 16, y_of(factor), "#888888" if factor == 1 else "#dddddd")
        svg.text(left - 6, y_of(factor) + 4, f"{factor:g}", "end")
    svg.text(left, 18, "risec's time / that of the faster one of torch and torch.compile, rows of 5 us and more, sorted")
    bars = sorted((float(r["factor"]), names.index(r["set"])) for r in rows if rival(r) >= SHORTEST)
    step = (width - left - 16) / len(bars)
    for k, (factor, group) in enumerate(bars):
        y, one = y_of(factor), y_of(1)
        svg.rect(left + k * step, min(y, one), step * 0.8, max(abs(y - one), 1), COLOURS[group % len(COLOURS)])
    for k, name in enumerate(names):
        svg.rect(left + 160 * k, height - 24, 12, 12, COLOURS[k % len(COLOURS)])
        svg.text(left + 160 * k + 18, height - 14, name)
    svg.save(path)


def main():
    with open(sys.argv[1], newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    names = list(dict.fromkeys(r["set"] for r in rows))
    page = os.path.join(ROOT, "docs", "performance.md")
    with open(page, encoding="utf-8") as file:
        text = file.read()
    before, rest = text.split(BEGIN)
    with open(page, "w", encoding="utf-8") as file:
        file.write(before + BEGIN + table(rows, names) + END + rest.split(END)[1])
    picture(rows, names, os.path.join(ROOT, "docs", "plots", "shapes.svg"))


if __name__ == "__main__":
    sys.exit(main())
