"""Sections that run test programs: the contract, the course, and both under compute-sanitizer."""

import functools
import os
import shutil

from gpu_machine import only_first_gpu
from gpu_session import NotMeasured, Value

# Without the first, tests pass where there is no GPU. Their tensors are small: every rank of every
# world would otherwise allocate up to 8 GiB.
FOR_TESTS = {"RANKBOX_REQUIRE_GPU": "1", "RANKBOX_GPU_NOTICE": "0", "RANKBOX_GPU_POOL_MIB": "64"}
AT_ONCE = 3  # programs that share the GPU: a test mostly waits
# Over sockets a call takes milliseconds: values, messages and failures, without the long tables.
FOR_TWO_PROCESSES = ("async_messages_test", "failure_test", "point_to_point_test", "results_test")


def check_tests(session, what, programs, environment=None, arguments=(), processes=1, at_once=1):
    """Adds a line: how many of the test programs pass.

    Args:
      what: of the line.
      programs: a function that returns their names, or raises NotMeasured.
      environment, arguments, processes: of each program, as in Session.run.
      at_once: programs that run at a time.
    """
    # One that hangs leaves time for others: after it, or beside it.
    seconds = session.seconds * (2 if at_once > 1 else 1) / 3

    def value():
        ended_by_name = session.run_all(programs(), *arguments, at_once=at_once, seconds=seconds,
                                        environment={**FOR_TESTS, **(environment or {})},
                                        processes=processes)
        passed, failed, stuck, unfinished = [], [], [], []
        for program, ended in ended_by_name.items():
            if ended is None:
                unfinished.append(program)
                continue
            (stuck if ended.timed_out else failed if ended.code else passed).append(program)
            if ended.timed_out or ended.code:
                details = session.report.details.setdefault(session.section, {})
                details[program] = ended.messages()
        text = f"{len(passed)} of {len(ended_by_name)}"
        parts = [f"{words} {', '.join(names)}" for words, names in (
            ("failed:", failed), (f"not ended after {seconds:.3g} s:", stuck),
            ("there was no time for", unfinished)) if names]
        if unfinished and not failed and not stuck:
            raise NotMeasured(f"{text} pass, and {parts[0]}")
        return Value("; ".join([text, *parts]), len(passed), not failed and not stuck)

    session.measure(what, "all", value)


CONTRACT = "test programs that pass"


def check_shared(session):
    check_tests(session, CONTRACT, lambda: session.programs_in("contract"), at_once=AT_ONCE,
                environment={"RANKBOX_GPU_MODE": "shared", **only_first_gpu()})


def check_threads(session):
    """Over NCCL in one process. Worlds of more ranks than GPUs share them, without NCCL."""
    environment = {"RANKBOX_GPU_MODE": "auto"}
    if session.gpus() == 1:
        # Two ranks on the GPU are over NCCL then. Few blocks each: all have to fit at once.
        environment.update(NCCL_MULTI_RANK_GPU_ENABLE="1", NCCL_MAX_CTAS="4")

    def programs():
        version = session.report.machine["nccl"]
        if session.gpus() == 1 and [int(part) for part in version.split(".")] < [2, 30, 3]:
            raise NotMeasured(f"there is one GPU, which ranks share from NCCL 2.30.3 on; it is "
                              f"{version}")
        return session.programs_in("contract", "nccl")

    check_tests(session, CONTRACT, programs, environment)


def check_two_processes(session):
    def programs():
        return session.programs_in("contract", names=FOR_TWO_PROCESSES)

    check_tests(session, CONTRACT, programs, {"RANKBOX_NCCL_SHARE_GPU": "1", **only_first_gpu()},
                processes=2)


def check_processes(session):
    def programs():
        if session.gpus() == 1:
            raise NotMeasured("there is one GPU")
        return session.programs_in("contract")

    check_tests(session, CONTRACT, programs, processes=session.gpus())


def check_course(session):
    """The tests of what the chapters compute with, which are short, and of the chapters."""
    environment = {"RANKBOX_GPU_MODE": "auto"}
    check_tests(session, "device tests that pass",
                lambda: session.programs_in("device", "kernels"), environment, at_once=AT_ONCE)
    check_tests(session, "chapters that pass", lambda: session.programs_in("course"), environment,
                arguments=["solutions"], at_once=AT_ONCE)


# ---- Memory accesses -----------------------------------------------------------------------------

RING = ("--ranks", "4", "--collective", "all_reduce", "--algorithms", "ring", "-b", "64K", "-e",
        "64K", "-n", "1", "-w", "1", "--baseline", "none", "--json", "-")


def memcheck():
    """The command that runs another. Not racecheck: no kernel uses shared memory."""
    home = os.environ.get("CUDA_HOME", "")
    sanitizer = shutil.which("compute-sanitizer", path=os.pathsep.join([
        os.environ.get("PATH", ""), home + "/bin", "/usr/local/cuda/bin", "/opt/cuda/bin"]))
    if not sanitizer:
        raise NotMeasured("compute-sanitizer is not in PATH or CUDA_HOME")
    return [sanitizer, "--tool", "memcheck", "--target-processes", "all", "--error-exitcode", "99"]


def check_memory_accesses(session):
    def value(programs, *arguments, environment):
        under = memcheck()
        names = programs()
        for program in names:
            ended = session.run(program, *arguments, under=under, environment=environment)
            if ended.code:
                session.report.details["memcheck"] = ended.messages()
                return Value(f"{program} has exit code {ended.code}", is_met=False)
        return Value(f"{len(names)} programs without an error", is_met=True)

    session.measure("kernel tests under memcheck", "no error", functools.partial(
        value, lambda: session.programs_in("kernels"), environment=FOR_TESTS))
    session.measure("ring of 4 sharing ranks under memcheck", "no error", functools.partial(
        value, lambda: ["rankbox-compare-nccl"], *RING,
        environment={**FOR_TESTS, "RANKBOX_GPU_MODE": "shared"}))
