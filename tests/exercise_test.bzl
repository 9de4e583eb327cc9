"""The test of an exercise: one source, built against the answer and against the learner's file.

    exercise_test(
        name = "broadcast_ring",
        family = "broadcast",
    )

in the package tests/02_broadcast makes, from broadcast_ring_test.cc,

    broadcast_ring_solution_test    linked with //solutions; runs with all tests
    broadcast_ring_exercise_test    linked with //exercises/02_broadcast:broadcast_ring; manual,
                                    since it fails until somebody has done the exercise
"""

def exercise_test(name, family):
    chapter = native.package_name().split("/")[-1]
    common = [
        "//collectives:" + name,
        "//collectives:cost",
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
        deps = common + ["//exercises/%s:%s" % (chapter, name), "//solutions"],
    )
