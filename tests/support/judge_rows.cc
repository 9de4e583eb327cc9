#include "tests/support/judge_rows.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "comm/run_ranks.h"
#include "exercises/registry.h"
#include "judge/catalog.h"
#include "judge/failure_of.h"
#include "judge/judge.h"
#include "judge/run_case.h"
#include "judge/verdict_text.h"
#include "solutions/table.h"
#include "tests/support/run_tests.h"

namespace rankbox {

namespace {

std::string learners;  // the exercise whose linked function is the learner's; empty: none
std::set<std::string> begun;

/// A judgement of an exercise.
struct Judged {
  const Exercise* exercise = nullptr;
  std::string file;  // of the function: the place of failures that have none
  std::string command;
  Verdict verdict;  // on all cases
  /// A verdict on the cases of each world size (or number of threads), named "5 ranks". All of them
  /// are `verdict` if that finds all values right. None of a function that is not implemented.
  std::vector<std::pair<std::string, Verdict>> worlds;

  bool is_implemented() const { return verdict.status != Status::kNotImplemented; }
};

using Worlds = std::vector<std::pair<std::string, std::vector<Case>>>;

/// Returns the cases of each world size that this backend judges.
Worlds worlds_of(const Subject& subject) {
  Worlds worlds;
  std::vector<Case> cases = subject.cases();
  if (subject.far_cases) std::ranges::copy(subject.far_cases(), std::back_inserter(cases));
  for (const Case& example : cases) {
    if (!is_judged(example)) continue;
    const int number = example.threads.value_or(example.world_size);
    const std::string name =
        fmt::format("{} {}{}", number, example.threads ? "thread" : "rank", number == 1 ? "" : "s");
    auto found = std::find_if(worlds.begin(), worlds.end(),
                              [&](const auto& world) { return world.first == name; });
    if (found == worlds.end()) found = worlds.insert(worlds.end(), {name, {}});
    found->second.push_back(example);
  }
  return worlds;
}

/// Returns whether the check passed; throws if there is none of that name.
bool passes(const Verdict& verdict, const std::string& check) {
  const Check* found = verdict.find(check);
  REQUIRE_MESSAGE(found != nullptr, "no check is called ", check);
  return found->status == CheckStatus::kPass;
}

/// Fails the running test case at the failure's place.
void fail(const Judged& judged, const Failure& failure, const std::string& prefix = "") {
  Verdict verdict = undecided(judged.exercise->name);
  verdict.status = Status::kFail;
  verdict.failure = failure;
  // Without the heading, which is the name of the test case.
  std::string text = to_text(verdict);
  text.erase(0, text.find_first_not_of(' ', text.find('\n') + 1));
  text.pop_back();  // the last line's end
  if (failure.kind == FailureKind::kNotImplemented) text = "not implemented yet";
  const std::string& file = failure.file.empty() ? judged.file : failure.file;
  ADD_FAIL_CHECK_AT(file.c_str(), failure.line, prefix, text);
}

/// Judges the function on all cases, and on those of each world size if a value is wrong.
Judged judged(const Exercise& exercise, Subject subject) {
  const bool is_learners = exercise.name == learners;
  JudgeOptions options;
  options.command = "./rankbox check " + exercise.name + (is_learners ? "" : " --solution");
  options.starting = testing::now_running;
  Judged result = {&exercise,
                   is_learners ? stub_path(exercise) : solution_path(exercise),
                   options.command,
                   judge(exercise.name, subject, options),
                   {}};
  if (!result.is_implemented()) return result;
  const bool all_right = passes(result.verdict, "values");
  for (const auto& [name, cases] : worlds_of(subject)) {
    subject.cases = [&cases = cases] { return cases; };
    subject.far_cases = nullptr;
    result.worlds.emplace_back(name,
                               all_right ? result.verdict : judge(exercise.name, subject, options));
  }
  return result;
}

/// Judges an exercise, whose rows are run one by one, once.
const Judged& judged_once(const Exercise& exercise, const Subject& subject) {
  static std::map<std::string, Judged> done;
  const auto found = done.find(exercise.name);
  return found != done.end() ? found->second
                             : done.emplace(exercise.name, judged(exercise, subject)).first->second;
}

void expect_values(const Judged& judged, const Verdict& verdict) {
  if (!passes(verdict, "values")) return fail(judged, verdict.failure.value());
  CHECK(passes(verdict, "values"));
}

/// Passes the running test case if this check ("messages", "cost", "safety", "memory") passed.
void expect_pass(const Judged& judged, const std::string& check) {
  const Verdict& verdict = judged.verdict;
  if (passes(verdict, check)) {
    CHECK(verdict.find(check)->status == CheckStatus::kPass);
    return;
  }
  const Failure& first = verdict.failure.value();
  if (verdict.find(check)->status == CheckStatus::kSkipped)
    return fail(judged, first, "not judged, because another check fails first: ");
  const auto own = std::find_if(
      verdict.others.begin(), verdict.others.end(),
      [&](const Failure& failure) { return check_named_after(failure.kind) == check; });
  fail(judged, own == verdict.others.end() ? first : *own);
}

/// Passes the running test case if the worked example has exactly the cost that was worked out.
void expect_example_cost(const Judged& judged, const Subject& subject) {
  const Exercise& exercise = *judged.exercise;
  REQUIRE_MESSAGE(!exercise.example.empty(), exercise.name, " has no worked example");
  const Case example = parse_case(exercise.example, subject.cases().front());
  const std::string replay = fmt::format("{} --replay {}", judged.command, to_string(example));
  testing::now_running(replay);
  CaseRun run = run_case(subject, example);
  Cost cost = run.report.cost;
  // The solution's cost is this one. Others may add more, up to a bound that is judged elsewhere.
  if (subject.may_cost_less && subject.may_cost_less(example))
    cost.reduced = exercise.example_cost.reduced;
  if (!run.failure && cost != exercise.example_cost)
    run.failure = failure_of_cost(exercise.example_cost, example, run.report, subject);
  if (!run.failure) {
    CHECK(cost == exercise.example_cost);
    return;
  }
  run.failure->replay = replay;
  fail(judged, *run.failure);
}

/// Returns the names of the rows that apply.
std::vector<const char*> rows_of(const Judged& judged, const Subject& subject) {
  std::vector<const char*> rows = {"values"};
  if (!judged.is_implemented() || judges_only_values()) return rows;
  if (sends_messages(*judged.exercise)) rows.insert(rows.end(), {"messages", "cost", "safety"});
  if (sends_messages(*judged.exercise) || !judged.exercise->example.empty())
    rows.push_back("example");
  if (subject.limits_memory) rows.push_back("memory");
  return rows;
}

void expect_row(const std::string& row, const Judged& judged, const Subject& subject) {
  if (row == "example") return expect_example_cost(judged, subject);
  if (row != "values") return expect_pass(judged, row);
  if (!judged.is_implemented()) return expect_values(judged, judged.verdict);
  for (const auto& [world, verdict] : judged.worlds) {
    SUBCASE(world.c_str()) { expect_values(judged, verdict); }
  }
}

}  // namespace

std::set<std::string> judged_exercises() { return begun; }

void use_learners(const std::string& exercise) { learners = exercise; }

void judge_rows(const std::string& name) {
  const Exercise* const exercise = find_exercise(name);
  REQUIRE_MESSAGE(exercise != nullptr, "no exercise is called ", name);
  begun.insert(name);
  // The learner's function, where one is linked, replaces the solution.
  const AnyFunction function = solution_of(name);
  REQUIRE_MESSAGE(static_cast<bool>(function), name, " has no solution");
  const Subject subject = subject_of(*exercise, function, function);
  if (!sends_messages(*exercise) && launch().processes > 1)
    return testing::pass_over("threads instead of ranks need no second process");
  const Judged& judged = judged_once(*exercise, subject);
  if (!judged.is_implemented()) testing::leave_out(name + ":*");
  for (const char* const row : rows_of(judged, subject)) {
    if (!testing::wants_row(row)) continue;
    SUBCASE(row) { expect_row(row, judged, subject); }
  }
}

}  // namespace rankbox
