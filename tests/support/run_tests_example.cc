// Test cases for run_tests_test.sh: those that pass, and those that must not.
#include <vector>

#include <doctest/doctest.h>

#include "tests/support/run_tests.h"

TEST_CASE("checks something") { CHECK(1 + 1 == 2); }

TEST_CASE("loops over an empty table") {
  for (const int row : std::vector<int>()) CHECK(row == 1);
}

TEST_CASE("does not apply") { rankbox::testing::pass_over("this is an example"); }

TEST_CASE("has rows, and one is wrong") {
  for (const char* row : {"right", "wrong"}) {
    if (rankbox::testing::wants_row(row))
      CHECK_MESSAGE(row[0] == 'r', "bytes that XML forbids: \v\f\033\uFFFF\xed\xa0\x80\xff");
  }
}

int main(int argc, char** argv) {
  if (argc > 1 && argv[1][0] == 's') return rankbox::testing::skip_all("there is no GPU");
  return rankbox::testing::run_tests(argc, argv);
}
