"""Modes of native collectives: fitted to a table of sizes and times, or from NCCL's constants.

fit.py makes presets of published tables with it, and `rankbox fit` (cli/fit) a cluster of your
logs. A mode takes a fixed time and a time for each byte on the wire, and a library takes its
fastest mode (comm/cluster.h has the model, sim/clock/native_cost.h steps and bytes).
"""

import itertools
import math
import statistics

from machines import CALLS, HOPS, MOST_LL, PAT_RANK, PAT_ROUND, SHARES

MODES = 3
MOST_CUTS = 40  # tried: their pairs take a second
# No mode is slower than this share of the widest: short messages use one of some 30 channels, and
# LL carries half the bytes. Without a limit, the quickest mode's slope is noise in the latency.
LEAST_SHARE = 0.01


def rounds(ranks):
    return math.ceil(math.log2(ranks))


def wire(ranks, size, collective="all_reduce"):
    """The least bytes that each rank sends; `size` as nccl-tests count it: all ranks' parts."""
    if collective in ("broadcast", "reduce", "sendrecv"):
        return size
    return (2 if collective == "all_reduce" else 1) * (ranks - 1) / ranks * size


def steps(kind, ranks, nodes, collective="all_reduce"):
    """The steps of one call (inside nodes, between nodes), as native_wire() counts them."""
    per_node = math.ceil(ranks / nodes)
    if kind == "rounds":
        return rounds(per_node), rounds(nodes)
    if kind == "batches":
        return math.ceil((per_node - 1) / 8), math.ceil((ranks - per_node) / 8)
    there_and_back = 2 if collective == "all_reduce" else 1
    return there_and_back * (ranks - nodes), there_and_back * (nodes - 1)


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


def fastest(lines, x):
    return min(offset + slope * x for offset, slope in lines)


def errors_of(lines, places):
    return [abs(fastest(lines, x) / y - 1) for x, y in places]


def cuts_of(places):
    """Where fit_lines may cut: anywhere, or in a long table at about MOST_CUTS sizes, by ratio."""
    cuts = range(2, len(places) - 1)
    if len(cuts) <= MOST_CUTS:
        return cuts
    first, last = places[2][0], places[-2][0]
    sizes = [first * (last / first) ** (i / (MOST_CUTS - 1)) for i in range(MOST_CUTS)]
    return sorted({min(cuts, key=lambda cut: abs(places[cut][0] - size)) for size in sizes})


def fit_lines(places, least, more=()):
    """Returns lines (us, us per byte) whose minimum fits a table of (bytes on the wire, us).

    The table is cut into at most MODES runs of sizes, one per mode. Each run gets the line of least
    squared relative error, and of all cuts the one with the least worst and median error wins.

    REQUIRES: at least two places, in the order of their bytes.
    `least` limits the lines' fixed times from below; lines of `more` are taken as they are.
    """
    steepest = 1 / (LEAST_SHARE * max(x / y for x, y in places))
    best = None
    most = max(1, min(MODES, len(places) // 2))
    for cuts in itertools.chain.from_iterable(
            itertools.combinations(cuts_of(places), count) for count in range(most)):
        ends = (0, *cuts, len(places))
        runs = [places[begin:end] for begin, end in zip(ends, ends[1:])]
        if any(len(run) < 2 for run in runs):
            continue
        lines = [*more, *(line_through(run, least, steepest) for run in runs)]
        errors = errors_of(lines, places)
        score = (max(errors) + statistics.median(errors), lines)
        if best is None or score < best:
            best = score
    return best[1]


def protocol_modes(medium, generation, width, nodes, crossing, protocols):
    """(us per call, us per step inside a node, us between nodes, GB/s) of each protocol.

    @param width GB/s of the ring: of a rank's links, and of all adapters of a node together
    @param crossing the least us of a step between nodes; None: there is one node
    """
    modes = []
    for protocol in protocols:
        if protocol not in HOPS[medium]:
            continue
        bandwidth = width * SHARES[protocol]
        if protocol == "LL":
            bandwidth = min(bandwidth, MOST_LL[generation][min(nodes, 2) - 1])
        between = max(HOPS["network"][protocol], crossing) if nodes > 1 else None
        modes.append((CALLS[protocol], HOPS[medium][protocol], between, bandwidth))
    return modes


def pat_mode(mode, between):
    """PAT's of a mode of Simple, for groups of one rank a node."""
    return mode[0], PAT_RANK, max(PAT_ROUND, between), mode[3]


def native(collectives, nodes, kind, call, alpha, crossing, bandwidth, most_ranks=None):
    """Returns a mode's line of a cluster's TOML."""
    fields = ["collectives = [" + ", ".join(f'"{name}"' for name in collectives) + "]"]
    if nodes > 1:
        fields.append(f"nodes = {nodes}")
    if most_ranks:
        fields.append(f"most_ranks = {most_ranks}")
    fields += [f'steps = "{kind}"', f"call_us = {call:g}", f"alpha_us = {alpha:.3g}"]
    if nodes > 1:
        fields.append(f"alpha_between_us = {crossing:.3g}")
    return "  { " + ", ".join([*fields, f"bandwidth_GB_s = {bandwidth:.4g}"]) + " },"
