#!/usr/bin/env python3
"""Rankbox side by side with its peers, on this machine, in one run: ratios, not times.

    bench/run.py [--rounds N] [--json FILE] [--only TEXT] [--bin FOLDER]

Builds //bench through Bazel (or takes the programs from FOLDER). Every round runs each row's
programs one after the other, so that a noisy minute affects both sides alike. A figure is the
median over the rounds. Open MPI and gloo (libopenmpi-dev openmpi-bin, libgloo-dev) and PyTorch
(python3-torch) are optional: rows without their peer report that.

Exits 0 when all measured rows meet their targets, 1 when one does not, 2 when nothing could be
measured.
"""

import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CORES = os.cpu_count() or 1
FLOATS = 1024 * 1024  # the course's tensor: 1024 x 1024 floats, 4 MiB
FLOAT_BYTES = 4


def sim(*arguments):
    return ["sim_bench", *map(str, arguments)]


def traced(*arguments):
    """With events replayed and dropped, as `compare` traces. One that keeps all events touches
    fresh memory with each, which costs more than the message where huge pages are scarce."""
    return sim("growing", *arguments)


def gloo(*arguments):
    return ["gloo_peer", *map(str, arguments)]


def mpirun(world_size, *command):
    """Bound to cores if there are enough; else left to the scheduler, with Open MPI's yielding."""
    binding = (["--bind-to", "core"] if world_size <= CORES
               else ["--oversubscribe", "--bind-to", "none"])
    return ["mpirun", "-np", str(world_size), *binding, *map(str, command)]


def mpi(world_size, *arguments):
    return mpirun(world_size, "mpi_peer", *arguments)


def over_mpi(what, size):
    """Comm over MPI and plain MPI, alternating block by block: two figures of one program."""
    return mpirun(2, "mpi_overhead", what, size)


def training(model, ranks):
    return ["training_bench", model, str(ranks)]


def torch(model):
    """With the distribution's interpreter, which has its packages."""
    python = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable
    return [python, str(ROOT / "bench" / "torch_peer.py"), model]


def yours(what, backend, size):
    """A learner's copy of the reference's ring, timed by ./rankbox compare."""
    return [sys.executable, str(ROOT / "bench" / "yours_peer.py"), what, backend, str(size)]


def bound(world_size):
    return ["memory_bandwidth", str(world_size * FLOATS * FLOAT_BYTES)]


class Row:
    """One comparison. `judge` says how the two times become a figure, and its target.

    faster    peer's time / Rankbox's time   at least `target`
    share     bound's time / Rankbox's time  at least `target`, shown in percent
    overhead  Rankbox's time / peer's - 1    at most `target`, in percent; one program for both
    more      Rankbox's time - peer's        at most `target`, in seconds; one program for both
    at_most   Rankbox's time, in seconds     at most `target`
    runs      Rankbox's time                 that there is one
    """

    def __init__(self, what, ours, peer_name="", peer=None, judge="faster", target=1.0,
                 scale_bytes=0):
        self.what = what
        self.ours = ours
        self.peer_name = peer_name
        self.peer = peer
        self.judge = judge
        self.target = target
        self.scale_bytes = scale_bytes  # show GB/s instead of a time
        self.samples = {"ours": [], "peer": []}
        self.missing = ""

    def figure(self):
        ours = statistics.median(self.samples["ours"])
        if self.judge in ("at_most", "runs"):
            return ours
        peer = statistics.median(self.samples["peer"])
        if self.judge == "more":
            return ours - peer
        return ours / peer - 1 if self.judge == "overhead" else peer / ours

    def met(self):
        if self.judge in ("faster", "share"):
            return self.figure() >= self.target
        return self.judge == "runs" or self.figure() <= self.target

    def texts(self):
        """(Rankbox, peer, figure, target) as shown."""
        show = lambda samples: self.amount(statistics.median(samples)) if samples else "-"
        if self.judge == "faster":
            figure, target = f"{self.figure():.2f} x", f">= {self.target:g} x"
        elif self.judge == "share":
            figure, target = f"{100 * self.figure():.0f} %", f">= {100 * self.target:g} %"
        elif self.judge == "overhead":
            figure, target = f"{100 * self.figure():+.1f} %", f"<= {100 * self.target:g} %"
        elif self.judge == "more":
            figure, target = f"{1e9 * self.figure():+.0f} ns", f"<= {self.amount(self.target)}"
        elif self.judge == "at_most":
            figure, target = "", f"<= {self.amount(self.target)}"
        else:
            figure, target = "", "runs"
        return show(self.samples["ours"]), show(self.samples["peer"]), figure, target

    def amount(self, seconds):
        if self.scale_bytes:
            return f"{self.scale_bytes / seconds / 1e9:.2f} GB/s"
        for unit, name in ((1, "s"), (1e-3, "ms"), (1e-6, "us")):
            if seconds >= unit:
                return f"{seconds / unit:.2f} {name}"
        return f"{seconds * 1e9:.0f} ns"


def rows():
    four_mib = FLOATS * FLOAT_BYTES
    table = [
        Row("ping-pong 8 B, p = 2", traced("pingpong", 8), "Open MPI", mpi(2, "pingpong", 8)),
        Row("ping-pong 8 B, p = 2", traced("pingpong", 8), "gloo", gloo("pingpong", 8)),
        Row("ping-pong 8 B, p = 2, all events kept", sim("pingpong", 8), judge="runs"),
        Row("ping-pong 4 MiB, p = 2", sim("pingpong", four_mib), "Open MPI",
            mpi(2, "pingpong", four_mib), scale_bytes=four_mib),
        Row("ping-pong 4 MiB, p = 2", sim("pingpong", four_mib), "gloo", gloo("pingpong", four_mib),
            scale_bytes=four_mib),
    ]
    for world_size, times_faster in ((2, 3.5), (4, 10), (8, 10)):
        ours = sim("allreduce", FLOATS, world_size)
        what = f"all_reduce 1024x1024 MAX, p = {world_size}"
        table += [
            Row(what, ours, "Open MPI", mpi(world_size, "allreduce", FLOATS), target=times_faster),
            Row(what, ours, "gloo", gloo("allreduce", FLOATS, world_size)),
            Row(what, ours, "memory bound", bound(world_size), judge="share", target=0.8),
        ]
    for world_size, times_faster in ((2, 1), (4, 1), (8, 40)):
        ours = sim("allreduce", 1, world_size)
        what = f"all_reduce 1 float MAX, p = {world_size}"
        table += [
            Row(what, ours, "Open MPI", mpi(world_size, "allreduce", 1), target=times_faster),
            Row(what, ours, "gloo", gloo("allreduce", 1, world_size)),
        ]
    table += [
        Row("allreduce_ring 1024x1024 MAX, p = 4", sim("ring", FLOATS, 4), "Open MPI",
            mpi(4, "allreduce", FLOATS)),
        Row("trace, clocks and all, 64 KiB messages", sim("overhead", 65536), "trace off",
            judge="overhead", target=0.05),
        # The MPI backend. A message is two calls: a send and a receive.
        Row("Comm over MPI: message of 8 B", over_mpi("pingpong", 8), "plain MPI", judge="more",
            target=0.6e-6),
        Row("Comm over MPI: sendrecv of 8 B", over_mpi("sendrecv", 8), "plain MPI", judge="more",
            target=0.3e-6),
        Row("Comm over MPI: ring of 64 KiB, p = 2", over_mpi("ring", 64 << 10), "plain MPI",
            judge="overhead", target=0.1),
        Row("Comm over MPI: ring of 1 MiB, p = 2", over_mpi("ring", 1 << 20), "plain MPI",
            judge="overhead", target=0.1),
        Row("Comm over MPI: ring of 16 MiB, p = 2", over_mpi("ring", 16 << 20), "plain MPI",
            judge="overhead", target=0.1),
        Row("start and join 8 ranks", sim("start", 8), judge="at_most", target=1e-3),
        Row("allreduce_tree on 4096 ranks", sim("tree", 4096), judge="runs"),
        # Many ranks on few cores, where Open MPI's processes take turns too: the case for fibers.
        Row("all_reduce 1 float MAX, p = 8, fibers", sim("fibers", "allreduce", 1, 8), "Open MPI",
            mpi(8, "allreduce", 1), target=40),
        Row("start and join 8 ranks, fibers", sim("fibers", "start", 8), judge="at_most",
            target=1e-3),
        Row("allreduce_tree on 4096 ranks, fibers", sim("fibers", "tree", 4096), judge="runs"),
        Row("allreduce_tree on 65536 ranks, fibers", sim("fibers", "tree", 65536), judge="runs"),

        # A learner's view: the same source as the reference, and the time from a save to a figure.
        *(Row(f"yours over {backend}: ring of {size >> 10} KiB, p = 2",
              yours("time", backend, size), "ours", judge="overhead", target=0.03)
          for backend in ("sim", "mpi") for size in (64 << 10, 1 << 20, 4 << 20)),
        Row("from a saved file to its time, sim", yours("loop", "sim", 64 << 10), judge="at_most",
            target=3),
        Row("from a saved file to its time, MPI", yours("loop", "mpi", 64 << 10), judge="at_most",
            target=5),

        # Training, seconds for each sample. PyTorch on one thread, as every rank has one.
        Row("train MLP, one rank", training("mlp", 1), "PyTorch", torch("mlp"), target=1.2),
        Row("train ConvNet, one rank", training("conv_net", 1), "PyTorch", torch("conv_net"),
            target=1.6),
        *(Row(f"train {name}, DDP on 2 ranks", training(model, 2), "one rank", training(model, 1),
              target=1.8) for name, model in (("MLP", "mlp"), ("ConvNet", "conv_net"))),
    ]
    return table


def run_program(command, folders):
    """The numbers that a program prints, or None and the reason."""
    program = next(word for word in command
                   if word.endswith(("_bench", "_peer", "_bandwidth", "_overhead", "_peer.py")))
    if command[0] == "mpirun" and not shutil.which("mpirun"):
        return None, "mpirun is not installed"
    # A path to a script stays what it is.
    built = next((folder / program for folder in folders if (folder / program).is_file()), None)
    if built is None:
        return None, f"{program} was not built"
    placed = [str(built) if word == program else word for word in command]
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    try:
        done = subprocess.run(placed, capture_output=True, text=True, env=environment, timeout=120)
        if done.returncode < 0:
            return None, f"{program} crashed with signal {-done.returncode}"
        if done.returncode != 0:
            lines = (done.stderr.strip() or f"exit status {done.returncode}").splitlines()
            return None, lines[-1 if lines[0].startswith("Traceback") else 0][:70]
        return [float(word) for word in done.stdout.split()], ""
    except subprocess.TimeoutExpired:
        return None, "no answer within 120 s"


def measure(table, rounds, folders):
    for round_number in range(rounds):
        # A command that several rows share (mostly our side) runs once per round.
        answers = {}
        for row in table:
            for side, command in (("ours", row.ours), ("peer", row.peer)):
                if not command or row.missing:
                    continue
                if sys.stderr.isatty():
                    print(f"\r\033[Kround {round_number + 1}/{rounds}: {' '.join(command)}", end="",
                          file=sys.stderr)
                key = tuple(command)
                if key not in answers:
                    answers[key] = run_program(command, folders)
                numbers, why = answers[key]
                if not numbers:
                    row.missing = why
                    continue
                row.samples[side].append(numbers[0])
                if row.judge in ("overhead", "more"):
                    row.samples["peer"].append(numbers[1])
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr)


def build():
    """The folders with the programs. Ours must build; a peer's library may be absent."""
    ours = ["//bench:sim_bench", "//bench:memory_bandwidth", "//bench:training_bench"]
    subprocess.run(["bazel", "build", *ours], cwd=ROOT, check=True)
    folders = []
    for program, flags in (("mpi_peer", []), ("gloo_peer", []), ("mpi_overhead", ["--config=mpi"])):
        done = subprocess.run(["bazel", "build", *flags, f"//bench:{program}"], cwd=ROOT,
                              capture_output=True)
        if done.returncode != 0:
            print(f"{program}: not built, its rows are left out", file=sys.stderr)
        where = subprocess.run(["bazel", "info", *flags, "bazel-bin"], cwd=ROOT,
                               capture_output=True, text=True, check=True)
        folder = pathlib.Path(where.stdout.strip()) / "bench"
        if folder not in folders:
            folders.append(folder)
    return folders


def print_table(table):
    print(f"{'what':<38} {'Rankbox':>10}  {'peer':<12} {'its figure':>11} {'ratio':>9}  "
          f"{'target':<10} met")
    for row in table:
        if row.missing:
            print(f"{row.what:<38} {'':>10}  {row.peer_name:<12} not measured: {row.missing}")
            continue
        ours, peer, figure, target = row.texts()
        print(f"{row.what:<38} {ours:>10}  {row.peer_name:<12} {peer:>11} {figure:>9}  "
              f"{target:<10} {'yes' if row.met() else 'NO'}")


def as_json(table, rounds):
    results = []
    for row in table:
        result = {"what": row.what, "peer": row.peer_name, "judge": row.judge, "target": row.target}
        if row.missing:
            result["missing"] = row.missing
        else:
            result.update(figure=row.figure(), met=row.met(), rankbox_seconds=row.samples["ours"],
                          peer_seconds=row.samples["peer"])
        results.append(result)
    return {"version": 1, "cores": CORES, "rounds": rounds, "results": results}


def is_writable(path):
    """Whether a file can take this place: a device or a pipe would be replaced."""
    return path.is_file() or not path.exists()


def write_file(path, text):
    """Writes the file beside its place and moves it there: it is whole, or as it was."""
    path = path.resolve()
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5,
                        help="how often each program runs (default 5)")
    parser.add_argument("--json", metavar="FILE", help="write every measured time there")
    parser.add_argument("--only", metavar="TEXT", default="",
                        help="rows whose name or peer contains TEXT")
    parser.add_argument("--bin", metavar="FOLDER",
                        help="take the programs from there instead of building them")
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error(f"--rounds {options.rounds}: at least 1 is needed")
    if options.bin and not (pathlib.Path(options.bin) / "sim_bench").is_file():
        parser.error(f"--bin {options.bin}: there is no sim_bench in it")

    if options.json and not is_writable(pathlib.Path(options.json)):
        parser.error(f"--json {options.json}: not a regular file")

    table = [row for row in rows() if options.only.lower() in f"{row.what} {row.peer_name}".lower()]
    if not table:
        parser.error(f"--only {options.only}: no row has that in its name")
    folders = [pathlib.Path(options.bin).resolve()] if options.bin else build()
    measure(table, options.rounds, folders)
    print_table(table)
    if options.json:
        text = json.dumps(as_json(table, options.rounds), indent=2) + "\n"
        write_file(pathlib.Path(options.json), text)
    measured = [row for row in table if not row.missing]
    if not measured:
        return 2
    return 0 if all(row.met() for row in measured) else 1


if __name__ == "__main__":
    sys.exit(main())
