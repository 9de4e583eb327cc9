"""@course: the exercises, as the build sees them, from exercises/registry.toml.

    exercises.bzl   EXERCISES, CONTRACTS and chapters_of()
    :stubs          NN_topic/NAME.cc as handed out, whatever the learner has written since

It is made again when the registry changes. A learner who edits an exercise changes nothing in it.
"""

def _course_impl(ctx):
    registry = ctx.path(ctx.attr.registry)
    made = ctx.execute(["python3", ctx.path(ctx.attr._script), registry, "."])
    if made.return_code != 0:
        fail(made.stderr)

_course = repository_rule(
    implementation = _course_impl,
    attrs = {
        "registry": attr.label(default = "//exercises:registry.toml", allow_single_file = True),
        "_script": attr.label(default = "//bazel:course.py", allow_single_file = True),
    },
    local = True,
)

def course():
    _course(name = "course")
