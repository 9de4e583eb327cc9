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
