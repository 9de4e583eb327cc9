// The part of mutants_test.cc about data parallel training.
#include <doctest/doctest.h>

#include "tests/cli/mutants.h"

namespace rankbox {

TEST_CASE("chapter 6: every wrong program fails for the right reason") {
  check_mutants_of_chapter(6);
}

TEST_CASE("chapter 7: every wrong program fails for the right reason") {
  check_mutants_of_chapter(7);
}

}  // namespace rankbox
