#!/usr/bin/env python3
"""Reports what the GPUs of this machine do, against targets: `./rankbox gpu`.

In a bundle this is rankbox-gpu, beside the programs that it runs. docs/gpu.md has the sections, and
the fields of the JSON.
"""

import argparse
import os
import pathlib
import resource
import signal
import stat
import subprocess
import sys
import time

sys.dont_write_bytecode = True  # a bundle holds programs alone

from gpu_forms import (TEST_FOLDERS, again, exit_code, summary_of, text_of,  # noqa: E402
                       text_of_json, to_markdown)
from gpu_sections import SECONDS, SECTIONS  # noqa: E402
from gpu_session import (Interrupted, NotMeasured, Report, Session, is_selected,  # noqa: E402
                         raising)

SECONDS_TO_FIND_GPUS = 25
# Standard output is for JSON.
OF_DEBUG = {"NCCL_DEBUG": "WARN", "NCCL_DEBUG_FILE": "/dev/stderr"}
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
    add("--tests", default="", metavar="TEXT",
        help="only these test programs, by names or their beginnings: split_test,course/04")
    add("--seconds", default=float(SECONDS), type=seconds_of, metavar="FLOAT",
        help=f"at most this long, shared among the sections ({SHORTEST} - {LONGEST}; {SECONDS})")
    add("--out", default="", metavar="DIR",
        help="folder for report.md, report.json and output.txt, with what every program printed; "
             "written line by line, so that what ends this program loses nothing")
    add("--debug", action="store_true",
        help="with NCCL_DEBUG=WARN: for a second run of what failed")
    add("--dry-run", action="store_true",
        help="tiny sizes: shows that every section runs; its figures mean nothing")
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
    if options.out and os.path.exists(os.path.join(options.out, "report.json")):
        raise Mistake(f"--out {options.out}: has a report already; name another folder")
    if options.out and os.path.exists(options.out) and not os.path.isdir(options.out):
        raise Mistake(f"--out {options.out}: is no folder; name another one")


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


class Folder:
    """The folder of --out; none if that is empty."""

    def __init__(self, path):
        self.path = path
        if path:
            try:
                os.makedirs(path, exist_ok=True)
            except OSError as error:
                raise Mistake(f"--out {path}: cannot make this folder: {error.strerror}") from error

    def save(self, report):
        if self.path and report.machine:
            try:
                write_file(f"{self.path}/report.md", to_markdown(report))
                write_file(f"{self.path}/report.json", text_of_json(report))
            except Failure as error:
                self.give_up(error)

    def add_output(self, section, program, printed, how):
        """Appends what a program printed."""
        if self.path:
            try:
                with open(f"{self.path}/output.txt", "ab") as file:
                    file.write(f"=== {section}: {program}: {how}\n".encode() + printed + b"\n")
            except OSError as error:
                self.give_up(error)

    def give_up(self, error):
        """The report goes on without the folder."""
        self.path = ""
        print(f"--out is not written any more: {error}", file=sys.stderr)


# ---- The run -------------------------------------------------------------------------------------

class Terminal:
    """Standard output; and what runs, on standard error: a line in place, or one each."""

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

    def progress(self, text):
        """A line, for a standard error that is a file or a pipe."""
        try:
            if not sys.stderr.isatty():
                print(text, file=sys.stderr, flush=True)
        except OSError:  # nothing reads it
            pass

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


def find_gpus(session):
    """Fills report.machine. Raises Failure if there is no GPU, and Interrupted."""
    try:
        found = session.figures("machine", "gpu_machine")()
        session.report.machine = {name: found[name] for name in (
            "cuda_driver", "cuda_runtime", "driver", "gpus", "kernel_loading", "native_atomics",
            "nccl", "pairs", "peer_access")}
    except NotMeasured as error:
        fix = ("; LD_LIBRARY_PATH names the folders of NCCL and cuBLAS, which PyTorch has as well"
               if "shared librar" in str(error) else "")
        raise Failure(f"cannot find out about the GPUs: {error}{fix}") from error
    except KeyError as error:
        raise Failure(f"gpu_machine did not print {error}") from error


def check_tests(session):
    """Raises Mistake for a name of --tests that no test program has."""
    found = [f"{subfolder}/{name}" for folder in session.folders for subfolder in TEST_FOLDERS
             if os.path.isdir(os.path.join(folder, subfolder))
             for name in os.listdir(os.path.join(folder, subfolder))]
    for name in session.tests:
        if not name or not any(is_selected(test, (name,)) for test in found):
            raise Mistake(f'--tests: no test program "{name}", choose from '
                          f"{', '.join(sorted(found)) or 'none: there are no tests here'}")


def run_report(options, folders):
    """Measures and prints. Returns the exit code.

    Blocks for at most options.seconds, and a few seconds more for programs to end; without the
    section machine, after at most 25 s to find the GPUs. Raises Failure if there is no GPU.
    """
    chosen = selected(options.only)
    prints_text = not options.markdown and options.json != "-"
    colour = prints_text and os.isatty(1) and not os.environ.get("NO_COLOR")
    terminal, folder = Terminal(), Folder(options.out)
    report = Report(time.strftime("%Y-%m-%d %H:%M"), is_dry=options.dry_run)

    def show(text):
        if prints_text:
            terminal.set(terminal.title)
            terminal.write(text)

    def on_line(line):
        show(text_of(line, colour))
        folder.save(report)

    session = Session(report, folders, on_line, terminal.tick, folder.add_output,
                      tests=options.tests.split(",") if options.tests else (),
                      variables=OF_DEBUG if options.debug else {})
    check_tests(session)
    session.catch_signals()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    begin = time.monotonic()
    terminal.set("Looking for GPUs")
    session.begin("machine", SECONDS_TO_FIND_GPUS * max(1, options.seconds / SECONDS))
    try:
        find_gpus(session)
    except Interrupted:
        return 128 + session.signal
    finally:
        terminal.set("")

    found_after = time.monotonic() - begin
    shares = {section.name: section.seconds for section in chosen
              if section.least_gpus <= session.gpus()}
    for number, section in enumerate(chosen, 1):
        share = shares.get(section.name, 0) * options.seconds / (sum(shares.values()) or 1)
        session.begin(section.name, share - found_after * (section.name == "machine"))
        terminal.set(section.title)
        terminal.progress(f"{number} of {len(chosen)}: {section.name}, "
                          f"at most {session.seconds:.3g} s")
        show(section.title + "\n")
        try:
            session.check_signal()
            section.run(session)
        except Interrupted:
            report.is_interrupted = True
            session.measure("the rest", "", raising(NotMeasured("of an interrupt")))
    terminal.set("")

    show(summary_of(report) + "\n" + (f"once more: {again(report)}\n" if again(report) else ""))
    if options.markdown:
        terminal.write(to_markdown(report))
    if options.json == "-":
        terminal.write(text_of_json(report))
    elif options.json:
        write_file(options.json, text_of_json(report))
    folder.save(report)
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
