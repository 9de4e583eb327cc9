"""Sections that measure: kernels, collectives, rings and training."""

import importlib.util
import os
import re
import sys

from gpu_machine import has_nvlink, only_first_gpu
from gpu_session import NotMeasured, Value, raising

# Sizes are numbers of MiB; of KiB in a dry run: Session.unit.

# ---- Kernels -------------------------------------------------------------------------------------

LEAST_OF_COPY = 0.9


def measure_kernels(session):
    bench = session.figures("kernels", "kernel_bench", "--min", session.size(64), "--max",
                            session.size(1024), "--json")

    def row_of(kernel, size):
        for row in bench()["results"]:
            if row["kernel"] == kernel and row["bytes"] == size * session.unit:
                return row
        raise NotMeasured("tensors of this size do not fit into the GPU's memory")

    def copy():
        session.copy_speed = speed = row_of("copy", 1024)["bytes_per_second"]
        return Value(f"{speed / 1e9:.0f} GB/s", speed / 1e9)

    def accumulate(size):
        ratio = row_of("accumulate", size)["ratio_to_copy"]
        return Value(f"{100 * ratio:.1f} % of the copy", ratio, ratio >= LEAST_OF_COPY)

    session.measure(f"device copy, {session.in_words(1024)}", "", copy)
    for size in (64, 256, 1024):
        session.measure(f"accumulate, {session.in_words(size)}", "at least 90 %",
                        lambda: accumulate(size))


# ---- Collectives: each against native, and rings against their bounds ----------------------------

RING_SIZES = (64, 256)
SHARING = 4  # ranks that share a GPU
RING_ACCESSES = 21  # of n bytes, by a ring of 4 (docs/gpu.md)
LEAST_OF_BOUND = 0.8
COLLECTIVES = ("broadcast", "reduce", "all_reduce", "gather", "scatter", "all_gather", "all_to_all",
               "reduce_scatter", "barrier")
# Ways to run a ring on all GPUs: its most time, of that of NCCL's ring, and options.
RINGS = {
    "ring": (1.4, [()]),
    "ring_segmented": (1.15, [("--segments", number) for number in "248"]),
}


# NCCL's names of the collectives for which it chooses an algorithm; the others are sends and
# receives. What it prints for each call: "AllReduce: 1024 Bytes -> Algo RING proto LL channel…".
NCCL_NAMES = {"broadcast": "Broadcast", "reduce": "Reduce", "all_reduce": "AllReduce",
              "all_gather": "AllGather", "reduce_scatter": "ReduceScatter"}
CHOICE = re.compile(rb"(\w+): +(\d+) Bytes -> Algo (\w+) proto (\w+)")


def choices_of_nccl(session, ranks, sizes):
    """Runs native collectives, untimed. Returns a function of a row: "RING, LL", or "".

    A separate run, since it prints a line for each call.
    """
    try:
        # bruck is an all_gather: the others run native alone.
        ended = session.run("rankbox-compare-nccl", "--ranks", str(ranks), *sizes, "--collective",
                            ",".join(NCCL_NAMES), "--algorithms", "bruck", "--baseline", "none",
                            "-n", "1", "-m", "1", "-w", "1", "-c", "0", environment={
                                "NCCL_DEBUG": "INFO", "NCCL_DEBUG_SUBSYS": "TUNING"})
    except NotMeasured:
        return lambda row: ""
    found = [(name.decode(), int(size), f"{algorithm.decode()}, {protocol.decode()}")
             for name, size, algorithm, protocol in CHOICE.findall(ended.output + ended.errors)]

    def of_row(row):
        # NCCL counts the bytes of one rank or of all: those that are closest, in ratio. It is also
        # called for 4 bytes, by barriers.
        sizes = [(max(size, row["bytes"]) / max(1, min(size, row["bytes"])), choice)
                 for name, size, choice in found if name == NCCL_NAMES.get(row["collective"])]
        return min(sizes, default=(0, ""))[1]

    return of_row


def compare(session, name, ranks, *options, environment=None):
    """Runs rankbox-compare-nccl. `name` as in Session.figures."""
    return session.figures(name, "rankbox-compare-nccl", "--ranks", str(ranks), "--json", "-",
                           *options, environment={**(environment or {}), "RANKBOX_GPU_NOTICE": "0"},
                           reports_failures=True)


def of_sizes(session, smallest, largest, factor):
    return ["-b", session.size(smallest), "-e", session.size(largest), "-f", str(factor)]


def row_of_size(session, figures, algorithm, size):
    """Sizes are rounded down to equal shares of the ranks."""
    for row in figures()["results"]:
        if row["algorithm"] == algorithm and 0 <= size * session.unit - row["bytes"] < 4096:
            return row
    raise NotMeasured(f"{algorithm} has no row", is_failure=True)


def value_of_contest(rows, choice):
    """The value for the rows of a contest, native's first: with nccl-tests' mean, and what NCCL
    chose.
    """
    parts, number = [], None
    for row in rows:
        part = row["algorithm"]
        if row["time_us"] is None:
            part += " failed"
        elif number is None:
            number = row["time_us"]["median"]
            mean = row.get("mean_us")
            notes = "; ".join(filter(None, [f"mean {mean:.4g}" if mean else "", choice]))
            part += f" {number:.4g} us" + (f" ({notes})" if notes else "")
        elif row["vs_native"] is not None:
            part += f" {row['vs_native']:.2f}x"
        parts.append(part)
    wrong = sum(row["wrong"] or 0 for row in rows)
    has_failed = not rows or any(row["time_us"] is None for row in rows)
    text = ", ".join(parts) + (f"; {wrong} wrong elements" if wrong > 0 else "")
    return Value(text, number, wrong == 0 and not has_failed)


def measure_collectives(session):
    ranks = session.gpus() if session.gpus() > 1 else SHARING
    # 1 KiB, and a large size.
    sizes = ["-b", "1K", "-e", session.size(64), "-f", str(64 * session.unit // 1024)]
    table = compare(session, "collectives", ranks, "--collective", "all", *sizes)
    # Where ranks share a GPU, native is not NCCL's.
    choice_of = choices_of_nccl(session, ranks, sizes) if session.gpus() > 1 else lambda row: ""

    def rows_of(name, is_largest):
        rows = [row for row in table()["results"] if row["collective"] == name]
        # Sizes grow from contest to contest.
        wanted = rows[-1 if is_largest else 0]["bytes"]
        rows = [row for row in rows if row["bytes"] == wanted]
        return value_of_contest(rows, choice_of(rows[0]))

    for name in COLLECTIVES:
        # A barrier has no size.
        for is_largest in (False, True) if name != "barrier" else (True,):
            size = f", {session.in_words(64) if is_largest else '1 KiB'}" * (name != "barrier")
            session.measure(f"{name}, {ranks} ranks{size}", "no wrong element",
                            lambda: rows_of(name, is_largest))


SEGMENTS = (1, 2, 3, 8)
MOST_OF_BEST = 1.1


def measure_segments(session):
    """Whether the number of segments that the cluster gives is a good one here."""
    ranks = session.gpus() if session.gpus() > 1 else SHARING

    def run(number):
        options = ["--segments", str(number)] if number else []
        figures = compare(session, f"segments_{number or 'default'}", ranks, "--collective",
                          "broadcast", "--algorithms", "ring_pipelined", "--baseline", "none",
                          *of_sizes(session, 64, 64, 2), *options)
        return lambda: row_of_size(session, figures, "ring_pipelined", 64)["time_us"]["median"]

    times = {number: run(number) for number in (None, *SEGMENTS)}

    def value():
        best = min(SEGMENTS, key=lambda number: times[number]())
        ratio = times[None]() / times[best]()
        return Value(f"{times[None]():.4g} us, {ratio:.2f} times the best, of {best}", ratio,
                     ratio <= MOST_OF_BEST)

    for number in SEGMENTS:
        session.measure(f"broadcast, {session.in_words(64)}, --segments {number}", "",
                        lambda: Value(f"{times[number]():.4g} us", times[number]()))
    session.measure(f"broadcast, {session.in_words(64)}, as many as the cluster gives",
                    f"at most {MOST_OF_BEST} times the best", value)


def measure_sharing_ring(session):
    """After measure_kernels."""
    ring = compare(session, "sharing", SHARING, *of_sizes(session, *RING_SIZES, 4),
                   "--algorithms", "ring",
                   environment={"RANKBOX_GPU_MODE": "shared", **only_first_gpu()})

    def value(size):
        seconds = row_of_size(session, ring, "ring", size)["time_us"]["median"] * 1e-6
        if not session.copy_speed:
            raise NotMeasured("the device copy is not measured")
        share = RING_ACCESSES * size * session.unit / session.copy_speed / seconds
        return Value(f"{100 * share:.1f} % of the bound of {RING_ACCESSES} n bytes", share,
                     share >= LEAST_OF_BOUND)

    for size in RING_SIZES:
        session.measure(f"ring all-reduce, {session.in_words(size)}", "at least 80 %",
                        lambda: value(size))


def ratio_to_nccl(row, options):
    """The ring's time as a multiple of that of NCCL's ring."""
    for field in ("vs_ring", "vs_native"):
        if row[field] is None:
            raise NotMeasured(f"{field} is missing: {row['algorithm']}, native or native-ring "
                              "failed", is_failure=True)
    notes = f", {' '.join(options)}" if options else ""
    return Value(f"{row['vs_ring']:.2f} times, {row['vs_native']:.2f} times native{notes}",
                 row["vs_ring"])


def measure_ring(session):
    """The ring of learners on all GPUs, against NCCL's."""
    def run(algorithm, options):
        if session.gpus() < 2:
            return raising(NotMeasured("there is one GPU"))
        return compare(session, "_".join(["ring", *options[1:]]), session.gpus(),
                       *of_sizes(session, *RING_SIZES, 4), "--algorithms", algorithm, *options)

    figures = {(algorithm, options): run(algorithm, options)
               for algorithm, (_, ways) in RINGS.items() for options in ways}

    def fastest(algorithm, size):
        most, ways = RINGS[algorithm]
        values, missing = [], None
        for options in ways:
            try:
                row = row_of_size(session, figures[algorithm, options], algorithm, size)
                values.append(ratio_to_nccl(row, options))
            except NotMeasured as because:
                missing = because
        if not values:
            raise missing
        best = min(values, key=lambda value: value.number)
        best.is_met = best.number <= most if has_nvlink(session.report.machine) else None
        return best

    for size in RING_SIZES:
        for algorithm, (most, _) in RINGS.items():
            session.measure(f"{algorithm}, {session.in_words(size)}, against NCCL's ring",
                            f"at most {most} times with NVLink", lambda: fastest(algorithm, size))


# ---- `train` on 1 to all GPUs, against two cores of the host, and PyTorch ------------------------

LEAST_SPEEDUP = 10


def speed_of_training(session, backend, ranks, under=()):
    """Samples per second of the last epoch: the first one includes what happens once."""
    figures = session.figures(f"train_{backend}_{ranks}", f"rankbox-train-{backend}", "--model",
                              "mlp", "--ranks", str(ranks), "--epochs", "3", "--json",
                              *(["--samples", "256"] if session.is_dry else []),
                              environment={"RANKBOX_GPU_NOTICE": "0"}, under=under)
    return figures()["epochs"][2]["samples_per_second"]


def speed_of_pytorch(session):
    if not importlib.util.find_spec("torch"):
        raise NotMeasured(f"PyTorch is not here: {sys.executable} cannot import torch")
    # Its libraries are its own: those of a bundle may be older.
    folders = [folder for folder in os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep)
               if os.path.dirname(folder) not in map(str, session.folders)]
    ended = session.run("torch_peer.py", "mlp", "cuda", under=[sys.executable],
                        environment={"LD_LIBRARY_PATH": os.pathsep.join(folders)})
    if ended.code:
        raise NotMeasured(ended.last_error(), True)
    return 1 / float(ended.output)


def measure_training(session):
    speeds = {}  # by number of GPUs, 0: of the host

    def on_host():
        cores = [str(core) for core in sorted(os.sched_getaffinity(0))[:2]]
        if len(cores) < 2:
            raise NotMeasured("this process may use one core only")
        speeds[0] = speed_of_training(session, "sim", 2, ["taskset", "-c", ",".join(cores)])
        return Value(f"{speeds[0]:.0f} samples/s", speeds[0])

    def on_one():
        speeds[1] = speed_of_training(session, "nccl", 1)
        text = f"{speeds[1]:.0f} samples/s"
        if not speeds.get(0):
            raise NotMeasured(f"{text}, but the two cores are not measured")
        return Value(f"{text}, {speeds[1] / speeds[0]:.1f} times the two cores", speeds[1],
                     speeds[1] >= LEAST_SPEEDUP * speeds[0])

    def against_pytorch():
        if not speeds.get(1):
            raise NotMeasured("ours is not measured")
        theirs = speed_of_pytorch(session)
        ratio = speeds[1] / theirs
        return Value(f"{ratio:.2f} times PyTorch's {theirs:.0f} samples/s", ratio, ratio >= 1)

    def on_all(ranks):
        speed = speed_of_training(session, "nccl", ranks)
        text = f"{speed:.0f} samples/s"
        if speeds.get(1):
            text += f", {speed / speeds[1]:.2f} times one GPU"
        return Value(text, speed)

    session.measure("mlp, 2 ranks on two cores of the host", "", on_host)
    session.measure("mlp, 1 GPU", "at least 10 times the two cores", on_one)
    session.measure("mlp, 1 GPU, against PyTorch", "at least PyTorch's", against_pytorch)
    for ranks in range(2, session.gpus() + 1):
        if ranks & (ranks - 1) == 0 or ranks == session.gpus():  # 2, 4, 8, ... and all
            session.measure(f"mlp, {ranks} GPUs", "", lambda: on_all(ranks))
