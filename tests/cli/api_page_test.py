#!/usr/bin/env python3
"""docs/api.md has each public function of Comm, Tensor, Shape and Slice, and nothing else;
docs/training_api.md those of the headers that it names.

usage: api_page_test.py
"""

import pathlib
import re
import unittest

HEADERS = ["comm/communicator.h", "comm/tensor.h", "comm/slice.h"]
PAGE = pathlib.Path("docs/api.md")
# The page's headings, for the classes of the headers.
HEADING = {"BasicCommunicator": "Comm", "TensorOf": "Tensor", "Shape": "Shape", "Slice": "Slice"}
TRAINING_PAGE = pathlib.Path("docs/training_api.md")
# Written by the compiler's rules for every value, and said in a sentence of the page; or types that
# a caller names only as arguments.
LEFT_OUT_CLASSES = {"BasicRequest", "NumberHere", "SliceHere"}
OPERATOR = r"operator(?:==|[-+*/]?=|\s+Slice)"


def without_comments(text):
    text = re.sub(r"//[^\n]*", "", text)
    return re.sub(r"(?m)^\s*#[^\n]*(\\\n[^\n]*)*", "", text)


def without_bodies(text):
    """Function bodies become ";". Braces of classes and namespaces stay."""
    out, depth, at = [], 0, 0
    while at < len(text):
        char = text[at]
        if char == "{" and depth == 0:
            before = re.split(r"[;{}]", "".join(out))[-1]
            opens_scope = re.search(r"\b(class|struct|namespace)\b[^()]*$", before)
            if not opens_scope:
                depth, at = 1, at + 1
                continue
        elif char == "{":
            depth += 1
        elif char == "}" and depth > 0:
            depth -= 1
            if depth == 0:
                out.append(";")
            at += 1
            continue
        if depth == 0:
            out.append(char)
        at += 1
    return "".join(out)


def declared(header, heading_of=lambda name: HEADING[name] if name else "Functions"):
    """The public functions, as (heading, name)."""
    text = without_bodies(without_comments(pathlib.Path(header).read_text(encoding="utf-8")))
    # Default arguments that are calls.
    for call in ("Place::current()", "std::declval", "std::numeric_limits<int>::min()"):
        text = text.replace(call, "")
    text = re.sub(r"\busing [^;]*;", ";", text)
    found, scopes, statement, public = set(), [], "", [True]
    for token in re.findall(r"[{};]|[^{};]+", text):
        if token == "{":
            scopes.append(statement.strip())
            public.append(not re.search(r"(?<!<)\bclass\b", statement))
            statement = ""
            continue
        if token == "}":
            scopes.pop()
            public.pop()
            statement = ""
            continue
        if token != ";":
            for label in re.findall(r"\b(public|protected|private):", token):
                public[-1] = label == "public"
            statement += re.sub(r"\b(public|protected|private):", "", token)
            continue
        names = [re.search(r"\b(?:class|struct)\s+(\w+)", re.sub(r"template\s*<[^>]*>", "", scope))
                 for scope in scopes]
        classes = [name[1] for name in names if name]
        inside = any("detail" in scope for scope in scopes)
        name = re.search(rf"({OPERATOR}|~?\b[A-Za-z_]\w*)\s*\(", re.sub(
            r"requires\s+requires\s*\([^)]*\)|template\s*<[^>]*>(?:\s*requires[^;]*?(?=auto))?|"
            r"\[\[[^\]]*\]\]|RANKBOX_ELEMENTS|explicit|noexcept", " ", statement))
        # What ends in _ is a field, in a constructor's list.
        if name and not name[1].endswith("_") and public[-1] and not inside and \
                "friend" not in statement and "TensorOf<T>::TensorOf" not in statement and \
                (not classes or classes[-1] not in LEFT_OUT_CLASSES):
            found.add((heading_of(classes[-1] if classes else ""), " ".join(name[1].split())))
        statement = ""
    return found


def on_the_page(page=PAGE):
    heading, found = "", set()
    for line in page.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            heading = line[3:]
        elif line.startswith("| `"):
            cell = line.split(" | ")[0]
            for name in re.findall(rf"`({OPERATOR}|\w+)(?:\([^`]*\))?`", cell):
                found.add((heading, name))
    return found


class ApiPageTest(unittest.TestCase):
    def test_the_page_has_the_public_functions_and_nothing_else(self):
        functions = set().union(*[declared(header) for header in HEADERS])
        # Copies, assignments and conversions are sentences of the page.
        ordinary = {name for name in functions
                    if name[1].startswith("~") or name[1] in ("operator=", "operator Slice")
                    or name == ("Comm", "BasicCommunicator")}
        self.assertEqual(sorted(functions - ordinary), sorted(on_the_page()))

    def test_the_training_page_has_the_functions_of_its_headers_and_nothing_else(self):
        sections = re.split(r"(?m)^## ", TRAINING_PAGE.read_text(encoding="utf-8"))[1:]
        functions, page = set(), on_the_page(TRAINING_PAGE)
        for section in sections:
            heading = section.split("\n", 1)[0]
            headers = re.findall(r"\]\(\.\./(training/\S+\.h)\)", section.split("\n| ")[0])
            # Models have headers, too: their functions are named, not listed.
            for header in [name for name in headers if "/models/" not in name]:
                found = declared(header, lambda name, section=heading: section)
                self.assertGreater(len(found), 0, header)
                functions |= found
        # Interfaces are not constructed; copies are forbidden.
        left_out = ("~", "operator=", "LayerOf", "OptimizerOf")
        functions = {each for each in functions if not each[1].startswith(left_out)}
        named = {each for each in page if each[0] != "One step, complete"}
        self.assertEqual(functions - named, set())
        self.assertEqual(named - functions, set())

    def test_the_parser_finds_what_is_known(self):
        functions = set().union(*[declared(header) for header in HEADERS])
        for known in [("Comm", "send"), ("Comm", "all_to_all_async"), ("Comm", "rank"),
                      ("Slice", "sub"), ("Tensor", "data"), ("Functions", "chunk"),
                      ("Functions", "to_host"), ("Functions", "operator+="),
                      ("Shape", "elements")]:
            self.assertIn(known, functions)
        for hidden in [("Functions", "scale"), ("Slice", "throw_outside"), ("Comm", "begin")]:
            self.assertNotIn(hidden, functions)

    def test_every_row_says_cost_and_what_blocks(self):
        for line in PAGE.read_text(encoding="utf-8").splitlines():
            if line.startswith("| `"):
                self.assertEqual(len(line.strip("| ").split(" | ")), 4, line)


if __name__ == "__main__":
    unittest.main()
