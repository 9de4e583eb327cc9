#!/usr/bin/env python3
"""What `rankbox fit` reads, notices, fits and refuses: small logs in testdata/, and logs that are
made of a known cluster, which the fit gives back.
"""

import io
import json
import pathlib
import subprocess
import sys
import tempfile
import tomllib
import unittest
from contextlib import redirect_stderr, redirect_stdout

HERE = pathlib.Path(__file__).absolute().parent
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True

import fit_logs  # noqa: E402  (beside this file, like those below)
import fit_report  # noqa: E402
from fit_findings import ranks_by_factor  # noqa: E402

DATA = HERE / "testdata"
PLAIN = (DATA / "plain_8.log").read_text(encoding="utf-8")


def fit(*words):
    """Returns (exit code, report or None, stderr) of one run with --json."""
    out, err = io.StringIO(), io.StringIO()
    before, sys.argv = sys.argv, ["fit_report.py", *map(str, words), "--json"]
    try:
        with redirect_stdout(out), redirect_stderr(err):
            code = fit_report.main()
    finally:
        sys.argv = before
    return code, json.loads(out.getvalue()) if out.getvalue() else None, err.getvalue()


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def log(self, text, name="a.log"):
        path = self.folder / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path


# ---- What is read and noticed --------------------------------------------------------------------

class LogsTest(Case):
    def test_each_kind_of_log_has_its_tables_and_findings(self):
        reduce_8 = ("all_reduce", 8, 1, 7)
        rows = [
            # Log, words, tables (collective, ranks, nodes, rows), findings beyond the usual ones
            ("plain_8.log", [], [reduce_8], {"only-all-reduce"}),
            ("prefix_16.log", [], [("all_reduce", 16, 2, 6)], {"no-one-node"}),
            ("old_4.log", [], [("all_reduce", 4, 1, 5)], {"contradiction", "only-all-reduce"}),
            ("alltoall_8.log", [], [("all_to_all", 8, 1, 5)], set()),
            ("two_tables.log", [], [("all_gather", 8, 1, 5), reduce_8], set()),
            ("no_mpi.log", [], [], {"no-mpi"}),
            ("one_gpu.log", [], [], {"one-rank"}),
            ("cliff_24.log", [], [("all_reduce", 24, 3, 9)], {"cliff", "no-one-node"}),
            ("no_ranks_72.log", ["--ranks-per-node", 72], [("all_reduce", 72, 1, 5)],
             {"ranks", "only-all-reduce", "no-gpu"}),
            ("gigabits.log", [], [reduce_8], {"units", "only-all-reduce"}),
            ("nccl.json", [], [("reduce_scatter", 4, 1, 5)], set()),
            ("comparison.json", [], [("all_gather", 4, 1, 4)], set()),
        ]
        self.assertEqual({path.name for path in DATA.iterdir()}, {row[0] for row in rows})
        for name, words, tables, kinds in rows:
            with self.subTest(name):
                code, report, _ = fit(DATA / name, *words)
                self.assertEqual(code, 0 if tables else 1)
                self.assertEqual([(each["collective"], each["ranks"], each["nodes"],
                                   len(each["rows"])) for each in report["tables"]], tables)
                self.assertEqual({each["kind"] for each in report["findings"]}, kinds)
                self.assertEqual(report["toml"] is None, not tables)
                for table in report["tables"]:
                    self.assertLess(table["median_error"], 0.05)
                    self.assertLess(table["worst_error"], 0.15)
                for finding in report["findings"]:  # a line, with the value and what to do
                    self.assertIn(str(DATA / name), finding["file"])
                    self.assertNotIn("\n", finding["text"])

    def test_rows_behind_a_cliff_and_spikes_are_named_and_not_fitted(self):
        code, report, _ = fit(DATA / "cliff_24.log")
        self.assertEqual(code, 0)
        [value] = [each["value"] for each in report["findings"] if each["kind"] == "cliff"]
        self.assertEqual(value, {"bytes": 64 << 20, "before": 29.5, "after": 5.3})
        left_out = [row["bytes"] >> 20 for row in report["tables"][0]["rows"] if row["left_out"]]
        self.assertEqual(left_out, [64, 128, 256])

        slow = self.log(PLAIN.replace("  20.20 ", " 2020.0 ").replace("  3.24    5.68      0\n",
                                                                     "  0.03    0.06      0\n"))
        code, report, _ = fit(slow)
        [value] = [each["value"] for each in report["findings"] if each["kind"] == "spike"]
        self.assertEqual((code, value), (0, [65536]))

    def test_a_name_that_the_factor_contradicts_does_not_decide(self):
        nameless = "\n".join(line for line in PLAIN.splitlines() if "all_reduce" not in line)
        for name in ["one_reduce.log", "all_reduce.log", "a.log"]:
            code, report, _ = fit(self.log(nameless, name))
            self.assertEqual((code, [each["collective"] for each in report["tables"]]),
                             (0, ["all_reduce"]), name)

    def test_a_fall_that_recovers_is_no_cliff_and_a_mild_one_neither(self):
        table = lambda *speeds: fit_logs.Table("x", "all_reduce", ranks=8, rows=[
            fit_logs.Row(1 << 20 << i, (1 << 20 << i) / speed * 1e-3, speed, speed)
            for i, speed in enumerate(speeds)])
        from fit_findings import cliff
        for speeds, found in [((10, 20, 30, 14, 40, 50), False), ((10, 20, 30, 25, 24), False),
                              ((10, 20, 30, 10, 11, 9), True), ((10, 20, 30, 2), True),
                              ((10, 20, 30, 14, 22, 23), False), ((10,), False)]:
            with self.subTest(speeds=speeds):
                self.assertEqual(bool(cliff(table(*speeds))), found)

    def test_ranks_follow_from_the_factor_of_the_bus_bandwidth(self):
        for collective, factor, ranks in [("all_reduce", 1.9722, 72), ("all_reduce", 1.9167, 24),
                                          ("all_reduce", 1.75, 8), ("all_gather", 0.875, 8),
                                          ("all_to_all", 0.5, 2)]:
            with self.subTest(factor=factor):
                self.assertEqual(ranks_by_factor(collective, factor, 5e-5), [ranks])
        self.assertGreater(len(ranks_by_factor("all_reduce", 1.97, 1e-3)), 1)

    def test_hosts_that_a_log_does_not_name_are_asked_for(self):
        code, _, error = fit(DATA / "no_ranks_72.log")
        self.assertEqual(code, 2)
        self.assertIn("--ranks-per-node", error)
        self.assertIn("72 ranks", error)
        code, report, _ = fit(DATA / "no_ranks_72.log", "--ranks-per-node", 4)
        self.assertEqual((code, report["tables"][0]["nodes"]), (0, 18))

    def test_wrong_results_are_told_from_a_footer_that_contradicts_them(self):
        wrong = PLAIN.replace("      0\n", "     31\n")
        failed = wrong.replace("values : 0 OK", "values : 7 FAILED")
        for text, kind in [(wrong, "contradiction"), (failed, "wrong"),
                           (PLAIN.replace("values : 0 OK", "values : 7 FAILED"), "contradiction")]:
            _, report, _ = fit(self.log(text))
            self.assertIn(kind, {each["kind"] for each in report["findings"]})

    def test_a_run_that_ended_early_keeps_its_whole_rows(self):
        code, report, _ = fit(self.log(PLAIN[:PLAIN.rindex("1073741824") + 60]))
        self.assertEqual(code, 0)
        self.assertIn("cut", {each["kind"] for each in report["findings"]})
        self.assertEqual(len(report["tables"][0]["rows"]), 6)

    def test_a_launchers_other_prefixes_change_nothing(self):
        _, expected, _ = fit(self.log(PLAIN))
        for prefix in ("[1,0]<stdout>:", "0: ", "[3]", "2026-11-01T10:00:00.123Z "):
            text = "".join(prefix + line for line in PLAIN.splitlines(keepends=True))
            with self.subTest(prefix=prefix):
                _, report, _ = fit(self.log(text))
                self.assertEqual(report["tables"], expected["tables"])

    def test_ranks_that_share_a_gpu_measure_no_link(self):
        text = (DATA / "comparison.json").read_text(encoding="utf-8")
        for i in range(1, 4):
            text = text.replace(f"0000:1{i}:00.0", "0000:10:00.0")
        code, report, _ = fit(self.log(text))
        self.assertEqual((code, report["findings"][0]["kind"]), (1, "shared-gpu"))


class UnitsTest(Case):
    def test_gigabits_are_named_by_the_header_and_converted(self):
        rows = lambda name: [(row["bytes"], row["us"]) for row in
                             fit(DATA / name)[1]["tables"][0]["rows"]]
        self.assertEqual(rows("gigabits.log"), rows("plain_8.log"))
        [table] = fit_logs.read(DATA / "gigabits.log")
        self.assertAlmostEqual(table.rows[-1].busbw, 407.6, delta=0.5)

    def test_no_unit_is_guessed(self):
        no_units = "\n".join(line for line in PLAIN.splitlines() if "(elements)" not in line)
        for text, word in [(PLAIN.replace("(GB/s)", "(XB/s)"), "XB/s"),
                           (PLAIN.replace("(us)", "(ticks)"), "ticks"), (no_units, "unit"),
                           (PLAIN.replace("(GB/s)", "(Gb/s)"), "contradict"),
                           (PLAIN.replace("(B)", "(KB)"), "KB")]:
            with self.subTest(word):
                code, _, error = fit(self.log(text))
                self.assertEqual(code, 2)
                self.assertIn(word, error)


class NoLogTest(Case):
    def test_another_file_is_one_line_that_names_what_was_found(self):
        header = PLAIN[:PLAIN.index("           8")]
        virtual = json.dumps({"virtual": True, "cluster": {"name": "h100-efa"},
                              "results": [{"time_us": None, "whose": "native", "bytes": 8}]})
        for content, word in [(b"", "empty"), (b"\x7fELF\0\0", "binary"), (b"# notes\n", "# notes"),
                              (b"8,1.5\n16,2\n", "CSV"), (b'{"a": 1, "b": 2}', "a, b"),
                              (PLAIN[:200], "the program started"), (header, "header without rows"),
                              (PLAIN[PLAIN.index("           8"):], "rows without a header"),
                              (b'{"results": [', "line 1"), (virtual, "h100-efa"),
                              (b"mpirun: not found\n", "mpirun: not found")]:
            with self.subTest(word):
                path = self.log(content)
                code, report, error = fit(path)
                self.assertEqual((code, report), (2, None))
                self.assertTrue(error.startswith(f"rankbox: {path}"), error)
                self.assertIn(word, error)
                self.assertEqual(error.count("\n"), 1)

    def test_a_mistake_of_the_command_line_is_one_line(self):
        for words, word in [(["no/such.log"], "no/such.log"), ([DATA], str(DATA)),
                            ([DATA / "plain_8.log", "--out", "x.txt"], "x.txt"),
                            ([DATA / "plain_8.log", "--plot", "x.txt"], "x.txt"),
                            ([DATA / "plain_8.log", "--name", "a b"], "a b")]:
            with self.subTest(word):
                code, _, error = fit(*words)
                self.assertEqual((code, error.count("\n")), (2, 1))
                self.assertIn(word, error)


# ---- What is fitted ------------------------------------------------------------------------------

def number(value, width):
    """As nccl-tests print it."""
    for digits in (2, 1, 0):
        text = f"{value:.{digits}f}"
        if len(text) <= width:
            break
    return f"{text:>{width}}"


def log_of(program, ranks, nodes, factor, seconds, operation="sum", sizes=range(3, 34)):
    """A log in which a size takes seconds(size)."""
    lines = [f"# Collective test starting: {program}_perf"]
    lines += [f"#  Rank {rank:2d} Group  0 Pid {100 + rank} on host{rank * nodes // ranks} device "
              f"{rank} [0000:{rank:02x}:00] NVIDIA H200" for rank in range(ranks)]
    lines += ["# size count type redop root time algbw busbw #wrong time algbw busbw #wrong",
              "# (B) (elements) (us) (GB/s) (GB/s) (us) (GB/s) (GB/s)"]
    for size in (1 << power for power in sizes):
        us = 1e6 * seconds(size)
        half = (f"{number(us, 7)} {number(size / us * 1e-3, 6)} "
                f"{number(factor * size / us * 1e-3, 6)} 0")
        lines.append(f"{size} {size // 4} float {operation} -1 {half} {half}")
    return "\n".join([*lines, "# Out of bounds values : 0 OK", ""])


class KnownClusterTest(Case):
    """Logs of a cluster: nodes of 8, 300 GB/s and 2.4 us inside, 40 GB/s and 11 us between."""
    CALL, WITHIN, BETWEEN, ALPHA, CROSSING = 6.6e-6, 300e9, 40e9, 2.4e-6, 11e-6

    def logs(self):
        message = lambda alpha, rate: lambda n: self.CALL + alpha + n / rate
        # A quick mode and a wide one, both limited by the links.
        gather = lambda n: min(self.CALL + 7 * 0.6e-6 + 7 / 8 * n / (self.WITHIN / 4),
                               self.CALL + 7 * 4e-6 + 7 / 8 * n / self.WITHIN)
        far = lambda n: self.CALL + 14 * 4e-6 + self.CROSSING + 15 / 16 * n / 8 / self.BETWEEN
        reduced = lambda n: self.CALL + 3 * self.ALPHA + 7 / 4 * n / self.WITHIN
        return [self.log(text, f"{i}.log") for i, text in enumerate([
            log_of("sendrecv", 2, 1, 1, message(self.ALPHA, self.WITHIN)),
            log_of("sendrecv", 2, 2, 1, message(self.CROSSING, self.BETWEEN)),
            log_of("all_gather", 8, 1, 7 / 8, gather, "none"),
            log_of("all_gather", 16, 2, 15 / 16, far, "none"),
            log_of("all_reduce", 8, 1, 7 / 4, reduced)])]

    def test_it_comes_back_within_a_few_per_cent(self):
        code, report, _ = fit(*self.logs())
        self.assertEqual((code, report["findings"]), (0, []))
        cluster = report["cluster"]
        for link, alpha, rate in [("within_node", self.ALPHA, self.WITHIN),
                                  ("between_nodes", self.CROSSING, self.BETWEEN)]:
            self.assertAlmostEqual(cluster[link]["bandwidth_GB_s"] / (1e-9 * rate), 1, delta=0.03)
            self.assertAlmostEqual(cluster[link]["alpha_us"] / (1e6 * alpha), 1, delta=0.03)
        self.assertIsNone(cluster["within_node"]["switch_GB_s"])
        for table in report["tables"]:
            self.assertLess(table["worst_error"], 0.03, table["collective"])

    def test_the_toml_has_every_field_and_each_log_its_modes(self):
        out = self.folder / "mine.toml"
        code, report, _ = fit(*self.logs(), "--out", out)
        self.assertEqual(code, 0)
        self.assertEqual(out.read_text(encoding="utf-8"), report["toml"])
        toml = tomllib.loads(report["toml"])
        preset = tomllib.loads((HERE.parents[1] / "sim/clusters/presets/h200-ib.toml").read_text(
            encoding="utf-8"))
        self.assertEqual(toml["name"], "mine")
        self.assertEqual((toml["ranks_per_node"], toml["reduction_GB_s"]), (8, 1400))
        self.assertLessEqual(set(toml), set(preset))
        for modes in (toml["native"], preset["native"]):
            for nodes in (1, 2):
                names = {name for mode in modes for name in mode["collectives"]
                         if mode.get("nodes", 1) == nodes}
                self.assertEqual(len(names), 8)
        gathers = [mode for mode in toml["native"] if mode["collectives"] == ["all_gather"]]
        self.assertEqual({mode.get("nodes", 1) for mode in gathers}, {1, 2})

    def test_a_switch_that_adds_is_told_from_links(self):
        logs = self.logs()
        adds = lambda n: self.CALL + 3 * self.ALPHA + 9 / 8 * n / 250e9
        logs[-1] = self.log(log_of("all_reduce", 8, 1, 7 / 4, adds), "nvls.log")
        _, report, _ = fit(*logs)
        within = report["cluster"]["within_node"]
        self.assertAlmostEqual(within["switch_GB_s"], 250, delta=5)
        self.assertAlmostEqual(within["bandwidth_GB_s"], 300, delta=9)

    def test_logs_of_fewer_ranks_are_predicted(self):
        small = lambda n: self.CALL + 2 * self.ALPHA + 3 / 2 * n / self.WITHIN
        logs = [*self.logs(), self.log(log_of("all_reduce", 4, 1, 1.5, small), "four.log")]
        _, report, _ = fit(*logs)
        [four] = [each for each in report["tables"] if each["ranks"] == 4]
        self.assertFalse(four["fitted"])
        self.assertLess(four["median_error"], 0.25)

    def test_one_size_alone_is_fitted_with_a_note(self):
        gather = lambda n: self.CALL + 15 / 16 * n / self.WITHIN
        path = self.log(log_of("all_gather", 16, 1, 15 / 16, gather, "none", sizes=[34]))
        code, report, _ = fit(path)
        self.assertEqual(code, 0)
        self.assertEqual([each["kind"] for each in report["findings"]], ["few-sizes"])
        self.assertAlmostEqual(report["cluster"]["within_node"]["bandwidth_GB_s"], 300, delta=9)


# ---- The program ---------------------------------------------------------------------------------

class ProgramTest(Case):
    def run_script(self, *words):
        return subprocess.run([sys.executable, HERE / "fit_report.py", *words], check=False,
                              capture_output=True, text=True)

    def test_the_text_has_the_error_of_each_size_and_the_cluster(self):
        done = self.run_script(DATA / "plain_8.log")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for size in ("8 B", "1 KiB", "64 KiB", "1 MiB", "16 MiB", "256 MiB", "1 GiB"):
            self.assertRegex(done.stdout, rf"(?m)^ +{size} .*%$")
        self.assertIn('name = "mine"', done.stdout)

    def test_a_plot_is_drawn_or_matplotlib_named(self):
        for name in ("a.svg", "a.png"):
            path = self.folder / name
            done = self.run_script(DATA / "cliff_24.log", "--plot", path)
            if done.returncode:
                self.assertIn("python3-matplotlib", done.stderr)
            else:
                self.assertGreater(path.stat().st_size, 1000)

    def test_the_subcommand_and_the_script_have_the_same_options(self):
        source = (HERE / "fit.cc").read_text(encoding="utf-8")
        for option in ("--out", "--plot", "--name", "--ranks-per-node", "--json"):
            self.assertIn(f'"{option}"', source)
        done = self.run_script("--out=", "--plot=", "--name=", "--ranks-per-node=0", "--json", "--",
                               DATA / "plain_8.log")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(json.loads(done.stdout)["cluster"]["name"], "mine")


if __name__ == "__main__":
    unittest.main()
