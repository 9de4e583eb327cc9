"""The page of `rankbox grade` in a real Chromium: it shows every grade, and a click explains it.

Run by viewer/browser_test.sh, with the command line in $SAMPLE_PAGE. Screenshots go to
$TEST_UNDECLARED_OUTPUTS_DIR, where it is set.
"""

import os
import pathlib
import subprocess
import sys
import unittest

sys.path[:0] = [os.path.dirname(__file__), "viewer"]
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402

from chromium import start_chromium  # noqa: E402
from project import copy_of_project  # noqa: E402

DEADLOCK = b"""#include "collectives/broadcast_naive.h"

void rankbox::broadcast_naive(Comm& dist, Tensor& tensor, int) {
  if (dist.world_size() > 1) dist.recv(tensor, (dist.rank() + 1) % dist.world_size());
}
"""
NOTHING = b"""#include "collectives/broadcast_naive.h"

void rankbox::broadcast_naive(Comm&, Tensor&, int) {}
"""
# Its line 404 does not compile. What precedes it is text that a page must not take for HTML.
HOSTILE = (b'// </script><img src=x onerror="document.title=1"> \xff {{code}}\n' + b"\n" * 402 +
           b"int wrong = no_such_name;  // </code><b id=\"injected\">caf\xe9</b>\n")


class GradePageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        root = copy_of_project()
        folder = root / "class"
        answer, stub = ((root / source / "02_broadcast" / "broadcast_naive.cc").read_bytes()
                        for source in ("solutions", "exercises"))
        for student, text in {"ada": answer, "bob": stub, "eve": DEADLOCK, "fay": DEADLOCK,
                              "gus": NOTHING, "mallory": HOSTILE}.items():
            (folder / student).mkdir(parents=True)
            (folder / student / "broadcast_naive.cc").write_bytes(text)
        page = root / "class.html"
        subprocess.run([os.environ["SAMPLE_PAGE"], "grade", folder, "--unsealed", "--html", page],
                       cwd=root, check=True)
        cls.text = page.read_text("utf-8")
        cls.url = page.as_uri()
        cls.driver = start_chromium(pathlib.Path(os.environ["TEST_TMPDIR"]) / "profile")
        cls.addClassCleanup(cls.driver.quit)

    def setUp(self):
        self.driver.get(self.url)

    def tearDown(self):
        self.assertEqual(self.driver.get_log("browser"), [])

    def script(self, text):
        return self.driver.execute_script("return " + text)

    def cells(self):
        return self.driver.find_elements(By.CSS_SELECTOR, "#class td.cell button")

    def open(self, student):
        """Presses the student's cell, and returns the text of the grade."""
        self.script("[...document.querySelectorAll('#class td.cell button')]"
                    f".find((each) => each.title.startsWith('{student},')).click()")
        return self.driver.find_element(By.ID, "grade").text

    def wrong_lines(self):
        return self.script("[...document.querySelectorAll('.code .wrong')]"
                           ".map((each) => each.innerText)")

    def resize(self, width):
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500})
        self.addCleanup(self.driver.execute_cdp_cmd, "Emulation.clearDeviceMetricsOverride", {})

    def screenshot(self, name):
        folder = os.environ.get("TEST_UNDECLARED_OUTPUTS_DIR", os.environ["TEST_TMPDIR"])
        self.driver.save_screenshot(str(pathlib.Path(folder) / f"{name}.png"))

    def test_it_loads_nothing(self):
        self.assertEqual(self.script("performance.getEntriesByType('resource').length"), 0)
        self.assertIn("default-src 'none'", self.text)

    def test_a_class_graded_without_seal_says_so(self):
        self.assertEqual(self.driver.find_element(By.ID, "title").text, "Grades: class (unsealed)")

    def test_a_mark_and_points_for_each_grade_and_a_total_for_each_student(self):
        self.assertEqual([cell.text for cell in self.cells()],
                         ["✓ 3/3", "○ 0/3"] + ["✗ 0/3"] * 4)
        totals = self.driver.find_elements(By.CSS_SELECTOR, "#class td.total")
        self.assertEqual([total.text for total in totals], ["3/3"] + ["0/3"] * 5)

    def test_a_click_shows_verdict_checks_replay_line_code_and_picture(self):
        text = self.open("eve")
        for part in ("✗ eve, broadcast_naive: fails, 0 of 3 points",
                     "./rankbox check broadcast_naive --file", "broadcast_naive.cc:4",
                     "rank 0 waits in recv"):
            self.assertIn(part, text)
        chips = self.driver.find_elements(By.CSS_SELECTOR, "#grade .chips li")
        self.assertEqual([chip.text for chip in chips],
                         ["· values", "· messages", "· cost", "✗ safety"])
        self.assertEqual(text.count("deadlock"), 1)
        self.assertEqual(self.wrong_lines(), [DEADLOCK.decode().splitlines()[3]])

    def test_a_deadlock_is_a_circle_and_the_timeline_is_behind_it(self):
        self.open("eve")
        picture = self.driver.find_element(By.ID, "waits-picture")
        self.assertEqual(picture.get_attribute("aria-label"),
                         "A circle: rank 0 waits for 1 waits for 0")
        self.assertEqual(len(picture.find_elements(By.CSS_SELECTOR, "circle.circle")), 2)
        self.assertNotIn("rank 0  out", self.driver.find_element(By.ID, "grade").text)
        self.driver.find_element(By.CSS_SELECTOR, "#waits summary").click()
        self.assertIn("rank 0  out", self.driver.find_element(By.ID, "grade").text)

    def test_any_other_run_has_its_timeline(self):
        text = self.open("gus")
        self.assertIn("Picture of the run", text)
        self.assertIn("rank 0  out", text)
        self.assertIn("✗ values", text)
        self.assertEqual(self.script("document.querySelectorAll('#grade svg').length"), 0)

    def test_students_code_is_text_around_the_failing_line(self):
        text = self.open("mallory")
        self.assertEqual(self.wrong_lines(), [r'int wrong = no_such_name;  // </code>'
                                              r'<b id="injected">caf\xe9</b>'])
        self.assertIn("broadcast_naive.cc:404, lines 105 to 404 of 404", text)
        self.assertEqual(self.script("document.querySelector('.code').start"), 105)
        self.assertEqual(self.script("document.querySelectorAll('#injected, img').length"), 0)
        # The list is scrolled to the line.
        self.assertTrue(self.script(
            "(() => { const list = document.querySelector('.code').getBoundingClientRect();"
            "const row = document.querySelector('.wrong').getBoundingClientRect();"
            "return list.top <= row.top && row.bottom <= list.bottom; })()"))

    def test_only_programs_that_fail_have_code_and_equal_ones_share_it(self):
        codes = self.script("JSON.parse(document.getElementById('codes').textContent)")
        self.assertEqual(codes["of"], [[None], [None], [0], [0], [1], [2]])
        self.open("ada")
        self.assertEqual(self.script("document.querySelectorAll('.code').length"), 0)

    def test_picture_is_beside_the_code_or_below_it_and_the_page_never_scrolls_sideways(self):
        box = "document.querySelector('#grade {}').getBoundingClientRect()"
        for width in (1280, 1000, 900, 390, 320):
            self.resize(width)
            self.open("eve")
            self.assertLessEqual(self.script("document.documentElement.scrollWidth"), width)
            code, picture = (self.script(box.format(name)) for name in (".code", ".drawn"))
            if width >= 1000:
                self.assertGreater(picture["left"], code["right"])
            else:
                self.assertGreater(picture["top"], code["bottom"])
            self.screenshot(f"grade_{width}")
        self.script("document.querySelector('.menu summary').click()")
        self.assertTrue(self.driver.find_element(By.ID, "legend").is_displayed())
        self.assertLessEqual(self.script("document.documentElement.scrollWidth"), 320)

    def test_keys_go_through_the_table_to_a_grade_and_back(self):
        self.script("document.querySelector('#class td.cell button').focus()")
        for key in (Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ENTER):
            self.driver.switch_to.active_element.send_keys(key)
        self.assertEqual(self.script("document.activeElement.id"), "grade")
        self.driver.switch_to.active_element.send_keys(Keys.ESCAPE)
        self.assertEqual(self.driver.switch_to.active_element.text, "✗ 0/3")
        self.assertFalse(self.driver.find_element(By.ID, "grade").is_displayed())

    def test_dark_and_light(self):
        colour = "getComputedStyle(document.body).backgroundColor"
        light = self.script(colour)
        self.driver.find_element(By.ID, "theme").click()
        self.assertNotEqual(self.script(colour), light)
        self.open("eve")
        self.screenshot("grade_dark")

    def test_failures_are_listed_and_open_the_grade(self):
        self.driver.find_element(By.ID, "failure-count").click()
        failures = self.driver.find_elements(By.CSS_SELECTOR, "#failure-list button")
        self.assertEqual([each.text.split(":")[:2] for each in failures],
                         [["eve", " deadlock"], ["fay", " deadlock"], ["gus", " values"],
                          ["mallory", " compile"]])
        failures[1].click()
        self.assertIn("fay, broadcast_naive",
                      self.driver.find_element(By.ID, "grade-heading").text)


if __name__ == "__main__":
    unittest.main(verbosity=2)
