#!/usr/bin/env python3
"""A learner's ring all-reduce, a copy of the reference, beside the reference, on two ranks.

    bench/yours_peer.py time BACKEND BYTES    seconds of yours and of the reference, in one run
    bench/yours_peer.py loop BACKEND BYTES    seconds of the whole command, from save to table
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


def compare(backend, size, ranks):
    solution = (ROOT / "solutions/04_allreduce/allreduce_ring.cc").read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        mine = pathlib.Path(folder) / "allreduce_ring.cc"
        mine.write_text(solution + f"// saved at {time.time()}\n", encoding="utf-8")
        command = [ROOT / "rankbox", "compare", "--backend", backend, "--ranks", ranks,
                   "--sizes", size, "--algorithms", "ring", "--mine", f"allreduce_ring={mine}",
                   "--json", "-"]
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                              check=True)
    return json.loads(done.stdout)["results"]


def main():
    what, backend, size = sys.argv[1:]
    begin = time.perf_counter()
    rows = compare(backend, size, 2 if what == "time" else 4)
    if what == "loop":
        print(time.perf_counter() - begin)
        return
    seconds = {row["whose"]: row["time_us"]["median"] / 1e6 for row in rows}
    print(seconds["yours"], seconds["reference"])


if __name__ == "__main__":
    main()
