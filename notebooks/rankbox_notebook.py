"""Rankbox in Jupyter.

    %load_ext rankbox_notebook        # in notebooks/, or with that folder on sys.path

    %%exercise broadcast_ring --ranks 4
    #include "collectives/broadcast_ring.h"
    ...

compiles the cell against the sandbox, grades it, and draws one run below it. All of that happens in
separate processes, with limits on time and memory, so the notebook survives whatever the cell does.
The magic line counts as line 1, as in Jupyter, so "cell:7" is line 7 of the cell.

rankbox(), show(), compare(), plan() and plot() are for cells in Python.
"""

import html
import importlib.util
import json
import os
import pathlib
import re
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor

from IPython.core.magic import register_cell_magic
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring
from IPython.display import display

import timeline_svg

ROOT = pathlib.Path(os.environ.get("RANKBOX_ROOT")
                    or pathlib.Path(__file__).resolve().parent.parent)
PROGRAM = os.environ.get("RANKBOX_CLI") or str(ROOT / "rankbox")
MARKS = {"pass": "✓", "fail": "✗", "skipped": "·"}


class RankboxError(Exception):
    """An error message of ./rankbox, without a traceback."""

    def _render_traceback_(self):
        return [str(self)]


def run(*arguments):
    """Runs ./rankbox with these arguments: (exit status, stdout, stderr)."""
    environment = {**os.environ, "RANKBOX_ROOT": str(ROOT), "NO_COLOR": "1"}
    environment.setdefault("LC_ALL", "C.UTF-8")
    done = subprocess.run([PROGRAM, *map(str, arguments)], cwd=ROOT, env=environment, text=True,
                          check=False, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE)
    return done.returncode, done.stdout, done.stderr


def rankbox(*arguments):
    """The output of ./rankbox with these arguments. Raises RankboxError if it fails."""
    status, output, errors = run(*arguments)
    if status != 0:
        raise RankboxError((output + errors).strip())
    return output


def compare(*arguments):
    """`rankbox compare` with these arguments, as Python data (see `rankbox compare --help`).

    It includes exercises that you have edited, with row["whose"] == "yours"; a row of yours that
    failed has row["failure"] and no times. "--mine", "none" leaves yours out.
    """
    status, output, errors = run("compare", *arguments, "--json", "-")
    # A failure in yours exits with 1 too, but all other rows are valid.
    if status > 1 or not output.strip():
        raise RankboxError((output + errors).strip())
    return json.loads(output)


def plan(*arguments):
    """`rankbox plan` with these arguments, as Python data (see `rankbox plan --help`)."""
    return json.loads(rankbox("plan", *arguments, "--json"))


def plot(result):
    """A comparison or a plan, as `rankbox compare --plot` and `rankbox plan --plot` draw them."""
    path = ROOT / "cli" / ("plan/plan_plot.py" if "plans" in result else "compare/plot.py")
    spec = importlib.util.spec_from_file_location("rankbox_plot", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    figure = module.draw(result)
    figure.__class__ = type("Plot", (type(figure),), {"__repr__": lambda _: in_words(result)})
    return figure


def in_words(result):
    """What a plot shows, for readers who do not see it: "all_reduce on 8 ranks: native, tree"."""
    if "plans" in result:
        return "\n".join(f"{each['layout']}: {each['seconds']['all']:.3g} s, "
                         f"{each['memory_bytes']['all'] / 1e9:.1f} GB" for each in result["plans"])
    curves = {}
    for row in result["results"]:
        key = f"{row['collective']} on {row['ranks']} ranks"
        names = curves.setdefault(key, {})
        names[row["algorithm"] + (" (yours)" if row["whose"] == "yours" else "")] = True
    return "\n".join(f"{key}: {', '.join(names)}" for key, names in curves.items())


class Picture:
    """A drawing of one run: SVG in a notebook, text elsewhere."""

    def __init__(self, text, svg):
        self.text = text
        self.svg = svg

    def __repr__(self):
        return self.text

    def _repr_svg_(self):
        return self.svg


def hangs_in(text):
    """(rank, call, peer) of each rank that waits for ever, from the text of a picture."""
    ranks = re.findall(r"rank (\d+)(?= *\n| has returned)", text)
    after = dict(zip(ranks, ranks[1:] + ranks[:1]))
    calls = re.findall(r"rank (\d+) *\n[^\w\n]*([a-z_]+),", text)
    hangs = [(int(rank), call, int(after[rank])) for rank, call in calls]
    others = re.findall(r"rank (\d+) ──▶ ranks? (\d+)[^\n]*?   ([a-z_]+),", text)
    return hangs + [(int(rank), call, int(peer)) for rank, peer, call in others]


def picture_of(title, text, trace, cell=None):
    """The picture of a run, from what `show` printed and the trace events that it wrote.

    @param cell the file of a cell
    """
    if not trace.exists():
        return Picture(text, None)
    about = re.split(r"(?m)^ +0(?: .*)?$", text)[-1]  # below the axis
    caption = [line for line in about.splitlines() if re.search("virtual time|messages,", line)]
    events = json.loads(named_as_cell(trace.read_text(encoding="utf-8"), cell))
    return Picture(text, timeline_svg.draw(events, title, caption, hangs_in(about)))


def show(name, *arguments):
    """A picture of one run, as `rankbox show` with these arguments draws it."""
    with tempfile.TemporaryDirectory(prefix="rankbox-") as folder:
        trace = pathlib.Path(folder) / "trace.json"
        printed = rankbox("show", name, *arguments, "--trace", trace)
        return picture_of(name, re.split(r"\nwrote ", printed)[0].rstrip(), trace)


class Graded:
    """A verdict: HTML in a notebook, text elsewhere. Its picture is displayed below it."""

    def __init__(self, verdict, picture=None, page=None):
        self.verdict = verdict
        self.picture = picture
        self.page = page

    @property
    def passed(self):
        return self.verdict["status"] == "pass"

    def __repr__(self):
        return "\n".join(filter(None, [self.headline(), self.checks(), self.failure()]))

    def headline(self):
        mark = "✓" if self.passed else "✗"
        kind = self.verdict.get("failure", {}).get("kind", "")
        kind = f" ({kind})" if kind else ""
        return f"{mark} {self.verdict['name']}: {self.verdict['status']}{kind}"

    def checks(self):
        return "  ".join(f"{MARKS[check['status']]} {check['name']}"
                         for check in self.verdict.get("checks", []))

    def failure(self):
        failure = self.verdict.get("failure")
        if not failure:
            return ""
        place = f"{failure['file']}:{failure['line']}" if failure.get("line", 0) > 0 else ""
        return "\n".join(filter(None, [failure["message"], f"at {place}" if place else ""]))

    def _repr_html_(self):
        colour = "#13804f" if self.passed else "#c02a20"
        parts = [f'<b style="color:{colour}">{html.escape(self.headline())}</b>']
        if self.checks():
            parts.append(f'<div>{html.escape(self.checks())}</div>')
        if self.failure():
            parts.append(f'<pre style="line-height:1.15">{html.escape(self.failure())}</pre>')
        if self.page:
            parts.append(f'<iframe srcdoc="{html.escape(self.page)}" '
                         'style="width:100%;height:560px;border:0" '
                         'title="The run, to look around in"></iframe>')
        return "".join(parts)


def named_as_cell(text, path):
    """Replaces paths of the cell's file, in any form, by "cell"."""
    return text if path is None else re.sub(r"[\w./~-]*" + re.escape(path.name), "cell", text)


def grade(name, source, picture=(), page=False):
    """Grades C++ source as the exercise `name`, and draws one run with these options of `show`."""
    temporary = tempfile.TemporaryDirectory(prefix="rankbox-cell-")
    with temporary as folder, ThreadPoolExecutor() as both:
        path = pathlib.Path(folder) / "cell.cc"
        path.write_text(source, encoding="utf-8")
        target = pathlib.Path(folder) / "run.html"
        trace = pathlib.Path(folder) / "trace.json"
        checking = both.submit(run, "check", name, "--file", path, "--json")
        page_options = ["--html", target] if page else []
        drawing = both.submit(run, "show", name, "--file", path, *picture, "--trace", trace,
                              *page_options)
        verdict = json.loads(named_as_cell(output_of(checking, path), path))
        if verdict.get("failure", {}).get("kind") in ("compile", "not_implemented"):
            return Graded(verdict)
        drawn = named_as_cell(output_of(drawing, path), path)
        drawn = re.split(r"\nwrote |\n✗ |\n✓ ", drawn)[0].rstrip()
        has_page = page and target.exists()
        drawn = picture_of(f"{name}: this cell", drawn, trace, path)
        return Graded(verdict, drawn, target.read_text(encoding="utf-8") if has_page else None)


def output_of(running, path):
    """Waits for a command. Raises RankboxError if it printed only an error."""
    status, output, errors = running.result()
    if status == 2 or not output.strip():
        raise RankboxError(named_as_cell((errors or output).strip(), path))
    return output


@magic_arguments()
@argument("name", help="an exercise: see rankbox('list')")
@argument("--ranks", help="world size of the run that is drawn")
@argument("--count", help="elements of its tensor")
@argument("--root", help="src or dst")
@argument("--op", help="SUM, PRODUCT, MAX, MIN or AVG")
@argument("--cluster", help="machine whose virtual time is computed")
@argument("--buffering", help="of sends: rendezvous, eager:BYTES or unbounded")
@argument("--page", action="store_true",
          help="add the page of the run, to look around in: zoom, step, hover")
@argument("--save", help="keep the verdict in this variable")
def exercise(line, cell):
    """Grades the cell as an exercise and draws one run of it."""
    options = parse_argstring(exercise, line)
    picture = []
    for option in ("ranks", "count", "root", "op", "cluster", "buffering"):
        value = getattr(options, option)
        if value is not None:
            picture += [f"--{option}", value]
    # In place of the magic line, so that the lines that follow keep their numbers.
    graded = grade(options.name, f"// %%exercise {line}\n{cell}", picture, options.page)
    if options.save:
        get_ipython().user_ns[options.save] = graded  # noqa: F821  (defined wherever a magic runs)
    display(graded)
    if graded.picture:
        display(graded.picture)


def load_ipython_extension(ipython):
    register_cell_magic(exercise)
    ipython.push({"rankbox": rankbox, "show": show, "compare": compare, "plan": plan, "plot": plot})
