"""All notebooks run from top to bottom, and their output is small."""

import json
import pathlib
import unittest

import nbformat
from nbconvert.preprocessors import ExecutePreprocessor

HERE = pathlib.Path(__file__).parent
MOST_BYTES = 300_000  # of a notebook with its output


class NotebooksTest(unittest.TestCase):
    def test_they_run(self):
        notebooks = sorted(HERE.glob("*.ipynb"))
        self.assertGreaterEqual(len(notebooks), 3)
        for path in notebooks:
            with self.subTest(path.name):
                notebook = nbformat.read(path, as_version=4)
                nbformat.validate(notebook)
                run = ExecutePreprocessor(timeout=300, kernel_name="python3")
                run.preprocess(notebook, {"metadata": {"path": str(HERE)}})  # throws if a cell does
                self.assertLess(len(json.dumps(notebook)), MOST_BYTES)

    def test_they_are_kept_with_what_they_show(self):
        for path in sorted(HERE.glob("*.ipynb")):
            with self.subTest(path.name):
                self.assertLess(path.stat().st_size, MOST_BYTES)
                notebook = nbformat.read(path, as_version=4)
                cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
                self.assertTrue(any(cell.outputs for cell in cells))
                for cell in cells:
                    self.assertIsNotNone(cell.execution_count)


if __name__ == "__main__":
    unittest.main(verbosity=2)
