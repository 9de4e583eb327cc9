// Tables in narrow terminals.
#include "cli/support/table.h"

#include <doctest/doctest.h>

namespace rankbox::cli {

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

}  // namespace rankbox::cli
