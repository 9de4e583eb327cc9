"""Writes sources that include other sources, so that several are compiled as one.

usage: batch.py OUTPUT... -- SOURCE...

Each source goes to the first output that defines none of its names; see local_names.py.
"""

import sys

from local_names import clashes, local_names


def assign(sources, count):
    """The sources of each of `count` outputs. Raises ValueError if one fits none of them."""
    batches = [([], {}) for _ in range(count)]
    for source in sources:
        names = local_names(source)
        for files, taken in batches:
            clash = clashes(names, taken)
            if not clash:
                break
        else:
            raise ValueError(
                f"{source} defines {', '.join(clash)}, as another source does: rename it, or set "
                f"parts = {count + 1} in its batched_library (of tests: in batch.bzl)")
        files.append(source)
        taken.update(names)
    return [files for files, _ in batches]


def main(outputs, sources):
    try:
        batches = assign([source for source in sources if source.endswith(".cc")], len(outputs))
    except ValueError as error:
        sys.exit(f"batch: {error}")
    for output, files in zip(outputs, batches):
        with open(output, "w", encoding="utf-8") as out:
            out.writelines(f'#include "{file}"\n' for file in files)


if __name__ == "__main__":
    separator = sys.argv.index("--")
    main(sys.argv[1:separator], sys.argv[separator + 1:])
