"""The names that C++ sources define and that may clash when they are compiled as one file.

batch.bzl and run_tidy.py do so.
"""

import functools
import os
import re

# A line that defines a function or a variable, and its name, unless that has a ::.
DEFINITION = re.compile(
    r"^(?!namespace|using|template|class|struct|enum)[A-Za-z][^;={(\n]*?(?<!:)\b(\w+) ?[({=;[]",
    re.MULTILINE)
TYPE = re.compile(r"^(?:class|struct|enum class|enum) (\w+)\b(?!;|::)", re.MULTILINE)
INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
ALIAS = re.compile(r"^using (\w+) = .*", re.MULTILINE)


def names_in(content, file):
    """{name: what it stands for} of what the text of a file defines at the beginning of a line."""
    names = {match[1]: file for match in DEFINITION.finditer(content)}
    names |= {match[1]: file for match in TYPE.finditer(content)}
    return names | {match[1]: match[0] for match in ALIAS.finditer(content)}


def local_names(file):
    """As names_in, of the file."""
    with open(file, encoding="utf-8") as text:
        return names_in(text.read(), file)


@functools.lru_cache(maxsize=None)
def types_of_headers(file):
    """{name: header} of the types in our headers that the file includes, directly or not. Programs
    that are never linked together may define different types with the same name."""
    types = {}
    with open(file, encoding="utf-8") as text:
        for header in INCLUDE.findall(text.read()):
            if os.path.isfile(header):
                with open(header, encoding="utf-8") as text_of_header:
                    found = TYPE.finditer(text_of_header.read())
                types |= {match[1]: header for match in found} | types_of_headers(header)
    return types


def clashes(names, others):
    """The names that stand for one thing here and for another there."""
    return sorted(name for name in names.keys() & others.keys() if names[name] != others[name])


@functools.lru_cache(maxsize=None)
def names_of_headers(file):
    """The names in our headers that the file includes, directly or not."""
    names = set()
    with open(file, encoding="utf-8") as text:
        for header in INCLUDE.findall(text.read()):
            if os.path.isfile(header):
                with open(header, encoding="utf-8") as text_of_header:
                    names |= set(names_in(text_of_header.read(), header))
                names |= names_of_headers(header)
    return names
