#!/usr/bin/env python3
"""Grades a class of made-up submissions, and measures it: 200 students of 10 exercises.

    bench/grade_class.py [--students N] [--jobs N] [--seed N] [--kill] [--keep DIR] [-- OPTIONS…]

Each submission is a solution, a variant (tests/variants), a mutant (tests/mutants) or a stub, with
a comment that makes its bytes its own: real files are seldom equal, and equal ones are graded once.
Grades them with ./rankbox grade, compares each status with what was handed in, and prints the time
a file. With --kill the run is killed at a random moment, resumed, and compared with a whole one.
OPTIONS are passed on to grade: --unsealed.

Exits 0 when every status is as expected (and the resumed result is the same), 1 otherwise.
"""

import argparse
import json
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
EXERCISES = ["ping_pong", "exchange", "broadcast_tree", "broadcast_ring", "reduce_tree",
             "allreduce_ring", "allreduce_butterfly", "allgather_ring", "scatter_tree",
             "reduce_scatter_ring"]


def mutants_of(name, solution):
    """Wrong programs, as cli/dev/mutants.h reads them. Those that run into the time limit are left
    out: ten seconds each would measure the limit."""
    text = (ROOT / f"tests/mutants/{name}.toml").read_text(encoding="utf-8")
    for mutant in tomllib.loads(text)["mutant"]:
        if "timeout" in mutant["kind"]:
            continue
        program = mutant.get("program")
        if program is None:
            program = solution
            for edit in mutant.get("edits", [mutant]):
                program = program.replace(edit["find"], edit["replace"])
        yield program


def programs_of(name):
    """[(text, expected statuses)] for one exercise."""
    (solution_path,) = ROOT.glob(f"solutions/*/{name}.cc")
    (stub_path,) = ROOT.glob(f"exercises/*/{name}.cc")
    solution = solution_path.read_text(encoding="utf-8")
    # The stub of `exchange` is a complete program that hangs.
    programs = [(solution, ["pass"]),
                (stub_path.read_text(encoding="utf-8"), ["not_implemented", "fail"])]
    programs += [(path.read_text(encoding="utf-8"), ["pass"])
                 for path in sorted(ROOT.glob(f"tests/variants/{name}/*.cc"))]
    programs += [(text, ["fail"]) for text in mutants_of(name, solution)]
    return programs


def make_class(folder, students, seed):
    """Writes the submissions. Returns {(student, exercise): expected statuses}."""
    draw = random.Random(seed)
    programs = {name: programs_of(name) for name in EXERCISES}
    expected = {}
    for i in range(students):
        student = f"student{i:03}"
        (folder / student).mkdir(parents=True)
        for name in EXERCISES:
            text, statuses = draw.choice(programs[name])
            (folder / student / f"{name}.cc").write_text(f"// by {student}\n#line 1\n{text}",
                                                         encoding="utf-8")
            expected[student, name] = statuses
    return expected


def command(folder, state, options):
    return [ROOT / "rankbox", "grade", folder, "--state", state, "--format", "json", *options]


def grade(folder, state, options):
    """The report as JSON, and the seconds it took."""
    begin = time.monotonic()
    done = subprocess.run(command(folder, state, options), stdout=subprocess.PIPE, cwd=ROOT,
                          check=False)
    if not done.stdout:
        sys.exit(f"grade wrote nothing, and exited with {done.returncode}")
    return json.loads(done.stdout), time.monotonic() - begin


def kill_once(folder, state, options, seconds):
    """Starts grading, and kills it after so many seconds. Returns whether it was still running."""
    running = subprocess.Popen(command(folder, state, options), stdout=subprocess.DEVNULL, cwd=ROOT)
    try:
        running.wait(timeout=seconds)
        return False
    except subprocess.TimeoutExpired:
        running.kill()
        running.wait()
        return True


def without_times(value):
    if isinstance(value, dict):
        return {name: without_times(each) for name, each in value.items() if name != "seconds"}
    return [without_times(each) for each in value] if isinstance(value, list) else value


def surprises(report, expected):
    for student in report["students"]:
        for one in student["exercises"]:
            wanted = expected[student["id"], one["exercise"]]
            if one["status"] not in wanted:
                yield (f"{student['id']} {one['exercise']}: {one['status']} instead of "
                       f"{' or '.join(wanted)}: {one['reason']}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--students", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kill", action="store_true")
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("options", nargs="*")
    chosen = parser.parse_args()
    options = chosen.options + ["--salt", str(chosen.seed)]
    if chosen.jobs:
        options += ["--jobs", str(chosen.jobs)]

    top = chosen.keep or pathlib.Path(tempfile.mkdtemp())
    folder = top / "class"
    expected = make_class(folder, chosen.students, chosen.seed)
    report, seconds = grade(folder, top / "state.jsonl", options)
    wrong = list(surprises(report, expected))
    print("\n".join(wrong[:50]))
    print(f"{len(expected)} files in {seconds:.0f} s, {seconds / len(expected):.2f} s a file; "
          f"{len(wrong)} not as expected")
    same = True
    if chosen.kill:
        state = top / "killed.jsonl"
        moment = random.uniform(0, 0.9 * seconds)
        killed = kill_once(folder, state, options, moment)
        resumed, rest = grade(folder, state, options)
        same = without_times(resumed) == without_times(report)
        print(f"killed after {moment:.0f} s{'' if killed else ' (it was done)'}, resumed in "
              f"{rest:.0f} s: {'the same result' if same else 'ANOTHER RESULT'}")
    if not chosen.keep:
        shutil.rmtree(top)
    sys.exit(0 if same and not wrong else 1)


if __name__ == "__main__":
    main()
