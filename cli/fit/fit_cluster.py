"""A cluster from measured tables: links, modes of native collectives, and its TOML.

The model is that of the presets: sim/clusters/modes.py fits modes to a table, comm/cluster.h says
what they mean, and seconds() prices a call as native_seconds() in sim/clock does. A table of each
collective is fitted: the one of most ranks, on one node and on each number of nodes. Others are
predicted, and their errors show how far the model reaches.
"""

import dataclasses
import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).absolute().parents[2] / "sim/clusters"))

from machines import ALGORITHMS, CALL, PROTOCOLS  # noqa: E402
from modes import fit_lines, native, pat_mode, protocol_modes, steps, wire  # noqa: E402

# By the name of a GPU: additions (a third of the memory's bandwidth), and NCCL's generation.
GPUS = [("GB10", 80, "blackwell"), ("GB300", 2400, "blackwell"), ("GB200", 2400, "blackwell"),
        ("B300", 2400, "blackwell"), ("B200", 2400, "blackwell"), ("H200", 1400, "hopper"),
        ("H20", 1200, "hopper"), ("H100", 1000, "hopper"), ("H800", 1000, "hopper"),
        ("GH200", 1400, "hopper"), ("A100", 500, "ampere"), ("A800", 500, "ampere"),
        ("4090", 300, "ampere"), ("V100", 300, "ampere")]
NVLINK_GB_S = 40  # a link that is faster is no PCIe
FEW_RANKS = 4     # up to so many ranks of a node run NCCL's rings, too, as in the presets
LEAST_ALPHA = 0.01


@dataclasses.dataclass
class Group:
    """The rows of one collective on the same ranks and nodes, of one or several logs."""
    collective: str
    ranks: int
    nodes: int
    files: list
    rows: list
    is_fitted: bool = False
    lines: list = dataclasses.field(default_factory=list)  # (us, us per byte on the wire)

    def fitted_rows(self):
        return [row for row in self.rows if not row.left_out]

    def places(self):
        return [(wire(self.ranks, row.bytes, self.collective), row.us)
                for row in self.fitted_rows()]

    def latency(self):
        return min(offset for offset, _ in self.lines)

    def beta(self):
        """us per byte on the wire of the largest sizes, without what a call takes in any case."""
        places = self.places()
        least = min(us / x for x, us in places)
        slopes = [slope for _, slope in self.lines if slope > 0.8 * least]
        return min([*slopes, least])


@dataclasses.dataclass
class Mode:
    collective: str
    nodes: int
    kind: str
    call: float
    alpha: float
    crossing: float
    bandwidth: float
    most_ranks: int = 0

    @staticmethod
    def of_line(line):
        """The mode as its line in the TOML says it, with as many digits."""
        fields = dict(part.split(" = ") for part in line.strip(" {},").split(", ")
                      if " = " in part and not part.startswith("collectives"))
        alpha = float(fields["alpha_us"])
        return lambda collective: Mode(
            collective, int(fields.get("nodes", 1)), fields["steps"].strip('"'),
            float(fields["call_us"]), alpha, float(fields.get("alpha_between_us", alpha)),
            float(fields["bandwidth_GB_s"]), int(fields.get("most_ranks", 0)))


class Cluster:
    """Links in us and GB/s, and the lines and modes of `native`."""

    def __init__(self, name, groups, ranks_per_node, gpu):
        self.name, self.gpu = name, gpu
        self.ranks_per_node = ranks_per_node
        self.has_network = any(group.nodes > 1 for group in groups)
        self.reduction_GB_s, self.generation = next(
            ((reduction, generation) for part, reduction, generation in GPUS if part in gpu),
            (500, "ampere"))
        least = min(us for group in groups for _, us in group.places())
        self.call = CALL if least > 1.2 * CALL else float(f"{least / 2:.2g}")
        for group in groups:
            group.lines = lines_of(group, self.call)
        self.set_links(groups)
        self.set_modes(groups)

    # ---- Links -----------------------------------------------------------------------------------

    def set_links(self, groups):
        one = [group for group in groups if group.nodes == 1]
        several = [group for group in groups if group.nodes > 1]
        rings = [group for group in one if group.collective != "all_reduce"]
        self.notes = {"within": "", "between": ""}
        used = rings or one or several
        rate = max(1e-3 / group.beta() for group in used)
        self.notes["within"] = of_groups(used, "busbw of ")
        if not one:
            self.notes["within"] += ": at least this, since no log is of one node"
        elif not rings:
            self.notes["within"] += ": of an all-reduce, which a switch may have added"
        self.within_GB_s = three(rate)
        self.switch_GB_s = None
        reduced = [group for group in one if group.collective == "all_reduce"]
        if rings and reduced:
            most = max(reduced, key=lambda group: group.ranks)
            if 1e-3 / most.beta() > 1.05 * rate:
                share = (most.ranks + 1) / (2 * (most.ranks - 1))  # of the wire's bytes
                self.switch_GB_s = three(share * 1e-3 / most.beta())
        self.within_us = self.alpha_of(one or several)
        self.between_us, self.between_GB_s = self.within_us, self.within_GB_s
        if several:
            self.between_GB_s = three(max(
                passing_bytes(group.collective, group.ranks, group.nodes, 1.0) /
                wire(group.ranks, 1.0, group.collective) * 1e-3 / group.beta()
                for group in several))
            self.between_us = max(self.within_us, self.crossing_of(one, several))
            self.notes["between"] = of_groups(several, "what passed each rank's share in ")
            # No pair of ranks gets more between nodes than inside one.
            self.within_GB_s = max(self.within_GB_s, self.between_GB_s)

    def alpha_of(self, groups):
        """us of a message beyond its start: of send and receive, or of a step of a collective."""
        best = next((group for name in ("sendrecv", "all_reduce") for group in groups
                     if group.collective == name), groups[0])
        within, between = counted(best)
        count = 1 if best.collective == "sendrecv" else within + between
        return max(three((best.latency() - self.call) / count), 0.1)

    def crossing_of(self, one, several):
        for group in several:
            if group.collective == "sendrecv" and group.nodes == group.ranks:
                return three(group.latency() - self.call)
        for group in several:
            within, between = counted(group)
            same = [each for each in one if each.collective == group.collective]
            if same:
                inside = max(same, key=lambda each: each.ranks)
                steps_inside = counted(inside)[0]
                alpha = (inside.latency() - self.call) / steps_inside
                return max(three((group.latency() - self.call - within * alpha) / between), 0.1)
        within, between = counted(several[0])
        return three((several[0].latency() - self.call) / (within + between))

    # ---- Modes -----------------------------------------------------------------------------------

    def set_modes(self, groups):
        """Sets `lines` of the TOML, with comments, and `modes`."""
        self.lines, self.modes = [], []
        # The least number of nodes beyond one stands for two, too.
        least = min((group.nodes for group in groups if group.nodes > 1), default=1)
        for nodes in sorted({group.nodes for group in groups} | {1}):
            at = [group for group in groups if group.nodes == nodes]
            written = 2 if nodes == least > 1 else nodes
            measured = set()
            for group in sorted(at, key=lambda group: -group.ranks):
                if group.collective in measured:
                    continue
                group.is_fitted = True
                measured.add(group.collective)
                if group.collective == "sendrecv":
                    continue
                self.lines.append(f"  # Fitted to {', '.join(group.files)}: {group.ranks} ranks on "
                                  f"{nodes} {'node' if nodes == 1 else 'nodes'}.")
                for offset, slope in group.lines:
                    self.add(self.mode_line(group, written, offset, slope))
            if nodes in (1, least):
                reduced = [group.ranks for group in at if group.collective == "all_reduce"]
                self.estimate(written, measured, max(reduced, default=0))

    def add(self, line):
        self.lines.append(line)
        names = line.split("[")[1].split("]")[0].replace('"', "").split(", ")
        self.modes += [Mode.of_line(line)(name) for name in names]

    def mode_line(self, group, nodes, offset, slope):
        within, between = counted(group)
        rest = offset - self.call
        alpha, crossing = self.within_us, self.between_us
        if within == 0:
            crossing = rest / between
        else:
            alpha = (rest - between * crossing) / within
            if alpha < LEAST_ALPHA and between:
                alpha = LEAST_ALPHA
                crossing = (rest - within * alpha) / between
        bandwidth = 1e-3 / slope if slope > 0 else 1e6
        return native([group.collective], nodes, kind_of(group.collective), self.call,
                      max(alpha, LEAST_ALPHA), max(crossing, LEAST_ALPHA), bandwidth)

    def estimate(self, nodes, measured, reduced_ranks):
        """Modes of the collectives without a log: NCCL's own constants over these links.

        @param reduced_ranks of the fitted all-reduce; 0: there is none
        """
        width = self.within_GB_s
        if nodes > 1:
            width = self.ranks_per_node * self.between_GB_s
            if self.ranks_per_node > 1:
                width = min(width, self.within_GB_s)
        medium = "nvlink" if self.within_GB_s >= NVLINK_GB_S else "pcie"
        crossing = self.between_us if nodes > 1 else None
        all_modes = lambda protocols: protocol_modes(medium, self.generation, width, nodes,
                                                     crossing, protocols)
        self.lines.append("  # Not measured: NCCL's own constants for its protocols.")
        if not reduced_ranks or (nodes == 1 and reduced_ranks > FEW_RANKS):
            for mode in all_modes(PROTOCOLS):
                self.add(native(["all_reduce"], nodes, "ring", *mode,
                                FEW_RANKS if reduced_ranks else None))
        for algorithm, (collectives, protocols) in ALGORITHMS.items():
            names = [name for name in collectives if name not in measured]
            if not names or (algorithm == "pat" and nodes == 1):
                continue
            for mode in all_modes(protocols):
                if algorithm == "pat":
                    mode = pat_mode(mode, self.between_us)
                self.add(native(names, nodes, algorithm, *mode))

    # ---- Prices ----------------------------------------------------------------------------------

    def microseconds(self, collective, ranks, nodes, size):
        """As cost::native_seconds() in sim/clock; for sendrecv, a message over the slowest link."""
        if collective == "sendrecv":
            alpha, rate = ((self.within_us, self.within_GB_s) if nodes == 1 else
                           (self.between_us, self.between_GB_s))
            return self.call + alpha + size / rate * 1e-3
        per_node = math.ceil(ranks / nodes)
        least = 0.0
        if collective == "all_reduce" and per_node > 1:
            least = wire(ranks, size) / self.within_GB_s * 1e-3
            if self.switch_GB_s:
                least = min(least, (per_node + 1) / per_node * size / self.switch_GB_s * 1e-3)
        if nodes > 1:
            passing = passing_bytes(collective, ranks, nodes, size)
            least = max(least, passing / self.between_GB_s * 1e-3)
        own = [mode for mode in self.modes
               if mode.collective == collective and mode.nodes <= nodes]
        most = max(mode.nodes for mode in own)
        times = []
        for mode in own:
            if mode.nodes != most or (mode.kind == "pat" and ranks != nodes):
                continue
            if mode.most_ranks and ranks > mode.most_ranks:
                continue
            within, between = pat_or_steps(mode, ranks, nodes, collective)
            times.append(mode.call + within * mode.alpha + between * mode.crossing +
                         max(wire(ranks, size, collective) / mode.bandwidth * 1e-3, least))
        return min(times)

    def toml(self):
        text = [f"# {self.name}: made by ./rankbox fit. Native collectives take the fastest mode.",
                f'name = "{self.name}"',
                f"ranks_per_node = {self.ranks_per_node}"]
        if not self.has_network:
            text.append("max_nodes = 1  # no log is of several nodes")
        named = f"by the name {self.gpu}" if self.gpu else "a guess: the logs name no GPU"
        text += [f"reduction_GB_s = {self.reduction_GB_s}  # not measured: {named}",
                 f"call_us = {self.call:g}  # what starting a message takes: NCCL's constant, or "
                 "half of the quickest call",
                 "native = [", *self.lines, "]", "", "[within_node]",
                 f"alpha_us = {self.within_us:g}",
                 f"bandwidth_GB_s = {self.within_GB_s:g}  # {self.notes['within']}"]
        if self.switch_GB_s:
            text.append(f"switch_GB_s = {self.switch_GB_s:g}  # of a rank, where it adds: the "
                        "all-reduce is faster than links")
        between = self.notes["between"] or "as inside: there is one node"
        text += ["", "[between_nodes]", f"alpha_us = {self.between_us:g}",
                 f"bandwidth_GB_s = {self.between_GB_s:g}  # {between}"]
        return "\n".join(text) + "\n"


def three(value):
    return float(f"{value:.3g}")


def of_groups(groups, what):
    return what + ", ".join(sorted({group.collective for group in groups}))


def kind_of(collective):
    if collective == "all_reduce":
        return "rounds"
    return "batches" if collective in ("all_to_all", "gather", "scatter") else "ring"


def counted(group):
    if group.collective == "sendrecv":
        return (1, 0) if group.nodes == 1 else (0, 1)
    return steps(kind_of(group.collective), group.ranks, group.nodes, group.collective)


def pat_or_steps(mode, ranks, nodes, collective):
    if mode.kind == "pat":
        return ranks, math.ceil(math.log2(nodes))
    return steps(mode.kind, ranks, nodes, collective)


def passing_bytes(collective, ranks, nodes, size):
    """What passes the busiest rank's link between nodes: bytes_between_nodes() in sim/clock."""
    per_node = ranks / nodes
    if collective == "sendrecv":
        return size
    if collective in ("all_to_all", "gather", "scatter"):
        return (ranks - per_node) / ranks * size
    if collective == "all_reduce" and nodes == 2:
        return size / per_node
    return wire(ranks, size, collective) / per_node


def lines_of(group, call):
    """The lines of a group's modes: (us, us per byte on the wire)."""
    places = group.places()
    least = call + LEAST_ALPHA * sum(counted(group))
    if len(places) == 1 or len({x for x, _ in places}) == 1:  # one size: all of it is bandwidth
        x, us = places[-1]
        return [(least, max(us - least, 0.0) / x)]
    return fit_lines(places, least)
