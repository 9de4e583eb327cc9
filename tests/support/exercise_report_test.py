#!/usr/bin/env python3
"""What the test of an exercise prints, and writes to test.xml, about right and wrong programs.

usage: exercise_report_test.py WRONG_EXERCISE WRONG_BROADCAST_TREE.CC
"""

import os
import re
import subprocess
import sys
import unittest
import xml.etree.ElementTree

PROGRAM, SOURCE = sys.argv[1:3]

WORLDS = {f"values/{n} rank{'s' if n > 1 else ''}" for n in [*range(1, 18), 70]}
PROPERTIES = {"messages", "cost", "example", "safety"}
BY_HAND = {"every rank ends with src's elements", "twice as many ranks have it each round"}

# A mistake, and the tests that fail.
FAIL = {
    "": set(),
    "a wrong element": {"values/5 ranks", "messages", "cost", "safety"},
    "a message too few": {"values/5 ranks", "messages", "cost", "safety"},
    "a star, not a tree": {"messages", "cost", "example"},
}
# Those that are worked out by hand, in worlds of 1, 2, 3, 4, 7, 8 and 9 ranks.
FAIL_BY_HAND = {"a star, not a tree": {"twice as many ranks have it each round"}}


class ExerciseReportTest(unittest.TestCase):
    def run_test(self, wrong, *arguments, **variables):
        """Returns the exit status, the output, and test.xml as {test: its failures}."""
        path = os.path.join(os.environ["TEST_TMPDIR"], "test.xml")
        environment = {**os.environ, "WRONG": wrong, "XML_OUTPUT_FILE": path, **variables}
        command = [PROGRAM, "learners", "broadcast_tree", *arguments]
        with subprocess.Popen(command, env=environment, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT) as process:
            output = ""
            for line in process.stdout:
                output += line
                if line == "never ends\n":
                    process.terminate()  # as Bazel does at the time limit
        tests = {}
        if os.path.exists(path):
            for case in xml.etree.ElementTree.parse(path).iter("testcase"):
                name = case.get("name").removeprefix("broadcast_tree: ").removeprefix("judged/")
                self.assertNotIn(name, tests)
                tests[name] = list(case)
            os.remove(path)
        return process.returncode, output, tests

    def failed(self, tests):
        return {name for name, failures in tests.items() if failures}

    def test_each_mistake_fails_its_tests_each_with_message_place_and_replay_line(self):
        with open(SOURCE, encoding="utf-8") as file:
            lines = file.read().split("\n")
        for wrong, fail in FAIL.items():
            with self.subTest(wrong=wrong):
                status, output, tests = self.run_test(wrong)
                by_hand = FAIL_BY_HAND.get(wrong, set())
                self.assertEqual(set(tests), WORLDS | PROPERTIES | BY_HAND)
                self.assertEqual(self.failed(tests), fail | by_hand)
                self.assertEqual(status, 1 if fail else 0)
                # A failed expression shows both sides.
                self.assertEqual("CHECK( Cost{7, 672, 0} == Cost{3, 288, 0} )" in output,
                                 bool(by_hand))
                for name in fail:
                    self.assertEqual(len(tests[name]), 1)
                    text = tests[name][0].text.strip()
                    self.assertTrue(tests[name][0].get("message").strip())
                    place = re.match(rf"{re.escape(SOURCE)}:(\d+): ", text)
                    self.assertIn("dist.", lines[int(place[1]) - 1])
                    self.assertRegex(text, r"\./rankbox check broadcast_tree --replay '?world_size=")
                    self.assertIn(text.split("\n")[-1], output)
                    if world := re.match(r"values/(\d+) rank", name):
                        self.assertIn(f"world_size={world[1]},", text)

    def test_each_of_several_failing_checks_has_its_own_failure(self):
        _, _, tests = self.run_test("a star, not a tree")
        self.assertNotEqual(tests["messages"][0].text, tests["cost"][0].text)

    def test_a_program_that_ends_or_never_ends_says_where_and_does_not_pass(self):
        for wrong, word in [("it crashes", "SIGSEGV"), ("it exits", "exit()"),
                            ("it never ends", "SIGTERM")]:
            with self.subTest(wrong=wrong):
                status, output, tests = self.run_test(wrong)
                self.assertNotEqual(status, 0)
                self.assertIn(word, output)
                self.assertRegex(output, r"\./rankbox check broadcast_tree --replay '?world_size=5,")
                self.assertTrue(wrong == "it exits" or self.failed(tests))

    def test_an_untouched_stub_fails_once(self):
        status, output, tests = self.run_test("untouched")
        self.assertEqual((status, set(tests), output.count("ERROR:")), (1, {"values"}, 1))
        self.assertRegex(tests["values"][0].text,
                         rf"^\s*{re.escape(SOURCE)}:\d+: not implemented yet\s*$")

    def test_a_message_of_any_bytes_is_shown_and_leaves_valid_xml(self):
        _, output, tests = self.run_test("it throws what XML forbids")
        for text in (output, tests["values/5 ranks"][0].text):
            self.assertIn(r"]]>\x0b\x0c\x1b \xed\xa0\x80 \xef\xbf\xbf \xff", text)

    def test_a_filter_names_the_exercise_or_rows_of_the_judge(self):
        status, _, tests = self.run_test("", TESTBRIDGE_TEST_ONLY="broadcast_tree")
        self.assertEqual((status, set(tests)), (0, WORLDS | PROPERTIES | BY_HAND))
        status, _, tests = self.run_test("", TESTBRIDGE_TEST_ONLY="values")
        self.assertEqual((status, set(tests) - BY_HAND), (0, WORLDS))
        status, _, _ = self.run_test("", TESTBRIDGE_TEST_ONLY="no such row")
        self.assertEqual(status, 1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
