#!/usr/bin/env python3
"""Pictures of what the benchmark wrote: one SVG for each workload, with the time of a call and the rate.

    bench/plot.py OUT FILE.csv... [--only NAMES]     OUT: a folder for WORKLOAD.svg

Several files, as those of torch_rivals.py, are drawn together. Workloads of several sizes get lines over the size: calls in a chain, from the 10th to the 90th percentile. Those of
one size get bars. The grey lines are what an empty kernel takes, and the rate of a copy on the device."""
import argparse
import collections
import csv
import html
import math
import os
import sys

PANEL, HEIGHT, LEFT, BOTTOM, TOP, LEGEND = 430, 400, 60, 44, 44, 20
COLOURS = ("#1b6ca8", "#c0392b", "#27803b", "#8e44ad", "#d68910", "#0e7c7b", "#a04668", "#555555")


class Svg:
    def __init__(self, width, height):
        self.parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" font-size="12">',
                      f'<rect width="{width}" height="{height}" fill="white"/>']

    def text(self, x, y, words, anchor="start", colour="black", size=12):
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}" font-size="{size}">{html.escape(words)}</text>')

    def line(self, x1, y1, x2, y2, colour="#dddddd", dashes=""):
        self.parts.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}"' + (f' stroke-dasharray="{dashes}"' if dashes else "") + "/>")

    def points(self, points, colour):
        self.parts.append(f'<polyline points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}" fill="none" stroke="{colour}" stroke-width="2"/>')

    def rect(self, x, y, width, height, colour):
        self.parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{colour}"/>')

    def save(self, path):
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(self.parts) + "\n</svg>\n")


def number(text):
    return float(text) if text else math.nan


def short(value):
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def time_of(row, which=""):
    """In the chain; alone, where it could not be captured."""
    chain = number(row["chain_us" if not which else "chain_" + which])
    return chain if not math.isnan(chain) else number(row["alone_us" if not which else "alone_" + which])


def elements(row):
    return int(row["n"]) * int(row["m"])


def curve(svg, left, title, rows, lines, value, floor, floor_name, logarithmic):
    """A panel: value(row) over the elements, a line for each contender."""
    sizes = sorted({elements(r) for r in rows})
    low, high = math.log2(sizes[0]), math.log2(sizes[-1])
    values = [value(r) for r in rows] + ([floor] if floor else [])
    bottom, top = (math.log2(min(values)) - 0.2, math.log2(max(values)) + 0.2) if logarithmic else (0, max(values) * 1.05)

    def at(x, y):
        y = math.log2(y) if logarithmic else y
        return (left + LEFT + (math.log2(x) - low) / max(high - low, 1e-9) * (PANEL - LEFT - 16), HEIGHT - BOTTOM - (y - bottom) / (top - bottom) * (HEIGHT - BOTTOM - TOP))

    svg.text(left + LEFT, TOP - 10, title)
    for step in range(6):
        y = bottom + (top - bottom) * step / 5
        y = 2 ** y if logarithmic else y
        px, py = at(sizes[0], y)
        svg.line(px, py, left + PANEL - 16, py)
        svg.text(px - 6, py + 4, short(y), "end")
    step = max(2, 2 * math.ceil((high - low) / 16))
    for k in range(math.ceil(low), math.floor(high) + 1, step):
        svg.text(at(2 ** k, 2 ** bottom if logarithmic else 0)[0], HEIGHT - BOTTOM + 18, f"2^{k}", "middle")
    if floor:
        (x, y), (x2, _) = at(sizes[0], floor), at(sizes[-1], floor)
        svg.line(x, y, x2, y, "#888888", "5 4")
        svg.text(x2, y - 5, floor_name, "end", "#666666", 11)
    for i, line in enumerate(lines.values()):
        svg.points([at(elements(r), value(r)) for r in sorted(line, key=elements)], COLOURS[i % len(COLOURS)])


def bars(svg, left, title, lines, value, spread, floor, floor_name):
    """A panel: a bar for each contender, with the spread where it has one."""
    rows = [(name, line[0]) for name, line in lines.items()]
    most = max([value(r) for _, r in rows] + ([floor] if floor else [])) * 1.05
    width, step = PANEL - LEFT - 16, (HEIGHT - BOTTOM - TOP) / len(rows)
    svg.text(left + LEFT, TOP - 10, title)
    for i, (name, row) in enumerate(rows):
        y = TOP + i * step
        svg.text(left + LEFT, y + 12, f"{name}: {short(value(row))}", colour=COLOURS[i % len(COLOURS)])
        svg.rect(left + LEFT, y + 16, value(row) / most * width, max(step - 26, 4), COLOURS[i % len(COLOURS)])
        if spread:
            a, b = (left + LEFT + v / most * width for v in spread(row))
            svg.line(a, y + 16 + max(step - 26, 4) / 2, b, y + 16 + max(step - 26, 4) / 2, "black")
    if floor:
        x = left + LEFT + floor / most * width
        svg.line(x, TOP, x, HEIGHT - BOTTOM, "#888888", "5 4")
        svg.text(x, HEIGHT - BOTTOM + 16, floor_name, "end" if floor > most / 2 else "start", "#666666", 11)


def draw(name, rows, floors, path):
    lines = collections.OrderedDict()
    for row in rows:
        lines.setdefault(row["contender"], []).append(row)
    several = len({elements(r) for r in rows}) > 1
    unit = rows[0]["unit"]
    empty = floors.get("empty kernel")
    copy = number(floors["copy"]["rate"]) if "copy" in floors and unit == "GB/s" else None
    height = HEIGHT + (LEGEND * math.ceil(len(lines) / 3) if several else 0)
    svg = Svg(2 * PANEL, height)
    where = "" if several else f" of {rows[0]['n']}" + (f" x {rows[0]['m']}" if rows[0]["m"] != "1" else "")
    svg.text(LEFT, 18, f"{name}{where} on {rows[0]['device']}", size=14)
    if several:
        curve(svg, 0, "us a call, over the elements", rows, lines, time_of, time_of(empty) if empty else None, "empty kernel", True)
        curve(svg, PANEL, f"{unit}, over the elements", rows, lines, lambda r: number(r["rate"]), copy, "copy", False)
        for i, contender in enumerate(lines):
            svg.text(LEFT + (i % 3) * 2 * (PANEL - LEFT) / 3, HEIGHT + LEGEND * (i // 3), contender, colour=COLOURS[i % len(COLOURS)])
    else:
        bars(svg, 0, "us a call", lines, time_of, lambda r: (time_of(r, "p10"), time_of(r, "p90")), None, "")
        bars(svg, PANEL, unit, lines, lambda r: number(r["rate"]), None, copy, "copy")
    svg.save(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("files", nargs="+", metavar="FILE.csv")
    parser.add_argument("--only", metavar="NAMES", help="these workloads (names with commas between)")
    options = parser.parse_args()
    only = options.only.split(",") if options.only else None
    found, floors = collections.OrderedDict(), {}
    for path in options.files:
        with open(path, encoding="utf-8") as file:
            for row in csv.DictReader(file):
                if row["workload"] == "floor":
                    floors[row["contender"]] = row
                elif not math.isnan(time_of(row)) and (not only or row["workload"] in only):
                    found.setdefault(row["workload"], []).append(row)
    for name in only or ():
        if name not in found:
            sys.exit(f"plot: no file has the workload {name}")
    if not found:
        sys.exit("plot: there is nothing to draw")
    os.makedirs(options.out, exist_ok=True)
    for name, rows in found.items():
        draw(name, rows, floors, os.path.join(options.out, name + ".svg"))


if __name__ == "__main__":
    main()
