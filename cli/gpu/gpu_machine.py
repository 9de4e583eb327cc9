"""The machine: its GPUs, links and versions."""

import collections
import os

from gpu_session import NotMeasured, Value


def only_first_gpu():
    return {"CUDA_VISIBLE_DEVICES": os.environ.get("CUDA_VISIBLE_DEVICES", "0").split(",")[0]}


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

    report_costs(session, session.figures("starts", "gpu_costs", "starts"),
                 ["context of a GPU", "cudaMalloc, 64 MiB", "stream", "event",
                  "NCCL: first communicator", "NCCL: split"])


# ---- What calls cost the host --------------------------------------------------------------------

def time_in_words(us):
    """ "1.5 us", "12.3 ms", "1.02 s"."""
    for unit, factor in (("us", 1), ("ms", 1e3)):
        if us < 1000 * factor:
            return f"{us / factor:.3g} {unit}"
    return f"{us / 1e6:.3g} s"


def report_costs(session, costs, calls):
    """Adds a line for each call: its cost from one thread, and from several at a time."""
    def value(call):
        for row in costs()["costs"]:
            if row["what"].startswith(call):
                break
        else:
            raise NotMeasured(f"gpu_costs did not print it: {call}", True)
        figures = [time_in_words(us) + (f" from each of {threads} threads" if threads > 1 else "")
                   for us, threads in zip(row["us"], costs()["threads"])]
        notes = row["what"][len(call):]
        return Value(", ".join(figures) + (f" ({notes.strip(', ')})" if notes else ""),
                     row["us"][0])

    for call in calls:
        session.measure(call, "", lambda: value(call))


def measure_calls(session):
    batches = ["2"] if session.is_dry else []
    report_costs(session, session.figures("calls", "gpu_costs", "calls", *batches),
                 ["event record", "wait for an event", "copy, 1 KiB", "kernel, 1 KiB"])


# ---- Data between GPUs ---------------------------------------------------------------------------

def check_pairs(session):
    mib = 1 if session.is_dry else 64

    def value():
        if session.gpus() == 1:
            raise NotMeasured("there is one GPU")
        pairs = session.figures("pairs", "gpu_pairs", str(mib))()["pairs"]
        wrong = [f"{pair['from']} to {pair['into']}" for pair in pairs if pair["wrong"]]
        speeds = sorted(pair["bytes_per_second"] / 1e9 for pair in pairs)
        text = (f"{len(pairs) - len(wrong)} of {len(pairs)} right, "
                f"{speeds[0]:.3g} to {speeds[-1]:.3g} GB/s")
        return Value(text + (f"; wrong: GPU {', '.join(wrong)}" if wrong else ""), speeds[0],
                     not wrong)

    session.measure(f"copies of {mib} MiB between all pairs", "no wrong element", value)
