// Judges each solution as the other exercises of its signature.
//
// tests/NN_topic checks, by chapter, that solutions pass as themselves.
#include <set>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include "judge/catalog.h"
#include "judge/run_case.h"
#include "judge/verdict_text.h"
#include "solutions/table.h"

namespace rankbox {

TEST_CASE("every exercise of the registry has a solution of its own, and a family that judges it") {
  CHECK_NOTHROW(check_registry());
  std::set<AnyFunction> seen;
  for (const Exercise& exercise : exercises()) {
    CAPTURE(exercise.name);
    const AnyFunction solution = solution_of(exercise.name);
    const bool is_linked = solution != nullptr;
    CHECK(is_linked);
    CHECK(seen.insert(solution).second);
  }
}

TEST_CASE("cases that only a sealed run has can be replayed") {
  for (const char* name : {"zero2", "clip_global_norm", "ddp_no_sync"}) {
    CAPTURE(name);
    const Exercise& exercise = *find_exercise(name);
    const std::vector<Case> large = subject_of(exercise).large_cases;
    CHECK_FALSE(large.empty());
    for (const Case& example : large) {
      const auto found = case_of_replay(exercise, "rankbox check --replay " + to_string(example));
      REQUIRE(found.has_value());
      CHECK(to_string(*found) == to_string(example));
    }
  }
}

TEST_CASE("an unknown name has no solution") {
  const bool is_linked = solution_of("allreduce_rings") != nullptr;
  CHECK(!is_linked);
}

/// An odd number; of tokens, one that twice the ranks divide.
std::int64_t large_count(const Exercise& exercise) { return exercise.chapter == 12 ? 80 : 97; }

TEST_CASE("a trace of a rank's first events says nothing against a solution") {
  for (const Exercise& exercise : exercises()) {
    CAPTURE(exercise.name);
    Case example = first_case_of(exercise);
    if (example.threads) continue;
    example.world_size = 4;
    if (example.count) example.count = large_count(exercise);
    if (example.segments) example.segments = 4;
    if (example.nodes) example.nodes = 2;
    const CaseRun run =
        run_case(subject_of(exercise, solution_of(exercise.name)), example, {.events_per_rank = 0});
    if (run.report.messages > 0) CHECK(run.report.trace.left_out > 0);
    CHECK((run.failure ? run.failure->message : "") == "");
  }
}

TEST_CASE("no solution passes as another exercise of the same signature") {
  for (const Exercise& exercise : exercises()) {
    for (const Exercise& other : exercises()) {
      const bool comparable = std::string_view(parameters_of(exercise)) == parameters_of(other) &&
                              exercise.chapter == other.chapter && exercise.name != other.name;
      if (!comparable) continue;
      Verdict verdict;
      // With one micro-batch all schedules are the same.
      const bool has_segments = first_case_of(exercise).segments.has_value();
      for (const int world_size : {5, 8}) {
        std::string example = "world_size=" + std::to_string(world_size) +
                              ",count=" + std::to_string(large_count(exercise));
        if (has_segments) example += ",segments=4";
        verdict = judge_exercise(exercise, solution_of(other.name), JudgeOptions{.replay = example},
                                 solution_of(exercise.name));
        if (!verdict.passed()) break;
      }
      INFO(other.name, " as ", exercise.name);
      REQUIRE(verdict.failure.has_value());
      INFO(verdict.failure->message);
      // Those of chapters 10 and 12 share a signature, but compute different values, or refuse the
      // others' shapes.
      const bool differs = exercise.chapter >= 10 &&
                           (verdict.failure->kind == FailureKind::kValues ||
                            verdict.failure->message.find("has shape") != std::string::npos);
      const bool explained = differs || verdict.failure->kind == FailureKind::kMessages ||
                             verdict.failure->kind == FailureKind::kCost ||
                             verdict.failure->kind == FailureKind::kMemory;
      CHECK(explained);
    }
  }
}

}  // namespace rankbox
