#!/usr/bin/env python3
"""The forms of a report; and reports with scripts in place of the programs, which print recorded
figures or fail.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).absolute().parent
sys.path.insert(0, str(HERE))

import gpu_forms  # noqa: E402  (beside this file, like those below)
from gpu_machine import has_nvlink  # noqa: E402
from gpu_sections import SECONDS, SECTIONS  # noqa: E402
from gpu_session import MEASURED, MET, NOT_MEASURED, NOT_MET, Line, Report  # noqa: E402

PROGRAM = HERE / "gpu_report.py"
HANG = "exec sleep 1000"


def machine(gpus):
    """What gpu_machine prints."""
    pairs = gpus * (gpus - 1)
    return {"cuda_driver": "13.0", "cuda_runtime": "13.0", "driver": "580.65.06",
            "gpus": ["GPU X"] * gpus, "kernel_loading": "eager", "native_atomics": pairs,
            "nccl": "2.28.9", "pairs": pairs, "peer_access": pairs}


# ---- Forms ---------------------------------------------------------------------------------------

GOOD = Line("kernels", "accumulate", "93 %", 0.93, "at least 90 %", MET)
BAD = Line("sharing", "ring | all", "71 %", 0.71, "at least 80 %", NOT_MET)
PLAIN = Line("kernels", "copy", "4000 GB/s", 4000., "", MEASURED)
MISSING = Line("ring", "segments", "", None, "at most 1.15 times", NOT_MEASURED, "there is one GPU")
FAILED = Line("train", "mlp", "", None, "", NOT_MEASURED, "it crashed", True)


def report_with(*lines):
    return Report("2026-11-22 20:15", machine(2), list(lines))


class FormsTest(unittest.TestCase):
    def test_exit_code_is_1_if_a_measured_target_is_missed_or_a_program_failed(self):
        for lines, code in [((), 0), ((GOOD, PLAIN, MISSING), 0), ((GOOD, BAD), 1),
                            ((GOOD, FAILED), 1)]:
            with self.subTest(lines=len(lines)):
                self.assertEqual(gpu_forms.exit_code(report_with(*lines)), code)

    def test_a_line_of_the_text_has_what_value_target_and_state_in_colour_if_wanted(self):
        for line, text in [
                (GOOD, "93 %; target: at least 90 %; met"),
                (PLAIN, "4000 GB/s; measured"),
                (MISSING, "target: at most 1.15 times; not measured, because there is one GPU"),
                (FAILED, "not measured, because it crashed")]:
            self.assertEqual(gpu_forms.text_of(line, False), f"  {line.what:<42} {text}\n")
        for line, text in [(GOOD, "\033[32mmet\033[0m"), (BAD, "\033[31mnot met\033[0m"),
                           (FAILED, "\033[31mnot measured, because it crashed\033[0m"),
                           (PLAIN, " measured"), (MISSING, " not measured")]:
            self.assertIn(text, gpu_forms.text_of(line, True))

    def test_the_table_can_be_pasted_into_a_page(self):
        self.assertEqual(
            gpu_forms.to_markdown(report_with(GOOD, BAD, MISSING)),
            "2026-11-22 20:15, 2 × GPU X, driver 580.65.06, CUDA 13.0 (driver: 13.0), "
            "NCCL 2.28.9: 1 met, 1 not met, 1 not measured.\n\n"
            "| what | value | target | |\n|---|---|---|---|\n"
            "| kernels: accumulate | 93 % | at least 90 % | met |\n"
            "| sharing: ring \\| all | 71 % | at least 80 % | not met |\n"
            "| ring: segments |  | at most 1.15 times | not measured, because there is one GPU |\n")

    def test_json_has_every_field_and_null_for_what_is_unknown(self):
        report = report_with(GOOD, MISSING)
        report.is_interrupted = True
        report.details["kernels"] = {"gpu": "NVIDIA H200"}
        self.assertEqual(
            json.dumps(gpu_forms.to_json(report), separators=(",", ":")),
            '{"version":1,"date":"2026-11-22 20:15","machine":{"cuda_driver":"13.0",'
            '"cuda_runtime":"13.0","driver":"580.65.06","gpus":["GPU X","GPU X"],'
            '"kernel_loading":"eager","native_atomics":2,"nccl":"2.28.9","pairs":2,'
            '"peer_access":2},"interrupted":true,"dry_run":false,'
            '"met":1,"not_met":0,"not_measured":1,"again":null,"lines":[{"section":"kernels",'
            '"what":"accumulate","value":"93 %","number":0.93,"target":"at least 90 %",'
            '"state":"met","because":null},{"section":"ring","what":"segments","value":null,'
            '"number":null,"target":"at most 1.15 times","state":"not measured",'
            '"because":"there is one GPU"}],"programs":[],'
            '"details":{"kernels":{"gpu":"NVIDIA H200"}}}')

    def test_nvlink_is_there_if_all_links_have_atomics_and_not_on_one_gpu(self):
        self.assertTrue(has_nvlink(machine(2)))
        self.assertFalse(has_nvlink({**machine(2), "native_atomics": 1}))
        self.assertFalse(has_nvlink(machine(1)))

    def test_help_of_the_subcommand_names_the_sections_and_their_time(self):
        text = re.sub(r'"\s+"', "", (HERE / "gpu.cc").read_text(encoding="utf-8"))
        self.assertIn(": " + ", ".join(section.name for section in SECTIONS) + '"', text)
        self.assertIn(f"double seconds = {SECONDS};", text)


# ---- Programs ------------------------------------------------------------------------------------

def printed(figures):
    return f"cat <<'END'\n{json.dumps(figures)}\nEND\n"


def bench(ratio):
    """ratio: of accumulate to the copy."""
    return printed({"results": [
        {"kernel": kernel, "bytes": mib << 20, "bytes_per_second": 4e12 * speed,
         "ratio_to_copy": speed}
        for mib in (64, 256, 1024) for kernel, speed in (("copy", 1.0), ("accumulate", ratio))]})


def costs(threads, *calls):
    return {"threads": threads,
            "costs": [{"what": call, "us": [1.5] * len(threads)} for call in calls]}


COSTS = f"""case $1 in
starts) {printed(costs([1], "context of a GPU", "cudaMalloc, 64 MiB", "stream", "event",
                       "NCCL: first communicator, 2 ranks", "NCCL: split, 2 ranks"))} ;;
calls) {printed(costs([1, 2, 4], "event record", "wait for an event", "copy, 1 KiB",
                      "kernel, 1 KiB"))} ;;
esac
"""


def pairs(wrong):
    return printed({"pairs": [{"from": a, "into": 1 - a, "wrong": a * wrong,
                               "bytes_per_second": (a + 1) * 1e11} for a in (0, 1)]})


def table(wrong=0):
    """The rows of all collectives, in which a ring takes 1.1 times NCCL's."""
    return {"results": [
        # 21 n bytes at 4 TB/s take 5.5 us for 1 MiB.
        {"collective": collective, "algorithm": algorithm, "bytes": (mib << 20) - 8,
         "time_us": {"median": 6.0 * mib},
         "mean_us": 400.4 if (algorithm, mib) == ("native", 64) else None, "vs_native": 1.5,
         "vs_ring": 1.1, "wrong": wrong}
        for collective in ("broadcast", "reduce", "all_reduce", "gather", "scatter", "all_gather",
                           "all_to_all", "reduce_scatter", "barrier")
        for mib in (64, 256)
        for algorithm in ("native", "ring", "ring_segmented", "ring_pipelined")]}


def speed(samples_per_second):
    return printed({"epochs": [{"samples_per_second": each}
                               for each in (1, 2, samples_per_second)]})


# Passes with exactly the variables of each way to start it.
TEST = """case ${RANKBOX_REQUIRE_GPU-}:${RANKBOX_GPU_MODE-}:${RANKBOX_NCCL_SHARE_GPU-}:\
${CUDA_VISIBLE_DEVICES-}:${RANK-}:${LOCAL_RANK-}:${WORLD_SIZE-} in
1:shared::0:::|1:auto:::::|1::1:0:[01]:[01]:2|1::::[01]:[01]:2) exit 0;; esac; exit 9
"""

# Programs that meet every target, on two GPUs.
ALL_GOOD = {
    "gpu_costs": COSTS,
    "gpu_machine": printed(machine(2)),
    "gpu_pairs": pairs(0),
    "kernel_bench": bench(0.95),
    "rankbox-compare-nccl": """[ "${NCCL_DEBUG-}" != INFO ] || exec cat <<'END'
h:1:2 [0] NCCL INFO AllReduce: 4 Bytes -> Algo TREE proto LL channel{Lo..Hi}={0..0}
h:1:2 [0] NCCL INFO AllReduce: 67108864 Bytes -> Algo NVLS proto SIMPLE channel{Lo..Hi}={0..15}
h:1:2 [0] NCCL INFO AllGather: 268435456 Bytes -> Algo RING proto LL128 channel{Lo..Hi}={0..15}
END
""" + printed(table()),
    "rankbox-train-nccl": speed(50000),
    "rankbox-train-sim": speed(4000),
    "contract/point_to_point_test": TEST,
    "contract/results_test": TEST,
    "course/02_x": '[ "$1" = solutions ]\n',
    "device/d_test": "exit 0\n",
    "kernels/k_test": "exit 0\n",
    "torch.py": "pass\n",
    "torch_peer.py": "print(1e-4)\n",
    "compute-sanitizer": 'shift 6; exec "$@"\n',
}


class ReportTest(unittest.TestCase):
    def run_with(self, changes, options):
        """Runs the report.

        Args:
          changes: scripts in place of ALL_GOOD's; empty: no such program.
          options: of the command line, FOLDER for a temporary folder.

        Returns:
          Its exit code, both streams, and the folder.
        """
        folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))
        for name, script in {**ALL_GOOD, **changes}.items():
            path = folder / name
            path.parent.mkdir(exist_ok=True)
            if script:
                path.write_text("#!/bin/sh\n" + script, encoding="utf-8")
                path.chmod(0o700)
        ran = subprocess.run(
            [PROGRAM, "--programs", folder, *options.replace("FOLDER", str(folder)).split()],
            env={"PATH": f"{folder}:/usr/bin:/bin", "RANK": "0", "WORLD_SIZE": "2",
                 "RANKBOX_GPU_MODE": "shared", "PYTHONPATH": str(folder)},
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        self.errors = ran.stderr.decode()
        return ran.returncode, ran.stdout.decode(), folder

    def test_programs_that_meet_every_target(self):
        code, output, _ = self.run_with({}, "")
        self.assertEqual(code, 0, output)
        for part in [
                "2 × GPU X, driver 580.65.06, CUDA 13.0", "2 of 2 pairs",
                "2 of 2; target: all; met",
                "4000 GB/s; measured", "95.0 % of the copy; target: at least 90 %; met",
                "% of the bound of 21 n bytes; target: at least 80 %; met",
                "ring_pipelined 1.50x; target: no wrong element; met",
                "native 384 us (mean 400.4; NVLS, SIMPLE), ring",
                "native 1536 us (RING, LL128), ring",
                "native 1536 us, ring",
                "1.10 times, 1.50 times native, --segments 2; target: at most 1.15 times with "
                "NVLink; met",
                "50000 samples/s, 12.5 times the two cores; target: at least 10 times",
                "2 of 2 right, 100 to 200 GB/s; target: no wrong element; met",
                "5.00 times PyTorch's 10000 samples/s; target: at least PyTorch's; met",
                "1.5 us, 1.5 us from each of 2 threads, 1.5 us from each of 4 threads; measured",
                "384 us, 1.00 times the best, of 1; target: at most 1.1 times the best; met",
                "1.00 times one GPU", "1 programs without an error; target: no error; met",
                " 0 not met, 0 not measured"]:
            self.assertIn(part, output)
        self.assertNotIn("\033", output)  # no terminal, no colour

    def test_a_line_has_its_value_or_why_there_is_none_and_the_exit_code_says_if_all_is_well(self):
        # A program, the script in its place, options of --only, exit code, and a part of the text.
        for program, script, options, code, part in [
                ("gpu_machine", printed(machine(1)), "ring", 0,
                 "; not measured, because there is one GPU"),
                ("gpu_machine", printed(machine(1)), "collectives", 0, "broadcast, 4 ranks"),
                ("gpu_machine", printed(machine(1)), "contract-p", 0, "because there is one GPU"),
                ("kernel_bench", bench(0.5), "kernels", 1, "at least 90 %; not met"),
                ("kernel_bench", "kill -SEGV $$", "kernels", 1,
                 "kernel_bench was ended by signal 11"),
                ("kernel_bench", "exit 1", "sharing", 0, "because the device copy is not measured"),
                ("kernel_bench", "echo on fire >&2; exit 1", "kernels", 1, "because on fire"),
                ("kernel_bench", HANG, "kernels --seconds 0.2", 0,
                 "because the section's 0.2 s ran"),
                ("kernel_bench", "echo fast", "kernels", 1, "kernel_bench did not print JSON"),
                ("kernel_bench", "echo '{}'", "kernels", 1,
                 "because the figures are incomplete: "),
                ("kernel_bench", "exit 0", "kernels --markdown", 1,
                 "| kernels: accumulate, 64 MiB |"),
                ("rankbox-train-nccl", "echo no >&2; exit 2", "train", 0,
                 "measured, because no\n"),
                ("rankbox-train-nccl", "", "train", 0,
                 "rankbox-train-nccl is not among the programs"),
                ("rankbox-compare-nccl", printed(table(3)) + "exit 1", "collectives", 1,
                 "native 1536 us, ring 1.50x, ring_segmented 1.50x, ring_pipelined 1.50x; 12 wrong "
                 "elements; target: no wrong"),
                ("contract/results_test", "exit 1", "contract-shared", 1,
                 "1 of 2; failed: contract/results_test; target: all; not met"),
                ("contract/results_test", '[ "$RANK" != 1 ]', "contract-one", 1,
                 "failed: contract/results_test"),
                # The other rank has 5 s to report the same.
                ("contract/results_test", '[ "$RANK" = 0 ] || exit 1\n' + HANG, "contract-one", 1,
                 "1 of 2; failed: contract/results_test"),
                ("contract/results_test", HANG, "contract-shared --seconds 3", 1,
                 "1 of 2; not ended after 2 s: contract/results_test; target: all; not met"),
                ("compute-sanitizer", "exit 99", "sanitizer", 1,
                 "k_test has exit code 99; target: no"),
                ("kernel_bench", "", "kernel,nothing", 2, "contract-one-gpu"),
                ("kernel_bench", "", "kernels --markdown --json -", 2, "--markdown"),
                ("kernel_bench", "", "kernels --json /nowhere/x", 2, "/nowhere/x"),
                ("contract/results_test", "exit 1", "contract-shared --tests point", 0,
                 "1 of 1; target: all; met"),
                ("contract/results_test", "exit 1", "contract-shared", 1,
                 "once more: --only contract-shared --tests results_test --debug\n"),
                ("contract/results_test", "[ ${NCCL_DEBUG-} = WARN ]", "contract-shared --debug", 0,
                 "2 of 2; target: all; met"),
                ("gpu_pairs", pairs(7), "pairs", 1,
                 "1 of 2 right, 100 to 200 GB/s; wrong: GPU 1 to 0; target: no wrong element; not"),
                ("course/02_x", "", "course", 0, "because course/ is not among the programs"),
                ("gpu_machine", printed(machine(1)), "contract-threads", 0, "NCCL 2.30"),
                ("torch.py", "", "train", 0, "PyTorch is not here"),
                ("kernel_bench", '[ "$2 $4" = "64K 1024K" ] || exit 1\n' + bench(0.95),
                 "kernels --dry-run", 0, "a dry run"),
                ("kernel_bench", "", "kernels --tests point,nothing", 2, "kernels/k_test"),
                ("kernel_bench", "", "kernels --out FOLDER/gpu_machine", 2, "gpu_machine"),
                ("report.json", "{}", "kernels --out FOLDER", 2, "report already"),
                ("kernel_bench", "", "kernels --seconds soon", 2, "--seconds"),
                ("kernel_bench", "", "kernels --seconds 0", 2, "0.1"),
                ("kernel_bench", "", "kernels --mark", 2, "--mark"),
        ]:
            with self.subTest(program=program, script=script, options=options):
                ended, output, _ = self.run_with({program: script}, "--only " + options)
                self.assertIn(part, output + self.errors)
                self.assertEqual(ended, code, output)
                if code == 2:
                    self.assertRegex(output + self.errors, r"\Arankbox-gpu: .*\n\Z")

    def test_without_a_gpu_there_is_one_line(self):
        code, output, _ = self.run_with({"gpu_machine": "echo no GPU here >&2; exit 1"}, "")
        self.assertEqual(output + self.errors,
                         "rankbox-gpu: cannot find out about the GPUs: no GPU here\n")
        self.assertEqual(code, 1)

    def test_json_on_standard_output_is_alone_there_and_has_the_programs_own_figures(self):
        found = json.loads(self.run_with({}, "--only kernels,collectives --json -")[1])
        self.assertEqual(found["not_met"], 0)
        self.assertFalse(found["interrupted"])
        self.assertEqual(found["details"]["collectives"], table())
        for line in found["lines"]:
            self.assertIsInstance(line["value"], str)
            self.assertEqual(line["target"] is None, line["state"] == "measured")

    def test_ctrl_c_ends_the_program_that_runs_and_the_report_has_what_there_is(self):
        # The script is a child of the report's process.
        code, output, folder = self.run_with({"kernel_bench": "kill -INT $PPID\n" + HANG},
                                             "--only machine,kernels,ring --json FOLDER/out")
        self.assertEqual(code, 130)
        for part in ("2 of 2 pairs", "because of an interrupt", "; interrupted\n"):
            self.assertIn(part, output)
        found = json.loads((folder / "out").read_text(encoding="utf-8"))
        self.assertTrue(found["interrupted"])
        self.assertEqual(found["lines"][-1]["section"], "ring")
        self.assertEqual(found["lines"][-1]["because"], "of an interrupt")


    def test_ctrl_c_ends_programs_that_run_together(self):
        # One of them sends it; all of them would run for ever.
        code, _, folder = self.run_with(
            {"contract/point_to_point_test": HANG, "contract/third_test": HANG,
             "contract/results_test": "kill -INT $PPID\n" + HANG},
            "--only contract-shared,kernels --out FOLDER/out")
        self.assertEqual(code, 130)
        found = json.loads((folder / "out" / "report.json").read_text(encoding="utf-8"))
        self.assertTrue(found["interrupted"])
        self.assertEqual([line["section"] for line in found["lines"]],
                         ["contract-shared", "kernels"])
        self.assertTrue(all(ran["code"] is None for ran in found["programs"][1:]))

    def test_the_folder_has_the_report_and_what_every_program_printed(self):
        _, output, folder = self.run_with(
            {"contract/results_test": "echo wrong; echo why >&2; exit 3\n"},
            "--only machine,contract-shared --out FOLDER/out")
        found = json.loads((folder / "out" / "report.json").read_text(encoding="utf-8"))
        self.assertEqual([line["section"] for line in found["lines"]][-1], "contract-shared")
        codes = {ran["program"]: ran["code"] for ran in found["programs"]}
        self.assertEqual(codes, {"gpu_machine": 0, "gpu_costs": 0,
                                 "contract/point_to_point_test": 0, "contract/results_test": 3})
        self.assertIn(found["again"], output)
        self.assertIn("| contract-shared: ", (folder / "out" / "report.md").read_text("utf-8"))
        printed_there = (folder / "out" / "output.txt").read_text("utf-8")
        for part in ("contract-shared: contract/results_test: exit code 3", "\nwrong\nwhy\n"):
            self.assertIn(part, printed_there)

    def test_what_ends_the_report_loses_nothing_that_was_measured(self):
        code, _, folder = self.run_with({"rankbox-compare-nccl": "kill -KILL $PPID\n" + HANG},
                                        "--only machine,kernels,sharing --out FOLDER/out")
        self.assertEqual(code, -9)
        found = json.loads((folder / "out" / "report.json").read_text(encoding="utf-8"))
        self.assertEqual(found["lines"][-1]["section"], "kernels")

    def test_standard_error_has_a_line_for_each_section_and_its_limit(self):
        self.run_with({}, "--only machine,kernels --seconds 90 --markdown")
        self.assertEqual([line.split(",")[0] for line in self.errors.splitlines()],
                         ["1 of 2: machine", "2 of 2: kernels"])
        self.assertIn("at most 40 s", self.errors)  # 20 of 45 parts


if __name__ == "__main__":
    unittest.main()
