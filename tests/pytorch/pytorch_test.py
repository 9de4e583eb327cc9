"""docs/pytorch: the scripts' losses equal those of ./rankbox train, and the pages' commands work.

usage: pytorch_test.py RANKBOX TRAIN
"""

import ast
import contextlib
import functools
import importlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

RANKBOX, TRAIN = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
SOURCES = pathlib.Path.cwd()
WORK = pathlib.Path(os.environ.get("TEST_TMPDIR") or tempfile.mkdtemp()) / "project"
SCRIPTS = "docs/pytorch"

sys.path[:0] = [str(SOURCES / SCRIPTS), str(SOURCES / "tests/pytorch")]

os.environ["CUDA_VISIBLE_DEVICES"] = ""  # the pages show what a CPU prints

import torch  # noqa: E402
import torch.multiprocessing as mp  # noqa: E402
from torch.distributed import run as torchrun  # noqa: E402

import ddp  # noqa: E402
import pages  # noqa: E402
import rankbox_digits  # noqa: E402
import rankbox_same  # noqa: E402

spawn = mp.spawn


def start_in_project():
    """./rankbox, its training program and the scripts, in a folder of this test's own."""
    binaries = WORK / ".rankbox/bin"
    binaries.mkdir(parents=True)
    (binaries / "rankbox-train-sim").symlink_to(TRAIN)
    script = WORK / "rankbox"
    # Where the real one would build, this one has nothing to do.
    script.write_text(f'#!/bin/sh\n[ "$1" != train ] || exec {RANKBOX} "$@"\n', encoding="utf-8")
    script.chmod(0o755)
    for source in SOURCES.iterdir():
        if not source.name.startswith((".", "bazel-", "rankbox")):
            (WORK / source.name).symlink_to(source)
    os.chdir(WORK)
    os.environ["RANKBOX_ROOT"] = str(WORK)
    os.environ["PATH"] = f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"
    os.environ["PET_MASTER_PORT"] = ddp.free_port()  # torchrun's default is one for all tests
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"  # a sandbox without a network has that one


@functools.lru_cache(maxsize=None)
def losses_of_rankbox(*options):
    """The file that ./rankbox train --json wrote."""
    path = WORK / ("_".join(options).replace("-", "") + ".json")
    with open(path, "w", encoding="utf-8") as file:
        subprocess.run([TRAIN, *options, "--json"], stdout=file, check=True)
    return str(path)


@contextlib.contextmanager
def printed(lines):
    """Appends to `lines` what this process and its children print."""
    sys.stdout.flush()
    with tempfile.TemporaryFile("w+", encoding="utf-8") as file:
        before = os.dup(1)
        os.dup2(file.fileno(), 1)
        try:
            yield
        finally:
            sys.stdout.flush()
            os.dup2(before, 1)
            os.close(before)
            file.seek(0)
            lines += file.read().splitlines()


def run_script(name, *arguments, processes="fork"):
    """What the script prints. Forked ranks save the second that each import of torch takes."""
    mp.spawn = spawn if processes == "spawn" else functools.partial(mp.start_processes,
                                                                    start_method=processes)
    lines = []
    with printed(lines):
        importlib.import_module(name).main(list(arguments))
    return lines


def difference(lines):
    found = re.fullmatch("largest relative difference: (.*)", lines[-1])
    assert found, lines
    return float(found[1])


SPAWNED = f"python3 {SCRIPTS}/ddp.py --ranks 2 --against ddp.json"  # on the first page

MLP = ("--samples", "256")
TEXT = ("--model", "transformer", "--samples", "512", "--epochs", "1")


class SameLosses(unittest.TestCase):
    """Step by step, from the same initial values; the pages' commands are tested below."""

    def check(self, script, options, rankbox):
        lines = run_script(script, *options, "--against", losses_of_rankbox(*rankbox))
        self.assertGreaterEqual(len(lines), 14, lines)
        self.assertLess(difference(lines), pages.TOLERANCE, lines)
        return lines

    def test_two_devices_with_an_uneven_split(self):
        self.check("two_devices", ["--split-size", "24"], MLP)

    def test_ddp_with_another_seed(self):
        for ranks in ("1", "4"):
            with self.subTest(ranks=ranks):
                options = ("--ranks", ranks, "--seed", "7", "--learning-rate", "0.1")
                self.check("ddp", options, MLP + options)

    def test_text_and_its_metrics(self):
        lines = self.check("text", ["--ranks", "1"], TEXT)
        with open(losses_of_rankbox(*TEXT), encoding="utf-8") as file:
            test = json.load(file)["test"]
        self.assertTrue(pages.same_line(
            lines[0], f"epoch 1: test loss {test['loss']:.5f}, accuracy {test['accuracy']:.2%}, "
                      f"F1 {test['f1']:.4f}"), lines[0])

    def test_bf16_is_another_rounding(self):
        lines = run_script("mixed_precision", "--against", losses_of_rankbox(*MLP))
        self.assertGreater(difference(lines), 2 * pages.TOLERANCE)
        self.assertLess(difference(lines), 1e-2)

    def test_another_start_or_order_has_other_losses(self):
        """So the equality above is none of two programs that hardly learn."""
        lines = run_script("single", "--learning-rate", "0.0501", "--against",
                           losses_of_rankbox(*MLP))
        self.assertGreater(difference(lines), pages.TOLERANCE)

    def test_runs_of_different_lengths_are_no_comparison(self):
        with self.assertRaisesRegex(SystemExit, "expected 4 steps, found 12"):
            run_script("single", "--epochs", "1", "--against", losses_of_rankbox(*MLP))


class Pages(unittest.TestCase):
    """What the pages show."""

    def check_python(self, path, text):
        ast.parse(text, str(path))

    def run_command(self, command):
        """Returns what it prints. Scripts run in this process, but for those of torchrun."""
        words = shlex.split(command)
        if words[0] == "export":
            os.environ.update(word.split("=", 1) for word in words[1:])
            return []
        if words[0] == "python3" and words[1].startswith(SCRIPTS):
            # One command starts its processes as a user's does.
            processes = "spawn" if command == SPAWNED else "fork"
            return run_script(pathlib.Path(words[1]).stem, *words[2:], processes=processes)
        self.assertIn(words[0], ("torchrun", "./rankbox"), command)
        result = subprocess.run(command, shell=True, check=False, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(result.returncode, 0, f"{command}\n{result.stdout}{result.stderr}")
        return result.stdout.splitlines()

    def test_commands_print_what_the_pages_show(self):
        count = 0
        for path in sorted(pathlib.Path(SCRIPTS).glob("*.md")):
            for command, shown in pages.commands(path.read_text(encoding="utf-8")):
                with self.subTest(page=path.name, command=command):
                    lines = self.run_command(command)
                    self.assertTrue(not shown or pages.same_output(shown, lines),
                                    "\n".join(["the page:", *shown, "printed:", *lines]))
                    count += 1
        self.assertGreater(count, 8)

    def test_snippets_are_python(self):
        for path in sorted(pathlib.Path(SCRIPTS).glob("*.md")):
            for language, text in pages.blocks(path.read_text(encoding="utf-8")):
                if language == "python":
                    self.check_python(path, text)

    def test_the_dataset_of_reviews_filters_and_numbers_classes(self):
        page = pathlib.Path(SCRIPTS, "text.md").read_text(encoding="utf-8")
        names = {}
        exec(next(text for _, text in pages.blocks(page) if "class Reviews" in text), names)
        path = WORK / "reviews.csv"
        path.write_text('id,review,division\n1,"good, really",positive\n'
                        '2,"not\n""good""",negative\n3,so so,mixed\n4, ,positive\n',
                        encoding="utf-8")
        reviews = names["Reviews"](path)
        self.assertEqual([reviews[i] for i in range(len(reviews))],
                         [("good, really", 1), ('not\n"good"', 0)])
        self.assertEqual(reviews.skipped, 2)

    def test_launchers_have_these_options(self):
        """Of commands for several machines, which no test can run here."""
        known = torchrun.get_args_parser()
        count = 0
        for path in sorted(pathlib.Path(SCRIPTS).glob("*.md")):
            text = path.read_text(encoding="utf-8").replace("\\\n", " ")
            for line in re.findall(r"(?m)^.*\btorchrun (--[^`]*?)\"?(?: &)?$", text):
                words = re.split(r" docs/| train\.py", line)[0].split()
                # From 2.0 on also with dashes.
                words = [word.replace("-", "_").replace("__", "--", 1)
                         if word.startswith("--") else word for word in words]
                known.parse_args([*words, "script.py"])
                count += 1
        self.assertGreater(count, 2)

    def test_every_script_is_on_a_page(self):
        text = "".join(path.read_text(encoding="utf-8")
                       for path in pathlib.Path(SCRIPTS).glob("*.md"))
        for path in pathlib.Path(SCRIPTS).glob("*.py"):
            self.assertIn(f"({path.name})", text)

    def test_links_lead_to_pages(self):
        for path in pathlib.Path(SCRIPTS).glob("*.md"):
            for link in re.findall(r"\]\((?!http)([^)#]+)", path.read_text(encoding="utf-8")):
                self.assertTrue((SOURCES / SCRIPTS / link).exists(), f"{path}: {link}")


if __name__ == "__main__":
    start_in_project()
    torch.set_num_threads(1)  # forked ranks inherit no pool of threads
    # All scripts draw the same digits, and forked ranks inherit them.
    rankbox_same.digits = functools.lru_cache(maxsize=None)(rankbox_digits.digits)
    rankbox_same.digits(256)
    unittest.main(argv=sys.argv[:1])
