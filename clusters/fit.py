#!/usr/bin/env python3
"""Fits the GPU clusters of clusters/presets to measured all-reduce times.

usage: clusters/fit.py            writes the presets, and prints how well they fit
       clusters/fit.py --check    writes nothing; fails if a preset is not what the fit gives, or a
                                  curve is farther from its table than promised

The model: a library has a few modes (protocols: quick for small messages, or wide for large ones)
and takes the fastest,

    t(n) = min over modes of   rounds * alpha + wire * beta,

with rounds = ceil(log2 p) and wire = 2 (p-1)/p n, the least that each rank must send. So a table at
one p predicts the times at another. A table is cut into runs of sizes, one per mode; each run gets
the line of least squared relative error, and of all cuts the one with the smallest worst error over
the whole curve wins.
"""

import argparse
import csv
import itertools
import math
import pathlib
import statistics
import sys

HERE = pathlib.Path(__file__).resolve().parent
MODES = 3

# Name of the preset: description, the table it is fitted to, the table for links inside a node,
# ranks per node, and GB/s of reductions (a fraction of the GPU's memory bandwidth: two are read and
# one is written).
FITTED = {
    "h100-nvlink": ("one node of 8 H100 with NVLink and NVLS", "h100-nvls", "h100-nvls", 8, 1000),
    "a100-infiniband": ("nodes of 8 A100-40GB with NVLink, InfiniBand between them", "a100-2x8",
                        "h100-nvls", 8, 500),
    "h100-efa": ("nodes of 8 H100 with NVLink, EFA between them", "h100-efa-2x8", "h100-nvls", 8,
                 1000),
    "pcie-4090": ("a box of 8 RTX 4090 on PCIe, without peer access", "rtx4090", "rtx4090", 8, 300),
}
# Not fitted: predicted from another table's fit, at another number of ranks.
HELD_OUT = {"a100-8": "a100-2x8"}

# Limits of the relative error of a curve: median and worst; and the worst of a held-out table.
PROMISED_MEDIAN, PROMISED_WORST, PROMISED_HELD_OUT = 0.15, 0.30, 0.35


def read_tables():
    tables = {}
    with open(HERE / "measured.csv", encoding="utf-8") as file:
        for row in csv.DictReader(line for line in file if not line.startswith("#")):
            point = (int(row["bytes"]), float(row["us"]))
            tables.setdefault(row["table"], (int(row["ranks"]), []))[1].append(point)
    return tables


def rounds(ranks):
    return math.ceil(math.log2(ranks))


def wire(ranks, size):
    return 2 * (ranks - 1) / ranks * size


def line_through(points):
    """The (a, b) with a, b >= 0 that minimizes the sum of ((a + b x - y) / y)^2."""
    weights = [1 / y**2 for _, y in points]
    total = sum(weights)
    mean_x = sum(w * x for w, (x, _) in zip(weights, points)) / total
    mean_y = sum(w * y for w, (_, y) in zip(weights, points)) / total
    spread = sum(w * (x - mean_x) ** 2 for w, (x, _) in zip(weights, points))
    slope = 0.0
    if spread > 0:
        slope = sum(w * (x - mean_x) * (y - mean_y) for w, (x, y) in zip(weights, points)) / spread
    slope = max(slope, 0.0)
    offset = mean_y - slope * mean_x
    if offset < 0:
        squares = sum(w * x * x for w, (x, _) in zip(weights, points))
        offset, slope = 0.0, sum(w * x * y for w, (x, y) in zip(weights, points)) / squares
    return offset, slope


def time_of(modes, ranks, size):
    """Microseconds; modes are (us per round, us per byte)."""
    return min(rounds(ranks) * alpha + wire(ranks, size) * beta for alpha, beta in modes)


def errors_of(modes, ranks, points):
    return [abs(time_of(modes, ranks, size) / us - 1) for size, us in points]


def fit(ranks, points):
    places = [(wire(ranks, size), us) for size, us in points]
    best = None
    for cuts in itertools.combinations(range(2, len(points) - 1), MODES - 1):
        ends = (0, *cuts, len(points))
        runs = [places[begin:end] for begin, end in zip(ends, ends[1:])]
        if any(len(run) < 2 for run in runs):
            continue
        lines = [line_through(run) for run in runs]
        modes = [(offset / rounds(ranks), slope) for offset, slope in lines]
        errors = errors_of(modes, ranks, points)
        score = (max(errors) + statistics.median(errors), modes)
        if best is None or score < best:
            best = score
    # Fewer digits than the data has lose nothing, and are easier to read.
    return [(float(f"{alpha:.3g}"), float(f"{beta:.3g}")) for alpha, beta in best[1]]


def link_of(modes):
    """The link of one message: the quickest mode's time per round, and the widest mode's GB/s."""
    return modes[0][0], 1e-3 / modes[-1][1]


def preset(name, about, table, ranks_per_node, reduction, modes, modes_within):
    between, within = link_of(modes), link_of(modes_within)
    # Links inside a node are at least as wide as those between nodes.
    within = (min(within[0], between[0]), max(within[1], between[1]))
    lines = [
        f"# {about[0].upper()}{about[1:]}.",
        f"# Written by clusters/fit.py from the table {table} of clusters/measured.csv. "
        "Copy it to make your own.",
        f'name = "{name}"',
        f"ranks_per_node = {ranks_per_node}",
        f"reduction_GB_s = {reduction}  # gamma = 1 / this",
        "",
        "# A message of n bytes takes alpha + n / bandwidth: a native all-reduce's quickest round, "
        "and",
        "# its widest bandwidth.",
        "[within_node]",
        f"alpha_us = {within[0]:.3g}",
        f"bandwidth_GB_s = {within[1]:.3g}",
        "",
        "[between_nodes]",
        f"alpha_us = {between[0]:.3g}",
        f"bandwidth_GB_s = {between[1]:.3g}",
        "",
        "# Native collectives take the fastest of these: rounds * alpha + bytes on the wire / "
        "bandwidth.",
    ]
    for alpha, beta in modes:
        lines += ["[[native]]", f"alpha_us = {alpha:g}", f"bandwidth_GB_s = {1e-3 / beta:.4g}"]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0], epilog="See the head of this file for the model."
    )
    parser.add_argument("--check", action="store_true",
                        help="compare with the files instead of writing them")
    arguments = parser.parse_args()

    tables = read_tables()
    failures = []
    print(f"{'table':<14} {'preset':<16} {'median':>7} {'worst':>7}")

    def judge(table, name, modes, most_median, most_worst):
        errors = errors_of(modes, *tables[table])
        median, worst = statistics.median(errors), max(errors)
        print(f"{table:<14} {name:<16} {median:7.1%} {worst:7.1%}")
        if median > most_median or worst > most_worst:
            failures.append(f"{table}: median {median:.1%} (at most {most_median:.0%}), "
                            f"worst {worst:.1%} (at most {most_worst:.0%})")

    fits = {}
    for name, (about, table, table_within, ranks_per_node, reduction) in FITTED.items():
        fits[table] = fit(*tables[table])
        judge(table, name, fits[table], PROMISED_MEDIAN, PROMISED_WORST)
        path = HERE / "presets" / f"{name}.toml"
        text = preset(name, about, table, ranks_per_node, reduction, fits[table],
                      fits[table_within])
        if not arguments.check:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            failures.append(f"{path.name} is not what the fit gives: run clusters/fit.py")
    for table, fitted in HELD_OUT.items():
        judge(table, f"({fitted})", fits[fitted], PROMISED_HELD_OUT, PROMISED_HELD_OUT)

    for failure in failures:
        print(failure, file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
