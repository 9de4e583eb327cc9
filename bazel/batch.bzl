"""Libraries whose sources are compiled as one file where a build is made only to be tested.

    load("//bazel:batch.bzl", "batched_library")

    batched_library(name = "layers", srcs = [...], ...)

is a cc_library. With --//bazel:batched, which the sanitizers and --config=emulated set, the
compiler reads headers shared by its sources once instead of once per source: the solutions compile
in a sixth of the time. Local names must differ between the sources.
"""

def batch(name, sources):
    """Makes NAME.cc, which includes the .cc files among `sources`: files, or file groups."""
    native.genrule(
        name = name,
        srcs = sources,
        outs = [name + ".cc"],
        cmd = "printf '#include \"%s\"\\n' $(SRCS) | grep '[.]cc\"$$' >$@",
        tags = ["manual"],  # made for its library
    )

def batched_library(name, srcs, textual_hdrs = [], **kwargs):
    """A cc_library.

    Args:
      name, srcs, textual_hdrs, **kwargs: as in cc_library. Sources are files, not targets.
    """
    sources = [file for file in srcs if file.endswith(".cc")]
    batch(name + "_batch", sources)
    native.cc_library(
        name = name,
        srcs = select({
            "//bazel:is_batched": [name + "_batch.cc"] + [f for f in srcs if f not in sources],
            "//conditions:default": srcs,
        }),
        textual_hdrs = textual_hdrs + select({
            "//bazel:is_batched": sources,
            "//conditions:default": [],
        }),
        **kwargs
    )
