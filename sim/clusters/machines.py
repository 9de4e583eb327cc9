"""GPU machines for fit.py: links, NCCL's constants, and the tables measured there."""

import csv
import dataclasses
import pathlib

HERE = pathlib.Path(__file__).resolve().parent
# NCCL's algorithms: the collectives that they carry out, and their protocols. PAT came with 2.23.
PROTOCOLS = ("LL", "LL128", "Simple")
ALGORITHMS = {
    "ring": (("broadcast", "reduce", "all_gather", "reduce_scatter"), PROTOCOLS),
    "pat": (("all_gather", "reduce_scatter"), ("Simple",)),
    "batches": (("gather", "scatter", "all_to_all"), ("LL", "Simple")),
}


@dataclasses.dataclass(frozen=True)
class Link:
    """What a message pays. `ports` are the physical links of one rank, GB/s are each way."""
    alpha_us: float
    ports: int
    port_GB_s: float
    share: float  # of ports * port_GB_s that one pair of ranks gets
    source: str

    def bandwidth(self):
        return float(f"{self.ports * self.port_GB_s * self.share:.3g}")


def read_tables():
    """name -> (ranks, nodes, points)"""
    tables = {}
    with open(HERE / "measured.csv", encoding="utf-8") as file:
        for row in csv.DictReader(line for line in file if not line.startswith("#")):
            point = (int(row["bytes"]), float(row["us"]))
            shape = (int(row["ranks"]), int(row["nodes"]), [])
            tables.setdefault(row["table"], shape)[2].append(point)
    return tables


TABLES = read_tables()


# Latencies are without CALL. Those of NVLink, PCIe and HDR are estimates, within what NCCL assumes
# for one hop (HOPS). With CALL, NVLink's is 8.6 us; 9.8 were measured on A100, 8 bytes
# (github.com/NVIDIA/nccl-tests, issue 331).
LINKS = {
    "nvlink4": Link(2, 18, 25, 0.833,
                    "NVLink 4; 371 to 380 GB/s one way (github.com/NVIDIA/nccl, issue 1264), 365 by "
                    "NCCL's send and receive (The Smol Training Playbook, Hugging Face 2025)"),
    "nvlink3": Link(2, 12, 25, 0.783,
                    "NVLink 3; 231 GB/s in rings of 8 A100 (measured.csv, a100-8)"),
    "nvlink5": Link(2, 18, 50, 0.756,
                    "NVLink 5; 680 GB/s in rings of 4 GB200 (Azure/AI-benchmarking-guide, "
                    "ND_GB200_v6); nvbandwidth copies at 765"),
    "pcie4": Link(6, 1, 31.5, 0.476,
                  "PCIe 4 x16, through host memory; 15 GB/s in rings (measured.csv, rtx4090)"),
    "hdr": Link(5, 1, 25, 0.96,
                "One HDR adapter a GPU; 24 GB/s (github.com/NVIDIA/nccl-tests, issue 119)"),
    "ndr": Link(5, 1, 50, 0.94,
                "One NDR adapter a GPU; 46 to 48 GB/s (github.com/NVIDIA/nccl-tests, issue 290); "
                "its latency is an estimate, as HDR's"),
    "gb10": Link(2, 1, 136.5, 0.85,
                 "One GPU a node: no message stays inside. A copy in its own memory reads and "
                 "writes: half of 273 GB/s; 116 were measured with one rank"),
    "cx7": Link(20, 1, 25, 0.94,
                "One cable of 200 Gb/s, both halves of its port; all-gathers of 4 to 16 GiB get "
                "22.5 to 24.2 GB/s. A message takes as long as an all-reduce of 8 KiB "
                "(measured.csv, spark), an estimate: 31 to 34 us between other boxes "
                "(github.com/NVIDIA/nccl-tests, issue 214)"),
    "efa": Link(40, 4, 12.5, 0.85,
                "32 EFA adapters for 8 GPUs; NCCL's send and receive: 42 to 43 GB/s, and 40 to 53 "
                "us with the call (The Smol Training Playbook, Hugging Face 2025)"),
}

# NCCL 2.28, src/graph/tuning.cc (baseLatencies, hwLatencies, llMaxBws). Microseconds to start a
# collective, and a hop of the ring, by protocol; the share of the ring's bandwidth that it leaves
# for data; and GB/s that LL reaches at most on one node and on two, by generation of GPU.
CALLS = {"LL": 6.6, "LL128": 14.0, "Simple": 8.4}
HOPS = {
    "nvlink": {"LL": 0.6, "LL128": 1.9, "Simple": 3.4},
    "pcie": {"LL": 1.0, "Simple": 5.7},  # LL128 needs NVLink
    "network": {"LL": 2.7, "LL128": 4.0, "Simple": 14.0},
}
SHARES = {"LL": 0.5, "LL128": 0.92, "Simple": 1.0}
MOST_LL = {"ampere": (87.7, 22.5), "hopper": (141.0, 45.0), "blackwell": (282.0, 90.0)}
CALL = min(CALLS.values())
# The same file's model of PAT: a round takes a part of a hop, and each rank its own share.
PAT_RANK, PAT_ROUND = 2.8, HOPS["network"]["Simple"] / 3.5


@dataclasses.dataclass(frozen=True)
class Machine:
    about: str
    within: str           # in LINKS
    between: str          # in LINKS; None: one node only
    medium: str           # in HOPS, inside a node
    generation: str       # in MOST_LL
    reduction_GB_s: int   # a fraction of the memory's bandwidth: two are read and one is written
    all_reduce: dict      # nodes -> table
    adds_in_switch: bool = False  # NVLS
    ranks_per_node: int = 8
    max_nodes: int = 0    # 0: any number, where there is a link between them


MACHINES = {
    "h100-nvlink": Machine("one node of 8 H100 with NVLink and NVLS", "nvlink4", None, "nvlink",
                           "hopper", 1000, {1: "h100-nvls"}, True),
    "a100-infiniband": Machine("nodes of 8 A100-40GB with NVLink, InfiniBand between them",
                               "nvlink3", "hdr", "nvlink", "ampere", 500,
                               {1: "a100-8", 2: "a100-2x8"}),
    "h100-efa": Machine("nodes of 8 H100 with NVLink, EFA between them", "nvlink4", "efa", "nvlink",
                        "hopper", 1000, {1: "h100-nvls", 2: "h100-efa-2x8"}, True),
    "h100-ib": Machine("nodes of 8 H100 with NVLink, an NDR InfiniBand adapter for each GPU",
                       "nvlink4", "ndr", "nvlink", "hopper", 1000,
                       {1: "h100-nvls", 2: "h100-ib-2x8", 4: "h100-ib-4x8"}, True),
    # Other memory than H100, the same links: fitted to its tables. H200's own rows are held out.
    "h200-ib": Machine("nodes of 8 H200 with NVLink, an NDR InfiniBand adapter for each GPU",
                       "nvlink4", "ndr", "nvlink", "hopper", 1400,
                       {1: "h100-nvls", 2: "h100-ib-2x8", 4: "h100-ib-4x8"}, True),
    "b200-nvlink": Machine("one node of 8 B200 with NVLink and NVLS", "nvlink5", None, "nvlink",
                           "blackwell", 2400, {1: "b200-8"}, True),
    # No published row of 72 ranks is below 512 MiB: modes for short messages are those of 8.
    "gb200-nvl72": Machine("one rack of 72 GB200 in one NVLink domain, with NVLS", "nvlink5", None,
                           "nvlink", "blackwell", 2400, {1: "gb200-72"}, True, 72),
    # No published all-reduce is above 64 KiB. Longer ones have the cable's rate, as all-gathers do.
    "dgx-spark-2": Machine("two DGX Spark, one GB10 each, one cable of 200 Gb/s between them",
                           "gb10", "cx7", "pcie", "blackwell", 80, {2: "spark"},
                           ranks_per_node=1, max_nodes=2),
    "pcie-4090": Machine("a box of 8 RTX 4090 on PCIe, without peer access", "pcie4", None, "pcie",
                         "ampere", 300, {1: "rtx4090"}),
}
# Tables that begin at large messages, with the microseconds of the smallest: those of a ring of LL.
LATENCIES = {"a100-8": CALLS["LL"] + 14 * HOPS["nvlink"]["LL"],
             "b200-8": CALLS["LL"] + 14 * HOPS["nvlink"]["LL"]}
# Tables that begin at large messages, with that of fewer ranks of the same machine.
SMALLER = {"gb200-72": "gb200-8"}
# Tables that end at short messages: longer ones pay the link's rate beyond the last row.
SHORT = ("spark",)
# Not fitted: sizes 8 to 128 times as large as the largest of the table that predicts them.
HELD_OUT = {"h100-nvls-8g": "h100-nvls", "a100-2x8-8g": "a100-2x8",
            "h100-efa-2x8-8g": "h100-efa-2x8", "rtx4090-8g": "rtx4090",
            "h100-ib-2x8-8g": "h100-ib-2x8", "h100-ib-4x8-8g": "h100-ib-4x8",
            "gb200-72-8g": "gb200-72"}
# Not fitted either: other boxes, other numbers of nodes and ranks. published_rows_test.cc in
# tests/sim has rows of other collectives.
ELSEWHERE = [("h100-ib-8x8", "h100-ib-4x8"),
             ("h100-ib-other", "h100-ib-2x8"), ("h100-ib-nebius", "h100-ib-2x8"),
             ("h200-ib-coreweave", "h100-ib-2x8"), ("h200-nvls", "h100-nvls"),
             ("b200-8-large", "b200-8"), ("gb200-8-large", "b200-8"),
             ("gb200-8-large", "gb200-72")]
