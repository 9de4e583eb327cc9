"""Draws a fit: time and bus bandwidth against size, measured as points and fitted as a line.

    fit_plot.py REPORT.json PICTURE.{svg,png,pdf}

REPORT.json is what `rankbox fit --json` prints; `rankbox fit --plot` runs this. Rows that were left
out of the fit are crosses.
"""

import json
import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).absolute().parents[1] / "compare"))

import matplotlib  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402

from plot import COLOURS, finish, legend_beside  # noqa: E402


def bus_GB_s(table, size, us):
    """Bus bandwidth as nccl-tests define it."""
    ranks = table["ranks"]
    factor = {"all_reduce": 2 * (ranks - 1) / ranks, "broadcast": 1, "reduce": 1,
              "sendrecv": 1}.get(table["collective"], (ranks - 1) / ranks)
    return factor * size / us * 1e-3


def apart(sizes, most=7):
    """Sizes for labels that do not overlap; the largest is among them."""
    sizes = sorted(sizes)
    least = math.log2(sizes[-1] / sizes[0]) / most
    chosen = [sizes[-1]]
    for size in reversed(sizes):
        if math.log2(chosen[-1] / size) > least:
            chosen.append(size)
    return chosen


def draw(report):
    """A figure with a row for each table."""
    tables = report["tables"]
    figure = Figure(figsize=(11, 3.4 * len(tables)), layout="constrained")
    grid = figure.subplots(len(tables), 2, squeeze=False)
    for axes, table in zip(grid, tables):
        nodes = "one node" if table["nodes"] == 1 else f"{table['nodes']} nodes"
        title = f"{table['collective']}, {table['ranks']} ranks on {nodes}"
        for i, value in enumerate((lambda size, us: us,
                                   lambda size, us: bus_GB_s(table, size, us))):
            kept = [row for row in table["rows"] if not row["left_out"]]
            left = [row for row in table["rows"] if row["left_out"]]
            points = lambda rows, key: ([row["bytes"] for row in rows],
                                        [value(row["bytes"], row[key]) for row in rows])
            axes[i].plot(*points(table["rows"], "fitted_us"), color=COLOURS[0], linewidth=1.6,
                         label="fitted" if table["fitted"] else "predicted")
            axes[i].plot(*points(kept, "us"), "o", color=COLOURS[1], markersize=5,
                         label="measured")
            if left:
                axes[i].plot(*points(left, "us"), "x", color="#222222", markersize=7,
                             label="not fitted")
            finish(axes[i], title, is_time=i == 0)
            axes[i].set_xticks(apart({row["bytes"] for row in table["rows"]}))
        legend_beside(axes[1])
    return figure


def main():
    source, target = sys.argv[1:]
    report = json.loads(pathlib.Path(source).read_text(encoding="utf-8"))
    matplotlib.rcParams["svg.fonttype"] = "none"  # searchable and readable by screen readers
    draw(report).savefig(target, dpi=130)


if __name__ == "__main__":
    main()
