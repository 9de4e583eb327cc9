"""Writes several sources as one, so that the compiler reads the headers that they share once.

usage: batch.py OUTPUT... -- SOURCE...

Each source goes to the smallest output so far. What only one source sees may be spelt as something
that another one sees: it gets another name, `cases_of_ddp_overlap` for `cases` of ddp_overlap.cc.
Messages of the compiler name the sources and their lines.
"""

import os
import re
import sys

from local_names import DEFINITION, names_in, names_of_headers

ANONYMOUS = re.compile(r"^namespace \{\n.*?^\}  // namespace\n", re.MULTILINE | re.DOTALL)
# Comments, strings, numbers, characters, directives; and identifiers, with what makes them members.
TOKEN = re.compile(
    r"//[^\n]*|/\*.*?\*/|R\"(\w*)\(.*?\)\1\"|\"(?:\\.|[^\"\\\n])*\"|\b\d[\w'.]*|'(?:\\.|[^'\\\n])+'"
    r"|^[ \t]*#[^\n]*|(?:(?:\.|->|::)\s*)?\b[A-Za-z_]\w*", re.MULTILINE | re.DOTALL)
TYPE = re.compile(r"^(?:struct|class) .*?^\};", re.MULTILINE | re.DOTALL)
FIELD = r"^ +(?!return\b|throw\b)[\w:<>,&* ]+[ *&]NAME(?: = [^;]*|\{[^;]*)?;"


def is_for_headers(text, name):
    """Whether the text only defines the name: templates of a header look for it."""
    return (len(re.findall(rf"\b{name}\b", text)) ==
            sum(match[1] == name for match in DEFINITION.finditer(text)))


def is_field(text, name):
    """Whether the text defines a field of that name, and reads it."""
    field = re.compile(FIELD.replace("NAME", name), re.MULTILINE)
    return (re.search(rf"(?:\.|->){name}\b", text) is not None and
            any(field.search(body[0]) for body in TYPE.finditer(text)))


def renamed(text, names):
    """The text with other names, {old: new}; members of that name keep it."""
    return TOKEN.sub(lambda match: names.get(match[0], match[0]), text)


class Source:
    """A source, and what it sees.

    own: names that only this source sees; seen: those that it shares, by its headers or as a
    definition that others link with.
    """

    def __init__(self, path):
        self.path = path
        with open(path, encoding="utf-8") as file:
            self.text = file.read()
        shared = ANONYMOUS.sub("", self.text)
        self.seen = set(names_in(shared, path)) | names_of_headers(path)
        self.own = {name for part in ANONYMOUS.finditer(self.text)
                    for name in names_in(part[0], path) if not is_for_headers(self.text, name)}

    def tell_apart(self, others):
        """Renames its own names that another of the sources sees, too. Those that it cannot rename
        stay in self.fixed."""
        ambiguous = {name for name in self.own
                     if any(name in other.own or name in other.seen for other in others)}
        self.fixed = {name for name in ambiguous if name in self.seen or is_field(self.text, name)}
        stem = os.path.splitext(os.path.basename(self.path))[0]
        self.text = renamed(self.text, {name: f"{name}_of_{stem}"
                                        for name in ambiguous - self.fixed})

    def clashes(self, other):
        """The names for which the two do not go into one output."""
        return (self.fixed & (other.fixed | other.seen)) | (other.fixed & self.seen)


def assign(paths, count):
    """The sources of each of `count` outputs. Raises ValueError if one fits none of them."""
    sources = [Source(path) for path in paths]
    for source in sources:
        source.tell_apart([other for other in sources if other is not source])
    outputs = [[] for _ in range(count)]
    for source in sources:
        outputs.sort(key=lambda output: sum(len(each.text) for each in output))
        for output in outputs:
            found = set().union(*(source.clashes(other) for other in output))
            if not found:
                output.append(source)
                break
        else:
            raise ValueError(
                f"{source.path} defines {', '.join(sorted(found))}, as another source does: rename "
                f"it, or set parts = {count + 1} in its batched_library (of tests: in batch.bzl)")
    return outputs


def main(outputs, sources):
    try:
        assigned = assign([source for source in sources if source.endswith(".cc")], len(outputs))
    except ValueError as error:
        sys.exit(f"batch: {error}")
    for output, parts in zip(outputs, assigned):
        with open(output, "w", encoding="utf-8") as out:
            out.writelines(f'#line 1 "{part.path}"\n{part.text}\n' for part in parts)


if __name__ == "__main__":
    separator = sys.argv.index("--")
    main(sys.argv[1:separator], sys.argv[separator + 1:])
