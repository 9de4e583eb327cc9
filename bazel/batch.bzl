"""Libraries and tests whose sources are compiled together where a build is made only to be tested.

    load("//bazel:batch.bzl", "batched_library")

    batched_library(name = "layers", srcs = [...], ...)

is a cc_library. With --//bazel:batched, which CI sets for every backend and sanitizer but the first
stage, the compiler reads headers shared by its sources once instead of once per source: the
solutions compile in a sixth of the time. Sources that define the same local names go to different
files (batch.py), `parts` at most.

The tests of a folder are compiled together, too (doctest_tests, backend_tests), since headers take
longer than a test's own source. Each test remains a separate program, which runs the cases of its
file. Every stage of CI sets --//bazel:batched or, for tests alone, --//bazel:batched_tests.
"""

def batch(name, sources, parts = 1):
    """Makes NAME.cc, which includes the .cc files among `sources`: files, or file groups.

    Args:
      name: of the rule and its output.
      sources: at least those to include.
      parts: for more than one, the outputs are NAME_0.cc, NAME_1.cc, ...

    Returns:
      The outputs.
    """
    outputs = ["%s_%d.cc" % (name, part) for part in range(parts)] if parts > 1 else [name + ".cc"]
    native.genrule(
        name = name,
        srcs = sources,
        outs = outputs,
        cmd = "python3 $(location //bazel:batch.py) $(OUTS) -- $(SRCS)",
        tags = ["manual"],  # made for its library
        tools = ["//bazel:batch.py", "//bazel:local_names.py"],
    )
    return outputs

def batched_library(name, srcs, parts = 1, textual_hdrs = [], **kwargs):
    """A cc_library.

    Args:
      name, srcs, textual_hdrs, **kwargs: as in cc_library. Sources are files, not targets.
      parts: how many files the sources are compiled as.
    """
    sources = [file for file in srcs if file.endswith(".cc")]
    native.cc_library(
        name = name,
        srcs = select({
            "//bazel:is_batched": batch(name + "_batch", sources, parts) +
                                  [f for f in srcs if f not in sources],
            "//conditions:default": srcs,
        }),
        textual_hdrs = textual_hdrs + select({
            "//bazel:is_batched": sources,
            "//conditions:default": [],
        }),
        **kwargs
    )

# Files that tests are compiled as, at most. Those that are not needed are empty.
_TEST_PARTS = 4

def batched_cases(names, deps, own):
    """Makes a library of all sources, NAME.cc, for builds that compile tests together.

    Args:
      names: of the tests.
      deps: what all of them need.
      own: {name: what it needs besides}.

    Returns:
      {name: struct(srcs, deps, filter)}: its sources, its deps, and the arguments that select the
      cases of its file; none if it is the only test.
    """
    if len(names) == 1:
        return {
            name: struct(srcs = [name + ".cc"], deps = deps + own[name], filter = [])
            for name in names
        }
    library = names[0] + "_cases"
    sources = [name + ".cc" for name in names]
    all_own = {}
    for name in names:
        all_own.update({dep: None for dep in own[name]})
    native.cc_library(
        name = library,
        testonly = True,
        srcs = batch(names[0] + "_batch", sources, _TEST_PARTS),
        alwayslink = True,  # static constructors register the cases
        copts = ["-Wno-shadow"],  # would compare the names of different files
        linkstatic = True,
        tags = ["manual"],  # built for its tests
        textual_hdrs = sources,
        deps = deps + all_own.keys(),
    )
    return {
        name: struct(
            srcs = _if_batched([], [name + ".cc"]),
            deps = deps + _if_batched([library], own[name]),
            filter = _if_batched(["--source-file=*/%s.cc" % name], []),
        )
        for name in names
    }

def _if_batched(batched, alone):
    return select({
        "//bazel:is_batched": batched,
        "//bazel:tests_are_batched": batched,
        "//conditions:default": alone,
    })
