"""Prints "KEY<tab>FILE<tab>LIBRARIES" for each .cc file that clang-tidy can check on this machine.

usage: tidy_keys.py FLAGS CHANGED FILE... <RULES

The key hashes the rules (stdin), the flags, the file and every header of ours that it includes,
directly or not. System headers are not hashed: they change with the distribution's packages, and
clang-tidy's own version, which does likewise, is part of the rules. LIBRARIES are those of HEAVY
whose headers it includes, directly or not: "CLI fmt". CHANGED is empty, or a file with names: then
only files that are among them are printed, and for each header among them one that includes it.
"""

import functools
import hashlib
import os
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)', re.MULTILINE)

# Headers of optional libraries: without them the file cannot be parsed.
OPTIONAL = ("mpi.h", "nccl.h", "cuda_runtime.h", "cuda_runtime_api.h", "cuda.h", "cuda_fp16.h",
            "cublas_v2.h", "gloo/allreduce.h", "smpi/smpi.h")


# Folders of headers that take clang-tidy seconds.
HEAVY = ("boost", "CLI", "doctest", "fmt", "nlohmann", "toml++", "xtensor")


@functools.lru_cache(maxsize=None)
def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        text = file.read()
    return text, INCLUDE.findall(text)


# comm/comm.h and compute/for_each.h include one of these, as the backend has it.
BACKENDS = {"sim/communicator.h": "SIM", "mpi/communicator.h": "MPI", "gpu/communicator.h": "NCCL",
            "gpu/compute/for_each.h": "NCCL"}


def closure(path, flags, seen, system):
    """Adds our files that `path` includes to `seen`, and names in angle brackets to `system`."""
    if path in seen:
        return
    seen.add(path)
    for ours, theirs in read(path)[1]:
        if ours in BACKENDS and path in ("comm/comm.h", "compute/for_each.h"):
            if f"-DRANKBOX_BACKEND_{BACKENDS[ours]}" not in flags:
                continue
        if theirs:
            system.add(theirs)
            continue
        for candidate in (ours, os.path.join(os.path.dirname(path), ours)):
            if os.path.isfile(candidate):
                closure(os.path.normpath(candidate), flags, seen, system)
                break
        else:
            system.add(ours)


def available(header, flags):
    named = [flag for flag in flags.split() if os.path.isdir(flag)]  # those after -isystem
    folders = ["/usr/include", "/usr/local/include"] + named
    return any(os.path.isfile(os.path.join(folder, header)) for folder in folders)


def wanted(changed, included):
    """The files that changed, and for each header the file of its name, or else the first with it.

    A header's findings are the same wherever it is included.
    Args: included: {file: all that it includes, itself among them}
    """
    files = changed & included.keys()
    for header in changed - files:
        own = os.path.splitext(header)[0] + ".cc"
        readers = sorted(path for path, seen in included.items() if header in seen)
        files.update([own] if own in readers else readers[:1])
    return files


def main(flags, changed, files):
    included, used = {}, {}
    for path in files:
        included[path], used[path] = set(), set()
        closure(os.path.normpath(path), flags, included[path], used[path])
    if changed:
        with open(changed, encoding="utf-8") as names:
            files = sorted(wanted(set(names.read().splitlines()), included))
    rules = hashlib.sha256((sys.stdin.read() + flags).encode()).hexdigest()
    for path in files:
        seen, system = included[path], used[path]
        absent = [h for h in OPTIONAL if h in system and not available(h, flags)]
        if absent:
            print(f"tidy: {path} left out: no {absent[0]} here", file=sys.stderr)
            continue
        key = hashlib.sha256(rules.encode())
        for name in sorted(seen):
            key.update(name.encode() + b"\0" + read(name)[0].encode() + b"\0")
        libraries = sorted({name.split("/")[0] for name in system} & set(HEAVY))
        print(key.hexdigest(), path, " ".join(libraries), sep="\t")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
