// All solutions judged in this process: under a sanitizer, this exercises the sandbox and the judge
// themselves with every algorithm of the course.
#include "cli/demo/solutions.h"

#include <doctest/doctest.h>

#include "verdict/catalog.h"
#include "verdict/verdict_text.h"

namespace rankbox {

TEST_CASE("every solution passes its judgement") {
  for (const Exercise& exercise : exercises()) {
    const Verdict verdict = judge_exercise(exercise, cli::solution_of(exercise.name));
    INFO(to_text(verdict));
    CHECK(verdict.passed());
  }
}

}  // namespace rankbox
