"""Sections that run test programs: the contract, and kernels under compute-sanitizer."""

import functools
import os
import shutil

from gpu_session import NotMeasured, Value


def check_contract(session, environment=None, processes=1):
    """The tests of the contract, tests/backends, in one way to assign ranks to GPUs.

    processes: 0 is one for each GPU.
    """
    processes = processes or session.gpus()
    seconds = session.seconds / 3  # one that hangs leaves time for others
    # Without the first, tests pass where there is no GPU. Their tensors are small: every rank of
    # every world would otherwise allocate up to 8 GiB.
    variables = {**(environment or {}), "RANKBOX_REQUIRE_GPU": "1", "RANKBOX_GPU_NOTICE": "0",
                 "RANKBOX_GPU_ARENA_MIB": "64"}

    def value():
        if processes == 1 and not environment:
            raise NotMeasured("there is one GPU")
        passed, failed, stuck, unfinished = [], [], [], []
        for program in session.programs_in("contract"):
            try:
                ended = session.run(program, environment=variables, processes=processes,
                                    seconds=seconds)
            except NotMeasured:
                unfinished.append(program)
                continue
            (stuck if ended.timed_out else failed if ended.code else passed).append(program)
            if ended.timed_out or ended.code:
                details = session.report.details.setdefault(session.section, {})
                details[program] = ended.messages()
        text = f"{len(passed)} of {len(passed + failed + stuck + unfinished)}"
        parts = [f"{words} {', '.join(programs)}" for words, programs in (
            ("failed:", failed), (f"not ended after {seconds:.3g} s:", stuck),
            ("there was no time for", unfinished)) if programs]
        if unfinished and not failed and not stuck:
            raise NotMeasured(f"{text} pass, and {parts[0]}")
        return Value("; ".join([text, *parts]), len(passed), not failed and not stuck)

    session.measure("test programs that pass", "all", value)


def contract(environment=None, processes=1):
    return functools.partial(check_contract, environment=environment, processes=processes)


def check_memory_accesses(session):
    def value():
        # Not racecheck, which looks for races in shared memory: no kernel uses any.
        home = os.environ.get("CUDA_HOME", "")
        sanitizer = shutil.which("compute-sanitizer", path=os.pathsep.join([
            os.environ.get("PATH", ""), home + "/bin", "/usr/local/cuda/bin", "/opt/cuda/bin"]))
        if not sanitizer:
            raise NotMeasured("compute-sanitizer is not in PATH or CUDA_HOME")
        programs = session.programs_in("kernels")
        for program in programs:
            ended = session.run(program, environment={"RANKBOX_REQUIRE_GPU": "1"},
                                under=[sanitizer, "--tool", "memcheck", "--error-exitcode", "99"])
            if ended.code:
                session.report.details["memcheck"] = ended.messages()
                return Value(f"{program} has exit code {ended.code}", is_met=False)
        return Value(f"{len(programs)} programs without an error", is_met=True)

    session.measure("kernel tests under memcheck", "no error", value)
