// Text in narrow terminals.
#include "cli/support/wrap.h"

#include <doctest/doctest.h>

namespace rankbox::cli {

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

}  // namespace rankbox::cli
