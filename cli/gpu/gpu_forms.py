"""The forms of a report: text, Markdown and JSON."""

import json
import os

from gpu_machine import in_words
from gpu_session import MET, NOT_MEASURED, NOT_MET

# Of test programs, beside the other programs.
TEST_FOLDERS = ("contract", "course", "device", "kernels", "nccl")


def count(report, state):
    return sum(line.state == state for line in report.lines)


def exit_code(report):
    """0 if every measured target is met and no program failed, else 1."""
    return int(any(line.state == NOT_MET or line.is_failure for line in report.lines))


def summary_of(report):
    """ "12 met, 1 not met, 3 not measured", and whether the run was interrupted."""
    counts = ", ".join(f"{count(report, state)} {state}" for state in (MET, NOT_MET, NOT_MEASURED))
    return (counts + ("; interrupted" if report.is_interrupted else "") +
            ("; a dry run, whose figures mean nothing" if report.is_dry else ""))


def again(report):
    """The options that run once more what failed; empty if nothing did."""
    sections = [line.section for line in report.lines if line.state == NOT_MET or line.is_failure]
    sections = list(dict.fromkeys(sections))
    tests = sorted({os.path.basename(ran["program"]) for ran in report.programs
                    if ran["section"] in sections and ran["code"] != 0
                    and os.path.dirname(ran["program"]) in TEST_FOLDERS})
    if not sections:
        return ""
    return (f"--only {','.join(sections)}" + (f" --tests {','.join(tests)}" if tests else "") +
            " --debug")


def state_of(line):
    return f"{line.state}, because {line.because}" if line.because else line.state


def text_of(line, colour):
    """A line of the text, with its end."""
    value = f"{line.value}; " if line.value else ""
    target = f"target: {line.target}; " if line.target else ""
    state = state_of(line)
    shade = "31" if line.state == NOT_MET or line.is_failure else "32" if line.state == MET else ""
    if colour and shade:
        state = f"\033[{shade}m{state}\033[0m"
    return f"  {line.what:<42} {value}{target}{state}\n"


def to_markdown(report):
    """A table for docs/gpu_measured.md, below a line with date, GPUs and versions."""
    text = (f"{report.date}, {in_words(report.machine)}: {summary_of(report)}.\n\n"
            "| what | value | target | |\n|---|---|---|---|\n")
    for line in report.lines:
        for cell in (f"{line.section}: {line.what}", line.value, line.target, state_of(line)):
            # A bar or a line break would end the cell.
            cell = cell.replace("|", "\\|").replace("\n", " ")
            text += f"| {cell} "
        text += "|\n"
    return text


def to_json(report):
    """What docs/gpu.md lists. Unknown values are None."""
    lines = [{"section": line.section, "what": line.what, "value": line.value or None,
              "number": line.number, "target": line.target or None, "state": line.state,
              "because": line.because or None} for line in report.lines]
    return {"version": 1, "date": report.date, "machine": report.machine,
            "interrupted": report.is_interrupted, "dry_run": report.is_dry,
            "met": count(report, MET), "not_met": count(report, NOT_MET),
            "not_measured": count(report, NOT_MEASURED), "again": again(report) or None,
            "lines": lines, "programs": report.programs, "details": report.details}


def text_of_json(report):
    return json.dumps(to_json(report), indent=2, ensure_ascii=False) + "\n"
