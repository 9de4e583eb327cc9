// The rest of mutants_test.cc, in a separate process: either takes about two minutes.
#include <doctest/doctest.h>

#include "tests/cli/mutants.h"

namespace rankbox {

TEST_CASE("chapter 4: every wrong program fails for the right reason") {
  check_mutants_of_chapter(4);
}

TEST_CASE("chapter 5: every wrong program fails for the right reason") {
  check_mutants_of_chapter(5);
}

}  // namespace rankbox
