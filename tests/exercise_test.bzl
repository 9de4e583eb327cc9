"""The tests of exercises: one source each, built against the answer and the learner's file.

    chapter_tests()

in the package tests/02_broadcast makes, from broadcast_ring_test.cc,

    broadcast_ring_solution_test    linked with //solutions; runs with all tests
    broadcast_ring_exercise_test    linked with //exercises/02_broadcast:broadcast_ring; manual,
                                    since it fails until somebody has done the exercise

and so for every exercise of the chapter, on any backend: with --config=mpi they run under mpirun.
"""

load("//bazel:backend_test.bzl", "PROCESSES", "backend_test")
load(":exercises.bzl", "EXERCISES", "rooms_of")

def chapter_tests():
    chapter = native.package_name().split("/")[-1]
    for name, family in EXERCISES[chapter].items():
        _exercise_test(chapter, name, family)

def _exercise_test(chapter, name, family):
    # The race has threads where others have ranks.
    processes = [1] if family == "race" else PROCESSES
    rooms = rooms_of(chapter)
    common = [
        rooms.contracts + ":" + name,
        "//collectives:cost",
        "//collectives:cost_gather",
        "//collectives:cost_ranks",
        "//tests/support:exercise_test",
        "//tests/support:expect",
        "//tests/support:main_of_processes",
        rooms.families + ":" + family,
        "//verdict:judge",
        "@system//:doctest",
    ]
    backend_test(
        name = name + "_solution_test",
        srcs = [name + "_test.cc"],
        processes = processes,
        deps = common + [rooms.solutions],
    )

    # The exercise comes before the solutions: the linker takes the first definition it finds in
    # these archives, and the solutions only for what the exercise builds on.
    backend_test(
        name = name + "_exercise_test",
        srcs = [name + "_test.cc"],
        processes = processes,
        tags = ["manual"],
        deps = common + [
            "//exercises/%s:%s" % (chapter, name),
            rooms.solutions,
        ],
    )
