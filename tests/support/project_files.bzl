"""The source files of the project that some targets are built from, as data for tests.

    project_files(
        name = "exercise_sources",
        testonly = True,
        deps = ["//solutions"],
    )

Checking an exercise compiles it against the headers in the tree: a test of that needs them to be
there, and has to run again when one of them changes.
"""

_Sources = provider(fields = ["files"])

def _sources_aspect_impl(target, ctx):
    direct = []
    # textual_hdrs: sources that are compiled together, as one file that includes them.
    for attribute in ["srcs", "hdrs", "textual_hdrs"]:
        for file in getattr(ctx.rule.files, attribute, []):
            # Not system files, which have fixed paths.
            if file.is_source and not target.label.workspace_name:
                direct.append(file)
    deps = [dep for dep in getattr(ctx.rule.attr, "deps", []) if _Sources in dep]
    return [_Sources(files = depset(direct, transitive = [dep[_Sources].files for dep in deps]))]

_sources_aspect = aspect(
    implementation = _sources_aspect_impl,
    attr_aspects = ["deps"],
)

def _project_files_impl(ctx):
    files = depset(transitive = [dep[_Sources].files for dep in ctx.attr.deps])
    return [DefaultInfo(files = files, runfiles = ctx.runfiles(transitive_files = files))]

project_files = rule(
    implementation = _project_files_impl,
    attrs = {"deps": attr.label_list(aspects = [_sources_aspect])},
)
