// The tests of every exercise.
//
// RANKBOX_SCOPE is an exercise, whose learner's file is linked and judged, or a chapter's folder,
// for all its solutions. All tests but the worked example share one judgement of an exercise, over
// all world sizes, counts and other fields. Each exercise is a row of a test case; values also have
// one for each world size. An untouched stub fails one row alone. Names are short, because graders
// show them: "cost/broadcast_tree".
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "comm/run_ranks.h"
#include "judge/catalog.h"
#include "solutions/table.h"
#include "tests/support/expect.h"
#include "tests/support/run_tests.h"

namespace rankbox {
namespace {

constexpr std::string_view kScope = RANKBOX_SCOPE;

std::vector<const Exercise*> exercises_in_scope() {
  std::vector<const Exercise*> found;
  bool any = false;
  for (const Exercise& exercise : exercises()) {
    if (exercise.name != kScope && chapter_of(exercise).folder != kScope) continue;
    any = true;
    // Exercises with threads instead of ranks need no second process.
    if (!sends_messages(exercise) && launch().processes > 1) continue;
    found.push_back(&exercise);
  }
  REQUIRE_MESSAGE(any, "no exercise or chapter is called ", kScope);
  return found;
}

/// Returns the linked function: the learner's, where one is linked, replaces the solution.
AnyFunction function_of(const Exercise& exercise) {
  const AnyFunction function = solution_of(exercise.name);
  REQUIRE_MESSAGE(static_cast<bool>(function), exercise.name, " has no solution");
  return function;
}

Subject subject_in_test(const Exercise& exercise) {
  const AnyFunction function = function_of(exercise);
  return subject_of(exercise, function, function);
}

const Judged& judged_once(const Exercise& exercise) {
  static std::map<std::string, Judged> done;
  const auto found = done.find(exercise.name);
  if (found != done.end()) return found->second;
  const bool is_learners = exercise.name == kScope;
  const AnyFunction function = function_of(exercise);
  return done[exercise.name] =
             judged(exercise, function, function,
                    is_learners ? stub_path(exercise) : solution_path(exercise),
                    "./rankbox check " + exercise.name + (is_learners ? "" : " --solution"));
}

/// Calls body(exercise) for each exercise for which `applies` is true; each is a row.
template <class Applies, class Body>
void for_each_exercise(Applies applies, Body body) {
  bool any = false;
  for (const Exercise* exercise : exercises_in_scope()) {
    if (!applies(*exercise)) continue;
    any = true;
    SUBCASE(exercise->name.c_str()) { body(*exercise); }
  }
  if (!any) testing::pass_over("this applies to no exercise here");
}

/// Checks that exercises whose ranks exchange messages pass this check.
void expect_all_pass(const std::string& check) {
  for_each_exercise(sends_messages,
                    [&](const Exercise& exercise) { expect_pass(judged_once(exercise), check); });
}

}  // namespace

TEST_CASE("values") {
  for_each_exercise([](const Exercise&) { return true; },
                    [](const Exercise& exercise) {
                      const Judged& judged = judged_once(exercise);
                      if (!judged.is_implemented()) expect_values(judged, judged.verdict);
                      for (const auto& [name, verdict] : judged.worlds) {
                        SUBCASE(name.c_str()) { expect_values(judged, verdict); }
                      }
                    });
}

TEST_CASE("messages") { expect_all_pass("messages"); }

TEST_CASE("cost") { expect_all_pass("cost"); }

TEST_CASE("example") {
  for_each_exercise(
      [](const Exercise& exercise) {
        return sends_messages(exercise) || !exercise.example.empty();
      },
      [](const Exercise& exercise) {
        REQUIRE_MESSAGE(!exercise.example.empty(), exercise.name, " has no worked example");
        expect_example_cost(judged_once(exercise), subject_in_test(exercise));
      });
}

TEST_CASE("safety") { expect_all_pass("safety"); }

TEST_CASE("memory") {
  for_each_exercise(
      [](const Exercise& exercise) { return subject_in_test(exercise).limits_memory; },
      [](const Exercise& exercise) { expect_pass(judged_once(exercise), "memory"); });
}

}  // namespace rankbox
