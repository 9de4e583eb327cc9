"""Writes the Bazel repository @course: see course.bzl.

usage: course.py exercises/registry.toml FOLDER
       course.py exercises/registry.toml --check

The second one writes nothing: it exits with 1 if a file is not the stub that the registry has.

A stub is copied from where it is handed out while that file still has the registry's id. After a
learner has changed the file, git has the text: the id is that of a git blob.
"""

import hashlib
import pathlib
import re
import subprocess
import sys

BZL = '''"""Generated from exercises/registry.toml by bazel/course.py."""

# chapter -> (exercise -> family)
EXERCISES = {exercises}

# chapter -> the folder of its contracts
CONTRACTS = {contracts}

def chapters_of(contracts):
    """The chapters whose contracts are in this folder."""
    return [chapter for chapter, folder in CONTRACTS.items() if folder == contracts]
'''


def entries(text):
    """The tables of the registry, as (kind, fields with text values). The command line and
    //exercises:registry_test read the file with a TOML parser, and refuse what is not TOML."""
    found = []
    for line in text.splitlines():
        if heading := re.match(r"\[\[(\w+)\]\]", line):
            found.append((heading[1], {}))
        elif (field := re.match(r'(\w+) = "(.*)"\s*(#.*)?$', line)) and found:
            found[-1][1][field[1]] = field[2]
    return found


def blob_id(content):
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def stub(root, path, wanted):
    """The text of a stub."""
    file = root / path
    content = file.read_bytes() if file.is_file() else b""
    if blob_id(content).startswith(wanted):
        return content
    try:
        git = subprocess.run(["git", "-C", root, "cat-file", "blob", wanted], capture_output=True,
                             check=False)
        if git.returncode == 0:
            return git.stdout
    except OSError:  # no git here
        pass
    # Only tests need it: failing here would break all builds.
    print(f"rankbox: {path} was changed, and git does not have the original ({wanted}): "
          "git fetch --unshallow", file=sys.stderr)
    return f"#error {path}: the original {wanted} is not here: git fetch --unshallow\n".encode()


def check(registry):
    """Prints the exercises whose file differs from the stub; returns how many."""
    changed = 0
    for kind, fields in entries(registry.read_text(encoding="utf-8")):
        if kind != "exercise":
            continue
        file = registry.parent / fields["chapter"] / f"{fields['name']}.cc"
        content = file.read_bytes() if file.is_file() else b""
        found = blob_id(content)[:len(fields["stub"])]
        if found != fields["stub"]:
            print(f'{file}: its id is {found}, {registry} says stub = "{fields["stub"]}"',
                  file=sys.stderr)
            changed += 1
    return changed


def main(registry, target):
    root = registry.resolve().parent.parent
    exercises, contracts = {}, {}
    for kind, fields in entries(registry.read_text(encoding="utf-8")):
        if kind == "chapter":
            contracts[fields["folder"]] = fields["contracts"]
            exercises[fields["folder"]] = {}
            continue
        chapter, name = fields["chapter"], fields["name"]
        exercises[chapter][name] = fields["family"]
        file = target / "stubs" / chapter / f"{name}.cc"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(stub(root, f"exercises/{chapter}/{name}.cc", fields["stub"]))
    (target / "exercises.bzl").write_text(
        BZL.format(exercises=exercises, contracts=contracts), encoding="utf-8")
    (target / "WORKSPACE").write_text('workspace(name = "course")\n', encoding="utf-8")
    (target / "BUILD.bazel").write_text(
        'filegroup(name = "stubs", srcs = glob(["stubs/*/*.cc"]), '
        'visibility = ["//visibility:public"])\n'
        'exports_files(glob(["stubs/*/*.cc"]))\n', encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[2] == "--check":
        sys.exit(min(check(pathlib.Path(sys.argv[1])), 1))
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
