#!/usr/bin/env python3
"""A dry run of the whole report, with the programs themselves on the emulated GPU.

usage: gpu_dry_run_test.py NAME=FILE...     the programs: gpu_machine=cli/gpu/machine_program
"""

import json
import os
import pathlib
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).absolute().parent
sys.path.insert(0, str(HERE))

from gpu_sections import SECTIONS  # noqa: E402  (beside this file)

# In place of what this build cannot have, train on the host and compute-sanitizer; and of a
# chapter, which brings the judge to compile.
SCRIPTS = {
    "course/02_broadcast": "exit 0",
    "rankbox-train-sim": """echo '{"epochs": [{}, {}, {"samples_per_second": 1}]}'""",
    "compute-sanitizer": 'shift 6; exec "$@"',
}
PROGRAMS = dict(argument.split("=") for argument in sys.argv[1:])
# Lines that are not measured on one emulated GPU, by section and what; all of a section: None.
NOT_MEASURED = {
    ("machine", "peer access"), ("machine", "atomics over the link (NVLink)"),  # one GPU
    ("pairs", None), ("contract-processes", None), ("ring", None),
    ("contract-one-gpu", None),  # the emulated NCCL connects no processes
    ("train", "mlp, 1 GPU, against PyTorch"),
}
OF_TESTS = ("contract-shared", "course", "sanitizer")


def make_folder():
    """A folder of the programs, as in a bundle."""
    folder = pathlib.Path(os.environ["TEST_TMPDIR"]).absolute() / "programs"
    for name, path in PROGRAMS.items():
        link = folder / name
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(os.path.abspath(path))
    for name, script in SCRIPTS.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        (folder / name).chmod(0o700)
    return folder


def run(folder, name, gpus, *options):
    """Runs the report. Returns how it ended, and its JSON."""
    # With a day, no section has a limit that a slow machine could reach.
    ran = subprocess.run(
        [HERE / "gpu_report.py", "--programs", folder, "--dry-run", "--seconds", "86400", "--out",
         folder / name, *options],
        env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}",
             "RANKBOX_EMULATED_GPUS": str(gpus)},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    report = folder / name / "report.json"
    return ran, json.loads(report.read_text(encoding="utf-8")) if report.exists() else {}


class DryRunTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = make_folder()
        cls.ran, cls.found = run(folder, "all", 1)
        cls.ran_on_two, cls.found_on_two = run(folder, "pairs", 2, "--only", "pairs")

    def lines(self):
        self.assertIn("lines", self.found, self.ran.stderr.decode())
        return self.found["lines"]

    def test_every_section_is_in_the_report_in_order_and_announced(self):
        names = [section.name for section in SECTIONS]
        self.assertEqual(list(dict.fromkeys(line["section"] for line in self.lines())), names)
        announced = [line.split(": ")[1].split(",")[0]
                     for line in self.ran.stderr.decode().splitlines() if " of " in line]
        self.assertEqual(announced, names)
        self.assertTrue(self.found["dry_run"])
        self.assertFalse(self.found["interrupted"])

    def test_only_what_one_emulated_gpu_cannot_do_is_not_measured(self):
        for line in self.lines():
            expected = bool({(line["section"], line["what"]), (line["section"], None)} &
                            NOT_MEASURED)
            # A machine of one core has no two for the host.
            if line["section"] == "train" and len(os.sched_getaffinity(0)) < 2:
                continue
            with self.subTest(line=line):
                self.assertEqual(line["state"] == "not measured", expected)

    def test_all_tests_pass_and_all_values_are_right(self):
        for line in self.lines():
            if line["section"] in OF_TESTS + ("collectives",):
                with self.subTest(line=line):
                    self.assertEqual(line["state"], "met", self.found["details"].get(
                        line["section"]))

    def test_data_between_two_gpus_is_right(self):
        self.assertEqual(self.ran_on_two.returncode, 0, self.ran_on_two.stderr.decode())
        self.assertEqual([(line["section"], line["state"]) for line in self.found_on_two["lines"]],
                         [("pairs", "met")])
        self.assertEqual(len(self.found_on_two["details"]["pairs"]["pairs"]), 2)

    def test_every_program_ended_by_itself_with_success(self):
        programs = self.found.get("programs", []) + self.found_on_two.get("programs", [])
        ran = {program["program"]: program["code"] for program in programs}
        self.assertLessEqual(set(PROGRAMS), set(ran))
        self.assertEqual({name: code for name, code in ran.items() if code != 0}, {})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
