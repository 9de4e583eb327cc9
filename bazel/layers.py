#!/usr/bin/env python3
"""Checks that #includes follow the layers: which folder may include which.

    bazel/layers.py [ROOT]      prints each violation as FILE:LINE: what; then exits with 1

Rows are ordered from the lowest layer up, and a row names only earlier rows, so dependencies have
no cycles. A file belongs to the row with the longest matching path prefix. A row may include
itself. A row that may include a folder may also include the rows inside that folder. Tests,
NAME_test.cc, may also include the test support. No file may exceed 400 lines.
"""

import os
import re
import subprocess
import sys

ALL = ["*"]  # every row before it

LAYERS = [
    ("comm", []),
    ("files", ["comm"]),
    ("sim/clusters", ["comm"]),
    ("sim/clock", ["comm"]),
    ("compute", ["comm"]),
    ("host", ["comm", "compute"]),
    ("gpu/launch", ["comm", "files"]),
    # Backends: only one of them is in a program, but for ranks that share a GPU.
    ("sim", ["comm", "compute", "host", "sim/clock"]),
    ("mpi", ["comm", "host"]),
    ("gpu", ["comm", "files", "compute", "gpu/launch", "sim"]),
    # What is learnt.
    ("collectives", ["comm"]),
    ("training", ["comm", "compute"]),
    ("parallel", ["comm", "compute", "training"]),
    ("exercises", ["comm", "collectives", "parallel", "training"]),
    ("solutions", ["comm", "collectives", "compute", "parallel", "training", "exercises"]),
    ("judge/interleave", ["comm"]),
    ("judge/race", ["comm", "collectives", "judge/interleave"]),
    # From a trace to a judgement, and to a picture.
    ("judge/formulas", ["comm", "training"]),
    ("judge", ["comm", "files", "sim/clock", "judge/formulas", "judge/race", "collectives",
               "training", "parallel", "exercises"]),
    ("judge/seal", ["comm", "files", "compute", "host", "sim", "collectives", "training",
                    "parallel", "exercises", "judge"]),
    ("viewer", ["comm", "sim/clock"]),
    ("training/run", ["comm", "files", "compute", "collectives", "training", "parallel",
                      "exercises", "solutions"]),
    ("bench", ["comm", "files", "compute", "collectives", "training", "parallel"]),
    # The command line: subcommands stand on what they share.
    ("cli/support", ["comm", "files", "exercises"]),
    ("cli/plugin", ["comm", "files", "judge/interleave", "judge", "cli/support"]),
    ("cli/picture", ["comm", "files", "sim/clusters", "sim/clock", "judge", "viewer",
                     "cli/support", "cli/plugin"]),
    ("cli/page", ["comm", "exercises", "cli/support"]),
    ("cli/exercise", ["comm", "files", "sim/clusters", "judge", "exercises", "judge/seal",
                      "cli/support", "cli/plugin", "cli/picture", "cli/page"]),
    ("cli/race", ["comm", "files", "judge/interleave", "judge/race", "judge", "cli/support",
                  "cli/plugin"]),
    ("cli/dev", ALL),
    ("cli/run", ALL),
    ("cli/compare", ALL),
    ("cli/train", ALL),
    ("cli/demo", ALL),
    ("cli/gpu", ALL),
    ("cli/fit", ALL),
    ("cli/plan", ALL),
    ("cli/grade", ALL),
    ("cli", ALL),
    ("bazel", []),
    ("docs", ALL),
    ("tests", ALL),
]

# A file that may include more than its row.
EXCEPTIONS = {
    "comm/comm.h": ["sim", "mpi", "gpu"],  # the one place that names the backends
    "compute/for_each.h": ["gpu"],  # the one place that names the kinds of memory
}

TEST_SUPPORT = ["tests"]

CODE = (".cc", ".h", ".cu", ".cuh")
COUNTED = CODE + (".py", ".js", ".css", ".html", ".sh", ".bzl", ".bazel", ".md")
MOST_LINES = 400
INCLUDE = re.compile(r'\s*#\s*include\s+["<]([a-z_]+/[^">]+)[">]')


def allowed(layers):
    """{row: the rows that it may include}. Raises ValueError for a row that names a later one."""
    rows = {}
    for name, below in layers:
        for other in below:
            if other != "*" and other not in rows:
                raise ValueError(f"{name} may not include {other}, which does not stand below it")
        rows[name] = list(rows) if below == ALL else below
    return rows


def row_of(path, rows):
    """The longest row that the path begins with; "" if there is none."""
    return max((row for row in rows if path.startswith(row + "/")), key=len, default="")


def files_of(root):
    """Files that git tracks, or would; all files where there is no git."""
    git = ["git", "-C", root, "ls-files", "-co", "--exclude-standard"]
    listed = subprocess.run(git, capture_output=True, text=True, check=False)
    if listed.returncode == 0 and listed.stdout:
        names = listed.stdout.split("\n")
    else:
        names = [os.path.relpath(os.path.join(folder, name), root)
                 for folder, _, files in os.walk(root) for name in files]
    return sorted(name for name in names if name and os.path.isfile(os.path.join(root, name)))


def problems_of(path, lines, rows, folders):
    """What is wrong with one file. `folders` are those at the top of the tree."""
    if len(lines) > MOST_LINES:
        yield f"{path}:{MOST_LINES + 1}: {len(lines)} lines, more than {MOST_LINES}: split it"
    if not path.endswith(CODE):
        return
    row = row_of(path, rows)
    if not row:
        yield f"{path}:1: its folder is in no row of bazel/layers.py: add one"
        return
    may = rows[row] + EXCEPTIONS.get(path, []) + TEST_SUPPORT * ("_test." in path)
    for number, line in enumerate(lines, start=1):
        found = INCLUDE.match(line)
        if not found or found[1].split("/")[0] not in folders:
            continue
        target = row_of(found[1], rows)
        if target not in [row, *may] and not row_of(target, may):
            yield (f"{path}:{number}: includes {found[1]}, but {row} stands on "
                   f"{', '.join(rows[row]) or 'nothing'} alone (bazel/layers.py)")


def check(root, layers=None):
    """All problems of the tree."""
    rows = allowed(LAYERS if layers is None else layers)
    names = files_of(root)
    folders = {name.split("/")[0] for name in names if "/" in name}
    found = []
    for name in names:
        if not name.endswith(COUNTED) and "." in os.path.basename(name):
            continue
        with open(os.path.join(root, name), encoding="utf-8", errors="replace") as file:
            found += problems_of(name, file.read().split("\n")[:-1], rows, folders)
    return found


def main():
    here = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
    root = sys.argv[1] if len(sys.argv) > 1 else here
    found = check(root)
    print("\n".join(found) or "layers: no arrow points up")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
