// The code that the page shows beside a failure.
#include "cli/grade/code_excerpt.h"

#include <algorithm>
#include <string>

#include <doctest/doctest.h>

namespace rankbox::cli {
namespace {

constexpr const char* kFile = "race.cc";

std::string numbered(int lines) {
  std::string text;
  for (int i = 1; i <= lines; ++i) text += "line " + std::to_string(i) + "\n";
  return text;
}

CodeExcerpt excerpt(const std::string& text, const std::string& file, int line) {
  const SourceText source{.text = text, .helpers = {{"own.h", "one\ntwo\n"}}, .refused = ""};
  return excerpt_of(source, kFile, {.file = file, .line = line});
}

}  // namespace

TEST_CASE("at most 300 lines, with the failing one among them") {
  struct Row {
    int lines, line, first, shown;
  };
  for (const Row& row : {Row{0, 0, 1, 0},
                         {1, 1, 1, 1},
                         {300, 299, 1, 300},
                         {301, 1, 1, 300},
                         {301, 301, 2, 300},
                         {1000, 0, 1, 300},
                         {1000, 500, 350, 300},
                         {1000, 1000, 701, 300},
                         {10, 1 << 24, 1, 10}}) {
    CAPTURE(row.lines);
    CAPTURE(row.line);
    const CodeExcerpt found = excerpt(numbered(row.lines), kFile, row.line);
    CHECK(found.first == row.first);
    CHECK(found.lines == row.lines);
    CHECK(std::ranges::count(found.text, '\n') == row.shown);
    if (row.shown > 0) CHECK(found.text.starts_with("line " + std::to_string(row.first) + "\n"));
  }
}

TEST_CASE("a failure in a helper shows the helper, one elsewhere the exercise's beginning") {
  const CodeExcerpt helper = excerpt(numbered(400), "own.h", 2);
  CHECK(helper.file == "own.h");
  CHECK(helper.text == "one\ntwo\n");
  const CodeExcerpt elsewhere = excerpt(numbered(400), "comm/comm.h", 399);
  CHECK(elsewhere.file == kFile);
  CHECK(elsewhere.first == 1);
}

TEST_CASE("any bytes become text of bounded size") {
  struct Row {
    std::string line, shown;
  };
  const std::string wide(kMostExcerptColumns - 1, 'x');
  for (const Row& row : {Row{"<b>\t&amp;", "<b>\t&amp;"},
                         {"  ::rankbox::send();", "  ::rankbox::send();"},
                         {"caf\xe9", "caf\\xe9"},
                         {"windows\r", "windows"},
                         {"if (admin\u202e) {", "if (admin\\xe2\\x80\\xae) {"},
                         {wide + "é and more", wide + "…"},
                         {std::string(1 << 20, '\x01'), ""}}) {
    CAPTURE(row.line.substr(0, 40));
    const CodeExcerpt found = excerpt(row.line, kFile, 1);
    CHECK(found.text.size() <= kMostExcerptColumns + std::string("…\n").size());
    if (!row.shown.empty()) CHECK(found.text == row.shown + "\n");
  }
}

}  // namespace rankbox::cli
