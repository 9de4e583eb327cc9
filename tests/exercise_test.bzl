"""The tests of a chapter's exercises, on any backend: with --config=mpi under mpirun.

    chapter_tests()

in the package tests/02_broadcast links all of its *_test.cc (on other backends than the sandbox,
instead of broadcast_test.cc, the judge's rows alone)

    solutions_test                  to the chapter's solutions
    broadcast_ring_exercise_test    to the learner's file, for the test cases "broadcast_ring: ...";
                                    manual, since they fail until the exercise is done
    stub_test                       to the stub of its last exercise, of which one row must fail
"""

load("@course//:exercises.bzl", "CONTRACTS", "EXERCISES")
load("//bazel:backend_test.bzl", "backend_test")
load("//bazel:batch.bzl", "REPLACES_A_SOLUTION")
load("//bazel:defs.bzl", "LEARNER_COPTS", "NO_SANITIZERS", "SIM_ONLY")

# The tables of solutions, by the folder of their contracts.
_SOLUTIONS = {
    "collectives": ["//solutions:table"],
    "parallel": [
        "//solutions:table",
        "//solutions:training_table",
    ],
}

def chapter_tests():
    """Makes the tests of the chapter that this package is called after."""
    chapter = native.package_name().split("/")[-1]
    contracts = "//" + CONTRACTS[chapter]
    solutions = _SOLUTIONS[CONTRACTS[chapter]]
    by_hand = chapter.split("_", 1)[1] + "_test.cc"
    native.genrule(
        name = "judged",
        outs = ["judged_test.cc"],
        cmd = "cat >$@ <<'END'\n%s\nEND" % "\n".join(
            ["#include <doctest/doctest.h>", '#include "tests/support/judge_rows.h"'] +
            [
                'TEST_CASE("%s: judged") { rankbox::judge_rows("%s"); }' % (name, name)
                for name in EXERCISES[chapter]
            ],
        ),
        tags = ["manual"],
    )
    native.cc_library(
        name = "cases",
        testonly = True,
        srcs = native.glob(["*_test.cc"], exclude = [by_hand]) + select({
            "//bazel:is_sim": [by_hand],
            "//conditions:default": ["judged_test.cc"],
        }),
        alwayslink = True,
        linkstatic = True,
        visibility = ["//tests/support:__pkg__"],
        deps = [
            contracts,
            "//judge",
            "//tests/support:judge_rows",
            "//tests/support:on_ranks",
            "@system//:doctest",
        ],
    )
    deps = [":cases"] + solutions + ["//tests/support:main_of_exercises"]
    backend_test(
        name = "solutions_test",
        size = "medium",
        arguments = ["solutions"] + EXERCISES[chapter].keys(),
        visibility = ["//cli/gpu:__pkg__"],
        deps = deps,
    )
    for exercise in EXERCISES[chapter]:
        # The learner's file comes first: the linker takes from an archive, which the solutions are,
        # only what is still undefined.
        backend_test(
            name = exercise + "_exercise_test",
            arguments = ["learners", exercise],
            linkopts = REPLACES_A_SOLUTION,
            tags = ["manual"],
            deps = ["//exercises:%s/%s" % (chapter, exercise)] + deps,
        )

    last = EXERCISES[chapter].keys()[-1]
    native.cc_library(
        name = "stub",
        srcs = ["@course//:stubs/%s/%s.cc" % (chapter, last)],
        alwayslink = True,
        copts = LEARNER_COPTS,
        linkstatic = True,
        tags = ["manual"],
        deps = [contracts],
    )
    native.cc_binary(
        name = "stub_program",
        testonly = True,
        linkopts = REPLACES_A_SOLUTION,
        linkstatic = True,
        tags = ["manual"],
        deps = [":stub"] + deps,
    )
    native.sh_test(
        name = "stub_test",
        size = "small",
        srcs = ["//tests/support:stub_test.py"],
        args = [
            "$(rootpath :stub_program)",
            last,
        ],
        data = [":stub_program"],
        target_compatible_with = NO_SANITIZERS + SIM_ONLY,
    )
