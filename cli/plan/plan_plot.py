"""Draws a plan: where the seconds of each layout's step go, and what a GPU holds.

    plan_plot.py PLAN.json PICTURE.{svg,png,pdf}

PLAN.json is what `rankbox plan --json` writes; `rankbox plan --plot` runs this. Notebooks import
draw().
"""

import json
import sys

from matplotlib.figure import Figure

# The Okabe-Ito palette, which colour-blind readers can distinguish.
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#999999", "#222222"]


def stack(axes, plans, field, unit, title):
    """One bar a layout, of the parts of `field`, but for their sum."""
    rows = range(len(plans))  # names may be equal: micro-batches may differ alone
    left = [0.0] * len(plans)
    for colour, part in zip(COLOURS, [key for key in plans[0][field] if key != "all"]):
        width = [plan[field][part] / unit for plan in plans]
        if any(width):
            axes.barh(rows, width, left=left, color=colour, label=part)
            left = [sum(pair) for pair in zip(left, width)]
    axes.set_yticks(rows, [plan["layout"] for plan in plans])
    axes.set_title(title, loc="left", fontsize=10)
    axes.legend(fontsize=7, frameon=False, ncols=4, loc="upper left", bbox_to_anchor=(0, -0.1))
    axes.spines[["top", "right"]].set_visible(False)


def draw(plan):
    """Returns a figure of what `rankbox plan --json` printed."""
    plans = plan["plans"]
    figure = Figure(figsize=(11, 1.6 + 0.36 * len(plans)), layout="constrained")
    time, memory = figure.subplots(1, 2, sharey=True)
    stack(time, plans, "seconds", 1, "seconds of a step")
    time.invert_yaxis()  # of both: the first layout is on top
    stack(memory, plans, "memory_bytes", 1e9, "GB of a GPU")
    memory.axvline(plan["gpu"]["usable_bytes"] / 1e9, color="#222222", linestyle="--", linewidth=1)
    figure.suptitle(f"{plan['model']} on {plan['gpus']} {plan['gpu']['name']} ({plan['cluster']}), "
                    f"{plan['batch']} sequences of {plan['sequence']}", fontsize=11)
    return figure


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        draw(json.load(file)).savefig(sys.argv[2])


if __name__ == "__main__":
    main()
