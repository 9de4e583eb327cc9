"""Combines the page's sources into one HTML text, in a C++ file.

    embed.py HEADER CONSTANT page.html page.css … first.js second.js … > page.cc

HEADER declares the CONSTANT, which is named with its namespace: rankbox::kPage.

Fills in {{style}} and {{script}}: the styles and the scripts one after the other, in the order
given; the scripts inside one block so that their names stay their own. {{style_hash}} and
{{script_hash}} let the page's content security policy allow just these two. What is left in
{{braces}} is for html.cc.
"""

import base64
import hashlib
import re
import sys

PIECE = 8000  # characters of a string literal, which some compilers limit


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def hash_of(text):
    digest = hashlib.sha256(text.encode()).digest()
    return "sha256-" + base64.b64encode(digest).decode()


def fill_in(page, values):
    return re.sub(r"\{\{(\w+)\}\}", lambda hole: values.get(hole[1], hole[0]), page)


def literal(text):
    return f'R"~page~({text})~page~"'


def main():
    header, constant, *paths = sys.argv[1:]
    namespace, name = constant.rsplit("::", 1)
    page = read(paths[0])
    style = "\n" + "".join(read(path) for path in paths if path.endswith(".css"))
    scripts = [read(path) for path in paths if path.endswith(".js")]
    script = '\n"use strict";\n{\n' + "\n".join(scripts) + "}\n"
    for text in (style, script):
        if "{{" in text or "</script" in text or "</style" in text:
            sys.exit("embed.py: neither style nor script may hold {{ or its own end tag")
    page = fill_in(page, {
        "style": style,
        "style_hash": hash_of(style),
        "script": script,
        "script_hash": hash_of(script),
    })
    pieces = [page[i:i + PIECE] for i in range(0, len(page), PIECE)]
    print("// Made by embed.py.")
    print(f'#include "{header}"\n\nnamespace {namespace} {{\n')
    print(f"const std::string_view {name} =")
    print("\n".join("    " + literal(piece) for piece in pieces) + ";\n")
    print(f"}}  // namespace {namespace}")


if __name__ == "__main__":
    main()
