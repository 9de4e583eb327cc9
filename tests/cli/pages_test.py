#!/usr/bin/env python3
"""What pages show is what the program does: their commands, output, tables and sums.

usage: pages_test.py RANKBOX TRAIN

- Every command of every page has an existing subcommand, options and exercise. Those that are quick
  run, in a copy of the project: comparisons without data, training with few samples.
- A block that begins with "$ ./rankbox …" is the output of that command, as is a block after the
  marker <!-- ./rankbox … -->. A line "…" stands for any number of lines. With "# example" behind
  the command, its times are of some machine: numbers may differ, but for virtual times and costs.
- Markers before tables: <!-- times: ./rankbox compare … --> has virtual times for the sizes (and
  ranks) of its columns, <!-- costs: … --> closed forms, <!-- formulas: p = 4 --> formulas and their
  values, <!-- schedules: --ranks 4 --segments 8 --> idle time and messages of pipelines,
  <!-- clusters --> the parameters of presets. A marker after a paragraph,
  <!-- 369 µs: ring, p = 8, n = 4 MiB -->, has a number of that paragraph, and which of the page's
  closed forms gives it, on the cluster laptop; native all_reduce or double_tree of all_reduce is
  what ./rankbox computes. <!-- h100-efa: 8.6 = call + latency --> has numbers that follow from a
  cluster's parameters (parameters_of), and with "h100-efa, n = 4 MiB" of a size.
- Other tables and blocks with times say where these come from.
- Equations between numbers hold.
"""

import itertools
import os
import re
import sys
import tomllib
import unittest

import pages
from page_program import (CHAPTERS, EXERCISES, MOST_RANKS, PAGES, ROOT, all_blocks, all_commands,
                          comparison_of, has_option, help_of, put_programs_in_place, ranks_of, run,
                          without)
from page_tables import SumsTest, TablesTest  # noqa: F401  (unittest finds them here)

# What stands for a word of the reader's.
PLACEHOLDER = re.compile(r"\[?-*[A-Z_]{1,}\]?|new\|check|[a-z]+/|broadcast_star")
# Options of other programs.
OF_OTHERS = {"--bind-to", "--config", "--gpus", "--ipc", "--kill-on-bad-exit", "--network",
             "--mine-library", "--shm-size", "--test_filter", "--unshallow", "--wrap"}


def quick(command):
    """The words of a command, or of a smaller one, that is quick and changes nothing; else None."""
    words = command.words
    if "--svg" in words:
        return None  # PicturesTest runs it
    if any(word in ("--mine", "--mine-unchecked", "--data", "--resume", "--replay", "--help")
           and words[words.index(word) + 1] != "none" for word in words):
        return None
    if words[:1] == ["compare"] and len(words) > 1:
        ranks = [rank for rank in ranks_of(words) if rank <= MOST_RANKS]
        return [*comparison_of(words), *(["--ranks", ",".join(map(str, ranks))] if ranks else [])]
    if words[:1] == ["train"]:
        words = without(words, "--backend", "--epochs", "--samples", "--ranks", "--batch", "--mine")
        ranks = [] if len(words) == 1 or "single" in words else ["--ranks", "4"]
        # Enough for several batches a step, and for a warm-up.
        samples = "1280" if "--warmup-steps" in words else "256"
        return [*words, *ranks, "--samples", samples, "--epochs", "1", "--mine", "none",
                "--no-timeline"]
    # Each takes a second, so those with no more options than an exercise are read alone.
    if words[:1] == ["show"] and words[1] in EXERCISES and "--solution" in words[:-1]:
        if all(ranks <= MOST_RANKS for ranks in ranks_of(words)):
            return words
        return [*without(words, "--ranks"), "--ranks", str(MOST_RANKS)]
    if words[:1] == ["race"] and len(words) > 1 and "FILE" not in words:
        return words
    if words in ([], ["list"], ["list", "--json"]):
        return words
    return None


class CommandsTest(unittest.TestCase):
    def test_they_exist(self):
        found = list(all_commands())
        self.assertGreater(len(found), 150)
        for command in found:
            with self.subTest(command.place, words=command.words):
                self.check(command)

    def check(self, command):
        words = command.words
        if command.program != "./rankbox":
            # A backend's program has the options of its subcommand.
            words = [command.program.split("-")[1], *words]
        if not words or PLACEHOLDER.fullmatch(words[0]):
            return
        if words[0] != "test":
            self.assertRegex(help_of(""), rf"(?m)^  {words[0]} ")
        if words[0] in ("test", "gpu"):
            return  # the script has them
        text = "".join(map(help_of, ("dev new", "dev check") if words[0] == "dev" else words[:1]))
        for word in words[1:]:
            if re.match(r"--?[a-z]", word):
                self.assertTrue(has_option(text, word.split("=")[0]), word)
        named = words[1] if len(words) > 1 else ""
        if words[0] in ("check", "show", "hint", "reset", "watch") and named[:1] not in ("-", ""):
            self.assertTrue(named in EXERCISES | CHAPTERS or PLACEHOLDER.fullmatch(named), named)
        for word in words:
            if "=" in word and not word.startswith("-"):
                name = word.split("=")[0]
                self.assertTrue(name in EXERCISES or name == "NAME", word)

    def test_options_in_prose_exist(self):
        subcommands = re.findall(r"(?m)^  ([a-z]+)  ", help_of("").split("Subcommands:")[1])
        subcommands = [each for each in subcommands if each not in ("test", "dev")]
        known = "".join(map(help_of, [*subcommands, "dev new", "dev check"]))
        count = 0
        for page, text in PAGES.items():
            if page.startswith("docs/pytorch/"):
                continue  # its options are those of PyTorch's programs
            for option in re.findall(r"`(--[a-z][\w-]*)", pages.FENCE.sub("", text)):
                with self.subTest(page, option=option):
                    count += 1
                    self.assertTrue(has_option(known, option) or option in OF_OTHERS, option)
        self.assertGreater(count, 100)

    def test_quick_ones_run(self):
        found = {tuple(words): command.place for command in all_commands()
                 if (words := quick(command)) is not None}
        self.assertGreater(len(found), 50)
        third = os.environ.get("RANKBOX_THIRD")
        for i, (words, place) in enumerate(found.items()):
            if third is not None and i % 3 != int(third):
                continue
            with self.subTest(place, words=words):
                code, output = run(*words)
                # A stub of race loses updates.
                expected = 1 if words[:1] == ("race",) and words[1].endswith(".cc") else 0
                self.assertEqual(code, expected, f"{place}: {output[-2000:]}")


class PicturesTest(unittest.TestCase):
    """Pictures are what the commands beside them draw."""

    def test_each_is_drawn_by_a_command_of_the_page_that_shows_it(self):
        drawn = set()
        for command in all_commands():
            if "--svg" not in command.words or "docs/pictures/" not in " ".join(command.words):
                continue
            at = command.words.index("--svg") + 1
            path = ROOT / command.words[at]
            with self.subTest(command.place, words=command.words):
                again = path.with_suffix(".again")
                words = list(command.words)
                words[at] = str(again.relative_to(ROOT))
                code, text = run(*words)
                self.assertEqual(code, 0, text)
                self.assertEqual(again.read_bytes(), path.read_bytes())
                page = command.place.rsplit(":", 1)[0]
                self.assertRegex(PAGES[page], rf"!\[[^]]+\]\(\S*pictures/{path.name}\)")
                drawn.add(path.name)
        self.assertEqual(drawn, {path.name for path in (ROOT / "docs/pictures").glob("*.svg")})

    def test_each_link_to_one_leads_to_a_file(self):
        shown = 0
        for page, text in PAGES.items():
            for link in re.findall(r"!\[[^]]+\]\((?!http)([^)]+)\)", text):
                self.assertTrue((ROOT / page).parent.joinpath(link).exists(), f"{page}: {link}")
                shown += 1
        self.assertGreater(shown, 6)


class OutputTest(unittest.TestCase):
    def setUp(self):
        """The reader's files at the places where pages show output."""
        run()  # before anything is checked
        for block in all_blocks():
            if block.language == "cpp" and any("rank_main(" in line for line in block.lines):
                name = re.findall(r"Save this as\s+`(\w+\.cc)`", block.section)[-1]
                (ROOT / name).write_text("\n".join(block.lines), encoding="utf-8")
        sources = [block.lines for block in pages.blocks("README.md", PAGES["README.md"])
                   if block.language == "cpp"]
        self.ping_pong = "\n".join(['#include "collectives/ping_pong.h"', "namespace rankbox {",
                                    *sources[-1], "}", ""])

    def test_blocks_are_what_commands_print(self):
        count = 0
        for block in all_blocks():
            marked = block.marker.startswith("./rankbox")
            first = block.lines[0] if block.lines else ""
            if not marked and not first.startswith("$ ./rankbox"):
                continue
            command = pages.command_in(block.marker if marked else first, block.place)
            shown = block.lines if marked else block.lines[1:]
            shown = list(itertools.takewhile(lambda line: not line.startswith("$ "), shown))
            if not shown:
                continue  # no output is shown
            count += 1
            with self.subTest(block.place, words=command.words):
                self.compare(command, shown if not marked else [*shown, "…"],
                             is_example="# example" in first)
        self.assertGreater(count, 9)

    def output_of(self, words):
        own = ROOT / "exercises/01_ranks_and_races/ping_pong.cc"
        ring = ROOT / "exercises/04_allreduce/allreduce_ring.cc"
        stubs = {path: path.read_text(encoding="utf-8") for path in (own, ring)}
        if words == ["check", "ping_pong"]:
            own.write_text(self.ping_pong, encoding="utf-8")
        elif words[:1] == ["compare"]:
            ring.write_text((ROOT / "solutions/04_allreduce/allreduce_ring.cc").read_text())
            words = [*words, "--iters", "1", "--warmup", "1", "-c", "0"]
        elif words[:1] == ["train"]:
            words = [*words, "--samples", "640", "--mine", "none"]
        elif words == ["grade", "class/"]:
            self.make_class()
        elif words[:2] == ["check", "zero1"]:
            text = (ROOT / "tests/mutants/zero1.toml").read_text(encoding="utf-8")
            kept = [each for each in tomllib.loads(text)["mutant"] if "in secret" in each["name"]]
            (ROOT / words[-1]).write_text(kept[0]["program"], encoding="utf-8")
        try:
            return run(*words)[1]
        finally:
            for path, text in stubs.items():
                path.write_text(text, encoding="utf-8")

    def make_class(self):
        """The folder of docs/grading.md: ada's are right, bob's are wrong, eve's is the stub."""
        course = "01_ranks_and_races"
        right = (ROOT / f"solutions/{course}/exchange.cc").read_text(encoding="utf-8")
        stubs = {name: (ROOT / f"exercises/{course}/{name}.cc").read_text(encoding="utf-8")
                 for name in ("ping_pong", "exchange")}
        files = {"ada/ping_pong": self.ping_pong, "ada/exchange": right,
                 "bob/ping_pong": self.ping_pong.replace("recv", "send"),
                 "bob/exchange": stubs["exchange"], "eve/ping_pong": stubs["ping_pong"]}
        for name, text in files.items():
            path = ROOT / "class" / f"{name}.cc"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def compare(self, command, shown, is_example):
        # A slow machine writes lines of progress into a log, which this is.
        output = re.sub(r"^graded \d+ of \d+ files\n", "", self.output_of(command.words),
                        flags=re.MULTILINE)
        # Examples may be broken into other lines.
        space = " " if is_example else "\n"

        def joined(lines):
            lines = numberless(lines) if is_example else lines
            return space.join(["", *(line.rstrip() for line in lines if line.strip()), ""])

        printed, at = joined(output.splitlines()), 0
        groups = split_at_dots(shown)
        for number, group in enumerate(groups):
            text = joined(group)
            found = printed.find(text, at)
            message = (f"{command.place} shows\n{text}\nand ./rankbox {' '.join(command.words)} "
                       f"prints\n{output}")
            self.assertGreaterEqual(found, 0, message)
            if number == 0:
                self.assertEqual(found, 0, f"something comes first: {message}")
            at = found + len(text) - 1
        if groups[-1]:
            self.assertEqual(printed[at:], space, f"{command.place}: more is printed: {output}")


# With its unit; or a digest.
NUMBER = re.compile(r"\b(?=\d*[a-f])[0-9a-f]{12}\b"
                    r"|\d[\d.,]*(?:e[-+]\d+)?(?: (?:ns|µs|ms|s|%)(?!\w))?")


def split_at_dots(lines):
    groups = [[]]
    for line in lines:
        if line.strip() == "…":
            groups.append([])
        else:
            groups[-1].append(line)
    return groups


def numberless(lines):
    """The lines of an example without what is of one machine. Virtual times remain."""
    kept, virtual = [], None
    for line in lines:
        title = re.search(r"GB/s(?= [\w-]+   steps)", line)
        virtual = title.end() if title else virtual if line.strip() else None
        here, there = (line, "") if virtual is None else (line[:virtual], line[virtual:])
        here = re.sub(r"( in  +).*", r"\1", here.replace(" (yours)", "") if not there else here)
        here = NUMBER.sub("#", here).replace(" cores", " core")
        kept.append((re.sub(r"[ *]+", " ", here) + there).strip())
    return kept


if __name__ == "__main__":
    put_programs_in_place()
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
