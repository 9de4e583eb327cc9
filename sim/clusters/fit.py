#!/usr/bin/env python3
"""Writes the GPU clusters of sim/clusters/presets: links, and modes of native collectives.

usage: sim/clusters/fit.py            writes the presets, and prints how well they fit
       sim/clusters/fit.py --check    writes nothing; fails if a preset is not what this gives, or a
                                  curve is farther from its table than promised

machines.py has the machines, their links and NCCL's constants.

A message gets what one pair of ranks can do: the nominal rate of the links of a rank, times the
share of it that one pair gets (LINKS), with no fit to a collective. A message is a call of the
library: it takes CALL to start, the least that a native collective takes.

All-reduce: a library has a few modes (protocols: quick for small messages, or wide for large ones)
and takes the fastest,

    t(n) = min over modes of   CALL + within * alpha + between * alpha of the link + wire * beta,

with ceil(log2) of a node's ranks as `within`, ceil(log2) of the nodes as `between`, and wire =
2 (p-1)/p n, the least that each rank must send. A table is cut into runs of sizes, one per mode;
each run gets the line of least squared relative error, and of all cuts the one with the smallest
worst error over the whole curve wins. One node and two have separate tables. One node may also
use the modes of two: it is no slower. Times on other numbers of ranks follow from the model; no
table tests them. There, the rate of a mode is limited by what the links inside a node carry
(carried); the rate of a switch that adds comes from the table's largest size (HELD_OUT), and limits
only fewer ranks than the table's. Up to FEW_RANKS ranks of one node, far from the table's 8, also
run NCCL's rings (below) in 2 (p-1) hops.

All others: measured.csv has no tables of them. NCCL runs them around rings, as rounds of a tree
(PAT, for one rank a node), or as messages between all pairs. Their modes are NCCL's protocols with
the constants of NCCL's own cost model:

    t(n) = min over protocols of   call + within * alpha + between * alpha' + wire * beta.
"""

import argparse
import itertools
import math
import pathlib
import statistics
import sys
import textwrap

from machines import (ALGORITHMS, CALL, CALLS, HELD_OUT, HOPS, LATENCIES, LINKS, MACHINES, MOST_LL,
                      PAT_RANK, PAT_ROUND, PROTOCOLS, RANKS_PER_NODE, SHARES, TABLES)

HERE = pathlib.Path(__file__).resolve().parent
MODES = 3
FEW_RANKS = 4
# Limits of the relative error of a curve: median and worst; and the worst of a held-out table.
PROMISED_MEDIAN, PROMISED_WORST, PROMISED_HELD_OUT = 0.15, 0.30, 0.10
# No mode is slower than this share of the widest: short messages use one of some 30 channels, and
# LL carries half the bytes. Without a limit, the quickest mode's slope is noise in the latency.
LEAST_SHARE = 0.01


def rounds(ranks):
    return math.ceil(math.log2(ranks))


def wire(ranks, size):
    return 2 * (ranks - 1) / ranks * size


def switch_GB_s(machine):
    """What each rank sends to a switch that adds: its data once, and 1/m of the result."""
    source = machine.all_reduce[1]
    if not machine.adds_in_switch:
        return None
    held_out = next(table for table, fitted in HELD_OUT.items() if fitted == source)
    ranks, _, [(size, us)] = TABLES[held_out]
    return float(f"{(ranks + 1) / ranks * size / us * 1e-3:.3g}")


def carried(machine, ranks, nodes, size):
    """Microseconds that the links inside a node need for an all-reduce, at least."""
    ring = wire(ranks, size) / LINKS[machine.within].bandwidth() * 1e-3
    if not machine.adds_in_switch:
        return ring
    per_node = math.ceil(ranks / nodes)
    return min(ring, (per_node + 1) / per_node * size / switch_GB_s(machine) * 1e-3)


def line_through(points, least, steepest):
    """The (a, b) of least sum of ((a + b x - y) / y)^2 with a >= least, 0 <= b <= steepest."""
    weights = [1 / y**2 for _, y in points]
    total = sum(weights)
    mean_x = sum(w * x for w, (x, _) in zip(weights, points)) / total
    mean_y = sum(w * y for w, (_, y) in zip(weights, points)) / total
    spread = sum(w * (x - mean_x) ** 2 for w, (x, _) in zip(weights, points))
    slope = 0.0
    if spread > 0:
        slope = sum(w * (x - mean_x) * (y - mean_y) for w, (x, y) in zip(weights, points)) / spread
    slope = min(max(slope, 0.0), steepest)
    offset = mean_y - slope * mean_x
    if offset < least:
        squares = sum(w * x * x for w, (x, _) in zip(weights, points))
        offset = least
        slope = sum(w * x * (y - least) for w, (x, y) in zip(weights, points)) / squares
    return offset, slope


def crossings_us(machine, nodes):
    return rounds(nodes) * LINKS[machine.between].alpha_us if nodes > 1 else 0


def time_of(machine, modes, ranks, nodes, size, limited=True):
    """Microseconds; modes are (us per round inside a node, us per byte)."""
    least = carried(machine, ranks, nodes, size) if limited else 0
    fixed = CALL + crossings_us(machine, nodes)
    within = rounds(math.ceil(ranks / nodes))
    return min(fixed + within * alpha + max(wire(ranks, size) * beta, least)
               for alpha, beta in modes)


def errors_of(machine, modes, ranks, nodes, points, limited=True):
    return [abs(time_of(machine, modes, ranks, nodes, size, limited) / us - 1)
            for size, us in points]


def fit(machine, ranks, nodes, points, latency=None):
    """The modes of a table; `latency` adds one from there to the first point."""
    places = [(wire(ranks, size), us) for size, us in points]
    steepest = 1 / (LEAST_SHARE * max(x / us for x, us in places))
    fixed = CALL + crossings_us(machine, nodes)
    first = [(latency, (places[0][1] - latency) / places[0][0])] if latency else []
    best = None
    for cuts in itertools.combinations(range(2, len(points) - 1), min(MODES, len(points) // 2) - 1):
        ends = (0, *cuts, len(points))
        runs = [places[begin:end] for begin, end in zip(ends, ends[1:])]
        if any(len(run) < 2 for run in runs):
            continue
        lines = first + [line_through(run, fixed, steepest) for run in runs]
        within = rounds(math.ceil(ranks / nodes))
        modes = [((offset - fixed) / within, slope) for offset, slope in lines]
        errors = errors_of(machine, modes, ranks, nodes, points, limited=False)
        score = (max(errors) + statistics.median(errors), modes)
        if best is None or score < best:
            best = score
    # Fewer digits than the data has lose nothing, and are easier to read.
    return [(float(f"{alpha:.3g}"), float(f"{beta:.3g}")) for alpha, beta in best[1]]


def fits_of(machine):
    """nodes -> the modes of the all-reduce."""
    fits = {nodes: fit(machine, *TABLES[table], LATENCIES.get(table))
            for nodes, table in machine.all_reduce.items()}
    # One node has no border to cross, so those of two are quicker there by that much.
    fits[1] = fits[1] + [mode for mode in fits.get(2, []) if is_of_use(machine, fits[1], mode)]
    return fits


def is_of_use(machine, modes, mode):
    """Whether another mode makes an all-reduce in a full node faster by more than a hundredth."""
    sizes = [2**power for power in range(3, 34)]
    time = lambda all_modes, size: time_of(machine, all_modes, RANKS_PER_NODE, 1, size)
    return any(time(modes + [mode], size) < 0.99 * time(modes, size) for size in sizes)


def curves():
    """table -> (machine, modes) that predict it: fitted to it, or to another one (HELD_OUT)."""
    own = {}
    for machine in MACHINES.values():
        fits = fits_of(machine)
        own |= {table: (machine, fits[nodes]) for nodes, table in machine.all_reduce.items()}
    return own | {table: own[source] for table, source in HELD_OUT.items()}


def protocol_modes(machine, nodes, protocols):
    """(us per call, us per step inside a node, us between nodes, GB/s) of each protocol."""
    within, between = LINKS[machine.within], LINKS.get(machine.between)
    width = within.bandwidth()
    if nodes > 1:  # the adapters of all ranks of a node carry its rings together
        width = min(width, RANKS_PER_NODE * between.bandwidth())
    modes = []
    for protocol in protocols:
        if protocol not in HOPS[machine.medium]:
            continue
        bandwidth = width * SHARES[protocol]
        if protocol == "LL":
            bandwidth = min(bandwidth, MOST_LL[machine.generation][min(nodes, 2) - 1])
        crossing = max(HOPS["network"][protocol], between.alpha_us) if nodes > 1 else None
        modes.append((CALLS[protocol], HOPS[machine.medium][protocol], crossing, bandwidth))
    return modes


def native(collectives, nodes, steps, call, alpha, crossing, bandwidth, most_ranks=None):
    fields = ["collectives = [" + ", ".join(f'"{name}"' for name in collectives) + "]"]
    if nodes > 1:
        fields.append(f"nodes = {nodes}")
    if most_ranks:
        fields.append(f"most_ranks = {most_ranks}")
    fields += [f'steps = "{steps}"', f"call_us = {call:g}", f"alpha_us = {alpha:.3g}"]
    if nodes > 1:
        fields.append(f"alpha_between_us = {crossing:.3g}")
    return "  { " + ", ".join([*fields, f"bandwidth_GB_s = {bandwidth:.4g}"]) + " },"


def modes(machine, fits):
    """Returns the lines of the modes, with where they come from."""
    lines = []
    for nodes, table in machine.all_reduce.items():
        crossing = LINKS[machine.between].alpha_us if nodes > 1 else None
        lines.append(f"  # Fitted to the table {table} of sim/clusters/measured.csv.")
        for alpha, beta in fits[nodes]:
            if nodes == 1 and (alpha, beta) in fits.get(2, []):
                lines.append("  # One of two nodes: one node is no slower.")
            lines.append(
                native(["all_reduce"], nodes, "rounds", CALL, alpha, crossing, 1e-3 / beta))
        lines.append("  # Not measured: NCCL's own constants for its protocols.")
        if nodes == 1:
            for mode in protocol_modes(machine, nodes, PROTOCOLS):
                lines.append(native(["all_reduce"], nodes, "ring", *mode, FEW_RANKS))
        for algorithm, (collectives, protocols) in ALGORITHMS.items():
            if algorithm == "pat" and nodes == 1:
                continue
            for call, alpha, crossing, bandwidth in protocol_modes(machine, nodes, protocols):
                if algorithm == "pat":
                    alpha = PAT_RANK
                    crossing = max(PAT_ROUND, LINKS[machine.between].alpha_us)
                lines.append(
                    native(collectives, nodes, algorithm, call, alpha, crossing, bandwidth))
    return lines


def preset(name, machine, fits):
    lines = [
        f"# {machine.about[0].upper()}{machine.about[1:]}.",
        "# Written by sim/clusters/fit.py. Copy it to make your own.",
        f'name = "{name}"',
        f"ranks_per_node = {RANKS_PER_NODE}",
    ]
    if machine.between is None:
        lines.append("max_nodes = 1")
    lines += [
        f"reduction_GB_s = {machine.reduction_GB_s}  # gamma = 1 / this",
        f"call_us = {CALL:g}  # what starting a message takes, at least: a constant of NCCL's",
        "",
        "# Native collectives take the fastest mode: call + steps inside nodes * alpha + steps",
        "# between nodes * alpha_between + bytes on the wire / bandwidth. The bandwidth of a quick",
        "# mode is no link's: latency grows with the size. Steps are rounds of a tree, hops of a",
        "# ring, batches of messages between all pairs, or pat's, for groups of one rank a node.",
        "native = [",
        *modes(machine, fits),
        "]",
        "",
        "# A message of n bytes takes call + alpha + n / bandwidth.",
    ]
    for section, key in (("within_node", machine.within), ("between_nodes", machine.between)):
        link = LINKS[key or machine.within]
        lines += [
            *textwrap.wrap(f"{link.source}." if key else "There is one node.", 96,
                           initial_indent="# ", subsequent_indent="# "),
            f"[{section}]",
            f"alpha_us = {link.alpha_us:g}",
            f"bandwidth_GB_s = {link.bandwidth():g}  # {link.share:.0%} of the ports",
            f"ports = {link.ports}",
            f"port_GB_s = {link.port_GB_s:g}",
        ]
        if section == "within_node" and machine.adds_in_switch:
            lines.append(f"switch_GB_s = {switch_GB_s(machine):g}  # of a rank, where it adds")
        lines.append("")
    return "\n".join(lines).rstrip("\n") + "\n"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0], epilog="See the head of this file for the model."
    )
    parser.add_argument("--check", action="store_true",
                        help="compare with the files instead of writing them")
    arguments = parser.parse_args()

    failures = []
    print(f"{'table':<16} {'fitted to':<14} {'median':>7} {'worst':>7}")
    for table, (machine, modes) in curves().items():
        source = HELD_OUT.get(table, "")
        most_median, most_worst = PROMISED_MEDIAN, PROMISED_WORST
        if source:
            most_median = most_worst = PROMISED_HELD_OUT
        errors = errors_of(machine, modes, *TABLES[table])
        median, worst = statistics.median(errors), max(errors)
        print(f"{table:<16} {source:<14} {median:7.1%} {worst:7.1%}")
        if median > most_median or worst > most_worst:
            failures.append(f"{table}: median {median:.1%} (at most {most_median:.0%}), "
                            f"worst {worst:.1%} (at most {most_worst:.0%})")
    for name, machine in MACHINES.items():
        path = HERE / "presets" / f"{name}.toml"
        text = preset(name, machine, fits_of(machine))
        if not arguments.check:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            failures.append(f"{path.name} is not what the fit gives: run sim/clusters/fit.py")

    for failure in failures:
        print(failure, file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
