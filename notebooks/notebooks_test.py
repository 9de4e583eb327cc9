"""All notebooks run from top to bottom, and their output is small."""

import copy
import json
import pathlib
import unittest

import nbformat
from nbconvert.preprocessors import ExecutePreprocessor

HERE = pathlib.Path(__file__).parent
MOST_BYTES = 300_000  # of a notebook with its output


def texts_of(cell):
    """What a cell shows, without plots: what it prints, which may come in pieces, and the rest."""
    printed = "".join(output.get("text", "") for output in cell.outputs)
    return [printed] + [(kind, text) for output in cell.outputs
                        for kind, text in sorted(output.get("data", {}).items())
                        if kind != "image/png"]


class NotebooksTest(unittest.TestCase):
    def test_they_run(self):
        notebooks = sorted(HERE.glob("*.ipynb"))
        self.assertGreaterEqual(len(notebooks), 4)
        for path in notebooks:
            with self.subTest(path.name):
                notebook = nbformat.read(path, as_version=4)
                nbformat.validate(notebook)
                kept = copy.deepcopy(notebook)
                run = ExecutePreprocessor(timeout=300, kernel_name="python3")
                run.preprocess(notebook, {"metadata": {"path": str(HERE)}})  # throws if a cell does
                self.assertLess(len(json.dumps(notebook)), MOST_BYTES)
                self.check_pictures(notebook)
                self.check_kept(kept, notebook)
                if path.stem == "4_fit_alpha_and_beta":
                    self.check_fit(notebook)

    def check_pictures(self, notebook):
        """Runs are drawn as pictures; their text is for what cannot show pictures."""
        for output in (each for cell in notebook.cells for each in cell.get("outputs", [])):
            if "━" in output.get("text", "") + output.get("data", {}).get("text/plain", ""):
                self.assertIn("<svg", output.get("data", {}).get("image/svg+xml", ""))

    def check_kept(self, kept, notebook):
        """What the file shows is what its cells print and draw today.

        Cells with the tag "measured" show times or luck. Of plots the words alone are compared:
        other versions of matplotlib draw them otherwise.
        """
        for old, new in zip(kept.cells, notebook.cells):
            if old.cell_type == "code" and "measured" not in old.metadata.get("tags", []):
                self.assertEqual(texts_of(old), texts_of(new), old.source)

    def check_fit(self, notebook):
        """What went into the simulator comes out of the fit."""
        links = json.loads((HERE / "example_comparison.json").read_text())["cluster"]
        within = links["within_node"]
        text = "".join(output.get("text", "") for cell in notebook.cells
                       for output in cell.get("outputs", []))
        self.assertIn(f"α = {within['alpha_us']:.3g} µs,  "
                      f"1/β = {1 / within['beta_ns_per_byte']:.4g} GB/s,  "
                      f"1/γ = {1 / links['gamma_ns_per_byte']:.4g} GB/s", text)

    def test_they_are_kept_with_what_they_show(self):
        for path in sorted(HERE.glob("*.ipynb")):
            with self.subTest(path.name):
                self.assertLess(path.stat().st_size, MOST_BYTES)
                notebook = nbformat.read(path, as_version=4)
                cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
                self.assertTrue(any(cell.outputs for cell in cells))
                for cell in cells:
                    self.assertIsNotNone(cell.execution_count)
                self.check_pictures(notebook)


if __name__ == "__main__":
    unittest.main(verbosity=2)
