#!/usr/bin/env python3
"""Reports what the GPUs of this machine do, against targets: `./rankbox gpu`.

In a bundle this is rankbox-gpu, beside the programs that it runs. docs/gpu.md has the sections, and
the fields of the JSON.
"""

import argparse
import json
import os
import pathlib
import resource
import signal
import stat
import subprocess
import sys
import time

sys.dont_write_bytecode = True  # a bundle holds programs alone

from gpu_forms import exit_code, summary_of, text_of, to_json, to_markdown  # noqa: E402
from gpu_sections import SECTIONS  # noqa: E402
from gpu_session import Interrupted, NotMeasured, Report, Session, raising  # noqa: E402

SECONDS_TO_FIND_GPUS = 30
SHORTEST, LONGEST = 0.1, 86400
NAMES = ", ".join(section.name for section in SECTIONS)


class Failure(Exception):
    exit_code = 1


class Mistake(Failure):
    """Of the user."""

    exit_code = 2


# ---- Options -------------------------------------------------------------------------------------

class Parser(argparse.ArgumentParser):
    def error(self, message):
        raise Mistake(f"{message} (see --help)")


def seconds_of(text):
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0
    if not SHORTEST <= seconds <= LONGEST:
        raise argparse.ArgumentTypeError(f"{text} is not in range {SHORTEST} to {LONGEST}")
    return seconds


def parse(arguments):
    parser = Parser("rankbox-gpu", allow_abbrev=False,
                    description="Reports what the GPUs of this machine do, against targets.")
    add = parser.add_argument
    add("--only", default="", metavar="TEXT",
        help=f"only these sections, by names or their beginnings: {NAMES}")
    add("--seconds", default=600.0, type=seconds_of, metavar="FLOAT",
        help=f"at most this long, shared among the sections ({SHORTEST} - {LONGEST}; 600)")
    add("--json", default="", metavar="TEXT",
        help="write the report to this file as JSON; - for stdout, without the text")
    add("--markdown", action="store_true",
        help="print a table for docs/gpu_measured.md instead of the text")
    add("--programs", default=pathlib.Path(__file__).resolve().parent, metavar="TEXT",
        help="folder of the programs (default: this program's)")
    # From ./rankbox gpu: the project, in which the programs are built.
    add("--rankbox", help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def selected(only):
    """The sections that --only selects."""
    wanted = only.split(",") if only else [""]
    for name in wanted if only else []:
        if not name or not any(section.name.startswith(name) for section in SECTIONS):
            raise Mistake(f'--only: no section "{name}", choose from {NAMES}')
    return [section for section in SECTIONS if section.name.startswith(tuple(wanted))]


def check(options):
    """Raises Mistake for invalid options: before minutes are spent on building."""
    selected(options.only)
    if options.json == "-" and options.markdown:
        raise Mistake("--markdown and --json - both print: give --json a file")
    objection = objection_to(options.json) if options.json not in ("", "-") else ""
    if objection:
        raise Mistake(f"--json {options.json}: cannot write there: {objection}")


def objection_to(path):
    """Why no file can be made at the path; empty if it can (files/output_file.h)."""
    if os.path.isdir(path):
        return "it is a folder"
    if os.path.exists(path) and not stat.S_ISREG(os.stat(path).st_mode):
        return "it is no regular file, and would be replaced by one"
    folder = os.path.dirname(os.path.abspath(path))
    return "" if os.access(folder, os.W_OK) else f"folder {folder} does not exist or is read-only"


def write_file(path, text):
    """The file is there whole, or as it was (files/output_file.h)."""
    path = os.path.realpath(path)  # the target of a link
    part = f"{path}.{os.getpid()}.part"
    try:
        with open(part, "w", encoding="utf-8", errors="replace") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except OSError as error:
        if os.path.exists(part):
            os.remove(part)
        raise Failure(f"cannot write {path}: {error.strerror}") from error


# ---- The run -------------------------------------------------------------------------------------

class Terminal:
    """Standard output; and what runs, on a standard error that is a terminal."""

    def __init__(self):
        self.can_write = True
        self.title, self.begin, self.shown = "", 0, 0

    def write(self, text):
        data = text.encode(errors="replace")
        try:
            while data:
                data = data[os.write(1, data):]
        except OSError:
            self.can_write = False  # the report goes on: it may have a file

    def set(self, title):
        """Removes the line of what runs, and begins another."""
        if self.shown:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
        self.title, self.begin, self.shown = title, time.monotonic(), 0

    def tick(self):
        """Shows the line from the first second on, once a second."""
        passed = int(time.monotonic() - self.begin)
        if passed > self.shown and sys.stderr.isatty():
            self.shown = passed
            print(f"\r\033[K{self.title} … {passed} s", end="", file=sys.stderr, flush=True)


def build(project):
    """Builds the programs, or exits as the build does. Returns their folders."""
    for words in (["gpu", "nccl"], ["train", "sim"]):
        code = subprocess.call([project + "/rankbox", "--build-program", *words])
        if code:
            sys.exit(code if code > 0 else 128 - code)
    return [project + "/.rankbox/bin/rankbox-gpu-nccl", project + "/.rankbox/bin"]


def run_report(options, folders):
    """Measures and prints. Returns the exit code.

    Blocks for at most options.seconds, after at most 30 s to find the GPUs, and a few seconds more
    for programs to end. Raises Failure if there is no GPU.
    """
    chosen = selected(options.only)
    prints_text = not options.markdown and options.json != "-"
    colour = prints_text and os.isatty(1) and not os.environ.get("NO_COLOR")
    terminal = Terminal()

    def show(text):
        if prints_text:
            terminal.set(terminal.title)
            terminal.write(text)

    report = Report(time.strftime("%Y-%m-%d %H:%M"))
    session = Session(report, folders, lambda line: show(text_of(line, colour)), terminal.tick)
    session.catch_signals()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    terminal.set("Looking for GPUs")
    session.begin("machine", SECONDS_TO_FIND_GPUS)
    try:
        found = session.figures("machine", "gpu_machine")()
        report.machine = {name: found[name] for name in (
            "cuda_driver", "cuda_runtime", "driver", "gpus", "kernel_loading", "native_atomics",
            "nccl", "pairs", "peer_access")}
    except NotMeasured as error:
        raise Failure(f"cannot find out about the GPUs: {error}") from error
    except KeyError as error:
        raise Failure(f"gpu_machine did not print {error}") from error
    except Interrupted:
        return 128 + session.signal
    finally:
        terminal.set("")

    total = sum(section.seconds for section in chosen)
    for section in chosen:
        session.begin(section.name, section.seconds * options.seconds / total)
        terminal.set(section.title)
        show(section.title + "\n")
        try:
            session.check_signal()
            section.run(session)
        except Interrupted:
            report.is_interrupted = True
            session.measure("the rest", "", raising(NotMeasured("of an interrupt")))
    terminal.set("")

    show(summary_of(report) + "\n")
    if options.markdown:
        terminal.write(to_markdown(report))
    text = json.dumps(to_json(report), indent=2, ensure_ascii=False) + "\n"
    if options.json == "-":
        terminal.write(text)
    elif options.json:
        write_file(options.json, text)
    if report.is_interrupted:
        return 128 + session.signal
    if not terminal.can_write:
        raise Failure("cannot write to standard output")
    return exit_code(report)


def main(arguments):
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # ends a build without a traceback
    name = "rankbox-gpu"
    try:
        options = parse(arguments)
        name = "rankbox" if options.rankbox else name
        check(options)
        return run_report(options, build(options.rankbox) if options.rankbox
                          else [options.programs])
    except Failure as error:
        print(f"{name}: {error}".replace("\n", " "), file=sys.stderr)
        return error.exit_code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
