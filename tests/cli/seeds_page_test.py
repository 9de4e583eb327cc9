#!/usr/bin/env python3
"""docs/seeds.md names pages, exercises and commands; all of them must exist.

usage: seeds_page_test.py RANKBOX
"""

import functools
import pathlib
import re
import subprocess
import sys
import unittest

PROGRAM = pathlib.Path(sys.argv[1]).resolve()
PAGE = pathlib.Path("docs/seeds.md")


def rows():
    """The four cells of each concept."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    tables = [re.split(r" \| ", line.strip("| ")) for line in lines if line.startswith("| ")]
    return [cells for cells in tables if cells[0] != "concept"]


@functools.lru_cache(maxsize=None)
def help_of(*command):
    return subprocess.run([PROGRAM, *command, "--help"], capture_output=True, text=True,
                          check=True).stdout


class SeedsPageTest(unittest.TestCase):
    def test_rows_have_four_cells(self):
        self.assertGreater(len(rows()), 30)
        for cells in rows():
            self.assertEqual(len(cells), 4, cells)

    def test_pages_exist(self):
        links = re.findall(r"\]\(([^)#]+)", PAGE.read_text(encoding="utf-8"))
        self.assertGreater(len(links), 10)
        for link in links:
            self.assertTrue((PAGE.parent / link).is_file(), link)
        for cells in rows():
            self.assertRegex(cells[1], r"^\[\w+\]\(", cells)

    def test_exercises_are_registered(self):
        registry = pathlib.Path("exercises/registry.toml").read_text(encoding="utf-8")
        known = set(re.findall(r'(?m)^name = "(\w+)"', registry))
        for _, _, exercises, _ in rows():
            names = re.findall(r"`(\w+)`", exercises)
            self.assertTrue(names or exercises == "–", exercises)
            self.assertLessEqual(set(names), known, exercises)

    def test_commands_and_their_options_exist(self):
        known = set(re.findall(r'(?m)^name = "(\w+)"',
                               pathlib.Path("exercises/registry.toml").read_text(encoding="utf-8")))
        for _, _, _, cell in rows():
            if cell == "–":
                continue
            words = cell.strip("`").split()
            if words[0] == "python3":
                self.check_script(words[1], [word for word in words if word.startswith("--")])
                continue
            self.assertEqual(words[0], "./rankbox", cell)
            # With --help, an unknown subcommand is no error.
            self.assertRegex(help_of(), rf"(?m)^  {words[1]} ", cell)
            text = help_of(words[1])
            for word in words[2:]:
                if word.startswith("--"):
                    self.assertRegex(text, rf"(?<![\w-]){word}(?![\w-])", cell)
            if words[1] in ("check", "show"):
                chapter = pathlib.Path("exercises", words[2], "README.md")
                self.assertTrue(words[2] in known or chapter.is_file(), cell)

    def check_script(self, path, options):
        """Its options are in its source; //tests/pytorch:pytorch_test runs the scripts."""
        script = pathlib.Path(path)
        self.assertTrue(script.is_file(), path)
        shared = [script.with_name(name) for name in ("ddp.py", "rankbox_same.py")]
        source = "".join(file.read_text(encoding="utf-8") for file in [script, *shared])
        for option in options:
            self.assertIn(f'"{option}"', source, path)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
