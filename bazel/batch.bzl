"""Libraries and tests whose sources are compiled together where a build is made only to be tested.

    load("//bazel:batch.bzl", "batched_library")

    batched_library(name = "layers", srcs = [...], ...)

is a cc_library. With --//bazel:batched, which `rankbox` and ./rankbox test set, the compiler reads
headers shared by its sources once instead of once per source: the solutions compile in a sixth of
the time. `parts` is the number of files that it compiles instead (batch.py).

The tests of a folder are compiled together, too (doctest_tests, backend_tests), since headers take
longer than a test's own source. They are one program, and each test runs the cases of its file.
--//bazel:batched_tests does that alone.
"""

def batch(name, sources, parts = 1):
    """Makes NAME.cc, which holds the .cc files among `sources`: files, or file groups.

    Args:
      name: of the rule and its output.
      sources: at least those to hold.
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

def batched_library(
        name,
        srcs = None,
        hdrs = None,
        exclude = [],
        folders = [],
        parts = 1,
        textual_hdrs = [],
        **kwargs):
    """A cc_library.

    Args:
      name, hdrs, textual_hdrs, **kwargs: as in cc_library.
      srcs: files, not targets. Without them, all of the folder, and all its headers, but for tests.
      exclude: without srcs, files that are not its own: "main.cc", "plugin.*".
      folders: without srcs, folders below this one whose files are its own.
      parts: how many files the sources are compiled as.
    """
    if srcs == None:
        places = [""] + [folder + "/" for folder in folders]
        srcs = native.glob([place + "*.cc" for place in places], exclude = exclude + ["*_test.cc"])
        hdrs = native.glob([place + "*.h" for place in places], exclude = exclude)
    sources = [file for file in srcs if file.endswith(".cc")]
    native.cc_library(
        name = name,
        hdrs = hdrs,
        srcs = select({
            "//bazel:is_batched": batch(name + "_batch", sources, parts) +
                                  [f for f in srcs if f not in sources],
            "//conditions:default": srcs,
        }),
        # For tests that read them.
        textual_hdrs = textual_hdrs + select({
            "//bazel:is_batched": sources,
            "//conditions:default": [],
        }),
        **kwargs
    )

# For a program in which another function replaces a solution and comes first in `deps`. The linker
# takes the first; solutions that are compiled together would define it a second time.
REPLACES_A_SOLUTION = select({
    "//bazel:is_batched": ["-Wl,--allow-multiple-definition"],
    "//conditions:default": [],
})

def _linked_program_impl(ctx):
    program = ctx.executable.program
    link = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.symlink(output = link, target_file = program, is_executable = True)
    runfiles = ctx.runfiles(files = [program] + ctx.files.data)
    for target in [ctx.attr.program] + ctx.attr.data:
        runfiles = runfiles.merge(target[DefaultInfo].default_runfiles)
    env = {
        name: ctx.expand_location(value, targets = ctx.attr.data)
        for name, value in ctx.attr.env.items()
    }
    return [
        DefaultInfo(executable = link, runfiles = runfiles),
        testing.TestEnvironment(env),
    ]

_LINKED_PROGRAM = {
    "program": attr.label(executable = True, cfg = "target", mandatory = True),
    "data": attr.label_list(allow_files = True),
    "env": attr.string_dict(doc = "as in cc_test"),
}

# A program under another name: a symbolic link, so that several tests share one program.
linked_program = rule(
    implementation = _linked_program_impl,
    attrs = _LINKED_PROGRAM,
    executable = True,
)

# The same, as a test.
linked_test = rule(
    implementation = _linked_program_impl,
    attrs = _LINKED_PROGRAM,
    test = True,
)

# Files that the tests of a folder are compiled as.
_TEST_PARTS = 2

def test_programs(names, deps, own):
    """Makes a program of each source, NAME.cc; or one of all, where tests are compiled together.

    Args:
      names: of the tests.
      deps: what all of them need.
      own: {name: what it needs besides}.

    Returns:
      {name: struct(program, filter)}: its program, and the arguments that select the cases of its
      file; none if it is the only test.
    """
    for name in names:
        native.cc_binary(
            name = name + "_alone",
            testonly = True,
            srcs = [name + ".cc"],
            tags = ["manual"],  # built for its test
            deps = _without_repeats(deps + own[name]),
        )
    if len(names) == 1:
        return {name: struct(program = name + "_alone", filter = []) for name in names}
    sources = [name + ".cc" for name in names]
    all_deps = deps
    for name in names:
        all_deps = all_deps + own[name]
    together = names[0] + "_and_others"
    native.cc_binary(
        name = together,
        testonly = True,
        srcs = batch(names[0] + "_batch", sources, _TEST_PARTS),
        copts = ["-Wno-shadow"],  # would compare the names of different files
        tags = ["manual"],
        deps = _without_repeats(all_deps),
    )
    return {
        name: struct(
            program = _if_batched(together, name + "_alone"),
            filter = _if_batched(["--source-file=*/%s.cc" % name], []),
        )
        for name in names
    }

def _without_repeats(labels):
    return {label: None for label in labels}.keys()

def _if_batched(batched, alone):
    return select({
        "//bazel:tests_are_batched": batched,
        "//conditions:default": alone,
    })
