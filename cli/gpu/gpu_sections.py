"""The sections of the report, in their order."""

import collections

from gpu_figures import (measure_collectives, measure_kernels, measure_ring, measure_sharing_ring,
                         measure_training)
from gpu_machine import only_first_gpu, report_machine
from gpu_tests import check_memory_accesses, contract

# name: for --only. title: for the text. seconds: its share of the 600 of the whole report.
# run(session) adds the lines, in the time of Session.begin.
Section = collections.namedtuple("Section", "name title seconds run")

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
