// Text in narrow terminals.
#include "cli/support/terminal.h"

#include <doctest/doctest.h>

namespace rankbox::cli {

namespace {

TEST_CASE("a report fits into the columns, without losing spaces, colours or commands") {
  struct Row {
    const char* text;
    int columns;
    const char* fitted;
  };
  const Row rows[] = {
      {"", 20, ""},
      {"short\n", 20, "short\n"},
      {"  values    116 cases, from one to seventeen\n  cost  ok\n", 20,
       "  values    116\n    cases, from one\n    to seventeen\n  cost  ok\n"},
      {"\033[31m✗\033[0m a bb\n", 6, "\033[31m✗\033[0m a bb\n"},
      {"one two   ", 7, "one two"},
      {"ααα βββ γγγ", 7, "ααα βββ\n  γγγ"},
      {"  again: ./rankbox check ring --replay world_size=2", 20,
       "  again:\n    ./rankbox check ring --replay world_size=2"},
      {"  averyveryverylongword b", 10, "  averyveryverylongword\n    b"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    CHECK(fit(row.text, row.columns) == row.fitted);
  }
}

TEST_CASE("a paragraph is broken anew where one of its lines does not fit") {
  CHECK(refit("one two three\nfour five\n", 13) == "one two three\nfour five\n");
  CHECK(refit("one two three\nfour five\n", 10) == "one two\nthree four\nfive\n");
}

TEST_CASE("columns that do not fit follow below, with the labels again") {
  const std::vector<TableRow> rows = {{"      ", {"   a", "   b", "   c"}},
                                      {"one   ", {"   1", "   2", "   3"}, "  wrong"},
                                      {"two   ", {}, "  crashed"},
                                      {"three ", {"   4", "   5", " 6 µ"}}};
  CHECK(table(rows, 40) ==
        "          a    b    c\n"
        "one       1    2    3  wrong\n"
        "two     crashed\n"
        "three     4    5  6 µ\n");
  CHECK(table(rows, 16) ==
        "          a    b\n"
        "one       1    2\n"
        "two     crashed\n"
        "three     4    5\n"
        "          c\n"
        "one       3\n"
        "  wrong\n"
        "three   6 µ\n");
  // One column at least, however narrow.
  CHECK(table({{"label", {"longcolumn"}}}, 8) == "label\n  longcolumn\n");
  CHECK(table({{"label"}}, 40) == "label\n");
  CHECK(table({}, 40).empty());
}

TEST_CASE("a row's colour is in each of its lines") {
  CHECK(table({{"", {"a", "b"}, "", "\033[31m"}}, 2) == "\033[31m a\033[0m\n\033[31m b\033[0m\n");
}

}  // namespace

}  // namespace rankbox::cli
