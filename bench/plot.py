#!/usr/bin/env python3
"""bench/plot.py FILE.csv WORKLOAD OUT.svg: GB/s over size for each contender of a workload, from what the benchmark wrote."""
import collections
import csv
import math
import sys

WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 760, 420, 70, 50, 30, 190
COLOURS = ("#1b6ca8", "#c0392b", "#27803b", "#8e44ad", "#d68910", "#555555")


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as file:
        rows = [r for r in csv.DictReader(file) if r["workload"] == sys.argv[2]]
    if not rows:
        sys.exit(f"{sys.argv[1]} has no workload {sys.argv[2]}")
    lines = collections.defaultdict(list)
    for r in rows:
        lines[r["contender"]].append((int(r["n"]) * int(r["m"]), float(r["rate"])))
    sizes = [x for line in lines.values() for x, _ in line]
    low, high = math.log2(min(sizes)), math.log2(max(sizes))
    most = max(y for line in lines.values() for _, y in line) * 1.05

    def at(x, y):
        return (LEFT + (math.log2(x) - low) / max(high - low, 1e-9) * (WIDTH - LEFT - RIGHT), HEIGHT - BOTTOM - y / most * (HEIGHT - BOTTOM - TOP))

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" font-family="sans-serif" font-size="12">',
           f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
           f'<text x="{LEFT}" y="18">{sys.argv[2]} on {rows[0]["device"]}: {rows[0]["unit"]} over the number of elements, calls in a chain</text>']
    for step in range(6):
        y = most * step / 5
        px, py = at(min(sizes), y)
        out.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{py:.1f}" y2="{py:.1f}" stroke="#dddddd"/><text x="{LEFT - 8}" y="{py + 4:.1f}" text-anchor="end">{y:.0f}</text>')
    for k in range(math.ceil(low), math.floor(high) + 1, 2):
        px, _ = at(2 ** k, 0)
        out.append(f'<text x="{px:.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">2^{k}</text>')
    for i, (name, line) in enumerate(lines.items()):
        colour = COLOURS[i % len(COLOURS)]
        points = " ".join(f"{px:.1f},{py:.1f}" for px, py in (at(x, y) for x, y in sorted(line)))
        out.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
        out.append(f'<text x="{WIDTH - RIGHT + 12}" y="{TOP + 20 + 18 * i}" fill="{colour}">{name}</text>')
    with open(sys.argv[3], "w", encoding="utf-8") as file:
        file.write("\n".join(out) + "\n</svg>\n")


if __name__ == "__main__":
    main()
