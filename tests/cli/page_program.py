"""The program whose pages are read, run in a copy of the project."""

import functools
import itertools
import json
import os
import pathlib
import re
import subprocess
import sys
import tomllib

import pages
import project

PROGRAM = pathlib.Path(sys.argv[1]).resolve()
TRAIN = pathlib.Path(sys.argv[2]).resolve()
ROOT = project.copy_of_project()
PAGES = pages.pages(ROOT)
REGISTRY = tomllib.loads((ROOT / "exercises/registry.toml").read_text(encoding="utf-8"))
EXERCISES = {exercise["name"] for exercise in REGISTRY["exercise"]}
CHAPTERS = {chapter["folder"] for chapter in REGISTRY["chapter"]}

# Examples are of a machine with this many cores. A world of more ranks is measured otherwise.
CORES = sorted(os.sched_getaffinity(0))[:2]
MOST_RANKS = 64  # of a world that runs here


def run(*words):
    """(exit code, output) of the program. Equal commands run once."""
    return run_once(tuple(words))


@functools.lru_cache(maxsize=None)
def run_once(words):
    done = subprocess.run([PROGRAM, *words], cwd=ROOT, text=True, check=False, timeout=120,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT,
                          preexec_fn=lambda: os.sched_setaffinity(0, CORES),
                          env={**os.environ, "NO_COLOR": "1", "LC_ALL": "C.UTF-8"})
    return done.returncode, done.stdout


def help_of(subcommand):
    code, text = run(*subcommand.split(), "--help")
    assert code == 0, text
    return text


def has_option(text, option):
    return re.search(rf"(?<![\w-]){re.escape(option)}(?![\w-])", text)


def without(words, *options):
    """The words without these options and their values."""
    kept, skips = [], False
    for word in words:
        if skips:
            skips = False
        elif word in options:
            skips = True
        else:
            kept.append(word)
    return kept


def comparison_of(words):
    """The words of a comparison that takes no times."""
    words = without(words, "--backend", "--bundle", "--json", "--plot", "--mine", "--ranks")
    words = [word for word in words if word != "--virtual"]
    return [*words, "--virtual", "--mine", "none", "--json", "-"]


def ranks_of(words):
    ranks = words[words.index("--ranks") + 1] if "--ranks" in words else ""
    return [int(rank) for rank in ranks.split(",") if rank]


def compare(words, ranks=()):
    """The rows of a comparison."""
    worlds = ["--ranks", ",".join(map(str, ranks))] if ranks else []
    code, output = run(*comparison_of(words), *worlds)
    assert code == 0, output
    return json.loads(output)["results"]


def all_blocks():
    return itertools.chain(*(pages.blocks(page, text) for page, text in PAGES.items()))


def all_tables():
    return itertools.chain(*(pages.tables(page, text) for page, text in PAGES.items()))


def all_commands():
    return itertools.chain(*(pages.commands(page, text) for page, text in PAGES.items()))


def put_programs_in_place():
    """The script has nothing to build, and finds the program that trains. Nothing is solved yet."""
    (ROOT / ".rankbox/progress.json").unlink(missing_ok=True)
    (ROOT / "rankbox").write_text("#!/bin/sh\n", encoding="utf-8")
    (ROOT / "rankbox").chmod(0o755)
    place = ROOT / ".rankbox/bin/rankbox-train-sim"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(TRAIN)
