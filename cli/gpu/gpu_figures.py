"""Sections that measure: kernels, collectives, rings and training."""

import os

from gpu_machine import has_nvlink, only_first_gpu
from gpu_session import NotMeasured, Value, raising

MIB = 1 << 20

# ---- Kernels -------------------------------------------------------------------------------------

LEAST_OF_COPY = 0.9


def measure_kernels(session):
    bench = session.figures("kernels", "kernel_bench", "--min", "64M", "--max", "1G", "--repeats",
                            "11", "--json", "-")

    def row_of(kernel, size):
        for row in bench()["results"]:
            if row["kernel"] == kernel and row["bytes"] == size:
                return row
        raise NotMeasured("tensors of this size do not fit into the GPU's memory")

    def copy():
        session.copy_speed = speed = row_of("copy", 1024 * MIB)["bytes_per_second"]
        return Value(f"{speed / 1e9:.0f} GB/s", speed / 1e9)

    def accumulate(size):
        ratio = row_of("accumulate", size)["ratio_to_copy"]
        return Value(f"{100 * ratio:.1f} % of the copy", ratio, ratio >= LEAST_OF_COPY)

    session.measure("device copy, 1 GiB", "", copy)
    for mib in (64, 256, 1024):
        session.measure(f"accumulate, {mib} MiB", "at least 90 %", lambda: accumulate(mib * MIB))


# ---- Collectives: each against native, and rings against their bounds ----------------------------

RING_MIB = (64, 256)
OF_RING_SIZES = ("-b", "64M", "-e", "256M", "-f", "4")
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


def compare(session, name, ranks, *options, environment=None):
    """Runs rankbox-compare-nccl. `name` as in Session.figures."""
    return session.figures(name, "rankbox-compare-nccl", "--ranks", str(ranks), "--json", "-",
                           *options, environment={**(environment or {}), "RANKBOX_GPU_NOTICE": "0"},
                           reports_failures=True)


def row_of_all_reduce(figures, algorithm, mib):
    """Sizes are rounded down to equal shares of the ranks."""
    for row in figures()["results"]:
        if row["algorithm"] == algorithm and 0 <= mib * MIB - row["bytes"] < 4096:
            return row
    raise NotMeasured(f"{algorithm} has no row", is_failure=True)


def value_of_contest(rows):
    """The value for the rows of a contest, native's first."""
    parts, number = [], None
    for row in rows:
        part = row["algorithm"]
        if row["time_us"] is None:
            part += " failed"
        elif number is None:
            number = row["time_us"]["median"]
            part += f" {number:.4g} us"
        elif row["vs_native"] is not None:
            part += f" {row['vs_native']:.2f}x"
        parts.append(part)
    wrong = sum(row["wrong"] or 0 for row in rows)
    has_failed = not rows or any(row["time_us"] is None for row in rows)
    text = ", ".join(parts) + (f"; {wrong} wrong elements" if wrong > 0 else "")
    return Value(text, number, wrong == 0 and not has_failed)


def measure_collectives(session):
    ranks = session.gpus() if session.gpus() > 1 else SHARING
    table = compare(session, "collectives", ranks, "--collective", "all", "-b", "1K", "-e", "64M",
                    "-f", "256")

    def of_largest_size(name):
        rows = [row for row in table()["results"] if row["collective"] == name]
        # Sizes grow from contest to contest.
        return value_of_contest([row for row in rows if row["bytes"] == rows[-1]["bytes"]])

    for name in COLLECTIVES:
        session.measure(f"{name}, {ranks} ranks, largest size", "no wrong element",
                        lambda: of_largest_size(name))


def measure_sharing_ring(session):
    """After measure_kernels."""
    ring = compare(session, "sharing", SHARING, *OF_RING_SIZES, "--algorithms", "ring",
                   environment={"RANKBOX_GPU_MODE": "shared", **only_first_gpu()})

    def value(mib):
        seconds = row_of_all_reduce(ring, "ring", mib)["time_us"]["median"] * 1e-6
        if not session.copy_speed:
            raise NotMeasured("the device copy is not measured")
        share = RING_ACCESSES * mib * MIB / session.copy_speed / seconds
        return Value(f"{100 * share:.1f} % of the bound of {RING_ACCESSES} n bytes", share,
                     share >= LEAST_OF_BOUND)

    for mib in RING_MIB:
        session.measure(f"ring all-reduce, {mib} MiB", "at least 80 %", lambda: value(mib))


def ratio_to_nccl(figures, algorithm, mib, options):
    """The ring's time as a multiple of that of NCCL's ring."""
    row = row_of_all_reduce(figures, algorithm, mib)
    for field in ("vs_ring", "vs_native"):
        if row[field] is None:
            raise NotMeasured(f"{field} is missing: {algorithm}, native or native-ring failed",
                              is_failure=True)
    notes = f", {' '.join(options)}" if options else ""
    return Value(f"{row['vs_ring']:.2f} times, {row['vs_native']:.2f} times native{notes}",
                 row["vs_ring"])


def measure_ring(session):
    """The ring of learners on all GPUs, against NCCL's."""
    def run(algorithm, options):
        if session.gpus() < 2:
            return raising(NotMeasured("there is one GPU"))
        return compare(session, "_".join(["ring", *options[1:]]), session.gpus(), *OF_RING_SIZES,
                       "--algorithms", algorithm, *options)

    figures = {(algorithm, options): run(algorithm, options)
               for algorithm, (_, ways) in RINGS.items() for options in ways}

    def fastest(algorithm, mib):
        most, ways = RINGS[algorithm]
        values, missing = [], None
        for options in ways:
            try:
                values.append(ratio_to_nccl(figures[algorithm, options], algorithm, mib, options))
            except NotMeasured as because:
                missing = because
        if not values:
            raise missing
        best = min(values, key=lambda value: value.number)
        best.is_met = best.number <= most if has_nvlink(session.report.machine) else None
        return best

    for mib in RING_MIB:
        for algorithm, (most, _) in RINGS.items():
            session.measure(f"{algorithm}, {mib} MiB, against NCCL's ring",
                            f"at most {most} times with NVLink", lambda: fastest(algorithm, mib))


# ---- `train` on 1 to all GPUs, against two cores of the host -------------------------------------

LEAST_SPEEDUP = 10


def speed_of_training(session, backend, ranks, under=()):
    """Samples per second of the last epoch: the first one includes what happens once."""
    figures = session.figures(f"train_{backend}_{ranks}", f"rankbox-train-{backend}", "--model",
                              "mlp", "--ranks", str(ranks), "--epochs", "3", "--json",
                              environment={"RANKBOX_GPU_NOTICE": "0"}, under=under)
    return figures()["epochs"][2]["samples_per_second"]


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

    def on_all(ranks):
        speed = speed_of_training(session, "nccl", ranks)
        text = f"{speed:.0f} samples/s"
        if speeds.get(1):
            text += f", {speed / speeds[1]:.2f} times one GPU"
        return Value(text, speed)

    session.measure("mlp, 2 ranks on two cores of the host", "", on_host)
    session.measure("mlp, 1 GPU", "at least 10 times the two cores", on_one)
    for ranks in range(2, session.gpus() + 1):
        if ranks & (ranks - 1) == 0 or ranks == session.gpus():  # 2, 4, 8, ... and all
            session.measure(f"mlp, {ranks} GPUs", "", lambda: on_all(ranks))
