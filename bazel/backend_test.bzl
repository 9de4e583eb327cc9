"""Tests that run on the backend that the build is configured for.

    load("//bazel:backend_test.bzl", "backend_tests")

    backend_tests(["point_to_point_test"], deps = ["//comm:run_ranks"])

makes a test from point_to_point_test.cc. With --config=sim or nccl its program runs as it is; with
--config=mpi under mpirun, once for each number of processes; with --config=emulated twice, on one
GPU that all ranks share, and with a GPU per rank, over NCCL. Where there are several processes, all
run the same test cases, and report them through tests/support/main_of_processes.cc.
"""

load(":batch.bzl", "linked_program", "test_programs")

# The numbers of processes that a test runs with: powers of two, and odd ones.
PROCESSES = [1, 2, 3, 4, 5, 7, 8]

# Starts a program as three processes, for tests of the program itself. Root may not, few cores are
# few, and containers forbid to read each other's memory: bazel/mpirun_test.sh allows the same.
THREE_PROCESSES = " ".join([
    "env TMPDIR=/tmp",
    "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
    "OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none",
    "OMPI_MCA_btl_vader_single_copy_mechanism=none",
    "mpirun -n 3",
])

# Numbers of emulated GPUs.
GPUS = [1, 8]

def _backend_test_impl(ctx):
    script = ctx.actions.declare_file(ctx.label.name + ".sh")
    program = ctx.executable.program.short_path
    arguments = " ".join(["'%s'" % argument for argument in ctx.attr.arguments] + ['"$@"'])
    if ctx.attr.processes:
        processes = " ".join([str(number) for number in ctx.attr.processes])
        mpirun = ctx.executable._mpirun.short_path
        lines = ["exec %s '%s' %s %s" % (mpirun, processes, program, arguments)]
    else:
        lines = [
            "RANKBOX_EMULATED_GPUS=%d %s %s || exit" % (gpus, program, arguments)
            for gpus in ctx.attr.gpus
        ] or ["exec %s %s" % (program, arguments)]
    ctx.actions.write(script, "\n".join(["#!/bin/sh"] + lines) + "\n", is_executable = True)
    runfiles = ctx.runfiles(files = [ctx.executable.program, ctx.executable._mpirun])
    return [DefaultInfo(
        executable = script,
        runfiles = runfiles.merge(ctx.attr.program[DefaultInfo].default_runfiles),
    )]

_backend_test = rule(
    implementation = _backend_test_impl,
    attrs = {
        "program": attr.label(executable = True, cfg = "target", mandatory = True),
        "arguments": attr.string_list(doc = "of the program, before those of the command line"),
        "processes": attr.int_list(doc = "under mpirun, with this many; empty: by itself"),
        "gpus": attr.int_list(doc = "once with each number of emulated GPUs"),
        "_mpirun": attr.label(
            executable = True,
            cfg = "target",
            allow_single_file = True,
            default = "//bazel:mpirun_test.sh",
        ),
    },
    test = True,
)

def backend_test(
        name,
        deps,
        arguments = [],
        size = "small",
        tags = [],
        processes = PROCESSES,
        **kwargs):
    """One test. `deps` bring its main(): //tests/support:main_of_processes.

    Args:
      arguments: of the program, before those of the command line.
      processes: under MPI, it is run with each of these numbers of them.
      size, tags, **kwargs: as in cc_test.
    """
    native.cc_binary(
        name = name + "_program",
        testonly = True,
        linkstatic = True,
        tags = ["manual"],  # built for its test
        deps = deps,
        **kwargs
    )
    _test_of_program(name, size, tags, processes, arguments)

def _test_of_program(name, size, tags, processes, arguments):
    _backend_test(
        name = name,
        size = size,
        # ./rankbox test runs these for each backend.
        tags = tags + ["backend"],
        program = name + "_program",
        arguments = arguments,
        processes = select({
            "//bazel:is_mpi": processes,
            "//conditions:default": [],
        }),
        gpus = select({
            "//bazel:is_emulated_cuda": GPUS,
            "//conditions:default": [],
        }),
    )

def backend_tests(
        names,
        deps,
        size = "small",
        tags = ["sanitize"],
        main = "//tests/support:main_of_processes",
        processes = PROCESSES,
        **kwargs):
    """One test per name, from NAME.cc, with doctest.

    Args:
      names: of the tests; or a dictionary from each to what it needs besides `deps`.
      deps: what all of them need.
      tags: as in cc_test; "sanitize" has them run under the sanitizers, too.
      main: the library with main().
      processes: as in backend_test.
      size, **kwargs: as in cc_test, but for attributes of compiler and linker.
    """
    own_deps = names if type(names) == type({}) else {name: [] for name in names}
    all_deps = deps + [
        main,
        "@system//:doctest",
    ]
    for name, test in test_programs(own_deps.keys(), all_deps, own_deps).items():
        # Each has a path of its own, by which bazel/mpirun_test.sh finds its processes.
        linked_program(
            name = name + "_program",
            testonly = True,
            program = test.program,
            tags = ["manual"],  # built for its test
            **kwargs
        )
        _test_of_program(name, size, tags, processes, test.filter)
