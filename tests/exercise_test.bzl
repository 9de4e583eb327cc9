"""The tests of exercises. What they expect is in exercises/registry.toml.

    chapter_tests()

in the package tests/02_broadcast makes

    solutions_test                  judges all solutions of the chapter
    broadcast_ring_exercise_test    judges the learner's file; manual, since it fails until the
                                    exercise is done
    NAME_test                       from NAME_test.cc, where that says more than the registry

They run on any backend: with --config=mpi under mpirun.
"""

load("@course//:exercises.bzl", "CONTRACTS", "EXERCISES")
load("//bazel:backend_test.bzl", "backend_test")
load("//bazel:batch.bzl", "REPLACES_A_SOLUTION")

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
    solutions = _SOLUTIONS[CONTRACTS[chapter]]
    _judging_test("solutions_test", chapter, size = "medium", deps = solutions)
    for name in EXERCISES[chapter]:
        # The learner's file comes first: the linker takes from an archive, which the solutions are,
        # only what is still undefined.
        _judging_test(
            name + "_exercise_test",
            name,
            linkopts = REPLACES_A_SOLUTION,
            tags = ["manual"],
            deps = ["//exercises:%s/%s" % (chapter, name)] + solutions,
        )
    for file in native.glob(["*_test.cc"]):
        backend_test(
            name = file[:-len(".cc")],
            srcs = [file],
            deps = solutions + [
                "//" + CONTRACTS[chapter],
                "//judge",
                "//tests/support:expect",
                "//tests/support:main_of_processes",
                "@system//:doctest",
            ],
        )

def _judging_test(name, scope, deps, **kwargs):
    backend_test(
        name = name,
        srcs = ["//tests/support:exercise_test.cc"],
        local_defines = ['RANKBOX_SCOPE=\\"%s\\"' % scope],
        deps = deps + [
            "//judge",
            "//tests/support:expect",
            "//tests/support:main_of_processes",
            "@system//:doctest",
        ],
        **kwargs
    )
