#!/usr/bin/env python3
"""How a session ends programs, and what it makes of that."""

import os
import pathlib
import sys
import tempfile
import unittest
import unittest.mock

sys.path.insert(0, str(pathlib.Path(__file__).absolute().parent))

import gpu_session  # noqa: E402  (beside this file)
from gpu_session import NotMeasured, Report  # noqa: E402


class SessionTest(unittest.TestCase):
    """What the end of a section means for a program that still runs."""

    def setUp(self):
        folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))
        (folder / "hangs").write_text("#!/bin/sh\nexec sleep 1000\n", encoding="utf-8")
        (folder / "hangs").chmod(0o700)
        self.session = gpu_session.Session(Report(""), [folder], lambda line: None, lambda: None)
        # The end comes at once, however slow the machine is.
        self.session.wait_for = lambda started, end: (0, True)

    def test_what_measures_is_not_measured(self):
        self.session.begin("collectives", 10_000)
        with unittest.mock.patch.object(gpu_session, "LONG_ENOUGH", 0.001), \
                self.assertRaises(NotMeasured) as ran_out:
            self.session.run("hangs")
        self.assertFalse(ran_out.exception.is_failure)

    def test_a_test_has_hung_if_it_had_long_enough_and_else_had_no_time(self):
        for long_enough, hangs in ((0.001, True), (20_000, False)):
            with unittest.mock.patch.object(gpu_session, "LONG_ENOUGH", long_enough):
                self.session.begin("course", 10_000)
                ended = self.session.run_all(["hangs"])["hangs"]
            with self.subTest(long_enough=long_enough):
                self.assertEqual(ended is not None and ended.timed_out, hangs)


if __name__ == "__main__":
    unittest.main()
