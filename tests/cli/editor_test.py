#!/usr/bin/env python3
"""What editors and terminals get: compile_commands.json, tasks of VS Code, the development
container, and texts within 80 columns. The project's folder has a space in its name.

usage: editor_test.py RANKBOX
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import project  # noqa: E402  (beside this file)

PROGRAM = pathlib.Path(sys.argv[1]).resolve()
ROOT = project.copy_of_project("a project")
REGISTRY = (ROOT / "exercises/registry.toml").read_text(encoding="utf-8")
EXERCISES = re.findall(r'\[\[exercise\]\]\nname = "(\w+)"\nchapter = "(\w+)"', REGISTRY)
DATABASE = ROOT / "compile_commands.json"


def rankbox(*arguments, columns=None):
    environment = {**os.environ, "NO_COLOR": "1"}
    environment.pop("COLUMNS", None)
    if columns:
        environment["COLUMNS"] = str(columns)
    run = subprocess.run([PROGRAM, *arguments], cwd=ROOT, env=environment, capture_output=True,
                         text=True, check=False)
    return run.stdout + run.stderr


def entries():
    return {entry["file"]: entry for entry in json.loads(DATABASE.read_text(encoding="utf-8"))}


def problem_matchers():
    """[(owner, its patterns)] of the tasks that check."""
    tasks = json.loads(pathlib.Path(".vscode/tasks.json").read_text(encoding="utf-8"))["tasks"]
    for task in tasks:
        matchers = task["problemMatcher"]
        for matcher in matchers if isinstance(matchers, list) else [matchers]:
            patterns = matcher["pattern"]
            yield matcher["owner"], patterns if isinstance(patterns, list) else [patterns]


def problems(owner, output):
    """{(file, line)} that the matchers of this owner find, as VS Code does: lines in a row."""
    found, lines = set(), output.splitlines()
    for patterns in [patterns for name, patterns in problem_matchers() if name == owner]:
        for start in range(len(lines) - len(patterns) + 1):
            fields = {}
            for pattern, line in zip(patterns, lines[start:]):
                match = re.search(pattern["regexp"], line)
                if not match:
                    break
                fields.update({field: match[group] for field, group in pattern.items()
                               if field != "regexp"})
            else:
                assert fields["message"], "VS Code drops a problem without a message"
                found.add((fields["file"], int(fields["line"])))
    return found


def line_of(path, text):
    lines = (ROOT / path).read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


class CompileCommandsTest(unittest.TestCase):
    def test_every_stub_and_solution_has_an_entry_with_the_flags_of_check(self):
        rankbox("list")
        listed = entries()
        self.assertGreater(len(EXERCISES), 50)
        for name, chapter in EXERCISES:
            for folder in ("exercises", "solutions"):
                entry = listed[f"{folder}/{chapter}/{name}.cc"]
                self.assertEqual(entry["directory"], str(ROOT))
                self.assertEqual(entry["arguments"][-1], entry["file"])
        self.assertNotIn("mpi/communicator.cc", listed)

    def test_entries_compile(self):
        rankbox("list")
        test = ROOT / "tests/02_broadcast/mine_test.cc"
        test.parent.mkdir(parents=True, exist_ok=True)
        test.write_text('#include "collectives/broadcast_ring.h"\n', encoding="utf-8")
        rankbox("list")
        for path in ("exercises/02_broadcast/broadcast_ring.cc",
                     "solutions/06_data_parallel/ddp_overlap.cc",
                     "tests/02_broadcast/mine_test.cc"):
            entry = entries()[path]
            compilers = [entry["arguments"][0]]
            # What clangd is made of; one file shows whether it takes the flags.
            if path.startswith("exercises/") and shutil.which("clang++"):
                compilers.append("clang++")
            for compiler in compilers:
                run = subprocess.run([compiler, *entry["arguments"][1:], "-fsyntax-only"],
                                     cwd=entry["directory"], capture_output=True, text=True,
                                     check=False)
                self.assertEqual((run.returncode, run.stderr), (0, ""), f"{compiler} {path}")
        test.unlink()

    def test_it_is_renewed_when_sources_come_or_go_and_only_then(self):
        rankbox("list")
        before = DATABASE.stat().st_mtime_ns
        rankbox("list")
        self.assertEqual(DATABASE.stat().st_mtime_ns, before)
        mine = ROOT / "my program.cc"
        mine.write_text("", encoding="utf-8")
        rankbox("next")
        self.assertIn("my program.cc", entries())
        mine.unlink()
        rankbox("next")
        self.assertNotIn("my program.cc", entries())

    def test_a_folder_that_cannot_be_written_to_is_no_error(self):
        DATABASE.unlink(missing_ok=True)
        DATABASE.mkdir()
        self.assertIn("broadcast_ring", rankbox("list"))
        DATABASE.rmdir()


class ProblemMatcherTest(unittest.TestCase):
    def test_each_finds_the_place_that_check_prints(self):
        stub = "exercises/01_ranks_and_races/exchange.cc"
        send = line_of(stub, "dist.send(")
        output = rankbox("check", stub, columns=1000)
        self.assertEqual(problems("rankbox", output), {(stub, send)}, output)
        self.assertEqual(problems("rankbox-ranks", output), {(stub, send)}, output)

        stub = "exercises/02_broadcast/broadcast_ring.cc"
        # A header that is open stands for its exercise.
        output = rankbox("check", "collectives/broadcast_ring.h", columns=1000)
        place = {(stub, line_of(stub, "throw NotImplemented"))}
        self.assertEqual(problems("rankbox-to-do", output), place, output)
        self.assertEqual(problems("rankbox", output), set(), output)

        text = (ROOT / stub).read_text(encoding="utf-8")
        (ROOT / stub).write_text(text.replace("throw NotImplemented", "thorw NotImplemented"),
                                 encoding="utf-8")
        output = rankbox("check", stub, columns=1000)
        (ROOT / stub).write_text(text, encoding="utf-8")
        self.assertEqual(problems("rankbox-compiler", output), place, output)
        self.assertEqual(problems("rankbox", output), place, output)

    def test_watch_says_when_it_begins_and_ends(self):
        tasks = json.loads(pathlib.Path(".vscode/tasks.json").read_text(encoding="utf-8"))["tasks"]
        background = [task["problemMatcher"]["background"] for task in tasks
                      if task.get("isBackground")][0]
        bar = next(line for line in rankbox().splitlines() if "░" in line)
        self.assertRegex(bar, background["endsPattern"])
        self.assertRegex("\033[2J\033[Hchecking exercises/a.cc …", background["beginsPattern"])

    def test_tasks_call_subcommands_that_exist(self):
        tasks = json.loads(pathlib.Path(".vscode/tasks.json").read_text(encoding="utf-8"))["tasks"]
        for task in tasks:
            self.assertEqual(task["command"], "${workspaceFolder}/rankbox")
            self.assertIn(f"./rankbox {task['args'][0]}", rankbox(task["args"][0], "--help"))


class WidthTest(unittest.TestCase):
    def assert_fits(self, output, columns):
        self.assertTrue(output.strip())
        for line in output.splitlines():
            # A word that cannot be broken, or a command, which has to stay whole.
            whole = " " not in line.strip() or line.strip().startswith("./rankbox")
            self.assertTrue(len(line) <= columns or whole, f"{len(line)} columns: {line}")

    def test_no_line_is_wider_than_80_columns(self):
        for arguments in [(), ("list",), ("list", "ring"), ("next",), ("hint", "broadcast_ring"),
                          ("hint", "broadcast_ring", "--all"), ("check", "broadcast_ring"),
                          ("check", "exchange"), ("check", "09_sharding"),
                          ("reset", "broadcast_ring"), ("show", "exchange"),
                          ("show", "zero3", "--solution"), ("race", "--runs", "3"),
                          ("race", "exercises/01_ranks_and_races/race.cc"),
                          ("compare", "--list-clusters"),
                          ("compare", "--virtual", "--ranks", "2,4", "--sizes", "1K,1M"),
                          ("compare", "--ranks", "2", "--sizes", "1K", "--iters", "1")]:
            with self.subTest(arguments):
                self.assert_fits(rankbox(*arguments, columns=80), 80)

    def test_a_passing_check_fits_too(self):
        stub = ROOT / "exercises/01_ranks_and_races/ping_pong.cc"
        text = stub.read_text(encoding="utf-8")
        shutil.copy(ROOT / "solutions/01_ranks_and_races/ping_pong.cc", stub)
        output = rankbox("check", "ping_pong", columns=80)
        stub.write_text(text, encoding="utf-8")
        self.assertIn("our answer", output)
        self.assert_fits(output, 80)


class FindTest(unittest.TestCase):
    def names(self, *words):
        return {entry["name"] for entry in json.loads(rankbox("list", *words, "--json"))}

    def test_list_finds_by_name_chapter_and_description(self):
        everything = {name for name, _ in EXERCISES}
        self.assertEqual(self.names(), everything)
        self.assertEqual(self.names("04_allreduce"),
                         {name for name, chapter in EXERCISES if chapter == "04_allreduce"})
        self.assertEqual(self.names("MIXED"),
                         {name for name, chapter in EXERCISES if chapter == "07_mixed_precision"})
        self.assertEqual(self.names("allreduce", "ring"),
                         {name for name, chapter in EXERCISES
                          if chapter == "04_allreduce" and "ring" in name})
        self.assertIn("sync_batch_norm", self.names("batch norm"))
        self.assertEqual(self.names("no such thing"), set())
        self.assertIn("'xyzzy'", rankbox("list", "xyzzy"))

    def test_list_and_next_name_the_header_and_hours(self):
        for entry in json.loads(rankbox("list", "--json")):
            header = (ROOT / entry["header"]).read_text(encoding="utf-8")
            self.assertIn(f"{entry['name']}(", header)
            self.assertGreater(entry["hours"], 0)
            stub = (ROOT / entry["file"]).read_text(encoding="utf-8")
            # The stub begins with the header's name.
            self.assertEqual(stub.splitlines()[0], f'#include "{entry["header"]}"')
        self.assertIn("about 3 hours; headers: collectives/NAME.h", rankbox("list"))

    def test_next_is_the_first_exercise_and_then_the_one_checked_last(self):
        (ROOT / ".rankbox/progress.json").unlink(missing_ok=True)
        self.assertEqual(json.loads(rankbox("next", "--json")), {
            "name": "race", "chapter": "01_ranks_and_races",
            "page": "exercises/01_ranks_and_races/README.md", "header": "collectives/race.h",
            "file": "exercises/01_ranks_and_races/race.cc", "command": "./rankbox check race"})
        output = rankbox("check", "broadcast_ring")
        self.assertIn("header: collectives/broadcast_ring.h", output)
        following = rankbox("next")
        for part in ("Go on: broadcast_ring", "collectives/broadcast_ring.h",
                     "exercises/02_broadcast/broadcast_ring.cc", "./rankbox check broadcast_ring"):
            self.assertIn(part, following)
        self.assertIn(following, rankbox())

    def test_pages_say_the_hours_that_list_says(self):
        words = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight"]
        hours = {entry["chapter"]: entry["hours"]
                 for entry in json.loads(rankbox("list", "--json"))}
        readme = pathlib.Path("README.md").read_text(encoding="utf-8")
        for chapter, number in hours.items():
            page = (ROOT / "exercises" / chapter / "README.md").read_text(encoding="utf-8")
            page = " ".join(page.split())
            self.assertIn(f"The chapter takes about {words[number]} hours", page, chapter)
            contracts = re.search(rf'folder = "{chapter}"\n.*\ncontracts = "(\w+)"', REGISTRY)[1]
            self.assertIn(f"`{contracts}/NAME.h`", page, chapter)
            count = sum(1 for _, folder in EXERCISES if folder == chapter)
            self.assertIn(f"exercises/{chapter}/README.md) | {count} | {number} |", readme)


class ContainerTest(unittest.TestCase):
    def test_it_installs_the_lists_that_the_script_reads(self):
        folder = pathlib.Path(".devcontainer")
        settings = json.loads((folder / "devcontainer.json").read_text(encoding="utf-8"))
        dockerfile = (folder / settings["build"]["dockerfile"]).read_text(encoding="utf-8")
        self.assertEqual(settings["build"]["context"], "..")  # COPY's paths are from there
        copied = re.search(r"(?s)COPY (.*?)/tmp", dockerfile)[1].replace("\\", " ").split()
        lists = list(pathlib.Path("bazel").glob("packages*.txt"))
        self.assertEqual(sorted(copied), sorted(map(str, lists)))
        # What its sed makes of them is what the script's sed does.
        script = re.search(r"RUN (sed .*?)>/tmp/names", dockerfile)[1]
        script = script.replace("/tmp/packages", "bazel")
        listed = set()
        for path in lists:
            lines = path.read_text(encoding="utf-8").splitlines()
            listed |= {line.split("#")[0].strip() for line in lines} - {""}
        found = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True)
        self.assertEqual(set(found.stdout.split()), listed)
        self.assertRegex(dockerfile, rf"(?m)^USER {settings['remoteUser']}$")

    def test_json_files_parse(self):
        for name in (".vscode/tasks.json", ".vscode/extensions.json",
                     ".devcontainer/devcontainer.json"):
            self.assertTrue(json.loads(pathlib.Path(name).read_text(encoding="utf-8")), name)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
