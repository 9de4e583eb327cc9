#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "cli/demo/solutions.h"

#include <set>

#include <doctest/doctest.h>

namespace rankbox::cli {
namespace {

TEST_CASE("every exercise of the catalog has a solution of its own") {
  std::set<AnyFunction> seen;
  for (const Exercise& exercise : exercises()) {
    CAPTURE(exercise.name);
    const AnyFunction solution = solution_of(exercise.name);
    const bool is_linked = solution != nullptr;
    CHECK(is_linked);
    CHECK(seen.insert(solution).second);
  }
}

TEST_CASE("an unknown name has none") {
  const bool is_linked = solution_of("allreduce_rings") != nullptr;
  CHECK(!is_linked);
}

}  // namespace
}  // namespace rankbox::cli
