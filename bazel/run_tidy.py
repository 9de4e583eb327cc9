"""Runs clang-tidy on files, several at a time, and notes which passed.

usage: run_tidy.py CLANG_TIDY CACHE <LINES        each line "KEY<tab>FILE<tab>LIBRARIES<tab>FLAGS"

A file that passes leaves CACHE/KEY. Exits with 1 if one does not; its findings are printed.

The headers that all files include are the larger part of the work, so files are checked in batches,
each one source that includes them all. Files that need the same libraries share a batch. Only a
batch without findings counts as passed. A batch with findings, or with clashing names, is split in
halves, which are checked separately.
"""

import concurrent.futures
import itertools
import operator
import os
import re
import subprocess
import sys
import tempfile
import typing

from local_names import clashes, local_names, types_of_headers

BATCH = 24

# What clang-tidy says of warnings that it does not show.
NOISE = re.compile(r"warnings? generated|^Suppressed|^Use -header-filter")


class Source(typing.NamedTuple):
    key: str
    file: str
    libraries: str
    flags: str


class Tidy(typing.NamedTuple):
    command: str
    cache: str

    def run(self, file, flags, *options):
        command = [self.command, "--quiet", "--warnings-as-errors=*", *options, file, "--",
                   *flags.split()]
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              check=False)

    def passed(self, sources):
        for source in sources:
            with open(os.path.join(self.cache, source.key), "w", encoding="utf-8"):
                pass

    def check_one(self, source):
        """Whether it passes; prints its findings."""
        result = self.run(source.file, source.flags)
        if result.returncode == 0:
            self.passed([source])
            return True
        lines = [line for line in result.stdout.splitlines() if not NOISE.search(line)]
        print("\n".join(lines), flush=True)
        return False

    def check_batch(self, batch):
        if len(batch) == 1:
            return self.check_one(batch[0])
        # In the cache's folder: clang-tidy looks for .clang-tidy from the file's own upwards.
        with tempfile.NamedTemporaryFile("w", suffix=".cc", dir=self.cache) as together:
            together.writelines(f'#include "{source.file}"\n' for source in batch)
            together.flush()
            result = self.run(together.name, batch[0].flags,
                              "--checks=-bugprone-suspicious-include")
        if result.returncode == 0:
            self.passed(batch)
            return True
        return all([self.check_batch(batch[::2]), self.check_batch(batch[1::2])])


def batches_of(sources):
    """Files of the same flags, without names in common as far as local_names.py finds them."""
    flags = operator.attrgetter("flags")
    by_libraries = operator.attrgetter("flags", "libraries")
    for _, group in itertools.groupby(sorted(sources, key=by_libraries), key=flags):
        batches = []  # pairs of files and their names
        for source in group:
            names = types_of_headers(source.file) | local_names(source.file)
            for files, taken in batches:
                if len(files) < BATCH and not clashes(names, taken):
                    break
            else:
                batches.append((files := [], taken := {}))
            files.append(source)
            taken.update(names)
        yield from (files for files, _ in batches)


def main(command, cache):
    tidy = Tidy(command, cache)
    sources = [Source(*line.rstrip("\n").split("\t")) for line in sys.stdin]
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        return 0 if all(list(pool.map(tidy.check_batch, batches_of(sources)))) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
