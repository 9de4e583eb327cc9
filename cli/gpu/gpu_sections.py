"""The sections of the report, in their order."""

import collections

from gpu_figures import (measure_collectives, measure_kernels, measure_ring, measure_segments,
                         measure_sharing_ring, measure_training)
from gpu_machine import check_pairs, measure_calls, report_machine
from gpu_tests import (check_course, check_memory_accesses, check_processes, check_shared,
                       check_threads, check_two_processes)

# name: for --only. title: for the text. seconds: its limit, if all sections that need no more GPUs
# than there are run in the time of --seconds; else its share. least_gpus: with fewer it does
# nothing, and takes no time. run(session) adds the lines, in the time of Session.begin.
Section = collections.namedtuple("Section", "name title seconds least_gpus run")

# What waits comes first, while nothing is measured. What measures has the machine for itself.
SECTIONS = [
    Section("machine", "Machine", 25, 1, report_machine),
    Section("calls", "Calls of CUDA", 10, 1, measure_calls),
    Section("pairs", "Data between GPUs", 20, 2, check_pairs),
    Section("contract-shared", "Contract: ranks share a GPU", 120, 1, check_shared),
    Section("course", "Chapters, and what they compute with", 90, 1, check_course),
    Section("contract-threads", "Contract: NCCL, one process", 100, 1, check_threads),
    Section("contract-one-gpu", "Contract: NCCL, two processes on one GPU", 50, 1,
            check_two_processes),
    Section("contract-processes", "Contract: NCCL, a process on each GPU", 60, 2, check_processes),
    Section("kernels", "Kernels against device copy", 20, 1, measure_kernels),
    Section("sharing", "Ring of 4 ranks that share a GPU", 10, 1, measure_sharing_ring),
    Section("segments", "Broadcast in segments", 15, 1, measure_segments),
    Section("collectives", "Every collective", 60, 1, measure_collectives),
    Section("ring", "Ring against NCCL's", 60, 2, measure_ring),
    Section("train", "Training", 40, 1, measure_training),
    Section("sanitizer", "Memory accesses", 40, 1, check_memory_accesses),
]
# Of all sections, on one GPU.
SECONDS = sum(section.seconds for section in SECTIONS if section.least_gpus == 1)
