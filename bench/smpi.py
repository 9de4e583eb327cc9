#!/usr/bin/env python3
"""Virtual times beside those of SimGrid SMPI, a simulator of MPI written by others.

    bench/smpi.py [--json FILE] [--only TEXT] [--bin FOLDER] [--large P]

Runs the course's algorithms twice: the reference's code by `./rankbox compare`, whose virtual time
is that of the replayed trace, and bench/smpi_peer.cc, which uses MPI's calls alone, in SMPI. Both
have the same alpha, beta and gamma. SMPI's platform is one host a rank with a link up and a link
down, without its corrections for real networks (OPTIONS), so that a message takes alpha + n beta.
SMPI adds 16 bytes to each message, which is why times of small ones differ by 0.1 %.
Then an all-reduce of one float on --large ranks (0: none): seconds and memory of both.

Needs SimGrid (Debian: apt install libsimgrid-dev). --bin has rankbox and sim_bench; without it they
are built through Bazel.

Exits 0 when every virtual time agrees within TOLERANCE, 1 when one does not, 2 without SimGrid.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOLERANCE = 0.01
ALPHA, BETA, GAMMA = 10e-6, 1e-9, 0.5e-9  # seconds; per byte
RANKS = (4, 7, 8)
SIZES = (4096, 1 << 20)  # bytes; for gather, scatter and all_gather, of all parts together
LARGE = 4096
ALGORITHMS = ("broadcast_tree", "broadcast_ring", "reduce_tree", "allreduce_tree", "allreduce_ring",
              "allreduce_butterfly", "allreduce_rabenseifner", "gather_tree", "scatter_tree",
              "allgather_ring", "allgather_bruck", "reduce_scatter_ring", "alltoall_pairwise")

OPTIONS = (
    "network/model:CM02",  # latency, then the bandwidth of the narrowest link
    "network/latency-factor:1", "network/bandwidth-factor:1", "network/weight-S:0",
    "network/TCP-gamma:0",  # no limit by a window
    "network/crosstraffic:no",  # full duplex: what comes back takes nothing from what goes
    "smpi/async-small-thresh:0", "smpi/send-is-detached-thresh:0",  # all sends are rendezvous
    "smpi/os:0:0:0:0:0", "smpi/or:0:0:0:0:0", "smpi/ois:0:0:0:0:0", "smpi/init:0", "smpi/wtime:0",
    "smpi/simulate-computation:no",  # this machine's own speed does not count
    "contexts/stack-size:64",  # KiB, for many ranks
)

CLUSTER = f"""name = "flat"
reduction_GB_s = {1e-9 / GAMMA:g}
[within_node]
alpha_us = {ALPHA * 1e6:g}
bandwidth_GB_s = {1e-9 / BETA:g}
"""

PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="flat" prefix="rank" suffix="" radical="0-{last}" speed="1Gf"
           bw="{bandwidth:g}Bps" lat="{latency:g}s" sharing_policy="SPLITDUPLEX"/>
</platform>
"""


class Smpi:
    """SMPI's side: the program, and a platform for each number of ranks."""

    def __init__(self, folder):
        self.folder = folder
        self.program = folder / "smpi_peer"
        subprocess.run(["smpicxx", "-std=c++17", "-O2", ROOT / "bench" / "smpi_peer.cc", "-o",
                        self.program], check=True)

    def command(self, algorithm, ranks, elements):
        platform, hosts = self.folder / f"{ranks}.xml", self.folder / f"{ranks}.hosts"
        # A message passes two links, each with half of the latency.
        platform.write_text(PLATFORM.format(last=ranks - 1, bandwidth=1 / BETA, latency=ALPHA / 2))
        hosts.write_text("".join(f"rank{rank}\n" for rank in range(ranks)))
        return ["smpirun", "-np", str(ranks), "-platform", platform, "-hostfile", hosts,
                *(f"--cfg={option}" for option in OPTIONS), "--log=root.thres:critical",
                self.program, algorithm, str(elements), repr(GAMMA)]

    def seconds(self, algorithm, ranks, elements):
        done = subprocess.run(self.command(algorithm, ranks, elements), capture_output=True,
                              text=True, timeout=300)
        if done.returncode != 0:
            raise SystemExit(f"smpi_peer {algorithm} on {ranks} ranks: {done.stderr.strip()}")
        return float(done.stdout)


def exercise_of(row):
    """The name of the exercise: all_reduce and tree are allreduce_tree."""
    collective = row["collective"]
    if collective != "reduce_scatter":
        collective = collective.replace("_", "")
    return f"{collective}_{row['algorithm']}"


def rankbox_rows(rankbox, folder, algorithms):
    """(algorithm, ranks, bytes, elements) -> virtual seconds of the reference's code, by its trace.

    As `--mine`: the virtual time of a reference is its closed form.
    """
    cluster, figures = folder / "flat.toml", folder / "figures.json"
    cluster.write_text(CLUSTER)
    mine = []
    for name in algorithms:
        mine += ["--mine", f"{name}={next((ROOT / 'solutions').glob(f'*/{name}.cc'))}"]
    subprocess.run([rankbox, "compare", "--collective", "all", *mine, "--cluster", cluster,
                    "--ranks", ",".join(map(str, RANKS)), "--sizes", ",".join(map(str, SIZES)),
                    "-n", "1", "-w", "1", "--json", figures],
                   cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    rows = json.loads(figures.read_text())["results"]
    return {(exercise_of(row), row["ranks"], row["bytes"], row["count"]): row["virtual_us"] * 1e-6
            for row in rows if row["whose"] == "yours"}


def measured(command):
    """(seconds, peak memory in MB, standard output) of a process and its children."""
    begin = time.monotonic()
    with tempfile.TemporaryFile() as out, subprocess.Popen(command, stdout=out) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.monotonic() - begin
        out.seek(0)
        text = out.read().decode()
    if process.returncode != 0:
        raise SystemExit(f"{command[0]}: exit status {process.returncode}")
    return seconds, usage.ru_maxrss / 1000, text


def build(programs):
    subprocess.run(["bazel", "build", *programs], cwd=ROOT, check=True)
    return {program.split(":")[1]: ROOT / "bazel-bin" / program[2:].replace(":", "/")
            for program in programs}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", metavar="FILE", help="write every time there")
    parser.add_argument("--only", metavar="TEXT", default="", help="algorithms with TEXT")
    parser.add_argument("--bin", metavar="FOLDER", type=pathlib.Path,
                        help="take rankbox-more and sim_bench from there instead of building them")
    parser.add_argument("--large", metavar="P", type=int, default=LARGE,
                        help=f"ranks of the one that is timed (default {LARGE}; 0: none)")
    options = parser.parse_args()
    algorithms = [name for name in ALGORITHMS if options.only in name]
    if not algorithms:
        parser.error(f"--only {options.only}: no algorithm has that in its name")
    if not shutil.which("smpicxx"):
        print("SimGrid is not installed: apt install libsimgrid-dev", file=sys.stderr)
        return 2
    if options.bin:
        programs = {name: options.bin.resolve() / name for name in ("rankbox-more", "sim_bench")}
    else:
        programs = build(["//cli:rankbox-more", "//bench:sim_bench"])

    results = []
    with tempfile.TemporaryDirectory(prefix="smpi.") as name:
        folder = pathlib.Path(name)
        smpi = Smpi(folder)
        print(f"{'algorithm':<24} {'ranks':>5} {'bytes':>9} {'Rankbox':>12} {'SMPI':>12} "
              f"{'differ':>7}")
        rows = rankbox_rows(programs["rankbox-more"], folder, algorithms)
        for case, ours in sorted(rows.items()):
            algorithm, ranks, size, elements = case
            theirs = smpi.seconds(algorithm, ranks, elements)
            results.append({"algorithm": algorithm, "ranks": ranks, "bytes": size,
                            "rankbox_seconds": ours, "smpi_seconds": theirs})
            print(f"{algorithm:<24} {ranks:5} {size:9} {ours * 1e6:9.2f} us {theirs * 1e6:9.2f} us "
                  f"{abs(theirs / ours - 1):7.3%}")
        worst = max(abs(row["smpi_seconds"] / row["rankbox_seconds"] - 1) for row in results)
        print(f"{len(results)} virtual times differ by at most {worst:.2%}")
        if options.large:
            command = smpi.command("allreduce_butterfly", options.large, 1)
            for who, line in (("SMPI", command),
                              ("Rankbox", [programs["sim_bench"], "fibers", "butterfly",
                                           str(options.large)])):
                seconds, memory, _ = measured(line)
                print(f"butterfly of one float on {options.large} ranks: {who:<8} {seconds:6.2f} s "
                      f"{memory:6.0f} MB")
                results.append({"algorithm": "allreduce_butterfly", "ranks": options.large,
                                "bytes": 4, "who": who, "wall_seconds": seconds, "MB": memory})
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(results, indent=2) + "\n",
                                              encoding="utf-8")
    return 0 if worst <= TOLERANCE else 1


if __name__ == "__main__":
    sys.exit(main())
