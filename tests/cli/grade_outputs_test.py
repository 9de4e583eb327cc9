#!/usr/bin/env python3
"""What `rankbox grade` writes about programs that say anything, read by strict parsers.

usage: grade_outputs_test.py RANKBOX
"""

import csv
import json
import os
import pathlib
import re
import subprocess
import sys
import unittest
import xml.etree.ElementTree

sys.path.insert(0, os.path.dirname(__file__))
from project import copy_of_project  # noqa: E402

PROGRAM = pathlib.Path(sys.argv[1]).resolve()

# Forbidden in XML, JSON, UTF-8 or a terminal, and what ends an element, a script or a cell.
BYTES = b"</script>]]>&\"',\v\f\x1b[31m \xed\xa0\x80 \xef\xbf\xbf \xc2\x9b \xff\x7f"
SHOWN = "\\x0b\\x0c\\x1b[31m \\xed\\xa0\\x80 \\xef\\xbf\\xbf \\xc2\\x9b \\xff\\x7f"

WRONG = """#include "collectives/broadcast_naive.h"

#include <cstdio>
#include <stdexcept>
#include <string>

namespace rankbox {

void broadcast_naive([[maybe_unused]] Comm& dist, [[maybe_unused]] Tensor& tensor,
                     [[maybe_unused]] int src) {
  const std::string bytes = "BYTES";
  std::fwrite(bytes.data(), 1, bytes.size() + 1, stdout);  // and a zero
  BODY
}

}  // namespace rankbox
"""

BODIES = {
    "throws": "throw std::runtime_error(bytes);",
    "waits": "dist.recv(tensor, (dist.rank() + 1) % dist.world_size());",
    "does nothing": "",
    "sends twice": "if (dist.rank() == src) { dist.send(tensor, src); dist.send(tensor, src); }",
}


def program(body):
    literal = "".join(f'\\x{byte:02x}""' for byte in BYTES)
    return WRONG.replace("BYTES", literal).replace("BODY", body)


def forbid(constant):
    raise ValueError(f"{constant} is no JSON")


def read_json(text):
    return json.loads(text, parse_constant=forbid)


def read_csv(text):
    rows = list(csv.reader(text.splitlines(), strict=True))
    assert len({len(row) for row in rows}) == 1, rows
    return rows


READERS = {"json": read_json, "gradescope": read_json, "exercism": read_json,
           "classroom50": read_json, "junit": xml.etree.ElementTree.fromstring, "csv": read_csv}


class GradeOutputsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.root = copy_of_project()

    def grade(self, folder, *options):
        """Returns what was written to the file of --out or --html, which comes last."""
        result = subprocess.run([PROGRAM, "grade", folder, "--unsealed", *options],
                                cwd=self.root, capture_output=True, check=False)
        self.assertEqual(result.returncode, 0, result)
        return pathlib.Path(options[-1]).read_bytes().decode("utf-8")

    def test_every_format_is_valid_and_shows_the_bytes(self):
        folder = self.root / "odd"
        student = os.path.join(os.fsencode(folder), b"eve\x1b\v\xff,\"'&<")
        os.makedirs(student)
        with open(os.path.join(student, b"broadcast_naive.cc"), "w", encoding="utf-8") as file:
            file.write(program(BODIES["throws"]))
        with open(os.path.join(student, b"ping_pong.cc"), "wb") as file:
            file.write(b"#error " + BYTES.replace(b"\v\f", b"") + b"\n")
        with open(os.path.join(student, b"no\x1b\vexercise.cc"), "wb") as file:
            file.write(b"")
        for name, read in READERS.items():
            with self.subTest(format=name):
                text = self.grade(folder, "--format", name, "--out", self.root / f"odd.{name}")
                self.assertIsNone(re.search("[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]", text))
                read(text)
                if name != "csv":
                    self.assertIn(SHOWN, text.replace("\\\\", "\\"))
                if name not in ("exercism", "classroom50"):  # which name no student
                    self.assertIn("eve\\x1b\\x0b\\xff", text.replace("\\\\", "\\"))

    def test_the_page_needs_nothing_else_and_every_failure_has_its_picture_and_code(self):
        folder = self.root / "class"
        for student, body in BODIES.items():
            (folder / student).mkdir(parents=True)
            (folder / student / "broadcast_naive.cc").write_text(program(body), encoding="utf-8")
        page = self.grade(folder, "--html", self.root / "class.html")
        data = re.search(r'<script type="application/json" id="grades">(.*?)</script>', page, re.S)
        codes = re.search(r'<script type="application/json" id="codes">(.*?)</script>', page, re.S)
        page = page.replace(data[1], "").replace(codes[1], "")
        self.assertIn("default-src 'none'", page)
        loads = r"""https?:|"//|\bsrc=|href="[^#]|\burl\(|\bimport\b|\bfetch\(|Request\("""
        self.assertIsNone(re.search(loads, page))
        failed = 0
        for student in read_json(data[1])["students"]:
            for exercise in student["exercises"]:
                with self.subTest(student=student["id"]):
                    self.assertEqual(exercise["status"], "fail")
                    self.assertIn("rank 0", exercise["picture"])
                    failed += 1
        self.assertEqual(failed, len(BODIES))
        self.assertEqual(sorted(read_json(codes[1])["of"]), [[i] for i in range(len(BODIES))])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
