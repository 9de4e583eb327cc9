// The part of mutants_test.cc about models sharded over ranks.
#include <doctest/doctest.h>

#include "tests/cli/mutants.h"

namespace rankbox {

TEST_CASE("chapter 8: every wrong program fails for the right reason") {
  check_mutants_of_chapter(8);
}

TEST_CASE("chapter 9: every wrong program fails for the right reason") {
  check_mutants_of_chapter(9);
}

TEST_CASE("chapter 10: every wrong program fails for the right reason") {
  check_mutants_of_chapter(10);
}

}  // namespace rankbox
