"""A copy of the project for tests in Python, with the exercises as they were handed out."""

import os
import pathlib
import shutil


def copy_of_project(name="project"):
    """Copies the project, has ./rankbox work there, and returns its folder, of that name."""
    sources = pathlib.Path(os.environ["TEST_SRCDIR"]) / os.environ["TEST_WORKSPACE"]
    root = pathlib.Path(os.environ["TEST_TMPDIR"]) / name
    shutil.copytree(sources, root, ignore=shutil.ignore_patterns("bazel-*"))
    # From the stubs, regardless of a learner's edits.
    shutil.copytree(sources.parent / "course" / "stubs", root / "exercises", dirs_exist_ok=True)
    os.environ["RANKBOX_ROOT"] = str(root)
    return root
