"""Prints the test targets among some that depend on files which changed.

usage: affected.py CHANGED TARGET...

CHANGED is a file with paths. TARGETs are as for `bazel test`. Prints "all" where a rule, a flag or
a package list changed, since anything may depend on it.
"""

import os
import re
import subprocess
import sys

# What every target depends on, though no BUILD file says so.
EVERYTHING = re.compile(r"(\.bazelrc|WORKSPACE|.*\.bzl|exercises/registry\.toml|"
                        r"bazel/(BUILD\.bazel|packages.*\.txt|batch\.py|course\.py|"
                        r"local_names\.py|run_all_tests\.sh|affected\.py))$")


def package_of(path):
    """The folder of the next BUILD file above; None if there is none."""
    folder = os.path.dirname(path)
    while not os.path.isfile(os.path.join(folder, "BUILD.bazel")):
        if not folder:
            return None
        folder = os.path.dirname(folder)
    return folder


def labels_of(paths):
    """The targets that stand for the paths: of a BUILD or deleted file, all of its package."""
    labels = set()
    for path in paths:
        package = package_of(path)
        if package is None:
            continue
        is_source = os.path.isfile(path) and os.path.basename(path) != "BUILD.bazel"
        labels.add(f"//{package}:{os.path.relpath(path, package or '.') if is_source else '*'}")
    return sorted(labels)


def main(changed, targets):
    with open(changed, encoding="utf-8") as names:
        paths = names.read().splitlines()
    if any(EVERYTHING.match(path) for path in paths):
        print("all")
        return
    labels = " ".join(f"'{label}'" for label in labels_of(paths))
    those = " ".join(targets)
    # A file that no target names is no error: --keep_going passes it over.
    query = f"tests(set({those})) intersect rdeps(set({those}), set({labels}))"
    done = subprocess.run(["bazel", "query", "--keep_going", "--noshow_progress", query],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                          stdin=subprocess.DEVNULL, check=False)
    if done.returncode not in (0, 3):
        print("all")
        return
    print(done.stdout, end="")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
