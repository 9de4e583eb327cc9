#!/usr/bin/env python3
"""docs/seeds.md names pages, exercises and scripts, which must exist. Commands: pages_test.py."""

import pathlib
import re
import sys
import unittest

PAGE = pathlib.Path("docs/seeds.md")


def rows():
    """The four cells of each concept."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    tables = [re.split(r" \| ", line.strip("| ")) for line in lines if line.startswith("| ")]
    return [cells for cells in tables if cells[0] != "concept"]


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

    def test_scripts_and_their_options_exist(self):
        """Options are in a script's source; //tests/pytorch:pytorch_test runs the scripts."""
        scripts = [cells[3].strip("`").split()[1:] for cells in rows()
                   if cells[3].startswith("`python3 ")]
        self.assertGreater(len(scripts), 3)
        for path, *words in scripts:
            script = pathlib.Path(path)
            self.assertTrue(script.is_file(), path)
            shared = [script.with_name(name) for name in ("ddp.py", "rankbox_same.py")]
            source = "".join(file.read_text(encoding="utf-8") for file in [script, *shared])
            for option in words:
                if option.startswith("--"):
                    self.assertIn(f'"{option}"', source, path)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
