// All solutions judged in this process: under a sanitizer, this exercises the sandbox and the judge
// themselves with every algorithm of the course.
#include "cli/demo/solutions.h"

#include <string>
#include <string_view>

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

TEST_CASE("no solution passes as another exercise of the same signature") {
  for (const Exercise& exercise : exercises()) {
    for (const Exercise& other : exercises()) {
      const bool comparable = std::string_view(exercise.parameters) == other.parameters &&
                              exercise.chapter == other.chapter && exercise.name != other.name;
      if (!comparable) continue;
      Verdict verdict;
      // Of one micro-batch all schedules are the same.
      const bool has_segments = first_case_of(exercise).segments.has_value();
      for (std::string example : {"world_size=5,count=97", "world_size=8,count=97"}) {
        if (has_segments) example += ",segments=4";
        verdict =
            judge_exercise(exercise, cli::solution_of(other.name), JudgeOptions{.replay = example});
        if (!verdict.passed()) break;
      }
      INFO(std::string(other.name), " as ", std::string(exercise.name));
      REQUIRE(verdict.failure.has_value());
      // Those of chapter 10 have a signature in common, and not what they do.
      const bool differs = exercise.chapter == 10 && verdict.failure->kind == FailureKind::kValues;
      const bool explained = differs || verdict.failure->kind == FailureKind::kMessages ||
                             verdict.failure->kind == FailureKind::kCost ||
                             verdict.failure->kind == FailureKind::kMemory;
      CHECK(explained);
    }
  }
}

}  // namespace rankbox
