"""Measures the lines of a report by running programs, within a section's time."""

import concurrent.futures
import dataclasses
import json
import os
import signal
import subprocess
import threading
import time

MET, NOT_MET, MEASURED, NOT_MEASURED = "met", "not met", "measured", "not measured"

# SIGPIPE too: if a reader exits, the report ends in order.
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE)
MOST_OUTPUT, MOST_ERRORS = 16 << 20, 64 << 10  # bytes that are kept
TICK = 0.02
LONG_ENOUGH = 20  # seconds after which a test program that has not ended counts as hung
GRACE = 2  # seconds between SIGTERM and SIGKILL
SECONDS_TO_DIE = 5  # after SIGKILL: a process that a driver holds does not end
# When one of several processes fails, the others have this long to report the same.
SECONDS_OF_OTHERS = 5
# What would change how ranks start, or what is measured, is not inherited.
NOT_INHERITED = """RANK LOCAL_RANK WORLD_SIZE LOCAL_WORLD_SIZE OMPI_COMM_WORLD_RANK
    OMPI_COMM_WORLD_SIZE PMI_RANK PMI_SIZE PMIX_RANK SLURM_PROCID SLURM_NTASKS RANKBOX_GPU_MODE
    RANKBOX_NCCL_SHARE_GPU NCCL_ALGO NCCL_DEBUG""".split()
# glibc keeps the stacks of ended threads for new ones, as for all our programs (child.cc).
GIVEN = {"GLIBC_TUNABLES": "glibc.pthread.stack_cache_size=268435456"}


class NotMeasured(Exception):
    """Why there is no value, in words that complete "not measured, because".

    is_failure: a program failed; else it refused, is missing, or has no time left.
    """

    def __init__(self, because, is_failure=False):
        super().__init__(because)
        self.is_failure = is_failure


class Interrupted(Exception):
    """A signal arrived. The programs that ran have been killed."""


@dataclasses.dataclass
class Line:
    section: str  # its name, as in --only
    what: str  # "accumulate, 64 MiB"
    value: str = ""  # "93 % of the copy"; empty if not measured
    number: float = None  # the value without its unit, where it is one number
    target: str = ""  # "at least 90 %"; empty: none
    state: str = NOT_MEASURED  # MEASURED: there is no target, or it does not apply
    because: str = ""  # why it is not measured
    is_failure: bool = False  # because a program failed


@dataclasses.dataclass
class Report:
    date: str  # "2026-11-22 20:15", local time
    machine: dict = None  # what gpu_machine prints
    lines: list = dataclasses.field(default_factory=list)
    details: dict = dataclasses.field(default_factory=dict)  # the programs' own figures
    # Every program that ran: section, program, code (None: it was ended), seconds.
    programs: list = dataclasses.field(default_factory=list)
    is_dry: bool = False
    is_interrupted: bool = False


@dataclasses.dataclass
class Value:
    text: str
    number: float = None
    is_met: bool = None  # None: there is no target


@dataclasses.dataclass
class Ended:
    code: int  # 128 + signal if one ended it
    timed_out: bool
    output: bytes
    errors: bytes

    def messages(self):
        """The last 2,000 bytes of both, for the details."""
        return (self.output[-2000:] + self.errors[-2000:]).decode(errors="replace")

    def last_error(self):
        """The last line of its errors that is not empty."""
        text = self.errors.decode(errors="replace").rstrip("\n ")
        return text.split("\n")[-1] or "it printed nothing"


def refuse(name):
    raise ValueError(f"{name} is not JSON")


class Session:
    def __init__(self, report, folders, on_line, on_tick, on_end=None, tests=(), variables=None):
        """Args:
          folders: have the programs: the first one that has it.
          on_line: called for each line, on_tick 50 times a second while a program runs, and
            on_end(section, program, what it printed, how it ended) when one has ended.
          tests: only these test programs, by beginnings of their names; empty: all.
          variables: for every program.
        """
        self.report, self.folders = report, folders
        self.on_line, self.on_tick, self.on_end = on_line, on_tick, on_end
        self.tests, self.variables = tuple(tests), variables or {}
        self.lock = threading.Lock()  # of the report's programs and on_end
        self.section, self.seconds, self.deadline = "", 0, 0
        self.signal = 0  # that arrived
        # Bytes per second, read and written, of a large device copy, once it is measured.
        self.copy_speed = None

    def catch_signals(self):
        """From here on, they do not end this process: run() raises Interrupted instead."""
        def on_signal(number, _):
            self.signal = number
        for number in SIGNALS:
            signal.signal(number, on_signal)

    def check_signal(self):
        if self.signal:
            raise Interrupted

    def gpus(self):
        return len(self.report.machine["gpus"])

    @property
    def is_dry(self):
        """Whether only tiny sizes run."""
        return self.report.is_dry

    @property
    def unit(self):
        """The bytes that a size is counted in."""
        return 1 << 10 if self.is_dry else 1 << 20

    def size(self, number):
        """As an option: "64M"."""
        return f"{number}{'K' if self.is_dry else 'M'}"

    def in_words(self, number):
        """ "64 MiB", "1 GiB"."""
        units = ["KiB", "MiB", "GiB"][0 if self.is_dry else 1:]
        return f"{number} {units[0]}" if number < 1024 else f"{number // 1024} {units[1]}"

    def begin(self, section, seconds):
        """Starts the time of a section."""
        self.section, self.seconds, self.deadline = section, seconds, time.monotonic() + seconds

    def path_of(self, program):
        for folder in self.folders:
            path = os.path.join(folder, program)
            if os.access(path, os.X_OK):
                return path
        raise NotMeasured(f"{program} is not among the programs")

    def programs_in(self, *subfolders, names=None):
        """The test programs there, "contract/split_test", that --tests selects.

        Raises NotMeasured for none. names: only these.
        """
        found = sorted({
            f"{subfolder}/{name}" for folder in self.folders for subfolder in subfolders
            if os.path.isdir(os.path.join(folder, subfolder))
            for name in os.listdir(os.path.join(folder, subfolder))
            if names is None or name in names})
        if not found:
            raise NotMeasured(f"{'/ and '.join(subfolders)}/ is not among the programs")
        chosen = [name for name in found if is_selected(name, self.tests)]
        if not chosen:
            raise NotMeasured(f"--tests selects none of {', '.join(found)}")
        return chosen

    def run_all(self, programs, *arguments, at_once=1, **options):
        """Runs tests, several at once. Returns {name: Ended, or None if there was no time}.

        Raises Interrupted. arguments, options: as for run().
        """
        def run_one(program):
            try:
                return self.run(program, *arguments, hangs_after=LONG_ENOUGH, **options)
            except NotMeasured:
                return None
        with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
            running = [pool.submit(run_one, program) for program in programs]
            # With a limit: only this thread notes signals, and any thread may be interrupted.
            while concurrent.futures.wait(running, TICK).not_done:
                pass
            return {program: one.result() for program, one in zip(programs, running)}

    def run(self, program, *arguments, environment=None, under=(), processes=1,
            seconds=float("inf"), hangs_after=float("inf")):
        """Runs a program. Returns Ended, also if it failed or reached its own limit.

        Raises NotMeasured if it does not exist or the section's time runs out, and Interrupted.

        Args:
          environment: variables besides those of this process.
          under: a program that starts it, with arguments.
          processes: more than one get the variables of torchrun.
          seconds: its limit, within the section's.
          hangs_after: the section's end is its own limit, if it had at least so long.
        """
        command = [*under, self.path_of(program), *arguments]
        left = self.deadline - time.monotonic()
        out_of_time = NotMeasured(f"the section's {self.seconds:.3g} s ran out")
        if left <= 0:
            raise out_of_time
        self.check_signal()
        inherited = {name: value for name, value in os.environ.items() if name not in NOT_INHERITED}
        started, code, timed_out, begin = [], None, False, time.monotonic()
        output, errors = Kept(MOST_OUTPUT), Kept(MOST_ERRORS)
        try:
            for rank in range(processes):
                own = dict(RANK=rank, LOCAL_RANK=rank, WORLD_SIZE=processes,
                           LOCAL_WORLD_SIZE=processes, MASTER_ADDR="127.0.0.1")
                own = {name: str(value) for name, value in own.items()} if processes > 1 else {}
                variables = {**GIVEN, **inherited, **self.variables, **own, **(environment or {})}
                started.append(start(command, variables, output.end, errors.end))
            code, timed_out = self.wait_for(started, time.monotonic() + min(left, seconds))
        except OSError as error:  # the program that starts it is not there
            code, timed_out = 127, False
            os.write(errors.end, str(error).encode())
        finally:
            end_all(started)
            output.finish()
            errors.finish()
            was_ended = code is None or timed_out
            self.note(program, None if was_ended else code, time.monotonic() - begin,
                      output.data + errors.data)
        self.check_signal()
        if timed_out and left <= seconds and left < hangs_after:
            raise out_of_time
        return Ended(128 - code if code < 0 else code, timed_out, output.data, errors.data)

    def note(self, program, code, seconds, printed):
        """Adds a program that has ended to the report. code: None if we ended it."""
        code = 128 - code if code is not None and code < 0 else code
        with self.lock:
            self.report.programs.append({"section": self.section, "program": program, "code": code,
                                         "seconds": round(seconds, 3)})
            if self.on_end:
                how = "was ended" if code is None else f"exit code {code}"
                self.on_end(self.section, program, printed, f"{how}, {seconds:.1f} s")

    def wait_for(self, started, end):
        """Returns the exit code, 0 if all processes succeeded, and whether their time ran out."""
        while True:
            codes = [process.poll() for process in started]
            failed = [code for code in codes if code]
            is_over = time.monotonic() >= end
            self.check_signal()
            if None not in codes or is_over:
                return failed[0] if failed else 0, is_over and None in codes and not failed
            if failed:
                end = min(end, time.monotonic() + SECONDS_OF_OTHERS)
            self.on_tick()
            time.sleep(TICK)

    def figures(self, name, program, *arguments, reports_failures=False, **options):
        """Runs a program that prints JSON, and keeps that under this name in the details.

        Args:
          name: in the details.
          program, *arguments, **options: as for run().
          reports_failures: with exit code 1 it prints its figures as well.

        Returns:
          A function that returns the figures, or raises NotMeasured.
        """
        try:
            ended = self.run(program, *arguments, **options)
            found = self.figures_of(name, program, ended, reports_failures)
        except NotMeasured as error:
            return raising(error)
        return lambda: found

    def figures_of(self, name, program, ended, reports_failures):
        if ended.code > 128:
            raise NotMeasured(f"{program} was ended by signal {ended.code - 128}", True)
        try:
            found = json.loads(ended.output, parse_constant=refuse)
        except ValueError:
            found = None
        has_figures = isinstance(found, dict)
        has_reported = ended.code == 1 and reports_failures and has_figures
        # 2 is a program's code for options that it does not take.
        if ended.code != 0 and not has_reported:
            raise NotMeasured(ended.last_error(), is_failure=ended.code != 2)
        if not has_figures:
            raise NotMeasured(f"{program} did not print JSON", True)
        self.report.details[name] = found
        if has_reported:
            self.report.details[name + "_errors"] = ended.messages()
        return found

    def measure(self, what, target, value):
        """Adds a line: what value() returns, or why it raises NotMeasured.

        Figures that lack a field are a failure.
        """
        line = Line(self.section, what, target=target)
        try:
            measured = value()
            line.value = measured.text
            line.number = None if measured.number is None else float(measured.number)
            line.state = {None: MEASURED, True: MET, False: NOT_MET}[measured.is_met]
        except NotMeasured as missing:
            line.because, line.is_failure = str(missing), missing.is_failure
        except (LookupError, TypeError, ValueError) as error:
            line.because, line.is_failure = f"the figures are incomplete: {error!r}", True
        self.report.lines.append(line)
        self.on_line(line)


def is_selected(test, beginnings):
    """Whether one of these begins its name, "contract/split_test" or "split_test"; () has all."""
    return not beginnings or test.startswith(beginnings) or \
        os.path.basename(test).startswith(beginnings)


def raising(error):
    """A function that raises it."""
    def function():
        raise error
    return function


class Kept(threading.Thread):
    """Keeps the first bytes that are written to the descriptor `end`."""

    def __init__(self, most):
        super().__init__(daemon=True)
        self.most, self.data = most, b""
        self.source, self.end = os.pipe()
        self.start()

    def run(self):
        while True:
            data = os.read(self.source, 1 << 16)
            if not data:
                break
            self.data += data[:self.most - len(self.data)]
        os.close(self.source)

    def finish(self):
        os.close(self.end)
        self.join(1)  # a program that has left the session may keep the pipe open


def start(command, variables, output, errors):
    """Starts a program in its own session, so that Ctrl-C does not reach it."""
    # It ends with us. Code of ours between fork and exec could deadlock: several threads start
    # programs.
    return subprocess.Popen(["setpriv", "--pdeathsig", "KILL", *command], env=variables,
                            stdin=subprocess.DEVNULL, stdout=output, stderr=errors,
                            start_new_session=True)


def end_all(started):
    """Ends the processes that have not ended, and what they have started."""
    for process in started:
        process.terminate()  # does nothing to one that has ended
    end = time.monotonic() + GRACE
    while any(process.poll() is None for process in started) and time.monotonic() < end:
        time.sleep(0.005)
    for process in started:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except OSError:  # all have ended
            pass
        try:
            process.wait(SECONDS_TO_DIE)
        except subprocess.TimeoutExpired:  # the report goes on without it
            pass
