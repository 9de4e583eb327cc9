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
and takes the fastest (modes.py fits them),

    t(n) = min over modes of   CALL + within * alpha + between * alpha of the link + wire * beta,

with ceil(log2) of a node's ranks as `within`, ceil(log2) of the nodes as `between`, and wire =
2 (p-1)/p n, the least that each rank must send. One node, two and four have separate tables. One
node may also use the modes of two: it is no slower. Times on other numbers of ranks and nodes
follow from the model, and other boxes' tables test them (ELSEWHERE). There, the rate of a mode is
limited by what the links carry (carried); the rate of a switch that adds comes from the tables that
fit nothing, and limits only fewer ranks than the table's. Up to FEW_RANKS ranks of one node, far
from the table's 8, also run NCCL's rings (below) in 2 (p-1) hops.

All others: measured.csv has no tables of them. NCCL runs them around rings, as rounds of a tree
(PAT, for one rank a node), or as messages between all pairs. Their modes are NCCL's protocols with
the constants of NCCL's own cost model:

    t(n) = min over protocols of   call + within * alpha + between * alpha' + wire * beta.
"""

import argparse
import math
import pathlib
import statistics
import sys
import textwrap

from machines import (ALGORITHMS, CALL, ELSEWHERE, HELD_OUT, LATENCIES, LINKS, MACHINES, PROTOCOLS,
                      SHORT, SMALLER, TABLES)
from modes import fit_lines, native, pat_mode, protocol_modes, rounds, wire

HERE = pathlib.Path(__file__).resolve().parent
FEW_RANKS = 4
# Limits of the relative error of a curve: median and worst; the worst of a larger size that did not
# fit it, and the median of another box (ELSEWHERE). All rows of those but one are within 25 %.
PROMISED_MEDIAN, PROMISED_WORST = 0.15, 0.30
PROMISED_HELD_OUT, PROMISED_ELSEWHERE = 0.10, 0.25


def switch_GB_s(machine):
    """What each rank sends to a switch that adds: its data once, and 1/m of the result."""
    if not machine.adds_in_switch:
        return None
    held_out = [table for table, fitted in [*HELD_OUT.items(), *ELSEWHERE]
                if fitted == machine.all_reduce[1]]
    return max(float(f"{(ranks + 1) / ranks * points[-1][0] / points[-1][1] * 1e-3:.3g}")
               for ranks, _, points in map(TABLES.get, held_out))


def carried(machine, ranks, nodes, size):
    """Microseconds that the links need for an all-reduce, at least: inside a node and between."""
    per_node = math.ceil(ranks / nodes)
    least = 0
    if per_node > 1:
        least = wire(ranks, size) / LINKS[machine.within].bandwidth() * 1e-3
        if machine.adds_in_switch:
            switch = (per_node + 1) / per_node * size / switch_GB_s(machine) * 1e-3
            least = min(least, switch)
    if nodes > 1:
        passing = size if nodes == 2 else wire(ranks, size)  # two nodes: trees
        least = max(least, passing / per_node / LINKS[machine.between].bandwidth() * 1e-3)
    return least


def fixed_us(machine, ranks, nodes):
    """What a call takes besides the steps that a mode's alpha counts."""
    if nodes == ranks:
        return CALL
    return CALL + (rounds(nodes) * LINKS[machine.between].alpha_us if nodes > 1 else 0)


def counted(ranks, nodes):
    """The rounds that a mode's alpha counts: inside a node, or between nodes of one rank."""
    return rounds(nodes) if nodes == ranks else rounds(math.ceil(ranks / nodes))


def time_of(machine, modes, ranks, nodes, size):
    """Microseconds; modes are (us per counted round, us per byte)."""
    least = carried(machine, ranks, nodes, size)
    return min(fixed_us(machine, ranks, nodes) + counted(ranks, nodes) * alpha +
               max(wire(ranks, size) * beta, least) for alpha, beta in modes)


def errors_of(machine, modes, ranks, nodes, points):
    return [abs(time_of(machine, modes, ranks, nodes, size) / us - 1) for size, us in points]


def fit(machine, table):
    """The modes of a table (modes.py); one more where it lacks short or long messages."""
    ranks, nodes, points = TABLES[table]
    places = [(wire(ranks, size), us) for size, us in points]
    fixed = fixed_us(machine, ranks, nodes)
    more = []
    if table in LATENCIES:
        latency = LATENCIES[table]
        more = [(latency, (places[0][1] - latency) / places[0][0])]
    if table in SHORT:
        beta = 1e-3 / LINKS[machine.between].bandwidth()
        more = [(places[-1][1] - beta * places[-1][0], beta)]
        places = places[:-1]
    lines = fit_lines(places, fixed, more)
    modes = [((offset - fixed) / counted(ranks, nodes), slope) for offset, slope in lines]
    # Fewer digits than the data has lose nothing, and are easier to read.
    modes = [(float(f"{alpha:.3g}"), float(f"{beta:.3g}")) for alpha, beta in modes]
    return (fit(machine, SMALLER[table]) if table in SMALLER else []) + modes


def fits_of(machine):
    """nodes -> the modes of the all-reduce."""
    fits = {nodes: fit(machine, table) for nodes, table in machine.all_reduce.items()}
    # One node has no border to cross, so those of two are quicker there by that much.
    if 1 in fits:
        fits[1] = fits[1] + [mode for mode in fits.get(2, []) if is_of_use(machine, fits[1], mode)]
    return fits


def is_of_use(machine, modes, mode):
    """Whether another mode makes an all-reduce in a full node faster by more than a hundredth."""
    sizes = [2**power for power in range(3, 34)]
    time = lambda all_modes, size: time_of(machine, all_modes, machine.ranks_per_node, 1, size)
    return any(time(modes + [mode], size) < 0.99 * time(modes, size) for size in sizes)


def curves():
    """[(table, source, machine, modes)]: modes that are fitted to it, or to another table."""
    own = {}
    for machine in MACHINES.values():
        fits = fits_of(machine)
        own |= {table: (machine, fits[nodes]) for nodes, table in machine.all_reduce.items()}
    return ([(table, "", *curve) for table, curve in own.items()] +
            [(table, source, *own[source]) for table, source in [*HELD_OUT.items(), *ELSEWHERE]])


def estimated(machine, nodes, protocols):
    """Modes from NCCL's own constants: (us per call, per step inside and between nodes, GB/s)."""
    width = LINKS[machine.within].bandwidth()
    crossing = None
    if nodes > 1:  # the adapters of all ranks of a node carry its rings together
        between = LINKS[machine.between]
        crossing = between.alpha_us
        width = machine.ranks_per_node * between.bandwidth()
        if machine.ranks_per_node > 1:
            width = min(width, LINKS[machine.within].bandwidth())
    return protocol_modes(machine.medium, machine.generation, width, nodes, crossing, protocols)


def modes(machine, fits):
    """Returns the lines of the modes, with where they come from."""
    lines = []
    for nodes, table in machine.all_reduce.items():
        crossing = LINKS[machine.between].alpha_us if nodes > 1 else None
        tables = " and ".join([SMALLER[table], table] if table in SMALLER else [table])
        lines.append(f"  # Fitted to the table {tables} of sim/clusters/measured.csv.")
        for alpha, beta in fits[nodes]:
            if nodes == 1 and (alpha, beta) in fits.get(2, []):
                lines.append("  # One of two nodes: one node is no slower.")
            if machine.ranks_per_node == 1:
                alpha, crossing = LINKS[machine.within].alpha_us, alpha
            lines.append(
                native(["all_reduce"], nodes, "rounds", CALL, alpha, crossing, 1e-3 / beta))
        if nodes > 2:
            continue
        lines.append("  # Not measured: NCCL's own constants for its protocols.")
        if nodes == 1:
            for mode in estimated(machine, nodes, PROTOCOLS):
                lines.append(native(["all_reduce"], nodes, "ring", *mode, FEW_RANKS))
        for algorithm, (collectives, protocols) in ALGORITHMS.items():
            if algorithm == "pat" and nodes == 1:
                continue
            for mode in estimated(machine, nodes, protocols):
                if algorithm == "pat":
                    mode = pat_mode(mode, LINKS[machine.between].alpha_us)
                lines.append(native(collectives, nodes, algorithm, *mode))
    return lines


def preset(name, machine, fits):
    lines = [
        f"# {machine.about[0].upper()}{machine.about[1:]}.",
        "# Written by sim/clusters/fit.py. Copy it to make your own.",
        f'name = "{name}"',
        f"ranks_per_node = {machine.ranks_per_node}",
    ]
    if machine.between is None or machine.max_nodes:
        lines.append(f"max_nodes = {machine.max_nodes or 1}")
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
    print(f"{'table':<18} {'fitted to':<14} {'median':>7} {'worst':>7}")
    for table, source, machine, modes in curves():
        most_median, most_worst = PROMISED_MEDIAN, PROMISED_WORST
        if source:
            most_median = PROMISED_ELSEWHERE
            if HELD_OUT.get(table) == source:
                most_median = most_worst = PROMISED_HELD_OUT
        errors = errors_of(machine, modes, *TABLES[table])
        median, worst = statistics.median(errors), max(errors)
        print(f"{table:<18} {source:<14} {median:7.1%} {worst:7.1%}")
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
