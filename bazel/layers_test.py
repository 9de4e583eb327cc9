#!/usr/bin/env python3
"""The tree keeps to bazel/layers.py; and the check finds what does not."""

import os
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, HERE)

import layers  # noqa: E402  (beside this file)

ROWS = [("low", []), ("high", ["low"]), ("high/inner", ["low"]), ("top", layers.ALL), ("tests", [])]


class LayersTest(unittest.TestCase):
    def problems(self, files):
        """Of a tree with these files, as FILE:LINE."""
        with tempfile.TemporaryDirectory() as root:
            for name, text in files.items():
                os.makedirs(os.path.join(root, os.path.dirname(name)), exist_ok=True)
                with open(os.path.join(root, name), "w", encoding="utf-8") as file:
                    file.write(text)
            return [":".join(line.split(":")[:2]) for line in layers.check(root, ROWS)]

    def test_the_tree_keeps_to_its_layers(self):
        self.assertEqual(layers.check(os.path.dirname(HERE)), [])

    def test_only_arrows_that_a_row_allows_pass(self):
        for name, include, passes in [
            ("high/a.h", "low/x.h", True),
            ("high/a.h", "high/x.h", True),
            ("top/a.cu", "high/inner/x.h", True),
            ("top/a.h", "fmt/format.h", True),
            ("low/a_test.cc", "tests/x.h", True),
            ("low/a.h", "high/x.h", False),  # no BUILD file, no user: found all the same
            ("low/deep/a_test.cc", "high/x.h", False),
            ("high/inner/a.cc", "high/x.h", False),
            ("high/a.cc", "high/inner/x.h", False),
            ("high/a.cc", "top/x.h", False),
            ("top/a.cc", "tests/x.h", False),
            ("unknown/a.cc", "low/x.h", False),
        ]:
            with self.subTest(name=name, include=include):
                folders = ["low", "high", "high/inner", "top", "tests"]
                tree = {f"{folder}/x.h": "" for folder in folders}
                tree[name] = f'#pragma once\n#include "{include}"\n'
                line = 1 if name.startswith("unknown") else 2
                self.assertEqual(self.problems(tree), [] if passes else [f"{name}:{line}"])

    def test_files_of_more_than_400_lines_are_found(self):
        self.assertEqual(self.problems({"low/a.py": "\n" * 400, "low/data.csv": "\n" * 401}), [])
        self.assertEqual(self.problems({"low/a.py": "\n" * 401}), ["low/a.py:401"])

    def test_a_row_cannot_name_one_that_stands_above_it(self):
        for rows in [[("a", ["b"]), ("b", [])], [("a", ["a"])], [("a", ["missing"])]]:
            with self.assertRaises(ValueError):
                layers.allowed(rows)


if __name__ == "__main__":
    unittest.main()
