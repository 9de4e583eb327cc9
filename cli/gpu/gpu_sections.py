"""The sections of the report: which programs run, and what their figures mean."""

import collections
import functools
import os
import shutil

from gpu_session import NotMeasured, Value, raising

MIB = 1 << 20


# name: for --only. title: for the text. seconds: its share of the 600 of the whole report.
# run(session) adds the lines, in the time of Session.begin.
Section = collections.namedtuple("Section", "name title seconds run")


def only_first_gpu():
    return {"CUDA_VISIBLE_DEVICES": os.environ.get("CUDA_VISIBLE_DEVICES", "0").split(",")[0]}


# ---- The machine ---------------------------------------------------------------------------------

def in_words(machine):
    """ "2 × NVIDIA H200, driver 580.65.06, CUDA 13.0 (driver: 13.0), NCCL 2.28.9"."""
    counts = sorted(collections.Counter(machine["gpus"]).items())
    return (", ".join([f"{number} × {name}" for name, number in counts] +
                      [f"driver {machine['driver']}"]) +
            f", CUDA {machine['cuda_runtime']} (driver: {machine['cuda_driver']}), "
            f"NCCL {machine['nccl']}")


def has_nvlink(machine):
    """Whether NVLink connects all GPUs, as far as CUDA reports it: PCIe has no atomics."""
    return 0 < machine["pairs"] == machine["native_atomics"]


def report_machine(session):
    machine = session.report.machine
    session.measure("GPUs, driver, versions", "", lambda: Value(in_words(machine)))
    # A kernel that is loaded later waits for its GPU. That may wait for a rank that loads one, too.
    loading = machine["kernel_loading"]
    session.measure("when kernels are loaded", "at the start (eager)",
                    lambda: Value(loading, is_met=loading == "eager"))

    def of_pairs(field):
        if machine["pairs"] == 0:
            raise NotMeasured("there is one GPU")
        return Value(f"{machine[field]} of {machine['pairs']} pairs of GPUs", machine[field])

    session.measure("peer access", "", lambda: of_pairs("peer_access"))
    session.measure("atomics over the link (NVLink)", "", lambda: of_pairs("native_atomics"))


# ---- The tests of the contract -------------------------------------------------------------------

def check_contract(session, environment=None, processes=1):
    """The tests of the contract, tests/backends, in one way to assign ranks to GPUs.

    processes: 0 is one for each GPU.
    """
    processes = processes or session.gpus()
    seconds = session.seconds / 3  # one that hangs leaves time for others
    # Without the first, tests pass where there is no GPU. Their tensors are small: every rank of
    # every world would otherwise allocate up to 8 GiB.
    variables = {**(environment or {}), "RANKBOX_REQUIRE_GPU": "1", "RANKBOX_GPU_NOTICE": "0",
                 "RANKBOX_GPU_POOL_MIB": "64"}

    def value():
        if processes == 1 and not environment:
            raise NotMeasured("there is one GPU")
        passed, failed, stuck, unfinished = [], [], [], []
        for program in session.programs_in("contract"):
            try:
                ended = session.run(program, environment=variables, processes=processes,
                                    seconds=seconds)
            except NotMeasured:
                unfinished.append(program)
                continue
            (stuck if ended.timed_out else failed if ended.code else passed).append(program)
            if ended.timed_out or ended.code:
                details = session.report.details.setdefault(session.section, {})
                details[program] = ended.messages()
        text = f"{len(passed)} of {len(passed + failed + stuck + unfinished)}"
        parts = [f"{words} {', '.join(programs)}" for words, programs in (
            ("failed:", failed), (f"not ended after {seconds:.3g} s:", stuck),
            ("there was no time for", unfinished)) if programs]
        if unfinished and not failed and not stuck:
            raise NotMeasured(f"{text} pass, and {parts[0]}")
        return Value("; ".join([text, *parts]), len(passed), not failed and not stuck)

    session.measure("test programs that pass", "all", value)


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


def check_memory_accesses(session):
    def value():
        # Not racecheck, which looks for races in shared memory: no kernel uses any.
        home = os.environ.get("CUDA_HOME", "")
        sanitizer = shutil.which("compute-sanitizer", path=os.pathsep.join([
            os.environ.get("PATH", ""), home + "/bin", "/usr/local/cuda/bin", "/opt/cuda/bin"]))
        if not sanitizer:
            raise NotMeasured("compute-sanitizer is not in PATH or CUDA_HOME")
        programs = session.programs_in("kernels")
        for program in programs:
            ended = session.run(program, environment={"RANKBOX_REQUIRE_GPU": "1"},
                                under=[sanitizer, "--tool", "memcheck", "--error-exitcode", "99"])
            if ended.code:
                session.report.details["memcheck"] = ended.messages()
                return Value(f"{program} has exit code {ended.code}", is_met=False)
        return Value(f"{len(programs)} programs without an error", is_met=True)

    session.measure("kernel tests under memcheck", "no error", value)


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


def contract(environment=None, processes=1):
    return functools.partial(check_contract, environment=environment, processes=processes)


SECTIONS = [
    Section("machine", "Machine", 10, report_machine),
    Section("contract-shared", "Contract: ranks share a GPU", 60,
            contract({"RANKBOX_GPU_MODE": "shared", **only_first_gpu()})),
    # Worlds of more ranks than GPUs share them.
    Section("contract-threads", "Contract: NCCL, one process", 60,
            contract({"RANKBOX_GPU_MODE": "auto"})),
    Section("contract-one-gpu", "Contract: NCCL, two processes on one GPU", 60,
            contract({"RANKBOX_NCCL_SHARE_GPU": "1", **only_first_gpu()}, 2)),
    Section("contract-processes", "Contract: NCCL, a process on each GPU", 60,
            contract(processes=0)),
    Section("kernels", "Kernels against device copy", 40, measure_kernels),
    Section("sharing", "Ring of 4 ranks that share a GPU", 30, measure_sharing_ring),
    Section("collectives", "Every collective", 110, measure_collectives),
    Section("ring", "Ring against NCCL's", 60, measure_ring),
    Section("train", "Training", 60, measure_training),
    Section("sanitizer", "Memory accesses of the kernels", 50, check_memory_accesses),
]
