"""Libraries whose sources are compiled together where a build is made only to be tested.

    load("//bazel:batch.bzl", "batched_library")

    batched_library(name = "layers", srcs = [...], ...)

is a cc_library. With --//bazel:batched, which CI sets for every backend and sanitizer but the first
stage, the compiler reads headers shared by its sources once instead of once per source: the
solutions compile in a sixth of the time. Sources that define the same local names go to different
files (batch.py), `parts` at most.
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
