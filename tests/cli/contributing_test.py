"""Does what CONTRIBUTING.md says about adding an exercise, in a copy of the project.

usage: contributing_test.py CONTRIBUTING.md RANKBOX

On the page, a line that begins with "`PATH`" comes before the block with that file's text. With
"the entry" in that line the block replaces the table of its name, with "a section" it is appended.
Blocks of shell commands are run in their order.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

NAME = "broadcast_star"

# The existing files that the page may change: one list, two texts for learners, one test.
EDITED = {"exercises/registry.toml", "exercises/02_broadcast/guide.toml",
          "exercises/02_broadcast/README.md", "tests/02_broadcast/broadcast_test.cc"}


def steps(page):
    """("run", command) and (how, path, text), in the order of the page."""
    section = re.split(r"\n## [A-Z]", page.split("## Add an exercise\n")[1])[0]
    pattern = re.compile(r"^(?:`([^`\n]+)`([^\n]*):[^\n]*\n\n)?```(\w+)\n(.*?)^```$", re.M | re.S)
    for path, remark, language, text in pattern.findall(section):
        if language == "sh":
            yield from (("run", line) for line in text.splitlines())
        else:
            how = "entry" if "entry" in remark else "section" if "section" in remark else "file"
            yield how, path, text


def replace_entry(before, text):
    """`before` with the table that `text` is in place of the one of the same name."""
    tables = re.split(r"(?m)^(?=\[)", before)
    mine = [i for i, table in enumerate(tables) if re.search(rf'\[{NAME}\]|name = "{NAME}"', table)]
    assert len(mine) == 1, f"{len(mine)} entries for {NAME}"
    tables[mine[0]] = text + "\n"
    return "".join(tables)


def run(program, command, root):
    words = command.split()
    assert words[0] == "./rankbox", command
    result = subprocess.run([program, *words[1:]], cwd=root, capture_output=True, text=True,
                            check=False)
    print(f"$ {command}\n{result.stdout}{result.stderr}", flush=True)
    assert result.returncode == 0, f"{command} exits with {result.returncode}"


def git(root, *words):
    return subprocess.run(["git", *words], cwd=root, check=True, capture_output=True,
                          text=True).stdout


def copy_of_project(root):
    sources = pathlib.Path(os.environ["TEST_SRCDIR"]) / os.environ["TEST_WORKSPACE"]
    shutil.copytree(sources, root, ignore=shutil.ignore_patterns("bazel-*"))
    # From the stubs, regardless of a learner's edits.
    shutil.copytree(sources.parent / "course" / "stubs", root / "exercises", dirs_exist_ok=True)
    (root / ".gitignore").write_text("/.rankbox/\n/compile_commands.json\n", encoding="utf-8")
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "-c", "user.name=test", "-c", "user.email=test@localhost", "commit", "-qm", "before")


def main(page, program):
    root = pathlib.Path(os.environ["TEST_TMPDIR"]) / "project"
    copy_of_project(root)
    os.environ["RANKBOX_ROOT"] = str(root)
    todo = list(steps(page.read_text(encoding="utf-8")))
    assert sum(step[0] == "run" for step in todo) == 3, todo
    assert len(todo) == 13, [step[:2] for step in todo]
    for how, *rest in todo:
        if how == "run":
            run(program, rest[0], root)
            continue
        path, text = root / rest[0], rest[1]
        path.parent.mkdir(parents=True, exist_ok=True)
        assert how != "file" or not git(root, "ls-files", rest[0]), f"{rest[0]} would be lost"
        before = path.read_text(encoding="utf-8") if path.exists() else ""
        after = {"entry": lambda: replace_entry(before, text), "section": lambda: before + text,
                 "file": lambda: text}[how]()
        path.write_text(after, encoding="utf-8")

    edited, new = set(), set()
    for line in git(root, "status", "--porcelain", "-uall").splitlines():
        (new if line.startswith("??") else edited).add(line[3:])
    assert edited == EDITED, f"edited: {edited}"
    assert all(NAME in path for path in new), f"new: {new}"
    print(git(root, "diff", "--stat"), "".join(f" {path} (new)\n" for path in sorted(new)), sep="")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), str(pathlib.Path(sys.argv[2]).resolve()))
