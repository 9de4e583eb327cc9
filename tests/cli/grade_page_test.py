"""The page of `rankbox grade` in a real Chromium: it shows every grade, and a click explains it.

Run by viewer/browser_test.sh, with the command line in $SAMPLE_PAGE.
"""

import os
import pathlib
import subprocess
import sys
import unittest

sys.path[:0] = [os.path.dirname(__file__), "viewer"]
from chromium import start_chromium  # noqa: E402
from project import copy_of_project  # noqa: E402

CLASS = {"ada": "solutions", "bob": "exercises"}
DEADLOCK = """#include "collectives/broadcast_naive.h"

void rankbox::broadcast_naive(Comm& dist, Tensor& tensor, int) {
  if (dist.world_size() > 1) dist.recv(tensor, (dist.rank() + 1) % dist.world_size());
}
"""


class GradePageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        root = copy_of_project()
        folder = root / "class"
        for student, source in CLASS.items():
            (folder / student).mkdir(parents=True)
            text = (root / source / "02_broadcast" / "broadcast_naive.cc").read_text("utf-8")
            (folder / student / "broadcast_naive.cc").write_text(text, "utf-8")
        (folder / "eve").mkdir()
        (folder / "eve" / "broadcast_naive.cc").write_text(DEADLOCK, "utf-8")
        page = root / "class.html"
        subprocess.run([os.environ["SAMPLE_PAGE"], "grade", folder, "--unsealed", "--html", page],
                       cwd=root, check=True)
        cls.driver = start_chromium(pathlib.Path(os.environ["TEST_TMPDIR"]) / "profile")
        cls.driver.get(page.as_uri())

    @classmethod
    def tearDownClass(cls):
        cls.driver.quit()

    def script(self, text):
        return self.driver.execute_script("return " + text)

    def test_it_loads_nothing_and_its_script_has_no_errors(self):
        self.assertEqual(self.driver.get_log("browser"), [])
        self.assertEqual(self.script("performance.getEntriesByType('resource').length"), 0)

    def test_a_mark_for_each_grade(self):
        marks = self.script("[...document.querySelectorAll('#class td.cell')]"
                            ".map((cell) => cell.textContent)")
        self.assertEqual(marks, ["✓", "○", "✗"])

    def test_a_click_shows_message_replay_line_and_picture(self):
        self.script("document.querySelectorAll('#class button')[2].click()")
        text = self.script("document.getElementById('grade').innerText")
        for part in ("eve: broadcast_naive", "deadlock", "./rankbox check broadcast_naive --file",
                     "broadcast_naive.cc:4", "Picture of the run", "rank 0 "):
            self.assertIn(part, text)

    def test_failures_are_listed_and_drawn_when_opened(self):
        count = self.script("document.querySelectorAll('#failure-list details').length")
        self.assertEqual(count, 1)
        self.script("document.querySelector('#failure-list summary').click()")
        self.driver.execute_async_script("requestAnimationFrame(arguments[0])")
        self.assertIn("rank 0 ", self.script("document.getElementById('failure-list').innerText"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
