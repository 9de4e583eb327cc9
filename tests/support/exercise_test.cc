// The tests of every exercise.
//
// RANKBOX_SCOPE is an exercise, or a chapter's folder for the tests of all its exercises. All tests
// but the worked example share one judgement of an exercise, over all world sizes, counts and other
// fields. The worked example is a single case with a cost worked out by hand.
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "comm/run_ranks.h"
#include "solutions/table.h"
#include "tests/support/expect.h"
#include "tests/support/run_tests.h"
#include "verdict/catalog.h"

namespace rankbox {
namespace {

constexpr std::string_view kScope = RANKBOX_SCOPE;

std::vector<const Exercise*> exercises_in_scope() {
  std::vector<const Exercise*> found;
  for (const Exercise& exercise : exercises()) {
    if (exercise.name != kScope && chapter_of(exercise).folder != kScope) continue;
    // Exercises with threads instead of ranks need no second process.
    if (!sends_messages(exercise) && launch().processes > 1) continue;
    found.push_back(&exercise);
  }
  return found;
}

Subject subject_in_test(const Exercise& exercise) {
  const AnyFunction function = solution_of(exercise.name);
  REQUIRE_MESSAGE(static_cast<bool>(function), exercise.name, " has no solution");
  return subject_of(exercise, function, function);
}

const Verdict& verdict_on(const Exercise& exercise) {
  static std::map<std::string, Verdict> verdicts;
  const auto found = verdicts.find(exercise.name);
  if (found != verdicts.end()) return found->second;
  const AnyFunction function = solution_of(exercise.name);
  REQUIRE_MESSAGE(static_cast<bool>(function), exercise.name, " has no solution");
  return verdicts[exercise.name] = judge_exercise(exercise, function, {}, function);
}

/// Calls body(exercise) for each exercise for which `applies` is true; each is a row.
template <class Applies, class Body>
void for_each_exercise(Applies applies, Body body) {
  bool any = false;
  for (const Exercise* exercise : exercises_in_scope()) {
    if (!testing::wants_row(exercise->name) || !applies(*exercise)) continue;
    any = true;
    INFO(exercise->name);
    body(*exercise);
  }
  if (!any) testing::pass_over("this applies to no exercise here");
}

/// Checks that exercises whose ranks exchange messages pass this check.
void expect_all_pass(const std::string& check) {
  for_each_exercise(sends_messages,
                    [&](const Exercise& exercise) { expect_pass(verdict_on(exercise), check); });
}

}  // namespace

TEST_CASE("there is something to test, and every exercise with messages has a worked example") {
  if (launch().processes <= 1) CHECK(!exercises_in_scope().empty());
  for_each_exercise([](const Exercise&) { return true; },
                    [](const Exercise& exercise) {
                      CHECK(exercise.example.empty() != sends_messages(exercise));
                    });
}

TEST_CASE("every element is right, for all world sizes, counts and arguments") {
  for_each_exercise([](const Exercise&) { return true; },
                    [](const Exercise& exercise) { expect_pass(verdict_on(exercise), "values"); });
}

TEST_CASE("every message is received as it was sent, by a rank that the algorithm has it go to") {
  expect_all_pass("messages");
}

TEST_CASE("the cost is what the contract promises") { expect_all_pass("cost"); }

TEST_CASE("the worked example costs what it costs by hand") {
  for_each_exercise([](const Exercise& exercise) { return !exercise.example.empty(); },
                    [](const Exercise& exercise) {
                      expect_cost(subject_in_test(exercise), exercise.example,
                                  exercise.example_cost);
                    });
}

TEST_CASE("nothing depends on buffers or on timing") { expect_all_pass("safety"); }

TEST_CASE("no rank holds more memory than the contract allows") {
  for_each_exercise(
      [](const Exercise& exercise) { return subject_in_test(exercise).limits_memory; },
      [](const Exercise& exercise) { expect_pass(verdict_on(exercise), "memory"); });
}

}  // namespace rankbox
