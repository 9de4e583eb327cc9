"""%%exercise: verdicts and pictures, errors at the cell's own lines, and a kernel that survives."""

import pathlib
import unittest

import nbformat
from nbclient import NotebookClient

HERE = pathlib.Path(__file__).parent
DEADLOCKS = 10  # in a row

EXCHANGE = """#include "collectives/exchange.h"
namespace rankbox {
void exchange(Comm& dist, const Tensor& mine, Tensor& theirs, int partner) {
  if (partner == dist.rank()) return copy(theirs, mine);
  BODY
}
}  // namespace rankbox
"""
RIGHT = "dist.sendrecv(mine, partner, theirs, partner);"
HANGS = "dist.send(mine, partner); dist.recv(theirs, partner);"

COMPARE = """import pathlib
text = pathlib.Path("../solutions/04_allreduce/allreduce_ring.cc").read_text()
pathlib.Path("../ring.cc").write_text(EDIT)
both = compare("--mine", "allreduce_ring=ring.cc", "--algorithms", "ring", "--ranks", 2,
               "--sizes", "64,4K", "--iters", 1)
for row in both["results"][:3]:
    print(row["whose"], row["failure"] and row["failure"]["kind"])
figure = plot(both)
print(figure.axes[0].get_legend_handles_labels()[1])
figure.canvas.draw()


def labelled(axis):
    low, high = axis.get_view_interval()
    return sum(low <= tick <= high for tick in axis.get_majorticklocs())


print(all(labelled(axis) >= 2 for axes in figure.axes for axis in (axes.xaxis, axes.yaxis)),
      *[axes.get_legend().get_window_extent().overlaps(other.get_window_extent())
        for axes in figure.axes if axes.get_legend() for other in figure.axes])"""


def cell_of(body, options="--ranks 2"):
    return f"%%exercise exchange {options}\n" + EXCHANGE.replace("BODY", body)


def run(*sources):
    """The output of the cells, as text: one kernel for all of them."""
    notebook = nbformat.v4.new_notebook()
    notebook.cells = [nbformat.v4.new_code_cell(source)
                      for source in ("%load_ext rankbox_notebook", *sources)]
    NotebookClient(notebook, timeout=120, kernel_name="python3", allow_errors=True,
                   resources={"metadata": {"path": str(HERE)}}).execute()
    return [text_of(cell) for cell in notebook.cells[1:]]


def text_of(cell):
    texts = []
    for output in cell.outputs:
        if output.output_type == "error":
            texts.append("\n".join(output.traceback))
        else:
            texts.append(output.get("text") or output["data"].get("text/plain", ""))
    return "\n".join(texts)


class MagicTest(unittest.TestCase):
    def test_a_cell_is_graded_and_drawn(self):
        text, drawn = run(cell_of(RIGHT).replace("--ranks 2", "--ranks 2 --save kept"),
                          "from xml.dom.minidom import parseString\n"
                          "bars = parseString(kept.picture.svg).getElementsByTagName('title')\n"
                          "print([bar.firstChild.data.split(',')[0] for bar in bars])")
        self.assertEqual(drawn.strip(), str([f"rank {rank}: {call}{1 - rank}" for rank in (0, 1)
                                             for call in ("send →", "recv ←")]))
        self.assertIn("✓ exchange: pass", text)
        self.assertIn("✓ values  ✓ messages  ✓ cost  ✓ safety", text)
        self.assertIn("rank 1  out  [→0", text)
        self.assertIn("of virtual time on laptop", text)

    def test_a_deadlock_is_told_with_the_cells_lines(self):
        text, drawn = run(cell_of(HANGS, "--ranks 2 --count 8 --save kept"),
                          "print(kept.picture.svg.count('for ever'), kept.picture.svg[:5])")
        self.assertEqual(drawn.strip(), "4 <svg")  # two bars, with a tooltip each
        self.assertIn("✗ exchange: fail (deadlock)", text)
        self.assertIn("waits to send 4 B to rank 1 at cell:6", text)
        self.assertIn("╰────╯ send, 32 bytes, cell:6", text)

    def test_the_compilers_errors_are_at_the_cells_lines(self):
        (text,) = run(cell_of("no_such_function();"))
        self.assertIn("fail (compile)", text)
        self.assertIn("no_such_function", text)
        self.assertIn("at cell:6", text)
        self.assertNotIn("/", text.replace("://", ""))

    def test_the_dial_and_the_page(self):
        shown, parts = run(
            cell_of(HANGS, "--ranks 2 --count 8 --buffering unbounded --page --save kept"),
            "print(kept.passed, '<iframe' in kept._repr_html_(), 'ever' not in kept.picture.svg)")
        self.assertIn("fail (deadlock)", shown)  # for any setting, since it depends on buffering
        self.assertIn("rank 0  in", shown.replace("        in", "rank 0  in"))
        self.assertEqual(parts.split(), ["False", "True", "True"])

    def test_a_comparison_has_yours_right_or_wrong(self):
        shown = run(COMPARE.replace("EDIT", "text"),
                    COMPARE.replace("EDIT", "text.replace('accumulate(', 'no_such(')"),
                    'compare("--mine", "allreduce_ring=no_such.cc")')
        works, fails, mistake = ([line for line in text.splitlines() if line] for text in shown)
        # Each axis has two labels at least; the legend hides none of the four plots.
        seen = "True False False False False"
        self.assertEqual(works, ["native None", "reference None", "yours None",
                                 "['native', 'ring', 'ring (yours)']", seen])
        self.assertEqual(fails, ["native None", "reference None", "yours compile",
                                 "['native', 'ring']", seen])
        self.assertEqual(len(mistake), 1)

    def test_mistakes_are_one_line(self):
        unknown, option, world = run(
            cell_of(RIGHT).replace("exercise exchange", "exercise exchnage"),
            cell_of(RIGHT, "--rnaks 2"), cell_of(RIGHT, "--ranks 0"))
        self.assertEqual(len(unknown.splitlines()), 1)
        self.assertIn("exchange", unknown)  # what was meant
        self.assertIn("--rnaks", option)
        self.assertEqual(len(world.splitlines()), 1)
        self.assertIn("--ranks", world)

    def test_a_kernel_survives_whatever_cells_do(self):
        crash, leave, loop, alive = run(
            cell_of("*static_cast<volatile int*>(nullptr) = 1;"), cell_of("std::_Exit(0);"),
            cell_of("for (volatile int i = 0;; i = i + 1) {}"), "6 * 7")
        self.assertIn("fail (crash)", crash)
        self.assertIn("fail (crash)", leave)
        self.assertIn("fail (timeout)", loop)
        self.assertEqual(alive, "42")

    def test_a_kernel_survives_many_deadlocks(self):
        *texts, alive = run(*[cell_of(HANGS)] * DEADLOCKS, "6 * 7")
        self.assertEqual(sum("fail (deadlock)" in text for text in texts), DEADLOCKS)
        self.assertEqual(alive, "42")


if __name__ == "__main__":
    unittest.main(verbosity=2)
