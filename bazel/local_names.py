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
def headers_of(file):
    """Our headers that the file includes, directly or not."""
    headers = set()
    with open(file, encoding="utf-8") as text:
        for header in INCLUDE.findall(text.read()):
            if os.path.isfile(header):
                headers |= {header} | headers_of(header)
    return headers


@functools.lru_cache(maxsize=None)
def names_of_header(header):
    """As names_in, of a header; read once."""
    return local_names(header)


def names_of_headers(file):
    """The names in our headers that the file includes, directly or not."""
    return {name for header in headers_of(file) for name in names_of_header(header)}


@functools.lru_cache(maxsize=None)
def types_of_header(header):
    """{name: header} of the types that it defines."""
    with open(header, encoding="utf-8") as text:
        return {match[1]: header for match in TYPE.finditer(text.read())}


def types_of_headers(file):
    """{name: header} of the types in our headers that the file includes, directly or not. Programs
    that are never linked together may define different types with the same name."""
    return {name: header for each in sorted(headers_of(file))
            for name, header in types_of_header(each).items()}


def clashes(names, others):
    """The names that stand for one thing here and for another there."""
    return sorted(name for name in names.keys() & others.keys() if names[name] != others[name])
