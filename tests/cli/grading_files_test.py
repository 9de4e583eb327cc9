#!/usr/bin/env python3
"""The files of docs/grading, run as CI and Gradescope run them, on an empty submission.

usage: grading_files_test.py RANKBOX

Programs that the files call and that would need root or a network are replaced; ./rankbox is the
built program. Where there are no containers, grade gets --unsealed.
"""

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
FOLDER = pathlib.Path("docs/grading")


def write_program(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n" + text, encoding="utf-8")
    path.chmod(0o755)


def load_yaml(name):
    # The first python3 in PATH may lack the packages.
    for python in (sys.executable, "/usr/bin/python3"):
        result = subprocess.run(
            [python, "-c", "import json, sys, yaml\n"
             "json.dump(yaml.load(sys.stdin, yaml.BaseLoader), sys.stdout)"],
            input=(FOLDER / name).read_text(encoding="utf-8"), capture_output=True, text=True,
            check=False)
        if "No module named 'yaml'" not in result.stderr:
            assert result.returncode == 0, result.stderr
            return json.loads(result.stdout)
    raise unittest.SkipTest("no python3 with yaml here (python3-yaml)")


class GradingFilesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        copy_of_project()
        cls.tmp = pathlib.Path(os.environ["TEST_TMPDIR"])
        grade = [PROGRAM, "grade", FOLDER, "--layout", "single", "--exercises", "race"]
        probe = subprocess.run(grade, capture_output=True, text=True, check=False)
        option = "--unsealed" if "--unsealed" in probe.stderr else ""
        cls.rankbox = (f'[ "$1" != grade ] || exec {PROGRAM} "$@" {option}\n'
                       f'exec {PROGRAM} "$@"\n')
        bin_folder = cls.tmp / "bin"
        for name in ("apt-get", "sudo"):
            write_program(bin_folder / name, "")
        # git clone URL FOLDER
        write_program(cls.tmp / "rankbox_script", cls.rankbox)
        write_program(bin_folder / "git", "for last; do :; done\nmkdir -p $last\n"
                      f"cp {cls.tmp}/rankbox_script $last/rankbox\n")
        cls.environment = {**os.environ, "PATH": f"{bin_folder}:{os.environ['PATH']}"}

    def place(self, name):
        """Returns a new folder with an empty submission/ and a rankbox/."""
        place = self.tmp / name
        (place / "submission").mkdir(parents=True)
        write_program(place / "rankbox" / "rankbox", self.rankbox)
        return place

    def run_script(self, text, folder, **variables):
        result = subprocess.run(["bash", "-eo", "pipefail", "-c", text], cwd=folder, check=False,
                                env={**self.environment, **variables}, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(result.returncode, 0, text + result.stdout)

    def check_outputs(self, junit, page):
        suites = xml.etree.ElementTree.parse(junit).getroot()
        self.assertGreater(len(suites.findall(".//testcase")), 3)
        self.assertIn("</html>", page.read_text(encoding="utf-8"))

    def test_github_actions(self):
        workflow = load_yaml("github_actions.yml")
        place = self.place("github")
        files = {name: str(place / name) for name in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT",
                                                      "GITHUB_PATH")}
        scripts = [step for step in workflow["jobs"]["grade"]["steps"] if "run" in step]
        self.assertGreater(len(scripts), 3)
        for step in scripts:
            self.run_script(step["run"], place / step.get("working-directory", "."),
                            **workflow["env"], **files)
        self.check_outputs(place / "junit.xml", place / "grades.html")
        result = json.loads((place / "result.json").read_text(encoding="utf-8"))
        self.assertEqual(result["status"], "fail")
        self.assertIn("result=", (place / "GITHUB_OUTPUT").read_text(encoding="utf-8"))
        upload = workflow["jobs"]["grade"]["steps"][-1]["with"]["path"].split()
        self.assertTrue(all((place / name).exists() for name in upload), upload)

    def test_gitlab_ci(self):
        pipeline = load_yaml("gitlab_ci.yml")
        place = self.place("gitlab")
        script = "\n".join(pipeline["grade"]["script"])
        script = re.sub(r"(?<=\s)/rankbox\b", str(place / "clone"), script)
        self.run_script(script, place, **pipeline["variables"],
                        CI_PROJECT_DIR=str(place / "submission"))
        artifacts = pipeline["grade"]["artifacts"]
        self.check_outputs(place / "submission" / artifacts["reports"]["junit"],
                           place / "submission" / artifacts["paths"][0])

    def test_gradescope(self):
        place = self.place("autograder")
        for name in ("setup.sh", "run_autograder"):
            text = (FOLDER / "gradescope" / name).read_text(encoding="utf-8")
            self.run_script(text.replace("/autograder", str(place)), place)
        results = json.loads((place / "results" / "results.json").read_text(encoding="utf-8"))
        self.assertEqual(results["score"], 0)
        dockerfile = (FOLDER / "gradescope" / "Dockerfile").read_text(encoding="utf-8")
        copied = re.search(r"^COPY (.*) /autograder/$", dockerfile, re.M)[1].split()
        self.assertEqual({path.name for path in (FOLDER / "gradescope").iterdir()},
                         {*copied, "Dockerfile"})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
