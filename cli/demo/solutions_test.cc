#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "cli/demo/solutions.h"

#include <doctest/doctest.h>

#include <set>

namespace rankbox::cli {
namespace {

TEST_CASE("every exercise of the catalog has a solution of its own") {
  std::set<AnyFunction> seen;
  for (const Exercise& exercise : exercises()) {
    CAPTURE(exercise.name);
    const AnyFunction solution = solution_of(exercise.name);
    CHECK(solution != nullptr);
    CHECK(seen.insert(solution).second);
  }
}

TEST_CASE("an unknown name has none") { CHECK(solution_of("allreduce_rings") == nullptr); }

}  // namespace
}  // namespace rankbox::cli
