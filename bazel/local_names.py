"""The names that C++ sources define and that may clash when they are compiled as one file.

batch.bzl and run_tidy.py do so.
"""

import re

# A line that defines a function or a variable, and its name, unless that has a ::.
DEFINITION = re.compile(
    r"^(?!namespace|using|template|class|struct|enum)[A-Za-z][^;={(\n]*?(?<!:)\b(\w+) ?[({=;[]",
    re.MULTILINE)
TYPE = re.compile(r"^(?:class|struct|enum class|enum) (\w+)\b(?!;|::)", re.MULTILINE)
ALIAS = re.compile(r"^using (\w+) = .*", re.MULTILINE)


def local_names(file):
    """{name: what it stands for} of what the file defines at the beginning of a line."""
    with open(file, encoding="utf-8") as text:
        content = text.read()
    names = {match[1]: file for match in DEFINITION.finditer(content)}
    names |= {match[1]: file for match in TYPE.finditer(content)}
    return names | {match[1]: match[0] for match in ALIAS.finditer(content)}


def clashes(names, others):
    """The names that stand for one thing here and for another there."""
    return sorted(name for name in names.keys() & others.keys() if names[name] != others[name])
