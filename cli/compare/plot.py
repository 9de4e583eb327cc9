"""Draws a comparison: time and bus bandwidth against size, on this machine and on the cluster.

Of a comparison with --virtual: on the cluster alone, and against the number of ranks, too.

    plot.py COMPARISON.json PICTURE.{svg,png,pdf}

COMPARISON.json is what `rankbox compare --json` writes; `rankbox compare --plot` runs this.
Notebooks import draw().
"""

import json
import sys

import matplotlib

from matplotlib.figure import Figure
from matplotlib.ticker import (FuncFormatter, LogLocator, MaxNLocator, NullFormatter,
                               NullLocator)

# The Okabe-Ito palette, which colour-blind readers can distinguish. Markers differ, too.
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#6B4C9A", "#8C6D1F"]
MARKS = "osD^vP*X"
NATIVE = {"color": "#222222", "linestyle": "--", "marker": ".", "zorder": 1}


def size_text(size, _=None):
    for unit in ("B", "KiB", "MiB"):
        if size < 1024:
            return f"{size:g} {unit}"
        size /= 1024
    return f"{size:g} GiB"


def time_text(microseconds, _=None):
    if microseconds >= 1e6:
        return f"{microseconds / 1e6:g} s"
    if microseconds >= 1e3:
        return f"{microseconds / 1e3:g} ms"
    return f"{microseconds:g} µs" if microseconds >= 1 else f"{microseconds * 1e3:g} ns"


def series_of(results, clock="time_us"):
    """The rows of each picture: {(collective, op, ranks): [row]}, in the order measured.

    Rows that failed have no times, and are left out.
    """
    series = {}
    for row in results:
        if row["bytes"] > 0 and row[clock] is not None:
            series.setdefault((row["collective"], row["op"], row["ranks"]), []).append(row)
    return series


def skipped_in(results, **key):
    """Algorithms that the worlds of a picture cannot run, in the order measured: {name: ranks}."""
    found = {}
    for row in results:
        if row.get("skipped") and all(row[name] == value for name, value in key.items()):
            ranks = found.setdefault(label_of(row["whose"], row["algorithm"]), [])
            if row["ranks"] not in ranks:
                ranks.append(row["ranks"])
    return found


def label_of(whose, algorithm):
    return f"{algorithm} (yours)" if whose == "yours" else algorithm


def lines_of(rows):
    """{(whose, algorithm): [row]}: yours is a separate line beside the reference's."""
    lines = {}
    for row in rows:
        lines.setdefault((row["whose"], row["algorithm"]), []).append(row)
    return lines


def styles_of(lines):
    """A colour and a mark for each algorithm; yours has the reference's, dotted and hollow."""
    algorithms = list(dict.fromkeys(algorithm for whose, algorithm in lines if whose != "native"))
    styles = {}
    for whose, algorithm in lines:
        if whose == "native":
            styles[whose, algorithm] = NATIVE
            continue
        index = algorithms.index(algorithm)
        styles[whose, algorithm] = {"color": COLOURS[index % len(COLOURS)],
                                    "marker": MARKS[index % len(MARKS)]}
        if whose == "yours":
            styles[whose, algorithm] |= {"linestyle": ":", "markerfacecolor": "white"}
    return styles


def draw_lines(axes, lines, value, position="bytes"):
    """Draws the rows as points. A null value is unknown and gives no point."""
    styles = styles_of(lines)
    for (whose, algorithm), rows in lines.items():
        points = [(row[position], value(row)) for row in rows if value(row)]
        axes.plot([x for x, _ in points], [y for _, y in points],
                  label=label_of(whose, algorithm), markersize=5, linewidth=1.6,
                  **styles[whose, algorithm])


def note_skipped(axes, skipped):
    """Names algorithms without a line in the legend, with the ranks that make no grid of nodes."""
    for label, ranks in skipped.items():
        axes.plot([], [], " ", label=f"{label}: skipped on {', '.join(map(str, ranks))} ranks")


def draw_spread(axes, lines):
    """The middle half of the iterations."""
    styles = styles_of(lines)
    for (whose, algorithm), rows in lines.items():
        if whose == "native":
            continue
        axes.fill_between([row["bytes"] for row in rows], [row["time_us"]["q1"] for row in rows],
                          [row["time_us"]["q3"] for row in rows], alpha=0.15, linewidth=0,
                          color=styles[whose, algorithm]["color"])


def ticks_at(positions, most=8):
    """Of the measured positions, at most so many, evenly spread; the last one is among them."""
    positions = sorted(positions)
    step = max(1, -(-len(positions) // most))
    return positions[::-1][::step][::-1]


def label_times(axis):
    """At least three labelled ticks, also where times span less than a factor of ten."""
    low, high = axis.get_view_interval()
    for subs in ((1,), (1, 2, 5), tuple(range(1, 10))):
        locator = LogLocator(base=10, subs=subs, numticks=20)
        if sum(low <= tick <= high for tick in locator.tick_values(low, high)) >= 3:
            break
    else:
        locator = MaxNLocator(5)
    axis.set_major_locator(locator)
    axis.set_minor_formatter(NullFormatter())
    axis.set_major_formatter(FuncFormatter(time_text))


def finish(axes, title, is_time, position="bytes"):
    axes.set_title(title, fontsize=10)
    axes.set_xscale("log", base=2)
    measured = {x for line in axes.get_lines() for x in line.get_xdata()}
    axes.set_xticks(ticks_at(measured))
    axes.xaxis.set_minor_locator(NullLocator())
    is_size = position == "bytes"
    axes.xaxis.set_major_formatter(FuncFormatter(size_text if is_size else "{:g}".format))
    axes.set_xlabel("size" if is_size else "ranks")
    axes.grid(True, which="major", alpha=0.3)
    if is_time:
        axes.set_yscale("log")
        label_times(axes.yaxis)
        axes.set_ylabel("time")
    else:
        axes.set_ylim(bottom=0)
        axes.set_ylabel("bus bandwidth, GB/s")


def add_note(figure, comparison):
    """What the table says below: on a cluster, native times and messages have different sources."""
    if comparison.get("note"):
        figure.supxlabel(comparison["note"].strip(), fontsize=8, x=0.01,
                         horizontalalignment="left")


def legend_beside(axes, **more):
    """Outside the axes, where it hides no curve."""
    axes.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.02, 1), borderaxespad=0, **more)


def series_by_ranks(results):
    """The rows of each picture against ranks: {(collective, op, size): [row]}.

    Sizes are rounded to parts of equal size for each world. So the k-th size of a world belongs to
    the k-th of the others; worlds with another number of sizes are left out.
    """
    worlds = {}
    for (collective, op, ranks), rows in series_of(results, "virtual_us").items():
        sizes = sorted({row["bytes"] for row in rows})
        worlds.setdefault((collective, op), {})[ranks] = (sizes, rows)
    series = {}
    for (collective, op), by_ranks in worlds.items():
        most = max(by_ranks.values(), key=lambda world: len(world[0]))[0]
        for sizes, rows in by_ranks.values():
            if len(sizes) != len(most):
                continue
            for row in rows:
                size = most[sizes.index(row["bytes"])]
                series.setdefault((collective, op, size), []).append(row)
    return {key: rows for key, rows in series.items() if len({row["ranks"] for row in rows}) > 1}


def draw_virtual(comparison):
    """A figure with a row for each collective and world size, and for each collective and size."""
    results = comparison["results"]
    by_size = series_of(results, "virtual_us")
    if not by_size:
        raise ValueError("nothing to plot: no row has a size and a virtual time")
    pictures = [(f"{collective}, {op}, {ranks} ranks", rows, "bytes",
                 skipped_in(results, collective=collective, op=op, ranks=ranks))
                for (collective, op, ranks), rows in by_size.items()]
    pictures += [(f"{collective}, {op}, {size_text(size)}", rows, "ranks",
                  skipped_in(results, collective=collective, op=op))
                 for (collective, op, size), rows in series_by_ranks(results).items()]
    figure = Figure(figsize=(11, 3.4 * len(pictures)), layout="constrained")
    grid = figure.subplots(len(pictures), 2, squeeze=False)
    for axes, (title, rows, position, skipped) in zip(grid, pictures):
        lines = lines_of(rows)
        where = f"{title}: virtual time on {comparison['cluster']['name']}"
        draw_lines(axes[0], lines, lambda row: row["virtual_us"], position)
        draw_lines(axes[1], lines, lambda row: row["virtual_busbw_gbps"], position)
        finish(axes[0], where, is_time=True, position=position)
        finish(axes[1], where, is_time=False, position=position)
        note_skipped(axes[1], skipped)
        legend_beside(axes[1])
    add_note(figure, comparison)
    return figure


def draw(comparison):
    """A figure with a row for each collective and world size, and clock.

    The left column is time, the right one bus bandwidth as nccl-tests define it.
    """
    if comparison.get("virtual"):
        return draw_virtual(comparison)
    series = series_of(comparison["results"])
    if not series:
        raise ValueError("nothing to plot: no row has a size and a time")
    cluster = comparison["cluster"]["name"]
    figure = Figure(figsize=(11, 3.4 * 2 * len(series)), layout="constrained")
    grid = figure.subplots(2 * len(series), 2, squeeze=False)
    ops = {(collective, op) for collective, op, _ in series}
    for number, ((collective, op, ranks), rows) in enumerate(series.items()):
        lines = lines_of(rows)
        several = sum(collective == each for each, _ in ops) > 1
        world = f"{collective}, {op}, {ranks} ranks" if several else f"{collective}, {ranks} ranks"
        here, there = grid[2 * number], grid[2 * number + 1]
        draw_lines(here[0], lines, lambda row: row["time_us"]["median"])
        draw_spread(here[0], lines)
        draw_lines(here[1], lines, lambda row: row["busbw_gbps"])
        draw_lines(there[0], lines, lambda row: row["virtual_us"])
        draw_lines(there[1], lines, lambda row: row["virtual_busbw_gbps"])
        cores = comparison.get("cores") or ranks
        machine = f"this machine, {cores} cores" if cores < ranks else "this machine"
        for axes, where in ((here, machine), (there, f"virtual time on {cluster}")):
            finish(axes[0], f"{world}: {where}", is_time=True)
            finish(axes[1], f"{world}: {where}", is_time=False)
        note_skipped(here[1], skipped_in(comparison["results"], collective=collective, op=op,
                                         ranks=ranks))
        legend_beside(here[1], title="band: middle half\nof the iterations", title_fontsize=7)
    add_note(figure, comparison)
    return figure


def main():
    source, target = sys.argv[1:]
    with open(source, encoding="utf-8") as file:
        comparison = json.load(file)
    matplotlib.rcParams["svg.fonttype"] = "none"  # searchable and readable by screen readers
    draw(comparison).savefig(target, dpi=130)


if __name__ == "__main__":
    main()
