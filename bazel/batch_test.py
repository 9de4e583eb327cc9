#!/usr/bin/env python3
"""What batch.py makes of sources that name things alike."""

import os
import pathlib
import re
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import batch  # noqa: E402
import local_names  # noqa: E402


class BatchTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)
        local_names.headers_of.cache_clear()  # by the name of the file

    def write(self, name, local, shared="", header=""):
        includes = f'#include "{header}"\n' if header else ""
        pathlib.Path(name).write_text(f"{includes}namespace rankbox {{\nnamespace {{\n{local}\n"
                                      f"}}  // namespace\n{shared}\n}}  // namespace rankbox\n",
                                      "utf-8")
        return name

    def together(self, *paths, count=1):
        return ["".join(source.text for source in output) for output in batch.assign(paths, count)]

    def test_local_names_are_told_apart(self):
        text, = self.together(
            self.write("a.cc", "int run() { return 1; }", "int a() { return run(); }"),
            self.write("b.cc", "int run() { return 2; }", "int b() { return run(); }"))
        for name in ("a", "b"):
            self.assertEqual(len(re.findall(rf"\brun_of_{name}\(\)", text)), 2)
        self.assertNotRegex(text, r"\brun\b")

    def test_members_strings_and_comments_keep_their_words(self):
        body = ('int run() { return 1; }\n'
                'int other(Plan& plan) { return plan.run + Plan{.run = run()}.run; }  // run\n'
                'const char* text() { return "run \\" run"; }\n'
                "char letter() { return '\"'; }  // run: 1'000 runs\n")
        text, = self.together(
            self.write("a.cc", body),
            self.write("b.cc", "int run() { return 2; }\nint twice() { return run(); }"))
        self.assertIn("return plan.run + Plan{.run = run_of_a()}.run; }  // run\n", text)
        self.assertIn('"run \\" run"', text)
        self.assertIn("// run: 1'000 runs", text)

    def test_a_name_that_a_header_of_another_source_has_is_told_apart(self):
        pathlib.Path("size.h").write_text("int size();\n", "utf-8")
        text, = self.together(
            self.write("a.cc", "int size() { return 1; }\nint b() { return size(); }"),
            self.write("b.cc", "", "int c() { return size(); }", "size.h"))
        self.assertIn("int b() { return size_of_a(); }", text)
        self.assertIn("int c() { return size(); }", text)

    def test_what_templates_of_headers_look_for_is_left_alone(self):
        text, = self.together(self.write("a.cc", "auto fields_of(A& a) { return a.x; }"),
                              self.write("b.cc", "auto fields_of(B& b) { return b.x; }"))
        self.assertEqual(text.count("fields_of("), 2)

    def test_a_field_of_the_name_takes_a_file_of_its_own(self):
        paths = [self.write(f"{name}.cc", f"struct {name} {{\n  int run = 0;\n}};\n"
                                          f"int run() {{ return {name}().run; }}")
                 for name in "ab"]
        with self.assertRaisesRegex(ValueError, "b.cc defines run.*parts = 2"):
            self.together(*paths)
        self.assertEqual(len(self.together(*paths, count=2)), 2)

    def test_files_are_of_about_one_size(self):
        paths = [self.write(f"{name}.cc", f"int x{name}() {{ return 1; }}") for name in "abcd"]
        self.assertEqual([len(output) for output in batch.assign(paths, 2)], [2, 2])

    def test_messages_name_the_source(self):
        batch.main(["out.cc"], [self.write("a.cc", "int x() { return 1; }")])
        self.assertTrue(pathlib.Path("out.cc").read_text("utf-8").startswith('#line 1 "a.cc"\n'))


if __name__ == "__main__":
    unittest.main()
