"""Tables of pages are what the program computes, and sums are right. See pages_test.py."""

import functools
import json
import math
import re
import tomllib
import unittest

import formulas
import pages
from page_program import EXERCISES, PAGES, ROOT, all_blocks, all_tables, compare, ranks_of, run

# What a figure is, if no test recomputes it.
SOURCE = re.compile(r"[Mm]easured|[Ee]xample|[Pp]ublished|cost model")
TIME = re.compile(r"[\d.,]+ (?:ns|µs|ms|s)\b")  # a cell
# Names in tables, where they are not the algorithm's.
ALGORITHMS = {"pipelined ring": "ring_pipelined", "scatter + all-gather": "scatter_allgather",
              "reduce-scatter + gather": "scatter_gather", "Rabenseifner": "rabenseifner",
              "Bruck": "bruck"}
# A marker with parameters of a cluster: "h100-efa, n = 4 MiB: 8.6 = call + latency".
CLUSTER_CLAIMS = r"([a-z\d-]+)(?:, n = ([^:]*))?: [\d.]+ = "
LAPTOP = {"α": 0.3, "β": 0.0001, "γ": 0.0001}  # µs, and µs a byte


def bytes_of(text):
    """The size that a column has at its top, or None."""
    match = re.search(r"(\d+) (B|KiB|MiB|GiB)\b", text)
    return int(match.group(1)) * formulas.UNITS[match.group(2)] if match else None


def algorithm_of(label):
    """("ring_pipelined", segments or None) of a table's row."""
    name, *more = pages.plain(label).split(",")
    segments = re.search(r"s = (\d+)", "".join(more))
    return ALGORITHMS.get(name, name), int(segments.group(1)) if segments else None


class TablesTest(unittest.TestCase):
    def test_virtual_times(self):
        count = 0
        for table in all_tables():
            if table.marker.startswith("times: "):
                count += self.check_times(table)
        self.assertGreater(count, 50)

    def check_times(self, table):
        words = pages.command_in(table.marker[len("times: "):], table.place).words
        columns, ranks = [], ranks_of(words)[:1]
        for text in table.header:
            match = re.search(r"(\d+) ranks", text)
            ranks = [int(match.group(1))] if match else ranks
            columns.append((ranks[0], bytes_of(text)) if bytes_of(text) else None)
        sizes = sorted({column[1] for column in columns if column})
        words += ["--sizes", ",".join(map(str, sizes))]
        worlds = sorted({column[0] for column in columns if column})
        count = 0
        for row in table.rows:
            algorithm, segments = algorithm_of(row[0])
            more = ["--segments", str(segments), "--algorithms", algorithm] if segments else []
            results = compare([*words, *more], worlds)
            times = {(each["ranks"], each["bytes"]): each["virtual_us"] for each in results
                     if each["algorithm"] == algorithm}
            for column, cell in zip(columns, row):
                if column is None:
                    continue
                with self.subTest(table.place, row=row[0], column=column):
                    count += 1
                    shown = pages.plain(cell)
                    self.assertTrue(formulas.agree(shown, times[column]),
                                    f"{shown} µs on the page, {times[column]:.5g} by ./rankbox")
        return count

    def test_closed_forms_are_the_programs(self):
        forms = {page: closed_forms(page) for page in PAGES}
        self.assertGreater(sum(map(len, forms.values())), 15)
        for page, found in forms.items():
            for (collective, algorithm), form in found.items():
                with self.subTest(page, collective=collective, algorithm=algorithm):
                    self.check_form(collective, algorithm, form)

    def check_form(self, collective, algorithm, form):
        only_powers, text = form
        for row in compare(["compare", "--collective", collective, "--sizes", "840K"], [2, 7, 8]):
            if row["algorithm"] != algorithm or (only_powers and row["ranks"] == 7):
                continue
            pieces = collective in ("gather", "scatter", "all_gather")
            n = row["bytes"] / row["ranks"] if pieces else row["bytes"]
            value = value_of_form(text, row["ranks"], n)
            self.assertAlmostEqual(value / row["virtual_us"], 1, delta=2e-4, msg=(text, row))

    def test_claims(self):
        count = 0
        for page, claims, paragraph in claims_of_pages(r"[\d.]+ µs: "):
            for claim in claims.split("; "):
                with self.subTest(page, claim=claim):
                    count += 1
                    self.check_claim(page, claim, paragraph)
        self.assertGreater(count, 10)

    def test_claims_about_clusters(self):
        count = 0
        for page, claims, paragraph in claims_of_pages(CLUSTER_CLAIMS):
            name, size = re.match(CLUSTER_CLAIMS, claims).groups()
            known = parameters_of(name)
            if size:
                known["n"] = bytes_of(size) * 1e-3  # so n / GB/s is in µs
            for claim in claims.split(": ", 1)[1].split("; "):
                shown, expression = claim.split(" = ")
                with self.subTest(page, cluster=name, claim=claim):
                    count += 1
                    self.assert_shown(shown, paragraph)
                    value = formulas.evaluate(expression, known)
                    self.assertTrue(formulas.agree(shown, value), value)
        self.assertGreater(count, 10)

    def assert_shown(self, number, paragraph):
        self.assertRegex(paragraph, rf"(?<![\d.]){re.escape(number)}(?![\d.]*\d)",
                         "not in the paragraph")

    def check_claim(self, page, claim, paragraph):
        shown, name, p, size = re.fullmatch(
            r"([\d.]+) µs: ([^,]*), p = (\d+), n = ([^,]*)(?:, s = \d+)?", claim).groups()
        self.assert_shown(shown, paragraph)
        measured = re.fullmatch(r"(native) (\w+)|(\w+) of (\w+)", name)
        if measured:
            whose, collective = [each for each in measured.groups() if each]
            options = [] if whose == "native" else ["--algorithms", whose]
            rows = compare(["compare", "--collective", collective, "--sizes",
                            str(bytes_of(size)), *options], [p])
            value = next(row["virtual_us"] for row in rows if row["algorithm"] == whose)
        else:
            key = collective_and_algorithm(None, name)
            forms = [form for (collective, algorithm), (_, form) in closed_forms(page).items()
                     if algorithm == key[1] and key[0] in (None, collective)]
            self.assertEqual(len(forms), 1, f"no closed form of {name} on {page}")
            value = value_of_form(forms[0], int(p), bytes_of(size), values_in(claim).get("s"))
        self.assertTrue(formulas.agree(shown, value), f"{value:.5g} µs")

    def test_formulas(self):
        count = 0
        for table in all_tables():
            if not table.marker.startswith("formulas: "):
                continue
            given = values_in(table.marker)
            for row, (head, cell) in ((row, pair) for row in table.rows
                                      for pair in zip(table.header[1:], row[1:])):
                if not re.match(r"\d", cell):
                    continue
                label = pages.plain(row[0])
                known = {**LAPTOP, **given, **values_in(label), **values_in(head)}
                text = label.split(": ")[-1] if "=" in head else head
                if re.match(r"\d", label):
                    known["n"] = bytes_of(label)
                with self.subTest(table.place, row=label, column=head):
                    count += 1
                    value = formulas.evaluate(text, known)
                    unit = 0.01 if "%" in cell else 1
                    self.assertTrue(formulas.agree(cell, value, unit), f"{cell}, not {value}")
        self.assertGreater(count, 10)

    def test_schedules(self):
        """Pipelines by name, the share of the time that ranks are idle, and messages, as drawn."""
        count = 0
        for table in all_tables():
            if not table.marker.startswith("schedules: "):
                continue
            options = table.marker[len("schedules: "):].split()
            for name, idle, messages, *_ in table.rows:
                with self.subTest(table.place, schedule=name):
                    count += 1
                    code, drawn = run("show", pages.plain(name), "--solution", *options)
                    self.assertEqual(code, 0, drawn)
                    self.assertIn(f"take no time: {idle} of the time", drawn)
                    self.assertIn(f"\n{messages} messages, ", drawn)
        self.assertGreater(count, 4)

    def test_formulas_by_rank(self):
        """Rows of what it is, a formula, and its values on the ranks 0, 1, …"""
        for table in all_tables():
            if not table.marker.startswith("by rank: "):
                continue
            for _, formula, values in table.rows:
                for rank, value in enumerate(re.findall(r"\d+", values)):
                    with self.subTest(table.place, formula=formula, rank=rank):
                        known = {**values_in(table.marker), "r": rank}
                        self.assertEqual(formulas.evaluate(formula, known), float(value))

    def test_memory(self):
        """Lines of formulas, in bytes a parameter, and their sum in GB for 10⁹ parameters."""
        for block in all_blocks():
            if not block.marker.startswith("memory: "):
                continue
            known = values_in(block.marker)
            lines = [line.split() for line in block.lines if " GB" in line]
            self.assertGreater(len(lines), 3)
            for name, *parts in lines:
                at = parts.index("GB")
                with self.subTest(block.place, line=name):
                    value = sum(formulas.evaluate(part, known) for part in parts[:at - 1])
                    self.assertTrue(formulas.agree(parts[at - 1], value), value)

    def test_clusters(self):
        found = [table for table in all_tables() if table.marker == "clusters"]
        self.assertTrue(found)
        for table in found:
            for label, alpha, bandwidth, both in table.rows:
                name = re.search(r"`([\w-]+)`", label).group(1)
                known = parameters_of(name)
                is_between = "between" in label
                microseconds = known["call"] + known["crossing" if is_between else "latency"]
                rate = known["between" if is_between else "within"]
                with self.subTest(table.place, cluster=name):
                    self.assertTrue(formulas.agree(alpha, microseconds), microseconds)
                    self.assertTrue(formulas.agree(bandwidth, rate), rate)
                    unit = formulas.UNITS[both.split()[1]]
                    self.assertTrue(formulas.agree(both, microseconds * rate * 1e3, unit), both)

    def test_the_example_of_the_notebook(self):
        example = json.loads((ROOT / "notebooks/example_comparison.json").read_text())
        again = compare(["compare", *example["arguments"]],
                        ranks_of(example["arguments"]))
        self.assertEqual(len(again), len(example["results"]))
        for was, row in zip(example["results"], again):
            self.assertEqual((was["algorithm"], was["cost"]), (row["algorithm"], row["cost"]))
            self.assertAlmostEqual(was["virtual_us"] / row["virtual_us"], 1)

    def test_other_times_have_a_source(self):
        pieces = [(table, cell, "".join(table.header))
                  for table in all_tables() for row in table.rows for cell in row]
        pieces += [(block, line.strip(), block.lines[0]) for block in all_blocks()
                   for line in block.lines if not block.lines[0].startswith("$ ./rankbox")]
        for piece, text, head in pieces:
            if TIME.match(text) and not piece.marker:
                with self.subTest(piece.place):
                    self.assertRegex(piece.section + head, SOURCE)


def claims_of_pages(pattern):
    """(page, text of the marker, the paragraph before it) of the markers that match."""
    for page, text in PAGES.items():
        text = pages.FENCE.sub("", text)
        for match in pages.MARKER.finditer(text):
            claims = " ".join(match.group(1).split())
            if re.match(pattern, claims):
                before = pages.MARKER.sub("", text[:match.start()]).rstrip().split("\n\n")[-1]
                yield page, claims, " ".join(before.split())


def parameters_of(cluster):
    """A preset's parameters in µs and GB/s, by the names that markers use."""
    preset = tomllib.loads(
        (ROOT / f"sim/clusters/presets/{cluster}.toml").read_text(encoding="utf-8"))
    inside, outside = preset["within_node"], preset["between_nodes"]
    return {"call": preset.get("call_us", 0), "adding": preset["reduction_GB_s"],
            "latency": inside["alpha_us"], "within": inside["bandwidth_GB_s"],
            "crossing": outside["alpha_us"], "between": outside["bandwidth_GB_s"]}


def values_in(text):
    """The values that a text gives: "4 ranks" is p, "m = 8" is m."""
    found = {name: float(value) for name, value in re.findall(r"\b([a-zLSΨ]) = (\d[\d.]*)", text)}
    ranks = re.search(r"(\d+) ranks", text)
    return {**found, **({"p": float(ranks.group(1))} if ranks else {})}


@functools.lru_cache(maxsize=None)
def closed_forms(page):
    """{(collective, algorithm): (for powers of two only, formula)} of the page's table of costs."""
    forms = {}
    for table in pages.tables(page, PAGES[page]):
        if not table.marker.startswith("costs: "):
            continue
        words = pages.command_in(table.marker[len("costs: "):], table.place).words
        for label, form, *_ in table.rows:
            condition = re.match(r"p = (?:q|2\^k): ", form)
            text = re.split(r";|, [a-z] =", form[condition.end() if condition else 0:])[0]
            for name in pages.plain(label).split(", "):
                collective, algorithm = collective_and_algorithm(words, name)
                try:
                    value_of_form(text, 8, 64)
                except ValueError:
                    continue  # words
                forms[collective, algorithm] = (bool(condition), text)
    return forms


def collective_and_algorithm(words, label):
    """Of a row of a table, from its label, which may be the name of an exercise.

    @param words the command of the table; None: the collective is not known otherwise
    """
    for prefix, collective in (("gather_", "gather"), ("scatter_", "scatter"),
                               ("allgather_", "all_gather"), ("alltoall_", "all_to_all"),
                               ("reduce_scatter_", "reduce_scatter")):
        if label.startswith(prefix) and label in EXERCISES:
            return collective, label[len(prefix):]
    return words and words[words.index("--collective") + 1], algorithm_of(label)[0]


def value_of_form(text, p, n, segments=None):
    """A closed form's value in µs on the cluster laptop."""
    best = max(1, round(math.sqrt(max(p - 2, 0) * n * LAPTOP["β"] / LAPTOP["α"])))
    values = {**LAPTOP, "p": p, "n": n, "f": (p - 1) / p, "L": math.ceil(math.log2(p)),
              "m": n / p, "s": segments or best}
    return formulas.evaluate(text, values)


class SumsTest(unittest.TestCase):
    def test_equations_hold(self):
        count = 0
        for page, text in PAGES.items():
            for paragraph in pages.paragraphs(text):
                for left, right in formulas.equations(paragraph):
                    with self.subTest(page, left=left):
                        count += 1
                        self.assertTrue(formulas.holds(left, right), f"{left} = {right}")
        self.assertGreater(count, 15)
