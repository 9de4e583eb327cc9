"""The tests of exercises: one source each, built against the answer and the learner's file.

    chapter_tests()

in the package tests/02_broadcast makes, from broadcast_ring_test.cc,

    broadcast_ring_solution_test    linked with //solutions; runs with all tests
    broadcast_ring_exercise_test    linked with //exercises/02_broadcast:broadcast_ring; manual,
                                    since it fails until somebody has done the exercise

and so for every exercise of the chapter.
"""

load(":exercises.bzl", "EXERCISES")

def chapter_tests():
    chapter = native.package_name().split("/")[-1]
    for name, family in EXERCISES[chapter].items():
        _exercise_test(chapter, name, family)

def _exercise_test(chapter, name, family):
    common = [
        "//collectives:" + name,
        "//collectives:cost",
        "//collectives:cost_gather",
        "//collectives:cost_ranks",
        "//tests/support:exercise_test",
        "//tests/support:expect",
        "//tests/support:main",
        "//verdict:" + family,
        "//verdict:judge",
        "@system//:doctest",
    ]
    native.cc_test(
        name = name + "_solution_test",
        size = "small",
        srcs = [name + "_test.cc"],
        linkstatic = True,
        deps = common + ["//solutions"],
    )

    # The exercise comes before the solutions: the linker takes the first definition it finds in
    # these archives, and the solutions only for what the exercise builds on.
    native.cc_test(
        name = name + "_exercise_test",
        size = "small",
        srcs = [name + "_test.cc"],
        linkstatic = True,
        tags = ["manual"],
        deps = common + [
            "//exercises/%s:%s" % (chapter, name),
            "//solutions",
        ],
    )
