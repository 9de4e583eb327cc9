"""Constants and macros for BUILD files.

    load("//bazel:defs.bzl", "SIM_ONLY")

    cc_test(
        name = "mailbox_test",
        srcs = ["mailbox_test.cc"],
        tags = ["sanitize"],                # ./rankbox test also runs it under tsan, asan and ubsan
        target_compatible_with = SIM_ONLY,  # skipped, not failed, with --config=mpi|nccl
        deps = [...],
    )

Other tags, for ./rankbox test: "sanitize_memory" is "sanitize" without tsan, for tests with one
thread; "backend" also runs a test with MPI, and on real and emulated GPUs; "device" on GPUs only.

A target whose dependency is skipped is skipped itself: mark the lowest one only. The constants are
lists and add up: `target_compatible_with = SIM_ONLY + NO_TSAN`.

A folder of tests, each of one source file of its name, needs less, and compiles faster in CI:

    load("//bazel:defs.bzl", "doctest_tests")

    doctest_tests(["mailbox_test", "clock_test"], deps = ["//sim"])
"""

load(":batch.bzl", "linked_test", "test_programs")

_SKIP = ["//bazel:other_backend_only"]

# Only for one backend.
SIM_ONLY = select({
    "//bazel:is_sim": [],
    "//conditions:default": _SKIP,
})

MPI_ONLY = select({
    "//bazel:is_mpi": [],
    "//conditions:default": _SKIP,
})

NCCL_ONLY = select({
    "//bazel:is_nccl": [],
    "//conditions:default": _SKIP,
})

# Only where tensors are in host memory.
HOST_ONLY = select({
    "//bazel:is_nccl": _SKIP,
    "//conditions:default": [],
})

# Only where CUDA is emulated on the CPU: --config=emulated.
EMULATED_ONLY = NCCL_ONLY + select({
    "//bazel:is_emulated_cuda": [],
    "//conditions:default": ["//bazel:emulated_cuda_only"],
})

# Only with a real CUDA toolkit, for a real GPU.
REAL_CUDA_ONLY = NCCL_ONLY + select({
    "//bazel:is_emulated_cuda": ["//bazel:real_cuda_only"],
    "//conditions:default": [],
})

# Not under this sanitizer. Give the reason at each use: an opt-out hides real bugs.
NO_TSAN = select({
    "//bazel:is_tsan": ["//bazel:not_under_tsan"],
    "//conditions:default": [],
})

# The opposite: only with --config=tsan.
TSAN_ONLY = select({
    "//bazel:is_tsan": [],
    "//conditions:default": ["//bazel:tsan_only"],
})

NO_ASAN = select({
    "//bazel:is_asan": ["//bazel:not_under_asan"],
    "//conditions:default": [],
})

NO_UBSAN = select({
    "//bazel:is_ubsan": ["//bazel:not_under_ubsan"],
    "//conditions:default": [],
})

NO_SANITIZERS = NO_TSAN + NO_ASAN + NO_UBSAN

# For sources that learners edit: a stub does not use its parameters yet, and a warning should not
# keep a learner from a verdict.
LEARNER_COPTS = [
    "-Wno-error",
    "-Wno-unused-parameter",
    "-Wno-conversion",
]

def doctest_tests(
        names,
        deps,
        size = "small",
        tags = ["sanitize"],
        main = "//tests/support:main",
        **kwargs):
    """One test per name, from NAME.cc, with doctest and a main().

    Args:
      names: of the tests; or a dictionary from each to what it needs besides `deps`, or to
        attributes of its test: its `deps` are added, others replace the common ones.
      deps: what all of them need.
      size: as in cc_test.
      tags: as in cc_test; "sanitize" and "sanitize_memory" have them run under the sanitizers, too.
      main: the library with main().
      **kwargs: attributes of all of them, as in cc_test, but for those of compiler and linker.
    """
    attributes = {name: {} for name in names}
    if type(names) == type({}):
        for name, own in names.items():
            attributes[name] = dict(own) if type(own) == type({}) else {"deps": own}
    own_deps = {name: attributes[name].pop("deps", []) for name in names}
    all_deps = deps + [
        main,
        "@system//:doctest",
    ]
    for name, test in test_programs(attributes.keys(), all_deps, own_deps).items():
        its_attributes = dict(kwargs, size = size, tags = tags)
        its_attributes.update(attributes[name])
        linked_test(
            name = name,
            program = test.program,
            args = test.filter,
            **its_attributes
        )
