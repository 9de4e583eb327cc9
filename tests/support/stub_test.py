#!/usr/bin/env python3
"""An untouched stub fails one row alone.

usage: stub_test.py PROGRAM EXERCISE
"""

import os
import subprocess
import sys
import unittest
import xml.etree.ElementTree

PROGRAM, EXERCISE = sys.argv[1:3]


class StubTest(unittest.TestCase):
    def test_one_row_fails_and_says_what_to_do(self):
        path = os.path.join(os.environ["TEST_TMPDIR"], "test.xml")
        ended = subprocess.run([PROGRAM, "learners", EXERCISE], stdout=subprocess.PIPE, text=True,
                               env={**os.environ, "XML_OUTPUT_FILE": path}, check=False)
        self.assertEqual(ended.returncode, 1, ended.stdout)
        self.assertEqual(ended.stdout.count("ERROR:"), 1, ended.stdout)
        rows = list(xml.etree.ElementTree.parse(path).iter("testcase"))
        self.assertEqual([row.get("name") for row in rows], [f"{EXERCISE}: judged/values"])
        self.assertRegex(rows[0][0].text.strip(), rf"/{EXERCISE}\.cc:\d+: not implemented yet$")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
